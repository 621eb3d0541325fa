/* scr_test_system - test whether the jobs of this system survive failures.  No MPI. */
#include "dirs.h"
#include "launch.h"
#include "parts.h"

#include <regex.h>

static const char test_system_usage[] =
    "scr_test_system [OPTIONS] [LAUNCHER ARGUMENTS...]\n"
    "Test, in an allocation, whether its jobs survive failures, and how fast its nodes write.  Print a line for each "
    "test:\n"
    "ok, failed or unknown, what was found, and what to set; and at last PASSED, or FAILED if a test failed.\n"
    "\n"
    "  -p, --prefix DIR         the prefix directory; default: SCR_PREFIX, or else the working directory\n"
    "      --hosts FILE         the nodes are those of this file of hosts\n"
    "      --launcher COMMAND   the launcher, for the shell, as in scr_run\n"
    "      --np N               processes, for --launcher\n"
    "      --program COMMAND    an MPI program that uses the library, and its arguments, as a line for the shell: it "
    "runs\n"
    "                           undisturbed, and with a failure after its first checkpoint\n"
    "      --answer REGEX       what it prints last that matches REGEX has to be the same in both runs\n"
    "      --kill-node COMMAND  the command, which gets the name of a node, makes that node fail, once\n"
    "  -s, --size BYTES         of the file that each node writes to each directory; default 64MB\n"
    "  -b, --bytes BYTES        what a node writes in a checkpoint: is there space for it?\n"
    "      --timeout N          seconds in which a launcher has to return after a failure; default 300\n"
    "  -v, --verbose            also print what each node has measured\n"
    "  -j, --json               print one object\n"
    "  -h, --help               print this and exit;  --version  print the version and exit\n"
    "\n"
    "LAUNCHER and its arguments, without a program, are those of the jobs, such as `srun --nodes=4`; default: srun in "
    "a\n"
    "job of SLURM, or else mpiexec.  With a node more than they use, all of the tests are possible.\n"
    "Exit 0 after PASSED, 1 after FAILED, 2 if there is an error.\n";

#define TEST_SYSTEM_BARE 60   /* for a launcher to return, when its processes are not of MPI */
#define TEST_SYSTEM_HOUR 3600 /* for a run without a failure */
#define TEST_SYSTEM_SKEW 2.0  /* seconds that clocks may differ */

enum { TEST_SYSTEM_OK, TEST_SYSTEM_FAILED, TEST_SYSTEM_UNKNOWN };
static const char* const test_system_results[] = {"ok", "failed", "unknown"};

/* A directory that every node tests. */
typedef struct {
  char*       path;
  const char* kind; /* control, cache or prefix */
} test_system_dir;

/* What a node has found out. */
typedef struct {
  char   host[SYSTEM_HOST_MAX]; /* its own name for itself; "" if it has not answered */
  double low, high;             /* between these, its clock is ahead of that of this node */
} test_system_node;

/* What a node has measured in a directory; times of 0 are not known. */
typedef struct {
  double write, read; /* seconds */
  double free;        /* bytes */
  int    other;       /* 1: it sees the file of the next node */
  char*  error;
} test_system_measure;

typedef struct {
  const char *         prefix, *program, *answer, *kill;
  launcher             launch;
  uint64_t             size, bytes;
  int64_t              timeout;
  int                  json, verbose;
  const scr_hash*      params;
  hosts                nodes, down, used;      /* the allocation; what does not work; where the launcher runs */
  char                 tag[64];                /* begins the names of all that the tests make, but for the next one */
  char                 work[SCR_MAX_FILENAME]; /* a directory for them below the prefix */
  test_system_dir*     dir;
  int                  ndirs;
  test_system_node*    node;             /* [nodes.n] */
  test_system_measure* measure;          /* [nodes.n][ndirs] */
  int                  count[3];         /* the results of each kind */
  int                  processes;        /* that the launcher starts */
  int                  keep;             /* 1: the outputs of the runs explain a failure */
  double               killed, returned; /* when the failure was made; when the launcher returned after it; or 0 */
  system_task*         task;             /* of nodes; or scr_run, and what makes the failure */
} test_system;

static test_system           test_system_now;    /* for what is called when tasks have printed */
static volatile sig_atomic_t test_system_signal; /* that has asked us to end; 0: none */
static system_task* volatile test_system_child;  /* the launcher, or scr_run; NULL: none runs */

/* Pass on a signal that asks us to end; what follows is only to clean up. */
static void test_system_on_signal(int number)
{
  test_system_signal = number;
  if (test_system_child != NULL && test_system_child->pid > 0) kill(test_system_child->pid, SIGTERM);
}

/* Run TASK[0..n), of which the first is the one to pass signals on to. */
static int test_system_tasks(system_task* task, int n, double seconds)
{
  test_system_child = task;
  if (test_system_signal == 0) system_run(task, n, seconds);
  test_system_child = NULL;
  if (test_system_signal == 0) return SCR_SUCCESS;
  return SCR_ERR(SCR_ERR_IO, "ended by signal %d", (int)test_system_signal);
}

/* Report RESULT of the test NAME: FORMAT tells what was found, and ADVICE, unless NULL, what to set. */
static SCR_FORMAT(5, 6) void test_system_say(test_system* t, int result, const char* name, const char* advice,
                                             const char* format, ...)
{
  char    text[SCR_ERR_TEXT_MAX];
  va_list ap;

  va_start(ap, format);
  vsnprintf(text, sizeof text, format, ap);
  va_end(ap);
  if (t->json) {
    printf("%s\n    {\"result\": \"%s\", \"name\": \"%s\", \"text\": ",
           t->count[0] + t->count[1] + t->count[2] > 0 ? "," : "", test_system_results[result], name);
    tool_print_json(text);
    printf(", \"advice\": ");
    if (advice != NULL && result != TEST_SYSTEM_OK) tool_print_json(advice);
    else printf("null");
    putchar('}');
  } else {
    printf("%-8s %s: ", test_system_results[result], name);
    tool_print(text);
    if (advice != NULL && result != TEST_SYSTEM_OK) printf("; %s", advice);
    putchar('\n');
  }
  fflush(stdout);
  t->count[result]++;
}

/* ---- the nodes ---- */

static int test_system_add_dir(test_system* t, const char* path, const char* kind)
{
  int i;

  for (i = 0; i < t->ndirs; i++)
    if (strcmp(t->dir[i].path, path) == 0) {
      t->dir[i].kind = "control and cache";
      return SCR_SUCCESS;
    }
  if (!scr_grow(&t->dir, t->ndirs, sizeof *t->dir) || (t->dir[t->ndirs].path = scr_strdup(path)) == NULL)
    return SCR_ERR_OOM();
  t->dir[t->ndirs++].kind = kind;
  return SCR_SUCCESS;
}

static int test_system_visit_cntl(const char* base, void* arg)
{
  return test_system_add_dir((test_system*)arg, base, "control");
}

static int test_system_visit_cache(const char* base, void* arg)
{
  return test_system_add_dir((test_system*)arg, base, "cache");
}

/* The runs of the test, which have jobs and directories of their own. */
static const char* const test_system_runs[] = {"calm", "process", "node"};

/* Append what a node has to remove from the directory BASE. */
static void test_system_add_remains(const test_system* t, const char* base, scr_buf* b)
{
  char path[SCR_MAX_FILENAME], job[96];
  int  k, rc = scr_fmt(path, sizeof path, "%s/%s.{node}", base, t->tag);

  for (k = 0; k < 4; k++) {
    if (k > 0) snprintf(job, sizeof job, "%s.%s", t->tag, test_system_runs[k - 1]);
    if (k > 0) rc = dirs_of_job(t->params, base, NULL, job, path, sizeof path);
    scr_buf_add(b, " ", 1);
    if (rc == SCR_SUCCESS) scr_buf_quote(b, path);
  }
}

/* The line for the shell that runs the part NAME on each node, with the directories of the test. */
static char* test_system_command(const test_system* t, const char* name)
{
  scr_buf b = {NULL, 0, 0, 0};
  char    path[SCR_MAX_FILENAME], text[256], *all = NULL;
  int     k, removes = strcmp(name, "remove") == 0;

  if (hosts_compress(&t->nodes, &all) != SCR_SUCCESS) return NULL;

  system_sibling("scr_test_system", path, sizeof path);
  scr_buf_quote(&b, path);
  snprintf(text, sizeof text, " --part %s", name);
  scr_buf_add(&b, text, strlen(text));
  snprintf(text, sizeof text, " %s %" PRIu64 " '{node}' ", t->tag, t->size);
  if (!removes) scr_buf_add(&b, text, strlen(text));
  if (!removes) scr_buf_quote(&b, all);
  for (k = 0; k < t->ndirs; k++) {
    if (removes) {
      test_system_add_remains(t, t->dir[k].path, &b);
      continue;
    }
    scr_buf_add(&b, " ", 1);
    scr_buf_quote(&b, t->dir[k].path);
  }
  scr_free(&all);
  scr_buf_add(&b, "", 1);
  if (b.failed) scr_buf_free(&b);
  return b.p;
}

/* The nodes of the allocation without those of DOWN and OTHER. */
static int test_system_left(const test_system* t, const hosts* other, hosts* left)
{
  hosts up = {NULL, 0};
  int   rc = hosts_select(&up, &t->nodes, &t->down, 0);

  if (rc == SCR_SUCCESS) rc = hosts_select(left, &up, other, 0);
  hosts_free(&up);
  return rc;
}

