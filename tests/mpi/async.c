/*
** async.c - SCR_FLUSH_ASYNC: flushes that go on while the application computes.
*/
#include "mpi_test.h"

#include <glob.h>
#include <pthread.h>

static size_t large(int i)
{
  return size_of(i, 200000);
}

static size_t state_size(int i)
{
  (void)i;
  return 30000;
}

static const shape files = {"two files", two_files, large, NULL};
static const shape state = {"of the same names", one_file, state_size, "state/rank_%d"};

/* Every checkpoint is flushed, at no more than RATE bytes a second; 0: as fast as it goes. */
static void begin_async(int rate)
{
  begin();
  set("SCR_FLUSH=1");
  set("SCR_FLUSH_ASYNC=1");
  set("SCR_FLUSH_ASYNC_BW=%d", rate);
  set("SCR_FILE_BUF_SIZE=4096");
}

/* Datasets of the index. */
static int in_index(void)
{
  MPI_Barrier(MPI_COMM_WORLD);
  return there("prefix/.scr/index.scr") ? index_marks("FLUSHED") : 0;
}

static double now(void)
{
  return MPI_Wtime();
}

/* Compute until the index has N datasets; how long that took. */
static double compute_until(int n)
{
  double start = now();
  int    flag, have = 0;

  while (!have && now() - start < 30) {
    usleep(2000);
    OK(SCR_Need_checkpoint(&flag));
    have = in_index() >= n;
  }
  CHECK(have, "no flush has ended in 30 s");
  return now() - start;
}

/* ---- what comes of it ------------------------------------------------------------------------------------------ */

static void a_flush_goes_on_behind_the_application(void)
{
  char path[SCR_MAX_FILENAME], below[RECORDS_MAX];
  int  packed;

  for (packed = 0; packed < 2; packed++) {
    during("SCR_USE_CONTAINERS=%d", packed);
    begin_async(400000);
    set("SCR_USE_CONTAINERS=%d", packed);
    set("SCR_CONTAINER_SIZE=100000");
    OK(SCR_Init());
    OK(put_shape("ck1", SCR_FLAG_CHECKPOINT, &files, 1));
    CHECK(in_index() == 0, "the flush was over before the call returned");
    snprintf(path, sizeof path, "%s/.scr/flush.scr", case_prefix);
    if (rank == 0) CHECK(record_find(path, "LOCATION", below) == 1, "%s", path);
    OK(SCR_Wait("ck1"));
    CHECK(in_index() == 1, "SCR_Wait returned before the flush was over");
    if (!packed) on_prefix_shape("ck1", &files);
    OK(put_shape("ck2", SCR_FLAG_CHECKPOINT, &files, 1));
    OK(SCR_Wait(NULL));
    OK(SCR_Wait("ck2"));
    OK(put_shape("ck3", SCR_FLAG_CHECKPOINT, &files, 1));
    OK(SCR_Finalize()); /* finishes what is under way */
    CHECK(in_index() == 3 && count_in("prefix", ".tmp") == 0, "%d", in_index());
    lose_all_nodes();
    run_gets_shape("ck3", &files);
  }
}

static void a_later_call_completes_the_flush(void)
{
  begin_async(0);
  OK(SCR_Init());
  OK(put_shape("ck1", SCR_FLAG_CHECKPOINT, &files, 1));
  compute_until(1);
  on_prefix_shape("ck1", &files);
  run_dies();
  lose_all_nodes();
  run_gets_shape("ck1", &files);
}

/* SCR_Init, and three checkpoints of the shape S, whose flushes go on. */
static void three_under_way(const shape* s)
{
  set("SCR_CACHE_SIZE=5");
  OK(SCR_Init());
  OK(put_shape("ck1", SCR_FLAG_CHECKPOINT, s, 1));
  OK(put_shape("ck2", SCR_FLAG_CHECKPOINT, s, 1));
  OK(put_shape("ck3", SCR_FLAG_CHECKPOINT, s, 1));
  CHECK(in_index() == 0, "%d flushes are over already", in_index());
}

