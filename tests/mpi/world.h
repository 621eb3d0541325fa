/*
** world.h - what loss.c and faults.c share: a world of nodes, checkpoints of known bytes in it, losses, and restarts.
**
** Includes the library itself, so that a test can make its system calls fail.
*/
#ifndef WORLD_H
#define WORLD_H

#include "../../scr_impl.c"

#include "check.h"

static char base[512], node[1200], copy[700]; /* the cache of all nodes, of node v<rank>, and what it was */

/* ---- trees of files -------------------------------------------------------------------------------------------- */

static void remove_tree(const char* dir)
{
  char           path[1024];
  struct dirent* e;
  DIR*           d = opendir(dir);

  while (d != NULL && (e = readdir(d)) != NULL) {
    struct stat st;
    if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
    snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
    if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode)) remove_tree(path);
    else unlink(path);
  }
  if (d != NULL) closedir(d);
  rmdir(dir);
}

static char* read_file(const char* path, long* n)
{
  FILE* f = fopen(path, "rb");
  char* p = NULL;

  *n = -1;
  if (f == NULL) return NULL;
  fseek(f, 0, SEEK_END);
  *n = ftell(f);
  rewind(f);
  p = (char*)malloc((size_t)*n + 1);
  if (fread(p, 1, (size_t)*n, f) != (size_t)*n) *n = -1;
  fclose(f);
  return p;
}

