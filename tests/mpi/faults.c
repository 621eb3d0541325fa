/*
** faults - system calls and allocations fail while a run starts: what it then believes, and what the next one finds.
**
** A checkpoint is written on few nodes and started from on more, so that files move and records change hands; or it is
** damaged, and rebuilt.  Meanwhile something fails on one rank.  The run with the fault may do without the checkpoint,
** but never with wrong bytes, and it must not hang; the run after it finds the checkpoint as it was.
*/
#include "../unit/check_alloc.h"

#include "world.h"

/* ---- checkpoints ----------------------------------------------------------------------------------------------- */

static int one_file(int r)
{
  (void)r;
  return 1;
}

static int small_size(int r, int i)
{
  return 20011 + 101 * r + i;
}

static int other_size(int r, int i)
{
  return 17003 + 89 * r + i;
}

static int large_size(int r, int i)
{
  (void)r;
  (void)i;
  return 600000;
}

static const shape first = {"first", one_file, small_size, "ck1/rank_%d.%d"};
static const shape second = {"second", one_file, other_size, "ck2/rank_%d.%d"};
static const shape small = {"small", one_file, small_size, "ck/rank_%d.%d"};
static const shape large = {"large", one_file, large_size, "ck/rank_%d.%d"};

/* ---- runs ------------------------------------------------------------------------------------------------------ */

