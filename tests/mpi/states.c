/*
** states.c - every edge in the table of states (THE RUNTIME STATE in the library): the job dies before the write of the
** edge, and behind it.
**
** An edge becomes durable when a file is replaced: the filemap of each rank, the flush file, or the index.  Each row
** tells what a run does, which replacement its job dies at, and what the records and the next run must then say: the
** state before the edge, or the one behind it, and nothing else.  Where all ranks write, the job also dies when some
** have written and others have not.  After that a further checkpoint must be possible, and older ones must still be
** there.
**
** A job dies in that no call of its ranks has any effect from then on; so one program can look at many deaths.  With
** TEST_KILL=<k> the program goes to the k-th death alone, and its processes really are killed; with TEST_KILLED=1,
** too, it goes on from what they left.
*/
#include <fnmatch.h>
#include <sched.h>

#include "mpi_test.h"

#define FILEMAP "filemap_[0-9]*.scrinfo"
#define INDEX   "index.scr"
#define FLUSH   "flush.scr"
#define ALL     (-1)

/* What is true on one side of a write; patterns of fnmatch. */
typedef struct {
  const char* dead;    /* what the records say of the subject when the job has died, */
  const char* next;    /* and when the next run has started: see records_say */
  const char* offered; /* the checkpoint that the next run offers */
} side;

typedef struct {
  const char* edge;
  void (*prepare)(void); /* what comes before: at its end a run is under way, unless the step is SCR_Init */
  int (*step)(void);     /* in which the job dies */
  const char* file;      /* at the replacement of this file, */
  int         n, by;     /* the N-th of rank BY, or of ALL */
  const char* subject;   /* the dataset whose edge it is */
  side        before, behind;
  int         enough;      /* ranks that must have written for the state to be the one behind; where ALL write */
  const char* older;       /* a checkpoint that can be restarted from in the end; NULL: none */
  void (*meanwhile)(void); /* what happens before the next run; NULL: nothing */
} row;

/* What rows have in common. */
typedef struct {
  int          flush, cache; /* SCR_FLUSH, SCR_CACHE_SIZE */
  const shape* files;        /* of all checkpoints */
} setting;

/* ---- the death of a job ---------------------------------------------------------------------------------------- */

/* What the ranks know of each other; in shared memory. */
typedef struct {
  int dead;    /* no call of any rank does anything */
  int arrived; /* ranks before the write, */
  int done;    /* and behind it */
} shared_job;

static volatile shared_job* job;

static MPI_Win job_win;
static int     kills;   /* the processes are to be killed really */
static int     writers; /* ranks that come to the write */
static int     doers;   /* of these, those with the lowest numbers get to do it */

static void job_open(void)
{
  MPI_Aint size;
  int      unit;
  void*    mine;
  void*    p;

  MPI_Win_allocate_shared(rank == 0 ? (MPI_Aint)sizeof *job : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &job_win);
  MPI_Win_shared_query(job_win, 0, &size, &unit, &p);
  job = (shared_job*)p;
}

static void job_close(void)
{
  MPI_Win_free(&job_win);
}

/* Wait until *COUNT is N, but not for ever. */
static void await(volatile int* count, int n)
{
  double start = MPI_Wtime();

  while (__atomic_load_n(count, __ATOMIC_ACQUIRE) < n && MPI_Wtime() - start < 10) sched_yield();
}

/*
** A rank is before or behind the write.  All writers come here; then DOERS of them do it; then all are dead.
*/
static void at_write(int done)
{
  __atomic_add_fetch(done ? &job->done : &job->arrived, 1, __ATOMIC_ACQ_REL);
  await(&job->arrived, writers);
  if (!done && (writers == 1 ? doers > 0 : rank < doers)) return;
  await(&job->done, doers);
  if (kills) raise(SIGKILL);
  __atomic_store_n(&job->dead, 1, __ATOMIC_RELEASE);
}

/* The job will die at the N-th replacement of FILE by rank BY, or ALL, when the first K of them have made it. */
static void arm(const char* file, int n, int by, int k)
{
  writers = by == ALL ? ranks : 1;
  doers = k;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) memset((void*)job, 0, sizeof *job);
  MPI_Barrier(MPI_COMM_WORLD);
  fault_rename_kills(case_dir, by == ALL || by == rank ? file : "", n, at_write, (const int*)&job->dead);
}

/* Nothing of the job is left but its files: whatever it was at, no call does anything. */
static void bury(void)
{
  MPI_Barrier(MPI_COMM_WORLD);
  if (SCR_Finalize() == SCR_ERR_STATE) {
    if (SCR_Complete_output(0) == SCR_ERR_STATE) SCR_Complete_restart(0);
    SCR_Finalize();
  }
  fault_end();
  MPI_Barrier(MPI_COMM_WORLD);
}

/* The job is killed here. */
static void killed(void)
{
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) job->dead = 1;
  fault_rename_kills("", "", 0, at_write, (const int*)&job->dead);
  bury();
}

/* ---- what runs do ---------------------------------------------------------------------------------------------- */

static size_t bytes_own(int i)
{
  return size_of(i, 900);
}

static const shape own = {"of its own files", two_files, bytes_own, NULL};
static const shape alike = {"of the same file names", one_file, bytes_own, "state/rank_%d"};

static setting now; /* of the row */

static int put_ckpt(const char* name)
{
  return put_shape(name, SCR_FLAG_CHECKPOINT, now.files, 1);
}

static void open_ckpt(const char* name)
{
  OK(open_shape(name, SCR_FLAG_CHECKPOINT, now.files));
}

static void put_one(void)
{
  OK(SCR_Init());
  OK(put_ckpt("ck1"));
}

