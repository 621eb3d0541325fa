/*
** scavenge.h - bring a dataset from the caches of a job that has ended to its prefix: scr_copy runs on each node, many
** at a time, and what they have collected is rebuilt, where files are lost, and entered into the index.
*/
#ifndef SCR_TOOL_SCAVENGE_H
#define SCR_TOOL_SCAVENGE_H

#include "dirs.h"
#include "log.h"
#include "remote.h"

#define SCAVENGE_TELL_SECONDS 10 /* between lines about the progress, where there is no terminal */

/* What the options say; all zeros but the prefix is what the parameters and the files of the last run say. */
typedef struct {
  const char*     prefix;             /* absolute */
  const char *    jobset, *up, *down; /* lists of nodes; NULL: the nodes of the last run, all, none */
  const char*     from;               /* the control directory on each node; NULL: that of the last run */
  double          seconds;            /* that a node may be silent */
  const scr_hash* params;
} scavenge_options;

#define SCAVENGE_SECONDS 300

/* A node, and its control directory. */
typedef struct {
  hosts  node;
  char** cntl; /* [node.n] */
  int    rc;   /* of a walk that adds nodes */
} scavenge_nodes;

SCR_FN void scavenge_nodes_free(scavenge_nodes* l)
{
  int i;

  for (i = 0; i < l->node.n; i++) scr_free(&l->cntl[i]);
  scr_free(&l->cntl);
  hosts_free(&l->node);
}

SCR_FN int scavenge_nodes_add(scavenge_nodes* l, const char* host, const char* cntl)
{
  int rc;

  if (!scr_grow(&l->cntl, l->node.n, sizeof *l->cntl) || (l->cntl[l->node.n] = scr_strdup(cntl)) == NULL)
    return SCR_ERR_OOM();
  if ((rc = hosts_add(&l->node, host)) != SCR_SUCCESS) scr_free(&l->cntl[l->node.n]);
  return rc;
}

/* ---- which nodes ---- */

/* Returns 1 if LIST has HOST; a name without a domain is the same host with one. */
SCR_FN int scavenge_has(const hosts* list, const char* host)
{
  int i;

  for (i = 0; i < list->n; i++) {
    const char* name = list->name[i];
    size_t      n = strcspn(name, "."), k = strcspn(host, ".");
    if (strcmp(name, host) == 0) return 1;
    if (n == k && strncmp(name, host, n) == 0 && (name[n] == '\0' || host[k] == '\0')) return 1;
  }
  return 0;
}

/* The lists of nodes of the options, expanded; what is not given has no names. */
typedef struct {
  hosts           jobset, up, down;
  scavenge_nodes* into;
  const char*     from;
  int             missing; /* nodes that are left out */
  int             rc;
} scavenge_choice;

/* Add HOST with its control directory, unless the options exclude it. */
SCR_FN void scavenge_choose(const char* host, const char* kind, const char* dir, void* arg)
{
  scavenge_choice* c = (scavenge_choice*)arg;

  if (strcmp(kind, "CNTL") != 0 || c->rc != SCR_SUCCESS) return;
  if (c->jobset.n > 0 && !scavenge_has(&c->jobset, host)) return;
  if (scavenge_has(&c->down, host) || (c->up.n > 0 && !scavenge_has(&c->up, host))) c->missing++;
  else c->rc = scavenge_nodes_add(c->into, host, c->from != NULL ? c->from : dir);
}

/* Which nodes are asked, in this order, for files that are missing. */
typedef enum { SCAVENGE_LAST_RUN, SCAVENGE_EARLIER_RUNS, SCAVENGE_ALLOCATION, SCAVENGE_NODES } scavenge_which;

static const char* const scavenge_why[SCAVENGE_NODES] = {
    "", "an earlier run had its files where the last one could not reach them; copying from there too",
    "earlier runs may have left files on other nodes of the allocation; copying from these too"};

