/* trace.c - the functions of trace.h.  Included behind the library, whose table of calls they replace. */
#include <sched.h>

#include "mpi_test.h"
#include "trace.h"

#define TRACE_FDS 4096

static struct {
  scr_os_table os; /* the real calls */
  char         dir[700];
  int          log;
  MPI_Win      win;
  int*         shared;          /* by all ranks: 1 while one of them makes a call; how many files were opened */
  int          file[TRACE_FDS]; /* the number of the open that gave a descriptor; 0: not below the directory */
} trace;

/* The path below the directory; NULL: it is not there. */
static const char* trace_below(const char* path)
{
  size_t n = strlen(trace.dir);

  if (strncmp(path, trace.dir, n) != 0 || (path[n] != '/' && path[n] != '\0')) return NULL;
  return path[n] == '/' ? path + n + 1 : path + n;
}

static void trace_lock(void)
{
  while (__atomic_exchange_n(&trace.shared[0], 1, __ATOMIC_ACQUIRE)) sched_yield();
}

/* The end of a call that returned RC: it is logged, if it succeeded.  Returns RC. */
static ssize_t trace_made(ssize_t rc, trace_call* c, const char* path, const void* data)
{
  int    err = errno;
  size_t n = sizeof *c + (size_t)c->bytes;
  char*  line;

  if (path != NULL) c->path_bytes = (int)strlen(path);
  n += (size_t)c->path_bytes;
  if (rc >= 0) {
    line = (char*)malloc(n);
    c->rank = rank;
    memcpy(line, c, sizeof *c);
    if (path != NULL) memcpy(line + sizeof *c, path, (size_t)c->path_bytes);
    if (c->bytes > 0) memcpy(line + n - c->bytes, data, (size_t)c->bytes);
    CHECK(write(trace.log, line, n) == (ssize_t)n, "cannot write the log: %s", strerror(errno));
    free(line);
  }
  __atomic_store_n(&trace.shared[0], 0, __ATOMIC_RELEASE);
  errno = err;
  return rc;
}

static int trace_file(int fd)
{
  return fd >= 0 && fd < TRACE_FDS ? trace.file[fd] : 0;
}

static int trace_open(const char* path, int flags, mode_t mode)
{
  trace_call c = {TRACE_OPEN, 0, 0, flags, 0, 0, 0};
  int        fd;

  if (trace_below(path) == NULL) return trace.os.open(path, flags, mode);
  trace_lock();
  fd = trace.os.open(path, flags, mode);
  CHECK(fd < TRACE_FDS, "descriptor %d", fd);
  if (fd >= 0 && fd < TRACE_FDS) c.file = trace.file[fd] = ++trace.shared[1];
  return (int)trace_made(fd, &c, trace_below(path), NULL);
}

static int trace_close(int fd)
{
  if (trace_file(fd)) trace.file[fd] = 0; /* before another thread opens one of the same number */
  return trace.os.close(fd);
}

static ssize_t trace_write(int fd, const void* buf, size_t n)
{
  trace_call c = {TRACE_WRITE, 0, trace_file(fd), 0, 0, 0, 0};
  ssize_t    k;

  if (c.file == 0) return trace.os.write(fd, buf, n);
  trace_lock();
  k = trace.os.write(fd, buf, n);
  if (k > 0) c.bytes = (int)k;
  c.at = lseek(fd, 0, SEEK_CUR) - c.bytes;
  return trace_made(k, &c, NULL, buf);
}

static ssize_t trace_pwrite(int fd, const void* buf, size_t n, off_t offset)
{
  trace_call c = {TRACE_WRITE, 0, trace_file(fd), 0, offset, 0, 0};
  ssize_t    k;

  if (c.file == 0) return trace.os.pwrite(fd, buf, n, offset);
  trace_lock();
  k = trace.os.pwrite(fd, buf, n, offset);
  if (k > 0) c.bytes = (int)k;
  return trace_made(k, &c, NULL, buf);
}

static int trace_ftruncate(int fd, off_t size)
{
  trace_call c = {TRACE_TRUNCATE, 0, trace_file(fd), 0, size, 0, 0};

  if (c.file == 0) return trace.os.ftruncate(fd, size);
  trace_lock();
  return (int)trace_made(trace.os.ftruncate(fd, size), &c, NULL, NULL);
}

