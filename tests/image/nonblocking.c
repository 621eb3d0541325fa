/*
** nonblocking.c STEPS - nonblocking and persistent collectives, many at a time, between messages, and waited for in
** another order; with doubles whose sums depend on the order of adding, so that each bit is compared with MPI's own.
*/
#include <mpi.h>

#include "at.h"

#define MOST  2500 /* values of a rank */
#define RANKS 8
#define FLOWS 17

static int         rank, size, counts[RANKS], outs[RANKS], places[RANKS], bytes[RANKS];
static unsigned    sum, seed;
static double *    in, *out[FLOWS], *lasting_out[3];
static MPI_Request flow[FLOWS], lasting[3];
static MPI_Status  statuses[FLOWS];

static double draw(void)
{
  seed = seed * 1103515245u + 12345u;
  return ((double)(seed >> 8) - 8388608.0) / (double)(1 + (seed >> 20) % 97) * 1e-3;
}

static void fill(double* data, int n, int step)
{
  int i;

  seed = (unsigned)(step * 7919 + rank * 104729 + 1);
  for (i = 0; i < n; i++) data[i] = draw();
}

static void add(const void* data, size_t n)
{
  const unsigned char* p = data;
  size_t               i;

  for (i = 0; i < n; i++) sum = sum * 31 + p[i];
}

static void moves(int n, int root)
{
  MPI_Datatype types[RANKS];
  int          i;

  for (i = 0; i < size; i++) types[i] = MPI_DOUBLE;
  if (rank == root) memcpy(out[0], in, (size_t)n * sizeof *in);
  MPI_Ibcast(out[0], n, MPI_DOUBLE, root, MPI_COMM_WORLD, &flow[0]);
  MPI_Igather(in, n, MPI_DOUBLE, out[1], n, MPI_DOUBLE, root, MPI_COMM_WORLD, &flow[1]);
  MPI_Iscatter(in, n, MPI_DOUBLE, out[2], n, MPI_DOUBLE, root, MPI_COMM_WORLD, &flow[2]);
  MPI_Igatherv(in, counts[rank], MPI_DOUBLE, out[3], counts, places, MPI_DOUBLE, root, MPI_COMM_WORLD, &flow[3]);
  MPI_Iscatterv(in, counts, places, MPI_DOUBLE, out[4], counts[rank], MPI_DOUBLE, root, MPI_COMM_WORLD, &flow[4]);
  MPI_Iallgather(in, n, MPI_DOUBLE, out[5], n, MPI_DOUBLE, MPI_COMM_WORLD, &flow[5]);
  MPI_Iallgatherv(in, counts[rank], MPI_DOUBLE, out[6], counts, places, MPI_DOUBLE, MPI_COMM_WORLD, &flow[6]);
  point(rank);
  MPI_Ialltoall(in, n, MPI_DOUBLE, out[7], n, MPI_DOUBLE, MPI_COMM_WORLD, &flow[7]);
  memcpy(out[8], in, (size_t)(size * n) * sizeof *in);
  MPI_Ialltoall(MPI_IN_PLACE, 0, MPI_DOUBLE, out[8], n, MPI_DOUBLE, MPI_COMM_WORLD, &flow[8]);
  for (i = 0; i < size; i++) bytes[i] = places[i] * (int)sizeof *in, outs[i] = counts[rank];
  MPI_Alltoallw(in, counts, bytes, types, out[9], outs, bytes, types, MPI_COMM_WORLD);
  MPI_Ibarrier(MPI_COMM_WORLD, &flow[9]);
}

static void reductions(int n, int root)
{
  MPI_Iallreduce(in, out[10], n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &flow[10]);
  MPI_Ireduce(in, out[11], n, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD, &flow[11]);
  point(rank);
  MPI_Iscan(in, out[12], n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &flow[12]);
  MPI_Iexscan(in, out[13], n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &flow[13]);
  MPI_Ireduce_scatter(in, out[14], counts, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &flow[14]);
  MPI_Ireduce_scatter_block(in, out[15], n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &flow[15]);
  MPI_Iallreduce(in, out[16], n, MPI_DOUBLE, MPI_PROD, MPI_COMM_SELF, &flow[16]);
  point(rank);
}

