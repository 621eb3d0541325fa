/* scr_clean - remove from the caches of the nodes what the prefix has.  No MPI. */
#include "cache.h"
#include "transfer.h"

static const char clean_usage[] =
    "scr_clean [OPTIONS]\n"
    "Remove the datasets of the last run from the caches of its nodes.  A node keeps its cache as it is if it has an\n"
    "output dataset that is not on the prefix, or a checkpoint and the prefix has neither that nor a newer one.\n"
    "\n"
    "  -p, --prefix DIR   the prefix directory; default: SCR_PREFIX, or else the working directory\n"
    "  -d, --down NODES   without these nodes\n"
    "      --here         on this node only, as an epilog of a job does\n"
    "      --timeout N    seconds for a node; default 60\n"
    "  -v, --verbose      print what is removed\n"
    "  -h, --help         print this and exit;  --version  print the version and exit\n"
    "\n"
    "scr_run does it when a job has ended and is saved, unless SCR_CACHE_CLEAN=0.\n"
    "Exit 0, or 1 if a node keeps what the prefix lacks or did not answer, or there is an error.\n";

enum { OPT_CLEAN_HERE = 1001, OPT_CLEAN_TIMEOUT, OPT_CLEAN_PART, OPT_CLEAN_LACKS };

static struct {
  const char *prefix, *down;
  int         here, verbose;
  int64_t     seconds;
  scr_index   index;
  scr_record  notes; /* the flush file */
  int*        lacks; /* [n_lacks]: the ids of datasets that the index has, and whose files are not all there */
  int         n_lacks;
  int*        listed; /* [n_listed]: the ids of datasets that the filemaps of this node list */
  int         n_listed;
  int         newest; /* the id of the newest checkpoint that the prefix has; 0: none */
  int         chosen; /* the id of the checkpoint that the user has chosen, and only a cache has; 0: none */
  int         kept;   /* the id of a dataset that has to stay; 0: there is none */
} clean_job;

/* Add ID to LIST, which has *N. */
static int clean_add_id(int** list, int* n, int id)
{
  if (!scr_grow(list, *n, sizeof **list)) return SCR_ERR_OOM();
  (*list)[(*n)++] = id;
  return SCR_SUCCESS;
}

/* The files of dataset ID, which the index has, are not all there. */
static int clean_lacks(int id)
{
  return clean_add_id(&clean_job.lacks, &clean_job.n_lacks, id);
}

/*
** Returns 1 if the prefix has the dataset IT of the index, as far as E, an entry of a cache, or NULL, can tell.  The
** files of an output may have been moved.
*/
static int clean_has(const scr_index_item* it, const scr_entry* e)
{
  int i, apart = 0;

  for (i = 0; i < clean_job.n_lacks; i++)
    if (clean_job.lacks[i] == it->id) return 0;
  if (!it->complete || it->renaming || it->unread) return 0;
  return !scr_desc_is_ckpt(&it->desc) ||
         (scr_prefix_has_head(clean_job.prefix, it, e != NULL ? &e->desc : &it->desc, &apart) &&
          (!apart || scr_prefix_has_files(clean_job.prefix, e)));
}

/* ---- a node ---- */

/*
** Returns 1 if the dataset IDENTITY of a cache is past: the prefix has one that has the places of its files, or, as it
** IS_PURE, a checkpoint alone, a newer one.
*/
static int clean_is_past(const scr_identity* identity, int is_pure)
{
  scr_flush_note note;

  if (scr_flush_file_get(&clean_job.notes, identity->id, &note) && scr_identity_same(&note.identity, identity) &&
      scr_flush_note_is_superseded(clean_job.prefix, &note))
    return 1;
  return is_pure && clean_job.newest > identity->id && clean_job.chosen != identity->id;
}

/*
** Returns 1 if nobody needs the entry E of a cache: the prefix has the dataset, or it is past.  What a run could not
** fetch from there does not count, nor what has lost files there.
*/
static int clean_is_saved(const scr_entry* e)
{
  scr_index_item it;

  if (!e->desc.complete || e->mark == SCR_MARK_LEAVING) return 1;
  if (scr_index_same(&clean_job.index, &e->desc.identity, &it) && clean_has(&it, e)) return 1;
  return clean_is_past(&e->desc.identity, scr_desc_is_pure(&e->desc));
}

