/* scr_list_down_nodes - find the nodes of an allocation that do not work.  No MPI. */
#include "dirs.h"
#include "log.h"
#include "remote.h"

static const char list_down_usage[] =
    "scr_list_down_nodes [OPTIONS] [NODES ...]\n"
    "Print the nodes of NODES, such as node[1-4], that do not work: those of SCR_EXCLUDE_NODES, those that the "
    "resource\n"
    "manager knows to be down, those on which scr_check_node cannot run, and those on which it fails.  Where it "
    "cannot\n"
    "run, ping tells whether the node is there at all.\n"
    "\n"
    "  -r, --reason         print a line for each node, with the reason\n"
    "  -j, --json           print a JSON list of hosts and reasons; but -j and a launcher, such as -j srun, as in\n"
    "                       scripts of release 3, is ignored\n"
    "  -f, --free           before a run: test the free space of the directories, not their size; create missing ones\n"
    "  -d, --down NODES     these are down too\n"
    "  -l, --log            log each node that is down\n"
    "  -s, --secs N         with -l: the seconds since the run began\n"
    "      --no-ping        do without ping, as SCR_PING=0 does\n"
    "      --reach          only whether commands run there: one whose directories are full or read-only can be read\n"
    "      --test COMMAND   a test of the user, as in scr_check_node\n"
    "      --timeout N      seconds for the test of a node; default 60\n"
    "  -h, --help           print this and exit;  --version  print the version and exit\n"
    "\n"
    "The default of NODES is the allocation, as scr_env --nodes prints it.  How scr_check_node gets to other nodes is "
    "what\n"
    "scr_remote --help says.\n"
    "Exit 0 if all nodes work, 1 if some do not, 2 if there is an error.\n";

enum { OPT_DOWN_NO_PING = 1001, OPT_DOWN_REACH, OPT_DOWN_TEST, OPT_DOWN_TIMEOUT, OPT_DOWN_LAUNCHER /* of release 3 */ };

/* What the options say, and what is found. */
typedef struct {
  int         form; /* r, j, or 0 */
  int         free, log, ping, reach;
  double      secs;
  int64_t     timeout;
  const char *down, *test;
  hosts       nodes;
  char**      why; /* [nodes.n]: why the node does not work; NULL if it does */
} list_down;

/* The nodes of BAD do not work, because of WHY, unless another reason is known. */
static void list_down_note(list_down* l, const hosts* bad, const char* why)
{
  scr_hash* set = scr_hash_new();
  int       i;

  for (i = 0; i < bad->n; i++) scr_hash_set(set, bad->name[i], scr_hash_new());
  for (i = 0; i < l->nodes.n; i++)
    if (l->why[i] == NULL && scr_hash_get(set, l->nodes.name[i]) != NULL) l->why[i] = scr_strdup(why);
  scr_hash_delete(&set);
}

/* The same for a compressed list, which may be NULL. */
static int list_down_note_list(list_down* l, const char* list, const char* why)
{
  hosts bad = {NULL, 0};
  int   rc = list != NULL ? hosts_parse(&bad, list) : SCR_SUCCESS;

  if (rc == SCR_SUCCESS) list_down_note(l, &bad, why);
  hosts_free(&bad);
  return rc;
}

/* What the resource manager says.  If it says nothing, the other tests tell. */
static void list_down_ask(list_down* l)
{
  hosts bad = {NULL, 0};

  if (system_down(&l->nodes, &bad) != SCR_SUCCESS) scr_warn("%s; the nodes are tested all the same", scr_err_text);
  else list_down_note(l, &bad, "reported down by the resource manager");
  hosts_free(&bad);
}

/* The nodes that seem to work. */
static int list_down_left(const list_down* l, hosts* left)
{
  int i, rc = SCR_SUCCESS;

  for (i = 0; i < l->nodes.n && rc == SCR_SUCCESS; i++)
    if (l->why[i] == NULL) rc = hosts_add(left, l->nodes.name[i]);
  return rc;
}

/* Append one word `DIR[:BYTES],...` for check_node to ARG, a buffer. */
typedef struct {
  const scr_hash* lines;
  scr_buf         words;
} list_down_dirs;