/* The index has N datasets, now and after the run, which ends; the newest is whole, and can be loaded. */
static void the_newest_is_left(const shape* s, int n)
{
  CHECK(in_index() == n, "the index has %d", in_index());
  on_prefix_shape("ck3", s);
  OK(SCR_Finalize());
  CHECK(in_index() == n, "the index has %d", in_index());
  CHECK(count_in("prefix", ".tmp") == 0, "temporary files are left");
  lose_all_nodes();
  run_gets_shape("ck3", s);
}

/* The newest is waited for, and on the prefix before an older one; what is older never takes its place. */
static void a_flush_that_is_waited_for_goes_first(void)
{
  int same;

  for (same = 0; same < 2; same++) {
    const shape* s = same ? &state : &files;
    during("%s", s->what);
    begin_async(2000);
    three_under_way(s);
    OK(SCR_Wait("ck3"));
    CHECK(in_index() == 1, "the index has %d", in_index());
    on_prefix_shape("ck3", s);
    OK(SCR_Wait(NULL));
    the_newest_is_left(s, same ? 1 : 3);
  }
}

/* What is older and completed later does not stay beside the newest. */
static void the_window_of_the_prefix_ends_at_the_newest(void)
{
  begin_async(2000);
  set("SCR_PREFIX_SIZE=1");
  three_under_way(&files);
  OK(SCR_Wait("ck3"));
  the_newest_is_left(&files, 1); /* the older ones come in SCR_Finalize */
}

/* Several flushes at a time, of datasets with and without the same names: each is what it would be one by one. */
static void several_flushes_are_under_way_at_a_time(void)
{
  int same;

  for (same = 0; same < 2; same++) {
    const shape* s = same ? &state : &files;
    during("%s", s->what);
    begin_async(100000);
    three_under_way(s);
    OK(SCR_Wait(NULL));
    the_newest_is_left(s, same ? 1 : 3);
    if (!same) {
      OK(SCR_Init());
      OK(SCR_Delete("ck3"));
      OK(SCR_Delete("ck2"));
      OK(SCR_Finalize());
      lose_all_nodes();
      run_gets_shape("ck1", s);
    }
  }
}

/* The cache keeps what is being flushed, and the dataset that is written, but no more. */
static void the_cache_does_not_grow_with_flushes(void)
{
  int i;

  begin_async(300000);
  OK(SCR_Init());
  for (i = 1; i <= 4; i++) {
    char name[10];
    snprintf(name, sizeof name, "ck%d", i);
    OK(put_shape(name, SCR_FLAG_CHECKPOINT, &files, 1));
    CHECK((cached_in("cache") | ID(i - 1)) == (ID(i) | ID(i - 1)), "the cache holds 0x%x after %s", cached_in("cache"),
          name);
  }
  OK(SCR_Finalize());
  CHECK(in_index() == 4, "%d", in_index());
}

/* A dataset may be deleted, dropped or chosen while it is flushed. */
static void calls_by_name_wait_for_flushes(void)
{
  int flag;

  begin_async(400000);
  set("SCR_CACHE_SIZE=3");
  OK(SCR_Init());
  OK(put_shape("ck1", SCR_FLAG_CHECKPOINT, &files, 1));
  OK(put_shape("ck2", SCR_FLAG_CHECKPOINT, &files, 1));
  OK(SCR_Delete("ck2"));
  CHECK(!there("prefix/ck2") && in_index() == 1, "ck2 is there");
  OK(put_shape("ck3", SCR_FLAG_CHECKPOINT, &files, 1));
  OK(SCR_Drop("ck3"));
  CHECK(in_index() == 1, "ck3 is in the index");
  OK(put_shape("ck4", SCR_FLAG_CHECKPOINT, &files, 1));
  OK(SCR_Current("ck1"));
  CODE(SCR_Wait("ck3"), SCR_ERR_NOT_FOUND, "ck3");
  CODE(SCR_Wait("none"), SCR_ERR_NOT_FOUND, "none");
  OK(SCR_Should_exit(&flag));
  OK(SCR_Finalize());
  lose_all_nodes();
  run_gets_shape("ck1", &files);
}

