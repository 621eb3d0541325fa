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

/* ---- rejections ------------------------------------------------------------------------------------------------ */

static void put_four(void)
{
  OK(SCR_Init());
  OK(put("ck1", 1, 1000));
  OK(put("ck2", 1, 2000));
  OK(put("ck3", 1, 3000));
  OK(put("ck4", 1, 4000));
  OK(SCR_Finalize());
}

/* Another job, on nodes that have nothing yet. */
static void as_job_on_other_nodes(const char* id)
{
  as_job(id);
  lose_all_nodes();
}

/* ck4 and ck3 are rejected in one job, ck2 and ck1 too in another: that one goes on with ck4 and ck3, in this order. */
static void a_rejection_holds_in_its_job_and_other_jobs_offer_it_last(void)
{
  begin();
  set("SCR_FLUSH=1");
  set("SCR_CACHE_SIZE=4");
  put_four();
  OK(SCR_Init());
  rejects("ck4");
  rejects("ck3");
  get("ck2", 1, 2000);
  run_dies();
  run_gets("ck2", 1, 2000);
  run_fetches("ck2", 1, 2000); /* the index knows it too */

  as_job_on_other_nodes("other");
  OK(SCR_Init());
  rejects("ck2");
  rejects("ck1");
  rejects("ck4");
  get("ck3", 1, 3000);
  OK(SCR_Finalize());
  CHECK(index_marks("FAILED") == 3, "%d are rejected", index_marks("FAILED"));
  run_gets("ck3", 1, 3000);
  run_fetches("ck3", 1, 3000);

  as_job_on_other_nodes("third"); /* what another job has accepted goes first */
  OK(SCR_Init());
  rejects("ck3");
  rejects("ck4");
  rejects("ck2");
  rejects("ck1");
  refused("ck4 ck3 ck2 ck1");
  OK(SCR_Finalize());
  lose_all_nodes();
  OK(SCR_Init());
  refused("ck4 ck3 ck2 ck1");
  OK(SCR_Finalize());
}

/* The same with the cache alone. */
static void without_a_batch_system_each_run_is_a_job_of_its_own(void)
{
  begin();
  as_job(NULL);
  set("SCR_FLUSH=0");
  set("SCR_CACHE_SIZE=4");
  put_four();
  OK(SCR_Init());
  rejects("ck4");
  rejects("ck3");
  get("ck2", 1, 2000);
  OK(SCR_Finalize());
  OK(SCR_Init());
  rejects("ck2");
  rejects("ck1");
  rejects("ck4");
  rejects("ck3");
  refused("ck4 ck3 ck2 ck1");
  OK(SCR_Finalize());
  CHECK(cached_in("cache") == (ID(1) | ID(2) | ID(3) | ID(4)), "%x", cached_in("cache"));
  OK(SCR_Init()); /* the input is right now */
  get("ck4", 1, 4000);
  run_dies();
  OK(SCR_Init()); /* ck4 was accepted, so it is the newest good one */
  rejects("ck4");
  rejects("ck3");
  get("ck2", 1, 2000);
  OK(put("ck5", 1, 5000));
  OK(SCR_Finalize());
  run_gets("ck5", 1, 5000);
}

/* In one job the same rejections hold, with the cache alone. */
static void a_rejection_in_the_cache_holds_in_its_job(void)
{
  begin();
  set("SCR_FLUSH=0");
  set("SCR_CACHE_SIZE=4");
  put_four();
  OK(SCR_Init());
  rejects("ck4");
  rejects("ck3");
  run_dies();
  OK(SCR_Init());
  rejects("ck2");
  get("ck1", 1, 1000);
  OK(SCR_Finalize());
  OK(SCR_Init());
  rejects("ck1");
  refused("ck4 ck3 ck2 ck1");
  OK(SCR_Finalize());
  OK(SCR_Init());
  refused("ck4 ck3 ck2 ck1");
  OK(SCR_Finalize());
}

/* ---- a job that nobody watches --------------------------------------------------------------------------------- */

/* A run of the job restarts from checkpoint FROM, 0 for the beginning, writes those up to number TO, and is killed. */
static void run_goes_on(int from, int to)
{
  char name[40];
  int  i;

  during("from %d to %d", from, to);
  OK(SCR_Init());
  snprintf(name, sizeof name, "ck%d", from);
  get(from > 0 ? name : NULL, 1, 1000);
  for (i = from + 1; i <= to; i++) {
    snprintf(name, sizeof name, "ck%d", i);
    OK(put(name, 1, 1000));
  }
  run_dies();
}