static void open_two(void)
{
  put_one();
  open_ckpt("ck2");
}

static void put_two(void)
{
  put_one();
  OK(put_ckpt("ck2"));
}

static void end_two(void)
{
  put_two();
  OK(SCR_Finalize());
  MPI_Barrier(MPI_COMM_WORLD);
}

/* The next run. */
static void begin_next(void)
{
  end_two();
  OK(SCR_Init());
}

/* The next run has begun to restart from ck2. */
static void restart(void)
{
  begin_next();
  OK(SCR_Start_restart(NULL));
}

static void lose_nodes(void)
{
  shell("rm -rf nodes/*");
}

static void lose_all(void)
{
  end_two();
  lose_nodes();
}

/* The next run writes all filemaps of a node again, as if their ranks had changed. */
static void end_two_astray(void)
{
  end_two();
  shell("find nodes -name filemap.scrinfo -delete");
}

static void lose_one(void)
{
  end_two_astray();
  if (rank == 1) lose(NODE);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* Too much of ck2 is lost. */
static void lose_ck2(void)
{
  char dir[1300];

  end_two();
  snprintf(dir, sizeof dir, "%s/scr.dataset.2", node_dir);
  if (rank < 2) remove_tree(dir);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* A run that goes on without ck2. */
static void open_without_ck2(void)
{
  lose_ck2();
  OK(SCR_Init());
  get_shape("ck1", now.files);
  open_ckpt("ck3");
}

static void open_killed(void)
{
  open_two();
  killed();
}

/* Two ranks share a node, then each has its own. */
static void spread(void)
{
  set("SCR_VIRTUAL_NODES=2");
  end_two();
  set("SCR_VIRTUAL_NODES=4");
}

/* The job that writes ck2 dies when its flush is in the index. */
static int complete(void);

static void die_renaming(void)
{
  open_two();
  arm(INDEX, 1, 0, 1);
  complete();
  bury();
  CHECK(job->dead, "the flush does not come to the index");
}

/* A directory lies where the flush of NAME puts a file. */
static void block(const char* name)
{
  char path[SCR_MAX_FILENAME];

  path_of(name, now.files, 0, path);
  shell("mkdir -p %s", path);
}

static void unblock(void)
{
  shell("find prefix -type d -name 'rank_*' -delete");
}

static void open_blocked(void)
{
  open_two();
  block("ck2");
}

/* ck1 cannot be flushed, and ck2 takes its place. */
static void put_over_unflushed(void)
{
  OK(SCR_Init());
  block("ck1");
  ALIKE(put_ckpt("ck1"), SCR_ERR_PATH, "directory");
  unblock();
  OK(put_ckpt("ck2"));
}

/* ck2 takes the place of ck1 on the prefix, and is deleted. */
static void delete_replaced(void)
{
  put_two();
  OK(SCR_Delete("ck2"));
}

/* The same when ck1 could not be flushed, and in the next run. */
static void delete_replacing(void)
{
  put_over_unflushed();
  OK(SCR_Finalize());
  OK(SCR_Init());
  OK(SCR_Delete("ck2"));
}

static void open_output(void)
{
  put_one();
  OK(open_shape("ck2", SCR_FLAG_OUTPUT, now.files));
}

static void wish(void)
{
  set("SCR_CURRENT=ck1");
}

static void choose_by_parameter(void)
{
  end_two();
  wish();
}

/* The user chose ck1, and the run goes on from there. */
static void open_after_choice(void)
{
  begin_next();
  OK(SCR_Current("ck1"));
  get_shape("ck1", now.files);
  open_ckpt("ck3");
}

/* Less than a checkpoint takes, and more than is missing when another one goes. */
static int little_space(const char* path, struct statvfs* fs)
{
  int rc = statvfs(path, fs);

  fs->f_frsize = 1;
  fs->f_bavail = 5000;
  return rc;
}

static void put_one_little_space(void)
{
  put_one();
  test_statvfs = little_space;
}

static void free_space(void)
{
  test_statvfs = statvfs;
}

static int start(void)
{
  return SCR_Start_output("ck2", SCR_FLAG_CHECKPOINT);
}

static int complete(void)
{
  return SCR_Complete_output(1);
}

static int complete_invalid(void)
{
  return SCR_Complete_output(0);
}

static int reject(void)
{
  return SCR_Complete_restart(0);
}

static int choose(void)
{
  return SCR_Current("ck1");
}

static int delete_older(void)
{
  return SCR_Delete("ck1");
}

static int delete_newer(void)
{
  return SCR_Delete("ck2");
}

static int drop(void)
{
  return SCR_Drop("ck2");
}

/* ---- a row ----------------------------------------------------------------------------------------------------- */

/* That the records of NAME are as WANT says. */
static void check_records(const char* name, const char* want)
{
  char text[RECORDS_MAX];

  records_say(name, text);
  CHECK(rank > 0 || fnmatch(want, text, 0) == 0, "the records of %s are `%s`, not `%s`", name, text, want);
}

/* Restart from a checkpoint that WANT allows. */
static void get_offered(const char* want)
{
  char name[SCR_MAX_FILENAME] = "";
  int  flag = 0;

  OK(SCR_Have_restart(&flag, name));
  CHECK(!flag || fnmatch(want, name, 0) == 0, "%s is offered instead of %s", name, want);
  CHECK(flag || *want == '\0', "no checkpoint is offered instead of %s", want);
  if (flag) get_shape(name, now.files);
}

/* The run after the death goes on to a further checkpoint, and the one after it from that. */
static void follow(const row* r, const side* s)
{
  int rc;

  if (r->meanwhile != NULL) r->meanwhile();
  OK(rc = same_code(SCR_Init()));
  if (rc != SCR_SUCCESS) return;
  check_records(r->subject, s->next);
  get_offered(s->offered);
  OK(put_shape("further", SCR_FLAG_CHECKPOINT | SCR_FLAG_OUTPUT, now.files, 1));
  on_prefix_shape("further", now.files);
  check_records("further", "whole | CACHE PFS | COMPLETE CURRENT");
  OK(SCR_Finalize());
  OK(rc = same_code(SCR_Init()));
  if (rc != SCR_SUCCESS) return;
  get_shape("further", now.files);
  if (r->older != NULL) {
    OK(SCR_Current(r->older));
    get_shape(r->older, now.files);
  }
  OK(SCR_Finalize());
}

/* 1 when this death is to be tried, in check each third; *DEAD tells that it has happened before this program began. */
static int is_next(int* dead)
{
  static int  count;
  const char* only = getenv("TEST_KILL");

  count++;
  *dead = only != NULL && getenv("TEST_KILLED") != NULL;
  return only == NULL ? count % pace(6, 1, 1) == turn(pace(6, 1, 1)) : atoi(only) == count;
}

/* The job dies when N of the ranks that write have written. */
static void die_at(const row* r, int n)
{
  static const scheme one = {"XOR", 1};
  int                 all = r->by == ALL ? ranks : 1;
  const side*         s = n >= (r->by == ALL ? r->enough : 1) ? &r->behind : &r->before;
  int                 dead;

  if (!is_next(&dead)) return;
  test_alive();
  during("%s: %d of %d have written", r->edge, n, all);
  begin_nodes(&one);
  set("SCR_FLUSH=%d", now.flush);
  set("SCR_CACHE_SIZE=%d", now.cache);
  if (!dead) {
    r->prepare();
    arm(r->file, r->n, r->by, n);
    kills = getenv("TEST_KILL") != NULL;
    r->step();
    kills = 0;
    bury();
    CHECK(job->dead, "the job does not come to the write");
    CHECK(job->arrived == all && job->done == n, "%d of %d come to the write, %d of %d do it", job->arrived, all,
          job->done, n);
  }
  if (n == 0) check_records(r->subject, r->before.dead);
  if (n == all) check_records(r->subject, r->behind.dead);
  follow(r, s);
}

/*
** Where ALL write, it is tried with none, some and all of them; with each number where that decides, and in the long
** mode.  In check, with none and all, and where the number decides, with some too.
*/
static int step_of(const row* r)
{
  if (r->by != ALL) return 1;
  return r->enough == ranks ? pace(ranks, ranks / 2, 1) : pace(ranks / 2, 1, 1);
}

static void die_in_each(const setting* s, const row* rows, int count)
{
  int i, n;

  now = *s;
  job_open();
  for (i = 0; i < count; i++)
    for (n = 0; n <= (rows[i].by == ALL ? ranks : 1); n += step_of(&rows[i])) die_at(&rows[i], n);
  job_close();
}

/* The ROWS, with flushes of every FLUSH-th checkpoint, CACHE datasets in the cache, and such FILES. */
#define DIE_IN_EACH(rows, flush, cache, files)                                                                         \
  do {                                                                                                                 \
    static const setting s = {flush, cache, files};                                                                    \
    die_in_each(&s, rows, (int)(sizeof(rows) / sizeof *(rows)));                                                       \
  } while (0)

/* ---- the table ------------------------------------------------------------------------------------------------- */

/* clang-format off */
static const row writing[] = {
  {"- -> WRITING", put_one, start, FILEMAP, 1, ALL, "ck2",
   {"- | - | -", "- | - | -", "ck1"},
   {"writing | - | -", "- | - | -", "ck1"}, 4, "ck1", NULL},
  {"WRITING -> WHOLE", open_two, complete, FILEMAP, 1, ALL, "ck2",
   {"writing | - | -", "[-123]* | - | -", "ck1"}, /* of fewer than 3 pieces are set aside */
   {"whole | - | -", "verified | CACHE | -", "ck2"}, 3, "ck1", NULL},
  {"WHOLE, in the flush file", open_two, complete, FLUSH, 1, 0, "ck2",
   {"whole | - | -", "verified | CACHE | -", "ck2"},
   {"whole | CACHE | -", "verified | CACHE | -", "ck2"}, 0, "ck1", NULL},
  {"WRITING -> gone, by Complete", open_two, complete_invalid, FILEMAP, 1, ALL, "ck2",
   {"writing | - | -", "- | - | -", "ck1"},
   {"- | - | -", "- | - | -", "ck1"}, 4, "ck1", NULL},
  {"WRITING -> gone, found", open_killed, SCR_Init, FILEMAP, 1, ALL, "ck2",
   {"writing | - | -", "- | - | -", "ck1"},
   {"- | - | -", "- | - | -", "ck1"}, 4, "ck1", NULL},
};

static const row found[] = {
  {"found, all entries of a node", end_two_astray, SCR_Init, "filemap_all.scrinfo", 1, ALL, "ck2",
   {"whole | CACHE | -", "verified | CACHE | -", "ck2"},
   {"whole | CACHE | -", "verified | CACHE | -", "ck2"}, 4, "ck1", NULL},
  {"found, dealt out", end_two_astray, SCR_Init, FILEMAP, 1, ALL, "ck2",
   {"whole | CACHE | -", "verified | CACHE | -", "ck2"},
   {"whole | CACHE | -", "verified | CACHE | -", "ck2"}, 4, "ck1", NULL},
  {"found, the master", end_two_astray, SCR_Init, "filemap.scrinfo", 1, ALL, "ck2",
   {"whole | CACHE | -", "verified | CACHE | -", "ck2"},
   {"whole | CACHE | -", "verified | CACHE | -", "ck2"}, 4, "ck1", NULL},
  {"found -> WHOLE", end_two, SCR_Init, FILEMAP, 1, ALL, "ck2",
   {"whole | CACHE | -", "verified | CACHE | -", "ck2"},
   {"verified | CACHE | -", "verified | CACHE | -", "ck2"}, 4, "ck1", NULL},
  {"found, in the flush file", end_two, SCR_Init, FLUSH, 1, 0, "ck2",
   {"verified | CACHE | -", "verified | CACHE | -", "ck2"},
   {"verified | CACHE | -", "verified | CACHE | -", "ck2"}, 4, "ck1", NULL},
  {"found, one is lost: entered", lose_one, SCR_Init, FILEMAP, 1, 1, "ck2",
   {"3 whole | CACHE | -", "verified | CACHE | -", "ck2"},
   {"whole | CACHE | -", "verified | CACHE | -", "ck2"}, 0, "ck1", NULL},
  {"found, one is lost -> WHOLE", lose_one, SCR_Init, FILEMAP, 2, ALL, "ck2",
   {"whole | CACHE | -", "verified | CACHE | -", "ck2"},
   {"verified | CACHE | -", "verified | CACHE | -", "ck2"}, 4, "ck1", NULL},
  {"found elsewhere: entered", spread, SCR_Init, FILEMAP, 1, 2, "ck2",
   {"*whole | CACHE | -", "verified | CACHE | -", "ck2"},
   {"*whole | CACHE | -", "verified | CACHE | -", "ck2"}, 0, "ck1", NULL},
  {"found elsewhere -> WHOLE", spread, SCR_Init, FILEMAP, 3, 1, "ck2",
   {"*whole* | CACHE | -", "verified | CACHE | -", "ck2"},
   {"*verified | CACHE | -", "verified | CACHE | -", "ck2"}, 0, "ck1", NULL},
  {"found elsewhere, the old copy -> gone", spread, SCR_Init, FILEMAP, 3, 0, "ck2",
   {"*verified | CACHE | -", "verified | CACHE | -", "ck2"},
   {"*verified | CACHE | -", "verified | CACHE | -", "ck2"}, 0, "ck1", NULL},
};

static const row leaving[] = {
  {"WHOLE -> gone, by Delete: the flush file", put_two, delete_newer, FLUSH, 1, 0, "ck2",
   {"* | CACHE | -", "*", "ck[12]"},
   {"* | - | -", "*", "ck[12]"}, 0, "ck1", NULL},
  {"WHOLE -> gone, by Delete", put_two, delete_newer, FILEMAP, 1, ALL, "ck2",
   {"whole | - | -", "verified | CACHE | -", "ck2"},
   {"leaving | - | -", "- | - | -", "ck1"}, 1, "ck1", NULL},
  {"the older one -> gone, by Delete", put_two, delete_older, FILEMAP, 1, ALL, "ck1",
   {"whole | - | -", "verified | CACHE | -", "ck2"},
   {"leaving | - | -", "- | - | -", "ck2"}, 1, "ck2", NULL},
  {"the only one -> gone, by Delete", put_one, delete_older, FILEMAP, 1, ALL, "ck1",
   {"whole | - | -", "verified | CACHE | -", "ck1"},
   {"leaving | - | -", "- | - | -", ""}, 1, NULL, NULL},
};

static const row room[] = {
  {"WHOLE -> gone, for room: the flush file", open_two, complete, FLUSH, 2, 0, "ck1",
   {"* | CACHE | -", "*", "ck2"},
   {"* | - | -", "*", "ck2"}, 0, "further", NULL},
  {"WHOLE -> gone, for room", open_two, complete, FILEMAP, 2, ALL, "ck1",
   {"whole | - | -", "verified | CACHE | -", "ck2"},
   {"leaving | - | -", "- | - | -", "ck2"}, 1, "further", NULL},
};

static const row aside[] = {
  {"ASIDE -> gone, for room", open_without_ck2, complete, FILEMAP, 2, ALL, "ck2",
   {"whole | - | -", "*whole | - | -", "ck3"},
   {"leaving | - | -", "- | - | -", "ck3"}, 1, "ck3", NULL},
};

static const row tight[] = {
  {"WHOLE -> gone, before there is another", put_one_little_space, start, FILEMAP, 1, ALL, "ck1",
   {"whole | - | COMPLETE CURRENT", "verified | CACHE PFS | COMPLETE CURRENT", "ck1"},
   {"leaving | - | COMPLETE CURRENT", "verified | CACHE PFS | COMPLETE CURRENT", "ck1"}, 1, "further", free_space},
};

static const row rejecting[] = {
  {"WHOLE -> REJECTED", restart, reject, FILEMAP, 1, ALL, "ck2",
   {"verified | CACHE | -", "verified | CACHE | -", "ck2"},
   {"rejected | CACHE | -", "rejected | CACHE | -", "ck1"}, 1, "ck1", NULL},
};

static const row rejecting_flushed[] = {
  {"WHOLE -> REJECTED, in the index", restart, reject, INDEX, 1, 0, "ck2",
   {"verified | CACHE PFS | COMPLETE CURRENT", "verified | CACHE PFS | COMPLETE CURRENT", "ck2"},
   {"verified | CACHE PFS | COMPLETE FAILED", "verified | CACHE PFS | COMPLETE FAILED", "ck1"}, 0, "ck1", NULL},
  {"WHOLE -> REJECTED, without a cache", restart, reject, INDEX, 1, 0, "ck2",
   {"verified | CACHE PFS | COMPLETE CURRENT", "verified | CACHE PFS | COMPLETE CURRENT", "ck2"},
   {"verified | CACHE PFS | COMPLETE FAILED", "- | - | COMPLETE FAILED", "ck1"}, 0, "ck1", lose_nodes},
  {"WHOLE -> REJECTED, on the prefix", restart, reject, FILEMAP, 1, ALL, "ck2",
   {"verified | CACHE PFS | COMPLETE FAILED", "verified | CACHE PFS | COMPLETE FAILED", "ck1"},
   {"rejected | CACHE PFS | COMPLETE FAILED", "rejected | CACHE PFS | COMPLETE FAILED", "ck1"}, 1, "ck1", NULL},
};

static const row choosing[] = {
  {"chosen", begin_next, choose, INDEX, 1, 0, "ck1",
   {"verified | CACHE PFS | COMPLETE", "verified | CACHE PFS | COMPLETE", "ck2"},
   {"verified | CACHE PFS | COMPLETE CHOSEN", "verified | CACHE PFS | COMPLETE CHOSEN BEFORE", "ck1"}, 0, "ck2", NULL},
  {"WHOLE -> PASSED", begin_next, choose, FILEMAP, 1, ALL, "ck2",
   {"verified | CACHE PFS | COMPLETE", "passed | - | COMPLETE", "ck1"},
   {"passed | CACHE PFS | COMPLETE", "passed | - | COMPLETE", "ck1"}, 1, "ck2", NULL},
  {"chosen by SCR_CURRENT", choose_by_parameter, SCR_Init, INDEX, 1, 0, "ck1",
   {"verified | CACHE PFS | COMPLETE", "verified | CACHE PFS | COMPLETE CHOSEN BEFORE", "ck1"},
   {"verified | CACHE PFS | COMPLETE CHOSEN", "verified | CACHE PFS | COMPLETE CHOSEN BEFORE", "ck1"}, 0, "ck2", wish},
  {"chosen by SCR_CURRENT, served", choose_by_parameter, SCR_Init, INDEX, 2, 0, "ck1",
   {"verified | CACHE PFS | COMPLETE CHOSEN", "verified | CACHE PFS | COMPLETE CHOSEN BEFORE", "ck1"},
   {"verified | CACHE PFS | COMPLETE CHOSEN", "verified | CACHE PFS | COMPLETE CHOSEN BEFORE", "ck1"}, 0, "ck2", wish},
  {"WHOLE -> PASSED, by SCR_CURRENT", choose_by_parameter, SCR_Init, FILEMAP, 3, ALL, "ck2",
   {"verified | CACHE PFS | COMPLETE", "passed | - | COMPLETE", "ck1"},
   {"passed | CACHE PFS | COMPLETE", "passed | - | COMPLETE", "ck1"}, 1, "ck2", wish},
  {"the choice ends", open_after_choice, complete, INDEX, 1, 0, "ck1",
   {"verified | CACHE PFS | COMPLETE CHOSEN BEFORE", "verified | CACHE PFS | COMPLETE", "ck3"},
   {"verified | CACHE PFS | COMPLETE CHOSEN BEFORE", "verified | CACHE PFS | COMPLETE", "ck3"}, 0, "ck2", NULL},
};

static const row choosing_cached[] = {
  {"chosen, NO -> FLUSHING", begin_next, choose, FLUSH, 1, 0, "ck1",
   {"verified | CACHE | -", "verified | CACHE | -", "ck2"},
   {"verified | CACHE SYNC_FLUSHING | -", "verified | CACHE | -", "ck2"}, 0, "ck2", NULL},
  {"chosen, FLUSHING -> RENAMING", begin_next, choose, INDEX, 1, 0, "ck1",
   {"verified | CACHE SYNC_FLUSHING | -", "verified | CACHE | -", "ck2"},
   {"verified | CACHE SYNC_FLUSHING | RENAMES CHOSEN", "verified | CACHE PFS | COMPLETE CHOSEN BEFORE", "ck1"},
   0, "ck2", NULL},
  {"chosen, RENAMING -> YES", begin_next, choose, INDEX, 2, 0, "ck1",
   {"verified | CACHE SYNC_FLUSHING | RENAMES CHOSEN", "verified | CACHE PFS | COMPLETE CHOSEN BEFORE", "ck1"},
   {"verified | CACHE SYNC_FLUSHING | COMPLETE CHOSEN", "verified | CACHE PFS | COMPLETE CHOSEN BEFORE", "ck1"},
   0, "ck2", NULL},
  {"chosen from the cache", begin_next, choose, INDEX, 3, 0, "ck1",
   {"verified | CACHE PFS | COMPLETE CHOSEN", "verified | CACHE PFS | COMPLETE CHOSEN BEFORE", "ck1"},
   {"verified | CACHE PFS | COMPLETE CHOSEN", "verified | CACHE PFS | COMPLETE CHOSEN BEFORE", "ck1"}, 0, "ck1", NULL},
};

#define ON_PREFIX "verified | CACHE PFS | COMPLETE CURRENT"

static const row flushing[] = {
  {"NO -> FLUSHING", open_two, complete, FLUSH, 2, 0, "ck2",
   {"whole | CACHE | -", ON_PREFIX, "ck2"},
   {"whole | CACHE SYNC_FLUSHING | -", ON_PREFIX, "ck2"}, 0, "ck1", NULL},
  {"FLUSHING, a leaf", open_two, complete, "rank2file.0.0.scr", 1, 0, "ck2",
   {"whole | CACHE SYNC_FLUSHING | -", ON_PREFIX, "ck2"},
   {"whole | CACHE SYNC_FLUSHING | -", ON_PREFIX, "ck2"}, 0, "ck1", NULL},
  {"FLUSHING, the root", open_two, complete, "rank2file.scr", 1, 0, "ck2",
   {"whole | CACHE SYNC_FLUSHING | -", ON_PREFIX, "ck2"},
   {"whole | CACHE SYNC_FLUSHING | -", ON_PREFIX, "ck2"}, 0, "ck1", NULL},
  {"FLUSHING, the summary", open_two, complete, "summary.scr", 1, 0, "ck2",
   {"whole | CACHE SYNC_FLUSHING | -", ON_PREFIX, "ck2"},
   {"whole | CACHE SYNC_FLUSHING | -", ON_PREFIX, "ck2"}, 0, "ck1", NULL},
  {"FLUSHING -> RENAMING", open_two, complete, INDEX, 1, 0, "ck2",
   {"whole | CACHE SYNC_FLUSHING | -", ON_PREFIX, "ck2"},
   {"whole | CACHE SYNC_FLUSHING | RENAMES", ON_PREFIX, "ck2"}, 0, "ck1", NULL},
  {"RENAMING, a file", open_two, complete, "rank_2_1", 1, 2, "ck2",
   {"whole | CACHE SYNC_FLUSHING | RENAMES", ON_PREFIX, "ck2"},
   {"whole | CACHE SYNC_FLUSHING | RENAMES", ON_PREFIX, "ck2"}, 0, "ck1", NULL},
  {"RENAMING -> YES", open_two, complete, INDEX, 2, 0, "ck2",
   {"whole | CACHE SYNC_FLUSHING | RENAMES", ON_PREFIX, "ck2"},
   {"whole | CACHE SYNC_FLUSHING | COMPLETE CURRENT", ON_PREFIX, "ck2"}, 0, "ck1", NULL},
  {"YES, in the flush file", open_two, complete, FLUSH, 3, 0, "ck2",
   {"whole | CACHE SYNC_FLUSHING | COMPLETE CURRENT", ON_PREFIX, "ck2"},
   {"whole | CACHE PFS | COMPLETE CURRENT", ON_PREFIX, "ck2"}, 0, "ck1", NULL},
  {"FLUSHING -> NO", open_blocked, complete, FLUSH, 3, 0, "ck2",
   {"whole | CACHE SYNC_FLUSHING | -", ON_PREFIX, "ck2"},
   {"whole | CACHE | -", ON_PREFIX, "ck2"}, 0, "ck1", unblock},
};

/* The same, when nothing but the prefix is left. */
static const row flushing_lost[] = {
  {"FLUSHING, the summary; all nodes lost", open_two, complete, "summary.scr", 1, 0, "ck2",
   {"whole | CACHE SYNC_FLUSHING | -", "- | CACHE | -", "ck1"},
   {"whole | CACHE SYNC_FLUSHING | -", "- | CACHE | -", "ck1"}, 0, "ck1", lose_nodes},
  {"FLUSHING -> RENAMING; all nodes lost", open_two, complete, INDEX, 1, 0, "ck2",
   {"whole | CACHE SYNC_FLUSHING | -", "- | CACHE | -", "ck1"},
   {"whole | CACHE SYNC_FLUSHING | RENAMES", ON_PREFIX, "ck2"}, 0, "ck1", lose_nodes},
  {"RENAMING, a file; all nodes lost", open_two, complete, "rank_2_1", 1, 2, "ck2",
   {"whole | CACHE SYNC_FLUSHING | RENAMES", ON_PREFIX, "ck2"},
   {"whole | CACHE SYNC_FLUSHING | RENAMES", ON_PREFIX, "ck2"}, 0, "ck1", lose_nodes},
  {"RENAMING -> YES; all nodes lost", open_two, complete, INDEX, 2, 0, "ck2",
   {"whole | CACHE SYNC_FLUSHING | RENAMES", ON_PREFIX, "ck2"},
   {"whole | CACHE SYNC_FLUSHING | COMPLETE CURRENT", ON_PREFIX, "ck2"}, 0, "ck1", lose_nodes},
};

static const row resuming[] = {
  {"RENAMING -> YES, found", die_renaming, SCR_Init, INDEX, 1, 0, "ck2",
   {"verified | CACHE SYNC_FLUSHING | RENAMES", ON_PREFIX, "ck2"},
   {"verified | CACHE SYNC_FLUSHING | COMPLETE CURRENT", ON_PREFIX, "ck2"}, 0, "ck1", NULL},
  {"YES, found, in the flush file", die_renaming, SCR_Init, FLUSH, 1, 0, "ck2",
   {"verified | CACHE SYNC_FLUSHING | COMPLETE CURRENT", ON_PREFIX, "ck2"},
   {ON_PREFIX, ON_PREFIX, "ck2"}, 0, "ck1", NULL},
};

static const row at_end[] = {
  {"NO -> FLUSHING, by Finalize", put_two, SCR_Finalize, FLUSH, 1, 0, "ck2",
   {"whole | CACHE | -", "verified | CACHE | -", "ck2"},
   {"whole | CACHE SYNC_FLUSHING | -", "verified | CACHE | -", "ck2"}, 0, "ck1", NULL},
  {"FLUSHING -> RENAMING, by Finalize", put_two, SCR_Finalize, INDEX, 1, 0, "ck2",
   {"whole | CACHE SYNC_FLUSHING | -", "verified | CACHE | -", "ck2"},
   {"whole | CACHE SYNC_FLUSHING | RENAMES", ON_PREFIX, "ck2"}, 0, "ck1", NULL},
};

static const row output[] = {
  {"output, NO -> FLUSHING", open_output, complete, FLUSH, 2, 0, "ck2",
   {"whole | CACHE | -", "verified | CACHE PFS | COMPLETE", "ck1"},
   {"whole | CACHE SYNC_FLUSHING | -", "verified | CACHE PFS | COMPLETE", "ck1"}, 0, "ck1", NULL},
  {"output, FLUSHING -> RENAMING", open_output, complete, INDEX, 1, 0, "ck2",
   {"whole | CACHE SYNC_FLUSHING | -", "verified | CACHE PFS | COMPLETE", "ck1"},
   {"whole | CACHE SYNC_FLUSHING | RENAMES", "verified | CACHE PFS | COMPLETE", "ck1"}, 0, "ck1", NULL},
  {"output, RENAMING -> YES", open_output, complete, INDEX, 2, 0, "ck2",
   {"whole | CACHE SYNC_FLUSHING | RENAMES", "verified | CACHE PFS | COMPLETE", "ck1"},
   {"whole | CACHE SYNC_FLUSHING | COMPLETE", "verified | CACHE PFS | COMPLETE", "ck1"}, 0, "ck1", NULL},
};

static const row replacing[] = {
  {"YES -> NO, replaced", open_two, complete, INDEX, 1, 0, "ck1",
   {"whole | CACHE PFS | COMPLETE CURRENT", "verified | CACHE | -", "ck2"},
   {"whole | CACHE PFS | -", "verified | CACHE | -", "ck2"}, 0, "ck1", NULL},
  {"FLUSHING -> RENAMING, over another", open_two, complete, INDEX, 1, 0, "ck2",
   {"whole | CACHE SYNC_FLUSHING | -", ON_PREFIX, "ck2"},
   {"whole | CACHE SYNC_FLUSHING | RENAMES", ON_PREFIX, "ck2"}, 0, "ck1", NULL},
  {"RENAMING, over a file", open_two, complete, "rank_2", 1, 2, "ck2",
   {"whole | CACHE SYNC_FLUSHING | RENAMES", ON_PREFIX, "ck2"},
   {"whole | CACHE SYNC_FLUSHING | RENAMES", ON_PREFIX, "ck2"}, 0, "ck1", NULL},
  {"RENAMING -> YES, over another", open_two, complete, INDEX, 2, 0, "ck2",
   {"whole | CACHE SYNC_FLUSHING | RENAMES", ON_PREFIX, "ck2"},
   {"whole | CACHE SYNC_FLUSHING | COMPLETE CURRENT", ON_PREFIX, "ck2"}, 0, "ck1", NULL},
  {"YES -> NO, replaced; all nodes lost", open_two, complete, INDEX, 1, 0, "ck1",
   {"whole | CACHE PFS | COMPLETE CURRENT", ON_PREFIX, "ck1"},
   {"whole | CACHE PFS | -", "- | - | -", "ck2"}, 0, NULL, lose_nodes},
  {"RENAMING, over a file; all nodes lost", open_two, complete, "rank_2", 1, 2, "ck2",
   {"whole | CACHE SYNC_FLUSHING | RENAMES", ON_PREFIX, "ck2"},
   {"whole | CACHE SYNC_FLUSHING | RENAMES", ON_PREFIX, "ck2"}, 0, NULL, lose_nodes},
  {"superseded: NO -> FLUSHING", put_over_unflushed, SCR_Finalize, FLUSH, 1, 0, "ck1",
   {"whole | CACHE | -", "verified | CACHE | -", "ck2"},
   {"whole | CACHE SYNC_FLUSHING | -", "verified | CACHE | -", "ck2"}, 0, "ck1", NULL},
  {"FLUSHING -> SUPERSEDED", put_over_unflushed, SCR_Finalize, FLUSH, 2, 0, "ck1",
   {"whole | CACHE SYNC_FLUSHING | -", "verified | CACHE | -", "ck2"},
   {"whole | CACHE | -", "verified | CACHE | -", "ck2"}, 0, "ck1", NULL},
  {"YES -> NO, replaced -> FLUSHING", delete_replaced, SCR_Finalize, FLUSH, 1, 0, "ck1",
   {"whole | CACHE | -", ON_PREFIX, "ck1"},
   {"whole | CACHE SYNC_FLUSHING | -", ON_PREFIX, "ck1"}, 0, "ck1", NULL},
  {"SUPERSEDED -> NO -> FLUSHING", delete_replacing, SCR_Finalize, FLUSH, 1, 0, "ck1",
   {"verified | CACHE | -", ON_PREFIX, "ck1"},
   {"verified | CACHE SYNC_FLUSHING | -", ON_PREFIX, "ck1"}, 0, "ck1", NULL},
  {"SUPERSEDED -> NO -> RENAMING", delete_replacing, SCR_Finalize, INDEX, 1, 0, "ck1",
   {"verified | CACHE SYNC_FLUSHING | -", ON_PREFIX, "ck1"},
   {"verified | CACHE SYNC_FLUSHING | RENAMES", ON_PREFIX, "ck1"}, 0, "ck1", NULL},
};

static const row removing[] = {
  {"WHOLE -> gone, YES, by Delete: the flush file", put_two, delete_newer, FLUSH, 1, 0, "ck2",
   {"* | CACHE PFS | COMPLETE CURRENT", ON_PREFIX, "ck2"},
   {"* | - | COMPLETE CURRENT", ON_PREFIX, "ck2"}, 0, "ck1", NULL},
  {"WHOLE -> gone, YES, by Delete", put_two, delete_newer, FILEMAP, 1, ALL, "ck2",
   {"whole | - | COMPLETE CURRENT", ON_PREFIX, "ck2"},
   {"leaving | - | COMPLETE CURRENT", ON_PREFIX, "ck2"}, 1, "ck1", NULL},
  {"YES -> NO, by Delete", put_two, delete_newer, INDEX, 1, 0, "ck2",
   {"* | - | COMPLETE CURRENT", ON_PREFIX, "ck2"},
   {"* | - | -", "*", "ck[12]"}, 0, "ck1", NULL},
  {"YES -> NO, by Drop", put_two, drop, INDEX, 1, 0, "ck2",
   {"whole | CACHE PFS | COMPLETE CURRENT", ON_PREFIX, "ck2"},
   {"whole | CACHE PFS | -", ON_PREFIX, "ck2"}, 0, "ck1", NULL}, /* what is due and cached is flushed again */
};

static const row fetching[] = {
  {"fetch: - -> WRITING", lose_all, SCR_Init, FILEMAP, 1, ALL, "ck2",
   {"- | - | COMPLETE CURRENT", ON_PREFIX, "ck2"},
   {"writing | - | COMPLETE CURRENT", ON_PREFIX, "ck2"}, 4, "ck1", NULL},
  {"fetch: WRITING -> WHOLE", lose_all, SCR_Init, FILEMAP, 2, ALL, "ck2",
   {"writing | - | COMPLETE CURRENT", ON_PREFIX, "ck2"},
   {"verified | - | COMPLETE CURRENT", ON_PREFIX, "ck2"}, 4, "ck1", NULL},
  {"fetch, in the index", lose_all, SCR_Init, INDEX, 1, 0, "ck2",
   {"verified | * | COMPLETE CURRENT", ON_PREFIX, "ck2"},
   {"verified | * | COMPLETE CURRENT", ON_PREFIX, "ck2"}, 0, "ck1", NULL},
  {"fetch, in the flush file", lose_all, SCR_Init, FLUSH, 2, 0, "ck2",
   {"verified | - | COMPLETE CURRENT", ON_PREFIX, "ck2"},
   {ON_PREFIX, ON_PREFIX, "ck2"}, 0, "ck1", NULL},
  {"fetch: ASIDE -> gone", lose_ck2, SCR_Init, FILEMAP, 2, ALL, "ck2",
   {"whole | - | COMPLETE CURRENT", ON_PREFIX, "ck2"},
   {"leaving | - | COMPLETE CURRENT", ON_PREFIX, "ck2"}, 1, "ck1", NULL},
  {"fetch: ASIDE -> WRITING", lose_ck2, SCR_Init, FILEMAP, 3, ALL, "ck2",
   {"leaving | - | COMPLETE CURRENT", ON_PREFIX, "ck2"},
   {"writing | - | COMPLETE CURRENT", ON_PREFIX, "ck2"}, 4, "ck1", NULL},
  {"fetch: ASIDE -> WHOLE", lose_ck2, SCR_Init, FILEMAP, 4, ALL, "ck2",
   {"writing | - | COMPLETE CURRENT", ON_PREFIX, "ck2"},
   {"verified | - | COMPLETE CURRENT", ON_PREFIX, "ck2"}, 4, "ck1", NULL},
};
/* clang-format on */

static void a_job_dies_while_it_writes_a_checkpoint(void)
{
  DIE_IN_EACH(writing, 0, 4, &own);
}

static void a_job_dies_while_it_finds_its_checkpoints(void)
{
  DIE_IN_EACH(found, 0, 4, &own);
}

static void a_job_dies_while_a_checkpoint_leaves_the_cache(void)
{
  DIE_IN_EACH(leaving, 0, 4, &own);
  DIE_IN_EACH(room, 0, 1, &own);
  DIE_IN_EACH(aside, 0, 2, &own);
  DIE_IN_EACH(tight, 1, 1, &own);
}

static void a_job_dies_while_it_rejects_a_checkpoint(void)
{
  DIE_IN_EACH(rejecting, 0, 4, &own);
  DIE_IN_EACH(rejecting_flushed, 1, 4, &own);
}

static void a_job_dies_while_an_older_checkpoint_is_chosen(void)
{
  DIE_IN_EACH(choosing, 1, 4, &own);
  DIE_IN_EACH(choosing_cached, 0, 4, &own);
}

static void a_job_dies_while_it_flushes(void)
{
  DIE_IN_EACH(flushing, 1, 4, &own);
  DIE_IN_EACH(flushing_lost, 1, 4, &own);
  DIE_IN_EACH(resuming, 1, 4, &own);
  DIE_IN_EACH(at_end, 10, 4, &own);
  DIE_IN_EACH(output, 0, 4, &own);
}

static void a_job_dies_while_it_replaces_a_checkpoint(void)
{
  DIE_IN_EACH(replacing, 1, 4, &alike);
}

static void a_job_dies_while_it_deletes_from_the_prefix(void)
{
  DIE_IN_EACH(removing, 1, 4, &own);
}

static void a_job_dies_while_it_fetches(void)
{
  DIE_IN_EACH(fetching, 1, 4, &own);
}

#define FOUR "4", ""

const test_case states_cases[] = {CASE(a_job_dies_while_it_writes_a_checkpoint, FOUR),
                                  CASE(a_job_dies_while_it_finds_its_checkpoints, FOUR),
                                  CASE(a_job_dies_while_a_checkpoint_leaves_the_cache, FOUR),
                                  CASE(a_job_dies_while_it_rejects_a_checkpoint, FOUR),
                                  CASE(a_job_dies_while_an_older_checkpoint_is_chosen, FOUR),
                                  CASE(a_job_dies_while_it_flushes, FOUR),
                                  CASE(a_job_dies_while_it_replaces_a_checkpoint, FOUR),
                                  CASE(a_job_dies_while_it_deletes_from_the_prefix, FOUR),
                                  CASE(a_job_dies_while_it_fetches, FOUR),
                                  CASES_END};