static int trace_fsync(int fd)
{
  trace_call c = {TRACE_FSYNC, 0, trace_file(fd), 0, 0, 0, 0};

  if (c.file == 0) return 0;
  trace_lock();
  return (int)trace_made(0, &c, NULL, NULL);
}

static int trace_rename(const char* from, const char* to)
{
  trace_call  c = {TRACE_RENAME, 0, 0, 0, 0, 0, 0};
  const char* below = trace_below(to);

  CHECK((below == NULL) == (trace_below(from) == NULL), "%s moves to %s", from, to);
  if (below == NULL) return trace.os.rename(from, to);
  c.bytes = (int)strlen(below);
  trace_lock();
  return (int)trace_made(trace.os.rename(from, to), &c, trace_below(from), below);
}

static int trace_rename_of(const char* from, const char* to, uid_t user)
{
  return user == 0 ? trace_rename(from, to) : trace.os.rename_of(from, to, user);
}

static int trace_unlink(const char* path)
{
  trace_call c = {TRACE_UNLINK, 0, 0, 0, 0, 0, 0};

  if (trace_below(path) == NULL) return trace.os.unlink(path);
  trace_lock();
  return (int)trace_made(trace.os.unlink(path), &c, trace_below(path), NULL);
}

static int trace_unlink_of(const char* path, uid_t user)
{
  return user == 0 ? trace_unlink(path) : trace.os.unlink_of(path, user);
}

static int trace_os_mkdir(const char* path, mode_t mode)
{
  trace_call c = {TRACE_MKDIR, 0, 0, 0, 0, 0, 0};

  if (trace_below(path) == NULL) return trace.os.mkdir(path, mode);
  trace_lock();
  return (int)trace_made(trace.os.mkdir(path, mode), &c, trace_below(path), NULL);
}

static int trace_rmdir(const char* path)
{
  trace_call c = {TRACE_RMDIR, 0, 0, 0, 0, 0, 0};

  if (trace_below(path) == NULL) return trace.os.rmdir(path);
  trace_lock();
  return (int)trace_made(trace.os.rmdir(path), &c, trace_below(path), NULL);
}

void trace_note(const char* format, ...)
{
  trace_call c = {TRACE_NOTE, 0, 0, 0, 0, 0, 0};
  char       text[200];
  va_list    ap;

  va_start(ap, format);
  vsnprintf(text, sizeof text, format, ap);
  va_end(ap);
  trace_lock();
  trace_made(0, &c, text, NULL);
}

void trace_mkdir(const char* path)
{
  CHECK(scr_os.mkdir(path, 0755) == 0, "mkdir %s: %s", path, strerror(errno));
}

void trace_begin(const char* dir, const char* log)
{
  MPI_Aint size;
  int      unit;
  void *   mine, *all;

  memset(&trace, 0, sizeof trace);
  snprintf(trace.dir, sizeof trace.dir, "%s", dir);
  MPI_Win_allocate_shared(rank == 0 ? 2 * (MPI_Aint)sizeof(int) : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mine,
                          &trace.win);
  MPI_Win_shared_query(trace.win, 0, &size, &unit, &all);
  trace.shared = (int*)all;
  if (rank == 0) memset(all, 0, 2 * sizeof(int));
  trace.log = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
  CHECK(trace.log >= 0, "cannot create %s: %s", log, strerror(errno));
  trace.os = scr_os;
  scr_os.open = trace_open;
  scr_os.close = trace_close;
  scr_os.write = trace_write;
  scr_os.pwrite = trace_pwrite;
  scr_os.ftruncate = trace_ftruncate;
  scr_os.fsync = trace_fsync;
  scr_os.rename = trace_rename;
  scr_os.rename_of = trace_rename_of;
  scr_os.unlink = trace_unlink;
  scr_os.unlink_of = trace_unlink_of;
  scr_os.mkdir = trace_os_mkdir;
  scr_os.rmdir = trace_rmdir;
  MPI_Barrier(MPI_COMM_WORLD);
}

void trace_end(void)
{
  MPI_Barrier(MPI_COMM_WORLD);
  scr_os = trace.os;
  close(trace.log);
  MPI_Win_free(&trace.win);
}
