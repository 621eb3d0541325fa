/* cache.h - what a node has in its cache, by the control directory of a job that has ended. */
#ifndef SCR_CACHE_H
#define SCR_CACHE_H

#include "tool.h"

/*
** Fill HOME from DIR, a control directory: <base>/<user>/scr.<job>[.<n>][/node.<host>].  The job gets the .<n> with it,
** which leads to the same paths.
*/
SCR_FN int cache_home(const char* dir, scr_home* home)
{
  char  path[SCR_MAX_FILENAME], *at;
  int   rc = scr_path_reduce_str(dir, path, sizeof path);
  char* name;

  memset(home, 0, sizeof *home);
  if (rc != SCR_SUCCESS) return rc;
  if (gethostname(home->host, sizeof home->host - 1) < 0) return SCR_ERRNO("cannot get the host name");
  name = (at = strrchr(path, '/')) != NULL ? at + 1 : path;
  if (strncmp(name, "node.", 5) == 0 && at != NULL) {
    home->shared = 1;
    snprintf(home->host, sizeof home->host, "%.255s", name + 5);
    *at = '\0';
    name = (at = strrchr(path, '/')) != NULL ? at + 1 : path;
  }
  if (strncmp(name, "scr.", 4) == 0 && at != NULL && at > path) {
    snprintf(home->job, sizeof home->job, "%.255s", name + 4);
    *at = '\0';
    name = strrchr(path, '/');
    snprintf(home->user, sizeof home->user, "%.255s", name != NULL ? name + 1 : path);
    return SCR_SUCCESS;
  }
  return SCR_ERR(SCR_ERR_ARG, "%s is not a control directory, BASE/USER/scr.JOB", dir);
}

/* Looks at MAP, all that the filemaps of the control directory DIR list, whose node is HOME. */
typedef int (*cache_visit)(const char* dir, const scr_home* home, const scr_filemap* map, void* arg);

/*
** Call VISIT for what the filemaps of the control directory DIR list; an error with one does not keep back the others.
** A rank without files may have written none.
*/
SCR_FN int cache_read(const char* dir, cache_visit visit, void* arg)
{
  char                 path[SCR_MAX_FILENAME];
  scr_home             home;
  scr_filemap          map = {NULL, 0};
  scr_hash *           master = scr_hash_new(), *names = scr_hash_new();
  const scr_hash_elem* e;
  int                  err, rc = cache_home(dir, &home);

  if (rc == SCR_SUCCESS) rc = scr_fmt(path, sizeof path, "%s/filemap.scrinfo", dir);
  if (rc == SCR_SUCCESS && (rc = scr_hash_file_read(path, master)) == SCR_ERR_NOT_FOUND)
    rc = SCR_ERR(rc, "there is no file %s: no run has used this control directory", path);
  if (rc == SCR_SUCCESS) rc = scr_filemap_files(dir, master, names);
  for (e = scr_hash_elem_first(names); e != NULL; e = scr_hash_elem_next(e)) {
    scr_filemap one = {NULL, 0};
    err = scr_filemap_read(scr_hash_elem_key(e), &one);
    if (err == SCR_SUCCESS) err = scr_filemap_merge(&map, &one);
    if (err != SCR_SUCCESS && err != SCR_ERR_NOT_FOUND) rc = err;
    scr_filemap_clear(&one);
  }
  if (map.n > 0 && (err = visit(dir, &home, &map, arg)) != SCR_SUCCESS) rc = err;
  scr_filemap_clear(&map);
  scr_hash_delete(&names);
  scr_hash_delete(&master);
  return rc;
}

/*
** Call VISIT for each control directory of DIR: the directories node.<host> below it, which nodes have where they share
** DIR, and DIR itself, if it has filemaps, or there are no others.  A run over virtual nodes may have left the former
** beside those of a real one.
*/
SCR_FN int cache_walk(const char* dir, int (*visit)(const char* dir, void* arg), void* arg)
{
  char           path[SCR_MAX_FILENAME];
  struct dirent* e;
  DIR*           d = opendir(dir);
  int            err, n = 0, rc = SCR_SUCCESS;

  while (d != NULL && (e = readdir(d)) != NULL) {
    if (strncmp(e->d_name, "node.", 5) != 0 || scr_fmt(path, sizeof path, "%s/%s", dir, e->d_name) != SCR_SUCCESS)
      continue;
    n++;
    if ((err = visit(path, arg)) != SCR_SUCCESS) rc = err;
  }
  if (d != NULL) closedir(d);
  if (n > 0 && (scr_fmt(path, sizeof path, "%s/filemap.scrinfo", dir) != SCR_SUCCESS || access(path, F_OK) < 0))
    return rc;
  return (err = visit(dir, arg)) != SCR_SUCCESS ? err : rc;
}

