/*
** ranks.c - checkpoints that another number of ranks wrote, and those that are read where they are on the prefix.
*/
#include "mpi_test.h"

/* ---- runs of some of the ranks ----------------------------------------------------------------------------- */

/* How many nodes N ranks are. */
static int nodes_of(int n)
{
  return n % 4 == 0 ? 4 : n % 3 == 0 ? 3 : n % 2 == 0 ? 2 : 1;
}

static void run_of(int n, void (*run)(void))
{
  run_of_nodes(n, nodes_of(n), run);
}

/* ---- their files --------------------------------------------------------------------------------------------- */

static const char* name = "ck1"; /* of the checkpoint that is written or read, */
static int         wrote;        /* and how many ranks wrote it */

static int files_of(int r)
{
  return 1 + r % 3;
}

static size_t bytes_of(int r, int i)
{
  return (size_t)((r * 1777 + i * 333) % 5000);
}

static void path_in(const char* dataset, int r, int i, char* path)
{
  snprintf(path, SCR_MAX_FILENAME, "%s/%s/of_%d/part_%d", case_prefix, dataset, r % 2, r * 10 + i);
}

static void writes(void)
{
  char path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME];
  int  i;

  OK(SCR_Start_output(name, SCR_FLAG_CHECKPOINT));
  for (i = 0; i < files_of(rank); i++) {
    path_in(name, rank, i, path);
    OK(SCR_Route_file(path, file));
    CHECK(write_bytes(file, seed_of(name, rank, i), bytes_of(rank, i)), "%s", file);
  }
  OK(SCR_Complete_output(1));
}

/* That file I of rank R of the checkpoint reads back as it was written; returns 1. */
static int reads_file(int r, int i)
{
  char path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME];
  int  ok;

  path_in(name, r, i, path);
  OK(SCR_Route_file(path, file));
  ok = same_bytes(file, seed_of(name, r, i), bytes_of(r, i));
  CHECK(ok, "%s, at %s", path, file);
  return ok;
}

/* That the checkpoint is offered, and the files of all ranks, dealt out among those that read, are what was written. */
static void reads(void)
{
  char offered[SCR_MAX_FILENAME] = "";
  int  flag = 0, by = 0, r, i, ok = 1;

  OK(SCR_Have_restart(&flag, offered));
  CHECK(flag && strcmp(offered, name) == 0, "%d %s in place of %s", flag, offered, name);
  if (!flag) return;
  OK(SCR_Restart_ranks(&by));
  CHECK(by == wrote, "%d ranks in place of %d", by, wrote);
  OK(SCR_Start_restart(NULL));
  for (r = by == some ? rank : (rank + 1) % some; r < wrote; r += some)
    for (i = 0; i < files_of(r); i++) ok &= reads_file(r, i);
  OK(SCR_Complete_restart(ok));
}

static void goes_on(void)
{
  reads();
  name = "next";
  writes();
}

static void is_refused(void)
{
  int flag;

  CODE(SCR_Have_restart(&flag, NULL), SCR_ERR_NO_RESTART, "ck1");
}

static void nothing(void)
{
}

static void write_by(int n)
{
  wrote = n;
  name = "ck1";
  run_of(n, writes);
}

/* ---- any number after any other ------------------------------------------------------------------------------ */

typedef enum { CACHED, FLUSHED, CONTAINERS, NODE_LOST, FLUSHED_AND_LOST, PLACES } place;

static const char* const places[] = {"cached", "flushed", "in containers", "with a node lost", "flushed, a node lost"};

/* Returns 1 if what W ranks cached can be rebuilt from what R ranks reach, without LOST of their nodes. */
static int reaches(int w, int r, int lost)
{
  if (nodes_of(w) > nodes_of(r)) lost += nodes_of(w) - nodes_of(r);
  return lost == 0 || (w > 1 && lost == 1);
}

