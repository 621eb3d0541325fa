/*
** bench - time checkpoints, rebuilds and starts through the public calls, beside the time in which the same ranks copy
** as many bytes in memory (M), so that results of different machines can be compared.
**
**   mpiexec -n 4 bench --dir DIR --prefix DIR [--nodes N] [--mib N] [--runs N] [--small N] [--json]
**
** All ranks are on one machine, and DIR is in its memory.  The prefix is on a disk: what is flushed goes there.  A
** time is from the moment the first rank begins to that in which the last one ends.  Each round does every step once,
** so that what else the machine does falls upon all alike; the figures are the median of the rounds, with minimum and
** maximum.
*/
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <mpi.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "count.h"
#include "scr.h"

#define RUNS_MAX 101

typedef struct {
  const char *name, *type;
  int         k, crc, lost; /* SCR_SET_FAILURES, SCR_CRC_ON_COPY, how many nodes to lose and rebuild */
} scheme;

static const scheme schemes[] = {{"SINGLE", "SINGLE", 1, 1, 0},
                                 {"XOR", "XOR", 1, 1, 1},
                                 {"XOR, no CRC", "XOR", 1, 0, 0},
                                 {"PARTNER", "PARTNER", 1, 1, 0},
                                 {"RS(2)", "RS", 2, 1, 2}};

enum { SINGLE, XOR, XOR_PLAIN, PARTNER, RS, SCHEMES };

/* Times of one step, in seconds, and what they sum up to. */
typedef struct {
  char   name[64];
  int    moves_data; /* the step has to do with every byte */
  int    n;
  double seconds[RUNS_MAX * 2 * (SCHEMES + 2)];
  double median, least, most;
} series;

static series memory, app_write, exchange, encode[SCHEMES], plain_encode[SCHEMES], steady[SCHEMES], whole[SCHEMES],
    verify[SCHEMES], rebuild[SCHEMES], plain_rebuild[SCHEMES], mpi_init, scr_init;

/* The same bytes as a file of the program and as a region: written and protected; read from a file, and recovered. */
static series of_file, of_region, plain_read, recover;

/* An array that all ranks wrote, read by one rank less: from plain files, one of each rank, and recovered. */
static series plain_slices, slices;

/* Ways to flush a checkpoint of one file a rank, and one of many. */
enum { PLAIN, FILES, CONTAINERS, WAYS };
static series flush[WAYS], small[WAYS], fetch[WAYS], async_complete, async_end, compute_alone, compute_beside,
    compute_shared;

/* MPI calls of one library call: own count, and the maximum over the ranks. */
enum {
  INIT,
  HAVE,
  START_RESTART,
  COMPLETE_RESTART,
  NEED,
  START,
  ROUTE,
  COMPLETE,
  SHOULD_EXIT,
  CURRENT,
  DROP,
  DELETE,
  FINALIZE,
  CALLS
};

static const char* const call_names[CALLS] = {
    "SCR_Init, empty cache", "SCR_Have_restart", "SCR_Start_restart", "SCR_Complete_restart",
    "SCR_Need_checkpoint",   "SCR_Start_output", "SCR_Route_file",    "SCR_Complete_output (XOR)",
    "SCR_Should_exit",       "SCR_Current",      "SCR_Drop",          "SCR_Delete",
    "SCR_Finalize"};
static mpi_calls calls_of[CALLS], calls_max[CALLS];

static int         rank, ranks, nodes = 4, runs = 5, many = 1000, json;
static size_t      bytes; /* of each rank */
static char *      data, *copy;
static const char *dir, *prefix;
static long        peak_kib; /* that the first session takes, the rank with most */
static unsigned    stamp;    /* of the last checkpoint: no two have the same bytes */

/* RS(2), the last one, needs a third node. */
static int schemes_of_run(void)
{
  return nodes > 2 ? SCHEMES : RS;
}

/* Any rank: say what failed and end all. */
static void die(const char* format, ...)
{
  va_list ap;
  char    text[2048];

  va_start(ap, format);
  vsnprintf(text, sizeof text, format, ap);
  va_end(ap);
  fprintf(stderr, "bench: rank %d: %s\n", rank, text);
  MPI_Abort(MPI_COMM_WORLD, 1);
  exit(1);
}

static void must(int rc, const char* call)
{
  if (rc != SCR_SUCCESS) die("%s: %s", call, SCR_Last_error());
}

/* ---- times ----------------------------------------------------------------------------------------------------- */

static void nap(void)
{
  struct timespec t = {0, 50000};
  nanosleep(&t, NULL);
}

/* Wait asleep: a rank that polls would take the time of those that share its core. */
static void finish(MPI_Request* q)
{
  int done = 0;

  for (MPI_Test(q, &done, MPI_STATUS_IGNORE); !done; MPI_Test(q, &done, MPI_STATUS_IGNORE)) nap();
}

static void meet(void)
{
  MPI_Request q;

  MPI_Ibarrier(MPI_COMM_WORLD, &q);
  finish(&q);
}

static double begin(void)
{
  meet();
  return MPI_Wtime();
}

/* From the earliest FROM to now, on the last rank.  Added to S when that is given. */
static double end(double from, series* s)
{
  double      mine[2], all[2];
  MPI_Request q;

  mine[0] = MPI_Wtime();
  mine[1] = -from;
  MPI_Iallreduce(mine, all, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD, &q);
  finish(&q);
  if (s != NULL) s->seconds[s->n++] = all[0] + all[1];
  return all[0] + all[1];
}

