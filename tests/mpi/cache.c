/*
** cache.c - what the cache keeps: how many checkpoints, in which stores, and which of them go when there is no room.
*/
#include "mpi_test.h"

static void the_cache_keeps_the_newest_checkpoints(void)
{
  static const unsigned left[] = {0, ID(5), ID(4) | ID(5), ID(3) | ID(4) | ID(5)};
  char                  name[8];
  int                   size, i;

  for (size = 1; size <= 3; size++) {
    begin();
    set("SCR_CACHE_SIZE=%d", size);
    set("SCR_FLUSH=0");
    OK(SCR_Init());
    for (i = 1; i <= 5; i++) {
      snprintf(name, sizeof name, "ck%d", i);
      OK(put(name, 1, 100));
    }
    CHECK(cached_in("cache") == left[size], "size %d leaves 0x%x", size, cached_in("cache"));
    CHECK(!there("prefix/ck5"), "a checkpoint is flushed although SCR_FLUSH is 0");
    OK(SCR_Finalize());
    OK(SCR_Init());
    get("ck5", 1, 100);
    CHECK(cached_in("cache") == left[size], "after a restart, size %d leaves 0x%x", size, cached_in("cache"));
    OK(SCR_Finalize());
  }
}

static int slowly(const char* path)
{
  (void)path;
  usleep(200000);
  return 0;
}

/* The application waits for that only when it writes the next checkpoint. */
static void the_oldest_checkpoint_is_deleted_behind_the_application(void)
{
  int files;

  begin();
  set("SCR_CACHE_SIZE=1");
  set("SCR_FLUSH=0");
  OK(SCR_Init());
  OK(put("ck1", 3, 1000));
  files = 3 * ranks + count_in("cache", ".xor");
  fault_watch(FAULT_UNLINK, "scr.dataset.1/", "", slowly);
  OK(put("ck2", 3, 1000));
  CHECK(fault_seen(FAULT_UNLINK) < 4, "%d files are deleted already", fault_seen(FAULT_UNLINK));
  OK(put("ck3", 3, 1000));
  CHECK(fault_seen(FAULT_UNLINK) >= files / ranks, "%d of %d files are deleted", fault_seen(FAULT_UNLINK), files);
  removals_end();
  fault_end();
  CHECK(cached_in("cache") == ID(3), "the cache holds 0x%x", cached_in("cache"));
  OK(SCR_Finalize());
  run_gets("ck3", 3, 1000);
}

/* What is left then counts as no loss; the next run removes it. */
static void a_run_dies_while_the_oldest_checkpoint_is_deleted(void)
{
  begin();
  set("SCR_CACHE_SIZE=1");
  set("SCR_FLUSH=0");
  OK(SCR_Init());
  OK(put("ck1", 3, 1000));
  fault_on(FAULT_UNLINK | FAULT_RMDIR, "scr.dataset.1", "", INT_MAX);
  OK(put("ck2", 3, 1000));
  removals_end();
  CHECK(fault_struck(FAULT_UNLINK) > 0, "nothing was deleted");
  run_dies();
  CHECK(cached_in("cache") == (ID(1) | ID(2)), "the cache holds 0x%x", cached_in("cache"));
  OK(SCR_Init());
  get("ck2", 3, 1000);
  CHECK(cached_in("cache") == ID(2), "the cache holds 0x%x", cached_in("cache"));
  OK(SCR_Finalize());
}

