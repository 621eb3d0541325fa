/*
** halt.c - when a checkpoint is needed, and when the program should end, or is ended.
*/
#include "mpi_test.h"

#include <time.h>

static int need(void)
{
  int flag = -1;
  OK(SCR_Need_checkpoint(&flag));
  return flag;
}

static int should_exit(void)
{
  int flag = -1;
  OK(SCR_Should_exit(&flag));
  return flag;
}

static void a_checkpoint_is_needed_by_interval_seconds_and_overhead(void)
{
  int i;

  begin();
  OK(SCR_Init());
  for (i = 0; i < 3; i++) CHECK(need() == 1, "call %d without a rule", i);
  OK(SCR_Finalize());
  set("SCR_CHECKPOINT_INTERVAL=3");
  OK(SCR_Init());
  for (i = 1; i <= 9; i++) CHECK(need() == (i % 3 == 0), "call %d of interval 3", i);
  OK(SCR_Finalize());
  set("SCR_CHECKPOINT_INTERVAL=");
  set("SCR_CHECKPOINT_SECONDS=1");
  OK(SCR_Init());
  CHECK(need() == 0, "at once");
  usleep(1100000);
  CHECK(need() == 1, "after 1.1 s");
  OK(put("ck1", 1, 10));
  CHECK(need() == 0, "right after a checkpoint");
  OK(SCR_Finalize());
  set("SCR_CHECKPOINT_SECONDS=");
  set("SCR_CHECKPOINT_OVERHEAD=0.001");
  OK(SCR_Init());
  CHECK(need() == 1, "before the first checkpoint");
  OK(put("ck2", 1, 10));
  CHECK(need() == 0, "one is enough for 0.001 percent");
  OK(SCR_Finalize());
  set("SCR_CHECKPOINT_OVERHEAD=99");
  OK(SCR_Init());
  OK(put("ck3", 1, 10));
  usleep(300000);
  CHECK(need() == 1, "there is time for more");
  OK(SCR_Finalize());
}

/* Checkpoint NAME, for which the program needs SECONDS. */
static void put_slowly(const char* name, double seconds)
{
  char path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME];

  OK(SCR_Start_output(name, SCR_FLAG_CHECKPOINT));
  name_of(name, 0, path);
  OK(SCR_Route_file(path, file));
  CHECK(write_bytes(file, 1, 10), "%s", file);
  usleep((useconds_t)(seconds * 1e6));
  OK(SCR_Complete_output(1));
}

/* What checkpoints cost is measured for each CKPT line: those of the second one are slow. */
static void each_level_has_an_interval_of_its_own(void)
{
  begin();
  set("SCR_COPY_TYPE=FILE");
  set("CKPT=0 INTERVAL=1 TYPE=SINGLE");
  set("CKPT=1 INTERVAL=2 TYPE=XOR");
  set("SCR_FLUSH=0");
  set("SCR_CHECKPOINT_MTBF=3");
  OK(SCR_Init());
  CHECK(need() == 1, "a cost that is not known has to be learnt");
  put_slowly("ck1", 0);
  put_slowly("ck2", 1.2);
  put_slowly("ck3", 0);
  usleep(1200000); /* best: 1.7 s or more before a slow one, */
  CHECK(need() == 0, "too early for a slow one");
  usleep(1500000);
  CHECK(need() == 1, "time for a slow one");
  put_slowly("ck4", 1.2);
  CHECK(need() == 0, "at once");
  usleep(2000000); /* and 1.8 s before one that takes a second, which is long for so few bytes */
  CHECK(need() == 1, "time for a fast one");
  OK(SCR_Finalize());
}

static volatile sig_atomic_t signals_heard;

static void hear_signal(int number)
{
  signals_heard += number;
}

static struct sigaction before_mine;

/* A handler that the program installs after SCR_Init, and that calls the library's. */
static void hear_and_pass_on(int number, siginfo_t* info, void* context)
{
  signals_heard += 1000;
  before_mine.sa_sigaction(number, info, context);
}

/* Returns 1 if a checkpoint is needed after rank WHO got SIGUSR2. */
static int need_after_signal(int who)
{
  if (rank == who) raise(SIGUSR2);
  return need();
}