static const shape evens = {"even", two_files, large, "even/of_%d/in_%d/part"};
static const shape odds = {"odd", two_files, large, "odd/of_%d/in_%d/part"};

/* SCR_PREFIX_SIZE deletes an old dataset: directories that a later flush is about to use stay. */
static void a_deletion_leaves_the_directories_of_flushes(void)
{
  begin_async(0);
  set("SCR_CACHE_SIZE=5");
  set("SCR_PREFIX_SIZE=1");
  set("SCR_FLUSH_ASYNC_BW=%d", 50000 * ranks);
  OK(SCR_Init());
  OK(put_shape("ck1", SCR_FLAG_CHECKPOINT, &evens, 1));
  OK(SCR_Wait(NULL));
  OK(put_shape("ck2", SCR_FLAG_CHECKPOINT, &odds, 1));
  OK(put_shape("ck3", SCR_FLAG_CHECKPOINT, &evens, 1)); /* its directories are those of ck1 */
  OK(SCR_Wait(NULL));
  on_prefix_shape("ck3", &evens);
  OK(SCR_Finalize());
  lose_all_nodes();
  run_gets_shape("ck3", &evens);
}

/* A dataset that has left the cache because the prefix has it was flushed. */
static void a_wait_for_what_only_the_prefix_has_succeeds(void)
{
  begin_async(0);
  OK(SCR_Init());
  OK(put_shape("ck1", SCR_FLAG_CHECKPOINT, &files, 1));
  compute_until(1);
  OK(put_shape("ck2", SCR_FLAG_CHECKPOINT, &files, 1));
  OK(SCR_Wait(NULL));
  OK(put_shape("ck3", SCR_FLAG_CHECKPOINT, &files, 1)); /* makes room first */
  CHECK((cached_in("cache") & ID(1)) == 0, "ck1 is in the cache still");
  OK(SCR_Wait("ck1"));
  CODE(SCR_Wait("none"), SCR_ERR_NOT_FOUND, "none");
  OK(SCR_Finalize());
}