/*
** Returns 1 if dataset ID, of which the cache has files, is work that the flush file notes, and no filemap lists: a run
** with another control directory wrote it.
*/
static int clean_is_unlisted(int id)
{
  scr_flush_note note;
  int            i;

  for (i = 0; i < clean_job.n_listed; i++)
    if (clean_job.listed[i] == id) return 0;
  return scr_flush_file_get(&clean_job.notes, id, &note) && note.location & SCR_LOCATION_CACHE &&
         !scr_flush_note_on_prefix(clean_job.prefix, &note) &&
         !clean_is_past(&note.identity, !(note.flags & SCR_FLAG_OUTPUT));
}

/* Find work in DIR, a cache directory, that the filemaps do not list. */
static void clean_find_unlisted(const char* dir)
{
  struct dirent* e;
  int64_t        id;
  DIR*           d = opendir(dir);

  while (d != NULL && (e = readdir(d)) != NULL)
    if (strncmp(e->d_name, "scr.dataset.", 12) == 0 && tool_number(e->d_name + 12, 1, INT_MAX, &id) &&
        clean_is_unlisted((int)id))
      clean_job.kept = (int)id;
  if (d != NULL) closedir(d);
}

static int clean_see_map(const char* dir, const scr_home* home, const scr_filemap* map, void* arg)
{
  int i, rc = SCR_SUCCESS;

  (void)dir;
  (void)home;
  (void)arg;
  for (i = 0; i < map->n && rc == SCR_SUCCESS; i++) {
    int id = map->entry[i]->desc.identity.id;
    rc = clean_add_id(&clean_job.listed, &clean_job.n_listed, id);
    if (!clean_is_saved(map->entry[i])) clean_job.kept = id;
  }
  return rc;
}

/* Read the filemaps of the control directory DIR; where there is none at all, no run has left anything. */
static int clean_read(const char* dir)
{
  char           path[SCR_MAX_FILENAME];
  struct stat    st;
  struct dirent* e;
  DIR*           d;
  int            rc = scr_fmt(path, sizeof path, "%s/filemap.scrinfo", dir);

  if (rc != SCR_SUCCESS || scr_os.lstat(path, &st) == 0)
    return rc == SCR_SUCCESS ? cache_read(dir, clean_see_map, NULL) : rc;
  if ((d = opendir(dir)) == NULL) return SCR_ERRNO("cannot read %s", dir);
  while ((e = readdir(d)) != NULL)
    if (strncmp(e->d_name, "filemap", 7) == 0)
      rc = SCR_ERR(SCR_ERR_MISSING, "the cache is kept: %s has filemaps, but no list of them, %s", dir, path);
  closedir(d);
  return rc;
}

/* Remove from DIR, a control or cache directory, datasets and filemaps; its locks stay, and whose it is. */
static void clean_empty(const char* dir)
{
  char           path[SCR_MAX_FILENAME];
  struct dirent* e;
  DIR*           d = opendir(dir);

  while (d != NULL && (e = readdir(d)) != NULL) {
    if (strncmp(e->d_name, "scr.dataset.", 12) != 0 && strncmp(e->d_name, "filemap", 7) != 0) continue;
    if (scr_fmt(path, sizeof path, "%s/%s", dir, e->d_name) != SCR_SUCCESS) continue;
    if (tool_is_dir(path)) scr_tree_remove(path);
    else scr_os.unlink(path);
  }
  if (d != NULL) closedir(d);
}

