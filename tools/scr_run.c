/* scr_run, scr_srun, scr_mpirun - run a program in an allocation, again after failures, and save what it leaves. */
#include "halt.h"
#include "launch.h"
#include "restart.h"
#include "transfer.h"

/* The usage of each of the three names. */
#define RUN_USAGE(arguments)                                                                                           \
  arguments                                                                                                            \
      "Run a program on the nodes of an allocation.  When it fails, find the nodes that do not work, leave them out "  \
      "for\n"                                                                                                          \
      "the rest of the allocation, and run it again on the others; at last copy the newest checkpoint from the "       \
      "caches "                                                                                                        \
      "to\n"                                                                                                           \
      "the prefix directory, unless it is there.\n"                                                                    \
      "\n"                                                                                                             \
      "  -p, --prefix DIR         the prefix directory; default: SCR_PREFIX, or else the working directory\n"          \
      "      --runs N             at most N runs, -1 for any number; default: SCR_RUNS, or else 1\n"                   \
      "      --min-nodes N        the nodes that a run needs; default: SCR_MIN_NODES, or else those of the run "       \
      "before,\n"                                                                                                      \
      "                           or those that the launcher's arguments ask for\n"                                    \
      "      --wait N             seconds between two runs; default: SCR_RUN_WAIT, or else 60\n"                       \
      "      --watchdog           end a run that makes no progress, as scr_watchdog --help says; also "                \
      "SCR_WATCHDOG=1\n"                                                                                               \
      "      --hosts FILE         the nodes are those of this file of hosts\n"                                         \
      "      --launcher COMMAND   the launcher, for the shell, in which {nodes} is a list of hosts with commas, and "  \
      "{np}\n"                                                                                                         \
      "                           the number of --np; the program and its arguments follow\n"                          \
      "      --np N               processes, for --launcher\n"                                                         \
      "  -rc, --run-cmd C         the program and its arguments as one line for the shell, behind those of the "       \
      "launcher\n"                                                                                                     \
      "  -rs, --restart-cmd C     the same, if there is a checkpoint to restart from: its name replaces "              \
      "SCR_CKPT_NAME\n"                                                                                                \
      "  -h, --help               print this and exit;  --version  print the version and exit\n"                       \
      "\n"                                                                                                             \
      "srun gets --exclude with the nodes that do not work, and SLURM_KILL_BAD_EXIT=1 unless it is set, so that it "   \
      "ends a\n"                                                                                                       \
      "run when one of its processes dies; mpiexec gets -hosts (Open MPI's: --host) with the nodes that work; unless " \
      "their\n"                                                                                                        \
      "arguments name hosts.  Spare nodes of the allocation take part when others fail.  A run that ends with 0, or "  \
      "for which "                                                                                                     \
      "scr_halt set\n"                                                                                                 \
      "a condition, is the last.  SIGTERM, SIGINT and SIGHUP end it: the launcher gets SIGTERM, and after "            \
      "SCR_RUN_GRACE\n"                                                                                                \
      "seconds (60) SIGKILL; then scr_run saves what it left.  The program gets the signals of SCR_SIGNALS.  Before "  \
      "the\n"                                                                                                          \
      "first run, a checkpoint is saved that the last one left in caches, unless this one has the same nodes.\n"       \
      "After SCR_RUN_LOOPS runs (2; 0: any number) that failed without a newer checkpoint, on nodes that work, the "   \
      "next\n"                                                                                                         \
      "one starts from an older one; if that gets no further, the job ends.\n"                                         \
      "With SCR_ENABLE=0 the program only runs once.\n"                                                                \
      "Exit 0 if the program is done; 3 if it was halted, by a condition or a signal, and is to be submitted again; "  \
      "4\n"                                                                                                            \
      "if it is done, but what it left could not be saved; 1 if there was no run, 2 if the arguments are wrong, "      \
      "else\n"                                                                                                         \
      "with the exit code of the last run.\n"

static const char run_usage[] = RUN_USAGE("scr_run [OPTIONS] LAUNCHER ARGUMENTS...\n");
static const char run_usage_srun[] = RUN_USAGE("scr_srun [OPTIONS] ARGUMENTS OF SRUN...\n");
static const char run_usage_mpirun[] = RUN_USAGE("scr_mpirun [OPTIONS] ARGUMENTS OF MPIEXEC...\n");

#define RUN_STEP_SECONDS  30  /* until the job step of a launcher shows up */
#define RUN_TEST_SECONDS  900 /* for the tests of all nodes */

#define RUN_HALTED        3  /* the exit code: to be submitted again */
#define RUN_UNSAVED       4  /* the exit code: done, but what it has left could not be saved */
#define RUN_GRACE_SECONDS 60 /* for a program to end, after a signal that ends us */

typedef struct {
  const char *prefix, *hosts_file, *run_cmd, *restart_cmd;
  int64_t     runs, min_nodes, wait, grace, loops; /* runs: -1 for any number; min_nodes 0: not given; -2: not given */
  int         watchdog;
  launcher    launch; /* with the program behind its arguments, unless run_cmd has it */
  const char* usage;
  scr_hash*   params;
  hosts       nodes, down; /* of the allocation; and those of them that have failed at any time */
  double      start;
  struct stat recorded; /* the nodes file before the first run; all zeros if there was none */
  int         asked;    /* 1: a signal of SCR_SIGNALS has asked the program to end */
  int         ran;      /* 1: there was a run */
  int         used;     /* 1: the last one has used the prefix */
  int         idle;     /* runs, the last ones, that have not */
  int         far;      /* the number of the newest checkpoint that a run has written, */
  int         far_id;   /* its id, */
  int         tried;    /* how many runs have failed without a newer one, */
  int         back;     /* and the id of the older checkpoint that this one is to start from; 0: from the newest */
} run_job;

static volatile sig_atomic_t run_signal; /* that has asked us to end; 0: none */
static volatile sig_atomic_t run_other;  /* another signal, between two runs; 0: none */

static int run_signal_ends(int number)
{
  return number == SIGTERM || number == SIGINT || number == SIGHUP;
}

/* A signal, while no run goes on. */
static void run_on_signal(int number)
{
  if (run_signal_ends(number)) run_signal = number;
  else run_other = number;
}

