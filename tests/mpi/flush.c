/*
** flush.c - from the cache to the prefix, and back: which files are where, under which names; and damage or a lack of
** space that is found on the way.
*/
#include "mpi_test.h"

#include <pthread.h>

static size_t two_thousand(int i)
{
  return size_of(i, 2000);
}

/* ---- what is copied -------------------------------------------------------------------------------------------- */

static void the_prefix_gives_back_what_was_flushed_and_is_whole(void)
{
  int flag;

  begin();
  set("SCR_FLUSH=2");
  set("SCR_FLUSH_WIDTH=1");
  set("SCR_FETCH_WIDTH=1");
  OK(SCR_Init());
  OK(put("ck1", 1, 1000));
  CHECK(!there("prefix/ck1"), "ck1 is flushed");
  OK(put("ck2", 2, 70000));
  CHECK(there("prefix/ck2/rank_0_0") && there("prefix/.scr/index.scr"), "ck2 is not flushed");
  OK(put("ck3", 1, 1000));
  CHECK(!there("prefix/ck3"), "ck3 is flushed");
  OK(SCR_Finalize());
  CHECK(there("prefix/ck3/rank_0_0"), "SCR_Finalize did not flush the newest");
  lose_all_nodes();
  run_gets("ck3", 1, 1000);
  shell("rm -rf cache/* cntl/* prefix/ck3/rank_%d_0", ranks - 1);
  run_gets("ck2", 2, 70000); /* the newest is damaged: an older one */
  shell("rm -rf cache/* cntl/*; printf x >> prefix/ck2/rank_0_1");
  OK(SCR_Init());
  CODE(SCR_Have_restart(&flag, NULL), SCR_ERR_NO_RESTART, "SCR_FRESH_START");
  OK(SCR_Finalize());
  set("SCR_FETCH=0"); /* the prefix does not count */
  OK(SCR_Init());
  get(NULL, 0, 0);
  OK(put("ck5", 1, 10));
  OK(SCR_Finalize());
}

static void without_distribute_or_after_a_purge_only_the_prefix_counts(void)
{
  begin();
  set("SCR_FLUSH=1");
  set("SCR_CACHE_SIZE=3");
  OK(SCR_Init());
  OK(put("ck1", 1, 1000));
  OK(put("ck2", 1, 1000));
  OK(SCR_Finalize());
  set("SCR_DISTRIBUTE=0");
  OK(SCR_Init());
  CHECK(cached_in("cache") == ID(2), "the cache holds 0x%x, not the fetched checkpoint alone", cached_in("cache"));
  get("ck2", 1, 1000);
  OK(SCR_Finalize());
  set("SCR_DISTRIBUTE=1");
  set("SCR_FETCH=0");
  set("SCR_CACHE_PURGE=1");
  OK(SCR_Init());
  CHECK(cached_in("cache") == 0, "0x%x", cached_in("cache"));
  get(NULL, 0, 0);
  OK(SCR_Finalize());
  set("SCR_FETCH=1");
  run_gets("ck2", 1, 1000);
}

/* What is rebuilt in the cache is copied to the prefix in SCR_Init. */
static void what_was_not_flushed_is_flushed_on_restart_when_asked(void)
{
  begin();
  set("SCR_FLUSH=0");
  run_puts("ck1", 1, 1000);
  CHECK(!there("prefix/ck1"), "flushed although SCR_FLUSH is 0");
  set("SCR_FLUSH_ON_RESTART=1");
  OK(SCR_Init());
  CHECK(there("prefix/ck1/rank_0_0"), "not flushed in SCR_Init");
  get("ck1", 1, 1000);
  OK(SCR_Finalize());
}

static struct {
  pthread_mutex_t lock;
  pthread_t       seen[8];
  int             n;
} copiers = {PTHREAD_MUTEX_INITIALIZER, {0}, 0};

/* Note which thread makes a file, and take some time, so that others get theirs. */
static int watch_copy(const char* path)
{
  int i;

  pthread_mutex_lock(&copiers.lock);
  for (i = 0; i < copiers.n && !pthread_equal(copiers.seen[i], pthread_self()); i++) continue;
  if (i == copiers.n && i < 8) copiers.seen[copiers.n++] = pthread_self();
  pthread_mutex_unlock(&copiers.lock);
  usleep(2000);
  return strstr(path, "rank_0_7") != NULL && strstr(path, "broken") != NULL ? ENOSPC : 0;
}

/* Watch who makes files with PART in their path. */
static void watch_copies(const char* part)
{
  copiers.n = 0;
  fault_watch(FAULT_CREATE, "", part, watch_copy);
}

/* With TYPE, several threads of a rank copy its files, or one, and the bytes are the same. */
static void threads_of(const char* type, int least, int most)
{
  begin();
  set("STORE=%s/cache TYPE=%s", case_dir, type);
  set("SCR_FLUSH=1");
  OK(SCR_Init());
  watch_copies("prefix/ck1/");
  OK(put("ck1", 12, 3000));
  CHECK(copiers.n >= least && copiers.n <= most, "TYPE=%s: %d threads have copied to the prefix", type, copiers.n);
  watch_copies("prefix/broken/");
  CODE(put("broken", 12, 3000), SCR_ERR_SPACE, "rank_0_7"); /* what a thread found out is told */
  removals_end();
  fault_end();
  OK(SCR_Finalize());
  OK(SCR_Init());
  OK(SCR_Delete("broken"));
  OK(SCR_Finalize());
  lose_all_nodes();
  watch_copies("/ck1/");
  OK(SCR_Init());
  CHECK(copiers.n >= least && copiers.n <= most, "TYPE=%s: %d threads have copied from the prefix", type, copiers.n);
  fault_end();
  get("ck1", 12, 3000);
  OK(SCR_Finalize());
  shell("rm -rf prefix/* prefix/.scr");
  lose_all_nodes();
}

static void several_threads_copy_only_under_pthread(void)
{
  threads_of("SYNC", 1, 1);
  threads_of("PTHREAD", 2, library_threads);
}

/* ---- where files lie ------------------------------------------------------------------------------------------- */