/* A bit flips in the middle of the last file of rank 0 of NAME in the cache, where the copy has not been yet. */
static void damage_ahead(const char* name)
{
  char path[SCR_MAX_FILENAME], part[700], cache[700];

  MPI_Barrier(MPI_COMM_WORLD);
  snprintf(cache, sizeof cache, "%s/cache", case_dir);
  snprintf(part, sizeof part, "/%s/rank_0_1", name);
  if (rank == 0) CHECK(find_file(cache, part, 0, path) == 1, "files %s in %s", part, cache);
  if (rank == 0) flip_bit(path, 100000);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* The newest checkpoint turns out to be bad while it is flushed; the one before it was good. */
static void what_turns_out_bad_in_a_flush_does_not_cost_the_one_before(void)
{
  begin_async(1000);
  set("SCR_FLUSH=2");
  set("SCR_COPY_TYPE=SINGLE");
  OK(SCR_Init());
  OK(put_shape("ck1", SCR_FLAG_CHECKPOINT, &files, 1));
  OK(put_shape("ck2", SCR_FLAG_CHECKPOINT, &files, 1));
  damage_ahead("ck2");
  CHECK(SCR_Wait(NULL) != SCR_SUCCESS, "a corrupt file was flushed");
  run_dies();
  run_gets_shape("ck1", &files);
}

/* ---- limits ---------------------------------------------------------------------------------------------------- */

static void a_flush_keeps_to_its_limits(void)
{
  double bytes = 0, mine, fast, slow;
  int    i;

  for (i = 0, mine = 0; i < 2; i++) mine += (double)large(i);
  MPI_Allreduce(&mine, &bytes, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  begin_async(0);
  OK(SCR_Init());
  OK(put_shape("ck1", SCR_FLAG_CHECKPOINT, &files, 1));
  fast = compute_until(1);
  OK(SCR_Finalize());
  begin_async((int)bytes); /* one second */
  OK(SCR_Init());
  OK(put_shape("ck1", SCR_FLAG_CHECKPOINT, &files, 1));
  slow = compute_until(1);
  OK(SCR_Finalize());
  CHECK(slow > 0.8 && slow < 4 + 2 * fast, "%.2f s for one second's worth, and %.2f s without a limit", slow, fast);
  begin_async((int)bytes / 100);
  OK(SCR_Init());
  OK(put_shape("ck1", SCR_FLAG_CHECKPOINT, &files, 1));
  slow = now();
  OK(SCR_Wait(NULL)); /* without pauses, as somebody waits */
  slow = now() - slow;
  CHECK(slow < 10, "SCR_Wait took %.2f s", slow);
  OK(SCR_Finalize());
  begin_async(0);
  set("SCR_FLUSH_ASYNC_PERCENT=1");
  OK(SCR_Init());
  OK(put_shape("ck1", SCR_FLAG_CHECKPOINT, &files, 1));
  slow = compute_until(1);
  OK(SCR_Finalize());
  CHECK(slow > fast, "%.3f s in one percent of the time, %.3f s in all of it", slow, fast);
}

static void another_type_is_synchronous(void)
{
  begin_async(1000);
  set("SCR_FLUSH_TYPE=SYNC");
  OK(SCR_Init());
  OK(put_shape("ck1", SCR_FLAG_CHECKPOINT, &files, 1));
  CHECK(in_index() == 1, "the flush is not over");
  OK(SCR_Wait("ck1"));
  OK(SCR_Finalize());
}

/* ---- failures -------------------------------------------------------------------------------------------------- */

static void a_flush_that_fails_is_told_and_made_up_for(void)
{
  char text[4000] = "";

  begin_async(0);
  OK(SCR_Init());
  fault_on(FAULT_PWRITE, "/prefix/ck1/", "rank_0_1", INT_MAX);
  OK(put_shape("ck1", SCR_FLAG_CHECKPOINT, &files, 1));
  hear();
  ALIKE(SCR_Wait(NULL), SCR_ERR_SPACE, "stays in the cache");
  heard(text, sizeof text);
  if (rank == 0) CHECK(strstr(text, "rank_0_1") != NULL, "%s", text);
  fault_end();
  CHECK(in_index() == 0 && count_in("prefix", ".tmp") == 0, "something is left");
  OK(SCR_Wait(NULL)); /* an error is told once */
  OK(SCR_Finalize());
  CHECK(in_index() == 1, "SCR_Finalize has not flushed it");
  lose_all_nodes();
  run_gets_shape("ck1", &files);
}

static void what_is_corrupt_in_the_cache_is_rebuilt_while_it_is_flushed(void)
{
  begin_async(1000);
  OK(SCR_Init());
  OK(put_shape("ck", SCR_FLAG_CHECKPOINT, &files, 1));
  damage_ahead("ck");
  OK(SCR_Wait("ck"));
  on_prefix_shape("ck", &files);
  OK(SCR_Finalize());
}

/* The run dies at some moment of an asynchronous flush: what the next one finds is whole, on the prefix or not. */
static void die_at(int n, int packed)
{
  begin_async(0);
  set("SCR_USE_CONTAINERS=%d", packed);
  set("SCR_CONTAINER_SIZE=50000");
  OK(SCR_Init());
  OK(put_shape("ck1", SCR_FLAG_CHECKPOINT, &files, 1));
  OK(SCR_Wait(NULL));
  OK(put_shape("ck2", SCR_FLAG_CHECKPOINT, &files, 1));
  fault_at(FAULT_DEAD, FAULT_ALL, EIO, n);
  SCR_Wait(NULL);
  fault_end();
  run_dies();
  run_gets_shape("ck2", &files);
  CHECK(count_in("prefix", ".tmp") == 0, "temporary files are left");
  lose_all_nodes();
  run_gets_shape("ck2", &files);
}

static void a_run_that_dies_in_a_flush_loses_nothing(void)
{
  int n;

  for (n = 1; n < 200; n += pace(40, 5, 1) + (int)roll((unsigned)pace(80, 40, 1))) {
    during("call %d of each rank", n);
    test_alive();
    die_at(n, n % 2);
  }
}

/* ---- the daemon ------------------------------------------------------------------------------------------------ */

/* The same, and SCR_Init; a daemon copies. */
static void init_with_daemon(int rate, int packed)
{
  begin_async(rate);
  set("SCR_FLUSH_TYPE=DAEMON");
  set("SCR_USE_CONTAINERS=%d", packed);
  set("SCR_CONTAINER_SIZE=100000");
  OK(SCR_Init());
  shell("for d in \"$PWD\"/cntl/*/scr.*; do \"$TEST_TRANSFER\" \"$d\" < /dev/null > daemon.log 2>&1 & done");
}

/* The daemon ends. */
static void end_daemon(void)
{
  shell("for d in \"$PWD\"/cntl/*/scr.*; do \"$TEST_TRANSFER\" --exit \"$d\"; done");
}

static void a_daemon_copies(void)
{
  char text[4000];
  int  packed;

  for (packed = 0; packed < 2; packed++) {
    during("SCR_USE_CONTAINERS=%d", packed);
    init_with_daemon(400000, packed);
    hear();
    OK(put_shape("ck1", SCR_FLAG_CHECKPOINT, &files, 1));
    CHECK(in_index() == 0, "the flush was over before the call returned");
    OK(SCR_Wait("ck1"));
    CHECK(in_index() == 1, "SCR_Wait returned before the flush was over");
    heard(text, sizeof text);
    CHECK(*text == '\0', "%s", text);
    if (!packed) on_prefix_shape("ck1", &files);
    OK(put_shape("ck2", SCR_FLAG_CHECKPOINT, &files, 1));
    compute_until(2);
    OK(put_shape("ck3", SCR_FLAG_CHECKPOINT, &files, 1));
    OK(SCR_Finalize());
    CHECK(in_index() == 3 && count_in("prefix", ".tmp") == 0, "%d", in_index());
    end_daemon();
    lose_all_nodes();
    run_gets_shape("ck3", &files);
  }
}

static void the_daemon_keeps_to_the_limits_after_a_wait_for_one_flush(void)
{
  char   below[RECORDS_MAX] = "", pattern[1000];
  glob_t found;

  init_with_daemon(2000, 0);
  OK(put_shape("ck1", SCR_FLAG_CHECKPOINT, &files, 1));
  OK(put_shape("ck2", SCR_FLAG_CHECKPOINT, &files, 1));
  OK(SCR_Wait("ck1"));
  CHECK(in_index() == 1, "the index has %d", in_index());
  snprintf(pattern, sizeof pattern, "%s/cntl/*/scr.*/node.*/transfer.scrinfo", case_dir);
  CHECK(glob(pattern, 0, NULL, &found) == 0, "there is no transfer file");
  if (rank == 0 && found.gl_pathc > 0)
    CHECK(record_find(found.gl_pathv[0], "BW", below) == 1 && atof(below) > 0, "BW is %s", below);
  globfree(&found);
  OK(SCR_Wait(NULL));
  OK(SCR_Finalize());
  end_daemon();
}

static int transfer_reads, transfer_error;

static int count_read(const char* path)
{
  (void)path;
  transfer_reads++;
  return transfer_error;
}

/* A daemon that makes one step in a long time: the ranks read its file when it has changed, or after two seconds. */
static void the_transfer_file_is_read_when_it_changed_and_an_error_is_no_end(void)
{
  char   text[4000];
  int    flag, looks = 0;
  double began;

  init_with_daemon(1, 0);
  OK(put_shape("ck1", SCR_FLAG_CHECKPOINT, &files, 1));
  fault_watch(FAULT_OPEN, "/transfer.scrinfo", "", count_read);
  transfer_error = EIO;
  hear();
  for (transfer_reads = 0; transfer_reads == 0; usleep(210000)) OK(SCR_Need_checkpoint(&flag));
  MPI_Barrier(MPI_COMM_WORLD);
  heard(text, sizeof text);
  CHECK(*text == '\0', "%s", text);
  transfer_error = transfer_reads = 0;
  for (began = MPI_Wtime(); looks < 12; looks++, usleep(210000)) OK(SCR_Need_checkpoint(&flag));
  CHECK(transfer_reads > 0 && transfer_reads < 5 + (MPI_Wtime() - began) / 2, "%d reads in %d looks, %.1f s",
        transfer_reads, looks, MPI_Wtime() - began);
  fault_end();
  hear();
  OK(SCR_Finalize());
  heard(text, sizeof text);
  CHECK(*text == '\0', "%s", text);
  on_prefix_shape("ck1", &files);
  end_daemon();
}

/* The run dies at some moment of a flush, and the daemon goes on. */
static void die_beside_a_daemon(int n, int packed)
{
  init_with_daemon(n % 3 == 0 ? 0 : 400000, packed);
  OK(put_shape("ck1", SCR_FLAG_CHECKPOINT, &files, 1));
  OK(SCR_Wait(NULL));
  OK(open_shape("ck2", SCR_FLAG_CHECKPOINT, &files));
  fault_at(FAULT_DEAD, FAULT_ALL, EIO, n);
  SCR_Complete_output(1);
  SCR_Wait(NULL);
  fault_end();
  run_dies();
  OK(SCR_Init()); /* it completes the flush, or makes it anew */
  OK(SCR_Finalize());
  CHECK(count_in("prefix", ".tmp") == 0, "temporary files are left");
  end_daemon();
}

static void a_run_that_dies_beside_a_daemon_loses_nothing(void)
{
  char name[SCR_MAX_FILENAME];
  int  n, flag;

  for (n = 1; n < 400; n += pace(90, 40, 3) + (int)roll((unsigned)pace(120, 75, 1))) {
    during("call %d of each rank", n);
    test_alive();
    die_beside_a_daemon(n, n % 2);
    OK(SCR_Init());
    OK(SCR_Have_restart(&flag, name));
    if (flag) get_shape(name, &files);
    else CHECK(0, "nothing is offered");
    OK(SCR_Finalize());
    lose_all_nodes();
    run_gets_shape(name, &files);
  }
}

/* ---- kill -9 --------------------------------------------------------------------------------------------------- */

static void* kill_later(void* arg)
{
  usleep(*(unsigned*)arg);
  kill(getpid(), SIGKILL);
  return NULL;
}

/* Note on rank 0 that checkpoint I is in the cache, or on the prefix. */
static void acknowledge(const char* where, int i)
{
  char path[800], text[20];

  snprintf(path, sizeof path, "%s/%s", case_dir, where);
  snprintf(text, sizeof text, "%d", i);
  if (rank == 0) write_file(path, text, strlen(text));
}

static int acknowledged(const char* where)
{
  char  path[800];
  char* text;
  long  n = 0;
  int   i;

  snprintf(path, sizeof path, "%s/%s", case_dir, where);
  text = there(where) ? read_file(path, &n) : NULL;
  i = text != NULL ? atoi(text) : 0;
  free(text);
  return i;
}

/* That a restart offers a checkpoint no older than LEAST, and whole. */
static void get_newest(int least)
{
  char name[SCR_MAX_FILENAME] = "";
  int  flag = 0, i = 0;

  OK(SCR_Init());
  if (least > 0) OK(SCR_Have_restart(&flag, name));
  else SCR_Have_restart(&flag, name);
  if (flag) i = atoi(name + 2);
  CHECK(i >= least, "%s is offered, but ck%d was acknowledged", flag ? name : "nothing", least);
  if (flag) get_shape(name, &files);
  SCR_Finalize();
}

/*
** TEST_KILL is the seed of a run that is killed in the midst of asynchronous flushes; with TEST_KILLED, the runs that
** follow it: one with its caches, and one with the prefix alone.
*/
static void a_run_is_killed_while_it_flushes(void)
{
  const char*     seed = getenv("TEST_KILL");
  pthread_t       thread;
  static unsigned later;
  int             i, last = 0;

  begin_in("killed");
  if (seed == NULL) return;
  roll_from((unsigned long long)atoi(seed));
  later = 1000 + 1000 * roll(300);
  set("SCR_FLUSH=1");
  set("SCR_FLUSH_ASYNC=1");
  set("SCR_FILE_BUF_SIZE=4096");
  set("SCR_FLUSH_ASYNC_BW=%d", roll(2) ? 0 : 4000000);
  set("SCR_USE_CONTAINERS=%d", (int)roll(2));
  set("SCR_CONTAINER_SIZE=70000");
  set("SCR_CACHE_SIZE=%d", 1 + (int)roll(3));
  set("SCR_PREFIX_SIZE=%d", (int)roll(3));
  if (getenv("TEST_KILLED") != NULL) {
    get_newest(acknowledged("cached"));
    CHECK(count_in("prefix", ".tmp") == 0, "temporary files are left");
    last = acknowledged("flushed");
    lose_all_nodes();
    get_newest(last);
    return;
  }
  OK(SCR_Init());
  if (rank == (int)roll((unsigned)ranks)) pthread_create(&thread, NULL, kill_later, &later);
  for (i = 1;; i++) {
    char name[20];
    snprintf(name, sizeof name, "ck%d", i);
    if (put_shape(name, SCR_FLAG_CHECKPOINT, &files, 1) == SCR_SUCCESS) acknowledge("cached", i);
    if (i % 3 == 0 && SCR_Wait(NULL) == SCR_SUCCESS) acknowledge("flushed", i);
  }
}

const test_case async_cases[] = {CASE(a_run_is_killed_while_it_flushes, ""),
                                 CASE(a_flush_goes_on_behind_the_application, "4 | 1 2"),
                                 CASE(a_later_call_completes_the_flush, "2"),
                                 CASE(several_flushes_are_under_way_at_a_time, "3"),
                                 CASE(a_flush_that_is_waited_for_goes_first, "3"),
                                 CASE(the_window_of_the_prefix_ends_at_the_newest, "3"),
                                 CASE(the_cache_does_not_grow_with_flushes, "2"),
                                 CASE(calls_by_name_wait_for_flushes, "2"),
                                 CASE(a_deletion_leaves_the_directories_of_flushes, "2"),
                                 CASE(a_wait_for_what_only_the_prefix_has_succeeds, "2"),
                                 CASE(what_turns_out_bad_in_a_flush_does_not_cost_the_one_before, "2"),
                                 CASE(a_flush_keeps_to_its_limits, "2"),
                                 CASE(another_type_is_synchronous, "2"),
                                 CASE(a_flush_that_fails_is_told_and_made_up_for, "2"),
                                 CASE(what_is_corrupt_in_the_cache_is_rebuilt_while_it_is_flushed, "4"),
                                 CASE(a_run_that_dies_in_a_flush_loses_nothing, "2"),
                                 CASE(a_daemon_copies, "4 | 1 2"),
                                 CASE(the_daemon_keeps_to_the_limits_after_a_wait_for_one_flush, "3"),
                                 CASE(the_transfer_file_is_read_when_it_changed_and_an_error_is_no_end, "2"),
                                 CASE(a_run_that_dies_beside_a_daemon_loses_nothing, "2"),
                                 CASES_END};
