/* scr_transfer - the daemon of a node that copies what asynchronous flushes leave to it.  No MPI. */
#include "cache.h"
#include "dirs.h"

#include <glob.h>
#include <grp.h>

static const char transfer_usage[] =
    "scr_transfer [OPTIONS] [DIR | FILE]\n"
    "Copy files from the cache of this node to the prefix directory, as the runs with SCR_FLUSH_TYPE=DAEMON ask for "
    "in\n"
    "the transfer file of the control directory DIR: in bursts, with pauses between them, so that it stays within\n"
    "SCR_FLUSH_ASYNC_BW and SCR_FLUSH_ASYNC_PERCENT.  It goes on when a run is killed; the next run completes the "
    "flush.\n"
    "\n"
    "  DIR, FILE       the control directory of the job, or its transfer file; default: those of the parameters.\n"
    "                  Directories that belong to it, node.<host> in it and DIR.<n>, are served too\n"
    "      --exit      end the daemon that serves DIR, after its burst, and wait for its end\n"
    "  -h, --help      print this and exit;  --version  print the version and exit\n"
    "\n"
    "scr_prerun starts it on each node; scr_postrun and scr_halt --immediate end it.  It may be killed at any time, "
    "and\n"
    "ends when DIR is removed.\n"
    "Exit 0 after --exit, or if another daemon serves DIR; 1 if there is an error.\n";

enum { OPT_TRANSFER_EXIT = 1001 };

#define TRANSFER_POLL_SECONDS  0.1                  /* between two looks at the transfer files, */
#define TRANSFER_REST_SECONDS  1                    /* and at run.lock, while it forbids to copy, */
#define TRANSFER_FAIL_SECONDS  30                   /* and after a burst that could not be recorded */
#define TRANSFER_BURST_SECONDS 1                    /* of the bandwidth that a burst may use up at once, */
#define TRANSFER_BURST_MOST    ((uint64_t)64 << 20) /* and its most and least bytes */
#define TRANSFER_BURST_LEAST   4096
#define TRANSFER_STEP          ((size_t)1 << 20)
#define TRANSFER_EXIT_SECONDS  60

/* A control directory that this daemon serves. */
typedef struct {
  char       cntl[SCR_MAX_FILENAME];
  scr_fence* held;   /* around it, as it was when it was checked */
  int        life;   /* descriptor of the lock that says so */
  double     start;  /* when the last burst began, or should have begun, */
  double     worked; /* how long it worked, */
  uint64_t   moved;  /* and its bytes */
  double     rest;   /* when to look again whether its run may copy */
} transfer_node;

static struct {
  transfer_node*      node;
  int                 nodes;
  char*               buf;
  const scr_transfer* burst; /* the transfer file of the burst; NULL once another run uses the prefix */
  scr_fence           store; /* around the directory of the store of the last copy, as it was when it was checked */
  char                told[SCR_ERR_TEXT_MAX]; /* the last message, which is not repeated */
} transfer_daemon;

/* Print the last error, unless it was the last one printed. */
static void transfer_tell(void)
{
  if (strcmp(transfer_daemon.told, scr_err_text) == 0) return;
  snprintf(transfer_daemon.told, sizeof transfer_daemon.told, "%s", scr_err_text);
  scr_warn("%s", scr_err_text);
}

/* ---- a burst ---- */

/* The first copy of T that is not complete; NULL if there is none. */
static scr_hash_elem* transfer_next(const scr_transfer* t)
{
  scr_hash_elem* e = scr_hash_elem_first(scr_hash_get(t->h, "FILES"));

  while (e != NULL && scr_transfer_state_of(e) != SCR_TRANSFER_BEGUN) e = scr_hash_elem_next(e);
  return e;
}

/* SCR_SUCCESS if the run that T is of was the last to use the prefix; SCR_ERR_STATE if another one was. */
static int transfer_is_current(const scr_transfer* t)
{
  char token[SCR_TOKEN_MAX];
  int  rc = scr_token_read(scr_hash_str_or(t->h, "PREFIX", ""), token, sizeof token);

  if (rc != SCR_SUCCESS || scr_transfer_is_of(t, token)) return rc;
  return SCR_ERR(SCR_ERR_STATE, "another run uses the prefix now");
}