static int by_value(const void* a, const void* b)
{
  double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static void sum_up(series* s, int moves_data, const char* format, ...)
{
  va_list ap;

  va_start(ap, format);
  vsnprintf(s->name, sizeof s->name, format, ap);
  va_end(ap);
  s->moves_data = moves_data;
  qsort(s->seconds, (size_t)s->n, sizeof(double), by_value);
  s->least = s->seconds[0];
  s->most = s->seconds[s->n - 1];
  s->median = (s->seconds[(s->n - 1) / 2] + s->seconds[s->n / 2]) / 2;
}

/* M: both buffers have been written before. */
static void measure_memory(void)
{
  double start = begin();

  memcpy(copy, data, bytes);
  end(start, &memory);
  if (memcmp(copy, data, bytes) != 0) die("memcpy copies wrongly");
}

/* ---- the bytes of a scheme, by plain MPI ----------------------------------------------------------------------- */

#define PIECE     ((size_t)262144)
#define IN_FLIGHT 4

/* The bytes of a scheme for one file: which go where, and how many are written. */
typedef struct {
  const char* p;               /* the file */
  size_t      chunk, piece;    /* it has CHUNKS chunks, which go in pieces */
  int         chunks, sends;   /* each piece of the chunks, in turn, is sent SENDS times in all */
  size_t      pieces, written; /* pieces of a chunk; bytes to write for each piece that came */
  int         sums;            /* 1: what comes is added up, with XOR, and the sum is written */
  int         out;
} plain_work;

/* Start message number M of W: a piece to one node, and one from another. */
static void plain_start(const plain_work* w, size_t m, char* into, MPI_Request* q)
{
  int    i = (int)(m % (size_t)w->sends), step = ranks / nodes * (1 + i % (nodes - 1));
  size_t at = m / (size_t)w->sends * w->piece, n = w->chunk - at < w->piece ? w->chunk - at : w->piece;

  MPI_Irecv(into, (int)n, MPI_BYTE, (rank + ranks - step) % ranks, 0, MPI_COMM_WORLD, &q[0]);
  MPI_Isend(w->p + (size_t)(i % w->chunks) * w->chunk + at, (int)n, MPI_BYTE, (rank + step) % ranks, 0, MPI_COMM_WORLD,
            &q[1]);
}

/* Add the bytes of a piece to those of TO, with XOR. */
static void plain_sum(char* to, const char* from)
{
  uint64_t *      a = (uint64_t*)(void*)to, *end = a + PIECE / sizeof *a;
  const uint64_t* b = (const uint64_t*)(const void*)from;

  while (a < end) *a++ ^= *b++;
}

/* All messages of W, a few at a time, waiting as the library does: a few looks, then the core goes to who needs it. */
static void plain_run(const plain_work* w)
{
  MPI_Request q[IN_FLIGHT][2];
  MPI_Status  status[2];
  size_t      m = 0, ended = 0, total = w->pieces * (size_t)w->sends;
  int         i, looks = 0, done;

  for (i = 0; i < IN_FLIGHT; i++) {
    q[i][0] = q[i][1] = MPI_REQUEST_NULL;
    if (m < total) plain_start(w, m++, copy + (size_t)i * PIECE, q[i]);
  }
  for (i = 0; ended < total; i = (i + 1) % IN_FLIGHT) {
    if (q[i][0] == MPI_REQUEST_NULL && q[i][1] == MPI_REQUEST_NULL) continue;
    MPI_Testall(2, q[i], &done, status);
    if (!done) {
      if (++looks > 20) sched_yield();
      continue;
    }
    looks = 0;
    ended++;
    if (w->sums) plain_sum(copy + IN_FLIGHT * PIECE, copy + (size_t)i * PIECE);
    if (w->written > 0 &&
        write(w->out, copy + (size_t)(w->sums ? IN_FLIGHT : i) * PIECE, w->written) != (ssize_t)w->written)
      die("cannot write: %s", strerror(errno));
    if (m < total) plain_start(w, m++, copy + (size_t)i * PIECE, q[i]);
  }
}

/*
** What a set of N members, K of them parity for each byte, moves and writes: of the file NAME, cut into N - K chunks,
** each chunk goes to K other members, and, on ranks below WRITERS, a file of WRITTEN chunks is written.  No checksums,
** and no sums but those of XOR.  PARTNER is a set of 2 with 1.
*/
static void measure_plain(const char* name, int n, int k, int writers, int written, series* s)
{
  plain_work w;
  char       made[600];
  int        fd = open(name, O_RDONLY);
  double     start;

  snprintf(made, sizeof made, "%s/made.%d", dir, rank);
  w.out = open(made, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (fd < 0 || w.out < 0) die("cannot open %s or %s: %s", name, made, strerror(errno));
  w.chunks = n - k;
  w.sends = k * w.chunks;
  w.chunk = bytes / (size_t)w.chunks;
  w.piece = w.chunk < PIECE ? w.chunk : PIECE;
  w.pieces = (w.chunk + w.piece - 1) / w.piece;
  w.sums = n > 2 && k == 1 && writers == ranks;
  w.written = rank < writers ? w.piece * (size_t)written / (size_t)w.sends : 0;
  start = begin();
  w.p = (char*)mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
  if (w.p == (char*)MAP_FAILED) die("cannot map %s: %s", name, strerror(errno));
  plain_run(&w);
  munmap((void*)w.p, bytes);
  end(start, s);
  close(fd);
  close(w.out);
  unlink(made);
}

/* The bytes that scheme number I moves and writes to protect the file NAME, and to rebuild what its lost nodes had. */
static void measure_scheme(int i, const char* name)
{
  int n = i == PARTNER ? 2 : nodes, k = schemes[i].k, lost = schemes[i].lost * (ranks / nodes);

  if (i == SINGLE || i == XOR_PLAIN) return;
  if (i == XOR) measure_plain(name, n, k, 0, 0, &exchange);
  measure_plain(name, n, k, ranks, k, &plain_encode[i]);
  if (lost > 0) measure_plain(name, n, k, lost, n, &plain_rebuild[i]);
}

/* ---- memory of the process: a thread looks at it each millisecond ---------------------------------------------- */

static volatile int  watching;
static volatile long watched_kib;
static pthread_t     watcher;

/* Memory that is no file's: what is mapped from storage, even storage in memory, does not count. */
static long anonymous_kib(void)
{
  char  line[256];
  long  kib = 0;
  FILE* f = fopen("/proc/self/status", "r");

  while (f != NULL && fgets(line, sizeof line, f) != NULL)
    if (sscanf(line, "RssAnon: %ld", &kib) == 1) break;
  if (f != NULL) fclose(f);
  return kib;
}

static void* watch(void* arg)
{
  struct timespec t = {0, 1000000};

  while (watching) {
    long now = anonymous_kib();
    if (now > watched_kib) watched_kib = now;
    nanosleep(&t, NULL);
  }
  return arg;
}

static void watch_begin(void)
{
  watched_kib = 0;
  watching = 1;
  if (pthread_create(&watcher, NULL, watch, NULL) != 0) die("no thread");
}

static long watch_end(void)
{
  watching = 0;
  pthread_join(watcher, NULL);
  return watched_kib;
}

/* ---- files ----------------------------------------------------------------------------------------------------- */

static int remove_one(const char* path, const struct stat* st, int type, struct FTW* at)
{
  (void)st;
  (void)type;
  (void)at;
  return remove(path) != 0 && errno != ENOENT;
}

static void remove_tree(const char* path)
{
  struct stat st;

  if (lstat(path, &st) == 0 && nftw(path, remove_one, 32, FTW_DEPTH | FTW_PHYS) != 0)
    die("cannot remove %s: %s", path, strerror(errno));
}

static void write_file(const char* name, size_t n)
{
  int    fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  size_t at = 0;

  if (fd < 0) die("cannot open %s: %s", name, strerror(errno));
  while (at < n) {
    size_t  part = n - at < (4u << 20) ? n - at : (4u << 20);
    ssize_t w = write(fd, data + at % bytes, part);
    if (w <= 0) die("cannot write %s: %s", name, w < 0 ? strerror(errno) : "no space");
    at += (size_t)w;
  }
  if (close(fd) != 0) die("cannot close %s: %s", name, strerror(errno));
}

/* Read the bytes of a rank from the file NAME to copy. */
static void read_file(const char* name)
{
  int     fd = open(name, O_RDONLY);
  size_t  at = 0;
  ssize_t n = 0;

  if (fd < 0) die("cannot open %s: %s", name, strerror(errno));
  while (at < bytes && (n = read(fd, copy + at, bytes - at)) > 0) at += (size_t)n;
  if (at != bytes) die("%s is not what was written", name);
  close(fd);
}

/* That the file NAME holds what was written last. */
static void compare_file(const char* name)
{
  read_file(name);
  if (memcmp(copy, data, bytes) != 0) die("%s is not what was written", name);
}

/* Two datasets of scheme number I take at most so many times the bytes of the application. */
static int copies(int i)
{
  static const int most[SCHEMES] = {2, 3, 3, 4, 4};
  return i == RS && nodes == 3 ? 6 : i == XOR && nodes == 2 ? 4 : most[i];
}

static void check_space(void)
{
  struct statvfs fs;
  double         need = (double)copies(schemes_of_run() - 1) * ranks * (double)bytes;

  if (statvfs(dir, &fs) != 0) die("%s: %s", dir, strerror(errno));
  if ((double)fs.f_bavail * (double)fs.f_frsize < need * 1.02)
    die("%s has not the %.2f GB that this run needs; see BENCH_DIR and --mib", dir, need / 1e9);
}

/*
** Write and delete as many bytes as scheme number I will use.  Memory that was never touched costs several times as
** much, and a virtual machine may give memory back soon after it was freed.
*/
static void touch_store(int i)
{
  char name[600];

  snprintf(name, sizeof name, "%s/touch.%d", dir, rank);
  write_file(name, (size_t)copies(i) * bytes);
  meet();
  unlink(name);
  meet();
}

/* ---- sessions with the library --------------------------------------------------------------------------------- */

static void settings(const scheme* s)
{
  SCR_Configf("SCR_PREFIX=%s", dir);
  SCR_Configf("SCR_CNTL_BASE=%s/node", dir);
  SCR_Configf("SCR_CACHE_BASE=%s/node", dir);
  SCR_Configf("SCR_VIRTUAL_NODES=%d", nodes);
  SCR_Configf("SCR_COPY_TYPE=%s", s->type);
  SCR_Configf("SCR_SET_FAILURES=%d", s->k);
  SCR_Configf("SCR_CRC_ON_COPY=%d", s->crc);
  SCR_Config("SCR_CRC_ON_RESTART=1");
  SCR_Config("SCR_FLUSH=0");
  SCR_Config("SCR_USE_CONTAINERS=0");
  SCR_Config("SCR_FLUSH_ASYNC=0");
  SCR_Config("SCR_USER_NAME=bench");
  SCR_Config("SCR_JOB_ID=bench");
}

static void clean_up(void)
{
  char path[600];

  meet();
  if (rank == 0) {
    snprintf(path, sizeof path, "%s/node", dir);
    remove_tree(path);
    if (mkdir(path, 0700) != 0) die("cannot make %s: %s", path, strerror(errno));
    snprintf(path, sizeof path, "%s/.scr", dir);
    remove_tree(path);
  }
  meet();
}

/* Delete all that the first COUNT nodes hold. */
static void lose_nodes(int count)
{
  char        host[256] = "", path[1024];
  struct stat st;
  int         i;

  meet();
  gethostname(host, sizeof host - 1);
  for (i = 0; rank == 0 && i < count; i++) {
    snprintf(path, sizeof path, "%s/node/bench/scr.bench/node.%s-v%d", dir, host, i);
    if (stat(path, &st) != 0) die("node %d is not where it should be, %s: %s", i, path, strerror(errno));
    remove_tree(path);
  }
  meet();
}

/* The MPI calls since FROM are those of the call WHICH. */
static void count_calls(int which, mpi_calls from)
{
  calls_of[which].collectives = mpi_count.collectives - from.collectives;
  calls_of[which].communicators = mpi_count.communicators - from.communicators;
  calls_of[which].messages = mpi_count.messages - from.messages;
}

static void start_library(const scheme* s, series* times, int count)
{
  double    start;
  mpi_calls before;

  settings(s);
  start = begin();
  before = mpi_count;
  must(SCR_Init(), "SCR_Init");
  if (count) count_calls(INIT, before);
  end(start, times);
}

static void stop_library(int count)
{
  mpi_calls before = mpi_count;

  must(SCR_Finalize(), "SCR_Finalize");
  if (count) count_calls(FINALIZE, before);
}

static char newest[SCR_MAX_FILENAME]; /* this rank's file of the last checkpoint, in the cache */

/* One checkpoint.  COMPLETED or FROM_START may be NULL.  COUNT: this one's MPI calls are reported. */
static void checkpoint(series* completed, series* from_start, int count)
{
  char      name[64], path[SCR_MAX_FILENAME];
  int       flag;
  double    first, start;
  mpi_calls before;

  stamp++;
  memcpy(data, &stamp, sizeof stamp);
  memcpy(data + bytes - sizeof stamp, &stamp, sizeof stamp);
  snprintf(path, sizeof path, "ckpt.%u", stamp);
  before = mpi_count;
  if (count) must(SCR_Need_checkpoint(&flag), "SCR_Need_checkpoint");
  if (count) count_calls(NEED, before);
  first = begin();
  before = mpi_count;
  must(SCR_Start_output(path, SCR_FLAG_CHECKPOINT), "SCR_Start_output");
  if (count) count_calls(START, before);
  snprintf(name, sizeof name, "ckpt.%u/rank_%d", stamp, rank);
  before = mpi_count;
  must(SCR_Route_file(name, path), "SCR_Route_file");
  if (count) count_calls(ROUTE, before);
  start = begin();
  write_file(path, bytes);
  end(start, &app_write);
  start = begin();
  before = mpi_count;
  must(SCR_Complete_output(1), "SCR_Complete_output");
  if (count) count_calls(COMPLETE, before);
  end(start, completed);
  end(first, from_start);
  strcpy(newest, path);
  before = mpi_count;
  if (count) must(SCR_Should_exit(&flag), "SCR_Should_exit");
  if (count) count_calls(SHOULD_EXIT, before);
}

/* The checkpoint that was written last is loaded and whole. */
static void check_restart(int count)
{
  char      name[SCR_MAX_FILENAME], path[SCR_MAX_FILENAME];
  int       flag = 0;
  mpi_calls before = mpi_count;

  must(SCR_Have_restart(&flag, name), "SCR_Have_restart");
  if (count) count_calls(HAVE, before);
  if (!flag) die("there is no checkpoint to restart from");
  before = mpi_count;
  must(SCR_Start_restart(name), "SCR_Start_restart");
  if (count) count_calls(START_RESTART, before);
  snprintf(name, sizeof name, "ckpt.%u/rank_%d", stamp, rank);
  must(SCR_Route_file(name, path), "SCR_Route_file");
  compare_file(path);
  before = mpi_count;
  must(SCR_Complete_restart(1), "SCR_Complete_restart");
  if (count) count_calls(COMPLETE_RESTART, before);
}

/*
** All steps of scheme number I: two checkpoints in an empty cache, of which the second takes the place of the first;
** and, where nodes shall be lost, a start with all of it, and one without them.
*/
static void session(int i)
{
  const scheme* s = &schemes[i];

  measure_memory();
  clean_up();
  touch_store(i);
  start_library(s, &scr_init, i == XOR);
  checkpoint(&encode[i], NULL, 0);
  checkpoint(&steady[i], &whole[i], i == XOR);
  measure_scheme(i, newest);
  stop_library(i == XOR);
  if (s->lost == 0) return;
  start_library(s, &verify[i], 0);
  check_restart(i == XOR);
  stop_library(0);
  lose_nodes(s->lost);
  start_library(s, &rebuild[i], 0);
  check_restart(0);
  stop_library(0);
}

/* ---- regions of memory ------------------------------------------------------------------------------------------- */

/* The path of the plain file of rank R. */
static void plain_path(int r, char* file, size_t n)
{
  snprintf(file, n, "%s/node/plain.%d", dir, r);
}

/* A checkpoint of the bytes at data, as a region. */
static void region_checkpoint(series* s)
{
  char   name[64];
  double start;

  stamp++;
  memcpy(data, &stamp, sizeof stamp);
  snprintf(name, sizeof name, "ckpt.%u", stamp);
  start = begin();
  must(SCR_Checkpoint(name), "SCR_Checkpoint");
  end(start, s);
}

/* Checkpoints of a file and of a region by turns, with XOR, each in place of the one before; and the last is read. */
static void region_session(void)
{
  char   file[600];
  double start;
  int    have, i;

  clean_up();
  plain_path(rank, file, sizeof file);
  write_file(file, bytes);
  start = begin();
  read_file(file);
  end(start, &plain_read);
  if (unlink(file) < 0) die("cannot remove %s: %s", file, strerror(errno));
  start_library(&schemes[XOR], &scr_init, 0);
  must(SCR_Protect("data", data, bytes, 1), "SCR_Protect");
  checkpoint(NULL, NULL, 0);
  for (i = 0; i < 2; i++) {
    region_checkpoint(&of_region);
    checkpoint(NULL, i == 0 ? &of_file : NULL, 0);
  }
  region_checkpoint(NULL);
  stop_library(0);
  memcpy(copy, data, bytes);
  memset(data, 0, bytes);
  start_library(&schemes[XOR], NULL, 0);
  must(SCR_Protect("data", data, bytes, 1), "SCR_Protect");
  start = begin();
  must(SCR_Recover(&have, NULL), "SCR_Recover");
  end(start, &recover);
  if (!have || memcmp(copy, data, bytes) != 0) die("the region is not what was written");
  stop_library(0);
}

/* Read the N bytes from AT on of the array, of which the plain file of each rank has `bytes`, to P. */
static void read_slice(char* p, size_t at, size_t n)
{
  char file[600];

  while (n > 0) {
    size_t  from = at % bytes, part = n < bytes - from ? n : bytes - from, got = 0;
    ssize_t r = 0;
    int     fd;
    plain_path((int)(at / bytes), file, sizeof file);
    fd = open(file, O_RDONLY);
    while (got < part && (r = pread(fd, p + got, part - got, (off_t)(from + got))) > 0) got += (size_t)r;
    if (got != part) die("cannot read %s: %s", file, strerror(errno));
    close(fd);
    p += part;
    at += part;
    n -= part;
  }
}

/* An array over all ranks, on one node, is recovered by all but the last rank, for which it is copied to the prefix. */
static void slice_session(void)
{
  size_t   all = bytes * (size_t)ranks, from = 0, extent = bytes, offset = bytes * (size_t)rank;
  char     file[600], *block, *again;
  double   start;
  int      have, few = ranks - 1;
  MPI_Comm some;

  clean_up();
  plain_path(rank, file, sizeof file);
  write_file(file, bytes);
  settings(&schemes[SINGLE]);
  SCR_Config("SCR_VIRTUAL_NODES=1");
  must(SCR_Init(), "SCR_Init");
  must(SCR_Protect_array("grid", data, 1, 1, &all, &offset, &extent), "SCR_Protect_array");
  must(SCR_Checkpoint("grid"), "SCR_Checkpoint");
  stop_library(0);
  extent = all / (size_t)few;
  from = extent * (size_t)rank;
  if (rank == few - 1) extent = all - from;
  if (rank == few) extent = 0;
  block = (char*)calloc(extent + 1, 1);
  again = (char*)calloc(extent + 1, 1);
  if (block == NULL || again == NULL) die("no memory for a block");
  memset(block, 1, extent);
  memset(again, 1, extent);
  start = begin();
  read_slice(block, from, extent);
  end(start, &plain_slices);
  MPI_Comm_split(MPI_COMM_WORLD, rank < few ? 0 : MPI_UNDEFINED, rank, &some);
  if (rank < few) {
    settings(&schemes[SINGLE]);
    SCR_Config("SCR_VIRTUAL_NODES=1");
    must(SCR_Init_comm(some), "SCR_Init_comm");
    must(SCR_Protect_array("grid", again, 1, 1, &all, &from, &extent), "SCR_Protect_array");
  }
  start = begin();
  if (rank < few) must(SCR_Recover(&have, NULL), "SCR_Recover");
  end(start, &slices);
  if (rank < few && (!have || memcmp(block, again, extent) != 0)) die("the array is not what was written");
  if (rank < few) stop_library(0);
  if (rank < few) MPI_Comm_free(&some);
  meet();
  if (rank == 0) {
    snprintf(file, sizeof file, "%s/grid", dir);
    remove_tree(file);
  }
  free(block);
  free(again);
}

/* ---- flush and fetch ------------------------------------------------------------------------------------------- */

#define SMALL       65536 /* bytes of each of many files, at most; */
#define SMALL_LEAST 4096  /* and at least */
#define SMALL_MOST  10000 /* files */

/* How many small files a rank writes. */
static int small_files(void)
{
  size_t n = bytes / SMALL_LEAST;
  return n > (size_t)many ? many : (int)n;
}

/* The bytes of each of them. */
static size_t small_size(void)
{
  size_t size = bytes / (size_t)small_files() / SMALL_LEAST * SMALL_LEAST;
  return size > SMALL ? SMALL : size;
}

/* Remove all of the prefix, and what the system still has to write. */
static void clean_prefix(void)
{
  char path[600];

  meet();
  if (rank == 0) {
    snprintf(path, sizeof path, "%s/p", prefix);
    remove_tree(path);
    if (mkdir(path, 0700) != 0) die("cannot make %s: %s", path, strerror(errno));
    sync();
  }
  meet();
}

/* What dd bs=1M does, with conv=fsync if SYNC is set. */
static void copy_file(const char* from, const char* to, int sync_it)
{
  static char buf[1 << 20];
  int         in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ssize_t     n = 0;

  if (in < 0 || out < 0) die("cannot copy %s to %s: %s", from, to, strerror(errno));
  while ((n = read(in, buf, sizeof buf)) > 0)
    if (write(out, buf, (size_t)n) != n) die("cannot write %s: %s", to, strerror(errno));
  if (n < 0 || (sync_it && fsync(out) != 0)) die("cannot copy %s to %s: %s", from, to, strerror(errno));
  close(in);
  close(out);
}

/* Write a checkpoint of N files of SIZE bytes; FILE receives the path of each in the cache. */
static void write_many(int n, size_t size, char (*file)[SCR_MAX_FILENAME])
{
  char name[700];
  int  i;

  snprintf(name, sizeof name, "ckpt.%u", ++stamp);
  must(SCR_Start_output(name, SCR_FLAG_CHECKPOINT), "SCR_Start_output");
  for (i = 0; i < n; i++) {
    snprintf(name, sizeof name, "%s/p/ckpt.%u/rank_%d.%d", prefix, stamp, rank, i);
    must(SCR_Route_file(name, file[i]), "SCR_Route_file");
    write_file(file[i], size);
  }
}

static void flush_settings(int containers, int async, int every)
{
  settings(&schemes[SINGLE]);
  SCR_Configf("SCR_PREFIX=%s/p", prefix);
  SCR_Configf("SCR_FLUSH=%d", every);
  SCR_Configf("SCR_USE_CONTAINERS=%d", containers);
  SCR_Configf("SCR_FLUSH_ASYNC=%d", async);
}

/* What dd with fsync does with the N files FILE of each rank. */
static void copy_plainly(int n, char (*file)[SCR_MAX_FILENAME], series* plain)
{
  char   path[SCR_MAX_FILENAME + 40];
  double start = begin();
  int    i;

  for (i = 0; i < n; i++) {
    snprintf(path, sizeof path, "%s/p/plain.%d.%d", prefix, rank, i);
    copy_file(file[i], path, 1);
  }
  end(start, plain);
}

/*
** Flush N files of SIZE bytes a rank in SCR_Finalize, and without the library; fetch them again.  A disk may be slower
** after a gigabyte than before: the two take turns at coming first.
*/
static void flush_and_fetch(int n, size_t size, int containers, series* flushed, series* plain, series* fetched,
                            series* copied)
{
  static char file[SMALL_MOST][SCR_MAX_FILENAME];
  static int  turn;
  char        path[SCR_MAX_FILENAME + 40];
  double      start;
  int         i, plain_first = plain != NULL && turn++ / 2 % 2 == 0;

  clean_up();
  clean_prefix();
  flush_settings(containers, 0, 1000);
  must(SCR_Init(), "SCR_Init");
  write_many(n, size, file);
  must(SCR_Complete_output(1), "SCR_Complete_output");
  if (plain_first) copy_plainly(n, file, plain);
  start = begin();
  must(SCR_Finalize(), "SCR_Finalize");
  end(start, flushed);
  if (plain != NULL && !plain_first) copy_plainly(n, file, plain);
  for (i = 0; copied != NULL && i < n; i++) {
    snprintf(path, sizeof path, "%s/p/plain.%d.%d", prefix, rank, i);
    if (i == 0) start = begin();
    copy_file(path, file[i], 0);
    if (i == n - 1) end(start, copied);
  }
  if (fetched == NULL) return;
  clean_up();
  flush_settings(containers, 0, 1000);
  start = begin();
  must(SCR_Init(), "SCR_Init");
  end(start, fetched);
  must(SCR_Finalize(), "SCR_Finalize");
}

/* Write a checkpoint that SCR_Complete_output will let be flushed while the application goes on. */
static void write_behind(void)
{
  static char file[1][SCR_MAX_FILENAME];

  clean_up();
  clean_prefix();
  flush_settings(0, 1, 1);
  must(SCR_Init(), "SCR_Init");
  write_many(1, bytes, file);
}

/* How long such a call takes, and the flush. */
static void flush_behind(void)
{
  double start;

  write_behind();
  start = begin();
  must(SCR_Complete_output(1), "SCR_Complete_output");
  end(start, &async_complete);
  must(SCR_Wait(NULL), "SCR_Wait");
  end(start, &async_end);
  must(SCR_Finalize(), "SCR_Finalize");
}

/* Work of a rank in its registers, the same at each call. */
static void compute(void)
{
  double x = rank;
  long   i;

  for (i = 0; i < 200000000; i++) x = x * 0.999999 + 1e-9;
  if (x < 0) die("there are no negative ranks");
}

/* The processor time of the threads of this process but for this one. */
static double cpu_of_helpers(void)
{
  struct timespec all, own;

  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &all);
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &own);
  return (double)(all.tv_sec - own.tv_sec) + (double)(all.tv_nsec - own.tv_nsec) / 1e9;
}

