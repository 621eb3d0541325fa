/* late.c - a library that can do more than images support, and a program that lets it do so, or not. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef PROGRAM
#include "at.h"

int late(const char* what);

int main(int argc, char** argv)
{
  int rc;

  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  rc = late(argv[1]);
  point(0);
  linger();
  MPI_Finalize();
  printf("the end, %d\n", rc);
  return 0;
}
#else
int late(const char* what);

static void ends(void)
{
  puts("the library ends");
}

static __attribute__((constructor)) void begins(void)
{
  atexit(ends);
}

int late(const char* what)
{
  MPI_Comm both;
  int      error_class;

  if (*what == 'a') return (int)alarm(0);
  if (*what != 'm') return 0;
  MPI_Error_class(MPI_Intercomm_merge(MPI_COMM_WORLD, 0, &both), &error_class);
  return error_class == MPI_ERR_UNSUPPORTED_OPERATION;
}
#endif
