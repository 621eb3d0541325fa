/* restart.h - the checkpoint that the next run restarts from, as the files of the prefix tell. */
#ifndef SCR_TOOL_RESTART_H
#define SCR_TOOL_RESTART_H

#include "tool.h"

/* A checkpoint; the id is 0 if there is none. */
typedef struct {
  char name[SCR_MAX_FILENAME];
  char dir[SCR_MAX_FILENAME]; /* on the prefix; "" if it is not there */
  int  id, chosen;
  int  cached; /* 1: only the cache has it */
} restart_ckpt;

/* Make C the user's choice of INDEX, or else the newest checkpoint on the prefix.  The index is sorted. */
SCR_FN void restart_in_index(scr_index* index, restart_ckpt* c)
{
  scr_index_item it;
  scr_choice     choice;

  memset(c, 0, sizeof *c);
  scr_choice_read(index, &choice);
  if (choice.by_user && choice.until == 0 && *choice.dir != '\0') {
    c->chosen = 1;
    c->cached = !scr_index_current(index, &it);
    c->id = c->cached ? choice.id : it.id;
    snprintf(c->dir, sizeof c->dir, "%s", c->cached ? "" : it.dir);
    snprintf(c->name, sizeof c->name, "%s", !c->cached && *it.desc.name ? it.desc.name : choice.dir);
  }
  scr_index_sort(index);
  memset(&it, 0, sizeof it);
  while (c->id == 0 && scr_index_walk(index, &it)) {
    if (!scr_desc_is_ckpt(&it.desc) || !scr_index_is_good(&it) || it.passed) continue;
    c->id = it.id;
    snprintf(c->dir, sizeof c->dir, "%s", it.dir);
    snprintf(c->name, sizeof c->name, "%s", *it.desc.name ? it.desc.name : it.dir);
  }
}

/*
** Unless the user has chosen, replace C by a newer checkpoint in the cache of the last run over PREFIX: of NAME, or, if
** that is NULL, any that a run is offered.
*/
SCR_FN int restart_in_cache(const char* prefix, const char* name, restart_ckpt* c)
{
  scr_record     file;
  scr_flush_note note;
  int            id = INT_MAX, rc = scr_flush_file_read(&file, prefix);

  while (rc == SCR_SUCCESS && !c->chosen && (id = scr_flush_file_before(&file, id)) > c->id) {
    if (!scr_flush_file_get(&file, id, &note) || !(note.location & SCR_LOCATION_CACHE) || *note.where != '\0') continue;
    if (!(note.flags & SCR_FLAG_CHECKPOINT) && note.flags != 0) continue; /* older releases wrote no flags */
    if (name != NULL ? strcmp(note.name, name) != 0 : scr_flush_note_is_refused(prefix, &note)) continue;
    c->id = id;
    c->cached = 1;
    *c->dir = '\0';
    snprintf(c->name, sizeof c->name, "%s", note.name);
  }
  return scr_record_close(&file, rc, 0);
}

/* Make C the checkpoint NAME, which SCR_CURRENT has chosen, of INDEX or of the cache of the last run over PREFIX. */
SCR_FN int restart_named(const scr_index* index, const char* prefix, const char* name, restart_ckpt* c)
{
  scr_index_item it;

  memset(c, 0, sizeof *c);
  snprintf(c->name, sizeof c->name, "%s", name);
  if (scr_index_named_ckpt(index, name, &it) == SCR_SUCCESS) {
    c->id = it.id;
    snprintf(c->dir, sizeof c->dir, "%s", it.dir);
  }
  restart_in_cache(prefix, name, c); /* without the flush file, the index may do */
  c->chosen = 1;
  if (c->id != 0) return SCR_SUCCESS;
  return SCR_ERR(SCR_ERR_NOT_FOUND, "SCR_CURRENT=%s names no checkpoint of the cache or of %s", name, prefix);
}

/*
** Make C the checkpoint that the next run over PREFIX restarts from; its id is 0 if there is none.  Of the parameters,
** SCR_CURRENT and SCR_FRESH_START count once in a job.
*/
SCR_FN int restart_find(const char* prefix, restart_ckpt* c)
{
  scr_index   index;
  scr_hash*   params = tool_params(prefix);
  const char *name = scr_param_get(params, "SCR_CURRENT"), *job = scr_param_job(params);
  char        wish[16];
  int         fresh = 0, once = strcmp(job, SCR_JOB_DEFAULT) != 0;
  int         rc = params != NULL ? scr_index_read(&index, prefix) : SCR_ERR_PARAM;

  memset(c, 0, sizeof *c);
  if (params == NULL) return rc;
  if (rc == SCR_ERR_FORMAT || rc == SCR_ERR_CRC)
    rc = SCR_ERR(rc, "%.*s; scr_index --build makes a new index", scr_err_length, scr_err_text);
  if (rc == SCR_SUCCESS) rc = scr_param_int(params, "SCR_FRESH_START", &fresh);
  snprintf(wish, sizeof wish, "%d", fresh);
  if (once && fresh && scr_index_has_served(&index, "SCR_FRESH_START", wish, job)) fresh = 0;
  if (once && name != NULL && scr_index_has_served(&index, "SCR_CURRENT", name, job)) name = NULL;
  if (rc == SCR_SUCCESS && name != NULL) rc = restart_named(&index, prefix, name, c);
  else if (rc == SCR_SUCCESS && !fresh) {
    restart_in_index(&index, c);
    rc = restart_in_cache(prefix, NULL, c);
  }
  scr_index_close(&index, rc, 0);
  scr_hash_delete(&params);
  return rc;
}

#endif
