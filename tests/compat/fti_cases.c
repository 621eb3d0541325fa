/* fti_cases.c - what fti.h promises, in C and C++.  compat.sh runs its parts, each on what the part before has left. */
#include "cases.h"
#include <fti.h>
#include <signal.h>

#ifdef __cplusplus
extern "C" {
#endif
int protect_elsewhere(int id, void* data, long count, fti_id_t type); /* in fti_part.c */
int checkpoint_elsewhere(int id, int level);
int size_elsewhere(void);
#ifdef __cplusplus
}
#endif

static char cfg[] = "config.fti";
static int  number;

static void nothing_works(void)
{
  CHECK(FTI_Status() == 0 && FTI_Protect(0, &step, 1, FTI_INTG) == FTI_NSCS && FTI_GetStoredSize(0) == 0);
  CHECK(FTI_Checkpoint(1, 1) == FTI_NSCS && FTI_Recover() == FTI_NSCS && FTI_RecoverVar(0) == FTI_NSCS);
  CHECK(FTI_Snapshot() == FTI_NSCS && FTI_Finalize() == FTI_NSCS && FTI_Realloc(0, u) == u);
}

static void protect(int at)
{
  make_data(at);
  CHECK(FTI_Protect(0, &step, 1, FTI_INTG) == FTI_SCES);
  CHECK(protect_elsewhere(1, u, length_of(at), FTI_DBLE) == FTI_SCES);
}

static void writing(void)
{
  FTIT_type pair, bad;

  nothing_works();
  CHECK(FTI_Init(cfg, MPI_COMM_WORLD) == FTI_SCES && FTI_Init(cfg, MPI_COMM_WORLD) == FTI_NSCS && FTI_Status() == 0);
  CHECK(FTI_COMM_WORLD != MPI_COMM_WORLD && size_elsewhere() == ranks);
  CHECK(FTI_InitType(&pair, 2 * sizeof(int)) == FTI_SCES && FTI_InitType(&bad, 0) == FTI_NSCS);
  CHECK(FTI_InitType(NULL, 1) == FTI_NSCS && FTI_Protect(5, NULL, 1, FTI_INTG) == FTI_NSCS);
  CHECK(FTI_Protect(5, &step, -1, FTI_INTG) == FTI_NSCS && FTI_Protect(5, &step, 1, 0) == FTI_NSCS);
  CHECK(FTI_Recover() == FTI_NREC && FTI_RecoverVar(0) == FTI_SCES); /* the second does nothing without a restart */
  protect(10);
  number = 100 + rank;
  CHECK(FTI_GetStoredSize(1) == 0);
  CHECK(FTI_Checkpoint(1, 0) == FTI_NSCS && FTI_Checkpoint(1, 9) == FTI_NSCS &&
        FTI_Checkpoint(1, rank == 1 ? 0 : 1) == FTI_NSCS);
  if (rank == 1) CHECK(FTI_Recover() == FTI_NREC); /* ranks in different calls do not wait for each other */
  else CHECK(FTI_Checkpoint(1, 1) == FTI_NSCS);
  CHECK(FTI_Checkpoint(1 + rank, 1) == FTI_NSCS);
  CHECK(FTI_Checkpoint(1, FTI_L1) == FTI_DONE && FTI_GetStoredSize(1) == length_of(10) * (long)sizeof *u);
  protect(20);
  CHECK(checkpoint_elsewhere(2, 4) == FTI_DONE && FTI_GetStoredSize(1) == length_of(20) * (long)sizeof *u);
  protect(30);
  CHECK(FTI_Protect(2, &number, 1, FTI_INTG) == FTI_SCES && FTI_Checkpoint(2, FTI_L2) == FTI_DONE); /* the same again */
  protect(40);
  CHECK(FTI_Checkpoint(4, FTI_L4_DCP) == FTI_DONE && FTI_GetStoredSize(2) == sizeof number &&
        FTI_GetStoredSize(9) == 0);
  CHECK(FTI_Recover() == FTI_NREC && FTI_Finalize() == FTI_SCES);
  nothing_works();
}