/*
** That DIR is what a run over the prefix has made or taken for its cache, as it recorded there: the nodes file may be
** somebody else's, and what it names is emptied.
*/
static int clean_check(const char* dir)
{
  scr_fence* held = (scr_fence*)scr_malloc(sizeof *held);
  char       path[SCR_MAX_FILENAME];
  int        fd = -1, rc = held != NULL ? cache_hold(held, dir) : SCR_ERR_OOM();

  if (rc == SCR_SUCCESS) rc = scr_fmt(path, sizeof path, "%s/prefix.scrinfo", dir);
  if (rc == SCR_SUCCESS) rc = scr_file_open(path, &fd);
  if (rc == SCR_ERR_MISSING)
    rc = SCR_ERR(SCR_ERR_UNSAFE, "%s stays as it is: it has no %s, so no run has used it as a cache", dir, path);
  if (fd >= 0) scr_os.close(fd);
  return rc == SCR_SUCCESS ? cache_check_prefix(dir, clean_job.prefix) : rc;
}

/* The part of a node: DIR[0] is its control directory, and those up to N are its caches. */
static int clean_node(char** dir, int n)
{
  char lock[SCR_MAX_FILENAME];
  int  i, fd = -1, rc = scr_fmt(lock, sizeof lock, "%s/run.lock", dir[0]);

  if (rc == SCR_SUCCESS && !tool_is_dir(dir[0])) return SCR_SUCCESS; /* nothing is left */
  for (i = 0; i < n && rc == SCR_SUCCESS; i++) {
    if (!tool_is_dir(dir[i])) continue;
    rc = clean_check(dir[i]);
  }
  if (rc == SCR_SUCCESS) rc = scr_lock_open(lock, &fd);
  if (rc == SCR_SUCCESS) rc = scr_lock_take(fd, lock, SCR_LOCK_SECONDS);
  if (rc == SCR_SUCCESS) rc = clean_read(dir[0]);
  for (i = 0; i < n && rc == SCR_SUCCESS; i++) {
    clean_find_unlisted(dir[i]);
    if (tool_is_dir(dir[i])) rc = cache_check_prefix(dir[i], clean_job.prefix); /* an error if it is another one now */
  }
  if (rc == SCR_SUCCESS && clean_job.kept != 0)
    rc = SCR_ERR(SCR_ERR_STATE, "the cache is kept: the prefix lacks dataset %d; scr_postrun saves it", clean_job.kept);
  for (i = n - 1; i >= 0 && rc == SCR_SUCCESS; i--) /* the list of what there is goes last */
    if (tool_is_dir(dir[i])) clean_empty(dir[i]);
  if (fd >= 0) scr_os.close(fd);
  return rc;
}

/* Read the index, and clean the node with the directories DIR[0..n).  Returns the exit code. */
static int clean_part(const char* argv0, char** dir, int n)
{
  scr_index_item it;
  int            id = INT_MAX, rc = scr_index_read(&clean_job.index, clean_job.prefix);

  while (rc == SCR_SUCCESS && clean_job.newest == 0 &&
         scr_index_newest(&clean_job.index, id, NULL, &it) == SCR_SUCCESS) {
    id = it.id;
    if (clean_has(&it, NULL)) clean_job.newest = id;
  }
  clean_job.chosen = scr_choice_in_cache(&clean_job.index);
  scr_flush_file_read(&clean_job.notes, clean_job.prefix); /* without it, the filemaps and the index alone count */
  if (rc == SCR_SUCCESS) rc = clean_node(dir, n);
  scr_record_close(&clean_job.notes, SCR_SUCCESS, 0);
  scr_index_close(&clean_job.index, rc, 0);
  return rc == SCR_SUCCESS ? 0 : tool_fail(argv0, 1, scr_err_text);
}

/* ---- all nodes ---- */

/* The line of the shell for each node: the part, with its directories. */
typedef struct {
  hosts    node, where, down;
  scr_buf* line; /* [node.n] */
  int      rc;
} clean_nodes;

/* Append WORD to B, in quotes. */
static void clean_word(scr_buf* b, const char* word)
{
  scr_buf_quote(b, word);
  scr_buf_add(b, " ", 1);
}

