/*
** jobs.c - several jobs in one place: at once and in turn, with one cache or one prefix between them, and after a kill.
*/
#include "mpi_test.h"

/* Two halves of the job, each a job of its own with its own prefix, at the same time. */
static void two_halves_of_a_job_keep_apart(void)
{
  char     whole[sizeof case_prefix];
  MPI_Comm half;
  int      run, side = rank % 2, i;

  begin();
  memcpy(whole, case_prefix, sizeof whole);
  MPI_Comm_split(MPI_COMM_WORLD, side, -rank, &half);
  snprintf(case_prefix, sizeof case_prefix, "%s/prefix%d", case_dir, side);
  if (rank < 2) make_dir(case_prefix);
  MPI_Barrier(half);
  set("SCR_VIRTUAL_NODES=");
  set("SCR_PREFIX=%s", case_prefix);
  CODE(SCR_Init_comm(MPI_COMM_NULL), SCR_ERR_STATE, "MPI_COMM_NULL");
  for (run = 0; run < 3; run++) {
    set("SCR_DISTRIBUTE=%d", run < 2);
    OK(SCR_Init_comm(half));
    if (run == 0) get(NULL, 0, 0);
    else get(side ? "odd" : "even", 2, 1000);
    for (i = 0; run == 0 && i <= side; i++) OK(put(side ? "odd" : "even", 2, 1000)); /* other counts */
    OK(SCR_Finalize());
  }
  MPI_Comm_free(&half);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(count_in("cntl", "prefix.scrinfo") >= 2, "both halves have the same control directory");
  memcpy(case_prefix, whole, sizeof whole);
}

/* Prefix and control base of job SIDE; the cache base is that of all. */
static void own_bases(int side)
{
  snprintf(case_prefix, sizeof case_prefix, "%s/prefix%d", case_dir, side);
  set("SCR_PREFIX=%s", case_prefix);
  set("SCR_CNTL_BASE=%s/cntl%d", case_dir, side);
}

/* Runs over two prefixes with a control base each, and one cache base between them, one after the other. */
static void two_prefixes_take_turns_in_one_cache(void)
{
  int run;

  begin();
  set("SCR_FLUSH=0");
  shell("mkdir prefix0 prefix1");
  for (run = 0; run < 6; run++) {
    own_bases(run % 2);
    OK(SCR_Init());
    get(run < 2 ? NULL : run % 2 ? "odd" : "even", 2, 1000);
    if (run < 4) OK(put(run % 2 ? "odd" : "even", 2, 1000));
    OK(SCR_Finalize());
  }
  CHECK(count_in("cache", "prefix.scrinfo") == 2 * (ranks == 5 ? 3 : ranks), "%d directories in the cache",
        count_in("cache", "prefix.scrinfo"));

  /* A control directory that is in use already does not look for another place. */
  own_bases(2);
  shell("mkdir prefix2 cache2");
  set("SCR_CACHE_BASE=%s/cache2", case_dir);
  run_puts("third", 1, 100);
  set("SCR_CACHE_BASE=%s/cache", case_dir);
  ALIKE(SCR_Init(), SCR_ERR_BUSY, "SCR_CACHE_BASE");
  set("SCR_CACHE_BASE=%s/cache2", case_dir);
  run_gets("third", 1, 100);
}

/* The same, both at once: the halves of the job. */
static void two_prefixes_share_one_cache_at_once(void)
{
  MPI_Comm half;
  int      run, side = rank % 2;

  begin();
  set("SCR_FLUSH=0");
  set("SCR_VIRTUAL_NODES=");
  shell("mkdir prefix0 prefix1");
  MPI_Comm_split(MPI_COMM_WORLD, side, rank, &half);
  own_bases(side);
  for (run = 0; run < 3; run++) {
    MPI_Barrier(MPI_COMM_WORLD);
    OK(SCR_Init_comm(half));
    get(run == 0 ? NULL : side ? "odd" : "even", 2, 1000);
    OK(put(side ? "odd" : "even", 2, 1000));
    MPI_Barrier(MPI_COMM_WORLD);
    OK(SCR_Finalize());
  }
  MPI_Comm_free(&half);
  CHECK(count_in("cache", "prefix.scrinfo") == 2, "%d directories in the cache", count_in("cache", "prefix.scrinfo"));
}

/* Two halves with the same prefix: one of them is told that the prefix is in use; the other one works. */
static void a_prefix_in_use_is_refused_to_another_job(void)
{
  MPI_Comm half;
  int      rc, side = rank % 2, busy, fine;

  begin();
  MPI_Comm_split(MPI_COMM_WORLD, side, rank, &half);
  set("SCR_VIRTUAL_NODES=");
  rc = SCR_Init_comm(half);
  CHECK(rc == SCR_SUCCESS || rc == SCR_ERR_BUSY, "%d %s", rc, SCR_Last_error());
  if (rc == SCR_ERR_BUSY) CHECK(strstr(SCR_Last_error(), "SCR_PREFIX") != NULL, "%s", SCR_Last_error());
  busy = rc == SCR_ERR_BUSY;
  fine = rc == SCR_SUCCESS;
  MPI_Allreduce(MPI_IN_PLACE, &busy, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &fine, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(busy == ranks / 2 || busy == ranks - ranks / 2, "%d ranks of %d are told", busy, ranks);
  CHECK(busy + fine == ranks, "%d + %d", busy, fine);
  if (rc == SCR_SUCCESS) {
    OK(put("ck", 1, 100));
    OK(SCR_Finalize());
  }
  MPI_Comm_free(&half);
}

/* A run that is killed while it holds its directories; mpi.sh runs after_kill in its directories. */
static void a_run_is_killed_while_it_holds_its_directories(void)
{
  begin_in("killed");
  set("SCR_FLUSH=0");
  OK(SCR_Init());
  OK(put("ck1", 2, 1000));
  MPI_Barrier(MPI_COMM_WORLD);
  raise(SIGKILL);
}

static void what_a_killed_run_held_is_free_at_once(void)
{
  begin_in("killed");
  set("SCR_FLUSH=0");
  run_gets("ck1", 2, 1000);
}

/* Two groups that talk to each other are not one world. */
static void an_intercommunicator_is_refused(void)
{
  MPI_Comm half, both;

  begin();
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 1, &both);
  CODE(SCR_Init_comm(both), SCR_ERR_ARG, "intercommunicator");
  MPI_Comm_free(&both);
  MPI_Comm_free(&half);
  run_puts("ck1", 1, 1000);
}

#define ANY "1 2 4 5", "9"
#define TWO "2 4 5", "9"

const test_case jobs_cases[] = {CASE(two_halves_of_a_job_keep_apart, TWO),
                                CASE(two_prefixes_take_turns_in_one_cache, ANY),
                                CASE(two_prefixes_share_one_cache_at_once, TWO),
                                CASE(an_intercommunicator_is_refused, TWO),
                                CASE(a_prefix_in_use_is_refused_to_another_job, "4", ""),
                                CASE(a_run_is_killed_while_it_holds_its_directories, "", ""),
                                CASE(what_a_killed_run_held_is_free_at_once, "", ""),
                                CASES_END};