/* Node N has nothing of this job any more. */
static void lose_node(int n)
{
  shell("rm -rf c*/*/scr.*/node.*-v%d", n);
}

/* The script sets SCR_FRESH_START for the first run, and leaves it set. */
static void a_job_goes_on_where_killed_runs_ended(void)
{
  int fresh;

  for (fresh = 0; fresh < 2; fresh++) {
    begin();
    set("SCR_FLUSH=3");
    if (fresh) set("SCR_FRESH_START=1");
    run_goes_on(0, 0);
    run_goes_on(0, 2);
    run_goes_on(2, 2);
    run_goes_on(2, 4); /* ck3 is on the prefix */
    run_goes_on(4, 5);
    lose_node(1); /* the job is queued again, and gets one other node */
    run_goes_on(5, 7);
    lose_node(0);
    run_goes_on(7, 7);
    lose_all_nodes(); /* and then others only */
    run_goes_on(6, 8);
    run_goes_on(8, 8);
    if (fresh) set("SCR_FRESH_START="); /* it would ask for another fresh start in another job */
    as_job_on_other_nodes("another");
    run_goes_on(6, 7);
    run_goes_on(7, 9);
    as_job("third"); /* on the same nodes, which also have what is of other jobs */
    run_goes_on(9, 11);
    lose_node(1);
    run_goes_on(11, 11);
  }
}

static void a_program_without_a_batch_system_goes_on_where_killed_runs_ended(void)
{
  begin();
  as_job(NULL);
  set("SCR_FLUSH=3");
  run_goes_on(0, 0);
  run_goes_on(0, 2);
  run_goes_on(2, 4);
  lose_node(1);
  run_goes_on(4, 5);
  lose_all_nodes();
  run_goes_on(3, 4);
  run_goes_on(4, 7);
}

/* A script that leaves SCR_CURRENT set: each job goes back to it once. */
static void a_choice_is_served_once_in_each_job(void)
{
  begin();
  set("SCR_FLUSH=1");
  set("SCR_CACHE_SIZE=3");
  put_four();
  set("SCR_CURRENT=ck2");
  OK(SCR_Init());
  get("ck2", 1, 2000);
  run_dies();
  OK(SCR_Init());
  get("ck2", 1, 2000); /* nothing newer is there yet */
  OK(put("new5", 1, 1000));
  run_dies();
  run_gets("new5", 1, 1000);
  as_job_on_other_nodes("other");
  OK(SCR_Init());
  get("ck2", 1, 2000);
  OK(put("new6", 1, 1000));
  run_dies();
  run_gets("new6", 1, 1000);
  set("SCR_CURRENT=new5"); /* another value is another wish, and ck2 as well after it */
  OK(SCR_Init());
  get("new5", 1, 1000);
  OK(put("new7", 1, 1000));
  run_dies();
  run_gets("new7", 1, 1000);
}

#define ANY "1 2 4 5", "9"
#define TWO "2 4 5", "9"
#define FEW "2 4", ""

const test_case jobs_cases[] = {CASE(two_halves_of_a_job_keep_apart, TWO),
                                CASE(two_prefixes_take_turns_in_one_cache, ANY),
                                CASE(two_prefixes_share_one_cache_at_once, TWO),
                                CASE(an_intercommunicator_is_refused, TWO),
                                CASE(a_prefix_in_use_is_refused_to_another_job, "4", ""),
                                CASE(a_rejection_holds_in_its_job_and_other_jobs_offer_it_last, ANY),
                                CASE(without_a_batch_system_each_run_is_a_job_of_its_own, ANY),
                                CASE(a_rejection_in_the_cache_holds_in_its_job, FEW),
                                CASE(a_job_goes_on_where_killed_runs_ended, FEW),
                                CASE(a_program_without_a_batch_system_goes_on_where_killed_runs_ended, FEW),
                                CASE(a_choice_is_served_once_in_each_job, FEW),
                                CASE(a_run_is_killed_while_it_holds_its_directories, "", ""),
                                CASE(what_a_killed_run_held_is_free_at_once, "", ""),
                                CASES_END};
