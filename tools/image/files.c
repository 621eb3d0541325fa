/* ==== FILES =============================================================================================
** The descriptors that the program has opened: an image tells which files they are, how large these are and how far
** they were read or written; a restart opens them again, and cuts off what was written after the image.
**
** Uses       ranges.c (who calls), heap.c, threads.c (the lock), agree.c (a barrier)
** Offers     img_files_begin, img_files_objection, img_files_save, img_files_resumed, img_file_open, img_file_note,
**            img_file_forget, img_file_group; open, openat, creat, close, dup, dup2, dup3, fcntl, mkstemp, mkostemp,
**            opendir, fdopendir, closedir, popen, pclose.
** Invariants
**   F1  Each descriptor that a saved object opened is in the table until it is closed; those that share an offset, as
**       dup() makes them, have the same group.  Groups 0 to 2 are the standard descriptors of the start.
**   F2  Numbers from FIRST on are the program's, those below it belong to MPI and the library, but for 0 to 2.
**   F3  No rank goes on before all ranks have cut their files: several may have opened the same one.
**   F4  A directory that is being read, and a stream of popen(), are native: no image is taken while there is one.
** Failure    A table that is full objects for ever; a file that cannot be opened again ends the restart.
** ====================================================================================================== */
#include "image.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "table.h"

IMG_NATIVE(syscall);
IMG_NATIVE(open);
IMG_NATIVE(openat);
IMG_NATIVE(close);
IMG_NATIVE(fcntl);
IMG_NATIVE(dup);
IMG_NATIVE(dup2);
IMG_NATIVE(dup3);
IMG_NATIVE(mkostemp);
IMG_NATIVE(opendir);
IMG_NATIVE(fdopendir);
IMG_NATIVE(closedir);
IMG_NATIVE(popen);
IMG_NATIVE(pclose);

#define FILES  256
#define FIRST  512
#define CLOSED (-1) /* the group of a standard descriptor that is closed */
#define NEW    (-3)
#define GONE   (-4)

typedef struct {
  int fd, group;
  int warned; /* that it is updated in place */
  /* at the image: */
  char*    path;
  int      flags, closes_on_exec;
  int64_t  offset, size;
  uint64_t inode, born;
  uid_t    owner;
  int      is_read;    /* the user could read its last bytes */
  int      is_updated; /* in place: its last bytes may change */
  uint32_t tail;       /* the CRC32 of its last bytes, TAIL at most */
} opened;

#define TAIL 4096

static opened files[FILES];
static int    lock; /* of the table */
static int    count, full, groups = 3;
static int    directories, pipes; /* that are open (F4) */
static char   text[600];

/* ---- the table ---- */

static opened* find(int fd)
{
  int i;

  for (i = 0; i < count; i++)
    if (files[i].fd == fd) return &files[i];
  return NULL;
}

/* The group of a descriptor, CLOSED, or -2 if the program did not open it. */
int img_file_group(int fd)
{
  const opened* o;
  int           group;

  img_lock(&lock);
  o = find(fd);
  group = o != NULL ? o->group : fd >= 0 && fd <= 2 ? fd : -2;
  img_unlock(&lock);
  return group;
}

static void take_out(opened* o)
{
  free(o->path);
  *o = files[--count];
}

/* FD is of GROUP now, of a new one, or no descriptor (GONE). */
static void set_group(int fd, int group)
{
  opened* o;

  img_lock(&lock);
  if ((o = find(fd)) != NULL) take_out(o); /* dup2() has closed it */
  if (group != GONE && group != fd && count == FILES) full = 1;
  else if (group != GONE && group != fd) {
    memset(&files[count], 0, sizeof *files);
    files[count].fd = fd;
    files[count++].group = group == NEW ? groups++ : group;
  }
  img_unlock(&lock);
}

void img_file_note(int fd)
{
  set_group(fd, NEW);
}

void img_file_forget(int fd)
{
  set_group(fd, fd >= 0 && fd <= 2 ? CLOSED : GONE);
}