/* Start the library with settings C and room for two checkpoints; its code, which is the same on every rank. */
static int start(const scheme* c)
{
  int rc, both[2];

  MPI_Barrier(MPI_COMM_WORLD);
  settings(c);
  SCR_Config("SCR_CACHE_SIZE=2");
  both[0] = rc = SCR_Init();
  both[1] = -rc;
  MPI_Allreduce(MPI_IN_PLACE, both, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  CHECK(both[0] == -both[1], "SCR_Init gave %d here, but %d and %d elsewhere", rc, -both[1], both[0]);
  return rc;
}

static void stop(void)
{
  CHECK(SCR_Finalize() == SCR_SUCCESS, "%s", SCR_Last_error());
  MPI_Barrier(MPI_COMM_WORLD);
}

/* The first checkpoint that this run offers is NAME, and has the bytes of shape S.  WHEN tells which run it is. */
static void offers(const char* name, const shape* s, const char* when)
{
  char got[SCR_MAX_FILENAME] = "";
  int  flag = 0;

  SCR_Have_restart(&flag, got);
  CHECK(flag == 1 && strcmp(got, name) == 0, "%s: '%s' instead of %s; %s", when, got, name, SCR_Last_error());
  if (flag != 1 || strcmp(got, name) != 0) return;
  CHECK(SCR_Start_restart(got) == SCR_SUCCESS, "%s: %s", when, SCR_Last_error());
  compare_files(s);
  CHECK(SCR_Complete_restart(1) == SCR_SUCCESS, "%s: %s", when, SCR_Last_error());
}

/* A whole run with settings C that offers NAME. */
static void run_offers(const scheme* c, const char* name, const shape* s, const char* when)
{
  int rc = start(c);

  CHECK(rc == SCR_SUCCESS, "%s: %s", when, SCR_Last_error());
  if (rc != SCR_SUCCESS) return;
  offers(name, s, when);
  stop();
}

/* A new world with ck1 in it, and ck2 when BOTH. */
static void write_on(const scheme* c, const char* world, int both)
{
  int rc;

  fresh_world(world);
  rc = start(c);
  CHECK(rc == SCR_SUCCESS, "%s", SCR_Last_error());
  write_checkpoint("ck1", &first);
  if (both) write_checkpoint("ck2", &second);
  stop();
}

/* ---- faults ---------------------------------------------------------------------------------------------------- */

static struct {
  const char* part;  /* of the paths of the files that it hits */
  int         left;  /* calls that are still to fail */
  int         reads; /* that failed */
  int         writes;
} fault;

/* 1 when a call on PATH is to fail. */
static int hits(const char* path)
{
  if (fault.left == 0 || strstr(path, fault.part) == NULL) return 0;
  fault.left--;
  return 1;
}

static int hits_fd(int fd)
{
  char    link[64], path[1024];
  ssize_t n;

  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  n = readlink(link, path, sizeof path - 1);
  path[n < 0 ? 0 : n] = '\0';
  return hits(path);
}

static int no_space(void)
{
  fault.writes++;
  errno = ENOSPC;
  return -1;
}

static int bad_disk(void)
{
  fault.reads++;
  errno = EIO;
  return -1;
}

static int failing_open(const char* path, int flags, mode_t mode)
{
  return flags & O_CREAT && hits(path) ? no_space() : scr_os_open(path, flags, mode);
}

static ssize_t failing_pwrite(int fd, const void* buf, size_t n, off_t offset)
{
  return hits_fd(fd) ? no_space() : pwrite(fd, buf, n, offset);
}

static ssize_t failing_read(int fd, void* buf, size_t n)
{
  return hits_fd(fd) ? bad_disk() : read(fd, buf, n);
}

static ssize_t failing_pread(int fd, void* buf, size_t n, off_t offset)
{
  return hits_fd(fd) ? bad_disk() : pread(fd, buf, n, offset);
}

/* On rank WHO, the next N calls on files with PART in their path fail: what creates one, reads or writes it. */
static void break_files(int who, const char* part, int n)
{
  memset(&fault, 0, sizeof fault);
  fault.part = part;
  if (rank == who) fault.left = n;
  scr_os.open = failing_open;
  scr_os.read = failing_read;
  scr_os.pread = failing_pread;
  scr_os.pwrite = failing_pwrite;
}

static void mend_files(void)
{
  fault.left = 0;
  scr_os.open = scr_os_open;
  scr_os.read = read;
  scr_os.pread = pread;
  scr_os.pwrite = pwrite;
}

/* ---- a move fails ---------------------------------------------------------------------------------------------- */

/*
** Rank 0 cannot read what it sends to rank 1, whose files then have their sizes but not their bytes.  PARAM is off: no
** checksum would tell.  This run takes ck1, the next one ck2; with LOSE_NODE, though the node that sent is lost.
*/
static void read_fails(const scheme* c, const char* param, int lose_node)
{
  scheme after = *c;

  SCR_Configf("%s=0", param);
  write_on(c, "move", 1);
  after.nodes = 0;
  break_files(0, "scr.dataset.2/ck2", 1);
  run_offers(&after, "ck1", &first, "the move fails");
  CHECK(fault.reads == (rank == 0), "%d reads failed", fault.reads);
  mend_files();
  if (lose_node && rank == 0) lose(NODE);
  run_offers(&after, "ck2", &second, "after it");
  SCR_Configf("%s=", param);
}

static void move_unread(void)
{
  scheme c = {"SINGLE", 1, ranks / 2, NULL};
  read_fails(&c, "SCR_CRC_ON_COPY", 0);
}

static void move_unread_xor(void)
{
  scheme c = {"XOR", 1, ranks / 2, NULL};
  read_fails(&c, "SCR_CRC_ON_RESTART", 1);
}

/*
** The file of rank 1 is corrupt where it lies, so that only its redundancy file moves; and the last rank cannot create
** its file.  What moved must not look like all that rank 1 ever had.
*/
static void move_unwritten(void)
{
  scheme c = {"XOR", 1, ranks / 2, NULL};
  char   path[1024];

  write_on(&c, "move", 1);
  if (rank == 0) {
    CHECK(find_file(base, "scr.dataset.2/ck2/rank_1", NULL, 0, path) == 1, "no file of rank 1");
    flip_bit(path, 777);
  }
  c.nodes = 0;
  break_files(ranks - 1, "scr.dataset.2/ck2", 1);
  run_offers(&c, "ck1", &first, "the move fails");
  CHECK(fault.writes == (rank == ranks - 1), "%d files could not be created", fault.writes);
  mend_files();
  run_offers(&c, "ck2", &second, "after it");
}

/* ---- records change hands -------------------------------------------------------------------------------------- */

/* From 2 nodes to 3: rank 2 leads the second one, and deals the records out that lie there. */
static void records_dealt(void)
{
  scheme c = {"SINGLE", 1, 2, NULL};

  write_on(&c, "records", 0);
  c.nodes = 3;
  run_offers(&c, "ck1", &first, "on 3 nodes");
}

/* As above, but rank 2 cannot write the file of all records: nobody may replace his own; the next run has them all. */
static void records_unwritten(void)
{
  scheme c = {"SINGLE", 1, 2, NULL};

  write_on(&c, "records", 0);
  c.nodes = 3;
  break_files(2, "filemap_all", 1);
  CHECK(start(&c) != SCR_SUCCESS, "SCR_Init did without the records");
  CHECK(fault.writes == (rank == 2), "%d files could not be created", fault.writes);
  mend_files();
  run_offers(&c, "ck1", &first, "after it");
}

/* ---- the run ends while a checkpoint is made complete ---- */

/* Write the checkpoint NAME of shape S, and keep a copy of each node from before it is made complete. */
static void write_uncommitted(const scheme* c, const char* name, const shape* s)
{
  CHECK(start(c) == SCR_SUCCESS, "%s", SCR_Last_error());
  open_checkpoint(name, s);
  remove_tree(copy);
  walk_tree(node, copy, 0);
  CHECK(SCR_Complete_output(1) == SCR_SUCCESS, "%s", SCR_Last_error());
  stop();
}

/* This node is as it was before the last checkpoint was made complete.  Local. */
static void roll_back(void)
{
  remove_tree(node);
  walk_tree(copy, node, 0);
}

/* The last node has not made ck2 complete, the others have: it is a lost member, and ck2 is there. */
static void half_committed(void)
{
  scheme c = {"XOR", 1, 0, NULL};

  write_on(&c, "commit", 0);
  write_uncommitted(&c, "ck2", &second);
  if (rank == ranks - 1) roll_back();
  run_offers(&c, "ck2", &second, "one node has not committed");
}

/* So it is when a run went on from ck2 without that node, and it comes back: ck2 must not be deleted for its sake. */
static void stale_commit(void)
{
  scheme c = {"XOR", 1, 0, NULL};

  write_on(&c, "commit", 0);
  write_uncommitted(&c, "ck2", &second);
  if (rank == ranks - 1) lose(NODE);
  run_offers(&c, "ck2", &second, "one node is lost");
  if (rank == ranks - 1) roll_back();
  run_offers(&c, "ck2", &second, "it comes back");
  if (rank == ranks - 1) roll_back();
  if (rank < 2) lose(NODE);
  CHECK(start(&c) == SCR_SUCCESS, "%s", SCR_Last_error());
  { /* ck2 was taken, so it cannot be that it never was complete */
    int flag = 0;
    CHECK(SCR_Have_restart(&flag, NULL) == SCR_ERR_NO_RESTART && flag == 0, "%d: %s", flag, SCR_Last_error());
  }
  stop();
}

/* No node but the first has made ck2 complete: ck1 is next, and where there is none the run begins anew. */
static void barely_committed(void)
{
  scheme c = {"XOR", 1, 0, NULL};
  int    flag = 0;

  write_on(&c, "commit", 0);
  write_uncommitted(&c, "ck2", &second);
  if (rank > 0) roll_back();
  run_offers(&c, "ck1", &first, "one node has committed");

  fresh_world("commit");
  write_uncommitted(&c, "ck1", &first);
  if (rank > 0) roll_back();
  CHECK(start(&c) == SCR_SUCCESS, "%s", SCR_Last_error());
  CHECK(SCR_Have_restart(&flag, NULL) == SCR_SUCCESS && flag == 0, "%d: %s", flag, SCR_Last_error());
  write_checkpoint("ck1", &first);
  stop();
  run_offers(&c, "ck1", &first, "after a new start");
}

/* ---- the distance of partners ---- */

/* Of 8 nodes every third belong together: 3, 3 and 2, so that three neighbours may be lost. */
static void hops_uneven(void)
{
  scheme c = {"FILE", 1, 0, NULL};

  SCR_Config("CKPT=0 TYPE=XOR SET_SIZE=3 HOP_DISTANCE=3");
  prepare(&c, &small);
  if (rank < 3) lose(NODE);
  restart(&c, &small, 1, 0, "three neighbours");
  SCR_Config("CKPT=0 TYPE=XOR SET_SIZE=2 HOP_DISTANCE=99");
  prepare(&c, &small);
  if (rank < 4) lose(NODE);
  restart(&c, &small, 1, 0, "four neighbours");
  SCR_Config("CKPT=");
}

/* ---- a rebuild ------------------------------------------------------------------------------------------------- */

/*
** All 8 members of an RS set that bears 5 losses have lost something: two their file, the others their redundancy file.
** So each is a target, and those that compute exchange results with each other, in messages too large to be sent ahead.
*/
static void rs_all_targets(void)
{
  scheme c = {"RS", 5, 0, "256K"};

  prepare(&c, &large);
  lose(rank == 0 || rank == 3 ? DATA : RED);
  restart(&c, &large, 1, 0, "something of each member");
}

/*
** A node is lost, and a file of another member is corrupt, which SCR_CRC_ON_RESTART=0 does not look for.  But what a rebuild
** reads is checked, so that no redundancy is made of wrong bytes: both are rebuilt.
*/
static void unchecked(void)
{
  scheme c = {"RS", 2, 0, NULL};

  prepare(&c, &small);
  if (rank == 1) lose(NODE);
  if (rank == 2) lose(DATA);
  SCR_Config("SCR_CRC_ON_RESTART=0");
  restart(&c, &small, 1, 0, "a node, and a file that nobody checks");
  SCR_Config("SCR_CRC_ON_RESTART=");
}

/*
** Rank 0 can neither read its files nor write what is rebuilt of them: its record must stay.  In the next run its disk
** works, and its files serve to rebuild those of rank 1.
*/
static void disk_recovers(void)
{
  scheme c = {"XOR", 1, 0, NULL};

  prepare(&c, &small);
  break_files(0, "scr.dataset.1/", INT_MAX);
  CHECK(start(&c) == SCR_SUCCESS, "%s", SCR_Last_error());
  CHECK(rank != 0 || (fault.reads > 0 && fault.writes > 0), "%d reads, %d writes failed", fault.reads, fault.writes);
  mend_files();
  stop();
  if (rank == 1) lose(NODE);
  restart(&c, &small, 1, 0, "node 1, after the disk of node 0 failed");
}

/* ---- memory ---------------------------------------------------------------------------------------------------- */

static long alloc_after = -1; /* allocations that succeed from the next file of the cache on; -1: all */

static int arming_open(const char* path, int flags, mode_t mode)
{
  if (alloc_after >= 0 && strstr(path, "scr.dataset.") != NULL) {
    check_alloc_left = alloc_after;
    alloc_after = -1;
  }
  return scr_os_open(path, flags, mode);
}

/* A run on one node for each rank, in which allocation N on rank WHO fails; 1 when there were as many. */
static int memory_fails(const scheme* c, int who, long n)
{
  int hit;

  check_alloc_hit = 0;
  scr_os.open = arming_open;
  alloc_after = rank == who ? n : -1;
  if (start(c) == SCR_SUCCESS) SCR_Finalize();
  check_alloc_left = alloc_after = -1;
  scr_os.open = scr_os_open;
  hit = check_alloc_hit;
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
  scheme c = {"XOR", 1, ranks / 2, NULL};
  char   path[1024], kept[600], when[100];
  int    hit = 1, bad;
  long   n;

  write_on(&c, "memory", 0);
  snprintf(kept, sizeof kept, "%s/memory.kept", getenv("TEST_DIR"));
  if (rank == 0) {
    CHECK(find_file(base, "scr.dataset.1/ck1/rank_1", NULL, 0, path) == 1, "no file of rank 1");
    flip_bit(path, 777);
    remove_tree(kept);
    walk_tree(base, kept, 0);
  }
  c.nodes = 0;
  for (n = 0; hit; n += step) {
    check_alive();
    if (rank == 0) {
      remove_tree(base);
      walk_tree(kept, base, 0);
    }
    snprintf(when, sizeof when, "after allocation %ld failed on rank %d", n, who);
    hit = memory_fails(&c, who, n);
    run_offers(&c, "ck1", &first, when);
    MPI_Allreduce(&check_failed, &bad, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (bad > 0) return 0;
  }
  CHECK(n > 1000, "only %ld allocations", n);
  return 1;
}

/*
** Rank 0 holds files of rank 1, and sends them; rank 1 holds files of others, and has lost its own.  TEST_STEP=1 tries
** every allocation.
*/
static void memory(void)
{
  const char* given = getenv("TEST_STEP");
  long        step = given != NULL && atol(given) > 0 ? atol(given) : 151;

  if (memory_of(0, step)) memory_of(1, step);
}

/* Each is made for just so many ranks. */
static check_case tests[] = {{"move_unread", move_unread, 4},           {"move_unread_xor", move_unread_xor, 4},
                             {"move_unwritten", move_unwritten, 4},     {"unchecked", unchecked, 4},
                             {"disk_recovers", disk_recovers, 4},       {"memory", memory, 4},
                             {"records_dealt", records_dealt, 5},       {"records_unwritten", records_unwritten, 5},
                             {"half_committed", half_committed, 4},     {"stale_commit", stale_commit, 4},
                             {"barely_committed", barely_committed, 4}, {"hops_uneven", hops_uneven, 8},
                             {"rs_all_targets", rs_all_targets, 8},     {NULL, NULL, 0}};

int main(int argc, char** argv)
{
  int i, failed;

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (i = 0; tests[i].name != NULL; i++)
    if (tests[i].least != ranks) tests[i].least = ranks + 1;
  failed = check_main(tests, argc, argv);
  MPI_Finalize();
  return failed;
}