static void a_signal_to_one_rank_asks_all_for_a_checkpoint_and_is_passed_on(void)
{
  struct sigaction mine, now, hup;
  char             text[2000];
  int              last = ranks - 1;

  begin();
  set("SCR_CHECKPOINT_INTERVAL=1000");
  memset(&mine, 0, sizeof mine);
  mine.sa_handler = hear_signal;
  sigaction(SIGUSR2, &mine, NULL);
  sigaction(SIGHUP, NULL, &hup);
  OK(SCR_Init());
  signals_heard = 0;
  CHECK(need_after_signal(last) == 0, "no signal is asked for");
  CHECK(signals_heard == (rank == last ? SIGUSR2 : 0), "the program heard %d", (int)signals_heard);
  OK(SCR_Finalize());

  set("SCR_SIGNALS=HUP:halt,SIGUSR2:checkpoint+flush");
  set("SCR_FLUSH=0");
  OK(SCR_Init());
  signals_heard = 0;
  CHECK(need() == 0, "no signal came");
  hear();
  CHECK(need_after_signal(last) == 1 && need() == 1 && need() == 1, "from now on");
  heard(text, sizeof text);
  CHECK(times(text, "signal 12 asks for a checkpoint") == (SIGUSR2 == 12 && rank == last), "%s", text);
  CHECK(signals_heard == (rank == last ? SIGUSR2 : 0), "the program heard %d", (int)signals_heard);
  CODE(put_valid("bad", SCR_FLAG_CHECKPOINT, 1, 10, 0), SCR_ERR_INVALID, "");
  CHECK(need() == 1, "the checkpoint failed");
  OK(put_valid("out", SCR_FLAG_OUTPUT, 1, 10, 1));
  CHECK(need() == 1, "output is no checkpoint");
  OK(put("ck1", 1, 10));
  CHECK(need() == 0, "this was it");
  on_prefix("ck1", 1, 10);
  OK(put("ck2", 1, 10));
  CHECK(there("prefix/ck1") && !there("prefix/ck2"), "what nobody asked for is flushed");

  OK(SCR_Start_output("ck3", SCR_FLAG_CHECKPOINT)); /* one that comes now wants what the program will have computed */
  if (rank == 0) raise(SIGUSR2);
  OK(SCR_Complete_output(1));
  CHECK(need() == 1, "a signal after the start");
  OK(put("ck4", 1, 10));
  CHECK(need() == 0, "the next one was it");

  memset(&mine, 0, sizeof mine);
  mine.sa_sigaction = hear_and_pass_on;
  mine.sa_flags = SA_SIGINFO;
  sigaction(SIGUSR2, &mine, &before_mine);
  signals_heard = 0;
  CHECK(need_after_signal(0) == 1, "a handler over that of the library");
  CHECK(signals_heard == (rank == 0 ? 1000 + SIGUSR2 : 0), "the program heard %d", (int)signals_heard);
  OK(SCR_Finalize());
  sigaction(SIGUSR2, NULL, &now);
  CHECK(now.sa_sigaction == hear_and_pass_on, "the program's handler has gone");
  signals_heard = 0;
  raise(SIGUSR2);
  CHECK(signals_heard == 1000 + SIGUSR2, "the program heard %d", (int)signals_heard);

  OK(SCR_Init()); /* the two handlers now call each other */
  signals_heard = 0;
  CHECK(need_after_signal(0) == 1, "again");
  CHECK(signals_heard == (rank == 0 ? 1000 : 0), "the program heard %d", (int)signals_heard);
  OK(SCR_Finalize());
  sigaction(SIGUSR2, NULL, &now);
  CHECK(now.sa_sigaction == hear_and_pass_on, "the program's handler does not come back");
  mine.sa_flags = 0;
  mine.sa_handler = SIG_DFL;
  sigaction(SIGUSR2, &mine, NULL);
  sigaction(SIGHUP, NULL, &now);
  CHECK(now.sa_handler == hup.sa_handler, "SIGHUP is not given back");
}

