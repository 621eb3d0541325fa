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

/* Unless the user has chosen, replace C by a newer checkpoint in the cache of the last run over PREFIX. */
SCR_FN int restart_in_cache(const char* prefix, restart_ckpt* c)
{
  scr_record     file;
  scr_flush_note note;
  int            id = INT_MAX, rc = scr_flush_file_read(&file, prefix);

  while (rc == SCR_SUCCESS && !c->chosen && (id = scr_flush_file_before(&file, id)) > c->id) {
    if (!scr_flush_file_get(&file, id, &note) || !(note.location & SCR_LOCATION_CACHE) || *note.where != '\0') continue;
    if (!(note.flags & SCR_FLAG_CHECKPOINT) && note.flags != 0) continue; /* older releases wrote no flags */
    c->id = id;
    c->cached = 1;
    *c->dir = '\0';
    snprintf(c->name, sizeof c->name, "%s", note.name);
  }
  return scr_record_close(&file, rc, 0);
}

#endif