/* The nodes of the allocation, with the control directory of the parameters, but for those of ASKED, unless NULL. */
SCR_FN int scavenge_choose_all(const scavenge_options* o, const hosts* asked, scavenge_choice* c)
{
  hosts all = {NULL, 0};
  char  dir[SCR_MAX_FILENAME];
  int   i, rc = o->jobset != NULL ? hosts_parse(&all, o->jobset) : system_nodes(&all);

  if (rc == SCR_SUCCESS) rc = dirs_cntl(o->params, o->prefix, dir, sizeof dir);
  for (i = 0; i < all.n && rc == SCR_SUCCESS; i++) {
    if (asked != NULL && scavenge_has(asked, all.name[i])) continue;
    scavenge_choose(all.name[i], "CNTL", dir, c);
    rc = c->rc;
  }
  hosts_free(&all);
  return rc;
}

/*
** Make INTO the nodes WHICH that the options choose, those of the allocation without ASKED, which is NULL for the
** others; MISSING is how many are left out.  SCR_ERR_NOT_FOUND if there are none.
*/
SCR_FN int scavenge_find_nodes(const scavenge_options* o, scavenge_which which, const hosts* asked,
                               scavenge_nodes* into, int* missing)
{
  scavenge_choice c;
  int             rc = SCR_SUCCESS;

  memset(&c, 0, sizeof c);
  c.into = into;
  c.from = o->from;
  if (o->jobset != NULL) rc = hosts_parse(&c.jobset, o->jobset);
  if (rc == SCR_SUCCESS && o->up != NULL) rc = hosts_parse(&c.up, o->up);
  if (rc == SCR_SUCCESS && o->down != NULL) rc = hosts_parse(&c.down, o->down);
  if (rc == SCR_SUCCESS && which == SCAVENGE_ALLOCATION) rc = scavenge_choose_all(o, asked, &c);
  else if (rc == SCR_SUCCESS) {
    rc = which == SCAVENGE_LAST_RUN ? scr_nodes_file_walk(o->prefix, scavenge_choose, &c)
                                    : scr_nodes_file_walk_before(o->prefix, scavenge_choose, &c);
    if (rc == SCR_ERR_UNSAFE && which == SCAVENGE_LAST_RUN)
      scr_warn("%s; the nodes of the allocation are asked, with the directories of the parameters", scr_err_text);
    if (rc == SCR_SUCCESS) rc = c.rc;
    else if (which == SCAVENGE_LAST_RUN &&
             (rc == SCR_ERR_NOT_FOUND || rc == SCR_ERR_FORMAT || rc == SCR_ERR_CRC || rc == SCR_ERR_UNSAFE))
      rc = scavenge_choose_all(o, NULL, &c);
  }
  if (rc == SCR_SUCCESS && into->node.n == 0)
    rc = SCR_ERR(SCR_ERR_NOT_FOUND, c.missing > 0 ? "all nodes of the run are down" : "no node of the run is known");
  *missing = c.missing;
  hosts_free(&c.jobset);
  hosts_free(&c.up);
  hosts_free(&c.down);
  return rc;
}

/* Returns 1 if the nodes of the allocation may be asked, too: the options do not say which, and they are known. */
SCR_FN int scavenge_may_ask_all(const scavenge_options* o)
{
  return o->jobset == NULL && o->up == NULL &&
         (system_manager(NULL) != SYSTEM_NONE || system_env("SCR_NODELIST") != NULL);
}

/* ---- progress ---- */

static struct {
  system_task* task; /* of the nodes; what they print tells how far they are */
  int          n, shown;
  double       told;
} scavenge_progress;

/* How far T is, as the last line of scr_copy about that says. */
SCR_FN void scavenge_far(const system_task* t, uint64_t* done, uint64_t* total)
{
  static const char mark[] = ": copied ";
  const char *      end = t->out.p + t->out.n, *at, *last = NULL;

  for (at = t->out.p; at != NULL && at + sizeof mark < end; at++)
    if (*at == ':' && memcmp(at, mark, sizeof mark - 1) == 0 && memchr(at, '\n', (size_t)(end - at)) != NULL) last = at;
  *done = *total = 0;
  if (last != NULL && sscanf(last + sizeof mark - 1, "%" SCNu64 " of %" SCNu64, done, total) != 2) *done = *total = 0;
}