/* A checkpoint of W ranks at P is read by R ranks, which write the next one; that is read by W ranks. */
static void restart_of(int w, int r, place p)
{
  int lost = p == NODE_LOST || p == FLUSHED_AND_LOST, in_cache = p == CACHED || p == NODE_LOST;

  if (p == NODE_LOST && (nodes_of(w) == 1 || nodes_of(r) == 1)) return; /* nothing tells that there was one */
  during("%d ranks after %d, %s", r, w, places[p]);
  test_alive();
  begin();
  set("SCR_FLUSH=%d", p == FLUSHED || p == CONTAINERS || p == FLUSHED_AND_LOST);
  set("SCR_USE_CONTAINERS=%d", p == CONTAINERS);
  set("SCR_CONTAINER_SIZE=4096");
  write_by(w);
  if (p == FLUSHED || p == CONTAINERS) lose_all_nodes();
  if (lost) shell("rm -rf cache/*/*/node.*-v0 cntl/*/*/node.*-v0 cache/*/*/scr.dataset.* cntl/*/*/filemap*");
  if (in_cache && !reaches(w, r, lost)) {
    run_of(r, is_refused);
    if (p == CACHED) run_of(w, reads); /* it is still there */
    return;
  }
  run_of(r, goes_on);
  CHECK(count_in("prefix", ".names") == 0 && count_in("cache", "scr.dataset.0") == 0, "something is left");
  if (in_cache && !reaches(r, w, 0)) return;
  wrote = r;
  name = "next";
  run_of(w, reads);
}

static void a_checkpoint_is_read_by_any_number_of_ranks(void)
{
  static const int counts[] = {1, 3, 4, 6, 8};
  int              w, r, p, n = 0, step = pace(24, 4, 1);

  for (w = 0; w < 5; w++)
    for (r = 0; r < 5; r++)
      for (p = 0; p < PLACES; p++)
        if ((w > 0 || p != NODE_LOST) && (test_long || (w != r && (n++ + turn(step)) % step == 0)))
          restart_of(counts[w], counts[r], (place)p);
}

/* ---- programs that are not prepared -------------------------------------------------------------------------- */

/* It reads its own files alone, as a program does that knows of no others. */
static void reads_a_part(void)
{
  int flag, i;

  OK(SCR_Have_restart(&flag, NULL));
  OK(SCR_Start_restart(NULL));
  for (i = 0; i < files_of(rank); i++) reads_file(rank, i);
  CODE(SCR_Complete_restart(1), SCR_ERR_STATE, "SCR_Restart_ranks");
}

static void reads_a_part_without_saying_so(void)
{
  int i;

  for (i = 0; i < files_of(rank); i++) reads_file(rank, i);
  CODE(SCR_Start_checkpoint(), SCR_ERR_STATE, "SCR_Restart_ranks");
}

static void reads_all_without_asking(void)
{
  int flag, r, i;

  OK(SCR_Have_restart(&flag, NULL));
  OK(SCR_Start_restart(NULL));
  for (r = rank; r < wrote; r += some)
    for (i = 0; i < files_of(r); i++) reads_file(r, i);
  OK(SCR_Complete_restart(1));
}

static void a_program_does_not_go_on_from_a_part_unawares(void)
{
  int flushed;

  for (flushed = 0; flushed <= 1; flushed++) {
    begin();
    set("SCR_FLUSH=%d", flushed);
    write_by(4);
    run_of(3, reads_a_part);
    run_of(3, reads_a_part_without_saying_so);
    set("SCR_RESTART_RANKS=same");
    run_of(3, is_refused);
    run_of(4, reads);
    set("SCR_RESTART_RANKS=any");
    run_of(3, reads_all_without_asking);
    name = "ck1";
    run_of(4, reads);
  }
}

/* The loop of many programs: ask, read, complete, until that is a success.  It reads its own files alone. */
static int loops_of_restart;

