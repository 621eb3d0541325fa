/* ==== 00 MANUAL =========================================================================================
** Scalable Checkpoint / Restart, an embeddable library of one C file.  The manual of the API is scr.h.
**
**   mpicc app.c scr_impl.c -lz -lpthread            the library
**   #define SCR_SERIAL, #include "scr_impl.c"       everything above the fence, without MPI: commands and tests
**
** The parts stand in the order of dependency.  A function sees only what stands above it: there are no forward
** declarations, and the file compiles when it is cut off at any banner.
**
**   00 MANUAL
**   01 PLATFORM
**   02 ERRORS AND MESSAGES
**   03 MEMORY, BUFFERS, STRINGS
**   04 PATH
**   05 HASH
**   06 HASH FILES
**   07 PARAMETERS
**   08 DATASET, META, FILEMAP
**   09 KERNELS
**   10 FILE WINDOW
**   11 INDEX, SUMMARY, RANK2FILE RECORDS
**   12 FILES OF THE RUN: FLUSH, HALT, NODES, LOG
**   13 CODE OF A SET, REBUILD OVER FILES
**   ---- #ifndef SCR_SERIAL: the only fence ----
**   14 MPI HELPERS
**   15 GROUPS, STORES, REDUNDANCY DESCRIPTORS
**   16 THE RUNTIME STATE
**   17 REDUNDANCY: APPLY AND RECOVER
**   18 CACHE: DISTRIBUTE, REBUILD, MAKE ROOM
**   19 PREFIX: FLUSH AND FETCH
**   21 PUBLIC API
**
** Rules that hold everywhere
**   - A function returns SCR_SUCCESS or an error code.  The message is made once, by SCR_ERR or SCR_ERRNO, where the
**     error is found; callers pass the code on.
**   - `Collective over X.` stands in the contract of every function that communicates; the others are local.  A
**     collective function has no return between its first and its last collective: it carries rc, and agrees on it.
**   - Metadata files are replaced atomically.  The last good copy of anything goes only after there is a newer one.
** ====================================================================================================== */

/* Macros that a vendor may set on the compiler's command line. */
#ifndef SCR_SYSTEM_CONF
#define SCR_SYSTEM_CONF "/etc/scr/scr.conf" /* the system's parameter file */
#endif
#ifndef SCR_WAIT_SPINS
#define SCR_WAIT_SPINS 20 /* tests of a request without progress before a wait yields the processor */
#endif
/* -DSCR_LOCK_BASES: users may not set SCR_CNTL_BASE. */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* POSIX.1-2008, flock, strcasecmp */
#endif
#ifndef _FILE_OFFSET_BITS
#define _FILE_OFFSET_BITS 64
#endif

#define MPICH_SKIP_MPICXX 1 /* the C++ bindings of old MPIs would need their own libraries */
#define OMPI_SKIP_MPICXX  1

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#if defined(__linux__)
#include <sys/vfs.h>
#endif
#include <sys/time.h>
#include <sys/types.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include "scr.h"

/* Compiles only where a file may be larger than 2 GiB: on 32 bit, include this file before the system's headers. */
typedef char scr_off_t_has_64_bits[sizeof(off_t) == 8 ? 1 : -1];

#if defined(__GNUC__)
#define SCR_FN static __attribute__((unused)) /* commands and tests use what the library does not */
#else
#define SCR_FN static
#endif

/* A variable of each thread.  Where a compiler has no such thing, the library starts no threads. */
#if defined(__cplusplus)
#define SCR_THREAD thread_local
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define SCR_THREAD _Thread_local
#elif defined(__GNUC__)
#define SCR_THREAD __thread
#else
#define SCR_THREAD
#define SCR_ONE_THREAD
#endif

/* ==== 01 PLATFORM =======================================================================================
** The calls to the operating system that concern files, as a table; the loops that make them whole; and the clocks.
**
** Uses       nothing.
** Offers     scr_os.*, scr_write_all, scr_read_all, scr_pwrite_all, scr_pread_all, scr_is_zero, scr_wtime,
**            scr_time_usec, scr_random.
** Invariants
**   P1  Everything that changes a file goes through scr_os, so that a test can make the N-th call fail, stop short
**       or kill the process.
** Failure    As in POSIX: -1 and errno.
** ====================================================================================================== */

typedef struct {
  int (*open)(const char* path, int flags, mode_t mode);
  int (*close)(int fd);
  ssize_t (*read)(int fd, void* buf, size_t n);
  ssize_t (*pread)(int fd, void* buf, size_t n, off_t offset);
  ssize_t (*write)(int fd, const void* buf, size_t n);
  ssize_t (*pwrite)(int fd, const void* buf, size_t n, off_t offset);
  int (*ftruncate)(int fd, off_t size);
  int (*fsync)(int fd);
  int (*rename)(const char* from, const char* to);
  int (*unlink)(const char* path);
  int (*mkdir)(const char* path, mode_t mode);
  int (*rmdir)(const char* path);
  int (*flock)(int fd, int op);
  int (*lstat)(const char* path, struct stat* st);
} scr_os_table;

SCR_FN int scr_os_open(const char* path, int flags, mode_t mode)
{
  int fd;
  do fd = open(path, flags | O_CLOEXEC, mode);
  while (fd < 0 && errno == EINTR);
  return fd;
}

SCR_FN int scr_os_lstat(const char* path, struct stat* st)
{
  return lstat(path, st); /* a function of its own: lstat is a macro in places */
}

static scr_os_table scr_os = {scr_os_open, close,  read,   pread, write, pwrite, ftruncate,
                              fsync,       rename, unlink, mkdir, rmdir, flock,  scr_os_lstat};

/* Write all N bytes of BUF to FD.  Returns 0, or -1 with errno. */
SCR_FN int scr_write_all(int fd, const void* buf, size_t n)
{
  const char* p = (const char*)buf;

  while (n > 0) {
    ssize_t w = scr_os.write(fd, p, n);
    if (w < 0 && errno == EINTR) continue;
    if (w == 0) errno = ENOSPC;
    if (w <= 0) return -1;
    p += w;
    n -= (size_t)w;
  }
  return 0;
}

/* Write all N bytes of BUF to FD at OFFSET.  Returns 0, or -1 with errno. */
SCR_FN int scr_pwrite_all(int fd, const void* buf, size_t n, off_t offset)
{
  const char* p = (const char*)buf;

  while (n > 0) {
    ssize_t w = scr_os.pwrite(fd, p, n, offset);
    if (w < 0 && errno == EINTR) continue;
    if (w == 0) errno = ENOSPC;
    if (w <= 0) return -1;
    p += w;
    offset += w;
    n -= (size_t)w;
  }
  return 0;
}

/* Read N bytes of FD, fewer only at the end of the file.  Returns how many, or -1 with errno. */
SCR_FN ssize_t scr_read_all(int fd, void* buf, size_t n)
{
  char*  p = (char*)buf;
  size_t got = 0;

  while (got < n) {
    ssize_t r = scr_os.read(fd, p + got, n - got);
    if (r < 0 && errno == EINTR) continue;
    if (r < 0) return -1;
    if (r == 0) break;
    got += (size_t)r;
  }
  return (ssize_t)got;
}

/* Read N bytes of FD at OFFSET, fewer only at the end of the file.  Returns how many, or -1 with errno. */
SCR_FN ssize_t scr_pread_all(int fd, void* buf, size_t n, off_t offset)
{
  char*  p = (char*)buf;
  size_t got = 0;

  while (got < n) {
    ssize_t r = scr_os.pread(fd, p + got, n - got, offset + (off_t)got);
    if (r < 0 && errno == EINTR) continue;
    if (r < 0) return -1;
    if (r == 0) break;
    got += (size_t)r;
  }
  return (ssize_t)got;
}

/* Returns 1 when the N bytes at P are zero: a new file that has its size already need not be given them. */
SCR_FN int scr_is_zero(const void* p, size_t n)
{
  const char* c = (const char*)p;
  return n == 0 || (c[0] == 0 && memcmp(c, c + 1, n - 1) == 0);
}

/* Seconds, by a clock that only goes forward. */
SCR_FN double scr_wtime(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Microseconds since the epoch. */
SCR_FN int64_t scr_time_usec(void)
{
  struct timeval t;
  gettimeofday(&t, NULL);
  return (int64_t)t.tv_sec * 1000000 + t.tv_usec;
}

/* 64 bits that no other run draws: from the kernel, or else made of the time and the process id. */
SCR_FN uint64_t scr_random(void)
{
  uint64_t x = 0;
  int      fd = scr_os.open("/dev/urandom", O_RDONLY, 0);

  if (fd >= 0) {
    if (scr_read_all(fd, &x, sizeof x) != (ssize_t)sizeof x) x = 0;
    scr_os.close(fd);
  }
  if (x == 0) x = (uint64_t)scr_time_usec() * 6364136223846793005u ^ (uint64_t)getpid() << 40;
  return x;
}

/* ==== 02 ERRORS AND MESSAGES ============================================================================
** One record of the last error of this process, and the lines that the library prints.
**
** Uses       nothing.
** Offers     SCR_ERR, SCR_ERRNO, SCR_ERR_OOM, scr_code_text, scr_err_save, scr_err_restore, scr_err_record,
**            scr_err_text, scr_err_length, scr_err_secondhand, SCR_ERR_TEXT_MAX, scr_oom, scr_warn, scr_dbg, scr_debug, scr_msg_print,
**            scr_msg_rank, scr_msg_host.
** Invariants
**   E1  SCR_ERR and SCR_ERRNO record; they never print.  What reaches the user is printed once, by the public call
**       that fails or by scr_warn.
**   E2  Every failed allocation sets scr_oom, and only the beginning of a public call clears it.  While it is set no
**       metadata is packed: a structure that lacks a part never reaches the disk.
**   E3  While scr_oom is set no file of the cache is deleted: without memory we cannot tell which files are needed.
** Failure    None.
** ====================================================================================================== */

#define SCR_ERR_TEXT_MAX 3072

/* Each thread has its own: a thread that copies files hands over what it found when it ends (W5). */
static SCR_THREAD char scr_err_text[SCR_ERR_TEXT_MAX]; /* message of the last error */
static SCR_THREAD int  scr_err_length = 0;             /* bytes of it before the place in the source */
static SCR_THREAD int  scr_err_named = 0;              /* it begins with the rank that found the error */
static SCR_THREAD int  scr_err_secondhand = 0;         /* it only repeats that another rank has failed */
static SCR_THREAD int  scr_oom = 0;
SCR_FN int             scr_debug = 0;     /* SCR_DEBUG; SCR_FN because some serial programs do not use it */
static int             scr_msg_rank = -1; /* rank in the library's world; -1 in serial programs */
static char            scr_msg_host[256] = "";

/* The text of CODE in the table of scr.h. */
SCR_FN const char* scr_code_text(int code)
{
#define SCR_ERRORS_CASE(name, value, text)                                                                             \
  case name:                                                                                                           \
    return text;
  switch (code) {
  case SCR_SUCCESS:
    return "success";
    SCR_ERRORS(SCR_ERRORS_CASE)
  default:
    return "unknown error code";
  }
#undef SCR_ERRORS_CASE
}

/* Record an error and return its code.  ERRNUM, when not 0, adds the system's reason, and may choose the code. */
SCR_FN SCR_FORMAT(5, 6) int scr_error(int code, int errnum, const char* file, int line, const char* format, ...)
{
  va_list ap;
  char    text[SCR_ERR_TEXT_MAX];
  size_t  n;

  if (errnum == ENOSPC || errnum == EDQUOT) code = SCR_ERR_SPACE;
  if (errnum == ENOMEM) code = SCR_ERR_MEM;
  va_start(ap, format);
  vsnprintf(text, sizeof text, format, ap); /* not straight into the record: an argument may be the record */
  va_end(ap);
  n = strlen(text);
  if (errnum != 0 && n < sizeof text) n += (size_t)snprintf(text + n, sizeof text - n, ": %s", strerror(errnum));
  scr_err_length = n < sizeof text ? (int)n : (int)sizeof text - 1;
  if (n < sizeof text)
    snprintf(text + n, sizeof text - n, " [%s:%d]", strrchr(file, '/') ? strrchr(file, '/') + 1 : file, line);
  memcpy(scr_err_text, text, sizeof text);
  scr_err_named = scr_err_secondhand = 0;
  return code;
}

/* A recorded error, kept while other steps may record theirs. */
typedef struct {
  char text[SCR_ERR_TEXT_MAX];
  int  length, named, secondhand;
} scr_err_record;

SCR_FN void scr_err_save(scr_err_record* r)
{
  memcpy(r->text, scr_err_text, sizeof r->text);
  r->length = scr_err_length;
  r->named = scr_err_named;
  r->secondhand = scr_err_secondhand;
}

SCR_FN void scr_err_restore(const scr_err_record* r)
{
  memcpy(scr_err_text, r->text, sizeof r->text);
  scr_err_length = r->length;
  scr_err_named = r->named;
  scr_err_secondhand = r->secondhand;
}

/* SCR_ERR(code, format, ...) records an error and is its code; SCR_ERRNO(format, ...) takes the code from errno. */
#define SCR_ERR(code, ...) scr_error((code), 0, __FILE__, __LINE__, __VA_ARGS__)
#define SCR_ERRNO(...)     scr_error(SCR_ERR_IO, errno, __FILE__, __LINE__, __VA_ARGS__)
#define SCR_ERR_OOM()      scr_error(SCR_ERR_MEM, 0, __FILE__, __LINE__, "out of memory")

/* Print one line, which begins with KIND, the rank and its host. */
SCR_FN SCR_FORMAT(2, 3) void scr_msg_print(const char* kind, const char* format, ...)
{
  va_list ap;
  char    text[SCR_ERR_TEXT_MAX];

  va_start(ap, format);
  vsnprintf(text, sizeof text, format, ap);
  va_end(ap);
  if (scr_msg_rank >= 0) fprintf(stderr, "SCR %s: rank %d on %s: %s\n", kind, scr_msg_rank, scr_msg_host, text);
  else fprintf(stderr, "SCR %s: %s\n", kind, text);
}

#define scr_warn(...) scr_msg_print("warning", __VA_ARGS__)

/* Print from rank 0 only, and when SCR_DEBUG is LEVEL or more. */
#define scr_dbg(level, ...)                                                                                            \
  do {                                                                                                                 \
    if (scr_debug >= (level) && scr_msg_rank <= 0) scr_msg_print("info", __VA_ARGS__);                                 \
  } while (0)

/* ==== 03 MEMORY, BUFFERS, STRINGS =======================================================================
** Allocation that reports, growing byte buffers, and the few string helpers that C lacks.
**
** Uses       errors.
** Offers     scr_malloc, scr_free, scr_strdup, scr_strdupf, scr_strdupfv, scr_fmt, scr_buf, scr_buf_add, scr_buf_free,
**            scr_str_int64, scr_str_bytes, scr_time_string.
** Invariants
**   M1  A failed allocation sets scr_oom (E2) and returns NULL.
**   M2  A scr_buf that failed once stays failed, so a chain of appends is checked once, at its end.
** Failure    NULL, or an error code.
** ====================================================================================================== */

/* N bytes, which are zero. */
SCR_FN void* scr_malloc(size_t n)
{
  void* p = calloc(1, n ? n : 1);
  if (p == NULL) scr_oom = 1;
  return p;
}

/* Free the memory that the pointer at P points to, and make that pointer NULL. */
SCR_FN void scr_free(void* p)
{
  void** pp = (void**)p;
  if (pp == NULL) return;
  free(*pp);
  *pp = NULL;
}

SCR_FN char* scr_strdup(const char* s)
{
  size_t n;
  char*  p;

  if (s == NULL) return NULL;
  n = strlen(s) + 1;
  p = (char*)scr_malloc(n);
  if (p != NULL) memcpy(p, s, n);
  return p;
}

/* A new string made by FORMAT; the caller frees it. */
SCR_FN char* scr_strdupfv(const char* format, va_list ap)
{
  va_list ap_size;
  char*   p;
  int     n;

  va_copy(ap_size, ap);
  n = vsnprintf(NULL, 0, format, ap_size);
  va_end(ap_size);
  if (n < 0) return NULL;
  p = (char*)scr_malloc((size_t)n + 1);
  if (p != NULL) vsnprintf(p, (size_t)n + 1, format, ap);
  return p;
}

SCR_FN SCR_FORMAT(1, 2) char* scr_strdupf(const char* format, ...)
{
  va_list ap;
  char*   p;

  va_start(ap, format);
  p = scr_strdupfv(format, ap);
  va_end(ap);
  return p;
}

/* As snprintf, but SCR_ERR_PATH with a message when the result does not fit; BUF then holds its beginning. */
SCR_FN SCR_FORMAT(3, 4) int scr_fmt(char* buf, size_t n, const char* format, ...)
{
  va_list ap;
  int     k;

  va_start(ap, format);
  k = vsnprintf(buf, n, format, ap);
  va_end(ap);
  if (k < 0 || (size_t)k >= n) {
    if (n > 0) buf[n - 1] = '\0';
    return SCR_ERR(SCR_ERR_PATH, "the path is too long (%d bytes, at most %zu): %.200s...", k, n - 1, buf);
  }
  return SCR_SUCCESS;
}

/* A byte buffer that grows.  {NULL, 0, 0, 0} is empty. */
typedef struct {
  char*  p;
  size_t n, cap;
  int    failed;
} scr_buf;

/* Append N bytes of DATA, or N zeros when DATA is NULL. */
SCR_FN void scr_buf_add(scr_buf* b, const void* data, size_t n)
{
  if (b->failed || n == 0) return;
  if (b->cap - b->n < n) {
    size_t cap = b->cap < 256 ? 256 : b->cap;
    char*  p = NULL;
    while (cap < SIZE_MAX / 2 && cap - b->n < n) cap *= 2;
    if (cap - b->n >= n) p = (char*)realloc(b->p, cap);
    if (p == NULL) {
      b->failed = scr_oom = 1;
      return;
    }
    b->p = p;
    b->cap = cap;
  }
  if (data != NULL) memcpy(b->p + b->n, data, n);
  else memset(b->p + b->n, 0, n);
  b->n += n;
}

SCR_FN void scr_buf_free(scr_buf* b)
{
  scr_free(&b->p);
  b->n = b->cap = 0;
  b->failed = 0;
}

/* The decimal number that S is as a whole.  SCR_ERR_ARG, without a message, when S is not one. */
SCR_FN int scr_str_int64(const char* s, int64_t* value)
{
  char*     end;
  long long v;

  if (s == NULL || *s == '\0' || isspace((unsigned char)*s)) return SCR_ERR_ARG;
  errno = 0;
  v = strtoll(s, &end, 10);
  if (*end != '\0' || errno != 0) return SCR_ERR_ARG;
  *value = (int64_t)v;
  return SCR_SUCCESS;
}

/*
** The count of bytes that S is, such as 64, 128K, 1.5MB or 100g: k m g t p e are powers of 1024, a final b is allowed,
** case does not matter.  SCR_ERR_ARG, without a message, when S is no such count or too large.
*/
SCR_FN int scr_str_bytes(const char* s, uint64_t* bytes)
{
  static const char units[] = "kmgtpe";
  const char*       u;
  char*             end;
  double            v;

  if (s == NULL || !(isdigit((unsigned char)*s) || *s == '.')) return SCR_ERR_ARG;
  v = strtod(s, &end);
  if (end == s) return SCR_ERR_ARG;
  u = *end ? strchr(units, tolower((unsigned char)*end)) : NULL;
  if (u != NULL) {
    const char* k;
    for (k = units; k <= u; k++) v *= 1024.0;
    end++;
  }
  if (*end == 'b' || *end == 'B') end++;
  if (*end != '\0' || !(v >= 0.0) || v >= 18446744073709551615.0) return SCR_ERR_ARG;
  *bytes = (uint64_t)v;
  return SCR_SUCCESS;
}

/* The local time T as the index and the log write it, %Y-%m-%dT%H:%M:%S, into BUF of at least 20 bytes. */
SCR_FN void scr_time_string(time_t t, char* buf, size_t n)
{
  struct tm tm;
  if (localtime_r(&t, &tm) == NULL || strftime(buf, n, "%Y-%m-%dT%H:%M:%S", &tm) == 0) snprintf(buf, n, "?");
}

/* ==== 04 PATH ===========================================================================================
** File paths, as strings in buffers of a fixed size, and the few questions that the library asks about files.
**
** Uses       platform (the table of calls), errors, memory.
** Offers     scr_path_reduce_str, scr_path_relative, scr_path_below, scr_path_is_safe_rel, scr_path_common,
**            scr_path_keep, scr_path_flatten, scr_path_dir_of, scr_mkdirs, scr_file_size, scr_file_has_size.
** Invariants
**   T1  A reduced path has no empty component, no ".", and ".." only in front of a relative path.
** Failure    SCR_ERR_PATH when a buffer is too short.
** ====================================================================================================== */

/* Bring PATH, which must not be "", into reduced form in place: "/" for the root, "." when nothing is left. */
SCR_FN void scr_path_reduce(char* path)
{
  size_t root = *path == '/', at = root, n; /* path[0..at) is reduced already */
  int    named = 0;                         /* components there that a ".." can remove */
  char*  s;

  for (s = path + root; *s != '\0'; s += n + (s[n] == '/')) {
    int up;
    n = strcspn(s, "/");
    up = n == 2 && s[0] == '.' && s[1] == '.';
    if (n == 0 || (n == 1 && s[0] == '.')) continue;
    if (up && named > 0) {
      while (at > root && path[--at] != '/') continue;
      named--;
    } else if (!up || !root) { /* above the root is the root */
      if (at > root) path[at++] = '/';
      memmove(path + at, s, n);
      at += n;
      named += !up;
    }
  }
  if (at == 0) path[at++] = '.';
  path[at] = '\0';
}

/* The reduced form of IN, which may be OUT, into OUT of N bytes; "." for "" and NULL. */
SCR_FN int scr_path_reduce_str(const char* in, char* out, size_t n)
{
  char* s = scr_strdup(in != NULL && *in != '\0' ? in : ".");
  int   rc;

  if (s == NULL) return SCR_ERR_OOM();
  scr_path_reduce(s);
  rc = scr_fmt(out, n, "%s", s); /* only now, because the reduced form may fit where IN does not */
  free(s);
  return rc;
}

/* Move A and B, two reduced paths, behind the components that they have in common, and return how many these are. */
SCR_FN int scr_path_skip_common(const char** a, const char** b)
{
  int n = 0;

  while (**a != '\0' && **b != '\0') {
    size_t k = strcspn(*a, "/");
    if (k != strcspn(*b, "/") || strncmp(*a, *b, k) != 0) break;
    n++;
    *a += k + ((*a)[k] == '/');
    *b += k + ((*b)[k] == '/');
  }
  return n;
}

/* How many components the reduced paths A and B have in common, from the front. */
SCR_FN int scr_path_common(const char* a, const char* b)
{
  return scr_path_skip_common(&a, &b);
}

/*
** The path that leads from the directory FROM_DIR to TO, into OUT of N bytes; "" when they are the same.  Both are
** absolute, or both relative to the same directory.  SCR_ERR_PATH also when the names alone do not tell the way.
*/
SCR_FN int scr_path_relative(const char* from_dir, const char* to, char* out, size_t n)
{
  char        from_buf[2 * SCR_MAX_FILENAME], to_buf[2 * SCR_MAX_FILENAME], up[2 * SCR_MAX_FILENAME] = "";
  const char *a = from_buf, *b = to_buf;
  int         rc = scr_path_reduce_str(from_dir, from_buf, sizeof from_buf);

  if (rc == SCR_SUCCESS) rc = scr_path_reduce_str(to, to_buf, sizeof to_buf);
  if (rc != SCR_SUCCESS) return rc;
  if (strcmp(a, ".") == 0) a = "";
  if (strcmp(b, ".") == 0) b = "";
  if ((*a == '/') != (*b == '/')) return SCR_ERR(SCR_ERR_PATH, "no relative path leads from %s to %s", from_dir, to);
  scr_path_skip_common(&a, &b);
  while (*a != '\0' && rc == SCR_SUCCESS) { /* up from the rest of FROM_DIR */
    size_t k = strcspn(a, "/"), at = strlen(up);
    if (k == 2 && strncmp(a, "..", k) == 0)
      return SCR_ERR(SCR_ERR_PATH, "no relative path is known from %s to %s", from_dir, to);
    a += k + (a[k] == '/');
    rc = scr_fmt(up + at, sizeof up - at, "..%s", *a != '\0' || *b != '\0' ? "/" : "");
  }
  return rc == SCR_SUCCESS ? scr_fmt(out, n, "%s%s", up, b) : rc;
}

/* 1 when the reduced absolute PATH lies below DIR; *REL then points to what follows in PATH. */
SCR_FN int scr_path_below(const char* dir, const char* path, const char** rel)
{
  size_t n = strlen(dir);

  if (n > 0 && dir[n - 1] == '/') n--; /* the root */
  if (strncmp(dir, path, n) != 0 || path[n] != '/' || path[n + 1] == '\0') return 0;
  *rel = path + n + 1;
  return 1;
}

/* 1 when REL is a relative path without empty, "." or ".." components: it cannot leave the directory that it is in. */
SCR_FN int scr_path_is_safe_rel(const char* rel)
{
  const char* s = rel;

  if (rel == NULL) return 0;
  for (;;) {
    size_t n = strcspn(s, "/");
    if (n == 0 || (n == 1 && s[0] == '.') || (n == 2 && s[0] == '.' && s[1] == '.')) return 0;
    if (s[n] == '\0') return 1;
    s += n + 1;
  }
}

/* Cut PATH to its first COMPONENTS components; the first one of an absolute path is "/". */
SCR_FN void scr_path_keep(char* path, int components)
{
  char* s = path;

  if (components <= 0) *path = '\0';
  if (components == 1 && *path == '/') {
    path[1] = '\0';
    return;
  }
  while (components-- > 0 && *s != '\0') {
    s += strcspn(s, "/");
    if (components == 0) *s = '\0';
    else if (*s == '/') s++;
  }
}

/* One file name that stands for the relative path REL alone: '%' becomes %25, '/' becomes %2F. */
SCR_FN int scr_path_flatten(const char* rel, char* out, size_t n)
{
  const char* s;
  size_t      at = 0, most = n > 256 ? 255 : n - 1; /* a file name has at most 255 bytes */

  for (s = rel; *s != '\0'; s++) {
    const char* as = *s == '%' ? "%25" : *s == '/' ? "%2F" : s;
    size_t      k = as == s ? 1 : 3;
    if (n == 0 || at + k > most)
      return SCR_ERR(SCR_ERR_PATH, "%s is too long for one file name of %zu bytes", rel, n == 0 ? n : most);
    memcpy(out + at, as, k);
    at += k;
  }
  out[at] = '\0';
  return SCR_SUCCESS;
}

/* The directory of the file PATH: "." when it names none. */
SCR_FN int scr_path_dir_of(const char* path, char* dir, size_t n)
{
  const char* slash = strrchr(path, '/');

  if (slash == NULL) return scr_fmt(dir, n, ".");
  return scr_fmt(dir, n, "%.*s", slash == path ? 1 : (int)(slash - path), path);
}

/* ---- the file system ---- */

/* Make the directory DIR and those above it; those that exist, or that others make at the same time, are no error. */
SCR_FN int scr_mkdirs(const char* dir, mode_t mode)
{
  char        path[2 * SCR_MAX_FILENAME];
  struct stat st;
  char*       s;
  int         failed, rc = scr_fmt(path, sizeof path, "%s", dir);

  if (rc != SCR_SUCCESS) return rc;
  if (*dir == '\0') return SCR_ERR(SCR_ERR_ARG, "a directory without a name cannot be created");
  if (stat(dir, &st) == 0 && S_ISDIR(st.st_mode)) return SCR_SUCCESS;
  for (s = path + (*path == '/');; s++) {
    char c = *s;
    if (c != '/' && c != '\0') continue;
    *s = '\0';
    failed = *path != '\0' && scr_os.mkdir(path, mode) < 0 ? errno : 0;
    if (failed != 0 && !(stat(path, &st) == 0 && S_ISDIR(st.st_mode))) { /* EROFS does not say whether it exists */
      if (failed == EEXIST) return SCR_ERR(SCR_ERR_IO, "%s is in the way: it is not a directory", path);
      errno = failed;
      return SCR_ERRNO("cannot create the directory %s", path);
    }
    *s = c;
    if (c == '\0') break;
  }
  return SCR_SUCCESS;
}

/* The size of the plain file PATH in bytes; SCR_ERR_MISSING when there is none. */
SCR_FN int scr_file_size(const char* path, uint64_t* size)
{
  struct stat st;

  if (scr_os.lstat(path, &st) < 0) {
    if (errno == ENOENT || errno == ENOTDIR) return SCR_ERR(SCR_ERR_MISSING, "%s is missing", path);
    return SCR_ERRNO("cannot look at %s", path);
  }
  if (!S_ISREG(st.st_mode)) return SCR_ERR(SCR_ERR_MISSING, "%s is not a plain file", path);
  *size = (uint64_t)st.st_size;
  return SCR_SUCCESS;
}

/* SCR_ERR_MISSING unless PATH is a plain file of exactly SIZE bytes. */
SCR_FN int scr_file_has_size(const char* path, uint64_t size)
{
  uint64_t is = 0;
  int      rc = scr_file_size(path, &is);

  if (rc != SCR_SUCCESS || is == size) return rc;
  return SCR_ERR(SCR_ERR_MISSING, "%s has %" PRIu64 " bytes instead of %" PRIu64, path, is, size);
}

/* ==== 05 HASH ===========================================================================================
** A tree of strings: each element has a key and a hash of its own.  The form of all metadata on disk and of messages.
**
** Uses       memory, errors.
** Offers     scr_hash, scr_hash_elem, scr_hash_new, scr_hash_delete, scr_hash_dup, scr_hash_merge, scr_hash_size,
**            scr_hash_elem_first, scr_hash_elem_next, scr_hash_elem_get, scr_hash_elem_key, scr_hash_elem_hash,
**            scr_hash_elem_get_first_val, scr_hash_get, scr_hash_set, scr_hash_extract, scr_hash_unset,
**            scr_hash_unset_all, scr_hash_get_kv, scr_hash_set_kv, scr_hash_unset_kv, scr_hash_get_kv_int,
**            scr_hash_set_kv_int, scr_hash_unset_kv_int, scr_hash_getf, scr_hash_setf, scr_hash_sort,
**            scr_hash_sort_int, scr_hash_pack_size, scr_hash_pack, scr_hash_unpack, scr_put_be, scr_get_be,
**            scr_hash_util_get_str, scr_hash_util_get_int, scr_hash_util_get_int64, scr_hash_util_get_bytecount,
**            scr_hash_util_get_crc32, scr_hash_util_set_str, scr_hash_util_set_int, scr_hash_util_set_int64,
**            scr_hash_util_set_bytecount, scr_hash_util_set_crc32_fixed, scr_hash_int_or, scr_hash_str_or.
** Invariants
**   H1  Elements keep the order in which they were added, and a hash is packed in that order.
**   H2  A key is found in constant time beyond SCR_HASH_LINEAR elements.
**   H3  A NULL hash is an empty one, for every function.
**   H4  Unpacking never reads outside the buffer and never recurses without end, whatever the buffer holds.
** Failure    NULL and scr_oom (E2); SCR_ERR_FORMAT for unpacking.
** ====================================================================================================== */

#define SCR_HASH_LINEAR 8  /* up to so many elements are searched one by one */
#define SCR_HASH_DEPTH  64 /* deepest tree that is unpacked */

typedef struct scr_hash scr_hash;

typedef struct scr_hash_elem {
  char*                 key;
  scr_hash*             hash;
  struct scr_hash_elem *prev, *next; /* in the order of adding */
  struct scr_hash_elem* chain;       /* the next one in the same bucket */
  uint32_t              key_hash;
} scr_hash_elem;

struct scr_hash {
  scr_hash_elem * first, *last;
  int             count;
  scr_hash_elem** bucket; /* NULL while the hash is small */
  uint32_t        mask;
};

enum { SCR_HASH_SORT_ASCENDING, SCR_HASH_SORT_DESCENDING };

/* FNV-1a of KEY: it chooses the bucket. */
SCR_FN uint32_t scr_hash_of_key(const char* key)
{
  uint32_t h = 2166136261u;
  for (; *key != '\0'; key++) h = (h ^ (unsigned char)*key) * 16777619u;
  return h;
}

SCR_FN scr_hash* scr_hash_new(void)
{
  return (scr_hash*)scr_malloc(sizeof(scr_hash));
}

SCR_FN int scr_hash_size(const scr_hash* h)
{
  return h == NULL ? 0 : h->count;
}

SCR_FN scr_hash_elem* scr_hash_elem_first(const scr_hash* h)
{
  return h == NULL ? NULL : h->first;
}

SCR_FN scr_hash_elem* scr_hash_elem_next(const scr_hash_elem* e)
{
  return e == NULL ? NULL : e->next;
}

SCR_FN char* scr_hash_elem_key(const scr_hash_elem* e)
{
  return e == NULL ? NULL : e->key;
}

SCR_FN scr_hash* scr_hash_elem_hash(const scr_hash_elem* e)
{
  return e == NULL ? NULL : e->hash;
}

/* Remove all elements. */
SCR_FN void scr_hash_unset_all(scr_hash* h)
{
  scr_hash_elem *e, *next;

  if (h == NULL) return;
  for (e = h->first; e != NULL; e = next) {
    next = e->next;
    scr_hash_unset_all(e->hash);
    free(e->hash);
    free(e->key);
    free(e);
  }
  free(h->bucket);
  memset(h, 0, sizeof *h);
}

/* Free *H and all below it, and make *H NULL. */
SCR_FN void scr_hash_delete(scr_hash** h)
{
  if (h == NULL) return;
  scr_hash_unset_all(*h);
  scr_free(h);
}

/* ---- elements ---- */

/* The element of KEY, or NULL. */
SCR_FN scr_hash_elem* scr_hash_elem_get(const scr_hash* h, const char* key)
{
  scr_hash_elem* e;
  uint32_t       key_hash;

  if (h == NULL || key == NULL) return NULL;
  key_hash = scr_hash_of_key(key);
  for (e = h->bucket ? h->bucket[key_hash & h->mask] : h->first; e != NULL; e = h->bucket ? e->chain : e->next)
    if (e->key_hash == key_hash && strcmp(e->key, key) == 0) return e;
  return NULL;
}

/* Sort the elements into buckets, at least twice as many as elements.  Without memory the search is only slower. */
SCR_FN void scr_hash_index(scr_hash* h)
{
  size_t          n = 4 * SCR_HASH_LINEAR;
  scr_hash_elem** bucket;
  scr_hash_elem*  e;

  while (n < 2 * (size_t)h->count) n *= 2;
  bucket = (scr_hash_elem**)calloc(n, sizeof *bucket);
  if (bucket == NULL) return;
  free(h->bucket);
  h->bucket = bucket;
  h->mask = (uint32_t)(n - 1);
  for (e = h->first; e != NULL; e = e->next) {
    e->chain = bucket[e->key_hash & h->mask];
    bucket[e->key_hash & h->mask] = e;
  }
}

/* Put VALUE under KEY, in place of what is there, and return it.  VALUE then belongs to H; it is gone on an error. */
SCR_FN scr_hash* scr_hash_set(scr_hash* h, const char* key, scr_hash* value)
{
  scr_hash_elem* e;

  if (h == NULL || key == NULL || value == NULL) {
    scr_hash_delete(&value);
    return NULL;
  }
  e = scr_hash_elem_get(h, key);
  if (e != NULL) {
    if (e->hash != value) scr_hash_delete(&e->hash);
    e->hash = value;
    return value;
  }
  e = (scr_hash_elem*)scr_malloc(sizeof *e);
  if (e != NULL) e->key = scr_strdup(key);
  if (e == NULL || e->key == NULL) {
    free(e);
    scr_hash_delete(&value);
    return NULL;
  }
  e->hash = value;
  e->key_hash = scr_hash_of_key(key);
  e->prev = h->last;
  if (h->last != NULL) h->last->next = e;
  else h->first = e;
  h->last = e;
  h->count++;
  if (h->bucket != NULL) {
    e->chain = h->bucket[e->key_hash & h->mask];
    h->bucket[e->key_hash & h->mask] = e;
  }
  if (h->count > (h->bucket ? (int)h->mask : SCR_HASH_LINEAR)) scr_hash_index(h);
  return value;
}

SCR_FN scr_hash* scr_hash_get(const scr_hash* h, const char* key)
{
  return scr_hash_elem_hash(scr_hash_elem_get(h, key));
}

/* Take the element KEY out of H and return its hash, which the caller owns; NULL when there is none. */
SCR_FN scr_hash* scr_hash_extract(scr_hash* h, const char* key)
{
  scr_hash_elem* e = scr_hash_elem_get(h, key);
  scr_hash*      value;

  if (e == NULL) return NULL;
  if (e->prev != NULL) e->prev->next = e->next;
  else h->first = e->next;
  if (e->next != NULL) e->next->prev = e->prev;
  else h->last = e->prev;
  if (h->bucket != NULL) {
    scr_hash_elem** p = &h->bucket[e->key_hash & h->mask];
    while (*p != e) p = &(*p)->chain;
    *p = e->chain;
  }
  h->count--;
  value = e->hash;
  free(e->key);
  free(e);
  return value;
}

SCR_FN int scr_hash_unset(scr_hash* h, const char* key)
{
  scr_hash* value = scr_hash_extract(h, key);
  scr_hash_delete(&value);
  return SCR_SUCCESS;
}

/* ---- two keys as a pair ---- */

/* The hash below KEY and then VALUE, or NULL. */
SCR_FN scr_hash* scr_hash_get_kv(const scr_hash* h, const char* key, const char* value)
{
  return scr_hash_get(scr_hash_get(h, key), value);
}

/* The hash below KEY and then VALUE, which are made when they are missing; NULL without memory. */
SCR_FN scr_hash* scr_hash_set_kv(scr_hash* h, const char* key, const char* value)
{
  scr_hash *k = scr_hash_get(h, key), *v;

  if (k == NULL) k = scr_hash_set(h, key, scr_hash_new());
  v = scr_hash_get(k, value);
  return v != NULL ? v : scr_hash_set(k, value, scr_hash_new());
}

/* Remove VALUE below KEY, and KEY itself when nothing is left below it. */
SCR_FN int scr_hash_unset_kv(scr_hash* h, const char* key, const char* value)
{
  scr_hash* k = scr_hash_get(h, key);

  scr_hash_unset(k, value);
  return k != NULL && k->count == 0 ? scr_hash_unset(h, key) : SCR_SUCCESS;
}

SCR_FN scr_hash* scr_hash_get_kv_int(const scr_hash* h, const char* key, int value)
{
  char text[16];
  snprintf(text, sizeof text, "%d", value);
  return scr_hash_get_kv(h, key, text);
}

SCR_FN scr_hash* scr_hash_set_kv_int(scr_hash* h, const char* key, int value)
{
  char text[16];
  snprintf(text, sizeof text, "%d", value);
  return scr_hash_set_kv(h, key, text);
}

SCR_FN int scr_hash_unset_kv_int(scr_hash* h, const char* key, int value)
{
  char text[16];
  snprintf(text, sizeof text, "%d", value);
  return scr_hash_unset_kv(h, key, text);
}

/* The first key below KEY, which is the value of a field that has one; NULL when there is none. */
SCR_FN const char* scr_hash_elem_get_first_val(const scr_hash* h, const char* key)
{
  return scr_hash_elem_key(scr_hash_elem_first(scr_hash_get(h, key)));
}

/* ---- keys by format ---- */

/*
** The next key of a format: words and conversions separated by single spaces; the conversions are %s and %d.  Returns 1
** and a new string in *KEY, 0 at the end, or -1 for another conversion, a NULL string, or without memory: the keys then
** lead nowhere.  *FORMAT moves on.
*/
SCR_FN int scr_hash_format_key(const char** format, va_list* ap, char** key)
{
  const char* f = *format + strspn(*format, " ");
  size_t      n = strcspn(f, " ");

  *format = f + n;
  *key = NULL;
  if (n == 0) return 0;
  if (f[0] != '%') *key = scr_strdupf("%.*s", (int)n, f);
  else if (n == 2 && f[1] == 's') *key = scr_strdup(va_arg(*ap, const char*));
  else if (n == 2 && f[1] == 'd') *key = scr_strdupf("%d", va_arg(*ap, int));
  if (*key == NULL) SCR_ERR(SCR_ERR_ARG, "no key can be made by %.*s", (int)n, f);
  return *key != NULL ? 1 : -1;
}

/*
** Make the keys of FORMAT one below the other and put VALUE under the last one.  When VALUE is NULL, what is there
** stays, or an empty hash is made.  Returns what is under the last key, or NULL, with VALUE gone, when a key cannot be
** made.
*/
SCR_FN scr_hash* scr_hash_setf(scr_hash* h, scr_hash* value, const char* format, ...)
{
  va_list ap;
  char *  key = NULL, *next = NULL;
  int     more;

  va_start(ap, format);
  more = scr_hash_format_key(&format, &ap, &key);
  while (h != NULL && more > 0) {
    scr_hash* below = scr_hash_get(h, key);
    more = scr_hash_format_key(&format, &ap, &next);
    if (more == 0 && value != NULL) {
      below = scr_hash_set(h, key, value);
      value = NULL;
    } else if (below == NULL) {
      below = scr_hash_set(h, key, scr_hash_new());
    }
    h = below;
    free(key);
    key = next;
  }
  if (more < 0) h = NULL;
  va_end(ap);
  free(key);
  scr_hash_delete(&value); /* not placed */
  return h;
}

/* The hash below the keys of FORMAT, or NULL. */
SCR_FN scr_hash* scr_hash_getf(const scr_hash* h, const char* format, ...)
{
  va_list   ap;
  char*     key = NULL;
  scr_hash* below = NULL;
  int       more = 0;

  va_start(ap, format);
  while (h != NULL && (more = scr_hash_format_key(&format, &ap, &key)) > 0) {
    h = below = scr_hash_get(h, key);
    free(key);
  }
  va_end(ap);
  return more < 0 ? NULL : below;
}

/* ---- whole hashes ---- */

/* Add a copy of SRC to DST; what is below equal keys is merged in turn. */
SCR_FN int scr_hash_merge(scr_hash* dst, const scr_hash* src)
{
  const scr_hash_elem* e;
  int                  rc = SCR_SUCCESS;

  for (e = scr_hash_elem_first(src); e != NULL && rc == SCR_SUCCESS; e = e->next) {
    scr_hash* below = scr_hash_get(dst, e->key);
    if (below == NULL) below = scr_hash_set(dst, e->key, scr_hash_new());
    rc = below == NULL ? SCR_ERR_OOM() : scr_hash_merge(below, e->hash);
  }
  return rc;
}

/* A new copy of H; an empty hash when H is NULL. */
SCR_FN scr_hash* scr_hash_dup(const scr_hash* h)
{
  scr_hash* copy = scr_hash_new();
  scr_hash_merge(copy, h);
  return copy;
}

SCR_FN int scr_hash_cmp_str(const void* a, const void* b)
{
  return strcmp((*(scr_hash_elem* const*)a)->key, (*(scr_hash_elem* const*)b)->key);
}

SCR_FN int scr_hash_cmp_int(const void* a, const void* b)
{
  long long x = atoll((*(scr_hash_elem*const*)a)->key), y = atoll((*(scr_hash_elem*const*)b)->key);
  return (x > y) - (x < y);
}

/* Sort the elements of H, but not those below them, by CMP. */
SCR_FN int scr_hash_sort_by(scr_hash* h, int direction, int (*cmp)(const void*, const void*))
{
  scr_hash_elem **all, *e;
  int             i, n = scr_hash_size(h);

  if (n < 2) return SCR_SUCCESS;
  all = (scr_hash_elem**)scr_malloc((size_t)n * sizeof *all);
  if (all == NULL) return SCR_ERR_OOM();
  for (i = 0, e = h->first; e != NULL; e = e->next) all[i++] = e;
  qsort(all, (size_t)n, sizeof *all, cmp);
  h->first = h->last = NULL;
  for (i = 0; i < n; i++) {
    e = all[direction == SCR_HASH_SORT_ASCENDING ? i : n - 1 - i];
    e->prev = h->last;
    e->next = NULL;
    if (h->last != NULL) h->last->next = e;
    else h->first = e;
    h->last = e;
  }
  free(all);
  return SCR_SUCCESS;
}

SCR_FN int scr_hash_sort(scr_hash* h, int direction)
{
  return scr_hash_sort_by(h, direction, scr_hash_cmp_str);
}

SCR_FN int scr_hash_sort_int(scr_hash* h, int direction)
{
  return scr_hash_sort_by(h, direction, scr_hash_cmp_int);
}

/* ---- packed form: count, then key and hash of each element; numbers big-endian ---- */

SCR_FN void scr_put_be(void* p, uint64_t v, int bytes)
{
  unsigned char* c = (unsigned char*)p;
  while (bytes-- > 0) *c++ = (unsigned char)(v >> 8 * bytes);
}

SCR_FN uint64_t scr_get_be(const void* p, int bytes)
{
  const unsigned char* c = (const unsigned char*)p;
  uint64_t             v = 0;
  while (bytes-- > 0) v = v << 8 | *c++;
  return v;
}

/* The size of the packed form in bytes. */
SCR_FN size_t scr_hash_pack_size(const scr_hash* h)
{
  const scr_hash_elem* e;
  size_t               n = 4;
  for (e = scr_hash_elem_first(h); e != NULL; e = e->next) n += strlen(e->key) + 1 + scr_hash_pack_size(e->hash);
  return n;
}

/* Pack H into BUF, which has scr_hash_pack_size bytes, and return how many these are. */
SCR_FN size_t scr_hash_pack(void* buf, const scr_hash* h)
{
  const scr_hash_elem* e;
  char*                p = (char*)buf;

  scr_put_be(p, (uint64_t)scr_hash_size(h), 4);
  p += 4;
  for (e = scr_hash_elem_first(h); e != NULL; e = e->next) {
    size_t n = strlen(e->key) + 1;
    memcpy(p, e->key, n);
    p += n;
    p += scr_hash_pack(p, e->hash);
  }
  return (size_t)(p - (char*)buf);
}

SCR_FN int scr_hash_unpack_below(const char* p, size_t n, size_t* used, scr_hash* h, int depth)
{
  size_t   at = 4, below;
  uint64_t i, count;

  if (depth > SCR_HASH_DEPTH)
    return SCR_ERR(SCR_ERR_FORMAT, "a packed hash is more than %d levels deep", SCR_HASH_DEPTH);
  if (n < 4) return SCR_ERR(SCR_ERR_FORMAT, "a packed hash ends in the middle of a count");
  count = scr_get_be(p, 4);
  if (count > (n - 4) / 5) /* an element has at least the end of its key and a count */
    return SCR_ERR(SCR_ERR_FORMAT, "a packed hash claims %" PRIu64 " elements in %zu bytes", count, n - 4);
  for (i = 0; i < count; i++) {
    const char* end = at < n ? (const char*)memchr(p + at, '\0', n - at) : NULL;
    const char* key = p + at;
    scr_hash*   value;
    int         rc;
    if (end == NULL) return SCR_ERR(SCR_ERR_FORMAT, "a packed hash ends in the middle of a key");
    at = (size_t)(end - p) + 1;
    value = scr_hash_new();
    if (value == NULL) return SCR_ERR_OOM();
    rc = scr_hash_unpack_below(p + at, n - at, &below, value, depth + 1);
    if (rc != SCR_SUCCESS) {
      scr_hash_delete(&value);
      return rc;
    }
    at += below;
    if (scr_hash_get(h, key) == NULL) {
      if (scr_hash_set(h, key, value) == NULL) return SCR_ERR_OOM();
    } else {
      rc = scr_hash_merge(scr_hash_get(h, key), value);
      scr_hash_delete(&value);
      if (rc != SCR_SUCCESS) return rc;
    }
  }
  *used = at;
  return SCR_SUCCESS;
}

/*
** Unpack the hash at the start of the N bytes at BUF and merge it into H; *USED is how many bytes it took.
** SCR_ERR_FORMAT when the bytes are not a packed hash (H4); H may then hold a part of it.
*/
SCR_FN int scr_hash_unpack(const void* buf, size_t n, size_t* used, scr_hash* h)
{
  return scr_hash_unpack_below((const char*)buf, n, used, h, 1);
}

/* ---- fields: a key with one value ---- */

/* Make VALUE the only one below KEY. */
SCR_FN int scr_hash_util_set_str(scr_hash* h, const char* key, const char* value)
{
  scr_hash* k;

  if (h == NULL || key == NULL || value == NULL) return SCR_ERR_ARG;
  k = scr_hash_new();
  if (scr_hash_set(k, value, scr_hash_new()) == NULL) {
    scr_hash_delete(&k);
    return SCR_ERR_OOM();
  }
  return scr_hash_set(h, key, k) == NULL ? SCR_ERR_OOM() : SCR_SUCCESS;
}

SCR_FN SCR_FORMAT(3, 4) int scr_hash_util_setf(scr_hash* h, const char* key, const char* format, ...)
{
  va_list ap;
  char    text[32];

  va_start(ap, format);
  vsnprintf(text, sizeof text, format, ap);
  va_end(ap);
  return scr_hash_util_set_str(h, key, text);
}

SCR_FN int scr_hash_util_set_int(scr_hash* h, const char* key, int value)
{
  return scr_hash_util_setf(h, key, "%d", value);
}

SCR_FN int scr_hash_util_set_int64(scr_hash* h, const char* key, int64_t value)
{
  return scr_hash_util_setf(h, key, "%" PRId64, value);
}

SCR_FN int scr_hash_util_set_bytecount(scr_hash* h, const char* key, uint64_t value)
{
  return scr_hash_util_setf(h, key, "%" PRIu64, value);
}

/* Always ten characters, so that the value can be patched in place. */
SCR_FN int scr_hash_util_set_crc32_fixed(scr_hash* h, const char* key, uLong value)
{
  return scr_hash_util_setf(h, key, "0x%08lx", (unsigned long)value);
}

/*
** The getters return SCR_ERR_NOT_FOUND when KEY has no value and SCR_ERR_FORMAT when the value is of another kind, both
** without a message; *VALUE is then as it was.
*/
SCR_FN int scr_hash_util_get_str(const scr_hash* h, const char* key, const char** value)
{
  const char* v = scr_hash_elem_get_first_val(h, key);

  if (v == NULL) return SCR_ERR_NOT_FOUND;
  *value = v;
  return SCR_SUCCESS;
}

SCR_FN int scr_hash_util_get_int64(const scr_hash* h, const char* key, int64_t* value)
{
  const char* v = scr_hash_elem_get_first_val(h, key);

  if (v == NULL) return SCR_ERR_NOT_FOUND;
  return scr_str_int64(v, value) == SCR_SUCCESS ? SCR_SUCCESS : SCR_ERR_FORMAT;
}

SCR_FN int scr_hash_util_get_int(const scr_hash* h, const char* key, int* value)
{
  int64_t v;
  int     rc = scr_hash_util_get_int64(h, key, &v);

  if (rc != SCR_SUCCESS) return rc;
  if (v < INT_MIN || v > INT_MAX) return SCR_ERR_FORMAT;
  *value = (int)v;
  return SCR_SUCCESS;
}

/* The number without a sign, written in BASE, that the value is as a whole. */
SCR_FN int scr_hash_util_get_unsigned(const scr_hash* h, const char* key, int base, uint64_t* value)
{
  const char* v = scr_hash_elem_get_first_val(h, key);
  char*       end;
  uint64_t    n;

  if (v == NULL) return SCR_ERR_NOT_FOUND;
  if (!isxdigit((unsigned char)*v)) return SCR_ERR_FORMAT;
  errno = 0;
  n = strtoull(v, &end, base);
  if (*end != '\0' || errno != 0) return SCR_ERR_FORMAT;
  *value = n;
  return SCR_SUCCESS;
}

SCR_FN int scr_hash_util_get_bytecount(const scr_hash* h, const char* key, uint64_t* value)
{
  return scr_hash_util_get_unsigned(h, key, 10, value);
}

SCR_FN int scr_hash_util_get_crc32(const scr_hash* h, const char* key, uLong* value)
{
  uint64_t v;
  int      rc = scr_hash_util_get_unsigned(h, key, 16, &v);

  if (rc != SCR_SUCCESS) return rc;
  if (v > 0xffffffffu) return SCR_ERR_FORMAT;
  *value = (uLong)v;
  return SCR_SUCCESS;
}

/* The value of KEY, or OTHERWISE when there is none or it is of another kind. */
SCR_FN int scr_hash_int_or(const scr_hash* h, const char* key, int otherwise)
{
  int value;
  return scr_hash_util_get_int(h, key, &value) == SCR_SUCCESS ? value : otherwise;
}

SCR_FN const char* scr_hash_str_or(const scr_hash* h, const char* key, const char* otherwise)
{
  const char* value = scr_hash_elem_get_first_val(h, key);
  return value != NULL ? value : otherwise;
}

/* ==== 06 HASH FILES =====================================================================================
** Durable files that hold one hash each, such as the filemaps, the index, the flush file and the halt file.
**
** Uses       platform, errors, memory, path, hash; the CRC32 of zlib.
** Offers     scr_hash_image, scr_hash_file_write, scr_hash_file_read, scr_hash_file_read_head, scr_hash_file_lock,
**            scr_hash_file_unlock, scr_dir_sync, scr_fsync_enabled.
** Invariants
**   I1  A reader sees the old file or the new one, never a mixture; after success the new one survives a crash.
**   I2  A file whose length or CRC32 is wrong is reported and never parsed.
**   I3  Locks are taken on <file>.lock, which is never renamed or removed.
** Failure    The file is as it was, or fully replaced.
** Format     magic u32, type u16, version u16, size u64, flags u32, packed hash, CRC32 u32 of all before it;
**            big-endian.
** ====================================================================================================== */

#define SCR_FILE_MAGIC      0x951fc3f5u
#define SCR_FILE_TYPE_HASH  1
#define SCR_FILE_VERSION    1
#define SCR_FILE_FLAG_CRC32 1u
#define SCR_FILE_HEAD       20
#define SCR_FILE_BYTES_MAX  ((uint64_t)1 << 31) /* a metadata file is read into memory */

static int scr_fsync_enabled = 1; /* SCR_FSYNC */

/* Append to B what a file of H holds: header, packed hash, CRC32.  SCR_ERR_MEM while scr_oom is set (E2). */
SCR_FN int scr_hash_image(const scr_hash* h, scr_buf* b)
{
  size_t start = b->n, body = scr_hash_pack_size(h);
  char*  p;

  scr_buf_add(b, NULL, SCR_FILE_HEAD + body + 4);
  if (b->failed || scr_oom) return SCR_ERR_OOM();
  p = b->p + start;
  scr_put_be(p, SCR_FILE_MAGIC, 4);
  scr_put_be(p + 4, SCR_FILE_TYPE_HASH, 2);
  scr_put_be(p + 6, SCR_FILE_VERSION, 2);
  scr_put_be(p + 8, SCR_FILE_HEAD + body + 4, 8);
  scr_put_be(p + 16, SCR_FILE_FLAG_CRC32, 4);
  scr_hash_pack(p + SCR_FILE_HEAD, h);
  scr_put_be(p + SCR_FILE_HEAD + body, crc32_z(0, (const Bytef*)p, SCR_FILE_HEAD + body), 4);
  return SCR_SUCCESS;
}

/* Check the header of an image, of which N bytes are at P, and give its whole size.  WHAT names it in messages. */
SCR_FN int scr_hash_image_size(const char* p, size_t n, uint64_t* size, const char* what)
{
  if (n < SCR_FILE_HEAD) return SCR_ERR(SCR_ERR_FORMAT, "%s is truncated: %zu bytes, less than a header", what, n);
  if (scr_get_be(p, 4) != SCR_FILE_MAGIC) return SCR_ERR(SCR_ERR_FORMAT, "%s is not a file of this library", what);
  if (scr_get_be(p + 4, 2) != SCR_FILE_TYPE_HASH || scr_get_be(p + 6, 2) != SCR_FILE_VERSION)
    return SCR_ERR(SCR_ERR_FORMAT, "%s has type %u, version %u; only type 1, version 1 can be read", what,
                   (unsigned)scr_get_be(p + 4, 2), (unsigned)scr_get_be(p + 6, 2));
  *size = scr_get_be(p + 8, 8);
  if (*size < SCR_FILE_HEAD + 4 || *size > SCR_FILE_BYTES_MAX)
    return SCR_ERR(SCR_ERR_FORMAT, "%s claims an impossible size of %" PRIu64 " bytes", what, *size);
  return SCR_SUCCESS;
}

/*
** Merge the image at the start of the N bytes at DATA into H; *USED is its size, and anything may follow it.  On
** SCR_ERR_FORMAT or SCR_ERR_CRC, H is unchanged.
*/
SCR_FN int scr_hash_image_parse(const void* data, size_t n, size_t* used, scr_hash* h, const char* what)
{
  const char* p = (const char*)data;
  uint64_t    size;
  size_t      body, got = 0;
  scr_hash*   fresh;
  int         rc;

  if ((rc = scr_hash_image_size(p, n, &size, what)) != SCR_SUCCESS) return rc;
  if (size > n) return SCR_ERR(SCR_ERR_FORMAT, "%s is truncated: %zu bytes of %" PRIu64, what, n, size);
  body = (size_t)size - SCR_FILE_HEAD - 4;
  if ((scr_get_be(p + 16, 4) & SCR_FILE_FLAG_CRC32) == 0) return SCR_ERR(SCR_ERR_FORMAT, "%s has no CRC32", what);
  if (scr_get_be(p + size - 4, 4) != crc32_z(0, (const Bytef*)p, (size_t)size - 4))
    return SCR_ERR(SCR_ERR_CRC, "%s is corrupt: its CRC32 is wrong; restore it or move it away", what);
  if ((fresh = scr_hash_new()) == NULL) return SCR_ERR_OOM();
  rc = scr_hash_unpack(p + SCR_FILE_HEAD, body, &got, fresh);
  if (rc == SCR_SUCCESS && got != body)
    rc = SCR_ERR(SCR_ERR_FORMAT, "%s: %zu bytes follow the packed hash", what, body - got);
  else if (rc == SCR_ERR_FORMAT) rc = SCR_ERR(rc, "%s: %s", what, scr_err_text);
  if (rc == SCR_SUCCESS) rc = scr_hash_merge(h, fresh);
  scr_hash_delete(&fresh);
  *used = (size_t)size;
  return rc;
}

/* ---- reading ---- */

/* Append to B, which holds the beginning of the file, its next N bytes, or fewer at its end. */
SCR_FN int scr_file_load(int fd, size_t n, scr_buf* b, const char* path)
{
  size_t  start = b->n;
  ssize_t got;

  scr_buf_add(b, NULL, n);
  if (b->failed) return SCR_ERR_OOM();
  got = scr_pread_all(fd, b->p + start, n, (off_t)start);
  if (got < 0) return SCR_ERRNO("cannot read %s", path);
  b->n = start + (size_t)got;
  return SCR_SUCCESS;
}

/*
** Merge the image at the start of the file PATH into H; *HEAD is its size.  With WHOLE nothing may follow it.
**
** One open serves header and body: between two, the file could be replaced by one of another size.
*/
SCR_FN int scr_hash_file_load(const char* path, int whole, scr_hash* h, uint64_t* head)
{
  struct stat st;
  scr_buf     b = {NULL, 0, 0, 0};
  uint64_t    size = 0, file;
  size_t      used = 0;
  int         rc, fd = scr_os.open(path, O_RDONLY | O_NONBLOCK, 0); /* opening a FIFO must not wait */

  *head = 0;
  if (fd < 0 && errno == ENOENT) return SCR_ERR(SCR_ERR_NOT_FOUND, "%s is missing", path);
  if (fd < 0) return SCR_ERRNO("cannot open %s", path);
  if (fstat(fd, &st) < 0) rc = SCR_ERRNO("cannot look at %s", path);
  else if (!S_ISREG(st.st_mode)) rc = SCR_ERR(SCR_ERR_FORMAT, "%s is not a plain file", path);
  else rc = scr_file_load(fd, SCR_FILE_HEAD, &b, path);
  if (rc == SCR_SUCCESS) rc = scr_hash_image_size(b.p, b.n, &size, path);
  if (rc == SCR_SUCCESS) {
    file = (uint64_t)st.st_size;
    if (size > file) rc = SCR_ERR(SCR_ERR_FORMAT, "%s is truncated: %" PRIu64 " bytes of %" PRIu64, path, file, size);
    else if (whole && size < file)
      rc = SCR_ERR(SCR_ERR_FORMAT, "%s has %" PRIu64 " bytes behind its end", path, file - size);
    else rc = scr_file_load(fd, (size_t)size - SCR_FILE_HEAD, &b, path);
  }
  scr_os.close(fd);
  if (rc == SCR_SUCCESS) rc = scr_hash_image_parse(b.p, b.n, &used, h, path);
  if (rc == SCR_SUCCESS) *head = used;
  scr_buf_free(&b);
  return rc;
}

/*
** Merge the hash at the start of the file PATH, which other data may follow, into H; *HEAD is the size of its image.
** SCR_ERR_NOT_FOUND when the file is missing; on an error H is unchanged.
*/
SCR_FN int scr_hash_file_read_head(const char* path, scr_hash* h, uint64_t* head)
{
  return scr_hash_file_load(path, 0, h, head);
}

/* Merge the hash file PATH into H.  SCR_ERR_NOT_FOUND when it is missing; on an error H is unchanged. */
SCR_FN int scr_hash_file_read(const char* path, scr_hash* h)
{
  uint64_t head;
  return scr_hash_file_load(path, 1, h, &head);
}

/* ---- writing ---- */

/* Make the name of the file PATH durable: sync the directory that holds it. */
SCR_FN int scr_dir_sync(const char* path)
{
  char dir[SCR_MAX_FILENAME];
  int  fd, rc;

  if (!scr_fsync_enabled) return SCR_SUCCESS;
  if ((rc = scr_path_dir_of(path, dir, sizeof dir)) != SCR_SUCCESS) return rc;
  fd = scr_os.open(dir, O_RDONLY | O_DIRECTORY, 0);
  if (fd < 0) return SCR_ERRNO("cannot open the directory %s", dir);
  if (scr_os.fsync(fd) < 0 && errno != EINVAL && errno != EROFS) rc = SCR_ERRNO("cannot sync the directory %s", dir);
  scr_os.close(fd);
  return rc;
}

/*
** Replace the file PATH by H.
**
** On SCR_SUCCESS the contents survive a crash of the node.  On an error PATH holds the whole old file or the
** whole new one.  Callers that share PATH hold its lock.
**
** Why sync the directory: a crash may undo the rename, and this rank would then deny a dataset that its set counts on.
*/
SCR_FN int scr_hash_file_write(const char* path, const scr_hash* h)
{
  static unsigned count = 0;
  char            tmp[SCR_MAX_FILENAME + 64];
  scr_buf         b = {NULL, 0, 0, 0};
  int             fd = -1, made = 0, tries = 1000, rc;

  if ((rc = scr_hash_image(h, &b)) != SCR_SUCCESS) goto out;
  do { /* a process of the same number may have died here, or may be writing on another machine */
    rc = scr_fmt(tmp, sizeof tmp, "%s.%s.%ld.%u.tmp", path, scr_msg_host, (long)getpid(), count++);
    if (rc != SCR_SUCCESS) goto out;
    fd = scr_os.open(tmp, O_WRONLY | O_CREAT | O_EXCL, 0666);
  } while (fd < 0 && errno == EEXIST && --tries > 0);
  if (fd < 0) {
    rc = SCR_ERRNO("cannot create %s", tmp);
    goto out;
  }
  made = 1;
  if (scr_write_all(fd, b.p, b.n) < 0) {
    rc = SCR_ERRNO("cannot write %s", tmp);
    goto out;
  }
  if (scr_fsync_enabled && scr_os.fsync(fd) < 0) {
    rc = SCR_ERRNO("cannot sync %s", tmp);
    goto out;
  }
  rc = scr_os.close(fd) < 0 ? SCR_ERRNO("cannot close %s", tmp) : SCR_SUCCESS;
  fd = -1;
  if (rc != SCR_SUCCESS) goto out;
  if (scr_os.rename(tmp, path) < 0) {
    rc = SCR_ERRNO("cannot rename %s to %s", tmp, path);
    goto out;
  }
  made = 0;
  rc = scr_dir_sync(path);
out:
  if (fd >= 0) scr_os.close(fd);
  if (made) scr_os.unlink(tmp);
  scr_buf_free(&b);
  return rc;
}

/* ---- locks ---- */

/* Take the lock <PATH>.lock, and wait until it is free.  *FD holds it; on an error *FD is -1. */
SCR_FN int scr_hash_file_lock(const char* path, int* fd)
{
  char lock[SCR_MAX_FILENAME + 8];
  int  rc;

  *fd = -1;
  if ((rc = scr_fmt(lock, sizeof lock, "%s.lock", path)) != SCR_SUCCESS) return rc;
  *fd = scr_os.open(lock, O_RDWR | O_CREAT | O_NOFOLLOW, 0666);
  if (*fd < 0) return SCR_ERRNO("cannot open the lock %s", lock);
  while (scr_os.flock(*fd, LOCK_EX) < 0) {
    if (errno == EINTR) continue;
    rc = SCR_ERRNO("cannot lock %s", lock);
    scr_os.close(*fd);
    *fd = -1;
    return rc;
  }
  return SCR_SUCCESS;
}

SCR_FN void scr_hash_file_unlock(int* fd)
{
  if (*fd >= 0) scr_os.close(*fd); /* this releases the lock */
  *fd = -1;
}

/* ==== 07 PARAMETERS =====================================================================================
** What the user can set: the table of parameters, the sources they come from, their grammar, and their checks.
**
** The settings are one hash with a child for each source, ENV, USER, APP and SYSTEM, each KEY -> VALUE -> children
** (CKEY -> CVALUE), and FROM, which names the two files in words.  One rank reads them and sends the hash to all.
**
** Uses       platform, errors, memory, hash.
** Offers     scr_params_read, scr_params_read_env, scr_params_config, scr_params_config_is_query,
**            scr_params_check, scr_param_get, scr_param_get_hash, scr_param_int, scr_param_bytes, scr_param_real.
** Invariants
**   V1  A lookup takes the first of environment, user file, SCR_Config, system file, default.  An empty value counts
**       as not set.
**   V2  A parameter of the table has one value in a source, the last that was given; the lines GROUPS, STORE and CKPT
**       keep one entry for each value, in the order of the file.
**   V3  A bad value is an error that names the parameter, the value, its source and what is allowed; an unknown name
**       is a warning, because files are shared with other versions.
** Failure    SCR_ERR_PARAM for what a user wrote, with the line when it was in a file.
** ====================================================================================================== */

#define SCR_PARAM_WORD_MAX 4096               /* longest key or value in a file, with the NUL */
#define SCR_PARAM_FILE_MAX ((size_t)64 << 20) /* a parameter file is read into memory */

/* The types: X(name, what is allowed, in words). */
#define SCR_PARAM_TYPES(X)                                                                                             \
  X(BOOL, "0 or 1")                                                                                                    \
  X(COUNT, "an integer, 0 or more")                                                                                    \
  X(POSITIVE, "an integer, 1 or more")                                                                                 \
  X(BYTES, "a size from 1 byte to 1G, such as 65536, 128K or 1.5MB")                                                   \
  X(PERCENT, "a number from 0 to 100")                                                                                 \
  X(TEXT, "a text shorter than 1024 bytes")                                                                            \
  X(NAME, "a name without '/', shorter than 256 bytes, not . or ..")                                                   \
  X(PATH, "a path shorter than 1024 bytes")                                                                            \
  X(ABSPATH, "an absolute path shorter than 1024 bytes")                                                               \
  X(ENUM, "one of")

#define SCR_PARAM_TYPE_ENUM(name, text) SCR_PARAM_##name,
#define SCR_PARAM_TYPE_TEXT(name, text) text,
typedef enum { SCR_PARAM_TYPES(SCR_PARAM_TYPE_ENUM) SCR_PARAM_NTYPES } scr_param_type;
static const char* const scr_param_allowed[] = {SCR_PARAM_TYPES(SCR_PARAM_TYPE_TEXT) ""};
#undef SCR_PARAM_TYPE_ENUM
#undef SCR_PARAM_TYPE_TEXT

/* Who may set it. */
typedef enum {
  SCR_PARAM_ANY,  /* every source */
  SCR_PARAM_BASE, /* every source, or only the system file with -DSCR_LOCK_BASES */
  SCR_PARAM_LINE  /* a line with children: in files and in SCR_Config only */
} scr_param_who;

/* X(name, type, choices of an ENUM, default, who, the sentence that README.md shows) */
#define SCR_PARAMS(X)                                                                                                  \
  X(SCR_ENABLE, BOOL, NULL, "1", ANY,                                                                                  \
    "0 turns the library off: every call returns SCR_ERR_DISABLED at once, and the program runs as if it were not "    \
    "there.")                                                                                                          \
  X(SCR_DEBUG, COUNT, NULL, "0", ANY,                                                                                  \
    "1 reports on stderr, from one rank, what the library does, with times and bandwidths; 2 reports more.")           \
  X(SCR_PREFIX, PATH, NULL, NULL, ANY,                                                                                 \
    "Directory on the parallel file system below which all files of the job lie; when not set, the working "           \
    "directory.")                                                                                                      \
  X(SCR_CONF_FILE, PATH, NULL, NULL, ANY,                                                                              \
    "The user file of parameters; when not set, `.scrconf` in the prefix directory if there is one.")                  \
  X(SCR_JOB_ID, NAME, NULL, NULL, ANY,                                                                                 \
    "Id of the allocation, which names the directories of the job in control and cache; when not set, SLURM_JOB_ID, "  \
    "PBS_JOBID, LSB_JOBID, FLUX_JOB_ID or `defjobid`.")                                                                \
  X(SCR_USER_NAME, NAME, NULL, NULL, ANY,                                                                              \
    "Name of the user in the paths of control and cache; when not set, USER, the account's name or the user id.")      \
  X(SCR_JOB_NAME, TEXT, NULL, NULL, ANY, "Name of the simulation, recorded with each dataset.")                        \
  X(SCR_CLUSTER_NAME, TEXT, NULL, NULL, ANY, "Name of the machine, recorded with each dataset.")                       \
  X(SCR_CNTL_BASE, ABSPATH, NULL, "/tmp", BASE,                                                                        \
    "Node-local directory for the library's own records, which lie in `<base>/<user>/scr.<job id>`.")                  \
  X(SCR_CACHE_BASE, ABSPATH, NULL, "/tmp", ANY,                                                                        \
    "Node-local directory of the cache when no STORE line names one, and the store of CKPT lines without STORE.")      \
  X(SCR_CACHE_SIZE, POSITIVE, NULL, "1", ANY,                                                                          \
    "Number of datasets that stay in a store whose STORE line has no COUNT; the oldest goes when a new one is "        \
    "complete.")                                                                                                       \
  X(SCR_CACHE_PURGE, BOOL, NULL, "0", ANY, "1 deletes all datasets of the job from the cache in SCR_Init.")            \
  X(SCR_COPY_TYPE, ENUM, "SINGLE|PARTNER|XOR|RS|FILE", "XOR", ANY,                                                     \
    "Redundancy scheme: SINGLE keeps each file once; PARTNER keeps a copy on another node; XOR adds parity that "      \
    "repairs the loss of one member of each set; RS (Reed-Solomon) repairs SCR_SET_FAILURES losses; FILE uses the "    \
    "CKPT lines.")                                                                                                     \
  X(SCR_SET_SIZE, POSITIVE, NULL, "8", ANY,                                                                            \
    "Least number of ranks in a redundancy set, when there are as many groups; larger sets need less space and "       \
    "survive fewer losses.")                                                                                           \
  X(SCR_SET_FAILURES, POSITIVE, NULL, "2", ANY,                                                                        \
    "Members of a redundancy set that may be lost at once, with SCR_COPY_TYPE=RS.")                                    \
  X(SCR_GROUP, TEXT, NULL, "NODE", ANY,                                                                                \
    "Group of ranks that fail together, NODE, WORLD or a name from GROUPS lines; no set has two members of one "       \
    "group.")                                                                                                          \
  X(SCR_CURRENT, TEXT, NULL, NULL, ANY, "Name of the checkpoint to restart from, in place of the newest one.")         \
  X(SCR_DISTRIBUTE, BOOL, NULL, "1", ANY,                                                                              \
    "1 restarts from the cache: SCR_Init moves files to where their ranks now run and rebuilds lost ones; 0 empties "  \
    "the cache and fetches from the prefix.")                                                                          \
  X(SCR_FETCH, BOOL, NULL, "1", ANY,                                                                                   \
    "1 copies a checkpoint from the prefix into the cache when the cache has none as new; 0 leaves reading the "       \
    "prefix to the application.")                                                                                      \
  X(SCR_FETCH_WIDTH, POSITIVE, NULL, "256", ANY, "Number of ranks that read from the prefix at the same time.")        \
  X(SCR_FLUSH, COUNT, NULL, "10", ANY,                                                                                 \
    "Every n-th checkpoint is copied to the prefix, and the newest one in SCR_Finalize; 0 copies only output "         \
    "datasets.")                                                                                                       \
  X(SCR_FLUSH_WIDTH, POSITIVE, NULL, "256", ANY, "Number of ranks that write to the prefix at the same time.")         \
  X(SCR_FLUSH_ON_RESTART, BOOL, NULL, "0", ANY,                                                                        \
    "1 copies the checkpoint that was rebuilt in the cache to the prefix in SCR_Init, for programs that read it "      \
    "there.")                                                                                                          \
  X(SCR_FRESH_START, BOOL, NULL, "0", ANY,                                                                             \
    "1 allows a run to begin anew although complete checkpoints exist and none could be loaded.")                      \
  X(SCR_CRC_ON_COPY, BOOL, NULL, "1", ANY, "1 takes the CRC32 of each file while redundancy data is made from it.")    \
  X(SCR_CRC_ON_DELETE, BOOL, NULL, "0", ANY,                                                                           \
    "1 checks the CRC32 of each file of a dataset before it leaves the cache, and says which are corrupt.")            \
  X(SCR_CRC_ON_RESTART, BOOL, NULL, "1", ANY,                                                                          \
    "1 checks the CRC32 of cached files in SCR_Init; a file that fails counts as lost and is rebuilt.")                \
  X(SCR_CRC_ON_FLUSH, BOOL, NULL, "1", ANY,                                                                            \
    "1 takes or checks the CRC32 of each file while it is copied to the prefix, and records it for the fetch.")        \
  X(SCR_MPI_BUF_SIZE, BYTES, NULL, "256K", ANY,                                                                        \
    "Size of one message when redundancy data is made, files are rebuilt or files change nodes.")                      \
  X(SCR_FILE_BUF_SIZE, BYTES, NULL, "1M", ANY, "Size of one read or write when files are copied.")                     \
  X(SCR_FSYNC, BOOL, NULL, "1", ANY,                                                                                   \
    "0 leaves out the fsync of files and directories: faster, but a crash of the machine may undo what was reported "  \
    "as safe.")                                                                                                        \
  X(SCR_CHECKPOINT_INTERVAL, COUNT, NULL, "0", ANY,                                                                    \
    "SCR_Need_checkpoint answers 1 at every n-th call; 0 switches this rule off.")                                     \
  X(SCR_CHECKPOINT_SECONDS, COUNT, NULL, "0", ANY,                                                                     \
    "SCR_Need_checkpoint answers 1 when this many seconds have passed since the last checkpoint; 0 switches this "     \
    "rule off.")                                                                                                       \
  X(SCR_CHECKPOINT_OVERHEAD, PERCENT, NULL, "0", ANY,                                                                  \
    "SCR_Need_checkpoint answers 1 while checkpoints take less than this percentage of the time; 0 switches this "     \
    "rule off.")                                                                                                       \
  X(SCR_HALT_SECONDS, COUNT, NULL, "0", ANY,                                                                           \
    "The run should stop when the allocation has no more than this many seconds left; 0 switches this rule off.")      \
  X(SCR_HALT_ENABLED, BOOL, NULL, "1", ANY,                                                                            \
    "0 keeps the library from calling exit() when the run should stop; SCR_Should_exit still tells.")                  \
  X(SCR_HALT_EXIT, ENUM, "auto|0|1", "auto", ANY,                                                                      \
    "What to do after a complete checkpoint when the run should stop: auto flushes it and calls exit() unless the "    \
    "application has called SCR_Should_exit in this run, 1 always does so, in SCR_Init too, 0 never.")                 \
  X(SCR_LOG_ENABLE, BOOL, NULL, "0", ANY,                                                                              \
    "1 logs runs, checkpoints, transfers, rebuilds and corrupt files, with times and sizes.")                          \
  X(SCR_LOG_TXT_ENABLE, BOOL, NULL, "1", ANY, "1 writes the log to `<prefix>/.scr/log`, if SCR_LOG_ENABLE is 1.")      \
  X(SCR_LOG_SYSLOG_ENABLE, BOOL, NULL, "1", ANY, "1 sends the log to the system's syslog, if SCR_LOG_ENABLE is 1.")    \
  X(SCR_PRESERVE_DIRECTORIES, BOOL, NULL, "1", ANY,                                                                    \
    "1 copies each file to where the application named it below the prefix; 0 copies it into "                         \
    "`scr.dataset.<id>`, with its relative path kept.")                                                                \
  X(SCR_VIRTUAL_NODES, COUNT, NULL, "0", ANY,                                                                          \
    "For trying out: splits the ranks into this many blocks, each treated as a node of its own; 0 uses the real "      \
    "nodes.")                                                                                                          \
  X(GROUPS, NAME, NULL, NULL, LINE,                                                                                    \
    "`GROUPS=<host> NAME=value ...`: nodes with the same value form one group of the kind NAME, for SCR_GROUP, STORE " \
    "and CKPT; files and SCR_Config only.")                                                                            \
  X(STORE, ABSPATH, NULL, NULL, LINE,                                                                                  \
    "`STORE=<directory>` with COUNT (datasets kept), GROUP (the ranks that share it, NODE), ENABLED (1), MKDIR (1; 0 " \
    "where directories cannot be made), VIEW (PRIVATE, or GLOBAL when all nodes see the same files), TYPE (SYNC or "   \
    "PTHREAD): a place for the cache; files and SCR_Config only.")                                                     \
  X(CKPT, COUNT, NULL, NULL, LINE,                                                                                     \
    "`CKPT=<n>` with ENABLED (1), INTERVAL (1), OUTPUT (0), STORE, TYPE (SINGLE, PARTNER, XOR or RS), GROUP, "         \
    "SET_SIZE, SET_FAILURES and HOP_DISTANCE (1; how far apart in a line of groups the members of a set are): how to " \
    "protect every INTERVAL-th checkpoint, the largest interval that fits wins; needs SCR_COPY_TYPE=FILE; files and "  \
    "SCR_Config only.")

/* The children of the lines: X(line, name, type, choices of an ENUM).  GROUPS takes any. */
#define SCR_PARAM_CHILDREN(X)                                                                                          \
  X(STORE, COUNT, COUNT, NULL)                                                                                         \
  X(STORE, GROUP, TEXT, NULL)                                                                                          \
  X(STORE, ENABLED, BOOL, NULL)                                                                                        \
  X(STORE, MKDIR, BOOL, NULL)                                                                                          \
  X(STORE, VIEW, ENUM, "PRIVATE|GLOBAL")                                                                               \
  X(STORE, TYPE, ENUM, "SYNC|PTHREAD|BBAPI|DW")                                                                        \
  X(CKPT, ENABLED, BOOL, NULL)                                                                                         \
  X(CKPT, INTERVAL, POSITIVE, NULL)                                                                                    \
  X(CKPT, OUTPUT, BOOL, NULL)                                                                                          \
  X(CKPT, STORE, ABSPATH, NULL)                                                                                        \
  X(CKPT, TYPE, ENUM, "SINGLE|PARTNER|XOR|RS")                                                                         \
  X(CKPT, GROUP, TEXT, NULL)                                                                                           \
  X(CKPT, SET_SIZE, POSITIVE, NULL)                                                                                    \
  X(CKPT, SET_FAILURES, POSITIVE, NULL)                                                                                \
  X(CKPT, HOP_DISTANCE, POSITIVE, NULL)

typedef struct {
  const char*    line; /* the line it stands on, for a child; NULL for a parameter of its own */
  const char*    name;
  scr_param_type type;
  const char*    choices;
  const char*    fallback; /* default, or NULL */
  scr_param_who  who;
  const char*    sentence;
} scr_param_spec;

#define SCR_PARAM_ROW(name, type, choices, fallback, who, sentence)                                                    \
  {NULL, #name, SCR_PARAM_##type, choices, fallback, SCR_PARAM_##who, sentence},
#define SCR_PARAM_CHILD(line, name, type, choices) {#line, #name, SCR_PARAM_##type, choices, NULL, SCR_PARAM_ANY, NULL},
static const scr_param_spec scr_param_specs[] = {SCR_PARAMS(SCR_PARAM_ROW) SCR_PARAM_CHILDREN(SCR_PARAM_CHILD)};
#undef SCR_PARAM_ROW
#undef SCR_PARAM_CHILD

#define SCR_PARAM_NSPECS ((int)(sizeof scr_param_specs / sizeof scr_param_specs[0]))

/* The sources in the order of V1. */
enum { SCR_PARAM_ENV, SCR_PARAM_USER, SCR_PARAM_APP, SCR_PARAM_SYSTEM, SCR_PARAM_NSOURCES };
static const char* const scr_param_sources[SCR_PARAM_NSOURCES] = {"ENV", "USER", "APP", "SYSTEM"};

/* Variables, so that a test can replace them. */
static const char* scr_params_system_file = SCR_SYSTEM_CONF;
#ifdef SCR_LOCK_BASES
static int scr_params_lock_bases = 1;
#else
static int scr_params_lock_bases = 0;
#endif

/* ---- values ---- */

/* The row of the parameter NAME, or of the child NAME of LINE when LINE is not NULL; NULL when the table has none. */
SCR_FN const scr_param_spec* scr_param_spec_of(const char* line, const char* name)
{
  const scr_param_spec* spec;

  for (spec = scr_param_specs; spec < scr_param_specs + SCR_PARAM_NSPECS; spec++)
    if (strcmp(spec->name, name) == 0 && (line == NULL) == (spec->line == NULL) &&
        (line == NULL || strcmp(spec->line, line) == 0))
      return spec;
  return NULL;
}

/* Returns 1 when VALUE is one of CHOICES, which are separated by bars; case does not matter. */
SCR_FN int scr_param_is_choice(const char* choices, const char* value)
{
  size_t n = strlen(value);

  while (*choices != '\0') {
    size_t k = strcspn(choices, "|");
    if (k == n && strncasecmp(choices, value, n) == 0) return 1;
    choices += k + (choices[k] == '|');
  }
  return 0;
}

/* Returns 1, and *VALUE, when S as a whole is a finite number, 0 or more, not in hexadecimal. */
SCR_FN int scr_param_real_of(const char* s, double* value)
{
  char* end;

  if (!(isdigit((unsigned char)*s) || *s == '.') || strpbrk(s, "xX") != NULL) return 0;
  *value = strtod(s, &end);
  return end != s && *end == '\0' && *value >= 0.0 && *value <= 1e300;
}

/* Returns 1 when VALUE is allowed for SPEC. */
SCR_FN int scr_param_value_ok(const scr_param_spec* spec, const char* value)
{
  size_t   n = strlen(value);
  int64_t  i = -1;
  uint64_t bytes = 0;
  double   real = -1.0;

  switch (spec->type) {
  case SCR_PARAM_BOOL:
    return strcmp(value, "0") == 0 || strcmp(value, "1") == 0;
  case SCR_PARAM_COUNT:
    return scr_str_int64(value, &i) == SCR_SUCCESS && i >= 0 && i <= INT_MAX;
  case SCR_PARAM_POSITIVE:
    return scr_str_int64(value, &i) == SCR_SUCCESS && i >= 1 && i <= INT_MAX;
  case SCR_PARAM_BYTES: /* the count of an MPI message is an int */
    return scr_str_bytes(value, &bytes) == SCR_SUCCESS && bytes >= 1 && bytes <= (uint64_t)1 << 30;
  case SCR_PARAM_PERCENT:
    return scr_param_real_of(value, &real) && real <= 100.0;
  case SCR_PARAM_NAME:
    return n < 256 && !strchr(value, '/') && strcmp(value, ".") != 0 && strcmp(value, "..") != 0;
  case SCR_PARAM_ABSPATH:
    return n < SCR_MAX_FILENAME && value[0] == '/';
  case SCR_PARAM_ENUM:
    return scr_param_is_choice(spec->choices, value);
  case SCR_PARAM_TEXT:
  case SCR_PARAM_PATH:
  case SCR_PARAM_NTYPES:
    break;
  }
  return n < SCR_MAX_FILENAME;
}

/* SCR_SUCCESS when VALUE is allowed for SPEC, else the error (V3).  PARENT is the value of the line of a child. */
SCR_FN int scr_param_check_value(const scr_param_spec* spec, const char* parent, const char* value, const char* origin)
{
  char        allowed[256], on_line[256] = "";
  const char* c;
  size_t      k;

  if (scr_param_value_ok(spec, value)) return SCR_SUCCESS;
  if (spec->line != NULL) snprintf(on_line, sizeof on_line, " on the line %s=%.200s", spec->line, parent);
  snprintf(allowed, sizeof allowed, "%s", scr_param_allowed[spec->type]);
  for (c = spec->choices; c != NULL && *c != '\0'; c += k + (c[k] == '|')) {
    size_t used = strlen(allowed);
    k = strcspn(c, "|");
    snprintf(allowed + used, sizeof allowed - used, "%s%.*s", c == spec->choices ? " " : ", ", (int)k, c);
  }
  return SCR_ERR(SCR_ERR_PARAM, "bad value %s=%.200s%s, set in %.900s: it must be %s", spec->name, value, on_line,
                 origin, allowed);
}

/* ---- lookup ---- */

/* The last key of H, or NULL. */
SCR_FN const char* scr_param_last_value(const scr_hash* h)
{
  const scr_hash_elem* e;
  const char*          last = NULL;

  for (e = scr_hash_elem_first(h); e != NULL; e = scr_hash_elem_next(e)) last = scr_hash_elem_key(e);
  return last;
}

/* Returns 1 when the source S may not set SPEC. */
SCR_FN int scr_param_is_locked(const scr_param_spec* spec, int s)
{
  return scr_params_lock_bases && s != SCR_PARAM_SYSTEM && spec != NULL && spec->who == SCR_PARAM_BASE;
}

/* The values of NAME in the source S, or NULL when it has none or may not set it. */
SCR_FN scr_hash* scr_param_values(const scr_hash* params, int s, const char* name)
{
  if (scr_param_is_locked(scr_param_spec_of(NULL, name), s)) return NULL;
  return scr_hash_get(scr_hash_get(params, scr_param_sources[s]), name);
}

/* What was set for NAME, without the default, or NULL; *SOURCE tells where. */
SCR_FN const char* scr_param_find(const scr_hash* params, const char* name, int* source)
{
  for (*source = 0; *source < SCR_PARAM_NSOURCES; ++*source) {
    const char* value = scr_param_last_value(scr_param_values(params, *source, name));
    if (value != NULL && *value != '\0') return value;
  }
  return NULL;
}

/*
** The value of the parameter NAME: what was set, or else the default of the table, or else NULL.  It is as the user
** wrote it, so a name of an ENUM may be in either case.  Valid until PARAMS changes.
*/
SCR_FN const char* scr_param_get(const scr_hash* params, const char* name)
{
  const scr_param_spec* spec = scr_param_spec_of(NULL, name);
  int                   s;
  const char*           value = scr_param_find(params, name, &s);

  return value != NULL || spec == NULL ? value : spec->fallback;
}

/* All values of NAME, VALUE -> children, of the first source that has any, or NULL: for GROUPS, STORE, CKPT. */
SCR_FN const scr_hash* scr_param_get_hash(const scr_hash* params, const char* name)
{
  int s;
  for (s = 0; s < SCR_PARAM_NSOURCES; s++) {
    const scr_hash* values = scr_param_values(params, s, name);
    if (scr_hash_size(values) > 0) return values;
  }
  return NULL;
}

/* The source S in words: "the environment", "the user file X", "SCR_Config", "the system file X". */
SCR_FN const char* scr_param_source_text(const scr_hash* params, int s)
{
  static const char* const texts[] = {"the environment", "the user file", "SCR_Config", "the system file"};
  return scr_hash_str_or(scr_hash_get(params, "FROM"), scr_param_sources[s], texts[s]);
}

/* Where the value of NAME comes from, in words, for messages. */
SCR_FN const char* scr_param_origin(const scr_hash* params, const char* name)
{
  int s;
  return scr_param_find(params, name, &s) != NULL ? scr_param_source_text(params, s) : "the default";
}

/*
** The value of NAME, a parameter of the table and of a fitting type, as an integer, a count of bytes, a number.
** SCR_ERR_PARAM when the value is not allowed; SCR_ERR_NOT_FOUND, without a message, when there is none.  *V is then as
** it was.
*/
SCR_FN int scr_param_checked(const scr_hash* params, const char* name, const char** v)
{
  const scr_param_spec* spec = scr_param_spec_of(NULL, name);

  *v = scr_param_get(params, name);
  if (spec == NULL || *v == NULL) return SCR_ERR_NOT_FOUND;
  return scr_param_check_value(spec, NULL, *v, scr_param_origin(params, name));
}

SCR_FN int scr_param_int(const scr_hash* params, const char* name, int* v)
{
  const char* s;
  int64_t     i;
  int         rc = scr_param_checked(params, name, &s);

  if (rc == SCR_SUCCESS) rc = scr_str_int64(s, &i);
  if (rc == SCR_SUCCESS) *v = (int)i;
  return rc;
}

SCR_FN int scr_param_bytes(const scr_hash* params, const char* name, uint64_t* v)
{
  const char* s;
  int         rc = scr_param_checked(params, name, &s);

  return rc == SCR_SUCCESS ? scr_str_bytes(s, v) : rc;
}

SCR_FN int scr_param_real(const scr_hash* params, const char* name, double* v)
{
  const char* s;
  int         rc = scr_param_checked(params, name, &s);

  if (rc == SCR_SUCCESS) scr_param_real_of(s, v);
  return rc;
}

/* ---- setting ---- */

/*
** Give KEY of the source INTO the value VALUE, and return the hash of its children, NULL without memory.  Of a
** parameter that is not a line the new value takes the place of the old one (V2).
*/
SCR_FN scr_hash* scr_params_set(scr_hash* into, const char* key, const char* value)
{
  const scr_param_spec* spec = scr_param_spec_of(NULL, key);

  if (spec != NULL && spec->who != SCR_PARAM_LINE) scr_hash_unset(into, key);
  return scr_hash_set_kv(into, key, value);
}

/* Give the child KEY of ENTRY the value VALUE; "" unsets it. */
SCR_FN int scr_params_set_child(scr_hash* entry, const char* key, const char* value)
{
  scr_hash_unset(entry, key);
  return *value == '\0' || scr_hash_set_kv(entry, key, value) != NULL ? SCR_SUCCESS : SCR_ERR_OOM();
}

/* ---- the grammar of files ---- */

#define SCR_PARAM_BLANKS " \t\r"

/* A line of a file, which ends with a NUL, while it is read. */
typedef struct {
  const char* p;     /* what follows */
  const char* where; /* the file's name */
  int         line;
  char        key[SCR_PARAM_WORD_MAX], value[SCR_PARAM_WORD_MAX];
} scr_params_text;

/* The error about the line of T; FORMAT is a constant, with one argument or more. */
#define SCR_PARAMS_BAD(t, format, ...)                                                                                 \
  SCR_ERR(SCR_ERR_PARAM, "%.900s, line %d: " format, (t)->where, (t)->line, __VA_ARGS__)

/* Append C to the word OUT of *N bytes. */
SCR_FN int scr_params_put(const scr_params_text* t, char* out, size_t* n, char c)
{
  if (*n + 1 >= SCR_PARAM_WORD_MAX)
    return SCR_PARAMS_BAD(t, "a word is longer than %d bytes: %.40s...", SCR_PARAM_WORD_MAX - 1, out);
  out[(*n)++] = c;
  out[*n] = '\0';
  return SCR_SUCCESS;
}

/* Append the character that is escaped at T. */
SCR_FN int scr_params_escape(scr_params_text* t, char* out, size_t* n)
{
  static const char names[] = "abfnrtv", controls[] = "\a\b\f\n\r\t\v";
  const char        c = *++t->p;
  const char*       k = c != '\0' ? strchr(names, c) : NULL;

  if (c == '\0' || c == '\r') return SCR_PARAMS_BAD(t, "a backslash ends the line; %s", "lines cannot be continued");
  t->p++;
  return scr_params_put(t, out, n, k != NULL ? controls[k - names] : c);
}

/* Append the value of the environment variable that is named at T, as $NAME (letters and _) or ${NAME}. */
SCR_FN int scr_params_expand(scr_params_text* t, char* out, size_t* n)
{
  char        name[256];
  const char* value;
  size_t      k = 0;
  int         rc = SCR_SUCCESS, braces = *++t->p == '{';

  t->p += braces;
  while (k + 1 < sizeof name &&
         (isalpha((unsigned char)*t->p) || *t->p == '_' || (braces && isdigit((unsigned char)*t->p))))
    name[k++] = *t->p++;
  name[k] = '\0';
  if (k == 0 || (braces && *t->p++ != '}'))
    return SCR_PARAMS_BAD(t, "%s; write \\$ for a dollar", "$ must be followed by a name or by {name}");
  value = getenv(name);
  if (value == NULL) return SCR_PARAMS_BAD(t, "the environment variable %s is not set", name);
  for (; *value != '\0' && rc == SCR_SUCCESS; value++) rc = scr_params_put(t, out, n, *value);
  return rc;
}

/* Read a word, up to a blank, '=' or the end of the line, into OUT; no word begins with '#', which opens a comment. */
SCR_FN int scr_params_word(scr_params_text* t, int is_value, char* out)
{
  size_t n = 0;
  int    rc = SCR_SUCCESS;

  out[0] = '\0';
  t->p += strspn(t->p, SCR_PARAM_BLANKS);
  if (*t->p == '#') return rc;
  while (rc == SCR_SUCCESS && !strchr(SCR_PARAM_BLANKS "=", *t->p)) {
    if (*t->p == '\\') rc = scr_params_escape(t, out, &n);
    else if (*t->p == '$' && is_value) rc = scr_params_expand(t, out, &n);
    else rc = scr_params_put(t, out, &n, is_value ? *t->p++ : (char)toupper((unsigned char)*t->p++));
  }
  t->p += strspn(t->p, SCR_PARAM_BLANKS);
  return rc;
}

/* Read `KEY=VALUE` into the room for it in T. */
SCR_FN int scr_params_pair(scr_params_text* t)
{
  int rc = scr_params_word(t, 0, t->key);

  if (rc != SCR_SUCCESS) return rc;
  if (*t->key == '\0') return SCR_PARAMS_BAD(t, "there is no name before %s", "'='");
  if (*t->p != '=') return SCR_PARAMS_BAD(t, "'=' is missing after %.200s", t->key);
  t->p++;
  if ((rc = scr_params_word(t, 1, t->value)) != SCR_SUCCESS) return rc;
  if (*t->p == '=') return SCR_PARAMS_BAD(t, "two '=' in %.200s=%.200s=; write \\= within a value", t->key, t->value);
  return SCR_SUCCESS;
}

/* Read one line: a pair, and its children. */
SCR_FN int scr_params_line(scr_params_text* t, scr_hash* into)
{
  scr_hash* entry = NULL;
  int       rc = SCR_SUCCESS, first;

  for (first = 1; rc == SCR_SUCCESS; first = 0) {
    const scr_param_spec* spec;
    t->p += strspn(t->p, SCR_PARAM_BLANKS);
    if (*t->p == '\0' || *t->p == '#') break;
    if ((rc = scr_params_pair(t)) != SCR_SUCCESS) break;
    spec = scr_param_spec_of(NULL, t->key);
    if (!first) {
      rc = scr_params_set_child(entry, t->key, t->value);
    } else if (*t->value != '\0') {
      entry = scr_params_set(into, t->key, t->value);
      if (entry == NULL) rc = SCR_ERR_OOM();
    } else if (spec != NULL && spec->who == SCR_PARAM_LINE) {
      rc = SCR_PARAMS_BAD(t, "%s= needs a value", t->key);
    } else { /* nothing can follow an empty value */
      scr_hash_unset(into, t->key);
    }
  }
  return rc;
}

/*
** Read parameters from the N bytes of TEXT into INTO, KEY -> VALUE -> children.  WHERE names the file.
**
** A line is `KEY=VALUE [CKEY=CVALUE ...]` with blanks allowed around '='; the further pairs are children of the first.
** Keys are made upper case.  # opens a comment at the start of a word.  $NAME and ${NAME} in a value are replaced from
** the environment, and it is an error when they are not set there.  Backslash takes away a character's meaning, or
** stands for a control character (a b f n r t v).  `KEY=` unsets.  After an error INTO has the lines before it.
*/
SCR_FN int scr_params_parse(const char* text, size_t n, const char* where, scr_hash* into)
{
  scr_params_text t;
  char *          copy, *line, *next;
  size_t          i;
  int             rc = SCR_SUCCESS;

  t.where = where;
  t.line = 1;
  for (i = 0; i < n; i++) { /* refuse what is not text before any of it is printed */
    unsigned char c = (unsigned char)text[i];
    t.line += c == '\n';
    if (c == 127 || (c < 32 && c != '\n' && c != '\t' && c != '\r'))
      return SCR_PARAMS_BAD(&t, "byte 0x%02x is not text; is this a parameter file?", c);
  }
  copy = (char*)scr_malloc(n + 1);
  if (copy == NULL) return SCR_ERR_OOM();
  if (n > 0) memcpy(copy, text, n);
  t.line = 1;
  line = strncmp(copy, "\xef\xbb\xbf", 3) == 0 ? copy + 3 : copy; /* the mark that some editors put before UTF-8 */
  for (; line != NULL && rc == SCR_SUCCESS; line = next, t.line++) {
    next = strchr(line, '\n');
    if (next != NULL) *next++ = '\0';
    t.p = line;
    rc = scr_params_line(&t, into);
  }
  free(copy);
  return rc;
}

/* ---- sources ---- */

/* Read the file PATH into the source S of PARAMS.  A file that is missing is an error only when MUST. */
SCR_FN int scr_params_read_file(scr_hash* params, int s, const char* path, int must)
{
  scr_buf   b = {NULL, 0, 0, 0};
  scr_hash* into;
  char      piece[4096];
  ssize_t   k;
  int       rc = SCR_SUCCESS, fd = scr_os.open(path, O_RDONLY, 0);

  if (fd < 0 && !must && (errno == ENOENT || errno == ENOTDIR)) return SCR_SUCCESS;
  if (fd < 0) return SCR_ERRNO("cannot open the parameter file %s%s", path, must ? " that SCR_CONF_FILE names" : "");
  while ((k = scr_read_all(fd, piece, sizeof piece)) > 0 && b.n <= SCR_PARAM_FILE_MAX)
    scr_buf_add(&b, piece, (size_t)k);
  if (k < 0) rc = SCR_ERRNO("cannot read the parameter file %s", path);
  else if (b.failed) rc = SCR_ERR_OOM();
  else if (b.n > SCR_PARAM_FILE_MAX) rc = SCR_ERR(SCR_ERR_PARAM, "the parameter file %s is larger than 64 MiB", path);
  scr_os.close(fd);
  if (rc == SCR_SUCCESS) {
    snprintf(piece, sizeof piece, "the %s file %s", s == SCR_PARAM_USER ? "user" : "system", path);
    scr_hash_setf(params, NULL, "%s %s %s", "FROM", scr_param_sources[s], piece);
    into = scr_hash_set(params, scr_param_sources[s], scr_hash_new());
    rc = scr_oom ? SCR_ERR_OOM() : scr_params_parse(b.p, b.n, path, into);
  }
  scr_buf_free(&b);
  return rc;
}

/* Fill ENV of PARAMS from the environment: the names of the table, but for lines. */
SCR_FN int scr_params_read_env(scr_hash* params)
{
  scr_hash* env = scr_hash_set(params, "ENV", scr_hash_new());
  int       i;

  if (env == NULL) return SCR_ERR_OOM();
  for (i = 0; i < SCR_PARAM_NSPECS; i++) {
    const scr_param_spec* spec = &scr_param_specs[i];
    const char*           value = spec->line != NULL || spec->who == SCR_PARAM_LINE ? NULL : getenv(spec->name);
    if (value != NULL && *value != '\0' && scr_hash_set_kv(env, spec->name, value) == NULL) return SCR_ERR_OOM();
  }
  return SCR_SUCCESS;
}

/*
** Read the environment, the system file and the user file into PARAMS, in place of what it had from them; what
** SCR_Config has set stays.  The user file is SCR_CONF_FILE, which must then exist, or .scrconf in the prefix
** directory.
*/
SCR_FN int scr_params_read(scr_hash* params)
{
  char        path[SCR_MAX_FILENAME];
  const char* value;
  int         rc;

  scr_hash_unset(params, "FROM");
  scr_hash_unset(params, "USER");
  scr_hash_unset(params, "SYSTEM");
  if ((rc = scr_params_read_env(params)) != SCR_SUCCESS) return rc;
  rc = scr_params_read_file(params, SCR_PARAM_SYSTEM, scr_params_system_file, 0);
  if (rc != SCR_SUCCESS) return rc;
  value = scr_param_get(params, "SCR_CONF_FILE");
  if (value != NULL) return scr_params_read_file(params, SCR_PARAM_USER, value, 1);
  value = scr_param_get(params, "SCR_PREFIX");
  rc = scr_fmt(path, sizeof path, "%s/.scrconf", value == NULL ? "." : value);
  return rc != SCR_SUCCESS ? rc : scr_params_read_file(params, SCR_PARAM_USER, path, 0);
}

/* ---- SCR_Config ---- */

/* Returns 1 when CONFIG asks for a value, 0 when it sets or unsets one, -1 when it is malformed. */
SCR_FN int scr_params_config_is_query(const char* config)
{
  const char* p;
  size_t      n;
  int         words = 0, sets = 0, empty = 0;

  for (p = config == NULL ? "" : config; *p != '\0'; p += n) {
    const char* eq;
    if ((n = strspn(p, " ")) > 0) continue;
    n = strcspn(p, " ");
    eq = (const char*)memchr(p, '=', n);
    if (eq == p || (eq != NULL && sets != words)) return -1; /* no name, or a word without '=' came before */
    if (eq != NULL && ++sets == 1) empty = eq + 1 == p + n;
    words++;
  }
  if (words == 0 || (empty && words > 1)) return -1;
  if (sets == words) return 0;
  return sets == words - 1 && words <= 2 ? 1 : -1;
}

/* A copy in *COPY of the value of KEY, or of CKEY below KEY=VALUE when CKEY is not NULL; NULL when it is not set. */
SCR_FN int scr_params_query(const scr_hash* params, const char* key, const char* value, const char* ckey, char** copy)
{
  const char* found = NULL;
  int         s;

  if (ckey == NULL) {
    if (scr_hash_size(scr_param_get_hash(params, key)) > 1)
      return SCR_ERR(SCR_ERR_ARG, "%.200s has several values; ask for a child of one, \"%.200s=VALUE CHILD\"", key,
                     key);
    found = scr_param_find(params, key, &s);
  } else {
    for (s = 0; s < SCR_PARAM_NSOURCES && found == NULL; s++)
      found = scr_hash_elem_get_first_val(scr_hash_get(scr_param_values(params, s, key), value), ckey);
  }
  *copy = scr_strdup(found);
  return found == NULL || *copy != NULL ? SCR_SUCCESS : SCR_ERR_OOM();
}

/* Set KEY, VALUE and the children that stand in REST, which is changed. */
SCR_FN int scr_params_config_set(scr_hash* params, const char* key, const char* value, char* rest)
{
  const scr_param_spec* spec = scr_param_spec_of(NULL, key);
  scr_hash*             app = scr_hash_get(params, "APP");
  scr_hash*             entry;
  char *                word, *save = NULL;
  int                   rc = SCR_SUCCESS, err;

  if (app == NULL) app = scr_hash_set(params, "APP", scr_hash_new());
  if (app == NULL) return SCR_ERR_OOM();
  if (*value == '\0') return scr_hash_unset(app, key);
  if ((entry = scr_params_set(app, key, value)) == NULL) return SCR_ERR_OOM();
  if (spec != NULL) rc = scr_param_check_value(spec, NULL, value, "SCR_Config");
  for (word = strtok_r(rest, " ", &save); word != NULL; word = strtok_r(NULL, " ", &save)) {
    char* eq = strchr(word, '=');
    *eq++ = '\0';
    if ((err = scr_params_set_child(entry, word, eq)) != SCR_SUCCESS) return err;
    spec = scr_param_spec_of(key, word);
    err = spec != NULL && *eq != '\0' ? scr_param_check_value(spec, value, eq, "SCR_Config") : SCR_SUCCESS;
    if (err != SCR_SUCCESS) rc = err;
  }
  return rc;
}

/*
** Do what the string CONFIG of SCR_Config says (scr.h).  *VALUE is what a query found, for the caller to free,
** or NULL; a query sees every source, but not the defaults.
**
** SCR_ERR_ARG when CONFIG is malformed; nothing is then set.  A bad value is SCR_ERR_PARAM, and is set all the same, so
** that SCR_Init finds it: a program that ignores the result must not run with another value than it asked for.
*/
SCR_FN int scr_params_config(scr_hash* params, const char* config, char** value)
{
  int   rc, is_query = scr_params_config_is_query(config);
  char *text, *word, *eq, *rest = NULL;

  *value = NULL;
  if (is_query < 0)
    return SCR_ERR(SCR_ERR_ARG,
                   "SCR_Config(\"%.200s\"): expected KEY=VALUE, KEY=VALUE CHILD=VALUE ..., KEY= to unset, "
                   "or to query KEY or KEY=VALUE CHILD",
                   config == NULL ? "" : config);
  text = scr_strdup(config);
  if (text == NULL) return SCR_ERR_OOM();
  word = strtok_r(text, " ", &rest);
  eq = strchr(word, '=');
  if (eq != NULL) *eq++ = '\0';
  if (!is_query) rc = scr_params_config_set(params, word, eq, rest);
  else rc = scr_params_query(params, word, eq, eq == NULL ? NULL : strtok_r(NULL, " ", &rest), value);
  scr_free(&text);
  return rc;
}

/* ---- checks ---- */

/* Check the children CHILDREN of the entry SPEC=VALUE of the source that ORIGIN names. */
SCR_FN int scr_params_check_children(const scr_param_spec* spec, const char* value, const scr_hash* children,
                                     const char* origin)
{
  const scr_hash_elem* e;
  int                  rc = SCR_SUCCESS;

  for (e = scr_hash_elem_first(children); e != NULL && rc == SCR_SUCCESS; e = scr_hash_elem_next(e)) {
    const char*           name = scr_hash_elem_key(e);
    const char*           v = scr_param_last_value(scr_hash_elem_hash(e));
    const scr_param_spec* child = scr_param_spec_of(spec->name, name);

    if (child != NULL && v != NULL && *v != '\0') rc = scr_param_check_value(child, value, v, origin);
    if (child != NULL || strcmp(spec->name, "GROUPS") == 0 || scr_msg_rank > 0) continue;
    if (spec->who == SCR_PARAM_LINE)
      scr_warn("%s=%.200s in %s: %.200s is not known here and is ignored", spec->name, value, origin, name);
    else scr_warn("%.200s on the line of %s in %s is ignored: write one parameter on a line", name, spec->name, origin);
  }
  return rc;
}

/* Check the values VALUES of NAME in the source S. */
SCR_FN int scr_params_check_key(const scr_hash* params, int s, const char* name, const scr_hash* values)
{
  const scr_param_spec* spec = scr_param_spec_of(NULL, name);
  const char*           origin = scr_param_source_text(params, s);
  const scr_hash_elem*  e;
  int                   rc = SCR_SUCCESS;

  if (spec == NULL && scr_msg_rank <= 0 && strncasecmp(name, "SCR_", 4) == 0)
    scr_warn("the parameter %.200s in %s is not known and is ignored", name, origin);
  if (scr_param_is_locked(spec, s) && scr_msg_rank <= 0)
    scr_warn("%s in %s is ignored: on this system only the system file may set it", name, origin);
  if (spec == NULL || scr_param_is_locked(spec, s)) return SCR_SUCCESS;
  for (e = scr_hash_elem_first(values); e != NULL && rc == SCR_SUCCESS; e = scr_hash_elem_next(e)) {
    const char* value = scr_hash_elem_key(e);
    if (*value == '\0') continue;
    rc = scr_param_check_value(spec, NULL, value, origin);
    if (rc == SCR_SUCCESS) rc = scr_params_check_children(spec, value, scr_hash_elem_hash(e), origin);
  }
  return rc;
}

/*
** Check every value that is set, in every source, against its type.  SCR_ERR_PARAM at the first bad value.  Rank 0 also
** warns of names that are not known.
*/
SCR_FN int scr_params_check(const scr_hash* params)
{
  const scr_hash_elem* e;
  int                  s, rc = SCR_SUCCESS;

  for (s = 0; s < SCR_PARAM_NSOURCES && rc == SCR_SUCCESS; s++) {
    e = scr_hash_elem_first(scr_hash_get(params, scr_param_sources[s]));
    for (; e != NULL && rc == SCR_SUCCESS; e = scr_hash_elem_next(e))
      rc = scr_params_check_key(params, s, scr_hash_elem_key(e), scr_hash_elem_hash(e));
  }
  return rc;
}

/* ==== 08 DATASET, META, FILEMAP =========================================================================
** Descriptors of datasets, descriptors of files, and the map of a process: which files of which rank and dataset it
** keeps in the cache.
**
** Each is a scr_hash with well-known keys.  A filemap:
**
**   DSET/<id>/RANK/<rank>                                   the index (F1)
**   RANK/<rank>/DSET/<id>/FILES/<number of files the rank wrote>
**                        /FILE/<path>/META{...}             one for each file that is or may be in the cache
**                        /DSETDESC{...}, REDDESC{...}, FLUSH{...}, <tag>/<value>
**
** Uses       errors, memory, hash, hash files.
** Offers     scr_dataset_*, scr_meta_*, scr_filemap_*.
** Invariants
**   F1  DSET says the same as RANK: every pair of rank and dset is in both or in none.  What is read from a file has
**       its index made anew.
**   F2  A setter copies what it is given, a getter copies out; nothing is shared between hashes.
**   F3  A getter that does not return SCR_SUCCESS leaves its output as it was, and records no message.
**   F4  Functions answer for a hash of any shape as if what they do not understand were not there.  The paths are what
**       the file says: whoever opens or deletes one first sees that it lies below the dataset's directory.
** Failure    SCR_ERR_NOT_FOUND, SCR_ERR_FORMAT; SCR_ERR_MEM with what was set before it.
** ====================================================================================================== */

typedef scr_hash scr_dataset;
typedef scr_hash scr_meta;
typedef scr_hash scr_filemap;

/* Make DST a copy of SRC, which may be NULL: not found, and DST is as it was. */
SCR_FN int scr_hash_copy_out(scr_hash* dst, const scr_hash* src)
{
  if (src == NULL) return SCR_ERR_NOT_FOUND;
  if (dst == src) return SCR_SUCCESS;
  scr_hash_unset_all(dst);
  scr_hash_merge(dst, src);
  return scr_oom ? SCR_ERR_OOM() : SCR_SUCCESS;
}

/* Make a copy of VALUE, which may be NULL, the hash of KEY in H. */
SCR_FN int scr_hash_set_copy(scr_hash* h, const char* key, const scr_hash* value)
{
  scr_hash* copy = scr_hash_new();

  if (copy == NULL) return SCR_ERR_OOM();
  scr_hash_merge(copy, value);
  if (scr_oom) {
    scr_hash_delete(&copy);
    return SCR_ERR_OOM();
  }
  return scr_hash_set(h, key, copy) != NULL ? SCR_SUCCESS : SCR_ERR_OOM();
}

/* ---- datasets: all functions are local; setters replace, F2 and F3 hold ---- */

SCR_FN scr_dataset* scr_dataset_new(void)
{
  return scr_hash_new();
}

SCR_FN void scr_dataset_delete(scr_dataset** d)
{
  scr_hash_delete(d);
}

SCR_FN int scr_dataset_set_id(scr_dataset* d, int id)
{
  return scr_hash_util_set_int(d, "ID", id);
}

SCR_FN int scr_dataset_set_user(scr_dataset* d, const char* user)
{
  return scr_hash_util_set_str(d, "USER", user);
}

SCR_FN int scr_dataset_set_jobname(scr_dataset* d, const char* name)
{
  return scr_hash_util_set_str(d, "JOBNAME", name);
}

SCR_FN int scr_dataset_set_name(scr_dataset* d, const char* name)
{
  return scr_hash_util_set_str(d, "NAME", name);
}

/* Bytes of all files of all ranks. */
SCR_FN int scr_dataset_set_size(scr_dataset* d, uint64_t size)
{
  return scr_hash_util_set_bytecount(d, "SIZE", size);
}

/* Number of files of all ranks. */
SCR_FN int scr_dataset_set_files(scr_dataset* d, int files)
{
  return scr_hash_util_set_int(d, "FILES", files);
}

/* Microseconds since the epoch. */
SCR_FN int scr_dataset_set_created(scr_dataset* d, int64_t created)
{
  return scr_hash_util_set_int64(d, "CREATED", created);
}

SCR_FN int scr_dataset_set_jobid(scr_dataset* d, const char* jobid)
{
  return scr_hash_util_set_str(d, "JOBID", jobid);
}

SCR_FN int scr_dataset_set_cluster(scr_dataset* d, const char* name)
{
  return scr_hash_util_set_str(d, "CLUSTER", name);
}

/* The checkpoint id, which counts checkpoints only. */
SCR_FN int scr_dataset_set_ckpt(scr_dataset* d, int id)
{
  return scr_hash_util_set_int(d, "CKPT", id);
}

SCR_FN int scr_dataset_set_complete(scr_dataset* d, int complete)
{
  return scr_hash_util_set_int(d, "COMPLETE", complete);
}

SCR_FN int scr_dataset_set_flag_ckpt(scr_dataset* d, int flag)
{
  return scr_hash_util_set_int(d, "FLAG_CKPT", flag);
}

SCR_FN int scr_dataset_set_flag_output(scr_dataset* d, int flag)
{
  return scr_hash_util_set_int(d, "FLAG_OUTPUT", flag);
}

/* Number of ranks that wrote it. */
SCR_FN int scr_dataset_set_ranks(scr_dataset* d, int ranks)
{
  return scr_hash_util_set_int(d, "RANKS", ranks);
}

/* Drawn at random when the dataset is begun: part of its identity. */
SCR_FN int scr_dataset_set_nonce(scr_dataset* d, uint64_t nonce)
{
  char text[24];

  snprintf(text, sizeof text, "%016" PRIx64, nonce);
  return scr_hash_util_set_str(d, "NONCE", text);
}

SCR_FN int scr_dataset_get_id(const scr_dataset* d, int* id)
{
  return scr_hash_util_get_int(d, "ID", id);
}

SCR_FN int scr_dataset_get_user(const scr_dataset* d, const char** user)
{
  return scr_hash_util_get_str(d, "USER", user);
}

SCR_FN int scr_dataset_get_jobname(const scr_dataset* d, const char** name)
{
  return scr_hash_util_get_str(d, "JOBNAME", name);
}

SCR_FN int scr_dataset_get_name(const scr_dataset* d, const char** name)
{
  return scr_hash_util_get_str(d, "NAME", name);
}

SCR_FN int scr_dataset_get_size(const scr_dataset* d, uint64_t* size)
{
  return scr_hash_util_get_bytecount(d, "SIZE", size);
}

SCR_FN int scr_dataset_get_files(const scr_dataset* d, int* files)
{
  return scr_hash_util_get_int(d, "FILES", files);
}

SCR_FN int scr_dataset_get_created(const scr_dataset* d, int64_t* created)
{
  return scr_hash_util_get_int64(d, "CREATED", created);
}

SCR_FN int scr_dataset_get_jobid(const scr_dataset* d, const char** jobid)
{
  return scr_hash_util_get_str(d, "JOBID", jobid);
}

SCR_FN int scr_dataset_get_cluster(const scr_dataset* d, const char** name)
{
  return scr_hash_util_get_str(d, "CLUSTER", name);
}

SCR_FN int scr_dataset_get_ckpt(const scr_dataset* d, int* id)
{
  return scr_hash_util_get_int(d, "CKPT", id);
}

SCR_FN int scr_dataset_get_complete(const scr_dataset* d, int* complete)
{
  return scr_hash_util_get_int(d, "COMPLETE", complete);
}

SCR_FN int scr_dataset_get_flag_ckpt(const scr_dataset* d, int* flag)
{
  return scr_hash_util_get_int(d, "FLAG_CKPT", flag);
}

SCR_FN int scr_dataset_get_flag_output(const scr_dataset* d, int* flag)
{
  return scr_hash_util_get_int(d, "FLAG_OUTPUT", flag);
}

SCR_FN int scr_dataset_get_ranks(const scr_dataset* d, int* ranks)
{
  return scr_hash_util_get_int(d, "RANKS", ranks);
}

SCR_FN int scr_dataset_get_nonce(const scr_dataset* d, uint64_t* nonce)
{
  const char* text;
  size_t      n;

  if (scr_hash_util_get_str(d, "NONCE", &text) != SCR_SUCCESS) return SCR_ERR_NOT_FOUND;
  n = strlen(text);
  if (n < 1 || n > 16 || strspn(text, "0123456789abcdefABCDEF") != n) return SCR_ERR_FORMAT;
  *nonce = (uint64_t)strtoull(text, NULL, 16);
  return SCR_SUCCESS;
}

/*
** 1 when A and B describe one and the same dataset: id, time of creation and nonce are equal.
**
** Why not the id alone: ids recur after a rollback, and a node may come back with files of an earlier run.  Datasets
** of older versions have no nonce, which counts as 0; without id or time there is no identity, and the answer is 0.
*/
SCR_FN int scr_dataset_same(const scr_dataset* a, const scr_dataset* b)
{
  int      id_a, id_b;
  int64_t  time_a, time_b;
  uint64_t nonce_a = 0, nonce_b = 0;

  if (scr_dataset_get_id(a, &id_a) != SCR_SUCCESS || scr_dataset_get_id(b, &id_b) != SCR_SUCCESS) return 0;
  if (scr_dataset_get_created(a, &time_a) != SCR_SUCCESS || scr_dataset_get_created(b, &time_b) != SCR_SUCCESS)
    return 0;
  if (scr_dataset_get_nonce(a, &nonce_a) == SCR_ERR_FORMAT || scr_dataset_get_nonce(b, &nonce_b) == SCR_ERR_FORMAT)
    return 0;
  return id_a == id_b && time_a == time_b && nonce_a == nonce_b;
}

/*
** 1 when A and B cannot describe the same dataset: both have an id, a time of creation, or a nonce, and it differs.  For
** records of older versions, which lack some of these, or all.
*/
SCR_FN int scr_dataset_differs(const scr_dataset* a, const scr_dataset* b)
{
  int      id_a, id_b;
  int64_t  time_a, time_b;
  uint64_t nonce_a, nonce_b;

  if (scr_dataset_get_id(a, &id_a) == SCR_SUCCESS && scr_dataset_get_id(b, &id_b) == SCR_SUCCESS && id_a != id_b)
    return 1;
  if (scr_dataset_get_created(a, &time_a) == SCR_SUCCESS && scr_dataset_get_created(b, &time_b) == SCR_SUCCESS &&
      time_a != time_b)
    return 1;
  return scr_dataset_get_nonce(a, &nonce_a) == SCR_SUCCESS && scr_dataset_get_nonce(b, &nonce_b) == SCR_SUCCESS &&
         nonce_a != nonce_b;
}

/* Make the id, time of creation and nonce of DESC, as far as it has them, those of TO. */
SCR_FN void scr_dataset_copy_identity(scr_dataset* to, const scr_dataset* desc)
{
  int      id;
  int64_t  created;
  uint64_t nonce;

  if (scr_dataset_get_id(desc, &id) == SCR_SUCCESS) scr_dataset_set_id(to, id);
  if (scr_dataset_get_created(desc, &created) == SCR_SUCCESS) scr_dataset_set_created(to, created);
  if (scr_dataset_get_nonce(desc, &nonce) == SCR_SUCCESS) scr_dataset_set_nonce(to, nonce);
}

/* ---- meta, the descriptor of a file: all functions are local; setters replace, F2 and F3 hold ---- */

SCR_FN scr_meta* scr_meta_new(void)
{
  return scr_hash_new();
}

SCR_FN void scr_meta_delete(scr_meta** m)
{
  scr_hash_delete(m);
}

/* Make DST an exact copy of SRC. */
SCR_FN int scr_meta_copy(scr_meta* dst, const scr_meta* src)
{
  if (src == NULL) {
    scr_hash_unset_all(dst);
    return SCR_SUCCESS;
  }
  return scr_hash_copy_out(dst, src);
}

SCR_FN int scr_meta_set_complete(scr_meta* m, int complete)
{
  return scr_hash_util_set_int(m, "COMPLETE", complete);
}

SCR_FN int scr_meta_set_ranks(scr_meta* m, int ranks)
{
  return scr_hash_util_set_int(m, "RANKS", ranks);
}

SCR_FN int scr_meta_set_checkpoint(scr_meta* m, int ckpt)
{
  return scr_hash_util_set_int(m, "CKPT", ckpt);
}

SCR_FN int scr_meta_set_filesize(scr_meta* m, uint64_t size)
{
  return scr_hash_util_set_bytecount(m, "SIZE", size);
}

/* FULL, a file of the application, or PARTNER, XOR, RS. */
SCR_FN int scr_meta_set_filetype(scr_meta* m, const char* type)
{
  return scr_hash_util_set_str(m, "TYPE", type);
}

SCR_FN int scr_meta_set_filename(scr_meta* m, const char* name)
{
  return scr_hash_util_set_str(m, "FILE", name);
}

/* In a field of fixed width: the CRC is known only after the header that holds it has been given its size. */
SCR_FN int scr_meta_set_crc32(scr_meta* m, uLong crc)
{
  return scr_hash_util_set_crc32_fixed(m, "CRC", crc);
}

/* The name as the application gave it. */
SCR_FN int scr_meta_set_orig(scr_meta* m, const char* name)
{
  return scr_hash_util_set_str(m, "ORIG", name);
}

/* The absolute directory of that name. */
SCR_FN int scr_meta_set_origpath(scr_meta* m, const char* path)
{
  return scr_hash_util_set_str(m, "ORIGPATH", path);
}

/* Its last component. */
SCR_FN int scr_meta_set_origname(scr_meta* m, const char* name)
{
  return scr_hash_util_set_str(m, "ORIGNAME", name);
}

/* The permission bits and the type, as in st_mode. */
SCR_FN int scr_meta_set_mode(scr_meta* m, int mode)
{
  return scr_hash_util_set_int(m, "MODE", mode);
}

/* Seconds since the epoch. */
SCR_FN int scr_meta_set_mtime(scr_meta* m, int64_t mtime)
{
  return scr_hash_util_set_int64(m, "MTIME", mtime);
}

SCR_FN int scr_meta_get_complete(const scr_meta* m, int* complete)
{
  return scr_hash_util_get_int(m, "COMPLETE", complete);
}

SCR_FN int scr_meta_get_ranks(const scr_meta* m, int* ranks)
{
  return scr_hash_util_get_int(m, "RANKS", ranks);
}

SCR_FN int scr_meta_get_checkpoint(const scr_meta* m, int* ckpt)
{
  return scr_hash_util_get_int(m, "CKPT", ckpt);
}

SCR_FN int scr_meta_get_filesize(const scr_meta* m, uint64_t* size)
{
  return scr_hash_util_get_bytecount(m, "SIZE", size);
}

/* USER is what older versions wrote for FULL. */
SCR_FN int scr_meta_get_filetype(const scr_meta* m, const char** type)
{
  int rc = scr_hash_util_get_str(m, "TYPE", type);
  if (rc == SCR_SUCCESS && strcmp(*type, "USER") == 0) *type = "FULL";
  return rc;
}

SCR_FN int scr_meta_get_filename(const scr_meta* m, const char** name)
{
  return scr_hash_util_get_str(m, "FILE", name);
}

SCR_FN int scr_meta_get_crc32(const scr_meta* m, uLong* crc)
{
  return scr_hash_util_get_crc32(m, "CRC", crc);
}

SCR_FN int scr_meta_get_orig(const scr_meta* m, const char** name)
{
  return scr_hash_util_get_str(m, "ORIG", name);
}

SCR_FN int scr_meta_get_origpath(const scr_meta* m, const char** path)
{
  if (scr_hash_util_get_str(m, "ORIGPATH", path) == SCR_SUCCESS) return SCR_SUCCESS;
  return scr_hash_util_get_str(m, "PATH", path); /* older versions */
}

SCR_FN int scr_meta_get_origname(const scr_meta* m, const char** name)
{
  if (scr_hash_util_get_str(m, "ORIGNAME", name) == SCR_SUCCESS) return SCR_SUCCESS;
  return scr_hash_util_get_str(m, "NAME", name); /* older versions */
}

SCR_FN int scr_meta_get_mode(const scr_meta* m, int* mode)
{
  return scr_hash_util_get_int(m, "MODE", mode);
}

SCR_FN int scr_meta_get_mtime(const scr_meta* m, int64_t* mtime)
{
  return scr_hash_util_get_int64(m, "MTIME", mtime);
}

/* The checks: SCR_SUCCESS when the field is set to that value, SCR_ERR_NOT_FOUND without a message otherwise. */

SCR_FN int scr_meta_check_ranks(const scr_meta* m, int ranks)
{
  int v;
  return scr_meta_get_ranks(m, &v) == SCR_SUCCESS && v == ranks ? SCR_SUCCESS : SCR_ERR_NOT_FOUND;
}

SCR_FN int scr_meta_check_checkpoint(const scr_meta* m, int ckpt)
{
  int v;
  return scr_meta_get_checkpoint(m, &v) == SCR_SUCCESS && v == ckpt ? SCR_SUCCESS : SCR_ERR_NOT_FOUND;
}

SCR_FN int scr_meta_check_filesize(const scr_meta* m, uint64_t size)
{
  uint64_t v;
  return scr_meta_get_filesize(m, &v) == SCR_SUCCESS && v == size ? SCR_SUCCESS : SCR_ERR_NOT_FOUND;
}

SCR_FN int scr_meta_check_filetype(const scr_meta* m, const char* type)
{
  const char* v;
  return scr_meta_get_filetype(m, &v) == SCR_SUCCESS && strcmp(v, type) == 0 ? SCR_SUCCESS : SCR_ERR_NOT_FOUND;
}

SCR_FN int scr_meta_check_filename(const scr_meta* m, const char* name)
{
  const char* v;
  return scr_meta_get_filename(m, &v) == SCR_SUCCESS && strcmp(v, name) == 0 ? SCR_SUCCESS : SCR_ERR_NOT_FOUND;
}

/* SCR_SUCCESS when the file is marked as complete. */
SCR_FN int scr_meta_check_complete(const scr_meta* m)
{
  int v;
  return scr_meta_get_complete(m, &v) == SCR_SUCCESS && v == 1 ? SCR_SUCCESS : SCR_ERR_NOT_FOUND;
}

/* ---- filemaps: all functions are local ---- */

SCR_FN scr_filemap* scr_filemap_new(void)
{
  return scr_hash_new();
}

SCR_FN void scr_filemap_delete(scr_filemap** map)
{
  scr_hash_delete(map);
}

SCR_FN void scr_filemap_clear(scr_filemap* map)
{
  scr_hash_unset_all(map);
}

/* The id or rank that KEY stands for, or -1 when it is not written as this library writes one. */
SCR_FN int scr_filemap_number(const char* key)
{
  int64_t v;

  if (!isdigit((unsigned char)key[0]) || (key[0] == '0' && key[1] != '\0')) return -1;
  return scr_str_int64(key, &v) == SCR_SUCCESS && v <= INT_MAX ? (int)v : -1;
}

/* The entry of RANK in DSET, or NULL. */
SCR_FN scr_hash* scr_filemap_get_entry(const scr_filemap* map, int dset, int rank)
{
  return scr_hash_get_kv_int(scr_hash_get_kv_int(map, "RANK", rank), "DSET", dset);
}

/* The same, made when it is not there; NULL without memory or for a negative number. */
SCR_FN scr_hash* scr_filemap_set_entry(scr_filemap* map, int dset, int rank)
{
  if (dset < 0 || rank < 0) return NULL;
  if (scr_hash_set_kv_int(scr_hash_set_kv_int(map, "DSET", dset), "RANK", rank) == NULL) return NULL;
  return scr_hash_set_kv_int(scr_hash_set_kv_int(map, "RANK", rank), "DSET", dset);
}

/* The error for an entry that scr_filemap_set_entry did not make. */
SCR_FN int scr_filemap_no_entry(int dset, int rank)
{
  if (dset < 0 || rank < 0) return SCR_ERR(SCR_ERR_ARG, "no filemap entry for dataset %d, rank %d", dset, rank);
  return SCR_ERR_OOM();
}

/* Remove `B/<b>` below `A/<a>`, and that too when nothing else is below it. */
SCR_FN void scr_filemap_unset_pair(scr_filemap* map, const char* a_key, int a, const char* b_key, int b)
{
  scr_hash* below = scr_hash_get_kv_int(map, a_key, a);

  scr_hash_unset_kv_int(below, b_key, b);
  if (below != NULL && scr_hash_size(scr_hash_get(below, b_key)) == 0) scr_hash_unset_kv_int(map, a_key, a);
}

/* Forget all about RANK in DSET. */
SCR_FN int scr_filemap_remove_rank_by_dataset(scr_filemap* map, int dset, int rank)
{
  scr_filemap_unset_pair(map, "RANK", rank, "DSET", dset);
  scr_filemap_unset_pair(map, "DSET", dset, "RANK", rank);
  return SCR_SUCCESS;
}

/* Forget all about RANK. */
SCR_FN int scr_filemap_remove_rank(scr_filemap* map, int rank)
{
  const scr_hash_elem* e = scr_hash_elem_first(scr_hash_get(scr_hash_get_kv_int(map, "RANK", rank), "DSET"));

  for (; e != NULL; e = scr_hash_elem_next(e))
    scr_filemap_unset_pair(map, "DSET", scr_filemap_number(scr_hash_elem_key(e)), "RANK", rank);
  scr_hash_unset_kv_int(map, "RANK", rank);
  return SCR_SUCCESS;
}

/* Forget all about DSET. */
SCR_FN int scr_filemap_remove_dataset(scr_filemap* map, int dset)
{
  const scr_hash_elem* e = scr_hash_elem_first(scr_hash_get(scr_hash_get_kv_int(map, "DSET", dset), "RANK"));

  for (; e != NULL; e = scr_hash_elem_next(e))
    scr_filemap_unset_pair(map, "RANK", scr_filemap_number(scr_hash_elem_key(e)), "DSET", dset);
  scr_hash_unset_kv_int(map, "DSET", dset);
  return SCR_SUCCESS;
}

/* Add FILE, with no meta, to RANK in DSET.  An entry that is there keeps what it has. */
SCR_FN int scr_filemap_add_file(scr_filemap* map, int dset, int rank, const char* file)
{
  scr_hash* entry = scr_filemap_set_entry(map, dset, rank);

  if (entry == NULL) return scr_filemap_no_entry(dset, rank);
  return scr_hash_set_kv(entry, "FILE", file) != NULL ? SCR_SUCCESS : SCR_ERR_OOM();
}

/* Remove FILE.  The rank's entry for the dataset stays, without files perhaps. */
SCR_FN int scr_filemap_remove_file(scr_filemap* map, int dset, int rank, const char* file)
{
  scr_hash_unset_kv(scr_filemap_get_entry(map, dset, rank), "FILE", file);
  return SCR_SUCCESS;
}

/* Copy the keys of SRC over those of DST; the files of the two are united, with the meta of SRC where both have it. */
SCR_FN int scr_filemap_merge_entry(scr_hash* dst, const scr_hash* src)
{
  const scr_hash_elem *e, *f, *k;
  int                  rc = SCR_SUCCESS;

  for (e = scr_hash_elem_first(src); e != NULL && rc == SCR_SUCCESS; e = scr_hash_elem_next(e)) {
    if (strcmp(scr_hash_elem_key(e), "FILE") != 0) {
      rc = scr_hash_set_copy(dst, scr_hash_elem_key(e), scr_hash_elem_hash(e));
      continue;
    }
    for (f = scr_hash_elem_first(scr_hash_elem_hash(e)); f != NULL && rc == SCR_SUCCESS; f = scr_hash_elem_next(f)) {
      scr_hash* file = scr_hash_set_kv(dst, "FILE", scr_hash_elem_key(f));
      if (file == NULL) return SCR_ERR_OOM();
      for (k = scr_hash_elem_first(scr_hash_elem_hash(f)); k != NULL && rc == SCR_SUCCESS; k = scr_hash_elem_next(k))
        rc = scr_hash_set_copy(file, scr_hash_elem_key(k), scr_hash_elem_hash(k));
    }
  }
  return rc;
}

/* Copy what SRC has about the rank of the element R into DST.  STRICT: a number that is not one is an error. */
SCR_FN int scr_filemap_merge_rank(scr_filemap* dst, const scr_hash_elem* r, int strict)
{
  const scr_hash_elem* d;
  int                  rc = SCR_SUCCESS, rank = scr_filemap_number(scr_hash_elem_key(r));

  if (rank < 0) return !strict ? SCR_SUCCESS : SCR_ERR(SCR_ERR_FORMAT, "%.100s is not a rank", scr_hash_elem_key(r));
  d = scr_hash_elem_first(scr_hash_get(scr_hash_elem_hash(r), "DSET"));
  for (; d != NULL && rc == SCR_SUCCESS; d = scr_hash_elem_next(d)) {
    int       dset = scr_filemap_number(scr_hash_elem_key(d));
    scr_hash* entry;
    if (dset < 0 && strict) return SCR_ERR(SCR_ERR_FORMAT, "%.100s is not a dataset id", scr_hash_elem_key(d));
    if (dset < 0) continue;
    entry = scr_filemap_set_entry(dst, dset, rank);
    rc = entry == NULL ? SCR_ERR_OOM() : scr_filemap_merge_entry(entry, scr_hash_elem_hash(d));
  }
  return rc;
}

/*
** Copy the entries of SRC into DST.  Where both know a rank in a dataset the files are united, and the rest of the
** entry is that of SRC.
*/
SCR_FN int scr_filemap_merge(scr_filemap* dst, const scr_filemap* src)
{
  const scr_hash_elem* r;
  int                  rc = SCR_SUCCESS;

  if (dst == src) return rc;
  for (r = scr_hash_elem_first(scr_hash_get(src, "RANK")); r != NULL && rc == SCR_SUCCESS; r = scr_hash_elem_next(r))
    rc = scr_filemap_merge_rank(dst, r, 0);
  return rc;
}

/* Move all about RANK out of MAP into a new filemap, which may be empty.  NULL without memory, and MAP is whole. */
SCR_FN scr_filemap* scr_filemap_extract_rank(scr_filemap* map, int rank)
{
  scr_filemap*         out = scr_filemap_new();
  const scr_hash_elem* r;
  char                 key[24];

  if (out == NULL) return NULL;
  snprintf(key, sizeof key, "%d", rank);
  r = scr_hash_elem_get(scr_hash_get(map, "RANK"), key);
  if (r != NULL && scr_filemap_merge_rank(out, r, 0) != SCR_SUCCESS) {
    scr_filemap_delete(&out);
    return NULL;
  }
  scr_filemap_remove_rank(map, rank);
  return out;
}

/* ---- queries ---- */

SCR_FN int scr_filemap_num_datasets(const scr_filemap* map)
{
  return scr_hash_size(scr_hash_get(map, "DSET"));
}

SCR_FN int scr_filemap_num_ranks(const scr_filemap* map)
{
  return scr_hash_size(scr_hash_get(map, "RANK"));
}

SCR_FN int scr_filemap_num_ranks_by_dataset(const scr_filemap* map, int dset)
{
  return scr_hash_size(scr_hash_get(scr_hash_get_kv_int(map, "DSET", dset), "RANK"));
}

/* The largest dataset id, or -1. */
SCR_FN int scr_filemap_latest_dataset(const scr_filemap* map)
{
  const scr_hash_elem* e;
  int                  best = -1;

  for (e = scr_hash_elem_first(scr_hash_get(map, "DSET")); e != NULL; e = scr_hash_elem_next(e)) {
    int id = scr_filemap_number(scr_hash_elem_key(e));
    if (id > best) best = id;
  }
  return best;
}

/* The smallest dataset id, or -1. */
SCR_FN int scr_filemap_oldest_dataset(const scr_filemap* map)
{
  const scr_hash_elem* e;
  int                  best = -1;

  for (e = scr_hash_elem_first(scr_hash_get(map, "DSET")); e != NULL; e = scr_hash_elem_next(e)) {
    int id = scr_filemap_number(scr_hash_elem_key(e));
    if (id >= 0 && (best < 0 || id < best)) best = id;
  }
  return best;
}

SCR_FN int scr_filemap_have_rank(const scr_filemap* map, int rank)
{
  return scr_hash_get_kv_int(map, "RANK", rank) != NULL;
}

SCR_FN int scr_filemap_have_rank_by_dataset(const scr_filemap* map, int dset, int rank)
{
  return scr_filemap_get_entry(map, dset, rank) != NULL;
}

/* Number of files that MAP lists for RANK in DSET. */
SCR_FN int scr_filemap_num_files(const scr_filemap* map, int dset, int rank)
{
  return scr_hash_size(scr_hash_get(scr_filemap_get_entry(map, dset, rank), "FILE"));
}

/* Number of files that RANK wrote in DSET, of which MAP may list fewer. */
SCR_FN int scr_filemap_set_expected_files(scr_filemap* map, int dset, int rank, int files)
{
  scr_hash* entry = scr_filemap_set_entry(map, dset, rank);

  return entry == NULL ? scr_filemap_no_entry(dset, rank) : scr_hash_util_set_int(entry, "FILES", files);
}

/* The same, or -1 when it was not set. */
SCR_FN int scr_filemap_get_expected_files(const scr_filemap* map, int dset, int rank)
{
  int files = -1;

  if (scr_hash_util_get_int(scr_filemap_get_entry(map, dset, rank), "FILES", &files) != SCR_SUCCESS || files < 0)
    return -1;
  return files;
}

SCR_FN int scr_filemap_unset_expected_files(scr_filemap* map, int dset, int rank)
{
  scr_hash_unset(scr_filemap_get_entry(map, dset, rank), "FILES");
  return SCR_SUCCESS;
}

/* ---- lists, which the caller frees; NULL when they are empty ---- */

SCR_FN int scr_filemap_compare_int(const void* a, const void* b)
{
  int x = *(const int*)a, y = *(const int*)b;
  return x < y ? -1 : x > y;
}

/* The keys of H that are numbers, in ascending order. */
SCR_FN int scr_filemap_list_numbers(const scr_hash* h, int* n, int** list)
{
  const scr_hash_elem* e;
  int                  k = 0;

  *n = 0;
  *list = NULL;
  if (scr_hash_size(h) == 0) return SCR_SUCCESS;
  *list = (int*)scr_malloc((size_t)scr_hash_size(h) * sizeof(int));
  if (*list == NULL) return SCR_ERR_OOM();
  for (e = scr_hash_elem_first(h); e != NULL; e = scr_hash_elem_next(e)) {
    int v = scr_filemap_number(scr_hash_elem_key(e));
    if (v >= 0) (*list)[k++] = v;
  }
  if (k == 0) scr_free(list);
  else qsort(*list, (size_t)k, sizeof(int), scr_filemap_compare_int);
  *n = k;
  return SCR_SUCCESS;
}

/* All dataset ids, the oldest first. */
SCR_FN int scr_filemap_list_datasets(const scr_filemap* map, int* n, int** dsets)
{
  return scr_filemap_list_numbers(scr_hash_get(map, "DSET"), n, dsets);
}

/* All ranks, the smallest first. */
SCR_FN int scr_filemap_list_ranks(const scr_filemap* map, int* n, int** ranks)
{
  return scr_filemap_list_numbers(scr_hash_get(map, "RANK"), n, ranks);
}

SCR_FN int scr_filemap_list_ranks_by_dataset(const scr_filemap* map, int dset, int* n, int** ranks)
{
  return scr_filemap_list_numbers(scr_hash_get(scr_hash_get_kv_int(map, "DSET", dset), "RANK"), n, ranks);
}

/* The files of RANK in DSET, in the order in which they were added; the strings are those of MAP. */
SCR_FN int scr_filemap_list_files(const scr_filemap* map, int dset, int rank, int* n, char*** files)
{
  const scr_hash*      list = scr_hash_get(scr_filemap_get_entry(map, dset, rank), "FILE");
  const scr_hash_elem* e;

  *n = 0;
  *files = NULL;
  if (scr_hash_size(list) == 0) return SCR_SUCCESS;
  *files = (char**)scr_malloc((size_t)scr_hash_size(list) * sizeof(char*));
  if (*files == NULL) return SCR_ERR_OOM();
  for (e = scr_hash_elem_first(list); e != NULL; e = scr_hash_elem_next(e)) (*files)[(*n)++] = scr_hash_elem_key(e);
  return SCR_SUCCESS;
}

/* ---- iterators ---- */

SCR_FN scr_hash_elem* scr_filemap_first_dataset(const scr_filemap* map)
{
  return scr_hash_elem_first(scr_hash_get(map, "DSET"));
}

SCR_FN scr_hash_elem* scr_filemap_first_rank_by_dataset(const scr_filemap* map, int dset)
{
  return scr_hash_elem_first(scr_hash_get(scr_hash_get_kv_int(map, "DSET", dset), "RANK"));
}

SCR_FN scr_hash_elem* scr_filemap_first_file(const scr_filemap* map, int dset, int rank)
{
  return scr_hash_elem_first(scr_hash_get(scr_filemap_get_entry(map, dset, rank), "FILE"));
}

/* ---- what belongs to a rank in a dataset ---- */

SCR_FN int scr_filemap_set_hash(scr_filemap* map, int dset, int rank, const char* key, const scr_hash* value)
{
  scr_hash* entry = scr_filemap_set_entry(map, dset, rank);

  return entry == NULL ? scr_filemap_no_entry(dset, rank) : scr_hash_set_copy(entry, key, value);
}

SCR_FN int scr_filemap_set_dataset(scr_filemap* map, int dset, int rank, const scr_dataset* desc)
{
  scr_hash_unset(scr_filemap_get_entry(map, dset, rank), "DATADESC");
  return scr_filemap_set_hash(map, dset, rank, "DSETDESC", desc);
}

/* Make DESC a copy of the dataset descriptor. */
SCR_FN int scr_filemap_get_dataset(const scr_filemap* map, int dset, int rank, scr_dataset* desc)
{
  const scr_hash* entry = scr_filemap_get_entry(map, dset, rank);
  const scr_hash* found = scr_hash_get(entry, "DSETDESC");

  return scr_hash_copy_out(desc, found != NULL ? found : scr_hash_get(entry, "DATADESC"));
}

SCR_FN int scr_filemap_unset_dataset(scr_filemap* map, int dset, int rank)
{
  scr_hash_unset(scr_filemap_get_entry(map, dset, rank), "DSETDESC");
  scr_hash_unset(scr_filemap_get_entry(map, dset, rank), "DATADESC");
  return SCR_SUCCESS;
}

/* The redundancy descriptor. */
SCR_FN int scr_filemap_set_desc(scr_filemap* map, int dset, int rank, const scr_hash* desc)
{
  return scr_filemap_set_hash(map, dset, rank, "REDDESC", desc);
}

SCR_FN int scr_filemap_get_desc(const scr_filemap* map, int dset, int rank, scr_hash* desc)
{
  return scr_hash_copy_out(desc, scr_hash_get(scr_filemap_get_entry(map, dset, rank), "REDDESC"));
}

SCR_FN int scr_filemap_unset_desc(scr_filemap* map, int dset, int rank)
{
  scr_hash_unset(scr_filemap_get_entry(map, dset, rank), "REDDESC");
  return SCR_SUCCESS;
}

/* What a scavenge has to know: PRESERVE, CONTAINER, PARTNER. */
SCR_FN int scr_filemap_set_flushdesc(scr_filemap* map, int dset, int rank, const scr_hash* desc)
{
  return scr_filemap_set_hash(map, dset, rank, "FLUSH", desc);
}

SCR_FN int scr_filemap_get_flushdesc(const scr_filemap* map, int dset, int rank, scr_hash* desc)
{
  return scr_hash_copy_out(desc, scr_hash_get(scr_filemap_get_entry(map, dset, rank), "FLUSH"));
}

SCR_FN int scr_filemap_unset_flushdesc(scr_filemap* map, int dset, int rank)
{
  scr_hash_unset(scr_filemap_get_entry(map, dset, rank), "FLUSH");
  return SCR_SUCCESS;
}

/* Any text under the key TAG, which must not be one of the keys above. */
SCR_FN int scr_filemap_set_tag(scr_filemap* map, int dset, int rank, const char* tag, const char* value)
{
  scr_hash* entry = scr_filemap_set_entry(map, dset, rank);

  return entry == NULL ? scr_filemap_no_entry(dset, rank) : scr_hash_util_set_str(entry, tag, value);
}

/* The text of TAG, which points into MAP, or NULL. */
SCR_FN const char* scr_filemap_get_tag(const scr_filemap* map, int dset, int rank, const char* tag)
{
  return scr_hash_elem_get_first_val(scr_filemap_get_entry(map, dset, rank), tag);
}

SCR_FN int scr_filemap_unset_tag(scr_filemap* map, int dset, int rank, const char* tag)
{
  scr_hash_unset(scr_filemap_get_entry(map, dset, rank), tag);
  return SCR_SUCCESS;
}

/* Record META for FILE, which was added before under the same name. */
SCR_FN int scr_filemap_set_meta(scr_filemap* map, int dset, int rank, const char* file, const scr_meta* meta)
{
  scr_hash* entry = scr_hash_get_kv(scr_filemap_get_entry(map, dset, rank), "FILE", file);

  if (entry == NULL)
    return SCR_ERR(SCR_ERR_NOT_FOUND, "the filemap lists no file %.900s for dataset %d, rank %d", file, dset, rank);
  return scr_hash_set_copy(entry, "META", meta);
}

SCR_FN int scr_filemap_get_meta(const scr_filemap* map, int dset, int rank, const char* file, scr_meta* meta)
{
  const scr_hash* entry = scr_hash_get_kv(scr_filemap_get_entry(map, dset, rank), "FILE", file);

  return scr_hash_copy_out(meta, scr_hash_get(entry, "META"));
}

SCR_FN int scr_filemap_unset_meta(scr_filemap* map, int dset, int rank, const char* file)
{
  scr_hash_unset(scr_hash_get_kv(scr_filemap_get_entry(map, dset, rank), "FILE", file), "META");
  return SCR_SUCCESS;
}

/* ---- files ---- */

/* Replace PATH by MAP, atomically.  On error PATH is as it was. */
SCR_FN int scr_filemap_write(const char* path, const scr_filemap* map)
{
  return scr_hash_file_write(path, map);
}

/*
** Merge the filemap of the file PATH into MAP, as scr_filemap_merge does.  SCR_ERR_NOT_FOUND when there is no file,
** SCR_ERR_FORMAT when it is not a filemap; MAP is then as it was.
*/
SCR_FN int scr_filemap_read(const char* path, scr_filemap* map)
{
  scr_hash*            file = scr_hash_new();
  scr_filemap*         checked = scr_filemap_new();
  const scr_hash_elem* r;
  char                 why[SCR_ERR_TEXT_MAX];
  int                  rc = file == NULL || checked == NULL ? SCR_ERR_OOM() : scr_hash_file_read(path, file);

  if (rc != SCR_SUCCESS) goto out;
  r = scr_hash_elem_first(scr_hash_get(file, "RANK"));
  for (; r != NULL && rc == SCR_SUCCESS; r = scr_hash_elem_next(r)) rc = scr_filemap_merge_rank(checked, r, 1);
  if (rc == SCR_ERR_FORMAT) {
    snprintf(why, sizeof why, "%s", scr_err_text);
    rc = SCR_ERR(rc, "%.900s is not a filemap: %s", path, why);
  }
  if (rc == SCR_SUCCESS) rc = scr_filemap_merge(map, checked);
out:
  scr_hash_delete(&file);
  scr_hash_delete(&checked);
  return rc;
}
/* ==== 09 KERNELS ========================================================================================
** The inner loops over bytes: CRC32, and sums of products over GF(2^8), of which XOR is the simplest; and the small
** mathematics of Reed-Solomon that chooses the factors.
**
** Each loop has a plain form, and forms for processors that offer more.  These are compiled with target attributes, so
** the user's build line needs no flags, and the best one is chosen at the first use.  -DSCR_PLAIN_KERNELS leaves only
** the plain ones, for compilers that cannot take the others.
**
** Uses       errors.
** Offers     SCR_CRC32_START, scr_crc32, scr_crc32_combine, scr_gf_sum, scr_gf_mad_one, scr_rs_matrix, scr_rs_row,
**            scr_rs_chunk, scr_rs_solve.
** Invariants
**   K1  scr_crc32 equals zlib's crc32 for any length, alignment and start.
**   K2  All kernels give the same bytes, and none reads or writes a byte outside of its N.
**   K3  GF(2^8) has the polynomial x^8 + x^4 + x^3 + x^2 + 1 (0x11D).
**   K4  Several threads may make the first call at once: what is kept for later calls is read and written whole, and
**       every thread makes the same.
**   K5  Every square part of a matrix of scr_rs_matrix can be inverted: any k lost symbols of a position come back.
** Failure    None in the loops; an error code in scr_rs_matrix and scr_rs_solve.
** ====================================================================================================== */

#if !defined(SCR_PLAIN_KERNELS) && defined(__GNUC__) && !defined(__INTEL_COMPILER) && !defined(__NVCOMPILER)
#if defined(__x86_64__) && (defined(__clang__) ? __clang_major__ >= 7 : __GNUC__ >= 9)
#define SCR_KERNELS_X86
#include <immintrin.h>
#elif defined(__aarch64__) && defined(__AARCH64EL__)
#define SCR_KERNELS_ARM
#include <arm_neon.h>
#ifdef __linux__
#include <sys/auxv.h>
#endif
#endif
#endif

#ifdef __GNUC__
#define SCR_TARGET(what)       __attribute__((target(what)))
#define SCR_VECTOR(n)          __attribute__((vector_size(n)))
#define SCR_SHARED_GET(x)      __atomic_load_n(&(x), __ATOMIC_RELAXED)
#define SCR_SHARED_SET(x, val) __atomic_store_n(&(x), (val), __ATOMIC_RELAXED)
#else
#define SCR_VECTOR(n)
#define SCR_SHARED_GET(x)      (x)
#define SCR_SHARED_SET(x, val) ((x) = (val))
#endif

typedef uint64_t scr_wide SCR_VECTOR(16); /* a register, or two words where there is none */

#define SCR_CRC32_START 0u
#define SCR_GF_GROUP    8 /* sources of one pass over the destination */

/* The CRC32 of bytes whose CRC32 is CRC, followed by the N > 0 bytes at P. */
typedef uLong (*scr_crc_kernel)(uLong crc, const unsigned char* p, size_t n);

/*
** D[x..N) = sum of COEF[i] * S[i][x..N) over 1..SCR_GF_GROUP SOURCES, plus what was there if ADD, in whole steps of the
** kernel's width.  Returns where it stopped, which is less than a step before N.
*/
typedef size_t (*scr_gf_kernel)(unsigned char* d, const unsigned char* const* s, const unsigned char* coef, int sources,
                                size_t x, size_t n, int add);

/* ---- the plain kernels ---- */

SCR_FN int scr_has_plain(void)
{
  return 1;
}

SCR_FN uLong scr_crc_plain(uLong crc, const unsigned char* p, size_t n)
{
  return crc32_z(crc, (const Bytef*)p, (z_size_t)n);
}

/* C times each of the 8 bytes of V. */
SCR_FN uint64_t scr_gf_mul_word(uint64_t v, unsigned char c)
{
  uint64_t sum = 0;

  for (; c != 0; c >>= 1) {
    uint64_t over = v >> 7 & UINT64_C(0x0101010101010101); /* x^8 is x^4 + x^3 + x^2 + 1 */
    if (c & 1) sum ^= v;
    v = (v & UINT64_C(0x7f7f7f7f7f7f7f7f)) << 1 ^ over * 0x1d;
  }
  return sum;
}

SCR_FN unsigned char scr_gf_mul(unsigned char a, unsigned char b)
{
  return (unsigned char)scr_gf_mul_word(a, b);
}

SCR_FN size_t scr_gf_plain(unsigned char* d, const unsigned char* const* s, const unsigned char* coef, int sources,
                           size_t x, size_t n, int add)
{
  int i;

  for (; n - x >= 8; x += 8) {
    uint64_t v, sum = 0;
    if (add) memcpy(&sum, d + x, 8); /* memcpy of a fixed size is a load: it allows any alignment */
    for (i = 0; i < sources; i++) {
      memcpy(&v, s[i] + x, 8);
      sum ^= scr_gf_mul_word(v, coef[i]);
    }
    memcpy(d + x, &sum, 8);
  }
  return x;
}

/* The sum of sources whose factors are all 1, on any processor.  COEF is not used. */
SCR_FN size_t scr_gf_ones(unsigned char* d, const unsigned char* const* s, const unsigned char* coef, int sources,
                          size_t x, size_t n, int add)
{
  const size_t w = sizeof(scr_wide);
  int          i;

  (void)coef;
  for (; n - x >= 2 * w; x += 2 * w) {
    const unsigned char* p = add ? d : s[0];
    scr_wide             sum, two, v, u; /* variables, not an array: compilers then keep them in registers */
    memcpy(&sum, p + x, w);
    memcpy(&two, p + x + w, w);
    for (i = add ? 0 : 1; i < sources; i++) {
      memcpy(&v, s[i] + x, w);
      memcpy(&u, s[i] + x + w, w);
      sum ^= v;
      two ^= u;
    }
    memcpy(d + x, &sum, w);
    memcpy(d + x + w, &two, w);
  }
  return x;
}

/* ---- kernels of particular processors ---- */

#if defined(SCR_KERNELS_X86) || defined(SCR_KERNELS_ARM)
/*
** C times each low half of a byte, then each high half: a shuffle looks 16 and more of them up at once (Plank et al.,
** "Screaming Fast Galois Field Arithmetic Using Intel SIMD Instructions", FAST 2013).  Little endian.
*/
SCR_FN void scr_gf_halves(unsigned char c, unsigned char table[32])
{
  uint64_t w[4];

  w[0] = scr_gf_mul_word(UINT64_C(0x0706050403020100), c);
  w[1] = scr_gf_mul_word(UINT64_C(0x0f0e0d0c0b0a0908), c);
  w[2] = scr_gf_mul_word(UINT64_C(0x7060504030201000), c);
  w[3] = scr_gf_mul_word(UINT64_C(0xf0e0d0c0b0a09080), c);
  memcpy(table, w, 32);
}
#endif

#ifdef SCR_KERNELS_X86
/*
** CRC by folding (Gopal et al., "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ Instruction", 2009):
** bytes that stand D bits before others are multiplied by x^D modulo the polynomial and added to them, until 16 are
** left, which have the CRC of all of them.
**
** zlib's bits are reversed: bit i of a 64-bit word is x^(63-i).  The product of two such words, taken as 128 bits of
** the same kind, is too high by x; so the factor of the high word is x^(D-1), and that of the low one, which stands
** 64 bits before it, is x^(D+63).
*/

/* x^N modulo the polynomial, in reversed bits; never 0. */
SCR_FN uint64_t scr_crc_power(int n)
{
  uint32_t v = UINT32_C(0x80000000);

  while (n-- > 0) v = v >> 1 ^ (v & 1 ? UINT32_C(0xedb88320) : 0);
  return (uint64_t)v << 32;
}

/* The factors that fold by 128 << I bits, I < 4: K[0] for the low word, K[1] for the high one. */
SCR_FN void scr_crc_factors(int i, uint64_t k[2])
{
  static uint64_t kept[4][2];
  int             h;

  for (h = 0; h < 2; h++) {
    k[h] = SCR_SHARED_GET(kept[i][h]);
    if (k[h] != 0) continue;
    k[h] = scr_crc_power((128 << i) + (h == 0 ? 63 : -1));
    SCR_SHARED_SET(kept[i][h], k[h]);
  }
}

SCR_FN SCR_TARGET("sse2") __m128i scr_load_sse(const void* p)
{
  return _mm_loadu_si128((const __m128i*)p);
}

SCR_FN SCR_TARGET("pclmul") __m128i scr_crc_fold(__m128i a, __m128i k, __m128i onto)
{
  __m128i low = _mm_clmulepi64_si128(a, k, 0x00), high = _mm_clmulepi64_si128(a, k, 0x11);
  return _mm_xor_si128(_mm_xor_si128(low, high), onto);
}

/* CRC32 of the 16 bytes A, into which all before them are folded, and the N at P. */
SCR_FN SCR_TARGET("pclmul") uLong scr_crc_finish(__m128i a, const unsigned char* p, size_t n)
{
  unsigned char last[32];
  uint64_t      f[2];
  __m128i       k;

  scr_crc_factors(0, f);
  k = scr_load_sse(f);
  for (; n >= 16; p += 16, n -= 16) a = scr_crc_fold(a, k, scr_load_sse(p));
  memcpy(last, &a, 16);
  memcpy(last + 16, p, n);
  return crc32_z(UINT32_C(0xffffffff), last, (z_size_t)(16 + n)); /* a register of 0: the start is in A already */
}

SCR_FN SCR_TARGET("pclmul") uLong scr_crc_pclmul(uLong crc, const unsigned char* p, size_t n)
{
  uint64_t f[2];
  __m128i  a, b, c, d, k;

  if (n < 64) return scr_crc_plain(crc, p, n);
  scr_crc_factors(2, f);
  k = scr_load_sse(f);
  a = _mm_xor_si128(scr_load_sse(p), _mm_cvtsi32_si128((int)~(uint32_t)crc));
  b = scr_load_sse(p + 16);
  c = scr_load_sse(p + 32);
  d = scr_load_sse(p + 48);
  for (p += 64, n -= 64; n >= 64; p += 64, n -= 64) {
    a = scr_crc_fold(a, k, scr_load_sse(p));
    b = scr_crc_fold(b, k, scr_load_sse(p + 16));
    c = scr_crc_fold(c, k, scr_load_sse(p + 32));
    d = scr_crc_fold(d, k, scr_load_sse(p + 48));
  }
  scr_crc_factors(0, f);
  k = scr_load_sse(f);
  a = scr_crc_fold(scr_crc_fold(scr_crc_fold(a, k, b), k, c), k, d);
  return scr_crc_finish(a, p, n);
}

SCR_FN SCR_TARGET("avx2") __m256i scr_load_avx(const void* p)
{
  return _mm256_loadu_si256((const __m256i*)p);
}

SCR_FN SCR_TARGET("avx2,vpclmulqdq") __m256i scr_crc_fold_wide(__m256i a, __m256i k, __m256i onto)
{
  __m256i low = _mm256_clmulepi64_epi128(a, k, 0x00), high = _mm256_clmulepi64_epi128(a, k, 0x11);
  return _mm256_xor_si256(_mm256_xor_si256(low, high), onto);
}

SCR_FN SCR_TARGET("avx2,pclmul,vpclmulqdq") uLong scr_crc_vpclmul(uLong crc, const unsigned char* p, size_t n)
{
  uint64_t f[2];
  __m256i  a, b, c, d, k;

  if (n < 256) return scr_crc_pclmul(crc, p, n);
  scr_crc_factors(3, f);
  k = _mm256_broadcastsi128_si256(scr_load_sse(f));
  a = _mm256_xor_si256(scr_load_avx(p), _mm256_zextsi128_si256(_mm_cvtsi32_si128((int)~(uint32_t)crc)));
  b = scr_load_avx(p + 32);
  c = scr_load_avx(p + 64);
  d = scr_load_avx(p + 96);
  for (p += 128, n -= 128; n >= 128; p += 128, n -= 128) {
    a = scr_crc_fold_wide(a, k, scr_load_avx(p));
    b = scr_crc_fold_wide(b, k, scr_load_avx(p + 32));
    c = scr_crc_fold_wide(c, k, scr_load_avx(p + 64));
    d = scr_crc_fold_wide(d, k, scr_load_avx(p + 96));
  }
  scr_crc_factors(1, f);
  k = _mm256_broadcastsi128_si256(scr_load_sse(f));
  a = scr_crc_fold_wide(scr_crc_fold_wide(scr_crc_fold_wide(a, k, b), k, c), k, d);
  scr_crc_factors(0, f);
  return scr_crc_finish(scr_crc_fold(_mm256_castsi256_si128(a), scr_load_sse(f), _mm256_extracti128_si256(a, 1)), p, n);
}

SCR_FN SCR_TARGET("ssse3") __m128i scr_gf_mul_ssse3(__m128i v, const unsigned char* table)
{
  __m128i half = _mm_set1_epi8(15), low = _mm_and_si128(v, half), high = _mm_and_si128(_mm_srli_epi64(v, 4), half);
  return _mm_xor_si128(_mm_shuffle_epi8(scr_load_sse(table), low), _mm_shuffle_epi8(scr_load_sse(table + 16), high));
}

SCR_FN SCR_TARGET("ssse3") size_t scr_gf_ssse3(unsigned char* d, const unsigned char* const* s,
                                               const unsigned char* coef, int sources, size_t x, size_t n, int add)
{
  unsigned char table[SCR_GF_GROUP][32];
  int           i;

  for (i = 0; i < sources; i++) scr_gf_halves(coef[i], table[i]);
  for (; n - x >= 16; x += 16) {
    __m128i sum = add ? scr_load_sse(d + x) : _mm_setzero_si128();
    for (i = 0; i < sources; i++) sum = _mm_xor_si128(sum, scr_gf_mul_ssse3(scr_load_sse(s[i] + x), table[i]));
    _mm_storeu_si128((__m128i*)(void*)(d + x), sum);
  }
  return x;
}

SCR_FN SCR_TARGET("avx2") __m256i scr_gf_mul_avx2(__m256i v, const unsigned char* table)
{
  __m256i half = _mm256_set1_epi8(15);
  __m256i low = _mm256_broadcastsi128_si256(scr_load_sse(table));
  __m256i high = _mm256_broadcastsi128_si256(scr_load_sse(table + 16));

  low = _mm256_shuffle_epi8(low, _mm256_and_si256(v, half));
  high = _mm256_shuffle_epi8(high, _mm256_and_si256(_mm256_srli_epi64(v, 4), half));
  return _mm256_xor_si256(low, high);
}

SCR_FN SCR_TARGET("avx2") size_t scr_gf_avx2(unsigned char* d, const unsigned char* const* s, const unsigned char* coef,
                                             int sources, size_t x, size_t n, int add)
{
  unsigned char table[SCR_GF_GROUP][32];
  int           i;

  for (i = 0; i < sources; i++) scr_gf_halves(coef[i], table[i]);
  for (; n - x >= 64; x += 64) {
    __m256i sum = add ? scr_load_avx(d + x) : _mm256_setzero_si256();
    __m256i two = add ? scr_load_avx(d + x + 32) : _mm256_setzero_si256();
    for (i = 0; i < sources; i++) {
      sum = _mm256_xor_si256(sum, scr_gf_mul_avx2(scr_load_avx(s[i] + x), table[i]));
      two = _mm256_xor_si256(two, scr_gf_mul_avx2(scr_load_avx(s[i] + x + 32), table[i]));
    }
    _mm256_storeu_si256((__m256i*)(void*)(d + x), sum);
    _mm256_storeu_si256((__m256i*)(void*)(d + x + 32), two);
  }
  return x;
}

/*
** To multiply by C is linear in the bits of the other factor: the matrix of it for gf2p8affineqb, which wants the row
** of bit i in byte 7 - i.  Bit j of that row is bit i of C * x^j.
*/
SCR_FN uint64_t scr_gf_bits(unsigned char c)
{
  uint64_t columns = scr_gf_mul_word(UINT64_C(0x8040201008040201), c), rows = 0;
  int      i;

  for (i = 0; i < 8; i++) {
    uint64_t spread = columns >> i & UINT64_C(0x0101010101010101); /* the product brings bit 8j to 56 + j */
    rows = rows << 8 | spread * UINT64_C(0x0102040810204080) >> 56;
  }
  return rows;
}

SCR_FN SCR_TARGET("avx512f,avx512bw,gfni") size_t
    scr_gf_gfni(unsigned char* d, const unsigned char* const* s, const unsigned char* coef, int sources, size_t x,
                size_t n, int add)
{
  uint64_t bits[SCR_GF_GROUP];
  int      i;

  for (i = 0; i < sources; i++) bits[i] = scr_gf_bits(coef[i]);
  for (; n - x >= 64; x += 64) {
    __m512i sum = add ? _mm512_loadu_si512(d + x) : _mm512_setzero_si512();
    for (i = 0; i < sources; i++) {
      __m512i v = _mm512_loadu_si512(s[i] + x), by = _mm512_set1_epi64((long long)bits[i]);
      sum = _mm512_xor_si512(sum, _mm512_gf2p8affine_epi64_epi8(v, by, 0));
    }
    _mm512_storeu_si512(d + x, sum);
  }
  return x;
}

SCR_FN int scr_has_pclmul(void)
{
  return __builtin_cpu_supports("pclmul") != 0;
}

SCR_FN int scr_has_vpclmul(void)
{
  return scr_has_pclmul() && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("vpclmulqdq");
}

SCR_FN int scr_has_ssse3(void)
{
  return __builtin_cpu_supports("ssse3") != 0;
}

SCR_FN int scr_has_avx2(void)
{
  return __builtin_cpu_supports("avx2") != 0;
}

SCR_FN int scr_has_gfni(void)
{
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("gfni");
}
#endif /* SCR_KERNELS_X86 */

#ifdef SCR_KERNELS_ARM
SCR_FN uLong scr_crc_arm(uLong crc, const unsigned char* p, size_t n)
{
  uint32_t sum = ~(uint32_t)crc;

  for (; n >= 8; p += 8, n -= 8) {
    uint64_t v;
    memcpy(&v, p, 8);
    __asm__(".arch_extension crc\n\tcrc32x %w0, %w0, %x1" : "+r"(sum) : "r"(v)); /* the intrinsic wants a flag */
  }
  return scr_crc_plain((uint32_t)~sum, p, n);
}

SCR_FN uint8x16_t scr_gf_mul_neon(uint8x16_t v, const unsigned char* table)
{
  uint8x16_t low = vqtbl1q_u8(vld1q_u8(table), vandq_u8(v, vdupq_n_u8(15)));
  return veorq_u8(low, vqtbl1q_u8(vld1q_u8(table + 16), vshrq_n_u8(v, 4)));
}

SCR_FN size_t scr_gf_neon(unsigned char* d, const unsigned char* const* s, const unsigned char* coef, int sources,
                          size_t x, size_t n, int add)
{
  unsigned char table[SCR_GF_GROUP][32];
  int           i;

  for (i = 0; i < sources; i++) scr_gf_halves(coef[i], table[i]);
  for (; n - x >= 32; x += 32) {
    uint8x16_t sum = add ? vld1q_u8(d + x) : vdupq_n_u8(0);
    uint8x16_t two = add ? vld1q_u8(d + x + 16) : vdupq_n_u8(0);
    for (i = 0; i < sources; i++) {
      sum = veorq_u8(sum, scr_gf_mul_neon(vld1q_u8(s[i] + x), table[i]));
      two = veorq_u8(two, scr_gf_mul_neon(vld1q_u8(s[i] + x + 16), table[i]));
    }
    vst1q_u8(d + x, sum);
    vst1q_u8(d + x + 16, two);
  }
  return x;
}

SCR_FN int scr_has_arm_crc(void)
{
#if defined(__ARM_FEATURE_CRC32)
  return 1;
#elif defined(__linux__) && defined(HWCAP_CRC32)
  return (getauxval(AT_HWCAP) & HWCAP_CRC32) != 0;
#else
  return 0;
#endif
}
#endif /* SCR_KERNELS_ARM */

/* ---- the choice ---- */

typedef struct {
  const char* name;
  int (*available)(void);
  scr_crc_kernel crc; /* NULL: the next one that has it is taken */
  scr_gf_kernel  mad;
} scr_kernel;

/* The best ones first; the last one has both and is always available. */
static const scr_kernel scr_kernels[] = {
#ifdef SCR_KERNELS_X86
    {"gfni", scr_has_gfni, NULL, scr_gf_gfni},
    {"vpclmul", scr_has_vpclmul, scr_crc_vpclmul, NULL},
    {"avx2", scr_has_avx2, NULL, scr_gf_avx2},
    {"pclmul", scr_has_pclmul, scr_crc_pclmul, NULL},
    {"ssse3", scr_has_ssse3, NULL, scr_gf_ssse3},
#endif
#ifdef SCR_KERNELS_ARM
    {"crc", scr_has_arm_crc, scr_crc_arm, NULL},
    {"neon", scr_has_plain, NULL, scr_gf_neon},
#endif
    {"plain", scr_has_plain, scr_crc_plain, scr_gf_plain}};

SCR_FN scr_crc_kernel scr_crc_choose(void)
{
  static scr_crc_kernel kept;
  scr_crc_kernel        f = SCR_SHARED_GET(kept);
  const scr_kernel*     k = scr_kernels;

  if (f != NULL) return f;
  while (k->crc == NULL || !k->available()) k++;
  SCR_SHARED_SET(kept, k->crc);
  return k->crc;
}

SCR_FN scr_gf_kernel scr_gf_choose(void)
{
  static scr_gf_kernel kept;
  scr_gf_kernel        f = SCR_SHARED_GET(kept);
  const scr_kernel*    k = scr_kernels;

  if (f != NULL) return f;
  while (k->mad == NULL || !k->available()) k++;
  SCR_SHARED_SET(kept, k->mad);
  return k->mad;
}

/* ---- CRC32 ---- */

/* The CRC32 of bytes whose CRC32 is CRC, followed by the N bytes at P.  Start with SCR_CRC32_START. */
SCR_FN uLong scr_crc32(uLong crc, const void* p, size_t n)
{
  return n == 0 ? crc : scr_crc_choose()(crc, (const unsigned char*)p, n);
}

/* The CRC32 of two runs of bytes, one after the other, from those of each; the second has N bytes. */
SCR_FN uLong scr_crc32_combine(uLong first, uLong second, uint64_t n)
{
  return n == 0 ? first : crc32_combine(first, second, (z_off_t)n);
}

/* ---- sums over GF(2^8) ---- */

/* One pass of a sum by the kernel MAD, over all N bytes. */
SCR_FN void scr_gf_pass(scr_gf_kernel mad, unsigned char* d, const unsigned char* const* s, const unsigned char* coef,
                        int sources, size_t n, int add)
{
  size_t x;
  int    i, ones = 1;

  for (i = 0; i < sources; i++) ones &= coef[i] == 1;
  x = (ones ? scr_gf_ones : mad)(d, s, coef, sources, 0, n, add);
  x = scr_gf_plain(d, s, coef, sources, x, n, add);
  for (; x < n; x++) {
    unsigned char sum = add ? d[x] : 0;
    for (i = 0; i < sources; i++) sum ^= scr_gf_mul(s[i][x], coef[i]);
    d[x] = sum;
  }
}

/* DST = sum of COEF[i] * SRC[i] by the kernel MAD, plus what was there if ADD. */
SCR_FN void scr_gf_run(scr_gf_kernel mad, void* dst, const void* const* src, const unsigned char* coef, int sources,
                       size_t n, int add)
{
  const unsigned char* s[SCR_GF_GROUP];
  unsigned char        c[SCR_GF_GROUP];
  int                  i, used = 0;

  for (i = 0; i < sources; i++) {
    if (coef[i] == 0) continue;
    s[used] = (const unsigned char*)src[i];
    c[used++] = coef[i];
    if (used < SCR_GF_GROUP) continue;
    scr_gf_pass(mad, (unsigned char*)dst, s, c, used, n, add);
    add = 1;
    used = 0;
  }
  if (used > 0) scr_gf_pass(mad, (unsigned char*)dst, s, c, used, n, add);
  else if (!add && n > 0) memset(dst, 0, n);
}

/* DST = sum of COEF[i] * SRC[i] over SOURCES areas of N bytes, none of which overlaps DST; zeros without SOURCES. */
SCR_FN void scr_gf_sum(void* dst, const void* const* src, const unsigned char* coef, int sources, size_t n)
{
  scr_gf_run(scr_gf_choose(), dst, src, coef, sources, n, 0);
}

/* DST ^= C * SRC over N bytes; the areas do not overlap. */
SCR_FN void scr_gf_mad_one(void* dst, const void* src, unsigned char c, size_t n)
{
  scr_gf_run(scr_gf_choose(), dst, &src, &c, 1, n, 1);
}

/* 1 / A; 0 for 0. */
SCR_FN unsigned char scr_gf_inv(unsigned char a)
{
  unsigned char v = 1;
  int           i;

  for (i = 0; i < 7; i++) { /* a^254, for a^255 is 1: 254 is seven ones in binary, and a zero */
    v = scr_gf_mul(scr_gf_mul(v, v), a);
  }
  return scr_gf_mul(v, v);
}

/*
** ---- Reed-Solomon ----
**
** The code of a redundancy set of n members with k parities has n POSITIONS.  At position c, the k members
** (c - e) mod n hold the parities of rows e = 0..k-1, and the others hold data, each its next chunk.  Parity e is the
** sum of m[e * n + s] * symbol(s) over the members s that hold data at c.
*/

/*
** The k x n parity rows M of a set of N members with K parities.  All ones for K = 1: that is XOR.  Else they are the
** rows n..n+k-1 of the (n + k) x n matrix i^j after its columns were reduced until the top is the identity.  Column j
** then is the polynomial of degree < n that is 1 at j and 0 at the other points below n: by Lagrange,
** m(e, j) = prod (n+e - l) / (n+e - j) / prod (j - l), l < n, l != j below; a difference is an XOR.  Each entry is
** u(e) * v(j) / (x(e) - y(j)): a Cauchy matrix with scaled rows and columns, hence K5.
** SCR_ERR_PARAM when 1 <= k < n, n + k <= 256 does not hold.
*/
SCR_FN int scr_rs_matrix(int n, int k, unsigned char* m)
{
  int e, j, l;

  if (k < 1 || k >= n || n + k > 256)
    return SCR_ERR(SCR_ERR_PARAM, "no Reed-Solomon code has %d members with %d parities", n, k);
  memset(m, 1, (size_t)n * (size_t)k);
  if (k == 1) return SCR_SUCCESS;
  for (j = 0; j < n; j++) {
    unsigned char below = 1;
    for (l = 0; l < n; l++)
      if (l != j) below = scr_gf_mul(below, (unsigned char)(j ^ l));
    for (e = 0; e < k; e++) m[e * n + j] = scr_gf_mul(below, (unsigned char)((n + e) ^ j));
  }
  for (e = 0; e < k; e++) {
    unsigned char all = 1;
    for (l = 0; l < n; l++) all = scr_gf_mul(all, (unsigned char)((n + e) ^ l));
    for (j = 0; j < n; j++) m[e * n + j] = scr_gf_mul(all, scr_gf_inv(m[e * n + j]));
  }
  return SCR_SUCCESS;
}

/* The parity row that member R holds at position C, or -1 when it holds data. */
SCR_FN int scr_rs_row(int n, int k, int r, int c)
{
  int e = (c - r + n) % n;
  return e < k ? e : -1;
}

/* Which of its chunks, 0..n-k-1, member R holds at position C, where it holds data. */
SCR_FN int scr_rs_chunk(int n, int k, int r, int c)
{
  int e, chunk = c;

  for (e = 0; e < k; e++) chunk -= (r + e) % n < c;
  return chunk;
}

/* Make ROW the factors of the equation of parity E at position C: the sum of all factors times symbols is 0. */
SCR_FN void scr_rs_equation(int n, int k, const unsigned char* m, int c, int e, unsigned char* row)
{
  int s;

  for (s = 0; s < n; s++) row[s] = scr_rs_row(n, k, s, c) < 0 ? m[e * n + s] : scr_rs_row(n, k, s, c) == e;
}

/* Solve the D equations in the rows T[0..D) of COEF for the symbols T[0..D). */
SCR_FN int scr_rs_eliminate(int n, unsigned char* coef, const int* t, int d)
{
  int i, j, s;

  for (i = 0; i < d; i++) {
    unsigned char* row = coef + t[i] * n;
    unsigned char  by = scr_gf_inv(row[t[i]]);
    if (by == 0) return SCR_ERR(SCR_ERR_ARG, "the matrix is not of a Reed-Solomon code"); /* K5: needs no exchange */
    for (s = 0; s < n; s++) row[s] = scr_gf_mul(row[s], by);
    for (j = 0; j < d; j++)
      if (j != i) scr_gf_mad_one(coef + t[j] * n, row, coef[t[j] * n + t[i]], (size_t)n);
  }
  for (i = 0; i < d; i++) coef[t[i] * n + t[i]] = 0; /* symbol = the sum of the rest */
  return SCR_SUCCESS;
}

/*
** How the symbols of the members with ERASED[r] != 0 at position C follow from the others: the row of each erased t in
** the n x n matrix COEF is set so that symbol(t) = sum of coef[t * n + s] * symbol(s), with 0 for the erased s.  M is
** made by scr_rs_matrix.  To encode is to erase the k members that hold parity.  SCR_ERR_LOST when more than K are
** erased.
*/
SCR_FN int scr_rs_solve(int n, int k, const unsigned char* m, int c, const unsigned char* erased, unsigned char* coef)
{
  int data[256], d = 0, lost = 0, used = 0, e, i, rc, t;

  for (t = 0; t < n; t++) {
    if (!erased[t]) continue;
    lost++;
    if (scr_rs_row(n, k, t, c) < 0) data[d++] = t;
  }
  if (lost > k) return SCR_ERR(SCR_ERR_LOST, "%d of %d members are lost, and %d can be rebuilt", lost, n, k);
  for (e = 0; e < k && used < d; e++) { /* for each data symbol a parity that is not erased */
    if (!erased[(c - e + n) % n]) scr_rs_equation(n, k, m, c, e, coef + data[used++] * n);
  }
  rc = scr_rs_eliminate(n, coef, data, d);
  for (t = 0; rc == SCR_SUCCESS && t < n; t++) {
    unsigned char* row = coef + t * n;
    e = scr_rs_row(n, k, t, c);
    if (!erased[t] || e < 0) continue;
    scr_rs_equation(n, k, m, c, e, row);
    row[t] = 0;
    for (i = 0; i < d; i++) {
      row[data[i]] = 0;
      scr_gf_mad_one(row, coef + data[i] * n, m[e * n + data[i]], (size_t)n);
    }
  }
  return rc;
}

/* ==== 10 FILE WINDOW ====================================================================================
** Many files as one stream of bytes with zeros behind its end, with the CRC32 of each file taken on the way; and
** copies and checksums of whole files.
**
** Uses       platform, errors, memory, kernels; scr_fsync_enabled of the hash files.
** Offers     scr_window, scr_window_seg, scr_window_open, scr_window_close, scr_window_free, scr_window_length,
**            scr_window_read, scr_window_view, scr_window_write, scr_window_crc, scr_window_fd, scr_window_find,
**            scr_hole_end, scr_file_crc, scr_file_has_crc, SCR_COPY_THREADS, scr_copy_item, scr_copy_list,
**            scr_copy_list_make, scr_copy_list_add, scr_copy_list_run, scr_copy_list_free.
** Invariants
**   W1  The stream is file 0, file 1, ... in the given order, then zeros for ever.  Any range of it can be read or
**       written; what is written behind the end must be zeros.
**   W2  Several lanes of the stream may be walked at once (the chunks of a redundancy set).  When each lane is walked
**       from its start to its end once, the CRC32 of each file is known at the end without a second pass.
**   W3  A file that is shorter than its stated size is an error, never zeros.
**   W4  A file that is made anew (O_TRUNC) has its size from the start, and each byte is written once: what is zero
**       stays a hole.  A file with holes is not read through a mapping, which would fill them.
**   W5  Only scr_copy_list_work runs in threads other than the caller's.  It touches nothing but its list and the table
**       of system calls.  Each thread has errors and a scr_oom of its own, and hands them over when all have ended.
** Failure    The error code; files stay as far as they were written.
** ====================================================================================================== */

#define SCR_WINDOW_FDS       16        /* files that a window keeps open */
#define SCR_WINDOW_MAP_LEAST (1 << 20) /* bytes of a file that is worth a mapping */

/* A piece of the stream that lies in one file and one lane. */
typedef struct {
  uint64_t begin, end; /* offsets in the stream */
  uint64_t done;       /* first byte that the CRC does not cover yet; UINT64_MAX when the order was broken */
  uLong    crc;
  int      file;
} scr_window_seg;

typedef struct {
  int             count; /* files */
  char**          path;
  uint64_t*       size;
  uint64_t*       start; /* offset of each file in the stream; start[count] is the length of the stream */
  int             flags; /* of open */
  mode_t          mode;
  int             fd[SCR_WINDOW_FDS];
  int             fd_file[SCR_WINDOW_FDS];
  char*           seen; /* which files were open before: O_TRUNC is for the first time only */
  char**          map;  /* files that are mapped into memory */
  scr_window_seg* seg;
  int             segs;
} scr_window;

SCR_FN int scr_window_close_fd(scr_window* w, int slot)
{
  int rc = SCR_SUCCESS;

  if (w->fd[slot] >= 0 && scr_os.close(w->fd[slot]) < 0 && w->flags != O_RDONLY)
    rc = SCR_ERRNO("cannot close %s", w->path[w->fd_file[slot]]);
  w->fd[slot] = w->fd_file[slot] = -1;
  return rc;
}

/* Close the files.  Paths, sums and mappings stay until scr_window_free. */
SCR_FN int scr_window_close(scr_window* w)
{
  int i, rc = SCR_SUCCESS;

  for (i = 0; w->path != NULL && i < SCR_WINDOW_FDS; i++) {
    int err = scr_window_close_fd(w, i);
    if (rc == SCR_SUCCESS) rc = err;
  }
  return rc;
}

SCR_FN void scr_window_free(scr_window* w)
{
  int i;

  scr_window_close(w);
  for (i = 0; i < w->count; i++) {
    if (w->map != NULL && w->map[i] != NULL) munmap(w->map[i], (size_t)w->size[i]);
    if (w->path != NULL) scr_free(&w->path[i]);
  }
  scr_free(&w->map);
  scr_free(&w->path);
  scr_free(&w->size);
  scr_free(&w->start);
  scr_free(&w->seen);
  scr_free(&w->seg);
  w->count = w->segs = 0;
}

/* Cut the stream at the start of each file and at each multiple of LANE. */
SCR_FN void scr_window_cut(scr_window* w, uint64_t lane)
{
  int i;

  w->segs = 0;
  for (i = 0; i < w->count; i++) {
    uint64_t at = w->start[i];
    while (at < w->start[i + 1]) {
      uint64_t        end = lane ? (at / lane + 1) * lane : w->start[i + 1];
      scr_window_seg* s = &w->seg[w->segs++];
      if (end > w->start[i + 1]) end = w->start[i + 1];
      s->begin = s->done = at;
      s->end = end;
      s->crc = SCR_CRC32_START;
      s->file = i;
      at = end;
    }
  }
}

/*
** Make W a window over COUNT files of the given sizes in bytes.  A file is opened when it is first touched, with FLAGS
** (O_RDONLY, or O_RDWR | O_CREAT | ... to write) and MODE.  LANE is the length of a lane in bytes, 0 for a single one;
** LANES is how many there are.  Also after an error, scr_window_free frees what W has.
*/
SCR_FN int scr_window_open(scr_window* w, int count, char** path, const uint64_t* size, int flags, mode_t mode,
                           uint64_t lane, int lanes)
{
  int i;

  memset(w, 0, sizeof *w);
  for (i = 0; i < SCR_WINDOW_FDS; i++) w->fd[i] = w->fd_file[i] = -1;
  w->flags = flags;
  w->mode = mode;
  w->count = count;
  w->path = (char**)scr_malloc((size_t)count * sizeof *w->path);
  w->size = (uint64_t*)scr_malloc((size_t)count * sizeof *w->size);
  w->start = (uint64_t*)scr_malloc(((size_t)count + 1) * sizeof *w->start);
  w->seen = (char*)scr_malloc((size_t)count);
  w->map = (char**)scr_malloc((size_t)count * sizeof *w->map);
  w->seg = (scr_window_seg*)scr_malloc(((size_t)count + (size_t)lanes + 1) * sizeof *w->seg);
  if (w->path == NULL || w->size == NULL || w->start == NULL || w->seen == NULL || w->map == NULL || w->seg == NULL) {
    scr_window_free(w);
    return SCR_ERR_OOM();
  }
  for (i = 0; i < count; i++) {
    w->path[i] = scr_strdup(path[i]);
    w->size[i] = size[i];
    w->start[i + 1] = w->start[i] + size[i];
  }
  scr_window_cut(w, lane);
  return scr_oom ? SCR_ERR_OOM() : SCR_SUCCESS;
}

SCR_FN uint64_t scr_window_length(const scr_window* w)
{
  return w->start[w->count];
}

/* The descriptor of file I, which is opened now if it is not open. */
SCR_FN int scr_window_fd(scr_window* w, int i, int* fd)
{
  int rc, slot = i % SCR_WINDOW_FDS;

  if (w->fd_file[slot] != i) {
    if ((rc = scr_window_close_fd(w, slot)) != SCR_SUCCESS) return rc;
    w->fd[slot] = scr_os.open(w->path[i], w->seen[i] ? w->flags & ~O_TRUNC : w->flags, w->mode);
    if (w->fd[slot] < 0) return SCR_ERRNO("cannot open %s", w->path[i]);
    w->fd_file[slot] = i;
    if (!w->seen[i] && w->flags & O_TRUNC && scr_os.ftruncate(w->fd[slot], (off_t)w->size[i]) < 0)
      return SCR_ERRNO("cannot give %s its size of %" PRIu64 " bytes", w->path[i], w->size[i]);
    w->seen[i] = 1;
  }
  *fd = w->fd[slot];
  return SCR_SUCCESS;
}

/* The segment that holds OFFSET, which lies within the stream: binary search. */
SCR_FN scr_window_seg* scr_window_find(scr_window* w, uint64_t offset)
{
  int lo = 0, hi = w->segs - 1;

  while (lo < hi) {
    int mid = lo + (hi - lo) / 2;
    if (w->seg[mid].end <= offset) lo = mid + 1;
    else hi = mid;
  }
  return &w->seg[lo];
}

#if defined(__linux__) && UINTPTR_MAX > 0xffffffffu

#define SCR_TMPFS_MAGIC 0x01021994

/*
** File I of a window that reads, mapped; NULL when it is small, or when its file system does not keep it in memory.  A
** file on a disk is never mapped: an error of the disk would be a signal that kills the application, not an error code.
*/
SCR_FN const char* scr_window_mapped(scr_window* w, int i)
{
  struct statfs fs;
  struct stat   st;
  void*         p;
  int           fd;

  if (w->map[i] != NULL || w->flags != O_RDONLY || w->size[i] < SCR_WINDOW_MAP_LEAST) return w->map[i];
  if (scr_window_fd(w, i, &fd) != SCR_SUCCESS || fstatfs(fd, &fs) < 0 || (uint32_t)fs.f_type != SCR_TMPFS_MAGIC ||
      fstat(fd, &st) < 0 || (uint64_t)st.st_size < w->size[i] || (uint64_t)st.st_blocks * 512 < w->size[i])
    return NULL;
  p = mmap(NULL, (size_t)w->size[i], PROT_READ, MAP_SHARED, fd, 0);
  if (p != MAP_FAILED) w->map[i] = (char*)p;
  return w->map[i];
}

#else

SCR_FN const char* scr_window_mapped(scr_window* w, int i)
{
  (void)w;
  (void)i;
  return NULL;
}

#endif

SCR_FN void scr_window_sum(scr_window_seg* s, uint64_t offset, const void* p, size_t n)
{
  if (s->done != offset) s->done = UINT64_MAX; /* out of order: W2 does not hold for this segment */
  else {
    s->crc = scr_crc32(s->crc, p, n);
    s->done += n;
  }
}

/* Move N bytes between BUF and the stream at OFFSET; SUM takes them into the CRCs. */
SCR_FN int scr_window_move(scr_window* w, uint64_t offset, char* buf, size_t n, int write, int sum)
{
  while (n > 0 && offset < scr_window_length(w)) {
    scr_window_seg* s = scr_window_find(w, offset);
    size_t          k = n < s->end - offset ? n : (size_t)(s->end - offset);
    off_t           at = (off_t)(offset - w->start[s->file]);
    int             fd, rc = scr_window_fd(w, s->file, &fd);

    if (rc != SCR_SUCCESS) return rc;
    if (write) {
      if (!(w->flags & O_TRUNC && scr_is_zero(buf, k)) && scr_pwrite_all(fd, buf, k, at) < 0)
        return SCR_ERRNO("cannot write %s", w->path[s->file]);
    } else {
      ssize_t got = scr_pread_all(fd, buf, k, at);
      if (got < 0) return SCR_ERRNO("cannot read %s", w->path[s->file]);
      if ((size_t)got < k)
        return SCR_ERR(SCR_ERR_MISSING, "%s is shorter than its %" PRIu64 " bytes; was it still being written?",
                       w->path[s->file], w->size[s->file]);
    }
    if (sum) scr_window_sum(s, offset, buf, k);
    buf += k;
    offset += k;
    n -= k;
  }
  if (!write) memset(buf, 0, n);
  else if (!scr_is_zero(buf, n))
    return SCR_ERR(SCR_ERR_CRC,
                   "what was rebuilt of %s and the files with it does not end in zeros; a redundancy file of "
                   "their set is corrupt",
                   w->count > 0 ? w->path[w->count - 1] : "a rank without files");
  return SCR_SUCCESS;
}

/* Read N bytes of the stream at OFFSET into BUF; SUM takes them into the CRCs. */
SCR_FN int scr_window_read(scr_window* w, uint64_t offset, void* buf, size_t n, int sum)
{
  return scr_window_move(w, offset, (char*)buf, n, 0, sum);
}

/*
** N bytes of the stream at OFFSET: *P is where they are mapped, or else BUF, into which they are then read.  They may
** be used until scr_window_free.  SUM takes them into the CRCs.
*/
SCR_FN int scr_window_view(scr_window* w, uint64_t offset, char* buf, size_t n, int sum, const char** p)
{
  scr_window_seg* s = offset < scr_window_length(w) ? scr_window_find(w, offset) : NULL;

  *p = s != NULL && s->end - offset >= n ? scr_window_mapped(w, s->file) : NULL;
  if (*p == NULL) {
    *p = buf;
    return scr_window_read(w, offset, buf, n, sum);
  }
  *p += offset - w->start[s->file];
  if (sum) scr_window_sum(s, offset, *p, n);
  return SCR_SUCCESS;
}

/* Write the N bytes of BUF into the stream at OFFSET and take them into the CRCs. */
SCR_FN int scr_window_write(scr_window* w, uint64_t offset, void* buf, size_t n)
{
  return scr_window_move(w, offset, (char*)buf, n, 1, 1);
}

/* ---- files with holes ---- */

#define SCR_HOLES_LEAST (1 << 20) /* bytes of a file from which on it pays to ask for holes */

/* The first offset from AT on that is not in a hole of the file of FD; END when there is none before END. */
SCR_FN uint64_t scr_hole_end(int fd, uint64_t at, uint64_t end)
{
#ifdef SEEK_DATA
  struct stat st;
  off_t       data;

  if (fstat(fd, &st) < 0 || st.st_size < SCR_HOLES_LEAST || (uint64_t)st.st_size < end) return at;
  if ((uint64_t)st.st_blocks * 512 >= (uint64_t)st.st_size) return at; /* no holes; a seek may wait for the disk */
  data = lseek(fd, (off_t)at, SEEK_DATA);
  if (data < 0) return errno == ENXIO ? end : at; /* the file system does not know */
  return (uint64_t)data < end ? (uint64_t)data : end;
#else
  (void)fd, (void)end;
  return at;
#endif
}

/* The CRC32 of bytes whose CRC32 is CRC, followed by N zeros. */
SCR_FN uLong scr_crc32_zeros(uLong crc, uint64_t n)
{
  unsigned char zero = 0;
  uLong         unit = scr_crc32(SCR_CRC32_START, &zero, 1); /* the CRC32 of K zeros */
  uint64_t      k;

  for (k = 1; n > 0; n >>= 1, k <<= 1) {
    if (n & 1) crc = scr_crc32_combine(crc, unit, k);
    if (n > 1) unit = scr_crc32_combine(unit, unit, k);
  }
  return crc;
}

/* The CRC32 of the file PATH, which must have SIZE bytes; its holes are not read. */
SCR_FN int scr_file_crc(const char* path, uint64_t size, uLong* crc)
{
  size_t      cap = 256 * 1024;
  char*       buf = (char*)scr_malloc(cap);
  uint64_t    at = 0, hole;
  ssize_t     n = 0;
  struct stat st;
  int         fd, rc = SCR_SUCCESS;

  if (buf == NULL) return SCR_ERR_OOM();
  *crc = SCR_CRC32_START;
  fd = scr_os.open(path, O_RDONLY, 0);
  if (fd < 0)
    rc = errno == ENOENT ? SCR_ERR(SCR_ERR_MISSING, "%s is missing", path) : SCR_ERRNO("cannot open %s", path);
  else if (fstat(fd, &st) < 0) rc = SCR_ERRNO("cannot look at %s", path);
  else if ((uint64_t)st.st_size != size)
    rc = SCR_ERR(SCR_ERR_MISSING, "%s has %jd bytes instead of %" PRIu64, path, (intmax_t)st.st_size, size);
  while (rc == SCR_SUCCESS && at < size) {
    hole = scr_hole_end(fd, at, size);
    *crc = scr_crc32_zeros(*crc, hole - at);
    at = hole;
    n = scr_pread_all(fd, buf, size - at < cap ? (size_t)(size - at) : cap, (off_t)at);
    if (n < 0) rc = SCR_ERRNO("cannot read %s", path);
    else if (n == 0 && at < size) rc = SCR_ERR(SCR_ERR_MISSING, "%s is being cut off", path);
    else *crc = scr_crc32(*crc, buf, (size_t)n);
    at += n > 0 ? (uint64_t)n : 0;
  }
  if (fd >= 0) scr_os.close(fd);
  free(buf);
  return rc;
}

/* SCR_ERR_CRC unless the checksum CRC of the file PATH is WANT; WHAT says in the message what that means. */
SCR_FN int scr_file_has_crc(const char* path, uLong crc, uLong want, const char* what)
{
  if (crc == want) return SCR_SUCCESS;
  return SCR_ERR(SCR_ERR_CRC, "%s has the checksum 0x%08lx instead of 0x%08lx: %s", path, crc, want, what);
}

/* The CRC32 of file I: from what passed through the window, or else (W2) by reading the file. */
SCR_FN int scr_window_crc(scr_window* w, int i, uLong* crc)
{
  int k;

  *crc = SCR_CRC32_START;
  for (k = 0; k < w->segs; k++) {
    scr_window_seg* s = &w->seg[k];
    if (s->file != i) continue;
    if (s->done != s->end) return scr_file_crc(w->path[i], w->size[i], crc);
    *crc = scr_crc32_combine(*crc, s->crc, s->end - s->begin);
  }
  return SCR_SUCCESS;
}

/*
** Copy the SIZE bytes of FROM to the file TO, in steps of BUF_SIZE bytes; *CRC is their CRC32.
**
** On SCR_SUCCESS the data survive a crash of the node, with holes where they are zero.  On an error TO is removed.  A
** file TO that exists is replaced, unless it is a link.  It is an error when FROM is shorter or longer than SIZE.
*/
SCR_FN int scr_file_copy(const char* from, const char* to, uint64_t size, mode_t mode, size_t buf_size, uLong* crc)
{
  char*    buf = (char*)scr_malloc(buf_size);
  uint64_t done = 0;
  ssize_t  n = 0;
  int      in = -1, out = -1, rc = SCR_SUCCESS;

  if (buf == NULL) return SCR_ERR_OOM();
  *crc = SCR_CRC32_START;
  in = scr_os.open(from, O_RDONLY, 0);
  if (in < 0) {
    rc = errno == ENOENT ? SCR_ERR(SCR_ERR_MISSING, "%s is missing", from) : SCR_ERRNO("cannot open %s", from);
    goto out;
  }
  out = scr_os.open(to, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, mode);
  if (out < 0) {
    rc = SCR_ERRNO("cannot create %s", to);
    goto out;
  }
  while ((n = scr_read_all(in, buf, buf_size)) > 0) {
    if (!scr_is_zero(buf, (size_t)n) && scr_pwrite_all(out, buf, (size_t)n, (off_t)done) < 0) {
      rc = SCR_ERRNO("cannot write %s", to);
      goto out;
    }
    *crc = scr_crc32(*crc, buf, (size_t)n);
    done += (uint64_t)n;
  }
  if (n < 0) rc = SCR_ERRNO("cannot read %s", from);
  else if (done != size)
    rc = SCR_ERR(SCR_ERR_MISSING, "%s has %" PRIu64 " bytes instead of %" PRIu64, from, done, size);
  else if (scr_os.ftruncate(out, (off_t)size) < 0) rc = SCR_ERRNO("cannot give %s its size", to);
  else if (scr_fsync_enabled && scr_os.fsync(out) < 0) rc = SCR_ERRNO("cannot sync %s", to);
out:
  if (in >= 0) scr_os.close(in);
  if (out >= 0) {
    if (scr_os.close(out) < 0 && rc == SCR_SUCCESS) rc = SCR_ERRNO("cannot close %s", to);
    if (rc != SCR_SUCCESS) scr_os.unlink(to);
  }
  free(buf);
  return rc;
}

/* ---- copies of several files ---- */

#define SCR_COPY_THREADS 4 /* threads that copy for one rank from a store of TYPE=PTHREAD, the rank's own among them */

typedef struct {
  char*    from;
  char*    to;
  uint64_t size;
  mode_t   mode;
  uLong    crc; /* filled in */
} scr_copy_item;

/* Files to copy, and the state of the copy.  The lock protects next, rc and why. */
typedef struct {
  int             n, next;
  scr_copy_item*  item;
  size_t          buf_size;
  int             rc; /* of the first copy that failed */
  scr_err_record  why;
  pthread_mutex_t lock;
} scr_copy_list;

/* Room for N files; none is listed yet. */
SCR_FN int scr_copy_list_make(scr_copy_list* l, int n, size_t buf_size)
{
  memset(l, 0, sizeof *l);
  l->buf_size = buf_size;
  l->item = (scr_copy_item*)scr_malloc((size_t)(n + 1) * sizeof *l->item);
  return l->item == NULL ? SCR_ERR_OOM() : SCR_SUCCESS;
}

SCR_FN void scr_copy_list_free(scr_copy_list* l)
{
  int i;

  for (i = 0; i < l->n; i++) {
    scr_free(&l->item[i].from);
    scr_free(&l->item[i].to);
  }
  scr_free(&l->item);
}

/* List one file. */
SCR_FN int scr_copy_list_add(scr_copy_list* l, const char* from, const char* to, uint64_t size, mode_t mode)
{
  scr_copy_item* it = &l->item[l->n++];

  it->from = scr_strdup(from);
  it->to = scr_strdup(to);
  it->size = size;
  it->mode = mode;
  it->crc = SCR_CRC32_START;
  return it->from == NULL || it->to == NULL ? SCR_ERR_OOM() : SCR_SUCCESS;
}

/* Copy files of the list ARG, one after the other, until none is left or a copy has failed. */
SCR_FN void* scr_copy_list_work(void* arg)
{
  scr_copy_list* l = (scr_copy_list*)arg;

  for (;;) {
    scr_copy_item* it;
    int            rc;
    pthread_mutex_lock(&l->lock);
    it = l->rc == SCR_SUCCESS && l->next < l->n ? &l->item[l->next++] : NULL;
    pthread_mutex_unlock(&l->lock);
    if (it == NULL) return NULL;
    rc = scr_file_copy(it->from, it->to, it->size, it->mode, l->buf_size, &it->crc);
    if (rc == SCR_SUCCESS) continue;
    pthread_mutex_lock(&l->lock);
    if (l->rc == SCR_SUCCESS) {
      l->rc = rc;
      scr_err_save(&l->why);
    }
    pthread_mutex_unlock(&l->lock);
  }
}

/*
** Copy all files of the list with up to THREADS threads, this one among them; with fewer when they cannot be started.
** The threads get no signals of the application.  On an error some files may have been copied.
*/
SCR_FN int scr_copy_list_run(scr_copy_list* l, int threads)
{
  pthread_t thread[SCR_COPY_THREADS];
  sigset_t  all, before;
  int       i = 0;

  if (pthread_mutex_init(&l->lock, NULL) != 0) return SCR_ERR_OOM();
#ifndef SCR_ONE_THREAD
  sigfillset(&all);
  if (threads > l->n) threads = l->n;
  if (threads > 1 && pthread_sigmask(SIG_BLOCK, &all, &before) == 0) {
    scr_crc32(SCR_CRC32_START, "x", 1); /* chooses the kernel, once for all threads */
    while (i < threads - 1 && i < SCR_COPY_THREADS && pthread_create(&thread[i], NULL, scr_copy_list_work, l) == 0) i++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
  }
#endif
  scr_copy_list_work(l);
  while (i > 0) pthread_join(thread[--i], NULL);
  pthread_mutex_destroy(&l->lock);
  if (l->rc != SCR_SUCCESS) scr_err_restore(&l->why);
  if (l->rc == SCR_ERR_MEM) scr_oom = 1; /* in whichever thread */
  return l->rc;
}

/* ==== 11 INDEX, SUMMARY, RANK2FILE RECORDS ==============================================================
** What the prefix directory knows about the datasets on it.
**
**   <prefix>/.scr/index.scr      VERSION 1, CURRENT/<dir>, CURRENT_BY/USER, DIR/<dir>/DSET/<id>,
**                                DSET/<id>/DIR/<dir>/{DSET{descriptor}, COMPLETE, FLUSHED, FETCHED/<time>..,
**                                                     FAILED/<time>..}
**   summary.scr                  VERSION 6, COMPLETE, DSET{descriptor}
**   rank2file.scr and its leaves LEVEL, RANKS, RANK/<rank>/FILE/..
**
** <dir> is the directory of the dataset below the prefix.  Indexes of two older forms are read and become this one:
** version 1 with the name of the dataset in place of its directory, and version 2, which has one copy for each id.
**
** Uses       errors, memory, path, hash, hash files, dataset.
** Offers     scr_record_*, scr_index_*, scr_summary_*, scr_rank2file_read.
** Invariants
**   I1  In an index that was read or made here every id is an integer from 1 on, every <dir> a safe relative path, and
**       DIR and DSET name the same pairs.
**   I2  A file of an unknown version is refused, never rewritten.
**   I3  CURRENT leaves a dataset that is removed or marked as failed, for the newest good checkpoint.
** Failure    Files stay as they were, or are fully replaced.
** ====================================================================================================== */

#define SCR_INDEX_VERSION   1
#define SCR_SUMMARY_VERSION 6

/* ---- files in <prefix>/.scr ---- */

/* The path of the file NAME in PREFIX/.scr. */
SCR_FN int scr_record_path(const char* prefix, const char* name, char* path, size_t n)
{
  return scr_fmt(path, n, "%s/.scr/%s", prefix, name);
}

/* Make H the contents of PATH; empty, and SCR_SUCCESS, when there is no such file.  On an error H is empty. */
SCR_FN int scr_record_read(const char* path, scr_hash* h)
{
  int rc;

  scr_hash_unset_all(h);
  rc = scr_hash_file_read(path, h);
  if (rc == SCR_SUCCESS) return rc;
  scr_hash_unset_all(h);
  return rc == SCR_ERR_NOT_FOUND ? SCR_SUCCESS : rc;
}

/* Make PREFIX/.scr when it is missing; PREFIX itself is not made: a mistyped one should be noticed. */
SCR_FN int scr_record_mkdir(const char* prefix)
{
  char path[SCR_MAX_FILENAME];
  int  rc = scr_fmt(path, sizeof path, "%s/.scr", prefix);

  if (rc == SCR_SUCCESS && scr_os.mkdir(path, 0777) < 0 && errno != EEXIST)
    rc = SCR_ERRNO("cannot create the directory %s; is the prefix there and writable?", path);
  return rc;
}

/*
** Lock the file NAME of PREFIX/.scr, a directory that is made when it is missing, and read it into H.
**
** Local; waits for the lock, which *FD then holds until scr_record_close.  On an error nothing is locked, *FD is -1.
*/
SCR_FN int scr_record_open(const char* prefix, const char* name, int* fd, scr_hash* h)
{
  char path[SCR_MAX_FILENAME];
  int  rc;

  *fd = -1;
  if ((rc = scr_record_mkdir(prefix)) != SCR_SUCCESS) return rc;
  if ((rc = scr_record_path(prefix, name, path, sizeof path)) != SCR_SUCCESS) return rc;
  if ((rc = scr_hash_file_lock(path, fd)) != SCR_SUCCESS) return rc;
  if ((rc = scr_record_read(path, h)) != SCR_SUCCESS) scr_hash_file_unlock(fd);
  return rc;
}

/* Replace the file by H, unless H is NULL, and unlock it, on an error too. */
SCR_FN int scr_record_close(const char* prefix, const char* name, int* fd, const scr_hash* h)
{
  char path[SCR_MAX_FILENAME];
  int  rc = SCR_SUCCESS;

  if (h != NULL) {
    rc = scr_record_path(prefix, name, path, sizeof path);
    if (rc == SCR_SUCCESS) rc = scr_hash_file_write(path, h);
  }
  scr_hash_file_unlock(fd);
  return rc;
}

/* The version that H, read from PATH, must have: A or B. */
SCR_FN int scr_record_check_version(const scr_hash* h, const char* path, const char* what, int a, int b, int* version)
{
  const char* text = scr_hash_elem_get_first_val(h, "VERSION");

  if (text == NULL) return SCR_ERR(SCR_ERR_FORMAT, "%s is not %s: it has no VERSION", path, what);
  if (scr_hash_util_get_int(h, "VERSION", version) == SCR_SUCCESS && (*version == a || *version == b))
    return SCR_SUCCESS;
  return SCR_ERR(SCR_ERR_FORMAT, "%s is %s of version %.40s, which this release cannot read (it reads %d to %d)", path,
                 what, text, a, b);
}

/* The current time in entry H under KEY, beside earlier ones. */
SCR_FN void scr_record_stamp(scr_hash* h, const char* key)
{
  char text[32];

  scr_time_string(time(NULL), text, sizeof text);
  scr_hash_set_kv(h, key, text);
}

/* ---- index: entries ---- */

/* The id that KEY stands for, or 0. */
SCR_FN int scr_index_id(const char* key)
{
  int64_t id;

  if (key == NULL || *key < '1' || *key > '9' || scr_str_int64(key, &id) != SCR_SUCCESS) return 0;
  return id > 0 && id < INT_MAX ? (int)id : 0; /* one more than the largest is still an int */
}

/* A position in an index; zeros stand before the first entry. */
typedef struct {
  scr_hash_elem* id_elem;
  scr_hash_elem* dir_elem;
  int            id;
  const char*    dir;
  scr_hash*      entry;
} scr_index_pos;

/* Go on to the next entry; 0 when there is none.  INDEX may not change on the way. */
SCR_FN int scr_index_walk(const scr_hash* index, scr_index_pos* p)
{
  if (p->dir_elem != NULL) p->dir_elem = scr_hash_elem_next(p->dir_elem);
  while (p->dir_elem == NULL) {
    if (p->id_elem == NULL) p->id_elem = scr_hash_elem_first(scr_hash_get(index, "DSET"));
    else p->id_elem = scr_hash_elem_next(p->id_elem);
    if (p->id_elem == NULL) return 0;
    p->id = scr_index_id(scr_hash_elem_key(p->id_elem));
    if (p->id != 0) p->dir_elem = scr_hash_elem_first(scr_hash_get(scr_hash_elem_hash(p->id_elem), "DIR"));
  }
  p->dir = scr_hash_elem_key(p->dir_elem);
  p->entry = scr_hash_elem_hash(p->dir_elem);
  return 1;
}

/* 1 when the renames of a dataset of INDEX are not done. */
SCR_FN int scr_index_has_redo(const scr_hash* index)
{
  scr_index_pos p;

  memset(&p, 0, sizeof p);
  while (scr_index_walk(index, &p))
    if (scr_hash_get(p.entry, "REDO") != NULL) return 1;
  return 0;
}

/* The entry of dataset ID in DIR, or NULL. */
SCR_FN scr_hash* scr_index_entry(const scr_hash* index, int id, const char* dir)
{
  return scr_hash_get_kv(scr_hash_get_kv_int(index, "DSET", id), "DIR", dir);
}

/* 1 when the dataset was copied completely and no attempt to load it has failed. */
SCR_FN int scr_index_is_good(const scr_hash* entry)
{
  int complete = 0;

  scr_hash_util_get_int(entry, "COMPLETE", &complete);
  return complete == 1 && scr_hash_get(entry, "FAILED") == NULL && scr_hash_get(entry, "REDO") == NULL;
}

/* 1 when the dataset is one to restart from; where no flag says so, when it has a checkpoint id. */
SCR_FN int scr_index_is_ckpt(const scr_hash* entry)
{
  const scr_dataset* desc = scr_hash_get(entry, "DSET");
  int                flag, id;

  if (scr_dataset_get_flag_ckpt(desc, &flag) == SCR_SUCCESS) return flag != 0;
  return scr_dataset_get_ckpt(desc, &id) == SCR_SUCCESS && id > 0;
}

/* Put ENTRY, which then belongs to INDEX, in the place of dataset ID in DIR. */
SCR_FN int scr_index_put(scr_hash* index, int id, const char* dir, scr_hash* entry)
{
  scr_hash* dset = scr_hash_set_kv_int(index, "DSET", id);
  scr_hash* dirs = scr_hash_get(dset, "DIR");

  if (dirs == NULL && dset != NULL) dirs = scr_hash_set(dset, "DIR", scr_hash_new());
  if (dirs == NULL || entry == NULL || scr_oom) {
    scr_hash_delete(&entry);
    return SCR_ERR_OOM();
  }
  scr_hash_set(dirs, dir, entry);
  scr_hash_set_kv_int(scr_hash_set_kv(index, "DIR", dir), "DSET", id);
  return scr_oom ? SCR_ERR_OOM() : SCR_SUCCESS;
}

/* ---- index: reading and writing ---- */

/*
** Enter a copy of ENTRY, which a file has for dataset ID under NAME.  A name that is no safe path, as older releases
** allowed, becomes scr.dataset.<id>; the descriptor still has it, and so it is found by it.
*/
SCR_FN int scr_index_take(scr_hash* index, int id, const char* name, const scr_hash* entry)
{
  char      dir[SCR_MAX_FILENAME];
  scr_hash* copy;

  if (name != NULL && strlen(name) < sizeof dir && scr_path_is_safe_rel(name)) snprintf(dir, sizeof dir, "%s", name);
  else snprintf(dir, sizeof dir, "scr.dataset.%d", id);
  if (scr_index_entry(index, id, dir) != NULL) return SCR_SUCCESS;
  copy = scr_hash_new();
  scr_hash_merge(copy, entry);
  return scr_index_put(index, id, dir, copy);
}

/* The name that an index of version 2 has for dataset ID, whose hash is DSET; NULL when it has none. */
SCR_FN const char* scr_index_name_of(const scr_hash* file, int id, const scr_hash* dset)
{
  const char*    name = NULL;
  scr_hash_elem* e;

  if (scr_dataset_get_name(scr_hash_get(dset, "DSET"), &name) == SCR_SUCCESS) return name;
  for (e = scr_hash_elem_first(scr_hash_get(file, "NAME")); e != NULL; e = scr_hash_elem_next(e))
    if (scr_hash_get_kv_int(scr_hash_elem_hash(e), "DSET", id) != NULL) return scr_hash_elem_key(e);
  return NULL;
}

/* Enter what FILE has for dataset ID, whose hash is DSET.  Directories win over names. */
SCR_FN int scr_index_take_all(scr_hash* index, const scr_hash* file, int version, int id, const scr_hash* dset)
{
  static const char* const forms[] = {"DIR", "NAME"};
  scr_hash_elem*           e;
  int                      i, rc = SCR_SUCCESS;

  if (version != SCR_INDEX_VERSION) return scr_index_take(index, id, scr_index_name_of(file, id, dset), dset);
  for (i = 0; i < 2; i++)
    for (e = scr_hash_elem_first(scr_hash_get(dset, forms[i])); e != NULL; e = scr_hash_elem_next(e))
      if (rc == SCR_SUCCESS) rc = scr_index_take(index, id, scr_hash_elem_key(e), scr_hash_elem_hash(e));
  return rc;
}

/* Make INDEX today's form of what FILE, read from PATH, says.  Keys that are unknown here are kept. */
SCR_FN int scr_index_normalise(const scr_hash* file, const char* path, scr_hash* index)
{
  static const char* const own[] = {"VERSION", "DSET", "DIR", "NAME"};
  scr_hash_elem*           e;
  size_t                   i;
  int                      version, rc;

  if ((rc = scr_record_check_version(file, path, "an index", 1, 2, &version)) != SCR_SUCCESS) return rc;
  scr_hash_util_set_int(index, "VERSION", SCR_INDEX_VERSION);
  for (e = scr_hash_elem_first(file); e != NULL; e = scr_hash_elem_next(e)) {
    for (i = 0; i < sizeof own / sizeof own[0]; i++)
      if (strcmp(scr_hash_elem_key(e), own[i]) == 0) break;
    if (i == sizeof own / sizeof own[0]) scr_hash_set_copy(index, scr_hash_elem_key(e), scr_hash_elem_hash(e));
  }
  for (e = scr_hash_elem_first(scr_hash_get(file, "DSET")); e != NULL && rc == SCR_SUCCESS; e = scr_hash_elem_next(e)) {
    int id = scr_index_id(scr_hash_elem_key(e));
    if (id != 0) rc = scr_index_take_all(index, file, version, id, scr_hash_elem_hash(e));
  }
  return rc == SCR_SUCCESS && scr_oom ? SCR_ERR_OOM() : rc;
}

/* INDEX becomes the normal form of FILE; empty when FILE is, or on an error. */
SCR_FN int scr_index_from(const char* prefix, const scr_hash* file, scr_hash* index)
{
  char path[SCR_MAX_FILENAME];
  int  rc;

  scr_hash_unset_all(index);
  if (scr_hash_size(file) == 0) return SCR_SUCCESS;
  if ((rc = scr_record_path(prefix, "index.scr", path, sizeof path)) != SCR_SUCCESS) return rc;
  if ((rc = scr_index_normalise(file, path, index)) != SCR_SUCCESS) scr_hash_unset_all(index);
  return rc;
}

/* Make INDEX the index of PREFIX in today's form; empty when there is none.  Does not take the lock. */
SCR_FN int scr_index_read(const char* prefix, scr_hash* index)
{
  char      path[SCR_MAX_FILENAME];
  scr_hash* file;
  int       rc = scr_record_path(prefix, "index.scr", path, sizeof path);

  if (rc != SCR_SUCCESS) return rc;
  if ((file = scr_hash_new()) == NULL) return SCR_ERR_OOM();
  scr_hash_unset_all(index);
  rc = scr_record_read(path, file);
  if (rc == SCR_SUCCESS) rc = scr_index_from(prefix, file, index);
  scr_hash_delete(&file);
  return rc;
}

/* As scr_index_read, and hold the lock until scr_index_close.  On an error nothing is locked. */
SCR_FN int scr_index_open(const char* prefix, int* fd, scr_hash* index)
{
  scr_hash* file = scr_hash_new();
  int       rc;

  *fd = -1;
  if (file == NULL) return SCR_ERR_OOM();
  if ((rc = scr_record_open(prefix, "index.scr", fd, file)) == SCR_SUCCESS) {
    rc = scr_index_from(prefix, file, index);
    if (rc != SCR_SUCCESS) scr_hash_file_unlock(fd);
  }
  scr_hash_delete(&file);
  return rc;
}

/* Write INDEX, unless it is NULL, and unlock, on an error too. */
SCR_FN int scr_index_close(const char* prefix, int* fd, scr_hash* index)
{
  if (index != NULL) scr_hash_util_set_int(index, "VERSION", SCR_INDEX_VERSION);
  return scr_record_close(prefix, "index.scr", fd, index);
}

/* ---- index: questions ---- */

/*
** The entry with the largest id below BELOW; of two copies the one that was created last.  NAME NULL: of the good
** checkpoints; else of the datasets with this name or directory.
*/
SCR_FN int scr_index_newest(const scr_hash* index, int below, const char* name, int* id, const char** dir)
{
  scr_index_pos p;
  const char*   s;
  int64_t       created, best_created = 0;
  int           best = 0;

  memset(&p, 0, sizeof p);
  while (scr_index_walk(index, &p)) {
    if (p.id >= below || p.id < best) continue;
    if (name == NULL) {
      if (!scr_index_is_good(p.entry) || !scr_index_is_ckpt(p.entry)) continue;
    } else if (strcmp(name, p.dir) != 0) {
      if (scr_dataset_get_name(scr_hash_get(p.entry, "DSET"), &s) != SCR_SUCCESS || strcmp(name, s) != 0) continue;
    }
    created = 0;
    scr_dataset_get_created(scr_hash_get(p.entry, "DSET"), &created);
    if (p.id == best && created <= best_created) continue;
    *id = best = p.id;
    *dir = p.dir;
    best_created = created;
  }
  return best != 0 ? SCR_SUCCESS : SCR_ERR_NOT_FOUND;
}

/* The newest dataset whose name or directory is NAME, complete or not.  SCR_ERR_NOT_FOUND, no message. */
SCR_FN int scr_index_find(const scr_hash* index, const char* name, int* id, const char** dir)
{
  if (name == NULL) return SCR_ERR_NOT_FOUND;
  return scr_index_newest(index, INT_MAX, name, id, dir);
}

/* The newest complete checkpoint with an id below BELOW that never failed.  SCR_ERR_NOT_FOUND, no message. */
SCR_FN int scr_index_next(const scr_hash* index, int below, int* id, const char** dir)
{
  return scr_index_newest(index, below, NULL, id, dir);
}

/* How many complete checkpoints the index holds, those that FAILED among them. */
SCR_FN int scr_index_count_complete(const scr_hash* index)
{
  scr_index_pos p;
  int           n = 0, complete;

  memset(&p, 0, sizeof p);
  while (scr_index_walk(index, &p)) {
    complete = 0;
    scr_hash_util_get_int(p.entry, "COMPLETE", &complete);
    n += complete == 1 && scr_index_is_ckpt(p.entry);
  }
  return n;
}

/* The largest id of all datasets, or 0. */
SCR_FN int scr_index_max_id(const scr_hash* index)
{
  scr_index_pos p;
  int           max = 0;

  memset(&p, 0, sizeof p);
  while (scr_index_walk(index, &p))
    if (p.id > max) max = p.id;
  return max;
}

/*
** The dataset that CURRENT names; BY_USER is 1 when the user chose it.  SCR_ERR_NOT_FOUND, without a message, when
** there is none or the index does not hold it.
**
** A directory goes before a name: with one name for all datasets only the directories tell them apart.
*/
SCR_FN int scr_index_current(const scr_hash* index, int* id, const char** dir, int* by_user)
{
  const char*    current = scr_hash_elem_get_first_val(index, "CURRENT");
  scr_hash_elem* e;
  int            best = 0;

  if (current == NULL) return SCR_ERR_NOT_FOUND;
  e = scr_hash_elem_first(scr_hash_get(scr_hash_get_kv(index, "DIR", current), "DSET"));
  for (; e != NULL; e = scr_hash_elem_next(e)) {
    int k = scr_index_id(scr_hash_elem_key(e));
    if (k > best && scr_index_entry(index, k, current) != NULL) best = k;
  }
  if (best == 0 && scr_index_find(index, current, &best, &current) != SCR_SUCCESS) return SCR_ERR_NOT_FOUND;
  *id = best;
  *dir = current;
  *by_user = scr_hash_get_kv(index, "CURRENT_BY", "USER") != NULL;
  return SCR_SUCCESS;
}

/* The id of the first checkpoint that was complete after the user's choice of CURRENT; 0 when there is none. */
SCR_FN int scr_index_passed_by(const scr_hash* index)
{
  int id = 0;
  scr_hash_util_get_int(scr_hash_get_kv(index, "CURRENT_BY", "USER"), "PASSED", &id);
  return id;
}

/* ---- index: changes ---- */

/* Make DIR the dataset to restart from; BY_USER: later flushes leave it alone. */
SCR_FN void scr_index_set_current(scr_hash* index, const char* dir, int by_user)
{
  char* copy = scr_strdup(dir); /* DIR may be the old value */

  if (copy != NULL) scr_hash_util_set_str(index, "CURRENT", copy);
  scr_hash_unset(index, "CURRENT_BY");
  if (by_user) scr_hash_set_kv(index, "CURRENT_BY", "USER");
  scr_free(&copy);
}

/* 1 when CURRENT is dataset ID in DIR. */
SCR_FN int scr_index_is_current(const scr_hash* index, int id, const char* dir)
{
  const char* current_dir;
  int         current, by_user;

  return scr_index_current(index, &current, &current_dir, &by_user) == SCR_SUCCESS && current == id &&
         strcmp(current_dir, dir) == 0;
}

/* CURRENT goes to the newest good checkpoint, or away (I3). */
SCR_FN void scr_index_move_current(scr_hash* index)
{
  const char* dir;
  int         id;

  if (scr_index_next(index, INT_MAX, &id, &dir) == SCR_SUCCESS) {
    scr_index_set_current(index, dir, 0);
  } else {
    scr_hash_unset(index, "CURRENT");
    scr_hash_unset(index, "CURRENT_BY");
  }
}

/*
** Enter dataset ID, which is or will be in DIR below the prefix, with a copy of DESC, in place of an earlier entry of
** the same id and directory.  COMPLETE also stamps the time of the flush.  CURRENT stays.
*/
SCR_FN int scr_index_set(scr_hash* index, int id, const char* dir, const scr_dataset* desc, int complete)
{
  scr_hash* entry;
  int       rc;

  if (id < 1 || id == INT_MAX) return SCR_ERR(SCR_ERR_ARG, "%d is no dataset id", id);
  if (dir == NULL || !scr_path_is_safe_rel(dir))
    return SCR_ERR(SCR_ERR_PATH, "the dataset directory %s is not a path below the prefix", dir ? dir : "(null)");
  if ((entry = scr_hash_new()) == NULL) return SCR_ERR_OOM();
  if ((rc = scr_hash_set_copy(entry, "DSET", desc)) != SCR_SUCCESS) {
    scr_hash_delete(&entry);
    return rc;
  }
  scr_hash_util_set_int(entry, "COMPLETE", complete != 0);
  if (complete) scr_record_stamp(entry, "FLUSHED");
  return scr_index_put(index, id, dir, entry);
}

/* Remove KEY from the hash CHILD of PARENT, and CHILD from PARENT when that leaves it empty. */
SCR_FN void scr_index_prune(scr_hash* parent, const char* child, const char* key)
{
  scr_hash* h = scr_hash_get(parent, child);

  scr_hash_unset(h, key);
  if (scr_hash_size(h) == 0) scr_hash_unset(parent, child);
}

/* Take dataset ID in DIR out of the index; I3. */
SCR_FN void scr_index_remove(scr_hash* index, int id, const char* dir)
{
  char  key[16];
  int   current;
  char* copy = scr_strdup(dir); /* DIR may be a key of the index */

  if (copy == NULL) return;
  snprintf(key, sizeof key, "%d", id);
  current = scr_index_is_current(index, id, copy);
  scr_index_prune(scr_hash_get_kv(index, "DSET", key), "DIR", copy);
  if (scr_hash_size(scr_hash_get_kv(index, "DSET", key)) == 0) scr_index_prune(index, "DSET", key);
  scr_index_prune(scr_hash_get_kv(index, "DIR", copy), "DSET", key);
  if (scr_hash_size(scr_hash_get_kv(index, "DIR", copy)) == 0) scr_index_prune(index, "DIR", copy);
  if (current) scr_index_move_current(index);
  scr_free(&copy);
}

/* Stamp dataset ID in DIR, if the index holds it, with WHAT, FETCHED or FAILED; I3. */
SCR_FN void scr_index_mark(scr_hash* index, int id, const char* dir, const char* what)
{
  scr_hash* entry = scr_index_entry(index, id, dir);
  int       current = scr_index_is_current(index, id, dir);

  if (entry == NULL) return;
  scr_record_stamp(entry, what);
  if (current && strcmp(what, "FAILED") == 0) scr_index_move_current(index);
}

/* ---- summary ---- */

/* Write the summary of the dataset DESC to PATH.  Atomic. */
SCR_FN int scr_summary_write(const char* path, const scr_dataset* desc, int complete)
{
  scr_hash* h = scr_hash_new();
  int       rc;

  if (h == NULL) return SCR_ERR_OOM();
  scr_hash_util_set_int(h, "VERSION", SCR_SUMMARY_VERSION);
  scr_hash_util_set_int(h, "COMPLETE", complete != 0);
  rc = scr_hash_set_copy(h, "DSET", desc);
  if (rc == SCR_SUCCESS) rc = scr_hash_file_write(path, h);
  scr_hash_delete(&h);
  return rc;
}

/*
** Make DESC the descriptor in the summary PATH; COMPLETE is 1 only when it says so.  SCR_ERR_NOT_FOUND when there is no
** file; on an error DESC and COMPLETE stay as they were.
*/
SCR_FN int scr_summary_read(const char* path, scr_dataset* desc, int* complete)
{
  scr_hash* h = scr_hash_new();
  int       version, flag = 0, rc;

  if (h == NULL) return SCR_ERR_OOM();
  if ((rc = scr_hash_file_read(path, h)) != SCR_SUCCESS) goto out;
  rc = scr_record_check_version(h, path, "a summary", SCR_SUMMARY_VERSION, SCR_SUMMARY_VERSION, &version);
  if (rc != SCR_SUCCESS) goto out;
  if (scr_hash_size(scr_hash_get(h, "DSET")) == 0) {
    rc = SCR_ERR(SCR_ERR_FORMAT, "the summary %s does not describe a dataset", path);
    goto out;
  }
  if ((rc = scr_hash_copy_out(desc, scr_hash_get(h, "DSET"))) != SCR_SUCCESS) goto out;
  scr_hash_util_get_int(h, "COMPLETE", &flag);
  *complete = flag == 1;
out:
  scr_hash_delete(&h);
  return rc;
}

/* ---- file map ---- */

/*
** Make H one node of a file map, read from PATH, without the key RANK2FILE that some writers put around it.  LEVEL and
** RANKS are numbers on SCR_SUCCESS; what stands below RANK is as the file says.  SCR_ERR_MISSING when there is no file;
** on an error H is empty.
*/
SCR_FN int scr_rank2file_read(const char* path, scr_hash* h)
{
  scr_hash* inner;
  int       level = -1, ranks = -1, rc;

  scr_hash_unset_all(h);
  rc = scr_hash_file_read(path, h);
  if (rc == SCR_ERR_NOT_FOUND) rc = SCR_ERR(SCR_ERR_MISSING, "the file map %s is missing", path);
  if (rc == SCR_SUCCESS && (inner = scr_hash_extract(h, "RANK2FILE")) != NULL) {
    rc = scr_hash_copy_out(h, inner);
    scr_hash_delete(&inner);
  }
  if (rc == SCR_SUCCESS) {
    scr_hash_util_get_int(h, "LEVEL", &level);
    scr_hash_util_get_int(h, "RANKS", &ranks);
    if (level < 0 || ranks < 0) rc = SCR_ERR(SCR_ERR_FORMAT, "%s is no file map: LEVEL or RANKS is missing", path);
  }
  if (rc != SCR_SUCCESS) scr_hash_unset_all(h);
  return rc;
}
/* ==== 12 FILES OF THE RUN: FLUSH, HALT, NODES, LOG ======================================================
** What the library and the commands of an allocation tell each other, in <prefix>/.scr.
**
**   flush.scr    DSET/<id>/{NAME, DIR, CKPT 1, OUTPUT 1, LOCATION/{CACHE, PFS, FLUSHING, SYNC_FLUSHING}}: where the
**                cached datasets are, and which of them still have to be copied to the prefix
**   halt.scr     CheckpointsLeft, ExitAfter, ExitBefore, HaltSeconds, ExitReason: when the run should stop
**   nodes.scr    NODES: how many nodes the last run had
**   log          one line of text for each event and each transfer, for people and for statistics
**
** Uses       errors, memory, hash, hash files, dataset, records.
** Offers     scr_flush_file_*, scr_halt_*, scr_nodes_file_*, scr_log_*, scr_record_sweep.
** Invariants
**   R1  Who changes a file reads, changes and replaces it under one lock: open, then close.
**   R2  A value that is not what it should be counts as not set; times and counts of any size do not overflow.
**   R3  The log only grows, by whole lines; whatever a line is made of, it stays one line.
** Failure    Files stay as they were, or are fully replaced.
** ====================================================================================================== */

/* ---- flush file ---- */

/* Releases before this one wrote DATASET for DSET. */
SCR_FN void scr_flush_file_normalise(scr_hash* h)
{
  scr_hash* old = scr_hash_extract(h, "DATASET");
  scr_hash* sets = scr_hash_get(h, "DSET");

  if (old == NULL) return;
  if (sets == NULL) sets = scr_hash_set(h, "DSET", scr_hash_new());
  scr_hash_merge(sets, old);
  scr_hash_delete(&old);
}

/* Make H the flush file of PREFIX; empty when there is none.  Does not take the lock. */
SCR_FN int scr_flush_file_read(const char* prefix, scr_hash* h)
{
  char path[SCR_MAX_FILENAME];
  int  rc = scr_record_path(prefix, "flush.scr", path, sizeof path);

  if (rc == SCR_SUCCESS) rc = scr_record_read(path, h);
  if (rc == SCR_SUCCESS) scr_flush_file_normalise(h);
  return rc == SCR_SUCCESS && scr_oom ? SCR_ERR_OOM() : rc;
}

/* As scr_flush_file_read, and hold the lock until scr_flush_file_close.  On an error nothing is locked. */
SCR_FN int scr_flush_file_open(const char* prefix, int* fd, scr_hash* h)
{
  int rc = scr_record_open(prefix, "flush.scr", fd, h);

  if (rc == SCR_SUCCESS) scr_flush_file_normalise(h);
  return rc;
}

/* Write H, unless it is NULL, and unlock, on an error too. */
SCR_FN int scr_flush_file_close(const char* prefix, int* fd, const scr_hash* h)
{
  return scr_record_close(prefix, "flush.scr", fd, h);
}

SCR_FN void scr_flush_file_remove(scr_hash* h, int id)
{
  scr_hash_unset_kv_int(h, "DSET", id);
}

/* A fresh entry for the dataset DESC, which a flush would put in DIR below the prefix; no location yet. */
SCR_FN void scr_flush_file_add(scr_hash* h, const scr_dataset* desc, const char* dir)
{
  const char* name = NULL;
  scr_hash*   entry;
  int         id, flag = 0;

  if (scr_dataset_get_id(desc, &id) != SCR_SUCCESS) return;
  scr_flush_file_remove(h, id); /* an entry of an earlier run, from before a rollback */
  entry = scr_hash_set_kv_int(h, "DSET", id);
  if (scr_dataset_get_name(desc, &name) == SCR_SUCCESS) scr_hash_util_set_str(entry, "NAME", name);
  if (dir != NULL) scr_hash_util_set_str(entry, "DIR", dir);
  if (scr_dataset_get_flag_ckpt(desc, &flag) == SCR_SUCCESS && flag) scr_hash_util_set_int(entry, "CKPT", 1);
  flag = 0;
  if (scr_dataset_get_flag_output(desc, &flag) == SCR_SUCCESS && flag) scr_hash_util_set_int(entry, "OUTPUT", 1);
}

/* Dataset ID is at LOC: CACHE, PFS, FLUSHING or SYNC_FLUSHING.  Makes the entry when there is none. */
SCR_FN void scr_flush_file_set(scr_hash* h, int id, const char* loc)
{
  scr_hash_set_kv(scr_hash_set_kv_int(h, "DSET", id), "LOCATION", loc);
}

SCR_FN void scr_flush_file_unset(scr_hash* h, int id, const char* loc)
{
  scr_hash* entry = scr_hash_get_kv_int(h, "DSET", id);

  scr_hash_unset_kv(entry, "LOCATION", loc);
  if (scr_hash_size(scr_hash_get(entry, "LOCATION")) == 0) scr_hash_unset(entry, "LOCATION");
}

SCR_FN int scr_flush_file_has(const scr_hash* h, int id, const char* loc)
{
  return scr_hash_get_kv(scr_hash_get_kv_int(h, "DSET", id), "LOCATION", loc) != NULL;
}

/* ---- halt file ---- */

/* Make H the halt file of PREFIX; empty when there is none.  Does not take the lock. */
SCR_FN int scr_halt_read(const char* prefix, scr_hash* h)
{
  char path[SCR_MAX_FILENAME];
  int  rc = scr_record_path(prefix, "halt.scr", path, sizeof path);

  return rc == SCR_SUCCESS ? scr_record_read(path, h) : rc;
}

/* As scr_halt_read, and hold the lock until scr_halt_close.  On an error nothing is locked. */
SCR_FN int scr_halt_open(const char* prefix, int* fd, scr_hash* h)
{
  return scr_record_open(prefix, "halt.scr", fd, h);
}

/* Write H, unless it is NULL, and unlock, on an error too. */
SCR_FN int scr_halt_close(const char* prefix, int* fd, const scr_hash* h)
{
  return scr_record_close(prefix, "halt.scr", fd, h);
}

/* The reason to stop in H, or NULL.  That an earlier run has ended is none. */
SCR_FN const char* scr_halt_stated(const scr_hash* h)
{
  const char* reason = scr_hash_elem_get_first_val(h, "ExitReason");

  if (reason == NULL || *reason == '\0' || strcmp(reason, "SCR_FINALIZE_CALLED") == 0) return NULL;
  return reason;
}

/*
** Bring the conditions that a run keeps in MEMORY up to date with FILE, the halt file.
**
** What FILE sets wins.  CheckpointsLeft, ExitBefore and ExitAfter come from nowhere else, so one that FILE
** lacks was taken away by the user and goes from MEMORY too.  HaltSeconds (a parameter sets it) and a reason that this
** run has found stay unless FILE has its own.
*/
SCR_FN int scr_halt_merge(scr_hash* memory, const scr_hash* file)
{
  static const char* const keys[] = {"CheckpointsLeft", "ExitBefore", "ExitAfter", "HaltSeconds"};
  size_t                   i;

  for (i = 0; i < sizeof keys / sizeof keys[0]; i++) {
    const char* value = scr_hash_elem_get_first_val(file, keys[i]);
    if (value != NULL) scr_hash_util_set_str(memory, keys[i], value);
    else if (i < 3) scr_hash_unset(memory, keys[i]);
  }
  if (scr_halt_stated(file) != NULL) scr_hash_util_set_str(memory, "ExitReason", scr_halt_stated(file));
  return scr_oom ? SCR_ERR_OOM() : SCR_SUCCESS;
}

/* The time to end before, ExitBefore less HaltSeconds.  0 when it is not set. */
SCR_FN int scr_halt_before(const scr_hash* halt, int64_t* when)
{
  int64_t before, seconds = 0;

  if (scr_hash_util_get_int64(halt, "ExitBefore", &before) != SCR_SUCCESS) return 0;
  scr_hash_util_get_int64(halt, "HaltSeconds", &seconds);
  if (seconds < 0) seconds = 0;
  *when = before < INT64_MIN + seconds ? INT64_MIN : before - seconds;
  return 1;
}

/*
** 1 when the run should stop: little time is left in the allocation, someone gave a reason, no checkpoint is left to
** take, or a time has come.
**
** NOW is seconds since the epoch, SECONDS_LEFT what the allocation still has, or negative when that is not known.
** REASON, of N bytes, receives the last that holds, in this order; it is "" when none does.
*/
SCR_FN int scr_halt_check(const scr_hash* halt, int64_t now, int64_t seconds_left, char* reason, size_t n)
{
  const char* why = NULL;
  int64_t     v;

  if (seconds_left >= 0 && scr_hash_util_get_int64(halt, "HaltSeconds", &v) == SCR_SUCCESS && v > 0 &&
      seconds_left <= v)
    why = "TIME_LIMIT";
  if (scr_halt_stated(halt) != NULL) why = scr_halt_stated(halt);
  if (scr_hash_util_get_int64(halt, "CheckpointsLeft", &v) == SCR_SUCCESS && v == 0) why = "NO_CHECKPOINTS_LEFT";
  if (scr_halt_before(halt, &v) && now >= v) why = "EXIT_BEFORE_TIME";
  if (scr_hash_util_get_int64(halt, "ExitAfter", &v) == SCR_SUCCESS && now >= v) why = "EXIT_AFTER_TIME";
  if (reason != NULL && n > 0) snprintf(reason, n, "%s", why != NULL ? why : "");
  return why != NULL;
}

/* N checkpoints were taken: CheckpointsLeft, if it is set, falls by N, not below 0. */
SCR_FN void scr_halt_count(scr_hash* halt, int n)
{
  int64_t left;

  if (scr_hash_util_get_int64(halt, "CheckpointsLeft", &left) != SCR_SUCCESS || left <= 0 || n <= 0) return;
  scr_hash_util_set_int64(halt, "CheckpointsLeft", left > n ? left - n : 0);
}

/* ---- nodes file ---- */

/* Record that this run has N nodes, whatever the file held. */
SCR_FN int scr_nodes_file_write(const char* prefix, int n)
{
  char      path[SCR_MAX_FILENAME];
  scr_hash* h = scr_hash_new();
  int       rc = scr_record_mkdir(prefix);

  if (h == NULL) return SCR_ERR_OOM();
  scr_hash_util_set_int(h, "NODES", n);
  if (rc == SCR_SUCCESS) rc = scr_record_path(prefix, "nodes.scr", path, sizeof path);
  if (rc == SCR_SUCCESS) rc = scr_hash_file_write(path, h);
  scr_hash_delete(&h);
  return rc;
}

/*
** N becomes the number of nodes of the last run.  SCR_ERR_NOT_FOUND when there is no file; SCR_ERR_FORMAT, with N 0,
** when the file holds no such number; N stays as it was on other errors.
*/
SCR_FN int scr_nodes_file_read(const char* prefix, int* n)
{
  char      path[SCR_MAX_FILENAME];
  scr_hash* h = scr_hash_new();
  int       v = -1, rc = scr_record_path(prefix, "nodes.scr", path, sizeof path);

  if (h == NULL) return SCR_ERR_OOM();
  if (rc == SCR_SUCCESS && (rc = scr_hash_file_read(path, h)) == SCR_ERR_NOT_FOUND)
    rc = SCR_ERR(SCR_ERR_NOT_FOUND, "there is no nodes file %s", path);
  if (rc == SCR_SUCCESS) {
    if (scr_hash_util_get_int(h, "NODES", &v) == SCR_SUCCESS && v >= 0) {
      *n = v;
    } else {
      *n = 0;
      rc = SCR_ERR(SCR_ERR_FORMAT, "%s does not hold the number of nodes", path);
    }
  }
  scr_hash_delete(&h);
  return rc;
}

/* ---- the log ---- */

#ifndef SCR_LOG_SYSLOG_FACILITY
#define SCR_LOG_SYSLOG_FACILITY LOG_LOCAL7
#endif
#ifndef SCR_LOG_SYSLOG_LEVEL
#define SCR_LOG_SYSLOG_LEVEL LOG_INFO
#endif
#ifndef SCR_LOG_SYSLOG_PREFIX
#define SCR_LOG_SYSLOG_PREFIX "SCR"
#endif

#define SCR_LOG_LINE_MAX (SCR_ERR_TEXT_MAX + SCR_MAX_FILENAME + 512)

/* Who speaks, and where it goes: TXT to <prefix>/.scr/log, SYSLOG to the log of the system. */
typedef struct {
  int         txt, syslog;
  const char *host, *user, *job, *prefix;
} scr_log;

/* What a line may say of a dataset.  An id of 0, a NULL and a negative time are left out. */
typedef struct {
  int         id;
  const char* name;
  double      secs;
} scr_log_dataset;

/* TEXT without what would end the line or a quoted text in it, in place (R3). */
SCR_FN char* scr_log_plain(char* text)
{
  char* p;
  for (p = text; *p != '\0'; p++)
    if ((unsigned char)*p < ' ' || *p == '\177') *p = '?';
    else if (*p == '"') *p = '\'';
  return text;
}

/* Add to the line LINE of N bytes; what does not fit is cut off. */
SCR_FN SCR_FORMAT(3, 4) void scr_log_add(char* line, size_t n, const char* format, ...)
{
  size_t  used = strlen(line);
  va_list ap;

  va_start(ap, format);
  vsnprintf(line + used, n - used, format, ap);
  va_end(ap);
}

/* Append LINE to the log of L's prefix.  A line that a full disk cuts short is taken back. */
SCR_FN int scr_log_append(const scr_log* l, const char* line)
{
  char  path[SCR_MAX_FILENAME], now[32], text[SCR_LOG_LINE_MAX + 1024];
  off_t end;
  int   fd, rc = scr_record_path(l->prefix, "log", path, sizeof path);

  if (rc != SCR_SUCCESS) return rc;
  fd = scr_os.open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0600);
  if (fd < 0) return SCR_ERRNO("cannot open the log %s", path);
  while (scr_os.flock(fd, LOCK_EX) < 0 && errno == EINTR) continue; /* without locks lines may mix, but are kept */
  end = lseek(fd, 0, SEEK_END);
  scr_time_string(time(NULL), now, sizeof now);
  snprintf(text, sizeof text, "%s: host=%s, jobid=%s, %s\n", now, l->host, l->job, line);
  if (scr_write_all(fd, text, strlen(text)) < 0) {
    rc = SCR_ERRNO("cannot write the log %s", path);
    if (end >= 0 && scr_os.ftruncate(fd, end) < 0) rc = SCR_ERRNO("cannot take back half a line of the log %s", path);
  }
  scr_os.close(fd);
  return rc;
}

/*
** Log the line LINE.  The log of the system gets the user and the prefix with it; it is not opened anew for that, as
** the application may have given it its own name.
*/
SCR_FN int scr_log_line(const scr_log* l, const char* line)
{
  if (l->syslog)
    syslog(SCR_LOG_SYSLOG_FACILITY | SCR_LOG_SYSLOG_LEVEL, "%s: user=%s, jobid=%s, prefix=%s, host=%s, %s",
           SCR_LOG_SYSLOG_PREFIX, l->user, l->job, l->prefix, l->host, line);
  return l->txt ? scr_log_append(l, line) : SCR_SUCCESS;
}

/* Log the event EVENT, with NOTE unless it is NULL, of D unless it is NULL. */
SCR_FN int scr_log_event(const scr_log* l, const char* event, const char* note, const scr_log_dataset* d)
{
  char line[SCR_LOG_LINE_MAX] = "", text[SCR_ERR_TEXT_MAX];

  scr_log_add(line, sizeof line, "event=%s", event);
  if (note != NULL) {
    snprintf(text, sizeof text, "%s", note);
    scr_log_add(line, sizeof line, ", note=\"%s\"", scr_log_plain(text));
  }
  if (d != NULL && d->id > 0) scr_log_add(line, sizeof line, ", dset=%d", d->id);
  if (d != NULL && d->name != NULL) {
    snprintf(text, sizeof text, "%s", d->name);
    scr_log_add(line, sizeof line, ", name=\"%s\"", scr_log_plain(text));
  }
  if (d != NULL && d->secs >= 0) scr_log_add(line, sizeof line, ", secs=%f", d->secs);
  return scr_log_line(l, line);
}

/* Log that the FILES of D, BYTES in all, went FROM a directory TO another; TYPE says what for. */
SCR_FN int scr_log_transfer(const scr_log* l, const char* type, const char* from, const char* to,
                            const scr_log_dataset* d, double bytes, int files)
{
  char line[SCR_LOG_LINE_MAX] = "", names[3][SCR_MAX_FILENAME];

  snprintf(names[0], sizeof names[0], "%s", from);
  snprintf(names[1], sizeof names[1], "%s", to);
  snprintf(names[2], sizeof names[2], "%s", d->name != NULL ? d->name : "");
  scr_log_add(line, sizeof line, "xfer=%s, from=%s, to=%s, dset=%d, name=\"%s\", secs=%f, bytes=%.0f, files=%d", type,
              scr_log_plain(names[0]), scr_log_plain(names[1]), d->id, scr_log_plain(names[2]), d->secs, bytes, files);
  return scr_log_line(l, line);
}

/* ---- what killed writers left ---- */

/*
** 1 when NAME is a temporary file that scr_hash_file_write makes for one of the files of PREFIX/.scr, FILE:
** FILE.<host>.<process>.<number>.tmp.
*/
SCR_FN int scr_record_is_tmp(const char* name, const char* file)
{
  size_t      n = strlen(name), k = strlen(file);
  const char* p;
  int         part;

  if (n < k + 5 || strncmp(name, file, k) != 0 || name[k] != '.') return 0;
  p = name + n - 4;
  if (strcmp(p, ".tmp") != 0) return 0;
  for (part = 0; part < 2; part++) {
    const char* end = p;
    while (p > name + k && isdigit((unsigned char)p[-1])) p--;
    if (p == end || p <= name + k + 1 || *--p != '.') return 0;
  }
  return 1;
}

/*
** Remove the temporary files in PREFIX/.scr that no writer will rename any more.  Each goes under the lock that the
** writers of its file hold, so those that are at work now, as the commands may be, keep theirs.  The caller holds the
** prefix: who writes the nodes file takes no other lock.  What cannot be removed stays.
*/
SCR_FN void scr_record_sweep(const char* prefix)
{
  static const char* const files[] = {"index.scr", "flush.scr", "halt.scr", "nodes.scr"};
  char                     dir[SCR_MAX_FILENAME], path[SCR_MAX_FILENAME], tmp[SCR_MAX_FILENAME];
  struct dirent*           e;
  DIR*                     d;
  size_t                   i;
  int                      fd;

  if (scr_record_path(prefix, "", dir, sizeof dir) != SCR_SUCCESS || (d = opendir(dir)) == NULL) return;
  while ((e = readdir(d)) != NULL)
    for (i = 0; i < sizeof files / sizeof *files; i++) {
      if (!scr_record_is_tmp(e->d_name, files[i])) continue;
      if (scr_record_path(prefix, files[i], path, sizeof path) != SCR_SUCCESS ||
          scr_record_path(prefix, e->d_name, tmp, sizeof tmp) != SCR_SUCCESS ||
          scr_hash_file_lock(path, &fd) != SCR_SUCCESS)
        continue;
      scr_os.unlink(tmp);
      scr_hash_file_unlock(&fd);
    }
  closedir(d);
}
/* ==== 13 CODE OF A SET, REBUILD OVER FILES ==============================================================
** Where the members of a redundancy set hold which bytes, and by which sums a lost one is found; and one process that
** finds it, from the files of a set and into files.
**
** Uses       platform, path, hash files, dataset and meta, kernels, file window.
** Offers     scr_copy, scr_erasure_make, scr_erasure_symbol, scr_erasure_factor, scr_set_file_name, scr_set_witness,
**            scr_file_list; scr_rebuild_find, scr_rebuild_set, scr_rebuild_run.
** Invariants
**   B1  The files of a member, one after the other in the order of its record, are its stream, padded with zeros.  XOR
**       and RS cut it into N-K chunks.  A code has N positions; at position C the K members C-E hold chunk E of their
**       redundancy file, which is row E of the code, and the others hold their next chunk of data.
**       PARTNER: position C is the stream of member C, of which member C+1 holds a copy.
**   B2  What is rebuilt over files is, to the byte, what the ranks of the set had made, header and all.
**   B3  Nothing of what headers say is believed before it has been checked: they lie where others may write.
**   B4  A file that is not lost is never written to; a lost one is replaced when all that was rebuilt is right.
** Failure    The code; what cannot be found is SCR_ERR_LOST.  A rebuild leaves no temporary files.
** Source     RAID-5; Plank: A Tutorial on Reed-Solomon Coding for Fault-Tolerance in RAID-like Systems, 1997.
** ====================================================================================================== */

typedef enum { SCR_COPY_SINGLE, SCR_COPY_PARTNER, SCR_COPY_XOR, SCR_COPY_RS } scr_copy;

static const char* const scr_copy_names[] = {"SINGLE", "PARTNER", "XOR", "RS"};

SCR_FN const char* scr_copy_name(scr_copy type)
{
  return scr_copy_names[type];
}

SCR_FN int scr_copy_from_name(const char* name, scr_copy* type)
{
  int i;
  for (i = SCR_COPY_SINGLE; i <= SCR_COPY_RS; i++)
    if (strcasecmp(name, scr_copy_names[i]) == 0) {
      *type = (scr_copy)i;
      return SCR_SUCCESS;
    }
  return SCR_ERR(SCR_ERR_PARAM, "the redundancy scheme %s is not known; there are SINGLE, PARTNER, XOR and RS", name);
}

/* Sets stay small, because each member knows the others; a set may have nearly twice as many as are asked for. */
#define SCR_SET_SIZE_MAX 4096

/* ---- the code ---- */

enum { SCR_LOST_DATA = 1, SCR_LOST_RED = 2 };              /* what a member of a set has lost; bits */
enum { SCR_SYMBOL_NONE, SCR_SYMBOL_DATA, SCR_SYMBOL_RED }; /* what a member holds at a position */

/* The code of a set, and what is to be found by it. */
typedef struct {
  scr_copy       type;
  int            n, k;         /* members, and how many of them may be lost */
  const int64_t *lost, *total; /* of each member: bits of SCR_LOST_x; bytes of its stream */
  uint64_t       chunk;
  int*           target; /* [n][k]: the members whose symbol at a position is lost, -1 behind the last */
  unsigned char* coef;   /* [n][k][n] for RS: the symbol of a target as a sum over the members */
} scr_erasure;

/* What member R holds at position C, and where: the offset in its stream, or in its redundancy file behind the header. */
SCR_FN int scr_erasure_symbol(const scr_erasure* ec, int r, int c, uint64_t* at)
{
  int e;

  if (ec->type == SCR_COPY_PARTNER) {
    *at = 0;
    return r == c ? SCR_SYMBOL_DATA : r == (c + 1) % ec->n ? SCR_SYMBOL_RED : SCR_SYMBOL_NONE;
  }
  e = scr_rs_row(ec->n, ec->k, r, c);
  *at = (uint64_t)(e >= 0 ? e : scr_rs_chunk(ec->n, ec->k, r, c)) * ec->chunk;
  return e >= 0 ? SCR_SYMBOL_RED : SCR_SYMBOL_DATA;
}

SCR_FN int scr_erasure_is_lost(const scr_erasure* ec, int r, int c)
{
  uint64_t at;
  int      kind = scr_erasure_symbol(ec, r, c, &at);
  return (kind == SCR_SYMBOL_DATA && ec->lost[r] & SCR_LOST_DATA) ||
         (kind == SCR_SYMBOL_RED && ec->lost[r] & SCR_LOST_RED);
}

/* Bytes of a symbol at position C. */
SCR_FN uint64_t scr_erasure_length(const scr_erasure* ec, int c)
{
  return ec->type == SCR_COPY_PARTNER ? (uint64_t)ec->total[c] : ec->chunk;
}

/* Which targets position C has; SCR_ERR_LOST when there are more than the code can find. */
SCR_FN int scr_erasure_targets(scr_erasure* ec, int c)
{
  int r, n = 0;

  for (r = 0; r < ec->k; r++) ec->target[c * ec->k + r] = -1;
  for (r = 0; r < ec->n; r++) {
    if (!scr_erasure_is_lost(ec, r, c)) continue;
    if (n == ec->k)
      return SCR_ERR(SCR_ERR_LOST, "members %d and %d of a %s set of %d have lost more than it can rebuild",
                     ec->target[c * ec->k], r, scr_copy_name(ec->type), ec->n);
    ec->target[c * ec->k + n++] = r;
  }
  return SCR_SUCCESS;
}

/* The sums by which the targets of each position are found.  XOR and PARTNER need none. */
SCR_FN int scr_erasure_solve(scr_erasure* ec)
{
  size_t         n = (size_t)ec->n, k = (size_t)ec->k;
  unsigned char *m = (unsigned char*)scr_malloc(k * n), *all = (unsigned char*)scr_malloc(n * n);
  unsigned char* erased = (unsigned char*)scr_malloc(n);
  int            c, i, r, rc = SCR_SUCCESS;

  ec->coef = (unsigned char*)scr_malloc(n * k * n);
  if (m == NULL || all == NULL || erased == NULL || ec->coef == NULL) rc = SCR_ERR_OOM();
  if (rc == SCR_SUCCESS) rc = scr_rs_matrix(ec->n, ec->k, m);
  for (c = 0; c < ec->n && rc == SCR_SUCCESS; c++) {
    const int* t = &ec->target[c * ec->k];
    for (r = 0; r < ec->n; r++) erased[r] = (unsigned char)scr_erasure_is_lost(ec, r, c);
    if (t[0] >= 0) rc = scr_rs_solve(ec->n, ec->k, m, c, erased, all);
    for (i = 0; i < ec->k && t[i] >= 0 && rc == SCR_SUCCESS; i++)
      memcpy(ec->coef + ((size_t)c * k + (size_t)i) * n, all + (size_t)t[i] * n, n);
  }
  scr_free(&m);
  scr_free(&all);
  scr_free(&erased);
  return rc;
}

/* 1 when target I of position C is found with the symbol of member R; its factor is F. */
SCR_FN int scr_erasure_factor(const scr_erasure* ec, int c, int i, int r, unsigned char* f)
{
  *f = ec->coef != NULL ? ec->coef[((size_t)c * (size_t)ec->k + (size_t)i) * (size_t)ec->n + (size_t)r] : 1;
  return ec->target[c * ec->k + i] >= 0 && *f != 0;
}

SCR_FN void scr_erasure_free(scr_erasure* ec)
{
  scr_free(&ec->target);
  scr_free(&ec->coef);
}

/*
** Make EC the code of a set of N members and TYPE, which bears K losses, to find what its members have LOST; each has
** TOTAL bytes of data.  SCR_ERR_LOST when the scheme cannot.  TOTAL may be NULL to ask just that.  EC points to the
** numbers.  Local; scr_erasure_free is due.
*/
SCR_FN int scr_erasure_make(scr_erasure* ec, scr_copy type, int n, int k, const int64_t* lost, const int64_t* total)
{
  uint64_t most = 0;
  int      i, c, rc = SCR_SUCCESS;

  memset(ec, 0, sizeof *ec);
  ec->type = type;
  ec->n = n;
  ec->k = k;
  ec->lost = lost;
  ec->total = total;
  ec->target = (int*)scr_malloc((size_t)n * (size_t)k * sizeof *ec->target);
  if (ec->target == NULL) return SCR_ERR_OOM();
  for (c = 0; c < n && rc == SCR_SUCCESS; c++) rc = scr_erasure_targets(ec, c);
  if (rc != SCR_SUCCESS || total == NULL) return rc;
  for (i = 0; i < n; i++)
    if ((uint64_t)total[i] > most) most = (uint64_t)total[i];
  ec->chunk = most;
  if (type != SCR_COPY_PARTNER) ec->chunk = (most + (uint64_t)(n - k) - 1) / (uint64_t)(n - k);
  if (ec->chunk == 0) ec->chunk = 1;
  return type == SCR_COPY_RS ? scr_erasure_solve(ec) : SCR_SUCCESS;
}

/* ---- redundancy files ---- */

/* The name of the redundancy file of member R of N in the set with number GROUP. */
SCR_FN const char* scr_set_file_name(scr_copy type, int r, int n, int group, char* name, size_t size)
{
  static const char* const ends[] = {"single", "partner", "xor", "rs"};
  snprintf(name, size, "%d_of_%d_in_%d.%s", r + 1, n, group, ends[type]);
  return name;
}

/* The key under which a header describes the member DISTANCE to the left. */
SCR_FN const char* scr_set_left_key(int distance, char* key, size_t n)
{
  if (distance == 1) return "PARTNER";
  snprintf(key, n, "PARTNER_%d", distance);
  return key;
}

/* The distance to the right of member M of the nearest whose header, which is not LOST, describes M; or 0. */
SCR_FN int scr_set_witness(int n, int k, const int64_t* lost, int m)
{
  int i;
  for (i = 1; i <= k; i++)
    if (!(lost[(m + i) % n] & SCR_LOST_RED)) return i;
  return 0;
}

/* ---- the files of a member ---- */

typedef struct {
  int       n;
  char**    path;
  uint64_t* size;
} scr_file_list;

SCR_FN void scr_file_list_free(scr_file_list* f)
{
  int i;
  for (i = 0; i < f->n; i++) scr_free(&f->path[i]);
  scr_free(&f->path);
  scr_free(&f->size);
  f->n = 0;
}

SCR_FN int scr_file_list_room(scr_file_list* f, int n)
{
  memset(f, 0, sizeof *f);
  f->path = (char**)scr_malloc((size_t)n * sizeof *f->path);
  f->size = (uint64_t*)scr_malloc((size_t)n * sizeof *f->size);
  return f->path == NULL || f->size == NULL ? SCR_ERR_OOM() : SCR_SUCCESS;
}

SCR_FN int scr_file_list_add(scr_file_list* f, const char* path, const scr_meta* meta)
{
  uint64_t size = 0;

  if (scr_meta_get_filesize(meta, &size) != SCR_SUCCESS)
    return SCR_ERR(SCR_ERR_FORMAT, "the record of %s has no size", path);
  f->path[f->n] = scr_strdup(path);
  f->size[f->n++] = size;
  return scr_oom ? SCR_ERR_OOM() : SCR_SUCCESS;
}

/* ---- rebuild over files: the headers ---- */

#define SCR_REBUILD_BYTES ((size_t)8 << 20)   /* of memory for pieces */
#define SCR_REBUILD_PIECE ((size_t)256 << 10) /* the largest */
#define SCR_REBUILD_OPEN  32                  /* sets with more members do not keep their files open */

/* A set whose lost members are to be rebuilt. */
typedef struct {
  int                n;    /* members */
  char**             file; /* [n]: where the redundancy file of each lies, or shall lie */
  int                dirs;
  const char* const* dir;        /* dataset directories where a member without that may have left its files */
  int                dry_run;    /* 1: only look */
  int                keep;       /* 1: where a member without any file is rebuilt, nothing is replaced */
  void (*say)(const char* what); /* told of each file that is lost, or rebuilt; may be NULL */
  int lost;                      /* results: files that were lost, */
  int unproven;                  /* and those that were rebuilt without a recorded CRC32 */
} scr_rebuild;

typedef struct {
  int             rank;             /* in the world */
  char *          file, *temp_file; /* the redundancy file, and where it is made */
  scr_hash*       header;           /* what is in it; NULL when it is lost */
  const scr_hash* current;          /* the files of the member, as a header describes them */
  int             settled;          /* it has no header, but its files were found */
  uint64_t        head;             /* bytes of the header */
  scr_file_list   files, temp;
  char*           bad; /* which of the files are lost */
  scr_window      win;
  int             fd, lock; /* the redundancy file; the directory where it is made */
} scr_rebuild_member;

typedef struct {
  scr_rebuild*        job;
  scr_copy            type;
  int                 n, k;
  const scr_hash*     model; /* a header of the set, */
  const char*         model_file;
  scr_rebuild_member* m;
  int64_t *           lost, *total;
  uint64_t            chunk;
  scr_erasure         ec;
  size_t              piece;
  char*               buf;  /* a piece of each member, and one more */
  const char**        held; /* [n]: the piece of a member, or NULL when it has none for the sums */
  const void**        src;  /* the terms of a sum, */
  unsigned char*      coef; /* and their factors */
} scr_rebuilder;

/* Count a lost file, and tell of it in the words of the last message, without the place in the source. */
SCR_FN void scr_rebuild_note(scr_rebuild* job)
{
  char text[SCR_ERR_TEXT_MAX];

  job->lost++;
  if (job->say == NULL) return;
  snprintf(text, sizeof text, "%.*s", scr_err_length, scr_err_text);
  job->say(text);
}

/* 1 when RC tells that a file is not there or not whole; it may well be there after any other error. */
SCR_FN int scr_rebuild_is_loss(int rc)
{
  return rc == SCR_ERR_NOT_FOUND || rc == SCR_ERR_MISSING || rc == SCR_ERR_FORMAT || rc == SCR_ERR_CRC;
}

/* Read the headers of all members. */
SCR_FN int scr_rebuild_load(scr_rebuilder* x)
{
  int r, rc;

  for (r = 0; r < x->n; r++) {
    scr_rebuild_member* m = &x->m[r];
    scr_hash*           h = scr_hash_new();
    m->file = scr_strdup(x->job->file[r]);
    if (h == NULL || m->file == NULL) {
      scr_hash_delete(&h);
      return SCR_ERR_OOM();
    }
    rc = scr_hash_file_read_head(m->file, h, &m->head);
    if (rc == SCR_SUCCESS) {
      m->header = h;
      if (x->model == NULL) {
        x->model = h;
        x->model_file = m->file;
      }
      continue;
    }
    scr_hash_delete(&h);
    if (!scr_rebuild_is_loss(rc)) return rc;
    x->lost[r] |= SCR_LOST_RED;
    scr_rebuild_note(x->job);
  }
  if (x->model != NULL) return SCR_SUCCESS;
  return SCR_ERR(SCR_ERR_LOST, "none of the %d redundancy files of the set is left, such as %s", x->n, x->m[0].file);
}

/* The scheme, as the first header has it; those of 1.x are all of XOR and do not say so. */
SCR_FN int scr_rebuild_scheme(scr_rebuilder* x)
{
  const char* type = "XOR";
  uint64_t    chunk = 0;
  int         n = 0;

  x->type = SCR_COPY_SINGLE;
  x->k = 1;
  scr_hash_util_get_str(x->model, "TYPE", &type);
  scr_copy_from_name(type, &x->type);
  if (scr_hash_get(x->model, "FAILURES") != NULL && scr_hash_util_get_int(x->model, "FAILURES", &x->k) != SCR_SUCCESS)
    x->k = 0;
  if (x->type == SCR_COPY_SINGLE || x->k < 1 || x->k >= x->n || (x->type != SCR_COPY_RS && x->k != 1) ||
      (x->type == SCR_COPY_RS && x->n + x->k > 256))
    return SCR_ERR(SCR_ERR_FORMAT, "%s: there is no scheme %.20s for %d members and %d losses; restore or remove it",
                   x->model_file, type, x->n, x->k);
  if (scr_hash_util_get_int(scr_hash_get(x->model, "GROUP"), "RANKS", &n) != SCR_SUCCESS || n != x->n)
    return SCR_ERR(SCR_ERR_FORMAT, "%s is of a set of %d members instead of %d; it belongs elsewhere", x->model_file, n,
                   x->n);
  if (scr_hash_util_get_bytecount(x->model, "CHUNK", &chunk) != SCR_SUCCESS || chunk < 1 ||
      chunk > INT64_MAX / (uint64_t)(x->k + 1))
    return SCR_ERR(SCR_ERR_FORMAT, "%s: CHUNK is no count of bytes; restore or remove it", x->model_file);
  x->chunk = chunk;
  return SCR_SUCCESS;
}

/* 1 when A and B have the same value of KEY, or both none. */
SCR_FN int scr_hash_alike(const scr_hash* a, const scr_hash* b, const char* key)
{
  const char *u = scr_hash_elem_get_first_val(a, key), *v = scr_hash_elem_get_first_val(b, key);
  return u == NULL || v == NULL ? u == v : strcmp(u, v) == 0;
}

/* The headers A and B, called so in messages, must be of the same dataset and the same set of N members. */
SCR_FN int scr_set_headers_fit(const scr_hash* a, const char* a_name, const scr_hash* b, const char* b_name, int n)
{
  static const char* const keys[] = {"RANKS", "TYPE", "FAILURES", "CHUNK"};
  const scr_hash *         c = scr_hash_get(a, "GROUP"), *d = scr_hash_get(b, "GROUP");
  char                     key[16];
  int                      i;

  if (!scr_dataset_same(scr_hash_get(a, "DSET"), scr_hash_get(b, "DSET")))
    return SCR_ERR(SCR_ERR_FORMAT, "%s and %s are of different datasets; move away the wrong one", a_name, b_name);
  for (i = 0; i < 4; i++)
    if (!scr_hash_alike(a, b, keys[i]))
      return SCR_ERR(SCR_ERR_FORMAT, "%s and %s differ in %s; move away the one of another set", a_name, b_name,
                     keys[i]);
  if (!scr_hash_alike(c, d, "RANKS"))
    return SCR_ERR(SCR_ERR_FORMAT, "%s and %s are of sets of different sizes; move away the wrong one", a_name, b_name);
  for (i = 0; i < n; i++) {
    snprintf(key, sizeof key, "%d", i);
    if (!scr_hash_alike(scr_hash_get(c, "RANK"), scr_hash_get(d, "RANK"), key))
      return SCR_ERR(SCR_ERR_FORMAT, "%s and %s differ in the rank of member %d; move away the one of another set",
                     a_name, b_name, i);
  }
  return SCR_SUCCESS;
}

/* The header of member R must be of the same dataset and set as the first one, and of R. */
SCR_FN int scr_rebuild_compare(scr_rebuilder* x, int r)
{
  scr_rebuild_member* m = &x->m[r];
  int                 rank = -1, rc = scr_set_headers_fit(x->model, x->model_file, m->header, m->file, x->n);

  if (rc != SCR_SUCCESS) return rc;
  if (scr_hash_util_get_int(scr_hash_get(m->header, "CURRENT"), "RANK", &rank) != SCR_SUCCESS || rank != m->rank)
    return SCR_ERR(SCR_ERR_FORMAT, "%s is of rank %d, and should be of rank %d, member %d of the set", m->file, rank,
                   m->rank, r);
  return SCR_SUCCESS;
}

/* What the members are called and which files they had, as the headers that are left say. */
SCR_FN int scr_rebuild_describe(scr_rebuilder* x)
{
  const scr_hash* ranks = scr_hash_get(scr_hash_get(x->model, "GROUP"), "RANK");
  char            key[32];
  int             r, i, world = INT_MAX, rc;

  scr_hash_util_get_int(x->model, "RANKS", &world);
  for (r = 0; r < x->n; r++) {
    scr_rebuild_member* m = &x->m[r];
    snprintf(key, sizeof key, "%d", r);
    if (scr_hash_util_get_int(ranks, key, &m->rank) != SCR_SUCCESS || m->rank < 0 || m->rank >= world)
      return SCR_ERR(SCR_ERR_FORMAT, "%s names no rank for member %d of the set; restore or remove it", x->model_file,
                     r);
    for (i = 0; i < r; i++)
      if (x->m[i].rank == m->rank)
        return SCR_ERR(SCR_ERR_FORMAT, "%s names rank %d twice in the set; restore or remove it", x->model_file,
                       m->rank);
    if (m->header != NULL && (rc = scr_rebuild_compare(x, r)) != SCR_SUCCESS) return rc;
  }
  for (r = 0; r < x->n; r++) {
    scr_rebuild_member* m = &x->m[r];
    i = m->header != NULL ? 0 : scr_set_witness(x->n, x->k, x->lost, r);
    if (m->header == NULL && i == 0)
      return SCR_ERR(SCR_ERR_LOST, "%s is lost, and so are the next %d of its set, which list the files of rank %d",
                     m->file, x->k, m->rank);
    if (i == 0) m->current = scr_hash_get(m->header, "CURRENT");
    else m->current = scr_hash_get(x->m[(r + i) % x->n].header, scr_set_left_key(i, key, sizeof key));
  }
  return SCR_SUCCESS;
}

/* ---- the files of the members ---- */

/* The dataset directory of a redundancy file: it lies in .scr of that; without such a directory, beside the files. */
SCR_FN int scr_rebuild_home(const char* file, char* dir, size_t n)
{
  char   real[SCR_MAX_FILENAME];
  size_t k;
  int    rc = scr_path_dir_of(file, dir, n);

  if (rc != SCR_SUCCESS) return rc;
  k = strlen(dir);
  if (strcmp(dir, ".scr") == 0) return scr_fmt(dir, n, ".");
  if (strcmp(dir, ".") == 0 && getcwd(real, sizeof real) != NULL && strcmp(strrchr(real, '/'), "/.scr") == 0)
    return scr_fmt(dir, n, "..");
  if (k > 5 && strcmp(dir + k - 5, "/.scr") == 0) dir[k - 5] = '\0';
  return SCR_SUCCESS;
}

/* File I of member R, as a path below the dataset directory; NULL with a message when its record is not sound. */
SCR_FN const char* scr_rebuild_rel(scr_rebuilder* x, int r, int i)
{
  const char* rel = scr_hash_elem_get_first_val(scr_hash_get_kv_int(x->m[r].current, "FILE", i), "FILE");

  if (rel != NULL && scr_path_is_safe_rel(rel) && strncmp(rel, ".scr/", 5) != 0 && strcmp(rel, ".scr") != 0) return rel;
  SCR_ERR(SCR_ERR_FORMAT, "%s, or the next of its set, names a file of rank %d outside of the dataset: %.200s",
          x->m[r].file, x->m[r].rank, rel ? rel : "(none)");
  return NULL;
}

/* Is the file PATH that of META: has it SIZE bytes, and its CRC32 if that is known? */
SCR_FN int scr_rebuild_check_file(const char* path, uint64_t size, const scr_meta* meta)
{
  uLong crc = 0, want;
  int   rc = scr_file_has_size(path, size);

  if (rc != SCR_SUCCESS || scr_hash_get(meta, "CRC") == NULL) return rc;
  if (scr_meta_get_crc32(meta, &want) != SCR_SUCCESS)
    return SCR_ERR(SCR_ERR_ARG, "the checksum of %s cannot be read in the headers of its set", path);
  rc = scr_file_crc(path, size, &crc);
  return rc == SCR_SUCCESS ? scr_file_has_crc(path, crc, want, "it is corrupt") : rc;
}

/* The directory of the job below which the file REL of META is found whole; NULL when there is none. */
SCR_FN const char* scr_rebuild_seek(const scr_rebuild* job, const char* rel, const scr_meta* meta)
{
  char     path[SCR_MAX_FILENAME];
  uint64_t size = 0;
  int      i;

  if (scr_meta_get_filesize(meta, &size) != SCR_SUCCESS) return NULL;
  for (i = 0; i < job->dirs; i++)
    if (snprintf(path, sizeof path, "%s/%s", job->dir[i], rel) < (int)sizeof path &&
        scr_rebuild_check_file(path, size, meta) == SCR_SUCCESS)
      return job->dir[i];
  return NULL;
}

/* Member R has no redundancy file; when one of its N files is left whole somewhere, all is rebuilt there. */
SCR_FN int scr_rebuild_settle(scr_rebuilder* x, int r, int n)
{
  scr_rebuild_member* m = &x->m[r];
  const char *        dir = NULL, *slash = strrchr(m->file, '/');
  char*               file;
  int                 i;

  for (i = 0; i < n && dir == NULL; i++) {
    const char* rel = scr_rebuild_rel(x, r, i);
    if (rel == NULL) return SCR_ERR_FORMAT;
    dir = scr_rebuild_seek(x->job, rel, scr_hash_get_kv_int(m->current, "FILE", i));
  }
  if (dir == NULL) return SCR_SUCCESS;
  m->settled = 1;
  file = scr_strdupf("%s/.scr/%s", dir, slash != NULL ? slash + 1 : m->file);
  if (file == NULL) return SCR_ERR_OOM();
  scr_free(&m->file);
  m->file = file;
  return SCR_SUCCESS;
}

/* No directory between HOME and the file REL below it may be a link that leads away. */
SCR_FN int scr_rebuild_inside(const char* home, const char* rel)
{
  char        path[SCR_MAX_FILENAME];
  const char* slash;
  struct stat st;
  int         rc;

  for (slash = strchr(rel, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
    if ((rc = scr_fmt(path, sizeof path, "%s/%.*s", home, (int)(slash - rel), rel)) != SCR_SUCCESS) return rc;
    if (scr_os.lstat(path, &st) == 0 && S_ISLNK(st.st_mode))
      return SCR_ERR(SCR_ERR_FORMAT, "%s is a symbolic link; the files of a dataset must lie in its directory", path);
  }
  return SCR_SUCCESS;
}

/* The list of files of member R with their sizes.  SEEN holds the paths of all members: none may come twice. */
SCR_FN int scr_rebuild_expect(scr_rebuilder* x, int r, scr_hash* seen)
{
  scr_rebuild_member* m = &x->m[r];
  char                dir[SCR_MAX_FILENAME], path[SCR_MAX_FILENAME];
  int                 i, n = -1, rank = -1, rc;

  if (scr_hash_util_get_int(m->current, "FILES", &n) != SCR_SUCCESS || n < 0 ||
      n != scr_hash_size(scr_hash_get(m->current, "FILE")) ||
      scr_hash_util_get_int(m->current, "RANK", &rank) != SCR_SUCCESS || rank != m->rank)
    return SCR_ERR(SCR_ERR_FORMAT,
                   "%s, or the next of its set, does not list the files of rank %d; restore or remove it", m->file,
                   m->rank);
  if (m->header == NULL && (rc = scr_rebuild_settle(x, r, n)) != SCR_SUCCESS) return rc;
  if ((rc = scr_rebuild_home(m->file, dir, sizeof dir)) != SCR_SUCCESS) return rc;
  rc = scr_file_list_room(&m->files, n);
  m->bad = (char*)scr_malloc((size_t)n);
  if (m->bad == NULL) return SCR_ERR_OOM();
  for (i = 0; i < n && rc == SCR_SUCCESS; i++) {
    const char* rel = scr_rebuild_rel(x, r, i);
    if (rel == NULL) return SCR_ERR_FORMAT;
    if ((rc = scr_fmt(path, sizeof path, "%s/%s", dir, rel)) != SCR_SUCCESS) return rc;
    if ((rc = scr_rebuild_inside(dir, rel)) != SCR_SUCCESS) return rc;
    if (scr_hash_get(seen, path) != NULL)
      return SCR_ERR(SCR_ERR_FORMAT, "two members of the set, or one twice, name the file %s; give each its directory",
                     path);
    if (scr_hash_set(seen, path, scr_hash_new()) == NULL) return SCR_ERR_OOM();
    rc = scr_file_list_add(&m->files, path, scr_hash_get_kv_int(m->current, "FILE", i));
    if (rc == SCR_SUCCESS && m->files.size[i] > (uint64_t)(INT64_MAX / 2 - x->total[r]))
      rc = SCR_ERR(SCR_ERR_FORMAT, "the size of %s is impossible in the headers of its set", path);
    if (rc == SCR_SUCCESS) x->total[r] += (int64_t)m->files.size[i];
  }
  return rc;
}

/* The name under which file I of member M is rebuilt, beside its redundancy file. */
SCR_FN char* scr_rebuild_temp(const scr_rebuild_member* m, int i)
{
  char dir[SCR_MAX_FILENAME];
  if (scr_path_dir_of(m->file, dir, sizeof dir) != SCR_SUCCESS) return NULL;
  return scr_strdupf("%s/rebuild.%d.%d", dir, m->rank, i);
}

/* No file of SEEN, which are the application's, may be a redundancy file, or have the name of one that is made. */
SCR_FN int scr_rebuild_apart(scr_rebuilder* x, int r, const scr_hash* seen)
{
  const scr_rebuild_member* m = &x->m[r];
  int                       i, rc = SCR_SUCCESS;

  for (i = -1; i <= m->files.n && rc == SCR_SUCCESS; i++) {
    char* path = i < 0 ? scr_strdup(m->file) : scr_rebuild_temp(m, i);
    if (path == NULL) rc = SCR_ERR_OOM();
    else if (scr_hash_get(seen, path) != NULL)
      rc = SCR_ERR(SCR_ERR_FORMAT,
                   "%s is the name of a file of the application and of a redundancy file; move the "
                   "redundancy files into a directory .scr below the dataset's",
                   path);
    free(path);
  }
  return rc;
}

/* The lists of all members, which must make the chunk of the headers. */
SCR_FN int scr_rebuild_expect_all(scr_rebuilder* x)
{
  scr_hash*   seen = scr_hash_new();
  int64_t*    none = (int64_t*)scr_malloc((size_t)x->n * sizeof *none);
  scr_erasure ec;
  int         r, rc = seen == NULL || none == NULL ? SCR_ERR_OOM() : SCR_SUCCESS;

  for (r = 0; r < x->n && rc == SCR_SUCCESS; r++) rc = scr_rebuild_expect(x, r, seen);
  for (r = 0; r < x->n && rc == SCR_SUCCESS; r++) rc = scr_rebuild_apart(x, r, seen);
  if (rc == SCR_SUCCESS) {
    rc = scr_erasure_make(&ec, x->type, x->n, x->k, none, x->total);
    if (rc == SCR_SUCCESS && ec.chunk != x->chunk)
      rc =
          SCR_ERR(SCR_ERR_FORMAT,
                  "%s: CHUNK is %" PRIu64 ", and should be %" PRIu64 " by the sizes of the files; restore or remove it",
                  x->model_file, x->chunk, ec.chunk);
    scr_erasure_free(&ec);
  }
  scr_hash_delete(&seen);
  scr_free(&none);
  return rc;
}

/* Bytes of a symbol in the redundancy file of member R. */
SCR_FN uint64_t scr_rebuild_part(const scr_rebuilder* x, int r)
{
  return x->type == SCR_COPY_PARTNER ? (uint64_t)x->total[(r + x->n - 1) % x->n] : x->chunk;
}

/* Which files of member R are lost. */
SCR_FN int scr_rebuild_inspect(scr_rebuilder* x, int r)
{
  scr_rebuild_member* m = &x->m[r];
  struct stat         st;
  int                 i, rc = SCR_SUCCESS;

  for (i = 0; i < m->files.n; i++) {
    const scr_meta* meta = scr_hash_get_kv_int(m->current, "FILE", i);
    if ((rc = scr_rebuild_check_file(m->files.path[i], m->files.size[i], meta)) == SCR_SUCCESS) continue;
    if (!scr_rebuild_is_loss(rc)) return rc;
    if (x->job->keep && m->header == NULL && !m->settled && scr_os.lstat(m->files.path[i], &st) == 0)
      return SCR_ERR(SCR_ERR_ARG,
                     "%s is there, and is not the file of the dataset that is to be rebuilt in its place; "
                     "move it away, or have the dataset rebuilt elsewhere",
                     m->files.path[i]);
    m->bad[i] = 1;
    x->lost[r] |= SCR_LOST_DATA;
    scr_rebuild_note(x->job);
  }
  if (x->lost[r] & SCR_LOST_RED) return SCR_SUCCESS;
  rc = scr_file_has_size(m->file, m->head + scr_rebuild_part(x, r) * (uint64_t)x->k);
  if (rc == SCR_SUCCESS || !scr_rebuild_is_loss(rc)) return rc;
  x->lost[r] |= SCR_LOST_RED;
  scr_rebuild_note(x->job);
  return SCR_SUCCESS;
}

/* ---- what is rebuilt ---- */

/* The image of the header of member R, to the byte as it was: what all have alike, its files, and its left neighbours'. */
SCR_FN int scr_rebuild_header(scr_rebuilder* x, int r, scr_buf* b)
{
  scr_hash*      h = scr_hash_new();
  scr_hash_elem* e;
  char           key[32];
  int            i, rc = h == NULL ? SCR_ERR_OOM() : SCR_SUCCESS;

  for (e = scr_hash_elem_first(x->model); e != NULL && rc == SCR_SUCCESS; e = scr_hash_elem_next(e))
    if (strcmp(scr_hash_elem_key(e), "CURRENT") != 0 && strncmp(scr_hash_elem_key(e), "PARTNER", 7) != 0)
      rc = scr_hash_set_copy(h, scr_hash_elem_key(e), scr_hash_elem_hash(e));
  if (rc == SCR_SUCCESS) rc = scr_hash_set_copy(h, "CURRENT", x->m[r].current);
  for (i = 1; i <= x->k && rc == SCR_SUCCESS; i++)
    rc = scr_hash_set_copy(h, scr_set_left_key(i, key, sizeof key), x->m[(r - i + x->n) % x->n].current);
  if (rc == SCR_SUCCESS) rc = scr_hash_image(h, b);
  scr_hash_delete(&h);
  return rc;
}

/* Make an empty file PATH of this MODE; whatever has its name is a remainder of an earlier attempt. */
SCR_FN int scr_rebuild_create(const char* path, mode_t mode, int* fd)
{
  if (scr_os.unlink(path) < 0 && errno != ENOENT) return SCR_ERRNO("cannot remove %s", path);
  *fd = scr_os.open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
  if (*fd < 0) return SCR_ERRNO("cannot create %s", path);
  return fchmod(*fd, mode) < 0 ? SCR_ERRNO("cannot set the mode of %s", path) : SCR_SUCCESS;
}

/* Remove what earlier attempts have left in DIR, which is locked. */
SCR_FN void scr_rebuild_clear(const char* dir)
{
  char           path[SCR_MAX_FILENAME], name[64];
  struct dirent* e;
  DIR*           d = opendir(dir);
  int            rank, i;

  while (d != NULL && (e = readdir(d)) != NULL) {
    if (sscanf(e->d_name, "rebuild.%9d.%9d", &rank, &i) != 2) continue;
    snprintf(name, sizeof name, "rebuild.%d.%d", rank, i);
    if (strcmp(name, e->d_name) == 0 && scr_fmt(path, sizeof path, "%s/%s", dir, name) == SCR_SUCCESS)
      scr_os.unlink(path);
  }
  if (d != NULL) closedir(d);
}

/*
** Take the directory where files of member R are made, so that no other process makes them there, unless this one has
** it for another member; what is left there of earlier attempts goes.
*/
SCR_FN int scr_rebuild_lock(scr_rebuilder* x, int r)
{
  char  dir[SCR_MAX_FILENAME], other[SCR_MAX_FILENAME];
  char* slash;
  int   i, rc = scr_path_dir_of(x->m[r].file, dir, sizeof dir);

  for (i = 0; i < r && rc == SCR_SUCCESS; i++)
    if (x->m[i].lock >= 0 && scr_path_dir_of(x->m[i].file, other, sizeof other) == SCR_SUCCESS &&
        strcmp(dir, other) == 0)
      return SCR_SUCCESS;
  if (rc == SCR_SUCCESS) rc = scr_mkdirs(dir, 0777);
  if (rc != SCR_SUCCESS) return rc;
  x->m[r].lock = scr_os.open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
  if (x->m[r].lock < 0) return SCR_ERRNO("cannot open the directory %s", dir);
  if (scr_os.flock(x->m[r].lock, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK) /* elsewhere, locks may not be had */
    return SCR_ERR(SCR_ERR_IO, "another process rebuilds files in %s; wait for its end", dir);
  slash = strrchr(dir, '/');
  if (strcmp(slash != NULL ? slash + 1 : dir, ".scr") == 0) scr_rebuild_clear(dir);
  return SCR_SUCCESS;
}

/* New files for all files of member M, with the modes of the old ones. */
SCR_FN int scr_rebuild_temps(scr_rebuild_member* m)
{
  int i, fd, mode, rc = scr_file_list_room(&m->temp, m->files.n);

  for (i = 0; i < m->files.n && rc == SCR_SUCCESS; i++) {
    if (scr_meta_get_mode(scr_hash_get_kv_int(m->current, "FILE", i), &mode) != SCR_SUCCESS) mode = 0600;
    if ((m->temp.path[i] = scr_rebuild_temp(m, i)) == NULL) return SCR_ERR_OOM();
    m->temp.size[i] = m->files.size[i];
    rc = scr_rebuild_create(m->temp.path[i], (mode_t)(mode & 0777) | 0600, &fd);
    m->temp.n = i + 1;
    if (rc == SCR_SUCCESS && scr_os.close(fd) < 0) rc = SCR_ERRNO("cannot close %s", m->temp.path[i]);
  }
  return rc;
}

/* Open the redundancy file of member R: to read, or a new one with its header when it is lost. */
SCR_FN int scr_rebuild_open_red(scr_rebuilder* x, int r)
{
  scr_rebuild_member* m = &x->m[r];
  scr_buf             b = {NULL, 0, 0, 0};
  int                 rc;

  if (!(x->lost[r] & SCR_LOST_RED)) {
    m->fd = scr_os.open(m->file, O_RDONLY, 0);
    return m->fd < 0 ? SCR_ERRNO("cannot open %s", m->file) : SCR_SUCCESS;
  }
  if ((m->temp_file = scr_rebuild_temp(m, m->files.n)) == NULL) return SCR_ERR_OOM();
  rc = scr_rebuild_create(m->temp_file, 0600, &m->fd);
  if (rc == SCR_SUCCESS) rc = scr_rebuild_header(x, r, &b);
  if (rc == SCR_SUCCESS && scr_pwrite_all(m->fd, b.p, b.n, 0) < 0) rc = SCR_ERRNO("cannot write %s", m->temp_file);
  m->head = b.n;
  scr_buf_free(&b);
  return rc;
}

/* Make member R ready to be read, and its lost parts to be written. */
SCR_FN int scr_rebuild_open(scr_rebuilder* x, int r)
{
  scr_rebuild_member* m = &x->m[r];
  int                 write = (x->lost[r] & SCR_LOST_DATA) != 0, plain = x->type == SCR_COPY_PARTNER;
  int                 rc = x->lost[r] ? scr_rebuild_lock(x, r) : SCR_SUCCESS;

  if (rc == SCR_SUCCESS && write) rc = scr_rebuild_temps(m);
  if (rc == SCR_SUCCESS)
    rc = scr_window_open(&m->win, m->files.n, write ? m->temp.path : m->files.path, m->files.size,
                         write ? O_RDWR | O_TRUNC | O_NOFOLLOW : O_RDONLY, 0, plain ? 0 : x->chunk,
                         plain ? 1 : x->n - x->k);
  return rc == SCR_SUCCESS ? scr_rebuild_open_red(x, r) : rc;
}

/* ---- the sums ---- */

/* Sets of many members would run out of descriptors. */
SCR_FN int scr_rebuild_rest(const scr_rebuilder* x, scr_rebuild_member* m, int rc)
{
  int err = x->n > SCR_REBUILD_OPEN ? scr_window_close(&m->win) : SCR_SUCCESS;
  return rc == SCR_SUCCESS ? err : rc;
}

/* The N bytes at OFFSET of the stream of member M into BUF, unless they are padding or a hole: *USED is 0 then. */
SCR_FN int scr_rebuild_read_data(scr_rebuilder* x, scr_rebuild_member* m, uint64_t offset, char* buf, size_t n,
                                 int* used)
{
  const scr_window_seg* s;
  int                   fd, rc = SCR_SUCCESS;

  *used = offset < scr_window_length(&m->win);
  if (!*used) return SCR_SUCCESS;
  s = scr_window_find(&m->win, offset);
  if (s->end - offset >= n && (rc = scr_window_fd(&m->win, s->file, &fd)) == SCR_SUCCESS) {
    uint64_t at = offset - m->win.start[s->file];
    *used = scr_hole_end(fd, at, at + n) < at + n;
  }
  if (rc == SCR_SUCCESS && *used) rc = scr_window_read(&m->win, offset, buf, n, 0);
  return scr_rebuild_rest(x, m, rc);
}

/* The N bytes at OFFSET of what member R holds at position C into BUF, as far as *USED. */
SCR_FN int scr_rebuild_read(scr_rebuilder* x, int r, int c, uint64_t offset, char* buf, size_t n, int* used)
{
  scr_rebuild_member* m = &x->m[r];
  uint64_t            at;
  ssize_t             got;

  if (scr_erasure_symbol(&x->ec, r, c, &at) == SCR_SYMBOL_DATA)
    return scr_rebuild_read_data(x, m, at + offset, buf, n, used);
  at += m->head + offset;
  *used = scr_hole_end(m->fd, at, at + n) < at + n;
  if (!*used) return SCR_SUCCESS;
  got = scr_pread_all(m->fd, buf, n, (off_t)at);
  if (got < 0) return SCR_ERRNO("cannot read %s", m->file);
  if ((size_t)got < n) return SCR_ERR(SCR_ERR_MISSING, "%s is shorter than it was a moment ago", m->file);
  return SCR_SUCCESS;
}

/* Keep the N bytes of BUF at OFFSET of what member R is to hold at position C. */
SCR_FN int scr_rebuild_write(scr_rebuilder* x, int r, int c, uint64_t offset, char* buf, size_t n)
{
  scr_rebuild_member* m = &x->m[r];
  uint64_t            at;

  if (scr_erasure_symbol(&x->ec, r, c, &at) == SCR_SYMBOL_DATA)
    return scr_rebuild_rest(x, m, scr_window_write(&m->win, at + offset, buf, n));
  if (!scr_is_zero(buf, n) && scr_pwrite_all(m->fd, buf, n, (off_t)(m->head + at + offset)) < 0)
    return SCR_ERRNO("cannot write %s", m->temp_file);
  return SCR_SUCCESS;
}

/* Find the N bytes at OFFSET of all that is lost at position C. */
SCR_FN int scr_rebuild_piece(scr_rebuilder* x, int c, uint64_t offset, size_t n)
{
  const int*    target = &x->ec.target[c * x->k];
  char*         sum = x->buf + (size_t)x->n * x->piece;
  unsigned char f;
  uint64_t      at;
  int           r, i, used, rc;

  for (r = 0; r < x->n; r++) {
    x->held[r] = NULL;
    if (scr_erasure_symbol(&x->ec, r, c, &at) == SCR_SYMBOL_NONE || scr_erasure_is_lost(&x->ec, r, c)) continue;
    for (i = 0, used = 0; i < x->k && !used; i++) used = scr_erasure_factor(&x->ec, c, i, r, &f);
    if (!used) continue;
    rc = scr_rebuild_read(x, r, c, offset, x->buf + (size_t)r * x->piece, n, &used);
    if (rc != SCR_SUCCESS) return rc;
    if (used) x->held[r] = x->buf + (size_t)r * x->piece;
  }
  for (i = 0; i < x->k && target[i] >= 0; i++) {
    int k = 0;
    for (r = 0; r < x->n; r++) {
      if (x->held[r] == NULL || !scr_erasure_factor(&x->ec, c, i, r, &f)) continue;
      x->src[k] = x->held[r];
      x->coef[k++] = f;
    }
    scr_gf_sum(sum, x->src, x->coef, k, n);
    if ((rc = scr_rebuild_write(x, target[i], c, offset, sum, n)) != SCR_SUCCESS) return rc;
  }
  return SCR_SUCCESS;
}

/*
** Find all that is lost: position after position, each from its begin to its end, so that the files are read and
** written in order, and the windows know the CRC32 of each at the end.
*/
SCR_FN int scr_rebuild_sums(scr_rebuilder* x)
{
  int c, rc = SCR_SUCCESS;

  x->piece = SCR_REBUILD_BYTES / (size_t)(x->n + 1) & ~(size_t)63;
  if (x->piece > SCR_REBUILD_PIECE) x->piece = SCR_REBUILD_PIECE;
  x->buf = (char*)scr_malloc((size_t)(x->n + 1) * x->piece);
  x->held = (const char**)scr_malloc((size_t)x->n * sizeof *x->held);
  x->src = (const void**)scr_malloc((size_t)x->n * sizeof *x->src);
  x->coef = (unsigned char*)scr_malloc((size_t)x->n);
  if (x->buf == NULL || x->held == NULL || x->src == NULL || x->coef == NULL) return SCR_ERR_OOM();
  for (c = 0; c < x->n && rc == SCR_SUCCESS; c++) {
    uint64_t offset, length = scr_erasure_length(&x->ec, c);
    if (x->ec.target[c * x->k] < 0) continue;
    for (offset = 0; offset < length && rc == SCR_SUCCESS; offset += x->piece)
      rc = scr_rebuild_piece(x, c, offset, length - offset < x->piece ? (size_t)(length - offset) : x->piece);
  }
  return rc;
}

/* ---- the end ---- */

/* Give the file of FD its SIZE, and see it to the disk. */
SCR_FN int scr_rebuild_finish(int fd, uint64_t size, const char* path)
{
  if (scr_os.ftruncate(fd, (off_t)size) < 0) return SCR_ERRNO("cannot give %s its size", path);
  if (scr_fsync_enabled && scr_os.fsync(fd) < 0) return SCR_ERRNO("cannot sync %s", path);
  return SCR_SUCCESS;
}

/* What was rebuilt of member R is whole, and its files have their recorded CRC32. */
SCR_FN int scr_rebuild_verify(scr_rebuilder* x, int r)
{
  scr_rebuild_member* m = &x->m[r];
  uLong               crc = 0, want;
  int                 i, fd, rc = SCR_SUCCESS;

  for (i = 0; i < m->temp.n && rc == SCR_SUCCESS; i++) {
    rc = scr_window_fd(&m->win, i, &fd);
    if (rc == SCR_SUCCESS) rc = scr_rebuild_finish(fd, m->temp.size[i], m->temp.path[i]);
    if (rc == SCR_SUCCESS) rc = scr_window_crc(&m->win, i, &crc);
    if (rc == SCR_SUCCESS && scr_meta_get_crc32(scr_hash_get_kv_int(m->current, "FILE", i), &want) != SCR_SUCCESS) {
      x->job->unproven += m->bad[i];
      continue;
    }
    if (rc == SCR_SUCCESS && crc != want)
      rc = SCR_ERR(
          SCR_ERR_CRC,
          "%s was rebuilt with the checksum 0x%08lx instead of 0x%08lx, and is dropped; a redundancy file of its "
          "set, or a file without a checksum, is corrupt",
          m->files.path[i], crc, want);
  }
  if (rc == SCR_SUCCESS) rc = scr_window_close(&m->win);
  if (rc != SCR_SUCCESS || m->temp_file == NULL) return rc;
  rc = scr_rebuild_finish(m->fd, m->head + scr_rebuild_part(x, r) * (uint64_t)x->k, m->temp_file);
  if (scr_os.close(m->fd) < 0 && rc == SCR_SUCCESS) rc = SCR_ERRNO("cannot close %s", m->temp_file);
  m->fd = -1;
  return rc;
}

/* Give the rebuilt file *TEMP its name. */
SCR_FN int scr_rebuild_rename(scr_rebuild* job, char** temp, const char* path)
{
  char dir[SCR_MAX_FILENAME], text[SCR_MAX_FILENAME + 16];
  int  rc = scr_path_dir_of(path, dir, sizeof dir);

  if (rc == SCR_SUCCESS) rc = scr_mkdirs(dir, 0777);
  if (rc == SCR_SUCCESS && scr_os.rename(*temp, path) < 0) rc = SCR_ERRNO("cannot rename %s to %s", *temp, path);
  if (rc != SCR_SUCCESS) return rc;
  scr_free(temp);
  snprintf(text, sizeof text, "rebuilt %s", path);
  if (job->say != NULL) job->say(text);
  return scr_dir_sync(path);
}

/* What was lost of member R takes its place; what was not stays. */
SCR_FN int scr_rebuild_place(scr_rebuilder* x, int r)
{
  scr_rebuild_member* m = &x->m[r];
  int                 i, rc = SCR_SUCCESS;

  for (i = 0; i < m->temp.n; i++) /* first: after a crash nobody would look for these */
    if (!m->bad[i]) scr_os.unlink(m->temp.path[i]);
  for (i = 0; i < m->temp.n && rc == SCR_SUCCESS; i++)
    if (m->bad[i]) rc = scr_rebuild_rename(x->job, &m->temp.path[i], m->files.path[i]);
  if (rc == SCR_SUCCESS && m->temp_file != NULL) rc = scr_rebuild_rename(x->job, &m->temp_file, m->file);
  return rc;
}

/* Close and free; temporary files go. */
SCR_FN void scr_rebuild_end_member(scr_rebuild_member* m)
{
  int i;

  if (m->fd >= 0) scr_os.close(m->fd);
  scr_window_free(&m->win);
  for (i = 0; i < m->temp.n; i++)
    if (m->temp.path[i] != NULL) scr_os.unlink(m->temp.path[i]);
  if (m->temp_file != NULL) scr_os.unlink(m->temp_file);
  scr_file_list_free(&m->temp);
  scr_file_list_free(&m->files);
  scr_hash_delete(&m->header);
  scr_free(&m->bad);
  scr_free(&m->file);
  scr_free(&m->temp_file);
}

SCR_FN void scr_rebuild_end(scr_rebuilder* x)
{
  int r;

  for (r = 0; x->m != NULL && r < x->n; r++) scr_rebuild_end_member(&x->m[r]);
  for (r = 0; x->m != NULL && r < x->n; r++) /* only now is nothing of this one left there */
    if (x->m[r].lock >= 0) scr_os.close(x->m[r].lock);
  scr_free(&x->m);
  scr_free(&x->lost);
  scr_free(&x->total);
  scr_free(&x->buf);
  scr_free(&x->held);
  scr_free(&x->src);
  scr_free(&x->coef);
  scr_erasure_free(&x->ec);
}

SCR_FN int scr_rebuild_begin(scr_rebuilder* x, scr_rebuild* job)
{
  int r;

  memset(x, 0, sizeof *x);
  x->job = job;
  x->n = job->n;
  job->lost = job->unproven = 0;
  if (x->n < 2 || x->n > SCR_SET_SIZE_MAX)
    return SCR_ERR(SCR_ERR_ARG, "a set has 2 to %d members, not %d", SCR_SET_SIZE_MAX, x->n);
  x->m = (scr_rebuild_member*)scr_malloc((size_t)x->n * sizeof *x->m);
  x->lost = (int64_t*)scr_malloc((size_t)x->n * sizeof *x->lost);
  x->total = (int64_t*)scr_malloc((size_t)x->n * sizeof *x->total);
  if (x->m == NULL || x->lost == NULL || x->total == NULL) return SCR_ERR_OOM();
  for (r = 0; r < x->n; r++) x->m[r].fd = x->m[r].lock = -1;
  return SCR_SUCCESS;
}

/* Rebuild the set of JOB as scr_rebuild_run does, without use of the redundancy file of member DOUBTED, or -1. */
SCR_FN int scr_rebuild_try(scr_rebuild* job, int doubted)
{
  scr_rebuilder x;
  int           r, rc = scr_rebuild_begin(&x, job);

  if (rc == SCR_SUCCESS) rc = scr_rebuild_load(&x);
  if (rc == SCR_SUCCESS) rc = scr_rebuild_scheme(&x);
  if (rc == SCR_SUCCESS) rc = scr_rebuild_describe(&x);
  if (rc == SCR_SUCCESS) rc = scr_rebuild_expect_all(&x);
  for (r = 0; r < job->n && rc == SCR_SUCCESS; r++) rc = scr_rebuild_inspect(&x, r);
  if (rc == SCR_SUCCESS && doubted >= 0) {
    if (x.lost[doubted] & SCR_LOST_RED) rc = SCR_ERR(SCR_ERR_LOST, "%s is lost already", x.m[doubted].file);
    x.lost[doubted] |= SCR_LOST_RED;
    job->lost++;
  }
  if (rc == SCR_SUCCESS) rc = scr_erasure_make(&x.ec, x.type, x.n, x.k, x.lost, x.total);
  if (rc == SCR_SUCCESS && job->lost > 0 && !job->dry_run) {
    for (r = 0; r < job->n && rc == SCR_SUCCESS; r++) rc = scr_rebuild_open(&x, r);
    if (rc == SCR_SUCCESS) rc = scr_rebuild_sums(&x);
    for (r = 0; r < job->n && rc == SCR_SUCCESS; r++) rc = scr_rebuild_verify(&x, r);
    for (r = 0; r < job->n && rc == SCR_SUCCESS; r++) rc = scr_rebuild_place(&x, r);
  }
  scr_rebuild_end(&x);
  return rc;
}

/*
** Rebuild what is lost of the set of JOB, application's and redundancy files, from what is left.  One process,
** some MiB of memory, files of any size.  job->lost counts what was lost.
**
** A file is lost when it is missing, has not its size, or not its CRC32 where that is recorded; a redundancy file, when
** it has not its size or no sound header.  SCR_ERR_LOST when too much is, SCR_ERR_FORMAT when the headers contradict each
** other, SCR_ERR_CRC when what is rebuilt is not what it was: then each redundancy file in turn is taken for corrupt, as
** long as the scheme can spare it.  All is rebuilt beside its place, and put there only when it has its CRC32; what is
** not lost stays as it is.  After an error or a crash a second call takes up what was not finished.
*/
SCR_FN int scr_rebuild_run(scr_rebuild* job)
{
  scr_err_record first;
  int            r, again, rc = scr_rebuild_try(job, -1);
  void (*say)(const char* what) = job->say;

  if (rc != SCR_ERR_CRC) return rc;
  scr_err_save(&first);
  job->say = NULL; /* it has heard what is lost */
  for (r = 0; r < job->n; r++) {
    again = scr_rebuild_try(job, r);
    if (again == SCR_SUCCESS) {
      SCR_ERR(SCR_ERR_CRC, "%s was corrupt, and is rebuilt", job->file[r]);
      job->say = say;
      job->lost--;
      scr_rebuild_note(job);
      return SCR_SUCCESS;
    }
    if (again != SCR_ERR_CRC && again != SCR_ERR_LOST) break;
  }
  job->say = say;
  scr_err_restore(&first);
  return rc;
}

/* ---- the sets of a dataset ---- */

/* 1 when NAME is that of a redundancy file; its SCHEME, member R, N, GROUP. */
SCR_FN int scr_set_file_parse(const char* name, scr_copy* type, int* r, int* n, int* group)
{
  char again[96];
  int  t;

  if (sscanf(name, "%9d_of_%9d_in_%9d.", r, n, group) != 3 || *r < 1 || *r > *n || *n > SCR_SET_SIZE_MAX) return 0;
  *r -= 1;
  for (t = SCR_COPY_PARTNER; t <= SCR_COPY_RS; t++) {
    *type = (scr_copy)t;
    if (strcmp(scr_set_file_name(*type, *r, *n, *group, again, sizeof again), name) == 0) return 1;
  }
  return 0;
}

/* The redundancy file PATH must be of the dataset of FIRST, or makes it; one without a sound header tells nothing. */
SCR_FN int scr_rebuild_one_dataset(const char* path, scr_hash* first)
{
  scr_hash* h = scr_hash_new();
  uint64_t  head;
  int       rc = scr_hash_file_read_head(path, h, &head);

  if (rc == SCR_SUCCESS && scr_hash_get(first, "DSET") == NULL) {
    scr_hash_util_set_str(first, "FILE", path);
    rc = scr_hash_set_copy(first, "DSET", scr_hash_get(h, "DSET"));
  } else if (rc == SCR_SUCCESS && !scr_dataset_same(scr_hash_get(first, "DSET"), scr_hash_get(h, "DSET"))) {
    rc = SCR_ERR(SCR_ERR_ARG, "%s and %s are of different datasets; nothing was changed: move away the wrong one",
                 scr_hash_elem_get_first_val(first, "FILE"), path);
  }
  scr_hash_delete(&h);
  return scr_rebuild_is_loss(rc) ? SCR_SUCCESS : rc;
}

/*
** Enter the sets that have redundancy files in the dataset directory DIR into SETS, under what the names of their files
** have in common.  All must be of one dataset, which FIRST remembers from call to call.  A directory without any is no
** error.
*/
SCR_FN int scr_rebuild_find(const char* dir, scr_hash* sets, scr_hash* first)
{
  char           path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME];
  struct dirent* e;
  scr_copy       type;
  DIR*           d;
  int            r, n, group, rc = scr_fmt(path, sizeof path, "%s/.scr", dir);

  if (rc != SCR_SUCCESS) return rc;
  d = opendir(path);
  if (d == NULL && errno == ENOENT) return SCR_SUCCESS;
  if (d == NULL) return SCR_ERRNO("cannot open the directory %s", path);
  for (errno = 0; rc == SCR_SUCCESS && (e = readdir(d)) != NULL; errno = 0) {
    if (!scr_set_file_parse(e->d_name, &type, &r, &n, &group)) continue;
    if ((rc = scr_fmt(file, sizeof file, "%s/%s", path, e->d_name)) == SCR_SUCCESS)
      rc = scr_rebuild_one_dataset(file, first);
    if (scr_hash_get(sets, strchr(e->d_name, '_') + 1) == NULL)
      scr_hash_set(sets, strchr(e->d_name, '_') + 1, scr_hash_new());
  }
  if (rc == SCR_SUCCESS && errno != 0) rc = SCR_ERRNO("cannot read the directory %s", path);
  closedir(d);
  return rc != SCR_SUCCESS ? rc : scr_oom ? SCR_ERR_OOM() : SCR_SUCCESS;
}

/*
** Rebuild the set SET, a key of scr_rebuild_find, over the directories of JOB: the first that has the redundancy file of
** a member is the home of that member.  Others are rebuilt where their files lie, and those of which nothing is left, in
** INTO.  Sets n and file of JOB for the call.  Local; otherwise as scr_rebuild_run.
*/
SCR_FN int scr_rebuild_set(scr_rebuild* job, const char* set, const char* into)
{
  uint64_t size;
  char     path[SCR_MAX_FILENAME];
  int      r, i, rc = SCR_SUCCESS;

  job->lost = job->n = 0;
  if (sscanf(set, "of_%9d", &job->n) != 1 || job->n < 2 || job->n > SCR_SET_SIZE_MAX)
    return SCR_ERR(SCR_ERR_ARG, "%s is not the name of a set", set);
  job->file = (char**)scr_malloc((size_t)job->n * sizeof *job->file);
  if (job->file == NULL) return SCR_ERR_OOM();
  for (r = 0; r < job->n && rc == SCR_SUCCESS; r++) {
    for (i = 0; i < job->dirs; i++) {
      rc = scr_fmt(path, sizeof path, "%s/.scr/%d_%s", job->dir[i], r + 1, set);
      if (rc != SCR_SUCCESS || scr_file_size(path, &size) == SCR_SUCCESS) break;
    }
    if (rc == SCR_SUCCESS && i == job->dirs) rc = scr_fmt(path, sizeof path, "%s/.scr/%d_%s", into, r + 1, set);
    if (rc == SCR_SUCCESS && (job->file[r] = scr_strdup(path)) == NULL) rc = SCR_ERR_OOM();
  }
  if (rc == SCR_SUCCESS) rc = scr_rebuild_run(job);
  for (r = 0; r < job->n; r++) scr_free(&job->file[r]);
  scr_free(&job->file);
  return rc;
}

#ifndef SCR_SERIAL /* the only fence: everything above builds without MPI */

/* ==== 14 MPI HELPERS ====================================================================================
** Waits that yield, agreement, hashes between ranks, sorting of strings over ranks, and flow control.
**
** Uses       errors, memory, hash.
** Offers     scr_wait, scr_waitall, scr_barrier, scr_allreduce, scr_bcast, scr_vote, scr_agree, scr_hash_send, _recv,
**            _sendrecv, _bcast, _exchange, _exchange_direction, scr_scan, scr_rank_str, scr_flow.
** Invariants
**   N1  Every wait goes through scr_wait or its loop over a probe, which yield the processor when nothing moves.
**   N2  No rank holds memory in proportion to the number of ranks.
**   N3  Every collective returns the same code on every rank, unless MPI itself failed.
** Failure    SCR_ERR_MPI; the communicator's error handler is MPI_ERRORS_RETURN.
** ====================================================================================================== */

enum {
  SCR_TAG_HASH = 1,
  SCR_TAG_EXCHANGE,
  SCR_TAG_EXCHANGE_ODD,
  SCR_TAG_SCAN,
  SCR_TAG_SORT,
  SCR_TAG_RANK,
  SCR_TAG_GROUP,
  SCR_TAG_FLOW,
  SCR_TAG_DATA
};

/* Note one more turn of a wait in which nothing moved. */
SCR_FN void scr_wait_idle(int* turns)
{
  if (++*turns >= SCR_WAIT_SPINS) sched_yield();
}

/* *DONE is 1 when all N requests are complete; those become MPI_REQUEST_NULL. */
SCR_FN int scr_testall(int n, MPI_Request* reqs, int* done)
{
  int i, one;

  *done = 1;
  for (i = 0; i < n; i++) {
    if (reqs[i] == MPI_REQUEST_NULL) continue;
    if (MPI_Test(&reqs[i], &one, MPI_STATUS_IGNORE) != MPI_SUCCESS)
      return SCR_ERR(SCR_ERR_MPI, "a message between the ranks failed");
    if (!one) *done = 0;
  }
  return SCR_SUCCESS;
}

/* Wait for N requests; each becomes MPI_REQUEST_NULL. */
SCR_FN int scr_waitall(int n, MPI_Request* reqs)
{
  int done = 0, turns = 0, rc;

  for (;;) {
    if ((rc = scr_testall(n, reqs, &done)) != SCR_SUCCESS || done) return rc;
    scr_wait_idle(&turns);
  }
}

SCR_FN int scr_wait(MPI_Request* req)
{
  return scr_waitall(1, req);
}

SCR_FN int scr_barrier(MPI_Comm comm)
{
  MPI_Request req;
  if (MPI_Ibarrier(comm, &req) != MPI_SUCCESS) return SCR_ERR(SCR_ERR_MPI, "the barrier failed");
  return scr_wait(&req);
}

SCR_FN int scr_allreduce(const void* in, void* out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
  MPI_Request req;
  if (MPI_Iallreduce(in, out, n, type, op, comm, &req) != MPI_SUCCESS)
    return SCR_ERR(SCR_ERR_MPI, "the reduction failed");
  return scr_wait(&req);
}

SCR_FN int scr_bcast(void* buf, int n, MPI_Datatype type, int root, MPI_Comm comm)
{
  MPI_Request req;
  if (MPI_Ibcast(buf, n, type, root, comm, &req) != MPI_SUCCESS) return SCR_ERR(SCR_ERR_MPI, "the broadcast failed");
  return scr_wait(&req);
}

/* ---- agreement: one reduction carries an error and a few maxima and sums ---- */

typedef struct {
  int64_t error;  /* 0, or larger for lower ranks, with the code in the low 16 bits */
  int64_t key[3]; /* the greatest in lexicographic order */
  int64_t max[4]; /* a minimum is the maximum of the negative */
  int64_t sum[4];
} scr_vote;

#define SCR_VOTE_WORDS 12

static MPI_Datatype scr_vote_type = MPI_DATATYPE_NULL;
static MPI_Op       scr_vote_op = MPI_OP_NULL;
static int          scr_exchange_odd = 0; /* which of the two tags the next exchange takes */

/* -1, 0 or 1 as key A stands to key B. */
SCR_FN int scr_key_cmp(const int64_t* a, const int64_t* b)
{
  int k;
  for (k = 0; k < 3; k++)
    if (a[k] != b[k]) return a[k] < b[k] ? -1 : 1;
  return 0;
}

static void scr_vote_reduce(void* in, void* inout, int* n, MPI_Datatype* type)
{
  int i, k;

  (void)type;
  for (i = 0; i < *n; i++) {
    const scr_vote* a = (const scr_vote*)in + i;
    scr_vote*       b = (scr_vote*)inout + i;
    if (a->error > b->error) b->error = a->error;
    if (scr_key_cmp(a->key, b->key) > 0) memcpy(b->key, a->key, sizeof b->key);
    for (k = 0; k < 4; k++) {
      if (a->max[k] > b->max[k]) b->max[k] = a->max[k];
      b->sum[k] += a->sum[k];
    }
  }
}

/* Create the type and the operation of votes; scr_vote_stop frees them. */
SCR_FN int scr_vote_start(void)
{
  if (scr_vote_op != MPI_OP_NULL) return SCR_SUCCESS;
  scr_exchange_odd = 0; /* alike on all ranks of a new world, whatever each did before */
  if (MPI_Type_contiguous(SCR_VOTE_WORDS, MPI_INT64_T, &scr_vote_type) != MPI_SUCCESS ||
      MPI_Type_commit(&scr_vote_type) != MPI_SUCCESS || MPI_Op_create(scr_vote_reduce, 1, &scr_vote_op) != MPI_SUCCESS)
    return SCR_ERR(SCR_ERR_MPI, "cannot create an MPI datatype or operation");
  return SCR_SUCCESS;
}

SCR_FN void scr_vote_stop(void)
{
  if (scr_vote_op != MPI_OP_NULL) MPI_Op_free(&scr_vote_op);
  if (scr_vote_type != MPI_DATATYPE_NULL) MPI_Type_free(&scr_vote_type);
}

/*
** Combine the votes of all ranks: V holds the maxima and sums on return, and the code is that of the lowest rank that
** brought an RC other than SCR_SUCCESS, one that failed itself before one that heard of it; every rank then has its
** message.  Collective over COMM.
*/
SCR_FN int scr_vote_all(scr_vote* v, int rc, MPI_Comm comm)
{
  scr_vote       in = *v;
  scr_err_record first;
  int            rank, size, err, worst, origin;
  int64_t        first_hand = (int64_t)1 << 48;

  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  if (rc == SCR_SUCCESS && scr_oom) rc = SCR_ERR_OOM();
  in.error = rc == SCR_SUCCESS ? 0 : ((scr_err_secondhand ? 0 : first_hand) | (int64_t)(size - rank) << 16 | rc);
  if ((err = scr_allreduce(&in, v, 1, scr_vote_type, scr_vote_op, comm)) != SCR_SUCCESS) return err;
  if (v->error == 0) return SCR_SUCCESS;
  worst = (int)(v->error & 0xffff);
  origin = size - (int)(v->error % first_hand >> 16);
  memset(&first, 0, sizeof first);
  if (rank == origin) scr_err_save(&first);
  if ((err = scr_bcast(&first, (int)sizeof first, MPI_BYTE, origin, comm)) != SCR_SUCCESS) return err;
  if (rank == origin) return worst;
  if (first.named) scr_err_restore(&first);
  else scr_err_length = first.length + snprintf(scr_err_text, sizeof scr_err_text, "rank %d: ", origin);
  if (!first.named) snprintf(scr_err_text + scr_err_length - first.length, sizeof scr_err_text - 32, "%s", first.text);
  scr_err_named = scr_err_secondhand = 1;
  return worst;
}

/* The code of the lowest rank that brought an error, on every rank.  Collective over COMM. */
SCR_FN int scr_agree(int rc, MPI_Comm comm)
{
  scr_vote v;
  memset(&v, 0, sizeof v);
  return scr_vote_all(&v, rc, comm);
}

/* ---- hashes between ranks ---- */

/* Pack H for a message.  The caller frees B. */
SCR_FN int scr_hash_to_buf(const scr_hash* h, scr_buf* b)
{
  size_t n = scr_hash_pack_size(h);

  if (n > INT_MAX) return SCR_ERR(SCR_ERR_ARG, "a message of %zu bytes between ranks is too large", n);
  scr_buf_add(b, NULL, n);
  if (b->failed || scr_oom) return SCR_ERR_OOM();
  scr_hash_pack(b->p, h);
  return SCR_SUCCESS;
}

SCR_FN int scr_hash_from_buf(const scr_buf* b, scr_hash* h)
{
  size_t used;
  return scr_hash_unpack(b->p, b->n, &used, h);
}

/* Take the message that a probe found into B. */
SCR_FN int scr_message_take(MPI_Message* msg, MPI_Status* status, scr_buf* b)
{
  MPI_Request req;
  void*       drop;
  int         n = 0;

  MPI_Get_count(status, MPI_BYTE, &n);
  scr_buf_add(b, NULL, (size_t)n);
  if (b->failed) { /* the sender waits for its end, so it is taken all the same; cut off, MPICH would end the program */
    drop = n > 0 ? mmap(NULL, (size_t)n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) : MAP_FAILED;
    if (MPI_Imrecv(drop != MAP_FAILED ? drop : NULL, drop != MAP_FAILED ? n : 0, MPI_BYTE, msg, &req) == MPI_SUCCESS)
      scr_wait(&req);
    if (drop != MAP_FAILED) munmap(drop, (size_t)n);
    return SCR_ERR_OOM();
  }
  if (MPI_Imrecv(b->p, n, MPI_BYTE, msg, &req) != MPI_SUCCESS) return SCR_ERR(SCR_ERR_MPI, "cannot receive a message");
  return scr_wait(&req);
}

/* Wait for a message and take it.  SOURCE may be MPI_ANY_SOURCE; *FROM, when not NULL, tells who sent it. */
SCR_FN int scr_message_recv(int source, int tag, MPI_Comm comm, scr_buf* b, int* from)
{
  MPI_Message msg;
  MPI_Status  status;
  int         found = 0, turns = 0;

  while (!found) {
    if (MPI_Improbe(source, tag, comm, &found, &msg, &status) != MPI_SUCCESS)
      return SCR_ERR(SCR_ERR_MPI, "cannot probe for a message");
    if (!found) scr_wait_idle(&turns);
  }
  if (from != NULL) *from = status.MPI_SOURCE;
  return scr_message_take(&msg, &status, b);
}

/*
** Send SEND to rank DEST and merge what rank SOURCE sends into RECV; either rank may be MPI_PROC_NULL.
** Collective over the two partners.
*/
SCR_FN int scr_hash_sendrecv(const scr_hash* send, int dest, scr_hash* recv, int source, MPI_Comm comm)
{
  scr_buf     out = {NULL, 0, 0, 0}, in = {NULL, 0, 0, 0};
  MPI_Request req = MPI_REQUEST_NULL;
  int         err, rc = SCR_SUCCESS;

  if (dest != MPI_PROC_NULL) {
    rc = scr_hash_to_buf(send, &out);
    if (MPI_Isend(out.p, rc == SCR_SUCCESS ? (int)out.n : 0, MPI_BYTE, dest, SCR_TAG_HASH, comm, &req) != MPI_SUCCESS)
      rc = SCR_ERR(SCR_ERR_MPI, "cannot send a message to rank %d", dest);
  }
  if (source != MPI_PROC_NULL) {
    err = scr_message_recv(source, SCR_TAG_HASH, comm, &in, NULL);
    if (err == SCR_SUCCESS) err = scr_hash_from_buf(&in, recv);
    if (rc == SCR_SUCCESS) rc = err;
  }
  err = scr_wait(&req);
  scr_buf_free(&out);
  scr_buf_free(&in);
  return rc != SCR_SUCCESS ? rc : err;
}

SCR_FN int scr_hash_send(const scr_hash* h, int rank, MPI_Comm comm)
{
  return scr_hash_sendrecv(h, rank, NULL, MPI_PROC_NULL, comm);
}

SCR_FN int scr_hash_recv(scr_hash* h, int rank, MPI_Comm comm)
{
  return scr_hash_sendrecv(NULL, MPI_PROC_NULL, h, rank, comm);
}

/* Give the hash H of ROOT to every rank, which merges it into its own H.  Collective over COMM. */
SCR_FN int scr_hash_bcast(scr_hash* h, int root, MPI_Comm comm)
{
  scr_buf b = {NULL, 0, 0, 0};
  int     rank, err, n, rc = SCR_SUCCESS;

  MPI_Comm_rank(comm, &rank);
  if (rank == root) rc = scr_hash_to_buf(h, &b);
  n = rc == SCR_SUCCESS ? (int)b.n : -1; /* -1 tells the others that the root failed */
  if ((err = scr_bcast(&n, 1, MPI_INT, root, comm)) != SCR_SUCCESS) rc = err;
  if (rank != root && n < 0) rc = SCR_ERR(SCR_ERR_MEM, "rank %d could not pack a message", root);
  if (err == SCR_SUCCESS && n >= 0) {
    if (rank != root) scr_buf_add(&b, NULL, (size_t)n);
    if (b.failed) rc = SCR_ERR_OOM();
    else rc = scr_bcast(b.p, n, MPI_BYTE, root, comm);
    if (rc == SCR_SUCCESS && rank != root) rc = scr_hash_from_buf(&b, h);
  }
  scr_buf_free(&b);
  return rc;
}

enum { SCR_HASH_EXCHANGE_RIGHT, SCR_HASH_EXCHANGE_LEFT };

/*
** SEND holds <rank> -> hash; RECV, empty before, holds <rank> -> hash of each sender afterwards.  DIRECTION says on
** which side most partners are: messages to near ranks on that side leave first.  Collective over COMM.
**
** Sparse, with no memory in the number of ranks: synchronous sends, and a nonblocking barrier that a rank enters when
** all its sends have been received (Hoefler, Siebert, Lumsdaine: Scalable Communication Protocols for Dynamic Sparse
** Data Exchange, PPoPP 2010).  Two tags take turns, because a fast rank may begin the next exchange while a slow one
** has not yet seen the end of this; it cannot be two ahead.
*/
SCR_FN int scr_hash_exchange_direction(const scr_hash* send, scr_hash* recv, MPI_Comm comm, int direction)
{
  int            tag = scr_exchange_odd ? SCR_TAG_EXCHANGE_ODD : SCR_TAG_EXCHANGE;
  int            n = scr_hash_size(send), i = 0, rc = SCR_SUCCESS, turns = 0, sent = 0, over = 0, rank, size;
  scr_buf*       out = (scr_buf*)scr_malloc((size_t)n * sizeof *out);
  MPI_Request*   reqs = (MPI_Request*)scr_malloc((size_t)n * sizeof *reqs);
  MPI_Request    barrier = MPI_REQUEST_NULL;
  scr_hash*      order = scr_hash_new();
  scr_hash_elem* e;

  scr_exchange_odd = !scr_exchange_odd;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  if (out == NULL || reqs == NULL || order == NULL) {
    rc = SCR_ERR_OOM();
    n = 0;
  }
  for (e = n ? scr_hash_elem_first(send) : NULL; e != NULL; e = scr_hash_elem_next(e)) {
    int to = atoi(scr_hash_elem_key(e));
    int far = direction == SCR_HASH_EXCHANGE_RIGHT ? (to - rank + size) % size : (rank - to + size) % size;
    scr_hash_set_kv_int(order, "FAR", far);
  }
  scr_hash_sort_int(scr_hash_get(order, "FAR"), SCR_HASH_SORT_ASCENDING);
  for (e = scr_hash_elem_first(scr_hash_get(order, "FAR")); e != NULL; e = scr_hash_elem_next(e), i++) {
    int far = atoi(scr_hash_elem_key(e));
    int to = direction == SCR_HASH_EXCHANGE_RIGHT ? (rank + far) % size : (rank - far + size) % size;
    int err = scr_hash_to_buf(scr_hash_getf(send, "%d", to), &out[i]);
    if (rc == SCR_SUCCESS) rc = err;
    if (MPI_Issend(out[i].p, err == SCR_SUCCESS ? (int)out[i].n : 0, MPI_BYTE, to, tag, comm, &reqs[i]) != MPI_SUCCESS)
      rc = SCR_ERR(SCR_ERR_MPI, "cannot send a message to rank %d", to);
  }
  n = i;
  while (!over) {
    MPI_Message msg;
    MPI_Status  status;
    int         found = 0;
    if (MPI_Improbe(MPI_ANY_SOURCE, tag, comm, &found, &msg, &status) != MPI_SUCCESS) {
      rc = SCR_ERR(SCR_ERR_MPI, "cannot probe for messages");
      break;
    }
    if (found) {
      scr_buf in = {NULL, 0, 0, 0};
      int     err = scr_message_take(&msg, &status, &in);
      if (err == SCR_SUCCESS) err = scr_hash_from_buf(&in, scr_hash_set_kv_int(order, "IN", status.MPI_SOURCE));
      if (rc == SCR_SUCCESS) rc = err;
      scr_buf_free(&in);
      turns = 0;
    } else {
      scr_wait_idle(&turns);
    }
    if (!sent) {
      if (scr_testall(n, reqs, &sent) != SCR_SUCCESS) {
        rc = SCR_ERR_MPI;
        break;
      }
      if (sent && MPI_Ibarrier(comm, &barrier) != MPI_SUCCESS) {
        rc = SCR_ERR(SCR_ERR_MPI, "the barrier failed");
        break;
      }
    } else {
      MPI_Test(&barrier, &over, MPI_STATUS_IGNORE);
    }
  }
  scr_hash_sort_int(scr_hash_get(order, "IN"), SCR_HASH_SORT_ASCENDING);
  scr_hash_merge(recv, scr_hash_get(order, "IN"));
  for (i = 0; out != NULL && i < n; i++) scr_buf_free(&out[i]);
  scr_hash_delete(&order);
  scr_free(&out);
  scr_free(&reqs);
  return rc;
}

SCR_FN int scr_hash_exchange(const scr_hash* send, scr_hash* recv, MPI_Comm comm)
{
  return scr_hash_exchange_direction(send, recv, comm, SCR_HASH_EXCHANGE_RIGHT);
}

/* ---- strings over ranks ---- */

enum { SCR_SCAN_UP = 1, SCR_SCAN_DOWN = -1 };

/*
** Inclusive prefix over ranks 0..me (UP) or size-1..me (DOWN) of SUM[0] as a sum and MAX[0] as a maximum, in place.
** log2(size) messages.  Collective over COMM.  (Hillis, Steele: Data Parallel Algorithms, CACM 1986.)
*/
SCR_FN int scr_scan(scr_vote* v, int direction, MPI_Comm comm)
{
  int rank, size, d, rc = SCR_SUCCESS;

  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  for (d = 1; d < size; d *= 2) {
    scr_vote    in;
    int         to = rank + direction * d, from = rank - direction * d, err;
    MPI_Request reqs[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};

    memset(&in, 0, sizeof in);
    if (from >= 0 && from < size) MPI_Irecv(&in, 1, scr_vote_type, from, SCR_TAG_SCAN, comm, &reqs[0]);
    if (to >= 0 && to < size) MPI_Isend(v, 1, scr_vote_type, to, SCR_TAG_SCAN, comm, &reqs[1]);
    if ((err = scr_waitall(2, reqs)) != SCR_SUCCESS) rc = err;
    else if (from >= 0 && from < size) {
      int k;
      for (k = 0; k < 4; k++) {
        v->sum[k] += in.sum[k];
        if (in.max[k] > v->max[k]) v->max[k] = in.max[k];
      }
    }
  }
  return rc;
}

/* The first rank above this one whose FLAG is not 0, or the number of ranks.  Collective over COMM. */
SCR_FN int scr_scan_next(int flag, int* next, MPI_Comm comm)
{
  scr_vote    v;
  MPI_Request reqs[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  int         rank, size, here, rc, err;

  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  memset(&v, 0, sizeof v);
  v.max[0] = flag ? -(int64_t)rank : -(int64_t)size;
  rc = scr_scan(&v, SCR_SCAN_DOWN, comm);
  here = (int)-v.max[0];
  *next = size;
  if (rank < size - 1) MPI_Irecv(next, 1, MPI_INT, rank + 1, SCR_TAG_SORT, comm, &reqs[0]);
  if (rank > 0) MPI_Isend(&here, 1, MPI_INT, rank - 1, SCR_TAG_SORT, comm, &reqs[1]);
  err = scr_waitall(2, reqs);
  return rc != SCR_SUCCESS ? rc : err;
}

/* A string on its way through the sort: the rank it belongs to, then its bytes with the NUL. */
typedef struct {
  int  rank;
  char text[4];
} scr_rank_item;

#define SCR_RANK_SHORT 512 /* bytes of an item that needs no allocation */

SCR_FN int scr_rank_cmp(const scr_rank_item* a, const scr_rank_item* b)
{
  int c = strcmp(a->text, b->text);
  return c != 0 ? c : (a->rank > b->rank) - (a->rank < b->rank);
}

/*
** Sort one item a rank over COMM, smallest on rank 0: Batcher's odd-even merge sort, log2(size)^2 / 2 exchanges, which
** needs no power of two because every comparison puts the smaller item on the lower rank.  OTHER is a second buffer of
** BYTES; returns the one of the two that holds this rank's item.
*/
SCR_FN int scr_rank_sort(scr_rank_item** item, scr_rank_item** other, int bytes, MPI_Comm comm)
{
  int rank, size, p, k, rc = SCR_SUCCESS;

  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  for (p = 1; p < size; p *= 2)
    for (k = p; k >= 1; k /= 2) {
      int         low = -1, at = rank - k % p, err;
      MPI_Request reqs[2];

      /* rank is the low end of a comparison with rank + k, or the high end of one with rank - k, or neither */
      if (at >= 0 && at % (2 * k) < k && rank + k < size && rank / (2 * p) == (rank + k) / (2 * p)) low = rank;
      else if (at - k >= 0 && (at - k) % (2 * k) < k && rank / (2 * p) == (rank - k) / (2 * p)) low = rank - k;
      if (low < 0) continue;
      MPI_Irecv(*other, bytes, MPI_BYTE, low == rank ? rank + k : low, SCR_TAG_SORT, comm, &reqs[0]);
      MPI_Isend(*item, bytes, MPI_BYTE, low == rank ? rank + k : low, SCR_TAG_SORT, comm, &reqs[1]);
      if ((err = scr_waitall(2, reqs)) != SCR_SUCCESS) rc = err;
      else if ((scr_rank_cmp(*other, *item) < 0) == (low == rank)) {
        scr_rank_item* t = *item;
        *item = *other;
        *other = t;
      }
    }
  return rc;
}

/*
** Group the ranks of COMM by their strings.  Collective over COMM.
**
** GROUPS is the number of distinct strings; GROUP_ID counts them from 0 in the order of the strings; GROUP_RANK and
** GROUP_SIZE are the place of this rank among those with an equal string, in the order of COMM, and their number;
** LEADER is the rank in COMM of the first of them.  The strings are sorted over the ranks (scr_rank_sort), the borders
** of equal ones are found by prefix operations, and each place then tells the owner of its item.
*/
SCR_FN int scr_rank_str(MPI_Comm comm, const char* str, int* groups, int* group_id, int* group_rank, int* group_size,
                        int* leader)
{
  int            rank, size, n = (int)strlen(str) + 1, longest = 0, bytes, first, next = 0, rc, err;
  int            answer[5], got[5];
  int64_t        few[2][SCR_RANK_SHORT / 8]; /* short strings need no memory, and so no agreement that all have it */
  scr_rank_item *item = NULL, *other = NULL, *more[2] = {NULL, NULL};
  scr_vote       up, down;
  MPI_Request    reqs[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};

  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  if ((rc = scr_allreduce(&n, &longest, 1, MPI_INT, MPI_MAX, comm)) != SCR_SUCCESS) return rc;
  bytes = (int)sizeof(scr_rank_item) + longest;
  if (bytes > SCR_RANK_SHORT) {
    more[0] = (scr_rank_item*)scr_malloc((size_t)bytes);
    more[1] = (scr_rank_item*)scr_malloc((size_t)bytes);
    rc = more[0] == NULL || more[1] == NULL ? SCR_ERR_OOM() : SCR_SUCCESS;
    if ((rc = scr_agree(rc, comm)) != SCR_SUCCESS) goto out;
  }
  item = more[0] != NULL ? more[0] : (scr_rank_item*)(void*)few[0];
  other = more[1] != NULL ? more[1] : (scr_rank_item*)(void*)few[1];
  item->rank = rank;
  memcpy(item->text, str, (size_t)n);
  rc = scr_rank_sort(&item, &other, bytes, comm);

  /* Is this place the first of its string?  The left neighbour's item tells. */
  if (rank > 0) MPI_Irecv(other, bytes, MPI_BYTE, rank - 1, SCR_TAG_SORT, comm, &reqs[0]);
  if (rank < size - 1) MPI_Isend(item, bytes, MPI_BYTE, rank + 1, SCR_TAG_SORT, comm, &reqs[1]);
  if ((err = scr_waitall(2, reqs)) != SCR_SUCCESS) rc = err;
  first = rank == 0 || strcmp(item->text, other->text) != 0;

  /* The place and owner of the first of this string, from the left; the rest of the strings, from the right. */
  memset(&up, 0, sizeof up);
  up.sum[0] = first;
  up.max[0] = first ? (int64_t)rank << 32 | item->rank : -1;
  if ((err = scr_scan(&up, SCR_SCAN_UP, comm)) != SCR_SUCCESS) rc = err;
  memset(&down, 0, sizeof down);
  down.sum[0] = first;
  if ((err = scr_scan(&down, SCR_SCAN_DOWN, comm)) != SCR_SUCCESS) rc = err;
  if ((err = scr_scan_next(first, &next, comm)) != SCR_SUCCESS) rc = err;

  answer[0] = (int)(up.sum[0] + down.sum[0] - first);
  answer[1] = (int)up.sum[0] - 1;
  answer[2] = rank - (int)(up.max[0] >> 32);
  answer[3] = next - (int)(up.max[0] >> 32);
  answer[4] = (int)(up.max[0] & 0x7fffffff);
  MPI_Irecv(got, 5, MPI_INT, MPI_ANY_SOURCE, SCR_TAG_RANK, comm, &reqs[0]);
  MPI_Isend(answer, 5, MPI_INT, item->rank, SCR_TAG_RANK, comm, &reqs[1]);
  if ((err = scr_waitall(2, reqs)) != SCR_SUCCESS) rc = err;
  *groups = got[0];
  *group_id = got[1];
  *group_rank = got[2];
  *group_size = got[3];
  *leader = got[4];
out:
  scr_free(&more[0]);
  scr_free(&more[1]);
  return rc;
}

/* ---- flow control ---- */

/* Send or receive one int.  Local, or with the partner. */
SCR_FN int scr_int_send(int value, int rank, int tag, MPI_Comm comm)
{
  MPI_Request req;
  MPI_Isend(&value, 1, MPI_INT, rank, tag, comm, &req);
  return scr_wait(&req);
}

SCR_FN int scr_int_recv(int* value, int rank, int tag, MPI_Comm comm)
{
  MPI_Request req;
  MPI_Irecv(value, 1, MPI_INT, rank, tag, comm, &req);
  return scr_wait(&req);
}

/*
** Call WORK(ARG) on every rank, with at most WIDTH ranks at work at a time: rank 0 works first and then lets the others
** go, one more for each that ends.  When a rank has failed, those that have not begun do not begin.  Returns what WORK
** returned here; agree on it.  Collective over COMM.
*/
SCR_FN int scr_flow(int width, int (*work)(void* arg), void* arg, MPI_Comm comm)
{
  int rank, size, next = 1, active = 0, word, rc, ok;

  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  if (rank > 0) {
    if ((rc = scr_int_recv(&ok, 0, SCR_TAG_FLOW, comm)) != SCR_SUCCESS) return rc;
    rc = ok ? work(arg) : SCR_ERR(SCR_ERR_IO, "not tried, because another rank failed before");
    scr_int_send(rc == SCR_SUCCESS, 0, SCR_TAG_FLOW, comm);
    return rc;
  }
  rc = work(arg);
  ok = rc == SCR_SUCCESS;
  while (next < size || active > 0) {
    if (next < size && active < width) {
      scr_int_send(ok, next++, SCR_TAG_FLOW, comm);
      active++;
    } else {
      word = 0;
      scr_int_recv(&word, MPI_ANY_SOURCE, SCR_TAG_FLOW, comm);
      if (!word) ok = 0;
      active--;
    }
  }
  return rc;
}

/* ==== 15 GROUPS, STORES, REDUNDANCY DESCRIPTORS =========================================================
** Who fails together, where datasets are kept, and how they are protected.
**
** Uses       path, hash, parameters, MPI helpers.
** Offers     scr_layout, scr_groupdesc, scr_storedesc, scr_reddesc; scr_layout_create and _free; the control directory;
**            scr_reddesc_for_dataset, scr_reddesc_to_hash, scr_reddesc_from_hash.
** Invariants
**   L1  No member of a redundancy set shares its failure group with another, when the set is formed.
**   L2  Every directory that the library makes below a base belongs to this user, is no link, and can be written by
**       nobody else; otherwise it is refused.  In a store with MKDIR=0 this holds for the files.
**   L3  While a run lives it holds a lock in its control directory and in its directory of each store, and both record
**       the prefix: two runs never share one, whichever of the bases they have in common.  Stores with MKDIR=0 have no
**       directory of their own, and are left out.
**   L4  A stored descriptor is enough to find a dataset again, whatever the parameters say now.
** Failure    The code, agreed on over the world; nothing is held.
** ====================================================================================================== */

/* A partition of the world by name: NODE, WORLD, or a name of the GROUPS lines. */
typedef struct {
  char* name;
  int   rank, ranks; /* in the group of this rank */
  int   leader;      /* world rank of its first member */
  int   groups;      /* how many groups the world is split into */
} scr_groupdesc;

/* A class of storage.  The directory of a dataset is DIR/scr.dataset.<id>. */
typedef struct {
  int   enabled;
  char* name;      /* base directory, the value of the STORE line */
  int   max_count; /* datasets that stay */
  int   can_mkdir;
  int   global;  /* VIEW=GLOBAL: several nodes see the same base */
  int   threads; /* that copy its files to and from the prefix, for one rank */
  char* group;
  char* dir; /* <base>/<user>/scr.<job>, and node.<host> where several nodes see the base */
} scr_storedesc;

/* How a dataset is protected: a scheme, and the set of ranks that this rank protects with. */
typedef struct {
  int      enabled, index, interval, output;
  scr_copy type;
  int      set_size, hop;
  int      failures;          /* members of a set that may be lost; 0 for SINGLE */
  char*    group;             /* name of the failure group */
  char*    base;              /* name of the store */
  int      global, can_mkdir; /* of the store */
  int      groups;            /* sets in the world */
  int      group_id;          /* world rank of the set's first member */
  int      ranks, my_rank;
  int*     member;  /* world ranks of the set, by rank in the set */
  char*    partner; /* host of the right neighbour, which knows this rank's files; NULL when not known */
} scr_reddesc;

typedef struct {
  MPI_Comm       comm;
  int            rank, ranks;
  char           host[256];
  char           prefix[SCR_MAX_FILENAME];
  char           user[256], job[256];
  int            virtual_nodes;
  int            suffix; /* of scr.<job>.<n>; 0 for none */
  scr_hash*      params;
  scr_groupdesc* group;
  int            ngroups;
  int*           node; /* world ranks on this node */
  scr_storedesc* store;
  int            nstores;
  scr_reddesc*   red;
  int            nreds;
  char           cntl[SCR_MAX_FILENAME]; /* control directory */
  int*           lock;                   /* descriptors with the locks of L3; on the first rank of a node */
  int            nlocks;
} scr_layout;

/* ---- directories that only this user may touch ---- */

/* L2 for one directory. */
SCR_FN int scr_private_check(const char* dir)
{
  struct stat st;

  if (scr_os.lstat(dir, &st) < 0) return SCR_ERRNO("cannot look at %s", dir);
  if (S_ISLNK(st.st_mode))
    return SCR_ERR(SCR_ERR_UNSAFE, "%s is a symbolic link; remove it or choose another base", dir);
  if (!S_ISDIR(st.st_mode))
    return SCR_ERR(SCR_ERR_UNSAFE, "%s is not a directory; remove it or choose another base", dir);
  if (st.st_uid != geteuid())
    return SCR_ERR(SCR_ERR_UNSAFE, "%s belongs to user %lu, not to you; choose another base or SCR_USER_NAME", dir,
                   (unsigned long)st.st_uid);
  if (st.st_mode & (S_IWGRP | S_IWOTH))
    return SCR_ERR(SCR_ERR_UNSAFE, "%s can be written by others (mode %04o); chmod 700 it or choose another base", dir,
                   (unsigned)(st.st_mode & 07777));
  return SCR_SUCCESS;
}

/* Make the components of REL below BASE, which may exist, each for this user only. */
SCR_FN int scr_private_mkdir(const char* base, const char* rel)
{
  char   dir[SCR_MAX_FILENAME];
  size_t i, n, base_n = strlen(base);
  int    rc;

  if ((rc = scr_mkdirs(base, 0777)) != SCR_SUCCESS) return rc;
  if ((rc = scr_fmt(dir, sizeof dir, "%s/%s", base, rel)) != SCR_SUCCESS) return rc;
  n = strlen(dir);
  for (i = base_n + 1; i <= n; i++) {
    char c = dir[i];
    if (c != '/' && c != '\0') continue;
    dir[i] = '\0';
    if (scr_os.mkdir(dir, 0700) < 0 && errno != EEXIST) return SCR_ERRNO("cannot create the directory %s", dir);
    if ((rc = scr_private_check(dir)) != SCR_SUCCESS) return rc;
    dir[i] = c;
  }
  return SCR_SUCCESS;
}

/* <user>/scr.<job>[.<n>], and /node.<host> when several nodes see the base. */
SCR_FN int scr_layout_rel(const scr_layout* l, int shared, int suffix, char* out, size_t n)
{
  char tail[32] = "";

  if (suffix > 0) snprintf(tail, sizeof tail, ".%d", suffix);
  if (shared || l->virtual_nodes > 0) return scr_fmt(out, n, "%s/scr.%s%s/node.%s", l->user, l->job, tail, l->host);
  return scr_fmt(out, n, "%s/scr.%s%s", l->user, l->job, tail);
}

/* ---- groups ---- */

SCR_FN const scr_groupdesc* scr_groupdescs_from_name(const scr_layout* l, const char* name)
{
  int i;
  for (i = 0; i < l->ngroups; i++)
    if (strcmp(l->group[i].name, name) == 0) return &l->group[i];
  return NULL;
}

/* Add the group NAME that the ranks with equal VALUE form.  Collective over the world. */
SCR_FN int scr_groupdesc_create(scr_layout* l, const char* name, const char* value)
{
  scr_groupdesc* g = &l->group[l->ngroups];
  int            id;

  g->name = scr_strdup(name);
  l->ngroups++;
  return scr_rank_str(l->comm, value, &g->groups, &id, &g->rank, &g->ranks, &g->leader);
}

/* The world ranks of a small group, by rank in it, through its leader.  Collective over the group. */
SCR_FN int scr_group_members(const scr_layout* l, int leader, int my_rank, int ranks, int** member)
{
  int         i, me[2], rc = SCR_SUCCESS;
  MPI_Request req;

  me[0] = my_rank;
  me[1] = l->rank;
  *member = (int*)scr_malloc((size_t)ranks * sizeof **member);
  if (*member == NULL) return SCR_ERR_OOM();
  if (l->rank != leader) {
    MPI_Isend(me, 2, MPI_INT, leader, SCR_TAG_GROUP, l->comm, &req);
    rc = scr_wait(&req);
    MPI_Irecv(*member, ranks, MPI_INT, leader, SCR_TAG_GROUP, l->comm, &req);
    return rc == SCR_SUCCESS ? scr_wait(&req) : rc;
  }
  (*member)[my_rank] = l->rank;
  for (i = 1; i < ranks && rc == SCR_SUCCESS; i++) {
    MPI_Irecv(me, 2, MPI_INT, MPI_ANY_SOURCE, SCR_TAG_GROUP, l->comm, &req);
    rc = scr_wait(&req);
    if (rc == SCR_SUCCESS && me[0] > 0 && me[0] < ranks) (*member)[me[0]] = me[1];
  }
  for (i = 1; i < ranks && rc == SCR_SUCCESS; i++) {
    MPI_Isend(*member, ranks, MPI_INT, (*member)[i], SCR_TAG_GROUP, l->comm, &req);
    rc = scr_wait(&req);
  }
  return rc;
}

/* NODE, WORLD, and one group for each name of the GROUPS lines that every host has.  Collective over the world. */
SCR_FN int scr_groupdescs_create(scr_layout* l)
{
  const scr_hash* lines = scr_param_get_hash(l->params, "GROUPS");
  const scr_hash* mine = scr_hash_get(lines, l->host);
  scr_hash*       names = scr_hash_new();
  scr_hash_elem * e, *c;
  int             rc, err;

  for (e = scr_hash_elem_first(lines); e != NULL; e = scr_hash_elem_next(e))
    for (c = scr_hash_elem_first(scr_hash_elem_hash(e)); c != NULL; c = scr_hash_elem_next(c))
      scr_hash_set_kv(names, "NAME", scr_hash_elem_key(c));
  l->group = (scr_groupdesc*)scr_malloc((size_t)(scr_hash_size(scr_hash_get(names, "NAME")) + 2) * sizeof *l->group);
  if ((rc = scr_agree(l->group == NULL ? SCR_ERR_OOM() : SCR_SUCCESS, l->comm)) != SCR_SUCCESS) goto out;
  rc = scr_groupdesc_create(l, "NODE", l->host);
  l->group[1] = l->group[0]; /* WORLD needs no sorting */
  l->group[1].name = scr_strdup("WORLD");
  l->group[1].rank = l->rank;
  l->group[1].ranks = l->ranks;
  l->group[1].leader = 0;
  l->group[1].groups = 1;
  l->ngroups = 2;
  if (rc == SCR_SUCCESS) rc = scr_group_members(l, l->group[0].leader, l->group[0].rank, l->group[0].ranks, &l->node);
  for (e = scr_hash_elem_first(scr_hash_get(names, "NAME")); e != NULL; e = scr_hash_elem_next(e)) {
    const char* name = scr_hash_elem_key(e);
    const char* value = scr_hash_elem_get_first_val(mine, name);
    scr_vote    v;
    memset(&v, 0, sizeof v);
    v.sum[0] = value == NULL;
    if ((err = scr_vote_all(&v, rc, l->comm)) != SCR_SUCCESS) {
      rc = err;
      goto out;
    }
    if (v.sum[0] > 0)
      scr_dbg(1, "the group %s is not made: %lld ranks run on hosts whose GROUPS line does not name it", name,
              (long long)v.sum[0]);
    else if (scr_groupdescs_from_name(l, name) == NULL) rc = scr_groupdesc_create(l, name, value);
  }
out:
  scr_hash_delete(&names);
  return rc;
}

/* ---- stores ---- */

SCR_FN const scr_storedesc* scr_storedescs_from_name(const scr_layout* l, const char* name)
{
  int i;
  for (i = 0; i < l->nstores; i++)
    if (strcmp(l->store[i].name, name) == 0) return &l->store[i];
  return NULL;
}

/* An integer child of a configuration line, or DEFLT. */
SCR_FN int scr_line_int(const scr_hash* line, const char* key, int deflt)
{
  int v;
  return scr_hash_util_get_int(line, key, &v) == SCR_SUCCESS ? v : deflt;
}

SCR_FN const char* scr_line_str(const scr_hash* line, const char* key, const char* deflt)
{
  const char* v = scr_hash_elem_get_first_val(line, key);
  return v != NULL ? v : deflt;
}

/* How many threads copy files of the store NAME, by its transfer TYPE; one that is a vendor's is warned of. */
SCR_FN int scr_storedesc_threads(const char* name, const char* type)
{
  int vendor = strcasecmp(type, "BBAPI") == 0 || strcasecmp(type, "DW") == 0;

  if (vendor && scr_msg_rank <= 0)
    scr_warn("STORE=%s TYPE=%s needs a service of the vendor, which this library does not use: PTHREAD takes its place",
             name, type);
  return vendor || strcasecmp(type, "PTHREAD") == 0 ? SCR_COPY_THREADS : 1;
}

/* Add the store NAME with the properties of LINE. */
SCR_FN int scr_storedesc_create(scr_layout* l, const char* name, const scr_hash* line)
{
  scr_storedesc* s = &l->store[l->nstores];
  int            count = 1, rc;

  if ((rc = scr_param_int(l->params, "SCR_CACHE_SIZE", &count)) != SCR_SUCCESS) return rc;
  s->enabled = scr_line_int(line, "ENABLED", 1);
  s->max_count = scr_line_int(line, "COUNT", count);
  s->can_mkdir = scr_line_int(line, "MKDIR", 1);
  s->global = strcasecmp(scr_line_str(line, "VIEW", "PRIVATE"), "GLOBAL") == 0;
  s->group = scr_strdup(scr_line_str(line, "GROUP", "NODE"));
  s->threads = scr_storedesc_threads(name, scr_line_str(line, "TYPE", "SYNC"));
  s->name = scr_strdup(name);
  l->nstores++;
  if (scr_groupdescs_from_name(l, s->group) == NULL)
    return SCR_ERR(SCR_ERR_PARAM,
                   "STORE=%s names the group %s, which does not exist; there are NODE, WORLD and those of "
                   "the GROUPS lines that name each host",
                   name, s->group);
  if (name[0] != '/') return SCR_ERR(SCR_ERR_PARAM, "the store %s is not an absolute path", name);
  return scr_oom ? SCR_ERR_OOM() : SCR_SUCCESS;
}

/* The STORE lines, and SCR_CACHE_BASE where no line names it. */
SCR_FN int scr_storedescs_create(scr_layout* l)
{
  const scr_hash* lines = scr_param_get_hash(l->params, "STORE");
  const char*     base = scr_param_get(l->params, "SCR_CACHE_BASE");
  scr_hash_elem*  e;
  char            name[SCR_MAX_FILENAME];
  int             rc;

  l->store = (scr_storedesc*)scr_malloc((size_t)(scr_hash_size(lines) + 1) * sizeof *l->store);
  if (l->store == NULL) return SCR_ERR_OOM();
  for (e = scr_hash_elem_first(lines); e != NULL; e = scr_hash_elem_next(e)) {
    if ((rc = scr_path_reduce_str(scr_hash_elem_key(e), name, sizeof name)) != SCR_SUCCESS) return rc;
    if ((rc = scr_storedesc_create(l, name, scr_hash_elem_hash(e))) != SCR_SUCCESS) return rc;
  }
  if ((rc = scr_path_reduce_str(base, name, sizeof name)) != SCR_SUCCESS) return rc;
  if (scr_storedescs_from_name(l, name) == NULL) return scr_storedesc_create(l, name, NULL);
  return SCR_SUCCESS;
}

/* Name the directory of each store, now that the suffix is known, and make it on this node. */
SCR_FN int scr_storedescs_place(scr_layout* l)
{
  char rel[SCR_MAX_FILENAME];
  int  i, rc;

  for (i = 0; i < l->nstores; i++) {
    scr_storedesc* s = &l->store[i];
    if ((rc = scr_layout_rel(l, s->global, l->suffix, rel, sizeof rel)) != SCR_SUCCESS) return rc;
    if ((s->dir = scr_strdupf("%s/%s", s->name, rel)) == NULL) return SCR_ERR_OOM();
    if (s->enabled && s->can_mkdir && (rc = scr_private_mkdir(s->name, rel)) != SCR_SUCCESS) return rc;
  }
  return SCR_SUCCESS;
}

/* ---- the directories that a run holds ---- */

#define SCR_BUSY_SECONDS 10 /* how long the processes of a run that was killed may still hold a lock */

/* Whose a directory is: OURS records the prefix, FREE records none; HELD is one of these, locked by another run. */
typedef enum { SCR_DIR_OURS, SCR_DIR_FREE, SCR_DIR_OTHER, SCR_DIR_HELD } scr_dir_state;

SCR_FN void scr_dirs_release(scr_layout* l)
{
  while (l->nlocks > 0) scr_os.close(l->lock[--l->nlocks]);
}

/* 1 when FD is a file that this process holds already: the control directory may lie in a store. */
SCR_FN int scr_dir_is_held(const scr_layout* l, int fd)
{
  struct stat a, b;
  int         i;

  for (i = 0; i < l->nlocks; i++)
    if (fstat(fd, &a) == 0 && fstat(l->lock[i], &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino) return 1;
  return 0;
}

/*
** Lock DIR; *HELD is 1 when another run has the lock, and else the descriptor is in l->lock.
**
** A file system without locks is accepted with a warning: there the record alone tells runs apart.  One that has become
** read-only can still be read, so the lock is taken on what an earlier run has made.
*/
SCR_FN int scr_dir_lock(scr_layout* l, const char* dir, int* held)
{
  char lock[SCR_MAX_FILENAME];
  int  fd, rc = scr_fmt(lock, sizeof lock, "%s/run.lock", dir);

  *held = 0;
  if (rc != SCR_SUCCESS) return rc;
  fd = scr_os.open(lock, O_RDWR | O_CREAT | O_NOFOLLOW, 0600);
  if (fd < 0 && errno == EROFS) fd = scr_os.open(lock, O_RDONLY | O_NOFOLLOW, 0);
  if (fd < 0) return SCR_ERRNO("cannot open the lock %s", lock);
  if (scr_dir_is_held(l, fd)) {
    scr_os.close(fd);
    return SCR_SUCCESS;
  }
  if (scr_os.flock(fd, LOCK_EX | LOCK_NB) < 0) {
    if (errno == EWOULDBLOCK) *held = 1;
    else if (errno != ENOLCK && errno != ENOSYS && errno != EOPNOTSUPP) rc = SCR_ERRNO("cannot lock %s", lock);
    else scr_warn("%s cannot be locked (%s); see to it that no second run uses it", lock, strerror(errno));
  }
  if (rc == SCR_SUCCESS && !*held) l->lock[l->nlocks++] = fd;
  else scr_os.close(fd);
  return rc;
}

/* Lock DIR and find out whose it is. */
SCR_FN int scr_dir_try(scr_layout* l, const char* dir, scr_dir_state* state)
{
  char        file[SCR_MAX_FILENAME];
  scr_hash*   h = scr_hash_new();
  const char* old = NULL;
  int         held, rc = scr_dir_lock(l, dir, &held);

  *state = SCR_DIR_FREE;
  if (rc == SCR_SUCCESS) rc = scr_fmt(file, sizeof file, "%s/prefix.scrinfo", dir);
  if (rc != SCR_SUCCESS) goto out;
  rc = scr_hash_file_read(file, h);
  if (rc == SCR_SUCCESS) scr_hash_util_get_str(h, "PREFIX", &old);
  else if (rc != SCR_ERR_NOT_FOUND) scr_warn("%s; it is written anew for %s", scr_err_text, l->prefix);
  rc = SCR_SUCCESS;
  if (old != NULL && strcmp(old, l->prefix) != 0) *state = SCR_DIR_OTHER;
  else if (held) *state = SCR_DIR_HELD;
  else if (old != NULL) *state = SCR_DIR_OURS;
out:
  scr_hash_delete(&h);
  return rc;
}

/* Record the prefix in DIR, which is held. */
SCR_FN int scr_dir_record(const scr_layout* l, const char* dir)
{
  char      file[SCR_MAX_FILENAME];
  scr_hash* h = scr_hash_new();
  int       rc = scr_fmt(file, sizeof file, "%s/prefix.scrinfo", dir);

  scr_hash_util_set_str(h, "PREFIX", l->prefix);
  if (rc == SCR_SUCCESS) rc = scr_hash_file_write(file, h);
  scr_hash_delete(&h);
  return rc;
}

/* Directory I of those that a run holds with SUFFIX, made if need be: -1 is the control directory, the others are the
** stores'.  DIR is empty for a store that has none. */
SCR_FN int scr_dir_make(const scr_layout* l, const char* base, int i, int suffix, char* dir, size_t n)
{
  char rel[SCR_MAX_FILENAME];
  int  rc;

  dir[0] = '\0';
  if (i >= 0 && !(l->store[i].enabled && l->store[i].can_mkdir)) return SCR_SUCCESS;
  if (i >= 0) base = l->store[i].name;
  if ((rc = scr_layout_rel(l, i >= 0 && l->store[i].global, suffix, rel, sizeof rel)) != SCR_SUCCESS) return rc;
  if ((rc = scr_fmt(dir, n, "%s/%s", base, rel)) != SCR_SUCCESS) return rc;
  return scr_private_mkdir(base, rel);
}

/*
** Try to take all directories with SUFFIX.  On SCR_SUCCESS *STATE is OURS when they are held and record the prefix; else
** it and DIR tell which one cannot be had.  Local; the caller releases what is held.
**
** Nothing is recorded before all are held, and the control directory only after the stores.  So one that is ours had
** them all, and may list datasets that another suffix would not find: when a store is another's there now, that is an
** error and not a reason to go on.
*/
SCR_FN int scr_dirs_try(scr_layout* l, const char* base, int suffix, char* dir, size_t n, scr_dir_state* state)
{
  char* fresh = (char*)scr_malloc((size_t)l->nstores + 1);
  int   i, ours = 0, rc = fresh == NULL ? SCR_ERR_OOM() : SCR_SUCCESS;

  *state = SCR_DIR_OURS;
  for (i = -1; rc == SCR_SUCCESS && i < l->nstores; i++) {
    if ((rc = scr_dir_make(l, base, i, suffix, dir, n)) != SCR_SUCCESS || *dir == '\0') continue;
    if ((rc = scr_dir_try(l, dir, state)) != SCR_SUCCESS) break;
    fresh[i + 1] = *state == SCR_DIR_FREE;
    if (i < 0) ours = *state == SCR_DIR_OURS;
    if (*state == SCR_DIR_OTHER && ours)
      rc = SCR_ERR(SCR_ERR_BUSY,
                   "%s belongs to the runs of another prefix, but the control directory beside it to those of %s; give "
                   "this run another SCR_CACHE_BASE or SCR_JOB_ID, or remove %s if those runs are over",
                   dir, l->prefix, dir);
    if (*state == SCR_DIR_OTHER || *state == SCR_DIR_HELD) break;
    *state = SCR_DIR_OURS;
  }
  for (i = l->nstores - 1; rc == SCR_SUCCESS && *state == SCR_DIR_OURS && i >= -1; i--) /* the control directory last */
    if (fresh[i + 1] && (rc = scr_dir_make(l, base, i, suffix, dir, n)) == SCR_SUCCESS) rc = scr_dir_record(l, dir);
  scr_free(&fresh);
  return rc;
}

/*
** Take the control directory of this node and its directories in the stores: scr.<job>, or the first scr.<job>.<n> that
** no other prefix has in any of them.  Fills l->cntl, l->suffix and l->lock.
*/
SCR_FN int scr_dirs_take(scr_layout* l, const char* base)
{
  char          dir[SCR_MAX_FILENAME] = "";
  int           suffix = 0, rc;
  scr_dir_state state;
  double        start = scr_wtime();

  l->lock = (int*)scr_malloc(((size_t)l->nstores + 1) * sizeof *l->lock);
  if (l->lock == NULL) return SCR_ERR_OOM();
  for (;;) {
    rc = scr_dirs_try(l, base, suffix, dir, sizeof dir, &state);
    if (rc != SCR_SUCCESS || state == SCR_DIR_OURS) break;
    scr_dirs_release(l);
    if (state == SCR_DIR_OTHER) suffix++;
    else if (scr_wtime() - start > SCR_BUSY_SECONDS)
      return SCR_ERR(SCR_ERR_BUSY,
                     "another run over the prefix %s holds %s; give each run its own SCR_PREFIX, or end that run; a "
                     "store that several nodes see needs VIEW=GLOBAL",
                     l->prefix, dir);
    else usleep(50000 + (useconds_t)getpid() % 16 * 1000); /* two runs may each hold what the other needs */
  }
  l->suffix = suffix;
  return rc == SCR_SUCCESS ? scr_dir_make(l, base, -1, suffix, l->cntl, sizeof l->cntl) : rc;
}

/* ---- redundancy descriptors ---- */

SCR_FN void scr_reddesc_free(scr_reddesc* d)
{
  scr_free(&d->group);
  scr_free(&d->base);
  scr_free(&d->member);
  scr_free(&d->partner);
  memset(d, 0, sizeof *d);
}

/* Make D protect this rank alone. */
SCR_FN int scr_reddesc_alone(scr_reddesc* d, const scr_layout* l)
{
  d->type = SCR_COPY_SINGLE;
  d->failures = 0;
  d->ranks = 1;
  d->my_rank = 0;
  d->group_id = l->rank;
  scr_free(&d->member);
  d->member = (int*)scr_malloc(sizeof *d->member);
  if (d->member == NULL) return SCR_ERR_OOM();
  d->member[0] = l->rank;
  return SCR_SUCCESS;
}

/* D17 for the set of D: K >= N becomes N - 1, and one parity is XOR.  1 when the set protects less than asked. */
SCR_FN int scr_reddesc_limit(scr_reddesc* d)
{
  int less = d->failures >= d->ranks;

  if (d->type == SCR_COPY_PARTNER || d->type == SCR_COPY_XOR) d->failures = 1;
  if (d->type != SCR_COPY_RS) return 0;
  if (less) d->failures = d->ranks - 1;
  if (d->failures == 1) d->type = SCR_COPY_XOR;
  return less;
}

/* Learn the host of the right neighbour.  Collective over the set. */
SCR_FN int scr_reddesc_partner(scr_reddesc* d, const scr_layout* l)
{
  scr_hash *send = scr_hash_new(), *recv = scr_hash_new();
  int       n = d->ranks, rc;

  scr_hash_util_set_str(send, "HOST", l->host);
  rc = scr_hash_sendrecv(send, d->member[(d->my_rank - 1 + n) % n], recv, d->member[(d->my_rank + 1) % n], l->comm);
  d->partner = scr_strdup(scr_line_str(recv, "HOST", ""));
  scr_hash_delete(&send);
  scr_hash_delete(&recv);
  return rc;
}

/*
** Form the sets of D: the ranks with equal rank in their failure group stand in a line, in world order.  Every
** HOP_DISTANCE-th of a line belong together, and what belongs together is cut into sets of SET_SIZE or a few more, as
** even as possible.  In a line too short for two at that distance, the distance is as large as it can be, and rank 0
** says so.  Collective over the world.
**
** D16: a set of one member cannot protect; that rank caches as SINGLE, and rank 0 says how many there are.
*/
SCR_FN int scr_reddesc_sets(scr_reddesc* d, const scr_layout* l)
{
  const scr_groupdesc* g = scr_groupdescs_from_name(l, d->group);
  char                 key[64];
  int                  lines, id, place, length, leader, hop, first, sets, least, extra, set, rc, err;
  int                  asked = d->failures;
  scr_vote             v;

  snprintf(key, sizeof key, "%d", g->rank);
  rc = scr_rank_str(l->comm, key, &lines, &id, &place, &length, &leader);
  if (rc != SCR_SUCCESS) return rc;
  hop = length / 2 < d->hop ? length / 2 : d->hop;
  if (hop < 1) hop = 1;
  first = place % hop;
  place /= hop;
  length = length / hop + (first < length % hop);
  sets = length / d->set_size > 1 ? length / d->set_size : 1;
  least = length / sets;
  extra = length % sets; /* the first ones have one more */
  set = place < extra * (least + 1) ? place / (least + 1) : extra + (place - extra * (least + 1)) / least;
  snprintf(key, sizeof key, "%d.%d.%d", id, first, set);
  rc = scr_rank_str(l->comm, key, &d->groups, &id, &d->my_rank, &d->ranks, &d->group_id);
  if (rc != SCR_SUCCESS) return rc;
  rc = scr_group_members(l, d->group_id, d->my_rank, d->ranks, &d->member);
  if (rc == SCR_SUCCESS && d->ranks > 1) rc = scr_reddesc_partner(d, l);
  memset(&v, 0, sizeof v);
  v.sum[0] = d->ranks == 1;
  v.sum[1] = d->ranks > 1 && scr_reddesc_limit(d);
  v.sum[2] = d->ranks > 1 && hop < d->hop;
  if (d->ranks == 1 && rc == SCR_SUCCESS) rc = scr_reddesc_alone(d, l);
  else if (rc == SCR_SUCCESS && d->type == SCR_COPY_RS && d->ranks + d->failures > 256)
    rc = SCR_ERR(SCR_ERR_PARAM,
                 "CKPT=%d: a Reed-Solomon set of %d ranks with %d failures is too large; their sum may be 256 at most",
                 d->index, d->ranks, d->failures);
  if ((err = scr_vote_all(&v, rc, l->comm)) != SCR_SUCCESS) return err;
  if (v.sum[0] > 0 && l->rank == 0)
    scr_warn(
        "%lld of %d ranks find no partner in another group %s, so their files are kept as SINGLE: the loss of their "
        "node loses the checkpoint",
        (long long)v.sum[0], l->ranks, d->group);
  if (v.sum[1] > 0 && l->rank == 0)
    scr_warn("%lld of %d ranks are in Reed-Solomon sets that are too small for %d failures; these survive all but one",
             (long long)v.sum[1], l->ranks, asked);
  if (v.sum[2] > 0 && l->rank == 0)
    scr_warn("CKPT=%d: there are not enough groups %s for HOP_DISTANCE=%d: %lld of %d ranks have nearer partners",
             d->index, d->group, d->hop, (long long)v.sum[2], l->ranks);
  return SCR_SUCCESS;
}

/* Fill D from LINE, a CKPT line or NULL for what the parameters say.  Collective over the world. */
SCR_FN int scr_reddesc_create(scr_reddesc* d, scr_layout* l, int index, const scr_hash* line)
{
  const char*          type = scr_param_get(l->params, "SCR_COPY_TYPE");
  const scr_storedesc* s;
  char                 base[SCR_MAX_FILENAME];
  int                  rc;

  if (strcasecmp(type, "FILE") == 0) type = "XOR"; /* the lines count, and this is what they leave out */
  d->index = index;
  d->enabled = scr_line_int(line, "ENABLED", 1);
  d->interval = scr_line_int(line, "INTERVAL", 1);
  d->output = scr_line_int(line, "OUTPUT", 0);
  d->group = scr_strdup(scr_line_str(line, "GROUP", scr_param_get(l->params, "SCR_GROUP")));
  if ((rc = scr_copy_from_name(scr_line_str(line, "TYPE", type), &d->type)) != SCR_SUCCESS) return rc;
  if ((rc = scr_param_int(l->params, "SCR_SET_SIZE", &d->set_size)) != SCR_SUCCESS) return rc;
  d->set_size = scr_line_int(line, "SET_SIZE", d->set_size);
  if ((rc = scr_param_int(l->params, "SCR_SET_FAILURES", &d->failures)) != SCR_SUCCESS) return rc;
  d->failures = scr_line_int(line, "SET_FAILURES", d->failures);
  d->hop = scr_line_int(line, "HOP_DISTANCE", 1);
  if (d->set_size < 2 || d->set_size > SCR_SET_SIZE_MAX / 2)
    return SCR_ERR(SCR_ERR_PARAM, "CKPT=%d: SET_SIZE is %d, but must be between 2 and %d", index, d->set_size,
                   SCR_SET_SIZE_MAX / 2);
  if (d->interval < 1) return SCR_ERR(SCR_ERR_PARAM, "CKPT=%d: INTERVAL must be at least 1", index);
  if (d->failures < 1) return SCR_ERR(SCR_ERR_PARAM, "CKPT=%d: SET_FAILURES must be at least 1", index);
  if (d->hop < 1) return SCR_ERR(SCR_ERR_PARAM, "CKPT=%d: HOP_DISTANCE must be at least 1", index);
  rc = scr_path_reduce_str(scr_line_str(line, "STORE", scr_param_get(l->params, "SCR_CACHE_BASE")), base, sizeof base);
  if (rc != SCR_SUCCESS) return rc;
  s = scr_storedescs_from_name(l, base);
  if (s == NULL) return SCR_ERR(SCR_ERR_PARAM, "CKPT=%d names the store %s, which no STORE line defines", index, base);
  if (d->enabled && !s->enabled)
    return SCR_ERR(SCR_ERR_PARAM, "CKPT=%d uses the store %s, which is not enabled", index, base);
  d->base = scr_strdup(base);
  d->global = s->global;
  d->can_mkdir = s->can_mkdir;
  if (scr_groupdescs_from_name(l, d->group) == NULL)
    return SCR_ERR(SCR_ERR_PARAM,
                   "the failure group %s is not known; there are NODE, WORLD and those of the GROUPS lines "
                   "that name each host",
                   d->group);
  if (!d->enabled || d->type == SCR_COPY_SINGLE) return scr_reddesc_alone(d, l);
  return scr_reddesc_sets(d, l);
}

/* The CKPT lines when SCR_COPY_TYPE is FILE, or the one that the parameters imply.  Collective over the world. */
SCR_FN int scr_reddescs_create(scr_layout* l)
{
  const scr_hash* lines = NULL;
  scr_hash_elem*  e;
  int             n = 1, i, ones = 0, rc = SCR_SUCCESS;

  if (strcasecmp(scr_param_get(l->params, "SCR_COPY_TYPE"), "FILE") == 0) {
    lines = scr_param_get_hash(l->params, "CKPT");
    n = scr_hash_size(lines);
    if (n == 0) return SCR_ERR(SCR_ERR_PARAM, "SCR_COPY_TYPE is FILE, but there are no CKPT lines");
  }
  l->red = (scr_reddesc*)scr_malloc((size_t)n * sizeof *l->red);
  if (l->red == NULL) return SCR_ERR_OOM();
  l->nreds = n;
  e = scr_hash_elem_first(lines);
  for (i = 0; i < n && rc == SCR_SUCCESS; i++) {
    rc = scr_reddesc_create(&l->red[i], l, e ? atoi(scr_hash_elem_key(e)) : 0, e ? scr_hash_elem_hash(e) : NULL);
    if (l->red[i].enabled && l->red[i].interval == 1) ones++;
    if (e != NULL) e = scr_hash_elem_next(e);
  }
  if (rc == SCR_SUCCESS && ones == 0)
    rc =
        SCR_ERR(SCR_ERR_PARAM, "one enabled CKPT line must have INTERVAL=1, so that every checkpoint has a descriptor");
  return rc;
}

/* The descriptor for a dataset: an OUTPUT one for pure output, else the largest INTERVAL that divides CKPT. */
SCR_FN const scr_reddesc* scr_reddesc_for_dataset(const scr_layout* l, int ckpt, int flags)
{
  const scr_reddesc* best = NULL;
  int                i;

  for (i = 0; i < l->nreds; i++) {
    const scr_reddesc* d = &l->red[i];
    if (!d->enabled) continue;
    if (flags & SCR_FLAG_OUTPUT && d->output) return d;
    if (d->interval != 1 && (!(flags & SCR_FLAG_CHECKPOINT) || ckpt % d->interval != 0)) continue;
    if (best == NULL || d->interval > best->interval) best = d;
  }
  return best;
}

/* Write D, as rank MEMBER of its set sees it, to H. */
SCR_FN void scr_reddesc_to_hash(const scr_reddesc* d, int member, scr_hash* h)
{
  int i;

  scr_hash_unset_all(h);
  scr_hash_util_set_int(h, "ENABLED", d->enabled);
  scr_hash_util_set_int(h, "INDEX", d->index);
  scr_hash_util_set_int(h, "INTERVAL", d->interval);
  scr_hash_util_set_int(h, "OUTPUT", d->output);
  scr_hash_util_set_str(h, "BASE", d->base);
  scr_hash_util_set_str(h, "VIEW", d->global ? "GLOBAL" : "PRIVATE");
  scr_hash_util_set_int(h, "MKDIR", d->can_mkdir);
  scr_hash_util_set_str(h, "TYPE", scr_copy_name(d->type));
  scr_hash_util_set_str(h, "GROUP", d->group);
  scr_hash_util_set_int(h, "SET_SIZE", d->set_size);
  scr_hash_util_set_int(h, "SET_FAILURES", d->failures);
  scr_hash_util_set_int(h, "HOP_DISTANCE", d->hop);
  scr_hash_util_set_int(h, "GROUPS", d->groups);
  scr_hash_util_set_int(h, "GROUP_ID", d->group_id);
  scr_hash_util_set_int(h, "GROUP_SIZE", d->ranks);
  scr_hash_util_set_int(h, "GROUP_RANK", member);
  for (i = 0; i < d->ranks; i++) scr_hash_setf(h, NULL, "%s %d %d", "MEMBER", i, d->member[i]);
}

/* Make D from what scr_reddesc_to_hash wrote, in a world of RANKS.  SCR_ERR_FORMAT when it makes no sense. */
SCR_FN int scr_reddesc_from_hash(scr_reddesc* d, const scr_hash* h, int ranks)
{
  const char *type = NULL, *base = NULL;
  int         i;

  memset(d, 0, sizeof *d);
  if (scr_hash_util_get_str(h, "TYPE", &type) != SCR_SUCCESS ||
      scr_hash_util_get_str(h, "BASE", &base) != SCR_SUCCESS ||
      scr_hash_util_get_int(h, "GROUP_SIZE", &d->ranks) != SCR_SUCCESS || d->ranks < 1 || d->ranks > ranks ||
      scr_hash_util_get_int(h, "GROUP_RANK", &d->my_rank) != SCR_SUCCESS || d->my_rank < 0 || d->my_rank >= d->ranks ||
      scr_hash_util_get_int(h, "GROUP_ID", &d->group_id) != SCR_SUCCESS)
    return SCR_ERR(SCR_ERR_FORMAT, "a stored redundancy descriptor is damaged");
  d->enabled = 1;
  d->index = scr_line_int(h, "INDEX", 0);
  d->interval = scr_line_int(h, "INTERVAL", 1);
  d->output = scr_line_int(h, "OUTPUT", 0);
  d->set_size = scr_line_int(h, "SET_SIZE", d->ranks);
  d->groups = scr_line_int(h, "GROUPS", 1);
  d->can_mkdir = scr_line_int(h, "MKDIR", 1);
  d->global = strcmp(scr_line_str(h, "VIEW", "PRIVATE"), "GLOBAL") == 0;
  d->group = scr_strdup(scr_line_str(h, "GROUP", "NODE"));
  d->base = scr_strdup(base);
  d->member = (int*)scr_malloc((size_t)d->ranks * sizeof *d->member);
  if (d->member == NULL) return SCR_ERR_OOM();
  for (i = 0; i < d->ranks; i++) {
    char        key[16];
    const char* w;
    snprintf(key, sizeof key, "%d", i);
    w = scr_hash_elem_get_first_val(scr_hash_get(h, "MEMBER"), key);
    d->member[i] = w != NULL ? atoi(w) : -1;
    if (d->member[i] < 0 || d->member[i] >= ranks)
      return SCR_ERR(SCR_ERR_FORMAT, "a stored redundancy descriptor names no rank for member %d", i);
  }
  if (scr_copy_from_name(type, &d->type) != SCR_SUCCESS) return SCR_ERR_FORMAT;
  d->failures = d->type == SCR_COPY_SINGLE ? 0 : scr_line_int(h, "SET_FAILURES", 1);
  if ((d->type != SCR_COPY_SINGLE && (d->ranks < 2 || d->failures < 1 || d->failures >= d->ranks)) ||
      (d->type == SCR_COPY_RS && d->ranks + d->failures > 256) || d->ranks > SCR_SET_SIZE_MAX)
    return SCR_ERR(SCR_ERR_FORMAT, "a stored redundancy descriptor is damaged: %s with %d members and %d failures",
                   type, d->ranks, d->failures);
  return SCR_SUCCESS;
}

/*
** The path on this node of REL, a path below the dataset directory ("" for that itself), for dataset ID with
** descriptor D (L4).  A store without directories keeps all in one flat name below its base.
*/
SCR_FN int scr_reddesc_path(const scr_layout* l, const scr_reddesc* d, int id, const char* rel, char* path, size_t n)
{
  char below[SCR_MAX_FILENAME], whole[SCR_MAX_FILENAME], flat[SCR_MAX_FILENAME];
  int  rc = scr_layout_rel(l, d->global, l->suffix, below, sizeof below);

  if (rc == SCR_SUCCESS) rc = scr_fmt(whole, sizeof whole, "%s/scr.dataset.%d%s%s", below, id, *rel ? "/" : "", rel);
  if (rc != SCR_SUCCESS) return rc;
  if (d->can_mkdir) return scr_fmt(path, n, "%s/%s", d->base, whole);
  if ((rc = scr_path_flatten(whole, flat, sizeof flat)) != SCR_SUCCESS) return rc;
  return scr_fmt(path, n, "%s/%s", d->base, flat);
}

/* Make the dataset directory of ID with its .scr, for this user only.  Local; several ranks of a node may call it. */
SCR_FN int scr_reddesc_mkdir(const scr_layout* l, const scr_reddesc* d, int id)
{
  char below[SCR_MAX_FILENAME], whole[SCR_MAX_FILENAME];
  int  rc;

  if (!d->can_mkdir) return SCR_SUCCESS;
  rc = scr_layout_rel(l, d->global, l->suffix, below, sizeof below);
  if (rc == SCR_SUCCESS) rc = scr_fmt(whole, sizeof whole, "%s/scr.dataset.%d/.scr", below, id);
  return rc == SCR_SUCCESS ? scr_private_mkdir(d->base, whole) : rc;
}

/*
** Create PATH, a file of descriptor D, for this user only, where its directory is one that others write to as well: in a
** store with MKDIR=0.  A file that is there may be written to when it is a regular one of this user, without a second
** name.  SCR_ERR_UNSAFE otherwise: somebody waits for what would be written.
*/
SCR_FN int scr_reddesc_claim(const scr_reddesc* d, const char* path)
{
  struct stat st;
  int         fd;

  if (d->can_mkdir) return SCR_SUCCESS;
  fd = scr_os.open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
  if (fd >= 0) {
    scr_os.close(fd);
    return SCR_SUCCESS;
  }
  if (errno != EEXIST || scr_os.lstat(path, &st) < 0) return SCR_ERRNO("cannot create %s", path);
  if (S_ISREG(st.st_mode) && st.st_uid == geteuid() && st.st_nlink == 1) return SCR_SUCCESS;
  return SCR_ERR(SCR_ERR_UNSAFE,
                 "%s is there already, and is %s; remove it, or choose a store that others cannot write to", path,
                 S_ISLNK(st.st_mode)      ? "a symbolic link"
                 : !S_ISREG(st.st_mode)   ? "no regular file"
                 : st.st_uid != geteuid() ? "another user's"
                                          : "known by a second name");
}

/* ---- the whole ---- */

SCR_FN void scr_layout_free(scr_layout* l)
{
  int i;

  for (i = 0; i < l->ngroups; i++) scr_free(&l->group[i].name);
  for (i = 0; i < l->nstores; i++) {
    scr_free(&l->store[i].name);
    scr_free(&l->store[i].group);
    scr_free(&l->store[i].dir);
  }
  for (i = 0; i < l->nreds; i++) scr_reddesc_free(&l->red[i]);
  scr_free(&l->group);
  scr_free(&l->store);
  scr_free(&l->red);
  scr_free(&l->node);
  scr_dirs_release(l);
  scr_free(&l->lock);
  l->ngroups = l->nstores = l->nreds = 0;
}

/* The name of this node: the host, or the virtual node of D13. */
SCR_FN int scr_layout_host(scr_layout* l)
{
  char host[200] = "";

  if (gethostname(host, sizeof host - 1) < 0 || host[0] == '\0') return SCR_ERRNO("cannot get the host name");
  if (l->virtual_nodes > l->ranks) l->virtual_nodes = l->ranks;
  if (l->virtual_nodes > 0)
    snprintf(l->host, sizeof l->host, "%s-v%d", host, (int)((int64_t)l->rank * l->virtual_nodes / l->ranks));
  else snprintf(l->host, sizeof l->host, "%s", host);
  return SCR_SUCCESS;
}

/* The job: what the parameters or the resource manager say. */
SCR_FN const char* scr_layout_job(const scr_hash* params)
{
  static const char* const names[] = {"SLURM_JOB_ID", "SLURM_JOBID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID"};
  const char*              id = scr_param_get(params, "SCR_JOB_ID");
  size_t                   i;

  for (i = 0; id == NULL && i < sizeof names / sizeof *names; i++) id = getenv(names[i]);
  return id != NULL && *id != '\0' ? id : "defjobid";
}

/* The user: parameter, USER, the password file, or the number. */
SCR_FN void scr_layout_user(const scr_hash* params, char* user, size_t n)
{
  const char*    name = scr_param_get(params, "SCR_USER_NAME");
  struct passwd* pw;

  if (name == NULL || *name == '\0') name = getenv("USER");
  if ((name == NULL || *name == '\0') && (pw = getpwuid(geteuid())) != NULL) name = pw->pw_name;
  if (name != NULL && *name != '\0') snprintf(user, n, "%s", name);
  else snprintf(user, n, "%lu", (unsigned long)geteuid());
}

/*
** Fill L, whose comm, rank, ranks, params, prefix, user and job are set, and make the directories of this node.
** Collective over the world.  On error scr_layout_free is due.
*/
SCR_FN int scr_layout_create(scr_layout* l)
{
  char      base[SCR_MAX_FILENAME] = "";
  scr_hash* h = scr_hash_new();
  int       i, leader, rc, err;

  rc = scr_param_int(l->params, "SCR_VIRTUAL_NODES", &l->virtual_nodes);
  if (rc == SCR_SUCCESS) rc = scr_layout_host(l);
  if (rc == SCR_SUCCESS) rc = scr_path_reduce_str(scr_param_get(l->params, "SCR_CNTL_BASE"), base, sizeof base);
  if (rc == SCR_SUCCESS && base[0] != '/')
    rc = SCR_ERR(SCR_ERR_PARAM, "SCR_CNTL_BASE=%s is not an absolute path", base);
  if (rc == SCR_SUCCESS && (strchr(l->user, '/') != NULL || strchr(l->job, '/') != NULL || l->user[0] == '.'))
    rc = SCR_ERR(SCR_ERR_PARAM, "SCR_USER_NAME=%s and SCR_JOB_ID=%s must be names without a slash", l->user, l->job);
  if ((rc = scr_agree(rc, l->comm)) != SCR_SUCCESS) goto out;
  snprintf(scr_msg_host, sizeof scr_msg_host, "%s", l->host);
  if ((rc = scr_groupdescs_create(l)) != SCR_SUCCESS) goto out;
  if ((rc = scr_agree(scr_storedescs_create(l), l->comm)) != SCR_SUCCESS) goto out;

  /* The first rank of the node takes the directories and tells the others which they are. */
  leader = l->group[0].leader == l->rank;
  if (leader) {
    rc = scr_dirs_take(l, base);
    scr_hash_util_set_int(h, "SUFFIX", rc == SCR_SUCCESS ? l->suffix : -1);
    scr_hash_util_set_str(h, "CNTL", l->cntl);
    for (i = 1; i < l->group[0].ranks; i++) scr_hash_send(h, l->node[i], l->comm);
  } else {
    const char* dir = NULL;
    rc = scr_hash_recv(h, l->group[0].leader, l->comm);
    scr_hash_util_get_int(h, "SUFFIX", &l->suffix);
    if (rc == SCR_SUCCESS && l->suffix >= 0 && scr_hash_util_get_str(h, "CNTL", &dir) == SCR_SUCCESS)
      rc = scr_fmt(l->cntl, sizeof l->cntl, "%s", dir);
  }
  if (rc == SCR_SUCCESS && l->suffix >= 0) rc = scr_storedescs_place(l);
  if ((err = scr_agree(rc, l->comm)) != SCR_SUCCESS) {
    rc = err;
    goto out;
  }
  if (l->virtual_nodes == 0 && l->group[0].groups == 1)
    scr_dbg(1, "all %d ranks run on one node; SCR_VIRTUAL_NODES splits it for trials", l->ranks);
  rc = scr_agree(scr_reddescs_create(l), l->comm);
out:
  scr_hash_delete(&h);
  return rc;
}

/* ==== 16 THE RUNTIME STATE ==============================================================================
** All that the library knows between two calls, in one struct.
**
** Uses       layout, hash, dataset.
** Offers     scr, scr_cached_find, scr_cached_add, scr_cached_remove; scr_event, scr_event_root, scr_event_transfer,
**            scr_event_damage.
** Invariants
**   S1  scr.cached is the same on every rank, but for the files that it speaks of; it is ordered by id.
**   S2  scr.map is what filemap_<n>.scrinfo holds, or will hold after the next scr_map_write.
**   S3  A rank holds the entry of its own rank for each good dataset of the cache.  Entries of other ranks belong to
**       datasets that are set aside.
** Failure    The code.
** ====================================================================================================== */

typedef enum { SCR_STATE_UNINIT, SCR_STATE_IDLE, SCR_STATE_RESTART, SCR_STATE_CHECKPOINT, SCR_STATE_OUTPUT } scr_phase;

/* A dataset in the cache. */
typedef struct {
  int          id;
  int          ckpt;       /* checkpoint id, 0 when it is none */
  int          good;       /* whole, and may be loaded; else it is set aside until its space is needed */
  int          flushed;    /* also on the prefix */
  int          superseded; /* its place on the prefix is taken by a newer one */
  char*        base;       /* its store */
  scr_dataset* desc;
} scr_cached;

typedef struct {
  scr_phase    phase;
  int          disabled; /* SCR_ENABLE=0 was found by SCR_Init */
  scr_layout   at;
  scr_hash*    app; /* what SCR_Config set; lives before SCR_Init and after SCR_Finalize */
  scr_filemap* map;
  char         map_file[SCR_MAX_FILENAME];
  char         prefix_real[SCR_MAX_FILENAME]; /* the prefix with links resolved; files may be named below either */
  int          prefix_lock;

  int         dataset_id, checkpoint_id; /* the last ones given */
  scr_cached* cached;
  int         ncached;

  /* parameters that are asked for often */
  int    flush_every, flush_width, fetch_width, crc_on_copy, crc_on_delete, crc_on_restart, crc_on_flush, preserve;
  size_t mpi_buf, file_buf;
  char*  work; /* memory of the redundancy engine, taken in SCR_Init so that it cannot fail later */

  scr_log log;
  int     log_failed; /* and has been said to */

  /* the dataset between Start and Complete */
  const scr_reddesc* red;
  scr_dataset*       out;
  int                out_id, out_flags;
  uint64_t failed_bytes; /* that this rank had written when the last dataset failed; 0 after one that did not */
  double   out_start;

  /* the checkpoint to restart from */
  int     loaded;       /* its id, 0 for none */
  int     tried_all;    /* nothing is left to load */
  int     once;         /* complete checkpoints were found that could not be loaded */
  int     damaged_maps; /* filemaps of this node that could not be understood */
  int     offer;        /* no dataset has been started in this run, so a checkpoint is on offer */
  int     load_below;   /* the application has rejected all with this id or a greater one */
  int     chosen;       /* the index says that the user chose CURRENT */
  scr_buf tried;        /* what could not be loaded, and why; text */

  /* decisions; on rank 0 */
  scr_hash* halt;
  int       halt_exit, halt_enabled, asked_should_exit, fresh_start;
  char      halt_why[256]; /* the condition that holds */
  int       need_calls, interval, seconds;
  double    overhead;
  double    ckpt_end, ckpt_cost;
  int       ckpt_count;
} scr_state;

static scr_state scr;

SCR_FN scr_cached* scr_cached_find(int id)
{
  int i;
  for (i = 0; i < scr.ncached; i++)
    if (scr.cached[i].id == id) return &scr.cached[i];
  return NULL;
}

SCR_FN void scr_cached_remove(int id)
{
  scr_cached* c = scr_cached_find(id);
  int         i;

  if (c == NULL) return;
  i = (int)(c - scr.cached);
  scr_free(&c->base);
  scr_dataset_delete(&c->desc);
  memmove(c, c + 1, (size_t)(scr.ncached - i - 1) * sizeof *c);
  scr.ncached--;
}

/* Add dataset DESC, kept in the store BASE, and raise the ids that were given.  Called alike everywhere (S1). */
SCR_FN int scr_cached_add(const scr_dataset* desc, const char* base, int good)
{
  scr_cached c, *all;
  int        i, flag = 0;

  memset(&c, 0, sizeof c);
  scr_dataset_get_id(desc, &c.id);
  scr_dataset_get_flag_ckpt(desc, &flag);
  if (flag) scr_dataset_get_ckpt(desc, &c.ckpt);
  c.good = good;
  scr_cached_remove(c.id);
  all = (scr_cached*)realloc(scr.cached, (size_t)(scr.ncached + 1) * sizeof *all);
  if (all == NULL) return SCR_ERR_OOM();
  scr.cached = all;
  c.base = scr_strdup(base);
  c.desc = scr_dataset_new();
  scr_hash_merge(c.desc, desc);
  for (i = scr.ncached; i > 0 && all[i - 1].id > c.id; i--) all[i] = all[i - 1];
  all[i] = c;
  scr.ncached++;
  if (c.id > scr.dataset_id) scr.dataset_id = c.id;
  return SCR_SUCCESS;
}

/* Write the filemap of this rank to the control directory (S2). */
SCR_FN int scr_map_write(void)
{
  return scr_filemap_write(scr.map_file, scr.map);
}

/* The name of the dataset DESC, never NULL. */
SCR_FN const char* scr_desc_name(const scr_dataset* desc)
{
  const char* name = NULL;
  scr_dataset_get_name(desc, &name);
  return name != NULL ? name : "?";
}

/* ---- events of the run ---- */

/* A log that cannot be written is said once, and stops nothing.  WHY is the last error before RC. */
SCR_FN void scr_logged(int rc, const scr_err_record* why)
{
  if (rc != SCR_SUCCESS && !scr.log_failed) scr_warn("%s; the log of this run has gaps", scr_err_text);
  if (rc != SCR_SUCCESS) scr.log_failed = 1;
  scr_err_restore(why);
}

/* Log EVENT of the dataset DESC, or of the run when that is NULL; SECS below 0 are left out. */
SCR_FN void scr_event(const char* event, const char* note, const scr_dataset* desc, double secs)
{
  scr_log_dataset d = {0, desc != NULL ? scr_desc_name(desc) : NULL, secs};
  scr_err_record  why;

  if (!scr.log.txt && !scr.log.syslog) return;
  if (desc != NULL) scr_dataset_get_id(desc, &d.id);
  scr_err_save(&why);
  scr_logged(scr_log_event(&scr.log, event, note, &d), &why);
}

/* The same for what the ranks do together: rank 0 logs it. */
SCR_FN void scr_event_root(const char* event, const char* note, const scr_dataset* desc, double secs)
{
  if (scr.at.rank == 0) scr_event(event, note, desc, secs);
}

/* All files of the dataset DESC went FROM TO in SECS: rank 0 logs it. */
SCR_FN void scr_event_transfer(const char* type, const char* from, const char* to, const scr_dataset* desc, double secs)
{
  scr_log_dataset d = {0, scr_desc_name(desc), secs};
  uint64_t        bytes = 0;
  int             files = 0;
  scr_err_record  why;

  if (scr.at.rank != 0 || (!scr.log.txt && !scr.log.syslog)) return;
  scr_dataset_get_id(desc, &d.id);
  scr_dataset_get_size(desc, &bytes);
  scr_dataset_get_files(desc, &files);
  scr_err_save(&why);
  scr_logged(scr_log_transfer(&scr.log, type, from, to, &d, (double)bytes, files), &why);
}

/* When RC, the last error, is that a file of dataset ID is not what it was, the rank that found it logs it. */
SCR_FN void scr_event_damage(int id, int rc)
{
  scr_log_dataset d = {id, NULL, -1.0};
  scr_err_record  why;
  int             corrupt = rc == SCR_ERR_CRC || rc == SCR_ERR_FORMAT;

  if ((!corrupt && rc != SCR_ERR_MISSING) || (!scr.log.txt && !scr.log.syslog)) return;
  scr_err_save(&why);
  scr_logged(scr_log_event(&scr.log, corrupt ? "CORRUPT" : "MISSING", why.text, &d), &why);
}

/* ==== 17 REDUNDANCY: APPLY AND RECOVER ==================================================================
** Protect the files of a rank within its set, and bring them back.
**
** Uses       kernels, file window, filemap, MPI helpers, layout, state.
** Offers     scr_set_gather, scr_red_apply, scr_red_recover.
** Invariants
**   R1  To protect is to rebuild members that have lost their redundancy file: one engine serves all schemes, both ways.
**   R2  A byte of data is read once for each member that combines it, and its CRC32 is taken on the way.
**   R3  A member that fails goes on exchanging, so that nobody waits for it; the caller agrees on the code.
**   R4  The header of a member describes its files and those of its K left neighbours, with identity and CRC32: whoever
**       can be rebuilt finds his metadata.
**   R5  What is rebuilt is written beside what lies there, and takes its place only when all of it is right.
** Failure    The code, which may differ between ranks until the caller has agreed.
** Source     RAID-5; Plank: A Tutorial on Reed-Solomon Coding for Fault-Tolerance in RAID-like Systems, 1997; Ross and
**            others: A Case Study in Application I/O on Linux Clusters, SC 2001.  The schedule is pairwise: in step D
**            member J sends to J+D and receives from J-D.
** ====================================================================================================== */

#define SCR_CODE_SLOTS 6 /* exchanges in flight */

enum { SCR_SET_LOST, SCR_SET_TOTAL, SCR_SET_READY, SCR_SET_NUMBERS }; /* arrays of scr.numbers */

/* An array with a number for each member of a set, of the memory taken in SCR_Init. */
SCR_FN int64_t* scr_set_numbers(int which)
{
  return (int64_t*)(void*)scr.work + (size_t)which * SCR_SET_SIZE_MAX;
}

#define SCR_WORK_NUMBERS (SCR_SET_NUMBERS * SCR_SET_SIZE_MAX * sizeof(int64_t))

/* Bytes of scr.work: the numbers of a set; the slots; and sums enough that the pieces of RS(2) have full size. */
#define SCR_WORK_BYTES(piece) (SCR_WORK_NUMBERS + (2 * SCR_CODE_SLOTS + 2 * 2 + 1) * (piece))

/* VALUES[i] = what member i brought, for a set as small as they are.  Collective over the set of D. */
SCR_FN int scr_set_gather(const scr_reddesc* d, MPI_Comm comm, int64_t value, int64_t* values)
{
  int step, rc = SCR_SUCCESS;

  values[d->my_rank] = value;
  for (step = 1; step < d->ranks; step++) {
    int         to = (d->my_rank + step) % d->ranks, from = (d->my_rank - step + d->ranks) % d->ranks, err;
    MPI_Request reqs[2];
    MPI_Irecv(&values[from], 1, MPI_INT64_T, d->member[from], SCR_TAG_DATA, comm, &reqs[0]);
    MPI_Isend(&value, 1, MPI_INT64_T, d->member[to], SCR_TAG_DATA, comm, &reqs[1]);
    if ((err = scr_waitall(2, reqs)) != SCR_SUCCESS) rc = err;
  }
  return rc;
}

/* ---- the code of a set ---- */

/* An exchange in flight. */
typedef struct {
  MPI_Request req[2];
  uint64_t    round;
  int         result;  /* the received piece is a finished symbol; else one more source of task E */
  int         source;  /* set rank of the sender, -1 for none */
  int         reducer; /* whose task it is */
  int         e;
  char *      in, *out;
} scr_code_slot;

/* One run of the engine over the set of D. */
typedef struct {
  const scr_reddesc* d;
  scr_erasure        ec;
  int                spread; /* whole members, or all, combine by turns for the lost; else each member for itself */
  int                plain;  /* a symbol is found by a copy of another one: there is nothing to combine */
  int*               worker; /* those that combine */
  int*               turn;   /* [n]: place among the workers, or -1 */
  int                workers, tasks;
  uint64_t           rounds;
  size_t             piece;

  MPI_Comm      comm;
  scr_window*   win;  /* the files of this member */
  const char*   file; /* its redundancy file, */
  int           fd;   /* open, */
  uint64_t      head; /* with so many bytes of header */
  uLong*        sum;  /* [k]: CRC32 of the chunks of the redundancy file, on members that write it */
  int           rc;
  scr_code_slot slot[SCR_CODE_SLOTS];
  uint64_t      issued, ended; /* exchanges */
  uint64_t      mark[2];       /* how many were issued when the sums of a round were given away */
  char *        acc, *own;
  int*          begun; /* [2][rows]: symbols that are in a sum */
} scr_code;

/* What one member combines in a round: N bytes at OFFSET of position POS. */
typedef struct {
  int      reducer, pos;
  uint64_t offset;
  size_t   n;
} scr_code_task;

SCR_FN void scr_code_free(scr_code* x)
{
  scr_erasure_free(&x->ec);
  scr_free(&x->worker);
  scr_free(&x->turn);
  scr_free(&x->sum);
  scr_free(&x->begun);
}

/*
** Make X ready to find what the members of D have LOST, of which each has TOTAL bytes of data.  SCR_ERR_LOST when the
** scheme cannot.  Local, alike on all members; scr_code_free is due.
*/
SCR_FN int scr_code_plan(scr_code* x, const scr_reddesc* d, const int64_t* lost, const int64_t* total)
{
  int i, data = 0, whole = 0, rc;

  memset(x, 0, sizeof *x);
  x->d = d;
  x->worker = (int*)scr_malloc((size_t)d->ranks * sizeof *x->worker);
  x->turn = (int*)scr_malloc((size_t)d->ranks * sizeof *x->turn);
  x->sum = (uLong*)scr_malloc((size_t)d->failures * sizeof *x->sum);
  x->begun = (int*)scr_malloc(2 * ((size_t)d->failures + 2) * sizeof *x->begun);
  if (x->worker == NULL || x->turn == NULL || x->sum == NULL || x->begun == NULL) return SCR_ERR_OOM();
  if ((rc = scr_erasure_make(&x->ec, d->type, d->ranks, d->failures, lost, total)) != SCR_SUCCESS) return rc;
  for (i = 0; i < d->ranks; i++) {
    if (lost[i] & SCR_LOST_DATA) data = 1;
    whole += lost[i] == 0;
  }
  x->spread = data && d->type != SCR_COPY_PARTNER;
  x->plain = !x->spread && (d->type == SCR_COPY_PARTNER || (d->type == SCR_COPY_XOR && d->ranks == 2));
  for (i = 0; i < d->ranks; i++) {
    x->turn[i] = x->spread && whole > 0 && lost[i] ? -1 : x->workers;
    if (x->turn[i] >= 0) x->worker[x->workers++] = i;
  }
  x->tasks = x->spread ? 1 : d->type == SCR_COPY_PARTNER ? 2 : d->failures;
  return SCR_SUCCESS;
}

/* Task E of REDUCER in ROUND; 0 when it has none.  Alike on all members. */
SCR_FN int scr_code_task_of(const scr_code* x, uint64_t round, int reducer, int e, scr_code_task* t)
{
  uint64_t piece = round, length;

  t->reducer = reducer;
  if (x->spread) {
    uint64_t item = round * (uint64_t)x->workers + (uint64_t)x->turn[reducer];
    if (x->turn[reducer] < 0) return 0;
    piece = item / (uint64_t)x->ec.n;
    t->pos = (int)(item % (uint64_t)x->ec.n);
    if (x->ec.target[t->pos * x->ec.k] < 0) return 0;
  } else {
    t->pos = (reducer + (x->ec.type == SCR_COPY_PARTNER ? x->ec.n - 1 + e : e)) % x->ec.n;
    if (!scr_erasure_is_lost(&x->ec, reducer, t->pos)) return 0;
  }
  t->offset = piece * x->piece;
  length = scr_erasure_length(&x->ec, t->pos);
  if (t->offset >= length) return 0;
  t->n = length - t->offset < x->piece ? (size_t)(length - t->offset) : x->piece;
  return 1;
}

/* 1 when member R brings its symbol to task T. */
SCR_FN int scr_code_gives(const scr_code* x, const scr_code_task* t, int r)
{
  unsigned char f;
  uint64_t      at;
  int           i;

  if (scr_erasure_symbol(&x->ec, r, t->pos, &at) == SCR_SYMBOL_NONE || scr_erasure_is_lost(&x->ec, r, t->pos)) return 0;
  for (i = 0; i < x->ec.k; i++)
    if ((x->spread || x->ec.target[t->pos * x->ec.k + i] == t->reducer) && scr_erasure_factor(&x->ec, t->pos, i, r, &f))
      return 1;
  return 0;
}

/* ---- running it ---- */

/* The bytes of T that this member holds: in BUF, or where the window has them in memory.  After an error: zeros (R3). */
SCR_FN const char* scr_code_load(scr_code* x, const scr_code_task* t, char* buf, int sum)
{
  uint64_t    at;
  int         kind = scr_erasure_symbol(&x->ec, x->d->my_rank, t->pos, &at), rc = x->rc;
  const char* p = buf;

  if (rc == SCR_SUCCESS && kind == SCR_SYMBOL_RED) {
    ssize_t got = scr_pread_all(x->fd, buf, t->n, (off_t)(x->head + at + t->offset));
    if (got < 0) rc = SCR_ERRNO("cannot read %s", x->file);
    else if ((size_t)got < t->n) rc = SCR_ERR(SCR_ERR_MISSING, "%s is shorter than its header says", x->file);
  } else if (rc == SCR_SUCCESS) {
    rc = scr_window_view(x->win, at + t->offset, buf, t->n, sum, &p);
  }
  if (rc != SCR_SUCCESS) {
    memset(buf, 0, t->n);
    p = buf;
  }
  x->rc = rc;
  return p;
}

/* Keep the finished symbol of T, which is this member's. */
SCR_FN void scr_code_store(scr_code* x, const scr_code_task* t, char* buf)
{
  uint64_t at;
  int      kind = scr_erasure_symbol(&x->ec, x->d->my_rank, t->pos, &at);

  if (x->rc != SCR_SUCCESS) return;
  if (kind == SCR_SYMBOL_DATA) {
    x->rc = scr_window_write(x->win, at + t->offset, buf, t->n);
  } else if (!scr_is_zero(buf, t->n) && scr_pwrite_all(x->fd, buf, t->n, (off_t)(x->head + at + t->offset)) < 0) {
    x->rc = SCR_ERRNO("cannot write %s", x->file);
  } else {
    uLong* sum = &x->sum[at / x->ec.chunk];
    *sum = scr_crc32(*sum, buf, t->n);
  }
}

/* Sums that grow in a round: of targets when the work is spread, else of tasks. */
SCR_FN int scr_code_rows(const scr_code* x)
{
  return x->ec.k > x->tasks ? x->ec.k : x->tasks;
}

/* The place of sum I of a round: two rounds are under way at once. */
SCR_FN size_t scr_code_row(const scr_code* x, uint64_t round, int i)
{
  return (size_t)(round % 2) * (size_t)scr_code_rows(x) + (size_t)i;
}

SCR_FN char* scr_code_acc(const scr_code* x, uint64_t round, int i)
{
  return x->acc + scr_code_row(x, round, i) * x->piece;
}

/* Add the symbol P of member R to the sums of task E, which is T; the first one of a task is the sum. */
SCR_FN void scr_code_add(scr_code* x, uint64_t round, int e, const scr_code_task* t, int r, const char* p)
{
  const void*   src = p;
  unsigned char f;
  int           i;

  for (i = 0; i < x->ec.k; i++) {
    if (!x->spread && x->ec.target[t->pos * x->ec.k + i] != t->reducer) continue;
    if (!scr_erasure_factor(&x->ec, t->pos, i, r, &f)) continue;
    if (x->begun[scr_code_row(x, round, x->spread ? i : e)]++ == 0)
      scr_gf_sum(scr_code_acc(x, round, x->spread ? i : e), &src, &f, 1, t->n);
    else scr_gf_mad_one(scr_code_acc(x, round, x->spread ? i : e), src, f, t->n);
  }
}

/* Wait for the oldest exchange, and use what it brought. */
SCR_FN void scr_code_end_one(scr_code* x)
{
  scr_code_slot* s = &x->slot[x->ended++ % SCR_CODE_SLOTS];
  scr_code_task  t;
  int            err = scr_waitall(2, s->req);

  if (err != SCR_SUCCESS) x->rc = err;
  if (s->source < 0) return;
  scr_code_task_of(x, s->round, s->reducer, s->e, &t);
  if (s->result) scr_code_store(x, &t, s->in);
  else scr_code_add(x, s->round, s->e, &t, s->source, s->in);
}

/* A free slot for an exchange of ROUND. */
SCR_FN scr_code_slot* scr_code_slot_take(scr_code* x, uint64_t round, int e)
{
  scr_code_slot* s;

  while (x->issued - x->ended >= SCR_CODE_SLOTS) scr_code_end_one(x);
  s = &x->slot[x->issued++ % SCR_CODE_SLOTS];
  s->req[0] = s->req[1] = MPI_REQUEST_NULL;
  s->round = round;
  s->e = e;
  s->result = 0;
  s->source = -1;
  return s;
}

/* One step of a round: send to member TO for its task E, receive from member FROM for the own one. */
SCR_FN void scr_code_step(scr_code* x, uint64_t round, int e, int to, int from)
{
  int            me = x->d->my_rank;
  scr_code_task  out, in;
  int            send = scr_code_task_of(x, round, to, e, &out) && scr_code_gives(x, &out, me);
  int            recv = scr_code_task_of(x, round, me, e, &in) && scr_code_gives(x, &in, from);
  scr_code_slot* s;

  if (!send && !recv) return;
  s = scr_code_slot_take(x, round, e);
  if (recv) {
    s->result = x->plain;
    s->source = from;
    s->reducer = me;
    MPI_Irecv(s->in, (int)in.n, MPI_BYTE, x->d->member[from], SCR_TAG_DATA, x->comm, &s->req[0]);
  }
  if (send) {
    const char* p = scr_code_load(x, &out, s->out, !x->spread && e == 0);
    MPI_Isend(p, (int)out.n, MPI_BYTE, x->d->member[to], SCR_TAG_DATA, x->comm, &s->req[1]);
  }
}

/* All symbols that a round combines go to those that combine them. */
SCR_FN void scr_code_combine(scr_code* x, uint64_t round)
{
  int d, e;

  while (x->ended < x->mark[round % 2]) scr_code_end_one(x); /* the sums of the round before last have left */
  for (e = 0; e < scr_code_rows(x); e++) x->begun[scr_code_row(x, round, e)] = 0;
  for (d = 1; d < x->ec.n; d++)
    for (e = 0; e < x->tasks; e++)
      scr_code_step(x, round, e, (x->d->my_rank + d) % x->ec.n, (x->d->my_rank - d + x->ec.n) % x->ec.n);
}

/* Add what this member itself has of its tasks of ROUND, and keep what is its own. */
SCR_FN void scr_code_finish(scr_code* x, uint64_t round)
{
  int           e, me = x->d->my_rank;
  scr_code_task t;

  for (e = 0; e < x->tasks && !x->plain; e++) {
    if (!scr_code_task_of(x, round, me, e, &t)) continue;
    if (scr_code_gives(x, &t, me)) scr_code_add(x, round, e, &t, me, scr_code_load(x, &t, x->own, 0));
    if (!x->spread) scr_code_store(x, &t, scr_code_acc(x, round, e));
  }
}

/*
** The workers of a round send the symbols to their targets.  All go by worker, then target: where each is both, sending
** first and receiving then would make them wait in a circle.
*/
SCR_FN void scr_code_deliver(scr_code* x, uint64_t round)
{
  int            j, i, me = x->d->my_rank;
  scr_code_task  t;
  scr_code_slot* s;

  for (j = 0; x->spread && j < x->workers; j++) {
    if (!scr_code_task_of(x, round, x->worker[j], 0, &t)) continue;
    for (i = 0; i < x->ec.k && x->ec.target[t.pos * x->ec.k + i] >= 0; i++) {
      int to = x->ec.target[t.pos * x->ec.k + i];
      if (to != me && x->worker[j] != me) continue;
      s = scr_code_slot_take(x, round, 0);
      if (to == me) {
        s->result = 1;
        s->source = s->reducer = x->worker[j];
        MPI_Irecv(s->in, (int)t.n, MPI_BYTE, x->d->member[s->source], SCR_TAG_DATA, x->comm, &s->req[0]);
      }
      if (x->worker[j] == me)
        MPI_Isend(scr_code_acc(x, round, i), (int)t.n, MPI_BYTE, x->d->member[to], SCR_TAG_DATA, x->comm, &s->req[1]);
    }
  }
}

/* How large a piece is, how many rounds there are, and where the slots lie in scr.work. */
SCR_FN void scr_code_share_out(scr_code* x)
{
  int      i, c, rows = scr_code_rows(x);
  uint64_t most = 1, pieces;
  size_t   room = SCR_WORK_BYTES(scr.mpi_buf) - SCR_WORK_NUMBERS, parts = (size_t)(2 * SCR_CODE_SLOTS + 2 * rows + 1);
  char*    p = scr.work + SCR_WORK_NUMBERS;

  for (c = 0; c < x->ec.n; c++)
    if (scr_erasure_length(&x->ec, c) > most) most = scr_erasure_length(&x->ec, c);
  x->piece = room / parts < scr.mpi_buf ? room / parts & ~(size_t)63 : scr.mpi_buf;
  if (x->piece > most) x->piece = (size_t)most;
  pieces = (most + x->piece - 1) / x->piece;
  x->rounds = x->spread ? (pieces * (uint64_t)x->ec.n + (uint64_t)x->workers - 1) / (uint64_t)x->workers : pieces;
  for (i = 0; i < SCR_CODE_SLOTS; i++) {
    x->slot[i].in = p + (size_t)(2 * i) * x->piece;
    x->slot[i].out = x->slot[i].in + x->piece;
  }
  x->acc = p + 2 * SCR_CODE_SLOTS * x->piece;
  x->own = x->acc + 2 * (size_t)rows * x->piece;
}

/*
** Run the engine.  Collective over the set.
**
** The exchanges of round R+1 are under way while round R is finished.  All members go through the same sequence of
** exchanges and complete them in order, so the first one that is not complete has both its sides posted.
*/
SCR_FN int scr_code_run(scr_code* x)
{
  uint64_t round;

  x->comm = scr.at.comm;
  scr_code_share_out(x);
  for (round = 0; round <= x->rounds; round++) {
    if (round < x->rounds) scr_code_combine(x, round);
    if (round == 0) continue;
    while (x->ended < x->issued && x->slot[x->ended % SCR_CODE_SLOTS].round < round) scr_code_end_one(x);
    scr_code_finish(x, round - 1);
    scr_code_deliver(x, round - 1);
    x->mark[(round - 1) % 2] = x->issued;
  }
  while (x->ended < x->issued) scr_code_end_one(x);
  return x->rc;
}

/* ---- the files of a rank ---- */

/* 1 when META describes a file of the application. */
SCR_FN int scr_meta_is_full(const scr_meta* meta)
{
  return scr_meta_check_filetype(meta, "FULL") == SCR_SUCCESS;
}

/* The application's files of RANK in dataset ID, in the order of the map.  The caller frees F. */
SCR_FN int scr_file_list_from_map(scr_filemap* map, int id, int rank, scr_file_list* f)
{
  scr_hash_elem* e;
  scr_meta*      meta = scr_meta_new();
  int            rc = scr_file_list_room(f, scr_filemap_num_files(map, id, rank) + 1);

  for (e = scr_filemap_first_file(map, id, rank); e != NULL && rc == SCR_SUCCESS; e = scr_hash_elem_next(e)) {
    scr_hash_unset_all(meta);
    scr_filemap_get_meta(map, id, rank, scr_hash_elem_key(e), meta);
    if (scr_meta_is_full(meta)) rc = scr_file_list_add(f, scr_hash_elem_key(e), meta);
  }
  scr_meta_delete(&meta);
  return rc;
}

/* Store the CRC32 of each file of LIST, as W has it, in the map. */
SCR_FN int scr_file_list_sum(scr_file_list* f, scr_window* w, int id, int rank)
{
  scr_meta* meta = scr_meta_new();
  uLong     crc, want;
  int       i, rc = SCR_SUCCESS;

  for (i = 0; i < f->n && rc == SCR_SUCCESS; i++) {
    rc = scr_window_crc(w, i, &crc);
    scr_hash_unset_all(meta);
    scr_filemap_get_meta(scr.map, id, rank, f->path[i], meta);
    if (rc == SCR_SUCCESS && scr_meta_get_crc32(meta, &want) == SCR_SUCCESS && want != crc) {
      scr_event_damage(id, scr_file_has_crc(f->path[i], crc, want, "it was corrupted in the cache"));
      rc = SCR_ERR_IO; /* no verdict on where it was fetched from */
      break;
    }
    scr_meta_set_crc32(meta, crc);
    if (rc == SCR_SUCCESS) scr_filemap_set_meta(scr.map, id, rank, f->path[i], meta);
  }
  scr_meta_delete(&meta);
  return rc;
}

/* ---- headers of redundancy files ---- */

/* One member of a set, while it is protected or rebuilt. */
typedef struct {
  const scr_reddesc* d;
  int                id;
  const scr_dataset* desc;
  int64_t            lost;        /* what this member has lost */
  int                fresh;       /* the dataset is new: the CRC32 of its files is taken */
  scr_file_list      files, temp; /* the application's files, and where they are rebuilt */
  scr_window         win;
  char               file[SCR_MAX_FILENAME], temp_file[SCR_MAX_FILENAME]; /* the redundancy file */
  scr_hash *         header, *current;
  scr_code           x;
} scr_red_job;

/* CURRENT of the header: the rank, and the meta data of its files in the order of their list. */
SCR_FN void scr_red_current(scr_red_job* j)
{
  int i;

  scr_hash_unset_all(j->current);
  scr_hash_util_set_int(j->current, "RANK", scr.at.rank);
  scr_hash_util_set_int(j->current, "FILES", j->files.n);
  for (i = 0; i < j->files.n; i++) {
    scr_meta* meta = scr_meta_new();
    scr_filemap_get_meta(scr.map, j->id, scr.at.rank, j->files.path[i], meta);
    if (j->fresh && scr.crc_on_copy && scr_hash_get(meta, "CRC") == NULL)
      scr_meta_set_crc32(meta, 0); /* room for the real one */
    scr_hash_merge(scr_hash_set_kv_int(j->current, "FILE", i), meta);
    scr_meta_delete(&meta);
  }
}

/* The header without the descriptions of members: dataset, world, scheme, set, chunk. */
SCR_FN void scr_red_header(scr_red_job* j)
{
  const scr_reddesc* d = j->d;
  int                i;

  scr_hash_merge(scr_hash_set(j->header, "DSET", scr_hash_new()), j->desc);
  scr_hash_unset(scr_hash_get(j->header, "DSET"), "DIR"); /* not known yet when a dataset is protected */
  scr_hash_util_set_int(j->header, "RANKS", scr.at.ranks);
  scr_hash_util_set_str(j->header, "TYPE", scr_copy_name(d->type));
  scr_hash_util_set_int(j->header, "FAILURES", d->failures);
  scr_hash_setf(j->header, NULL, "%s %s %d", "GROUP", "RANKS", d->ranks);
  for (i = 0; i < d->ranks; i++) scr_hash_setf(j->header, NULL, "%s %s %d %d", "GROUP", "RANK", i, d->member[i]);
  scr_hash_util_set_bytecount(j->header, "CHUNK", j->x.ec.chunk);
}

/* The path of this member's redundancy file below the dataset directory. */
SCR_FN void scr_red_name(const scr_reddesc* d, char* name, size_t n)
{
  char base[96];
  snprintf(name, n, ".scr/%s", scr_set_file_name(d->type, d->my_rank, d->ranks, d->group_id, base, sizeof base));
}

/* Give CURRENT to the right neighbours and take those of the left ones into the header.  Collective over the set. */
SCR_FN int scr_red_describe(scr_red_job* j)
{
  const scr_reddesc* d = j->d;
  char               key[32];
  int                i, rc = SCR_SUCCESS;

  scr_hash_unset(j->header, "CURRENT");
  scr_hash_merge(scr_hash_set(j->header, "CURRENT", scr_hash_new()), j->current);
  for (i = 1; i <= d->failures; i++) {
    int       right = d->member[(d->my_rank + i) % d->ranks], left = d->member[(d->my_rank - i + d->ranks) % d->ranks];
    scr_hash* partner = scr_hash_new();
    int       err = scr_hash_sendrecv(j->current, right, partner, left, scr.at.comm);
    if (rc == SCR_SUCCESS) rc = err;
    scr_hash_unset(j->header, scr_set_left_key(i, key, sizeof key)); /* a rebuilt header is the same to the byte */
    scr_hash_set(j->header, scr_set_left_key(i, key, sizeof key), partner);
  }
  return rc;
}

/* Bytes of each of the K chunks in this member's redundancy file; PARTNER has one, the left neighbour's stream. */
SCR_FN uint64_t scr_red_part(const scr_red_job* j)
{
  int left = (j->d->my_rank - 1 + j->d->ranks) % j->d->ranks;
  return j->d->type == SCR_COPY_PARTNER ? (uint64_t)j->x.ec.total[left] : j->x.ec.chunk;
}

/* Write the header over the head of the file, put it in its place, and enter it with its CRC32 in the map. */
SCR_FN int scr_red_seal(scr_red_job* j)
{
  scr_buf   b = {NULL, 0, 0, 0};
  scr_meta* meta = scr_meta_new();
  char      name[128];
  uint64_t  part = scr_red_part(j);
  uLong     crc;
  int       e, rc = scr_hash_image(j->header, &b);

  if (rc == SCR_SUCCESS && b.n != j->x.head)
    rc = SCR_ERR(SCR_ERR_FORMAT, "the header of %s changed its size from %" PRIu64 " to %zu bytes", j->file, j->x.head,
                 b.n);
  if (rc == SCR_SUCCESS && scr_pwrite_all(j->x.fd, b.p, b.n, 0) < 0) rc = SCR_ERRNO("cannot write %s", j->temp_file);
  if (rc == SCR_SUCCESS) {
    rc = scr_os.close(j->x.fd) < 0 ? SCR_ERRNO("cannot close %s", j->temp_file) : SCR_SUCCESS;
    j->x.fd = -1;
  }
  if (rc == SCR_SUCCESS) {
    scr_red_name(j->d, name, sizeof name);
    scr_meta_set_filename(meta, name);
    scr_meta_set_filetype(meta, scr_copy_name(j->d->type));
    scr_meta_set_filesize(meta, j->x.head + part * (uint64_t)j->d->failures);
    scr_meta_set_ranks(meta, scr.at.ranks);
    scr_meta_set_complete(meta, 1);
    crc = scr_crc32(SCR_CRC32_START, b.p, b.n);
    for (e = 0; e < j->d->failures; e++) crc = scr_crc32_combine(crc, j->x.sum[e], part);
    scr_meta_set_crc32(meta, crc);
    scr_filemap_add_file(scr.map, j->id, scr.at.rank, j->file);
    scr_filemap_set_meta(scr.map, j->id, scr.at.rank, j->file, meta);
    if (scr_os.rename(j->temp_file, j->file) < 0) rc = SCR_ERRNO("cannot rename %s to %s", j->temp_file, j->file);
  }
  scr_meta_delete(&meta);
  scr_buf_free(&b);
  return rc;
}

/* 1 when the header H lists the files of CURRENT, in their order and with their sizes. */
SCR_FN int scr_red_lists(const scr_hash* h, const scr_hash* current)
{
  const scr_hash* own = scr_hash_get(h, "CURRENT");
  int             i, n = 0;

  if (!scr_hash_alike(own, current, "RANK") || !scr_hash_alike(own, current, "FILES")) return 0;
  for (scr_hash_util_get_int(current, "FILES", &n), i = 0; i < n; i++) {
    const scr_hash *a = scr_hash_get_kv_int(own, "FILE", i), *b = scr_hash_get_kv_int(current, "FILE", i);
    if (!scr_hash_alike(a, b, "FILE") || !scr_hash_alike(a, b, "SIZE")) return 0;
  }
  return 1;
}

/* Read the header of this member's redundancy file, which must be the one that J has made, but for checksums. */
SCR_FN int scr_red_read_header(scr_red_job* j)
{
  scr_hash* h = scr_hash_new();
  int       rc = scr_hash_file_read_head(j->file, h, &j->x.head);

  if (rc == SCR_SUCCESS) rc = scr_set_headers_fit(j->header, "the record of the cache", h, j->file, j->d->ranks);
  if (rc == SCR_SUCCESS && !scr_red_lists(h, j->current))
    rc = SCR_ERR(SCR_ERR_FORMAT, "%s lists other files than the record of the cache", j->file);
  scr_hash_delete(rc == SCR_SUCCESS ? &j->header : &h);
  if (rc == SCR_SUCCESS) j->header = h;
  return rc;
}

/* ---- the files of one member ---- */

/* The path of a file that is rebuilt, before it takes its place. */
SCR_FN int scr_red_temp(const scr_red_job* j, int i, char* path, size_t n)
{
  char name[64];
  snprintf(name, sizeof name, ".scr/new.%d.%d", scr.at.rank, i);
  return scr_reddesc_path(&scr.at, j->d, j->id, name, path, n);
}

/* The list of temporary files beside the list of files. */
SCR_FN int scr_red_temps(scr_red_job* j)
{
  char path[SCR_MAX_FILENAME];
  int  i, rc = scr_file_list_room(&j->temp, j->files.n + 1);

  for (i = 0; i < j->files.n && rc == SCR_SUCCESS; i++) {
    rc = scr_red_temp(j, i, path, sizeof path);
    if (rc == SCR_SUCCESS) rc = scr_reddesc_claim(j->d, path);
    j->temp.path[i] = scr_strdup(path);
    j->temp.size[i] = j->files.size[i];
    j->temp.n = i + 1;
  }
  return rc;
}

/* Open the files of this member: to read, or new ones for what it has lost. */
SCR_FN int scr_red_open(scr_red_job* j)
{
  int      write = (j->lost & SCR_LOST_DATA) != 0, make = (j->lost & SCR_LOST_RED) != 0, rc;
  int      plain = j->d->type == SCR_COPY_PARTNER;
  uint64_t lane = plain ? 0 : j->x.ec.chunk;
  scr_buf  b = {NULL, 0, 0, 0};

  if ((rc = scr_red_temp(j, j->files.n, j->temp_file, sizeof j->temp_file)) != SCR_SUCCESS) return rc;
  if (make && (rc = scr_reddesc_claim(j->d, j->temp_file)) == SCR_SUCCESS) {
    rc = scr_hash_image(j->header, &b);
    j->x.head = b.n;
    scr_buf_free(&b);
  }
  if (rc == SCR_SUCCESS && write) rc = scr_red_temps(j);
  if (rc == SCR_SUCCESS)
    rc = scr_window_open(&j->win, j->files.n, write ? j->temp.path : j->files.path, j->files.size,
                         write ? O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW : O_RDONLY, 0600, lane,
                         plain ? 1 : j->x.ec.n - j->x.ec.k);
  if (rc != SCR_SUCCESS) return rc;
  j->x.file = make ? j->temp_file : j->file;
  j->x.fd = scr_os.open(j->x.file, make ? O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW : O_RDONLY, 0600);
  if (j->x.fd < 0) return SCR_ERRNO("cannot open %s", j->x.file);
  if (make && scr_os.ftruncate(j->x.fd, (off_t)(j->x.head + scr_red_part(j) * (uint64_t)j->d->failures)) < 0)
    return SCR_ERRNO("cannot give %s its size", j->x.file);
  return SCR_SUCCESS;
}

/*
** The CRC32 of each file of this rank must be the recorded one: of rebuilt files, which are made here when they are empty,
** and of those that others are rebuilt from, or redundancy would be made of wrong bytes.
*/
SCR_FN int scr_red_check_files(scr_red_job* j)
{
  int       rebuilt = (j->lost & SCR_LOST_DATA) != 0, i, rc = SCR_SUCCESS;
  scr_meta* meta = scr_meta_new();
  uLong     crc = 0, want;

  for (i = 0; i < j->files.n && rc == SCR_SUCCESS; i++) {
    int fd = -1;
    if (rebuilt && j->files.size[i] == 0) rc = scr_window_fd(&j->win, i, &fd); /* no byte passed, nothing opened it */
    if (rc == SCR_SUCCESS) rc = scr_window_crc(&j->win, i, &crc);
    scr_hash_unset_all(meta);
    scr_filemap_get_meta(scr.map, j->id, scr.at.rank, j->files.path[i], meta);
    if (rc == SCR_SUCCESS && scr_meta_get_crc32(meta, &want) == SCR_SUCCESS)
      rc = scr_file_has_crc(j->files.path[i], crc, want,
                            rebuilt ? "it was rebuilt from a corrupt file of its set" : "it is corrupt");
    scr_event_damage(j->id, rc);
  }
  scr_meta_delete(&meta);
  return rc;
}

/* What was rebuilt is right: it takes its place (R5). */
SCR_FN int scr_red_place(scr_red_job* j)
{
  int i, rc = scr_window_close(&j->win);

  for (i = 0; i < j->temp.n && rc == SCR_SUCCESS; i++)
    if (scr_os.rename(j->temp.path[i], j->files.path[i]) < 0)
      rc = SCR_ERRNO("cannot rename %s to %s", j->temp.path[i], j->files.path[i]);
  return rc;
}

/* Close and free; temporary files that are left go. */
SCR_FN int scr_red_end(scr_red_job* j, int rc)
{
  int i;

  if (j->x.fd >= 0) scr_os.close(j->x.fd);
  scr_window_free(&j->win);
  for (i = 0; i < j->temp.n && rc != SCR_SUCCESS; i++) scr_os.unlink(j->temp.path[i]);
  if (rc != SCR_SUCCESS && j->temp_file[0] != '\0') scr_os.unlink(j->temp_file);
  scr_file_list_free(&j->temp);
  scr_file_list_free(&j->files);
  scr_code_free(&j->x);
  scr_hash_delete(&j->header);
  scr_hash_delete(&j->current);
  return rc;
}

/* ---- the set ---- */

/* 1 when all members brought a number in ALL that is not negative, and the same unless ANY. */
SCR_FN int scr_set_agrees(const scr_reddesc* d, const int64_t* all, int any)
{
  int i;
  for (i = 0; i < d->ranks; i++)
    if (all[i] < 0 || (!any && all[i] != all[0])) return 0;
  return 1;
}

/* Everyone brings VALUE, or RC when that is an error; they all go on or all stop.  Collective over the set. */
SCR_FN int scr_red_ready(scr_red_job* j, int rc, int which, int64_t value, int any)
{
  int64_t* all = scr_set_numbers(which);
  int      err = scr_set_gather(j->d, scr.at.comm, rc == SCR_SUCCESS ? value : -1, all);

  if (rc != SCR_SUCCESS || err != SCR_SUCCESS) return rc != SCR_SUCCESS ? rc : err;
  if (scr_set_agrees(j->d, all, any)) return SCR_SUCCESS;
  rc = SCR_ERR(SCR_ERR_LOST, "another member of the set of rank %d cannot take part", scr.at.rank);
  scr_err_secondhand = 1; /* the vote prefers what that member says */
  return rc;
}

/* Find what the members have lost, and put it in its place.  Collective over the set; ends J. */
SCR_FN int scr_red_run(scr_red_job* j, int rc)
{
  const scr_reddesc* d = j->d;
  char               name[128];
  int64_t            bytes = 0;
  int                i, err;

  for (i = 0; i < j->files.n; i++) bytes += (int64_t)j->files.size[i];
  if ((rc = scr_red_ready(j, rc, SCR_SET_TOTAL, bytes, 1)) != SCR_SUCCESS) return scr_red_end(j, rc);
  rc = scr_code_plan(&j->x, d, scr_set_numbers(SCR_SET_LOST), scr_set_numbers(SCR_SET_TOTAL));
  j->x.win = &j->win;
  j->x.fd = -1;
  scr_red_name(d, name, sizeof name);
  if (rc == SCR_SUCCESS) rc = scr_reddesc_path(&scr.at, d, j->id, name, j->file, sizeof j->file);
  scr_red_header(j);
  scr_red_current(j);
  err = scr_red_describe(j);
  if (rc == SCR_SUCCESS) rc = err;
  if (rc == SCR_SUCCESS && !(j->lost & SCR_LOST_RED)) rc = scr_red_read_header(j);
  if (rc == SCR_SUCCESS) rc = scr_red_open(j);
  if ((rc = scr_red_ready(j, rc, SCR_SET_READY, (int64_t)j->x.ec.chunk, 0)) != SCR_SUCCESS) return scr_red_end(j, rc);
  rc = scr_code_run(&j->x);
  if (rc == SCR_SUCCESS && j->fresh && scr.crc_on_copy) rc = scr_file_list_sum(&j->files, &j->win, j->id, scr.at.rank);
  if (rc == SCR_SUCCESS && !j->fresh && (j->lost & SCR_LOST_DATA || !scr.crc_on_restart)) rc = scr_red_check_files(j);
  if (j->fresh) {
    scr_red_current(j);
    err = scr_red_describe(j);
    if (rc == SCR_SUCCESS) rc = err;
  }
  /* Who could not read has sent zeros: then nothing may take its place. */
  rc = scr_red_ready(j, rc, SCR_SET_READY, 0, 1);
  if (rc == SCR_SUCCESS && j->lost & SCR_LOST_DATA) rc = scr_red_place(j);
  if (rc == SCR_SUCCESS && j->lost & SCR_LOST_RED) rc = scr_red_seal(j);
  return scr_red_end(j, rc);
}

SCR_FN void scr_red_begin(scr_red_job* j, const scr_reddesc* d, int id, const scr_dataset* desc, int64_t lost)
{
  memset(j, 0, sizeof *j);
  j->d = d;
  j->id = id;
  j->desc = desc;
  j->lost = lost;
  j->x.fd = -1;
  j->header = scr_hash_new();
  j->current = scr_hash_new();
}

/* ---- apply ---- */

/* SINGLE: nothing but the CRC32 of each file. */
SCR_FN int scr_red_apply_single(scr_file_list* f, int id)
{
  scr_window w;
  int        rc;

  if (!scr.crc_on_copy) return SCR_SUCCESS;
  rc = scr_window_open(&w, f->n, f->path, f->size, O_RDONLY, 0, 0, 1); /* nothing passes: each file is read */
  if (rc == SCR_SUCCESS) rc = scr_file_list_sum(f, &w, id, scr.at.rank);
  scr_window_free(&w);
  return rc;
}

/*
** Protect the files that this rank has in dataset ID by descriptor D.  Collective over the set of D; returns this
** rank's code, on which the caller agrees.  On success the map describes the files with their CRC32, and the
** redundancy file.
*/
SCR_FN int scr_red_apply(const scr_reddesc* d, int id, const scr_dataset* desc)
{
  scr_red_job j;
  int         i, rc;

  scr_red_begin(&j, d, id, desc, SCR_LOST_RED);
  j.fresh = 1;
  rc = scr_file_list_from_map(scr.map, id, scr.at.rank, &j.files);
  if (d->type == SCR_COPY_SINGLE) {
    if (rc == SCR_SUCCESS) rc = scr_red_apply_single(&j.files, id);
    rc = scr_red_end(&j, rc);
  } else {
    for (i = 0; i < d->ranks; i++) scr_set_numbers(SCR_SET_LOST)[i] = SCR_LOST_RED;
    rc = scr_red_run(&j, rc);
  }
  scr_filemap_set_expected_files(scr.map, id, scr.at.rank, scr_filemap_num_files(scr.map, id, scr.at.rank));
  return rc;
}

/* ---- recover ---- */

/* Make the parent directories of PATH, which lies below the dataset directory DIR. */
SCR_FN int scr_red_parents(const scr_reddesc* d, int id, const char* rel)
{
  char        dir[SCR_MAX_FILENAME];
  const char* slash = strrchr(rel, '/');
  char        sub[SCR_MAX_FILENAME];
  int         rc;

  if (!d->can_mkdir || slash == NULL) return SCR_SUCCESS;
  if ((rc = scr_fmt(sub, sizeof sub, "%.*s", (int)(slash - rel), rel)) != SCR_SUCCESS) return rc;
  if ((rc = scr_reddesc_path(&scr.at, d, id, sub, dir, sizeof dir)) != SCR_SUCCESS) return rc;
  return scr_mkdirs(dir, 0700);
}

/*
** Enter the files of CURRENT, a header's description of this rank, into the map and the list, and make their
** directories.
*/
SCR_FN int scr_red_expect(scr_red_job* j, const scr_hash* current)
{
  int i, n = 0, rank = -1, rc;

  if (scr_hash_util_get_int(current, "FILES", &n) != SCR_SUCCESS || n < 0 ||
      n != scr_hash_size(scr_hash_get(current, "FILE")) ||
      scr_hash_util_get_int(current, "RANK", &rank) != SCR_SUCCESS || rank != scr.at.rank)
    return SCR_ERR(SCR_ERR_FORMAT, "the neighbour's header does not describe the files of rank %d", scr.at.rank);
  rc = scr_file_list_room(&j->files, n);
  for (i = 0; i < n && rc == SCR_SUCCESS; i++) {
    const scr_meta* meta = scr_hash_get_kv_int(current, "FILE", i);
    const char*     rel = scr_hash_elem_get_first_val(meta, "FILE");
    char            path[SCR_MAX_FILENAME];
    if (rel == NULL || !scr_path_is_safe_rel(rel))
      return SCR_ERR(SCR_ERR_FORMAT, "the neighbour's header names a file outside the dataset: %s", rel ? rel : "");
    if ((rc = scr_reddesc_path(&scr.at, j->d, j->id, rel, path, sizeof path)) != SCR_SUCCESS) return rc;
    if ((rc = scr_red_parents(j->d, j->id, rel)) != SCR_SUCCESS) return rc;
    scr_filemap_add_file(scr.map, j->id, scr.at.rank, path);
    scr_filemap_set_meta(scr.map, j->id, scr.at.rank, path, meta);
    rc = scr_file_list_add(&j->files, path, meta);
  }
  return rc;
}

/* Members that have lost their data learn from a header to the right what they had.  Collective over the set. */
SCR_FN int scr_red_remember(scr_red_job* j, const int64_t* lost, int rc)
{
  const scr_reddesc* d = j->d;
  scr_hash*          h = scr_hash_new();
  char               key[32];
  uint64_t           head;
  int                i, me = d->my_rank, err;

  if (rc == SCR_SUCCESS && !(j->lost & SCR_LOST_RED)) rc = scr_hash_file_read_head(j->file, h, &head);
  for (i = 1; i <= d->failures; i++) {
    int left = (me - i + d->ranks) % d->ranks;
    if (!(lost[left] & SCR_LOST_DATA) || scr_set_witness(d->ranks, d->failures, lost, left) != i) continue;
    err = scr_hash_send(scr_hash_get(h, scr_set_left_key(i, key, sizeof key)), d->member[left], scr.at.comm);
    if (rc == SCR_SUCCESS) rc = err;
  }
  scr_hash_unset_all(h);
  if (j->lost & SCR_LOST_DATA && (i = scr_set_witness(d->ranks, d->failures, lost, me)) > 0) {
    err = scr_hash_recv(h, d->member[(me + i) % d->ranks], scr.at.comm);
    if (rc == SCR_SUCCESS) rc = err;
  }
  if (rc == SCR_SUCCESS && j->lost & SCR_LOST_DATA) rc = scr_red_expect(j, h);
  scr_hash_delete(&h);
  return rc;
}

/*
** Rebuild what the members of the set of D have lost, as scr_set_numbers(SCR_SET_LOST) says.  The entry of the dataset
** is in the map of each member on disk already, with the files that it still has.  Collective over the set; returns
** this rank's code.
*/
SCR_FN int scr_red_recover(const scr_reddesc* d, int id, const scr_dataset* desc)
{
  const int64_t* lost = scr_set_numbers(SCR_SET_LOST);
  scr_red_job    j;
  char           name[128];
  int            rc;

  scr_red_begin(&j, d, id, desc, lost[d->my_rank]);
  scr_red_name(d, name, sizeof name);
  rc = scr_reddesc_path(&scr.at, d, id, name, j.file, sizeof j.file);
  rc = scr_red_remember(&j, lost, rc);
  if (rc == SCR_SUCCESS && !(j.lost & SCR_LOST_DATA)) rc = scr_file_list_from_map(scr.map, id, scr.at.rank, &j.files);
  rc = scr_red_run(&j, rc);
  if (rc == SCR_SUCCESS)
    scr_filemap_set_expected_files(scr.map, id, scr.at.rank, scr_filemap_num_files(scr.map, id, scr.at.rank));
  return rc;
}

/* ==== 18 CACHE: DISTRIBUTE, REBUILD, MAKE ROOM ==========================================================
** The datasets in node-local storage: which are whole, where their files must go, and which must leave.
**
** Uses       state, redundancy, layout, MPI helpers.
** Offers     scr_cache_scatter, scr_cache_rebuild, scr_cache_mend, scr_cache_delete, scr_cache_make_room,
**            scr_cache_trim.
** Invariants
**   C1  An entry says COMPLETE 1 only after every rank of the world had protected its files.  A dataset of which no entry
**       says so never was complete: it is deleted when the job starts again.  Where some say 1 and others 0, those with
**       0 are lost members: the run ended while it was committed, or a node came back with what it held before.
**   C2  Copy, agree, then delete: files move to the node of their rank, and the old copy goes only after all ranks have
**       written their entry.
**   C3  Files of different identity (id, CREATED, NONCE) are never combined.
**   C4  What cannot be rebuilt is set aside: it stays until its place or its space is needed.
**   C5  The newest whole checkpoint is never deleted to make room, unless two do not fit.
** Failure    A dataset that fails is set aside with its reason in scr.tried; the run goes on.
** ====================================================================================================== */

#define SCR_TAG_FAILED "FAILED" /* in the filemap: the application rejected the dataset */
#define SCR_TAG_TAKEN  "TAKEN"  /* in the filemap: a run has found the dataset whole when it started */

/* ---- deleting ---- */

/* Remove the directory tree DIR; what is gone already, or is not ours, is passed over. */
SCR_FN void scr_cache_remove_tree(const char* dir, int depth)
{
  char           path[SCR_MAX_FILENAME];
  struct stat    st;
  struct dirent* e;
  DIR*           d;

  if (scr_oom || depth > 64 || (d = opendir(dir)) == NULL) return;
  while ((e = readdir(d)) != NULL) {
    if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
    if ((size_t)snprintf(path, sizeof path, "%s/%s", dir, e->d_name) >= sizeof path) continue;
    if (scr_os.lstat(path, &st) == 0 && S_ISDIR(st.st_mode)) scr_cache_remove_tree(path, depth + 1);
    else scr_os.unlink(path);
  }
  closedir(d);
  scr_os.rmdir(dir);
}

/* 1 when PATH may be a file of dataset ID with descriptor D: whatever a record says, nothing else is deleted. */
SCR_FN int scr_cache_owns(const scr_reddesc* d, int id, const char* path)
{
  char        dir[SCR_MAX_FILENAME], reduced[SCR_MAX_FILENAME];
  const char* rel;

  if (scr_reddesc_path(&scr.at, d, id, "", dir, sizeof dir) != SCR_SUCCESS ||
      scr_path_reduce_str(path, reduced, sizeof reduced) != SCR_SUCCESS)
    return 0;
  return d->can_mkdir ? scr_path_below(dir, reduced, &rel) : strncmp(dir, reduced, strlen(dir)) == 0;
}

/* One file of the cache against its record, with its CRC32 when CHECK_SUM. */
SCR_FN int scr_cache_check_file(const char* path, const scr_meta* meta, int check_sum)
{
  uint64_t size = 0;
  uLong    crc, sum;
  int      rc;

  if (scr_meta_check_complete(meta) != SCR_SUCCESS || scr_meta_get_filesize(meta, &size) != SCR_SUCCESS)
    return SCR_ERR(SCR_ERR_MISSING, "%s was not complete", path);
  if ((rc = scr_file_has_size(path, size)) != SCR_SUCCESS) return rc;
  if (!check_sum || scr_meta_get_crc32(meta, &crc) != SCR_SUCCESS) return SCR_SUCCESS;
  if ((rc = scr_file_crc(path, size, &sum)) != SCR_SUCCESS) return rc;
  return scr_file_has_crc(path, sum, crc, "it is corrupt");
}

/* Delete the files of RANK in dataset ID, except those that another entry of this map claims. */
SCR_FN void scr_cache_delete_files(int id, int rank)
{
  scr_hash*      h = scr_hash_new();
  scr_hash_elem* e;
  scr_reddesc    d;
  int            i, n = 0, *ranks = NULL, known;

  scr_filemap_get_desc(scr.map, id, rank, h);
  known = scr_reddesc_from_hash(&d, h, INT_MAX) == SCR_SUCCESS;
  scr_filemap_list_ranks_by_dataset(scr.map, id, &n, &ranks);
  for (e = scr_filemap_first_file(scr.map, id, rank); known && e != NULL; e = scr_hash_elem_next(e)) {
    const char* path = scr_hash_elem_key(e);
    int         claimed = 0;
    for (i = 0; i < n && !claimed; i++)
      claimed =
          ranks[i] != rank &&
          scr_hash_get(scr_hash_getf(scr.map, "%s %d %s %d %s", "RANK", ranks[i], "DSET", id, "FILE"), path) != NULL;
    if (scr_oom || claimed || !scr_cache_owns(&d, id, path)) continue; /* who lacks memory does not know (E3) */
    scr_os.unlink(path);
  }
  scr_reddesc_free(&d);
  scr_free(&ranks);
  scr_hash_delete(&h);
}

/* Delete all that this rank knows of dataset ID, files first, then the entries. */
SCR_FN int scr_cache_delete_local(int id)
{
  scr_reddesc d;
  scr_hash*   h = scr_hash_new();
  char        dir[SCR_MAX_FILENAME];
  int         i, n = 0, *ranks = NULL, rc;

  scr_filemap_list_ranks_by_dataset(scr.map, id, &n, &ranks);
  for (i = 0; i < n; i++) {
    scr_hash_unset_all(h);
    scr_filemap_get_desc(scr.map, id, ranks[i], h);
    scr_cache_delete_files(id, ranks[i]);
    if (scr_reddesc_from_hash(&d, h, INT_MAX) == SCR_SUCCESS && d.can_mkdir &&
        scr_reddesc_path(&scr.at, &d, id, "", dir, sizeof dir) == SCR_SUCCESS)
      scr_cache_remove_tree(dir, 0);
    scr_reddesc_free(&d);
  }
  scr_filemap_remove_dataset(scr.map, id);
  rc = n > 0 ? scr_map_write() : SCR_SUCCESS;
  scr_free(&ranks);
  scr_hash_delete(&h);
  return rc;
}

/* The flush file forgets dataset ID, if it knows it.  Rank 0 only. */
SCR_FN void scr_flush_forget(int id)
{
  scr_hash* h = scr_hash_new();
  int       fd = -1, rc = scr_flush_file_open(scr.at.prefix, &fd, h);

  if (rc == SCR_SUCCESS) {
    int known = scr_hash_get_kv_int(h, "DSET", id) != NULL;
    scr_flush_file_remove(h, id);
    rc = scr_flush_file_close(scr.at.prefix, &fd, known ? h : NULL);
  }
  if (rc != SCR_SUCCESS) scr_warn("%s", scr_err_text);
  scr_hash_delete(&h);
}

/*
** Say which files of dataset ID, which leaves the cache, are corrupt (SCR_CRC_ON_DELETE).  No rank goes on to delete
** before all have looked.  Collective over the world.
*/
SCR_FN void scr_cache_check_deleted(int id)
{
  scr_hash_elem* e;

  for (e = scr_filemap_first_file(scr.map, id, scr.at.rank); e != NULL; e = scr_hash_elem_next(e)) {
    if (scr_cache_check_file(scr_hash_elem_key(e), scr_hash_get(scr_hash_elem_hash(e), "META"), 1) != SCR_ERR_CRC)
      continue;
    scr_warn("%s; it is deleted now, but look after the memory or disk of this node", scr_err_text);
    scr_event_damage(id, SCR_ERR_CRC);
  }
  scr_barrier(scr.at.comm);
}

/* Delete dataset ID from the cache of every node.  Every rank calls it; they meet only with SCR_CRC_ON_DELETE. */
SCR_FN int scr_cache_delete(int id)
{
  if (scr.crc_on_delete) scr_cache_check_deleted(id);
  scr_dbg(2, "delete dataset %d from the cache", id);
  if (scr.at.rank == 0) scr_flush_forget(id);
  scr_cached_remove(id);
  return scr_cache_delete_local(id);
}

/*
** Remove what lies where the new dataset ID of descriptor D goes: no filemap knows it, so nothing can be made of it.
** Local, on the first rank of a node, before the others make the directory.
*/
SCR_FN void scr_cache_clear_place(const scr_reddesc* d, int id)
{
  char dir[SCR_MAX_FILENAME];

  if (d->can_mkdir && scr_reddesc_path(&scr.at, d, id, "", dir, sizeof dir) == SCR_SUCCESS)
    scr_cache_remove_tree(dir, 0);
}

/* ---- room ---- */

/* Datasets in the store BASE. */
SCR_FN int scr_cache_count(const char* base)
{
  int i, n = 0;
  for (i = 0; i < scr.ncached; i++) n += strcmp(scr.cached[i].base, base) == 0;
  return n;
}

/* The newest good checkpoint of the cache, or NULL. */
SCR_FN const scr_cached* scr_cache_newest(void)
{
  int i;
  for (i = scr.ncached - 1; i >= 0; i--)
    if (scr.cached[i].good && scr.cached[i].ckpt > 0) return &scr.cached[i];
  return NULL;
}

/* 1 when dataset C has to be flushed (D22). */
SCR_FN int scr_flush_is_due(const scr_cached* c)
{
  int output = 0;

  scr_dataset_get_flag_output(c->desc, &output);
  return c->good && !c->flushed && !c->superseded &&
         (output || (c->ckpt > 0 && scr.flush_every > 0 && c->ckpt % scr.flush_every == 0));
}

/*
** The dataset of the store BASE to delete first: one that was set aside, else the oldest; but not KEEP, and neither
** the newest checkpoint nor what still has to be flushed unless FORCE.  0 when there is none.
*/
SCR_FN int scr_cache_victim(const char* base, int keep, int force)
{
  const scr_cached* newest = scr_cache_newest();
  int               i, oldest = 0;

  for (i = 0; i < scr.ncached; i++) {
    const scr_cached* c = &scr.cached[i];
    if (strcmp(c->base, base) != 0 || c->id == keep) continue;
    if (!c->good) return c->id;
    if (!force && (c == newest || scr_flush_is_due(c))) continue;
    if (oldest == 0) oldest = c->id;
  }
  return oldest;
}

/* Delete datasets of the store of D until COUNT are left.  KEEP always stays.  Every rank calls it;
** they meet as scr_cache_delete says. */
SCR_FN int scr_cache_trim(const scr_reddesc* d, int keep)
{
  const scr_storedesc* s = scr_storedescs_from_name(&scr.at, d->base);
  int                  id, rc = SCR_SUCCESS, count = s != NULL ? s->max_count : 1;

  while (scr_cache_count(d->base) > count && (id = scr_cache_victim(d->base, keep, 0)) != 0) {
    int err = scr_cache_delete(id);
    if (rc == SCR_SUCCESS) rc = err;
  }
  return rc;
}

/* Bytes of all files that this rank has of dataset ID. */
SCR_FN uint64_t scr_cache_bytes(int id)
{
  scr_hash_elem* e;
  uint64_t       sum = 0, size;

  for (e = scr_filemap_first_file(scr.map, id, scr.at.rank); e != NULL; e = scr_hash_elem_next(e))
    if (scr_file_size(scr_hash_elem_key(e), &size) == SCR_SUCCESS) sum += size;
  return sum;
}

/* 1 when the file system of BASE says that NEED bytes do not fit; one without blocks does not tell. */
SCR_FN int scr_store_is_short(const char* base, uint64_t need)
{
  struct statvfs fs;
  return statvfs(base, &fs) == 0 && fs.f_blocks > 0 && need > (uint64_t)fs.f_bavail * fs.f_frsize;
}

/*
** Ask whether the store of D can take one more dataset as large as its newest, or as what the last one had come to when it
** failed, with a tenth to spare: the answer is scr_cache_is_tight of V, once all ranks have voted.  It is an estimate where
** not all ranks share the store: as if all that do, its GROUP, wrote as much as this one.
*/
SCR_FN void scr_cache_ask_room(const scr_reddesc* d, scr_vote* v)
{
  const scr_storedesc* s = scr_storedescs_from_name(&scr.at, d->base);
  const scr_groupdesc* g = s != NULL ? scr_groupdescs_from_name(&scr.at, s->group) : NULL;
  int                  i, id = 0;
  uint64_t             need;
  struct statvfs       fs;

  if (g == NULL) g = &scr.at.group[0];
  for (i = 0; i < scr.ncached; i++)
    if (strcmp(scr.cached[i].base, d->base) == 0) id = scr.cached[i].id;
  v->max[3] = INT64_MIN;
  if (id == 0) return;
  need = scr_cache_bytes(id);
  if (scr.failed_bytes > need) need = scr.failed_bytes;
  if (d->global || scr.at.virtual_nodes > 0 || g->groups == 1) { /* all ranks share the space */
    v->sum[3] = (int64_t)need;
    if (statvfs(d->base, &fs) == 0 && fs.f_blocks > 0) v->max[3] = -(int64_t)((uint64_t)fs.f_bavail * fs.f_frsize);
  } else {
    need *= (uint64_t)g->ranks;
    v->max[2] = scr_store_is_short(d->base, need + need / 10);
  }
}

SCR_FN int scr_cache_is_tight(const scr_vote* v)
{
  return v->max[2] > 0 || (v->max[3] > INT64_MIN && v->sum[3] + v->sum[3] / 10 > -v->max[3]);
}

/*
** Before a new dataset with descriptor D: nothing is deleted, unless statvfs says that it would not fit (D7); then what
** was set aside goes first, and the newest checkpoint last.  TIGHT is what the ranks agreed on, and is
** asked again after each deletion.  Collective over the world.
*/
SCR_FN int scr_cache_make_room(const scr_reddesc* d, int tight)
{
  const scr_storedesc* s = scr_storedescs_from_name(&scr.at, d->base);
  scr_vote             v;
  int                  id, rc = SCR_SUCCESS;

  while (tight && s != NULL && scr_cache_count(d->base) > 0 && (id = scr_cache_victim(d->base, 0, 1)) != 0) {
    const scr_cached* newest = scr_cache_newest();
    if (scr.at.rank == 0 && newest != NULL && newest->id == id)
      scr_warn(
          "%s cannot hold two datasets: checkpoint %d is deleted before the next one is written, and a failure until "
          "then falls back to the prefix",
          d->base, id);
    rc = scr_cache_delete(id);
    if (scr_cache_count(d->base) < s->max_count) break;
    memset(&v, 0, sizeof v);
    scr_barrier(scr.at.comm); /* other nodes may share the store, and still delete */
    scr_cache_ask_room(d, &v);
    rc = scr_vote_all(&v, rc, scr.at.comm);
    tight = rc == SCR_SUCCESS && scr_cache_is_tight(&v);
  }
  return rc;
}

/*
** Before a fetch of FILES, each with its SIZE: when they do not fit somewhere, what was set aside goes; an error when
** they still do not fit here.  Collective; returns this rank's code.
*/
SCR_FN int scr_cache_make_room_for(const scr_reddesc* d, const scr_hash* files)
{
  scr_hash_elem* e;
  uint64_t       need = 0;
  scr_vote       v;
  int            id, rc;

  for (e = scr_hash_elem_first(files); e != NULL; e = scr_hash_elem_next(e)) {
    uint64_t size = 0;
    scr_hash_util_get_bytecount(scr_hash_elem_hash(e), "SIZE", &size);
    need += size;
  }
  memset(&v, 0, sizeof v);
  v.max[0] = scr_store_is_short(d->base, need);
  if ((rc = scr_vote_all(&v, SCR_SUCCESS, scr.at.comm)) != SCR_SUCCESS || v.max[0] == 0) return rc;
  while ((id = scr_cache_victim(d->base, 0, 0)) != 0 && !scr_cached_find(id)->good) scr_cache_delete(id);
  if (scr_store_is_short(d->base, need))
    return SCR_ERR(SCR_ERR_SPACE,
                   "%s has no room for the %" PRIu64 " bytes of rank %d; free some, or set SCR_CACHE_BASE", d->base,
                   need, scr.at.rank);
  return SCR_SUCCESS;
}

/* ---- the filemaps of a node, when a run begins ---- */

/* Add the entry of RANK for dataset ID in FROM to INTO; a newer identity, or a fuller entry of the same, wins. */
SCR_FN void scr_cache_merge_entry(scr_filemap* into, scr_filemap* from, int id, int rank)
{
  scr_dataset *a = scr_dataset_new(), *b = scr_dataset_new();
  int64_t      ca = 0, cb = 0;
  int          take = 1;

  scr_filemap_get_dataset(from, id, rank, a);
  if (scr_filemap_have_rank_by_dataset(into, id, rank)) {
    scr_filemap_get_dataset(into, id, rank, b);
    scr_dataset_get_created(a, &ca);
    scr_dataset_get_created(b, &cb);
    if (scr_dataset_same(a, b)) take = scr_filemap_num_files(from, id, rank) > scr_filemap_num_files(into, id, rank);
    else take = ca > cb;
  }
  if (take) {
    scr_hash* entry = scr_hash_dup(scr_hash_getf(from, "%s %d %s %d", "RANK", rank, "DSET", id));
    scr_filemap_remove_rank_by_dataset(into, id, rank);
    scr_hash_setf(into, NULL, "%s %d %s %d", "DSET", id, "RANK", rank);
    scr_hash_setf(into, entry, "%s %d %s %d", "RANK", rank, "DSET", id);
  }
  scr_dataset_delete(&a);
  scr_dataset_delete(&b);
}

/* Call MERGE for each entry of FROM. */
SCR_FN void scr_cache_merge(scr_filemap* into, scr_filemap* from)
{
  int i, k, n = 0, m, *ids = NULL, *ranks;

  scr_filemap_list_datasets(from, &n, &ids);
  for (i = 0; i < n; i++) {
    ranks = NULL;
    m = 0;
    scr_filemap_list_ranks_by_dataset(from, ids[i], &m, &ranks);
    for (k = 0; k < m; k++) scr_cache_merge_entry(into, from, ids[i], ranks[k]);
    scr_free(&ranks);
  }
  scr_free(&ids);
}

/* Read one filemap file and merge it; one that is damaged is reported and kept under another name, but an error of
** reading is passed on: what is there must not be taken for lost. */
SCR_FN int scr_cache_read_map(const char* file, scr_filemap* into)
{
  scr_filemap* m = scr_filemap_new();
  char         aside[SCR_MAX_FILENAME];
  int          rc = scr_filemap_read(file, m);

  if (rc == SCR_SUCCESS) scr_cache_merge(into, m);
  else if (rc == SCR_ERR_FORMAT || rc == SCR_ERR_CRC) {
    scr_warn("%s; the files it lists are treated as lost", scr_err_text);
    scr_event_damage(0, rc);
    scr.damaged_maps++;
    if (scr_fmt(aside, sizeof aside, "%s.damaged", file) == SCR_SUCCESS) scr_os.rename(file, aside);
    rc = SCR_SUCCESS;
  } else if (rc == SCR_ERR_NOT_FOUND) {
    rc = SCR_SUCCESS;
  }
  scr_filemap_delete(&m);
  return rc;
}

/*
** All filemap files of the control directory, as NAMES/<path>: those of the master filemap, and those that lie there,
** should the master be lost.
*/
SCR_FN void scr_cache_map_files(scr_hash* names)
{
  char           path[SCR_MAX_FILENAME];
  scr_hash*      master = scr_hash_new();
  scr_hash_elem* e;
  struct dirent* f;
  DIR*           d;

  if (scr_fmt(path, sizeof path, "%s/filemap.scrinfo", scr.at.cntl) == SCR_SUCCESS) {
    int rc = scr_hash_file_read(path, master);
    if (rc != SCR_SUCCESS && rc != SCR_ERR_NOT_FOUND) scr_warn("%s; the directory is searched instead", scr_err_text);
  }
  for (e = scr_hash_elem_first(scr_hash_get(master, "Filemap")); e != NULL; e = scr_hash_elem_next(e))
    if (strncmp(scr_hash_elem_key(e), scr.at.cntl, strlen(scr.at.cntl)) == 0)
      scr_hash_set_kv(names, "NAMES", scr_hash_elem_key(e));
  d = opendir(scr.at.cntl);
  while (d != NULL && (f = readdir(d)) != NULL) {
    size_t n = strlen(f->d_name);
    if (n > 4 && strcmp(f->d_name + n - 4, ".tmp") == 0 &&
        scr_fmt(path, sizeof path, "%s/%s", scr.at.cntl, f->d_name) == SCR_SUCCESS)
      scr_os.unlink(path); /* what a killed process was writing; the lock of this directory is held */
    if (strncmp(f->d_name, "filemap_", 8) != 0 || n < 8 || strcmp(f->d_name + n - 8, ".scrinfo") != 0) continue;
    if (scr_fmt(path, sizeof path, "%s/%s", scr.at.cntl, f->d_name) == SCR_SUCCESS)
      scr_hash_set_kv(names, "NAMES", path);
  }
  if (d != NULL) closedir(d);
  scr_hash_delete(&master);
}

/* The world rank that takes over the entry of RANK: RANK itself when it runs on this node, else one by turns. */
SCR_FN int scr_cache_keeper(int rank)
{
  int i, n = scr.at.group[0].ranks;

  for (i = 0; i < n; i++)
    if (scr.at.node[i] == rank) return rank;
  return scr.at.node[rank % n];
}

/*
** The first rank of the node reads all filemap files and deals the entries out: to a rank its own, the others by turns.
** Until every rank has written its share, a merged file keeps them all, so that a crash forgets nothing (C2).
** Collective over the node; the caller agrees.
*/
SCR_FN int scr_cache_scatter(void)
{
  scr_filemap*   all = scr_filemap_new();
  scr_hash *     names = scr_hash_new(), *master = scr_hash_new(), *done = scr_hash_new();
  scr_hash_elem* e;
  char           merged[SCR_MAX_FILENAME] = "", path[SCR_MAX_FILENAME];
  int            i, k, n = 0, m, *ids = NULL, *ranks, rc = SCR_SUCCESS, err, nodes = scr.at.group[0].ranks;

  if (scr.at.group[0].leader != scr.at.rank) {
    rc = scr_hash_recv(scr.map, scr.at.group[0].leader, scr.at.comm);
    if (rc == SCR_SUCCESS && scr_filemap_num_datasets(scr.map) > 0) rc = scr_map_write();
    scr_hash_util_set_int(done, "RC", rc);
    err = scr_hash_send(done, scr.at.group[0].leader, scr.at.comm);
    rc = rc == SCR_SUCCESS ? err : rc;
    goto out;
  }
  scr_cache_map_files(names);
  for (e = scr_hash_elem_first(scr_hash_get(names, "NAMES")); e != NULL; e = scr_hash_elem_next(e))
    if ((err = scr_cache_read_map(scr_hash_elem_key(e), all)) != SCR_SUCCESS) rc = err;
  scr_filemap_list_datasets(all, &n, &ids);
  if (rc == SCR_SUCCESS) rc = scr_fmt(merged, sizeof merged, "%s/filemap_all.scrinfo", scr.at.cntl);
  if (rc == SCR_SUCCESS && n > 0) rc = scr_filemap_write(merged, all);
  if (rc != SCR_SUCCESS) n = 0; /* nobody gets a share, so nobody replaces his file */
  for (k = nodes - 1; k >= 0; k--) {
    scr_filemap* share = k == 0 ? scr.map : scr_filemap_new();
    for (i = 0; i < n; i++) {
      int r;
      ranks = NULL;
      m = 0;
      scr_filemap_list_ranks_by_dataset(all, ids[i], &m, &ranks);
      for (r = 0; r < m; r++)
        if (scr_cache_keeper(ranks[r]) == scr.at.node[k]) scr_cache_merge_entry(share, all, ids[i], ranks[r]);
      scr_free(&ranks);
    }
    if (k > 0) {
      err = scr_hash_send(share, scr.at.node[k], scr.at.comm);
      if (rc == SCR_SUCCESS) rc = err;
      scr_filemap_delete(&share);
    }
    if (scr_fmt(path, sizeof path, "%s/filemap_%d.scrinfo", scr.at.cntl, k) == SCR_SUCCESS)
      scr_hash_set_kv(master, "Filemap", path);
  }
  if (rc == SCR_SUCCESS && n > 0) rc = scr_map_write();
  for (k = 1; k < nodes; k++) {
    int word = 0;
    scr_hash_unset_all(done);
    err = scr_hash_recv(done, scr.at.node[k], scr.at.comm);
    scr_hash_util_get_int(done, "RC", &word);
    if (rc == SCR_SUCCESS) rc = err != SCR_SUCCESS ? err : word;
  }
  if (rc == SCR_SUCCESS && scr_fmt(path, sizeof path, "%s/filemap.scrinfo", scr.at.cntl) == SCR_SUCCESS)
    rc = scr_hash_file_write(path, master);
  for (e = scr_hash_elem_first(scr_hash_get(names, "NAMES")); e != NULL && rc == SCR_SUCCESS; e = scr_hash_elem_next(e))
    if (scr_hash_get_kv(master, "Filemap", scr_hash_elem_key(e)) == NULL) scr_os.unlink(scr_hash_elem_key(e));
  if (rc == SCR_SUCCESS && n > 0) scr_os.unlink(merged);
out:
  scr_free(&ids);
  scr_filemap_delete(&all);
  scr_hash_delete(&names);
  scr_hash_delete(&master);
  scr_hash_delete(&done);
  return rc;
}

/* ---- rebuild ---- */

/* What this rank finds out about one dataset of the cache while the job starts. */
typedef struct {
  int          id;
  scr_dataset* desc;
  scr_reddesc  d;      /* of this rank; ranks == 0 when nobody described it */
  scr_hash*    flush;  /* FLUSH entry */
  int          never;  /* it never was complete, and is gone now */
  int          doubt;  /* not all entries say that it is complete, and no run has taken it: it may never have been */
  int          source; /* world rank that holds this rank's files, -1 when they are lost */
  int          lost;   /* what the source has lost of them: bits of SCR_LOST_x */
  int          move;   /* they lie on another node */
} scr_find;

SCR_FN void scr_find_begin(scr_find* f, const int64_t* key)
{
  memset(f, 0, sizeof *f);
  f->id = (int)key[0];
  f->desc = scr_dataset_new();
  f->flush = scr_hash_new();
}

SCR_FN void scr_find_free(scr_find* f)
{
  scr_dataset_delete(&f->desc);
  scr_hash_delete(&f->flush);
  scr_reddesc_free(&f->d);
}

/* The order in which datasets are taken: by id, then the younger, then anything that tells identities apart. */
SCR_FN void scr_find_key(const scr_dataset* desc, int64_t* key)
{
  int      id = 0;
  int64_t  created = 0;
  uint64_t nonce = 0;

  scr_dataset_get_id(desc, &id);
  scr_dataset_get_created(desc, &created);
  scr_dataset_get_nonce(desc, &nonce);
  key[0] = id;
  key[1] = created;
  key[2] = (int64_t)nonce;
}

/* The greatest key below LIMIT in this rank's map; {0, 0, 0} when there is none. */
SCR_FN void scr_find_next(const int64_t* limit, int64_t* best)
{
  scr_dataset* desc = scr_dataset_new();
  int          i, k, n = 0, m, *ids = NULL, *ranks;
  int64_t      key[3];

  memset(best, 0, 3 * sizeof *best);
  scr_filemap_list_datasets(scr.map, &n, &ids);
  for (i = 0; i < n; i++) {
    ranks = NULL;
    m = 0;
    scr_filemap_list_ranks_by_dataset(scr.map, ids[i], &m, &ranks);
    for (k = 0; k < m; k++) {
      scr_hash_unset_all(desc);
      scr_filemap_get_dataset(scr.map, ids[i], ranks[k], desc);
      scr_dataset_set_id(desc, ids[i]);
      scr_find_key(desc, key);
      if (scr_key_cmp(key, limit) < 0 && scr_key_cmp(key, best) > 0) memcpy(best, key, sizeof key);
    }
    scr_free(&ranks);
  }
  scr_free(&ids);
  scr_dataset_delete(&desc);
}

/* 1 when this rank's entry of RANK for the dataset KEY exists. */
SCR_FN int scr_find_entry(const int64_t* key, int rank, scr_dataset* desc)
{
  int64_t k[3];

  scr_hash_unset_all(desc);
  if (!scr_filemap_have_rank_by_dataset(scr.map, (int)key[0], rank)) return 0;
  scr_filemap_get_dataset(scr.map, (int)key[0], rank, desc);
  scr_dataset_set_id(desc, (int)key[0]);
  scr_find_key(desc, k);
  return scr_key_cmp(k, key) == 0;
}

/* SCR_SUCCESS when all files of RANK in dataset ID are here and as recorded. */
SCR_FN int scr_cache_check(int id, int rank)
{
  scr_hash_elem* e;
  scr_meta*      meta = scr_meta_new();
  int            want = scr_filemap_get_expected_files(scr.map, id, rank), rc = SCR_SUCCESS;

  if (want < 0 || want != scr_filemap_num_files(scr.map, id, rank))
    rc = SCR_ERR(SCR_ERR_MISSING, "dataset %d has no complete list of files for rank %d here", id, rank);
  for (e = scr_filemap_first_file(scr.map, id, rank); e != NULL && rc == SCR_SUCCESS; e = scr_hash_elem_next(e)) {
    scr_hash_unset_all(meta);
    scr_filemap_get_meta(scr.map, id, rank, scr_hash_elem_key(e), meta);
    rc = scr_cache_check_file(scr_hash_elem_key(e), meta, scr.crc_on_restart);
  }
  scr_meta_delete(&meta);
  return rc;
}

/* 1 when META describes a file of those that are LOST: of the application, or of the redundancy scheme. */
SCR_FN int scr_meta_is_lost(const scr_meta* meta, int lost)
{
  return (lost & (scr_meta_is_full(meta) ? SCR_LOST_DATA : SCR_LOST_RED)) != 0;
}

/* A header must be readable too, before others count on it. */
SCR_FN int scr_cache_check_red(const char* path)
{
  scr_hash* h = scr_hash_new();
  uint64_t  head;
  int       rc = scr_hash_file_read_head(path, h, &head);

  scr_hash_delete(&h);
  return rc;
}

/*
** What is lost of the entry of RANK for dataset ID, kept by descriptor D: bits of SCR_LOST_x.  Files that are missing,
** cut short or, with CHECK_SUM, corrupt, and those that cannot be read now, are lost as far as this run goes; but they
** are left alone.
*/
SCR_FN int scr_cache_lost(const scr_reddesc* d, int id, int rank, int check_sum)
{
  scr_hash_elem* e;
  scr_meta*      meta = scr_meta_new();
  int            want = scr_filemap_get_expected_files(scr.map, id, rank), red = 0, lost = 0, rc;

  if (want < 0 || want != scr_filemap_num_files(scr.map, id, rank)) lost = SCR_LOST_DATA | SCR_LOST_RED;
  for (e = scr_filemap_first_file(scr.map, id, rank); e != NULL && want >= 0; e = scr_hash_elem_next(e)) {
    scr_hash_unset_all(meta);
    scr_filemap_get_meta(scr.map, id, rank, scr_hash_elem_key(e), meta);
    rc = scr_cache_check_file(scr_hash_elem_key(e), meta, check_sum);
    if (!scr_meta_is_full(meta)) {
      red++;
      if (rc == SCR_SUCCESS) rc = scr_cache_check_red(scr_hash_elem_key(e));
    }
    if (rc == SCR_SUCCESS) continue;
    lost |= scr_meta_is_full(meta) ? SCR_LOST_DATA : SCR_LOST_RED;
    scr_warn("dataset %d, rank %d: %s", id, rank, scr_err_text);
    scr_event_damage(id, rc);
  }
  if (red == 0 && d->type != SCR_COPY_SINGLE) lost |= SCR_LOST_RED;
  scr_meta_delete(&meta);
  return lost;
}

/* Strike the files that are LOST off the entry of RANK for dataset ID. */
SCR_FN void scr_cache_strike(scr_filemap* map, int id, int rank, int lost)
{
  scr_hash_elem *e, *next;
  scr_meta*      meta = scr_meta_new();

  for (e = scr_filemap_first_file(map, id, rank); e != NULL; e = next) {
    next = scr_hash_elem_next(e);
    scr_hash_unset_all(meta);
    scr_filemap_get_meta(map, id, rank, scr_hash_elem_key(e), meta);
    if (scr_meta_is_lost(meta, lost)) scr_filemap_remove_file(map, id, rank, scr_hash_elem_key(e));
  }
  scr_meta_delete(&meta);
  scr_filemap_set_expected_files(map, id, rank, scr_filemap_num_files(map, id, rank));
}

/* A message about an entry: the descriptors, and whether the sender HAS the receiver's files, but for those LOST. */
SCR_FN void scr_find_tell(scr_hash* send, int to, int id, int rank, const scr_dataset* desc, int lost)
{
  scr_hash* m = scr_hash_set_kv_int(send, "TO", to);
  scr_hash* h;

  if (lost != (SCR_LOST_DATA | SCR_LOST_RED)) {
    scr_hash_util_set_str(m, "HAS", scr.at.host);
    scr_hash_util_set_int(m, "LOST", lost);
  }
  if (scr_hash_get(m, "REDDESC") != NULL) return;
  scr_hash_merge(scr_hash_set(m, "DSETDESC", scr_hash_new()), desc);
  h = scr_hash_set(m, "REDDESC", scr_hash_new());
  scr_filemap_get_desc(scr.map, id, rank, h);
  h = scr_hash_set(m, "FLUSH", scr_hash_new());
  scr_filemap_get_flushdesc(scr.map, id, rank, h);
}

/*
** Tell every rank, and every member of its set, what is held here of the dataset KEY; V counts what speaks against it.
** Local; SEND is exchanged next.
*/
SCR_FN void scr_find_offer(const int64_t* key, scr_hash* send, scr_vote* v)
{
  scr_dataset* desc = scr_dataset_new();
  scr_hash*    red = scr_hash_new();
  int          id = (int)key[0], i, k, n = 0, *ranks = NULL;

  scr_filemap_list_ranks_by_dataset(scr.map, id, &n, &ranks);
  for (i = 0; i < n; i++) {
    scr_reddesc d;
    int         complete = 0, world = 0, all = SCR_LOST_DATA | SCR_LOST_RED;
    if (!scr_find_entry(key, ranks[i], desc)) continue;
    scr_dataset_get_complete(desc, &complete);
    scr_dataset_get_ranks(desc, &world);
    if (!complete) v->sum[0]++;
    if (world != scr.at.ranks) v->sum[1]++;
    if (scr_filemap_get_tag(scr.map, id, ranks[i], SCR_TAG_FAILED) != NULL) v->sum[2]++;
    if (complete) v->max[2] = 1;
    if (scr_filemap_get_tag(scr.map, id, ranks[i], SCR_TAG_TAKEN) != NULL) v->max[3] = 1;
    v->max[0] = world;
    if (!complete || world != scr.at.ranks || ranks[i] < 0 || ranks[i] >= scr.at.ranks) continue;
    scr_hash_unset_all(red);
    scr_filemap_get_desc(scr.map, id, ranks[i], red);
    if (scr_reddesc_from_hash(&d, red, scr.at.ranks) != SCR_SUCCESS) {
      scr_warn("dataset %d, rank %d: %s", id, ranks[i], scr_err_text);
      scr_reddesc_free(&d);
      continue;
    }
    scr_find_tell(send, ranks[i], id, ranks[i], desc, scr_cache_lost(&d, id, ranks[i], scr.crc_on_restart));
    for (k = 0; k < d.ranks; k++) scr_find_tell(send, d.member[k], id, ranks[i], desc, all);
    scr_reddesc_free(&d);
  }
  scr_free(&ranks);
  scr_hash_delete(&red);
  scr_dataset_delete(&desc);
}

/*
** From what the others told: this rank's descriptor, and who has most of its files - of equal ones itself, else its
** node, else any.
*/
SCR_FN int scr_find_choose(scr_find* f, const scr_hash* recv)
{
  scr_hash_elem* e;
  int            best = INT_MAX, i, rc = SCR_SUCCESS;

  f->source = -1;
  f->lost = SCR_LOST_DATA | SCR_LOST_RED;
  for (e = scr_hash_elem_first(recv); e != NULL; e = scr_hash_elem_next(e)) {
    int         from = atoi(scr_hash_elem_key(e)), rank;
    scr_hash*   m = scr_hash_elem_hash(e);
    const char* host = scr_hash_elem_get_first_val(m, "HAS");
    if (f->d.ranks == 0) {
      rc = scr_reddesc_from_hash(&f->d, scr_hash_get(m, "REDDESC"), scr.at.ranks);
      for (i = 0; rc == SCR_SUCCESS && i < f->d.ranks; i++)
        if (f->d.member[i] == scr.at.rank) f->d.my_rank = i;
      if (rc == SCR_SUCCESS && f->d.member[f->d.my_rank] != scr.at.rank)
        rc = SCR_ERR(SCR_ERR_FORMAT, "the stored redundancy descriptor of dataset %d does not name rank %d", f->id,
                     scr.at.rank);
      if (rc != SCR_SUCCESS) {
        scr_reddesc_free(&f->d);
        continue;
      }
      scr_hash_merge(f->desc, scr_hash_get(m, "DSETDESC"));
      scr_hash_merge(f->flush, scr_hash_get(m, "FLUSH"));
    }
    if (host == NULL) continue;
    i = scr_line_int(m, "LOST", 0) & (SCR_LOST_DATA | SCR_LOST_RED);
    rank = 3 * (i & SCR_LOST_DATA ? 2 : i != 0) + (from == scr.at.rank ? 0 : strcmp(host, scr.at.host) == 0 ? 1 : 2);
    if (rank < best) {
      best = rank;
      f->source = from;
      f->move = rank % 3 == 2;
      f->lost = i;
    }
  }
  return f->d.ranks > 0 ? SCR_SUCCESS : rc;
}

/* ---- moving files between nodes ---- */

/* A window over the files of RANK in dataset ID, redundancy files too, but not those LOST, in the order of the entry. */
SCR_FN int scr_move_window(scr_window* w, scr_file_list* f, int id, int rank, int lost, int write)
{
  scr_hash_elem* e;
  scr_meta*      meta = scr_meta_new();
  int            rc = scr_file_list_room(f, scr_filemap_num_files(scr.map, id, rank) + 1);

  for (e = scr_filemap_first_file(scr.map, id, rank); e != NULL && rc == SCR_SUCCESS; e = scr_hash_elem_next(e)) {
    scr_hash_unset_all(meta);
    scr_filemap_get_meta(scr.map, id, rank, scr_hash_elem_key(e), meta);
    if (!scr_meta_is_lost(meta, lost)) rc = scr_file_list_add(f, scr_hash_elem_key(e), meta);
  }
  scr_meta_delete(&meta);
  if (rc == SCR_SUCCESS)
    rc = scr_window_open(w, f->n, f->path, f->size, write ? O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW : O_RDONLY, 0600, 0,
                         1);
  return rc;
}

/* One direction of a move, a piece at a time. */
typedef struct {
  int           peer, active, rc;
  int64_t       left;
  uint64_t      at;
  char*         buf;
  size_t        n;
  scr_window    w;
  scr_file_list f;
  MPI_Request   req;
} scr_stream;

SCR_FN void scr_stream_start(scr_stream* s, int id, int rank, int peer, int lost, int64_t bytes, int write, char* buf)
{
  memset(s, 0, sizeof *s);
  s->peer = peer;
  s->left = bytes;
  s->buf = buf;
  s->req = MPI_REQUEST_NULL;
  s->rc = scr_move_window(&s->w, &s->f, id, rank, lost, write);
  s->active = 1;
}

SCR_FN void scr_stream_end(scr_stream* s)
{
  if (scr_window_close(&s->w) != SCR_SUCCESS && s->rc == SCR_SUCCESS) s->rc = SCR_ERR_IO;
  scr_window_free(&s->w);
  scr_file_list_free(&s->f);
  s->active = 0;
}

SCR_FN void scr_stream_post(scr_stream* s, int write)
{
  s->n = s->left < (int64_t)scr.mpi_buf ? (size_t)s->left : scr.mpi_buf;
  if (write) {
    MPI_Irecv(s->buf, (int)s->n, MPI_BYTE, s->peer, SCR_TAG_DATA, scr.at.comm, &s->req);
  } else {
    if (s->rc == SCR_SUCCESS) s->rc = scr_window_read(&s->w, s->at, s->buf, s->n, 0);
    if (s->rc != SCR_SUCCESS) memset(s->buf, 0, s->n);
    MPI_Isend(s->buf, (int)s->n, MPI_BYTE, s->peer, SCR_TAG_DATA, scr.at.comm, &s->req);
  }
}

/* Advance the stream if its message is done; 1 when something moved. */
SCR_FN int scr_stream_step(scr_stream* s, int write)
{
  int done = 0;

  if (!s->active) return 0;
  if (s->req != MPI_REQUEST_NULL) {
    if (MPI_Test(&s->req, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) s->rc = SCR_ERR(SCR_ERR_MPI, "a message failed");
    if (!done) return 0;
    if (write && s->rc == SCR_SUCCESS) s->rc = scr_window_write(&s->w, s->at, s->buf, s->n);
    s->at += s->n;
    s->left -= (int64_t)s->n;
  }
  if (s->left > 0) scr_stream_post(s, write);
  else scr_stream_end(s);
  return 1;
}

/* Bytes of the files of RANK in dataset ID but those LOST, by their records. */
SCR_FN uint64_t scr_entry_bytes(int id, int rank, int lost)
{
  scr_hash_elem* e;
  uint64_t       sum = 0;

  for (e = scr_filemap_first_file(scr.map, id, rank); e != NULL; e = scr_hash_elem_next(e)) {
    const scr_hash* meta = scr_hash_get(scr_hash_elem_hash(e), "META");
    uint64_t        size = 0;
    scr_hash_util_get_bytecount(meta, "SIZE", &size);
    if (!scr_meta_is_lost(meta, lost)) sum += size;
  }
  return sum;
}

/*
** Send what others want from here, one after the other, while receiving what this rank wants.  OUT holds <rank> ->
** LOST, what is not sent, for each receiver; the entries of both sides are in the maps.  Local, but the partners must call it too.
*/
SCR_FN int scr_move_files(int id, const scr_hash* out, int source, int64_t in_bytes)
{
  scr_hash_elem* e = scr_hash_elem_first(out);
  scr_stream     in, to;
  int            turns = 0, rc = SCR_SUCCESS;

  memset(&in, 0, sizeof in);
  memset(&to, 0, sizeof to);
  if (source >= 0) scr_stream_start(&in, id, scr.at.rank, source, 0, in_bytes, 1, scr.work + SCR_WORK_NUMBERS);
  while (in.active || to.active || e != NULL) {
    int moved;
    if (!to.active && e != NULL) {
      int rank = atoi(scr_hash_elem_key(e)), lost = scr_line_int(scr_hash_elem_hash(e), "LOST", 0);
      if (to.rc != SCR_SUCCESS) rc = to.rc;
      scr_stream_start(&to, id, rank, rank, lost, (int64_t)scr_entry_bytes(id, rank, lost), 0,
                       scr.work + SCR_WORK_NUMBERS + scr.mpi_buf);
      e = scr_hash_elem_next(e);
    }
    moved = scr_stream_step(&in, 1);
    moved |= scr_stream_step(&to, 0);
    if (moved) turns = 0;
    else scr_wait_idle(&turns);
  }
  if (rc == SCR_SUCCESS) rc = to.rc != SCR_SUCCESS ? to.rc : in.rc;
  return rc;
}

/*
** Enter FILES, the FILE hash of an entry on another node, into this rank's entry with the paths of this node, and make
** the directories.
*/
SCR_FN int scr_move_expect(const scr_find* f, const scr_hash* files)
{
  scr_hash_elem* e;
  char           path[SCR_MAX_FILENAME];
  int            rc = SCR_SUCCESS;

  for (e = scr_hash_elem_first(files); e != NULL && rc == SCR_SUCCESS; e = scr_hash_elem_next(e)) {
    const scr_hash* meta = scr_hash_get(scr_hash_elem_hash(e), "META");
    const char*     rel = scr_hash_elem_get_first_val(meta, "FILE");
    if (scr_meta_is_lost(meta, f->lost)) continue;
    if (rel == NULL || !scr_path_is_safe_rel(rel))
      return SCR_ERR(SCR_ERR_FORMAT, "the record of %s names no path below its dataset", scr_hash_elem_key(e));
    rc = scr_reddesc_path(&scr.at, &f->d, f->id, rel, path, sizeof path);
    if (rc == SCR_SUCCESS) rc = scr_red_parents(&f->d, f->id, rel);
    if (rc == SCR_SUCCESS) rc = scr_reddesc_claim(&f->d, path);
    if (rc == SCR_SUCCESS) {
      scr_filemap_add_file(scr.map, f->id, scr.at.rank, path);
      scr_filemap_set_meta(scr.map, f->id, scr.at.rank, path, meta);
    }
  }
  return rc;
}

/* The received files must have the recorded checksums; empty ones must be made. */
SCR_FN int scr_move_check(const scr_find* f)
{
  scr_hash_elem* e;
  int            rc;

  for (e = scr_filemap_first_file(scr.map, f->id, scr.at.rank); e != NULL; e = scr_hash_elem_next(e)) {
    const char* path = scr_hash_elem_key(e);
    struct stat st;
    if (scr_os.lstat(path, &st) < 0) {
      int fd = scr_os.open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
      if (fd < 0) return SCR_ERRNO("cannot create %s", path);
      scr_os.close(fd);
    }
  }
  scr_filemap_set_expected_files(scr.map, f->id, scr.at.rank, scr_filemap_num_files(scr.map, f->id, scr.at.rank));
  rc = scr_cache_check(f->id, scr.at.rank);
  if (rc != SCR_SUCCESS) scr_filemap_unset_expected_files(scr.map, f->id, scr.at.rank);
  return rc;
}

/* A durable entry without files for this rank: whatever lies in the directory then has a record (D25). */
SCR_FN int scr_find_enter(const scr_find* f)
{
  scr_hash* h = scr_hash_new();
  int       rc = SCR_SUCCESS, known;
  int64_t   key[3];

  scr_find_key(f->desc, key);
  known = f->source < 0 && scr_find_entry(key, scr.at.rank, h); /* the disk has an entry, with more in it */
  scr_hash_unset_all(h);
  scr_filemap_remove_rank_by_dataset(scr.map, f->id, scr.at.rank);
  scr_reddesc_to_hash(&f->d, f->d.my_rank, h);
  scr_filemap_set_dataset(scr.map, f->id, scr.at.rank, f->desc);
  scr_filemap_set_desc(scr.map, f->id, scr.at.rank, h);
  scr_filemap_set_flushdesc(scr.map, f->id, scr.at.rank, f->flush);
  scr_hash_delete(&h);
  if (!known && (rc = scr_map_write()) != SCR_SUCCESS) return rc;
  return scr_reddesc_mkdir(&scr.at, &f->d, f->id);
}

/*
** Bring the files of each rank to its node: requests go to the holders, which answer with the file lists; then the
** bytes of those that lie on other nodes flow.  Collective over the world; returns this rank's code.
*/
SCR_FN int scr_find_distribute(scr_find* f)
{
  scr_hash *     ask = scr_hash_new(), *asked = scr_hash_new(), *answer = scr_hash_new(), *got = scr_hash_new();
  scr_hash*      mine = NULL;
  scr_hash*      out = scr_hash_new();
  scr_hash_elem* e;
  int64_t        bytes = 0;
  int            rc = SCR_SUCCESS, err;

  if (f->source >= 0 && f->source != scr.at.rank)
    scr_hash_setf(ask, NULL, "%d %s %d", f->source, f->move ? "MOVE" : "TAKE", f->lost);
  if (f->source == scr.at.rank && f->lost) scr_cache_strike(scr.map, f->id, scr.at.rank, f->lost);
  rc = scr_hash_exchange(ask, asked, scr.at.comm);
  for (e = scr_hash_elem_first(asked); e != NULL; e = scr_hash_elem_next(e)) {
    int to = atoi(scr_hash_elem_key(e));
    scr_hash_setf(answer, scr_hash_dup(scr_hash_getf(scr.map, "%s %d %s %d", "RANK", to, "DSET", f->id)), "%d", to);
    if (scr_hash_get(scr_hash_elem_hash(e), "MOVE") != NULL)
      scr_hash_setf(out, NULL, "%d %s %s", to, "LOST", scr_line_str(scr_hash_elem_hash(e), "MOVE", "0"));
  }
  if ((err = scr_hash_exchange(answer, got, scr.at.comm)) != SCR_SUCCESS) rc = err;
  if ((rc = scr_agree(rc, scr.at.comm)) != SCR_SUCCESS) goto out; /* from here on both sides must count alike */
  if (f->source >= 0 && f->source != scr.at.rank) mine = scr_hash_getf(got, "%d", f->source);
  if (mine != NULL && !f->move) { /* the same node: the record moves, the files stay */
    scr_filemap_remove_rank_by_dataset(scr.map, f->id, scr.at.rank);
    scr_hash_setf(scr.map, NULL, "%s %d %s %d", "DSET", f->id, "RANK", scr.at.rank);
    scr_hash_setf(scr.map, scr_hash_dup(mine), "%s %d %s %d", "RANK", scr.at.rank, "DSET", f->id);
    scr_cache_strike(scr.map, f->id, scr.at.rank, f->lost);
  } else if (mine != NULL) {
    for (e = scr_hash_elem_first(scr_hash_get(mine, "FILE")); e != NULL; e = scr_hash_elem_next(e)) {
      const scr_hash* meta = scr_hash_get(scr_hash_elem_hash(e), "META");
      uint64_t        size = 0;
      scr_hash_util_get_bytecount(meta, "SIZE", &size);
      if (!scr_meta_is_lost(meta, f->lost)) bytes += (int64_t)size;
    }
    if (rc == SCR_SUCCESS) rc = scr_find_enter(f);
    if (rc == SCR_SUCCESS) rc = scr_move_expect(f, scr_hash_get(mine, "FILE"));
  }
  err = scr_move_files(f->id, out, f->move && mine != NULL ? f->source : -1, bytes);
  if (rc == SCR_SUCCESS) rc = err;
  if (rc == SCR_SUCCESS && mine != NULL && f->move) rc = scr_move_check(f);
out:
  scr_hash_delete(&ask);
  scr_hash_delete(&asked);
  scr_hash_delete(&answer);
  scr_hash_delete(&got);
  scr_hash_delete(&out);
  return rc;
}

/* ---- one dataset ---- */

/* Note in scr.tried why dataset ID cannot be loaded.  Every rank calls it. */
SCR_FN SCR_FORMAT(1, 2) void scr_tried_add(const char* format, ...)
{
  char    text[1024];
  va_list ap;

  va_start(ap, format);
  vsnprintf(text, sizeof text, format, ap);
  va_end(ap);
  if (scr.tried.n + strlen(text) + 3 < 2000) {
    if (scr.tried.n > 0) scr_buf_add(&scr.tried, "; ", 2);
    scr_buf_add(&scr.tried, text, strlen(text));
  }
  if (scr.at.rank == 0) scr_warn("%s", text);
}

/* 1 when world rank RANK runs on this node, and so shares the dataset directories. */
SCR_FN int scr_on_node(int rank)
{
  int i;
  for (i = 0; i < scr.at.group[0].ranks; i++)
    if (scr.at.node[i] == rank) return 1;
  return 0;
}

/*
** Drop this rank's entries of the dataset KEY.  After MOVED only those of other ranks, and their files only when the
** rank runs on another node: on this node it goes on using them.  Else all entries, with their files, and with the
** directory, which may hold files that were never listed, unless another identity has entries there.
*/
SCR_FN int scr_find_drop(const int64_t* key, int moved)
{
  scr_dataset* desc = scr_dataset_new();
  int          id = (int)key[0], i, n = 0, *ranks = NULL, changed = 0;

  scr_filemap_list_ranks_by_dataset(scr.map, id, &n, &ranks);
  for (i = 0; i < n && scr_find_entry(key, ranks[i], desc); i++) continue;
  if (!moved && i == n) {
    scr_free(&ranks);
    scr_dataset_delete(&desc);
    return scr_cache_delete_local(id);
  }
  for (i = 0; i < n; i++) {
    if ((moved && ranks[i] == scr.at.rank) || !scr_find_entry(key, ranks[i], desc)) continue;
    if (!moved || !scr_on_node(ranks[i])) scr_cache_delete_files(id, ranks[i]);
    scr_filemap_remove_rank_by_dataset(scr.map, id, ranks[i]);
    changed = 1;
  }
  scr_free(&ranks);
  scr_dataset_delete(&desc);
  return changed ? scr_map_write() : SCR_SUCCESS;
}

/* Note that the dataset KEY is set aside, on every rank alike: one that holds a piece describes it. */
SCR_FN int scr_find_set_aside(const int64_t* key)
{
  scr_dataset* desc = scr_dataset_new();
  scr_hash *   red = scr_hash_new(), *all = scr_hash_new();
  scr_vote     v;
  int          id = (int)key[0], i, n = 0, *ranks = NULL, rc, root, flag = 0;

  memset(&v, 0, sizeof v);
  scr_filemap_list_ranks_by_dataset(scr.map, id, &n, &ranks);
  for (i = 0; i < n && v.max[0] == 0; i++) {
    if (!scr_find_entry(key, ranks[i], desc)) continue;
    v.max[0] = scr.at.ranks - scr.at.rank;
    scr_filemap_get_desc(scr.map, id, ranks[i], red);
    scr_hash_merge(scr_hash_set(all, "DSETDESC", scr_hash_new()), desc);
    scr_hash_util_set_str(all, "BASE", scr_line_str(red, "BASE", ""));
  }
  rc = scr_vote_all(&v, SCR_SUCCESS, scr.at.comm);
  root = scr.at.ranks - (int)v.max[0];
  if (rc == SCR_SUCCESS && root < scr.at.ranks) {
    if (scr.at.rank != root) scr_hash_unset_all(all);
    rc = scr_hash_bcast(all, root, scr.at.comm);
    if (rc == SCR_SUCCESS) rc = scr_cached_add(scr_hash_get(all, "DSETDESC"), scr_line_str(all, "BASE", ""), 0);
    scr_dataset_get_flag_ckpt(scr_hash_get(all, "DSETDESC"), &flag);
    if (flag) scr.once = 1;
  }
  scr_free(&ranks);
  scr_dataset_delete(&desc);
  scr_hash_delete(&red);
  scr_hash_delete(&all);
  return rc;
}

/* Drop what this node holds under the id of KEY with an older identity: its place is needed (C4). */
SCR_FN int scr_find_clear_place(const int64_t* key)
{
  scr_dataset* desc = scr_dataset_new();
  int          id = (int)key[0], i, n = 0, *ranks = NULL, changed = 0;

  scr_filemap_list_ranks_by_dataset(scr.map, id, &n, &ranks);
  for (i = 0; i < n; i++) {
    if (scr_find_entry(key, ranks[i], desc) || scr_oom) continue;
    scr_cache_delete_files(id, ranks[i]);
    scr_filemap_remove_rank_by_dataset(scr.map, id, ranks[i]);
    changed = 1;
  }
  scr_free(&ranks);
  scr_dataset_delete(&desc);
  return changed ? scr_map_write() : SCR_SUCCESS;
}

/*
** What the members of this rank's set have lost, in scr_set_numbers(SCR_SET_LOST); COUNT is how many have lost something,
** HOPELESS tells that the scheme cannot rebuild it.  Collective over the set.
*/
SCR_FN int scr_find_lost(const scr_find* f, int* count, int* hopeless)
{
  int64_t*    lost = scr_set_numbers(SCR_SET_LOST);
  scr_erasure ec;
  int         i, err = SCR_SUCCESS, rc = scr_set_gather(&f->d, scr.at.comm, f->lost, lost);

  *count = 0;
  for (i = 0; i < f->d.ranks; i++) *count += lost[i] != 0;
  *hopeless = f->d.type == SCR_COPY_SINGLE && *count > 0;
  if (*count > 0 && f->d.type != SCR_COPY_SINGLE) {
    err = scr_erasure_make(&ec, f->d.type, f->d.ranks, f->d.failures, lost, NULL);
    scr_erasure_free(&ec);
    *hopeless = err == SCR_ERR_LOST;
  }
  return rc != SCR_SUCCESS ? rc : *hopeless ? SCR_SUCCESS : err;
}

/*
** 1 when a member of this rank's set goes by another description of the set: a node came back with a copy that was
** protected otherwise.  Messages within such sets would wait for ever.  Collective over the world.
*/
SCR_FN int scr_find_set_differs(const scr_find* f, int* rc)
{
  scr_hash *     send = scr_hash_new(), *recv = scr_hash_new();
  scr_hash_elem* e;
  char           code[48];
  int            i, same = 0, err;

  snprintf(code, sizeof code, "%d.%d.%lx", (int)f->d.type, f->d.failures,
           (unsigned long)scr_crc32(SCR_CRC32_START, f->d.member, (size_t)f->d.ranks * sizeof(int)));
  for (i = 0; i < f->d.ranks; i++) scr_hash_setf(send, NULL, "%d %s", f->d.member[i], code);
  if ((err = scr_hash_exchange(send, recv, scr.at.comm)) != SCR_SUCCESS) *rc = err;
  for (e = scr_hash_elem_first(recv); e != NULL; e = scr_hash_elem_next(e))
    same += scr_hash_get(scr_hash_elem_hash(e), code) != NULL;
  i = same != f->d.ranks || scr_hash_size(recv) != f->d.ranks;
  scr_hash_delete(&send);
  scr_hash_delete(&recv);
  return i;
}

/* Note on which host the right neighbour now runs: the file map names it for a scavenge.  Collective over the set. */
SCR_FN int scr_find_meet(scr_find* f)
{
  scr_hash* flush = scr_hash_new();
  int       rc = f->d.ranks > 1 ? scr_reddesc_partner(&f->d, &scr.at) : SCR_SUCCESS;

  scr_filemap_get_flushdesc(scr.map, f->id, scr.at.rank, flush);
  scr_hash_unset(flush, "PARTNER");
  if (rc == SCR_SUCCESS && f->d.partner != NULL) scr_hash_util_set_str(flush, "PARTNER", f->d.partner);
  if (rc == SCR_SUCCESS && f->d.partner != NULL) rc = scr_filemap_set_flushdesc(scr.map, f->id, scr.at.rank, flush);
  scr_hash_delete(&flush);
  return rc;
}

/*
** Take the dataset KEY from the cache: find its pieces, decide whether they are enough, bring them to their ranks,
** rebuild what is lost, and only then drop the old copies.  Collective over the world; the same code everywhere.
** On SCR_ERR_LOST and other errors it is set aside, with the reason in scr.tried.
*/
SCR_FN int scr_find_take(scr_find* f, const int64_t* key)
{
  scr_hash *send = scr_hash_new(), *recv = scr_hash_new();
  scr_vote  v;
  int       count = 0, hopeless = 0, lost = 0, rc, err;
  scr_hash *kept = NULL, *scratch = scr_hash_new();
  int       entered = 0;
  double    start = scr_wtime();

  memset(&v, 0, sizeof v);
  scr_find_offer(key, send, &v);
  rc = scr_hash_exchange(scr_hash_get(send, "TO"), recv, scr.at.comm);
  if (rc == SCR_SUCCESS) scr_find_choose(f, recv);
  v.sum[3] = f->d.ranks == 0;
  if (scr_find_set_differs(f, &rc)) v.max[1] = 1;
  if ((rc = scr_vote_all(&v, rc, scr.at.comm)) != SCR_SUCCESS) goto out;
  f->doubt = v.sum[0] > 0 && v.max[3] == 0;
  if (v.sum[0] > 0 && v.max[2] == 0) { /* C1 */
    scr_dbg(1, "dataset %d never was complete: deleted from the cache", f->id);
    scr_find_drop(key, 0);
    f->never = 1;
    rc = SCR_ERR_INVALID;
    goto out;
  }
  if (v.sum[1] > 0)
    rc = SCR_ERR(SCR_ERR_LOST, "it is of %lld ranks, and this run has %d", (long long)v.max[0], scr.at.ranks);
  else if (v.sum[2] > 0) rc = SCR_ERR(SCR_ERR_INVALID, "the application rejected it");
  else if (v.sum[3] > 0) rc = SCR_ERR(SCR_ERR_LOST, "nothing is left of the sets of %lld ranks", (long long)v.sum[3]);
  else if (v.max[1] > 0) rc = SCR_ERR(SCR_ERR_LOST, "its pieces come from copies with different redundancy sets");
  if (rc != SCR_SUCCESS) goto out;

  rc = scr_find_lost(f, &count, &hopeless);
  memset(&v, 0, sizeof v);
  v.sum[0] = f->lost != 0;
  v.sum[1] = f->move;
  v.max[0] = hopeless;
  if ((rc = scr_vote_all(&v, rc, scr.at.comm)) != SCR_SUCCESS) goto out;
  if (v.max[0] > 0) {
    rc = SCR_ERR(SCR_ERR_LOST, "the files of %lld ranks are lost, more than its redundancy can rebuild",
                 (long long)v.sum[0]);
    goto out;
  }
  if (v.sum[0] + v.sum[1] > 0)
    scr_dbg(1, "dataset %d: files of %lld ranks move to another node, those of %lld are rebuilt", f->id,
            (long long)v.sum[1], (long long)v.sum[0]);
  if ((lost = v.sum[0] > 0)) scr_event_root("REBUILD_START", NULL, f->desc, -1.0);
  if (f->source == scr.at.rank ? f->lost != 0 : f->source < 0 && scr_find_entry(key, scr.at.rank, scratch))
    kept = scr_hash_dup(scr_hash_getf(scr.map, "%s %d %s %d", "RANK", scr.at.rank, "DSET", f->id));
  rc = scr_find_clear_place(key);
  entered = 1;
  err = scr_find_distribute(f);
  if (rc == SCR_SUCCESS) rc = err;
  if (rc == SCR_SUCCESS && f->source < 0) rc = scr_find_enter(f);
  if ((rc = scr_agree(rc, scr.at.comm)) != SCR_SUCCESS) goto out;
  if (count > 0) rc = scr_red_recover(&f->d, f->id, f->desc);
  err = scr_find_meet(f);
  if (rc == SCR_SUCCESS) rc = err;
  if (rc == SCR_SUCCESS) rc = scr_filemap_set_tag(scr.map, f->id, scr.at.rank, SCR_TAG_TAKEN, "1");
  if (rc == SCR_SUCCESS) rc = scr_map_write();
  if ((rc = scr_agree(rc, scr.at.comm)) != SCR_SUCCESS) goto out;
  scr_find_drop(key, 1);
  scr_dbg(1, "dataset %d %s is whole in the cache, after %.3f s", f->id, scr_desc_name(f->desc), scr_wtime() - start);
  if (lost) scr_event_root("REBUILD_SUCCESS", NULL, f->desc, scr_wtime() - start);
out:
  if (lost && rc != SCR_SUCCESS) scr_event_root("REBUILD_FAIL", scr_err_text, f->desc, scr_wtime() - start);
  if (rc != SCR_SUCCESS && kept != NULL) { /* what could not be read stays on record */
    scr_hash_setf(scr.map, kept, "%s %d %s %d", "RANK", scr.at.rank, "DSET", f->id);
    kept = NULL;
  } else if (rc != SCR_SUCCESS && entered && f->source != scr.at.rank) {
    scr_filemap_unset_expected_files(scr.map, f->id, scr.at.rank); /* what came here is no whole list */
  }
  scr_hash_delete(&scratch);
  scr_hash_delete(&kept);
  scr_hash_delete(&send);
  scr_hash_delete(&recv);
  return rc;
}

/* The same; a rebuild that read a corrupt file, as SCR_CRC_ON_RESTART=0 lets it, is done again with all files checked. */
SCR_FN int scr_find_take_whole(scr_find* f, const int64_t* key)
{
  int rc = scr_find_take(f, key);

  if (rc != SCR_ERR_CRC || scr.crc_on_restart) return rc;
  scr_find_free(f);
  scr_find_begin(f, key);
  scr.crc_on_restart = 1;
  rc = scr_find_take(f, key);
  scr.crc_on_restart = 0;
  return rc;
}

/*
** Rebuild the files of dataset ID, which is in use, that have become corrupt or are gone.  SCR_ERR_LOST when its
** redundancy cannot, SCR_ERR_NOT_FOUND when nothing is wrong with it.  Collective over the world; the same code
** everywhere.  On an error the records stay as they were.
*/
SCR_FN int scr_cache_mend(int id)
{
  const scr_cached* c = scr_cached_find(id);
  scr_hash *        red = scr_hash_new(), *kept = NULL;
  scr_find          f;
  scr_vote          v;
  int               count = 0, hopeless = 0, rc;

  memset(&f, 0, sizeof f);
  memset(&v, 0, sizeof v);
  f.id = id;
  scr_filemap_get_desc(scr.map, id, scr.at.rank, red);
  rc = scr_reddesc_from_hash(&f.d, red, scr.at.ranks);
  if (rc == SCR_SUCCESS) f.lost = scr_cache_lost(&f.d, id, scr.at.rank, 1);
  if ((rc = scr_agree(rc, scr.at.comm)) != SCR_SUCCESS) goto out;
  rc = scr_find_lost(&f, &count, &hopeless);
  v.sum[0] = f.lost != 0;
  v.max[0] = hopeless;
  if ((rc = scr_vote_all(&v, rc, scr.at.comm)) != SCR_SUCCESS) goto out;
  if (v.sum[0] == 0) rc = SCR_ERR(SCR_ERR_NOT_FOUND, "no file of dataset %d is lost", id);
  if (v.max[0] > 0) rc = SCR_ERR(SCR_ERR_LOST, "the redundancy of dataset %d cannot rebuild what it lost", id);
  if (rc != SCR_SUCCESS) goto out;
  scr_event_root("REBUILD_START", NULL, c->desc, -1.0);
  if (f.lost) kept = scr_hash_dup(scr_hash_getf(scr.map, "%s %d %s %d", "RANK", scr.at.rank, "DSET", id));
  if (f.lost) scr_cache_strike(scr.map, id, scr.at.rank, f.lost);
  if (count > 0) rc = scr_red_recover(&f.d, id, c->desc);
  if (rc == SCR_SUCCESS) rc = scr_map_write();
  rc = scr_agree(rc, scr.at.comm);
  if (rc != SCR_SUCCESS && kept != NULL) {
    scr_hash_setf(scr.map, kept, "%s %d %s %d", "RANK", scr.at.rank, "DSET", id);
    kept = NULL;
  }
  scr_event_root(rc == SCR_SUCCESS ? "REBUILD_SUCCESS" : "REBUILD_FAIL", NULL, c->desc, -1.0);
out:
  scr_hash_delete(&red);
  scr_hash_delete(&kept);
  scr_reddesc_free(&f.d);
  return rc;
}

/*
** Take all datasets of the cache, the newest first, so that a crowded cache serves the newest.  Fills scr.cached.
** Collective over the world.  An error means that the run cannot go on; datasets that cannot be used are no error.
*/
SCR_FN int scr_cache_rebuild(void)
{
  int64_t limit[3] = {INT64_MAX, 0, 0};
  int     rc;

  for (;;) {
    scr_vote v;
    scr_find f;
    memset(&v, 0, sizeof v);
    scr_find_next(limit, v.key);
    if ((rc = scr_vote_all(&v, SCR_SUCCESS, scr.at.comm)) != SCR_SUCCESS) return rc;
    if (v.key[0] <= 0) return SCR_SUCCESS;
    memcpy(limit, v.key, sizeof limit);
    scr_find_begin(&f, limit);
    if (scr_cached_find(f.id) != NULL && scr_cached_find(f.id)->good) {
      rc = scr_find_drop(limit, 0); /* an older identity of an id that is here */
    } else if ((rc = scr_find_take_whole(&f, limit)) == SCR_SUCCESS) {
      rc = scr_cached_add(f.desc, f.d.base, 1);
    } else if (!f.never && rc != SCR_ERR_MPI) {
      int once = scr.once, doubt = f.doubt && rc == SCR_ERR_LOST;
      scr_tried_add("dataset %d %s in the cache cannot be used: %s", f.id, scr_desc_name(f.desc), scr_err_text);
      rc = scr_find_set_aside(limit);
      if (doubt) {
        scr.once = once;
        if (scr.at.rank == 0)
          scr_warn("dataset %d %s is set aside: the run ended while it was made complete, and what is left of it is "
                   "not enough",
                   f.id, scr_desc_name(f.desc));
      }
    }
    scr_find_free(&f);
    if (f.id > scr.dataset_id) scr.dataset_id = f.id;
    if (rc == SCR_ERR_MPI) return rc;
  }
}

/* ==== 19 PREFIX: FLUSH AND FETCH ========================================================================
** Datasets between the cache and the parallel file system.
**
** Uses       records, files of the run, state, redundancy, cache, MPI helpers.
** Offers     scr_flush_sync, scr_fetch, scr_load, scr_prefix_redo, scr_prefix_delete, scr_index_update.
** Invariants
**   F1  A flush writes every file under a temporary name beside its final one.  Files of an indexed dataset are replaced
**       by renames only, after the index update that takes that dataset out and the new one in; until the renames are
**       done the index says so (REDO), and any later run can finish them.
**   F2  Order at the end of a flush: data, fsync, rank2file and summary, fsync, index COMPLETE, renames, CURRENT, and
**       only then PFS in the flush file.
**   F3  A path from a metadata file is used only when it stays below the prefix.
** Failure    A failed flush leaves the prefix as it was, but for empty directories.
** ====================================================================================================== */

#define SCR_RANK2FILE_BYTES (1024 * 1024) /* of the map in one file */

/* <prefix>/<dir>/.scr/<file>. */
SCR_FN int scr_prefix_meta(const char* dir, const char* file, char* path, size_t n)
{
  return scr_fmt(path, n, "%s/%s/.scr/%s", scr.at.prefix, dir, file);
}

/*
** The path below the prefix of NAME, a path relative to the directory BASE below the prefix ("" for the prefix itself).
** SCR_ERR_FORMAT when it leads out (F3).
*/
SCR_FN int scr_prefix_rel(const char* base, const char* name, char* rel, size_t n)
{
  char        path[2 * SCR_MAX_FILENAME], reduced[SCR_MAX_FILENAME];
  const char* below;
  int         rc;

  if ((rc = scr_fmt(path, sizeof path, "%s/%s/%s", scr.at.prefix, base, name)) != SCR_SUCCESS) return rc;
  if ((rc = scr_path_reduce_str(path, reduced, sizeof reduced)) != SCR_SUCCESS) return rc;
  if (name[0] == '/' || !scr_path_below(scr.at.prefix, reduced, &below))
    return SCR_ERR(SCR_ERR_FORMAT, "a metadata file names %s, which is not below the prefix %s", name, scr.at.prefix);
  return scr_fmt(rel, n, "%s", below);
}

/* ---- the file map of a dataset on the prefix ---- */

/*
** Write this rank's part of the map of the dataset DESC, PIECE, together with its neighbours'.  The root says whose map
** it is.  Collective over the world.
*/
SCR_FN int scr_flush_summary_map(const char* dir, const scr_dataset* desc, const scr_hash* piece, int rc)
{
  scr_hash *     leaf = scr_hash_new(), *body = scr_hash_set(leaf, "RANK2FILE", scr_hash_new()), *out = scr_hash_new();
  scr_hash *     in = scr_hash_new(), *root = scr_hash_new();
  scr_hash_elem* e;
  scr_vote       v;
  char           path[SCR_MAX_FILENAME], name[64];
  int64_t        size = (int64_t)scr_hash_pack_size(piece);
  int            writer, next = 0, i, err;

  memset(&v, 0, sizeof v);
  v.sum[0] = size;
  if ((err = scr_scan(&v, SCR_SCAN_UP, scr.at.comm)) != SCR_SUCCESS) rc = err;
  writer = scr.at.rank == 0 || (v.sum[0] - size) / SCR_RANK2FILE_BYTES != v.sum[0] / SCR_RANK2FILE_BYTES;
  memset(&v, 0, sizeof v);
  v.max[0] = writer ? scr.at.rank : -1;
  if ((err = scr_scan(&v, SCR_SCAN_UP, scr.at.comm)) != SCR_SUCCESS) rc = err;
  if ((err = scr_scan_next(writer, &next, scr.at.comm)) != SCR_SUCCESS) rc = err;
  if (!writer) {
    if ((err = scr_hash_send(piece, (int)v.max[0], scr.at.comm)) != SCR_SUCCESS) rc = err;
  } else {
    scr_hash_util_set_int(body, "LEVEL", 0);
    scr_hash_util_set_int(body, "RANKS", next - scr.at.rank);
    scr_hash_merge(body, piece);
    for (i = scr.at.rank + 1; i < next; i++)
      if ((err = scr_hash_recv(body, i, scr.at.comm)) != SCR_SUCCESS) rc = err;
    snprintf(name, sizeof name, ".scr/rank2file.0.%d.scr", scr.at.rank);
    if (rc == SCR_SUCCESS) rc = scr_fmt(path, sizeof path, "%s/%s/%s", scr.at.prefix, dir, name);
    if (rc == SCR_SUCCESS) rc = scr_hash_file_write(path, leaf);
    scr_hash_setf(out, NULL, "%d %s %s", 0, "FILE", name);
  }
  if ((err = scr_hash_exchange(out, in, scr.at.comm)) != SCR_SUCCESS) rc = err;
  if (scr.at.rank == 0) {
    scr_hash_util_set_int(root, "LEVEL", 1);
    scr_hash_util_set_int(root, "RANKS", scr.at.ranks);
    scr_dataset_copy_identity(scr_hash_set(root, "DSET", scr_hash_new()), desc);
    for (e = scr_hash_elem_first(in); e != NULL; e = scr_hash_elem_next(e)) {
      scr_hash* r = scr_hash_set_kv(root, "RANK", scr_hash_elem_key(e));
      scr_hash_util_set_int(r, "OFFSET", 0);
      scr_hash_util_set_str(r, "FILE", scr_line_str(scr_hash_elem_hash(e), "FILE", ""));
    }
  }
  rc = scr_agree(rc, scr.at.comm); /* the root names only leaves that are there */
  if (rc == SCR_SUCCESS && scr.at.rank == 0) {
    rc = scr_prefix_meta(dir, "rank2file.scr", path, sizeof path);
    if (rc == SCR_SUCCESS) rc = scr_hash_file_write(path, root);
  }
  scr_hash_delete(&leaf);
  scr_hash_delete(&out);
  scr_hash_delete(&in);
  scr_hash_delete(&root);
  return rc;
}

/* Where the metadata of dataset ID lie, and what its paths are relative to. */
typedef struct {
  char meta[SCR_MAX_FILENAME]; /* directory, below the prefix, of summary.scr and rank2file.scr */
  char base[SCR_MAX_FILENAME]; /* directory below the prefix that FILE paths start from */
} scr_prefix_place;

/* The place of today's form, or that of release 1.2, which kept all under <prefix>/.scr/scr.dataset.<id>. */
SCR_FN int scr_prefix_locate(int id, const char* dir, scr_prefix_place* p)
{
  char        path[SCR_MAX_FILENAME];
  struct stat st;
  int         rc;

  if ((rc = scr_fmt(p->base, sizeof p->base, "%s", dir)) != SCR_SUCCESS) return rc;
  if ((rc = scr_fmt(p->meta, sizeof p->meta, "%s/.scr", dir)) != SCR_SUCCESS) return rc;
  if ((rc = scr_prefix_meta(dir, "summary.scr", path, sizeof path)) != SCR_SUCCESS) return rc;
  if (scr_os.lstat(path, &st) == 0) return SCR_SUCCESS;
  if ((rc = scr_fmt(path, sizeof path, "%s/.scr/scr.dataset.%d/summary.scr", scr.at.prefix, id)) != SCR_SUCCESS)
    return rc;
  if (scr_os.lstat(path, &st) != 0) return SCR_SUCCESS;
  p->base[0] = '\0';
  return scr_fmt(p->meta, sizeof p->meta, ".scr/scr.dataset.%d", id);
}

/* Read FILE of a map, named relative to the place's base, into H. */
SCR_FN int scr_prefix_read_map(const scr_prefix_place* p, const char* name, scr_hash* h)
{
  char rel[SCR_MAX_FILENAME], path[SCR_MAX_FILENAME];
  int  rc = scr_prefix_rel(p->base, name, rel, sizeof rel);

  if (rc == SCR_SUCCESS) rc = scr_fmt(path, sizeof path, "%s/%s", scr.at.prefix, rel);
  return rc == SCR_SUCCESS ? scr_rank2file_read(path, h) : rc;
}

/*
** Read the file map of the dataset at PLACE: MINE receives RANK/<r>/FILE/... for the ranks r that equal this rank modulo
** the number of ranks; RANKS how many ranks the dataset has.  Rank 0 reads the root, the ranks that it names read the
** leaves, and everyone gets its share.  A root of another dataset than DESC, when that is not NULL, is SCR_ERR_INVALID.
** Collective over the world; the same code everywhere.
*/
SCR_FN int scr_map_scatter(const scr_prefix_place* place, const scr_dataset* desc, scr_hash* mine, int* ranks)
{
  scr_hash *     root = scr_hash_new(), *out = scr_hash_new(), *jobs = scr_hash_new(), *in = scr_hash_new();
  scr_hash_elem *e, *f;
  char           name[SCR_MAX_FILENAME];
  scr_vote       v;
  int            rc = SCR_SUCCESS, err;

  memset(&v, 0, sizeof v);
  if (scr.at.rank == 0) {
    rc = scr_fmt(name, sizeof name, "%s/%s/rank2file.scr", scr.at.prefix, place->meta);
    if (rc == SCR_SUCCESS) rc = scr_rank2file_read(name, root);
    v.max[0] = scr_line_int(root, "RANKS", 0);
    if (rc == SCR_SUCCESS && scr_line_int(root, "LEVEL", -1) != 1)
      rc = SCR_ERR(SCR_ERR_FORMAT, "%s is not the root of a file map of two levels", name);
    if (rc == SCR_SUCCESS && scr_dataset_differs(scr_hash_get(root, "DSET"), desc))
      rc = SCR_ERR(SCR_ERR_INVALID, "%s is the file map of another dataset than the summary beside it", name);
    for (e = scr_hash_elem_first(scr_hash_get(root, "RANK")); rc == SCR_SUCCESS && e != NULL;
         e = scr_hash_elem_next(e)) {
      int reader = (atoi(scr_hash_elem_key(e)) & INT_MAX) % scr.at.ranks;
      scr_hash_setf(out, NULL, "%d %s %s", reader, "LEAF", scr_line_str(scr_hash_elem_hash(e), "FILE", ""));
    }
  }
  if ((err = scr_hash_exchange(out, jobs, scr.at.comm)) != SCR_SUCCESS) rc = err;
  scr_hash_unset_all(out);
  for (f = scr_hash_elem_first(scr_hash_get(scr_hash_getf(jobs, "%d", 0), "LEAF")); f != NULL;
       f = scr_hash_elem_next(f)) {
    scr_hash* leaf = scr_hash_new();
    err = scr_prefix_read_map(place, scr_hash_elem_key(f), leaf);
    if (rc == SCR_SUCCESS) rc = err;
    for (e = scr_hash_elem_first(scr_hash_get(leaf, "RANK")); e != NULL; e = scr_hash_elem_next(e)) {
      int       r = atoi(scr_hash_elem_key(e)) & INT_MAX; /* whatever the file says, the receiver below exists */
      scr_hash* to = scr_hash_set_kv_int(out, "TO", r % scr.at.ranks);
      v.sum[0]++;
      scr_hash_merge(scr_hash_set_kv_int(to, "RANK", r), scr_hash_elem_hash(e));
    }
    scr_hash_delete(&leaf);
  }
  if ((err = scr_hash_exchange(scr_hash_get(out, "TO"), in, scr.at.comm)) != SCR_SUCCESS) rc = err;
  for (e = scr_hash_elem_first(in); e != NULL; e = scr_hash_elem_next(e)) scr_hash_merge(mine, scr_hash_elem_hash(e));
  rc = scr_vote_all(&v, rc, scr.at.comm);
  *ranks = (int)v.max[0];
  if (rc == SCR_SUCCESS && v.sum[0] != v.max[0])
    rc = SCR_ERR(SCR_ERR_FORMAT, "the file map in %s/%s describes %lld ranks instead of %lld", scr.at.prefix,
                 place->meta, (long long)v.sum[0], (long long)v.max[0]);
  scr_hash_delete(&root);
  scr_hash_delete(&out);
  scr_hash_delete(&jobs);
  scr_hash_delete(&in);
  return rc;
}

/* ---- renames that a crash left undone ---- */

/* The path of NAME in the directory of the file REL, a path below the prefix. */
SCR_FN int scr_prefix_beside(const char* rel, const char* name, char* path, size_t n)
{
  const char* slash = strrchr(rel, '/');
  return scr_fmt(path, n, "%s/%.*s%s", scr.at.prefix, slash ? (int)(slash - rel) + 1 : 0, rel, name);
}

/* The temporary path of the file REL of dataset ID, which the map describes by H. */
SCR_FN int scr_prefix_redo_from(const char* rel, const scr_hash* h, int id, char* path, size_t n)
{
  const char* own = scr_line_str(h, "TMP", NULL);
  const char* slash = strrchr(rel, '/');
  char        name[SCR_MAX_FILENAME];
  int         rc;

  if (own != NULL && (strchr(own, '/') != NULL || strncmp(own, ".scr", 4) != 0))
    return SCR_ERR(SCR_ERR_FORMAT, "the file map names %s, which is no temporary file of %s", own, rel);
  if (own != NULL) return scr_prefix_beside(rel, own, path, n);
  rc = scr_fmt(name, sizeof name, "%s.scr%d.tmp", slash ? slash + 1 : rel, id);
  return rc == SCR_SUCCESS ? scr_prefix_beside(rel, name, path, n) : rc;
}

/* Give the files of one leaf of the map their final names; a file whose temporary is gone has it. */
SCR_FN int scr_prefix_redo_leaf(const scr_prefix_place* p, const scr_hash* leaf, int id)
{
  scr_hash_elem *e, *c;
  char           rel[SCR_MAX_FILENAME], from[SCR_MAX_FILENAME], to[SCR_MAX_FILENAME];
  int            rc = SCR_SUCCESS;

  for (e = scr_hash_elem_first(scr_hash_get(leaf, "RANK")); e != NULL; e = scr_hash_elem_next(e))
    for (c = scr_hash_elem_first(scr_hash_get(scr_hash_elem_hash(e), "FILE")); c != NULL; c = scr_hash_elem_next(c)) {
      if ((rc = scr_prefix_rel(p->base, scr_hash_elem_key(c), rel, sizeof rel)) != SCR_SUCCESS) return rc;
      if ((rc = scr_prefix_redo_from(rel, scr_hash_elem_hash(c), id, from, sizeof from)) != SCR_SUCCESS) return rc;
      if ((rc = scr_fmt(to, sizeof to, "%s/%s", scr.at.prefix, rel)) != SCR_SUCCESS) return rc;
      if (scr_os.rename(from, to) < 0) {
        uint64_t size = 0;
        uLong    want, crc;
        if (errno != ENOENT) return SCR_ERRNO("cannot rename %s to %s", from, to);
        scr_hash_util_get_bytecount(scr_hash_elem_hash(c), "SIZE", &size);
        if ((rc = scr_file_crc(to, size, &crc)) != SCR_SUCCESS) return rc;
        if (scr_hash_util_get_crc32(scr_hash_elem_hash(c), "CRC", &want) == SCR_SUCCESS && crc != want)
          return SCR_ERR(SCR_ERR_CRC, "%s is not the file that an interrupted flush wrote", to);
        continue;
      }
      if ((rc = scr_dir_sync(to)) != SCR_SUCCESS) return rc;
    }
  return rc;
}

/* Finish the renames of the dataset ID in DIR. */
SCR_FN int scr_prefix_redo_one(int id, const char* dir)
{
  scr_prefix_place p;
  scr_hash*        root = scr_hash_new();
  scr_hash_elem*   e;
  char             path[SCR_MAX_FILENAME];
  int              rc = scr_prefix_locate(id, dir, &p);

  if (rc == SCR_SUCCESS) rc = scr_fmt(path, sizeof path, "%s/%s/rank2file.scr", scr.at.prefix, p.meta);
  if (rc == SCR_SUCCESS) rc = scr_rank2file_read(path, root);
  for (e = scr_hash_elem_first(scr_hash_get(root, "RANK")); e != NULL && rc == SCR_SUCCESS; e = scr_hash_elem_next(e)) {
    scr_hash* leaf = scr_hash_new();
    rc = scr_prefix_read_map(&p, scr_line_str(scr_hash_elem_hash(e), "FILE", ""), leaf);
    if (rc == SCR_SUCCESS) rc = scr_prefix_redo_leaf(&p, leaf, id);
    scr_hash_delete(&leaf);
  }
  scr_hash_delete(&root);
  return rc;
}

/* All files of dataset ID in DIR have their names: a checkpoint becomes CURRENT, unless that is newer or the user's. */
SCR_FN void scr_index_renamed(scr_hash* index, int id, const char* dir)
{
  scr_hash*   entry = scr_index_entry(index, id, dir);
  const char* current = NULL;
  int         cid = 0, by_user = 0;

  scr_hash_unset(entry, "REDO");
  if (!scr_index_is_ckpt(entry)) return;
  if (scr_index_current(index, &cid, &current, &by_user) == SCR_SUCCESS &&
      (cid >= id || (by_user && !scr_index_passed_by(index))))
    return;
  scr_index_set_current(index, dir, 0);
}

/* Finish the renames of every dataset that the index says has some left.  Rank 0 only. */
SCR_FN int scr_prefix_redo(void)
{
  scr_hash*      index = scr_hash_new();
  scr_hash_elem *e, *c;
  scr_err_record why;
  int            fd = -1, changed = 0, err, rc = scr_index_open(scr.at.prefix, &fd, index);

  scr_err_save(&why);
  for (e = scr_hash_elem_first(scr_hash_get(index, "DSET")); e != NULL; e = scr_hash_elem_next(e))
    for (c = scr_hash_elem_first(scr_hash_get(scr_hash_elem_hash(e), "DIR")); c != NULL; c = scr_hash_elem_next(c)) {
      if (scr_hash_get(scr_hash_elem_hash(c), "REDO") == NULL) continue;
      scr_dbg(1, "finish the flush of dataset %s, which a failure interrupted", scr_hash_elem_key(e));
      err = scr_prefix_redo_one(atoi(scr_hash_elem_key(e)), scr_hash_elem_key(c));
      if (err == SCR_SUCCESS) {
        scr_index_renamed(index, atoi(scr_hash_elem_key(e)), scr_hash_elem_key(c));
        changed = 1;
      } else if (rc == SCR_SUCCESS) {
        rc = err;
        scr_err_save(&why);
      }
    }
  if (fd >= 0) {
    err = scr_index_close(scr.at.prefix, &fd, changed ? index : NULL);
    if (rc == SCR_SUCCESS) rc = err;
    else scr_err_restore(&why);
  }
  scr_hash_delete(&index);
  return rc;
}

/* ---- flush ---- */

/* The index entry with the identity of DESC: its directory in *DIR, or NULL. */
SCR_FN scr_hash* scr_index_same(const scr_hash* index, const scr_dataset* desc, const char** dir)
{
  scr_hash_elem* e;
  int            id = 0;

  scr_dataset_get_id(desc, &id);
  for (e = scr_hash_elem_first(scr_hash_get(scr_hash_get_kv_int(index, "DSET", id), "DIR")); e != NULL;
       e = scr_hash_elem_next(e))
    if (scr_dataset_same(scr_hash_get(scr_hash_elem_hash(e), "DSET"), desc)) {
      if (dir != NULL) *dir = scr_hash_elem_key(e);
      return scr_hash_elem_hash(e);
    }
  return NULL;
}

/* A flush on its way. */
typedef struct {
  int                id;
  const scr_dataset* desc;
  const char*        base;                  /* its store */
  char               dir[SCR_MAX_FILENAME]; /* of the dataset, below the prefix */
  int                preserve;
  int                wanted;     /* by the user: then it may replace newer ones */
  int                superseded; /* files of a newer checkpoint lie where those of this one go */
  int                keep_meta;  /* what lies in its .scr belongs to the index, or may; on rank 0 */
  scr_file_list      src;        /* in the cache */
  char**             rel;        /* final path of each file, below the prefix */
  scr_hash*          piece;      /* this rank's part of the file map */
  scr_hash*          replaced;   /* ID/<id>/<dir>: datasets whose files this one replaces; on rank 0 */
} scr_flush;

SCR_FN void scr_flush_free(scr_flush* f)
{
  int i;
  for (i = 0; f->rel != NULL && i < f->src.n; i++) scr_free(&f->rel[i]);
  scr_free(&f->rel);
  scr_file_list_free(&f->src);
  scr_hash_delete(&f->piece);
  scr_hash_delete(&f->replaced);
}

#define SCR_NAME_BYTES_MAX 255 /* of one component of a path */

/*
** The temporary name of file I, in the same directory: the final one with a suffix, or, where that would be too long, a
** short one that no other file has.  1 when it is such a name, which has to be recorded.
*/
SCR_FN int scr_flush_tmp_name(const scr_flush* f, int i, char name[SCR_MAX_FILENAME])
{
  const char* slash = strrchr(f->rel[i], '/');
  const char* base = slash ? slash + 1 : f->rel[i];
  int         n = snprintf(name, SCR_MAX_FILENAME, "%s.scr%d.tmp", base, f->id);

  if (n <= SCR_NAME_BYTES_MAX &&
      strlen(scr.at.prefix) + 1 + (size_t)(base - f->rel[i]) + (size_t)n < (size_t)SCR_MAX_FILENAME)
    return 0;
  snprintf(name, SCR_MAX_FILENAME, ".scr%d.%d.%d.tmp", f->id, scr.at.rank, i);
  return 1;
}

/* Path I of the flush: final, or temporary. */
SCR_FN int scr_flush_path(const scr_flush* f, int i, int temporary, char* path, size_t n)
{
  char name[SCR_MAX_FILENAME];

  if (!temporary) return scr_fmt(path, n, "%s/%s", scr.at.prefix, f->rel[i]);
  scr_flush_tmp_name(f, i, name);
  return scr_prefix_beside(f->rel[i], name, path, n);
}

/*
** 1 when the directory DIR below the prefix may take the metadata of DESC: it holds no summary, or one of this dataset,
** and INDEX names no other complete dataset there.  A summary that cannot be read may be anybody's.
*/
SCR_FN int scr_flush_may_use(const scr_hash* index, const char* dir, const scr_dataset* desc)
{
  char           path[SCR_MAX_FILENAME];
  scr_dataset*   other = scr_dataset_new();
  scr_hash_elem* e;
  int            complete, rc, may;

  rc = scr_prefix_meta(dir, "summary.scr", path, sizeof path);
  if (rc == SCR_SUCCESS) rc = scr_summary_read(path, other, &complete);
  may = rc == SCR_ERR_NOT_FOUND || (rc == SCR_SUCCESS && scr_dataset_same(other, desc));
  for (e = scr_hash_elem_first(scr_hash_get(scr_hash_get_kv(index, "DIR", dir), "DSET")); may && e != NULL;
       e = scr_hash_elem_next(e)) {
    const scr_hash* entry = scr_index_entry(index, atoi(scr_hash_elem_key(e)), dir);
    may = !scr_line_int(entry, "COMPLETE", 0) || scr_dataset_same(scr_hash_get(entry, "DSET"), desc);
  }
  scr_dataset_delete(&other);
  return may;
}

#define SCR_FLUSH_DIRS_MAX 1000 /* names to try for a directory */

/*
** The directory of the dataset below the prefix (D6): the common one of its files, unless there is none or it holds the
** metadata of another dataset; then scr.dataset.<id>, or the first scr.dataset.<id>.<n> that does not.  Rank 0 only.
*/
SCR_FN int scr_flush_choose_dir(const scr_dataset* desc, int id, int preserve, char* dir, size_t n)
{
  const char* common = scr_hash_elem_get_first_val(desc, "DIR");
  scr_hash*   index = scr_hash_new();
  int         i, found = 0, rc = SCR_SUCCESS;

  if (scr_index_read(scr.at.prefix, index) != SCR_SUCCESS) scr_hash_unset_all(index); /* the commit will say so */
  for (i = -1; rc == SCR_SUCCESS && !found && i < SCR_FLUSH_DIRS_MAX; i++) {
    if (i < 0 && (!preserve || common == NULL || *common == '\0')) continue;
    if (i < 0) rc = scr_fmt(dir, n, "%s", common);
    else rc = i == 0 ? scr_fmt(dir, n, "scr.dataset.%d", id) : scr_fmt(dir, n, "scr.dataset.%d.%d", id, i);
    if (rc == SCR_SUCCESS) found = scr_flush_may_use(index, dir, desc);
  }
  if (rc == SCR_SUCCESS && !found)
    rc = SCR_ERR(SCR_ERR_IO,
                 "%s/%s and the directories of this name before it hold or may hold metadata of other datasets; look "
                 "whether their summary.scr can be read, and remove those that are not needed",
                 scr.at.prefix, dir);
  if (rc != SCR_SUCCESS) *dir = '\0';
  scr_hash_delete(&index);
  return rc;
}

/* The files of this rank and where they go. */
SCR_FN int scr_flush_identify(scr_flush* f)
{
  scr_meta* meta = scr_meta_new();
  int       i, rc = scr_file_list_from_map(scr.map, f->id, scr.at.rank, &f->src);

  f->rel = (char**)scr_malloc((size_t)(f->src.n + 1) * sizeof *f->rel);
  if (f->rel == NULL) rc = SCR_ERR_OOM();
  for (i = 0; i < f->src.n && rc == SCR_SUCCESS; i++) {
    const char* name;
    scr_hash_unset_all(meta);
    scr_filemap_get_meta(scr.map, f->id, scr.at.rank, f->src.path[i], meta);
    name = scr_hash_elem_get_first_val(meta, "FILE");
    if (name == NULL || !scr_path_is_safe_rel(name))
      rc = SCR_ERR(SCR_ERR_FORMAT, "the record of %s names no path below the prefix", f->src.path[i]);
    else if (f->preserve) f->rel[i] = scr_strdup(name);
    else f->rel[i] = scr_strdupf("%s/%s", f->dir, name);
  }
  scr_meta_delete(&meta);
  return scr_oom ? SCR_ERR_OOM() : rc;
}

/*
** Make the parent directories of all files.  In each round a rank brings one directory that it has not brought yet, and
** of the ranks that bring the same the first makes it (D18).  Collective over the world.
*/
SCR_FN int scr_flush_create_dirs(const scr_flush* f, int rc)
{
  scr_hash*      dirs = scr_hash_new();
  scr_hash_elem* e;
  scr_vote       v;
  char           path[SCR_MAX_FILENAME];
  int            i, round, err, groups, id, place, size, leader;

  for (i = 0; rc == SCR_SUCCESS && i < f->src.n; i++) {
    const char* slash = strrchr(f->rel[i], '/');
    rc = scr_fmt(path, sizeof path, "%s/%.*s", scr.at.prefix, slash ? (int)(slash - f->rel[i]) : 0, f->rel[i]);
    scr_hash_set_kv(dirs, "DIR", path);
  }
  memset(&v, 0, sizeof v);
  v.max[0] = scr_hash_size(scr_hash_get(dirs, "DIR"));
  if ((err = scr_vote_all(&v, rc, scr.at.comm)) != SCR_SUCCESS) {
    scr_hash_delete(&dirs);
    return err;
  }
  e = scr_hash_elem_first(scr_hash_get(dirs, "DIR"));
  for (round = 0; round < (int)v.max[0]; round++) {
    const char* dir = e != NULL ? scr_hash_elem_key(e) : "";
    err = scr_rank_str(scr.at.comm, dir, &groups, &id, &place, &size, &leader);
    if (err == SCR_SUCCESS && *dir != '\0' && place == 0) err = scr_mkdirs(dir, 0777);
    if (rc == SCR_SUCCESS) rc = err;
    if (e != NULL) e = scr_hash_elem_next(e);
  }
  scr_hash_delete(&dirs);
  return scr_agree(rc, scr.at.comm);
}

/* Send each path of NAMES, a hash of paths below the prefix, to the rank that all agree is to judge it, as KIND. */
SCR_FN void scr_paths_spread(scr_hash* send, const char* path, const char* kind)
{
  uLong crc = scr_crc32(SCR_CRC32_START, path, strlen(path));
  scr_hash_setf(send, NULL, "%d %s %s", (int)(crc % (uLong)scr.at.ranks), kind, path);
}

/* 1 when CODE says that the dataset itself is bad, and not only that something failed while it was read (D24). */
SCR_FN int scr_code_is_verdict(int code)
{
  return code == SCR_ERR_CRC || code == SCR_ERR_FORMAT || code == SCR_ERR_MISSING || code == SCR_ERR_INVALID;
}

/*
** 1 in *HIT when a file of the dataset ENTRY (id, dir) is one of those this flush replaces, EXISTING.  Collective over
** the world.
*/
SCR_FN int scr_flush_hits(int id, const char* dir, const scr_hash* existing, int* hit)
{
  scr_prefix_place place;
  scr_hash *       mine = scr_hash_new(), *send = scr_hash_new(), *recv = scr_hash_new(), *fresh = scr_hash_new();
  scr_hash_elem *  e, *c;
  scr_vote         v;
  char             rel[SCR_MAX_FILENAME];
  int              ranks, rc;

  *hit = 0;
  rc = scr_prefix_locate(id, dir, &place);
  if ((rc = scr_agree(rc, scr.at.comm)) != SCR_SUCCESS) goto out;
  rc = scr_map_scatter(&place, NULL, mine, &ranks);
  if (rc != SCR_SUCCESS) { /* damaged, it cannot be fetched either, and nothing is lost with its files */
    if (scr_code_is_verdict(rc)) rc = SCR_SUCCESS;
    goto out;
  }
  for (e = scr_hash_elem_first(scr_hash_get(mine, "RANK")); e != NULL; e = scr_hash_elem_next(e))
    for (c = scr_hash_elem_first(scr_hash_get(scr_hash_elem_hash(e), "FILE")); c != NULL; c = scr_hash_elem_next(c))
      if (scr_prefix_rel(place.base, scr_hash_elem_key(c), rel, sizeof rel) == SCR_SUCCESS)
        scr_paths_spread(send, rel, "OLD");
  for (e = scr_hash_elem_first(existing); e != NULL; e = scr_hash_elem_next(e))
    scr_paths_spread(send, scr_hash_elem_key(e), "NEW");
  rc = scr_hash_exchange(send, recv, scr.at.comm);
  for (e = scr_hash_elem_first(recv); e != NULL; e = scr_hash_elem_next(e))
    scr_hash_merge(fresh, scr_hash_elem_hash(e));
  memset(&v, 0, sizeof v);
  for (e = scr_hash_elem_first(scr_hash_get(fresh, "NEW")); e != NULL; e = scr_hash_elem_next(e))
    if (scr_hash_get(scr_hash_get(fresh, "OLD"), scr_hash_elem_key(e)) != NULL) v.sum[0]++;
  rc = scr_vote_all(&v, rc, scr.at.comm);
  *hit = v.sum[0] > 0;
out:
  scr_hash_delete(&mine);
  scr_hash_delete(&send);
  scr_hash_delete(&recv);
  scr_hash_delete(&fresh);
  return rc;
}

/*
** Whether the dataset ID, with the index entry ENTRY, keeps its files when the flush F would replace them: "NO"; or, as it
** is newer, is good and nobody has asked for F, "CKPT" or "OUTPUT".
*/
SCR_FN const char* scr_flush_stands(const scr_flush* f, int id, const scr_hash* entry)
{
  if (f->wanted || id < f->id || scr_hash_get(entry, "FAILED") != NULL) return "NO";
  return scr_index_is_ckpt(entry) ? "CKPT" : "OUTPUT";
}

/*
** Which indexed datasets lose files to this flush (D7).  Costs a look at each final path; the maps of the indexed
** datasets are read only when something is there already.  Collective over the world.
*/
SCR_FN int scr_flush_find_replaced(scr_flush* f, int rc)
{
  scr_hash *     existing = scr_hash_new(), *all = scr_hash_new(), *index = scr_hash_new();
  scr_hash_elem *e, *c;
  struct stat    st;
  scr_vote       v;
  char           path[SCR_MAX_FILENAME];
  int            i, hit, err;

  memset(&v, 0, sizeof v);
  if (scr.at.rank == 0 && rc == SCR_SUCCESS) {
    rc = scr_index_read(scr.at.prefix, index);
    v.max[0] = scr_index_has_redo(index);
  }
  if ((rc = scr_vote_all(&v, rc, scr.at.comm)) != SCR_SUCCESS) goto out;
  for (i = 0; rc == SCR_SUCCESS && i < f->src.n; i++) {
    int there;
    if ((rc = scr_flush_path(f, i, 0, path, sizeof path)) != SCR_SUCCESS) break;
    there = scr_os.lstat(path, &st) == 0;
    if (there && S_ISDIR(st.st_mode))
      rc = SCR_ERR(SCR_ERR_PATH, "%s is a directory, and cannot be replaced by a file of dataset %d", path, f->id);
    if (there || v.max[0])
      scr_hash_setf(existing, NULL, "%s", f->rel[i]); /* who still has to be renamed is not there */
  }
  memset(&v, 0, sizeof v);
  v.sum[0] = scr_hash_size(existing);
  if ((rc = scr_vote_all(&v, rc, scr.at.comm)) != SCR_SUCCESS || v.sum[0] == 0) goto out;
  for (e = scr_hash_elem_first(scr_hash_get(index, "DSET")); e != NULL; e = scr_hash_elem_next(e))
    for (c = scr_hash_elem_first(scr_hash_get(scr_hash_elem_hash(e), "DIR")); c != NULL; c = scr_hash_elem_next(c)) {
      int complete = scr_line_int(scr_hash_elem_hash(c), "COMPLETE", 0);
      if (complete && !scr_dataset_same(scr_hash_get(scr_hash_elem_hash(c), "DSET"), f->desc))
        scr_hash_setf(all, NULL, "%s %s %s %s", "ID", scr_hash_elem_key(e), scr_hash_elem_key(c),
                      scr_flush_stands(f, atoi(scr_hash_elem_key(e)), scr_hash_elem_hash(c)));
    }
  if ((err = scr_hash_bcast(all, 0, scr.at.comm)) != SCR_SUCCESS) rc = err;
  if ((rc = scr_agree(rc, scr.at.comm)) != SCR_SUCCESS) goto out;
  for (e = scr_hash_elem_first(scr_hash_get(all, "ID")); e != NULL; e = scr_hash_elem_next(e))
    for (c = scr_hash_elem_first(scr_hash_elem_hash(e)); c != NULL && rc == SCR_SUCCESS; c = scr_hash_elem_next(c)) {
      rc = scr_flush_hits(atoi(scr_hash_elem_key(e)), scr_hash_elem_key(c), existing, &hit);
      if (rc == SCR_SUCCESS && hit && scr_hash_get(scr_hash_elem_hash(c), "NO") == NULL) {
        f->superseded = scr_hash_get(scr_hash_elem_hash(c), "CKPT") != NULL;
        rc = SCR_ERR(SCR_ERR_STATE, "dataset %d is not copied to %s: it would replace files of the newer dataset %s",
                     f->id, scr.at.prefix, scr_hash_elem_key(e));
      }
      if (hit) scr_hash_setf(f->replaced, NULL, "%s %s %s", "ID", scr_hash_elem_key(e), scr_hash_elem_key(c));
    }
out:
  scr_hash_delete(&existing);
  scr_hash_delete(&all);
  scr_hash_delete(&index);
  return rc;
}

/* How many threads copy files of the store BASE. */
SCR_FN int scr_prefix_threads(const char* base)
{
  const scr_storedesc* store = scr_storedescs_from_name(&scr.at, base);
  return store != NULL ? store->threads : 1;
}

/* Describe file number I, copied with the checksum CRC, in the piece of the map. */
SCR_FN int scr_flush_describe(scr_flush* f, int i, uLong crc, scr_hash* files)
{
  char      name[SCR_MAX_FILENAME], final[SCR_MAX_FILENAME], dir[SCR_MAX_FILENAME], key[SCR_MAX_FILENAME];
  scr_hash* h;
  int       rc = scr_fmt(dir, sizeof dir, "%s/%s", scr.at.prefix, f->dir);

  if (rc == SCR_SUCCESS) rc = scr_flush_path(f, i, 0, final, sizeof final);
  if (rc == SCR_SUCCESS) rc = scr_path_relative(dir, final, key, sizeof key);
  if (rc != SCR_SUCCESS) return rc;
  h = scr_hash_set(files, key, scr_hash_new());
  scr_hash_util_set_bytecount(h, "SIZE", f->src.size[i]);
  if (scr_flush_tmp_name(f, i, name)) scr_hash_util_set_str(h, "TMP", name);
  if (scr.crc_on_flush) scr_hash_util_set_crc32_fixed(h, "CRC", crc);
  return rc;
}

/* Copy this rank's files to their temporary names and describe them in the piece of the map. */
SCR_FN int scr_flush_files_list(void* arg)
{
  scr_flush*    f = (scr_flush*)arg;
  scr_hash*     files = scr_hash_set(scr_hash_set_kv_int(f->piece, "RANK", scr.at.rank), "FILE", scr_hash_new());
  scr_meta*     meta = scr_meta_new();
  scr_copy_list copies;
  char          path[SCR_MAX_FILENAME];
  uLong         want;
  int           i, rc = scr_copy_list_make(&copies, f->src.n, scr.file_buf);

  for (i = 0; i < f->src.n && rc == SCR_SUCCESS; i++) {
    uint64_t mode = 0;
    scr_hash_unset_all(meta);
    scr_filemap_get_meta(scr.map, f->id, scr.at.rank, f->src.path[i], meta);
    scr_hash_util_get_bytecount(meta, "MODE", &mode);
    rc = scr_flush_path(f, i, 1, path, sizeof path);
    if (rc == SCR_SUCCESS)
      rc = scr_copy_list_add(&copies, f->src.path[i], path, f->src.size[i], mode ? (mode_t)(mode & 0777) | 0600 : 0666);
  }
  if (rc == SCR_SUCCESS) rc = scr_copy_list_run(&copies, scr_prefix_threads(f->base));
  for (i = 0; i < f->src.n && rc == SCR_SUCCESS; i++) {
    scr_hash_unset_all(meta);
    scr_filemap_get_meta(scr.map, f->id, scr.at.rank, f->src.path[i], meta);
    if (scr_meta_get_crc32(meta, &want) == SCR_SUCCESS)
      rc = scr_file_has_crc(f->src.path[i], copies.item[i].crc, want, "it was corrupted in the cache");
    if (rc == SCR_SUCCESS) rc = scr_flush_describe(f, i, copies.item[i].crc, files);
  }
  scr_event_damage(f->id, rc);
  scr_copy_list_free(&copies);
  scr_meta_delete(&meta);
  return rc;
}

/* Give the files their final names, or remove the temporary ones when UNDO. */
SCR_FN int scr_flush_rename(const scr_flush* f, int undo)
{
  char from[SCR_MAX_FILENAME], to[SCR_MAX_FILENAME];
  int  i, rc = SCR_SUCCESS;

  for (i = 0; f->rel != NULL && i < f->src.n && rc == SCR_SUCCESS; i++) {
    if (f->rel[i] == NULL) continue;
    rc = scr_flush_path(f, i, 1, from, sizeof from);
    if (rc == SCR_SUCCESS) rc = scr_flush_path(f, i, 0, to, sizeof to);
    if (rc != SCR_SUCCESS) break;
    if (undo) scr_os.unlink(from);
    else if (scr_os.rename(from, to) < 0) rc = SCR_ERRNO("cannot rename %s to %s", from, to);
    else rc = scr_dir_sync(to);
  }
  return rc;
}

/* Remove summary and file map from the directory META below the prefix, and META itself if that leaves it empty. */
SCR_FN void scr_prefix_forget_meta(const char* meta)
{
  char           path[SCR_MAX_FILENAME];
  struct dirent* e;
  DIR*           d;

  if (scr_fmt(path, sizeof path, "%s/%s", scr.at.prefix, meta) != SCR_SUCCESS) return;
  d = opendir(path);
  while (d != NULL && (e = readdir(d)) != NULL)
    if ((strcmp(e->d_name, "summary.scr") == 0 || strncmp(e->d_name, "rank2file.", 10) == 0) &&
        scr_fmt(path, sizeof path, "%s/%s/%s", scr.at.prefix, meta, e->d_name) == SCR_SUCCESS)
      scr_os.unlink(path);
  if (d != NULL) closedir(d);
  if (scr_fmt(path, sizeof path, "%s/%s", scr.at.prefix, meta) == SCR_SUCCESS) scr_os.rmdir(path);
}

/* Remove the metadata of a dataset that left the index; its files stay. */
SCR_FN void scr_prefix_forget(int id, const char* dir)
{
  scr_prefix_place place;
  char             path[SCR_MAX_FILENAME];

  if (scr_prefix_locate(id, dir, &place) != SCR_SUCCESS) return;
  scr_prefix_forget_meta(place.meta);
  if (*place.base && scr_fmt(path, sizeof path, "%s/%s", scr.at.prefix, place.base) == SCR_SUCCESS) scr_os.rmdir(path);
}

/* The index takes the new dataset in, and those that it replaces out, in one update (D7).  Rank 0 only. */
SCR_FN int scr_flush_commit(const scr_flush* f)
{
  scr_hash*      index = scr_hash_new();
  scr_hash_elem *e, *c;
  int            fd = -1, rc = scr_index_open(scr.at.prefix, &fd, index);

  if (rc == SCR_SUCCESS) {
    for (e = scr_hash_elem_first(scr_hash_get(f->replaced, "ID")); e != NULL; e = scr_hash_elem_next(e))
      for (c = scr_hash_elem_first(scr_hash_elem_hash(e)); c != NULL; c = scr_hash_elem_next(c))
        scr_index_remove(index, atoi(scr_hash_elem_key(e)), scr_hash_elem_key(c));
    rc = scr_index_set(index, f->id, f->dir, f->desc, 1);
    scr_hash_util_set_int(scr_index_entry(index, f->id, f->dir), "REDO", f->id);
    if (rc == SCR_SUCCESS) rc = scr_index_close(scr.at.prefix, &fd, index);
    else scr_index_close(scr.at.prefix, &fd, NULL);
  }
  scr_hash_delete(&index);
  return rc;
}

/*
** After an error of scr_flush_commit: 1 when the index has taken the dataset in all the same, or cannot be read.  The
** rename of a metadata file may have happened although its sync failed.  Rank 0 only.
*/
SCR_FN int scr_flush_is_committed(const scr_flush* f)
{
  scr_hash*      index = scr_hash_new();
  scr_err_record why;
  int            is;

  scr_err_save(&why);
  is = scr_index_read(scr.at.prefix, index) != SCR_SUCCESS || scr_index_entry(index, f->id, f->dir) != NULL;
  scr_err_restore(&why);
  scr_hash_delete(&index);
  return is;
}

/* Mark dataset ID, or take the mark away, in the flush file.  Rank 0 only. */
SCR_FN int scr_flush_mark(int id, const char* what, int set)
{
  scr_hash* h = scr_hash_new();
  int       fd = -1, rc = scr_flush_file_open(scr.at.prefix, &fd, h);

  if (rc == SCR_SUCCESS) {
    if (set) scr_flush_file_set(h, id, what);
    else scr_flush_file_unset(h, id, what);
    rc = scr_flush_file_close(scr.at.prefix, &fd, h);
  }
  scr_hash_delete(&h);
  return rc;
}

/* 1 unless it is certain that the metadata in the flush's directory are not those of an indexed dataset.  Rank 0 only. */
SCR_FN int scr_flush_meta_is_indexed(const scr_flush* f)
{
  char        path[SCR_MAX_FILENAME];
  struct stat st;

  if (scr_prefix_meta(f->dir, "summary.scr", path, sizeof path) == SCR_SUCCESS && scr_os.lstat(path, &st) < 0 &&
      errno == ENOENT)
    return 0;
  return scr_flush_is_committed(f);
}

/*
** The flush failed before its commit: its temporary files go, and summary and file map with them, which would say that
** the dataset is complete (D8).  After all ranks have given up.
*/
SCR_FN void scr_flush_undo(const scr_flush* f)
{
  char           meta[SCR_MAX_FILENAME];
  scr_err_record why;

  scr_err_save(&why); /* the reason, not what goes wrong while cleaning up */
  scr_flush_rename(f, 1);
  if (scr.at.rank == 0) {
    if (*f->dir && !f->keep_meta && scr_fmt(meta, sizeof meta, "%s/.scr", f->dir) == SCR_SUCCESS)
      scr_prefix_forget_meta(meta);
    scr_flush_mark(f->id, "SYNC_FLUSHING", 0);
  }
  scr_err_restore(&why);
}

/* The renames are done: CURRENT moves forward, and the flush file says PFS.  Rank 0 only. */
SCR_FN int scr_flush_done(const scr_flush* f)
{
  scr_hash *     index = scr_hash_new(), *flush = scr_hash_new();
  scr_hash_elem *e, *c;
  int            fd = -1, rc = scr_index_open(scr.at.prefix, &fd, index);

  if (rc != SCR_SUCCESS) goto out;
  scr_index_renamed(index, f->id, f->dir);
  if ((rc = scr_index_close(scr.at.prefix, &fd, index)) != SCR_SUCCESS) goto out;
  for (e = scr_hash_elem_first(scr_hash_get(f->replaced, "ID")); e != NULL; e = scr_hash_elem_next(e))
    for (c = scr_hash_elem_first(scr_hash_elem_hash(e)); c != NULL; c = scr_hash_elem_next(c))
      if (strcmp(scr_hash_elem_key(c), f->dir) != 0)
        scr_prefix_forget(atoi(scr_hash_elem_key(e)), scr_hash_elem_key(c));
  if ((rc = scr_flush_file_open(scr.at.prefix, &fd, flush)) != SCR_SUCCESS) goto out;
  if (scr_hash_get_kv_int(flush, "DSET", f->id) == NULL) scr_flush_file_add(flush, f->desc, f->dir);
  scr_hash_util_set_str(scr_hash_get_kv_int(flush, "DSET", f->id), "DIR", f->dir);
  scr_flush_file_set(flush, f->id, "PFS");
  scr_flush_file_unset(flush, f->id, "SYNC_FLUSHING");
  rc = scr_flush_file_close(scr.at.prefix, &fd, flush);
out:
  scr_hash_delete(&index);
  scr_hash_delete(&flush);
  return rc;
}

/* Rank 0 decides on the directory, makes it and marks the flush file; everyone learns.  Collective over the world. */
SCR_FN int scr_flush_begin(scr_flush* f)
{
  scr_hash*   h = scr_hash_new();
  char        path[SCR_MAX_FILENAME];
  int         rc = SCR_SUCCESS;
  const char* preserve;

  scr_filemap_get_flushdesc(scr.map, f->id, scr.at.rank, h);
  preserve = scr_hash_elem_get_first_val(h, "PRESERVE");
  f->preserve = preserve == NULL || strcmp(preserve, "0") != 0;
  scr_hash_unset_all(h);
  if (scr.at.rank == 0) {
    rc = scr_flush_choose_dir(f->desc, f->id, f->preserve, f->dir, sizeof f->dir);
    f->keep_meta = rc != SCR_SUCCESS || scr_flush_meta_is_indexed(f);
    if (rc == SCR_SUCCESS) rc = scr_fmt(path, sizeof path, "%s/%s/.scr", scr.at.prefix, f->dir);
    if (rc == SCR_SUCCESS) rc = scr_mkdirs(path, 0777);
    if (rc == SCR_SUCCESS) rc = scr_flush_mark(f->id, "SYNC_FLUSHING", 1);
    scr_hash_util_set_str(h, "DIR", f->dir);
  }
  if ((rc = scr_agree(rc, scr.at.comm)) == SCR_SUCCESS) {
    rc = scr_hash_bcast(h, 0, scr.at.comm);
    if (rc == SCR_SUCCESS) rc = scr_fmt(f->dir, sizeof f->dir, "%s", scr_line_str(h, "DIR", ""));
  }
  scr_hash_delete(&h);
  return rc;
}

/*
** The dataset F is in the index, and only renames are missing: do them, and *RESUMED is 1.  Its temporary files are the
** dataset, so it must not be copied once more over them.  Collective over the world; the same code everywhere.
*/
SCR_FN int scr_flush_resume(scr_flush* f, int* resumed)
{
  scr_vote    v;
  const char* dir = NULL;
  int         rc = SCR_SUCCESS;

  memset(&v, 0, sizeof v);
  if (scr.at.rank == 0) {
    scr_hash* index = scr_hash_new();
    rc = scr_index_read(scr.at.prefix, index);
    if (rc == SCR_SUCCESS && scr_hash_get(scr_index_same(index, f->desc, &dir), "REDO") != NULL) {
      rc = scr_prefix_redo_one(f->id, dir);
      if (scr_code_is_verdict(rc)) { /* it is broken there, and what is in the cache is all that is left of it */
        scr_warn("%s; dataset %d is copied anew", scr_err_text, f->id);
        rc = SCR_SUCCESS;
      } else {
        v.max[0] = 1;
        if (rc == SCR_SUCCESS) rc = scr_fmt(f->dir, sizeof f->dir, "%s", dir);
        if (rc == SCR_SUCCESS) rc = scr_flush_done(f);
      }
    }
    scr_hash_delete(&index);
  }
  rc = scr_vote_all(&v, rc, scr.at.comm);
  *resumed = v.max[0] > 0;
  return rc;
}

/*
** Copy dataset ID from the cache to the prefix.  Collective over the world; the same code everywhere.
**
** The order is F2.  A crash before the index update leaves temporary files; after it, any run finishes the renames.
** Where a file proves to be corrupt or cut short, RC is SCR_ERR_CRC or SCR_ERR_MISSING.
*/
SCR_FN int scr_flush_copy(int id, int wanted)
{
  scr_cached* c = scr_cached_find(id);
  scr_flush   f;
  char        path[SCR_MAX_FILENAME];
  double      start = scr_wtime(), seconds;
  uint64_t    bytes = 0;
  scr_vote    v;
  int         rc, committed = 0;

  memset(&v, 0, sizeof v);
  memset(&f, 0, sizeof f);
  f.id = id;
  f.desc = c->desc;
  f.base = c->base;
  f.wanted = wanted;
  f.piece = scr_hash_new();
  f.replaced = scr_hash_new();
  scr_event_root("FLUSH_START", NULL, f.desc, -1.0);
  rc = scr_flush_resume(&f, &committed);
  if (rc != SCR_SUCCESS || committed) goto out;
  if ((rc = scr_flush_begin(&f)) != SCR_SUCCESS) goto out;
  rc = scr_flush_identify(&f);
  if ((rc = scr_flush_create_dirs(&f, rc)) != SCR_SUCCESS) goto out;
  if ((rc = scr_flush_find_replaced(&f, rc)) != SCR_SUCCESS) goto out;
  rc = scr_flow(scr.flush_width, scr_flush_files_list, &f, scr.at.comm);
  if ((rc = scr_agree(rc, scr.at.comm)) != SCR_SUCCESS) goto out;
  rc = scr_flush_summary_map(f.dir, f.desc, f.piece, rc);
  if (rc == SCR_SUCCESS && scr.at.rank == 0) {
    rc = scr_prefix_meta(f.dir, "summary.scr", path, sizeof path);
    if (rc == SCR_SUCCESS) rc = scr_summary_write(path, f.desc, 1);
    if (rc == SCR_SUCCESS && (rc = scr_flush_commit(&f)) != SCR_SUCCESS) v.max[0] = scr_flush_is_committed(&f);
  }
  rc = scr_vote_all(&v, rc, scr.at.comm);
  committed = rc == SCR_SUCCESS || v.max[0] > 0; /* then the temporary files are the dataset, and must stay */
  if (rc != SCR_SUCCESS) goto out;
  rc = scr_flush_rename(&f, 0);
  if ((rc = scr_agree(rc, scr.at.comm)) != SCR_SUCCESS) goto out;
  if (scr.at.rank == 0) rc = scr_flush_done(&f);
  rc = scr_agree(rc, scr.at.comm);
out:
  if (rc == SCR_SUCCESS) {
    c->flushed = 1;
    seconds = scr_wtime() - start;
    scr_dataset_get_size(f.desc, &bytes);
    scr_dbg(1, "flush of dataset %d %s: %" PRIu64 " bytes in %.3f s, %.1f MB/s", id, scr_desc_name(f.desc), bytes,
            seconds, (double)bytes / 1e6 / (seconds > 0 ? seconds : 1e-9));
    scr_event_root("FLUSH_SUCCESS", NULL, f.desc, seconds);
    if (scr_fmt(path, sizeof path, "%s/%s", scr.at.prefix, f.dir) == SCR_SUCCESS)
      scr_event_transfer("FLUSH_SYNC", c->base, path, f.desc, seconds);
  } else {
    scr_event_root("FLUSH_FAIL", scr_err_text, f.desc, scr_wtime() - start);
    if (!committed) scr_flush_undo(&f);
    c->superseded = f.superseded;
  }
  scr_flush_free(&f);
  return rc;
}

/*
** Copy dataset ID from the cache to the prefix; a file that has become corrupt in the cache is rebuilt for it, if its
** redundancy can.  Files of newer datasets are replaced only by one that the user has WANTED; else it is SCR_ERR_STATE.
** Collective over the world; the same code everywhere.
*/
SCR_FN int scr_flush_sync(int id, int wanted)
{
  const scr_cached* c = scr_cached_find(id);
  scr_err_record    why;
  int               rc;

  if (c == NULL || !c->good) return SCR_ERR(SCR_ERR_NOT_FOUND, "dataset %d is not in the cache", id);
  if (c->flushed) return SCR_SUCCESS;
  rc = scr_flush_copy(id, wanted);
  if (rc != SCR_ERR_CRC && rc != SCR_ERR_MISSING) return rc;
  scr_err_save(&why);
  if (scr_cache_mend(id) == SCR_SUCCESS) return scr_flush_copy(id, wanted);
  scr_err_restore(&why);
  return rc;
}

/* The same for a dataset that is due: that a newer one has taken its place is no error.  Collective. */
SCR_FN int scr_flush_if_due(const scr_cached* c)
{
  int id = c->id, rc = scr_flush_is_due(c) ? scr_flush_sync(id, 0) : SCR_SUCCESS;

  return rc != SCR_SUCCESS && scr_cached_find(id)->superseded ? SCR_SUCCESS : rc;
}

/* ---- fetch ---- */

/* A fetch on its way. */
typedef struct {
  int                id;
  scr_dataset*       desc;
  scr_prefix_place   place;
  const scr_reddesc* d;
  int                preserve; /* 0: the application's names begin in the dataset directory, not in the prefix */
  scr_hash*          files;    /* FILE hash of this rank: <path> -> {SIZE, CRC} */
} scr_fetching;

/* SCR_ERR_INVALID when the index describes another dataset ID in DIR than DESC.  Rank 0 only. */
SCR_FN int scr_fetch_check_identity(int id, const char* dir, const scr_dataset* desc)
{
  scr_hash* index = scr_hash_new();
  int       rc = scr_index_read(scr.at.prefix, index);

  if (rc == SCR_SUCCESS && scr_hash_get(scr_index_entry(index, id, dir), "REDO") != NULL)
    rc = SCR_ERR(SCR_ERR_IO, "files of %s/%s still have the temporary names of an interrupted flush", scr.at.prefix,
                 dir);
  else if (rc == SCR_SUCCESS && scr_dataset_differs(scr_hash_get(scr_index_entry(index, id, dir), "DSET"), desc))
    rc = SCR_ERR(SCR_ERR_INVALID,
                 "the summary in %s/%s/.scr describes another dataset than the index has there as dataset %d",
                 scr.at.prefix, dir, id);
  scr_hash_delete(&index);
  return rc;
}

/* Read the summary on rank 0 and give it to all.  SCR_ERR_FORMAT or _MISSING when the dataset is not usable. */
SCR_FN int scr_fetch_summary(scr_fetching* f, const char* dir)
{
  scr_hash* h = scr_hash_new();
  char      path[SCR_MAX_FILENAME];
  int       complete = 0, rc = SCR_SUCCESS;

  if (scr.at.rank == 0) {
    rc = scr_prefix_locate(f->id, dir, &f->place);
    if (rc == SCR_SUCCESS) rc = scr_fmt(path, sizeof path, "%s/%s/summary.scr", scr.at.prefix, f->place.meta);
    if (rc == SCR_SUCCESS) rc = scr_summary_read(path, f->desc, &complete);
    if (rc == SCR_ERR_NOT_FOUND) rc = SCR_ERR(SCR_ERR_MISSING, "%s is missing", path);
    if (rc == SCR_SUCCESS && !complete) rc = SCR_ERR(SCR_ERR_INVALID, "%s says that the dataset is not complete", path);
    if (rc == SCR_SUCCESS) rc = scr_fetch_check_identity(f->id, dir, f->desc);
    scr_hash_merge(scr_hash_set(h, "DSET", scr_hash_new()), f->desc);
    scr_hash_util_set_str(h, "META", f->place.meta);
    if (*f->place.base) scr_hash_util_set_str(h, "BASE", f->place.base);
  }
  if ((rc = scr_agree(rc, scr.at.comm)) == SCR_SUCCESS) rc = scr_hash_bcast(h, 0, scr.at.comm);
  if (rc == SCR_SUCCESS && scr.at.rank > 0) {
    scr_hash_merge(f->desc, scr_hash_get(h, "DSET"));
    rc = scr_fmt(f->place.meta, sizeof f->place.meta, "%s", scr_line_str(h, "META", ""));
    if (rc == SCR_SUCCESS) rc = scr_fmt(f->place.base, sizeof f->place.base, "%s", scr_line_str(h, "BASE", ""));
  }
  scr_hash_delete(&h);
  return rc;
}

/* Enter dataset ID with descriptor D in the map of this rank, durably, and make its directory (D25). */
SCR_FN int scr_map_enter(int id, const scr_reddesc* d, const scr_dataset* desc, int preserve)
{
  scr_hash *h = scr_hash_new(), *flush = scr_hash_new();
  int       rc;

  scr_filemap_remove_rank_by_dataset(scr.map, id, scr.at.rank);
  scr_reddesc_to_hash(d, d->my_rank, h);
  scr_hash_util_set_int(flush, "PRESERVE", preserve);
  scr_hash_util_set_int(flush, "CONTAINER", 0);
  if (d->partner != NULL) scr_hash_util_set_str(flush, "PARTNER", d->partner);
  scr_filemap_set_dataset(scr.map, id, scr.at.rank, desc);
  scr_filemap_set_desc(scr.map, id, scr.at.rank, h);
  scr_filemap_set_flushdesc(scr.map, id, scr.at.rank, flush);
  scr_hash_delete(&h);
  scr_hash_delete(&flush);
  rc = scr_map_write();
  return rc == SCR_SUCCESS ? scr_reddesc_mkdir(&scr.at, d, id) : rc;
}

/* Mark the entry of this rank for dataset ID as complete or not, on disk. */
SCR_FN int scr_map_commit(int id, const scr_dataset* desc)
{
  scr_filemap_set_dataset(scr.map, id, scr.at.rank, desc);
  return scr_map_write();
}

/* The file E of the map: REL is its path below the prefix, FROM the whole path, and SIZE what it must have. */
SCR_FN int scr_fetch_source(const scr_fetching* f, const scr_hash_elem* e, char* rel, char* from, uint64_t* size)
{
  int rc = scr_prefix_rel(f->place.base, scr_hash_elem_key(e), rel, SCR_MAX_FILENAME);

  if (rc == SCR_SUCCESS && scr_hash_util_get_bytecount(scr_hash_elem_hash(e), "SIZE", size) != SCR_SUCCESS)
    rc = SCR_ERR(SCR_ERR_FORMAT, "the file map gives no size for %s", rel);
  return rc == SCR_SUCCESS ? scr_fmt(from, SCR_MAX_FILENAME, "%s/%s", scr.at.prefix, rel) : rc;
}

/* The file FROM must have the checksum CRC where the map, in H, gives one. */
SCR_FN int scr_fetch_check_crc(const scr_hash* h, const char* from, uLong crc)
{
  uLong want;

  if (scr_hash_util_get_crc32(h, "CRC", &want) != SCR_SUCCESS) return SCR_SUCCESS;
  return scr_file_has_crc(from, crc, want, "it is corrupt");
}

/* 1 when file E of the map is a redundancy file, which a fetch leaves where it is. */
SCR_FN int scr_fetch_leaves_out(const scr_hash_elem* e)
{
  return scr_hash_get(scr_hash_elem_hash(e), "NOFETCH") != NULL;
}

/* Read this rank's files on the prefix to their ends, and compare them with the map. */
SCR_FN int scr_fetch_prove_list(void* arg)
{
  scr_fetching*  f = (scr_fetching*)arg;
  scr_hash_elem* e;
  char           rel[SCR_MAX_FILENAME], from[SCR_MAX_FILENAME];
  int            rc = SCR_SUCCESS;

  for (e = scr_hash_elem_first(f->files); e != NULL && rc == SCR_SUCCESS; e = scr_hash_elem_next(e)) {
    uint64_t size = 0;
    uLong    crc = 0;

    if (scr_fetch_leaves_out(e)) continue;
    rc = scr_fetch_source(f, e, rel, from, &size);
    if (rc == SCR_SUCCESS) rc = scr_file_crc(from, size, &crc);
    if (rc == SCR_SUCCESS) rc = scr_fetch_check_crc(scr_hash_elem_hash(e), from, crc);
    scr_event_damage(f->id, rc);
  }
  return rc;
}

/* As scr_fetch_source, but REL is the path below the dataset's directory in the cache. */
SCR_FN int scr_fetch_names(const scr_fetching* f, const scr_hash_elem* e, char* rel, char* from, uint64_t* size)
{
  const char* key = scr_hash_elem_key(e);
  int         rc = scr_fetch_source(f, e, rel, from, size);

  if (rc != SCR_SUCCESS || f->preserve) return rc;
  if (!scr_path_is_safe_rel(key))
    return SCR_ERR(SCR_ERR_FORMAT, "the file map names %s, which is not in its dataset", key);
  return scr_fmt(rel, SCR_MAX_FILENAME, "%s", key);
}

/* Claim the place in the cache of file E of the map, and list its copy. */
SCR_FN int scr_fetch_list_file(const scr_fetching* f, const scr_hash_elem* e, scr_copy_list* copies)
{
  char     rel[SCR_MAX_FILENAME], from[SCR_MAX_FILENAME], to[SCR_MAX_FILENAME];
  uint64_t size = 0;
  int      rc = scr_fetch_names(f, e, rel, from, &size);

  if (rc == SCR_SUCCESS) rc = scr_reddesc_path(&scr.at, f->d, f->id, rel, to, sizeof to);
  if (rc == SCR_SUCCESS) rc = scr_red_parents(f->d, f->id, rel);
  if (rc == SCR_SUCCESS) rc = scr_reddesc_claim(f->d, to);
  return rc == SCR_SUCCESS ? scr_copy_list_add(copies, from, to, size, 0600) : rc;
}

/* Check file E of the map, which IT has brought, and enter it. */
SCR_FN int scr_fetch_enter(const scr_fetching* f, const scr_hash_elem* e, const scr_copy_item* it)
{
  char        rel[SCR_MAX_FILENAME], from[SCR_MAX_FILENAME];
  scr_meta*   meta = scr_meta_new();
  uint64_t    size = 0;
  struct stat st;
  int         rc = scr_fetch_check_crc(scr_hash_elem_hash(e), it->from, it->crc);

  if (rc == SCR_SUCCESS) rc = scr_fetch_names(f, e, rel, from, &size);
  if (rc == SCR_SUCCESS) {
    scr_meta_set_filename(meta, rel);
    scr_meta_set_filetype(meta, "FULL");
    scr_meta_set_complete(meta, 1);
    scr_meta_set_filesize(meta, size);
    scr_meta_set_ranks(meta, scr.at.ranks);
    scr_meta_set_orig(meta, from);
    if (scr.crc_on_copy) scr_meta_set_crc32(meta, it->crc);
    if (scr_os.lstat(from, &st) == 0) scr_hash_util_set_bytecount(meta, "MODE", (uint64_t)st.st_mode & 0777);
    scr_filemap_add_file(scr.map, f->id, scr.at.rank, it->to);
    scr_filemap_set_meta(scr.map, f->id, scr.at.rank, it->to, meta);
  }
  scr_meta_delete(&meta);
  return rc;
}

/* Copy this rank's files into the cache and enter them. */
SCR_FN int scr_fetch_files_list(void* arg)
{
  scr_fetching*  f = (scr_fetching*)arg;
  scr_hash_elem* e;
  scr_copy_list  copies;
  int            i = 0, rc = scr_copy_list_make(&copies, scr_hash_size(f->files), scr.file_buf);

  for (e = scr_hash_elem_first(f->files); e != NULL && rc == SCR_SUCCESS; e = scr_hash_elem_next(e))
    if (!scr_fetch_leaves_out(e)) rc = scr_fetch_list_file(f, e, &copies);
  if (rc == SCR_SUCCESS) rc = scr_copy_list_run(&copies, scr_prefix_threads(f->d->base));
  for (e = scr_hash_elem_first(f->files); e != NULL && rc == SCR_SUCCESS; e = scr_hash_elem_next(e))
    if (!scr_fetch_leaves_out(e)) rc = scr_fetch_enter(f, e, &copies.item[i++]);
  scr_event_damage(f->id, rc);
  scr_copy_list_free(&copies);
  return rc;
}

/*
** Bring the dataset ID in DIR from the prefix into the cache and protect it there.  Collective over the world; the same
** code everywhere.  On an error nothing of it is left in the cache.
**
** Pieces of this id that were set aside lie where it goes.  They are deleted only after all files on the prefix have
** been read and compared once (D24): a copy that turns out to be bad must not cost what is left of the other one.
*/
SCR_FN int scr_fetch(int id, const char* dir)
{
  scr_fetching f;
  scr_hash*    map = scr_hash_new();
  double       start = scr_wtime();
  uint64_t     bytes = 0;
  int          ckpt = 0, ranks = 0, entered = 0, rc;

  memset(&f, 0, sizeof f);
  f.id = id;
  f.desc = scr_dataset_new();
  scr_event_root("FETCH_START", dir, NULL, -1.0);
  if ((rc = scr_fetch_summary(&f, dir)) != SCR_SUCCESS) goto out;
  if ((rc = scr_map_scatter(&f.place, f.desc, map, &ranks)) != SCR_SUCCESS) goto out;
  if (ranks != scr.at.ranks) {
    rc = SCR_ERR(SCR_ERR_LOST, "dataset %s is of %d ranks, and this run has %d", dir, ranks, scr.at.ranks);
    goto out;
  }
  f.files = scr_hash_get(scr_hash_get_kv_int(map, "RANK", scr.at.rank), "FILE");
  rc = scr_hash_get_kv_int(map, "RANK", scr.at.rank) != NULL
           ? SCR_SUCCESS
           : SCR_ERR(SCR_ERR_FORMAT, "the file map of %s says nothing about rank %d", dir, scr.at.rank);
  if ((rc = scr_agree(rc, scr.at.comm)) != SCR_SUCCESS) goto out;
  scr_dataset_set_id(f.desc, id);
  scr_dataset_set_ranks(f.desc, ranks);
  scr_dataset_get_ckpt(f.desc, &ckpt);
  f.d = scr_reddesc_for_dataset(&scr.at, ckpt, SCR_FLAG_CHECKPOINT);
  if (scr_cached_find(id) != NULL) {
    rc = scr_agree(scr_flow(scr.fetch_width, scr_fetch_prove_list, &f, scr.at.comm), scr.at.comm);
    if (rc != SCR_SUCCESS) goto out;
    scr_cache_delete(id);
  }
  rc = scr_cache_make_room_for(f.d, f.files);
  if (scr.at.group[0].rank == 0) scr_cache_clear_place(f.d, id);
  if ((rc = scr_agree(rc, scr.at.comm)) != SCR_SUCCESS) goto out;
  entered = 1;
  f.preserve = scr_line_int(f.desc, "PRESERVE", 1);
  scr_dataset_set_complete(f.desc, 0);
  rc = scr_map_enter(id, f.d, f.desc, f.preserve);
  if ((rc = scr_agree(rc, scr.at.comm)) != SCR_SUCCESS) goto out;
  rc = scr_flow(scr.fetch_width, scr_fetch_files_list, &f, scr.at.comm);
  if ((rc = scr_agree(rc, scr.at.comm)) != SCR_SUCCESS) goto out;
  scr_dataset_set_complete(f.desc, 1);
  rc = scr_red_apply(f.d, id, f.desc);
  if ((rc = scr_agree(rc, scr.at.comm)) != SCR_SUCCESS) goto out;
  rc = scr_filemap_set_tag(scr.map, id, scr.at.rank, SCR_TAG_TAKEN, "1");
  if (rc == SCR_SUCCESS) rc = scr_map_commit(id, f.desc);
  if ((rc = scr_agree(rc, scr.at.comm)) != SCR_SUCCESS) goto out;
  rc = scr_cached_add(f.desc, f.d->base, 1);
  if (rc == SCR_SUCCESS) scr_cached_find(id)->flushed = 1;
  scr_dataset_get_size(f.desc, &bytes);
  scr_dbg(1, "fetch of dataset %d %s: %" PRIu64 " bytes in %.3f s, %.1f MB/s", id, scr_desc_name(f.desc), bytes,
          scr_wtime() - start, (double)bytes / 1e6 / (scr_wtime() - start + 1e-9));
  scr_event_root("FETCH_SUCCESS", dir, f.desc, scr_wtime() - start);
  scr_event_transfer("FETCH", dir, f.d->base, f.desc, scr_wtime() - start);
out:
  if (rc != SCR_SUCCESS) scr_event_root("FETCH_FAIL", scr_err_text, NULL, scr_wtime() - start);
  if (rc != SCR_SUCCESS && entered) scr_cache_delete_local(id);
  scr_dataset_delete(&f.desc);
  scr_hash_delete(&map);
  return rc;
}

/* ---- what to restart from ---- */

/* The error of D10: complete checkpoints were there, and none could be loaded.  The same on every rank. */
SCR_FN int scr_refuse_fresh(void)
{
  return SCR_ERR(SCR_ERR_NO_RESTART,
                 "complete checkpoints exist, but none could be loaded: %.*s. Mend the cause and start again; or set "
                 "SCR_FRESH_START=1 to begin anew without them",
                 (int)scr.tried.n, scr.tried.n ? scr.tried.p : "");
}

/* Change the index under its lock by CHANGE(index, id, dir).  Rank 0 only. */
SCR_FN int scr_index_update(void (*change)(scr_hash* index, int id, const char* dir), int id, const char* dir)
{
  scr_hash* index = scr_hash_new();
  int       fd = -1, rc = scr_index_open(scr.at.prefix, &fd, index);

  if (rc == SCR_SUCCESS) {
    change(index, id, dir);
    rc = scr_index_close(scr.at.prefix, &fd, index);
  }
  scr_hash_delete(&index);
  return rc;
}

SCR_FN void scr_index_note_fetched(scr_hash* index, int id, const char* dir)
{
  scr_index_mark(index, id, dir, "FETCHED");
}

SCR_FN void scr_index_note_failed(scr_hash* index, int id, const char* dir)
{
  scr_index_mark(index, id, dir, "FAILED");
}

/* The next checkpoint to try, decided by rank 0. */
typedef struct {
  int  id; /* 0: none is left */
  int  cached;
  int  chosen;  /* by the user */
  int  once;    /* the index holds checkpoints that were complete, or cannot be read */
  int  damaged; /* the index cannot be read */
  char dir[SCR_MAX_FILENAME];
  char why[1024]; /* why nothing is left, beside what was tried */
} scr_candidate;

/* The newest checkpoint of the cache with an id between ABOVE and BELOW that can be tried; 0 when there is none. */
SCR_FN int scr_cached_after(const scr_hash* index, int above, int below)
{
  int i, id = 0;

  for (i = 0; i < scr.ncached; i++) {
    const scr_cached* c = &scr.cached[i];
    if (c->good && c->ckpt > 0 && c->id > above && c->id < below &&
        scr_hash_get(scr_index_same(index, c->desc, NULL), "FAILED") == NULL)
      id = c->id;
  }
  return id;
}

/*
** Choose the next checkpoint to load: the user's choice if there is one, else the newest with an id below BELOW, of the
** cache or of the index; the cache wins where it has the same.  Rank 0 only.
*/
SCR_FN int scr_load_choose(int below, const char* name, scr_candidate* c)
{
  scr_hash*   index = scr_hash_new();
  const char* dir = NULL;
  int         i, id = 0, by_user = 0, fetch = 1, rc = scr_index_read(scr.at.prefix, index);

  memset(c, 0, sizeof *c);
  if (rc != SCR_SUCCESS) { /* a damaged index must not stop a restart from the cache */
    snprintf(c->why, sizeof c->why,
             "%.800s; without the index no checkpoint on the prefix can be found; move it away to do without them",
             scr_err_text);
    c->damaged = 1;
    scr_hash_unset_all(index);
  } else if (scr_index_count_complete(index) > 0) {
    snprintf(c->why, sizeof c->why,
             "%d complete checkpoints in the index of %.800s cannot be fetched, or failed before",
             scr_index_count_complete(index), scr.at.prefix);
  }
  scr_param_int(scr.at.params, "SCR_FETCH", &fetch);
  c->once = fetch && c->why[0] != '\0';
  if (name != NULL) {
    for (i = scr.ncached - 1; i >= 0 && c->id == 0; i--)
      if (scr.cached[i].good && scr.cached[i].ckpt > 0 && strcmp(scr_desc_name(scr.cached[i].desc), name) == 0)
        c->id = scr.cached[i].id;
    if (c->id == 0 && scr_index_find(index, name, &id, &dir) == SCR_SUCCESS) c->id = id;
    c->chosen = c->id != 0;
  } else if (scr_index_current(index, &id, &dir, &by_user) == SCR_SUCCESS && by_user && id < below &&
             !(scr_index_passed_by(index) > 0 && scr_cached_after(index, scr_index_passed_by(index) - 1, below)) &&
             (fetch || (scr_cached_find(id) != NULL && scr_cached_find(id)->good))) {
    c->id = id;
    c->chosen = 1;
  }
  if (c->id == 0 && name == NULL) {
    c->id = scr_cached_after(index, 0, below);
    dir = NULL;
    if (fetch && scr_index_next(index, below, &id, &dir) == SCR_SUCCESS) {
      if (id > c->id) c->id = id;
      else dir = NULL;
    }
  }
  for (i = 0; i < scr.ncached; i++)
    if (scr.cached[i].good && scr.cached[i].id == c->id)
      c->cached = dir == NULL || scr_index_same(index, scr.cached[i].desc, NULL) != NULL;
  if (!c->cached && dir != NULL) rc = scr_fmt(c->dir, sizeof c->dir, "%s", dir);
  else rc = SCR_SUCCESS;
  scr_hash_delete(&index);
  return rc;
}

/* The dataset C is loaded: ids go on from it.  Every rank calls it. */
SCR_FN void scr_load_done(int id)
{
  scr_cached* c = scr_cached_find(id);

  scr.loaded = id;
  scr.checkpoint_id = c->ckpt;
  scr_dbg(1, "checkpoint %s (dataset %d) is loaded", scr_desc_name(c->desc), id);
}

/*
** Load the newest checkpoint with an id below BELOW, or the one called NAME, going on to older ones as long as they
** fail.  scr.loaded is its id, or 0, and then scr.once tells whether there was anything to lose.  Collective over the
** world; the same code everywhere.  Checkpoints that cannot be loaded are no error.
*/
SCR_FN int scr_load(int below, const char* name)
{
  scr_candidate c;
  int           rc;

  scr.loaded = 0;
  for (;;) {
    rc = SCR_SUCCESS;
    memset(&c, 0, sizeof c);
    if (scr.at.rank == 0) rc = scr_load_choose(below, name, &c);
    if ((rc = scr_agree(rc, scr.at.comm)) != SCR_SUCCESS) return rc;
    if ((rc = scr_bcast(&c, (int)sizeof c, MPI_BYTE, 0, scr.at.comm)) != SCR_SUCCESS) return rc;
    if (c.once) scr.once = 1;
    if (c.id <= 0) {
      if (c.once && (c.damaged || scr.tried.n == 0)) scr_tried_add("%s", c.why);
      break;
    }
    scr.chosen = c.chosen;
    if (c.cached) {
      scr_load_done(c.id);
      return SCR_SUCCESS;
    }
    scr.once = 1;
    rc = scr_fetch(c.id, c.dir);
    if (rc == SCR_SUCCESS) {
      if (scr.at.rank == 0 && scr_index_update(scr_index_note_fetched, c.id, c.dir) != SCR_SUCCESS)
        scr_warn("%s", scr_err_text);
      scr_load_done(c.id);
      return SCR_SUCCESS;
    }
    scr_tried_add("dataset %d in %s/%s cannot be fetched: %s", c.id, scr.at.prefix, c.dir, scr_err_text);
    if (scr.at.rank == 0 && scr_code_is_verdict(rc) &&
        scr_index_update(scr_index_note_failed, c.id, c.dir) != SCR_SUCCESS)
      scr_warn("%s", scr_err_text);
    if (name != NULL) return rc;
    below = c.id;
  }
  scr.tried_all = 1;
  return SCR_SUCCESS;
}

/* ==== 21 PUBLIC API =====================================================================================
** The calls of scr.h: each checks the state, agrees over the ranks, and hands on.
**
** Uses       everything above.
** Offers     SCR_*.
** Invariants
**   A1  A call in the wrong state returns before it communicates or changes anything.  A bad argument may be bad on one
**       rank only, so it is agreed on before anything changes.
**   A2  Collective calls return the same code on every rank, and rank 0 prints its message.
**   A3  The only exit is scr_halt_leave.
** Failure    The code; SCR_Last_error has the message.
** ====================================================================================================== */

/* ---- state and messages ---- */

/* Report RC of a collective call: the message is on every rank, and rank 0 prints it. */
SCR_FN int scr_report(int rc)
{
  if (rc != SCR_SUCCESS && scr_msg_rank <= 0) scr_msg_print("error", "%s", scr_err_text);
  return rc;
}

/* Report RC of a check that this rank alone has made. */
SCR_FN int scr_report_local(int rc)
{
  if (rc != SCR_SUCCESS) scr_msg_print("error", "%s", scr_err_text);
  return rc;
}

/* The call that is missing before CALL may be made in the present state. */
SCR_FN const char* scr_phase_missing(scr_phase wanted)
{
  switch (scr.phase) {
  case SCR_STATE_UNINIT:
    return "SCR_Init";
  case SCR_STATE_RESTART:
    return "SCR_Complete_restart";
  case SCR_STATE_CHECKPOINT:
    return "SCR_Complete_checkpoint";
  case SCR_STATE_OUTPUT:
    return "SCR_Complete_output";
  default:
    break;
  }
  switch (wanted) {
  case SCR_STATE_UNINIT:
    return "SCR_Finalize";
  case SCR_STATE_RESTART:
    return "SCR_Start_restart";
  case SCR_STATE_CHECKPOINT:
    return "SCR_Start_checkpoint";
  default:
    return "SCR_Start_output";
  }
}

/* Begin the public call CALL, which needs the state WANTED. */
SCR_FN int scr_enter(const char* call, scr_phase wanted)
{
  scr_oom = 0;
  if (scr.disabled) return SCR_ERR(SCR_ERR_DISABLED, "%s: the library is disabled by SCR_ENABLE=0", call);
  if (scr.phase == wanted) return SCR_SUCCESS;
  return scr_report_local(
      SCR_ERR(SCR_ERR_STATE, "%s is called before %s; nothing was done", call, scr_phase_missing(wanted)));
}

/* SCR_SUCCESS when CALL was given a place for its FLAG.  To be agreed on. */
SCR_FN int scr_flag_given(const char* call, const int* flag)
{
  return flag != NULL ? SCR_SUCCESS : SCR_ERR(SCR_ERR_ARG, "%s needs a flag, but was given NULL", call);
}

/* ---- parameters ---- */

/* SCR_SUCCESS when the settings of this rank, MINE, are those of rank 0, ALL, for the source SOURCE. */
SCR_FN int scr_settings_same(const scr_hash* mine, const scr_hash* all, const char* source)
{
  const scr_hash *a = scr_hash_get(mine, source), *b = scr_hash_get(all, source);
  scr_hash_elem*  e;
  int             side;

  for (side = 0; side < 2; side++)
    for (e = scr_hash_elem_first(side ? b : a); e != NULL; e = scr_hash_elem_next(e)) {
      const char* key = scr_hash_elem_key(e);
      const char *va = scr_hash_elem_get_first_val(a, key), *vb = scr_hash_elem_get_first_val(b, key);
      if (va == NULL || vb == NULL || strcmp(va, vb) != 0)
        return SCR_ERR(SCR_ERR_DIFFER, "%s is %s on rank %d, but %s on rank 0; set it alike everywhere", key,
                       va ? va : "not set", scr.at.rank, vb ? vb : "not set");
    }
  return SCR_SUCCESS;
}

/* Read the parameters on rank 0 and give them to all; every rank compares its own settings.  Collective. */
SCR_FN int scr_settings_read(void)
{
  scr_hash* all = scr_hash_new();
  scr_hash* mine = scr_hash_new();
  char      user[256];
  int       rc = SCR_SUCCESS, err;

  scr_hash_merge(mine, scr.app);
  if (scr.at.rank == 0) {
    scr_hash_merge(all, scr.app);
    rc = scr_params_read(all);
    if (rc == SCR_SUCCESS) rc = scr_params_check(all);
    scr_layout_user(all, user, sizeof user);
    scr_hash_setf(all, NULL, "%s %s %s", "RUN", "USER", user);
    scr_hash_setf(all, NULL, "%s %s %s", "RUN", "JOB", scr_layout_job(all));
  } else {
    rc = scr_params_read_env(mine);
  }
  if ((err = scr_hash_bcast(all, 0, scr.at.comm)) != SCR_SUCCESS) rc = err;
  if (scr.at.rank > 0 && rc == SCR_SUCCESS) rc = scr_settings_same(mine, all, "ENV");
  if (scr.at.rank > 0 && rc == SCR_SUCCESS) rc = scr_settings_same(mine, all, "APP");
  scr.at.params = all;
  scr_hash_delete(&mine);
  if (rc == SCR_SUCCESS) {
    rc = scr_fmt(scr.at.user, sizeof scr.at.user, "%s", scr_line_str(scr_hash_get(all, "RUN"), "USER", ""));
    if (rc == SCR_SUCCESS)
      rc = scr_fmt(scr.at.job, sizeof scr.at.job, "%s", scr_line_str(scr_hash_get(all, "RUN"), "JOB", ""));
  }
  return scr_agree(rc, scr.at.comm);
}

/* Keep what is asked for often, and take the memory of the redundancy engine. */
SCR_FN int scr_settings_keep(void)
{
  static const struct {
    const char* name;
    int*        to;
  } ints[] = {{"SCR_FLUSH", &scr.flush_every},           {"SCR_FLUSH_WIDTH", &scr.flush_width},
              {"SCR_FETCH_WIDTH", &scr.fetch_width},     {"SCR_CRC_ON_COPY", &scr.crc_on_copy},
              {"SCR_CRC_ON_DELETE", &scr.crc_on_delete}, {"SCR_CRC_ON_RESTART", &scr.crc_on_restart},
              {"SCR_CRC_ON_FLUSH", &scr.crc_on_flush},   {"SCR_PRESERVE_DIRECTORIES", &scr.preserve},
              {"SCR_FSYNC", &scr_fsync_enabled},         {"SCR_CHECKPOINT_INTERVAL", &scr.interval},
              {"SCR_CHECKPOINT_SECONDS", &scr.seconds},  {"SCR_FRESH_START", &scr.fresh_start},
              {"SCR_HALT_ENABLED", &scr.halt_enabled}};
  const char* exits = scr_param_get(scr.at.params, "SCR_HALT_EXIT");
  uint64_t    bytes = 0;
  size_t      i;
  int         rc = SCR_SUCCESS;

  for (i = 0; rc == SCR_SUCCESS && i < sizeof ints / sizeof *ints; i++)
    rc = scr_param_int(scr.at.params, ints[i].name, ints[i].to);
  if (rc == SCR_SUCCESS) rc = scr_param_real(scr.at.params, "SCR_CHECKPOINT_OVERHEAD", &scr.overhead);
  if (rc == SCR_SUCCESS) rc = scr_param_bytes(scr.at.params, "SCR_MPI_BUF_SIZE", &bytes);
  scr.mpi_buf = bytes < 4096 ? 4096 : (size_t)bytes;
  if (rc == SCR_SUCCESS) rc = scr_param_bytes(scr.at.params, "SCR_FILE_BUF_SIZE", &bytes);
  scr.file_buf = bytes < 4096 ? 4096 : (size_t)bytes;
  if (rc != SCR_SUCCESS) return rc;
  scr.halt_exit = !scr.halt_enabled ? 0 : exits == NULL || strcasecmp(exits, "auto") == 0 ? -1 : atoi(exits);
  scr.work = (char*)scr_malloc(SCR_WORK_BYTES(scr.mpi_buf));
  return scr.work == NULL ? SCR_ERR_OOM() : SCR_SUCCESS;
}

/* ---- the prefix ---- */

/* Hold <prefix>/.scr/run.lock, so that no second run uses the prefix.  Rank 0 only. */
SCR_FN int scr_prefix_take(void)
{
  char   path[SCR_MAX_FILENAME];
  double start = scr_wtime();
  int    rc = scr_fmt(path, sizeof path, "%s/.scr/run.lock", scr.at.prefix);

  if (rc != SCR_SUCCESS) return rc;
  scr.prefix_lock = scr_os.open(path, O_RDWR | O_CREAT, 0666);
  if (scr.prefix_lock < 0) return SCR_ERRNO("cannot open %s", path);
  while (scr_os.flock(scr.prefix_lock, LOCK_EX | LOCK_NB) < 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) {
      scr_warn("%s cannot be locked (%s); see to it that no second run uses this prefix", path, strerror(errno));
      return SCR_SUCCESS;
    }
    if (scr_wtime() - start > SCR_BUSY_SECONDS)
      return SCR_ERR(SCR_ERR_BUSY, "another run uses the prefix %s; give each run its own SCR_PREFIX, or end that run",
                     scr.at.prefix);
    usleep(50000);
  }
  return SCR_SUCCESS;
}

/* Rank 0 finds the prefix, makes its .scr and takes it; everyone learns its name.  Collective. */
SCR_FN int scr_prefix_open(void)
{
  struct {
    char prefix[SCR_MAX_FILENAME], real[SCR_MAX_FILENAME];
  } p;
  const char* name = scr_param_get(scr.at.params, "SCR_PREFIX");
  char        path[2 * SCR_MAX_FILENAME], cwd[SCR_MAX_FILENAME], *real;
  struct stat st;
  int         rc = SCR_SUCCESS;

  memset(&p, 0, sizeof p);
  if (scr.at.rank == 0) {
    if (getcwd(cwd, sizeof cwd) == NULL) rc = SCR_ERRNO("cannot get the working directory");
    if (rc == SCR_SUCCESS)
      rc = name != NULL && name[0] == '/' ? scr_fmt(path, sizeof path, "%s", name)
                                          : scr_fmt(path, sizeof path, "%s/%s", cwd, name ? name : "");
    if (rc == SCR_SUCCESS) rc = scr_path_reduce_str(path, p.prefix, sizeof p.prefix);
    if (rc == SCR_SUCCESS && (stat(p.prefix, &st) < 0 || !S_ISDIR(st.st_mode)))
      rc = SCR_ERR(SCR_ERR_IO, "the prefix %s is no directory that can be reached: make it, or set SCR_PREFIX",
                   p.prefix);
    if (rc == SCR_SUCCESS && (real = realpath(p.prefix, NULL)) != NULL) {
      rc = scr_fmt(p.real, sizeof p.real, "%s", real);
      free(real);
    }
    if (rc == SCR_SUCCESS) rc = scr_fmt(path, sizeof path, "%s/.scr", p.prefix);
    if (rc == SCR_SUCCESS) rc = scr_mkdirs(path, 0777);
    memcpy(scr.at.prefix, p.prefix, sizeof p.prefix);
    if (rc == SCR_SUCCESS) rc = scr_prefix_take();
    if (rc == SCR_SUCCESS) scr_record_sweep(scr.at.prefix);
  }
  if ((rc = scr_agree(rc, scr.at.comm)) != SCR_SUCCESS) return rc;
  if ((rc = scr_bcast(&p, (int)sizeof p, MPI_BYTE, 0, scr.at.comm)) != SCR_SUCCESS) return rc;
  memcpy(scr.at.prefix, p.prefix, sizeof p.prefix);
  memcpy(scr.prefix_real, p.real, sizeof p.real);
  return SCR_SUCCESS;
}

/* ---- halt ---- */

/* Seconds that the allocation has left, as far as the environment tells; -1 when it does not. */
SCR_FN int64_t scr_seconds_left(void)
{
  static const char* const names[] = {"SCR_END_TIME", "SLURM_JOB_END_TIME"};
  int64_t                  end;
  size_t                   i;

  for (i = 0; i < sizeof names / sizeof *names; i++)
    if (scr_str_int64(getenv(names[i]), &end) == SCR_SUCCESS) {
      int64_t left = end - (int64_t)time(NULL);
      return left > 0 ? left : 0;
    }
  return -1;
}

/* Merge the halt file into memory, count DONE checkpoints, and test the conditions.  Rank 0 only. */
SCR_FN int scr_halt_look(int done, char* reason, size_t n)
{
  scr_hash* file = scr_hash_new();
  int       fd = -1, halt = 0, rc;

  rc = done ? scr_halt_open(scr.at.prefix, &fd, file) : scr_halt_read(scr.at.prefix, file);
  if (rc == SCR_SUCCESS) scr_halt_merge(scr.halt, file);
  else scr_warn("%s; the halt conditions known before count", scr_err_text);
  if (done) scr_halt_count(scr.halt, done);
  halt = scr_halt_check(scr.halt, (int64_t)time(NULL), scr_seconds_left(), reason, n);
  if (fd >= 0) {
    scr_halt_count(file, done);
    if (halt) scr_hash_util_set_str(file, "ExitReason", reason);
    if (scr_halt_close(scr.at.prefix, &fd, file) != SCR_SUCCESS) scr_warn("%s", scr_err_text);
  }
  scr_hash_delete(&file);
  return halt;
}

/* 1 in *HALT when the run should end, after DONE more checkpoints, unless a rank brings an error RC.  Collective. */
SCR_FN int scr_halt_decide(int done, int* halt, int rc)
{
  char           reason[256] = "";
  scr_err_record why;
  scr_vote       v;

  *halt = 0;
  scr_err_save(&why);
  if (scr.at.rank == 0) *halt = scr_halt_look(done, reason, sizeof reason);
  scr_err_restore(&why);
  if (*halt) snprintf(scr.halt_why, sizeof scr.halt_why, "%s", reason);
  memset(&v, 0, sizeof v);
  v.max[0] = *halt;
  rc = scr_vote_all(&v, rc, scr.at.comm);
  *halt = (int)v.max[0];
  return rc;
}

/* Write REASON to the halt file; NULL takes SCR_FINALIZE_CALLED of an earlier run away.  Rank 0 only. */
SCR_FN int scr_halt_write_reason(const char* reason)
{
  scr_hash* file = scr_hash_new();
  int       fd = -1, stale, rc = scr_halt_open(scr.at.prefix, &fd, file);

  if (rc == SCR_SUCCESS) {
    stale = strcmp(scr_line_str(file, "ExitReason", ""), "SCR_FINALIZE_CALLED") == 0;
    if (reason != NULL) scr_hash_util_set_str(file, "ExitReason", reason);
    else if (stale) scr_hash_unset(file, "ExitReason");
    rc = scr_halt_close(scr.at.prefix, &fd, reason != NULL || stale ? file : NULL);
  }
  scr_hash_delete(&file);
  return rc;
}

/* ---- free everything ---- */

SCR_FN void scr_release(void)
{
  scr_hash* app = scr.app;

  scr_layout_free(&scr.at);
  while (scr.ncached > 0) scr_cached_remove(scr.cached[0].id);
  scr_free(&scr.cached);
  scr_free(&scr.work);
  scr_filemap_delete(&scr.map);
  scr_dataset_delete(&scr.out);
  scr_hash_delete(&scr.halt);
  scr_hash_delete(&scr.at.params);
  scr_buf_free(&scr.tried);
  if (scr.prefix_lock >= 0) scr_os.close(scr.prefix_lock);
  if (scr.at.comm != MPI_COMM_NULL) MPI_Comm_free(&scr.at.comm);
  scr_vote_stop();
  memset(&scr, 0, sizeof scr);
  scr.app = app;
  scr.at.comm = MPI_COMM_NULL;
  scr.prefix_lock = -1;
  scr_msg_rank = -1;
}

/* Flush what is due and failed before, then the newest checkpoint when flushing is on.  Collective. */
SCR_FN int scr_flush_newest(void)
{
  const scr_cached* c = scr_cache_newest();
  scr_err_record    why;
  int               i, rc = SCR_SUCCESS;
  int               tried = c != NULL && scr.flush_every > 0 && !c->flushed;

  if (tried) rc = scr_flush_sync(c->id, 0);
  scr_err_save(&why);
  for (i = scr.ncached - 1; i >= 0; i--) {
    int err = tried && &scr.cached[i] == c ? SCR_SUCCESS : scr_flush_if_due(&scr.cached[i]);
    if (rc != SCR_SUCCESS || err == SCR_SUCCESS) continue;
    rc = err;
    scr_err_save(&why);
  }
  if (rc != SCR_SUCCESS) scr_err_restore(&why);
  return rc;
}

/*
** The only exit (D11): everything is saved, and the program ends here, in order.  Where MPI_COMM_WORLD is larger than
** the library's world, MPI is left to the rest of the program.
*/
SCR_FN void scr_halt_leave(void)
{
  int size = 0, ranks = scr.at.ranks;

  if (scr_flush_newest() != SCR_SUCCESS) {
    scr_report(SCR_ERR_IO); /* with data that are only in the cache the run must not end as if all were well */
    return;
  }
  if (scr.at.rank == 0)
    scr_msg_print("info", "the run ends here: %s (see scr_halt --list; SCR_HALT_EXIT=0 leaves the end to the program)",
                  scr.halt_why);
  scr_event_root("HALT", scr.halt_why, NULL, -1.0);
  scr_barrier(scr.at.comm);
  scr_release();
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size == ranks) MPI_Finalize();
  exit(0);
}

/* ---- start ---- */

/* Open a new flush file in place of one that cannot be read; that is kept beside it.  Rank 0 only. */
SCR_FN int scr_flush_file_renew(int* fd, scr_hash* h)
{
  char path[SCR_MAX_FILENAME], aside[SCR_MAX_FILENAME];
  int  rc = scr_fmt(path, sizeof path, "%s/.scr/flush.scr", scr.at.prefix);

  if (rc == SCR_SUCCESS) rc = scr_fmt(aside, sizeof aside, "%s.damaged", path);
  if (rc == SCR_SUCCESS && scr_os.rename(path, aside) < 0) rc = SCR_ERRNO("cannot rename %s", path);
  return rc == SCR_SUCCESS ? scr_flush_file_open(scr.at.prefix, fd, h) : rc;
}

/* Set the flush file right after a restart, and learn which datasets are on the prefix.  Collective. */
SCR_FN int scr_flush_file_rebuild(void)
{
  scr_hash *     flush = scr_hash_new(), *index = scr_hash_new(), *on = scr_hash_new(), *gone = scr_hash_new();
  scr_hash_elem* e;
  int            i, fd = -1, rc = SCR_SUCCESS, err;

  if (scr.at.rank == 0) {
    if (scr_index_read(scr.at.prefix, index) != SCR_SUCCESS) scr_hash_unset_all(index);
    rc = scr_flush_file_open(scr.at.prefix, &fd, flush);
    if (rc == SCR_ERR_FORMAT || rc == SCR_ERR_CRC) { /* nothing is in it that cannot be found out again */
      scr_warn("%s; it is written anew", scr_err_text);
      rc = scr_flush_file_renew(&fd, flush);
    }
    for (e = scr_hash_elem_first(scr_hash_get(flush, "DSET")); e != NULL; e = scr_hash_elem_next(e)) {
      const scr_cached* c = scr_cached_find(atoi(scr_hash_elem_key(e)));
      if (c == NULL || !c->good) scr_hash_set_kv(gone, "ID", scr_hash_elem_key(e));
    }
    for (e = scr_hash_elem_first(scr_hash_get(gone, "ID")); e != NULL; e = scr_hash_elem_next(e))
      scr_flush_file_remove(flush, atoi(scr_hash_elem_key(e)));
    for (i = 0; i < scr.ncached; i++) {
      const scr_cached* c = &scr.cached[i];
      const char*       dir = NULL;
      const scr_hash*   entry = scr_index_same(index, c->desc, &dir);
      if (!c->good) continue;
      if (dir == NULL) dir = scr_line_str(c->desc, "DIR", "");
      scr_flush_file_add(flush, c->desc, dir);
      scr_flush_file_set(flush, c->id, "CACHE");
      if (scr_line_int(entry, "COMPLETE", 0) != 1 || scr_hash_get(entry, "REDO") != NULL) continue;
      scr_flush_file_set(flush, c->id, "PFS");
      scr_hash_set_kv_int(on, "ID", c->id);
    }
    if (fd >= 0) {
      err = scr_flush_file_close(scr.at.prefix, &fd, rc == SCR_SUCCESS ? flush : NULL);
      if (rc == SCR_SUCCESS) rc = err;
    }
  }
  rc = scr_agree(rc, scr.at.comm);
  if ((err = scr_hash_bcast(on, 0, scr.at.comm)) != SCR_SUCCESS) rc = err;
  for (i = 0; i < scr.ncached; i++) scr.cached[i].flushed = scr_hash_get_kv_int(on, "ID", scr.cached[i].id) != NULL;
  scr_hash_delete(&flush);
  scr_hash_delete(&index);
  scr_hash_delete(&on);
  scr_hash_delete(&gone);
  return rc;
}

/* Flush what a run that was killed left due, and the loaded checkpoint if that is asked for.  Collective. */
SCR_FN void scr_flush_due(void)
{
  int i, restart = 0;

  scr_param_int(scr.at.params, "SCR_FLUSH_ON_RESTART", &restart);
  for (i = scr.ncached - 1; i >= 0; i--) {
    const scr_cached* c = &scr.cached[i];
    int               wanted = restart && c->id == scr.loaded && !c->flushed;
    if ((wanted ? scr_flush_sync(c->id, 0) : scr_flush_if_due(c)) != SCR_SUCCESS)
      scr_report(SCR_ERR_IO); /* it stays in the cache, so the run can go on */
  }
}

SCR_FN void scr_index_apply_current(scr_hash* index, int id, const char* dir)
{
  (void)id;
  scr_index_set_current(index, dir, 1);
}

/* Checkpoint ID, newer than the user's choice, is complete in the cache: it goes first while it is there. */
SCR_FN void scr_index_pass_current(scr_hash* index, int id, const char* dir)
{
  scr_hash* user = scr_hash_get_kv(index, "CURRENT_BY", "USER");

  (void)dir;
  if (user != NULL && scr_index_passed_by(index) == 0) scr_hash_util_set_int(user, "PASSED", id);
}

SCR_FN void scr_index_release_current(scr_hash* index, int id, const char* dir)
{
  const char* current = NULL;
  int         cid = 0, by_user = 0;

  (void)id;
  (void)dir;
  if (scr_index_current(index, &cid, &current, &by_user) == SCR_SUCCESS && by_user)
    scr_index_set_current(index, current, 0);
}

/* The user's choice is loaded: newer checkpoints of the cache are set aside, so that no restart offers them.  Collective. */
SCR_FN int scr_choose_done(void)
{
  int i;

  scr.chosen = 1;
  for (i = 0; i < scr.ncached; i++)
    if (scr.cached[i].id > scr.loaded && scr.cached[i].good && scr.cached[i].ckpt > 0) {
      scr.cached[i].good = 0;
      scr_filemap_set_tag(scr.map, scr.cached[i].id, scr.at.rank, SCR_TAG_FAILED, "1");
    }
  return scr_agree(scr_map_write(), scr.at.comm);
}

/*
** The user wants the checkpoint NAME: the index remembers it until a newer checkpoint is complete.  One that is only in
** the cache is flushed, so that the index can.  Collective.
*/
SCR_FN int scr_choose(const char* name)
{
  scr_candidate c;
  int           i, rc = SCR_SUCCESS;

  memset(&c, 0, sizeof c);
  for (i = 0; i < scr.ncached; i++)
    if (scr.cached[i].good && scr.cached[i].ckpt > 0 && strcmp(scr_desc_name(scr.cached[i].desc), name) == 0)
      c.cached = scr.cached[i].id;
  if (c.cached && !scr_cached_find(c.cached)->flushed && (rc = scr_flush_sync(c.cached, 1)) != SCR_SUCCESS) return rc;
  if (scr.at.rank == 0) {
    scr_hash*   index = scr_hash_new();
    const char* dir = NULL;
    rc = scr_index_read(scr.at.prefix, index);
    if (rc == SCR_SUCCESS && scr_index_find(index, name, &c.id, &dir) != SCR_SUCCESS)
      rc = SCR_ERR(SCR_ERR_NOT_FOUND, "there is no checkpoint %s in the cache or in %s", name, scr.at.prefix);
    else if (rc == SCR_SUCCESS && !scr_index_is_ckpt(scr_index_entry(index, c.id, dir)))
      rc = SCR_ERR(SCR_ERR_NOT_FOUND, "the dataset %s in %s is no checkpoint", name, scr.at.prefix);
    if (rc == SCR_SUCCESS) rc = scr_index_update(scr_index_apply_current, c.id, dir);
    scr_hash_delete(&index);
  }
  if ((rc = scr_agree(rc, scr.at.comm)) != SCR_SUCCESS) return rc;
  if ((rc = scr_bcast(&c.id, 1, MPI_INT, 0, scr.at.comm)) != SCR_SUCCESS) return rc;
  return SCR_SUCCESS;
}

SCR_FN void scr_index_note_served(scr_hash* index, int id, const char* name)
{
  (void)id;
  scr_hash_util_set_str(index, "CURRENT_SERVED", name);
}

/* SCR_CURRENT is a wish for one restart: the index remembers which value was served.  Collective. */
SCR_FN int scr_choose_by_parameter(void)
{
  const char* name = scr_param_get(scr.at.params, "SCR_CURRENT");
  scr_hash*   index = scr_hash_new();
  int         served = 0, rc = SCR_SUCCESS;

  if (name != NULL && scr.at.rank == 0 && (rc = scr_index_read(scr.at.prefix, index)) == SCR_SUCCESS)
    served = strcmp(scr_line_str(index, "CURRENT_SERVED", ""), name) == 0;
  scr_hash_delete(&index);
  if (name == NULL) return SCR_SUCCESS;
  if ((rc = scr_agree(rc, scr.at.comm)) != SCR_SUCCESS) return rc;
  if ((rc = scr_bcast(&served, 1, MPI_INT, 0, scr.at.comm)) != SCR_SUCCESS) return rc;
  if (served) {
    scr_dbg(1, "SCR_CURRENT=%s was served by an earlier run; this one goes on from the newest", name);
    return SCR_SUCCESS;
  }
  if ((rc = scr_choose(name)) != SCR_SUCCESS) return rc;
  return scr_agree(scr.at.rank == 0 ? scr_index_update(scr_index_note_served, 0, name) : SCR_SUCCESS, scr.at.comm);
}

/* Ids go on after the greatest one in the index, so that none recurs.  Collective. */
SCR_FN int scr_raise_ids(void)
{
  scr_hash* index = scr_hash_new();
  int       id = 0;

  if (scr.at.rank == 0 && scr_index_read(scr.at.prefix, index) == SCR_SUCCESS) id = scr_index_max_id(index);
  scr_hash_delete(&index);
  if (scr_bcast(&id, 1, MPI_INT, 0, scr.at.comm) != SCR_SUCCESS) return SCR_ERR_MPI;
  if (id > scr.dataset_id) scr.dataset_id = id;
  return SCR_SUCCESS;
}

/* Empty the cache: entries of every dataset, complete or not.  Collective. */
SCR_FN int scr_cache_purge(void)
{
  int i, n = 0, *ids = NULL, rc = SCR_SUCCESS;

  scr_filemap_list_datasets(scr.map, &n, &ids);
  for (i = 0; i < n; i++) {
    int err = scr_cache_delete_local(ids[i]);
    if (rc == SCR_SUCCESS) rc = err;
  }
  scr_free(&ids);
  return rc;
}

/* What Init finds in cache and prefix.  Collective. */
SCR_FN int scr_recover_state(void)
{
  int      distribute = 1, purge = 0, rc;
  scr_vote v;

  scr_param_int(scr.at.params, "SCR_DISTRIBUTE", &distribute);
  scr_param_int(scr.at.params, "SCR_CACHE_PURGE", &purge);
  rc = scr_cache_scatter();
  if (rc == SCR_SUCCESS && (purge || !distribute)) rc = scr_cache_purge();
  memset(&v, 0, sizeof v);
  v.sum[0] = scr.damaged_maps;
  if ((rc = scr_vote_all(&v, rc, scr.at.comm)) != SCR_SUCCESS) return rc;
  if (v.sum[0] > 0 && distribute && !purge) {
    scr.once = 1; /* nobody knows what they listed */
    scr_tried_add("%lld filemaps in the control directories are damaged", (long long)v.sum[0]);
  }
  if ((rc = scr_cache_rebuild()) != SCR_SUCCESS) return rc;
  if (scr.at.rank == 0 && scr_prefix_redo() != SCR_SUCCESS) scr_warn("%s", scr_err_text);
  if ((rc = scr_raise_ids()) != SCR_SUCCESS) return rc;
  if ((rc = scr_flush_file_rebuild()) != SCR_SUCCESS) return rc;
  if ((rc = scr_choose_by_parameter()) != SCR_SUCCESS) return rc;
  if ((rc = scr_load(INT_MAX, NULL)) != SCR_SUCCESS) return rc;
  if (scr.loaded && scr.chosen && (rc = scr_choose_done()) != SCR_SUCCESS) return rc;
  if (scr.loaded && scr_cached_find(scr.loaded)->flushed && scr.at.rank == 0) {
    const scr_cached* c = scr_cached_find(scr.loaded);
    scr_hash*         flush = scr_hash_new();
    int               fd = -1;
    if (scr_flush_file_open(scr.at.prefix, &fd, flush) == SCR_SUCCESS) {
      if (scr_hash_get_kv_int(flush, "DSET", c->id) == NULL)
        scr_flush_file_add(flush, c->desc, scr_line_str(c->desc, "DIR", scr_desc_name(c->desc)));
      scr_flush_file_set(flush, c->id, "CACHE");
      scr_flush_file_set(flush, c->id, "PFS");
      scr_flush_file_close(scr.at.prefix, &fd, flush);
    }
    scr_hash_delete(&flush);
  }
  scr_flush_due();
  return SCR_SUCCESS;
}

/* From here on events are logged, if SCR_LOG_ENABLE says so.  The first is that the run starts. */
SCR_FN void scr_log_start(void)
{
  char           line[128];
  int            on = 0;
  scr_err_record why;

  scr_param_int(scr.at.params, "SCR_LOG_ENABLE", &on);
  if (!on) return;
  scr_param_int(scr.at.params, "SCR_LOG_TXT_ENABLE", &scr.log.txt);
  scr_param_int(scr.at.params, "SCR_LOG_SYSLOG_ENABLE", &scr.log.syslog);
  scr.log.host = scr.at.host;
  scr.log.user = scr.at.user;
  scr.log.job = scr.at.job;
  scr.log.prefix = scr.at.prefix;
  if (scr.at.rank != 0) return;
  snprintf(line, sizeof line, "event=START, procs=%d, nodes=%d", scr.at.ranks, scr.at.group[0].groups);
  scr_err_save(&why);
  scr_logged(scr_log_line(&scr.log, line), &why);
}

/* All of SCR_Init but the state check. */
SCR_FN int scr_init_all(MPI_Comm comm)
{
  int    enable = 1, seconds = 0, halt = 0, rc;
  double start = scr_wtime();

  if (MPI_Comm_dup(comm, &scr.at.comm) != MPI_SUCCESS) return SCR_ERR(SCR_ERR_MPI, "cannot duplicate the communicator");
  MPI_Comm_set_errhandler(scr.at.comm, MPI_ERRORS_RETURN);
  MPI_Comm_rank(scr.at.comm, &scr.at.rank);
  MPI_Comm_size(scr.at.comm, &scr.at.ranks);
  scr_msg_rank = scr.at.rank;
  gethostname(scr_msg_host, sizeof scr_msg_host - 1);
  if ((rc = scr_vote_start()) != SCR_SUCCESS) return rc;
  if ((rc = scr_settings_read()) != SCR_SUCCESS) return rc;
  scr_param_int(scr.at.params, "SCR_ENABLE", &enable);
  if (!enable) return SCR_ERR(SCR_ERR_DISABLED, "the library is disabled by SCR_ENABLE=0");
  scr_param_int(scr.at.params, "SCR_DEBUG", &scr_debug);
  if ((rc = scr_agree(scr_settings_keep(), scr.at.comm)) != SCR_SUCCESS) return rc;
  if ((rc = scr_prefix_open()) != SCR_SUCCESS) return rc;
  if ((rc = scr_layout_create(&scr.at)) != SCR_SUCCESS) return rc;
  scr_log_start();
  scr.map = scr_filemap_new();
  scr.halt = scr_hash_new();
  scr_param_int(scr.at.params, "SCR_HALT_SECONDS", &seconds);
  if (seconds > 0) scr_hash_util_set_int(scr.halt, "HaltSeconds", seconds);
  rc = scr_fmt(scr.map_file, sizeof scr.map_file, "%s/filemap_%d.scrinfo", scr.at.cntl, scr.at.group[0].rank);
  if (rc == SCR_SUCCESS && scr.at.rank == 0) rc = scr_nodes_file_write(scr.at.prefix, scr.at.group[0].groups);
  if ((rc = scr_agree(rc, scr.at.comm)) != SCR_SUCCESS) return rc;
  if ((rc = scr_recover_state()) != SCR_SUCCESS) return rc;
  if (scr.at.rank == 0 && scr_halt_write_reason(NULL) != SCR_SUCCESS) scr_warn("%s", scr_err_text);
  scr.phase = SCR_STATE_IDLE;
  scr.offer = 1;
  scr.load_below = INT_MAX;
  if (scr.halt_exit == 1) {
    if ((rc = scr_halt_decide(0, &halt, SCR_SUCCESS)) != SCR_SUCCESS) return rc;
    if (halt) scr_halt_leave();
  }
  scr.ckpt_end = scr_wtime();
  scr_event_root("COMPUTE_START", NULL, NULL, -1.0);
  scr_dbg(1, "%s: %d ranks on %d nodes, prefix %s, ready after %.3f s", SCR_VERSION, scr.at.ranks,
          scr.at.group[0].groups, scr.at.prefix, scr_wtime() - start);
  return SCR_SUCCESS;
}

SCR_API int SCR_Init_comm(MPI_Comm comm)
{
  int started = 0, ended = 0, rc;

  if (scr.disabled) return SCR_ERR_DISABLED;
  if ((rc = scr_enter("SCR_Init", SCR_STATE_UNINIT)) != SCR_SUCCESS) return rc;
  MPI_Initialized(&started);
  MPI_Finalized(&ended);
  if (!started || ended || comm == MPI_COMM_NULL)
    return scr_report_local(SCR_ERR(SCR_ERR_STATE, "SCR_Init is called %s",
                                    !started ? "before MPI_Init"
                                    : ended  ? "after MPI_Finalize"
                                             : "with MPI_COMM_NULL"));
  scr.prefix_lock = -1;
  rc = scr_init_all(comm);
  if (rc != SCR_SUCCESS && rc != SCR_ERR_DISABLED) scr_report(rc);
  if (rc != SCR_SUCCESS) scr_release();
  if (rc == SCR_ERR_DISABLED) scr.disabled = 1;
  return rc;
}

SCR_API int SCR_Init(void)
{
  return SCR_Init_comm(MPI_COMM_WORLD);
}

SCR_API int SCR_Finalize(void)
{
  int rc = scr_enter("SCR_Finalize", SCR_STATE_IDLE), err = SCR_SUCCESS;

  if (rc == SCR_ERR_DISABLED) scr.disabled = 0; /* the next SCR_Init decides anew */
  if (rc != SCR_SUCCESS) return rc;
  rc = scr_flush_newest();
  if (scr.at.rank == 0) err = scr_halt_write_reason("SCR_FINALIZE_CALLED");
  err = scr_agree(err, scr.at.comm);
  scr_report(rc != SCR_SUCCESS ? rc : err);
  scr_release();
  return rc != SCR_SUCCESS ? rc : err;
}

SCR_API const char* SCR_Config(const char* config)
{
  char* value = NULL;
  int   rc;

  scr_oom = 0;
  if (scr.disabled) return NULL;
  if (config == NULL) {
    scr_report_local(SCR_ERR(SCR_ERR_ARG, "SCR_Config is called with NULL"));
    return NULL;
  }
  if (scr.phase == SCR_STATE_UNINIT) {
    if (scr.app == NULL) scr.app = scr_hash_new();
    rc = scr_params_config(scr.app, config, &value);
  } else if (scr_params_config_is_query(config)) {
    rc = scr_params_config(scr.at.params, config, &value);
  } else {
    rc = SCR_ERR(SCR_ERR_STATE, "SCR_Config(\"%s\") sets a parameter after SCR_Init; set it before", config);
  }
  if (rc != SCR_SUCCESS) scr_report_local(rc);
  else scr_err_text[0] = '\0'; /* so that NULL and an empty SCR_Last_error mean: not set */
  return value;
}

SCR_API const char* SCR_Configf(const char* format, ...)
{
  va_list     ap;
  char*       config;
  const char* value;

  if (format == NULL) return SCR_Config(NULL);
  va_start(ap, format);
  config = scr_strdupfv(format, ap);
  va_end(ap);
  value = SCR_Config(config);
  free(config);
  return value;
}

/* ---- files ---- */

/* 1 when the path REL ends as the temporary names of a flush do, in .scr<numbers>.tmp. */
SCR_FN int scr_route_is_tmp(const char* rel)
{
  size_t n = strlen(rel);

  if (n < 5 || strcmp(rel + n - 4, ".tmp") != 0) return 0;
  for (n -= 4; n > 0 && (isdigit((unsigned char)rel[n - 1]) || rel[n - 1] == '.'); n--) continue;
  return n >= 4 && strncmp(rel + n - 4, ".scr", 4) == 0;
}

/* 1 when a component of the path REL is .scr. */
SCR_FN int scr_route_is_reserved(const char* rel)
{
  const char* p = rel;

  while ((p = strstr(p, ".scr")) != NULL) {
    if ((p == rel || p[-1] == '/') && (p[4] == '/' || p[4] == '\0')) return 1;
    p++;
  }
  return 0;
}

/* NAME as a path below the prefix, of the name as given or with links resolved in the prefix. */
SCR_FN int scr_route_rel(const char* name, char* rel, size_t n)
{
  char        path[2 * SCR_MAX_FILENAME], cwd[SCR_MAX_FILENAME], whole[SCR_MAX_FILENAME];
  const char* below = NULL;
  int         rc;

  if (name[0] != '/' && getcwd(cwd, sizeof cwd) == NULL) return SCR_ERRNO("cannot get the working directory");
  rc = name[0] == '/' ? scr_fmt(path, sizeof path, "%s", name) : scr_fmt(path, sizeof path, "%s/%s", cwd, name);
  if (rc != SCR_SUCCESS || (rc = scr_path_reduce_str(path, whole, sizeof whole)) != SCR_SUCCESS) return rc;
  if (!scr_path_below(scr.at.prefix, whole, &below) && !scr_path_below(scr.prefix_real, whole, &below))
    return SCR_ERR(SCR_ERR_PATH, "%s is not below the prefix directory %s; name it below, or set SCR_PREFIX", whole,
                   scr.at.prefix);
  rc = scr_fmt(rel, n, "%s", below);
  if (rc == SCR_SUCCESS && scr_route_is_reserved(rel))
    rc = SCR_ERR(SCR_ERR_PATH, "%s is or lies in a directory .scr, which belongs to the library; choose another name",
                 whole);
  else if (rc == SCR_SUCCESS && scr_route_is_tmp(rel))
    rc = SCR_ERR(SCR_ERR_PATH, "%s ends in .scr<number>.tmp, as temporary files of the library do; choose another name",
                 whole);
  return rc;
}

/* Register NAME in the open dataset. */
SCR_FN int scr_route_out(const char* name, char* file)
{
  char        rel[SCR_MAX_FILENAME], path[SCR_MAX_FILENAME], dir[SCR_MAX_FILENAME];
  const char* base;
  scr_meta*   meta;
  int         rc = scr_route_rel(name, rel, sizeof rel);

  if (rc == SCR_SUCCESS) rc = scr_reddesc_path(&scr.at, scr.red, scr.out_id, rel, path, sizeof path);
  if (rc == SCR_SUCCESS) rc = scr_fmt(dir, sizeof dir, "%s/%s", scr.at.prefix, rel);
  if (rc == SCR_SUCCESS) rc = scr_red_parents(scr.red, scr.out_id, rel);
  if (rc == SCR_SUCCESS) rc = scr_reddesc_claim(scr.red, path);
  if (rc != SCR_SUCCESS) return rc;
  *strrchr(dir, '/') = '\0';
  base = strrchr(rel, '/');
  meta = scr_meta_new();
  scr_meta_set_filename(meta, rel);
  scr_meta_set_filetype(meta, "FULL");
  scr_meta_set_complete(meta, 0);
  scr_meta_set_ranks(meta, scr.at.ranks);
  scr_meta_set_orig(meta, name);
  scr_meta_set_origpath(meta, dir);
  scr_meta_set_origname(meta, base ? base + 1 : rel);
  scr_filemap_add_file(scr.map, scr.out_id, scr.at.rank, path);
  scr_filemap_set_meta(scr.map, scr.out_id, scr.at.rank, path, meta);
  scr_meta_delete(&meta);
  if (scr_oom) return SCR_ERR_OOM();
  memcpy(file, path, strlen(path) + 1);
  return SCR_SUCCESS;
}

/*
** The path of file NAME in the loaded checkpoint: by its path, by what it was called, or, for a name without a
** directory, by its last component when only one file has it.
*/
SCR_FN int scr_route_loaded(const char* name, char* file)
{
  char           rel[SCR_MAX_FILENAME] = "";
  const char*    found = NULL;
  scr_hash_elem* e;
  scr_meta*      meta = scr_meta_new();
  int            best = 0, alike = 0;

  if (scr_route_rel(name, rel, sizeof rel) != SCR_SUCCESS) rel[0] = '\0';
  for (e = scr_filemap_first_file(scr.map, scr.loaded, scr.at.rank); e != NULL; e = scr_hash_elem_next(e)) {
    const char *f, *last;
    int         likeness;
    scr_hash_unset_all(meta);
    scr_filemap_get_meta(scr.map, scr.loaded, scr.at.rank, scr_hash_elem_key(e), meta);
    if (!scr_meta_is_full(meta)) continue;
    f = scr_line_str(meta, "FILE", "");
    last = strrchr(f, '/');
    likeness = strcmp(f, rel) == 0                                 ? 3
               : strcmp(scr_line_str(meta, "ORIG", ""), name) == 0 ? 2
                                                                   : strcmp(last ? last + 1 : f, name) == 0;
    if (likeness == 0 || likeness < best) continue;
    alike = likeness > best ? 1 : alike + 1;
    best = likeness;
    found = scr_hash_elem_key(e);
  }
  scr_meta_delete(&meta);
  if (found == NULL || alike > 1) return 0; /* it could be any of these */
  return scr_fmt(file, SCR_MAX_FILENAME, "%s", found) == SCR_SUCCESS;
}

SCR_API int SCR_Route_file(const char* name, char* file)
{
  char copy[SCR_MAX_FILENAME]; /* NAME and FILE may be the same buffer */
  int  rc;

  scr_oom = 0;
  if (name == NULL || *name == '\0' || file == NULL)
    return scr_report_local(SCR_ERR(SCR_ERR_ARG, "SCR_Route_file needs a name and a buffer for the path"));
  if ((rc = scr_fmt(copy, sizeof copy, "%s", name)) != SCR_SUCCESS) return scr_report_local(rc);
  if (scr.disabled) {
    memmove(file, copy, strlen(copy) + 1);
    return SCR_ERR_DISABLED;
  }
  if (scr.phase == SCR_STATE_UNINIT)
    return scr_report_local(SCR_ERR(SCR_ERR_STATE, "SCR_Route_file is called before SCR_Init"));
  if (scr.phase == SCR_STATE_CHECKPOINT || scr.phase == SCR_STATE_OUTPUT)
    return scr_report_local(scr_route_out(copy, file));
  if (scr.loaded && scr.offer && scr_route_loaded(copy, file)) return SCR_SUCCESS;
  memmove(file, copy, strlen(copy) + 1);
  if (access(copy, R_OK) == 0) return SCR_SUCCESS;
  return SCR_ERR(SCR_ERR_MISSING, "%s is not a file of the loaded checkpoint, and cannot be read where it is: %s", copy,
                 strerror(errno));
}

/* ---- restart ---- */

SCR_API int SCR_Have_restart(int* flag, char* name)
{
  int rc;

  if (flag != NULL) *flag = 0;
  if ((rc = scr_enter("SCR_Have_restart", SCR_STATE_IDLE)) != SCR_SUCCESS) return rc;
  if ((rc = scr_agree(scr_flag_given("SCR_Have_restart", flag), scr.at.comm)) != SCR_SUCCESS) return scr_report(rc);
  if (!scr.offer) return SCR_SUCCESS;
  if (!scr.loaded && !scr.tried_all && (rc = scr_load(scr.load_below, NULL)) != SCR_SUCCESS) return scr_report(rc);
  if (scr.loaded) {
    *flag = 1;
    if (name != NULL) snprintf(name, SCR_MAX_FILENAME, "%s", scr_desc_name(scr_cached_find(scr.loaded)->desc));
    return SCR_SUCCESS;
  }
  return scr.once && !scr.fresh_start ? scr_report(scr_refuse_fresh()) : SCR_SUCCESS;
}

SCR_API int SCR_Start_restart(char* name)
{
  int rc = scr_enter("SCR_Start_restart", SCR_STATE_IDLE);

  if (rc != SCR_SUCCESS) return rc;
  if (!scr.loaded || !scr.offer)
    return scr_report_local(SCR_ERR(SCR_ERR_STATE, "SCR_Start_restart is called, but no checkpoint is loaded; ask "
                                                   "SCR_Have_restart first"));
  if (name != NULL) snprintf(name, SCR_MAX_FILENAME, "%s", scr_desc_name(scr_cached_find(scr.loaded)->desc));
  scr.phase = SCR_STATE_RESTART;
  return SCR_SUCCESS;
}

/* The application cannot use the loaded checkpoint: mark it in cache and index, and offer an older one.  Collective. */
SCR_FN int scr_reject_loaded(int invalid)
{
  scr_cached* c = scr_cached_find(scr.loaded);
  scr_hash*   index = scr_hash_new();
  const char* dir = NULL;

  if (scr.at.rank == 0 && scr_index_read(scr.at.prefix, index) == SCR_SUCCESS &&
      scr_index_same(index, c->desc, &dir) != NULL &&
      scr_index_update(scr_index_note_failed, c->id, dir) != SCR_SUCCESS)
    scr_warn("%s", scr_err_text);
  scr_hash_delete(&index);
  scr_filemap_set_tag(scr.map, c->id, scr.at.rank, SCR_TAG_FAILED, "1");
  if (scr_map_write() != SCR_SUCCESS) scr_warn("%s", scr_err_text);
  scr_tried_add("%d ranks could not restart from %s (dataset %d)", invalid, scr_desc_name(c->desc), c->id);
  c->good = 0;
  scr_event_root("RESTART_FAIL", NULL, c->desc, -1.0);
  scr.once = 1;
  scr.load_below = c->id;
  scr.loaded = scr.tried_all = 0;
  return SCR_ERR(SCR_ERR_INVALID,
                 "%d ranks could not restart from %s; SCR_Have_restart offers the next older checkpoint", invalid,
                 scr_desc_name(c->desc));
}

SCR_API int SCR_Complete_restart(int valid)
{
  scr_vote v;
  int      rc = scr_enter("SCR_Complete_restart", SCR_STATE_RESTART);

  if (rc != SCR_SUCCESS) return rc;
  memset(&v, 0, sizeof v);
  v.sum[0] = !valid;
  scr.phase = SCR_STATE_IDLE;
  if ((rc = scr_vote_all(&v, SCR_SUCCESS, scr.at.comm)) != SCR_SUCCESS) return scr_report(rc);
  if (v.sum[0] > 0) return scr_report(scr_reject_loaded((int)v.sum[0]));
  scr_event_root("RESTART_SUCCESS", NULL, scr_cached_find(scr.loaded)->desc, -1.0);
  return SCR_SUCCESS;
}

/* ---- when ---- */

/* The three rules of SCR_Need_checkpoint, and the halt conditions.  Rank 0 only. */
SCR_FN int scr_need_decide(void)
{
  double now = scr_wtime(), cost = scr.ckpt_count ? scr.ckpt_cost / scr.ckpt_count : 0.0, elapsed = now - scr.ckpt_end;
  char   reason[256];

  if (scr_halt_look(0, reason, sizeof reason)) return 1;
  if (scr.interval > 0 && scr.need_calls % scr.interval == 0) return 1;
  if (scr.seconds > 0 && elapsed >= scr.seconds) return 1;
  if (scr.overhead > 0 && (scr.ckpt_count == 0 || cost / (elapsed + cost) * 100.0 < scr.overhead)) return 1;
  return scr.interval <= 0 && scr.seconds <= 0 && scr.overhead <= 0; /* D21 */
}

SCR_API int SCR_Need_checkpoint(int* flag)
{
  scr_vote v;
  int      rc;

  if (flag != NULL) *flag = 0;
  if ((rc = scr_enter("SCR_Need_checkpoint", SCR_STATE_IDLE)) != SCR_SUCCESS) return rc;
  scr.need_calls++;
  memset(&v, 0, sizeof v);
  if (scr.at.rank == 0) v.max[0] = scr_need_decide();
  rc = scr_vote_all(&v, scr_flag_given("SCR_Need_checkpoint", flag), scr.at.comm); /* after: it leaves its message */
  if (rc != SCR_SUCCESS) return scr_report(rc);
  *flag = (int)v.max[0];
  return SCR_SUCCESS;
}

SCR_API int SCR_Should_exit(int* flag)
{
  int rc, halt = 0;

  if (flag != NULL) *flag = 0;
  if ((rc = scr_enter("SCR_Should_exit", SCR_STATE_IDLE)) != SCR_SUCCESS) return rc;
  rc = scr_halt_decide(0, &halt, scr_flag_given("SCR_Should_exit", flag));
  if (rc != SCR_SUCCESS) return scr_report(rc);
  scr.asked_should_exit = 1;
  *flag = halt;
  return SCR_SUCCESS;
}

/* ---- checkpoint and output ---- */

/* Local checks of the arguments of Start_output. */
SCR_FN int scr_start_args(const char* name, int flags)
{
  const char* p;

  if (flags & ~(SCR_FLAG_CHECKPOINT | SCR_FLAG_OUTPUT))
    return SCR_ERR(SCR_ERR_ARG, "SCR_Start_output: the flags 0x%x are not known", (unsigned)flags);
  if (name != NULL && strlen(name) >= SCR_MAX_FILENAME)
    return SCR_ERR(SCR_ERR_ARG, "SCR_Start_output: the name has %zu bytes, at most %d are possible", strlen(name),
                   SCR_MAX_FILENAME - 1);
  for (p = name; p != NULL && *p != '\0'; p++)
    if (iscntrl((unsigned char)*p)) return SCR_ERR(SCR_ERR_ARG, "SCR_Start_output: the name holds a control character");
  return SCR_SUCCESS;
}

/* Describe the new dataset.  Local; KEY has the identity that rank 0 gave. */
SCR_FN void scr_start_describe(int id, int ckpt, const char* name, int flags, const int64_t* key)
{
  const char* job = scr_param_get(scr.at.params, "SCR_JOB_NAME");
  const char* cluster = scr_param_get(scr.at.params, "SCR_CLUSTER_NAME");
  char        own[64];

  snprintf(own, sizeof own, "scr.dataset.%d", id);
  scr_dataset_delete(&scr.out);
  scr.out = scr_dataset_new();
  scr_dataset_set_id(scr.out, id);
  scr_dataset_set_name(scr.out, name != NULL && *name != '\0' ? name : own);
  scr_dataset_set_flag_ckpt(scr.out, (flags & SCR_FLAG_CHECKPOINT) != 0);
  scr_dataset_set_flag_output(scr.out, (flags & SCR_FLAG_OUTPUT) != 0);
  scr_dataset_set_created(scr.out, key[0]);
  scr_dataset_set_nonce(scr.out, (uint64_t)key[1]);
  scr_dataset_set_user(scr.out, scr.at.user);
  if (job != NULL) scr_dataset_set_jobname(scr.out, job);
  scr_dataset_set_jobid(scr.out, scr.at.job);
  if (cluster != NULL) scr_dataset_set_cluster(scr.out, cluster);
  if (flags & SCR_FLAG_CHECKPOINT) scr_dataset_set_ckpt(scr.out, ckpt);
  scr_dataset_set_ranks(scr.out, scr.at.ranks);
  if (!scr.preserve)
    scr_hash_util_set_int(scr.out, "PRESERVE", 0); /* a fetch needs to know what the files are called */
  scr_dataset_set_complete(scr.out, 0);
}

/* Start a dataset that CALL asks for, which its PHASE names.  Collective. */
SCR_FN int scr_start(const char* call, const char* name, int flags, scr_phase phase)
{
  int                ckpt, id, rc = scr_enter(call, SCR_STATE_IDLE);
  const scr_reddesc* d;
  scr_vote           v;

  if (rc != SCR_SUCCESS) return rc;
  if (scr.offer && scr.once && !scr.loaded && !scr.fresh_start) return scr_report(scr_refuse_fresh());
  rc = scr_start_args(name, flags);
  if (rc != SCR_SUCCESS) name = NULL;
  id = scr.dataset_id + 1;
  ckpt = scr.checkpoint_id + ((flags & SCR_FLAG_CHECKPOINT) != 0);
  d = scr_reddesc_for_dataset(&scr.at, ckpt, flags);
  memset(&v, 0, sizeof v);
  if (scr.at.rank == 0) {
    v.key[0] = scr_time_usec();
    v.key[1] = (int64_t)scr_random();
  }
  v.max[0] = (int64_t)scr_crc32((uLong)flags, name ? name : "", name ? strlen(name) : 0);
  v.max[1] = -v.max[0];
  v.max[3] = INT64_MIN;
  if (rc == SCR_SUCCESS) scr_cache_ask_room(d, &v);
  if (rc == SCR_SUCCESS && scr.at.group[0].rank == 0) scr_cache_clear_place(d, id);
  if ((rc = scr_vote_all(&v, rc, scr.at.comm)) != SCR_SUCCESS) return scr_report(rc);
  if (v.max[0] != -v.max[1])
    return scr_report(SCR_ERR(SCR_ERR_DIFFER, "%s: the ranks gave different names or flags; rank %d gave \"%s\", 0x%x",
                              call, scr.at.rank, name ? name : "", (unsigned)flags));
  scr.out_start = scr_wtime();
  scr_event_root("COMPUTE_END", NULL, NULL, scr.out_start - scr.ckpt_end);
  rc = scr_cache_make_room(d, scr_cache_is_tight(&v));
  scr_start_describe(id, ckpt, name, flags, v.key);
  if (rc == SCR_SUCCESS) rc = scr_map_enter(id, d, scr.out, scr.preserve);
  if ((rc = scr_agree(rc, scr.at.comm)) != SCR_SUCCESS) {
    scr_cache_delete_local(id);
    return scr_report(rc);
  }
  scr.dataset_id = id;
  scr.checkpoint_id = ckpt;
  scr.red = d;
  scr.out_id = id;
  scr.out_flags = flags;
  scr.offer = scr.loaded = 0;
  scr.phase = phase;
  scr_event_root(flags & SCR_FLAG_CHECKPOINT ? "CHECKPOINT_START" : "OUTPUT_START", d->base, scr.out, -1.0);
  return SCR_SUCCESS;
}

SCR_API int SCR_Start_output(const char* name, int flags)
{
  return scr_start("SCR_Start_output", name, flags, SCR_STATE_OUTPUT);
}

SCR_API int SCR_Start_checkpoint(void)
{
  return scr_start("SCR_Start_checkpoint", NULL, SCR_FLAG_CHECKPOINT, SCR_STATE_CHECKPOINT);
}

/* Record size, mode and time of each file of the open dataset. */
SCR_FN int scr_complete_files(uint64_t* bytes, int* files)
{
  scr_hash_elem* e;
  scr_meta*      meta = scr_meta_new();
  int            rc = SCR_SUCCESS;

  *bytes = 0;
  *files = 0;
  for (e = scr_filemap_first_file(scr.map, scr.out_id, scr.at.rank); e != NULL && rc == SCR_SUCCESS;
       e = scr_hash_elem_next(e)) {
    const char* path = scr_hash_elem_key(e);
    struct stat st;
    scr_hash_unset_all(meta);
    scr_filemap_get_meta(scr.map, scr.out_id, scr.at.rank, path, meta);
    if (scr_os.lstat(path, &st) < 0 || !S_ISREG(st.st_mode)) {
      rc = SCR_ERR(SCR_ERR_MISSING, "the file %s was registered, but not written at %s",
                   scr_line_str(meta, "ORIG", "?"), path);
      break;
    }
    scr_meta_set_filesize(meta, (uint64_t)st.st_size);
    scr_meta_set_complete(meta, 1);
    scr_hash_util_set_int(meta, "MODE", (int)(st.st_mode & 07777));
    scr_hash_util_set_int64(meta, "MTIME", (int64_t)st.st_mtime);
    scr_filemap_set_meta(scr.map, scr.out_id, scr.at.rank, path, meta);
    *bytes += (uint64_t)st.st_size;
    ++*files;
  }
  scr_meta_delete(&meta);
  return scr_oom ? SCR_ERR_OOM() : rc;
}

/* SCR_ERR_ARG on a rank that finds out that two ranks registered the same file.  Collective. */
SCR_FN int scr_complete_unique(int rc)
{
  scr_hash *     send = scr_hash_new(), *recv = scr_hash_new(), *seen = scr_hash_new();
  scr_hash_elem *e, *c;
  int            err;

  for (e = scr_filemap_first_file(scr.map, scr.out_id, scr.at.rank); e != NULL; e = scr_hash_elem_next(e))
    scr_paths_spread(send, scr_hash_elem_get_first_val(scr_hash_get(scr_hash_elem_hash(e), "META"), "FILE"), "FILE");
  if ((err = scr_hash_exchange(send, recv, scr.at.comm)) != SCR_SUCCESS) rc = err;
  for (e = scr_hash_elem_first(recv); e != NULL; e = scr_hash_elem_next(e))
    for (c = scr_hash_elem_first(scr_hash_get(scr_hash_elem_hash(e), "FILE")); c != NULL; c = scr_hash_elem_next(c)) {
      const char* other = scr_hash_elem_get_first_val(seen, scr_hash_elem_key(c));
      if (other != NULL && rc == SCR_SUCCESS)
        rc = SCR_ERR(SCR_ERR_ARG, "ranks %s and %s registered the same file %s; each rank needs its own", other,
                     scr_hash_elem_key(e), scr_hash_elem_key(c));
      scr_hash_set_kv(seen, scr_hash_elem_key(c), scr_hash_elem_key(e));
    }
  scr_hash_delete(&send);
  scr_hash_delete(&recv);
  scr_hash_delete(&seen);
  return rc;
}

/* The directory that holds all files of this rank, below the prefix; "" for the prefix.  1 when there are files. */
SCR_FN int scr_complete_dir(char* dir)
{
  scr_hash_elem* e;
  int            first = 1;

  dir[0] = '\0';
  for (e = scr_filemap_first_file(scr.map, scr.out_id, scr.at.rank); e != NULL; e = scr_hash_elem_next(e)) {
    char        path[SCR_MAX_FILENAME];
    const char* rel = scr_hash_elem_get_first_val(scr_hash_get(scr_hash_elem_hash(e), "META"), "FILE");
    char*       slash;
    if (rel == NULL) continue;
    snprintf(path, sizeof path, "%s", rel);
    slash = strrchr(path, '/');
    if (slash != NULL) *slash = '\0';
    else path[0] = '\0';
    if (first) memcpy(dir, path, sizeof path);
    else scr_path_keep(dir, scr_path_common(dir, path));
    first = 0;
  }
  return !first;
}

/*
** Protect and commit the open dataset, whose files are on record.  V brings the sums; COMMON is the directory of all
** files, from the lowest rank that has any.  Collective.
*/
SCR_FN int scr_complete_commit(scr_vote* v)
{
  char dir[SCR_MAX_FILENAME], common[SCR_MAX_FILENAME] = "";
  int  have = scr_complete_dir(dir), rc = SCR_SUCCESS, root = scr.at.ranks - (int)v->max[0];

  if (v->max[0] > 0) {
    memcpy(common, dir, sizeof common);
    rc = scr_bcast(common, (int)sizeof common, MPI_CHAR, root, scr.at.comm);
  }
  scr_dataset_set_size(scr.out, (uint64_t)v->sum[2]);
  scr_dataset_set_files(scr.out, (int)v->sum[1]);
  scr_dataset_set_complete(scr.out, 1);
  memset(v, 0, sizeof *v);
  v->max[0] = -(int64_t)(have ? scr_path_common(dir, common) : INT_MAX);
  if (rc == SCR_SUCCESS) rc = scr_red_apply(scr.red, scr.out_id, scr.out);
  if ((rc = scr_vote_all(v, rc, scr.at.comm)) != SCR_SUCCESS) return rc;
  scr_path_keep(common, (int)-v->max[0]);
  scr_hash_util_set_str(scr.out, "DIR", common);
  rc = scr_map_commit(scr.out_id, scr.out);
  if (rc == SCR_SUCCESS) rc = scr_cached_add(scr.out, scr.red->base, 1);
  return scr_agree(rc, scr.at.comm);
}

/* The flush file learns of the new dataset.  Local, on rank 0; a failure is reported, and mended by the next run. */
SCR_FN void scr_complete_note(const scr_cached* c)
{
  scr_hash*   h = scr_hash_new();
  const char* dir = scr_line_str(c->desc, "DIR", "");
  int         fd = -1, rc = scr_flush_file_open(scr.at.prefix, &fd, h);

  if (rc == SCR_SUCCESS) {
    char own[64];
    snprintf(own, sizeof own, "scr.dataset.%d", c->id);
    scr_flush_file_add(h, c->desc, *dir && scr.preserve ? dir : own);
    scr_flush_file_set(h, c->id, "CACHE");
    rc = scr_flush_file_close(scr.at.prefix, &fd, h);
  }
  if (rc != SCR_SUCCESS)
    scr_warn("%s; commands that look for datasets in the cache do not see dataset %d", scr_err_text, c->id);
  scr_hash_delete(&h);
}

/* After the dataset is complete: halt conditions, flush, room, times.  Collective. */
SCR_FN int scr_complete_after(uint64_t bytes, int files)
{
  scr_cached* c = scr_cached_find(scr.out_id);
  int         id = scr.out_id, ckpt = c->ckpt > 0, halt = 0, rc = SCR_SUCCESS;
  double      seconds = scr_wtime() - scr.out_start;

  scr.failed_bytes = 0;
  scr_dbg(1, "dataset %d %s: %d files, %" PRIu64 " bytes, %s, complete in %.3f s, %.1f MB/s", id,
          scr_desc_name(c->desc), files, bytes, scr_copy_name(scr.red->type), seconds,
          (double)bytes / 1e6 / (seconds > 0 ? seconds : 1e-9));
  scr_event_root(ckpt ? "CHECKPOINT_END" : "OUTPUT_END", NULL, c->desc, seconds);
  scr_event_transfer(ckpt ? "CHECKPOINT" : "OUTPUT", scr.at.prefix, c->base, c->desc, seconds);
  if (scr.at.rank == 0) scr_complete_note(c);
  if (ckpt && scr.chosen) {
    if (scr.at.rank == 0 && scr_index_update(scr_index_pass_current, id, NULL) != SCR_SUCCESS)
      scr_warn("%s", scr_err_text);
    scr.chosen = 0;
  }
  if (ckpt) {
    scr.ckpt_cost += seconds;
    scr.ckpt_count++;
    rc = scr_halt_decide(1, &halt, SCR_SUCCESS);
  }
  if (rc == SCR_SUCCESS && scr_flush_is_due(c)) rc = scr_flush_sync(id, 0);
  if (!scr_code_is_verdict(rc) && scr_cache_trim(scr.red, id) != SCR_SUCCESS) /* else the new one is no good */
    scr_warn("%s", scr_err_text);
  scr.ckpt_end = scr_wtime();
  scr_event_root("COMPUTE_START", NULL, NULL, -1.0);
  if (halt && (scr.halt_exit == 1 || (scr.halt_exit < 0 && !scr.asked_should_exit))) scr_halt_leave();
  return rc;
}

/* Complete the open dataset.  Collective. */
SCR_FN int scr_complete(const char* call, int valid, scr_phase phase)
{
  scr_vote v;
  uint64_t bytes = 0;
  uint64_t total;
  int      files = 0, rc = scr_enter(call, phase), sum;

  if (rc != SCR_SUCCESS) return rc;
  memset(&v, 0, sizeof v);
  rc = scr_complete_files(&bytes, &files);
  if (!valid) rc = SCR_ERR(SCR_ERR_INVALID, "rank %d marked dataset %d as invalid", scr.at.rank, scr.out_id);
  rc = scr_complete_unique(rc);
  v.sum[1] = files;
  v.sum[2] = (int64_t)bytes;
  v.max[0] = files > 0 ? scr.at.ranks - scr.at.rank : 0;
  rc = scr_vote_all(&v, rc, scr.at.comm);
  total = (uint64_t)v.sum[2];
  sum = (int)v.sum[1];
  if (rc == SCR_SUCCESS) rc = scr_complete_commit(&v);
  scr.phase = SCR_STATE_IDLE;
  if (rc != SCR_SUCCESS) {
    scr_err_record why;
    scr_err_save(&why);
    scr.failed_bytes = scr_cache_bytes(scr.out_id);
    scr_cache_delete(scr.out_id);
    scr_err_restore(&why);
    if (scr.out_flags & SCR_FLAG_CHECKPOINT) scr.checkpoint_id--;
    return scr_report(rc);
  }
  return scr_report(scr_complete_after(total, sum));
}

SCR_API int SCR_Complete_output(int valid)
{
  return scr_complete("SCR_Complete_output", valid, SCR_STATE_OUTPUT);
}

SCR_API int SCR_Complete_checkpoint(int valid)
{
  return scr_complete("SCR_Complete_checkpoint", valid, SCR_STATE_CHECKPOINT);
}

/* ---- datasets by name ---- */

/* Begin a call that takes the NAME of a dataset, the same on every rank.  Collective. */
SCR_FN int scr_enter_name(const char* call, const char* name)
{
  scr_vote v;
  int      rc = scr_enter(call, SCR_STATE_IDLE);

  if (rc != SCR_SUCCESS) return rc;
  if (name == NULL || *name == '\0' || strlen(name) >= SCR_MAX_FILENAME) {
    rc = SCR_ERR(SCR_ERR_ARG, "%s needs the name of a dataset, shorter than %d bytes", call, SCR_MAX_FILENAME);
    name = "";
  }
  memset(&v, 0, sizeof v);
  v.max[0] = (int64_t)scr_crc32(SCR_CRC32_START, name, strlen(name));
  v.max[1] = -v.max[0];
  rc = scr_vote_all(&v, rc, scr.at.comm);
  if (rc == SCR_SUCCESS && v.max[0] != -v.max[1])
    rc = SCR_ERR(SCR_ERR_DIFFER, "%s: the ranks gave different names; rank %d gave \"%s\"", call, scr.at.rank, name);
  return scr_report(rc);
}

SCR_API int SCR_Current(const char* name)
{
  int loaded = scr.loaded, rc = scr_enter_name("SCR_Current", name);

  if (rc != SCR_SUCCESS) return rc;
  rc = scr_choose(name);
  if (rc == SCR_SUCCESS && scr.offer) {
    rc = scr_load(INT_MAX, name);
    if (rc == SCR_SUCCESS && !scr.loaded) rc = SCR_ERR(SCR_ERR_NOT_FOUND, "the checkpoint %s cannot be loaded", name);
    if (rc == SCR_SUCCESS) rc = scr_choose_done();
    else {
      scr_err_record why;
      scr_err_save(&why);
      if (scr.at.rank == 0) scr_index_update(scr_index_release_current, 0, NULL);
      scr.chosen = 0;
      scr.loaded = scr_cached_find(loaded) != NULL && scr_cached_find(loaded)->good ? loaded : 0;
      scr_err_restore(&why);
    }
  } else if (rc == SCR_SUCCESS) {
    scr.chosen = 1; /* for the next run, until a newer one is complete */
  }
  return scr_report(rc);
}

/* Where the dataset NAME is in the index, on every rank; *ID is 0 when it is not there.  Collective. */
SCR_FN int scr_prefix_find(const char* name, int* id, char* dir)
{
  struct {
    int  id;
    char dir[SCR_MAX_FILENAME];
  } found;
  scr_hash*   index = scr_hash_new();
  const char* d = NULL;
  int         rc = SCR_SUCCESS;

  memset(&found, 0, sizeof found);
  if (scr.at.rank == 0) {
    rc = scr_index_read(scr.at.prefix, index);
    if (rc == SCR_SUCCESS && scr_index_find(index, name, &found.id, &d) == SCR_SUCCESS)
      rc = scr_fmt(found.dir, sizeof found.dir, "%s", d);
  }
  scr_hash_delete(&index);
  if ((rc = scr_agree(rc, scr.at.comm)) != SCR_SUCCESS) return rc;
  if ((rc = scr_bcast(&found, (int)sizeof found, MPI_BYTE, 0, scr.at.comm)) != SCR_SUCCESS) return rc;
  *id = found.id;
  memcpy(dir, found.dir, sizeof found.dir);
  return SCR_SUCCESS;
}

/* What took the place of an older dataset on the prefix may be gone.  Every rank calls it. */
SCR_FN void scr_cached_reconsider(void)
{
  int i;
  for (i = 0; i < scr.ncached; i++) scr.cached[i].superseded = 0;
}

SCR_API int SCR_Drop(const char* name)
{
  char dir[SCR_MAX_FILENAME];
  int  id = 0, rc = scr_enter_name("SCR_Drop", name);

  if (rc != SCR_SUCCESS) return rc;
  rc = scr_prefix_find(name, &id, dir);
  if (rc == SCR_SUCCESS && id == 0)
    rc = SCR_ERR(SCR_ERR_NOT_FOUND, "the index of %s has no dataset %s", scr.at.prefix, name);
  if (rc == SCR_SUCCESS)
    rc = scr_agree(scr.at.rank == 0 ? scr_index_update(scr_index_remove, id, dir) : SCR_SUCCESS, scr.at.comm);
  scr_cached_reconsider();
  return scr_report(rc);
}

/* Remove the directories above REL, a path below the prefix, as long as they are empty. */
SCR_FN void scr_prefix_prune(const char* rel)
{
  char  dir[SCR_MAX_FILENAME];
  char* slash;

  if (scr_fmt(dir, sizeof dir, "%s/%s", scr.at.prefix, rel) != SCR_SUCCESS) return;
  while ((slash = strrchr(dir, '/')) != NULL && (size_t)(slash - dir) > strlen(scr.at.prefix)) {
    *slash = '\0';
    if (scr_os.rmdir(dir) < 0) return;
  }
}

/* Delete the files of dataset ID in DIR from the prefix, after it has left the index.  Collective. */
SCR_FN int scr_prefix_delete(int id, const char* dir)
{
  scr_prefix_place place;
  scr_hash*        mine = scr_hash_new();
  scr_hash_elem *  e, *c;
  char             rel[SCR_MAX_FILENAME], path[SCR_MAX_FILENAME];
  int              ranks, pass, rc = scr.at.rank == 0 ? scr_index_update(scr_index_remove, id, dir) : SCR_SUCCESS;

  if (rc == SCR_SUCCESS) rc = scr_prefix_locate(id, dir, &place);
  if ((rc = scr_agree(rc, scr.at.comm)) == SCR_SUCCESS) rc = scr_map_scatter(&place, NULL, mine, &ranks);
  for (pass = 0; rc == SCR_SUCCESS && pass < 2; pass++) { /* all files, then the directories that are empty */
    for (e = scr_hash_elem_first(scr_hash_get(mine, "RANK")); e != NULL; e = scr_hash_elem_next(e))
      for (c = scr_hash_elem_first(scr_hash_get(scr_hash_elem_hash(e), "FILE")); c != NULL; c = scr_hash_elem_next(c)) {
        if (scr_prefix_rel(place.base, scr_hash_elem_key(c), rel, sizeof rel) != SCR_SUCCESS) continue;
        if (pass == 1) scr_prefix_prune(rel);
        else if (scr_fmt(path, sizeof path, "%s/%s", scr.at.prefix, rel) == SCR_SUCCESS && scr_os.unlink(path) < 0 &&
                 errno != ENOENT)
          rc = SCR_ERRNO("cannot delete %s", path);
      }
    if (pass == 0 && scr.at.rank == 0) scr_prefix_forget(id, dir);
    rc = scr_agree(rc, scr.at.comm);
  }
  scr_hash_delete(&mine);
  return rc;
}

SCR_API int SCR_Delete(const char* name)
{
  char dir[SCR_MAX_FILENAME];
  int  i, id = 0, cached = 0, was_loaded = 0, err = SCR_SUCCESS, rc = scr_enter_name("SCR_Delete", name);

  if (rc != SCR_SUCCESS) return rc;
  rc = scr_prefix_find(name, &id, dir);
  for (i = 0; i < scr.ncached; i++)
    if (strcmp(scr_desc_name(scr.cached[i].desc), name) == 0) cached = scr.cached[i].id;
  if (rc == SCR_SUCCESS && id == 0 && cached == 0)
    rc = SCR_ERR(SCR_ERR_NOT_FOUND, "there is no dataset %s in the cache or in %s", name, scr.at.prefix);
  if (rc == SCR_SUCCESS && cached != 0) {
    if ((was_loaded = cached == scr.loaded)) scr.loaded = 0;
    err = scr_cache_delete(cached);
  }
  if (rc == SCR_SUCCESS && id != 0) rc = scr_prefix_delete(id, dir);
  if (rc == SCR_SUCCESS) rc = scr_agree(err, scr.at.comm);
  scr_cached_reconsider();
  if (rc == SCR_SUCCESS && was_loaded && scr.tried.n == 0)
    scr.once = 0; /* it is gone because the application says so */
  return scr_report(rc);
}

/* ---- information ---- */

SCR_API char* SCR_Get_version(void)
{
  static char version[] = SCR_VERSION;
  return version;
}

SCR_API const char* SCR_Strerror(int code)
{
  return scr_code_text(code);
}

SCR_API const char* SCR_Last_error(void)
{
  return scr_err_text;
}

#endif /* SCR_SERIAL */
