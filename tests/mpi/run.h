/*
** run.h - the datasets that the MPI test programs write and read back, through scr.h alone.
**
** Every case has a directory of its own, with a prefix, a control and a cache base in it.  Its datasets are files of
** known bytes: of name, rank and number.
*/
#ifndef RUN_H
#define RUN_H

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../scr.h"
#include "check.h"

static char run_base[512];   /* of all cases, from the environment */
static char run_dir[600];    /* of this case */
static char run_prefix[700]; /* its prefix */

/* The code of a call, and that its message says WORD. */
#define CODE(call, code, word)                                                                                         \
  do {                                                                                                                 \
    int rc_ = (call);                                                                                                  \
    CHECK(rc_ == (code), "%s is %d, not %d (%s)", #call, rc_, code, rc_ != SCR_SUCCESS ? SCR_Last_error() : "");       \
    if (rc_ != SCR_SUCCESS && rc_ == (code))                                                                           \
      CHECK(strstr(SCR_Last_error(), word) != NULL, "%s: the message does not say %s: %s", #call, word,                \
            SCR_Last_error());                                                                                         \
  } while (0)

#define OK(call) CODE(call, SCR_SUCCESS, "")

/* That a collective call gave the same code on every rank; gives it back. */
static int same_code(int rc, int line)
{
  int both[2];

  both[0] = rc;
  both[1] = -rc;
  MPI_Allreduce(MPI_IN_PLACE, both, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  CHECK(both[0] == -both[1], "the call in line %d is %d here, but %d and %d elsewhere: %s", line, rc, -both[1], both[0],
        rc != SCR_SUCCESS ? SCR_Last_error() : "success");
  return rc;
}

/* As CODE, for a collective call. */
#define ALIKE(call, code, word) CODE(same_code(call, __LINE__), code, word)

/* Set a parameter; that it was taken. */
static void set(const char* format, ...)
{
  char    line[2048];
  va_list ap;

  va_start(ap, format);
  vsnprintf(line, sizeof line, format, ap);
  va_end(ap);
  CHECK(SCR_Config(line) == NULL && *SCR_Last_error() == '\0', "SCR_Config(\"%s\"): %s", line, SCR_Last_error());
}

static void make_dir(const char* path)
{
  if (mkdir(path, 0755) < 0 && errno != EEXIST) CHECK(0, "mkdir %s: %s", path, strerror(errno));
}

/* All parameters as they are by default, and the directories of case NAME; every rank may use them on return. */
static void begin(const char* name)
{
  static const char* const all[] = {"SCR_ENABLE",
                                    "SCR_CACHE_SIZE",
                                    "SCR_CACHE_PURGE",
                                    "SCR_COPY_TYPE",
                                    "SCR_SET_SIZE",
                                    "SCR_GROUP",
                                    "SCR_CRC_ON_FLUSH",
                                    "SCR_CURRENT",
                                    "SCR_DISTRIBUTE",
                                    "SCR_FETCH",
                                    "SCR_FLUSH",
                                    "SCR_FLUSH_ON_RESTART",
                                    "SCR_FRESH_START",
                                    "SCR_CHECKPOINT_INTERVAL",
                                    "SCR_CHECKPOINT_SECONDS",
                                    "SCR_CHECKPOINT_OVERHEAD",
                                    "SCR_HALT_SECONDS",
                                    "SCR_HALT_ENABLED",
                                    "SCR_HALT_EXIT",
                                    "SCR_PRESERVE_DIRECTORIES",
                                    "SCR_VIRTUAL_NODES",
                                    "SCR_CNTL_BASE",
                                    "SCR_CACHE_BASE",
                                    "SCR_PREFIX",
                                    "SCR_JOB_NAME",
                                    "SCR_FLUSH_WIDTH",
                                    "SCR_FETCH_WIDTH",
                                    "SCR_MPI_BUF_SIZE"};
  static const char* const parts[] = {"prefix", "cntl", "cache"};
  char                     path[700];
  size_t                   i;

  for (i = 0; i < sizeof all / sizeof *all; i++) set("%s=", all[i]);
  snprintf(run_dir, sizeof run_dir, "%s/%s", run_base, name);
  snprintf(run_prefix, sizeof run_prefix, "%s/prefix", run_dir);
  if (rank == 0) {
    make_dir(run_dir);
    for (i = 0; i < sizeof parts / sizeof *parts; i++) {
      snprintf(path, sizeof path, "%s/%s", run_dir, parts[i]);
      make_dir(path);
    }
  }
  set("SCR_PREFIX=%s", run_prefix);
  set("SCR_CNTL_BASE=%s/cntl", run_dir);
  set("SCR_CACHE_BASE=%s/cache", run_dir);
  if (ranks > 1) set("SCR_VIRTUAL_NODES=%d", ranks == 5 ? 3 : ranks);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* ---- files of known bytes ---- */

static unsigned char byte_of(unsigned seed, size_t at)
{
  unsigned x = (seed + (unsigned)at) * 2654435761u;
  return (unsigned char)(x >> 13);
}

static unsigned seed_of(const char* name, int who, int i)
{
  unsigned h = (unsigned)who * 7919u + (unsigned)i * 104729u + 1u;
  for (; *name; name++) h = h * 31u + (unsigned char)*name;
  return h;
}

static int write_bytes(const char* path, unsigned seed, size_t n)
{
  FILE*  f = fopen(path, "wb");
  size_t i;

  if (f == NULL) return 0;
  for (i = 0; i < n; i++) putc(byte_of(seed, i), f);
  return fclose(f) == 0;
}

/* 1 when PATH holds exactly the N bytes of SEED. */
static int same_bytes(const char* path, unsigned seed, size_t n)
{
  FILE*  f = fopen(path, "rb");
  size_t i;
  int    same = f != NULL;

  for (i = 0; same && i < n; i++) same = getc(f) == byte_of(seed, i);
  if (same) same = getc(f) == EOF;
  if (f != NULL) fclose(f);
  return same;
}

/* File I of RANK in the dataset NAME: its size, unequal by rank and number, and where it is by name. */
static size_t size_of(int i, size_t bytes)
{
  return bytes == 0 ? 0 : bytes + (size_t)rank * 13 + (size_t)i;
}

static void name_of(const char* name, int i, char* path)
{
  snprintf(path, SCR_MAX_FILENAME, "%s/%s/rank_%d_%d", run_prefix, name, rank, i);
}

/* ---- datasets ---- */

/* Write FILES files of some BYTES each as dataset NAME; VALID is what this rank says.  The code of Complete. */
static int put_valid(const char* name, int flags, int files, size_t bytes, int valid)
{
  char path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME];
  int  i, rc = SCR_Start_output(name, flags);

  if (rc != SCR_SUCCESS) return rc;
  for (i = 0; i < files; i++) {
    name_of(name, i, path);
    OK(SCR_Route_file(path, file));
    CHECK(strcmp(path, file) != 0, "%s is not routed to the cache", path);
    CHECK(write_bytes(file, seed_of(name, rank, i), size_of(i, bytes)), "cannot write %s: %s", file, strerror(errno));
  }
  return SCR_Complete_output(valid);
}

static int put(const char* name, int files, size_t bytes)
{
  return put_valid(name, SCR_FLAG_CHECKPOINT, files, bytes, 1);
}

/* 1 when this rank reads from dataset NAME what put wrote. */
static int holds(const char* name, int files, size_t bytes)
{
  char path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME];
  int  i, good = 1;

  for (i = 0; i < files; i++) {
    name_of(name, i, path);
    if (SCR_Route_file(path, file) != SCR_SUCCESS || !same_bytes(file, seed_of(name, rank, i), size_of(i, bytes))) {
      fprintf(stderr, "  rank %d: %s at %s is not what was written\n", rank, path, file);
      good = 0;
    }
  }
  return good;
}

/* That the checkpoint NAME is offered, and restart from it; NULL: that none is. */
static void get(const char* name, int files, size_t bytes)
{
  char offered[SCR_MAX_FILENAME] = "", started[SCR_MAX_FILENAME] = "";
  int  flag = -1;

  OK(SCR_Have_restart(&flag, offered));
  CHECK(flag == (name != NULL), "flag is %d, the checkpoint %s", flag, offered);
  if (flag == 1)
    CHECK(name != NULL && strcmp(name, offered) == 0, "%s is offered instead of %s", offered, name ? name : "none");
  if (flag != 1 || name == NULL) return;
  OK(SCR_Start_restart(started));
  CHECK(strcmp(offered, started) == 0, "%s was offered, %s is started", offered, started);
  CHECK(holds(name, files, bytes), "wrong bytes");
  OK(SCR_Complete_restart(1));
}

/* ---- looking at directories, on rank 0 ---- */

/* Call VISIT with each path below DIR. */
static void walk(const char* dir, void (*visit)(const char* path, const char* name, void* arg), void* arg)
{
  char           path[SCR_MAX_FILENAME];
  struct dirent* e;
  struct stat    st;
  DIR*           d = opendir(dir);

  while (d != NULL && (e = readdir(d)) != NULL) {
    if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
    snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
    visit(path, e->d_name, arg);
    if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode)) walk(path, visit, arg);
  }
  if (d != NULL) closedir(d);
}