/* Show how far all nodes are: as a bar on a terminal, else as a line now and then. */
SCR_FN void scavenge_heard(system_task* task)
{
  uint64_t done = 0, total = 0, a, b;
  int      i, ended = 0, tty = isatty(1);
  char     bar[] = "########################################";

  (void)task;
  if (scr_wtime() - scavenge_progress.told < (tty ? 0.2 : SCAVENGE_TELL_SECONDS)) return;
  scavenge_progress.told = scr_wtime();
  for (i = 0; i < scavenge_progress.n; i++) {
    scavenge_far(&scavenge_progress.task[i], &a, &b);
    done += a;
    total += b;
    ended += scavenge_progress.task[i].status != REMOTE_SILENT;
  }
  if (tty) {
    int full = (int)strlen(bar), k = total > 0 ? (int)((double)done / (double)total * full) : 0;
    printf("\r[%.*s%*s] %.1f of %.1f MB, %d of %d nodes done ", k, bar, full - k, "", (double)done / 1e6,
           (double)total / 1e6, ended, scavenge_progress.n);
    scavenge_progress.shown = 1;
  } else {
    printf("%.1f of %.1f MB are copied, %d of %d nodes are done\n", (double)done / 1e6, (double)total / 1e6, ended,
           scavenge_progress.n);
  }
  fflush(stdout);
}

/* Remove the bar. */
SCR_FN void scavenge_clear_line(void)
{
  if (scavenge_progress.shown) printf("\r%*s\r", 100, "");
  scavenge_progress.shown = 0;
}

SCR_FN void scavenge_say(const char* what)
{
  scavenge_clear_line();
  tool_print_line(what);
  fflush(stdout);
}

/* ---- the copies of the nodes ---- */

/* Print what T, on HOST, has said but for its progress; and why it has not ended well. */
SCR_FN void scavenge_report(system_task* t, const char* host, double seconds)
{
  char *line = system_text(t), *next;
  char  text[SCR_ERR_TEXT_MAX];

  for (; *line != '\0'; line = next) {
    next = line + strcspn(line, "\r\n");
    while (*next == '\r' || *next == '\n') *next++ = '\0';
    if (strstr(line, ": copied ") != NULL || strstr(line, ": Return code: ") != NULL || *line == '\0') continue;
    if (strncmp(line, "scr_copy: ", 10) == 0) line += 10;
    if (strchr(line, ' ') > line && strchr(line, ' ')[-1] == ':') line = strchr(line, ' ') + 1; /* its host */
    snprintf(text, sizeof text, "%s: %.2000s", host, line);
    scavenge_say(text);
  }
  *text = '\0';
  if (t->status == SYSTEM_TIMEOUT)
    snprintf(text, sizeof text, "%s: no answer for %.0f s; it is given up", host, seconds);
  else if (t->status > 1)
    snprintf(text, sizeof text, "%s: scr_copy could not be run, or was killed: exit code %d", host, t->status);
  if (*text != '\0') scavenge_say(text);
}

/* Returns 1 if HOST, with the control directory CNTL, is a virtual node of this machine, which is asked here. */
SCR_FN int scavenge_is_virtual(const char* host, const char* cntl)
{
  char        self[SYSTEM_HOST_MAX] = "";
  const char* slash = strrchr(cntl, '/');
  size_t      n;

  if (system_env("SCR_REMOTE_SHELL") != NULL || gethostname(self, sizeof self - 1) < 0) return 0;
  n = strlen(self);
  return slash != NULL && strncmp(slash, "/node.", 6) == 0 && strcmp(slash + 6, host) == 0 &&
         strncmp(host, self, n) == 0 && strncmp(host + n, "-v", 2) == 0;
}

/* The line of the shell that runs scr_copy, with the option WHAT, on the node with the control directory CNTL. */
SCR_FN char* scavenge_command(const char* prefix, const char* what, const char* cntl)
{
  scr_buf b = {NULL, 0, 0, 0};
  char    path[SCR_MAX_FILENAME];

  system_sibling("scr_copy", path, sizeof path);
  scr_buf_quote(&b, path);
  scr_buf_add(&b, " --cntldir ", 11);
  scr_buf_quote(&b, cntl);
  scr_buf_add(&b, " --prefix ", 10);
  scr_buf_quote(&b, prefix);
  scr_buf_add(&b, " ", 1);
  scr_buf_add(&b, what, strlen(what) + 1);
  if (b.failed) scr_buf_free(&b);
  return b.p;
}

