/*
** veloc_cases.c - what veloc.h promises, in C and C++.  compat.sh runs its parts, each on what one before has left.
*/
#include "cases.h"
#include "veloc.h"

#ifdef __cplusplus
extern "C" {
#endif
int protect_elsewhere(int id, void* data, size_t count, size_t size); /* in veloc_part.c */
int checkpoint_elsewhere(const char* name, int version);
int restart_elsewhere(const char* name, int version);
#ifdef __cplusplus
}
#endif

static char cfg[] = "veloc.cfg";
static int  number, wanted[] = {0, 1}, none[] = {7};

static void nothing_works(void)
{
  char path[VELOC_MAX_NAME];

  CHECK(VELOC_Mem_protect(0, &step, 1, sizeof step) == VELOC_FAILURE && VELOC_Mem_unprotect(0) == VELOC_FAILURE);
  CHECK(VELOC_Checkpoint("a", 1) == VELOC_FAILURE && VELOC_Checkpoint_wait() == VELOC_FAILURE);
  CHECK(VELOC_Checkpoint_begin("a", 1) == VELOC_FAILURE && VELOC_Checkpoint_mem() == VELOC_FAILURE);
  CHECK(VELOC_Checkpoint_end(1) == VELOC_FAILURE && VELOC_Route_file("f", path) == VELOC_FAILURE);
  CHECK(VELOC_Restart_test("a", 0) == VELOC_FAILURE && VELOC_Restart("a", 1) == VELOC_FAILURE);
  CHECK(VELOC_Restart_begin("a", 1) == VELOC_FAILURE && VELOC_Recover_mem() == VELOC_FAILURE);
  CHECK(VELOC_Recover_size(0) == VELOC_FAILURE && VELOC_Restart_end(1) == VELOC_FAILURE);
  CHECK(VELOC_Finalize(0) == VELOC_FAILURE);
}

static void wrong_arguments(void)
{
  CHECK(VELOC_Init(MPI_COMM_WORLD, cfg) == VELOC_FAILURE);
  CHECK(VELOC_Mem_unprotect(3) == VELOC_FAILURE);
  CHECK(VELOC_Mem_protect(3, NULL, 1, 8) == VELOC_FAILURE && VELOC_Mem_protect(3, NULL, 0, 8) == VELOC_SUCCESS);
  CHECK(VELOC_Mem_protect(3, &step, (size_t)-1 / 4, 8) == VELOC_FAILURE && VELOC_Mem_unprotect(3) == VELOC_SUCCESS);
  CHECK(VELOC_Checkpoint("a/b", 1) == VELOC_FAILURE && VELOC_Checkpoint("", 1) == VELOC_FAILURE);
  CHECK(VELOC_Checkpoint(NULL, 1) == VELOC_FAILURE && VELOC_Checkpoint("a", -1) == VELOC_FAILURE);
  CHECK(VELOC_Checkpoint(rank == 1 ? "a b" : "a", 1) == VELOC_FAILURE);
  CHECK(VELOC_Checkpoint(rank == 1 ? "b" : "a", 1) == VELOC_FAILURE);
  CHECK(VELOC_Restart_test("a", -1) == VELOC_FAILURE && VELOC_Restart_test("a", 0) == VELOC_FAILURE);
  CHECK(VELOC_Restart("a", 1) == VELOC_FAILURE);
  CHECK(VELOC_Checkpoint_mem() == VELOC_FAILURE && VELOC_Checkpoint_end(1) == VELOC_FAILURE);
  CHECK(VELOC_Recover_mem() == VELOC_FAILURE && VELOC_Restart_end(1) == VELOC_FAILURE);
  if (rank == 1)
    CHECK(VELOC_Checkpoint_wait() == VELOC_FAILURE); /* ranks in different calls do not wait for each other */
  else CHECK(VELOC_Restart_test("a", 0) == VELOC_FAILURE);
}

static void protect(int at)
{
  make_data(at);
  CHECK(VELOC_Mem_protect(0, &step, 1, sizeof step) == VELOC_SUCCESS);
  CHECK(protect_elsewhere(1, u, (size_t)length_of(at), sizeof *u) == VELOC_SUCCESS);
}

