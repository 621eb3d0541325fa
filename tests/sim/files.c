/* ==== FILES =====================================================================================================
** The calls of the system on the trees of VFS: descriptors, locks, modes, space, and what goes wrong.
**
** Offers     sim_open64, sim_read and so on, for the calls of symbols.txt; files_close_all and files_open of sim.h
** Places     /pfs is the prefix, /shared a store that all nodes see; any other path is on the node of the caller.
** Faults     S.faults says which kinds happen, S.fault_rate how often; each is answered as POSIX allows, and what has
**            failed has changed nothing, but for a write that stops in the middle, a sync that fails: the bytes that it
**            was to write may be lost, although the program still sees them, and the next sync succeeds; and a change
**            of a name whose answer is lost (FAULT_ANSWER).
** A kill     in the middle of a write leaves a part of it.
** ================================================================================================================= */
#include "vfs.h"

#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

/* What was written to a pipe, of which the bytes from AT on were not read yet. */
typedef struct {
  int      ends, writers;
  process* reader;
  size_t   n, at, room;
  char*    p;
} pipe_of;

struct open_file {
  inode*   i; /* NULL: /dev/urandom, or */
  pipe_of* pipe;
  int      writes; /* to that; 0: reads from it */
  int      flags;
  uint64_t at;
  char*    path; /* with O_PATH, for names in this directory; else NULL */
};

tree *   world_node[1 << 17], *world_prefix, *world_shared;
uint64_t files_syncs;

/* ---- paths ---- */

static int path_is_below(const char* path, const char* top)
{
  size_t n = strlen(top);
  return strncmp(path, top, n) == 0 && (path[n] == '/' || path[n] == '\0');
}

static inode* path_top(const char** path)
{
  if (path_is_below(*path, "/pfs")) {
    *path += strlen("/pfs");
    if (S.me) S.me->prefix_calls++;
    S.now += S.prefix_latency;
    return world_prefix->root;
  }
  if (path_is_below(*path, "/shared")) {
    *path += strlen("/shared");
    return world_shared->root;
  }
  return world_node[S.me ? S.me->node : 0]->root;
}

/*
** The inode of PATH.  With LAST, the directory that has or would have it, and the last name; *LAST is NULL for the top
** of a tree.  NULL and errno on an error.
*/
static inode* path_find(const char* path, const char** last)
{
  inode*      i;
  size_t      n;
  const char* name;

  if (last) *last = NULL;
  if (path[0] != '/' && strncmp(path, ".", 1) != 0) {
    errno = ENOENT;
    return NULL;
  }
  if (path[0] == '.') i = path_find("/pfs/p", NULL), path++;
  else i = path_top(&path);
  for (;;) {
    path += strspn(path, "/");
    if (*path == '\0') return i;
    n = strcspn(path, "/");
    if (!i->is_dir) {
      errno = ENOTDIR;
      return NULL;
    }
    if (n == 1 && *path == '.') {
      path++;
      continue;
    }
    if (n > 255) {
      errno = ENAMETOOLONG;
      return NULL;
    }
    if (!(i->mode & 0100)) {
      errno = EACCES;
      return NULL;
    }
    name = name_of(path, n);
    path += n;
    if (last && path[strspn(path, "/")] == '\0') {
      *last = name;
      return i;
    }
    if (!(i = dir_child(i, name))) {
      errno = ENOENT;
      return NULL;
    }
  }
}

/* ---- faults, descriptors ---- */

/* Returns 1, with errno, if a fault of KIND happens now. */
static int fails(unsigned kind, int error)
{
  return sim_fails(kind, S.fault_rate, error);
}

/* The same for any call that changes something. */
static int change_fails(void)
{
  return fails(FAULT_EIO, EIO) || fails(FAULT_ENOSPC, ENOSPC);
}

/* A name in D was changed; the answer got lost, and a second request, if there was one, fails with AGAIN. */
static int answer_fails(const inode* d, int again)
{
  if (d->t != world_prefix || !sim_fails(FAULT_ANSWER, S.fault_rate * 8, EIO)) return 0;
  if (sim_below(2)) errno = again;
  return 1;
}

static uint64_t path_sum(const char* path)
{
  uint64_t h = 1469598103934665603u;

  for (; *path; path++) h = (h ^ (unsigned char)*path) * 1099511628211u;
  return h;
}

void files_prefix_back(void)
{
  if (!S.is_away) return;
  S.is_away = 0;
  if (dir_child(world_prefix->root, name_of("p", 1)) != NULL) {
    sim_violation("the prefix was made anew while it was away");
    return;
  }
  tree_rename(world_prefix, "away", "p");
}