/* The same file names at each checkpoint: each flush replaces the one before, and leaves one good dataset. */
static void a_flush_replaces_files_of_the_same_names(void)
{
  char path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME], name[40], old[SCR_MAX_FILENAME];
  int  i, flag;

  begin();
  set("SCR_FLUSH=1");
  for (i = 1; i <= 4; i++) {
    OK(SCR_Init());
    snprintf(name, sizeof name, "step%d", i);
    OK(SCR_Start_output(name, SCR_FLAG_CHECKPOINT));
    snprintf(path, sizeof path, "%s/state/rank_%d", case_prefix, rank);
    OK(SCR_Route_file(path, file));
    CHECK(write_bytes(file, (unsigned)i, 1000 * (size_t)(5 - i)), "%s", file);
    OK(SCR_Complete_output(1));
    CHECK(same_bytes(path, (unsigned)i, 1000 * (size_t)(5 - i)), "%s on the prefix", path);
    CHECK(count_in("prefix", ".tmp") == 0, "temporary files are left");
    OK(SCR_Finalize());
    set("SCR_DISTRIBUTE=0");
    OK(SCR_Init());
    OK(SCR_Have_restart(&flag, old));
    CHECK(flag == 1 && strcmp(old, name) == 0, "%d %s", flag, old);
    if (flag) {
      OK(SCR_Route_file(path, file));
      CHECK(strcmp(path, file) != 0 && same_bytes(file, (unsigned)i, 1000 * (size_t)(5 - i)), "%s", file);
    }
    if (i > 1) {
      snprintf(old, sizeof old, "step%d", i - 1);
      CODE(SCR_Drop(old), SCR_ERR_NOT_FOUND, old);
    }
    OK(SCR_Finalize());
    set("SCR_DISTRIBUTE=");
  }
}

/* Checkpoints whose files share one directory, without replacing each other. */
static void checkpoints_share_a_directory_without_loss(void)
{
  char path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME], name[40];
  int  i;

  begin();
  set("SCR_FLUSH=1");
  OK(SCR_Init());
  for (i = 1; i <= 3; i++) {
    snprintf(name, sizeof name, "step%d", i);
    OK(SCR_Start_output(name, SCR_FLAG_CHECKPOINT));
    snprintf(path, sizeof path, "%s/ckpt/step%d_%d", case_prefix, i, rank);
    OK(SCR_Route_file(path, file));
    CHECK(write_bytes(file, (unsigned)i, 500), "%s", file);
    OK(SCR_Complete_output(1));
  }
  OK(SCR_Finalize());
  for (i = 3; i >= 1; i--) {
    set("SCR_DISTRIBUTE=0");
    OK(SCR_Init());
    snprintf(path, sizeof path, "%s/ckpt/step%d_%d", case_prefix, i, rank);
    OK(SCR_Route_file(path, file));
    CHECK(strcmp(path, file) != 0 && same_bytes(file, (unsigned)i, 500), "step%d at %s", i, file);
    snprintf(name, sizeof name, "step%d", i);
    OK(SCR_Delete(name));
    CHECK(access(path, F_OK) != 0, "%s is still there", path);
    OK(SCR_Finalize());
  }
}

/* The application uses the directory that another dataset would get: the metadata go elsewhere. */
static void metadata_go_elsewhere_when_their_directory_is_taken(void)
{
  char path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME];
  int  keep;

  for (keep = 0; keep < 2; keep++) {
    during("SCR_PRESERVE_DIRECTORIES=%d", keep);
    begin();
    set("SCR_FLUSH=1");
    OK(SCR_Init());
    OK(put("scr.dataset.2", 2, 1000)); /* its id is 1 */
    OK(SCR_Finalize());
    set("SCR_PRESERVE_DIRECTORIES=%d", keep);
    OK(SCR_Init());
    OK(SCR_Start_output("second", SCR_FLAG_CHECKPOINT));
    snprintf(path, sizeof path, "%s/second_%d", case_prefix, rank); /* no directory of its own */
    OK(SCR_Route_file(path, file));
    CHECK(write_bytes(file, 7, 500), "%s", file);
    OK(SCR_Complete_output(1));
    OK(SCR_Finalize());
    CHECK(there("prefix/scr.dataset.2.1/.scr/summary.scr"), "where is the summary of the second");
    set("SCR_DISTRIBUTE=0");
    OK(SCR_Init());
    OK(SCR_Route_file(path, file));
    CHECK(strcmp(path, file) != 0 && same_bytes(file, 7, 500), "the second at %s", file);
    OK(SCR_Current("scr.dataset.2"));
    get("scr.dataset.2", 2, 1000);
    OK(SCR_Delete("second"));
    OK(SCR_Finalize());
    CHECK(!there("prefix/scr.dataset.2.1") && there("prefix/scr.dataset.2/.scr/summary.scr"), "after SCR_Delete");
  }
}

static void without_preserve_directories_files_lie_in_that_of_the_dataset(void)
{
  int run;

  begin();
  set("SCR_FLUSH=1");
  set("SCR_PRESERVE_DIRECTORIES=0");
  run_puts("ck1", 2, 1000);
  CHECK(there("prefix/scr.dataset.1/ck1/rank_0_0"), "the file is not in scr.dataset.1");
  CHECK(!there("prefix/ck1"), "the file is where it was named");
  for (run = 0; run < 2; run++) {
    set("SCR_DISTRIBUTE=%d", run);
    run_gets("ck1", 2, 1000);
  }
}