static void loops_until_a_restart_succeeds(void)
{
  char offered[SCR_MAX_FILENAME];
  int  i, flag = 1, rc = SCR_ERR_STATE;

  for (loops_of_restart = 0; loops_of_restart < 5 && flag && rc != SCR_SUCCESS; loops_of_restart++) {
    if (SCR_Have_restart(&flag, offered) != SCR_SUCCESS || !flag) continue;
    OK(SCR_Start_restart(NULL));
    name = strcmp(offered, "ck0") == 0 ? "ck0" : "ck1";
    for (i = 0; i < files_of(rank); i++) reads_file(rank, i);
    rc = SCR_Complete_restart(1);
  }
  name = "ck2";
  if (rc == SCR_SUCCESS) writes();
  else CODE(SCR_Start_checkpoint(), SCR_ERR_NO_RESTART, "SCR_RESTART_RANKS=same");
}

static void a_loop_over_a_checkpoint_of_other_ranks_ends(void)
{
  int older;

  for (older = 0; older <= 1; older++) {
    during(older ? "an older one is of as many ranks" : "there is no other");
    begin();
    set("SCR_FLUSH=1");
    set("SCR_CACHE_SIZE=3");
    name = "ck0";
    if (older) run_of(3, writes);
    write_by(4);
    run_of(3, loops_until_a_restart_succeeds);
    CHECK(rank >= 3 || loops_of_restart == 2, "%d loops", loops_of_restart);
    name = older ? "ck2" : "ck1"; /* nothing is held against it */
    wrote = older ? 3 : 4;
    run_of(4, reads);
  }
}

/* It is not prepared, and its files of another run are still where it names them. */
static void routes_old_files(void)
{
  char path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME];

  path_in(name, rank, 0, path);
  if (rank < 4) OK(SCR_Route_file(path, file));
  else CODE(SCR_Route_file(path, file), SCR_ERR_MISSING, "which 4 ranks wrote");
}

static void files_of_an_older_run_are_not_taken_for_those_of_the_checkpoint(void)
{
  begin();
  set("SCR_FLUSH=1");
  write_by(8);
  write_by(4); /* the same names */
  run_of(8, routes_old_files);
}

static int no_copy(const char* path)
{
  (void)path;
  return ENOSPC;
}

static void a_full_prefix_does_not_cost_the_newest_checkpoint(void)
{
  begin();
  set("SCR_FLUSH=0");
  set("SCR_CACHE_SIZE=2");
  name = "ck0";
  run_of(4, writes);
  write_by(4);
  fault_watch(FAULT_CREATE, "prefix/ck1", "part_", no_copy);
  run_of(3, is_refused);
  fault_end();
  run_of(3, reads);
}

/* ---- what is routed -------------------------------------------------------------------------------------------- */

static void routes_what_is_not_there(void)
{
  char path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME];
  int  flag, by;

  CODE(SCR_Restart_ranks(NULL), SCR_ERR_ARG, "place");
  OK(SCR_Have_restart(&flag, NULL));
  OK(SCR_Restart_ranks(&by));
  OK(SCR_Start_restart(NULL));
  path_in(name, wrote, 0, path);
  CODE(SCR_Route_file(path, file), SCR_ERR_MISSING, "which 4 ranks wrote");
  CHECK(*file == '\0', "%s", file);
  CODE(SCR_Route_file("part_0", file), SCR_ERR_MISSING, "part_0"); /* whose? */
  CODE(SCR_Route_file("/etc/passwd", file), SCR_ERR_MISSING, "passwd");
  reads_file(3, 0);
  if (rank == 0) {
    path_in(name, 2, 0, path);
    CHECK(truncate(path, 7) == 0, "%s", path);
    CODE(SCR_Route_file(path, file), SCR_ERR_MISSING, "7 bytes");
    CHECK(*file == '\0', "%s", file);
  }
  CODE(SCR_Complete_restart(rank != 0), SCR_ERR_INVALID, "1 rank could");
  CODE(SCR_Have_restart(&flag, NULL), SCR_ERR_NO_RESTART, "ck1");
  CODE(SCR_Restart_ranks(&by), SCR_ERR_STATE, "SCR_Have_restart");
  CHECK(by == 0, "%d", by);
}

static void a_path_that_no_rank_wrote_is_an_error(void)
{
  begin();
  set("SCR_FLUSH=1");
  write_by(4);
  run_of(3, routes_what_is_not_there);
}