/* Descriptors by interval, in stores of their own, and one for output. */
static void descriptors_apply_by_interval_and_to_output(void)
{
  int i;

  begin();
  set("SCR_COPY_TYPE=FILE");
  set("SCR_FLUSH=0");
  set("STORE=%s/a COUNT=2", case_dir);
  set("STORE=%s/b", case_dir);
  set("STORE=%s/c COUNT=3", case_dir);
  set("CKPT=0 INTERVAL=1 TYPE=SINGLE STORE=%s/a", case_dir);
  set("CKPT=1 INTERVAL=2 TYPE=XOR SET_SIZE=2 GROUP=NODE STORE=%s/b", case_dir);
  set("CKPT=2 INTERVAL=1000 OUTPUT=1 TYPE=SINGLE STORE=%s/c", case_dir);
  set("CKPT=3 INTERVAL=4 ENABLED=0 STORE=%s/c", case_dir);
  OK(SCR_Init());
  for (i = 1; i <= 4; i++) {
    char name[8];
    snprintf(name, sizeof name, "ck%d", i);
    OK(put(name, 2, 1000));
  }
  OK(put_valid("out", SCR_FLAG_OUTPUT, 1, 100, 1));
  CHECK(cached_in("a") == (ID(1) | ID(3)), "a holds 0x%x", cached_in("a"));
  CHECK(cached_in("b") == ID(4), "b holds 0x%x", cached_in("b"));
  CHECK(cached_in("c") == ID(5), "c holds 0x%x", cached_in("c"));
  CHECK(count_in("b", ".xor") == (ranks > 1 ? ranks : 0), "%d parity files", count_in("b", ".xor"));
  CHECK(count_in("a", ".xor") == 0, "parity of SINGLE");
  CHECK(there("prefix/out"), "the output is not on the prefix");
  OK(SCR_Finalize());
  set("CKPT="); /* the stored descriptors count, not these */
  set("SCR_COPY_TYPE=SINGLE");
  run_gets("ck4", 2, 1000);
}

static unsigned long long store_bytes; /* that the cache of this case can hold */

static void visit_bytes(const char* path, const char* name, void* arg)
{
  struct stat st;

  (void)name;
  if (lstat(path, &st) == 0 && S_ISREG(st.st_mode) && strstr(path, "/scr.dataset.") != NULL)
    *(unsigned long long*)arg += (unsigned long long)st.st_size;
}

/* Bytes of all datasets in the cache. */
static unsigned long long bytes_now(void)
{
  char               path[700];
  unsigned long long n = 0;

  snprintf(path, sizeof path, "%s/cache", case_dir);
  walk(path, visit_bytes, &n);
  return n;
}

/* When what is deleted behind the application is gone, on all ranks. */
static unsigned long long used_bytes(void)
{
  removals_end();
  return bytes_now();
}

static unsigned long long free_bytes(void)
{
  unsigned long long used = bytes_now();

  return used < store_bytes ? store_bytes - used : 0;
}

static int small_statvfs(const char* path, struct statvfs* fs)
{
  (void)path;
  memset(fs, 0, sizeof *fs);
  fs->f_bsize = fs->f_frsize = 1;
  fs->f_blocks = store_bytes;
  fs->f_bfree = fs->f_bavail = free_bytes();
  return 0;
}

static int slow_on_rank_0(const char* path)
{
  (void)path;
  if (rank == 0) usleep(100000);
  return 0;
}

/* From now on the cache holds BYTES and no more, and rank 0 is the last one to delete anything. */
static void limit_store(unsigned long long bytes)
{
  store_bytes = bytes;
  test_statvfs = small_statvfs;
  fault_watch(FAULT_UNLINK, "", "", slow_on_rank_0);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void no_limit(void)
{
  MPI_Barrier(MPI_COMM_WORLD);
  test_statvfs = statvfs;
  fault_end();
}

/* Write checkpoint NAME as far as there is space, and say so; the code of Complete. */
static int put_what_fits(const char* name, size_t bytes)
{
  char               path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME];
  unsigned long long share;
  size_t             n = size_of(0, bytes);
  int                rc = SCR_Start_output(name, SCR_FLAG_CHECKPOINT);

  CHECK(rc == SCR_SUCCESS, "%s", SCR_Last_error());
  if (rc != SCR_SUCCESS) return rc;
  MPI_Barrier(MPI_COMM_WORLD);
  share = free_bytes() / (unsigned)ranks;
  MPI_Barrier(MPI_COMM_WORLD);
  name_of(name, 0, path);
  OK(SCR_Route_file(path, file));
  if (n > share) n = (size_t)share;
  CHECK(write_bytes(file, seed_of(name, rank, 0), n), "cannot write %s: %s", file, strerror(errno));
  return SCR_Complete_output(n == size_of(0, bytes));
}

/* What the cache holds while the run's last checkpoint is written, which fails: the ids as bits. */
static unsigned cached_in_last(void)
{
  unsigned ids;

  OK(SCR_Start_output("last", SCR_FLAG_CHECKPOINT));
  no_limit();
  ids = cached_in("cache");
  ALIKE(SCR_Complete_output(0), SCR_ERR_INVALID, "invalid");
  OK(SCR_Finalize());
  return ids;
}

