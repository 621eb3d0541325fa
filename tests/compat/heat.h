/* heat.h - what both heat solvers compute: rows of a plate on each rank, with those of its neighbours around them. */
#ifndef HEAT_H
#define HEAT_H

#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { COLUMNS = 64, ROWS = 20 };

static void set_up(double* g, int rank)
{
  int j;

  for (j = 0; j < COLUMNS * (ROWS + 2); j++) g[j] = 0;
  if (rank == 0)
    for (j = COLUMNS / 10; j < COLUMNS * 9 / 10; j++) g[j] = 100;
}

static void compute(double* g, double* h, int rank, int ranks, MPI_Comm comm)
{
  int up = rank > 0 ? rank - 1 : MPI_PROC_NULL, down = rank < ranks - 1 ? rank + 1 : MPI_PROC_NULL, i, j;

  memcpy(h, g, sizeof *g * COLUMNS * (ROWS + 2));
  MPI_Sendrecv(g + COLUMNS, COLUMNS, MPI_DOUBLE, up, 0, h + (ROWS + 1) * COLUMNS, COLUMNS, MPI_DOUBLE, down, 0, comm,
               MPI_STATUS_IGNORE);
  MPI_Sendrecv(g + ROWS * COLUMNS, COLUMNS, MPI_DOUBLE, down, 1, h, COLUMNS, MPI_DOUBLE, up, 1, comm,
               MPI_STATUS_IGNORE);
  for (i = 1; i <= ROWS; i++)
    for (j = 1; j < COLUMNS - 1; j++)
      g[i * COLUMNS + j] = 0.25 * (h[(i - 1) * COLUMNS + j] + h[(i + 1) * COLUMNS + j] + h[i * COLUMNS + j - 1] +
                                   h[i * COLUMNS + j + 1]);
}

static void print_answer(const double* g, int rank, int step, MPI_Comm comm)
{
  unsigned long long sum = 1469598103934665603u, all;
  size_t             i;

  for (i = 0; i < sizeof *g * COLUMNS * (ROWS + 2); i++) sum = (sum ^ ((const unsigned char*)g)[i]) * 1099511628211u;
  sum *= 2 * (unsigned long long)rank + 1;
  MPI_Reduce(&sum, &all, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, 0, comm);
  if (rank == 0) printf("answer %016llx at step %d\n", all, step);
}

#endif