/* The number of HOST in the allocation; -1 if it is not of it.  A name without a domain is the same as with one. */
static int test_system_find(const test_system* t, const char* host)
{
  int i;

  for (i = 0; i < t->nodes.n; i++) {
    const char* name = t->nodes.name[i];
    size_t      n = strcspn(name, "."), k = strcspn(host, ".");
    if (strcmp(name, host) == 0 || (n == k && strncmp(name, host, n) == 0 && (name[n] == '\0' || host[k] == '\0')))
      return i;
  }
  return -1;
}

/* A node has printed: what it first says is the time of its clock. */
static void test_system_heard(system_task* task)
{
  test_system_node* n = &test_system_now.node[task - test_system_now.task];
  double            now = scr_wtime(), here, there;

  if (*n->host != '\0' || task->out.n == 0) return;
  here = (double)scr_time_usec() / 1e6;
  scr_buf_add(&task->out, "", 1);
  if (sscanf(task->out.p, "host %255s %lf", n->host, &there) == 2) {
    n->low = there - here;
    n->high = there - here + (now - task->began);
  } else {
    *n->host = '\0';
  }
  task->out.n--;
}

/* Take what the node I has printed as measures. */
static void test_system_take(test_system* t, int i, const char* text)
{
  const char* line;
  char        error[SCR_ERR_TEXT_MAX];
  double      secs, number;
  int         k;

  for (line = text; line != NULL; line = strchr(line, '\n')) {
    test_system_measure* m;
    line += *line == '\n';
    if (sscanf(line, "%d", &k) != 1 || k < 0 || k >= t->ndirs) continue;
    m = &t->measure[i * t->ndirs + k];
    if (sscanf(line, "%*d write %lf %lf", &secs, &number) == 2) {
      m->write = secs > 0 ? secs : 1e-6;
      m->free = number;
    } else if (sscanf(line, "%*d read %lf %lf", &secs, &number) == 2) {
      m->read = secs > 0 ? secs : 1e-6;
      m->other = number > 0;
    } else if (sscanf(line, "%*d error %2000[^\n]", error) == 1 && m->error == NULL) {
      m->error = scr_strdup(error);
    }
  }
}

/* Run the part NAME on each of UP; those that do not answer are down from now on, and reported. */
static int test_system_run_part(test_system* t, const char* name, int report)
{
  hosts      up = {NULL, 0}, none = {NULL, 0};
  char*      command = test_system_command(t, name);
  remote_job job;
  int        i, bad = 0, rc = command == NULL ? SCR_ERR_OOM() : test_system_left(t, &none, &up);

  memset(&job, 0, sizeof job);
  job.nodes = &up;
  job.command = (const char* const*)&command;
  job.same = 1;
  job.seconds = PARTS_SECONDS;
  if (strcmp(name, "write") == 0) job.heard = test_system_heard;
  if (rc == SCR_SUCCESS) rc = remote_begin(&job);
  t->task = job.task;
  if (rc == SCR_SUCCESS) rc = remote_run(&job);
  for (i = 0; i < up.n && rc == SCR_SUCCESS; i++) {
    system_task* task = &t->task[i];
    if (task->status == 0) {
      test_system_take(t, test_system_find(t, up.name[i]), system_text(task));
      continue;
    }
    bad++;
    rc = hosts_add(&t->down, up.name[i]);
    if (report && task->status == SYSTEM_TIMEOUT)
      test_system_say(t, TEST_SYSTEM_FAILED, "remote", "SCR_EXCLUDE_NODES leaves it out", "%s: no answer for %d s",
                      up.name[i], PARTS_SECONDS);
    else if (report)
      test_system_say(
          t, TEST_SYSTEM_FAILED, "remote", "SCR_REMOTE_SHELL is the command that gets a host and a line for its shell",
          "%s: the commands cannot run there, exit code %d: %.300s", up.name[i], task->status, system_reason(task));
  }
  if (report && bad == 0 && up.n > 0 && rc == SCR_SUCCESS)
    test_system_say(t, TEST_SYSTEM_OK, "remote", NULL, "commands run on %d of %d nodes", up.n, t->nodes.n);
  remote_free(&job);
  t->task = NULL;
  scr_free(&command);
  hosts_free(&up);
  return rc;
}

/* ---- tests of the nodes ---- */

/* Run scr_list_down_nodes: does it know which nodes work? */
static int test_system_health(test_system* t)
{
  const char* arguments[] = {"--reason", "--free", NULL};
  char *      out, *line, *next;
  char        name[HOSTS_NAME_MAX];
  int         rc = SCR_SUCCESS, status = system_run_sibling("scr_list_down_nodes", arguments, 1, 900, &out);

  if (out == NULL) return SCR_ERR_OOM();
  if (status == 0) test_system_say(t, TEST_SYSTEM_OK, "health", NULL, "all nodes pass the tests of scr_check_node");
  else if (status != 1) test_system_say(t, TEST_SYSTEM_FAILED, "health", NULL, "scr_list_down_nodes: %.500s", out);
  for (line = out; status == 1 && *line != '\0' && rc == SCR_SUCCESS; line = next) {
    next = line + strcspn(line, "\n");
    if (*next != '\0') *next++ = '\0';
    if (sscanf(line, "%255[^:]:", name) != 1 || test_system_find(t, name) < 0) continue;
    test_system_say(t, TEST_SYSTEM_FAILED, "health",
                    "scr_run leaves it out; repair it, or set SCR_CNTL_BASE and SCR_CACHE_BASE", "%s", line);
    rc = hosts_add(&t->down, name);
  }
  scr_free(&out);
  return rc;
}

/* Do the nodes have the names of the list, and one clock? */
static void test_system_names(test_system* t)
{
  double most = 0, ahead;
  int    i, k, bad = 0, others = 0, far = -1;

  for (i = 0; i < t->nodes.n; i++) {
    const test_system_node* n = &t->node[i];
    if (*n->host == '\0') continue;
    others += !system_is_here(t->nodes.name[i]);
    if ((k = test_system_find(t, n->host)) != i) {
      test_system_say(t, TEST_SYSTEM_FAILED, "names", "SCR_NODELIST has to list nodes by the names they have",
                      "%s calls itself %s", t->nodes.name[i], n->host);
      bad++;
    }
    ahead = n->low > 0 ? n->low : n->high < 0 ? -n->high : 0;
    if (ahead > most) {
      most = ahead;
      far = i;
    }
  }
  if (others == 0 && bad == 0) {
    test_system_say(t, TEST_SYSTEM_UNKNOWN, "names", "they need other nodes", "only this node has answered");
    test_system_say(t, TEST_SYSTEM_UNKNOWN, "clocks", "they need other nodes", "only this node has answered");
    return;
  }
  if (bad == 0) test_system_say(t, TEST_SYSTEM_OK, "names", NULL, "the nodes have the names of the list");
  if (most > TEST_SYSTEM_SKEW)
    test_system_say(t, TEST_SYSTEM_FAILED, "clocks", "let NTP set them: halt conditions and logs compare times",
                    "that of %s is %.1f s %s that of this node", t->nodes.name[far], most,
                    t->node[far].low > 0 ? "ahead of" : "behind");
  else test_system_say(t, TEST_SYSTEM_OK, "clocks", NULL, "they differ by less than %.0f s", TEST_SYSTEM_SKEW);
}

/* Report the errors in directory K.  Returns the number of nodes without one. */
static int test_system_errors(test_system* t, int k)
{
  int i, good = 0, bad = 0;

  for (i = 0; i < t->nodes.n; i++) {
    const test_system_measure* m = &t->measure[i * t->ndirs + k];
    if (m->error == NULL && m->read > 0) good++;
    if (m->error == NULL || bad++ >= 8) continue;
    test_system_say(t, TEST_SYSTEM_FAILED, t->dir[k].kind,
                    strcmp(t->dir[k].kind, "prefix") == 0 ? "SCR_PREFIX has to be a directory that all nodes share"
                                                          : "SCR_CNTL_BASE and SCR_CACHE_BASE choose other directories",
                    "%s: %.900s", t->nodes.name[i], m->error);
  }
  return good;
}

/* The directory K as the user knows it. */
static const char* test_system_shown(const test_system* t, int k)
{
  return strcmp(t->dir[k].kind, "prefix") == 0 ? t->prefix : t->dir[k].path;
}

static void test_system_rate(const test_system* t, double seconds, char* text, size_t n)
{
  char bytes[32];

  tool_bytes((double)t->size / seconds, bytes, sizeof bytes);
  snprintf(text, n, "%s/s", bytes);
}

/* Returns 1 if the store PATH has VIEW=GLOBAL. */
static int test_system_is_global(const test_system* t, const char* path)
{
  const scr_hash*      lines = scr_param_get_hash(t->params, "STORE");
  const scr_hash_elem* e;
  char                 name[SCR_MAX_FILENAME];

  for (e = scr_hash_elem_first(lines); e != NULL; e = scr_hash_elem_next(e))
    if (scr_path_reduce_str(scr_hash_elem_key(e), name, sizeof name) == SCR_SUCCESS && strcmp(name, path) == 0)
      return scr_strcasecmp(scr_hash_str_or(scr_hash_elem_hash(e), "VIEW", ""), "GLOBAL") == 0;
  return 0;
}