/* Returns 1 if T, of N, lets the daemon copy: it says so, and the run that it is of was the last to use the prefix. */
static int transfer_may_copy(transfer_node* n, const scr_transfer* t)
{
  const char* prefix = scr_hash_str_or(t->h, "PREFIX", "");
  int         rc;

  if (strcmp(scr_hash_str_or(t->h, "COMMAND", ""), "RUN") != 0 || *prefix == '\0') return 0;
  if (scr_wtime() < n->rest) return 0;
  scr_fence_set(&scr_fences.prefix, prefix);
  if ((rc = transfer_is_current(t)) == SCR_SUCCESS) return 1;
  if (rc != SCR_ERR_STATE) transfer_tell();
  n->rest = scr_wtime() + TRANSFER_REST_SECONDS;
  return 0;
}

/*
** A file is open that the burst is to write to.  If another run uses the prefix now, it may be a new one of that name,
** in which other bytes have this place: the burst is over.
*/
static int transfer_stays(void)
{
  int rc = transfer_is_current(transfer_daemon.burst);

  if (rc != SCR_SUCCESS) transfer_daemon.burst = NULL;
  return rc;
}

/* A limit of T; 0 if there is none. */
static double transfer_limit(const scr_transfer* t, const char* key)
{
  double v = strtod(scr_hash_str_or(t->h, key, "0"), NULL);
  return v > 0 ? v : 0;
}

/* When the next burst for N may begin, by the limits of T as they are now. */
static double transfer_due(const transfer_node* n, const scr_transfer* t)
{
  double bw = transfer_limit(t, "BW"), share = transfer_limit(t, "PERCENT") / 100, pause = 0;

  if (bw > 0) pause = (double)n->moved / bw;
  if (share > 0 && share < 1 && n->worked / share > pause) pause = n->worked / share;
  return n->start + pause;
}

/* Note in MADE, under SOURCE, how far the copy IT is; RC is its result. */
static void transfer_note(scr_hash* made, const char* source, const scr_copy_item* it, int rc)
{
  scr_hash* h = scr_hash_set(made, source, scr_hash_new());

  scr_err_text[scr_err_length] = '\0';
  if (rc != SCR_SUCCESS) {
    scr_hash_util_set_str(h, "ERROR", scr_err_text);
  } else {
    scr_hash_util_set_bytecount(h, "WRITTEN", it->done);
    scr_hash_util_set_crc32_fixed(h, "CRC", it->crc);
  }
}

/* Record what MADE notes in the transfer file of N, for those copies that the run of the burst T still wants. */
static int transfer_record(const transfer_node* n, const scr_transfer* burst, const scr_hash* made)
{
  scr_transfer   t;
  scr_hash_elem* e;
  scr_hash*      h;
  const char*    error;
  uint64_t       written;
  uLong          crc;
  int            rc = scr_transfer_open(&t, n->cntl);

  if (rc == SCR_SUCCESS && !scr_transfer_is_of(&t, scr_hash_str_or(burst->h, "RUN", "")))
    return scr_transfer_close(&t, rc, 0);
  for (e = scr_hash_elem_first(made); e != NULL; e = scr_hash_elem_next(e)) {
    if ((h = scr_hash_get(scr_hash_get(t.h, "FILES"), scr_hash_elem_key(e))) == NULL) continue;
    error = scr_hash_elem_get_first_val(scr_hash_elem_hash(e), "ERROR");
    if (error != NULL) scr_hash_util_set_str(h, "ERROR", error);
    if (scr_hash_util_get_bytecount(scr_hash_elem_hash(e), "WRITTEN", &written) != SCR_SUCCESS ||
        scr_hash_util_get_crc32(scr_hash_elem_hash(e), "CRC", &crc) != SCR_SUCCESS)
      continue;
    scr_hash_util_set_bytecount(h, "WRITTEN", written);
    scr_hash_util_set_crc32_fixed(h, "CRC", crc);
  }
  if (transfer_next(&t) == NULL) scr_hash_util_set_str(t.h, "FLAG", "DONE");
  scr_hash_util_set_str(t.h, "STATE", transfer_next(&t) == NULL ? "STOP" : "RUN");
  return scr_transfer_close(&t, rc, 1);
}

