/*
** bits.c SIZES - reductions of numbers whose last bits depend on the order in which they are combined: sums and
** products, by operations of MPI and of the program, of the first SIZES sizes, which lie around the limits of MPI's
** algorithms.
*/
#include <mpi.h>

#include "at.h"

#define MOST 530000

static double   in[MOST + 64], out[MOST + 64];
static unsigned seed, sum;

static void fill(int rank)
{
  int i;

  seed = (unsigned)rank * 104729u + 7919u;
  for (i = 0; i < MOST + 64; i++) {
    seed = seed * 1103515245u + 12345u;
    in[i] = 0.5 + (double)(seed >> 8) / 16777216.0;
  }
}

/* An operation of the program that commutes. */
static void combine(void* a, void* b, int* n, MPI_Datatype* type)
{
  const double* x = a;
  double*       y = b;
  int           i, bytes;

  MPI_Type_size(*type, &bytes);
  for (i = 0; i < *n * bytes / (int)sizeof *y; i++) y[i] = x[i] + y[i] + x[i] * y[i] * 1e-9;
}

static void add(int n)
{
  const unsigned char* p = (const unsigned char*)out;
  int                  i;

  for (i = 0; i < n * (int)sizeof *out; i++) sum = sum * 31 + p[i];
  memset(out, 0, (size_t)n * sizeof *out);
}

/* All of them with N values, or as many pieces as there are ranks. */
static void reductions(int n, int rank, int size, MPI_Op op)
{
  int         i, piece = (n + size - 1) / size, root = n % size, counts[64];
  MPI_Request r;

  MPI_Allreduce(in, out, n, MPI_DOUBLE, op, MPI_COMM_WORLD);
  add(n);
  MPI_Reduce(in, out, n, MPI_DOUBLE, op, root, MPI_COMM_WORLD);
  add(n);
  MPI_Reduce_scatter_block(in, out, piece, MPI_DOUBLE, op, MPI_COMM_WORLD);
  add(piece);
  for (i = 0; i < size; i++) counts[i] = i % 2 == 0 ? piece - 1 : piece;
  MPI_Reduce_scatter(in, out, counts, MPI_DOUBLE, op, MPI_COMM_WORLD);
  add(counts[rank]);
  MPI_Scan(in, out, n, MPI_DOUBLE, op, MPI_COMM_WORLD);
  add(n);
  MPI_Iallreduce(in, out, n, MPI_DOUBLE, op, MPI_COMM_WORLD, &r);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  add(n);
  MPI_Ireduce(in, out, n, MPI_DOUBLE, op, root, MPI_COMM_WORLD, &r);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  add(n);
  MPI_Ireduce_scatter(in, out, counts, MPI_DOUBLE, op, MPI_COMM_WORLD, &r);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  add(counts[rank]);
  MPI_Ireduce_scatter_block(in, out, piece, MPI_DOUBLE, op, MPI_COMM_WORLD, &r);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  add(piece);
}

/* A few large values, fewer than there are ranks. */
static void rows(int n, int rows, int root, MPI_Op op)
{
  MPI_Datatype row;
  MPI_Request  r;

  MPI_Type_contiguous(n, MPI_DOUBLE, &row);
  MPI_Type_commit(&row);
  MPI_Reduce(in, out, rows, row, op, root, MPI_COMM_WORLD);
  add(n * rows);
  MPI_Allreduce(in, out, rows, row, op, MPI_COMM_WORLD);
  add(n * rows);
  MPI_Ireduce(in, out, rows, row, op, root, MPI_COMM_WORLD, &r);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  add(n * rows);
  MPI_Reduce_scatter_block(in, out, 1, row, op, MPI_COMM_WORLD);
  add(n);
  MPI_Type_free(&row);
}

int main(int argc, char** argv)
{
  static const int sizes[] = {64, 255, 256, 257, 4096, 66000, MOST};
  int              i, rank, size;
  MPI_Op           own;

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  fill(rank);
  MPI_Op_create(combine, 1, &own);
  for (i = 0; i < atoi(argv[1]); i++) {
    unsigned before = sum;

    reductions(sizes[i], rank, size, MPI_SUM);
    reductions(sizes[i], rank, size, MPI_PROD);
    reductions(sizes[i], rank, size, own);
    rows(sizes[i] / 64, 1 + i % 3, i % size, own);
    point(rank);
    printf("rank %d of %d, %d values: %u\n", rank, size, sizes[i], sum - before);
  }
  MPI_Op_free(&own);
  MPI_Finalize();
  return 0;
}