/* Checkpoints 10 to 40; 2 is a region of even ranks. */
static void writing(void)
{
  nothing_works();
  CHECK(VELOC_Init(MPI_COMM_WORLD, cfg) == VELOC_SUCCESS);
  wrong_arguments();
  protect(10);
  number = 100 + rank;
  if (rank % 2 == 0) CHECK(VELOC_Mem_protect(2, &number, 1, sizeof number) == VELOC_SUCCESS);
  CHECK(VELOC_Checkpoint("a", 10) == VELOC_SUCCESS);
  protect(20);
  CHECK(checkpoint_elsewhere("a", 20) == VELOC_SUCCESS);
  protect(25);
  CHECK(VELOC_Checkpoint("b", 25) == VELOC_FAILURE && VELOC_Checkpoint("a", 19) == VELOC_FAILURE);
  CHECK(VELOC_Checkpoint_begin("a", 25) == VELOC_SUCCESS && VELOC_Checkpoint_begin("a", 26) == VELOC_FAILURE);
  CHECK(VELOC_Restart_begin("a", 20) == VELOC_FAILURE && VELOC_Restart_test("a", 0) == VELOC_FAILURE);
  CHECK(VELOC_Finalize(1) == VELOC_FAILURE && VELOC_Checkpoint_wait() == VELOC_FAILURE);
  CHECK(VELOC_Recover_mem() == VELOC_FAILURE && VELOC_Recover_size(0) == VELOC_FAILURE);
  CHECK(VELOC_Checkpoint_mem() == VELOC_SUCCESS && VELOC_Checkpoint_end(rank != 1) == VELOC_FAILURE);
  CHECK(VELOC_Checkpoint_begin("a", 25) == VELOC_SUCCESS && VELOC_Checkpoint_mem() == VELOC_SUCCESS);
  CHECK(VELOC_Checkpoint_mem() == VELOC_FAILURE && VELOC_Checkpoint_end(1) == VELOC_FAILURE);
  CHECK(VELOC_Checkpoint_begin("a", 25) == VELOC_SUCCESS);
  CHECK(VELOC_Checkpoint_selective(VELOC_CKPT_SOME, none, 1) == VELOC_FAILURE);
  CHECK(VELOC_Checkpoint_selective(9, NULL, 0) == VELOC_FAILURE && VELOC_Checkpoint_end(1) == VELOC_FAILURE);
  protect(30);
  CHECK(VELOC_Checkpoint_begin("a", 30) == VELOC_SUCCESS);
  CHECK(VELOC_Checkpoint_selective(VELOC_CKPT_SOME, wanted, 2) == VELOC_SUCCESS &&
        VELOC_Checkpoint_end(1) == VELOC_SUCCESS);
  protect(40);
  CHECK(VELOC_Checkpoint_begin("a", 40) == VELOC_SUCCESS);
  if (rank != 3) CHECK(VELOC_Checkpoint_selective(VELOC_CKPT_REST, none, 1) == VELOC_SUCCESS); /* rank 3 has nothing */
  CHECK(VELOC_Checkpoint_end(1) == VELOC_SUCCESS && VELOC_Restart_test("a", 0) == VELOC_FAILURE);
  CHECK(VELOC_Checkpoint_wait() == VELOC_SUCCESS && VELOC_Finalize(1) == VELOC_SUCCESS);
  nothing_works();
}