/* Do the nodes share directory K, as they should a prefix, or has each its own, as it should a cache? */
static void test_system_sharing(test_system* t, int k)
{
  const int prefix = strcmp(t->dir[k].kind, "prefix") == 0;
  int       i, seen = 0, asked = 0;

  for (i = 0; i < t->nodes.n; i++) {
    const test_system_measure *m = &t->measure[i * t->ndirs + k],
                              *next = &t->measure[(i + 1) % t->nodes.n * t->ndirs + k];
    if (m == next || m->read <= 0 || next->write <= 0) continue;
    asked++;
    seen += m->other;
  }
  if (asked == 0) return;
  if (prefix && seen < asked)
    test_system_say(t, TEST_SYSTEM_FAILED, "shared", "SCR_PREFIX has to be a directory that all nodes share",
                    "%d of %d nodes do not see in %s what another one wrote", asked - seen, asked, t->prefix);
  else if (prefix) test_system_say(t, TEST_SYSTEM_OK, "shared", NULL, "the nodes share the prefix");
  else if (seen == 0) test_system_say(t, TEST_SYSTEM_OK, "private", NULL, "each node has its own %s", t->dir[k].path);
  else if (strcmp(t->dir[k].kind, "cache") == 0 && test_system_is_global(t, t->dir[k].path))
    test_system_say(t, TEST_SYSTEM_OK, "private", NULL, "%s is shared, as VIEW=GLOBAL says", t->dir[k].path);
  else
    test_system_say(
        t, TEST_SYSTEM_FAILED, "private",
        "SCR_CNTL_BASE and SCR_CACHE_BASE name storage of each node; only a STORE with VIEW=GLOBAL is shared",
        "%d of %d nodes see in %s what another one wrote", seen, asked, t->dir[k].path);
}

/* How fast is directory K? */
static void test_system_speed(test_system* t, int k)
{
  const char* kind = t->dir[k].kind;
  char        wrote[48], read[48];
  int         i, slow = -1, good = test_system_errors(t, k);

  for (i = 0; i < t->nodes.n; i++) {
    const test_system_measure* m = &t->measure[i * t->ndirs + k];
    if (m->error != NULL || m->read <= 0) continue;
    if (slow < 0 || m->write > t->measure[slow * t->ndirs + k].write) slow = i;
    test_system_rate(t, m->write, wrote, sizeof wrote);
    test_system_rate(t, m->read, read, sizeof read);
    if (t->verbose && !t->json)
      printf("         %s %s: %s: written at %s, read at %s\n", kind, test_system_shown(t, k), t->nodes.name[i], wrote,
             read);
  }
  if (slow < 0) return;
  test_system_rate(t, t->measure[slow * t->ndirs + k].write, wrote, sizeof wrote);
  test_system_rate(t, t->measure[slow * t->ndirs + k].read, read, sizeof read);
  test_system_say(t, TEST_SYSTEM_OK, kind, NULL,
                  "%s: %d node%s wrote %.5g MiB with fsync, and read the same; %s%s at %s and %s",
                  test_system_shown(t, k), good, good > 1 ? "s at once each" : "", (double)t->size / (1 << 20),
                  good > 1 ? "the slowest, " : "", t->nodes.name[slow], wrote, read);
}

/* The bytes that the cache of a node takes for a checkpoint of one byte, redundancy included. */
static double test_system_overhead(const test_system* t)
{
  const int64_t data = 1 << 20;
  scr_scheme    scheme = SCR_SCHEME_XOR; /* of FILE */
  int           set = 0, lost = 1;

  scr_scheme_from_name(scr_param_get(t->params, "SCR_COPY_TYPE"), &scheme);
  scr_param_int(t->params, "SCR_SET_SIZE", &set);
  scr_param_int(t->params, "SCR_SET_FAILURES", &lost);
  if (lost > scr_schemes[scheme].failures) lost = scr_schemes[scheme].failures;
  if (set > t->nodes.n) set = t->nodes.n;
  if (set < 2) return 1;
  if (lost >= set) lost = set - 1;
  return (double)scr_scheme_space(scheme, set, lost, data) / (double)data;
}

/* Is there space in directory K: in a cache for the checkpoints that stay and the one that is written? */
static void test_system_space(test_system* t, int k)
{
  const int   prefix = strcmp(t->dir[k].kind, "prefix") == 0;
  const char* where = test_system_shown(t, k);
  char        has[32], needs[32], what[64];
  double      need, least = -1;
  int         i, at = 0, count = 1;

  for (i = 0; i < t->nodes.n; i++) {
    const test_system_measure* m = &t->measure[i * t->ndirs + k];
    if (m->write <= 0 || (least >= 0 && m->free >= least)) continue;
    least = m->free;
    at = i;
  }
  if (least < 0) return;
  scr_param_int(t->params, "SCR_CACHE_SIZE", &count);
  need = (double)t->bytes * (prefix ? t->nodes.n : test_system_overhead(t) * (count + 1));
  if (prefix) snprintf(what, sizeof what, "a checkpoint takes");
  else snprintf(what, sizeof what, "%d checkpoints with redundancy take", count + 1);
  tool_bytes(least, has, sizeof has);
  tool_bytes(need, needs, sizeof needs);
  if (t->bytes == 0)
    test_system_say(t, TEST_SYSTEM_UNKNOWN, "space", "--bytes says what a node writes in a checkpoint",
                    "%s has %s free, on %s", where, has, t->nodes.name[at]);
  else if (need > least)
    test_system_say(t, TEST_SYSTEM_FAILED, "space",
                    prefix ? "make room, or set another SCR_PREFIX"
                           : "SCR_CACHE_BASE names a larger storage, or SCR_CACHE_BYPASS=1 does without",
                    "%s has %s free on %s, and %s %s", where, has, t->nodes.name[at], what, needs);
  else test_system_say(t, TEST_SYSTEM_OK, "space", NULL, "%s has %s free or more, and %s %s", where, has, what, needs);
}

/* All tests of the nodes. */
static int test_system_nodes(test_system* t)
{
  char* all = NULL;
  int   k, rc = hosts_compress(&t->nodes, &all);

  if (rc == SCR_SUCCESS && t->nodes.n == 1 && system_manager(NULL) == SYSTEM_NONE)
    test_system_say(t, TEST_SYSTEM_UNKNOWN, "nodes", "SCR_NODELIST or --hosts names the nodes, if there are others",
                    "only %s is known", all);
  else if (rc == SCR_SUCCESS)
    test_system_say(t, TEST_SYSTEM_OK, "nodes", NULL, "%d of %s: %s", t->nodes.n,
                    system_manager(NULL) == SYSTEM_NONE ? "the list" : scr_manager_names[system_manager(NULL)], all);
  scr_free(&all);
  if (rc == SCR_SUCCESS) rc = test_system_run_part(t, "write", 1);
  if (rc == SCR_SUCCESS) rc = test_system_run_part(t, "read", 0);
  if (rc == SCR_SUCCESS) rc = test_system_run_part(t, "remove", 0);
  if (rc != SCR_SUCCESS) return rc;
  test_system_names(t);
  rc = test_system_health(t);
  for (k = 0; k < t->ndirs; k++) {
    test_system_speed(t, k);
    test_system_sharing(t, k);
  }
  for (k = 0; k < t->ndirs; k++)
    if (strcmp(t->dir[k].kind, "control") != 0) test_system_space(t, k);
  return rc;
}

/* ---- tests of the job ---- */

/* The value of NAME in ANSWER, words NAME=VALUE of scontrol; the caller frees it.  NULL if there is none. */
static char* test_system_field(const char* answer, const char* name)
{
  const char* at;
  size_t      n = strlen(name);

  for (at = answer; (at = strstr(at, name)) != NULL; at += n)
    if (at[n] == '=' && (at == answer || strchr(" \t\n", at[-1]) != NULL))
      return scr_strdupf("%.*s", (int)strcspn(at + n + 1, " \t\r\n"), at + n + 1);
  return NULL;
}

/* What `scontrol show job` says of this job of SLURM, JOB, into *ANSWER: of this task, if it is an array. */
static int test_system_ask_job(const char* job, char** answer)
{
  const char *array = system_env("SLURM_ARRAY_JOB_ID"), *task = system_env("SLURM_ARRAY_TASK_ID");
  char*       command = array != NULL && task != NULL ? scr_strdupf("scontrol show job '%s_%s'", array, task)
                                                      : scr_strdupf("scontrol show job '%s'", job);
  int         rc = command == NULL ? SCR_ERR_OOM() : system_ask(command, answer);

  scr_free(&command);
  return rc;
}

/*
** Report whether a job of SLURM survives the end of the host on which its script runs: outside of its nodes it does; on
** one of them, HOST, only if SLURM starts it again, as it does with batch jobs that have REQUEUE.
*/
static void test_system_say_batch_host(test_system* t, int inside, const char* host, int requeue)
{
  static const char name[] = "batch host";

  if (!inside)
    test_system_say(t, TEST_SYSTEM_OK, name, NULL,
                    "this is %s, no node of the job: with --no-kill, the job survives the end of any node", host);
  else if (requeue)
    test_system_say(
        t, TEST_SYSTEM_OK, name, NULL,
        "the script runs on %s; when that fails, SLURM starts the job again (Requeue=1), unless it has --no-kill",
        host);
  else
    test_system_say(
        t, TEST_SYSTEM_FAILED, name,
        "submit it with --requeue and without --no-kill, or call salloc on a host that is no node of it",
        "the job does not survive %s, where its script runs: nothing starts it again, and with --no-kill it even stays "
        "RUNNING and does nothing",
        host);
}

