/*
** bypass.c - datasets that are written on the prefix itself, under temporary names until they are complete.
*/
#include "mpi_test.h"

static size_t two_thousand(int i)
{
  return size_of(i, 2000);
}

static int none_or_three(void)
{
  return rank % 2 ? 3 : 0;
}

static const shape shapes[] = {
    {"two files", two_files, two_thousand, NULL},
    {"files on every other rank", none_or_three, two_thousand, NULL},
    {"directories of ranks", two_files, two_thousand, "deep/of_%d/part_%d"},
    {"no common directory", two_files, two_thousand, "of_%d/at_%d"},
    {"a directory for each file", none_or_three, two_thousand, "deep/of_%d/in_%d/part"},
};

/* That nothing on the prefix has a temporary name, and the cache holds the datasets IDS. */
static void nothing_is_left(unsigned ids)
{
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(count_in("prefix", ".tmp") == 0, "%d temporary files", count_in("prefix", ".tmp"));
  CHECK(count_in("cntl", ".dirs") == 0, "%d lists of directories", count_in("cntl", ".dirs"));
  CHECK(cached_in("cache") == ids, "the cache holds 0x%x", cached_in("cache"));
}

static void with_bypass_files_are_written_on_the_prefix(void)
{
  char   path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME];
  size_t k;

  for (k = 0; k < sizeof shapes / sizeof *shapes; k++) {
    const shape* s = &shapes[k];
    during("%s", s->what);
    begin();
    set("SCR_FLUSH=0");
    set("SCR_CACHE_BYPASS=1");
    OK(SCR_Init());
    OK(open_shape("ck1", SCR_FLAG_CHECKPOINT, s));
    if (s->files() > 0) {
      path_of("ck1", s, 0, path);
      OK(SCR_Route_file(path, file));
      CHECK(strncmp(file, case_prefix, strlen(case_prefix)) == 0 && strcmp(file + strlen(file) - 4, ".tmp") == 0, "%s",
            file);
      CHECK(access(path, F_OK) != 0, "%s is there before it is complete", path);
    }
    OK(SCR_Complete_output(1));
    on_prefix_shape("ck1", s);
    nothing_is_left(0);
    OK(SCR_Finalize());
    run_gets_shape("ck1", s);
  }
}

static void an_older_dataset_of_the_same_names_stays_until_the_new_one_is_complete(void)
{
  begin();
  set("SCR_CACHE_BYPASS=1");
  OK(SCR_Init());
  OK(put_shape("same", SCR_FLAG_CHECKPOINT, &shapes[0], 1));
  OK(open_shape("same", SCR_FLAG_CHECKPOINT, &shapes[0]));
  on_prefix_shape("same", &shapes[0]);
  CODE(SCR_Complete_output(0), SCR_ERR_INVALID, "invalid");
  on_prefix_shape("same", &shapes[0]);
  nothing_is_left(0);
  OK(put_shape("same", SCR_FLAG_CHECKPOINT, &shapes[0], 1));
  OK(SCR_Finalize());
  CHECK(index_marks("FLUSHED") == 1, "%d datasets", index_marks("FLUSHED"));
  run_gets_shape("same", &shapes[0]);
}

static void temporary_files_of_a_killed_run_are_removed_by_the_next(void)
{
  size_t k;

  for (k = 0; k < sizeof shapes / sizeof *shapes; k++) {
    during("%s", shapes[k].what);
    begin();
    set("SCR_CACHE_BYPASS=1");
    OK(SCR_Init());
    OK(put_shape("ck1", SCR_FLAG_CHECKPOINT, &shapes[0], 1));
    OK(open_shape("ck2", SCR_FLAG_CHECKPOINT, &shapes[k]));
    MPI_Barrier(MPI_COMM_WORLD);
    run_dies();
    CHECK(count_in("prefix", ".tmp") > 0, "nothing was left");
    if (k % 2) set("SCR_CACHE_PURGE=1");
    OK(SCR_Init());
    CHECK(count_in("prefix", ".tmp") == 0, "%d temporary files", count_in("prefix", ".tmp"));
    CHECK(count_in("cntl", ".dirs") == 0, "%d lists of directories", count_in("cntl", ".dirs"));
    get_shape("ck1", &shapes[0]);
    OK(put_shape("ck3", SCR_FLAG_CHECKPOINT, &shapes[k], 1));
    OK(SCR_Finalize());
  }
}