/* FD under a number of the program's own (F2).  Without one it keeps its number, and no image is taken. */
static int move_up(int fd)
{
  int up = -1, flags = fd > 2 && fd < FIRST ? scr_native_fcntl(fd, F_GETFD) : -1;

  if (flags >= 0) up = scr_native_fcntl(fd, flags & FD_CLOEXEC ? F_DUPFD_CLOEXEC : F_DUPFD, FIRST);
  if (up < 0) return fd;
  scr_native_close(fd);
  return up;
}

static int opens(int fd, int ours)
{
  if (fd < 0 || !ours) return fd;
  fd = move_up(fd);
  img_file_note(fd);
  return fd;
}

int img_file_open(const char* path, int flags, mode_t mode)
{
  return opens(scr_native_open(path, flags, mode), 1);
}

/* ---- what programs call ---- */

/* The mode behind FLAGS, which is there if a file may be made. */
#define MODE(flags, mode)                                                                                              \
  do {                                                                                                                 \
    va_list args;                                                                                                      \
    va_start(args, flags);                                                                                             \
    if ((flags) & (O_CREAT | __O_TMPFILE)) mode = va_arg(args, mode_t);                                                \
    va_end(args);                                                                                                      \
  } while (0)

IMG_API int open(const char* path, int flags, ...)
{
  mode_t mode = 0;

  MODE(flags, mode);
  return opens(scr_native_open(path, flags, mode), img_is_saved_text(IMG_CALLER()));
}

/* What a compiler with checks calls: no file is made. */
int __open_2(const char* path, int flags);

IMG_API int __open_2(const char* path, int flags)
{
  return opens(scr_native_open(path, flags), img_is_saved_text(IMG_CALLER()));
}

IMG_API int openat(int at, const char* path, int flags, ...)
{
  mode_t mode = 0;

  MODE(flags, mode);
  return opens(scr_native_openat(at, path, flags, mode), img_is_saved_text(IMG_CALLER()));
}

IMG_API int creat(const char* path, mode_t mode)
{
  return opens(scr_native_open(path, O_WRONLY | O_CREAT | O_TRUNC, mode), img_is_saved_text(IMG_CALLER()));
}

IMG_API int mkstemp(char* path)
{
  return opens(scr_native_mkostemp(path, 0), img_is_saved_text(IMG_CALLER()));
}

IMG_API int mkostemp(char* path, int flags)
{
  return opens(scr_native_mkostemp(path, flags), img_is_saved_text(IMG_CALLER()));
}

IMG_API int close(int fd)
{
  if (img_is_saved_text(IMG_CALLER())) img_file_forget(fd);
  return scr_native_close(fd);
}

/* TO is a second number for FROM (F1). */
static int shares(int from, int to, int ours)
{
  int group = img_file_group(from);

  if (to < 0 || !ours || from == to) return to;
  if (group == -2) img_note_call("dup");
  set_group(to, group);
  return to;
}

IMG_API int dup(int fd)
{
  int ours = img_is_saved_text(IMG_CALLER()), to = scr_native_dup(fd);

  return shares(fd, ours ? move_up(to) : to, ours);
}

IMG_API int dup2(int fd, int to)
{
  return shares(fd, scr_native_dup2(fd, to), img_is_saved_text(IMG_CALLER()));
}

IMG_API int dup3(int fd, int to, int flags)
{
  return shares(fd, scr_native_dup3(fd, to, flags), img_is_saved_text(IMG_CALLER()));
}

/* Another number for a file that is open, its flags, its locks. */
IMG_API int fcntl(int fd, int command, ...)
{
  va_list args;
  long    argument;
  int     rc;

  va_start(args, command);
  argument = va_arg(args, long);
  va_end(args);
  rc = scr_native_fcntl(fd, command, argument);
  if (!img_is_saved_text(IMG_CALLER())) return rc;
  if (command == F_DUPFD || command == F_DUPFD_CLOEXEC) return shares(fd, move_up(rc), 1);
  if (command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK || command == F_OFD_SETLKW)
    img_note_call("fcntl"); /* a lock */
  return rc;
}

IMG_ALSO(open, open64);
IMG_ALSO(openat, openat64);
IMG_ALSO(__open_2, __open64_2);
IMG_ALSO(fcntl, fcntl64);

