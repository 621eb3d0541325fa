/*
** faults.c - system calls and allocations fail while a run starts, or a run ends while it commits: what the next one
** finds.
**
** A checkpoint is written on few nodes and started from on more, so that files move and records change hands; or it
** is damaged, and rebuilt.  Meanwhile something fails on one rank.  The run with the fault may do without the
** checkpoint, but never with wrong bytes, and it must not hang; the run after it finds the checkpoint as it was.
*/
#include "mpi_test.h"

static size_t odd_size(int i)
{
  return (size_t)(20011 + 1013 * rank + 77 * i);
}

static const shape single = {"one file", one_file, odd_size, NULL};
static const shape pair = {"two files", two_files, odd_size, NULL};

enum { FIRST = 20011, SECOND = 17003 }; /* bytes of ck1 and ck2 */

/* A new world of NODES nodes under scheme TYPE, with ck1 in it, and ck2 when BOTH. */
static void write_on(const char* type, int nodes, int both)
{
  scheme c;

  c.type = type;
  c.k = 1;
  begin_nodes(&c);
  set("SCR_VIRTUAL_NODES=%d", nodes);
  set("SCR_CACHE_SIZE=2");
  OK(SCR_Init());
  OK(put("ck1", 1, FIRST));
  if (both) OK(put("ck2", 1, SECOND));
  OK(SCR_Finalize());
  MPI_Barrier(MPI_COMM_WORLD);
}

/* A run that gets ck1, or ck2. */
static void run_gets_first(const char* when)
{
  during("%s", when);
  run_gets("ck1", 1, FIRST);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void run_gets_second(const char* when)
{
  during("%s", when);
  run_gets("ck2", 1, SECOND);
  MPI_Barrier(MPI_COMM_WORLD);
}

#define MAKES (FAULT_CREATE | FAULT_PWRITE)

/* On rank WHO, the next N calls that create, read or write files with PART in their path fail. */
static void break_files(int who, const char* part, int n)
{
  fault_on(MAKES | FAULT_READS, "", part, rank == who ? n : 0);
}

/* ---- a move fails ---------------------------------------------------------------------------------------------- */

/*
** Rank 0 cannot read what it sends to rank 1, whose files then have their sizes but not their bytes.  PARAM is off: no
** checksum would tell.  This run takes ck1, the next one ck2; with LOSE_NODE, though the node that sent is lost.
*/
static void read_fails(const char* type, const char* param, int lose_node)
{
  write_on(type, ranks / 2, 1);
  set("%s=0", param);
  set("SCR_VIRTUAL_NODES=%d", ranks);
  break_files(0, "scr.dataset.2/ck2", 1);
  run_gets_first("the move fails");
  CHECK(fault_struck(FAULT_READS) == (rank == 0), "%d reads failed", fault_struck(FAULT_READS));
  fault_end();
  if (lose_node && rank == 0) lose(NODE);
  run_gets_second("after it");
}

static void what_cannot_be_read_is_not_moved_but_stays(void)
{
  read_fails("SINGLE", "SCR_CRC_ON_COPY", 0);
}

static void what_could_not_be_moved_is_rebuilt_when_its_source_is_lost(void)
{
  read_fails("XOR", "SCR_CRC_ON_RESTART", 1);
}

/*
** The file of rank 1 is corrupt where it lies, so that only its redundancy file moves; and the last rank cannot create
** its file.  What moved must not look like all that rank 1 ever had.
*/
static void what_has_moved_in_part_does_not_pass_for_all(void)
{
  char path[SCR_MAX_FILENAME];
  int  flag;

  write_on("XOR", ranks / 2, 1);
  if (rank == 0) {
    CHECK(find_file(case_dir, "scr.dataset.2/ck2/rank_1", 0, path) == 1, "no file of rank 1");
    flip_bit(path, 777);
  }
  set("SCR_VIRTUAL_NODES=%d", ranks);
  break_files(ranks - 1, "scr.dataset.2/ck2", 1);
  OK(SCR_Init());
  CODE(SCR_Have_restart(&flag, NULL), SCR_ERR_NO_RESTART, "only room is missing to make ck2 whole");
  OK(SCR_Finalize());
  CHECK(fault_struck(MAKES) == (rank == ranks - 1), "%d files could not be created", fault_struck(MAKES));
  fault_end();
  run_gets_second("after it");
}

/* ---- records change hands -------------------------------------------------------------------------------------- */

/* From 2 nodes to 3: rank 2 leads the second one, and deals the records out that lie there. */
static void records_follow_their_ranks_to_more_nodes(void)
{
  write_on("SINGLE", 2, 0);
  set("SCR_VIRTUAL_NODES=3");
  run_gets_first("on 3 nodes");
}

static int fails_on_rank_2(const char* path)
{
  (void)path;
  return rank == 2 ? EIO : 0;
}

/* As above, but rank 2 cannot write the file of all records: nobody may replace his own; the next run has them all. */
static void no_record_is_replaced_before_all_are_written(void)
{
  write_on("SINGLE", 2, 0);
  set("SCR_VIRTUAL_NODES=3");
  fault_watch(MAKES, "", "filemap_all", fails_on_rank_2);
  CHECK(same_code(SCR_Init()) != SCR_SUCCESS, "SCR_Init did without the records");
  fault_end();
  run_gets_first("after it");
}

/* Without room for the file of all records, what nobody needs goes first, and then the run does without that file. */
static void a_full_node_does_without_the_file_of_all_records(void)
{
  write_on("SINGLE", 2, 0);
  set("SCR_VIRTUAL_NODES=3");
  break_files(2, "filemap_all", 2);
  run_gets_first("without room for the file of all records");
  CHECK(fault_struck(MAKES) == 2 * (rank == 2), "%d files could not be created", fault_struck(MAKES));
  fault_end();
  run_gets_first("after it");
}

/* ---- the run ends while a checkpoint is made complete ---------------------------------------------------------- */

/* Write a checkpoint as put does, and save the node as it was before it was made complete. */
static void write_uncommitted(const char* name, size_t bytes)
{
  char path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME];

  OK(SCR_Init());
  OK(SCR_Start_output(name, SCR_FLAG_CHECKPOINT));
  name_of(name, 0, path);
  OK(SCR_Route_file(path, file));
  CHECK(write_bytes(file, seed_of(name, rank, 0), size_of(0, bytes)), "cannot write %s: %s", file, strerror(errno));
  save_node();
  OK(SCR_Complete_output(1));
  OK(SCR_Finalize());
  MPI_Barrier(MPI_COMM_WORLD);
}

