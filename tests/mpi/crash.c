/*
** crash.c - the prefix after flushes that failed or were killed half way: cache, prefix and index together.
**
** Whatever happens, what the next run offers has the bytes that were written, and is the newest checkpoint of which all
** bytes are left.
*/
#include "mpi_test.h"

/* On each rank, the next N files with PART in their paths below the prefix cannot be renamed. */
static void break_renames(const char* part, int n)
{
  fault_on(FAULT_RENAME, "/prefix/", part, n);
}

/* ---- checkpoints with the same file names ---------------------------------------------------------------------- */

static size_t state_size(int i)
{
  (void)i;
  return 700;
}

static const shape state = {"of the same names", one_file, state_size, "state/rank_%d"};

/* Write checkpoint NAME into the files that all of them have. */
static int put_state(const char* name)
{
  return put_shape(name, SCR_FLAG_CHECKPOINT, &state, 1);
}

/* That the prefix has the bytes of NAME, and a run that has nothing else gets them. */
static void run_fetches_state(const char* name)
{
  on_prefix_shape(name, &state);
  lose_all_nodes();
  run_gets_shape(name, &state);
}

/* ---- one flush replaces another -------------------------------------------------------------------------------- */

/* A run in which the files of ck1 never get their final names, and ck2 replaces it. */
static void replace_unfinished(int crc)
{
  begin();
  set("SCR_CRC_ON_FLUSH=%d", crc);
  set("SCR_FLUSH=1");
  OK(SCR_Init());
  break_renames("/state/rank_", INT_MAX);
  ALIKE(put_state("ck1"), SCR_ERR_IO, "rank_");
  fault_end();
  OK(put_state("ck2"));
}

/* The renames of ck1 are not made up for over the files of ck2. */
static void renames_of_an_older_flush_are_not_redone_over_a_newer_one(void)
{
  int crc;

  for (crc = 0; crc < 2; crc++) {
    during("SCR_CRC_ON_FLUSH=%d", crc);
    replace_unfinished(crc);
    run_dies();
    run_fetches_state("ck2");
  }
}

/* To delete ck1 is not to delete the files of ck2, of which it says that they are its own. */
static void deleting_a_replaced_checkpoint_keeps_the_files_of_the_newer_one(void)
{
  int rc;

  replace_unfinished(1);
  rc = same_code(SCR_Delete("ck1"));
  CHECK(rc == SCR_SUCCESS || rc == SCR_ERR_NOT_FOUND, "SCR_Delete is %d: %s", rc, SCR_Last_error());
  OK(SCR_Finalize());
  run_gets_shape("ck2", &state);
  run_fetches_state("ck2");
}

/* A run in which the flush of ck1 has no space, and that of ck2 replaces its files. */
static void replace_unflushed(void)
{
  begin();
  set("SCR_FLUSH=1");
  OK(SCR_Init());
  fault_on(FAULT_CREATE, "/prefix/", "/state/rank_", 1);
  ALIKE(put_state("ck1"), SCR_ERR_SPACE, "rank_");
  fault_end();
  OK(put_state("ck2"));
}

/* Finalize does not make up for the flush of ck1, over the files of ck2. */
static void finalize_does_not_flush_an_older_checkpoint_over_a_newer_one(void)
{
  replace_unflushed();
  OK(SCR_Finalize());
  run_fetches_state("ck2");
}

/* Nor does the next start. */
static void init_does_not_flush_an_older_checkpoint_over_a_newer_one(void)
{
  replace_unflushed();
  run_dies();
  run_gets_shape("ck2", &state);
  run_fetches_state("ck2");
}

/* A run that leaves two checkpoints with the same file names, ck1 in the cache alone. */
static void run_puts_two(void)
{
  begin();
  set("SCR_FLUSH=2");
  set("SCR_CACHE_SIZE=2");
  OK(SCR_Init());
  OK(put_state("ck1"));
  OK(put_state("ck2"));
  OK(SCR_Finalize());
}

/*
** Of ck2 only the copy on the prefix is left, and it is not fetched: the run with ck1 ends well, and keeps that copy.
*/
static void a_run_ends_well_when_a_newer_checkpoint_has_the_place_of_its_own(void)
{
  run_puts_two();
  shell("find . -name prefix -prune -o -type d -name scr.dataset.2 -print | xargs rm -r");
  set("SCR_FLUSH=1");
  set("SCR_FETCH=0");
  OK(SCR_Init());
  get_shape("ck1", &state);
  OK(SCR_Finalize());
  set("SCR_FETCH=");
  run_fetches_state("ck2");
}