/* Gets what scr_copy has said on a node, if it is not to be printed. */
typedef void (*scavenge_hear)(char* text, void* arg);

/*
** Let scr_copy run, with the option WHAT, on all nodes of L, and report what it says, or tell HEAR, unless NULL; HEAR
** gets NULL for a node that fails.
*/
SCR_FN int scavenge_on_nodes(const scavenge_options* o, const scavenge_nodes* l, const char* what, scavenge_hear hear,
                             void* arg)
{
  char**     command = (char**)scr_malloc(((size_t)l->node.n + 1) * sizeof *command);
  hosts      where = {NULL, 0};
  remote_job job;
  int        i, rc = command == NULL ? SCR_ERR_OOM() : SCR_SUCCESS;

  memset(&job, 0, sizeof job);
  job.nodes = &where;
  job.command = (const char* const*)command;
  job.seconds = job.patience = o->seconds;
  job.heard = scavenge_heard;
  for (i = 0; i < l->node.n && rc == SCR_SUCCESS; i++) {
    rc = hosts_add(&where, scavenge_is_virtual(l->node.name[i], l->cntl[i]) ? "localhost" : l->node.name[i]);
    if ((command[i] = scavenge_command(o->prefix, what, l->cntl[i])) == NULL) rc = SCR_ERR_OOM();
  }
  if (rc == SCR_SUCCESS) rc = remote_begin(&job);
  scavenge_progress.task = job.task;
  scavenge_progress.n = where.n;
  scavenge_progress.told = scr_wtime();
  if (rc == SCR_SUCCESS) rc = remote_run(&job);
  for (i = 0; i < where.n && rc == SCR_SUCCESS; i++) {
    int told = hear != NULL && job.task[i].status == 0;
    if (hear != NULL) hear(told ? system_text(&job.task[i]) : NULL, arg);
    if (!told) scavenge_report(&job.task[i], l->node.name[i], o->seconds);
  }
  remote_free(&job);
  for (i = 0; command != NULL && i < l->node.n; i++) scr_free(&command[i]);
  scr_free(&command);
  hosts_free(&where);
  return rc;
}

/* Let all nodes of L copy what they have of dataset ID. */
SCR_FN int scavenge_collect(const scavenge_options* o, const scavenge_nodes* l, int id)
{
  char what[32];

  snprintf(what, sizeof what, "--id %d", id);
  return scavenge_on_nodes(o, l, what, NULL, NULL);
}

/* What the nodes list, each dataset once, the oldest first; FAILED: not all nodes have said it. */
typedef struct {
  scr_flush_note* set;
  int             n, failed;
} scavenge_list;

/* Add what TEXT, of scr_copy --list, tells of one node to the scavenge_list ARG. */
SCR_FN void scavenge_see_datasets(char* text, void* arg)
{
  static const char words[] = ": has dataset ";
  scavenge_list*    l = (scavenge_list*)arg;
  scr_flush_note    is;
  int               i;

  if (text == NULL) l->failed = 1;
  while (text != NULL && (text = strstr(text, words)) != NULL) {
    char *line = text + sizeof words - 1, *end = line + strcspn(line, "\r\n"), *ckpt;
    text = end + (*end != '\0');
    *end = '\0';
    memset(&is, 0, sizeof is);
    if (sscanf(line, "%d of %" SCNd64 ", %" SCNx64, &is.identity.id, &is.identity.created, &is.identity.nonce) != 3)
      continue;
    is.id = is.identity.id;
    if ((ckpt = strstr(line, " checkpoint")) != NULL) sscanf(ckpt, " checkpoint %d", &is.ckpt);
    is.flags = (ckpt != NULL ? SCR_FLAG_CHECKPOINT : 0) | (strstr(line, " output") != NULL ? SCR_FLAG_OUTPUT : 0);
    is.location = SCR_LOCATION_CACHE;
    for (i = 0; i < l->n && l->set[i].id < is.id; i++) continue;
    if (i < l->n && l->set[i].id == is.id) continue;
    if (!scr_grow(&l->set, l->n, sizeof *l->set)) return;
    memmove(l->set + i + 1, l->set + i, (size_t)(l->n++ - i) * sizeof *l->set);
    l->set[i] = is;
  }
}