/* The last node has not made ck2 complete, the others have: it is a lost member, and ck2 is there. */
static void a_checkpoint_that_one_node_has_not_committed_is_there(void)
{
  write_on("XOR", ranks, 0);
  write_uncommitted("ck2", SECOND);
  if (rank == ranks - 1) put_back();
  run_gets_second("one node has not committed");
}

/* So it is when a run went on from ck2 without that node, and it comes back: ck2 must not be deleted for its sake. */
static void a_node_that_comes_back_uncommitted_makes_nothing_unwritten(void)
{
  int flag = 0;

  write_on("XOR", ranks, 0);
  write_uncommitted("ck2", SECOND);
  if (rank == ranks - 1) lose(NODE);
  run_gets_second("one node is lost");
  if (rank == ranks - 1) put_back();
  run_gets_second("it comes back");
  if (rank == ranks - 1) put_back();
  if (rank < 2) lose(NODE);
  during("two more are lost"); /* ck2 was taken, so it cannot be that it never was complete */
  MPI_Barrier(MPI_COMM_WORLD);
  OK(same_code(SCR_Init()));
  CODE(SCR_Have_restart(&flag, NULL), SCR_ERR_NO_RESTART, "");
  CHECK(flag == 0, "%d", flag);
  OK(SCR_Finalize());
}

/* No node but the first has made ck2 complete: ck1 is next, and where there is none the run begins anew. */
static void a_checkpoint_that_one_node_alone_has_committed_never_was(void)
{
  scheme c = {"XOR", 1};

  write_on("XOR", ranks, 0);
  write_uncommitted("ck2", SECOND);
  if (rank > 0) put_back();
  run_gets_first("one node has committed");

  begin_nodes(&c);
  set("SCR_CACHE_SIZE=2");
  write_uncommitted("ck1", FIRST);
  if (rank > 0) put_back();
  MPI_Barrier(MPI_COMM_WORLD);
  during("a new start");
  OK(same_code(SCR_Init()));
  get(NULL, 0, 0);
  OK(put("ck1", 1, FIRST));
  OK(SCR_Finalize());
  run_gets_first("after a new start");
}