/* On NODES nodes, the store takes one more checkpoint when one is deleted: the newest is not the second one to go. */
static void room_for_one_on(int nodes)
{
  unsigned long long one;
  unsigned           ids;

  begin();
  set("SCR_VIRTUAL_NODES=%d", nodes);
  set("SCR_COPY_TYPE=SINGLE");
  set("SCR_FLUSH=0");
  set("SCR_CACHE_SIZE=2");
  OK(SCR_Init());
  OK(put("ck1", 1, 9000));
  OK(put("ck2", 1, 9000));
  OK(SCR_Finalize());
  set("SCR_CACHE_SIZE=1");
  OK(SCR_Init());
  get("ck2", 1, 9000);
  one = used_bytes() / 2;
  limit_store(2 * one + one / 5);
  ids = cached_in_last();
  CHECK(!(ids & ID(1)), "the cache holds 0x%x, and nothing was deleted", ids);
  CHECK(ids & ID(2), "the cache holds 0x%x, without the newest", ids);
  run_gets("ck2", 1, 9000);
}

static void an_older_checkpoint_makes_room_not_the_newest(void)
{
  room_for_one_on(1);
  if (ranks > 1) room_for_one_on(ranks);
}

/* Rank 0 writes nearly all, and the store takes three checkpoints: the only one is not deleted for the next. */
static void the_only_checkpoint_is_not_deleted_for_the_next(void)
{
  size_t   bytes = rank == 0 ? 90000 : 1000;
  unsigned ids;

  begin();
  set("SCR_COPY_TYPE=SINGLE");
  set("SCR_FLUSH=0");
  OK(SCR_Init());
  OK(put("ck1", 1, bytes));
  limit_store(3 * used_bytes());
  ids = cached_in_last();
  CHECK(ids & ID(1), "the cache holds 0x%x, without the only one", ids);
  run_gets("ck1", 1, bytes);
}

/* begin() for checkpoints of one node, without redundancy, each FLUSH-th of which is flushed. */
static void begin_single(int flush)
{
  begin();
  set("SCR_VIRTUAL_NODES=");
  set("SCR_COPY_TYPE=SINGLE");
  set("SCR_FLUSH=%d", flush);
}

/* Checkpoints grow until the store does not hold two of them: what fails once is given room the next time. */
static void a_checkpoint_that_found_no_room_gets_it_the_next_time(void)
{
  const size_t small = 10000, large = 22000;
  char         name[32], last[32] = "";
  int          i, rc = SCR_SUCCESS, before;
  size_t       bytes = 0;

  begin_single(0);
  set("SCR_CACHE_SIZE=3");
  OK(SCR_Init());
  limit_store(4 * small * (unsigned)ranks);
  for (i = 1; i <= 8; i++) {
    before = rc;
    snprintf(name, sizeof name, "ck%d", i);
    rc = same_code(put_what_fits(name, i < 3 ? small : large));
    CHECK(rc == SCR_SUCCESS || before == SCR_SUCCESS, "%s fails like the one before: %s", name, SCR_Last_error());
    if (rc != SCR_SUCCESS) continue;
    memcpy(last, name, sizeof last);
    bytes = i < 3 ? small : large;
  }
  no_limit();
  OK(SCR_Finalize());
  run_gets(last, 1, bytes);
}

/* The store takes one checkpoint and a half: each is on the prefix before the next one takes its place. */
static void where_two_do_not_fit_the_old_one_is_flushed_first(void)
{
  char name[32];
  int  i;

  begin_single(0);
  OK(SCR_Init());
  OK(put("ck1", 1, 20000));
  limit_store(used_bytes() * 3 / 2);
  for (i = 2; i <= 4; i++) {
    snprintf(name, sizeof name, "ck%d", i);
    OK(SCR_Start_output(name, SCR_FLAG_CHECKPOINT));
    snprintf(name, sizeof name, "ck%d", i - 1);
    on_prefix(name, 1, 20000);
    CHECK(cached_in("cache") == ID(i), "the cache holds 0x%x", cached_in("cache"));
    ALIKE(SCR_Complete_output(0), SCR_ERR_INVALID, "invalid"); /* it gets lost: a restart finds the old one */
    OK(SCR_Finalize());
    no_limit();
    OK(SCR_Init());
    get(name, 1, 20000);
    snprintf(name, sizeof name, "ck%d", i);
    OK(put(name, 1, 20000));
    limit_store(used_bytes() * 3 / 2);
  }
  no_limit();
  OK(SCR_Finalize());
}

