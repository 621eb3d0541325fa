/*
** minimal.c - the smallest program that writes checkpoints and restarts from them.
**
**   mpicc minimal.c scr_impl.c -lz -lpthread -o minimal
**   mpiexec -n 4 ./minimal 45      ends at step 45; its last checkpoint is ckpt.40
**   mpiexec -n 4 ./minimal 100     says "restarted from ckpt.40", then "done at step 100"
*/
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include "scr.h"

/*
** On an error, end.  Rank 0 has printed its text, SCR_Last_error().  All ranks have the same code and end together:
** MPI_Abort could cut that text off.  SCR_ERR_DISABLED (SCR_ENABLE=0) is not an error: we run without checkpoints then.
*/
static void must(int rc)
{
  if (rc == SCR_SUCCESS || rc == SCR_ERR_DISABLED) return;
  if (rc == SCR_ERR_MPI) MPI_Abort(MPI_COMM_WORLD, 1); /* MPI_Finalize might wait for ever */
  MPI_Finalize();
  exit(1);
}

/* Write (mode "w") or read ("r") the state of this rank, here one number, in checkpoint NAME.  Returns 1 on success. */
static int state_file(const char* name, int rank, const char* mode, int* step)
{
  char  path[SCR_MAX_FILENAME + 20], file[SCR_MAX_FILENAME];
  FILE* f;
  int   ok;

  snprintf(path, sizeof path, "%s/rank_%d", name, rank);
  if (SCR_Route_file(path, file) != SCR_SUCCESS || (f = fopen(file, mode)) == NULL) return 0;
  ok = *mode == 'w' ? fprintf(f, "%d\n", *step) > 0 : fscanf(f, "%d", step) == 1;
  return fclose(f) == 0 && ok;
}

int main(int argc, char** argv)
{
  int  rank, rc, have = 0, need = 0, stop = 0, step = 0, steps = argc > 1 ? atoi(argv[1]) : 100;
  char name[SCR_MAX_FILENAME];

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  SCR_Config("SCR_CHECKPOINT_INTERVAL=10"); /* our default; the environment overrides it */
  must(SCR_Init());
  for (must(SCR_Have_restart(&have, name)); have; must(SCR_Have_restart(&have, name))) {
    must(SCR_Start_restart(name));
    if ((rc = SCR_Complete_restart(state_file(name, rank, "r", &step))) == SCR_SUCCESS) break;
    if (rc != SCR_ERR_INVALID) must(rc);
    step = 0; /* a rank could not read its file: try the next older checkpoint */
  }
  if (have && rank == 0) printf("restarted from %s\n", name);
  for (must(SCR_Should_exit(&stop)); step < steps && !stop; must(SCR_Should_exit(&stop))) {
    step++; /* the work of one step */
    must(SCR_Need_checkpoint(&need));
    snprintf(name, sizeof name, "ckpt.%d", step);
    if (need && SCR_Start_output(name, SCR_FLAG_CHECKPOINT) == SCR_SUCCESS)
      SCR_Complete_output(state_file(name, rank, "w", &step)); /* if it fails, the older checkpoint is still there */
  }
  if (rank == 0) printf("done at step %d\n", step);
  must(SCR_Finalize());
  return MPI_Finalize() != MPI_SUCCESS;
}