/* Write STATE to the transfer file of N. */
static int transfer_set_state(const transfer_node* n, const char* state)
{
  scr_transfer t;
  int          rc = scr_transfer_open(&t, n->cntl);

  scr_hash_util_set_str(t.h, "STATE", state);
  return scr_transfer_close(&t, rc, 1);
}

/*
** SCR_ERR_UNSAFE if FILE, which is to be copied, lies in a directory of a store that is not this user's alone: another
** user may have made it, when a base that all share was emptied, and have put links there.
*/
static int transfer_hold_store(const char* file)
{
  const char* end = strstr(file, "/scr.dataset.");
  char        dir[SCR_MAX_FILENAME];

  if (end == NULL) return SCR_SUCCESS; /* a flat store has no directory of this user's alone */
  if (scr_fmt(dir, sizeof dir, "%.*s", (int)(end - file), file) != SCR_SUCCESS) return SCR_ERR_PATH;
  return cache_hold(&transfer_daemon.store, dir);
}

/*
** Copy at most MOST bytes of the file E of a transfer file, sync them, and note in MADE how far it is, unless the burst
** is over.  A copy that fails is noted too: the rank that wants it makes it then.  Returns the bytes that were copied.
*/
static uint64_t transfer_copy(const scr_hash_elem* e, uint64_t most, scr_hash* made)
{
  scr_pace        pace;
  scr_copy_target target;
  scr_identity    identity;
  scr_copy_item   it;
  uint64_t        before;
  int             rc = scr_transfer_get(e, &identity, &it), err;

  memset(&pace, 0, sizeof pace);
  memset(&target, 0, sizeof target);
  target.stays = transfer_stays;
  before = it.done;
  if (rc == SCR_SUCCESS) rc = transfer_hold_store(it.from.extent[0].path);
  if (rc == SCR_SUCCESS) rc = scr_copy_one(&it, &target, transfer_daemon.buf, TRANSFER_STEP, most, &pace);
  err = scr_copy_leave(&target);
  if (rc == SCR_SUCCESS) rc = err;
  if (transfer_daemon.burst != NULL) {
    if (rc != SCR_SUCCESS) transfer_tell();
    transfer_note(made, scr_hash_elem_key(e), &it, rc);
  }
  before = it.done - before;
  scr_transfer_clear_item(&it);
  return before;
}

/* A burst: copy files of T, the transfer file of N, from E on, as far as its limits let it, and record that there. */
static int transfer_burst(transfer_node* n, const scr_transfer* t, const scr_hash_elem* e)
{
  scr_hash* made = scr_hash_new();
  double    now = scr_wtime(), due = transfer_due(n, t), bw = transfer_limit(t, "BW");
  uint64_t  most = bw > 0 ? (uint64_t)(bw * TRANSFER_BURST_SECONDS) : TRANSFER_BURST_MOST;
  int       rc;

  if (most > TRANSFER_BURST_MOST) most = TRANSFER_BURST_MOST;
  if (most < TRANSFER_BURST_LEAST) most = TRANSFER_BURST_LEAST;
  n->moved = 0;
  transfer_daemon.burst = t;
  while (e != NULL && transfer_daemon.burst != NULL && n->moved < most && scr_wtime() < now + TRANSFER_BURST_SECONDS) {
    n->moved += transfer_copy(e, most - n->moved, made);
    while ((e = scr_hash_elem_next(e)) != NULL && scr_transfer_state_of(e) != SCR_TRANSFER_BEGUN) continue;
  }
  n->start = due > now - TRANSFER_BURST_SECONDS ? due : now; /* a pause that was too long makes the next one shorter */
  n->worked = scr_wtime() - now;
  rc = transfer_record(n, t, made);
  if (rc != SCR_SUCCESS) n->rest = scr_wtime() + TRANSFER_FAIL_SECONDS;
  scr_hash_delete(&made);
  return rc;
}

