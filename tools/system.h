/*
** system.h - what commands ask of the system: other programs, here and on other nodes, with a time limit for each; the
** resource manager, SLURM, PBS, LSF or Flux, by its environment and commands; and job steps.
*/
#ifndef SCR_SYSTEM_H
#define SCR_SYSTEM_H

#include "hosts.h"

#include <poll.h>
#include <sys/wait.h>

#define SYSTEM_WIDTH    64 /* programs that run at the same time */
#define SYSTEM_SECONDS  30 /* for one answer of a resource manager */
#define SYSTEM_TIMEOUT  -1 /* the status of a program that did not end in time */
#define SYSTEM_HOST_MAX 256

/* ---- programs ---- */

/* A program to run.  The caller sets argv, both and, if it wants, patience, heard and late; and the rest to zeros. */
typedef struct system_task {
  const char* const* argv;              /* ends with NULL */
  int                both;              /* 1: out gets what it prints on stderr too; 0: that goes to stderr */
  double             patience;          /* not 0: seconds that it may be silent: its time begins anew when it prints */
  void (*heard)(struct system_task* t); /* called when it has printed, and when it has ended */
  void (*late)(struct system_task* t);  /* called when its time is over, before it is killed */
  void*   arg;                          /* for these two */
  scr_buf out;                          /* what it printed, with a NUL behind it */
  int     status;                       /* its exit code; 128 and the signal that ended it; SYSTEM_TIMEOUT */
  pid_t   pid;
  int     fd;
  double  began, end; /* when it was started, and when its time is over */
} system_task;

/* What T printed. */
SCR_FN char* system_text(system_task* t)
{
  static char nothing[1] = "";
  return t->out.p != NULL ? t->out.p : nothing;
}

/*
** Why T has failed: the last line that it printed, as banners and warnings stand before it; but not the words of srun
** that a process has failed.
*/
SCR_FN const char* system_reason(system_task* t)
{
  char*  text = system_text(t);
  size_t n = strlen(text);

  for (;;) {
    while (n > 0 && isspace((unsigned char)text[n - 1])) text[--n] = '\0';
    while (n > 0 && text[n - 1] != '\n' && text[n - 1] != '\r') n--;
    if (n == 0 || (strstr(text + n, "Exited with exit code") == NULL && strstr(text + n, "Job step aborted") == NULL))
      return text + n;
    text[n] = '\0';
  }
}

/* Start T in a group of its own, so that a time limit ends its children too. */
SCR_FN void system_start(system_task* t, double seconds)
{
  int fds[2], null;

  t->began = scr_wtime();
  t->end = t->began + seconds;
  t->status = 127;
  t->fd = -1;
  t->pid = -1;
  if (pipe(fds) < 0) return;
  fflush(stdout);
  if ((t->pid = fork()) == 0) {
    setpgid(0, 0);
    null = open("/dev/null", O_RDONLY);
    dup2(null, 0);
    dup2(fds[1], 1);
    if (t->both) dup2(fds[1], 2);
    close(null);
    close(fds[0]);
    close(fds[1]);
    execvp(t->argv[0], (char* const*)(uintptr_t)t->argv);
    fprintf(stderr, "cannot run %s: %s\n", t->argv[0], strerror(errno));
    _exit(127);
  }
  if (t->pid > 0) setpgid(t->pid, t->pid); /* whoever of the two is first */
  close(fds[1]);
  t->fd = fds[0];
  fcntl(t->fd, F_SETFD, FD_CLOEXEC);
}

/* T has ended, or is ended because its time is over. */
SCR_FN void system_stop(system_task* t, int timeout)
{
  int status = 0;

  if (timeout && t->late != NULL) t->late(t);
  if (timeout) kill(-t->pid, SIGKILL);
  close(t->fd);
  t->fd = -1;
  while (waitpid(t->pid, &status, 0) < 0 && errno == EINTR) continue;
  t->pid = -1; /* the number may become that of another process */
  t->status = timeout ? SYSTEM_TIMEOUT : WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  scr_buf_add(&t->out, "", 1);
}