/* What a killed run has left where the program would write is in a copy of the prefix by links, too. */
static void a_copy_by_links_is_not_written_to(void)
{
  begin();
  set("SCR_CACHE_BYPASS=1");
  shell("mkdir prefix/ck1 copy; echo old > prefix/ck1/rank_0_0.scr1.tmp; ln prefix/ck1/rank_0_0.scr1.tmp copy");
  OK(SCR_Init());
  put("ck1", 1, 1000);
  OK(SCR_Finalize());
  shell("test \"$(cat copy/rank_0_0.scr1.tmp)\" = old");
  run_gets("ck1", 1, 1000);
}

/* Another user has put a link where the program would write. */
static void a_planted_link_is_not_written_through(void)
{
  char path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME];

  begin();
  set("SCR_CACHE_BYPASS=1");
  OK(SCR_Init());
  OK(SCR_Start_output("ck1", SCR_FLAG_CHECKPOINT));
  path_of("ck1", &shapes[0], 0, path);
  if (rank == 1) {
    char made[2 * SCR_MAX_FILENAME];
    snprintf(made, sizeof made, "%s.scr1.tmp", path);
    snprintf(file, sizeof file, "%s/ck1", case_prefix);
    mkdir(file, 0777);
    chmod(file, 0777);
    CHECK(symlink("/etc/nothing", made) == 0, "%s: %s", made, strerror(errno));
    CODE(SCR_Route_file(path, file), SCR_ERR_UNSAFE, "exists already, and is a symbolic link");
    unlink(made);
  }
  CODE(SCR_Complete_output(1), SCR_ERR_UNSAFE, "exists already");
  OK(put_shape("ck2", SCR_FLAG_CHECKPOINT, &shapes[0], 1));
  OK(SCR_Finalize());
  run_gets_shape("ck2", &shapes[0]);
}

/* Where others can write, the files are made before the program opens them; one that it never opens is not complete. */
static void a_file_is_made_where_others_can_write(void)
{
  char        path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME], dir[SCR_MAX_FILENAME];
  int         mode, rc, bytes;
  struct stat st;

  for (bytes = -1; bytes < 2; bytes++)
    for (mode = 0755; mode <= 0777; mode += 0777 - 0755) {
      during("mode %o, %d bytes", mode, bytes);
      begin();
      set("SCR_CACHE_BYPASS=1");
      snprintf(dir, sizeof dir, "%s/ck1", case_prefix);
      if (rank == 0) CHECK(mkdir(dir, 0755) == 0 && chmod(dir, (mode_t)mode) == 0, "%s", dir);
      OK(SCR_Init());
      OK(SCR_Start_output("ck1", SCR_FLAG_CHECKPOINT));
      path_of("ck1", &shapes[0], 0, path);
      OK(SCR_Route_file(path, file));
      rc = stat(file, &st);
      CHECK((rc == 0) == (mode == 0777), "%s is there: %d", file, rc == 0);
      OK(SCR_Route_file(path, file));
      if (rank != 1 || bytes >= 0) CHECK(write_bytes(file, 1, rank == 1 ? (size_t)bytes : 10), "%s", file);
      if (bytes >= 0) OK(SCR_Complete_output(1));
      else CODE(SCR_Complete_output(1), SCR_ERR_MISSING, "was registered, but not written");
      OK(SCR_Finalize());
      MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* All ranks write their parts of one file. */
static int put_shared(const char* name, int valid)
{
  char path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME], part[100];
  int  fd, rc = SCR_Start_output(name, SCR_FLAG_CHECKPOINT);

  if (rc != SCR_SUCCESS) return rc;
  snprintf(path, sizeof path, "%s/%s/shared", case_prefix, name);
  OK(SCR_Route_file(path, file));
  memset(part, 'a' + rank, sizeof part);
  fd = open(file, O_WRONLY | O_CREAT, 0666);
  usleep(20000 * (unsigned)rank);
  CHECK(fd >= 0 && pwrite(fd, part, sizeof part, (off_t)(rank * 100)) == 100, "%s", file);
  close(fd);
  snprintf(path, sizeof path, "%s/%s/own_%d", case_prefix, name, rank);
  OK(SCR_Route_file(path, file));
  CHECK(write_bytes(file, (unsigned)rank, 10), "%s", file);
  return SCR_Complete_output(valid);
}