static void write_file(const char* path, const char* p, long n)
{
  FILE* f = fopen(path, "wb");

  if (f == NULL || fwrite(p, 1, (size_t)n, f) != (size_t)n || fclose(f) != 0) {
    perror(path);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

/* Copy the tree FROM to TO; or, when COMPARE, count what lies below FROM and is not alike below TO. */
static int walk_tree(const char* from, const char* to, int compare)
{
  char           a[1024], b[1024];
  struct dirent* e;
  DIR*           d = opendir(from);
  int            wrong = 0;

  if (!compare) mkdir(to, 0700);
  while (d != NULL && (e = readdir(d)) != NULL) {
    struct stat st;
    long        n, m;
    char *      p, *q;
    if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
    snprintf(a, sizeof a, "%s/%s", from, e->d_name);
    snprintf(b, sizeof b, "%s/%s", to, e->d_name);
    if (lstat(a, &st) == 0 && S_ISDIR(st.st_mode)) {
      wrong += walk_tree(a, b, compare);
      continue;
    }
    p = read_file(a, &n);
    if (!compare) {
      write_file(b, p, n);
    } else {
      q = read_file(b, &m);
      if (q == NULL || n != m || memcmp(p, q, (size_t)n) != 0) {
        fprintf(stderr, "  rank %d: %s has %ld bytes, %s has %ld, not alike\n", rank, a, n, b, m);
        wrong++;
      }
      free(q);
    }
    free(p);
  }
  if (d != NULL) closedir(d);
  return wrong;
}

/* The N-th file below DIR whose path holds PART but not WITHOUT, in PATH; how many there are. */
static int find_file(const char* dir, const char* part, const char* without, int n, char* path)
{
  char           name[1024];
  struct dirent* e;
  DIR*           d = opendir(dir);
  int            count = 0;

  while (d != NULL && (e = readdir(d)) != NULL) {
    struct stat st;
    if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
    snprintf(name, sizeof name, "%s/%s", dir, e->d_name);
    if (lstat(name, &st) != 0) continue;
    if (S_ISDIR(st.st_mode)) {
      count += find_file(name, part, without, n - count, path);
    } else if (st.st_size > 0 && strstr(name, part) != NULL && (without == NULL || strstr(name, without) == NULL)) {
      if (count == n) strcpy(path, name);
      count++;
    }
  }
  if (d != NULL) closedir(d);
  return count;
}

static void flip_bit(const char* path, unsigned at)
{
  long  n;
  char* p = read_file(path, &n);

  p[at % (unsigned)n] ^= (char)(1 << at % 8);
  write_file(path, p, n);
  free(p);
}

/* ---- data ------------------------------------------------------------------------------------------------------ */

typedef struct {
  const char* name;
  int (*files)(int r);
  int (*size)(int r, int i);
  const char* file; /* format with rank and number */
} shape;

static char content(int r, int i, int at)
{
  return (char)(at * 31 + (at >> 8) * 7 + r * 101 + i * 13 + 5);
}

/* ---- one scheme ------------------------------------------------------------------------------------------------ */

typedef struct {
  const char* type;
  int         k;
  int         nodes;  /* that the ranks share; 0: one for each rank */
  const char* buffer; /* SCR_MPI_BUF_SIZE; NULL: so small that a file takes many messages */
} scheme;

static void settings(const scheme* c)
{
  SCR_Configf("SCR_PREFIX=%s/prefix", base);
  SCR_Configf("SCR_CNTL_BASE=%s", base);
  SCR_Configf("SCR_CACHE_BASE=%s", base);
  SCR_Configf("SCR_VIRTUAL_NODES=%d", c->nodes > 0 ? c->nodes : ranks);
  SCR_Configf("SCR_COPY_TYPE=%s", c->type);
  SCR_Configf("SCR_SET_FAILURES=%d", c->k);
  SCR_Config("SCR_FLUSH=0");
  SCR_Config("SCR_FSYNC=0");
  SCR_Config("SCR_USER_NAME=tester");
  SCR_Configf("SCR_MPI_BUF_SIZE=%s", c->buffer != NULL ? c->buffer : "4096");
}

/* The name of file I of this rank. */
static const char* file_name(const shape* s, int i)
{
  static char name[1024];
  int         n = snprintf(name, sizeof name, "%s/prefix/", base);

  snprintf(name + n, sizeof name - (size_t)n, s->file, rank, i);
  return name;
}

/* An empty directory NAME for all nodes and the prefix.  Collective. */
static void fresh_world(const char* name)
{
  char host[256] = "", prefix[600];

  snprintf(base, sizeof base, "%s/%s", getenv("TEST_DIR"), name);
  MPI_Barrier(MPI_COMM_WORLD); /* nobody looks at the last one any more */
  if (rank == 0) {
    remove_tree(base);
    mkdir(base, 0700);
    snprintf(prefix, sizeof prefix, "%s/prefix", base);
    mkdir(prefix, 0700);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  gethostname(host, sizeof host - 1);
  snprintf(node, sizeof node, "%s/tester/scr.%s/node.%s-v%d", base, getenv("SCR_JOB_ID"), host, rank);
  snprintf(copy, sizeof copy, "%s/copy.%d", base, rank);
}

/* Write the files of the checkpoint NAME of shape S, but do not make it complete. */
static void open_checkpoint(const char* name, const shape* s)
{
  char path[SCR_MAX_FILENAME];
  int  i, at, rc;

  rc = SCR_Start_output(name, SCR_FLAG_CHECKPOINT);
  CHECK(rc == SCR_SUCCESS, "%s", SCR_Last_error());
  for (i = 0; i < s->files(rank); i++) {
    int   n = s->size(rank, i);
    char* p = (char*)malloc((size_t)n + 1);
    for (at = 0; at < n; at++) p[at] = content(rank, i, at);
    rc = SCR_Route_file(file_name(s, i), path);
    CHECK(rc == SCR_SUCCESS, "%s", SCR_Last_error());
    if (rc == SCR_SUCCESS) write_file(path, p, n);
    free(p);
  }
}

/* Write the checkpoint NAME of shape S. */
static void write_checkpoint(const char* name, const shape* s)
{
  int rc;

  open_checkpoint(name, s);
  rc = SCR_Complete_output(1);
  CHECK(rc == SCR_SUCCESS, "%s", SCR_Last_error());
}

/* Write the checkpoint of shape S in an empty cache, and keep a copy of it. */
static void prepare(const scheme* c, const shape* s)
{
  int rc;

  fresh_world("loss");
  settings(c);
  rc = SCR_Init();
  CHECK(rc == SCR_SUCCESS, "%s", SCR_Last_error());
  write_checkpoint("ck", s);
  rc = SCR_Finalize();
  CHECK(rc == SCR_SUCCESS, "%s", SCR_Last_error());
  walk_tree(node, copy, 0);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* The files of shape S, of the checkpoint that is being read, hold what was written. */
static void compare_files(const shape* s)
{
  char path[SCR_MAX_FILENAME];
  int  i, at, rc;

  for (i = 0; i < s->files(rank); i++) {
    long  n;
    char* p;
    rc = SCR_Route_file(file_name(s, i), path);
    CHECK(rc == SCR_SUCCESS, "%s: %s", file_name(s, i), SCR_Last_error());
    p = read_file(path, &n);
    CHECK(n == s->size(rank, i), "%s has %ld bytes", path, n);
    for (at = 0; p != NULL && at < n && p[at] == content(rank, i, at); at++) continue;
    CHECK(at == n || p == NULL, "%s differs at %d", path, at);
    free(p);
  }
}

/*
** Start anew, and expect the checkpoint to be whole, or to be refused with an error unless NOTHING_LEFT tells of
** it.  WHAT tells what was lost.
*/
static void restart(const scheme* c, const shape* s, int expect, int nothing_left, const char* what)
{
  char dir[1300], old[1300], name[SCR_MAX_FILENAME];
  int  rc, flag = -1;

  check_alive();
  MPI_Barrier(MPI_COMM_WORLD);
  settings(c);
  rc = SCR_Init();
  CHECK(rc == SCR_SUCCESS, "%s, %s: %s", what, s->name, SCR_Last_error());
  rc = SCR_Have_restart(&flag, name);
  CHECK(flag == expect, "%s, %s, %s k=%d: %s", what, s->name, c->type, c->k, SCR_Last_error());
  if (!expect) {
    CHECK(rc != SCR_SUCCESS || nothing_left, "%s, %s, %s k=%d: refused without an error", what, s->name, c->type, c->k);
  } else if (flag == 1) {
    CHECK(SCR_Start_restart(name) == SCR_SUCCESS, "%s", SCR_Last_error());
    compare_files(s);
    CHECK(SCR_Complete_restart(1) == SCR_SUCCESS, "%s", SCR_Last_error());
  }
  CHECK(SCR_Finalize() == SCR_SUCCESS, "%s", SCR_Last_error());
  if (expect) {
    snprintf(dir, sizeof dir, "%s/scr.dataset.1", node);
    snprintf(old, sizeof old, "%s/scr.dataset.1", copy);
    CHECK(walk_tree(old, dir, 1) + walk_tree(dir, old, 1) == 0, "%s, %s, %s k=%d", what, s->name, c->type, c->k);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

enum { NODE, RED, DATA, MODES };

/* This member's share of a loss. */
static void lose(int mode)
{
  char path[1024];

  if (mode == NODE) remove_tree(node);
  else if (mode == RED && find_file(node, "_in_", NULL, 0, path)) unlink(path);
  else if (mode == DATA && find_file(node, "/ck/", NULL, 0, path)) flip_bit(path, 12345);
}

#endif