/* The ranks compute alone, and beside a flush: what that takes more than the processor time of the copies is lost. */
static void compute_session(void)
{
  double start, alone, cpu, sum, cores = (double)sysconf(_SC_NPROCESSORS_ONLN);

  write_behind();
  start = begin();
  compute();
  alone = end(start, &compute_alone);
  must(SCR_Complete_output(1), "SCR_Complete_output");
  cpu = cpu_of_helpers();
  start = begin();
  compute();
  end(start, &compute_beside);
  cpu = cpu_of_helpers() - cpu;
  MPI_Allreduce(&cpu, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  compute_shared.seconds[compute_shared.n++] = alone + sum / (cores < ranks ? cores : ranks);
  must(SCR_Finalize(), "SCR_Finalize");
}

static void flush_session(void)
{
  int n = small_files();

  flush_and_fetch(1, bytes, 0, &flush[FILES], &flush[PLAIN], &fetch[FILES], &fetch[PLAIN]);
  flush_and_fetch(1, bytes, 1, &flush[CONTAINERS], NULL, &fetch[CONTAINERS], NULL);
  flush_and_fetch(n, small_size(), 0, &small[FILES], &small[PLAIN], NULL, NULL);
  flush_and_fetch(n, small_size(), 1, &small[CONTAINERS], NULL, NULL, NULL);
  flush_behind();
  compute_session();
  clean_prefix();
}

/* The calls that change what is on the prefix, once. */
static void count_rare_calls(void)
{
  char      name[64];
  mpi_calls before;

  clean_up();
  start_library(&schemes[XOR], NULL, 0);
  checkpoint(NULL, NULL, 0);
  snprintf(name, sizeof name, "ckpt.%u", stamp);
  before = mpi_count;
  must(SCR_Current(name), "SCR_Current");
  count_calls(CURRENT, before);
  before = mpi_count;
  must(SCR_Drop(name), "SCR_Drop");
  count_calls(DROP, before);
  before = mpi_count;
  must(SCR_Delete(name), "SCR_Delete");
  count_calls(DELETE, before);
  stop_library(0);
}

/*
** Anonymous memory that SCR_Init, checkpoints and a rebuild take at their peak with the scheme that needs most, in KiB,
** with what MPI takes for them.  Only the first session of a process tells: later ones find memory that is free but
** still held.
*/
static long first_session(void)
{
  const scheme* s = &schemes[schemes_of_run() - 1 == RS ? RS : XOR];
  long          before, peak;

  clean_up();
  touch_store(schemes_of_run() - 1);
  before = anonymous_kib();
  watch_begin();
  start_library(s, NULL, 0);
  checkpoint(NULL, NULL, 0);
  checkpoint(NULL, NULL, 0);
  stop_library(0);
  lose_nodes(s->lost);
  start_library(s, NULL, 0);
  check_restart(0);
  peak = watch_end();
  stop_library(0);
  app_write.n = 0; /* this was the warm-up */
  return peak - before;
}

/* ---- report ---------------------------------------------------------------------------------------------------- */

static void print_step(const series* s, int last)
{
  double total = (double)ranks * (double)bytes, rate = total / 1e9 / (s->median > 0 ? s->median : 1e-9);

  if (json)
    printf("  {\"step\": \"%s\", \"bytes\": %.0f, \"runs\": %d, \"median_s\": %.6f, \"min_s\": %.6f, \"max_s\": %.6f, "
           "\"gb_per_s\": %.3f, \"x_m\": %.3f}%s\n",
           s->name, s->moves_data ? total : 0, s->n, s->median, s->least, s->most, s->moves_data ? rate : 0,
           s->median / memory.median, last ? "" : ",");
  else if (s->moves_data)
    printf("%-36s %11.0f %9.4f %9.4f %9.4f %7.2f %7.2f\n", s->name, total, s->median, s->least, s->most, rate,
           s->median / memory.median);
  else
    printf("%-36s %11s %9.4f %9.4f %9.4f %7s %7.2f\n", s->name, "-", s->median, s->least, s->most, "-",
           s->median / memory.median);
}

static void print_calls(void)
{
  int i;

  if (json) printf(" ],\n \"calls\": [\n");
  else
    printf("\n%-26s %18s %18s %18s\n%-26s %9s %8s %9s %8s %9s %8s\n", "MPI calls", "collectives", "communicators",
           "messages sent", "of one call", "rank 0", "max", "rank 0", "max", "rank 0", "max");
  for (i = 0; i < CALLS; i++) {
    const mpi_calls *own = &calls_of[i], *most = &calls_max[i];
    printf(json ? "  {\"call\": \"%s\", \"collectives\": [%d, %d], \"communicators\": [%d, %d], "
                  "\"messages\": [%d, %d]}"
                : "%-26s %9d %8d %9d %8d %9d %8d",
           call_names[i], own->collectives, most->collectives, own->communicators, most->communicators, own->messages,
           most->messages);
    printf("%s\n", json && i < CALLS - 1 ? "," : "");
  }
}

static void print_ratio(const char* between, int i, const char* step, double ratio)
{
  printf(json ? "%s{\"step\": \"%s: %s\", \"ratio\": %.3f}" : "%s%s %s %.2f", between, schemes[i].name, step, ratio);
}

/* How much longer the library takes than plain MPI, which checks nothing; a rebuild without the check. */
static void print_ratios(void)
{
  const char* between = "";
  int         i;

  printf(json ? " ],\n \"to_plain_mpi\": [" : "Time over plain MPI: ");
  for (i = 0; i < schemes_of_run(); i++) {
    if (plain_encode[i].n == 0) continue;
    print_ratio(between, i, "encode", encode[i].median / plain_encode[i].median);
    between = ", ";
    print_ratio(between, i, "complete", steady[i].median / plain_encode[i].median);
    if (plain_rebuild[i].n > 0)
      print_ratio(between, i, "rebuild", (rebuild[i].median - verify[i].median) / plain_rebuild[i].median);
  }
  printf("\n");
}

static void report(void)
{
  static const char* const ways[WAYS] = {"dd with fsync", "files", "containers"};
  const series*            all[21 + 7 * SCHEMES + 3 * WAYS];
  int                      i, n = 0;
  double                   ratio, ratio_whole;

  sum_up(&memory, 1, "memcpy (M)");
  all[n++] = &memory;
  sum_up(&app_write, 1, "application write");
  all[n++] = &app_write;
  sum_up(&exchange, 1, "XOR: the exchange alone");
  all[n++] = &exchange;
  for (i = 0; i < schemes_of_run(); i++) {
    sum_up(&encode[i], 1, "%s: encode", schemes[i].name);
    sum_up(&steady[i], 1, "%s: complete, steady state", schemes[i].name);
    sum_up(&whole[i], 1, "%s: start to complete", schemes[i].name);
    all[n++] = &encode[i];
    if (plain_encode[i].n > 0) {
      sum_up(&plain_encode[i], 1, "%s: encode, plain MPI", schemes[i].name);
      all[n++] = &plain_encode[i];
    }
    all[n++] = &steady[i];
    all[n++] = &whole[i];
  }
  for (i = 0; i < schemes_of_run(); i++) {
    if (schemes[i].lost == 0) continue;
    sum_up(&verify[i], 1, "%s: SCR_Init, nothing lost", schemes[i].name);
    sum_up(&rebuild[i], 1, "%s: SCR_Init, %d of %d nodes lost", schemes[i].name, schemes[i].lost, nodes);
    sum_up(&plain_rebuild[i], 1, "%s: rebuild, plain MPI", schemes[i].name);
    all[n++] = &verify[i];
    all[n++] = &rebuild[i];
    all[n++] = &plain_rebuild[i];
  }
  sum_up(&of_file, 1, "XOR: a file, start to complete");
  sum_up(&of_region, 1, "XOR: a region, SCR_Checkpoint");
  sum_up(&plain_read, 1, "read of a file in memory");
  sum_up(&recover, 1, "XOR: the region, SCR_Recover");
  all[n++] = &of_file;
  all[n++] = &of_region;
  all[n++] = &plain_read;
  all[n++] = &recover;
  sum_up(&plain_slices, 1, "read by %d ranks of what %d wrote", ranks - 1, ranks);
  sum_up(&slices, 1, "the same of an array, SCR_Recover");
  all[n++] = &plain_slices;
  all[n++] = &slices;
  for (i = 0; i < WAYS; i++) {
    sum_up(&flush[i], 1, "flush to disk: %s", ways[i]);
    all[n++] = &flush[i];
  }
  for (i = 0; i < WAYS; i++) {
    sum_up(&small[i], 0, "flush of %d x %zu KiB: %s", small_files(), small_size() / 1024, ways[i]);
    all[n++] = &small[i];
  }
  for (i = 0; i < WAYS; i++) {
    sum_up(&fetch[i], 1, "fetch to memory: %s", i == PLAIN ? "dd" : ways[i]);
    all[n++] = &fetch[i];
  }
  sum_up(&async_complete, 1, "SINGLE: encode, flushed behind");
  sum_up(&async_end, 1, "the same, and its flush");
  sum_up(&compute_alone, 0, "computing alone");
  sum_up(&compute_beside, 0, "computing beside a flush");
  sum_up(&compute_shared, 0, "computing, and the copies' share");
  all[n++] = &async_complete;
  all[n++] = &async_end;
  all[n++] = &compute_alone;
  all[n++] = &compute_beside;
  all[n++] = &compute_shared;
  sum_up(&mpi_init, 0, "MPI_Init");
  sum_up(&scr_init, 0, "SCR_Init, empty cache");
  all[n++] = &mpi_init;
  all[n++] = &scr_init;
  ratio = encode[XOR].median / encode[XOR_PLAIN].median;
  ratio_whole = whole[XOR].median / whole[XOR_PLAIN].median;
  if (rank != 0) return;
  if (json)
    printf(
        "{\"version\": \"%s\", \"ranks\": %d, \"nodes\": %d, \"bytes_per_rank\": %zu, \"runs\": %d,\n \"steps\": [\n",
        SCR_VERSION, ranks, nodes, bytes, runs);
  else
    printf("SCR %s: %d ranks x %zu MiB on %d virtual nodes, %d runs; x M: times of the memcpy of as many bytes\n\n"
           "%-36s %11s %9s %9s %9s %7s %7s\n",
           SCR_VERSION, ranks, bytes >> 20, nodes, runs, "step", "bytes", "median s", "min", "max", "GB/s", "x M");
  for (i = 0; i < n; i++) print_step(all[i], i == n - 1);
  if (!json)
    printf("\nFlush over dd with fsync: files %.2f, containers %.2f; of small files: files %.2f, containers %.2f\n"
           "Fetch over dd: files %.2f, containers %.2f; Complete with an asynchronous flush over none: %.2f\n"
           "Computing beside an asynchronous flush, over the same and the processor time of the copies: %.2f\n",
           flush[FILES].median / flush[PLAIN].median, flush[CONTAINERS].median / flush[PLAIN].median,
           small[FILES].median / small[PLAIN].median, small[CONTAINERS].median / small[PLAIN].median,
           fetch[FILES].median / fetch[PLAIN].median, fetch[CONTAINERS].median / fetch[PLAIN].median,
           async_complete.median / encode[SINGLE].median, compute_beside.median / compute_shared.median);
  if (!json)
    printf("A region over a file: start to complete %.2f; recover over a plain read: %.2f; by %d of %d ranks: %.2f\n",
           of_region.median / of_file.median, recover.median / plain_read.median, ranks - 1, ranks,
           slices.median / plain_slices.median);
  if (!json) printf("XOR with CRC / without: encode %.2f, start to complete %.2f\n", ratio, ratio_whole);
  print_ratios();
  print_calls();
  if (json)
    printf(" ],\n \"memory_kib\": %ld,\n \"crc_ratio\": {\"encode\": %.3f, \"start_to_complete\": %.3f}}\n", peak_kib,
           ratio, ratio_whole);
  else printf("\nAnonymous memory that SCR_Init, checkpoints and a rebuild take, at most: %ld KiB a rank\n", peak_kib);
}

/* 0 when an argument is wrong. */
static int arguments(int argc, char** argv)
{
  int i, mib = 256;

  for (i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--json") == 0) json = 1;
    else if (strcmp(argv[i], "--mib") == 0 && i + 1 < argc) mib = atoi(argv[++i]);
    else if (strcmp(argv[i], "--runs") == 0 && i + 1 < argc) runs = atoi(argv[++i]);
    else if (strcmp(argv[i], "--small") == 0 && i + 1 < argc) many = atoi(argv[++i]);
    else if (strcmp(argv[i], "--nodes") == 0 && i + 1 < argc) nodes = atoi(argv[++i]);
    else if (strcmp(argv[i], "--dir") == 0 && i + 1 < argc) dir = argv[++i];
    else if (strcmp(argv[i], "--prefix") == 0 && i + 1 < argc) prefix = argv[++i];
    else return 0;
  }
  bytes = (size_t)mib << 20;
  return dir != NULL && strlen(dir) < 500 && prefix != NULL && strlen(prefix) < 500 && runs >= 1 && runs <= RUNS_MAX &&
         many >= 1 && many <= SMALL_MOST && mib >= 1 && mib <= 65536 && nodes >= 2 && nodes <= ranks &&
         ranks % nodes == 0;
}

int main(int argc, char** argv)
{
  struct timespec t0, t1;
  double          mine;
  long            peak;
  int             i, round;
  size_t          at;

  clock_gettime(CLOCK_MONOTONIC, &t0);
  MPI_Init(&argc, &argv);
  clock_gettime(CLOCK_MONOTONIC, &t1);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  mine = (double)(t1.tv_sec - t0.tv_sec) + (double)(t1.tv_nsec - t0.tv_nsec) / 1e9;
  MPI_Allreduce(&mine, &mpi_init.seconds[mpi_init.n++], 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  if (!arguments(argc, argv)) {
    if (rank == 0)
      fprintf(stderr,
              "bench: --dir DIR --prefix DIR [--nodes 2 or more, the ranks are a multiple of it] [--mib 1 or more] "
              "[--runs 1 to %d] [--small 1 to %d] [--json]\n",
              RUNS_MAX, SMALL_MOST);
    MPI_Finalize();
    return 2;
  }
  check_space();
  data = (char*)malloc(bytes);
  copy = (char*)malloc(bytes < (IN_FLIGHT + 1) * PIECE ? (IN_FLIGHT + 1) * PIECE : bytes);
  if (data == NULL || copy == NULL) die("out of memory");
  for (at = 0; at < bytes / sizeof(unsigned); at++) ((unsigned*)data)[at] = (unsigned)at * 2654435u + (unsigned)rank;
  memset(copy, 1, bytes);
  peak = first_session();
  for (round = 0; round < runs; round++) {
    for (i = 0; i < schemes_of_run(); i++) session(i);
    region_session();
    slice_session();
    flush_session();
  }
  count_rare_calls();
  clean_up();
  MPI_Allreduce(&peak, &peak_kib, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
  MPI_Allreduce(calls_of, calls_max, CALLS * 3, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  report();
  free(data);
  free(copy);
  MPI_Finalize();
  return 0;
}