/* A log of RUNS runs of this job, which took SECONDS each; the last one FAILED, as the others did. */
static void write_log(int runs, int seconds, int failed)
{
  char  text[400], all[8000] = "", *end = all;
  char  path[SCR_MAX_FILENAME];
  char* job = getenv("SCR_JOB_ID");
  int   i;

  snprintf(path, sizeof path, "%s/.scr/log", case_prefix);
  for (i = 0; i < runs; i++) {
    snprintf(text, sizeof text,
             "2026-01-01T%02d:00:00: host=n1, jobid=%s, event=START, procs=4, nodes=4\n"
             "2026-01-01T%02d:%02d:%02d: host=n1, jobid=%s, event=%s, secs=1.0\n",
             i, job, i, seconds / 60, seconds % 60, job, failed || i + 1 < runs ? "COMPUTE_END" : "END");
    end += snprintf(end, sizeof all - (size_t)(end - all), "%s", text);
  }
  if (rank == 0) write_file(path, all, strlen(all));
  MPI_Barrier(MPI_COMM_WORLD);
}

static void a_checkpoint_is_needed_when_waiting_would_lose_more(void)
{
  char text[4096];

  begin();
  set("SCR_CHECKPOINT_MTBF=1e9");
  OK(SCR_Init());
  CHECK(need() == 1, "a cost that is not known has to be learnt");
  OK(put("ck1", 1, 10));
  usleep(300000);
  CHECK(need() == 0, "failures are rare");
  OK(SCR_Finalize());
  set("SCR_CHECKPOINT_MTBF=0.001");
  OK(SCR_Init());
  OK(put("ck2", 1, 10));
  usleep(20000);
  CHECK(need() == 1, "failures are frequent");
  OK(SCR_Finalize());

  set("SCR_CHECKPOINT_MTBF=log"); /* without one */
  OK(SCR_Init());
  OK(put("ck3", 1, 10));
  CHECK(need() == 0, "right after a checkpoint");
  OK(SCR_Finalize());
  write_log(6, 0, 1);
  OK(SCR_Init());
  OK(put("ck4", 1, 10));
  usleep(300000);
  CHECK(need() == 1, "six failures in no time");
  OK(SCR_Finalize());
  write_log(2, 1000, 0);
  OK(SCR_Init());
  OK(put("ck5", 1, 10));
  usleep(300000);
  CHECK(need() == 0, "one failure in 2000 s");
  OK(SCR_Finalize());
  shell("echo no log >prefix/.scr/log");
  OK(init_says(text, sizeof text));
  CHECK(times(text, "is learnt from this run alone") == (rank == 0), "%s", text);
  OK(SCR_Finalize());
  SCR_Config("SCR_CHECKPOINT_MTBF=often");
  CODE(SCR_Init(), SCR_ERR_PARAM, "it must be a number of seconds, or log");
}

/* A run with the halt condition that OPTIONS of scr_halt set: what SCR_Should_exit and SCR_Need_checkpoint say. */
static void halted(const char* options, int expect)
{
  shell("mkdir -p prefix/.scr; $TEST_HALT -r prefix; $TEST_HALT %s prefix", options);
  OK(SCR_Init());
  CHECK(should_exit() == expect, "scr_halt %s", options);
  CHECK(need() == expect, "scr_halt %s", options);
  OK(SCR_Finalize());
}

/* scr_halt changes the halt file before the job starts, and while it runs. */
static void the_program_should_exit_when_the_halt_file_says_so(void)
{
  begin();
  set("SCR_CHECKPOINT_INTERVAL=1000");
  halted("-l", 0);
  halted("-i", 1);
  halted("-a 1000", 1);
  halted("-a +2h", 0);
  halted("-b +1h", 0);
  halted("-b +1h -s 7200", 1);
  halted("-c 5", 0);
  halted("-l", 0);

  OK(SCR_Init());
  CHECK(should_exit() == 0, "without a condition");
  shell("$TEST_HALT -c 2 prefix");
  CHECK(should_exit() == 0, "two checkpoints are left");
  OK(put("ck1", 1, 10));
  CHECK(should_exit() == 0, "one checkpoint is left");
  OK(put_valid("out", SCR_FLAG_OUTPUT, 1, 10, 1));
  CHECK(should_exit() == 0, "output is no checkpoint");
  OK(put("ck2", 1, 10)); /* the program lives on, because it asks */
  CHECK(should_exit() == 1 && need() == 1, "no checkpoint is left");
  OK(SCR_Finalize());

  shell("$TEST_HALT -r prefix");
  set("SCR_HALT_SECONDS=");
  set("SCR_HALT_ENABLED=0"); /* no exit, but SCR_Should_exit tells */
  shell("$TEST_HALT -i prefix");
  OK(SCR_Init());
  OK(put("ck3", 1, 10));
  CHECK(should_exit() == 1, "SCR_HALT_ENABLED=0");
  OK(SCR_Finalize());
  set("SCR_HALT_ENABLED=");
  set("SCR_HALT_EXIT=0"); /* never */
  run_puts("ck4", 1, 10);
}