/* The flush file says where checkpoint NAME is on the prefix, in DIR, and that it is in the cache as well. */
static void flush_file_says(const char* name, const char* dir)
{
  char path[800], below[SCR_MAX_FILENAME], rel[800];

  snprintf(path, sizeof path, "%s/.scr/flush.scr", case_prefix);
  snprintf(rel, sizeof rel, "prefix/%s/.scr/summary.scr", dir);
  CHECK(there(rel), "there is no %s", rel);
  if (rank == 0) CHECK(record_find(path, "NAME", below) == 1 && strcmp(below, name) == 0, "NAME is %s", below);
  if (rank == 0) CHECK(record_find(path, "DIR", below) == 1 && strcmp(below, dir) == 0, "DIR is %s", below);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* Where the directory of a dataset is taken, its number is not enough to tell it. */
static void the_flush_file_has_the_right_directory_after_a_restart(void)
{
  static const shape apart = {"no common directory", one_file, two_thousand, "of_%d/second_%d"};
  int                keep, taken, run;

  for (keep = 0; keep < 2; keep++)
    for (taken = 0; taken < 2; taken++) {
      const char* dir = taken ? "scr.dataset.2.1" : "scr.dataset.2";
      during("SCR_PRESERVE_DIRECTORIES=%d, directory %s", keep, dir);
      begin();
      set("SCR_FLUSH=1");
      OK(SCR_Init());
      OK(put(taken ? "scr.dataset.2" : "first", 1, 1000));
      OK(SCR_Finalize());
      set("SCR_PRESERVE_DIRECTORIES=%d", keep);
      OK(SCR_Init());
      OK(put_shape("second", SCR_FLAG_CHECKPOINT, &apart, 1));
      flush_file_says("second", dir);
      run_dies();
      for (run = 0; run < 3; run++) { /* from the cache, then fetched, and again from the cache */
        if (run == 1) lose_all_nodes();
        OK(SCR_Init());
        flush_file_says("second", dir);
        get_shape("second", &apart);
        OK(SCR_Finalize());
        flush_file_says("second", dir);
      }
    }
}

/* Two files of a rank have the same relative name in different directories: each is found from its own. */
static void a_relative_name_counts_from_the_directory_at_the_call(void)
{
  char cwd[SCR_MAX_FILENAME], dir[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME];
  int  run, i;

  begin();
  set("SCR_FLUSH=1");
  CHECK(getcwd(cwd, sizeof cwd) != NULL, "%s", strerror(errno));
  for (run = 0; run < 2; run++) {
    OK(SCR_Init());
    if (run == 0) OK(SCR_Start_output("ck", SCR_FLAG_CHECKPOINT));
    for (i = 0; i < 2; i++) {
      snprintf(dir, sizeof dir, "%s/%c%d", case_prefix, 'a' + i, rank);
      make_dir(dir);
      CHECK(chdir(dir) == 0, "%s: %s", dir, strerror(errno));
      OK(SCR_Route_file("state", file));
      if (run == 0) CHECK(write_bytes(file, (unsigned)i, 100), "%s: %s", file, strerror(errno));
      else CHECK(same_bytes(file, (unsigned)i, 100), "in %s, state is %s", dir, file);
    }
    if (run == 0) OK(SCR_Complete_output(1));
    OK(SCR_Finalize());
  }
  CHECK(chdir(cwd) == 0, "%s", strerror(errno));
}

/* A second name of the locks and the status, as a copy of a prefix by links gives them, hinders no run. */
static void a_copy_of_the_prefix_by_links_hinders_nothing(void)
{
  begin();
  set("SCR_FLUSH=1");
  OK(SCR_Init());
  put("ck1", 1, 1000);
  shell("cp -al prefix copy; ! $TEST_HALT --immediate copy 2> told && grep -q 'run.lock has a second name' told");
  put("ck2", 1, 1000);
  OK(SCR_Finalize());
  shell("$TEST_INDEX --prefix copy --list | grep -q ck1 && ! $TEST_INDEX --prefix copy --list | grep ck2");
  shell("cp -al prefix another");
  OK(SCR_Init());
  get("ck2", 1, 1000);
  put("ck3", 1, 1000);
  OK(SCR_Finalize());
  lose_all_nodes();
  run_gets("ck3", 1, 1000);
  shell("test $(stat -c %%h prefix/.scr/run.lock) = 1 && $TEST_STATUS copy | grep -q ck1");
  shell("$TEST_STATUS prefix | grep -q ck3");
}

/* A prefix that was moved away tells nothing of its datasets: no call has deleted what is there when it comes back. */
static void a_prefix_that_is_away_is_not_an_empty_one(void)
{
  begin();
  set("SCR_FLUSH=1");
  set("SCR_CACHE_SIZE=3");
  OK(SCR_Init());
  put("ck1", 1, 1000);
  put("ck2", 1, 1000);
  shell("mv prefix aside");
  ALIKE(SCR_Delete("ck2"), SCR_ERR_IO, "cannot look at");
  ALIKE(SCR_Drop("ck2"), SCR_ERR_IO, "cannot look at");
  ALIKE(SCR_Current("ck1"), SCR_ERR_IO, "cannot look at");
  shell("mv aside prefix");
  OK(SCR_Delete("ck2"));
  OK(SCR_Finalize());
  run_gets("ck1", 1, 1000);
}

/* An index of a backup is older than the rest of the prefix: what it lacks is named, and the remedy helps. */
static void what_an_older_index_lacks_is_named(void)
{
  char text[8192];
  int  run;

  begin();
  set("SCR_FLUSH=1");
  run_puts("ck1", 1, 1000);
  shell("cp prefix/.scr/index.scr kept");
  run_puts("ck2", 1, 1000);
  shell("mv kept prefix/.scr/index.scr");
  lose_all_nodes();
  for (run = 0; run < 2; run++) {
    OK(same_code(init_says(text, sizeof text)));
    CHECK(rank > 0 || strstr(text, "ck2 (dataset 2) was flushed to") != NULL, "run %d: %s", run, text);
    get("ck1", 1, 1000);
    OK(SCR_Finalize());
    lose_all_nodes();
  }
  shell("$TEST_INDEX --prefix prefix --add ck2");
  run_gets("ck2", 1, 1000);
}

/* A directory lies where a file goes: the flush fails before it begins to replace anything, until it is gone. */
static void a_directory_in_place_of_a_file_fails_the_flush_at_once(void)
{
  begin();
  set("SCR_FLUSH=1");
  OK(SCR_Init());
  shell("mkdir -p prefix/ck1/rank_0_0/x");
  CHECK(same_code(put("ck1", 1, 1000)) != SCR_SUCCESS, "a directory is a file");
  CHECK(index_marks("REDO") == 0, "the flush was committed");
  CHECK(count_in("prefix", ".tmp") == 0, "temporary files are left");
  shell("rm -r prefix/ck1/rank_0_0");
  OK(SCR_Finalize());
  run_fetches("ck1", 1, 1000);
}

/* One rank has the file x, another one x/y: the caches can hold both, but no prefix can, and the flush says so. */
static void a_file_that_is_a_directory_on_another_rank_fails_the_flush(void)
{
  char path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME];
  int  rc;

  begin();
  set("SCR_CACHE_SIZE=3");
  set("SCR_FLUSH=1");
  OK(SCR_Init());
  OK(put("ck1", 1, 1000));
  OK(SCR_Start_output("ck2", SCR_FLAG_CHECKPOINT));
  if (rank == 0) snprintf(path, sizeof path, "%s/ck2/x", case_prefix);
  else if (rank == 1) snprintf(path, sizeof path, "%s/ck2/x/y", case_prefix);
  else name_of("ck2", 0, path);
  OK(SCR_Route_file(path, file));
  CHECK(write_bytes(file, 1, 100), "%s: %s", file, strerror(errno));
  rc = same_code(SCR_Complete_output(1));
  CHECK(rc != SCR_SUCCESS && strstr(SCR_Last_error(), "ck2/x") != NULL, "%d: %s", rc, rc ? SCR_Last_error() : "");
  OK(put("ck3", 1, 1000));
  CHECK(same_code(SCR_Finalize()) == rc, "%s", SCR_Last_error());
  run_fetches("ck3", 1, 1000);
}

/* File I of this rank has a name of so many bytes. */
static void long_name(int i, char* path)
{
  static const int bytes[] = {245, 246, 250, 255};
  int              n = snprintf(path, SCR_MAX_FILENAME, "%s/long/%d_", case_prefix, rank), end = n - 2 + bytes[i];

  if (rank > 9) end--;
  while (n < end) path[n++] = 'n';
  path[n] = '\0';
}

