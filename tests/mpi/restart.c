/*
** restart.c - what a run restarts from: the newest checkpoint, the one that the user chose, or the next one when the
** application rejects it; and when there is none.
*/
#include "mpi_test.h"

static size_t small_size(int i)
{
  return size_of(i, 1000);
}

static const shape small = {"a small one", one_file, small_size, NULL};

static void a_run_restarts_from_the_newest_checkpoint(void)
{
  begin();
  set("SCR_CACHE_SIZE=2");
  OK(SCR_Init());
  get(NULL, 0, 0);
  OK(put("ck1", 2, 5000));
  OK(put("ck2", 3, 70000));
  OK(SCR_Finalize());
  OK(SCR_Init());
  get("ck2", 3, 70000);
  OK(put("ck3", 1, 300000)); /* more than one message */
  OK(SCR_Finalize());
  run_gets("ck3", 1, 300000);
}

/* The old style: SCR_Route_file right after SCR_Init, and no other call of a restart. */
static void files_are_found_right_after_init_without_calls_of_a_restart(void)
{
  char path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME];

  begin();
  OK(SCR_Init());
  name_of("ck1", 0, path);
  CODE(SCR_Route_file(path, file), SCR_ERR_MISSING, "ck1");
  CHECK(*file == '\0', "%s", file);
  OK(put("ck1", 2, 1000));
  OK(SCR_Finalize());
  OK(SCR_Init());
  CHECK(holds("ck1", 2, 1000), "wrong bytes");
  OK(SCR_Route_file(path, file));
  CHECK(strcmp(file, path) != 0, "the file of the loaded checkpoint is not in the cache");
  OK(SCR_Start_checkpoint());
  OK(SCR_Complete_checkpoint(1));
  snprintf(path, sizeof path, "%s/input.%d", case_prefix, rank); /* a file that no dataset holds */
  CHECK(write_bytes(path, 1, 10), "%s", path);
  OK(SCR_Route_file(path, file));
  CHECK(strcmp(file, path) == 0, "%s", file);
  OK(SCR_Finalize());
}

/* ck2 has its own files only; that of ck1 with the name that is asked for lies on the prefix. */
static void a_restart_gets_no_file_of_another_checkpoint(void)
{
  char path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME], name[SCR_MAX_FILENAME];
  int  flag;

  begin();
  set("SCR_FLUSH=1");
  OK(SCR_Init());
  OK(put("ck1", 1, 1000));
  OK(put("ck2", 1, 1000));
  OK(SCR_Finalize());
  name_of("ck1", 0, path);
  CHECK(access(path, R_OK) == 0, "%s is not there", path);
  OK(SCR_Init());
  OK(SCR_Have_restart(&flag, name));
  OK(SCR_Start_restart(name));
  CODE(SCR_Route_file(path, file), SCR_ERR_MISSING, "rank_");
  CHECK(*file == '\0', "it is routed to %s", file);
  CHECK(holds("ck2", 1, 1000), "wrong bytes");
  OK(SCR_Complete_restart(1));
  OK(SCR_Finalize());
}

/* ---- rejected -------------------------------------------------------------------------------------------------- */

/* The application rejects a checkpoint, and is offered the older ones, of the cache and then of the prefix. */
static void after_a_rejected_checkpoint_the_next_older_one_is_offered(void)
{
  int  flag;
  char name[SCR_MAX_FILENAME];

  begin();
  set("SCR_CACHE_SIZE=2");
  set("SCR_FLUSH=1");
  OK(SCR_Init());
  OK(put("ck1", 1, 1000));
  OK(put("ck2", 1, 2000));
  OK(put("ck3", 1, 3000));
  OK(SCR_Finalize());
  OK(SCR_Init());
  OK(SCR_Have_restart(&flag, NULL));
  OK(SCR_Start_restart(name));
  CHECK(flag == 1 && strcmp(name, "ck3") == 0, "%d %s", flag, name);
  ALIKE(SCR_Complete_restart(rank != 0), SCR_ERR_INVALID, "ck3");
  OK(SCR_Have_restart(&flag, NULL));
  OK(SCR_Start_restart(name));
  CHECK(flag == 1 && strcmp(name, "ck2") == 0, "%d %s", flag, name);
  CODE(SCR_Complete_restart(0), SCR_ERR_INVALID, "ck2");
  get("ck1", 1, 1000);
  OK(put("ck4", 1, 1000));
  OK(SCR_Finalize());
  run_gets("ck4", 1, 1000);
}

/*
** While the program reads, the cache of a node is lost, or the directory on the prefix is away: what it cannot read is
** not rejected, and no older checkpoint takes its place.  The next run has it.
*/
static void what_is_lost_while_it_is_read_is_not_rejected(void)
{
  int  flag, in_place;
  char file[SCR_MAX_FILENAME], path[SCR_MAX_FILENAME];

  for (in_place = 0; in_place < 2; in_place++) {
    begin();
    during(in_place ? "read in place" : "from the cache");
    set("SCR_CACHE_SIZE=2");
    set("SCR_FLUSH=1");
    OK(SCR_Init());
    OK(put("ck1", 1, 1000));
    OK(put("ck2", 1, 1000));
    OK(SCR_Finalize());
    if (in_place) lose_all_nodes();
    set("SCR_FETCH_BYPASS=%d", in_place);
    OK(SCR_Init());
    OK(SCR_Have_restart(&flag, NULL));
    OK(SCR_Start_restart(NULL));
    if (in_place) shell("mv prefix/ck2 aside");
    else shell("rm $(find cache -name rank_%d_0)", ranks - 1);
    name_of("ck2", 0, path);
    if (in_place) CODE(SCR_Route_file(path, file), SCR_ERR_MISSING, "is missing");
    else OK(SCR_Route_file(path, file));
    ALIKE(SCR_Complete_restart(access(file, R_OK) == 0), SCR_ERR_INVALID, "files of it are gone, or could not be had");
    if (in_place) shell("mv aside prefix/ck2");
    ALIKE(SCR_Have_restart(&flag, NULL), SCR_ERR_NO_RESTART, "files of it are gone, or could not be had");
    CHECK(!flag, "another checkpoint is offered");
    SCR_Finalize();
    run_gets("ck2", 1, 1000);
  }
  OK(SCR_Init()); /* a rank that has read its files may remove them: that another one rejects them counts */
  OK(SCR_Have_restart(&flag, NULL));
  OK(SCR_Start_restart(NULL));
  name_of("ck2", 0, path);
  OK(SCR_Route_file(path, file));
  if (rank > 0) unlink(file);
  ALIKE(SCR_Complete_restart(rank != 0), SCR_ERR_INVALID, "another checkpoint");
  get("ck1", 1, 1000);
  OK(SCR_Finalize());
}

/* What each rank says of a rejection: rank 0 one line with the name, and no other rank anything. */
static void a_rejection_is_told_once(void)
{
  char text[8192];
  int  cached;

  for (cached = 0; cached < 2; cached++) {
    during("%s", cached ? "cached" : "on the prefix");
    begin();
    set("SCR_FLUSH=%d", !cached);
    set("SCR_CACHE_SIZE=2");
    OK(SCR_Init());
    OK(put("first", 1, 1000));
    OK(put("second", 1, 2000));
    OK(SCR_Finalize());
    if (!cached) lose_all_nodes();
    OK(SCR_Init());
    hear();
    rejects("second");
    get("first", 1, 1000);
    heard(text, sizeof text);
    CHECK(times(text, "second") == (rank == 0) && times(text, "SCR ") == (rank == 0), "%s", text);
    OK(SCR_Finalize());
  }
}

/* One node is lost, and its files are rebuilt; or a whole set is, so that rank 0 does not know the checkpoint. */
static void messages_tell_names_and_numbers_that_mean_something(void)
{
  static const scheme xor_1 = {"XOR", 1};
  char                text[8192];
  int                 lost, flag;

  for (lost = 0; lost < 3; lost++) {
    during("%d nodes are lost", lost);
    begin_nodes(&xor_1);
    set("SCR_SET_SIZE=2");
    run_puts("ck1", 1, 1000);
    if (rank < lost) lose(NODE);
    MPI_Barrier(MPI_COMM_WORLD);
    set("SCR_DEBUG=1");
    hear();
    OK(SCR_Init());
    (void)same_code(SCR_Have_restart(&flag, NULL));
    OK(SCR_Finalize());
    heard(text, sizeof text);
    CHECK(flag == (lost < 2), "%d: %s", flag, text);
    CHECK(times(text, "dataset 1") > 0 || rank > 0, "%s", text);
    CHECK(times(text, "dataset 1 ?") == 0 && times(text, "files of 0 ranks") == 0, "%s", text);
  }
}

/* A run can neither fetch its only checkpoint nor reach its cache: each cause is in one warning, and in the error. */
static void a_checkpoint_that_cannot_be_fetched_is_told_once(void)
{
  char text[8192];
  int  flag, fetched, reached;

  begin();
  set("SCR_FLUSH=1");
  run_puts("ck1", 1, 1000);
  lose_all_nodes();
  shell("mv prefix/ck1/rank_0_0 away");
  hear();
  OK(SCR_Init());
  ALIKE(SCR_Have_restart(&flag, NULL), SCR_ERR_NO_RESTART, "cannot be fetched");
  fetched = times(SCR_Last_error(), "cannot be fetched");
  reached = times(SCR_Last_error(), "cannot be reached");
  OK(SCR_Finalize());
  heard(text, sizeof text);
  CHECK(fetched == 1 && reached == 1, "they are %d and %d times in the error", fetched, reached);
  CHECK(rank > 0 || times(text, "SCR warning") == 2, "%d warnings: %s", times(text, "SCR warning"), text);
  CHECK(rank > 0 || (times(text, "cannot be fetched") == 2 && times(text, "cannot be reached") == 2), "%s", text);
}

/* A cached checkpoint that no rank can reach is named once in the error. */
static void a_checkpoint_that_cannot_be_reached_is_told_once(void)
{
  int flag, found;

  begin();
  set("SCR_FLUSH=0");
  OK(SCR_Init());
  OK(put("ck1", 1, 1000));
  run_dies();
  lose_all_nodes();
  OK(SCR_Init());
  ALIKE(SCR_Have_restart(&flag, NULL), SCR_ERR_NO_RESTART, "ck1 (dataset 1");
  found = times(SCR_Last_error(), "ck1 (dataset 1");
  CHECK(found == 1, "it is %d times in the error: %s", found, SCR_Last_error());
  OK(SCR_Finalize());
}