/* Does this job of SLURM survive the end of the host on which its script runs?  SLURM tells. */
static void test_system_batch_host(test_system* t)
{
  const char* job;
  char *      answer = NULL, *list = NULL, *host = NULL, *batch = NULL, *requeue = NULL;
  char        self[SYSTEM_HOST_MAX] = "";
  hosts       all = {NULL, 0};
  int         i, known = 0, inside = 0, script;

  if (system_manager(&job) != SYSTEM_SLURM) return;
  gethostname(self, sizeof self - 1);
  if (test_system_ask_job(job, &answer) == SCR_SUCCESS) {
    list = test_system_field(answer, "NodeList");
    host = test_system_field(answer, "BatchHost");
    batch = test_system_field(answer, "BatchFlag");
    requeue = test_system_field(answer, "Requeue");
    known = list != NULL && batch != NULL && requeue != NULL && hosts_parse(&all, list) == SCR_SUCCESS;
  }
  for (i = 0; i < all.n; i++) inside |= system_is_here(all.name[i]);
  script = known && inside && strcmp(batch, "0") != 0;
  if (known)
    test_system_say_batch_host(t, inside, script && host != NULL ? host : self, script && strcmp(requeue, "0") != 0);
  else
    test_system_say(t, TEST_SYSTEM_UNKNOWN, "batch host", "`scontrol show job` tells its nodes, BatchFlag and Requeue",
                    "what becomes of job %s when that fails is not known", job);
  scr_free(&answer);
  scr_free(&list);
  scr_free(&host);
  scr_free(&batch);
  scr_free(&requeue);
  hosts_free(&all);
}

#define TEST_SYSTEM_ENDING                                                                                             \
  "SCR_REMOTE_SHELL names what reaches it; else end jobs before SLURM does, by SCR_HALT_SECONDS, "                     \
  "--signal=B:TERM@120 and scancel -b -s TERM"

/*
** Can a job of SLURM save what the nodes of ALL have while it ends: after scancel, at its time limit?  srun starts no
** job steps then, and the commands go by ssh.
*/
static int test_system_ask_ending(test_system* t, const hosts* all)
{
  scr_buf     b = {NULL, 0, 0, 0};
  char        path[SCR_MAX_FILENAME];
  const char* command;
  remote_job  job;
  int         i, bad = 0, rc = SCR_SUCCESS;

  system_sibling("scr_copy", path, sizeof path);
  scr_buf_quote(&b, path);
  scr_buf_add(&b, " --version", sizeof " --version");
  command = b.p;
  memset(&job, 0, sizeof job);
  job.nodes = all;
  job.command = &command;
  job.same = 1;
  job.seconds = SYSTEM_SECONDS;
  job.refused = 1;
  if (b.failed) rc = SCR_ERR_OOM();
  if (rc == SCR_SUCCESS) rc = remote_begin(&job);
  if (rc == SCR_SUCCESS) rc = remote_run(&job);
  for (i = 0; i < all->n && rc == SCR_SUCCESS; i++) {
    if (job.task[i].status == 0 || bad++ >= 8) continue;
    test_system_say(t, TEST_SYSTEM_FAILED, "job end", TEST_SYSTEM_ENDING,
                    "%s: srun starts no job steps in a job that ends, and the remote shell does not reach the node: "
                    "%.300s",
                    all->name[i], job.task[i].status == SYSTEM_TIMEOUT ? "no answer" : system_reason(&job.task[i]));
  }
  if (rc == SCR_SUCCESS && bad == 0)
    test_system_say(t, TEST_SYSTEM_OK, "job end", NULL,
                    "%s reaches %d node%s without job steps, which srun does not start in a job that ends",
                    system_env("SCR_REMOTE_SHELL") != NULL ? "SCR_REMOTE_SHELL" : "ssh", all->n, all->n > 1 ? "s" : "");
  remote_free(&job);
  scr_buf_free(&b);
  return rc;
}

/* The same for the nodes that work; without others than this one, there is nothing to ask. */
static int test_system_job_end(test_system* t)
{
  hosts here = {NULL, 0}, others = {NULL, 0};
  int   i, rc = SCR_SUCCESS;

  if (system_manager(NULL) != SYSTEM_SLURM) return rc;
  for (i = 0; i < t->nodes.n && rc == SCR_SUCCESS; i++)
    if (system_is_here(t->nodes.name[i])) rc = hosts_add(&here, t->nodes.name[i]);
  if (rc == SCR_SUCCESS) rc = test_system_left(t, &here, &others);
  if (rc == SCR_SUCCESS && others.n > 0) rc = test_system_ask_ending(t, &others);
  else if (rc == SCR_SUCCESS)
    test_system_say(t, TEST_SYSTEM_UNKNOWN, "job end", "it needs other nodes", "only this node has answered");
  hosts_free(&here);
  hosts_free(&others);
  return rc;
}

/* ---- tests of the launcher ---- */

/* The time of a launcher is over: end what it has started. */
static void test_system_late(system_task* task)
{
  char id[128];

  if (system_step_find(task->pid, id, sizeof id) == SCR_SUCCESS) system_step_kill(id, NULL);
}

#define TEST_SYSTEM_TRIES 5 /* Hydra may write to a process that has ended at once, and dies of it: SIGPIPE */

/*
** Launch the line PROGRAM as run NUMBER, without the nodes of DOWN.  OUT, which the caller frees, receives what it
** prints, STATUS its exit code or SYSTEM_TIMEOUT, and SECONDS the time.
*/
static int test_system_launch(const test_system* t, int number, const hosts* down, const char* program, char** out,
                              int* status, double* seconds)
{
  hosts       up = {NULL, 0};
  scr_buf     b = {NULL, 0, 0, 0};
  const char* argv[] = {"sh", "-c", NULL, NULL};
  system_task task;
  double      start;
  int         tries = TEST_SYSTEM_TRIES, rc = hosts_select(&up, &t->nodes, down, 0);

  *out = NULL;
  scr_buf_add(&b, "exec ", 5);
  if (rc == SCR_SUCCESS) rc = launch_line(&t->launch, number, &up, down, &b);
  scr_buf_add(&b, program, strlen(program) + 1);
  if (rc == SCR_SUCCESS && b.failed) rc = SCR_ERR_OOM();
  for (*status = 128 + SIGPIPE; rc == SCR_SUCCESS && *status == 128 + SIGPIPE && tries > 0; tries--) {
    memset(&task, 0, sizeof task);
    argv[2] = b.p;
    task.argv = argv;
    task.both = 1;
    task.late = test_system_late;
    start = scr_wtime();
    rc = test_system_tasks(&task, 1, (double)t->timeout);
    *seconds = scr_wtime() - start;
    *status = task.status;
    scr_free(out);
    *out = scr_strdup(system_text(&task));
    scr_buf_free(&task.out);
    if (rc == SCR_SUCCESS && *out == NULL) rc = SCR_ERR_OOM();
  }
  scr_buf_free(&b);
  hosts_free(&up);
  return rc;
}

/* Append to RAN the nodes whose names OUT has as lines, and count all lines of a host.  OTHER is one of no node. */
static int test_system_ran_on(const test_system* t, const char* out, hosts* ran, int* lines, char* other)
{
  hosts       all = {NULL, 0};
  const char* line;
  char        name[SYSTEM_HOST_MAX];
  int         i, rc = SCR_SUCCESS;

  *lines = 0;
  *other = '\0';
  for (line = out; line != NULL && rc == SCR_SUCCESS; line = strchr(line, '\n')) {
    line += *line == '\n';
    if (sscanf(line, "%255[^ \t\r\n]", name) != 1) continue;
    if ((i = test_system_find(t, name)) >= 0) {
      rc = hosts_add(&all, t->nodes.name[i]);
      ++*lines;
    } else {
      snprintf(other, SYSTEM_HOST_MAX, "%s", name);
    }
  }
  if (rc == SCR_SUCCESS) rc = hosts_select(ran, &t->nodes, &all, 1);
  hosts_free(&all);
  return rc;
}

/* The name of the launcher, for messages. */
static const char* test_system_launcher(const test_system* t)
{
  return t->launch.name != NULL ? tool_name(t->launch.name) : "the launcher";
}

#define TEST_SYSTEM_WAITS                                                                                              \
  "it may wait for nodes or processors that it does not get: give it fewer, or end what else runs in the allocation"

/* Does the launcher start processes on nodes of the allocation?  Returns their number in PROCESSES. */
static int test_system_start(test_system* t, int* processes)
{
  char * out = NULL, *where = NULL;
  char   other[SYSTEM_HOST_MAX];
  double seconds;
  int    status = 0, rc = test_system_launch(t, 1, &t->down, "uname -n", &out, &status, &seconds);

  *processes = 0;
  if (rc == SCR_SUCCESS) rc = test_system_ran_on(t, out, &t->used, processes, other);
  if (rc == SCR_SUCCESS) rc = hosts_compress(&t->used, &where);
  if (rc == SCR_SUCCESS && status == 0 && *processes > 0)
    test_system_say(t, TEST_SYSTEM_OK, "launch", NULL, "%s runs %d processes on %s", test_system_launcher(t),
                    *processes, where);
  else if (rc == SCR_SUCCESS && status == 0)
    test_system_say(t, TEST_SYSTEM_FAILED, "launch", "SCR_NODELIST has to list the nodes by the names they have",
                    "%s runs on %s, which is not of the allocation", test_system_launcher(t),
                    *other != '\0' ? other : "nothing");
  else if (rc == SCR_SUCCESS && status == SYSTEM_TIMEOUT)
    test_system_say(t, TEST_SYSTEM_FAILED, "launch", TEST_SYSTEM_WAITS, "%s has not run `uname -n` within %lld s: %.*s",
                    test_system_launcher(t), (long long)t->timeout, (int)strcspn(out, "\n"), out);
  else if (rc == SCR_SUCCESS)
    test_system_say(t, TEST_SYSTEM_FAILED, "launch", "give the launcher and its arguments behind the options",
                    "%s failed with exit code %d: %.*s", test_system_launcher(t), status, (int)strcspn(out, "\n"), out);
  if (status != 0) *processes = 0;
  scr_free(&out);
  scr_free(&where);
  return rc;
}

#define TEST_SYSTEM_ZERO     "scr_run takes this for success, and runs nothing again"
#define TEST_SYSTEM_WATCHDOG "SCR_WATCHDOG=1 ends a run without progress"