static void gets_shared(const char* name)
{
  char path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME], *text;
  long n = 0, i;
  int  flag;

  OK(SCR_Init());
  OK(SCR_Have_restart(&flag, NULL));
  CHECK(flag, "not offered");
  OK(SCR_Start_restart(NULL));
  snprintf(path, sizeof path, "%s/%s/shared", case_prefix, name);
  OK(SCR_Route_file(path, file));
  text = read_file(file, &n);
  CHECK(n == 100 * ranks, "%ld bytes", n);
  for (i = 0; i < n && text[i] == 'a' + i / 100; i++) continue;
  CHECK(i == n, "byte %ld", i);
  free(text);
  snprintf(path, sizeof path, "%s/%s/own_%d", case_prefix, name, rank);
  OK(SCR_Route_file(path, file));
  CHECK(same_bytes(file, (unsigned)rank, 10), "%s", file);
  OK(SCR_Complete_restart(1));
  OK(SCR_Finalize());
}

static void ranks_write_one_file_together(void)
{
  begin();
  set("SCR_CACHE_BYPASS=1");
  OK(SCR_Init());
  OK(put_shared("ck1", 1));
  CODE(put_shared("ck2", rank != 0), SCR_ERR_INVALID, "marked dataset 2");
  nothing_is_left(0);
  OK(SCR_Finalize());
  gets_shared("ck1"); /* in place */
}

static int struck;
static int no_rename(const char* path)
{
  (void)path;
  return rank == ranks - 1 && struck++ == 0 ? EIO : 0;
}

/* One rename of one rank fails, after the index has the dataset: the next run finishes it. */
static void a_rename_that_fails_in_bypass_is_finished_by_the_next_run(void)
{
  const shape* s = &shapes[0];

  begin();
  set("SCR_CACHE_BYPASS=1");
  OK(SCR_Init());
  OK(put_shape("same", SCR_FLAG_CHECKPOINT, s, 1));
  OK(open_shape("same", SCR_FLAG_CHECKPOINT, s));
  struck = 0;
  fault_watch(FAULT_RENAME, "prefix/same/rank_", "", no_rename);
  CODE(SCR_Complete_output(1), SCR_ERR_IO, "the next run finishes");
  fault_end();
  CHECK(rank != ranks - 1 || struck > 0, "no rename failed");
  OK(SCR_Finalize());
  CHECK(index_marks("REDO") == 1, "nothing is left to do");
  run_gets_shape("same", s);
  on_prefix_shape("same", s);
  CHECK(index_marks("REDO") == 0 && count_in("prefix", ".tmp") == 0, "something is left to do");
}

static int small(const char* path, struct statvfs* fs)
{
  int rc = statvfs(path, fs);

  if (strstr(path, "cache") != NULL) fs->f_bavail = 100000 / fs->f_frsize;
  return rc;
}

/* The cache holds the first one, but not the second, which is larger; the third is small again. */
static void what_is_too_large_for_the_cache_is_written_on_the_prefix(void)
{
  int automatic;

  for (automatic = 1; automatic >= 0; automatic--) {
    begin();
    set("SCR_FLUSH=0");
    if (!automatic) set("SCR_CACHE_BYPASS=0");
    OK(SCR_Init());
    OK(put("ck1", 1, 1000000));
    test_statvfs = small;
    OK(put("ck2", 1, 1200000));
    CHECK(there("prefix/ck2/rank_0_0") == automatic, "ck2 is in the wrong place");
    OK(put("ck3", 1, 1000));
    CHECK(there("prefix/ck3/rank_0_0") == automatic, "ck3 is expected to be as large as ck2");
    test_statvfs = statvfs;
    OK(put("ck4", 1, 1000));
    CHECK(!there("prefix/ck4/rank_0_0"), "ck4 fits into the cache");
    OK(SCR_Finalize());
    run_gets("ck4", 1, 1000);
    shell("rm -rf cache/* cntl/*");
    if (!automatic) continue;
    run_gets("ck3", 1, 1000);
    shell("rm -rf cache/* cntl/* prefix/ck3/rank_0_0");
    test_statvfs = small;
    run_gets("ck2", 1, 1200000); /* in place */
    CHECK(cached_in("cache") == 0, "0x%x", cached_in("cache"));
    test_statvfs = statvfs;
  }
}

/* The cache holds small checkpoints, but not the large outputs between them. */
static void what_is_too_large_is_expected_of_its_kind(void)
{
  begin();
  set("SCR_FLUSH=0");
  set("SCR_CACHE_SIZE=9");
  OK(SCR_Init());
  OK(put("ck1", 1, 1000));
  OK(put_valid("out2", SCR_FLAG_OUTPUT, 1, 1200000, 1));
  test_statvfs = small;
  OK(put("ck3", 1, 1000));
  OK(put_valid("out4", SCR_FLAG_OUTPUT, 1, 1200000, 1));
  OK(put("ck5", 1, 1000));
  OK(put_valid("out6", SCR_FLAG_OUTPUT, 1, 1200000, 1));
  test_statvfs = statvfs;
  CHECK((cached_in("cache") & ~ID(2)) == (ID(1) | ID(3) | ID(5)), "0x%x", cached_in("cache"));
  OK(SCR_Finalize());
  CHECK(there("prefix/out6/rank_0_0") && !there("prefix/ck5"), "not where they belong");
  run_gets("ck5", 1, 1000);
}