/* ---- a rebuild ------------------------------------------------------------------------------------------------- */

/*
** Rank 0 can neither read its files nor write what is rebuilt of them: its record must stay.  In the next run its disk
** works, and its files serve to rebuild those of rank 1.
*/
static void a_record_stays_when_the_disk_of_its_files_fails(void)
{
  scheme c = {"XOR", 1};

  prepare(&c, &single);
  break_files(0, "scr.dataset.1/", INT_MAX);
  OK(same_code(SCR_Init()));
  CHECK(rank != 0 || (fault_struck(FAULT_READS) > 0 && fault_struck(MAKES) > 0), "%d reads, %d writes failed",
        fault_struck(FAULT_READS), fault_struck(MAKES));
  fault_end();
  OK(SCR_Finalize());
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) lose(NODE);
  during("node 1, after the disk of node 0 failed");
  run_restarts(&single, 1, 0);
}

/*
** Member 0 is lost, and while it is rebuilt a disk fails at the N-th call: rank 1 cannot read, or rank 0 cannot write.
** Without checksums, so that nothing but the agreement of the set keeps wrong bytes out.  Afterwards the disk works,
** and the dataset must be there as it was.
*/
static void fail_at(const scheme* c, int write)
{
  int n, rc, who = write ? 0 : 1, flag = 0, failed = 1, step = pace(4, 1, 1);

  begin_nodes(c);
  set("SCR_CRC_ON_COPY=0");
  put_ck(&pair);
  for (n = turn(step); failed && n < 60; n = n < 8 ? n + step : n * (step > 1 ? 4 : 2)) {
    char name[SCR_MAX_FILENAME];
    during("%s k=%d, %s fails after %d calls", c->type, c->k, write ? "a write" : "a read", n);
    put_back();
    if (rank == 0) lose(NODE);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == who) fault_at(FAULT_DEAD, write ? FAULT_PWRITE : FAULT_PREAD, 0, n + 1);
    rc = SCR_Init();
    failed = 1; /* SCR_Init fails when a record cannot be read */
    if (rc == SCR_SUCCESS) {
      rc = SCR_Have_restart(&flag, name);
      failed = !flag;
      CHECK(flag || rc != SCR_SUCCESS, "refused without an error");
      if (flag) CHECK(holds_shape("ck", &pair), "wrong bytes");
      SCR_Finalize();
    }
    CHECK(fault_end() > 0 || n > turn(step) || rank != who, "nothing failed");
    run_restarts(&pair, 1, 0);
  }
}

static void a_disk_that_fails_in_a_rebuild_costs_no_byte(void)
{
  static const scheme all[] = {{"XOR", 1}, {"PARTNER", 1}, {"RS", 2}};
  int                 write, i;

  for (write = 0; write < 2; write++)
    for (i = 0; i < (ranks > 2 ? 3 : 2); i++) fail_at(&all[i], write);
}

/* ---- a flush ---------------------------------------------------------------------------------------------------- */

static size_t few_pages(int i)
{
  return size_of(i, 15000);
}

static const shape pages = {"two files", two_files, few_pages, NULL};

static void run_puts_pages(const char* name)
{
  OK(SCR_Init());
  OK(put_shape(name, SCR_FLAG_CHECKPOINT, &pages, 1));
  OK(SCR_Finalize());
}

static const struct {
  const char* what;
  int         mode;
  unsigned    calls; /* that it can strike */
  int         dies;  /* 1: the run on all ranks; else one rank goes on after a single fault */
} strikes[] = {{"fails", FAULT_FAIL, FAULT_ALL, 0},
               {"moves half of its bytes", FAULT_SHORT, FAULT_TRANSFERS, 0},
               {"moves half of its bytes, and is the last", FAULT_TORN, FAULT_TRANSFERS, 1},
               {"and all later ones are not made", FAULT_DEAD, FAULT_ALL, 1}};

enum { STRIKES = sizeof strikes / sizeof *strikes };