/* A condition that holds after SCR_Need_checkpoint has said 0 ends no program that has not saved its work. */
static void a_halt_waits_until_a_checkpoint_could_be_written(void)
{
  int i;

  begin();
  set("SCR_CHECKPOINT_INTERVAL=1000");
  shell("mkdir -p prefix/.scr");
  OK(SCR_Init());
  for (i = 0; i < 2; i++) CHECK(need() == 0 && should_exit() == 0, "step %d", i);
  CHECK(need() == 0, "before the halt");
  shell("$TEST_HALT -a 1000 prefix");
  CHECK(should_exit() == 0, "the work of this step is not saved");
  CHECK(need() == 1, "now it can be");
  OK(put("ck1", 1, 10));
  CHECK(should_exit() == 1, "it is saved");
  shell("$TEST_HALT -r prefix");
  CHECK(should_exit() == 0 && need() == 0, "taken back");
  shell("$TEST_HALT -a 1000 prefix");
  OK(put("ck2", 1, 10));
  CHECK(should_exit() == 1, "saved without being asked");

  shell("$TEST_HALT -r prefix");
  CHECK(should_exit() == 0 && need() == 0, "taken back");
  for (i = 0; i < 3; i++) CHECK(should_exit() == 0, "three questions a step");
  CHECK(need() == 0, "the next step");
  shell("$TEST_HALT -a 1000 prefix");
  for (i = 0; i < 3; i++) CHECK(should_exit() == 0, "question %d of this step", i);
  CHECK(should_exit() == 1, "the loop, in which SCR_Need_checkpoint was called, has ended");
  CHECK(need() == 1 && should_exit() == 1, "a program that writes no checkpoint when it is asked to");
  OK(SCR_Finalize());
}

/* A program that asks SCR_Need_checkpoint seldom is told to end while there is time to flush what it has. */
static void a_halt_does_not_wait_until_there_is_no_time(void)
{
  int i;

  begin();
  set("SCR_CHECKPOINT_INTERVAL=1000");
  set("SCR_END_TIME=%lld", (long long)time(NULL) + 8);
  set("SCR_HALT_SECONDS=6");
  OK(SCR_Init());
  CHECK(need() == 0, "the first");
  for (i = 0; i < 9; i++) CHECK(should_exit() == 0, "step %d", i);
  CHECK(need() == 0, "the second");
  sleep(3);
  CHECK(should_exit() == 0, "5 seconds are left: the next SCR_Need_checkpoint may come in time");
  sleep(3);
  CHECK(should_exit() == 1, "2 seconds are left");
  OK(SCR_Finalize());
}

/* One line of what rank 0 said in TEXT: how to take the condition back; then do that. */
static void take_back(const char* text)
{
  char        command[SCR_MAX_FILENAME + 200] = "true";
  const char *from = strchr(text, '`'), *to = from != NULL ? strchr(from + 1, '`') : NULL;

  CHECK(rank > 0 || to != NULL, "no command: %s", text);
  if (to != NULL) snprintf(command, sizeof command, "%.*s", (int)(to - from - 1), from + 1);
  shell("PATH=$(dirname $TEST_HALT):$PATH; %s", command);
}

/* A new job starts: the program should exit or not; TEXT is what rank 0 says. */
static void job_should_exit(const char* job, int expect, char* text, size_t n)
{
  as_job(job);
  hear();
  OK(SCR_Init());
  CHECK(should_exit() == expect && should_exit() == expect, "job %s", job);
  heard(text, n);
  CHECK(times(text, "the run should end (") == (rank == 0 && expect), "%s", text);
}