/* ---- directories, and pipes to other programs (F4) ---- */

static void add(int* number_of, int more)
{
  __atomic_add_fetch(number_of, more, __ATOMIC_SEQ_CST);
}

IMG_API DIR* opendir(const char* path)
{
  DIR* d = scr_native_opendir(path);

  if (d != NULL && img_is_saved_text(IMG_CALLER())) add(&directories, 1);
  return d;
}

IMG_API DIR* fdopendir(int fd)
{
  DIR* d = scr_native_fdopendir(fd);

  if (d == NULL || !img_is_saved_text(IMG_CALLER())) return d;
  add(&directories, 1);
  img_file_forget(fd); /* closedir() closes it */
  return d;
}

IMG_API int closedir(DIR* d)
{
  if (img_is_saved_text(IMG_CALLER()) && directories > 0) add(&directories, -1);
  return scr_native_closedir(d);
}

IMG_API FILE* popen(const char* command, const char* mode)
{
  FILE* f = scr_native_popen(command, mode);

  if (f != NULL && img_is_saved_text(IMG_CALLER())) add(&pipes, 1);
  return f;
}

IMG_API int pclose(FILE* f)
{
  if (img_is_saved_text(IMG_CALLER()) && pipes > 0) add(&pipes, -1);
  return scr_native_pclose(f);
}

/* ---- before an image ---- */

/* The path of FD as it is now, in PATH (of SIZE bytes); "?" if it cannot be told. */
static void path_of(int fd, char* path, size_t size)
{
  char    link[40];
  ssize_t n;

  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  n = readlink(link, path, size - 1);
  if (n <= 0) n = 1, *path = '?';
  path[n] = '\0';
}

static int is_device(const char* path)
{
  static const char* const devices[] = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"};
  size_t                   i;

  for (i = 0; i < sizeof devices / sizeof *devices; i++)
    if (strcmp(path, devices[i]) == 0) return 1;
  return 0;
}

/* Why O cannot be opened again, or NULL. */
static const char* object_to(const opened* o)
{
  static const char* const names[] = {"input", "output", "error"};
  char                     path[4096];
  struct stat              is, named;

  if (o->group == CLOSED) {
    snprintf(text, sizeof text, "has closed standard %s", names[o->fd]);
    return text;
  }
  path_of(o->fd, path, sizeof path);
  if (o->fd == 0) {
    snprintf(text, sizeof text, "has %.400s open as standard input", path);
  } else if (o->fd > 2 && o->fd < FIRST) {
    snprintf(text, sizeof text,
             "has %.400s open as descriptor %d; with ulimit -n above %d it would be higher, and not MPI's", path, o->fd,
             FIRST + FILES);
  } else if (o->group <= 2) {
    return NULL;
  } else if (fstat(o->fd, &is) != 0) {
    snprintf(text, sizeof text, "has lost descriptor %d: %s", o->fd, strerror(errno));
  } else if (!S_ISREG(is.st_mode) && !S_ISDIR(is.st_mode) && !is_device(path)) {
    snprintf(text, sizeof text, "has %.400s open, which is no file", path);
  } else if (stat(path, &named) != 0 || named.st_ino != is.st_ino || named.st_dev != is.st_dev) {
    snprintf(text, sizeof text, "has a file open that has no name any more, %.400s", path);
  } else {
    return NULL;
  }
  return text;
}

const char* img_files_objection(void)
{
  const char* why = NULL;
  int         i;

  if (full) return "has had more than 256 files open";
  if (directories > 0) return "is reading a directory";
  if (pipes > 0) return "has a pipe to another program open";
  for (i = 0; i < count && why == NULL; i++) why = object_to(&files[i]);
  return why;
}

/* Constructors run in each process, also in one that is to restart: what they opened would be opened twice. */
void img_files_begin(void)
{
  char path[400];

  if (count == 0) return;
  path_of(files[0].fd, path, sizeof path);
  img_die("the program has %s open before main() begins", path);
}

static int is_written(const opened* o)
{
  return (o->flags & O_ACCMODE) != O_RDONLY;
}