/*
** Make a burst for N, if there is something to copy and its time has come.  *NEXT becomes the time of the next one, if
** that is earlier; *ENDS becomes 1 if the daemon is to end.
*/
static int transfer_serve(transfer_node* n, double* next, int* ends)
{
  scr_transfer         t;
  const scr_hash_elem* e = NULL;
  int                  burst, may = 0, rc;

  if ((rc = scr_transfer_rest(n->cntl, &burst)) != SCR_SUCCESS) return rc;
  rc = scr_transfer_read(&t, n->cntl);
  if (rc == SCR_SUCCESS) e = transfer_next(&t);
  if (e != NULL && transfer_due(n, &t) <= scr_wtime() && (may = transfer_may_copy(n, &t)))
    rc = transfer_burst(n, &t, e);
  else if (e != NULL && transfer_due(n, &t) > scr_wtime()) may = 1; /* later */
  if (may && transfer_due(n, &t) < *next) *next = transfer_due(n, &t);
  if (!may && rc == SCR_SUCCESS && strcmp(scr_hash_str_or(t.h, "STATE", ""), "STOP") != 0)
    rc = transfer_set_state(n, "STOP");
  *ends |= strcmp(scr_hash_str_or(t.h, "COMMAND", ""), "EXIT") == 0;
  scr_transfer_close(&t, rc, 0);
  scr_hash_file_unlock(&burst);
  return rc;
}

/* ---- the control directories ---- */

/* Stop serving directories that were removed. */
static void transfer_drop(void)
{
  char        path[SCR_MAX_FILENAME];
  struct stat mine, there;
  int         i;

  for (i = transfer_daemon.nodes - 1; i >= 0; i--) {
    transfer_node* n = &transfer_daemon.node[i];
    if (scr_transfer_daemon_path(n->cntl, path, sizeof path) == SCR_SUCCESS && fstat(n->life, &mine) == 0 &&
        stat(path, &there) == 0 && scr_stat_same(&mine, &there))
      continue;
    scr_os.close(n->life);
    scr_fence_drop(n->held);
    scr_free(&n->held);
    *n = transfer_daemon.node[--transfer_daemon.nodes];
  }
}

/* Serve CNTL, unless that is done already.  SCR_ERR_BUSY if another daemon serves it. */
static int transfer_add(const char* cntl)
{
  char           path[SCR_MAX_FILENAME];
  scr_transfer   t;
  transfer_node* n;
  scr_fence*     held;
  int            i, fd = -1, rc = scr_transfer_daemon_path(cntl, path, sizeof path);

  for (i = 0; i < transfer_daemon.nodes; i++)
    if (strcmp(transfer_daemon.node[i].cntl, cntl) == 0) return SCR_SUCCESS;
  if ((held = (scr_fence*)scr_malloc(sizeof *held)) == NULL) return SCR_ERR_OOM();
  if (rc == SCR_SUCCESS) rc = cache_hold(held, cntl);
  if (rc == SCR_SUCCESS) rc = scr_lock_open(path, &fd);
  if (rc == SCR_SUCCESS) rc = scr_lock_take(fd, path, TRANSFER_POLL_SECONDS); /* who only asks holds it for a moment */
  if (rc == SCR_SUCCESS && !scr_grow(&transfer_daemon.node, transfer_daemon.nodes, sizeof *transfer_daemon.node))
    rc = SCR_ERR_OOM();
  if (rc != SCR_SUCCESS) {
    if (fd >= 0) scr_os.close(fd);
    scr_fence_drop(held);
    scr_free(&held);
    return rc;
  }
  n = &transfer_daemon.node[transfer_daemon.nodes++];
  memset(n, 0, sizeof *n);
  snprintf(n->cntl, sizeof n->cntl, "%s", cntl);
  n->held = held;
  n->life = fd;
  rc = scr_transfer_open(&t, cntl); /* an EXIT was for the daemon before this one */
  if (strcmp(scr_hash_str_or(t.h, "COMMAND", "EXIT"), "EXIT") == 0) scr_hash_util_set_str(t.h, "COMMAND", "RUN");
  return scr_transfer_close(&t, rc, 1);
}

