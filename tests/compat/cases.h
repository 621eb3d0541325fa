/* cases.h - what the cases of both libraries share: C and C++. */
#ifndef CASES_H
#define CASES_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks, faults;

static void check(int right, const char* what, int line)
{
  if (right) return;
  printf("FAULT rank %d, line %d: %s\n", rank, line, what);
  faults++;
}
#define CHECK(right) check(right, #right, __LINE__)

/* What each rank has: a number, and an array whose length depends on the rank and on the step. */
static int     step;
static double* u;
static int     length_of(int at)
{
  return 1000 + 100 * rank + at;
}

static void make_data(int at)
{
  int i;

  step = at;
  u = (double*)realloc(u, sizeof *u * (size_t)length_of(at));
  for (i = 0; i < length_of(at); i++) u[i] = rank * 1e6 + at * 1e3 + i;
}

static int data_is(int at)
{
  int i;

  for (i = 0; i < length_of(at); i++)
    if (u[i] != rank * 1e6 + at * 1e3 + i) return 0;
  return step == at;
}

/* Data that is to be filled, for the step AT and MORE elements. */
static void clear_data(int at, int more)
{
  step = -1;
  u = (double*)realloc(u, sizeof *u * (size_t)(length_of(at) + more));
  memset(u, 0, sizeof *u * (size_t)(length_of(at) + more));
}

/* MPI_Finalize, and the line that says how PART went. */
static int end_of(const char* part)
{
  int all;

  MPI_Allreduce(&faults, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (all == 0 && rank == 0) printf("%s: all is right\n", part);
  fflush(stdout);
  free(u);
  return MPI_Finalize() != MPI_SUCCESS || all != 0;
}

/* The program: the first argument is the name of the one of the N PARTS to run. */
typedef struct {
  const char* name;
  void (*run)(void);
} part_of;

static int run_part(int argc, char** argv, const part_of* part, size_t n)
{
  size_t i;

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (i = 0; i < n; i++)
    if (argc > 1 && strcmp(argv[1], part[i].name) == 0) part[i].run();
  return end_of(argc > 1 ? argv[1] : "");
}

#endif