static void what_a_person_has_asked_for_stays_until_it_is_taken_back(void)
{
  static const struct {
    const char *options, *says;
  } asked[] = {{"", "(JOB_HALTED): the halt file gives the reason JOB_HALTED, set by "},
               {"-c 1", "(NO_CHECKPOINTS_LEFT): no checkpoints are left, set by "},
               {"-a 1000", "(EXIT_AFTER_TIME): the run stops after "},
               {"-b 1000", "(EXIT_BEFORE_TIME): the run stops before "},
               {"-s 1000", "(TIME_LIMIT): the run stops when the allocation has no more than 1000 s left, set by "}};
  char   text[4096], name[8];
  size_t i;

  begin();
  setenv("SCR_END_TIME", "2000", 1);
  shell("! $TEST_HALT prefix 2>said && grep 'no run has used .*/prefix;.*--create' said");
  for (i = 0; i < sizeof asked / sizeof *asked; i++) {
    during("scr_halt %s", asked[i].options);
    shell("$TEST_HALT --create %s prefix", asked[i].options);
    as_job("first");
    OK(SCR_Init());
    should_exit(); /* the program asks, so the library does not exit */
    snprintf(name, sizeof name, "ck%d", (int)i);
    OK(put(name, 1, 10));
    CHECK(should_exit() == 1, "the first run");
    OK(SCR_Finalize());
    job_should_exit("second", 1, text, sizeof text);
    CHECK(rank > 0 || (strstr(text, asked[i].says) != NULL && strstr(text, " on ") != NULL), "%s", text);
    OK(SCR_Finalize());
    take_back(text);
    job_should_exit("first", 0, text, sizeof text);
    OK(SCR_Finalize());
  }
  unsetenv("SCR_END_TIME");
}

static void a_time_limit_ends_the_runs_of_its_own_job_alone(void)
{
  char text[4096];

  begin();
  set("SCR_HALT_SECONDS=200");
  setenv("SCR_END_TIME", "9000000000", 1);
  job_should_exit("first", 0, text, sizeof text);
  OK(SCR_Finalize());
  setenv("SCR_END_TIME", "1000", 1); /* its time has passed */
  job_should_exit("first", 1, text, sizeof text);
  CHECK(rank > 0 || strstr(text, "(TIME_LIMIT): the run stops when the allocation has no more than 200 s left, by "
                                 "SCR_HALT_SECONDS") != NULL,
        "%s", text);
  OK(SCR_Finalize());
  setenv("SCR_END_TIME", "9000000000", 1);
  job_should_exit("first", 1, text, sizeof text);
  CHECK(rank > 0 || strstr(text, "TIME_LIMIT, written by a run of job first at ") != NULL, "%s", text);
  OK(put("ck1", 1, 10));
  OK(SCR_Finalize());
  setenv("SLURM_RESTART_COUNT", "1", 1); /* a job that is requeued has its time anew */
  job_should_exit("first", 0, text, sizeof text);
  unsetenv("SLURM_RESTART_COUNT");
  OK(SCR_Finalize());
  job_should_exit("second", 0, text, sizeof text);
  OK(SCR_Finalize());
  setenv("SCR_END_TIME", "1000", 1);
  job_should_exit("second", 1, text, sizeof text);
  OK(SCR_Finalize());
  unsetenv("SCR_END_TIME");
  set("SCR_HALT_SECONDS=");
  job_should_exit("second", 1, text, sizeof text);
  OK(SCR_Finalize());
  take_back(text);
  job_should_exit("second", 0, text, sizeof text);
  OK(SCR_Finalize());
}

static void job_ends_in(long seconds)
{
  char end[32];
  long at = (long)time(NULL) + seconds;

  MPI_Bcast(&at, 1, MPI_LONG, 0, MPI_COMM_WORLD); /* a second may begin between the looks of two ranks */
  snprintf(end, sizeof end, "%ld", at);
  setenv("SCR_END_TIME", end, 1);
}

static void scr_halt_seconds_that_is_not_below_the_time_of_the_job_is_an_error(void)
{
  begin();
  as_job("first");
  job_ends_in(3600);
  set("SCR_HALT_SECONDS=3600");
  ALIKE(SCR_Init(), SCR_ERR_PARAM, "SCR_HALT_SECONDS=3600, set in SCR_Config, is not below the 3");
  set("SCR_HALT_SECONDS=3000");
  OK(SCR_Init());
  CHECK(should_exit() == 0, "there is time");
  OK(SCR_Finalize());
  job_ends_in(300);
  OK(SCR_Init()); /* a later run of the job, for which no time is left, is no error */
  CHECK(should_exit() == 1, "there is little time");
  OK(SCR_Finalize());
  as_job("second");
  ALIKE(SCR_Init(), SCR_ERR_PARAM, "SCR_HALT_SECONDS=3000");
  unsetenv("SCR_END_TIME");
}

