/*
** containers.c - SCR_USE_CONTAINERS: the files of all ranks in few large files on the prefix, and back.
*/
#include "mpi_test.h"

#define LEAST 4096 /* the smallest size of a container */

/* ---- shapes ---------------------------------------------------------------------------------------------------- */

static int none_or_three(void)
{
  return rank % 2 ? 3 : 0;
}

static int no_file(void)
{
  return 0;
}

static int fifty_files(void)
{
  return 50;
}

static size_t empty(int i)
{
  (void)i;
  return 0;
}

static size_t odd(int i)
{
  return i % 3 == 1 ? 0 : size_of(i, 3000);
}

static size_t just_full(int i)
{
  (void)i;
  return LEAST;
}

static size_t spanning(int i)
{
  return size_of(i, 5 * LEAST) + (size_t)rank;
}

static size_t tiny(int i)
{
  return (size_t)i % 7;
}

static const shape shapes[] = {
    {"a file of odd size", one_file, odd, NULL},
    {"files that fill containers", two_files, just_full, NULL},
    {"files that span several containers", two_files, spanning, NULL},
    {"files on every other rank", none_or_three, odd, NULL},
    {"empty files alone", two_files, empty, NULL},
    {"no files", no_file, empty, NULL},
    {"many tiny files", fifty_files, tiny, NULL},
    {"directories of ranks", two_files, spanning, "deep/of_%d/part_%d"},
    {"no common directory", two_files, odd, "of_%d/at_%d"},
};

enum { SHAPES = sizeof shapes / sizeof *shapes };

static const shape* const spans = &shapes[2];