/* The prefix is full when room is wanted: the new dataset cannot start, and the old one stays. */
static void what_can_neither_stay_nor_be_flushed_stays(void)
{
  begin_single(0);
  OK(SCR_Init());
  OK(put("ck1", 1, 20000));
  limit_store(used_bytes() * 3 / 2);
  fault_on(FAULT_CREATE, "/prefix/", "/ck1/rank_", 1000);
  ALIKE(SCR_Start_output("ck2", SCR_FLAG_CHECKPOINT), SCR_ERR_SPACE, "copied to the prefix");
  ALIKE(SCR_Complete_output(1), SCR_ERR_SPACE, "copied to the prefix");
  CHECK(cached_in("cache") == ID(1), "the cache holds 0x%x", cached_in("cache"));
  no_limit();
  OK(SCR_Finalize());
  run_gets("ck1", 1, 20000);
}

/* The index has a checkpoint whose files others have removed: it is copied again, and not deleted before that. */
static void what_the_prefix_has_lost_is_copied_again(void)
{
  char   last[32];
  char*  lost[] = {"", "/.scr", "/rank_*", last};
  size_t i;

  for (i = 0; i < sizeof lost / sizeof *lost; i++) {
    begin_single(1);
    snprintf(last, sizeof last, "/rank_%d_*", ranks - 1);
    set("SCR_FLUSH=1");
    run_puts("ck1", 1, 20000);
    shell("rm -r prefix/ck1%s", lost[i]);
    OK(SCR_Init());
    shell("test -f prefix/ck1/.scr/summary.scr -a -f prefix/ck1/rank_%d_0", ranks - 1);
    shell("rm -r prefix/ck1%s", lost[i]);
    store_bytes = used_bytes() * 3 / 2;
    test_statvfs = small_statvfs;
    MPI_Barrier(MPI_COMM_WORLD);
    OK(SCR_Start_output("ck2", SCR_FLAG_CHECKPOINT));
    CHECK(!(cached_in("cache") & ID(1)), "the cache holds 0x%x", cached_in("cache"));
    CODE(SCR_Complete_output(0), SCR_ERR_INVALID, "");
    no_limit();
    OK(SCR_Finalize());
    run_fetches("ck1", 1, 20000);
    OK(SCR_Init());
    OK(put("ck2", 1, 20000));
    shell("rm -r prefix/ck2%s", lost[i]);
    OK(SCR_Finalize());
    run_fetches("ck2", 1, 20000);
  }
}

/* The user chooses a checkpoint of the cache whose files on the prefix others have removed: it is there again. */
static void a_choice_that_the_prefix_has_lost_is_copied_again(void)
{
  begin_single(1);
  set("SCR_CACHE_SIZE=2");
  OK(SCR_Init());
  OK(put("ck1", 1, 20000));
  OK(put("ck2", 1, 20000));
  shell("rm prefix/ck1/rank_%d_0", ranks - 1);
  OK(SCR_Current("ck1"));
  shell("test -f prefix/ck1/rank_%d_0", ranks - 1);
  OK(SCR_Finalize());
  run_fetches("ck1", 1, 20000);
}

/* No flush succeeds, and the store takes two checkpoints: the older one makes room for the next all the same. */
static void a_flush_that_fails_does_not_end_checkpoints_while_two_fit(void)
{
  char name[32];
  int  i;

  begin_single(1);
  fault_on(FAULT_CREATE, "/prefix/", "/rank_", 1000);
  OK(SCR_Init());
  ALIKE(put("ck1", 1, 20000), SCR_ERR_SPACE, "prefix");
  test_statvfs = small_statvfs;
  store_bytes = used_bytes() * 5 / 2;
  MPI_Barrier(MPI_COMM_WORLD);
  for (i = 2; i <= 5; i++) {
    snprintf(name, sizeof name, "ck%d", i);
    ALIKE(put_what_fits(name, 20000), SCR_ERR_SPACE, "prefix");
    CHECK(cached_in("cache") & ID(i), "the cache holds 0x%x", cached_in("cache"));
  }
  same_code(SCR_Finalize());
  no_limit();
  run_gets("ck5", 1, 20000);
}

