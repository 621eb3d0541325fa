/*
** older.c - a program as they are for SCR 3.x, without a look at what is new here: it asks for a restart until one
** succeeds, writes checkpoints, and ends.  It is C and C++.
**
** Arguments: the checkpoints to write, and words: `shared` (all ranks write one file, each its part), `many` (three
** files of a rank), `output` (each second dataset is output, and no checkpoint), `config` (settings by SCR_Config),
** `die` (it ends without SCR_Finalize).
*/
#ifdef __cplusplus
extern "C" {
#include "scr.h"
}
#include <mpi.h>
#else
#include <mpi.h>
#include "scr.h"
#endif
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The calls and constants of scr.h of 3.1, by the types that they have there. */
int (*with_nothing[])(void) = {SCR_Init, SCR_Finalize, SCR_Start_checkpoint};
int (*with_flag[])(int*) = {SCR_Need_checkpoint, SCR_Should_exit};
int (*with_valid[])(int) = {SCR_Complete_checkpoint, SCR_Complete_output, SCR_Complete_restart};
int (*with_name[])(const char*) = {SCR_Current, SCR_Drop, SCR_Delete};
int (*have_restart)(int*, char*) = SCR_Have_restart;
int (*start_restart)(char*) = SCR_Start_restart;
int (*start_output)(const char*, int) = SCR_Start_output;
int (*route_file)(const char*, char*) = SCR_Route_file;
char* (*get_version)(void) = SCR_Get_version;
const char* (*config_by_text)(const char*) = SCR_Config;
const char* (*config_by_format)(const char*, ...) = SCR_Configf;
const char*  versions[] = {SCR_VERSION, SCR_MAJOR_VERSION, SCR_MINOR_VERSION, SCR_PATCH_VERSION};
typedef char constants[SCR_SUCCESS == 0 && SCR_MAX_FILENAME == 1024 && SCR_FLAG_NONE == 0 && SCR_FLAG_CHECKPOINT == 1 &&
                               SCR_FLAG_OUTPUT == 2
                           ? 1
                           : -1];

enum { BYTES = 5000, LOOPS = 20 };

static int rank, ranks, shared, many;

static char byte_of(int step, int part, int i)
{
  return (char)(step * 31 + part * 7 + i);
}

/* The name of file I of dataset NAME on this rank. */
static void path_of(char* path, size_t size, const char* name, int i)
{
  if (shared) snprintf(path, size, "%s/all", name);
  else if (many) snprintf(path, size, "%s/rank_%d/file_%d", name, rank, i);
  else snprintf(path, size, "%s/rank_%d", name, rank);
}

static int files(void)
{
  return many ? 3 : 1;
}

static int writes(const char* file, int step, int part)
{
  char bytes[BYTES];
  int  i, fd, ok;

  for (i = 0; i < BYTES; i++) bytes[i] = byte_of(step, part, i);
  if (!shared) fd = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  else { /* the first makes it */ fd = rank == 0 ? open(file, O_WRONLY | O_CREAT | O_TRUNC, 0666) : -1;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank != 0) fd = open(file, O_WRONLY);
  }
  if (fd < 0) fprintf(stderr, "rank %d cannot open %s: %s\n", rank, file, strerror(errno));
  ok = fd >= 0 && pwrite(fd, bytes, BYTES, shared ? (off_t)rank * BYTES : 0) == BYTES;
  if (fd >= 0 && close(fd) != 0) ok = 0;
  return ok;
}

static int reads(const char* file, int step, int part)
{
  char bytes[BYTES];
  int  i, fd = open(file, O_RDONLY), ok;

  ok = fd >= 0 && pread(fd, bytes, BYTES, shared ? (off_t)rank * BYTES : 0) == BYTES;
  for (i = 0; i < BYTES && ok; i++)
    if (bytes[i] != byte_of(step, part, i)) ok = 0;
  if (fd >= 0) close(fd);
  return ok;
}

/* The step of the checkpoint that it goes on from; 0 if there is none. */
static int restarts(void)
{
  char name[SCR_MAX_FILENAME], path[2 * SCR_MAX_FILENAME], file[SCR_MAX_FILENAME];
  int  have = 0, step = 0, loops = 0, i, ok, done = 0;

  do {
    SCR_Have_restart(&have, name);
    if (!have) break;
    SCR_Start_restart(name);
    ok = sscanf(name, "step.%d", &step) == 1;
    for (i = 0; i < files(); i++) {
      path_of(path, sizeof path, name, i);
      if (SCR_Route_file(path, file) != SCR_SUCCESS || !reads(file, step, i)) ok = 0;
    }
    done = SCR_Complete_restart(ok) == SCR_SUCCESS;
    if (rank == 0) printf("%s %s\n", done ? "restarted from" : "not restarted from", name);
  } while (!done && ++loops < LOOPS);
  if (rank == 0 && loops == LOOPS) printf("the loop does not end\n");
  return done ? step : 0;
}

int main(int argc, char** argv)
{
  char name[SCR_MAX_FILENAME], path[2 * SCR_MAX_FILENAME], file[SCR_MAX_FILENAME];
  int  n, i, step, flags, ok, output = 0, die = 0, failed = 0, config = 0;

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  n = argc > 1 ? atoi(argv[1]) : 0;
  for (i = 2; i < argc; i++) {
    shared |= strcmp(argv[i], "shared") == 0;
    many |= strcmp(argv[i], "many") == 0;
    output |= strcmp(argv[i], "output") == 0;
    config |= strcmp(argv[i], "config") == 0;
    die |= strcmp(argv[i], "die") == 0;
  }
  if (config) {
    SCR_Config("SCR_COPY_TYPE=FILE");
    SCR_Config("CKPT=0 INTERVAL=1 GROUP=NODE TYPE=XOR SET_SIZE=4");
    SCR_Configf("SCR_FLUSH=%d", 2);
  }
  if (SCR_Init() != SCR_SUCCESS) {
    if (rank == 0) printf("no SCR_Init\n");
    MPI_Finalize();
    return 1;
  }
  step = restarts();
  for (n += step; step < n;) {
    step++;
    flags = output && step % 2 ? SCR_FLAG_OUTPUT : SCR_FLAG_CHECKPOINT;
    snprintf(name, sizeof name, "step.%d", step);
    SCR_Start_output(name, flags);
    ok = 1;
    for (i = 0; i < files(); i++) {
      path_of(path, sizeof path, name, i);
      if (SCR_Route_file(path, file) != SCR_SUCCESS || !writes(file, step, i)) ok = 0;
    }
    if (SCR_Complete_output(ok) != SCR_SUCCESS) failed++;
  }
  if (rank == 0) printf("at step %d, %d failed\n", step, failed);
  if (!die) SCR_Finalize();
  MPI_Finalize();
  return 0;
}