static void reading(void)
{
  CHECK(VELOC_Init(MPI_COMM_WORLD, cfg) == VELOC_SUCCESS);
  CHECK(VELOC_Restart_test("a", 0) == 40 && VELOC_Restart_test("a", 41) == 40 &&
        VELOC_Restart_test("b", 0) == VELOC_FAILURE);
  CHECK(VELOC_Checkpoint("b", 1) == VELOC_FAILURE); /* it would hide the versions of a */
  CHECK(VELOC_Restart_test("a", 40) == 30 && VELOC_Restart_test("a", 25) == 20 &&
        VELOC_Restart_test("a", 10) == VELOC_FAILURE);
  CHECK(VELOC_Restart("a", 35) == VELOC_FAILURE && VELOC_Restart("b", 20) == VELOC_FAILURE);

  /* version 30 has the regions 0 and 1 */
  CHECK(VELOC_Restart_begin("a", 30) == VELOC_SUCCESS && VELOC_Restart_begin("a", 30) == VELOC_FAILURE);
  CHECK(VELOC_Recover_size(0) == (int)sizeof step && VELOC_Recover_size(1) == length_of(30) * (int)sizeof *u);
  CHECK(VELOC_Recover_size(2) == VELOC_FAILURE);
  clear_data(30, 0);
  CHECK(VELOC_Mem_protect(0, &step, 1, sizeof step) == VELOC_SUCCESS && VELOC_Recover_mem() == VELOC_FAILURE);
  CHECK(VELOC_Mem_protect(1, u, (size_t)length_of(30) - (rank == 1), sizeof *u) == VELOC_SUCCESS);
  CHECK(VELOC_Recover_mem() == VELOC_FAILURE && step == -1 && u[1] == 0); /* too small on one rank */
  CHECK(VELOC_Mem_protect(1, u, (size_t)length_of(30), sizeof *u) == VELOC_SUCCESS);
  CHECK(VELOC_Recover_selective(VELOC_RECOVER_SOME, none, 1) == VELOC_FAILURE);
  CHECK(VELOC_Recover_selective(VELOC_RECOVER_SOME, wanted, 1) == VELOC_SUCCESS && step == 30 && u[1] == 0);
  CHECK(VELOC_Recover_selective(VELOC_RECOVER_REST, wanted, 1) == VELOC_SUCCESS && data_is(30));
  CHECK(VELOC_Restart_end(1) == VELOC_SUCCESS);

  /* version 20 in memory with room for more, from another file of the program */
  clear_data(20, 50);
  CHECK(VELOC_Mem_protect(1, u, (size_t)length_of(20) + 50, sizeof *u) == VELOC_SUCCESS);
  number = 0;
  if (rank % 2 == 0) CHECK(VELOC_Mem_protect(2, &number, 1, sizeof number) == VELOC_SUCCESS);
  CHECK(restart_elsewhere("a", 20) == VELOC_SUCCESS && data_is(20) && number == (rank % 2 == 0 ? 100 + rank : 0));

  /* version 40, in which rank 3 has nothing */
  clear_data(40, 0);
  CHECK(VELOC_Mem_protect(1, u, (size_t)length_of(40), sizeof *u) == VELOC_SUCCESS);
  CHECK(VELOC_Restart_begin("a", 40) == VELOC_SUCCESS);
  if (rank != 3) CHECK(VELOC_Recover_mem() == VELOC_SUCCESS && data_is(40));
  CHECK(VELOC_Restart_end(1) == VELOC_SUCCESS && VELOC_Restart_test("a", 0) == 40);

  /* what does not fit costs no checkpoint; what a rank cannot use is not offered again */
  CHECK(VELOC_Mem_protect(1, u, 1, sizeof *u) == VELOC_SUCCESS && VELOC_Restart("a", 40) == VELOC_FAILURE);
  CHECK(VELOC_Restart_test("a", 0) == 40 && VELOC_Restart_begin("a", 40) == VELOC_SUCCESS);
  CHECK(VELOC_Restart_end(rank != 1) == VELOC_FAILURE && VELOC_Restart_test("a", 0) == 30);
  clear_data(30, 0);
  CHECK(VELOC_Mem_protect(1, u, (size_t)length_of(30), sizeof *u) == VELOC_SUCCESS &&
        VELOC_Restart("a", 30) == VELOC_SUCCESS);
  CHECK(data_is(30) && VELOC_Checkpoint("a", 30) == VELOC_SUCCESS); /* as a loop writes it that begins with the check */
  CHECK(VELOC_Finalize(0) == VELOC_SUCCESS);
}

/* Version 40 is damaged on rank 0. */
static void damaged(void)
{
  CHECK(VELOC_Init(MPI_COMM_WORLD, cfg) == VELOC_SUCCESS && VELOC_Restart_test("a", 0) == 40);
  clear_data(40, 0);
  CHECK(VELOC_Mem_protect(0, &step, 1, sizeof step) == VELOC_SUCCESS);
  CHECK(VELOC_Mem_protect(1, u, (size_t)length_of(40), sizeof *u) == VELOC_SUCCESS);
  CHECK(VELOC_Mem_protect(2, &number, 1, sizeof number) == VELOC_SUCCESS);
  CHECK(VELOC_Restart("a", 40) == VELOC_FAILURE && VELOC_Restart_test("a", 0) == 30);
  clear_data(30, 0);
  CHECK(VELOC_Mem_protect(1, u, (size_t)length_of(30), sizeof *u) == VELOC_SUCCESS);
  CHECK(VELOC_Restart("a", 30) == VELOC_SUCCESS && data_is(30) && VELOC_Finalize(0) == VELOC_SUCCESS);
}

/* The list of version 40 is damaged on rank 0. */
static void list(void)
{
  CHECK(VELOC_Init(MPI_COMM_WORLD, cfg) == VELOC_SUCCESS && VELOC_Restart_test("a", 0) == 40);
  CHECK(VELOC_Restart_begin("a", 40) == VELOC_FAILURE && VELOC_Restart_test("a", 0) == 30);
  CHECK(VELOC_Restart_test("a", 30) == 20 && VELOC_Finalize(0) == VELOC_SUCCESS);
}