/* No flush succeeds for a long time: of what waits for one, the cache has the newest, which SCR_Finalize flushes. */
static void checkpoints_that_wait_for_the_prefix_do_not_fill_the_cache(void)
{
  char name[32];
  int  i, async;

  for (async = 0; async < 2; async++) {
    during("%s", async ? "asynchronous" : "synchronous");
    begin();
    set("SCR_FLUSH=1");
    set("SCR_FLUSH_ASYNC=%d", async);
    fault_on(FAULT_CREATE, "/prefix/", "/rank_", 1000);
    OK(SCR_Init());
    for (i = 1; i <= 6; i++) {
      snprintf(name, sizeof name, "ck%d", i);
      if (async) OK(put(name, 1, 20000));
      else ALIKE(put(name, 1, 20000), SCR_ERR_SPACE, "prefix");
      same_code(SCR_Wait(NULL));
      CHECK((cached_in("cache") & ~(ID(i - 1) | ID(i))) == 0, "the cache holds 0x%x", cached_in("cache"));
      CHECK(cached_in("cache") & ID(i), "the cache holds 0x%x", cached_in("cache"));
    }
    fault_end();
    OK(SCR_Finalize());
    run_fetches("ck6", 1, 20000);
  }
}

/* Dropped checkpoints leave the cache like others. */
static void dropped_checkpoints_leave_the_cache(void)
{
  char name[32];
  int  i;

  begin();
  set("SCR_FLUSH=1");
  OK(SCR_Init());
  for (i = 1; i <= 4; i++) {
    snprintf(name, sizeof name, "ck%d", i);
    OK(put(name, 1, 1000));
    CHECK(cached_in("cache") == ID(i), "the cache holds 0x%x", cached_in("cache"));
    OK(SCR_Drop(name));
  }
  OK(SCR_Finalize());
}

/*
** The loaded checkpoint makes room for one that then cannot start: it is loaded again from the prefix, or refused with
** an error, but no call relies on it.
*/
static void a_loaded_checkpoint_that_made_room_is_loaded_again(void)
{
  char name[SCR_MAX_FILENAME] = "";
  int  flag = 0;

  begin_single(1);
  run_puts("ck1", 1, 20000);
  OK(SCR_Init());
  OK(SCR_Have_restart(&flag, name));
  store_bytes = used_bytes() * 3 / 2;
  test_statvfs = small_statvfs;
  MPI_Barrier(MPI_COMM_WORLD);
  fault_on(FAULT_CREATE, "/cntl/", "filemap", 1000);
  CHECK(same_code(SCR_Start_output("ck2", SCR_FLAG_CHECKPOINT)) != SCR_SUCCESS, "it starts");
  no_limit();
  CHECK(cached_in("cache") == 0, "the cache holds 0x%x", cached_in("cache"));
  get("ck1", 1, 20000);
  OK(SCR_Finalize());
}

/* The cache holds one: what the prefix has newer takes the place of what the cache has, once it is found to be good. */
static void a_newer_checkpoint_is_fetched_into_a_cache_for_one(void)
{
  begin_single(1);
  run_puts("ck1", 1, 20000);
  shell("cp -a cache cache1; cp -a cntl cntl1");
  run_puts("ck2", 1, 20000);
  shell("rm -rf cache/* cntl/*; cp -a cache1/* cache; cp -a cntl1/* cntl");
  store_bytes = used_bytes() * 3 / 2;
  MPI_Barrier(MPI_COMM_WORLD);
  test_statvfs = small_statvfs;
  OK(SCR_Init());
  get("ck2", 1, 20000);
  CHECK(cached_in("cache") == ID(2), "the cache holds 0x%x", cached_in("cache"));
  no_limit();
  OK(SCR_Finalize());
}

/* What each rank needs would fit, but not what all need: that is found out before a byte is copied. */
static void a_fetch_asks_for_the_space_of_all_ranks_that_share_a_store(void)
{
  int flag;

  begin_single(1);
  set("SCR_CACHE_BYPASS=0");
  run_puts("ck1", 1, 50000);
  lose_all_nodes();
  limit_store(80000);
  OK(SCR_Init());
  ALIKE(SCR_Have_restart(&flag, NULL), SCR_ERR_NO_RESTART, "share it need");
  CHECK(cached_in("cache") == 0, "the cache holds 0x%x", cached_in("cache"));
  no_limit();
  OK(SCR_Finalize());
  run_gets("ck1", 1, 50000);
}

static size_t deep_size(int i)
{
  return size_of(i, 500);
}

#define D10 "d/d/d/d/d/d/d/d/d/d/"