/* Print a line about a step, with the time. */
static SCR_FORMAT(1, 2) void run_say(const char* format, ...)
{
  char    now[32], text[SCR_ERR_TEXT_MAX];
  va_list ap;

  va_start(ap, format);
  vsnprintf(text, sizeof text, format, ap);
  va_end(ap);
  scr_time_string(time(NULL), now, sizeof now);
  printf("scr_run: %s: ", now);
  tool_print_line(text);
  fflush(stdout);
}

/* Log EVENT, after SECONDS, with a note, if logging is on; a log that fails is only reported. */
static SCR_FORMAT(4, 5) void run_log(const run_job* j, const char* event, double seconds, const char* format, ...)
{
  log_writer      w;
  scr_log_dataset d = {0, NULL, seconds};
  char            note[SCR_ERR_TEXT_MAX];
  va_list         ap;
  int             rc = log_open(&w, j->params, j->prefix);

  va_start(ap, format);
  vsnprintf(note, sizeof note, format, ap);
  va_end(ap);
  if (rc == SCR_SUCCESS) rc = scr_log_event(&w.log, event, note, &d);
  scr_log_end(&w.log);
  if (rc != SCR_SUCCESS) scr_warn("%s", scr_err_text);
}

/* ---- other commands ---- */

/*
** Run the command NAME of this program with ARGUMENTS, which end with NULL.  ENDS: 1 if SIGTERM and SIGHUP end
** it, 0 if it ignores them.  Returns its exit code.
*/
static int run_command(const char* name, const char* const* arguments, int ends)
{
  char        path[SCR_MAX_FILENAME];
  const char* argv[SYSTEM_WORDS];
  pid_t       pid;
  int         status = 0;

  system_sibling_line(name, arguments, path, argv);
  fflush(stdout);
  if ((pid = fork()) == 0) {
    if (!ends) signal(SIGTERM, SIG_IGN);
    if (!ends) signal(SIGHUP, SIG_IGN);
    execvp(path, (char* const*)(uintptr_t)argv);
    _exit(127);
  }
  while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  return pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 127;
}

/* ---- nodes ---- */

/* Add the host that LINE, `host: reason`, begins with to the nodes that are down, and print it, unless it is known. */
static int run_note_down(run_job* j, const char* line)
{
  hosts one = {NULL, 0}, fresh = {NULL, 0};
  char  name[HOSTS_NAME_MAX];
  int   rc = SCR_SUCCESS;

  if (sscanf(line, "%255[^:]:", name) != 1) return SCR_SUCCESS;
  rc = hosts_add(&one, name);
  if (rc == SCR_SUCCESS) rc = hosts_select(&fresh, &one, &j->down, 0);
  if (rc == SCR_SUCCESS && fresh.n > 0) {
    run_say("node %.*s", (int)strcspn(line, "\n"), line);
    run_log(j, "NODE_FAIL", scr_wtime() - j->start, "%.*s", (int)strcspn(line, "\n"), line);
    rc = hosts_add(&j->down, name);
  }
  hosts_free(&one);
  hosts_free(&fresh);
  return rc;
}

/* Find out which nodes do not work; one that has failed once stays out.  FIRST: the run to come is the first. */
static int run_find_down(run_job* j, int first)
{
  const char* arguments[8];
  char *      known = NULL, *all = NULL, *out = NULL;
  const char* line;
  int         n = 0, code, rc = hosts_compress(&j->down, &known);

  if (rc == SCR_SUCCESS) rc = hosts_compress(&j->nodes, &all);
  arguments[n++] = "--reason";
  if (first) arguments[n++] = "--free";
  if (j->down.n > 0) arguments[n++] = "--down";
  if (j->down.n > 0) arguments[n++] = known;
  arguments[n++] = all;
  arguments[n] = NULL;
  if (rc == SCR_SUCCESS) {
    code = system_run_sibling("scr_list_down_nodes", arguments, 0, RUN_TEST_SECONDS, &out);
    if (code != 0 && code != 1) run_say("the nodes could not be tested; those that seemed to work are used");
    for (line = code == 1 ? out : NULL; line != NULL && *line != '\0' && rc == SCR_SUCCESS; line += *line == '\n') {
      rc = run_note_down(j, line);
      line += strcspn(line, "\n");
    }
  }
  scr_free(&known);
  scr_free(&all);
  scr_free(&out);
  return rc;
}

/* What PREFIX has as nodes file; all zeros if it has none. */
static struct stat run_recorded(const char* prefix)
{
  char        path[SCR_MAX_FILENAME];
  struct stat st;

  if (scr_record_path(prefix, "nodes.scr", path, sizeof path) != SCR_SUCCESS || stat(path, &st) < 0)
    memset(&st, 0, sizeof st);
  return st;
}

/*
** The number of nodes that a run needs: those of the run before, if one of this scr_run has written the nodes file; of
** an earlier job, it may tell of nodes that this one does not have.
*/
static int64_t run_need(const run_job* j)
{
  struct stat now = run_recorded(j->prefix);
  int64_t     asked = launch_nodes(&j->launch);
  int         n = 0;

  if (j->min_nodes > 0) return j->min_nodes;
  if ((now.st_ino != j->recorded.st_ino || now.st_mtime != j->recorded.st_mtime) &&
      scr_nodes_file_read(j->prefix, &n) == SCR_SUCCESS && n > 0 && n <= j->nodes.n)
    return n;
  return asked > 0 ? asked : 1;
}

/* Returns 1 if enough nodes work for run NUMBER; UP receives them. */
static int run_has_nodes(run_job* j, int number, hosts* up)
{
  int64_t need = run_need(j);
  int     i;

  if (run_find_down(j, number == 1) != SCR_SUCCESS || hosts_select(up, &j->nodes, &j->down, 0) != SCR_SUCCESS) {
    run_say("%s", scr_err_text);
    return 0;
  }
  for (i = 0; i < j->down.n; i++)
    if (system_is_here(j->down.name[i])) {
      run_say("this node does not work; there is no other run");
      return 0;
    }
  if (up->n < need) run_say("%d nodes work, and a run needs %lld", up->n, (long long)need);
  return up->n >= need;
}