/*
** Ask the nodes of the last run which datasets they have, and those of the allocation beside them: a run that could not
** record its datasets may not have recorded where it was.  The caller frees l->set.
*/
SCR_FN int scavenge_ask(const scavenge_options* o, scavenge_list* l)
{
  scavenge_nodes nodes = {{NULL, 0}, NULL, SCR_SUCCESS}, others = {{NULL, 0}, NULL, SCR_SUCCESS};
  int            missing = 0, rc = scavenge_find_nodes(o, SCAVENGE_LAST_RUN, NULL, &nodes, &missing);

  memset(l, 0, sizeof *l);
  if (rc == SCR_SUCCESS) rc = scavenge_on_nodes(o, &nodes, "--list", scavenge_see_datasets, l);
  if (rc != SCR_SUCCESS) scavenge_say(scr_err_text);
  if (scavenge_may_ask_all(o) &&
      scavenge_find_nodes(o, SCAVENGE_ALLOCATION, &nodes.node, &others, &missing) == SCR_SUCCESS)
    rc = scavenge_on_nodes(o, &others, "--list", scavenge_see_datasets, l);
  scavenge_nodes_free(&nodes);
  scavenge_nodes_free(&others);
  return rc == SCR_SUCCESS && scr_oom ? SCR_ERR_OOM() : rc;
}

/* ---- the whole ---- */

/* Lock PREFIX, so that no run and no other scavenge uses it; *FD receives the descriptor that holds the lock. */
SCR_FN int scavenge_lock(const char* prefix, int* fd)
{
  int rc = scr_hold_prefix(prefix, SCR_LOCK_SECONDS, fd);

  if (rc == SCR_ERR_BUSY) rc = SCR_ERR(rc, "a run or another scavenge uses the prefix %s: %s", prefix, scr_err_text);
  if (rc == SCR_SUCCESS) scr_record_sweep(prefix);
  return rc;
}

/* Wait until no run uses PREFIX: only then it is known what is to be saved.  Where no run is, nothing is changed. */
SCR_FN int scavenge_wait(const char* prefix)
{
  char path[SCR_MAX_FILENAME];
  int  lock = -1, fd, unused, rc = scr_record_path(prefix, "run.lock", path, sizeof path);

  if (rc != SCR_SUCCESS || (fd = scr_os.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0)) < 0) return rc;
  unused = scr_os.flock(fd, LOCK_SH | LOCK_NB) == 0;
  scr_os.close(fd);
  if (!unused) rc = scavenge_lock(prefix, &lock);
  if (lock >= 0) scr_os.close(lock);
  return rc;
}

/* The dataset that is looked for, and the best that is found. */
typedef struct {
  scr_identity wanted, best;
} scavenge_search;

/* Of the stages of the wanted dataset, or of its id, the one that was created last is the best. */
SCR_FN void scavenge_see_stage(const scr_identity* identity, void* arg)
{
  scavenge_search* s = (scavenge_search*)arg;

  if (!scr_identity_differs(identity, &s->wanted) && (s->best.id == 0 || scr_identity_cmp(identity, &s->best) > 0))
    s->best = *identity;
}

/* The dataset of the stage on PREFIX for IDENTITY, which is all zeros but the id if not known; id 0: there is none. */
SCR_FN scr_identity scavenge_stage(const char* prefix, const scr_identity* identity)
{
  scavenge_search find;

  memset(&find, 0, sizeof find);
  find.wanted = *identity;
  scr_stage_walk(prefix, scavenge_see_stage, &find);
  return find.best;
}