/* What to do about a launcher that does not return after a failure. */
static const char* test_system_no_return(const test_system* t)
{
  return launch_is(&t->launch, "srun")
             ? "srun needs --kill-on-bad-exit=1, or SLURM_KILL_BAD_EXIT=1; else " TEST_SYSTEM_WATCHDOG
             : TEST_SYSTEM_WATCHDOG;
}

/* What to do when a run without a node does not start: OTHERWISE, unless the launcher is told where to run. */
static const char* test_system_elsewhere(const test_system* t, const char* otherwise)
{
  return launch_names_hosts(&t->launch) ? "leave the hosts to scr_run: the arguments of the launcher name them"
                                        : otherwise;
}

/*
** Does the launcher return, with an error, when one of its processes is killed?  They are of the shell: a launcher that
** does not return may still do so for MPI programs, which notice the end of others.
*/
static int test_system_death(test_system* t, int processes)
{
  scr_buf       b = {NULL, 0, 0, 0};
  char *        out = NULL, text[SCR_MAX_FILENAME + 32];
  double        seconds = 0;
  char          advice[256];
  const int64_t limit = t->timeout;
  int           status = 0, rc = SCR_SUCCESS;

  if (processes < 2) {
    test_system_say(t, TEST_SYSTEM_UNKNOWN, "process death", "give the launcher the arguments of a job",
                    "it needs two processes or more");
    return rc;
  }
  if (t->timeout > TEST_SYSTEM_BARE) t->timeout = TEST_SYSTEM_BARE;
  /* Whichever process is first to make the directory kills itself, when all are there; the others wait. */
  snprintf(text, sizeof text, "mkdir \"$0\" 2>/dev/null && { sleep 1; kill -9 $$; }; exec sleep %lld",
           (long long)t->timeout + 30);
  launch_add(&b, "sh -c");
  launch_add_word(&b, text);
  snprintf(text, sizeof text, "%s/death", t->work);
  scr_buf_quote(&b, text);
  scr_buf_add(&b, "", 1);
  rc = b.failed ? SCR_ERR_OOM() : test_system_launch(t, 1, &t->down, b.p, &out, &status, &seconds);
  snprintf(advice, sizeof advice, "--program tests it with MPI; %s", test_system_no_return(t));
  if (rc == SCR_SUCCESS && status == SYSTEM_TIMEOUT)
    test_system_say(t, TEST_SYSTEM_UNKNOWN, "process death", advice,
                    "%s has not returned within %lld s after a process, not of MPI, was killed",
                    test_system_launcher(t), (long long)t->timeout);
  else if (rc == SCR_SUCCESS && status == 0)
    test_system_say(t, TEST_SYSTEM_FAILED, "process death", TEST_SYSTEM_ZERO,
                    "%s returned exit code 0 after a process was killed", test_system_launcher(t));
  else if (rc == SCR_SUCCESS)
    test_system_say(t, TEST_SYSTEM_OK, "process death", NULL,
                    "%s returned exit code %d, after %.1f s, when a process was killed", test_system_launcher(t),
                    status, seconds);
  t->timeout = limit;
  scr_buf_free(&b);
  scr_free(&out);
  return rc;
}

/* Can a step after that avoid a node? */
static int test_system_avoid(test_system* t)
{
  hosts       down = {NULL, 0}, none = {NULL, 0}, ran = {NULL, 0};
  const char* victim = NULL;
  char *      out = NULL, other[SYSTEM_HOST_MAX];
  double      seconds;
  int         i, status = 0, lines, rc = SCR_SUCCESS;

  for (i = 0; i < t->used.n; i++)
    if (!system_is_here(t->used.name[i])) victim = t->used.name[i];
  if (victim == NULL || launch_names_hosts(&t->launch)) {
    test_system_say(t, victim == NULL ? TEST_SYSTEM_UNKNOWN : TEST_SYSTEM_FAILED, "avoid a node",
                    victim == NULL ? "it needs other nodes than this one" : "leave that to scr_run",
                    victim == NULL ? "not tested" : "the arguments of the launcher name hosts");
    return rc;
  }
  rc = hosts_select(&down, &t->down, &none, 0);
  if (rc == SCR_SUCCESS) rc = hosts_add(&down, victim);
  if (rc == SCR_SUCCESS) rc = test_system_launch(t, 2, &down, "uname -n", &out, &status, &seconds);
  if (rc == SCR_SUCCESS) rc = test_system_ran_on(t, out, &ran, &lines, other);
  for (i = 0; i < ran.n && strcmp(ran.name[i], victim) != 0; i++) continue;
  if (rc == SCR_SUCCESS && status == SYSTEM_TIMEOUT)
    test_system_say(t, TEST_SYSTEM_FAILED, "avoid a node", TEST_SYSTEM_WAITS,
                    "a second step without %s has not run within %lld s: %.*s", victim, (long long)t->timeout,
                    (int)strcspn(out, "\n"), out);
  else if (rc == SCR_SUCCESS && status != 0)
    test_system_say(t, TEST_SYSTEM_FAILED, "avoid a node", "allocate a node more than a run uses",
                    "a second step without %s failed with exit code %d: %.*s", victim, status, (int)strcspn(out, "\n"),
                    out);
  else if (rc == SCR_SUCCESS && (i < ran.n || ran.n == 0))
    test_system_say(t, TEST_SYSTEM_FAILED, "avoid a node", "--launcher says with {nodes} where it is to run",
                    "a second step ran on %s, though it was excluded", victim);
  else if (rc == SCR_SUCCESS)
    test_system_say(t, TEST_SYSTEM_OK, "avoid a node", NULL, "a second step runs on %d nodes without %s", ran.n,
                    victim);
  scr_free(&out);
  hosts_free(&down);
  hosts_free(&ran);
  return rc;
}

/* ---- a run with a failure ---- */

/* The environment of the runs in DIR: nothing of them is mixed up with the jobs of the user. */
static int test_system_environment(const test_system* t, const char* dir)
{
  static const char* const unset[] = {"SCR_CURRENT", "SCR_FRESH_START", "SCR_RUNS", "SCR_RETRIES"};
  char                     conf[SCR_MAX_FILENAME], job[96];
  const char*              why = NULL;
  size_t                   i;
  int                      bad, fd = -1, rc = scr_fmt(conf, sizeof conf, "%s/.scrconf", t->prefix);

  if (rc == SCR_SUCCESS) rc = scr_mkdirs(dir, 0777);
  if (rc != SCR_SUCCESS) return rc;
  for (i = 0; i < sizeof unset / sizeof *unset; i++) unsetenv(unset[i]);
  snprintf(job, sizeof job, "%s.%s", t->tag, tool_name(dir));
  bad = tool_setenv("SCR_PREFIX", dir) != SCR_SUCCESS || setenv("SCR_JOB_ID", job, 1) < 0 ||
        setenv("SCR_LOG_ENABLE", "1", 1) < 0 || setenv("SCR_LOG_TXT_ENABLE", "1", 1) < 0 ||
        setenv("SCR_LOG_SYSLOG_ENABLE", "0", 1) < 0 ||
        ((fd = scr_file_trusted(conf, &why)) >= 0 && why == NULL && getenv("SCR_CONF_FILE") == NULL &&
         tool_setenv("SCR_CONF_FILE", conf) != SCR_SUCCESS);
  if (fd >= 0) scr_os.close(fd);
  if (bad) return SCR_ERR_OOM();
  return chdir(dir) == 0 ? SCR_SUCCESS : SCR_ERRNO("cannot change to %s", dir);
}

/* The words that run the line PROGRAM by scr_run, RUNS times at most; the caller frees them. */
static const char** test_system_words(const test_system* t, const char* path, const char* dir, const char* runs,
                                      const char* program)
{
  const char** argv = (const char**)scr_malloc(((size_t)t->launch.nwords + 16) * sizeof *argv);
  int          i, n = 0;

  if (argv == NULL) return NULL;
  argv[n++] = path;
  argv[n++] = "--prefix";
  argv[n++] = dir;
  argv[n++] = "--runs";
  argv[n++] = runs;
  if (t->launch.template_ != NULL) {
    argv[n++] = "--launcher";
    argv[n++] = t->launch.template_;
    if (t->launch.np != NULL) argv[n++] = "--np";
    if (t->launch.np != NULL) argv[n++] = t->launch.np;
  } else {
    argv[n++] = t->launch.name;
  }
  for (i = 0; i < t->launch.nwords; i++) argv[n++] = t->launch.words[i];
  argv[n++] = "--run-cmd";
  argv[n++] = program;
  argv[n] = NULL;
  return argv;
}

/* Returns 1 if T has printed TEXT. */
static int test_system_said(system_task* t, const char* text)
{
  int said;

  if (t->out.n == 0) return 0;
  scr_buf_add(&t->out, "", 1);
  said = strstr(t->out.p, text) != NULL;
  t->out.n--;
  return said;
}

/* scr_run has printed: after a failure, the launcher has only so much time to return. */
static void test_system_hear_run(system_task* task)
{
  test_system* t = &test_system_now;

  if (t->killed > 0 && t->returned <= 0 && test_system_said(task, "run 1 has ended")) {
    t->returned = scr_wtime();
    task->end = t->returned + TEST_SYSTEM_HOUR;
  }
  if (task->fd < 0 && task[1].pid > 0 && task[1].fd >= 0 && t->killed <= 0) kill(-task[1].pid, SIGKILL);
}

/* What makes the failure has printed that it begins, or that it is done; scr_run may see the failure in between. */
static void test_system_hear_kill(system_task* task)
{
  test_system* t = &test_system_now;

  if (t->returned > 0 || !test_system_said(task, "killing ")) return;
  t->killed = scr_wtime();
  if (test_system_said(task - 1, "run 1 has ended")) t->returned = t->killed;
  else task[-1].end = t->killed + (double)t->timeout;
}