static int list_down_add_dir(const char* base, void* arg)
{
  list_down_dirs* d = (list_down_dirs*)arg;
  const char*     bytes = scr_hash_str_or(scr_hash_get(d->lines, base), "BYTES", NULL);

  if (d->words.n > 0) scr_buf_add(&d->words, ",", 1);
  scr_buf_add(&d->words, base, strlen(base));
  if (bytes != NULL) scr_buf_add(&d->words, ":", 1);
  if (bytes != NULL) scr_buf_add(&d->words, bytes, strlen(bytes));
  return SCR_SUCCESS;
}

/* Make B the line that runs scr_check_node, with the directories of this side, or none. */
static int list_down_command(const list_down* l, const scr_hash* params, scr_buf* b)
{
  static const char* const option[] = {" --cntl ", " --cache "};
  char                     path[SCR_MAX_FILENAME];
  list_down_dirs           d;
  int                      i, rc = SCR_SUCCESS;

  system_sibling("scr_check_node", path, sizeof path);
  scr_buf_quote(b, path);
  if (l->free) scr_buf_add(b, " --free", 7);
  for (i = 0; i < 2 && rc == SCR_SUCCESS; i++) {
    memset(&d, 0, sizeof d);
    d.lines = scr_param_get_hash(params, i ? "CACHEDIR" : "CNTLDIR");
    if (!l->reach) rc = dirs_walk(params, i, list_down_add_dir, &d);
    scr_buf_add(&d.words, "", 1);
    scr_buf_add(b, option[i], strlen(option[i]));
    if (rc == SCR_SUCCESS && !d.words.failed) scr_buf_quote(b, d.words.p);
    scr_buf_free(&d.words);
  }
  if (l->test != NULL) scr_buf_add(b, " --test ", 8);
  if (l->test != NULL) scr_buf_quote(b, l->test);
  scr_buf_add(b, "", 1);
  return rc == SCR_SUCCESS && b->failed ? SCR_ERR_OOM() : rc;
}

/* The reason that T, a test of a node, gives; NULL if the node passed. */
static char* list_down_reason(system_task* t, int64_t timeout)
{
  char* fail = strstr(system_text(t), "FAIL: ");

  if (t->status == 0 && strstr(system_text(t), "PASS") != NULL) return NULL;
  if (t->status == SYSTEM_TIMEOUT) return scr_strdupf("the test of the node has not ended within %d s", (int)timeout);
  if (fail != NULL) return scr_strdupf("%.*s", (int)strcspn(fail + 6, "\r\n"), fail + 6);
  return scr_strdupf("scr_check_node could not run there, exit code %d: %.900s", t->status, system_reason(t));
}

/* Ping those of SILENT; exit code 1 of ping means no answer, and any other error tells nothing about the node. */
static int list_down_ping(list_down* l, const hosts* silent)
{
  static const char* const words[] = {"ping", "-c", "2", "-i", "0.5", "-W", "2", "-q"};
  enum { WORDS = sizeof words / sizeof *words };
  int          i, k, rc = SCR_SUCCESS;
  system_task* task = (system_task*)scr_malloc(((size_t)silent->n + 1) * sizeof *task);
  const char** argv = (const char**)scr_malloc(((size_t)silent->n + 1) * (WORDS + 2) * sizeof *argv);

  if (task == NULL || argv == NULL) rc = SCR_ERR_OOM();
  for (i = 0; i < silent->n && rc == SCR_SUCCESS; i++) {
    task[i].argv = argv + (size_t)i * (WORDS + 2);
    task[i].both = 1;
    for (k = 0; k < WORDS; k++) argv[i * (WORDS + 2) + k] = words[k];
    argv[i * (WORDS + 2) + WORDS] = silent->name[i];
  }
  if (rc == SCR_SUCCESS) system_run(task, silent->n, 10);
  for (i = 0; i < silent->n && rc == SCR_SUCCESS; i++)
    for (k = 0; task[i].status == 1 && k < l->nodes.n; k++) {
      char* old = l->why[k];
      if (old == NULL || strcmp(l->nodes.name[k], silent->name[i]) != 0) continue;
      l->why[k] = scr_strdupf("no answer to ping; %s", old);
      scr_free(&old);
    }
  for (i = 0; task != NULL && i < silent->n; i++) scr_buf_free(&task[i].out);
  scr_free(&task);
  scr_free(&argv);
  return rc == SCR_SUCCESS && scr_oom ? SCR_ERR_OOM() : rc;
}

