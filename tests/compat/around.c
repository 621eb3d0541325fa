/*
** around.c - what a program does beside the library: threads with small stacks, children, locales, limits, signals.
**
** Usage: around threads | children COMMAND... | signals | descriptors NUMBER       the part to run
*/
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scr.h"

static int rank, ranks, faults;

#define CHECK(cond)                                                                                                    \
  do {                                                                                                                 \
    if (!(cond)) {                                                                                                     \
      faults++;                                                                                                        \
      fprintf(stderr, "FAULT: rank %d, line %d: %s: %s\n", rank, __LINE__, #cond, SCR_Last_error());                   \
    }                                                                                                                  \
  } while (0)

/* Write the checkpoint NAME; the code of its completion. */
static int writes(const char* name)
{
  char  path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME];
  FILE* f;
  int   rc = SCR_Start_output(name, SCR_FLAG_CHECKPOINT);

  if (rc != SCR_SUCCESS) return rc;
  snprintf(path, sizeof path, "%s/rank_%d", name, rank);
  f = SCR_Route_file(path, file) == SCR_SUCCESS ? fopen(file, "w") : NULL;
  if (f != NULL) fprintf(f, "%s of rank %d\n", name, rank);
  return SCR_Complete_output(f != NULL && fclose(f) == 0);
}

/* That a restart gets NAME. */
static void reads(const char* name)
{
  char  path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME], is[SCR_MAX_FILENAME] = "", want[64], have[64] = "";
  int   flag;
  FILE* f;

  CHECK(SCR_Have_restart(&flag, is) == SCR_SUCCESS && flag && strcmp(is, name) == 0);
  if (!flag) return;
  CHECK(SCR_Start_restart(NULL) == SCR_SUCCESS);
  snprintf(path, sizeof path, "%s/rank_%d", name, rank);
  CHECK(SCR_Route_file(path, file) == SCR_SUCCESS);
  snprintf(want, sizeof want, "%s of rank %d\n", name, rank);
  f = fopen(file, "r");
  CHECK(f != NULL && fgets(have, sizeof have, f) != NULL && strcmp(have, want) == 0);
  if (f != NULL) fclose(f);
  CHECK(SCR_Complete_restart(1) == SCR_SUCCESS);
}

/*
** ---- threads: another one than main makes the calls, on 192 KiB, of which MPICH alone takes 130 where ranks wait,
** while main uses MPI as well ----
*/

static void* calls(void* restarts)
{
  CHECK(SCR_Init() == SCR_SUCCESS);
  if (restarts != NULL) reads((const char*)restarts);
  CHECK(writes("ck1") == SCR_SUCCESS);
  CHECK(writes("ck2") == SCR_SUCCESS);
  CHECK(SCR_Drop("nothing") == SCR_ERR_NOT_FOUND && SCR_Delete("nothing") == SCR_ERR_NOT_FOUND);
  CHECK(SCR_Wait(NULL) == SCR_SUCCESS);
  CHECK(SCR_Finalize() == SCR_SUCCESS);
  return NULL;
}

static void threads(void)
{
  static char    last[] = "ck2";
  pthread_attr_t small;
  pthread_t      thread;
  MPI_Comm       own;
  int            run, i, sum, level;

  MPI_Query_thread(&level);
  if (level < MPI_THREAD_MULTIPLE) {
    if (rank == 0) printf("skipped: MPI has no MPI_THREAD_MULTIPLE\n");
    return;
  }
  MPI_Comm_dup(MPI_COMM_WORLD, &own);
  pthread_attr_init(&small);
  CHECK(pthread_attr_setstacksize(&small, 192 * 1024) == 0);
  for (run = 0; run < 2; run++) {
    CHECK(pthread_create(&thread, &small, calls, run ? last : NULL) == 0);
    for (i = 0; i < 100; i++) {
      sum = 0;
      MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, own);
      CHECK(sum == ranks * (ranks - 1) / 2);
      usleep(2000);
    }
    pthread_join(thread, NULL);
  }
  pthread_attr_destroy(&small);
  MPI_Comm_free(&own);
}

/* ---- children: with fork, and with exec ---- */

enum { MOST = 1024 };
static char was_open[MOST]; /* before SCR_Init */

/* Descriptors of the library that a program which is executed would get. */
static int inherited(void)
{
  int fd, n = 0;

  for (fd = 0; fd < MOST; fd++) {
    int flags = fcntl(fd, F_GETFD);
    if (flags < 0 || was_open[fd] || flags & FD_CLOEXEC) continue;
    fprintf(stderr, "rank %d: descriptor %d has no FD_CLOEXEC\n", rank, fd);
    n++;
  }
  return n;
}