static uint64_t bytes_of(const shape* s)
{
  unsigned long long mine = 0, all = 0;
  int                i;

  for (i = 0; i < s->files(); i++) mine += s->size(i);
  MPI_Allreduce(&mine, &all, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

/*
** That the containers of the dataset in DIR, of SIZE bytes, hold the ALL bytes of its files, one full after the other.
*/
static void check_containers(const char* dir, uint64_t all, uint64_t size)
{
  char        path[SCR_MAX_FILENAME];
  struct stat st;
  uint64_t    i, n = (all + size - 1) / size;

  MPI_Barrier(MPI_COMM_WORLD);
  for (i = 0; i < n; i++) {
    snprintf(path, sizeof path, "%s/%s/.scr/ctr.%llu.scr", case_prefix, dir, (unsigned long long)i);
    CHECK(stat(path, &st) == 0, "%s: %s", path, strerror(errno));
    CHECK((uint64_t)st.st_size == (i + 1 < n ? size : all - i * size), "%s has %lld bytes", path,
          (long long)st.st_size);
  }
  snprintf(path, sizeof path, "prefix/%s/.scr/ctr.%llu.scr", dir, (unsigned long long)n);
  CHECK(!there(path), "%s is one too many", path);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void begin_packing(uint64_t size)
{
  begin();
  set("SCR_FLUSH=1");
  set("SCR_USE_CONTAINERS=1");
  set("SCR_CONTAINER_SIZE=%llu", (unsigned long long)size);
}

/* ---- what is packed -------------------------------------------------------------------------------------------- */

static void what_is_packed_is_fetched_whole(void)
{
  static const uint64_t sizes[] = {LEAST, 10007, (uint64_t)1 << 30};
  const char*           dir;
  size_t                k;
  int                   s;

  for (s = 0; s < SHAPES; s++)
    for (k = 0; k < sizeof sizes / sizeof *sizes; k++) {
      during("%s, containers of %llu bytes", shapes[s].what, (unsigned long long)sizes[k]);
      test_alive();
      begin_packing(sizes[k]);
      OK(SCR_Init());
      OK(put_shape("ck", SCR_FLAG_CHECKPOINT, &shapes[s], 1));
      OK(SCR_Finalize());
      dir = shapes[s].files == no_file ? "scr.dataset.1" : shapes[s].form == NULL ? "ck" : s == 7 ? "deep" : NULL;
      if (dir == NULL) dir = ranks > 1 ? "scr.dataset.1" : "of_0";
      if (ranks == 1 && s == 7) dir = "deep/of_0";
      if (ranks == 1 && s == 3) dir = "scr.dataset.1"; /* without files */
      check_containers(dir, bytes_of(&shapes[s]), sizes[k]);
      CHECK(count_in("prefix", ".tmp") == 0, "temporary files are left");
      CHECK(!there("prefix/ck/rank_0_0") && !there("prefix/of_0/at_0"), "a file was copied by itself");
      lose_all_nodes();
      run_gets_shape("ck", &shapes[s]);
    }
}

/* Nodes that have more than one rank: the files of a node lie next to each other. */
static void files_of_a_node_are_packed_together(void)
{
  char           path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME];
  unsigned char* all;
  long           n = 0;
  int            i;

  begin_packing(1 << 20);
  set("SCR_VIRTUAL_NODES=2");
  OK(SCR_Init());
  OK(SCR_Start_output("ck", SCR_FLAG_CHECKPOINT));
  snprintf(path, sizeof path, "%s/ck/rank_%d", case_prefix, rank);
  OK(SCR_Route_file(path, file));
  memset(path, rank + 1, 100);
  write_file(file, path, 100);
  OK(SCR_Complete_output(1));
  OK(SCR_Finalize());
  snprintf(path, sizeof path, "%s/ck/.scr/ctr.0.scr", case_prefix);
  all = (unsigned char*)read_file(path, &n);
  CHECK(all != NULL && n == 100L * ranks, "%s has %ld bytes", path, n);
  for (i = 0; all != NULL && i < n; i++) CHECK(all[i] == i / 100 + 1, "byte %d is of rank %d", i, all[i] - 1);
  free(all);
}

/* With the same names at each checkpoint, each keeps its own bytes. */
static void packed_checkpoints_of_the_same_names_do_not_replace_each_other(void)
{
  static const shape       state = {"of the same names", two_files, spanning, "state/of_%d_%d"};
  static const char* const names[] = {"ck1", "ck2", "ck3"};
  int                      i;

  begin_packing(10000);
  OK(SCR_Init());
  for (i = 0; i < 3; i++) OK(put_shape(names[i], SCR_FLAG_CHECKPOINT, &state, 1));
  OK(SCR_Finalize());
  for (i = 2; i >= 0; i--) {
    lose_all_nodes();
    OK(SCR_Init());
    get_shape(names[i], &state);
    OK(SCR_Delete(names[i]));
    OK(SCR_Finalize());
    CHECK(count_in("prefix", ".scr") > 0, "the index is gone");
  }
  CHECK(!there("prefix/state") && !there("prefix/scr.dataset.2") && !there("prefix/scr.dataset.3"),
        "SCR_Delete left something");
}

/* A run that turns containers on or off reads, and replaces, what the other kind has written. */
static void containers_and_files_follow_each_other(void)
{
  int i;

  begin_packing(LEAST);
  for (i = 1; i < 5; i++) {
    char name[20], before[20];
    snprintf(name, sizeof name, "ck%d", i);
    snprintf(before, sizeof before, "ck%d", i - 1);
    set("SCR_USE_CONTAINERS=%d", i % 2);
    lose_all_nodes();
    OK(SCR_Init());
    if (i > 1) get_shape(before, spans);
    OK(put_shape(name, SCR_FLAG_CHECKPOINT, spans, 1));
    OK(SCR_Finalize());
    if (i % 2 == 0) on_prefix_shape(name, spans);
  }
}

/* A run that still has a dataset in its cache copies it again if any of its containers is gone, or has lost bytes. */
static void lost_containers_are_copied_again(void)
{
  static const char* const ways[] = {"rm prefix/ck/.scr/ctr.0.scr", "rm prefix/ck/.scr/ctr.1.scr",
                                     "truncate -s 4000 prefix/ck/.scr/ctr.1.scr",
                                     "n=$(ls prefix/ck/.scr/ctr.* | wc -l); rm prefix/ck/.scr/ctr.$((n - 1)).scr"};
  size_t                   i;

  for (i = 0; i < sizeof ways / sizeof *ways; i++) {
    during("%s", ways[i]);
    begin_packing(LEAST);
    OK(SCR_Init());
    OK(put_shape("ck", SCR_FLAG_CHECKPOINT, spans, 1));
    OK(SCR_Finalize());
    shell("%s", ways[i]);
    run_gets_shape("ck", spans);
    check_containers("ck", bytes_of(spans), LEAST);
    lose_all_nodes();
    run_gets_shape("ck", spans);
  }
}

/* Containers of a copy that plain files have replaced do not speak for these. */
static void a_container_that_is_left_does_not_speak_for_files(void)
{
  begin_packing(LEAST);
  OK(SCR_Init());
  OK(put_shape("ck", SCR_FLAG_CHECKPOINT, spans, 1));
  OK(SCR_Finalize());
  shell("rm prefix/ck/.scr/rank2file.scr");
  set("SCR_USE_CONTAINERS=0");
  run_gets_shape("ck", spans); /* which copies it again */
  on_prefix_shape("ck", spans);
  CHECK(there("prefix/ck/.scr/ctr.0.scr"), "the container is gone: this case shows nothing");
  shell("rm prefix/ck/rank_*");
  run_gets_shape("ck", spans);
  on_prefix_shape("ck", spans);
  lose_all_nodes();
  run_gets_shape("ck", spans);
}

/* Zeros of a file stay holes in a container. */
static void holes_stay_holes_in_containers(void)
{
  char        path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME];
  struct stat st;
  FILE*       f;
  int         run;

  begin_packing((uint64_t)1 << 30);
  for (run = 0; run < 2; run++) {
    OK(SCR_Init());
    if (run == 0) OK(SCR_Start_output("ck", SCR_FLAG_CHECKPOINT));
    snprintf(path, sizeof path, "%s/ck/rank_%d", case_prefix, rank);
    OK(SCR_Route_file(path, file));
    if (run == 0) {
      f = fopen(file, "w");
      CHECK(f != NULL && fseek(f, 4 << 20, SEEK_SET) == 0 && fwrite("middle", 1, 6, f) == 6, "%s", file);
      CHECK(f != NULL && fseek(f, 8 << 20, SEEK_SET) == 0 && fwrite("e", 1, 1, f) == 1 && fclose(f) == 0, "%s", file);
      OK(SCR_Complete_output(1));
    } else {
      char buf[8] = "";
      f = fopen(file, "r");
      CHECK(f != NULL && fseek(f, 4 << 20, SEEK_SET) == 0 && fread(buf, 1, 6, f) == 6 && !memcmp(buf, "middle", 6),
            "%s", file);
      CHECK(f != NULL && fclose(f) == 0 && stat(file, &st) == 0 && st.st_size == (8 << 20) + 1, "%s", file);
    }
    OK(SCR_Finalize());
    snprintf(path, sizeof path, "%s/ck/.scr/ctr.0.scr", case_prefix);
    CHECK(stat(path, &st) == 0 && st.st_size == (off_t)ranks * ((8 << 20) + 1), "%s", path);
    CHECK((long long)st.st_blocks * 512 < (long long)ranks * (4 << 20), "%s takes %lld blocks", path,
          (long long)st.st_blocks);
    lose_all_nodes();
  }
}

/* Mode and time of a file are those that the application gave it, although it has lain in a container. */
static void a_restart_finds_mode_and_time_of_files(void)
{
  char            path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME];
  struct timespec times[2] = {{1000000000, 0}, {1000000000, 0}};
  struct stat     st;
  int             packed;

  for (packed = 0; packed < 2; packed++) {
    during("SCR_USE_CONTAINERS=%d", packed);
    begin_packing(LEAST);
    set("SCR_USE_CONTAINERS=%d", packed);
    OK(SCR_Init());
    OK(SCR_Start_output("ck", SCR_FLAG_CHECKPOINT));
    snprintf(path, sizeof path, "%s/ck/rank_%d", case_prefix, rank);
    OK(SCR_Route_file(path, file));
    CHECK(write_bytes(file, 3, 5000) && chmod(file, 0640) == 0 && utimensat(AT_FDCWD, file, times, 0) == 0, "%s", file);
    OK(SCR_Complete_output(1));
    OK(SCR_Finalize());
    if (!packed) CHECK(stat(path, &st) == 0 && st.st_mtime == 1000000000 && (st.st_mode & 0777) == 0640, "%s", path);
    lose_all_nodes();
    set("SCR_FLUSH_ON_RESTART=1");
    set("SCR_USE_CONTAINERS=0");
    OK(SCR_Init());
    OK(SCR_Route_file(path, file));
    CHECK(stat(file, &st) == 0 && st.st_mtime == 1000000000, "the time of %s is %lld", file, (long long)st.st_mtime);
    OK(SCR_Delete("ck"));
    OK(put_shape("next", SCR_FLAG_CHECKPOINT, spans, 1));
    OK(SCR_Finalize());
  }
}

