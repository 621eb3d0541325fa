/*
** version - a run in steps, to make datasets of known bytes and to read those that another version has made.
**
**   version STEP...      SCR_Init, the steps, and MPI_Finalize; every rank exits with 1 when a step has failed on it
**
**   put:NAME             write the checkpoint NAME
**   out:NAME             write the output dataset NAME
**   open:NAME            write the files of NAME, and end the program before they are complete
**   kill:NAME            write the checkpoint NAME; VERSION_KILL tells at which rename the program dies
**                        (see version_rename)
**   get:NAME             NAME, and nothing else, is offered: restart from it
**   reject:NAME          the same, but the application rejects it
**   none                 no checkpoint is offered
**   lost                 checkpoints are known, but none can be loaded
**   current:NAME         SCR_Current
**   prefix:NAME          the prefix holds the files of NAME, under their final names
**   no-prefix:NAME       the prefix does not hold all files of NAME
**   end                  SCR_Finalize
**
** The files of dataset NAME are NAME/rank_<rank>.<number> below SCR_PREFIX; in NAME what follows a '@' does not
** count, so that state@1 and state@2 have the same files with other bytes.  make_data.sh and version.sh call this
** program.
*/
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <mpi.h>

#include "scr.h"

static int rank, failed, armed;

static void fail(const char* step, const char* what)
{
  fprintf(stderr, "rank %d: %s: %s\n", rank, step, what);
  failed = 1;
}

/* ---- files of known bytes: the data in tests/data/version-1 depends on this section, so never change it -------- */

#define FILES_MAX 2

/* How many files this rank has. */
static int files(void)
{
  return rank % 4 == 1 ? 2 : 1;
}

static unsigned seed_of(const char* name, int i)
{
  unsigned h = (unsigned)rank * 7919u + (unsigned)i * 104729u + 1u;
  for (; *name != '\0'; name++) h = h * 31u + (unsigned char)*name;
  return h;
}

/* Bytes of file I: odd, unequal over the ranks, and 0 for the second file of rank 1. */
static size_t size_of(const char* name, int i)
{
  static const size_t some[4] = {1021, 777, 4099, 333};
  return i == 1 ? 0 : some[rank % 4] + seed_of(name, 0) % 16 * 2;
}

static unsigned char byte_of(unsigned seed, size_t at)
{
  unsigned x = (seed + (unsigned)at) * 2654435761u;
  return (unsigned char)(x >> 13);
}

/* The path of file I of dataset NAME, as the application names it. */
static void path_of(const char* name, int i, char path[SCR_MAX_FILENAME])
{
  const char* prefix = getenv("SCR_PREFIX");
  snprintf(path, SCR_MAX_FILENAME, "%s/%.*s/rank_%d.%d", prefix != NULL ? prefix : ".", (int)strcspn(name, "@"), name,
           rank, i);
}

static int write_bytes(const char* path, const char* name, int i)
{
  FILE*  f = fopen(path, "wb");
  size_t k;

  if (f == NULL) return 0;
  for (k = 0; k < size_of(name, i); k++) putc(byte_of(seed_of(name, i), k), f);
  return fclose(f) == 0;
}

/* 1 when PATH holds the bytes of file I of NAME and no more. */
static int same_bytes(const char* path, const char* name, int i)
{
  FILE*  f = fopen(path, "rb");
  size_t k;
  int    same = f != NULL;

  for (k = 0; same && k < size_of(name, i); k++) same = getc(f) == byte_of(seed_of(name, i), k);
  if (same) same = getc(f) == EOF;
  if (f != NULL) fclose(f);
  return same;
}

/* ---- what the library gets in place of two calls: it is compiled with -Drename=version_rename and so on ---------- */

int version_gethostname(char* name, size_t n);
int version_rename(const char* from, const char* to);

/* The host on which the data was made: the paths of the cache hold its name. */
int version_gethostname(char* name, size_t n)
{
  snprintf(name, n, "node");
  return 0;
}

/*
** In the step kill, VERSION_KILL=RANKS:PART ends the ranks that are named by their digits before their first rename
** to a path that holds PART; they wait a second, so that the others come as far as they can.
*/
int version_rename(const char* from, const char* to)
{
  const char *kill_at = getenv("VERSION_KILL"), *part = kill_at != NULL ? strchr(kill_at, ':') : NULL;
  int         i;

  if (armed && part != NULL && strstr(to, part + 1) != NULL)
    for (i = 0; kill_at[i] != ':'; i++)
      if (kill_at[i] - '0' == rank) {
        sleep(1);
        kill(getpid(), SIGKILL);
      }
  return rename(from, to);
}

