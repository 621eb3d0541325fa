/*
** steered.c - a job for the tests of commands: STEPS steps, and before each of them rank 0 runs the shell command
** $BEFORE_STEP with the number of the step, so that a script can do anything to a job at a known moment.
**
** A step ends with SCR_Need_checkpoint; a checkpoint `step.<n>` is a file of $BYTES bytes for each rank, which a
** restart compares.  TRACKED=<path>: rank 0 tracks this file, and appends a line before each checkpoint.  ASKS=1: the
** job asks SCR_Should_exit.  FAILS=<n>: the checkpoint of that step is not valid.  Each rank writes its process id to
** the file pid.<rank>.  Rank 0 prints what happens.
*/
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mpi.h>

#include "../../scr.h"

static int rank, step;

#if defined(STEERED_SIGNAL)
/* A handler of the application's own, to which the library's has to pass signals on. */
static volatile sig_atomic_t heard;

static void hear(int number)
{
  heard = number;
}
#endif

/* Write the file of this rank of checkpoint NAME, or compare it.  Returns 1 if that worked. */
static int transfer(const char* name, int write)
{
  char   path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME];
  size_t i, bytes = getenv("BYTES") != NULL ? (size_t)atol(getenv("BYTES")) : 1000;
  int    ok, c;
  FILE*  f;

  snprintf(path, sizeof path, "%s/rank_%d", name, rank);
  if (SCR_Route_file(path, file) != SCR_SUCCESS || (f = fopen(file, write ? "w" : "r")) == NULL) return 0;
  ok = write ? fprintf(f, "%d\n", step) > 0 : fscanf(f, "%d", &step) == 1 && getc(f) == '\n';
  for (i = 0; i < bytes && ok; i++) {
    c = (int)((i * 7 + (size_t)rank) & 63) + ' ';
    ok = write ? putc(c, f) == c : getc(f) == c;
  }
  return fclose(f) == 0 && ok;
}

/* Write VALUE into the file WHAT.<rank>: what two ranks print at once may come out mixed. */
static void note(const char* what, long value)
{
  char  name[64];
  FILE* f;

  snprintf(name, sizeof name, "%s.%d", what, rank);
  f = fopen(name, "w");
  if (f == NULL || fprintf(f, "%ld\n", value) < 0 || fclose(f) != 0) MPI_Abort(MPI_COMM_WORLD, 4);
}

static void restart(void)
{
  char name[SCR_MAX_FILENAME];
  int  flag = 0, rc;

  while (SCR_Have_restart(&flag, name) == SCR_SUCCESS && flag) {
    SCR_Start_restart(name);
    rc = SCR_Complete_restart(transfer(name, 0));
    if (rc != SCR_SUCCESS) continue;
    if (rank == 0) printf("restarted from %s\n", name);
    return;
  }
  step = 0;
}

/* Append a line to the file that rank 0 tracks. */
static void append(const char* path)
{
  FILE* f = fopen(path, "a");

  if (f == NULL || fprintf(f, "step %d\n", step) < 0 || fclose(f) != 0) printf("step %d: no line in %s\n", step, path);
}

static void checkpoint(void)
{
  char name[64];
  int  ok;

  if (rank == 0 && getenv("TRACKED") != NULL) append(getenv("TRACKED"));
  snprintf(name, sizeof name, "step.%d", step);
  ok = SCR_Start_output(name, SCR_FLAG_CHECKPOINT) == SCR_SUCCESS && transfer(name, 1);
  if (getenv("FAILS") != NULL && atoi(getenv("FAILS")) == step) ok = 0;
  ok = SCR_Complete_output(ok) == SCR_SUCCESS;
  if (rank == 0) printf("step %d: checkpoint%s\n", step, ok ? "" : " failed");
}

int main(int argc, char** argv)
{
  char command[4096];
  int  steps = argc > 1 ? atoi(argv[1]) : 1, flag = 0, leave = 0;

#if defined(STEERED_SIGNAL)
  signal(STEERED_SIGNAL, hear);
#endif
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  setvbuf(stdout, NULL, _IOLBF, 0);
  note("pid", (long)getpid());
  if (SCR_Init() != SCR_SUCCESS) { /* on all ranks; MPI_Abort could cut off the message */
    MPI_Finalize();
    return 2;
  }
  if (rank == 0 && getenv("TRACKED") != NULL) SCR_Track(getenv("TRACKED"));
  restart();
  while (++step <= steps && !leave) {
    if (rank == 0 && getenv("BEFORE_STEP") != NULL) {
      snprintf(command, sizeof command, "%s %d", getenv("BEFORE_STEP"), step);
      if (system(command) != 0) printf("step %d: %s fails\n", step, command);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (SCR_Need_checkpoint(&flag) != SCR_SUCCESS) printf("step %d: SCR_Need_checkpoint fails\n", step);
    if (flag) checkpoint();
    if (getenv("ASKS") != NULL && SCR_Should_exit(&leave) == SCR_SUCCESS && leave && rank == 0)
      printf("step %d: should exit\n", step);
  }
#if defined(STEERED_SIGNAL)
  if (heard != 0) note("heard", (long)heard);
#endif
  if (SCR_Finalize() != SCR_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 3);
  if (rank == 0) printf("done\n");
  MPI_Finalize();
  return 0;
}
