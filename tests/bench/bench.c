/*
** bench - time a checkpoint through the public calls, beside the time in which the same ranks copy as many bytes in
** memory (M), so that results of different machines can be compared.
**
**   mpiexec -n 4 bench [--mib N] [--runs N] [--json]
**
** Each figure is the time of the slowest rank; the median of the runs, with minimum and maximum.
*/
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scr.h"

#define RUNS_MAX 101

enum { T_MEMORY, T_START, T_WRITE, T_COMPLETE, T_ALL, T_COUNT };

static const char* const names[T_COUNT] = {"memcpy (M)", "start", "application write", "complete", "start to complete"};

static double seconds[T_COUNT][RUNS_MAX];

static int by_value(const void* a, const void* b)
{
  double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

/* The time since START of the slowest rank, after all have arrived. */
static double slowest(double start)
{
  double mine = MPI_Wtime() - start, most;
  MPI_Allreduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return most;
}

static int write_file(const char* name, const char* data, size_t bytes)
{
  size_t at = 0;
  int    fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

  while (fd >= 0 && at < bytes) {
    size_t  n = bytes - at < (4u << 20) ? bytes - at : (4u << 20);
    ssize_t w = write(fd, data + at, n);
    if (w <= 0) break;
    at += (size_t)w;
  }
  return fd >= 0 && close(fd) == 0 && at == bytes;
}

static void die(const char* what)
{
  fprintf(stderr, "bench: %s: %s\n", what, SCR_Last_error());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* One checkpoint; its times go to place RUN, or nowhere when RUN is negative (a warm-up). */
static void checkpoint(int run, int rank, const char* data, size_t bytes)
{
  char   name[64], path[SCR_MAX_FILENAME];
  double t[T_COUNT], start;
  int    i, ok;

  snprintf(name, sizeof name, "bench/rank_%d", rank);
  MPI_Barrier(MPI_COMM_WORLD);
  t[T_ALL] = start = MPI_Wtime();
  if (SCR_Start_output("bench", SCR_FLAG_CHECKPOINT) != SCR_SUCCESS) die("start");
  t[T_START] = slowest(start);
  if (SCR_Route_file(name, path) != SCR_SUCCESS) die("route");
  start = MPI_Wtime();
  ok = write_file(path, data, bytes);
  t[T_WRITE] = slowest(start);
  start = MPI_Wtime();
  if (SCR_Complete_output(ok) != SCR_SUCCESS) die("complete");
  t[T_COMPLETE] = slowest(start);
  t[T_ALL] = slowest(t[T_ALL]);
  for (i = T_START; run >= 0 && i < T_COUNT; i++) seconds[i][run] = t[i];
}

int main(int argc, char** argv)
{
  int    i, run, rank, ranks, runs = 5, mib = 256, json = 0;
  size_t bytes;
  char * data, *copy;
  double m;

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--json") == 0) json = 1;
    else if (strcmp(argv[i], "--mib") == 0 && i + 1 < argc) mib = atoi(argv[++i]);
    else if (strcmp(argv[i], "--runs") == 0 && i + 1 < argc) runs = atoi(argv[++i]);
    else die("usage: bench [--mib N] [--runs N] [--json]");
  }
  if (runs < 1 || runs > RUNS_MAX || mib < 1) die("--runs is 1 to 101, --mib at least 1");
  bytes = (size_t)mib << 20;
  data = (char*)malloc(bytes);
  copy = (char*)malloc(bytes);
  if (data == NULL || copy == NULL) die("out of memory");
  for (i = 0; (size_t)i < bytes / sizeof(int); i++) ((int*)data)[i] = i * 2654435 + rank;
  memset(copy, 1, bytes);
  for (run = 0; run < runs; run++) {
    double start;
    MPI_Barrier(MPI_COMM_WORLD);
    start = MPI_Wtime();
    memcpy(copy, data, bytes);
    seconds[T_MEMORY][run] = slowest(start);
    if (copy[run] != data[run]) die("memcpy");
  }
  if (SCR_Init() != SCR_SUCCESS) die("init");
  for (run = -2; run < runs; run++)
    checkpoint(run, rank, data, bytes); /* two warm-ups touch the memory of two datasets */
  SCR_Finalize();
  for (i = 0; i < T_COUNT; i++) qsort(seconds[i], (size_t)runs, sizeof(double), by_value);
  m = seconds[T_MEMORY][runs / 2];
  if (rank == 0 && !json)
    printf("%d ranks x %d MiB, %d runs\n%-20s %10s %10s %10s %10s %8s\n", ranks, mib, runs, "step", "median s", "min",
           "max", "GB/s", "x M");
  for (i = 0; rank == 0 && i < T_COUNT; i++) {
    double mid = seconds[i][runs / 2], rate = (double)ranks * (double)bytes / 1e9 / (mid > 0 ? mid : 1e-9);
    if (json)
      printf("%s{\"step\": \"%s\", \"ranks\": %d, \"bytes_per_rank\": %zu, \"runs\": %d, \"median_s\": %.6f, "
             "\"min_s\": %.6f, "
             "\"max_s\": %.6f, \"gb_per_s\": %.3f, \"x_m\": %.3f}%s\n",
             i == 0 ? "[" : " ", names[i], ranks, bytes, runs, mid, seconds[i][0], seconds[i][runs - 1], rate, mid / m,
             i == T_COUNT - 1 ? "]" : ",");
    else
      printf("%-20s %10.4f %10.4f %10.4f %10.2f %8.2f\n", names[i], mid, seconds[i][0], seconds[i][runs - 1], rate,
             mid / m);
  }
  free(data);
  free(copy);
  MPI_Finalize();
  return 0;
}