/* Returns 1 if T has ended; what it has left behind may still have its output open. */
SCR_FN int system_has_ended(const system_task* t)
{
  siginfo_t info;

  memset(&info, 0, sizeof info);
  return waitid(P_PID, (id_t)t->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == t->pid;
}

/* Wait until one of the running programs of TASK[0..n) prints, ends, or has no time left; a second at most. */
SCR_FN void system_wait(system_task* task, int n)
{
  struct pollfd fds[SYSTEM_WIDTH];
  system_task*  of[SYSTEM_WIDTH];
  char          data[4096];
  int           ended[SYSTEM_WIDTH] = {0}, i, k = 0;
  double        left = 1;

  for (i = 0; i < n && k < SYSTEM_WIDTH; i++) {
    if (task[i].fd < 0) continue;
    if (task[i].end - scr_wtime() < left) left = task[i].end - scr_wtime();
    fds[k].fd = task[i].fd;
    fds[k].events = POLLIN;
    fds[k].revents = 0;
    ended[k] = system_has_ended(&task[i]); /* if so, all that it has printed can be read */
    if (ended[k]) left = 0;
    of[k++] = &task[i];
  }
  poll(fds, (nfds_t)k, left > 0 ? (int)(left * 1000) + 1 : 0);
  for (i = 0; i < k; i++) {
    ssize_t got = fds[i].revents != 0 ? read(fds[i].fd, data, sizeof data) : -1;
    if (got > 0) scr_buf_add(&of[i]->out, data, (size_t)got);
    if (got > 0 && of[i]->patience > 0) of[i]->end = scr_wtime() + of[i]->patience;
    if (got == 0 || (fds[i].revents == 0 && ended[i])) system_stop(of[i], 0);
    else if (scr_wtime() >= of[i]->end) system_stop(of[i], 1);
    if (of[i]->heard != NULL && (got > 0 || of[i]->fd < 0)) of[i]->heard(of[i]);
  }
}

/*
** Run all of TASK[0..n), many at a time, each for at most so many SECONDS; then it is killed.  A program that cannot be
** started has the status 127.
*/
SCR_FN void system_run(system_task* task, int n, double seconds)
{
  int i, running, next = 0;

  do {
    for (i = running = 0; i < next; i++) running += task[i].fd >= 0;
    for (; next < n && running < SYSTEM_WIDTH; next++, running++) {
      system_start(&task[next], seconds);
      if (task[next].pid < 0) break;
    }
    if (running > 0) system_wait(task, next);
    else if (next < n) next++; /* it could not even be started */
  } while (running > 0 || next < n);
}

/* Run the program ARGV, which ends with NULL, as T, for so many SECONDS at most; BOTH as in system_task. */
SCR_FN void system_run_one(system_task* t, const char* const* argv, int both, double seconds)
{
  memset(t, 0, sizeof *t);
  t->argv = argv;
  t->both = both;
  system_run(t, 1, seconds);
}

/* Run the line COMMAND of the shell, and set *TEXT, which the caller frees, to what it prints; NULL after an error. */
SCR_FN int system_ask(const char* command, char** text)
{
  const char* argv[] = {"sh", "-c", command, NULL};
  system_task t;
  int         rc = SCR_SUCCESS;

  system_run_one(&t, argv, 0, SYSTEM_SECONDS);
  if (t.status == SYSTEM_TIMEOUT)
    rc = SCR_ERR(SCR_ERR_IO, "`%.300s` has not answered within %d s", command, SYSTEM_SECONDS);
  else if (t.status != 0) rc = SCR_ERR(SCR_ERR_IO, "`%.300s` failed with exit code %d", command, t.status);
  else *text = scr_strdup(system_text(&t));
  if (rc != SCR_SUCCESS) *text = NULL;
  scr_buf_free(&t.out);
  return rc;
}

/* Returns 1 if PATH has the program NAME. */
SCR_FN int system_has(const char* name)
{
  char        file[SCR_MAX_FILENAME];
  const char *path = getenv("PATH"), *end;

  if (strchr(name, '/') != NULL) return access(name, X_OK) == 0;
  for (; path != NULL && *path != '\0'; path = *end == ':' ? end + 1 : end) {
    end = path + strcspn(path, ":");
    if (scr_fmt(file, sizeof file, "%.*s/%s", (int)(end - path), path, name) == SCR_SUCCESS && access(file, X_OK) == 0)
      return 1;
  }
  return 0;
}

/* Make PATH, of N bytes, the command NAME beside this one; where there is none, its name, to be found in PATH. */
SCR_FN void system_sibling(const char* name, char* path, size_t n)
{
  char    self[SCR_MAX_FILENAME];
  ssize_t k = readlink("/proc/self/exe", self, sizeof self - 1);

  if (k > 0) {
    self[k] = '\0';
    *(strrchr(self, '/') + 1) = '\0';
    if (scr_fmt(path, n, "%s%s", self, name) == SCR_SUCCESS && access(path, X_OK) == 0) return;
  }
  snprintf(path, n, "%s", name);
}

#define SYSTEM_WORDS 24 /* of a command line, with the NULL at its end */

/* Make ARGV the line that runs the command NAME, whose path PATH receives, with ARGUMENTS, which end with NULL. */
SCR_FN void system_sibling_line(const char* name, const char* const* arguments, char path[SCR_MAX_FILENAME],
                                const char* argv[SYSTEM_WORDS])
{
  int n = 0;

  system_sibling(name, path, SCR_MAX_FILENAME);
  argv[n++] = path;
  while (*arguments != NULL && n < SYSTEM_WORDS - 1) argv[n++] = *arguments++;
  argv[n] = NULL;
}

/*
** Run the command NAME with ARGUMENTS, for so many SECONDS at most.  OUT, which the caller frees, receives what it
** prints, with what it prints on stderr if BOTH is set; NULL without memory.  Returns its exit code, or
** SYSTEM_TIMEOUT.
*/
SCR_FN int system_run_sibling(const char* name, const char* const* arguments, int both, double seconds, char** out)
{
  char        path[SCR_MAX_FILENAME];
  const char* argv[SYSTEM_WORDS];
  system_task t;

  system_sibling_line(name, arguments, path, argv);
  system_run_one(&t, argv, both, seconds);
  *out = scr_strdup(system_text(&t));
  scr_buf_free(&t.out);
  return t.status;
}

/* ---- the resource manager ---- */

typedef enum {
  SYSTEM_NONE = SCR_MANAGER_NONE,
  SYSTEM_SLURM = SCR_MANAGER_SLURM,
  SYSTEM_PBS = SCR_MANAGER_PBS,
  SYSTEM_LSF = SCR_MANAGER_LSF,
  SYSTEM_FLUX = SCR_MANAGER_FLUX
} system_kind;

/* The value of the environment variable NAME; NULL if it is not set or empty. */
SCR_FN const char* system_env(const char* name)
{
  const char* value = getenv(name);
  return value != NULL && *value != '\0' ? value : NULL;
}

/* The manager of this allocation, and its id in *JOB, which may be NULL. */
SCR_FN system_kind system_manager(const char** job)
{
  const char* id;
  scr_manager kind = scr_manager_here(job != NULL ? job : &id);

  return (system_kind)kind;
}

/* Append the first of each pair of words of TEXT, `host slots host slots ...`. */
SCR_FN int system_hosts_of_pairs(hosts* h, const char* text)
{
  char name[SYSTEM_HOST_MAX];
  int  rc = SCR_SUCCESS;

  while (rc == SCR_SUCCESS && sscanf(text, "%255s", name) == 1) {
    rc = hosts_parse(h, name);
    text = strstr(text, name) + strlen(name);
    text += strspn(text, " ");
    text += strcspn(text, " "); /* its slots */
  }
  return rc;
}

/*
** Append the nodes of the allocation to H: those of SCR_NODELIST, or else of the resource manager, or else this one.
*/
SCR_FN int system_nodes(hosts* h)
{
  char        self[SYSTEM_HOST_MAX] = "";
  char*       text = NULL;
  const char* list = system_env("SCR_NODELIST");
  system_kind kind = system_manager(NULL);
  int         rc;

  if (list != NULL) return hosts_parse(h, list);
  if (kind == SYSTEM_SLURM) {
    if ((list = system_env("SLURM_JOB_NODELIST")) == NULL) list = system_env("SLURM_NODELIST");
    if (list != NULL) return hosts_parse(h, list);
  }
  if (kind == SYSTEM_PBS && (list = system_env("PBS_NODEFILE")) != NULL) return hosts_read_file(h, list);
  if (kind == SYSTEM_LSF) {
    if ((list = system_env("LSB_DJOB_HOSTFILE")) != NULL) return hosts_read_file(h, list);
    if ((list = system_env("LSB_MCPU_HOSTS")) != NULL) return system_hosts_of_pairs(h, list);
  }
  if (kind == SYSTEM_FLUX) {
    if ((rc = system_ask("flux getattr hostlist", &text)) == SCR_SUCCESS) rc = hosts_parse(h, text);
    scr_free(&text);
    return rc;
  }
  if (kind != SYSTEM_NONE)
    return SCR_ERR(SCR_ERR_NOT_FOUND, "the environment of %s does not tell the nodes of the job; set SCR_NODELIST",
                   scr_manager_names[kind]);
  return gethostname(self, sizeof self - 1) == 0 ? hosts_add(h, self) : SCR_ERRNO("cannot get the host name");
}

/* Append to DOWN the hosts of TEXT, lines `host state ...`, whose state has one of the words that STATES names. */
SCR_FN int system_hosts_of_states(hosts* down, const char* text, const char* const* states)
{
  char        name[SYSTEM_HOST_MAX], state[SYSTEM_HOST_MAX];
  const char* line;
  int         i, rc = SCR_SUCCESS;

  for (line = text; line != NULL && rc == SCR_SUCCESS; line = strchr(line, '\n')) {
    line += *line == '\n';
    if (sscanf(line, "%255[^ \t\n] %255[^ \t\n]", name, state) != 2) continue;
    for (i = 0; states[i] != NULL && strstr(state, states[i]) == NULL; i++) continue;
    if (states[i] != NULL) rc = hosts_add(down, name);
  }
  return rc;
}

/* Append to DOWN those of NODES that the resource manager knows to be down. */
SCR_FN int system_down(const hosts* nodes, hosts* down)
{
  static const char* const pbs[] = {"down", "offline", "unknown", NULL};
  static const char* const lsf[] = {"unavail", "unreach", NULL};
  system_kind              kind = system_manager(NULL);
  hosts                    found = {NULL, 0};
  char *                   list = NULL, *command = NULL, *text = NULL;
  int                      rc = hosts_compress(nodes, &list);

  if (rc == SCR_SUCCESS && kind == SYSTEM_SLURM)
    command = scr_strdupf("sinfo -h -t down,fail,no_respond -o %%N -n '%s'", list);
  if (kind == SYSTEM_PBS) command = scr_strdup("pbsnodes -l");
  if (kind == SYSTEM_LSF) command = scr_strdup("bhosts -w");
  if (kind == SYSTEM_FLUX) command = scr_strdup("flux resource list -n -s down -o '{nodelist}'");
  if (rc == SCR_SUCCESS && command != NULL) rc = system_ask(command, &text);
  if (rc == SCR_SUCCESS && text != NULL)
    rc = kind == SYSTEM_PBS   ? system_hosts_of_states(&found, text, pbs)
         : kind == SYSTEM_LSF ? system_hosts_of_states(&found, text, lsf)
                              : hosts_parse(&found, text);
  if (rc == SCR_SUCCESS) rc = hosts_select(down, nodes, &found, 1);
  hosts_free(&found);
  scr_free(&list);
  scr_free(&command);
  scr_free(&text);
  return rc == SCR_SUCCESS && scr_oom ? SCR_ERR_OOM() : rc;
}

/* ---- the end of the allocation ---- */

/* When the allocation ends, in seconds since 1970, into *END; SCR_ERR_NOT_FOUND if nobody tells. */
SCR_FN int system_end(const scr_hash* params, int64_t* end)
{
  return scr_allocation_end(params, system_ask, end);
}

/* ---- other nodes ---- */

/* Returns 1 if HOST is this machine. */
SCR_FN int system_is_here(const char* host)
{
  char   self[SYSTEM_HOST_MAX] = "";
  size_t n;

  if (strcmp(host, "localhost") == 0) return 1;
  if (gethostname(self, sizeof self - 1) < 0) return 0;
  n = strcspn(self, ".");
  return n == strcspn(host, ".") && strncmp(host, self, n) == 0;
}

#define SYSTEM_REMOTE_STEP "scr_remote" /* the name of the job steps of remote.h */

/* ---- job steps ---- */

/* Returns 1 if S is the number of a process, which *PID receives. */
SCR_FN int system_is_pid(const char* s, pid_t* pid)
{
  int64_t v;

  if (!tool_number(s, 2, INT_MAX, &v)) return 0;
  *pid = (pid_t)v;
  return 1;
}

/*
** When the process PID began, in ticks of the system, 1 if that is not known; 0 if it does not run, as a zombie does
** not, whose parent has not looked yet.  Another process that gets the same number later began later.
*/
SCR_FN uint64_t system_began(pid_t pid)
{
  char     path[64], text[1024], state = '?';
  char*    end;
  size_t   n = 0;
  FILE*    f;
  uint64_t began = 0;

  if (kill(pid, 0) < 0 && errno == ESRCH) return 0;
  snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
  if ((f = fopen(path, "r")) != NULL) {
    n = fread(text, 1, sizeof text - 1, f);
    fclose(f);
  }
  text[n] = '\0';
  if ((end = strrchr(text, ')')) == NULL ||
      sscanf(end + 1, " %c%*d%*d%*d%*d%*d%*d%*d%*d%*d%*d%*d%*d%*d%*d%*d%*d%*d%*d%" SCNu64, &state, &began) < 1)
    return 1;
  return state == 'Z' || state == 'X' ? 0 : began + 1;
}

SCR_FN int system_is_alive(pid_t pid)
{
  return system_began(pid) != 0;
}

/*
** Make ID, of N bytes, what system_step_kill takes for the job step that the launcher process PID has started: the
** newest step of the job in SLURM but for those of remote.h, the newest job in Flux, and else the process itself.
*/
SCR_FN int system_step_find(pid_t pid, char* id, size_t n)
{
  const char *job, *line;
  char*       answer = NULL;
  system_kind kind = system_manager(&job);
  char*       command = NULL;
  char        name[sizeof SYSTEM_REMOTE_STEP + 1];
  int         step, best = -1, rc;

  if (!system_is_alive(pid))
    return SCR_ERR(SCR_ERR_NOT_FOUND, "there is no process %ld, so it has no job step", (long)pid);
  if (kind != SYSTEM_SLURM && kind != SYSTEM_FLUX) return scr_fmt(id, n, "%ld", (long)pid);
  command = kind == SYSTEM_SLURM ? scr_strdupf("squeue -h -s -o '%%i %%j' -j '%s'", job)
                                 : scr_strdup("flux jobs -n -c 1 -f running -o '{id}'");
  rc = command == NULL ? SCR_ERR_OOM() : system_ask(command, &answer);
  for (line = rc == SCR_SUCCESS ? answer : NULL; line != NULL; line = strchr(line, '\n')) {
    line += *line == '\n';
    if (kind == SYSTEM_SLURM && sscanf(line, "%*[^.\n].%9d %11[^\n]", &step, name) == 2 && step > best &&
        strcmp(name, SYSTEM_REMOTE_STEP) != 0)
      best = step;
  }
  if (rc == SCR_SUCCESS && kind == SYSTEM_SLURM && best >= 0) rc = scr_fmt(id, n, "%s.%d", job, best);
  else if (rc == SCR_SUCCESS && kind == SYSTEM_FLUX && *answer > ' ')
    rc = scr_fmt(id, n, "%.*s", (int)strcspn(answer, " \n"), answer);
  else if (rc == SCR_SUCCESS) rc = SCR_ERR(SCR_ERR_NOT_FOUND, "job %s has no job step", job);
  scr_free(&command);
  scr_free(&answer);
  return rc;
}

/* End the process PID, with its group if it is the first of one: ask it to, and kill what is left after 10 s. */
SCR_FN int system_pid_kill(pid_t pid)
{
  pid_t    who = getpgid(pid) == pid ? -pid : pid;
  uint64_t began = system_began(pid);
  int      i;

  if (kill(who, SIGTERM) < 0) return SCR_ERRNO("cannot end the process %ld", (long)pid);
  for (i = 0; i < 100 && began != 0 && system_began(pid) == began; i++) usleep(100000);
  if (began != 0 && system_began(pid) == began) kill(who, SIGKILL);
  return SCR_SUCCESS;
}

/* End the job step ID, which LAUNCHER has started: srun, flux, jsrun, another, or NULL for that of the manager. */
SCR_FN int system_step_kill(const char* id, const char* launcher)
{
  system_kind kind = system_manager(NULL);
  char *      command, *answer = NULL;
  pid_t       pid;
  int         rc;

  if (*id == '\0' || *id == '-' || strpbrk(id, "' \t\n") != NULL)
    return SCR_ERR(SCR_ERR_ARG, "'%.100s' is not the id of a job step", id);
  if (launcher == NULL) launcher = kind == SYSTEM_SLURM ? "srun" : kind == SYSTEM_FLUX ? "flux" : "mpiexec";
  if (strcmp(launcher, "srun") == 0) command = scr_strdupf("scancel '%s'", id);
  else if (strcmp(launcher, "flux") == 0) command = scr_strdupf("flux cancel '%s'", id);
  else if (strcmp(launcher, "jsrun") == 0) command = scr_strdupf("jskill '%s'", id);
  else if (system_is_pid(id, &pid)) return system_pid_kill(pid);
  else return SCR_ERR(SCR_ERR_ARG, "the job step of %.100s is a process, and %.100s is no number of one", launcher, id);
  rc = command == NULL ? SCR_ERR_OOM() : system_ask(command, &answer);
  scr_free(&command);
  scr_free(&answer);
  return rc;
}

#endif