/* The prefix is moved away, or comes back, if it is time to. */
static void prefix_moves(void)
{
  if (S.ops >= S.back_at) files_prefix_back();
  else if (!S.is_away && S.ops >= S.away_at) {
    sim_note("the prefix is moved away");
    S.faults_made++;
    S.is_away = 1;
    tree_rename(world_prefix, "p", "away");
  }
}

/* Every call on a file begins here. */
static void file_call(const char* what, uint64_t arg)
{
  sim_call(what, arg);
  if (S.faults & FAULT_AWAY) prefix_moves();
  S.me->os_calls++;
}

static int fd_new(inode* i, int flags)
{
  process* p = S.me;
  int      k, n;

  for (k = 3; k < p->files && p->file[k]; k++) continue;
  if (k >= p->files) {
    n = p->files ? 2 * p->files : 16;
    p->file = realloc(p->file, (size_t)n * sizeof *p->file);
    memset(p->file + p->files, 0, (size_t)(n - p->files) * sizeof *p->file);
    p->files = n;
  }
  p->file[k] = calloc(1, sizeof **p->file);
  p->file[k]->i = i;
  p->file[k]->flags = flags;
  if (i) i->refs++;
  return k;
}

static open_file* fd_get(int fd)
{
  open_file* o = fd >= 0 && fd < S.me->files ? S.me->file[fd] : NULL;

  if (!o) {
    sim_violation("process %d uses descriptor %d, which is not open", S.me->id, fd);
    errno = EBADF;
  }
  return o;
}

static void pipe_close(open_file* o)
{
  pipe_of* q = o->pipe;

  q->writers -= o->writes;
  fiber_tell(q->reader, q->reader);
  if (--q->ends > 0) return;
  free(q->p);
  free(q);
}

static void fd_close(process* p, int fd)
{
  open_file* o = p->file[fd];

  p->file[fd] = NULL;
  if (o->pipe) pipe_close(o);
  if (o->i && o->i->locked_by == o) o->i->locked_by = NULL;
  if (o->i) inode_release(o->i);
  free(o->path);
  free(o);
}

void files_close_all(process* p)
{
  int k;

  for (k = 0; k < p->files; k++)
    if (p->file[k]) fd_close(p, k);
}

int files_open(process* p)
{
  int k, n = 0;

  for (k = 0; k < p->files; k++) n += p->file[k] != NULL;
  return n;
}

/* ---- pipes ---- */

int files_pipe(int fds[2])
{
  pipe_of* q = calloc(1, sizeof *q);
  int      k;

  q->ends = 2;
  q->writers = 1;
  q->reader = S.me;
  for (k = 0; k < 2; k++) {
    fds[k] = fd_new(NULL, k ? O_WRONLY : O_RDONLY);
    S.me->file[fds[k]]->pipe = q;
    S.me->file[fds[k]]->writes = k;
  }
  return 0;
}

open_file* files_of(int fd)
{
  return fd >= 0 && fd < S.me->files ? S.me->file[fd] : NULL;
}

void files_inherit(process* p, int fd, open_file* o)
{
  process* me = S.me;

  if (!o || !o->pipe) return;
  S.me = p;
  if (p->files == 0) fd_close(p, fd_new(NULL, 0)); /* make room for some */
  p->file[fd] = calloc(1, sizeof **p->file);
  p->file[fd]->pipe = o->pipe;
  p->file[fd]->writes = o->writes;
  o->pipe->ends++;
  o->pipe->writers += o->writes;
  S.me = me;
}

int files_print(int fd, const char* text, size_t n)
{
  open_file* o = files_of(fd);
  pipe_of*   q = o ? o->pipe : NULL;

  if (!q) return 0;
  if (q->room < q->n + n) q->p = realloc(q->p, q->room = 2 * (q->n + n));
  memcpy(q->p + q->n, text, n);
  q->n += n;
  fiber_tell(q->reader, q->reader);
  return 1;
}

static ssize_t pipe_read(pipe_of* q, void* p, size_t n)
{
  while (q->at == q->n && q->writers > 0) fiber_wait(S.me, WORLD_SECOND);
  if (n > q->n - q->at) n = q->n - q->at;
  if (n > 0) memcpy(p, q->p + q->at, n);
  q->at += n;
  return (ssize_t)n;
}