/* Files whose names leave no room for a suffix; also when a failure leaves them under their temporary names. */
static void names_without_room_for_a_suffix_are_flushed(void)
{
  char path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME];
  int  fail, i, run;

  begin();
  set("SCR_FLUSH=1");
  set("SCR_CACHE_SIZE=3");
  for (fail = 0; fail < 2; fail++) {
    OK(SCR_Init());
    OK(SCR_Start_output("long", SCR_FLAG_CHECKPOINT));
    for (i = 0; i < 4; i++) {
      long_name(i, path);
      OK(SCR_Route_file(path, file));
      CHECK(write_bytes(file, (unsigned)(rank * 8 + i + fail), 500), "%s: %s", file, strerror(errno));
    }
    if (fail) fault_on(FAULT_RENAME, "/prefix/", "nnn", INT_MAX);
    ALIKE(SCR_Complete_output(1), fail ? SCR_ERR_IO : SCR_SUCCESS, "rename");
    ALIKE(SCR_Finalize(), fail ? SCR_ERR_IO : SCR_SUCCESS, "rename");
    fault_end();
    CHECK(count_in("prefix", ".tmp") == (fail ? 4 * ranks : 0), "%d temporary files", count_in("prefix", ".tmp"));
    set("SCR_DISTRIBUTE=0");
    for (run = 0; run < 2; run++) {
      OK(SCR_Init());
      for (i = 0; i < 4; i++) {
        long_name(i, path);
        OK(SCR_Route_file(path, file));
        CHECK(strcmp(path, file) != 0 && same_bytes(file, (unsigned)(rank * 8 + i + fail), 500), "%s", file);
      }
      OK(SCR_Finalize());
    }
    CHECK(count_in("prefix", ".tmp") == 0, "%d temporary files are left", count_in("prefix", ".tmp"));
    set("SCR_DISTRIBUTE=");
  }
}

/* They are taken out of their containers, too, where a restart reads in place. */
static void names_without_room_for_a_suffix_are_read_in_place(void)
{
  char path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME];
  int  have, i;

  begin();
  set("SCR_FLUSH=1");
  set("SCR_USE_CONTAINERS=1");
  OK(SCR_Init());
  OK(SCR_Start_output("long", SCR_FLAG_CHECKPOINT));
  for (i = 0; i < 4; i++) {
    long_name(i, path);
    OK(SCR_Route_file(path, file));
    CHECK(write_bytes(file, (unsigned)(rank * 8 + i), 500), "%s: %s", file, strerror(errno));
  }
  OK(SCR_Complete_output(1));
  OK(SCR_Finalize());
  set("SCR_DISTRIBUTE=0");
  set("SCR_FETCH_BYPASS=1");
  OK(SCR_Init());
  OK(SCR_Have_restart(&have, NULL));
  CHECK(have, "there is no checkpoint");
  OK(SCR_Start_restart(NULL));
  for (i = 0; i < 4; i++) {
    long_name(i, path);
    OK(SCR_Route_file(path, file));
    CHECK(same_bytes(file, (unsigned)(rank * 8 + i), 500), "%s", file);
  }
  OK(SCR_Complete_restart(1));
  OK(SCR_Finalize());
}

/* ---- a flush fails --------------------------------------------------------------------------------------------- */

/* The flush of ck2 never succeeds, which does not keep that of ck3 from being tried. */
static void a_flush_that_always_fails_does_not_keep_back_the_next(void)
{
  begin();
  set("SCR_FLUSH=2");
  set("SCR_CACHE_SIZE=5");
  OK(SCR_Init());
  OK(put("ck1", 1, 1000));
  fault_on(FAULT_CREATE, "/prefix/", "/ck2/rank_", INT_MAX);
  ALIKE(put("ck2", 1, 1000), SCR_ERR_SPACE, "ck2");
  OK(put("ck3", 1, 1000));
  ALIKE(SCR_Finalize(), SCR_ERR_SPACE, "ck2");
  fault_end();
  on_prefix("ck3", 1, 1000);
  run_fetches("ck3", 1, 1000);
}

/* Checkpoints go to the prefix only when they are output, too: what Complete fails to flush, Finalize does. */
static void finalize_flushes_output_that_complete_could_not(void)
{
  begin();
  set("SCR_FLUSH=0");
  OK(SCR_Init());
  fault_on(FAULT_CREATE, "/prefix/", "/ck1/rank_", 1);
  ALIKE(put_valid("ck1", SCR_FLAG_CHECKPOINT | SCR_FLAG_OUTPUT, 1, 1000, 1), SCR_ERR_SPACE, "rank_");
  fault_end();
  OK(SCR_Finalize());
  on_prefix("ck1", 1, 1000);
  run_fetches("ck1", 1, 1000);
}

/* ---- damage ---------------------------------------------------------------------------------------------------- */

static const char* flip_name; /* the checkpoint whose cached file is still to be damaged; NULL: it is */

static int flip_once(const char* path)
{
  (void)path;
  if (flip_name != NULL) flip_cached(flip_name);
  flip_name = NULL;
  return 0;
}

/* On rank 0, checkpoint NAME is damaged in the cache when its flush begins to copy. */
static void damage_in_flush(const char* name)
{
  flip_name = rank == 0 ? name : NULL;
  fault_watch(FAULT_CREATE, "/prefix/", "/rank_0_0", flip_once);
}

/* On rank 0, checkpoint NAME is damaged in the cache as soon as it has been fetched. */
static void damage_in_fetch(const char* name)
{
  flip_name = rank == 0 ? name : NULL;
  fault_watch(FAULT_CLOSE, "/cache/", "/rank_0_0", flip_once);
}

/* A bit flips between the fetch and the redundancy data: nobody gets to see it, and the prefix is not blamed. */
static void a_bit_that_flips_after_a_fetch_is_found_and_the_prefix_not_blamed(void)
{
  char name[SCR_MAX_FILENAME];
  int  flag = 0;

  begin();
  set("SCR_FLUSH=1");
  run_puts("ck1", 1, 1000);
  lose_all_nodes();
  damage_in_fetch("ck1");
  OK(SCR_Init());
  CHECK(flip_name == NULL, "nothing was damaged");
  fault_end();
  SCR_Have_restart(&flag, name);
  if (flag) get("ck1", 1, 1000);
  OK(SCR_Finalize());
  CHECK(index_marks("FAILED") == 0, "ck1 is said to be bad");
  run_gets("ck1", 1, 1000);
}

/* The flush finds that ck2 is damaged, and nothing can mend it: ck1 is still in the cache. */
static void a_flush_that_finds_damage_keeps_the_last_good_checkpoint(void)
{
  begin();
  set("SCR_FLUSH=2");
  set("SCR_CACHE_SIZE=1");
  set("SCR_COPY_TYPE=SINGLE");
  OK(SCR_Init());
  OK(put("ck1", 1, 1000));
  damage_in_flush("ck2");
  CHECK(same_code(put("ck2", 1, 1000)) != SCR_SUCCESS, "ck2 is flushed");
  CHECK(flip_name == NULL, "nothing was damaged");
  fault_end();
  CHECK(cached_in("cache") & ID(1), "the cache holds 0x%x, without the last good one", cached_in("cache"));
  run_dies();
  run_gets("ck1", 1, 1000);
}