static void lines_choose_which_checkpoints_bypass_the_cache(void)
{
  begin();
  set("SCR_FLUSH=0");
  set("SCR_COPY_TYPE=FILE");
  set("CKPT=0 INTERVAL=1 TYPE=XOR");
  set("CKPT=1 INTERVAL=2 BYPASS=1");
  OK(SCR_Init());
  OK(put("ck1", 1, 1000));
  OK(put("ck2", 1, 1000));
  OK(put("ck3", 1, 1000));
  CHECK(!there("prefix/ck1") && there("prefix/ck2/rank_0_0") && !there("prefix/ck3"), "not as the lines say");
  OK(SCR_Finalize());
  run_fetches("ck2", 1, 1000);
}

/* All ranks die at some call of those, CALLS at least, that complete a checkpoint in bypass; OLDER may be NULL. */
static void die_in_bypass(const char* older, int calls)
{
  int n, rc, flag, step = pace(30, 6, 1), over = 0;

  begin();
  set("SCR_CACHE_BYPASS=1");
  OK(SCR_Init());
  if (older != NULL) OK(put_shape(older, SCR_FLAG_CHECKPOINT, &shapes[0], 1));
  OK(SCR_Finalize());
  shell("cp -a prefix was; cp -a cntl was_cntl");
  for (n = 1 + turn(step); !over; n += step) {
    const char* name;
    during("a death at call %d, %s", n, older != NULL ? "with an older one" : "the first one");
    test_alive();
    shell("rm -rf prefix cntl; cp -a was prefix; cp -a was_cntl cntl");
    OK(SCR_Init());
    OK(open_shape("ck2", SCR_FLAG_CHECKPOINT, &shapes[0]));
    fault_at(FAULT_DEAD, FAULT_ALL, EIO, n);
    rc = SCR_Complete_output(1);
    over = fault_struck(FAULT_ALL) == 0;
    MPI_Allreduce(MPI_IN_PLACE, &over, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    run_dies();
    OK(SCR_Init());
    name = there("prefix/ck2/rank_0_0") || rc == SCR_SUCCESS ? "ck2" : older;
    OK(SCR_Have_restart(&flag, NULL));
    CHECK(flag == (name != NULL), "%d", flag);
    if (name != NULL) get_shape(name, &shapes[0]);
    CHECK(count_in("prefix", ".scr2.tmp") == 0, "%d temporary files", count_in("prefix", ".scr2.tmp"));
    OK(SCR_Finalize());
  }
  CHECK(n > calls + step, "only %d calls", n);
}

static void a_death_in_bypass_leaves_the_old_or_the_new_one(void)
{
  die_in_bypass("ck1", 45);
}

static void a_death_in_the_first_bypass_of_a_prefix_keeps_no_run_from_starting(void)
{
  die_in_bypass(NULL, 30);
}

/* clang-format off */
const test_case bypass_cases[] = {CASE(with_bypass_files_are_written_on_the_prefix, "4 | 1", "3 5"),
                                  CASE(an_older_dataset_of_the_same_names_stays_until_the_new_one_is_complete, "4"),
                                  CASE(temporary_files_of_a_killed_run_are_removed_by_the_next, "4"),
                                  CASE(a_file_is_made_where_others_can_write, "2 | 3"),
                                  CASE(a_copy_by_links_is_not_written_to, "1 4"),
                                  CASE(a_planted_link_is_not_written_through, "4"),
                                  CASE(ranks_write_one_file_together, "4", "3"),
                                  CASE(a_rename_that_fails_in_bypass_is_finished_by_the_next_run, "4"),
                                  CASE(what_is_too_large_for_the_cache_is_written_on_the_prefix, "4"),
                                  CASE(what_is_too_large_is_expected_of_its_kind, "4"),
                                  CASE(lines_choose_which_checkpoints_bypass_the_cache, "4"),
                                  CASE(a_death_in_bypass_leaves_the_old_or_the_new_one, "2"),
                                  CASE(a_death_in_the_first_bypass_of_a_prefix_keeps_no_run_from_starting, "2"),
                                  CASES_END};