int sim_poll(struct pollfd* fds, nfds_t n, int timeout)
{
  uint64_t end = S.now + (uint64_t)(timeout < 0 ? 1000000 : timeout) * (WORLD_SECOND / 1000);
  nfds_t   k;
  int      ready;

  sim_call("poll", n);
  for (;;) {
    for (k = 0, ready = 0; k < n; k++) {
      open_file* o = files_of(fds[k].fd);
      pipe_of*   q = o ? o->pipe : NULL;
      fds[k].revents = (short)(!q ? POLLNVAL : (q->at < q->n ? POLLIN : 0) | (q->writers == 0 ? POLLHUP : 0));
      ready += fds[k].revents != 0;
    }
    if (ready || S.now >= end) return ready;
    fiber_wait(S.me, end - S.now);
  }
}

/* ---- open, close, read, write ---- */

/* Make the file NAME of D. */
static inode* file_create(inode* d, const char* name, int mode)
{
  inode* i;

  if (!(d->mode & 0200)) {
    errno = EACCES;
    return NULL;
  }
  if (change_fails()) return NULL;
  i = inode_new(d->t, 0, mode);
  dir_put(d, name, i);
  return i;
}

int sim_open64(const char* path, int flags, ...)
{
  const char* name;
  inode *     d, *i;
  int         mode = 0, access = flags & O_ACCMODE, fd;

  if (flags & O_CREAT) {
    va_list ap;
    va_start(ap, flags);
    mode = va_arg(ap, int);
    va_end(ap);
  }
  file_call("open", path_sum(path) ^ (unsigned)flags);
  if (strcmp(path, "/dev/urandom") == 0) return fd_new(NULL, 0);
  if (fails(FAULT_SHORT, EINTR) || fails(FAULT_READ, EIO)) return -1;
  if (!(d = path_find(path, &name))) return -1;
  i = name ? dir_child(d, name) : d;
  if (i && (flags & O_CREAT) && (flags & O_EXCL)) errno = EEXIST;
  else if (i && i->is_dir && (access != O_RDONLY || flags & O_CREAT)) errno = EISDIR;
  else if (i && !i->is_dir && flags & O_DIRECTORY) errno = ENOTDIR;
  else if (i && ((access != O_WRONLY && !(i->mode & 0400)) || (access != O_RDONLY && !(i->mode & 0200))))
    errno = EACCES;
  else if (!i && !(flags & O_CREAT)) errno = ENOENT;
  else if (i || (i = file_create(d, name, mode))) {
    if (flags & O_TRUNC) i->kept = 0; /* it is written anew */
    if (flags & O_TRUNC && file_size(i) > 0) file_resize(i, 0);
    else if (flags & O_TRUNC) inode_touch(i);
    fd = fd_new(i, flags);
    if (i->is_dir) S.me->file[fd]->path = strdup(path);
    return fd;
  }
  return -1;
}

int sim_close(int fd)
{
  if (S.cur->before) return 0; /* the child's: the parent keeps its own */
  file_call("close", (uint64_t)fd);
  if (!fd_get(fd)) return -1;
  fd_close(S.me, fd);
  return fails(FAULT_CLOSE, EIO) ? -1 : 0;
}

/* Write N bytes of P at AT, or, if AT is negative, where the descriptor is. */
static ssize_t file_write(int fd, const void* p, size_t n, int64_t at)
{
  open_file* o;
  uint64_t   to;
  ssize_t    done;

  if (sim_dies_now() && n > 1 && fd >= 0 && fd < S.me->files && (o = S.me->file[fd]) && o->i) /* killed in the middle */
    file_put(o->i, p, (size_t)sim_below(n), o->flags & O_APPEND ? file_size(o->i) : at >= 0 ? (uint64_t)at : o->at);
  file_call("write", n ^ (uint64_t)at << 20);
  if (!(o = fd_get(fd))) return -1;
  if (!o->i || o->i->is_dir || (o->flags & O_ACCMODE) == O_RDONLY) {
    errno = EBADF;
    return -1;
  }
  to = o->flags & O_APPEND ? file_size(o->i) : at >= 0 ? (uint64_t)at : o->at; /* Linux appends in pwrite, too */
  if (fails(FAULT_SHORT, EINTR)) {
    if (n < 2 || sim_below(2)) return -1;
    n = 1 + sim_below(n - 1);
  }
  if (change_fails()) {
    if (n > 1 && sim_below(2)) file_put(o->i, p, (size_t)sim_below(n), to); /* a part may be there */
    return -1;
  }
  done = file_put(o->i, p, n, to);
  if (done > 0 && at < 0) o->at = to + (uint64_t)done;
  return done;
}

