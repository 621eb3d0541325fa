/* late.c - a library that can do more than images support, and a program that lets it do so, or not. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef PROGRAM
#include "at.h"

int late(const char* what);

int main(int argc, char** argv)
{
  int rc, provided;

  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided == MPI_THREAD_FUNNELED) printf("only the main thread\n");
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
  int      error_class, ends[2];
  pid_t    child;

  if (strcmp(what, "alarm") == 0) alarm(0);
  if (strcmp(what, "pipe") == 0 && pipe(ends) == 0) close(ends[0]), close(ends[1]);
  if (strcmp(what, "fork") == 0) {
    if ((child = fork()) == 0) _exit(0);
    waitpid(child, NULL, 0);
  }
  if (strcmp(what, "mmap") == 0) mmap(NULL, 4096, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (strcmp(what, "dlopen") == 0) dlopen("libm.so.6", RTLD_NOW);
  if (strcmp(what, "merge") != 0) return 0;
  MPI_Error_class(MPI_Intercomm_merge(MPI_COMM_WORLD, 0, &both), &error_class);
  return error_class == MPI_ERR_UNSUPPORTED_OPERATION;
}
#endif
