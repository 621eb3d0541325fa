/*
** collectives.c STEPS - each blocking collective, small and large, with ranks that are out of step.  The values are
** integers, also those in doubles, so that each order of adding gives the same result.
*/
#include <mpi.h>

#include "at.h"

#define MOST 3000 /* values of a rank */

static int      rank, size;
static unsigned sum;
static int      in[16 * MOST], out[16 * MOST], counts[16], places[16];
static double   x[MOST], y[MOST];

static void fill(int step, int n)
{
  int i;

  for (i = 0; i < n; i++) in[i] = step * 131 + rank * 17 + i % 1000;
  memset(out, 0, sizeof out);
}

static void add(const void* data, size_t n)
{
  const unsigned char* p = data;
  size_t               i;

  for (i = 0; i < n; i++) sum = sum * 31 + p[i];
}

static void reductions(int step, int n, int root)
{
  struct {
    double value;
    int    where;
  } mine, best;
  int i;

  memset(&best, 0, sizeof best);
  for (i = 0; i < n; i++) x[i] = step + i * (rank + 1);
  MPI_Allreduce(x, y, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  point(rank);
  add(y, (size_t)n * sizeof *y);
  MPI_Allreduce(MPI_IN_PLACE, x, n, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  add(x, (size_t)n * sizeof *x);
  MPI_Reduce(in, rank == root ? out : NULL, n, MPI_INT, MPI_BXOR, root, MPI_COMM_WORLD);
  if (rank == root) add(out, (size_t)n * sizeof *out);
  mine.value = (step * 7 + rank * 5) % 11, mine.where = rank;
  MPI_Allreduce(&mine, &best, 1, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD);
  sum = sum * 31 + (unsigned)best.where;
  MPI_Scan(in, out, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  point(rank);
  add(out, (size_t)n * sizeof *out);
  MPI_Exscan(in, out, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank > 0) add(out, (size_t)n * sizeof *out);
  fill(step, size * n);
  MPI_Reduce_scatter_block(in, out, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  add(out, (size_t)n * sizeof *out);
  MPI_Reduce_scatter(in, out, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  add(out, (size_t)counts[rank] * sizeof *out);
}

static void moves(int step, int n, int root)
{
  fill(step, size * n);
  MPI_Bcast(in, n, MPI_INT, root, MPI_COMM_WORLD);
  add(in, (size_t)n * sizeof *in);
  point(rank);
  MPI_Gather(in, n, MPI_INT, out, n, MPI_INT, root, MPI_COMM_WORLD);
  MPI_Scatter(out, n, MPI_INT, rank == root ? MPI_IN_PLACE : (void*)in, n, MPI_INT, root, MPI_COMM_WORLD);
  add(in, (size_t)n * sizeof *in);
  MPI_Gatherv(in, counts[rank], MPI_INT, out, counts, places, MPI_INT, root, MPI_COMM_WORLD);
  if (rank == root) add(out, sizeof out);
  MPI_Scatterv(in, counts, places, MPI_INT, out, counts[rank], MPI_INT, root, MPI_COMM_WORLD);
  add(out, (size_t)counts[rank] * sizeof *out);
  MPI_Allgather(in, n, MPI_INT, out, n, MPI_INT, MPI_COMM_WORLD);
  add(out, (size_t)(size * n) * sizeof *out);
  MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_INT, out, counts, places, MPI_INT, MPI_COMM_WORLD);
  add(out, sizeof out);
  point(rank);
  fill(step + 1, size * n);
  MPI_Alltoall(in, n, MPI_INT, out, n, MPI_INT, MPI_COMM_WORLD);
  add(out, (size_t)(size * n) * sizeof *out);
  MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INT, out, n, MPI_INT, MPI_COMM_WORLD);
  add(out, (size_t)(size * n) * sizeof *out);
}

/* Rank i sends j + 1 values to rank j, wherever it is. */
static void exchange(int step)
{
  int i, outs[16], outplaces[16];

  fill(step, 16 * 16);
  for (i = 0; i < size; i++) counts[i] = i + 1, places[i] = i * 16, outs[i] = rank + 1, outplaces[i] = i * 20;
  MPI_Alltoallv(in, counts, places, MPI_INT, out, outs, outplaces, MPI_INT, MPI_COMM_WORLD);
  add(out, 16 * 20 * sizeof *out);
}

int main(int argc, char** argv)
{
  static const int sizes[] = {1, 2000, 30, 700};
  int              step, i, steps = argc > 1 ? atoi(argv[1]) : 10;
  volatile double  work = 0;

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size > 16) MPI_Abort(MPI_COMM_WORLD, 1);
  for (step = 0; step < steps; step++) {
    int n = sizes[step % 4];

    for (i = 0; i < size; i++) counts[i] = i * 3 + step % 3, places[i] = i * 100;
    for (i = 0; i < ((step + rank) % size) * 100000; i++) work += i; /* out of step */
    moves(step, n, step % size);
    reductions(step, n, (step + 1) % size);
    exchange(step);
    if (step % 2) MPI_Barrier(MPI_COMM_WORLD);
    MPI_Allreduce(&step, &i, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
    sum += (unsigned)i;
  }
  MPI_Finalize();
  printf("rank %d of %d: %u\n", rank, size, sum);
  return 0;
}