/* The halt file is on a file system that all share. */
static void the_halt_file_is_opened_once_a_second_and_its_damage_told_once(void)
{
  char text[4096];
  int  i, opened;

  begin();
  OK(SCR_Init());
  test_look_seconds = 1000;
  fault_on(FAULT_OPEN, "/prefix/.scr/", "halt.scr", 0);
  CHECK(need() == 1, "the first look");
  opened = fault_seen(FAULT_OPEN);
  for (i = 0; i < 10; i++) CHECK(need() == 1 && should_exit() == 0, "without a condition");
  CHECK(opened == (rank == 0) && fault_seen(FAULT_OPEN) == opened, "opened %d, then %d times", opened,
        fault_seen(FAULT_OPEN));
  fault_end();
  shell("$TEST_HALT prefix");
  CHECK(should_exit() == 0, "it is not opened yet");
  test_look_seconds = 1;
  usleep(1100000);
  CHECK(should_exit() == 1, "it is opened");
  test_look_seconds = 0;
  shell("printf 'no hash' >prefix/.scr/halt.scr");
  hear();
  for (i = 0; i < 3; i++) CHECK(should_exit() == 1 && need() == 1, "it still applies");
  heard(text, sizeof text);
  CHECK(times(text, "the halt conditions known so far still apply") == (rank == 0), "%s", text);
  shell("$TEST_HALT --remove prefix");
  CHECK(should_exit() == 0, "it is removed");
  shell("printf 'no hash' >prefix/.scr/halt.scr");
  hear();
  for (i = 0; i < 3; i++) CHECK(should_exit() == 0, "nothing applies");
  heard(text, sizeof text);
  CHECK(times(text, "the halt conditions known so far still apply") == (rank == 0), "%s", text);
  shell("$TEST_HALT --remove prefix");
  OK(SCR_Finalize());
}

/* Without an end of the allocation there is nothing to count down to. */
static void scr_halt_seconds_without_a_known_end_is_told_once_by_rank_0(void)
{
  char text[4096];
  int  i;

  begin();
  unsetenv("SLURM_JOB_END_TIME");
  set("SCR_HALT_SECONDS=60");
  hear();
  OK(SCR_Init());
  for (i = 0; i < 3; i++) CHECK(need() == 1 && should_exit() == 0, "the run is halted");
  OK(put("ck1", 1, 10));
  OK(SCR_Finalize());
  heard(text, sizeof text);
  CHECK(times(text, "SCR_HALT_SECONDS=60 has no effect") == (rank == 0), "%s", text);
  setenv("SCR_END_TIME", "9000000000", 1);
  OK(init_says(text, sizeof text));
  CHECK(times(text, "SCR_HALT_SECONDS") == 0, "%s", text);
  OK(SCR_Finalize());
  unsetenv("SCR_END_TIME");
}

/* The halt file cannot be written any more: the run counts by itself. */
static void checkpoints_until_a_halt_are_counted_although_the_prefix_is_full(void)
{
  static const unsigned calls[] = {FAULT_WRITE | FAULT_PWRITE, FAULT_CREATE};
  int                   ask, i;

  for (i = 0; i < 2; i++)
    for (ask = 0; ask <= 2; ask++) {
      during("%s, %s", i == 0 ? "no room for bytes" : "no room for files", ask ? "it asks" : "it does not ask");
      begin();
      set("SCR_HALT_ENABLED=0");
      OK(SCR_Init());
      OK(put("ck1", 1, 10)); /* the lock of the halt file is there */
      shell("$TEST_HALT --checkpoints 2 prefix");
      if (ask == 1) CHECK(should_exit() == 0, "two checkpoints are left");
      fault_on(calls[i], i == 0 ? "/prefix/.scr/" : "/prefix/.scr/halt.scr.", i == 0 ? "halt.scr" : ".tmp", INT_MAX);
      OK(put("ck2", 1, 10));
      if (ask) CHECK(should_exit() == 0, "one checkpoint is left");
      OK(put("ck3", 1, 10));
      CHECK(should_exit() == 1, "no checkpoint is left");
      CHECK(rank > 0 || fault_struck(calls[i]) > 0, "nothing failed");
      fault_end();
      OK(SCR_Finalize());
    }
}