/* ---- steps ----------------------------------------------------------------------------------------------------- */

static void put(const char* step, const char* name, int flags)
{
  char path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME];
  int  i;

  if (SCR_Start_output(name, flags) != SCR_SUCCESS) {
    fail(step, SCR_Last_error());
    return;
  }
  for (i = 0; i < files(); i++) {
    path_of(name, i, path);
    if (SCR_Route_file(path, file) != SCR_SUCCESS) fail(step, SCR_Last_error());
    else if (!write_bytes(file, name, i)) fail(step, strerror(errno));
  }
  if (strncmp(step, "open:", 5) == 0) {
    MPI_Barrier(MPI_COMM_WORLD);
    sleep(1); /* then all ranks have written and left the barrier */
    kill(getpid(), SIGKILL);
  }
  armed = strncmp(step, "kill:", 5) == 0;
  if (SCR_Complete_output(!failed) != SCR_SUCCESS) fail(step, SCR_Last_error());
}

static void get(const char* step, const char* name, int valid)
{
  char offered[SCR_MAX_FILENAME] = "none", path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME];
  int  i, rc, flag = 0;

  if (SCR_Have_restart(&flag, offered) != SCR_SUCCESS || !flag || strcmp(offered, name) != 0) {
    fail(step, flag ? offered : SCR_Last_error());
    return;
  }
  if (SCR_Start_restart(NULL) != SCR_SUCCESS) fail(step, SCR_Last_error());
  for (i = 0; i < files(); i++) {
    path_of(name, i, path);
    if (SCR_Route_file(path, file) != SCR_SUCCESS) fail(step, SCR_Last_error());
    else if (strcmp(file, path) == 0) fail(step, "the file is read from the prefix, not from the cache");
    else if (!same_bytes(file, name, i)) fail(step, "a file holds other bytes");
  }
  rc = SCR_Complete_restart(valid);
  if (rc != (valid ? SCR_SUCCESS : SCR_ERR_INVALID)) fail(step, SCR_Last_error());
}

/* That nothing is offered, with the code RC. */
static void offers_nothing(const char* step, int rc)
{
  char name[SCR_MAX_FILENAME] = "";
  int  flag = 0;

  if (SCR_Have_restart(&flag, name) != rc) fail(step, "Have_restart returns another code");
  if (flag) fail(step, name);
}

/*
** That the prefix holds what NAME says; or, when GOOD is 0, that files of some rank are missing or not the right
** ones.
*/
static void look(const char* step, const char* name, int good)
{
  char path[SCR_MAX_FILENAME];
  int  i, same = 1;

  for (i = 0; i < files(); i++) {
    path_of(name, i, path);
    if (!same_bytes(path, name, i)) same = 0;
  }
  if (!good) MPI_Allreduce(MPI_IN_PLACE, &same, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (same != good) fail(step, good ? "the prefix has other files" : "the prefix has all files");
}

/* 1 when STEP is VERB:NAME. */
static int is(const char* step, const char* verb, const char** name)
{
  size_t n = strlen(verb);

  *name = step + n + 1;
  return strncmp(step, verb, n) == 0 && step[n] == ':';
}

static void run(const char* step)
{
  const char* name;

  if (is(step, "put", &name) || is(step, "open", &name) || is(step, "kill", &name))
    put(step, name, SCR_FLAG_CHECKPOINT);
  else if (is(step, "out", &name)) put(step, name, SCR_FLAG_OUTPUT);
  else if (is(step, "get", &name)) get(step, name, 1);
  else if (is(step, "reject", &name)) get(step, name, 0);
  else if (is(step, "prefix", &name)) look(step, name, 1);
  else if (is(step, "no-prefix", &name)) look(step, name, 0);
  else if (strcmp(step, "none") == 0) offers_nothing(step, SCR_SUCCESS);
  else if (strcmp(step, "lost") == 0) offers_nothing(step, SCR_ERR_NO_RESTART);
  else if (strcmp(step, "end") == 0) {
    if (SCR_Finalize() != SCR_SUCCESS) fail(step, SCR_Last_error());
  } else if (is(step, "current", &name)) {
    if (SCR_Current(name) != SCR_SUCCESS) fail(step, SCR_Last_error());
  } else {
    fail(step, "there is no such step");
  }
}

int main(int argc, char** argv)
{
  int i;

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  alarm(60);
  if (SCR_Init() != SCR_SUCCESS) fail("SCR_Init", SCR_Last_error());
  for (i = 1; i < argc && !failed; i++) { /* steps are collective: all ranks go on, or none */
    run(argv[i]);
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return failed;
}
