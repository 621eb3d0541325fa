/* fault.c - the functions of fault.h.  Included behind the library, whose table of calls they replace. */
#include <fnmatch.h>
#include <limits.h>
#include <signal.h>

#include "fault.h"

#define FAULT_KINDS 16

static struct {
  int         set;         /* the entries of scr_os are replaced */
  int         mode;        /* FAULT_FAIL and so on */
  unsigned    calls;       /* that are concerned */
  int         err;         /* their errno */
  int         skip;        /* calls that are still to pass */
  int         left;        /* calls that are then to be struck */
  const char *base, *part; /* of the paths that are concerned */
  int (*hook)(const char* path);
  const char* name;                                  /* a rename to such a name kills; NULL: none does */
  void (*at)(int done);                              /* and this is told of it */
  const int* dead;                                   /* all calls fail; NULL: they never do */
  int        seen[FAULT_KINDS], struck[FAULT_KINDS]; /* by call */
} fault;

static scr_os_table fault_os; /* the real calls; a thread may be in one while the next fault is put in place */

static int fault_kind(unsigned call)
{
  int i = 0;

  while ((call >>= 1) != 0) i++;
  return i;
}

/* 1 when CALL, on PATH or on FD, is struck; errno is then set. */
static int fault_strikes(unsigned call, const char* path, int fd)
{
  char name[SCR_MAX_FILENAME], link[64];
  int  kind = fault_kind(call), err;

  if (fault.dead != NULL && __atomic_load_n(fault.dead, __ATOMIC_ACQUIRE)) {
    errno = EIO;
    return 1;
  }
  if ((fault.calls & call) == 0) return 0;
  if (path == NULL && (fault.base != NULL || fault.hook != NULL)) { /* only Linux tells the path of a descriptor */
    ssize_t n;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    n = readlink(link, name, sizeof name - 1);
    name[n < 0 ? 0 : n] = '\0';
    path = name;
  }
  if (fault.base != NULL && (strstr(path, fault.base) == NULL || strstr(path, fault.part) == NULL)) return 0;
  __atomic_add_fetch(&fault.seen[kind], 1, __ATOMIC_RELAXED); /* threads copy */
  if (fault.mode == FAULT_COUNT && fault.hook == NULL) return 0;
  if (fault.hook != NULL) {
    if ((err = fault.hook(path)) == 0) return 0;
  } else {
    if ((fault.mode == FAULT_SHORT || fault.mode == FAULT_TORN) && (call & FAULT_TRANSFERS) == 0) return 0;
    if (__atomic_fetch_sub(&fault.skip, 1, __ATOMIC_RELAXED) > 0) return 0;
    if (__atomic_fetch_sub(&fault.left, 1, __ATOMIC_RELAXED) <= 0) return 0;
    if (fault.mode == FAULT_KILL && (call & FAULT_TRANSFERS) == 0) kill(getpid(), SIGKILL);
    err = fault.err;
    if (err == 0)
      err = call & (FAULT_CREATE | FAULT_WRITE | FAULT_PWRITE | FAULT_FTRUNCATE | FAULT_MKDIR) ? ENOSPC : EIO;
  }
  __atomic_add_fetch(&fault.struck[kind], 1, __ATOMIC_RELAXED);
  errno = err;
  return 1;
}

/*
** How many of the N bytes of a transfer are moved; it fails when there are none.  *STRUCK tells whether it is struck.
*/
static size_t fault_part(unsigned call, int fd, size_t n, int* struck)
{
  *struck = fault_strikes(call, NULL, fd);
  if (!*struck) return n;
  if (fault.hook != NULL || fault.mode == FAULT_FAIL || fault.mode == FAULT_DEAD) return 0;
  return fault.mode == FAULT_TORN && fault_struck(FAULT_ALL) > 1 ? 0 : (n + 1) / 2;
}

/* The end of a transfer of which K bytes were moved. */
static ssize_t fault_moved(int struck, ssize_t k)
{
  if (struck && fault.mode == FAULT_KILL) kill(getpid(), SIGKILL);
  return k;
}

static int fault_open(const char* path, int flags, mode_t mode)
{
  return fault_strikes(flags & O_CREAT ? FAULT_CREATE : FAULT_OPEN, path, -1) ? -1 : fault_os.open(path, flags, mode);
}

static int fault_close(int fd)
{
  int err = fault_strikes(FAULT_CLOSE, NULL, fd) ? errno : 0, rc = fault_os.close(fd);

  if (err != 0) errno = err;
  return err != 0 ? -1 : rc;
}

static ssize_t fault_read(int fd, void* buf, size_t n)
{
  int    struck;
  size_t k = fault_part(FAULT_READ, fd, n, &struck);

  return fault_moved(struck, k == 0 && n > 0 ? -1 : fault_os.read(fd, buf, k));
}

static ssize_t fault_pread(int fd, void* buf, size_t n, off_t offset)
{
  int    struck;
  size_t k = fault_part(FAULT_PREAD, fd, n, &struck);

  return fault_moved(struck, k == 0 && n > 0 ? -1 : fault_os.pread(fd, buf, k, offset));
}

static ssize_t fault_write(int fd, const void* buf, size_t n)
{
  int    struck;
  size_t k = fault_part(FAULT_WRITE, fd, n, &struck);

  return fault_moved(struck, k == 0 && n > 0 ? -1 : fault_os.write(fd, buf, k));
}