/* The time of scr_run is over: it ends its launcher. */
static void test_system_late_run(system_task* task)
{
  int i;

  kill(task->pid, SIGTERM);
  for (i = 0; i < 100 && system_is_alive(task->pid); i++) usleep(100000);
}

/* Keep what the task TASK printed as the file DIR.log. */
static void test_system_keep(system_task* task, const char* dir)
{
  char        path[SCR_MAX_FILENAME];
  const char* text = system_text(task);
  int         fd;

  if (scr_fmt(path, sizeof path, "%s.log", dir) != SCR_SUCCESS) return;
  if ((fd = scr_os.open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600)) < 0) return;
  scr_write_all(fd, text, strlen(text));
  scr_os.close(fd);
}

/*
** Run the line PROGRAM in DIR by scr_run: undisturbed if COMMAND is NULL, else twice at most, with a failure that
** COMMAND and VICTIM describe, as for the part `kill`.  TASK[2] receives what scr_run and that part have printed.
*/
static int test_system_cycle(test_system* t, const char* dir, const char* program, const char* command,
                             const char* victim, system_task* task)
{
  char         run[SCR_MAX_FILENAME], self[SCR_MAX_FILENAME];
  char         processes[32];
  const char*  kill_words[] = {self, "--part", "kill", dir, command, victim, processes, NULL};
  const char** words;
  int          rc = test_system_environment(t, dir);

  snprintf(processes, sizeof processes, "%d", t->processes);
  system_sibling("scr_run", run, sizeof run);
  system_sibling("scr_test_system", self, sizeof self);
  if ((words = test_system_words(t, run, dir, command != NULL ? "2" : "1", program)) == NULL) rc = SCR_ERR_OOM();
  memset(task, 0, 2 * sizeof *task);
  task[0].argv = words;
  task[0].both = 1;
  task[0].late = test_system_late_run;
  task[0].fd = task[1].fd = -1;
  task[1].argv = kill_words;
  task[1].both = 1;
  if (command != NULL) {
    task[0].heard = test_system_hear_run;
    task[1].heard = test_system_hear_kill;
  }
  if (rc == SCR_SUCCESS) {
    rc = test_system_tasks(task, command != NULL ? 2 : 1, TEST_SYSTEM_HOUR);
    test_system_keep(task, dir);
  }
  scr_free(&words);
  return rc;
}

/* The last match of the regular expression RE in the lines that the program printed, in *AT; its length, or -1. */
static int test_system_match(const regex_t* re, const char* text, const char** at)
{
  const char* begin = text;
  regmatch_t  m;
  int         length = -1;

  for (; *text != '\0'; text += m.rm_eo > 0 ? m.rm_eo : 1) {
    if (regexec(re, text, 1, &m, text > begin && text[-1] != '\n' ? REG_NOTBOL : 0) != 0) break;
    *at = text + m.rm_so;
    length = (int)(m.rm_eo - m.rm_so);
  }
  return length;
}

/* Returns 1 if both outputs have the same answer, 0 if they have not, -1 if there is none. */
static int test_system_compare(const test_system* t, const char* calm, const char* lost)
{
  const char *a = NULL, *b = NULL;
  regex_t     re;
  int         n, k;

  if (t->answer == NULL || regcomp(&re, t->answer, REG_EXTENDED | REG_NEWLINE) != 0) return -1;
  n = test_system_match(&re, calm, &a);
  k = test_system_match(&re, lost, &b);
  regfree(&re);
  return n < 0 ? -1 : n == k && memcmp(a, b, (size_t)n) == 0;
}

/* Returns 1 if the log of the runs in DIR has the event NAME. */
static int test_system_logged(const char* dir, const char* name)
{
  char   path[SCR_MAX_FILENAME], *line = NULL;
  FILE*  f = scr_fmt(path, sizeof path, "%s/.scr/log", dir) == SCR_SUCCESS ? fopen(path, "r") : NULL;
  size_t room = 0;
  int    found = 0;

  while (f != NULL && !found && getline(&line, &room, f) >= 0) found = strstr(line, name) != NULL;
  if (f != NULL) fclose(f);
  free(line);
  return found;
}

/* Report as test NAME how the second run in DIR ended; CALM is the output of the undisturbed one. */
static void test_system_restart(test_system* t, const char* name, const char* dir, system_task* lost, const char* calm)
{
  static const char last[] = "its output is in";
  int               same = test_system_compare(t, calm, system_text(lost));
  int               result = TEST_SYSTEM_FAILED;
  const char*       how = test_system_logged(dir, "event=REBUILD_SUCCESS") ? ", rebuilt what was lost," : "";

  if (t->returned <= 0)
    test_system_say(t, result = TEST_SYSTEM_UNKNOWN, name, test_system_no_return(t),
                    "there was no second run, because the launcher has not returned; %s %s.log", last, dir);
  else if (strstr(system_text(lost), ": run 2, ") == NULL)
    test_system_say(t, result, name, "SCR_MIN_NODES is what a run needs; or allocate a node more",
                    "there was no second run; %s %s.log", last, dir);
  else if (lost->status != 0)
    test_system_say(t, result, name, test_system_elsewhere(t, NULL),
                    "the second run ended with exit code %d; %s %s.log", lost->status, last, dir);
  else if (same == 0)
    test_system_say(t, result, name, NULL, "the answer is not that of the undisturbed run; %s %s.log", last, dir);
  else if (!test_system_logged(dir, "event=RESTART_SUCCESS"))
    test_system_say(t, result = TEST_SYSTEM_UNKNOWN, name,
                    "a program that restarts calls SCR_Start_restart and SCR_Complete_restart",
                    "the second run tells of no restart; %s %s.log", last, dir);
  else {
    result = TEST_SYSTEM_OK;
    test_system_say(t, result, name, NULL, "the second run restarted from the %s%s and ended with %s",
                    test_system_logged(dir, "event=FETCH_SUCCESS") ? "prefix" : "cache", how,
                    same < 0 ? "exit code 0; --answer compares more" : "the same answer");
  }
  if (result != TEST_SYSTEM_OK) t->keep = 1;
}

/* Report what the failure of VICTIM, a node, has shown, but for a second run. */
static void test_system_node_death(test_system* t, const char* victim, const char* text)
{
  char        mark[SYSTEM_HOST_MAX + 32];
  const char* down;

  test_system_say(t, TEST_SYSTEM_OK, "job script", NULL, "it goes on, %.0f s after %s was killed",
                  scr_wtime() - t->killed, victim);
  if (t->returned <= 0) return;
  snprintf(mark, sizeof mark, ": node %s: ", victim);
  if ((down = strstr(text, mark)) == NULL)
    test_system_say(t, TEST_SYSTEM_FAILED, "detection", "SCR_RUN_WAIT gives it more time to show that it is down",
                    "the commands take %s for a node that works", victim);
  else
    test_system_say(t, TEST_SYSTEM_OK, "detection", NULL, "%s: %.*s", victim, (int)strcspn(down + strlen(mark), "\n"),
                    down + strlen(mark));
}

/* Report that the part `kill`, of a NODE or a process, has printed in TASK that it has killed nothing. */
static void test_system_not_killed(test_system* t, const char* name, const char* dir, system_task* task, int node)
{
  static const char running[] = "the program has to run on for some time after its first checkpoint";
  char*             why = system_text(task);
  const char*       advice = running;

  if (node && strncmp(why, "killing ", 8) == 0)
    advice = "--kill-node is a command that gets the name of a node, makes it fail, and ends with 0";
  else if (node && *why != '\0') advice = "give the launcher more nodes than this one";
  if (strncmp(why, "killing ", 8) == 0 && strchr(why, '\n') != NULL) why = strchr(why, '\n') + 1;
  why[strcspn(why, "\n")] = '\0';
  test_system_say(t, TEST_SYSTEM_FAILED, name, advice, "nothing was killed: %.300s; its output is in %s.log",
                  *why != '\0' ? why : "there was no checkpoint in time", dir);
  t->keep = 1;
}

/* Report what the launcher did in DIR when a process or, if NODE is set, a node failed.  Returns 1 if one failed. */
static int test_system_failure(test_system* t, const char* dir, system_task* task, int node)
{
  const char* name = node ? "node death" : "process death";
  char        victim[SYSTEM_HOST_MAX] = "";
  const char *done = strstr(system_text(&task[1]), "killed "), *ended;
  int         code = -1;

  if (done == NULL || t->killed <= 0) {
    test_system_not_killed(t, name, dir, &task[1], node);
    return 0;
  }
  sscanf(done, "killed %255[^\n]", victim);
  if (node && test_system_find(t, victim) >= 0) hosts_add(&t->down, victim);
  if (node) test_system_node_death(t, victim, system_text(&task[0]));
  if ((ended = strstr(system_text(&task[0]), ": run 1 has ended")) != NULL)
    sscanf(ended, ": run 1 has ended after %*f s, with exit code %d", &code);
  if (t->returned > 0 && code == 0)
    test_system_say(t, TEST_SYSTEM_FAILED, name, TEST_SYSTEM_ZERO, "%s returned exit code 0 after %s was killed",
                    test_system_launcher(t), victim);
  else if (t->returned > 0)
    test_system_say(t, TEST_SYSTEM_OK, name, NULL, "%s returned %.1f s after %s was killed", test_system_launcher(t),
                    t->returned - t->killed, victim);
  else
    test_system_say(t, t->program != NULL ? TEST_SYSTEM_FAILED : TEST_SYSTEM_UNKNOWN, name, test_system_no_return(t),
                    "%s has not returned within %lld s after %s was killed%s", test_system_launcher(t),
                    (long long)t->timeout, victim, t->program != NULL ? "" : ", but its processes were not of MPI");
  return 1;
}