ssize_t sim_write(int fd, const void* p, size_t n)
{
  return file_write(fd, p, n, -1);
}

ssize_t sim_pwrite64(int fd, const void* p, size_t n, off_t at)
{
  return file_write(fd, p, n, at);
}

static ssize_t file_read(int fd, void* p, size_t n, int64_t at)
{
  open_file* o;
  uint64_t   from;
  size_t     k;

  file_call("read", n ^ (uint64_t)at << 20);
  if (!(o = fd_get(fd))) return -1;
  if (o->pipe) return pipe_read(o->pipe, p, n);
  if (!o->i) {
    for (k = 0; k < n; k++) ((unsigned char*)p)[k] = (unsigned char)sim_random();
    return (ssize_t)n;
  }
  if (o->i->is_dir || (o->flags & O_ACCMODE) == O_WRONLY) {
    errno = o->i->is_dir ? EISDIR : EBADF;
    return -1;
  }
  if (fails(FAULT_READ, EIO)) return -1;
  if (fails(FAULT_SHORT, EINTR)) {
    if (n < 2 || sim_below(2)) return -1;
    n = 1 + sim_below(n - 1);
  }
  from = at >= 0 ? (uint64_t)at : o->at;
  if (from >= file_size(o->i)) return 0;
  if (n > file_size(o->i) - from) n = (size_t)(file_size(o->i) - from);
  memcpy(p, o->i->now->p + from, n);
  if (at < 0) o->at = from + n;
  return (ssize_t)n;
}

ssize_t sim_read(int fd, void* p, size_t n)
{
  return file_read(fd, p, n, -1);
}

ssize_t sim_pread64(int fd, void* p, size_t n, off_t at)
{
  return file_read(fd, p, n, at);
}

int sim_ftruncate64(int fd, off_t size)
{
  open_file* o;

  file_call("ftruncate", (uint64_t)size);
  if (!(o = fd_get(fd))) return -1;
  if (!o->i || o->i->is_dir || (o->flags & O_ACCMODE) == O_RDONLY || size < 0) {
    errno = EINVAL;
    return -1;
  }
  return change_fails() ? -1 : file_resize(o->i, (uint64_t)size);
}

int sim_fsync(int fd)
{
  open_file* o;
  unsigned   rate;

  file_call("fsync", (uint64_t)fd);
  if (!(o = fd_get(fd))) return -1;
  files_syncs++;
  rate = S.fault_rate * (!o->i ? 1 : o->i->is_dir ? 8 : o->i->t == world_prefix ? 4 : 1); /* there are few of these */
  if (sim_fails(FAULT_FSYNC, rate, EIO)) {
    if (o->i && !o->i->is_dir && o->i->now != o->i->disk) o->i->lost = (int)sim_below(2);
    return -1;
  }
  if (o->i && o->i->is_dir) dir_sync(o->i);
  else if (o->i) file_sync(o->i);
  return 0;
}

off_t sim_lseek64(int fd, off_t at, int whence)
{
  open_file* o = fd_get(fd);
  off_t      size;

  if (!o || !o->i) return -1;
  size = (off_t)file_size(o->i);
  if (whence == SEEK_DATA && at >= size) {
    errno = ENXIO;
    return -1;
  }
  if (whence == SEEK_DATA) return at;
  if (whence == SEEK_END) at += size;
  if (whence == SEEK_CUR) at += (off_t)o->at;
  if (at < 0) {
    errno = EINVAL;
    return -1;
  }
  o->at = (uint64_t)at;
  return at;
}

int sim_sync_file_range(void)
{
  return 0;
}

/* ---- names ---- */

int sim_rename(const char* from, const char* to)
{
  const char *a, *b;
  inode *     d, *e, *i, *old;

  file_call("rename", path_sum(from) ^ path_sum(to) << 1);
  if (!(d = path_find(from, &a)) || !(e = path_find(to, &b))) return -1;
  i = a ? dir_child(d, a) : NULL;
  old = b ? dir_child(e, b) : NULL;
  if (d->t != e->t) errno = EXDEV;
  else if (!a || !b) errno = EBUSY;
  else if (!i) errno = ENOENT;
  else if (old == i) return 0;
  else if (!(d->mode & 0200) || !(e->mode & 0200)) errno = EACCES;
  else if (i->is_dir && dir_is_within(i, e)) errno = EINVAL;
  else if (old && old->is_dir && dir_is_within(old, d)) errno = ENOTEMPTY;
  else if (old && old->is_dir && !i->is_dir) errno = EISDIR;
  else if (old && !old->is_dir && i->is_dir) errno = ENOTDIR;
  else if (old && old->is_dir && old->dir.n) errno = ENOTEMPTY;
  else if (!change_fails()) {
    dir_move(d, a, e, b);
    if (d->t == world_prefix && S.kill_rename && --S.kill_rename == 0) S.kill_at = S.ops + 1 + sim_below(40);
    if (d->t != world_prefix && S.kill_mark == 1 && i->now && memmem(i->now->p, i->now->n, "LEAVING", 7) != NULL)
      S.kill_mark = 2, S.kill_at = S.ops + 1;
    return answer_fails(d, ENOENT) ? -1 : 0;
  }
  return -1;
}