/* A rebuild moves nothing: it is not told that 0 ranks have moved. */
static void a_message_does_not_count_0_ranks(void)
{
  static const scheme xor_1 = {"XOR", 1};
  char                text[8192];

  begin_nodes(&xor_1);
  run_puts("ck1", 1, 1000);
  if (rank == 0) lose(NODE);
  MPI_Barrier(MPI_COMM_WORLD);
  set("SCR_DEBUG=1");
  OK(init_says(text, sizeof text));
  OK(SCR_Finalize());
  CHECK(times(text, " 0 ranks") == 0, "%s", text);
}

/* A note without a name, as older versions left it: the number tells enough. */
static void a_checkpoint_without_a_name_is_not_called_a_question_mark(void)
{
  char text[8192], path[800];

  begin();
  set("SCR_FLUSH=0");
  OK(SCR_Init());
  OK(put("ck1", 1, 1000));
  run_dies();
  snprintf(path, sizeof path, "%s/.scr/flush.scr", case_prefix);
  if (rank == 0) CHECK(record_strip(path, "NAME") == 1, "no name in %s", path);
  MPI_Barrier(MPI_COMM_WORLD);
  set("SCR_CACHE_PURGE=1");
  OK(init_says(text, sizeof text));
  OK(SCR_Finalize());
  CHECK(rank > 0 || times(text, "(dataset 1)") == 1, "%s", text);
  CHECK(times(text, " ? ") == 0, "%s", text);
}

/* All checkpoints are rejected: a fresh start is refused until it is asked for. */
static void a_fresh_start_is_refused_until_it_is_asked_for(void)
{
  int  flag;
  char name[SCR_MAX_FILENAME];

  begin();
  run_puts("ck1", 1, 1000);
  OK(SCR_Init());
  OK(SCR_Have_restart(&flag, name));
  OK(SCR_Start_restart(name));
  CODE(SCR_Complete_restart(0), SCR_ERR_INVALID, "ck1");
  CODE(SCR_Have_restart(&flag, name), SCR_ERR_NO_RESTART, "SCR_FRESH_START");
  CHECK(flag == 0, "%d", flag);
  CODE(SCR_Start_output("ck2", SCR_FLAG_CHECKPOINT), SCR_ERR_NO_RESTART, "SCR_FRESH_START");
  CODE(SCR_Route_file(case_prefix, name), SCR_ERR_NO_RESTART, "SCR_FRESH_START");
  CHECK(*name == '\0', "routed to %s", name);
  CODE(SCR_Complete_output(1), SCR_ERR_NO_RESTART, "SCR_FRESH_START");
  OK(SCR_Finalize());
  OK(SCR_Init());
  CODE(SCR_Have_restart(&flag, name), SCR_ERR_NO_RESTART, "dataset 1");
  OK(SCR_Finalize());
  set("SCR_FRESH_START=1");
  OK(SCR_Init());
  get(NULL, 0, 0);
  OK(put("ck2", 1, 1000));
  OK(SCR_Finalize());
  set("SCR_FRESH_START=");
  run_gets("ck2", 1, 1000);
}

/* The state of the case between two runs: keep it, and go back to it. */
static void save(void)
{
  shell("rm -rf saved; mkdir saved; cp -a prefix cntl cache saved");
}

static void go_back(void)
{
  shell("rm -rf prefix cntl cache; cp -a saved/* .");
}

/* No file of the cache that was there at save() is gone or has changed. */
static void cache_is_kept(void)
{
  shell("! diff -r saved/cache cache | grep -v '^Only in cache'");
}

/* The loop of scr.h over the wrong input: it cannot use ck4 (both places), ck3 (cached) and ck2 (on the prefix). */
static void run_with_the_wrong_input(void)
{
  OK(SCR_Init());
  rejects("ck4");
  rejects("ck3");
  rejects("ck2");
  refused("ck4 ck3 ck2");
}

static void put_for_the_wrong_input(void)
{
  begin();
  set("SCR_FLUSH=2");
  set("SCR_CACHE_SIZE=2");
  run_puts_four();
  save();
}

static void a_run_with_the_wrong_input_costs_no_checkpoint(void)
{
  put_for_the_wrong_input();
  run_with_the_wrong_input();
  OK(SCR_Finalize());
  cache_is_kept();
  OK(SCR_Init()); /* the input is right now, but the rejections hold in this job */
  refused("ck4 ck3 ck2");
  OK(SCR_Finalize());
  cache_is_kept();
  lose_all_nodes(); /* nothing but the index knows of them */
  OK(SCR_Init());
  refused("ck4 ck2");
  OK(SCR_Finalize());
}

/* A run goes on from the choice, NAME of some BYTES; later ones go on from what it writes. */
static void goes_on_from(const char* name, size_t bytes)
{
  OK(SCR_Init());
  get(name, 1, bytes);
  OK(SCR_Finalize());
  OK(SCR_Init()); /* the choice holds */
  get(name, 1, bytes);
  OK(put("ck5", 1, 5000));
  run_dies();
  OK(SCR_Init());
  get("ck5", 1, 5000);
  OK(put("ck6", 1, 6000));
  OK(SCR_Finalize());
  run_gets("ck6", 1, 6000);
}

static void each_rejected_checkpoint_can_be_chosen_again(void)
{
  static const char* const names[] = {"ck2", "ck3", "ck4"};
  int                      i;

  put_for_the_wrong_input();
  run_with_the_wrong_input();
  OK(SCR_Current("ck3")); /* at once */
  get("ck3", 1, 3000);
  run_dies();
  goes_on_from("ck3", 3000);

  put_for_the_wrong_input();
  run_with_the_wrong_input();
  OK(SCR_Finalize());
  save();
  OK(SCR_Init()); /* in the next run */
  refused("");
  OK(SCR_Current("ck3"));
  get("ck3", 1, 3000);
  run_dies();
  goes_on_from("ck3", 3000);
  for (i = 0; i < 3; i++) {
    size_t bytes = (size_t)(i + 2) * 1000;
    during("%s, SCR_CURRENT", names[i]);
    go_back();
    set("SCR_CURRENT=%s", names[i]);
    goes_on_from(names[i], bytes);
    set("SCR_CURRENT=");
    during("%s, scr_index", names[i]);
    go_back();
    shell("$TEST_INDEX --current %s --prefix prefix", names[i]);
    goes_on_from(names[i], bytes);
  }
}

/* One place in the cache; what is rejected stays there until a newer checkpoint is complete. */
static void rejected_checkpoints_stay_until_a_newer_one_is_complete(void)
{
  begin();
  set("SCR_FLUSH=0");
  set("SCR_CACHE_SIZE=1");
  run_puts("ck1", 1, 1000);
  save();
  OK(SCR_Init());
  rejects("ck1");
  refused("ck1");
  OK(SCR_Finalize());
  cache_is_kept();
  set("SCR_CURRENT=ck1");
  OK(SCR_Init());
  get("ck1", 1, 1000);
  cache_is_kept();
  OK(put("ck2", 1, 1000));
  OK(SCR_Finalize());
  CHECK(cached_in("cache") == ID(3), "%x", cached_in("cache")); /* a choice leaves out an id */
}

/* The same for one that is newer than the one that the run goes on from, which has to be fetched. */
static void a_rejected_checkpoint_stays_beside_the_older_one_that_is_fetched(void)
{
  begin();
  set("SCR_FLUSH=1");
  set("SCR_CACHE_SIZE=1");
  run_puts("ck1", 1, 1000);
  set("SCR_FLUSH=0");
  run_puts("ck2", 1, 1000);
  save();
  OK(SCR_Init());
  rejects("ck2");
  get("ck1", 1, 1000);
  cache_is_kept();
  OK(open_shape("ck3", SCR_FLAG_CHECKPOINT, &small));
  cache_is_kept();
  run_dies();
  OK(SCR_Init()); /* still in the same job */
  get("ck1", 1, 1000);
  cache_is_kept();
  OK(put("ck4", 1, 1000));
  CHECK(cached_in("cache") == ID(4), "%x", cached_in("cache"));
  OK(SCR_Finalize());
}

/* ---- chosen ---------------------------------------------------------------------------------------------------- */

/* SCR_Current, SCR_Drop, SCR_Delete. */
static void checkpoints_are_chosen_dropped_and_deleted_by_name(void)
{
  begin();
  set("SCR_FLUSH=1");
  set("SCR_CACHE_SIZE=2");
  OK(SCR_Init());
  OK(put("ck1", 1, 1000));
  OK(put("ck2", 1, 1000));
  OK(put("ck3", 1, 1000));
  OK(put_valid("out", SCR_FLAG_OUTPUT, 1, 100, 1));
  OK(SCR_Finalize());

  OK(SCR_Init()); /* an older one, which only the prefix has */
  OK(SCR_Current("ck1"));
  get("ck1", 1, 1000);
  OK(SCR_Finalize());
  OK(SCR_Init()); /* the choice holds */
  get("ck1", 1, 1000);
  OK(put("ck4", 1, 1000));
  OK(SCR_Finalize());
  OK(SCR_Init()); /* until there is a newer one */
  get("ck4", 1, 1000);
  OK(SCR_Delete("ck4"));
  CHECK(!there("prefix/ck4"), "ck4 is on the prefix");
  CODE(SCR_Delete("ck4"), SCR_ERR_NOT_FOUND, "ck4");
  OK(SCR_Drop("ck3"));
  CHECK(there("prefix/ck3/rank_0_0"), "the files of ck3 are gone");
  CODE(SCR_Drop("ck3"), SCR_ERR_NOT_FOUND, "ck3");
  OK(SCR_Finalize());
  lose_all_nodes();
  OK(SCR_Init());
  get("ck1", 1, 1000); /* ck2 was passed over */
  OK(SCR_Delete("out"));
  CHECK(!there("prefix/out"), "out is on the prefix");
  OK(SCR_Finalize());
}

/* "beta" lies in the directory gamma, and "alpha" in the directory beta: a name is first of all a name. */
static void a_dataset_is_found_by_its_name_before_another_one_by_its_directory(void)
{
  static const shape in_gamma = {"gamma", one_file, small_size, "gamma/rank_%d_%d"};
  static const shape in_beta = {"beta", one_file, small_size, "beta/rank_%d_%d"};

  begin();
  set("SCR_FLUSH=1");
  OK(SCR_Init());
  OK(put_shape("beta", SCR_FLAG_CHECKPOINT, &in_gamma, 1));
  OK(put_shape("alpha", SCR_FLAG_CHECKPOINT, &in_beta, 1));
  OK(SCR_Finalize());
  OK(SCR_Init());
  OK(SCR_Current("beta"));
  get_shape("beta", &in_gamma);
  OK(SCR_Delete("beta"));
  CHECK(there("prefix/beta/rank_0_0") && !there("prefix/gamma"), "the wrong one is deleted");
  OK(SCR_Drop("beta")); /* now the directory */
  CHECK(index_marks("COMPLETE") == 0, "alpha is in the index");
  OK(SCR_Finalize());
}