/*
** SCR_ERR_UNSAFE unless DIR, a control or cache directory, is this user's alone.  Whatever gets its name from now on,
** nothing is read or changed there but in the directory that was checked: another user may have made one above it, when
** a base that all share was emptied, and exchange what it has for another cache of this user.  HELD keeps DIR,
** until it is set to another one or dropped (scr_fence_drop).
*/
SCR_FN int cache_hold(scr_fence* held, const char* dir)
{
  struct stat st;
  int         rc;

  scr_fence_set(held, dir);
  if ((rc = scr_private_check(dir)) != SCR_SUCCESS) return rc;
  if (!held->pinned || scr_os.lstat(dir, &st) < 0 || !scr_stat_same(&st, &held->is))
    return SCR_ERR(SCR_ERR_UNSAFE, "%s cannot be held, or is another directory now", dir);
  return SCR_SUCCESS;
}

/*
** Read into H the record of the prefix to which the control or cache directory DIR belongs; the filemaps tell where it
** is lost, damaged, or of an older version.  H is empty if nothing tells.
*/
SCR_FN int cache_owner(const char* dir, scr_hash* h)
{
  char path[SCR_MAX_FILENAME];
  int  rc = scr_fmt(path, sizeof path, "%s/prefix.scrinfo", dir);

  if (rc == SCR_SUCCESS) rc = scr_hash_file_read(path, h);
  if (rc != SCR_ERR_NOT_FOUND && rc != SCR_ERR_FORMAT && rc != SCR_ERR_CRC) return rc;
  scr_hash_unset_all(h);
  scr_filemap_find_prefix(dir, h);
  return SCR_SUCCESS;
}

/* As cache_check_prefix, where CACHE is the record of DIR. */
SCR_FN int cache_compare(const char* dir, const scr_hash* cache, const char* prefix)
{
  char        path[SCR_MAX_FILENAME];
  scr_hash*   own = scr_hash_new();
  const char *of, *named, *mine, *other;
  int         same, rc = SCR_SUCCESS;

  if (scr_record_path(prefix, "prefix.scr", path, sizeof path) == SCR_SUCCESS) scr_hash_file_read(path, own);
  named = scr_hash_str_or(cache, "PREFIX", prefix);
  of = scr_hash_str_or(cache, "REAL", named);
  mine = scr_hash_str_or(own, "IDENTITY", "");
  other = scr_hash_str_or(cache, "IDENTITY", "");
  same = scr_record_same_dir(of, prefix);
  if (*mine && *other && strcmp(mine, other) != 0) same = 0;
  else if (*other && (*mine || scr_record_same_dir(named, prefix)))
    same |= !scr_record_is_at(of, other); /* it was moved; a copy has the same identity */
  if (!same) rc = SCR_ERR(SCR_ERR_BUSY, "%s is the cache of the prefix %s, not of %s", dir, of, prefix);
  if (rc == SCR_SUCCESS && *other && *mine == '\0' && scr_index_is_missing(prefix))
    rc = SCR_ERR(SCR_ERR_STATE,
                 "the prefix %s has neither prefix.scr nor index.scr in .scr, but had an identity when %s was written: "
                 "is its file system mounted? If it is the right one, scr_index --build says so",
                 prefix, dir);
  scr_hash_delete(&own);
  return rc;
}

/*
** SCR_ERR_BUSY if the control or cache directory DIR belongs to runs of another prefix than PREFIX; SCR_ERR_STATE if to
** runs of PREFIX, but that has neither identity nor index now, as where its file system is not mounted.
*/
SCR_FN int cache_check_prefix(const char* dir, const char* prefix)
{
  scr_hash* cache = scr_hash_new();
  int       rc = cache_owner(dir, cache);

  if (rc == SCR_SUCCESS) rc = cache_compare(dir, cache, prefix);
  scr_hash_delete(&cache);
  return rc;
}

/*
** DIR, of SIZE bytes, becomes that of DIR.1, DIR.2 and so on which is PREFIX's, if there is one and DIR is not, or not
** there: of several applications in one job, each has a directory of its own.
*/
SCR_FN void cache_find(char* dir, size_t size, const char* prefix)
{
  char           path[SCR_MAX_FILENAME];
  const char*    name = strrchr(dir, '/') + 1;
  size_t         n = strlen(name);
  struct dirent* e;
  DIR*           d;
  scr_hash*      h;
  int            found = 0;

  if (access(dir, F_OK) == 0 && cache_check_prefix(dir, prefix) == SCR_SUCCESS) return;
  snprintf(path, sizeof path, "%.*s", (int)(name - dir), dir);
  d = opendir(path);
  while (d != NULL && !found && (e = readdir(d)) != NULL) {
    if (strncmp(e->d_name, name, n) != 0 || e->d_name[n] != '.' || e->d_name[n + 1] == '\0') continue;
    if (strspn(e->d_name + n + 1, "0123456789") != strlen(e->d_name + n + 1)) continue;
    if (scr_fmt(path, sizeof path, "%.*s%s", (int)(name - dir), dir, e->d_name) != SCR_SUCCESS) continue;
    h = scr_hash_new();
    found = cache_owner(path, h) == SCR_SUCCESS && scr_hash_get(h, "PREFIX") != NULL &&
            cache_compare(path, h, prefix) == SCR_SUCCESS;
    scr_hash_delete(&h);
  }
  if (found) scr_fmt(dir, size, "%s", path);
  if (d != NULL) closedir(d);
}

#endif