/* The last run was ended by FTI_Finalize. */
static void reading(void)
{
  CHECK(FTI_Init(cfg, MPI_COMM_WORLD) == FTI_SCES && FTI_Status() == 2);
  CHECK(FTI_GetStoredSize(1) == length_of(40) * (long)sizeof *u && FTI_GetStoredSize(9) == 0);
  clear_data(30, 0);
  CHECK(FTI_Protect(0, &step, 1, FTI_INTG) == FTI_SCES && FTI_Protect(1, u, length_of(30), FTI_DBLE) == FTI_SCES);
  CHECK(FTI_Recover() == FTI_NREC && FTI_RecoverVar(2) == FTI_NSCS && FTI_RecoverVar(1) == FTI_NREC); /* the size */
  u = (double*)FTI_Realloc(1, u);
  CHECK(FTI_Recover() == FTI_NREC && step == -1 && u[1] == 0); /* variable 2 is not protected */
  CHECK(FTI_Protect(2, &number, 1, FTI_INTG) == FTI_SCES && FTI_Protect(3, &number, 1, FTI_INTG) == FTI_SCES);
  CHECK(FTI_Recover() == FTI_NREC && step == -1 && FTI_RecoverVar(3) == FTI_NREC); /* there is no variable 3 */
  CHECK(FTI_RecoverVar(0) == FTI_SCES && step == 40 && u[1] == 0 && FTI_Status() == 2);
  CHECK(FTI_RecoverVarInit() == FTI_SCES && FTI_RecoverVar(1) == FTI_SCES && FTI_RecoverVar(2) == FTI_SCES);
  CHECK(FTI_RecoverVarFinalize() == FTI_SCES && data_is(40) && number == 100 + rank);
  CHECK(FTI_Finalize() == FTI_SCES);
}

/* Snapshots, with SCR_CHECKPOINT_INTERVAL=2; then it is killed. */
static void snapshots(void)
{
  CHECK(FTI_Init(cfg, MPI_COMM_WORLD) == FTI_SCES && FTI_Status() == 2);
  clear_data(40, 0);
  CHECK(FTI_Protect(0, &step, 1, FTI_INTG) == FTI_SCES && FTI_Protect(1, u, length_of(40), FTI_DBLE) == FTI_SCES);
  CHECK(FTI_Snapshot() == FTI_NREC); /* variable 2 is not protected */
  CHECK(FTI_Protect(2, &number, 1, FTI_INTG) == FTI_SCES && FTI_Snapshot() == FTI_SCES && FTI_Status() == 0);
  CHECK(data_is(40) && number == 100 + rank);
  protect(50);
  CHECK(FTI_Snapshot() == FTI_SCES && FTI_Snapshot() == FTI_DONE && FTI_Snapshot() == FTI_SCES);
  protect(60);
  CHECK(FTI_Snapshot() == FTI_DONE);
  MPI_Barrier(MPI_COMM_WORLD);
  if (faults == 0) raise(SIGKILL);
}

static void killed(void)
{
  CHECK(FTI_Init(cfg, MPI_COMM_WORLD) == FTI_SCES && FTI_Status() == 1);
  clear_data(60, 0);
  CHECK(FTI_Protect(0, &step, 1, FTI_INTG) == FTI_SCES && FTI_Protect(1, u, length_of(60), FTI_DBLE) == FTI_SCES);
  CHECK(FTI_Protect(2, &number, 1, FTI_INTG) == FTI_SCES && FTI_Recover() == FTI_SCES && data_is(60));
  CHECK(FTI_Status() == 0 && FTI_RecoverVar(1) == FTI_SCES && FTI_Finalize() == FTI_SCES);
}

/* Variable 1 of checkpoint 4 is damaged on rank 0, and variable 0 is not. */
static void damaged(int ones)
{
  CHECK(FTI_Init(cfg, MPI_COMM_WORLD) == FTI_SCES && FTI_Status() == 2);
  clear_data(40, 0);
  CHECK(FTI_Protect(0, &step, 1, FTI_INTG) == FTI_SCES && FTI_Protect(1, u, length_of(40), FTI_DBLE) == FTI_SCES);
  CHECK(FTI_Protect(2, &number, 1, FTI_INTG) == FTI_SCES);
  if (ones) {
    CHECK(FTI_RecoverVar(0) == FTI_SCES && step == 40 && FTI_RecoverVar(1) == FTI_NREC);
    CHECK(FTI_RecoverVar(2) == FTI_NREC && FTI_Checkpoint(9, 1) == FTI_NSCS); /* not a mixture */
  }
  CHECK(FTI_Recover() == FTI_NREC && FTI_GetStoredSize(1) == length_of(30) * (long)sizeof *u); /* of the older one */
  u = (double*)FTI_Realloc(1, u);
  CHECK(FTI_Recover() == FTI_SCES && data_is(30) && FTI_Checkpoint(9, 1) == FTI_DONE && FTI_Finalize() == FTI_SCES);
}