/* The flush finds that ck2 is damaged, and rebuilds it. */
static void a_flush_that_finds_damage_rebuilds(void)
{
  begin();
  set("SCR_FLUSH=2");
  OK(SCR_Init());
  OK(put("ck1", 1, 1000));
  damage_in_flush("ck2");
  OK(put("ck2", 1, 1000));
  CHECK(flip_name == NULL, "nothing was damaged");
  fault_end();
  on_prefix("ck2", 1, 1000);
  OK(SCR_Finalize());
  run_gets("ck2", 1, 1000);
  run_fetches("ck2", 1, 1000);
}

/* The program went on writing: this is said by the rank whose file it is, when a flush or a restart looks at it. */
static void a_file_that_grew_or_shrank_is_said_to_have_changed_after_complete(void)
{
  static const char* const changes[] = {"printf more >>", "truncate -s 400"};
  char                     text[8000];
  int                      i, restart, owner = ranks - 1;

  for (restart = 0; restart < 2; restart++)
    for (i = 0; i < 2; i++) {
      during("%s, found by %s", changes[i], restart ? "SCR_Init" : "SCR_Finalize");
      begin();
      set("SCR_COPY_TYPE=SINGLE");
      set("SCR_FLUSH=%d", restart ? 0 : 10);
      OK(SCR_Init());
      OK(put("ck1", 1, 1000));
      shell("%s $(find cache -path '*/ck1/rank_%d_0')", changes[i], owner);
      if (restart) OK(SCR_Finalize());
      hear();
      if (restart) OK(SCR_Init());
      CHECK(same_code(SCR_Finalize()) == SCR_SUCCESS || !restart, "%s", SCR_Last_error());
      heard(text, sizeof text);
      if (rank != owner) continue;
      CHECK(times(text, "changed after SCR_Complete_output; was it still open?") == 1, "%s", text);
      CHECK(strstr(text, "/ck1/rank_") != NULL, "%s", text);
    }
}

