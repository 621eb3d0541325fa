/*
** copies.c - a program, and a shared library (-DINNER) that it calls in the middle of a checkpoint.  Each has its own
** copy of the library and writes a checkpoint below its prefix.  Arguments: the two prefixes.  It prints both codes.
** With FORGET in the environment neither calls SCR_Finalize.
*/
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include "scr.h"

int inner_run(const char* prefix);

/* Start a run over PREFIX and the checkpoint NAME. */
static int begin(const char* prefix, const char* name)
{
  int rc;

  SCR_Configf("SCR_PREFIX=%s", prefix);
  rc = SCR_Init();
  return rc != SCR_SUCCESS ? rc : SCR_Start_output(name, SCR_FLAG_CHECKPOINT);
}

/* Complete the checkpoint and the run; the file of each rank has the name of the checkpoint in it. */
static int end(const char* prefix, const char* name)
{
  char  path[2 * SCR_MAX_FILENAME], file[SCR_MAX_FILENAME];
  int   rank, rc, ok;
  FILE* f;

  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  snprintf(path, sizeof path, "%s/%s/rank_%d", prefix, name, rank);
  f = SCR_Route_file(path, file) == SCR_SUCCESS ? fopen(file, "w") : NULL;
  ok = f != NULL && fprintf(f, "%s\n", name) > 0;
  if (f != NULL && fclose(f) != 0) ok = 0;
  rc = SCR_Complete_output(ok);
  ok = getenv("FORGET") == NULL ? SCR_Finalize() : SCR_SUCCESS;
  return rc != SCR_SUCCESS ? rc : ok;
}

#ifdef INNER

__attribute__((visibility("default"))) int inner_run(const char* prefix)
{
  int rc = begin(prefix, "inner");
  return rc != SCR_SUCCESS ? rc : end(prefix, "inner");
}

#else

int main(int argc, char** argv)
{
  int rank, outer, inner;

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc > 2) {
    outer = begin(argv[1], "outer");
    inner = inner_run(argv[2]);
    if (outer == SCR_SUCCESS) outer = end(argv[1], "outer");
    if (rank == 0) printf("outer %d, inner %d\n", outer, inner);
  }
  MPI_Finalize();
  return 0;
}

#endif