/* A command takes one file, or all, out of containers, and leaves alone what is there. */
static void a_command_takes_files_out_of_containers(void)
{
  char path[SCR_MAX_FILENAME];
  int  packed, i;

  for (packed = 0; packed < 2; packed++) {
    during("SCR_USE_CONTAINERS=%d", packed);
    begin_packing(LEAST);
    set("SCR_USE_CONTAINERS=%d", packed);
    OK(SCR_Init());
    OK(put_shape("ck", SCR_FLAG_CHECKPOINT, spans, 1));
    OK(SCR_Finalize());
    shell("$TEST_INDEX -p prefix --extract ck ck/rank_1_1 --into one && test $(find one -type f | wc -l) = 1");
    shell("$TEST_INDEX -p \"$PWD/prefix\" -x ck rank_0_0 \"$PWD/prefix/ck/rank_0_1\" --into one && "
          "test $(find one -type f | wc -l) = 3");
    shell("mkdir all && cd all && $TEST_INDEX --extract ck -p ../prefix | grep -c . | grep -qx %d", 2 * ranks);
    for (i = 0; i < 2; i++) {
      snprintf(path, sizeof path, "%s/all/ck/rank_%d_%d", case_dir, rank, i);
      CHECK(same_bytes(path, seed_of("ck", rank, i), spans->size(i)), "%s", path);
    }
    snprintf(path, sizeof path, "%s/one/ck/rank_%d_1", case_dir, rank);
    if (rank < 2) CHECK(same_bytes(path, seed_of("ck", rank, 1), spans->size(1)), "%s", path);
    shell("! $TEST_INDEX -p prefix -x ck rank_0_0 --into one 2> told && grep -q 'is there already' told");
    shell("! $TEST_INDEX -p prefix -x ck rank_0 --into two 2> told && grep -q 'no file rank_0' told && ! test -e two");
    shell("! $TEST_INDEX -p prefix -x none 2> told && grep -q 'no dataset none' told");
    shell("! $TEST_INDEX -p prefix --into two -l 2> told");
    if (packed) shell("printf X | dd of=prefix/ck/.scr/ctr.0.scr bs=1 seek=5 conv=notrunc 2> dd");
    else shell("printf X | dd of=prefix/ck/rank_0_0 bs=1 seek=5 conv=notrunc 2> dd");
    shell("! $TEST_INDEX -p prefix -x ck rank_0_0 --into two 2> told && grep -q damaged told && ! test -e "
          "two/ck/rank_0_0");
    if (packed) {
      shell("! $TEST_INDEX --drop ck -p prefix --add ck 2> told; $TEST_INDEX --drop ck -p prefix; "
            "! $TEST_INDEX --add ck -p prefix 2> told && grep -q 'is damaged' told");
    }
  }
}