/*
** Does PROGRAM go on after a failure of a process or, if NODE is set, of a node?  CALM is the output of an undisturbed
** run, or NULL for a program that only sleeps on VICTIM among others.
*/
static int test_system_fail(test_system* t, const char* program, int node, const char* victim, const char* calm)
{
  char        dir[SCR_MAX_FILENAME];
  system_task task[2];
  int         i, rc = scr_fmt(dir, sizeof dir, "%s/%s", t->work, test_system_runs[1 + node]);

  memset(task, 0, sizeof task);
  t->killed = t->returned = 0;
  if (node && !t->json) printf("         killing a node: if nothing follows, the job script does not survive that\n");
  fflush(stdout);
  if (rc == SCR_SUCCESS) rc = test_system_cycle(t, dir, program, node ? t->kill : "", victim, task);
  if (rc == SCR_SUCCESS && test_system_failure(t, dir, task, node)) {
    if (calm != NULL) test_system_restart(t, node ? "restart elsewhere" : "restart", dir, &task[0], calm);
    else if (t->returned <= 0)
      test_system_say(t, TEST_SYSTEM_UNKNOWN, "run again", "--program tests it with MPI", "there was no second run");
    else if (strstr(system_text(&task[0]), ": run 2, ") != NULL && task[0].status == 0)
      test_system_say(t, TEST_SYSTEM_OK, "run again", NULL, "a second run, without the node, has ended well");
    else {
      test_system_say(t, TEST_SYSTEM_FAILED, "run again",
                      test_system_elsewhere(t, "allocate a node more than a run uses"),
                      "there was no second run, or it failed; its output is in %s.log", dir);
      t->keep = 1;
    }
  }
  for (i = 0; i < 2; i++) scr_buf_free(&task[i].out);
  return rc;
}

/* Run the program undisturbed, and with each failure. */
static int test_system_program(test_system* t)
{
  char        dir[SCR_MAX_FILENAME];
  system_task calm[2];
  int         made, rc = scr_fmt(dir, sizeof dir, "%s/%s", t->work, test_system_runs[0]);

  memset(calm, 0, sizeof calm);
  if (rc == SCR_SUCCESS) rc = test_system_cycle(t, dir, t->program, NULL, NULL, calm);
  made = rc == SCR_SUCCESS && parts_has_checkpoint(dir);
  if (rc == SCR_SUCCESS && (calm[0].status != 0 || !made)) {
    test_system_say(t, TEST_SYSTEM_FAILED, "program", "it has to end with 0 and to write checkpoints by the library",
                    "the undisturbed run ended with exit code %d and %s; its output is in %s.log", calm[0].status,
                    made ? "checkpoints" : "no checkpoint", dir);
    t->keep = 1;
  } else if (rc == SCR_SUCCESS) {
    if (t->answer != NULL && test_system_compare(t, system_text(&calm[0]), system_text(&calm[0])) < 0)
      test_system_say(t, TEST_SYSTEM_FAILED, "program", "--answer is an extended regular expression",
                      "its output has nothing that matches %.200s", t->answer);
    rc = test_system_fail(t, t->program, 0, "", system_text(&calm[0]));
    if (rc == SCR_SUCCESS && t->kill != NULL) rc = test_system_fail(t, t->program, 1, "", system_text(&calm[0]));
  }
  scr_buf_free(&calm[0].out);
  return rc;
}

/* Kill a node while processes only sleep: the program is not given. */
static int test_system_bare(test_system* t)
{
  static const char asleep[] = "sh -c 'h=$(uname -n); [ ! -e killed ] || exit 0; : >up.${h%%.*}.$$; exec sleep 3600'";
  const char*       victim = NULL;
  int               i;

  for (i = 0; i < t->used.n; i++)
    if (!system_is_here(t->used.name[i])) victim = t->used.name[i];
  if (victim != NULL) return test_system_fail(t, asleep, 1, victim, NULL);
  test_system_say(t, TEST_SYSTEM_UNKNOWN, "node death", "it needs other nodes than this one", "no node was killed");
  return SCR_SUCCESS;
}

/* What to set so that the job script survives the failure of a node. */
static const char* test_system_survival(void)
{
  static const char* const advice[] = {
      NULL,
      "--kill-node tests it; SLURM lets a job go on that was submitted with --no-kill, and starts one again that was "
      "submitted with --requeue",
      "--kill-node tests it; PBS lets a job go on that was submitted with -W tolerate_node_failures=all",
      "--kill-node tests it; LSF lets a job go on in an application profile with DJOB_COMMFAIL_ACTION=KILL_TASKS",
      "--kill-node tests it; ask those who run Flux"};
  return advice[system_manager(NULL)];
}

/* Say what is not tested. */
static void test_system_rest(test_system* t)
{
  if (t->kill == NULL && system_manager(NULL) == SYSTEM_NONE)
    test_system_say(t, TEST_SYSTEM_OK, "job script", NULL, "no resource manager ends it when a node fails");
  else if (t->kill == NULL)
    test_system_say(t, TEST_SYSTEM_UNKNOWN, "job script", test_system_survival(), "does it survive a node?");
  if (t->kill == NULL)
    test_system_say(t, TEST_SYSTEM_UNKNOWN, "node death", "--kill-node is a command that makes a node fail",
                    "does %s return, and do the commands find the node?", test_system_launcher(t));
  if (t->program == NULL)
    test_system_say(t, TEST_SYSTEM_UNKNOWN, "restart", "--program names an MPI program that uses the library",
                    "does a program go on from its checkpoint after a failure?");
}

/* ---- the whole ---- */

/* All tests, in the order in which one needs the other. */
static int test_system_all(test_system* t)
{
  const char* verbose[] = {NULL};
  char*       out = NULL;
  int         processes = 0, status = system_run_sibling("scr_test_runtime", verbose, 1, SYSTEM_SECONDS, &out), rc;

  if (out != NULL) out[strcspn(out, "\n")] = '\0';
  if (status == 0) test_system_say(t, TEST_SYSTEM_OK, "programs", NULL, "those that the commands call are here");
  else test_system_say(t, TEST_SYSTEM_FAILED, "programs", "install it, or set PATH", "%.500s", out != NULL ? out : "");
  scr_free(&out);
  rc = test_system_nodes(t);
  if (rc == SCR_SUCCESS) test_system_batch_host(t);
  if (rc == SCR_SUCCESS) rc = test_system_job_end(t);
  if (rc == SCR_SUCCESS) rc = test_system_start(t, &processes);
  t->processes = processes;
  if (rc == SCR_SUCCESS && processes > 0 && t->program == NULL) rc = test_system_death(t, processes);
  if (rc == SCR_SUCCESS && processes > 0) rc = test_system_avoid(t);
  if (rc == SCR_SUCCESS && processes > 0 && t->program != NULL) rc = test_system_program(t);
  else if (rc == SCR_SUCCESS && processes > 0 && t->kill != NULL) rc = test_system_bare(t);
  if (rc == SCR_SUCCESS) test_system_rest(t);
  return rc;
}

/* Print what the nodes have measured, as a list of objects. */
static void test_system_print_measures(const test_system* t)
{
  int i, n = 0;

  printf(", \"measured\": [");
  for (i = 0; i < t->nodes.n * t->ndirs; i++) {
    const test_system_measure* m = &t->measure[i];
    if (m->write <= 0 || m->read <= 0) continue;
    printf("%s\n    {\"host\": ", n++ > 0 ? "," : "");
    tool_print_json(t->nodes.name[i / t->ndirs]);
    printf(", \"directory\": ");
    tool_print_json(test_system_shown(t, i % t->ndirs));
    printf(", \"write\": %.0f, \"read\": %.0f, \"free\": %.0f}", (double)t->size / m->write, (double)t->size / m->read,
           m->free);
  }
  printf("]");
}

