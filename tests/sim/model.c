/* ==== MODEL =====================================================================================================
** Is the model of file systems right?  The same random calls on it and on a real directory: every answer must be equal.
**
** Offers     model_run of model.h
** Compared   results, errno, bytes, and what stat says (kind, mode, size, names of a file); at the end the whole tree.
**            Not compared: sizes and names of directories, times, what a power cut leaves.
** ================================================================================================================= */
#include "model.h"
#include "sim.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define MODEL_FILES 6
#define MODEL_TOP   "/pfs/p"

int            sim_ftruncate64(int fd, off_t size), sim_rename(const char*from, const char*to);
int            sim_link(const char*from, const char*to), sim_unlink(const char*path), sim_rmdir(const char*path);
int            sim_mkdir(const char*path, mode_t mode), sim_lstat64(const char*path, struct stat*st);
int            sim_fstat64(int fd, struct stat*st), sim_fsync(int fd), sim_fchmod(int fd, mode_t mode);
off_t          sim_lseek64(int fd, off_t at, int whence);
ssize_t        sim_pwrite64(int fd, const void*p, size_t n, off_t at), sim_pread64(int fd, void*p, size_t n, off_t at);
DIR*           sim_opendir(const char* path);
struct dirent* sim_readdir64(DIR* d);
int            sim_closedir(DIR* d);

static struct {
  int  model[MODEL_FILES], real[MODEL_FILES]; /* descriptors, -1: none */
  char top[512], did[2048];
  int  bad;
} at;

/* Say that the answers to the call AT.DID differ. */
static void differ(const char* what, long model, long real)
{
  if (at.bad++ < 10) printf("%s: %s: the model says %ld, %s says %ld\n", at.did, what, model, at.top, real);
}

/* Compare results, with errno ERROR and now errno where they are -1. */
static void same(long model, int error, long real)
{
  int now = errno;

  if (model != real) differ("result", model == -1 ? -error : model, real == -1 ? -now : real);
  else if (model == -1 && error == ENOTEMPTY && now == EEXIST) return; /* POSIX allows either; XFS has this one */
  else if (model == -1 && error != now) differ("errno", error, now);
}

static void same_stat(int model, int error, const struct stat* m, int real, const struct stat* r)
{
  same(model, error, real);
  if (model != 0 || real != 0) return;
  if (m->st_mode != r->st_mode) differ("mode", (long)m->st_mode, (long)r->st_mode);
  if (S_ISREG(r->st_mode) && m->st_size != r->st_size) differ("size", (long)m->st_size, (long)r->st_size);
  if (S_ISREG(r->st_mode) && m->st_nlink != r->st_nlink) differ("names", (long)m->st_nlink, (long)r->st_nlink);
}

/* A name below the top: one or two steps, of few names, so that calls meet. */
static void any_name(char* name, size_t n)
{
  static const char* const names[] = {"a", "b", "c", "d"};

  snprintf(name, n, "%s", names[sim_below(4)]);
  if (sim_below(2)) snprintf(name + strlen(name), n - strlen(name), "/%s", names[sim_below(4)]);
  if (sim_below(8) == 0) snprintf(name + strlen(name), n - strlen(name), "/%s", names[sim_below(4)]);
}

static void below(char* path, size_t n, const char* top, const char* name)
{
  snprintf(path, n, "%s/%s", top, name);
}

/* A call on names. */
static void model_names(int what)
{
  static const int flags[] = {O_RDONLY,
                              O_RDWR | O_CREAT,
                              O_WRONLY | O_CREAT | O_EXCL,
                              O_RDWR | O_CREAT | O_TRUNC,
                              O_RDWR,
                              O_WRONLY | O_CREAT | O_APPEND,
                              O_RDONLY | O_DIRECTORY};
  char             a[64], b[64], ma[600], mb[600], ra[600], rb[600];
  struct stat      ms, rs;
  int              m, e, f = flags[sim_below(7)], i = (int)sim_below(MODEL_FILES);

  any_name(a, sizeof a);
  any_name(b, sizeof b);
  below(ma, sizeof ma, MODEL_TOP, a);
  below(mb, sizeof mb, MODEL_TOP, b);
  below(ra, sizeof ra, at.top, a);
  below(rb, sizeof rb, at.top, b);
  snprintf(at.did, sizeof at.did, "call %d of %s, %s", what, a, b);
  switch (what) {
  case 0:
    m = sim_mkdir(ma, 0755), e = errno;
    same(m, e, mkdir(ra, 0755));
    return;
  case 1:
    m = sim_rename(ma, mb), e = errno;
    same(m, e, rename(ra, rb));
    return;
  case 2:
    m = sim_link(ma, mb), e = errno;
    same(m, e, link(ra, rb));
    return;
  case 3:
    m = sim_unlink(ma), e = errno;
    same(m, e, unlink(ra));
    return;
  case 4:
    m = sim_rmdir(ma), e = errno;
    same(m, e, rmdir(ra));
    return;
  case 5:
    m = sim_lstat64(ma, &ms), e = errno;
    same_stat(m, e, &ms, lstat(ra, &rs), &rs);
    return;
  default:
    if (at.model[i] >= 0) sim_close(at.model[i]), close(at.real[i]);
    at.model[i] = sim_open64(ma, f, 0644), e = errno;
    at.real[i] = open(ra, f, 0644);
    snprintf(at.did, sizeof at.did, "open of %s, flags %x", a, (unsigned)f);
    same(at.model[i] < 0 ? -1 : 0, e, at.real[i] < 0 ? -1 : 0);
    if ((at.model[i] < 0) != (at.real[i] < 0)) at.bad += 1000; /* what follows means nothing */
  }
}