/* Of two checkpoints with the same name the newer one is deleted, from the cache; the other one stays where it is. */
static void delete_takes_each_copy_of_the_newest_of_a_name_and_no_other(void)
{
  begin();
  set("SCR_CACHE_SIZE=3");
  set("SCR_FLUSH=1");
  run_puts("ck", 1, 1000);
  set("SCR_FLUSH=0");
  OK(SCR_Init());
  OK(put("ck", 2, 500));
  OK(SCR_Delete("ck"));
  on_prefix("ck", 1, 1000);
  OK(SCR_Finalize());
  run_gets("ck", 1, 1000);
  run_fetches("ck", 1, 1000);
  OK(SCR_Init());
  OK(SCR_Delete("ck")); /* cached and on the prefix */
  CHECK(!there("prefix/ck"), "ck is on the prefix");
  CODE(SCR_Delete("ck"), SCR_ERR_NOT_FOUND, "ck");
  OK(SCR_Finalize());
}

/* What was dropped stays off the prefix, until the user wants it. */
static void a_dropped_checkpoint_is_flushed_again_only_when_it_is_chosen(void)
{
  begin();
  set("SCR_FLUSH=1");
  set("SCR_CACHE_SIZE=3");
  OK(SCR_Init());
  OK(put("ck1", 1, 1000));
  OK(put("ck2", 1, 1000));
  OK(SCR_Drop("ck2"));
  OK(SCR_Drop("ck1"));
  OK(SCR_Finalize());
  CHECK(index_marks("COMPLETE") == 0, "a dropped checkpoint is in the index");
  set("SCR_FLUSH=0");
  OK(SCR_Init());
  OK(SCR_Current("ck1"));
  get("ck1", 1, 1000);
  OK(SCR_Drop("ck1"));
  OK(SCR_Current("ck1"));
  get("ck1", 1, 1000);
  OK(SCR_Finalize());
  run_fetches("ck1", 1, 1000);
}

static void a_wish_of_scr_current_is_served_once(void)
{
  begin();
  set("SCR_CACHE_SIZE=3");
  OK(SCR_Init());
  OK(put("ck1", 1, 1000));
  OK(put("ck2", 1, 1000));
  OK(put("ck3", 1, 1000));
  OK(SCR_Finalize());
  set("SCR_CURRENT=ck1");
  OK(SCR_Init());
  get("ck1", 1, 1000);
  OK(put("ck4", 1, 1000));
  OK(SCR_Finalize());
  run_gets("ck4", 1, 1000); /* the wish was served once */
}

/* The user chooses ck1 when newer ones have been written: the next run goes on from what was written after that. */
static void what_is_written_after_a_choice_goes_first(void)
{
  begin();
  set("SCR_FLUSH=1");
  set("SCR_CACHE_SIZE=5");
  OK(SCR_Init());
  OK(put("ck1", 1, 1000));
  OK(put("ck2", 1, 1000));
  OK(SCR_Current("ck1"));
  OK(put("ck3", 1, 1000));
  OK(put("ck4", 1, 1000));
  OK(SCR_Finalize());
  run_gets("ck4", 1, 1000);
  run_fetches("ck4", 1, 1000);
}

/* The user chooses ck1 before ck4 is written, in the cache alone, and lost: ck1 goes first again, not ck3. */
static void a_choice_holds_when_what_was_written_after_it_is_lost(void)
{
  begin();
  set("SCR_FLUSH=0");
  set("SCR_CACHE_SIZE=4");
  OK(SCR_Init());
  OK(put("ck1", 1, 1000));
  OK(put("ck2", 1, 1000));
  OK(put("ck3", 1, 1000));
  OK(SCR_Current("ck1"));
  OK(put("ck4", 1, 1000));
  OK(SCR_Finalize());
  shell("find cache -name scr.dataset.5 -prune -exec rm -r {} +"); /* a choice leaves out an id */
  run_gets("ck1", 1, 1000);
}

/* Datasets are in the cache, on the prefix, or in both places. */
enum { CACHED, ON_PREFIX, IN_BOTH, PLACES };

static const char* const place_names[] = {"cached", "on the prefix", "in both places"};

static void begin_four(int place, const char* id)
{
  during("%s", place_names[place]);
  begin();
  as_job(id);
  set("SCR_FLUSH=%d", place != CACHED);
  set("SCR_CACHE_SIZE=6");
  run_puts_four();
  if (place == ON_PREFIX) lose_all_nodes();
  set("SCR_FLUSH=0");
}

/* What is newer than the choice is offered no more, not even when the choice and all older ones are rejected. */
static void what_is_newer_than_a_choice_is_passed_over(void)
{
  int place;

  for (place = 0; place < PLACES; place++) {
    begin_four(place, place == CACHED ? NULL : "first"); /* so the other job below has the same cache */
    set("SCR_CURRENT=ck2");
    OK(SCR_Init());
    get("ck2", 1, 2000);
    run_dies();
    set("SCR_CURRENT=");
    OK(SCR_Init());
    rejects("ck2");
    rejects("ck1");
    refused("ck2 ck1");
    OK(SCR_Finalize());
    if (place != CACHED) as_job("other");
    OK(SCR_Init()); /* the rejected ones again, and no other */
    rejects("ck2");
    rejects("ck1");
    refused("ck2 ck1");
    OK(SCR_Finalize());
  }
}

/* A checkpoint that was passed over can be chosen, by each way. */
static void each_checkpoint_that_was_passed_over_can_be_chosen(void)
{
  int place;

  for (place = 0; place < PLACES; place++) {
    begin_four(place, "first");
    set("SCR_CURRENT=ck1");
    run_gets("ck1", 1, 1000);
    set("SCR_CURRENT=ck3");
    run_gets("ck3", 1, 3000);
    set("SCR_CURRENT=");
    run_gets("ck3", 1, 3000);
    OK(SCR_Init());
    OK(SCR_Current("ck2"));
    get("ck2", 1, 2000);
    OK(SCR_Finalize());
    during("%s, scr_index", place_names[place]);
    shell("$TEST_INDEX --current ck4 --prefix prefix");
    OK(SCR_Init());
    get("ck4", 1, 4000);
    OK(put("ck5", 1, 5000));
    OK(SCR_Finalize());
    run_gets("ck5", 1, 5000);
  }
}

/* A choice that only the cache has holds like others, and its rejection ends it. */
static void the_rejection_of_a_choice_ends_it(void)
{
  int place;

  for (place = 0; place < PLACES; place++) {
    begin_four(place, "first");
    shell("$TEST_INDEX --current ck2 --prefix prefix");
    run_gets("ck2", 1, 2000);
    OK(SCR_Init());
    get("ck2", 1, 2000);
    OK(put("ck5", 1, 5000));
    run_dies();
    OK(SCR_Init());
    rejects("ck5"); /* so the choice is next, */
    rejects("ck2");
    get("ck1", 1, 1000);
    OK(SCR_Finalize());
    run_gets("ck1", 1, 1000); /* and is over */
  }
}

/* ck2 is chosen, but cannot be fetched: no other is offered in its place, and it is the choice of the next run too. */
static void a_choice_that_cannot_be_fetched_is_an_error_and_holds(void)
{
  begin();
  set("SCR_FLUSH=2");
  set("SCR_CACHE_SIZE=6");
  run_puts_four();
  shell("$TEST_INDEX --current ck2 --prefix prefix");
  shell("find cache -name scr.dataset.2 -prune -exec rm -r {} +; mv prefix/ck2/rank_0_0 away");
  OK(SCR_Init());
  refused("rank_0_0 ck2");
  run_dies();
  shell("mv away prefix/ck2/rank_0_0");
  run_gets("ck2", 1, 2000);
}

/* The user chooses ck1 when the run has written newer ones: they are passed over, even if what follows is rejected. */
static void a_choice_in_the_midst_of_a_run_passes_over_what_is_newer(void)
{
  int flush;

  for (flush = 0; flush < 2; flush++) {
    during("SCR_FLUSH=%d", flush);
    begin();
    set("SCR_FLUSH=%d", flush);
    set("SCR_CACHE_SIZE=6");
    OK(SCR_Init());
    OK(put("ck1", 1, 1000));
    OK(put("ck2", 1, 2000));
    OK(put("ck3", 1, 3000));
    OK(SCR_Current("ck1"));
    OK(put("ck4", 1, 4000));
    OK(SCR_Finalize());
    OK(SCR_Init());
    rejects("ck4");
    get("ck1", 1, 1000);
    OK(SCR_Finalize());
  }
}

/* All checkpoints have one name: SCR_CURRENT and scr_index choose the same of them, the newest. */
static void both_ways_choose_the_newest_of_a_name(void)
{
  begin();
  set("SCR_FLUSH=2");
  set("SCR_CACHE_SIZE=3");
  OK(SCR_Init());
  OK(put("ck", 1, 1000));
  OK(put("ck", 1, 2000)); /* on the prefix */
  OK(put("ck", 1, 3000));
  run_dies();
  save();
  set("SCR_CURRENT=ck");
  run_gets("ck", 1, 3000);
  set("SCR_CURRENT=");
  go_back();
  shell("$TEST_INDEX --current ck --prefix prefix");
  run_gets("ck", 1, 3000);
}

/* This run refuses to start, or offers what is no newer than the choice. */
static void nothing_newer_than(const char* choice)
{
  char name[SCR_MAX_FILENAME] = "";
  int  flag = 0, rc = same_code(SCR_Init());

  if (rc != SCR_SUCCESS) return;
  rc = same_code(SCR_Have_restart(&flag, name));
  CHECK(rc != SCR_SUCCESS || strcmp(name, choice) <= 0, "%s is offered, although the user chose %s", name, choice);
  OK(SCR_Finalize());
}

