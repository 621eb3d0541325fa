/*
** restart.c - what a run restarts from: the newest checkpoint, the one that the user chose, or the next one when the
** application rejects it; and when there is none.
*/
#include "mpi_test.h"

static size_t small_size(int i)
{
  return size_of(i, 1000);
}

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
  shell("find cache -name scr.dataset.4 -prune -exec rm -r {} +");
  run_gets("ck1", 1, 1000);
}

/* Output that is no checkpoint cannot be chosen. */
static void output_that_is_no_checkpoint_cannot_be_chosen(void)
{
  begin();
  set("SCR_FLUSH=1");
  set("SCR_CACHE_SIZE=5");
  OK(SCR_Init());
  OK(put("ck1", 1, 1000));
  OK(put_valid("plot", SCR_FLAG_OUTPUT, 1, 1000, 1));
  OK(SCR_Finalize());
  OK(SCR_Init());
  CHECK(same_code(SCR_Current("plot")) != SCR_SUCCESS, "plot is chosen");
  get("ck1", 1, 1000);
  OK(SCR_Finalize());
  run_fetches("ck1", 1, 1000);
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

#define ANY "1 2 4 5", "9"
#define FEW "2 4", ""

const test_case restart_cases[] = {CASE(a_run_restarts_from_the_newest_checkpoint, ANY),
                                   CASE(files_are_found_right_after_init_without_calls_of_a_restart, ANY),
                                   CASE(a_restart_gets_no_file_of_another_checkpoint, ANY),
                                   CASE(after_a_rejected_checkpoint_the_next_older_one_is_offered, ANY),
                                   CASE(a_fresh_start_is_refused_until_it_is_asked_for, ANY),
                                   CASE(checkpoints_are_chosen_dropped_and_deleted_by_name, ANY),
                                   CASE(a_dataset_is_found_by_its_name_before_another_one_by_its_directory, ANY),
                                   CASE(delete_takes_each_copy_of_the_newest_of_a_name_and_no_other, ANY),
                                   CASE(a_dropped_checkpoint_is_flushed_again_only_when_it_is_chosen, FEW),
                                   CASE(a_wish_of_scr_current_is_served_once, ANY),
                                   CASE(what_is_written_after_a_choice_goes_first, FEW),
                                   CASE(a_choice_holds_when_what_was_written_after_it_is_lost, FEW),
                                   CASE(output_that_is_no_checkpoint_cannot_be_chosen, FEW),
                                   CASE(only_checkpoints_are_offered_and_only_output_is_flushed, ANY),
                                   CASES_END};