int sim_link(const char* from, const char* to)
{
  const char* b;
  inode *     i, *e;

  file_call("link", path_sum(from));
  if (!(i = path_find(from, NULL)) || !(e = path_find(to, &b))) return -1;
  if (!b || dir_child(e, b)) errno = EEXIST;
  else if (i->t != e->t) errno = EXDEV;
  else if (i->is_dir) errno = EPERM;
  else if (!(e->mode & 0200)) errno = EACCES;
  else if (!change_fails()) {
    dir_put(e, b, i);
    return answer_fails(e, EEXIST) ? -1 : 0;
  }
  return -1;
}

static int name_remove(const char* path, int is_dir)
{
  const char* a;
  inode *     d, *i;

  file_call(is_dir ? "rmdir" : "unlink", path_sum(path));
  if (!(d = path_find(path, &a))) return -1;
  i = a ? dir_child(d, a) : NULL;
  if (!a) errno = EBUSY;
  else if (!i) errno = ENOENT;
  else if (i->is_dir != !!is_dir) errno = is_dir ? ENOTDIR : EISDIR;
  else if (is_dir && i->dir.n) errno = ENOTEMPTY;
  else if (!(d->mode & 0200)) errno = EACCES;
  else if (!fails(FAULT_EIO, EIO)) {
    dir_remove(d, a);
    return answer_fails(d, ENOENT) ? -1 : 0;
  } else i->kept = 1;
  return -1;
}

int sim_unlink(const char* path)
{
  return name_remove(path, 0);
}

int sim_rmdir(const char* path)
{
  return name_remove(path, 1);
}

int sim_mkdir(const char* path, mode_t mode)
{
  const char* a;
  inode*      d;

  file_call("mkdir", path_sum(path));
  if (!(d = path_find(path, &a))) return -1;
  if (!a || dir_child(d, a)) errno = EEXIST;
  else if (!(d->mode & 0200)) errno = EACCES;
  else if (!change_fails()) {
    dir_put(d, a, inode_new(d->t, 1, (int)mode));
    return answer_fails(d, EEXIST) ? -1 : 0;
  }
  return -1;
}

/* ---- names within a directory that is open with O_PATH ---- */

/* The path of NAME in the directory AT, in WHOLE unless it is NAME itself; NULL and errno if AT is not open. */
static const char* path_at(int at, const char* name, char* whole)
{
  open_file* o = *name == '/' || at == AT_FDCWD ? NULL : fd_get(at);

  if (*name == '/' || at == AT_FDCWD) return name;
  if (!o) return NULL;
  snprintf(whole, PATH_MAX, "%s/%s", o->path, name);
  return whole;
}

/* O_PATH changes nothing, and is no call of its own to the fates: many such calls precede a change. */
int sim_openat64(int at, const char* name, int flags, ...)
{
  char     whole[PATH_MAX];
  inode*   i;
  int      mode = 0, fd;
  uint64_t now = S.now, calls = S.me->prefix_calls;
  va_list  ap;

  if (flags & O_CREAT) {
    va_start(ap, flags);
    mode = va_arg(ap, int);
    va_end(ap);
  }
  if (!(name = path_at(at, name, whole))) return -1;
  if (!(flags & O_PATH)) return sim_open64(name, flags, mode);
  i = path_find(name, NULL);
  S.now = now;
  S.me->prefix_calls = calls;
  if (!i) return -1;
  if (!i->is_dir) {
    errno = ENOTDIR;
    return -1;
  }
  fd = fd_new(i, flags);
  S.me->file[fd]->path = strdup(name);
  return fd;
}

int sim_mkdirat(int at, const char* name, mode_t mode)
{
  char whole[PATH_MAX];

  return (name = path_at(at, name, whole)) ? sim_mkdir(name, mode) : -1;
}