/* Make a dataset on the prefix of what was collected for IDENTITY; SINCE as in scr_scavenge. */
SCR_FN int scavenge_finish(const scavenge_options* o, const scr_identity* identity, int64_t since, scr_scavenge* s)
{
  int rc;

  s->prefix = o->prefix;
  s->identity = scavenge_stage(o->prefix, identity);
  s->since = since;
  s->say = scavenge_say;
  if (s->identity.id == 0)
    return SCR_ERR(SCR_ERR_LOST, "no files of dataset %d could be copied from the caches", identity->id);
  rc = scr_param_bytes(o->params, "SCR_CONTAINER_SIZE", &s->container_size);
  if (rc == SCR_SUCCESS) rc = scr_param_bytes(o->params, "SCR_RANK2FILE_SIZE", &s->map_size);
  return rc == SCR_SUCCESS ? scr_scavenge_finish(s) : rc;
}

/* Log the end of a scavenge; a log that fails is only reported. */
SCR_FN void scavenge_log(const scavenge_options* o, const char* event, const char* note, int id, double seconds)
{
  log_writer      w;
  scr_log_dataset d = {id, NULL, seconds};

  if (log_open(&w, o->params, o->prefix) != SCR_SUCCESS || scr_log_event(&w.log, event, note, &d) != SCR_SUCCESS)
    scr_warn("%s", scr_err_text);
  scr_log_end(&w.log);
}

/*
** Files of a dataset are missing on NODES, those of the last run: let the nodes WHICH copy what they have too, if there
** are any, and put it together again, as scavenge_finish does.
*/
SCR_FN int scavenge_more(const scavenge_options* o, scavenge_which which, const scavenge_nodes* nodes,
                         const scr_identity* identity, int64_t since, scr_scavenge* s)
{
  scavenge_nodes others = {{NULL, 0}, NULL, SCR_SUCCESS};
  scr_err_record why;
  int            missing, rc;

  scr_err_save(&why);
  if (scavenge_find_nodes(o, which, &nodes->node, &others, &missing) != SCR_SUCCESS) {
    scr_err_restore(&why);
    rc = SCR_ERR_LOST;
  } else {
    scavenge_say(scavenge_why[which]);
    rc = scavenge_collect(o, &others, identity->id);
    scavenge_clear_line();
    scr_scavenge_free(s);
    memset(s, 0, sizeof *s);
    if (rc == SCR_SUCCESS) rc = scavenge_finish(o, identity, since, s);
  }
  scavenge_nodes_free(&others);
  return rc;
}

/*
** Bring dataset ID to the prefix.  SCR_ERR_LOST, after it is printed what is missing, if it cannot be put together;
** SCR_ERR_STATE if a newer dataset has its place.
*/
SCR_FN int scavenge_dataset(const scavenge_options* o, const scr_identity* identity)
{
  scavenge_nodes nodes = {{NULL, 0}, NULL, SCR_SUCCESS};
  scr_scavenge   s;
  scr_err_record why;
  char           text[SCR_MAX_FILENAME + 128];
  double         start = scr_wtime();
  int64_t        since;
  int            lock, missing = 0, rc = scavenge_lock(o->prefix, &lock);

  memset(&s, 0, sizeof s);
  since = scavenge_stage(o->prefix, identity).id != 0 ? scr_time_usec() / 1000000 : 0;
  if (rc == SCR_SUCCESS) scavenge_log(o, "SCAVENGE_START", NULL, identity->id, -1);
  if (rc == SCR_SUCCESS && scavenge_find_nodes(o, SCAVENGE_LAST_RUN, NULL, &nodes, &missing) != SCR_SUCCESS)
    scavenge_say(scr_err_text); /* what an earlier scavenge has collected may be enough */
  else if (rc == SCR_SUCCESS) {
    snprintf(text, sizeof text, "dataset %d: copying from %d node%s%s", identity->id, nodes.node.n,
             nodes.node.n > 1 ? "s" : "", missing > 0 ? ", without those that are down" : "");
    scavenge_say(text);
    rc = scavenge_collect(o, &nodes, identity->id);
    scavenge_clear_line();
  }
  if (rc == SCR_SUCCESS) rc = scavenge_finish(o, identity, since, &s);
  if (rc == SCR_ERR_LOST && o->from == NULL) rc = scavenge_more(o, SCAVENGE_EARLIER_RUNS, &nodes, identity, since, &s);
  if (rc == SCR_ERR_LOST && scavenge_may_ask_all(o))
    rc = scavenge_more(o, SCAVENGE_ALLOCATION, &nodes, identity, since, &s);
  if (rc == SCR_SUCCESS) {
    snprintf(text, sizeof text, "dataset %d is in %s/%s, after %.1f s", identity->id, o->prefix, s.to.dir,
             scr_wtime() - start);
    scavenge_say(text);
  }
  scr_err_save(&why);
  if (lock >= 0)
    scavenge_log(o, "SCAVENGE_END", rc == SCR_SUCCESS ? NULL : why.text, identity->id, scr_wtime() - start);
  scr_err_restore(&why);
  scr_scavenge_free(&s);
  scavenge_nodes_free(&nodes);
  if (lock >= 0) scr_os.close(lock);
  return rc;
}

