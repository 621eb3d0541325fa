/*
** image.c - the time of calls of MPI and of malloc, and of one checkpoint of much memory: built as it is, and linked
** with scr_image.o (bench.sh --image), the same program tells what the object costs.  With -DWRITES it writes the
** checkpoint itself.  Prints a line for each step: its name, and nanoseconds; of two ranks.
**
**   image [--mib N] [--slices N]
*/
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef WRITES
#include <fcntl.h>
#include <unistd.h>

#include "scr.h"
#endif

#define CALLS 200 /* of each kind in a slice */
#define MOST  2000

static int rank, other, slices = 400;

static double pingpong(void)
{
  double began = MPI_Wtime();
  char   b[8] = {0};
  int    i;

  for (i = 0; i < CALLS; i++) {
    if (rank == 0) MPI_Send(b, 8, MPI_CHAR, other, 1, MPI_COMM_WORLD);
    MPI_Recv(b, 8, MPI_CHAR, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(b, 8, MPI_CHAR, other, 1, MPI_COMM_WORLD);
  }
  return (MPI_Wtime() - began) / (2 * CALLS);
}

static double window(void)
{
  double             began = MPI_Wtime();
  static char        in[64][8], out[64][8];
  static MPI_Request r[128];
  static MPI_Status  s[128];
  int                i, k;

  for (k = 0; k < CALLS / 20; k++) {
    for (i = 0; i < 64; i++) MPI_Irecv(in[i], 8, MPI_CHAR, other, i, MPI_COMM_WORLD, &r[i]);
    for (i = 0; i < 64; i++) MPI_Isend(out[i], 8, MPI_CHAR, other, i, MPI_COMM_WORLD, &r[64 + i]);
    MPI_Waitall(128, r, s);
  }
  return (MPI_Wtime() - began) / (64.0 * (CALLS / 20));
}

static double itself(void)
{
  double      began = MPI_Wtime();
  char        in[8], out[8] = {0};
  MPI_Request r[2];
  int         i;

  for (i = 0; i < CALLS; i++) {
    MPI_Irecv(in, 8, MPI_CHAR, rank, 1, MPI_COMM_WORLD, &r[0]);
    MPI_Isend(out, 8, MPI_CHAR, rank, 1, MPI_COMM_WORLD, &r[1]);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    MPI_Wait(&r[1], MPI_STATUS_IGNORE);
  }
  return (MPI_Wtime() - began) / CALLS;
}

static double allreduce(void)
{
  double began = MPI_Wtime(), x = 1, y;
  int    i;

  for (i = 0; i < CALLS; i++) MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return (MPI_Wtime() - began) / CALLS;
}

static double bcast(void)
{
  double began = MPI_Wtime(), x = 1;
  int    i;

  for (i = 0; i < CALLS; i++) MPI_Bcast(&x, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  return (MPI_Wtime() - began) / (CALLS + 1);
}

static double barrier(void)
{
  double began = MPI_Wtime();
  int    i;

  for (i = 0; i < CALLS; i++) MPI_Barrier(MPI_COMM_WORLD);
  return (MPI_Wtime() - began) / CALLS;
}

static double iprobe(void)
{
  double began = MPI_Wtime();
  int    i, flag;

  for (i = 0; i < CALLS; i++) MPI_Iprobe(other, 9, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  return (MPI_Wtime() - began) / CALLS;
}

/* Blocks of many sizes, some of which stay for a while. */
static double heap(void)
{
  static void*    kept[64];
  static unsigned x = 1;
  double          began = MPI_Wtime();
  int             i;

  for (i = 0; i < CALLS * 5; i++) {
    void** at = &kept[(x >> 10) % 64];

    x = x * 1664525u + 1013904223u;
    free(*at);
    *at = malloc((x >> 20) % 4 ? (x >> 16) % 200 + 1 : (x >> 16) % 20000);
    if (*at == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
    memset(*at, 1, 1);
  }
  return (MPI_Wtime() - began) / (CALLS * 5);
}

/* A stencil: rows go to the neighbour in each step, and each tenth step adds up what has changed. */
static double stencil(void)
{
  enum { WIDTH = 400, HEIGHT = 100 };
  static double a[HEIGHT + 2][WIDTH], b[HEIGHT + 2][WIDTH];
  double        began = MPI_Wtime(), changed, sum;
  int           i, j, k;

  for (k = 0; k < 10; k++) {
    MPI_Request r[2];
    MPI_Status  s[2];

    MPI_Irecv(a[rank == 0 ? HEIGHT + 1 : 0], WIDTH, MPI_DOUBLE, other, 1, MPI_COMM_WORLD, &r[0]);
    MPI_Isend(a[rank == 0 ? HEIGHT : 1], WIDTH, MPI_DOUBLE, other, 1, MPI_COMM_WORLD, &r[1]);
    MPI_Waitall(2, r, s);
    a[rank == 0 ? 0 : HEIGHT + 1][WIDTH / 2] = 1;
    for (changed = 0, i = 1; i <= HEIGHT; i++)
      for (j = 1; j < WIDTH - 1; j++) {
        b[i][j] = 0.25 * (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]);
        changed += b[i][j] - a[i][j];
      }
    memcpy(a[1], b[1], sizeof a - 2 * sizeof a[0]);
  }
  MPI_Allreduce(&changed, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return (MPI_Wtime() - began) / 10;
}

static int compare(const void* a, const void* b)
{
  const double x = *(const double*)a, y = *(const double*)b;

  return x < y ? -1 : x > y;
}

/* The median of slices. */
static void step(const char* name, double (*slice)(void))
{
  static double times[MOST];
  int           i;

  slice();
  MPI_Barrier(MPI_COMM_WORLD);
  for (i = 0; i < slices; i++) times[i] = slice();
  MPI_Barrier(MPI_COMM_WORLD);
  qsort(times, (size_t)slices, sizeof *times, compare);
  if (rank == 0) printf("%s %.1f\n", name, times[slices / 2] * 1e9);
}

/* MIB of memory without zeros become a checkpoint; the time that the program stands still. */
static void checkpoint(size_t mib)
{
  size_t         n = mib << 17, i; /* of words */
  unsigned long* memory = malloc(n * sizeof *memory);
  double         began, took;

  if (memory == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  for (i = 0; i < n; i++) memory[i] = i * 0x9e3779b97f4a7c15u + 1;
  MPI_Barrier(MPI_COMM_WORLD);
  began = MPI_Wtime();
#ifdef WRITES
  {
    char name[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME];
    int  fd, ok = 0;

    snprintf(name, sizeof name, "rank_%d", rank);
    SCR_Start_output("written", SCR_FLAG_CHECKPOINT);
    if (SCR_Route_file(name, file) == SCR_SUCCESS && (fd = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0600)) >= 0) {
      for (ok = 1, i = 0; i < n && ok; i += 1 << 17) ok = write(fd, memory + i, 1 << 20) == 1 << 20;
      if (close(fd) != 0) ok = 0;
    }
    SCR_Complete_output(ok);
    took = MPI_Wtime() - began;
  }
#else
  if (rank == 0) raise(SIGUSR1);
  {
    double here[2], both[2] = {0, 0}, last = began; /* the longest round, in which the image is taken; since when */

    for (took = 0; took < 0.02 && both[1] < 2;) {
      MPI_Barrier(MPI_COMM_WORLD);
      here[0] = MPI_Wtime() - last;
      last += here[0];
      here[1] = last - began;
      MPI_Allreduce(here, both, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
      if (both[0] > took) took = both[0];
    }
  }
#endif
  if (rank == 0) printf("checkpoint %.1f\n", took * 1e9);
  free(memory);
}

int main(int argc, char** argv)
{
  int    i;
  size_t mib = 0;

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  other = 1 - rank;
  for (i = 1; i + 1 < argc; i += 2) {
    if (strcmp(argv[i], "--mib") == 0) mib = strtoul(argv[i + 1], NULL, 10);
    if (strcmp(argv[i], "--slices") == 0) slices = atoi(argv[i + 1]);
  }
  if (slices < 1 || slices > MOST) slices = MOST;
#ifdef WRITES
  if (SCR_Init() != SCR_SUCCESS) return 1;
#endif
  if (mib == 0) {
    step("Send, Recv, 8 bytes", pingpong);
    step("64 Isend, Irecv, Waitall", window);
    step("Isend, Irecv to itself", itself);
    step("Allreduce, 8 bytes", allreduce);
    step("Bcast, 8 bytes", bcast);
    step("Barrier", barrier);
    step("Iprobe", iprobe);
    step("malloc, free", heap);
    step("a stencil, per step", stencil);
  } else {
    signal(SIGUSR1, SIG_IGN);
    checkpoint(mib);
  }
#ifdef WRITES
  SCR_Finalize();
#endif
  MPI_Finalize();
  return 0;
}