int sim_unlinkat(int at, const char* name, int flags)
{
  char whole[PATH_MAX];

  return (name = path_at(at, name, whole)) ? name_remove(name, flags & AT_REMOVEDIR) : -1;
}

int sim_renameat(int x, const char* from, int y, const char* to)
{
  char a[PATH_MAX], b[PATH_MAX];

  return (from = path_at(x, from, a)) && (to = path_at(y, to, b)) ? sim_rename(from, to) : -1;
}

int sim_linkat(int x, const char* from, int y, const char* to)
{
  char a[PATH_MAX], b[PATH_MAX];

  return (from = path_at(x, from, a)) && (to = path_at(y, to, b)) ? sim_link(from, to) : -1;
}

/* There are no links. */
ssize_t sim_readlinkat(void)
{
  errno = EINVAL;
  return -1;
}

/* ---- what is known of a file ---- */

static void file_stat(const inode* i, struct stat* st)
{
  memset(st, 0, sizeof *st);
  st->st_dev = (dev_t)(i->t->id + 10);
  st->st_ino = (ino_t)i->number;
  st->st_mode = (mode_t)((i->is_dir ? S_IFDIR : S_IFREG) | i->mode);
  st->st_nlink = i->is_dir ? 2 : (nlink_t)i->nlink;
  st->st_uid = st->st_gid = 1000;
  st->st_size = i->is_dir ? 4096 : (off_t)file_size(i);
  st->st_blksize = 4096;
  st->st_blocks = (st->st_size + 511) / 512;
  st->st_mtim.tv_sec = (time_t)(i->mtime / 1000000000u);
  st->st_mtim.tv_nsec = (long)(i->mtime % 1000000000u);
}

int sim_stat64(const char* path, struct stat* st)
{
  inode* i;

  file_call("stat", path_sum(path));
  if (!(i = path_find(path, NULL))) return -1;
  if (fails(FAULT_READ, EIO)) return -1;
  file_stat(i, st);
  return 0;
}

int sim_lstat64(const char* path, struct stat* st)
{
  return sim_stat64(path, st);
}

int sim_fstatat64(int at, const char* name, struct stat* st, int flags)
{
  char whole[PATH_MAX];

  (void)flags;
  return (name = path_at(at, name, whole)) ? sim_lstat64(name, st) : -1;
}

/* Of a descriptor that is not open, too: who wants to know what it has inherited asks for all. */
int sim_fstat64(int fd, struct stat* st)
{
  open_file* o = fd >= 0 && fd < S.me->files ? S.me->file[fd] : NULL;

  memset(st, 0, sizeof *st);
  st->st_mode = S_IFCHR;
  if (o && o->i) file_stat(o->i, st);
  if (o) return 0;
  errno = EBADF;
  return -1;
}

int sim_access(const char* path, int mode)
{
  inode* i;

  file_call("access", path_sum(path));
  if (!(i = path_find(path, NULL))) return -1;
  if (((unsigned)i->mode >> 6 & (unsigned)mode) == (unsigned)mode) return 0;
  errno = EACCES;
  return -1;
}

int sim_fchmod(int fd, mode_t mode)
{
  open_file* o;

  file_call("fchmod", mode);
  if (!(o = fd_get(fd))) return -1;
  if (fails(FAULT_EIO, EIO)) return -1;
  if (o->i) o->i->mode = (int)(mode & 07777);
  return 0;
}

/* No rank has a umask that takes rights from itself. */
int sim_fchmodat(int at, const char* name, mode_t mode, int flags)
{
  (void)at, (void)name, (void)mode, (void)flags;
  file_call("fchmodat", mode);
  errno = EPERM;
  return -1;
}

int sim_fchown(int fd, uid_t user, gid_t group)
{
  (void)user, (void)group;
  file_call("fchown", (uint64_t)fd);
  return fd_get(fd) ? 0 : -1;
}

/* No file here has a list of users. */
ssize_t sim_fgetxattr(int fd, const char* name, void* value, size_t size)
{
  (void)fd, (void)name, (void)value, (void)size;
  errno = ENODATA;
  return -1;
}

int sim_futimens(int fd, const struct timespec times[2])
{
  open_file* o;

  file_call("futimens", (uint64_t)fd);
  if (!(o = fd_get(fd))) return -1;
  if (o->i) o->i->mtime = (uint64_t)times[1].tv_sec * 1000000000u + (uint64_t)times[1].tv_nsec;
  return 0;
}