static int no_names(const char* path)
{
  (void)path;
  return ENOSPC;
}

static void names_are_found_in_buckets_and_without_them(void)
{
  int k;

  for (k = 0; k < 3; k++) {
    during("%s", k == 0 ? "one bucket" : k == 1 ? "many buckets" : "no buckets");
    begin();
    set("SCR_FLUSH=1");
    set("SCR_PRESERVE_DIRECTORIES=%d", k != 1);
    if (k == 1) set("SCR_RANK2FILE_SIZE=300");
    write_by(4);
    lose_all_nodes();
    if (k == 2) fault_watch(FAULT_CREATE, "", ".names", no_names);
    run_of(3, goes_on);
    fault_end();
  }
}

static int full(const char* path, struct statvfs* fs)
{
  int rc = statvfs(path, fs);

  fs->f_bavail = 0;
  return rc;
}

static void takes_out_without_room(void)
{
  char path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME];
  int  flag, r;

  OK(SCR_Have_restart(&flag, NULL));
  test_statvfs = full;
  path_in(name, 3, 0, path);
  CODE(SCR_Route_file(path, file), SCR_ERR_SPACE, "free some, or set SCR_CACHE_BASE");
  test_statvfs = statvfs;
  for (r = 0; r < wrote; r++) reads_file(r, 0); /* all ranks of a node at once */
  OK(SCR_Restart_ranks(&flag));
  writes();
}

static void what_is_taken_out_of_containers_needs_room(void)
{
  int flat;

  for (flat = 0; flat <= 1; flat++) {
    begin();
    set("SCR_FLUSH=1");
    set("SCR_USE_CONTAINERS=1");
    set("STORE=%s/cache MKDIR=%d", case_dir, !flat);
    write_by(4);
    lose_all_nodes();
    run_of(2, takes_out_without_room);
    CHECK(count_in("cache", "part_30") == 0, "files of ck1 are left");
  }
}

/* ---- decisions ------------------------------------------------------------------------------------------------- */

/* All ranks ask how many wrote it, and one rejects it all the same. */
static void rejects_knowingly(const char* checkpoint)
{
  int n;

  OK(SCR_Restart_ranks(&n));
  rejects(checkpoint);
}

static void rejects_both(void)
{
  int flag;

  rejects_knowingly("ck2");
  OK(SCR_Have_restart(&flag, NULL));
  rejects_knowingly("ck1");
  CODE(SCR_Have_restart(&flag, NULL), SCR_ERR_NO_RESTART, "ck1");
}

static void what_other_ranks_wrote_is_rejected_and_chosen_like_any_other(void)
{
  begin();
  as_job("one");
  set("SCR_FLUSH=0");
  set("SCR_CACHE_SIZE=2");
  write_by(4);
  name = "ck2";
  run_of(4, writes);
  run_of(3, rejects_both);
  run_of(4, is_refused); /* in this job */
  set("SCR_CURRENT=ck1");
  name = "ck1";
  run_of(3, reads);
  set("SCR_CURRENT=");
  run_of(4, reads); /* what was chosen is the checkpoint now */
}

/* A program that is not prepared for other ranks says that it could not restart. */
static void gives_up_and_is_refused(void)
{
  int flag;

  OK(SCR_Have_restart(&flag, NULL));
  OK(SCR_Start_restart(NULL));
  CODE(SCR_Complete_restart(rank > 0), SCR_ERR_INVALID, "has not asked SCR_Restart_ranks");
  is_refused();
}

static void rejects_and_is_refused(void)
{
  rejects_knowingly("ck1");
  is_refused();
  keep_remedy();
}

/* After one start with too few ranks, as many as wrote it read it again, in the same job. */
static void other_ranks_that_do_not_ask_reject_nothing(void)
{
  int flush;

  for (flush = 0; flush <= 1; flush++) {
    during(flush ? "flushed" : "cached");
    begin();
    as_job("one");
    set("SCR_FLUSH=%d", flush);
    write_by(4);
    if (flush) lose_all_nodes();
    run_of(3, gives_up_and_is_refused);
    run_of(4, reads);
    run_of(3, rejects_and_is_refused);
    run_of(4, is_refused);
    carry_out();
    run_of(4, reads);
  }
}