/* Run COMMAND, one word for the shell, in a child; its exit code. */
static int shell(const char* command)
{
  int status = system(command);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void children(const char* deletes)
{
  pid_t stays, child;
  int   fd, way, status;

  for (fd = 0; fd < MOST; fd++) was_open[fd] = fcntl(fd, F_GETFD) >= 0;
  CHECK(SCR_Init() == SCR_SUCCESS);
  CHECK(writes("ck1") == SCR_SUCCESS);
  CHECK(inherited() == 0);
  for (way = 0; way < 2; way++) { /* a child that ends, with what atexit has and without, ends nothing of the run */
    if ((child = fork()) == 0) {
      if (way == 0) exit(0);
      _exit(0);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) CHECK(shell(deletes) == 0); /* it says that a run uses the prefix */
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(SCR_Start_output("ck2", SCR_FLAG_CHECKPOINT) == SCR_SUCCESS);
  if ((stays = fork()) == 0) {
    execlp("sleep", "sleep", "30", (char*)NULL);
    _exit(127);
  }
  CHECK(SCR_Complete_output(1) == SCR_SUCCESS);
  CHECK(writes("ck3") == SCR_SUCCESS);
  CHECK(SCR_Finalize() == SCR_SUCCESS);
  CHECK(waitpid(stays, &status, WNOHANG) == 0); /* it is still there, and holds nothing */
  CHECK(SCR_Init() == SCR_SUCCESS);
  reads("ck3");
  CHECK(SCR_Finalize() == SCR_SUCCESS);
  kill(stays, SIGKILL);
  waitpid(stays, &status, 0);
}

/* ---- signals: the handlers of the program stay ---- */

static volatile sig_atomic_t pipes;

static void on_child(int number)
{
  int status, kept = number == SIGCHLD;

  while (kept && waitpid(-1, &status, WNOHANG) > 0) continue;
}

static void on_pipe(int number)
{
  (void)number;
  pipes++;
}

static int handlers_stay(void)
{
  struct sigaction child, broken;

  return sigaction(SIGCHLD, NULL, &child) == 0 && sigaction(SIGPIPE, NULL, &broken) == 0 &&
         child.sa_handler == on_child && broken.sa_handler == on_pipe && pipes == 0;
}

static void signals(void)
{
  signal(SIGCHLD, on_child);
  signal(SIGPIPE, on_pipe);
  CHECK(SCR_Init() == SCR_SUCCESS && handlers_stay());
  CHECK(writes("ck1") == SCR_SUCCESS && handlers_stay());
  CHECK(SCR_Wait(NULL) == SCR_SUCCESS && handlers_stay());
  CHECK(SCR_Finalize() == SCR_SUCCESS && handlers_stay());
}

/* ---- descriptors: of few, a call works or says so, and works when there are more ---- */

static void descriptors(int few)
{
  struct rlimit limit, less;
  int           fd, i, rc, all = 0, filled[MOST], fills = 0;

  getrlimit(RLIMIT_NOFILE, &limit);
  less = limit;
  less.rlim_cur = MOST / 4;
  setrlimit(RLIMIT_NOFILE, &less);
  while ((fd = open("/dev/null", O_RDONLY)) >= 0) filled[fills++] = fd;
  for (i = 0; i < few && fills > 0; i++) close(filled[--fills]);
  rc = SCR_Init();
  if (rc == SCR_SUCCESS) rc = writes("ck1");
  else CHECK(strstr(SCR_Last_error(), "open files") != NULL);
  MPI_Allreduce(&rc, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  CHECK(rc == all);
  if (rank == 0) printf("with %d descriptors: %d\n", few, rc);
  while (fills > 0) close(filled[--fills]);
  setrlimit(RLIMIT_NOFILE, &limit);
  if (SCR_Finalize() != SCR_SUCCESS) CHECK(rc != SCR_SUCCESS);
  CHECK(SCR_Init() == SCR_SUCCESS);
  if (rc == SCR_SUCCESS) reads("ck1");
  CHECK(writes("ck2") == SCR_SUCCESS);
  CHECK(SCR_Finalize() == SCR_SUCCESS);
}

int main(int argc, char** argv)
{
  const char* part = argc > 1 ? argv[1] : "";
  int         level, all = 0;

  MPI_Init_thread(&argc, &argv, strcmp(part, "threads") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (strcmp(part, "threads") == 0) threads();
  else if (strcmp(part, "children") == 0) children(argc > 2 ? argv[2] : "false");
  else if (strcmp(part, "signals") == 0) signals();
  else if (strcmp(part, "descriptors") == 0) descriptors(argc > 2 ? atoi(argv[2]) : 0);
  else CHECK(!"a part of this program");
  MPI_Allreduce(&faults, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0 && all == 0) printf("%s: all is right\n", part);
  MPI_Finalize();
  return all != 0;
}
