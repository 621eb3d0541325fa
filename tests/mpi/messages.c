/*
** messages.c - what a run says: an error of many ranks is one line, and none is lost.
*/
#include "mpi_test.h"

static char said[16384];

/* End `hear`; how many lines all ranks have said since then that hold WORD. */
static int lines_with(const char* word)
{
  int mine, all;

  heard(said, sizeof said);
  mine = times(said, word);
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

/* That the line of rank WHO, which only PRINTER printed, holds WORD. */
static void line_of(int printer, int who, const char* word)
{
  char head[64];

  snprintf(head, sizeof head, ": rank %d on ", who);
  if (rank != printer) return;
  CHECK(times(said, "\n") == 1 && strstr(said, head) != NULL && strstr(said, word) != NULL, "not %s%s: %s", head, word,
        said);
  snprintf(head, sizeof head, "rank %d", who);
  CHECK(times(said, head) == 1, "its rank is told twice: %s", said);
}

/* All ranks but the first route a name that is not below the prefix; twice the same is one error. */
static void an_error_of_many_ranks_in_a_dataset_is_one_line(void)
{
  char file[SCR_MAX_FILENAME];

  begin();
  OK(SCR_Init());
  OK(SCR_Start_output("ck1", SCR_FLAG_CHECKPOINT));
  hear();
  if (rank > 0) CODE(SCR_Route_file("/nowhere/file", file), SCR_ERR_PATH, "below the prefix");
  if (rank > 0) CODE(SCR_Route_file("/nowhere/file", file), SCR_ERR_PATH, "below the prefix");
  ALIKE(SCR_Complete_output(1), SCR_ERR_PATH, "below the prefix");
  CHECK(rank == 1 || strncmp(SCR_Last_error(), "rank 1 on ", 10) == 0, "%s", SCR_Last_error());
  CHECK(lines_with("\n") == 1, "said: %s", said);
  line_of(0, 1, "(the first of 3 ranks with an error)");
  hear();
  CODE(put_valid("ck2", SCR_FLAG_CHECKPOINT, 1, 100, rank == 0), SCR_ERR_INVALID, "marked dataset");
  CHECK(lines_with("\n") == 1, "said: %s", said);
  line_of(0, 1, "(the first of 3 ranks with an error)");
  OK(SCR_Finalize());
}

/* Files that a restart does not find are told when it is completed; and by SCR_Finalize what no vote came for. */
static void an_error_of_many_ranks_in_a_restart_is_one_line(void)
{
  char file[SCR_MAX_FILENAME], name[SCR_MAX_FILENAME];
  int  flag;

  begin();
  set("SCR_FLUSH=0");
  run_puts("ck1", 1, 1000);
  OK(SCR_Init());
  OK(SCR_Have_restart(&flag, name));
  OK(SCR_Start_restart(name));
  hear();
  CODE(SCR_Route_file("ck1/no_such_file", file), SCR_ERR_MISSING, "no_such_file");
  OK(SCR_Complete_restart(1));
  CHECK(lines_with("\n") == 1, "said: %s", said);
  line_of(0, 0, "(the first of 4 ranks that say so)");
  OK(SCR_Finalize());
}

/* The first 7 ranks print what no vote follows; the others are one line, of the next vote, even in SCR_Finalize. */
static void what_happens_outside_a_dataset_is_told_by_8_ranks(void)
{
  char file[SCR_MAX_FILENAME];
  int  i, flag;

  begin();
  OK(SCR_Init()); /* which prints what waits from before MPI_Init */
  OK(SCR_Finalize());
  hear();
  CODE(SCR_Start_output("ck1", SCR_FLAG_CHECKPOINT), SCR_ERR_STATE, "before SCR_Init");
  CHECK(lines_with("\n") == 7, "said: %s", said);
  hear();
  OK(SCR_Init());
  CHECK(lines_with("before SCR_Init") == 1, "said: %s", said);
  line_of(7, 7, "(the first of 2 ranks that say so)");
  for (i = 0; i < 2; i++) {
    hear();
    CODE(SCR_Route_file(NULL, file), SCR_ERR_ARG, "needs a name");
    CODE(SCR_Route_file(NULL, file), SCR_ERR_ARG, "needs a name");
    CHECK(lines_with("needs a name") == 14, "said: %s", said);
    hear();
    OK(i == 0 ? SCR_Need_checkpoint(&flag) : SCR_Finalize());
    CHECK(lines_with("needs a name") == 1, "said: %s", said);
    line_of(7, 7, "(the first of 4 such messages, of 2 ranks)");
  }
}

/* A node is lost; then a bit of each of two files is wrong, and one warning tells of that, too. */
static void a_rebuild_is_one_line(void)
{
  char path[SCR_MAX_FILENAME];
  int  i;

  begin_nodes(&(scheme){"XOR", 1});
  set("SCR_FLUSH=0");
  run_puts("ck1", 2, 1000);
  hear();
  if (rank == 2) remove_tree(node_dir);
  MPI_Barrier(MPI_COMM_WORLD);
  OK(SCR_Init());
  CHECK(lines_with("\n") == 1, "said: %s", said);
  line_of(0, 0, "dataset 1: lost files of 1 of 4 ranks are rebuilt");
  get("ck1", 2, 1000);
  OK(SCR_Finalize());
  for (i = 0; i < 2; i++) {
    snprintf(path, sizeof path, "rank_1_%d", i);
    if (rank == 1 && find_file(node_dir, path, 0, path)) flip_bit(path, 7);
  }
  hear();
  MPI_Barrier(MPI_COMM_WORLD);
  OK(SCR_Init());
  CHECK(lines_with("\n") == 2, "said: %s", said);
  if (rank == 1) CHECK(strstr(said, "(the first of 2 such messages, of 1 rank)") != NULL, "said: %s", said);
  get("ck1", 2, 1000);
  OK(SCR_Finalize());
}

/* The cache has lost ck3, which is on the prefix: with SCR_FETCH=0 the run goes on from ck2, and says so. */
static void what_scr_fetch_keeps_from_being_fetched_is_named(void)
{
  begin();
  set("SCR_FLUSH=1");
  set("SCR_CACHE_SIZE=3");
  OK(SCR_Init());
  put("ck1", 1, 1000);
  put("ck2", 1, 2000);
  put("ck3", 1, 3000);
  OK(SCR_Finalize());
  shell("find cache -path '*dataset.3/*' -type f -delete");
  set("SCR_FETCH=0");
  hear();
  OK(SCR_Init());
  CHECK(lines_with("the prefix has the newer checkpoint ck3, which is not fetched; this run goes on from ck2") == 1,
        "said: %s", said);
  get("ck2", 1, 2000);
  OK(SCR_Finalize());
  shell("find cache -path '*dataset.1/*' -type f -delete");
  OK(SCR_Init());
  rejects("ck2");
  refused("ck3 fetched");
  OK(SCR_Finalize());
}

/* The place in the source is for who asks for it. */
static void only_scr_debug_names_the_place_in_the_source(void)
{
  int debug;

  for (debug = 0; debug < 2; debug++) {
    begin();
    set("SCR_DEBUG=%d", debug);
    OK(SCR_Init());
    ALIKE(SCR_Drop("none"), SCR_ERR_NOT_FOUND, "none");
    CHECK((strstr(SCR_Last_error(), " [scr_impl.c:") != NULL) == debug, "SCR_DEBUG=%d: %s", debug, SCR_Last_error());
    OK(SCR_Finalize());
  }
}

const test_case messages_cases[] = {CASE(an_error_of_many_ranks_in_a_dataset_is_one_line, "4"),
                                    CASE(an_error_of_many_ranks_in_a_restart_is_one_line, "4"),
                                    CASE(what_happens_outside_a_dataset_is_told_by_8_ranks, "9"),
                                    CASE(a_rebuild_is_one_line, "4"),
                                    CASE(what_scr_fetch_keeps_from_being_fetched_is_named, "3 | 1"),
                                    CASE(only_scr_debug_names_the_place_in_the_source, "2"),
                                    CASES_END};