/* What a run has seen of the halt file no longer holds when the user takes it away. */
static void conditions_can_be_removed_while_the_job_runs(void)
{
  static const char* const sets[] = {"", "-a 1000", "-b 1000", "-c 1", "-b +1h -s 7200"};
  static const char* const removes[] = {"--remove", "--unset-reason --unset-after --unset-before --unset-checkpoints"};
  size_t                   i;

  begin();
  OK(SCR_Init());
  for (i = 0; i < 2 * sizeof sets / sizeof *sets; i++) {
    char name[16];
    during("scr_halt %s, %s", sets[i / 2], removes[i % 2]);
    shell("$TEST_HALT %s prefix", sets[i / 2]);
    should_exit(); /* the run has seen it */
    snprintf(name, sizeof name, "a%d", (int)i);
    if (i % 2 == 0) OK(put(name, 1, 10)); /* and may have noted a reason */
    CHECK(should_exit() == 1 || i == 7, "not halted");
    shell("$TEST_HALT %s prefix", removes[i % 2]);
    CHECK(should_exit() == 0, "still halted");
    *name = 'b';
    OK(put(name, 1, 10));
    CHECK(should_exit() == 0, "halted again");
  }
  OK(SCR_Finalize());
}

/* Programs that the library ends; mpi.sh sees to it that they end well, with the checkpoint on the prefix. */
static void exit_in_complete(const char* how, int ask)
{
  begin_in("exit");
  set("SCR_HALT_EXIT=%s", how);
  OK(SCR_Init());
  OK(put("ck1", 1, 100));
  if (ask) CHECK(should_exit() == 0, "without a condition");
  shell("$TEST_HALT prefix");
  put("ck2", 1, 100);
  CHECK(0, "the program lives on");
}

static void a_halted_program_that_does_not_ask_ends_in_complete(void)
{
  exit_in_complete("auto", 0);
}

static void scr_halt_exit_1_ends_a_program_that_asks(void)
{
  exit_in_complete("1", 1);
}

static void scr_halt_exit_1_ends_a_halted_program_in_init(void)
{
  begin_in("exit"); /* after the case before */
  set("SCR_HALT_EXIT=1");
  SCR_Init();
  CHECK(0, "the program lives on");
}

/* ---- SCR_Finalize is forgotten: what MPI_Finalize does then, the next program sees ---- */

/* The program ends behind this case, the library runs on all ranks: one flush is under way, the next is not due. */
static void a_program_ends_without_scr_finalize(void)
{
  begin_in("end");
  set("SCR_FLUSH=2");
  set("SCR_FLUSH_ASYNC=1");
  set("SCR_CACHE_SIZE=3");
  set("SCR_FLUSH_ASYNC_BW=1000"); /* too slow to be done by then */
  OK(SCR_Init());
  OK(put("ck1", 1, 1000));
  OK(put("ck2", 1, 1000));
  OK(put("ck3", 1, 1000));
}

static void what_the_cache_had_is_on_the_prefix_although_scr_finalize_was_forgotten(void)
{
  begin_in("end");
  on_prefix("ck2", 1, 1000);
  on_prefix("ck3", 1, 1000);
  lose_all_nodes();
  run_gets("ck3", 1, 1000);
}

/* Two halves have a run each; the second one ends in an open checkpoint, which one rank could not write. */
static void halves_of_a_program_end_without_scr_finalize(void)
{
  char     name[2 * SCR_MAX_FILENAME], file[SCR_MAX_FILENAME];
  int      i, half = rank >= ranks / 2;
  MPI_Comm comm;

  begin_in("halves");
  MPI_Comm_split(MPI_COMM_WORLD, half, rank, &comm);
  snprintf(name, sizeof name, "%s/half%d", case_prefix, half);
  make_dir(name);
  MPI_Barrier(MPI_COMM_WORLD);
  set("SCR_PREFIX=%s", name);
  set("SCR_VIRTUAL_NODES=2");
  OK(SCR_Init_comm(comm));
  MPI_Comm_free(&comm);
  for (i = 1; i <= 1 + half; i++) {
    snprintf(name, sizeof name, "ck%d", i);
    OK(SCR_Start_output(name, SCR_FLAG_CHECKPOINT));
    snprintf(name, sizeof name, "%s/half%d/ck%d/rank_%d", case_prefix, half, i, rank);
    if (i == 2 && rank + 1 == ranks) {
      CODE(SCR_Route_file("/no/place", file), SCR_ERR_PATH, "not below");
      return;
    }
    OK(SCR_Route_file(name, file));
    CHECK(write_bytes(file, 1, 10), "%s", file);
    if (i == 1) OK(SCR_Complete_output(1));
  }
}