static void a_choice_that_cannot_be_loaded_is_not_replaced_by_a_newer_one(void)
{
  during("only the prefix has it, and SCR_FETCH is 0");
  begin();
  set("SCR_FLUSH=1");
  set("SCR_CACHE_SIZE=2");
  run_puts_four();
  set("SCR_FETCH=0");
  set("SCR_CURRENT=ck1");
  nothing_newer_than("ck1");
  during("only the cache has it, and not enough is left");
  begin_four(CACHED, "first");
  shell("$TEST_INDEX --current ck2 --prefix prefix; find cache -path '*/ck2/rank_*' -delete");
  nothing_newer_than("ck2");
  during("only a cache has it that is gone");
  begin();
  set("SCR_FLUSH=2");
  set("SCR_CACHE_SIZE=4");
  run_puts_four();
  shell("$TEST_INDEX --current ck1 --prefix prefix");
  lose_all_nodes();
  nothing_newer_than("ck1");
  shell("$TEST_INDEX --current ck4 --prefix prefix"); /* the remedy that the message names */
  run_gets("ck4", 1, 4000);
  shell("$TEST_INDEX --current ck4 --prefix prefix");
  set("SCR_FETCH=0"); /* the program reads the prefix itself */
  lose_all_nodes();
  nothing_newer_than("");
  set("SCR_FETCH=");
  run_gets("ck4", 1, 4000);
}

/* SCR_FETCH=0 keeps a choice from being loaded that only the prefix has. */
static void without_scr_fetch_only_cached_checkpoints_can_be_chosen(void)
{
  begin();
  set("SCR_FLUSH=1");
  set("SCR_CACHE_SIZE=2");
  run_puts_four();
  set("SCR_FETCH=0");
  OK(SCR_Init());
  ALIKE(SCR_Current("ck1"), SCR_ERR_NOT_FOUND, "SCR_FETCH");
  get("ck4", 1, 4000);
  OK(SCR_Current("ck3"));
  get("ck3", 1, 3000);
  ALIKE(SCR_Current("ck1"), SCR_ERR_NOT_FOUND, "SCR_FETCH");
  get("ck3", 1, 3000);
  OK(SCR_Finalize());
  run_gets("ck3", 1, 3000);
  set("SCR_FETCH=1");
  OK(SCR_Init());
  OK(SCR_Current("ck1"));
  get("ck1", 1, 1000);
  OK(SCR_Finalize());
}

/* ---- the prefix ------------------------------------------------------------------------------------------------ */

/* A checkpoint that cannot be fetched is left alone, and tried again by the next run. */
static void a_checkpoint_that_cannot_be_fetched_is_tried_again(void)
{
  char text[8000];

  begin();
  set("SCR_FLUSH=1");
  set("SCR_CACHE_SIZE=2");
  OK(SCR_Init());
  OK(put("ck1", 1, 1000));
  OK(put("ck2", 1, 2000));
  OK(SCR_Finalize());
  lose_all_nodes();
  shell("mv prefix/ck2/rank_0_0 away");
  OK(init_says(text, sizeof text));
  CHECK(rank != 0 || strstr(text, "ck2 cannot be fetched") != NULL, "%s", text);
  get("ck1", 1, 1000);
  OK(SCR_Finalize());
  CHECK(index_marks("FAILED") == 0, "it counts as rejected");
  run_gets("ck1", 1, 1000); /* it is still away */
  shell("mv away prefix/ck2/rank_0_0");
  run_gets("ck2", 1, 2000);
  run_fetches("ck2", 1, 2000);

  lose_all_nodes(); /* the same when nothing is left */
  shell("mv prefix/ck1/rank_0_0 away1; mv prefix/ck2/rank_0_0 away2");
  OK(SCR_Init());
  refused("ck1 ck2");
  OK(SCR_Finalize());
  shell("mv away1 prefix/ck1/rank_0_0; mv away2 prefix/ck2/rank_0_0");
  run_gets("ck2", 1, 2000);
}

/* Change the index of the prefix; see record_change. */
static void change_index(const char* key, const char* value)
{
  char path[800];

  snprintf(path, sizeof path, "%s/.scr/index.scr", case_prefix);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) record_change(path, key, value);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* Three checkpoints on the prefix, and nothing anywhere else. */
static void put_three_on_prefix(void)
{
  begin();
  set("SCR_FLUSH=1");
  OK(SCR_Init());
  OK(put("ck1", 1, 1000));
  OK(put("ck2", 1, 2000));
  OK(put("ck3", 1, 3000));
  OK(SCR_Finalize());
  lose_all_nodes();
}

static void goes_on_from_ck2(void)
{
  run_gets("ck2", 1, 2000);
  OK(SCR_Init());
  get("ck2", 1, 2000);
  OK(put("ck4", 1, 4000));
  OK(SCR_Finalize());
  run_gets("ck4", 1, 4000);
  run_fetches("ck4", 1, 4000);
}

/* CURRENT that another tool has set is the choice of the user: in an index of another version, and in one of ours. */
static void current_that_other_tools_have_set_is_a_choice(void)
{
  put_three_on_prefix();
  during("an index of another version");
  change_index("NONCE", NULL);
  change_index("CURRENT_BY", NULL);
  change_index("CURRENT", "ck2");
  goes_on_from_ck2();
  put_three_on_prefix();
  during("an index of this version");
  change_index("CURRENT", "ck2");
  goes_on_from_ck2();
  put_three_on_prefix();
  during("an index of this version, with a choice");
  shell("$TEST_INDEX --current ck1 --prefix prefix");
  change_index("CURRENT", "ck2");
  goes_on_from_ck2();
}

/* Earlier versions of this library did not say who has set CURRENT: it is nobody's choice, even if it lags behind. */
static void current_of_an_earlier_version_is_no_choice(void)
{
  put_three_on_prefix();
  change_index("CURRENT_BY", NULL);
  change_index("CURRENT", "ck2");
  run_gets("ck3", 1, 3000);
}

/* A cache with room for so many bytes. */
static unsigned long room_left;

static int some_room(const char* path, struct statvfs* fs)
{
  int rc = statvfs(path, fs);
  if (strstr(path, "cache") != NULL) fs->f_bavail = room_left / fs->f_frsize;
  return rc;
}

/*
** All data of the newest checkpoint can be read: the cache has no room for redundancy, as its file system says, or only
** a write finds out; or none for all data.
*/
static void a_fetch_without_room_for_redundancy_loads_the_newest_checkpoint(void)
{
  static const char* const cases[] = {"the file system says so", "a write says so", "nor for data"};
  char                     text[4096];
  int                      i, bypass;

  for (bypass = 0; bypass <= 1; bypass++)
    for (i = 0; i < 3 - !bypass; i++) {
      during("%s, SCR_CACHE_BYPASS=%s", cases[i], bypass ? "auto" : "0");
      begin();
      set("SCR_FLUSH=1");
      run_puts("ck1", 1, 300000);
      run_puts("ck2", 1, 300000);
      lose_all_nodes();
      set("SCR_CACHE_BYPASS=%s", bypass ? "auto" : "0");
      room_left = 1400000;
      if (i == 0) test_statvfs = some_room;
      if (i > 0) fault_on(FAULT_WRITE | FAULT_PWRITE, "/cache/", i == 1 ? ".xor" : "/ck2/", INT_MAX);
      OK(init_says(text, sizeof text));
      get("ck2", 1, 300000);
      CHECK(times(text, "ck2 is loaded without redundancy") == (rank == 0 && (i == 1 || !bypass)), "%s", text);
      CHECK(times(text, "is read where it is on the prefix") == (rank == 0 && bypass && i != 1), "%s", text);
      fault_end();
      test_statvfs = statvfs;
      OK(put("ck3", 1, 1000)); /* and that is protected */
      run_dies();
      shell("rm -rf cache/*/*/node.*-v1");
      run_gets("ck3", 1, 1000);
    }
}

/* The same where the set of one rank has no other member, and so no redundancy: all ranks do the same all the same. */
static void a_fetch_without_room_for_redundancy_is_one_for_all_ranks(void)
{
  begin();
  set("SCR_VIRTUAL_NODES=3"); /* 2, 1 and 1 rank */
  set("SCR_FLUSH=1");
  set("SCR_CACHE_BYPASS=0");
  run_puts("ck1", 1, 300000);
  run_puts("ck2", 1, 300000);
  lose_all_nodes();
  fault_on(FAULT_WRITE | FAULT_PWRITE, "/cache/", ".xor", INT_MAX);
  OK(SCR_Init());
  get("ck2", 1, 300000);
  fault_end();
  OK(put("ck3", 1, 1000));
  OK(SCR_Finalize());
}

/* What the program has restarted from, and rejects after that, is work that a new start would lose. */
static void a_checkpoint_that_is_rejected_after_a_restart_is_at_stake(void)
{
  begin();
  run_puts("ck1", 1, 1000);
  OK(SCR_Init());
  get("ck1", 1, 1000);
  OK(SCR_Start_restart(NULL));
  ALIKE(SCR_Complete_restart(0), SCR_ERR_INVALID, "could not restart");
  refused("ck1");
  OK(SCR_Finalize());
}

/* ---- a fresh start --------------------------------------------------------------------------------------------- */

/* A fresh start, which is killed before its first checkpoint; so are others after it: none is refused. */
static void a_killed_fresh_start_is_one_all_the_same(void)
{
  int place;

  for (place = 0; place < PLACES; place++) {
    begin_four(place, "first");
    save();
    set("SCR_FRESH_START=1");
    OK(SCR_Init());
    get(NULL, 0, 0);
    run_dies();
    cache_is_kept();
    OK(SCR_Init());
    get(NULL, 0, 0);
    run_dies();
    set("SCR_FRESH_START=");
    OK(SCR_Init());
    get(NULL, 0, 0);
    run_dies();
    cache_is_kept();
    as_job("other");
    OK(SCR_Init());
    get(NULL, 0, 0);
    OK(put("ck5", 1, 5000));
    run_dies();
    run_gets("ck5", 1, 5000);
    as_job(NULL);
    set("SCR_FRESH_START=1");
    run_gets(NULL, 0, 0);
  }
}

/* A fresh start is served once in a job and value, and what was written after it is found. */
static void a_fresh_start_goes_on_with_its_own_checkpoints(void)
{
  int place;

  for (place = 0; place < PLACES; place++) {
    begin_four(place, "first");
    save();
    set("SCR_FRESH_START=1");
    OK(SCR_Init());
    get(NULL, 0, 0);
    OK(open_shape("ck5", SCR_FLAG_CHECKPOINT, &small));
    cache_is_kept(); /* until the first one is complete, and as long as there are places */
    OK(SCR_Complete_output(1));
    cache_is_kept();
    run_dies();
    run_gets_shape("ck5", &small);
    OK(SCR_Init());
    get_shape("ck5", &small);
    OK(put("ck6", 1, 6000));
    run_dies();
    set("SCR_FRESH_START=2");
    OK(SCR_Init());
    get(NULL, 0, 0);
    run_dies();
    OK(SCR_Init());
    get(NULL, 0, 0);
    OK(put("ck7", 1, 7000));
    run_dies();
    run_gets("ck7", 1, 7000);
    set("SCR_FRESH_START=");
    run_gets("ck7", 1, 7000);
  }
}