/* The application rejects ck2, whose files lie where those of ck1 go: Finalize replaces them. */
static void an_older_checkpoint_replaces_a_rejected_one(void)
{
  char name[SCR_MAX_FILENAME] = "";

  run_puts_two();
  OK(SCR_Init());
  OK(SCR_Start_restart(name));
  CHECK(strcmp(name, "ck2") == 0, "%s is started instead of ck2", name);
  ALIKE(SCR_Complete_restart(0), SCR_ERR_INVALID, "ck2");
  get_shape("ck1", &state);
  OK(SCR_Finalize());
  run_fetches_state("ck1");
}

/* The files of ck1 find those of ck2 in their place, until ck2 is deleted: then Finalize flushes them. */
static void an_older_checkpoint_is_flushed_when_the_newer_one_is_deleted(void)
{
  replace_unflushed();
  OK(SCR_Finalize());
  OK(SCR_Init());
  get_shape("ck2", &state);
  OK(SCR_Delete("ck2"));
  OK(SCR_Finalize());
  run_fetches_state("ck1");
}

/* The user wants ck1, as a parameter or by a call: it replaces the good files of ck2, and is offered. */
static void the_checkpoint_that_the_user_wants_replaces_a_newer_one(void)
{
  int call;

  for (call = 0; call < 2; call++) {
    during(call ? "SCR_Current" : "SCR_CURRENT=ck1");
    run_puts_two();
    if (!call) set("SCR_CURRENT=ck1");
    OK(SCR_Init());
    if (call) OK(SCR_Current("ck1"));
    get_shape("ck1", &state);
    OK(SCR_Finalize());
    set("SCR_CURRENT=");
    run_fetches_state("ck1");
  }
}

/*
** ck1, in the cache alone, was passed over for ck0, whose files it replaces when the user chooses it.  The process dies
** at each file call of SCR_Current, and the node is lost: what is left is offered, whichever of them it is.
*/
static void a_death_in_scr_current_leaves_a_checkpoint_that_is_offered(void)
{
  char name[SCR_MAX_FILENAME];
  int  n, struck = 1, flag, step = pace(64, 4, 1);

  for (n = 1 + turn(step); struck > 0; n += step) {
    during("a death at call %d", n);
    test_alive();
    begin();
    set("SCR_FLUSH=2");
    set("SCR_CACHE_SIZE=3");
    OK(SCR_Init());
    OK(put_state("first"));
    OK(put_state("ck0")); /* flushed */
    OK(put_state("ck1"));
    OK(SCR_Current("ck0"));
    run_dies();
    OK(SCR_Init());
    get_shape("ck0", &state);
    fault_at(FAULT_DEAD, FAULT_ALL, EIO, n);
    hear();
    SCR_Current("ck1");
    heard(name, sizeof name);
    struck = fault_end();
    run_dies();
    lose_all_nodes();
    OK(SCR_Init());
    OK(SCR_Have_restart(&flag, name));
    CHECK(flag && (strcmp(name, "ck0") == 0 || strcmp(name, "ck1") == 0), "%s is offered", flag ? name : "none");
    if (flag) CHECK(holds_shape(name, &state), "%s", name);
    OK(SCR_Finalize());
  }
  CHECK(n > 30 + step, "%d calls", n);
}

/* ---- renames that are left ------------------------------------------------------------------------------------- */

/* The flush of checkpoint NAME is committed, but no file gets its final name, and none will before fault_end. */
static void put_unrenamed(const char* name)
{
  break_renames("/rank_", INT_MAX);
  ALIKE(put(name, 1, 1000), SCR_ERR_IO, "rank_");
}

/* The renames of ck1 can never be finished, for its temporary files are gone; those of ck2 can. */
static void renames_that_cannot_be_redone_do_not_hide_those_that_can(void)
{
  begin();
  set("SCR_FLUSH=1");
  set("SCR_CACHE_SIZE=5");
  OK(SCR_Init());
  put_unrenamed("ck1");
  put_unrenamed("ck2");
  run_dies();
  shell("rm prefix/ck1/*.tmp");
  run_fetches("ck2", 1, 1000);
}

