/*
** interop.c - a way in: prefix directories that releases 1.2 and 3 have written.
**
** The records are those that these releases wrote, in tests/data; the files that they name are made here.
*/
#include "mpi_test.h"

#include <stdlib.h>

static const char* const names[] = {"ckpt.1", "ckpt.2", "ckpt.3"};

/* Bytes of a file of RANK, which add up to what the summaries say. */
static size_t bytes_of_1_2(int r)
{
  return (size_t)(524295 + r);
}

static size_t bytes_of_3(int r)
{
  return (size_t)(r < 3 ? 100000 + r : 409634 - 300003);
}

/* The prefix of RELEASE, with its files in directories of their names, each rank its own. */
static void begin_release(const char* release, size_t (*bytes)(int r))
{
  char path[SCR_MAX_FILENAME];
  int  i;

  begin();
  set("SCR_FLUSH=1");
  for (i = 0; i < 3; i++) {
    shell("mkdir -p prefix/%s prefix/.scr/scr.dataset.%d", names[i], i + 1);
    snprintf(path, sizeof path, "%s/%s/rank_%d.ckpt", case_prefix, names[i], rank);
    CHECK(write_bytes(path, (unsigned)(10 * i + rank), bytes(rank)), "%s", path);
  }
  shell("cp $TEST_DATA/%s/index.scr $TEST_DATA/%s/flush.scr prefix/.scr", release, release);
  shell("cp $TEST_DATA/%s/summary.scr $TEST_DATA/%s/rank2file* prefix/.scr/scr.dataset.3; rm -f prefix/.scr/*/*.txt",
        release, release);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* That a restart gets the bytes of checkpoint I. */
static void gets(int i, size_t (*bytes)(int r))
{
  char name[SCR_MAX_FILENAME] = "", path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME];
  int  flag;

  OK(SCR_Have_restart(&flag, name));
  CHECK(flag == 1 && strcmp(name, names[i]) == 0, "%d %s", flag, name);
  if (!flag) return;
  OK(SCR_Start_restart(NULL));
  snprintf(path, sizeof path, "%s/%s/rank_%d.ckpt", case_prefix, names[i], rank);
  OK(SCR_Route_file(path, file));
  CHECK(same_bytes(file, (unsigned)(10 * i + rank), bytes(rank)), "%s", file);
  OK(SCR_Complete_restart(1));
}

/* The restart, the work that follows, and what other tools find afterwards. */
static void goes_on(const char* kept, size_t (*bytes)(int r))
{
  OK(SCR_Init());
  gets(2, bytes);
  OK(put("ckpt.4", 1, 1000));
  OK(SCR_Finalize());
  CHECK(there(kept), "%s is not there", kept);
  CHECK(index_marks("FAILED") == 0, "a checkpoint is held against the application");
  shell("$TEST_INDEX -p prefix --list | grep -c ckpt | grep -qx 4");
  run_gets("ckpt.4", 1, 1000);
  run_fetches("ckpt.4", 1, 1000);
  shell("$TEST_INDEX -p prefix --current ckpt.3");
  lose_all_nodes();
  OK(SCR_Init());
  gets(2, bytes);
  OK(SCR_Finalize());
}

static void a_prefix_of_release_1_2_is_restarted_from(void)
{
  begin_release("scr-1.2.2", bytes_of_1_2);
  if (rank == 0) {
    char path[SCR_MAX_FILENAME];
    snprintf(path, sizeof path, "%s/.scr/scr.dataset.3/rank2file.0.0.scr", case_prefix);
    CHECK(record_strip(path, "CRC") == 4, "%s", path); /* those of files that are not here */
  }
  goes_on("prefix/.scr/index.scr.version1", bytes_of_1_2);
}

static void a_prefix_of_release_3_is_restarted_from(void)
{
  begin_release("scr-3.1", bytes_of_3);
  goes_on("prefix/.scr/index.scr.version2", bytes_of_3);
}