/* ---- the line that starts a run ---- */

/*
** Append the line of --restart-cmd, if there is a checkpoint to restart from, or else of --run-cmd.  If nobody can
** tell, that is an error: the program would begin anew beside its work.
*/
static int run_add_command(const run_job* j, scr_buf* b)
{
  restart_ckpt c;
  scr_buf      name = {NULL, 0, 0, 0};
  int          rc = SCR_SUCCESS;

  memset(&c, 0, sizeof c);
  if (j->restart_cmd != NULL) rc = restart_find(j->prefix, &c);
  if (rc == SCR_SUCCESS && c.id != 0) {
    launch_add_name(&name, c.name);
    scr_buf_add(&name, "", 1);
    b->failed |= name.failed;
    if (!name.failed) launch_add_replaced(b, j->restart_cmd, "SCR_CKPT_NAME", name.p);
  } else if (rc == SCR_SUCCESS && j->run_cmd != NULL) {
    launch_add(b, j->run_cmd);
  }
  scr_buf_free(&name);
  return rc;
}

/* Set *LINE, which the caller frees, to the line of the shell that starts run NUMBER on the nodes UP. */
static int run_line(const run_job* j, int number, const hosts* up, char** line)
{
  scr_buf b = {NULL, 0, 0, 0};
  int     rc;

  if (j->launch.name != NULL && launch_names_hosts(&j->launch) && j->down.n > 0)
    run_say("the arguments of %s name hosts; nodes that do not work are not left out", j->launch.name);
  rc = launch_line(&j->launch, number, up, &j->down, &b);
  if (rc == SCR_SUCCESS) rc = run_add_command(j, &b);
  if (b.n > 0 && !b.failed) b.p[b.n - 1] = '\0'; /* in place of the last blank */
  *line = b.p;
  return rc == SCR_SUCCESS && b.failed ? SCR_ERR_OOM() : rc;
}

/* ---- a run ---- */

/* Start the watchdog over the job step that the process RUN has started.  Returns its process; -1 if there is none. */
static pid_t run_start_watchdog(const run_job* j, pid_t run)
{
  char        path[SCR_MAX_FILENAME], id[64];
  const char* argv[] = {path, "--dir", j->prefix, "--jobStepId", id, "--launcher", NULL, NULL};
  double      end = scr_wtime() + RUN_STEP_SECONDS;
  pid_t       pid;
  system_kind manager = system_manager(NULL);
  int         steps = (launch_is(&j->launch, "srun") && manager == SYSTEM_SLURM) ||
              (launch_is(&j->launch, "flux") && manager == SYSTEM_FLUX);
  int rc = SCR_ERR_NOT_FOUND;

  argv[6] = !steps ? "mpiexec" : manager == SYSTEM_FLUX ? "flux" : "srun";
  if (!steps) rc = scr_fmt(id, sizeof id, "%ld", (long)run);
  while (rc == SCR_ERR_NOT_FOUND && scr_wtime() < end && system_is_alive(run)) {
    usleep(500000); /* the step shows up a little later than the process */
    rc = system_step_find(run, id, sizeof id);
  }
  if (rc != SCR_SUCCESS) {
    if (system_is_alive(run)) run_say("there is no watchdog over this run: %s", scr_err_text);
    return -1;
  }
  system_sibling("scr_watchdog", path, sizeof path);
  fflush(stdout);
  if ((pid = fork()) == 0) {
    execvp(path, (char* const*)(uintptr_t)argv);
    _exit(127);
  }
  return pid;
}

/* What the signal NUMBER asks the program for, as SCR_SIGNALS says; 0: it does not name it. */
static int run_wishes(const run_job* j, int number)
{
  const char* text = scr_param_get(j->params, "SCR_SIGNALS");
  int         of, wishes;

  while (text != NULL && scr_param_signal(&text, &of, &wishes) > 0)
    if (of == number) return wishes;
  return 0;
}

/* Send the signal NAME to the job step of the launcher PID.  Returns 0 if that is not srun in a job of SLURM. */
static int run_signal_step(const run_job* j, pid_t pid, const char* name)
{
  char id[64], *line = NULL, *answer = NULL;
  int  sent = 0;

  if (!launch_is(&j->launch, "srun") || system_manager(NULL) != SYSTEM_SLURM) return 0;
  if (system_step_find(pid, id, sizeof id) == SCR_SUCCESS && (line = scr_strdupf("scancel -s %s %s", name, id)) != NULL)
    sent = system_ask(line, &answer) == SCR_SUCCESS;
  scr_free(&line);
  scr_free(&answer);
  return sent;
}

/*
** The signal NUMBER has come while the launcher PID runs.  Those of SCR_SIGNALS go to the program: launchers pass them
** on, but for srun, which takes those that end it for an order to kill the program.  Any that ends us sets *END, the
** time at which the launcher is killed.
*/
static void run_take(run_job* j, pid_t pid, int number, double* end)
{
  int i, wishes = run_wishes(j, number), ends = run_signal_ends(number);

  for (i = 0; i < SCR_NSIGNALS && scr_signals[i].number != number; i++) continue;
  if (!wishes && !ends) {
    run_say("signal %s has come, and nothing is done, because SCR_SIGNALS does not name it", scr_signals[i].name);
    return;
  }
  if (wishes & SCR_WISH_HALT) j->asked = 1;
  if (ends) run_signal = number;
  if (ends && *end == 0) *end = scr_wtime() + (double)j->grace;
  if (ends)
    run_say("signal %s: the program gets %s, and has %lld s to end", scr_signals[i].name, wishes ? "it" : "SIGTERM",
            (long long)j->grace);
  if (!(wishes && ends && run_signal_step(j, pid, scr_signals[i].name))) kill(pid, wishes ? number : SIGTERM);
}

/* The signals that we take: those that end us, those that batch systems send, and those of SCR_SIGNALS. */
static void run_signals(const run_job* j, sigset_t* set)
{
  static const int always[] = {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2};
  size_t           i;

  sigemptyset(set);
  for (i = 0; i < sizeof always / sizeof *always; i++) sigaddset(set, always[i]);
  for (i = 0; i < SCR_NSIGNALS; i++)
    if (run_wishes(j, scr_signals[i].number)) sigaddset(set, scr_signals[i].number);
}

