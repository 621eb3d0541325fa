/*
** steps PROGRAM ARGUMENTS... - a rank of mpiexec whose process is killed at a step of an image or a restart, or gets an
** error there: a breakpoint at a function of scr_image.o, which is not changed for this.
**
** STEP="RANK OFFSET COUNT [CALL COUNT [ERROR [on]]]": on RANK (or all), at the COUNT-th entry of the function at OFFSET
** of the program's file (a hexadecimal number); or, within this function, at the COUNT-th call of the system of number
** CALL.  With ERROR, a number of errno, this call fails, with `on` all after it until the function returns; else the
** process is killed there.  The second COUNT 0 kills nothing: the calls are counted.
** STEP_AFTER="OFFSET COUNT": entries are counted only after the COUNT-th entry of the function at OFFSET.
** STEP_HOLD: so many milliseconds the process stands still before it is killed; the others go on as far as they can.
** STEP_LOG: a file to which each rank that came to its step, or back from the function, appends a line: "RANK killed
** CALLS" or "RANK back CALLS"; CALLS are the calls in the function up to there.
*/
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t         pid;
static unsigned long entry, back; /* where the breakpoints are; 0: not there */
static unsigned long then;        /* where the entry is to be counted; 0: it is */
static long          entry_word, back_word;
static int           within, dead;
static long          calls, left, then_left;
static const char*   my_rank;

static void say(const char* what)
{
  const char* file = getenv("STEP_LOG");
  char        line[100];
  int         n, fd = file != NULL ? open(file, O_WRONLY | O_CREAT | O_APPEND, 0644) : -1;

  if (fd < 0) return;
  n = snprintf(line, sizeof line, "%s %s %ld\n", my_rank, what, calls);
  if (write(fd, line, (size_t)n) != n) perror(file);
  close(fd);
}

static void stop(const char* what)
{
  perror(what);
  if (pid > 0) kill(pid, SIGKILL);
  exit(99);
}

/* A breakpoint at AT; returns the word that was there. */
static long set(unsigned long at)
{
  long word;

  errno = 0;
  word = ptrace(PTRACE_PEEKTEXT, pid, (void*)at, NULL);
  if (errno != 0 || ptrace(PTRACE_POKETEXT, pid, (void*)at, (void*)((word & ~0xffL) | 0xcc)) != 0) stop("breakpoint");
  return word;
}

static void die(void)
{
  const char* hold = getenv("STEP_HOLD");

  say("killed");
  if (hold != NULL) usleep(1000 * (unsigned)atoi(hold));
  kill(pid, SIGKILL);
  dead = 1;
}

/* Where the program's file begins in memory, if that does not change any more. */
static unsigned long base(void)
{
  char          name[64], line[300];
  unsigned long at = 0;
  FILE*         f;

  snprintf(name, sizeof name, "/proc/%d/personality", (int)pid);
  f = fopen(name, "r");
  if (f == NULL || fgets(line, sizeof line, f) == NULL) stop(name);
  fclose(f);
  if ((strtoul(line, NULL, 16) & ADDR_NO_RANDOMIZE) == 0) return 0;
  snprintf(name, sizeof name, "/proc/%d/maps", (int)pid);
  f = fopen(name, "r");
  if (f == NULL || fscanf(f, "%lx", &at) != 1) stop(name);
  fclose(f);
  return at;
}

/* The process has come to a breakpoint, and goes on behind it. */
static void reach(struct user_regs_struct* r)
{
  int status;

  r->rip--;
  ptrace(PTRACE_POKETEXT, pid, (void*)r->rip, (void*)(r->rip == entry ? entry_word : back_word));
  ptrace(PTRACE_SETREGS, pid, NULL, r);
  if (r->rip == back) {
    within = 0;
    say("back");
  } else if (--left == 0 && then == 0) {
    within = 1, calls = 0;
    back = (unsigned long)ptrace(PTRACE_PEEKDATA, pid, (void*)r->rsp, NULL);
    back_word = set(back);
  } else {
    if (left == 0) entry = then, then = 0, left = then_left;
    if (ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) != 0 || waitpid(pid, &status, __WALL) != pid) stop("step");
    if (WIFSTOPPED(status)) entry_word = set(entry);
  }
}

int main(int argc, char** argv)
{
  char                    rank[20] = "", on[4] = "";
  unsigned long           offset = 0, after_offset = 0;
  long                    nth = 0, after_nth = 0, call_nth = 0;
  int                     call = -1, error = 0, status, leaves = 0, fields = 0, failing = 0, again = 0;
  struct user_regs_struct r;
  const char *            step = getenv("STEP"), *after = getenv("STEP_AFTER");

  my_rank = getenv("PMI_RANK");
  if (argc < 2) return 2;
  if (step != NULL)
    fields = sscanf(step, "%19s %lx %ld %d %ld %d %3s", rank, &offset, &nth, &call, &call_nth, &error, on);
  if (fields < 3 || my_rank == NULL || (strcmp(rank, "all") != 0 && strcmp(rank, my_rank) != 0)) {
    execv(argv[1], argv + 1);
    stop(argv[1]);
  }
  pid = fork();
  if (pid < 0) stop("fork");
  if (pid == 0) {
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) stop("ptrace");
    raise(SIGSTOP);
    execv(argv[1], argv + 1);
    stop(argv[1]);
  }
  if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status)) stop("wait");
  if (ptrace(PTRACE_SETOPTIONS, pid, NULL,
             (void*)(long)(PTRACE_O_EXITKILL | PTRACE_O_TRACEEXEC | PTRACE_O_TRACESYSGOOD)) != 0)
    stop("ptrace");
  if (after != NULL && sscanf(after, "%lx %ld", &after_offset, &after_nth) != 2) return 2;
  left = after_nth > 0 ? after_nth : nth, then_left = nth;
  for (;;) {
    int give = 0;

    ptrace(within ? PTRACE_SYSCALL : PTRACE_CONT, pid, NULL, (void*)(long)again);
    again = 0;
    if (waitpid(pid, &status, __WALL) != pid) stop("wait");
    if (!WIFSTOPPED(status)) break;
    if (status >> 8 == (SIGTRAP | (PTRACE_EVENT_EXEC << 8))) {
      unsigned long at = base();

      if (at != 0) {
        entry = at + offset;
        if (after_nth > 0) then = entry, entry = at + after_offset;
        entry_word = set(entry);
      }
    } else if (WSTOPSIG(status) == (SIGTRAP | 0x80)) {
      leaves = !leaves;
      ptrace(PTRACE_GETREGS, pid, NULL, &r);
      if (within && leaves && (int)r.orig_rax == call) {
        calls++;
        failing = error != 0 && (calls == call_nth || (on[0] != '\0' && calls > call_nth));
        if (failing) r.orig_rax = (unsigned long)-1, ptrace(PTRACE_SETREGS, pid, NULL, &r);
        else if (error == 0 && calls == call_nth) die();
      } else if (!leaves && failing) {
        failing = 0;
        r.rax = (unsigned long)-error;
        ptrace(PTRACE_SETREGS, pid, NULL, &r);
      }
    } else if (WSTOPSIG(status) == SIGTRAP) {
      ptrace(PTRACE_GETREGS, pid, NULL, &r);
      if (r.rip - 1 != entry && r.rip - 1 != back) give = SIGTRAP;
      else {
        reach(&r);
        leaves = 0;
        if (within && call < 0) die();
      }
    } else give = WSTOPSIG(status);
    again = give;
  }
  if (WIFSIGNALED(status)) {
    if (dead) signal(SIGKILL, SIG_DFL);
    raise(WTERMSIG(status));
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