/*
** Open PATH, which has no links (path_of), with FLAGS: who can write on the way may have put a link there meanwhile, or
** a FIFO, which is not waited for.
*/
static int open_plain(const char* path, int flags)
{
  struct open_how how;
  int             fd, waits = !(flags & O_NONBLOCK);

  memset(&how, 0, sizeof how);
  flags = (flags & (O_ACCMODE | O_APPEND | O_NONBLOCK | O_SYNC | O_DIRECT | O_DIRECTORY)) | O_CLOEXEC;
  how.flags = (uint64_t)(flags | O_NOFOLLOW | O_NONBLOCK);
  how.resolve = RESOLVE_NO_SYMLINKS;
  fd = (int)scr_native_syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
  if (fd < 0 && (errno == ENOSYS || errno == EPERM)) /* before Linux 5.6, or forbidden in a container */
    fd = scr_native_open(path, flags | O_NOFOLLOW | O_NONBLOCK);
  if (fd >= 0 && waits) scr_native_fcntl(fd, F_SETFL, flags & (O_APPEND | O_DIRECT));
  return fd;
}

/*
** The CRC32 of the last bytes before SIZE of the file that is open as FILE, perhaps only for writing, in CRC.  Returns
** 1 on success, 0 if this user cannot read it.
*/
static int tail_of(int file, int64_t size, uint32_t* crc)
{
  char    buf[TAIL], path[40];
  size_t  n = size < TAIL ? (size_t)size : TAIL;
  int     fd;
  ssize_t got;

  snprintf(path, sizeof path, "/proc/self/fd/%d", file);
  fd = scr_native_open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  got = fd < 0 ? -1 : pread(fd, buf, n, size - (int64_t)n);
  if (fd >= 0) scr_native_close(fd);
  *crc = got == (ssize_t)n ? img_crc(0, buf, n) : 0;
  return got == (ssize_t)n;
}

/* When the file FD was made, in nanoseconds: inode numbers are used again.  0 where the file system does not know. */
static uint64_t born(int fd)
{
  struct statx x;

  if (scr_native_syscall(SYS_statx, fd, "", AT_EMPTY_PATH, STATX_BTIME, &x) != 0 || !(x.stx_mask & STATX_BTIME))
    return 0;
  return (uint64_t)x.stx_btime.tv_sec * 1000000000 + x.stx_btime.tv_nsec;
}

/* Note what O is now.  Returns 1 on success. */
static int note(opened* o)
{
  char        path[4096];
  struct stat st;

  path_of(o->fd, path, sizeof path);
  free(o->path);
  if ((o->path = img_alloc(strlen(path) + 1)) == NULL) return 0;
  strcpy(o->path, path);
  o->flags = scr_native_fcntl(o->fd, F_GETFL);
  o->closes_on_exec = (scr_native_fcntl(o->fd, F_GETFD) & FD_CLOEXEC) != 0;
  if (fstat(o->fd, &st) != 0) return 0;
  o->size = -1;
  if (!S_ISREG(st.st_mode)) return 1;
  o->size = st.st_size;
  o->inode = st.st_ino;
  o->born = born(o->fd);
  o->owner = st.st_uid;
  o->offset = lseek(o->fd, 0, SEEK_CUR);
  if (o->offset < 0) return 0;
  o->is_updated = is_written(o) && !(o->flags & O_APPEND) && o->offset != o->size;
  o->is_read = tail_of(o->fd, o->size, &o->tail);
  if (!is_written(o)) return 1;
  if (o->is_updated && !o->warned++)
    img_say("%s is open for writing before its end: what is written over older bytes after an image stays", path);
  return fdatasync(o->fd) == 0;
}

const char* img_files_save(void)
{
  int i;

  for (i = 0; i < count; i++) {
    if (files[i].group <= 2 || note(&files[i])) continue;
    snprintf(text, sizeof text, "%.400s, which the program has open: %s",
             files[i].path != NULL ? files[i].path : "a file", strerror(errno));
    return text;
  }
  return NULL;
}

/* ---- in a process that was restarted ---- */