static void damaged_all(void)
{
  damaged(0);
}

static void damaged_ones(void)
{
  damaged(1);
}

/* The list of checkpoint 4 is damaged on rank 0: the one before is taken. */
static void list(void)
{
  CHECK(FTI_Init(cfg, MPI_COMM_WORLD) == FTI_SCES && FTI_Status() == 1);
  clear_data(30, 0);
  CHECK(FTI_Protect(0, &step, 1, FTI_INTG) == FTI_SCES && FTI_Protect(1, u, length_of(30), FTI_DBLE) == FTI_SCES);
  CHECK(FTI_Protect(2, &number, 1, FTI_INTG) == FTI_SCES && FTI_Recover() == FTI_SCES && data_is(30));
  CHECK(FTI_Finalize() == FTI_SCES);
}

/* It writes without FTI_Recover. */
static void anew(void)
{
  CHECK(FTI_Init(cfg, MPI_COMM_WORLD) == FTI_SCES && FTI_Status() == 2);
  CHECK(FTI_Protect(0, &step, 1, FTI_INTG) == FTI_SCES && FTI_Checkpoint(1, 1) == FTI_DONE && FTI_Status() == 0);
  CHECK(FTI_Finalize() == FTI_SCES);
}

/* The checkpoint of this prefix was not written by these calls. */
static void foreign(void)
{
  CHECK(FTI_Init(cfg, MPI_COMM_WORLD) == FTI_NREC && FTI_Status() == 0);
  CHECK(FTI_Protect(0, &step, 1, FTI_INTG) == FTI_SCES && FTI_Checkpoint(1, 1) == FTI_NSCS);
  CHECK(FTI_Recover() == FTI_NREC && FTI_Finalize() == FTI_SCES);
}

static void replicated(void)
{
  CHECK(FTI_Init(cfg, MPI_COMM_WORLD) == FTI_SCES);
  step = 5;
  CHECK(FTI_Protect(0, &step, 1, FTI_INTG) == FTI_SCES && FTI_Checkpoint(1, 1) == FTI_DONE &&
        FTI_Finalize() == FTI_SCES);
}

static void fewer(void)
{
  int two[2];

  CHECK(FTI_Init(cfg, MPI_COMM_WORLD) == FTI_SCES && FTI_Status() == 2);
  CHECK(FTI_Protect(0, two, 2, FTI_INTG) == FTI_SCES && FTI_Recover() == FTI_NREC);
  CHECK(FTI_Protect(0, &step, 1, FTI_INTG) == FTI_SCES && FTI_Recover() == FTI_SCES && step == 5);
  step = rank;
  CHECK(FTI_Checkpoint(2, 1) == FTI_DONE && FTI_Finalize() == FTI_SCES);
}

static void more(void)
{
  CHECK(FTI_Init(cfg, MPI_COMM_WORLD) == FTI_SCES && FTI_Status() == 2);
  step = -1;
  CHECK(FTI_Protect(0, &step, 1, FTI_INTG) == FTI_SCES && FTI_Recover() == FTI_NREC && step == -1);
  CHECK(FTI_Finalize() == FTI_SCES);
}

static void disabled(void)
{
  CHECK(FTI_Init(cfg, MPI_COMM_WORLD) == FTI_SCES && FTI_Status() == 0);
  CHECK(FTI_Protect(0, &step, 1, FTI_INTG) == FTI_SCES && FTI_Checkpoint(1, 1) == FTI_DONE &&
        FTI_Finalize() == FTI_SCES);
}

int main(int argc, char** argv)
{
  static const part_of part[] = {
      {"writing", writing},         {"reading", reading},           {"snapshots", snapshots}, {"killed", killed},
      {"damaged_all", damaged_all}, {"damaged_ones", damaged_ones}, {"list", list},           {"anew", anew},
      {"foreign", foreign},         {"replicated", replicated},     {"fewer", fewer},         {"more", more},
      {"disabled", disabled}};

  return run_part(argc, argv, part, sizeof part / sizeof *part);
}