static open_file somebody;
static uint64_t  somebody_until;

void files_hold(tree* t, const char* path, unsigned seconds)
{
  if (!tree_lock(t, path, &somebody)) return;
  somebody_until = S.now + seconds * WORLD_SECOND;
  sim_note("somebody holds the lock %s for %u s", path, seconds);
}

int sim_flock(int fd, int op)
{
  open_file* o;

  file_call("flock", (uint64_t)op);
  if (!(o = fd_get(fd)) || !o->i) return -1;
  if (op & LOCK_UN) {
    if (o->i->locked_by == o) o->i->locked_by = NULL;
    return 0;
  }
  if (!(op & LOCK_NB)) sim_violation("process %d waits in flock, and cannot say so after a while", S.me->id);
  if (o->i->locked_by == &somebody && S.now >= somebody_until) o->i->locked_by = NULL;
  if (o->i->locked_by && o->i->locked_by != o) {
    errno = EWOULDBLOCK;
    return -1;
  }
  o->i->locked_by = o;
  return 0;
}

int sim_fcntl64(int fd, int op, ...)
{
  (void)op;
  return fd <= 2 || fd_get(fd) ? 0 : -1;
}

int sim_statvfs64(const char* path, struct statvfs* v)
{
  inode*   i;
  uint64_t room;

  file_call("statvfs", path_sum(path));
  if (!(i = path_find(path, NULL))) return -1;
  room = i->t->limit > i->t->used ? i->t->limit - i->t->used : 0;
  if (room > (uint64_t)1 << 40) room = (uint64_t)1 << 40;
  memset(v, 0, sizeof *v);
  v->f_bsize = v->f_frsize = 512;
  v->f_bfree = v->f_bavail = room / 512;
  v->f_blocks = v->f_bfree + i->t->used / 512 + 1;
  return 0;
}

char* sim_getcwd(char* p, size_t n)
{
  snprintf(p, n, "/pfs/p");
  return p;
}

char* sim_realpath(const char* path, char* out)
{
  inode* i;
  size_t n;

  file_call("realpath", path_sum(path));
  if (!(i = path_find(path, NULL))) return NULL;
  (void)i;
  if (path[0] == '.') path = "/pfs/p";
  n = strlen(path);
  if (!out && !(out = sim_process_alloc(S.me, n + 1))) return NULL;
  memcpy(out, path, n + 1);
  while (n > 1 && out[n - 1] == '/') out[--n] = '\0';
  return out;
}

ssize_t sim_readlink(const char* path)
{
  errno = path_find(path, NULL) ? EINVAL : errno;
  return -1;
}

int sim_remove(const char* path)
{
  inode* i = path_find(path, NULL);

  return i == NULL ? -1 : name_remove(path, i->is_dir);
}

int sim_posix_fadvise64(void)
{
  return 0;
}

/* ---- directories: read as they are when they are opened, in any order ---- */

typedef struct {
  uint32_t      n, at;
  struct dirent e;
  int           fd; /* that it owns, or -1 */
  const char*   name[];
} reader;

DIR* sim_opendir(const char* path)
{
  inode*       i;
  reader*      d;
  const char **list, *t;
  uint32_t     k, j;

  file_call("opendir", path_sum(path));
  if (!(i = path_find(path, NULL))) return NULL;
  if (!i->is_dir) errno = ENOTDIR;
  else if (!(i->mode & 0400)) errno = EACCES;
  else if (!fails(FAULT_READ, EIO)) {
    if (!(d = sim_process_alloc(S.me, sizeof *d + (i->dir.n + 2) * sizeof *d->name))) return NULL;
    memset(d, 0, sizeof *d);
    d->fd = -1;
    d->n = i->dir.n + 2;
    d->name[0] = ".";
    d->name[1] = "..";
    list = dir_sorted(i);
    memcpy(d->name + 2, list, i->dir.n * sizeof *list);
    free(list);
    for (k = d->n - 1; k > 0; k--) {
      j = (uint32_t)sim_below(k + 1);
      t = d->name[k];
      d->name[k] = d->name[j];
      d->name[j] = t;
    }
    return (DIR*)(void*)d;
  }
  return NULL;
}

DIR* sim_fdopendir(int fd)
{
  open_file* o = fd >= 0 && fd < S.me->files ? S.me->file[fd] : NULL;
  DIR*       d = o ? sim_opendir(o->path) : NULL;

  if (d) ((reader*)(void*)d)->fd = fd;
  return d;
}