/* ---- what the prefix has, and stages that are left ---- */

/*
** Find the newest checkpoint of INDEX below the id BELOW that a run would be offered, and whose files PREFIX has; newer
** ones, of which others have removed files, or which a run has found damaged, are told if TELL is set.  Returns its id;
** 0, and IT is all zeros, if there is none.
*/
SCR_FN int scavenge_newest(const scr_index* index, const char* prefix, int below, int tell, scr_index_item* it)
{
  char text[2 * SCR_MAX_FILENAME];

  for (; scr_index_newest(index, below, NULL, it) == SCR_SUCCESS; below = it->id) {
    const char* name = scr_desc_name(&it->desc);
    if (it->unread == SCR_UNREAD_DAMAGED)
      snprintf(text, sizeof text, "files of checkpoint %d, %s, on the prefix are damaged", it->id, name);
    else if (scr_prefix_has(prefix, it)) break;
    else snprintf(text, sizeof text, "the prefix has lost files of checkpoint %d, %s", it->id, name);
    if (tell) scavenge_say(text);
  }
  return it->id;
}

typedef struct {
  const char* prefix;
  scr_index   index;
} scavenge_sweeping;

/*
** Remove the stage of IDENTITY, if the prefix has that dataset, or has a newer checkpoint and the user has not chosen
** this one.  A
** stage that cannot be looked into may be the only copy of an output.
*/
SCR_FN void scavenge_sweep_stage(const scr_identity* identity, void* arg)
{
  scavenge_sweeping* w = (scavenge_sweeping*)arg;
  scr_index_item     it;
  scr_scavenge       s;
  int                rc, newer = scavenge_newest(&w->index, w->prefix, INT_MAX, 0, &it) > identity->id &&
                  scr_choice_in_cache(&w->index) != identity->id;

  memset(&s, 0, sizeof s);
  s.prefix = w->prefix;
  s.identity = *identity;
  rc = newer ? scr_scavenge_begin(&s) : SCR_SUCCESS;
  if (newer && (rc == SCR_SUCCESS ? !scr_desc_is_pure(&s.model->desc) : rc != SCR_ERR_LOST)) newer = 0;
  if ((newer ||
       (scr_index_same(&w->index, identity, &it) && it.complete && !it.renaming && scr_prefix_has(w->prefix, &it))) &&
      scr_stage_path(w->prefix, identity, s.stage, sizeof s.stage) == SCR_SUCCESS)
    scr_stage_remove(w->prefix, s.stage);
  scr_scavenge_free(&s);
}

/* Remove what interrupted and failed scavenges have collected on PREFIX, and nobody needs any more. */
SCR_FN int scavenge_sweep(const char* prefix)
{
  scavenge_sweeping w;
  int               lock, rc = scavenge_lock(prefix, &lock);

  w.prefix = prefix;
  if (rc == SCR_SUCCESS) {
    rc = scr_index_read(&w.index, prefix);
    if (rc == SCR_SUCCESS) scr_stage_walk(prefix, scavenge_sweep_stage, &w);
    scr_index_close(&w.index, rc, 0);
  }
  if (lock >= 0) scr_os.close(lock);
  return rc;
}

#endif