/* ---- the map ---------------------------------------------------------------------------------------------------- */

/* The levels below the root that a map takes at least if its files have SIZE bytes, a few for each rank. */
static int least_levels(int size)
{
  if (ranks < 4 || size == 1 || size == 1000) return 1;
  if (size == 300) return ranks < 8 ? 1 : 2;
  return ranks < 16 ? 2 : 3;
}

/* With files of a few hundred bytes the map is a tree, of as many levels as it takes. */
static void the_map_of_many_ranks_is_a_tree(void)
{
  static const int sizes[] = {1, 200, 300, 1000};
  int              i, packed, level;
  char             path[SCR_MAX_FILENAME];

  for (packed = 0; packed < 2; packed++)
    for (i = 0; i < 4; i++) {
      during("SCR_RANK2FILE_SIZE=%d, SCR_USE_CONTAINERS=%d", sizes[i], packed);
      test_alive();
      begin_packing(LEAST);
      set("SCR_USE_CONTAINERS=%d", packed);
      set("SCR_RANK2FILE_SIZE=%d", sizes[i]);
      OK(SCR_Init());
      OK(put("ck", 1, 3000));
      OK(SCR_Finalize());
      for (level = 0; level < 9; level++) {
        snprintf(path, sizeof path, "prefix/ck/.scr/rank2file.%d.0.scr", level);
        if (!there(path)) break;
      }
      CHECK(level >= least_levels(sizes[i]), "%d levels", level + 1);
      lose_all_nodes();
      OK(SCR_Init());
      get("ck", 1, 3000);
      OK(SCR_Delete("ck"));
      OK(SCR_Finalize());
      CHECK(!there("prefix/ck"), "SCR_Delete left something");
    }
}

/* ---- damage ---------------------------------------------------------------------------------------------------- */