/* A file that all ranks have written, each a part; the map of release 3 names the first of them alone. */
static void what_ranks_of_release_3_wrote_together_is_restarted_from(void)
{
  char      path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME];
  const int bytes = 4000;
  int       flag, others;

  for (others = 0; others <= 1; others++) {
    during(others ? "ranks without a file are in the map" : "ranks without a file are not in the map");
    begin_release("scr-3.1", bytes_of_3);
    snprintf(path, sizeof path, "%s/ckpt.3/all", case_prefix);
    if (rank == 0) {
      CHECK(write_bytes(path, 5, (size_t)bytes), "%s", path);
      snprintf(path, sizeof path, "%s/.scr/scr.dataset.3/rank2file.0.0", case_prefix);
      if (others) CHECK(record_strip(path, "FILE") == 4, "%s", path);
      else CHECK(record_strip(path, "RANK") == 1, "%s", path);
      record_put(path, "RANK 0 FILE %s", "ckpt.3/all");
      snprintf(path, sizeof path, "%s/.scr/scr.dataset.3/summary.scr", case_prefix);
      CHECK(record_replace(path, "FILES", "1") == 1 && record_replace(path, "SIZE", "4000") == 1, "%s", path);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    OK(SCR_Init());
    OK(SCR_Have_restart(&flag, NULL));
    CHECK(flag, "not offered");
    OK(SCR_Start_restart(NULL));
    snprintf(path, sizeof path, "%s/ckpt.3/all", case_prefix);
    OK(SCR_Route_file(path, file));
    CHECK(strcmp(path, file) == 0 && same_bytes(file, 5, (size_t)bytes), "%s", file);
    OK(SCR_Complete_restart(1));
    OK(put("ckpt.4", 1, 1000));
    OK(SCR_Finalize());
    CHECK(index_marks("FAILED") == 0, "a checkpoint is held against the application");
    run_gets("ckpt.4", 1, 1000);
  }
}

/* What cannot be read is not judged, and the index stays as it is until there is something to write. */
static void what_another_release_has_damaged_is_not_judged(void)
{
  static const char* const ways[] = {"truncate -s 5 prefix/ckpt.3/rank_1.ckpt",
                                     "rm prefix/.scr/scr.dataset.3/rank2file.0.0",
                                     "rm prefix/.scr/scr.dataset.3/rank2file", "rm prefix/ckpt.3/rank_0.ckpt"};
  size_t                   i;
  int                      flag;

  for (i = 0; i < sizeof ways / sizeof *ways; i++) {
    during("%s", ways[i]);
    begin_release("scr-3.1", bytes_of_3);
    shell("%s", ways[i]);
    OK(SCR_Init());
    CODE(SCR_Have_restart(&flag, NULL), SCR_ERR_NO_RESTART, "ckpt.3");
    OK(SCR_Finalize());
    CHECK(index_marks("FAILED") == 0, "a checkpoint is held against the application");
    shell(
        "test ! -e prefix/.scr/index.scr.version2 || cmp prefix/.scr/index.scr.version2 $TEST_DATA/scr-3.1/index.scr");
  }
}

/* Two files of each rank that a program wrote without the library; the last rank has one more. */
static int plain_files(void)
{
  return rank == ranks - 1 ? 3 : 2;
}

static size_t plain_size(int i)
{
  return size_of(i, 3000);
}

static const shape plain = {"plain files", plain_files, plain_size, NULL};

static void files_that_were_never_written_through_the_library_are_restarted_from(void)
{
  char path[SCR_MAX_FILENAME], dir[SCR_MAX_FILENAME];
  int  i;

  begin();
  snprintf(dir, sizeof dir, "%s/ck1", case_prefix);
  if (rank == 0) make_dir(dir);
  MPI_Barrier(MPI_COMM_WORLD);
  for (i = 0; i < plain_files(); i++) {
    path_of("ck1", &plain, i, path);
    CHECK(write_bytes(path, seed_of("ck1", rank, i), plain_size(i)), "%s", path);
  }
  shell("ls prefix/ck1 | sed 's/rank_\\([0-9]*\\)/\\1 &/' > manifest; '%s' -p '%s' --add ck1 --manifest manifest",
        getenv("TEST_INDEX"), case_prefix);
  run_gets_shape("ck1", &plain);
  set("SCR_FLUSH=1");
  run_puts("ck2", 1, 1000);
  lose_all_nodes();
  run_gets("ck2", 1, 1000);
}

const test_case interop_cases[] = {CASE(a_prefix_of_release_1_2_is_restarted_from, "4"),
                                   CASE(a_prefix_of_release_3_is_restarted_from, "4"),
                                   CASE(what_ranks_of_release_3_wrote_together_is_restarted_from, "4"),
                                   CASE(what_another_release_has_damaged_is_not_judged, "4"),
                                   CASE(files_that_were_never_written_through_the_library_are_restarted_from, "4 | 1"),
                                   CASES_END};