/* What a fresh start has cut off can be chosen; what is newer than the choice, or older, stays cut off. */
static void a_choice_goes_back_behind_a_fresh_start(void)
{
  int place;

  for (place = 0; place < PLACES; place++) {
    begin_four(place, "first");
    set("SCR_FRESH_START=1");
    OK(SCR_Init());
    get(NULL, 0, 0);
    OK(put("ck5", 1, 5000));
    run_dies();
    set("SCR_CURRENT=ck2");
    OK(SCR_Init());
    get("ck2", 1, 2000);
    OK(put("ck6", 1, 6000));
    run_dies();
    run_gets("ck6", 1, 6000);
    OK(SCR_Init());
    OK(SCR_Current("ck6")); /* no other choice stands */
    rejects("ck6");
    rejects("ck2");
    refused("ck6 ck2");
    OK(SCR_Finalize());
    set("SCR_CURRENT=");
    OK(SCR_Init());
    refused("ck6 ck2");
    OK(SCR_Finalize());
    set("SCR_CURRENT=ck4");
    OK(SCR_Init());
    get("ck4", 1, 4000);
    OK(put("ck7", 1, 7000));
    run_dies();
    run_gets("ck7", 1, 7000);
  }
}

/* Jobs take turns; each has its fresh start once.  So has each value in a job. */
static void each_value_of_scr_fresh_start_is_served_once_in_a_job(void)
{
  begin();
  set("SCR_FLUSH=1");
  set("SCR_CACHE_SIZE=6");
  as_job("first");
  run_puts_four();
  set("SCR_FRESH_START=1");
  run_gets(NULL, 0, 0);
  as_job("other");
  OK(SCR_Init());
  get(NULL, 0, 0);
  OK(put("ck5", 1, 5000));
  OK(SCR_Finalize());
  as_job("first");
  run_gets("ck5", 1, 5000);
  set("SCR_FRESH_START=2");
  OK(SCR_Init());
  get(NULL, 0, 0);
  OK(put("ck6", 1, 6000));
  OK(SCR_Finalize());
  set("SCR_FRESH_START=1");
  run_gets("ck6", 1, 6000);
}

/*
** The index is damaged, so that no fresh start can be recorded; a script that leaves it set does not begin anew
** again.
*/
static void a_fresh_start_that_cannot_be_recorded_costs_no_work_of_later_runs(void)
{
  begin();
  set("SCR_FLUSH=0");
  run_puts_four();
  shell("echo garbage > prefix/.scr/index.scr");
  set("SCR_FRESH_START=1");
  if (same_code(SCR_Init()) != SCR_SUCCESS) {
    shell("mv prefix/.scr/index.scr away");
    OK(SCR_Init());
  }
  get(NULL, 0, 0);
  OK(put("ck5", 1, 5000));
  run_dies();
  run_gets("ck5", 1, 5000);
}

/* ck1 to ck3 on the prefix, in two levels of directories, and one deeper; the nodes are lost. */
static void put_in_levels(void)
{
  begin();
  set("SCR_FLUSH=1");
  run_puts("ck1", 1, 1000);
  run_puts("deep/ck2", 1, 2000);
  run_puts("deep/ck3", 1, 3000);
  shell("mkdir prefix/plain prefix/plain/.scr; ln -s .. prefix/plain/up");
}

/* A run was copied without its .scr: its checkpoints are told, and the command that the message prints finds them. */
static void without_its_index_a_prefix_with_checkpoints_is_no_new_start(void)
{
  char text[4096];

  put_in_levels();
  lose_all_nodes();
  shell("rm -r prefix/.scr");
  shell("seq -f prefix/file%%.0f 2500 | xargs touch; mkdir prefix/aa; seq -f prefix/aa/%%.0f 2500 | xargs touch");
  save();
  OK(SCR_Init());
  refused("complete deep/ck3, SCR_FRESH_START=1");
  keep_remedy();
  OK(SCR_Finalize());
  OK(SCR_Init());
  refused("deep/ck3,"); /* and again */
  OK(SCR_Finalize());
  carry_out();
  run_gets("deep/ck3", 1, 3000);

  go_back();
  set("SCR_FETCH=0"); /* the application reads the prefix itself */
  run_gets(NULL, 0, 0);
  set("SCR_FETCH=");
  set("SCR_FRESH_START=1");
  OK(SCR_Init());
  get(NULL, 0, 0);
  run_dies();
  set("SCR_FRESH_START=");
  run_puts("new", 1, 1000); /* it was asked for once */

  during("the cache has the newest");
  put_in_levels();
  shell("rm prefix/.scr/index.scr");
  OK(init_says(text, sizeof text));
  CHECK(times(text, "3 complete checkpoints below") == (rank == 0), "%s", text);
  get("deep/ck3", 1, 3000);
  OK(SCR_Finalize());

  during("a prefix in another one");
  put_in_levels();
  lose_all_nodes();
  set("SCR_PREFIX=%s", case_dir);
  run_puts("ck1", 1, 1000);
}

/* A damaged index: by the command of the message, or by its removal and a fresh start. */
static void the_remedies_of_a_damaged_index_work(void)
{
  int fresh;

  for (fresh = 0; fresh <= 1; fresh++) {
    during("%s", fresh ? "a fresh start" : "a new index");
    begin();
    set("SCR_FLUSH=1");
    run_puts_four();
    lose_all_nodes();
    shell("echo garbage > prefix/.scr/index.scr");
    OK(SCR_Init());
    refused("found:");
    keep_remedy();
    OK(SCR_Finalize());
    if (fresh) shell("mv prefix/.scr/index.scr away");
    else carry_out();
    if (fresh) set("SCR_FRESH_START=1");
    run_gets(fresh ? NULL : "ck4", 1, 4000);
  }
}

/* The same for SCR_CURRENT: whether it was served cannot be known, and it must not be served again. */
static void a_choice_that_was_served_costs_no_work_when_the_index_is_damaged(void)
{
  int rc;

  begin_four(CACHED, "first");
  set("SCR_CURRENT=ck2");
  OK(SCR_Init());
  get("ck2", 1, 2000);
  OK(put("ck5", 1, 5000));
  run_dies();
  shell("mv prefix/.scr/index.scr away; echo garbage > prefix/.scr/index.scr");
  rc = same_code(SCR_Init());
  if (rc == SCR_SUCCESS) {
    get("ck5", 1, 5000);
    run_dies();
  }
  shell("mv away prefix/.scr/index.scr");
  run_gets("ck5", 1, 5000);
}

/* No id of what was cut off is used again, although index and cache have lost it. */
static void ids_after_a_fresh_start_are_new(void)
{
  begin();
  set("SCR_FLUSH=1");
  set("SCR_CACHE_SIZE=2");
  run_puts_four();
  set("SCR_FRESH_START=1");
  OK(SCR_Init());
  OK(SCR_Delete("ck4"));
  OK(SCR_Delete("ck3"));
  OK(SCR_Drop("ck2"));
  run_dies();
  lose_all_nodes();
  OK(SCR_Init());
  get(NULL, 0, 0);
  OK(put("ck5", 1, 5000));
  CHECK(cached_in("cache") == ID(7), "%x", cached_in("cache"));
  OK(SCR_Finalize());
  run_fetches("ck5", 1, 5000);
}

/* ---- the kinds of datasets ------------------------------------------------------------------------------------- */

/* Output that is no checkpoint cannot be chosen. */
static void output_that_is_no_checkpoint_cannot_be_chosen(void)
{
  begin();
  set("SCR_FLUSH=1");
  set("SCR_CACHE_SIZE=5");
  OK(SCR_Init());
  OK(put("ck1", 1, 1000));
  OK(put_valid("plot", SCR_FLAG_OUTPUT, 1, 1000, 1));
  OK(put_valid("note", SCR_FLAG_NONE, 1, 1000, 1)); /* in the cache alone */
  OK(SCR_Finalize());
  shell("! $TEST_INDEX --current plot --prefix prefix && ! $TEST_INDEX --current note --prefix prefix");
  OK(SCR_Init());
  CHECK(same_code(SCR_Current("plot")) != SCR_SUCCESS, "plot is chosen");
  get("ck1", 1, 1000);
  OK(SCR_Finalize());
  run_fetches("ck1", 1, 1000);
}

/* A later output dataset has the name of a checkpoint, in another directory: the name chooses the checkpoint. */
static void the_name_of_a_checkpoint_chooses_it_although_later_output_has_it_too(void)
{
  static const shape state = {"the checkpoint", one_file, small_size, "state/rank_%d_%d"};
  static const shape plots = {"the output", two_files, small_size, "plots/rank_%d_%d"};
  int                by, flush;

  for (flush = 0; flush < 2; flush++)
    for (by = 0; by < 2; by++) {
      during("SCR_FLUSH=%d, %s", flush, by ? "scr_index" : "SCR_CURRENT");
      begin();
      set("SCR_FLUSH=%d", flush);
      set("SCR_CACHE_SIZE=4");
      OK(SCR_Init());
      OK(put_shape("step", SCR_FLAG_CHECKPOINT, &state, 1));
      OK(put("ck2", 1, 1000));
      OK(put_shape("step", SCR_FLAG_OUTPUT, &plots, 1));
      run_dies();
      if (flush) lose_all_nodes();
      if (by) shell("$TEST_INDEX --current step --prefix prefix");
      else set("SCR_CURRENT=step");
      run_gets_shape("step", &state);
      on_prefix_shape("step", &plots);
    }
}

/* Output that is a checkpoint as well, and output that is none: only the first can be restarted from. */
static void only_checkpoints_are_offered_and_only_output_is_flushed(void)
{
  begin();
  set("SCR_FLUSH=0");
  set("SCR_CACHE_SIZE=3");
  OK(SCR_Init());
  OK(put("ck1", 1, 1000));
  OK(put_valid("both", SCR_FLAG_CHECKPOINT | SCR_FLAG_OUTPUT, 2, 1000, 1));
  OK(put_valid("plot", SCR_FLAG_OUTPUT, 1, 1000, 1));
  OK(put_valid("note", SCR_FLAG_NONE, 1, 1000, 1));
  OK(SCR_Finalize());
  CHECK(there("prefix/both/rank_0_1") && there("prefix/plot/rank_0_0"), "output is not on the prefix");
  CHECK(!there("prefix/ck1") && !there("prefix/note"), "what is no output is on the prefix");
  run_gets("both", 2, 1000);
  set("SCR_DISTRIBUTE=0");
  run_gets("both", 2, 1000);
}