struct dirent* sim_readdir64(DIR* p)
{
  reader* d = (reader*)(void*)p;

  if (sim_fails(FAULT_LIST, S.fault_rate * 8, EIO)) return NULL; /* there are few of these */
  if (d->at == d->n) return NULL;
  snprintf(d->e.d_name, sizeof d->e.d_name, "%s", d->name[d->at++]);
  return &d->e;
}

int sim_closedir(DIR* p)
{
  reader* d = (reader*)(void*)p;

  if (d->fd >= 0) sim_close(d->fd);
  sim_process_free(S.me, p);
  return 0;
}

/* ---- streams ---- */

typedef struct {
  inode*   i;
  uint64_t at;
  int      append;
} stream;

static ssize_t stream_read(void* cookie, char* p, size_t n)
{
  stream*  s = cookie;
  uint64_t size = file_size(s->i);

  if (s->at >= size) return 0;
  if (n > size - s->at) n = (size_t)(size - s->at);
  memcpy(p, s->i->now->p + s->at, n);
  s->at += n;
  return (ssize_t)n;
}

static ssize_t stream_write(void* cookie, const char* p, size_t n)
{
  stream* s = cookie;
  ssize_t done;

  if (change_fails()) return 0;
  done = file_put(s->i, p, n, s->append ? file_size(s->i) : s->at);
  if (done > 0) s->at += (uint64_t)done;
  return done > 0 ? done : 0;
}

static int stream_close(void* cookie)
{
  stream* s = cookie;

  inode_release(s->i);
  free(s);
  return 0;
}

/* A stream of the file I, from AT on. */
static FILE* stream_open(inode* i, uint64_t at, const char* mode)
{
  static const cookie_io_functions_t calls = {stream_read, stream_write, NULL, stream_close};
  stream*                            s = calloc(1, sizeof *s);

  s->i = i;
  s->at = at;
  s->append = mode[0] == 'a';
  i->refs++;
  return fopencookie(s, mode[0] == 'r' ? "r" : mode[0] == 'w' ? "w" : "a", calls);
}

/* The stream has the descriptor from now on: it lives as long as the stream, in which it is not needed. */
FILE* sim_fdopen(int fd, const char* mode)
{
  open_file* o = fd_get(fd);
  FILE*      f;

  file_call("fdopen", (uint64_t)fd);
  if (!o || !o->i || fails(FAULT_READ, EIO)) return NULL;
  f = stream_open(o->i, o->at, mode);
  sim_close(fd);
  return f;
}

FILE* sim_fopen64(const char* path, const char* mode)
{
  const char* name;
  inode *     d, *i;

  file_call("fopen", path_sum(path));
  if (fails(FAULT_READ, EIO) || !(d = path_find(path, &name))) return NULL;
  i = name ? dir_child(d, name) : d;
  if (i && i->is_dir) errno = EISDIR;
  else if (!i && mode[0] == 'r') errno = ENOENT;
  else if (i || (i = file_create(d, name, 0666))) {
    if (mode[0] == 'w' && file_size(i) > 0) file_resize(i, 0);
    return stream_open(i, 0, mode);
  }
  return NULL;
}

void* sim_realloc(void* p, size_t n);

/* As the one of libc, which would not take the memory of a process. */
ssize_t sim___getdelim(char** line, size_t* room, int end, FILE* f)
{
  size_t n = 0;
  char*  p;
  int    c;

  while ((c = fgetc(f)) != EOF) {
    if (n + 2 > *room || *line == NULL) {
      if (!(p = sim_realloc(*line, 2 * n + 128))) return -1;
      *line = p;
      *room = 2 * n + 128;
    }
    (*line)[n++] = (char)c;
    if (c == end) break;
  }
  if (n == 0) return -1;
  (*line)[n] = '\0';
  return (ssize_t)n;
}

/* ---- glob ---- */

static void* glob_opendir(const char* path)
{
  return sim_opendir(path);
}

static struct dirent* glob_readdir(void* d)
{
  return sim_readdir64(d);
}

static void glob_closedir(void* d)
{
  sim_closedir(d);
}

int sim_glob64(const char* pattern, int flags, int (*error)(const char*, int), glob_t* found)
{
  found->gl_opendir = glob_opendir;
  found->gl_readdir = glob_readdir;
  found->gl_closedir = glob_closedir;
  found->gl_stat = sim_stat64;
  found->gl_lstat = sim_lstat64;
  return glob(pattern, flags | GLOB_ALTDIRFUNC, error, found);
}