/* Call VISIT for each control directory of DIR that has a transfer file.  Returns the last error. */
static int transfer_walk(const char* dir, int (*visit)(const char* cntl))
{
  static const char* const below[] = {"/transfer.scrinfo", "/node.*/transfer.scrinfo", ".[0-9]*/transfer.scrinfo",
                                      ".[0-9]*/node.*/transfer.scrinfo"};
  char                     pattern[2 * SCR_MAX_FILENAME + 64], *p = pattern;
  glob_t                   found;
  size_t                   i;
  int                      err, rc = SCR_SUCCESS;

  for (; *dir != '\0' && p < pattern + 2 * SCR_MAX_FILENAME; dir++) {
    if (strchr("*?[\\", *dir) != NULL) *p++ = '\\';
    *p++ = *dir;
  }
  memset(&found, 0, sizeof found);
  for (i = 0; i < sizeof below / sizeof *below; i++) {
    strcpy(p, below[i]);
    if (glob(pattern, i > 0 ? GLOB_APPEND : 0, NULL, &found) == GLOB_NOSPACE) return SCR_ERR_OOM();
  }
  for (i = 0; i < found.gl_pathc; i++) {
    *strrchr(found.gl_pathv[i], '/') = '\0';
    if ((err = visit(found.gl_pathv[i])) != SCR_SUCCESS) rc = err;
  }
  globfree(&found);
  return rc;
}

/* Make the control directory DIR, <base>/<user>/scr.<job>, as a run does, with a transfer file. */
static int transfer_make(const char* dir)
{
  char         base[SCR_MAX_FILENAME];
  char*        slash = NULL;
  const char*  rel;
  scr_transfer t;
  int          i, rc = scr_fmt(base, sizeof base, "%s", dir);

  for (i = 0; i < 2 && rc == SCR_SUCCESS; i++)
    if ((slash = strrchr(base, '/')) != NULL && slash > base) *slash = '\0';
    else rc = SCR_ERR(SCR_ERR_ARG, "%s is not a control directory, BASE/USER/scr.JOB", dir);
  rel = dir + strlen(base) + 1;
  if (rc == SCR_SUCCESS) rc = scr_private_mkdir(base, rel); /* what is there may be another user's, or a link */
  if (rc != SCR_SUCCESS) return rc;
  rc = scr_transfer_open(&t, dir);
  return scr_transfer_close(&t, rc, 1);
}

/* Serve DIR until a command says EXIT, or DIR is removed.  SCR_ERR_BUSY if others serve all of it. */
static int transfer_run(const char* dir)
{
  double next, now;
  int    i, rc, ends = 0;

  if ((rc = transfer_make(dir)) != SCR_SUCCESS) return rc;
  if ((transfer_daemon.buf = (char*)scr_malloc(TRANSFER_STEP)) == NULL) return SCR_ERR_OOM();
  while (!ends && tool_is_dir(dir)) {
    transfer_drop();
    rc = transfer_walk(dir, transfer_add);
    if (rc == SCR_ERR_BUSY && transfer_daemon.nodes == 0) return rc;
    if (rc != SCR_SUCCESS && rc != SCR_ERR_BUSY) transfer_tell();
    next = scr_wtime() + TRANSFER_POLL_SECONDS;
    for (i = 0; i < transfer_daemon.nodes && !ends; i++)
      if (transfer_serve(&transfer_daemon.node[i], &next, &ends) != SCR_SUCCESS) transfer_tell();
    now = scr_wtime();
    if (!ends && next > now) usleep((useconds_t)((next - now) * 1e6));
  }
  return SCR_SUCCESS;
}