static void has_no_room(void)
{
  char path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME];
  int  flag, by, rc = SCR_SUCCESS;

  OK(SCR_Have_restart(&flag, NULL));
  OK(SCR_Restart_ranks(&by));
  OK(SCR_Start_restart(NULL));
  path_in(name, 0, 0, path);
  if (rank == 0) {
    fault_at(FAULT_FAIL, FAULT_CREATE, ENOSPC, 1);
    rc = SCR_Route_file(path, file);
    CHECK(fault_end() > 0 && rc != SCR_SUCCESS, "%s is taken out of its container", path);
  }
  CODE(SCR_Complete_restart(rank > 0), SCR_ERR_INVALID, "could not be had, on 1 rank; no older one takes its place");
  CODE(SCR_Have_restart(&flag, NULL), SCR_ERR_NO_RESTART, "ck2");
  CODE(SCR_Start_output("ck3", SCR_FLAG_CHECKPOINT), SCR_ERR_NO_RESTART, "ck2");
}

/* A cache without room for what is in a container says nothing about the checkpoint, and offers no older one. */
static void what_has_no_room_is_not_rejected(void)
{
  begin();
  as_job("one");
  set("SCR_FLUSH=1");
  set("SCR_USE_CONTAINERS=1");
  write_by(4);
  name = "ck2";
  run_of(4, writes);
  lose_all_nodes();
  run_of(3, has_no_room);
  run_of(3, reads);
}

static void gives_up_on_both(void)
{
  int flag, i;

  for (i = 0; i < 2; i++) {
    OK(SCR_Have_restart(&flag, NULL));
    OK(SCR_Start_restart(NULL));
    CODE(SCR_Complete_restart(rank > 0), SCR_ERR_INVALID, "has not asked SCR_Restart_ranks");
  }
  CODE(SCR_Have_restart(&flag, NULL), SCR_ERR_NO_RESTART, "ck1");
}

/* The index marks what the next run restarts from, not what was tried last. */
static void what_other_ranks_have_tried_in_vain_is_not_marked(void)
{
  begin();
  set("SCR_FLUSH=1");
  write_by(4);
  run_of(4, goes_on);
  lose_all_nodes();
  run_of(3, gives_up_on_both);
  shell("'%s' --prefix '%s' --list | grep -q '^[*] .* next$'", getenv("TEST_INDEX"), case_prefix);
  name = "next";
  run_of(4, reads);
}

static void drops(void)
{
  int flag;

  OK(SCR_Have_restart(&flag, NULL));
  OK(SCR_Drop("ck1"));
  OK(SCR_Have_restart(&flag, NULL));
}

static void deletes(void)
{
  int flag;

  OK(SCR_Have_restart(&flag, NULL));
  OK(SCR_Delete("ck1"));
  writes();
}

static void what_is_read_in_place_is_dropped_and_deleted(void)
{
  begin();
  set("SCR_FLUSH=1");
  write_by(4);
  lose_all_nodes();
  run_of(3, drops);
  shell("'%s' --prefix '%s' --add ck1", getenv("TEST_INDEX"), case_prefix);
  run_of(3, reads);
  run_of(3, deletes);
}

static void restarts_and_drops(void)
{
  name = "ck1";
  reads();
  OK(SCR_Drop("ck1"));
  name = "ck2";
  writes();
}

static void restarts_and_deletes(void)
{
  name = "ck1";
  reads();
  OK(SCR_Delete("ck1"));
  name = "ck2";
  writes();
}