/* The summary is of another flush than the map: neither is trusted. */
static void a_fetch_compares_the_map_with_files_and_bytes_of_the_summary(void)
{
  static const char* const keys[] = {"FILES", "SIZE"};
  char                     path[800], says[200];
  int                      i, flag, total = 0, mine = (int)size_of(0, 1000);

  MPI_Allreduce(&mine, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (i = 0; i < 2; i++) {
    during("%s", keys[i]);
    begin();
    set("SCR_FLUSH=1");
    run_puts("ck1", 1, 1000);
    lose_all_nodes();
    snprintf(path, sizeof path, "%s/ck1/.scr/summary.scr", case_prefix);
    if (rank == 0) CHECK(record_replace(path, keys[i], "77") == 1, "no %s in %s", keys[i], path);
    snprintf(says, sizeof says, "lists %d files of %d bytes, but its summary says %d of %d", ranks, total,
             i == 0 ? 77 : ranks, i == 0 ? total : 77);
    OK(SCR_Init());
    ALIKE(SCR_Have_restart(&flag, NULL), SCR_ERR_NO_RESTART, says);
    OK(SCR_Finalize());
    CHECK(cached_in("cache") == 0, "%x", cached_in("cache"));
    snprintf(says, sizeof says, "%d", i == 0 ? ranks : total);
    if (rank == 0) record_replace(path, keys[i], says);
    run_gets("ck1", 1, 1000);
  }
}

/* What stands below KEY in the filemap of this node, which has one rank, must be VALUE. */
static void filemap_has(const char* key, const char* value)
{
  char path[1300], below[SCR_MAX_FILENAME];

  snprintf(path, sizeof path, "%s/filemap_0.scrinfo", node_dir);
  CHECK(record_find(path, key, below) == 1 && strcmp(below, value) == 0, "%s is %s, not %s", key, below, value);
}

/* The name that the program gave, its directory, and the time of the file there. */
static void a_fetched_file_is_recorded_as_the_prefix_has_it(void)
{
  static const scheme single = {"SINGLE", 1};
  char                path[SCR_MAX_FILENAME], dir[SCR_MAX_FILENAME], mtime[40];
  struct stat         st;
  int                 fetched;

  begin_nodes(&single);
  set("SCR_FLUSH=1");
  run_puts("ck1", 1, 1000);
  name_of("ck1", 0, path);
  snprintf(dir, sizeof dir, "%s/ck1", case_prefix);
  for (fetched = 0; fetched < 2; fetched++) {
    during("%s", fetched ? "fetched" : "written");
    filemap_has("ORIG", path);
    filemap_has("ORIGPATH", dir);
    if (fetched) {
      CHECK(stat(path, &st) == 0, "%s: %s", path, strerror(errno));
      snprintf(mtime, sizeof mtime, "%lld", (long long)st.st_mtime);
      filemap_has("MTIME", mtime);
    } else {
      shell("touch -d @1234567%d prefix/ck1/*", ranks); /* another time than that of the copy */
      shell("rm -rf nodes/*");
      run_gets("ck1", 1, 1000);
    }
  }
}

/* A time stands below FETCHED of a dataset for each attempt. */
static void each_attempt_to_fetch_is_stamped(void)
{
  char path[800], first[SCR_MAX_FILENAME], last[SCR_MAX_FILENAME];

  begin();
  set("SCR_FLUSH=1");
  run_puts("ck1", 1, 1000);
  snprintf(path, sizeof path, "%s/.scr/index.scr", case_prefix);
  CHECK(index_marks("FETCHED") == 0, "it was not fetched");
  lose_all_nodes();
  shell("mv prefix/ck1/rank_0_0 away");
  OK(SCR_Init());
  refused("ck1");
  OK(SCR_Finalize());
  CHECK(index_marks("FETCHED") == 1, "the attempt that failed is not stamped");
  if (rank == 0) record_find(path, "FETCHED", first);
  shell("mv away prefix/ck1/rank_0_0; sleep 1");
  run_fetches("ck1", 1, 1000);
  CHECK(index_marks("FETCHED") == 1, "the attempt that worked is not stamped");
  if (rank == 0) record_strip(path, first);
  if (rank == 0)
    CHECK(record_find(path, "FETCHED", last) == 1 && *last != '\0' && strcmp(first, last) != 0, "%s, then %s", first,
          last);
}

/* So does that of Finalize, with every scheme. */
static void finalize_rebuilds_what_it_flushes(void)
{
  static const char* const schemes[] = {"XOR", "PARTNER", "RS"};
  size_t                   i;

  for (i = 0; i < sizeof schemes / sizeof *schemes; i++) {
    during("%s", schemes[i]);
    begin();
    set("SCR_COPY_TYPE=%s", schemes[i]);
    OK(SCR_Init());
    OK(put("ck1", 1, 1000));
    damage_cached("ck1");
    OK(SCR_Finalize());
    on_prefix("ck1", 1, 1000);
    run_fetches("ck1", 1, 1000);
  }
}

/* Each step takes as long for a file when there are many of them. */
/* ---- what is kept on the prefix -------------------------------------------------------------------------------- */

/* The checkpoints and output datasets that the prefix has are those of NAMES, separated by blanks; nothing else is. */
static void prefix_has(const char* names)
{
  static const char* const all[] = {"ck1", "ck2", "ck3", "ck4", "ck5", "ck6", "ck7", "out"};
  size_t                   i;
  int                      n = 0;

  for (i = 0; i < sizeof all / sizeof *all; i++) {
    int  wanted = strstr(names, all[i]) != NULL;
    char rel[100];
    snprintf(rel, sizeof rel, "prefix/%s", all[i]);
    CHECK(there(rel) == wanted, "%s is %s on the prefix", all[i], wanted ? "not" : "still");
    n += wanted;
  }
  CHECK(index_marks("FLUSHED") == n, "%d datasets in the index, not %d", index_marks("FLUSHED"), n);
}

static void scr_prefix_size_keeps_so_many_checkpoints_and_all_output(void)
{
  begin();
  set("SCR_FLUSH=1");
  set("SCR_CACHE_SIZE=4"); /* the cache keeps what the prefix no longer has, and does not flush it again */
  set("SCR_PREFIX_SIZE=2");
  OK(SCR_Init());
  OK(put("ck1", 2, 1000));
  OK(put_valid("out", SCR_FLAG_OUTPUT | SCR_FLAG_CHECKPOINT, 1, 100, 1));
  OK(put("ck2", 2, 2000));
  prefix_has("ck1 out ck2");
  OK(put("ck3", 2, 3000));
  prefix_has("out ck2 ck3");
  OK(put("ck4", 2, 4000));
  prefix_has("out ck3 ck4");
  OK(SCR_Finalize());
  prefix_has("out ck3 ck4");
  set("SCR_PREFIX_SIZE=1"); /* nothing is deleted but after a flush */
  OK(SCR_Init());
  prefix_has("out ck3 ck4");
  rejects("ck4"); /* it no longer counts; but what is newer than the window stays */
  get("ck3", 2, 3000);
  OK(put("ck5", 2, 5000));
  prefix_has("out ck5");
  OK(SCR_Finalize());
  run_fetches("ck5", 2, 5000);
}

/* The prefix is full: what the new checkpoint pushes out goes before it, but never the newest one that is there. */
static void a_full_prefix_gives_up_older_checkpoints_first(void)
{
  int async;

  for (async = 0; async < 2; async++) {
    during("SCR_FLUSH_ASYNC=%d", async);
    begin();
    set("SCR_FLUSH=1");
    set("SCR_FLUSH_ASYNC=%d", async);
    set("SCR_CACHE_SIZE=4");
    set("SCR_PREFIX_SIZE=2");
    OK(SCR_Init());
    OK(put("ck1", 1, 1000));
    OK(SCR_Wait(NULL));
    fault_on(FAULT_CREATE, "/prefix/", "/none/rank_", 100); /* one is there, and stays */
    same_code(put("none", 1, 2000));
    ALIKE(SCR_Wait(NULL), async ? SCR_ERR_SPACE : SCR_SUCCESS, async ? "stays in the cache" : "");
    fault_end();
    prefix_has("ck1");
    OK(SCR_Wait("ck1"));
    OK(put("ck3", 1, 3000));
    OK(SCR_Wait(NULL));
    prefix_has("ck1 ck3");
    fault_on(FAULT_CREATE, "/prefix/", "/ck4/rank_", 1);
    OK(put("ck4", 1, 4000));
    OK(SCR_Wait(NULL));
    CHECK(fault_end() > 0, "nothing failed");
    prefix_has("ck3 ck4");
    OK(SCR_Finalize());
    run_fetches("ck4", 1, 4000);
  }
}

/* The same for checkpoints that are written there: one that finds no room fails, and the next one has it. */
static void a_full_prefix_makes_room_for_files_that_are_written_there(void)
{
  begin();
  set("SCR_CACHE_BYPASS=1");
  set("SCR_PREFIX_SIZE=2");
  OK(SCR_Init());
  OK(put("ck1", 1, 1000));
  OK(put("ck2", 1, 1000));
  fault_on(FAULT_CREATE, "/prefix/", "/ck3/.scr/", 1000);
  ALIKE(put("ck3", 1, 1000), SCR_ERR_SPACE, "");
  fault_end();
  CHECK(!there("prefix/ck1") && there("prefix/ck2/.scr"), "not the older one has made room");
  OK(put("ck4", 1, 1000));
  CHECK(index_marks("FLUSHED") == 2, "%d datasets in the index", index_marks("FLUSHED"));
  OK(SCR_Finalize());
}

/* A deletion that is over says nothing about a copy of the files that is brought back. */
static void what_was_deleted_and_comes_back_stays(void)
{
  begin();
  set("SCR_FLUSH=1");
  OK(SCR_Init());
  OK(put("ck1", 1, 1000));
  OK(put("ck2", 1, 1000));
  shell("cp -r prefix/ck1 kept");
  OK(SCR_Delete("ck1"));
  OK(SCR_Finalize());
  CHECK(!there("prefix/ck1"), "it is not deleted");
  shell("mv kept prefix/ck1");
  run_gets("ck2", 1, 1000);
  on_prefix("ck1", 1, 1000);
}

static int maps_read;

static int count_map(const char* path)
{
  (void)path;
  maps_read++;
  return 0;
}

/* A file lies where ck5 goes: the maps of ck1 to ck4, which have directories of their own, are not read for that. */
static void a_flush_reads_no_map_of_a_dataset_in_another_directory(void)
{
  int all;

  begin();
  set("SCR_FLUSH=1");
  OK(SCR_Init());
  OK(put("ck1", 1, 1000));
  OK(put("ck2", 1, 1000));
  OK(put("ck5", 1, 1000));
  maps_read = 0;
  fault_watch(FAULT_OPEN, "/prefix/ck", "/rank2file", count_map);
  OK(put("ck5", 1, 2000));
  fault_end();
  MPI_Allreduce(&maps_read, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(all > 0, "the map of the older ck5 was not read");
  maps_read = 0;
  shell("mkdir prefix/ck6; for r in 0 1 2 3; do echo > prefix/ck6/rank_${r}_0; done");
  fault_watch(FAULT_OPEN, "/prefix/ck", "/rank2file", count_map);
  OK(put("ck6", 1, 1000));
  fault_end();
  MPI_Allreduce(&maps_read, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(all == 0, "%d maps were read", all);
  OK(SCR_Finalize());
  run_fetches("ck6", 1, 1000);
}

/* What the user has chosen is not deleted, and does not push out what is newer when it is flushed for it. */
static void scr_prefix_size_spares_the_users_choice(void)
{
  begin();
  set("SCR_FLUSH=2");
  set("SCR_CACHE_SIZE=4");
  set("SCR_PREFIX_SIZE=1");
  run_puts_four();
  prefix_has("ck4");
  set("SCR_CURRENT=ck1");
  run_gets("ck1", 1, 1000);
  prefix_has("ck1 ck4");
  set("SCR_CURRENT=ck4");
  run_gets("ck4", 1, 4000);
  set("SCR_CURRENT=ck1");
  as_job("other");
  OK(SCR_Init());
  get("ck1", 1, 1000);
  OK(put("ck5", 1, 5000));
  OK(put("ck6", 1, 6000));
  prefix_has("ck5"); /* its number is 2 again */
  OK(SCR_Finalize());
  prefix_has("ck6");
  run_fetches("ck6", 1, 6000);
}

/* A run completes ck1, dies at the N-th file call in the completion of ck2, and its cache is lost. */
static void dies_in_the_second(int n)
{
  static const shape second = {"", one_file, two_thousand, NULL};

  OK(SCR_Init());
  OK(put("ck1", 1, 1000));
  OK(open_shape("ck2", SCR_FLAG_CHECKPOINT, &second));
  fault_at(FAULT_DEAD, FAULT_ALL, EIO, n);
  SCR_Complete_output(1);
  run_dies();
  lose_all_nodes();
}

/* The next run begins, and restarts from ck1 or ck2. */
static void get_one_of_two(void)
{
  char name[SCR_MAX_FILENAME];
  int  flag;

  OK(SCR_Init());
  OK(SCR_Have_restart(&flag, name));
  CHECK(flag, "nothing is offered");
  get(name, 1, strcmp(name, "ck1") == 0 ? 1000 : 2000);
}

/* A run dies at some of its file calls while the window slides: the newest checkpoint is there all the same. */
static void scr_prefix_size_never_costs_the_newest(void)
{
  int n, step = pace(56, 14, 7);

  for (n = 1 + turn(step); n < 200; n += step) {
    during("the run dies at call %d", n);
    begin();
    set("SCR_FLUSH=1");
    set("SCR_PREFIX_SIZE=1");
    dies_in_the_second(n);
    get_one_of_two();
    OK(put("ck3", 1, 3000));
    OK(SCR_Finalize());
    run_fetches("ck3", 1, 3000);
  }
}

static void scr_prefix_purge_empties_the_prefix_once_in_a_job(void)
{
  begin();
  set("SCR_FLUSH=1");
  set("SCR_CACHE_SIZE=4");
  run_puts_four();
  prefix_has("ck1 ck2 ck3 ck4");
  lose_all_nodes();
  set("SCR_PREFIX_PURGE=1");
  OK(SCR_Init());
  get(NULL, 0, 0);
  prefix_has("");
  OK(put("ck5", 1, 5000));
  OK(SCR_Finalize());
  run_gets("ck5", 1, 5000); /* a script may leave it set */
  prefix_has("ck5");
  as_job("other");
  lose_all_nodes();
  OK(SCR_Init());
  get(NULL, 0, 0);
  prefix_has("");
  OK(SCR_Finalize());
}

static void scr_drop_after_current_drops_what_is_newer_than_a_choice(void)
{
  begin();
  set("SCR_FLUSH=1");
  set("SCR_CACHE_SIZE=1");
  set("SCR_DROP_AFTER_CURRENT=1");
  run_puts_four();
  OK(SCR_Init());
  OK(SCR_Current("ck2"));
  get("ck2", 1, 2000);
  OK(SCR_Finalize());
  CHECK(index_marks("FLUSHED") == 2, "%d datasets in the index", index_marks("FLUSHED"));
  on_prefix("ck4", 1, 4000); /* the files stay */
  lose_all_nodes();
  run_gets("ck2", 1, 2000);
}

/* ---- an index is made from what is on the prefix ----------------------------------------------------------------- */

/* The index is lost, and what it had is deeper than a start looks: the flush file still knows that it was flushed. */
static void a_lost_index_is_no_reason_to_begin_anew(void)
{
  int  have, i;
  char name[SCR_MAX_FILENAME];

  begin();
  as_job("first");
  set("SCR_FLUSH=1");
  run_puts_four();
  lose_all_nodes();
  shell("rm prefix/.scr/index.scr; mkdir -p prefix/a/b/c/d/e; mv prefix/ck? prefix/a/b/c/d/e");
  for (i = 0; i < 2; i++) { /* nor is it forgotten by a start that is refused */
    OK(SCR_Init());
    ALIKE(SCR_Have_restart(&have, name), SCR_ERR_NO_RESTART, "(dataset 4) was flushed to ");
    CODE(SCR_Start_output("ck1", SCR_FLAG_CHECKPOINT), SCR_ERR_NO_RESTART, "which has no index any more");
    run_dies();
  }
  shell("$TEST_INDEX --build --prefix prefix > built; grep -c . built | grep -qx 4");
  set("SCR_FRESH_START=1");
  OK(SCR_Init());
  OK(SCR_Have_restart(&have, name));
  CHECK(!have, "%s is offered", name);
  run_dies();
}

/* The index is damaged, or missing; what the prefix holds is found, but for what is not whole. */
static void scr_index_build_makes_an_index_of_what_is_whole(void)
{
  int missing;

  for (missing = 0; missing < 2; missing++) {
    during(missing ? "the index is missing" : "the index is damaged");
    begin();
    set("SCR_FLUSH=1");
    run_puts_four();
    lose_all_nodes();
    shell(missing ? "rm prefix/.scr/index.scr" : "echo garbage > prefix/.scr/index.scr");
    shell(": >prefix/ck1/.scr/index.scr; $TEST_INDEX --build --prefix prefix > built; grep -c . built | grep -qx 4;"
          "rm prefix/ck1/.scr/index.scr"); /* an empty file does not make ck1 another prefix */
    CHECK(there("prefix/.scr/index.scr.damaged") == !missing, "the damaged index");
    run_gets("ck4", 1, 4000);
    lose_all_nodes();
    shell("rm prefix/.scr/index.scr; f=$(ls prefix/ck4/rank_0_0); printf x >> $f; rm prefix/ck3/rank_1_0;"
          "! $TEST_INDEX --build --prefix prefix > built 2> told; grep -c . built | grep -qx 2;"
          "grep -q 'ck4 is not added: .*rank_0_0' told && grep -q 'ck3 is not added: .*rank_1_0' told");
    run_gets("ck2", 1, 2000);
    lose_all_nodes();
    shell("! $TEST_INDEX --add ck3 --prefix prefix 2> told; ! $TEST_INDEX -a nothing -p prefix 2>> told;"
          "grep -q 'no .scr/summary.scr' told; $TEST_INDEX --drop ck2 -p prefix; $TEST_INDEX --add \"$PWD/prefix/ck2\" "
          "--prefix \"$PWD/prefix\"");
    run_gets("ck2", 1, 2000);
    shell("$TEST_INDEX --drop ck2 -p prefix; $TEST_INDEX --build=2 -p prefix > built; grep -qx ' *2 ck2' built;"
          "$TEST_INDEX -p prefix -b 2 > built; test $(grep -c . built) = 1;" /* as in release 3 */
          "! $TEST_INDEX -p prefix --build=7 2> told; grep -q 'no directory below .* of a dataset 7' told");
    run_gets("ck2", 1, 2000);
  }
}

/* A bit of a file flips, or another dataset has taken the files: sizes alone do not tell. */
static void scr_index_build_compares_checksums(void)
{
  begin();
  set("SCR_FLUSH=1");
  OK(SCR_Init());
  OK(put("ck1", 1, 1000));
  OK(put("ck2", 1, 1000));
  OK(SCR_Finalize());
  lose_all_nodes();
  shell("rm prefix/.scr/index.scr; cp prefix/ck1/rank_0_0 prefix/ck2/rank_0_0;"
        "! $TEST_INDEX --build --prefix prefix 2> told > built; grep -q 'ck2 is not added: .*a file of another "
        "dataset' told");
  run_gets("ck1", 1, 1000);
}

/* A run dies at some of its file calls in a flush; the index is lost then: what was complete is found. */
static void scr_index_build_finds_what_a_killed_flush_has_completed(void)
{
  int n;

  for (n = 5; n < 160; n += 9) {
    during("the run dies at call %d", n);
    begin();
    set("SCR_FLUSH=1");
    dies_in_the_second(n);
    shell("rm prefix/.scr/index.scr; $TEST_INDEX --build --prefix prefix > built 2> told || true; grep -q ck1 built");
    get_one_of_two();
    OK(SCR_Finalize());
  }
}

/* ---- many files ------------------------------------------------------------------------------------------------ */

static void thousands_of_files_of_a_rank_are_written_flushed_fetched_and_found(void)
{
  const int files = pace(3000, 10000, 10000);

  begin();
  set("SCR_FLUSH=1");
  set("SCR_FSYNC=0");
  run_puts("ck", files, 16);
  run_gets("ck", files, 16);
  run_fetches("ck", files, 16);
}

#define ANY "2 | 1 4 5", "9"
#define FEW "2 | 4", ""

const test_case flush_cases[] = {CASE(the_prefix_gives_back_what_was_flushed_and_is_whole, "1 2 4 5", "9"),
                                 CASE(without_distribute_or_after_a_purge_only_the_prefix_counts, ANY),
                                 CASE(scr_prefix_size_keeps_so_many_checkpoints_and_all_output, "4 | 2", ""),
                                 CASE(a_full_prefix_gives_up_older_checkpoints_first, "4"),
                                 CASE(a_full_prefix_makes_room_for_files_that_are_written_there, "4"),
                                 CASE(what_was_deleted_and_comes_back_stays, "4"),
                                 CASE(a_flush_reads_no_map_of_a_dataset_in_another_directory, "4"),
                                 CASE(scr_prefix_size_spares_the_users_choice, FEW),
                                 CASE(scr_prefix_size_never_costs_the_newest, FEW),
                                 CASE(scr_prefix_purge_empties_the_prefix_once_in_a_job, FEW),
                                 CASE(scr_drop_after_current_drops_what_is_newer_than_a_choice, FEW),
                                 CASE(a_lost_index_is_no_reason_to_begin_anew, FEW),
                                 CASE(scr_index_build_makes_an_index_of_what_is_whole, FEW),
                                 CASE(scr_index_build_compares_checksums, FEW),
                                 CASE(scr_index_build_finds_what_a_killed_flush_has_completed, FEW),
                                 CASE(thousands_of_files_of_a_rank_are_written_flushed_fetched_and_found, "2", ""),
                                 CASE(what_was_not_flushed_is_flushed_on_restart_when_asked, ANY),
                                 CASE(several_threads_copy_only_under_pthread, FEW),
                                 CASE(a_flush_replaces_files_of_the_same_names, ANY),
                                 CASE(checkpoints_share_a_directory_without_loss, ANY),
                                 CASE(metadata_go_elsewhere_when_their_directory_is_taken, "1 2 4 5", "9"),
                                 CASE(without_preserve_directories_files_lie_in_that_of_the_dataset, ANY),
                                 CASE(a_relative_name_counts_from_the_directory_at_the_call, FEW),
                                 CASE(a_copy_of_the_prefix_by_links_hinders_nothing, "2"),
                                 CASE(a_directory_in_place_of_a_file_fails_the_flush_at_once, FEW),
                                 CASE(a_prefix_that_is_away_is_not_an_empty_one, "1 4"),
                                 CASE(what_an_older_index_lacks_is_named, "1 4"),
                                 CASE(a_file_that_is_a_directory_on_another_rank_fails_the_flush, FEW),
                                 CASE(names_without_room_for_a_suffix_are_flushed, "5 | 1 2 3 9", "16"),
                                 CASE(names_without_room_for_a_suffix_are_read_in_place, "1 4"),
                                 CASE(a_flush_that_always_fails_does_not_keep_back_the_next, FEW),
                                 CASE(finalize_flushes_output_that_complete_could_not, FEW),
                                 CASE(a_bit_that_flips_after_a_fetch_is_found_and_the_prefix_not_blamed, FEW),
                                 CASE(a_flush_that_finds_damage_keeps_the_last_good_checkpoint, "4 | 2", ""),
                                 CASE(a_flush_that_finds_damage_rebuilds, "4", ""),
                                 CASE(the_flush_file_has_the_right_directory_after_a_restart, FEW),
                                 CASE(a_file_that_grew_or_shrank_is_said_to_have_changed_after_complete, FEW),
                                 CASE(a_fetch_compares_the_map_with_files_and_bytes_of_the_summary, FEW),
                                 CASE(a_fetched_file_is_recorded_as_the_prefix_has_it, FEW),
                                 CASE(each_attempt_to_fetch_is_stamped, FEW),
                                 CASE(finalize_rebuilds_what_it_flushes, "4", ""),
                                 CASES_END};