/* Files below eighty directories leave the cache, and so do the directories. */
static void deep_trees_leave_the_cache(void)
{
  static const shape s = {"deep", one_file, deep_size, D10 D10 D10 D10 D10 D10 D10 D10 "rank_%d_%d"};

  begin();
  set("SCR_FLUSH=0");
  OK(SCR_Init());
  OK(put_shape("ck1", SCR_FLAG_CHECKPOINT, &s, 1));
  OK(put("ck2", 1, 1000));
  CHECK(cached_in("cache") == ID(2), "the cache holds 0x%x", cached_in("cache"));
  shell("[ -z \"$(find cache -type d -name d)\" ]");
  OK(SCR_Finalize());
}

/* SCR_CACHE_KEEP=0: the old one goes without a copy. */
static void without_cache_keep_the_old_one_goes_first(void)
{
  begin_single(0);
  set("SCR_CACHE_KEEP=0");
  OK(SCR_Init());
  OK(put("ck1", 1, 20000));
  limit_store(used_bytes() * 3 / 2);
  OK(SCR_Start_output("ck2", SCR_FLAG_CHECKPOINT));
  CHECK(cached_in("cache") == ID(2) && !there("prefix/ck1"), "the cache holds 0x%x", cached_in("cache"));
  OK(SCR_Complete_output(1));
  no_limit();
  OK(SCR_Finalize());
}

/* A store for two and a half: nothing is flushed before its time. */
static void a_store_for_two_and_a_half_flushes_none_early(void)
{
  char name[32];
  int  i;

  begin_single(0);
  OK(SCR_Init());
  OK(put("ck1", 1, 20000));
  limit_store(used_bytes() * 5 / 2);
  for (i = 2; i <= 5; i++) {
    snprintf(name, sizeof name, "ck%d", i);
    OK(put_what_fits(name, 20000));
    CHECK(cached_in("cache") == ID(i), "the cache holds 0x%x", cached_in("cache"));
  }
  no_limit();
  OK(SCR_Finalize());
  CHECK(index_marks("DIR") <= 0, "something is on the prefix");
  run_gets("ck5", 1, 20000);
}

/*
** Checkpoints that grow beyond the store cost neither the small one that is whole, nor an output that waits for its
** flush.
*/
static void what_never_fits_costs_nothing(void)
{
  int i;

  begin_single(0);
  OK(SCR_Init());
  OK(put("ck1", 1, 5000));
  limit_store(used_bytes() * 10);
  for (i = 2; i <= 5; i++) {
    char name[32];
    snprintf(name, sizeof name, "ck%d", i);
    CHECK(same_code(put_what_fits(name, 100000)) != SCR_SUCCESS, "%s is complete", name);
  }
  no_limit();
  OK(SCR_Finalize());
  run_gets("ck1", 1, 5000);
}

static size_t of_3000(int i)
{
  return size_of(i, 3000);
}

static const shape one_of_3000 = {"one file", one_file, of_3000, NULL};

static char   changed[SCR_MAX_FILENAME]; /* what change() changes, once, by a byte at */
static size_t changed_at;

static int change(const char* path)
{
  int fd;

  (void)path;
  if (*changed == '\0') return 0;
  fd = open(changed, O_WRONLY);
  CHECK(fd >= 0 && pwrite(fd, "x", 1, (off_t)changed_at) == 1, "%s: %s", changed, strerror(errno));
  close(fd);
  changed[0] = '\0';
  return 0;
}

/* Another process, or a thread, still writes to a file while it is protected: the message names it, and ck1 stays. */
static void a_file_that_changes_while_it_is_protected_fails_its_checkpoint(void)
{
  int later;

  for (later = 0; later < 2; later++) {
    during("%s", later ? "its size stays" : "it grows");
    begin();
    set("SCR_CACHE_SIZE=1");
    set("SCR_FLUSH=0");
    OK(SCR_Init());
    OK(put("ck1", 1, 3000));
    OK(open_shape("ck2", SCR_FLAG_CHECKPOINT, &one_of_3000));
    path_of("ck2", &one_of_3000, 0, changed);
    OK(SCR_Route_file(changed, changed));
    changed_at = later ? 7 : size_of(0, 3000);
    if (rank != 1) changed[0] = '\0';
    usleep(20000); /* its time tells no less than 10 ms */
    fault_watch(FAULT_CLOSE, "/cache/", ".xor", change);
    ALIKE(SCR_Complete_output(1), later ? SCR_ERR_CRC : SCR_ERR_MISSING, "ck2/rank_1_0");
    CHECK(strstr(SCR_Last_error(), "still open") != NULL && *changed == '\0', "%s", SCR_Last_error());
    fault_end();
    CHECK(cached_in("cache") == ID(1), "the cache holds 0x%x", cached_in("cache"));
    OK(SCR_Finalize());
    run_gets("ck1", 1, 3000);
  }
}