static ssize_t fault_pwrite(int fd, const void* buf, size_t n, off_t offset)
{
  int    struck;
  size_t k = fault_part(FAULT_PWRITE, fd, n, &struck);

  return fault_moved(struck, k == 0 && n > 0 ? -1 : fault_os.pwrite(fd, buf, k, offset));
}

static int fault_ftruncate(int fd, off_t size)
{
  return fault_strikes(FAULT_FTRUNCATE, NULL, fd) ? -1 : fault_os.ftruncate(fd, size);
}

static int fault_fsync(int fd)
{
  return fault_strikes(FAULT_FSYNC, NULL, fd) ? -1 : fault_os.fsync(fd);
}

/* 1 when the rename to the path TO is the one that kills. */
static int fault_rename_kills_now(const char* to)
{
  const char* slash = strrchr(to, '/');

  if (fault.name == NULL || strstr(to, fault.base) == NULL) return 0;
  if (fnmatch(fault.name, slash != NULL ? slash + 1 : to, 0) != 0) return 0;
  return __atomic_sub_fetch(&fault.skip, 1, __ATOMIC_RELAXED) == 0;
}

static int fault_rename(const char* from, const char* to)
{
  int rc;

  if (fault_rename_kills_now(to)) {
    fault.at(0);
    if (fault_strikes(0, to, -1)) return -1;
    rc = fault_os.rename(from, to);
    fault.at(1);
    return rc;
  }
  return fault_strikes(FAULT_RENAME, to, -1) ? -1 : fault_os.rename(from, to);
}

static int fault_rename_of(const char* from, const char* to, uid_t user)
{
  return user == 0 ? fault_rename(from, to) : fault_os.rename_of(from, to, user);
}

static int fault_link(const char* from, const char* to)
{
  return fault_strikes(FAULT_LINK, to, -1) ? -1 : fault_os.link(from, to);
}

static int fault_unlink(const char* path)
{
  return fault_strikes(FAULT_UNLINK, path, -1) ? -1 : fault_os.unlink(path);
}

static int fault_unlink_of(const char* path, uid_t user)
{
  return user == 0 ? fault_unlink(path) : fault_os.unlink_of(path, user);
}

static int fault_mkdir(const char* path, mode_t mode)
{
  return fault_strikes(FAULT_MKDIR, path, -1) ? -1 : fault_os.mkdir(path, mode);
}

static int fault_rmdir(const char* path)
{
  return fault_strikes(FAULT_RMDIR, path, -1) ? -1 : fault_os.rmdir(path);
}

static int fault_flock(int fd, int op)
{
  return fault_strikes(FAULT_FLOCK, NULL, fd) ? -1 : fault_os.flock(fd, op);
}

static int fault_lstat(const char* path, struct stat* st)
{
  return fault_strikes(FAULT_LSTAT, path, -1) ? -1 : fault_os.lstat(path, st);
}

/* Replace the entries, for a fault that strikes nothing as yet. */
static void fault_set(unsigned calls)
{
  fault_end();
  memset(&fault, 0, sizeof fault);
  fault.set = 1;
  fault_os = scr_os;
  fault.mode = FAULT_COUNT;
  fault.calls = calls;
  scr_os.open = fault_open;
  scr_os.close = fault_close;
  scr_os.read = fault_read;
  scr_os.pread = fault_pread;
  scr_os.write = fault_write;
  scr_os.pwrite = fault_pwrite;
  scr_os.ftruncate = fault_ftruncate;
  scr_os.fsync = fault_fsync;
  scr_os.rename = fault_rename;
  scr_os.rename_of = fault_rename_of;
  scr_os.link = fault_link;
  scr_os.unlink = fault_unlink;
  scr_os.unlink_of = fault_unlink_of;
  scr_os.mkdir = fault_mkdir;
  scr_os.rmdir = fault_rmdir;
  scr_os.flock = fault_flock;
  scr_os.lstat = fault_lstat;
}

void fault_at(int mode, unsigned calls, int err, int n)
{
  fault_set(calls);
  fault.mode = mode;
  fault.err = err;
  fault.skip = n - 1;
  fault.left = mode == FAULT_DEAD || mode == FAULT_TORN ? INT_MAX : 1;
}

void fault_below(const char* base)
{
  fault.base = base;
  fault.part = "";
}

void fault_on(unsigned calls, const char* base, const char* part, int n)
{
  fault_set(calls);
  fault.mode = FAULT_FAIL;
  fault.base = base;
  fault.part = part;
  fault.left = n;
}

void fault_watch(unsigned calls, const char* base, const char* part, int (*hook)(const char* path))
{
  fault_set(calls);
  fault.base = base;
  fault.part = part;
  fault.hook = hook;
}

void fault_rename_kills(const char* base, const char* name, int n, void (*at)(int done), const int* dead)
{
  fault_set(0);
  fault.mode = FAULT_DEAD;
  fault.base = base;
  fault.name = name;
  fault.skip = n;
  fault.at = at;
  fault.dead = dead;
}

int fault_end(void)
{
  if (fault.set) scr_os = fault_os;
  fault.set = 0;
  return fault_struck(FAULT_ALL);
}

static int fault_sum(const int* by_kind, unsigned calls)
{
  int i, n = 0;

  for (i = 0; i < FAULT_KINDS; i++)
    if (calls >> i & 1) n += __atomic_load_n(&by_kind[i], __ATOMIC_RELAXED); /* threads may go on */
  return n;
}

int fault_struck(unsigned calls)
{
  return fault_sum(fault.struck, calls);
}

int fault_seen(unsigned calls)
{
  return fault_sum(fault.seen, calls);
}