/* Run scr_check_node on each node that is left; those where it could not run may answer to ping. */
static int list_down_test(list_down* l, const scr_hash* params)
{
  scr_buf     command = {NULL, 0, 0, 0};
  hosts       left = {NULL, 0}, silent = {NULL, 0};
  remote_job  job;
  const char* line;
  int         i, rc = list_down_left(l, &left);

  memset(&job, 0, sizeof job);
  if (rc == SCR_SUCCESS) rc = list_down_command(l, params, &command);
  line = command.p;
  if (rc == SCR_SUCCESS) rc = remote_run_on(&job, &left, &line, (double)l->timeout, 1);
  for (i = 0; i < left.n && rc == SCR_SUCCESS; i++) {
    system_task* t = &job.task[i];
    char*        why = list_down_reason(t, l->timeout);
    hosts        one = {&left.name[i], 1};
    if (why != NULL) list_down_note(l, &one, why);
    if (why != NULL && t->status != SYSTEM_TIMEOUT && strstr(system_text(t), "FAIL: ") == NULL &&
        !system_is_here(left.name[i]))
      rc = hosts_add(&silent, left.name[i]);
    scr_free(&why);
  }
  remote_free(&job);
  if (rc == SCR_SUCCESS && l->ping && silent.n > 0 && system_has("ping")) rc = list_down_ping(l, &silent);
  scr_buf_free(&command);
  hosts_free(&left);
  hosts_free(&silent);
  return rc;
}

/* Find out which nodes do not work, and why. */
static int list_down_find(list_down* l, const scr_hash* params)
{
  const char* ping = tool_param(params, "SCR_PING");
  int         rc = SCR_SUCCESS;

  if (ping != NULL && strcmp(ping, "0") == 0) l->ping = 0;
  l->why = (char**)scr_malloc(((size_t)l->nodes.n + 1) * sizeof *l->why);
  if (l->why == NULL) return SCR_ERR_OOM();
  rc = list_down_note_list(l, tool_param(params, "SCR_EXCLUDE_NODES"), "excluded by SCR_EXCLUDE_NODES");
  if (rc == SCR_SUCCESS) rc = list_down_note_list(l, l->down, "named as down");
  if (rc == SCR_SUCCESS) list_down_ask(l);
  return rc == SCR_SUCCESS ? list_down_test(l, params) : rc;
}

/* Print what was found.  Returns the number of nodes that do not work, or -1 after an error. */
static int list_down_print(const list_down* l)
{
  hosts bad = {NULL, 0};
  int   i, n = 0, rc = SCR_SUCCESS;

  for (i = 0; i < l->nodes.n && rc == SCR_SUCCESS; i++) {
    if (l->why[i] == NULL) continue;
    if (l->form == 'j') {
      printf(n > 0 ? ",\n  {\"host\": " : "[\n  {\"host\": ");
      tool_print_json(l->nodes.name[i]);
      printf(", \"reason\": ");
      tool_print_json(l->why[i]);
      putchar('}');
    } else if (l->form == 'r') {
      tool_print(l->nodes.name[i]);
      printf(": ");
      tool_print_line(l->why[i]);
    } else {
      rc = hosts_add(&bad, l->nodes.name[i]);
    }
    n++;
  }
  if (l->form == 'j') puts(n > 0 ? "\n]" : "[]");
  if (l->form == 0 && rc == SCR_SUCCESS && n > 0) rc = hosts_print(&bad, 0);
  hosts_free(&bad);
  return rc == SCR_SUCCESS ? n : -1;
}

