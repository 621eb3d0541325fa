/*
** veloc_heat.c - a heat solver as users of VELOC write it: in C and C++; with regions, by one call or by
** several, or with files.
**
**   veloc_heat all|steps|files STEPS INTERVAL KILL_AT
*/
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "veloc.h"
#include "heat.h"

static int write_file(const char* path, int step, const double* g)
{
  FILE* f = fopen(path, "wb");
  int   ok = f != NULL && fwrite(&step, sizeof step, 1, f) == 1 &&
           fwrite(g, sizeof *g, COLUMNS * (ROWS + 2), f) == COLUMNS * (ROWS + 2);

  if (f != NULL && fclose(f) != 0) ok = 0;
  return ok;
}

static int read_file(const char* path, int* step, double* g)
{
  FILE* f = fopen(path, "rb");
  int   ok = f != NULL && fread(step, sizeof *step, 1, f) == 1 &&
           fread(g, sizeof *g, COLUMNS * (ROWS + 2), f) == COLUMNS * (ROWS + 2);

  if (f != NULL) fclose(f);
  return ok;
}

static void must(int rc, const char* what)
{
  if (rc == VELOC_SUCCESS) return;
  printf("%s failed\n", what);
  MPI_Finalize();
  exit(1);
}

int main(int argc, char** argv)
{
  char    path[VELOC_MAX_NAME];
  double *g, *h;
  int     rank, ranks, i = 0, v, valid, steps, interval, kill_at, files;

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc < 5) return 2;
  files = strcmp(argv[1], "files") == 0;
  steps = atoi(argv[2]);
  interval = atoi(argv[3]);
  kill_at = atoi(argv[4]);
  must(VELOC_Init(MPI_COMM_WORLD, "heat.cfg"), "VELOC_Init");
  g = (double*)malloc(sizeof *g * COLUMNS * (ROWS + 2));
  h = (double*)malloc(sizeof *h * COLUMNS * (ROWS + 2));
  set_up(g, rank);
  VELOC_Mem_protect(0, &i, 1, sizeof i);
  VELOC_Mem_protect(1, g, COLUMNS * (ROWS + 2), sizeof *g);
  v = VELOC_Restart_test("heat", 0);
  if (v > 0) {
    if (files) {
      must(VELOC_Restart_begin("heat", v), "VELOC_Restart_begin");
      must(VELOC_Route_file("heat_ckpt", path), "VELOC_Route_file");
      valid = read_file(path, &i, g);
      must(VELOC_Restart_end(valid), "VELOC_Restart_end");
    } else must(VELOC_Restart("heat", v), "VELOC_Restart");
    if (rank == 0) printf("restarted from version %d, at step %d\n", v, i);
  }
  while (i < steps) {
    compute(g, h, rank, ranks, MPI_COMM_WORLD);
    i++;
    if (i % interval != 0) continue;
    if (strcmp(argv[1], "all") == 0 && i != kill_at) {
      must(VELOC_Checkpoint("heat", i), "VELOC_Checkpoint");
      continue;
    }
    must(VELOC_Checkpoint_wait(), "VELOC_Checkpoint_wait");
    must(VELOC_Checkpoint_begin("heat", i), "VELOC_Checkpoint_begin");
    valid = 1;
    if (files) {
      must(VELOC_Route_file("heat_ckpt", path), "VELOC_Route_file");
      valid = write_file(path, i, g);
    } else must(VELOC_Checkpoint_mem(), "VELOC_Checkpoint_mem");
    if (i == kill_at) {
      MPI_Barrier(MPI_COMM_WORLD);
      raise(SIGKILL);
    }
    must(VELOC_Checkpoint_end(valid), "VELOC_Checkpoint_end");
  }
  print_answer(g, rank, i, MPI_COMM_WORLD);
  must(VELOC_Finalize(0), "VELOC_Finalize");
  free(g);
  free(h);
  return MPI_Finalize() != MPI_SUCCESS;
}