static void damage_of_a_container_is_seen(void)
{
  static const char* const ways[] = {"printf X | dd of=prefix/ck2/.scr/ctr.1.scr bs=1 seek=77 conv=notrunc 2>/dev/null",
                                     "truncate -s 4000 prefix/ck2/.scr/ctr.1.scr", "rm prefix/ck2/.scr/ctr.0.scr"};
  size_t                   i;

  for (i = 0; i < sizeof ways / sizeof *ways; i++) {
    during("%s", ways[i]);
    begin_packing(LEAST);
    OK(SCR_Init());
    OK(put_shape("ck1", SCR_FLAG_CHECKPOINT, spans, 1));
    OK(put_shape("ck2", SCR_FLAG_CHECKPOINT, spans, 1));
    OK(SCR_Finalize());
    lose_all_nodes();
    shell("%s", ways[i]);
    run_gets_shape("ck1", spans);
  }
}

/* ---- failures -------------------------------------------------------------------------------------------------- */

/*
** The N-th call of a flush fails, or all from the N-th on: whatever is on the prefix then, the next run gets it right.
*/
static void fail_flushes(int mode, int step)
{
  int n, any, hit, misses = 0; /* in a row: the ranks make different numbers of calls */

  for (n = 1 + turn(step); misses < ranks; n += step) {
    during("call %d of rank %d %s", n, n % ranks, mode == FAULT_DEAD ? "and later ones fail" : "fails");
    test_alive();
    begin_packing(LEAST);
    set("SCR_FLUSH=10");
    OK(SCR_Init());
    OK(put_shape("ck", SCR_FLAG_CHECKPOINT, spans, 1));
    if (mode == FAULT_DEAD || rank == n % ranks) fault_at(mode, FAULT_ALL, 0, n);
    same_code(SCR_Finalize());
    hit = fault_end() > 0;
    MPI_Allreduce(&hit, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    misses = any ? 0 : misses + 1;
    run_gets_shape("ck", spans);
    CHECK(count_in("prefix", ".tmp") == 0, "temporary files are left");
    /* a directory whose owner or summary cannot be read is not used for the metadata */
    check_containers(there("prefix/ck/.scr/summary.scr") ? "ck" : "scr.dataset.1", bytes_of(spans), LEAST);
    lose_all_nodes();
    run_gets_shape("ck", spans);
  }
}

static void a_flush_into_containers_that_fails_is_made_up_for(void)
{
  fail_flushes(FAULT_FAIL, pace(45, 15, 1));
}

static void a_flush_into_containers_that_is_killed_is_made_up_for(void)
{
  fail_flushes(FAULT_DEAD, pace(45, 15, 1));
}

/* A dataset that was dropped is on the prefix; when it is flushed once more, in vain, that copy stays. */
static void a_flush_that_fails_leaves_a_copy_that_was_dropped(void)
{
  int packed;

  for (packed = 0; packed < 2; packed++) {
    during("SCR_USE_CONTAINERS=%d", packed);
    begin_packing(LEAST);
    set("SCR_USE_CONTAINERS=%d", packed);
    OK(SCR_Init());
    OK(put_shape("ck", SCR_FLAG_CHECKPOINT, spans, 1));
    OK(SCR_Finalize());
    shell("$TEST_INDEX -p prefix --drop ck");
    fault_on(FAULT_PWRITE, "/prefix/ck/", "ck", INT_MAX);
    SCR_Init(); /* it flushes what is due */
    run_dies();
    CHECK(fault_end() > 0 || rank > 0, "nothing was flushed");
    lose_all_nodes();
    shell("$TEST_INDEX -p prefix --add ck");
    run_gets_shape("ck", spans);
  }
}

/* The run is killed between two renames, and the index is lost. */
static void an_index_is_built_of_containers_that_are_half_renamed(void)
{
  int n;

  for (n = 0; n < 4; n++) {
    char part[20];
    snprintf(part, sizeof part, "ctr.%d.scr", n);
    during("%s", part);
    begin_packing(LEAST);
    OK(SCR_Init());
    fault_on(FAULT_RENAME, "/prefix/ck/.scr/", part, INT_MAX);
    CHECK(put_shape("ck", SCR_FLAG_CHECKPOINT, spans, 1) != SCR_SUCCESS, "it was flushed");
    run_dies();
    fault_end();
    lose_all_nodes();
    shell("rm prefix/.scr/index.scr && $TEST_INDEX -p prefix --build");
    run_gets_shape("ck", spans);
  }
}

/* ---- killed, with containers and without --------------------------------------------------------------------- */

/* A run with ck1 and ck2, of which the prefix keeps one. */
static void begin_window(int packed)
{
  begin();
  set("SCR_USE_CONTAINERS=%d", packed);
  set("SCR_CONTAINER_SIZE=4096");
  set("SCR_FLUSH=1");
  OK(SCR_Init());
  OK(put("ck1", 2, 5000));
}

/* ck1 falls out of the window, the job dies at a removal of one of its files, in check each third; nodes are lost. */
static void a_killed_deletion_on_the_prefix_is_finished_by_the_next_run(void)
{
  int packed, n, struck;

  for (packed = 0; packed < 2; packed++)
    for (n = 1 + turn(pace(3, 1, 1)), struck = 1; struck > 0; n += pace(3, 1, 1)) {
      during("%s, removal %d", packed ? "containers" : "files", n);
      test_alive();
      begin_window(packed);
      OK(SCR_Finalize());
      set("SCR_PREFIX_SIZE=1");
      OK(SCR_Init());
      get("ck1", 2, 5000);
      fault_at(FAULT_DEAD, FAULT_UNLINK | FAULT_RMDIR, EIO, n);
      fault_below("/prefix/ck1");
      put("ck2", 2, 5000);
      struck = fault_end();
      run_dies();
      lose_all_nodes();
      run_gets("ck2", 2, 5000);
      CHECK(!there("prefix/ck1"), "something of ck1 is left");
      OK(SCR_Init()); /* what is finished is not done again */
      OK(put("ck1", 2, 5000));
      OK(SCR_Finalize());
      run_fetches("ck1", 2, 5000);
    }
  CHECK(n > 4 + pace(3, 1, 1), "%d removals", n);
}

static int dead;

static void dies(int done)
{
  if (!done) dead = 1;
}

/*
** The flush of ck2 is killed before the index has it, and the nodes are lost.  The next ck2 has the directory of that
** name for itself; but scr_index --build finds the first one.
*/
static void what_a_killed_flush_left_does_not_take_the_place_of_the_next_one(void)
{
  int packed, built;

  for (packed = 0; packed < 2; packed++)
    for (built = 0; built < 2; built++) {
      during("%s, %s", packed ? "containers" : "files", built ? "a new index" : "the next flush");
      begin_window(packed);
      dead = 0;
      fault_rename_kills("/prefix/.scr/", "index.scr", 1, dies, &dead);
      put("ck2", 2, 5000);
      fault_end();
      CHECK(dead, "the index was not written");
      run_dies();
      lose_all_nodes();
      if (built) shell("$TEST_INDEX --build --prefix prefix");
      OK(SCR_Init());
      get(built ? "ck2" : "ck1", 2, 5000);
      if (!built) OK(put("ck2", 2, 5000));
      OK(SCR_Finalize());
      CHECK(!there("prefix/scr.dataset.2") && !there("prefix/scr.dataset.3"), "it is in another directory");
      CHECK(count_in("prefix", ".tmp") == 0, "temporary files are left");
      run_fetches("ck2", 2, 5000);
    }
}

const test_case containers_cases[] = {CASE(what_is_packed_is_fetched_whole, "4 | 1 2 5", "3 9"),
                                      CASE(files_of_a_node_are_packed_together, "4"),
                                      CASE(packed_checkpoints_of_the_same_names_do_not_replace_each_other, "3"),
                                      CASE(containers_and_files_follow_each_other, "3"),
                                      CASE(holes_stay_holes_in_containers, "2"),
                                      CASE(a_restart_finds_mode_and_time_of_files, "2"),
                                      CASE(a_command_takes_files_out_of_containers, "3"),
                                      CASE(the_map_of_many_ranks_is_a_tree, "3 | 1 8", "5 16"),
                                      CASE(damage_of_a_container_is_seen, "2"),
                                      CASE(lost_containers_are_copied_again, "2"),
                                      CASE(a_container_that_is_left_does_not_speak_for_files, "2"),
                                      CASE(a_flush_that_fails_leaves_a_copy_that_was_dropped, "2"),
                                      CASE(an_index_is_built_of_containers_that_are_half_renamed, "2"),
                                      CASE(a_flush_into_containers_that_fails_is_made_up_for, "2"),
                                      CASE(a_flush_into_containers_that_is_killed_is_made_up_for, "2"),
                                      CASE(a_killed_deletion_on_the_prefix_is_finished_by_the_next_run, "1"),
                                      CASE(what_a_killed_flush_left_does_not_take_the_place_of_the_next_one, "1"),
                                      CASES_END};