/* There is no room for three: ck1 would go, but ck2 is not what it was. */
static void a_checkpoint_that_has_changed_costs_no_older_one(void)
{
  char text[2000];

  begin_single(0);
  set("SCR_CACHE_SIZE=2");
  set("SCR_CACHE_BYPASS=0");
  OK(SCR_Init());
  OK(put("ck1", 1, 9000));
  OK(put("ck2", 1, 9000));
  OK(SCR_Start_output("ck3", SCR_FLAG_CHECKPOINT));
  ALIKE(SCR_Complete_output(0), SCR_ERR_INVALID, "invalid");
  snprintf(changed, sizeof changed, "%s/cache", case_dir);
  if (rank != 1 || !find_file(changed, "ck2/rank_1_0", 0, changed)) changed[0] = '\0';
  CHECK(rank != 1 || *changed != '\0', "ck2 is not there");
  changed_at = 100000;
  change("");
  limit_store(used_bytes() * 5 / 4);
  hear();
  ALIKE(SCR_Start_output("ck3", SCR_FLAG_CHECKPOINT), SCR_ERR_SPACE, "ck2");
  ALIKE(SCR_Complete_output(1), SCR_ERR_SPACE, "ck2");
  heard(text, sizeof text);
  CHECK(rank != 0 || times(text, "files of dataset 2 ck2 have changed since it was completed") == 1, "%s", text);
  CHECK(cached_in("cache") == (ID(1) | ID(2)), "the cache holds 0x%x", cached_in("cache"));
  no_limit();
  OK(SCR_Finalize());
}

#define ANY "2 | 1 4 5", "9"
#define FEW "2 | 4", ""

const test_case cache_cases[] = {CASE(the_cache_keeps_the_newest_checkpoints, "1 2 4 5", "9"),
                                 CASE(the_oldest_checkpoint_is_deleted_behind_the_application, "4 | 2", ""),
                                 CASE(a_run_dies_while_the_oldest_checkpoint_is_deleted, FEW),
                                 CASE(descriptors_apply_by_interval_and_to_output, ANY),
                                 CASE(an_older_checkpoint_makes_room_not_the_newest, FEW),
                                 CASE(the_only_checkpoint_is_not_deleted_for_the_next, FEW),
                                 CASE(a_checkpoint_that_found_no_room_gets_it_the_next_time, FEW),
                                 CASE(where_two_do_not_fit_the_old_one_is_flushed_first, FEW),
                                 CASE(what_can_neither_stay_nor_be_flushed_stays, FEW),
                                 CASE(what_the_prefix_has_lost_is_copied_again, "4 | 1"),
                                 CASE(a_choice_that_the_prefix_has_lost_is_copied_again, "4 | 1"),
                                 CASE(a_flush_that_fails_does_not_end_checkpoints_while_two_fit, FEW),
                                 CASE(checkpoints_that_wait_for_the_prefix_do_not_fill_the_cache, FEW),
                                 CASE(dropped_checkpoints_leave_the_cache, FEW),
                                 CASE(a_loaded_checkpoint_that_made_room_is_loaded_again, FEW),
                                 CASE(a_newer_checkpoint_is_fetched_into_a_cache_for_one, FEW),
                                 CASE(a_fetch_asks_for_the_space_of_all_ranks_that_share_a_store, "2 | 4", ""),
                                 CASE(deep_trees_leave_the_cache, FEW),
                                 CASE(without_cache_keep_the_old_one_goes_first, FEW),
                                 CASE(a_store_for_two_and_a_half_flushes_none_early, FEW),
                                 CASE(what_never_fits_costs_nothing, FEW),
                                 CASE(a_file_that_changes_while_it_is_protected_fails_its_checkpoint, "4"),
                                 CASE(a_checkpoint_that_has_changed_costs_no_older_one, "4"),
                                 CASES_END};