/* A message to the right while the collectives are under way. */
static void ring(int step)
{
  double x = step + rank, y = 0;

  MPI_Sendrecv(&x, 1, MPI_DOUBLE, (rank + 1) % size, 5, &y, 1, MPI_DOUBLE, (rank + size - 1) % size, 5, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  point(rank);
  add(&y, sizeof y);
}

static void finish(int step)
{
  int i, done = 0, count, flag = 0, which[FLOWS];

  if (step % 3 == 0) MPI_Waitall(FLOWS, flow, statuses);
  else if (step % 3 == 1)
    while (!flag) MPI_Testall(FLOWS, flow, &flag, statuses);
  else
    while (done < FLOWS) {
      MPI_Waitsome(FLOWS, flow, &count, which, statuses);
      done += count;
    }
  point(rank);
  for (i = 0; i < FLOWS; i++) add(out[i], (size_t)(RANKS * MOST) * sizeof *in);
}

/* Persistent ones, which the ranks start in different orders. */
static void persistent(int step)
{
  int i;

  for (i = 0; i < 3; i++) MPI_Start(&lasting[(i * (1 + rank % 2) + step) % 3]);
  point(rank);
  for (i = 3; i-- > 0;) {
    MPI_Wait(&lasting[i], MPI_STATUS_IGNORE);
    add(lasting_out[i], 64 * sizeof *in);
  }
}

/* The blocking ones, with sizes around each limit of MPI's algorithms. */
static void bits(int step)
{
  static const int sizes[] = {2, 255, 256, 257, 600, 2047};
  int              n = sizes[step % 6], root = (step + 1) % size;

  memset(out[0], 0, (size_t)(RANKS * MOST) * sizeof *in);
  MPI_Allreduce(in, out[0], n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Reduce(in, out[0] + MOST, n, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD);
  MPI_Scan(in, out[0] + 2 * MOST, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  point(rank);
  MPI_Exscan(in, out[0] + 3 * MOST, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Reduce_scatter(in, out[0] + 4 * MOST, counts, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Reduce_scatter_block(in, out[0] + 5 * MOST, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  add(out[0], (size_t)(RANKS * MOST) * sizeof *in);
}

int main(int argc, char** argv)
{
  static const int sizes[] = {1, 300, 40, 2200};
  int              step, i, steps = argc > 1 ? atoi(argv[1]) : 10;
  volatile double  work = 0;

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size > RANKS) MPI_Abort(MPI_COMM_WORLD, 1);
  in = malloc(RANKS * MOST * sizeof *in);
  for (i = 0; i < FLOWS; i++) out[i] = calloc(RANKS * MOST, sizeof *in);
  for (i = 0; i < 3; i++) lasting_out[i] = calloc(64, sizeof *in);
  MPI_Allreduce_init(in, lasting_out[0], 64, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &lasting[0]);
  MPI_Scan_init(in, lasting_out[1], 64, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &lasting[1]);
  MPI_Bcast_init(lasting_out[2], 64, MPI_DOUBLE, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &lasting[2]);
  for (step = 0; step < steps; step++) {
    int n = sizes[step % 4];

    for (i = 0; i < size; i++) counts[i] = i * 3 + n / 3, places[i] = i * MOST;
    fill(in, RANKS * MOST, step);
    memcpy(lasting_out[2], in, 64 * sizeof *in);
    for (i = 0; i < ((step + rank) % size) * 100000; i++) work += i; /* out of step */
    moves(n, step % size);
    reductions(n, (step + 1) % size);
    ring(step);
    finish(step);
    persistent(step);
    bits(step);
  }
  for (i = 0; i < 3; i++) MPI_Request_free(&lasting[i]);
  MPI_Finalize();
  printf("rank %d of %d: %u\n", rank, size, sum);
  return 0;
}