/* Two nodes have lost their files, so ck1 is read on the prefix; it goes when the program has restarted from it. */
static void what_a_run_has_restarted_from_may_go(void)
{
  int by;

  for (by = 0; by < 3; by++) {
    during("%s by %d ranks", by == 1 ? "dropped" : "deleted", by ? 3 : 4);
    begin();
    set("SCR_FLUSH=1");
    write_by(4);
    shell("rm -r cache/*/*/node.*-v[01]/scr.dataset.1/ck1");
    run_of(by ? 3 : 4, by == 1 ? restarts_and_drops : restarts_and_deletes);
    wrote = by ? 3 : 4;
    name = "ck2";
    run_of(4, reads);
  }
}

/* ---- read in place --------------------------------------------------------------------------------------------- */

static void reads_on_the_prefix(void)
{
  char path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME], base[40];
  int  flag = 0;

  OK(SCR_Have_restart(&flag, NULL));
  CHECK(flag, "not offered");
  OK(SCR_Start_restart(NULL));
  path_in(name, rank, 0, path);
  OK(SCR_Route_file(path, file));
  CHECK(strcmp(path, file) == 0, "%s, not %s", file, path);
  snprintf(base, sizeof base, "part_%d", rank * 10);
  OK(SCR_Route_file(base, file));
  CHECK(strcmp(path, file) == 0, "%s, not %s", file, path);
  reads_file((rank + 1) % some, 0);
  OK(SCR_Complete_restart(1));
  reads_file(rank, 0);
  CHECK(cached_in("cache") == 0 || strcmp(name, "ck1") != 0, "the cache has a copy");
}

static void with_bypass_a_checkpoint_is_read_on_the_prefix(void)
{
  begin();
  set("SCR_FLUSH=1");
  write_by(4);
  lose_all_nodes();
  set("SCR_FETCH_BYPASS=1");
  run_of(4, reads_on_the_prefix);
  shell("mkdir away; for f in $(find prefix/%s -type f ! -path '*/.scr/*'); do mv $f away/ && ln -s $PWD/away/${f##*/} "
        "$f; done",
        name);
  run_of(4, reads_on_the_prefix); /* by links of the user's, too */
  name = "next";
  run_of(4, writes);
  run_of(4, reads); /* that is in the cache */
  set("SCR_FETCH_BYPASS=0");
  set("SCR_GLOBAL_RESTART=1");
  set("SCR_FLUSH=0");
  name = "only in the cache";
  run_of(4, writes);
  run_of(4, reads_on_the_prefix);
}