/* Give the open file FROM the number of O. */
static void number(int from, const opened* o)
{
  if (scr_native_dup3(from, o->fd, o->closes_on_exec ? O_CLOEXEC : 0) < 0)
    img_die("cannot open descriptor %d again: %s; is ulimit -n lower than it was?", o->fd, strerror(errno));
}

/*
** Open the file of O again, as long as it was.  Who can rename a directory on the way may have put another there: one
** of another user's is refused, and nothing is cut from a file that is neither the one that the program had nor has its
** last bytes.
*/
static void reopen(const opened* o)
{
  struct stat st;
  uint32_t    tail;
  int         fd = open_plain(o->path, o->flags), same, is_read;

  if (fd < 0 || fstat(fd, &st) != 0)
    img_die("cannot open %s, which the program had open: %s; bring it back, with the bytes that it had", o->path,
            strerror(errno));
  if (o->size >= 0 && !S_ISREG(st.st_mode))
    img_die("%s, which the program had open, is no plain file any more: bring it back as it was", o->path);
  same = st.st_ino == o->inode && born(fd) == o->born;
  if (o->size >= 0 && is_written(o) && st.st_uid != o->owner && st.st_uid != geteuid())
    img_die("%s belongs to user %lu, and not to user %lu as the file that the program had open: bring that back",
            o->path, (unsigned long)st.st_uid, (unsigned long)o->owner);
  is_read = o->size > 0 && st.st_size >= o->size && !o->is_updated && o->is_read && tail_of(fd, o->size, &tail);
  if (is_read && tail != o->tail)
    img_die("%s is not the file that the program had open, or was changed before byte %ld: bring it back as it was, or "
            "choose an older image with scr_index --current",
            o->path, (long)o->size);
  if (o->size >= 0 && is_written(o) && st.st_size > o->size) {
    if (!same && !is_read)
      img_die(
          "%s may not be the file that the program had open: it was copied or replaced, and is longer; if it is that "
          "file, cut it to %ld bytes",
          o->path, (long)o->size);
    img_say("%s is cut from %ld bytes to %ld, as it was in the image", o->path, (long)st.st_size, (long)o->size);
    if (ftruncate(fd, o->size) != 0) img_die("cannot cut %s, which the program had open: %s", o->path, strerror(errno));
  }
  if (o->size >= 0 && lseek(fd, o->offset, SEEK_SET) < 0) img_die("cannot seek in %s: %s", o->path, strerror(errno));
  number(fd, o);
  scr_native_close(fd);
}

/* Second numbers of the standard descriptors, and what these are instead: none is overwritten before it was copied. */
static void restore_standard(void)
{
  int i, base[3];

  for (i = 0; i < 3; i++) base[i] = scr_native_fcntl(i, F_DUPFD_CLOEXEC, FIRST + FILES);
  for (i = 0; i < count; i++)
    if (files[i].group <= 2) number(base[files[i].group], &files[i]);
  for (i = 0; i < 3; i++)
    if (base[i] >= 0) scr_native_close(base[i]);
}

static const opened* first_of(int group)
{
  int i = 0;

  while (files[i].group != group) i++;
  return &files[i];
}

void img_files_resumed(void)
{
  struct stat st;
  int         i;

  for (i = 0; i < count; i++)
    if (files[i].fd > 2 && scr_native_fcntl(files[i].fd, F_GETFD) >= 0)
      img_die("descriptor %d, which the program had open, is in use", files[i].fd);
  restore_standard();
  for (i = 0; i < count; i++) {
    const opened* first = first_of(files[i].group);

    if (files[i].group <= 2) continue;
    if (first == &files[i]) reopen(first);
    else number(first->fd, &files[i]);
  }
  img_agree_barrier(); /* F3 */
  for (i = 0; i < count; i++)
    if (files[i].group > 2 && files[i].size >= 0 && fstat(files[i].fd, &st) == 0 && st.st_size < files[i].size)
      img_die("%s has %ld bytes, but had %ld in the image: bring it back as it was, or choose an older image with "
              "scr_index --current",
              files[i].path, (long)st.st_size, (long)files[i].size);
}