/* Add DIR of KIND to the line of HOST; its control directory comes first. */
static void clean_add(const char* host, const char* kind, const char* dir, void* arg)
{
  clean_nodes* l = (clean_nodes*)arg;
  char         path[SCR_MAX_FILENAME];
  int          i;

  if (l->rc != SCR_SUCCESS || scavenge_has(&l->down, host)) return;
  if (strcmp(kind, "CNTL") == 0) {
    const char* where = scavenge_is_virtual(host, dir) ? "localhost" : host;
    if (clean_job.here && !system_is_here(where)) return;
    if (!scr_grow(&l->line, l->node.n, sizeof *l->line)) return;
    memset(&l->line[l->node.n], 0, sizeof *l->line);
    if ((l->rc = hosts_add(&l->node, host)) == SCR_SUCCESS) l->rc = hosts_add(&l->where, where);
    if (l->rc != SCR_SUCCESS) return;
    system_sibling("scr_clean", path, sizeof path);
    scr_buf_add(&l->line[l->node.n - 1], "exec ", 5);
    clean_word(&l->line[l->node.n - 1], path);
    clean_word(&l->line[l->node.n - 1], "--prefix");
    clean_word(&l->line[l->node.n - 1], clean_job.prefix);
    for (i = 0; i < clean_job.n_lacks; i++) {
      snprintf(path, sizeof path, "--lacks=%d", clean_job.lacks[i]);
      clean_word(&l->line[l->node.n - 1], path);
    }
    clean_word(&l->line[l->node.n - 1], "--part");
  }
  for (i = 0; i < l->node.n && strcmp(l->node.name[i], host) != 0; i++) continue;
  if (i < l->node.n) clean_word(&l->line[i], dir);
}

/*
** Look whether all files of what the caches and the index have are there, and those of the newest checkpoint of the
** index: a purge of old files may have taken some.  Nodes only look for their own.
*/
static int clean_look(void)
{
  scr_record     file;
  scr_flush_note note;
  scr_index      index;
  scr_index_item it;
  int            newest = INT_MAX, id = 0, rc = scr_flush_file_read(&file, clean_job.prefix);

  while (rc == SCR_SUCCESS && (id = scr_flush_file_next(&file, id)) != 0)
    if (scr_flush_file_get(&file, id, &note) && note.location & SCR_LOCATION_CACHE &&
        note.location & SCR_LOCATION_PREFIX && !scr_flush_note_on_prefix(clean_job.prefix, &note))
      rc = clean_lacks(id);
  if ((rc = scr_record_close(&file, rc, 0)) != SCR_SUCCESS) return rc;
  rc = scr_index_read(&index, clean_job.prefix);
  while (rc == SCR_SUCCESS && scr_index_newest(&index, newest, NULL, &it) == SCR_SUCCESS &&
         !scr_prefix_has(clean_job.prefix, &it)) {
    newest = it.id;
    rc = clean_lacks(newest);
  }
  return scr_index_close(&index, rc, 0);
}

/* Record that the caches no longer have what the prefix has. */
static int clean_note(void)
{
  scr_record     file;
  scr_flush_note note;
  int            id = 0, rc = scr_flush_file_open(&file, clean_job.prefix);

  while (rc == SCR_SUCCESS && (id = scr_flush_file_next(&file, id)) != 0)
    if (scr_flush_file_get(&file, id, &note) && note.location & SCR_LOCATION_PREFIX) {
      note.location &= ~SCR_LOCATION_CACHE;
      scr_flush_file_put(&file, &note);
    }
  return scr_record_close(&file, rc, 1);
}