/* ck1, whose files still have temporary names, is deleted: none of them is left. */
static void deleting_a_checkpoint_deletes_its_temporary_files(void)
{
  begin();
  set("SCR_FLUSH=1");
  set("SCR_CACHE_SIZE=5");
  OK(SCR_Init());
  put_unrenamed("ck1");
  fault_end();
  shell("ls prefix/ck1/.??*.tmp prefix/ck1/*.tmp 2>/dev/null | grep -q tmp"); /* there are some */
  OK(SCR_Delete("ck1"));
  OK(put("ck2", 1, 1000));
  OK(SCR_Finalize());
  shell("[ ! -e prefix/ck1 ]");
  run_fetches("ck2", 1, 1000);
}

/* The user wants ck1, whose renames fail once more: this run goes without it, and the next one has it. */
static void a_chosen_checkpoint_whose_renames_fail_again_is_there_later(void)
{
  begin();
  set("SCR_FLUSH=1");
  OK(SCR_Init());
  put_unrenamed("ck1");
  run_dies();
  lose_all_nodes();
  set("SCR_CURRENT=ck1");
  break_renames("/rank_", INT_MAX);
  if (same_code(SCR_Init()) == SCR_SUCCESS) SCR_Finalize();
  fault_end();
  CHECK(index_marks("FAILED") == 0, "ck1 is said to be bad");
  set("SCR_CURRENT=");
  run_fetches("ck1", 1, 1000);
}

/* The cached copy of ck1 is bad when Finalize tries again: the temporary files that its flush left are all there is. */
static void temporary_files_stay_when_the_cache_is_damaged(void)
{
  int times;

  for (times = 1; times <= 2; times++) { /* in Complete; in Finalize as well */
    during("%d failures", times);
    begin();
    set("SCR_FLUSH=1");
    set("SCR_COPY_TYPE=SINGLE");
    OK(SCR_Init());
    break_renames("/ck1/rank_", times);
    ALIKE(put("ck1", 1, 1000), SCR_ERR_IO, "rank_");
    damage_cached("ck1");
    same_code(SCR_Finalize());
    fault_end();
    run_fetches("ck1", 1, 1000);
  }
}

/* The temporary files of ck1 are gone, but the cache is whole: the next flush copies it anew. */
static void a_flush_whose_temporary_files_are_gone_is_made_anew(void)
{
  begin();
  set("SCR_FLUSH=1");
  OK(SCR_Init());
  put_unrenamed("ck1");
  run_dies();
  shell("rm prefix/ck1/*.tmp");
  run_gets("ck1", 1, 1000);
  on_prefix("ck1", 1, 1000);
  run_fetches("ck1", 1, 1000);
}

static int io_error(const char* path)
{
  (void)path;
  return EIO;
}

/* The index cannot be read when Finalize tries again: the temporary files stay, as it still speaks of them. */
static void temporary_files_stay_while_the_index_cannot_be_read(void)
{
  begin();
  set("SCR_FLUSH=1");
  OK(SCR_Init());
  put_unrenamed("ck1");
  fault_end();
  fault_watch(FAULT_OPEN | FAULT_CREATE, "/prefix/", "/index.scr", io_error);
  ALIKE(SCR_Finalize(), SCR_ERR_IO, "index.scr");
  fault_end();
  CHECK(count_in("prefix", ".tmp") == ranks, "%d temporary files are left", count_in("prefix", ".tmp"));
  run_fetches("ck1", 1, 1000);
}

/* The user chose ck1 before ck3 was written, whose renames the next run finishes: it goes on from ck3. */
static void a_choice_does_not_hide_a_later_checkpoint_whose_renames_are_redone(void)
{
  begin();
  set("SCR_FLUSH=1");
  OK(SCR_Init());
  OK(put("ck1", 1, 1000));
  OK(put("ck2", 1, 1000));
  OK(SCR_Current("ck1"));
  put_unrenamed("ck3");
  run_dies();
  run_fetches("ck3", 1, 1000);
}

/* ---- leftovers ------------------------------------------------------------------------------------------------- */