/* Log each node that does not work. */
static int list_down_log(const list_down* l, const scr_hash* params, const char* prefix)
{
  log_writer      w;
  scr_log_dataset d = {0, NULL, l->secs};
  char            note[SCR_ERR_TEXT_MAX];
  int             i, rc = log_open(&w, params, prefix);

  for (i = 0; i < l->nodes.n && rc == SCR_SUCCESS; i++) {
    if (l->why[i] == NULL) continue;
    snprintf(note, sizeof note, "%s: %s", l->nodes.name[i], l->why[i]);
    rc = scr_log_event(&w.log, "NODE_FAIL", note, &d);
  }
  scr_log_end(&w.log);
  return rc;
}

/* Do what L says.  Returns the exit code. */
static int list_down_run(const char* argv0, list_down* l, char** lists)
{
  const char* prefix = tool_prefix();
  scr_hash*   params = tool_params(prefix);
  int         i, n = -1, rc = params == NULL ? SCR_ERR_PARAM : SCR_SUCCESS;

  if (rc == SCR_SUCCESS && *lists == NULL) rc = system_nodes(&l->nodes);
  for (; rc == SCR_SUCCESS && *lists != NULL; lists++) rc = hosts_parse(&l->nodes, *lists);
  if (rc == SCR_SUCCESS) rc = list_down_find(l, params);
  if (rc == SCR_SUCCESS) n = list_down_print(l);
  if (rc == SCR_SUCCESS && l->log && list_down_log(l, params, prefix) != SCR_SUCCESS) scr_warn("%s", scr_err_text);
  for (i = 0; l->why != NULL && i < l->nodes.n; i++) scr_free(&l->why[i]);
  scr_free(&l->why);
  hosts_free(&l->nodes);
  scr_hash_delete(&params);
  if (n < 0 || fflush(stdout) != 0) return tool_fail(argv0, 2, scr_err_text);
  return n > 0;
}

SCR_FN int list_down_nodes_main(int argc, char** argv)
{
  static const struct option options[] = {{"reason", no_argument, NULL, 'r'},
                                          {"json", no_argument, NULL, 'j'},
                                          {"free", no_argument, NULL, 'f'},
                                          {"down", required_argument, NULL, 'd'},
                                          {"log", no_argument, NULL, 'l'},
                                          {"reach", no_argument, NULL, OPT_DOWN_REACH},
                                          {"secs", required_argument, NULL, 's'},
                                          {"no-ping", no_argument, NULL, OPT_DOWN_NO_PING},
                                          {"test", required_argument, NULL, OPT_DOWN_TEST},
                                          {"timeout", required_argument, NULL, OPT_DOWN_TIMEOUT},
                                          {"joblauncher", required_argument, NULL, OPT_DOWN_LAUNCHER},
                                          TOOL_OPTIONS,
                                          {NULL, 0, NULL, 0}};
  list_down                  l;
  int64_t                    secs;
  int                        c;

  memset(&l, 0, sizeof l);
  l.secs = -1;
  l.ping = 1;
  l.timeout = 60;
  while ((c = getopt_long(argc, argv, "rjfd:ls:h", options, NULL)) != -1) {
    if (c == 'j' && optind < argc && strcmp(argv[optind - 1], "-j") == 0 && tool_is_launcher(argv[optind])) optind++;
    else if (c == 'r' || c == 'j') l.form = c;
    else if (c == OPT_DOWN_LAUNCHER) continue;
    else if (c == 'f') l.free = 1;
    else if (c == 'd') l.down = optarg;
    else if (c == 'l') l.log = 1;
    else if (c == 's' && tool_number(optarg, 0, INT_MAX, &secs)) l.secs = (double)secs;
    else if (c == OPT_DOWN_NO_PING) l.ping = 0;
    else if (c == OPT_DOWN_REACH) l.reach = 1;
    else if (c == OPT_DOWN_TEST) l.test = optarg;
    else if (c == OPT_DOWN_TIMEOUT && tool_number(optarg, 1, INT_MAX, &l.timeout)) continue;
    else if (c == 's' || c == OPT_DOWN_TIMEOUT)
      return tool_usage(argv[0], list_down_usage, 2, "--secs and --timeout need a whole number of seconds");
    else return tool_answer(c, argv[0], list_down_usage, 2);
  }
  return list_down_run(argv[0], &l, argv + optind);
}

TOOL_MAIN(list_down_nodes_main)
