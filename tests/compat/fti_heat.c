/*
** fti_heat.c - a heat solver as users of FTI write it, in C and C++: with checkpoints of level 1 to 4 in turn, with
** differential ones, with snapshots, or with variables that are recovered one by one.
**
**   fti_heat levels|differential|snapshots|ones STEPS INTERVAL KILL_AT
*/
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fti.h>
#include "heat.h"

typedef struct {
  int id, level;
} checkpoint_info;

static void must(int right, const char* what)
{
  if (right) return;
  printf("%s failed\n", what);
  MPI_Finalize();
  exit(1);
}

/* Recover all, or one variable after the other. */
static int recover(int ones)
{
  int id, rc = FTI_SCES;

  if (!ones) return FTI_Recover();
  for (id = 0; id < 3; id++) rc += FTI_RecoverVar(id);
  return rc;
}

int main(int argc, char** argv)
{
  double *        g, *h;
  checkpoint_info info = {1, 1};
  FTIT_type       info_type;
  int             rank, ranks, i = 0, rc, steps, interval, kill_at, snapshots, ones, more;

  MPI_Init(&argc, &argv);
  if (argc < 5) return 2;
  snapshots = strcmp(argv[1], "snapshots") == 0;
  ones = strcmp(argv[1], "ones") == 0;
  more = strcmp(argv[1], "differential") == 0 ? FTI_L4 : 0;
  steps = atoi(argv[2]);
  interval = atoi(argv[3]);
  kill_at = atoi(argv[4]);
  must(FTI_Init("config.fti", MPI_COMM_WORLD) == FTI_SCES, "FTI_Init");
  MPI_Comm_rank(FTI_COMM_WORLD, &rank);
  MPI_Comm_size(FTI_COMM_WORLD, &ranks);
  g = (double*)malloc(sizeof *g * COLUMNS * (ROWS + 2));
  h = (double*)malloc(sizeof *h * COLUMNS * (ROWS + 2));
  set_up(g, rank);
  FTI_InitType(&info_type, sizeof info);
  FTI_Protect(0, &i, 1, FTI_INTG);
  FTI_Protect(1, &info, 1, info_type);
  FTI_Protect(2, g, COLUMNS * (ROWS + 2), FTI_DBLE);
  if (FTI_Status() != 0 && !snapshots) {
    rc = FTI_Status();
    must(recover(ones) == FTI_SCES, "recovery");
    if (rank == 0) printf("restarted at step %d, status %d\n", i, rc);
  }
  for (;;) {
    if (snapshots) {
      int before = i;
      rc = FTI_Snapshot();
      must(rc == FTI_SCES || rc == FTI_DONE, "FTI_Snapshot");
      if (i != before && rank == 0) printf("restarted at step %d, status 1\n", i);
    } else if (i > 0 && i % interval == 0 && i / interval >= info.id) {
      info.id = i / interval + 1;
      info.level = info.level % 4 + 1;
      must(FTI_Checkpoint(info.id, info.level + more) == FTI_DONE, "FTI_Checkpoint");
    }
    if (i == steps) break;
    compute(g, h, rank, ranks, FTI_COMM_WORLD);
    i++;
    if (i == kill_at) {
      MPI_Barrier(FTI_COMM_WORLD);
      raise(SIGKILL);
    }
  }
  print_answer(g, rank, i, FTI_COMM_WORLD);
  must(FTI_Finalize() == FTI_SCES, "FTI_Finalize");
  free(g);
  free(h);
  return MPI_Finalize() != MPI_SUCCESS;
}