/* ---- the end ---- */

/* Tell the daemon that serves CNTL, if there is one, to end, and wait until it has. */
static int transfer_exit(const char* cntl)
{
  static scr_fence held;
  scr_transfer     t;
  double           end = scr_wtime() + TRANSFER_EXIT_SECONDS;
  struct stat      st;
  int              rc = SCR_SUCCESS;

  while (rc == SCR_SUCCESS && scr_transfer_is_served(cntl)) { /* again and again: a run may say RUN at the same time */
    if (geteuid() == 0 && lstat(cntl, &st) == 0 && st.st_uid != 0 &&
        (setgroups(0, NULL) < 0 || setegid(st.st_gid) < 0 || seteuid(st.st_uid) < 0)) /* who may have links there */
      return SCR_ERRNO("cannot become user %lu, who owns %s", (unsigned long)st.st_uid, cntl);
    if ((rc = cache_hold(&held, cntl)) != SCR_SUCCESS) return rc;
    rc = scr_transfer_open(&t, cntl);
    scr_hash_util_set_str(t.h, "COMMAND", "EXIT");
    rc = scr_transfer_close(&t, rc, 1);
    if (rc == SCR_SUCCESS && scr_wtime() > end)
      rc = SCR_ERR(SCR_ERR_BUSY, "the daemon that serves %s has not ended within %d s", cntl, TRANSFER_EXIT_SECONDS);
    usleep(100000);
  }
  return rc;
}

/* Set DIR, of N bytes, to the control directory that NAME means: NULL, a directory, or its transfer file. */
static int transfer_find(const char* name, char* dir, size_t n)
{
  static const char file[] = "/transfer.scrinfo";
  char              base[SCR_MAX_FILENAME], cwd[SCR_MAX_FILENAME];
  scr_hash*         params;
  size_t            k;
  int               rc;

  if (name == NULL) {
    if ((params = tool_params(tool_prefix())) == NULL) return SCR_ERR_PARAM;
    rc = dirs_cntl(params, tool_prefix(), dir, n);
    scr_hash_delete(&params);
    return rc;
  }
  if (*name != '/' && getcwd(cwd, sizeof cwd) == NULL) return SCR_ERRNO("cannot get the working directory");
  rc = scr_fmt(base, sizeof base, "%s%s%s", *name != '/' ? cwd : "", *name != '/' ? "/" : "", name);
  if (rc == SCR_SUCCESS) rc = scr_path_reduce_str(base, dir, n);
  k = rc == SCR_SUCCESS ? strlen(dir) : 0;
  if (k >= sizeof file && strcmp(dir + k - strlen(file), file) == 0) dir[k - strlen(file)] = '\0';
  return rc;
}

SCR_FN int transfer_main(int argc, char** argv)
{
  static const struct option options[] = {
      {"exit", no_argument, NULL, OPT_TRANSFER_EXIT}, TOOL_OPTIONS, {NULL, 0, NULL, 0}};
  char dir[SCR_MAX_FILENAME];
  int  c, rc, ends = 0;

  while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
    if (c != OPT_TRANSFER_EXIT) return tool_answer(c, argv[0], transfer_usage, 1);
    ends = 1;
  }
  if (argc - optind > 1) return tool_usage(argv[0], transfer_usage, 1, "one directory is enough");
  if ((rc = transfer_find(optind < argc ? argv[optind] : NULL, dir, sizeof dir)) != SCR_SUCCESS) goto out;
  rc = ends ? transfer_walk(dir, transfer_exit) : transfer_run(dir);
  if (rc == SCR_ERR_BUSY && !ends) {
    printf("%s: %s is served already\n", tool_name(argv[0]), dir);
    rc = SCR_SUCCESS;
  }
out:
  return rc == SCR_SUCCESS ? 0 : tool_fail(argv[0], 1, scr_err_text);
}

TOOL_MAIN(transfer_main)