/*
** A run that has ck1 on the prefix, and flushes ck2: on rank WHO, or on all ranks when WHO is -1, MODE strikes the N-th
** call there.  Ends with SCR_Finalize, or dies.  Returns how many calls were struck on a rank, at most; for
** FAULT_COUNT, how many of CALLS there were.
*/
static int flush_struck(int mode, unsigned calls, int who, int n, int dies)
{
  int hit, most;

  OK(SCR_Init());
  OK(put_shape("ck1", SCR_FLAG_CHECKPOINT, &pages, 1));
  OK(SCR_Wait(NULL));
  OK(open_shape("ck2", SCR_FLAG_CHECKPOINT, &pages));
  MPI_Barrier(MPI_COMM_WORLD);
  if (who < 0 || rank == who) {
    fault_at(mode, FAULT_ALL, 0, n);
    fault_below("/prefix/");
  }
  same_code(SCR_Complete_output(1));
  same_code(SCR_Wait(NULL));
  hit = fault_end();
  if (mode == FAULT_COUNT) hit = fault_seen(calls);
  if (dies) run_dies();
  else OK(SCR_Finalize());
  MPI_Allreduce(&hit, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return most;
}

/*
** After it: the index has ck2, and a run that has nothing but the prefix restarts from it; or it has not, and such a
** run restarts from ck1.  In the cache, ck2 is there in both cases.
*/
static void check_struck(int dies)
{
  char says[RECORDS_MAX];
  int  indexed;

  records_say("ck2", says);
  indexed = strstr(says, "COMPLETE") != NULL || strstr(says, "RENAMES") != NULL;
  CHECK(indexed || dies, "SCR_Finalize has not flushed it: %s", says);
  shell("mkdir kept; cp -a cache cntl prefix kept");
  lose_all_nodes();
  run_gets_shape(indexed ? "ck2" : "ck1", &pages);
  shell("rm -rf cache cntl prefix; mv kept/* .; rmdir kept");
  run_gets_shape("ck2", &pages);
  CHECK(count_in("prefix", ".tmp") == 0, "temporary files are left");
}

static void begin_flushes(int async, int packed)
{
  begin();
  set("SCR_FLUSH=1");
  set("SCR_FLUSH_ASYNC=%d", async);
  set("SCR_USE_CONTAINERS=%d", packed);
  set("SCR_CONTAINER_SIZE=20000");
  set("SCR_FILE_BUF_SIZE=4096");
}

/*
** Strike K strikes each call of a flush, in full two of them, in check one: on all ranks, or on one after the other.
** Returns in how many runs it did; a rank may make fewer calls than another.
*/
static int strike_flushes(int async, int packed, int k)
{
  int most, n, who, step, hits = 0;

  begin_flushes(async, packed);
  most = flush_struck(FAULT_COUNT, strikes[k].calls, -1, 1, 0);
  step = pace(most, most / 2 + 1, 1);
  CHECK(most > (strikes[k].calls == FAULT_ALL ? 30 : 5), "only %d calls", most);
  for (n = 1 + turn(step); n <= most; n += step) {
    who = strikes[k].dies ? -1 : (n + async + packed) % ranks;
    during("%s flush of %s, call %d of rank %d %s", async ? "asynchronous" : "synchronous",
           packed ? "containers" : "files", n, who, strikes[k].what);
    test_alive();
    begin_flushes(async, packed);
    hits += flush_struck(strikes[k].mode, strikes[k].calls, who, n, strikes[k].dies) > 0;
    check_struck(strikes[k].dies);
  }
  return hits;
}

static void a_flush_in_which_a_call_fails_leaves_all_or_nothing(void)
{
  int async, packed, k, hits = 0;

  for (async = 0; async < 2; async++)
    for (packed = 0; packed < 2; packed++)
      for (k = 0; k < STRIKES; k++) hits += strike_flushes(async, packed, k);
  CHECK(hits > pace(2, 4, 4) * STRIKES, "calls were struck in %d runs", hits);
}

/*
** A run that finds ck1 on the prefix, and flushes ck2 in SCR_Finalize: there, the N-th read from the cache on rank WHO
** is struck by MODE, and for FAULT_DEAD all later calls; *RC is what that returns.  Returns as flush_struck.
*/
static int last_flush_struck(int mode, int who, int n, int* rc)
{
  int hit, most;

  run_puts_pages("ck1");
  OK(SCR_Init());
  OK(put_shape("ck2", SCR_FLAG_CHECKPOINT, &pages, 1));
  MPI_Barrier(MPI_COMM_WORLD);
  if (who < 0 || rank == who) {
    fault_at(mode, FAULT_READS, 0, n);
    fault_below("/cache/");
  }
  *rc = same_code(SCR_Finalize());
  hit = fault_end();
  if (mode == FAULT_COUNT) hit = fault_seen(FAULT_READS);
  if (mode == FAULT_DEAD) run_dies();
  MPI_Allreduce(&hit, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return most;
}

static void a_flush_that_cannot_read_the_cache_leaves_all_or_nothing(void)
{
  static const int modes[] = {FAULT_FAIL, FAULT_SHORT, FAULT_DEAD};
  int              packed, k, n, most, step, rc, hits = 0;

  for (packed = 0; packed < 2; packed++) {
    begin_flushes(0, packed);
    set("SCR_FLUSH=10");
    most = last_flush_struck(FAULT_COUNT, -1, 1, &rc);
    step = pace(most / 2 + 1, most / 3 + 1, 1);
    CHECK(most > 6, "only %d reads", most);
    for (k = 0; k < 3; k++)
      for (n = 1 + turn(step); n <= most; n += step) {
        during("flush of %s, read %d of rank %d, mode %d", packed ? "containers" : "files", n, n % ranks, modes[k]);
        test_alive();
        begin_flushes(0, packed);
        set("SCR_FLUSH=10");
        hits += last_flush_struck(modes[k], n % ranks, n, &rc) > 0;
        check_struck(rc != SCR_SUCCESS);
        CHECK(rc == SCR_SUCCESS || modes[k] != FAULT_SHORT, "the flush has failed");
      }
  }
  CHECK(hits > pace(4, 6, 6), "reads were struck in %d runs", hits);
}

/* ---- a fetch ---------------------------------------------------------------------------------------------------- */

/*
** A run that has nothing but the prefix, with ck1 and ck2: on rank WHO, or on all ranks when WHO is -1, MODE strikes
** the N-th call from SCR_Init to the end of the fetch.  The run has one of them with all its bytes, or an error; it
** does not begin anew.  Returns as flush_struck.
*/
static int fetch_struck(int mode, unsigned calls, int who, int n, int dies)
{
  char name[SCR_MAX_FILENAME] = "";
  int  hit, most, flag = 0, rc;

  if (who < 0 || rank == who) {
    fault_at(mode, FAULT_ALL, 0, n);
    fault_below(case_dir);
  }
  rc = same_code(SCR_Init());
  if (rc == SCR_SUCCESS) rc = same_code(SCR_Have_restart(&flag, name));
  hit = fault_end();
  if (mode == FAULT_COUNT) hit = fault_seen(calls);
  CHECK(flag || rc != SCR_SUCCESS, "the run begins anew");
  if (dies) run_dies();
  else {
    if (flag) {
      OK(SCR_Start_restart(name));
      CHECK(holds_shape(name, &pages), "wrong bytes in %s", name);
      OK(SCR_Complete_restart(1));
    }
    same_code(SCR_Finalize());
  }
  MPI_Allreduce(&hit, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return most;
}

/* As strike_flushes; after each run, the next one has ck2 with what that left in the cache, and without. */
static int strike_fetches(int packed, int k)
{
  int most, n, who, step, hits = 0;

  begin_flushes(0, packed);
  run_puts_pages("ck1");
  run_puts_pages("ck2");
  lose_all_nodes();
  shell("mkdir kept; cp -a prefix kept");
  most = fetch_struck(FAULT_COUNT, strikes[k].calls, -1, 1, 0);
  step = pace(most, most / 2 + 1, most / 60 + 1);
  CHECK(most > (strikes[k].calls == FAULT_ALL ? 100 : 20), "only %d calls", most);
  for (n = 1 + turn(step); n <= most; n += step) {
    who = strikes[k].dies ? -1 : (n + packed) % ranks;
    during("fetch of %s, call %d of rank %d %s", packed ? "containers" : "files", n, who, strikes[k].what);
    test_alive();
    lose_all_nodes();
    shell("rm -rf prefix; cp -a kept/prefix .");
    hits += fetch_struck(strikes[k].mode, strikes[k].calls, who, n, strikes[k].dies) > 0;
    run_gets_shape("ck2", &pages);
    lose_all_nodes();
    run_gets_shape("ck2", &pages);
    CHECK(count_in("prefix", ".tmp") == 0, "temporary files are left");
  }
  return hits;
}

static void a_fetch_in_which_a_call_fails_costs_no_byte(void)
{
  int packed, k, hits = 0;

  for (packed = 0; packed < 2; packed++)
    for (k = 0; k < STRIKES; k++) hits += strike_fetches(packed, k);
  CHECK(hits > pace(1, 2, 2) * STRIKES, "calls were struck in %d runs", hits);
}

/* ---- memory ---------------------------------------------------------------------------------------------------- */

static long alloc_after; /* allocations that succeed from the next file of the cache on; -1: all */

static int arm_alloc(const char* path)
{
  (void)path;
  if (alloc_after >= 0) alloc_fails_after(alloc_after);
  alloc_after = -1;
  return 0;
}

/* A run in which allocation N on rank WHO fails; 1 when there were as many. */
static int memory_fails(int who, long n)
{
  int hit;

  alloc_fails_after(-1);
  alloc_after = rank == who ? n : -1;
  fault_watch(FAULT_OPEN | FAULT_CREATE, "", "scr.dataset.", arm_alloc);
  if (same_code(SCR_Init()) == SCR_SUCCESS) SCR_Finalize();
  hit = alloc_failed();
  alloc_fails_after(-1);
  fault_end();
  MPI_Bcast(&hit, 1, MPI_INT, who, MPI_COMM_WORLD);
  return hit;
}

/*
** Each STEP-th allocation fails on rank WHO, in a run of its own, from the first look at the cache on, while files move
** and one is rebuilt.  The run may do without the checkpoint, but must end; the next one has all of it.  Ends with the
** first failure; 1 when there was none on any rank.
*/
static int memory_of(int who, long step)
{
  char path[SCR_MAX_FILENAME], when[100];
  int  hit = 1, bad;
  long n;

  write_on("XOR", ranks / 2, 0);
  if (rank == 0) {
    CHECK(find_file(case_dir, "scr.dataset.1/ck1/rank_1", 0, path) == 1, "no file of rank 1");
    flip_bit(path, 777);
  }
  shell("mkdir kept; cp -a nodes prefix kept");
  set("SCR_VIRTUAL_NODES=%d", ranks);
  for (n = turn((int)step); hit; n += step) {
    test_alive();
    shell("rm -rf nodes prefix; cp -a kept/nodes kept/prefix .");
    snprintf(when, sizeof when, "after allocation %ld failed on rank %d", n, who);
    during("%s", when);
    hit = memory_fails(who, n);
    run_gets_first(when);
    MPI_Allreduce(&failures, &bad, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (bad > 0) return 0;
  }
  CHECK(n > 1000, "only %ld allocations", n);
  return 1;
}

/*
** Each STEP-th allocation fails on rank WHO while SCR_Init forms groups and sets: an error on all ranks, and no hang.
*/
static void memory_of_sets(int who, long step)
{
  long n;
  int  rc, hit = 1;

  begin();
  set("SCR_COPY_TYPE=FILE");
  set("CKPT=0 INTERVAL=1 TYPE=XOR");
  set("CKPT=1 INTERVAL=2 TYPE=PARTNER");
  for (n = 0; hit; n += step) {
    test_alive();
    during("after allocation %ld failed on rank %d", n, who);
    alloc_fails_after(rank == who ? n : -1);
    rc = same_code(SCR_Init());
    hit = alloc_failed();
    alloc_fails_after(-1);
    if (rc == SCR_SUCCESS) SCR_Finalize();
    MPI_Bcast(&hit, 1, MPI_INT, who, MPI_COMM_WORLD);
    CHECK(rc == (hit ? SCR_ERR_MEM : SCR_SUCCESS), "SCR_Init is %d: %s", rc, SCR_Last_error());
  }
  run_puts("ck1", 1, 1000);
  run_gets("ck1", 1, 1000);
}

static void without_memory_no_rank_waits_for_another_in_init(void)
{
  const char* given = getenv("TEST_STEP");
  long        step = given != NULL && atol(given) > 0 ? atol(given) : pace(53, 23, 11);

  memory_of_sets(0, step);
  memory_of_sets(ranks - 1, step);
}

/* Each STEP-th allocation of a fetch fails on rank WHO, in a run of its own: the run ends, and the next one fetches. */
static void memory_of_a_fetch(int who, long step)
{
  long n;
  int  rc, flag, offered = 0, refusals = 0, hit = 1;

  begin();
  set("SCR_FLUSH=1");
  set("SCR_FSYNC=0");
  run_puts("ck1", 2, FIRST);
  for (n = turn((int)step); hit; n += step) {
    test_alive();
    during("after allocation %ld failed on rank %d", n, who);
    lose_all_nodes();
    alloc_fails_after(-1);
    alloc_after = rank == who ? n : -1; /* from the first look at the files of the checkpoint on */
    fault_watch(FAULT_OPEN | FAULT_LSTAT, case_prefix, "/ck1/", arm_alloc);
    rc = same_code(SCR_Init());
    if (rc == SCR_SUCCESS) rc = same_code(SCR_Have_restart(&flag, NULL));
    hit = alloc_failed();
    alloc_fails_after(-1);
    fault_end();
    if (rc == SCR_SUCCESS && flag) {
      OK(SCR_Start_restart(NULL));
      CHECK(holds("ck1", 2, FIRST), "wrong bytes");
      OK(SCR_Complete_restart(1));
      offered++;
    } else {
      CHECK(rc != SCR_SUCCESS, "no checkpoint, and no error");
      refusals++;
    }
    SCR_Finalize();
    MPI_Bcast(&hit, 1, MPI_INT, who, MPI_COMM_WORLD);
  }
  CHECK(offered > 0 && refusals > pace(1, 5, 10), "%d runs have the checkpoint, and %d have not", offered, refusals);
  during("afterwards");
  run_fetches("ck1", 2, FIRST);
}

static void without_memory_no_rank_waits_for_another_in_a_fetch(void)
{
  const char* given = getenv("TEST_STEP");
  long        step = given != NULL && atol(given) > 0 ? atol(given) : pace(579, 193, 97);

  memory_of_a_fetch(0, step);
  memory_of_a_fetch(ranks - 1, step);
}

/*
** Rank 0 holds files of rank 1, and sends them; rank 1 holds files of others, and has lost its own.  TEST_STEP=1 tries
** every allocation.
*/
static void an_allocation_that_fails_costs_no_byte(void)
{
  const char* given = getenv("TEST_STEP");
  long        step = given != NULL && atol(given) > 0 ? atol(given) : pace(903, 301, 151);

  if (memory_of(0, step)) memory_of(1, step);
}

#define FOUR "4", ""
#define FIVE "5", ""

const test_case faults_cases[] = {CASE(a_flush_in_which_a_call_fails_leaves_all_or_nothing, "2"),
                                  CASE(a_flush_that_cannot_read_the_cache_leaves_all_or_nothing, "2"),
                                  CASE(a_fetch_in_which_a_call_fails_costs_no_byte, "2"),
                                  CASE(without_memory_no_rank_waits_for_another_in_init, FOUR),
                                  CASE(without_memory_no_rank_waits_for_another_in_a_fetch, FOUR),
                                  CASE(what_cannot_be_read_is_not_moved_but_stays, FOUR),
                                  CASE(what_could_not_be_moved_is_rebuilt_when_its_source_is_lost, FOUR),
                                  CASE(what_has_moved_in_part_does_not_pass_for_all, FOUR),
                                  CASE(records_follow_their_ranks_to_more_nodes, FIVE),
                                  CASE(no_record_is_replaced_before_all_are_written, FIVE),
                                  CASE(a_full_node_does_without_the_file_of_all_records, FIVE),
                                  CASE(a_checkpoint_that_one_node_has_not_committed_is_there, FOUR),
                                  CASE(a_node_that_comes_back_uncommitted_makes_nothing_unwritten, FOUR),
                                  CASE(a_checkpoint_that_one_node_alone_has_committed_never_was, FOUR),
                                  CASE(a_record_stays_when_the_disk_of_its_files_fails, FOUR),
                                  CASE(a_disk_that_fails_in_a_rebuild_costs_no_byte, "4 | 2 3", "5 6 7"),
                                  CASE(an_allocation_that_fails_costs_no_byte, FOUR),
                                  CASES_END};