/* Catch the signals that we take, but for those that whoever started us has turned off, as nohup does. */
static void run_catch(const run_job* j)
{
  struct sigaction act, old;
  sigset_t         set;
  int              i;

  run_signals(j, &set);
  memset(&act, 0, sizeof act);
  act.sa_handler = run_on_signal;
  for (i = 0; i < SCR_NSIGNALS; i++) {
    int number = scr_signals[i].number;
    if (sigismember(&set, number) && sigaction(number, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
      sigaction(number, &act, NULL);
  }
}

/* Wait for the launcher PID, and take the signals SET, which are blocked.  Returns its status as waitpid does. */
static int run_wait(run_job* j, pid_t pid, const sigset_t* set)
{
  const struct timespec second = {1, 0};
  double                end = 0;
  int                   number, status = 0;

  if (run_signal) run_take(j, pid, run_signal, &end); /* it came before */
  while (waitpid(pid, &status, WNOHANG) == 0) {
    number = sigtimedwait(set, NULL, &second);
    if (number > 0 && number != SIGCHLD) run_take(j, pid, number, &end);
    if (end == 0 || scr_wtime() < end) continue;
    run_say("the program has not ended within %lld s; it is killed", (long long)j->grace);
    run_signal_step(j, pid, "KILL");
    kill(pid, SIGKILL);
    end = scr_wtime() + 3600;
  }
  return status;
}

/* Run LINE of the shell.  Returns its exit code; 128 and the signal that ended it. */
static int run_program(run_job* j, const char* line)
{
  char*    command = scr_strdupf("exec %s", line);
  sigset_t set, before;
  pid_t    pid, watchdog = -1;
  int      status = 0;

  if (command == NULL) return 127;
  fflush(stdout);
  run_signals(j, &set);
  sigaddset(&set, SIGCHLD);
  sigprocmask(SIG_BLOCK, &set, &before);
  if ((pid = fork()) == 0) {
    sigprocmask(SIG_SETMASK, &before, NULL);
    execl("/bin/sh", "sh", "-c", command, (char*)NULL);
    _exit(127);
  }
  if (pid > 0 && j->watchdog) watchdog = run_start_watchdog(j, pid);
  if (pid > 0) status = run_wait(j, pid, &set);
  sigprocmask(SIG_SETMASK, &before, NULL);
  if (watchdog > 0) {
    kill(watchdog, SIGKILL);
    while (waitpid(watchdog, NULL, 0) < 0 && errno == EINTR) continue;
  }
  scr_free(&command);
  return pid < 0 ? 127 : WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Run the program on the nodes UP.  Returns its exit code. */
static int run_once(run_job* j, int number, const hosts* up)
{
  char*  line = NULL;
  char   before[SCR_TOKEN_MAX], after[SCR_TOKEN_MAX];
  double start = scr_wtime();
  int    code = 1;

  j->used = 0;
  scr_token_read(j->prefix, before, sizeof before);
  if (run_line(j, number, up, &line) != SCR_SUCCESS) run_say("%s", scr_err_text);
  else {
    run_say("run %d, %d node%s: %s", number, up->n, up->n > 1 ? "s" : "", line);
    run_log(j, "RUN_START", -1, "run=%d", number);
    j->ran = 1;
    code = run_program(j, line);
    scr_token_read(j->prefix, after, sizeof after);
    j->used = *after != '\0' && strcmp(before, after) != 0;
    run_log(j, "RUN_END", scr_wtime() - start, "run=%d", number);
    run_say("run %d has ended after %.1f s, with exit code %d", number, scr_wtime() - start, code);
  }
  scr_free(&line);
  return code;
}

/* Returns 1, and tells why, if the halt file or a signal forbids another run. */
static int run_is_halted(run_job* j)
{
  char why[SCR_HALT_TEXT_MAX];

  if (run_other && run_wishes(j, run_other) & SCR_WISH_HALT) j->asked = 1;
  run_other = 0;
  if (run_signal) run_say("ended by signal %d", (int)run_signal);
  else if (j->asked) run_say("there is no other run: a signal of SCR_SIGNALS has asked the program to end");
  else if (halt_forbids_run(j->prefix, why)) run_say("there is no other run: %s", why);
  else return 0;
  return 1;
}

/* The exit code, if that of the last run was CODE: was the program halted, or is it done? */
static int run_result(const run_job* j, int code)
{
  char       why[SCR_HALT_TEXT_MAX] = "";
  scr_record file;
  int        rc;

  if (!run_signal && !j->asked && (!j->ran || !halt_was_halted(j->prefix, scr_param_job(j->params)))) return code;
  rc = scr_record_read(&file, j->prefix, "halt.scr");
  if (rc == SCR_SUCCESS && scr_halt_standing(file.h, j->prefix, "", (int64_t)time(NULL), -1, 1, why) > 0)
    run_say("the program was halted, and so would the next job be: %s; then submit the job again to go on", why);
  else run_say("the program was halted; submit the job again to go on");
  scr_record_close(&file, rc, 0);
  return RUN_HALTED;
}

/* ---- restart loops ---- */

/*
** Save what the runs have left in the caches.  SIGTERM, which ends a whole job, does not end this step; the job ends
** after it.  Returns 1 if the newest checkpoint that could be saved is on the prefix.
*/
static int run_save(const run_job* j)
{
  const char* arguments[] = {"--prefix", j->prefix, NULL};
  int         code;

  run_say("saving what the caches have");
  code = run_command("scr_postrun", arguments, 0);
  if (code != 0) run_say("no checkpoint was saved");
  return code == 0;
}

/* A checkpoint that a run could start from; id 0: there is none. */
typedef struct {
  int  id, number; /* how far it is: the how manieth, counted from the checkpoint that its run started from */
  char name[SCR_MAX_FILENAME];
} run_checkpoint;

/* Make C the newest checkpoint below the id BELOW that a run would be offered, and whose files are there. */
static void run_find_checkpoint(const run_job* j, int below, run_checkpoint* c)
{
  scr_record     file;
  scr_flush_note note;
  scr_index      index;
  scr_index_item it;
  int            id = below, rc = scr_flush_file_read(&file, j->prefix);

  memset(c, 0, sizeof *c);
  while ((id = scr_flush_file_before(&file, id)) != 0)
    if (scr_flush_file_get(&file, id, &note) && note.flags & SCR_FLAG_CHECKPOINT &&
        !scr_flush_note_is_refused(j->prefix, &note) &&
        ((note.location & SCR_LOCATION_CACHE && *note.where == '\0') || scr_flush_note_on_prefix(j->prefix, &note)))
      break;
  if ((c->id = id) != 0) {
    c->number = note.ckpt;
    snprintf(c->name, sizeof c->name, "%s", note.name);
  }
  scr_record_close(&file, rc, 0);
  rc = scr_index_read(&index, j->prefix);
  if (rc == SCR_SUCCESS && scavenge_newest(&index, j->prefix, below, 0, &it) > c->id) {
    c->id = it.id;
    c->number = it.desc.ckpt;
    snprintf(c->name, sizeof c->name, "%s", scr_desc_name(&it.desc));
  }
  scr_index_close(&index, rc, 0);
}

/* Returns 1 if the prefix has C. */
static int run_is_saved(const run_job* j, const run_checkpoint* c)
{
  scr_index      index;
  scr_index_item it;
  int            rc = scr_index_read(&index, j->prefix);
  int            is = rc == SCR_SUCCESS && scr_index_find(&index, SCR_INDEX_NAME, c->name, c->id, 1, &it) &&
           scr_prefix_has(j->prefix, &it);

  scr_index_close(&index, rc, 0);
  return is;
}

/*
** Start the next run from a checkpoint before C.  Returns 0 if there is none, or the prefix does not have C, whose
** place in the caches that run would take.
*/
static int run_step_back(run_job* j, const run_checkpoint* c)
{
  run_checkpoint older;
  const char*    choose[] = {"--prefix", j->prefix, "--current", older.name, NULL};

  run_find_checkpoint(j, c->id, &older);
  if (older.id == 0 || strcmp(older.name, c->name) == 0) {
    run_say("there is no other run: there is no older checkpoint to start from; SCR_RUN_LOOPS=0 tries on");
    return 0;
  }
  run_save(j); /* so that it can be chosen again */
  if (!run_is_saved(j, c)) {
    run_say("there is no other run: %s could not be saved, and one that starts from %s would take its place in the "
            "caches; SCR_RUN_LOOPS=0 tries on",
            c->name, older.name);
    return 0;
  }
  run_say("the next one starts from %s; `scr_index --current %s` chooses the newer one again", older.name, c->name);
  run_command("scr_index", choose, 1);
  tool_setenv("SCR_CURRENT", older.name); /* which counts once in a job, but before what it was set to */
  j->back = older.id;
  j->tried = 0;
  return 1;
}

/* Returns 1 if the index has a CHOICE of the user that no run has served. */
static int run_has_choice(const run_job* j, scr_choice* choice)
{
  scr_index index;
  int       rc = scr_index_read(&index, j->prefix);

  scr_choice_read(&index, choice);
  scr_index_close(&index, rc, 0);
  return rc == SCR_SUCCESS && choice->by_user && choice->until == 0;
}

/* The run that was to start from an older checkpoint has ended: if it has not loaded it, the newest is chosen again. */
static void run_check_step(const run_job* j)
{
  run_checkpoint c;
  scr_choice     choice;
  const char*    choose[] = {"--prefix", j->prefix, "--current", c.name, NULL};

  if (!run_has_choice(j, &choice) || choice.id != j->back) return;
  run_find_checkpoint(j, INT_MAX, &c);
  if (c.id == 0) return;
  run_say("the run has not started from %s; %s is chosen again", choice.dir, c.name);
  run_command("scr_index", choose, 1);
}

/* Returns 1 if the user has chosen another checkpoint than C while its runs failed: the next one starts from that. */
static int run_is_chosen(const run_job* j, const run_checkpoint* c)
{
  scr_choice choice;

  if (!run_has_choice(j, &choice) || choice.id == c->id) return 0;
  run_say("the next one starts from %s, which was chosen", choice.dir);
  return 1;
}

/* A run has ended before it used the prefix.  Returns 1 if the runs before it have done so, too, and that is enough. */
static int run_idles(run_job* j)
{
  if (++j->idle <= 2 * j->loops || j->loops == 0) return 0;
  run_say("there is no other run: %d runs have ended before they used the prefix; look at the launcher and at the "
          "beginning of the program; SCR_RUN_LOOPS=0 tries on",
          j->idle);
  return 1;
}

/*
** A run has failed.  Returns 1 if the next one would only fail as it has: it got no further than those before it.
** LOST: a node has failed meanwhile, which explains it.  Before that, one starts from an older checkpoint.  A run that
** has not used the prefix, because another one did or nothing could be started, has tried no checkpoint.
*/
static int run_loops(run_job* j, int lost)
{
  run_checkpoint c;
  int            newer, back = j->back;

  run_find_checkpoint(j, INT_MAX, &c);
  if (!j->used && c.number <= j->far) return run_idles(j);
  j->idle = 0;
  if (back) unsetenv("SCR_CURRENT");
  j->back = 0;
  newer = c.number > j->far || (!back && c.id > j->far_id && c.number < j->far); /* or from an older one */
  if (newer) j->far = c.number;
  if (c.id > j->far_id) j->far_id = c.id;
  if (lost || c.id == 0 || newer) {
    j->tried = 0;
    return 0;
  }
  if (back)
    run_say("there is no other run: %lld runs from one checkpoint, and one from the checkpoint before it, have failed "
            "at about the same place; look at the program and its input; SCR_RUN_LOOPS=0 tries on",
            (long long)j->loops);
  if (back) return 1;
  if (j->loops == 0 || ++j->tried < j->loops) return 0;
  run_say("%d runs from %s have failed without a newer checkpoint", j->tried, c.name);
  if (run_is_chosen(j, &c)) {
    j->tried = 0;
    return 0;
  }
  return !run_step_back(j, &c);
}

/* ---- what caches have ---- */

/* The hosts of the last run, of a walk over the nodes file. */
static void run_see_node(const char* host, const char* kind, const char* dir, void* arg)
{
  hosts* h = (hosts*)arg;
  char   self[SYSTEM_HOST_MAX] = "";

  if (strcmp(kind, "CNTL") != 0) return;
  if (scavenge_is_virtual(host, dir) && gethostname(self, sizeof self - 1) == 0) host = self;
  if (!scavenge_has(h, host) && hosts_add(h, host) != SCR_SUCCESS) /* it is none of ours */
    scr_warn("%s", scr_err_text);
}

/* Returns 1 if the last run had all nodes of UP, and no others. */
static int run_same_nodes(const run_job* j, const hosts* up)
{
  hosts last = {NULL, 0};
  int   i, same = scr_nodes_file_walk(j->prefix, run_see_node, &last) == SCR_SUCCESS && last.n == up->n;

  for (i = 0; i < last.n && same; i++) same = scavenge_has(up, last.name[i]);
  hosts_free(&last);
  return same;
}

/*
** Returns 1 if only caches have what a run could not write again, as far as the notes tell: NOTE is of output, of the
** newest checkpoint that a run would be offered, or of the one that the user has chosen.  -1 if the notes cannot be
** read.
*/
static int run_left(const run_job* j, scr_flush_note* note)
{
  scr_record     file;
  scr_index      index;
  scr_index_item it;
  int            ckpt, chosen = 0, newest = 0, left = 0, id = INT_MAX, rc = scr_index_read(&index, j->prefix);

  if (rc == SCR_SUCCESS) {
    chosen = scr_choice_in_cache(&index);
    newest = scavenge_newest(&index, j->prefix, INT_MAX, 0, &it);
  }
  scr_index_close(&index, rc, 0);
  rc = scr_flush_file_read(&file, j->prefix);
  while (rc == SCR_SUCCESS && !left && (id = scr_flush_file_before(&file, id)) != 0) {
    if (!scr_flush_file_get(&file, id, note)) continue;
    ckpt = id > newest && note->flags & SCR_FLAG_CHECKPOINT && !scr_flush_note_is_refused(j->prefix, note);
    left = ((note->flags & SCR_FLAG_OUTPUT && *note->where == '\0') || ckpt || id == chosen) &&
           note->location & SCR_LOCATION_CACHE && !scr_flush_note_on_prefix(j->prefix, note) &&
           !scr_flush_note_is_superseded(j->prefix, note);
    if (ckpt) newest = id;
  }
  return scr_record_close(&file, rc, 0) == SCR_SUCCESS ? left : -1;
}

/*
** Before the first run: caches may have what this run could not load, or would not write again: those of another job,
** whose caches have another name; or of this one, which runs again on other nodes.
*/
static void run_save_earlier(const run_job* j, const hosts* up)
{
  scr_flush_note note;
  int            same;

  if (run_left(j, &note) != 1) return;
  same = strcmp(note.job, scr_param_job(j->params)) == 0;
  if (same && run_same_nodes(j, up)) return;
  if (same) run_say("this job has left dataset %d in caches only, and may run on other nodes now", note.id);
  else run_say("job %s has left dataset %d in caches only; looking whether it is still there", note.job, note.id);
  run_save(j);
}

/* Before the first run, on the nodes UP: save what an earlier one left; then start the daemons, which saving ends. */
static void run_prepare_caches(const run_job* j, const hosts* up)
{
  run_save_earlier(j, up);
  if (transfer_is_used(j->params) && transfer_start(j->params, j->prefix) != SCR_SUCCESS)
    scr_warn("%s; a thread of each rank copies in place of the daemons", scr_err_text);
}

/* ---- all runs ---- */

/* Print the conditions that are set in the halt file, before the first run: those that hold, and those that will. */
static void run_tell_conditions(const run_job* j)
{
  scr_record  file;
  char        text[SCR_HALT_TEXT_MAX];
  const char* job = scr_param_job(j->params);
  int64_t     end = 0, now = (int64_t)time(NULL), left = system_end(j->params, &end) == SCR_SUCCESS ? end - now : -1;
  int         holding, rc = scr_record_read(&file, j->prefix, "halt.scr");

  for (holding = 1; holding >= 0 && rc == SCR_SUCCESS; holding--)
    if (scr_halt_standing(file.h, j->prefix, job, now, left, holding, text) > 0)
      run_say("%s: %s", holding ? "the run will end at its first checkpoint" : "a halt condition is set", text);
  scr_record_close(&file, rc, 0);
}

/* Run the program until a run is the last.  Returns the exit code of that; 1 if there was none. */
static int run_all(run_job* j)
{
  run_checkpoint c;
  int            number = 1, code = 1, more, down;

  run_find_checkpoint(j, INT_MAX, &c);
  j->far = c.number;
  j->far_id = c.id;
  do {
    hosts up = {NULL, 0};
    down = j->down.n;
    more = run_has_nodes(j, number, &up);
    if (number == 1) run_prepare_caches(j, &up);
    if (number == 1) run_tell_conditions(j);
    else if (more && run_loops(j, j->down.n > down)) more = 0;
    if (more && (run_signal || run_other)) more = !run_is_halted(j); /* it came while something was saved */
    if (more) code = run_once(j, number, &up);
    if (j->back && j->used) run_check_step(j);
    hosts_free(&up);
    if (!more || code == 0 || run_is_halted(j)) break;
    if (j->runs >= 0 && number >= j->runs) {
      run_say("no runs are left");
      break;
    }
    if (j->wait > 0) run_say("waiting %lld s before the next run", (long long)j->wait);
    if (!run_signal && j->wait > 0) sleep((unsigned)j->wait);
    number++;
  } while (!run_is_halted(j));
  if (j->back) run_check_step(j);
  return code;
}

/*
** The job has ended and is saved, with the exit code CODE: its caches, often memory, need no longer hold that.  Without
** a batch system the next run may use them, unless the program is done.
*/
static void run_clean(const run_job* j, int code)
{
  const char* arguments[] = {"--prefix", j->prefix, NULL, NULL, NULL};
  const char* clean = tool_param(j->params, "SCR_CACHE_CLEAN");
  char*       down = NULL;

  if ((clean != NULL && strcmp(clean, "0") == 0) || (code != 0 && system_manager(NULL) == SYSTEM_NONE)) return;
  if (j->down.n > 0 && hosts_compress(&j->down, &down) == SCR_SUCCESS) {
    arguments[2] = "--down";
    arguments[3] = down;
  }
  run_command("scr_clean", arguments, 1);
  scr_free(&down);
}

/* ---- the command line ---- */

/* Set *VALUE, unless it is given, to the parameter NAME, from LOW on, or else to OTHERWISE. */
static int run_default(const run_job* j, const char* name, int64_t low, int64_t otherwise, int64_t* value)
{
  const char* text = tool_param(j->params, name);

  if (*value != -2) return SCR_SUCCESS;
  *value = otherwise;
  if (text == NULL || tool_number(text, low, INT_MAX - 1, value) || (low == 1 && strcmp(text, "-1") == 0)) {
    if (text != NULL && strcmp(text, "-1") == 0) *value = -1;
    return SCR_SUCCESS;
  }
  return SCR_ERR(SCR_ERR_PARAM, "%s=%.100s is not a number of %lld or more", name, text, (long long)low);
}

/* Fill what the options leave open from the parameters, and find the nodes. */
static int run_prepare(run_job* j)
{
  char    text[32], *all = NULL;
  int64_t end, retries = -2, watchdog = j->watchdog ? 1 : -2;
  int     rc = run_default(j, "SCR_RETRIES", 0, 0, &retries);

  if (rc == SCR_SUCCESS) rc = run_default(j, "SCR_RUNS", 1, retries + 1, &j->runs);
  if (rc == SCR_SUCCESS) rc = run_default(j, "SCR_MIN_NODES", 0, 0, &j->min_nodes);
  if (rc == SCR_SUCCESS) rc = run_default(j, "SCR_RUN_WAIT", 0, 60, &j->wait);
  if (rc == SCR_SUCCESS) rc = run_default(j, "SCR_RUN_GRACE", 0, RUN_GRACE_SECONDS, &j->grace);
  if (rc == SCR_SUCCESS) rc = run_default(j, "SCR_RUN_LOOPS", 0, 2, &j->loops);
  if (rc == SCR_SUCCESS) rc = run_default(j, "SCR_WATCHDOG", 0, 0, &watchdog);
  j->watchdog = watchdog == 1;
  if (rc == SCR_SUCCESS) rc = launch_prepare(&j->launch);
  if (rc == SCR_SUCCESS)
    rc = j->hosts_file != NULL ? hosts_read_file(&j->nodes, j->hosts_file) : system_nodes(&j->nodes);
  if (rc == SCR_SUCCESS && j->nodes.n == 0) rc = SCR_ERR(SCR_ERR_ARG, "there are no nodes to run on");
  if (rc == SCR_SUCCESS && j->hosts_file != NULL && (j->launch.slots = scr_hash_new()) != NULL)
    rc = launch_read_slots(j->launch.slots, j->hosts_file);
  j->recorded = run_recorded(j->prefix);
  if (rc == SCR_SUCCESS) rc = hosts_compress(&j->nodes, &all);
  if (rc == SCR_SUCCESS && setenv("SCR_NODELIST", all, 1) < 0) rc = SCR_ERR_OOM();
  if (rc == SCR_SUCCESS && system_end(j->params, &end) == SCR_SUCCESS) {
    snprintf(text, sizeof text, "%lld", (long long)end);
    setenv("SCR_END_TIME", text, 1);
  }
  scr_free(&all);
  return rc;
}

/* Enter the option at WORD, with the word behind it.  Returns the number of words it takes; 0 if it is none of ours. */
static int run_option(run_job* j, const char* word, const char* next, int* bad)
{
  static const struct {
    const char *name, *other;
    char        what;
  } options[] = {{"--prefix", "-p", 'p'},      {"--runs", NULL, 'r'},     {"--min-nodes", NULL, 'm'},
                 {"--wait", NULL, 'w'},        {"--watchdog", NULL, 'W'}, {"--hosts", NULL, 'h'},
                 {"--launcher", NULL, 'l'},    {"--np", NULL, 'n'},       {"--run-cmd", "-rc", 'c'},
                 {"--restart-cmd", "-rs", 's'}};
  size_t      i, k = strcspn(word, "=");
  const char* value = word[k] == '=' ? word + k + 1 : next;
  int         taken = word[k] == '=' ? 1 : 2, ok = 1;

  for (i = 0; i < sizeof options / sizeof *options; i++)
    if ((strlen(options[i].name) == k && strncmp(word, options[i].name, k) == 0) ||
        (options[i].other != NULL && strcmp(word, options[i].other) == 0))
      break;
  if (i == sizeof options / sizeof *options) return 0;
  if (options[i].what == 'W') {
    j->watchdog = 1;
    return 1;
  }
  switch (value != NULL ? options[i].what : 0) {
  case 'p':
    j->prefix = value;
    break;
  case 'r':
    ok = strcmp(value, "-1") == 0 || tool_number(value, 1, INT_MAX, &j->runs);
    break;
  case 'm':
    ok = tool_number(value, 1, INT_MAX, &j->min_nodes);
    break;
  case 'w':
    ok = tool_number(value, 0, INT_MAX, &j->wait);
    break;
  case 'h':
    j->hosts_file = value;
    break;
  case 'l':
    j->launch.template_ = value;
    break;
  case 'n':
    j->launch.np = value;
    break;
  case 'c':
    j->run_cmd = value;
    break;
  case 's':
    j->restart_cmd = value;
    break;
  default:
    ok = 0;
  }
  if (ok && options[i].what == 'r' && strcmp(value, "-1") == 0) j->runs = -1;
  *bad = !ok;
  return taken;
}

/* Choose the usage and, for two of the names of this command, the launcher. */
static void run_choose(run_job* j, const char* name)
{
  j->usage = run_usage;
  if (strcmp(name, "scr_srun") == 0) {
    j->launch.name = "srun";
    j->usage = run_usage_srun;
  } else if (strcmp(name, "scr_mpirun") == 0) {
    j->launch.name = launch_mpiexec();
    j->usage = run_usage_mpirun;
  }
}

/* Report what is wrong with WORD of the command line, between BEFORE and AFTER.  Returns the exit code. */
static int run_refuse(const run_job* j, const char* argv0, const char* before, const char* word, const char* after)
{
  char text[SCR_MAX_FILENAME];

  snprintf(text, sizeof text, "%s%.900s%s", before, word, after);
  return tool_usage(argv0, j->usage, 2, text);
}

/* Take the options from ARGV; *AT becomes the number of the word behind them.  Returns -1, or an exit code. */
static int run_options(run_job* j, int argc, char** argv, int* at)
{
  int i, taken, bad = 0, named = j->launch.name != NULL;

  for (i = 1; i < argc && argv[i][0] == '-' && strcmp(argv[i], "--") != 0; i += taken) {
    if (strcmp(argv[i], "-h") == 0 || strcmp(argv[i], "--help") == 0) return tool_answer('h', argv[0], j->usage, 1);
    if (strcmp(argv[i], "--version") == 0) return tool_answer(TOOL_OPT_VERSION, argv[0], j->usage, 1);
    taken = named && strcmp(argv[i], "-p") == 0 ? 0 : run_option(j, argv[i], argv[i + 1], &bad);
    if (taken == 0 && named) break; /* an option of the launcher, such as -p of srun */
    if (taken == 0) return run_refuse(j, argv[0], "", argv[i], " is not an option");
    if (bad) return run_refuse(j, argv[0], "the value of ", argv[i], " is missing or wrong");
  }
  *at = i + (i < argc && strcmp(argv[i], "--") == 0);
  return -1;
}

/* Take the command line: options, the launcher, and what is the launcher's.  Returns -1, or an exit code. */
static int run_command_line(run_job* j, int argc, char** argv)
{
  int i, at = 1, code;

  run_choose(j, tool_name(argv[0]));
  if ((code = run_options(j, argc, argv, &at)) >= 0) return code;
  if (j->launch.name == NULL && j->launch.template_ == NULL && at < argc) j->launch.name = argv[at++];
  for (; argc - at >= 2; argc -= 2) { /* these two may also be the last */
    const char* word = argv[argc - 2];
    if (strcmp(word, "-rc") == 0 || strcmp(word, "--run-cmd") == 0) j->run_cmd = argv[argc - 1];
    else if (strcmp(word, "-rs") == 0 || strcmp(word, "--restart-cmd") == 0) j->restart_cmd = argv[argc - 1];
    else break;
  }
  j->launch.words = argv + at;
  j->launch.nwords = argc - at;
  for (i = 0; i < j->launch.nwords && j->launch.words[i][0] == '-'; i++) continue;
  if (i > 0 && i == j->launch.nwords && j->run_cmd == NULL)
    return run_refuse(j, argv[0], "there is no program behind ", j->launch.words[i - 1], "");
  if ((j->launch.nwords == 0 && j->run_cmd == NULL) || (j->launch.name == NULL && j->launch.template_ == NULL))
    return tool_usage(argv[0], j->usage, 2, "a launcher and a program are needed");
  if (j->launch.template_ != NULL && strstr(j->launch.template_, "{np}") != NULL && j->launch.np == NULL)
    return tool_usage(argv[0], j->usage, 2, "--launcher with {np} needs --np");
  return -1;
}

/* Without the library, run the program once. */
static int run_bare(run_job* j)
{
  hosts here = {NULL, 0};
  char* line = NULL;
  int   code = 1;

  j->grace = RUN_GRACE_SECONDS;
  if (system_nodes(&here) == SCR_SUCCESS && run_line(j, 1, &here, &line) == SCR_SUCCESS) code = run_program(j, line);
  else run_say("%s", scr_err_text);
  scr_free(&line);
  hosts_free(&here);
  return code;
}

SCR_FN int run_main(int argc, char** argv)
{
  run_job        j;
  const char*    arguments[] = {"--prefix", NULL, "--no-daemons", NULL};
  char*          real;
  scr_flush_note note;
  int            enable = 1, saved, left, code;

  memset(&j, 0, sizeof j);
  j.prefix = tool_prefix();
  j.runs = j.min_nodes = j.wait = j.grace = j.loops = -2;
  j.start = scr_wtime();
  if ((code = run_command_line(&j, argc, argv)) >= 0) return code;
  if ((real = tool_real(j.prefix)) == NULL) return tool_fail(argv[0], 1, scr_err_text);
  j.prefix = arguments[1] = real;
  code = 1;
  if (tool_setenv("SCR_PREFIX", real) == SCR_SUCCESS && (j.params = tool_params(real)) != NULL) run_catch(&j);
  if (j.params == NULL || scr_param_int(j.params, "SCR_ENABLE", &enable) != SCR_SUCCESS ||
      (enable && run_prepare(&j) != SCR_SUCCESS))
    tool_fail(argv[0], 1, scr_err_text);
  else if (!enable) code = run_bare(&j);
  else if (run_command("scr_prerun", arguments, 1) == 0) {
    code = run_result(&j, run_all(&j));
    if ((saved = run_save(&j)) != 0) run_clean(&j, code);
    left = code == 0 ? run_left(&j, &note) : 0;
    if (left > 0 && (*note.where != '\0' || (saved && !(note.flags & SCR_FLAG_CHECKPOINT))))
      left = 0; /* an earlier job has left it, or newer output has its place */
    if (left > 0)
      run_say("the program is done, but dataset %d, %s, is in caches only: it could not be saved", note.id, note.name);
    if (left < 0)
      run_say("the program is done, but nobody can tell whether what it has left is saved: %s", scr_err_text);
    if (left != 0) code = RUN_UNSAVED;
    run_say("the end, after %.1f s", scr_wtime() - j.start);
  }
  hosts_free(&j.nodes);
  hosts_free(&j.down);
  scr_hash_delete(&j.launch.slots);
  scr_hash_delete(&j.params);
  free(real);
  return code;
}

/* The commands scr_srun and scr_mpirun: their names tell the launcher. */
SCR_FN int srun_main(int argc, char** argv)
{
  return run_main(argc, argv);
}

SCR_FN int mpirun_main(int argc, char** argv)
{
  return run_main(argc, argv);
}

TOOL_MAIN(run_main)