/* A call on a descriptor. */
static void model_bytes(int what)
{
  static char p[5000], q[5000], bytes[5000];
  struct stat ms, rs;
  int         i = (int)sim_below(MODEL_FILES), e, m = at.model[i], r = at.real[i];
  size_t      n = sim_below(sim_below(3) ? 300 : sizeof p), k;
  off_t       to = (off_t)sim_below(6000);
  long        x;

  if (m < 0) return;
  snprintf(at.did, sizeof at.did, "call %d on descriptor %d, %lu bytes at %ld", what, i, (unsigned long)n, (long)to);
  for (k = 0; k < n; k++) bytes[k] = (char)sim_random();
  memset(p, 0, sizeof p);
  memset(q, 0, sizeof q);
  fstat(r, &rs);
  if (S_ISDIR(rs.st_mode) && what != 6) return; /* what reading a directory gives differs between systems */
  switch (what) {
  case 0:
    x = sim_write(m, bytes, n), e = errno;
    same(x, e, write(r, bytes, n));
    return;
  case 1:
    x = sim_pwrite64(m, bytes, n, to), e = errno;
    same(x, e, pwrite(r, bytes, n, to));
    return;
  case 2:
    x = sim_read(m, p, n), e = errno;
    same(x, e, read(r, q, n));
    break;
  case 3:
    x = sim_pread64(m, p, n, to), e = errno;
    same(x, e, pread(r, q, n, to));
    break;
  case 4:
    x = sim_ftruncate64(m, to), e = errno;
    same(x, e, ftruncate(r, to));
    return;
  case 5:
    x = sim_lseek64(m, to, sim_below(2) ? SEEK_SET : SEEK_END), e = errno;
    lseek(r, (off_t)x, SEEK_SET);
    return;
  case 6:
    x = sim_fstat64(m, &ms), e = errno;
    same_stat((int)x, e, &ms, fstat(r, &rs), &rs);
    return;
  case 7:
    x = sim_fchmod(m, sim_below(2) ? 0600 : 0640), e = errno;
    sim_fstat64(m, &ms);
    same(x, e, fchmod(r, ms.st_mode & 07777));
    return;
  default:
    x = sim_fsync(m), e = errno;
    same(x, e, fsync(r));
    return;
  }
  if (memcmp(p, q, n) != 0) differ("bytes", 0, 0);
}

static int by_name(const void* a, const void* b)
{
  return strcmp(*(char* const*)a, *(char* const*)b);
}

/* Compare the directories MODEL and REAL, and all below. */
static void same_tree(const char* model, const char* real)
{
  char           mp[4096], rp[4096], *mn[64], *rn[64];
  struct stat    ms, rs;
  struct dirent* e;
  DIR *          m = sim_opendir(model), *r = opendir(real);
  int            i, nm = 0, nr = 0;

  snprintf(at.did, sizeof at.did, "the tree %s", real);
  while (m && nm < 64 && (e = sim_readdir64(m)))
    if (e->d_name[0] != '.') mn[nm++] = strdup(e->d_name);
  while (r && nr < 64 && (e = readdir(r)))
    if (e->d_name[0] != '.') rn[nr++] = strdup(e->d_name);
  if (m) sim_closedir(m);
  if (r) closedir(r);
  if (nm != nr) differ("names", nm, nr);
  qsort(mn, (size_t)nm, sizeof *mn, by_name);
  qsort(rn, (size_t)nr, sizeof *rn, by_name);
  for (i = 0; i < nm && nm == nr; i++) {
    if (strcmp(mn[i], rn[i]) != 0) differ("name", i, i);
    below(mp, sizeof mp, model, mn[i]);
    below(rp, sizeof rp, real, rn[i]);
    same_stat(sim_lstat64(mp, &ms), 0, &ms, lstat(rp, &rs), &rs);
    if (S_ISDIR(rs.st_mode)) same_tree(mp, rp);
  }
  for (i = 0; i < nm; i++) free(mn[i]);
  for (i = 0; i < nr; i++) free(rn[i]);
}

int model_run(const char* dir, uint64_t seed, int calls)
{
  static process p;
  static fiber   f;
  int            i;

  umask(022);
  S.seed = seed;
  sim_reseed("model");
  S.kill_at = S.end_at = UINT64_MAX;
  p.alive = 1;
  p.heap.next = p.heap.prev = &p.heap;
  f.p = &p;
  S.me = &p;
  S.cur = &f;
  world_prefix = tree_new(0);
  tree_mkdir(world_prefix, "/p");
  memset(&at, 0, sizeof at);
  snprintf(at.top, sizeof at.top, "%s/%lu", dir, (unsigned long)seed);
  if (mkdir(at.top, 0755) < 0) {
    perror(at.top);
    return 1;
  }
  for (i = 0; i < MODEL_FILES; i++) at.model[i] = at.real[i] = -1;
  for (i = 0; i < calls && at.bad < 10; i++)
    if (sim_below(2)) model_names((int)sim_below(9));
    else model_bytes((int)sim_below(9));
  if (at.bad == 0) same_tree(MODEL_TOP, at.top);
  for (i = 0; i < MODEL_FILES; i++)
    if (at.real[i] >= 0) close(at.real[i]);
  if (at.bad) printf("seed %lu, after %d calls: the model is not %s\n", (unsigned long)seed, i, dir);
  files_close_all(&p);
  tree_free(world_prefix);
  world_prefix = NULL;
  return at.bad != 0;
}