/* A flush fails before the index knows the dataset: no metadata say that it is complete, and no files are left. */
static void a_flush_that_fails_before_the_index_leaves_nothing(void)
{
  static const char* const words[] = {"/rank2file.0.0.scr", "/rank2file.scr", "/summary.scr", "/index.scr"};
  char                     name[40];
  size_t                   i;

  begin();
  set("SCR_FLUSH=1");
  set("SCR_CACHE_SIZE=3");
  OK(SCR_Init());
  OK(put("ck0", 2, 1000));
  for (i = 0; i < sizeof words / sizeof *words; i++) {
    snprintf(name, sizeof name, "ck%d", (int)i + 1);
    break_renames(words[i], INT_MAX);
    ALIKE(put(name, 2, 1000), SCR_ERR_IO, words[i]);
    fault_end();
    snprintf(name, sizeof name, "prefix/ck%d", (int)i + 1);
    CHECK(count_in(name, ".scr") == 0, "%s leaves metadata: %d", words[i], count_in(name, ".scr"));
    CHECK(count_in("prefix", ".tmp") == 0, "%s leaves temporary files", words[i]);
  }
  OK(SCR_Finalize()); /* flushes what is in the cache */
  CHECK(there("prefix/ck0/.scr/summary.scr") && there("prefix/ck4/.scr/summary.scr"), "a summary is missing");
  set("SCR_DISTRIBUTE=0");
  run_gets("ck4", 2, 1000);
}

/* Temporary files of metadata, which killed processes left, are removed; what only looks like them is not. */
static void temporary_metadata_of_killed_processes_are_removed_and_nothing_else(void)
{
  begin();
  run_puts("ck1", 1, 1000);
  shell("cd prefix/.scr; touch index.scr.node-1.some.where.123.0.tmp halt.scr..99.7.tmp nodes.scr.n.1.22.tmp "
        "flush.scr.n.1.2.tmp");
  shell("cd prefix/.scr; touch index.scr.mine.tmp index.scr.1.tmp index.scr.1.2.tmp my.scr.n.1.2.tmp "
        "index.scr.n.1.2.tmp.kept index.scr.n.1.x.tmp");
  run_gets("ck1", 1, 1000);
  shell("ls prefix/.scr | grep tmp > left; test $(wc -l < left) = 6; ! grep -e where -e 99.7 -e 1.22 -e flush left");
}

#define ANY "2 | 1 4 5", "9"
#define FEW "2 | 4", ""

const test_case crash_cases[] = {CASE(renames_of_an_older_flush_are_not_redone_over_a_newer_one, FEW),
                                 CASE(deleting_a_replaced_checkpoint_keeps_the_files_of_the_newer_one, FEW),
                                 CASE(finalize_does_not_flush_an_older_checkpoint_over_a_newer_one, FEW),
                                 CASE(init_does_not_flush_an_older_checkpoint_over_a_newer_one, FEW),
                                 CASE(a_run_ends_well_when_a_newer_checkpoint_has_the_place_of_its_own, FEW),
                                 CASE(an_older_checkpoint_replaces_a_rejected_one, FEW),
                                 CASE(an_older_checkpoint_is_flushed_when_the_newer_one_is_deleted, FEW),
                                 CASE(a_death_in_scr_current_leaves_a_checkpoint_that_is_offered, "1"),
                                 CASE(the_checkpoint_that_the_user_wants_replaces_a_newer_one, FEW),
                                 CASE(renames_that_cannot_be_redone_do_not_hide_those_that_can, FEW),
                                 CASE(deleting_a_checkpoint_deletes_its_temporary_files, FEW),
                                 CASE(a_chosen_checkpoint_whose_renames_fail_again_is_there_later, FEW),
                                 CASE(temporary_files_stay_when_the_cache_is_damaged, FEW),
                                 CASE(a_flush_whose_temporary_files_are_gone_is_made_anew, FEW),
                                 CASE(temporary_files_stay_while_the_index_cannot_be_read, FEW),
                                 CASE(a_choice_does_not_hide_a_later_checkpoint_whose_renames_are_redone, FEW),
                                 CASE(a_flush_that_fails_before_the_index_leaves_nothing, "5 | 1 2 3 9", "16"),
                                 CASE(temporary_metadata_of_killed_processes_are_removed_and_nothing_else, ANY),
                                 CASES_END};
