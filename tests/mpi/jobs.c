/*
** jobs.c - several jobs in one place: at once and in turn, with one cache or one prefix between them, and after a kill;
** and what a run says of checkpoints that are in the cache of another one.
*/
#include "mpi_test.h"

#include <sys/file.h>

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
static void take_turns_in(int mkdir)
{
  int run;

  during(mkdir ? "with directories" : "without");
  begin();
  if (!mkdir) set("STORE=%s/cache MKDIR=0", case_dir);
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

  if (!mkdir) return;

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

static void two_prefixes_take_turns_in_one_cache(void)
{
  take_turns_in(1);
  take_turns_in(0);
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
  as_job("array_7");
  rc = SCR_Init_comm(half);
  CHECK(rc == SCR_SUCCESS || rc == SCR_ERR_BUSY, "%d %s", rc, SCR_Last_error());
  if (rc == SCR_ERR_BUSY) CHECK(strstr(SCR_Last_error(), "SCR_PREFIX") != NULL, "%s", SCR_Last_error());
  if (rc == SCR_ERR_BUSY)
    CHECK(strstr(SCR_Last_error(), "another run, of job array_7, process ") != NULL, "%s", SCR_Last_error());
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

/* Another process holds a lock, until 3.4 s after a run first asked for it. */
static int    kept_lock = -1, told_early;
static double asked_for_lock;

static int let_go(const char* path)
{
  char   said[700], *text;
  long   n;
  double waited;

  (void)path;
  if (asked_for_lock <= 0) asked_for_lock = MPI_Wtime();
  waited = MPI_Wtime() - asked_for_lock;
  snprintf(said, sizeof said, "%s/said.%d", case_dir, rank);
  if (waited < 2.9 && (text = read_file(said, &n)) != NULL) {
    told_early |= n > 0;
    free(text);
  }
  if (waited >= 3.4 && kept_lock >= 0) {
    close(kept_lock);
    kept_lock = -1;
  }
  return 0;
}

static void waiting_for_a_lock_is_told_after_three_seconds(void)
{
  char lock[800], text[4096], pid[40];

  begin();
  run_puts("ck1", 1, 1000);
  snprintf(lock, sizeof lock, "%s/.scr/flush.scr.lock", case_prefix);
  snprintf(pid, sizeof pid, "process %ld", (long)getpid());
  if (rank == 0) {
    kept_lock = open(lock, O_RDWR);
    CHECK(kept_lock >= 0 && flock(kept_lock, LOCK_EX | LOCK_NB) == 0, "%s: %s", lock, strerror(errno));
  }
  asked_for_lock = told_early = 0;
  fault_watch(FAULT_FLOCK, case_prefix, "/flush.scr.lock", let_go);
  OK(init_says(text, sizeof text));
  fault_end();
  CHECK(times(text, "waiting for the lock") == (rank == 0) && !told_early, "%s", text);
  CHECK(rank > 0 || (strstr(text, lock) != NULL && strstr(text, pid) != NULL), "%s", text);
  get("ck1", 1, 1000);
  OK(SCR_Finalize());
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

/* ---- what a run cannot reach ----------------------------------------------------------------------------------- */

/* This is the job of all cases, with SUFFIX to its name. */
static void job_is(const char* suffix)
{
  static char own[200];
  char        name[240];

  if (*own == '\0') snprintf(own, sizeof own, "%s", getenv("SCR_JOB_ID"));
  snprintf(name, sizeof name, "%s%s", own, suffix);
  setenv("SCR_JOB_ID", name, 1);
}

/* SCR_Init works, and one warning has all WORDS, up to a NULL; or, when there are none, no warning tells of loss. */
static void init_tells(const char* word, ...)
{
  char    text[8192];
  int     rc = same_code(init_says(text, sizeof text)), n = 0;
  char*   p;
  va_list ap;

  CHECK(rc == SCR_SUCCESS, "SCR_Init is %d: %s", rc, SCR_Last_error());
  for (p = text; (p = strstr(p, "cannot be reached")) != NULL; p++) n++;
  CHECK(n == (rank == 0 && word != NULL), "%d warnings: %s", n, text);
  va_start(ap, word);
  for (; word != NULL && rank == 0; word = va_arg(ap, const char*))
    CHECK(strstr(text, word) != NULL, "the warning does not say %s: %s", word, text);
  va_end(ap);
}

/* A run that restarts is refused, and the message has all WORDS, up to a NULL. */
static void run_is_refused(const char* word, ...)
{
  int     flag = -1, rc;
  va_list ap;

  OK(same_code(SCR_Init()));
  ALIKE(SCR_Have_restart(&flag, NULL), SCR_ERR_NO_RESTART, "SCR_FRESH_START");
  CHECK(flag == 0, "%d", flag);
  va_start(ap, word);
  for (; word != NULL; word = va_arg(ap, const char*))
    CHECK(strstr(SCR_Last_error(), word) != NULL, "the message does not say %s: %s", word, SCR_Last_error());
  va_end(ap);
  rc = same_code(SCR_Start_output("ck9", SCR_FLAG_CHECKPOINT));
  CODE(rc, SCR_ERR_NO_RESTART, "cannot be reached");
  if (rc == SCR_SUCCESS) SCR_Complete_output(0);
  OK(SCR_Finalize());
}

static void another_job(void)
{
  job_is("-2");
}

static void the_job(void)
{
  job_is("");
}

static void real_nodes(void)
{
  set("SCR_VIRTUAL_NODES=");
}

static void virtual_nodes(void)
{
  set("SCR_VIRTUAL_NODES=%d", ranks == 5 ? 3 : ranks);
}

static void hide_both(void)
{
  shell("mv cntl cntl.kept && mv cache cache.kept && mkdir cntl cache");
}

static void show_both(void)
{
  shell("rm -r cntl cache && mv cntl.kept cntl && mv cache.kept cache");
}

static void hide_control(void)
{
  shell("mv cntl cntl.kept && mkdir cntl");
}

static void show_control(void)
{
  shell("rm -r cntl && mv cntl.kept cntl");
}

/* How a cache gets out of reach, and back. */
static const struct {
  const char* what;
  void (*leave)(void);
  void (*come_back)(void);
} ways[] = {{"another job", another_job, the_job},
            {"other nodes", real_nodes, virtual_nodes},
            {"empty nodes", hide_both, show_both},
            {"no control directories", hide_control, show_control}};

#define WAYS (sizeof ways / sizeof *ways)

/* A job that dies with ck3 on the prefix, and ck4 and ck5 in the cache alone. */
static void lose_two(void)
{
  begin();
  job_is("");
  set("SCR_FLUSH=3");
  set("SCR_CACHE_SIZE=2");
  OK(SCR_Init());
  OK(put("ck1", 1, 1000));
  OK(put("ck2", 1, 1000));
  OK(put("ck3", 1, 1000));
  OK(put("ck4", 1, 1000));
  OK(put("ck5", 1, 1000));
  run_dies();
}

static void what_a_run_cannot_reach_is_named_when_an_older_checkpoint_loads(void)
{
  char   job[200], host[300], dir[700];
  size_t i;

  for (i = 0; i < WAYS; i++) {
    during("%s", ways[i].what);
    lose_two();
    snprintf(job, sizeof job, "of job %s on", getenv("SCR_JOB_ID"));
    snprintf(dir, sizeof dir, "in %s/cache", case_dir);
    gethostname(host, 250);
    strcat(host, "-v0");
    ways[i].leave();
    init_tells("ck5 (dataset 5, ", "ck4 (dataset 4, ", job, host, dir, "older ck3", "2 checkpoints", NULL);
    get("ck3", 1, 1000);
    OK(SCR_Finalize());

    ways[i].come_back(); /* the work is still there */
    init_tells(NULL);
    get("ck5", 1, 1000);
    run_dies();

    ways[i].leave();
    init_tells("ck5 (dataset 5, ", "ck4 (dataset 4, ", job, host, dir, "older ck3", "2 checkpoints", NULL);
    get("ck3", 1, 1000);
    OK(put("ck6", 1, 1000));
    CHECK(cached_in("cache") & ID(6), "ck6 has another id; the cache has %x", cached_in("cache"));
    OK(SCR_Finalize());
    on_prefix("ck6", 1, 1000);
    init_tells(NULL);
    get("ck6", 1, 1000);
    OK(SCR_Finalize());
    job_is("");
  }
}

/* A job of SCR_FLUSH=0 that dies with ck1 in the cache alone. */
static void lose_one(void)
{
  begin();
  job_is("");
  set("SCR_FLUSH=0");
  OK(SCR_Init());
  OK(put("ck1", 1, 1000));
  run_dies();
}

static void a_run_that_reaches_no_checkpoint_is_refused_until_a_fresh_start(void)
{
  char   job[200], here[240], dir[700];
  size_t i;

  for (i = 0; i < WAYS; i++) {
    during("%s", ways[i].what);
    lose_one();
    snprintf(job, sizeof job, "of job %s on", getenv("SCR_JOB_ID"));
    snprintf(dir, sizeof dir, "in %s/cache", case_dir);
    ways[i].leave();
    snprintf(here, sizeof here, "by this run, job %s on", getenv("SCR_JOB_ID"));
    run_is_refused("ck1 (dataset 1, ", job, dir, here, NULL);
    run_is_refused("ck1 (dataset 1, ", job, dir, here, NULL);
    ways[i].come_back();
    init_tells(NULL);
    get("ck1", 1, 1000);
    run_dies();

    ways[i].leave();
    set("SCR_FRESH_START=1");
    init_tells(NULL);
    get(NULL, 0, 0);
    run_dies();
    set("SCR_FRESH_START=");
    init_tells(NULL); /* the cut stays */
    get(NULL, 0, 0);
    OK(put("ck2", 1, 1000));
    CHECK(cached_in("cache") & ID(3), "ck2 has another id; the cache has %x", cached_in("cache"));
    OK(SCR_Finalize());
    init_tells(NULL);
    get("ck2", 1, 1000);
    OK(SCR_Finalize());
    job_is("");
  }
}

static void a_run_that_does_without_the_cache_misses_nothing_in_it(void)
{
  static const char* const without[] = {"SCR_CACHE_PURGE=1", "SCR_DISTRIBUTE=0"};
  size_t                   i;

  for (i = 0; i < 2; i++) {
    during("%s", without[i]);
    lose_one();
    another_job();
    run_is_refused("ck1 (dataset 1, ", NULL);
    set("%s", without[i]);
    init_tells(NULL);
    get(NULL, 0, 0);
    OK(SCR_Finalize());
    lose_two();
    another_job();
    set("%s", without[i]);
    init_tells(NULL);
    get("ck3", 1, 1000);
    OK(SCR_Finalize());
  }
  the_job();
}

/* Each of three jobs dies with a checkpoint of its own, and none sees those of the others. */
static void each_checkpoint_that_is_out_of_reach_keeps_its_place_in_the_message(void)
{
  char first[240], second[240], here[240];
  int  i;

  lose_two();
  snprintf(first, sizeof first, "cache/%s/scr.%s/", getenv("USER") ? getenv("USER") : "root", getenv("SCR_JOB_ID"));
  for (i = 0; i < 3; i++) {
    job_is(i == 0 ? "-2" : i == 1 ? "-3" : "-4");
    snprintf(here, sizeof here, "by this run, job %s", getenv("SCR_JOB_ID"));
    init_tells("ck5 (dataset 5, ", "ck4 (dataset 4, ", first, here, "older ck3", NULL);
    get("ck3", 1, 1000);
    if (i == 0) OK(SCR_Finalize());
    else run_dies();
  }
  job_is("-2");
  snprintf(second, sizeof second, "/scr.%s/", getenv("SCR_JOB_ID"));
  OK(SCR_Init());
  OK(put("ck6", 1, 1000));
  run_dies();
  for (i = 0; i < 2; i++) {
    job_is(i == 0 ? "-3" : "-5");
    init_tells("ck6 (dataset 6, ", second, "ck5 (dataset 5, ", "ck4 (dataset 4, ", first, "older ck3", NULL);
    OK(SCR_Finalize());
  }
  the_job();
}

/* Older versions noted neither identity nor job nor number. */
static void notes_of_an_older_version_count_by_their_id(void)
{
  static const char* const keys[] = {"IDENTITY", "CHECKPOINT", "JOBID", "RANKS"};
  char                     path[800];
  size_t                   i;

  lose_two();
  snprintf(path, sizeof path, "%s/.scr/flush.scr", case_prefix);
  for (i = 0; i < 4 && rank == 0; i++) CHECK(record_strip(path, keys[i]) > 0, "no %s in %s", keys[i], path);
  shell("rm prefix/.scr/nodes.scr && cp -a prefix older");
  init_tells(NULL);
  get("ck5", 1, 1000);
  OK(SCR_Finalize());
  shell("rm -r prefix && mv older prefix");
  another_job();
  init_tells("ck5 (dataset 5, ", "ck4 (dataset 4, ", "job that wrote it)", "older ck3", NULL);
  get("ck3", 1, 1000);
  OK(put("ck6", 1, 1000));
  CHECK(cached_in("cache") & ID(6), "ck6 has another id; the cache has %x", cached_in("cache"));
  OK(SCR_Finalize());
  the_job();
}

/* With some nodes gone the checkpoint is set aside; with the others gone too, it is still missed. */
static void a_checkpoint_that_was_set_aside_is_missed_when_all_nodes_are_gone(void)
{
  static const scheme xor_1 = {"XOR", 1};
  int                 flag;

  job_is("");
  begin_nodes(&xor_1);
  OK(SCR_Init());
  OK(put("ck1", 1, 1000));
  run_dies();
  shell("cp -a nodes kept && rm -r nodes/tester/scr.*/node.*-v0 nodes/tester/scr.*/node.*-v1");
  OK(SCR_Init());
  ALIKE(SCR_Have_restart(&flag, NULL), SCR_ERR_NO_RESTART, "ck1");
  run_dies();
  shell("rm -rf nodes/*");
  run_is_refused("ck1 (dataset 1, ", NULL);
  shell("rm -r nodes && mv kept nodes");
  init_tells(NULL);
  get("ck1", 1, 1000);
  OK(SCR_Finalize());
}

/* ---- directories of other prefixes, and of the same one -------------------------------------------------------- */

/* The prefix is case_dir/NAME from now on. */
static void prefix_is(const char* name)
{
  snprintf(case_prefix, sizeof case_prefix, "%s/%s", case_dir, name);
  set("SCR_PREFIX=%s", case_prefix);
}

/* scr.<job> is that of another prefix, so the one with the number 1 is ours; then the other prefix is done with. */
static void a_directory_with_a_number_is_found_when_the_one_without_is_free(void)
{
  const char* job = getenv("SCR_JOB_ID");
  int         lost;

  for (lost = 0; lost < 2; lost++) {
    begin();
    set("SCR_FLUSH=0");
    shell("mkdir prefix0 prefix1");
    prefix_is("prefix0");
    run_puts("first", 1, 1000);
    prefix_is("prefix1");
    run_puts("second", 1, 1000);
    shell("test -d cache/*/scr.%s.1 && test -d cntl/*/scr.%s.1 && rm -r cntl/*/scr.%s cache/*/scr.%s", job, job, job,
          job);
    if (lost) shell("rm -r cntl/*/scr.%s.1", job);
    run_gets(lost ? NULL : "second", 1, 1000);
    shell("test ! -e cache/*/scr.%s && test ! -e cntl/*/scr.%s && test -d cntl/*/scr.%s.1", job, job, job);
    if (lost) run_puts("second", 1, 1000);
    prefix_is("prefix0");
    run_puts("third", 1, 1000);
    shell("test -d cache/*/scr.%s && test -d cntl/*/scr.%s && test ! -e cache/*/scr.%s.2", job, job, job);
    prefix_is("prefix1");
    run_gets("second", 1, 1000);
    prefix_is("prefix0");
    run_gets("third", 1, 1000);
  }
}

/* A cleaner has removed the oldest files of the cache: the filemaps still tell whose it is. */
static void a_cache_without_the_record_of_its_prefix_is_not_taken_by_another(void)
{
  const char* job = getenv("SCR_JOB_ID");
  int         damaged;

  for (damaged = 0; damaged < 2; damaged++) {
    begin();
    set("SCR_FLUSH=0");
    shell("mkdir prefix0 prefix1");
    prefix_is("prefix0");
    run_puts("first", 1, 1000);
    shell("for f in $(find cntl cache -name prefix.scrinfo -o -name run.lock); do %s $f; done",
          damaged ? "echo >" : "rm");
    prefix_is("prefix1");
    run_gets(NULL, 1, 1000);
    shell("test -d cache/*/scr.%s.1 && test -d cntl/*/scr.%s.1", job, job);
    prefix_is("prefix0");
    run_gets("first", 1, 1000);
    shell("test $(find cntl/*/scr.%s cache/*/scr.%s -name prefix.scrinfo | xargs grep -l prefix0 | wc -l) -ge 2", job,
          job);
  }
}

static void a_prefix_that_was_made_again_does_not_take_the_cache_of_the_old_one(void)
{
  char text[8192], dir[700];

  lose_one();
  shell("rm -r prefix && mkdir prefix && cp -a cache kept");
  OK(same_code(init_says(text, sizeof text)));
  snprintf(dir, sizeof dir, "%s/cntl/", case_dir);
  CHECK(rank > 0 || (strstr(text, "moved, and made again") != NULL && strstr(text, dir) != NULL), "%s", text);
  get(NULL, 0, 0);
  OK(put("new", 1, 500));
  OK(SCR_Finalize());
  OK(same_code(init_says(text, sizeof text)));
  CHECK(strstr(text, "made again") == NULL, "told twice: %s", text);
  get("new", 1, 500);
  OK(SCR_Finalize());
  shell("diff -r kept/*/scr.%s cache/*/scr.%s", getenv("SCR_JOB_ID"), getenv("SCR_JOB_ID"));
}

/* A run finds LOADS, of BYTES a rank, without a word of what it cannot reach, and dies after it has written WRITES. */
static void next_run(const char* loads, int bytes, const char* writes)
{
  init_tells(NULL);
  get(loads, 1, bytes);
  OK(put(writes, 1, bytes));
  run_dies();
}

/* The old directory is moved away, another one takes its place, and then they change places again. */
static void a_prefix_that_comes_back_finds_its_own_cache(void)
{
  lose_one();
  shell("mv prefix first && mkdir prefix");
  OK(SCR_Init());
  get(NULL, 0, 0);
  OK(put("other", 1, 500));
  run_dies();
  shell("mv prefix second && mv first prefix");
  init_tells(NULL);
  get("ck1", 1, 1000);
  run_dies();
  shell("mv prefix first && mv second prefix");
  next_run("other", 500, "other2");
  shell("mv prefix second && mv first prefix");
  init_tells(NULL);
  get("ck1", 1, 1000);
  OK(SCR_Finalize());
}

static void a_copy_of_a_prefix_leaves_the_cache_to_the_original(void)
{
  lose_two();
  shell("cp -a prefix copy && cp -a cache kept");
  prefix_is("copy");
  init_tells("ck5 (dataset 5, ", "ck4 (dataset 4, ", "older ck3", NULL);
  get("ck3", 1, 1000);
  OK(put("ck6", 1, 500));
  OK(SCR_Finalize());
  shell("diff -r kept/*/scr.%s cache/*/scr.%s", getenv("SCR_JOB_ID"), getenv("SCR_JOB_ID"));
  prefix_is("prefix");
  init_tells(NULL);
  get("ck5", 1, 1000);
  OK(put("ck6", 1, 700));
  OK(SCR_Finalize());
  prefix_is("copy");
  run_gets("ck6", 1, 500);
  on_prefix("ck6", 1, 500);
  prefix_is("prefix");
  run_gets("ck6", 1, 700);
  run_fetches("ck6", 1, 700);
}

/* The link is then turned to a copy of the prefix, and after that to another name of the prefix itself. */
static void a_link_to_the_prefix_is_no_other_prefix_unless_it_is_turned(void)
{
  lose_two();
  shell("ln -s prefix link");
  prefix_is("link");
  next_run("ck5", 1000, "ck6");
  prefix_is("prefix");
  shell("rm prefix/.scr/prefix.scr"); /* its identity: the directory is the same all the same */
  next_run("ck6", 1000, "ck7");
  prefix_is("link");
  next_run("ck7", 1000, "ck8");
  shell("cp -a prefix copy && rm link && ln -s copy link && cp -a cache kept");
  init_tells("ck8 (dataset 8, ", "ck7 (dataset 7, ", "older ck6", NULL);
  get("ck6", 1, 1000);
  OK(SCR_Finalize());
  shell("diff -r kept/*/scr.%s cache/*/scr.%s", getenv("SCR_JOB_ID"), getenv("SCR_JOB_ID"));
  shell("mv prefix moved && rm link && ln -s moved link");
  init_tells(NULL);
  get("ck8", 1, 1000);
  OK(SCR_Finalize());
}

static void visit_record(const char* path, const char* name, void* arg)
{
  if (strcmp(name, "prefix.scrinfo") == 0) *(int*)arg += record_strip(path, "IDENTITY");
}

/* Older versions recorded the path of the prefix alone. */
static void a_cache_that_an_older_version_left_is_taken_by_the_path_of_its_prefix(void)
{
  char text[8192];
  int  n = 0;

  lose_one();
  shell("rm prefix/.scr/prefix.scr");
  if (rank == 0) walk(case_dir, visit_record, &n);
  CHECK(rank > 0 || n > 1, "%d records have the identity of the prefix", n);
  OK(same_code(init_says(text, sizeof text)));
  CHECK(*text == '\0', "%s", text);
  get("ck1", 1, 1000);
  run_dies();
  shell("rm -r prefix && mkdir prefix"); /* now the cache has the identity of its prefix */
  run_gets(NULL, 0, 0);
}

/* Without the identity the path counts. */
static void a_damaged_identity_of_the_prefix_costs_no_cache(void)
{
  static const char* const damage[] = {": > $f", "head -c 10 $f > t && cp t $f", "echo text > $f",
                                       "head -c 40 $f > t && cp t $f"};
  char                     text[8192];
  size_t                   i;

  for (i = 0; i < sizeof damage / sizeof *damage; i++) {
    during("%s", damage[i]);
    lose_one();
    shell("f=prefix/.scr/prefix.scr; %s", damage[i]);
    OK(same_code(init_says(text, sizeof text)));
    CHECK(rank > 0 || strstr(text, "prefix.scr") != NULL, "no warning: %s", text);
    get("ck1", 1, 1000);
    OK(put("ck2", 1, 1000));
    run_dies();
    OK(same_code(init_says(text, sizeof text)));
    get("ck2", 1, 1000);
    OK(SCR_Finalize());
  }
}

/* A prefix of another release, which this one cannot read: no start changes its index. */
static void a_prefix_of_another_release_is_not_spoilt_by_a_start(void)
{
  int flag;

  begin();
  shell("mkdir -p prefix/.scr prefix/ckpt.3/.scr && cp $TEST_DATA/scr-3.1/index.scr prefix/.scr && "
        "cp $TEST_DATA/scr-3.1/summary.scr $TEST_DATA/scr-3.1/rank2file* prefix/ckpt.3/.scr");
  OK(SCR_Init());
  ALIKE(SCR_Have_restart(&flag, NULL), SCR_ERR_NO_RESTART, "ckpt.3");
  OK(SCR_Finalize());
  shell("cmp $TEST_DATA/scr-3.1/index.scr prefix/.scr/index.scr");
}

static void the_nodes_file_names_the_nodes_of_the_last_run_and_their_directories(void)
{
  char path[800], below[SCR_MAX_FILENAME], dir[700], count[20];
  int  nodes = ranks == 5 ? 3 : ranks, run;

  begin();
  snprintf(path, sizeof path, "%s/.scr/nodes.scr", case_prefix);
  for (run = 0; run < 2; run++) {
    if (run == 1) set("SCR_VIRTUAL_NODES=2");
    if (run == 1) set("SCR_CACHE_BASE=%s", case_dir);
    if (run == 1) nodes = 2;
    OK(SCR_Init());
    if (rank == 0) {
      snprintf(count, sizeof count, "%d", nodes);
      CHECK(record_find(path, "NODES", below) == 1 && strcmp(below, count) == 0, "NODES is %s of %s", below, count);
      CHECK(record_find(path, "CNTL", below) == nodes, "%d control directories", record_find(path, "CNTL", below));
      snprintf(dir, sizeof dir, "%s/cntl/", case_dir);
      CHECK(strncmp(below, dir, strlen(dir)) == 0 && access(below, F_OK) == 0, "%s is not in %s", below, dir);
      CHECK(record_find(path, "CACHE", below) == nodes, "%d cache directories", record_find(path, "CACHE", below));
      snprintf(dir, sizeof dir, "%s/%s", case_dir, run == 0 ? "cache/" : "");
      CHECK(strncmp(below, dir, strlen(dir)) == 0 && access(below, F_OK) == 0, "%s is not in %s", below, dir);
    }
    OK(SCR_Finalize());
    shell("$TEST_WHERE prefix > where && $TEST_WHERE --json prefix > json && test $(grep -c '^  lose' where) = %d",
          nodes);
    shell("test $(grep -c '^  control ' where) = %d && test $(grep -c '\"host\": ' json) = %d", nodes, nodes);
  }
  /* the command that it prints loses a node, and the checkpoint is rebuilt */
  set("SCR_COPY_TYPE=XOR");
  run_puts("ck", 1, 1000);
  shell("$TEST_WHERE prefix > where; sh -c \"$(sed -n 's/^  lose *//p' where | head -n 1)\"");
  run_gets("ck", 1, 1000);
  shell("rm prefix/.scr/nodes.scr; ! $TEST_WHERE prefix 2> where && grep nodes.scr where > json");
}

/*
** This process is user USER of group 5000; 0 is root.  The ranks of MPI cannot talk to each other any more then: a case
** for one rank.
*/
static void user_is(unsigned user)
{
  shell("rm -f said.*"); /* which init_tells made */
  CHECK(seteuid(0) == 0 && setegid(user ? 5000 : 0) == 0 && seteuid(user) == 0, "%s", strerror(errno));
  set("SCR_USER_NAME=%s%u", user ? "user" : "", user);
}

/*
** Each sees the other's checkpoints on the prefix, and its own cache alone.  SHARED: they may write in directories that
** the other one made.
*/
static void take_turns(int shared)
{
  begin();
  set("SCR_FLUSH=2");
  shell("chmod 755 . .. ../.. && chmod 1777 cntl cache . && chgrp 5000 prefix && chmod 2775 prefix");
  user_is(5001);
  OK(SCR_Init());
  OK(put("ck1", 1, 1000));
  OK(put("ck2", 1, 1000));
  OK(SCR_Finalize());
  user_is(5002);
  OK(SCR_Init());
  get("ck2", 1, 1000);
  OK(put("ck3", 1, 1000));
  OK(SCR_Finalize());
  user_is(5001);
  OK(SCR_Init());
  get("ck3", 1, 1000);
  OK(put("ck4", 1, 1000));
  OK(put("ck5", 1, 1000));
  run_dies();
  user_is(5002);
  init_tells("ck5 (dataset 5, ", "/user5001/", "older ck4", NULL);
  get("ck4", 1, 1000);
  OK(SCR_Finalize());
  user_is(5001);
  init_tells(NULL);
  get("ck5", 1, 1000);
  OK(SCR_Delete("ck2"));
  if (shared) OK(SCR_Delete("ck3"));
  CHECK(!shared || !there("prefix/ck3"), "ck3 is on the prefix");
  OK(put("ck6", 1, 1000));
  OK(SCR_Finalize());
  user_is(5002);
  run_gets("ck6", 1, 1000);
  user_is(0);
}

static void two_users_of_a_group_take_turns_on_one_prefix(void)
{
  static const mode_t masks[] = {002, 022};
  mode_t              own = umask(022);
  size_t              i;

  if (getenv("TEST_REAL_ROOT") == NULL) skip("only root can be two users");
  for (i = 0; i < 2 && getenv("TEST_REAL_ROOT") != NULL; i++) {
    during("umask %03o", (unsigned)masks[i]);
    umask(masks[i]);
    take_turns(i == 0);
  }
  umask(own);
}

/* ---- kills ----------------------------------------------------------------------------------------------------- */

/* SCR_Init dies at the N-th call of each rank; 0 when there are not so many. */
static int init_dies(int n)
{
  int struck;

  test_alive();
  MPI_Barrier(MPI_COMM_WORLD);
  fault_at(FAULT_DEAD, FAULT_ALL, EIO, n);
  SCR_Init();
  MPI_Barrier(MPI_COMM_WORLD);
  struck = fault_end();
  MPI_Allreduce(MPI_IN_PLACE, &struck, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  run_dies();
  return struck;
}

static int kill_step(void)
{
  return pace(87, 29, 3);
}

static void a_kill_in_init_forgets_nothing_that_is_out_of_reach(void)
{
  char job[200], dir[700];
  int  n;

  for (n = 1 + turn(kill_step());; n += kill_step()) {
    during("call %d", n);
    lose_one();
    snprintf(job, sizeof job, "of job %s on", getenv("SCR_JOB_ID"));
    snprintf(dir, sizeof dir, "in %s/cache", case_dir);
    another_job();
    if (!init_dies(n)) break;
    run_is_refused("ck1 (dataset 1, ", job, dir, NULL);
    job_is("-3");
    init_dies(n);
    run_is_refused("ck1 (dataset 1, ", job, dir, NULL);
    the_job();
    init_dies(n);
    run_gets("ck1", 1, 1000);
  }
  CHECK(n > 40 + kill_step(), "only %d calls", n);
  the_job();
}

static void a_kill_in_init_leaves_each_prefix_its_own_cache(void)
{
  const char* job = getenv("SCR_JOB_ID");
  int         n;

  for (n = 1 + turn(kill_step());; n += kill_step()) {
    during("call %d", n);
    lose_one();
    shell("mv prefix first && mkdir prefix");
    if (!init_dies(n)) break;
    OK(SCR_Init());
    get(NULL, 0, 0);
    OK(put("other", 1, 500));
    run_dies();
    shell("mv prefix second && mv first prefix");
    init_dies(n);
    init_tells(NULL);
    get("ck1", 1, 1000);
    run_dies();
    shell("rm -r prefix && mv second prefix && rm -r cntl/*/scr.%s cache/*/scr.%s", job, job);
    init_dies(n); /* now the directory without a number is free */
    run_gets("other", 1, 500);
  }
  CHECK(n > 40 + kill_step(), "only %d calls", n);
}

/* ---- what is left on purpose, and what is not ------------------------------------------------------------------ */

/* With SCR_FLUSH=0, a run that comes to its end leaves its checkpoints behind, and that is no loss. */
static void what_a_run_left_in_the_cache_on_purpose_is_told_and_not_refused(void)
{
  char text[8192];

  begin();
  job_is("");
  set("SCR_FLUSH=0");
  run_puts("ck1", 1, 1000);
  another_job();
  init_tells("ck1 (dataset 1, ", NULL);
  get(NULL, 0, 0);
  OK(put("ck2", 1, 1000));
  run_dies();
  init_tells(NULL); /* there is a newer one */
  get("ck2", 1, 1000);
  OK(SCR_Finalize());
  job_is("-3"); /* of what two jobs left */
  init_tells("ck2 (dataset 2, ", "ck1 (dataset 1, ", NULL);
  get(NULL, 0, 0);
  OK(SCR_Finalize());
  the_job();
  OK(init_says(text, sizeof text));
  get("ck1", 1, 1000);
  OK(SCR_Finalize());
}

/* A run that is refused leaves nothing on purpose, even when SCR_FLUSH is 0 and it ends normally. */
static void what_a_refused_run_could_not_use_is_still_missed_by_the_next_one(void)
{
  static const scheme xor_1 = {"XOR", 1};
  int                 why, flag;
  char                name[SCR_MAX_FILENAME];

  for (why = 0; why < 3; why++) {
    during("case %d", why);
    if (why > 0) {
      lose_one();
    } else {
      job_is("");
      begin_nodes(&xor_1);
      OK(SCR_Init());
      OK(put("ck1", 1, 1000));
      run_dies();
      shell("rm -r nodes/tester/scr.*/node.*-v0 nodes/tester/scr.*/node.*-v1"); /* too many */
    }
    if (why == 1) shell("rm prefix/.scr/nodes.scr && rm -r cntl/* cache/*"); /* nobody knows where it was */
    OK(SCR_Init());
    if (why == 2) { /* the application rejects it */
      OK(SCR_Start_restart(name));
      CODE(SCR_Complete_restart(0), SCR_ERR_INVALID, "ck1");
    }
    ALIKE(SCR_Have_restart(&flag, NULL), SCR_ERR_NO_RESTART, "ck1");
    OK(SCR_Finalize());
    shell("rm -rf cntl/* cache/* nodes/*");
    run_is_refused("ck1 (dataset 1, ", NULL);
  }
}

/* With SCR_FETCH=0 the application reads the prefix: that this run cannot reach the newer ones is no reason to stop. */
static void a_run_that_does_not_fetch_is_only_told_when_the_prefix_has_an_older_one(void)
{
  lose_two();
  another_job();
  set("SCR_FETCH=0");
  init_tells("ck5 (dataset 5, ", "ck4 (dataset 4, ", NULL);
  get(NULL, 0, 0);
  OK(put("ck6", 1, 1000));
  OK(SCR_Finalize());
  the_job();
}

/* The caches of other jobs are not those that this run empties. */
static void a_run_without_the_cache_forgets_nothing_of_other_jobs(void)
{
  static const char* const without[] = {"SCR_CACHE_PURGE", "SCR_DISTRIBUTE"};
  int                      i;

  for (i = 0; i < 2; i++) {
    during("%s", without[i]);
    lose_one();
    another_job();
    set("%s=%d", without[i], i == 0);
    run_gets(NULL, 0, 0);
    set("%s=", without[i]);
    job_is("-3");
    run_is_refused("ck1 (dataset 1, ", NULL);
  }
  the_job();
}

/* SCR_Complete_output or SCR_Delete dies at the N-th call while ck1 leaves the cache; 0 when there are not so many. */
static int deletion_dies(int with_delete, int n)
{
  char path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME];
  int  struck;

  test_alive();
  begin();
  job_is("");
  set("SCR_FLUSH=0");
  OK(SCR_Init());
  OK(put("ck1", 1, 1000));
  if (!with_delete) {
    OK(SCR_Start_output("ck2", SCR_FLAG_CHECKPOINT));
    name_of("ck2", 0, path);
    OK(SCR_Route_file(path, file));
    CHECK(write_bytes(file, seed_of("ck2", rank, 0), size_of(0, 1000)), "cannot write %s", file);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  fault_at(FAULT_DEAD, FAULT_ALL, EIO, n);
  if (with_delete) SCR_Delete("ck1");
  else SCR_Complete_output(1);
  MPI_Barrier(MPI_COMM_WORLD);
  struck = fault_end();
  MPI_Allreduce(MPI_IN_PLACE, &struck, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  run_dies();
  return struck;
}

static void a_checkpoint_whose_deletion_was_killed_is_not_missed(void)
{
  int with_delete, n, flag;

  for (with_delete = 0; with_delete < 2; with_delete++)
    for (n = 1; deletion_dies(with_delete, n); n += pace(30, 9, 1)) {
      during("%s, call %d", with_delete ? "SCR_Delete" : "SCR_Complete_output", n);
      OK(SCR_Init());
      OK(SCR_Have_restart(&flag, NULL));
      if (flag) OK(SCR_Start_restart(NULL));
      if (flag) OK(SCR_Complete_restart(1));
      OK(put("ck3", 1, 1000));
      OK(SCR_Finalize()); /* it leaves ck3 behind on purpose, and nothing else */
      another_job();
      OK(SCR_Init());
      OK(SCR_Have_restart(&flag, NULL));
      OK(SCR_Finalize());
    }
  the_job();
}

/*
** So it is no alarm: the next run says nothing of ck1, but for one line of SCR_DEBUG when its deletion had begun.
*/
static void a_checkpoint_whose_deletion_was_killed_is_no_alarm(void)
{
  char text[8192];
  int  with_delete, n, told;

  for (with_delete = 0; with_delete < 2; with_delete++) {
    told = 0;
    for (n = 1; deletion_dies(with_delete, n); n += pace(30, 9, 1)) {
      during("%s, call %d", with_delete ? "SCR_Delete" : "SCR_Complete_output", n);
      shell("rm -rf saved; mkdir saved; cp -a prefix cntl cache saved");
      OK(init_says(text, sizeof text));
      CHECK(times(text, "dataset 1") == 0 && times(text, "ck1") == 0, "%s", text);
      run_dies();
      shell("rm -rf prefix cntl cache; cp -a saved/* .");
      set("SCR_DEBUG=1");
      OK(init_says(text, sizeof text));
      CHECK(times(text, "dataset 1 was being deleted") <= (rank == 0), "%s", text);
      told += times(text, "dataset 1 was being deleted");
      OK(SCR_Finalize());
      set("SCR_DEBUG=");
    }
    CHECK(rank > 0 || told > 0, "no deletion was finished");
  }
}

/* Who may not use a directory or a lock is told whose it is. */
static void who_owns_what_a_run_may_not_use_is_told(void)
{
  static const char* const parts[] = {"cntl/*", "cache/*", "cache/*/scr.*", "cntl/*/scr.*"};
  size_t                   i;

  if (getenv("TEST_REAL_ROOT") == NULL) {
    skip("only root can give directories away");
    return;
  }
  for (i = 0; i < sizeof parts / sizeof *parts; i++) {
    during("%s", parts[i]);
    begin();
    run_puts("ck1", 1, 1000);
    shell("chown 5003 %s", parts[i]);
    ALIKE(SCR_Init(), SCR_ERR_UNSAFE, "belongs to user 5003");
    shell("chown 0 %s", parts[i]);
    run_gets("ck1", 1, 1000);
  }
  if (ranks > 1) return;
  during("a lock");
  begin();
  shell("chmod 755 . .. ../.. && chmod 1777 cntl cache . && chown 5001 prefix");
  user_is(5001);
  run_puts("ck1", 1, 1000);
  user_is(5002);
  CODE(SCR_Init(), SCR_ERR_IO, "belongs to user 5001");
  user_is(0);
}

/* What is not on the prefix is named once when a run empties the cache that has it. */
static void a_run_without_the_cache_tells_which_checkpoint_it_deletes(void)
{
  static const char* const without[] = {"SCR_CACHE_PURGE=1", "SCR_DISTRIBUTE=0"};
  char                     text[8192], says[100];
  int                      i;

  for (i = 0; i < 2; i++) {
    during("%s", without[i]);
    lose_two();
    set("%s", without[i]);
    snprintf(says, sizeof says, "%s deletes ck5 (dataset 5)", without[i]);
    OK(init_says(text, sizeof text));
    CHECK(times(text, says) == (rank == 0) && times(text, "deletes") == (rank == 0), "%s", text);
    get("ck3", 1, 1000);
    run_dies();
    OK(init_says(text, sizeof text)); /* now the prefix has all that there is */
    CHECK(times(text, "deletes") == 0, "%s", text);
    get("ck3", 1, 1000);
    OK(SCR_Finalize());
  }
}

/* ck1 is in the cache of the first job, and the record of that is damaged; then comes another job. */
static void damage_the_flush_file(void)
{
  lose_one();
  shell("echo garbage > prefix/.scr/flush.scr");
  another_job();
}

/* Two starts one after the other are refused. */
static void refused_for_the_flush_file(void)
{
  int i, flag;

  for (i = 0; i < 2; i++) {
    OK(SCR_Init());
    ALIKE(SCR_Have_restart(&flag, NULL), SCR_ERR_NO_RESTART, "damaged or cannot be read");
    ALIKE(SCR_Start_output("ck9", SCR_FLAG_CHECKPOINT), SCR_ERR_NO_RESTART, "SCR_FRESH_START");
    if (i == 0) OK(SCR_Finalize());
    else run_dies();
  }
}

static void a_damaged_flush_file_is_a_reason_to_refuse_until_there_is_something_newer(void)
{
  damage_the_flush_file();
  refused_for_the_flush_file();
  set("SCR_FRESH_START=1");
  run_gets(NULL, 0, 0);
  set("SCR_FRESH_START=");
  run_gets(NULL, 0, 0);
  OK(SCR_Init());
  get(NULL, 0, 0);
  OK(put("ck2", 1, 1000));
  OK(SCR_Finalize());
  run_gets("ck2", 1, 1000);

  damage_the_flush_file();
  refused_for_the_flush_file();
  the_job(); /* its cache is still there */
  set("SCR_FLUSH=1");
  OK(SCR_Init());
  get("ck1", 1, 1000);
  OK(put("ck2", 1, 1000));
  OK(SCR_Finalize());
  another_job();
  run_gets("ck2", 1, 1000);
  the_job();
}

/* A record that cannot be read, for once, does not say whose the cache is. */
static void a_passing_error_gives_no_prefix_the_cache_of_another_one(void)
{
  static const char* const files[] = {"/prefix.scrinfo", "/.scr/prefix.scr"};
  int                      other, rc;

  for (other = 0; other < 2; other++) {
    during("%s", files[other]);
    begin();
    job_is("");
    set("SCR_FLUSH=0");
    set("SCR_CACHE_BASE=%s/cntl", case_dir); /* as it is by default */
    OK(SCR_Init());
    OK(put("ck1", 1, 1000));
    run_dies();
    if (other == 0) {
      shell("mkdir other");
      prefix_is("other");
    } else {
      shell("mv prefix first && mkdir prefix");
      OK(SCR_Init());
      OK(put("new", 1, 500));
      run_dies();
    }
    fault_on(FAULT_READS | FAULT_OPEN, case_dir, files[other], 100);
    rc = same_code(SCR_Init()); /* it may refuse */
    fault_end();
    if (rc == SCR_SUCCESS) {
      get(other == 0 ? NULL : "new", 1, 500);
      OK(SCR_Finalize());
    }
    if (other == 1) run_gets("new", 1, 500);
    if (other == 1) shell("mv prefix second && mv first prefix");
    prefix_is("prefix");
    run_gets("ck1", 1, 1000);
  }
}

/* The identity alone is lost; the other records say that the prefix is an old one. */
static void a_prefix_whose_identity_alone_is_lost_keeps_its_cache(void)
{
  lose_one();
  shell("rm prefix/.scr/prefix.scr");
  run_gets("ck1", 1, 1000);
  run_gets("ck1", 1, 1000);
}

/* A checkpoint that is set aside, and then gone, was on the nodes of the run that wrote it. */
static void what_was_set_aside_was_on_the_nodes_of_the_run_that_wrote_it(void)
{
  static const scheme xor_1 = {"XOR", 1};
  int                 flag;

  job_is("");
  begin_nodes(&xor_1);
  OK(SCR_Init());
  OK(put("ck1", 1, 1000));
  run_dies();
  shell("rm -r nodes/tester/scr.*/node.*-v0 nodes/tester/scr.*/node.*-v1");
  set("SCR_VIRTUAL_NODES=3");
  OK(SCR_Init());
  ALIKE(SCR_Have_restart(&flag, NULL), SCR_ERR_NO_RESTART, "ck1");
  run_dies();
  shell("rm -rf nodes/*");
  run_is_refused("ck1 (dataset 1, ", "-v0, ", "-v1, ", "-v2 and 1 more", NULL);
}

/* No more than three are named. */
static void more_than_three_that_are_out_of_reach_are_older_ones(void)
{
  char name[20];
  int  i;

  begin();
  job_is("");
  set("SCR_CACHE_SIZE=9");
  OK(SCR_Init());
  for (i = 1; i < 6; i++) {
    snprintf(name, sizeof name, "ck%d", i);
    OK(put(name, 1, 1000));
  }
  run_dies();
  another_job();
  run_is_refused("ck5 (", "ck4 (", "ck3 (", ") and older ones cannot be reached", NULL);
  the_job();
}

/* The cache knows the prefix by its path: a run on a moved one says where it was; moved back, it is restarted from. */
static void a_moved_prefix_is_told_with_both_paths(void)
{
  char old[SCR_MAX_FILENAME], new[SCR_MAX_FILENAME];
  int  i;

  begin();
  set("SCR_FLUSH=0");
  run_puts("ck0", 1, 1000);
  OK(SCR_Init());
  OK(put("ck1", 1, 1000));
  run_dies();
  shell("mv prefix moved");
  set("SCR_PREFIX=%s/moved", case_dir);
  snprintf(old, sizeof old, "this was written for the prefix %s/prefix,", case_dir);
  snprintf(new, sizeof new, "but here is %s/moved", case_dir);
  for (i = 0; i < 2; i++) run_is_refused("ck1 (", old, new, NULL); /* also when a run has been here */
  set("SCR_PREFIX=%s", case_prefix);
  shell("ln -s moved prefix");
  run_gets("ck1", 1, 1000);
  shell("rm prefix; mv moved prefix");
  run_gets("ck1", 1, 1000);
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
  run_puts_four();
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
  run_puts_four();
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
  run_puts_four();
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

/* A node has the mark of a deletion that was killed, and is away while a run restores the checkpoint without it. */
static void a_deletion_that_was_killed_leaves_what_was_restored_since(void)
{
  int back;

  for (back = 0; back < 2; back++) {
    during(back ? "the node comes back" : "no run restores it");
    begin();
    job_is("");
    set("SCR_FLUSH=0");
    OK(SCR_Init());
    OK(put("ck1", 1, 1000));
    if (rank == 1) mark_as_leaving(1);
    run_dies();
    shell("rm -rf away; mkdir away; cp -a cntl cache away");
    lose_node(1);
    run_goes_on(1, 1);
    if (back) { /* another node is lost, and what took the place of the first one takes that */
      shell("for n in c*/*/scr.*/node.*-v1; do"
            " rm -rf ${n%%1}2; mv $n ${n%%1}2; cp -a away/$n $n; rm -rf $n/scr.dataset.1/ck1; done");
      run_goes_on(1, 1);
    } else {
      shell("rm -rf cntl cache; mv away/* .");
      OK(SCR_Init());
      get(NULL, 1, 1000);
      run_dies();
    }
  }
}

/* Nodes come back that have it from before it was fetched again. */
static void what_the_user_has_deleted_does_not_come_back_with_old_nodes(void)
{
  begin();
  job_is("");
  set("SCR_FLUSH=1");
  run_goes_on(0, 1);
  run_goes_on(1, 1);
  run_goes_on(1, 1);
  shell("rm -rf away; mkdir away; cp -a cntl cache away");
  lose_node(2);
  lose_node(3);
  OK(SCR_Init());
  get("ck1", 1, 1000);
  OK(SCR_Delete("ck1"));
  run_dies();
  shell("for n in c*/*/scr.*/node.*-v[23]; do rm -rf $n; cp -a away/$n $n; done");
  OK(SCR_Init());
  get(NULL, 1, 1000);
  OK(put("ck2", 1, 1000));
  OK(SCR_Finalize());
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

/* The same job is queued again, and gets other nodes: their caches are empty. */
static void a_job_that_is_queued_again_goes_on_from_the_prefix_or_is_refused(void)
{
  char text[8192];
  int  i;

  during("before the first checkpoint");
  begin();
  set("SCR_FLUSH=3");
  run_goes_on(0, 0);
  lose_all_nodes();
  run_goes_on(0, 0);
  during("with ck3 on the prefix");
  run_goes_on(0, 5);
  for (i = 0; i < 2; i++) { /* it is killed again before it has written anything */
    lose_all_nodes();
    OK(init_says(text, sizeof text));
    CHECK(rank > 0 || (strstr(text, "ck5 (dataset 5, ") != NULL && strstr(text, "older ck3") != NULL), "%s", text);
    get("ck3", 1, 1000);
    run_dies();
  }
  run_goes_on(3, 7);
  lose_all_nodes();
  run_goes_on(6, 6);

  begin();
  set("SCR_FLUSH=3");
  run_goes_on(0, 2);
  lose_all_nodes();
  during("with nothing on the prefix");
  run_is_refused("ck2 (dataset 2, ", NULL);
  lose_all_nodes();
  run_is_refused("ck2 (dataset 2, ", NULL);
  set("SCR_FRESH_START=1"); /* and the script leaves it set */
  run_goes_on(0, 1);
  run_goes_on(1, 4);
  lose_all_nodes();
  run_goes_on(3, 3);
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
  run_puts_four();
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

#define ANY "2 | 1 4 5", "9"
#define TWO "4 | 2 5", "9"
#define FEW "2 | 4", ""

const test_case jobs_cases[] = {
    CASE(two_halves_of_a_job_keep_apart, TWO),
    CASE(two_prefixes_take_turns_in_one_cache, ANY),
    CASE(two_prefixes_share_one_cache_at_once, TWO),
    CASE(an_intercommunicator_is_refused, TWO),
    CASE(a_prefix_in_use_is_refused_to_another_job, "4", ""),
    CASE(waiting_for_a_lock_is_told_after_three_seconds, FEW),
    CASE(a_rejection_holds_in_its_job_and_other_jobs_offer_it_last, ANY),
    CASE(without_a_batch_system_each_run_is_a_job_of_its_own, ANY),
    CASE(a_rejection_in_the_cache_holds_in_its_job, FEW),
    CASE(a_job_goes_on_where_killed_runs_ended, "4 | 2", ""),
    CASE(a_program_without_a_batch_system_goes_on_where_killed_runs_ended, FEW),
    CASE(a_job_that_is_queued_again_goes_on_from_the_prefix_or_is_refused, FEW),
    CASE(a_choice_is_served_once_in_each_job, FEW),
    CASE(a_damaged_flush_file_is_a_reason_to_refuse_until_there_is_something_newer, FEW),
    CASE(a_run_without_the_cache_tells_which_checkpoint_it_deletes, FEW),
    CASE(who_owns_what_a_run_may_not_use_is_told, "4 | 1", ""),
    CASE(what_a_run_cannot_reach_is_named_when_an_older_checkpoint_loads, "2 | 4", "5"),
    CASE(a_run_that_reaches_no_checkpoint_is_refused_until_a_fresh_start, "2 | 4", "5"),
    CASE(a_run_that_does_without_the_cache_misses_nothing_in_it, "2 | 4", "5"),
    CASE(each_checkpoint_that_is_out_of_reach_keeps_its_place_in_the_message, "2 | 4", "5"),
    CASE(notes_of_an_older_version_count_by_their_id, "2 | 4", "5"),
    CASE(a_checkpoint_that_was_set_aside_is_missed_when_all_nodes_are_gone, "2 | 4", "5"),
    CASE(a_directory_with_a_number_is_found_when_the_one_without_is_free, "2 | 4", "5"),
    CASE(a_cache_without_the_record_of_its_prefix_is_not_taken_by_another, "4", "5"),
    CASE(a_prefix_that_was_made_again_does_not_take_the_cache_of_the_old_one, "2 | 4", "5"),
    CASE(a_prefix_that_comes_back_finds_its_own_cache, "2 | 4", "5"),
    CASE(a_copy_of_a_prefix_leaves_the_cache_to_the_original, "2 | 4", "5"),
    CASE(a_link_to_the_prefix_is_no_other_prefix_unless_it_is_turned, "2 | 4", "5"),
    CASE(a_cache_that_an_older_version_left_is_taken_by_the_path_of_its_prefix, "2 | 4", "5"),
    CASE(a_damaged_identity_of_the_prefix_costs_no_cache, "2 | 4", "5"),
    CASE(the_nodes_file_names_the_nodes_of_the_last_run_and_their_directories, "2 | 4", "5"),
    CASE(a_prefix_of_another_release_is_not_spoilt_by_a_start, FEW),
    CASE(two_users_of_a_group_take_turns_on_one_prefix, "1", ""),
    CASE(a_kill_in_init_forgets_nothing_that_is_out_of_reach, "4", ""),
    CASE(a_kill_in_init_leaves_each_prefix_its_own_cache, "4", ""),
    CASE(what_a_run_left_in_the_cache_on_purpose_is_told_and_not_refused, "4", ""),
    CASE(what_a_refused_run_could_not_use_is_still_missed_by_the_next_one, "4", ""),
    CASE(a_run_that_does_not_fetch_is_only_told_when_the_prefix_has_an_older_one, "4", ""),
    CASE(a_run_without_the_cache_forgets_nothing_of_other_jobs, "4", ""),
    CASE(a_deletion_that_was_killed_leaves_what_was_restored_since, "4", ""),
    CASE(what_the_user_has_deleted_does_not_come_back_with_old_nodes, "4", ""),
    CASE(a_checkpoint_whose_deletion_was_killed_is_not_missed, "4", ""),
    CASE(a_checkpoint_whose_deletion_was_killed_is_no_alarm, "4", ""),
    CASE(a_passing_error_gives_no_prefix_the_cache_of_another_one, "4", ""),
    CASE(a_prefix_whose_identity_alone_is_lost_keeps_its_cache, "4", ""),
    CASE(what_was_set_aside_was_on_the_nodes_of_the_run_that_wrote_it, "4", ""),
    CASE(a_moved_prefix_is_told_with_both_paths, "4 | 1", ""),
    CASE(more_than_three_that_are_out_of_reach_are_older_ones, "4", ""),
    CASE(a_run_is_killed_while_it_holds_its_directories, "", ""),
    CASE(what_a_killed_run_held_is_free_at_once, "", ""),
    CASES_END};