/* It writes without a restart. */
static void anew(void)
{
  CHECK(VELOC_Init(MPI_COMM_WORLD, cfg) == VELOC_SUCCESS && VELOC_Restart_test("a", 0) == 40);
  CHECK(VELOC_Checkpoint("a", 5) == VELOC_SUCCESS && VELOC_Finalize(0) == VELOC_SUCCESS);
}

static void after_anew(void)
{
  CHECK(VELOC_Init(MPI_COMM_WORLD, cfg) == VELOC_SUCCESS && VELOC_Restart_test("a", 0) == 5);
  CHECK(VELOC_Restart_test("a", 5) == VELOC_FAILURE && VELOC_Finalize(0) == VELOC_SUCCESS);
}

/* A number that is the same on all ranks, and one that is not: another number of ranks can have the first. */
static void replicated(void)
{
  CHECK(VELOC_Init(MPI_COMM_WORLD, cfg) == VELOC_SUCCESS);
  step = 5;
  CHECK(VELOC_Mem_protect(0, &step, 1, sizeof step) == VELOC_SUCCESS && VELOC_Checkpoint("same", 5) == VELOC_SUCCESS);
  step = 6 + rank;
  CHECK(VELOC_Checkpoint("same", 6) == VELOC_SUCCESS && VELOC_Finalize(1) == VELOC_SUCCESS);
}

static void fewer(void)
{
  CHECK(VELOC_Init(MPI_COMM_WORLD, cfg) == VELOC_SUCCESS);
  step = -1;
  CHECK(VELOC_Mem_protect(0, &step, 1, sizeof step) == VELOC_SUCCESS && VELOC_Restart_test("same", 0) == 6);
  CHECK(VELOC_Restart("same", 6) == VELOC_FAILURE && step == -1);
  CHECK(VELOC_Restart_test("same", 6) == 5 && VELOC_Restart("same", 5) == VELOC_SUCCESS && step == 5);
  CHECK(VELOC_Finalize(1) == VELOC_SUCCESS);
}

/* A version without regions is not damaged: it stays, for a program that routes its files. */
static void bare(void)
{
  CHECK(VELOC_Init(MPI_COMM_WORLD, cfg) == VELOC_SUCCESS);
  CHECK(VELOC_Checkpoint_begin("bare", 1) == VELOC_SUCCESS && VELOC_Checkpoint_end(1) == VELOC_SUCCESS);
  CHECK(VELOC_Finalize(0) == VELOC_SUCCESS);
}

static void bare_again(void)
{
  CHECK(VELOC_Init(MPI_COMM_WORLD, cfg) == VELOC_SUCCESS);
  CHECK(VELOC_Mem_protect(0, &step, 1, sizeof step) == VELOC_SUCCESS && VELOC_Restart_test("bare", 0) == 1);
  CHECK(VELOC_Restart("bare", 1) == VELOC_FAILURE && VELOC_Restart_test("bare", 0) == 1);
  CHECK(VELOC_Finalize(0) == VELOC_SUCCESS);
}

static void disabled(void)
{
  char path[VELOC_MAX_NAME] = "";

  CHECK(VELOC_Init(MPI_COMM_WORLD, cfg) == VELOC_SUCCESS && VELOC_Restart_test("a", 0) == VELOC_FAILURE);
  CHECK(VELOC_Mem_protect(0, &step, 1, sizeof step) == VELOC_SUCCESS && VELOC_Checkpoint("a", 1) == VELOC_SUCCESS);
  CHECK(VELOC_Checkpoint_begin("a", 2) == VELOC_SUCCESS && VELOC_Route_file("file", path) == VELOC_SUCCESS);
  CHECK(strcmp(path, "file") == 0 && VELOC_Checkpoint_end(1) == VELOC_SUCCESS && VELOC_Finalize(0) == VELOC_SUCCESS);
}

int main(int argc, char** argv)
{
  static const part_of part[] = {
      {"writing", writing}, {"reading", reading},       {"damaged", damaged},       {"list", list},
      {"anew", anew},       {"after_anew", after_anew}, {"replicated", replicated}, {"fewer", fewer},
      {"bare", bare},       {"bare_again", bare_again}, {"disabled", disabled}};

  return run_part(argc, argv, part, sizeof part / sizeof *part);
}