/* Output whose flush failed is flushed by the next run, whatever that run restarts from. */
static void output_is_flushed_although_it_is_passed_over(void)
{
  static const int   flags[] = {SCR_FLAG_OUTPUT, SCR_FLAG_OUTPUT | SCR_FLAG_CHECKPOINT};
  static const char* wishes[] = {"SCR_FRESH_START=1", "SCR_CURRENT=ck1"};
  int                i;

  for (i = 0; i < 4; i++) {
    during("%s, flags %d", wishes[i / 2], flags[i % 2]);
    begin();
    set("SCR_FLUSH=0");
    set("SCR_CACHE_SIZE=4");
    OK(SCR_Init());
    OK(put("ck1", 1, 1000));
    shell("mkdir -p prefix/out/rank_0_0");
    CHECK(same_code(put_valid("out", flags[i % 2], 1, 1000, 1)) != SCR_SUCCESS, "out is flushed into a directory");
    shell("rmdir prefix/out/rank_0_0");
    run_dies();
    set("%s", wishes[i / 2]);
    OK(SCR_Init());
    OK(SCR_Finalize());
    CHECK(there("prefix/out/rank_0_0"), "the output is not on the prefix");
  }
}

/* The store has room for nothing more. */
static int no_room(const char* path, struct statvfs* fs)
{
  int rc = statvfs(path, fs);
  if (strstr(path, "cache") != NULL) fs->f_bavail = 0;
  return rc;
}

/* What is flushed because its room is needed is as rejected, or passed over, on the prefix as in the cache. */
static void decisions_go_along_when_room_is_made(void)
{
  int chosen;

  for (chosen = 0; chosen < 2; chosen++) {
    during(chosen ? "passed over" : "rejected");
    begin();
    set("SCR_FLUSH=0");
    set("SCR_CACHE_SIZE=6");
    OK(SCR_Init());
    OK(put("ck1", 1, 1000));
    OK(put("ck2", 1, 1000));
    OK(put("ck3", 1, 1000));
    OK(put("ck4", 1, 100000)); /* so much is needed for the next one */
    OK(SCR_Finalize());
    if (chosen) set("SCR_CURRENT=ck2");
    OK(SCR_Init());
    if (!chosen) rejects("ck4");
    if (!chosen) rejects("ck3");
    get("ck2", 1, 1000);
    test_statvfs = no_room;
    SCR_Start_output("ck5", SCR_FLAG_CHECKPOINT);
    test_statvfs = statvfs;
    run_dies();
    CHECK(there("prefix/ck4/rank_0_0"), "ck4 is not on the prefix");
    lose_all_nodes();
    OK(SCR_Init());
    rejects("ck2");
    refused("ck2");
    OK(SCR_Finalize());
  }
}