/* Make the work directory.  What others give its name later is not removed at the end: see scr_fence_pin. */
static int test_system_make(test_system* t)
{
  DIR* d = NULL;
  int  fd, rc;

  if (scr_os.mkdir(t->work, 0700) < 0) return SCR_ERRNO("cannot make the directory %s", t->work);
  fd = scr_os.open(t->work, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
  if (fd < 0 || (d = fdopendir(dup(fd))) == NULL) rc = SCR_ERRNO("cannot open the directory %s", t->work);
  else if (!scr_dir_is_empty(d)) rc = SCR_ERR(SCR_ERR_UNSAFE, "another directory has the name of %s now", t->work);
  else rc = SCR_SUCCESS;
  if (d != NULL) closedir(d);
  if (rc == SCR_SUCCESS) scr_fence_pin(&scr_fence_target, t->work, fd);
  else if (fd >= 0) scr_os.close(fd);
  return rc;
}

/* Find the nodes and the directories, run the tests, and clean up.  Returns the exit code. */
static int test_system_run(const char* argv0, test_system* t, const char* hosts_file)
{
  scr_err_record why;
  char*          all = NULL;
  int i, passed = 0, rc = hosts_file != NULL ? hosts_read_file(&t->nodes, hosts_file) : system_nodes(&t->nodes);

  if (rc == SCR_SUCCESS && t->nodes.n == 0) rc = SCR_ERR(SCR_ERR_ARG, "there are no nodes to test");
  if (rc == SCR_SUCCESS) rc = hosts_compress(&t->nodes, &all);
  if (rc == SCR_SUCCESS && setenv("SCR_NODELIST", all, 1) < 0) rc = SCR_ERR_OOM();
  scr_free(&all);
  snprintf(t->tag, sizeof t->tag, "scr_test_system.%lx.%lx", (unsigned long)time(NULL), (unsigned long)getpid());
  if (rc == SCR_SUCCESS) rc = dirs_walk(t->params, 0, test_system_visit_cntl, t);
  if (rc == SCR_SUCCESS) rc = dirs_walk(t->params, 1, test_system_visit_cache, t);
  if (rc == SCR_SUCCESS) rc = scr_fmt(t->work, sizeof t->work, "%s/%s", t->prefix, t->tag);
  if (rc == SCR_SUCCESS) rc = test_system_make(t);
  if (rc == SCR_SUCCESS) rc = test_system_add_dir(t, t->work, "prefix");
  t->node = (test_system_node*)scr_malloc(((size_t)t->nodes.n + 1) * sizeof *t->node);
  t->measure = (test_system_measure*)scr_malloc(((size_t)t->nodes.n * (size_t)t->ndirs + 1) * sizeof *t->measure);
  if (rc == SCR_SUCCESS && (t->node == NULL || t->measure == NULL)) rc = SCR_ERR_OOM();
  if (rc == SCR_SUCCESS) {
    if (t->json) printf("{\"checks\": [");
    rc = test_system_all(t);
    passed = rc == SCR_SUCCESS && t->count[TEST_SYSTEM_FAILED] == 0;
    scr_err_save(&why);
    test_system_run_part(t, "remove", 0);
    scr_err_restore(&why);
    if (chdir("/") == 0 && !t->keep) scr_tree_remove(t->work);
    if (t->json) printf("]");
    if (t->json) test_system_print_measures(t);
    printf(t->json ? ", \"ok\": %d, \"failed\": %d, \"unknown\": %d, \"passed\": %s}\n"
                   : "%d ok, %d failed, %d unknown\n%s\n",
           t->count[0], t->count[1], t->count[2],
           t->json  ? passed ? "true" : "false"
           : passed ? "PASSED"
                    : "FAILED");
  }
  for (i = 0; t->measure != NULL && i < t->nodes.n * t->ndirs; i++) scr_free(&t->measure[i].error);
  for (i = 0; i < t->ndirs; i++) scr_free(&t->dir[i].path);
  scr_free(&t->measure);
  scr_free(&t->node);
  scr_free(&t->dir);
  hosts_free(&t->nodes);
  hosts_free(&t->down);
  hosts_free(&t->used);
  if (rc != SCR_SUCCESS) return tool_fail(argv0, 2, scr_err_text);
  return fflush(stdout) == 0 ? !passed : 2;
}

/* LINE, a line for the shell, with the absolute path of its first word, if that is a relative one; the caller frees. */
static char* test_system_absolute(const char* line)
{
  char  word[SCR_MAX_FILENAME];
  char *real = NULL, *whole;
  int   n = 0;

  if (sscanf(line, " %1023s%n", word, &n) == 1 && *word != '/' && strchr(word, '/') != NULL)
    real = realpath(word, NULL);
  whole = real != NULL ? scr_strdupf("%s%s", real, line + n) : scr_strdup(line);
  free(real);
  return whole;
}

/* Take the words behind the options, or else choose a launcher.  Returns NULL, or what is wrong. */
static const char* test_system_choose(test_system* t, int argc, char** argv)
{
  launcher* l = &t->launch;
  regex_t   re;

  if (l->template_ != NULL && strstr(l->template_, "{np}") != NULL && l->np == NULL)
    return "--launcher with {np} needs --np";
  if (l->template_ == NULL) {
    l->name = argc > 0 ? argv[0] : system_manager(NULL) == SYSTEM_SLURM ? "srun" : launch_mpiexec();
    argv += argc > 0;
    argc -= argc > 0;
  }
  l->words = argv;
  l->nwords = argc;
  if (t->answer != NULL && t->program == NULL) return "--answer needs --program";
  if (t->answer == NULL) return NULL;
  if (regcomp(&re, t->answer, REG_EXTENDED | REG_NEWLINE) != 0) return "--answer needs an extended regular expression";
  regfree(&re);
  return NULL;
}

enum {
  TEST_SYSTEM_HOSTS = 2000,
  TEST_SYSTEM_LAUNCHER,
  TEST_SYSTEM_NP,
  TEST_SYSTEM_PROGRAM,
  TEST_SYSTEM_ANSWER,
  TEST_SYSTEM_KILL,
  TEST_SYSTEM_TIMEOUT,
  TEST_SYSTEM_PART
};

static const struct option test_system_options[] = {{"prefix", required_argument, NULL, 'p'},
                                                    {"hosts", required_argument, NULL, TEST_SYSTEM_HOSTS},
                                                    {"launcher", required_argument, NULL, TEST_SYSTEM_LAUNCHER},
                                                    {"np", required_argument, NULL, TEST_SYSTEM_NP},
                                                    {"program", required_argument, NULL, TEST_SYSTEM_PROGRAM},
                                                    {"answer", required_argument, NULL, TEST_SYSTEM_ANSWER},
                                                    {"kill-node", required_argument, NULL, TEST_SYSTEM_KILL},
                                                    {"size", required_argument, NULL, 's'},
                                                    {"bytes", required_argument, NULL, 'b'},
                                                    {"timeout", required_argument, NULL, TEST_SYSTEM_TIMEOUT},
                                                    {"verbose", no_argument, NULL, 'v'},
                                                    {"json", no_argument, NULL, 'j'},
                                                    {"part", no_argument, NULL, TEST_SYSTEM_PART},
                                                    TOOL_OPTIONS,
                                                    {NULL, 0, NULL, 0}};

/* Enter the option C with its argument ARG.  Returns 1, 0 if it is none of ours, or -1 if ARG is not valid. */
static int test_system_enter(test_system* t, int c, const char* arg, const char** hosts_file)
{
  int ok = 1;

  switch (c) {
  case 'p':
    t->prefix = arg;
    break;
  case TEST_SYSTEM_HOSTS:
    *hosts_file = arg;
    break;
  case TEST_SYSTEM_LAUNCHER:
    t->launch.template_ = arg;
    break;
  case TEST_SYSTEM_NP:
    t->launch.np = arg;
    break;
  case TEST_SYSTEM_PROGRAM:
    t->program = arg;
    break;
  case TEST_SYSTEM_ANSWER:
    t->answer = arg;
    break;
  case TEST_SYSTEM_KILL:
    t->kill = arg;
    break;
  case 's':
    ok = scr_str_bytes(arg, &t->size) == SCR_SUCCESS && t->size > 0;
    break;
  case 'b':
    ok = scr_str_bytes(arg, &t->bytes) == SCR_SUCCESS && t->bytes > 0;
    break;
  case TEST_SYSTEM_TIMEOUT:
    ok = tool_number(arg, 1, 86400, &t->timeout);
    break;
  case 'v':
    t->verbose = 1;
    break;
  case 'j':
    t->json = 1;
    break;
  default:
    return 0;
  }
  return ok ? 1 : -1;
}

/* Make the prefix directory and the commands of T absolute, as the runs have other working directories. */
static int test_system_prepare(test_system* t, scr_hash** params)
{
  const char* shell = system_env("SCR_REMOTE_SHELL");
  char*       absolute;

  if ((t->prefix = tool_real(t->prefix)) == NULL) return SCR_ERR_IO;
  if ((*params = tool_params(t->prefix)) == NULL) return SCR_ERR_PARAM;
  t->params = *params;
  if (t->program != NULL && (t->program = test_system_absolute(t->program)) == NULL) return SCR_ERR_OOM();
  if (t->kill != NULL && (t->kill = test_system_absolute(t->kill)) == NULL) return SCR_ERR_OOM();
  if (t->launch.name != NULL && (t->launch.name = test_system_absolute(t->launch.name)) == NULL) return SCR_ERR_OOM();
  if (launch_prepare(&t->launch) != SCR_SUCCESS) return SCR_ERR_OOM();
  if (shell == NULL) return SCR_SUCCESS;
  if ((absolute = test_system_absolute(shell)) == NULL || setenv("SCR_REMOTE_SHELL", absolute, 1) < 0)
    return SCR_ERR_OOM();
  scr_free(&absolute);
  return SCR_SUCCESS;
}

SCR_FN int test_system_main(int argc, char** argv)
{
  test_system*     t = &test_system_now;
  struct sigaction act;
  const char *     hosts_file = NULL, *wrong;
  scr_hash*        params = NULL;
  int              c, entered, code;

  memset(t, 0, sizeof *t);
  t->prefix = tool_prefix();
  t->size = 64 << 20;
  t->timeout = 300;
  while ((c = getopt_long(argc, argv, "+p:s:b:vjh", test_system_options, NULL)) != -1) {
    if (c == TEST_SYSTEM_PART && optind < argc) return parts_run(argc - optind, argv + optind);
    if ((entered = test_system_enter(t, c, optarg, &hosts_file)) == 0)
      return tool_answer(c, argv[0], test_system_usage, 2);
    if (entered < 0)
      return tool_usage(argv[0], test_system_usage, 2, "--size, --bytes and --timeout need a number above 0");
  }
  memset(&act, 0, sizeof act);
  act.sa_handler = test_system_on_signal;
  sigaction(SIGTERM, &act, NULL);
  sigaction(SIGINT, &act, NULL);
  sigaction(SIGHUP, &act, NULL);
  if ((wrong = test_system_choose(t, argc - optind, argv + optind)) != NULL)
    return tool_usage(argv[0], test_system_usage, 2, wrong);
  if (test_system_prepare(t, &params) != SCR_SUCCESS) code = tool_fail(argv[0], 2, scr_err_text);
  else code = test_system_run(argv[0], t, hosts_file);
  scr_hash_delete(&params);
  return code;
}

TOOL_MAIN(test_system_main)
