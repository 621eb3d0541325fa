/* dirs.h - the node-local directories of a job, as the parameters have them. */
#ifndef SCR_DIRS_H
#define SCR_DIRS_H

#include "tool.h"

/* Call VISIT for the base directory of the control directory or, if CACHE is set, for that of each store. */
SCR_FN int dirs_walk(const scr_hash* params, int cache, int (*visit)(const char* base, void* arg), void* arg)
{
  const scr_hash*      lines = cache ? scr_param_get_hash(params, "STORE") : NULL;
  const scr_hash_elem* e;
  char                 base[SCR_MAX_FILENAME], name[SCR_MAX_FILENAME];
  int                  named = 0;
  int rc = scr_path_reduce_str(scr_param_get(params, cache ? "SCR_CACHE_BASE" : "SCR_CNTL_BASE"), base, sizeof base);

  for (e = scr_hash_elem_first(lines); e != NULL && rc == SCR_SUCCESS; e = scr_hash_elem_next(e)) {
    rc = scr_path_reduce_str(scr_hash_elem_key(e), name, sizeof name);
    if (rc == SCR_SUCCESS && strcmp(name, base) == 0) named = 1;
    if (rc == SCR_SUCCESS && scr_hash_int_or(scr_hash_elem_hash(e), "ENABLED", 1)) rc = visit(name, arg);
  }
  return rc == SCR_SUCCESS && !named ? visit(base, arg) : rc;
}

/* The directory of the job below BASE: <base>/<user>/scr.<job>. */
SCR_FN int dirs_of_job(const scr_hash* params, const char* base, const char* user, const char* job, char* dir, size_t n)
{
  char name[256];

  scr_param_user(params, name, sizeof name);
  return scr_fmt(dir, n, "%s/%s/scr.%s", base, user != NULL ? user : name, job != NULL ? job : scr_param_job(params));
}

typedef struct {
  char*  dir; /* what to replace, of SIZE bytes, LENGTH of them used */
  size_t size, length;
} dirs_recorded;

/* Replace the directory of ARG by DIR, of the last run, if that is the same with a number behind it. */
SCR_FN void dirs_take_numbered(const char* host, const char* kind, const char* dir, void* arg)
{
  dirs_recorded* r = (dirs_recorded*)arg;
  const char*    number = dir + r->length;
  size_t         digits;

  (void)host;
  if (strcmp(kind, "CNTL") != 0 || strncmp(dir, r->dir, r->length) != 0 || *number != '.') return;
  digits = strspn(number + 1, "0123456789");
  if (digits > 0 && (number[1 + digits] == '\0' || number[1 + digits] == '/'))
    scr_fmt(r->dir, r->size, "%.*s", (int)(r->length + 1 + digits), dir);
}

/*
** The control directory of the job: that of the last run over PREFIX if it was of this job, which has a number where
** another prefix has the directory without one.
*/
SCR_FN int dirs_cntl(const scr_hash* params, const char* prefix, char* dir, size_t n)
{
  char          base[SCR_MAX_FILENAME];
  dirs_recorded r = {dir, n, 0};
  int           rc = scr_path_reduce_str(scr_param_get(params, "SCR_CNTL_BASE"), base, sizeof base);

  if (rc == SCR_SUCCESS) rc = dirs_of_job(params, base, NULL, NULL, dir, n);
  if (rc != SCR_SUCCESS) return rc;
  r.length = strlen(dir);
  scr_nodes_file_walk(prefix, dirs_take_numbered, &r);
  return SCR_SUCCESS;
}

#endif