/*
** The job dies at each file call of SCR_Delete of the only checkpoint.  The next run has it, or finishes the deletion
** and begins anew, without a word about files that are missing.
*/
static void a_killed_deletion_of_the_only_checkpoint_is_finished(void)
{
  char text[8000], name[SCR_MAX_FILENAME];
  int  flush, n, flag, died, kept, gone;

  for (flush = 0; flush < 2; flush++) {
    kept = gone = 0;
    for (n = 1, died = 1; died; n += pace(12, flush ? 5 : 3, 1)) {
      during("flush %d, call %d", flush, n);
      test_alive();
      begin();
      set("SCR_FLUSH=%d", flush);
      set("SCR_FSYNC=0");
      OK(SCR_Init());
      OK(put("ck1", 2, 1000));
      MPI_Barrier(MPI_COMM_WORLD);
      fault_at(FAULT_DEAD, FAULT_ALL, EIO, n);
      SCR_Delete("ck1");
      died = fault_end() > 0;
      MPI_Allreduce(MPI_IN_PLACE, &died, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
      run_dies();
      OK(init_says(text, sizeof text));
      CHECK(strstr(text, "missing") == NULL, "%s", text);
      OK(SCR_Have_restart(&flag, name));
      if (flag) get("ck1", 2, 1000);
      else CHECK(cached_in("cache") == 0, "%x", cached_in("cache"));
      kept += flag;
      gone += !flag;
      OK(put("ck2", 1, 1000));
      OK(SCR_Finalize());
      run_gets("ck2", 1, 1000);
    }
    CHECK(kept > 0 && gone > 1, "%d kept, %d gone", kept, gone);
  }
}

/* ---- what a choice must not cost -------------------------------------------------------------------------------- */

/* Starts a run; it must refuse, or offer one of the NAMES: it must not begin anew. */
static void not_anew(const char* names)
{
  char name[SCR_MAX_FILENAME] = "none";
  int  flag = 0, rc;

  OK(SCR_Init());
  rc = same_code(SCR_Have_restart(&flag, name));
  CHECK(rc == SCR_ERR_NO_RESTART || (flag == 1 && strstr(names, name) != NULL),
        "rc %d, flag %d, %s: the run begins anew, or from another one", rc, flag, name);
  run_dies();
}

/* ck1, which only the cache has, is chosen, and leaves the cache: ck3 is not lost for it. */
static void a_choice_that_has_left_the_cache_does_not_begin_anew(void)
{
  begin();
  as_job("first");
  set("SCR_FLUSH=0");
  set("SCR_CACHE_SIZE=3");
  OK(SCR_Init());
  OK(put("ck1", 1, 1000));
  OK(put("ck2", 1, 2000));
  OK(put("ck3", 1, 3000));
  shell("! $TEST_INDEX --current ck1 --prefix prefix"); /* this run may delete it */
  run_dies();
  shell("$TEST_INDEX --current ck1 --prefix prefix; find cache -name scr.dataset.1 -prune -exec rm -rf {} +");
  not_anew("ck3");
}

/* ck1 is in the cache of another job, which ended normally: what this job has is not lost for it. */
static void a_choice_in_the_cache_of_another_job_does_not_begin_anew(void)
{
  begin();
  as_job("first");
  set("SCR_FLUSH=0");
  OK(SCR_Init());
  OK(put("ck1", 1, 1000));
  OK(SCR_Finalize());
  as_job("other");
  OK(SCR_Init());
  get(NULL, 0, 0);
  OK(put("ck2", 1, 2000));
  OK(put("ck3", 1, 3000));
  run_dies();
  shell("$TEST_INDEX --current ck1 --prefix prefix");
  not_anew("ck1");
}

/* ck1 to ck3 in the cache of job first, ck1 on the prefix, ck2 and ck3 passed over; ck2 and ck3 of job other. */
static void begin_passed_over(int flush)
{
  begin();
  as_job("first");
  set("SCR_CACHE_SIZE=4");
  set("SCR_FLUSH=0");
  OK(SCR_Init());
  OK(put("ck1", 1, 1000));
  OK(put("ck2", 1, 2000));
  OK(put("ck3", 1, 3000));
  run_dies();
  set("SCR_CURRENT=ck1");
  OK(SCR_Init());
  get("ck1", 1, 1000);
  run_dies();
  set("SCR_CURRENT=");
  as_job("other");
  set("SCR_FLUSH=%d", flush);
  OK(SCR_Init());
  get("ck1", 1, 1000);
  OK(put("ck2", 1, 5000));
  OK(put("ck3", 1, 6000));
  run_dies();
  as_job("first");
  set("SCR_FLUSH=0");
}

/* The ck3 of the other job is the newest, and the only one that was not passed over. */
static void ids_of_what_was_passed_over_are_not_used_again(void)
{
  begin_passed_over(1);
  set("SCR_CURRENT=ck3");
  run_gets("ck3", 1, 6000);
}

static void without_a_fetch_a_choice_is_not_mistaken_for_what_was_passed_over(void)
{
  int  flag = 0;
  char name[SCR_MAX_FILENAME] = "";

  begin_passed_over(1);
  shell("$TEST_INDEX --current ck2 --prefix prefix");
  set("SCR_FETCH=0");
  OK(SCR_Init());
  (void)same_code(SCR_Have_restart(&flag, name));
  CHECK(flag == 0 || strcmp(name, "ck2") != 0 || holds("ck2", 1, 5000), "the passed-over ck2 is loaded");
  run_dies();
}

/* What cannot be reached is told in each run until the prefix has a newer one. */
static void lost_work_is_told_again_beside_what_was_passed_over(void)
{
  char text[4096];
  int  i;

  begin_passed_over(0);
  for (i = 0; i < 2; i++) {
    during("start %d", i + 1);
    OK(init_says(text, sizeof text));
    CHECK(rank != 0 || strstr(text, "cannot be reached") != NULL, "%s", text);
    run_dies();
  }
}

/* While the prefix is full the end of the choice cannot be recorded: later work still goes first. */
static void work_after_a_choice_counts_although_the_index_could_not_be_written(void)
{
  begin_four(IN_BOTH, "first");
  shell("$TEST_INDEX --current ck1 --prefix prefix");
  OK(SCR_Init());
  get("ck1", 1, 1000);
  fault_on(FAULT_CREATE, "/prefix/.scr/", "index.scr.", 1000);
  OK(put("ck5", 1, 5000));
  OK(put("ck6", 1, 6000));
  fault_end();
  run_dies();
  run_gets("ck6", 1, 6000);
}

/* Without a batch system: ck4, which was written after the choice, was rejected by one run with the wrong input. */
static void going_back_to_a_choice_does_not_pass_over_what_was_rejected(void)
{
  begin();
  as_job(NULL);
  set("SCR_CACHE_SIZE=4");
  set("SCR_FLUSH=1");
  OK(SCR_Init());
  OK(put("ck1", 1, 1000));
  OK(put("ck2", 1, 2000));
  run_dies();
  set("SCR_FLUSH=0");
  shell("$TEST_INDEX --current ck1 --prefix prefix");
  OK(SCR_Init());
  get("ck1", 1, 1000);
  OK(put("ck4", 1, 4000));
  run_dies();
  OK(SCR_Init());
  rejects("ck4");
  run_dies();
  OK(SCR_Init());
  get("ck1", 1, 1000); /* ck4 comes after all others */
  run_dies();
  OK(SCR_Init());
  rejects("ck1");
  get("ck4", 1, 4000);
  run_dies();
}

/* The remedy that the refusal names, in the same job, whose script has SCR_CURRENT=ck1 already. */
static void scr_current_takes_back_a_rejection_also_when_it_was_served(void)
{
  begin_four(CACHED, "first");
  set("SCR_CURRENT=ck1");
  OK(SCR_Init());
  rejects("ck1");
  refused("ck1");
  OK(SCR_Finalize());
  run_gets("ck1", 1, 1000);
}

/* ck2 cannot be read, and the user chooses ck1 in its place: nothing that is newer than the two comes back later. */
static void what_is_newer_than_a_failed_choice_is_not_offered_later(void)
{
  begin_four(ON_PREFIX, "first");
  shell("mv prefix/ck2 away");
  set("SCR_CURRENT=ck2");
  set("SCR_FLUSH=1");
  OK(SCR_Init());
  refused("ck2");
  OK(SCR_Finalize());
  set("SCR_CURRENT=ck1"); /* the remedy that the message names */
  OK(SCR_Init());
  get("ck1", 1, 1000);
  OK(put("ck5", 1, 5000));
  OK(SCR_Finalize());
  set("SCR_CURRENT=ck2"); /* an old wish costs no later work */
  shell("mv away prefix/ck2");
  run_gets("ck5", 1, 5000);
  set("SCR_CURRENT=");
  OK(SCR_Init());
  rejects("ck5");
  get("ck1", 1, 1000);
  OK(SCR_Finalize());
}

/* A cache that a large checkpoint does not fit into. */
static int small_room(const char* path, struct statvfs* fs)
{
  int rc = statvfs(path, fs);
  if (strstr(path, "cache") != NULL) fs->f_bavail = 100000 / fs->f_frsize;
  return rc;
}

/* ck2 is chosen, and larger than the cache, in which it has to be: ck1, which is older, would be another start. */
static void a_choice_that_does_not_fit_into_the_cache_is_an_error(void)
{
  begin();
  set("SCR_FLUSH=1");
  run_puts("ck1", 1, 1000);
  run_puts("ck2", 1, 1000000);
  run_puts("ck3", 1, 1000);
  lose_all_nodes();
  set("SCR_CACHE_BYPASS=0");
  set("SCR_CURRENT=ck2");
  test_statvfs = small_room;
  OK(SCR_Init());
  refused("ck2 room");
  OK(SCR_Finalize());
  OK(SCR_Init()); /* nor by the next run of the job */
  refused("ck2");
  OK(SCR_Finalize());
  test_statvfs = statvfs;
  run_gets("ck2", 1, 1000000); /* where there is room, as the message says */
}

/* Nor does one that was not chosen take the place of the newest: it would be written again, from older work. */
static void an_older_one_is_not_loaded_because_the_newest_does_not_fit_into_the_cache(void)
{
  begin();
  set("SCR_FLUSH=1");
  run_puts("ck1", 1, 1000);
  run_puts("ck2", 1, 1000000);
  lose_all_nodes();
  set("SCR_CACHE_BYPASS=0");
  test_statvfs = small_room;
  OK(SCR_Init());
  refused("ck2 room SCR_FETCH_BYPASS=1 it");
  OK(SCR_Finalize());
  set("SCR_FETCH_BYPASS=1");
  run_gets("ck2", 1, 1000000);
  test_statvfs = statvfs;
}

/* The chosen one is deleted: complete newer ones are there, so that the next run does not begin anew without a word. */
static void the_deletion_of_a_choice_does_not_begin_anew(void)
{
  begin_four(IN_BOTH, "first");
  set("SCR_CURRENT=ck1");
  OK(SCR_Init());
  get("ck1", 1, 1000);
  OK(SCR_Delete("ck1"));
  OK(SCR_Finalize());
  set("SCR_CURRENT=");
  not_anew("ck4");
}

/* The prefix is full while SCR_Init serves the choice: what the run then writes is newer than it all the same. */
static void work_after_a_choice_counts_although_serving_it_could_not_be_recorded(void)
{
  begin_four(IN_BOTH, "first");
  shell("$TEST_INDEX --current ck1 --prefix prefix");
  fault_on(FAULT_CREATE, "/prefix/.scr/", "index.scr.", 1000);
  if (same_code(SCR_Init()) == SCR_SUCCESS) { /* an error would do: nothing is lost */
    fault_end();
    get("ck1", 1, 1000);
    OK(put("ck5", 1, 5000));
    OK(put("ck6", 1, 6000));
    run_dies();
    run_gets("ck6", 1, 6000);
  }
  fault_end();
}

/* The same, and both are flushed. */
static void flushed_work_after_a_choice_counts_although_serving_it_could_not_be_recorded(void)
{
  begin_four(IN_BOTH, "first");
  shell("$TEST_INDEX --current ck1 --prefix prefix");
  set("SCR_FLUSH=1");
  fault_on(FAULT_CREATE, "/prefix/.scr/", "index.scr.", 1000);
  if (same_code(SCR_Init()) == SCR_SUCCESS) {
    fault_end();
    get("ck1", 1, 1000);
    OK(put("ck5", 1, 5000));
    OK(put("ck6", 1, 6000));
    OK(SCR_Finalize());
    run_gets("ck6", 1, 6000);
  }
  fault_end();
}

/* ck2 and ck3 of job first are passed over in job other; that holds also when the choice is over. */
static void what_was_passed_over_in_the_cache_of_another_job_is_not_offered_later(void)
{
  begin();
  as_job("first");
  set("SCR_CACHE_SIZE=4");
  set("SCR_FLUSH=0");
  OK(SCR_Init());
  OK(put("ck1", 1, 1000));
  OK(SCR_Finalize());
  set("SCR_FLUSH=1");
  OK(SCR_Init());
  get("ck1", 1, 1000);
  OK(SCR_Finalize());
  set("SCR_FLUSH=0");
  OK(SCR_Init());
  get("ck1", 1, 1000);
  OK(put("ck2", 1, 2000));
  OK(put("ck3", 1, 3000));
  run_dies();
  as_job("other");
  shell("$TEST_INDEX --current ck1 --prefix prefix");
  set("SCR_FLUSH=1");
  OK(SCR_Init());
  get("ck1", 1, 1000);
  OK(put("ck4", 1, 4000));
  run_dies();
  as_job("first");
  OK(SCR_Init());
  rejects("ck4");
  get("ck1", 1, 1000);
  run_dies();
}

/* What was passed over for a choice that was rejected is not offered in another job, whose cache has it. */
static void a_rejected_choice_does_not_bring_back_what_another_job_has_of_the_passed_over(void)
{
  begin_four(ON_PREFIX, "first");
  as_job("other");
  OK(SCR_Init());
  get("ck4", 1, 4000);
  OK(put("ck5", 1, 5000)); /* only in its cache */
  run_dies();
  as_job("first");
  shell("$TEST_INDEX --current ck2 --prefix prefix");
  OK(SCR_Init());
  rejects("ck2");
  get("ck1", 1, 1000);
  run_dies();
  as_job("other");
  OK(SCR_Init());
  get("ck1", 1, 1000);
  run_dies();
}

/*
** SCR_Current in the midst of a run flushes what only the cache has, and records the choice; any of this fails.  What
** is written then is newer, whatever the call has said.
*/
static void a_choice_of_scr_current_that_cannot_be_recorded_does_not_stand(void)
{
  int struck, in_cache, n, step = pace(12, 2, 1);

  for (in_cache = 0; in_cache < 2; in_cache++)
    for (struck = 1, n = 1 + turn(step); struck && n < 60; n += step) {
      begin_four(in_cache ? CACHED : IN_BOTH, "first");
      during("%s, call %d", in_cache ? "in the cache" : "on the prefix", n);
      OK(SCR_Init());
      get("ck4", 1, 4000);
      fault_at(FAULT_FAIL, FAULT_CREATE | FAULT_RENAME | FAULT_WRITE, ENOSPC, n);
      same_code(SCR_Current("ck1"));
      struck = fault_end();
      MPI_Allreduce(MPI_IN_PLACE, &struck, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
      OK(put("ck5", 1, 5000));
      run_dies();
      run_gets("ck5", 1, 5000);
    }
}

/* The script has SCR_CURRENT=ck1, which was served, and begins anew later; its nodes are away for one run. */
static void a_served_scr_current_does_not_pass_over_work_that_is_away_for_a_while(void)
{
  int  flag = 0;
  char name[SCR_MAX_FILENAME] = "none";

  begin();
  as_job("first");
  set("SCR_CACHE_SIZE=4");
  set("SCR_FLUSH=1");
  OK(SCR_Init());
  OK(put("ck1", 1, 1000));
  run_dies();
  set("SCR_CURRENT=ck1");
  OK(SCR_Init());
  get("ck1", 1, 1000);
  run_dies();
  set("SCR_FRESH_START=1");
  set("SCR_FLUSH=0");
  OK(SCR_Init());
  OK(SCR_Have_restart(&flag, name));
  CHECK(flag == 0, "%s", name);
  OK(put("f1", 1, 2000));
  OK(put("f2", 1, 3000));
  run_dies();
  shell("mv cache cache.away; mv cntl cntl.away; mkdir cache cntl");
  OK(SCR_Init());
  same_code(SCR_Have_restart(&flag, name));
  run_dies();
  shell("rm -rf cache cntl; mv cache.away cache; mv cntl.away cntl");
  run_gets("f2", 1, 3000);
}

/* A purge took all checkpoints, and the index stayed: a start does not write it anew for each of them. */
static void the_index_is_written_once_for_all_that_cannot_be_fetched(void)
{
  int  flag = 0;
  char name[SCR_MAX_FILENAME];

  begin_four(ON_PREFIX, "first");
  shell("mv prefix/ck? .");
  fault_on(FAULT_RENAME, "/prefix/.scr/", "index.scr", 0);
  OK(SCR_Init());
  ALIKE(SCR_Have_restart(&flag, name), SCR_ERR_NO_RESTART, "ck1/.scr/summary.scr is missing");
  CHECK(rank != 0 || fault_seen(FAULT_RENAME) == 1, "the index is written %d times", fault_seen(FAULT_RENAME));
  fault_end();
  run_dies();
  shell("mv ck? prefix");
  run_gets("ck4", 1, 4000);
}

/* In a run that drops what is newer than its choice, a dropped checkpoint that the cache still has can be chosen. */
static void a_checkpoint_that_a_choice_dropped_can_be_chosen_from_the_cache(void)
{
  begin_four(IN_BOTH, "first");
  set("SCR_DROP_AFTER_CURRENT=1");
  set("SCR_CURRENT=ck1");
  OK(SCR_Init());
  get("ck1", 1, 1000);
  OK(SCR_Current("ck4"));
  run_dies();
  set("SCR_CURRENT=");
  run_gets("ck4", 1, 4000);
}

/* ck3 of the prefix cannot be read, which the run has found out: ck2 and ck4 are the two newest good ones. */
static void the_window_does_not_count_what_could_not_be_fetched(void)
{
  begin_four(ON_PREFIX, "first");
  shell("mv prefix/ck4 away");
  set("SCR_FLUSH=1");
  set("SCR_PREFIX_SIZE=2");
  OK(SCR_Init());
  get("ck3", 1, 3000);
  OK(put("ck5", 1, 5000));
  OK(SCR_Finalize());
  on_prefix("ck5", 1, 5000);
  on_prefix("ck3", 1, 3000);
}

/* The same with a window: the work that was passed over for it is then deleted from the prefix, too. */
static void the_window_does_not_delete_work_after_a_choice_that_could_not_be_recorded(void)
{
  begin_four(ON_PREFIX, "first");
  shell("$TEST_INDEX --current ck1 --prefix prefix");
  set("SCR_FLUSH=1");
  set("SCR_PREFIX_SIZE=2");
  fault_on(FAULT_CREATE, "/prefix/.scr/", "index.scr.", 1000);
  if (same_code(SCR_Init()) == SCR_SUCCESS) {
    fault_end();
    get("ck1", 1, 1000);
    OK(put("ck5", 1, 5000));
    OK(put("ck6", 1, 6000));
    OK(SCR_Finalize());
    OK(SCR_Init());
    OK(put("ck7", 1, 7000));
    OK(put("ck8", 1, 8000));
    OK(SCR_Finalize());
    shell("ls prefix > listed");
    OK(SCR_Init());
    rejects("ck8");
    rejects("ck7");
    get("ck6", 1, 6000);
    run_dies();
  }
  fault_end();
}

/* ck1 and ck2 are in the cache; ck2 is on the prefix, ck1 fell out of its window.  Both copies of ck2 are DAMAGED. */
static void begin_outgrown(int damaged)
{
  begin();
  as_job("first");
  set("SCR_CACHE_SIZE=4");
  set("SCR_FLUSH=1");
  set("SCR_PREFIX_SIZE=1");
  OK(SCR_Init());
  OK(put("ck1", 1, 1000));
  OK(put("ck2", 1, 2000));
  run_dies();
  if (damaged) shell("rm -rf prefix/ck2/rank_*; rm -rf cache/*/*/*/scr.dataset.2");
}

/* The run that ends has restarted from ck1, because ck2 is wrong: it is not lost with the cache. */
static void the_checkpoint_that_a_run_ends_with_is_flushed_although_it_fell_out_of_the_window(void)
{
  begin_outgrown(0);
  OK(SCR_Init());
  rejects("ck2");
  get("ck1", 1, 1000);
  OK(SCR_Finalize());
  lose_all_nodes();
  run_gets("ck1", 1, 1000);
}

/* The same, and both copies of ck2 are damaged. */
static void the_checkpoint_that_a_run_ends_with_is_flushed_also_where_newer_ones_are_damaged(void)
{
  begin_outgrown(1);
  OK(SCR_Init());
  get("ck1", 1, 1000);
  OK(SCR_Finalize());
  lose_all_nodes();
  run_gets("ck1", 1, 1000);
}

/* SCR_FLUSH_ON_RESTART: the program reads the loaded checkpoint on the prefix. */
static void a_loaded_checkpoint_that_fell_out_of_the_window_is_flushed_on_restart(void)
{
  begin_outgrown(1);
  set("SCR_FLUSH_ON_RESTART=1");
  OK(SCR_Init());
  get("ck1", 1, 1000);
  on_prefix("ck1", 1, 1000);
  run_dies();
}

#define ANY "2 | 1 4 5", "9"
#define FEW "2 | 4", ""

const test_case restart_cases[] = {
    CASE(a_run_restarts_from_the_newest_checkpoint, "1 2 4 5", "9"),
    CASE(files_are_found_right_after_init_without_calls_of_a_restart, ANY),
    CASE(a_restart_gets_no_file_of_another_checkpoint, ANY),
    CASE(after_a_rejected_checkpoint_the_next_older_one_is_offered, "1 2 4 5", "9"),
    CASE(what_is_lost_while_it_is_read_is_not_rejected, "4"),
    CASE(a_rejection_is_told_once, FEW),
    CASE(messages_tell_names_and_numbers_that_mean_something, "4", ""),
    CASE(a_checkpoint_that_cannot_be_fetched_is_told_once, FEW),
    CASE(a_checkpoint_that_cannot_be_reached_is_told_once, FEW),
    CASE(a_message_does_not_count_0_ranks, "4", ""),
    CASE(a_checkpoint_without_a_name_is_not_called_a_question_mark, FEW),
    CASE(a_fresh_start_is_refused_until_it_is_asked_for, ANY),
    CASE(a_run_with_the_wrong_input_costs_no_checkpoint, FEW),
    CASE(each_rejected_checkpoint_can_be_chosen_again, "2 | 4", ""),
    CASE(rejected_checkpoints_stay_until_a_newer_one_is_complete, FEW),
    CASE(a_rejected_checkpoint_stays_beside_the_older_one_that_is_fetched, FEW),
    CASE(checkpoints_are_chosen_dropped_and_deleted_by_name, ANY),
    CASE(a_dataset_is_found_by_its_name_before_another_one_by_its_directory, ANY),
    CASE(delete_takes_each_copy_of_the_newest_of_a_name_and_no_other, ANY),
    CASE(a_dropped_checkpoint_is_flushed_again_only_when_it_is_chosen, FEW),
    CASE(a_wish_of_scr_current_is_served_once, ANY),
    CASE(what_is_written_after_a_choice_goes_first, FEW),
    CASE(a_choice_holds_when_what_was_written_after_it_is_lost, FEW),
    CASE(what_is_newer_than_a_choice_is_passed_over, FEW),
    CASE(each_checkpoint_that_was_passed_over_can_be_chosen, FEW),
    CASE(the_rejection_of_a_choice_ends_it, FEW),
    CASE(a_choice_that_cannot_be_fetched_is_an_error_and_holds, FEW),
    CASE(a_choice_in_the_midst_of_a_run_passes_over_what_is_newer, FEW),
    CASE(both_ways_choose_the_newest_of_a_name, FEW),
    CASE(a_choice_that_cannot_be_loaded_is_not_replaced_by_a_newer_one, FEW),
    CASE(without_scr_fetch_only_cached_checkpoints_can_be_chosen, FEW),
    CASE(a_checkpoint_that_cannot_be_fetched_is_tried_again, ANY),
    CASE(current_that_other_tools_have_set_is_a_choice, FEW),
    CASE(current_of_an_earlier_version_is_no_choice, FEW),
    CASE(a_fetch_without_room_for_redundancy_loads_the_newest_checkpoint, "4"),
    CASE(a_fetch_without_room_for_redundancy_is_one_for_all_ranks, "4"),
    CASE(a_checkpoint_that_is_rejected_after_a_restart_is_at_stake, "4"),
    CASE(a_killed_fresh_start_is_one_all_the_same, FEW),
    CASE(a_fresh_start_goes_on_with_its_own_checkpoints, FEW),
    CASE(a_choice_goes_back_behind_a_fresh_start, FEW),
    CASE(each_value_of_scr_fresh_start_is_served_once_in_a_job, FEW),
    CASE(a_fresh_start_that_cannot_be_recorded_costs_no_work_of_later_runs, FEW),
    CASE(the_remedies_of_a_damaged_index_work, "4 | 1", ""),
    CASE(without_its_index_a_prefix_with_checkpoints_is_no_new_start, "4 | 1", ""),
    CASE(a_choice_that_was_served_costs_no_work_when_the_index_is_damaged, FEW),
    CASE(ids_after_a_fresh_start_are_new, FEW),
    CASE(output_that_is_no_checkpoint_cannot_be_chosen, FEW),
    CASE(the_name_of_a_checkpoint_chooses_it_although_later_output_has_it_too, FEW),
    CASE(only_checkpoints_are_offered_and_only_output_is_flushed, ANY),
    CASE(output_is_flushed_although_it_is_passed_over, FEW),
    CASE(decisions_go_along_when_room_is_made, FEW),
    CASE(a_killed_deletion_of_the_only_checkpoint_is_finished, "2 | 4", ""),
    CASE(the_index_is_written_once_for_all_that_cannot_be_fetched, "4", ""),
    CASE(a_choice_that_has_left_the_cache_does_not_begin_anew, "4", ""),
    CASE(a_choice_in_the_cache_of_another_job_does_not_begin_anew, "4", ""),
    CASE(ids_of_what_was_passed_over_are_not_used_again, "4", ""),
    CASE(without_a_fetch_a_choice_is_not_mistaken_for_what_was_passed_over, "4", ""),
    CASE(lost_work_is_told_again_beside_what_was_passed_over, "4", ""),
    CASE(work_after_a_choice_counts_although_the_index_could_not_be_written, "4", ""),
    CASE(going_back_to_a_choice_does_not_pass_over_what_was_rejected, "4", ""),
    CASE(scr_current_takes_back_a_rejection_also_when_it_was_served, "4", ""),
    CASE(what_is_newer_than_a_failed_choice_is_not_offered_later, "4", ""),
    CASE(a_choice_that_does_not_fit_into_the_cache_is_an_error, "4", ""),
    CASE(an_older_one_is_not_loaded_because_the_newest_does_not_fit_into_the_cache, "4", ""),
    CASE(the_deletion_of_a_choice_does_not_begin_anew, "4", ""),
    CASE(work_after_a_choice_counts_although_serving_it_could_not_be_recorded, "4", ""),
    CASE(flushed_work_after_a_choice_counts_although_serving_it_could_not_be_recorded, "4", ""),
    CASE(what_was_passed_over_in_the_cache_of_another_job_is_not_offered_later, "4", ""),
    CASE(a_rejected_choice_does_not_bring_back_what_another_job_has_of_the_passed_over, "4", ""),
    CASE(a_choice_of_scr_current_that_cannot_be_recorded_does_not_stand, "4", ""),
    CASE(a_served_scr_current_does_not_pass_over_work_that_is_away_for_a_while, "4", ""),
    CASE(a_checkpoint_that_a_choice_dropped_can_be_chosen_from_the_cache, "4", ""),
    CASE(the_window_does_not_count_what_could_not_be_fetched, "4", ""),
    CASE(the_window_does_not_delete_work_after_a_choice_that_could_not_be_recorded, "4", ""),
    CASE(the_checkpoint_that_a_run_ends_with_is_flushed_although_it_fell_out_of_the_window, "4", ""),
    CASE(the_checkpoint_that_a_run_ends_with_is_flushed_also_where_newer_ones_are_damaged, "4", ""),
    CASE(a_loaded_checkpoint_that_fell_out_of_the_window_is_flushed_on_restart, "4", ""),
    CASES_END};