/* ---- a part of the program ---- */

static void a_halted_half_of_a_program_is_flushed_and_not_ended(void)
{
  char     name[2 * SCR_MAX_FILENAME], file[SCR_MAX_FILENAME], said[8000];
  int      i, half = rank >= ranks / 2, first = rank % (ranks / 2) == 0;
  MPI_Comm comm;

  begin();
  shell("mkdir prefix/half0 prefix/half1; $TEST_HALT --create --checkpoints 2 prefix/half0");
  MPI_Comm_split(MPI_COMM_WORLD, half, rank, &comm);
  set("SCR_PREFIX=%s/half%d", case_prefix, half);
  set("SCR_VIRTUAL_NODES=2");
  set("SCR_CACHE_SIZE=4");
  set("SCR_HALT_EXIT=%s", "1"); /* it says so, but one solver must not end the other */
  hear();
  OK(SCR_Init_comm(comm));
  for (i = 1; i <= 4; i++) {
    snprintf(name, sizeof name, "ck%d", i);
    OK(SCR_Start_output(name, SCR_FLAG_CHECKPOINT));
    snprintf(name, sizeof name, "%s/half%d/ck%d/rank_%d", case_prefix, half, i, rank);
    OK(SCR_Route_file(name, file));
    CHECK(write_bytes(file, 1, 10), "%s", file);
    OK(SCR_Complete_output(1));
    CHECK((access(name, R_OK) == 0) == (!half && i >= 2), "%s is%s there", name, half || i < 2 ? "" : " not");
  }
  CHECK(should_exit() == !half, "half %d", half);
  OK(SCR_Finalize());
  heard(said, sizeof said);
  CHECK(times(said, "MPI_COMM_WORLD the library does not call exit") == (first && !half ? 2 : 0), "%s", said);
  MPI_Comm_free(&comm);
}

#define ANY "2 | 1 4 5", "9"

const test_case halt_cases[] = {CASE(a_checkpoint_is_needed_by_interval_seconds_and_overhead, ANY),
                                CASE(each_level_has_an_interval_of_its_own, "2", "4"),
                                CASE(a_checkpoint_is_needed_when_waiting_would_lose_more, ANY),
                                CASE(a_signal_to_one_rank_asks_all_for_a_checkpoint_and_is_passed_on, ANY),
                                CASE(the_program_should_exit_when_the_halt_file_says_so, ANY),
                                CASE(a_halt_waits_until_a_checkpoint_could_be_written, ANY),
                                CASE(a_halt_does_not_wait_until_there_is_no_time, "4 | 1", ""),
                                CASE(what_a_person_has_asked_for_stays_until_it_is_taken_back, "4 | 1", ""),
                                CASE(a_time_limit_ends_the_runs_of_its_own_job_alone, "4 | 1", ""),
                                CASE(scr_halt_seconds_that_is_not_below_the_time_of_the_job_is_an_error, "4", ""),
                                CASE(the_halt_file_is_opened_once_a_second_and_its_damage_told_once, "4 | 1", ""),
                                CASE(scr_halt_seconds_without_a_known_end_is_told_once_by_rank_0, ANY),
                                CASE(checkpoints_until_a_halt_are_counted_although_the_prefix_is_full, "4 | 1", ""),
                                CASE(conditions_can_be_removed_while_the_job_runs, ANY),
                                CASE(a_halted_half_of_a_program_is_flushed_and_not_ended, "4"),
                                CASE(a_program_ends_without_scr_finalize, "", ""),
                                CASE(what_the_cache_had_is_on_the_prefix_although_scr_finalize_was_forgotten, "", ""),
                                CASE(halves_of_a_program_end_without_scr_finalize, "", ""),
                                CASE(a_halted_program_that_does_not_ask_ends_in_complete, "", ""),
                                CASE(scr_halt_exit_1_ends_a_program_that_asks, "", ""),
                                CASE(scr_halt_exit_1_ends_a_halted_program_in_init, "", ""),
                                CASES_END};