static void visit_dataset(const char* path, const char* name, void* arg)
{
  int id;

  (void)path;
  if (sscanf(name, "scr.dataset.%d", &id) == 1 && id < 30) *(unsigned*)arg |= 1u << id;
}

/* The ids of the datasets in the cache directory BASE of this case, as bits, on every rank. */
static unsigned cached_in(const char* base)
{
  char     path[700];
  unsigned ids = 0;

  snprintf(path, sizeof path, "%s/%s", run_dir, base);
  MPI_Barrier(MPI_COMM_WORLD); /* each rank deletes its own files */
  if (rank == 0) walk(path, visit_dataset, &ids);
  MPI_Bcast(&ids, 1, MPI_UNSIGNED, 0, MPI_COMM_WORLD);
  return ids;
}

typedef struct {
  const char* suffix;
  int         n;
} run_count;

static void visit_suffix(const char* path, const char* name, void* arg)
{
  run_count* c = (run_count*)arg;
  size_t     n = strlen(name), k = strlen(c->suffix);

  (void)path;
  if (n >= k && strcmp(name + n - k, c->suffix) == 0) c->n++;
}

/* How many names below BASE of this case end in SUFFIX, on every rank. */
static int count_in(const char* base, const char* suffix)
{
  char      path[700];
  run_count c;

  c.suffix = suffix;
  c.n = 0;
  snprintf(path, sizeof path, "%s/%s", run_dir, base);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) walk(path, visit_suffix, &c);
  MPI_Bcast(&c.n, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return c.n;
}

/* 1 when DIR/REL of this case is a file or directory, on every rank. */
static int there(const char* rel)
{
  char path[1400];
  int  yes;

  snprintf(path, sizeof path, "%s/%s", run_dir, rel);
  MPI_Barrier(MPI_COMM_WORLD);
  yes = rank == 0 && access(path, F_OK) == 0;
  MPI_Bcast(&yes, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return yes;
}

/* Run a shell command on rank 0, in the directory of this case; all wait for it. */
static void shell(const char* format, ...)
{
  char    line[2048], whole[4096];
  va_list ap;

  va_start(ap, format);
  vsnprintf(line, sizeof line, format, ap);
  va_end(ap);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    int rc;
    snprintf(whole, sizeof whole, "cd '%s' && { %s; } > /dev/null", run_dir, line);
    rc = system(whole);
    CHECK(rc == 0, "`%s` failed: %d", line, rc);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

/* Start MPI and learn the directory of all cases. */
static void run_start(int* argc, char*** argv)
{
  const char* base = getenv("TEST_DIR");

  MPI_Init(argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  snprintf(run_base, sizeof run_base, "%s", base ? base : ".");
}

#endif