/* Clean all nodes of the last run, which must have ended.  *BAD becomes 1 if one keeps something. */
static int clean_all(int* bad)
{
  clean_nodes  l;
  remote_job   job;
  const char** command = NULL;
  int          i, lock = -1, rc = clean_look(); /* before the lock: with --here, each node of a job looks */

  memset(&l, 0, sizeof l);
  memset(&job, 0, sizeof job);
  if (rc == SCR_SUCCESS) rc = scavenge_lock(clean_job.prefix, &lock);
  if (rc == SCR_SUCCESS && clean_job.down != NULL) rc = hosts_parse(&l.down, clean_job.down);
  if (rc == SCR_SUCCESS) rc = scr_nodes_file_walk(clean_job.prefix, clean_add, &l);
  if (rc == SCR_SUCCESS) rc = l.rc;
  if (rc == SCR_SUCCESS && (command = (const char**)scr_malloc(((size_t)l.node.n + 1) * sizeof *command)) == NULL)
    rc = SCR_ERR_OOM();
  for (i = 0; i < l.node.n && rc == SCR_SUCCESS; i++) {
    scr_buf_add(&l.line[i], "", 1);
    if (l.line[i].failed) rc = SCR_ERR_OOM();
    command[i] = l.line[i].p;
  }
  job.nodes = &l.where;
  job.command = command;
  job.seconds = (double)clean_job.seconds;
  if (rc == SCR_SUCCESS) rc = remote_begin(&job);
  if (rc == SCR_SUCCESS) rc = remote_run(&job);
  for (i = 0; i < l.node.n && rc == SCR_SUCCESS; i++) {
    const char* text = job.task[i].status == SYSTEM_TIMEOUT ? "no answer" : system_reason(&job.task[i]);
    if (job.task[i].status == 0 && !clean_job.verbose) continue;
    tool_print(l.node.name[i]);
    printf(": ");
    tool_print_line(job.task[i].status == 0 ? "the cache is empty" : text);
    *bad |= job.task[i].status != 0;
  }
  if (rc == SCR_SUCCESS && !*bad && !clean_job.here) rc = clean_note();
  remote_free(&job);
  for (i = 0; i < l.node.n; i++) scr_buf_free(&l.line[i]);
  scr_free(&l.line);
  scr_free(&command);
  hosts_free(&l.node);
  hosts_free(&l.where);
  hosts_free(&l.down);
  if (lock >= 0) scr_os.close(lock);
  return rc;
}

SCR_FN int clean_main(int argc, char** argv)
{
  static const struct option options[] = {{"prefix", required_argument, NULL, 'p'},
                                          {"down", required_argument, NULL, 'd'},
                                          {"here", no_argument, NULL, OPT_CLEAN_HERE},
                                          {"timeout", required_argument, NULL, OPT_CLEAN_TIMEOUT},
                                          {"part", no_argument, NULL, OPT_CLEAN_PART},
                                          {"lacks", required_argument, NULL, OPT_CLEAN_LACKS},
                                          {"verbose", no_argument, NULL, 'v'},
                                          TOOL_OPTIONS,
                                          {NULL, 0, NULL, 0}};
  const char*                prefix = tool_prefix();
  char*                      real;
  int                        c, part = 0, bad = 0;

  clean_job.seconds = 60;
  while ((c = getopt_long(argc, argv, "p:d:vh", options, NULL)) != -1) {
    if (c == 'p') prefix = tool_dir(optarg);
    else if (c == 'd') clean_job.down = optarg;
    else if (c == 'v') clean_job.verbose = 1;
    else if (c == OPT_CLEAN_HERE) clean_job.here = 1;
    else if (c == OPT_CLEAN_PART) part = 1;
    else if (c == OPT_CLEAN_LACKS) {
      if (clean_lacks(atoi(optarg)) != SCR_SUCCESS) return tool_fail(argv[0], 1, scr_err_text);
    } else if (c != OPT_CLEAN_TIMEOUT) return tool_answer(c, argv[0], clean_usage, 1);
    else if (!tool_number(optarg, 1, INT_MAX, &clean_job.seconds))
      return tool_usage(argv[0], clean_usage, 1, "--timeout needs a whole number of seconds");
  }
  if (part ? optind == argc : optind != argc)
    return tool_usage(argv[0], clean_usage, 1, "there is nothing to say after the options");
  if ((real = tool_real(prefix)) == NULL) return tool_fail(argv[0], 1, scr_err_text);
  clean_job.prefix = real;
  if (part) bad = clean_part(argv[0], argv + optind, argc - optind);
  else if (clean_all(&bad) != SCR_SUCCESS) bad = tool_fail(argv[0], 1, scr_err_text);
  free(real);
  scr_free(&clean_job.lacks);
  return bad || fflush(stdout) != 0;
}

TOOL_MAIN(clean_main)
