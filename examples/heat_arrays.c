/*
** heat_arrays.c [N [STEPS]] - heat_plain.c, which names what it has in memory, and what part of the whole that is.
**
**   mpicc heat_arrays.c scr_impl.c -lz -lpthread -o heat_arrays
**
** The same command starts it and, after a failure, continues it, on as many ranks as you like.
*/
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "scr.h"

/* Exchange the first and the last row of this rank's ROWS with its neighbours. */
static void exchange(double* u, int rows, int n, int up, int down)
{
  MPI_Request r[4];
  MPI_Status  st[4];

  MPI_Irecv(u, n, MPI_DOUBLE, up, 1, MPI_COMM_WORLD, &r[0]);
  MPI_Irecv(u + (size_t)(rows + 1) * (size_t)n, n, MPI_DOUBLE, down, 2, MPI_COMM_WORLD, &r[1]);
  MPI_Isend(u + n, n, MPI_DOUBLE, up, 2, MPI_COMM_WORLD, &r[2]);
  MPI_Isend(u + (size_t)rows * (size_t)n, n, MPI_DOUBLE, down, 1, MPI_COMM_WORLD, &r[3]);
  MPI_Waitall(4, r, st);
}

/* One step from U to V.  Returns the sum of the squares of all changes. */
static double step(const double* u, double* v, int rows, int n)
{
  double change = 0;
  int    i, j;

  for (i = 1; i <= rows; i++)
    for (j = 1; j < n - 1; j++) {
      size_t at = (size_t)i * (size_t)n + (size_t)j;

      v[at] = 0.25 * (u[at - 1] + u[at + 1] + u[at - (size_t)n] + u[at + (size_t)n]);
      change += (v[at] - u[at]) * (v[at] - u[at]);
    }
  return change;
}

int main(int argc, char** argv)
{
  int     n = argc > 1 ? atoi(argv[1]) : 512, steps = argc > 2 ? atoi(argv[2]) : 1000, rank, size, rows, i;
  size_t  cells, k;
  double *u, *v, *swap, change = 0, all = 0, heat = 0;
  int     rc, have = 0, need = 0;
  size_t  global[2], offset[2] = {0, 0}, extent[2];

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  rows = n / size + (rank < n % size);
  cells = (size_t)(rows + 2) * (size_t)n;
  u = (double*)calloc(cells, sizeof *u);
  v = (double*)calloc(cells, sizeof *v);
  if (u == NULL || v == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  for (i = 0; i < n && rank == 0; i++) u[i] = v[i] = 100.0 * (i + 1) / n; /* the upper edge is hot */
  SCR_Config("SCR_CHECKPOINT_INTERVAL=100"); /* our default; the environment overrides it */
  rc = SCR_Init();
  SCR_Protect("step", &i, 1, sizeof i);
  SCR_Protect("change", &change, 1, sizeof change);
  global[0] = global[1] = extent[1] = (size_t)n;
  extent[0] = (size_t)rows;
  offset[0] = (size_t)rank * (size_t)(n / size) + (size_t)(rank < n % size ? rank : n % size);
  SCR_Protect_array("u", u + n, sizeof *u, 2, global, offset, extent);
  if (rc == SCR_SUCCESS) rc = SCR_Recover(&have, NULL);
  if (rc != SCR_SUCCESS && rc != SCR_ERR_DISABLED) {
    MPI_Finalize(); /* the library has printed why, and all ranks have the same code */
    return 1;
  }
  if (rank == 0 && have) printf("heat: goes on after step %d\n", i + 1);
  for (i = have ? i + 1 : 0; i < steps; i++) {
    exchange(u, rows, n, rank > 0 ? rank - 1 : MPI_PROC_NULL, rank < size - 1 ? rank + 1 : MPI_PROC_NULL);
    change = step(u, v, rows, n);
    MPI_Allreduce(MPI_IN_PLACE, &change, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    swap = u, u = v, v = swap;
    if (rank == 0 && (i + 1) % (steps / 5 > 0 ? steps / 5 : 1) == 0) {
      printf("heat: step %d, change %.6e\n", i + 1, change);
      fflush(stdout);
    }
    SCR_Need_checkpoint(&need);
    SCR_Protect_array("u", u + n, sizeof *u, 2, global, offset, extent); /* swap has moved it */
    if (need) SCR_Checkpoint(NULL);                                      /* if it fails, the older one is still there */
  }
  for (k = (size_t)n; k < cells - (size_t)n; k++) heat += u[k];
  MPI_Reduce(&heat, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  free(u);
  free(v);
  SCR_Finalize();
  MPI_Finalize();
  if (rank == 0) printf("heat: heat %.17g, change %.17g\n", all, change);
  return 0;
}