/* 3 ranks die while they read, from containers, what 4 ranks wrote. */
static void a_reader_is_killed(void)
{
  MPI_Comm comm;
  int      flag;

  begin();
  set("SCR_FLUSH=1");
  set("SCR_USE_CONTAINERS=1");
  write_by(4);
  lose_all_nodes();
  MPI_Comm_split(MPI_COMM_WORLD, rank < 3 ? 0 : MPI_UNDEFINED, rank, &comm);
  if (comm != MPI_COMM_NULL) {
    some = 3;
    OK(SCR_Init_comm(comm));
    OK(SCR_Have_restart(&flag, NULL));
    reads_file(rank, 0);
    fault_at(FAULT_DEAD, FAULT_ALL, EIO, 1);
    SCR_Finalize();
    fault_end();
    MPI_Comm_free(&comm);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

static void what_a_killed_reader_leaves_is_removed(void)
{
  a_reader_is_killed();
  CHECK(count_in("prefix", ".names") > 0 && count_in("cache", "part_0") > 0, "nothing was left");
  run_of(2, goes_on);
  CHECK(count_in("prefix", ".names") == 0 && count_in("cache", "part_0") <= 1, "it is still there");
}

/* The files of a node are gone, but not its records. */
static void a_cache_without_its_files_does_not_count_twice(void)
{
  int k;

  for (k = 0; k < 4; k++) {
    during("node v%d", k);
    begin();
    set("SCR_FLUSH=0");
    write_by(4);
    shell("rm -rf cache/*/*/node.*-v%d/scr.dataset.1", k);
    run_of_nodes(8, 4, reads);
    run_of(4, reads);
  }
}

/* The same names, with other bytes, as of another checkpoint. */
static void what_a_killed_reader_leaves_is_not_taken_for_another_checkpoint(void)
{
  a_reader_is_killed();
  shell("find cache -name 'part_*' -size +0 -exec sh -c 'tr -c x y < \"$1\" > \"$1.y\"; mv \"$1.y\" \"$1\"' sh {} ';'");
  run_of(3, reads);
}

/* ---- faults ---------------------------------------------------------------------------------------------------- */

/* A run of 3 ranks in which each file call from the N-th on fails on the last one; 1 when there are not so many. */
static int dies_at(long n)
{
  MPI_Comm comm;
  int      over = 1;

  set("SCR_VIRTUAL_NODES=3");
  MPI_Comm_split(MPI_COMM_WORLD, rank < 3 ? 0 : MPI_UNDEFINED, rank, &comm);
  if (comm != MPI_COMM_NULL) {
    if (rank == 1) fault_at(FAULT_DEAD, FAULT_ALL, EIO, (int)n);
    if (SCR_Init_comm(comm) == SCR_SUCCESS) SCR_Finalize();
    over = fault_end() == 0;
    MPI_Bcast(&over, 1, MPI_INT, 1, comm);
    MPI_Comm_free(&comm);
  }
  MPI_Bcast(&over, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return over;
}

/* A node is lost, and a rank dies at some moment while others rebuild and bring to the prefix what 4 ranks wrote. */
static void a_death_while_other_ranks_rebuild_loses_nothing(void)
{
  long n, step = pace(42, 14, 1);
  int  over = 0;

  begin();
  set("SCR_FLUSH=0");
  set("SCR_FLUSH_ON_RESTART=1");
  write_by(4);
  shell("cp -a cache was_cache; cp -a cntl was_cntl; cp -a prefix was_prefix");
  for (n = 1 + turn((int)step); !over; n += step) {
    during("a death at call %ld", n);
    test_alive();
    shell("rm -rf cache cntl prefix; cp -a was_cache cache; cp -a was_cntl cntl; cp -a was_prefix prefix");
    over = dies_at(n);
    run_of(3, reads);
    shell("rm -rf prefix");
    shell("cp -a was_prefix prefix"); /* in the cache, it is still what 4 ranks wrote */
    run_of(3, reads);
  }
  CHECK(n > 140, "only %ld calls", n);
}

/* clang-format off */
const test_case ranks_cases[] = {CASE(a_checkpoint_is_read_by_any_number_of_ranks, "8"),
                                 CASE(a_program_does_not_go_on_from_a_part_unawares, "4"),
CASE(a_loop_over_a_checkpoint_of_other_ranks_ends, "4"),
                                 CASE(files_of_an_older_run_are_not_taken_for_those_of_the_checkpoint, "8"),
                                 CASE(a_full_prefix_does_not_cost_the_newest_checkpoint, "4"),
                                 CASE(a_path_that_no_rank_wrote_is_an_error, "4"),
                                 CASE(names_are_found_in_buckets_and_without_them, "4"),
                                 CASE(what_is_taken_out_of_containers_needs_room, "4"),
                                 CASE(what_other_ranks_wrote_is_rejected_and_chosen_like_any_other, "4"),
                                 CASE(other_ranks_that_do_not_ask_reject_nothing, "4"),
                                 CASE(what_other_ranks_have_tried_in_vain_is_not_marked, "4"),
                                 CASE(what_has_no_room_is_not_rejected, "4"),
CASE(what_is_read_in_place_is_dropped_and_deleted, "4"),
CASE(what_a_run_has_restarted_from_may_go, "4"),
                                 CASE(with_bypass_a_checkpoint_is_read_on_the_prefix, "4"),
                                 CASE(what_a_killed_reader_leaves_is_removed, "4"),
                                 CASE(what_a_killed_reader_leaves_is_not_taken_for_another_checkpoint, "4"),
                                 CASE(a_cache_without_its_files_does_not_count_twice, "8"),
                                 CASE(a_death_while_other_ranks_rebuild_loses_nothing, "4"), CASES_END};
