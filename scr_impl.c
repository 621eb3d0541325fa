/* ==== 00 MANUAL =========================================================================================
** Scalable Checkpoint / Restart, an embeddable library of one C file.  The manual of the API is scr.h.
**
**   mpicc app.c scr_impl.c -lz -lpthread            builds the library into an application
**   #define SCR_SERIAL, #include "scr_impl.c"       gives commands and tests everything above the fence, without MPI
**
** The parts are ordered by dependency.  A function uses only what is defined above it: there are no forward
** declarations, and the file, cut off at any banner, compiles (with the #endif of the fence).
**
**   00 MANUAL
**   01 PLATFORM
**   02 ERRORS AND MESSAGES
**   03 MEMORY, BUFFERS, STRINGS
**   04 PATH
**   05 HASH
**   06 HASH FILES
**   07 PARAMETERS
**   08 DATASET: RECORDS, SETS, PLACES
**   09 KERNELS
**   10 FILE WINDOW
**   11 ERASURE CODE, REDUNDANCY FILES
**   12 FILEMAP
**   13 PREFIX: INDEX, SUMMARY, OBJECTS
**   14 FILES OF A RUN: FLUSH, HALT, NODES, LOG
**   15 COMMANDS: REBUILD, SCAN, SCAVENGE
**   ---- #ifndef SCR_SERIAL: the only fence ----
**   16 MPI HELPERS
**   17 WORLD: GROUPS, STORES, SETS, DIRECTORIES
**   18 THE RUNTIME STATE
**   19 ENCODE
**   20 CACHE
**   21 RECOVERY
**   22 FLUSH
**   23 ASYNCHRONOUS FLUSH
**   24 ROOM, FETCH
**   25 RESTART CHOICE
**   26 START, HALT, END OF A RUN
**   27 PUBLIC API
**   28 FORTRAN
**
** Rules that hold everywhere
**   - A function returns SCR_SUCCESS or an error code.  SCR_ERR or SCR_ERRNO makes the message once, where the error
**     is found; callers only pass the code on.
**   - The contract of every function that communicates says `Collective over X.`; all other functions are local.  A
**     collective function never returns between its first and its last collective: it carries rc and agrees on it.
**   - Metadata files are replaced atomically.  The last good copy of anything is deleted only after a newer one exists.
** ====================================================================================================== */

/* Macros that whoever embeds the library may set on the compiler's command line. */
#ifndef SCR_SYSTEM_CONF
#define SCR_SYSTEM_CONF "/etc/scr/scr.conf" /* the system's parameter file */
#endif
#ifndef SCR_WAIT_SPINS
#define SCR_WAIT_SPINS 20 /* times a wait tests without progress before it yields the processor */
#endif
/* -DSCR_LOCK_BASES: only the system's parameter file may set SCR_CNTL_BASE. */
/* -DSCR_STATIC: does not look up the account's name, which needs the shared C library even in a static program. */
/* -DSCR_WITH_FORTRAN: adds the calls for Fortran. */
/* -DSCR_WITH_MYSQL: the log can go to a database; needs the headers of libmariadb or libmysqlclient, and -lmariadb. */
#ifndef SCR_FORTRAN_LEN
#define SCR_FORTRAN_LEN size_t /* the length of a character variable; int for gfortran 7 and older */
#endif

/*
** The calls are seen only by the program or shared library that contains this file, so that another copy in the same
** process can neither replace them nor be replaced by them, in part or in whole.  -DSCR_API=extern exports them.
*/
#if !defined(SCR_API) && defined(__GNUC__)
#define SCR_API extern __attribute__((visibility("hidden")))
#endif

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* POSIX.1-2008, flock, strcasecmp */
#endif
#ifndef _FILE_OFFSET_BITS
#define _FILE_OFFSET_BITS 64
#endif

#define MPICH_SKIP_MPICXX 1 /* the C++ bindings of old MPI libraries would need libraries of their own */
#define OMPI_SKIP_MPICXX  1

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#ifndef SCR_STATIC
#include <pwd.h>
#endif
#include <sched.h>
#include <signal.h>
#include <spawn.h>
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
#include <sys/sysmacros.h>
#endif
#include <sys/time.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>
#ifdef SCR_WITH_MYSQL
#include <mysql.h>
#endif

#if defined(ZLIB_VERNUM) && ZLIB_VERNUM < 0x1290
#error "SCR needs zlib 1.2.9 or newer, for crc32_z; the zlib.h that the compiler finds is older"
#endif

#include "scr.h"

/* Compiles only where files may exceed 2 GiB.  On 32-bit systems, include this file before the system's headers. */
typedef char scr_off_t_has_64_bits[sizeof(off_t) == 8 ? 1 : -1];

#if defined(__GNUC__)
#define SCR_FN static __attribute__((unused)) /* unused: commands and tests call functions that the library does not */
#else
#define SCR_FN static
#endif

/* Declares a thread-local variable.  Where the compiler cannot do that, the library starts no threads. */
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
** A table of the operating system's file calls; loops that continue short reads and writes; clocks and random numbers.
**
** Uses       nothing.
** Offers     scr_os.*, scr_write_all, scr_write_behind, scr_read_all, scr_pwrite_all, scr_pread_all, scr_is_zero,
**            scr_wtime, scr_time_usec, scr_random.
** Invariants
**   P1  Every change to a file goes through scr_os, so that a test can make the N-th call fail, stop short or kill the
**       process.
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
  int (*link)(const char* from, const char* to);
  int (*unlink)(const char* path);
  int (*mkdir)(const char* path, mode_t mode);
  int (*rmdir)(const char* path);
  int (*flock)(int fd, int op);
  int (*lstat)(const char* path, struct stat* st);
  int (*fchmod)(int fd, mode_t mode);
  int (*fchown)(int fd, uid_t user, gid_t group);
  int (*futimens)(int fd, const struct timespec times[2]);
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
  return lstat(path, st); /* a wrapper, because lstat is a macro on some systems */
}

static scr_os_table scr_os = {scr_os_open, close,  read,  pread, write, pwrite,       ftruncate, fsync,  rename,
                              link,        unlink, mkdir, rmdir, flock, scr_os_lstat, fchmod,    fchown, futimens};

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

/*
** Let the system begin to write the N bytes at OFFSET of FD to the disk, so that a sync at the end finds little left.
** That is only a hint, and its result does not matter.
*/
SCR_FN void scr_write_behind(int fd, off_t offset, off_t n)
{
#if defined(__linux__)
  (void)!sync_file_range(fd, offset, n, SYNC_FILE_RANGE_WRITE);
#else
  (void)fd, (void)offset, (void)n;
#endif
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

/* Read N bytes from FD; fewer only if the file ends before.  Returns the number of bytes read, or -1 with errno. */
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

/*
** Read N bytes from FD at OFFSET; fewer only if the file ends before.  Returns the number of bytes read, or -1 with
** errno.
*/
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

/*
** Returns 1 if the N bytes at P are all zero: such bytes need not be written to a new file that already has its size.
*/
SCR_FN int scr_is_zero(const void* p, size_t n)
{
  const char* c = (const char*)p;
  return n == 0 || (c[0] == 0 && memcmp(c, c + 1, n - 1) == 0);
}

/* The time in seconds of a clock that never goes back. */
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

/* 64 bits that no other run is likely to draw: from the kernel, or else from the time and the process id. */
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
** The record of this process's last error, and the lines that the library prints.
**
** Uses       nothing
** Offers     SCR_ERR, SCR_ERRNO, SCR_ERR_OOM, scr_warn, scr_dbg, SCR_ERR_TEXT_MAX; scr_warn, scr_dbg, scr_err_record;
**            scr_err_text, scr_err_length, scr_err_named, scr_err_secondhand, scr_oom, scr_debug, scr_msg_rank,
**            scr_msg_host, scr_err_is_damage, scr_code_text, scr_err_save, scr_err_restore, scr_msg_print
** Invariants
**   E1  SCR_ERR and SCR_ERRNO record an error; they never print it.  It is printed once, by the public call that fails
**       or by scr_warn.
**   E2  Every failed allocation sets scr_oom, and only the start of a public call or of a job of the helper clears
**       it.  While it is set, no metadata is packed, so that an incomplete structure never reaches the disk.
**   E3  While scr_oom is set, no file of the cache is deleted: without memory we cannot tell which files are still
**       needed.
** Failure    None.
** ====================================================================================================== */

#define SCR_ERR_TEXT_MAX 3072

/* Each thread has its own record; a thread that copies files hands its error over when it ends (W5). */
static SCR_THREAD char scr_err_text[SCR_ERR_TEXT_MAX]; /* message of the last error */
static SCR_THREAD int  scr_err_length = 0;             /* its length in bytes without the [file:line] at its end */
static SCR_THREAD int  scr_err_named = 0;              /* 1: it begins with the rank that found the error */
static SCR_THREAD int  scr_err_secondhand = 0;         /* 1: it may only repeat that another rank failed */
static SCR_THREAD int  scr_oom = 0;
static int             scr_debug = 0;     /* the value of SCR_DEBUG */
static int             scr_msg_rank = -1; /* rank in the library's world; -1 in serial programs */
static char            scr_msg_host[256] = "";

/* Returns 1 if CODE says that the dataset itself is bad, and not merely that an operation failed while reading it. */
SCR_FN int scr_err_is_damage(int code)
{
  return code == SCR_ERR_CRC || code == SCR_ERR_FORMAT || code == SCR_ERR_MISSING || code == SCR_ERR_INVALID;
}

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

/*
** Record an error and return its code.  ERRNUM, if not 0, is an errno value: its text is added to the message, and for
** a full disk or lack of memory it replaces CODE.
*/
SCR_FN SCR_FORMAT(5, 6) int scr_error(int code, int errnum, const char* file, int line, const char* format, ...)
{
  va_list ap;
  char    text[SCR_ERR_TEXT_MAX];
  size_t  n;

  if (errnum == ENOSPC || errnum == EDQUOT) code = SCR_ERR_SPACE;
  if (errnum == ENOMEM) code = SCR_ERR_MEM;
  va_start(ap, format);
  vsnprintf(text, sizeof text, format, ap); /* not directly into scr_err_text: it may be one of the arguments */
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

/* A copy of the recorded error, kept while other steps may record errors of their own. */
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

/* SCR_ERR(code, format, ...) records an error and returns its code; SCR_ERRNO(format, ...) also reports errno. */
#define SCR_ERR(code, ...) scr_error((code), 0, __FILE__, __LINE__, __VA_ARGS__)
#define SCR_ERRNO(...)     scr_error(SCR_ERR_IO, errno, __FILE__, __LINE__, __VA_ARGS__)
#define SCR_ERR_OOM()      scr_error(SCR_ERR_MEM, 0, __FILE__, __LINE__, "out of memory")

/* Print one line that begins with KIND, this rank and its host. */
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

/* Print a line if SCR_DEBUG is LEVEL or more; only rank 0 prints. */
#define scr_dbg(level, ...)                                                                                            \
  do {                                                                                                                 \
    if (scr_debug >= (level) && scr_msg_rank <= 0) scr_msg_print("info", __VA_ARGS__);                                 \
  } while (0)

/* ==== 03 MEMORY, BUFFERS, STRINGS =======================================================================
** Allocation that reports, growing byte buffers, and the few string helpers that C lacks.
**
** Uses       errors.
** Offers     scr_malloc, scr_malloc_huge, scr_free, scr_strdup, scr_strdupf, scr_strdupfv, scr_fmt, scr_grow, scr_buf,
**            scr_buf_add, scr_buf_free, scr_str_int64, scr_str_bytes, scr_time_string, scr_utf8_length.
** Invariants
**   M1  A failed allocation sets scr_oom (E2) and returns NULL.
**   M2  A scr_buf on which an append failed stays failed, so that a sequence of appends is checked once, at its end.
** Failure    NULL, or an error code.
** ====================================================================================================== */

#define SCR_HUGE_PAGE ((size_t)2 << 20) /* bytes of a huge page, on most systems */

/* Allocate N bytes, all zero. */
SCR_FN void* scr_malloc(size_t n)
{
  void* p = calloc(1, n ? n : 1);
  if (p == NULL) scr_oom = 1;
  return p;
}

/*
** Allocate N bytes, which are not cleared, in huge pages if the system has them: MPI libraries let the kernel copy
** messages from process to process, and it looks up each page.
*/
SCR_FN void* scr_malloc_huge(size_t n)
{
  void* p = NULL;

  if (posix_memalign(&p, SCR_HUGE_PAGE, n) != 0) {
    scr_oom = 1;
    return NULL;
  }
#ifdef MADV_HUGEPAGE
  madvise(p, n, MADV_HUGEPAGE); /* small pages do as well */
#endif
  return p;
}

/* Free the memory that *P points to and set *P to NULL.  P is the address of any pointer. */
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

/* A new string formatted by FORMAT; the caller frees it. */
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

/* Like snprintf, but returns SCR_ERR_PATH with a message if the result does not fit; BUF then holds its beginning. */
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

/*
** Make room for one more element of SIZE bytes in the array *P, which has N.  The allocated size is the next power of
** two.  Returns 0 without memory.
*/
SCR_FN int scr_grow(void* p, int n, size_t size)
{
  void** array = (void**)p;
  void*  more;

  if ((n & (n - 1)) != 0) return 1;
  more = realloc(*array, (n > 0 ? 2 * (size_t)n : 1) * size);
  if (more == NULL) scr_oom = 1;
  else *array = more;
  return more != NULL;
}

/* A byte buffer that grows as needed.  {NULL, 0, 0, 0} is an empty one. */
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

/* Read all of S as a decimal number.  SCR_ERR_ARG, without a message, if it is anything else. */
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
** Read all of S as a number of bytes, such as 64, 128K, 1.5MB or 100g: k m g t p e are powers of 1024, a final b is
** allowed, and case does not matter.  SCR_ERR_ARG, without a message, if S is anything else or too large.
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

/* Write T as local time, in the form %Y-%m-%dT%H:%M:%S of the index and the log, into BUF of at least 20 bytes. */
SCR_FN void scr_time_string(time_t t, char* buf, size_t n)
{
  struct tm tm;
  if (localtime_r(&t, &tm) == NULL || strftime(buf, n, "%Y-%m-%dT%H:%M:%S", &tm) == 0) snprintf(buf, n, "?");
}

/* The length in bytes of the UTF-8 character at S; 0 if there is none. */
SCR_FN int scr_utf8_length(const unsigned char* s)
{
  int i, n = 0;

  if (s[0] < 0x80) n = 1;
  else if (s[0] >= 0xc2 && s[0] < 0xf5) n = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
  for (i = 1; i < n; i++)
    if ((s[i] & 0xc0) != 0x80) return 0;
  if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f)) return 0; /* overlong; half of a surrogate pair */
  if ((s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f)) return 0;
  return n;
}

/* ==== 04 PATH ===========================================================================================
** File paths as strings in fixed-size buffers, and basic questions about files.
**
** Uses       platform (the table of calls), errors, memory.
** Offers     scr_path_reduce_str, scr_path_relative, scr_path_below, scr_path_is_safe_rel, scr_path_common,
**            scr_path_keep, scr_path_flatten, scr_path_dir_of, scr_mkdirs, scr_file_size, scr_file_has_size,
**            scr_file_open, scr_tree_remove.
** Invariants
**   T1  A reduced path has no empty component, no ".", and ".." only in front of a relative path.
** Failure    SCR_ERR_PATH if a buffer is too short.
** ====================================================================================================== */

/*
** Reduce PATH (T1) in place; it must not be empty.  The root becomes "/"; a path of which nothing is left becomes ".".
*/
SCR_FN void scr_path_reduce(char* path)
{
  size_t root = *path == '/', at = root, n; /* path[0..at) is already reduced */
  int    named = 0;                         /* components in path[0..at) that a ".." can remove */
  char*  s;

  for (s = path + root; *s != '\0'; s += n + (s[n] == '/')) {
    int up;
    n = strcspn(s, "/");
    up = n == 2 && s[0] == '.' && s[1] == '.';
    if (n == 0 || (n == 1 && s[0] == '.')) continue;
    if (up && named > 0) {
      while (at > root && path[--at] != '/') continue;
      named--;
    } else if (!up || !root) { /* the root is its own parent */
      if (at > root) path[at++] = '/';
      memmove(path + at, s, n);
      at += n;
      named += !up;
    }
  }
  if (at == 0) path[at++] = '.';
  path[at] = '\0';
}

/* Write the reduced form of IN to OUT, which has N bytes and may be IN itself.  "" and NULL become ".". */
SCR_FN int scr_path_reduce_str(const char* in, char* out, size_t n)
{
  char* s = scr_strdup(in != NULL && *in != '\0' ? in : ".");
  int   rc;

  if (s == NULL) return SCR_ERR_OOM();
  scr_path_reduce(s);
  rc = scr_fmt(out, n, "%s", s); /* checked only now: the reduced form may fit where IN does not */
  free(s);
  return rc;
}

/* Advance A and B, two reduced paths, past the components that they have in common; returns the number of these. */
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

/* The number of leading components that the reduced paths A and B have in common. */
SCR_FN int scr_path_common(const char* a, const char* b)
{
  return scr_path_skip_common(&a, &b);
}

/*
** Write the path that leads from the directory FROM_DIR to TO into OUT of N bytes; "" if they are the same.  Both are
** absolute, or both relative to the same directory.  SCR_ERR_PATH also if the names alone do not determine the path,
** because FROM_DIR has a ".." where they differ.
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

/* Returns 1 if the reduced absolute PATH lies below DIR; *REL then points to the part of PATH below DIR. */
SCR_FN int scr_path_below(const char* dir, const char* path, const char** rel)
{
  size_t n = strlen(dir);

  if (n > 0 && dir[n - 1] == '/') n--; /* the root */
  if (strncmp(dir, path, n) != 0 || path[n] != '/' || path[n + 1] == '\0') return 0;
  *rel = path + n + 1;
  return 1;
}

/*
** Returns 1 if REL is a relative path without empty, "." or ".." components, so that it cannot leave the directory that
** it is relative to.
*/
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

/* Shorten PATH to its first COMPONENTS components; the first one of an absolute path is "/". */
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

/* Encode the relative path REL as one file name that no other path has: '%' becomes %25, '/' becomes %2F. */
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

/* The directory part of PATH; "." if it has none. */
SCR_FN int scr_path_dir_of(const char* path, char* dir, size_t n)
{
  const char* slash = strrchr(path, '/');

  if (slash == NULL) return scr_fmt(dir, n, ".");
  return scr_fmt(dir, n, "%.*s", slash == path ? 1 : (int)(slash - path), path);
}

/* ---- the file system ---- */

/*
** Create the directory DIR and its parents.  Directories that exist already, or that others create at the same time,
** are no error.
*/
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

/* The size in bytes of the regular file PATH; SCR_ERR_MISSING if there is no such file. */
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

/* SCR_ERR_MISSING unless PATH is a regular file of exactly SIZE bytes. */
SCR_FN int scr_file_has_size(const char* path, uint64_t size)
{
  uint64_t is = 0;
  int      rc = scr_file_size(path, &is);

  if (rc != SCR_SUCCESS || is == size) return rc;
  return SCR_ERR(SCR_ERR_MISSING, "%s has %" PRIu64 " bytes instead of %" PRIu64, path, is, size);
}

/*
** Open the existing file PATH for reading; SCR_ERR_MISSING unless it is a regular file.  What lies in its place, such
** as a FIFO, is not waited for.
*/
SCR_FN int scr_file_open(const char* path, int* fd)
{
  struct stat st;

  *fd = scr_os.open(path, O_RDONLY | O_NONBLOCK, 0);
  if (*fd < 0 && errno == ENOENT) return SCR_ERR(SCR_ERR_MISSING, "%s is missing", path);
  if (*fd < 0 && errno != ENXIO) return SCR_ERRNO("cannot open %s", path); /* ENXIO: a socket */
  if (*fd >= 0 && fstat(*fd, &st) == 0 && S_ISREG(st.st_mode)) return SCR_SUCCESS;
  if (*fd >= 0) scr_os.close(*fd);
  *fd = -1;
  return SCR_ERR(SCR_ERR_MISSING, "%s is not a plain file", path);
}

/* Remove the directory tree DIR; what is already gone, or belongs to another user, is skipped. */
SCR_FN void scr_tree_remove(const char* dir)
{
  char           path[SCR_MAX_FILENAME];
  struct stat    st;
  struct dirent* e;
  DIR*           d;

  if (scr_oom || (d = opendir(dir)) == NULL) return;
  while ((e = readdir(d)) != NULL) {
    if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
    if ((size_t)snprintf(path, sizeof path, "%s/%s", dir, e->d_name) >= sizeof path) continue;
    if (scr_os.lstat(path, &st) == 0 && S_ISDIR(st.st_mode)) scr_tree_remove(path);
    else scr_os.unlink(path);
  }
  closedir(d);
  scr_os.rmdir(dir);
}

/* ==== 05 HASH ===========================================================================================
** A tree of strings: each element has a key and a hash of its own.  All metadata, on disk and in messages, has this
** form.
**
** Uses       errors, memory
** Offers     scr_hash, scr_hash_elem; scr_hash_of_key, scr_hash_new, scr_hash_size, scr_hash_elem_first,
**            scr_hash_elem_next, scr_hash_elem_key, scr_hash_elem_hash, scr_hash_unset_all, scr_hash_delete,
**            scr_hash_elem_get, scr_hash_set, scr_hash_get, scr_hash_extract, scr_hash_unset, scr_hash_get_kv,
**            scr_hash_set_kv, scr_hash_get_kv_int, scr_hash_set_kv_int, scr_hash_unset_kv_int,
**            scr_hash_elem_get_first_val, scr_hash_setf, scr_hash_getf, scr_hash_merge, scr_hash_dup,
**            scr_hash_sort_int, scr_put_be, scr_get_be, scr_hash_pack_size, scr_hash_pack, scr_hash_unpack,
**            scr_hash_util_set_str, scr_hash_util_setf, scr_hash_util_set_int, scr_hash_util_set_int64,
**            scr_hash_util_set_bytecount, scr_hash_util_set_crc32_fixed, scr_hash_util_get_str,
**            scr_hash_util_get_int64, scr_hash_util_get_int, scr_hash_util_get_bytecount, scr_hash_util_get_crc32,
**            scr_hash_int_or, scr_hash_str_or
** Invariants
**   H1  Elements keep the order in which they were added, and a hash is packed in that order.
**   H2  A key is found in constant time beyond SCR_HASH_LINEAR elements.
**   H3  Every function treats a NULL hash as an empty one.
**   H4  Unpacking never reads outside the buffer, and its recursion is bounded, whatever the buffer holds.
** Failure    NULL and scr_oom (E2); SCR_ERR_FORMAT for unpacking.
** ====================================================================================================== */

#define SCR_HASH_LINEAR 8  /* a hash of up to this many elements is searched one by one */
#define SCR_HASH_DEPTH  64 /* levels of the deepest tree that unpacking accepts */

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

/* The FNV-1a hash of KEY, which selects its bucket. */
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

/*
** Distribute the elements over buckets, at least twice as many as elements.  Without memory, searches only become
** slower.
*/
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

/*
** Store VALUE under KEY, in place of an earlier value, and return it.  H then owns VALUE; on an error VALUE is freed
** and NULL is returned.
*/
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

/* Remove the element KEY from H and return its hash, which the caller then owns; NULL if there is no such element. */
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

/* The hash below KEY and then VALUE; elements that are missing are created.  NULL without memory. */
SCR_FN scr_hash* scr_hash_set_kv(scr_hash* h, const char* key, const char* value)
{
  scr_hash *k = scr_hash_get(h, key), *v;

  if (k == NULL) k = scr_hash_set(h, key, scr_hash_new());
  v = scr_hash_get(k, value);
  return v != NULL ? v : scr_hash_set(k, value, scr_hash_new());
}

/* Remove VALUE below KEY, and KEY itself if that leaves it empty. */
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

/* The first key below KEY: the value of a field.  NULL if there is none. */
SCR_FN const char* scr_hash_elem_get_first_val(const scr_hash* h, const char* key)
{
  return scr_hash_elem_key(scr_hash_elem_first(scr_hash_get(h, key)));
}

/* ---- keys by format ---- */

/*
** The next key of a format, which consists of words and conversions (%s or %d) separated by single spaces.  Returns 1
** and a new string in *KEY, 0 at the end, or -1 for any other conversion, a NULL string or lack of memory. *FORMAT
** moves past the key.
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
** Create the keys of FORMAT one below the other and store VALUE under the last one.  If VALUE is NULL, an existing hash
** under the last key stays; else an empty one is created.  Returns the hash under the last key; NULL, with VALUE freed,
** if a key cannot be created.
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
  scr_hash_delete(&value); /* NULL unless it was not stored */
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

/* Add a copy of SRC to DST; hashes under equal keys are merged recursively. */
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

/* A new copy of H; a new empty hash if H is NULL. */
SCR_FN scr_hash* scr_hash_dup(const scr_hash* h)
{
  scr_hash* copy = scr_hash_new();
  scr_hash_merge(copy, h);
  return copy;
}

SCR_FN int scr_hash_cmp_int(const void* a, const void* b)
{
  long long x = atoll((*(scr_hash_elem*const*)a)->key), y = atoll((*(scr_hash_elem*const*)b)->key);
  return (x > y) - (x < y);
}

/* Sort the elements of H by CMP; the elements below them keep their order. */
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

/* Pack H into BUF, which has scr_hash_pack_size bytes; returns that number. */
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
  size_t   at = 4, below = 0;
  uint64_t i, count;

  if (depth > SCR_HASH_DEPTH)
    return SCR_ERR(SCR_ERR_FORMAT, "a packed hash is more than %d levels deep", SCR_HASH_DEPTH);
  if (n < 4) return SCR_ERR(SCR_ERR_FORMAT, "a packed hash ends in the middle of a count");
  count = scr_get_be(p, 4);
  if (count > (n - 4) / 5) /* an element has at least the NUL of its key and a count */
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
** Unpack the hash at the start of the N bytes at BUF and merge it into H; *USED receives the number of bytes that it
** occupies.  SCR_ERR_FORMAT if the bytes are not a packed hash (H4); H may then hold a part of it.
*/
SCR_FN int scr_hash_unpack(const void* buf, size_t n, size_t* used, scr_hash* h)
{
  return scr_hash_unpack_below((const char*)buf, n, used, h, 1);
}

/* ---- fields: a key with one value ---- */

/* Make VALUE the only value of KEY. */
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

/* Always ten characters, so that the size of a header is known before the checksum is. */
SCR_FN int scr_hash_util_set_crc32_fixed(scr_hash* h, const char* key, uLong value)
{
  return scr_hash_util_setf(h, key, "0x%08lx", (unsigned long)value);
}

/*
** Each getter returns SCR_ERR_NOT_FOUND if KEY has no value and SCR_ERR_FORMAT if the value has another type, both
** without a message; *VALUE then keeps its contents.
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

/* Read the whole value of KEY as an unsigned number written in BASE. */
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

/* The value of KEY, or OTHERWISE if there is none or it has another type. */
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
** Durable files that hold one hash each: filemaps, the index, the flush file, the halt file and others.
**
** Uses       platform, errors, memory, path, hash; the CRC32 of zlib.
** Offers     scr_hash_image, scr_hash_file_write, scr_hash_file_read, scr_hash_file_read_head, scr_hash_file_lock,
**            scr_hash_file_unlock, scr_dir_sync, scr_file_sync, scr_dirs_above, scr_dirs_sync, scr_fsync_enabled,
**            scr_file_share, scr_lock_open, scr_lock_take.
** Invariants
**   I1  A reader sees the old file or the new one, never a mixture; after success the new one survives a crash.
**   I2  A file whose length or CRC32 is wrong is reported and never parsed.
**   I3  Locks are taken on the file <file>.lock, which is never renamed or removed, and which only those can open who
**       may write to its directory: whoever can open a file can hold its lock for ever.
** Failure    The file is unchanged or fully replaced.
** Format     magic u32, type u16, version u16, size u64, flags u32, packed hash, CRC32 u32 of all before it;
**            big-endian.
** ====================================================================================================== */

#define SCR_FILE_MAGIC      0x951fc3f5u
#define SCR_FILE_TYPE_HASH  1
#define SCR_FILE_VERSION    1
#define SCR_FILE_FLAG_CRC32 1u
#define SCR_FILE_HEAD       20
#define SCR_FILE_BYTES_MAX  ((uint64_t)1 << 31) /* limit for a metadata file, which is read into memory */

static int scr_fsync_enabled = 1; /* SCR_FSYNC */

/* Append the file image of H to B: header, packed hash, CRC32.  SCR_ERR_MEM while scr_oom is set (E2). */
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

/*
** Check the header of an image, of which N bytes are at P; *SIZE receives the size of the whole image.  WHAT names the
** image in messages.
*/
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
** Merge the image at the start of the N bytes at DATA into H; *USED receives its size.  Any bytes may follow it.  On
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
  if (rc == SCR_SUCCESS && h != NULL && scr_hash_size(h) == 0) {
    scr_hash empty = *h;
    *h = *fresh;
    *fresh = empty;
  } else if (rc == SCR_SUCCESS) {
    rc = scr_hash_merge(h, fresh);
  }
  scr_hash_delete(&fresh);
  *used = (size_t)size;
  return rc;
}

/* ---- reading ---- */

/* Append the next N bytes of FD to B, fewer at the end of the file.  B holds what was read of the file so far. */
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
** Merge the image at the start of the file PATH into H; *HEAD receives its size.  If WHOLE is set, nothing may follow
** the image.
**
** Header and body are read through one open: between two opens, the file could be replaced by one of another size.
*/
SCR_FN int scr_hash_file_load(const char* path, int whole, scr_hash* h, uint64_t* head)
{
  struct stat st;
  scr_buf     b = {NULL, 0, 0, 0};
  uint64_t    size = 0, file;
  size_t      used = 0;
  int         rc, fd = scr_os.open(path, O_RDONLY | O_NONBLOCK, 0); /* so that opening a FIFO does not wait */

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
** Merge the hash at the start of the file PATH into H; other data may follow it. *HEAD receives the size of its image.
** SCR_ERR_NOT_FOUND if the file is missing; on an error H is unchanged.
*/
SCR_FN int scr_hash_file_read_head(const char* path, scr_hash* h, uint64_t* head)
{
  return scr_hash_file_load(path, 0, h, head);
}

/* Merge the hash file PATH into H.  SCR_ERR_NOT_FOUND if it is missing; on an error H is unchanged. */
SCR_FN int scr_hash_file_read(const char* path, scr_hash* h)
{
  uint64_t head;
  return scr_hash_file_load(path, 1, h, &head);
}

/* ---- writing ---- */

/*
** Give the new file PATH, open as FD, the group of its directory and that group's right to write, so that people who
** share a prefix directory can replace each other's files.  PRIVATE: others get no rights.
*/
SCR_FN void scr_file_share(int fd, const char* path, int is_private)
{
  char        dir[SCR_MAX_FILENAME];
  struct stat d, f;
  mode_t      mode;
  int         shared;

  if (scr_path_dir_of(path, dir, sizeof dir) != SCR_SUCCESS || stat(dir, &d) < 0 || fstat(fd, &f) < 0) return;
  if (f.st_uid != geteuid()) return;
  shared = (d.st_mode & S_IWGRP) != 0 && (f.st_gid == d.st_gid || scr_os.fchown(fd, (uid_t)-1, d.st_gid) == 0);
  mode = is_private ? 0600 : f.st_mode & 0777;
  if (shared) mode |= 0060;
  if (mode != (f.st_mode & 07777)) scr_os.fchmod(fd, mode);
}

/* Make the name of the file PATH durable by syncing its directory. */
SCR_FN int scr_dir_sync(const char* path)
{
  char dir[SCR_MAX_FILENAME];
  int  fd, rc;

  if (!scr_fsync_enabled) return SCR_SUCCESS;
  if ((rc = scr_path_dir_of(path, dir, sizeof dir)) != SCR_SUCCESS) return rc;
  fd = scr_os.open(dir, O_RDONLY | O_DIRECTORY, 0);
  if (fd < 0 && errno == EACCES) return SCR_SUCCESS; /* of another user, and not readable: nothing can be done */
  if (fd < 0) return SCR_ERRNO("cannot open the directory %s", dir);
  if (scr_os.fsync(fd) < 0 && errno != EINVAL && errno != EROFS) rc = SCR_ERRNO("cannot sync the directory %s", dir);
  scr_os.close(fd);
  return rc;
}

/* Make the bytes of the file PATH durable, whoever wrote them. */
SCR_FN int scr_file_sync(const char* path)
{
  int fd, rc = SCR_SUCCESS;

  if (!scr_fsync_enabled) return SCR_SUCCESS;
  fd = scr_os.open(path, O_RDONLY | O_NOFOLLOW, 0);
  if (fd < 0) return SCR_ERRNO("cannot open %s", path);
  if (scr_os.fsync(fd) < 0) rc = SCR_ERRNO("cannot sync %s", path);
  scr_os.close(fd);
  return rc;
}

/*
** Add to DIRS, as keys, the directories that hold the name of PATH and the names of the directories above it, up to
** BASE.  A directory that exists already counts too: a process that was killed, or the application, may have made it
** without syncing its name.
*/
SCR_FN void scr_dirs_above(scr_hash* dirs, const char* base, const char* path)
{
  char  dir[2 * SCR_MAX_FILENAME];
  char* slash;

  snprintf(dir, sizeof dir, "%s", path);
  while (strlen(dir) > strlen(base) && (slash = strrchr(dir, '/')) != NULL) {
    slash[slash == dir] = '\0';
    scr_hash_setf(dirs, NULL, "%s", dir);
  }
}

/* Make the names in the directories DIRS durable, and free DIRS. */
SCR_FN int scr_dirs_sync(scr_hash** dirs)
{
  scr_hash_elem* e;
  char           name[2 * SCR_MAX_FILENAME];
  int            rc = scr_oom ? SCR_ERR_OOM() : SCR_SUCCESS;

  for (e = scr_hash_elem_first(*dirs); e != NULL && rc == SCR_SUCCESS; e = scr_hash_elem_next(e)) {
    rc = scr_fmt(name, sizeof name, "%s/.", scr_hash_elem_key(e));
    if (rc == SCR_SUCCESS) rc = scr_dir_sync(name);
  }
  scr_hash_delete(dirs);
  return rc;
}

/*
** Replace the file PATH by H.
**
** On SCR_SUCCESS the contents survive a crash of the node.  On an error PATH holds either the whole old file or the
** whole new one.  Processes that share PATH hold its lock.
**
** The directory is synced too: a crash could undo the rename, and this rank would then miss a dataset that the other
** members of its set count on.
*/
SCR_FN int scr_hash_file_write(const char* path, const scr_hash* h)
{
  static unsigned count = 0;
  char            tmp[SCR_MAX_FILENAME + 64];
  scr_buf         b = {NULL, 0, 0, 0};
  int             fd = -1, made = 0, tries = 1000, rc;

  if ((rc = scr_hash_image(h, &b)) != SCR_SUCCESS) goto out;
  do { /* a process with the same id may have died here, or may be writing on another machine */
    rc = scr_fmt(tmp, sizeof tmp, "%s.%s.%ld.%u.tmp", path, scr_msg_host, (long)getpid(), count++);
    if (rc != SCR_SUCCESS) goto out;
    fd = scr_os.open(tmp, O_WRONLY | O_CREAT | O_EXCL, 0666);
  } while (fd < 0 && errno == EEXIST && --tries > 0);
  if (fd < 0) {
    rc = SCR_ERRNO("cannot create %s", tmp);
    goto out;
  }
  made = 1;
  scr_file_share(fd, path, 0);
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

#ifndef SCR_LOCK_SECONDS
#define SCR_LOCK_SECONDS      30 /* how long to wait for a lock */
#define SCR_LOCK_TELL_SECONDS 3  /* after this time, tell that we wait */
#endif

/* Make TEXT say which process holds the lock of FD, where the system tells; else "". */
SCR_FN void scr_lock_holder(int fd, char* text, size_t n)
{
#if defined(__linux__)
  struct stat st;
  char        line[256], name[64] = "", path[64], file[64];
  long        pid;
  FILE *      f = fopen("/proc/locks", "r"), *p;

  *text = '\0';
  if (f == NULL || fstat(fd, &st) < 0) st.st_ino = 0;
  else
    snprintf(path, sizeof path, "%02x:%02x:%lu", (unsigned)major(st.st_dev), (unsigned)minor(st.st_dev),
             (unsigned long)st.st_ino);
  while (st.st_ino != 0 && *text == '\0' && fgets(line, sizeof line, f) != NULL) {
    if (sscanf(line, "%*s FLOCK %*s %*s %ld %63s", &pid, file) != 2 || strcmp(file, path) != 0 || pid <= 0) continue;
    snprintf(file, sizeof file, "/proc/%ld/comm", pid);
    if ((p = fopen(file, "r")) != NULL) {
      if (fgets(name, sizeof name, p) != NULL) name[strcspn(name, "\n")] = '\0';
      fclose(p);
    }
    snprintf(text, n, " by process %ld%s%s on this host", pid, *name ? " " : "", name);
  }
  if (f != NULL) fclose(f);
#else
  (void)fd;
  (void)n;
  *text = '\0';
#endif
}

/*
** Lock FD, the file PATH, waiting up to SECONDS; SCR_ERR_BUSY if it is not free then.  A file system without locks is
** accepted with one warning: there, only the recorded prefix tells runs apart.
*/
SCR_FN int scr_lock_take(int fd, const char* path, double seconds)
{
  static int no_locks = 0;
  double     start = scr_wtime(), waited;
  char       holder[160];
  int        told = 0, pause = 1000;

  while (scr_os.flock(fd, LOCK_EX | LOCK_NB) < 0) {
    if (errno == EINTR) continue;
    if (errno == ENOLCK || errno == ENOSYS || errno == EOPNOTSUPP) {
      if (!no_locks) scr_warn("%s cannot be locked (%s); make sure that no second run uses it", path, strerror(errno));
      no_locks = 1;
      return SCR_SUCCESS;
    }
    if (errno != EWOULDBLOCK) return SCR_ERRNO("cannot lock %s", path);
    waited = scr_wtime() - start;
    if (waited >= seconds) {
      scr_lock_holder(fd, holder, sizeof holder);
      return SCR_ERR(SCR_ERR_BUSY, "%s is locked%s for more than %.0f s; end the process that holds it", path, holder,
                     waited);
    }
    if (!told && waited >= SCR_LOCK_TELL_SECONDS) {
      scr_lock_holder(fd, holder, sizeof holder);
      scr_warn("waiting for the lock %s, which is held%s", path, holder);
      told = 1;
    }
    usleep((useconds_t)pause);
    if (pause < 50000) pause *= 2;
  }
  return SCR_SUCCESS;
}

/* Open the lock file PATH, which is made if it is missing; an older one that others can open is tightened. */
SCR_FN int scr_lock_open(const char* path, int* fd)
{
  struct stat st;

  *fd = scr_os.open(path, O_RDWR | O_CREAT | O_NOFOLLOW, 0600);
  if (*fd < 0 && errno == EROFS) *fd = scr_os.open(path, O_RDONLY | O_NOFOLLOW, 0);
  if (*fd < 0) {
    int why = errno;
    if (why != EACCES || scr_os.lstat(path, &st) < 0) st.st_uid = geteuid();
    errno = why;
    if (st.st_uid != geteuid())
      return SCR_ERRNO("cannot open the lock %s, which belongs to user %lu; let the group write to its directory", path,
                       (unsigned long)st.st_uid);
    return SCR_ERRNO("cannot open the lock %s", path);
  }
  scr_file_share(*fd, path, 1);
  return SCR_SUCCESS;
}

/* Lock <PATH>.lock, waiting until it is free. *FD receives the descriptor that holds the lock, or -1 on an error. */
SCR_FN int scr_hash_file_lock(const char* path, int* fd)
{
  char lock[SCR_MAX_FILENAME + 8];
  int  rc;

  *fd = -1;
  if ((rc = scr_fmt(lock, sizeof lock, "%s.lock", path)) != SCR_SUCCESS) return rc;
  if ((rc = scr_lock_open(lock, fd)) != SCR_SUCCESS) return rc;
  if ((rc = scr_lock_take(*fd, lock, SCR_LOCK_SECONDS)) == SCR_SUCCESS) return rc;
  scr_os.close(*fd);
  *fd = -1;
  return rc;
}

SCR_FN void scr_hash_file_unlock(int* fd)
{
  if (*fd >= 0) scr_os.close(*fd); /* this releases the lock */
  *fd = -1;
}

/* ==== 07 PARAMETERS =====================================================================================
** What the user can set: the table of parameters, the sources of their values, the grammar of parameter files, and the
** checks of values.
**
** All settings are in one hash.  It has a child for each source (ENV, USER, APP and SYSTEM), each of the form KEY ->
** VALUE -> children (CKEY -> CVALUE), and a child FROM, which names the two files in words.  Rank 0 reads the settings
** and sends the hash to all ranks.
**
** Uses       platform, errors, memory, hash.
** Offers     scr_params_read, scr_params_read_env, scr_params_config, scr_params_config_is_query,
**            scr_params_check, scr_params_are_secret, scr_params_shown, scr_signals, scr_param_signal, scr_param_get,
**            scr_param_get_hash, scr_param_int, scr_param_bytes, scr_param_real,
**            scr_param_job, SCR_JOB_DEFAULT, scr_param_user.
** Invariants
**   V1  A lookup takes the first value found in: environment, user file, SCR_Config, system file, default.  An empty
**       value counts as not set.
**   V2  A parameter of the table has one value per source, the last one given.  Lines (GROUPS, STORE, CKPT) keep one
**       entry for each value, in the order of the file.
**   V3  A bad value is an error; its message names the parameter, the value, its source and what is allowed.  An
**       unknown name is only a warning, because other versions may read the same files.
** Failure    SCR_ERR_PARAM for a mistake of the user, with the line number if it is in a file.
** ====================================================================================================== */

#define SCR_PARAM_WORD_MAX 4096               /* bytes of the longest key or value in a file, with its NUL */
#define SCR_PARAM_FILE_MAX ((size_t)64 << 20) /* limit for a parameter file, which is read into memory */

/* The types: X(name, the allowed values in words). */
#define SCR_PARAM_TYPES(X)                                                                                             \
  X(BOOL, "0 or 1")                                                                                                    \
  X(COUNT, "an integer, 0 or more")                                                                                    \
  X(POSITIVE, "an integer, 1 or more")                                                                                 \
  X(TIME, "seconds since 1970, as date +%s prints them")                                                               \
  X(BYTES, "a size from 1 byte to 1G, such as 65536, 128K or 1.5MB")                                                   \
  X(CAPACITY, "a size from 4K to 1E, such as 100GB")                                                                   \
  X(RATE, "bytes a second such as 200M, or 0")                                                                         \
  X(PERCENT, "a number from 0 to 100")                                                                                 \
  X(MTBF, "a number of seconds, or log")                                                                               \
  X(SIGNALS, "pairs such as USR1:checkpoint+flush,TERM:checkpoint+halt")                                               \
  X(TEXT, "a text shorter than 1024 bytes")                                                                            \
  X(SECRET, "a text shorter than 1024 bytes")                                                                          \
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

/* Which sources may set a parameter. */
typedef enum {
  SCR_PARAM_ANY,  /* every source */
  SCR_PARAM_BASE, /* every source, or only the system file with -DSCR_LOCK_BASES */
  SCR_PARAM_LINE  /* a line with children: files and SCR_Config only */
} scr_param_who;

/* X(name, type, choices of an ENUM, default, who, the sentence that README.md shows) */
#define SCR_PARAMS(X)                                                                                                  \
  X(SCR_ENABLE, BOOL, NULL, "1", ANY,                                                                                  \
    "0 turns the library off: SCR_Init returns SCR_ERR_DISABLED, all other calls return success and change nothing, "  \
    "and the program runs as if the library were not there.")                                                          \
  X(SCR_DEBUG, COUNT, NULL, "0", ANY,                                                                                  \
    "1 reports on stderr, from one rank, what the library does, with times and bandwidths; 2 reports more.")           \
  X(SCR_PREFIX, PATH, NULL, NULL, ANY,                                                                                 \
    "Directory on the parallel file system that holds all files of the job; by default the working directory.")        \
  X(SCR_CONF_FILE, PATH, NULL, NULL, ANY,                                                                              \
    "User file of parameters; by default `.scrconf` in the prefix directory, if it exists.")                           \
  X(SCR_JOB_ID, NAME, NULL, NULL, ANY,                                                                                 \
    "Id of the allocation, used in the names of the control and cache directories; by default SLURM_JOB_ID, "          \
    "PBS_JOBID, LSB_JOBID, FLUX_JOB_ID or `defjobid`.")                                                                \
  X(SCR_USER_NAME, NAME, NULL, NULL, ANY,                                                                              \
    "User name in the paths of the control and cache directories; by default the one that the last run on the prefix " \
    "had, or else USER, the account's name or the user id.")                                                           \
  X(SCR_JOB_NAME, TEXT, NULL, NULL, ANY, "Name of the simulation, recorded with each dataset.")                        \
  X(SCR_CLUSTER_NAME, TEXT, NULL, NULL, ANY, "Name of the machine, recorded with each dataset.")                       \
  X(SCR_CNTL_BASE, ABSPATH, NULL, "/tmp", BASE,                                                                        \
    "Node-local directory for the library's own records, which it keeps in `<base>/<user>/scr.<job id>`.")             \
  X(SCR_CACHE_BASE, ABSPATH, NULL, "/tmp", ANY,                                                                        \
    "Node-local directory of the cache; it is also the store of CKPT lines without STORE. A STORE line that names "    \
    "it sets its properties.")                                                                                         \
  X(SCR_CACHE_SIZE, POSITIVE, NULL, "1", ANY,                                                                          \
    "Number of datasets kept in a store whose STORE line has no COUNT; when a new one is complete, the oldest is "     \
    "deleted, by a thread behind the application's back.")                                                             \
  X(SCR_CACHE_KEEP, BOOL, NULL, "1", ANY,                                                                              \
    "1 keeps the newest checkpoint until a newer one is complete; if the cache cannot hold two, it is first flushed "  \
    "to the prefix. 0 deletes it without a copy to make room for the next one.")                                       \
  X(SCR_CACHE_BYPASS, ENUM, "auto|0|1", "auto", ANY,                                                                   \
    "1 has datasets written on the prefix itself, under temporary names until they are complete; auto does so for a "  \
    "dataset that is too large for the cache; 0 never does.")                                                          \
  X(SCR_CACHE_PURGE, BOOL, NULL, "0", ANY, "1 deletes all datasets of the job from the cache in SCR_Init.")            \
  X(SCR_COPY_TYPE, ENUM, "SINGLE|PARTNER|XOR|RS|FILE", "XOR", ANY,                                                     \
    "Redundancy scheme: SINGLE keeps each file once; PARTNER keeps a copy on another node; XOR adds parity that can "  \
    "rebuild one lost member of each set; RS (Reed-Solomon) can rebuild up to SCR_SET_FAILURES lost members; FILE "    \
    "uses the CKPT lines.")                                                                                            \
  X(SCR_SET_SIZE, POSITIVE, NULL, "8", ANY,                                                                            \
    "Minimum number of ranks in a redundancy set, if there are that many failure groups; larger sets need less "       \
    "space and survive fewer losses.")                                                                                 \
  X(SCR_SET_FAILURES, POSITIVE, NULL, "2", ANY,                                                                        \
    "Number of members of a redundancy set that may be lost at once, with SCR_COPY_TYPE=RS.")                          \
  X(SCR_GROUP, TEXT, NULL, "NODE", ANY,                                                                                \
    "Failure group, the ranks that fail together: NODE, WORLD or a name from GROUPS lines; no two members of a "       \
    "redundancy set are in the same group.")                                                                           \
  X(SCR_CURRENT, TEXT, NULL, NULL, ANY,                                                                                \
    "Name of the checkpoint to restart from, instead of the newest one; it is served once in a job.")                  \
  X(SCR_DISTRIBUTE, BOOL, NULL, "1", ANY,                                                                              \
    "1 restarts from the cache: SCR_Init moves files to where their ranks now run and rebuilds lost ones; 0 empties "  \
    "the cache and fetches from the prefix.")                                                                          \
  X(SCR_FETCH, BOOL, NULL, "1", ANY,                                                                                   \
    "1 fetches a checkpoint from the prefix into the cache if it is newer than any in the cache; 0 leaves reading "    \
    "the prefix to the application.")                                                                                  \
  X(SCR_FETCH_WIDTH, POSITIVE, NULL, "256", ANY, "Number of ranks that read from the prefix at the same time.")        \
  X(SCR_FLUSH, COUNT, NULL, "10", ANY,                                                                                 \
    "Every n-th checkpoint is flushed to the prefix, and the newest one in SCR_Finalize and at a halt; 0 flushes "     \
    "only output datasets, and nothing else then, either.")                                                            \
  X(SCR_FLUSH_WIDTH, POSITIVE, NULL, "256", ANY, "Number of ranks that write to the prefix at the same time.")         \
  X(SCR_FLUSH_ASYNC, BOOL, NULL, "0", ANY,                                                                             \
    "1 flushes behind the application's back: a thread of each rank, or a daemon on each node, copies while the "      \
    "application computes, and a later call of the library completes the flush; SCR_Wait waits for it.")               \
  X(SCR_FLUSH_TYPE, ENUM, "PTHREAD|DAEMON|SYNC", "PTHREAD", ANY,                                                       \
    "What copies in an asynchronous flush: PTHREAD, a thread of each rank; DAEMON, the process scr_transfer of each "  \
    "node, which goes on when the program is killed; SYNC turns SCR_FLUSH_ASYNC off.")                                 \
  X(SCR_FLUSH_ASYNC_BW, RATE, NULL, "0", ANY,                                                                          \
    "Bytes a second that all ranks together copy at most in an asynchronous flush; 0 for no limit.")                   \
  X(SCR_FLUSH_ASYNC_PERCENT, PERCENT, NULL, "0", ANY,                                                                  \
    "Share of the time in which an asynchronous flush may copy; 0 for no limit.")                                      \
  X(SCR_FETCH_BYPASS, BOOL, NULL, "0", ANY,                                                                            \
    "1 does not copy a checkpoint of the prefix to the cache: SCR_Route_file gives the path of each file there.")      \
  X(SCR_RESTART_RANKS, ENUM, "any|same", "any", ANY,                                                                   \
    "any offers checkpoints of another number of ranks too, which the application reads on the prefix; same offers "   \
    "only those of as many ranks as the run has.")                                                                     \
  X(SCR_GLOBAL_RESTART, BOOL, NULL, "0", ANY,                                                                          \
    "1 lets the application read the checkpoint on the prefix, also one that is in the cache: that is flushed first.") \
  X(SCR_FLUSH_ON_RESTART, BOOL, NULL, "0", ANY,                                                                        \
    "1 flushes the loaded checkpoint to the prefix in SCR_Init, for programs that read it there.")                     \
  X(SCR_PREFIX_SIZE, COUNT, NULL, "0", ANY,                                                                            \
    "Number of checkpoints kept on the prefix: when a new one is flushed, older ones are deleted. Output datasets, "   \
    "and what the user has chosen, stay; rejected checkpoints do not count. 0 keeps all.")                             \
  X(SCR_PREFIX_PURGE, BOOL, NULL, "0", ANY,                                                                            \
    "1 deletes all datasets of the index from the prefix in SCR_Init, once in a job.")                                 \
  X(SCR_DROP_AFTER_CURRENT, BOOL, NULL, "0", ANY,                                                                      \
    "1 drops from the index what is newer than a checkpoint that the user chooses; its files stay. 0 keeps it, but "   \
    "offers it only if it is chosen.")                                                                                 \
  X(SCR_FRESH_START, COUNT, NULL, "0", ANY,                                                                            \
    "1 starts from the beginning, once in a job: no run offers the checkpoints that exist then, unless one is "        \
    "chosen; a value that was not used before in the job, such as 2, does so again.")                                  \
  X(SCR_CRC_ON_COPY, BOOL, NULL, "1", ANY, "1 computes the CRC32 of each file while its redundancy data is made.")     \
  X(SCR_CRC_ON_DELETE, BOOL, NULL, "0", ANY,                                                                           \
    "1 checks the CRC32 of each file of a dataset before it is deleted from the cache, and reports corrupt files.")    \
  X(SCR_CRC_ON_RESTART, BOOL, NULL, "1", ANY,                                                                          \
    "1 checks the CRC32 of cached files in SCR_Init; a file that fails counts as lost and is rebuilt.")                \
  X(SCR_CRC_ON_FLUSH, BOOL, NULL, "1", ANY,                                                                            \
    "1 records the CRC32 of each flushed file, computed while it is copied, so that a fetch can check it.")            \
  X(SCR_MPI_BUF_SIZE, BYTES, NULL, "256K", ANY,                                                                        \
    "Size of one message when ranks make redundancy data, rebuild files or move files between nodes.")                 \
  X(SCR_FILE_BUF_SIZE, BYTES, NULL, "1M", ANY, "Size of one read or write when files are copied.")                     \
  X(SCR_FSYNC, BOOL, NULL, "1", ANY,                                                                                   \
    "0 skips the fsync of files and directories: faster, but a crash of the machine may undo what was reported as "    \
    "safe.")                                                                                                           \
  X(SCR_CHECKPOINT_INTERVAL, COUNT, NULL, "0", ANY,                                                                    \
    "SCR_Need_checkpoint answers 1 at every n-th call; 0 disables this rule.")                                         \
  X(SCR_CHECKPOINT_SECONDS, COUNT, NULL, "0", ANY,                                                                     \
    "SCR_Need_checkpoint answers 1 when this many seconds have passed since the last checkpoint; 0 disables this "     \
    "rule.")                                                                                                           \
  X(SCR_CHECKPOINT_OVERHEAD, PERCENT, NULL, "0", ANY,                                                                  \
    "SCR_Need_checkpoint answers 1 while checkpoints take less than this percentage of the time; 0 disables this "     \
    "rule.")                                                                                                           \
  X(SCR_CHECKPOINT_MTBF, MTBF, NULL, "0", ANY,                                                                         \
    "Mean time between failures of the job in seconds, or `log`, which takes it from the log of all runs: "            \
    "SCR_Need_checkpoint answers 1 after the time of computation that loses least by Daly's formula, given what such " \
    "checkpoints cost, which is measured for each CKPT line, with and without a flush; 0 disables this rule.")         \
  X(SCR_SIGNALS, SIGNALS, NULL, NULL, ANY,                                                                             \
    "Signals that ask for a checkpoint at the next SCR_Need_checkpoint, to any rank, such as "                         \
    "`USR1:checkpoint+flush,TERM:checkpoint+halt`; `flush` also copies it to the prefix, and `halt` ends the run.")    \
  X(SCR_HALT_SECONDS, COUNT, NULL, "0", ANY,                                                                           \
    "The run should stop when the allocation has no more than this many seconds left; 0 disables this rule.")          \
  X(SCR_END_TIME, TIME, NULL, NULL, ANY,                                                                               \
    "When the allocation ends, in seconds since 1970, for SCR_HALT_SECONDS; by default what SLURM, PBS, LSF or Flux "  \
    "say, whom rank 0 asks once.")                                                                                     \
  X(SCR_HALT_ENABLED, BOOL, NULL, "1", ANY,                                                                            \
    "0 keeps the library from calling exit() when the run should stop; SCR_Should_exit still reports it.")             \
  X(SCR_HALT_EXIT, ENUM, "auto|0|1", "auto", ANY,                                                                      \
    "What to do after a complete checkpoint when the run should stop: auto flushes it and calls exit() unless the "    \
    "application has called SCR_Should_exit in this run; 1 always does so, also in SCR_Init; 0 never does.")           \
  X(SCR_LOG_ENABLE, BOOL, NULL, "0", ANY,                                                                              \
    "1 logs runs, checkpoints, transfers, rebuilds and corrupt files, with times and sizes.")                          \
  X(SCR_LOG_TXT_ENABLE, BOOL, NULL, "1", ANY, "1 writes the log to `<prefix>/.scr/log`, if SCR_LOG_ENABLE is 1.")      \
  X(SCR_LOG_SYSLOG_ENABLE, BOOL, NULL, "1", ANY, "1 sends the log to the system's syslog, if SCR_LOG_ENABLE is 1.")    \
  X(SCR_LOG_DB_ENABLE, BOOL, NULL, "0", ANY,                                                                           \
    "1 writes the log to a MySQL database, if SCR_LOG_ENABLE is 1; needs a library built with -DSCR_WITH_MYSQL.")      \
  X(SCR_LOG_DB_DEBUG, BOOL, NULL, "0", ANY, "1 prints each SQL statement on stdout.")                                  \
  X(SCR_LOG_DB_HOST, TEXT, NULL, "localhost", ANY,                                                                     \
    "Host of the database server, `host:port`, or the path of its socket.")                                            \
  X(SCR_LOG_DB_NAME, TEXT, NULL, "scr", ANY, "Name of the database; `tools/scr.mysql` makes its tables.")              \
  X(SCR_LOG_DB_USER, TEXT, NULL, NULL, ANY,                                                                            \
    "User of the database, who needs SELECT and INSERT; by default the name of the account.")                          \
  X(SCR_LOG_DB_PASS, SECRET, NULL, NULL, ANY,                                                                          \
    "Password of that user, which is never printed. It is safest in a parameter file that only its owner can read.")   \
  X(SCR_PRESERVE_DIRECTORIES, BOOL, NULL, "1", ANY,                                                                    \
    "1 flushes each file to the path below the prefix that the application gave it; 0 flushes it to "                  \
    "`scr.dataset.<id>`, keeping its relative path.")                                                                  \
  X(SCR_USE_CONTAINERS, BOOL, NULL, "0", ANY,                                                                          \
    "1 packs the files of all ranks into few large files on the prefix, the containers, when a dataset is flushed. "   \
    "`scr_index --extract` takes a file out of them.")                                                                 \
  X(SCR_RANK2FILE_SIZE, BYTES, NULL, "1M", ANY,                                                                        \
    "Size up to which ranks share a file of the map that tells which rank has written which files: the map of a "      \
    "larger dataset is a tree of files; the list of one rank is never split.")                                         \
  X(SCR_CONTAINER_SIZE, CAPACITY, NULL, "100G", ANY,                                                                   \
    "Largest size of a container; when one is full, the next begins.")                                                 \
  X(SCR_VIRTUAL_NODES, COUNT, NULL, "0", ANY,                                                                          \
    "For trials: splits the ranks into this many blocks and treats each block as a node; 0 uses the real nodes.")      \
  X(GROUPS, NAME, NULL, NULL, LINE,                                                                                    \
    "`GROUPS=<host> NAME=value ...`: hosts with the same value of NAME form one group of that name, for SCR_GROUP, "   \
    "STORE and CKPT; files and SCR_Config only.")                                                                      \
  X(STORE, ABSPATH, NULL, NULL, LINE,                                                                                  \
    "`STORE=<directory>`: a place for the cache, with COUNT (datasets kept), GROUP (the ranks that share it; NODE), "  \
    "ENABLED (1), MKDIR (1; 0 where directories cannot be made), VIEW (PRIVATE, or GLOBAL if all nodes see the same "  \
    "files) and TYPE (SYNC or PTHREAD); files and SCR_Config only.")                                                   \
  X(CKPT, COUNT, NULL, NULL, LINE,                                                                                     \
    "`CKPT=<n>`: how to protect every INTERVAL-th checkpoint, with ENABLED (1), INTERVAL (1), OUTPUT (0), BYPASS "     \
    "(SCR_CACHE_BYPASS), STORE, TYPE (SINGLE, PARTNER, XOR or RS), GROUP, SET_SIZE, SET_FAILURES and HOP_DISTANCE "    \
    "(1; the distance between the "                                                                                    \
    "members of a set in a line of groups); the largest INTERVAL that divides the checkpoint's number wins; needs "    \
    "SCR_COPY_TYPE=FILE; files and SCR_Config only.")

/* The children of lines: X(line, name, type, choices of an ENUM).  GROUPS accepts any names. */
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
  X(CKPT, BYPASS, BOOL, NULL)                                                                                          \
  X(CKPT, STORE, ABSPATH, NULL)                                                                                        \
  X(CKPT, TYPE, ENUM, "SINGLE|PARTNER|XOR|RS")                                                                         \
  X(CKPT, GROUP, TEXT, NULL)                                                                                           \
  X(CKPT, SET_SIZE, POSITIVE, NULL)                                                                                    \
  X(CKPT, SET_FAILURES, POSITIVE, NULL)                                                                                \
  X(CKPT, HOP_DISTANCE, POSITIVE, NULL)

typedef struct {
  const char*    line; /* for a child, the line it belongs to; NULL for a parameter */
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

/*
** The row of the parameter NAME or, if LINE is not NULL, of the child NAME of LINE; NULL if the table has no such row.
*/
SCR_FN const scr_param_spec* scr_param_spec_of(const char* line, const char* name)
{
  const scr_param_spec* spec;

  for (spec = scr_param_specs; spec < scr_param_specs + SCR_PARAM_NSPECS; spec++)
    if (strcmp(spec->name, name) == 0 && (line == NULL) == (spec->line == NULL) &&
        (line == NULL || strcmp(spec->line, line) == 0))
      return spec;
  return NULL;
}

/* Returns 1 if VALUE is one of CHOICES, a list separated by bars; case does not matter. */
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

/* Returns 1 and sets *VALUE if all of S is a finite decimal number, 0 or more. */
SCR_FN int scr_param_real_of(const char* s, double* value)
{
  char* end;

  if (!(isdigit((unsigned char)*s) || *s == '.') || strpbrk(s, "xX") != NULL) return 0;
  *value = strtod(s, &end);
  return end != s && *end == '\0' && *value >= 0.0 && *value <= 1e300;
}

/* What the user may ask a run for, bits. */
enum { SCR_WISH_CHECKPOINT = 1, SCR_WISH_FLUSH = 2, SCR_WISH_HALT = 4 };

#define SCR_NWISHES 3
static const char* const scr_wish_names[SCR_NWISHES] = {"checkpoint", "flush", "halt"};

/* The signals that can be caught, and that do not tell of an error of the program. */
static const struct {
  const char* name;
  int         number;
} scr_signals[] = {{"HUP", SIGHUP},   {"INT", SIGINT},   {"QUIT", SIGQUIT}, {"USR1", SIGUSR1},
                   {"USR2", SIGUSR2}, {"ALRM", SIGALRM}, {"TERM", SIGTERM}, {"CONT", SIGCONT},
                   {"TSTP", SIGTSTP}, {"URG", SIGURG},   {"XCPU", SIGXCPU}, {"XFSZ", SIGXFSZ}};

#define SCR_NSIGNALS ((int)(sizeof scr_signals / sizeof scr_signals[0]))

/*
** Read a pair SIGNAL=WISH[+WISH...] at *TEXT, after blanks and commas, into NUMBER and WISHES, and move *TEXT past it;
** ':' may stand for '=', which parameter files keep for themselves.  Returns 1, 0 at the end, or -1 if it is not one.
*/
SCR_FN int scr_param_signal(const char** text, int* number, int* wishes)
{
  const char* p = *text + strspn(*text, " ,\t");
  size_t      n = strcspn(p, "=: ,\t");
  int         i;

  if (*p == '\0') return 0;
  if (strncasecmp(p, "SIG", 3) == 0 && n > 3) {
    p += 3;
    n -= 3;
  }
  for (*number = 0, *wishes = 0, i = 0; i < SCR_NSIGNALS; i++)
    if (strlen(scr_signals[i].name) == n && strncasecmp(p, scr_signals[i].name, n) == 0)
      *number = scr_signals[i].number;
  p += n;
  if (*number == 0 || (*p != '=' && *p != ':')) return -1;
  do {
    n = strcspn(++p, "+ ,\t");
    for (i = 0; i < SCR_NWISHES; i++)
      if (strlen(scr_wish_names[i]) == n && strncasecmp(p, scr_wish_names[i], n) == 0) break;
    if (i == SCR_NWISHES) return -1;
    *wishes |= 1 << i;
    p += n;
  } while (*p == '+');
  *wishes |= SCR_WISH_CHECKPOINT; /* there is nothing to flush, and no end, without one */
  *text = p;
  return 1;
}

/* Returns 1 if VALUE is allowed for SPEC. */
SCR_FN int scr_param_value_ok(const scr_param_spec* spec, const char* value)
{
  size_t   n = strlen(value);
  int      number, wishes;
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
  case SCR_PARAM_TIME:
    return scr_str_int64(value, &i) == SCR_SUCCESS && i >= 0;
  case SCR_PARAM_BYTES: /* at most 1G, because MPI counts bytes of a message in an int */
    return scr_str_bytes(value, &bytes) == SCR_SUCCESS && bytes >= 1 && bytes <= (uint64_t)1 << 30;
  case SCR_PARAM_CAPACITY:
    return scr_str_bytes(value, &bytes) == SCR_SUCCESS && bytes >= 4096 && bytes <= (uint64_t)1 << 60;
  case SCR_PARAM_RATE:
    return scr_str_bytes(value, &bytes) == SCR_SUCCESS;
  case SCR_PARAM_PERCENT:
    return scr_param_real_of(value, &real) && real <= 100.0;
  case SCR_PARAM_SIGNALS:
    while ((n = (size_t)scr_param_signal(&value, &number, &wishes)) == 1) continue;
    return n == 0;
  case SCR_PARAM_MTBF:
    return strcasecmp(value, "log") == 0 || scr_param_real_of(value, &real);
  case SCR_PARAM_NAME:
    return n < 256 && !strchr(value, '/') && strcmp(value, ".") != 0 && strcmp(value, "..") != 0;
  case SCR_PARAM_ABSPATH:
    return n < SCR_MAX_FILENAME && value[0] == '/';
  case SCR_PARAM_ENUM:
    return scr_param_is_choice(spec->choices, value);
  case SCR_PARAM_TEXT:
  case SCR_PARAM_SECRET:
  case SCR_PARAM_PATH:
  case SCR_PARAM_NTYPES:
    break;
  }
  return n < SCR_MAX_FILENAME;
}

/*
** SCR_SUCCESS if VALUE is allowed for SPEC, else the error of V3.  For a child, PARENT is the value of its line.
** ORIGIN names the source.
*/
SCR_FN int scr_param_check_value(const scr_param_spec* spec, const char* parent, const char* value, const char* origin)
{
  char        allowed[256], on_line[256] = "";
  const char* c;
  size_t      k;

  if (scr_param_value_ok(spec, value)) return SCR_SUCCESS;
  if (spec->type == SCR_PARAM_SECRET) value = "(not shown)";
  if (parent != NULL) snprintf(on_line, sizeof on_line, " on the line %s=%.200s", spec->line, parent);
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

/* Returns 1 if the source S may not set SPEC. */
SCR_FN int scr_param_is_locked(const scr_param_spec* spec, int s)
{
  return scr_params_lock_bases && s != SCR_PARAM_SYSTEM && spec != NULL && spec->who == SCR_PARAM_BASE;
}

/* The values of NAME in the source S; NULL if it has none or may not set NAME. */
SCR_FN scr_hash* scr_param_values(const scr_hash* params, int s, const char* name)
{
  if (scr_param_is_locked(scr_param_spec_of(NULL, name), s)) return NULL;
  return scr_hash_get(scr_hash_get(params, scr_param_sources[s]), name);
}

/* The value set for NAME, defaults aside, or NULL; *SOURCE receives its source. */
SCR_FN const char* scr_param_find(const scr_hash* params, const char* name, int* source)
{
  for (*source = 0; *source < SCR_PARAM_NSOURCES; ++*source) {
    const char* value = scr_param_last_value(scr_param_values(params, *source, name));
    if (value != NULL && *value != '\0') return value;
  }
  return NULL;
}

/*
** The value of the parameter NAME: what was set, or else the default, or else NULL.  It is spelled as the user wrote
** it: the case of an ENUM may vary.  Valid until PARAMS changes.
*/
SCR_FN const char* scr_param_get(const scr_hash* params, const char* name)
{
  const scr_param_spec* spec = scr_param_spec_of(NULL, name);
  int                   s;
  const char*           value = scr_param_find(params, name, &s);

  return value != NULL || spec == NULL ? value : spec->fallback;
}

/* All values of NAME (VALUE -> children) from the first source that has any, or NULL; for GROUPS, STORE and CKPT. */
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

/* The source of the value of NAME in words, for messages. */
SCR_FN const char* scr_param_origin(const scr_hash* params, const char* name)
{
  int s;
  return scr_param_find(params, name, &s) != NULL ? scr_param_source_text(params, s) : "the default";
}

/*
** Get the value of NAME, a parameter of the table, as an integer, a number of bytes, or a real number.  SCR_ERR_PARAM
** if the value is not allowed; SCR_ERR_NOT_FOUND, without a message, if there is none. *V then keeps its contents.
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

/* ---- who runs ---- */

#define SCR_JOB_DEFAULT "defjobid"

/* The job id: from the parameter, the resource manager, or the default. */
SCR_FN const char* scr_param_job(const scr_hash* params)
{
  static const char* const names[] = {"SLURM_JOB_ID", "SLURM_JOBID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID"};
  const char*              id = scr_param_get(params, "SCR_JOB_ID");
  size_t                   i;

  for (i = 0; id == NULL && i < sizeof names / sizeof *names; i++) id = getenv(names[i]);
  return id != NULL && *id != '\0' ? id : SCR_JOB_DEFAULT;
}

/* The name of the account of this process, or NULL. */
#ifdef SCR_STATIC
SCR_FN const char* scr_account(void)
{
  return NULL;
}
#else
SCR_FN const char* scr_account(void)
{
  const struct passwd* pw = getpwuid(geteuid());
  return pw != NULL ? pw->pw_name : NULL;
}
#endif

/* The user: from the parameter, USER, the account, or the user id.  A run asks the prefix too (O3). */
SCR_FN void scr_param_user(const scr_hash* params, char* user, size_t n)
{
  const char* name = scr_param_get(params, "SCR_USER_NAME");

  if (name == NULL || *name == '\0') name = getenv("USER");
  if (name == NULL || *name == '\0') name = scr_account();
  if (name != NULL && *name != '\0') snprintf(user, n, "%s", name);
  else snprintf(user, n, "%lu", (unsigned long)geteuid());
}

/* ---- setting ---- */

/*
** Set KEY of the source INTO to VALUE and return the hash of its children; NULL without memory.  Except for lines, the
** new value replaces the old one (V2).
*/
SCR_FN scr_hash* scr_params_set(scr_hash* into, const char* key, const char* value)
{
  const scr_param_spec* spec = scr_param_spec_of(NULL, key);

  if (spec != NULL && spec->who != SCR_PARAM_LINE) scr_hash_unset(into, key);
  return scr_hash_set_kv(into, key, value);
}

/* Set the child KEY of ENTRY to VALUE; "" unsets it. */
SCR_FN int scr_params_set_child(scr_hash* entry, const char* key, const char* value)
{
  scr_hash_unset(entry, key);
  return *value == '\0' || scr_hash_set_kv(entry, key, value) != NULL ? SCR_SUCCESS : SCR_ERR_OOM();
}

/* Returns 1 if TEXT names a parameter whose value must not be printed; then no word of TEXT may be. */
SCR_FN int scr_params_are_secret(const char* text)
{
  const scr_param_spec* spec;

  for (spec = scr_param_specs; spec < scr_param_specs + SCR_PARAM_NSPECS; spec++)
    if (spec->type == SCR_PARAM_SECRET && strcasestr(text, spec->name) != NULL) return 1;
  return 0;
}

/* ---- the grammar of files ---- */

#define SCR_PARAM_BLANKS " \t\r"

/* The state of reading one line of a file; the line ends with a NUL. */
typedef struct {
  const char* p;     /* what follows */
  const char* where; /* the file's name */
  int         line;
  char        key[SCR_PARAM_WORD_MAX], value[SCR_PARAM_WORD_MAX];
} scr_params_text;

/* Report an error in the line of T.  FORMAT is a literal, with at least one argument. */
#define SCR_PARAMS_BAD(t, format, ...)                                                                                 \
  SCR_ERR(SCR_ERR_PARAM, "%.900s, line %d: " format, (t)->where, (t)->line, __VA_ARGS__)

/* Append C to the word OUT, which has *N bytes. */
SCR_FN int scr_params_put(const scr_params_text* t, char* out, size_t* n, char c)
{
  if (*n + 1 >= SCR_PARAM_WORD_MAX)
    return SCR_PARAMS_BAD(t, "a word is longer than %d bytes: %.40s...", SCR_PARAM_WORD_MAX - 1, out);
  out[(*n)++] = c;
  out[*n] = '\0';
  return SCR_SUCCESS;
}

/* Append the character that the backslash sequence at T stands for. */
SCR_FN int scr_params_escape(scr_params_text* t, char* out, size_t* n)
{
  static const char names[] = "abfnrtv", controls[] = "\a\b\f\n\r\t\v";
  const char        c = *++t->p;
  const char*       k = c != '\0' ? strchr(names, c) : NULL;

  if (c == '\0' || c == '\r') return SCR_PARAMS_BAD(t, "a backslash ends the line; %s", "lines cannot be continued");
  t->p++;
  return scr_params_put(t, out, n, k != NULL ? controls[k - names] : c);
}

/* Append the value of the environment variable named at T, as $NAME (letters and _) or ${NAME}. */
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

/*
** Read a word, up to a blank, '=' or the end of the line, into OUT.  A word cannot begin with '#', which starts a
** comment.
*/
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

/* Read `KEY=VALUE` into the buffers of T. */
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
** A line is `KEY=VALUE [CKEY=CVALUE ...]`, with blanks allowed around '='; the further pairs are children of the first.
** Keys are converted to upper case. # at the start of a word begins a comment. $NAME and ${NAME} in a value are
** replaced by the environment variable, which must be set.  A backslash makes the next character literal, or forms a
** control character (a b f n r t v).  `KEY=` unsets.  After an error INTO has the lines before it.
*/
SCR_FN int scr_params_parse(const char* text, size_t n, const char* where, scr_hash* into)
{
  scr_params_text t;
  char *          copy, *line, *next;
  size_t          i;
  int             rc = SCR_SUCCESS;

  t.where = where;
  t.line = 1;
  for (i = 0; i < n; i++) { /* refuse binary data before a message prints any of it */
    unsigned char c = (unsigned char)text[i];
    t.line += c == '\n';
    if (c == 127 || (c < 32 && c != '\n' && c != '\t' && c != '\r'))
      return SCR_PARAMS_BAD(&t, "byte 0x%02x is not text; is this a parameter file?", c);
  }
  copy = (char*)scr_malloc(n + 1);
  if (copy == NULL) return SCR_ERR_OOM();
  if (n > 0) memcpy(copy, text, n);
  t.line = 1;
  line = strncmp(copy, "\xef\xbb\xbf", 3) == 0 ? copy + 3 : copy; /* skip the byte order mark that some editors write */
  for (; line != NULL && rc == SCR_SUCCESS; line = next, t.line++) {
    next = strchr(line, '\n');
    if (next != NULL) *next++ = '\0';
    t.p = line;
    rc = scr_params_line(&t, into);
    if (rc == SCR_ERR_PARAM && scr_params_are_secret(line))
      rc = SCR_PARAMS_BAD(&t,
                          "the line cannot be read, and is not shown; write a backslash before each %s in a password",
                          "blank, '=', '#', '$' and backslash");
  }
  free(copy);
  return rc;
}

/* ---- sources ---- */

/* Read the file PATH into the source S of PARAMS.  A missing file is an error only if MUST is set. */
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

/*
** Make OUT, of SCR_PARAM_WORD_MAX bytes, the VALUE that the environment has for NAME, with $NAME and ${NAME} replaced
** as in files.
*/
SCR_FN int scr_params_env_value(const char* name, const char* value, char* out)
{
  scr_params_text t;
  size_t          n = 0;
  char            copy[SCR_PARAM_WORD_MAX], where[300];
  int             rc = scr_fmt(copy, sizeof copy, "%s", value);

  out[0] = '\0';
  snprintf(where, sizeof where, "%s in the environment", name);
  memset(&t, 0, sizeof t);
  t.where = where;
  t.p = copy;
  while (rc == SCR_SUCCESS && *t.p != '\0')
    rc = *t.p == '$' ? scr_params_expand(&t, out, &n) : scr_params_put(&t, out, &n, *t.p++);
  return rc;
}

/* Fill ENV of PARAMS with the parameters of the table, lines excepted, that the environment sets. */
SCR_FN int scr_params_read_env(scr_hash* params)
{
  scr_hash* env = scr_hash_set(params, "ENV", scr_hash_new());
  char*     word = (char*)scr_malloc(SCR_PARAM_WORD_MAX);
  int       i, rc = env == NULL || word == NULL ? SCR_ERR_OOM() : SCR_SUCCESS;

  for (i = 0; i < SCR_PARAM_NSPECS && rc == SCR_SUCCESS; i++) {
    const scr_param_spec* spec = &scr_param_specs[i];
    const char*           value = spec->line != NULL || spec->who == SCR_PARAM_LINE ? NULL : getenv(spec->name);
    if (value == NULL || *value == '\0') continue;
    rc = scr_params_env_value(spec->name, value, word);
    if (rc == SCR_SUCCESS && scr_hash_set_kv(env, spec->name, word) == NULL) rc = SCR_ERR_OOM();
  }
  scr_free(&word);
  return rc;
}

/*
** Read the environment, the system file and the user file into PARAMS, replacing what it had from them; what SCR_Config
** set stays.  The user file is SCR_CONF_FILE, which must then exist, or else .scrconf in the prefix directory.
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

/* Returns 1 if CONFIG is a query, 0 if it sets or unsets a value, -1 if it is malformed. */
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

/* Set *COPY to a copy of the value of KEY or, if CKEY is not NULL, of CKEY below KEY=VALUE; NULL if it is not set. */
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

/* Set KEY to VALUE, with the children in REST; REST is modified. */
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
** A copy of CONFIG without the blanks around each '=' that stands between a name and its value; NULL without memory.
*/
SCR_FN char* scr_params_config_join(const char* config)
{
  char *      copy = scr_strdup(config), *to = copy;
  const char* p;
  int         has = 0; /* the word has a '=' */

  for (p = config; copy != NULL && *p != '\0'; p++) {
    size_t n = strspn(p, " ");
    if (n > 0 && p[n] == '=' && !has && to > copy) p += n;
    else if (n > 0) has = 0;
    *to++ = *p;
    if (*p != '=' || has) continue;
    has = 1;
    n = strspn(p + 1, " ");
    if (n > 0 && p[1 + n] != '\0' && p[1 + n + strcspn(p + 1 + n, " =")] != '=') p += n;
  }
  if (copy != NULL) *to = '\0';
  return copy;
}

/* What a message may show of CONFIG, the string of an SCR_Config call. */
SCR_FN const char* scr_params_shown(const char* config)
{
  return config == NULL ? "" : scr_params_are_secret(config) ? "(not shown)" : config;
}

/*
** Carry out CONFIG, the string of an SCR_Config call (scr.h).  For a query, *VALUE receives the value, which the caller
** frees, or NULL; a query sees every source, but not the defaults.
**
** SCR_ERR_ARG if CONFIG is malformed; nothing is then set.  A bad value returns SCR_ERR_PARAM but is set all the same,
** so that SCR_Init fails on it: a program that ignores this error must not run with another value than it asked for.
*/
SCR_FN int scr_params_config(scr_hash* params, const char* config, char** value)
{
  char *text = config != NULL ? scr_params_config_join(config) : NULL, *word, *eq, *rest = NULL;
  int   rc, is_query = scr_params_config_is_query(text);

  *value = NULL;
  if (config != NULL && text == NULL) return SCR_ERR_OOM();
  if (is_query < 0) {
    scr_free(&text);
    return SCR_ERR(SCR_ERR_ARG,
                   "SCR_Config(\"%.200s\"): expected KEY=VALUE, KEY=VALUE CHILD=VALUE ..., KEY= to unset, "
                   "or to query KEY or KEY=VALUE CHILD",
                   scr_params_shown(config));
  }
  word = strtok_r(text, " ", &rest);
  eq = strchr(word, '=');
  if (eq != NULL) *eq++ = '\0';
  if (!is_query) rc = scr_params_config_set(params, word, eq, rest);
  else rc = scr_params_query(params, word, eq, eq == NULL ? NULL : strtok_r(NULL, " ", &rest), value);
  scr_free(&text);
  return rc;
}

/* ---- checks ---- */

/*
** What other releases of this design take from the environment or a file, and this one does not: the value with which
** they do what this one does, and what to use instead.
*/
static const struct {
  const char *name, *same, *instead;
} scr_params_others[] = {{"SCR_FLUSH_POSTSTAGE", "0", "SCR_Finalize flushes the newest checkpoint"},
                         {"SCR_DB_ENABLE", "0", "SCR_LOG_ENABLE=1 and SCR_LOG_DB_ENABLE=1 log to a database"},
                         {"SCR_COPY_METADATA", "1", "all metadata is kept"}};

/* Parameters of the user file that only commands read. */
static const char* const scr_params_commands[] = {
    "SCR_EXCLUDE_NODES", "SCR_MIN_NODES", "SCR_RETRIES",          "SCR_RUNS",
    "SCR_RUN_WAIT",      "SCR_WATCHDOG",  "SCR_WATCHDOG_TIMEOUT", "SCR_WATCHDOG_TIMEOUT_PFS"};

/* The number of letters that must be inserted, removed or replaced to make A of B; more than 2 counts as 3. */
SCR_FN int scr_params_distance(const char* a, const char* b)
{
  int    row[64], i, j, n = (int)strlen(b), best = 0;
  size_t k = strlen(a);

  if (n >= 64 || k >= 64 || (int)k - n > 2 || n - (int)k > 2) return 3;
  for (j = 0; j <= n; j++) row[j] = j;
  for (i = 1; a[i - 1] != '\0'; i++) {
    int left_above = row[0];
    row[0] = i;
    for (j = 1; j <= n; j++) {
      int above = row[j];
      best = left_above + (a[i - 1] != b[j - 1]);
      if (above + 1 < best) best = above + 1;
      if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
      row[j] = best;
      left_above = above;
    }
  }
  return row[n] > 2 ? 3 : row[n];
}

/*
** Make HINT say what to use instead of the unknown parameter NAME=VALUE; "" if there is nothing like it.  Returns 0 if
** nobody needs to be told: commands read it, or another release means by it what this one does anyway.
*/
SCR_FN int scr_params_hint(const char* name, const char* value, char* hint, size_t n)
{
  size_t i;
  int    k;

  *hint = '\0';
  for (i = 0; i < sizeof scr_params_commands / sizeof *scr_params_commands; i++)
    if (strcasecmp(name, scr_params_commands[i]) == 0) return 0;
  for (i = 0; i < sizeof scr_params_others / sizeof *scr_params_others; i++) {
    if (strcasecmp(name, scr_params_others[i].name) != 0) continue;
    snprintf(hint, n, ", as this release has no such parameter: %s", scr_params_others[i].instead);
    return strcasecmp(value, scr_params_others[i].same) != 0;
  }
  for (k = 0; k < SCR_PARAM_NSPECS && *hint == '\0'; k++)
    if (scr_param_specs[k].line == NULL && scr_params_distance(name, scr_param_specs[k].name) <= 2)
      snprintf(hint, n, "; is %s meant?", scr_param_specs[k].name);
  return 1;
}

/* Warn about names in the environment that begin with SCR_, are not known, and look as if they were meant for us. */
SCR_FN void scr_params_check_env(void)
{
  char **e, name[64], hint[256];

  for (e = environ; e != NULL && *e != NULL; e++) {
    size_t n = strcspn(*e, "=");
    if (strncmp(*e, "SCR_", 4) != 0 || n >= sizeof name || (*e)[n] != '=' || (*e)[n + 1] == '\0') continue;
    snprintf(name, sizeof name, "%.*s", (int)n, *e);
    if (scr_param_spec_of(NULL, name) == NULL && scr_params_hint(name, *e + n + 1, hint, sizeof hint) && *hint)
      scr_warn("%s in the environment is ignored%s", name, hint);
  }
}

/* Check CHILDREN, the children of the entry SPEC=VALUE; ORIGIN names its source. */
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
    if (strcmp(spec->name, "STORE") == 0 && strcmp(name, "FLUSH") == 0) continue; /* other releases: how to copy */
    if (strcmp(spec->name, "CKPT") == 0 && strcmp(name, "BYPASS") == 0 && v != NULL && strcmp(v, "0") == 0) continue;
    if (spec->who == SCR_PARAM_LINE)
      scr_warn("%s=%.200s in %s: %.200s is not known here and is ignored", spec->name, value, origin, name);
    else
      scr_warn("%.200s on the line of %s in %s is ignored: write one parameter on a line",
               spec->type == SCR_PARAM_SECRET ? "what follows the value" : name, spec->name, origin);
  }
  return rc;
}

/* Check the values VALUES of NAME from the source S. */
SCR_FN int scr_params_check_key(const scr_hash* params, int s, const char* name, const scr_hash* values)
{
  const scr_param_spec* spec = scr_param_spec_of(NULL, name);
  const char*           origin = scr_param_source_text(params, s);
  const scr_hash_elem*  e;
  char                  hint[256];
  int                   rc = SCR_SUCCESS;

  if (spec == NULL && scr_msg_rank <= 0 && strncasecmp(name, "SCR_", 4) == 0 &&
      scr_params_hint(name, scr_param_last_value(values) ? scr_param_last_value(values) : "", hint, sizeof hint))
    scr_warn("the parameter %.200s in %s is not known and is ignored%s", name, origin, hint);
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
** warns about unknown names.
*/
SCR_FN int scr_params_check(const scr_hash* params)
{
  const scr_hash_elem* e;
  int                  s, rc = SCR_SUCCESS;

  if (scr_msg_rank <= 0) scr_params_check_env();
  for (s = 0; s < SCR_PARAM_NSOURCES && rc == SCR_SUCCESS; s++) {
    e = scr_hash_elem_first(scr_hash_get(params, scr_param_sources[s]));
    for (; e != NULL && rc == SCR_SUCCESS; e = scr_hash_elem_next(e))
      rc = scr_params_check_key(params, s, scr_hash_elem_key(e), scr_hash_elem_hash(e));
  }
  return rc;
}

/* ==== 08 DATASET: RECORDS, SETS, PLACES =================================================================
** The records that make up all metadata, each with one reader and one writer; the redundancy set, the ranks that
** protect each other; and where the files of a dataset lie in a store.
**
**   scr_identity   which dataset it is
**   scr_desc       describes the dataset as a whole
**   scr_file       one file of a rank
**   scr_reddesc    how a dataset is protected, and by which ranks
**   scr_entry      what one rank, its owner, wrote of one dataset: desc, files, reddesc.  A filemap is a list of
**                  entries; the header of a redundancy file describes members in another form of the same record.
**
** Uses       platform, errors, memory, path, hash
** Offers     scr_scheme, scr_identity, scr_desc, scr_file_kind, scr_file, scr_reddesc, scr_home, scr_mark, scr_entry;
**            scr_scheme_name, scr_scheme_from_name, scr_identity_same, scr_identity_differs, scr_identity_cmp,
**            scr_identity_read, scr_identity_write, scr_desc_read_str, scr_desc_read, scr_desc_write, scr_desc_name,
**            scr_desc_is_ckpt, scr_desc_is_pure, scr_file_free, scr_reddesc_free, scr_reddesc_dup, scr_home_below,
**            scr_home_path, scr_private_check, scr_private_mkdir, scr_home_mkdir, scr_home_claim, scr_entry_free,
**            scr_entry_find, scr_entry_add, scr_entry_dup, scr_entry_cut, scr_entry_forget, scr_entry_path,
**            scr_entry_place, scr_entry_write, scr_entry_read, scr_entry_write_member, scr_entry_read_member
** Invariants
**   D1  Two datasets are the same only if id, time of creation and nonce are equal: ids recur after a rollback, and a
**       lost node may come back with files of an earlier run.
**   D2  Only this part, part 12 and part 13 read and write hashes of records.  A reader ignores what it does not know;
**       a record that lacks a required field is an error.
**   D3  Records hold paths below the dataset's directory.  Absolute paths are computed; those in a file are not
**       trusted.
**   D4  The owner of an entry is the rank that wrote it.  The rank that holds it now is not part of the entry: it is
**       the rank in whose filemap the entry is.
**   D5  Every directory that the library makes below a base belongs to this user, is not a link, and cannot be written
**       by anybody else; otherwise the library refuses to use it.  In a store with MKDIR=0 this holds for the files.
** Failure    SCR_ERR_FORMAT with a message.  Without memory scr_oom is set, and nothing is written (E2).
** ====================================================================================================== */

/* ---- redundancy schemes ---- */

typedef enum { SCR_SCHEME_SINGLE, SCR_SCHEME_PARTNER, SCR_SCHEME_XOR, SCR_SCHEME_RS } scr_scheme;

static const char* const scr_scheme_names[] = {"SINGLE", "PARTNER", "XOR", "RS"};

/* Sets stay small, because each member lists all others.  A set may have nearly twice the size asked for. */
#define SCR_SET_SIZE_MAX 4096

SCR_FN const char* scr_scheme_name(scr_scheme scheme)
{
  return scr_scheme_names[scheme];
}

SCR_FN int scr_scheme_from_name(const char* name, scr_scheme* scheme)
{
  int i;
  for (i = SCR_SCHEME_SINGLE; i <= SCR_SCHEME_RS; i++)
    if (strcasecmp(name, scr_scheme_names[i]) == 0) {
      *scheme = (scr_scheme)i;
      return SCR_SUCCESS;
    }
  return SCR_ERR(SCR_ERR_PARAM, "the redundancy scheme %s is not known; there are SINGLE, PARTNER, XOR and RS", name);
}

/* ---- identity ---- */

typedef struct {
  int      id;      /* 1 or more; 0 if the record has none */
  int64_t  created; /* microseconds since the epoch; 0 if the record has none */
  uint64_t nonce;   /* random; 0 if the record has none, as in older versions */
} scr_identity;

/* Returns 1 if A and B are certainly the same dataset (D1). */
SCR_FN int scr_identity_same(const scr_identity* a, const scr_identity* b)
{
  return a->id > 0 && a->id == b->id && a->created != 0 && a->created == b->created && a->nonce == b->nonce;
}

/* Returns 1 if A and B are certainly different datasets: both have a value for some field, and the values differ. */
SCR_FN int scr_identity_differs(const scr_identity* a, const scr_identity* b)
{
  return (a->id && b->id && a->id != b->id) || (a->created && b->created && a->created != b->created) ||
         (a->nonce && b->nonce && a->nonce != b->nonce);
}

/* -1, 0 or 1 as A sorts before, with or after B: by id, then by time of creation, then by nonce. */
SCR_FN int scr_identity_cmp(const scr_identity* a, const scr_identity* b)
{
  if (a->id != b->id) return a->id < b->id ? -1 : 1;
  if (a->created != b->created) return a->created < b->created ? -1 : 1;
  return a->nonce == b->nonce ? 0 : (int64_t)a->nonce < (int64_t)b->nonce ? -1 : 1;
}

/* Read an identity from H.  One whose nonce cannot be read is not the same as any other (D1). */
SCR_FN void scr_identity_read(const scr_hash* h, scr_identity* i)
{
  const char* nonce = scr_hash_elem_get_first_val(h, "NONCE");

  memset(i, 0, sizeof *i);
  scr_hash_util_get_int(h, "ID", &i->id);
  scr_hash_util_get_int64(h, "CREATED", &i->created);
  if (nonce == NULL) return;
  if (*nonce == '\0' || strlen(nonce) > 16 || strspn(nonce, "0123456789abcdefABCDEF") != strlen(nonce)) i->created = 0;
  else i->nonce = (uint64_t)strtoull(nonce, NULL, 16);
}

SCR_FN void scr_identity_write_age(scr_hash* h, const scr_identity* i)
{
  char nonce[24];

  snprintf(nonce, sizeof nonce, "%016" PRIx64, i->nonce);
  if (i->created != 0) scr_hash_util_set_int64(h, "CREATED", i->created);
  if (i->nonce != 0) scr_hash_util_set_str(h, "NONCE", nonce);
}

SCR_FN void scr_identity_write(scr_hash* h, const scr_identity* i)
{
  if (i->id != 0) scr_hash_util_set_int(h, "ID", i->id);
  scr_identity_write_age(h, i);
}

/* ---- descriptor of a dataset; it holds no pointers, so an assignment copies it ---- */

typedef struct {
  scr_identity identity;
  char         name[SCR_MAX_FILENAME];
  char     dir[SCR_MAX_FILENAME]; /* below the prefix, the common directory of all files; "" for the prefix itself */
  int      ckpt;                  /* number of the checkpoint; 0 if it is not one */
  int      flags;                 /* SCR_FLAG_x */
  int      ranks, files;          /* of all ranks */
  uint64_t bytes;
  int      complete;
  int      shared;   /* 1: several ranks wrote one file, which each of them reads again */
  int      preserve; /* 1: file names are relative to the prefix; 0: to the dataset directory */
  char     user[256], job[256], job_name[256], cluster[256];
} scr_desc;

SCR_FN void scr_desc_read_str(const scr_hash* h, const char* key, char* to, size_t n)
{
  const char* value = scr_hash_elem_get_first_val(h, key);
  snprintf(to, n, "%s", value != NULL ? value : "");
}

/* Read D from H; fields that H lacks become 0 or empty.  Records of older versions may have no flags. */
SCR_FN void scr_desc_read(const scr_hash* h, scr_desc* d)
{
  int flag = 0;

  memset(d, 0, sizeof *d);
  scr_identity_read(h, &d->identity);
  scr_desc_read_str(h, "NAME", d->name, sizeof d->name);
  scr_desc_read_str(h, "DIR", d->dir, sizeof d->dir);
  scr_desc_read_str(h, "USER", d->user, sizeof d->user);
  scr_desc_read_str(h, "JOBID", d->job, sizeof d->job);
  scr_desc_read_str(h, "JOBNAME", d->job_name, sizeof d->job_name);
  scr_desc_read_str(h, "CLUSTER", d->cluster, sizeof d->cluster);
  scr_hash_util_get_int(h, "CKPT", &d->ckpt);
  if (scr_hash_util_get_int(h, "FLAG_CKPT", &flag) != SCR_SUCCESS) flag = d->ckpt > 0;
  if (flag) d->flags |= SCR_FLAG_CHECKPOINT;
  flag = 0;
  scr_hash_util_get_int(h, "FLAG_OUTPUT", &flag);
  if (flag) d->flags |= SCR_FLAG_OUTPUT;
  scr_hash_util_get_int(h, "RANKS", &d->ranks);
  scr_hash_util_get_int(h, "FILES", &d->files);
  scr_hash_util_get_bytecount(h, "SIZE", &d->bytes);
  scr_hash_util_get_int(h, "COMPLETE", &d->complete);
  d->preserve = 1;
  scr_hash_util_get_int(h, "PRESERVE", &d->preserve);
  d->shared = scr_hash_int_or(h, "SHARED", 0);
}

/* Write D to H, an empty hash. */
SCR_FN void scr_desc_write(scr_hash* h, const scr_desc* d)
{
  scr_hash_util_set_int(h, "ID", d->identity.id);
  scr_hash_util_set_str(h, "NAME", d->name);
  scr_hash_util_set_int(h, "FLAG_CKPT", (d->flags & SCR_FLAG_CHECKPOINT) != 0);
  scr_hash_util_set_int(h, "FLAG_OUTPUT", (d->flags & SCR_FLAG_OUTPUT) != 0);
  scr_identity_write_age(h, &d->identity);
  if (*d->user) scr_hash_util_set_str(h, "USER", d->user);
  if (*d->job_name) scr_hash_util_set_str(h, "JOBNAME", d->job_name);
  if (*d->job) scr_hash_util_set_str(h, "JOBID", d->job);
  if (*d->cluster) scr_hash_util_set_str(h, "CLUSTER", d->cluster);
  if (d->ckpt > 0) scr_hash_util_set_int(h, "CKPT", d->ckpt);
  scr_hash_util_set_int(h, "RANKS", d->ranks);
  if (d->shared) scr_hash_util_set_int(h, "SHARED", 1);
  if (!d->preserve) scr_hash_util_set_int(h, "PRESERVE", 0); /* a fetch needs it to find the files by name */
  scr_hash_util_set_int(h, "COMPLETE", d->complete);
  scr_hash_util_set_bytecount(h, "SIZE", d->bytes);
  scr_hash_util_set_int(h, "FILES", d->files);
  if (*d->dir) scr_hash_util_set_str(h, "DIR", d->dir);
}

/* The name of the dataset, never empty. */
SCR_FN const char* scr_desc_name(const scr_desc* d)
{
  return *d->name != '\0' ? d->name : "?";
}

SCR_FN int scr_desc_is_ckpt(const scr_desc* d)
{
  return (d->flags & SCR_FLAG_CHECKPOINT) != 0;
}

/* Returns 1 if D is a checkpoint and not output too, which is kept in any case. */
SCR_FN int scr_desc_is_pure(const scr_desc* d)
{
  return scr_desc_is_ckpt(d) && !(d->flags & SCR_FLAG_OUTPUT);
}

/* ---- file ---- */

typedef enum { SCR_FILE_APPLICATION, SCR_FILE_PARTNER, SCR_FILE_XOR, SCR_FILE_RS } scr_file_kind;

/* The names of the kinds in META.  FULL, USER in older versions, is a file of the application. */
static const char* const scr_file_kinds[] = {"FULL", "PARTNER", "XOR", "RS"};

/* One file of a rank.  All zeros is an empty record. */
typedef struct {
  char*         rel;  /* path below the dataset's directory in the cache */
  char*         orig; /* the name that the application gave; may be NULL */
  char*         dir;  /* the absolute directory of that name; NULL if not known */
  scr_file_kind kind;
  int           complete; /* 1: size, mode and mtime are known */
  uint64_t      size;
  int           has_crc;
  uLong         crc;
  int           ranks; /* number of ranks of the run that wrote it */
  int           mode;  /* permission bits; 0 if not known */
  int64_t       mtime; /* seconds since the epoch; 0 if not known */
} scr_file;

SCR_FN void scr_file_free(scr_file* f)
{
  scr_free(&f->rel);
  scr_free(&f->orig);
  scr_free(&f->dir);
}

/* Make TO a copy of F; the old contents of TO are overwritten, not freed. */
SCR_FN void scr_file_dup(scr_file* to, const scr_file* f)
{
  *to = *f;
  to->rel = scr_strdup(f->rel);
  to->orig = scr_strdup(f->orig);
  to->dir = scr_strdup(f->dir);
}

/*
** Read F, which is empty, from H.  SCR_ERR_FORMAT if the path leads out of the dataset or the checksum cannot be read.
*/
SCR_FN int scr_file_read(const scr_hash* h, scr_file* f)
{
  const char* rel = scr_hash_elem_get_first_val(h, "FILE");
  const char* kind = scr_hash_elem_get_first_val(h, "TYPE");
  int         i;

  if (rel == NULL || !scr_path_is_safe_rel(rel))
    return SCR_ERR(SCR_ERR_FORMAT, "a record names a file outside of its dataset: %.200s",
                   rel != NULL ? rel : "(none)");
  for (i = SCR_FILE_RS; i > SCR_FILE_APPLICATION; i--)
    if (kind != NULL && strcmp(kind, scr_file_kinds[i]) == 0) break;
  f->kind = (scr_file_kind)i;
  scr_hash_util_get_int(h, "COMPLETE", &f->complete);
  if (scr_hash_util_get_bytecount(h, "SIZE", &f->size) != SCR_SUCCESS) f->complete = 0;
  if (scr_hash_get(h, "CRC") != NULL) {
    if (scr_hash_util_get_crc32(h, "CRC", &f->crc) != SCR_SUCCESS)
      return SCR_ERR(SCR_ERR_FORMAT, "the checksum of %.200s cannot be read in its record", rel);
    f->has_crc = 1;
  }
  scr_hash_util_get_int(h, "RANKS", &f->ranks);
  scr_hash_util_get_int(h, "MODE", &f->mode);
  scr_hash_util_get_int64(h, "MTIME", &f->mtime);
  f->rel = scr_strdup(rel);
  f->orig = scr_strdup(scr_hash_elem_get_first_val(h, "ORIG"));
  f->dir = scr_strdup(scr_hash_elem_get_first_val(h, "ORIGPATH"));
  return scr_oom ? SCR_ERR_OOM() : SCR_SUCCESS;
}

/*
** Write F to H, an empty hash.  The checksum has a field of fixed width, so that the size of a header is known before
** the checksum is.
*/
SCR_FN void scr_file_write(scr_hash* h, const scr_file* f)
{
  const char* slash = strrchr(f->rel, '/');

  scr_hash_util_set_str(h, "FILE", f->rel);
  scr_hash_util_set_str(h, "TYPE", scr_file_kinds[f->kind]);
  scr_hash_util_set_int(h, "COMPLETE", f->complete);
  if (f->ranks > 0) scr_hash_util_set_int(h, "RANKS", f->ranks);
  if (f->orig != NULL) scr_hash_util_set_str(h, "ORIG", f->orig);
  if (f->dir != NULL) scr_hash_util_set_str(h, "ORIGPATH", f->dir);
  if (f->dir != NULL) scr_hash_util_set_str(h, "ORIGNAME", slash != NULL ? slash + 1 : f->rel);
  if (f->complete) scr_hash_util_set_bytecount(h, "SIZE", f->size);
  if (f->mode != 0) scr_hash_util_set_int(h, "MODE", f->mode);
  if (f->mtime != 0) scr_hash_util_set_int64(h, "MTIME", f->mtime);
  if (f->has_crc) scr_hash_util_set_crc32_fixed(h, "CRC", f->crc);
}

/* ---- descriptor of a redundancy set ---- */

/* How a dataset is protected: a scheme, a store, and the set of ranks that protect each other. */
typedef struct {
  int        enabled, index, interval, output; /* of the CKPT line: ENABLED, its number, INTERVAL, OUTPUT, */
  int        bypass;                           /* and BYPASS: 1, 0, or -1 for auto */
  scr_scheme scheme;
  int        size_wanted, hop;  /* of the CKPT line: SET_SIZE and HOP_DISTANCE */
  int        failures;          /* members of a set that may be lost at once; 0 for SINGLE */
  char*      group;             /* name of the failure group */
  char*      store;             /* name of the store, which is its base directory */
  int        global, can_mkdir; /* properties VIEW=GLOBAL and MKDIR of the store */
  int        sets;              /* number of sets in the world */
  int        set_id;            /* world rank of the first member */
  int        set_size, set_rank;
  int*       member;  /* [set_size]: the ranks that own the members' files */
  char*      partner; /* host of the right neighbour, which lists this rank's files; NULL if not known */
} scr_reddesc;

SCR_FN void scr_reddesc_free(scr_reddesc* d)
{
  scr_free(&d->group);
  scr_free(&d->store);
  scr_free(&d->member);
  scr_free(&d->partner);
  memset(d, 0, sizeof *d);
}

/* Make TO a copy of D; the old contents of TO are overwritten, not freed. */
SCR_FN void scr_reddesc_dup(scr_reddesc* to, const scr_reddesc* d)
{
  *to = *d;
  to->group = scr_strdup(d->group);
  to->store = scr_strdup(d->store);
  to->partner = scr_strdup(d->partner);
  to->member = NULL;
  if (d->member == NULL) return;
  to->member = (int*)scr_malloc((size_t)d->set_size * sizeof *to->member);
  if (to->member != NULL) memcpy(to->member, d->member, (size_t)d->set_size * sizeof *to->member);
}

/* Write D to H, an empty hash. */
SCR_FN void scr_reddesc_write(scr_hash* h, const scr_reddesc* d)
{
  int i;

  scr_hash_util_set_int(h, "ENABLED", d->enabled);
  scr_hash_util_set_int(h, "INDEX", d->index);
  scr_hash_util_set_int(h, "INTERVAL", d->interval);
  scr_hash_util_set_int(h, "OUTPUT", d->output);
  scr_hash_util_set_str(h, "BASE", d->store);
  scr_hash_util_set_str(h, "VIEW", d->global ? "GLOBAL" : "PRIVATE");
  scr_hash_util_set_int(h, "MKDIR", d->can_mkdir);
  scr_hash_util_set_str(h, "TYPE", scr_scheme_name(d->scheme));
  scr_hash_util_set_str(h, "GROUP", d->group);
  scr_hash_util_set_int(h, "SET_SIZE", d->size_wanted);
  scr_hash_util_set_int(h, "SET_FAILURES", d->failures);
  scr_hash_util_set_int(h, "HOP_DISTANCE", d->hop);
  scr_hash_util_set_int(h, "GROUPS", d->sets);
  scr_hash_util_set_int(h, "GROUP_ID", d->set_id);
  scr_hash_util_set_int(h, "GROUP_SIZE", d->set_size);
  scr_hash_util_set_int(h, "GROUP_RANK", d->set_rank);
  for (i = 0; i < d->set_size; i++) scr_hash_setf(h, NULL, "%s %d %d", "MEMBER", i, d->member[i]);
}

/* Read the list of members from H; each is a rank below RANKS. */
SCR_FN int scr_reddesc_read_members(const scr_hash* h, scr_reddesc* d, int ranks)
{
  char key[16];
  int  i;

  d->member = (int*)scr_malloc((size_t)d->set_size * sizeof *d->member);
  if (d->member == NULL) return SCR_ERR_OOM();
  for (i = 0; i < d->set_size; i++) {
    snprintf(key, sizeof key, "%d", i);
    if (scr_hash_util_get_int(scr_hash_get(h, "MEMBER"), key, &d->member[i]) != SCR_SUCCESS || d->member[i] < 0 ||
        d->member[i] >= ranks)
      return SCR_ERR(SCR_ERR_FORMAT, "a stored redundancy descriptor names no rank for member %d", i);
  }
  return SCR_SUCCESS;
}

/*
** Read D from H, for a dataset that RANKS ranks wrote; the caller frees D, on an error too.  SCR_ERR_FORMAT if H is not
** consistent.  A stored descriptor is enough to find the dataset again, whatever the parameters are now.
*/
SCR_FN int scr_reddesc_read(const scr_hash* h, scr_reddesc* d, int ranks)
{
  const char *type = NULL, *store = NULL;
  int         rc;

  memset(d, 0, sizeof *d);
  if (scr_hash_util_get_str(h, "TYPE", &type) != SCR_SUCCESS ||
      scr_hash_util_get_str(h, "BASE", &store) != SCR_SUCCESS ||
      scr_hash_util_get_int(h, "GROUP_SIZE", &d->set_size) != SCR_SUCCESS || d->set_size < 1 || d->set_size > ranks ||
      d->set_size > SCR_SET_SIZE_MAX || scr_hash_util_get_int(h, "GROUP_RANK", &d->set_rank) != SCR_SUCCESS ||
      d->set_rank < 0 || d->set_rank >= d->set_size ||
      scr_hash_util_get_int(h, "GROUP_ID", &d->set_id) != SCR_SUCCESS) {
    d->set_size = 0;
    return SCR_ERR(SCR_ERR_FORMAT, "a stored redundancy descriptor is damaged");
  }
  d->enabled = 1;
  d->index = scr_hash_int_or(h, "INDEX", 0);
  d->interval = scr_hash_int_or(h, "INTERVAL", 1);
  d->output = scr_hash_int_or(h, "OUTPUT", 0);
  d->size_wanted = scr_hash_int_or(h, "SET_SIZE", d->set_size);
  d->hop = scr_hash_int_or(h, "HOP_DISTANCE", 1);
  d->sets = scr_hash_int_or(h, "GROUPS", 1);
  d->can_mkdir = scr_hash_int_or(h, "MKDIR", 1);
  d->global = strcmp(scr_hash_str_or(h, "VIEW", "PRIVATE"), "GLOBAL") == 0;
  d->group = scr_strdup(scr_hash_str_or(h, "GROUP", "NODE"));
  d->store = scr_strdup(store);
  if ((rc = scr_reddesc_read_members(h, d, ranks)) != SCR_SUCCESS) return rc;
  if (scr_scheme_from_name(type, &d->scheme) != SCR_SUCCESS) return SCR_ERR_FORMAT;
  d->failures = d->scheme == SCR_SCHEME_SINGLE ? 0 : scr_hash_int_or(h, "SET_FAILURES", 1);
  if ((d->scheme != SCR_SCHEME_SINGLE && (d->set_size < 2 || d->failures < 1 || d->failures >= d->set_size)) ||
      (d->scheme == SCR_SCHEME_RS && d->set_size + d->failures > 256))
    return SCR_ERR(SCR_ERR_FORMAT, "a stored redundancy descriptor is damaged: %s with %d members and %d failures",
                   type, d->set_size, d->failures);
  return scr_oom ? SCR_ERR_OOM() : SCR_SUCCESS;
}

/* ---- where the files of a dataset lie ---- */

/* The names of this node's directories, the same below every base. */
typedef struct {
  char user[256], job[256], host[256];
  int  suffix; /* the n of scr.<job>.<n>; 0 for none */
  int  shared; /* 1: several nodes see each base, so each node has a directory node.<host> of its own */
} scr_home;

/*
** The directory of H with SUFFIX, relative to a base: <user>/scr.<job>[.<n>][/node.<host>].  The last component is
** there if several nodes see the base, as GLOBAL or h->shared tells.
*/
SCR_FN int scr_home_below(const scr_home* h, int global, int suffix, char* out, size_t n)
{
  char tail[32] = "";

  if (suffix > 0) snprintf(tail, sizeof tail, ".%d", suffix);
  if (global || h->shared) return scr_fmt(out, n, "%s/scr.%s%s/node.%s", h->user, h->job, tail, h->host);
  return scr_fmt(out, n, "%s/scr.%s%s", h->user, h->job, tail);
}

/*
** The path on this node of REL, a path below the directory of dataset ID with descriptor D ("" for that directory).  In
** a store with MKDIR=0 each path becomes one file name in the base directory.
*/
SCR_FN int scr_home_path(const scr_home* h, const scr_reddesc* d, int id, const char* rel, char* path, size_t n)
{
  char below[SCR_MAX_FILENAME], whole[SCR_MAX_FILENAME], flat[SCR_MAX_FILENAME];
  int  rc = scr_home_below(h, d->global, h->suffix, below, sizeof below);

  if (rc == SCR_SUCCESS) rc = scr_fmt(whole, sizeof whole, "%s/scr.dataset.%d%s%s", below, id, *rel ? "/" : "", rel);
  if (rc != SCR_SUCCESS) return rc;
  if (d->can_mkdir) return scr_fmt(path, n, "%s/%s", d->store, whole);
  if ((rc = scr_path_flatten(whole, flat, sizeof flat)) != SCR_SUCCESS) return rc;
  return scr_fmt(path, n, "%s/%s", d->store, flat);
}

/* Check one directory against D5. */
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

/* Create the components of REL below BASE, for this user only.  Those that exist are checked (D5). */
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

/*
** Create the directory of dataset ID and its .scr, for this user only.  Several ranks of a node may call it at the same
** time.
*/
SCR_FN int scr_home_mkdir(const scr_home* h, const scr_reddesc* d, int id)
{
  char below[SCR_MAX_FILENAME], whole[SCR_MAX_FILENAME];
  int  rc;

  if (!d->can_mkdir) return SCR_SUCCESS;
  rc = scr_home_below(h, d->global, h->suffix, below, sizeof below);
  if (rc == SCR_SUCCESS) rc = scr_fmt(whole, sizeof whole, "%s/scr.dataset.%d/.scr", below, id);
  return rc == SCR_SUCCESS ? scr_private_mkdir(d->store, whole) : rc;
}

/*
** In a store with MKDIR=0, where others may write to the directory of PATH: create PATH for this user only.  An
** existing file is accepted if it is a regular file of this user with a single link.  Otherwise SCR_ERR_UNSAFE:
** somebody else may have placed it to read or redirect what would be written.
*/
SCR_FN int scr_home_claim(const scr_reddesc* d, const char* path)
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
                 "%s exists already, and is %s; remove it, or choose a store that others cannot write to", path,
                 S_ISLNK(st.st_mode)      ? "a symbolic link"
                 : !S_ISREG(st.st_mode)   ? "not a regular file"
                 : st.st_uid != geteuid() ? "another user's"
                                          : "known by a second name, a hard link");
}

/* ---- entry ---- */

#define SCR_JOB_KEY_MAX 288 /* bytes of a text that tells jobs apart (scr_world_job_key), with its NUL */

/* What has been decided about a dataset; of two decisions the later in this list counts. */
typedef enum {
  SCR_MARK_NONE,
  SCR_MARK_REJECTED, /* the application could not restart from it */
  SCR_MARK_PASSED,   /* the user chose an older one, or a fresh start */
  SCR_MARK_LEAVING   /* it is being deleted */
} scr_mark;

/* What one rank wrote of one dataset.  All zeros is an empty entry. */
typedef struct {
  int         owner;
  scr_desc    desc;
  scr_reddesc red; /* the owner's view of its set; set_size is 0 if not known */
  scr_file*   file;
  int         files;
  int*        slot; /* [slots]: hash table of the files by name, holding index + 1; NULL while there are few */
  int         slots;
  int         listed;   /* 1: file[] has every file of the owner, its redundancy file included */
  int         bypass;   /* 1: its files are being written on the prefix, under temporary names */
  int         verified; /* 1: a run has verified at its start that the dataset is whole */
  scr_mark    mark;
  char        rejected_by[SCR_JOB_KEY_MAX]; /* if it is REJECTED: the key of the job; "" if that is not known */
  int         preserve;                     /* SCR_PRESERVE_DIRECTORIES of the run that wrote it, */
  int         container;                    /* SCR_USE_CONTAINERS, */
  char        partner
      [256]; /* and the host of the right neighbour, which also lists these files; "" for none; both for a scavenge */
} scr_entry;

/* Remove all files from E. */
SCR_FN void scr_entry_clear(scr_entry* e)
{
  while (e->files > 0) scr_file_free(&e->file[--e->files]);
  scr_free(&e->file);
  scr_free(&e->slot);
  e->slots = e->listed = 0;
}

SCR_FN void scr_entry_free(scr_entry** e)
{
  if (*e == NULL) return;
  scr_entry_clear(*e);
  scr_reddesc_free(&(*e)->red);
  scr_free(e);
}

/* The slot of E that holds the name REL, or would hold it. */
SCR_FN int* scr_entry_slot(const scr_entry* e, const char* rel)
{
  uint32_t at = scr_hash_of_key(rel);

  for (;; at++) {
    int* slot = &e->slot[at & (uint32_t)(e->slots - 1)];
    if (*slot == 0 || strcmp(e->file[*slot - 1].rel, rel) == 0) return slot;
  }
}

/* The file REL of E, or NULL. */
SCR_FN scr_file* scr_entry_find(const scr_entry* e, const char* rel)
{
  int i;

  if (e->slots > 0) return *scr_entry_slot(e, rel) ? &e->file[*scr_entry_slot(e, rel) - 1] : NULL;
  for (i = 0; i < e->files; i++)
    if (strcmp(e->file[i].rel, rel) == 0) return &e->file[i];
  return NULL;
}

/* Make room in E for one more file, and keep at least twice as many slots as files.  Returns 0 without memory. */
SCR_FN int scr_entry_grow(scr_entry* e)
{
  int i, n = 2 * e->files;

  if (!scr_grow(&e->file, e->files, sizeof *e->file)) return 0;
  if (n < 16 || (e->files & (e->files - 1)) != 0) return 1; /* the slots grow with the allocated size */
  scr_free(&e->slot);
  e->slots = 0;
  e->slot = (int*)scr_malloc(2 * (size_t)n * sizeof *e->slot);
  if (e->slot == NULL) return 0;
  e->slots = 2 * n;
  for (i = 0; i < e->files; i++) *scr_entry_slot(e, e->file[i].rel) = i + 1;
  return 1;
}

/* Add a copy of F to E, replacing a record of the same path.  Returns the new record, or NULL without memory. */
SCR_FN scr_file* scr_entry_add(scr_entry* e, const scr_file* f)
{
  scr_file *there = scr_entry_find(e, f->rel), copy;

  if (there == NULL && !scr_entry_grow(e)) return NULL;
  scr_file_dup(&copy, f); /* first copied: F may be the record that is replaced */
  if (scr_oom) {
    scr_file_free(&copy);
    return NULL;
  }
  if (there != NULL) {
    scr_file_free(there);
  } else {
    there = &e->file[e->files++];
    if (e->slots > 0) *scr_entry_slot(e, copy.rel) = e->files;
  }
  *there = copy;
  return there;
}

/* A new copy of E, or NULL without memory. */
SCR_FN scr_entry* scr_entry_dup(const scr_entry* e)
{
  scr_entry* to = (scr_entry*)scr_malloc(sizeof *to);
  int        i;

  if (to == NULL) return NULL;
  *to = *e;
  to->file = NULL;
  to->slot = NULL;
  to->files = to->slots = 0;
  scr_reddesc_dup(&to->red, &e->red);
  for (i = 0; i < e->files; i++) scr_entry_add(to, &e->file[i]);
  if (scr_oom) scr_entry_free(&to);
  return to;
}

/* E has N files from now on, the first ones of file[]; the caller has freed the others. */
SCR_FN void scr_entry_cut(scr_entry* e, int n)
{
  int i;

  e->files = n;
  if (e->slots > 0) memset(e->slot, 0, (size_t)e->slots * sizeof *e->slot);
  for (i = 0; i < n && e->slots > 0; i++) *scr_entry_slot(e, e->file[i].rel) = i + 1;
}

/* Remove the application's files from E if DATA is set, and its redundancy files if RED is set. */
SCR_FN void scr_entry_forget(scr_entry* e, int data, int red)
{
  int i, n = 0;

  for (i = 0; i < e->files; i++)
    if (e->file[i].kind == SCR_FILE_APPLICATION ? data : red) scr_file_free(&e->file[i]);
    else e->file[n++] = e->file[i];
  scr_entry_cut(e, n);
}

/* The path of the file REL of entry E on this node. */
SCR_FN int scr_entry_path(const scr_home* h, const scr_entry* e, const char* rel, char* path, size_t n)
{
  if (e->red.set_size == 0)
    return SCR_ERR(SCR_ERR_FORMAT, "the record of rank %d in dataset %d does not say where its files lie", e->owner,
                   e->desc.identity.id);
  return scr_home_path(h, &e->red, e->desc.identity.id, rel, path, n);
}

/*
** Prepare the place of the file F of entry E on this node: check that its path stays inside the dataset, create its
** directories, claim its name, and record it in the entry.  PATH, of SCR_MAX_FILENAME bytes, receives its path.
*/
SCR_FN int scr_entry_place(const scr_home* h, scr_entry* e, const scr_file* f, char* path)
{
  const char* slash = strrchr(f->rel, '/');
  char        sub[SCR_MAX_FILENAME], dir[SCR_MAX_FILENAME];
  int         rc;

  if (!scr_path_is_safe_rel(f->rel))
    return SCR_ERR(SCR_ERR_FORMAT, "a record names a file outside of its dataset: %.200s", f->rel);
  if (e->red.can_mkdir && slash != NULL) {
    rc = scr_fmt(sub, sizeof sub, "%.*s", (int)(slash - f->rel), f->rel);
    if (rc == SCR_SUCCESS) rc = scr_entry_path(h, e, sub, dir, sizeof dir);
    if (rc == SCR_SUCCESS) rc = scr_mkdirs(dir, 0700);
    if (rc != SCR_SUCCESS) return rc;
  }
  if ((rc = scr_entry_path(h, e, f->rel, path, SCR_MAX_FILENAME)) != SCR_SUCCESS) return rc;
  if ((rc = scr_home_claim(&e->red, path)) != SCR_SUCCESS) return rc;
  return scr_entry_add(e, f) == NULL ? SCR_ERR_OOM() : SCR_SUCCESS;
}

/* ---- the forms of an entry ---- */

/* Write E to H, an empty hash, in the form of a filemap, which names files by their paths on the node of HOME. */
SCR_FN int scr_entry_write(scr_hash* h, const scr_entry* e, const scr_home* home)
{
  scr_hash* flush;
  char      path[SCR_MAX_FILENAME];
  int       i;

  scr_desc_write(scr_hash_set(h, "DSETDESC", scr_hash_new()), &e->desc);
  if (e->red.set_size > 0) scr_reddesc_write(scr_hash_set(h, "REDDESC", scr_hash_new()), &e->red);
  flush = scr_hash_set(h, "FLUSH", scr_hash_new());
  scr_hash_util_set_int(flush, "PRESERVE", e->preserve);
  scr_hash_util_set_int(flush, "CONTAINER", e->container);
  if (*e->partner) scr_hash_util_set_str(flush, "PARTNER", e->partner);
  for (i = 0; i < e->files; i++) {
    const char* key = e->file[i].rel; /* where a file lies that has no path, nobody knows */
    scr_hash*   file;
    if (e->red.set_size > 0 && scr_entry_path(home, e, key, path, sizeof path) == SCR_SUCCESS) key = path;
    file = scr_hash_set_kv(h, "FILE", key);
    scr_file_write(scr_hash_set(file, "META", scr_hash_new()), &e->file[i]);
  }
  if (e->bypass) scr_hash_util_set_int(h, "BYPASS", 1);
  if (e->listed) scr_hash_util_set_int(h, "FILES", e->files);
  if (e->verified) scr_hash_util_set_int(h, "TAKEN", 1);
  if (e->mark == SCR_MARK_REJECTED) scr_hash_util_set_int(h, "FAILED", 1);
  if (e->mark == SCR_MARK_REJECTED && *e->rejected_by) scr_hash_util_set_str(h, "FAILED_JOB", e->rejected_by);
  if (e->mark == SCR_MARK_PASSED) scr_hash_util_set_int(h, "PASSED", 1);
  if (e->mark == SCR_MARK_LEAVING) scr_hash_util_set_int(h, "LEAVING", 1);
  return scr_oom ? SCR_ERR_OOM() : SCR_SUCCESS;
}

/*
** A new entry of OWNER in dataset ID, read from H in the form of a filemap; NULL without memory.  Records in it that
** are not consistent are left out with a warning; the entry is then not `listed`.
*/
SCR_FN scr_entry* scr_entry_read(const scr_hash* h, int owner, int id)
{
  scr_entry*           e = (scr_entry*)scr_malloc(sizeof *e);
  const scr_hash*      desc = scr_hash_get(h, "DSETDESC");
  const scr_hash*      flush = scr_hash_get(h, "FLUSH");
  const scr_hash_elem* f;
  int                  whole = 1;

  if (e == NULL) return NULL;
  e->owner = owner;
  scr_desc_read(desc != NULL ? desc : scr_hash_get(h, "DATADESC"), &e->desc); /* older versions wrote DATADESC */
  e->desc.identity.id = id;
  if (scr_hash_get(h, "REDDESC") != NULL &&
      scr_reddesc_read(scr_hash_get(h, "REDDESC"), &e->red, e->desc.ranks) != SCR_SUCCESS) {
    scr_warn("dataset %d, rank %d: %s", id, owner, scr_err_text);
    scr_reddesc_free(&e->red);
  }
  for (f = scr_hash_elem_first(scr_hash_get(h, "FILE")); f != NULL && !scr_oom; f = scr_hash_elem_next(f)) {
    scr_file file;
    memset(&file, 0, sizeof file);
    if (scr_file_read(scr_hash_get(scr_hash_elem_hash(f), "META"), &file) == SCR_SUCCESS) {
      scr_entry_add(e, &file);
    } else {
      whole = 0;
      if (!scr_oom) scr_warn("dataset %d, rank %d: %s", id, owner, scr_err_text);
    }
    scr_file_free(&file);
  }
  e->listed = whole && e->files == scr_hash_int_or(h, "FILES", -1);
  e->bypass = scr_hash_get(h, "BYPASS") != NULL;
  e->verified = scr_hash_get(h, "TAKEN") != NULL;
  if (scr_hash_get(h, "FAILED") != NULL) e->mark = SCR_MARK_REJECTED;
  if (scr_hash_get(h, "PASSED") != NULL) e->mark = SCR_MARK_PASSED;
  if (scr_hash_get(h, "LEAVING") != NULL) e->mark = SCR_MARK_LEAVING;
  scr_desc_read_str(h, "FAILED_JOB", e->rejected_by, sizeof e->rejected_by);
  e->preserve = scr_hash_int_or(flush, "PRESERVE", 1);
  e->container = scr_hash_int_or(flush, "CONTAINER", 0);
  scr_desc_read_str(flush, "PARTNER", e->partner, sizeof e->partner);
  if (scr_oom) scr_entry_free(&e);
  return e;
}

/*
** Write the application's files of E to H, an empty hash, in the form in which a redundancy header describes a member.
*/
SCR_FN void scr_entry_write_member(scr_hash* h, const scr_entry* e)
{
  int i, n = 0;

  for (i = 0; i < e->files; i++) n += e->file[i].kind == SCR_FILE_APPLICATION;
  scr_hash_util_set_int(h, "RANK", e->owner);
  scr_hash_util_set_int(h, "FILES", n);
  for (i = 0, n = 0; i < e->files; i++)
    if (e->file[i].kind == SCR_FILE_APPLICATION) scr_file_write(scr_hash_set_kv_int(h, "FILE", n++), &e->file[i]);
}

/*
** Replace the files of E by those that H, the description of a member in a redundancy header, lists for E's owner.  On
** SCR_ERR_FORMAT E has no files.
*/
SCR_FN int scr_entry_read_member(const scr_hash* h, scr_entry* e)
{
  int i, n = scr_hash_int_or(h, "FILES", -1), rc = SCR_SUCCESS;

  scr_entry_clear(e);
  if (n < 0 || n != scr_hash_size(scr_hash_get(h, "FILE")) || scr_hash_int_or(h, "RANK", -1) != e->owner)
    return SCR_ERR(SCR_ERR_FORMAT, "a redundancy file does not list the files of rank %d", e->owner);
  for (i = 0; i < n && rc == SCR_SUCCESS; i++) {
    scr_file file;
    memset(&file, 0, sizeof file);
    rc = scr_file_read(scr_hash_get_kv_int(h, "FILE", i), &file);
    if (rc == SCR_SUCCESS && scr_entry_add(e, &file) == NULL) rc = SCR_ERR_OOM();
    if (rc == SCR_SUCCESS && e->files != i + 1)
      rc = SCR_ERR(SCR_ERR_FORMAT, "a redundancy file lists the file %s of rank %d twice", file.rel, e->owner);
    scr_file_free(&file);
  }
  if (rc != SCR_SUCCESS) scr_entry_clear(e);
  return rc;
}

/* ==== 09 KERNELS ========================================================================================
** The inner loops over bytes: CRC32, and sums of products over GF(2^8), of which XOR is the simplest case; and the
** Reed-Solomon mathematics that computes the factors.
**
** Each loop has a portable form, and faster forms for particular processors.  These are compiled with target
** attributes, so the build line needs no flags, and the first call selects the best one that the processor supports.
** -DSCR_PLAIN_KERNELS leaves out all but the portable ones, for compilers that cannot compile the others.
**
** Uses       errors
** Offers     scr_crc32, scr_crc32_combine, scr_gf_sum, scr_gf_mad_one, scr_rs_matrix, scr_rs_row, scr_rs_chunk,
**            scr_rs_solve
** Invariants
**   K1  scr_crc32 equals zlib's crc32 for any length, alignment and start.
**   K2  All kernels produce the same bytes, and none reads or writes a byte outside its N.
**   K3  GF(2^8) has the polynomial x^8 + x^4 + x^3 + x^2 + 1 (0x11D).
**   K4  Several threads may make the first call at once: values kept for later calls are read and written whole, and
**       every thread computes the same ones.
**   K5  Every square submatrix of a matrix of scr_rs_matrix is invertible, so any k lost symbols of a position can be
**       rebuilt.
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

typedef uint64_t scr_wide SCR_VECTOR(16); /* one vector register, or two words on processors without one */

#define SCR_CRC32_START 0u
#define SCR_GF_GROUP    8 /* sources that one pass over the destination adds up */

/* The CRC32 of bytes whose CRC32 is CRC, followed by the N > 0 bytes at P. */
typedef uLong (*scr_crc_kernel)(uLong crc, const unsigned char* p, size_t n);

/*
** D[x..N) = sum of COEF[i] * S[i][x..N) over SOURCES sources, 1 to SCR_GF_GROUP, plus the old D if ADD.  The kernel
** works in whole steps of its width and returns the offset where it stopped, less than one step before N.
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
    uint64_t over = v >> 7 & UINT64_C(0x0101010101010101); /* x^8 = x^4 + x^3 + x^2 + 1 */
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
    if (add) memcpy(&sum, d + x, 8); /* a memcpy of fixed size compiles to one load, whatever the alignment */
    for (i = 0; i < sources; i++) {
      memcpy(&v, s[i] + x, 8);
      sum ^= scr_gf_mul_word(v, coef[i]);
    }
    memcpy(d + x, &sum, 8);
  }
  return x;
}

/* The sum of sources whose factors are all 1; works on any processor.  COEF is not used. */
SCR_FN size_t scr_gf_ones(unsigned char* d, const unsigned char* const* s, const unsigned char* coef, int sources,
                          size_t x, size_t n, int add)
{
  const size_t w = sizeof(scr_wide);
  int          i;

  (void)coef;
  for (; n - x >= 2 * w; x += 2 * w) {
    const unsigned char* p = add ? d : s[0];
    scr_wide             sum, two, v, u; /* not an array, so that compilers keep them in registers */
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
** The products of C with each low half-byte and with each high half-byte: a shuffle instruction looks up 16 or more of
** them at once (Plank et al., "Screaming Fast Galois Field Arithmetic Using Intel SIMD Instructions", FAST 2013).
** Little-endian only.
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
** left, whose CRC is that of all bytes.
**
** zlib's bit order is reversed: bit i of a 64-bit word is x^(63-i).  The product of two such words, read as 128 bits in
** the same order, has one factor x too many; so the factor of the high word is x^(D-1), and that of the low word, which
** stands 64 bits before it, is x^(D+63).
*/

/* x^N modulo the polynomial, in reversed bits; never 0. */
SCR_FN uint64_t scr_crc_power(int n)
{
  uint32_t v = UINT32_C(0x80000000);

  while (n-- > 0) v = v >> 1 ^ (v & 1 ? UINT32_C(0xedb88320) : 0);
  return (uint64_t)v << 32;
}

/* The factors that fold by 128 << I bits, I < 4: K[0] for the low word, K[1] for the high word. */
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

/* The CRC32 of the 16 bytes A, into which all earlier bytes are folded, followed by the N bytes at P. */
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
  return crc32_z(UINT32_C(0xffffffff), last,
                 (z_size_t)(16 + n)); /* 0xffffffff makes zlib's register 0: A already includes the initial value */
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
** The matrix for gf2p8affineqb that multiplies by C, which is linear in the bits of the other factor.  The instruction
** expects the row of bit i in byte 7 - i; bit j of that row is bit i of C * x^j.
*/
SCR_FN uint64_t scr_gf_bits(unsigned char c)
{
  uint64_t columns = scr_gf_mul_word(UINT64_C(0x8040201008040201), c), rows = 0;
  int      i;

  for (i = 0; i < 8; i++) {
    uint64_t spread = columns >> i & UINT64_C(0x0101010101010101); /* the multiplication moves bit 8j to bit 56 + j */
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
    __asm__(".arch_extension crc\n\tcrc32x %w0, %w0, %x1"
            : "+r"(sum)
            : "r"(v)); /* assembly, because the intrinsic needs a compiler flag */
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
  scr_crc_kernel crc; /* NULL: use the next row that has one */
  scr_gf_kernel  mad;
} scr_kernel;

/* Best first.  The last row has both kernels and works everywhere. */
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

SCR_FN scr_crc_kernel scr_crc_select(void)
{
  static scr_crc_kernel kept;
  scr_crc_kernel        f = SCR_SHARED_GET(kept);
  const scr_kernel*     k = scr_kernels;

  if (f != NULL) return f;
  while (k->crc == NULL || !k->available()) k++;
  SCR_SHARED_SET(kept, k->crc);
  return k->crc;
}

SCR_FN scr_gf_kernel scr_gf_select(void)
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

/* The CRC32 of bytes whose CRC32 is CRC, followed by the N bytes at P.  The first call passes SCR_CRC32_START. */
SCR_FN uLong scr_crc32(uLong crc, const void* p, size_t n)
{
  return n == 0 ? crc : scr_crc_select()(crc, (const unsigned char*)p, n);
}

/* The CRC32 of two pieces, one after the other, from the CRC32 of each; the second has N bytes. */
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

/* DST = sum of COEF[i] * SRC[i] by the kernel MAD, plus the old DST if ADD. */
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

/*
** DST = sum of COEF[i] * SRC[i] over SOURCES buffers of N bytes, none of which overlaps DST; all zeros if SOURCES is 0.
*/
SCR_FN void scr_gf_sum(void* dst, const void* const* src, const unsigned char* coef, int sources, size_t n)
{
  scr_gf_run(scr_gf_select(), dst, src, coef, sources, n, 0);
}

/* DST ^= C * SRC over N bytes; the buffers do not overlap. */
SCR_FN void scr_gf_mad_one(void* dst, const void* src, unsigned char c, size_t n)
{
  scr_gf_run(scr_gf_select(), dst, &src, &c, 1, n, 1);
}

/* 1 / A; 0 for 0. */
SCR_FN unsigned char scr_gf_inv(unsigned char a)
{
  unsigned char v = 1;
  int           i;

  for (i = 0; i < 7; i++) { /* 1/a is a^254, because a^255 is 1; 254 is 11111110 in binary */
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
** Compute M, the k x n parity rows of a set of N members with K parities.  For K = 1 all entries are 1, which is XOR.
** Otherwise they are rows n..n+k-1 of the (n + k) x n matrix i^j, after column operations that turn its top into the
** identity.  Column j is then the polynomial of degree < n that is 1 at j and 0 at the other points below n.
** Lagrange: m(e, j) = prod (n+e - l) / (n+e - j) / prod (j - l), with l < n, and l != j in the last product.
** Differences are XORs.  Each entry is u(e) * v(j) / (x(e) - y(j)): a Cauchy matrix with scaled rows and columns,
** hence K5.  SCR_ERR_PARAM unless 1 <= k < n and n + k <= 256.
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

/* The parity row that member R holds at position C; -1 if it holds data there. */
SCR_FN int scr_rs_row(int n, int k, int r, int c)
{
  int e = (c - r + n) % n;
  return e < k ? e : -1;
}

/* The number, 0 to n-k-1, of the chunk that member R holds at position C, where it must hold data. */
SCR_FN int scr_rs_chunk(int n, int k, int r, int c)
{
  int e, chunk = c;

  for (e = 0; e < k; e++) chunk -= (r + e) % n < c;
  return chunk;
}

/* Set ROW to the factors of the equation of parity E at position C: the sum of all factors times symbols is 0. */
SCR_FN void scr_rs_equation(int n, int k, const unsigned char* m, int c, int e, unsigned char* row)
{
  int s;

  for (s = 0; s < n; s++) row[s] = scr_rs_row(n, k, s, c) < 0 ? m[e * n + s] : scr_rs_row(n, k, s, c) == e;
}

/* Solve the D equations in rows T[0..D) of COEF for the symbols T[0..D) by Gauss-Jordan elimination. */
SCR_FN int scr_rs_eliminate(int n, unsigned char* coef, const int* t, int d)
{
  int i, j, s;

  for (i = 0; i < d; i++) {
    unsigned char* row = coef + t[i] * n;
    unsigned char  by = scr_gf_inv(row[t[i]]);
    if (by == 0)
      return SCR_ERR(SCR_ERR_ARG, "the matrix is not of a Reed-Solomon code"); /* K5: no row exchange is ever needed */
    for (s = 0; s < n; s++) row[s] = scr_gf_mul(row[s], by);
    for (j = 0; j < d; j++)
      if (j != i) scr_gf_mad_one(coef + t[j] * n, row, coef[t[j] * n + t[i]], (size_t)n);
  }
  for (i = 0; i < d; i++) coef[t[i] * n + t[i]] = 0; /* solved: symbol = sum of the others */
  return SCR_SUCCESS;
}

/*
** Express the symbols at position C of the members with ERASED[r] != 0 by those of the other members: in the n x n
** matrix COEF, the row of each erased t is set so that symbol(t) = sum of coef[t * n + s] * symbol(s), with factor 0
** for erased s.  M is a matrix of scr_rs_matrix.
**
** To encode, treat the k members that hold parity at C as erased.  SCR_ERR_LOST if more than K members are erased.
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
  for (e = 0; e < k && used < d; e++) { /* one parity that is not erased for each erased data symbol */
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
** Many files as one stream of bytes, followed by zeros; the CRC32 of each file is computed as its bytes pass.  Also
** copies and checksums of whole files.
**
** Uses       platform, errors, memory, path, hash files, dataset, kernels
** Offers     scr_window_seg, scr_window, scr_extent, scr_job, scr_pace, scr_extents, scr_copy_item, scr_copy_target,
**            scr_copy_list; scr_window_close, scr_window_free, scr_window_open, scr_window_length, scr_window_fd,
**            scr_window_find, scr_window_read, scr_window_write, scr_hole_end, scr_extent_crc,
**            scr_file_crc, scr_file_has_crc, scr_window_crc, scr_job_start, scr_job_is_done, scr_helper_is_idle,
**            scr_job_wait, scr_helper_end, scr_extents_free, scr_extents_add, scr_extents_whole, scr_copy_leave,
**            scr_file_make, scr_copy_one, scr_copy_list_make, scr_copy_list_free, scr_copy_list_add,
**            scr_copy_list_run, scr_file_check
** Invariants
**   W1  The stream is file 0, file 1, ... in the given order, then zeros without end.  Any range of it can be read or
**       written; only zeros may be written past the end of the files.
**   W2  Several lanes of the stream, the chunks of a redundancy set, may be read or written in parallel.  If each lane
**       is passed once from its start to its end, the CRC32 of each file is known at the end without a second pass.
**   W3  A file that is shorter than its stated size is an error; it never reads as zeros.
**   W4  A new file (O_TRUNC) gets its size at the start, and each byte is written at most once: zeros stay holes.
**   W5  Only scr_copy_list_work and the jobs of the helper run in threads other than the caller's.  They use
**       nothing but their arguments and the table of system calls, and never MPI.  Each thread has its own error record
**       and scr_oom; they are merged when the work has ended.
** Failure    An error code; files keep what was written so far.
** ====================================================================================================== */

#define SCR_WINDOW_FDS 16 /* files that a window keeps open */

/* A part of the stream that lies in a single file and a single lane. */
typedef struct {
  uint64_t begin, end; /* offsets in the stream */
  uint64_t done;       /* first byte that the CRC does not cover yet; UINT64_MAX after bytes came out of order */
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
  char*           seen; /* which files were opened before: only the first open may truncate */
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

/* Close the files.  Paths and checksums stay until scr_window_free. */
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
  for (i = 0; w->path != NULL && i < w->count; i++) scr_free(&w->path[i]);
  scr_free(&w->path);
  scr_free(&w->size);
  scr_free(&w->start);
  scr_free(&w->seen);
  scr_free(&w->seg);
  w->count = w->segs = 0;
}

/* Divide the stream into segments, which begin at each file and at each multiple of LANE. */
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
** Make W a window over COUNT files of the given sizes in bytes.  Each file is opened on first use, with FLAGS
** (O_RDONLY, or O_RDWR | O_CREAT | ... for writing) and MODE.  LANES is the number of lanes and LANE the length of each
** in bytes, 0 for a single one.  The caller calls scr_window_free, after an error too.
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
  w->seg = (scr_window_seg*)scr_malloc(((size_t)count + (size_t)lanes + 1) * sizeof *w->seg);
  if (w->path == NULL || w->size == NULL || w->start == NULL || w->seen == NULL || w->seg == NULL) {
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

/* The descriptor of file I, which is opened now unless it is open. */
SCR_FN int scr_window_fd(scr_window* w, int i, int* fd)
{
  int rc, slot = i % SCR_WINDOW_FDS;

  if (w->fd_file[slot] != i) {
    if ((rc = scr_window_close_fd(w, slot)) != SCR_SUCCESS) return rc;
    if (w->flags == O_RDONLY) {
      if ((rc = scr_file_open(w->path[i], &w->fd[slot])) != SCR_SUCCESS) return rc;
    } else {
      w->fd[slot] = scr_os.open(w->path[i], w->seen[i] ? w->flags & ~O_TRUNC : w->flags, w->mode);
      if (w->fd[slot] < 0) return SCR_ERRNO("cannot open %s", w->path[i]);
    }
    w->fd_file[slot] = i;
    if (!w->seen[i] && w->flags & O_TRUNC && scr_os.ftruncate(w->fd[slot], (off_t)w->size[i]) < 0)
      return SCR_ERRNO("cannot give %s its size of %" PRIu64 " bytes", w->path[i], w->size[i]);
    w->seen[i] = 1;
  }
  *fd = w->fd[slot];
  return SCR_SUCCESS;
}

/* The segment that holds OFFSET, which lies inside the files: a binary search. */
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

SCR_FN void scr_window_sum(scr_window_seg* s, uint64_t offset, const void* p, size_t n)
{
  if (s->done != offset) s->done = UINT64_MAX; /* out of order: the CRC of this file needs a second pass */
  else {
    s->crc = scr_crc32(s->crc, p, n);
    s->done += n;
  }
}

/* Copy N bytes between BUF and the stream at OFFSET.  If SUM is set, the bytes count for the CRC32 of their files. */
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
                   "the data rebuilt for %s and the files with it does not end in zeros; a redundancy file of "
                   "their set is corrupt",
                   w->count > 0 ? w->path[w->count - 1] : "a rank without files");
  return SCR_SUCCESS;
}

/* Read N bytes of the stream at OFFSET into BUF.  If SUM is set, they count for the CRC32 of their files. */
SCR_FN int scr_window_read(scr_window* w, uint64_t offset, void* buf, size_t n, int sum)
{
  return scr_window_move(w, offset, (char*)buf, n, 0, sum);
}

/* Write the N bytes of BUF to the stream at OFFSET; they count for the CRC32 of their files. */
SCR_FN int scr_window_write(scr_window* w, uint64_t offset, void* buf, size_t n)
{
  return scr_window_move(w, offset, (char*)buf, n, 1, 1);
}

/* ---- files with holes ---- */

#define SCR_HOLES_LEAST (1 << 20) /* smallest file, in bytes, for which looking for holes pays */

/* The first offset from AT on that is not in a hole of the file FD; END if there is none before END. */
SCR_FN uint64_t scr_hole_end(int fd, uint64_t at, uint64_t end)
{
#ifdef SEEK_DATA
  struct stat st;
  off_t       data;

  if (fstat(fd, &st) < 0 || st.st_size < SCR_HOLES_LEAST || (uint64_t)st.st_size < end) return at;
  if ((uint64_t)st.st_blocks * 512 >= (uint64_t)st.st_size)
    return at; /* no holes: avoid a seek, which may wait for the disk */
  data = lseek(fd, (off_t)at, SEEK_DATA);
  if (data < 0) return errno == ENXIO ? end : at; /* on any other error, assume data */
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

/* LENGTH bytes of a file, from OFFSET on. */
typedef struct {
  char*    path;
  uint64_t offset, length;
} scr_extent;

/*
** Add the bytes of X to *CRC, the CRC32 of what is before them.  Holes count as zeros but are not read.  WHOLE: the
** file must end where X does.
*/
SCR_FN int scr_extent_crc(const scr_extent* x, int whole, uLong* crc)
{
  size_t      cap = 256 * 1024;
  char*       buf = (char*)scr_malloc(cap);
  uint64_t    at = x->offset, hole, end = x->offset + x->length;
  ssize_t     n = 0;
  struct stat st;
  int         fd, rc;

  if (buf == NULL) return SCR_ERR_OOM();
  rc = scr_file_open(x->path, &fd);
  if (rc == SCR_SUCCESS && fstat(fd, &st) < 0) rc = SCR_ERRNO("cannot look at %s", x->path);
  else if (rc == SCR_SUCCESS && (whole ? (uint64_t)st.st_size != end : (uint64_t)st.st_size < end))
    rc = SCR_ERR(SCR_ERR_MISSING, "%s has %jd bytes instead of %" PRIu64, x->path, (intmax_t)st.st_size, end);
  while (rc == SCR_SUCCESS && at < end) {
    hole = scr_hole_end(fd, at, end);
    *crc = scr_crc32_zeros(*crc, hole - at);
    at = hole;
    n = scr_pread_all(fd, buf, end - at < cap ? (size_t)(end - at) : cap, (off_t)at);
    if (n < 0) rc = SCR_ERRNO("cannot read %s", x->path);
    else if (n == 0 && at < end) rc = SCR_ERR(SCR_ERR_MISSING, "%s was truncated while it was read", x->path);
    else *crc = scr_crc32(*crc, buf, (size_t)n);
    at += n > 0 ? (uint64_t)n : 0;
  }
  if (fd >= 0) scr_os.close(fd);
  free(buf);
  return rc;
}

/* The CRC32 of the file PATH, which must have SIZE bytes. */
SCR_FN int scr_file_crc(const char* path, uint64_t size, uLong* crc)
{
  scr_extent x;

  x.path = (char*)path;
  x.offset = 0;
  x.length = size;
  *crc = SCR_CRC32_START;
  return scr_extent_crc(&x, 1, crc);
}

/*
** SCR_ERR_CRC unless the checksum CRC of the file PATH equals WANT; WHAT ends the message with what the difference
** means.
*/
SCR_FN int scr_file_has_crc(const char* path, uLong crc, uLong want, const char* what)
{
  if (crc == want) return SCR_SUCCESS;
  return SCR_ERR(SCR_ERR_CRC, "%s has the checksum 0x%08lx instead of 0x%08lx: %s", path, crc, want, what);
}

/*
** The CRC32 of file I: computed from the bytes that passed, or else, if they did not pass as in W2, by reading the
** file.
*/
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

/* ---- the helper: work behind the application's back ---- */

/*
** Start THREAD with WORK(ARG).  It blocks all signals, so that none of the application's handlers runs in it.  Returns
** 1 if it runs.
*/
SCR_FN int scr_thread_start(pthread_t* thread, void* (*work)(void* arg), void* arg)
{
#ifdef SCR_ONE_THREAD
  (void)thread, (void)work, (void)arg;
  return 0;
#else
  sigset_t all, before;
  int rc;

  sigfillset(&all);
  if (pthread_sigmask(SIG_BLOCK, &all, &before) != 0) return 0;
  scr_crc32(SCR_CRC32_START, "x", 1); /* selects the kernel before the thread starts */
  rc = pthread_create(thread, NULL, work, arg);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return rc == 0;
#endif
}

/* Work for the helper thread, which uses nothing but ARG and the table of system calls.  All zeros but work and arg. */
typedef struct scr_job {
  int (*work)(void* arg); /* returns an error code */
  void*           arg;
  int             done;
  int             rc; /* of the work, with its record, once it is done */
  scr_err_record  why;
  struct scr_job* next;
} scr_job;

/* The thread, which lives from the first job to scr_helper_end, and its queue; the lock protects all but the thread. */
static struct {
  pthread_mutex_t lock;
  pthread_cond_t  changed;
  pthread_t       thread;
  int             lives, ends;
  int             hurry; /* how many wait for a job: it then takes no pauses */
  scr_job*        first;
} scr_helper = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, 0, 0, NULL};

/* How much of the machine a copy in the background may take.  All zeros: all that it can get. */
typedef struct {
  double rate;                   /* bytes a second; 0: no limit */
  double share;                  /* of its time that it works, from 0 to 1; 0: no limit */
  void (*moved)(uint64_t bytes); /* called after each step, to show progress; may be NULL */
} scr_pace;

/*
** Pause after a step that has moved N bytes since START, as PACE wants, unless somebody waits for the helper.  Returns
** the time at which the next step begins.
*/
SCR_FN double scr_pace_pause(const scr_pace* pace, uint64_t n, double start)
{
  struct timespec until;
  double          now = scr_wtime(), end = now, worked = now - start;

  if (pace->moved != NULL) pace->moved(n);
  if (pace->rate > 0 && start + (double)n / pace->rate > end) end = start + (double)n / pace->rate;
  if (pace->share > 0 && pace->share < 1 && start + worked / pace->share > end) end = start + worked / pace->share;
  if (end <= now) return now;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += (time_t)(end - now);
  until.tv_nsec += (long)(1e9 * (end - now - (double)(time_t)(end - now)));
  until.tv_sec += until.tv_nsec / 1000000000;
  until.tv_nsec %= 1000000000;
  pthread_mutex_lock(&scr_helper.lock);
  while (scr_helper.hurry == 0 && pthread_cond_timedwait(&scr_helper.changed, &scr_helper.lock, &until) == 0) continue;
  pthread_mutex_unlock(&scr_helper.lock);
  return end < scr_wtime() ? end : scr_wtime(); /* what a pause was too long, the next is shorter */
}

/* Carry out JOB in this thread. */
SCR_FN void scr_job_run(scr_job* job)
{
  job->rc = job->work(job->arg);
  if (job->rc == SCR_SUCCESS && scr_oom) job->rc = SCR_ERR_OOM(); /* the thread that waits does not see it */
  if (job->rc != SCR_SUCCESS) scr_err_save(&job->why);
}

/* The helper thread: carries out one job after the other, until the queue is empty and it is to end. */
SCR_FN void* scr_helper_main(void* arg)
{
  pthread_mutex_lock(&scr_helper.lock);
  while (scr_helper.first != NULL || !scr_helper.ends) {
    scr_job* job = scr_helper.first;
    if (job == NULL) {
      pthread_cond_wait(&scr_helper.changed, &scr_helper.lock);
      continue;
    }
    pthread_mutex_unlock(&scr_helper.lock);
    scr_oom = 0; /* of this thread */
    scr_job_run(job);
    pthread_mutex_lock(&scr_helper.lock);
    scr_helper.first = job->next;
    job->done = 1;
    pthread_cond_broadcast(&scr_helper.changed);
  }
  pthread_mutex_unlock(&scr_helper.lock);
  return arg;
}

/* Start the helper thread; returns 1 if it lives. */
SCR_FN int scr_helper_start(void)
{
  if (scr_helper.lives) return 1;
  scr_helper.ends = 0;
  scr_helper.lives = scr_thread_start(&scr_helper.thread, scr_helper_main, NULL);
  return scr_helper.lives;
}

/* Let the helper carry out JOB after those in the queue; if there can be no thread, it is done on return. */
SCR_FN void scr_job_start(scr_job* job)
{
  scr_job** end;

  job->done = 0;
  job->next = NULL;
  if (!scr_helper_start()) {
    scr_helper.hurry++; /* the application waits */
    scr_job_run(job);
    scr_helper.hurry--;
    job->done = 1;
    return;
  }
  pthread_mutex_lock(&scr_helper.lock);
  for (end = &scr_helper.first; *end != NULL; end = &(*end)->next) continue;
  *end = job;
  pthread_cond_broadcast(&scr_helper.changed);
  pthread_mutex_unlock(&scr_helper.lock);
}

SCR_FN int scr_job_is_done(const scr_job* job)
{
  int done;

  pthread_mutex_lock(&scr_helper.lock);
  done = job->done;
  pthread_mutex_unlock(&scr_helper.lock);
  return done;
}

/* Returns 1 if no job waits for the helper, or is being carried out. */
SCR_FN int scr_helper_is_idle(void)
{
  int idle;

  pthread_mutex_lock(&scr_helper.lock);
  idle = scr_helper.first == NULL;
  pthread_mutex_unlock(&scr_helper.lock);
  return idle;
}

/* Move JOB up in the queue, to the place after the job that is being carried out.  The caller holds the lock. */
SCR_FN void scr_job_prefer(scr_job* job)
{
  scr_job** at;

  if (job == scr_helper.first) return;
  for (at = &scr_helper.first; *at != NULL && *at != job; at = &(*at)->next) continue;
  if (*at == NULL) return; /* it is done */
  *at = job->next;
  job->next = scr_helper.first->next;
  scr_helper.first->next = job;
}

/* Wait until JOB is done, which goes before those that have not begun; the helper takes no pauses meanwhile. */
SCR_FN void scr_job_wait(scr_job* job)
{
  pthread_mutex_lock(&scr_helper.lock);
  scr_job_prefer(job);
  scr_helper.hurry++;
  pthread_cond_broadcast(&scr_helper.changed);
  while (!job->done) pthread_cond_wait(&scr_helper.changed, &scr_helper.lock);
  scr_helper.hurry--;
  pthread_mutex_unlock(&scr_helper.lock);
}

/* End the helper thread, when all its jobs are done. */
SCR_FN void scr_helper_end(void)
{
  if (!scr_helper.lives) return;
  pthread_mutex_lock(&scr_helper.lock);
  scr_helper.ends = 1;
  scr_helper.hurry++;
  pthread_cond_broadcast(&scr_helper.changed);
  pthread_mutex_unlock(&scr_helper.lock);
  pthread_join(scr_helper.thread, NULL);
  scr_helper.hurry--;
  scr_helper.lives = 0;
}

/* ---- copies of several files ---- */

#define SCR_COPY_THREADS 4  /* threads that copy files of a TYPE=PTHREAD store for one rank, its own included */
#define SCR_COPY_FILES   16 /* files that a thread has open for writing */

/* Where the bytes of a file lie, in order: in a whole file, or in parts of containers. */
typedef struct {
  int         n;
  int         whole; /* 1: the only extent is a file of this size */
  scr_extent* extent;
} scr_extents;

SCR_FN void scr_extents_free(scr_extents* l)
{
  while (l->n > 0) scr_free(&l->extent[--l->n].path);
  scr_free(&l->extent);
}

SCR_FN int scr_extents_add(scr_extents* l, const char* path, uint64_t offset, uint64_t length)
{
  char* copy;

  if (!scr_grow(&l->extent, l->n, sizeof *l->extent) || (copy = scr_strdup(path)) == NULL) return SCR_ERR_OOM();
  l->extent[l->n].path = copy;
  l->extent[l->n].offset = offset;
  l->extent[l->n++].length = length;
  return SCR_SUCCESS;
}

/* Make L, an empty list, the whole file PATH of SIZE bytes. */
SCR_FN int scr_extents_whole(scr_extents* l, const char* path, uint64_t size)
{
  l->whole = 1;
  return scr_extents_add(l, path, 0, size);
}

/* One file to copy; FROM and TO have the same number of bytes. */
typedef struct {
  scr_extents from, to;
  mode_t      mode;  /* of a new file; containers are there already */
  int64_t     mtime; /* of a new file, in seconds since the epoch; 0 for the time of the copy */
  int         made;  /* 1: the new file is there already, with its size */
  uint64_t    done;  /* bytes that are copied, from the first on, */
  uLong       crc;   /* and their CRC32 */
} scr_copy_item;

/*
** The files that a thread writes.  A container stays open from file to file, so that it is synced once; and several
** files are written before the first of them is synced, because a file system then commits them together.
*/
typedef struct {
  int n;       /* open files; */
  int writing; /* 1: the last of them is not complete */
  struct {
    const char* path;
    int         fd, made; /* made: as in scr_copy_item, and for containers */
  } file[SCR_COPY_FILES];
} scr_copy_target;

/*
** Make what was written to T durable, and close it.  A new file for which that fails is removed.  Returns the first
** error, with its message.
*/
SCR_FN int scr_copy_leave(scr_copy_target* t)
{
  scr_err_record why;
  int            rc = SCR_SUCCESS;

  memset(&why, 0, sizeof why);
  for (t->writing = 0; t->n > 0; t->n--) {
    const char* path = t->file[t->n - 1].path;
    int         fd = t->file[t->n - 1].fd, err = SCR_SUCCESS;
    if (scr_fsync_enabled && scr_os.fsync(fd) < 0) err = SCR_ERRNO("cannot sync %s", path);
    if (scr_os.close(fd) < 0 && err == SCR_SUCCESS) err = SCR_ERRNO("cannot close %s", path);
    if (err != SCR_SUCCESS && !t->file[t->n - 1].made) scr_os.unlink(path);
    if (rc == SCR_SUCCESS && err != SCR_SUCCESS) scr_err_save(&why);
    if (rc == SCR_SUCCESS) rc = err;
  }
  if (rc != SCR_SUCCESS) scr_err_restore(&why);
  return rc;
}

/* The file that is written is complete; T is left if it has no room for another one, or if nothing is to be synced. */
SCR_FN int scr_copy_rest(scr_copy_target* t)
{
  if (t->writing && scr_fsync_enabled) scr_write_behind(t->file[t->n - 1].fd, 0, 0);
  t->writing = 0;
  return t->n == SCR_COPY_FILES || !scr_fsync_enabled ? scr_copy_leave(t) : SCR_SUCCESS;
}

/*
** Create PATH with MODE and SIZE bytes that are 0, so that zeros can stay holes; *FD receives its descriptor, -1 if
** there is none.  It is a file of its own: who still writes to one that had this name before does no harm.
*/
SCR_FN int scr_file_create(const char* path, mode_t mode, uint64_t size, int* fd)
{
  const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW;

  *fd = scr_os.open(path, flags, mode);
  if (*fd < 0 && errno == EEXIST && scr_os.unlink(path) == 0) *fd = scr_os.open(path, flags, mode);
  if (*fd < 0) return SCR_ERRNO("cannot create %s", path);
  return scr_os.ftruncate(*fd, (off_t)size) < 0 ? SCR_ERRNO("cannot give %s its size", path) : SCR_SUCCESS;
}

/* The same for a file that others fill. */
SCR_FN int scr_file_make(const char* path, mode_t mode, uint64_t size)
{
  int fd, rc = scr_file_create(path, mode, size, &fd);

  if (fd >= 0 && scr_os.close(fd) < 0 && rc == SCR_SUCCESS) rc = SCR_ERRNO("cannot close %s", path);
  return rc;
}

/* Make T the file of extent I of IT->to: a new one, or one that is there already. */
SCR_FN int scr_copy_enter(scr_copy_target* t, const scr_copy_item* it, int i)
{
  const scr_extent* x = &it->to.extent[i];
  int               fd, rc, fresh = it->to.whole && !it->made;

  if (t->writing && strcmp(t->file[t->n - 1].path, x->path) == 0) return SCR_SUCCESS;
  if ((rc = scr_copy_rest(t)) != SCR_SUCCESS) return rc;
  if (fresh) rc = scr_file_create(x->path, it->mode, x->length, &fd);
  else if ((fd = scr_os.open(x->path, O_WRONLY | O_NOFOLLOW, 0)) < 0) rc = SCR_ERRNO("cannot open %s", x->path);
  if (fd < 0) return rc;
  t->writing = 1;
  t->file[t->n].path = x->path;
  t->file[t->n].fd = fd;
  t->file[t->n++].made = !fresh;
  return rc;
}

/* Open the file of X for reading.  WHOLE: it must have the size of X. */
SCR_FN int scr_copy_source(const scr_extent* x, int whole, int* fd)
{
  struct stat st;
  int         rc;

  if (*fd >= 0) scr_os.close(*fd);
  if ((rc = scr_file_open(x->path, fd)) != SCR_SUCCESS || !whole) return rc;
  if (fstat(*fd, &st) < 0) return SCR_ERRNO("cannot look at %s", x->path);
  if ((uint64_t)st.st_size == x->length) return SCR_SUCCESS;
  return SCR_ERR(SCR_ERR_MISSING, "%s has %jd bytes instead of %" PRIu64, x->path, (intmax_t)st.st_size, x->length);
}

/*
** Copy at most MOST bytes of IT, from it->done on, to their places, in steps of CAP bytes, the size of BUF.  After each
** step it pauses, as PACE wants.
*/
SCR_FN int scr_copy_bytes(scr_copy_item* it, scr_copy_target* t, char* buf, size_t cap, uint64_t most,
                          const scr_pace* pace)
{
  uint64_t in = it->done, out = in; /* bytes of the current extents that are done */
  double   start = scr_wtime();
  int      i = 0, k = 0, fd = -1, rc = SCR_SUCCESS;

  if (it->done == 0) it->crc = SCR_CRC32_START;
  while (i < it->from.n && in >= it->from.extent[i].length) in -= it->from.extent[i++].length;
  while (k < it->to.n && out >= it->to.extent[k].length) out -= it->to.extent[k++].length;
  if (it->from.whole) rc = scr_copy_source(&it->from.extent[0], 1, &fd);
  if (rc == SCR_SUCCESS && it->to.whole) rc = scr_copy_enter(t, it, 0);
  while (rc == SCR_SUCCESS && i < it->from.n && k < it->to.n && most > 0) {
    const scr_extent *x = &it->from.extent[i], *y = &it->to.extent[k];
    uint64_t          n = x->length - in < y->length - out ? x->length - in : y->length - out;
    ssize_t           got;
    if (n > cap) n = cap;
    if (n > most) n = most;
    if (n > 0 && (in == 0 || fd < 0) && !it->from.whole && (rc = scr_copy_source(x, 0, &fd)) != SCR_SUCCESS) break;
    if (n > 0 && (rc = scr_copy_enter(t, it, k)) != SCR_SUCCESS) break;
    got = n > 0 ? scr_pread_all(fd, buf, (size_t)n, (off_t)(x->offset + in)) : 0;
    if (got < 0) rc = SCR_ERRNO("cannot read %s", x->path);
    else if ((uint64_t)got < n) rc = SCR_ERR(SCR_ERR_MISSING, "%s was truncated while it was read", x->path);
    else if (!scr_is_zero(buf, (size_t)n) &&
             scr_pwrite_all(t->file[t->n - 1].fd, buf, (size_t)n, (off_t)(y->offset + out)) < 0)
      rc = SCR_ERRNO("cannot write %s", y->path);
    else it->crc = scr_crc32(it->crc, buf, (size_t)n);
    if (rc != SCR_SUCCESS) break;
    if (n == cap && scr_fsync_enabled) scr_write_behind(t->file[t->n - 1].fd, (off_t)(y->offset + out), (off_t)n);
    start = scr_pace_pause(pace, n, start);
    it->done += n;
    most -= n;
    in += n;
    out += n;
    if (in == x->length) i++, in = 0;
    if (out == y->length) k++, out = 0;
  }
  if (fd >= 0) scr_os.close(fd);
  return rc;
}

/*
** Copy at most MOST bytes of one file, from it->done on.  Once T is left, they survive a crash of the node.  On an
** error T is left, and a new file is removed, unless it was there already.  If other files were open in T, the copy is
** tried once more: they may have been too many.
*/
SCR_FN int scr_copy_one(scr_copy_item* it, scr_copy_target* t, char* buf, size_t cap, uint64_t most,
                        const scr_pace* pace)
{
  struct timespec times[2];
  scr_err_record  why;
  int             others, rc = scr_copy_bytes(it, t, buf, cap, most, pace);

  if (!it->to.whole) return rc;
  memset(times, 0, sizeof times);
  times[0].tv_sec = times[1].tv_sec = (time_t)it->mtime;
  if (rc == SCR_SUCCESS && it->mtime != 0)
    scr_os.futimens(t->file[t->n - 1].fd, times); /* not all file systems keep times */
  if (rc == SCR_SUCCESS) return scr_copy_rest(t);
  scr_err_save(&why);
  others = t->n - t->writing;
  if (t->writing && !it->made) scr_os.unlink(it->to.extent[0].path);
  if (scr_copy_leave(t) == SCR_SUCCESS && others > 0 && !it->made) {
    it->done = 0;
    return scr_copy_one(it, t, buf, cap, most, pace);
  }
  scr_err_restore(&why);
  return rc;
}

/* Files to copy, and the progress of the copy.  The lock protects next, rc and why. */
typedef struct {
  int             n, next;
  scr_copy_item*  item;
  size_t          buf_size;
  scr_pace        pace;
  int             rc; /* of the first copy that failed */
  scr_err_record  why;
  pthread_mutex_t lock;
} scr_copy_list;

/* Make an empty list with room for N files. */
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
    scr_extents_free(&l->item[i].from);
    scr_extents_free(&l->item[i].to);
  }
  scr_free(&l->item);
}

/*
** Add a file to the list, which has room for it; the caller fills in where it is copied from and to.  The copy gets the
** permission bits MODE, and can be written by this user; if MODE is 0, not known, it gets OTHERWISE.
*/
SCR_FN scr_copy_item* scr_copy_list_add(scr_copy_list* l, int mode, mode_t otherwise, int64_t mtime)
{
  scr_copy_item* it = &l->item[l->n++];

  it->mode = mode != 0 ? (mode_t)(mode & 0777) | 0600 : otherwise;
  it->mtime = mtime;
  return it;
}

/* RC is the result of a copy: keep the first error, with its message. */
SCR_FN void scr_copy_list_note(scr_copy_list* l, int rc)
{
  pthread_mutex_lock(&l->lock);
  if (rc != SCR_SUCCESS && l->rc == SCR_SUCCESS) {
    l->rc = rc;
    scr_err_save(&l->why);
  }
  pthread_mutex_unlock(&l->lock);
}

/* Copy files of the list ARG one after the other, until none is left or a copy has failed. */
SCR_FN void* scr_copy_list_work(void* arg)
{
  scr_copy_list*  l = (scr_copy_list*)arg;
  scr_copy_target target;
  char*           buf = (char*)scr_malloc(l->buf_size);
  scr_copy_item*  it = NULL;

  memset(&target, 0, sizeof target);
  if (buf == NULL) scr_copy_list_note(l, SCR_ERR_OOM());
  do {
    pthread_mutex_lock(&l->lock);
    it = l->rc == SCR_SUCCESS && l->next < l->n ? &l->item[l->next++] : NULL;
    pthread_mutex_unlock(&l->lock);
    if (it != NULL) scr_copy_list_note(l, scr_copy_one(it, &target, buf, l->buf_size, UINT64_MAX, &l->pace));
  } while (it != NULL);
  scr_copy_list_note(l, scr_copy_leave(&target));
  free(buf);
  return NULL;
}

/*
** Copy all files of the list with up to THREADS threads, this one included; fewer if they cannot be started.  The
** threads block all signals, so that none of the application's handlers runs in them.  On an error some files may have
** been copied.
*/
SCR_FN int scr_copy_list_run(scr_copy_list* l, int threads)
{
  pthread_t thread[SCR_COPY_THREADS];
  int       i = 0;

  if (pthread_mutex_init(&l->lock, NULL) != 0) return SCR_ERR_OOM();
  if (threads > l->n) threads = l->n;
  while (i < threads - 1 && i < SCR_COPY_THREADS && scr_thread_start(&thread[i], scr_copy_list_work, l)) i++;
  scr_copy_list_work(l);
  while (i > 0) pthread_join(thread[--i], NULL);
  pthread_mutex_destroy(&l->lock);
  if (l->rc != SCR_SUCCESS) scr_err_restore(&l->why);
  if (l->rc == SCR_ERR_MEM) scr_oom = 1; /* it may have failed in another thread */
  return l->rc;
}

/*
** Compare the file PATH with its record F: SCR_ERR_MISSING unless the record is complete and the file has its size.  If
** CHECK_CRC is set and the record has a checksum, the file is read: SCR_ERR_CRC if it differs.
*/
SCR_FN int scr_file_check(const char* path, const scr_file* f, int check_crc)
{
  uint64_t is = 0;
  uLong    crc;
  int      rc;

  if (!f->complete) return SCR_ERR(SCR_ERR_MISSING, "%s was not complete", path);
  if ((rc = scr_file_size(path, &is)) != SCR_SUCCESS) return rc;
  if (is != f->size)
    return SCR_ERR(SCR_ERR_MISSING,
                   "%s has %" PRIu64 " bytes instead of %" PRIu64
                   ": it changed after SCR_Complete_output; was it still open?",
                   path, is, f->size);
  if (!check_crc || !f->has_crc) return SCR_SUCCESS;
  if ((rc = scr_file_crc(path, f->size, &crc)) != SCR_SUCCESS) return rc;
  return scr_file_has_crc(path, crc, f->crc, "it is corrupt");
}

/* ==== 11 ERASURE CODE, REDUNDANCY FILES =================================================================
** What each member of a redundancy set holds, and how a lost part is computed from the rest; the headers of redundancy
** files; and the steps that protect or rebuild the files of one member.  Part 15 rebuilds a set in one process, part 19
** with its ranks: both use the same steps, and differ only in how the bytes of one member reach another.
**
**   scr_header_read, scr_header_fit           read the headers, and check that they belong together
**   scr_member_list                           list the files of a member, and add up the length of its stream
**   scr_erasure_make                          compute which symbols each lost symbol is a sum of
**   scr_member_open, _load, _store            read the bytes of a member, and write new files for those it has lost
**   scr_member_check                          compare what was rebuilt with the recorded checksums
**   scr_member_finish, _place, _end           write the header, rename the new files into place, clean up
**
** Uses       platform, errors, memory, path, hash, hash files, dataset, kernels, file window
** Offers     scr_erasure, scr_header, scr_member; scr_erasure_symbol, scr_erasure_is_lost, scr_erasure_length,
**            scr_erasure_part, scr_erasure_factor, scr_erasure_free, scr_erasure_make, scr_set_file_name,
**            scr_set_file_parse, scr_header_free, scr_header_read_entry, scr_header_read, scr_header_image,
**            scr_header_fit, scr_header_holder, scr_member_list, scr_member_temp, scr_member_open, scr_member_load,
**            scr_member_store, scr_member_check, scr_member_finish, scr_member_place, scr_member_end
** Invariants
**   C1  The files of a member, one after the other in the order of its record, are its stream, padded with zeros.
**       XOR and RS cut the stream into N-K chunks.  A code has N positions: at position C, each of the K members C-E
**       holds chunk E of its redundancy file, which is row E of the code (parity), and each other member its next
**       chunk of data.  PARTNER: position C is the stream of member C; member C+1 holds a copy of it.
**   C2  The header of a member describes its files and those of its K left neighbours, with identity and CRC32.  Every
**       rebuild of a header writes the same bytes.
**   C3  Others may be able to write to the directory of a header.  What scr_header_read returns is consistent in
**       itself, but it is not used until it has been found to fit the rest of the set.
**   C4  Rebuilt files are written beside their final places and renamed there only when all that was rebuilt is right.
**       A file that is not lost is never written to.
** Failure    An error code; SCR_ERR_LOST for what cannot be rebuilt. scr_member_end leaves no temporary files.
** Source     RAID-5; Plank: A Tutorial on Reed-Solomon Coding for Fault-Tolerance in RAID-like Systems, 1997.
** ====================================================================================================== */

/* ---- the code ---- */

enum { SCR_LOST_DATA = 1, SCR_LOST_RED = 2 };              /* bits: what a member of a set has lost */
enum { SCR_SYMBOL_NONE, SCR_SYMBOL_DATA, SCR_SYMBOL_RED }; /* what a member holds at a position */

/* The code of a set, and the sums by which its lost symbols are rebuilt. */
typedef struct {
  scr_scheme     scheme;
  int            n, k;         /* members; how many of them may be lost */
  const int64_t *lost, *total; /* [n]: bits of SCR_LOST_x; bytes of the member's stream */
  uint64_t       chunk;
  int*           target; /* [n][k]: for each position, the members whose symbol is lost, then -1 */
  unsigned char* coef;   /* [n][k][n], RS only: the factors of the sum that gives a target's symbol */
} scr_erasure;

/*
** The kind of symbol that member R holds at position C.  *AT receives its offset in the member's stream, or in its
** redundancy file after the header.
*/
SCR_FN int scr_erasure_symbol(const scr_erasure* ec, int r, int c, uint64_t* at)
{
  int e;

  if (ec->scheme == SCR_SCHEME_PARTNER) {
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

/* The bytes of each symbol at position C. */
SCR_FN uint64_t scr_erasure_length(const scr_erasure* ec, int c)
{
  return ec->scheme == SCR_SCHEME_PARTNER ? (uint64_t)ec->total[c] : ec->chunk;
}

/*
** The bytes of each of the K chunks in the redundancy file of member R.  With PARTNER there is one, the left
** neighbour's stream.
*/
SCR_FN uint64_t scr_erasure_part(const scr_erasure* ec, int r)
{
  return ec->scheme == SCR_SCHEME_PARTNER ? (uint64_t)ec->total[(r + ec->n - 1) % ec->n] : ec->chunk;
}

/*
** Find the targets of position C, the members whose symbol is lost; SCR_ERR_LOST if there are more than the code can
** rebuild.
*/
SCR_FN int scr_erasure_targets(scr_erasure* ec, int c)
{
  int r, n = 0;

  for (r = 0; r < ec->k; r++) ec->target[c * ec->k + r] = -1;
  for (r = 0; r < ec->n; r++) {
    if (!scr_erasure_is_lost(ec, r, c)) continue;
    if (n == ec->k)
      return SCR_ERR(SCR_ERR_LOST, "members %d and %d of a %s set of %d have lost more than it can rebuild",
                     ec->target[c * ec->k], r, scr_scheme_name(ec->scheme), ec->n);
    ec->target[c * ec->k + n++] = r;
  }
  return SCR_SUCCESS;
}

/* Compute the sums that give the targets of each position.  XOR and PARTNER need none. */
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

/* Returns 1 if the sum for target I of position C includes the symbol of member R; *F receives its factor. */
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
** Make EC the code of a set of N members and SCHEME, which bears K losses, to find what its members have LOST; each
** has TOTAL bytes of data.  SCR_ERR_LOST when the scheme cannot, as SINGLE never can.  TOTAL may be NULL to ask just
** that.  EC keeps pointers to both arrays.  The caller calls scr_erasure_free, after an error too.
*/
SCR_FN int scr_erasure_make(scr_erasure* ec, scr_scheme scheme, int n, int k, const int64_t* lost, const int64_t* total)
{
  uint64_t most = 0;
  int      i, c, rc = SCR_SUCCESS;

  memset(ec, 0, sizeof *ec);
  ec->scheme = scheme;
  ec->n = n;
  ec->k = k;
  ec->lost = lost;
  ec->total = total;
  for (i = 0; i < n && scheme == SCR_SCHEME_SINGLE; i++)
    if (lost[i]) return SCR_ERR(SCR_ERR_LOST, "member %d has lost files, and SINGLE has no redundancy", i);
  ec->target = (int*)scr_malloc((size_t)n * (size_t)k * sizeof *ec->target);
  if (ec->target == NULL) return SCR_ERR_OOM();
  for (c = 0; c < n && rc == SCR_SUCCESS; c++) rc = scr_erasure_targets(ec, c);
  if (rc != SCR_SUCCESS || total == NULL) return rc;
  for (i = 0; i < n; i++)
    if ((uint64_t)total[i] > most) most = (uint64_t)total[i];
  ec->chunk = most;
  if (scheme != SCR_SCHEME_PARTNER) ec->chunk = (most + (uint64_t)(n - k) - 1) / (uint64_t)(n - k);
  if (ec->chunk == 0) ec->chunk = 1;
  return scheme == SCR_SCHEME_RS ? scr_erasure_solve(ec) : SCR_SUCCESS;
}

/* ---- names of redundancy files ---- */

/* The path, below the dataset's directory, of the redundancy file of member R of N in set number SET. */
SCR_FN const char* scr_set_file_name(scr_scheme scheme, int r, int n, int set, char* name, size_t size)
{
  static const char* const ends[] = {"single", "partner", "xor", "rs"};
  snprintf(name, size, ".scr/%d_of_%d_in_%d.%s", r + 1, n, set, ends[scheme]);
  return name;
}

/*
** Returns 1 if NAME, a file name without directory, is that of a redundancy file; sets SCHEME, member R of N, and SET.
*/
SCR_FN int scr_set_file_parse(const char* name, scr_scheme* scheme, int* r, int* n, int* set)
{
  char again[96];
  int  i;

  if (sscanf(name, "%9d_of_%9d_in_%9d.", r, n, set) != 3 || *r < 1 || *r > *n || *n > SCR_SET_SIZE_MAX) return 0;
  *r -= 1;
  for (i = SCR_SCHEME_PARTNER; i <= SCR_SCHEME_RS; i++) {
    *scheme = (scr_scheme)i;
    if (strcmp(scr_set_file_name(*scheme, *r, *n, *set, again, sizeof again) + 5, name) == 0) return 1;
  }
  return 0;
}

/* ---- headers of redundancy files ---- */

/* The header of a redundancy file.  All zeros is an empty header. */
typedef struct {
  scr_desc    desc;  /* of the dataset; its directory is empty, being unknown when the dataset is protected */
  int         ranks; /* that wrote the dataset */
  scr_scheme  scheme;
  int         failures; /* members that may be lost at once */
  int         set_size;
  int*        member; /* [set_size]: the ranks that own the members' files */
  uint64_t    chunk;
  int         r;     /* the member whose header it is */
  scr_entry** entry; /* [failures + 1]: the files of member r, then of those to its left, nearest first */
  uint64_t    bytes; /* length of the header in its file */
} scr_header;

SCR_FN void scr_header_free(scr_header* h)
{
  int i;

  for (i = 0; h->entry != NULL && i <= h->failures; i++) scr_entry_free(&h->entry[i]);
  scr_free(&h->entry);
  scr_free(&h->member);
}

/* The key under which a header describes the member that is DISTANCE places to the left. */
SCR_FN const char* scr_header_key(int distance, char* key, size_t n)
{
  if (distance == 0) return "CURRENT";
  if (distance == 1) return "PARTNER";
  snprintf(key, n, "PARTNER_%d", distance);
  return key;
}

/*
** Read the scheme and the set from IMAGE into H, and find which member OWNER is.  Headers of version 1.x are always XOR
** and do not name a scheme.
*/
SCR_FN int scr_header_read_set(const scr_hash* image, scr_header* h, int owner)
{
  const scr_hash* group = scr_hash_get(image, "GROUP");
  const char*     scheme = scr_hash_str_or(image, "TYPE", "XOR");
  char            key[16];
  int             n = scr_hash_int_or(group, "RANKS", 0), k = 1, i, j, rc;

  if ((rc = scr_scheme_from_name(scheme, &h->scheme)) != SCR_SUCCESS) return SCR_ERR_FORMAT;
  if (scr_hash_get(image, "FAILURES") != NULL && scr_hash_util_get_int(image, "FAILURES", &k) != SCR_SUCCESS) k = 0;
  if (h->scheme == SCR_SCHEME_SINGLE || n < 2 || n > SCR_SET_SIZE_MAX || k < 1 || k >= n ||
      (h->scheme != SCR_SCHEME_RS && k != 1) || (h->scheme == SCR_SCHEME_RS && n + k > 256))
    return SCR_ERR(SCR_ERR_FORMAT, "there is no scheme %.20s for %d members and %d losses", scheme, n, k);
  h->set_size = n;
  if ((h->member = (int*)scr_malloc((size_t)n * sizeof *h->member)) == NULL) return SCR_ERR_OOM();
  for (i = 0, h->r = -1; i < n; i++) {
    snprintf(key, sizeof key, "%d", i);
    h->member[i] = scr_hash_int_or(scr_hash_get(group, "RANK"), key, -1);
    if (h->member[i] < 0 || h->member[i] >= h->ranks)
      return SCR_ERR(SCR_ERR_FORMAT, "it names no rank for member %d of the set", i);
    for (j = 0; j < i; j++)
      if (h->member[j] == h->member[i])
        return SCR_ERR(SCR_ERR_FORMAT, "it names rank %d twice in the set", h->member[i]);
    if (h->member[i] == owner) h->r = i;
  }
  if (h->r < 0) return SCR_ERR(SCR_ERR_FORMAT, "it is of rank %d, which is not in its set", owner);
  h->entry = (scr_entry**)scr_malloc((size_t)(k + 1) * sizeof *h->entry);
  h->failures = k;
  return h->entry == NULL ? SCR_ERR_OOM() : SCR_SUCCESS;
}

/*
** A new entry of OWNER with the application's files that MEMBER, the description in a header, lists.  NULL, with the
** code in *RC, on an error.
*/
SCR_FN scr_entry* scr_header_read_entry(const scr_hash* member, int owner, int* rc)
{
  scr_entry* e = (scr_entry*)scr_malloc(sizeof *e);
  int        i;

  if (e == NULL) {
    *rc = SCR_ERR_OOM();
    return NULL;
  }
  e->owner = owner;
  *rc = scr_entry_read_member(member, e);
  for (i = 0; i < e->files && *rc == SCR_SUCCESS; i++) {
    const scr_file* f = &e->file[i];
    if (f->kind != SCR_FILE_APPLICATION || strcmp(f->rel, ".scr") == 0 || strncmp(f->rel, ".scr/", 5) == 0)
      *rc = SCR_ERR(SCR_ERR_FORMAT, "it lists %s, which is not of the application, for rank %d", f->rel, owner);
    else if (!f->complete) *rc = SCR_ERR(SCR_ERR_FORMAT, "it has no size for %s of rank %d", f->rel, owner);
  }
  if (*rc != SCR_SUCCESS) scr_entry_free(&e);
  return e;
}

/*
** Read the header of the redundancy file PATH into H, replacing its old contents.  SCR_ERR_NOT_FOUND if there is no
** file; SCR_ERR_CRC or SCR_ERR_FORMAT if the header is damaged or contradicts itself (C3).  The caller frees H; on an
** error it is empty.
*/
SCR_FN int scr_header_read(const char* path, scr_header* h)
{
  scr_hash* image = scr_hash_new();
  char      key[32];
  int       i, rc;

  memset(h, 0, sizeof *h);
  rc = image == NULL ? SCR_ERR_OOM() : scr_hash_file_read_head(path, image, &h->bytes);
  if (rc != SCR_SUCCESS) {
    scr_hash_delete(&image);
    return rc;
  }
  scr_desc_read(scr_hash_get(image, "DSET"), &h->desc);
  h->ranks = scr_hash_int_or(image, "RANKS", 0);
  rc = scr_header_read_set(image, h, scr_hash_int_or(scr_hash_get(image, "CURRENT"), "RANK", -1));
  if (rc == SCR_SUCCESS && (scr_hash_util_get_bytecount(image, "CHUNK", &h->chunk) != SCR_SUCCESS || h->chunk < 1 ||
                            h->chunk > INT64_MAX / (uint64_t)(h->failures + 1)))
    rc = SCR_ERR(SCR_ERR_FORMAT, "CHUNK is no count of bytes");
  for (i = 0; rc == SCR_SUCCESS && i <= h->failures; i++)
    h->entry[i] = scr_header_read_entry(scr_hash_get(image, scr_header_key(i, key, sizeof key)),
                                        h->member[(h->r - i + h->set_size) % h->set_size], &rc);
  if (rc == SCR_ERR_FORMAT) rc = SCR_ERR(rc, "%s: %.*s; restore or remove it", path, scr_err_length, scr_err_text);
  if (rc != SCR_SUCCESS) scr_header_free(h);
  scr_hash_delete(&image);
  return rc;
}

/* Append the image of H to B.  Entries that are NULL are left empty; that gives the size of the rest of the header. */
SCR_FN int scr_header_image(const scr_header* h, scr_buf* b)
{
  scr_hash *image = scr_hash_new(), *group, *rank;
  scr_desc  desc = h->desc;
  char      key[32];
  int       i, rc;

  *desc.dir = '\0';
  scr_desc_write(scr_hash_set(image, "DSET", scr_hash_new()), &desc);
  scr_hash_util_set_int(image, "RANKS", h->ranks);
  scr_hash_util_set_str(image, "TYPE", scr_scheme_name(h->scheme));
  scr_hash_util_set_int(image, "FAILURES", h->failures);
  group = scr_hash_set(image, "GROUP", scr_hash_new());
  scr_hash_util_set_int(group, "RANKS", h->set_size);
  rank = scr_hash_set(group, "RANK", scr_hash_new());
  for (i = 0; i < h->set_size; i++) {
    snprintf(key, sizeof key, "%d", i);
    scr_hash_util_set_int(rank, key, h->member[i]);
  }
  scr_hash_util_set_bytecount(image, "CHUNK", h->chunk);
  for (i = 0; i <= h->failures; i++) {
    scr_hash* member = scr_hash_set(image, scr_header_key(i, key, sizeof key), scr_hash_new());
    if (h->entry[i] != NULL) scr_entry_write_member(member, h->entry[i]);
  }
  rc = scr_hash_image(image, b);
  scr_hash_delete(&image);
  return rc;
}

/* Check that the headers A and B are of the same dataset and the same set; A_NAME and B_NAME name them in messages. */
SCR_FN int scr_header_fit(const scr_header* a, const char* a_name, const scr_header* b, const char* b_name)
{
  const char* key = NULL;
  int         i;

  if (!scr_identity_same(&a->desc.identity, &b->desc.identity))
    return SCR_ERR(SCR_ERR_FORMAT, "%s and %s are of different datasets; move away the wrong one", a_name, b_name);
  if (a->ranks != b->ranks) key = "RANKS";
  else if (a->scheme != b->scheme) key = "TYPE";
  else if (a->failures != b->failures) key = "FAILURES";
  else if (a->set_size != b->set_size) key = "the size of the set";
  else if (a->chunk != b->chunk) key = "CHUNK";
  if (key != NULL)
    return SCR_ERR(SCR_ERR_FORMAT, "%s and %s differ in %s; move away the one of another set", a_name, b_name, key);
  for (i = 0; i < a->set_size; i++)
    if (a->member[i] != b->member[i])
      return SCR_ERR(SCR_ERR_FORMAT, "%s and %s differ in the rank of member %d; move away the one of another set",
                     a_name, b_name, i);
  return SCR_SUCCESS;
}

/*
** The distance from member M to the nearest member, itself first and then to the right, whose header is not LOST and so
** describes M; -1 if there is none.
*/
SCR_FN int scr_header_holder(int n, int k, const int64_t* lost, int m)
{
  int i;
  for (i = 0; i <= k; i++)
    if (!(lost[(m + i) % n] & SCR_LOST_RED)) return i;
  return -1;
}

/* ---- one member ---- */

/* A member of a set while it is protected or rebuilt.  All zeros, except fd = -1, is an empty one. */
typedef struct {
  int        r;      /* its number in the set */
  int64_t    lost;   /* bits of SCR_LOST_x */
  int        sparse; /* 1: do not read holes */
  int        frugal; /* 1: close files after each use, because there are many members */
  scr_entry* e;      /* its owner, and its files */
  char*      red;    /* path of its redundancy file: */
  uint64_t   head;   /* bytes of the header, */
  uint64_t   part;   /* bytes of each chunk, */
  int        k;      /* number of chunks, */
  uLong*     sum;    /* [k]: CRC32 of each chunk, if it was made now, */
  uLong      crc;    /* and CRC32 of the whole file, when it is finished */
  int        n;      /* number of files of the application: */
  int*       index;  /* [n]: index in e->file, */
  uint64_t*  size;   /* [n]: size in bytes, */
  char**     path;   /* [n]: path, set by the caller, */
  char*      bad;    /* [n]: 1 if the file is lost */
  char**     temp;   /* [n + 1]: temporary names of files being made, the redundancy file last; or NULL */
  scr_window win;
  int        fd; /* the redundancy file, or its temporary file; -1 if none is open */
} scr_member;

/*
** List the application's files of M, which has an entry; its redundancy file will have K chunks.  *TOTAL receives the
** length of its stream in bytes.
*/
SCR_FN int scr_member_list(scr_member* m, int k, int64_t* total)
{
  int i, most = m->e->files;

  *total = 0;
  m->k = k;
  m->sum = (uLong*)scr_malloc((size_t)k * sizeof *m->sum);
  m->index = (int*)scr_malloc((size_t)most * sizeof *m->index);
  m->size = (uint64_t*)scr_malloc((size_t)most * sizeof *m->size);
  m->path = (char**)scr_malloc((size_t)most * sizeof *m->path);
  m->bad = (char*)scr_malloc((size_t)most);
  m->temp = (char**)scr_malloc((size_t)(most + 1) * sizeof *m->temp);
  if (m->sum == NULL || m->index == NULL || m->size == NULL || m->path == NULL || m->bad == NULL || m->temp == NULL)
    return SCR_ERR_OOM();
  for (i = 0; i < most; i++) {
    const scr_file* f = &m->e->file[i];
    if (f->kind != SCR_FILE_APPLICATION) continue;
    if (!f->complete) return SCR_ERR(SCR_ERR_FORMAT, "the record of %s has no size", f->rel);
    if (f->size > (uint64_t)(INT64_MAX / 2 - *total))
      return SCR_ERR(SCR_ERR_FORMAT, "the size of %s is impossible in the headers of its set", f->rel);
    m->index[m->n] = i;
    m->size[m->n++] = f->size;
    *total += (int64_t)f->size;
  }
  return SCR_SUCCESS;
}

/*
** The temporary name of file I of M, or of its redundancy file if I = n; it lies in the directory of the redundancy
** file.  The caller frees it.
*/
SCR_FN char* scr_member_temp(const scr_member* m, int i)
{
  return scr_strdupf("%s.new.%d", m->red, i);
}

/*
** Create the temporary file I of M, empty.  An existing file of that name is left over from an earlier attempt, and is
** removed.
*/
SCR_FN int scr_member_create(scr_member* m, int i, int* fd)
{
  char*  path = scr_member_temp(m, i);
  mode_t mode = (mode_t)((i < m->n ? m->e->file[m->index[i]].mode & 0777 : 0) | 0600);

  if (path == NULL) return SCR_ERR_OOM();
  m->temp[i] = path; /* scr_member_end removes it */
  if (scr_os.unlink(path) < 0 && errno != ENOENT) return SCR_ERRNO("cannot remove %s", path);
  *fd = scr_os.open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
  if (*fd < 0) return SCR_ERRNO("cannot create %s", path);
  return fchmod(*fd, mode) < 0 ? SCR_ERRNO("cannot set the mode of %s", path) : SCR_SUCCESS;
}

/*
** Open the files of M, whose paths are set, for the code EC: existing files for reading, and new ones for what M has
** lost.  A new redundancy file leaves room for a header of m->head bytes.
*/
SCR_FN int scr_member_open(scr_member* m, const scr_erasure* ec)
{
  int write = (m->lost & SCR_LOST_DATA) != 0, plain = ec->scheme == SCR_SCHEME_PARTNER, i, fd = -1, rc = SCR_SUCCESS;

  m->part = scr_erasure_part(ec, m->r);
  for (i = 0; write && i < m->n && rc == SCR_SUCCESS; i++, fd = -1) {
    rc = scr_member_create(m, i, &fd);
    if (fd >= 0 && scr_os.close(fd) < 0 && rc == SCR_SUCCESS) rc = SCR_ERRNO("cannot close %s", m->temp[i]);
  }
  if (rc == SCR_SUCCESS)
    rc = scr_window_open(&m->win, m->n, write ? m->temp : m->path, m->size,
                         write ? O_RDWR | O_TRUNC | O_NOFOLLOW : O_RDONLY, 0, plain ? 0 : ec->chunk,
                         plain ? 1 : ec->n - ec->k);
  if (rc != SCR_SUCCESS) return rc;
  if (!(m->lost & SCR_LOST_RED)) return scr_file_open(m->red, &m->fd);
  for (i = 0; i < m->k; i++) m->sum[i] = SCR_CRC32_START;
  rc = scr_member_create(m, m->n, &m->fd);
  if (rc == SCR_SUCCESS && scr_os.ftruncate(m->fd, (off_t)(m->head + m->part * (uint64_t)m->k)) < 0)
    rc = SCR_ERRNO("cannot give %s its size", m->temp[m->n]);
  return rc;
}

/* Returns 1 if the N bytes at AT of M's stream, or of its parity, are padding or lie in a hole of a file. */
SCR_FN int scr_member_hole(scr_member* m, int kind, uint64_t at, size_t n)
{
  const scr_window_seg* s;
  int                   fd = m->fd;

  if (kind == SCR_SYMBOL_RED) {
    at += m->head;
  } else {
    if (at >= scr_window_length(&m->win)) return 1;
    s = scr_window_find(&m->win, at);
    if (s->end - at < n || scr_window_fd(&m->win, s->file, &fd) != SCR_SUCCESS) return 0;
    at -= m->win.start[s->file];
  }
  return scr_hole_end(fd, at, at + n) >= at + n;
}

/*
** Read the N bytes at OFFSET of the symbol that M holds at position C into BUF, and return BUF; or NULL if M is sparse
** and the bytes are padding or lie in a hole.  If SUM is set, they count for the checksums of their files.  If *RC is
** an error, or becomes one, BUF is filled with zeros, because others wait for the bytes.
*/
SCR_FN const char* scr_member_load(scr_member* m, const scr_erasure* ec, int c, uint64_t offset, size_t n, char* buf,
                                   int sum, int* rc)
{
  uint64_t at;
  int      kind = scr_erasure_symbol(ec, m->r, c, &at), hole;

  at += offset;
  hole = *rc == SCR_SUCCESS && m->sparse && scr_member_hole(m, kind, at, n);
  if (*rc == SCR_SUCCESS && !hole && kind == SCR_SYMBOL_RED) {
    ssize_t got = scr_pread_all(m->fd, buf, n, (off_t)(m->head + at));
    if (got < 0) *rc = SCR_ERRNO("cannot read %s", m->red);
    else if ((size_t)got < n) *rc = SCR_ERR(SCR_ERR_MISSING, "%s is shorter than its header says", m->red);
  } else if (*rc == SCR_SUCCESS && !hole) {
    *rc = scr_window_read(&m->win, at, buf, n, sum);
  }
  if (m->frugal) scr_window_close(&m->win);
  if (*rc != SCR_SUCCESS) memset(buf, 0, n);
  return hole ? NULL : buf;
}

/*
** Write the N bytes of BUF at OFFSET of the symbol that M has lost at position C: data, or parity.  The new redundancy
** file has its full size, so zeros need not be written.
*/
SCR_FN int scr_member_store(scr_member* m, const scr_erasure* ec, int c, uint64_t offset, char* buf, size_t n)
{
  uint64_t at;
  uLong*   sum;
  int      err, rc;

  if (scr_erasure_symbol(ec, m->r, c, &at) == SCR_SYMBOL_DATA) {
    rc = scr_window_write(&m->win, at + offset, buf, n);
    err = m->frugal ? scr_window_close(&m->win) : SCR_SUCCESS;
    return rc != SCR_SUCCESS ? rc : err;
  }
  if (!scr_is_zero(buf, n) && scr_pwrite_all(m->fd, buf, n, (off_t)(m->head + at + offset)) < 0)
    return SCR_ERRNO("cannot write %s", m->temp[m->n]);
  sum = &m->sum[at / ec->chunk];
  *sum = scr_crc32(*sum, buf, n);
  return SCR_SUCCESS;
}

/*
** Compare the CRC32 of each file of M with the recorded one.  Where none is recorded, it is recorded now if RECORD is
** set; otherwise rebuilt files are counted in *UNPROVEN.  Lost empty files are created.  SCR_ERR_CRC, with the reason,
** on a difference.
*/
SCR_FN int scr_member_check(scr_member* m, int record, int* unproven)
{
  int         write = (m->lost & SCR_LOST_DATA) != 0, i, fd, rc = SCR_SUCCESS;
  const char* what = write    ? "it was rebuilt from a corrupt file of its set, and is discarded"
                     : record ? "it was corrupted in the cache"
                              : "it is corrupt";

  for (i = 0; i < m->n && rc == SCR_SUCCESS; i++) {
    scr_file* f = &m->e->file[m->index[i]];
    uLong     crc = SCR_CRC32_START;
    if (write) rc = scr_window_fd(&m->win, i, &fd); /* creates an empty one, which no byte has passed */
    if (rc == SCR_SUCCESS) rc = scr_window_crc(&m->win, i, &crc);
    if (rc == SCR_SUCCESS && f->has_crc) {
      rc = scr_file_has_crc(m->path[i], crc, f->crc, what);
    } else if (record && rc == SCR_SUCCESS) {
      f->crc = crc;
      f->has_crc = 1;
    } else if (m->bad[i]) {
      ++*unproven;
    }
  }
  return rc;
}

/*
** Write the header H if the redundancy file of M is new, and close all files.  If SYNC is set, new files are synced
** first.
*/
SCR_FN int scr_member_finish(scr_member* m, const scr_header* h, int sync)
{
  scr_buf b = {NULL, 0, 0, 0};
  int     i, fd, err, make = (m->lost & SCR_LOST_RED) != 0, rc = SCR_SUCCESS;

  sync = sync && scr_fsync_enabled;
  for (i = 0; sync && i < m->n && rc == SCR_SUCCESS; i++) {
    if (!m->bad[i] || m->temp[i] == NULL) continue;
    rc = scr_window_fd(&m->win, i, &fd);
    if (rc == SCR_SUCCESS && scr_os.fsync(fd) < 0) rc = SCR_ERRNO("cannot sync %s", m->temp[i]);
  }
  err = scr_window_close(&m->win);
  if (rc == SCR_SUCCESS) rc = err;
  if (make && rc == SCR_SUCCESS) rc = scr_header_image(h, &b);
  if (make && rc == SCR_SUCCESS) {
    if (b.n != m->head)
      rc = SCR_ERR(SCR_ERR_FORMAT, "the header of %s changed its size from %" PRIu64 " to %zu bytes", m->red, m->head,
                   b.n);
    else if (scr_pwrite_all(m->fd, b.p, b.n, 0) < 0) rc = SCR_ERRNO("cannot write %s", m->temp[m->n]);
    else if (sync && scr_os.fsync(m->fd) < 0) rc = SCR_ERRNO("cannot sync %s", m->temp[m->n]);
    m->crc = scr_crc32(SCR_CRC32_START, b.p, b.n);
    for (i = 0; i < m->k; i++) m->crc = scr_crc32_combine(m->crc, m->sum[i], m->part);
  }
  if (m->fd >= 0 && scr_os.close(m->fd) < 0 && make && rc == SCR_SUCCESS)
    rc = SCR_ERRNO("cannot close %s", m->temp[m->n]);
  m->fd = -1;
  scr_buf_free(&b);
  return rc;
}

/*
** Rename the new file I of M, or its new redundancy file if I = n, into its place.  If SYNC is set, the rename is
** durable.
*/
SCR_FN int scr_member_place(scr_member* m, int i, int sync)
{
  const char* path = i < m->n ? m->path[i] : m->red;

  if (scr_os.rename(m->temp[i], path) < 0) return SCR_ERRNO("cannot rename %s to %s", m->temp[i], path);
  scr_free(&m->temp[i]);
  return sync ? scr_dir_sync(path) : SCR_SUCCESS;
}

/* Close and free everything but the entry; remaining temporary files are removed. */
SCR_FN void scr_member_end(scr_member* m)
{
  int i;

  if (m->fd >= 0) scr_os.close(m->fd);
  m->fd = -1;
  scr_window_free(&m->win);
  for (i = 0; m->temp != NULL && i <= m->n; i++) {
    if (m->temp[i] != NULL) scr_os.unlink(m->temp[i]);
    scr_free(&m->temp[i]);
  }
  for (i = 0; m->path != NULL && i < m->n; i++) scr_free(&m->path[i]);
  scr_free(&m->red);
  scr_free(&m->sum);
  scr_free(&m->index);
  scr_free(&m->size);
  scr_free(&m->path);
  scr_free(&m->bad);
  scr_free(&m->temp);
}

/* ==== 12 FILEMAP ========================================================================================
** The entries of the cached datasets that a rank holds, and the file that records them.
**
**   RANK/<owner>/DSET/<id>/{DSETDESC, REDDESC, FLUSH, FILES, FILE/<path>/META, ...}   an entry (part 08)
**   DSET/<id>/RANK/<owner>                                                            index by dataset
**
** Uses       errors, memory, hash, hash files, dataset
** Offers     scr_filemap; scr_filemap_clear, scr_filemap_by_id, scr_filemap_find, scr_filemap_remove, scr_filemap_put,
**            scr_filemap_merge, scr_filemap_to_hash, scr_filemap_from_hash, scr_filemap_write, scr_filemap_read
** Invariants
**   F1  A filemap holds at most one entry for each dataset id and owner, because its file can hold only one.
**   F2  The second index, DSET, is computed when the file is written, and is not read.
** Failure    The file is unchanged, or fully replaced.
** ====================================================================================================== */

typedef struct {
  scr_entry** entry; /* [n], in the order in which they were added */
  int         n;
} scr_filemap;

SCR_FN void scr_filemap_clear(scr_filemap* map)
{
  while (map->n > 0) scr_entry_free(&map->entry[--map->n]);
  scr_free(&map->entry);
}

/* The entry of OWNER in dataset ID, whatever its identity, or NULL. */
SCR_FN scr_entry* scr_filemap_by_id(const scr_filemap* map, int id, int owner)
{
  int i;
  for (i = 0; i < map->n; i++)
    if (map->entry[i]->desc.identity.id == id && map->entry[i]->owner == owner) return map->entry[i];
  return NULL;
}

/* The entry of OWNER in the dataset with this identity, or NULL. */
SCR_FN scr_entry* scr_filemap_find(const scr_filemap* map, const scr_identity* identity, int owner)
{
  scr_entry* e = scr_filemap_by_id(map, identity->id, owner);
  return e != NULL && scr_identity_cmp(&e->desc.identity, identity) == 0 ? e : NULL;
}

/* Remove E from MAP, and free it. */
SCR_FN void scr_filemap_remove(scr_filemap* map, scr_entry* e)
{
  int i;

  for (i = 0; i < map->n && map->entry[i] != e; i++) continue;
  if (i == map->n) return;
  scr_entry_free(&map->entry[i]);
  memmove(&map->entry[i], &map->entry[i + 1], (size_t)(map->n - i - 1) * sizeof *map->entry);
  map->n--;
}

/*
** Add E to MAP, which then owns it, replacing an entry of the same owner and id.  E is NULL if there was no memory for
** it.
*/
SCR_FN int scr_filemap_put(scr_filemap* map, scr_entry* e)
{
  int i;

  if (e == NULL) return SCR_ERR_OOM();
  for (i = 0; i < map->n; i++)
    if (map->entry[i]->desc.identity.id == e->desc.identity.id && map->entry[i]->owner == e->owner) {
      if (map->entry[i] != e) scr_entry_free(&map->entry[i]);
      map->entry[i] = e;
      return SCR_SUCCESS;
    }
  if (!scr_grow(&map->entry, map->n, sizeof(scr_entry*))) {
    scr_entry_free(&e);
    return SCR_ERR_OOM();
  }
  map->entry[map->n++] = e;
  return SCR_SUCCESS;
}

/*
** Add copies of the entries of FROM to INTO.  Where both have an entry of the same owner and id, the younger dataset
** wins; of the same dataset, the entry with more files.
*/
SCR_FN int scr_filemap_merge(scr_filemap* into, const scr_filemap* from)
{
  int i, rc = SCR_SUCCESS;

  for (i = 0; i < from->n && rc == SCR_SUCCESS; i++) {
    const scr_entry *e = from->entry[i], *there = scr_filemap_by_id(into, e->desc.identity.id, e->owner);
    if (there != NULL && scr_identity_same(&there->desc.identity, &e->desc.identity) ? e->files <= there->files
        : there != NULL ? e->desc.identity.created <= there->desc.identity.created
                        : 0)
      continue;
    rc = scr_filemap_put(into, scr_entry_dup(e));
  }
  return rc;
}

/* Write the filemap to H, an empty hash, with file paths on the node of HOME. */
SCR_FN int scr_filemap_to_hash(const scr_filemap* map, const scr_home* home, scr_hash* h)
{
  int i, rc = SCR_SUCCESS;

  for (i = 0; i < map->n && rc == SCR_SUCCESS; i++) {
    const scr_entry* e = map->entry[i];
    scr_hash*        to = scr_hash_setf(h, NULL, "%s %d %s %d", "RANK", e->owner, "DSET", e->desc.identity.id);
    scr_hash_setf(h, NULL, "%s %d %s %d", "DSET", e->desc.identity.id, "RANK", e->owner);
    rc = to == NULL ? SCR_ERR_OOM() : scr_entry_write(to, e, home);
  }
  return rc;
}

/* The dataset id or rank that KEY denotes, or -1. */
SCR_FN int scr_filemap_number(const char* key)
{
  int64_t v;

  if (!isdigit((unsigned char)key[0]) || (key[0] == '0' && key[1] != '\0')) return -1;
  return scr_str_int64(key, &v) == SCR_SUCCESS && v <= INT_MAX ? (int)v : -1;
}

/* Add the entries of H to MAP.  SCR_ERR_FORMAT if a key is not a rank or not an id. */
SCR_FN int scr_filemap_from_hash(const scr_hash* h, scr_filemap* map)
{
  const scr_hash_elem *r, *d;
  int                  rc = SCR_SUCCESS;

  for (r = scr_hash_elem_first(scr_hash_get(h, "RANK")); r != NULL; r = scr_hash_elem_next(r)) {
    int owner = scr_filemap_number(scr_hash_elem_key(r));
    if (owner < 0) return SCR_ERR(SCR_ERR_FORMAT, "%.100s is not a rank", scr_hash_elem_key(r));
    d = scr_hash_elem_first(scr_hash_get(scr_hash_elem_hash(r), "DSET"));
    for (; d != NULL && rc == SCR_SUCCESS; d = scr_hash_elem_next(d)) {
      int id = scr_filemap_number(scr_hash_elem_key(d));
      if (id < 0) return SCR_ERR(SCR_ERR_FORMAT, "%.100s is not a dataset id", scr_hash_elem_key(d));
      rc = scr_filemap_put(map, scr_entry_read(scr_hash_elem_hash(d), owner, id));
    }
  }
  return rc;
}

/* Replace the file PATH by MAP atomically, with file paths on the node of HOME. */
SCR_FN int scr_filemap_write(const char* path, const scr_filemap* map, const scr_home* home)
{
  scr_hash* h = scr_hash_new();
  int       rc = scr_filemap_to_hash(map, home, h);

  if (rc == SCR_SUCCESS) rc = scr_hash_file_write(path, h);
  scr_hash_delete(&h);
  return rc;
}

/*
** Add the entries of the file PATH to MAP.  SCR_ERR_NOT_FOUND if there is no file, SCR_ERR_FORMAT if it is not a
** filemap; MAP may then have some of its entries.
*/
SCR_FN int scr_filemap_read(const char* path, scr_filemap* map)
{
  scr_hash* h = scr_hash_new();
  char      why[SCR_ERR_TEXT_MAX];
  int       rc = h == NULL ? SCR_ERR_OOM() : scr_hash_file_read(path, h);

  if (rc == SCR_SUCCESS && (rc = scr_filemap_from_hash(h, map)) == SCR_ERR_FORMAT) {
    snprintf(why, sizeof why, "%.*s", scr_err_length, scr_err_text);
    rc = SCR_ERR(rc, "%.900s is not a filemap: %s", path, why);
  }
  scr_hash_delete(&h);
  return rc;
}

/* ==== 13 PREFIX: INDEX, SUMMARY, OBJECTS ================================================================
** The datasets on the prefix directory, and how they change, given only paths: without MPI and without a run.
**
**   <prefix>/.scr/index.scr      VERSION 1, CURRENT/<dir>, CURRENT_BY/<USER or RUN>/{DIR/<dir>, ID/<id>, PASSED/<id>},
**                                SERVED/<parameter>/<value>/JOB/<key>.., CUT/<id>, PASSED/<id>/UNTIL/<id>..,
**                                DIR/<dir>/DSET/<id>,
**                                DSET/<id>/DIR/<dir>/{DSET{descriptor}, COMPLETE, FLUSHED, REDO, UNREAD 1,
**                                                     FETCHED/<time>.., FAILED/<time>/JOB/<key>.., PASSED/<time>..}
**   <dir>/.scr/summary.scr       VERSION 6, COMPLETE, DSET{descriptor}
**   <dir>/.scr/rank2file.scr     LEVEL, RANKS, DSET{identity}, RANK/<r>/{FILE/<node>, OFFSET 0}: the root of a tree
**   <dir>/.scr/rank2file.<level>.<r>.scr   LEVEL, RANKS, RANK/<r>/{FILE/<node>, OFFSET 0}: a node, which rank r wrote
**   <dir>/.scr/rank2file.0.<r>.scr   LEVEL 0, RANKS, RANK/<owner>/FILE/<path>/{SIZE, CRC, MODE, MTIME, TMP, NOFETCH,
**                                                     SEG/<n>/{FILE, OFFSET, LENGTH}}: a leaf
**   <dir>/.scr/ctr.<n>.scr       a container: parts of files, which SEG finds
**   <dir>/.scr/rank2file.<n>.names   RANK/<owner>/FILE/<path>/..: the files whose paths have this hash, for a dataset
**                                that is read in place; these paths are below the prefix
**
** <dir> is the directory of a dataset below the prefix; FILE paths are relative to it.  Two older forms of the index
** are read and converted to this one: version 1 with the name of the dataset in place of its directory, and version 2,
** which has one copy for each id; the file itself stays as index.scr.version<n>.
**
** An object is a file of the dataset as a flush puts it on the prefix: a file there too, or packed into containers.
** What a flush makes is written under temporary names beside the final ones, and renamed once the index holds the
** dataset.  Every later operation on a dataset on the prefix works on its objects, and on files by scr_objects_walk.
**
** Uses       platform, errors, memory, path, hash, hash files, dataset, kernels, file window
** Offers     scr_record, scr_index, scr_index_item, scr_choice, scr_prefix_place, scr_object, scr_objects,
**            scr_objects_at, scr_rank2file; scr_record_path, scr_record_mkdir, scr_record_read, scr_record_open,
**            scr_record_close, scr_record_put_aside, scr_record_sweep, scr_index_id, scr_index_cut_id,
**            scr_index_is_passed, scr_index_get, scr_index_walk, scr_index_sort, scr_index_failed_in,
**            scr_index_is_good, scr_index_read, scr_index_open, scr_index_close, scr_index_newest, scr_index_find,
**            scr_index_look_up, scr_index_named, scr_index_named_ckpt, scr_index_same, scr_index_count_complete,
**            scr_index_has_renames, scr_index_max_id, scr_choice_read, scr_choice_release, scr_index_current,
**            scr_index_set_current, scr_index_set, scr_index_remove, scr_index_note_attempt, scr_index_note_fetched,
**            scr_index_note_failed, scr_index_forgive, scr_index_note_passed, scr_index_drop_newer,
**            scr_index_serve_choice, scr_index_cut, scr_index_window, scr_index_outgrown, scr_index_has_served,
**            scr_index_last_served, scr_index_note_served, scr_index_note_renamed, scr_index_change,
**            scr_summary_write, scr_summary_read, scr_summary_path, scr_prefix_locate, scr_objects_free,
**            scr_objects_add_owner, scr_objects_add, scr_object_name_tmp, scr_objects_add_entry, scr_object_place,
**            scr_object_path, scr_object_extents, scr_objects_pack, scr_objects_walk, scr_objects_path,
**            scr_object_has_crc, scr_object_copy, scr_object_check, scr_objects_dirs, scr_objects_sync,
**            scr_objects_rename, scr_objects_remove_tmp, scr_objects_delete, scr_objects_prune, scr_objects_to_hash,
**            scr_objects_from_hash, scr_rank2file_free, scr_rank2file_add, scr_rank2file_span, scr_rank2file_begins,
**            scr_rank2file_read_root, scr_rank2file_read, scr_rank2file_write, scr_rank2file_write_root,
**            scr_rank2file_read_leaf, scr_rank2file_write_leaf, scr_rank2file_walk, scr_names_bucket, scr_names_write,
**            scr_names_read, scr_prefix_finish_renames, scr_prefix_remove_meta, scr_prefix_forget,
**            scr_prefix_choose_dir, scr_prefix_finish_all
** Invariants
**   X1  In an index that was read or created here, every id is an integer, 1 or more, every <dir> is a safe relative
**       path, and DIR and DSET list the same pairs.
**   X2  A file of an unknown version is an error; it is never rewritten.
**   X3  When the dataset that CURRENT names is removed or rejected, CURRENT moves to the newest good checkpoint.
**   X4  Every change to a file of <prefix>/.scr reads, changes and replaces it under one lock: open, then close.
**   X5  A path in a metadata file is used only if it stays below the prefix.
** Failure    Files stay as they were, or are fully replaced.
** ====================================================================================================== */

#define SCR_INDEX_VERSION   1
#define SCR_SUMMARY_VERSION 6

/* ---- files in <prefix>/.scr ---- */

/* A file of <prefix>/.scr in memory. */
typedef struct {
  const char* prefix;
  const char* name;
  scr_hash*   h;
  int         lock;  /* descriptor of its lock; -1 if the file is only read */
  int         other; /* not 0: the file has the form of another version, which stays beside it when it is replaced */
} scr_record;

/* The path of the file NAME in PREFIX/.scr. */
SCR_FN int scr_record_path(const char* prefix, const char* name, char* path, size_t n)
{
  return scr_fmt(path, n, "%s/.scr/%s", prefix, name);
}

/*
** Create PREFIX/.scr if it is missing, with the group and the group's rights of PREFIX.  PREFIX itself is not
** created, so that a mistyped one is noticed.
*/
SCR_FN int scr_record_mkdir(const char* prefix)
{
  char        path[SCR_MAX_FILENAME];
  struct stat st;
  int         fd, rc = scr_fmt(path, sizeof path, "%s/.scr", prefix);

  if (rc != SCR_SUCCESS) return rc;
  if (scr_os.mkdir(path, 0777) < 0) {
    if (errno == EEXIST) return SCR_SUCCESS;
    return SCR_ERRNO("cannot create the directory %s; is the prefix there and writable?", path);
  }
  if ((rc = scr_dir_sync(path)) != SCR_SUCCESS) return rc;
  if (stat(prefix, &st) < 0 || !(st.st_mode & S_IWGRP) || (fd = scr_os.open(path, O_RDONLY | O_DIRECTORY, 0)) < 0)
    return SCR_SUCCESS;
  if (scr_os.fchown(fd, (uid_t)-1, st.st_gid) == 0)
    scr_os.fchmod(fd, (st.st_mode & 02770) | 0700 | (st.st_mode & 0005));
  scr_os.close(fd);
  return SCR_SUCCESS;
}

/* Read the file NAME of PREFIX; R is empty if there is none.  The caller calls scr_record_close, after an error too. */
SCR_FN int scr_record_read(scr_record* r, const char* prefix, const char* name)
{
  char path[SCR_MAX_FILENAME];
  int  rc;

  r->prefix = prefix;
  r->name = name;
  r->lock = -1;
  r->other = 0;
  if ((r->h = scr_hash_new()) == NULL) return SCR_ERR_OOM();
  if ((rc = scr_record_path(prefix, name, path, sizeof path)) != SCR_SUCCESS) return rc;
  rc = scr_hash_file_read(path, r->h);
  return rc == SCR_ERR_NOT_FOUND ? SCR_SUCCESS : rc;
}

/*
** Like scr_record_read, but first waits for the lock of the file and holds it until scr_record_close.  Creates
** PREFIX/.scr if it is missing.
*/
SCR_FN int scr_record_open(scr_record* r, const char* prefix, const char* name)
{
  char path[SCR_MAX_FILENAME];
  int  lock, rc;

  memset(r, 0, sizeof *r);
  r->lock = -1;
  if ((rc = scr_record_mkdir(prefix)) != SCR_SUCCESS) return rc;
  if ((rc = scr_record_path(prefix, name, path, sizeof path)) != SCR_SUCCESS) return rc;
  if ((rc = scr_hash_file_lock(path, &lock)) != SCR_SUCCESS) return rc;
  rc = scr_record_read(r, prefix, name);
  r->lock = lock;
  return rc;
}

/*
** Replace the file if RC is SCR_SUCCESS and WRITE is set; then unlock and free it.  Returns RC, or the error of the
** write.
*/
SCR_FN int scr_record_close(scr_record* r, int rc, int write)
{
  char path[SCR_MAX_FILENAME];

  if (rc == SCR_SUCCESS && write) {
    rc = scr_record_path(r->prefix, r->name, path, sizeof path);
    if (rc == SCR_SUCCESS) rc = scr_hash_file_write(path, r->h);
  }
  scr_hash_file_unlock(&r->lock);
  scr_hash_delete(&r->h);
  return rc;
}

/* Keep a copy of the file of R, which is in the form of another version, as NAME.version<n>, unless there is one. */
SCR_FN int scr_record_keep_other(const scr_record* r)
{
  char        path[SCR_MAX_FILENAME], copy[SCR_MAX_FILENAME];
  struct stat st;
  scr_hash*   h;
  int         rc = scr_record_path(r->prefix, r->name, path, sizeof path);

  if (rc == SCR_SUCCESS) rc = scr_fmt(copy, sizeof copy, "%s.version%d", path, r->other);
  if (rc != SCR_SUCCESS || scr_os.lstat(copy, &st) == 0) return rc;
  h = scr_hash_new();
  rc = scr_hash_file_read(path, h);
  if (rc == SCR_SUCCESS) rc = scr_hash_file_write(copy, h);
  scr_hash_delete(&h);
  return rc;
}

/* Keep the file NAME of PREFIX, which is damaged, under another name. */
SCR_FN int scr_record_put_aside(const char* prefix, const char* name)
{
  char path[SCR_MAX_FILENAME], aside[SCR_MAX_FILENAME];
  int  rc = scr_record_path(prefix, name, path, sizeof path);

  if (rc == SCR_SUCCESS) rc = scr_fmt(aside, sizeof aside, "%s.damaged", path);
  if (rc == SCR_SUCCESS && scr_os.rename(path, aside) < 0) rc = SCR_ERRNO("cannot rename %s", path);
  return rc;
}

/* Check that the version of H, which was read from PATH, is A or B.  WHAT names the kind of file in messages. */
SCR_FN int scr_record_check_version(const scr_hash* h, const char* path, const char* what, int a, int b, int* version)
{
  const char* text = scr_hash_elem_get_first_val(h, "VERSION");

  if (text == NULL) return SCR_ERR(SCR_ERR_FORMAT, "%s is not %s: it has no VERSION", path, what);
  if (scr_hash_util_get_int(h, "VERSION", version) == SCR_SUCCESS && (*version == a || *version == b))
    return SCR_SUCCESS;
  return SCR_ERR(SCR_ERR_FORMAT, "%s is %s of version %.40s, which this release cannot read (it reads %d to %d)", path,
                 what, text, a, b);
}

/* Add the current time to H under KEY, beside earlier ones.  Returns the hash below it. */
SCR_FN scr_hash* scr_record_stamp(scr_hash* h, const char* key)
{
  char text[32];

  scr_time_string(time(NULL), text, sizeof text);
  return scr_hash_set_kv(h, key, text);
}

/*
** Returns 1 if NAME is a temporary file that scr_hash_file_write makes for FILE, one of the files of PREFIX/.scr:
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
** Remove temporary files in PREFIX/.scr that no writer will rename any more.  Each is removed under the lock of its
** file, which a writer holds, so that the files of a command that is writing now are safe.  The caller holds the lock
** of the prefix, because the writer of the nodes file takes no other.  What cannot be removed stays.
*/
SCR_FN void scr_record_sweep(const char* prefix)
{
  static const char* const files[] = {"index.scr", "flush.scr", "halt.scr", "nodes.scr", "prefix.scr"};
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

/* ---- the index ---- */

typedef scr_record scr_index;

/* One dataset of an index.  All zeros is the position before the first. */
typedef struct {
  int            id;
  const char*    dir; /* points to a key of the index: invalid once the dataset is removed */
  scr_desc       desc;
  int            complete;
  int            renaming; /* some files may still have their temporary names */
  int            failed;   /* the application rejected it */
  int            unread;   /* the last run that tried to fetch it could not */
  int            passed;   /* the user chose an older one, or a fresh start: offered only if the user chooses it */
  const char*    flushed;  /* when it was flushed; NULL if the index does not say */
  scr_hash_elem *id_elem, *dir_elem;
} scr_index_item;

/* The dataset id that KEY denotes, or 0. */
SCR_FN int scr_index_id(const char* key)
{
  int64_t id;

  if (key == NULL || *key < '1' || *key > '9' || scr_str_int64(key, &id) != SCR_SUCCESS) return 0;
  return id > 0 && id < INT_MAX ? (int)id : 0; /* the largest id plus one is still an int */
}

SCR_FN scr_hash* scr_index_entry(const scr_index* index, int id, const char* dir)
{
  return scr_hash_get_kv(scr_hash_get_kv_int(index->h, "DSET", id), "DIR", dir);
}

/* The id up to which a fresh start has cut off the datasets: later runs do not offer them.  0: there was none. */
SCR_FN int scr_index_cut_id(const scr_index* index)
{
  return scr_index_id(scr_hash_elem_get_first_val(index->h, "CUT"));
}

/*
** Returns 1 if checkpoint ID was passed over: it is one of those that a fresh start has cut off, or lies between a
** choice that was served and what was written after that.  Caches that no run sees now may have such checkpoints too.
*/
SCR_FN int scr_index_is_passed(const scr_index* index, int id)
{
  const scr_hash_elem* e = scr_hash_elem_first(scr_hash_get(index->h, "PASSED"));

  for (; e != NULL; e = scr_hash_elem_next(e))
    if (id > scr_index_id(scr_hash_elem_key(e)) && id < scr_hash_int_or(scr_hash_elem_hash(e), "UNTIL", 0)) return 1;
  return id <= scr_index_cut_id(index);
}

/* Record that what lies between ID and UNTIL was passed over, and that ID is not. */
SCR_FN void scr_index_pass_range(scr_index* index, int id, int until)
{
  scr_hash*      old = scr_hash_extract(index->h, "PASSED");
  scr_hash_elem* e;

  for (e = scr_hash_elem_first(old); e != NULL; e = scr_hash_elem_next(e)) {
    int from = scr_index_id(scr_hash_elem_key(e)), to = scr_hash_int_or(scr_hash_elem_hash(e), "UNTIL", 0);
    if (from < id) scr_hash_util_set_int(scr_hash_set_kv_int(index->h, "PASSED", from), "UNTIL", to < id ? to : id);
    else if (to > until) until = to;
  }
  scr_hash_delete(&old);
  scr_hash_util_set_int(scr_hash_set_kv_int(index->h, "PASSED", id), "UNTIL", until);
}

/* Read dataset ID in DIR from the index into IT; 0 if the index does not have it. */
SCR_FN int scr_index_get(const scr_index* index, int id, const char* dir, scr_index_item* it)
{
  const scr_hash* entry = scr_index_entry(index, id, dir);

  if (entry == NULL) return 0;
  it->id = id;
  it->dir = dir;
  scr_desc_read(scr_hash_get(entry, "DSET"), &it->desc);
  it->complete = scr_hash_int_or(entry, "COMPLETE", 0) == 1;
  it->renaming = scr_hash_get(entry, "REDO") != NULL;
  it->failed = scr_hash_get(entry, "FAILED") != NULL;
  it->passed = scr_hash_get(entry, "PASSED") != NULL || scr_index_is_passed(index, id);
  it->unread = scr_hash_get(entry, "UNREAD") != NULL;
  it->flushed = scr_hash_elem_get_first_val(entry, "FLUSHED");
  return 1;
}

/* Advance IT to the next dataset; 0 if there is none.  The index must not change meanwhile. */
SCR_FN int scr_index_walk(const scr_index* index, scr_index_item* it)
{
  if (it->dir_elem != NULL) it->dir_elem = scr_hash_elem_next(it->dir_elem);
  while (it->dir_elem == NULL) {
    if (it->id_elem == NULL) it->id_elem = scr_hash_elem_first(scr_hash_get(index->h, "DSET"));
    else it->id_elem = scr_hash_elem_next(it->id_elem);
    if (it->id_elem == NULL) return 0;
    if (scr_index_id(scr_hash_elem_key(it->id_elem)) != 0)
      it->dir_elem = scr_hash_elem_first(scr_hash_get(scr_hash_elem_hash(it->id_elem), "DIR"));
  }
  return scr_index_get(index, scr_index_id(scr_hash_elem_key(it->id_elem)), scr_hash_elem_key(it->dir_elem), it);
}

/* Sort the datasets newest first, the order in which they are listed. */
SCR_FN void scr_index_sort(scr_index* index)
{
  scr_hash_sort_int(scr_hash_get(index->h, "DSET"), SCR_HASH_SORT_DESCENDING);
}

/* Returns 1 if the application rejected the dataset IT in the job with this key. */
SCR_FN int scr_index_failed_in(const scr_index* index, const scr_index_item* it, const char* job)
{
  const scr_hash_elem* e = scr_hash_elem_first(scr_hash_get(scr_index_entry(index, it->id, it->dir), "FAILED"));

  for (; e != NULL; e = scr_hash_elem_next(e))
    if (scr_hash_get_kv(scr_hash_elem_hash(e), "JOB", job) != NULL) return 1;
  return 0;
}

/* Returns 1 if the dataset was copied completely and the application has not rejected it. */
SCR_FN int scr_index_is_good(const scr_index_item* it)
{
  return it->complete && !it->failed && !it->renaming;
}

/* ---- the index: reading and writing ---- */

/* Store ENTRY as dataset ID in DIR; the index then owns ENTRY. */
SCR_FN int scr_index_put(scr_index* index, int id, const char* dir, scr_hash* entry)
{
  scr_hash* dset = scr_hash_set_kv_int(index->h, "DSET", id);
  scr_hash* dirs = scr_hash_get(dset, "DIR");

  if (dirs == NULL && dset != NULL) dirs = scr_hash_set(dset, "DIR", scr_hash_new());
  if (dirs == NULL || entry == NULL || scr_oom) {
    scr_hash_delete(&entry);
    return SCR_ERR_OOM();
  }
  scr_hash_set(dirs, dir, entry);
  scr_hash_set_kv_int(scr_hash_set_kv(index->h, "DIR", dir), "DSET", id);
  return scr_oom ? SCR_ERR_OOM() : SCR_SUCCESS;
}

/*
** Add a copy of ENTRY, which the file lists for dataset ID under NAME.  A name that is not a safe path, as older
** releases allowed, becomes scr.dataset.<id>; the descriptor keeps the name, so a lookup by name still finds it.
*/
SCR_FN int scr_index_import(scr_index* index, int id, const char* name, const scr_hash* entry)
{
  char dir[SCR_MAX_FILENAME];

  if (name != NULL && strlen(name) < sizeof dir && scr_path_is_safe_rel(name)) snprintf(dir, sizeof dir, "%s", name);
  else snprintf(dir, sizeof dir, "scr.dataset.%d", id);
  if (scr_index_entry(index, id, dir) != NULL) return SCR_SUCCESS;
  return scr_index_put(index, id, dir, scr_hash_dup(entry));
}

/* The name that an index of version 2 has for dataset ID, whose hash is DSET; NULL if it has none. */
SCR_FN const char* scr_index_name_of(const scr_hash* file, int id, const scr_hash* dset)
{
  const char*    name = scr_hash_elem_get_first_val(scr_hash_get(dset, "DSET"), "NAME");
  scr_hash_elem* e;

  if (name != NULL) return name;
  for (e = scr_hash_elem_first(scr_hash_get(file, "NAME")); e != NULL; e = scr_hash_elem_next(e))
    if (scr_hash_get_kv_int(scr_hash_elem_hash(e), "DSET", id) != NULL) return scr_hash_elem_key(e);
  return NULL;
}

/* Add what FILE has for dataset ID, whose hash is DSET.  Directories take precedence over names. */
SCR_FN int scr_index_import_id(scr_index* index, const scr_hash* file, int version, int id, const scr_hash* dset)
{
  static const char* const forms[] = {"DIR", "NAME"};
  scr_hash_elem*           e;
  int                      i, rc = SCR_SUCCESS;

  if (version != SCR_INDEX_VERSION || scr_hash_get(dset, "NAME") != NULL) index->other = version;
  if (version != SCR_INDEX_VERSION) return scr_index_import(index, id, scr_index_name_of(file, id, dset), dset);
  for (i = 0; i < 2; i++)
    for (e = scr_hash_elem_first(scr_hash_get(dset, forms[i])); e != NULL; e = scr_hash_elem_next(e))
      if (rc == SCR_SUCCESS) rc = scr_index_import(index, id, scr_hash_elem_key(e), scr_hash_elem_hash(e));
  return rc;
}

/* Convert the index from the form of its file to the current form.  Unknown keys are kept. */
SCR_FN int scr_index_normalise(scr_index* index)
{
  static const char* const own[] = {"VERSION", "DSET", "DIR", "NAME"};
  scr_hash*                file = index->h;
  scr_hash_elem*           e;
  char                     path[SCR_MAX_FILENAME];
  size_t                   i;
  int                      version = 0, rc;

  if (scr_hash_size(file) == 0) return SCR_SUCCESS;
  if ((rc = scr_record_path(index->prefix, index->name, path, sizeof path)) != SCR_SUCCESS) return rc;
  if ((index->h = scr_hash_new()) == NULL) rc = SCR_ERR_OOM();
  if (rc == SCR_SUCCESS) rc = scr_record_check_version(file, path, "an index", 1, 2, &version);
  for (e = scr_hash_elem_first(file); e != NULL && rc == SCR_SUCCESS; e = scr_hash_elem_next(e)) {
    for (i = 0; i < sizeof own / sizeof own[0]; i++)
      if (strcmp(scr_hash_elem_key(e), own[i]) == 0) break;
    if (i == sizeof own / sizeof own[0])
      scr_hash_set(index->h, scr_hash_elem_key(e), scr_hash_dup(scr_hash_elem_hash(e)));
  }
  for (e = scr_hash_elem_first(scr_hash_get(file, "DSET")); e != NULL && rc == SCR_SUCCESS; e = scr_hash_elem_next(e)) {
    int id = scr_index_id(scr_hash_elem_key(e));
    if (id != 0) rc = scr_index_import_id(index, file, version, id, scr_hash_elem_hash(e));
  }
  scr_hash_delete(&file);
  return rc == SCR_SUCCESS && scr_oom ? SCR_ERR_OOM() : rc;
}

/* An index that could not be read is empty. */
SCR_FN int scr_index_readable(scr_index* index, int rc)
{
  if (rc == SCR_SUCCESS) rc = scr_index_normalise(index);
  if (rc != SCR_SUCCESS) scr_hash_unset_all(index->h);
  return rc;
}

/*
** Read the index of PREFIX and convert it to the current form; on an error it is empty.  The caller calls
** scr_index_close in either case.
*/
SCR_FN int scr_index_read(scr_index* index, const char* prefix)
{
  int rc = scr_record_read(index, prefix, "index.scr");

  return scr_index_readable(index, rc);
}

/* Like scr_index_read, but holds the lock of the index, so that it can be changed. */
SCR_FN int scr_index_open(scr_index* index, const char* prefix)
{
  int rc = scr_record_open(index, prefix, "index.scr");

  return scr_index_readable(index, rc);
}

/*
** Write the index if RC is SCR_SUCCESS and WRITE is set; then unlock and free it.  One that another version has written
** is first copied.  Returns RC, or the error of the write.
*/
SCR_FN int scr_index_close(scr_index* index, int rc, int write)
{
  if (write) scr_hash_util_set_int(index->h, "VERSION", SCR_INDEX_VERSION);
  if (write && rc == SCR_SUCCESS && index->other) rc = scr_record_keep_other(index);
  return scr_record_close(index, rc, write);
}

/* ---- the index: questions ---- */

/* Returns 1 if A is newer than B, which is of all zeros if there is none yet: by id, then by time of creation. */
SCR_FN int scr_index_is_newer(const scr_index_item* a, const scr_index_item* b)
{
  return a->id > b->id || (a->id == b->id && a->desc.identity.created > b->desc.identity.created);
}

/*
** Find the newest checkpoint with an id below BELOW that may be offered: a good one or, if JOB is not NULL, one that
** the application rejected, but not in the job with this key.  SCR_ERR_NOT_FOUND without a message.
*/
SCR_FN int scr_index_newest(const scr_index* index, int below, const char* job, scr_index_item* best)
{
  scr_index_item it;

  memset(&it, 0, sizeof it);
  memset(best, 0, sizeof *best);
  while (scr_index_walk(index, &it))
    if (it.id < below && it.complete && !it.renaming && !it.passed && scr_desc_is_ckpt(&it.desc) &&
        (job != NULL ? it.failed && !scr_index_failed_in(index, &it, job) : !it.failed) &&
        scr_index_is_newer(&it, best))
      *best = it;
  return best->id != 0 ? SCR_SUCCESS : SCR_ERR_NOT_FOUND;
}

/* What a name of the user can be. */
typedef enum { SCR_INDEX_NAME, SCR_INDEX_DIR } scr_index_by;

/*
** Find the newest dataset whose name or directory, as BY says, is NAME, complete or not; if ID is not 0, only the one
** with that id; if CKPT is 1, only complete checkpoints.  Returns 0 if there is none.
*/
SCR_FN int scr_index_find(const scr_index* index, scr_index_by by, const char* name, int id, int ckpt,
                          scr_index_item* best)
{
  scr_index_item it;

  memset(&it, 0, sizeof it);
  memset(best, 0, sizeof *best);
  while (scr_index_walk(index, &it))
    if (strcmp(by == SCR_INDEX_DIR ? it.dir : it.desc.name, name) == 0 && (id == 0 || it.id == id) &&
        (!ckpt || (it.complete && scr_desc_is_ckpt(&it.desc))) && scr_index_is_newer(&it, best))
      *best = it;
  return best->id != 0;
}

/* The same by name or, if there is none of this name, by directory. */
SCR_FN int scr_index_look_up(const scr_index* index, const char* name, int id, int ckpt, scr_index_item* best)
{
  return scr_index_find(index, SCR_INDEX_NAME, name, id, ckpt, best) ||
         scr_index_find(index, SCR_INDEX_DIR, name, id, ckpt, best);
}

/*
** Find the newest dataset called NAME or, if there is none, the newest one in the directory NAME; complete or not.
** SCR_ERR_NOT_FOUND without a message.
*/
SCR_FN int scr_index_named(const scr_index* index, const char* name, scr_index_item* best)
{
  return scr_index_look_up(index, name, 0, 0, best) ? SCR_SUCCESS : SCR_ERR_NOT_FOUND;
}

/* The same, but complete checkpoints take precedence: an output dataset may have the name of a checkpoint. */
SCR_FN int scr_index_named_ckpt(const scr_index* index, const char* name, scr_index_item* best)
{
  return scr_index_look_up(index, name, 0, 1, best) ? SCR_SUCCESS : scr_index_named(index, name, best);
}

/* Find the dataset with this identity; 0 if there is none. */
SCR_FN int scr_index_same(const scr_index* index, const scr_identity* identity, scr_index_item* it)
{
  const scr_hash_elem* e =
      scr_hash_elem_first(scr_hash_get(scr_hash_get_kv_int(index->h, "DSET", identity->id), "DIR"));

  memset(it, 0, sizeof *it);
  for (; e != NULL; e = scr_hash_elem_next(e))
    if (scr_index_get(index, identity->id, scr_hash_elem_key(e), it) && scr_identity_same(&it->desc.identity, identity))
      return 1;
  memset(it, 0, sizeof *it);
  return 0;
}

/* The number of complete checkpoints in the index, rejected ones included, but not those that the user passed over. */
SCR_FN int scr_index_count_complete(const scr_index* index)
{
  scr_index_item it;
  int            n = 0;

  memset(&it, 0, sizeof it);
  while (scr_index_walk(index, &it)) n += it.complete && !it.passed && scr_desc_is_ckpt(&it.desc);
  return n;
}

/* Returns 1 if some dataset may have files that still have their temporary names. */
SCR_FN int scr_index_has_renames(const scr_index* index)
{
  scr_index_item it;

  memset(&it, 0, sizeof it);
  while (scr_index_walk(index, &it))
    if (it.renaming) return 1;
  return 0;
}

/* The largest id of all datasets, or 0. */
SCR_FN int scr_index_max_id(const scr_index* index)
{
  scr_index_item it;
  int            max = 0;

  memset(&it, 0, sizeof it);
  while (scr_index_walk(index, &it))
    if (it.id > max) max = it.id;
  return max;
}

/* ---- the index: which checkpoint to restart from ---- */

/* What the index records about the choice of a checkpoint. */
typedef struct {
  char dir[SCR_MAX_FILENAME]; /* CURRENT, the directory of a dataset, or its name if only a cache has it; "" for none */
  int  id;                    /* and its id; 0 if not known: tools of other versions record only the directory */
  int  by_user;               /* 1: the user chose it, so flushes do not change it */
  int  until;                 /* what has ids from this one on was written after it was served; 0: it was not */
} scr_choice;

/*
** Returns 1 if CURRENT was set by the tools of another version, which do not say for whom: they set it if the user asks
** for it, or to the newest checkpoint, so that it does no harm to count it as a choice.
*/
SCR_FN int scr_choice_is_foreign(const scr_index* index, const char* dir, const char* recorded)
{
  const scr_hash_elem* e = scr_hash_elem_first(scr_hash_get(scr_hash_get_kv(index->h, "DIR", dir), "DSET"));
  scr_index_item       it;

  if (recorded != NULL) return strcmp(recorded, dir) != 0;
  return scr_hash_get(index->h, "CURRENT_BY") == NULL && e != NULL &&
         scr_index_get(index, scr_index_id(scr_hash_elem_key(e)), dir, &it) && it.desc.identity.nonce == 0;
}

SCR_FN void scr_choice_read(const scr_index* index, scr_choice* c)
{
  const scr_hash* user = scr_hash_get_kv(index->h, "CURRENT_BY", "USER");
  const scr_hash* by = user != NULL ? user : scr_hash_get_kv(index->h, "CURRENT_BY", "RUN");

  scr_desc_read_str(index->h, "CURRENT", c->dir, sizeof c->dir);
  c->id = scr_index_id(scr_hash_elem_get_first_val(by, "ID"));
  c->by_user = user != NULL;
  c->until = scr_hash_int_or(user, "PASSED", 0);
  if (*c->dir == '\0' || !scr_choice_is_foreign(index, c->dir, scr_hash_elem_get_first_val(by, "DIR"))) return;
  c->by_user = 1;
  c->id = c->until = 0;
}

SCR_FN void scr_choice_write(scr_index* index, const scr_choice* c)
{
  scr_hash* by;

  scr_hash_unset(index->h, "CURRENT");
  scr_hash_unset(index->h, "CURRENT_BY");
  if (*c->dir == '\0') return;
  scr_hash_util_set_str(index->h, "CURRENT", c->dir);
  by = scr_hash_set_kv(index->h, "CURRENT_BY", c->by_user ? "USER" : "RUN");
  scr_hash_util_set_str(by, "DIR", c->dir);
  if (c->id > 0) scr_hash_util_set_int(by, "ID", c->id);
  if (c->by_user && c->until) scr_hash_util_set_int(by, "PASSED", c->until);
}

/* The user's choice could not be loaded, or was rejected: CURRENT stays, but no longer counts as the user's choice. */
SCR_FN void scr_choice_release(scr_index* index, int id, const char* dir)
{
  scr_choice c;

  (void)id;
  (void)dir;
  scr_choice_read(index, &c);
  c.by_user = c.until = 0;
  scr_choice_write(index, &c);
}

/*
** Find the dataset that CURRENT names; 0 if there is none or the index does not have it.  Where its id is not
** recorded, a directory takes precedence over a name: if all datasets have the same name, only the directories
** differ.
*/
SCR_FN int scr_index_current(const scr_index* index, scr_index_item* it)
{
  scr_choice c;

  memset(it, 0, sizeof *it);
  scr_choice_read(index, &c);
  return *c.dir != '\0' && (scr_index_find(index, SCR_INDEX_DIR, c.dir, c.id, 0, it) ||
                            scr_index_find(index, SCR_INDEX_NAME, c.dir, c.id, 0, it));
}

/*
** Set CURRENT to dataset ID in DIR, or remove it if DIR is "".  BY_USER: because the user chose it; then DIR is the
** name of the dataset if only a cache has it.
*/
SCR_FN void scr_index_set_current(scr_index* index, int id, const char* dir, int by_user)
{
  scr_choice c;

  memset(&c, 0, sizeof c);
  snprintf(c.dir, sizeof c.dir, "%s", dir);
  c.id = id;
  c.by_user = by_user;
  scr_choice_write(index, &c);
}

/*
** If WAS_CURRENT, the dataset that CURRENT names is no longer usable: move CURRENT to the newest good checkpoint
** (X3).  That the user chose it no longer counts.
*/
SCR_FN void scr_index_leave_current(scr_index* index, int was_current)
{
  scr_index_item best;

  if (!was_current) return;
  scr_index_newest(index, INT_MAX, NULL, &best);
  scr_index_set_current(index, best.id, best.id != 0 ? best.dir : "", 0);
}

SCR_FN int scr_index_is_current(const scr_index* index, int id, const char* dir)
{
  scr_index_item it;
  return scr_index_current(index, &it) && it.id == id && strcmp(it.dir, dir) == 0;
}

/* ---- the index: changes ---- */

/*
** Enter the dataset DESC, which is in DIR below the prefix, as complete, with files that still have temporary names.
** It replaces an entry of the same id and directory.  CURRENT does not change.
*/
SCR_FN int scr_index_set(scr_index* index, const scr_desc* desc, const char* dir)
{
  scr_hash* entry;
  int       id = desc->identity.id;

  if (id < 1 || id == INT_MAX) return SCR_ERR(SCR_ERR_ARG, "%d is not a dataset id", id);
  if (!scr_path_is_safe_rel(dir))
    return SCR_ERR(SCR_ERR_PATH, "the dataset directory %s is not a path below the prefix", dir);
  entry = scr_hash_new();
  scr_desc_write(scr_hash_set(entry, "DSET", scr_hash_new()), desc);
  scr_hash_util_set_int(entry, "COMPLETE", 1);
  scr_record_stamp(entry, "FLUSHED");
  scr_hash_util_set_int(entry, "REDO", id);
  return scr_index_put(index, id, dir, entry);
}

/* Remove KEY from the child CHILD of PARENT, and CHILD too if that leaves it empty. */
SCR_FN void scr_index_prune(scr_hash* parent, const char* child, const char* key)
{
  scr_hash* h = scr_hash_get(parent, child);

  scr_hash_unset(h, key);
  if (scr_hash_size(h) == 0) scr_hash_unset(parent, child);
}

/* Remove dataset ID in DIR from the index. */
SCR_FN void scr_index_remove(scr_index* index, int id, const char* dir)
{
  char key[16], copy[SCR_MAX_FILENAME]; /* DIR may be a key of the index */
  int  current = scr_index_is_current(index, id, dir);

  snprintf(copy, sizeof copy, "%s", dir);
  snprintf(key, sizeof key, "%d", id);
  scr_index_prune(scr_hash_get_kv(index->h, "DSET", key), "DIR", copy);
  if (scr_hash_size(scr_hash_get_kv(index->h, "DSET", key)) == 0) scr_index_prune(index->h, "DSET", key);
  scr_index_prune(scr_hash_get_kv(index->h, "DIR", copy), "DSET", key);
  if (scr_hash_size(scr_hash_get_kv(index->h, "DIR", copy)) == 0) scr_index_prune(index->h, "DIR", copy);
  scr_index_leave_current(index, current);
}

/* Record that a run has tried in vain to fetch dataset ID in DIR, if the index has it. */
SCR_FN void scr_index_note_attempt(scr_index* index, int id, const char* dir)
{
  scr_hash* entry = scr_index_entry(index, id, dir);

  if (entry == NULL) return;
  scr_record_stamp(entry, "FETCHED");
  scr_hash_util_set_int(entry, "UNREAD", 1);
}

/* Record that dataset ID in DIR was fetched: it is CURRENT, unless that is the user's choice. */
SCR_FN void scr_index_note_fetched(scr_index* index, int id, const char* dir)
{
  scr_choice c;

  scr_index_note_attempt(index, id, dir);
  scr_hash_unset(scr_index_entry(index, id, dir), "UNREAD");
  scr_choice_read(index, &c);
  if (scr_index_entry(index, id, dir) != NULL && !c.by_user) scr_index_set_current(index, id, dir, 0);
}

/* Record that the application rejected dataset ID in DIR in the job with the key JOB. */
SCR_FN void scr_index_note_failed(scr_index* index, int id, const char* dir, const char* job)
{
  int       current = scr_index_is_current(index, id, dir);
  scr_hash* entry = scr_index_entry(index, id, dir);

  scr_hash_set_kv(scr_record_stamp(entry, "FAILED"), "JOB", job);
  scr_index_leave_current(index, current);
}

/* Forget all that was held against dataset ID in DIR; returns 1 if that was anything. */
SCR_FN int scr_index_forgive(scr_index* index, int id, const char* dir)
{
  scr_hash* entry = scr_index_entry(index, id, dir);
  int       found = scr_hash_get(entry, "FAILED") != NULL || scr_hash_get(entry, "PASSED") != NULL;

  scr_hash_unset(entry, "FAILED");
  scr_hash_unset(entry, "PASSED");
  return found;
}

/* Record that dataset ID in DIR was passed over. */
SCR_FN void scr_index_note_passed(scr_index* index, int id, const char* dir)
{
  scr_record_stamp(scr_index_entry(index, id, dir), "PASSED");
}

/* Mark the checkpoints that are newer than ID as passed over; returns 1 if that changes anything. */
SCR_FN int scr_index_pass_newer(scr_index* index, int id)
{
  scr_index_item it;
  int            changed = 0;

  memset(&it, 0, sizeof it);
  while (scr_index_walk(index, &it)) {
    if (it.id <= id || it.passed || !scr_desc_is_ckpt(&it.desc)) continue;
    scr_index_note_passed(index, it.id, it.dir);
    changed = 1;
  }
  return changed;
}

/* Remove all datasets that are newer than ID from the index; returns 1 if there are any. */
SCR_FN int scr_index_drop_newer(scr_index* index, int id)
{
  scr_index_item it;
  int            n;

  for (n = 0;; n++) {
    memset(&it, 0, sizeof it);
    while (scr_index_walk(index, &it) && it.id <= id) continue;
    if (it.id <= id) return n > 0;
    scr_index_remove(index, it.id, it.dir);
  }
}

SCR_FN void scr_index_set_cut(scr_index* index, int id)
{
  scr_hash_unset(index->h, "CUT");
  scr_hash_set_kv_int(index->h, "CUT", id > 0 ? id : 0);
}

/*
** The user's choice is dataset ID in DIR, which is "" if the index does not have it: nothing is held against it any
** more, and newer checkpoints, with ids below UNTIL, are passed over or, with DROP, removed from the index with all
** that is newer.  Returns 1 if that changes the index.
*/
SCR_FN int scr_index_serve_choice(scr_index* index, int id, const char* dir, int until, int drop)
{
  scr_choice c;
  int        changed = scr_index_forgive(index, id, dir);

  scr_choice_read(index, &c);
  if (c.by_user && c.until == 0) {
    c.until = until;
    scr_choice_write(index, &c);
    scr_index_pass_range(index, id, until);
    changed = 1;
  }

  if (scr_index_cut_id(index) >= id) { /* the cut moves below it, and what was between is marked */
    scr_index_set_cut(index, id - 1);
    changed = 1;
  }
  return (drop ? scr_index_drop_newer(index, id) : scr_index_pass_newer(index, id)) || changed;
}

/* A fresh start: no run offers the datasets up to ID any more, until the user chooses one. */
SCR_FN void scr_index_cut(scr_index* index, int id)
{
  scr_index_set_current(index, 0, "", 0);
  scr_index_set_cut(index, id);
}

/*
** The id of the N-th newest good checkpoint below BELOW, without those that are output too, or could not be fetched; 0
** if there are fewer, or if N is 0.
*/
SCR_FN int scr_index_window(const scr_index* index, int below, int n)
{
  scr_index_item it;

  for (it.id = 0; n > 0; below = it.id) {
    if (scr_index_newest(index, below, NULL, &it) != SCR_SUCCESS) return 0;
    n -= scr_desc_is_pure(&it.desc) && !it.unread;
  }
  return it.id;
}

/*
** Find the oldest checkpoint that is older than the N newest good ones up to dataset ID; returns 0 if there is none.
** What the user has chosen is not taken.
*/
SCR_FN int scr_index_outgrown(const scr_index* index, int id, int n, scr_index_item* oldest)
{
  scr_index_item it, current;
  scr_choice     c;
  int            chosen, below = scr_index_window(index, id + 1, n);

  memset(oldest, 0, sizeof *oldest);
  memset(&it, 0, sizeof it);
  scr_choice_read(index, &c);
  chosen = c.by_user && scr_index_current(index, &current) ? current.id : 0;
  while (scr_index_walk(index, &it))
    if (it.id < below && it.id != chosen && scr_desc_is_pure(&it.desc) && (oldest->id == 0 || it.id < oldest->id))
      *oldest = it;
  return oldest->id != 0;
}

/* ---- the index: wishes that were served ---- */

/* Returns 1 if VALUE of PARAMETER, which is served once in a job, was served in the job with the key JOB. */
SCR_FN int scr_index_has_served(const scr_index* index, const char* parameter, const char* value, const char* job)
{
  return scr_hash_getf(index->h, "%s %s %s %s %s", "SERVED", parameter, value, "JOB", job) != NULL;
}

/* The largest value of PARAMETER, a number, that was served in the job with the key JOB; 0 if none was. */
SCR_FN int scr_index_last_served(const scr_index* index, const char* parameter, const char* job)
{
  const scr_hash_elem* e = scr_hash_elem_first(scr_hash_get_kv(index->h, "SERVED", parameter));
  int64_t              value;
  int                  last = 0;

  for (; e != NULL; e = scr_hash_elem_next(e))
    if (scr_hash_get_kv(scr_hash_elem_hash(e), "JOB", job) != NULL &&
        scr_str_int64(scr_hash_elem_key(e), &value) == SCR_SUCCESS && value > last && value < INT_MAX)
      last = (int)value;
  return last;
}

#define SCR_SERVED_MAX 1000 /* jobs that are remembered for each value */

/* Record that VALUE of PARAMETER was served in the job with the key JOB. */
SCR_FN void scr_index_note_served(scr_index* index, const char* parameter, const char* value, const char* job)
{
  scr_hash* jobs;

  scr_hash_setf(index->h, NULL, "%s %s %s %s %s", "SERVED", parameter, value, "JOB", job);
  jobs = scr_hash_getf(index->h, "%s %s %s %s", "SERVED", parameter, value, "JOB");
  if (scr_hash_size(jobs) > SCR_SERVED_MAX) scr_hash_unset(jobs, scr_hash_elem_key(scr_hash_elem_first(jobs)));
}

/*
** Record that all files of dataset ID in DIR have their final names.  A checkpoint becomes CURRENT, unless CURRENT is
** newer or the user's choice and this one was not written after it, or this one was rejected or passed over.
*/
SCR_FN void scr_index_note_renamed(scr_index* index, int id, const char* dir)
{
  scr_index_item it, current;
  scr_choice     c;

  scr_hash_unset(scr_index_entry(index, id, dir), "REDO");
  if (!scr_index_get(index, id, dir, &it) || !scr_desc_is_ckpt(&it.desc) || it.failed || it.passed) return;
  scr_choice_read(index, &c);
  if (c.by_user && c.id != 0 && (c.until == 0 || id < c.until)) return; /* also if only a cache has it */
  if (scr_index_current(index, &current) && (current.id >= id || (c.by_user && c.until == 0))) return;
  scr_index_set_current(index, id, dir, 0);
}

/* Change the index of PREFIX by CHANGE(index, id, dir), under its lock. */
SCR_FN int scr_index_change(const char* prefix, void (*change)(scr_index* index, int id, const char* dir), int id,
                            const char* dir)
{
  scr_index index;
  int       rc = scr_index_open(&index, prefix);

  if (rc == SCR_SUCCESS) change(&index, id, dir);
  return scr_index_close(&index, rc, 1);
}

/* ---- summary ---- */

/* Write the summary of the dataset DESC, which is complete, to PATH, atomically. */
SCR_FN int scr_summary_write(const char* path, const scr_desc* desc)
{
  scr_hash* h = scr_hash_new();
  int       rc;

  scr_hash_util_set_int(h, "VERSION", SCR_SUMMARY_VERSION);
  scr_hash_util_set_int(h, "COMPLETE", 1);
  scr_desc_write(scr_hash_set(h, "DSET", scr_hash_new()), desc);
  rc = scr_hash_file_write(path, h);
  scr_hash_delete(&h);
  return rc;
}

/*
** Read the descriptor in the summary PATH into DESC; COMPLETE is 1 only if the summary says so.  SCR_ERR_NOT_FOUND if
** there is no file; on an error DESC and COMPLETE are unchanged.
*/
SCR_FN int scr_summary_read(const char* path, scr_desc* desc, int* complete)
{
  scr_hash* h = scr_hash_new();
  int       version, rc = h == NULL ? SCR_ERR_OOM() : scr_hash_file_read(path, h);

  if (rc == SCR_SUCCESS)
    rc = scr_record_check_version(h, path, "a summary", SCR_SUMMARY_VERSION, SCR_SUMMARY_VERSION, &version);
  if (rc == SCR_SUCCESS && scr_hash_size(scr_hash_get(h, "DSET")) == 0)
    rc = SCR_ERR(SCR_ERR_FORMAT, "the summary %s does not describe a dataset", path);
  if (rc == SCR_SUCCESS) {
    scr_desc_read(scr_hash_get(h, "DSET"), desc);
    *complete = scr_hash_int_or(h, "COMPLETE", 0) == 1;
  }
  scr_hash_delete(&h);
  return rc;
}

/* ---- where a dataset lies on the prefix ---- */

typedef struct {
  char meta[SCR_MAX_FILENAME]; /* directory, below the prefix, of summary.scr and rank2file.scr */
  char base[SCR_MAX_FILENAME]; /* directory below the prefix that FILE paths start from; "" for the prefix itself */
} scr_prefix_place;

/* The path of the summary of the dataset in DIR, below PREFIX; PATH has SCR_MAX_FILENAME bytes. */
SCR_FN int scr_summary_path(const char* prefix, const char* dir, char* path)
{
  return scr_fmt(path, SCR_MAX_FILENAME, "%s/%s/.scr/summary.scr", prefix, dir);
}

/*
** Find where dataset ID in DIR has its metadata: in the current place, or in that of release 1.2, which kept all
** metadata in <prefix>/.scr/scr.dataset.<id>.
*/
SCR_FN int scr_prefix_locate(const char* prefix, int id, const char* dir, scr_prefix_place* p)
{
  char        path[SCR_MAX_FILENAME];
  struct stat st;
  int         rc;

  if ((rc = scr_fmt(p->base, sizeof p->base, "%s", dir)) != SCR_SUCCESS) return rc;
  if ((rc = scr_fmt(p->meta, sizeof p->meta, "%s/.scr", dir)) != SCR_SUCCESS) return rc;
  if ((rc = scr_summary_path(prefix, dir, path)) != SCR_SUCCESS) return rc;
  if (scr_os.lstat(path, &st) == 0) return SCR_SUCCESS;
  if ((rc = scr_fmt(path, sizeof path, "%s/.scr/scr.dataset.%d/summary.scr", prefix, id)) != SCR_SUCCESS) return rc;
  if (scr_os.lstat(path, &st) != 0) return SCR_SUCCESS;
  p->base[0] = '\0';
  return scr_fmt(p->meta, sizeof p->meta, ".scr/scr.dataset.%d", id);
}

/*
** Convert NAME, a path relative to the directory BASE below the prefix, to a path below the prefix, whatever that is
** called.  SCR_ERR_FORMAT if it leads out of the prefix.
*/
SCR_FN int scr_prefix_rel(const char* prefix, const char* base, const char* name, char* rel, size_t n)
{
  char        path[2 * SCR_MAX_FILENAME], reduced[SCR_MAX_FILENAME];
  const char* below;
  int         rc;

  if ((rc = scr_fmt(path, sizeof path, "/prefix/%s/%s", base, name)) != SCR_SUCCESS) return rc;
  if ((rc = scr_path_reduce_str(path, reduced, sizeof reduced)) != SCR_SUCCESS) return rc;
  if (name[0] == '\0' || name[0] == '/' || !scr_path_below("/prefix", reduced, &below))
    return SCR_ERR(SCR_ERR_FORMAT, "a metadata file names %s, which is not below the prefix %s", name, prefix);
  return scr_fmt(rel, n, "%s", below);
}

/* ---- objects: what a dataset is made of on the prefix ---- */

/*
** A file of an owner: a file of its own on the prefix or, if it is packed, extents of containers, whose paths are below
** the prefix.  A packed file of no bytes has one extent of no bytes.
*/
typedef struct {
  char*       rel; /* path below the prefix, final; of a packed file the one that it would have */
  char*       tmp; /* temporary name, in the same directory; NULL: <name>.scr<id>.tmp */
  scr_extents packed;
  int         owner;
  int         file; /* index of the file in the owner's entry, during a flush */
  uint64_t    size;
  int         has_crc;
  uLong       crc;
  int         mode;      /* permission bits of the application's file; 0 if not known */
  int64_t     mtime;     /* and its time, in seconds since the epoch; 0 if not known */
  int         redundant; /* 1: a redundancy file, which a fetch does not copy */
} scr_object;

/* The objects of a list of owners; an owner may have none. */
typedef struct {
  int         id; /* of the dataset */
  int         n, owners;
  scr_object* object;
  int*        owner; /* [owners] */
} scr_objects;

SCR_FN void scr_objects_free(scr_objects* l)
{
  while (l->n > 0) {
    scr_free(&l->object[--l->n].rel);
    scr_free(&l->object[l->n].tmp);
    scr_extents_free(&l->object[l->n].packed);
  }
  scr_free(&l->object);
  scr_free(&l->owner);
  l->owners = 0;
}

SCR_FN void scr_objects_add_owner(scr_objects* l, int owner)
{
  if (scr_grow(&l->owner, l->owners, sizeof *l->owner)) l->owner[l->owners++] = owner;
}

/* A new object of OWNER with its final path REL below the prefix, or NULL without memory. */
SCR_FN scr_object* scr_objects_add(scr_objects* l, int owner, const char* rel)
{
  scr_object* o;

  if (!scr_grow(&l->object, l->n, sizeof *l->object)) return NULL;
  o = &l->object[l->n];
  memset(o, 0, sizeof *o);
  o->owner = owner;
  if ((o->rel = scr_strdup(rel)) == NULL) return NULL;
  l->n++;
  return o;
}

#define SCR_NAME_BYTES_MAX 255 /* bytes of the longest component of a path */

/*
** Choose the temporary name of O, file number I of its owner: its final name with a suffix or, if that is too long, a
** short name that no other file has.
*/
SCR_FN int scr_object_name_tmp(scr_object* o, const char* prefix, int id, int i)
{
  const char* slash = strrchr(o->rel, '/');
  size_t      suffix = (size_t)snprintf(NULL, 0, ".scr%d.tmp", id);

  if (strlen(slash != NULL ? slash + 1 : o->rel) + suffix <= SCR_NAME_BYTES_MAX &&
      strlen(prefix) + 1 + strlen(o->rel) + suffix < (size_t)SCR_MAX_FILENAME)
    return SCR_SUCCESS;
  o->tmp = scr_strdupf(".scr%d.%d.%d.tmp", id, o->owner, i);
  return o->tmp == NULL ? SCR_ERR_OOM() : SCR_SUCCESS;
}

/*
** Add the files of the application that E lists, each with its index there, to the objects L of a dataset in DIR below
** PREFIX; PRESERVE as in scr_entry.
*/
SCR_FN int scr_objects_add_entry(scr_objects* l, const scr_entry* e, const char* prefix, const char* dir, int preserve)
{
  char        rel[SCR_MAX_FILENAME];
  scr_object* o;
  int         i, n = 0, rc = SCR_SUCCESS;

  scr_objects_add_owner(l, e->owner);
  for (i = 0; i < e->files && rc == SCR_SUCCESS; i++) {
    const scr_file* f = &e->file[i];
    if (f->kind != SCR_FILE_APPLICATION) continue;
    if (preserve) rc = scr_fmt(rel, sizeof rel, "%s", f->rel);
    else rc = scr_fmt(rel, sizeof rel, "%s/%s", dir, f->rel);
    if (rc != SCR_SUCCESS) return rc;
    if ((o = scr_objects_add(l, e->owner, rel)) == NULL) return SCR_ERR_OOM();
    o->file = i;
    o->size = f->size;
    o->has_crc = f->has_crc;
    o->crc = f->crc;
    o->mode = f->mode;
    o->mtime = f->mtime;
    rc = scr_object_name_tmp(o, prefix, l->id, n++);
  }
  return scr_oom ? SCR_ERR_OOM() : rc;
}

/*
** The path of the file REL of dataset ID, under its final or its temporary name; TMP as in scr_object.
*/
SCR_FN int scr_object_place(const char* rel, const char* tmp, const char* prefix, int id, int temporary, char* path,
                            size_t n)
{
  const char* slash = strrchr(rel, '/');

  if (!temporary) return scr_fmt(path, n, "%s/%s", prefix, rel);
  if (tmp == NULL) return scr_fmt(path, n, "%s/%s.scr%d.tmp", prefix, rel, id);
  return scr_fmt(path, n, "%s/%.*s%s", prefix, slash != NULL ? (int)(slash - rel) + 1 : 0, rel, tmp);
}

/* The path of O, an object of dataset ID, under its final or its temporary name. */
SCR_FN int scr_object_path(const scr_object* o, const char* prefix, int id, int temporary, char* path, size_t n)
{
  return scr_object_place(o->rel, o->tmp, prefix, id, temporary, path, n);
}

/* Under which names files are looked for: in a rename that was interrupted, some containers have either. */
typedef enum { SCR_NAMES_FINAL, SCR_NAMES_TEMPORARY, SCR_NAMES_MIXED } scr_names;

/* Add to L, an empty list, where the bytes of O lie, by absolute paths. */
SCR_FN int scr_object_extents(const scr_object* o, const char* prefix, int id, scr_names names, scr_extents* l)
{
  int         temporary = names != SCR_NAMES_FINAL;
  char        path[SCR_MAX_FILENAME];
  struct stat st;
  int         i, rc = SCR_SUCCESS;

  if (o->packed.n == 0) {
    rc = scr_object_path(o, prefix, id, temporary, path, sizeof path);
    return rc == SCR_SUCCESS ? scr_extents_whole(l, path, o->size) : rc;
  }
  for (i = 0; i < o->packed.n && rc == SCR_SUCCESS; i++) {
    const scr_extent* x = &o->packed.extent[i];
    rc = scr_object_place(x->path, NULL, prefix, id, temporary, path, sizeof path);
    if (rc == SCR_SUCCESS && names == SCR_NAMES_MIXED && scr_os.lstat(path, &st) < 0 && errno == ENOENT)
      rc = scr_object_place(x->path, NULL, prefix, id, 0, path, sizeof path); /* this one is renamed already */
    if (rc == SCR_SUCCESS) rc = scr_extents_add(l, path, x->offset, x->length);
  }
  return rc;
}

/*
** Pack O into containers of SIZE bytes in DIR below the prefix.  Its first byte is at POSITION in the row of all files
** of the dataset, which fills one container after the other.
*/
SCR_FN int scr_object_pack(scr_object* o, const char* dir, uint64_t position, uint64_t size)
{
  char     path[SCR_MAX_FILENAME];
  uint64_t left = o->size, n;
  int      rc;

  do {
    n = size - position % size < left ? size - position % size : left;
    rc = scr_fmt(path, sizeof path, "%s/.scr/ctr.%" PRIu64 ".scr", dir, position / size);
    if (rc == SCR_SUCCESS) rc = scr_extents_add(&o->packed, path, position % size, n);
    position += n;
    left -= n;
  } while (left > 0 && rc == SCR_SUCCESS);
  return rc;
}

/* Create the container of dataset ID of which X has the first byte, temporary, with FULL bytes that are 0. */
SCR_FN int scr_container_create(const scr_extent* x, const char* prefix, int id, uint64_t full)
{
  char path[SCR_MAX_FILENAME];
  int  rc = scr_object_place(x->path, NULL, prefix, id, 1, path, sizeof path);

  return rc == SCR_SUCCESS ? scr_file_make(path, 0666, full) : rc;
}

/*
** Pack the objects L into containers of SIZE bytes in DIR below PREFIX; they begin at AT of the TOTAL bytes of the
** dataset.  The containers of which they have the first byte are created, with their size, so that zeros can stay
** holes, unless THERE says that they are there already.
*/
SCR_FN int scr_objects_pack(scr_objects* l, const char* prefix, const char* dir, uint64_t at, uint64_t total,
                            uint64_t size, int there)
{
  int i, k, rc = SCR_SUCCESS;

  for (i = 0; i < l->n && rc == SCR_SUCCESS; i++) {
    scr_object* o = &l->object[i];
    rc = scr_object_pack(o, dir, at, size);
    for (k = 0; k < o->packed.n && rc == SCR_SUCCESS; k++) {
      const scr_extent* x = &o->packed.extent[k];
      if (x->offset == 0 && x->length > 0 && !there)
        rc = scr_container_create(x, prefix, l->id, total - at < size ? total - at : size);
      at += x->length;
    }
  }
  return rc;
}

/* A file on the prefix, and the object that stands for it.  All zeros is the position before the first of a list. */
typedef struct {
  const scr_object* o;
  const char *      rel, *tmp; /* as in scr_object */
  uint64_t          least;     /* bytes that it has at least; its size, if the object is a file */
  int               i, k;
} scr_objects_at;

/*
** Advance AT to the next file of L; 0 behind the last.  An object stands for its own file or, if it is packed, for the
** containers of which it has the first byte: so each file of a dataset is made, renamed and deleted once.
*/
SCR_FN int scr_objects_walk(const scr_objects* l, scr_objects_at* at)
{
  for (; at->i < l->n; at->i++, at->k = 0) {
    at->o = &l->object[at->i];
    at->rel = at->o->rel;
    at->tmp = at->o->tmp;
    at->least = at->o->size;
    if (at->o->packed.n == 0 && at->k++ == 0) return 1;
    while (at->o->packed.n > 0 && at->k < at->o->packed.n) {
      const scr_extent* x = &at->o->packed.extent[at->k++];
      at->rel = x->path;
      at->tmp = NULL;
      at->least = x->length;
      if (x->offset == 0 && x->length > 0) return 1;
    }
  }
  return 0;
}

/* The path of the file AT of dataset ID, under its final or its temporary name. */
SCR_FN int scr_objects_path(const scr_objects_at* at, const char* prefix, int id, int temporary, char* path, size_t n)
{
  return scr_object_place(at->rel, at->tmp, prefix, id, temporary, path, n);
}

/*
** SCR_ERR_CRC unless CRC, the checksum of the copy of O at PATH, is the one that is recorded, if any; WHAT ends the
** message with what the difference means.
*/
SCR_FN int scr_object_has_crc(const scr_object* o, const char* path, uLong crc, const char* what)
{
  return o->has_crc ? scr_file_has_crc(path, crc, o->crc, what) : SCR_SUCCESS;
}

/*
** Copy O, an object of dataset ID, from its final place to the file TO, and compare its checksum.  The copy gets the
** mode of O or, if that is not known, OTHERWISE.  On an error there is no file TO.
*/
SCR_FN int scr_object_copy(const scr_object* o, const char* prefix, int id, const char* to, mode_t otherwise)
{
  scr_copy_list  copies;
  scr_copy_item* it;
  int            rc = scr_copy_list_make(&copies, 1, 1 << 20);

  if (rc != SCR_SUCCESS) return rc;
  it = scr_copy_list_add(&copies, o->mode, otherwise, o->mtime);
  rc = scr_extents_whole(&it->to, to, o->size);
  if (rc == SCR_SUCCESS) rc = scr_object_extents(o, prefix, id, SCR_NAMES_FINAL, &it->from);
  if (rc == SCR_SUCCESS) rc = scr_copy_list_run(&copies, 1);
  if (rc == SCR_SUCCESS) rc = scr_object_has_crc(o, to, it->crc, "it is damaged on the prefix");
  if (rc != SCR_SUCCESS) scr_os.unlink(to);
  scr_copy_list_free(&copies);
  return rc;
}

/* SCR_ERR_MISSING or _CRC, with WHAT as above, unless all bytes of O are on the prefix under these NAMES. */
SCR_FN int scr_object_check(const scr_object* o, const char* prefix, int id, scr_names names, const char* what)
{
  scr_extents l;
  uLong       crc = SCR_CRC32_START;
  int         i, rc;

  memset(&l, 0, sizeof l);
  rc = scr_object_extents(o, prefix, id, names, &l);
  for (i = 0; i < l.n && rc == SCR_SUCCESS; i++)
    if (l.whole || l.extent[i].length > 0) rc = scr_extent_crc(&l.extent[i], l.whole, &crc);
  if (rc == SCR_SUCCESS) rc = scr_object_has_crc(o, l.n > 0 ? l.extent[0].path : "", crc, what);
  scr_extents_free(&l);
  return rc;
}

/* Add the directories of the files of the objects, as keys, to DIRS. */
SCR_FN int scr_objects_dirs(const scr_objects* l, const char* prefix, scr_hash* dirs)
{
  char           path[SCR_MAX_FILENAME];
  scr_objects_at at;
  int            rc = SCR_SUCCESS;

  memset(&at, 0, sizeof at);
  while (rc == SCR_SUCCESS && scr_objects_walk(l, &at)) {
    if ((rc = scr_objects_path(&at, prefix, l->id, 0, path, sizeof path)) != SCR_SUCCESS) break;
    *strrchr(path, '/') = '\0';
    scr_hash_setf(dirs, NULL, "%s", path);
  }
  return rc;
}

/* Make the names of the objects durable: sync each of their directories once. */
SCR_FN int scr_objects_sync(const scr_objects* l, const char* prefix)
{
  scr_hash* dirs = scr_hash_new();
  int       rc = scr_objects_dirs(l, prefix, dirs);

  if (rc == SCR_SUCCESS) return scr_dirs_sync(&dirs);
  scr_hash_delete(&dirs);
  return rc;
}

/* The file AT has no temporary file any more: SCR_SUCCESS if it has its final name, the path TO. */
SCR_FN int scr_objects_is_renamed(const scr_objects_at* at, const char* prefix, int id, const char* to)
{
  uint64_t is = 0;
  int      rc;

  if (at->o->packed.n == 0)
    return scr_object_check(at->o, prefix, id, SCR_NAMES_FINAL, "it is not the file that an interrupted flush wrote");
  rc = scr_file_size(to, &is); /* the checksums of a container are those of many objects */
  if (rc != SCR_SUCCESS || is >= at->least) return rc;
  return SCR_ERR(SCR_ERR_MISSING, "%s has only %" PRIu64 " bytes", to, is);
}

/*
** Give the files of the objects their final names, durably.  REDO: a process that was killed may have renamed some; one
** whose temporary file is gone must have its final name already, with its size and, where it is recorded, its checksum.
*/
SCR_FN int scr_objects_rename(const scr_objects* l, const char* prefix, int redo)
{
  char           from[SCR_MAX_FILENAME], to[SCR_MAX_FILENAME];
  scr_objects_at at;
  int            rc;

  memset(&at, 0, sizeof at);
  while (scr_objects_walk(l, &at)) {
    if ((rc = scr_objects_path(&at, prefix, l->id, 1, from, sizeof from)) != SCR_SUCCESS) return rc;
    if ((rc = scr_objects_path(&at, prefix, l->id, 0, to, sizeof to)) != SCR_SUCCESS) return rc;
    if (scr_os.rename(from, to) == 0) continue;
    if (errno != ENOENT || !redo) return SCR_ERRNO("cannot rename %s to %s", from, to);
    if ((rc = scr_objects_is_renamed(&at, prefix, l->id, to)) != SCR_SUCCESS) return rc;
  }
  /* also of renames that were done before: their process may have been killed in between */
  return scr_objects_sync(l, prefix);
}

/* Remove the temporary files of the objects. */
SCR_FN void scr_objects_remove_tmp(const scr_objects* l, const char* prefix)
{
  char           path[SCR_MAX_FILENAME];
  scr_objects_at at;

  memset(&at, 0, sizeof at);
  while (scr_objects_walk(l, &at))
    if (scr_objects_path(&at, prefix, l->id, 1, path, sizeof path) == SCR_SUCCESS) scr_os.unlink(path);
}

/* Delete the files of the objects.  One that cannot be deleted does not keep back the others; the last error counts. */
SCR_FN int scr_objects_delete(const scr_objects* l, const char* prefix)
{
  char           path[SCR_MAX_FILENAME];
  scr_objects_at at;
  int            rc = SCR_SUCCESS;

  memset(&at, 0, sizeof at);
  while (scr_objects_walk(l, &at))
    if (scr_objects_path(&at, prefix, l->id, 0, path, sizeof path) == SCR_SUCCESS && scr_os.unlink(path) < 0 &&
        errno != ENOENT)
      rc = SCR_ERRNO("cannot delete %s", path);
  return rc;
}

/* Remove the directories above the files of the objects, as far as they are empty. */
SCR_FN void scr_objects_prune(const scr_objects* l, const char* prefix)
{
  char           dir[SCR_MAX_FILENAME];
  char*          slash;
  scr_objects_at at;

  memset(&at, 0, sizeof at);
  while (scr_objects_walk(l, &at)) {
    if (scr_objects_path(&at, prefix, l->id, 0, dir, sizeof dir) != SCR_SUCCESS) continue;
    while ((slash = strrchr(dir, '/')) != NULL && (size_t)(slash - dir) > strlen(prefix)) {
      *slash = '\0';
      if (scr_os.rmdir(dir) < 0) break;
    }
  }
}

/* ---- rank2file map: the objects of a dataset as a tree of files; only this section reads and writes its nodes ---- */

/* The path of REL, which is below PREFIX, relative to the directory DIR below PREFIX. */
SCR_FN int scr_prefix_from(const char* prefix, const char* dir, const char* rel, char* out, size_t n)
{
  char home[SCR_MAX_FILENAME], path[SCR_MAX_FILENAME];
  int  rc = scr_fmt(home, sizeof home, "%s/%s", prefix, dir);

  if (rc == SCR_SUCCESS) rc = scr_fmt(path, sizeof path, "%s/%s", prefix, rel);
  return rc == SCR_SUCCESS ? scr_path_relative(home, path, out, n) : rc;
}

/* Write O to H, an empty hash, with paths relative to the directory DIR below PREFIX. */
SCR_FN int scr_object_write(const scr_object* o, const char* prefix, const char* dir, scr_hash* h)
{
  char path[SCR_MAX_FILENAME];
  int  i, rc = SCR_SUCCESS;

  scr_hash_util_set_bytecount(h, "SIZE", o->size);
  if (o->tmp != NULL) scr_hash_util_set_str(h, "TMP", o->tmp);
  if (o->has_crc) scr_hash_util_set_crc32_fixed(h, "CRC", o->crc);
  if (o->mode != 0) scr_hash_util_set_int(h, "MODE", o->mode);
  if (o->mtime != 0) scr_hash_util_set_int64(h, "MTIME", o->mtime);
  if (o->redundant) scr_hash_util_set_int(h, "NOFETCH", 1);
  for (i = 0; i < o->packed.n && rc == SCR_SUCCESS; i++) {
    const scr_extent* x = &o->packed.extent[i];
    scr_hash*         seg = scr_hash_set_kv_int(h, "SEG", i);
    rc = scr_prefix_from(prefix, dir, x->path, path, sizeof path);
    scr_hash_util_set_str(seg, "FILE", path);
    scr_hash_util_set_bytecount(seg, "OFFSET", x->offset);
    scr_hash_util_set_bytecount(seg, "LENGTH", x->length);
  }
  return rc;
}

/* Write the objects to H, the hash of a leaf, with paths relative to the directory DIR below PREFIX. */
SCR_FN int scr_objects_to_hash(const scr_objects* l, const char* prefix, const char* dir, scr_hash* h)
{
  char key[SCR_MAX_FILENAME];
  int  i, rc = SCR_SUCCESS;

  for (i = 0; i < l->owners; i++) scr_hash_setf(h, NULL, "%s %d %s", "RANK", l->owner[i], "FILE");
  for (i = 0; i < l->n && rc == SCR_SUCCESS; i++) {
    const scr_object* o = &l->object[i];
    scr_hash*         files = scr_hash_setf(h, NULL, "%s %d %s", "RANK", o->owner, "FILE");
    if ((rc = scr_prefix_from(prefix, dir, o->rel, key, sizeof key)) != SCR_SUCCESS) return rc;
    rc = scr_object_write(o, prefix, dir, scr_hash_set(files, key, scr_hash_new()));
  }
  return scr_oom ? SCR_ERR_OOM() : rc;
}

/* Read where O is packed from SEG, whose paths are relative to the directory BASE below PREFIX. */
SCR_FN int scr_object_read_packed(scr_object* o, const char* prefix, const char* base, const scr_hash* seg)
{
  char     rel[SCR_MAX_FILENAME];
  uint64_t sum = 0, offset = 0, length = 0;
  int      i, rc = SCR_SUCCESS;

  for (i = 0; i < scr_hash_size(seg) && rc == SCR_SUCCESS; i++) {
    const scr_hash* h;
    char            key[16];
    snprintf(key, sizeof key, "%d", i);
    h = scr_hash_get(seg, key);
    if (scr_hash_util_get_bytecount(h, "OFFSET", &offset) != SCR_SUCCESS ||
        scr_hash_util_get_bytecount(h, "LENGTH", &length) != SCR_SUCCESS || length > o->size - sum ||
        length > (uint64_t)INT64_MAX || offset > (uint64_t)INT64_MAX - length)
      return SCR_ERR(SCR_ERR_FORMAT, "segment %d of %s is damaged in the rank2file map", i, o->rel);
    rc = scr_prefix_rel(prefix, base, scr_hash_str_or(h, "FILE", ""), rel, sizeof rel);
    if (rc == SCR_SUCCESS) rc = scr_extents_add(&o->packed, rel, offset, length);
    sum += length;
  }
  if (rc == SCR_SUCCESS && seg != NULL && (o->packed.n == 0 || sum != o->size))
    rc = SCR_ERR(SCR_ERR_FORMAT, "the rank2file map gives places for %" PRIu64 " of the %" PRIu64 " bytes of %s", sum,
                 o->size, o->rel);
  return rc;
}

/* Add the file E of OWNER in a leaf to the objects; its path is relative to the directory BASE below PREFIX. */
SCR_FN int scr_objects_from_elem(scr_objects* l, const char* prefix, const char* base, int owner,
                                 const scr_hash_elem* e)
{
  const scr_hash* h = scr_hash_elem_hash(e);
  const char*     tmp = scr_hash_elem_get_first_val(h, "TMP");
  char            rel[SCR_MAX_FILENAME], path[SCR_MAX_FILENAME];
  scr_object*     o;
  int             rc = scr_prefix_rel(prefix, base, scr_hash_elem_key(e), rel, sizeof rel);

  if (rc != SCR_SUCCESS) return rc;
  if (tmp != NULL && (strchr(tmp, '/') != NULL || strncmp(tmp, ".scr", 4) != 0 || strlen(tmp) < 8 ||
                      strcmp(tmp + strlen(tmp) - 4, ".tmp") != 0))
    return SCR_ERR(SCR_ERR_FORMAT, "the rank2file map names %s, which is not a temporary file of %s", tmp, rel);
  if ((o = scr_objects_add(l, owner, rel)) == NULL) return SCR_ERR_OOM();
  o->tmp = scr_strdup(tmp);
  if (scr_hash_get(h, "SIZE") == NULL) { /* release 3 does not record it: the summary has the sum of all sizes */
    if ((rc = scr_fmt(path, sizeof path, "%s/%s", prefix, rel)) != SCR_SUCCESS) return rc;
    if ((rc = scr_file_size(path, &o->size)) != SCR_SUCCESS) return rc;
  } else if (scr_hash_util_get_bytecount(h, "SIZE", &o->size) != SCR_SUCCESS) {
    return SCR_ERR(SCR_ERR_FORMAT, "the rank2file map gives no size for %s", rel);
  }
  o->has_crc = scr_hash_util_get_crc32(h, "CRC", &o->crc) == SCR_SUCCESS;
  scr_hash_util_get_int(h, "MODE", &o->mode);
  scr_hash_util_get_int64(h, "MTIME", &o->mtime);
  o->redundant = scr_hash_get(h, "NOFETCH") != NULL;
  return scr_object_read_packed(o, prefix, base, scr_hash_get(h, "SEG"));
}

/* Add the objects of the leaf H to the list; their paths are relative to the directory BASE below PREFIX. */
SCR_FN int scr_objects_from_hash(const scr_hash* h, const char* prefix, const char* base, scr_objects* l)
{
  const scr_hash_elem *r, *f;
  int                  rc = SCR_SUCCESS;

  for (r = scr_hash_elem_first(scr_hash_get(h, "RANK")); r != NULL; r = scr_hash_elem_next(r)) {
    int owner = atoi(scr_hash_elem_key(r)) & INT_MAX; /* never negative, whatever the file says */
    scr_objects_add_owner(l, owner);
    f = scr_hash_elem_first(scr_hash_get(scr_hash_elem_hash(r), "FILE"));
    for (; f != NULL && rc == SCR_SUCCESS; f = scr_hash_elem_next(f))
      rc = scr_objects_from_elem(l, prefix, base, owner, f);
  }
  return rc == SCR_SUCCESS && scr_oom ? SCR_ERR_OOM() : rc;
}

#define SCR_RANK2FILE_LEVELS 32 /* more levels than any map has */

/* A node of a rank2file map above its leaves. */
typedef struct {
  int          level;    /* 1 or more; that of its children is one less */
  int          ranks;    /* that the leaves below it describe */
  scr_identity identity; /* in the root, of the dataset; all zeros in other nodes, and in maps of older versions */
  int          n;        /* children */
  int*         rank;     /* [n]: the rank that wrote the child, */
  char**       file;     /* and the child's path, relative to the base of the dataset */
} scr_rank2file;

SCR_FN void scr_rank2file_free(scr_rank2file* m)
{
  while (m->n > 0) scr_free(&m->file[--m->n]);
  scr_free(&m->file);
  scr_free(&m->rank);
}

SCR_FN int scr_rank2file_add(scr_rank2file* m, int rank, const char* file)
{
  char* copy;

  if (!scr_grow(&m->rank, m->n, sizeof *m->rank)) return SCR_ERR_OOM();
  if (!scr_grow(&m->file, m->n, sizeof *m->file)) return SCR_ERR_OOM();
  if ((copy = scr_strdup(file)) == NULL) return SCR_ERR_OOM();
  m->rank[m->n] = rank;
  m->file[m->n++] = copy;
  return SCR_SUCCESS;
}

/*
** How many bytes of neighbours share a node of at most LIMIT bytes, if one of them has at most MOST: a new node begins
** where their sum passes a multiple of this.
*/
SCR_FN int64_t scr_rank2file_span(int64_t limit, int64_t most)
{
  return most < limit ? limit - most : 1;
}

/* Returns 1 if what has bytes START to END of those of all begins a node. */
SCR_FN int scr_rank2file_begins(int64_t start, int64_t end, int64_t span)
{
  return end > start && (start == 0 || start / span != end / span);
}

/*
** Read the node of a map from PATH into H, without the key RANK2FILE that some writers put around it.  SCR_ERR_MISSING
** if there is no file.  LEVEL receives the level of the node, and RANKS the number of ranks below it.
*/
SCR_FN int scr_rank2file_read_node(const char* path, scr_hash* h, int* level, int* ranks)
{
  scr_hash* inner;
  int       rc = scr_hash_file_read(path, h);

  if (rc == SCR_ERR_NOT_FOUND) return SCR_ERR(SCR_ERR_MISSING, "the rank2file map %s is missing", path);
  if (rc != SCR_SUCCESS) return rc;
  if ((inner = scr_hash_extract(h, "RANK2FILE")) != NULL) {
    rc = scr_hash_merge(h, inner);
    scr_hash_delete(&inner);
  }
  *ranks = scr_hash_int_or(h, "RANKS", -1);
  *level = scr_hash_int_or(h, "LEVEL", -1);
  if (rc == SCR_SUCCESS && (*ranks < 0 || *level < 0 || *level > SCR_RANK2FILE_LEVELS))
    rc = SCR_ERR(SCR_ERR_FORMAT, "%s is not a rank2file map: LEVEL or RANKS is missing or wrong", path);
  return rc;
}

/* SCR_ERR_FORMAT unless the node PATH, which has level IS, has the level WANT. */
SCR_FN int scr_rank2file_check_level(const char* path, int is, int want)
{
  if (is == want) return SCR_SUCCESS;
  return SCR_ERR(SCR_ERR_FORMAT, "%s has level %d instead of %d in its rank2file map", path, is, want);
}

/* Add what the node PATH of LEVEL says to M; 0 for the root, whose level is any above 0. */
SCR_FN int scr_rank2file_read_path(const char* path, int level, scr_rank2file* m)
{
  scr_hash*            h = scr_hash_new();
  const scr_hash_elem* e;
  int                  rc = scr_rank2file_read_node(path, h, &m->level, &m->ranks);

  if (rc == SCR_SUCCESS && (level > 0 || m->level == 0))
    rc = scr_rank2file_check_level(path, m->level, level > 0 ? level : 1);
  scr_identity_read(scr_hash_get(h, "DSET"), &m->identity);
  e = scr_hash_elem_first(scr_hash_get(h, "RANK"));
  for (; e != NULL && rc == SCR_SUCCESS; e = scr_hash_elem_next(e))
    rc = scr_rank2file_add(m, atoi(scr_hash_elem_key(e)) & INT_MAX, scr_hash_str_or(scr_hash_elem_hash(e), "FILE", ""));
  scr_hash_delete(&h);
  return rc;
}

/*
** The path below the prefix of FILE, which a node of the map of the dataset at PLACE names.  Release 3 names only what
** is behind rank2file in the directory of the metadata, such as .0.0.
*/
SCR_FN int scr_rank2file_rel(const char* prefix, const scr_prefix_place* place, const char* file, char* rel, size_t n)
{
  if (file[0] == '.' && isdigit((unsigned char)file[1]) && strchr(file, '/') == NULL)
    return scr_fmt(rel, n, "%s/rank2file%s", place->meta, file);
  return scr_prefix_rel(prefix, place->base, file, rel, n);
}

/*
** Read the root of the map of the dataset at PLACE; in release 3 its name has no suffix.  The caller calls
** scr_rank2file_free, after an error too.
*/
SCR_FN int scr_rank2file_read_root(const char* prefix, const scr_prefix_place* place, scr_rank2file* m)
{
  char        path[SCR_MAX_FILENAME], other[SCR_MAX_FILENAME];
  struct stat st;
  int         rc = scr_fmt(path, sizeof path, "%s/%s/rank2file.scr", prefix, place->meta);

  memset(m, 0, sizeof *m);
  if (rc == SCR_SUCCESS) rc = scr_fmt(other, sizeof other, "%s/%s/rank2file", prefix, place->meta);
  if (rc == SCR_SUCCESS && scr_os.lstat(path, &st) < 0 && scr_os.lstat(other, &st) == 0)
    return scr_rank2file_read_path(other, 0, m);
  return rc == SCR_SUCCESS ? scr_rank2file_read_path(path, 0, m) : rc;
}

/* Add the children of the node FILE of LEVEL of the dataset at PLACE to those of M. */
SCR_FN int scr_rank2file_read(const char* prefix, const scr_prefix_place* place, const char* file, int level,
                              scr_rank2file* m)
{
  char rel[SCR_MAX_FILENAME], path[SCR_MAX_FILENAME];
  int  rc = scr_rank2file_rel(prefix, place, file, rel, sizeof rel);

  if (rc == SCR_SUCCESS) rc = scr_fmt(path, sizeof path, "%s/%s", prefix, rel);
  return rc == SCR_SUCCESS ? scr_rank2file_read_path(path, level, m) : rc;
}

/* Write M as the node FILE of the map in DIR below PREFIX, atomically. */
SCR_FN int scr_rank2file_write(const char* prefix, const char* dir, const scr_rank2file* m, const char* file)
{
  scr_hash* h = scr_hash_new();
  char      path[SCR_MAX_FILENAME];
  int       i, rc = scr_fmt(path, sizeof path, "%s/%s/%s", prefix, dir, file);

  scr_hash_util_set_int(h, "LEVEL", m->level);
  scr_hash_util_set_int(h, "RANKS", m->ranks);
  if (m->identity.id != 0) scr_identity_write(scr_hash_set(h, "DSET", scr_hash_new()), &m->identity);
  for (i = 0; i < m->n; i++) {
    scr_hash* child = scr_hash_setf(h, NULL, "%s %d", "RANK", m->rank[i]);
    scr_hash_util_set_int(child, "OFFSET", 0); /* in FILE, where the child begins */
    scr_hash_util_set_str(child, "FILE", m->file[i]);
  }
  if (rc == SCR_SUCCESS) rc = scr_hash_file_write(path, h);
  scr_hash_delete(&h);
  return rc;
}

/* Write M, the root of the map in DIR below PREFIX, atomically. */
SCR_FN int scr_rank2file_write_root(const char* prefix, const char* dir, const scr_rank2file* m)
{
  return scr_rank2file_write(prefix, dir, m, ".scr/rank2file.scr");
}

/* Add the objects of the leaf FILE of the dataset at PLACE to L. */
SCR_FN int scr_rank2file_read_leaf(const char* prefix, const scr_prefix_place* place, const char* file, scr_objects* l)
{
  scr_hash* h = scr_hash_new();
  char      rel[SCR_MAX_FILENAME], path[SCR_MAX_FILENAME];
  int       level, ranks, rc = scr_rank2file_rel(prefix, place, file, rel, sizeof rel);

  if (rc == SCR_SUCCESS) rc = scr_fmt(path, sizeof path, "%s/%s", prefix, rel);
  if (rc == SCR_SUCCESS) rc = scr_rank2file_read_node(path, h, &level, &ranks);
  if (rc == SCR_SUCCESS) rc = scr_rank2file_check_level(path, level, 0);
  if (rc == SCR_SUCCESS) rc = scr_objects_from_hash(h, prefix, place->base, l);
  scr_hash_delete(&h);
  return rc;
}

/*
** Write the leaf of rank RANK: BODY, from scr_objects_to_hash; *RANKS receives the number of its owners, and FILE, of N
** bytes, its name.
*/
SCR_FN int scr_rank2file_write_leaf(const char* prefix, const char* dir, int rank, const scr_hash* body, int* ranks,
                                    char* file, size_t n)
{
  scr_hash *h = scr_hash_new(), *leaf = scr_hash_set(h, "RANK2FILE", scr_hash_new());
  char      path[SCR_MAX_FILENAME];
  int       rc = scr_fmt(file, n, ".scr/rank2file.0.%d.scr", rank);

  *ranks = scr_hash_size(scr_hash_get(body, "RANK"));
  scr_hash_util_set_int(leaf, "LEVEL", 0);
  scr_hash_util_set_int(leaf, "RANKS", *ranks);
  scr_hash_merge(leaf, body);
  if (rc == SCR_SUCCESS) rc = scr_fmt(path, sizeof path, "%s/%s/%s", prefix, dir, file);
  if (rc == SCR_SUCCESS) rc = scr_hash_file_write(path, h);
  scr_hash_delete(&h);
  return rc;
}

/* A visit of the objects L of a leaf; an error ends the walk. */
typedef int (*scr_rank2file_visit)(const scr_objects* l, void* arg);

/* Visit the leaves below the node M of the dataset ID at PLACE. */
SCR_FN int scr_rank2file_walk_below(const char* prefix, const scr_prefix_place* place, int id, const scr_rank2file* m,
                                    scr_rank2file_visit visit, void* arg)
{
  int i, rc = SCR_SUCCESS;

  for (i = 0; i < m->n && rc == SCR_SUCCESS; i++) {
    scr_rank2file below;
    scr_objects   l;
    memset(&below, 0, sizeof below);
    memset(&l, 0, sizeof l);
    l.id = id;
    if (m->level == 1) {
      rc = scr_rank2file_read_leaf(prefix, place, m->file[i], &l);
      if (rc == SCR_SUCCESS) rc = visit(&l, arg);
    } else {
      rc = scr_rank2file_read(prefix, place, m->file[i], m->level - 1, &below);
      if (rc == SCR_SUCCESS) rc = scr_rank2file_walk_below(prefix, place, id, &below, visit, arg);
    }
    scr_objects_free(&l);
    scr_rank2file_free(&below);
  }
  return rc;
}

/*
** Visit the objects of all leaves of the map of the dataset at PLACE.  IDENTITY has its id; if its other fields are
** set, the map must be of this dataset: else SCR_ERR_INVALID.  RANKS receives the number of ranks of the map.
*/
SCR_FN int scr_rank2file_walk(const char* prefix, const scr_prefix_place* place, const scr_identity* identity,
                              int* ranks, scr_rank2file_visit visit, void* arg)
{
  scr_rank2file root;
  int           rc = scr_rank2file_read_root(prefix, place, &root);

  if (rc == SCR_SUCCESS && scr_identity_differs(&root.identity, identity))
    rc = SCR_ERR(SCR_ERR_INVALID, "the rank2file map in %s/%s is that of another dataset", prefix, place->meta);
  if (rc == SCR_SUCCESS) rc = scr_rank2file_walk_below(prefix, place, identity->id, &root, visit, arg);
  *ranks = root.ranks;
  scr_rank2file_free(&root);
  return rc;
}

/* ---- the names of a dataset that is read in place ---- */

/*
** While a dataset is read in place, a directory of its files tells which object a path is, without a walk of the whole
** map.  By the CRC32 of their paths the objects are divided into buckets, each a file of the form of a leaf.
*/
SCR_FN int scr_names_bucket(const char* rel, int buckets)
{
  return (int)(scr_crc32(SCR_CRC32_START, rel, strlen(rel)) % (uLong)buckets);
}

/* The path of BUCKET of the dataset at PLACE. */
SCR_FN int scr_names_path(const char* prefix, const scr_prefix_place* place, int bucket, char* path, size_t n)
{
  return scr_fmt(path, n, "%s/%s/rank2file.%d.names", prefix, place->meta, bucket);
}

/* Write the objects in BODY, from scr_objects_to_hash with paths below the prefix, as BUCKET of the directory. */
SCR_FN int scr_names_write(const char* prefix, const scr_prefix_place* place, int bucket, const scr_hash* body)
{
  char path[SCR_MAX_FILENAME];
  int  rc = scr_names_path(prefix, place, bucket, path, sizeof path);

  return rc == SCR_SUCCESS ? scr_hash_file_write(path, body) : rc;
}

/* Read the objects of BUCKET of the dataset ID at PLACE into L, an empty list. */
SCR_FN int scr_names_read(const char* prefix, const scr_prefix_place* place, int bucket, int id, scr_objects* l)
{
  scr_hash* h = scr_hash_new();
  char      path[SCR_MAX_FILENAME];
  int       rc = scr_names_path(prefix, place, bucket, path, sizeof path);

  l->id = id;
  if (rc == SCR_SUCCESS) rc = scr_hash_file_read(path, h);
  if (rc == SCR_ERR_NOT_FOUND) rc = SCR_ERR(SCR_ERR_MISSING, "%s, which SCR_Init wrote, is missing", path);
  if (rc == SCR_SUCCESS) rc = scr_objects_from_hash(h, prefix, "", l);
  scr_hash_delete(&h);
  return rc;
}

/* ---- a dataset on the prefix ---- */

/* Finish the renames of the objects L below the prefix ARG. */
SCR_FN int scr_prefix_finish_leaf(const scr_objects* l, void* arg)
{
  return scr_objects_rename(l, (const char*)arg, 1);
}

/* Finish the renames of dataset ID in DIR. */
SCR_FN int scr_prefix_finish_renames(const char* prefix, int id, const char* dir)
{
  scr_prefix_place place;
  scr_identity     identity;
  int              ranks, rc = scr_prefix_locate(prefix, id, dir, &place);

  memset(&identity, 0, sizeof identity);
  identity.id = id;
  return rc == SCR_SUCCESS
             ? scr_rank2file_walk(prefix, &place, &identity, &ranks, scr_prefix_finish_leaf, (void*)prefix)
             : rc;
}

/*
** Remove the files with this SUFFIX, "" for all, of the summary, the rank2file map and the containers from the
** directory META below PREFIX, and META itself if that leaves it empty.
*/
SCR_FN void scr_prefix_remove_meta(const char* prefix, const char* meta, const char* suffix)
{
  static const char* const files[] = {"summary.scr", "rank2file.", "ctr."};
  char                     path[SCR_MAX_FILENAME];
  struct dirent*           e;
  DIR*                     d;
  size_t                   i;

  if (scr_fmt(path, sizeof path, "%s/%s", prefix, meta) != SCR_SUCCESS) return;
  d = opendir(path);
  while (d != NULL && (e = readdir(d)) != NULL)
    for (i = 0; i < sizeof files / sizeof *files; i++) {
      size_t n = strlen(e->d_name), k = strlen(suffix);
      if (strncmp(e->d_name, files[i], strlen(files[i])) == 0 && n >= k && strcmp(e->d_name + n - k, suffix) == 0 &&
          scr_fmt(path, sizeof path, "%s/%s/%s", prefix, meta, e->d_name) == SCR_SUCCESS)
        scr_os.unlink(path);
    }
  if (d != NULL) closedir(d);
  if (scr_fmt(path, sizeof path, "%s/%s", prefix, meta) == SCR_SUCCESS) scr_os.rmdir(path);
}

/* Remove the metadata of a dataset that was removed from the index; its files stay. */
SCR_FN void scr_prefix_forget(const char* prefix, int id, const char* dir)
{
  scr_prefix_place place;
  char             path[SCR_MAX_FILENAME];

  if (scr_prefix_locate(prefix, id, dir, &place) != SCR_SUCCESS) return;
  scr_prefix_remove_meta(prefix, place.meta, "");
  if (*place.base && scr_fmt(path, sizeof path, "%s/%s", prefix, place.base) == SCR_SUCCESS) scr_os.rmdir(path);
}

/*
** Returns 1 if the directory DIR below the prefix may hold the metadata of the dataset IDENTITY: it has no summary or
** one of this dataset, and INDEX has no other complete dataset there.  A summary that cannot be read might belong to
** any dataset, so DIR is then not used.
*/
SCR_FN int scr_prefix_may_use(const char* prefix, const scr_index* index, const char* dir, const scr_identity* identity)
{
  char           path[SCR_MAX_FILENAME];
  scr_desc       other;
  scr_index_item it;
  int            complete, may, rc = scr_summary_path(prefix, dir, path);

  if (rc == SCR_SUCCESS) rc = scr_summary_read(path, &other, &complete);
  may = rc == SCR_ERR_NOT_FOUND || (rc == SCR_SUCCESS && scr_identity_same(&other.identity, identity));
  memset(&it, 0, sizeof it);
  while (may && scr_index_walk(index, &it))
    if (strcmp(it.dir, dir) == 0 && it.complete) may = scr_identity_same(&it.desc.identity, identity);
  return may;
}

#define SCR_PREFIX_DIRS_MAX 1000 /* directory names that are tried */

/*
** The directory of the dataset DESC below the prefix: the common directory of its files; if there is none, or it holds
** the metadata of another dataset, scr.dataset.<id> or else the first scr.dataset.<id>.<n> that does not.  The keys of
** TAKEN, which may be NULL, are directories that others are about to use.
*/
SCR_FN int scr_prefix_choose_dir(const char* prefix, const scr_desc* desc, int preserve, const scr_hash* taken,
                                 char* dir, size_t n)
{
  scr_index index;
  int       i, id = desc->identity.id, found = 0, rc = SCR_SUCCESS;

  scr_index_read(&index, prefix); /* if it cannot be read, it is empty; the commit reports that */
  for (i = -1; rc == SCR_SUCCESS && !found && i < SCR_PREFIX_DIRS_MAX; i++) {
    if (i < 0 && (!preserve || *desc->dir == '\0')) continue;
    if (i < 0) rc = scr_fmt(dir, n, "%s", desc->dir);
    else rc = i == 0 ? scr_fmt(dir, n, "scr.dataset.%d", id) : scr_fmt(dir, n, "scr.dataset.%d.%d", id, i);
    if (rc == SCR_SUCCESS)
      found = scr_hash_get(taken, dir) == NULL && scr_prefix_may_use(prefix, &index, dir, &desc->identity);
  }
  if (rc == SCR_SUCCESS && !found)
    rc = SCR_ERR(SCR_ERR_IO,
                 "%s/%s and the directories of this name before it hold or may hold metadata of other datasets; look "
                 "whether their summary.scr can be read, and remove those that are not needed",
                 prefix, dir);
  if (rc == SCR_SUCCESS && scr_oom) rc = SCR_ERR_OOM();
  if (rc != SCR_SUCCESS) *dir = '\0';
  scr_index_close(&index, SCR_SUCCESS, 0);
  return rc;
}

/*
** Finish the renames of every dataset for which the index records that some may be left.  An error with one dataset
** does not stop the others.
*/
SCR_FN int scr_prefix_finish_all(const char* prefix)
{
  scr_index      index;
  scr_index_item it;
  scr_err_record why;
  int            changed = 0, first = SCR_SUCCESS, err, rc = scr_index_open(&index, prefix);

  scr_err_save(&why);
  memset(&it, 0, sizeof it);
  while (rc == SCR_SUCCESS && scr_index_walk(&index, &it)) {
    if (!it.renaming) continue;
    scr_dbg(1, "finish the flush of dataset %d, which a failure interrupted", it.id);
    err = scr_prefix_finish_renames(prefix, it.id, it.dir);
    if (err == SCR_SUCCESS) {
      scr_index_note_renamed(&index, it.id, it.dir);
      changed = 1;
    } else if (first == SCR_SUCCESS) {
      first = err;
      scr_err_save(&why);
    }
  }
  rc = scr_index_close(&index, rc, changed);
  if (rc == SCR_SUCCESS && first != SCR_SUCCESS) scr_err_restore(&why);
  return rc != SCR_SUCCESS ? rc : first;
}

/* ==== 14 FILES OF A RUN: FLUSH, HALT, NODES, LOG ========================================================
** What the library and the commands in a job script tell each other through files in <prefix>/.scr.
**
**   flush.scr    DSET/<id>/{NAME, DIR, CKPT 1, OUTPUT 1, LOCATION/{CACHE, PFS, FLUSHING, SYNC_FLUSHING}, IDENTITY,
**                CHECKPOINT, JOBID, RANKS, ENDED 1, WHERE}: where the cached datasets are, which of them still have to
**                be flushed, and which complete checkpoints no run could reach since; PASSED/<id>/NAME: what is in the
**                cache, but only offered if the user chooses it; LAST/<id>: the last id assigned when the run began;
**                NOTES_LOST 1: an earlier file was damaged
**   halt.scr     CheckpointsLeft, ExitAfter, ExitBefore, HaltSeconds, ExitReason: when the run should stop;
**                REQUEST/<n>/{FLUSH, HALT, WAIT}: someone asks for a checkpoint; ANSWER/<n>/{NAME, DSET, FLUSHED,
**                ERROR}: what became of it, for the one who waits
**   nodes.scr    NODES, HOST/<host>/{CNTL, CACHE}/<directory>: how many nodes the last run had, and its directories
**   status.scr   PHASE, SINCE, RUN, LAST, CACHE/<id>, FLUSH/<id>: what a run is doing, for people to watch; it is
**                written in place, and not synced
**   log          one line of text for each event and each transfer, for people and for statistics
**
** and in the control directory of each node:
**
**   transfer.scrinfo  FILES/<source>/{DSET{identity}, DESTINATION/<path> or SEG/<n>/{FILE, OFFSET, LENGTH}, SIZE, MODE,
**                MTIME, WRITTEN, CRC, ERROR}: the copies that the daemon scr_transfer makes for the ranks of the node;
**                WRITTEN bytes are on the prefix and synced, and CRC is their checksum.  BW, PERCENT: how fast it may
**                copy; COMMAND/{RUN, STOP, EXIT}: what it is to do; STATE/{RUN, STOP}: what it does; FLAG/DONE: all is
**                copied.  PREFIX, RUN: it copies only while <prefix>/.scr/run.lock names this run
**
** Uses       platform, errors, memory, hash, hash files, parameters, dataset, file window, prefix
** Offers     scr_flush_note, scr_answer, scr_manager, scr_log, scr_log_dataset, scr_log_runs, scr_cost, scr_transfer,
**            scr_transfer_state; scr_flush_locations, scr_flush_file_read, scr_flush_file_open, scr_flush_file_get,
**            scr_flush_file_next, scr_flush_file_before, scr_flush_file_remove, scr_flush_file_put,
**            scr_flush_file_last_id, scr_flush_file_doubt, scr_flush_file_is_doubtful, scr_flush_file_begin,
**            scr_flush_file_set_last, scr_flush_file_put_passed, scr_flush_file_named, scr_halt_stated,
**            scr_halt_merge, scr_halt_before, scr_halt_check, scr_halt_count, scr_request_put, scr_request_wishes,
**            scr_request_answer, scr_request_read, scr_request_remove, scr_request_forget, scr_manager_here,
**            scr_allocation_end, scr_nodes_file_write, scr_nodes_file_walk, scr_nodes_file_where, scr_nodes_file_read,
**            scr_log_db_close, scr_log_begin, scr_log_is_on, scr_log_end, scr_log_start, scr_log_event,
**            scr_log_transfer, scr_status_begin, scr_status_put, scr_status_write, scr_status_read, scr_log_value,
**            scr_log_number, scr_log_read, scr_log_runs_next, scr_log_runs_add, scr_best_interval, scr_cost_learn,
**            scr_holder_read, scr_token_read, scr_transfer_read, scr_transfer_open, scr_transfer_close,
**            scr_transfer_rest, scr_transfer_daemon_path, scr_transfer_is_served, scr_transfer_put, scr_transfer_get,
**            scr_transfer_clear_item, scr_transfer_state_of, scr_transfer_look, scr_transfer_steer,
**            scr_transfer_is_of, scr_transfer_has, scr_transfer_written, scr_transfer_forget, scr_transfer_clear,
**            scr_transfer_withdraw
** Invariants
**   Y1  A value that cannot be read counts as not set; times and counts of any size do not overflow.
**   Y2  The log only grows, by whole lines; every entry is one line, whatever its text contains.
** Failure    Files stay as they were, or are fully replaced.
** ====================================================================================================== */

/* ---- flush file ---- */

/* Where a dataset is; bits.  FLUSHING is asynchronous. */
enum { SCR_LOCATION_CACHE = 1, SCR_LOCATION_PREFIX = 2, SCR_LOCATION_FLUSHING = 4, SCR_LOCATION_SYNC_FLUSHING = 8 };

/* What the flush file records of a dataset. */
typedef struct {
  int          id;
  char         name[SCR_MAX_FILENAME]; /* "" if not recorded */
  char         dir[SCR_MAX_FILENAME];  /* directory below the prefix that it is flushed to; "" if not recorded */
  int          flags;                  /* SCR_FLAG_x */
  int          location;               /* bits of SCR_LOCATION_x */
  scr_identity identity;               /* all zeros if not recorded, as in older versions */
  int          ckpt, ranks;            /* number of the checkpoint, and ranks that wrote it; 0 if not recorded */
  char         job[256];               /* id of the job that wrote it */
  int          ended;      /* 1: the run that wrote it ended normally and was not to flush checkpoints (SCR_FLUSH=0) */
  char         where[512]; /* if later runs could not reach it: the hosts and the directory where it was; else "" */
} scr_flush_note;

static const struct {
  int         bit;
  const char* name;
} scr_flush_locations[] = {{SCR_LOCATION_SYNC_FLUSHING, "SYNC_FLUSHING"},
                           {SCR_LOCATION_FLUSHING, "FLUSHING"},
                           {SCR_LOCATION_PREFIX, "PFS"},
                           {SCR_LOCATION_CACHE, "CACHE"}};

#define SCR_FLUSH_NLOCATIONS ((int)(sizeof scr_flush_locations / sizeof *scr_flush_locations))

/* Convert the key DATASET, which older releases wrote, to DSET. */
SCR_FN void scr_flush_file_normalise(scr_record* r)
{
  scr_hash* old = scr_hash_extract(r->h, "DATASET");
  scr_hash* sets = scr_hash_get(r->h, "DSET");

  if (old == NULL) return;
  if (sets == NULL) sets = scr_hash_set(r->h, "DSET", scr_hash_new());
  scr_hash_merge(sets, old);
  scr_hash_delete(&old);
}

/*
** Read the flush file of PREFIX; R is empty if there is none.  The caller calls scr_record_close, after an error too.
*/
SCR_FN int scr_flush_file_read(scr_record* r, const char* prefix)
{
  int rc = scr_record_read(r, prefix, "flush.scr");

  if (rc == SCR_SUCCESS) scr_flush_file_normalise(r);
  return rc == SCR_SUCCESS && scr_oom ? SCR_ERR_OOM() : rc;
}

/* Like scr_flush_file_read, but holds the lock of the file, so that it can be changed. */
SCR_FN int scr_flush_file_open(scr_record* r, const char* prefix)
{
  int rc = scr_record_open(r, prefix, "flush.scr");

  if (rc == SCR_SUCCESS) scr_flush_file_normalise(r);
  return rc;
}

/* Read what the file records of dataset ID into NOTE; 0 if it has no such dataset. */
SCR_FN int scr_flush_file_get(const scr_record* r, int id, scr_flush_note* note)
{
  const scr_hash* h = scr_hash_get_kv_int(r->h, "DSET", id);
  int             i;

  memset(note, 0, sizeof *note);
  if (h == NULL) return 0;
  note->id = id;
  scr_desc_read_str(h, "NAME", note->name, sizeof note->name);
  scr_desc_read_str(h, "DIR", note->dir, sizeof note->dir);
  if (scr_hash_get(h, "CKPT") != NULL) note->flags |= SCR_FLAG_CHECKPOINT;
  if (scr_hash_get(h, "OUTPUT") != NULL) note->flags |= SCR_FLAG_OUTPUT;
  for (i = 0; i < SCR_FLUSH_NLOCATIONS; i++)
    if (scr_hash_get_kv(h, "LOCATION", scr_flush_locations[i].name) != NULL)
      note->location |= scr_flush_locations[i].bit;
  scr_identity_read(scr_hash_get(h, "IDENTITY"), &note->identity);
  note->ckpt = scr_hash_int_or(h, "CHECKPOINT", 0);
  note->ranks = scr_hash_int_or(h, "RANKS", 0);
  scr_desc_read_str(h, "JOBID", note->job, sizeof note->job);
  note->ended = scr_hash_get(h, "ENDED") != NULL;
  scr_desc_read_str(h, "WHERE", note->where, sizeof note->where);
  return 1;
}

/* The smallest id above ID in the file; 0 if there is none. */
SCR_FN int scr_flush_file_next(const scr_record* r, int id)
{
  const scr_hash_elem* e;
  int                  best = 0;

  for (e = scr_hash_elem_first(scr_hash_get(r->h, "DSET")); e != NULL; e = scr_hash_elem_next(e)) {
    int k = scr_index_id(scr_hash_elem_key(e));
    if (k > id && (best == 0 || k < best)) best = k;
  }
  return best;
}

/* The largest id below ID in the file; 0 if there is none. */
SCR_FN int scr_flush_file_before(const scr_record* r, int id)
{
  const scr_hash_elem* e;
  int                  best = 0;

  for (e = scr_hash_elem_first(scr_hash_get(r->h, "DSET")); e != NULL; e = scr_hash_elem_next(e)) {
    int k = scr_index_id(scr_hash_elem_key(e));
    if (k < id && k > best) best = k;
  }
  return best;
}

/* Forget dataset ID; returns 0 if there is nothing to forget. */
SCR_FN int scr_flush_file_remove(scr_record* r, int id)
{
  int known = scr_hash_get_kv_int(r->h, "DSET", id) != NULL || scr_hash_get_kv_int(r->h, "PASSED", id) != NULL;

  scr_hash_unset_kv_int(r->h, "DSET", id);
  scr_hash_unset_kv_int(r->h, "PASSED", id);
  return known;
}

/* Store NOTE in place of what the file records of its dataset. */
SCR_FN void scr_flush_file_put(scr_record* r, const scr_flush_note* note)
{
  scr_hash* h;
  int       i;

  scr_flush_file_remove(r, note->id);
  h = scr_hash_set_kv_int(r->h, "DSET", note->id);
  if (*note->name) scr_hash_util_set_str(h, "NAME", note->name);
  scr_hash_util_set_str(h, "DIR", note->dir);
  if (note->flags & SCR_FLAG_CHECKPOINT) scr_hash_util_set_int(h, "CKPT", 1);
  if (note->flags & SCR_FLAG_OUTPUT) scr_hash_util_set_int(h, "OUTPUT", 1);
  for (i = SCR_FLUSH_NLOCATIONS - 1; i >= 0; i--)
    if (note->location & scr_flush_locations[i].bit) scr_hash_set_kv(h, "LOCATION", scr_flush_locations[i].name);
  if (note->identity.id != 0) scr_identity_write(scr_hash_set(h, "IDENTITY", scr_hash_new()), &note->identity);
  if (note->ckpt > 0) scr_hash_util_set_int(h, "CHECKPOINT", note->ckpt);
  if (note->ranks > 0) scr_hash_util_set_int(h, "RANKS", note->ranks);
  if (*note->job) scr_hash_util_set_str(h, "JOBID", note->job);
  if (note->ended) scr_hash_util_set_int(h, "ENDED", 1);
  if (*note->where) scr_hash_util_set_str(h, "WHERE", note->where);
}

/* The largest id that a run has assigned, as far as the file knows; 0 if it knows none. */
SCR_FN int scr_flush_file_max_id(const scr_record* r)
{
  const scr_hash_elem* e = scr_hash_elem_first(scr_hash_get(r->h, "PASSED"));
  int                  id = scr_flush_file_before(r, INT_MAX);

  if (scr_hash_int_or(r->h, "LAST", 0) > id) id = scr_hash_int_or(r->h, "LAST", 0);
  for (; e != NULL; e = scr_hash_elem_next(e))
    if (scr_index_id(scr_hash_elem_key(e)) > id) id = scr_index_id(scr_hash_elem_key(e));
  return id;
}

/*
** The greatest id that INDEX, its choice and cut, or the flush file knows, so that none recurs; what cannot be read is
** empty.
*/
SCR_FN int scr_flush_file_last_id(const scr_index* index)
{
  scr_choice c;
  scr_record notes;
  int        id = scr_index_max_id(index), rc = scr_flush_file_read(&notes, index->prefix);

  scr_choice_read(index, &c);
  if (scr_index_cut_id(index) > id) id = scr_index_cut_id(index);
  if (c.id > id) id = c.id;
  if (c.until - 1 > id) id = c.until - 1;
  if (scr_flush_file_max_id(&notes) > id) id = scr_flush_file_max_id(&notes);
  scr_record_close(&notes, rc, 0);
  return id;
}

/* Record that earlier notes are lost, or with ON 0 that this no longer matters. */
SCR_FN void scr_flush_file_doubt(scr_record* r, int on)
{
  if (on) scr_hash_util_set_int(r->h, "NOTES_LOST", 1);
  else scr_hash_unset(r->h, "NOTES_LOST");
}

/* Returns 1 if earlier notes are lost. */
SCR_FN int scr_flush_file_is_doubtful(const scr_record* r)
{
  return scr_hash_get(r->h, "NOTES_LOST") != NULL;
}

/* A run starts that has assigned ids up to LAST: forget which checkpoints in the cache were passed over. */
SCR_FN void scr_flush_file_begin(scr_record* r, int last)
{
  scr_hash_unset(r->h, "PASSED");
  scr_hash_util_set_int(r->h, "LAST", last);
}

/* Record that the id LAST has been assigned. */
SCR_FN void scr_flush_file_set_last(scr_record* r, int last)
{
  scr_hash_util_set_int(r->h, "LAST", last);
}

/*
** Record only that the cache has the checkpoint ID, called NAME, which was passed over: no command flushes or lists it,
** but the user can choose it.
*/
SCR_FN void scr_flush_file_put_passed(scr_record* r, int id, const char* name)
{
  scr_flush_file_remove(r, id);
  scr_hash_util_set_str(scr_hash_set_kv_int(r->h, "PASSED", id), "NAME", name);
}

/* The id of the newest checkpoint called NAME in the cache, one that was passed over included; 0 if there is none. */
SCR_FN int scr_flush_file_named(const scr_record* r, const char* name)
{
  const scr_hash_elem* e = scr_hash_elem_first(scr_hash_get(r->h, "PASSED"));
  scr_flush_note       note;
  int                  id = INT_MAX;

  while ((id = scr_flush_file_before(r, id)) != 0)
    if (scr_flush_file_get(r, id, &note) && note.flags & SCR_FLAG_CHECKPOINT && strcmp(note.name, name) == 0) break;
  for (; e != NULL; e = scr_hash_elem_next(e))
    if (scr_index_id(scr_hash_elem_key(e)) > id &&
        strcmp(scr_hash_str_or(scr_hash_elem_hash(e), "NAME", ""), name) == 0)
      id = scr_index_id(scr_hash_elem_key(e));
  return id;
}

/* ---- halt file ---- */

/* The reason to stop that H states, or NULL.  SCR_FINALIZE_CALLED, the end of an earlier run, does not count. */
SCR_FN const char* scr_halt_stated(const scr_hash* h)
{
  const char* reason = scr_hash_elem_get_first_val(h, "ExitReason");

  if (reason == NULL || *reason == '\0' || strcmp(reason, "SCR_FINALIZE_CALLED") == 0) return NULL;
  return reason;
}

/*
** The conditions that a run keeps in MEMORY become those of FILE, the halt file, so that what the user removes from it
** no longer holds.  If FILE has no HaltSeconds, SECONDS, the value of SCR_HALT_SECONDS, counts, unless it is 0.
*/
SCR_FN int scr_halt_merge(scr_hash* memory, const scr_hash* file, int seconds)
{
  static const char* const keys[] = {"CheckpointsLeft", "ExitBefore", "ExitAfter", "HaltSeconds", "ExitReason"};
  size_t                   i;

  for (i = 0; i < sizeof keys / sizeof keys[0]; i++) {
    const char* value = scr_hash_elem_get_first_val(file, keys[i]);
    if (value != NULL) scr_hash_util_set_str(memory, keys[i], value);
    else scr_hash_unset(memory, keys[i]);
  }
  if (scr_hash_get(memory, "HaltSeconds") == NULL && seconds > 0) scr_hash_util_set_int(memory, "HaltSeconds", seconds);
  return scr_oom ? SCR_ERR_OOM() : SCR_SUCCESS;
}

/* The time before which the run should end: ExitBefore minus HaltSeconds.  Returns 0 if ExitBefore is not set. */
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
** Returns 1 if the run should stop: little time is left in the allocation, someone gave a reason, no checkpoint is left
** to take, or a time has come.
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

/* Subtract N complete checkpoints from CheckpointsLeft if it is set; the result is not negative. */
SCR_FN void scr_halt_count(scr_hash* halt, int n)
{
  int64_t left;

  if (scr_hash_util_get_int64(halt, "CheckpointsLeft", &left) != SCR_SUCCESS || left <= 0 || n <= 0) return;
  scr_hash_util_set_int64(halt, "CheckpointsLeft", left > n ? left - n : 0);
}

/* ---- requests for a checkpoint, in the halt file ---- */

/* What became of a request. */
typedef struct {
  int  id; /* of the dataset; 0: there is none */
  int  flushed;
  char name[SCR_MAX_FILENAME];
  char error[SCR_ERR_TEXT_MAX]; /* "" if all went well */
} scr_answer;

/* Ask in H, a halt file, for WISHES; WAITS: someone waits for the answer.  NUMBER names the request. */
SCR_FN void scr_request_put(scr_hash* h, const char* number, int wishes, int waits)
{
  scr_hash* r = scr_hash_set_kv(h, "REQUEST", number);

  if (wishes & SCR_WISH_FLUSH) scr_hash_util_set_int(r, "FLUSH", 1);
  if (wishes & SCR_WISH_HALT) scr_hash_util_set_int(r, "HALT", 1);
  if (waits) scr_hash_util_set_int(r, "WAIT", 1);
}

/* What the requests of H, a halt file, wish, but for those that EXCEPT or BESIDES have; their numbers go to NUMBERS. */
SCR_FN int scr_request_wishes(const scr_hash* h, const scr_hash* except, const scr_hash* besides, scr_hash* numbers)
{
  const scr_hash_elem* e = scr_hash_elem_first(scr_hash_get(h, "REQUEST"));
  int                  wishes = 0;

  for (; e != NULL; e = scr_hash_elem_next(e)) {
    const char* number = scr_hash_elem_key(e);
    if (scr_hash_get(except, number) != NULL || scr_hash_get(besides, number) != NULL) continue;
    wishes |= SCR_WISH_CHECKPOINT;
    if (scr_hash_get(scr_hash_elem_hash(e), "FLUSH") != NULL) wishes |= SCR_WISH_FLUSH;
    if (scr_hash_get(scr_hash_elem_hash(e), "HALT") != NULL) wishes |= SCR_WISH_HALT;
    scr_hash_set(numbers, number, scr_hash_new());
  }
  return wishes;
}

/* Put the answer A in the place of the requests NUMBERS of H; NULL: of all.  Returns 1 if H has changed. */
SCR_FN int scr_request_answer(scr_hash* h, const scr_hash* numbers, const scr_answer* a)
{
  scr_hash*            requests = scr_hash_get(h, "REQUEST");
  scr_hash*            all = scr_hash_dup(numbers != NULL ? numbers : requests);
  const scr_hash_elem* e;
  int                  changed = 0;

  for (e = scr_hash_elem_first(all); e != NULL; e = scr_hash_elem_next(e)) {
    const char* number = scr_hash_elem_key(e);
    if (scr_hash_get(requests, number) == NULL) continue;
    changed = 1;
    if (scr_hash_get(scr_hash_get(requests, number), "WAIT") != NULL) {
      scr_hash* to = scr_hash_set_kv(h, "ANSWER", number);
      if (a->id > 0) scr_hash_util_set_int(to, "DSET", a->id);
      if (*a->name) scr_hash_util_set_str(to, "NAME", a->name);
      if (a->flushed) scr_hash_util_set_int(to, "FLUSHED", 1);
      if (*a->error) scr_hash_util_set_str(to, "ERROR", a->error);
      scr_hash_util_set_int64(to, "TIME", (int64_t)time(NULL));
    }
    scr_hash_unset(requests, number);
  }
  if (scr_hash_size(requests) == 0) scr_hash_unset(h, "REQUEST");
  scr_hash_delete(&all);
  return changed;
}

/* Read the answer to the request NUMBER in H.  Returns 1, 0 if it is still open, or -1 if H does not know it. */
SCR_FN int scr_request_read(const scr_hash* h, const char* number, scr_answer* a)
{
  const scr_hash* from = scr_hash_get_kv(h, "ANSWER", number);

  memset(a, 0, sizeof *a);
  if (from == NULL) return scr_hash_get_kv(h, "REQUEST", number) != NULL ? 0 : -1;
  a->id = scr_hash_int_or(from, "DSET", 0);
  a->flushed = scr_hash_get(from, "FLUSHED") != NULL;
  scr_desc_read_str(from, "NAME", a->name, sizeof a->name);
  scr_desc_read_str(from, "ERROR", a->error, sizeof a->error);
  return 1;
}

/* Take the request NUMBER, and its answer, out of H. */
SCR_FN void scr_request_remove(scr_hash* h, const char* number)
{
  static const char* const keys[] = {"REQUEST", "ANSWER"};
  int                      i;

  for (i = 0; i < 2; i++) {
    scr_hash_unset(scr_hash_get(h, keys[i]), number);
    if (scr_hash_size(scr_hash_get(h, keys[i])) == 0) scr_hash_unset(h, keys[i]);
  }
}

/* Take out of H the answers that nobody has fetched within an hour.  Returns 1 if H has changed. */
SCR_FN int scr_request_forget(scr_hash* h, int64_t now)
{
  scr_hash*            all = scr_hash_dup(scr_hash_get(h, "ANSWER"));
  const scr_hash_elem* e;
  int64_t              when;
  int                  changed = 0;

  for (e = scr_hash_elem_first(all); e != NULL; e = scr_hash_elem_next(e)) {
    if (scr_hash_util_get_int64(scr_hash_elem_hash(e), "TIME", &when) == SCR_SUCCESS && now - when < 3600) continue;
    scr_request_remove(h, scr_hash_elem_key(e));
    changed = 1;
  }
  scr_hash_delete(&all);
  return changed;
}

/* ---- the allocation ---- */

typedef enum { SCR_MANAGER_NONE, SCR_MANAGER_SLURM, SCR_MANAGER_PBS, SCR_MANAGER_LSF, SCR_MANAGER_FLUX } scr_manager;

/* The resource manager of this allocation, by the environment, and its id in *JOB. */
SCR_FN scr_manager scr_manager_here(const char** job)
{
  static const struct {
    const char* name;
    scr_manager kind;
  } ids[] = {{"SLURM_JOB_ID", SCR_MANAGER_SLURM},
             {"SLURM_JOBID", SCR_MANAGER_SLURM},
             {"PBS_JOBID", SCR_MANAGER_PBS},
             {"LSB_JOBID", SCR_MANAGER_LSF},
             {"FLUX_JOB_ID", SCR_MANAGER_FLUX}};
  size_t i;

  for (i = 0; i < sizeof ids / sizeof *ids; i++) {
    *job = getenv(ids[i].name);
    if (*job != NULL && **job != '\0') return ids[i].kind;
  }
  *job = NULL;
  return SCR_MANAGER_NONE;
}

/* Reads TEXT: [[days-]hours:]minutes:seconds, or seconds.  Returns 1, or 0 if it is anything else. */
SCR_FN int scr_duration(const char* text, int64_t* seconds)
{
  const char* dash = strchr(text, '-');
  int64_t     days = 0, v = 0;
  int         n = 0;

  text += strspn(text, " \t");
  if (dash != NULL && (sscanf(text, "%9" SCNd64 "-%n", &days, &n) != 1 || n == 0)) return 0;
  for (text += n, *seconds = 0;; text++) {
    if (!isdigit((unsigned char)*text) || sscanf(text, "%9" SCNd64 "%n", &v, &n) != 1) return 0;
    *seconds = *seconds * 60 + v;
    text += n;
    if (*text != ':') break;
  }
  *seconds += days * 86400;
  return *text == '\0' || isspace((unsigned char)*text) || *text == '.';
}

/* The value of `KEY = VALUE` in the lines of TEXT as a time span; 0 if there is none. */
SCR_FN int scr_duration_of(const char* text, const char* key, int64_t* seconds)
{
  const char* at = strstr(text, key);
  const char* value = at != NULL ? strchr(at, '=') : NULL;

  return value != NULL && scr_duration(value + 1, seconds);
}

/* The seconds that a job of KIND has left, according to ANSWER, what the command of scr_end_command printed. */
SCR_FN int scr_left_of(scr_manager kind, const char* answer, int64_t* left)
{
  int64_t limit, used, minutes;
  int     hours;

  if (kind == SCR_MANAGER_LSF) {
    if (sscanf(answer, "%9d:%9" SCNd64, &hours, &minutes) != 2) return 0;
    *left = hours * (int64_t)3600 + minutes * 60;
    return 1;
  }
  if (kind != SCR_MANAGER_PBS) return scr_duration(answer, left);
  if (scr_duration_of(answer, "Walltime.Remaining", left)) return 1;
  if (!scr_duration_of(answer, "Resource_List.walltime", &limit)) return 0;
  if (!scr_duration_of(answer, "resources_used.walltime", &used)) used = 0;
  *left = limit > used ? limit - used : 0;
  return 1;
}

/* Make COMMAND the line of the shell that asks the manager KIND how long JOB lasts. */
SCR_FN int scr_left_command(scr_manager kind, const char* job, char* command, size_t n)
{
  static const char* const formats[] = {"", "squeue -h -o %%L -j '%s'", "qstat -f '%s'",
                                        "bjobs -noheader -o time_left '%s'", "flux job timeleft '%s'"};

  if (strchr(job, '\'') != NULL) return SCR_ERR(SCR_ERR_PARAM, "the job id %.200s is not one of a manager", job);
  return scr_fmt(command, n, formats[kind], job);
}

/*
** When the allocation ends, in seconds since 1970, into *END: by SCR_END_TIME, or else by the resource manager, to
** which ASK puts the question COMMAND: it sets *ANSWER, which is freed here.  SCR_ERR_NOT_FOUND if nobody tells.
*/
SCR_FN int scr_allocation_end(const scr_hash* params, int (*ask)(const char* command, char** answer), int64_t* end)
{
  char        command[512];
  const char *job, *slurm = getenv("SLURM_JOB_END_TIME"), *value = scr_param_get(params, "SCR_END_TIME");
  scr_manager kind = scr_manager_here(&job);
  char*       answer = NULL;
  int64_t     left;
  int         rc, known;

  if (value != NULL && scr_str_int64(value, end) == SCR_SUCCESS) return SCR_SUCCESS;
  if (slurm != NULL && scr_str_int64(slurm, end) == SCR_SUCCESS) return SCR_SUCCESS;
  rc = kind == SCR_MANAGER_NONE ? SCR_SUCCESS : scr_left_command(kind, job, command, sizeof command);
  if (rc == SCR_SUCCESS && kind != SCR_MANAGER_NONE) rc = ask(command, &answer);
  known = answer != NULL && scr_left_of(kind, answer, &left);
  if (known) *end = (int64_t)time(NULL) + left;
  scr_free(&answer);
  if (rc != SCR_SUCCESS || known) return rc;
  return SCR_ERR(SCR_ERR_NOT_FOUND, "the end of the allocation is not known; set SCR_END_TIME, in seconds since 1970");
}

/* ---- nodes file ---- */

/*
** Record that this run has N nodes, and their directories: HOSTS is <host>/{CNTL, CACHE}/<directory>, or NULL.  The
** file is replaced, whatever it held.
*/
SCR_FN int scr_nodes_file_write(const char* prefix, int n, const scr_hash* hosts)
{
  char      path[SCR_MAX_FILENAME];
  scr_hash* h = scr_hash_new();
  int       rc = scr_record_mkdir(prefix);

  if (h == NULL) return SCR_ERR_OOM();
  scr_hash_util_set_int(h, "NODES", n);
  if (hosts != NULL) scr_hash_set(h, "HOST", scr_hash_dup(hosts));
  if (rc == SCR_SUCCESS) rc = scr_record_path(prefix, "nodes.scr", path, sizeof path);
  if (rc == SCR_SUCCESS) rc = scr_hash_file_write(path, h);
  scr_hash_delete(&h);
  return rc;
}

/*
** Call VISIT for each directory that the last run had, of KIND CNTL or CACHE, host by host.  SCR_ERR_NOT_FOUND if there
** is no nodes file, or if it is of a version that did not record them.
*/
SCR_FN int scr_nodes_file_walk(const char* prefix,
                               void (*visit)(const char* host, const char* kind, const char* dir, void* arg), void* arg)
{
  char                 path[SCR_MAX_FILENAME];
  scr_hash*            h = scr_hash_new();
  const scr_hash_elem *e, *k, *d;
  int                  rc = scr_record_path(prefix, "nodes.scr", path, sizeof path);

  if (rc == SCR_SUCCESS) rc = scr_hash_file_read(path, h);
  if (rc == SCR_SUCCESS && scr_hash_get(h, "HOST") == NULL)
    rc = SCR_ERR(SCR_ERR_NOT_FOUND, "%s does not say where the last run was", path);
  e = rc == SCR_SUCCESS ? scr_hash_elem_first(scr_hash_get(h, "HOST")) : NULL;
  for (; e != NULL; e = scr_hash_elem_next(e))
    for (k = scr_hash_elem_first(scr_hash_elem_hash(e)); k != NULL; k = scr_hash_elem_next(k))
      for (d = scr_hash_elem_first(scr_hash_elem_hash(k)); d != NULL; d = scr_hash_elem_next(d))
        visit(scr_hash_elem_key(e), scr_hash_elem_key(k), scr_hash_elem_key(d), arg);
  scr_hash_delete(&h);
  return rc;
}

/* Make TEXT, of N bytes, say on which hosts the last run was, and in which directory; "" if that is not recorded. */
SCR_FN void scr_nodes_file_where(const char* prefix, char* text, size_t n)
{
  char                 path[SCR_MAX_FILENAME];
  scr_hash*            h = scr_hash_new();
  const scr_hash*      hosts;
  const scr_hash_elem* e;
  size_t               k = 0;
  int                  i = 0, count;

  *text = '\0';
  if (scr_record_path(prefix, "nodes.scr", path, sizeof path) == SCR_SUCCESS) scr_hash_file_read(path, h);
  hosts = scr_hash_get(h, "HOST");
  count = scr_hash_size(hosts);
  for (e = scr_hash_elem_first(hosts); e != NULL && i < 3 && k < n / 2; e = scr_hash_elem_next(e), i++)
    k += (size_t)snprintf(text + k, n - k, "%s%.80s",
                          i == 0           ? ""
                          : i + 1 == count ? " and "
                                           : ", ",
                          scr_hash_elem_key(e));
  if (count > i) k += (size_t)snprintf(text + k, n - k, " and %d more hosts", count - i);
  e = scr_hash_elem_first(hosts);
  if (e != NULL && scr_hash_elem_get_first_val(scr_hash_elem_hash(e), "CACHE") != NULL)
    snprintf(text + k, n - k, ", in %.200s", scr_hash_elem_get_first_val(scr_hash_elem_hash(e), "CACHE"));
  scr_hash_delete(&h);
}

/*
** Read the number of nodes of the last run into N.  SCR_ERR_NOT_FOUND if there is no file; SCR_ERR_FORMAT, with N = 0,
** if the file does not hold a number; on other errors N is unchanged.
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

/* The database that a log goes to, and the connection to it. */
typedef struct {
  int         enabled, debug;
  const char *host, *name, *user, *pass; /* of the server; NULL if not set */
  void*       link;                      /* MYSQL, or NULL while there is no connection */
  int64_t     job;                       /* the id of user and prefix in the table of jobs; 0 while not known */
  double      pause;                     /* after a failure, nothing is sent before this time of scr_wtime */
} scr_log_db;

/* Who logs, and where to: TXT to <prefix>/.scr/log, SYSLOG to the system log, DB to a database. */
typedef struct {
  int         txt, syslog;
  const char *host, *user, *job, *prefix;
  time_t      when; /* the time that lines get; 0 for now */
  scr_log_db  db;
} scr_log;

/* What a line may say about a dataset.  An id of 0, a NULL name and a negative time are left out. */
typedef struct {
  int         id;
  const char* name;
  double      secs;
} scr_log_dataset;

/* Replace, in place, the characters of TEXT that would end a line or a quoted string (Y2).  Returns TEXT. */
SCR_FN char* scr_log_plain(char* text)
{
  char* p;
  for (p = text; *p != '\0'; p++)
    if ((unsigned char)*p < ' ' || *p == '\177') *p = '?';
    else if (*p == '"') *p = '\'';
  return text;
}

/* Append to LINE, which has room for N bytes; what does not fit is cut off. */
SCR_FN SCR_FORMAT(3, 4) void scr_log_add(char* line, size_t n, const char* format, ...)
{
  size_t  used = strlen(line);
  va_list ap;

  va_start(ap, format);
  vsnprintf(line + used, n - used, format, ap);
  va_end(ap);
}

/* Append LINE to the log of L's prefix.  If the disk is full, a partly written line is removed again. */
SCR_FN int scr_log_append(const scr_log* l, const char* line)
{
  char  path[SCR_MAX_FILENAME], now[32], text[SCR_LOG_LINE_MAX + 1024];
  off_t end;
  int   fd, rc = scr_record_path(l->prefix, "log", path, sizeof path);

  if (rc != SCR_SUCCESS) return rc;
  fd = scr_os.open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0600);
  if (fd < 0) return SCR_ERRNO("cannot open the log %s", path);
  scr_file_share(fd, path, 1);
  if ((rc = scr_lock_take(fd, path, SCR_LOCK_SECONDS)) != SCR_SUCCESS) {
    scr_os.close(fd);
    return rc;
  }
  end = lseek(fd, 0, SEEK_END);
  scr_time_string(l->when != 0 ? l->when : time(NULL), now, sizeof now);
  snprintf(text, sizeof text, "%s: host=%s, jobid=%s, %s\n", now, l->host, l->job, line);
  if (scr_write_all(fd, text, strlen(text)) < 0) {
    rc = SCR_ERRNO("cannot write the log %s", path);
    if (end >= 0 && scr_os.ftruncate(fd, end) < 0) rc = SCR_ERRNO("cannot remove half a line from the log %s", path);
  }
  scr_os.close(fd);
  return rc;
}

/*
** Log LINE, in the text file and the system log.  In the latter, user and prefix are added to it; openlog is not
** called, because the application may have set its own name there.
*/
SCR_FN int scr_log_line(const scr_log* l, const char* line)
{
  if (l->syslog)
    syslog(SCR_LOG_SYSLOG_FACILITY | SCR_LOG_SYSLOG_LEVEL, "%s: user=%s, jobid=%s, prefix=%s, host=%s, %s",
           SCR_LOG_SYSLOG_PREFIX, l->user, l->job, l->prefix, l->host, line);
  return l->txt ? scr_log_append(l, line) : SCR_SUCCESS;
}

/* ---- the log in a database ---- */

#define SCR_LOG_DB_COLUMNS 14 /* values of one statement, at most */

#ifdef SCR_WITH_MYSQL

#define SCR_LOG_DB_SECONDS 5  /* the longest wait for the server */
#define SCR_LOG_DB_PAUSE   60 /* seconds without another attempt after a failure: a run must not wait again and again */

/* Append VALUE to B as a string of SQL, or NULL.  Bytes that are not UTF-8 become '?'. */
SCR_FN void scr_log_db_quote(MYSQL* link, scr_buf* b, const char* value)
{
  char   text[2 * SCR_LOG_LINE_MAX + 1], plain[SCR_LOG_LINE_MAX];
  size_t i = 0, k, n;

  if (value == NULL) {
    scr_buf_add(b, "NULL", 4);
    return;
  }
  while (value[i] != '\0' && i + 4 < sizeof plain) {
    n = (size_t)scr_utf8_length((const unsigned char*)value + i);
    for (k = 0; k < n; k++) plain[i + k] = value[i + k];
    if (n == 0) plain[i] = '?';
    i += n > 0 ? n : 1;
  }
  scr_buf_add(b, "'", 1);
  scr_buf_add(b, text, mysql_real_escape_string(link, text, plain, (unsigned long)i));
  scr_buf_add(b, "'", 1);
}

/*
** Send the statement SQL, in which each '?' stands for the next of VALUES.  *ID receives the number that it asks for,
** or else stays.  The connection is there.
*/
SCR_FN int scr_log_db_send(scr_log_db* db, const char* sql, const char* const* values, int64_t* id)
{
  MYSQL*     link = (MYSQL*)db->link;
  MYSQL_RES* result;
  MYSQL_ROW  row;
  scr_buf    b = {NULL, 0, 0, 0};
  int        rc = SCR_SUCCESS;

  for (; *sql != '\0'; sql++)
    if (*sql == '?') scr_log_db_quote(link, &b, *values++);
    else scr_buf_add(&b, sql, 1);
  if (b.failed) rc = SCR_ERR_OOM();
  else if (db->debug) printf("SCR: %.*s;\n", (int)b.n, b.p);
  if (rc == SCR_SUCCESS && mysql_real_query(link, b.p, (unsigned long)b.n) != 0)
    rc = SCR_ERR(SCR_ERR_IO, "the log database %s on %s refuses an entry: %s", db->name, db->host, mysql_error(link));
  scr_buf_free(&b);
  if (rc != SCR_SUCCESS || (result = mysql_store_result(link)) == NULL) return rc;
  if ((row = mysql_fetch_row(result)) != NULL && row[0] != NULL) scr_str_int64(row[0], id);
  mysql_free_result(result);
  return rc;
}

/* The id of NAME in TABLE, types, usernames or jobnames, which gets NAME if it lacks it. */
SCR_FN int scr_log_db_id(scr_log_db* db, const char* table, const char* name, int64_t* id)
{
  char sql[128];
  int  i, rc = SCR_SUCCESS;

  *id = 0;
  for (i = 0; i < 2 && rc == SCR_SUCCESS && *id == 0; i++) {
    if (i > 0) { /* IGNORE: another job may enter it at the same time */
      snprintf(sql, sizeof sql, "INSERT IGNORE INTO %s (name) VALUES (?)", table);
      rc = scr_log_db_send(db, sql, &name, id);
    }
    snprintf(sql, sizeof sql, "SELECT id FROM %s WHERE name=?", table);
    if (rc == SCR_SUCCESS) rc = scr_log_db_send(db, sql, &name, id);
  }
  return rc != SCR_SUCCESS || *id > 0 ? rc : SCR_ERR(SCR_ERR_IO, "the log database takes no name into %s", table);
}

/* Find the id of user and prefix of L in the table of jobs, or enter them. */
SCR_FN int scr_log_db_find_job(scr_log* l, const char* now)
{
  char        ids[2][24];
  const char* values[3];
  int64_t     user, name;
  int         i, rc = scr_log_db_id(&l->db, "usernames", l->user, &user);

  if (rc == SCR_SUCCESS) rc = scr_log_db_id(&l->db, "jobnames", l->prefix, &name);
  if (rc != SCR_SUCCESS) return rc;
  snprintf(ids[0], sizeof ids[0], "%" PRId64, user);
  snprintf(ids[1], sizeof ids[1], "%" PRId64, name);
  values[0] = ids[0];
  values[1] = ids[1];
  values[2] = now;
  for (i = 0; i < 2 && rc == SCR_SUCCESS && l->db.job == 0; i++) {
    if (i > 0)
      rc = scr_log_db_send(&l->db, "INSERT IGNORE INTO jobs (username_id, jobname_id, start) VALUES (?, ?, ?)", values,
                           &l->db.job);
    if (rc == SCR_SUCCESS)
      rc = scr_log_db_send(&l->db, "SELECT id FROM jobs WHERE username_id=? AND jobname_id=?", values, &l->db.job);
  }
  return rc;
}

SCR_FN void scr_log_db_close(scr_log_db* db)
{
  if (db->link != NULL) mysql_close((MYSQL*)db->link);
  db->link = NULL;
  db->job = 0;
}

/* Connect to the server: its host may be `host:port`, or the path of a socket. */
SCR_FN int scr_log_db_connect(scr_log_db* db)
{
  unsigned    seconds = SCR_LOG_DB_SECONDS, port = 0;
  char        host[SCR_MAX_FILENAME];
  char*       colon;
  const char* socket = db->host[0] == '/' ? db->host : NULL;
  MYSQL*      link = mysql_init(NULL);

  if (link == NULL) return SCR_ERR_OOM();
  snprintf(host, sizeof host, "%s", db->host);
  colon = strchr(host, ':');
  if (socket == NULL && colon != NULL && strchr(colon + 1, ':') == NULL) { /* more than one: an IPv6 address */
    port = (unsigned)strtoul(colon + 1, NULL, 10);
    *colon = '\0';
  }
  mysql_options(link, MYSQL_OPT_CONNECT_TIMEOUT, &seconds);
  mysql_options(link, MYSQL_OPT_READ_TIMEOUT, &seconds);
  mysql_options(link, MYSQL_OPT_WRITE_TIMEOUT, &seconds);
  mysql_options(link, MYSQL_SET_CHARSET_NAME, "utf8mb4");
  if (mysql_real_connect(link, socket != NULL ? NULL : host, db->user, db->pass, db->name, port, socket, 0) != NULL) {
    db->link = link;
    return SCR_SUCCESS;
  }
  SCR_ERR(SCR_ERR_IO, "cannot connect to the log database %s on %s: %s", db->name, db->host, mysql_error(link));
  mysql_close(link);
  return SCR_ERR_IO;
}

/*
** Enter a row into TABLE: its columns KEYS, separated by commas, and their VALUES; the job, the TYPE and who logs are
** added.  A server closes connections on which nothing was sent for long: then it is tried once more on a new one.
*/
SCR_FN int scr_log_db_row(scr_log* l, const char* table, const char* type, const char* keys, const char* const* values,
                          int n, const char* now)
{
  char        sql[512], job[24], id[24], marks[3 * SCR_LOG_DB_COLUMNS] = "?, ?, ?, ?";
  const char* all[SCR_LOG_DB_COLUMNS];
  int64_t     k = 0;
  int         i, attempt, had_link, rc = SCR_SUCCESS;

  if (scr_wtime() < l->db.pause) return SCR_SUCCESS;
  for (i = 0; i < n; i++) all[i + 4] = values[i];
  for (i = 0; i < n; i++) strcat(marks, ", ?");
  all[0] = job;
  all[1] = id;
  all[2] = l->host;
  all[3] = l->job;
  snprintf(sql, sizeof sql, "INSERT INTO %s (job_id, type_id, host, jobid, %s) VALUES (%s)", table, keys, marks);
  for (attempt = 0; attempt < 2; attempt++) {
    had_link = l->db.link != NULL;
    rc = had_link ? SCR_SUCCESS : scr_log_db_connect(&l->db);
    if (rc == SCR_SUCCESS && l->db.job == 0) rc = scr_log_db_find_job(l, now);
    if (rc == SCR_SUCCESS) rc = scr_log_db_id(&l->db, "types", type, &k);
    snprintf(job, sizeof job, "%" PRId64, l->db.job);
    snprintf(id, sizeof id, "%" PRId64, k);
    if (rc == SCR_SUCCESS) rc = scr_log_db_send(&l->db, sql, all, &k);
    if (rc == SCR_SUCCESS) return rc;
    scr_log_db_close(&l->db);
    if (!had_link) break;
  }
  l->db.pause = scr_wtime() + SCR_LOG_DB_PAUSE;
  return rc;
}

#else

SCR_FN void scr_log_db_close(scr_log_db* db)
{
  db->enabled = 0;
}

SCR_FN int scr_log_db_row(scr_log* l, const char* table, const char* type, const char* keys, const char* const* values,
                          int n, const char* now)
{
  (void)table, (void)type, (void)keys, (void)values, (void)n, (void)now;
  l->db.enabled = 0; /* one message is enough */
  return SCR_ERR(SCR_ERR_PARAM, "SCR_LOG_DB_ENABLE=1 has no effect, as the library was built without -DSCR_WITH_MYSQL");
}

#endif

/* The values of a row that say of D what a log says of a dataset; those that it leaves out are NULL. */
typedef struct {
  char        id[24], secs[40], start[32], end[32];
  const char* value[4]; /* id, name, seconds, time when it began */
} scr_log_db_dataset;

SCR_FN void scr_log_db_describe(const scr_log* l, const scr_log_dataset* d, scr_log_db_dataset* to)
{
  time_t end = l->when != 0 ? l->when : time(NULL);
  double secs = d != NULL && d->secs >= 0 ? d->secs : 0;

  memset(to, 0, sizeof *to);
  snprintf(to->id, sizeof to->id, "%d", d != NULL ? d->id : 0);
  snprintf(to->secs, sizeof to->secs, "%f", secs);
  scr_time_string(end - (time_t)secs, to->start, sizeof to->start);
  scr_time_string(end, to->end, sizeof to->end);
  to->value[0] = d != NULL && d->id > 0 ? to->id : NULL;
  to->value[1] = d != NULL ? d->name : NULL;
  to->value[2] = d != NULL && d->secs >= 0 ? to->secs : NULL;
  to->value[3] = to->start;
}

/* Enter an event into the database. */
SCR_FN int scr_log_db_event(scr_log* l, const char* event, const char* note, const scr_log_dataset* d)
{
  scr_log_db_dataset of;
  const char*        values[5];

  scr_log_db_describe(l, d, &of);
  memcpy(values, of.value, sizeof of.value);
  values[4] = note;
  return scr_log_db_row(l, "events", event, "dset_id, dset_name, secs, start, note", values, 5, of.end);
}

/* ---- what is logged ---- */

/*
** Set up L to write to the logs that PARAMS turn on; the caller has set who logs.  PARAMS must outlive it.  The caller
** calls scr_log_end, after an error too.
*/
SCR_FN int scr_log_begin(scr_log* l, const scr_hash* params)
{
  int on = 0, rc = scr_param_int(params, "SCR_LOG_ENABLE", &on);

  if (rc != SCR_SUCCESS || !on) return rc;
  rc = scr_param_int(params, "SCR_LOG_TXT_ENABLE", &l->txt);
  if (rc == SCR_SUCCESS) rc = scr_param_int(params, "SCR_LOG_SYSLOG_ENABLE", &l->syslog);
  if (rc == SCR_SUCCESS) rc = scr_param_int(params, "SCR_LOG_DB_ENABLE", &l->db.enabled);
  if (rc == SCR_SUCCESS) rc = scr_param_int(params, "SCR_LOG_DB_DEBUG", &l->db.debug);
  l->db.host = scr_param_get(params, "SCR_LOG_DB_HOST");
  l->db.name = scr_param_get(params, "SCR_LOG_DB_NAME");
  l->db.user = scr_param_get(params, "SCR_LOG_DB_USER");
  l->db.pass = scr_param_get(params, "SCR_LOG_DB_PASS");
  return rc;
}

/* Returns 1 if L writes to any log. */
SCR_FN int scr_log_is_on(const scr_log* l)
{
  return l->txt || l->syslog || l->db.enabled;
}

/* Close the connections of L; it logs nothing any more. */
SCR_FN void scr_log_end(scr_log* l)
{
  scr_log_db_close(&l->db);
  l->txt = l->syslog = l->db.enabled = 0;
}

/* Log that a run of PROCS ranks on NODES nodes starts.  Each log is written, whatever happens to the others. */
SCR_FN int scr_log_start(scr_log* l, int procs, int nodes)
{
  char line[128];
  int  err, rc;

  snprintf(line, sizeof line, "event=START, procs=%d, nodes=%d", procs, nodes);
  rc = scr_log_line(l, line);
  err = l->db.enabled ? scr_log_db_event(l, "START", line + sizeof "event=START, " - 1, NULL) : SCR_SUCCESS;
  return rc != SCR_SUCCESS ? rc : err;
}

/* Log EVENT, with NOTE and the dataset D unless they are NULL. */
SCR_FN int scr_log_event(scr_log* l, const char* event, const char* note, const scr_log_dataset* d)
{
  char line[SCR_LOG_LINE_MAX] = "", text[SCR_ERR_TEXT_MAX];
  int  err, rc;

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
  rc = scr_log_line(l, line);
  err = l->db.enabled ? scr_log_db_event(l, event, note, d) : SCR_SUCCESS;
  return rc != SCR_SUCCESS ? rc : err;
}

/*
** Log that the FILES files of D, BYTES in total, were copied FROM one directory TO another; TYPE is the kind of
** transfer.
*/
SCR_FN int scr_log_transfer(scr_log* l, const char* type, const char* from, const char* to, const scr_log_dataset* d,
                            double bytes, int files)
{
  char line[SCR_LOG_LINE_MAX] = "", names[3][SCR_MAX_FILENAME], number[3][40];
  int  err = SCR_SUCCESS, rc;

  snprintf(names[0], sizeof names[0], "%s", from);
  snprintf(names[1], sizeof names[1], "%s", to);
  snprintf(names[2], sizeof names[2], "%s", d->name != NULL ? d->name : "");
  scr_log_add(line, sizeof line, "xfer=%s, from=%s, to=%s, dset=%d, name=\"%s\", secs=%f, bytes=%.0f, files=%d", type,
              scr_log_plain(names[0]), scr_log_plain(names[1]), d->id, scr_log_plain(names[2]), d->secs, bytes, files);
  rc = scr_log_line(l, line);
  if (l->db.enabled) {
    scr_log_db_dataset of;
    const char*        values[10];
    scr_log_db_describe(l, d, &of);
    memcpy(values, of.value, sizeof of.value);
    snprintf(number[0], sizeof number[0], "%.0f", bytes);
    snprintf(number[1], sizeof number[1], "%d", files);
    snprintf(number[2], sizeof number[2], "%.0f", d->secs > 0 ? bytes / d->secs : 0);
    values[4] = of.end;
    values[5] = number[0];
    values[6] = number[1];
    values[7] = number[2];
    values[8] = from;
    values[9] = to;
    err = scr_log_db_row(l, "transfers", type, "dset_id, dset_name, secs, start, end, bytes, files, bw, `from`, `to`",
                         values, 10, of.end);
  }
  return rc != SCR_SUCCESS ? rc : err;
}

/* ---- the status file ---- */

/* A new status, of a run of JOB that HOST tells of.  NULL without memory. */
SCR_FN scr_hash* scr_status_begin(const char* job, const char* host, int ranks, int nodes)
{
  scr_hash *h = scr_hash_new(), *run = scr_hash_set(h, "RUN", scr_hash_new());

  scr_hash_util_set_str(run, "JOBID", job);
  scr_hash_util_set_str(run, "HOST", host);
  scr_hash_util_set_int(run, "RANKS", ranks);
  scr_hash_util_set_int(run, "NODES", nodes);
  scr_hash_util_set_int64(run, "TIME", scr_time_usec());
  return h;
}

/* Write into H, a part of a status, what happened to the dataset DESC now, in SECS seconds unless they are negative. */
SCR_FN void scr_status_put(scr_hash* h, const scr_desc* desc, double secs)
{
  scr_hash_util_set_int64(h, "TIME", scr_time_usec());
  scr_hash_util_set_str(h, "NAME", scr_desc_name(desc));
  scr_hash_util_set_int(h, "DSET", desc->identity.id);
  scr_hash_util_set_bytecount(h, "BYTES", desc->bytes);
  if (secs >= 0) scr_hash_util_set_int64(h, "USEC", (int64_t)(secs * 1e6));
}

/*
** Write H, what the run is doing, into the status file of PREFIX.  Readers see by its CRC when they are too early, and
** nothing depends on it, so this takes no more than four calls of the system.
*/
SCR_FN int scr_status_write(const char* prefix, const scr_hash* h)
{
  char    path[SCR_MAX_FILENAME];
  scr_buf b = {NULL, 0, 0, 0};
  int     fd, rc = scr_record_path(prefix, "status.scr", path, sizeof path);

  if (rc == SCR_SUCCESS) rc = scr_hash_image(h, &b);
  if (rc != SCR_SUCCESS) return rc;
  fd = scr_os.open(path, O_WRONLY | O_CREAT | O_NOFOLLOW, 0666);
  if (fd < 0) rc = SCR_ERRNO("cannot open %s", path);
  if (rc == SCR_SUCCESS) scr_file_share(fd, path, 0);
  if (rc == SCR_SUCCESS && (scr_pwrite_all(fd, b.p, b.n, 0) < 0 || scr_os.ftruncate(fd, (off_t)b.n) < 0))
    rc = SCR_ERRNO("cannot write %s", path);
  if (fd >= 0 && scr_os.close(fd) < 0 && rc == SCR_SUCCESS) rc = SCR_ERRNO("cannot close %s", path);
  scr_buf_free(&b);
  return rc;
}

/* Read the status file of PREFIX into H, which is empty if there is none. */
SCR_FN int scr_status_read(const char* prefix, scr_hash* h)
{
  char path[SCR_MAX_FILENAME];
  int  i, rc = scr_record_path(prefix, "status.scr", path, sizeof path);

  if (rc != SCR_SUCCESS) return rc;
  for (i = 0; i < 20; i++) {
    rc = scr_hash_file_read(path, h);
    if (rc != SCR_ERR_CRC && rc != SCR_ERR_FORMAT) break;
    scr_hash_unset_all(h); /* it is being written */
    usleep(20000);
  }
  return rc == SCR_ERR_NOT_FOUND ? SCR_SUCCESS : rc;
}

/* ---- what a log tells ---- */

/* Read the time at the beginning of LINE, local time.  Returns 1, or 0 if the line has none. */
SCR_FN int scr_log_time(const char* line, int64_t* when)
{
  struct tm tm;

  memset(&tm, 0, sizeof tm);
  if (sscanf(line, "%4d-%2d-%2dT%2d:%2d:%2d", &tm.tm_year, &tm.tm_mon, &tm.tm_mday, &tm.tm_hour, &tm.tm_min,
             &tm.tm_sec) != 6)
    return 0;
  tm.tm_year -= 1900;
  tm.tm_mon--;
  tm.tm_isdst = -1;
  *when = (int64_t)mktime(&tm);
  return 1;
}

/*
** Copy the value of KEY in LINE, pairs `key=value` with commas between them and texts in quotes, into OUT, of N bytes.
** Returns 1, or 0 with OUT "" if the line has no such key.
*/
SCR_FN int scr_log_value(const char* line, const char* key, char* out, size_t n)
{
  size_t length = strlen(key);

  *out = '\0';
  while (*line != '\0') {
    const char *word = line + strspn(line, ", "), *value = word + strcspn(word, "=, "), *end;
    if (*value != '=') { /* the time at the beginning */
      line = value + (*value != '\0');
      continue;
    }
    end = value[1] == '"' ? strchr(value + 2, '"') : value + 1 + strcspn(value + 1, ",");
    if (end == NULL) return 0;
    value += value[1] == '"' ? 2 : 1;
    if ((size_t)(value - word) > length && word[length] == '=' && strncmp(word, key, length) == 0) {
      snprintf(out, n, "%.*s", (int)(end - value), value);
      return 1;
    }
    line = *end == '"' ? end + 1 : end;
  }
  return 0;
}

/* The value of KEY in LINE as a number; -1 if there is none. */
SCR_FN double scr_log_number(const char* line, const char* key)
{
  char text[64];

  return scr_log_value(line, key, text, sizeof text) && isdigit((unsigned char)*text) ? strtod(text, NULL) : -1;
}

/* Call VISIT for each line of the log PATH that begins with a time. */
SCR_FN int scr_log_read(const char* path, void (*visit)(const char* line, int64_t when, void* arg), void* arg)
{
  FILE*   f = fopen(path, "re");
  char*   line = NULL;
  size_t  room = 0;
  int64_t when;
  int     lines = 0, rc = SCR_SUCCESS;

  if (f == NULL && errno == ENOENT)
    return SCR_ERR(SCR_ERR_NOT_FOUND, "there is no log %s; SCR_LOG_ENABLE=1 writes it", path);
  if (f == NULL) return SCR_ERRNO("cannot open the log %s", path);
  while (getline(&line, &room, f) >= 0) {
    line[strcspn(line, "\n")] = '\0';
    if (!scr_log_time(line, &when)) continue;
    lines++;
    visit(line, when, arg);
  }
  if (ferror(f)) rc = SCR_ERRNO("cannot read the log %s", path);
  else if (lines == 0) rc = SCR_ERR(SCR_ERR_FORMAT, "%s is not a log: no line begins with a time", path);
  fclose(f);
  free(line);
  return rc;
}

/*
** The runs that a log tells of.  A failure is a run without an end that another run of the same job follows, or whose
** program has ended, as RUN_END tells.
*/
typedef struct {
  int     runs, failures;
  double  seconds;     /* of all runs, each up to its last line */
  char    job[256];    /* of the run that is read, */
  int     ended;       /* whether it stopped by itself, */
  int64_t begin, last; /* when it began, 0 if there is none, and the time of its last line */
} scr_log_runs;

/* A run of JOB follows the one that is read, or none if it is "".  Returns 1 if that one has failed. */
SCR_FN int scr_log_runs_next(scr_log_runs* r, const char* job)
{
  int failed = r->begin != 0 && !r->ended && *job != '\0' && strcmp(job, r->job) == 0;

  if (r->begin != 0) r->runs++;
  if (r->last > r->begin && r->begin != 0) r->seconds += (double)(r->last - r->begin);
  r->failures += failed;
  r->begin = 0;
  return failed;
}

/* Read the line of EVENT, logged at WHEN.  Returns 1 if it tells that the run before has failed. */
SCR_FN int scr_log_runs_add(scr_log_runs* r, const char* line, const char* event, int64_t when)
{
  char job[sizeof r->job];
  int  failed = 0;

  if (strcmp(event, "START") == 0) {
    scr_log_value(line, "jobid", job, sizeof job);
    failed = scr_log_runs_next(r, job);
    snprintf(r->job, sizeof r->job, "%s", job);
    r->ended = 0;
    r->begin = when;
  }
  r->last = when;
  if (strcmp(event, "END") == 0 || strcmp(event, "HALT") == 0) r->ended = 1;
  return strcmp(event, "RUN_END") == 0 ? scr_log_runs_next(r, r->job) : failed;
}

/* ---- the best time between checkpoints ---- */

/* The square root of X: an application need not link the mathematical library. */
SCR_FN double scr_sqrt(double x)
{
  double r = x > 1 ? x : 1;
  int    i;

  for (i = 0; i < 1100 && r * r - x > x * 1e-12; i++) r = (r + x / r) / 2;
  return r;
}

/*
** The time of computation between checkpoints of COST seconds each that loses least, with MTBF seconds between
** failures: by Young's formula, or by Daly's, which corrects it for short times between failures.
*/
SCR_FN double scr_best_interval(double cost, double mtbf, int daly)
{
  double young = scr_sqrt(2 * cost * mtbf), q = cost / (2 * mtbf);

  if (!daly) return young;
  return cost < 2 * mtbf ? young * (1 + scr_sqrt(q) / 3 + q / 9) - cost : mtbf;
}

/* What checkpoints of one kind cost, as a mean in which the last ones count most. */
typedef struct {
  int    n;
  double seconds;
} scr_cost;

SCR_FN void scr_cost_learn(scr_cost* c, double seconds)
{
  if (c->n < 8) c->n++;
  c->seconds += (seconds - c->seconds) / c->n;
}

/* ---- transfer file ---- */

#define SCR_TOKEN_MAX 24 /* bytes of the random token of a run */

/* TEXT, of N bytes, becomes what the run.lock of PREFIX says of who uses it, or did so last; "" if there is none. */
SCR_FN int scr_holder_read(const char* prefix, char* text, size_t n)
{
  char    path[SCR_MAX_FILENAME];
  ssize_t got;
  int     fd, rc = scr_record_path(prefix, "run.lock", path, sizeof path);

  *text = '\0';
  if (rc != SCR_SUCCESS) return rc;
  if ((fd = scr_os.open(path, O_RDONLY | O_NOFOLLOW, 0)) < 0)
    return errno == ENOENT ? SCR_SUCCESS : SCR_ERRNO("cannot open %s", path);
  got = scr_read_all(fd, text, n - 1);
  if (got < 0) rc = SCR_ERRNO("cannot read %s", path);
  scr_os.close(fd);
  text[got > 0 ? got : 0] = '\0';
  return rc;
}

/*
** TOKEN becomes that of the run that uses PREFIX, or was the last one to do so, from the line `run <token>` of its
** run.lock; "" if there is no such line: a scavenge has used the prefix since.
*/
SCR_FN int scr_token_read(const char* prefix, char* token, size_t n)
{
  char        text[1024];
  const char* line;
  int         rc = scr_holder_read(prefix, text, sizeof text);

  *token = '\0';
  if ((line = strstr(text, "\nrun ")) != NULL && strchr(line + 5, '\n') != NULL)
    snprintf(token, n, "%.*s", (int)strcspn(line + 5, "\n"), line + 5);
  return rc;
}

/* The transfer file of a node in memory. */
typedef struct {
  char      path[SCR_MAX_FILENAME];
  scr_hash* h;
  int       lock; /* descriptor of its lock; -1 if the file is only read */
} scr_transfer;

/* What the transfer file says of a copy: no such copy; it failed; it is not complete yet; it is complete. */
typedef enum { SCR_TRANSFER_NONE, SCR_TRANSFER_FAILED, SCR_TRANSFER_BEGUN, SCR_TRANSFER_DONE } scr_transfer_state;

/*
** Read the transfer file in the control directory CNTL; T is empty if there is none.  The caller calls
** scr_transfer_close, after an error too.
*/
SCR_FN int scr_transfer_read(scr_transfer* t, const char* cntl)
{
  int rc = scr_fmt(t->path, sizeof t->path, "%s/transfer.scrinfo", cntl);

  t->lock = -1;
  if ((t->h = scr_hash_new()) == NULL) return SCR_ERR_OOM();
  if (rc == SCR_SUCCESS) rc = scr_hash_file_read(t->path, t->h);
  return rc == SCR_ERR_NOT_FOUND ? SCR_SUCCESS : rc;
}

/*
** Like scr_transfer_read, but first waits for the lock of the file and holds it until scr_transfer_close.  A damaged
** file is begun anew: what it listed is copied again.
*/
SCR_FN int scr_transfer_open(scr_transfer* t, const char* cntl)
{
  int lock = -1, rc = scr_fmt(t->path, sizeof t->path, "%s/transfer.scrinfo", cntl), err;

  if (rc == SCR_SUCCESS) rc = scr_hash_file_lock(t->path, &lock);
  err = scr_transfer_read(t, cntl);
  t->lock = lock;
  if (rc != SCR_SUCCESS || !scr_err_is_damage(err)) return rc == SCR_SUCCESS ? err : rc;
  scr_warn("%s; it is begun anew", scr_err_text);
  return SCR_SUCCESS;
}

/*
** Replace the file if RC is SCR_SUCCESS and WRITE is set; then unlock and free it.  Returns RC, or the write's error.
*/
SCR_FN int scr_transfer_close(scr_transfer* t, int rc, int write)
{
  if (rc == SCR_SUCCESS && write) rc = scr_hash_file_write(t->path, t->h);
  scr_hash_file_unlock(&t->lock);
  scr_hash_delete(&t->h);
  return rc;
}

/*
** The daemon writes nothing while *FD is open, which holds the lock of its bursts; what it begins then, it reads anew.
*/
SCR_FN int scr_transfer_rest(const char* cntl, int* fd)
{
  char path[SCR_MAX_FILENAME];
  int  rc = scr_fmt(path, sizeof path, "%s/transfer.burst", cntl);

  *fd = -1;
  return rc == SCR_SUCCESS ? scr_hash_file_lock(path, fd) : rc;
}

/* The path of the lock that a daemon holds as long as it serves CNTL. */
SCR_FN int scr_transfer_daemon_path(const char* cntl, char* path, size_t n)
{
  return scr_fmt(path, n, "%s/transfer.daemon.lock", cntl);
}

/* Returns 1 if a daemon serves CNTL. */
SCR_FN int scr_transfer_is_served(const char* cntl)
{
  char path[SCR_MAX_FILENAME];
  int  fd, is;

  if (scr_transfer_daemon_path(cntl, path, sizeof path) != SCR_SUCCESS) return 0;
  if ((fd = scr_os.open(path, O_RDWR | O_NOFOLLOW, 0)) < 0) return 0;
  is = scr_os.flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
  scr_os.close(fd);
  return is;
}

/* Add the copy IT, of a whole file of the dataset IDENTITY, in place of one from the same source. */
SCR_FN void scr_transfer_put(scr_transfer* t, const scr_identity* identity, const scr_copy_item* it)
{
  scr_hash* files = scr_hash_get(t->h, "FILES");
  scr_hash* h;
  int       i;

  if (files == NULL) files = scr_hash_set(t->h, "FILES", scr_hash_new());
  h = scr_hash_set(files, it->from.extent[0].path, scr_hash_new());
  scr_identity_write(scr_hash_set(h, "DSET", scr_hash_new()), identity);
  if (it->to.whole) scr_hash_util_set_str(h, "DESTINATION", it->to.extent[0].path);
  for (i = 0; i < it->to.n && !it->to.whole; i++) {
    scr_hash* seg = scr_hash_set_kv_int(h, "SEG", i);
    scr_hash_util_set_str(seg, "FILE", it->to.extent[i].path);
    scr_hash_util_set_bytecount(seg, "OFFSET", it->to.extent[i].offset);
    scr_hash_util_set_bytecount(seg, "LENGTH", it->to.extent[i].length);
  }
  scr_hash_util_set_bytecount(h, "SIZE", it->from.extent[0].length);
  scr_hash_util_set_int(h, "MODE", (int)it->mode);
  scr_hash_util_set_int64(h, "MTIME", it->mtime);
  scr_hash_util_set_bytecount(h, "WRITTEN", 0);
  scr_hash_unset(t->h, "FLAG");
}

/* Read the segments SEG, which have SIZE bytes together, into TO.  Returns 1 if they are sound. */
SCR_FN int scr_transfer_get_segments(const scr_hash* seg, uint64_t size, scr_extents* to)
{
  uint64_t offset = 0, length = 0;
  int      i, n = scr_hash_size(seg);

  for (i = 0; i < n; i++) {
    char            key[16];
    const scr_hash* h;
    snprintf(key, sizeof key, "%d", i);
    h = scr_hash_get(seg, key);
    if (scr_hash_str_or(h, "FILE", "")[0] != '/' || scr_hash_util_get_bytecount(h, "OFFSET", &offset) != SCR_SUCCESS ||
        scr_hash_util_get_bytecount(h, "LENGTH", &length) != SCR_SUCCESS || length > size ||
        offset > (uint64_t)INT64_MAX - length ||
        scr_extents_add(to, scr_hash_str_or(h, "FILE", ""), offset, length) != SCR_SUCCESS)
      return 0;
    size -= length;
  }
  return n > 0 && size == 0;
}

/*
** Read E, one of FILES, into IDENTITY and IT, which the caller clears with scr_transfer_clear_item, after an error too.
*/
SCR_FN int scr_transfer_get(const scr_hash_elem* e, scr_identity* identity, scr_copy_item* it)
{
  const scr_hash* h = scr_hash_elem_hash(e);
  const char*     to = scr_hash_elem_get_first_val(h, "DESTINATION");
  uint64_t        size = 0;
  int             sound = scr_hash_util_get_bytecount(h, "SIZE", &size) == SCR_SUCCESS && size <= (uint64_t)INT64_MAX;

  memset(it, 0, sizeof *it);
  scr_identity_read(scr_hash_get(h, "DSET"), identity);
  it->mode = (mode_t)(scr_hash_int_or(h, "MODE", 0600) & 0777);
  scr_hash_util_get_int64(h, "MTIME", &it->mtime);
  scr_hash_util_get_bytecount(h, "WRITTEN", &it->done);
  if (scr_hash_util_get_crc32(h, "CRC", &it->crc) != SCR_SUCCESS) it->done = 0;
  sound = sound && it->done <= size && identity->id > 0 && *scr_hash_elem_key(e) == '/' &&
          scr_extents_whole(&it->from, scr_hash_elem_key(e), size) == SCR_SUCCESS &&
          (to == NULL ? scr_transfer_get_segments(scr_hash_get(h, "SEG"), size, &it->to)
                      : *to == '/' && scr_extents_whole(&it->to, to, size) == SCR_SUCCESS);
  it->made = 1; /* the daemon makes and removes no file, only ranks do */
  return sound ? SCR_SUCCESS
               : SCR_ERR(SCR_ERR_FORMAT, "the transfer file is damaged: how to copy %s", scr_hash_elem_key(e));
}

SCR_FN void scr_transfer_clear_item(scr_copy_item* it)
{
  scr_extents_free(&it->from);
  scr_extents_free(&it->to);
}

/* The state of E, one of FILES. */
SCR_FN scr_transfer_state scr_transfer_state_of(const scr_hash_elem* e)
{
  const scr_hash* h = scr_hash_elem_hash(e);
  uint64_t        size = 0, written = 0;

  if (scr_hash_get(h, "ERROR") != NULL) return SCR_TRANSFER_FAILED;
  scr_hash_util_get_bytecount(h, "SIZE", &size);
  scr_hash_util_get_bytecount(h, "WRITTEN", &written);
  return scr_hash_get(h, "CRC") != NULL && written == size ? SCR_TRANSFER_DONE : SCR_TRANSFER_BEGUN;
}

/* Returns 1 if A and B are the same places. */
SCR_FN int scr_extents_same(const scr_extents* a, const scr_extents* b)
{
  int i, same = a->n == b->n && a->whole == b->whole;

  for (i = 0; i < a->n && same; i++)
    same = strcmp(a->extent[i].path, b->extent[i].path) == 0 && a->extent[i].offset == b->extent[i].offset &&
           a->extent[i].length == b->extent[i].length;
  return same;
}

/*
** What T says of the copy IT of a file of the dataset IDENTITY: it->done and it->crc become how far it is.  A copy of
** another dataset from the same source, or to other places, is not the same copy.  What keeps it from being completed
** is recorded as an error.
*/
SCR_FN scr_transfer_state scr_transfer_look(const scr_transfer* t, const scr_identity* identity, scr_copy_item* it)
{
  const scr_hash_elem* e = scr_hash_elem_get(scr_hash_get(t->h, "FILES"), it->from.extent[0].path);
  scr_transfer_state   state = SCR_TRANSFER_NONE;
  scr_identity         of;
  scr_copy_item        is;

  it->done = 0;
  it->made = 0;
  memset(&is, 0, sizeof is);
  if (e != NULL && scr_transfer_get(e, &of, &is) == SCR_SUCCESS && scr_identity_cmp(&of, identity) == 0 &&
      scr_extents_same(&is.from, &it->from) && scr_extents_same(&is.to, &it->to) && is.mtime == it->mtime) {
    state = scr_transfer_state_of(e);
    it->made = state != SCR_TRANSFER_FAILED; /* what failed is made anew */
    if (it->made) it->done = is.done;
    it->crc = is.crc;
  }
  scr_transfer_clear_item(&is);
  if (state == SCR_TRANSFER_NONE)
    SCR_ERR(SCR_ERR_NOT_FOUND, "%s does not list this copy of %s", t->path, it->from.extent[0].path);
  if (state == SCR_TRANSFER_FAILED)
    SCR_ERR(SCR_ERR_IO, "the process scr_transfer has failed: %s", scr_hash_str_or(scr_hash_elem_hash(e), "ERROR", ""));
  return state;
}

/*
** Let the daemon copy for the run with TOKEN over PREFIX, at most BW bytes a second and PERCENT of its time; 0: no
** limit.
*/
SCR_FN void scr_transfer_steer(scr_transfer* t, const char* prefix, const char* token, double bw, double percent)
{
  scr_hash_util_set_str(t->h, "PREFIX", prefix);
  scr_hash_util_set_str(t->h, "RUN", token);
  scr_hash_util_setf(t->h, "BW", "%f", bw);
  scr_hash_util_setf(t->h, "PERCENT", "%f", percent);
  scr_hash_util_set_str(t->h, "COMMAND", "RUN");
}

/* Returns 1 if the copies of T are those of the run with TOKEN. */
SCR_FN int scr_transfer_is_of(const scr_transfer* t, const char* token)
{
  return *token != '\0' && strcmp(scr_hash_str_or(t->h, "RUN", ""), token) == 0;
}

/* Returns 1 if T has copies of the dataset IDENTITY. */
SCR_FN int scr_transfer_has(const scr_transfer* t, const scr_identity* identity)
{
  const scr_hash_elem* e = scr_hash_elem_first(scr_hash_get(t->h, "FILES"));
  scr_identity         of;

  for (; e != NULL; e = scr_hash_elem_next(e)) {
    scr_identity_read(scr_hash_get(scr_hash_elem_hash(e), "DSET"), &of);
    if (scr_identity_cmp(&of, identity) == 0) return 1;
  }
  return 0;
}

/* The bytes that are copied of all files of T. */
SCR_FN uint64_t scr_transfer_written(const scr_transfer* t)
{
  scr_hash_elem* e = scr_hash_elem_first(scr_hash_get(t->h, "FILES"));
  uint64_t       sum = 0, one = 0;

  for (; e != NULL; e = scr_hash_elem_next(e))
    if (scr_hash_util_get_bytecount(scr_hash_elem_hash(e), "WRITTEN", &one) == SCR_SUCCESS) sum += one;
  return sum;
}

/* Take the copy IT out of T. */
SCR_FN void scr_transfer_forget(scr_transfer* t, const scr_copy_item* it)
{
  scr_hash_unset(scr_hash_get(t->h, "FILES"), it->from.extent[0].path);
}

/*
** Take all copies out of T, while the daemon rests, but those of a dataset for which KEEP, if not NULL, returns 1; and
** remove their temporary files, unless the index of PREFIX has the dataset or cannot be read: then they may be its
** files.
*/
SCR_FN void scr_transfer_clear(scr_transfer* t, const char* prefix, int (*keep)(const scr_identity* identity))
{
  scr_hash*      files = scr_hash_get(t->h, "FILES");
  scr_hash_elem *e = scr_hash_elem_first(files), *next;
  scr_index      index;
  scr_index_item known;
  scr_identity   identity;
  scr_copy_item  it;
  int            i, sound, readable = e != NULL && scr_index_read(&index, prefix) == SCR_SUCCESS;

  if (e == NULL) return;
  for (; e != NULL; e = next) {
    next = scr_hash_elem_next(e);
    sound = scr_transfer_get(e, &identity, &it) == SCR_SUCCESS;
    if (!sound || keep == NULL || !keep(&identity)) {
      for (i = 0; sound && readable && i < it.to.n && !scr_index_same(&index, &identity, &known); i++)
        scr_os.unlink(it.to.extent[i].path);
      scr_hash_unset(files, scr_hash_elem_key(e));
    }
    scr_transfer_clear_item(&it);
  }
  scr_index_close(&index, SCR_SUCCESS, 0);
}

/*
** Let the daemon that serves CNTL rest, and clear its transfer file, if there is one, unless its copies are those of
** the run with the token EXCEPT.
*/
SCR_FN int scr_transfer_withdraw(const char* cntl, const char* prefix, const char* except)
{
  char         path[SCR_MAX_FILENAME];
  struct stat  st;
  scr_transfer t;
  int          burst = -1, rc = scr_fmt(path, sizeof path, "%s/transfer.scrinfo", cntl);

  if (rc != SCR_SUCCESS || scr_os.lstat(path, &st) < 0) return rc;
  if ((rc = scr_transfer_rest(cntl, &burst)) == SCR_ERR_BUSY) {
    scr_warn("%s; the process scr_transfer hangs: end it", scr_err_text); /* what it still writes does no harm (J8) */
    except = "";
  } else if (rc != SCR_SUCCESS) {
    return rc;
  }
  rc = scr_transfer_open(&t, cntl);
  if (rc == SCR_SUCCESS && !scr_transfer_is_of(&t, except)) scr_transfer_clear(&t, prefix, NULL);
  rc = scr_transfer_close(&t, rc, 1);
  scr_hash_file_unlock(&burst);
  return rc;
}

/* ==== 15 COMMANDS: REBUILD, SCAN, SCAVENGE ==============================================================
** For commands only: one process finds the redundancy sets in the directories of a dataset, and rebuilds lost files
** from the remaining files of each set; or it finds flushed datasets on the prefix, and enters them into the index; or
** it makes a dataset of files that were never written through the library, or of what the nodes of a job that has ended
** still have in their caches.
**
** Uses       platform, errors, memory, path, hash, hash files, dataset, kernels, file window, erasure code, filemap,
**            prefix, files of a run
** Offers     scr_rebuild, scr_rebuild_sets, scr_extraction, scr_adoption, scr_scavenge; scr_rebuild_run,
**            scr_rebuild_sets_free, scr_rebuild_find, scr_rebuild_set, scr_scan_add, scr_scan_extract,
**            scr_hold_prefix, scr_adopt_free, scr_adopt_file, scr_adopt, scr_scan_walk, scr_stage_path,
**            scr_stage_walk, scr_stage_collect, scr_scavenge_free, scr_scavenge_begin, scr_scavenge_finish
** Invariants
**   B1  What is rebuilt equals, byte for byte, what the ranks of the set had made, headers included.
**   B2  The memory needed does not grow with the size of files, nor the number of open files with the number of
**       members.
**   B3  Every file lies below the directory of its header, no two files have the same name, and no symbolic link leads
**       elsewhere.  All that headers say is checked before the first file is made.
**   B4  Only one process at a time makes files in a directory: it holds a lock on the directory.
**   B5  A dataset is entered into the index only if each of its files is whole, by size and checksum: files of the same
**       names may be those of a newer dataset.
**   B6  A file of a stage is whole: it gets its name when its bytes are synced, and right by their checksum.  No
**       process writes to it after that, and it stays until the index has the dataset and all renames are done.
** Failure    An error code.  What is not lost stays unchanged, no temporary file is left, and another call finishes
**            what a crash interrupted.
** ====================================================================================================== */

#ifdef SCR_SERIAL

#define SCR_REBUILD_BYTES ((size_t)8 << 20)   /* memory for pieces */
#define SCR_REBUILD_PIECE ((size_t)256 << 10) /* largest piece */
#define SCR_REBUILD_OPEN  32                  /* sets with more members than this do not keep files open */

/* A set to rebuild; the caller fills in all but the results. */
typedef struct {
  int                n;    /* members */
  char**             file; /* [n]: path of each member's redundancy file, even if it is lost */
  int                dirs;
  const char* const* dir;        /* dataset directories where files of a member without one may be */
  int                dry_run;    /* 1: find what is lost, change nothing */
  int                keep;       /* 1: rebuilding a member of which nothing is left must not replace files */
  void (*say)(const char* what); /* called for each lost and each rebuilt file; may be NULL */
  int lost;                      /* results: number of lost files, */
  int unproven;                  /* and of files rebuilt without a recorded CRC32 */
} scr_rebuild;

typedef struct {
  scr_rebuild*      job;
  int               n;
  scr_header*       h; /* [n]: header of each member; empty if lost */
  const scr_header* model;
  const char*       model_file; /* the first header, and where it was read */
  scr_entry**       entry;      /* [failures + 1]: what a new header describes */
  scr_member*       m;
  char*             located; /* [n]: 1: the member has no header, but a file of it was found */
  int*              lock;    /* [n]: locked directory where the member's files are made, or -1 */
  int64_t *         lost, *total;
  scr_erasure       ec;
  size_t            piece;
  char*             buf;  /* one piece for each member, and one more */
  const char**      held; /* [n]: the member's piece; NULL if no sum includes it */
  const void**      src;  /* the terms of a sum, */
  unsigned char*    coef; /* and their factors */
} scr_rebuilder;

/* Count a lost file, and report it with the text of the last error, without the place in the source. */
SCR_FN void scr_rebuild_note(scr_rebuild* job)
{
  char text[SCR_ERR_TEXT_MAX];

  job->lost++;
  if (job->say == NULL) return;
  snprintf(text, sizeof text, "%.*s", scr_err_length, scr_err_text);
  job->say(text);
}

/* Returns 1 if RC says that a file is missing or damaged; after any other error the file may still be good. */
SCR_FN int scr_rebuild_is_loss(int rc)
{
  return rc == SCR_ERR_NOT_FOUND || rc == SCR_ERR_MISSING || rc == SCR_ERR_FORMAT || rc == SCR_ERR_CRC;
}

/* ---- the headers and the files ---- */

/* Read the header of member R, and check that it belongs to R and to the same dataset and set as the first header. */
SCR_FN int scr_rebuild_read(scr_rebuilder* x, int r)
{
  scr_header* h = &x->h[r];
  const char* file = x->job->file[r];
  int         rc = scr_header_read(file, h);

  if (scr_rebuild_is_loss(rc)) {
    x->lost[r] |= SCR_LOST_RED;
    scr_rebuild_note(x->job);
    return SCR_SUCCESS;
  }
  if (rc != SCR_SUCCESS) return rc;
  if (h->set_size != x->n)
    return SCR_ERR(SCR_ERR_FORMAT, "%s is of a set of %d members instead of %d; it belongs elsewhere", file,
                   h->set_size, x->n);
  if (x->model == NULL) {
    x->model = h;
    x->model_file = file;
  }
  if ((rc = scr_header_fit(x->model, x->model_file, h, file)) != SCR_SUCCESS) return rc;
  if (h->r != r)
    return SCR_ERR(SCR_ERR_FORMAT, "%s is of rank %d, but should be of rank %d, member %d of the set", file,
                   h->member[h->r], h->member[r], r);
  return SCR_SUCCESS;
}

/* Find out from the remaining headers which files the members had. */
SCR_FN int scr_rebuild_describe(scr_rebuilder* x)
{
  int r, i, rc = SCR_SUCCESS;

  for (r = 0; r < x->n && rc == SCR_SUCCESS; r++) rc = scr_rebuild_read(x, r);
  if (rc != SCR_SUCCESS) return rc;
  if (x->model == NULL)
    return SCR_ERR(SCR_ERR_LOST, "none of the %d redundancy files of the set is left, such as %s", x->n,
                   x->job->file[0]);
  x->entry = (scr_entry**)scr_malloc((size_t)(x->model->failures + 1) * sizeof *x->entry);
  if (x->entry == NULL) return SCR_ERR_OOM();
  for (r = 0; r < x->n; r++) {
    scr_member* m = &x->m[r];
    i = scr_header_holder(x->n, x->model->failures, x->lost, r);
    if (i < 0)
      return SCR_ERR(SCR_ERR_LOST, "%s is lost, and so are the next %d of its set, which list the files of rank %d",
                     x->job->file[r], x->model->failures, x->model->member[r]);
    m->r = r;
    m->sparse = 1;
    m->frugal = x->n > SCR_REBUILD_OPEN;
    m->e = x->h[(r + i) % x->n].entry[i];
    m->head = x->h[r].bytes;
    if ((m->red = scr_strdup(x->job->file[r])) == NULL) return SCR_ERR_OOM();
  }
  return SCR_SUCCESS;
}

/* The dataset directory of the redundancy file FILE: the parent of its directory .scr, or else its own directory. */
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

/*
** Member R has no redundancy file.  If one of its files is found whole in some directory, rebuild all its files there.
*/
SCR_FN int scr_rebuild_locate(scr_rebuilder* x, int r)
{
  scr_member* m = &x->m[r];
  const char* slash = strrchr(m->red, '/');
  char        path[SCR_MAX_FILENAME], *red;
  int         i, d;

  for (i = 0; i < m->e->files; i++)
    for (d = 0; d < x->job->dirs; d++) {
      const char* dir = x->job->dir[d];
      if (snprintf(path, sizeof path, "%s/%s", dir, m->e->file[i].rel) >= (int)sizeof path) continue;
      if (scr_file_check(path, &m->e->file[i], 1) != SCR_SUCCESS) continue;
      if ((red = scr_strdupf("%s/.scr/%s", dir, slash != NULL ? slash + 1 : m->red)) == NULL) return SCR_ERR_OOM();
      scr_free(&m->red);
      m->red = red;
      x->located[r] = 1;
      return SCR_SUCCESS;
    }
  return SCR_SUCCESS;
}

/* Check that no directory between HOME and the file REL below it is a symbolic link. */
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

/* List the files of member R and their paths, whether they exist or not. */
SCR_FN int scr_rebuild_expect(scr_rebuilder* x, int r)
{
  scr_member* m = &x->m[r];
  char        dir[SCR_MAX_FILENAME], path[SCR_MAX_FILENAME];
  int         i, rc = scr_member_list(m, x->model->failures, &x->total[r]);

  if (rc == SCR_SUCCESS && x->lost[r] & SCR_LOST_RED) rc = scr_rebuild_locate(x, r);
  if (rc == SCR_SUCCESS) rc = scr_rebuild_home(m->red, dir, sizeof dir);
  for (i = 0; i < m->n && rc == SCR_SUCCESS; i++) {
    rc = scr_fmt(path, sizeof path, "%s/%s", dir, m->e->file[m->index[i]].rel);
    if (rc == SCR_SUCCESS) rc = scr_rebuild_inside(dir, m->e->file[m->index[i]].rel);
    if (rc == SCR_SUCCESS && (m->path[i] = scr_strdup(path)) == NULL) rc = SCR_ERR_OOM();
  }
  return rc;
}

SCR_FN int scr_rebuild_cmp(const void* a, const void* b)
{
  return strcmp(*(char* const*)a, *(char* const*)b);
}

/*
** Check that no two files of the set have the same path: files of the application, redundancy files, and their
** temporary files.
*/
SCR_FN int scr_rebuild_unique(const scr_rebuilder* x)
{
  char** name;
  size_t most = 0, n = 0, i;
  int    r, k, rc = SCR_SUCCESS;

  for (r = 0; r < x->n; r++) most += 2 * (size_t)x->m[r].n + 2;
  if ((name = (char**)scr_malloc(most * sizeof *name)) == NULL) return SCR_ERR_OOM();
  for (r = 0; r < x->n; r++) {
    const scr_member* m = &x->m[r];
    for (k = 0; k < m->n; k++) name[n++] = scr_strdup(m->path[k]);
    name[n++] = scr_strdup(m->red);
    for (k = 0; k <= m->n; k++) name[n++] = scr_member_temp(m, k);
  }
  for (i = 0; i < n; i++)
    if (name[i] == NULL) rc = SCR_ERR_OOM();
  if (rc == SCR_SUCCESS) qsort(name, n, sizeof *name, scr_rebuild_cmp);
  for (i = 1; i < n && rc == SCR_SUCCESS; i++)
    if (strcmp(name[i - 1], name[i]) == 0)
      rc = SCR_ERR(SCR_ERR_FORMAT,
                   "two files of the set have the name %s; give each member a directory, and its redundancy file a "
                   "directory .scr in that",
                   name[i]);
  for (i = 0; i < n; i++) free(name[i]);
  free(name);
  return rc;
}

/* List the files of all members; their sizes must agree with the chunk size in the headers. */
SCR_FN int scr_rebuild_expect_all(scr_rebuilder* x)
{
  int64_t*    none = (int64_t*)scr_malloc((size_t)x->n * sizeof *none);
  scr_erasure ec;
  int         r, rc = none == NULL ? SCR_ERR_OOM() : SCR_SUCCESS;

  for (r = 0; r < x->n && rc == SCR_SUCCESS; r++) rc = scr_rebuild_expect(x, r);
  if (rc == SCR_SUCCESS) rc = scr_rebuild_unique(x);
  if (rc == SCR_SUCCESS) {
    rc = scr_erasure_make(&ec, x->model->scheme, x->n, x->model->failures, none, x->total);
    if (rc == SCR_SUCCESS && ec.chunk != x->model->chunk)
      rc = SCR_ERR(SCR_ERR_FORMAT,
                   "%s: CHUNK is %" PRIu64 ", but the sizes of the files give %" PRIu64 "; restore or remove it",
                   x->model_file, x->model->chunk, ec.chunk);
    for (r = 0; r < x->n && rc == SCR_SUCCESS; r++) x->m[r].part = scr_erasure_part(&ec, r);
    scr_erasure_free(&ec);
  }
  scr_free(&none);
  return rc;
}

/* Find out which files of member R are lost. */
SCR_FN int scr_rebuild_inspect(scr_rebuilder* x, int r)
{
  scr_member* m = &x->m[r];
  struct stat st;
  int         i, rc = SCR_SUCCESS;

  for (i = 0; i < m->n; i++) {
    if ((rc = scr_file_check(m->path[i], &m->e->file[m->index[i]], 1)) == SCR_SUCCESS) continue;
    if (!scr_rebuild_is_loss(rc)) return rc;
    if (x->job->keep && x->lost[r] & SCR_LOST_RED && !x->located[r] && scr_os.lstat(m->path[i], &st) == 0)
      return SCR_ERR(SCR_ERR_ARG,
                     "%s is there, and is not the file of the dataset that is to be rebuilt in its place; "
                     "move it away, or rebuild the dataset elsewhere",
                     m->path[i]);
    m->bad[i] = 1;
    x->lost[r] |= SCR_LOST_DATA;
    scr_rebuild_note(x->job);
  }
  if (x->lost[r] & SCR_LOST_RED) return SCR_SUCCESS;
  rc = scr_file_has_size(m->red, m->head + m->part * (uint64_t)m->k);
  if (rc == SCR_SUCCESS || !scr_rebuild_is_loss(rc)) return rc;
  x->lost[r] |= SCR_LOST_RED;
  scr_rebuild_note(x->job);
  return SCR_SUCCESS;
}

/* ---- what is rebuilt ---- */

/* Remove temporary files that earlier attempts left in DIR, which is locked. */
SCR_FN void scr_rebuild_clear(const char* dir)
{
  char           path[SCR_MAX_FILENAME], name[64], again[128];
  struct dirent* e;
  scr_scheme     scheme;
  DIR*           d = opendir(dir);
  int            i, r, n, set;

  while (d != NULL && (e = readdir(d)) != NULL) {
    const char* dot = strstr(e->d_name, ".new.");
    if (dot == NULL || sscanf(dot, ".new.%9d", &i) != 1) continue;
    snprintf(name, sizeof name, "%.*s", (int)(dot - e->d_name), e->d_name);
    snprintf(again, sizeof again, "%s.new.%d", name, i);
    if (strcmp(again, e->d_name) == 0 && scr_set_file_parse(name, &scheme, &r, &n, &set) &&
        scr_fmt(path, sizeof path, "%s/%s", dir, again) == SCR_SUCCESS)
      scr_os.unlink(path);
  }
  if (d != NULL) closedir(d);
}

/*
** Lock the directory where the files of member R are made (B4), unless it is already locked for another member, and
** remove what earlier attempts left there.
*/
SCR_FN int scr_rebuild_lock(scr_rebuilder* x, int r)
{
  char  dir[SCR_MAX_FILENAME], other[SCR_MAX_FILENAME];
  char* slash;
  int   i, rc = scr_path_dir_of(x->m[r].red, dir, sizeof dir);

  for (i = 0; i < r && rc == SCR_SUCCESS; i++)
    if (x->lock[i] >= 0 && scr_path_dir_of(x->m[i].red, other, sizeof other) == SCR_SUCCESS && strcmp(dir, other) == 0)
      return SCR_SUCCESS;
  if (rc == SCR_SUCCESS) rc = scr_mkdirs(dir, 0777);
  if (rc != SCR_SUCCESS) return rc;
  x->lock[r] = scr_os.open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
  if (x->lock[r] < 0) return SCR_ERRNO("cannot open the directory %s", dir);
  if (scr_os.flock(x->lock[r], LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK) /* not all file systems have locks */
    return SCR_ERR(SCR_ERR_IO, "another process is rebuilding files in %s; wait until it ends", dir);
  slash = strrchr(dir, '/');
  if (strcmp(slash != NULL ? slash + 1 : dir, ".scr") == 0) scr_rebuild_clear(dir);
  return SCR_SUCCESS;
}

/* The original header of member R; it points into X. */
SCR_FN scr_header scr_rebuild_header(scr_rebuilder* x, int r)
{
  scr_header h = *x->model;
  int        i;

  h.r = r;
  h.entry = x->entry;
  for (i = 0; i <= h.failures; i++) h.entry[i] = x->m[(r - i + x->n) % x->n].e;
  return h;
}

/* Open the files of member R for reading, and new files for its lost parts. */
SCR_FN int scr_rebuild_open(scr_rebuilder* x, int r)
{
  scr_member* m = &x->m[r];
  scr_buf     b = {NULL, 0, 0, 0};
  scr_header  h;
  int         rc = x->lost[r] ? scr_rebuild_lock(x, r) : SCR_SUCCESS;

  m->lost = x->lost[r];
  if (rc == SCR_SUCCESS && m->lost & SCR_LOST_RED) {
    h = scr_rebuild_header(x, r);
    rc = scr_header_image(&h, &b);
    m->head = b.n;
    scr_buf_free(&b);
  }
  return rc == SCR_SUCCESS ? scr_member_open(m, &x->ec) : rc;
}

/* Rebuild the N bytes at OFFSET of all lost symbols at position C. */
SCR_FN int scr_rebuild_piece(scr_rebuilder* x, int c, uint64_t offset, size_t n)
{
  char*         sum = x->buf + (size_t)x->n * x->piece;
  unsigned char f;
  uint64_t      at;
  int           r, i, used, rc = SCR_SUCCESS;

  for (r = 0; r < x->n && rc == SCR_SUCCESS; r++) {
    x->held[r] = NULL;
    if (scr_erasure_symbol(&x->ec, r, c, &at) == SCR_SYMBOL_NONE || scr_erasure_is_lost(&x->ec, r, c)) continue;
    for (i = 0, used = 0; i < x->ec.k && !used; i++) used = scr_erasure_factor(&x->ec, c, i, r, &f);
    if (used) x->held[r] = scr_member_load(&x->m[r], &x->ec, c, offset, n, x->buf + (size_t)r * x->piece, 0, &rc);
  }
  for (i = 0; i < x->ec.k && x->ec.target[c * x->ec.k + i] >= 0 && rc == SCR_SUCCESS; i++) {
    int k = 0;
    for (r = 0; r < x->n; r++) {
      if (x->held[r] == NULL || !scr_erasure_factor(&x->ec, c, i, r, &f)) continue;
      x->src[k] = x->held[r];
      x->coef[k++] = f;
    }
    scr_gf_sum(sum, x->src, x->coef, k, n);
    rc = scr_member_store(&x->m[x->ec.target[c * x->ec.k + i]], &x->ec, c, offset, sum, n);
  }
  return rc;
}

/*
** Rebuild all that is lost: position after position, each from its start to its end, so that files are read and written
** in order and the windows know the CRC32 of each file at the end.
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
    if (x->ec.target[c * x->ec.k] < 0) continue;
    for (offset = 0; offset < length && rc == SCR_SUCCESS; offset += x->piece)
      rc = scr_rebuild_piece(x, c, offset, length - offset < x->piece ? (size_t)(length - offset) : x->piece);
  }
  return rc;
}

/* Check what was rebuilt for member R, and sync it to disk. */
SCR_FN int scr_rebuild_finish(scr_rebuilder* x, int r)
{
  scr_header h = scr_rebuild_header(x, r);
  int        rc = SCR_SUCCESS;

  if (x->lost[r] & SCR_LOST_DATA) rc = scr_member_check(&x->m[r], 0, &x->job->unproven);
  return rc == SCR_SUCCESS ? scr_member_finish(&x->m[r], &h, 1) : rc;
}

/* Rename the rebuilt files of member R into place; files that were not lost stay, and their new copies are removed. */
SCR_FN int scr_rebuild_place(scr_rebuilder* x, int r)
{
  scr_member* m = &x->m[r];
  char        dir[SCR_MAX_FILENAME], text[SCR_MAX_FILENAME + 16];
  int         i, rc = SCR_SUCCESS;

  for (i = 0; i < m->n; i++) { /* first, because no later call would remove these after a crash */
    if (m->bad[i] || m->temp[i] == NULL) continue;
    scr_os.unlink(m->temp[i]);
    scr_free(&m->temp[i]);
  }
  for (i = 0; i <= m->n && rc == SCR_SUCCESS; i++) {
    const char* path = i < m->n ? m->path[i] : m->red;
    if (m->temp[i] == NULL) continue;
    rc = scr_path_dir_of(path, dir, sizeof dir);
    if (rc == SCR_SUCCESS) rc = scr_mkdirs(dir, 0777);
    if (rc == SCR_SUCCESS) rc = scr_member_place(m, i, 1);
    snprintf(text, sizeof text, "rebuilt %s", path);
    if (rc == SCR_SUCCESS && x->job->say != NULL) x->job->say(text);
  }
  return rc;
}

/* ---- the run ---- */

SCR_FN void scr_rebuild_end(scr_rebuilder* x)
{
  int r;

  for (r = 0; x->m != NULL && r < x->n; r++) scr_member_end(&x->m[r]);
  for (r = 0; x->lock != NULL && r < x->n; r++) /* unlock last, when no temporary file of this call is left */
    if (x->lock[r] >= 0) scr_os.close(x->lock[r]);
  for (r = 0; x->h != NULL && r < x->n; r++) scr_header_free(&x->h[r]);
  scr_free(&x->h);
  scr_free(&x->entry);
  scr_free(&x->m);
  scr_free(&x->located);
  scr_free(&x->lock);
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
  size_t n = (size_t)job->n;
  int    r;

  memset(x, 0, sizeof *x);
  x->job = job;
  job->lost = job->unproven = 0;
  if (job->n < 2 || job->n > SCR_SET_SIZE_MAX)
    return SCR_ERR(SCR_ERR_ARG, "a set has 2 to %d members, not %d", SCR_SET_SIZE_MAX, job->n);
  x->n = job->n;
  x->h = (scr_header*)scr_malloc(n * sizeof *x->h);
  x->m = (scr_member*)scr_malloc(n * sizeof *x->m);
  x->located = (char*)scr_malloc(n);
  x->lock = (int*)scr_malloc(n * sizeof *x->lock);
  x->lost = (int64_t*)scr_malloc(n * sizeof *x->lost);
  x->total = (int64_t*)scr_malloc(n * sizeof *x->total);
  for (r = 0; r < x->n; r++) {
    if (x->m != NULL) x->m[r].fd = -1;
    if (x->lock != NULL) x->lock[r] = -1;
  }
  if (x->h == NULL || x->m == NULL || x->located == NULL || x->lock == NULL || x->lost == NULL || x->total == NULL)
    return SCR_ERR_OOM();
  return SCR_SUCCESS;
}

/*
** Rebuild the set of JOB like scr_rebuild_run, without using the redundancy file of member EXCLUDED; -1 excludes none.
*/
SCR_FN int scr_rebuild_try(scr_rebuild* job, int excluded)
{
  scr_rebuilder x;
  int           r, rc = scr_rebuild_begin(&x, job);

  if (rc == SCR_SUCCESS) rc = scr_rebuild_describe(&x);
  if (rc == SCR_SUCCESS) rc = scr_rebuild_expect_all(&x);
  for (r = 0; r < job->n && rc == SCR_SUCCESS; r++) rc = scr_rebuild_inspect(&x, r);
  if (rc == SCR_SUCCESS && excluded >= 0) {
    if (x.lost[excluded] & SCR_LOST_RED) rc = SCR_ERR(SCR_ERR_LOST, "%s is lost already", x.m[excluded].red);
    x.lost[excluded] |= SCR_LOST_RED;
    job->lost++;
  }
  if (rc == SCR_SUCCESS) rc = scr_erasure_make(&x.ec, x.model->scheme, x.n, x.model->failures, x.lost, x.total);
  if (rc == SCR_SUCCESS && job->lost > 0 && !job->dry_run) {
    for (r = 0; r < job->n && rc == SCR_SUCCESS; r++) rc = scr_rebuild_open(&x, r);
    if (rc == SCR_SUCCESS) rc = scr_rebuild_sums(&x);
    for (r = 0; r < job->n && rc == SCR_SUCCESS; r++) rc = scr_rebuild_finish(&x, r);
    for (r = 0; r < job->n && rc == SCR_SUCCESS; r++) rc = scr_rebuild_place(&x, r);
  }
  scr_rebuild_end(&x);
  return rc;
}

/*
** Rebuild the lost files of the set of JOB, the application's and redundancy files, from the remaining ones, in one
** process with a few MiB of memory, whatever the size of the files. job->lost receives the number of lost files.
**
** A file is lost if it is missing, or if its size or its CRC32, where recorded, is wrong; a redundancy file, if its
** size is wrong or its header is not sound.  SCR_ERR_LOST if too much is lost; SCR_ERR_FORMAT if the headers contradict
** each other; SCR_ERR_CRC if a rebuilt file has the wrong checksum.  In that case, each redundancy file in turn is
** first treated as corrupt, as far as the scheme allows.  Files are rebuilt beside their places and renamed there only
** when their CRC32 is right; what is not lost stays unchanged.  After an error or a crash another call finishes the
** work.
*/
SCR_FN int scr_rebuild_run(scr_rebuild* job)
{
  scr_err_record first;
  int            r, again, rc = scr_rebuild_try(job, -1);
  void (*say)(const char* what) = job->say;

  if (rc != SCR_ERR_CRC) return rc;
  scr_err_save(&first);
  job->say = NULL; /* the first attempt has reported what is lost */
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

/* The sets that have redundancy files in the given directories.  All zeros is an empty list. */
typedef struct {
  int          n;
  char**       name;                   /* [n], sorted: the common part of the names of a set's redundancy files */
  scr_identity dataset;                /* the dataset of all sets, */
  char         file[SCR_MAX_FILENAME]; /* according to this file; "" if none was read yet */
} scr_rebuild_sets;

SCR_FN void scr_rebuild_sets_free(scr_rebuild_sets* s)
{
  while (s->n > 0) free(s->name[--s->n]);
  scr_free(&s->name);
}

/* Add the set NAME, unless the list has it. */
SCR_FN int scr_rebuild_sets_add(scr_rebuild_sets* s, const char* name)
{
  char* copy;
  int   i = 0;

  while (i < s->n && strcmp(s->name[i], name) < 0) i++;
  if (i < s->n && strcmp(s->name[i], name) == 0) return SCR_SUCCESS;
  if ((copy = scr_strdup(name)) == NULL) return SCR_ERR_OOM();
  if (!scr_grow(&s->name, s->n, sizeof(char*))) {
    free(copy);
    return SCR_ERR_OOM();
  }
  memmove(s->name + i + 1, s->name + i, (size_t)(s->n++ - i) * sizeof(char*));
  s->name[i] = copy;
  return SCR_SUCCESS;
}

/*
** Check that the redundancy file PATH is of the dataset of S; the first file with a sound header determines that
** dataset.  Files without one are ignored.
*/
SCR_FN int scr_rebuild_sets_check(scr_rebuild_sets* s, const char* path)
{
  scr_header h;
  int        rc = scr_header_read(path, &h);

  if (rc != SCR_SUCCESS) return scr_rebuild_is_loss(rc) ? SCR_SUCCESS : rc;
  if (*s->file == '\0') {
    s->dataset = h.desc.identity;
    rc = scr_fmt(s->file, sizeof s->file, "%s", path);
  } else if (!scr_identity_same(&s->dataset, &h.desc.identity)) {
    rc = SCR_ERR(SCR_ERR_ARG, "%s and %s are of different datasets; nothing was changed: move away the wrong one",
                 s->file, path);
  }
  scr_header_free(&h);
  return rc;
}

/*
** Add the sets that have redundancy files in the dataset directory DIR to S.  All must be of one dataset, across calls
** too.  A directory without redundancy files is no error.
*/
SCR_FN int scr_rebuild_find(const char* dir, scr_rebuild_sets* s)
{
  char           path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME];
  struct dirent* e;
  scr_scheme     scheme;
  DIR*           d;
  int            r, n, set, rc = scr_fmt(path, sizeof path, "%s/.scr", dir);

  if (rc != SCR_SUCCESS) return rc;
  d = opendir(path);
  if (d == NULL && errno == ENOENT) return SCR_SUCCESS;
  if (d == NULL) return SCR_ERRNO("cannot open the directory %s", path);
  for (errno = 0; rc == SCR_SUCCESS && (e = readdir(d)) != NULL; errno = 0) {
    if (!scr_set_file_parse(e->d_name, &scheme, &r, &n, &set)) continue;
    if ((rc = scr_fmt(file, sizeof file, "%s/%s", path, e->d_name)) == SCR_SUCCESS)
      rc = scr_rebuild_sets_check(s, file);
    if (rc == SCR_SUCCESS) rc = scr_rebuild_sets_add(s, strchr(e->d_name, '_') + 1);
  }
  if (rc == SCR_SUCCESS && errno != 0) rc = SCR_ERRNO("cannot read the directory %s", path);
  closedir(d);
  return rc;
}

/*
** Rebuild the set SET, a name that scr_rebuild_find found, over the directories of JOB.  A member is rebuilt in the
** first directory that has its redundancy file; without one, in a directory that has one of its files; and if nothing
** is left of it, in INTO.  Sets n and file of JOB for the call; otherwise like scr_rebuild_run.
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

/* ---- datasets that are found on the prefix ---- */

/*
** Check all files of L by size and, where it is recorded, checksum; *TEMPORARY becomes 1 if one has its temporary name
** still.
*/
SCR_FN int scr_scan_files(const scr_objects* l, const char* prefix, int* temporary)
{
  static const char what[] = "it is damaged, or a file of another dataset";
  scr_err_record    why;
  int               i, rc = SCR_SUCCESS;

  for (i = 0; i < l->n && rc == SCR_SUCCESS; i++) {
    if ((rc = scr_object_check(&l->object[i], prefix, l->id, SCR_NAMES_FINAL, what)) == SCR_SUCCESS) continue;
    scr_err_save(&why);
    if (scr_object_check(&l->object[i], prefix, l->id, SCR_NAMES_MIXED, what) == SCR_SUCCESS) {
      *temporary = 1;
      rc = SCR_SUCCESS;
    } else {
      scr_err_restore(&why);
    }
  }
  return rc;
}

/* What the check of a dataset works on, and its results. */
typedef struct {
  const char* prefix;
  int         owners;
  int         temporary; /* 1: a file has its temporary name still */
} scr_scan_check_state;

SCR_FN int scr_scan_check_leaf(const scr_objects* l, void* arg)
{
  scr_scan_check_state* s = (scr_scan_check_state*)arg;

  s->owners += l->owners;
  return scr_scan_files(l, s->prefix, &s->temporary);
}

/*
** Check all files of the dataset DESC at PLACE against its rank2file map; *TEMPORARY becomes 1 if one has its temporary
** name still.
*/
SCR_FN int scr_scan_check(const char* prefix, const scr_prefix_place* place, const scr_desc* desc, int* temporary)
{
  scr_scan_check_state s = {prefix, 0, 0};
  int                  ranks, rc = scr_rank2file_walk(prefix, place, &desc->identity, &ranks, scr_scan_check_leaf, &s);

  if (rc == SCR_SUCCESS && s.owners != ranks)
    rc = SCR_ERR(SCR_ERR_FORMAT, "the rank2file map in %s/%s has %d ranks instead of %d", prefix, place->meta, s.owners,
                 ranks);
  *temporary = s.temporary;
  return rc;
}

/*
** Enter the dataset in DIR below the prefix into INDEX, if it is complete (B5).  If it is in the index already, that
** stays as it is.  Files that have temporary names are renamed by the next run.  DESC receives what the dataset is.
*/
SCR_FN int scr_scan_add(scr_index* index, const char* dir, scr_desc* desc)
{
  scr_prefix_place place;
  scr_index_item   it;
  char             path[SCR_MAX_FILENAME];
  int              complete = 0, temporary = 0, rc = scr_summary_path(index->prefix, dir, path);

  memset(desc, 0, sizeof *desc);
  if (rc == SCR_SUCCESS) rc = scr_summary_read(path, desc, &complete);
  if (rc == SCR_ERR_NOT_FOUND)
    rc = SCR_ERR(rc, "%s/%s is not the directory of a dataset: it has no .scr/summary.scr", index->prefix, dir);
  if (rc == SCR_SUCCESS && !complete) rc = SCR_ERR(SCR_ERR_INVALID, "%s says that the dataset is not complete", path);
  if (rc == SCR_SUCCESS && scr_index_get(index, desc->identity.id, dir, &it) && it.complete) return SCR_SUCCESS;
  if (rc == SCR_SUCCESS) rc = scr_prefix_locate(index->prefix, desc->identity.id, dir, &place);
  if (rc == SCR_SUCCESS) rc = scr_scan_check(index->prefix, &place, desc, &temporary);
  if (rc == SCR_SUCCESS) rc = scr_index_set(index, desc, dir);
  if (rc == SCR_SUCCESS && !temporary) scr_index_note_renamed(index, desc->identity.id, dir);
  return rc;
}

/* A request to take files of a dataset out of the prefix. */
typedef struct {
  const char* prefix;
  const char* dir;  /* of the dataset, below the prefix */
  const char* name; /* of the file: below the prefix, or below DIR; NULL for all files */
  const char* into; /* the directory that receives them, at their paths below the prefix */
  int         found;
  void (*say)(const char* path); /* called for each file that is there */
} scr_extraction;

/* Returns 1 if O is asked for. */
SCR_FN int scr_extract_wants(const scr_extraction* x, const scr_object* o)
{
  const char* below;

  if (o->redundant) return 0;
  return x->name == NULL || strcmp(x->name, o->rel) == 0 ||
         (scr_path_below(x->dir, o->rel, &below) && strcmp(x->name, below) == 0);
}

/* Copy the file O of dataset ID to its path below x->into, and compare its checksum.  A file that is there stays. */
SCR_FN int scr_extract_file(scr_extraction* x, const scr_object* o, int id)
{
  struct stat st;
  char        to[SCR_MAX_FILENAME], above[SCR_MAX_FILENAME];
  int         rc = scr_fmt(to, sizeof to, "%s/%s", x->into, o->rel);

  if (rc == SCR_SUCCESS) rc = scr_path_dir_of(to, above, sizeof above);
  if (rc == SCR_SUCCESS && scr_os.lstat(to, &st) == 0)
    rc = SCR_ERR(SCR_ERR_ARG, "%s is there already; move it away, or extract into another directory", to);
  if (rc == SCR_SUCCESS) rc = scr_mkdirs(above, 0777);
  if (rc == SCR_SUCCESS) rc = scr_object_copy(o, x->prefix, id, to, 0666);
  if (rc == SCR_SUCCESS) x->say(to);
  return rc;
}

SCR_FN int scr_extract_leaf(const scr_objects* l, void* arg)
{
  scr_extraction* x = (scr_extraction*)arg;
  int             i, rc = SCR_SUCCESS;

  for (i = 0; i < l->n && rc == SCR_SUCCESS; i++) {
    if (!scr_extract_wants(x, &l->object[i])) continue;
    x->found++;
    rc = scr_extract_file(x, &l->object[i], l->id);
  }
  return rc;
}

/*
** Copy files of the dataset IT out of its containers, or from where they lie, as X says.  SCR_ERR_NOT_FOUND if it has
** no such file.
*/
SCR_FN int scr_scan_extract(scr_extraction* x, const scr_index_item* it)
{
  scr_prefix_place place;
  scr_identity     identity = it->desc.identity;
  int              ranks, rc = scr_prefix_locate(x->prefix, it->id, it->dir, &place);

  identity.id = it->id;
  x->dir = it->dir;
  if (rc == SCR_SUCCESS && (!it->complete || it->renaming))
    rc = SCR_ERR(SCR_ERR_INVALID, "dataset %d in %s/%s is not complete", it->id, x->prefix, it->dir);
  if (rc == SCR_SUCCESS) rc = scr_rank2file_walk(x->prefix, &place, &identity, &ranks, scr_extract_leaf, x);
  if (rc == SCR_SUCCESS && x->found == 0 && x->name != NULL)
    rc = SCR_ERR(SCR_ERR_NOT_FOUND, "dataset %d in %s/%s has no file %s", it->id, x->prefix, it->dir, x->name);
  return rc;
}

/* ---- the prefix ---- */

/*
** Take the lock of PREFIX, so that no run uses it, and no other command that takes it; *FD receives the descriptor that
** holds it.  The file is empty then: it names no process, and no run.  SCR_ERR_BUSY after SECONDS.
*/
SCR_FN int scr_hold_prefix(const char* prefix, int seconds, int* fd)
{
  char path[SCR_MAX_FILENAME];
  int  rc = scr_record_mkdir(prefix);

  *fd = -1;
  if (rc == SCR_SUCCESS) rc = scr_record_path(prefix, "run.lock", path, sizeof path);
  if (rc == SCR_SUCCESS) rc = scr_lock_open(path, fd);
  if (rc == SCR_SUCCESS) rc = scr_lock_take(*fd, path, seconds);
  if (rc == SCR_SUCCESS && scr_os.ftruncate(*fd, 0) < 0) rc = SCR_ERRNO("cannot write %s", path);
  return rc;
}

/* ---- the map of a dataset that one process makes ---- */

/* Write BODY, the objects of ranks from FIRST on, as a leaf below the root M; BODY is empty then. */
SCR_FN int scr_make_leaf(const char* prefix, const char* dir, scr_rank2file* m, int first, scr_hash* body)
{
  char file[64];
  int  ranks = 0, rc = scr_rank2file_write_leaf(prefix, dir, first, body, &ranks, file, sizeof file);

  m->ranks += ranks;
  if (rc == SCR_SUCCESS) rc = scr_rank2file_add(m, first, file);
  scr_hash_unset_all(body);
  return rc;
}

/*
** Write the rank2file map of the objects L, in the order of their owners, of the dataset IDENTITY in DIR below PREFIX:
** leaves of at most SIZE bytes, if no rank alone needs more, and a root.  A root of one MiB is above 10^4 leaves, so no
** level between them is needed.
*/
SCR_FN int scr_make_map(const scr_objects* l, const char* prefix, const char* dir, const scr_identity* identity,
                        uint64_t size)
{
  scr_hash *    body = scr_hash_new(), *one;
  scr_rank2file m;
  uint64_t      bytes = 0;
  int           i, k = 0, begin = 0, rc = SCR_SUCCESS;

  memset(&m, 0, sizeof m);
  m.level = 1;
  m.identity = *identity;
  for (i = 0; i < l->owners && rc == SCR_SUCCESS; i++) {
    scr_objects of = *l;
    of.object = l->object + k;
    for (of.n = 0; k < l->n && l->object[k].owner == l->owner[i]; k++) of.n++;
    of.owner = l->owner + i;
    of.owners = 1;
    one = scr_hash_new();
    rc = scr_objects_to_hash(&of, prefix, dir, one);
    if (rc == SCR_SUCCESS && i > begin && bytes + scr_hash_pack_size(one) > size) {
      rc = scr_make_leaf(prefix, dir, &m, l->owner[begin], body);
      begin = i;
      bytes = 0;
    }
    bytes += scr_hash_pack_size(one);
    scr_hash_merge(body, one);
    scr_hash_delete(&one);
  }
  if (rc == SCR_SUCCESS) rc = scr_make_leaf(prefix, dir, &m, l->owner[begin], body);
  if (rc == SCR_SUCCESS) rc = scr_rank2file_write_root(prefix, dir, &m);
  scr_rank2file_free(&m);
  scr_hash_delete(&body);
  return rc;
}

/* ---- a directory of files that were never written through the library ---- */

/* A dataset made of them.  All zeros but the first two fields is one without files. */
typedef struct {
  const char* prefix;
  const char* dir; /* below the prefix */
  int         ranks;
  uint64_t    bytes;
  scr_objects objects;
  scr_hash*   seen; /* paths of its files, each with its rank */
} scr_adoption;

SCR_FN void scr_adopt_free(scr_adoption* a)
{
  scr_objects_free(&a->objects);
  scr_hash_delete(&a->seen);
}

/* Add FILE, a path below the directory of A, as a file of RANK; it is read for its checksum. */
SCR_FN int scr_adopt_file(scr_adoption* a, int rank, const char* file)
{
  char        rel[SCR_MAX_FILENAME], path[SCR_MAX_FILENAME];
  struct stat st;
  scr_object* o;
  int         rc = scr_fmt(rel, sizeof rel, "%s/%s", a->dir, file);

  if (rc == SCR_SUCCESS) rc = scr_fmt(path, sizeof path, "%s/%s", a->prefix, rel);
  if (rc != SCR_SUCCESS) return rc;
  if (!scr_path_is_safe_rel(file))
    return SCR_ERR(SCR_ERR_PATH, "%s is not a path below %s/%s", file, a->prefix, a->dir);
  if (scr_os.lstat(path, &st) < 0) return SCR_ERRNO("cannot find %s, a file of rank %d", path, rank);
  if (!S_ISREG(st.st_mode))
    return SCR_ERR(SCR_ERR_PATH, "%s, a file of rank %d, is not a regular file: a link to it cannot be kept whole",
                   path, rank);
  if (a->seen == NULL) a->seen = scr_hash_new();
  if (scr_hash_elem_get_first_val(a->seen, file) != NULL)
    return SCR_ERR(SCR_ERR_ARG, "%s is a file of rank %s and of rank %d; each needs its own", path,
                   scr_hash_elem_get_first_val(a->seen, file), rank);
  scr_hash_setf(scr_hash_set(a->seen, file, scr_hash_new()), NULL, "%d", rank);
  if ((o = scr_objects_add(&a->objects, rank, rel)) == NULL) return SCR_ERR_OOM();
  o->size = (uint64_t)st.st_size;
  o->mode = (int)(st.st_mode & 07777);
  o->mtime = (int64_t)st.st_mtime;
  o->has_crc = 1;
  a->bytes += o->size;
  if (rank >= a->ranks) a->ranks = rank + 1;
  return scr_file_crc(path, o->size, &o->crc);
}

SCR_FN int scr_adopt_cmp(const void* a, const void* b)
{
  const scr_object *x = (const scr_object*)a, *y = (const scr_object*)b;

  return x->owner != y->owner ? (x->owner > y->owner) - (x->owner < y->owner) : strcmp(x->rel, y->rel);
}

/* Write the map and the summary of A, which DESC describes. */
SCR_FN int scr_adopt_write(scr_adoption* a, const scr_desc* desc)
{
  scr_hash* dirs = scr_hash_new();
  char      path[SCR_MAX_FILENAME];
  int       i, rc = scr_fmt(path, sizeof path, "%s/%s/.scr", a->prefix, a->dir), err;

  if (rc == SCR_SUCCESS) rc = scr_mkdirs(path, 0777);
  if (rc == SCR_SUCCESS) scr_dirs_above(dirs, a->prefix, path);
  for (i = 0; i < a->objects.n && rc == SCR_SUCCESS; i++) {
    rc = scr_object_path(&a->objects.object[i], a->prefix, 0, 0, path, sizeof path);
    if (rc == SCR_SUCCESS) rc = scr_file_sync(path);
    if (rc == SCR_SUCCESS) scr_dirs_above(dirs, a->prefix, path);
  }
  if ((err = scr_dirs_sync(&dirs)) != SCR_SUCCESS && rc == SCR_SUCCESS) rc = err;
  for (i = 0; i < a->ranks; i++) scr_objects_add_owner(&a->objects, i);
  qsort(a->objects.object, (size_t)a->objects.n, sizeof *a->objects.object, scr_adopt_cmp);
  if (rc == SCR_SUCCESS) rc = scr_make_map(&a->objects, a->prefix, a->dir, &desc->identity, (uint64_t)1 << 20);
  if (rc == SCR_SUCCESS) rc = scr_summary_path(a->prefix, a->dir, path);
  if (rc == SCR_SUCCESS) rc = scr_summary_write(path, desc);
  return rc;
}

/*
** SCR_SUCCESS if the directory of A, which has the summary SUMMARY, may become another dataset: what it was is in no
** index, and scr_adopt made it, because a run tells its user and its job.  Then all that is lost is which files it had.
*/
SCR_FN int scr_adopt_again(const scr_index* index, const scr_adoption* a, const char* summary)
{
  scr_index_item it;
  scr_desc       desc;
  int            complete;

  memset(&desc, 0, sizeof desc);
  if (scr_index_find(index, SCR_INDEX_DIR, a->dir, 0, 0, &it))
    return SCR_ERR(SCR_ERR_ARG, "%s/%s is the directory of a dataset already, %s; --drop removes it from the index",
                   a->prefix, a->dir, *it.desc.name ? it.desc.name : a->dir);
  if (scr_summary_read(summary, &desc, &complete) == SCR_SUCCESS && *desc.user == '\0' && *desc.job == '\0')
    return SCR_SUCCESS;
  return SCR_ERR(SCR_ERR_ARG,
                 "%s/%s is the directory of a dataset that a run wrote; --add alone enters it into the index; if it is "
                 "to be another one, and all its files are there, remove %s/%s/.scr",
                 a->prefix, a->dir, a->prefix, a->dir);
}

/*
** Make the files of A a dataset called NAME with the new id ID and these FLAGS, and enter it into INDEX; DESC receives
** what it is.  The files stay where they are; a run restarts from them by their paths.  On an error the directory is as
** it was.
*/
SCR_FN int scr_adopt(scr_index* index, scr_adoption* a, int id, const char* name, int flags, scr_desc* desc)
{
  char        path[SCR_MAX_FILENAME], meta[SCR_MAX_FILENAME];
  struct stat st;
  int         again = 0, rc = scr_summary_path(a->prefix, a->dir, path);

  memset(desc, 0, sizeof *desc);
  if (rc == SCR_SUCCESS) rc = scr_fmt(meta, sizeof meta, "%s/.scr", a->dir);
  if (rc == SCR_SUCCESS && scr_os.lstat(path, &st) == 0) {
    rc = scr_adopt_again(index, a, path);
    again = rc == SCR_SUCCESS;
  }
  if (rc == SCR_SUCCESS && a->objects.n == 0)
    rc = SCR_ERR(SCR_ERR_MISSING, "no file in %s/%s belongs to the dataset", a->prefix, a->dir);
  desc->identity.id = id;
  desc->identity.created = scr_time_usec();
  desc->identity.nonce = scr_random();
  if (rc == SCR_SUCCESS) rc = scr_fmt(desc->name, sizeof desc->name, "%s", name);
  if (rc == SCR_SUCCESS) rc = scr_fmt(desc->dir, sizeof desc->dir, "%s", a->dir);
  desc->flags = flags;
  desc->ckpt = flags & SCR_FLAG_CHECKPOINT ? id : 0;
  desc->ranks = a->ranks;
  desc->files = a->objects.n;
  desc->bytes = a->bytes;
  desc->complete = desc->preserve = 1;
  if (rc != SCR_SUCCESS) return rc;
  if (again) scr_prefix_remove_meta(a->prefix, meta, "");
  rc = scr_adopt_write(a, desc);
  if (rc == SCR_SUCCESS) rc = scr_index_set(index, desc, a->dir);
  if (rc == SCR_SUCCESS) scr_index_note_renamed(index, id, a->dir);
  else scr_prefix_remove_meta(a->prefix, meta, "");
  return rc;
}

/*
** Call FOUND for each directory of a dataset in DIR below PREFIX, "" for all; symbolic links are not followed.  What
** cannot be read is left out.
*/
SCR_FN void scr_scan_walk(const char* prefix, const char* dir, void (*found)(const char* dir, void* arg), void* arg)
{
  char           path[SCR_MAX_FILENAME], below[SCR_MAX_FILENAME];
  struct dirent* e;
  struct stat    st;
  DIR*           d = scr_fmt(path, sizeof path, "%s/%s", prefix, dir) == SCR_SUCCESS ? opendir(path) : NULL;

  while (d != NULL && (e = readdir(d)) != NULL) {
    if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
        scr_fmt(below, sizeof below, *dir ? "%s/%s" : "%s%s", dir, e->d_name) != SCR_SUCCESS ||
        scr_fmt(path, sizeof path, "%s/%s", prefix, below) != SCR_SUCCESS || scr_os.lstat(path, &st) < 0 ||
        !S_ISDIR(st.st_mode))
      continue;
    if (strcmp(e->d_name, ".scr") != 0) scr_scan_walk(prefix, below, found, arg);
    else if (*dir && scr_summary_path(prefix, dir, path) == SCR_SUCCESS && scr_os.lstat(path, &st) == 0)
      found(dir, arg);
  }
  if (d != NULL) closedir(d);
}

/* ---- scavenge: a dataset of a job that has ended, from the caches of its nodes to the prefix ---- */

/*
** What the nodes have of a dataset is collected in a directory of the prefix, its stage: the files as they lie in the
** cache, redundancy files included, and for each rank <rank>.scrfilemap in .scr, the rank's entry with paths below the
** stage.  The name of the stage tells the dataset, so that another of the same id has another stage.
*/
#define SCR_STAGE_PREFIX "scavenge."

SCR_FN int scr_stage_path(const char* prefix, const scr_identity* identity, char* path, size_t n)
{
  return scr_fmt(path, n, "%s/.scr/" SCR_STAGE_PREFIX "%d.%" PRId64 ".%016" PRIx64, prefix, identity->id,
                 identity->created, identity->nonce);
}

/* Returns 1 if NAME is that of a stage; IDENTITY receives its dataset. */
SCR_FN int scr_stage_parse(const char* name, scr_identity* identity)
{
  char again[128];

  memset(identity, 0, sizeof *identity);
  if (sscanf(name, SCR_STAGE_PREFIX "%9d.%19" SCNd64 ".%16" SCNx64, &identity->id, &identity->created,
             &identity->nonce) != 3)
    return 0;
  snprintf(again, sizeof again, SCR_STAGE_PREFIX "%d.%" PRId64 ".%016" PRIx64, identity->id, identity->created,
           identity->nonce);
  return identity->id > 0 && strcmp(again, name) == 0;
}

/* Call FOUND for each stage on PREFIX. */
SCR_FN void scr_stage_walk(const char* prefix, void (*found)(const scr_identity* identity, void* arg), void* arg)
{
  char           path[SCR_MAX_FILENAME];
  scr_identity   identity;
  struct dirent* e;
  DIR*           d = scr_record_path(prefix, "", path, sizeof path) == SCR_SUCCESS ? opendir(path) : NULL;

  while (d != NULL && (e = readdir(d)) != NULL)
    if (scr_stage_parse(e->d_name, &identity)) found(&identity, arg);
  if (d != NULL) closedir(d);
}

/* The entry of RANK in STAGE, of the dataset IDENTITY; NULL if there is none that is sound. */
SCR_FN scr_entry* scr_stage_read(const char* stage, int rank, const scr_identity* identity)
{
  char             path[SCR_MAX_FILENAME];
  scr_filemap      map = {NULL, 0};
  const scr_entry* e;
  scr_entry*       copy = NULL;

  if (scr_fmt(path, sizeof path, "%s/.scr/%d.scrfilemap", stage, rank) == SCR_SUCCESS &&
      scr_filemap_read(path, &map) == SCR_SUCCESS && (e = scr_filemap_find(&map, identity, rank)) != NULL && e->listed)
    copy = scr_entry_dup(e);
  scr_filemap_clear(&map);
  return copy;
}

/* Write E as <rank>.scrfilemap of STAGE.  How it was protected in the cache does not concern the prefix. */
SCR_FN int scr_stage_write(const char* stage, const scr_entry* e)
{
  char        path[SCR_MAX_FILENAME];
  scr_filemap map = {NULL, 0};
  scr_home    nowhere;
  scr_entry*  bare = scr_entry_dup(e);
  int         rc = bare == NULL ? SCR_ERR_OOM() : scr_fmt(path, sizeof path, "%s/.scr/%d.scrfilemap", stage, e->owner);

  memset(&nowhere, 0, sizeof nowhere);
  if (bare != NULL) scr_reddesc_free(&bare->red);
  if (rc == SCR_SUCCESS) rc = scr_filemap_put(&map, bare);
  else scr_entry_free(&bare);
  if (rc == SCR_SUCCESS) rc = scr_filemap_write(path, &map, &nowhere);
  scr_filemap_clear(&map);
  return rc;
}

/*
** Copy the file F of E from the cache of HOME to STAGE, unless it is there.  It gets its name when its bytes are synced
** and its checksum is right (B6); MOVED is called as in scr_pace.
*/
SCR_FN int scr_stage_copy(const scr_home* home, const scr_entry* e, scr_file* f, const char* stage,
                          void (*moved)(uint64_t bytes))
{
  char           from[SCR_MAX_FILENAME], to[SCR_MAX_FILENAME], tmp[SCR_MAX_FILENAME], dir[SCR_MAX_FILENAME];
  scr_copy_list  copies;
  scr_copy_item* it;
  int            rc = scr_fmt(to, sizeof to, "%s/%s", stage, f->rel);

  if (rc == SCR_SUCCESS && scr_file_has_size(to, f->size) == SCR_SUCCESS) return SCR_SUCCESS;
  if (rc == SCR_SUCCESS && !f->complete) rc = SCR_ERR(SCR_ERR_MISSING, "%s was not complete", f->rel);
  if (rc == SCR_SUCCESS) rc = scr_entry_path(home, e, f->rel, from, sizeof from);
  if (rc == SCR_SUCCESS) rc = scr_fmt(tmp, sizeof tmp, "%s/.scr/%s.%ld.tmp", stage, home->host, (long)getpid());
  if (rc == SCR_SUCCESS) rc = scr_path_dir_of(to, dir, sizeof dir);
  if (rc == SCR_SUCCESS) rc = scr_mkdirs(dir, 0777);
  if (rc == SCR_SUCCESS) rc = scr_copy_list_make(&copies, 1, 1 << 20);
  if (rc != SCR_SUCCESS) return rc;
  copies.pace.moved = moved;
  it = scr_copy_list_add(&copies, f->mode, 0666, f->mtime);
  rc = scr_extents_whole(&it->from, from, f->size);
  if (rc == SCR_SUCCESS) rc = scr_extents_whole(&it->to, tmp, f->size);
  if (rc == SCR_SUCCESS) rc = scr_copy_list_run(&copies, 1);
  if (rc == SCR_SUCCESS && f->has_crc) rc = scr_file_has_crc(from, it->crc, f->crc, "it was corrupted in the cache");
  f->crc = it->crc;
  f->has_crc = rc == SCR_SUCCESS;
  if (rc == SCR_SUCCESS && scr_os.rename(tmp, to) < 0) rc = SCR_ERRNO("cannot rename %s to %s", tmp, to);
  if (rc != SCR_SUCCESS) scr_os.unlink(tmp);
  scr_copy_list_free(&copies);
  return rc;
}

/*
** Copy the files of E that KINDS names, bits of 1 << scr_file_kind, from the cache of HOME to the stage of its dataset
** on PREFIX.  SAY is called with the reason for each file that is lost; *LOST counts them.  Only what ends the copy is
** an error: no space, or no stage.
*/
SCR_FN int scr_stage_collect(const scr_home* home, const scr_entry* e, const char* prefix, int kinds,
                             void (*moved)(uint64_t bytes), void (*say)(const char* what), int* lost)
{
  char       stage[SCR_MAX_FILENAME], path[SCR_MAX_FILENAME];
  scr_entry* all = scr_entry_dup(e); /* receives the checksums that the copies find */
  scr_hash*  dirs = scr_hash_new();
  int        i, rc = scr_stage_path(prefix, &e->desc.identity, stage, sizeof stage);

  if (all == NULL) rc = SCR_ERR_OOM();
  if (rc == SCR_SUCCESS) rc = scr_fmt(path, sizeof path, "%s/.scr", stage);
  if (rc == SCR_SUCCESS) rc = scr_mkdirs(path, 0777);
  if (rc == SCR_SUCCESS) scr_dirs_above(dirs, prefix, path);
  for (i = 0; rc == SCR_SUCCESS && i < all->files; i++) {
    scr_file* f = &all->file[i];
    if (!(kinds & 1 << f->kind)) continue;
    rc = scr_stage_copy(home, e, f, stage, moved);
    if (rc == SCR_ERR_SPACE || rc == SCR_ERR_MEM || rc == SCR_SUCCESS) {
      if (rc == SCR_SUCCESS && scr_fmt(path, sizeof path, "%s/%s", stage, f->rel) == SCR_SUCCESS)
        scr_dirs_above(dirs, stage, path);
      continue;
    }
    snprintf(path, sizeof path, "%.*s", scr_err_length, scr_err_text);
    say(path);
    ++*lost;
    rc = SCR_SUCCESS;
  }
  if (rc == SCR_SUCCESS) rc = scr_dirs_sync(&dirs);
  else scr_hash_delete(&dirs);
  if (rc == SCR_SUCCESS) rc = scr_stage_write(stage, all);
  scr_entry_free(&all);
  return rc;
}

/* A rank's files in a stage: some are missing, none are, or it is reported that some are. */
typedef enum { SCR_PART_MISSING, SCR_PART_WHOLE, SCR_PART_REPORTED } scr_part;

/* A dataset of the index that loses files to the one that is scavenged. */
typedef struct {
  int  id;
  char dir[SCR_MAX_FILENAME];
} scr_scavenge_rival;

/* A stage that is to become a dataset on the prefix; the caller sets the first group, to zeros what it does not use. */
typedef struct {
  const char*  prefix; /* absolute */
  scr_identity identity;
  uint64_t     container_size, map_size;       /* of SCR_CONTAINER_SIZE and SCR_RANK2FILE_SIZE */
  void (*moved)(uint64_t bytes);               /* as in scr_pace */
  void (*say)(const char* what);               /* what is lost, rebuilt, and why */
  char                stage[SCR_MAX_FILENAME]; /* from here on: what is found out */
  scr_entry*          model;                   /* any entry, for what all have in common */
  char*               part;                    /* [ranks]: a value of scr_part */
  scr_mark            mark;                    /* what an entry says was decided about the dataset */
  char                rejected_by[SCR_JOB_KEY_MAX];
  char                dir[SCR_MAX_FILENAME]; /* of the dataset, below the prefix */
  scr_objects         objects;
  scr_hash*           names; /* paths of files below the prefix, for comparisons */
  scr_scavenge_rival* rival;
  int                 rivals, committed; /* committed: the index has the dataset */
} scr_scavenge;

SCR_FN void scr_scavenge_free(scr_scavenge* s)
{
  scr_entry_free(&s->model);
  scr_free(&s->part);
  scr_objects_free(&s->objects);
  scr_hash_delete(&s->names);
  scr_free(&s->rival);
}

/* Returns 1 if all files of the application that E lists are in the stage. */
SCR_FN int scr_scavenge_is_whole(const scr_scavenge* s, const scr_entry* e)
{
  char path[SCR_MAX_FILENAME];
  int  i, rc = SCR_SUCCESS;

  for (i = 0; i < e->files && rc == SCR_SUCCESS; i++) {
    if (e->file[i].kind != SCR_FILE_APPLICATION) continue;
    rc = scr_fmt(path, sizeof path, "%s/%s", s->stage, e->file[i].rel);
    if (rc == SCR_SUCCESS) rc = scr_file_has_size(path, e->file[i].size);
  }
  return rc == SCR_SUCCESS;
}

/* Find any entry in the stage, for what all have in common. */
SCR_FN int scr_scavenge_begin(scr_scavenge* s)
{
  char           dir[SCR_MAX_FILENAME];
  struct dirent* e;
  DIR*           d;
  int            rank, end, rc = scr_stage_path(s->prefix, &s->identity, s->stage, sizeof s->stage);

  if (rc == SCR_SUCCESS) rc = scr_fmt(dir, sizeof dir, "%s/.scr", s->stage);
  if (rc != SCR_SUCCESS) return rc;
  d = opendir(dir);
  while (d != NULL && s->model == NULL && (e = readdir(d)) != NULL) {
    end = 0;
    if (sscanf(e->d_name, "%9d.scrfilemap%n", &rank, &end) == 1 && end > 0 && e->d_name[end] == '\0' && rank >= 0)
      s->model = scr_stage_read(s->stage, rank, &s->identity);
    if (s->model != NULL && (s->model->desc.ranks < 1 || !s->model->desc.complete)) scr_entry_free(&s->model);
  }
  if (d != NULL) closedir(d);
  if (scr_oom) return SCR_ERR_OOM();
  if (s->model == NULL)
    return SCR_ERR(SCR_ERR_LOST, "no rank's files of dataset %d were found in the caches", s->identity.id);
  s->part = (char*)scr_malloc((size_t)s->model->desc.ranks);
  return s->part == NULL ? SCR_ERR_OOM() : SCR_SUCCESS;
}

/* Find out which ranks have all their files in the stage.  Returns how many do not. */
SCR_FN int scr_scavenge_inspect(scr_scavenge* s)
{
  int rank, missing = 0;

  for (rank = 0; rank < s->model->desc.ranks; rank++) {
    scr_entry* e = scr_stage_read(s->stage, rank, &s->identity);
    if (e != NULL && scr_scavenge_is_whole(s, e)) s->part[rank] = SCR_PART_WHOLE;
    if (e != NULL && e->mark > s->mark) {
      s->mark = e->mark;
      memcpy(s->rejected_by, e->rejected_by, sizeof s->rejected_by);
    }
    scr_entry_free(&e);
    missing += s->part[rank] != SCR_PART_WHOLE;
  }
  return missing;
}

/* ---- what is lost is rebuilt in the stage, or reported ---- */

/* Returns 1 if member R of the set of H has all its files in the stage. */
SCR_FN int scr_scavenge_has(const scr_scavenge* s, const scr_header* h, int r)
{
  return s->part[h->member[r % h->set_size]] == SCR_PART_WHOLE;
}

/* Read the header of any member of the set NAME in the stage into H. */
SCR_FN int scr_scavenge_header(const scr_scavenge* s, const char* name, scr_header* h)
{
  char path[SCR_MAX_FILENAME];
  int  r, n = 0, rc = SCR_ERR_LOST;

  if (sscanf(name, "of_%9d", &n) != 1) n = 0;
  for (r = 0; r < n && rc != SCR_SUCCESS; r++) {
    rc = scr_fmt(path, sizeof path, "%s/.scr/%d_%s", s->stage, r + 1, name);
    if (rc == SCR_SUCCESS) rc = scr_header_read(path, h);
    if (rc == SCR_SUCCESS && (h->ranks != s->model->desc.ranks || h->set_size != n ||
                              scr_identity_differs(&h->desc.identity, &s->identity))) {
      scr_header_free(h);
      rc = SCR_ERR(SCR_ERR_FORMAT, "%s is of another dataset", path);
    }
  }
  return rc;
}

/* Append RANK to the list of ranks in B, N of which are there; MORE follow directly. */
SCR_FN void scr_scavenge_add_ranks(scr_buf* b, int n, int rank, int more)
{
  char text[32];

  snprintf(text, sizeof text, more > 0 ? "%s%d-%d" : "%s%d", n > 0 ? "," : "", rank, rank + more);
  scr_buf_add(b, text, strlen(text));
}

/* How many of the lost members of H would have to be there for the set to be rebuilt. */
SCR_FN int scr_scavenge_wanted(const scr_scavenge* s, const scr_header* h)
{
  int r, run = 0, lost = 0, wanted = 0, first = 0;

  for (r = 0; r < h->set_size; r++) lost += !scr_scavenge_has(s, h, r);
  if (h->scheme != SCR_SCHEME_PARTNER) return lost > h->failures ? lost - h->failures : 0;
  if (lost == h->set_size) return (lost + 1) / 2;
  while (!scr_scavenge_has(s, h, first)) first++; /* in a ring, begin behind one that is there */
  for (r = 1; r <= h->set_size; r++) {
    run = scr_scavenge_has(s, h, first + r) ? 0 : run + 1;
    wanted += run > 0 && run % 2 == 0; /* no two neighbours may be lost */
  }
  return wanted;
}

/* Report that the set NAME cannot be rebuilt, as the error WHY says. */
SCR_FN void scr_scavenge_report_set(const scr_scavenge* s, const char* name, const scr_header* h, const char* why)
{
  char    text[SCR_ERR_TEXT_MAX];
  scr_buf b = {NULL, 0, 0, 0};
  int     r, lost = 0, wanted = scr_scavenge_wanted(s, h);

  for (r = 0; r < h->set_size; r++)
    if (!scr_scavenge_has(s, h, r)) scr_scavenge_add_ranks(&b, lost++, h->member[r], 0);
  scr_buf_add(&b, "", 1);
  if (b.failed || lost == 0 || wanted == 0)
    snprintf(text, sizeof text, "the set *_%.100s of %d ranks cannot be rebuilt: %.2000s", name, h->set_size, why);
  else
    snprintf(text, sizeof text,
             "files of the ranks %.1000s are missing, which are in one %s set of %d ranks; those of %d of them would "
             "have been enough",
             b.p, scr_scheme_name(h->scheme), h->set_size, wanted);
  s->say(text);
  scr_buf_free(&b);
}

/* Write the entries of the members of H, a set that is rebuilt, that the stage lacks. */
SCR_FN int scr_scavenge_enter(const scr_scavenge* s, const char* name, const scr_header* h)
{
  char       path[SCR_MAX_FILENAME];
  scr_header own;
  int        r, rc = SCR_SUCCESS;

  for (r = 0; r < h->set_size && rc == SCR_SUCCESS; r++) {
    if (scr_scavenge_has(s, h, r)) continue;
    rc = scr_fmt(path, sizeof path, "%s/.scr/%d_%s", s->stage, r + 1, name);
    if (rc == SCR_SUCCESS && (rc = scr_header_read(path, &own)) != SCR_SUCCESS) break;
    if (rc == SCR_SUCCESS) {
      scr_entry* e = own.entry[0];
      e->desc = s->model->desc;
      e->preserve = s->model->preserve;
      e->container = s->model->container;
      e->listed = 1;
      rc = scr_stage_write(s->stage, e);
      scr_header_free(&own);
    }
  }
  return rc;
}

/* Rebuild the set NAME, if files of one of its members are lost.  If it cannot be rebuilt, that is reported. */
SCR_FN int scr_scavenge_rebuild_set(scr_scavenge* s, const char* name)
{
  const char* dir = s->stage;
  scr_rebuild job;
  scr_header  h;
  int         r, lost = 0, rc = scr_scavenge_header(s, name, &h);

  if (rc != SCR_SUCCESS) return scr_rebuild_is_loss(rc) || rc == SCR_ERR_LOST ? SCR_SUCCESS : rc;
  for (r = 0; r < h.set_size; r++) lost += !scr_scavenge_has(s, &h, r);
  memset(&job, 0, sizeof job);
  job.dirs = 1;
  job.dir = &dir;
  if (lost > 0) rc = scr_rebuild_set(&job, name, s->stage);
  if (lost > 0 && rc == SCR_SUCCESS) rc = scr_scavenge_enter(s, name, &h);
  if (rc == SCR_ERR_LOST || rc == SCR_ERR_FORMAT || rc == SCR_ERR_CRC || rc == SCR_ERR_MISSING) {
    char why[SCR_ERR_TEXT_MAX];
    snprintf(why, sizeof why, "%.*s", scr_err_length, scr_err_text);
    scr_scavenge_report_set(s, name, &h, why);
    for (r = 0; r < h.set_size; r++)
      if (!scr_scavenge_has(s, &h, r)) s->part[h.member[r]] = SCR_PART_REPORTED;
    rc = SCR_SUCCESS;
  }
  scr_header_free(&h);
  return rc;
}

/* Report the ranks of which files are missing, and which no set that was found protects. */
SCR_FN void scr_scavenge_report_alone(const scr_scavenge* s)
{
  char    text[SCR_ERR_TEXT_MAX];
  scr_buf b = {NULL, 0, 0, 0};
  int     rank, more, n = 0;

  for (rank = 0; rank < s->model->desc.ranks; rank += more + 1) {
    for (more = 0; rank + more < s->model->desc.ranks && s->part[rank + more] == SCR_PART_MISSING; more++) continue;
    if (more > 0) scr_scavenge_add_ranks(&b, n++, rank, more - 1);
  }
  scr_buf_add(&b, "", 1);
  snprintf(text, sizeof text, "files of the ranks %.1000s are missing, and nothing was found that protects them",
           b.failed ? "?" : b.p);
  if (n > 0) s->say(text);
  scr_buf_free(&b);
}

/* Rebuild what is lost.  SCR_ERR_LOST, with a report, if files of some ranks stay missing. */
SCR_FN int scr_scavenge_rebuild(scr_scavenge* s)
{
  scr_rebuild_sets sets;
  int              i, missing = scr_scavenge_inspect(s), rc = SCR_SUCCESS;

  if (missing == 0) return scr_oom ? SCR_ERR_OOM() : SCR_SUCCESS;
  memset(&sets, 0, sizeof sets);
  rc = scr_rebuild_find(s->stage, &sets);
  for (i = 0; i < sets.n && rc == SCR_SUCCESS; i++) rc = scr_scavenge_rebuild_set(s, sets.name[i]);
  scr_rebuild_sets_free(&sets);
  if (rc == SCR_SUCCESS && scr_oom) rc = SCR_ERR_OOM();
  if (rc != SCR_SUCCESS || (missing = scr_scavenge_inspect(s)) == 0) return rc;
  scr_scavenge_report_alone(s);
  return SCR_ERR(SCR_ERR_LOST,
                 "dataset %d is not whole: files of %d of its %d ranks are missing; what was found is in %s",
                 s->identity.id, missing, s->model->desc.ranks, s->stage);
}

/* ---- a whole stage becomes a dataset of the prefix ---- */

/* Add the files of the application that E lists to the objects, and their final paths to the names. */
SCR_FN int scr_scavenge_add_objects(scr_scavenge* s, const scr_entry* e)
{
  int i = s->objects.n, rc = scr_objects_add_entry(&s->objects, e, s->prefix, s->dir, s->model->preserve);

  for (; i < s->objects.n && rc == SCR_SUCCESS; i++) {
    const char* rel = s->objects.object[i].rel;
    if (scr_hash_get(s->names, rel) != NULL)
      return SCR_ERR(SCR_ERR_FORMAT, "two ranks of dataset %d have the file %s", s->identity.id, rel);
    scr_hash_set(s->names, rel, scr_hash_new());
  }
  return scr_oom ? SCR_ERR_OOM() : rc;
}

/* List what the dataset is made of on the prefix. */
SCR_FN int scr_scavenge_list(scr_scavenge* s)
{
  int rank, rc = SCR_SUCCESS;

  s->objects.id = s->identity.id;
  if ((s->names = scr_hash_new()) == NULL) return SCR_ERR_OOM();
  for (rank = 0; rank < s->model->desc.ranks && rc == SCR_SUCCESS; rank++) {
    scr_entry* e = scr_stage_read(s->stage, rank, &s->identity);
    if (e == NULL) rc = SCR_ERR(SCR_ERR_LOST, "the entry of rank %d cannot be read in %s", rank, s->stage);
    else rc = scr_scavenge_add_objects(s, e);
    scr_entry_free(&e);
  }
  return rc;
}

/* The path in the stage of O. */
SCR_FN int scr_scavenge_path(const scr_scavenge* s, const scr_object* o, char* path, size_t n)
{
  return scr_fmt(path, n, "%s/%s", s->stage, s->model->preserve ? o->rel : o->rel + strlen(s->dir) + 1);
}

/* Copy O from the stage to its temporary places, and compare its checksum. */
SCR_FN int scr_scavenge_copy(const scr_scavenge* s, const scr_object* o)
{
  char           from[SCR_MAX_FILENAME];
  scr_copy_list  copies;
  scr_copy_item* it;
  int            rc = scr_scavenge_path(s, o, from, sizeof from);

  if (rc == SCR_SUCCESS) rc = scr_copy_list_make(&copies, 1, 1 << 20);
  if (rc != SCR_SUCCESS) return rc;
  copies.pace.moved = s->moved;
  it = scr_copy_list_add(&copies, o->mode, 0666, o->mtime);
  rc = scr_extents_whole(&it->from, from, o->size);
  if (rc == SCR_SUCCESS) rc = scr_object_extents(o, s->prefix, s->identity.id, SCR_NAMES_TEMPORARY, &it->to);
  if (rc == SCR_SUCCESS) rc = scr_copy_list_run(&copies, 1);
  if (rc == SCR_SUCCESS) rc = scr_object_has_crc(o, from, it->crc, "it was damaged in the stage of a scavenge");
  scr_copy_list_free(&copies);
  return rc;
}

/*
** Give O its temporary name too, as a link to its file in the stage; where there are no such links, as a copy.  A file
** that has been renamed before has its final name; rename would do nothing with two links to it.
*/
SCR_FN int scr_scavenge_link(const scr_scavenge* s, const scr_object* o)
{
  char        from[SCR_MAX_FILENAME], to[SCR_MAX_FILENAME];
  struct stat a, b;
  int         rc = scr_scavenge_path(s, o, from, sizeof from);

  if (rc == SCR_SUCCESS) rc = scr_object_path(o, s->prefix, s->identity.id, 0, to, sizeof to);
  if (rc == SCR_SUCCESS && scr_os.lstat(from, &a) == 0 && scr_os.lstat(to, &b) == 0 && a.st_dev == b.st_dev &&
      a.st_ino == b.st_ino)
    return SCR_SUCCESS;
  if (rc == SCR_SUCCESS) rc = scr_object_path(o, s->prefix, s->identity.id, 1, to, sizeof to);
  if (rc != SCR_SUCCESS) return rc;
  scr_os.unlink(to); /* what an interrupted attempt has left */
  return scr_os.link(from, to) == 0 ? SCR_SUCCESS : scr_scavenge_copy(s, o);
}

/* Pack all objects into containers, and copy their bytes there. */
SCR_FN int scr_scavenge_pack(scr_scavenge* s)
{
  uint64_t total = 0;
  int      i, rc;

  for (i = 0; i < s->objects.n; i++) total += s->objects.object[i].size;
  rc = scr_objects_pack(&s->objects, s->prefix, s->dir, 0, total, s->container_size, 0);
  for (i = 0; i < s->objects.n && rc == SCR_SUCCESS; i++) rc = scr_scavenge_copy(s, &s->objects.object[i]);
  return rc;
}

/* There is no room for containers beside the stage: take back what was packed, so that the files are linked. */
SCR_FN void scr_scavenge_unpack(scr_scavenge* s)
{
  int i;

  scr_objects_remove_tmp(&s->objects, s->prefix);
  for (i = 0; i < s->objects.n; i++) scr_extents_free(&s->objects.object[i].packed);
  s->say("there is no room for containers beside what was collected; the dataset keeps one file for each of its files");
}

/* Create the directories of the files and of the metadata, with durable names. */
SCR_FN int scr_scavenge_mkdirs(const scr_scavenge* s)
{
  scr_hash *           dirs = scr_hash_new(), *above = scr_hash_new();
  const scr_hash_elem* e;
  char                 meta[SCR_MAX_FILENAME];
  int                  rc = scr_objects_dirs(&s->objects, s->prefix, dirs);

  if (rc == SCR_SUCCESS) rc = scr_fmt(meta, sizeof meta, "%s/%s/.scr", s->prefix, s->dir);
  if (rc == SCR_SUCCESS) scr_hash_setf(dirs, NULL, "%s", meta);
  for (e = scr_hash_elem_first(dirs); e != NULL && rc == SCR_SUCCESS; e = scr_hash_elem_next(e)) {
    rc = scr_mkdirs(scr_hash_elem_key(e), 0777);
    scr_dirs_above(above, s->prefix, scr_hash_elem_key(e));
  }
  if (rc == SCR_SUCCESS) rc = scr_dirs_sync(&above);
  scr_hash_delete(&above);
  scr_hash_delete(&dirs);
  return rc;
}

/* Put the files under their temporary names, durably: in containers, if the run used them, or else linked. */
SCR_FN int scr_scavenge_place(scr_scavenge* s)
{
  int i, packed = s->model->container && s->container_size > 0, rc = scr_scavenge_mkdirs(s);

  if (rc == SCR_SUCCESS && packed && (rc = scr_scavenge_pack(s)) == SCR_ERR_SPACE) {
    scr_scavenge_unpack(s);
    packed = 0;
    rc = SCR_SUCCESS;
  }
  for (i = 0; i < s->objects.n && rc == SCR_SUCCESS && !packed; i++) rc = scr_scavenge_link(s, &s->objects.object[i]);
  return rc == SCR_SUCCESS ? scr_objects_sync(&s->objects, s->prefix) : rc;
}

/* What the search for files that others have at the same paths works on, and its result. */
typedef struct {
  const scr_hash* names;
  int             hit;
} scr_scavenge_search;

SCR_FN int scr_scavenge_see_leaf(const scr_objects* l, void* arg)
{
  scr_scavenge_search* f = (scr_scavenge_search*)arg;
  scr_objects_at       at;

  memset(&at, 0, sizeof at);
  while (!f->hit && scr_objects_walk(l, &at)) f->hit = scr_hash_get(f->names, at.rel) != NULL;
  return SCR_SUCCESS;
}

/*
** If IT, another dataset of the index, has a file where this one is to put its own, add it to the rivals.  A newer one
** that is good keeps its files: SCR_ERR_STATE.
*/
SCR_FN int scr_scavenge_compare(scr_scavenge* s, const scr_index_item* it)
{
  scr_scavenge_search find = {s->names, 0};
  scr_prefix_place    place;
  scr_identity        identity = it->desc.identity;
  int                 ranks, rc = scr_prefix_locate(s->prefix, it->id, it->dir, &place);

  identity.id = it->id;
  if (rc == SCR_SUCCESS) rc = scr_rank2file_walk(s->prefix, &place, &identity, &ranks, scr_scavenge_see_leaf, &find);
  if (rc != SCR_SUCCESS) return scr_err_is_damage(rc) ? SCR_SUCCESS : rc; /* it cannot be fetched anyway */
  if (!find.hit) return SCR_SUCCESS;
  if (it->id >= s->identity.id && !it->failed && !it->passed)
    return SCR_ERR(SCR_ERR_STATE, "dataset %d is not copied to %s: it would replace files of the newer dataset %d",
                   s->identity.id, s->prefix, it->id);
  if (!scr_grow(&s->rival, s->rivals, sizeof *s->rival)) return SCR_ERR_OOM();
  s->rival[s->rivals].id = it->id;
  return scr_fmt(s->rival[s->rivals++].dir, SCR_MAX_FILENAME, "%s", it->dir);
}

/* Find the datasets of the index that lose files to this one. */
SCR_FN int scr_scavenge_find_rivals(scr_scavenge* s)
{
  char           path[SCR_MAX_FILENAME];
  struct stat    st;
  scr_index      index;
  scr_index_item it;
  scr_objects_at at;
  int            there = 0, rc = scr_index_read(&index, s->prefix);

  scr_hash_unset_all(s->names);
  memset(&at, 0, sizeof at);
  while (rc == SCR_SUCCESS && scr_objects_walk(&s->objects, &at)) {
    rc = scr_objects_path(&at, s->prefix, s->identity.id, 0, path, sizeof path);
    if (rc != SCR_SUCCESS || scr_os.lstat(path, &st) < 0) continue;
    scr_hash_set(s->names, at.rel, scr_hash_new());
    there = 1;
    if (S_ISDIR(st.st_mode))
      rc = SCR_ERR(SCR_ERR_PATH, "%s is a directory, and cannot be replaced by a file of dataset %d", path,
                   s->identity.id);
  }
  memset(&it, 0, sizeof it);
  while (rc == SCR_SUCCESS && there && scr_index_walk(&index, &it))
    if (it.complete && !scr_identity_same(&it.desc.identity, &s->identity)) rc = scr_scavenge_compare(s, &it);
  scr_index_close(&index, rc, 0);
  return rc;
}

/* Add the dataset to the index, with what has been decided about it, and remove its rivals, in one update. */
SCR_FN int scr_scavenge_update_index(scr_scavenge* s)
{
  scr_index      index;
  scr_index_item it;
  int            i, id = s->identity.id, rc = scr_index_open(&index, s->prefix);

  for (i = 0; i < s->rivals && rc == SCR_SUCCESS; i++) scr_index_remove(&index, s->rival[i].id, s->rival[i].dir);
  if (rc == SCR_SUCCESS) rc = scr_index_set(&index, &s->model->desc, s->dir);
  if (rc == SCR_SUCCESS && s->mark == SCR_MARK_PASSED) scr_index_note_passed(&index, id, s->dir);
  if (rc == SCR_SUCCESS && s->mark == SCR_MARK_REJECTED) scr_index_note_failed(&index, id, s->dir, s->rejected_by);
  rc = scr_index_close(&index, rc, 1);
  if (scr_index_read(&index, s->prefix) == SCR_SUCCESS) /* the rename may have happened although its sync failed */
    s->committed = scr_index_same(&index, &s->identity, &it);
  scr_index_close(&index, SCR_SUCCESS, 0);
  return rc;
}

/* The commit has failed: remove the temporary files and, unless the index has the dataset, its metadata. */
SCR_FN void scr_scavenge_undo(const scr_scavenge* s)
{
  char           meta[SCR_MAX_FILENAME];
  scr_index      index;
  scr_index_item it;
  scr_err_record why;

  scr_err_save(&why);
  scr_objects_remove_tmp(&s->objects, s->prefix);
  if (scr_index_read(&index, s->prefix) == SCR_SUCCESS && *s->dir &&
      !scr_index_get(&index, s->identity.id, s->dir, &it) &&
      scr_fmt(meta, sizeof meta, "%s/.scr", s->dir) == SCR_SUCCESS)
    scr_prefix_remove_meta(s->prefix, meta, "");
  scr_index_close(&index, SCR_SUCCESS, 0);
  scr_err_restore(&why);
}

/*
** The stage has all files: place them, write the map, the summary and the index, and rename the files, in the order of
** a flush.  Until the index has the dataset, a crash leaves temporary files and the stage; after it, any run or command
** finishes the renames.
*/
SCR_FN int scr_scavenge_commit(scr_scavenge* s)
{
  char      path[SCR_MAX_FILENAME];
  scr_desc* desc = &s->model->desc;
  int       i, rc = scr_prefix_choose_dir(s->prefix, desc, s->model->preserve, NULL, s->dir, sizeof s->dir);

  if (rc == SCR_SUCCESS) rc = scr_fmt(path, sizeof path, "%s/.scr", s->dir);
  if (rc == SCR_SUCCESS) scr_prefix_remove_meta(s->prefix, path, ".tmp"); /* of an attempt that was killed */
  if (rc == SCR_SUCCESS) rc = scr_scavenge_list(s);
  if (rc == SCR_SUCCESS) rc = scr_scavenge_place(s);
  if (rc == SCR_SUCCESS) rc = scr_scavenge_find_rivals(s);
  if (rc == SCR_SUCCESS) rc = scr_make_map(&s->objects, s->prefix, s->dir, &s->identity, s->map_size);
  if (rc == SCR_SUCCESS) rc = scr_summary_path(s->prefix, s->dir, path);
  if (rc == SCR_SUCCESS) rc = scr_summary_write(path, desc);
  if (rc == SCR_SUCCESS) rc = scr_scavenge_update_index(s);
  if (!s->committed) scr_scavenge_undo(s);
  if (rc != SCR_SUCCESS) return rc;
  rc = scr_prefix_finish_renames(s->prefix, s->identity.id, s->dir);
  if (rc == SCR_SUCCESS) rc = scr_index_change(s->prefix, scr_index_note_renamed, s->identity.id, s->dir);
  for (i = 0; i < s->rivals && rc == SCR_SUCCESS; i++)
    if (strcmp(s->rival[i].dir, s->dir) != 0) scr_prefix_forget(s->prefix, s->rival[i].id, s->rival[i].dir);
  return rc;
}

/* Record in the flush file that the dataset is on the prefix, in DIR. */
SCR_FN int scr_scavenge_note(const scr_scavenge* s)
{
  scr_record     file;
  scr_flush_note note;
  int            known = 0, rc = scr_flush_file_open(&file, s->prefix);

  if (rc == SCR_SUCCESS && scr_flush_file_get(&file, s->identity.id, &note) &&
      !scr_identity_differs(&note.identity, &s->identity)) {
    known = 1;
    note.location = (note.location & SCR_LOCATION_CACHE) | SCR_LOCATION_PREFIX;
    snprintf(note.dir, sizeof note.dir, "%s", s->dir);
    scr_flush_file_put(&file, &note);
  }
  return scr_record_close(&file, rc, known);
}

/* Returns 1 if the index has the dataset of S, complete and with all files renamed, and sets s->dir. */
SCR_FN int scr_scavenge_is_indexed(scr_scavenge* s)
{
  scr_index      index;
  scr_index_item it;
  int            is = scr_index_read(&index, s->prefix) == SCR_SUCCESS && scr_index_same(&index, &s->identity, &it) &&
           it.complete && !it.renaming;

  if (is) snprintf(s->dir, sizeof s->dir, "%s", it.dir);
  scr_index_close(&index, SCR_SUCCESS, 0);
  return is;
}

/*
** Make the stage of S a dataset of the prefix, if all its files are there or can be rebuilt.  The caller holds the lock
** of the prefix.  SCR_ERR_LOST, after a report by s->say, if files are missing; SCR_ERR_STATE if a newer dataset has
** the places of its files.  After an error, or a crash at any moment, another call goes on from what the stage has.
*/
SCR_FN int scr_scavenge_finish(scr_scavenge* s)
{
  int rc = SCR_SUCCESS;

  if (scr_prefix_finish_all(s->prefix) != SCR_SUCCESS) scr_warn("%s", scr_err_text);
  if (!scr_scavenge_is_indexed(s)) {
    rc = scr_scavenge_begin(s);
    if (rc == SCR_SUCCESS) rc = scr_scavenge_rebuild(s);
    if (rc == SCR_SUCCESS) rc = scr_scavenge_commit(s);
  } else {
    rc = scr_stage_path(s->prefix, &s->identity, s->stage, sizeof s->stage);
  }
  if (rc == SCR_SUCCESS && scr_scavenge_note(s) != SCR_SUCCESS) scr_warn("%s", scr_err_text); /* the index tells too */
  if (rc == SCR_SUCCESS || rc == SCR_ERR_STATE) scr_tree_remove(s->stage);
  return rc;
}

#endif /* SCR_SERIAL: part 15 */

#ifndef SCR_SERIAL /* the only fence: everything above builds without MPI */

/* ==== 16 MPI HELPERS ====================================================================================
** Waits that yield the processor, agreement between ranks, exchange of hashes, sorting of strings over ranks, and flow
** control.
**
** Uses       errors, memory, hash, kernels
** Offers     scr_vote; scr_wait_idle, scr_waitall, scr_wait_for, scr_barrier, scr_bcast, scr_vote_start,
**            scr_vote_stop, scr_vote_all, scr_agree, scr_hash_to_buf, scr_hash_from_buf, scr_message_recv,
**            scr_hash_sendrecv, scr_hash_send, scr_hash_recv, scr_hash_bcast, scr_hash_exchange,
**            scr_hash_exchange_merged, scr_hash_spread, scr_scan, scr_rank_str, scr_int_send, scr_int_recv, scr_flow
** Invariants
**   N1  Every wait goes through scr_wait_for, or a similar loop over a probe, which yields the processor when nothing
**       has arrived.
**   N2  No rank needs memory in proportion to the number of ranks.
**   N3  A vote returns the same code on every rank, unless MPI itself failed; what moves data returns each rank's own.
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

/* Count one more turn of a wait without progress, and yield the processor if there were many. */
SCR_FN void scr_wait_idle(int* turns)
{
  if (++*turns >= SCR_WAIT_SPINS) sched_yield();
}

/* Set *DONE to 1 if all N requests are complete; they are then MPI_REQUEST_NULL. */
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

SCR_FN int scr_wait_for(MPI_Request* req)
{
  return scr_waitall(1, req);
}

SCR_FN int scr_barrier(MPI_Comm comm)
{
  MPI_Request req;
  if (MPI_Ibarrier(comm, &req) != MPI_SUCCESS) return SCR_ERR(SCR_ERR_MPI, "the barrier failed");
  return scr_wait_for(&req);
}

SCR_FN int scr_allreduce(const void* in, void* out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
  MPI_Request req;
  if (MPI_Iallreduce(in, out, n, type, op, comm, &req) != MPI_SUCCESS)
    return SCR_ERR(SCR_ERR_MPI, "the reduction failed");
  return scr_wait_for(&req);
}

SCR_FN int scr_bcast(void* buf, int n, MPI_Datatype type, int root, MPI_Comm comm)
{
  MPI_Request req;
  if (MPI_Ibcast(buf, n, type, root, comm, &req) != MPI_SUCCESS) return SCR_ERR(SCR_ERR_MPI, "the broadcast failed");
  return scr_wait_for(&req);
}

/* ---- agreement: one reduction carries an error and a few maxima and sums ---- */

#define SCR_VOTE_SLOTS 5

typedef struct {
  int64_t error;               /* 0, or: firsthand bit, then larger for lower ranks, code in the low 16 bits */
  int64_t key[3];              /* result: the greatest key, in lexicographic order */
  int64_t max[SCR_VOTE_SLOTS]; /* results: maxima; for a minimum, vote the negative */
  int64_t sum[SCR_VOTE_SLOTS];
} scr_vote;

#define SCR_VOTE_WORDS (4 + 2 * SCR_VOTE_SLOTS)

static MPI_Datatype scr_vote_type = MPI_DATATYPE_NULL;
static MPI_Op       scr_vote_op = MPI_OP_NULL;
static int          scr_exchange_odd = 0; /* which of two tags the next exchange uses */

/* -1, 0 or 1 if key A is less than, equal to or greater than key B. */
SCR_FN int scr_key_cmp(const int64_t* a, const int64_t* b)
{
  int k;
  for (k = 0; k < 3; k++)
    if (a[k] != b[k]) return a[k] < b[k] ? -1 : 1;
  return 0;
}

SCR_FN void scr_vote_reduce(void* in, void* inout, int* n, MPI_Datatype* type)
{
  int i, k;

  (void)type;
  for (i = 0; i < *n; i++) {
    const scr_vote* a = (const scr_vote*)in + i;
    scr_vote*       b = (scr_vote*)inout + i;
    if (a->error > b->error) b->error = a->error;
    if (scr_key_cmp(a->key, b->key) > 0) memcpy(b->key, a->key, sizeof b->key);
    for (k = 0; k < SCR_VOTE_SLOTS; k++) {
      if (a->max[k] > b->max[k]) b->max[k] = a->max[k];
      b->sum[k] += a->sum[k];
    }
  }
}

/* Create the type and the operation of votes; scr_vote_stop frees them. */
SCR_FN int scr_vote_start(void)
{
  if (scr_vote_op != MPI_OP_NULL) return SCR_SUCCESS;
  scr_exchange_odd = 0; /* the same on all ranks of a new world, whatever ran before */
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
** Combine the votes of all ranks: on return V holds the maxima and sums on every rank.  Returns the error of the lowest
** rank that brought one in RC; an error that a rank found itself takes precedence over one that it heard of.  Every
** rank then has the message of that rank.  Collective over COMM.
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
  scr_err_restore(&first);
  if (!first.named) {
    size_t head = (size_t)snprintf(scr_err_text, 32, "rank %d: ", origin), n = strlen(first.text);
    if (n > sizeof scr_err_text - 1 - head) n = sizeof scr_err_text - 1 - head;
    memcpy(scr_err_text + head, first.text, n);
    scr_err_text[head + n] = '\0';
    scr_err_length = (int)head + first.length;
  }
  scr_err_named = scr_err_secondhand = 1;
  return worst;
}

/* Returns the error of the lowest rank that brings one in RC, the same on every rank.  Collective over COMM. */
SCR_FN int scr_agree(int rc, MPI_Comm comm)
{
  scr_vote v;
  memset(&v, 0, sizeof v);
  return scr_vote_all(&v, rc, comm);
}

/* ---- hashes between ranks ---- */

/* Pack H into B for a message; the caller frees B. */
SCR_FN int scr_hash_to_buf(const scr_hash* h, scr_buf* b)
{
  size_t n = scr_hash_pack_size(h);

  if (n > INT_MAX) return SCR_ERR(SCR_ERR_ARG, "a message of %zu bytes between ranks is too large", n);
  scr_buf_add(b, NULL, n);
  if (b->failed || scr_oom) return SCR_ERR_OOM();
  scr_hash_pack(b->p, h);
  return SCR_SUCCESS;
}

/* Unpack the message B into H.  It is empty if its sender could not pack it: that one reports why. */
SCR_FN int scr_hash_from_buf(const scr_buf* b, scr_hash* h)
{
  size_t used;
  int    rc;

  if (b->n > 0) return scr_hash_unpack(b->p, b->n, &used, h);
  rc = SCR_ERR(SCR_ERR_MEM, "another rank has no memory for its message");
  scr_err_secondhand = 1;
  return rc;
}

/* Receive into B the message that a probe has matched. */
SCR_FN int scr_message_receive(MPI_Message* msg, MPI_Status* status, scr_buf* b)
{
  MPI_Request req;
  void*       drop;
  int         n = 0;

  MPI_Get_count(status, MPI_BYTE, &n);
  scr_buf_add(b, NULL, (size_t)n);
  if (b->failed) { /* receive it all the same: the sender waits, and MPICH would abort on a truncated message */
    drop = n > 0 ? mmap(NULL, (size_t)n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) : MAP_FAILED;
    if (MPI_Imrecv(drop != MAP_FAILED ? drop : NULL, drop != MAP_FAILED ? n : 0, MPI_BYTE, msg, &req) == MPI_SUCCESS)
      scr_wait_for(&req);
    if (drop != MAP_FAILED) munmap(drop, (size_t)n);
    return SCR_ERR_OOM();
  }
  if (MPI_Imrecv(b->p, n, MPI_BYTE, msg, &req) != MPI_SUCCESS) return SCR_ERR(SCR_ERR_MPI, "cannot receive a message");
  return scr_wait_for(&req);
}

/* Wait for a message and receive it.  SOURCE may be MPI_ANY_SOURCE; *FROM, unless FROM is NULL, receives the sender. */
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
  return scr_message_receive(&msg, &status, b);
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
  err = scr_wait_for(&req);
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

/*
** Send the hash H of ROOT to all other ranks, which merge it into their own H, if all have memory for the message.
** Collective over COMM.
*/
SCR_FN int scr_hash_bcast(scr_hash* h, int root, MPI_Comm comm)
{
  scr_buf b = {NULL, 0, 0, 0};
  int     rank, err, n, rc = SCR_SUCCESS;

  MPI_Comm_rank(comm, &rank);
  if (rank == root) rc = scr_hash_to_buf(h, &b);
  n = (int)b.n;
  if ((err = scr_bcast(&n, 1, MPI_INT, root, comm)) != SCR_SUCCESS) rc = err;
  if (rc == SCR_SUCCESS && rank != root) scr_buf_add(&b, NULL, (size_t)n);
  if (b.failed) rc = SCR_ERR_OOM();
  if ((rc = scr_agree(rc, comm)) == SCR_SUCCESS) rc = scr_bcast(b.p, n, MPI_BYTE, root, comm);
  if (rc == SCR_SUCCESS && rank != root) rc = scr_hash_from_buf(&b, h);
  scr_buf_free(&b);
  return rc;
}

/*
** Send each hash in SEND, <rank> -> hash, to its rank.  RECV, initially empty, receives <rank> -> hash from each
** sender, in ascending order of ranks.  Collective over COMM.
**
** The memory does not grow with the number of ranks: sends are synchronous, and a rank enters a nonblocking barrier
** when all its sends have been received (Hoefler, Siebert, Lumsdaine: Scalable Communication Protocols for Dynamic
** Sparse Data Exchange, PPoPP 2010).  Two tags alternate, because a fast rank may start the next exchange before a slow
** one has seen the end of this one; it cannot be two ahead.
*/
SCR_FN int scr_hash_exchange(const scr_hash* send, scr_hash* recv, MPI_Comm comm)
{
  int            tag = scr_exchange_odd ? SCR_TAG_EXCHANGE_ODD : SCR_TAG_EXCHANGE;
  int            n = 0, i, rc = SCR_SUCCESS, turns = 0, sent = 0, over = 0;
  scr_buf*       out = (scr_buf*)scr_malloc((size_t)scr_hash_size(send) * sizeof *out);
  MPI_Request*   reqs = (MPI_Request*)scr_malloc((size_t)scr_hash_size(send) * sizeof *reqs);
  MPI_Request    barrier = MPI_REQUEST_NULL;
  scr_hash_elem* e;

  scr_exchange_odd = !scr_exchange_odd;
  if (out == NULL || reqs == NULL) rc = SCR_ERR_OOM();
  for (e = rc == SCR_SUCCESS ? scr_hash_elem_first(send) : NULL; e != NULL; e = scr_hash_elem_next(e), n++) {
    int to = atoi(scr_hash_elem_key(e)), err = scr_hash_to_buf(scr_hash_elem_hash(e), &out[n]);
    if (rc == SCR_SUCCESS) rc = err;
    if (MPI_Issend(out[n].p, err == SCR_SUCCESS ? (int)out[n].n : 0, MPI_BYTE, to, tag, comm, &reqs[n]) != MPI_SUCCESS)
      rc = SCR_ERR(SCR_ERR_MPI, "cannot send a message to rank %d", to);
  }
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
      int     err = scr_message_receive(&msg, &status, &in);
      if (err == SCR_SUCCESS) err = scr_hash_from_buf(&in, scr_hash_setf(recv, NULL, "%d", status.MPI_SOURCE));
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
  scr_hash_sort_int(recv, SCR_HASH_SORT_ASCENDING);
  for (i = 0; out != NULL && i < n; i++) scr_buf_free(&out[i]);
  scr_free(&out);
  scr_free(&reqs);
  return rc;
}

/* The same, with what all ranks have sent to this one merged into ALL.  Collective over COMM. */
SCR_FN int scr_hash_exchange_merged(const scr_hash* send, scr_hash* all, MPI_Comm comm)
{
  scr_hash*      recv = scr_hash_new();
  scr_hash_elem* e;
  int            rc = scr_hash_exchange(send, recv, comm);

  for (e = scr_hash_elem_first(recv); e != NULL; e = scr_hash_elem_next(e)) scr_hash_merge(all, scr_hash_elem_hash(e));
  scr_hash_delete(&recv);
  return rc;
}

/*
** Add PATH, under the key KIND, to SEND for an exchange.  All ranks choose the same rank of COMM for the same PATH,
** which can then compare what the ranks sent.
*/
SCR_FN void scr_hash_spread(scr_hash* send, const char* path, const char* kind, MPI_Comm comm)
{
  uLong crc = scr_crc32(SCR_CRC32_START, path, strlen(path));
  int   size;

  MPI_Comm_size(comm, &size);
  scr_hash_setf(send, NULL, "%d %s %s", (int)(crc % (uLong)size), kind, path);
}

/* ---- strings over ranks ---- */

enum { SCR_SCAN_UP = 1, SCR_SCAN_DOWN = -1 };

/*
** Inclusive prefix operation over the ranks from 0 to this one (UP) or from the last to this one (DOWN), in place: the
** sum of SUM and the maximum of MAX. log2(size) messages.  Collective over COMM. (Hillis, Steele: Data Parallel
** Algorithms, CACM 1986.)
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
      for (k = 0; k < SCR_VOTE_SLOTS; k++) {
        v->sum[k] += in.sum[k];
        if (in.max[k] > v->max[k]) v->max[k] = in.max[k];
      }
    }
  }
  return rc;
}

/* Set *NEXT to the first rank above this one whose FLAG is not 0, or to the number of ranks.  Collective over COMM. */
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

/* A string during the sort: the rank that it belongs to, then its bytes with the NUL. */
typedef struct {
  int  rank;
  char text[4];
} scr_rank_item;

#define SCR_RANK_SHORT 512 /* items of up to this many bytes need no allocation */

SCR_FN int scr_rank_cmp(const scr_rank_item* a, const scr_rank_item* b)
{
  int c = strcmp(a->text, b->text);
  return c != 0 ? c : (a->rank > b->rank) - (a->rank < b->rank);
}

/*
** Sort one item per rank over COMM, the smallest to rank 0, by Batcher's odd-even merge sort in log2(size)^2 / 2
** exchanges.  The number of ranks need not be a power of two, because every comparison puts the smaller item on the
** lower rank.  Each buffer has BYTES bytes; returns the one that holds this rank's item at the end.  Collective over
** COMM.
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

      /* This rank is the low end of a comparison with rank + k, the high end of one with rank - k, or neither. */
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
** GROUPS receives the number of distinct strings, GROUP_ID the number of this rank's string, from 0 in the order of the
** strings, GROUP_RANK the position of this rank among those with the same string, in the order of COMM, GROUP_SIZE
** their number, and LEADER the rank in COMM of the first of them.  The strings are sorted over the ranks
** (scr_rank_sort), prefix operations find where equal strings begin and end, and each rank then sends the result to the
** owner of the item that it holds.
*/
SCR_FN int scr_rank_str(MPI_Comm comm, const char* str, int* groups, int* group_id, int* group_rank, int* group_size,
                        int* leader)
{
  int            rank, size, n = (int)strlen(str) + 1, longest = 0, bytes, first, next = 0, rc, err;
  int            answer[5], got[5];
  int64_t        few[2][SCR_RANK_SHORT / 8]; /* short strings need no allocation, which might fail on some rank */
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

  /* Compare with the left neighbour's item: is this the first item with its string? */
  if (rank > 0) MPI_Irecv(other, bytes, MPI_BYTE, rank - 1, SCR_TAG_SORT, comm, &reqs[0]);
  if (rank < size - 1) MPI_Isend(item, bytes, MPI_BYTE, rank + 1, SCR_TAG_SORT, comm, &reqs[1]);
  if ((err = scr_waitall(2, reqs)) != SCR_SUCCESS) rc = err;
  first = rank == 0 || strcmp(item->text, other->text) != 0;

  /* From the left: position and owner of the first item with this string.  From the right: where it ends. */
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

/* Send or receive one int. */
SCR_FN int scr_int_send(int value, int rank, int tag, MPI_Comm comm)
{
  MPI_Request req;
  MPI_Isend(&value, 1, MPI_INT, rank, tag, comm, &req);
  return scr_wait_for(&req);
}

SCR_FN int scr_int_recv(int* value, int rank, int tag, MPI_Comm comm)
{
  MPI_Request req;
  MPI_Irecv(value, 1, MPI_INT, rank, tag, comm, &req);
  return scr_wait_for(&req);
}

/*
** Call WORK(ARG) on every rank, on at most WIDTH ranks at a time.  Neighbours take turns, in at most WIDTH rows: a rank
** works when the one before it in its row has ended, and not at all if that one has failed or has not worked either.
** Returns this rank's result, on which the caller agrees.  Collective over COMM.
*/
SCR_FN int scr_flow(int width, int (*work)(void* arg), void* arg, MPI_Comm comm)
{
  int rank, size, row, ok = 1, rc = SCR_SUCCESS;

  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  row = (size - 1) / width + 1;
  if (rank % row > 0) rc = scr_int_recv(&ok, rank - 1, SCR_TAG_FLOW, comm);
  if (rc == SCR_SUCCESS) rc = ok ? work(arg) : SCR_ERR(SCR_ERR_IO, "not tried, because another rank has failed");
  if (rank % row < row - 1 && rank + 1 < size) scr_int_send(rc == SCR_SUCCESS, rank + 1, SCR_TAG_FLOW, comm);
  return rc;
}

/* ==== 17 WORLD: GROUPS, STORES, SETS, DIRECTORIES =========================================================
** Which ranks fail together, where datasets are stored, and how they are protected.
**
** Uses       platform, errors, memory, path, hash, hash files, parameters, dataset, file window, MPI helpers
** Offers     scr_groupdesc, scr_storedesc, scr_world; scr_groupdescs_from_name, scr_world_on_node,
**            scr_storedescs_from_name, scr_reddesc_partner, scr_reddesc_for_dataset, scr_world_free,
**            scr_world_job_key, scr_world_create
** Invariants
**   L1  When a redundancy set is formed, no two of its members are in the same failure group.
**   L2  Every directory that the library makes below a base satisfies D5.
**   L3  While a run lives it holds a lock in its control directory and in its directory of each store, and both
**       record the prefix, by its path and its identity.  So two runs never share a directory, whichever bases they
**       have in common.  Stores with MKDIR=0 have no directory of their own, and are excepted.
**   L4  A stored descriptor is enough to find a dataset again, whatever the parameters are now.
** Failure    An error code, agreed on over the world; no lock is held.
** ====================================================================================================== */

/* The groups that every world has, by their index in its list. */
enum { SCR_GROUP_NODE, SCR_GROUP_WORLD };

/* A partition of the world into groups, with a name: NODE, WORLD, or one from the GROUPS lines. */
typedef struct {
  char* name;
  int   rank, ranks; /* of this rank's group: its rank there, and the size */
  int   leader;      /* world rank of its first member */
  int   groups;      /* how many groups the world is split into */
} scr_groupdesc;

/* A store.  The directory of a dataset in it is DIR/scr.dataset.<id>. */
typedef struct {
  int   enabled;
  char* name;      /* base directory, the value of the STORE line */
  int   max_count; /* datasets to keep */
  int   can_mkdir;
  int   global;  /* VIEW=GLOBAL: several nodes see the same base */
  int   threads; /* threads of a rank that copy files to and from the prefix */
  char* group;
  char* dir; /* <base>/<user>/scr.<job>, with node.<host> if several nodes see the base */
} scr_storedesc;

typedef struct {
  MPI_Comm  comm;
  int       rank, ranks;
  scr_home  home;
  char      job_key[SCR_JOB_KEY_MAX]; /* tells this job from others, see scr_world_job_key */
  char      prefix[SCR_MAX_FILENAME];
  char      prefix_id[24]; /* identity of the prefix directory: another one at the same path differs; "": unknown */
  int       told_remade;   /* 1: a message has told that an earlier prefix of this path has left a cache */
  int       prefix_adopts; /* 1: the identity is new, but the prefix is not: its directories are told by the path */
  scr_hash* params;
  scr_groupdesc* group;
  int            ngroups;
  int*           node; /* world ranks on this node */
  scr_storedesc* store;
  int            nstores;
  scr_reddesc*   red;
  int            nreds;
  char           cntl[SCR_MAX_FILENAME]; /* control directory */
  int*           lock;                   /* descriptors that hold the locks of L3, on the first rank of a node */
  int            nlocks;
} scr_world;

/* ---- groups ---- */

SCR_FN const scr_groupdesc* scr_groupdescs_from_name(const scr_world* w, const char* name)
{
  int i;
  for (i = 0; i < w->ngroups; i++)
    if (strcmp(w->group[i].name, name) == 0) return &w->group[i];
  return NULL;
}

/* Add the group NAME, which ranks with equal VALUE form.  Collective over the world. */
SCR_FN int scr_groupdesc_create(scr_world* w, const char* name, const char* value)
{
  scr_groupdesc* g = &w->group[w->ngroups];
  int            id;

  g->name = scr_strdup(name);
  w->ngroups++;
  return scr_rank_str(w->comm, value, &g->groups, &id, &g->rank, &g->ranks, &g->leader);
}

/*
** Set *MEMBER to the world ranks of a small group, by their rank in it; the leader collects and sends them.  RC is this
** rank's result so far: if it is an error on some rank, nothing is sent.  Collective over the world.
*/
SCR_FN int scr_group_members(const scr_world* w, int rc, int leader, int my_rank, int ranks, int** member)
{
  int         i, me[2];
  MPI_Request req;

  me[0] = my_rank;
  me[1] = w->rank;
  *member = rc == SCR_SUCCESS ? (int*)scr_malloc((size_t)ranks * sizeof **member) : NULL;
  if (rc == SCR_SUCCESS && *member == NULL) rc = SCR_ERR_OOM();
  if ((rc = scr_agree(rc, w->comm)) != SCR_SUCCESS) return rc;
  if (w->rank != leader) {
    MPI_Isend(me, 2, MPI_INT, leader, SCR_TAG_GROUP, w->comm, &req);
    rc = scr_wait_for(&req);
    MPI_Irecv(*member, ranks, MPI_INT, leader, SCR_TAG_GROUP, w->comm, &req);
    return rc == SCR_SUCCESS ? scr_wait_for(&req) : rc;
  }
  (*member)[my_rank] = w->rank;
  for (i = 1; i < ranks && rc == SCR_SUCCESS; i++) {
    MPI_Irecv(me, 2, MPI_INT, MPI_ANY_SOURCE, SCR_TAG_GROUP, w->comm, &req);
    rc = scr_wait_for(&req);
    if (rc == SCR_SUCCESS && me[0] > 0 && me[0] < ranks) (*member)[me[0]] = me[1];
  }
  for (i = 1; i < ranks && rc == SCR_SUCCESS; i++) {
    MPI_Isend(*member, ranks, MPI_INT, (*member)[i], SCR_TAG_GROUP, w->comm, &req);
    rc = scr_wait_for(&req);
  }
  return rc;
}

/* Returns 1 if world rank RANK runs on this node, and so shares the dataset directories. */
SCR_FN int scr_world_on_node(const scr_world* w, int rank)
{
  int i;
  for (i = 0; i < w->group[SCR_GROUP_NODE].ranks; i++)
    if (w->node[i] == rank) return 1;
  return 0;
}

/*
** Create NODE, WORLD, and one group for each name that the GROUPS lines of all hosts have.  Collective over the world;
** returns this rank's code, unless that is an error on all.
*/
SCR_FN int scr_groupdescs_create(scr_world* w)
{
  const scr_hash* lines = scr_param_get_hash(w->params, "GROUPS");
  const scr_hash* mine = scr_hash_get(lines, w->home.host);
  scr_hash*       names = scr_hash_new();
  scr_hash_elem * e, *c;
  int             rc, err;

  for (e = scr_hash_elem_first(lines); e != NULL; e = scr_hash_elem_next(e))
    for (c = scr_hash_elem_first(scr_hash_elem_hash(e)); c != NULL; c = scr_hash_elem_next(c))
      scr_hash_set_kv(names, "NAME", scr_hash_elem_key(c));
  w->group = (scr_groupdesc*)scr_malloc((size_t)(scr_hash_size(scr_hash_get(names, "NAME")) + 2) * sizeof *w->group);
  if ((rc = scr_agree(w->group == NULL ? SCR_ERR_OOM() : SCR_SUCCESS, w->comm)) != SCR_SUCCESS) goto out;
  rc = scr_groupdesc_create(w, "NODE", w->home.host);
  w->group[SCR_GROUP_WORLD] = w->group[SCR_GROUP_NODE]; /* WORLD needs no communication */
  w->group[SCR_GROUP_WORLD].name = scr_strdup("WORLD");
  w->group[SCR_GROUP_WORLD].rank = w->rank;
  w->group[SCR_GROUP_WORLD].ranks = w->ranks;
  w->group[SCR_GROUP_WORLD].leader = 0;
  w->group[SCR_GROUP_WORLD].groups = 1;
  w->ngroups = 2;
  rc = scr_group_members(w, rc, w->group[SCR_GROUP_NODE].leader, w->group[SCR_GROUP_NODE].rank,
                         w->group[SCR_GROUP_NODE].ranks, &w->node);
  for (e = scr_hash_elem_first(scr_hash_get(names, "NAME")); e != NULL; e = scr_hash_elem_next(e)) {
    const char* name = scr_hash_elem_key(e);
    const char* value = scr_hash_elem_get_first_val(mine, name);
    scr_vote    v;
    memset(&v, 0, sizeof v);
    v.sum[0] = value == NULL;
    if ((err = scr_vote_all(&v, rc, w->comm)) != SCR_SUCCESS) {
      rc = err;
      goto out;
    }
    if (v.sum[0] > 0)
      scr_dbg(1, "the group %s is not created: %lld ranks run on hosts whose GROUPS line does not name it", name,
              (long long)v.sum[0]);
    else if (scr_groupdescs_from_name(w, name) == NULL) rc = scr_groupdesc_create(w, name, value);
  }
out:
  scr_hash_delete(&names);
  return rc;
}

/* ---- stores ---- */

SCR_FN const scr_storedesc* scr_storedescs_from_name(const scr_world* w, const char* name)
{
  int i;
  for (i = 0; i < w->nstores; i++)
    if (strcmp(w->store[i].name, name) == 0) return &w->store[i];
  return NULL;
}

/* The number of threads that copy files of the store NAME, from its transfer TYPE; warns about vendors' types. */
SCR_FN int scr_storedesc_threads(const char* name, const char* type)
{
  int vendor = strcasecmp(type, "BBAPI") == 0 || strcasecmp(type, "DW") == 0;

  if (vendor && scr_msg_rank <= 0)
    scr_warn("STORE=%s TYPE=%s needs a service of the vendor, which this library does not use: PTHREAD is used instead",
             name, type);
  return vendor || strcasecmp(type, "PTHREAD") == 0 ? SCR_COPY_THREADS : 1;
}

/* Add the store NAME with the properties in LINE. */
SCR_FN int scr_storedesc_create(scr_world* w, const char* name, const scr_hash* line)
{
  scr_storedesc* s = &w->store[w->nstores];
  int            count = 1, world, rc;

  if ((rc = scr_param_int(w->params, "SCR_CACHE_SIZE", &count)) != SCR_SUCCESS) return rc;
  s->enabled = scr_hash_int_or(line, "ENABLED", 1);
  s->max_count = scr_hash_int_or(line, "COUNT", count);
  s->can_mkdir = scr_hash_int_or(line, "MKDIR", 1);
  s->group = scr_strdup(scr_hash_str_or(line, "GROUP", "NODE"));
  world = s->group != NULL && strcmp(s->group, "WORLD") == 0; /* all ranks share its space, so all nodes see it */
  s->global = strcasecmp(scr_hash_str_or(line, "VIEW", world ? "GLOBAL" : "PRIVATE"), "GLOBAL") == 0;
  s->threads = scr_storedesc_threads(name, scr_hash_str_or(line, "TYPE", "SYNC"));
  s->name = scr_strdup(name);
  w->nstores++;
  if (scr_oom) return SCR_ERR_OOM();
  if (scr_groupdescs_from_name(w, s->group) == NULL)
    return SCR_ERR(SCR_ERR_PARAM,
                   "STORE=%s names the group %s, which does not exist; there are NODE, WORLD and those of "
                   "the GROUPS lines that name each host",
                   name, s->group);
  return name[0] == '/' ? SCR_SUCCESS : SCR_ERR(SCR_ERR_PARAM, "the store %s is not an absolute path", name);
}

/* Add a store for each STORE line, and one for SCR_CACHE_BASE if no line names it. */
SCR_FN int scr_storedescs_create(scr_world* w)
{
  const scr_hash* lines = scr_param_get_hash(w->params, "STORE");
  const char*     base = scr_param_get(w->params, "SCR_CACHE_BASE");
  scr_hash_elem*  e;
  char            name[SCR_MAX_FILENAME];
  int             rc;

  w->store = (scr_storedesc*)scr_malloc((size_t)(scr_hash_size(lines) + 1) * sizeof *w->store);
  if (w->store == NULL) return SCR_ERR_OOM();
  for (e = scr_hash_elem_first(lines); e != NULL; e = scr_hash_elem_next(e)) {
    if ((rc = scr_path_reduce_str(scr_hash_elem_key(e), name, sizeof name)) != SCR_SUCCESS) return rc;
    if ((rc = scr_storedesc_create(w, name, scr_hash_elem_hash(e))) != SCR_SUCCESS) return rc;
  }
  if ((rc = scr_path_reduce_str(base, name, sizeof name)) != SCR_SUCCESS) return rc;
  if (scr_storedescs_from_name(w, name) == NULL) return scr_storedesc_create(w, name, NULL);
  return SCR_SUCCESS;
}

/* Set the directory of each store, now that the suffix is known, and create it on this node. */
SCR_FN int scr_storedescs_place(scr_world* w)
{
  char rel[SCR_MAX_FILENAME];
  int  i, rc;

  for (i = 0; i < w->nstores; i++) {
    scr_storedesc* s = &w->store[i];
    if ((rc = scr_home_below(&w->home, s->global, w->home.suffix, rel, sizeof rel)) != SCR_SUCCESS) return rc;
    if ((s->dir = scr_strdupf("%s/%s", s->name, rel)) == NULL) return SCR_ERR_OOM();
    if (s->enabled && s->can_mkdir && (rc = scr_private_mkdir(s->name, rel)) != SCR_SUCCESS) return rc;
  }
  return SCR_SUCCESS;
}

/* ---- the directories that a run holds ---- */

#define SCR_BUSY_SECONDS 10 /* how long to wait for a lock that a killed run's processes may still hold */

/* To whom a directory belongs: OURS records our prefix, FREE none, OTHER another; HELD: OURS or FREE, but locked. */
typedef enum { SCR_DIR_OURS, SCR_DIR_FREE, SCR_DIR_OTHER, SCR_DIR_HELD } scr_dir_state;

SCR_FN void scr_dirs_release(scr_world* w)
{
  while (w->nlocks > 0) scr_os.close(w->lock[--w->nlocks]);
}

/* Returns 1 if FD is a file that this process holds already: the control directory may lie in a store. */
SCR_FN int scr_dir_is_held(const scr_world* w, int fd)
{
  struct stat a, b;
  int         i;

  for (i = 0; i < w->nlocks; i++)
    if (fstat(fd, &a) == 0 && fstat(w->lock[i], &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino) return 1;
  return 0;
}

/*
** Lock DIR.  *HELD is 1 if another run has the lock; otherwise w->lock has its descriptor.  A file system that has
** become read-only can still be read, so the lock is then taken on the existing lock file.
*/
SCR_FN int scr_dir_lock(scr_world* w, const char* dir, int* held)
{
  char lock[SCR_MAX_FILENAME];
  int  fd, rc = scr_fmt(lock, sizeof lock, "%s/run.lock", dir);

  *held = 0;
  if (rc != SCR_SUCCESS || (rc = scr_lock_open(lock, &fd)) != SCR_SUCCESS) return rc;
  if (scr_dir_is_held(w, fd)) {
    scr_os.close(fd);
    return SCR_SUCCESS;
  }
  rc = scr_lock_take(fd, lock, 0);
  *held = rc == SCR_ERR_BUSY;
  if (rc == SCR_SUCCESS) w->lock[w->nlocks++] = fd;
  else scr_os.close(fd);
  return *held ? SCR_SUCCESS : rc;
}

/*
** Find out from the record in DIR to whom it belongs: *STATE becomes OURS, FREE or OTHER.  An identity that is not
** known, here or there, equals any: older versions did not record it.  *COMPLETE is 1 if the record needs no change;
** *REMADE is 1 if the directory is that of an earlier prefix at the same path.  A damaged record is none.  One that
** cannot be read is an error: it may be that of another prefix.
*/
SCR_FN int scr_dir_owner(const scr_world* w, const char* dir, scr_dir_state* state, int* complete, int* remade)
{
  char        file[SCR_MAX_FILENAME];
  scr_hash*   h = scr_hash_new();
  struct stat st;
  const char *path, *id;
  int         rc = scr_fmt(file, sizeof file, "%s/prefix.scrinfo", dir);

  *state = SCR_DIR_FREE;
  *complete = *remade = 0;
  if (rc == SCR_SUCCESS) rc = scr_hash_file_read(file, h);
  if (rc == SCR_ERR_FORMAT || rc == SCR_ERR_CRC) scr_warn("%s; it is written again, for %s", scr_err_text, w->prefix);
  if (rc == SCR_ERR_FORMAT || rc == SCR_ERR_CRC || rc == SCR_ERR_NOT_FOUND || scr_os.lstat(file, &st) < 0)
    rc = SCR_SUCCESS;
  path = rc == SCR_SUCCESS ? scr_hash_elem_get_first_val(h, "PREFIX") : NULL;
  id = scr_hash_str_or(h, "IDENTITY", "");
  if (path != NULL) {
    int same = strcmp(path, w->prefix) == 0;
    *remade = same && *id && *w->prefix_id && strcmp(id, w->prefix_id) != 0 && !w->prefix_adopts;
    *complete = *w->prefix_id == '\0' || strcmp(id, w->prefix_id) == 0; /* without one, that of the record stays */
    *state = !same || *remade ? SCR_DIR_OTHER : SCR_DIR_OURS;
  }
  scr_hash_delete(&h);
  return rc;
}

/* Lock DIR and find out to whom it belongs, and whether its record is to be written. */
SCR_FN int scr_dir_try(scr_world* w, const char* dir, scr_dir_state* state, char* record)
{
  int complete, remade, held, rc = scr_dir_lock(w, dir, &held);

  if (rc == SCR_SUCCESS) rc = scr_dir_owner(w, dir, state, &complete, &remade);
  if (rc != SCR_SUCCESS) return rc;
  *record = !complete;
  if (remade && scr_msg_rank <= 0 && w->told_remade++ == 0)
    scr_warn("%s, and the like on other nodes, has the cache of an earlier prefix directory %s, which was removed and "
             "made again; this run does not use it; remove it if it is not needed",
             dir, w->prefix);
  if (held && *state != SCR_DIR_OTHER) *state = SCR_DIR_HELD;
  return SCR_SUCCESS;
}

/* Record the prefix in DIR, whose lock is held. */
SCR_FN int scr_dir_record(const scr_world* w, const char* dir)
{
  char      file[SCR_MAX_FILENAME];
  scr_hash* h = scr_hash_new();
  int       rc = scr_fmt(file, sizeof file, "%s/prefix.scrinfo", dir);

  scr_hash_util_set_str(h, "PREFIX", w->prefix);
  if (*w->prefix_id) scr_hash_util_set_str(h, "IDENTITY", w->prefix_id);
  if (rc == SCR_SUCCESS) rc = scr_hash_file_write(file, h);
  scr_hash_delete(&h);
  return rc;
}

/*
** Directory I of those that a run with SUFFIX holds, created if it is missing: -1 is the control directory, 0 and above
** are the stores' directories.  DIR is empty for a store without one.
*/
SCR_FN int scr_dir_make(const scr_world* w, const char* base, int i, int suffix, char* dir, size_t n)
{
  char rel[SCR_MAX_FILENAME];
  int  rc;

  dir[0] = '\0';
  if (i >= 0 && !(w->store[i].enabled && w->store[i].can_mkdir)) return SCR_SUCCESS;
  if (i >= 0) base = w->store[i].name;
  if ((rc = scr_home_below(&w->home, i >= 0 && w->store[i].global, suffix, rel, sizeof rel)) != SCR_SUCCESS) return rc;
  if ((rc = scr_fmt(dir, n, "%s/%s", base, rel)) != SCR_SUCCESS) return rc;
  return scr_private_mkdir(base, rel);
}

/*
** Try to lock all directories with SUFFIX.  On SCR_SUCCESS *STATE is OURS if all are locked and record our prefix;
** otherwise *STATE and DIR tell which directory is not available.  The caller releases the locks.
**
** The prefix is recorded only after all are locked, and in the control directory last.  So if the control directory is
** ours, this run had all directories, and it may list datasets that would not be found under another suffix.  If a
** store's directory belongs to another prefix then, that is an error, not a reason to try the next suffix.
*/
SCR_FN int scr_dirs_try(scr_world* w, const char* base, int suffix, char* dir, size_t n, scr_dir_state* state)
{
  char* fresh = (char*)scr_malloc((size_t)w->nstores + 1);
  int   i, ours = 0, rc = fresh == NULL ? SCR_ERR_OOM() : SCR_SUCCESS;

  *state = SCR_DIR_OURS;
  for (i = -1; rc == SCR_SUCCESS && i < w->nstores; i++) {
    if ((rc = scr_dir_make(w, base, i, suffix, dir, n)) != SCR_SUCCESS || *dir == '\0') continue;
    if ((rc = scr_dir_try(w, dir, state, &fresh[i + 1])) != SCR_SUCCESS) break;
    if (i < 0) ours = *state == SCR_DIR_OURS;
    if (*state == SCR_DIR_OTHER && ours)
      rc = SCR_ERR(SCR_ERR_BUSY,
                   "%s belongs to the runs of another prefix, but the control directory beside it to those of %s; give "
                   "this run another SCR_CACHE_BASE or SCR_JOB_ID, or remove %s if those runs are over",
                   dir, w->prefix, dir);
    if (*state == SCR_DIR_OTHER || *state == SCR_DIR_HELD) break;
    *state = SCR_DIR_OURS;
  }
  for (i = w->nstores - 1; rc == SCR_SUCCESS && *state == SCR_DIR_OURS && i >= -1; i--) /* the control directory last */
    if (fresh[i + 1] && (rc = scr_dir_make(w, base, i, suffix, dir, n)) == SCR_SUCCESS) rc = scr_dir_record(w, dir);
  scr_free(&fresh);
  return rc;
}

/* The directory of a run with SUFFIX below BASE, which several nodes see if GLOBAL says so. */
SCR_FN int scr_dir_path(const scr_world* w, const char* base, int global, int suffix, char* dir, size_t n)
{
  char rel[SCR_MAX_FILENAME];
  int  rc = scr_home_below(&w->home, global, suffix, rel, sizeof rel);

  return rc == SCR_SUCCESS ? scr_fmt(dir, n, "%s/%s", base, rel) : rc;
}

/*
** *BEST becomes the smallest <n> above 0 for which BASE has a directory scr.<job>.<n> that records our prefix, 0 if
** there is none, and *COUNT how many there are.  GLOBAL: several nodes see BASE.
*/
SCR_FN int scr_dirs_search(const scr_world* w, const char* base, int global, int* best, int* count)
{
  char           top[SCR_MAX_FILENAME], dir[SCR_MAX_FILENAME], name[300];
  struct dirent* e;
  DIR*           d;
  int64_t        n;
  int            complete, remade, rc = SCR_SUCCESS;
  scr_dir_state  state;
  size_t         k;

  *best = *count = 0;
  k = (size_t)snprintf(name, sizeof name, "scr.%s.", w->home.job);
  d = scr_fmt(top, sizeof top, "%s/%s", base, w->home.user) == SCR_SUCCESS ? opendir(top) : NULL;
  while (rc == SCR_SUCCESS && d != NULL && (e = readdir(d)) != NULL) {
    if (strncmp(e->d_name, name, k) != 0 || scr_str_int64(e->d_name + k, &n) != SCR_SUCCESS || n < 1 || n > INT_MAX ||
        scr_dir_path(w, base, global, (int)n, dir, sizeof dir) != SCR_SUCCESS)
      continue;
    rc = scr_dir_owner(w, dir, &state, &complete, &remade);
    if (rc != SCR_SUCCESS || state != SCR_DIR_OURS) continue;
    (*count)++;
    if (*best == 0 || n < *best) *best = (int)n;
  }
  if (d != NULL) closedir(d);
  return rc;
}

/*
** *FIRST becomes the number of the directories to try first: one whose control directory or, if that is lost, whose
** directory in a store records our prefix; else 0.  A lower number may have become free since these were made.  Without
** the identity of the prefix there may be several at its path, and nobody knows which is ours: an error.
*/
SCR_FN int scr_dirs_first(const scr_world* w, const char* base, int* first)
{
  char          dir[SCR_MAX_FILENAME];
  int           i, n, count, complete, remade, rc;
  scr_dir_state state;

  for (i = -1; i < w->nstores; i++) {
    const char* at = i < 0 ? base : w->store[i].name;
    int         global = i >= 0 && w->store[i].global;
    *first = 0;
    if (i >= 0 && !(w->store[i].enabled && w->store[i].can_mkdir)) continue;
    if (scr_dir_path(w, at, global, 0, dir, sizeof dir) != SCR_SUCCESS) continue;
    if ((rc = scr_dir_owner(w, dir, &state, &complete, &remade)) != SCR_SUCCESS) return rc;
    if ((rc = scr_dirs_search(w, at, global, &n, &count)) != SCR_SUCCESS) return rc;
    if ((*w->prefix_id == '\0' || w->prefix_adopts) && count + (state == SCR_DIR_OURS) > 1)
      return SCR_ERR(SCR_ERR_BUSY,
                     "%s and %s.%d are both directories of %s, which has lost its identity, <prefix>/.scr/prefix.scr; "
                     "remove the one of a prefix that was removed, or restore that file",
                     dir, dir, n, w->prefix);
    if (state == SCR_DIR_OURS) return SCR_SUCCESS;
    *first = n;
    if (n > 0) return SCR_SUCCESS;
  }
  return SCR_SUCCESS;
}

/*
** Lock the control directory of this node and its directories in the stores: those that are ours already, or else
** those of the first of scr.<job> and scr.<job>.<n> that belong to no other prefix.  Sets w->cntl, w->home.suffix and
** w->lock.
*/
SCR_FN int scr_dirs_lock_all(scr_world* w, const char* base)
{
  char          dir[SCR_MAX_FILENAME] = "";
  int           first = 0, suffix, rc = scr_dirs_first(w, base, &first);
  scr_dir_state state;
  double        start = scr_wtime();

  if (rc != SCR_SUCCESS) return rc;
  suffix = first;
  w->lock = (int*)scr_malloc(((size_t)w->nstores + 1) * sizeof *w->lock);
  if (w->lock == NULL) return SCR_ERR_OOM();
  for (;;) {
    rc = scr_dirs_try(w, base, suffix, dir, sizeof dir, &state);
    if (rc != SCR_SUCCESS || state == SCR_DIR_OURS) break;
    scr_dirs_release(w);
    if (state == SCR_DIR_OTHER && first > 0) suffix = first = 0; /* it was taken while we looked */
    else if (state == SCR_DIR_OTHER) suffix++;
    else if (scr_wtime() - start > SCR_BUSY_SECONDS)
      return SCR_ERR(SCR_ERR_BUSY,
                     "another run over the prefix %s holds %s; give each run its own SCR_PREFIX, or end that run; a "
                     "store that several nodes see needs VIEW=GLOBAL",
                     w->prefix, dir);
    else usleep(50000 + (useconds_t)getpid() % 16 * 1000); /* varies: two runs may each hold what the other needs */
  }
  w->home.suffix = suffix;
  return rc == SCR_SUCCESS ? scr_dir_make(w, base, -1, suffix, w->cntl, sizeof w->cntl) : rc;
}

/* ---- redundancy descriptors ---- */

/* Let D protect this rank alone, as SINGLE. */
SCR_FN int scr_reddesc_alone(scr_reddesc* d, const scr_world* w)
{
  d->scheme = SCR_SCHEME_SINGLE;
  d->failures = 0;
  d->set_size = 1;
  d->set_rank = 0;
  d->set_id = w->rank;
  scr_free(&d->member);
  d->member = (int*)scr_malloc(sizeof *d->member);
  if (d->member == NULL) return SCR_ERR_OOM();
  d->member[0] = w->rank;
  return SCR_SUCCESS;
}

/*
** Limit the failures of D: a set of N members tolerates at most N - 1, and one parity is XOR.  Returns 1 if the set
** protects from fewer failures than asked for.
*/
SCR_FN int scr_reddesc_limit(scr_reddesc* d)
{
  int less = d->failures >= d->set_size;

  if (d->scheme == SCR_SCHEME_PARTNER || d->scheme == SCR_SCHEME_XOR) d->failures = 1;
  if (d->scheme != SCR_SCHEME_RS) return 0;
  if (less) d->failures = d->set_size - 1;
  if (d->failures == 1) d->scheme = SCR_SCHEME_XOR;
  return less;
}

/* Get the host of the right neighbour into d->partner.  Collective over the set. */
SCR_FN int scr_reddesc_partner(scr_reddesc* d, const scr_world* w)
{
  scr_hash *send = scr_hash_new(), *recv = scr_hash_new();
  int       n = d->set_size, rc;

  scr_hash_util_set_str(send, "HOST", w->home.host);
  rc = scr_hash_sendrecv(send, d->member[(d->set_rank - 1 + n) % n], recv, d->member[(d->set_rank + 1) % n], w->comm);
  d->partner = scr_strdup(scr_hash_str_or(recv, "HOST", ""));
  scr_hash_delete(&send);
  scr_hash_delete(&recv);
  return rc;
}

/*
** Form the sets of D.  Ranks that have the same rank in their failure group form a line, in world order.  Every
** HOP_DISTANCE-th rank of a line belongs together, and these ranks are divided into sets of SET_SIZE or slightly more,
** as equal as possible.  If a line is too short for two ranks at that distance, the largest possible distance is used,
** and rank 0 warns.  Collective over the world.
**
** A set of one member cannot protect its files: that rank uses SINGLE, and rank 0 reports how many there are.
*/
SCR_FN int scr_reddesc_sets(scr_reddesc* d, const scr_world* w)
{
  const scr_groupdesc* g = scr_groupdescs_from_name(w, d->group);
  char                 key[64];
  int                  lines, id, place, length, leader, hop, first, sets, least, extra, set, rc, err;
  int                  asked = d->failures;
  scr_vote             v;

  snprintf(key, sizeof key, "%d", g->rank);
  rc = scr_rank_str(w->comm, key, &lines, &id, &place, &length, &leader);
  if (rc != SCR_SUCCESS) { /* this rank goes on until all know */
    place = id = 0;
    length = 1;
  }
  hop = length / 2 < d->hop ? length / 2 : d->hop;
  if (hop < 1) hop = 1;
  first = place % hop;
  place /= hop;
  length = length / hop + (first < length % hop);
  sets = length / d->size_wanted > 1 ? length / d->size_wanted : 1;
  least = length / sets;
  extra = length % sets; /* the first sets have one member more */
  set = place < extra * (least + 1) ? place / (least + 1) : extra + (place - extra * (least + 1)) / least;
  snprintf(key, sizeof key, "%d.%d.%d", id, first, set);
  err = scr_rank_str(w->comm, key, &d->sets, &id, &d->set_rank, &d->set_size, &d->set_id);
  if (rc == SCR_SUCCESS) rc = err;
  if ((rc = scr_group_members(w, rc, d->set_id, d->set_rank, d->set_size, &d->member)) != SCR_SUCCESS) return rc;
  if (d->set_size > 1) rc = scr_reddesc_partner(d, w);
  memset(&v, 0, sizeof v);
  v.sum[0] = d->set_size == 1;
  v.sum[1] = d->set_size > 1 && scr_reddesc_limit(d);
  v.sum[2] = d->set_size > 1 && hop < d->hop;
  if (d->set_size == 1 && rc == SCR_SUCCESS) rc = scr_reddesc_alone(d, w);
  else if (rc == SCR_SUCCESS && d->scheme == SCR_SCHEME_RS && d->set_size + d->failures > 256)
    rc = SCR_ERR(SCR_ERR_PARAM,
                 "CKPT=%d: a Reed-Solomon set of %d ranks with %d failures is too large; their sum may be 256 at most",
                 d->index, d->set_size, d->failures);
  if ((err = scr_vote_all(&v, rc, w->comm)) != SCR_SUCCESS) return err;
  if (v.sum[0] > 0 && w->rank == 0)
    scr_warn(
        "%lld of %d ranks find no partner in another group %s, so their files are kept as SINGLE: if their node is "
        "lost, so is the checkpoint",
        (long long)v.sum[0], w->ranks, d->group);
  if (v.sum[1] > 0 && w->rank == 0)
    scr_warn("%lld of %d ranks are in Reed-Solomon sets that are too small for %d failures; these survive all but one",
             (long long)v.sum[1], w->ranks, asked);
  if (v.sum[2] > 0 && w->rank == 0)
    scr_warn("CKPT=%d: there are not enough groups %s for HOP_DISTANCE=%d: %lld of %d ranks have nearer partners",
             d->index, d->group, d->hop, (long long)v.sum[2], w->ranks);
  return SCR_SUCCESS;
}

/* Fill D from LINE, a CKPT line; NULL takes everything from the parameters. */
SCR_FN int scr_reddesc_from_line(scr_reddesc* d, const scr_world* w, int index, const scr_hash* line)
{
  const char*          type = scr_param_get(w->params, "SCR_COPY_TYPE");
  const char*          bypass = scr_param_get(w->params, "SCR_CACHE_BYPASS");
  const scr_storedesc* s;
  char                 base[SCR_MAX_FILENAME];
  int                  rc;

  if (strcasecmp(type, "FILE") == 0) type = "XOR"; /* the scheme of lines without TYPE */
  d->index = index;
  d->enabled = scr_hash_int_or(line, "ENABLED", 1);
  d->interval = scr_hash_int_or(line, "INTERVAL", 1);
  d->output = scr_hash_int_or(line, "OUTPUT", 0);
  d->bypass = strcasecmp(bypass, "auto") == 0 ? -1 : atoi(bypass);
  d->bypass = scr_hash_int_or(line, "BYPASS", d->bypass);
  d->group = scr_strdup(scr_hash_str_or(line, "GROUP", scr_param_get(w->params, "SCR_GROUP")));
  if ((rc = scr_scheme_from_name(scr_hash_str_or(line, "TYPE", type), &d->scheme)) != SCR_SUCCESS) return rc;
  if ((rc = scr_param_int(w->params, "SCR_SET_SIZE", &d->size_wanted)) != SCR_SUCCESS) return rc;
  d->size_wanted = scr_hash_int_or(line, "SET_SIZE", d->size_wanted);
  if ((rc = scr_param_int(w->params, "SCR_SET_FAILURES", &d->failures)) != SCR_SUCCESS) return rc;
  d->failures = scr_hash_int_or(line, "SET_FAILURES", d->failures);
  d->hop = scr_hash_int_or(line, "HOP_DISTANCE", 1);
  if (d->size_wanted < 2 || d->size_wanted > SCR_SET_SIZE_MAX / 2)
    return SCR_ERR(SCR_ERR_PARAM, "CKPT=%d: SET_SIZE is %d, but must be between 2 and %d", index, d->size_wanted,
                   SCR_SET_SIZE_MAX / 2);
  if (d->interval < 1) return SCR_ERR(SCR_ERR_PARAM, "CKPT=%d: INTERVAL must be at least 1", index);
  if (d->failures < 1) return SCR_ERR(SCR_ERR_PARAM, "CKPT=%d: SET_FAILURES must be at least 1", index);
  if (d->hop < 1) return SCR_ERR(SCR_ERR_PARAM, "CKPT=%d: HOP_DISTANCE must be at least 1", index);
  rc = scr_path_reduce_str(scr_hash_str_or(line, "STORE", scr_param_get(w->params, "SCR_CACHE_BASE")), base,
                           sizeof base);
  if (rc != SCR_SUCCESS) return rc;
  s = scr_storedescs_from_name(w, base);
  if (s == NULL) return SCR_ERR(SCR_ERR_PARAM, "CKPT=%d names the store %s, which no STORE line defines", index, base);
  if (d->enabled && !s->enabled)
    return SCR_ERR(SCR_ERR_PARAM, "CKPT=%d uses the store %s, which is not enabled", index, base);
  d->store = scr_strdup(base);
  d->global = s->global;
  d->can_mkdir = s->can_mkdir;
  if (scr_oom) return SCR_ERR_OOM();
  if (scr_groupdescs_from_name(w, d->group) == NULL)
    return SCR_ERR(SCR_ERR_PARAM,
                   "the failure group %s is not known; there are NODE, WORLD and those of the GROUPS lines "
                   "that name each host",
                   d->group);
  return SCR_SUCCESS;
}

/* The CKPT lines when SCR_COPY_TYPE is FILE, or the one that the parameters imply.  Collective over the world. */
SCR_FN int scr_reddescs_create(scr_world* w)
{
  const scr_hash* lines = NULL;
  scr_hash_elem*  e;
  int             n = 1, i, ones = 0, rc = SCR_SUCCESS;

  if (strcasecmp(scr_param_get(w->params, "SCR_COPY_TYPE"), "FILE") == 0) {
    lines = scr_param_get_hash(w->params, "CKPT");
    n = scr_hash_size(lines);
    if (n == 0) return SCR_ERR(SCR_ERR_PARAM, "SCR_COPY_TYPE is FILE, but there are no CKPT lines");
  } else if (scr_hash_size(scr_param_get_hash(w->params, "CKPT")) > 0 && w->rank == 0) {
    scr_warn("the CKPT lines are not used, because SCR_COPY_TYPE is %s, not FILE",
             scr_param_get(w->params, "SCR_COPY_TYPE"));
  }
  w->red = (scr_reddesc*)scr_malloc((size_t)n * sizeof *w->red);
  if (w->red == NULL) rc = SCR_ERR_OOM();
  else w->nreds = n;
  e = scr_hash_elem_first(lines);
  for (i = 0; i < w->nreds && rc == SCR_SUCCESS; i++) {
    rc = scr_reddesc_from_line(&w->red[i], w, e ? atoi(scr_hash_elem_key(e)) : 0, e ? scr_hash_elem_hash(e) : NULL);
    if (w->red[i].enabled && w->red[i].interval == 1) ones++;
    if (e != NULL) e = scr_hash_elem_next(e);
  }
  rc = scr_agree(rc, w->comm);
  for (i = 0; i < w->nreds && rc == SCR_SUCCESS; i++) {
    scr_reddesc* d = &w->red[i];
    if (d->enabled && d->scheme != SCR_SCHEME_SINGLE) rc = scr_reddesc_sets(d, w);
    else rc = scr_agree(scr_reddesc_alone(d, w), w->comm);
  }
  if (rc == SCR_SUCCESS && ones == 0)
    rc =
        SCR_ERR(SCR_ERR_PARAM, "one enabled CKPT line must have INTERVAL=1, so that every checkpoint has a descriptor");
  return rc;
}

/*
** The descriptor for a new dataset: for output, an enabled line with OUTPUT=1 if there is one; otherwise the enabled
** line with the largest INTERVAL that divides CKPT.
*/
SCR_FN const scr_reddesc* scr_reddesc_for_dataset(const scr_world* w, int ckpt, int flags)
{
  const scr_reddesc* best = NULL;
  int                i;

  for (i = 0; i < w->nreds; i++) {
    const scr_reddesc* d = &w->red[i];
    if (!d->enabled) continue;
    if (flags & SCR_FLAG_OUTPUT && d->output) return d;
    if (d->interval != 1 && (!(flags & SCR_FLAG_CHECKPOINT) || ckpt % d->interval != 0)) continue;
    if (best == NULL || d->interval > best->interval) best = d;
  }
  return best;
}

/* ---- the whole ---- */

SCR_FN void scr_world_free(scr_world* w)
{
  int i;

  for (i = 0; i < w->ngroups; i++) scr_free(&w->group[i].name);
  for (i = 0; i < w->nstores; i++) {
    scr_free(&w->store[i].name);
    scr_free(&w->store[i].group);
    scr_free(&w->store[i].dir);
  }
  for (i = 0; i < w->nreds; i++) scr_reddesc_free(&w->red[i]);
  scr_free(&w->group);
  scr_free(&w->store);
  scr_free(&w->red);
  scr_free(&w->node);
  scr_dirs_release(w);
  scr_free(&w->lock);
  w->ngroups = w->nstores = w->nreds = 0;
}

/*
** Set the name of this node: the host or, if VIRTUAL_NODES is not 0, one of that many blocks of equal size into which
** the ranks are divided.
*/
SCR_FN int scr_world_host(scr_world* w, int virtual_nodes)
{
  char host[200] = "";

  if (gethostname(host, sizeof host - 1) < 0 || host[0] == '\0') return SCR_ERRNO("cannot get the host name");
  if (virtual_nodes > w->ranks) virtual_nodes = w->ranks;
  w->home.shared = virtual_nodes > 0;
  if (virtual_nodes > 0)
    snprintf(w->home.host, sizeof w->home.host, "%s-v%d", host, (int)((int64_t)w->rank * virtual_nodes / w->ranks));
  else snprintf(w->home.host, sizeof w->home.host, "%s", host);
  return SCR_SUCCESS;
}

/* Make KEY a text that tells job JOB from others.  The default id never changes, so each run counts as a job then. */
SCR_FN void scr_world_job_key(const char* job, char* key, size_t n)
{
  if (strcmp(job, SCR_JOB_DEFAULT) != 0) snprintf(key, n, "%s", job);
  else snprintf(key, n, "%s.%016" PRIx64, job, scr_random());
}

/*
** Fill W, whose comm, rank, ranks, params, prefix, user and job are set, and create the directories of this node.
** Collective over the world.  After an error the caller calls scr_world_free.
*/
SCR_FN int scr_world_create(scr_world* w)
{
  char      base[SCR_MAX_FILENAME] = "";
  scr_hash* h = scr_hash_new();
  int       i, leader, virtual_nodes = 0, rc, err;

  rc = scr_param_int(w->params, "SCR_VIRTUAL_NODES", &virtual_nodes);
  if (rc == SCR_SUCCESS) rc = scr_world_host(w, virtual_nodes);
  if (rc == SCR_SUCCESS) rc = scr_path_reduce_str(scr_param_get(w->params, "SCR_CNTL_BASE"), base, sizeof base);
  if (rc == SCR_SUCCESS && base[0] != '/')
    rc = SCR_ERR(SCR_ERR_PARAM, "SCR_CNTL_BASE=%s is not an absolute path", base);
  if (rc == SCR_SUCCESS &&
      (strchr(w->home.user, '/') != NULL || strchr(w->home.job, '/') != NULL || w->home.user[0] == '.'))
    rc = SCR_ERR(SCR_ERR_PARAM, "SCR_USER_NAME=%s and SCR_JOB_ID=%s must be names without a slash", w->home.user,
                 w->home.job);
  if ((rc = scr_agree(rc, w->comm)) != SCR_SUCCESS) goto out;
  snprintf(scr_msg_host, sizeof scr_msg_host, "%s", w->home.host);
  rc = scr_groupdescs_create(w);
  if (rc == SCR_SUCCESS) rc = scr_storedescs_create(w);
  if ((rc = scr_agree(rc, w->comm)) != SCR_SUCCESS) goto out;

  /* The first rank of the node locks the directories and sends their names to the others. */
  leader = w->group[SCR_GROUP_NODE].leader == w->rank;
  if (leader) {
    rc = scr_dirs_lock_all(w, base);
    scr_hash_util_set_int(h, "SUFFIX", rc == SCR_SUCCESS ? w->home.suffix : -1);
    scr_hash_util_set_str(h, "CNTL", w->cntl);
    for (i = 1; i < w->group[SCR_GROUP_NODE].ranks; i++) scr_hash_send(h, w->node[i], w->comm);
  } else {
    const char* dir = NULL;
    rc = scr_hash_recv(h, w->group[SCR_GROUP_NODE].leader, w->comm);
    scr_hash_util_get_int(h, "SUFFIX", &w->home.suffix);
    if (rc == SCR_SUCCESS && w->home.suffix >= 0 && scr_hash_util_get_str(h, "CNTL", &dir) == SCR_SUCCESS)
      rc = scr_fmt(w->cntl, sizeof w->cntl, "%s", dir);
  }
  if (rc == SCR_SUCCESS && w->home.suffix >= 0) rc = scr_storedescs_place(w);
  if ((err = scr_agree(rc, w->comm)) != SCR_SUCCESS) {
    rc = err;
    goto out;
  }
  if (!w->home.shared && w->group[SCR_GROUP_NODE].groups == 1)
    scr_dbg(1, "all %d ranks run on one node; SCR_VIRTUAL_NODES splits it for trials", w->ranks);
  rc = scr_agree(scr_reddescs_create(w), w->comm);
out:
  scr_hash_delete(&h);
  return rc;
}

/* ==== 18 THE RUNTIME STATE ==============================================================================
** All that the library remembers between two calls, in one struct; the states of a dataset; and the logging of events.
**
**   state      from               by                       then
**   WRITING    -                  scr_start                its files are being written
**   WHOLE      WRITING            scr_complete_commit      protected on every rank
**   WHOLE      found              scr_recovery_all         moved, rebuilt, verified
**   WHOLE      fetched            scr_fetch                copied from the prefix, protected
**   WHOLE      REJECTED, PASSED   scr_restart_choice_served   the user chooses it
**   WHOLE      REJECTED_BEFORE    scr_accept_loaded        the application restarts from it; or the user chooses it
**   REJECTED   WHOLE,             scr_reject_loaded        the application could not restart from it: this job does
**              REJECTED_BEFORE                             not offer it again; the filemap and the index, if it has
**                                                          the dataset, say FAILED and in which job
**   REJECTED_BEFORE  found        scr_run_find_on_prefix   in another job: offered after all others
**   PASSED     WHOLE, REJECTED_BEFORE  scr_restart_choice_served   the user chose an older one: offered again only if
**                                                          the user chooses it
**   PASSED     found              scr_run_find_on_prefix   the same; or older than a fresh start, the cut in the index
**   ASIDE      found              scr_recovery_set_aside   too few pieces, other number of ranks, or damage; each run
**                                                          judges it again; kept until its space is needed
**   (gone)     any                scr_cache_delete         to make room; SCR_Delete; SCR_Complete_output failed.  The
**                                                          filemap says LEAVING before the first file goes; one such
**                                                          entry anywhere, and the next run finishes it everywhere
**
**   on prefix  NO -> FLUSHING           scr_flush_begin; also SUPERSEDED, DROPPED, OUTGROWN, when the user asks for it,
**                                       and RENAMING, when what an earlier flush left on the prefix is damaged
**              FLUSHING -> RENAMING     scr_flush_commit, the index has it
**              RENAMING -> YES          scr_flush_done
**              FLUSHING -> NO           scr_flush_undo, the flush failed
**              FLUSHING -> SUPERSEDED   scr_flush_undo, a newer dataset has its place
**              YES -> SUPERSEDED        scr_flush_commit of another dataset that took its files
**              YES, RENAMING -> DROPPED scr_run_drop; scr_restart_choice_served with SCR_DROP_AFTER_CURRENT
**              YES, RENAMING -> OUTGROWN  scr_flush_slide, which deletes it; it is flushed again only if a run ends
**                                       with it, or SCR_FLUSH_ON_RESTART or the user asks for it
**              SUPERSEDED -> NO         scr_dataset_reconsider, after SCR_Drop or SCR_Delete
**              NO -> YES                scr_fetch; scr_flush_done, if the index could not be read before
**              found: RENAMING, YES     scr_run_find_on_prefix, by the index; OUTGROWN, if it is older than what
**                                       SCR_PREFIX_SIZE keeps
**
** Uses       platform, errors, memory, path, hash, dataset, file window, filemap, prefix, files of a run, MPI helpers,
**            world
** Offers     scr_phase, scr_life, scr_aside, scr_on_prefix, scr_restart, scr_lost, scr_search, scr_dataset,
**            scr_reading; scr, scr_logged, scr_status_event, scr_event, scr_event_compute, scr_event_transfer,
**            scr_event_damage, scr_tried_keep, scr_tried_add, scr_dataset_find, scr_dataset_is_whole,
**            scr_dataset_is_cached, scr_dataset_is_missed, scr_dataset_named, scr_dataset_newest, scr_dataset_remove,
**            scr_dataset_add, scr_dataset_entry, scr_dataset_next_entry, scr_entry_decide, scr_removal_run,
**            scr_removal_wait, scr_removal_start, scr_map_write, scr_map_settle, scr_dataset_put_note,
**            scr_dataset_write_note, scr_life_leads, scr_change_life, scr_change_on_prefix, scr_dataset_reconsider
** Invariants
**   S1  scr.dataset is the same on every rank, ordered by id.  Entries belong to this rank alone.
**   S2  scr.map is what filemap_<n>.scrinfo holds, or will hold after the next scr_map_write.
**   S3  A rank holds the entry of its own rank for each dataset that is WHOLE and in the cache.  If another number of
**       ranks wrote it, each of them has an entry on one rank of this run.
**   S4  Once a run has found the state of a dataset, only scr_change_life, scr_change_on_prefix and
**       scr_dataset_reconsider change it, and they keep filemap, index and flush file consistent with it.
** Failure    An error code.
** ====================================================================================================== */

typedef enum {
  SCR_PHASE_UNINIT,
  SCR_PHASE_IDLE,
  SCR_PHASE_RESTART,
  SCR_PHASE_CHECKPOINT,
  SCR_PHASE_OUTPUT,
  SCR_PHASE_FAILED /* between a Start call that failed and its Complete call; otherwise as IDLE */
} scr_phase;

/* An error that a later call returns: its code, SCR_SUCCESS if there is none, and its record. */
typedef struct {
  int            rc;
  scr_err_record why;
} scr_failure;

/*
** The cache has all files of a dataset from WHOLE to PASSED; of two decisions about it, the later in this list
** counts.
*/
typedef enum { SCR_WRITING, SCR_WHOLE, SCR_REJECTED_BEFORE, SCR_REJECTED, SCR_PASSED, SCR_ASIDE } scr_life;

/* What an ASIDE dataset is good for. */
typedef enum {
  SCR_ASIDE_KEPT,    /* another run may use it: other number of ranks, or a passing error */
  SCR_ASIDE_PASSED,  /* the same, but it was passed over: no work is lost with it */
  SCR_ASIDE_LOST,    /* more is lost than its redundancy can rebuild, unless a node comes back */
  SCR_ASIDE_UNPROVEN /* the same, but perhaps it was never complete, or it was passed over: no work is lost with it */
} scr_aside;

typedef enum {
  SCR_PREFIX_NO,
  SCR_PREFIX_FLUSHING,
  SCR_PREFIX_RENAMING,
  SCR_PREFIX_YES,
  SCR_PREFIX_SUPERSEDED, /* this and the next are flushed only if the user asks for it */
  SCR_PREFIX_DROPPED,
  SCR_PREFIX_OUTGROWN /* SCR_PREFIX_SIZE newer ones are on the prefix */
} scr_on_prefix;

/* Is there a checkpoint to restart from?  Not known yet; loaded; none is left; too late, a dataset was started. */
typedef enum { SCR_RESTART_UNTRIED, SCR_RESTART_LOADED, SCR_RESTART_NONE, SCR_RESTART_OVER } scr_restart;

/* Complete checkpoints that the flush file knows, but that are neither in the cache of this run nor on the prefix. */
typedef struct {
  int  newest;     /* id of the newest one; 0: there is none */
  int  ckpt;       /* and its number */
  int  at_stake;   /* 1: without a checkpoint to restart from, that is lost work */
  char text[2000]; /* which they are, and where they were */
} scr_lost;

/*
** Where the search for a checkpoint stands: among those that no job has rejected, or among the others; only ids below
** BELOW are left.
*/
typedef struct {
  int rejected, below;
} scr_search;

/* A dataset in the cache, or one that is read in place. */
typedef struct {
  scr_desc      desc;
  char*         store; /* "" if only the prefix has it */
  scr_life      life;
  scr_on_prefix on_prefix;
  scr_aside     aside;   /* if it is ASIDE */
  int           pins;    /* flushes in progress; while not 0, it must not be deleted */
  int           damaged; /* 1: a flush found files that could not be rebuilt: it stands for no older checkpoint */
} scr_dataset;

/* The checkpoint that is read in place: the application reads its files where they are on the prefix. */
typedef struct {
  int              id; /* 0: there is none */
  scr_desc         desc;
  scr_prefix_place place;
  int              buckets;     /* of the directory of its names; 0: there is none */
  int              files;       /* that its ranks wrote */
  scr_objects      own;         /* those of this rank's share of its ranks */
  int              bucket;      /* the one that was read last, */
  scr_objects      names;       /* and its objects */
  scr_hash*        asked;       /* paths below the prefix that this rank has routed */
  int              ranks_asked; /* 1: the application knows how many ranks wrote it */
  int              accepted;    /* 1: SCR_Complete_restart has accepted it */
} scr_reading;

/* What the helper removes behind the application.  All zeros: nothing. */
typedef struct {
  scr_job   job;
  scr_hash* paths; /* FILE: files; TREE: directories, with all that is in them */
} scr_removal;

typedef struct {
  scr_phase   phase;
  int         disabled; /* 1: SCR_Init found SCR_ENABLE=0 */
  scr_world   world;
  scr_hash*   app;            /* settings of SCR_Config; kept before SCR_Init and after SCR_Finalize */
  scr_failure config_failure; /* of an SCR_Config that could not be understood; the next SCR_Init fails with it */
  scr_filemap map;
  char        map_file[SCR_MAX_FILENAME];
  int         map_is_behind;                 /* 1: the file still lists entries, as LEAVING, that are gone */
  scr_removal removal;                       /* of the files of such entries */
  char        prefix_real[SCR_MAX_FILENAME]; /* the prefix with links resolved; file names may begin with either */
  int         prefix_lock;

  int          dataset_id, checkpoint_id; /* the last numbers assigned */
  scr_dataset* dataset;
  int          datasets;

  /* parameters that are used often */
  int      cache_keep, told_of_room; /* 1: a message has told that checkpoints are flushed to make room */
  int      told_of_bypass;           /* 1: or are written on the prefix */
  int      prefix_size, drop_after;  /* SCR_PREFIX_SIZE, SCR_DROP_AFTER_CURRENT */
  int      flush_every, flush_width, fetch_width, crc_on_copy, crc_on_delete, crc_on_restart, crc_on_flush, preserve;
  int      use_containers;
  int      fetch_bypass, global_restart, same_ranks; /* SCR_FETCH_BYPASS, SCR_GLOBAL_RESTART, SCR_RESTART_RANKS=same */
  uint64_t container_size, rank2file_size;
  int      flush_async;   /* 1: a flush that is due goes on behind the application's back, */
  scr_pace pace;          /* at this pace */
  int      flush_daemon;  /* 1: the daemon of the node copies; */
  int      daemon_told;   /* 1: it was missed, and a warning said so */
  int      daemon_failed; /* 1: it did not complete copies of this rank, which copies itself from then on */
  char     token[SCR_TOKEN_MAX], token_before[SCR_TOKEN_MAX]; /* of this run, and of the one before it */
  size_t   mpi_buf, file_buf;
  char*    work; /* memory of the redundancy engine, allocated in SCR_Init so that it cannot fail later */

  scr_hash* status; /* of the run, as the status file tells it; on rank 0 */
  int       status_failed;

  scr_log log;
  int     log_failed;    /* 1: writing the log failed, and a warning was printed */
  double  run_start;     /* when SCR_Init began, */
  double  compute_start; /* and when the application last began to compute; 0 while it does not */

  /* the dataset between Start and Complete */
  const scr_reddesc* red;
  int                open_id;
  uint64_t           other_bytes; /* that this rank wrote of the last dataset, if that failed, or went to the prefix */
  double             open_start;
  scr_failure        open_failure; /* of Start, or the first one of Route_file on this rank: Complete returns it */

  /* the checkpoint to restart from */
  scr_restart restart;
  int         loaded;           /* id of the loaded checkpoint; 0 for none */
  scr_search  offer;            /* what is left to offer, the loaded one first */
  int         notes_are_behind; /* the flush file could not be written */
  int         damaged_maps;     /* number of damaged filemaps; what they listed is not known */
  int prefix_at_stake; /* complete checkpoints exist beside those of the cache, or did when they could not be loaded */
  scr_lost lost;       /* checkpoints that this run cannot reach; on rank 0 */
  int serve_id, serve_until; /* a choice that the index does not know as served yet: see scr_restart_choice_served */
  scr_buf     tried;         /* text: what could not be loaded, and why */
  scr_reading reading;

  /* decisions: halt and checkpoint conditions, on rank 0 */
  scr_hash*    halt;
  int          halt_exit, halt_enabled, halt_seconds, asked_should_exit;
  int          halt_uncounted; /* complete checkpoints that the halt file does not count yet */
  int          fresh_start;    /* not 0: this run is a fresh start, which offers no checkpoint */
  int          fresh_served;   /* the value of SCR_FRESH_START that an earlier run of this job has served; or 0 */
  char         halt_why[256];  /* the halt condition that holds */
  int          need_calls, interval, seconds;
  double       overhead;
  double       ckpt_end, ckpt_cost;
  int          ckpt_count;
  double       mtbf;      /* SCR_CHECKPOINT_MTBF in seconds; 0: off; negative: as the log tells, */
  scr_log_runs past;      /* of the runs before this one */
  scr_cost*    cost;      /* of checkpoints by CKPT line, without and with a flush that the application waits for */
  int          end_asked; /* 1: it is known whether anybody knows */
  int64_t      end;       /* when the allocation ends; -1: nobody knows */

  /* what someone asks for, by a signal or a command: bits SCR_WISH_x, the same on every rank */
  int       wishes;                     /* for the next checkpoint */
  int       wishes_caught, wishes_read; /* those that this rank knows by signals, and rank 0 by the halt file */
  int       granting;                   /* those of the open checkpoint */
  int       leaving;                    /* 1: a checkpoint has granted the wish that the run ends */
  scr_hash* requests;                   /* on rank 0: the numbers of the requests in `wishes`, */
  scr_hash* answering;                  /* in `granting`, */
  scr_hash* answered;                   /* and those that were granted */
} scr_state;

static scr_state scr;

/* ---- events of the run ---- */

/*
** Handle RC, the result of a write to the log: the first failure is a warning, and the run goes on.  WHY is the error
** record from before the write, which is restored.
*/
SCR_FN void scr_logged(int rc, const scr_err_record* why)
{
  if (rc != SCR_SUCCESS && !scr.log_failed) scr_warn("%s; the log of this run has gaps", scr_err_text);
  if (rc != SCR_SUCCESS) scr.log_failed = 1;
  scr_err_restore(why);
}

/* What the status file calls the time after each of these events. */
static const struct {
  const char *event, *phase;
} scr_status_phases[] = {{"START", "starting"},
                         {"REBUILD_START", "rebuilding"},
                         {"REBUILD_SUCCESS", "starting"},
                         {"REBUILD_FAIL", "starting"},
                         {"FETCH_START", "fetching"},
                         {"FETCH_SUCCESS", "starting"},
                         {"FETCH_FAIL", "starting"},
                         {"COMPUTE_START", "computing"},
                         {"CHECKPOINT_START", "writing a checkpoint"},
                         {"OUTPUT_START", "writing output"},
                         {"FLUSH_START", "flushing"},
                         {"COMPUTE_END", "ending"},
                         {"END", "ended"}};

/* The datasets in the cache, for the status file. */
SCR_FN void scr_status_cache(void)
{
  int i;

  scr_hash_unset(scr.status, "CACHE");
  for (i = 0; i < scr.datasets; i++) {
    const scr_dataset* ds = &scr.dataset[i];
    const scr_entry*   e = scr_filemap_find(&scr.map, &ds->desc.identity, scr.world.rank);
    scr_hash*          h = scr_hash_set_kv_int(scr.status, "CACHE", ds->desc.identity.id);
    scr_hash_util_set_str(h, "NAME", scr_desc_name(&ds->desc));
    scr_hash_util_set_bytecount(h, "BYTES", ds->desc.bytes);
    if (ds->store != NULL) scr_hash_util_set_str(h, "STORE", ds->store);
    if (e != NULL) scr_hash_util_set_str(h, "SCHEME", scr_scheme_name(e->red.scheme));
    if (ds->on_prefix == SCR_PREFIX_YES) scr_hash_util_set_int(h, "PFS", 1);
    if (ds->life == SCR_WRITING) scr_hash_util_set_str(h, "STATE", "being written");
    if (ds->life == SCR_ASIDE) scr_hash_util_set_str(h, "STATE", "set aside");
  }
}

/*
** EVENT happened to the dataset DESC, if it is not NULL: rank 0 tells it in the status file.  It is no error if that
** cannot be written.
*/
SCR_FN void scr_status_event(const char* event, const scr_desc* desc, double secs)
{
  int            flush = strncmp(event, "FLUSH_", 6) == 0 || strncmp(event, "ASYNC_FLUSH_", 12) == 0;
  scr_err_record why;
  size_t         i;

  if (scr.world.rank != 0) return;
  scr_err_save(&why);
  if (scr.status == NULL)
    scr.status = scr_status_begin(scr.world.home.job, scr.world.home.host, scr.world.ranks,
                                  scr.world.group[SCR_GROUP_NODE].groups);
  for (i = 0; i < sizeof scr_status_phases / sizeof *scr_status_phases; i++) {
    if (strcmp(event, scr_status_phases[i].event) != 0) continue;
    scr_hash_util_set_str(scr.status, "PHASE", scr_status_phases[i].phase);
    scr_hash_util_set_int64(scr.status, "SINCE", scr_time_usec());
  }
  if (strcmp(event, "CHECKPOINT_END") == 0)
    scr_status_put(scr_hash_set(scr.status, "LAST", scr_hash_new()), desc, secs);
  if (flush && strstr(event, "_START") != NULL)
    scr_status_put(scr_hash_set_kv_int(scr.status, "FLUSH", desc->identity.id), desc, secs);
  else if (flush) scr_hash_unset_kv_int(scr.status, "FLUSH", desc->identity.id);
  if (scr.end_asked && scr.end >= 0) scr_hash_util_set_int64(scr_hash_get(scr.status, "RUN"), "END", scr.end);
  scr_status_cache();
  if (scr_status_write(scr.world.prefix, scr.status) != SCR_SUCCESS && scr.status_failed++ == 0)
    scr_dbg(1, "%s; scr_status does not know what the run is doing", scr_err_text);
  scr_err_restore(&why);
}

/*
** Rank 0 logs EVENT, which all ranks take part in, of the dataset DESC, or of the run if DESC is NULL; a negative SECS
** is left out.
*/
SCR_FN void scr_event(const char* event, const char* note, const scr_desc* desc, double secs)
{
  scr_log_dataset d = {0, NULL, secs};
  scr_err_record  why;

  scr_status_event(event, desc, secs);
  if (scr.world.rank != 0 || !scr_log_is_on(&scr.log)) return;
  if (desc != NULL) d.id = desc->identity.id;
  if (desc != NULL) d.name = scr_desc_name(desc);
  scr_err_save(&why);
  scr_logged(scr_log_event(&scr.log, event, note, &d), &why);
}

/*
** The application computes from now on, or no longer; the dataset that follows has the next id.  Whatever order such
** calls have, each start in the log has its end.
*/
SCR_FN void scr_event_compute(int on)
{
  scr_log_dataset d = {scr.dataset_id + 1, NULL, -1.0};
  scr_err_record  why;

  if (on == (scr.compute_start > 0)) return;
  if (!on) d.secs = scr_wtime() - scr.compute_start;
  scr.compute_start = on ? scr_wtime() : 0;
  scr_status_event(on ? "COMPUTE_START" : "COMPUTE_END", NULL, d.secs);
  if (scr.world.rank != 0 || !scr_log_is_on(&scr.log)) return;
  scr_err_save(&why);
  scr_logged(scr_log_event(&scr.log, on ? "COMPUTE_START" : "COMPUTE_END", NULL, &d), &why);
}

/* Rank 0 logs that all files of the dataset DESC were copied FROM one place TO another in SECS seconds. */
SCR_FN void scr_event_transfer(const char* type, const char* from, const char* to, const scr_desc* desc, double secs)
{
  scr_log_dataset d = {desc->identity.id, scr_desc_name(desc), secs};
  scr_err_record  why;

  if (scr.world.rank != 0 || !scr_log_is_on(&scr.log)) return;
  scr_err_save(&why);
  scr_logged(scr_log_transfer(&scr.log, type, from, to, &d, (double)desc->bytes, desc->files), &why);
}

/* If RC, the last error, says that a file of dataset ID is missing or corrupt, log it on this rank, which found it. */
SCR_FN void scr_event_damage(int id, int rc)
{
  scr_log_dataset d = {id, NULL, -1.0};
  scr_err_record  why;
  int             corrupt = rc == SCR_ERR_CRC || rc == SCR_ERR_FORMAT;

  if ((!corrupt && rc != SCR_ERR_MISSING) || !scr_log_is_on(&scr.log)) return;
  scr_err_save(&why);
  scr_logged(scr_log_event(&scr.log, corrupt ? "CORRUPT" : "MISSING", why.text, &d), &why);
  if (scr.world.rank != 0) scr_log_db_close(&scr.log.db); /* a database does not bear a connection of every rank */
}

/* Add TEXT to scr.tried: why a dataset cannot be loaded.  Every rank calls it. */
SCR_FN void scr_tried_keep(const char* text)
{
  if (scr.tried.n + strlen(text) + 3 >= 2000) return;
  if (scr.tried.n > 0) scr_buf_add(&scr.tried, "; ", 2);
  scr_buf_add(&scr.tried, text, strlen(text));
}

/* The same, and rank 0 warns of it. */
SCR_FN SCR_FORMAT(1, 2) void scr_tried_add(const char* format, ...)
{
  char    text[1024];
  va_list ap;

  va_start(ap, format);
  vsnprintf(text, sizeof text, format, ap);
  va_end(ap);
  scr_tried_keep(text);
  if (scr.world.rank == 0) scr_warn("%s", text);
}

/* ---- datasets ---- */

SCR_FN scr_dataset* scr_dataset_find(int id)
{
  int i;
  for (i = 0; i < scr.datasets; i++)
    if (scr.dataset[i].desc.identity.id == id) return &scr.dataset[i];
  return NULL;
}

/* Returns 1 if the cache has all files of DS, whatever has been decided about it. */
SCR_FN int scr_dataset_is_whole(const scr_dataset* ds)
{
  return ds != NULL && ds->life >= SCR_WHOLE && ds->life <= SCR_PASSED;
}

/* Returns 1 if DS is in the cache, not only read in place. */
SCR_FN int scr_dataset_is_cached(const scr_dataset* ds)
{
  return *ds->store != '\0';
}

/* Returns 1 if a restart may offer DS without being asked for it. */
SCR_FN int scr_dataset_is_live(const scr_dataset* ds)
{
  return scr_dataset_is_whole(ds) && ds->life != SCR_PASSED;
}

/* Returns 1 if DS is set aside, and work is lost without it. */
SCR_FN int scr_dataset_is_missed(const scr_dataset* ds)
{
  return ds->life == SCR_ASIDE && (ds->aside == SCR_ASIDE_KEPT || ds->aside == SCR_ASIDE_LOST);
}

/* The newest checkpoint in the cache with this NAME of which all files are there, or NULL. */
SCR_FN scr_dataset* scr_dataset_named(const char* name)
{
  int i;
  for (i = scr.datasets - 1; i >= 0; i--)
    if (scr_dataset_is_whole(&scr.dataset[i]) && scr.dataset[i].desc.ckpt > 0 &&
        strcmp(scr_desc_name(&scr.dataset[i].desc), name) == 0)
      return &scr.dataset[i];
  return NULL;
}

/* The newest checkpoint in the cache that is WHOLE, or NULL. */
SCR_FN scr_dataset* scr_dataset_newest(void)
{
  int i;
  for (i = scr.datasets - 1; i >= 0; i--)
    if (scr.dataset[i].life == SCR_WHOLE && scr.dataset[i].desc.ckpt > 0) return &scr.dataset[i];
  return NULL;
}

SCR_FN void scr_dataset_remove(int id)
{
  scr_dataset* ds = scr_dataset_find(id);
  int          i;

  if (ds == NULL) return;
  if (id == scr.loaded) {
    scr.loaded = 0;
    if (scr.restart == SCR_RESTART_LOADED) scr.restart = SCR_RESTART_UNTRIED;
  }
  i = (int)(ds - scr.dataset);
  scr_free(&ds->store);
  memmove(ds, ds + 1, (size_t)(scr.datasets - i - 1) * sizeof *ds);
  scr.datasets--;
}

/*
** Add the dataset DESC, which is in STORE, in the state LIFE; later datasets get higher ids.  Every rank calls it with
** the same arguments.
*/
SCR_FN int scr_dataset_add(const scr_desc* desc, const char* store, scr_life life)
{
  scr_dataset ds, *all;
  int         i;

  scr_dataset_remove(desc->identity.id);
  if (!scr_grow(&scr.dataset, scr.datasets, sizeof *scr.dataset)) return SCR_ERR_OOM();
  all = scr.dataset;
  memset(&ds, 0, sizeof ds);
  ds.desc = *desc;
  ds.life = life;
  if (!scr_desc_is_ckpt(desc)) ds.desc.ckpt = 0;
  if ((ds.store = scr_strdup(store)) == NULL) return SCR_ERR_OOM();
  for (i = scr.datasets; i > 0 && all[i - 1].desc.identity.id > desc->identity.id; i--) all[i] = all[i - 1];
  all[i] = ds;
  scr.datasets++;
  if (desc->identity.id > scr.dataset_id) scr.dataset_id = desc->identity.id;
  return SCR_SUCCESS;
}

/* This rank's entry of the dataset DS, or NULL. */
SCR_FN scr_entry* scr_dataset_entry(const scr_dataset* ds)
{
  return scr_filemap_find(&scr.map, &ds->desc.identity, scr.world.rank);
}

/*
** The next entry that this rank holds of the dataset IDENTITY, whoever owns it, from number *I of the filemap on; NULL
** behind the last.
*/
SCR_FN scr_entry* scr_dataset_next_entry(const scr_identity* identity, int* i)
{
  while (*i < scr.map.n) {
    scr_entry* e = scr.map.entry[(*i)++];
    if (scr_identity_cmp(&e->desc.identity, identity) == 0) return e;
  }
  return NULL;
}

/* Mark E with what its dataset's state LIFE says has been decided. */
SCR_FN void scr_entry_decide(scr_entry* e, scr_life life)
{
  e->mark = life == SCR_PASSED                                    ? SCR_MARK_PASSED
            : life == SCR_REJECTED || life == SCR_REJECTED_BEFORE ? SCR_MARK_REJECTED
                                                                  : SCR_MARK_NONE;
  snprintf(e->rejected_by, sizeof e->rejected_by, "%s", life == SCR_REJECTED ? scr.world.job_key : "");
}

/* Remove what the hash ARG lists, as in scr_removal. */
SCR_FN int scr_removal_run(void* arg)
{
  const scr_hash* paths = (const scr_hash*)arg;
  scr_hash_elem*  e;

  for (e = scr_hash_elem_first(scr_hash_get(paths, "FILE")); e != NULL; e = scr_hash_elem_next(e))
    scr_os.unlink(scr_hash_elem_key(e));
  for (e = scr_hash_elem_first(scr_hash_get(paths, "TREE")); e != NULL; e = scr_hash_elem_next(e))
    scr_tree_remove(scr_hash_elem_key(e));
  return SCR_SUCCESS;
}

/* Wait until what is being removed behind the application is gone. */
SCR_FN void scr_removal_wait(void)
{
  if (scr.removal.paths == NULL) return;
  scr_job_wait(&scr.removal.job);
  scr_hash_delete(&scr.removal.paths);
}

/*
** Let the helper remove PATHS, which are freed, behind the application.  The filemap on disk lists them as LEAVING
** until they are gone, as scr_map_write waits for that.
*/
SCR_FN void scr_removal_start(scr_hash* paths)
{
  scr_removal_wait();
  scr.removal.paths = paths;
  scr.removal.job.work = scr_removal_run;
  scr.removal.job.arg = paths;
  scr_job_start(&scr.removal.job);
}

/* Write the filemap of this rank to the control directory (S2). */
SCR_FN int scr_map_write(void)
{
  int rc;

  scr_removal_wait();
  rc = scr_filemap_write(scr.map_file, &scr.map, &scr.world.home);
  if (rc == SCR_SUCCESS) scr.map_is_behind = 0;
  return rc;
}

/* Let the filemap forget what was deleted since it was last written. */
SCR_FN void scr_map_settle(void)
{
  scr_err_record why;

  if (!scr.map_is_behind) return;
  scr_err_save(&why);
  if (scr_map_write() != SCR_SUCCESS) scr_warn("%s", scr_err_text);
  scr_err_restore(&why);
}

/* ---- changes of state ---- */

/*
** Record in the flush file R what the state of DS is.  DIR is the directory below the prefix that a flush puts it in;
** if NULL, the directory that a flush is expected to choose.
*/
SCR_FN void scr_dataset_put_note(scr_record* r, const scr_dataset* ds, const char* dir)
{
  scr_flush_note note;

  memset(&note, 0, sizeof note);
  note.id = ds->desc.identity.id;
  scr_flush_file_remove(r, note.id);
  if (!scr_dataset_is_cached(ds)) return; /* the flush file is about what is in the cache */
  if (ds->life == SCR_PASSED && ds->desc.ckpt > 0) scr_flush_file_put_passed(r, note.id, scr_desc_name(&ds->desc));
  if (!scr_dataset_is_live(ds)) return;
  note.flags = ds->desc.flags;
  note.identity = ds->desc.identity;
  note.ckpt = ds->desc.ckpt;
  note.ranks = ds->desc.ranks;
  snprintf(note.job, sizeof note.job, "%s", ds->desc.job);
  memcpy(note.name, ds->desc.name, sizeof note.name);
  if (dir != NULL) snprintf(note.dir, sizeof note.dir, "%s", dir);
  else if (*ds->desc.dir && ds->desc.preserve) memcpy(note.dir, ds->desc.dir, sizeof note.dir);
  else snprintf(note.dir, sizeof note.dir, "scr.dataset.%d", note.id);
  note.location = SCR_LOCATION_CACHE;
  if (ds->on_prefix == SCR_PREFIX_YES) note.location |= SCR_LOCATION_PREFIX;
  if (ds->on_prefix == SCR_PREFIX_FLUSHING)
    note.location |= scr.flush_async ? SCR_LOCATION_FLUSHING : SCR_LOCATION_SYNC_FLUSHING;
  scr_flush_file_put(r, &note);
}

/*
** Make the flush file say of dataset ID what its state is, and forget one that is gone; DIR is where a flush has put
** it, NULL when none has.  When the file cannot be written, a warning says so, and the next time all datasets are
** noted: until then commands see old states.  Rank 0 only.
*/
SCR_FN void scr_dataset_write_note(int id, const char* dir)
{
  scr_record     r;
  scr_flush_note old;
  int            i, known, rc = scr_flush_file_open(&r, scr.world.prefix);
  int            changed = scr_dataset_find(id) == NULL && scr_flush_file_remove(&r, id);

  for (i = 0; i < scr.datasets; i++) {
    const scr_dataset* ds = &scr.dataset[i];
    int                own = ds->desc.identity.id == id;
    if (!own && (!scr.notes_are_behind || !scr_dataset_is_whole(ds))) continue; /* one set aside may keep its note */
    known = scr_flush_file_get(&r, ds->desc.identity.id, &old);
    scr_dataset_put_note(&r, ds, own && dir != NULL ? dir : known ? old.dir : NULL);
    changed = 1;
  }
  rc = scr_record_close(&r, rc, changed);
  if (rc != SCR_SUCCESS)
    scr_warn("%s; until it can be written, commands and other jobs do not know that dataset %d is in the cache",
             scr_err_text, id);
  scr.notes_are_behind = rc != SCR_SUCCESS;
}

/*
** Record in the index, if it has DS, whether the application rejected it.  A choice of the user that only the cache has
** ends with its rejection.  Rank 0 only.
*/
SCR_FN int scr_dataset_note_verdict(const scr_dataset* ds)
{
  scr_index      index;
  scr_index_item it;
  scr_choice     c;
  int            changed = 0, rc = scr_index_open(&index, scr.world.prefix);

  if (rc != SCR_SUCCESS) return scr_index_close(&index, rc, 0);
  if (!scr_index_same(&index, &ds->desc.identity, &it)) {
    scr_choice_read(&index, &c);
    changed = ds->life == SCR_REJECTED && c.by_user && c.id == ds->desc.identity.id && !scr_index_current(&index, &it);
    if (changed) scr_choice_release(&index, 0, NULL);
  } else if (ds->life == SCR_REJECTED) {
    scr_index_note_failed(&index, it.id, it.dir, scr.world.job_key);
    changed = 1;
  } else if (ds->life == SCR_WHOLE) {
    changed = scr_index_forgive(&index, it.id, it.dir);
  }
  return scr_index_close(&index, rc, changed);
}

/* Returns 1 if the table of states has an edge between the two. */
SCR_FN int scr_life_leads(scr_life from, scr_life to)
{
  switch (from) {
  case SCR_WRITING:
  case SCR_REJECTED:
  case SCR_PASSED:
    return to == SCR_WHOLE;
  case SCR_WHOLE:
    return to == SCR_REJECTED || to == SCR_PASSED;
  case SCR_REJECTED_BEFORE:
    return to == SCR_WHOLE || to == SCR_REJECTED || to == SCR_PASSED;
  default:
    return 0;
  }
}

SCR_FN int scr_on_prefix_leads(scr_on_prefix from, scr_on_prefix to)
{
  switch (from) {
  case SCR_PREFIX_NO:
    return to == SCR_PREFIX_FLUSHING || to == SCR_PREFIX_YES;
  case SCR_PREFIX_FLUSHING:
    return to == SCR_PREFIX_RENAMING || to == SCR_PREFIX_NO || to == SCR_PREFIX_SUPERSEDED;
  case SCR_PREFIX_RENAMING:
    return to == SCR_PREFIX_YES || to == SCR_PREFIX_FLUSHING || to == SCR_PREFIX_DROPPED || to == SCR_PREFIX_OUTGROWN;
  case SCR_PREFIX_YES:
    return to == SCR_PREFIX_SUPERSEDED || to == SCR_PREFIX_DROPPED || to == SCR_PREFIX_OUTGROWN;
  case SCR_PREFIX_SUPERSEDED:
  case SCR_PREFIX_DROPPED:
  case SCR_PREFIX_OUTGROWN:
    return to == SCR_PREFIX_FLUSHING;
  }
  return 0;
}

/*
** The datasets of the N ids go on to LIFE.  Their entries are marked, and the filemap is written once for all of them.
** The index notes first what the application decided: a kill in between must not offer again what was rejected.  The
** flush file comes last.  A mark that cannot be written is a warning, and holds for this run; but when a filemap cannot
** be written, no dataset that was being written becomes whole.  Collective over the world; the same code everywhere.
*/
SCR_FN int scr_change_life(const int* ids, int n, scr_life life)
{
  int i, is_new, written = 0, rc = SCR_SUCCESS;

  for (i = 0; i < n; i++) {
    scr_dataset* ds = scr_dataset_find(ids[i]);
    scr_entry*   e;
    int          k = 0;
    if (!scr_life_leads(ds->life, life))
      return SCR_ERR(SCR_ERR_STATE, "dataset %d cannot go from state %d to %d", ids[i], (int)ds->life, (int)life);
    is_new = ds->life == SCR_WRITING;
    written |= is_new;
    ds->life = life;
    if (!is_new && life != SCR_PASSED && scr.world.rank == 0 && scr_dataset_note_verdict(ds) != SCR_SUCCESS)
      scr_warn("%s", scr_err_text);
    while ((e = scr_dataset_next_entry(&ds->desc.identity, &k)) != NULL) {
      if (is_new) e->desc = ds->desc;
      scr_entry_decide(e, life);
    }
  }
  if (!written) scr_barrier(scr.world.comm);
  rc = scr_map_write();
  if (!written && rc != SCR_SUCCESS) scr_warn("%s", scr_err_text);
  rc = !written ? SCR_SUCCESS : scr_agree(rc, scr.world.comm);
  for (i = 0; i < n && rc == SCR_SUCCESS && scr.world.rank == 0; i++) scr_dataset_write_note(ids[i], NULL);
  return rc;
}

/*
** The dataset DS, which a flush puts in DIR below the prefix, is now there as ON_PREFIX says.  Every rank calls it,
** after they have agreed, so that all have the same state; rank 0 writes the flush file, which says of RENAMING what
** it says of FLUSHING: the copy cannot be read yet.
*/
SCR_FN void scr_change_on_prefix(scr_dataset* ds, scr_on_prefix on_prefix, const char* dir)
{
  if (!scr_on_prefix_leads(ds->on_prefix, on_prefix))
    scr_warn("dataset %d cannot go from state %d to %d on the prefix", ds->desc.identity.id, (int)ds->on_prefix,
             (int)on_prefix);
  ds->on_prefix = on_prefix;
  if (scr.world.rank == 0 && on_prefix != SCR_PREFIX_RENAMING) scr_dataset_write_note(ds->desc.identity.id, dir);
}

/*
** A dataset was removed from the prefix: those that it superseded can be flushed again.  The flush file says CACHE of
** both states.  Every rank calls it.
*/
SCR_FN void scr_dataset_reconsider(void)
{
  int i;

  for (i = 0; i < scr.datasets; i++)
    if (scr.dataset[i].on_prefix == SCR_PREFIX_SUPERSEDED) scr.dataset[i].on_prefix = SCR_PREFIX_NO;
}

/* ==== 19 ENCODE =========================================================================================
** Protect the files of a redundancy set, and rebuild lost ones, by the ranks that act for its members.
**
** A member of a set is the OWNER of files, the rank that wrote them.  Its RUNNER is the rank that holds them now: the
** same rank after an ordinary restart; when fewer ranks read the dataset, one runner acts for several members.
**
** The way of a byte: SCR_Complete_output comes to scr_encode_protect, and scr_encoder_open opens the files of all
** members.  In each round of scr_encoder_run a byte is read and sent (step), added to a sum (receive, reduce) and, as
** data that is rebuilt, sent to its owner (deliver).  scr_encoder_store writes the sum, which is parity or data;
** scr_encoder_finish makes the files final.
**
** Uses       platform, errors, memory, path, hash, dataset, kernels, file window, erasure code, MPI helpers
** Offers     scr_encode; scr_encode_gather, scr_encode_protect, scr_encode_recover
** Invariants
**   R1  Protecting a set means rebuilding members that have lost their redundancy file, so one engine serves all
**       schemes in both directions.
**   R2  When a set is protected, a member reads each byte of its data once, whatever number of sums it goes into, and
**       its CRC32 is computed on the way.
**   R3  A runner that fails continues to exchange messages, so that no other runner waits for it.  The runners agree on
**       renaming files into place only after everything that can fail.
**   R4  All runners go through the same sequence of steps, and in each through its parts, one for each task.  In a
**       part, each member sends at most one piece and receives at most one.  A runner posts everything that its
**       members do in a part before it waits for any of it, and it waits in the order of the parts.  So there is no
**       deadlock: of the first incomplete part, a runner that has not posted its share waits only for earlier ones, and
**       these are complete.  This needs room for a whole part: SCR_ENCODE_FLIGHT exchanges for each member that a
**       runner acts for; pieces are smaller if there are more members.
**   R5  Messages to member T have the tag SCR_TAG_DATA + T.  One runner sends to a member, and that member's runner
**       receives, in the order of the parts, for whichever of its members the sender acts.  A runner also sends to
**       itself.
** Failure    An error code, which may differ between runners until the caller has agreed.  No file has been replaced;
**            the entries may have changed.
** Source     RAID-5; Plank: A Tutorial on Reed-Solomon Coding for Fault-Tolerance in RAID-like Systems, 1997; Ross and
**            others: A Case Study in Application I/O on Linux Clusters, SC 2001.  The schedule is pairwise: in part E
**            of step S, member J sends to J+S-E and receives from J-S+E.
** ====================================================================================================== */

#define SCR_ENCODE_FLIGHT 6 /* exchanges in flight per member that a runner acts for */

/* Bytes of scr_encode.work: what each member needs to tell the others even that it has no memory ... */
#define SCR_ENCODE_MEMBERS_BYTES (SCR_SET_SIZE_MAX * (4 * sizeof(int64_t) + sizeof(scr_buf) + sizeof(MPI_Request)))

/* ... the slots; and sums enough that the pieces of RS(2) have full size. */
#define SCR_ENCODE_WORK_BYTES(mpi_buf)                                                                                 \
  (SCR_ENCODE_MEMBERS_BYTES + (2 * (SCR_ENCODE_FLIGHT + 1) + 2 * 2 + 1) * (mpi_buf))

/* A set, and the means to protect or rebuild it.  All but home, work and damage are the same on all runners. */
typedef struct {
  const scr_reddesc* d;      /* the set; d->member[i] owns the files of member i */
  const int*         runner; /* [d->set_size]: the rank in comm that acts for member i; NULL: rank d->member[i] */
  const scr_home*    home;   /* names of this node's directories */
  MPI_Comm           comm;
  char*              work;        /* SCR_ENCODE_WORK_BYTES(mpi_buf) bytes, allocated early: it cannot fail later */
  size_t             mpi_buf;     /* bytes of the largest message */
  int                record_crc;  /* 1: record the CRC32 of each new file */
  int                verify;      /* 1: also check the CRC32 of files from which others are rebuilt */
  void (*damage)(int id, int rc); /* called for a damaged file of dataset ID; may be NULL */
} scr_encode;

/* ---- numbers and descriptions of all members ---- */

/* The rank that acts for member R. */
SCR_FN int scr_encode_runner(const scr_reddesc* d, const int* runner, int r)
{
  return runner != NULL ? runner[r] : d->member[r];
}

/* The first member for which RANK acts, or -1. */
SCR_FN int scr_encode_first_member(const scr_reddesc* d, const int* runner, int rank)
{
  int r;
  for (r = 0; r < d->set_size; r++)
    if (scr_encode_runner(d, runner, r) == rank) return r;
  return -1;
}

/*
** VALUES holds WORDS numbers for each member; this rank sets those of the members that it acts for, and receives the
** others.  Collective over the runners of D in COMM.  Each two runners exchange small messages, which suffices for sets
** of this size.
*/
SCR_FN int scr_encode_gather(const scr_reddesc* d, const int* runner, MPI_Comm comm, int words, int64_t* values)
{
  int me, first, step, s, err, n = d->set_size, rc = SCR_SUCCESS;

  MPI_Comm_rank(comm, &me);
  first = scr_encode_first_member(d, runner, me);
  for (step = 1; step < n && first >= 0; step++) {
    int         from = (first - step + n) % n;
    MPI_Request in = MPI_REQUEST_NULL, out;
    if (scr_encode_runner(d, runner, from) != me)
      MPI_Irecv(values + from * words, words, MPI_INT64_T, scr_encode_runner(d, runner, from), SCR_TAG_DATA + first,
                comm, &in);
    for (s = 0; s < n; s++) {
      int to = (s + step) % n, rank = scr_encode_runner(d, runner, to);
      if (scr_encode_runner(d, runner, s) != me || rank == me || scr_encode_first_member(d, runner, rank) != to)
        continue;
      MPI_Isend(values + s * words, words, MPI_INT64_T, rank, SCR_TAG_DATA + to, comm, &out);
      if ((err = scr_wait_for(&out)) != SCR_SUCCESS) rc = err;
    }
    if ((err = scr_wait_for(&in)) != SCR_SUCCESS) rc = err;
  }
  return rc;
}

/* ---- the engine ---- */

/* What one member combines in a round: N bytes at OFFSET of position POS. */
typedef struct {
  int      reducer, pos;
  uint64_t offset;
  size_t   n;
} scr_encode_task;

/* An exchange in flight: one piece that is received for member TARGET, and one that is sent. */
typedef struct {
  MPI_Request req[2];
  uint64_t    round;
  int         target;   /* a member of this runner; -1: nothing is received */
  int         source;   /* the member that sends */
  int         reducer;  /* whose task it is */
  int         e;        /* number of the task */
  int         result;   /* 1: the piece is a finished symbol of TARGET; 0: a term of the task's sum */
  char *      in, *out; /* OUT is also sent by the later exchanges of its step that have the same symbol to send */
} scr_encode_slot;

/* The members of a set for which this runner acts, and the state of one run of the engine. */
typedef struct {
  const scr_encode*  x;
  const scr_reddesc* d;
  const int64_t*     lost;    /* [n] */
  int                fresh;   /* 1: the dataset is new */
  int                members; /* number of members that this runner acts for */
  int*               own;     /* [n]: index in m of the members of this runner; -1 for others */
  scr_member*        m;
  scr_header*        h;            /* [members]: their headers; empty without a redundancy file */
  scr_entry**        entry;        /* [members][failures + 1]: what a new header describes */
  int64_t *          pair, *total; /* these lie in x->work: one or two numbers that all members bring; bytes of each; */
  scr_buf*           packed;       /* [n]: descriptions, packed, */
  MPI_Request*       sent;         /* [n]: on their way */

  scr_erasure      ec;
  int              spread; /* 1: workers take turns to combine lost data; 0, as to protect: each member for itself */
  int              plain;  /* 1: a symbol is a copy of another one; nothing is combined */
  int*             worker; /* the members that combine */
  int*             turn;   /* [n]: index among the workers, or -1 */
  int              workers, tasks;
  int              rows; /* sums per member and round: one for each target if spread, else for each task */
  uint64_t         rounds;
  size_t           piece;
  int              rc;
  const char**     symbol; /* [members]: the symbol that each sends in this step, once it is read */
  scr_encode_slot* slot;
  int              slots, flight; /* slots; exchanges in flight at most */
  uint64_t         issued, ended; /* numbers of exchanges */
  uint64_t         mark[2];       /* issued, when the sums of a round were sent; by round % 2 */
  char *           acc, *term;
  int*             begun; /* [members][2][rows]: number of symbols in a sum so far */
} scr_encoder;

/* Task E of REDUCER in ROUND; returns 0 if it has none.  The same on all runners. */
SCR_FN int scr_encoder_task(const scr_encoder* c, uint64_t round, int reducer, int e, scr_encode_task* t)
{
  uint64_t piece = round, length;

  t->reducer = reducer;
  if (c->spread) {
    uint64_t item = round * (uint64_t)c->workers + (uint64_t)c->turn[reducer];
    if (c->turn[reducer] < 0) return 0;
    piece = item / (uint64_t)c->ec.n;
    t->pos = (int)(item % (uint64_t)c->ec.n);
    if (c->ec.target[t->pos * c->ec.k] < 0) return 0;
  } else {
    t->pos = (reducer + (c->ec.scheme == SCR_SCHEME_PARTNER ? c->ec.n - 1 + e : e)) % c->ec.n;
    if (!scr_erasure_is_lost(&c->ec, reducer, t->pos)) return 0;
  }
  t->offset = piece * c->piece;
  length = scr_erasure_length(&c->ec, t->pos);
  if (t->offset >= length) return 0;
  t->n = length - t->offset < c->piece ? (size_t)(length - t->offset) : c->piece;
  return 1;
}

/* Returns 1 if task T includes the symbol of member R. */
SCR_FN int scr_encoder_gives(const scr_encoder* c, const scr_encode_task* t, int r)
{
  unsigned char f;
  uint64_t      at;
  int           i;

  if (scr_erasure_symbol(&c->ec, r, t->pos, &at) == SCR_SYMBOL_NONE || scr_erasure_is_lost(&c->ec, r, t->pos)) return 0;
  for (i = 0; i < c->ec.k; i++)
    if ((c->spread || c->ec.target[t->pos * c->ec.k + i] == t->reducer) && scr_erasure_factor(&c->ec, t->pos, i, r, &f))
      return 1;
  return 0;
}

/* The index of sum I of member R in ROUND.  Two rounds are in progress at the same time. */
SCR_FN size_t scr_encoder_row(const scr_encoder* c, uint64_t round, int r, int i)
{
  return ((size_t)c->own[r] * 2 + (size_t)(round % 2)) * (size_t)c->rows + (size_t)i;
}

/* Add the symbol P of member R to the sums of T, task number E; the first symbol initialises the sum. */
SCR_FN void scr_encoder_add(scr_encoder* c, uint64_t round, int e, const scr_encode_task* t, int r, const char* p)
{
  const void*   src = p;
  unsigned char f;
  int           i;

  for (i = 0; i < c->ec.k; i++) {
    size_t row = scr_encoder_row(c, round, t->reducer, c->spread ? i : e);
    if (!c->spread && c->ec.target[t->pos * c->ec.k + i] != t->reducer) continue;
    if (!scr_erasure_factor(&c->ec, t->pos, i, r, &f)) continue;
    if (c->begun[row]++ == 0) scr_gf_sum(c->acc + row * c->piece, &src, &f, 1, t->n);
    else scr_gf_mad_one(c->acc + row * c->piece, src, f, t->n);
  }
}

/* Write the finished symbol P of T to the new files of member R. */
SCR_FN void scr_encoder_store(scr_encoder* c, const scr_encode_task* t, int r, char* p)
{
  if (c->rc == SCR_SUCCESS) c->rc = scr_member_store(&c->m[c->own[r]], &c->ec, t->pos, t->offset, p, t->n);
}

/* Wait for the oldest exchange, and use what it received. */
SCR_FN void scr_encoder_receive(scr_encoder* c)
{
  scr_encode_slot* s = &c->slot[c->ended++ % (uint64_t)c->slots];
  scr_encode_task  t;
  int              err = scr_waitall(2, s->req);

  if (err != SCR_SUCCESS) c->rc = err;
  if (s->target < 0) return;
  scr_encoder_task(c, s->round, s->reducer, s->e, &t);
  if (s->result) scr_encoder_store(c, &t, s->target, s->in);
  else scr_encoder_add(c, s->round, s->e, &t, s->source, s->in);
}

/*
** A free slot for an exchange of ROUND.  If as many are in flight as may be, the oldest, of an earlier part of a step,
** is completed first (R4).  All exchanges that may send the OUT of the slot have ended, too: they belong to one step,
** and there are (tasks - 1) * members slots more than exchanges in flight.
*/
SCR_FN scr_encode_slot* scr_encoder_slot(scr_encoder* c, uint64_t round, int reducer, int e)
{
  scr_encode_slot* s;

  while (c->issued - c->ended >= (uint64_t)c->flight) scr_encoder_receive(c);
  s = &c->slot[c->issued++ % (uint64_t)c->slots];
  s->req[0] = s->req[1] = MPI_REQUEST_NULL;
  s->round = round;
  s->reducer = reducer;
  s->e = e;
  s->result = 0;
  s->target = -1;
  return s;
}

/*
** Part E of step S of a round: each member sends to the member S-E to its right, for that one's task E, and receives
** for its own task E.  In all parts of a step it sends the same symbol, whose position depends on S alone; it is read
** once.
*/
SCR_FN void scr_encoder_step(scr_encoder* c, uint64_t round, int s, int e)
{
  int a, d = s - e;

  if (d < 1 || d >= c->ec.n) return;
  for (a = 0; a < c->members; a++) {
    scr_member*      m = &c->m[a];
    int              to = (m->r + d) % c->ec.n, from = (m->r - d + c->ec.n) % c->ec.n;
    scr_encode_task  out, in;
    int              send = scr_encoder_task(c, round, to, e, &out) && scr_encoder_gives(c, &out, m->r);
    int              recv = scr_encoder_task(c, round, m->r, e, &in) && scr_encoder_gives(c, &in, from);
    scr_encode_slot* slot;
    if (!send && !recv) continue;
    slot = scr_encoder_slot(c, round, m->r, e);
    if (recv) {
      slot->result = c->plain;
      slot->source = from;
      slot->target = m->r;
      MPI_Irecv(slot->in, (int)in.n, MPI_BYTE, scr_encode_runner(c->d, c->x->runner, from), SCR_TAG_DATA + m->r,
                c->x->comm, &slot->req[0]);
    }
    if (send) {
      if (c->symbol[a] == NULL)
        c->symbol[a] = scr_member_load(m, &c->ec, out.pos, out.offset, out.n, slot->out, !c->spread, &c->rc);
      MPI_Isend(c->symbol[a], (int)out.n, MPI_BYTE, scr_encode_runner(c->d, c->x->runner, to), SCR_TAG_DATA + to,
                c->x->comm, &slot->req[1]);
    }
  }
}

/* Add the members' own symbols to their tasks of ROUND, and store the sums that are their own. */
SCR_FN void scr_encoder_reduce(scr_encoder* c, uint64_t round)
{
  scr_encode_task t;
  int             a, e;

  for (a = 0; a < c->members && !c->plain; a++)
    for (e = 0; e < c->tasks; e++) {
      scr_member* m = &c->m[a];
      if (!scr_encoder_task(c, round, m->r, e, &t)) continue;
      if (scr_encoder_gives(c, &t, m->r))
        scr_encoder_add(c, round, e, &t, m->r, scr_member_load(m, &c->ec, t.pos, t.offset, t.n, c->term, 0, &c->rc));
      if (!c->spread) scr_encoder_store(c, &t, m->r, c->acc + scr_encoder_row(c, round, m->r, e) * c->piece);
    }
}

/*
** The workers of a round send the finished symbols to their targets: one step for each symbol, by worker, then by
** target.
*/
SCR_FN void scr_encoder_deliver(scr_encoder* c, uint64_t round)
{
  scr_encode_task  t;
  scr_encode_slot* s;
  int              j, i;

  for (j = 0; c->spread && j < c->workers; j++) {
    int from = c->worker[j];
    if (!scr_encoder_task(c, round, from, 0, &t)) continue;
    for (i = 0; i < c->ec.k && c->ec.target[t.pos * c->ec.k + i] >= 0; i++) {
      int to = c->ec.target[t.pos * c->ec.k + i];
      if (c->own[to] < 0 && c->own[from] < 0) continue;
      s = scr_encoder_slot(c, round, from, 0);
      if (c->own[to] >= 0) {
        s->result = 1;
        s->source = from;
        s->target = to;
        MPI_Irecv(s->in, (int)t.n, MPI_BYTE, scr_encode_runner(c->d, c->x->runner, from), SCR_TAG_DATA + to, c->x->comm,
                  &s->req[0]);
      }
      if (c->own[from] >= 0)
        MPI_Isend(c->acc + scr_encoder_row(c, round, from, i) * c->piece, (int)t.n, MPI_BYTE,
                  scr_encode_runner(c->d, c->x->runner, to), SCR_TAG_DATA + to, c->x->comm, &s->req[1]);
    }
  }
}

/*
** Make all that is lost: when a new dataset is protected, every redundancy file (R1).  Collective over the runners.
** The exchanges of round R+1 are in progress while round R is completed.
*/
SCR_FN int scr_encoder_run(scr_encoder* c)
{
  uint64_t round;
  int      a, s, e;

  for (round = 0; round <= c->rounds; round++) {
    if (round < c->rounds) {
      while (c->ended < c->mark[round % 2]) scr_encoder_receive(c); /* the sums of the round before last are sent */
      for (a = 0; a < c->members; a++)
        memset(&c->begun[scr_encoder_row(c, round, c->m[a].r, 0)], 0, (size_t)c->rows * sizeof *c->begun);
      for (s = 1; s < c->ec.n + c->tasks - 1; s++) {
        memset(c->symbol, 0, (size_t)c->members * sizeof *c->symbol);
        for (e = 0; e < c->tasks; e++) scr_encoder_step(c, round, s, e);
      }
    }
    if (round == 0) continue;
    while (c->ended < c->issued && c->slot[c->ended % (uint64_t)c->slots].round < round) scr_encoder_receive(c);
    scr_encoder_reduce(c, round - 1);
    scr_encoder_deliver(c, round - 1);
    c->mark[(round - 1) % 2] = c->issued;
  }
  while (c->ended < c->issued) scr_encoder_receive(c);
  return c->rc;
}

/*
** Decide who combines what, the size of a piece, the number of rounds, and where the slots lie.  The same on all
** runners.
*/
SCR_FN int scr_encoder_plan(scr_encoder* c)
{
  const scr_reddesc* d = c->d;
  int                i, j, data = 0, whole = 0, widest = 0, slots, rc;
  uint64_t           most = 1, pieces;
  size_t             room = SCR_ENCODE_WORK_BYTES(c->x->mpi_buf) - SCR_ENCODE_MEMBERS_BYTES, parts;
  char*              p = c->x->work + SCR_ENCODE_MEMBERS_BYTES;

  if ((rc = scr_erasure_make(&c->ec, d->scheme, d->set_size, d->failures, c->lost, c->total)) != SCR_SUCCESS) return rc;
  for (i = 0; i < d->set_size; i++) {
    int members = 0;
    if (c->lost[i] & SCR_LOST_DATA) data = 1;
    whole += c->lost[i] == 0;
    if (scr_erasure_length(&c->ec, i) > most) most = scr_erasure_length(&c->ec, i);
    for (j = 0; j < d->set_size; j++)
      members += scr_encode_runner(d, c->x->runner, i) == scr_encode_runner(d, c->x->runner, j);
    if (members > widest) widest = members;
  }
  c->spread = data && d->scheme != SCR_SCHEME_PARTNER;
  c->plain = !c->spread && (d->scheme == SCR_SCHEME_PARTNER || (d->scheme == SCR_SCHEME_XOR && d->set_size == 2));
  c->tasks = c->spread ? 1 : d->scheme == SCR_SCHEME_PARTNER ? 2 : d->failures;
  c->rows = d->failures > c->tasks ? d->failures : c->tasks;
  slots = SCR_ENCODE_FLIGHT + c->tasks - 1; /* of each member */
  c->flight = SCR_ENCODE_FLIGHT * c->members;
  c->slots = slots * c->members;
  c->worker = (int*)scr_malloc((size_t)d->set_size * sizeof *c->worker);
  c->turn = (int*)scr_malloc((size_t)d->set_size * sizeof *c->turn);
  c->slot = (scr_encode_slot*)scr_malloc((size_t)c->slots * sizeof *c->slot);
  c->symbol = (const char**)scr_malloc((size_t)c->members * sizeof *c->symbol);
  c->begun = (int*)scr_malloc(2 * (size_t)(c->members * c->rows) * sizeof *c->begun);
  if (c->worker == NULL || c->turn == NULL || c->slot == NULL || c->symbol == NULL || c->begun == NULL)
    return SCR_ERR_OOM();
  for (i = 0; i < d->set_size; i++) {
    c->turn[i] = c->spread && whole > 0 && c->lost[i] ? -1 : c->workers;
    if (c->turn[i] >= 0) c->worker[c->workers++] = i;
  }

  parts = (size_t)widest * (size_t)(2 * slots + 2 * c->rows) + 1;
  c->piece = room / parts < c->x->mpi_buf ? room / parts : c->x->mpi_buf;
  if (c->piece > 64) c->piece &= ~(size_t)63;
  if (c->piece == 0)
    return SCR_ERR(SCR_ERR_PARAM, "%zu bytes are too few for %zu pieces; set SCR_MPI_BUF_SIZE to more", room, parts);
  if (c->piece > most) c->piece = (size_t)most;
  pieces = (most + c->piece - 1) / c->piece;
  c->rounds = c->spread ? (pieces * (uint64_t)c->ec.n + (uint64_t)c->workers - 1) / (uint64_t)c->workers : pieces;
  for (i = 0; i < c->slots; i++, p += 2 * c->piece) {
    c->slot[i].in = p;
    c->slot[i].out = p + c->piece;
  }
  c->acc = p;
  c->term = p + 2 * (size_t)(c->members * c->rows) * c->piece;
  return SCR_SUCCESS;
}

/* ---- the members of this runner ---- */

/* Find the entry of each member that this runner acts for among the N entries E. */
SCR_FN int scr_encoder_begin(scr_encoder* c, const scr_encode* x, int n, scr_entry** e, const int64_t* lost)
{
  const scr_reddesc* d = x->d;
  char               name[96], path[SCR_MAX_FILENAME];
  int                r, a = 0, i, me, rc = SCR_SUCCESS;

  memset(c, 0, sizeof *c);
  c->x = x;
  c->d = d;
  c->lost = lost;
  c->pair = (int64_t*)(void*)x->work;
  c->total = c->pair + 2 * SCR_SET_SIZE_MAX;
  c->packed = (scr_buf*)(void*)(c->pair + 4 * SCR_SET_SIZE_MAX);
  c->sent = (MPI_Request*)(void*)(c->packed + SCR_SET_SIZE_MAX);
  MPI_Comm_rank(x->comm, &me);
  for (r = 0; r < d->set_size; r++) c->members += scr_encode_runner(d, x->runner, r) == me;
  c->own = (int*)scr_malloc((size_t)d->set_size * sizeof *c->own);
  c->m = (scr_member*)scr_malloc((size_t)c->members * sizeof *c->m);
  c->h = (scr_header*)scr_malloc((size_t)c->members * sizeof *c->h);
  c->entry = (scr_entry**)scr_malloc((size_t)(c->members * (d->failures + 1)) * sizeof *c->entry);
  for (i = 0; c->m != NULL && i < c->members; i++) c->m[i].fd = -1;
  if (c->own == NULL || c->m == NULL || c->h == NULL || c->entry == NULL) return SCR_ERR_OOM();
  for (r = 0; r < d->set_size && rc == SCR_SUCCESS; r++) {
    scr_member* m = &c->m[a];
    c->own[r] = -1;
    if (scr_encode_runner(d, x->runner, r) != me) continue;
    c->own[r] = a++;
    m->r = r;
    m->lost = lost[r];
    for (i = 0; i < n; i++)
      if (e[i]->owner == d->member[r]) m->e = e[i];
    if (m->e == NULL) return SCR_ERR(SCR_ERR_ARG, "there is no entry of rank %d to protect or rebuild", d->member[r]);
    scr_set_file_name(d->scheme, r, d->set_size, d->set_id, name, sizeof name);
    rc = scr_entry_path(x->home, m->e, name, path, sizeof path);
    if (rc == SCR_SUCCESS && (m->red = scr_strdup(path)) == NULL) rc = SCR_ERR_OOM();
  }
  return rc;
}

/* List the files of all members of this runner. */
SCR_FN int scr_encoder_list(scr_encoder* c)
{
  char path[SCR_MAX_FILENAME];
  int  a, i, rc = SCR_SUCCESS;

  for (a = 0; a < c->members && rc == SCR_SUCCESS; a++) {
    scr_member* m = &c->m[a];
    rc = scr_member_list(m, c->d->failures, &c->total[m->r]);
    for (i = 0; i < m->n && rc == SCR_SUCCESS; i++) {
      m->bad[i] = (m->lost & SCR_LOST_DATA) != 0;
      rc = scr_entry_path(c->x->home, m->e, m->e->file[m->index[i]].rel, path, sizeof path);
      if (rc == SCR_SUCCESS && (m->path[i] = scr_strdup(path)) == NULL) rc = SCR_ERR_OOM();
    }
  }
  return rc;
}

/* The bytes that the description of E's files takes in a header; WITH_CRC: with all their checksums. */
SCR_FN int64_t scr_encoder_size(const scr_entry* e, int with_crc)
{
  scr_hash*  h = scr_hash_new();
  scr_entry* later = scr_entry_dup(e);
  int64_t    n = -(int64_t)scr_hash_pack_size(h);
  int        i;

  for (i = 0; later != NULL && i < later->files && with_crc; i++) later->file[i].has_crc = 1;
  if (later != NULL) scr_entry_write_member(h, later);
  n += (int64_t)scr_hash_pack_size(h);
  scr_entry_free(&later);
  scr_hash_delete(&h);
  return n;
}

/* The header of member A of this runner; it points into C. */
SCR_FN scr_header scr_encoder_header(const scr_encoder* c, int a)
{
  const scr_reddesc* d = c->d;
  scr_header         h;

  memset(&h, 0, sizeof h);
  h.desc = c->m[a].e->desc;
  h.ranks = h.desc.ranks;
  h.scheme = d->scheme;
  h.failures = d->failures;
  h.set_size = d->set_size;
  h.member = d->member;
  h.chunk = c->ec.chunk;
  h.r = c->m[a].r;
  h.entry = c->entry + a * (d->failures + 1);
  return h;
}

/* Read the header of member A of this runner: it must be of this dataset and set.  The chunk size is checked later. */
SCR_FN int scr_encoder_read_header(scr_encoder* c, int a)
{
  scr_header h = scr_encoder_header(c, a);
  int        rc = scr_header_read(c->m[a].red, &c->h[a]);

  h.chunk = c->h[a].chunk;
  return rc == SCR_SUCCESS ? scr_header_fit(&h, "the record of the cache", &c->h[a], c->m[a].red) : rc;
}

/* Returns 1 if A and B list the same files of the application, in the same order and with the same sizes. */
SCR_FN int scr_encoder_same_files(const scr_entry* a, const scr_entry* b)
{
  int i = 0, j = 0;

  for (;; i++, j++) {
    while (i < a->files && a->file[i].kind != SCR_FILE_APPLICATION) i++;
    while (j < b->files && b->file[j].kind != SCR_FILE_APPLICATION) j++;
    if (i == a->files || j == b->files) return i == a->files && j == b->files;
    if (strcmp(a->file[i].rel, b->file[j].rel) != 0 || a->file[i].size != b->file[j].size) return 0;
  }
}

/* Open the files of member A of this runner.  An existing header must agree with the entry. */
SCR_FN int scr_encoder_open_member(scr_encoder* c, int a)
{
  scr_member* m = &c->m[a];
  scr_header  h = scr_encoder_header(c, a);
  scr_buf     b = {NULL, 0, 0, 0};
  int         i, rc;

  if (m->lost & SCR_LOST_RED) {
    rc = scr_header_image(&h, &b);
    m->head = b.n;
    for (i = 0; i <= h.failures; i++) m->head += (uint64_t)c->pair[2 * ((m->r - i + h.set_size) % h.set_size) + 1];
    scr_buf_free(&b);
  } else {
    m->head = c->h[a].bytes;
    rc = scr_header_fit(&h, "the record of the cache", &c->h[a], m->red);
    if (rc == SCR_SUCCESS && (c->h[a].r != m->r || !scr_encoder_same_files(c->h[a].entry[0], m->e)))
      rc = SCR_ERR(SCR_ERR_FORMAT, "%s lists other files than the record of the cache", m->red);
  }
  return rc == SCR_SUCCESS ? scr_member_open(m, &c->ec) : rc;
}

/* The error of a runner that cannot go on because another one has failed: the vote prefers what that one says. */
SCR_FN int scr_encoder_other(const scr_encoder* c)
{
  int rc = SCR_ERR(SCR_ERR_LOST, "another member of the set of rank %d cannot take part", c->d->member[c->m[0].r]);
  scr_err_secondhand = 1;
  return rc;
}

/*
** Each runner brings an error RC, or WORDS numbers for each of its members in c->pair; all continue only if no runner
** has failed.  A runner that cannot read sends zeros, so that what others rebuild looks corrupt: its error is the one
** that counts, not theirs.  Collective over the runners.
*/
SCR_FN int scr_encoder_ready(scr_encoder* c, int rc, int words)
{
  enum { FAILED = -1, MISLED = -2 }; /* MISLED: an error which that of another runner may explain */
  int misled = rc != SCR_SUCCESS && (rc == SCR_ERR_CRC || scr_err_secondhand);
  int r, err, failed = 0, all = 0;

  for (r = 0; r < c->d->set_size && rc != SCR_SUCCESS; r++)
    c->pair[r * words] = misled ? MISLED : FAILED; /* its own say so; those of others are received */
  err = scr_encode_gather(c->d, c->x->runner, c->x->comm, words, c->pair);
  for (r = 0; r < c->d->set_size; r++) {
    failed += c->pair[r * words] == FAILED;
    all += c->pair[r * words] < 0;
  }
  if (rc != SCR_SUCCESS && (!misled || failed == 0)) return rc;
  if (rc == SCR_SUCCESS && err != SCR_SUCCESS) return err;
  return all == 0 ? SCR_SUCCESS : scr_encoder_other(c);
}

/* Go on only if no runner brings an error.  Collective over the runners. */
SCR_FN int scr_encoder_agree(scr_encoder* c, int rc)
{
  int a;

  for (a = 0; a < c->members; a++) c->pair[c->m[a].r] = 0;
  return scr_encoder_ready(c, rc, 1);
}

/* Agree on which symbols each lost one is a sum of, and open the files.  Collective over the runners. */
SCR_FN int scr_encoder_open(scr_encoder* c, int rc)
{
  int a, r;

  if (rc == SCR_SUCCESS) rc = scr_encoder_list(c);
  for (a = 0; a < c->members && rc == SCR_SUCCESS; a++) {
    r = c->m[a].r;
    c->pair[2 * r] = c->total[r];
    c->pair[2 * r + 1] = scr_encoder_size(c->m[a].e, c->fresh && c->x->record_crc);
  }
  if (rc == SCR_SUCCESS && scr_oom) rc = SCR_ERR_OOM();
  if ((rc = scr_encoder_ready(c, rc, 2)) != SCR_SUCCESS) return rc;
  for (r = 0; r < c->d->set_size; r++) c->total[r] = c->pair[2 * r];
  rc = scr_encoder_plan(c);
  for (a = 0; a < c->members && rc == SCR_SUCCESS; a++) rc = scr_encoder_open_member(c, a);
  return scr_encoder_agree(c, rc);
}

/* ---- what members tell each other of their files ---- */

/* Make *E the description of the files of OWNER that the message B brings; it is empty when the sender has failed. */
SCR_FN int scr_encoder_described(scr_encoder* c, int owner, const scr_buf* b, scr_entry** e)
{
  scr_hash* h = scr_hash_new();
  int       rc = h == NULL ? SCR_ERR_OOM() : b->n == 0 ? scr_encoder_other(c) : scr_hash_from_buf(b, h);

  if (rc == SCR_SUCCESS) *e = scr_header_read_entry(h, owner, &rc);
  scr_hash_delete(&h);
  return rc;
}

/* Pack the description of the files of E into B, which stays empty on an error. */
SCR_FN int scr_encoder_describe(const scr_entry* e, scr_buf* b)
{
  scr_hash* h = scr_hash_new();
  int       rc;

  scr_entry_write_member(h, e);
  if ((rc = scr_hash_to_buf(h, b)) != SCR_SUCCESS) scr_buf_free(b);
  scr_hash_delete(&h);
  return rc;
}

/*
** 1 when member T gets a description from the member at DISTANCE to its left: when its redundancy file is made, of that
** member's files; with a negative one, from the nearest header to its right, of those that T itself has lost.
*/
SCR_FN int scr_encoder_needs(const scr_encoder* c, int t, int distance)
{
  if (distance > 0) return (c->lost[t] & SCR_LOST_RED) != 0;
  return c->lost[t] & SCR_LOST_DATA && scr_header_holder(c->d->set_size, c->d->failures, c->lost, t) == -distance;
}

/*
** Members send descriptions over DISTANCE to those that need them, which keep them in c->entry.  Collective over the
** runners.
*/
SCR_FN int scr_encoder_share(scr_encoder* c, int distance, int rc)
{
  int      n = c->d->set_size, k = c->d->failures, me, r, i = distance > 0 ? distance : -distance, err;
  scr_buf* packed = c->packed;

  MPI_Comm_rank(c->x->comm, &me);
  for (r = 0; r < n; r++) {
    int to = (r + distance + n) % n;
    c->sent[r] = MPI_REQUEST_NULL;
    memset(&packed[r], 0, sizeof packed[r]);
    if (scr_encode_runner(c->d, c->x->runner, r) != me || !scr_encoder_needs(c, to, distance)) continue;
    if (rc == SCR_SUCCESS)
      rc = scr_encoder_describe(distance > 0 ? c->m[c->own[r]].e : c->h[c->own[r]].entry[i], &packed[r]);
    MPI_Isend(packed[r].p, (int)packed[r].n, MPI_BYTE, scr_encode_runner(c->d, c->x->runner, to), SCR_TAG_DATA + to,
              c->x->comm, &c->sent[r]);
  }
  for (r = 0; r < n; r++) {
    scr_buf b = {NULL, 0, 0, 0};
    int     from = (r - distance + n) % n;
    if (scr_encode_runner(c->d, c->x->runner, r) != me || !scr_encoder_needs(c, r, distance)) continue;
    err = scr_message_recv(scr_encode_runner(c->d, c->x->runner, from), SCR_TAG_DATA + r, c->x->comm, &b, NULL);
    if (rc == SCR_SUCCESS) rc = err;
    if (rc == SCR_SUCCESS)
      rc = scr_encoder_described(c, c->d->member[distance > 0 ? from : r], &b, &c->entry[c->own[r] * (k + 1) + i]);
    scr_buf_free(&b);
  }
  err = scr_waitall(n, c->sent);
  for (r = 0; r < n; r++) scr_buf_free(&packed[r]);
  return rc != SCR_SUCCESS ? rc : err;
}

/*
** Members that have lost their files learn which they were from the nearest header: their own, or one to the right; and
** give them their places.  Collective over the runners.
*/
SCR_FN int scr_encoder_learn(scr_encoder* c, int rc)
{
  int        k = c->d->failures, a, i, f;
  char       path[SCR_MAX_FILENAME];
  scr_entry* found;

  for (a = 0; a < c->members && rc == SCR_SUCCESS; a++)
    if (!(c->m[a].lost & SCR_LOST_RED)) rc = scr_encoder_read_header(c, a);
  for (i = 1; i <= k; i++) rc = scr_encoder_share(c, -i, rc);
  for (a = 0; a < c->members && rc == SCR_SUCCESS; a++) {
    scr_member* m = &c->m[a];
    i = scr_header_holder(c->d->set_size, k, c->lost, m->r);
    if (!(m->lost & SCR_LOST_DATA) || i < 0) continue; /* scr_erasure_make says that they cannot be found */
    found = i == 0 ? c->h[a].entry[0] : c->entry[a * (k + 1) + i];
    for (f = 0; f < found->files && rc == SCR_SUCCESS; f++)
      rc = scr_entry_place(c->x->home, m->e, &found->file[f], path);
    if (i > 0) scr_entry_free(&c->entry[a * (k + 1) + i]);
  }
  return rc;
}

/* ---- the end ---- */

/* The CRC32 of the files of this runner's members: recorded if the dataset is new, otherwise compared. */
SCR_FN int scr_encoder_check(scr_encoder* c)
{
  int a, unproven = 0, rc = SCR_SUCCESS;

  for (a = 0; a < c->members && rc == SCR_SUCCESS; a++) {
    scr_member* m = &c->m[a];
    if (c->fresh ? !c->x->record_crc : !c->x->verify && !(m->lost & SCR_LOST_DATA)) continue;
    rc = scr_member_check(m, c->fresh, &unproven);
  }
  return rc;
}

/* Report the error RC of scr_encoder_check, and return what the caller gets. */
SCR_FN int scr_encoder_damage(const scr_encoder* c, int rc)
{
  if (c->x->damage != NULL) c->x->damage(c->m[0].e->desc.identity.id, rc);
  return rc == SCR_ERR_CRC && c->fresh ? SCR_ERR_IO : rc; /* not CRC: the copy it was fetched from may be good */
}

/* Finish the new files of member A of this runner, and record its redundancy file in its entry. */
SCR_FN int scr_encoder_finish_member(scr_encoder* c, int a)
{
  scr_member* m = &c->m[a];
  scr_header  h = scr_encoder_header(c, a);
  scr_file    f;
  char        name[96], path[SCR_MAX_FILENAME];
  int         rc;

  h.entry[0] = m->e;
  rc = scr_member_finish(m, &h, 0);
  h.entry[0] = NULL;
  if (rc != SCR_SUCCESS || !(m->lost & SCR_LOST_RED)) return rc;
  memset(&f, 0, sizeof f);
  scr_set_file_name(h.scheme, h.r, h.set_size, c->d->set_id, name, sizeof name);
  f.rel = name;
  f.kind = (scr_file_kind)h.scheme; /* the enums of schemes and kinds have the same order */
  f.complete = 1;
  f.size = m->head + m->part * (uint64_t)m->k;
  f.ranks = h.ranks;
  f.has_crc = 1;
  f.crc = m->crc;
  return scr_entry_place(c->x->home, m->e, &f, path);
}

/* Remove a directory that lies where a lost file of the cache has its place. */
SCR_FN void scr_encoder_clear(const char* path)
{
  struct stat st;
  if (scr_os.lstat(path, &st) == 0 && S_ISDIR(st.st_mode)) scr_tree_remove(path);
}

/*
** Check what was rebuilt; if it is right on all runners, rename it into place.  RC is the result of the engine.
** Collective over the runners.
*/
SCR_FN int scr_encoder_finish(scr_encoder* c, int rc)
{
  int a, i, found = rc == SCR_SUCCESS ? scr_encoder_check(c) : SCR_SUCCESS;

  if (rc == SCR_SUCCESS) rc = found;
  for (i = 1; i <= c->d->failures; i++) rc = scr_encoder_share(c, i, rc);
  for (a = 0; a < c->members && rc == SCR_SUCCESS; a++) rc = scr_encoder_finish_member(c, a);
  rc = scr_encoder_agree(c, rc);
  if (found != SCR_SUCCESS && rc == found) rc = scr_encoder_damage(c, rc);
  for (a = 0; a < c->members && rc == SCR_SUCCESS; a++) {
    scr_member* m = &c->m[a];
    for (i = 0; i <= m->n && rc == SCR_SUCCESS; i++)
      if (m->temp[i] != NULL) {
        scr_encoder_clear(i < m->n ? m->path[i] : m->red);
        rc = scr_member_place(m, i, 0);
      }
  }
  return rc;
}

/* Free everything; remaining temporary files are removed.  Returns RC; on success the entries list all files. */
SCR_FN int scr_encoder_end(scr_encoder* c, int rc)
{
  int a, i;

  for (a = 0; c->m != NULL && a < c->members; a++) {
    if (rc == SCR_SUCCESS) c->m[a].e->listed = 1;
    scr_member_end(&c->m[a]);
    if (c->h != NULL) scr_header_free(&c->h[a]);
    for (i = 0; c->entry != NULL && i <= c->d->failures; i++) scr_entry_free(&c->entry[a * (c->d->failures + 1) + i]);
  }
  scr_erasure_free(&c->ec);
  scr_free(&c->own);
  scr_free(&c->m);
  scr_free(&c->h);
  scr_free(&c->entry);
  scr_free(&c->worker);
  scr_free(&c->turn);
  scr_free(&c->slot);
  scr_free(&c->symbol);
  scr_free(&c->begun);
  return rc;
}

/* SINGLE: only record the CRC32 of each file. */
SCR_FN int scr_encoder_single(scr_encoder* c)
{
  int a, rc = scr_encoder_list(c);

  for (a = 0; a < c->members && rc == SCR_SUCCESS; a++) { /* the engine reads nothing, so each file is read here */
    scr_member* m = &c->m[a];
    rc = scr_window_open(&m->win, m->n, m->path, m->size, O_RDONLY, 0, 0, 1);
  }
  if (rc == SCR_SUCCESS && (rc = scr_encoder_check(c)) != SCR_SUCCESS) rc = scr_encoder_damage(c, rc);
  return rc;
}

/*
** Protect the files of a new dataset: those of the members that this rank acts for, whose N entries E are in any
** order, with e->red and e->desc as they will be recorded, and whose directory is there.  With SINGLE only their
** CRC32 is taken.
**
** Collective over the runners of X; returns this rank's code, on which the caller agrees.  On success each entry has
** the checksums of its files and the record of its redundancy file, and is listed.  On an error no redundancy file is
** made, but with MKDIR=0 an empty one may be left.  SCR_ERR_IO, and damage is reported, if a file does not have the
** checksum that is recorded already.
*/
SCR_FN int scr_encode_protect(const scr_encode* x, int n, scr_entry** e)
{
  scr_encoder c;
  int64_t*    lost = (int64_t*)(void*)x->work + 3 * SCR_SET_SIZE_MAX;
  int         i, rc;

  for (i = 0; i < x->d->set_size; i++) lost[i] = SCR_LOST_RED;
  rc = scr_encoder_begin(&c, x, n, e, lost);
  c.fresh = 1;
  if (x->d->scheme == SCR_SCHEME_SINGLE) {
    if (rc == SCR_SUCCESS) rc = scr_encoder_single(&c);
    return scr_encoder_end(&c, rc);
  }
  if ((rc = scr_encoder_open(&c, rc)) == SCR_SUCCESS) {
    rc = scr_encoder_run(&c);
    rc = scr_encoder_finish(&c, rc);
  }
  return scr_encoder_end(&c, rc);
}

/*
** Rebuild what the members of a set have lost: LOST has the bits of SCR_LOST_x of each.  E are the N entries of the
** members that this rank acts for, in any order, each with e->red, e->desc and the files that it still has: files of a
** lost kind have been removed (scr_entry_forget).
**
** Collective over the runners of X; returns this rank's code, on which the caller agrees.  On success the entries list
** all files, which are in their places.  On an error no file has been replaced, except in the last step, which only
** renames files into place; the entries may then record files that are not there.  SCR_ERR_LOST if the scheme cannot
** rebuild so much; SCR_ERR_CRC, and a call of damage, if a corrupt file was used.
*/
SCR_FN int scr_encode_recover(const scr_encode* x, int n, scr_entry** e, const int64_t* lost)
{
  scr_encoder c;
  int         a, rc = scr_encoder_begin(&c, x, n, e, lost);

  for (a = 0; a < c.members && rc == SCR_SUCCESS; a++)
    if (c.m[a].lost) rc = scr_home_mkdir(x->home, x->d, c.m[a].e->desc.identity.id);
  rc = scr_encoder_learn(&c, rc);
  if ((rc = scr_encoder_open(&c, rc)) == SCR_SUCCESS) {
    rc = scr_encoder_run(&c);
    rc = scr_encoder_finish(&c, rc);
  }
  return scr_encoder_end(&c, rc);
}

/* ==== 20 CACHE ==========================================================================================
** How datasets are entered in the cache and deleted from it.
**
** Uses       platform, errors, memory, path, hash, dataset, file window, filemap, prefix, files of a run, MPI helpers,
**            state, encode
** Offers     scr_cache_encode, scr_cache_enter, scr_cache_enter_bypass, scr_cache_clear_place, scr_cache_sweep_bypass,
**            scr_cache_delete_files, scr_cache_delete_local, scr_cache_delete, scr_cache_purge
** Invariants
**   G1  Only files below the dataset's own directory are deleted, whatever a record says.
**   G2  Nothing is deleted while scr_oom is set: without memory we cannot tell what else needs a file.
**   G3  What the helper removes behind the application is on disk as LEAVING until it is gone: a kill leaves what the
**       next run removes.  Whatever writes the filemap, or needs the space, waits for it.
** Failure    What cannot be removed stays, without a record.
** ====================================================================================================== */

/* ---- a new dataset ---- */

/* The arguments for a run of the redundancy engine over the set of D. */
SCR_FN scr_encode scr_cache_encode(const scr_reddesc* d, int verify)
{
  scr_encode x;

  memset(&x, 0, sizeof x);
  x.d = d;
  x.home = &scr.world.home;
  x.comm = scr.world.comm;
  x.work = scr.work;
  x.mpi_buf = scr.mpi_buf;
  x.record_crc = scr.crc_on_copy;
  x.verify = verify;
  x.damage = scr_event_damage;
  return x;
}

/*
** Enter the dataset DESC with descriptor D in this rank's filemap, durably, and only then create its directory, so that
** every file in it has a record.  PRESERVE is SCR_PRESERVE_DIRECTORIES; it and SCR_USE_CONTAINERS are
** recorded for a scavenge.
*/
SCR_FN int scr_cache_enter(const scr_reddesc* d, const scr_desc* desc, int preserve)
{
  scr_entry* e = (scr_entry*)scr_malloc(sizeof *e);
  int        rc;

  if (e == NULL) return SCR_ERR_OOM();
  e->owner = scr.world.rank;
  e->desc = *desc;
  e->preserve = preserve;
  e->container = scr.use_containers;
  scr_reddesc_dup(&e->red, d);
  snprintf(e->partner, sizeof e->partner, "%s", d->partner != NULL ? d->partner : "");
  rc = scr_filemap_put(&scr.map, e);
  if (rc == SCR_SUCCESS) rc = scr_map_write();
  return rc == SCR_SUCCESS ? scr_home_mkdir(&scr.world.home, d, desc->identity.id) : rc;
}

/*
** Enter the dataset DESC, which is written on the prefix, in this rank's filemap, durably: if the run is killed, the
** next one finds the temporary files.
*/
SCR_FN int scr_cache_enter_bypass(const scr_desc* desc)
{
  scr_entry* e = (scr_entry*)scr_malloc(sizeof *e);
  scr_record r;
  int        rc;

  if (e == NULL) return SCR_ERR_OOM();
  if (scr.world.rank == 0) { /* its temporary names must not recur in a job that does not see this filemap */
    rc = scr_flush_file_open(&r, scr.world.prefix);
    if (rc == SCR_SUCCESS) scr_flush_file_set_last(&r, desc->identity.id);
    if (scr_record_close(&r, rc, 1) != SCR_SUCCESS) scr_warn("%s", scr_err_text);
  }
  e->owner = scr.world.rank;
  e->desc = *desc;
  e->preserve = 1;
  e->bypass = 1;
  rc = scr_filemap_put(&scr.map, e);
  return rc == SCR_SUCCESS ? scr_map_write() : rc;
}

/* ---- deletion ---- */

/* Set DIR to the directory of dataset ID with descriptor D; 0 if it has none for itself. */
SCR_FN int scr_cache_place(const scr_reddesc* d, int id, char dir[SCR_MAX_FILENAME])
{
  return d->can_mkdir && d->store != NULL &&
         scr_home_path(&scr.world.home, d, id, "", dir, SCR_MAX_FILENAME) == SCR_SUCCESS;
}

/*
** Remove whatever lies in the directory of dataset ID with descriptor D.  Before a dataset is written, no filemap lists
** what is there, so it is of no use; the first rank of a node removes it before the others create the directory.
*/
SCR_FN void scr_cache_clear_place(const scr_reddesc* d, int id)
{
  char dir[SCR_MAX_FILENAME];

  if (scr_cache_place(d, id, dir)) scr_tree_remove(dir);
}

/* Remove the temporary files of dataset ID from the directory DIR of the prefix. */
SCR_FN void scr_cache_sweep_dir(const char* dir, int id)
{
  char           suffix[32], path[SCR_MAX_FILENAME];
  struct dirent* f;
  DIR*           d = opendir(dir);
  size_t         n, k = (size_t)snprintf(suffix, sizeof suffix, ".scr%d.tmp", id);

  while (d != NULL && (f = readdir(d)) != NULL) {
    n = strlen(f->d_name);
    if (n > k && strcmp(f->d_name + n - k, suffix) == 0 &&
        scr_fmt(path, sizeof path, "%s/%s", dir, f->d_name) == SCR_SUCCESS)
      scr_os.unlink(path);
  }
  if (d != NULL) closedir(d);
}

/*
** Remove the temporary files of E, which were written on the prefix, from all directories that it names: a file is in
** the filemap on disk only if it was the first one in its directory.
*/
SCR_FN void scr_cache_delete_bypass(const scr_entry* e)
{
  char path[SCR_MAX_FILENAME], dir[SCR_MAX_FILENAME], last[SCR_MAX_FILENAME] = "";
  int  i;

  for (i = 0; i < e->files; i++) {
    if (!scr_path_is_safe_rel(e->file[i].rel) ||
        scr_fmt(path, sizeof path, "%s/%s", scr.world.prefix, e->file[i].rel) != SCR_SUCCESS ||
        scr_path_dir_of(path, dir, sizeof dir) != SCR_SUCCESS || strcmp(dir, last) == 0)
      continue;
    scr_cache_sweep_dir(dir, e->desc.identity.id);
    memcpy(last, dir, sizeof last);
  }
}

/*
** Remove what a killed run was writing on the prefix.  This comes after interrupted renames were finished: of a dataset
** in the index nothing has a temporary name then.
*/
SCR_FN void scr_cache_sweep_bypass(void)
{
  int i, changed = 0;

  for (i = scr.map.n - 1; i >= 0; i--) {
    if (!scr.map.entry[i]->bypass) continue;
    scr_dbg(2, "dataset %d was being written on the prefix when a run ended; what is there of it goes now",
            scr.map.entry[i]->desc.identity.id);
    scr_cache_delete_bypass(scr.map.entry[i]);
    scr_filemap_remove(&scr.map, scr.map.entry[i]);
    changed = 1;
  }
  if (changed && scr_map_write() != SCR_SUCCESS) scr_warn("%s", scr_err_text);
}

/* Add to PATHS, as in scr_removal, the files of E, except those that another entry of the same id lists. */
SCR_FN void scr_cache_list_files(const scr_entry* e, scr_hash* paths)
{
  char path[SCR_MAX_FILENAME];
  int  i, k;

  for (i = 0; i < e->files && e->red.set_size > 0; i++) {
    int claimed = 0;
    for (k = 0; k < scr.map.n && !claimed; k++)
      claimed = scr.map.entry[k] != e && scr.map.entry[k]->desc.identity.id == e->desc.identity.id &&
                scr_entry_find(scr.map.entry[k], e->file[i].rel) != NULL;
    if (!scr_oom && !claimed && scr_entry_path(&scr.world.home, e, e->file[i].rel, path, sizeof path) == SCR_SUCCESS)
      scr_hash_set_kv(paths, "FILE", path);
  }
}

/* Delete the files of E, except those that another entry of the same id lists. */
SCR_FN void scr_cache_delete_files(const scr_entry* e)
{
  scr_hash* paths = scr_hash_new();

  if (e->bypass) scr_cache_delete_bypass(e);
  scr_cache_list_files(e, paths);
  scr_removal_run(paths);
  scr_hash_delete(&paths);
}

/*
** Mark what this rank holds of dataset ID, whatever its identity, as LEAVING, durably, so that after a kill no file
** that is gone counts as lost; an incomplete dataset needs no mark.  Returns 1 if the mark is on disk.
*/
SCR_FN int scr_cache_mark(int id)
{
  int i, marked = 0;

  for (i = 0; i < scr.map.n; i++) {
    if (scr.map.entry[i]->desc.identity.id != id || !scr.map.entry[i]->desc.complete) continue;
    scr.map.entry[i]->mark = SCR_MARK_LEAVING;
    marked = 1;
  }
  return marked && scr_map_write() == SCR_SUCCESS;
}

/*
** Delete all that this rank holds of dataset ID.  With its next change the filemap forgets what was marked; if the mark
** could not be written, the files go all the same: that makes room.  With BEHIND set, the helper removes the files
** behind the application, if it has nothing else to do.
*/
SCR_FN int scr_cache_remove(int id, int behind)
{
  scr_hash* paths = scr_hash_new();
  char      dir[SCR_MAX_FILENAME];
  int       i, found = 0, marked = scr_cache_mark(id);

  for (i = scr.map.n - 1; i >= 0; i--) {
    scr_entry* e = scr.map.entry[i];
    if (e->desc.identity.id != id) continue;
    found = 1;
    if (e->bypass && id != scr.open_id) continue; /* scr_cache_sweep_bypass */
    if (e->bypass) scr_cache_delete_bypass(e);
    scr_cache_list_files(e, paths);
    if (scr_cache_place(&e->red, id, dir)) scr_hash_set_kv(paths, "TREE", dir);
    scr_filemap_remove(&scr.map, e);
  }
  if (behind && marked && scr_helper_is_idle()) {
    scr_removal_start(paths);
  } else {
    scr_removal_run(paths);
    scr_hash_delete(&paths);
  }
  if (found && !marked) return scr_map_write();
  if (found) scr.map_is_behind = 1;
  return SCR_SUCCESS;
}

/* Delete all that this rank holds of dataset ID, now. */
SCR_FN int scr_cache_delete_local(int id)
{
  return scr_cache_remove(id, 0);
}

/*
** Report the corrupt files of this rank in DS, which is about to be deleted (SCR_CRC_ON_DELETE).  No rank deletes
** before all have checked.  Collective over the world.
*/
SCR_FN void scr_cache_check_deleted(const scr_dataset* ds)
{
  const scr_entry* e = ds != NULL ? scr_dataset_entry(ds) : NULL;
  char             path[SCR_MAX_FILENAME];
  int              i;

  for (i = 0; e != NULL && i < e->files; i++) {
    if (scr_entry_path(&scr.world.home, e, e->file[i].rel, path, sizeof path) != SCR_SUCCESS ||
        scr_file_check(path, &e->file[i], 1) != SCR_ERR_CRC)
      continue;
    scr_warn("%s; it is deleted now, but check the memory and the disk of this node", scr_err_text);
    scr_event_damage(ds->desc.identity.id, SCR_ERR_CRC);
  }
  scr_barrier(scr.world.comm);
}

/*
** Delete dataset ID from the cache of every node; BEHIND as in scr_cache_remove.  Every rank calls it; it communicates
** only with SCR_CRC_ON_DELETE.
*/
SCR_FN int scr_cache_delete(int id, int behind)
{
  if (scr.crc_on_delete) scr_cache_check_deleted(scr_dataset_find(id));
  scr_dbg(2, "delete dataset %d from the cache", id);
  scr_dataset_remove(id);
  if (scr.world.rank == 0) scr_dataset_write_note(id, NULL);
  return scr_cache_remove(id, behind);
}

/*
** Delete all datasets that this rank holds, complete or not, but for what is on the prefix; none if RC, its result so
** far, is an error.  All complete ones are marked before the first one goes.  Collective over the world; returns this
** rank's code.
*/
SCR_FN int scr_cache_purge(int rc)
{
  int i, err;

  for (i = 0; i < scr.map.n && rc == SCR_SUCCESS; i++)
    if (scr.map.entry[i]->desc.complete) scr.map.entry[i]->mark = SCR_MARK_LEAVING;
  if (scr.map.n > 0 && rc == SCR_SUCCESS) scr_map_write();
  scr_barrier(scr.world.comm);
  if (rc != SCR_SUCCESS) return rc;
  for (i = scr.map.n - 1; i >= 0; i--) {
    if (scr.map.entry[i]->bypass) continue;
    err = scr_cache_delete_local(scr.map.entry[i]->desc.identity.id);
    if (rc == SCR_SUCCESS) rc = err;
    i = scr.map.n; /* which may have lost more than one */
  }
  return rc;
}

/* ==== 21 RECOVERY =======================================================================================
** What SCR_Init finds in the cache: which datasets can be used, where their files must go, and what is rebuilt.
**
** Six steps for each dataset, newest first: announce what is here; judge from all answers whether it can be used;
** assess what its sets have lost; bring the files to their ranks; rebuild what is lost; commit, and delete old copies.
** If another number of ranks wrote it, its files stay where they are, and the ranks that hold them act for their owners
** (scr_others_run).
**
** Uses       platform, errors, memory, hash, hash files, dataset, kernels, file window, erasure code, filemap, MPI
**            helpers, world, state, encode, cache
** Offers     scr_recovery_scatter, scr_recovery_all, scr_recovery_mend
** Invariants
**   U1  An entry says COMPLETE 1 only after every rank of the world has protected its files.  A dataset without any
**       such entry was never complete: it is deleted.  If some entries say 1 and others 0, those with 0 count as lost
**       members: the run ended during the commit, or a lost node came back with an earlier state.
**   U2  Copy, agree, then delete: files are copied to the node of their rank, and the old copies are deleted only after
**       all ranks have written their entries.
**   U3  Entries of different identity are never combined.
**   U4  What cannot be rebuilt is set aside: it stays until its place or its space is needed.
**   U5  The entries of a dataset define its redundancy sets; the parameters of this run do not matter.
** Failure    A dataset that cannot be used is set aside, with the reason in scr.tried; the run goes on.
** ====================================================================================================== */

#define SCR_LOST_ALL (SCR_LOST_DATA | SCR_LOST_RED)

/* ---- the filemaps of a node, when a run begins ---- */

/*
** Read one filemap file and merge it into MAP.  A damaged one is reported and kept under another name.  An input error
** is passed on: files that it lists must not be treated as lost.
*/
SCR_FN int scr_recovery_read_map(const char* file, scr_filemap* map)
{
  scr_filemap one = {NULL, 0};
  char        aside[SCR_MAX_FILENAME];
  int         rc = scr_filemap_read(file, &one);

  if (rc == SCR_SUCCESS) {
    rc = scr_filemap_merge(map, &one);
  } else if (rc == SCR_ERR_FORMAT || rc == SCR_ERR_CRC) {
    scr_warn("%s; the files it lists are treated as lost", scr_err_text);
    scr_event_damage(0, rc);
    scr.damaged_maps++;
    if (scr_fmt(aside, sizeof aside, "%s.damaged", file) == SCR_SUCCESS) scr_os.rename(file, aside);
    rc = SCR_SUCCESS;
  } else if (rc == SCR_ERR_NOT_FOUND) {
    rc = SCR_SUCCESS;
  }
  scr_filemap_clear(&one);
  return rc;
}

/*
** Collect the names of all filemap files of the control directory as keys of NAMES: those that the master filemap
** lists, and those found there in case the master is lost.  Temporary files are removed, because this run holds the
** lock of the directory.
*/
SCR_FN void scr_recovery_map_files(scr_hash* names)
{
  char           path[SCR_MAX_FILENAME];
  scr_hash*      master = scr_hash_new();
  scr_hash_elem* e;
  struct dirent* f;
  DIR*           d;

  if (scr_fmt(path, sizeof path, "%s/filemap.scrinfo", scr.world.cntl) == SCR_SUCCESS) {
    int rc = scr_hash_file_read(path, master);
    if (rc != SCR_SUCCESS && rc != SCR_ERR_NOT_FOUND) scr_warn("%s; the directory is searched instead", scr_err_text);
  }
  for (e = scr_hash_elem_first(scr_hash_get(master, "Filemap")); e != NULL; e = scr_hash_elem_next(e))
    if (strncmp(scr_hash_elem_key(e), scr.world.cntl, strlen(scr.world.cntl)) == 0)
      scr_hash_setf(names, NULL, "%s", scr_hash_elem_key(e));
  d = opendir(scr.world.cntl);
  while (d != NULL && (f = readdir(d)) != NULL) {
    size_t n = strlen(f->d_name);
    if (scr_fmt(path, sizeof path, "%s/%s", scr.world.cntl, f->d_name) != SCR_SUCCESS) continue;
    if (n > 4 && strcmp(f->d_name + n - 4, ".tmp") == 0) scr_os.unlink(path);
    else if (n > 8 && strncmp(f->d_name, "filemap_", 8) == 0 && strcmp(f->d_name + n - 8, ".scrinfo") == 0)
      scr_hash_setf(names, NULL, "%s", path);
  }
  if (d != NULL) closedir(d);
  scr_hash_delete(&master);
}

/*
** The world rank that keeps the entry of OWNER: OWNER itself if it runs on this node, else one of the node's ranks in
** turn.
*/
SCR_FN int scr_recovery_keeper(int owner)
{
  return scr_world_on_node(&scr.world, owner) ? owner : scr.world.node[owner % scr.world.group[SCR_GROUP_NODE].ranks];
}

/* Send each rank of this node the entries of ALL that it keeps; this rank's share goes into scr.map. */
SCR_FN int scr_recovery_deal(const scr_filemap* all)
{
  int i, k, err, rc = SCR_SUCCESS;

  for (k = scr.world.group[SCR_GROUP_NODE].ranks - 1; k >= 0; k--) {
    scr_filemap share = {NULL, 0};
    scr_hash*   h = scr_hash_new();
    for (i = 0; i < all->n; i++)
      if (scr_recovery_keeper(all->entry[i]->owner) == scr.world.node[k])
        scr_filemap_put(k == 0 ? &scr.map : &share, scr_entry_dup(all->entry[i]));
    if (k > 0) {
      err = scr_filemap_to_hash(&share, &scr.world.home, h);
      if (rc == SCR_SUCCESS) rc = err;
      if ((err = scr_hash_send(h, scr.world.node[k], scr.world.comm)) != SCR_SUCCESS) rc = err;
    }
    scr_filemap_clear(&share);
    scr_hash_delete(&h);
  }
  return rc;
}

/*
** Receive this rank's share from the first rank of the node, write it, and report the result.  Collective with that
** rank.
*/
SCR_FN int scr_recovery_receive_share(void)
{
  scr_hash* h = scr_hash_new();
  int       leader = scr.world.group[SCR_GROUP_NODE].leader, rc = scr_hash_recv(h, leader, scr.world.comm), err;

  if (rc == SCR_SUCCESS) rc = scr_filemap_from_hash(h, &scr.map);
  if (rc == SCR_SUCCESS && scr.map.n > 0) rc = scr_map_write();
  err = scr_int_send(rc, leader, SCR_TAG_GROUP, scr.world.comm);
  scr_hash_delete(&h);
  return rc == SCR_SUCCESS ? err : rc;
}

/*
** After all ranks of the node have written their share: list their files in the master filemap, and remove all other
** filemap files.
*/
SCR_FN int scr_recovery_write_master(const scr_hash* names, const char* merged)
{
  scr_hash*      master = scr_hash_new();
  scr_hash_elem* e;
  char           path[SCR_MAX_FILENAME];
  int            k, rc = SCR_SUCCESS;

  for (k = 0; k < scr.world.group[SCR_GROUP_NODE].ranks && rc == SCR_SUCCESS; k++)
    if ((rc = scr_fmt(path, sizeof path, "%s/filemap_%d.scrinfo", scr.world.cntl, k)) == SCR_SUCCESS)
      scr_hash_set_kv(master, "Filemap", path);
  if (rc == SCR_SUCCESS) rc = scr_fmt(path, sizeof path, "%s/filemap.scrinfo", scr.world.cntl);
  if (rc == SCR_SUCCESS) rc = scr_hash_file_write(path, master);
  for (e = scr_hash_elem_first(names); e != NULL && rc == SCR_SUCCESS; e = scr_hash_elem_next(e))
    if (scr_hash_get_kv(master, "Filemap", scr_hash_elem_key(e)) == NULL) scr_os.unlink(scr_hash_elem_key(e));
  if (rc == SCR_SUCCESS && *merged) scr_os.unlink(merged);
  scr_hash_delete(&master);
  return rc;
}

/*
** The first rank of the node reads all filemap files and distributes the entries: each rank of the node gets its own,
** and the others in turn.  Until all ranks have written their share, a merged file holds all entries, so that no crash
** loses one (U2).  If the files cannot be read, no rank gets a share, and no file is replaced.  Collective over the
** node; the caller agrees.
*/
SCR_FN int scr_recovery_scatter(void)
{
  scr_filemap    all = {NULL, 0}, none = {NULL, 0};
  scr_hash*      names;
  scr_hash_elem* e;
  char           merged[SCR_MAX_FILENAME] = "";
  int            k, rc = SCR_SUCCESS, err;

  if (scr.world.group[SCR_GROUP_NODE].leader != scr.world.rank) return scr_recovery_receive_share();
  names = scr_hash_new();
  scr_recovery_map_files(names);
  for (e = scr_hash_elem_first(names); e != NULL; e = scr_hash_elem_next(e))
    if ((err = scr_recovery_read_map(scr_hash_elem_key(e), &all)) != SCR_SUCCESS) rc = err;
  if (rc == SCR_SUCCESS && all.n > 0) {
    rc = scr_fmt(merged, sizeof merged, "%s/filemap_all.scrinfo", scr.world.cntl);
    if (rc == SCR_SUCCESS) rc = scr_filemap_write(merged, &all, &scr.world.home);
  }
  err = scr_recovery_deal(rc == SCR_SUCCESS ? &all : &none);
  if (rc == SCR_SUCCESS) rc = err;
  if (rc == SCR_SUCCESS && all.n > 0) rc = scr_map_write();
  for (k = 1; k < scr.world.group[SCR_GROUP_NODE].ranks; k++) {
    int word = SCR_SUCCESS;
    err = scr_int_recv(&word, scr.world.node[k], SCR_TAG_GROUP, scr.world.comm);
    if (rc == SCR_SUCCESS) rc = err != SCR_SUCCESS ? err : word;
  }
  if (rc == SCR_SUCCESS) rc = scr_recovery_write_master(names, merged);
  scr_filemap_clear(&all);
  scr_hash_delete(&names);
  return rc;
}

/* ---- one dataset: what this rank finds out about it ---- */

typedef struct {
  scr_identity identity;
  scr_entry*   mine;                       /* this rank's entry without files, from a holder's announcement; or NULL */
  int          source;                     /* world rank that holds this rank's files; -1 if they are lost */
  int          move;                       /* 1: they are on another node */
  int          lost;                       /* bits of SCR_LOST_x: which of them the source lacks */
  int64_t      set_lost[SCR_SET_SIZE_MAX]; /* the same for each member of this rank's set */
  int          set_losses;                 /* number of members that have lost something */
  int          check;                      /* 1: check the CRC32 of files before they are used */
  int          never;                      /* 1: it was never complete, and is deleted now */
  int          unproven;                   /* 1: some entries do not say COMPLETE 1, and no run has verified it */
  int          ranks;                      /* that wrote it, by one of its entries */
  int          other_world;                /* 1: they are not as many as this run has */
  scr_life     life;                       /* its state if it is whole, by the marks of all entries */
} scr_recovery;

SCR_FN void scr_recovery_begin(scr_recovery* f, const scr_identity* identity, int check)
{
  memset(f, 0, sizeof *f);
  f->identity = *identity;
  f->check = check;
}

/* This rank's entry of the dataset, or NULL. */
SCR_FN scr_entry* scr_recovery_entry(const scr_recovery* f)
{
  return scr_filemap_find(&scr.map, &f->identity, scr.world.rank);
}

/*
** The bits of SCR_LOST_x for what is lost of E on this node.  Files that are missing, cut short or, with CHECK, corrupt
** count as lost in this run, and so do files that cannot be read now; none is deleted for that.
*/
SCR_FN int scr_recovery_lost(const scr_entry* e, int check)
{
  char       path[SCR_MAX_FILENAME];
  scr_header header;
  int        i, red = 0, lost = 0, id = e->desc.identity.id, rc;

  if (!e->listed) return SCR_LOST_ALL;
  for (i = 0; i < e->files; i++) {
    const scr_file* f = &e->file[i];
    int             application = f->kind == SCR_FILE_APPLICATION;
    red += !application;
    rc = scr_entry_path(&scr.world.home, e, f->rel, path, sizeof path);
    if (rc == SCR_SUCCESS) rc = scr_file_check(path, f, check);
    if (rc == SCR_SUCCESS && !application) { /* the other members will rely on its header */
      rc = scr_header_read(path, &header);
      scr_header_free(&header);
    }
    if (rc == SCR_SUCCESS) continue;
    lost |= application ? SCR_LOST_DATA : SCR_LOST_RED;
    scr_warn("dataset %d, rank %d: %s", id, e->owner, scr_err_text);
    scr_event_damage(id, rc);
  }
  if (red == 0 && e->red.scheme != SCR_SCHEME_SINGLE) lost |= SCR_LOST_RED;
  return lost;
}

/* ---- step 1: announce ---- */

/* The slots of the vote on what all ranks together have of a dataset. */
enum { SCR_FOUND_INCOMPLETE, SCR_FOUND_OTHER_WORLD, SCR_FOUND_NO_SET };                                  /* sum */
enum { SCR_FOUND_RANKS, SCR_FOUND_SETS_DIFFER, SCR_FOUND_COMPLETE, SCR_FOUND_VERIFIED, SCR_FOUND_LIFE }; /* max */

/* The state of a whole dataset by the mark of its entry E. */
SCR_FN scr_life scr_recovery_life(const scr_entry* e)
{
  if (e->mark == SCR_MARK_PASSED) return SCR_PASSED;
  if (e->mark != SCR_MARK_REJECTED) return SCR_WHOLE;
  return strcmp(e->rejected_by, scr.world.job_key) == 0 ? SCR_REJECTED : SCR_REJECTED_BEFORE;
}

/* Add the entry E to the message M.  Unless all is LOST, announce this rank as a holder of its files. */
SCR_FN void scr_recovery_announce_entry(scr_hash* m, const scr_entry* e, int lost)
{
  scr_entry bare = *e;

  if (lost != SCR_LOST_ALL) {
    scr_hash_util_set_str(m, "HOST", scr.world.home.host);
    scr_hash_util_set_int(m, "LOST", lost);
  }
  if (scr_hash_get(m, "ENTRY") != NULL) return;
  bare.files = bare.listed = 0;
  scr_entry_write(scr_hash_set(m, "ENTRY", scr_hash_new()), &bare, &scr.world.home);
}

/* Tell the owners, and all members of their sets, what this rank holds of the dataset, and count it in V. */
SCR_FN void scr_recovery_announce(const scr_recovery* f, scr_hash* send, scr_vote* v)
{
  int i, k;

  for (i = 0; i < scr.map.n; i++) {
    const scr_entry* e = scr.map.entry[i];
    if (scr_identity_cmp(&e->desc.identity, &f->identity) != 0) continue;
    v->sum[SCR_FOUND_INCOMPLETE] += !e->desc.complete;
    v->sum[SCR_FOUND_OTHER_WORLD] += e->desc.ranks != scr.world.ranks;
    if (scr_recovery_life(e) > (scr_life)v->max[SCR_FOUND_LIFE]) v->max[SCR_FOUND_LIFE] = scr_recovery_life(e);
    if (e->desc.complete) v->max[SCR_FOUND_COMPLETE] = 1;
    if (e->verified) v->max[SCR_FOUND_VERIFIED] = 1;
    v->max[SCR_FOUND_RANKS] = e->desc.ranks;
    if (!e->desc.complete || e->desc.ranks != scr.world.ranks || e->owner >= scr.world.ranks || e->red.set_size == 0)
      continue;
    scr_recovery_announce_entry(scr_hash_setf(send, NULL, "%d", e->owner), e, scr_recovery_lost(e, f->check));
    for (k = 0; k < e->red.set_size; k++)
      scr_recovery_announce_entry(scr_hash_setf(send, NULL, "%d", e->red.member[k]), e, SCR_LOST_ALL);
  }
}

/*
** Turn E, the entry of another member, into that of OWNER, without files, if E lists OWNER as a member of its set; else
** free E and return NULL.
*/
SCR_FN scr_entry* scr_recovery_describe(scr_entry* e, int owner)
{
  int i;

  for (i = 0; i < e->red.set_size; i++)
    if (e->red.member[i] == owner) break;
  if (i == e->red.set_size) {
    scr_entry_free(&e);
    return NULL;
  }
  e->red.set_rank = i;
  e->owner = owner;
  e->verified = 0;
  e->mark = SCR_MARK_NONE;
  return e;
}

/*
** From the announcements received: set this rank's entry, and choose the holder of its files that has lost least; among
** equal ones this rank itself, then one on this node.
*/
SCR_FN void scr_recovery_pick_source(scr_recovery* f, const scr_hash* recv)
{
  scr_hash_elem* e;
  int            best_lost = INT_MAX, best_distance = INT_MAX;

  f->source = -1;
  f->lost = SCR_LOST_ALL;
  for (e = scr_hash_elem_first(recv); e != NULL; e = scr_hash_elem_next(e)) {
    const scr_hash* m = scr_hash_elem_hash(e);
    const char*     host = scr_hash_elem_get_first_val(m, "HOST");
    int             from = atoi(scr_hash_elem_key(e)), lost = scr_hash_int_or(m, "LOST", 0) & SCR_LOST_ALL;
    int             loss = lost & SCR_LOST_DATA ? 2 : lost != 0; /* lost data counts more than lost redundancy */
    int             distance;
    if (f->mine == NULL) {
      scr_entry* described = scr_entry_read(scr_hash_get(m, "ENTRY"), from, f->identity.id);
      if (described == NULL || (f->mine = scr_recovery_describe(described, scr.world.rank)) == NULL) continue;
    }
    if (host == NULL) continue;
    distance = from == scr.world.rank ? 0 : strcmp(host, scr.world.home.host) == 0 ? 1 : 2;
    if (loss > best_lost || (loss == best_lost && distance >= best_distance)) continue;
    best_lost = loss;
    best_distance = distance;
    f->source = from;
    f->move = distance == 2;
    f->lost = lost;
  }
}

/*
** Returns 1 if a member of this rank's set goes by another description of the set: a node came back with a copy that
** was protected otherwise.  Messages within such sets would wait for ever.  Collective over the world.
*/
SCR_FN int scr_recovery_set_differs(const scr_recovery* f, int* rc)
{
  scr_reddesc        none;
  const scr_reddesc* d;
  scr_hash *         send = scr_hash_new(), *recv = scr_hash_new();
  scr_hash_elem*     e;
  char               shape[48];
  int                i, same = 0, differs, err;

  memset(&none, 0, sizeof none);
  d = f->mine != NULL ? &f->mine->red : &none;
  snprintf(shape, sizeof shape, "%d.%d.%lx", (int)d->scheme, d->failures,
           (unsigned long)scr_crc32(SCR_CRC32_START, d->member, (size_t)d->set_size * sizeof(int)));
  for (i = 0; i < d->set_size; i++) scr_hash_setf(send, NULL, "%d %s", d->member[i], shape);
  if ((err = scr_hash_exchange(send, recv, scr.world.comm)) != SCR_SUCCESS) *rc = err;
  for (e = scr_hash_elem_first(recv); e != NULL; e = scr_hash_elem_next(e))
    same += scr_hash_get(scr_hash_elem_hash(e), shape) != NULL;
  differs = same != d->set_size || scr_hash_size(recv) != d->set_size;
  scr_hash_delete(&send);
  scr_hash_delete(&recv);
  return differs;
}

/* ---- step 2: judge ---- */

/*
** Delete this rank's entries of the dataset and their files or, with SAME 0, those of other datasets with its id.  The
** directory stays.
*/
SCR_FN int scr_recovery_delete_entries(const scr_identity* identity, int same)
{
  int i, changed = 0;

  for (i = scr.map.n - 1; i >= 0; i--) {
    scr_entry* e = scr.map.entry[i];
    if (e->desc.identity.id != identity->id || (scr_identity_cmp(&e->desc.identity, identity) == 0) != same ||
        scr_oom || e->bypass)
      continue;
    scr_cache_delete_files(e);
    scr_filemap_remove(&scr.map, e);
    changed = 1;
  }
  return changed ? scr_map_write() : SCR_SUCCESS;
}

/*
** Delete this rank's entries of the dataset and their files, and the directory too unless another dataset of the same
** id has entries there.
*/
SCR_FN int scr_recovery_delete(const scr_identity* identity)
{
  int i, alone = 1;

  for (i = 0; i < scr.map.n; i++)
    if (scr.map.entry[i]->desc.identity.id == identity->id &&
        scr_identity_cmp(&scr.map.entry[i]->desc.identity, identity) != 0)
      alone = 0;
  if (alone) return scr_cache_delete_local(identity->id); /* files that were never listed go too */
  return scr_recovery_delete_entries(identity, 1);
}

/*
** Steps 1 and 2: announce, and judge from the entries whether the dataset can be used.  Collective over the world; the
** same code everywhere.
*/
SCR_FN int scr_recovery_judge(scr_recovery* f)
{
  scr_hash *send = scr_hash_new(), *recv = scr_hash_new();
  scr_vote  v;
  int       rc;

  memset(&v, 0, sizeof v);
  scr_recovery_announce(f, send, &v);
  rc = scr_hash_exchange(send, recv, scr.world.comm);
  if (rc == SCR_SUCCESS) scr_recovery_pick_source(f, recv);
  scr_hash_delete(&send);
  scr_hash_delete(&recv);
  v.sum[SCR_FOUND_NO_SET] = f->mine == NULL;
  if (scr_recovery_set_differs(f, &rc)) v.max[SCR_FOUND_SETS_DIFFER] = 1;
  if ((rc = scr_vote_all(&v, rc, scr.world.comm)) != SCR_SUCCESS) return rc;
  f->unproven = v.sum[SCR_FOUND_INCOMPLETE] > 0 && !v.max[SCR_FOUND_VERIFIED];
  if (v.sum[SCR_FOUND_INCOMPLETE] > 0 && !v.max[SCR_FOUND_COMPLETE]) { /* U1 */
    scr_dbg(1, "dataset %d was never complete: deleted from the cache", f->identity.id);
    scr_recovery_delete(&f->identity);
    f->never = 1;
    return SCR_ERR_INVALID;
  }
  f->other_world = v.sum[SCR_FOUND_OTHER_WORLD] > 0;
  f->ranks = (int)v.max[SCR_FOUND_RANKS];
  f->life = (scr_life)v.max[SCR_FOUND_LIFE];
  if (f->other_world && scr.same_ranks)
    return SCR_ERR(SCR_ERR_LOST, "%d ranks wrote it, but this run has %d, and SCR_RESTART_RANKS=same", f->ranks,
                   scr.world.ranks);
  if (f->other_world) return SCR_SUCCESS;
  if (v.sum[SCR_FOUND_NO_SET] > 0)
    return SCR_ERR(SCR_ERR_LOST, "nothing is left of the sets of %lld ranks", (long long)v.sum[SCR_FOUND_NO_SET]);
  if (v.max[SCR_FOUND_SETS_DIFFER])
    return SCR_ERR(SCR_ERR_LOST, "its pieces come from copies with different redundancy sets");
  return SCR_SUCCESS;
}

/* ---- step 3: what is lost ---- */

/* The number of members of the set D that have lost something, as SET_LOST tells. */
SCR_FN int scr_recovery_losses(const scr_reddesc* d, const int64_t* set_lost)
{
  int i, n = 0;

  for (i = 0; i < d->set_size; i++) n += set_lost[i] != 0;
  return n;
}

/* *HOPELESS becomes 1 if the scheme of the set D cannot rebuild what its members have lost. */
SCR_FN int scr_recovery_weigh(const scr_reddesc* d, const int64_t* set_lost, int* hopeless)
{
  scr_erasure ec;
  int         losses = scr_recovery_losses(d, set_lost), rc;

  *hopeless = d->scheme == SCR_SCHEME_SINGLE && losses > 0;
  if (losses == 0 || d->scheme == SCR_SCHEME_SINGLE) return SCR_SUCCESS;
  rc = scr_erasure_make(&ec, d->scheme, d->set_size, d->failures, set_lost, NULL);
  scr_erasure_free(&ec);
  *hopeless = rc == SCR_ERR_LOST;
  return *hopeless ? SCR_SUCCESS : rc;
}

/*
** Find out what the members of this rank's set have lost; *HOPELESS is 1 if its scheme cannot rebuild that.  Collective
** over the set.
*/
SCR_FN int scr_recovery_assess(scr_recovery* f, int* hopeless)
{
  const scr_reddesc* d = &f->mine->red;
  int                err, rc;

  f->set_lost[d->set_rank] = f->lost;
  rc = scr_encode_gather(d, NULL, scr.world.comm, 1, f->set_lost);
  f->set_losses = scr_recovery_losses(d, f->set_lost);
  err = scr_recovery_weigh(d, f->set_lost, hopeless);
  return rc != SCR_SUCCESS ? rc : err;
}

/* ---- step 4: bring the files to their ranks ---- */

/* One direction of a move of files between nodes, one piece at a time. */
typedef struct {
  int         peer, active, write, rc;
  int64_t     left;
  uint64_t    at;
  char*       buf;
  size_t      n;
  scr_window  w;
  MPI_Request req;
} scr_stream;

/* Returns 1 if F is of the files that are LOST. */
SCR_FN int scr_recovery_is_lost(const scr_file* f, int lost)
{
  return (lost & (f->kind == SCR_FILE_APPLICATION ? SCR_LOST_DATA : SCR_LOST_RED)) != 0;
}

/* The total size, by their records, of the files of E, without those LOST. */
SCR_FN int64_t scr_stream_bytes(const scr_entry* e, int lost)
{
  int64_t sum = 0;
  int     i;

  for (i = 0; i < e->files; i++)
    if (!scr_recovery_is_lost(&e->file[i], lost)) sum += (int64_t)e->file[i].size;
  return sum;
}

/*
** Open a window over the files of E, without those LOST, in the order of the entry; for reading or, with WRITE, for
** writing new ones.
*/
SCR_FN int scr_stream_open(scr_stream* s, const scr_entry* e, int lost)
{
  char**    path = (char**)scr_malloc((size_t)e->files * sizeof *path);
  uint64_t* size = (uint64_t*)scr_malloc((size_t)e->files * sizeof *size);
  char      whole[SCR_MAX_FILENAME];
  int       i, n = 0, rc = path == NULL || size == NULL ? SCR_ERR_OOM() : SCR_SUCCESS;

  for (i = 0; i < e->files && rc == SCR_SUCCESS; i++) {
    if (scr_recovery_is_lost(&e->file[i], lost)) continue;
    if ((rc = scr_entry_path(&scr.world.home, e, e->file[i].rel, whole, sizeof whole)) != SCR_SUCCESS) break;
    path[n] = scr_strdup(whole);
    size[n++] = e->file[i].size;
  }
  if (rc == SCR_SUCCESS)
    rc = scr_window_open(&s->w, n, path, size, s->write ? O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW : O_RDONLY, 0600, 0,
                         1);
  while (n > 0) free(path[--n]);
  scr_free(&path);
  scr_free(&size);
  return rc;
}

/*
** Start to send to PEER or, with WRITE, to receive the BYTES of all files of E without those LOST.  After an error, in
** RC or later, zeros are sent, and received data is discarded: the other side expects the messages.
*/
SCR_FN void scr_stream_start(scr_stream* s, const scr_entry* e, int peer, int lost, int64_t bytes, int write, int rc)
{
  memset(s, 0, sizeof *s);
  s->peer = peer;
  s->active = 1;
  s->write = write;
  s->left = bytes;
  s->buf = scr.work + (write ? 0 : scr.mpi_buf);
  s->req = MPI_REQUEST_NULL;
  s->rc = rc == SCR_SUCCESS ? scr_stream_open(s, e, lost) : rc;
}

SCR_FN void scr_stream_post(scr_stream* s)
{
  s->n = s->left < (int64_t)scr.mpi_buf ? (size_t)s->left : scr.mpi_buf;
  if (s->write) {
    MPI_Irecv(s->buf, (int)s->n, MPI_BYTE, s->peer, SCR_TAG_DATA, scr.world.comm, &s->req);
  } else {
    if (s->rc == SCR_SUCCESS) s->rc = scr_window_read(&s->w, s->at, s->buf, s->n, 0);
    if (s->rc != SCR_SUCCESS) memset(s->buf, 0, s->n);
    MPI_Isend(s->buf, (int)s->n, MPI_BYTE, s->peer, SCR_TAG_DATA, scr.world.comm, &s->req);
  }
}

/* Advance the stream if its message is complete; returns 1 if it was.  After the last byte the files are closed. */
SCR_FN int scr_stream_step(scr_stream* s)
{
  int done = 0;

  if (!s->active) return 0;
  if (s->req != MPI_REQUEST_NULL) {
    if (MPI_Test(&s->req, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) s->rc = SCR_ERR(SCR_ERR_MPI, "a message failed");
    if (!done) return 0;
    if (s->write && s->rc == SCR_SUCCESS) s->rc = scr_window_write(&s->w, s->at, s->buf, s->n);
    s->at += s->n;
    s->left -= (int64_t)s->n;
  }
  if (s->left > 0) {
    scr_stream_post(s);
    return 1;
  }
  if (scr_window_close(&s->w) != SCR_SUCCESS && s->rc == SCR_SUCCESS) s->rc = SCR_ERR_IO;
  scr_window_free(&s->w);
  s->active = 0;
  return 1;
}

/* What this rank sends to other nodes: the owners that request their files, and which of these are lost. */
typedef struct {
  int  n;
  int *to, *lost;
} scr_move_list;

/*
** Send the requested files to other ranks, one rank after the other, while receiving the files of this rank's entry,
** unless FROM, the source's entry, is NULL.  If RC is an error, the received files are not kept.  Collective over the
** partners.
*/
SCR_FN int scr_move_files(const scr_recovery* f, const scr_move_list* out, const scr_entry* from, int rc)
{
  scr_stream in, to;
  int        i = 0, turns = 0, failed = SCR_SUCCESS;

  memset(&in, 0, sizeof in);
  memset(&to, 0, sizeof to);
  if (from != NULL) scr_stream_start(&in, scr_recovery_entry(f), f->source, 0, scr_stream_bytes(from, f->lost), 1, rc);
  while (in.active || to.active || i < out->n) {
    int moved;
    if (!to.active && i < out->n) {
      const scr_entry* e = scr_filemap_find(&scr.map, &f->identity, out->to[i]);
      if (to.rc != SCR_SUCCESS) failed = to.rc;
      scr_stream_start(&to, e, out->to[i], out->lost[i], scr_stream_bytes(e, out->lost[i]), 0, SCR_SUCCESS);
      i++;
    }
    moved = scr_stream_step(&in);
    moved |= scr_stream_step(&to);
    if (moved) turns = 0;
    else scr_wait_idle(&turns);
  }
  if (rc == SCR_SUCCESS) rc = failed;
  return rc != SCR_SUCCESS ? rc : to.rc != SCR_SUCCESS ? to.rc : in.rc;
}

/*
** Write this rank's record of the dataset, without files, durably, and only then create the directory, so that every
** file in it has a record.
*/
SCR_FN int scr_recovery_enter(const scr_recovery* f)
{
  int known = f->source < 0 && scr_recovery_entry(f) != NULL; /* the file on disk has an entry, with more in it */
  int rc = scr_filemap_put(&scr.map, scr_entry_dup(f->mine));

  if (rc == SCR_SUCCESS && !known) rc = scr_map_write();
  return rc == SCR_SUCCESS ? scr_home_mkdir(&scr.world.home, &f->mine->red, f->identity.id) : rc;
}

/* Check that the received files match their records, and create the empty ones, for which no byte was received. */
SCR_FN int scr_move_check(const scr_recovery* f)
{
  scr_entry* e = scr_recovery_entry(f);
  char       path[SCR_MAX_FILENAME];
  int        i, fd, rc = SCR_SUCCESS;

  for (i = 0; i < e->files && rc == SCR_SUCCESS; i++) {
    rc = scr_entry_path(&scr.world.home, e, e->file[i].rel, path, sizeof path);
    if (rc == SCR_SUCCESS && e->file[i].size == 0) {
      fd = scr_os.open(path, O_WRONLY | O_CREAT | O_NOFOLLOW, 0600);
      if (fd < 0) return SCR_ERRNO("cannot create %s", path);
      scr_os.close(fd);
    }
    if (rc == SCR_SUCCESS) rc = scr_file_check(path, &e->file[i], f->check);
  }
  e->listed = rc == SCR_SUCCESS;
  return rc;
}

/* Prepare the places of the files of FROM, the source's entry, on this node, without those that are lost. */
SCR_FN int scr_move_expect(const scr_recovery* f, const scr_entry* from)
{
  char path[SCR_MAX_FILENAME];
  int  i, rc = scr_recovery_enter(f);

  for (i = 0; i < from->files && rc == SCR_SUCCESS; i++)
    if (!scr_recovery_is_lost(&from->file[i], f->lost))
      rc = scr_entry_place(&scr.world.home, scr_recovery_entry(f), &from->file[i], path);
  return rc;
}

/*
** Send the ranks in ASKED the entries of the files that they request; those on other nodes are added to OUT, to receive
** the bytes.
*/
SCR_FN int scr_recovery_answer(const scr_recovery* f, const scr_hash* asked, scr_hash* answer, scr_move_list* out)
{
  scr_hash_elem* e;
  int            n = scr_hash_size(asked), rc = SCR_SUCCESS, err;

  out->to = (int*)scr_malloc((size_t)n * sizeof *out->to);
  out->lost = (int*)scr_malloc((size_t)n * sizeof *out->lost);
  if (out->to == NULL || out->lost == NULL) return SCR_ERR_OOM();
  for (e = scr_hash_elem_first(asked); e != NULL; e = scr_hash_elem_next(e)) {
    int              to = atoi(scr_hash_elem_key(e));
    const scr_entry* entry = scr_filemap_find(&scr.map, &f->identity, to);
    err = entry == NULL
              ? SCR_ERR(SCR_ERR_LOST, "rank %d asks for files of dataset %d that are not here", to, f->identity.id)
              : scr_entry_write(scr_hash_setf(answer, NULL, "%d", to), entry, &scr.world.home);
    if (rc == SCR_SUCCESS) rc = err;
    if (scr_hash_get(scr_hash_elem_hash(e), "MOVE") == NULL) continue;
    out->to[out->n] = to;
    out->lost[out->n++] = scr_hash_int_or(scr_hash_elem_hash(e), "MOVE", 0);
  }
  return rc;
}

/*
** Bring the files of each rank to its node: ranks send requests to the holders, which answer with their entries; then
** the files that are on other nodes are sent.  On the same node only the record moves.  Collective over the world;
** returns this rank's code.
*/
SCR_FN int scr_recovery_bring(scr_recovery* f)
{
  scr_hash *    ask = scr_hash_new(), *asked = scr_hash_new(), *answer = scr_hash_new(), *got = scr_hash_new();
  scr_move_list out = {0, NULL, NULL};
  scr_entry*    from = NULL;
  int           rc, err;

  if (f->source >= 0 && f->source != scr.world.rank)
    scr_hash_setf(ask, NULL, "%d %s %d", f->source, f->move ? "MOVE" : "HAND_OVER", f->lost);
  if (f->source == scr.world.rank)
    scr_entry_forget(scr_recovery_entry(f), f->lost & SCR_LOST_DATA, f->lost & SCR_LOST_RED);
  rc = scr_hash_exchange(ask, asked, scr.world.comm);
  err = scr_recovery_answer(f, asked, answer, &out);
  if (rc == SCR_SUCCESS) rc = err;
  if ((err = scr_hash_exchange(answer, got, scr.world.comm)) != SCR_SUCCESS) rc = err;
  if (f->source >= 0 && f->source != scr.world.rank) {
    from = scr_entry_read(scr_hash_getf(got, "%d", f->source), scr.world.rank, f->identity.id);
    if (rc == SCR_SUCCESS && from == NULL) rc = SCR_ERR_OOM();
  }
  if ((rc = scr_agree(rc, scr.world.comm)) != SCR_SUCCESS) goto out; /* from here both sides count messages alike */
  if (from != NULL && !f->move) {
    scr_entry_forget(from, f->lost & SCR_LOST_DATA, f->lost & SCR_LOST_RED);
    rc = scr_filemap_put(&scr.map, from);
    from = NULL;
  } else if (from != NULL) {
    rc = scr_move_expect(f, from);
  }
  rc = scr_move_files(f, &out, from, rc);
  if (rc == SCR_SUCCESS && from != NULL) rc = scr_move_check(f);
out:
  scr_entry_free(&from);
  scr_free(&out.to);
  scr_free(&out.lost);
  scr_hash_delete(&ask);
  scr_hash_delete(&asked);
  scr_hash_delete(&answer);
  scr_hash_delete(&got);
  return rc;
}

/* ---- step 6: commit ---- */

/* Record the host of the right neighbour in the filemap, for a scavenge.  Collective over the set. */
SCR_FN int scr_recovery_note_partner(const scr_recovery* f)
{
  scr_entry* e = scr_recovery_entry(f);
  int        rc = f->mine->red.set_size > 1 ? scr_reddesc_partner(&f->mine->red, &scr.world) : SCR_SUCCESS;

  scr_reddesc_free(&e->red);
  scr_reddesc_dup(&e->red, &f->mine->red); /* the description on which all members agreed */
  snprintf(e->partner, sizeof e->partner, "%s", e->red.partner != NULL ? e->red.partner : "");
  return rc;
}

/*
** Remove the entries of other ranks from this rank's map, and delete their files unless the owner runs on this node and
** uses them.
*/
SCR_FN int scr_recovery_delete_moved(const scr_recovery* f)
{
  int i, changed = 0;

  for (i = scr.map.n - 1; i >= 0; i--) {
    scr_entry* e = scr.map.entry[i];
    if (e->owner == scr.world.rank || scr_identity_cmp(&e->desc.identity, &f->identity) != 0) continue;
    if (!scr_world_on_node(&scr.world, e->owner)) scr_cache_delete_files(e);
    scr_filemap_remove(&scr.map, e);
    changed = 1;
  }
  return changed ? scr_map_write() : SCR_SUCCESS;
}

/* ---- one dataset ---- */

/*
** Steps 4 to 6, for a dataset that can be rebuilt.  Collective over the world; the same code everywhere.  On an error
** the records of what was here stay, and entries of files that were received are marked as incomplete.
*/
SCR_FN int scr_recovery_restore(scr_recovery* f)
{
  scr_entry *    here = scr_recovery_entry(f), *kept = NULL;
  scr_encode     x = scr_cache_encode(&f->mine->red, !f->check);
  int            verified, written = 0, rc, err;
  scr_err_record why;

  if (here != NULL && (f->source == scr.world.rank ? f->lost != 0 : f->source < 0)) kept = scr_entry_dup(here);
  rc = scr_recovery_delete_entries(&f->identity, 0); /* an older dataset of this id: its place is needed (U4) */
  err = scr_recovery_bring(f);
  if (rc == SCR_SUCCESS) rc = err;
  if (rc == SCR_SUCCESS && f->source < 0) rc = scr_recovery_enter(f);
  if ((rc = scr_agree(rc, scr.world.comm)) != SCR_SUCCESS) goto out;
  here = scr_recovery_entry(f);
  if (f->set_losses > 0) rc = scr_encode_recover(&x, 1, &here, f->set_lost);
  err = scr_recovery_note_partner(f);
  if (rc == SCR_SUCCESS) rc = err;
  verified = here->verified;
  here->verified = 1;
  if (scr_recovery_life(here) != f->life) scr_entry_decide(here, f->life); /* a kill kept it from being marked */
  if (rc == SCR_SUCCESS && (rc = scr_map_write()) == SCR_SUCCESS) written = 1;
  if ((rc = scr_agree(rc, scr.world.comm)) == SCR_SUCCESS) scr_recovery_delete_moved(f);
  else here->verified = verified;
out:
  if (rc != SCR_SUCCESS && kept != NULL) {
    scr_filemap_put(&scr.map, kept); /* restore the record of what was here */
    kept = NULL;
  } else if (rc != SCR_SUCCESS && f->source != scr.world.rank && scr_recovery_entry(f) != NULL) {
    scr_recovery_entry(f)->listed = 0;
  }
  if (rc != SCR_SUCCESS && written) {
    scr_err_save(&why);
    scr_map_write();
    scr_err_restore(&why);
  }
  scr_entry_free(&kept);
  return rc;
}

/* ---- a dataset of another number of ranks ---- */

/* One of the ranks that wrote a dataset, as its registrar, or its runner, knows it. */
typedef struct {
  int        owner;
  scr_entry* e;      /* its entry: without files, or that of the filemap; NULL: not known */
  int        in_map; /* 1: that of the filemap */
  int        is_new; /* 1: the filemap had none */
  scr_entry* kept;   /* that of the filemap as it was, until it is clear that what is lost was rebuilt */
  int        runner, lost;
  int*       runners; /* [set_size]: the runners of the members of its set, */
  int64_t*   losses;  /* [set_size]: and what these lack */
} scr_other;

/* The owners that this rank has to do with. */
typedef struct {
  scr_other* one;
  int        n;
  scr_hash*  leave; /* owners of which other ranks have better copies */
} scr_others;

SCR_FN void scr_others_free(scr_others* l)
{
  while (l->n > 0) {
    scr_other* o = &l->one[--l->n];
    if (!o->in_map) scr_entry_free(&o->e);
    scr_entry_free(&o->kept);
    scr_free(&o->runners);
    scr_free(&o->losses);
  }
  scr_free(&l->one);
  scr_hash_delete(&l->leave);
}

/* A new owner in L, or NULL without memory. */
SCR_FN scr_other* scr_others_add(scr_others* l, int owner)
{
  scr_other* o;

  if (!scr_grow(&l->one, l->n, sizeof *l->one)) return NULL;
  o = &l->one[l->n++];
  memset(o, 0, sizeof *o);
  o->owner = owner;
  return o;
}

/* Room for what is known about the members of the set of O. */
SCR_FN int scr_other_make_set(scr_other* o)
{
  o->runners = (int*)scr_malloc((size_t)o->e->red.set_size * sizeof *o->runners);
  o->losses = (int64_t*)scr_malloc((size_t)o->e->red.set_size * sizeof *o->losses);
  return o->runners == NULL || o->losses == NULL ? SCR_ERR_OOM() : SCR_SUCCESS;
}

/* The registrar of OWNER, the rank that collects what is known about it. */
SCR_FN int scr_others_registrar(int owner)
{
  return owner % scr.world.ranks;
}

/* Announce to the registrars of the owners, and of all members of their sets, what this rank holds. */
SCR_FN void scr_others_announce(const scr_recovery* f, scr_hash* send)
{
  scr_hash*  own;
  scr_entry* e;
  int        i = 0, k;

  while ((e = scr_dataset_next_entry(&f->identity, &i)) != NULL) {
    if (e->owner >= f->ranks) continue;
    own = scr_hash_setf(send, NULL, "%d %d", scr_others_registrar(e->owner), e->owner);
    scr_hash_util_set_int(own, "HOLDS", 1);
    if (!e->desc.complete || e->red.set_size == 0) continue; /* what it lists counts as lost */
    scr_recovery_announce_entry(own, e, scr_recovery_lost(e, f->check));
    for (k = 0; k < e->red.set_size; k++) {
      int m = e->red.member[k];
      scr_recovery_announce_entry(scr_hash_setf(send, NULL, "%d %d", scr_others_registrar(m), m), e, SCR_LOST_ALL);
    }
  }
}

/* Returns 1 if A and B describe the same set. */
SCR_FN int scr_others_same_set(const scr_reddesc* a, const scr_reddesc* b)
{
  return a->scheme == b->scheme && a->failures == b->failures && a->set_id == b->set_id && a->set_size == b->set_size &&
         memcmp(a->member, b->member, (size_t)a->set_size * sizeof *a->member) == 0;
}

/*
** Find out from the announcements RECV who holds the files of O: its runner is the one that lacks least, or this rank,
** its registrar.  Returns 1 if the announcements describe its set differently.
*/
SCR_FN int scr_others_pick(const scr_recovery* f, const scr_hash* recv, scr_other* o)
{
  scr_hash_elem* from;
  int            differs = 0, best = INT_MAX;

  o->runner = scr.world.rank;
  o->lost = SCR_LOST_ALL;
  for (from = scr_hash_elem_first(recv); from != NULL; from = scr_hash_elem_next(from)) {
    const scr_hash* m = scr_hash_getf(scr_hash_elem_hash(from), "%d", o->owner);
    scr_entry*      e =
        scr_hash_get(m, "ENTRY") != NULL ? scr_entry_read(scr_hash_get(m, "ENTRY"), o->owner, f->identity.id) : NULL;
    int lost = scr_hash_int_or(m, "LOST", SCR_LOST_ALL) & SCR_LOST_ALL;
    int loss = (lost & SCR_LOST_DATA ? 2 : 0) + (lost & SCR_LOST_RED ? 1 : 0);
    if (e != NULL) e = scr_recovery_describe(e, o->owner);
    if (e != NULL && o->e == NULL) o->e = e;
    else if (e != NULL && !scr_others_same_set(&o->e->red, &e->red)) differs = 1;
    if (e != o->e) scr_entry_free(&e);
    if (scr_hash_get(m, "HOLDS") == NULL || loss >= best) continue;
    best = loss;
    o->runner = atoi(scr_hash_elem_key(from));
    o->lost = lost;
  }
  return differs;
}

/*
** Tell the registrars of all members of the sets of L who the runners are, and receive it.  Collective over the world.
*/
SCR_FN int scr_others_share(scr_others* l)
{
  scr_hash *     send = scr_hash_new(), *recv = scr_hash_new(), *m;
  scr_hash_elem *from, *at;
  int            i, k, rc;

  for (i = 0; i < l->n; i++) {
    const scr_other* o = &l->one[i];
    for (k = 0; o->e != NULL && k < o->e->red.set_size; k++) {
      int to = o->e->red.member[k];
      m = scr_hash_setf(send, NULL, "%d %d %d", scr_others_registrar(to), to, o->e->red.set_rank);
      scr_hash_util_set_int(m, "RUNNER", o->runner);
      scr_hash_util_set_int(m, "LOST", o->lost);
    }
  }
  rc = scr_hash_exchange(send, recv, scr.world.comm);
  for (i = 0; i < l->n; i++)
    for (from = scr_hash_elem_first(recv); from != NULL; from = scr_hash_elem_next(from)) {
      scr_other* o = &l->one[i];
      at = scr_hash_elem_first(scr_hash_getf(scr_hash_elem_hash(from), "%d", o->owner));
      for (; at != NULL; at = scr_hash_elem_next(at)) {
        k = atoi(scr_hash_elem_key(at));
        if (k < 0 || k >= o->e->red.set_size) continue; /* sets that differ were found before */
        o->runners[k] = scr_hash_int_or(scr_hash_elem_hash(at), "RUNNER", 0);
        o->losses[k] = scr_hash_int_or(scr_hash_elem_hash(at), "LOST", 0);
      }
    }
  scr_hash_delete(&send);
  scr_hash_delete(&recv);
  return rc;
}

/*
** Find out who holds the files of the owners in L, for which this rank is the registrar, and whether what is lost can
** be rebuilt; *LOST receives the number of owners that have lost something.  RECV receives the announcements.
** Collective over the world; the same code everywhere.
*/
SCR_FN int scr_others_judge(const scr_recovery* f, scr_others* l, scr_hash* recv, int* lost)
{
  enum { NO_SET, LOST };          /* sum */
  enum { SETS_DIFFER, HOPELESS }; /* max */
  scr_hash* send = scr_hash_new();
  scr_vote  v;
  int       i, hopeless, rc, err;

  memset(&v, 0, sizeof v);
  scr_others_announce(f, send);
  rc = scr_hash_exchange(send, recv, scr.world.comm);
  scr_hash_delete(&send);
  for (i = scr.world.rank; i < f->ranks && rc == SCR_SUCCESS; i += scr.world.ranks) {
    scr_other* o = scr_others_add(l, i);
    if (o == NULL) {
      rc = SCR_ERR_OOM();
      break;
    }
    v.max[SETS_DIFFER] |= scr_others_pick(f, recv, o);
    v.sum[NO_SET] += o->e == NULL;
    v.sum[LOST] += o->lost != 0;
    if (o->e != NULL) rc = scr_other_make_set(o);
  }
  if ((rc = scr_vote_all(&v, rc, scr.world.comm)) != SCR_SUCCESS) return rc;
  *lost = (int)v.sum[LOST];
  if (v.sum[NO_SET] > 0)
    return SCR_ERR(SCR_ERR_LOST, "nothing is left of the sets of %lld of the %d ranks that wrote it",
                   (long long)v.sum[NO_SET], f->ranks);
  if (v.max[SETS_DIFFER]) return SCR_ERR(SCR_ERR_LOST, "its pieces come from copies with different redundancy sets");
  rc = scr_others_share(l);
  memset(&v, 0, sizeof v);
  for (i = 0; i < l->n; i++) {
    err = scr_recovery_weigh(&l->one[i].e->red, l->one[i].losses, &hopeless);
    if (rc == SCR_SUCCESS) rc = err;
    v.max[HOPELESS] |= hopeless;
  }
  if ((rc = scr_vote_all(&v, rc, scr.world.comm)) != SCR_SUCCESS || !v.max[HOPELESS]) return rc;
  return SCR_ERR(SCR_ERR_LOST,
                 "the files of %d of the %d ranks that wrote it are lost, more than its redundancy can "
                 "rebuild",
                 *lost, f->ranks);
}

/* Write O to M, the message from its registrar to its runner. */
SCR_FN void scr_others_write(const scr_other* o, scr_hash* m, const scr_home* home)
{
  int k;

  scr_entry_write(scr_hash_set(m, "ENTRY", scr_hash_new()), o->e, home);
  scr_hash_util_set_int(m, "LOST", o->lost);
  for (k = 0; k < o->e->red.set_size; k++) {
    scr_hash* member = scr_hash_setf(m, NULL, "MEMBER %d", k);
    scr_hash_util_set_int(member, "RUNNER", o->runners[k]);
    scr_hash_util_set_int(member, "LOST", (int)o->losses[k]);
  }
}

/* Read O, an owner for which this rank is the runner, from the message M. */
SCR_FN int scr_others_read(const scr_hash* m, int id, scr_other* o)
{
  int k;

  o->lost = scr_hash_int_or(m, "LOST", SCR_LOST_ALL);
  o->e = scr_entry_read(scr_hash_get(m, "ENTRY"), o->owner, id);
  if (o->e == NULL || (o->e = scr_recovery_describe(o->e, o->owner)) == NULL || scr_other_make_set(o) != SCR_SUCCESS)
    return SCR_ERR_OOM();
  for (k = 0; k < o->e->red.set_size; k++) {
    const scr_hash* member = scr_hash_getf(m, "MEMBER %d", k);
    o->runners[k] = scr_hash_int_or(member, "RUNNER", 0);
    o->losses[k] = scr_hash_int_or(member, "LOST", 0);
  }
  return SCR_SUCCESS;
}

/* The order in which runners go through their owners: by sets, so that none waits for another in a circle. */
SCR_FN int scr_others_cmp(const void* a, const void* b)
{
  const scr_reddesc *x = &((const scr_other*)a)->e->red, *y = &((const scr_other*)b)->e->red;

  return x->set_id != y->set_id ? (x->set_id > y->set_id) - (x->set_id < y->set_id) : x->set_rank - y->set_rank;
}

/*
** Registrars send each owner of L to its runner, which receives it in MINE, in order; other holders of its files find
** it in mine->leave.  RECV has the announcements.  Collective over the world; the same code everywhere.
*/
SCR_FN int scr_others_assign(const scr_recovery* f, const scr_others* l, const scr_hash* recv, scr_others* mine)
{
  scr_hash *     send = scr_hash_new(), *in = scr_hash_new();
  scr_hash_elem *from, *o;
  int            i, rc, err = SCR_SUCCESS;

  for (i = 0; i < l->n; i++) {
    const scr_other* one = &l->one[i];
    scr_others_write(one, scr_hash_setf(send, NULL, "%d RUN %d", one->runner, one->owner), &scr.world.home);
    for (from = scr_hash_elem_first(recv); from != NULL; from = scr_hash_elem_next(from)) {
      const scr_hash* m = scr_hash_getf(scr_hash_elem_hash(from), "%d", one->owner);
      if (scr_hash_get(m, "HOLDS") != NULL && atoi(scr_hash_elem_key(from)) != one->runner)
        scr_hash_setf(send, NULL, "%s LEAVE %d", scr_hash_elem_key(from), one->owner);
    }
  }
  rc = scr_hash_exchange(send, in, scr.world.comm);
  for (from = scr_hash_elem_first(in); from != NULL; from = scr_hash_elem_next(from)) {
    o = scr_hash_elem_first(scr_hash_get(scr_hash_elem_hash(from), "RUN"));
    for (; o != NULL && err == SCR_SUCCESS; o = scr_hash_elem_next(o)) {
      scr_other* one = scr_others_add(mine, atoi(scr_hash_elem_key(o)));
      err = one == NULL ? SCR_ERR_OOM() : scr_others_read(scr_hash_elem_hash(o), f->identity.id, one);
    }
    scr_hash_merge(mine->leave, scr_hash_get(scr_hash_elem_hash(from), "LEAVE"));
  }
  if (mine->n > 0 && err == SCR_SUCCESS) qsort(mine->one, (size_t)mine->n, sizeof *mine->one, scr_others_cmp);
  scr_hash_delete(&send);
  scr_hash_delete(&in);
  return scr_agree(rc == SCR_SUCCESS ? err : rc, scr.world.comm);
}

/*
** Enter O in the filemap, if it is not there, and let its entry forget what is lost; it is kept until that is rebuilt.
*/
SCR_FN int scr_others_enter(const scr_recovery* f, scr_other* o)
{
  scr_entry* have = scr_filemap_find(&scr.map, &f->identity, o->owner);
  int        rc = SCR_SUCCESS;

  o->in_map = 1;
  if (have == NULL) {
    rc = scr_filemap_put(&scr.map, o->e);
    o->is_new = rc == SCR_SUCCESS;
    if (rc == SCR_SUCCESS) rc = scr_map_write();
    if (rc == SCR_SUCCESS) rc = scr_home_mkdir(&scr.world.home, &o->e->red, f->identity.id);
  } else {
    if ((o->lost != 0 || !have->verified) && (o->kept = scr_entry_dup(have)) == NULL) rc = SCR_ERR_OOM();
    if (rc == SCR_SUCCESS) scr_entry_forget(have, o->lost & SCR_LOST_DATA, o->lost & SCR_LOST_RED);
    if (rc == SCR_SUCCESS && o->lost == SCR_LOST_ALL) { /* it may not even say that the dataset was complete */
      have->desc = o->e->desc;
      scr_reddesc_free(&have->red);
      scr_reddesc_dup(&have->red, &o->e->red);
      rc = scr_home_mkdir(&scr.world.home, &have->red, f->identity.id);
    }
    scr_entry_free(&o->e);
    o->e = have;
  }
  return rc;
}

/* Rebuild what the sets of the owners MINE have lost.  Collective over the runners of each set. */
SCR_FN int scr_others_rebuild(const scr_recovery* f, scr_others* mine)
{
  scr_entry* members[SCR_SET_SIZE_MAX];
  int        i, n, rc = SCR_SUCCESS, err;

  for (i = 0; i < mine->n; i += n) {
    const scr_other* first = &mine->one[i];
    scr_encode       x = scr_cache_encode(&first->e->red, !f->check);
    x.runner = first->runners;
    for (n = 0; i + n < mine->n && n < first->e->red.set_size && first[n].e->red.set_id == first->e->red.set_id; n++)
      members[n] = first[n].e;
    if (scr_recovery_losses(&first->e->red, first->losses) == 0) continue;
    err = scr_encode_recover(&x, n, members, first->losses);
    if (rc == SCR_SUCCESS) rc = err;
  }
  return rc;
}

/* After the rebuild, with RC: on success let go what other ranks have, else restore the records of what was here. */
SCR_FN void scr_others_settle(const scr_recovery* f, scr_others* mine, int rc)
{
  scr_err_record why;
  scr_hash_elem* e;
  int            i;

  scr_err_save(&why);
  for (e = scr_hash_elem_first(mine->leave); e != NULL && rc == SCR_SUCCESS; e = scr_hash_elem_next(e)) {
    scr_entry* old = scr_filemap_find(&scr.map, &f->identity, atoi(scr_hash_elem_key(e)));
    if (old == NULL) continue;
    scr_cache_delete_files(old);
    scr_filemap_remove(&scr.map, old);
  }
  for (i = 0; i < mine->n && rc != SCR_SUCCESS; i++) {
    scr_other* o = &mine->one[i];
    if (o->is_new) o->e->listed = 0;
    else if (o->kept != NULL && scr_filemap_put(&scr.map, o->kept) == SCR_SUCCESS) o->kept = NULL;
  }
  if (scr_map_write() != SCR_SUCCESS) scr_warn("%s", scr_err_text);
  scr_err_restore(&why);
}

/*
** Recover the dataset, which another number of ranks wrote.  Its files stay where they are: each owner gets a runner,
** the rank that holds its files, or its registrar, where they are rebuilt.  Collective over the world; the same code
** everywhere.
*/
SCR_FN int scr_others_run(const scr_recovery* f)
{
  scr_others l = {NULL, 0, NULL}, mine = {NULL, 0, scr_hash_new()};
  scr_hash*  recv = scr_hash_new();
  int        i, lost = 0, rc = scr_others_judge(f, &l, recv, &lost), err = SCR_SUCCESS;

  if (rc == SCR_SUCCESS) rc = scr_others_assign(f, &l, recv, &mine);
  if (rc == SCR_SUCCESS) {
    scr_dbg(1, "dataset %d: %d ranks wrote it; %d of them have lost files%s", f->identity.id, f->ranks, lost,
            lost > 0 ? ", which are rebuilt" : "");
    err = scr_recovery_delete_entries(&f->identity, 0); /* an older dataset of this id: its place is needed (U4) */
    for (i = 0; i < mine.n && err == SCR_SUCCESS; i++) err = scr_others_enter(f, &mine.one[i]);
    rc = scr_agree(err, scr.world.comm);
    if (rc == SCR_SUCCESS) rc = scr_others_rebuild(f, &mine);
    for (i = 0; i < mine.n && rc == SCR_SUCCESS; i++) {
      mine.one[i].e->verified = 1;
      scr_entry_decide(mine.one[i].e, f->life);
    }
    if (rc == SCR_SUCCESS) rc = scr_map_write();
    rc = scr_agree(rc, scr.world.comm);
    scr_others_settle(f, &mine, rc);
  }
  scr_others_free(&l);
  scr_others_free(&mine);
  scr_hash_delete(&recv);
  return rc;
}

/* ---- one dataset, whoever wrote it ---- */

/*
** Recover the dataset from the cache.  Collective over the world; the same code everywhere.  On an error the caller
** sets the dataset aside.
*/
SCR_FN int scr_recovery_run(scr_recovery* f)
{
  enum { LOST, MOVED };
  scr_vote v;
  int      hopeless = 0, rc;
  double   start = scr_wtime();

  if ((rc = scr_recovery_judge(f)) != SCR_SUCCESS) return rc;
  if (f->other_world) return scr_others_run(f);
  rc = scr_recovery_assess(f, &hopeless);
  memset(&v, 0, sizeof v);
  v.sum[LOST] = f->lost != 0;
  v.sum[MOVED] = f->move;
  v.max[0] = hopeless;
  if ((rc = scr_vote_all(&v, rc, scr.world.comm)) != SCR_SUCCESS) return rc;
  if (v.max[0] > 0)
    return SCR_ERR(SCR_ERR_LOST, "the files of %lld ranks are lost, more than its redundancy can rebuild",
                   (long long)v.sum[LOST]);
  if (v.sum[MOVED] > 0)
    scr_dbg(1, "dataset %d: %lld ranks have their files on another node", f->identity.id, (long long)v.sum[MOVED]);
  if (v.sum[LOST] > 0)
    scr_dbg(1, "dataset %d: %lld ranks have lost files, which are rebuilt", f->identity.id, (long long)v.sum[LOST]);
  if (v.sum[LOST] > 0) scr_event("REBUILD_START", NULL, &f->mine->desc, -1.0);
  rc = scr_recovery_restore(f);
  if (rc == SCR_SUCCESS)
    scr_dbg(1, "dataset %d %s is whole in the cache, after %.3f s", f->identity.id, scr_desc_name(&f->mine->desc),
            scr_wtime() - start);
  if (v.sum[LOST] > 0)
    scr_event(rc == SCR_SUCCESS ? "REBUILD_SUCCESS" : "REBUILD_FAIL", rc == SCR_SUCCESS ? NULL : scr_err_text,
              &f->mine->desc, scr_wtime() - start);
  return rc;
}

/* What is told of a dataset to the ranks that hold nothing of it. */
typedef struct {
  scr_desc desc;
  char     store[SCR_MAX_FILENAME];
} scr_recovery_told;

SCR_FN void scr_recovery_describe_as(scr_recovery_told* it, const scr_entry* e)
{
  it->desc = e->desc;
  snprintf(it->store, sizeof it->store, "%s", e->red.store != NULL ? e->red.store : "");
}

/*
** The first rank that holds a piece of the dataset IDENTITY, if possible one that was complete, describes it to all in
** IT.  SCR_ERR_NOT_FOUND if there is none.  Collective over the world; the same code everywhere.
*/
SCR_FN int scr_recovery_tell(const scr_identity* identity, scr_recovery_told* it)
{
  const scr_entry* e;
  scr_vote         v;
  int              i = 0, root, rc;

  memset(&v, 0, sizeof v);
  memset(it, 0, sizeof *it);
  while (v.max[0] <= scr.world.ranks && (e = scr_dataset_next_entry(identity, &i)) != NULL) {
    v.max[0] = (e->desc.complete ? scr.world.ranks : 0) + scr.world.ranks - scr.world.rank;
    scr_recovery_describe_as(it, e);
  }
  rc = scr_vote_all(&v, SCR_SUCCESS, scr.world.comm);
  root = (v.max[0] > scr.world.ranks ? 2 : 1) * scr.world.ranks - (int)v.max[0];
  if (rc != SCR_SUCCESS) return rc;
  if (root == scr.world.ranks) return SCR_ERR(SCR_ERR_NOT_FOUND, "nothing is left of dataset %d", identity->id);
  return scr_bcast(it, (int)sizeof *it, MPI_BYTE, root, scr.world.comm);
}

/*
** Record on every rank that the dataset IT is set aside, as ASIDE says.  Collective over the world; the same code
** everywhere.
*/
SCR_FN int scr_recovery_set_aside(const scr_recovery_told* it, scr_aside aside)
{
  int                id = it->desc.identity.id, rc;
  const scr_dataset* ds = scr_dataset_find(id);

  if (ds != NULL && scr_desc_is_ckpt(&ds->desc) && ds->aside != SCR_ASIDE_UNPROVEN)
    return SCR_SUCCESS; /* the younger of this id tells more */
  rc = scr_agree(scr_dataset_add(&it->desc, it->store, SCR_ASIDE), scr.world.comm);
  if (rc == SCR_SUCCESS) scr_dataset_find(id)->aside = aside;
  return rc;
}

/* The dataset cannot be used, for the reason in the last error.  Collective over the world. */
SCR_FN int scr_recovery_failed(const scr_recovery* f, int rc)
{
  int useless = (rc == SCR_ERR_LOST && !(f->other_world && scr.same_ranks)) || (rc == SCR_ERR_SPACE && f->unproven);
  int passed = f->life == SCR_PASSED;
  scr_aside         aside = useless  ? (f->unproven || passed ? SCR_ASIDE_UNPROVEN : SCR_ASIDE_LOST)
                            : passed ? SCR_ASIDE_PASSED
                                     : SCR_ASIDE_KEPT;
  scr_recovery_told it;
  scr_err_record    why;
  int               err;

  scr_err_save(&why);
  err = scr_recovery_tell(&f->identity, &it);
  scr_err_restore(&why);
  if (err != SCR_SUCCESS) return err == SCR_ERR_NOT_FOUND ? SCR_SUCCESS : err;
  if (passed)
    scr_dbg(1, "dataset %d in the cache, which was passed over, cannot be used: %s", f->identity.id, scr_err_text);
  else
    scr_tried_add("dataset %d %s in the cache cannot be used: %s", f->identity.id, scr_desc_name(&it.desc),
                  scr_err_text);
  if (aside == SCR_ASIDE_UNPROVEN && !passed && scr.world.rank == 0)
    scr_warn("dataset %d %s is set aside: the run ended while it was being completed, and not enough of it is left",
             f->identity.id, scr_desc_name(&it.desc));
  return scr_recovery_set_aside(&it, aside);
}

/*
** The greatest identity below LIMIT in this rank's map, or of its entries that are LEAVING, as the key of a vote; all
** zeros if there is none.
*/
SCR_FN void scr_recovery_next(const scr_identity* limit, int leaving, int64_t* key)
{
  const scr_identity* best = NULL;
  int                 i;

  for (i = 0; i < scr.map.n; i++) {
    const scr_identity* id = &scr.map.entry[i]->desc.identity;
    if (scr.map.entry[i]->bypass || (leaving && scr.map.entry[i]->mark != SCR_MARK_LEAVING)) continue;
    if (scr_identity_cmp(id, limit) < 0 && (best == NULL || scr_identity_cmp(id, best) > 0)) best = id;
  }
  key[0] = best != NULL ? best->id : 0;
  key[1] = best != NULL ? best->created : 0;
  key[2] = best != NULL ? (int64_t)best->nonce : 0;
}

/*
** The greatest of the identities that scr_recovery_next finds on any rank becomes *LIMIT; its id is 0 if there is none.
** Collective over the world.
*/
SCR_FN int scr_recovery_step(scr_identity* limit, int leaving)
{
  scr_vote v;
  int      rc;

  memset(&v, 0, sizeof v);
  scr_recovery_next(limit, leaving, v.key);
  rc = scr_vote_all(&v, SCR_SUCCESS, scr.world.comm);
  limit->id = rc == SCR_SUCCESS ? (int)v.key[0] : 0;
  limit->created = v.key[1];
  limit->nonce = (uint64_t)v.key[2];
  return rc;
}

/*
** Finish the deletions that a kill interrupted, on all ranks: some may not have marked their entries yet.  Collective
** over the world.
*/
SCR_FN int scr_recovery_finish_deletions(void)
{
  scr_identity limit = {INT_MAX, 0, 0};
  int          rc;

  for (;;) {
    if ((rc = scr_recovery_step(&limit, 1)) != SCR_SUCCESS || limit.id <= 0) break;
    scr_dbg(1, "dataset %d was being deleted from the cache when a run ended; the rest of it goes now", limit.id);
    if (scr_recovery_delete(&limit) != SCR_SUCCESS) scr_warn("%s", scr_err_text);
    if (scr.world.rank == 0) scr_dataset_write_note(limit.id, NULL); /* it is not lost */
    if (limit.id > scr.dataset_id) scr.dataset_id = limit.id;
  }
  scr_map_settle();
  return rc;
}

/*
** Recover all datasets of the cache, newest first, so that a crowded cache keeps the newest, and fill scr.dataset.  If
** a rebuild has read a corrupt file, as SCR_CRC_ON_RESTART=0 allows, it is repeated with all files checked.  Collective
** over the world.  An error means that the run cannot go on; a dataset that cannot be used is no error.
*/
SCR_FN int scr_recovery_all(void)
{
  scr_identity      limit = {INT_MAX, 0, 0};
  scr_recovery      f;
  scr_recovery_told it;
  int               rc;

  if ((rc = scr_recovery_finish_deletions()) != SCR_SUCCESS) return rc;
  for (;;) {
    if ((rc = scr_recovery_step(&limit, 0)) != SCR_SUCCESS || limit.id <= 0) return rc;
    scr_recovery_begin(&f, &limit, scr.crc_on_restart);
    if (scr_dataset_is_whole(scr_dataset_find(limit.id))) {
      rc = scr_recovery_delete(&limit); /* an older dataset of an id that is recovered already */
    } else {
      rc = scr_recovery_run(&f);
      if (rc == SCR_ERR_CRC && !f.check) {
        scr_entry_free(&f.mine);
        scr_recovery_begin(&f, &limit, 1);
        rc = scr_recovery_run(&f);
      }
      if (rc == SCR_SUCCESS && f.other_world) rc = scr_recovery_tell(&limit, &it); /* a rank may have nothing of it */
      else if (rc == SCR_SUCCESS) scr_recovery_describe_as(&it, f.mine);
      if (rc == SCR_SUCCESS) rc = scr_agree(scr_dataset_add(&it.desc, it.store, f.life), scr.world.comm);
      else if (!f.never && rc != SCR_ERR_MPI) rc = scr_recovery_failed(&f, rc);
    }
    scr_entry_free(&f.mine);
    if (limit.id > scr.dataset_id) scr.dataset_id = limit.id;
    if (rc == SCR_ERR_MPI) return rc;
  }
}

/*
** Rebuild the files of dataset ID, which is in use, that have become corrupt or are missing.  SCR_ERR_LOST if its
** redundancy cannot rebuild them, SCR_ERR_NOT_FOUND if no file is damaged.  Collective over the world; the same code
** everywhere.  On an error the records are unchanged.
*/
SCR_FN int scr_recovery_mend(int id)
{
  const scr_dataset* ds = scr_dataset_find(id);
  scr_entry *        e = scr_dataset_entry(ds), *kept = NULL;
  scr_recovery       f;
  scr_encode         x;
  scr_vote           v;
  int                hopeless = 0, rc = SCR_SUCCESS;

  scr_recovery_begin(&f, &ds->desc.identity, 1);
  f.ranks = ds->desc.ranks;
  f.life = ds->life;
  if (f.ranks != scr.world.ranks) return scr_others_run(&f);
  memset(&v, 0, sizeof v);
  if (e == NULL) rc = SCR_ERR(SCR_ERR_LOST, "rank %d has no record of dataset %d", scr.world.rank, id);
  else f.lost = scr_recovery_lost(e, 1);
  if ((rc = scr_agree(rc, scr.world.comm)) != SCR_SUCCESS) return rc;
  f.mine = e;
  rc = scr_recovery_assess(&f, &hopeless);
  v.sum[0] = f.lost != 0;
  v.max[0] = hopeless;
  if ((rc = scr_vote_all(&v, rc, scr.world.comm)) != SCR_SUCCESS) return rc;
  if (v.sum[0] == 0) return SCR_ERR(SCR_ERR_NOT_FOUND, "no file of dataset %d is lost", id);
  if (v.max[0] > 0) return SCR_ERR(SCR_ERR_LOST, "the redundancy of dataset %d cannot rebuild what it lost", id);
  scr_event("REBUILD_START", NULL, &ds->desc, -1.0);
  x = scr_cache_encode(&e->red, 0);
  if (f.lost && (kept = scr_entry_dup(e)) == NULL) rc = SCR_ERR_OOM();
  if (kept != NULL) scr_entry_forget(e, f.lost & SCR_LOST_DATA, f.lost & SCR_LOST_RED);
  if (f.set_losses > 0) {
    int err = scr_encode_recover(&x, 1, &e, f.set_lost);
    if (rc == SCR_SUCCESS) rc = err;
  }
  if (rc == SCR_SUCCESS) rc = scr_map_write();
  rc = scr_agree(rc, scr.world.comm);
  if (rc != SCR_SUCCESS && kept != NULL) {
    scr_filemap_put(&scr.map, kept);
    kept = NULL;
  }
  scr_entry_free(&kept);
  scr_event(rc == SCR_SUCCESS ? "REBUILD_SUCCESS" : "REBUILD_FAIL", NULL, &ds->desc, -1.0);
  return rc;
}

/* ==== 22 FLUSH ==========================================================================================
** Copy datasets from the cache to the prefix, in three steps with their state in one struct: begin, copy, commit.
**
** Uses       platform, errors, memory, path, hash, hash files, dataset, file window, filemap, prefix, MPI helpers,
**            world, state
** Offers     scr_flush, scr_indexed; scr_flights, scr_flush_read_rank2file, scr_flush_find_replaced, scr_flush_copy,
**            scr_flush_check, scr_flush_commit, scr_flush_delete, scr_indexed_of, scr_flush_delete_indexed,
**            scr_flush_slide, scr_flush_end, scr_flush_prepare, scr_flush_run
** Invariants
**   J1  A flush writes every file under a temporary name beside its final one.  Files of an indexed dataset are
**       replaced only by renames, after the index update that removes that dataset and adds the new one.  Until the
**       renames are done the index says REDO, and any later run finishes them in SCR_Init (scr_prefix_finish_all).
**   J2  The order at the end of a flush: data, fsync, rank2file map and summary, fsync, COMPLETE in the index, renames,
**       CURRENT, and only then PFS in the flush file.  A failed flush writes none of the last four.
**   J3  Each step needs only files whose bytes are synced, and names that are synced in each directory from the prefix
**       down: those of directories, whoever made them, before the copy; temporary names behind it; final names before
**       CURRENT.
** Failure    A failed flush leaves the prefix as it was, but for empty directories.
** ====================================================================================================== */

/* An indexed dataset that may have files where the flush is to put its own. */
typedef struct {
  scr_identity identity;
  int          ckpt, stands; /* it is a checkpoint; it is newer and good, so only the user's wish overrides it */
  int          is_read;      /* 1: the application reads it now */
  int          hit;          /* 1: it has such files */
  char         dir[SCR_MAX_FILENAME];
} scr_flush_rival;

/* A flush in progress. */
typedef struct scr_flush {
  int              id;
  int              async;    /* 1: the application goes on while the helper, or the daemon of the node, copies */
  int              resumes;  /* 1: the run before this one has begun it, and its temporary files are to be used */
  int              in_place; /* 1: the application has written the files under their temporary names */
  scr_desc         desc;
  int              threads;
  int              may_replace_newer;     /* 1: the user asked for this dataset, so newer ones may lose files */
  char             dir[SCR_MAX_FILENAME]; /* of the dataset, below the prefix */
  int              keep_metadata;         /* 1: the index has, or may have, the dataset in dir; on rank 0 */
  int              keep_copy;             /* 1: dir has a copy that the index does not have; until the commit */
  scr_objects      objects;               /* the files that this rank makes, */
  scr_copy_list    copies;                /* and how */
  scr_job          job;                   /* of the helper, */
  int              by_daemon;             /* unless this is 1: the daemon has the copies; */
  int              arrived;               /* 1: and it has made them all */
  double           looked;                /* when this rank last looked into the transfer file */
  uint64_t         seen;                  /* and the bytes of all files that were copied then */
  scr_flush_rival* rival;
  int              rivals;
  int              superseded; /* 1: files of a newer checkpoint have the places of its own */
  int              committed;  /* 1: the index has the dataset, so its temporary files must stay */
  double           start;
} scr_flush;

/* The asynchronous flushes in progress, the same on every rank, the oldest first. */
static struct {
  scr_flush**    flush;
  int            n;
  int            failed; /* the first error since the last SCR_Wait, */
  scr_err_record why;
} scr_flights;

/* ---- the rank2file map over the ranks ---- */

/*
** The ranks that have a BODY, all but NULL, form groups of neighbours whose bodies have at most SCR_RANK2FILE_SIZE
** bytes together; above LEVEL 0 a single group if that would leave each alone.  The first rank of a group, where *FIRST
** becomes 1, receives the bodies of all in IN, by rank.  *GROUPS receives the number of groups.  Collective over the
** world; returns this rank's code.
*/
SCR_FN int scr_flush_group(const scr_hash* body, int level, scr_hash* in, int* first, int* groups)
{
  scr_hash* send = scr_hash_new();
  scr_vote  scan, all;
  int64_t   size = body != NULL ? (int64_t)scr_hash_pack_size(body) : 0, start, span;
  int       rc, err;

  memset(&scan, 0, sizeof scan);
  memset(&all, 0, sizeof all);
  scan.sum[0] = size;
  rc = scr_scan(&scan, SCR_SCAN_UP, scr.world.comm);
  start = scan.sum[0] - size;
  all.max[0] = size;
  all.sum[0] = body != NULL;
  if ((err = scr_vote_all(&all, SCR_SUCCESS, scr.world.comm)) != SCR_SUCCESS) rc = err;
  span = scr_rank2file_span((int64_t)scr.rank2file_size, all.max[0]);
  *first = scr_rank2file_begins(start, start + size, span);
  *groups = (int)all.sum[0];
  memset(&all, 0, sizeof all);
  all.sum[0] = *first;
  if ((err = scr_vote_all(&all, SCR_SUCCESS, scr.world.comm)) != SCR_SUCCESS) rc = err;
  if (level > 0 && *groups > 1 && (all.sum[0] == *groups || level >= SCR_RANK2FILE_LEVELS - 1)) {
    /* no node can take two, or the tree is too deep: it has to be larger */
    *first = scr_rank2file_begins(start, start + size, INT64_MAX);
    *groups = 1;
  } else {
    *groups = (int)all.sum[0];
  }
  memset(&scan, 0, sizeof scan);
  scan.max[0] = *first ? scr.world.rank : -1;
  if ((err = scr_scan(&scan, SCR_SCAN_UP, scr.world.comm)) != SCR_SUCCESS) rc = err;
  if (body != NULL) scr_hash_merge(scr_hash_setf(send, NULL, "%d", (int)scan.max[0]), body);
  if ((err = scr_hash_exchange(send, in, scr.world.comm)) != SCR_SUCCESS) rc = err;
  scr_hash_sort_int(in, SCR_HASH_SORT_ASCENDING);
  scr_hash_delete(&send);
  return rc == SCR_SUCCESS && scr_oom ? SCR_ERR_OOM() : rc;
}

/* The node of the map that this rank adds to the level above: its FILE, and the number of RANKS below it. */
typedef struct {
  char file[64];
  int  ranks;
} scr_flush_node;

/* Write the leaf that lists the objects in BODIES, by rank, and describe it in NODE. */
SCR_FN int scr_flush_write_leaf(const scr_flush* f, const scr_hash* bodies, scr_flush_node* node)
{
  scr_hash*      body = scr_hash_new();
  scr_hash_elem* e;
  int            rc;

  for (e = scr_hash_elem_first(bodies); e != NULL; e = scr_hash_elem_next(e))
    scr_hash_merge(body, scr_hash_elem_hash(e));
  rc = scr_rank2file_write_leaf(scr.world.prefix, f->dir, scr.world.rank, body, &node->ranks, node->file,
                                sizeof node->file);
  scr_hash_delete(&body);
  return rc;
}

/*
** Write the node of LEVEL above the nodes in BODIES, by the ranks that wrote them, and describe it in NODE.  ROOT: it
** is above all; then it is left in M, and not written.
*/
SCR_FN int scr_flush_write_node(const scr_flush* f, int level, int root, const scr_hash* bodies, scr_flush_node* node,
                                scr_rank2file* m)
{
  scr_hash_elem* e;
  int            rc = SCR_SUCCESS;

  m->level = level;
  m->ranks = 0;
  for (e = scr_hash_elem_first(bodies); e != NULL && rc == SCR_SUCCESS; e = scr_hash_elem_next(e)) {
    m->ranks += scr_hash_int_or(scr_hash_elem_hash(e), "BELOW", 0);
    rc = scr_rank2file_add(m, atoi(scr_hash_elem_key(e)), scr_hash_str_or(scr_hash_elem_hash(e), "FILE", ""));
  }
  if (root || rc != SCR_SUCCESS) return rc;
  node->ranks = m->ranks;
  rc = scr_fmt(node->file, sizeof node->file, ".scr/rank2file.%d.%d.scr", level, scr.world.rank);
  return rc == SCR_SUCCESS ? scr_rank2file_write(scr.world.prefix, f->dir, m, node->file) : rc;
}

/*
** Write the rank2file map of the flush F, a tree that grows from its leaves: neighbouring ranks share a leaf of up to
** SCR_RANK2FILE_SIZE bytes, those that wrote leaves share a node above them, and so on, until one rank is left, which
** is rank 0.  It writes the root, which records the identity of the dataset, after all other nodes are there.  RC is
** this rank's result so far.  Collective over the world; the same code everywhere, except that only rank 0 knows
** whether the root was written.
*/
SCR_FN int scr_flush_write_rank2file(const scr_flush* f, int rc)
{
  scr_hash *     body = scr_hash_new(), *in = scr_hash_new();
  scr_rank2file  m;
  scr_flush_node node;
  int            level, first, groups = 0, err;

  memset(&m, 0, sizeof m);
  memset(&node, 0, sizeof node);
  err = scr_objects_to_hash(&f->objects, scr.world.prefix, f->dir, body);
  if (rc == SCR_SUCCESS) rc = err;
  for (level = 0; level == 0 || groups > 1; level++) {
    if ((err = scr_flush_group(body, level, in, &first, &groups)) != SCR_SUCCESS && rc == SCR_SUCCESS) rc = err;
    scr_hash_delete(&body);
    if (first && rc == SCR_SUCCESS && level == 0) rc = scr_flush_write_leaf(f, in, &node);
    if (first && rc == SCR_SUCCESS && level > 0) rc = scr_flush_write_node(f, level, groups == 1, in, &node, &m);
    scr_hash_unset_all(in);
    if (first) {
      if (groups > 1) scr_rank2file_free(&m);
      body = scr_hash_new();
      scr_hash_util_set_str(body, "FILE", node.file);
      scr_hash_util_set_int(body, "BELOW", node.ranks);
    }
    if (level == 0) groups = groups > 1 ? groups : 2; /* the root is above a single leaf, too */
  }
  m.identity = f->desc.identity;
  rc = scr_agree(rc, scr.world.comm);
  if (rc == SCR_SUCCESS && scr.world.rank == 0) rc = scr_rank2file_write_root(scr.world.prefix, f->dir, &m);
  scr_rank2file_free(&m);
  scr_hash_delete(&body);
  scr_hash_delete(&in);
  return rc;
}

/* Add the objects of L to OUT, <rank> -> objects, by owner modulo the number of ranks. */
SCR_FN int scr_flush_deal_objects(const scr_objects* l, scr_hash* out)
{
  int i, k = 0, rc = SCR_SUCCESS;

  for (i = 0; i < l->owners && rc == SCR_SUCCESS; i++) {
    scr_objects one = *l;
    int         begin = k;
    while (k < l->n && l->object[k].owner == l->owner[i]) k++;
    one.object = l->object + begin;
    one.n = k - begin;
    one.owner = l->owner + i;
    one.owners = 1;
    rc = scr_objects_to_hash(&one, scr.world.prefix, "", scr_hash_setf(out, NULL, "%d", l->owner[i] % scr.world.ranks));
  }
  return rc;
}

/* Send the children of M to the ranks that read them: their files are keys of JOBS.  Collective over the world. */
SCR_FN int scr_flush_deal_nodes(const scr_rank2file* m, scr_hash* jobs)
{
  scr_hash* out = scr_hash_new();
  int       i, rc;

  for (i = 0; i < m->n; i++) scr_hash_setf(out, NULL, "%d %s", m->rank[i] % scr.world.ranks, m->file[i]);
  rc = scr_hash_exchange_merged(out, jobs, scr.world.comm);
  scr_hash_delete(&out);
  return rc;
}

/*
** Read the nodes JOBS of LEVEL of the map of the dataset at PLACE: the objects of leaves are added to READ, the
** children of other nodes are those of M then.
*/
SCR_FN int scr_flush_read_nodes(const scr_prefix_place* place, int level, const scr_hash* jobs, scr_objects* read,
                                scr_rank2file* m)
{
  const scr_hash_elem* e = scr_hash_elem_first(jobs);
  int                  rc = SCR_SUCCESS;

  scr_rank2file_free(m);
  for (; e != NULL && rc == SCR_SUCCESS; e = scr_hash_elem_next(e))
    if (level == 0) rc = scr_rank2file_read_leaf(scr.world.prefix, place, scr_hash_elem_key(e), read);
    else rc = scr_rank2file_read(scr.world.prefix, place, scr_hash_elem_key(e), level, m);
  return rc;
}

/*
** Read the rank2file map of the dataset at PLACE: MINE receives the objects whose owner, modulo the number of ranks, is
** this rank; *RANKS receives the number of ranks of the dataset.  Rank 0 reads the root; the readers of a node send its
** children to the ranks that read these, level by level, and those of leaves send each rank its share.  If IDENTITY is
** not NULL and the root has another one: SCR_ERR_INVALID.  Collective over the world; the same code everywhere.
*/
SCR_FN int scr_flush_read_rank2file(const scr_prefix_place* place, const scr_identity* identity, scr_objects* mine,
                                    int* ranks)
{
  enum { RANKS, LEVEL, IDENTITY }; /* max */
  scr_hash *     out = scr_hash_new(), *jobs = scr_hash_new(), *in = scr_hash_new();
  scr_hash_elem* e;
  scr_rank2file  m;
  scr_objects    read;
  scr_vote       v;
  int            level, known, rc = SCR_SUCCESS, err;

  memset(&v, 0, sizeof v);
  memset(&m, 0, sizeof m);
  memset(&read, 0, sizeof read);
  if (scr.world.rank == 0) {
    rc = scr_rank2file_read_root(scr.world.prefix, place, &m);
    v.max[RANKS] = m.ranks;
    v.max[LEVEL] = m.level;
    v.max[IDENTITY] = m.identity.id;
    if (rc == SCR_SUCCESS && identity != NULL && scr_identity_differs(&m.identity, identity))
      rc = SCR_ERR(SCR_ERR_INVALID, "%s/%s/rank2file.scr is the map of another dataset than the summary beside it",
                   scr.world.prefix, place->meta);
  }
  if ((rc = scr_vote_all(&v, rc, scr.world.comm)) != SCR_SUCCESS) goto out;
  *ranks = (int)v.max[RANKS];
  known = (int)v.max[IDENTITY];
  for (level = (int)v.max[LEVEL] - 1; level >= 0; level--) {
    if ((err = scr_flush_deal_nodes(&m, jobs)) != SCR_SUCCESS && rc == SCR_SUCCESS) rc = err;
    if (rc == SCR_SUCCESS) rc = scr_flush_read_nodes(place, level, jobs, &read, &m);
    scr_hash_unset_all(jobs);
  }
  if (rc == SCR_SUCCESS) rc = scr_flush_deal_objects(&read, out);
  if ((err = scr_hash_exchange(out, in, scr.world.comm)) != SCR_SUCCESS && rc == SCR_SUCCESS) rc = err;
  for (e = scr_hash_elem_first(in); e != NULL && rc == SCR_SUCCESS; e = scr_hash_elem_next(e))
    rc = scr_objects_from_hash(scr_hash_elem_hash(e), scr.world.prefix, "", mine);
  memset(&v, 0, sizeof v);
  v.sum[0] = read.owners;
  rc = scr_vote_all(&v, rc, scr.world.comm);
  if (known == 0) *ranks = (int)v.sum[0]; /* release 1.2 counts only the ranks of the last leaf */
  if (rc == SCR_SUCCESS && v.sum[0] != *ranks)
    rc = SCR_ERR(SCR_ERR_FORMAT, "the rank2file map in %s/%s describes %lld ranks instead of %d", scr.world.prefix,
                 place->meta, (long long)v.sum[0], *ranks);
out:
  scr_rank2file_free(&m);
  scr_objects_free(&read);
  scr_hash_delete(&out);
  scr_hash_delete(&jobs);
  scr_hash_delete(&in);
  return rc;
}

/* ---- begin ---- */

/*
** Returns 1 if the index has the dataset of F, or cannot be read: what lies there is, or may be, the dataset.  Rank 0
** only.
*/
SCR_FN int scr_flush_is_indexed(const scr_flush* f)
{
  scr_index      index;
  scr_index_item it;
  scr_err_record why;
  int            is;

  scr_err_save(&why);
  is = scr_index_read(&index, scr.world.prefix) != SCR_SUCCESS || scr_index_get(&index, f->id, f->dir, &it);
  scr_index_close(&index, SCR_SUCCESS, 0);
  scr_err_restore(&why);
  return is;
}

/* What a look at a copy that the index does not have finds. */
typedef struct {
  const char* prefix;
  int         renamed; /* files that have no temporary name beside their final one */
} scr_flush_copy_seen;

/* SCR_ERR_MISSING unless all files of the objects L have their final names, and their sizes. */
SCR_FN int scr_flush_see_leaf(const scr_objects* l, void* arg)
{
  scr_flush_copy_seen* s = (scr_flush_copy_seen*)arg;
  char                 path[SCR_MAX_FILENAME];
  struct stat          st;
  scr_objects_at       at;
  uint64_t             is = 0;
  int                  rc = SCR_SUCCESS;

  memset(&at, 0, sizeof at);
  while (rc == SCR_SUCCESS && scr_objects_walk(l, &at)) {
    rc = scr_objects_path(&at, s->prefix, l->id, 0, path, sizeof path);
    if (rc == SCR_SUCCESS) rc = scr_file_size(path, &is);
    if (rc == SCR_SUCCESS && is < at.least) rc = SCR_ERR(SCR_ERR_MISSING, "%s is too short", path);
    if (rc == SCR_SUCCESS) rc = scr_objects_path(&at, s->prefix, l->id, 1, path, sizeof path);
    if (rc == SCR_SUCCESS) s->renamed += scr_os.lstat(path, &st) < 0;
  }
  return rc;
}

/*
** Returns 1 if the directory of F has a copy of its dataset that the index does not have, because it was dropped or the
** index was lost.  A flush that was killed before its index update has left temporary files only.  Rank 0 only.
*/
SCR_FN int scr_flush_is_dropped(const scr_flush* f)
{
  scr_flush_copy_seen seen = {scr.world.prefix, 0};
  scr_prefix_place    place;
  scr_err_record      why;
  int                 ranks, rc;

  scr_err_save(&why);
  rc = scr_prefix_locate(scr.world.prefix, f->id, f->dir, &place);
  if (rc == SCR_SUCCESS)
    rc = scr_rank2file_walk(scr.world.prefix, &place, &f->desc.identity, &ranks, scr_flush_see_leaf, &seen);
  scr_err_restore(&why);
  return rc == SCR_SUCCESS && seen.renamed > 0;
}

/* Choose the directory of the dataset, and create it.  Rank 0 only. */
SCR_FN int scr_flush_make_dir(scr_flush* f)
{
  char             path[SCR_MAX_FILENAME], meta[SCR_MAX_FILENAME];
  const scr_entry* e;
  struct stat      st;
  scr_hash *       dirs, *taken = scr_hash_new();
  int              i, rc;

  for (i = 0; i < scr_flights.n; i++) scr_hash_set(taken, scr_flights.flush[i]->dir, scr_hash_new());
  i = 0;
  e = scr_dataset_next_entry(&f->desc.identity, &i);
  rc = scr_prefix_choose_dir(scr.world.prefix, &f->desc, e != NULL ? e->preserve : f->desc.preserve, taken, f->dir,
                             sizeof f->dir);
  scr_hash_delete(&taken);
  f->keep_metadata = 1;
  if (rc == SCR_SUCCESS) rc = scr_summary_path(scr.world.prefix, f->dir, path);
  if (rc == SCR_SUCCESS) {
    int there = !(scr_os.lstat(path, &st) < 0 && errno == ENOENT);
    f->keep_metadata = there && scr_flush_is_indexed(f);
    f->keep_copy = there && !f->keep_metadata && scr_flush_is_dropped(f);
  }
  if (rc == SCR_SUCCESS) rc = scr_fmt(meta, sizeof meta, "%s/.scr", f->dir);
  if (rc == SCR_SUCCESS && !f->resumes)
    scr_prefix_remove_meta(scr.world.prefix, meta, ".tmp"); /* of a flush that was killed */
  if (rc == SCR_SUCCESS) rc = scr_fmt(path, sizeof path, "%s/%s", scr.world.prefix, meta);
  if (rc == SCR_SUCCESS) rc = scr_mkdirs(path, 0777);
  if (rc != SCR_SUCCESS) return rc;
  dirs = scr_hash_new();
  scr_dirs_above(dirs, scr.world.prefix, path);
  return scr_dirs_sync(&dirs);
}

/* List the objects that this rank makes. */
SCR_FN int scr_flush_list_objects(scr_flush* f)
{
  const scr_entry* e;
  int              i = 0, rc = SCR_SUCCESS;

  f->objects.id = f->id;
  while (rc == SCR_SUCCESS && (e = scr_dataset_next_entry(&f->desc.identity, &i)) != NULL)
    rc = scr_objects_add_entry(&f->objects, e, scr.world.prefix, f->dir, e->preserve);
  return rc;
}

/* The record in the cache of the object O of F, and the entry E that has it. */
SCR_FN const scr_file* scr_flush_file_of(const scr_flush* f, const scr_object* o, const scr_entry** e)
{
  *e = scr_filemap_find(&scr.map, &f->desc.identity, o->owner);
  return &(*e)->file[o->file];
}

/*
** Add up the BYTES of the ranks before this one, in the order of nodes and then of ranks, in *POSITION, and those of
** all ranks in *TOTAL.  The first rank of each node adds up its node, and a scan adds up the nodes.  Collective over
** the world; returns this rank's code.
*/
SCR_FN int scr_flush_position(uint64_t bytes, uint64_t* position, uint64_t* total)
{
  scr_hash *     send = scr_hash_new(), *recv = scr_hash_new();
  scr_hash_elem* e;
  scr_vote       v;
  uint64_t       one = 0, node = 0, begin;
  int            err, rc;

  scr_hash_util_set_bytecount(scr_hash_setf(send, NULL, "%d", scr.world.group[SCR_GROUP_NODE].leader), "BYTES", bytes);
  rc = scr_hash_exchange(send, recv, scr.world.comm);
  for (e = scr_hash_elem_first(recv); e != NULL; e = scr_hash_elem_next(e))
    if (scr_hash_util_get_bytecount(scr_hash_elem_hash(e), "BYTES", &one) == SCR_SUCCESS) node += one;
  memset(&v, 0, sizeof v);
  v.sum[0] = (int64_t)node;
  if ((err = scr_scan(&v, SCR_SCAN_UP, scr.world.comm)) != SCR_SUCCESS) rc = err;
  begin = (uint64_t)v.sum[0] - node;
  memset(&v, 0, sizeof v);
  v.sum[0] = (int64_t)node;
  if ((err = scr_vote_all(&v, SCR_SUCCESS, scr.world.comm)) != SCR_SUCCESS) rc = err;
  *total = (uint64_t)v.sum[0];
  scr_hash_sort_int(recv, SCR_HASH_SORT_ASCENDING);
  scr_hash_unset_all(send);
  for (e = scr_hash_elem_first(recv); e != NULL; e = scr_hash_elem_next(e)) {
    scr_hash_util_set_bytecount(scr_hash_setf(send, NULL, "%s", scr_hash_elem_key(e)), "BEGIN", begin);
    if (scr_hash_util_get_bytecount(scr_hash_elem_hash(e), "BYTES", &one) == SCR_SUCCESS) begin += one;
  }
  scr_hash_unset_all(recv);
  if ((err = scr_hash_exchange(send, recv, scr.world.comm)) != SCR_SUCCESS) rc = err;
  e = scr_hash_elem_first(recv);
  if (rc == SCR_SUCCESS && scr_hash_util_get_bytecount(scr_hash_elem_hash(e), "BEGIN", position) != SCR_SUCCESS)
    rc = SCR_ERR(SCR_ERR_MPI, "the first rank of this node has sent no position");
  scr_hash_delete(&send);
  scr_hash_delete(&recv);
  return rc;
}

/*
** Pack the objects into containers, node by node, so that a node writes to few of them.  The rank that has the first
** byte of a container creates it, with its size, so that zeros can stay holes.  RC is this rank's result so far.
** Collective over the world; returns this rank's code.
*/
SCR_FN int scr_flush_pack(scr_flush* f, int rc)
{
  uint64_t bytes = 0, at = 0, total = 0;
  int      i, err;

  for (i = 0; i < f->objects.n; i++) bytes += f->objects.object[i].size;
  if ((err = scr_flush_position(bytes, &at, &total)) != SCR_SUCCESS && rc == SCR_SUCCESS) rc = err;
  if (rc != SCR_SUCCESS) return rc;
  return scr_objects_pack(&f->objects, scr.world.prefix, f->dir, at, total, scr.container_size, f->resumes);
}

/*
** Create the parent directories of all objects, with durable names.  In each round every rank proposes one directory
** that it has not proposed yet, and the first of the ranks that propose the same one creates it; that of the dataset is
** there.  Collective over the world; the same code everywhere.
*/
SCR_FN int scr_flush_create_dirs(const scr_flush* f, int rc)
{
  scr_hash *     dirs = scr_hash_new(), *above = scr_hash_new();
  scr_hash_elem* e;
  scr_vote       v;
  char           home[2 * SCR_MAX_FILENAME];
  const char*    below;
  int            round, err, groups, id, place, size, leader, inside;

  snprintf(home, sizeof home, "%s/%s", scr.world.prefix, f->dir);
  if (rc == SCR_SUCCESS) rc = scr_objects_dirs(&f->objects, scr.world.prefix, dirs);
  memset(&v, 0, sizeof v);
  v.max[0] = scr_hash_size(dirs);
  if ((err = scr_vote_all(&v, rc, scr.world.comm)) != SCR_SUCCESS) {
    scr_hash_delete(&dirs);
    scr_hash_delete(&above);
    return err;
  }
  e = scr_hash_elem_first(dirs);
  for (round = 0; round < (int)v.max[0]; round++) {
    const char* dir = e != NULL ? scr_hash_elem_key(e) : "";
    err = scr_rank_str(scr.world.comm, dir, &groups, &id, &place, &size, &leader);
    if (err == SCR_SUCCESS && *dir != '\0' && place == 0) {
      err = scr_mkdirs(dir, 0777);
      inside = strcmp(dir, home) == 0 || scr_path_below(home, dir, &below);
      scr_dirs_above(above, inside ? home : scr.world.prefix, dir);
    }
    if (rc == SCR_SUCCESS) rc = err;
    if (e != NULL) e = scr_hash_elem_next(e);
  }
  err = scr_dirs_sync(&above);
  if (rc == SCR_SUCCESS) rc = err;
  scr_hash_delete(&dirs);
  return scr_agree(rc, scr.world.comm);
}

/* List the other complete datasets of INDEX. */
SCR_FN int scr_flush_list_rivals(scr_flush* f, const scr_index* index)
{
  scr_index_item it;

  memset(&it, 0, sizeof it);
  while (scr_index_walk(index, &it)) {
    scr_flush_rival* r;
    if (!it.complete || scr_identity_same(&it.desc.identity, &f->desc.identity)) continue;
    if (!scr_grow(&f->rival, f->rivals, sizeof *f->rival)) return SCR_ERR_OOM();
    r = &f->rival[f->rivals++];
    memset(r, 0, sizeof *r);
    r->identity = it.desc.identity;
    r->identity.id = it.id;
    r->ckpt = scr_desc_is_ckpt(&it.desc);
    r->stands = !f->may_replace_newer && it.id >= f->id && !it.failed && !it.passed;
    r->is_read = scr.reading.id == it.id && scr_identity_same(&it.desc.identity, &scr.reading.desc.identity);
    snprintf(r->dir, sizeof r->dir, "%s", it.dir);
  }
  return SCR_SUCCESS;
}

/* Rank 0 sends its N rivals to all ranks.  Collective over the world; the same code everywhere. */
SCR_FN int scr_flush_share_rivals(scr_flush* f, int n)
{
  int rc = SCR_SUCCESS;

  if (n == 0) return SCR_SUCCESS;
  if (f->rival == NULL && (f->rival = (scr_flush_rival*)scr_malloc((size_t)n * sizeof *f->rival)) == NULL)
    rc = SCR_ERR_OOM();
  if ((rc = scr_agree(rc, scr.world.comm)) != SCR_SUCCESS) return rc;
  f->rivals = n;
  return scr_bcast(f->rival, n * (int)sizeof *f->rival, MPI_BYTE, 0, scr.world.comm);
}

/*
** Find out whether R has a file at one of the paths EXIST, where this flush is to put its own.  Collective over the
** world; the same code everywhere.
*/
SCR_FN int scr_flush_compare(scr_flush_rival* r, const scr_hash* exist)
{
  scr_prefix_place place;
  scr_objects      mine;
  scr_hash *       send = scr_hash_new(), *all = scr_hash_new();
  scr_hash_elem*   e;
  scr_objects_at   at;
  scr_vote         v;
  int              ranks, rc = scr_prefix_locate(scr.world.prefix, r->identity.id, r->dir, &place);

  memset(&mine, 0, sizeof mine);
  if ((rc = scr_agree(rc, scr.world.comm)) != SCR_SUCCESS) goto out;
  if ((rc = scr_flush_read_rank2file(&place, NULL, &mine, &ranks)) != SCR_SUCCESS) {
    if (scr_err_is_damage(rc)) rc = SCR_SUCCESS; /* its map is damaged: it cannot be fetched anyway */
    goto out;
  }
  memset(&at, 0, sizeof at);
  while (scr_objects_walk(&mine, &at)) scr_hash_spread(send, at.rel, "OLD", scr.world.comm);
  for (e = scr_hash_elem_first(exist); e != NULL; e = scr_hash_elem_next(e))
    scr_hash_spread(send, scr_hash_elem_key(e), "NEW", scr.world.comm);
  rc = scr_hash_exchange_merged(send, all, scr.world.comm);
  memset(&v, 0, sizeof v);
  for (e = scr_hash_elem_first(scr_hash_get(all, "NEW")); e != NULL; e = scr_hash_elem_next(e))
    if (scr_hash_get_kv(all, "OLD", scr_hash_elem_key(e)) != NULL) v.max[0] = 1;
  rc = scr_vote_all(&v, rc, scr.world.comm);
  r->hit = v.max[0] > 0;
out:
  scr_objects_free(&mine);
  scr_hash_delete(&send);
  scr_hash_delete(&all);
  return rc;
}

/*
** Add the final paths of F where a file exists as keys to EXIST.  With RENAMES, add all: a file that is still to be
** renamed does not exist there yet.
*/
SCR_FN int scr_flush_look(const scr_flush* f, int renames, scr_hash* exist)
{
  char           path[SCR_MAX_FILENAME];
  struct stat    st;
  scr_objects_at at;
  int            there, rc = SCR_SUCCESS;

  memset(&at, 0, sizeof at);
  while (rc == SCR_SUCCESS && scr_objects_walk(&f->objects, &at)) {
    if ((rc = scr_objects_path(&at, scr.world.prefix, f->id, 0, path, sizeof path)) != SCR_SUCCESS) break;
    there = scr_os.lstat(path, &st) == 0;
    if (there && S_ISDIR(st.st_mode))
      rc = SCR_ERR(SCR_ERR_PATH, "%s is a directory, and cannot be replaced by a file of dataset %d", path, f->id);
    if (there || renames) scr_hash_setf(exist, NULL, "%s", at.rel);
  }
  return rc;
}

/*
** Find out which indexed datasets lose files to this flush.  Each final path is looked up; the maps of indexed datasets
** are read only if some file exists already.  A good newer dataset keeps its files: SCR_ERR_STATE.  Collective over the
** world; the same code everywhere.
*/
SCR_FN int scr_flush_find_replaced(scr_flush* f)
{
  scr_hash* exist = scr_hash_new();
  scr_index index;
  scr_vote  v;
  int       i, rc = SCR_SUCCESS;

  scr_free(&f->rival);
  f->rivals = 0;
  memset(&v, 0, sizeof v);
  if (scr.world.rank == 0) {
    rc = scr_index_read(&index, scr.world.prefix);
    v.max[0] = scr_index_has_renames(&index);
    if (rc == SCR_SUCCESS) rc = scr_flush_list_rivals(f, &index);
    scr_index_close(&index, SCR_SUCCESS, 0);
  }
  if ((rc = scr_vote_all(&v, rc, scr.world.comm)) != SCR_SUCCESS) goto out;
  rc = scr_flush_look(f, v.max[0] > 0, exist);
  memset(&v, 0, sizeof v);
  v.sum[0] = scr_hash_size(exist);
  v.max[0] = f->rivals;
  if ((rc = scr_vote_all(&v, rc, scr.world.comm)) != SCR_SUCCESS || v.sum[0] == 0) goto out;
  rc = scr_flush_share_rivals(f, (int)v.max[0]);
  for (i = 0; i < f->rivals && rc == SCR_SUCCESS; i++) {
    scr_flush_rival* r = &f->rival[i];
    rc = scr_flush_compare(r, exist);
    if (rc == SCR_SUCCESS && r->hit && r->is_read)
      rc = SCR_ERR(SCR_ERR_BUSY,
                   "dataset %d is not copied to %s now: it would replace files of dataset %d, which is read", f->id,
                   scr.world.prefix, r->identity.id);
    if (rc != SCR_SUCCESS || !r->hit || !r->stands) continue;
    f->superseded = r->ckpt;
    rc = SCR_ERR(SCR_ERR_STATE, "dataset %d is not copied to %s: it would replace files of the newer dataset %d", f->id,
                 scr.world.prefix, r->identity.id);
  }
out:
  scr_hash_delete(&exist);
  return rc;
}

/*
** Choose the directory of F, mark the dataset as FLUSHING, list the objects, create their directories, and find out
** what they replace.  Collective over the world; the same code everywhere.
*/
SCR_FN int scr_flush_begin(scr_flush* f)
{
  int err, rc = scr.world.rank == 0 ? scr_flush_make_dir(f) : SCR_SUCCESS;

  if ((rc = scr_agree(rc, scr.world.comm)) != SCR_SUCCESS) return rc;
  if ((rc = scr_bcast(f->dir, (int)sizeof f->dir, MPI_CHAR, 0, scr.world.comm)) != SCR_SUCCESS) return rc;
  scr_change_on_prefix(scr_dataset_find(f->id), SCR_PREFIX_FLUSHING, f->dir);
  err = scr_flush_list_objects(f);
  if (scr.use_containers && !f->in_place) err = scr_flush_pack(f, err);
  if ((rc = scr_flush_create_dirs(f, err)) != SCR_SUCCESS) return rc;
  return scr_flush_find_replaced(f);
}

/* ---- copy ---- */

/* List the copy of the object O to its temporary places. */
SCR_FN int scr_flush_list_copy(scr_flush* f, const scr_object* o)
{
  char             from[SCR_MAX_FILENAME];
  const scr_entry* e;
  const scr_file*  file = scr_flush_file_of(f, o, &e);
  scr_copy_item*   it = scr_copy_list_add(&f->copies, o->mode, 0666, o->mtime);
  int              rc = scr_entry_path(&scr.world.home, e, file->rel, from, sizeof from);

  if (rc == SCR_SUCCESS) rc = scr_extents_whole(&it->from, from, o->size);
  return rc == SCR_SUCCESS ? scr_object_extents(o, scr.world.prefix, f->id, SCR_NAMES_TEMPORARY, &it->to) : rc;
}

/* List the copies of this rank's files to the temporary places of their objects. */
SCR_FN int scr_flush_list_copies(scr_flush* f)
{
  int i, rc = scr_copy_list_make(&f->copies, f->objects.n, scr.file_buf);

  for (i = 0; i < f->objects.n && rc == SCR_SUCCESS; i++) rc = scr_flush_list_copy(f, &f->objects.object[i]);
  return rc;
}

/* Copy the files of the flush ARG, and make their temporary names durable; in this thread, or in the helper. */
SCR_FN int scr_flush_copy(void* arg)
{
  scr_flush* f = (scr_flush*)arg;
  int        rc = scr_copy_list_run(&f->copies, f->threads);

  return rc == SCR_SUCCESS ? scr_objects_sync(&f->objects, scr.world.prefix) : rc;
}

/* Make what the application has written under temporary names durable, and compute the checksums. */
SCR_FN int scr_flush_seal(void* arg)
{
  scr_flush* f = (scr_flush*)arg;
  char       path[SCR_MAX_FILENAME];
  int        i, rc = SCR_SUCCESS;

  for (i = 0; i < f->objects.n && rc == SCR_SUCCESS; i++) {
    scr_object* o = &f->objects.object[i];
    rc = scr_object_path(o, scr.world.prefix, f->id, 1, path, sizeof path);
    if (rc == SCR_SUCCESS && scr.crc_on_flush) rc = scr_file_crc(path, o->size, &o->crc);
    o->has_crc = rc == SCR_SUCCESS && scr.crc_on_flush;
    if (rc == SCR_SUCCESS) rc = scr_file_sync(path);
  }
  return rc == SCR_SUCCESS ? scr_objects_sync(&f->objects, scr.world.prefix) : rc;
}

/* Compare the checksums of the files that were copied with the records; RC is the result of the copies. */
SCR_FN int scr_flush_check(scr_flush* f, int rc)
{
  const scr_entry* e;
  int              i;

  if (f->in_place) return rc;
  for (i = 0; i < f->objects.n && rc == SCR_SUCCESS; i++) {
    scr_object*          o = &f->objects.object[i];
    const scr_copy_item* it = &f->copies.item[i];
    const scr_file*      file = scr_flush_file_of(f, o, &e);
    o->crc = it->crc;
    o->has_crc = scr.crc_on_flush;
    if (file->has_crc)
      rc = scr_file_has_crc(it->from.extent[0].path, o->crc, file->crc, "it was corrupted in the cache");
  }
  scr_event_damage(f->id, rc);
  return rc;
}

/* ---- commit ---- */

/*
** Add the new dataset to the index, with what has been decided about it, and remove those that it replaces, in one
** update.  Rank 0 only.
*/
SCR_FN int scr_flush_update_index(const scr_flush* f)
{
  const scr_dataset* ds = scr_dataset_find(f->id);
  scr_index          index;
  int                i, rc = scr_index_open(&index, scr.world.prefix);

  for (i = 0; i < f->rivals && rc == SCR_SUCCESS; i++)
    if (f->rival[i].hit) scr_index_remove(&index, f->rival[i].identity.id, f->rival[i].dir);
  if (rc == SCR_SUCCESS) rc = scr_index_set(&index, &f->desc, f->dir);
  if (rc == SCR_SUCCESS && ds->life == SCR_PASSED) scr_index_note_passed(&index, f->id, f->dir);
  if (rc == SCR_SUCCESS && (ds->life == SCR_REJECTED || ds->life == SCR_REJECTED_BEFORE))
    scr_index_note_failed(&index, f->id, f->dir, ds->life == SCR_REJECTED ? scr.world.job_key : "");
  return scr_index_close(&index, rc, 1);
}

/*
** The renames are done: CURRENT moves forward, the metadata of what was replaced go, and the flush file says PFS.
** Collective over the world; the same code everywhere.
*/
SCR_FN int scr_flush_done(const scr_flush* f)
{
  int i, rc = SCR_SUCCESS;

  if (scr.world.rank == 0) rc = scr_index_change(scr.world.prefix, scr_index_note_renamed, f->id, f->dir);
  for (i = 0; i < f->rivals && rc == SCR_SUCCESS && scr.world.rank == 0; i++)
    if (f->rival[i].hit && strcmp(f->rival[i].dir, f->dir) != 0)
      scr_prefix_forget(scr.world.prefix, f->rival[i].identity.id, f->rival[i].dir);
  if ((rc = scr_agree(rc, scr.world.comm)) == SCR_SUCCESS)
    scr_change_on_prefix(scr_dataset_find(f->id), SCR_PREFIX_YES, f->dir);
  return rc;
}

/*
** After all files are copied: write the rank2file map, the summary and the index, and rename the files, in this order
** (J2).  A crash before the index update leaves temporary files; after it, any run can finish the renames.  Collective
** over the world; the same code everywhere.
*/
SCR_FN int scr_flush_commit(scr_flush* f)
{
  char     path[SCR_MAX_FILENAME];
  scr_vote v;
  int      i, rc;

  f->keep_copy = 0; /* its map is overwritten */
  rc = scr_flush_write_rank2file(f, SCR_SUCCESS);
  memset(&v, 0, sizeof v);
  if (rc == SCR_SUCCESS && scr.world.rank == 0) {
    rc = scr_summary_path(scr.world.prefix, f->dir, path);
    if (rc == SCR_SUCCESS) rc = scr_summary_write(path, &f->desc);
    if (rc == SCR_SUCCESS && (rc = scr_flush_update_index(f)) != SCR_SUCCESS)
      v.max[0] = scr_flush_is_indexed(f); /* the rename may have happened although its sync failed */
  }
  rc = scr_vote_all(&v, rc, scr.world.comm);
  f->committed = rc == SCR_SUCCESS || v.max[0] > 0;
  if (f->committed) scr_change_on_prefix(scr_dataset_find(f->id), SCR_PREFIX_RENAMING, f->dir);
  for (i = 0; i < f->rivals && f->committed; i++) { /* datasets that lose their files are in the cache alone */
    scr_dataset* ds = f->rival[i].hit ? scr_dataset_find(f->rival[i].identity.id) : NULL;
    if (ds == NULL || !scr_identity_same(&ds->desc.identity, &f->rival[i].identity)) continue;
    if (!scr_dataset_is_cached(ds)) scr_dataset_remove(f->rival[i].identity.id);
    else if (ds->on_prefix == SCR_PREFIX_YES) scr_change_on_prefix(ds, SCR_PREFIX_SUPERSEDED, NULL);
  }
  if (rc != SCR_SUCCESS) return rc;
  if ((rc = scr_agree(scr_objects_rename(&f->objects, scr.world.prefix, 0), scr.world.comm)) != SCR_SUCCESS) return rc;
  return scr_flush_done(f);
}

/*
** If the index has the dataset already, only finish its renames.  Its temporary files then are the dataset, so another
** copy must not overwrite them.  Collective over the world; the same code everywhere.
*/
SCR_FN int scr_flush_resume(scr_flush* f)
{
  scr_index      index;
  scr_index_item it;
  scr_vote       v;
  int            rc = SCR_SUCCESS;

  memset(&v, 0, sizeof v);
  if (scr.world.rank == 0) {
    rc = scr_index_read(&index, scr.world.prefix);
    if (rc == SCR_SUCCESS && scr_index_same(&index, &f->desc.identity, &it) && it.renaming) {
      snprintf(f->dir, sizeof f->dir, "%s", it.dir);
      rc = scr_prefix_finish_renames(scr.world.prefix, f->id, f->dir);
      v.max[0] = !scr_err_is_damage(rc);
      if (scr_err_is_damage(rc)) { /* the copy on the prefix is damaged: only the cache still has the dataset */
        scr_warn("%s; dataset %d is copied again", scr_err_text, f->id);
        rc = SCR_SUCCESS;
      }
    }
    scr_index_close(&index, SCR_SUCCESS, 0);
  }
  rc = scr_vote_all(&v, rc, scr.world.comm);
  f->committed = v.max[0] > 0;
  if (rc != SCR_SUCCESS || !f->committed) return rc;
  return scr_flush_done(f);
}

/* ---- deletion ---- */

/*
** Delete the files of dataset ID in DIR from the prefix, after it was removed from the index.  Collective over the
** world.
*/
SCR_FN int scr_flush_delete(int id, const char* dir)
{
  scr_prefix_place place;
  scr_objects      mine;
  int              ranks, rc = SCR_SUCCESS;

  memset(&mine, 0, sizeof mine);
  mine.id = id;
  if (scr.world.rank == 0) rc = scr_index_change(scr.world.prefix, scr_index_remove, id, dir);
  if (rc == SCR_SUCCESS) rc = scr_prefix_locate(scr.world.prefix, id, dir, &place);
  if ((rc = scr_agree(rc, scr.world.comm)) == SCR_SUCCESS) rc = scr_flush_read_rank2file(&place, NULL, &mine, &ranks);
  if (rc == SCR_SUCCESS) {
    scr_objects_remove_tmp(&mine, scr.world.prefix); /* of a flush that was killed before its renames */
    rc = scr_objects_delete(&mine, scr.world.prefix);
    if (scr.world.rank == 0 && scr_flights.n == 0) scr_prefix_forget(scr.world.prefix, id, dir);
    else if (scr.world.rank == 0) scr_prefix_remove_meta(scr.world.prefix, place.meta, "");
    rc = scr_agree(rc, scr.world.comm);
  }
  /* when all files are gone; empty directories may be those that a flush in progress has made for its files */
  if (rc == SCR_SUCCESS && scr_flights.n == 0) scr_objects_prune(&mine, scr.world.prefix);
  rc = scr_agree(rc, scr.world.comm);
  scr_objects_free(&mine);
  return rc;
}

/* A dataset of the index: what all ranks need of its item.  id 0: there is none. */
typedef struct {
  scr_identity identity;
  char         dir[SCR_MAX_FILENAME];
} scr_indexed;

/* Copy what all ranks need of IT to TO. */
SCR_FN int scr_indexed_of(const scr_index_item* it, scr_indexed* to)
{
  to->identity = it->desc.identity;
  to->identity.id = it->id;
  return scr_fmt(to->dir, sizeof to->dir, "%s", it->dir);
}

/* Delete the dataset ON of the index from the prefix.  Collective over the world; the same code everywhere. */
SCR_FN int scr_flush_delete_indexed(const scr_indexed* on)
{
  scr_dataset* ds = scr_dataset_find(on->identity.id);
  int          rc = scr_flush_delete(on->identity.id, on->dir);

  if (ds != NULL && scr_identity_same(&ds->desc.identity, &on->identity) &&
      (ds->on_prefix == SCR_PREFIX_YES || ds->on_prefix == SCR_PREFIX_RENAMING))
    scr_change_on_prefix(ds, SCR_PREFIX_OUTGROWN, NULL);
  return rc;
}

/*
** Checkpoint ID is on the prefix: delete what has fallen out of the window of SCR_PREFIX_SIZE.  Collective over the
** world.
*/
SCR_FN void scr_flush_slide(int id)
{
  scr_index      index;
  scr_index_item it;
  scr_indexed    on;
  int            rc = SCR_SUCCESS;

  while (scr.prefix_size > 0 && rc == SCR_SUCCESS) {
    memset(&on, 0, sizeof on);
    if (scr.world.rank == 0) {
      rc = scr_index_read(&index, scr.world.prefix);
      if (rc == SCR_SUCCESS && scr_index_outgrown(&index, id, scr.prefix_size, &it)) rc = scr_indexed_of(&it, &on);
      scr_index_close(&index, SCR_SUCCESS, 0);
    }
    rc = scr_agree(rc, scr.world.comm);
    if (rc == SCR_SUCCESS) rc = scr_bcast(&on, (int)sizeof on, MPI_BYTE, 0, scr.world.comm);
    if (rc != SCR_SUCCESS || on.identity.id == 0) break;
    scr_dbg(1, "SCR_PREFIX_SIZE=%d: dataset %d is deleted from the prefix", scr.prefix_size, on.identity.id);
    rc = scr_flush_delete_indexed(&on);
  }
  if (rc != SCR_SUCCESS && scr.world.rank == 0) scr_warn("%s; SCR_PREFIX_SIZE is exceeded", scr_err_text);
}

/* ---- a whole flush ---- */

/*
** The flush failed before its commit: remove its temporary files, and its summary and rank2file map, which would say
** that the dataset is complete.  Every rank calls it, after all ranks have stopped writing.
*/
SCR_FN void scr_flush_undo(const scr_flush* f)
{
  scr_dataset*   ds = scr_dataset_find(f->id);
  char           meta[SCR_MAX_FILENAME];
  scr_err_record why;

  scr_err_save(&why); /* keep the reason of the failure, whatever the clean-up reports */
  scr_objects_remove_tmp(&f->objects, scr.world.prefix);
  if (scr.world.rank == 0 && *f->dir && !f->keep_metadata && !f->keep_copy &&
      scr_fmt(meta, sizeof meta, "%s/.scr", f->dir) == SCR_SUCCESS)
    scr_prefix_remove_meta(scr.world.prefix, meta, "");
  if (ds->on_prefix == SCR_PREFIX_FLUSHING)
    scr_change_on_prefix(ds, f->superseded ? SCR_PREFIX_SUPERSEDED : SCR_PREFIX_NO, NULL);
  scr_err_restore(&why);
}

/* Record and log the end of the flush F with the code RC, and free F.  Every rank calls it; returns RC. */
SCR_FN int scr_flush_end(scr_flush* f, int rc)
{
  char         path[SCR_MAX_FILENAME];
  scr_dataset* ds = scr_dataset_find(f->id);
  double       seconds = scr_wtime() - f->start;

  if (rc == SCR_SUCCESS) {
    scr_dbg(1, "flush of dataset %d %s: %" PRIu64 " bytes in %.3f s, %.1f MB/s", f->id, scr_desc_name(&f->desc),
            f->desc.bytes, seconds, (double)f->desc.bytes / 1e6 / (seconds > 0 ? seconds : 1e-9));
    scr_event(f->async ? "ASYNC_FLUSH_SUCCESS" : "FLUSH_SUCCESS", NULL, &f->desc, seconds);
    if (!f->in_place && scr_fmt(path, sizeof path, "%s/%s", scr.world.prefix, f->dir) == SCR_SUCCESS)
      scr_event_transfer(f->async ? "FLUSH_ASYNC" : "FLUSH_SYNC", ds->store, path, &f->desc, seconds);
  } else {
    scr_event(f->async ? "ASYNC_FLUSH_FAIL" : "FLUSH_FAIL", scr_err_text, &f->desc, seconds);
    if (!f->committed) scr_flush_undo(f);
  }
  ds->pins--;
  scr_copy_list_free(&f->copies);
  scr_objects_free(&f->objects);
  scr_free(&f->rival);
  return rc;
}

/*
** Begin a flush of dataset ID in F, as far as the copies.  Files of newer datasets are replaced only with
** MAY_REPLACE_NEWER.  If the index has the dataset already, its renames are finished, and f->committed is 1.
** Collective over the world; the same code everywhere.
*/
SCR_FN int scr_flush_prepare(scr_flush* f, int id, int may_replace_newer)
{
  scr_dataset*         ds = scr_dataset_find(id);
  const scr_storedesc* store = scr_storedescs_from_name(&scr.world, ds->store);
  int                  rc;

  f->id = id;
  f->desc = ds->desc;
  f->in_place = !scr_dataset_is_cached(ds);
  f->threads = store != NULL && !f->async ? store->threads : 1;
  f->may_replace_newer = may_replace_newer;
  f->start = scr_wtime();
  ds->pins++;
  scr_event(f->async ? "ASYNC_FLUSH_START" : "FLUSH_START", NULL, &f->desc, -1.0);
  rc = scr_flush_resume(f);
  if (rc != SCR_SUCCESS || f->committed) return rc;
  rc = scr_flush_begin(f);
  return rc == SCR_SUCCESS && !f->in_place ? scr_agree(scr_flush_list_copies(f), scr.world.comm) : rc;
}

/*
** Copy dataset ID from the cache to the prefix; if the application has written it there, only commit it.  SCR_ERR_CRC
** or SCR_ERR_MISSING if a file in the cache turns out to be corrupt or cut short.  Collective over the world; the same
** code everywhere.
*/
SCR_FN int scr_flush_run(int id, int may_replace_newer)
{
  scr_flush f;
  int       rc;

  memset(&f, 0, sizeof f);
  rc = scr_flush_prepare(&f, id, may_replace_newer);
  if (rc != SCR_SUCCESS || f.committed) return scr_flush_end(&f, rc);
  rc = scr_flow(scr.flush_width, f.in_place ? scr_flush_seal : scr_flush_copy, &f, scr.world.comm);
  rc = scr_agree(scr_flush_check(&f, rc), scr.world.comm);
  if (rc == SCR_SUCCESS) rc = scr_flush_commit(&f);
  return scr_flush_end(&f, rc);
}

/* ==== 23 ASYNCHRONOUS FLUSH =============================================================================
** When a dataset is flushed, and what goes on meanwhile.
**
** A flush begins and ends in calls of the application.  In between, the helper thread of each rank copies, which calls
** no MPI; or, with SCR_FLUSH_TYPE=DAEMON, the process scr_transfer of the node, which a death of this run does not end.
** Each later call of the application asks which flushes have all their copies, on all ranks, and then checks and
** commits these.
**
** With the daemon of a node
**   begin     Each rank adds its copies to the transfer file of the node, which names this run by its token; where no
**             daemon holds transfer.daemon.lock, the helper copies (scr_flight_entrust).
**   burst     Under the lock transfer.burst.lock, the daemon reads the transfer file, sees that <prefix>/.scr/run.lock
**             names the same run, copies a part of a file, syncs it, and records in the transfer file how far it is and
**             the checksum.  Then it pauses as the limits want.
**   arrival   A rank looks into the transfer file now and then.  If a copy failed or the daemon has died, the helper
**             goes on where it stopped (scr_flight_recall).
**   landing   The copies leave the transfer file (scr_flight_receive); the rest is as after copies of the helper.
**   next run  SCR_Init writes its own token into run.lock, and waits for bursts that go on (scr_daemon_calm).  If no
**             other run and no scavenge was in between, and all ranks find all their copies of a dataset as they would
**             make them now, its flush goes on (scr_flush_take_over).  All others are taken back, their temporary files
**             are removed, and what is due is flushed anew.
**
** Uses       platform, errors, memory, hash files, dataset, file window, prefix, files of a run, MPI helpers, world,
**            state, recovery, flush
** Offers     scr_flush_is_due, scr_daemon_calm, scr_flights_forget, scr_flush_poll, scr_flush_finish,
**            scr_flush_start, scr_flush_take_over, scr_flush_wait, scr_flush_sync, scr_flush_unless_superseded,
**            scr_flush_unasked, scr_flush_if_due
** Invariants
**   J4  While a dataset is flushed it is pinned: it is not deleted from the cache, and its entry does not change.
**   J5  Flushes are committed in any order, each only after all ranks have copied and checked.  What a flush replaces
**       is found out again before its commit: another one, of a newer dataset too, may have been committed meanwhile.
**   J6  No two flushes in progress use the same directory or the same temporary names.
**   J7  Whatever changes the index by name, and the end of a run, first waits for all flushes.
**   J8  A daemon writes only in bursts, and begins one only while run.lock names the run that wants the copies.  A run
**       changes the cache and the temporary files of a dataset only when its token is in run.lock, and no burst is
**       under way on its nodes; so does a scavenge, which empties run.lock.  On a node that a run does not use any
**       more, a last burst may end later.  A daemon makes, cuts and removes no file, and an id does not recur: that
**       burst writes the same bytes to the same file, or to one that has lost its name.
**   J9  A copy leaves the transfer file before the index gets its dataset: the temporary files of what is in it are not
**       the only ones of a dataset.
** Failure    A flush that fails leaves the prefix as it was, and the dataset in the cache.  Rank 0 warns; SCR_Wait
**            returns the error, and SCR_Finalize flushes what is due again.
** ====================================================================================================== */

/*
** RC is the result of a flush of dataset ID: move the window of SCR_PREFIX_SIZE, which ends at checkpoint NEWEST (0: ID
** is no checkpoint), or say where the dataset is still.  Collective over the world; returns RC.
*/
SCR_FN int scr_flush_result(int id, int newest, int rc)
{
  scr_dataset* ds = scr_dataset_find(id);

  if (ds != NULL && (rc == SCR_SUCCESS || rc == SCR_ERR_CRC || rc == SCR_ERR_MISSING)) ds->damaged = rc != SCR_SUCCESS;
  if (rc == SCR_SUCCESS && newest > 0) scr_flush_slide(newest);
  if (rc != SCR_SUCCESS && rc != SCR_ERR_STATE && scr_dataset_is_whole(scr_dataset_find(id)))
    rc = SCR_ERR(rc, "%.*s; %s was not flushed, and stays in the cache", scr_err_length, scr_err_text,
                 scr_desc_name(&scr_dataset_find(id)->desc));
  return rc;
}

/*
** RC is the result of a flush of dataset ID: if it says that a file in the cache has become corrupt, rebuild it, if the
** redundancy allows, and copy the dataset again.  Collective over the world; the same code everywhere.
*/
SCR_FN int scr_flush_again(int id, int may_replace_newer, int rc)
{
  scr_err_record why;

  if (rc != SCR_ERR_CRC && rc != SCR_ERR_MISSING) return rc;
  scr_err_save(&why);
  if (scr_recovery_mend(id) == SCR_SUCCESS) return scr_flush_run(id, may_replace_newer);
  scr_err_restore(&why);
  return rc;
}

/* Returns RC, the result of a flush of dataset ID; it is no error if a newer dataset has its place on the prefix. */
SCR_FN int scr_flush_forgive_superseded(int id, int rc)
{
  return rc == SCR_ERR_STATE && scr_dataset_find(id)->on_prefix == SCR_PREFIX_SUPERSEDED ? SCR_SUCCESS : rc;
}

/* Returns 1 if DS has to be flushed: output always, checkpoints whose number is a multiple of SCR_FLUSH. */
SCR_FN int scr_flush_is_due(const scr_dataset* ds)
{
  int output = (ds->desc.flags & SCR_FLAG_OUTPUT) != 0;

  return scr_dataset_is_cached(ds) && (output ? scr_dataset_is_whole(ds) : ds->life == SCR_WHOLE) &&
         ds->on_prefix != SCR_PREFIX_YES && ds->on_prefix != SCR_PREFIX_SUPERSEDED &&
         ds->on_prefix != SCR_PREFIX_DROPPED && ds->on_prefix != SCR_PREFIX_OUTGROWN &&
         (ds->desc.flags & SCR_FLAG_OUTPUT ||
          (ds->desc.ckpt > 0 && scr.flush_every > 0 && ds->desc.ckpt % scr.flush_every == 0));
}

/* ---- the daemon of the node ---- */

#define SCR_DAEMON_LOOK_SECONDS 0.2 /* between two looks into the transfer file */
#define SCR_DAEMON_WAIT_SECONDS 2   /* for a daemon that has just been started, */
#define SCR_DAEMON_PATIENCE     60  /* and for any progress, while the application waits */

/* Let the daemon copy for this run, with its LIMITS or, while somebody waits, without. */
SCR_FN void scr_daemon_steer(scr_transfer* t, int limits)
{
  double ranks = limits ? (double)scr.world.group[SCR_GROUP_NODE].ranks : 0;

  scr_transfer_steer(t, scr.world.prefix, scr.token, scr.pace.rate * ranks, limits ? scr.pace.share * 100 : 0);
}

/* The same, at once: the transfer file of this node changes for this alone.  Local. */
SCR_FN int scr_daemon_steer_now(int limits)
{
  scr_transfer t;
  int          rc = scr_transfer_open(&t, scr.world.cntl);

  if (rc == SCR_SUCCESS) scr_daemon_steer(&t, limits);
  return scr_transfer_close(&t, rc, 1);
}

/*
** Before this run changes anything in the cache: since run.lock names this run, the daemon of this node begins no
** burst, and after this call none goes on (J8).  What it was to copy is taken back, unless this run may go on with it.
** Local.
*/
SCR_FN int scr_daemon_calm(void)
{
  if (scr.world.group[SCR_GROUP_NODE].rank > 0) return SCR_SUCCESS;
  return scr_transfer_withdraw(scr.world.cntl, scr.world.prefix, scr.flush_daemon ? scr.token_before : "");
}

/* Warn once that the daemon does not copy for this rank, for the reason of the last error. */
SCR_FN void scr_daemon_miss(int all_ranks)
{
  if (!scr.daemon_told && (all_ranks || scr.world.group[SCR_GROUP_NODE].rank == 0))
    scr_warn("%.*s; the ranks of this node copy their files themselves", scr_err_length, scr_err_text);
  scr.daemon_told = 1;
}

/* Make the new files of F, which the daemon is to fill. */
SCR_FN int scr_flight_make_files(const scr_flush* f)
{
  int i, rc = SCR_SUCCESS;

  for (i = 0; i < f->copies.n && rc == SCR_SUCCESS; i++) {
    const scr_copy_item* it = &f->copies.item[i];
    const scr_extent*    x = &it->to.extent[0];
    if (it->to.whole) rc = scr_file_make(x->path, it->mode, x->length);
  }
  return rc;
}

/* Returns 1 if the daemon of this node has taken the copies of F; 0 if this rank is to copy. */
SCR_FN int scr_flight_entrust(scr_flush* f)
{
  scr_transfer t;
  double       end = scr_wtime() + (scr.daemon_told ? 0 : SCR_DAEMON_WAIT_SECONDS);
  int          i, rc, served;

  while (!(served = scr_transfer_is_served(scr.world.cntl)) && scr_wtime() < end) usleep(20000);
  if (!served) {
    rc = SCR_ERR(SCR_ERR_NOT_FOUND, "no process scr_transfer serves %s on %s; scr_prerun starts them", scr.world.cntl,
                 scr.world.home.host);
  } else if ((rc = scr_flight_make_files(f)) == SCR_SUCCESS) {
    rc = scr_transfer_open(&t, scr.world.cntl);
    for (i = 0; i < f->copies.n && rc == SCR_SUCCESS; i++) scr_transfer_put(&t, &f->desc.identity, &f->copies.item[i]);
    if (rc == SCR_SUCCESS) scr_daemon_steer(&t, 1);
    rc = scr_transfer_close(&t, rc, 1);
  }
  if (rc != SCR_SUCCESS) scr_daemon_miss(0);
  return rc == SCR_SUCCESS;
}

/* Make what the transfer file says the progress of the copies of F, and take them out of it.  Local. */
SCR_FN int scr_flight_take_back(scr_flush* f)
{
  scr_transfer t;
  int          i, rc = scr_transfer_open(&t, scr.world.cntl);

  for (i = 0; i < f->copies.n && rc == SCR_SUCCESS; i++) {
    scr_transfer_look(&t, &f->desc.identity, &f->copies.item[i]);
    scr_transfer_forget(&t, &f->copies.item[i]);
  }
  return scr_transfer_close(&t, rc, f->copies.n > 0);
}

/* The daemon of this node cannot complete the copies of F, for the reason of the last error: the helper does it. */
SCR_FN void scr_flight_recall(scr_flush* f)
{
  int burst, rc;

  scr_daemon_miss(1);
  scr.daemon_failed = 1;
  f->by_daemon = 0;
  scr_transfer_rest(scr.world.cntl, &burst); /* a burst that hangs does no harm: it writes what the helper writes */
  rc = scr_flight_take_back(f);
  scr_hash_file_unlock(&burst);
  if (rc == SCR_SUCCESS) {
    scr_job_start(&f->job);
  } else {
    scr_err_save(&f->job.why);
    f->job.rc = rc;
    f->job.done = 1;
  }
}

/* The least advanced state of the copies of F in the transfer file; an error leaves it at BEGUN. */
SCR_FN scr_transfer_state scr_flight_look(scr_flush* f)
{
  scr_transfer       t;
  scr_transfer_state least = SCR_TRANSFER_DONE, state;
  int                i, rc = scr_transfer_read(&t, scr.world.cntl);

  for (i = 0; i < f->copies.n && rc == SCR_SUCCESS; i++) {
    state = scr_transfer_look(&t, &f->desc.identity, &f->copies.item[i]);
    if (state < least) least = state;
  }
  f->seen = scr_transfer_written(&t);
  scr_transfer_close(&t, rc, 0);
  return rc == SCR_SUCCESS ? least : SCR_TRANSFER_NONE;
}

/* Returns 1 if the files that the daemon fills for IT are there, with their sizes. */
SCR_FN int scr_flight_is_there(const scr_copy_item* it)
{
  struct stat st;
  int         i, there = 1;

  for (i = 0; i < it->to.n && there; i++) {
    const scr_extent* x = &it->to.extent[i];
    there = scr_os.lstat(x->path, &st) == 0 && S_ISREG(st.st_mode) && (uint64_t)st.st_size >= x->offset + x->length &&
            (!it->to.whole || (uint64_t)st.st_size == x->length);
  }
  return there;
}

/*
** SCR_SUCCESS if the transfer file has all copies of F, as this run would make them, and the files are there: a flush
** that failed since, or a loss of power, may have removed them.  Local.
*/
SCR_FN int scr_flight_fits(scr_flush* f)
{
  int i, fits = scr_flight_look(f) != SCR_TRANSFER_NONE;

  for (i = 0; i < f->copies.n && fits; i++)
    if (f->copies.item[i].made) fits = scr_flight_is_there(&f->copies.item[i]);
  if (fits) return SCR_SUCCESS;
  return SCR_ERR(SCR_ERR_STATE,
                 "what the run before this one has copied of dataset %d cannot be used; it is copied anew", f->id);
}

/* Returns 1 if the copies of F are made, by the daemon or the helper.  Local. */
SCR_FN int scr_flight_has_arrived(scr_flush* f)
{
  scr_transfer_state state;
  int                served;

  if (!f->by_daemon) return scr_job_is_done(&f->job);
  if (f->arrived || scr_wtime() < f->looked + SCR_DAEMON_LOOK_SECONDS) return f->arrived;
  f->looked = scr_wtime();
  served = scr_transfer_is_served(scr.world.cntl); /* first: what a daemon has done is in the file before it ends */
  state = scr_flight_look(f);
  f->arrived = state == SCR_TRANSFER_DONE;
  if (f->arrived || (state == SCR_TRANSFER_BEGUN && served)) return f->arrived;
  if (state == SCR_TRANSFER_BEGUN) SCR_ERR(SCR_ERR_IO, "the process scr_transfer on %s has ended", scr.world.home.host);
  scr_flight_recall(f);
  return 0;
}

/*
** Wait until the copies of F are made; they are made without limits meanwhile, and by the helper if the daemon does not
** get on with them.  Local.
*/
SCR_FN void scr_flight_await(scr_flush* f)
{
  double   since = scr_wtime();
  uint64_t bytes = 0;

  if (f->by_daemon && !f->arrived) scr_daemon_steer_now(0);
  while (f->by_daemon && !f->arrived) {
    f->looked = 0;
    if (scr_flight_has_arrived(f) || !f->by_daemon) break;
    if (f->seen != bytes) since = scr_wtime();
    bytes = f->seen;
    if (scr_wtime() - since > SCR_DAEMON_PATIENCE) {
      SCR_ERR(SCR_ERR_IO, "the process scr_transfer on %s makes no progress", scr.world.home.host);
      scr_flight_recall(f);
    }
    usleep(50000);
  }
  if (!f->by_daemon) scr_job_wait(&f->job);
}

/*
** The daemon has made the copies of F: take them out of the transfer file (J9), and make their names durable.  Local.
*/
SCR_FN int scr_flight_receive(scr_flush* f)
{
  int i, rc = scr_flight_take_back(f);

  for (i = 0; i < f->copies.n && rc == SCR_SUCCESS; i++) {
    const scr_extent* from = &f->copies.item[i].from.extent[0];
    if (f->copies.item[i].done != from->length)
      rc = SCR_ERR(SCR_ERR_IO, "somebody has taken the copy of %s out of the transfer file", from->path);
  }
  return rc == SCR_SUCCESS ? scr_objects_sync(&f->objects, scr.world.prefix) : rc;
}

/* Forget the flushes in progress, when SCR_Init fails after it has taken them over and the helper has ended. */
SCR_FN void scr_flights_forget(void)
{
  while (scr_flights.n > 0) {
    scr_flush* f = scr_flights.flush[--scr_flights.n];
    scr_copy_list_free(&f->copies);
    scr_objects_free(&f->objects);
    scr_free(&f->rival);
    scr_free(&f);
  }
  scr_flights.failed = SCR_SUCCESS;
  scr_free(&scr_flights.flush);
}

/* Returns 1 if a flush of the dataset IDENTITY is in progress. */
SCR_FN int scr_flights_have(const scr_identity* identity)
{
  int i;

  for (i = 0; i < scr_flights.n; i++)
    if (scr_identity_cmp(&scr_flights.flush[i]->desc.identity, identity) == 0) return 1;
  return 0;
}

/* ---- asynchronous ---- */

/* The newest checkpoint that is on the prefix, or dataset ID if there is none that is newer. */
SCR_FN int scr_flight_newest(int id)
{
  int i;

  for (i = 0; i < scr.datasets; i++) {
    const scr_dataset* ds = &scr.dataset[i];
    if (ds->desc.ckpt > 0 && ds->on_prefix == SCR_PREFIX_YES && ds->desc.identity.id > id) id = ds->desc.identity.id;
  }
  return id;
}

/*
** End flush number I, whose copies are done on this rank: check, commit and free it.  A file that has become corrupt in
** the cache is rebuilt, and the dataset copied again.  Collective over the world.
*/
SCR_FN void scr_flight_land(int i)
{
  scr_flush* f = scr_flights.flush[i];
  int        id = f->id, newest = f->desc.ckpt > 0 ? scr_flight_newest(id) : 0;
  int        rc = f->by_daemon ? scr_flight_receive(f) : f->job.rc;

  if (rc != SCR_SUCCESS && !f->by_daemon) scr_err_restore(&f->job.why);
  rc = scr_agree(scr_flush_check(f, rc), scr.world.comm);
  if (rc == SCR_SUCCESS) rc = scr_flush_find_replaced(f);
  if (rc == SCR_SUCCESS) rc = scr_flush_commit(f);
  rc = scr_flush_end(f, rc);
  scr_free(&scr_flights.flush[i]);
  scr_flights.n--;
  memmove(scr_flights.flush + i, scr_flights.flush + i + 1, (size_t)(scr_flights.n - i) * sizeof(scr_flush*));
  rc = scr_flush_forgive_superseded(id, scr_flush_result(id, newest, scr_flush_again(id, 0, rc)));
  if (rc == SCR_SUCCESS) return;
  if (scr.world.rank == 0) scr_warn("%s", scr_err_text);
  if (scr_flights.failed != SCR_SUCCESS) return;
  scr_err_save(&scr_flights.why);
  scr_flights.failed = rc;
}

/* The oldest of the first flushes in progress whose copies are done on all ranks, or -1.  Collective over the world. */
SCR_FN int scr_flight_arrived(void)
{
  scr_vote v;
  int      i, n = scr_flights.n < SCR_VOTE_SLOTS ? scr_flights.n : SCR_VOTE_SLOTS;

  memset(&v, 0, sizeof v);
  for (i = 0; i < n; i++) v.sum[i] = scr_flight_has_arrived(scr_flights.flush[i]);
  if (scr_vote_all(&v, SCR_SUCCESS, scr.world.comm) != SCR_SUCCESS) return -1;
  for (i = 0; i < n; i++)
    if (v.sum[i] == scr.world.ranks) return i;
  return -1;
}

/*
** Commit the flushes whose copies are done on all ranks.  Collective over the world, if there are flushes in progress.
*/
SCR_FN void scr_flush_poll(void)
{
  scr_err_record why;
  int            i;

  if (scr_flights.n == 0) return;
  scr_err_save(&why);
  while (scr_flights.n > 0 && (i = scr_flight_arrived()) >= 0) scr_flight_land(i);
  scr_err_restore(&why);
}

/* Nobody waits any more: if the daemon of this node copies for this rank, it keeps to the limits again.  Local. */
SCR_FN void scr_flights_slow_down(void)
{
  int i, by_daemon = 0;

  for (i = 0; i < scr_flights.n; i++) by_daemon += scr_flights.flush[i]->by_daemon;
  if (by_daemon > 0 && scr_daemon_steer_now(1) != SCR_SUCCESS) scr_dbg(1, "%s", scr_err_text);
}

/*
** Wait for the flushes of datasets with the name or the directory NAME, or for all if it is NULL, and commit them.
** Collective over the world, if there are flushes in progress.
*/
SCR_FN void scr_flush_finish(const char* name)
{
  scr_err_record why;
  int            i = 0;

  if (scr_flights.n == 0) return;
  scr_err_save(&why);
  while (i < scr_flights.n) {
    scr_flush* f = scr_flights.flush[i];
    if (name != NULL && strcmp(scr_desc_name(&f->desc), name) != 0 && strcmp(f->dir, name) != 0) {
      i++;
      continue;
    }
    scr_flight_await(f);
    scr_flight_land(i);
  }
  scr_flights_slow_down();
  scr_err_restore(&why);
}

/*
** Begin to flush dataset ID, and let the daemon of the node or the helper copy its files.  RESUMES: the run before this
** one has begun it, and the transfer files have all its copies; if they turn out not to, SCR_ERR_STATE.  Collective
** over the world; the same code everywhere.
*/
SCR_FN int scr_flush_start(int id, int resumes)
{
  scr_flush* f = (scr_flush*)scr_malloc(sizeof *f);
  int        newest = scr_dataset_find(id)->desc.ckpt > 0 ? id : 0, rc = SCR_SUCCESS;

  if (f == NULL || !scr_grow(&scr_flights.flush, scr_flights.n, sizeof *scr_flights.flush)) rc = SCR_ERR_OOM();
  if ((rc = scr_agree(rc, scr.world.comm)) != SCR_SUCCESS) {
    scr_free(&f);
    return rc;
  }
  f->async = 1;
  f->resumes = resumes;
  rc = scr_flush_prepare(f, id, 0);
  if (rc == SCR_SUCCESS && resumes && !f->committed) rc = scr_agree(scr_flight_fits(f), scr.world.comm);
  if (rc != SCR_SUCCESS || f->committed) {
    rc = scr_flush_result(id, newest, scr_flush_end(f, rc));
    scr_free(&f);
    return rc;
  }
  scr_dbg(1, "flush of dataset %d %s goes on in the background", id, scr_desc_name(&f->desc));
  f->copies.pace = scr.pace;
  f->job.work = scr_flush_copy;
  f->job.arg = f;
  scr_flights.flush[scr_flights.n++] = f;
  f->by_daemon = resumes || (scr.flush_daemon && !scr.daemon_failed && scr_flight_entrust(f));
  if (!f->by_daemon) scr_job_start(&f->job);
  return SCR_SUCCESS;
}

/*
** Go on with the flushes that the run before this one has left to the daemons, and take back their other copies; then
** the daemons copy for this run.  Collective over the world.
*/
SCR_FN void scr_flush_take_over(void)
{
  scr_transfer t;
  scr_vote     v;
  int          i, rc = SCR_SUCCESS, first = scr.world.group[SCR_GROUP_NODE].rank == 0, readable;

  readable = first && scr_transfer_read(&t, scr.world.cntl) == SCR_SUCCESS;
  for (i = 0; i < scr.datasets; i++) {
    const scr_dataset* ds = &scr.dataset[i];
    if (!scr_flush_is_due(ds)) continue;
    memset(&v, 0, sizeof v);
    if (readable) v.max[0] = scr_transfer_has(&t, &ds->desc.identity);
    if (scr_vote_all(&v, SCR_SUCCESS, scr.world.comm) != SCR_SUCCESS || v.max[0] == 0) continue;
    if (scr_flush_start(ds->desc.identity.id, 1) != SCR_SUCCESS) scr_dbg(1, "%s", scr_err_text); /* it is still due */
  }
  if (first) {
    scr_transfer_close(&t, SCR_SUCCESS, 0);
    rc = scr_transfer_open(&t, scr.world.cntl);
    if (rc == SCR_SUCCESS) scr_transfer_clear(&t, scr.world.prefix, scr_flights_have);
    if (rc == SCR_SUCCESS) scr_daemon_steer(&t, 1);
    rc = scr_transfer_close(&t, rc, 1);
  }
  /* what is flushed next uses the names of the temporary files that are removed */
  if (scr_agree(rc, scr.world.comm) == SCR_SUCCESS) return;
  if (scr.world.rank == 0) scr_warn("%s; a thread of each rank copies in place of the daemons", scr_err_text);
  scr.flush_daemon = 0;
}

/* Returns 1 if the index has the dataset NAME, with all its files.  Collective over the world; the same everywhere. */
SCR_FN int scr_flush_was_done(const char* name)
{
  scr_index      index;
  scr_index_item it;
  scr_vote       v;

  memset(&v, 0, sizeof v);
  if (scr.world.rank == 0) {
    v.max[0] = scr_index_read(&index, scr.world.prefix) == SCR_SUCCESS &&
               scr_index_named(&index, name, &it) == SCR_SUCCESS && it.complete && !it.renaming;
    scr_index_close(&index, SCR_SUCCESS, 0);
  }
  return scr_vote_all(&v, SCR_SUCCESS, scr.world.comm) == SCR_SUCCESS && v.max[0];
}

/*
** Wait for the flush of the dataset NAME, or for all if it is NULL; the first error of those that have ended since the
** last call.  SCR_ERR_NOT_FOUND if the dataset is not on the prefix then.  Collective over the world.
*/
SCR_FN int scr_flush_wait(const char* name)
{
  int i, known = 0, rc;

  scr_flush_finish(name);
  rc = scr_flights.failed;
  if (rc != SCR_SUCCESS) scr_err_restore(&scr_flights.why);
  scr_flights.failed = SCR_SUCCESS;
  if (rc != SCR_SUCCESS || name == NULL) return rc;
  for (i = 0; i < scr.datasets; i++)
    if (strcmp(scr_desc_name(&scr.dataset[i].desc), name) == 0)
      known = scr.dataset[i].on_prefix == SCR_PREFIX_YES          ? 2
              : scr.dataset[i].on_prefix == SCR_PREFIX_SUPERSEDED ? 3
                                                                  : 1;
  if (known == 2 || (known == 0 && scr_flush_was_done(name))) return SCR_SUCCESS; /* it may have left the cache */
  return SCR_ERR(SCR_ERR_NOT_FOUND,
                 known == 3 ? "a newer dataset has the place of %s on the prefix"
                 : known    ? "dataset %s is in the cache, but was not flushed"
                            : "dataset %s is neither in the cache nor on the prefix",
                 name);
}

/* ---- synchronous ---- */

/*
** Copy dataset ID from the cache to the prefix; a file that has become corrupt in the cache is first rebuilt, if the
** redundancy allows.  Files of newer datasets are replaced only with MAY_REPLACE_NEWER; otherwise SCR_ERR_STATE.
** Collective over the world; the same code everywhere.
*/
SCR_FN int scr_flush_sync(int id, int may_replace_newer)
{
  const scr_dataset* ds;
  int                newest;

  scr_flush_finish(NULL); /* this one, too, may be under way */
  ds = scr_dataset_find(id);
  if (!scr_dataset_is_whole(ds)) return SCR_ERR(SCR_ERR_NOT_FOUND, "dataset %d is not in the cache", id);
  if (ds->on_prefix == SCR_PREFIX_YES) return SCR_SUCCESS;
  if (!scr_dataset_is_cached(ds) && ds->on_prefix == SCR_PREFIX_RENAMING) return SCR_SUCCESS;
  if (!scr_dataset_is_cached(ds)) return SCR_ERR(SCR_ERR_NOT_FOUND, "dataset %d is only on the prefix", id);
  newest = ds->desc.ckpt > 0 ? id : 0;
  return scr_flush_result(id, newest, scr_flush_again(id, may_replace_newer, scr_flush_run(id, may_replace_newer)));
}

/* ---- when ---- */

/*
** Flush dataset ID; it is no error if a newer dataset has its place on the prefix.  Collective over the world; the same
** code everywhere.
*/
SCR_FN int scr_flush_unless_superseded(int id)
{
  return scr_flush_forgive_superseded(id, scr_flush_sync(id, 0));
}

/* The same, although the user has not asked for it: not if it was dropped. */
SCR_FN int scr_flush_unasked(int id)
{
  return scr_dataset_find(id)->on_prefix == SCR_PREFIX_DROPPED ? SCR_SUCCESS : scr_flush_unless_superseded(id);
}

/* The same, if the flush of DS is due. */
SCR_FN int scr_flush_if_due(const scr_dataset* ds)
{
  return scr_flush_is_due(ds) ? scr_flush_unasked(ds->desc.identity.id) : SCR_SUCCESS;
}

/* ==== 24 ROOM, FETCH ====================================================================================
** Make room in the stores, fetch datasets from the prefix into the cache, or let the application read them in place.
**
** A checkpoint that another number of ranks wrote, or any that is not to be copied to the cache, is read in place:
**   1. SCR_Init reads the map; rank R has the share of the writers R, R + ranks, R + 2 ranks, .. (scr_fetch_objects),
**      and reads all files of its share completely (scr_fetch_prove).
**   2. Each rank sends its objects to the ranks that write the buckets of their paths, each a file of at most about
**      SCR_RANK2FILE_SIZE bytes beside the map (scr_read_write_names).
**   3. SCR_Route_file, without a message to any rank, reads the bucket of the path: the file is on the prefix, or it is
**      taken out of its containers into the cache of this node, once for all ranks of the node (scr_read_find).  So a
**      rank has the names of its share and of one bucket in memory, and a node has space for each file that one of its
**      ranks asks for.
**   4. The next dataset, and the end of the run, remove what was made for that (scr_read_close).
**
** Uses       platform, errors, memory, path, hash, dataset, file window, filemap, prefix, MPI helpers, world, state,
**            encode, cache, flush, asynchronous flush
** Offers     scr_room_trim, scr_room_settle, scr_room_bytes, scr_room_ask, scr_room_is_tight, scr_room_expected,
**            scr_room_look, scr_room_make, scr_read_close, scr_read_find, scr_read_is_foreign, scr_read_accept,
**            scr_fetch
** Invariants
**   Q1  To make room, a checkpoint is deleted only when a newer one is complete, or the prefix has it (scr_room_costs).
**       SCR_CACHE_KEEP=0 gives that up.
**   Q2  Datasets are deleted for a fetch only after all files that it is to copy have been read and compared: a damaged
**       copy on the prefix must not cost pieces in the cache too.
**   Q3  What is taken out of containers has no record: it lies in the place of dataset 0, which is cleared before a
**       dataset is read in place, and afterwards.
** Failure    Nothing of a dataset that could not be fetched is left in the cache.
** ====================================================================================================== */

/* The number of datasets in STORE, without the one that is being written. */
SCR_FN int scr_room_count(const char* store)
{
  int i, n = 0;
  for (i = 0; i < scr.datasets; i++)
    n += scr.dataset[i].life != SCR_WRITING && strcmp(scr.dataset[i].store, store) == 0;
  return n;
}

/* What is lost with a dataset that makes room, the least first. */
typedef enum {
  SCR_ROOM_PIECES,     /* nothing: it cannot be loaded, and a newer checkpoint is whole */
  SCR_ROOM_ON_PREFIX,  /* nothing: the prefix has it */
  SCR_ROOM_SUPERSEDED, /* a newer checkpoint is whole */
  SCR_ROOM_USELESS,    /* pieces of which nothing can be made now, or output that nobody waits for */
  SCR_ROOM_DUE,        /* the same as SUPERSEDED, but of those whose flush is still due it is the newest */
  SCR_ROOM_NEWEST,     /* nothing, but it is the newest checkpoint, and would have to be fetched */
  SCR_ROOM_WORK        /* the only copy of what a restart, or the user, needs */
} scr_room_loss;

/*
** The newest checkpoint that is WHOLE, as far as flushes have not found out otherwise, or NULL; with DUE, the newest of
** those whose flush is due.
*/
SCR_FN const scr_dataset* scr_room_newest(int due)
{
  int i;

  for (i = scr.datasets - 1; i >= 0; i--) {
    const scr_dataset* ds = &scr.dataset[i];
    if (ds->life == SCR_WHOLE && ds->desc.ckpt > 0 && !ds->damaged && (!due || scr_flush_is_due(ds))) return ds;
  }
  return NULL;
}

SCR_FN scr_room_loss scr_room_costs(const scr_dataset* ds)
{
  const scr_dataset *newest = scr_room_newest(0), *due = scr_room_newest(1);
  int                older = newest != NULL && newest->desc.identity.id > ds->desc.identity.id;

  if (older && ds->life == SCR_ASIDE) return SCR_ROOM_PIECES;
  if (ds->on_prefix == SCR_PREFIX_YES) return ds == newest ? SCR_ROOM_NEWEST : SCR_ROOM_ON_PREFIX;
  if (scr_flush_is_due(ds) && (!older || (ds->desc.flags & SCR_FLAG_OUTPUT))) return SCR_ROOM_WORK;
  if (scr_flush_is_due(ds) && ds == due) return SCR_ROOM_DUE;
  if (ds->life == SCR_ASIDE && ds->aside != SCR_ASIDE_KEPT && ds->aside != SCR_ASIDE_PASSED) return SCR_ROOM_USELESS;
  if (!scr_desc_is_ckpt(&ds->desc)) return SCR_ROOM_USELESS;
  return older || ds->on_prefix == SCR_PREFIX_SUPERSEDED ? SCR_ROOM_SUPERSEDED : SCR_ROOM_WORK;
}

/* Returns 1 if DS is in STORE and may be deleted at all. */
SCR_FN int scr_room_is_in(const scr_dataset* ds, const char* store)
{
  return ds->life != SCR_WRITING && ds->pins == 0 && strcmp(ds->store, store) == 0;
}

/* The dataset of STORE to delete first, never KEEP: the oldest of those that cost least, at most MOST; or 0. */
SCR_FN int scr_room_victim(const char* store, int keep, scr_room_loss most)
{
  int i, id = 0;

  for (i = scr.datasets - 1; i >= 0; i--) {
    const scr_dataset* ds = &scr.dataset[i];
    scr_room_loss      costs = scr_room_costs(ds);
    if (!scr_room_is_in(ds, store) || ds->desc.identity.id == keep || costs > most) continue;
    most = costs;
    id = ds->desc.identity.id;
  }
  return id;
}

/*
** Delete datasets from the store of D until it has at most SCR_CACHE_SIZE (COUNT); KEEP always stays.  BEHIND as in
** scr_cache_remove.  Every rank calls it.
*/
SCR_FN int scr_room_trim(const scr_reddesc* d, int keep, int behind)
{
  const scr_storedesc* s = scr_storedescs_from_name(&scr.world, d->store);
  int                  id, n = 0, rc = SCR_SUCCESS, count = s != NULL ? s->max_count : 1;

  while (scr_room_count(d->store) > count && (id = scr_room_victim(d->store, keep, SCR_ROOM_USELESS)) != 0) {
    int err;
    if (n++ > 0) scr_barrier(scr.world.comm); /* this one drops the mark of the one before, which all must have */
    err = scr_cache_delete(id, behind);
    if (rc == SCR_SUCCESS) rc = err;
  }
  return rc;
}

/*
** What was pinned by a flush when the store of D was trimmed is there still: when it holds more than it should, wait
** for the flushes and trim it.  Returns 1 if it did.  Collective over the world.
*/
SCR_FN int scr_room_settle(const scr_reddesc* d)
{
  const scr_storedesc* s = scr_storedescs_from_name(&scr.world, d->store);
  const scr_dataset*   newest;

  if (!scr.flush_async || scr_room_count(d->store) <= (s != NULL ? s->max_count : 1)) return 0;
  scr_flush_finish(NULL);
  newest = scr_room_newest(0);
  if (scr_room_trim(d, newest != NULL ? newest->desc.identity.id : 0, 0) != SCR_SUCCESS) scr_warn("%s", scr_err_text);
  return 1;
}

/* Bytes that the files of E take now on this node. */
SCR_FN uint64_t scr_room_of_entry(const scr_entry* e)
{
  char     path[SCR_MAX_FILENAME];
  uint64_t sum = 0, size = 0;
  int      i;

  for (i = 0; i < e->files; i++)
    if (scr_entry_path(&scr.world.home, e, e->file[i].rel, path, sizeof path) == SCR_SUCCESS &&
        scr_file_size(path, &size) == SCR_SUCCESS)
      sum += (size + 4095) / 4096 * 4096; /* as most file systems do */
  return sum;
}

/* Bytes that this rank's files of dataset ID take so far. */
SCR_FN uint64_t scr_room_bytes(int id)
{
  const scr_entry* e = scr_filemap_by_id(&scr.map, id, scr.world.rank);
  return e != NULL ? scr_room_of_entry(e) : 0;
}

/* The bytes that BYTES of data take with the redundancy of D. */
SCR_FN int64_t scr_room_protected(const scr_reddesc* d, int64_t bytes)
{
  if (d->scheme == SCR_SCHEME_PARTNER) return 2 * bytes;
  if (d->scheme == SCR_SCHEME_SINGLE || d->set_size <= d->failures) return bytes;
  return bytes + bytes * d->failures / (d->set_size - d->failures);
}

/* Set *FREE_BYTES to the free bytes of the file system of STORE and return 1; 0 for both if it does not report them. */
SCR_FN int scr_room_free(const char* store, uint64_t* free_bytes)
{
  struct statvfs fs;

  *free_bytes = 0;
  if (statvfs(store, &fs) != 0 || fs.f_blocks == 0) return 0;
  *free_bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
  return 1;
}

/* Bytes of this rank in STORE that can go: of datasets that cost at most MOST, those that are WORK after a flush. */
SCR_FN int64_t scr_room_spare(const char* store, scr_room_loss most)
{
  int64_t sum = 0;
  int     i, k;

  for (i = 0; i < scr.datasets; i++) {
    const scr_dataset* ds = &scr.dataset[i];
    if (!scr_room_is_in(ds, store) || scr_room_costs(ds) > most) continue;
    if (scr_room_costs(ds) == SCR_ROOM_WORK && !scr_dataset_is_whole(ds)) continue;
    if (ds->life == SCR_ASIDE &&
        ds->aside == SCR_ASIDE_UNPROVEN) { /* a killed rank's entry does not list its files yet */
      sum += scr_room_protected(&scr.world.red[0], (int64_t)ds->desc.bytes / scr.world.ranks);
      continue;
    }
    for (k = 0; k < scr.map.n; k++)
      if (scr_identity_same(&scr.map.entry[k]->desc.identity, &ds->desc.identity))
        sum += (int64_t)scr_room_of_entry(scr.map.entry[k]);
  }
  return sum;
}

/* The group of ranks that share the space of the store of D with this one. */
SCR_FN const scr_groupdesc* scr_room_group(const scr_reddesc* d)
{
  const scr_storedesc* s = scr_storedescs_from_name(&scr.world, d->store);
  const scr_groupdesc* g = s != NULL ? scr_groupdescs_from_name(&scr.world, s->group) : NULL;

  if (d->global || scr.world.home.shared) return &scr.world.group[SCR_GROUP_WORLD];
  return g != NULL ? g : &scr.world.group[SCR_GROUP_NODE];
}

/* The slots of a vote that are reserved for asking for room. */
enum { SCR_ROOM_NEED = 4 }; /* sum: the bytes that all ranks together need */
enum {
  SCR_ROOM_SHORT = 3,
  SCR_ROOM_LEAST_FREE = 4
}; /* max: 1 if the dataset does not fit on this rank; minus the free bytes of a shared store */

/*
** Ask in V whether the store of D has room for NEED more bytes of this rank.  After all ranks have voted,
** scr_room_is_tight gives the answer.  If not all ranks share the store, it is an estimate: it assumes that each rank
** of the group that shares it needs as much as this one.
*/
SCR_FN void scr_room_ask(const scr_reddesc* d, int64_t need, scr_vote* v)
{
  const scr_groupdesc* g = scr_room_group(d);
  uint64_t             free_bytes;
  int                  known;

  scr_removal_wait(); /* other ranks of the node, too, wait before they vote, so that a second answer is exact */
  known = scr_room_free(d->store, &free_bytes);
  v->max[SCR_ROOM_LEAST_FREE] = INT64_MIN;
  if (g->groups == 1) { /* all ranks share the store */
    v->sum[SCR_ROOM_NEED] = need;
    if (known) v->max[SCR_ROOM_LEAST_FREE] = -(int64_t)free_bytes;
  } else {
    v->max[SCR_ROOM_SHORT] = known && need > 0 && need * g->ranks > (int64_t)free_bytes;
  }
}

SCR_FN int scr_room_is_tight(const scr_vote* v)
{
  return v->max[SCR_ROOM_SHORT] > 0 ||
         (v->max[SCR_ROOM_LEAST_FREE] > INT64_MIN && v->sum[SCR_ROOM_NEED] > -v->max[SCR_ROOM_LEAST_FREE]);
}

/*
** The bytes that this rank is expected to write to the store of D: those of the newest dataset there, or those of the
** last one if that failed or went to the prefix, plus a tenth.  0 if there was none.
*/
SCR_FN int64_t scr_room_expected(const scr_reddesc* d)
{
  uint64_t need, failed;
  int      i, id = 0;

  for (i = 0; i < scr.datasets; i++)
    if (strcmp(scr.dataset[i].store, d->store) == 0) id = scr.dataset[i].desc.identity.id;
  need = id != 0 ? scr_room_bytes(id) : 0;
  if (id != 0 && scr_dataset_find(id)->desc.ranks != scr.world.ranks)
    need = (uint64_t)scr_room_protected(d, (int64_t)scr_dataset_find(id)->desc.bytes / scr.world.ranks);
  failed = (uint64_t)scr_room_protected(d, (int64_t)scr.other_bytes);
  if (failed > need) need = failed;
  return (int64_t)(need + need / 10);
}

/*
** Ask all ranks whether the store of D has room for NEED more bytes of this rank; *TIGHT receives 1 if not, the same
** everywhere.  Collective over the world.
*/
SCR_FN int scr_room_look(const scr_reddesc* d, int64_t need, int* tight)
{
  scr_vote v;
  int      rc;

  memset(&v, 0, sizeof v);
  scr_room_ask(d, need, &v);
  rc = scr_vote_all(&v, SCR_SUCCESS, scr.world.comm);
  *tight = rc == SCR_SUCCESS && scr_room_is_tight(&v);
  return rc;
}

/*
** Copy to the prefix what only the store of D has, so that it can make room.  SCR_ERR_SPACE if that fails: then the
** store cannot take another dataset.  Collective over the world; the same code everywhere.
*/
SCR_FN int scr_room_flush(const scr_reddesc* d)
{
  char why[SCR_ERR_TEXT_MAX];
  int  i, rc = SCR_SUCCESS;

  for (i = 0; i < scr.datasets && rc == SCR_SUCCESS; i++) {
    const scr_dataset* ds = &scr.dataset[i];
    int                id = ds->desc.identity.id;
    if (!scr_room_is_in(ds, d->store) || scr_room_costs(ds) != SCR_ROOM_WORK || !scr_dataset_is_whole(ds)) continue;
    if (scr.world.rank == 0 && !scr.told_of_room)
      scr_warn(
          "%s has no room for two checkpoints: dataset %d %s is copied to the prefix before the next one is written, "
          "and so are later ones; SCR_CACHE_KEEP=0 deletes them without a copy",
          d->store, id, scr_desc_name(&ds->desc));
    scr.told_of_room = 1;
    if ((rc = scr_flush_unless_superseded(id)) == SCR_SUCCESS) continue;
    snprintf(why, sizeof why, "%.*s", scr_err_length, scr_err_text);
    rc = SCR_ERR(
        SCR_ERR_SPACE,
        "%s has no room for one more dataset; dataset %d stays in it, for it cannot be copied to the prefix: %s",
        d->store, id, why);
  }
  return rc;
}

/*
** Make room for a dataset with descriptor D and NEED bytes of this rank, if the ranks agree that it is TIGHT.  Nothing
** is deleted unless that makes enough room; if not, *TOO_LARGE becomes 1.  No work is lost (Q1): what only the cache
** has is flushed first.  Collective over the world; the same code everywhere.
*/
SCR_FN int scr_room_make(const scr_reddesc* d, int64_t need, int tight, int* too_large)
{
  scr_room_loss most = scr.cache_keep ? SCR_ROOM_NEWEST : SCR_ROOM_WORK;
  int           id, rc = SCR_SUCCESS;

  *too_large = 0;
  if (!tight) return SCR_SUCCESS;
  scr_flush_finish(NULL); /* what is pinned cannot make room */
  rc = scr_room_look(d, need - scr_room_spare(d->store, SCR_ROOM_WORK), too_large);
  if (rc != SCR_SUCCESS || *too_large) return rc;
  if (scr.cache_keep) {
    rc = scr_room_look(d, need - scr_room_spare(d->store, SCR_ROOM_NEWEST), &tight);
    if (rc == SCR_SUCCESS && tight) rc = scr_room_flush(d);
    tight = 1;
  }
  while (rc == SCR_SUCCESS && tight && (id = scr_room_victim(d->store, 0, most)) != 0) {
    if (scr.world.rank == 0 && scr_room_costs(scr_dataset_find(id)) == SCR_ROOM_WORK)
      scr_warn(
          "%s cannot hold two datasets: dataset %d is deleted before the next one is written (SCR_CACHE_KEEP=0); if "
          "the run fails before that one is complete, only the prefix has a checkpoint",
          d->store, id);
    rc = scr_agree(scr_cache_delete(id, 0), scr.world.comm); /* other nodes may share the store and still be deleting */
    if (rc == SCR_SUCCESS) rc = scr_room_look(d, need, &tight);
  }
  return rc;
}

/* ---- fetch ---- */

/* A fetch in progress. */
typedef struct {
  int                id;
  scr_desc           desc;
  scr_prefix_place   place;
  const scr_reddesc* d;
  scr_objects        objects; /* of the ranks whose number, modulo the ranks of this run, is that of this rank */
  int                files;   /* of all ranks, without redundancy files */
} scr_fetching;

/* Check that the index has the dataset in DIR, as DESC describes it, under its final names.  Rank 0 only. */
SCR_FN int scr_fetch_check_index(int id, const char* dir, const scr_desc* desc)
{
  scr_index      index;
  scr_index_item it;
  int            rc = scr_index_read(&index, scr.world.prefix);

  if (rc == SCR_SUCCESS && scr_index_get(&index, id, dir, &it)) {
    if (it.renaming)
      rc = SCR_ERR(SCR_ERR_IO, "files of %s/%s still have the temporary names of an interrupted flush",
                   scr.world.prefix, dir);
    else if (scr_identity_differs(&it.desc.identity, &desc->identity))
      rc = SCR_ERR(SCR_ERR_INVALID,
                   "the summary in %s/%s/.scr describes another dataset than the index has there as dataset %d",
                   scr.world.prefix, dir, id);
  }
  return scr_index_close(&index, rc, 0);
}

/*
** Read the summary on rank 0 and send it to all ranks.  SCR_ERR_FORMAT, _MISSING or _INVALID if the dataset cannot be
** used.  Collective over the world.
*/
SCR_FN int scr_fetch_summary(scr_fetching* f, const char* dir)
{
  char path[SCR_MAX_FILENAME];
  int  complete = 0, rc = SCR_SUCCESS;

  if (scr.world.rank == 0) {
    rc = scr_prefix_locate(scr.world.prefix, f->id, dir, &f->place);
    if (rc == SCR_SUCCESS) rc = scr_fmt(path, sizeof path, "%s/%s/summary.scr", scr.world.prefix, f->place.meta);
    if (rc == SCR_SUCCESS) rc = scr_summary_read(path, &f->desc, &complete);
    if (rc == SCR_ERR_NOT_FOUND) rc = SCR_ERR(SCR_ERR_MISSING, "%s is missing", path);
    if (rc == SCR_SUCCESS && !complete) rc = SCR_ERR(SCR_ERR_INVALID, "%s says that the dataset is not complete", path);
    if (rc == SCR_SUCCESS) rc = scr_fetch_check_index(f->id, dir, &f->desc);
  }
  if ((rc = scr_agree(rc, scr.world.comm)) != SCR_SUCCESS) return rc;
  rc = scr_bcast(&f->desc, (int)sizeof f->desc, MPI_BYTE, 0, scr.world.comm);
  return rc == SCR_SUCCESS ? scr_bcast(&f->place, (int)sizeof f->place, MPI_BYTE, 0, scr.world.comm) : rc;
}

/*
** Read the objects of F; if as many ranks wrote it as this run has, this rank's share must be its own files.
** Collective over the world; the same code everywhere.
*/
SCR_FN int scr_fetch_objects(scr_fetching* f, const char* dir)
{
  enum { FILES, BYTES }; /* sum */
  scr_vote v;
  int      i, ranks = 0, rc = scr_flush_read_rank2file(&f->place, &f->desc.identity, &f->objects, &ranks);

  if (rc != SCR_SUCCESS) return rc;
  f->desc.ranks = ranks;
  if (ranks != scr.world.ranks && scr.same_ranks)
    return SCR_ERR(SCR_ERR_LOST, "dataset %s is of %d ranks, but this run has %d, and SCR_RESTART_RANKS=same", dir,
                   ranks, scr.world.ranks);
  if (ranks == scr.world.ranks && (f->objects.owners != 1 || f->objects.owner[0] != scr.world.rank))
    rc = SCR_ERR(SCR_ERR_FORMAT, "the rank2file map of %s says nothing about rank %d", dir, scr.world.rank);
  memset(&v, 0, sizeof v);
  for (i = 0; i < f->objects.n; i++) {
    if (f->objects.object[i].redundant) continue;
    v.sum[FILES]++;
    v.sum[BYTES] += (int64_t)f->objects.object[i].size;
  }
  rc = scr_vote_all(&v, rc, scr.world.comm);
  f->files = (int)v.sum[FILES];
  if (rc != SCR_SUCCESS || f->desc.files == 0) return rc;
  if (v.sum[FILES] != f->desc.files || v.sum[BYTES] != (int64_t)f->desc.bytes)
    return SCR_ERR(SCR_ERR_FORMAT,
                   "the rank2file map of %s lists %lld files of %lld bytes, but its summary says %d of %" PRIu64, dir,
                   (long long)v.sum[FILES], (long long)v.sum[BYTES], f->desc.files, f->desc.bytes);
  return SCR_SUCCESS;
}

/* Read this rank's share of the files on the prefix completely, and compare them with the map. */
SCR_FN int scr_fetch_prove(void* arg)
{
  scr_fetching* f = (scr_fetching*)arg;
  int           i, rc = SCR_SUCCESS;

  for (i = 0; i < f->objects.n && rc == SCR_SUCCESS; i++) {
    if (f->objects.object[i].redundant) continue;
    rc = scr_object_check(&f->objects.object[i], scr.world.prefix, f->id, SCR_NAMES_FINAL, "it is corrupt");
    scr_event_damage(f->id, rc);
  }
  return rc;
}

/* Make FILE the record in the cache of the object O, whose own path is FROM; the caller frees it. */
SCR_FN int scr_fetch_record(const scr_fetching* f, const scr_object* o, const char* from, scr_file* file)
{
  const char* rel = o->rel;
  char        dir[SCR_MAX_FILENAME];
  struct stat st;

  snprintf(dir, sizeof dir, "%s", from);
  memset(file, 0, sizeof *file);
  if (!f->desc.preserve && *f->place.base && !scr_path_below(f->place.base, o->rel, &rel))
    return SCR_ERR(SCR_ERR_FORMAT, "the rank2file map names %s, which is not in its dataset", o->rel);
  file->rel = scr_strdup(rel);
  file->orig = scr_strdup(from);
  file->complete = 1;
  file->size = o->size;
  file->ranks = scr.world.ranks;
  *strrchr(dir, '/') = '\0';
  file->dir = scr_strdup(dir);
  file->mode = o->mode;
  file->mtime = o->mtime;
  if (o->packed.n == 0 && scr_os.lstat(from, &st) == 0) { /* the user may have changed them */
    file->mode = (int)(st.st_mode & 0777);
    file->mtime = (int64_t)st.st_mtime;
  }
  return scr_oom ? SCR_ERR_OOM() : SCR_SUCCESS;
}

/* Claim the place of O in the cache, enter it in E, and add its copy to the list. */
SCR_FN int scr_fetch_list(const scr_fetching* f, scr_entry* e, const scr_object* o, scr_copy_list* copies)
{
  char           from[SCR_MAX_FILENAME], to[SCR_MAX_FILENAME];
  scr_file       file;
  scr_copy_item* it;
  int            rc = scr_object_path(o, scr.world.prefix, f->id, 0, from, sizeof from);

  if (rc != SCR_SUCCESS) return rc;
  rc = scr_fetch_record(f, o, from, &file);
  it = scr_copy_list_add(copies, file.mode, 0600, file.mtime);
  if (rc == SCR_SUCCESS) rc = scr_entry_place(&scr.world.home, e, &file, to);
  if (rc == SCR_SUCCESS) rc = scr_extents_whole(&it->to, to, o->size);
  if (rc == SCR_SUCCESS) rc = scr_object_extents(o, scr.world.prefix, f->id, SCR_NAMES_FINAL, &it->from);
  scr_file_free(&file);
  return rc;
}

/* Copy this rank's files into the cache, compare them with the map, and record their checksums. */
SCR_FN int scr_fetch_copy(void* arg)
{
  scr_fetching*        f = (scr_fetching*)arg;
  const scr_storedesc* store = scr_storedescs_from_name(&scr.world, f->d->store);
  scr_entry*           e = scr_filemap_find(&scr.map, &f->desc.identity, scr.world.rank);
  scr_copy_list        copies;
  int                  i, k = 0, rc = scr_copy_list_make(&copies, f->objects.n, scr.file_buf);

  for (i = 0; i < f->objects.n && rc == SCR_SUCCESS; i++)
    if (!f->objects.object[i].redundant) rc = scr_fetch_list(f, e, &f->objects.object[i], &copies);
  if (rc == SCR_SUCCESS && copies.n != e->files)
    rc = SCR_ERR(SCR_ERR_FORMAT, "the rank2file map names a file of rank %d twice", scr.world.rank);
  if (rc == SCR_SUCCESS) rc = scr_copy_list_run(&copies, store != NULL ? store->threads : 1);
  for (i = 0; i < f->objects.n && rc == SCR_SUCCESS; i++) {
    if (f->objects.object[i].redundant) continue;
    rc = scr_object_has_crc(&f->objects.object[i], copies.item[k].from.extent[0].path, copies.item[k].crc,
                            "it is corrupt");
    e->file[k].crc = copies.item[k].crc;
    e->file[k++].has_crc = scr.crc_on_copy;
  }
  scr_event_damage(f->id, rc);
  scr_copy_list_free(&copies);
  return rc;
}

/*
** SCR_ERR_SPACE on the first rank of a group that shares the store of D, if its ranks together need more than is free;
** NEED is what this rank needs.  Collective over the world; returns this rank's code.
*/
SCR_FN int scr_room_suffices(const scr_reddesc* d, int64_t need)
{
  const scr_groupdesc* g = scr_room_group(d);
  scr_hash *           send = scr_hash_new(), *recv = scr_hash_new();
  scr_hash_elem*       e;
  int64_t              sum = 0, one;
  uint64_t             free_bytes;
  scr_vote             v;
  int                  rc;

  memset(&v, 0, sizeof v);
  v.sum[0] = need;
  if (g->groups == 1) { /* all ranks share the store: its first rank should not hear from each of them */
    rc = scr_vote_all(&v, SCR_SUCCESS, scr.world.comm);
    sum = g->rank == 0 ? v.sum[0] : 0;
  } else {
    scr_hash_util_set_int64(scr_hash_setf(send, NULL, "%d", g->leader), "NEED", need);
    rc = scr_hash_exchange(send, recv, scr.world.comm);
  }
  for (e = scr_hash_elem_first(recv); e != NULL; e = scr_hash_elem_next(e))
    if (scr_hash_util_get_int64(scr_hash_elem_hash(e), "NEED", &one) == SCR_SUCCESS) sum += one;
  if (rc == SCR_SUCCESS && sum > 0 && scr_room_free(d->store, &free_bytes) && sum > (int64_t)free_bytes)
    rc =
        SCR_ERR(SCR_ERR_SPACE,
                "%s has room for %" PRIu64 " bytes, but the %d ranks that share it need %" PRId64 "; free some, or set "
                "SCR_CACHE_BASE",
                d->store, free_bytes, g->ranks, sum);
  scr_hash_delete(&send);
  scr_hash_delete(&recv);
  return rc;
}

/*
** Make room in the cache for the files of F, with their redundancy.  Before pieces of other datasets or of this one go,
** its copy on the prefix is checked (Q2).  What the cache holds with this id goes.  *TOO_LARGE becomes 1 if the cache
** cannot have the room.  Collective over the world; the same code everywhere.
*/
SCR_FN int scr_fetch_prepare(scr_fetching* f, int* too_large)
{
  int64_t bytes = 0, need;
  int     i, tight, rc;

  for (i = 0; i < f->objects.n; i++) bytes += (int64_t)f->objects.object[i].size;
  need = scr_room_protected(f->d, bytes);
  if ((rc = scr_room_look(f->d, need, &tight)) != SCR_SUCCESS) return rc;
  if (tight || scr_dataset_find(f->id) != NULL) {
    rc = scr_agree(scr_flow(scr.fetch_width, scr_fetch_prove, f, scr.world.comm), scr.world.comm);
    if (rc != SCR_SUCCESS) return rc;
  }
  if (scr_dataset_find(f->id) != NULL) {
    if ((rc = scr_agree(scr_cache_delete(f->id, 0), scr.world.comm)) != SCR_SUCCESS) return rc;
    if (tight && (rc = scr_room_look(f->d, need, &tight)) != SCR_SUCCESS) return rc;
  }
  if ((rc = scr_room_make(f->d, need, tight, too_large)) != SCR_SUCCESS) return rc;
  if (*too_large && f->d->bypass != 0) return SCR_SUCCESS;
  rc = scr_room_suffices(f->d, need);
  if (scr.world.group[SCR_GROUP_NODE].rank == 0) scr_cache_clear_place(f->d, f->id);
  return scr_agree(rc, scr.world.comm);
}

/* Copy the files, protect them, and commit.  Collective over the world; the same code everywhere. */
SCR_FN int scr_fetch_run(scr_fetching* f)
{
  scr_encode x = scr_cache_encode(f->d, 0);
  scr_entry* e;
  int        rc;

  if (f->d->scheme == SCR_SCHEME_SINGLE) x.record_crc = 0; /* no bytes pass once more: the copy takes the checksums */
  f->desc.complete = 0;
  if ((rc = scr_agree(scr_cache_enter(f->d, &f->desc, f->desc.preserve), scr.world.comm)) != SCR_SUCCESS) return rc;
  rc = scr_agree(scr_flow(scr.fetch_width, scr_fetch_copy, f, scr.world.comm), scr.world.comm);
  if (rc != SCR_SUCCESS) return rc;
  e = scr_filemap_find(&scr.map, &f->desc.identity, scr.world.rank);
  f->desc.complete = e->desc.complete = 1;
  if ((rc = scr_agree(scr_encode_protect(&x, 1, &e), scr.world.comm)) != SCR_SUCCESS) return rc;
  e->verified = 1;
  return scr_agree(scr_map_write(), scr.world.comm);
}

/* ---- read in place ---- */

/*
** Write the directory of the names of F, so that each rank can look up any file by itself: each rank sends its objects
** to the ranks that write the buckets of their paths.  Returns the number of buckets, the same everywhere; 0 if they
** could not be written.  Collective over the world.
*/
SCR_FN int scr_read_write_names(const scr_fetching* f)
{
  scr_hash *send = scr_hash_new(), *all = scr_hash_new();
  scr_vote  v;
  int       i, buckets, rc, err;

  if (scr.world.rank == 0) scr_prefix_remove_meta(scr.world.prefix, f->place.meta, ".names");
  rc = scr_objects_to_hash(&f->objects, scr.world.prefix, "", all);
  memset(&v, 0, sizeof v);
  v.sum[0] = (int64_t)scr_hash_pack_size(all);
  rc = scr_vote_all(&v, rc, scr.world.comm);
  buckets = 1 + (int)(v.sum[0] / (int64_t)scr.rank2file_size);
  scr_hash_unset_all(all);
  for (i = 0; i < f->objects.n && rc == SCR_SUCCESS; i++) {
    scr_objects one = {f->id, 1, 1, f->objects.object + i, &f->objects.object[i].owner};
    int         bucket = scr_names_bucket(one.object->rel, buckets);
    if (!one.object->redundant)
      rc = scr_objects_to_hash(&one, scr.world.prefix, "",
                               scr_hash_setf(send, NULL, "%d %d", bucket % scr.world.ranks, bucket));
  }
  if ((err = scr_hash_exchange_merged(send, all, scr.world.comm)) != SCR_SUCCESS && rc == SCR_SUCCESS) rc = err;
  for (i = scr.world.rank; i < buckets && rc == SCR_SUCCESS; i += scr.world.ranks)
    rc = scr_names_write(scr.world.prefix, &f->place, i, scr_hash_setf(all, NULL, "%d", i));
  rc = scr_agree(rc, scr.world.comm);
  if (rc != SCR_SUCCESS && scr.world.rank == 0) {
    scr_warn("%s; SCR_Route_file searches the whole map of the dataset instead", scr_err_text);
    scr_prefix_remove_meta(scr.world.prefix, f->place.meta, ".names");
  }
  scr_hash_delete(&send);
  scr_hash_delete(&all);
  return rc == SCR_SUCCESS ? buckets : 0;
}

/*
** The path in the store of D of a file that was taken out of containers: REL, below the directory of dataset 0, which
** no dataset has, and of the nonce of the dataset.
*/
SCR_FN int scr_read_place(const scr_reddesc* d, const char* rel, char* path)
{
  char below[SCR_MAX_FILENAME];
  int  rc = scr_fmt(below, sizeof below, "%016" PRIx64 "/%s", scr.reading.desc.identity.nonce, rel);

  return rc == SCR_SUCCESS ? scr_home_path(&scr.world.home, d, 0, below, path, SCR_MAX_FILENAME) : rc;
}

/* Remove what was taken out of containers, also by a run that was killed.  Every rank calls it. */
SCR_FN void scr_read_clear(void)
{
  scr_hash_elem* e;
  char           path[SCR_MAX_FILENAME];
  int            i;

  for (i = 0; i < scr.world.nreds; i++) {
    const scr_reddesc* d = &scr.world.red[i];
    for (e = scr_hash_elem_first(scr.reading.asked); e != NULL && !d->can_mkdir; e = scr_hash_elem_next(e))
      if (scr_read_place(d, scr_hash_elem_key(e), path) == SCR_SUCCESS) scr_os.unlink(path);
    if (scr.world.group[SCR_GROUP_NODE].rank == 0) scr_cache_clear_place(d, 0);
  }
}

/*
** Remove what was made to read a checkpoint in place: the directory of its names, and files that were taken out of
** containers.  Every rank calls it, when no rank routes files any more.
*/
SCR_FN void scr_read_close(void)
{
  scr_reading*   r = &scr.reading;
  scr_dataset*   ds = scr_dataset_find(r->id);
  scr_err_record why;

  if (r->id == 0) return;
  scr_err_save(&why);
  if (scr.world.rank == 0 && r->buckets > 0) scr_prefix_remove_meta(scr.world.prefix, r->place.meta, ".names");
  scr_read_clear();
  if (ds != NULL && !scr_dataset_is_cached(ds)) scr_dataset_remove(r->id);
  scr_hash_delete(&r->asked);
  scr_objects_free(&r->own);
  scr_objects_free(&r->names);
  memset(r, 0, sizeof *r);
  scr_err_restore(&why);
}

/*
** Let the application read the dataset of F where it is on the prefix, in DIR; its state is then LIFE.  All files are
** read and compared with the map first.  What the cache has of it stays only if that is whole.  Collective over the
** world; the same code everywhere.
*/
SCR_FN int scr_read_open(scr_fetching* f, const char* dir, scr_life life)
{
  scr_reading* r = &scr.reading;
  scr_dataset* ds;
  int          rc = scr_agree(scr_flow(scr.fetch_width, scr_fetch_prove, f, scr.world.comm), scr.world.comm);

  if (rc != SCR_SUCCESS) return rc;
  scr_read_close();
  ds = scr_dataset_find(f->id);
  if (ds != NULL && (!scr_dataset_is_whole(ds) || scr_identity_differs(&ds->desc.identity, &f->desc.identity))) {
    if ((rc = scr_agree(scr_cache_delete(f->id, 0), scr.world.comm)) != SCR_SUCCESS) return rc;
    ds = NULL;
  }
  if (ds == NULL) {
    if ((rc = scr_agree(scr_dataset_add(&f->desc, "", life), scr.world.comm)) != SCR_SUCCESS) return rc;
    scr_change_on_prefix(scr_dataset_find(f->id), SCR_PREFIX_YES, dir);
  }
  r->id = f->id;
  r->place = f->place;
  r->desc = f->desc;
  r->files = f->files;
  r->bucket = -1;
  scr_read_clear(); /* before other ranks come to what follows */
  r->buckets = scr_read_write_names(f);
  r->own = f->objects;
  r->asked = scr_hash_new();
  memset(&f->objects, 0, sizeof f->objects);
  scr_dbg(1, "dataset %d %s, which %d ranks wrote, is read in place, in %s/%s", f->id, scr_desc_name(&f->desc),
          f->desc.ranks, scr.world.prefix, dir);
  return SCR_SUCCESS;
}

/* A file that is looked for in the dataset that is read in place. */
typedef struct {
  const char* rel;  /* its path below the prefix */
  char*       file; /* receives the path at which it can be read; SCR_MAX_FILENAME bytes */
  int         found;
} scr_read_wanted;

/* Take O, which is packed, out of its containers into the cache, unless this run has it there; FILE is its path. */
SCR_FN int scr_read_extract(const scr_object* o, char* file)
{
  const scr_reddesc* d = scr_reddesc_for_dataset(&scr.world, scr.checkpoint_id, SCR_FLAG_CHECKPOINT);
  char               tmp[SCR_MAX_FILENAME], dir[SCR_MAX_FILENAME];
  uint64_t           is = 0, free_bytes;
  int                rc = scr_read_place(d, o->rel, file);

  if (rc == SCR_SUCCESS) rc = scr_fmt(tmp, sizeof tmp, "%s.scr0.%d.tmp", file, scr.world.rank);
  if (rc != SCR_SUCCESS) return rc;
  if (scr_file_size(file, &is) == SCR_SUCCESS && is == o->size) return SCR_SUCCESS;
  if (scr_room_free(d->store, &free_bytes) && o->size > free_bytes)
    return SCR_ERR(SCR_ERR_SPACE,
                   "%s has room for %" PRIu64 " bytes, but %s, which is in a container, has %" PRIu64 "; free some, "
                   "set SCR_CACHE_BASE, or extract it with scr_index --extract",
                   d->store, free_bytes, o->rel, o->size);
  rc = scr_home_mkdir(&scr.world.home, d, 0);
  if (rc == SCR_SUCCESS && d->can_mkdir) rc = scr_path_dir_of(file, dir, sizeof dir);
  if (rc == SCR_SUCCESS && d->can_mkdir) rc = scr_mkdirs(dir, 0700);
  if (rc == SCR_SUCCESS) rc = scr_home_claim(d, tmp);
  if (rc == SCR_SUCCESS) rc = scr_object_copy(o, scr.world.prefix, scr.reading.id, tmp, 0600);
  if (rc == SCR_SUCCESS && scr_os.rename(tmp, file) < 0) rc = SCR_ERRNO("cannot rename %s", tmp);
  return rc;
}

/* Give ARG, a wanted file, its path if it is one of L. */
SCR_FN int scr_read_visit(const scr_objects* l, void* arg)
{
  scr_read_wanted* w = (scr_read_wanted*)arg;
  uint64_t         is = 0;
  int              i, rc = SCR_SUCCESS;

  for (i = 0; i < l->n && !w->found; i++) {
    const scr_object* o = &l->object[i];
    if (o->redundant || strcmp(o->rel, w->rel) != 0) continue;
    w->found = 1;
    if (o->packed.n > 0) return scr_read_extract(o, w->file);
    rc = scr_object_path(o, scr.world.prefix, l->id, 0, w->file, SCR_MAX_FILENAME);
    if (rc == SCR_SUCCESS) rc = scr_file_size(w->file, &is);
    if (rc == SCR_SUCCESS && is != o->size)
      rc = SCR_ERR(SCR_ERR_MISSING, "%s has %" PRIu64 " bytes now, not %" PRIu64 ": it was changed", w->file, is,
                   o->size);
  }
  return rc;
}

/* The path below the prefix of the only file of this rank's share that is called NAME, or NULL. */
SCR_FN const char* scr_read_called(const char* name)
{
  const char* found = NULL;
  int         i;

  for (i = 0; i < scr.reading.own.n; i++) {
    const scr_object* o = &scr.reading.own.object[i];
    const char*       last = strrchr(o->rel, '/');
    if (o->redundant || strcmp(last != NULL ? last + 1 : o->rel, name) != 0) continue;
    if (found != NULL) return NULL;
    found = o->rel;
  }
  return found;
}

/* Make r->names the objects of BUCKET. */
SCR_FN int scr_read_names(scr_reading* r, int bucket)
{
  int rc;

  if (bucket == r->bucket) return SCR_SUCCESS;
  scr_objects_free(&r->names);
  rc = scr_names_read(scr.world.prefix, &r->place, bucket, r->id, &r->names);
  r->bucket = rc == SCR_SUCCESS ? bucket : -1;
  return rc;
}

/*
** Find the file NAME of the dataset that is read in place, whichever rank wrote it: REL is its path below the prefix,
** "" if it is not below.  A NAME without a directory is also that of a file of this rank, if as many ranks wrote the
** dataset.  FILE receives the path at which it can be read.  SCR_ERR_NOT_FOUND if there is no such file.
*/
SCR_FN int scr_read_find(const char* name, const char* rel, char* file)
{
  scr_reading*    r = &scr.reading;
  scr_read_wanted w = {NULL, file, 0};
  char            whole[SCR_MAX_FILENAME];
  int             ranks, rc = SCR_SUCCESS;

  if (r->desc.preserve || !*r->place.base || !*rel) rc = scr_fmt(whole, sizeof whole, "%s", rel);
  else rc = scr_fmt(whole, sizeof whole, "%s/%s", r->place.base, rel);
  w.rel = whole;
  if (rc == SCR_SUCCESS) rc = scr_read_visit(&r->own, &w);
  if (rc == SCR_SUCCESS && !w.found && *rel) {
    if (r->buckets > 0) {
      rc = scr_read_names(r, scr_names_bucket(whole, r->buckets));
      if (rc == SCR_SUCCESS) rc = scr_read_visit(&r->names, &w);
    } else rc = scr_rank2file_walk(scr.world.prefix, &r->place, &r->desc.identity, &ranks, scr_read_visit, &w);
  }
  if (rc == SCR_SUCCESS && !w.found && r->desc.ranks == scr.world.ranks && (w.rel = scr_read_called(name)) != NULL)
    rc = scr_read_visit(&r->own, &w);
  if (rc == SCR_SUCCESS && !w.found)
    return SCR_ERR(SCR_ERR_NOT_FOUND, "%s is not a file of the loaded checkpoint, which %d ranks wrote", name,
                   r->desc.ranks);
  if (rc == SCR_SUCCESS) scr_hash_setf(r->asked, NULL, "%s", w.rel);
  return rc == SCR_SUCCESS && scr_oom ? SCR_ERR_OOM() : rc;
}

/* Returns 1 if another number of ranks wrote what is read in place, and SCR_Complete_restart has not accepted it. */
SCR_FN int scr_read_is_foreign(void)
{
  const scr_reading* r = &scr.reading;
  return r->id != 0 && !r->accepted && r->desc.ranks != scr.world.ranks;
}

/*
** The application goes on from the checkpoint that is read in place.  If another number of ranks wrote it, that is an
** error unless it asked how many, or some rank has asked for each of its files: a program that is not prepared for that
** would go on with a part.  IF_ANY: no error if no rank has asked for a file.  Collective over the world; the same code
** everywhere.
*/
SCR_FN int scr_read_accept(int if_any)
{
  enum { FILES, KNOWN }; /* sum */
  scr_reading*   r = &scr.reading;
  scr_hash *     send, *all;
  scr_hash_elem* e;
  scr_vote       v;
  int            rc;

  if (!scr_read_is_foreign()) return SCR_SUCCESS;
  send = scr_hash_new();
  all = scr_hash_new();
  for (e = scr_hash_elem_first(r->asked); e != NULL; e = scr_hash_elem_next(e))
    scr_hash_spread(send, scr_hash_elem_key(e), "FILE", scr.world.comm);
  rc = scr_hash_exchange_merged(send, all, scr.world.comm);
  memset(&v, 0, sizeof v);
  v.sum[FILES] = scr_hash_size(scr_hash_get(all, "FILE"));
  v.sum[KNOWN] = r->ranks_asked;
  rc = scr_vote_all(&v, rc, scr.world.comm);
  scr_hash_delete(&send);
  scr_hash_delete(&all);
  if (rc != SCR_SUCCESS) return rc;
  if (v.sum[KNOWN] == 0 && v.sum[FILES] < r->files && !(if_any && v.sum[FILES] == 0))
    return SCR_ERR(SCR_ERR_STATE,
                   "the program goes on from %s with %lld of its %d files: %d ranks wrote it, and this run has %d; a "
                   "program that can do that asks SCR_Restart_ranks, and others set SCR_RESTART_RANKS=same",
                   scr_desc_name(&r->desc), (long long)v.sum[FILES], r->files, r->desc.ranks, scr.world.ranks);
  r->accepted = 1;
  return SCR_SUCCESS;
}

/* ---- either ---- */

/*
** Copy the dataset of F from DIR into the cache; its state is then LIFE.  *IN_PLACE becomes 1 if it is too large, and
** is read in place instead.  Collective over the world; the same code everywhere.
*/
SCR_FN int scr_fetch_into_cache(scr_fetching* f, const char* dir, scr_life life, int* in_place)
{
  int rc, too_large = 0;

  f->d = scr_reddesc_for_dataset(&scr.world, f->desc.ckpt, SCR_FLAG_CHECKPOINT);
  if ((rc = scr_fetch_prepare(f, &too_large)) != SCR_SUCCESS) return rc;
  if (too_large && f->d->bypass != 0) {
    if (scr.world.rank == 0)
      scr_warn("%s is too small for %s, which is read where it is on the prefix", f->d->store, scr_desc_name(&f->desc));
    scr.other_bytes = f->desc.bytes / (uint64_t)scr.world.ranks; /* and so may be the next one */
    *in_place = 1;
    return scr_read_open(f, dir, life);
  }
  rc = scr_fetch_run(f);
  if (rc == SCR_SUCCESS) rc = scr_agree(scr_dataset_add(&f->desc, f->d->store, life), scr.world.comm);
  if (rc == SCR_SUCCESS) scr_change_on_prefix(scr_dataset_find(f->id), SCR_PREFIX_YES, dir);
  else scr_cache_delete_local(f->id);
  return rc;
}

/*
** Copy dataset ID in DIR from the prefix into the cache and protect it there; its state is then LIFE.  A dataset of
** another number of ranks, or any with SCR_FETCH_BYPASS or SCR_GLOBAL_RESTART, stays on the prefix, where the
** application reads it.  Collective over the world; the same code everywhere.  On an error the cache has nothing of it
** that was not there before.
*/
SCR_FN int scr_fetch(int id, const char* dir, scr_life life)
{
  scr_fetching f;
  double       start = scr_wtime(), seconds;
  int          in_place = 0, rc;

  memset(&f, 0, sizeof f);
  f.id = id;
  scr_event("FETCH_START", dir, NULL, -1.0);
  rc = scr_fetch_summary(&f, dir);
  if (rc == SCR_SUCCESS) rc = scr_fetch_objects(&f, dir);
  if (rc == SCR_SUCCESS) {
    f.desc.identity.id = f.objects.id = id;
    in_place = f.desc.ranks != scr.world.ranks || f.desc.shared || scr.fetch_bypass || scr.global_restart;
    rc = in_place ? scr_read_open(&f, dir, life) : scr_fetch_into_cache(&f, dir, life, &in_place);
  }
  seconds = scr_wtime() - start;
  if (rc != SCR_SUCCESS) {
    scr_event("FETCH_FAIL", scr_err_text, NULL, seconds);
  } else if (!in_place) {
    scr_dbg(1, "fetch of dataset %d %s: %" PRIu64 " bytes in %.3f s, %.1f MB/s", id, scr_desc_name(&f.desc),
            f.desc.bytes, seconds, (double)f.desc.bytes / 1e6 / (seconds + 1e-9));
    scr_event("FETCH_SUCCESS", dir, &f.desc, seconds);
    scr_event_transfer("FETCH", dir, f.d->store, &f.desc, seconds);
  }
  scr_objects_free(&f.objects);
  return rc;
}

/* ==== 25 RESTART CHOICE =================================================================================
** Which checkpoint is offered to the application.  Rank 0 applies this rule in scr_restart_candidate, from the states
** of part 18, the index, and the user's choice:
**
**   1. If the user asks for a name (SCR_Current, SCR_CURRENT): the newest checkpoint with this name of which cache or
**      index have all files; else the newest in the directory of this name in the index.
**   2. Else, if the user chose CURRENT: that one, unless a checkpoint that was written after it was served is WHOLE.
**      If it cannot be loaded, none that is newer is offered in its place.
**   3. Else the newest checkpoint that is WHOLE in the cache, or good in the index and not passed over.
**   4. Else the newest one that the application rejected, but only in other jobs (REJECTED_BEFORE).
**   5. If cache and index have the same dataset, it is used from the cache.  Without SCR_FETCH only the cache counts.
**   6. If one is rejected, or cannot be loaded, the search goes on below it by the rules 3 and 4; but not if it is
**      whole in the cache, and only the prefix, on which it is to be read, cannot take it.
**      If none is left although complete ones exist, SCR_Have_restart and SCR_Start_output return an error, until a
**      fresh start is asked for.
**   7. A fresh start offers nothing but what the user chooses.
**
** Uses       errors, memory, parameters, dataset, prefix, MPI helpers, state, asynchronous flush, room and fetch
** Offers     scr_work_is_at_stake, scr_refuse_fresh_start, scr_restart_is_native, scr_restart_record_served,
**            scr_restart_choice_served, scr_restart_load, scr_restart_choose, scr_restart_choose_by_parameter,
**            scr_restart_wish_is_rejected, scr_restart_begin_anew
** Invariants
**   Z1  A value of SCR_CURRENT or SCR_FRESH_START is served once in a job: the index records the value and the job.
**   Z2  The user's choice holds until a run has served it and completed a newer checkpoint.
** Failure    A checkpoint that cannot be loaded is no error; scr.tried has the reason.
** ====================================================================================================== */

/* Returns 1 if complete checkpoints exist that could not be loaded, so that a fresh start would lose work. */
SCR_FN int scr_work_is_at_stake(void)
{
  int i;

  for (i = 0; i < scr.datasets; i++) {
    const scr_dataset* ds = &scr.dataset[i];
    if (scr_desc_is_ckpt(&ds->desc) && (ds->life == SCR_REJECTED || scr_dataset_is_missed(ds))) return 1;
  }
  return scr.damaged_maps > 0 || scr.prefix_at_stake;
}

/* The error of a run that may not start from the beginning; the same on every rank. */
SCR_FN int scr_refuse_fresh_start(void)
{
  return SCR_ERR(
      SCR_ERR_NO_RESTART,
      "complete checkpoints exist, but none could be loaded: %.*s. Fix the cause and start again; or choose "
      "one that can be reached with scr_index --current <name>, or with SCR_CURRENT=<name>, which counts once in "
      "a job; or set SCR_FRESH_START=%d to start from the beginning without them",
      (int)scr.tried.n, scr.tried.n ? scr.tried.p : "", scr.fresh_served + 1);
}

/* The next checkpoint to try, which rank 0 sends to all ranks. */
typedef struct {
  int      id; /* 0 if none is left */
  int      cached;
  int      rejected; /* 1: the application rejected it in another job */
  int      by_user;
  int      limit;          /* id of the user's choice, which no run has served; 0: there is none */
  int      no_fetch;       /* 1: SCR_FETCH=0 */
  int      missing_choice; /* 1: neither the cache nor a fetch can give the user's choice */
  int      at_stake;       /* 1: the index has complete checkpoints, or cannot be read */
  int      damaged;        /* 1: the index cannot be read */
  char     dir[SCR_MAX_FILENAME];
  char     why[1024];            /* why none is left, apart from those that were tried */
  char     newest[256];          /* name of the newest checkpoint on the prefix; "" for none */
  char     choice[256];          /* name or directory of the user's choice */
  char     passed[256];          /* name of the newest checkpoint that was passed over for a choice; "" for none */
  char     rejected_names[1024]; /* what this job has rejected of those that only the prefix has */
  scr_lost lost;
  int      fresh_served; /* the wish of a fresh start that this job has served; or 0 */
} scr_candidate;

/* The newest checkpoint in the state LIFE with an id between ABOVE and BELOW, both excluded; 0 if there is none. */
SCR_FN int scr_restart_cached(scr_life life, int above, int below)
{
  int i, id = 0;

  for (i = 0; i < scr.datasets; i++) {
    const scr_dataset* ds = &scr.dataset[i];
    if (ds->life == life && ds->desc.ckpt > 0 && ds->desc.identity.id > above && ds->desc.identity.id < below)
      id = ds->desc.identity.id;
  }
  return id;
}

/* Make C->rejected_names a text about the checkpoints that only the prefix has and this job has rejected. */
SCR_FN void scr_restart_name_rejected(const scr_index* index, scr_candidate* c)
{
  scr_index_item it;
  size_t         n = 0;

  memset(&it, 0, sizeof it);
  while (scr_index_walk(index, &it) && n < sizeof c->rejected_names - 200)
    if (scr_dataset_find(it.id) == NULL && it.complete && !it.passed &&
        scr_index_failed_in(index, &it, scr.world.job_key))
      n += (size_t)snprintf(c->rejected_names + n, sizeof c->rejected_names - n,
                            "%sthe application rejected %.100s (dataset %d) in this job", n > 0 ? "; " : "",
                            *it.desc.name ? it.desc.name : it.dir, it.id);
}

/*
** Newer checkpoints were passed over for a choice of the user: if nothing can be loaded, they are work at stake.
** What a fresh start has cut off is not.
*/
SCR_FN void scr_restart_stake_passed(const scr_index* index, int fetch, scr_candidate* c)
{
  int            i, id = 0, cut = scr_index_cut_id(index);
  scr_index_item it;
  const char*    name = "";

  memset(&it, 0, sizeof it);
  while (fetch && scr_index_walk(index, &it)) {
    if (it.id <= cut || it.id < id || !it.passed || !it.complete || !scr_desc_is_ckpt(&it.desc)) continue;
    id = it.id;
    snprintf(c->passed, sizeof c->passed, "%.200s", *it.desc.name ? it.desc.name : it.dir);
  }
  for (i = 0; i < scr.datasets; i++) {
    const scr_dataset* ds = &scr.dataset[i];
    if (ds->life != SCR_PASSED || ds->desc.ckpt <= 0 || ds->desc.identity.id <= cut || ds->desc.identity.id <= id)
      continue;
    id = ds->desc.identity.id;
    name = scr_desc_name(&ds->desc);
  }
  if (*name) snprintf(c->passed, sizeof c->passed, "%.200s", name);
  if (id > 0) c->at_stake = 1;
}

/*
** Fill in C what is on the prefix and whether work is at stake; RC is the result of reading the index.  Without FETCH
** the application reads the prefix itself.
*/
SCR_FN void scr_restart_stake(const scr_index* index, int rc, int fetch, scr_candidate* c)
{
  scr_index_item it;
  int            n = scr_index_count_complete(index);

  if (rc != SCR_SUCCESS) { /* a damaged index must not stop a restart from the cache */
    snprintf(
        c->why, sizeof c->why,
        "%.800s; without the index no checkpoint on the prefix can be found; scr_index --build makes a new one from "
        "what is there",
        scr_err_text);
    c->damaged = 1;
  } else if (n > 0) {
    snprintf(c->why, sizeof c->why, "of the %d complete checkpoints in the index of %.600s none can be used", n,
             scr.world.prefix);
    scr_restart_name_rejected(index, c);
  }
  c->no_fetch = !fetch;
  c->at_stake = fetch && *c->why;
  if (rc == SCR_SUCCESS) scr_restart_stake_passed(index, fetch, c);
  c->lost = scr.lost;
  if (!fetch && n > 0) c->lost.at_stake = 0;
  if (scr_index_newest(index, INT_MAX, NULL, &it) == SCR_SUCCESS)
    snprintf(c->newest, sizeof c->newest, "%.200s", scr_desc_name(&it.desc));
  c->fresh_served = scr_index_last_served(index, "SCR_FRESH_START", scr.world.job_key);
}

/*
** Rule 1: the id of NAME in *ID.  IT is its item, with id 0 if it comes from the cache.  SCR_ERR_NOT_FOUND if it is
** nowhere.  Rank 0 only.
*/
SCR_FN int scr_restart_by_name(const scr_index* index, const char* name, int fetch, int* id, scr_index_item* it)
{
  const scr_dataset* ds = scr_dataset_named(name);

  *id = ds != NULL ? ds->desc.identity.id : 0;
  if (fetch && scr_index_named_ckpt(index, name, it) == SCR_SUCCESS &&
      (ds == NULL || (scr_identity_cmp(&it->desc.identity, &ds->desc.identity) > 0 && it->complete &&
                      scr_desc_is_ckpt(&it->desc) && strcmp(it->desc.name, name) == 0))) {
    *id = it->id;
    return SCR_SUCCESS;
  }
  memset(it, 0, sizeof *it);
  if (ds != NULL) return SCR_SUCCESS;
  return SCR_ERR(SCR_ERR_NOT_FOUND, "the checkpoint %s is not in the cache%s", name,
                 fetch ? " or in the index; scr_index --list lists those on the prefix"
                       : ", and SCR_FETCH=0 keeps it from being fetched");
}

/*
** Rule 2: the id of the user's choice, if it is below BELOW, else 0; IT as above.  *LIMIT becomes the id of the choice
** while it stands, else INT_MAX.  Rank 0 only.
*/
SCR_FN int scr_restart_by_choice(const scr_index* index, const scr_choice* c, int below, int fetch, int* limit,
                                 scr_index_item* it)
{
  const scr_dataset* ds;

  *limit = INT_MAX;
  if (!c->by_user || (c->until > 0 && scr_restart_cached(SCR_WHOLE, c->until - 1, below))) return 0;
  if (scr_index_current(index, it)) *limit = it->id;
  else if (c->id > 0) *limit = c->id;
  ds = scr_dataset_find(*limit);
  if (*limit < below && it->id != 0 && fetch) return it->id;
  if (ds != NULL && (it->id == 0 ? strcmp(scr_desc_name(&ds->desc), c->dir) != 0
                                 : scr_identity_differs(&ds->desc.identity, &it->desc.identity)))
    ds = NULL;
  memset(it, 0, sizeof *it);
  return *limit < below && scr_dataset_is_whole(ds) ? *limit : 0;
}

/*
** Rules 3 and 4: the same for the newest checkpoint below TOP that FROM leaves; FROM goes on to the rejected ones.
** Rank 0 only.
*/
SCR_FN int scr_restart_newest(const scr_index* index, scr_search* from, int top, int fetch, scr_index_item* it)
{
  for (;; from->rejected = 1, from->below = INT_MAX) {
    int         below = from->below < top ? from->below : top;
    int         id = scr_restart_cached(from->rejected ? SCR_REJECTED_BEFORE : SCR_WHOLE, 0, below);
    const char* job = from->rejected ? scr.world.job_key : NULL;
    while (fetch && scr_index_newest(index, below, job, it) == SCR_SUCCESS && it->id > id) {
      const scr_dataset* ds = scr_dataset_find(it->id); /* what has been decided about the copy in the cache counts */
      if (!scr_dataset_is_whole(ds) || scr_identity_differs(&ds->desc.identity, &it->desc.identity)) return it->id;
      below = it->id;
    }
    memset(it, 0, sizeof *it);
    if (id != 0 || from->rejected) return id;
  }
}

/* Apply the rule above to NAME, which may be NULL, and to what FROM leaves.  Rank 0 only. */
SCR_FN int scr_restart_candidate(scr_search from, const char* name, scr_candidate* c)
{
  scr_index          index;
  scr_index_item     it;
  scr_choice         choice;
  const scr_dataset* ds;
  int                fetch = 1, limit = INT_MAX, rc = scr_index_read(&index, scr.world.prefix);

  memset(c, 0, sizeof *c);
  memset(&it, 0, sizeof it); /* the candidate on the prefix; it.id is 0 if it comes from the cache */
  scr_param_int(scr.world.params, "SCR_FETCH", &fetch);
  scr_restart_stake(&index, rc, fetch, c);
  scr_choice_read(&index, &choice);
  rc = SCR_SUCCESS;
  if (name != NULL) {
    rc = scr_restart_by_name(&index, name, fetch, &c->id, &it);
  } else {
    c->id = scr_restart_by_choice(&index, &choice, from.below, fetch, &limit, &it);
    c->missing_choice = c->id == 0 && limit < from.below && !from.rejected;
    if (c->missing_choice && scr_restart_cached(SCR_WHOLE, 0, INT_MAX)) c->at_stake = 1; /* what is not offered */
    snprintf(c->choice, sizeof c->choice, "%.200s", choice.dir);
    if (choice.until == 0 && limit != INT_MAX) c->limit = limit;
  }
  c->by_user = c->id != 0 && (name != NULL || c->limit > 0);
  if (name == NULL && c->id == 0 && !scr.fresh_start) c->id = scr_restart_newest(&index, &from, limit, fetch, &it);
  c->rejected = from.rejected;
  ds = scr_dataset_find(c->id);
  if (scr_dataset_is_whole(ds) && scr_dataset_is_cached(ds))
    c->cached = it.id == 0 || !scr_identity_differs(&ds->desc.identity, &it.desc.identity);
  if (!c->cached && it.id != 0 && rc == SCR_SUCCESS) rc = scr_fmt(c->dir, sizeof c->dir, "%s", it.dir);
  return scr_index_close(&index, rc, 0);
}

/* Make checkpoint ID the loaded one; later datasets get higher ids.  Every rank calls it. */
SCR_FN void scr_restart_loaded(int id)
{
  const scr_dataset* ds = scr_dataset_find(id);

  scr.loaded = id;
  scr.restart = SCR_RESTART_LOADED;
  scr.checkpoint_id = ds->desc.ckpt;
  scr_dbg(1, "checkpoint %s (dataset %d) is loaded", scr_desc_name(&ds->desc), id);
}

/*
** Record in the index that C was fetched, or could not be.  A dataset of another release that could not be read is left
** alone: its index stays as that release wrote it.  Rank 0 only.
*/
SCR_FN void scr_restart_note_fetch(const scr_candidate* c, int fetched)
{
  scr_index      index;
  scr_index_item it;
  scr_err_record why;
  int            ours, rc;

  scr_err_save(&why);
  rc = scr_index_open(&index, scr.world.prefix);
  ours = scr_index_get(&index, c->id, c->dir, &it) && it.desc.identity.nonce != 0;
  if (fetched) scr_index_note_fetched(&index, c->id, c->dir);
  else scr_index_note_attempt(&index, c->id, c->dir);
  if (scr_index_close(&index, rc, fetched || ours) != SCR_SUCCESS) scr_warn("%s", scr_err_text);
  scr_err_restore(&why);
}

/* Set c->dir to the directory on the prefix of the candidate C, which was flushed.  Rank 0 only. */
SCR_FN int scr_restart_find_flushed(scr_candidate* c)
{
  scr_index      index;
  scr_index_item it;
  int            rc = scr_index_read(&index, scr.world.prefix);

  if (rc == SCR_SUCCESS && !scr_index_same(&index, &scr_dataset_find(c->id)->desc.identity, &it))
    rc = SCR_ERR(SCR_ERR_NOT_FOUND, "the index does not have it");
  if (rc == SCR_SUCCESS) rc = scr_fmt(c->dir, sizeof c->dir, "%s", it.dir);
  return scr_index_close(&index, rc, 0);
}

/* Returns 1 if DS can be read in the cache: as many ranks wrote it, and the application does not want the prefix. */
SCR_FN int scr_restart_is_native(const scr_dataset* ds)
{
  return scr_dataset_is_whole(ds) && scr_dataset_is_cached(ds) && ds->desc.ranks == scr.world.ranks &&
         !scr.global_restart;
}

/*
** The cache has the candidate C.  If another number of ranks wrote it, or the application reads only the prefix, bring
** it there, and let it be read in place.  Collective over the world; the same code everywhere.
*/
SCR_FN int scr_restart_from_cache(scr_candidate* c)
{
  int again = 0, rc = SCR_SUCCESS;

  if (scr_restart_is_native(scr_dataset_find(c->id))) return SCR_SUCCESS;
  do {
    if (again) { /* the copy on the prefix is damaged, but the cache is whole */
      if (scr.world.rank == 0 && scr_index_change(scr.world.prefix, scr_index_remove, c->id, c->dir) != SCR_SUCCESS)
        scr_warn("%s", scr_err_text);
      scr_change_on_prefix(scr_dataset_find(c->id), SCR_PREFIX_DROPPED, NULL);
    }
    rc = scr_flush_sync(c->id, c->by_user);
    if (rc == SCR_SUCCESS) rc = scr_agree(scr.world.rank == 0 ? scr_restart_find_flushed(c) : rc, scr.world.comm);
    if (rc == SCR_SUCCESS) rc = scr_bcast(c->dir, (int)sizeof c->dir, MPI_CHAR, 0, scr.world.comm);
    if (rc == SCR_SUCCESS) rc = scr_fetch(c->id, c->dir, scr_dataset_find(c->id)->life);
  } while (!again++ && scr_err_is_damage(rc) && scr_dataset_find(c->id)->on_prefix == SCR_PREFIX_YES);
  if (rc == SCR_SUCCESS) return rc;
  scr.prefix_at_stake = 1;
  scr_tried_add("dataset %d in the cache cannot be read on the prefix by this run: %s", c->id, scr_err_text);
  return rc;
}

/* Fetch the candidate C.  Collective over the world; the same code everywhere. */
SCR_FN int scr_restart_fetch(const scr_candidate* c)
{
  int rc = scr_fetch(c->id, c->dir, c->rejected ? SCR_REJECTED_BEFORE : SCR_WHOLE);

  if (scr.world.rank == 0) scr_restart_note_fetch(c, rc == SCR_SUCCESS);
  if (rc == SCR_SUCCESS) return rc;
  scr.prefix_at_stake = 1;
  scr_tried_add("dataset %d in %s/%s cannot be fetched: %s", c->id, scr.world.prefix, c->dir, scr_err_text);
  return rc; /* the next run tries it again: what was not there may be there then */
}

/*
** Record in the index that the choice SERVE_ID is served; until that is done, the next run would go back to it again,
** over the work of this one.  Rank 0 only.
*/
SCR_FN int scr_restart_record_served(void)
{
  scr_index      index;
  scr_index_item it;
  int            changed, rc = scr_index_open(&index, scr.world.prefix);

  changed =
      rc == SCR_SUCCESS && scr_index_serve_choice(&index, scr.serve_id,
                                                  scr_index_current(&index, &it) && it.id == scr.serve_id ? it.dir : "",
                                                  scr.serve_until, scr.drop_after);
  rc = scr_index_close(&index, rc, changed);
  if (rc == SCR_SUCCESS) scr.serve_id = 0;
  else
    rc = SCR_ERR(rc,
                 "%.*s; until the index can be written, each run goes back to the checkpoint that the user chose, "
                 "without what was written after it",
                 scr_err_length, scr_err_text);
  return rc;
}

/*
** The user's choice, checkpoint ID, is loaded, or the run goes on after it: the index says that it is served, and
** that what is written from now on is newer.  Nothing is held against it any more, and newer checkpoints are PASSED,
** in the cache and in the index, so that no restart offers them.  The error of an index that cannot be written; then
** each checkpoint that is completed tries it again.  Collective over the world; the same code everywhere.
*/
SCR_FN int scr_restart_choice_served(int id)
{
  const scr_dataset* chosen = scr_dataset_find(id);
  scr_err_record     why;
  int*               ids = (int*)scr_malloc((size_t)(scr.datasets + 1) * sizeof *ids);
  int                i, record = SCR_SUCCESS, n = 0;
  int                rc = scr_agree(ids == NULL ? SCR_ERR_OOM() : SCR_SUCCESS, scr.world.comm);

  scr_err_save(&why);
  if (rc == SCR_SUCCESS) {
    scr.serve_id = id;
    scr.serve_until = scr.dataset_id + 1;
    record = scr_agree(scr.world.rank == 0 ? scr_restart_record_served() : SCR_SUCCESS, scr.world.comm);
    if (record == SCR_SUCCESS) scr.serve_id = 0;
    scr_err_save(&why);
  }
  for (i = 0; i < scr.datasets && rc == SCR_SUCCESS && record == SCR_SUCCESS && scr.drop_after; i++) {
    scr_dataset* ds = &scr.dataset[i];
    if (ds->desc.identity.id > id && (ds->on_prefix == SCR_PREFIX_YES || ds->on_prefix == SCR_PREFIX_RENAMING))
      scr_change_on_prefix(ds, SCR_PREFIX_DROPPED, NULL);
  }
  for (i = 0; i < scr.datasets && rc == SCR_SUCCESS; i++) {
    const scr_dataset* ds = &scr.dataset[i];
    if (ds->desc.identity.id > id && ds->desc.ckpt > 0 && scr_life_leads(ds->life, SCR_PASSED))
      ids[n++] = ds->desc.identity.id;
  }
  if (rc == SCR_SUCCESS && scr_dataset_is_whole(chosen) && chosen->life != SCR_WHOLE)
    rc = scr_change_life(&id, 1, SCR_WHOLE);
  if (rc == SCR_SUCCESS && n > 0) rc = scr_change_life(ids, n, SCR_PASSED);
  scr_free(&ids);
  if (rc == SCR_SUCCESS && record != SCR_SUCCESS) scr_err_restore(&why);
  return rc == SCR_SUCCESS ? record : rc;
}

/* The candidate C is loaded: rank 0 tells once of newer checkpoints that this run cannot reach. */
SCR_FN void scr_restart_tell_lost(const scr_candidate* c)
{
  const scr_dataset* ds = scr_dataset_find(c->id);
  int                work = c->lost.ckpt - ds->desc.ckpt;

  if (scr.world.rank != 0 || c->lost.newest <= c->id) return;
  scr_warn("%s; this run goes on from the older %s, and does the work of %d checkpoint%s again", c->lost.text,
           scr_desc_name(&ds->desc), work > 0 ? work : 1, work > 1 ? "s" : "");
  scr.lost.newest = 0;
}

/*
** Load the newest checkpoint that FROM leaves, or the one called NAME; if that fails, try older ones.  Collective over
** the world; the same code everywhere.
*/
SCR_FN int scr_restart_load(scr_search from, const char* name)
{
  scr_candidate c;
  int           rc;

  scr.loaded = 0;
  scr_read_close();
  for (;;) {
    rc = SCR_SUCCESS;
    memset(&c, 0, sizeof c);
    if (scr.world.rank == 0) rc = scr_restart_candidate(from, name, &c);
    if ((rc = scr_agree(rc, scr.world.comm)) != SCR_SUCCESS) return rc;
    if ((rc = scr_bcast(&c, (int)sizeof c, MPI_BYTE, 0, scr.world.comm)) != SCR_SUCCESS) return rc;
    if (c.at_stake) scr.prefix_at_stake = 1;
    scr.fresh_served = c.fresh_served;
    if (c.missing_choice)
      scr_tried_add("the user's choice, the checkpoint %s, cannot be loaded from the cache, and %s; newer ones are not "
                    "offered in its place, until scr_index --current or SCR_CURRENT chooses another one",
                    c.choice, c.no_fetch ? "SCR_FETCH=0 keeps it from being fetched" : "is not in the index");
    if (c.id <= 0) break;
    from.rejected = c.rejected;
    from.below = c.id;
    rc = c.cached ? scr_restart_from_cache(&c) : scr_restart_fetch(&c);
    if (rc == SCR_SUCCESS) {
      scr_restart_loaded(c.id);
      scr.offer.rejected = c.rejected;
      scr.offer.below = c.id + 1;
      if (!c.by_user) scr_restart_tell_lost(&c);
      if (!c.by_user && c.limit == 0) return SCR_SUCCESS;
      rc = scr_restart_choice_served(c.by_user ? c.id : c.limit); /* an older one is loaded in its place */
      if (rc == SCR_SUCCESS || name != NULL || !scr.serve_id) return rc;
      if (scr.world.rank == 0) scr_warn("%s", scr_err_text); /* a full prefix must not stop a restart */
      return SCR_SUCCESS;
    }
    if (name != NULL) return rc;
    if (c.cached && !scr_err_is_damage(rc)) break; /* it is whole: an older one in its place would cost it */
  }
  if (c.lost.at_stake && !scr.fresh_start) {
    scr.prefix_at_stake = 1;
    scr_tried_add("%s", c.lost.text);
  } else if (c.lost.newest > 0 && scr.world.rank == 0) {
    scr_warn("%s", c.lost.text);
    scr.lost.newest = 0;
  }
  if (c.no_fetch && !c.missing_choice && *c.newest && scr.world.rank == 0)
    scr_msg_print("info", "SCR_FETCH=0: no checkpoint of the prefix is fetched; the newest there is %s", c.newest);
  if (c.at_stake && *c.rejected_names) scr_tried_add("%s", c.rejected_names);
  if (c.at_stake && *c.passed)
    scr_tried_add("%s was passed over when the user chose an older checkpoint, and is offered only if it is chosen",
                  c.passed);
  if (c.at_stake && *c.why && (c.damaged || scr.tried.n == 0)) scr_tried_add("%s", c.why);
  scr.restart = SCR_RESTART_NONE;
  return SCR_SUCCESS;
}

/* ---- the user's choice ---- */

/* Set CURRENT to dataset ID of the index, which NAME denotes, as the user's choice.  Rank 0 only. */
SCR_FN int scr_restart_set_choice(int id, const char* name)
{
  const scr_dataset* ds = scr_dataset_find(id);
  scr_index          index;
  scr_index_item     it;
  int                rc = scr_index_open(&index, scr.world.prefix);
  int                found =
      (ds != NULL && scr_index_same(&index, &ds->desc.identity, &it)) || scr_index_look_up(&index, name, id, 0, &it);

  if (rc == SCR_SUCCESS && !found)
    rc = SCR_ERR(SCR_ERR_NOT_FOUND, "there is no checkpoint %s in %s any more", name, scr.world.prefix);
  else if (rc == SCR_SUCCESS && !scr_desc_is_ckpt(&it.desc))
    rc = SCR_ERR(SCR_ERR_NOT_FOUND, "the dataset %s in %s is not a checkpoint", name, scr.world.prefix);
  if (rc == SCR_SUCCESS) scr_index_set_current(&index, it.id, it.dir, 1);
  return scr_index_close(&index, rc, 1);
}

/*
** Make the checkpoint NAME the user's choice, which the index records until a newer checkpoint is complete; *ID becomes
** its id.  A checkpoint that is only in the cache is flushed first, because the index lists only what is on the prefix.
** Collective over the world; the same code everywhere.
*/
SCR_FN int scr_restart_choose(const char* name, int* id)
{
  scr_index      index;
  scr_index_item it;
  scr_vote       v;
  int            fetch = 1, rc = SCR_SUCCESS;

  memset(&v, 0, sizeof v);
  memset(&it, 0, sizeof it);
  *id = 0;
  if (scr.world.rank == 0) {
    scr_param_int(scr.world.params, "SCR_FETCH", &fetch);
    rc = scr_index_read(&index, scr.world.prefix);
    if (rc == SCR_SUCCESS) rc = scr_restart_by_name(&index, name, fetch, id, &it);
    v.max[0] = *id;
    v.max[1] = rc == SCR_SUCCESS && it.id == 0; /* the cache has it */
    scr_index_close(&index, SCR_SUCCESS, 0);
  }
  if ((rc = scr_vote_all(&v, rc, scr.world.comm)) != SCR_SUCCESS) return rc;
  *id = (int)v.max[0];
  if (v.max[1] && (rc = scr_flush_sync(*id, 1)) != SCR_SUCCESS) return rc;
  if (scr.world.rank == 0) rc = scr_restart_set_choice(*id, name);
  return scr_agree(rc, scr.world.comm);
}

/*
** Apply SCR_CURRENT, the choice for one restart (Z1); AGAIN: although it was served before.  An index that cannot be
** read or written is an error: without the record the next run would go back once more, over the work of this one.
** Collective over the world; the same code everywhere.
*/
SCR_FN int scr_restart_choose_by_parameter(int again)
{
  const char* name = scr_param_get(scr.world.params, "SCR_CURRENT");
  scr_index   index;
  scr_vote    v;
  int         id, rc = SCR_SUCCESS;

  if (name == NULL) return SCR_SUCCESS;
  memset(&v, 0, sizeof v);
  if (scr.world.rank == 0) {
    rc = scr_index_read(&index, scr.world.prefix);
    v.max[0] = scr_index_has_served(&index, "SCR_CURRENT", name, scr.world.job_key);
    scr_index_close(&index, SCR_SUCCESS, 0);
  }
  if ((rc = scr_vote_all(&v, rc, scr.world.comm)) != SCR_SUCCESS) return rc;
  if (v.max[0] && !again) {
    if (scr.world.rank == 0)
      scr_msg_print("info", "SCR_CURRENT=%s was served before in this job, and is not used again", name);
    return SCR_SUCCESS;
  }
  if ((rc = scr_restart_choose(name, &id)) != SCR_SUCCESS) return rc;
  if (scr.world.rank == 0) {
    rc = scr_index_open(&index, scr.world.prefix);
    scr_index_note_served(&index, "SCR_CURRENT", name, scr.world.job_key);
    rc = scr_index_close(&index, rc, 1);
  }
  return scr_agree(rc, scr.world.comm);
}

/*
** Returns 1 on every rank if the application rejected, in this job, the checkpoint that SCR_CURRENT names.  Collective
** over the world.
*/
SCR_FN int scr_restart_wish_is_rejected(void)
{
  const char*    name = scr_param_get(scr.world.params, "SCR_CURRENT");
  scr_index      index;
  scr_index_item it;
  scr_vote       v;
  int            id, rc;

  if (name == NULL) return 0;
  memset(&v, 0, sizeof v);
  if (scr.world.rank == 0) {
    rc = scr_index_read(&index, scr.world.prefix);
    if (rc == SCR_SUCCESS && scr_restart_by_name(&index, name, 1, &id, &it) == SCR_SUCCESS)
      v.max[0] =
          it.id != 0 ? scr_index_failed_in(&index, &it, scr.world.job_key) : scr_dataset_find(id)->life == SCR_REJECTED;
    scr_index_close(&index, SCR_SUCCESS, 0);
  }
  return scr_vote_all(&v, SCR_SUCCESS, scr.world.comm) == SCR_SUCCESS && v.max[0];
}

/* ---- a fresh start ---- */

/* A fresh start begins: tell what is not offered any more.  Rank 0 only. */
SCR_FN void scr_restart_tell_anew(const scr_index* index)
{
  const scr_dataset* ds = scr_dataset_newest();
  scr_index_item     it;
  int                found = scr_index_newest(index, INT_MAX, NULL, &it) == SCR_SUCCESS;

  if (ds == NULL && !found) return;
  scr_msg_print("info",
                "SCR_FRESH_START: this run begins anew; the checkpoints that exist, the newest of which is %s, are "
                "only offered if they are chosen",
                ds != NULL && ds->desc.identity.id >= it.id ? scr_desc_name(&ds->desc) : scr_desc_name(&it.desc));
}

/*
** Decide whether this run is a fresh start: SCR_FRESH_START asks for it, and was not served before in this job (Z1).
** The index then gets a cut, so that a run after this one does not offer what was there before, even if this one ends
** before its first checkpoint.  If that cannot be written, it is an error: the next run would begin anew once more.
** Collective over the world; the same code everywhere.
*/
SCR_FN int scr_restart_begin_anew(void)
{
  scr_index index;
  scr_vote  v;
  char      wish[16];
  int       rc = SCR_SUCCESS;

  if (scr.fresh_start == 0) return SCR_SUCCESS;
  memset(&v, 0, sizeof v);
  snprintf(wish, sizeof wish, "%d", scr.fresh_start);
  if (scr.world.rank == 0) {
    rc = scr_index_open(&index, scr.world.prefix);
    v.max[0] = scr_index_has_served(&index, "SCR_FRESH_START", wish, scr.world.job_key);
    if (!v.max[0]) scr_restart_tell_anew(&index);
    scr_index_cut(&index, scr.dataset_id);
    scr_index_note_served(&index, "SCR_FRESH_START", wish, scr.world.job_key);
    rc = scr_index_close(&index, rc, !v.max[0]);
  }
  rc = scr_vote_all(&v, rc, scr.world.comm);
  if (v.max[0]) {
    if (scr.world.rank == 0)
      scr_msg_print("info", "SCR_FRESH_START=%s was served before in this job, and is not used again; %d would be",
                    wish, scr.fresh_start + 1);
    scr.fresh_start = 0;
  }
  return rc;
}

/* ==== 26 START, HALT, END OF A RUN ======================================================================
** The work behind the public calls that start and end a run, and those that start and complete a dataset.
**
** Uses       platform, errors, memory, path, hash, hash files, parameters, dataset, kernels, file window, filemap,
**            prefix, files of a run, MPI helpers, world, state, encode, cache, recovery, flush, asynchronous flush,
**            room and fetch, restart choice
** Offers     scr_report, scr_report_local, scr_enter, scr_not_entered, scr_flag_given, scr_wish_put, scr_wish_get,
**            scr_run_halt_decide, scr_run_write_reason, scr_release, scr_run_flush_newest, scr_need_decide,
**            scr_start_run, scr_route_new, scr_route_loaded, scr_accept_loaded, scr_reject_loaded, scr_open_fails,
**            scr_open_failed, scr_start, scr_complete, scr_enter_name, scr_run_delete, scr_run_drop, scr_run_choose
** Invariants
**   O1  The library calls exit only in scr_run_leave.
**   O2  A dataset is committed on no rank before it is protected on all.
**   O3  Unless SCR_USER_NAME names the user, a run takes the name that the run before it had, which the prefix records
**       for each user id.  The cache is below that name; a run without USER, or a static program, may know another one.
** Failure    An error code, agreed on over the world.
** ====================================================================================================== */

/* ---- messages and phases ---- */

/*
** Report RC, the result of a collective call: every rank has the message, and rank 0 prints it before any of them goes
** on, because a program may abort at once.  Returns RC.  Collective over the world if RC is an error.
*/
SCR_FN int scr_report(int rc)
{
  scr_err_record why;

  if (rc == SCR_SUCCESS) return rc;
  if (scr_msg_rank <= 0) scr_msg_print("error", "%s", scr_err_text);
  scr_err_save(&why);
  if (rc != SCR_ERR_MPI && scr.world.comm != MPI_COMM_NULL) scr_barrier(scr.world.comm);
  scr_err_restore(&why);
  return rc;
}

/* Report RC, the result of a check that only this rank made.  Returns RC. */
SCR_FN int scr_report_local(int rc)
{
  if (rc != SCR_SUCCESS) scr_msg_print("error", "%s", scr_err_text);
  return rc;
}

/* The call that must come before a call that needs the phase WANTED, in words. */
SCR_FN const char* scr_phase_missing(scr_phase wanted)
{
  switch (scr.phase) {
  case SCR_PHASE_UNINIT:
    return "SCR_Init";
  case SCR_PHASE_RESTART:
    return "SCR_Complete_restart";
  case SCR_PHASE_CHECKPOINT:
    return "SCR_Complete_checkpoint";
  case SCR_PHASE_OUTPUT:
    return "SCR_Complete_output";
  default:
    break;
  }
  switch (wanted) {
  case SCR_PHASE_UNINIT:
    return "SCR_Finalize";
  case SCR_PHASE_RESTART:
    return "SCR_Start_restart";
  case SCR_PHASE_CHECKPOINT:
    return "SCR_Start_checkpoint";
  default:
    return "SCR_Start_output";
  }
}

/*
** The error of CALL, to which the ranks gave different names or FLAGS, which are -1 if it takes none: it tells what
** rank 0 gave, and the first rank that gave something else.  Collective over the world; the same code everywhere.
*/
SCR_FN int scr_differ(const char* call, const char* name, int flags)
{
  char first[SCR_MAX_FILENAME + 32], mine[SCR_MAX_FILENAME + 32];
  int  n = 0, rc;

  memset(mine, 0, sizeof mine);
  if (flags >= 0) n = snprintf(mine, sizeof mine, "flags 0x%x, name ", (unsigned)flags);
  snprintf(mine + n, sizeof mine - (size_t)n, "\"%s", name);
  memcpy(first, mine, sizeof mine);
  rc = scr_bcast(first, (int)sizeof first, MPI_CHAR, 0, scr.world.comm);
  if (rc == SCR_SUCCESS && strcmp(first, mine) != 0)
    rc = SCR_ERR(SCR_ERR_DIFFER, "%s: the ranks gave different arguments: %.900s\" on rank 0, but %.900s\" on rank %d",
                 call, first, mine, scr.world.rank);
  return scr_agree(rc, scr.world.comm);
}

/*
** Start the public call CALL, which needs the phase WANTED.  SCR_ERR_DISABLED, without a message, if the library is
** off: then the call does nothing and returns success.
*/
SCR_FN int scr_enter(const char* call, scr_phase wanted)
{
  scr_oom = 0;
  if (scr.disabled) return SCR_ERR_DISABLED;
  if (scr.phase == wanted || (scr.phase == SCR_PHASE_FAILED && wanted == SCR_PHASE_IDLE)) return SCR_SUCCESS;
  if (wanted == SCR_PHASE_UNINIT)
    return scr_report_local(SCR_ERR(SCR_ERR_STATE, "%s was already called; nothing was done", call));
  return scr_report_local(
      SCR_ERR(SCR_ERR_STATE, "%s is called before %s; nothing was done", call, scr_phase_missing(wanted)));
}

/* What a public call returns to which scr_enter has given the error RC. */
SCR_FN int scr_not_entered(int rc)
{
  return rc == SCR_ERR_DISABLED ? SCR_SUCCESS : rc;
}

/* SCR_SUCCESS if the application passed a FLAG to CALL.  The ranks have yet to agree on it. */
SCR_FN int scr_flag_given(const char* call, const int* flag)
{
  return flag != NULL ? SCR_SUCCESS : SCR_ERR(SCR_ERR_ARG, "%s needs a flag, but was given NULL", call);
}

/* ---- parameters ---- */

/* SCR_SUCCESS if the settings of this rank, MINE, equal those of rank 0, ALL, in the source SOURCE. */
SCR_FN int scr_settings_same(const scr_hash* mine, const scr_hash* all, const char* source)
{
  const scr_hash *a = scr_hash_get(mine, source), *b = scr_hash_get(all, source);
  scr_hash_elem*  e;
  int             side;

  for (side = 0; side < 2; side++)
    for (e = scr_hash_elem_first(side ? b : a); e != NULL; e = scr_hash_elem_next(e)) {
      const char* key = scr_hash_elem_key(e);
      const char *va = scr_hash_elem_get_first_val(a, key), *vb = scr_hash_elem_get_first_val(b, key);
      if ((va == NULL || vb == NULL || strcmp(va, vb) != 0) && scr_params_are_secret(key))
        return SCR_ERR(SCR_ERR_DIFFER, "%s is not the same on rank %d as on rank 0; set it alike everywhere", key,
                       scr.world.rank);
      if (va == NULL || vb == NULL || strcmp(va, vb) != 0)
        return SCR_ERR(SCR_ERR_DIFFER, "%s is %s on rank %d, but %s on rank 0; set it alike everywhere", key,
                       va ? va : "not set", scr.world.rank, vb ? vb : "not set");
    }
  return SCR_SUCCESS;
}

/*
** Read the parameters on rank 0 and send them to all ranks; every rank compares its own settings with them.  Collective
** over the world.
*/
SCR_FN int scr_settings_read(void)
{
  scr_hash* all = scr_hash_new();
  scr_hash* mine = scr_hash_new();
  char      user[256], key[SCR_JOB_KEY_MAX];
  int       rc = SCR_SUCCESS, err;

  scr_hash_merge(mine, scr.app);
  if (scr.world.rank == 0) {
    scr_hash_merge(all, scr.app);
    rc = scr_params_read(all);
    if (rc == SCR_SUCCESS) rc = scr_params_check(all);
    scr_param_user(all, user, sizeof user);
    scr_hash_setf(all, NULL, "%s %s %s", "RUN", "USER", user);
    scr_hash_setf(all, NULL, "%s %s %s", "RUN", "JOB", scr_param_job(all));
    scr_world_job_key(scr_param_job(all), key, sizeof key);
    scr_hash_setf(all, NULL, "%s %s %s", "RUN", "KEY", key);
  } else {
    rc = scr_params_read_env(mine);
  }
  if (scr.config_failure.rc != SCR_SUCCESS) {
    rc = scr.config_failure.rc;
    scr_err_restore(&scr.config_failure.why);
  }
  if ((err = scr_hash_bcast(all, 0, scr.world.comm)) != SCR_SUCCESS) rc = err;
  if (scr.world.rank > 0 && rc == SCR_SUCCESS) rc = scr_settings_same(mine, all, "ENV");
  if (scr.world.rank > 0 && rc == SCR_SUCCESS) rc = scr_settings_same(mine, all, "APP");
  scr.world.params = all;
  scr_hash_delete(&mine);
  if (rc == SCR_SUCCESS) {
    rc = scr_fmt(scr.world.home.user, sizeof scr.world.home.user, "%s",
                 scr_hash_str_or(scr_hash_get(all, "RUN"), "USER", ""));
    if (rc == SCR_SUCCESS)
      rc = scr_fmt(scr.world.home.job, sizeof scr.world.home.job, "%s",
                   scr_hash_str_or(scr_hash_get(all, "RUN"), "JOB", ""));
    scr_desc_read_str(scr_hash_get(all, "RUN"), "KEY", scr.world.job_key, sizeof scr.world.job_key);
  }
  return scr_agree(rc, scr.world.comm);
}

/* Copy parameters that are used often to the runtime state, and allocate the memory of the redundancy engine. */
SCR_FN int scr_settings_keep(void)
{
  static const struct {
    const char* name;
    int*        to;
  } ints[] = {{"SCR_CACHE_KEEP", &scr.cache_keep},         {"SCR_FLUSH", &scr.flush_every},
              {"SCR_FLUSH_WIDTH", &scr.flush_width},       {"SCR_PREFIX_SIZE", &scr.prefix_size},
              {"SCR_DROP_AFTER_CURRENT", &scr.drop_after}, {"SCR_FETCH_WIDTH", &scr.fetch_width},
              {"SCR_CRC_ON_COPY", &scr.crc_on_copy},       {"SCR_CRC_ON_DELETE", &scr.crc_on_delete},
              {"SCR_CRC_ON_RESTART", &scr.crc_on_restart}, {"SCR_CRC_ON_FLUSH", &scr.crc_on_flush},
              {"SCR_PRESERVE_DIRECTORIES", &scr.preserve}, {"SCR_FSYNC", &scr_fsync_enabled},
              {"SCR_USE_CONTAINERS", &scr.use_containers}, {"SCR_FLUSH_ASYNC", &scr.flush_async},
              {"SCR_FETCH_BYPASS", &scr.fetch_bypass},     {"SCR_GLOBAL_RESTART", &scr.global_restart},
              {"SCR_CHECKPOINT_INTERVAL", &scr.interval},  {"SCR_CHECKPOINT_SECONDS", &scr.seconds},
              {"SCR_FRESH_START", &scr.fresh_start},       {"SCR_HALT_ENABLED", &scr.halt_enabled}};
  const char *exits = scr_param_get(scr.world.params, "SCR_HALT_EXIT"), *type, *ranks, *mtbf;
  uint64_t    bytes = 0;
  size_t      i;
  int         rc = SCR_SUCCESS;

  for (i = 0; rc == SCR_SUCCESS && i < sizeof ints / sizeof *ints; i++)
    rc = scr_param_int(scr.world.params, ints[i].name, ints[i].to);
  if (rc == SCR_SUCCESS) rc = scr_param_real(scr.world.params, "SCR_CHECKPOINT_OVERHEAD", &scr.overhead);
  mtbf = scr_param_get(scr.world.params, "SCR_CHECKPOINT_MTBF");
  if (mtbf != NULL && strcasecmp(mtbf, "log") == 0) scr.mtbf = -1;
  else if (rc == SCR_SUCCESS) rc = scr_param_real(scr.world.params, "SCR_CHECKPOINT_MTBF", &scr.mtbf);
  if (rc == SCR_SUCCESS) rc = scr_param_bytes(scr.world.params, "SCR_MPI_BUF_SIZE", &bytes);
  scr.mpi_buf = bytes < 4096 ? 4096 : (size_t)bytes;
  if (rc == SCR_SUCCESS) rc = scr_param_bytes(scr.world.params, "SCR_FILE_BUF_SIZE", &bytes);
  scr.file_buf = bytes < 4096 ? 4096 : (size_t)bytes;
  if (rc == SCR_SUCCESS) rc = scr_param_bytes(scr.world.params, "SCR_CONTAINER_SIZE", &scr.container_size);
  if (rc == SCR_SUCCESS) rc = scr_param_bytes(scr.world.params, "SCR_RANK2FILE_SIZE", &scr.rank2file_size);
  if (rc == SCR_SUCCESS) rc = scr_param_bytes(scr.world.params, "SCR_FLUSH_ASYNC_BW", &bytes);
  scr.pace.rate = (double)bytes / scr.world.ranks;
  if (rc == SCR_SUCCESS) rc = scr_param_real(scr.world.params, "SCR_FLUSH_ASYNC_PERCENT", &scr.pace.share);
  scr.pace.share /= 100.0;
  type = scr_param_get(scr.world.params, "SCR_FLUSH_TYPE");
  if (type != NULL && strcasecmp(type, "SYNC") == 0) scr.flush_async = 0;
  scr.flush_daemon = scr.flush_async && type != NULL && strcasecmp(type, "DAEMON") == 0;
  ranks = scr_param_get(scr.world.params, "SCR_RESTART_RANKS");
  scr.same_ranks = ranks != NULL && strcasecmp(ranks, "same") == 0;
  if (rc != SCR_SUCCESS) return rc;
  scr.halt_exit = !scr.halt_enabled ? 0 : exits == NULL || strcasecmp(exits, "auto") == 0 ? -1 : atoi(exits);
  scr.work = (char*)scr_malloc_huge(SCR_ENCODE_WORK_BYTES(scr.mpi_buf));
  return scr.work == NULL ? SCR_ERR_OOM() : SCR_SUCCESS;
}

/* ---- the prefix ---- */

/*
** The launch that this process belongs to, as far as it can be told: its job step, its namespace, or else the process
** that started it on this host.
*/
SCR_FN void scr_run_launch(char* text, size_t n)
{
  const char *job = getenv("SLURM_JOB_ID"), *step = getenv("SLURM_STEP_ID"), *space = getenv("PMIX_NAMESPACE");

  if (job != NULL && step != NULL) snprintf(text, n, "step %s.%s", job, step);
  else if (space != NULL) snprintf(text, n, "namespace %s", space);
  else snprintf(text, n, "parent %ld on %s", (long)getppid(), scr_msg_host);
}

/*
** Returns 1 if this process has the lock file FD open a second time: then another copy of the library in it, of the
** program or of a shared library, uses what it protects.  This needs no locks.
*/
SCR_FN int scr_lock_is_of_this_process(int fd)
{
  struct stat mine, other;
  long        i, n = sysconf(_SC_OPEN_MAX);

  if (fstat(fd, &mine) < 0) return 0;
  if (n < 0 || n > 65536) n = 65536; /* the limit may be far above what is in use */
  for (i = 0; i < n; i++)
    if (i != fd && fstat((int)i, &other) == 0 && other.st_dev == mine.st_dev && other.st_ino == mine.st_ino) return 1;
  return 0;
}

/*
** Lock <prefix>/.scr/run.lock, so that no second run uses the prefix, and write into it which launch holds it, in a
** second line which process, which scr_halt --immediate ends, and in a third one the token of this run: from then on
** the daemons of the runs before this one copy no more.  The processes of a killed run may hold the lock a little
** longer, and a command that looks who has it an instant, but those of this launch stay.  Rank 0 only.
*/
SCR_FN int scr_run_hold_prefix(void)
{
  char    path[SCR_MAX_FILENAME], mine[320], other[320], text[800];
  ssize_t n;
  int     rc = scr_record_path(scr.world.prefix, "run.lock", path, sizeof path);

  if (rc != SCR_SUCCESS || (rc = scr_lock_open(path, &scr.prefix_lock)) != SCR_SUCCESS) return rc;
  if (scr_lock_is_of_this_process(scr.prefix_lock))
    return SCR_ERR(SCR_ERR_BUSY,
                   "another copy of the library in this program, perhaps in a shared library, uses the prefix %s; give "
                   "each its own SCR_PREFIX",
                   scr.world.prefix);
  scr_run_launch(mine, sizeof mine);
  if ((rc = scr_lock_take(scr.prefix_lock, path, 0.5)) == SCR_ERR_BUSY) {
    n = scr_pread_all(scr.prefix_lock, other, sizeof other - 1, 0);
    other[n > 0 ? n : 0] = '\0';
    other[strcspn(other, "\n")] = '\0';
    if (strcmp(mine, other) != 0) rc = scr_lock_take(scr.prefix_lock, path, SCR_BUSY_SECONDS);
  }
  if (rc == SCR_ERR_BUSY)
    return SCR_ERR(SCR_ERR_BUSY,
                   "another run uses the prefix %s; give each run its own SCR_PREFIX, or end that run: %s",
                   scr.world.prefix, scr_err_text);
  if (rc == SCR_SUCCESS) rc = scr_token_read(scr.world.prefix, scr.token_before, sizeof scr.token_before);
  if (rc != SCR_SUCCESS) return rc;
  snprintf(scr.token, sizeof scr.token, "%016" PRIx64, scr_random());
  snprintf(text, sizeof text, "%s\nprocess %ld on %s\nrun %s\n", mine, (long)getpid(), scr_msg_host, scr.token);
  if (scr_os.ftruncate(scr.prefix_lock, 0) < 0 || scr_pwrite_all(scr.prefix_lock, text, strlen(text), 0) < 0 ||
      scr_os.fsync(scr.prefix_lock) < 0) /* whatever SCR_FSYNC says: daemons on other nodes read it */
    scr.token[0] = '\0';                 /* it helps others, but may fail; then no daemon copies for this run */
  if (*scr.token == '\0' && scr.flush_daemon)
    scr_warn("cannot write %s: %s; a thread of each rank copies in place of the daemons", path, strerror(errno));
  return SCR_SUCCESS;
}

/* Make the user of this run the one that H, the record of the prefix, names (O3).  Returns 1 if H has changed. */
SCR_FN int scr_run_recall_user(scr_hash* h)
{
  char        uid[24], *user = scr.world.home.user;
  const char* chosen = scr_param_get(scr.world.params, "SCR_USER_NAME");
  const char* known;

  snprintf(uid, sizeof uid, "%lu", (unsigned long)geteuid());
  known = scr_hash_elem_get_first_val(scr_hash_get(h, "USER"), uid);
  if ((chosen == NULL || *chosen == '\0') && known != NULL) {
    scr_desc_read_str(scr_hash_get(h, "USER"), uid, user, sizeof scr.world.home.user);
    return 0;
  }
  if (known != NULL && strcmp(known, user) == 0) return 0;
  if (strchr(user, '/') != NULL || user[0] == '.') return 0; /* this run will fail, and the next one should not */
  scr_hash_unset(scr_hash_get(h, "USER"), uid);
  scr_hash_setf(h, NULL, "%s %s %s", "USER", uid, user);
  return 1;
}

/*
** Read the identity of the prefix from <prefix>/.scr/prefix.scr into ID, and make one if there is none; recall the user
** that it records.  *ADOPTS is 1 if other records tell that the prefix is older than its identity.  ID is "" if the
** file is damaged, or if a new identity cannot be written; a file that cannot be read is an error, because the cache of
** an earlier prefix at the same path might be taken for that of this one.  The prefix is locked, so no other run makes
** an identity too.  Rank 0 only.
*/
SCR_FN int scr_run_identify_prefix(char* id, size_t n, int* adopts)
{
  static const char* const others[] = {"index.scr", "flush.scr"};
  char                     path[SCR_MAX_FILENAME], other[SCR_MAX_FILENAME], text[24];
  struct stat              st;
  scr_hash*                h = scr_hash_new();
  size_t                   i;
  int                      rc = scr_record_path(scr.world.prefix, "prefix.scr", path, sizeof path), fresh, renamed;

  *adopts = 0;
  if (rc == SCR_SUCCESS) rc = scr_hash_file_read(path, h);
  fresh = rc == SCR_ERR_NOT_FOUND;
  if (fresh) {
    for (i = 0; i < 2; i++)
      if (scr_record_path(scr.world.prefix, others[i], other, sizeof other) == SCR_SUCCESS &&
          scr_os.lstat(other, &st) == 0)
        *adopts = 1;
    snprintf(text, sizeof text, "%016" PRIx64, scr_random());
    scr_hash_util_set_str(h, "IDENTITY", text);
    rc = SCR_SUCCESS;
  }
  if (rc == SCR_SUCCESS) {
    renamed = scr_run_recall_user(h);
    if (fresh || renamed) rc = scr_hash_file_write(path, h);
    if (rc == SCR_SUCCESS || !fresh) scr_desc_read_str(h, "IDENTITY", id, n);
    else scr_warn("%s; the caches of this prefix are told by its path alone", scr_err_text);
    rc = SCR_SUCCESS; /* a name that cannot be recorded matters only when a later run has another one */
  } else if (rc == SCR_ERR_FORMAT || rc == SCR_ERR_CRC) {
    scr_warn("%s; the caches of this prefix are told by its path alone", scr_err_text);
    rc = SCR_SUCCESS;
  }
  scr_hash_delete(&h);
  return rc;
}

/*
** Make PREFIX the path of the prefix directory, and REAL the same with links resolved; both have SCR_MAX_FILENAME
** bytes.
*/
SCR_FN int scr_run_find_prefix(char* prefix, char* real)
{
  const char* name = scr_param_get(scr.world.params, "SCR_PREFIX");
  char        path[2 * SCR_MAX_FILENAME], cwd[SCR_MAX_FILENAME], *resolved;
  struct stat st;
  int         rc;

  if (getcwd(cwd, sizeof cwd) == NULL) return SCR_ERRNO("cannot get the working directory");
  rc = name != NULL && name[0] == '/' ? scr_fmt(path, sizeof path, "%s", name)
                                      : scr_fmt(path, sizeof path, "%s/%s", cwd, name ? name : "");
  if (rc == SCR_SUCCESS) rc = scr_path_reduce_str(path, prefix, SCR_MAX_FILENAME);
  if (rc == SCR_SUCCESS && (stat(prefix, &st) < 0 || !S_ISDIR(st.st_mode)))
    return SCR_ERR(SCR_ERR_IO, "the prefix %s does not exist or cannot be read: create it, or set SCR_PREFIX", prefix);
  if (rc == SCR_SUCCESS && (resolved = realpath(prefix, NULL)) != NULL) {
    rc = scr_fmt(real, SCR_MAX_FILENAME, "%s", resolved);
    free(resolved);
  }
  return rc;
}

/* Rank 0 finds the prefix, creates its .scr and locks it; all ranks receive its name.  Collective over the world. */
SCR_FN int scr_run_open_prefix(void)
{
  struct {
    char prefix[SCR_MAX_FILENAME], real[SCR_MAX_FILENAME], id[sizeof scr.world.prefix_id];
    char user[sizeof scr.world.home.user], token[SCR_TOKEN_MAX], token_before[SCR_TOKEN_MAX];
    int  adopts;
  } p;
  int rc = SCR_SUCCESS;

  memset(&p, 0, sizeof p);
  if (scr.world.rank == 0) {
    rc = scr_run_find_prefix(p.prefix, p.real);
    if (rc == SCR_SUCCESS) rc = scr_record_mkdir(p.prefix);
    memcpy(scr.world.prefix, p.prefix, sizeof p.prefix);
    if (rc == SCR_SUCCESS) rc = scr_run_hold_prefix();
    if (rc == SCR_SUCCESS) scr_record_sweep(scr.world.prefix);
    if (rc == SCR_SUCCESS) rc = scr_run_identify_prefix(p.id, sizeof p.id, &p.adopts);
    memcpy(p.user, scr.world.home.user, sizeof p.user);
    memcpy(p.token, scr.token, sizeof p.token);
    memcpy(p.token_before, scr.token_before, sizeof p.token_before);
  }
  if ((rc = scr_agree(rc, scr.world.comm)) != SCR_SUCCESS) return rc;
  if ((rc = scr_bcast(&p, (int)sizeof p, MPI_BYTE, 0, scr.world.comm)) != SCR_SUCCESS) return rc;
  memcpy(scr.world.prefix, p.prefix, sizeof p.prefix);
  memcpy(scr.prefix_real, p.real, sizeof p.real);
  memcpy(scr.world.prefix_id, p.id, sizeof p.id);
  memcpy(scr.world.home.user, p.user, sizeof p.user);
  memcpy(scr.token, p.token, sizeof p.token);
  memcpy(scr.token_before, p.token_before, sizeof p.token_before);
  if (*scr.token == '\0') scr.flush_daemon = 0;
  scr.world.prefix_adopts = p.adopts;
  return SCR_SUCCESS;
}

/* ---- wishes: a checkpoint, its flush, and the end of the run, by a signal or by the halt file ---- */

/* A signal of SCR_SIGNALS.  It outlives a run whose handler another one has covered: that one may still call it. */
typedef struct {
  int                   number, wishes; /* wishes 0: only passed on */
  struct sigaction      before;         /* the application's own */
  volatile sig_atomic_t came, busy;
} scr_caught;

static scr_caught scr_caughts[SCR_NSIGNALS];

/* Note that the signal NUMBER came, and pass it on; nothing else may be done in a handler. */
SCR_FN void scr_signal_handle(int number, siginfo_t* info, void* context)
{
  int i, saved = errno;

  for (i = 0; i < SCR_NSIGNALS; i++) {
    scr_caught* c = &scr_caughts[i];
    if (c->number != number || c->busy) continue; /* busy: the application's handler has called this one */
    c->came = 1;
    c->busy = 1;
    if (c->before.sa_flags & SA_SIGINFO) c->before.sa_sigaction(number, info, context);
    else if (c->before.sa_handler != SIG_DFL && c->before.sa_handler != SIG_IGN) c->before.sa_handler(number);
    c->busy = 0;
  }
  errno = saved;
}

/* Returns 1 if the handler of C is the one that the process has. */
SCR_FN int scr_signal_is_ours(const scr_caught* c)
{
  struct sigaction now;

  return sigaction(c->number, NULL, &now) == 0 && now.sa_flags & SA_SIGINFO && now.sa_sigaction == scr_signal_handle;
}

/* Give the signals back; those whose handler the application has replaced are only passed on from now on. */
SCR_FN void scr_signals_end(void)
{
  int i;

  for (i = 0; i < SCR_NSIGNALS; i++) {
    scr_caught* c = &scr_caughts[i];
    c->wishes = 0;
    if (c->number != 0 && scr_signal_is_ours(c) && sigaction(c->number, &c->before, NULL) == 0) c->number = 0;
  }
}

/* Catch the signals of SCR_SIGNALS. */
SCR_FN int scr_signals_begin(void)
{
  const char*      text = scr_param_get(scr.world.params, "SCR_SIGNALS");
  struct sigaction ours;
  scr_caught*      c;
  int              i, number, wishes;

  memset(&ours, 0, sizeof ours);
  ours.sa_sigaction = scr_signal_handle;
  ours.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  while (text != NULL && scr_param_signal(&text, &number, &wishes) == 1) {
    for (i = 0; scr_signals[i].number != number; i++) continue;
    c = &scr_caughts[i];
    c->wishes |= wishes;
    c->came = 0;
    if (c->number != 0 && scr_signal_is_ours(c)) continue;
    if (sigaction(number, NULL, &c->before) < 0) return SCR_ERRNO("SCR_SIGNALS: cannot catch signal %d", number);
    c->number = number;
    if (sigaction(number, &ours, NULL) < 0) return SCR_ERRNO("SCR_SIGNALS: cannot catch signal %d", number);
  }
  return SCR_SUCCESS;
}

/* Rank 0 has read H, the halt file: see which requests are new. */
SCR_FN void scr_wish_read(const scr_hash* h)
{
  scr_hash* numbers = scr_hash_new();
  int       wishes = scr_request_wishes(h, scr.answering, scr.answered, numbers);

  if (wishes & ~scr.wishes_read) scr_msg_print("info", "scr_checkpoint asks for a checkpoint");
  scr.wishes_read = wishes;
  scr_hash_delete(&scr.requests);
  scr.requests = numbers;
}

/* Add to the vote V what this rank was asked for since the last one. */
SCR_FN void scr_wish_put(scr_vote* v)
{
  int i, wishes = scr.wishes_read;

  for (i = 0; i < SCR_NSIGNALS; i++) {
    if (scr_caughts[i].wishes == 0 || !scr_caughts[i].came) continue;
    scr_caughts[i].came = 0; /* one that comes now is part of the same wish */
    scr.wishes_caught |= scr_caughts[i].wishes;
    scr_msg_print("info", "signal %d asks for a checkpoint", scr_caughts[i].number);
  }
  wishes |= scr.wishes_caught;
  for (i = 0; i < SCR_NWISHES; i++) v->max[1 + i] = wishes >> i & 1;
}

/* What the vote V, which ended with RC, says all ranks are asked for. */
SCR_FN void scr_wish_get(const scr_vote* v, int rc)
{
  int i;

  for (i = 0; i < SCR_NWISHES && rc == SCR_SUCCESS; i++)
    if (v->max[1 + i]) scr.wishes |= 1 << i;
}

/* A checkpoint is started: it is the one that was asked for, as far as this was known before. */
SCR_FN void scr_wish_begin(void)
{
  scr.granting = scr.wishes;
  scr.wishes = scr.wishes_caught = scr.wishes_read = 0;
  scr_hash_delete(&scr.answering);
  scr.answering = scr.requests;
  scr.requests = NULL;
}

/* The checkpoint failed: the next one has to be it. */
SCR_FN void scr_wish_fail(void)
{
  scr.wishes |= scr.granting;
  scr.granting = 0;
  scr_hash_delete(&scr.answering);
}

/* The open checkpoint, dataset ID, is complete, and what was wished of it ended with RC.  Answer the requests. */
SCR_FN void scr_wish_grant(int id, int rc)
{
  const scr_dataset* ds = scr_dataset_find(id);
  scr_answer         a;
  scr_record         file;
  scr_err_record     why;
  int                err;

  if (scr.granting & SCR_WISH_HALT) {
    scr.leaving = 1;
    snprintf(scr.halt_why, sizeof scr.halt_why, "a signal or scr_checkpoint --halt has asked for it");
  }
  scr.granting = 0;
  if (scr.world.rank != 0 || scr_hash_size(scr.answering) == 0) return;
  scr_err_save(&why);
  memset(&a, 0, sizeof a);
  a.id = id;
  if (ds != NULL) snprintf(a.name, sizeof a.name, "%s", scr_desc_name(&ds->desc));
  a.flushed = ds != NULL && ds->on_prefix == SCR_PREFIX_YES;
  if (rc != SCR_SUCCESS) snprintf(a.error, sizeof a.error, "%s", why.text);
  err = scr_record_open(&file, scr.world.prefix, "halt.scr");
  if (scr_record_close(&file, err, err == SCR_SUCCESS && scr_request_answer(file.h, scr.answering, &a)) != SCR_SUCCESS)
    scr_warn("%s; scr_checkpoint does not learn of %s", scr_err_text, a.name);
  if (scr.answered == NULL) scr.answered = scr_hash_new();
  scr_hash_merge(scr.answered, scr.answering);
  scr_hash_delete(&scr.answering);
  scr_err_restore(&why);
}

/* ---- halt ---- */

/* Run the line COMMAND of the shell, for at most 10 seconds; *ANSWER, to be freed, is what it prints. */
SCR_FN int scr_run_ask(const char* command, char** answer)
{
  static char                shell[] = "sh", option[] = "-c";
  char*                      line = scr_strdup(command);
  char*                      argv[] = {shell, option, line, NULL};
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t          group;
  struct pollfd              poll_for;
  double                     end = scr_wtime() + 10;
  char                       text[4096];
  ssize_t                    k;
  size_t                     n = 0;
  pid_t                      pid = -1;
  int                        fds[2], rc = SCR_SUCCESS;

  *answer = NULL;
  if (line == NULL) return SCR_ERR_OOM();
  if (pipe(fds) < 0) {
    free(line);
    return SCR_ERRNO("cannot run %s", command);
  }
  fcntl(fds[0], F_SETFD, FD_CLOEXEC);
  posix_spawn_file_actions_init(&actions); /* no fork: the memory of a rank may be registered with the network */
  posix_spawn_file_actions_adddup2(&actions, fds[1], 1);
  posix_spawn_file_actions_addclose(&actions, fds[1]);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  posix_spawnattr_init(&group);
  posix_spawnattr_setflags(&group, POSIX_SPAWN_SETPGROUP); /* of its own, so that nothing of it outlives the limit */
  errno = posix_spawnp(&pid, "sh", &actions, &group, argv, environ);
  if (errno != 0) rc = SCR_ERRNO("cannot run %s", command);
  posix_spawnattr_destroy(&group);
  posix_spawn_file_actions_destroy(&actions);
  close(fds[1]);
  while (rc == SCR_SUCCESS) {
    poll_for.fd = fds[0];
    poll_for.events = POLLIN;
    if (poll(&poll_for, 1, 100) > 0) {
      if ((k = read(fds[0], text + n, sizeof text - 1 - n)) <= 0) break;
      n += (size_t)k;
    }
    if (scr_wtime() > end || n == sizeof text - 1) {
      kill(-pid, SIGKILL);
      rc = SCR_ERR(SCR_ERR_IO, "`%s` has not answered within 10 s", command);
    }
  }
  close(fds[0]);
  while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR) continue;
  free(line);
  text[n] = '\0';
  if (rc == SCR_SUCCESS && (*answer = scr_strdup(text)) == NULL) rc = SCR_ERR_OOM();
  return rc;
}

/* The seconds that the allocation has left, which the resource manager is asked once; -1 if nobody knows. */
SCR_FN int64_t scr_seconds_left(void)
{
  scr_err_record why;
  int64_t        left;

  if (!scr.end_asked) {
    scr_err_save(&why);
    if (scr_allocation_end(scr.world.params, scr_run_ask, &scr.end) != SCR_SUCCESS) scr.end = -1;
    scr_err_restore(&why);
    scr.end_asked = 1;
  }
  if (scr.end < 0) return -1;
  left = scr.end - (int64_t)time(NULL);
  return left > 0 ? left : 0;
}

/* The halt conditions that the parameters set. */
SCR_FN void scr_run_halt_begin(void)
{
  int seconds = 0;

  scr.halt = scr_hash_new();
  scr_param_int(scr.world.params, "SCR_HALT_SECONDS", &seconds);
  if (seconds > 0) scr_hash_util_set_int(scr.halt, "HaltSeconds", seconds); /* until the halt file can be read */
  scr.halt_seconds = seconds;
  if (seconds > 0 && scr.world.rank == 0 && scr_seconds_left() < 0)
    scr_warn("SCR_HALT_SECONDS=%d has no effect: the end of the allocation is not known; set SCR_END_TIME to it, in "
             "seconds since 1970 (date +%%s)",
             seconds);
}

/* Merge the halt file into memory, subtract DONE checkpoints, and test the conditions.  Rank 0 only. */
SCR_FN int scr_run_halt_look(int done, char* reason, size_t n)
{
  scr_record file;
  int64_t    left = -1;
  int        halt, rc = done ? scr_record_open(&file, scr.world.prefix, "halt.scr")
                             : scr_record_read(&file, scr.world.prefix, "halt.scr");

  scr.halt_uncounted += done;
  if (rc == SCR_SUCCESS) scr_halt_merge(scr.halt, file.h, scr.halt_seconds);
  if (rc == SCR_SUCCESS) scr_wish_read(file.h);
  else scr_warn("%s; the halt conditions known so far still apply", scr_err_text);
  scr_halt_count(scr.halt, rc == SCR_SUCCESS ? scr.halt_uncounted : done);
  if (scr_hash_get(scr.halt, "HaltSeconds") != NULL) left = scr_seconds_left();
  halt = scr_halt_check(scr.halt, (int64_t)time(NULL), left, reason, n);
  if (rc == SCR_SUCCESS && done) scr_halt_count(file.h, scr.halt_uncounted);
  if (rc == SCR_SUCCESS && done && halt) scr_hash_util_set_str(file.h, "ExitReason", reason);
  if (scr_record_close(&file, rc, done) == SCR_SUCCESS) scr.halt_uncounted = done ? 0 : scr.halt_uncounted;
  else if (rc == SCR_SUCCESS) scr_warn("%s", scr_err_text);
  return halt;
}

/*
** Set *HALT to 1 if the run should end after DONE more checkpoints.  Returns an error that any rank brings in RC.
** Collective over the world.
*/
SCR_FN int scr_run_halt_decide(int done, int* halt, int rc)
{
  char           reason[256] = "";
  scr_err_record why;
  scr_vote       v;

  *halt = 0;
  scr_err_save(&why);
  if (scr.world.rank == 0) *halt = scr_run_halt_look(done, reason, sizeof reason);
  scr_err_restore(&why);
  if (*halt) snprintf(scr.halt_why, sizeof scr.halt_why, "%s", reason);
  memset(&v, 0, sizeof v);
  v.max[0] = *halt;
  scr_wish_put(&v);
  rc = scr_vote_all(&v, rc, scr.world.comm);
  scr_wish_get(&v, rc);
  *halt = v.max[0] || scr.leaving;
  return rc;
}

/*
** Write REASON to the halt file; NULL removes the SCR_FINALIZE_CALLED of an earlier run.  Requests of earlier runs,
** or of this one, when it ends, get no checkpoint.  Rank 0 only.
*/
SCR_FN int scr_run_write_reason(const char* reason)
{
  scr_record file;
  scr_answer a;
  int        changed, stale, rc = scr_record_open(&file, scr.world.prefix, "halt.scr");

  stale = strcmp(scr_hash_str_or(file.h, "ExitReason", ""), "SCR_FINALIZE_CALLED") == 0;
  if (reason != NULL) scr_hash_util_set_str(file.h, "ExitReason", reason);
  else if (stale) scr_hash_unset(file.h, "ExitReason");
  changed = reason != NULL || stale;
  if (reason == NULL) changed |= scr_request_forget(file.h, (int64_t)time(NULL));
  memset(&a, 0, sizeof a);
  snprintf(a.error, sizeof a.error, "the run that was asked has ended");
  changed |= scr_request_answer(file.h, NULL, &a);
  return scr_record_close(&file, rc, changed);
}

/* ---- the end of a run ---- */

SCR_FN void scr_release(void)
{
  scr_hash* app = scr.app;

  scr_read_close();
  scr_signals_end();
  scr_helper_end();
  scr_flights_forget();
  scr_map_settle();
  scr_log_end(&scr.log);
  scr_world_free(&scr.world);
  while (scr.datasets > 0) scr_dataset_remove(scr.dataset[0].desc.identity.id);
  scr_free(&scr.dataset);
  scr_free(&scr.work);
  scr_free(&scr.cost);
  scr_filemap_clear(&scr.map);
  scr_hash_delete(&scr.halt);
  scr_hash_delete(&scr.status);
  scr_hash_delete(&scr.requests);
  scr_hash_delete(&scr.answering);
  scr_hash_delete(&scr.answered);
  scr_hash_delete(&scr.world.params);
  scr_buf_free(&scr.tried);
  if (scr.prefix_lock >= 0) scr_os.close(scr.prefix_lock);
  if (scr.world.comm != MPI_COMM_NULL) MPI_Comm_free(&scr.world.comm);
  scr_vote_stop();
  memset(&scr, 0, sizeof scr);
  scr.app = app;
  scr.world.comm = MPI_COMM_NULL;
  scr.prefix_lock = -1;
  scr_msg_rank = -1;
}

/*
** The run ends normally, and was not to flush checkpoints: note that it leaves those in the cache on purpose, which it
** wrote or could restart from.  Rank 0 only.
*/
SCR_FN void scr_run_note_end(void)
{
  scr_record     r;
  scr_flush_note note;
  int            id = 0, changed = 0, rc = scr_flush_file_open(&r, scr.world.prefix);

  while ((id = scr_flush_file_next(&r, id)) != 0) {
    const scr_dataset* ds = scr_dataset_find(id);
    if (ds == NULL || ds->life != SCR_WHOLE) continue; /* what it could not use is lost work */
    if (!scr_flush_file_get(&r, id, &note) || note.location & SCR_LOCATION_PREFIX) continue;
    note.ended = changed = 1;
    scr_flush_file_put(&r, &note);
  }
  if (scr_record_close(&r, rc, changed) != SCR_SUCCESS) scr_warn("%s", scr_err_text);
}

/*
** Flush the newest checkpoint if flushing is on, and datasets whose flush is due but failed before; returns the first
** error.  Collective over the world.
*/
SCR_FN int scr_run_flush_newest(void)
{
  const scr_dataset* newest = scr_dataset_newest();
  scr_err_record     why;
  int                i, rc = SCR_SUCCESS, tried = newest != NULL && scr.flush_every > 0;

  scr_flush_finish(NULL);
  if (scr.flush_every == 0 && scr.world.rank == 0) scr_run_note_end();
  if (tried) rc = scr_flush_unasked(newest->desc.identity.id);
  scr_err_save(&why);
  for (i = scr.datasets - 1; i >= 0; i--) {
    int err = tried && &scr.dataset[i] == newest ? SCR_SUCCESS : scr_flush_if_due(&scr.dataset[i]);
    if (rc != SCR_SUCCESS || err == SCR_SUCCESS) continue;
    rc = err;
    scr_err_save(&why);
  }
  if (rc != SCR_SUCCESS) scr_err_restore(&why);
  return rc;
}

/*
** The only exit: flush, finalize and call exit().  If MPI_COMM_WORLD is larger than the library's world, MPI_Finalize
** is left to the rest of the program.  Collective over the world.
*/
SCR_FN void scr_run_leave(void)
{
  int size = 0, ranks = scr.world.ranks, rc = scr_run_flush_newest();

  if (rc != SCR_SUCCESS) {
    scr_report(rc); /* data that exists only in the cache must not end the run with success */
    return;
  }
  if (scr.world.rank == 0)
    scr_msg_print("info", "the run ends here: %s (see scr_halt --list; SCR_HALT_EXIT=0 leaves the end to the program)",
                  scr.halt_why);
  if (scr.leaving && scr.world.rank == 0 && scr_run_write_reason("SCR_FINALIZE_CALLED") != SCR_SUCCESS)
    scr_warn("%s; commands cannot see that the run has ended", scr_err_text);
  scr_event("HALT", scr.halt_why, NULL, -1.0);
  scr_event("END", NULL, NULL, scr_wtime() - scr.run_start);
  scr_barrier(scr.world.comm);
  scr_release();
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size == ranks) MPI_Finalize();
  exit(0);
}

/* ---- when ---- */

/* The costs of checkpoint CKPT, by the CKPT line that it is kept by, and whether the application waits for a flush. */
SCR_FN scr_cost* scr_need_cost(int ckpt)
{
  const scr_reddesc* d = scr_reddesc_for_dataset(&scr.world, ckpt, SCR_FLAG_CHECKPOINT);
  int                flush = !scr.flush_async && scr.flush_every > 0 && ckpt % scr.flush_every == 0;

  return scr.cost != NULL && d != NULL ? &scr.cost[2 * (d - scr.world.red) + flush] : NULL;
}

/* What the log of earlier runs tells of the checkpoint that it is about. */
typedef struct {
  char   level[SCR_MAX_FILENAME + 16]; /* store and scheme, as CHECKPOINT_START notes them */
  double dataset, seconds;             /* the last one that is complete, and its cost */
} scr_need_reading;

/* Learn from LINE of the log, which was written at WHEN, what checkpoints cost and which runs failed. */
SCR_FN void scr_need_learn(const char* line, int64_t when, void* arg)
{
  scr_need_reading* r = (scr_need_reading*)arg;
  char              event[64], level[sizeof r->level];
  double            seconds = scr_log_number(line, "secs");
  int               i, flush;

  if (!scr_log_value(line, "event", event, sizeof event)) return;
  scr_log_runs_add(&scr.past, line, event, when);
  if (strcmp(event, "CHECKPOINT_START") == 0) scr_log_value(line, "note", r->level, sizeof r->level);
  flush = strcmp(event, "FLUSH_SUCCESS") == 0;
  if (flush && scr_log_number(line, "dset") != r->dataset) return;
  if (seconds < 0 || (!flush && strcmp(event, "CHECKPOINT_END") != 0)) return;
  if (!flush) r->seconds = 0;
  r->seconds += seconds;
  r->dataset = scr_log_number(line, "dset");
  for (i = 0; i < scr.world.nreds; i++) {
    snprintf(level, sizeof level, "%s, %s", scr.world.red[i].store, scr_scheme_name(scr.world.red[i].scheme));
    if (strcmp(level, r->level) == 0) scr_cost_learn(&scr.cost[2 * i + flush], r->seconds);
  }
}

/* If SCR_CHECKPOINT_MTBF is set, learn from the log of earlier runs, if there is one.  Rank 0 only. */
SCR_FN void scr_need_begin(void)
{
  char             path[SCR_MAX_FILENAME];
  scr_need_reading r;
  int              rc;

  if (scr.mtbf == 0) return;
  memset(&r, 0, sizeof r);
  scr.cost = (scr_cost*)scr_malloc(2 * (size_t)scr.world.nreds * sizeof *scr.cost);
  rc = scr.cost == NULL ? SCR_ERR_OOM() : scr_record_path(scr.world.prefix, "log", path, sizeof path);
  if (rc == SCR_SUCCESS) rc = scr_log_read(path, scr_need_learn, &r);
  scr_log_runs_next(&scr.past, scr.world.home.job);
  if (rc != SCR_SUCCESS && rc != SCR_ERR_NOT_FOUND)
    scr_warn("%s; what checkpoints cost, and how often runs fail, is learnt from this run alone", scr_err_text);
}

/*
** The seconds of computation after which the next checkpoint should follow (SCR_CHECKPOINT_MTBF); 0 while its cost is
** not known.  Without a failure in the log the time that was watched stands for the time between two: it grows, and
** with it the interval.
*/
SCR_FN double scr_need_interval(double now)
{
  const scr_cost* c = scr_need_cost(scr.checkpoint_id + 1);
  double          mtbf = scr.mtbf, watched = scr.past.seconds + now - scr.run_start;
  double          cost = scr.ckpt_count > 0 ? scr.ckpt_cost / scr.ckpt_count : 0;

  if (mtbf < 0) mtbf = watched / (scr.past.failures > 0 ? scr.past.failures : 1);
  if (c != NULL && c->n > 0) cost = c->seconds;
  return cost > 0 && mtbf > 0 ? scr_best_interval(cost, mtbf, 1) : 0;
}

/* Apply the rules of SCR_Need_checkpoint, and the halt conditions.  Rank 0 only. */
SCR_FN int scr_need_decide(void)
{
  double now = scr_wtime(), cost = scr.ckpt_count ? scr.ckpt_cost / scr.ckpt_count : 0.0, elapsed = now - scr.ckpt_end;
  char   reason[256];

  if (scr_run_halt_look(0, reason, sizeof reason)) return 1;
  if (scr.interval > 0 && scr.need_calls % scr.interval == 0) return 1;
  if (scr.seconds > 0 && elapsed >= scr.seconds) return 1;
  if (scr.overhead > 0 && (scr.ckpt_count == 0 || cost / (elapsed + cost) * 100.0 < scr.overhead)) return 1;
  if (scr.mtbf != 0 && elapsed >= scr_need_interval(now)) return 1;
  return scr.interval <= 0 && scr.seconds <= 0 && scr.overhead <= 0 &&
         scr.mtbf == 0; /* without any rule, always: a program must not lose its work by default */
}

/* ---- the start of a run ---- */

/*
** Delete all datasets of the index from the prefix if SCR_PREFIX_PURGE asks for it, and was not served before in this
** job.  Collective over the world; the same code everywhere.
*/
SCR_FN int scr_run_purge_prefix(void)
{
  scr_index      index;
  scr_index_item it;
  scr_indexed    on;
  int            purge = 0, n = 0, rc = SCR_SUCCESS;

  scr_param_int(scr.world.params, "SCR_PREFIX_PURGE", &purge);
  if (!purge) return SCR_SUCCESS;
  for (;; n++) {
    memset(&on, 0, sizeof on);
    memset(&it, 0, sizeof it);
    if (scr.world.rank == 0) {
      rc = scr_index_open(&index, scr.world.prefix);
      if (rc == SCR_SUCCESS && !scr_index_has_served(&index, "SCR_PREFIX_PURGE", "1", scr.world.job_key)) {
        if (scr_index_walk(&index, &it)) rc = scr_indexed_of(&it, &on);
        else scr_index_note_served(&index, "SCR_PREFIX_PURGE", "1", scr.world.job_key);
      }
      rc = scr_index_close(&index, rc, it.id == 0);
    }
    if ((rc = scr_agree(rc, scr.world.comm)) != SCR_SUCCESS) return rc;
    if ((rc = scr_bcast(&on, (int)sizeof on, MPI_BYTE, 0, scr.world.comm)) != SCR_SUCCESS) return rc;
    if (on.identity.id == 0) break;
    if ((rc = scr_flush_delete_indexed(&on)) != SCR_SUCCESS) return rc;
  }
  if (n > 0 && scr.world.rank == 0)
    scr_warn("SCR_PREFIX_PURGE=1: %d dataset%s deleted from %s", n, n > 1 ? "s" : "", scr.world.prefix);
  return SCR_SUCCESS;
}

/* Open the flush file; one that cannot be read is kept under another name.  Rank 0 only. */
SCR_FN int scr_run_open_flush_file(scr_record* r)
{
  int rc = scr_flush_file_open(r, scr.world.prefix);

  if (rc != SCR_ERR_FORMAT && rc != SCR_ERR_CRC) return rc;
  scr_warn("%s; a new one is written", scr_err_text); /* but for what this run cannot reach */
  scr_record_close(r, rc, 0);
  rc = scr_record_put_aside(scr.world.prefix, "flush.scr");
  if (rc == SCR_SUCCESS && (rc = scr_flush_file_open(r, scr.world.prefix)) == SCR_SUCCESS) scr_flush_file_doubt(r, 1);
  return rc;
}

/* What a start finds out about a dataset from the index. */
typedef struct {
  scr_on_prefix on_prefix;
  scr_life      life;
  scr_aside     aside;
} scr_found;

/* Read in INDEX where DS is and what has been decided about it. */
SCR_FN void scr_run_look_up(const scr_index* index, scr_dataset* ds)
{
  scr_index_item it;
  scr_life       life = SCR_WHOLE;
  int            found = scr_index_same(index, &ds->desc.identity, &it);

  if (found && it.complete) ds->on_prefix = it.renaming ? SCR_PREFIX_RENAMING : SCR_PREFIX_YES;
  else if (scr_desc_is_pure(&ds->desc) && ds->desc.identity.id < scr_index_window(index, INT_MAX, scr.prefix_size))
    ds->on_prefix = SCR_PREFIX_OUTGROWN;
  if (found && it.failed)
    life = scr_index_failed_in(index, &it, scr.world.job_key) ? SCR_REJECTED : SCR_REJECTED_BEFORE;
  if (scr_desc_is_ckpt(&ds->desc) && /* other output is flushed all the same */
      ((found && it.passed) || scr_index_is_passed(index, ds->desc.identity.id) || scr.fresh_start))
    life = SCR_PASSED;
  if (scr_dataset_is_whole(ds) && life > ds->life) ds->life = life;
  if (life == SCR_PASSED && ds->life == SCR_ASIDE)
    ds->aside = ds->aside == SCR_ASIDE_KEPT || ds->aside == SCR_ASIDE_PASSED ? SCR_ASIDE_PASSED : SCR_ASIDE_UNPROVEN;
}

/* Returns 1 unless the parameters tell this run to do without what is in the cache. */
SCR_FN int scr_run_uses_cache(void)
{
  int distribute = 1, purge = 0;

  scr_param_int(scr.world.params, "SCR_DISTRIBUTE", &distribute);
  scr_param_int(scr.world.params, "SCR_CACHE_PURGE", &purge);
  return distribute && !purge;
}

/* The parameter that does. */
SCR_FN const char* scr_run_purge_reason(void)
{
  int distribute = 1;

  scr_param_int(scr.world.params, "SCR_DISTRIBUTE", &distribute);
  return distribute ? "SCR_CACHE_PURGE=1" : "SCR_DISTRIBUTE=0";
}

/*
** Returns 1 if NOTE is of a complete checkpoint that this run has not found, neither in the cache nor on the prefix,
** and that is newer than dataset NEWEST, up to which the prefix has one, or a fresh start has cut them off.
*/
SCR_FN int scr_run_is_lost(int newest, const scr_flush_note* note)
{
  return note->flags & SCR_FLAG_CHECKPOINT && note->location & SCR_LOCATION_CACHE &&
         !(note->location & SCR_LOCATION_PREFIX) && note->id > newest && !scr.fresh_start;
}

/*
** Returns 1 if the checkpoint of NOTE, which was in the cache when the last run ended, is not there because it was
** deleted: this run does without the cache of its job, or has found a newer one that the same run wrote.
*/
SCR_FN int scr_run_is_replaced(const scr_flush_note* note)
{
  int i;

  if (!scr_run_uses_cache() && strcmp(note->job, scr.world.home.job) == 0) return 1;
  for (i = 0; i < scr.datasets && *note->where == '\0'; i++) {
    const scr_dataset* ds = &scr.dataset[i];
    if (ds->life == SCR_WHOLE && ds->desc.ckpt > 0 && ds->desc.identity.id > note->id &&
        strcmp(ds->desc.job, note->job) == 0)
      return 1;
  }
  return 0;
}

/* Add the checkpoint of NOTE, number N of those that are lost, newest first, to what is told about them. */
SCR_FN void scr_run_tell_lost(const scr_flush_note* note, int n)
{
  scr_lost* l = &scr.lost;
  size_t    k = strlen(l->text);

  if (n == 0) l->newest = note->id;
  if (n == 0) l->ckpt = note->ckpt;
  if (!note->ended) l->at_stake = 1;
  if (n >= 3) return;
  snprintf(l->text + k, sizeof l->text - k, "%s%.60s (dataset %d, in the cache of job %.40s%s%.200s)",
           n > 0 ? ", " : "", *note->name ? note->name : "a checkpoint", note->id,
           *note->job ? note->job : "that wrote it", *note->where ? " on " : "", note->where);
}

/*
** Go through the notes that earlier runs have left in R.  Those of datasets that this run has found will be written
** anew, but for those that are set aside; of the others stay those of lost checkpoints, until there is a newer one on
** the prefix.
*/
SCR_FN void scr_run_sift_notes(scr_record* r, const scr_index* index)
{
  scr_flush_note note;
  scr_index_item newest;
  char           where[sizeof note.where];
  int            id = INT_MAX, n = 0, purged = 0, until = scr_index_cut_id(index);

  scr_nodes_file_where(scr.world.prefix, where, sizeof where);
  scr_index_newest(index, INT_MAX, NULL, &newest);
  if (newest.id > until) until = newest.id;
  memset(&scr.lost, 0, sizeof scr.lost);
  scr_flush_file_begin(r, scr.dataset_id);
  while ((id = scr_flush_file_before(r, id)) != 0) {
    const scr_dataset* ds = scr_dataset_find(id);
    scr_flush_file_get(r, id, &note);
    scr_flush_file_remove(r, id);
    if (ds != NULL && !scr_identity_differs(&ds->desc.identity, &note.identity)) {
      if (scr_dataset_is_missed(ds)) {
        if (*note.where == '\0') memcpy(note.where, where, sizeof where); /* this run may be on other nodes */
        scr_flush_file_put(r, &note);
      }
      continue;
    }
    if (!scr_run_is_lost(until, &note)) continue;
    if (!scr_run_uses_cache() && strcmp(note.job, scr.world.home.job) == 0 && purged++ == 0)
      scr_warn("%s deletes %s (dataset %d) from the cache, and the prefix has no checkpoint that is so new",
               scr_run_purge_reason(), *note.name ? note.name : "a checkpoint", note.id);
    if (scr_run_is_replaced(&note)) continue;
    note.location = SCR_LOCATION_CACHE;
    if (*note.where == '\0') memcpy(note.where, where, sizeof where);
    scr_flush_file_put(r, &note);
    if (scr_run_uses_cache()) scr_run_tell_lost(&note, n++);
  }
  if (scr_dataset_newest() != NULL || newest.id > 0 || scr.fresh_start) scr_flush_file_doubt(r, 0);
  if (n == 0 && scr_flush_file_is_doubtful(r)) {
    scr.lost.at_stake = 1;
    snprintf(scr.lost.text, sizeof scr.lost.text,
             "the damaged flush file of %.600s may have listed checkpoints in the caches of other jobs or nodes",
             scr.world.prefix);
  }
  if (n > 0)
    snprintf(
        scr.lost.text + strlen(scr.lost.text), sizeof scr.lost.text - strlen(scr.lost.text),
        "%s cannot be reached by this run, job %.40s on %.80s, with the control directory %.200s and the prefix %.200s",
        n > 3 ? " and older ones" : "", scr.world.home.job, scr.world.home.host, scr.world.cntl, scr.world.prefix);
}

/* Find out from the index about all datasets, and record in the flush file what is in the cache.  Rank 0 only. */
SCR_FN int scr_run_write_flush_file(void)
{
  scr_record     r;
  scr_index      index;
  scr_index_item it;
  int            i, rc;

  scr_index_read(&index, scr.world.prefix); /* if it cannot be read, it is empty: nothing is on the prefix */
  rc = scr_run_open_flush_file(&r);
  for (i = 0; i < scr.datasets; i++) scr_run_look_up(&index, &scr.dataset[i]);
  scr_run_sift_notes(&r, &index);
  for (i = 0; i < scr.datasets; i++) {
    const scr_dataset* ds = &scr.dataset[i];
    if (!scr_dataset_is_whole(ds)) continue;
    scr_dataset_put_note(&r, ds, scr_index_same(&index, &ds->desc.identity, &it) ? it.dir : NULL);
  }
  scr_index_close(&index, SCR_SUCCESS, 0);
  return scr_record_close(&r, rc, 1);
}

/*
** Update the flush file, and find out which datasets are on the prefix, and what has been decided about them.
** Collective over the world; the same code everywhere.
*/
SCR_FN int scr_run_find_on_prefix(void)
{
  scr_found* found = (scr_found*)scr_malloc((size_t)(scr.datasets + 1) * sizeof *found);
  int        i, rc = scr_agree(found == NULL ? SCR_ERR_OOM() : SCR_SUCCESS, scr.world.comm);

  if (rc != SCR_SUCCESS) {
    scr_free(&found);
    return rc;
  }
  if (scr.world.rank == 0 && scr_run_write_flush_file() != SCR_SUCCESS) {
    scr_warn("%s; commands and other jobs do not know what is in the cache", scr_err_text);
    scr.notes_are_behind = 1;
  }
  for (i = 0; i < scr.datasets && scr.world.rank == 0; i++) {
    found[i].on_prefix = scr.dataset[i].on_prefix;
    found[i].life = scr.dataset[i].life;
    found[i].aside = scr.dataset[i].aside;
  }
  rc = scr_bcast(found, scr.datasets * (int)sizeof *found, MPI_BYTE, 0, scr.world.comm);
  for (i = 0; i < scr.datasets && rc == SCR_SUCCESS; i++) {
    scr.dataset[i].on_prefix = found[i].on_prefix;
    scr.dataset[i].life = found[i].life;
    scr.dataset[i].aside = found[i].aside;
  }
  scr_free(&found);
  return rc;
}

/*
** Flush datasets that a killed run should have flushed and, with SCR_FLUSH_ON_RESTART, the loaded checkpoint; what a
** daemon goes on to copy is left to it.  Collective over the world.
*/
SCR_FN void scr_run_flush_due(void)
{
  int i, restart = 0;

  scr_param_int(scr.world.params, "SCR_FLUSH_ON_RESTART", &restart);
  if (scr.flush_daemon) scr_flush_take_over();
  for (i = scr.datasets - 1; i >= 0; i--) {
    const scr_dataset* ds;
    int                id;
    if (i >= scr.datasets) continue; /* a flush that has ended may have removed others */
    ds = &scr.dataset[i];
    id = ds->desc.identity.id;
    if (ds->pins > 0) continue;                                                             /* its flush goes on */
    scr_report(restart && id == scr.loaded ? scr_flush_unasked(id) : scr_flush_if_due(ds)); /* and the run goes on */
  }
}

/*
** Let new ids begin above the greatest one that the prefix knows, and of what was being written there, so that none
** recurs.  *UNFINISHED is 1 on rank 0 if renames on the prefix are left, and becomes the same everywhere.  Collective
** over the world.
*/
SCR_FN int scr_run_raise_ids(int* unfinished)
{
  scr_index index;
  scr_vote  v;
  int       i, rc;

  memset(&v, 0, sizeof v);
  for (i = 0; i < scr.map.n; i++)
    if (scr.map.entry[i]->desc.identity.id > v.max[0]) v.max[0] = scr.map.entry[i]->desc.identity.id;
  if (scr.world.rank == 0) {
    scr_index_read(&index, scr.world.prefix);
    i = scr_flush_file_last_id(&index);
    if (i > v.max[0]) v.max[0] = i;
    scr_index_close(&index, SCR_SUCCESS, 0);
  }
  v.max[1] = *unfinished;
  rc = scr_vote_all(&v, SCR_SUCCESS, scr.world.comm);
  *unfinished = (int)v.max[1];
  if (rc == SCR_SUCCESS && v.max[0] > scr.dataset_id) scr.dataset_id = (int)v.max[0];
  return rc;
}

/* Mark the entries of what is PASSED because the index says so: the index may forget the reason first. */
SCR_FN void scr_run_mark_passed(void)
{
  scr_entry* e;
  int        i, k, changed = 0;

  for (i = 0; i < scr.datasets; i++)
    for (k = 0; scr.dataset[i].life == SCR_PASSED &&
                (e = scr_dataset_next_entry(&scr.dataset[i].desc.identity, &k)) != NULL;) {
      changed |= e->mark != SCR_MARK_PASSED;
      scr_entry_decide(e, SCR_PASSED);
    }
  if (changed && scr_map_write() != SCR_SUCCESS) scr_warn("%s", scr_err_text);
}

/* Find what the cache and the prefix hold, and load a checkpoint.  Collective over the world. */
SCR_FN int scr_run_find_checkpoint(void)
{
  int        use = scr_run_uses_cache(), unfinished, i, rc;
  scr_vote   v;
  scr_search all = {0, INT_MAX};

  rc = scr_recovery_scatter();
  if (!use) rc = scr_cache_purge(rc);
  memset(&v, 0, sizeof v);
  v.sum[0] = scr.damaged_maps;
  if ((rc = scr_vote_all(&v, rc, scr.world.comm)) != SCR_SUCCESS) return rc;
  scr.damaged_maps = use ? (int)v.sum[0] : 0;
  if (scr.damaged_maps > 0)
    scr_tried_add(
        "%d filemaps in the control directories are damaged, and are kept as *.damaged; what they list counts "
        "as lost",
        scr.damaged_maps);
  if ((rc = scr_recovery_all()) != SCR_SUCCESS) return rc;
  unfinished = scr.world.rank == 0 && scr_prefix_finish_all(scr.world.prefix) != SCR_SUCCESS;
  if (unfinished) scr_warn("%s", scr_err_text);
  if ((rc = scr_run_raise_ids(&unfinished)) != SCR_SUCCESS) return rc;
  if (!unfinished) scr_cache_sweep_bypass();
  if ((rc = scr_run_purge_prefix()) != SCR_SUCCESS) return rc;
  if ((rc = scr_restart_begin_anew()) != SCR_SUCCESS) return rc;
  if ((rc = scr_run_find_on_prefix()) != SCR_SUCCESS) return rc;
  scr_run_mark_passed();
  for (i = 0; i < scr.datasets; i++)
    if (scr.dataset[i].life == SCR_REJECTED)
      scr_tried_add("the application rejected %s (dataset %d) in this job", scr_desc_name(&scr.dataset[i].desc),
                    scr.dataset[i].desc.identity.id);
  if ((rc = scr_restart_choose_by_parameter(0)) != SCR_SUCCESS) return rc;
  if ((rc = scr_restart_load(all, NULL)) != SCR_SUCCESS) return rc;
  if (!scr.loaded && !scr.fresh_start && scr_work_is_at_stake() && scr_restart_wish_is_rejected() &&
      scr_restart_choose_by_parameter(1) == SCR_SUCCESS && (rc = scr_restart_load(all, NULL)) != SCR_SUCCESS)
    return rc; /* the user may have corrected what it was rejected for */
  scr_run_flush_due();
  return SCR_SUCCESS;
}

/*
** Record the hosts of this run and their directories, for commands, and for a later run that cannot reach them.
** Collective over the world.
*/
SCR_FN int scr_run_write_nodes(void)
{
  scr_hash *send = scr_hash_new(), *hosts = scr_hash_new();
  int       i, rc;

  if (scr.world.group[SCR_GROUP_NODE].leader == scr.world.rank) {
    scr_hash* host = scr_hash_setf(send, NULL, "%d %s", 0, scr.world.home.host);
    scr_hash_set_kv(host, "CNTL", scr.world.cntl);
    for (i = 0; i < scr.world.nstores; i++)
      if (scr.world.store[i].enabled) scr_hash_set_kv(host, "CACHE", scr.world.store[i].dir);
  }
  rc = scr_hash_exchange_merged(send, hosts, scr.world.comm);
  if (scr.world.rank == 0 &&
      scr_nodes_file_write(scr.world.prefix, scr.world.group[SCR_GROUP_NODE].groups, hosts) != SCR_SUCCESS)
    scr_warn("%s; commands that look for the nodes of the run see those of an earlier one", scr_err_text);
  scr_hash_delete(&send);
  scr_hash_delete(&hosts);
  return scr_agree(rc == SCR_SUCCESS && scr_oom ? SCR_ERR_OOM() : rc, scr.world.comm);
}

/* Set up the log, if SCR_LOG_ENABLE is set, and log the start of the run. */
SCR_FN void scr_run_log_start(void)
{
  scr_err_record why;
  int            rc;

  scr.log.host = scr.world.home.host;
  scr.log.user = scr.world.home.user;
  scr.log.job = scr.world.home.job;
  scr.log.prefix = scr.world.prefix;
  scr_err_save(&why);
  scr_status_event("START", NULL, -1.0);
  rc = scr_log_begin(&scr.log, scr.world.params);
  if (scr.world.rank != 0 || !scr_log_is_on(&scr.log)) return;
  if (rc == SCR_SUCCESS) rc = scr_log_start(&scr.log, scr.world.ranks, scr.world.group[SCR_GROUP_NODE].groups);
  scr_logged(rc, &why);
}

/*
** SCR_ENABLE=0: the library stays out of the way.  Rank 0 tells once which checkpoint there is to restart from by hand;
** the conditions of SCR_Need_checkpoint and SCR_Should_exit still hold.  Collective over the world.
*/
SCR_FN int scr_run_pass_through(void)
{
  char           real[SCR_MAX_FILENAME];
  scr_index      index;
  scr_index_item it;

  scr.disabled = 1;
  scr_run_halt_begin();
  scr.ckpt_end = scr_wtime();
  if (scr.world.rank == 0 && scr_run_find_prefix(scr.world.prefix, real) == SCR_SUCCESS) {
    scr_index_read(&index, scr.world.prefix);
    if (scr_index_newest(&index, INT_MAX, NULL, &it) == SCR_SUCCESS)
      scr_msg_print("info", "the library is off (SCR_ENABLE=0); the newest checkpoint on the prefix is %s, in %s/%s",
                    scr_desc_name(&it.desc), scr.world.prefix, it.dir);
    scr_index_close(&index, SCR_SUCCESS, 0);
  }
  return SCR_ERR(SCR_ERR_DISABLED, "the library is disabled by SCR_ENABLE=0");
}

/* All of SCR_Init except the check of the phase.  Collective over COMM. */
SCR_FN int scr_start_run(MPI_Comm comm)
{
  int enable = 1, halt = 0, rc;

  scr.run_start = scr_wtime();
  scr.world.comm = MPI_COMM_NULL; /* what scr_release does not free */
  if (MPI_Comm_dup(comm, &scr.world.comm) != MPI_SUCCESS)
    return SCR_ERR(SCR_ERR_MPI, "cannot duplicate the communicator");
  MPI_Comm_set_errhandler(scr.world.comm, MPI_ERRORS_RETURN);
  MPI_Comm_rank(scr.world.comm, &scr.world.rank);
  MPI_Comm_size(scr.world.comm, &scr.world.ranks);
  scr_msg_rank = scr.world.rank;
  gethostname(scr_msg_host, sizeof scr_msg_host - 1);
  if ((rc = scr_vote_start()) != SCR_SUCCESS) return rc;
  if ((rc = scr_settings_read()) != SCR_SUCCESS) return rc;
  scr_param_int(scr.world.params, "SCR_ENABLE", &enable);
  scr_param_int(scr.world.params, "SCR_DEBUG", &scr_debug);
  if ((rc = scr_agree(scr_settings_keep(), scr.world.comm)) != SCR_SUCCESS) return rc;
  if (!enable) return scr_run_pass_through();
  if ((rc = scr_run_open_prefix()) != SCR_SUCCESS) return rc;
  if ((rc = scr_world_create(&scr.world)) != SCR_SUCCESS) return rc;
  if (scr.world.rank == 0) scr_need_begin(); /* before this run is in the log */
  scr_run_log_start();
  scr_run_halt_begin();
  rc = scr_fmt(scr.map_file, sizeof scr.map_file, "%s/filemap_%d.scrinfo", scr.world.cntl,
               scr.world.group[SCR_GROUP_NODE].rank);
  if (rc == SCR_SUCCESS) rc = scr_daemon_calm();
  if ((rc = scr_agree(rc, scr.world.comm)) != SCR_SUCCESS) return rc;
  if ((rc = scr_run_find_checkpoint()) != SCR_SUCCESS) return rc;
  if (scr.world.rank == 0 && scr_run_write_reason(NULL) != SCR_SUCCESS) scr_warn("%s", scr_err_text);
  scr.ckpt_end = scr_wtime();
  scr_event("INIT_END", NULL, NULL, scr.ckpt_end - scr.run_start);
  scr_event_compute(1);
  if ((rc = scr_run_write_nodes()) != SCR_SUCCESS) return rc; /* the last agreement: also on memory */
  if (scr_param_get(scr.world.params, "SCR_SIGNALS") != NULL &&
      (rc = scr_agree(scr_signals_begin(), scr.world.comm)) != SCR_SUCCESS)
    return rc;
  scr.phase = SCR_PHASE_IDLE;
  if (scr.halt_exit == 1) {
    if ((rc = scr_run_halt_decide(0, &halt, SCR_SUCCESS)) != SCR_SUCCESS) return rc;
    if (halt) scr_run_leave();
  }
  scr_dbg(1, "%s: %d ranks on %d nodes, ready after %.3f s; prefix %s, control directory %s, cache %s", SCR_VERSION,
          scr.world.ranks, scr.world.group[SCR_GROUP_NODE].groups, scr_wtime() - scr.run_start, scr.world.prefix,
          scr.world.cntl, scr_reddesc_for_dataset(&scr.world, scr.checkpoint_id + 1, SCR_FLAG_CHECKPOINT)->store);
  return SCR_SUCCESS;
}

/* ---- the files of the open dataset, and of the loaded one ---- */

/* Returns 1 if the path REL ends as the temporary names of a flush do, in .scr<numbers>.tmp. */
SCR_FN int scr_route_is_tmp(const char* rel)
{
  size_t n = strlen(rel);

  if (n < 5 || strcmp(rel + n - 4, ".tmp") != 0) return 0;
  for (n -= 4; n > 0 && (isdigit((unsigned char)rel[n - 1]) || rel[n - 1] == '.'); n--) continue;
  return n >= 4 && strncmp(rel + n - 4, ".scr", 4) == 0;
}

/* Returns 1 if a component of the path REL is .scr. */
SCR_FN int scr_route_is_reserved(const char* rel)
{
  const char* p = rel;

  while ((p = strstr(p, ".scr")) != NULL) {
    if ((p == rel || p[-1] == '/') && (p[4] == '/' || p[4] == '\0')) return 1;
    p++;
  }
  return 0;
}

/* Convert NAME to a path below the prefix, whether NAME uses the prefix as given or with its links resolved. */
SCR_FN int scr_route_rel(const char* name, char* rel, size_t n)
{
  char        path[2 * SCR_MAX_FILENAME], cwd[SCR_MAX_FILENAME], whole[SCR_MAX_FILENAME];
  const char* below = NULL;
  int         rc;

  if (name[0] != '/' && getcwd(cwd, sizeof cwd) == NULL) return SCR_ERRNO("cannot get the working directory");
  rc = name[0] == '/' ? scr_fmt(path, sizeof path, "%s", name) : scr_fmt(path, sizeof path, "%s/%s", cwd, name);
  if (rc != SCR_SUCCESS || (rc = scr_path_reduce_str(path, whole, sizeof whole)) != SCR_SUCCESS) return rc;
  if (!scr_path_below(scr.world.prefix, whole, &below) && !scr_path_below(scr.prefix_real, whole, &below))
    return SCR_ERR(SCR_ERR_PATH, "%s is not below the prefix directory %s; name it below, or set SCR_PREFIX", whole,
                   scr.world.prefix);
  rc = scr_fmt(rel, n, "%s", below);
  if (rc == SCR_SUCCESS && scr_route_is_reserved(rel))
    rc = SCR_ERR(SCR_ERR_PATH, "%s is or lies in a directory .scr, which belongs to the library; choose another name",
                 whole);
  else if (rc == SCR_SUCCESS && scr_route_is_tmp(rel))
    rc = SCR_ERR(SCR_ERR_PATH, "%s ends in .scr<number>.tmp, as temporary files of the library do; choose another name",
                 whole);
  return rc;
}

/* Returns 1 if no file of E before F has its directory. */
SCR_FN int scr_route_dir_is_new(const scr_entry* e, const scr_file* f)
{
  int i;

  for (i = e->files - 1; i >= 0; i--)
    if (strcmp(e->file[i].dir, f->dir) == 0) return 0;
  return 1;
}

/*
** Enter the file F in E, a dataset that is written on the prefix; PATH receives its temporary path there.  The filemap
** on disk names a file of each directory before there is a file in it, so that a later run can find them all.
*/
SCR_FN int scr_route_bypass(scr_entry* e, const scr_file* f, char* path)
{
  scr_object o;
  int        is_new = scr_route_dir_is_new(e, f), rc;

  memset(&o, 0, sizeof o);
  o.rel = f->rel;
  o.owner = e->owner;
  rc = scr_object_name_tmp(&o, scr.world.prefix, e->desc.identity.id, 0);
  if (rc == SCR_SUCCESS && o.tmp != NULL)
    rc = SCR_ERR(SCR_ERR_PATH,
                 "the name %s is too long for the temporary name that it has on the prefix first; "
                 "shorten it, or set SCR_CACHE_BYPASS=0",
                 f->rel);
  scr_free(&o.tmp);
  if (rc == SCR_SUCCESS) rc = scr_object_path(&o, scr.world.prefix, e->desc.identity.id, 1, path, SCR_MAX_FILENAME);
  if (rc == SCR_SUCCESS && scr_entry_add(e, f) == NULL) rc = SCR_ERR_OOM();
  if (rc == SCR_SUCCESS && is_new) rc = scr_map_write();
  return rc == SCR_SUCCESS && is_new ? scr_mkdirs(f->dir, 0777) : rc;
}

/* Enter NAME in the open dataset; FILE receives its path. */
SCR_FN int scr_route_new(const char* name, char* file)
{
  char        rel[SCR_MAX_FILENAME], path[SCR_MAX_FILENAME], dir[SCR_MAX_FILENAME];
  const char* slash;
  scr_entry*  e = scr_filemap_by_id(&scr.map, scr.open_id, scr.world.rank);
  scr_file    f;
  int         rc = scr_route_rel(name, rel, sizeof rel);

  if (rc != SCR_SUCCESS) return rc;
  slash = strrchr(rel, '/');
  rc = scr_fmt(dir, sizeof dir, "%s%s%.*s", scr.world.prefix, slash != NULL ? "/" : "",
               slash != NULL ? (int)(slash - rel) : 0, rel);
  if (rc != SCR_SUCCESS) return rc;
  memset(&f, 0, sizeof f);
  f.ranks = scr.world.ranks;
  f.rel = rel; /* the entry copies the strings */
  f.orig = scr_strdup(name);
  f.dir = dir;
  rc = e->bypass ? scr_route_bypass(e, &f, path) : scr_entry_place(&scr.world.home, e, &f, path);
  scr_free(&f.orig);
  if (rc == SCR_SUCCESS) memcpy(file, path, strlen(path) + 1);
  return scr_oom ? SCR_ERR_OOM() : rc;
}

/*
** Find the file NAME of the loaded checkpoint: by its path, by the name that the application gave, or, for a name
** without a directory, by its last component if only one file has it.  FILE receives its path; SCR_ERR_NOT_FOUND if
** there is no such file.
*/
SCR_FN int scr_route_loaded(const char* name, char* file)
{
  const scr_entry* e = scr_dataset_entry(scr_dataset_find(scr.loaded));
  const scr_file * found = NULL, *like = NULL;
  char             rel[SCR_MAX_FILENAME] = "";
  int              i, best = 0, alike = 0;

  if (scr_route_rel(name, rel, sizeof rel) != SCR_SUCCESS) rel[0] = '\0';
  if (scr.reading.id != 0) return scr_read_find(name, rel, file);
  if (e != NULL && *rel) found = scr_entry_find(e, rel);
  if (found != NULL && found->kind != SCR_FILE_APPLICATION) found = NULL;
  for (i = 0; found == NULL && e != NULL && i < e->files; i++) {
    const scr_file* f = &e->file[i];
    const char*     last = strrchr(f->rel, '/');
    int             likeness;
    if (f->kind != SCR_FILE_APPLICATION) continue;
    likeness = f->orig != NULL && strcmp(f->orig, name) == 0 ? 2 : strcmp(last ? last + 1 : f->rel, name) == 0;
    if (likeness == 0 || likeness < best) continue;
    alike = likeness > best ? 1 : alike + 1;
    best = likeness;
    like = f;
  }
  if (found == NULL && alike == 1) found = like; /* if more are alike, it is ambiguous */
  if (found == NULL)
    return SCR_ERR(SCR_ERR_NOT_FOUND, "%s is not a file that rank %d has in the loaded checkpoint", name,
                   scr.world.rank);
  return scr_entry_path(&scr.world.home, e, found->rel, file, SCR_MAX_FILENAME);
}

/* ---- a restart ---- */

/* All ranks could use the loaded checkpoint: that another job rejected it is forgotten.  Collective over the world. */
SCR_FN int scr_accept_loaded(void)
{
  int id = scr.loaded, rc = scr_read_accept(0);

  if (rc == SCR_SUCCESS && scr_dataset_find(id)->life == SCR_REJECTED_BEFORE) rc = scr_change_life(&id, 1, SCR_WHOLE);
  return rc;
}

/* INVALID ranks could not use the loaded checkpoint: reject it, and load an older one.  Collective over the world. */
SCR_FN int scr_reject_loaded(int invalid)
{
  int  id = scr.loaded;
  char name[SCR_MAX_FILENAME], text[1024];

  snprintf(name, sizeof name, "%s", scr_desc_name(&scr_dataset_find(id)->desc));
  scr_change_life(&id, 1, SCR_REJECTED);
  scr.offer.below = id;
  snprintf(text, sizeof text, "%d ranks could not restart from %.900s (dataset %d)", invalid, name, id);
  scr_tried_keep(text);
  scr_event("RESTART_FAIL", NULL, &scr_dataset_find(id)->desc, -1.0);
  scr_read_close();
  scr.loaded = 0;
  scr.restart = SCR_RESTART_UNTRIED;
  return SCR_ERR(SCR_ERR_INVALID,
                 "%d ranks could not restart from %s; SCR_Have_restart offers another checkpoint, if there is one",
                 invalid, name);
}

/* ---- a new dataset ---- */

/* Check the arguments of SCR_Start_output, as far as one rank can alone. */
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

/* Make D the descriptor of the new dataset ID; KEY has the time and the nonce, which rank 0 has drawn. */
SCR_FN void scr_start_describe(scr_desc* d, int id, int ckpt, const char* name, int flags, const int64_t* key)
{
  const char* job = scr_param_get(scr.world.params, "SCR_JOB_NAME");
  const char* cluster = scr_param_get(scr.world.params, "SCR_CLUSTER_NAME");

  memset(d, 0, sizeof *d);
  d->identity.id = id;
  d->identity.created = key[0];
  d->identity.nonce = (uint64_t)key[1];
  if (name != NULL && *name != '\0') snprintf(d->name, sizeof d->name, "%s", name);
  else snprintf(d->name, sizeof d->name, "scr.dataset.%d", id);
  d->flags = flags;
  if (flags & SCR_FLAG_CHECKPOINT) d->ckpt = ckpt;
  snprintf(d->user, sizeof d->user, "%s", scr.world.home.user);
  snprintf(d->job, sizeof d->job, "%s", scr.world.home.job);
  if (job != NULL) snprintf(d->job_name, sizeof d->job_name, "%s", job);
  if (cluster != NULL) snprintf(d->cluster, sizeof d->cluster, "%s", cluster);
  d->ranks = scr.world.ranks;
  d->preserve = scr.preserve != 0;
}

/* Keep the error RC for the Complete call of the open dataset, unless there is an earlier one.  Returns RC. */
SCR_FN int scr_open_fails(int rc)
{
  if (rc == SCR_SUCCESS || scr.open_failure.rc != SCR_SUCCESS) return rc;
  scr.open_failure.rc = rc;
  scr_err_save(&scr.open_failure.why);
  return rc;
}

/* The error that was kept for the open dataset. */
SCR_FN int scr_open_failed(void)
{
  scr_err_restore(&scr.open_failure.why);
  return scr.open_failure.rc;
}

/* The store of D cannot hold dataset ID: rank 0 says where it goes. */
SCR_FN void scr_start_tell_bypass(const scr_reddesc* d, int id)
{
  if (scr.world.rank == 0 && !scr.told_of_bypass)
    scr_warn(
        "%s is too small for dataset %d, which is written on the prefix instead, and so are later ones of its size "
        "(SCR_CACHE_BYPASS=auto)",
        d->store, id);
  scr.told_of_bypass = 1;
}

/* Open a new dataset for the public call CALL.  Collective over the world; the same code everywhere. */
SCR_FN int scr_start_open(const char* call, const char* name, int flags)
{
  enum { ARGUMENTS, MINUS_ARGUMENTS }; /* max */
  char               level[SCR_MAX_FILENAME + 16];
  int                ckpt, id, tight, rc, bypass, too_large = 0;
  const scr_reddesc* d;
  scr_desc           desc;
  scr_vote           v;
  int64_t            need;

  if (scr.restart != SCR_RESTART_OVER && !scr.loaded && !scr.fresh_start && scr_work_is_at_stake())
    return scr_refuse_fresh_start();
  if ((rc = scr_read_accept(1)) != SCR_SUCCESS) return rc;
  rc = scr_start_args(name, flags);
  if (rc != SCR_SUCCESS) name = NULL;
  id = scr.dataset_id + 1;
  ckpt = scr.checkpoint_id + ((flags & SCR_FLAG_CHECKPOINT) != 0);
  d = scr_reddesc_for_dataset(&scr.world, ckpt, flags);
  memset(&v, 0, sizeof v);
  if (scr.world.rank == 0) {
    v.key[0] = scr_time_usec();
    v.key[1] = (int64_t)scr_random();
  }
  v.max[ARGUMENTS] = (int64_t)scr_crc32((uLong)flags, name ? name : "", name ? strlen(name) : 0);
  v.max[MINUS_ARGUMENTS] = -v.max[ARGUMENTS];
  bypass = d->bypass == 1;
  need = bypass ? 0 : scr_room_expected(d);
  scr_room_ask(d, need, &v);
  if (rc == SCR_SUCCESS && scr.world.group[SCR_GROUP_NODE].rank == 0) scr_cache_clear_place(d, id);
  if ((rc = scr_vote_all(&v, rc, scr.world.comm)) != SCR_SUCCESS) return rc;
  if (v.max[ARGUMENTS] != -v.max[MINUS_ARGUMENTS]) return scr_differ(call, name ? name : "", flags);
  scr.open_start = scr_wtime();
  scr_event_compute(0);
  tight = scr_room_is_tight(&v);
  if (scr_room_settle(d) || tight) rc = scr_room_look(d, need, &tight);
  if (rc == SCR_SUCCESS) rc = scr_room_make(d, need, tight && !bypass, &too_large);
  if (rc == SCR_SUCCESS && too_large && d->bypass < 0) {
    bypass = 1;
    scr_start_tell_bypass(d, id);
  }
  scr_start_describe(&desc, id, ckpt, name, flags, v.key);
  if (bypass) desc.preserve = 1;
  if (rc == SCR_SUCCESS) rc = bypass ? scr_cache_enter_bypass(&desc) : scr_cache_enter(d, &desc, scr.preserve);
  if (rc == SCR_SUCCESS) rc = scr_dataset_add(&desc, bypass ? "" : d->store, SCR_WRITING);
  if ((rc = scr_agree(rc, scr.world.comm)) != SCR_SUCCESS) {
    scr_cache_delete_local(id);
    scr_dataset_remove(id);
    scr.dataset_id = id - 1;
    return rc;
  }
  scr.checkpoint_id = ckpt;
  scr.red = d;
  scr.open_id = id;
  scr.loaded = 0;
  scr.restart = SCR_RESTART_OVER;
  scr_read_close();
  if (flags & SCR_FLAG_CHECKPOINT) scr_wish_begin();
  snprintf(level, sizeof level, "%s, %s", bypass ? scr.world.prefix : d->store,
           bypass ? "BYPASS" : scr_scheme_name(d->scheme));
  scr_event(flags & SCR_FLAG_CHECKPOINT ? "CHECKPOINT_START" : "OUTPUT_START", level, &desc, -1.0);
  return SCR_SUCCESS;
}

/*
** Start a dataset for the public call CALL; PHASE is the phase that it enters.  When it cannot be started, nothing
** can be routed until its Complete call, so that the program does not write to the prefix what it could not write to
** the cache.  Collective over the world; the same code everywhere.
*/
SCR_FN int scr_start(const char* call, const char* name, int flags, scr_phase phase)
{
  int rc = scr_enter(call, SCR_PHASE_IDLE);

  if (rc == SCR_ERR_DISABLED) scr.open_start = scr_wtime(); /* for SCR_Need_checkpoint */
  if (rc != SCR_SUCCESS) return scr_not_entered(rc);
  scr_flush_poll();
  scr.open_failure.rc = SCR_SUCCESS;
  rc = scr_open_fails(scr_start_open(call, name, flags));
  scr.phase = rc == SCR_SUCCESS ? phase : SCR_PHASE_FAILED;
  if (rc != SCR_SUCCESS) scr_event_compute(1);
  return scr_report(rc);
}

/* ---- its completion ---- */

/* The path at which the application has written the file F of E. */
SCR_FN int scr_complete_path(const scr_entry* e, const scr_file* f, char* path, size_t n)
{
  if (e->bypass) return scr_object_place(f->rel, NULL, scr.world.prefix, e->desc.identity.id, 1, path, n);
  return scr_entry_path(&scr.world.home, e, f->rel, path, n);
}

/* Record size, mode and times of each file of the open dataset; *BYTES receives their total size. */
SCR_FN int scr_complete_files(scr_entry* e, uint64_t* bytes)
{
  char        path[SCR_MAX_FILENAME];
  struct stat st;
  int         i, rc = SCR_SUCCESS;

  *bytes = 0;
  for (i = 0; i < e->files && rc == SCR_SUCCESS; i++) {
    scr_file* f = &e->file[i];
    if ((rc = scr_complete_path(e, f, path, sizeof path)) != SCR_SUCCESS) break;
    if (scr_os.lstat(path, &st) < 0 || !S_ISREG(st.st_mode))
      return SCR_ERR(SCR_ERR_MISSING, "the file %s was registered, but not written at %s", f->orig, path);
    f->size = (uint64_t)st.st_size;
    f->complete = 1;
    f->mode = (int)(st.st_mode & 07777);
    f->mtime = (int64_t)st.st_mtime;
    *bytes += f->size;
  }
  return rc;
}

/*
** SCR_ERR_ARG on a rank that finds that two ranks registered the same file.  RC is this rank's result so far; a
** missing file may be due to this, so that this error replaces it.  Collective over the world.
*/
SCR_FN int scr_complete_unique(const scr_entry* own, int rc)
{
  scr_hash *     send = scr_hash_new(), *recv = scr_hash_new(), *seen = scr_hash_new();
  scr_hash_elem *e, *c;
  int            i, err;

  for (i = 0; i < own->files; i++) scr_hash_spread(send, own->file[i].rel, "FILE", scr.world.comm);
  if ((err = scr_hash_exchange(send, recv, scr.world.comm)) != SCR_SUCCESS) rc = err;
  for (e = scr_hash_elem_first(recv); e != NULL; e = scr_hash_elem_next(e))
    for (c = scr_hash_elem_first(scr_hash_get(scr_hash_elem_hash(e), "FILE")); c != NULL; c = scr_hash_elem_next(c)) {
      const char* other = scr_hash_elem_get_first_val(seen, scr_hash_elem_key(c));
      if (other != NULL && (rc == SCR_SUCCESS || rc == SCR_ERR_MISSING))
        rc = SCR_ERR(SCR_ERR_ARG, "ranks %s and %s registered the same file %s; each rank needs its own", other,
                     scr_hash_elem_key(e), scr_hash_elem_key(c));
      scr_hash_set_kv(seen, scr_hash_elem_key(c), scr_hash_elem_key(e));
    }
  scr_hash_delete(&send);
  scr_hash_delete(&recv);
  scr_hash_delete(&seen);
  return rc;
}

/*
** Several ranks may write one file on the prefix: the first of the ranks that registered it keeps it in E, its own
** entry; *SHARED becomes 1 on the others.  When this returns, all ranks have written their parts.  Collective over the
** world; returns this rank's code.
*/
SCR_FN int scr_complete_share(scr_entry* e, int* shared)
{
  char           path[SCR_MAX_FILENAME];
  scr_hash *     send = scr_hash_new(), *recv = scr_hash_new(), *seen = scr_hash_new();
  scr_hash_elem *from, *c;
  int            i, n = 0, rc, err;

  for (i = 0; i < e->files; i++) scr_hash_spread(send, e->file[i].rel, "FILE", scr.world.comm);
  rc = scr_hash_exchange(send, recv, scr.world.comm);
  scr_hash_unset_all(send);
  for (from = scr_hash_elem_first(recv); from != NULL; from = scr_hash_elem_next(from)) /* by rank, ascending */
    for (c = scr_hash_elem_first(scr_hash_get(scr_hash_elem_hash(from), "FILE")); c != NULL;
         c = scr_hash_elem_next(c)) {
      if (scr_hash_get(seen, scr_hash_elem_key(c)) != NULL)
        scr_hash_set(scr_hash_setf(send, NULL, "%s", scr_hash_elem_key(from)), scr_hash_elem_key(c), scr_hash_new());
      else scr_hash_set(seen, scr_hash_elem_key(c), scr_hash_new());
    }
  scr_hash_unset_all(seen);
  if ((err = scr_hash_exchange_merged(send, seen, scr.world.comm)) != SCR_SUCCESS) rc = err;
  *shared = 0;
  for (i = 0; i < e->files; i++) {
    if (scr_hash_get(seen, e->file[i].rel) == NULL) {
      e->file[n++] = e->file[i];
      continue;
    }
    *shared = 1;
    err = scr_complete_path(e, &e->file[i], path, sizeof path);
    if (err == SCR_SUCCESS) err = scr_file_sync(path); /* what this node has written of it */
    if (rc == SCR_SUCCESS && err != SCR_SUCCESS) rc = err;
    scr_file_free(&e->file[i]);
  }
  scr_entry_cut(e, n);
  scr_hash_delete(&send);
  scr_hash_delete(&recv);
  scr_hash_delete(&seen);
  return rc;
}

/* The common directory, below the prefix, of all files of E; "" for the prefix itself, or if E has no files. */
SCR_FN void scr_complete_dir(const scr_entry* e, char* dir)
{
  char  path[SCR_MAX_FILENAME];
  char* slash;
  int   i;

  dir[0] = '\0';
  for (i = 0; i < e->files; i++) {
    if (e->file[i].kind != SCR_FILE_APPLICATION) continue;
    snprintf(path, sizeof path, "%s", e->file[i].rel);
    slash = strrchr(path, '/');
    if (slash != NULL) *slash = '\0';
    else path[0] = '\0';
    if (i == 0) memcpy(dir, path, sizeof path);
    else scr_path_keep(dir, scr_path_common(dir, path));
  }
}

/* Commit DS, which was written on the prefix.  Collective over the world; the same code everywhere. */
SCR_FN int scr_complete_bypass(const scr_dataset* ds)
{
  int id = ds->desc.identity.id, rc = scr_flush_run(id, 0);

  if (rc != SCR_SUCCESS) return rc;
  scr_filemap_remove(&scr.map, scr_dataset_entry(scr_dataset_find(id)));
  if (scr_change_life(&id, 1, SCR_WHOLE) != SCR_SUCCESS && scr.world.rank == 0) scr_warn("%s", scr_err_text);
  scr_dataset_find(id)->life = SCR_WHOLE;
  return SCR_SUCCESS;
}

/*
** The open dataset ID failed with the code RC.  If the index has it, or may have it, some of its files only have
** temporary names, which the next run renames or removes; else it is deleted.  Collective over the world; returns RC.
*/
SCR_FN int scr_complete_failed(int id, int rc)
{
  const scr_dataset* ds = scr_dataset_find(id);
  scr_err_record     why;

  scr_err_save(&why);
  scr_event(ds->desc.ckpt > 0 ? "CHECKPOINT_FAIL" : "OUTPUT_FAIL", scr_err_text, &ds->desc,
            scr_wtime() - scr.open_start);
  if (scr_dataset_is_cached(ds)) scr.other_bytes = scr_room_bytes(id);
  if (ds->desc.ckpt > 0) scr_wish_fail();
  if (ds->desc.ckpt > 0) scr.checkpoint_id--;
  if (ds->on_prefix == SCR_PREFIX_RENAMING || ds->on_prefix == SCR_PREFIX_YES) {
    scr_err_restore(&why);
    rc = SCR_ERR(rc, "%.*s; the dataset may be complete: the next run finishes or removes it", scr_err_length,
                 scr_err_text);
    scr_dataset_remove(id);
    scr_err_save(&why);
    scr_event_compute(1);
    scr_err_restore(&why);
    return rc;
  }
  scr_barrier(scr.world.comm); /* one that deletes the directory deletes files of its node that others still count */
  scr_cache_delete(id, 0);
  scr_event_compute(1);
  scr_err_restore(&why);
  return rc;
}

/*
** Protect and commit the open dataset DS.  Its descriptor is set, except for the common directory of all files.  To
** find that, ROOT, the first rank that has files, sends its own common directory, and each rank counts how many leading
** components it shares.  ROOT is the number of ranks if there are no files.  Collective over the world; the same code
** everywhere.
*/
SCR_FN int scr_complete_commit(scr_dataset* ds, int root)
{
  enum { MINUS_COMMON }; /* max */
  int        id = ds->desc.identity.id, rc = SCR_SUCCESS, have;
  scr_entry* e = scr_dataset_entry(ds);
  scr_encode x = scr_cache_encode(&e->red, 0);
  char       dir[SCR_MAX_FILENAME], common[SCR_MAX_FILENAME] = "";
  scr_vote   v;

  scr_complete_dir(e, dir);
  have = e->files > 0;
  memcpy(common, dir, sizeof common);
  if (root < scr.world.ranks) rc = scr_bcast(common, (int)sizeof common, MPI_CHAR, root, scr.world.comm);
  if (!e->bypass) e->desc = ds->desc;
  if (rc == SCR_SUCCESS && !e->bypass) rc = scr_encode_protect(&x, 1, &e);
  memset(&v, 0, sizeof v);
  v.max[MINUS_COMMON] = -(int64_t)(have ? scr_path_common(dir, common) : INT_MAX);
  if ((rc = scr_vote_all(&v, rc, scr.world.comm)) != SCR_SUCCESS) return rc;
  scr_path_keep(common, (int)-v.max[MINUS_COMMON]);
  memcpy(ds->desc.dir, common, sizeof common);
  return e->bypass ? scr_complete_bypass(ds) : scr_change_life(&id, 1, SCR_WHOLE);
}

/* Forget what is on the prefix alone, but for dataset ID: a restart finds it in the index. */
SCR_FN void scr_complete_forget(int id)
{
  int i;

  for (i = scr.datasets - 1; i >= 0; i--)
    if (!scr_dataset_is_cached(&scr.dataset[i]) && scr.dataset[i].desc.identity.id != id)
      scr_dataset_remove(scr.dataset[i].desc.identity.id);
}

/*
** After dataset ID is complete: update the halt conditions, flush it if due, trim the cache, and log the times.
** Collective over the world.
*/
SCR_FN int scr_complete_after(int id)
{
  scr_dataset* ds = scr_dataset_find(id);
  int       number = ds->desc.ckpt, ckpt = number > 0, halt = 0, cached = scr_dataset_is_cached(ds), rc = SCR_SUCCESS;
  scr_cost* cost;
  double    seconds = scr_wtime() - scr.open_start;

  scr_complete_forget(id);
  ds = scr_dataset_find(id);
  if (cached) scr.other_bytes = 0;
  scr_dbg(1, "dataset %d %s: %d files, %" PRIu64 " bytes, %s, complete in %.3f s, %.1f MB/s", id,
          scr_desc_name(&ds->desc), ds->desc.files, ds->desc.bytes,
          cached ? scr_scheme_name(scr.red->scheme) : "on the prefix", seconds,
          (double)ds->desc.bytes / 1e6 / (seconds > 0 ? seconds : 1e-9));
  scr_event(ckpt ? "CHECKPOINT_END" : "OUTPUT_END", NULL, &ds->desc, seconds);
  if (cached) scr_event_transfer(ckpt ? "CHECKPOINT" : "OUTPUT", scr.world.prefix, ds->store, &ds->desc, seconds);
  if (ckpt && scr.serve_id && scr.world.rank == 0 && scr_restart_record_served() != SCR_SUCCESS)
    scr_warn("%s", scr_err_text);
  if (ckpt) {
    scr.ckpt_cost += seconds;
    scr.ckpt_count++;
    rc = scr_run_halt_decide(1, &halt, SCR_SUCCESS);
  }
  if (!cached && ckpt) scr_flush_slide(id);
  if (rc == SCR_SUCCESS && ckpt && scr.granting & SCR_WISH_FLUSH) rc = scr_flush_unless_superseded(id);
  else if (rc == SCR_SUCCESS && scr_flush_is_due(ds))
    rc = scr.flush_async ? scr_flush_start(id, 0) : scr_flush_sync(id, 0);
  /* keep the old ones if the new one is bad, or may turn out so while it is copied; then the next start trims */
  if (!scr_err_is_damage(rc) && scr_dataset_find(id)->pins == 0 && scr_room_trim(scr.red, id, 1) != SCR_SUCCESS)
    scr_warn("%s", scr_err_text);
  if (ckpt) scr_wish_grant(id, rc);
  halt = halt || scr.leaving;
  scr.ckpt_end = scr_wtime();
  if (ckpt && rc == SCR_SUCCESS && (cost = scr_need_cost(number)) != NULL) {
    scr_cost_learn(cost, scr.ckpt_end - scr.open_start);
    scr_dbg(1, "such a checkpoint costs %.3f s; the next one is best after %.3f s of computation", cost->seconds,
            scr_need_interval(scr.ckpt_end));
  }
  if (halt && (scr.halt_exit == 1 || (scr.halt_exit < 0 && !scr.asked_should_exit))) scr_run_leave();
  scr_event_compute(1);
  return rc;
}

/*
** Complete the open dataset for CALL.  It fails on all ranks if one is not VALID, or could not route a file.
** Collective over the world.
*/
SCR_FN int scr_complete(const char* call, int valid, scr_phase phase)
{
  enum { FILES, BYTES, SHARED, FIRST = 0 }; /* sums: files, bytes, ranks that share; max: the first rank with files */
  int          id = scr.open_id, rc, err = SCR_SUCCESS, shared = 0;
  scr_dataset* ds;
  scr_entry*   e;
  scr_vote     v;
  uint64_t     bytes = 0;
  double       began;

  if (scr.phase == SCR_PHASE_FAILED) {
    scr.phase = SCR_PHASE_IDLE;
    return scr_open_failed();
  }
  if ((rc = scr_enter(call, phase)) == SCR_ERR_DISABLED) {
    scr.ckpt_end = scr_wtime();
    scr.ckpt_cost += scr.ckpt_end - scr.open_start;
    scr.ckpt_count++;
  }
  if (rc != SCR_SUCCESS) return scr_not_entered(rc);
  scr_flush_poll();
  ds = scr_dataset_find(id);
  e = scr_dataset_entry(ds);
  began = scr_wtime();
  if (e->bypass) err = scr_complete_share(e, &shared);
  rc = scr_complete_files(e, &bytes);
  if (err != SCR_SUCCESS) rc = err;
  if (scr.open_failure.rc != SCR_SUCCESS) rc = scr_open_failed();
  else if (!valid) rc = SCR_ERR(SCR_ERR_INVALID, "rank %d marked dataset %d as invalid", scr.world.rank, id);
  else if (rc == SCR_ERR_MISSING) scr_err_secondhand = 1; /* another rank may know why */
  if (!e->bypass) rc = scr_complete_unique(e, rc);
  else if (scr.red->bypass < 0) scr.other_bytes = bytes;
  memset(&v, 0, sizeof v);
  v.sum[FILES] = e->files;
  v.sum[BYTES] = (int64_t)bytes;
  v.sum[SHARED] = shared;
  v.max[FIRST] = e->files > 0 ? scr.world.ranks - scr.world.rank : 0;
  rc = scr_vote_all(&v, rc, scr.world.comm);
  ds->desc.files = (int)v.sum[FILES];
  ds->desc.bytes = (uint64_t)v.sum[BYTES];
  ds->desc.shared = v.sum[SHARED] > 0;
  ds->desc.complete = 1;
  if (rc == SCR_SUCCESS) rc = scr_complete_commit(ds, scr.world.ranks - (int)v.max[FIRST]);
  ds = scr_dataset_find(id);
  if (rc == SCR_SUCCESS && scr_dataset_is_cached(ds)) {
    scr_event_transfer("WRITE", scr.world.prefix, ds->store, &ds->desc, began - scr.open_start);
    scr_event_transfer("ENCODE", ds->store, ds->store, &ds->desc, scr_wtime() - began);
  }
  scr.phase = SCR_PHASE_IDLE;
  if (rc == SCR_SUCCESS) return scr_report(scr_complete_after(id));
  return scr_report(scr_complete_failed(id, rc));
}

/* ---- datasets by name ---- */

/*
** Start a call that takes the NAME of a dataset, which must be the same on every rank.  It waits for all flushes first
** (J7); one that WAITS for flushes itself may have NULL, for all datasets.  Collective over the world.
*/
SCR_FN int scr_enter_name(const char* call, const char* name, int waits)
{
  scr_vote v;
  int      all = waits && name == NULL, rc = scr_enter(call, SCR_PHASE_IDLE);

  if (rc != SCR_SUCCESS) return rc;
  if (!all && (name == NULL || *name == '\0' || strlen(name) >= SCR_MAX_FILENAME)) {
    rc = SCR_ERR(SCR_ERR_ARG, "%s needs the name of a dataset, shorter than %d bytes", call, SCR_MAX_FILENAME);
    name = "";
  }
  memset(&v, 0, sizeof v);
  v.max[0] = all ? -1 : (int64_t)scr_crc32(SCR_CRC32_START, name, strlen(name));
  v.max[1] = -v.max[0];
  rc = scr_vote_all(&v, rc, scr.world.comm);
  if (rc == SCR_SUCCESS && v.max[0] != -v.max[1]) rc = scr_differ(call, all ? "" : name, -1);
  if (rc == SCR_SUCCESS && !waits) scr_flush_finish(NULL);
  return scr_report(rc);
}

/*
** Look up the dataset NAME in the index; every rank receives the result.  Collective over the world; the same code
** everywhere.
*/
SCR_FN int scr_run_find_dataset(const char* name, scr_indexed* found)
{
  scr_index      index;
  scr_index_item it;
  int            rc = SCR_SUCCESS;

  memset(found, 0, sizeof *found);
  if (scr.world.rank == 0) {
    rc = scr_index_read(&index, scr.world.prefix);
    if (rc == SCR_SUCCESS && scr_index_named(&index, name, &it) == SCR_SUCCESS) rc = scr_indexed_of(&it, found);
    scr_index_close(&index, SCR_SUCCESS, 0);
  }
  if ((rc = scr_agree(rc, scr.world.comm)) != SCR_SUCCESS) return rc;
  return scr_bcast(found, (int)sizeof *found, MPI_BYTE, 0, scr.world.comm);
}

/* Delete NAME from the cache and from the prefix: each copy of the newest dataset of that name. */
SCR_FN int scr_run_delete(const char* name)
{
  scr_indexed        on;
  const scr_dataset* ds = NULL;
  int                i, id = 0, was_loaded = 0, err = SCR_SUCCESS, rc = scr_run_find_dataset(name, &on);

  if (rc != SCR_SUCCESS) return rc;
  for (i = 0; i < scr.datasets; i++)
    if (strcmp(scr_desc_name(&scr.dataset[i].desc), name) == 0) ds = &scr.dataset[i];
  if (on.identity.id == 0 && ds == NULL)
    return SCR_ERR(SCR_ERR_NOT_FOUND, "there is no dataset %s in the cache or in %s", name, scr.world.prefix);
  if (ds != NULL && on.identity.id != 0 && !scr_identity_same(&ds->desc.identity, &on.identity)) {
    if (scr_identity_cmp(&ds->desc.identity, &on.identity) > 0) on.identity.id = 0;
    else ds = NULL;
  }
  if (ds != NULL) {
    id = ds->desc.identity.id;
    was_loaded = id == scr.loaded;
    if (!was_loaded && scr_work_is_at_stake()) scr.prefix_at_stake = 1; /* only SCR_FRESH_START lifts a refusal */
    err = scr_cache_delete(id, 0);
    if (id == scr.reading.id) scr_read_close();
  }
  if (on.identity.id != 0) rc = scr_flush_delete(on.identity.id, on.dir);
  if (rc == SCR_SUCCESS) rc = scr_agree(err, scr.world.comm);
  if (rc == SCR_SUCCESS) scr_dataset_reconsider();
  if (rc == SCR_SUCCESS && was_loaded && scr.tried.n == 0)
    scr.prefix_at_stake = 0; /* deleted by choice; the next look at the index tells what is left */
  return rc;
}

/* Remove NAME from the index.  Collective over the world; the same code everywhere. */
SCR_FN int scr_run_drop(const char* name)
{
  scr_indexed  on;
  scr_dataset* ds;
  int          rc = scr_run_find_dataset(name, &on);

  if (rc != SCR_SUCCESS) return rc;
  if (on.identity.id == 0)
    return SCR_ERR(SCR_ERR_NOT_FOUND, "the index of %s has no dataset %s", scr.world.prefix, name);
  if (scr.world.rank == 0) rc = scr_index_change(scr.world.prefix, scr_index_remove, on.identity.id, on.dir);
  if ((rc = scr_agree(rc, scr.world.comm)) != SCR_SUCCESS) return rc;
  scr_dataset_reconsider();
  ds = scr_dataset_find(on.identity.id);
  if (ds == NULL || !scr_identity_same(&ds->desc.identity, &on.identity)) return rc;
  if (ds->on_prefix == SCR_PREFIX_YES || ds->on_prefix == SCR_PREFIX_RENAMING)
    scr_change_on_prefix(ds, SCR_PREFIX_DROPPED, NULL);
  if (scr_dataset_is_cached(ds)) return rc;
  if (on.identity.id != scr.reading.id) {
    scr_dataset_remove(on.identity.id);
    return rc;
  }
  scr_read_close();
  if (scr.tried.n == 0) scr.prefix_at_stake = 0; /* by choice; the next look at the index tells what is left */
  return rc;
}

/* Make NAME the choice of the user and, unless it is too late, load it.  Collective over the world. */
SCR_FN int scr_run_choose(const char* name)
{
  int            id, loaded = scr.loaded, rc = scr_restart_choose(name, &id);
  scr_restart    restart = scr.restart;
  scr_search     all = {0, INT_MAX};
  scr_err_record why;

  if (rc != SCR_SUCCESS) return rc;
  if (scr.restart == SCR_RESTART_OVER) return scr_restart_choice_served(id); /* for later runs */
  if ((rc = scr_restart_load(all, name)) == SCR_SUCCESS) return rc;
  scr_err_save(&why);
  if (scr.world.rank == 0) scr_index_change(scr.world.prefix, scr_choice_release, 0, NULL);
  if (!scr_restart_is_native(scr_dataset_find(loaded))) loaded = 0; /* what was read in place is closed */
  scr.loaded = loaded;
  scr.restart = loaded ? SCR_RESTART_LOADED : restart == SCR_RESTART_LOADED ? SCR_RESTART_UNTRIED : restart;
  scr_err_restore(&why);
  return rc;
}

/* ==== 27 PUBLIC API =====================================================================================
** The calls of scr.h.  Each checks the phase, agrees over the ranks, and calls the parts above.
**
** Uses       platform, errors, memory, hash, parameters, dataset, MPI helpers, state, asynchronous flush, room and
**            fetch, restart choice, start and end
** Offers     the calls of scr.h, scr_config_any
** Invariants
**   A1  A call in the wrong phase returns before it communicates or changes anything.  An argument may be wrong on one
**       rank only, so the ranks agree on it before anything changes.
**   A2  Collective calls return the same code on every rank; rank 0 prints the message.
** Failure    An error code; SCR_Last_error has the message.
** ====================================================================================================== */

SCR_API int SCR_Init_comm(MPI_Comm comm)
{
  int started = 0, ended = 0, inter = 0, rc;

  if (scr.disabled) return SCR_ERR_DISABLED;
  if ((rc = scr_enter("SCR_Init", SCR_PHASE_UNINIT)) != SCR_SUCCESS) return rc;
  MPI_Initialized(&started);
  MPI_Finalized(&ended);
  if (!started || ended || comm == MPI_COMM_NULL)
    return scr_report_local(SCR_ERR(SCR_ERR_STATE, "SCR_Init is called %s",
                                    !started ? "before MPI_Init"
                                    : ended  ? "after MPI_Finalize"
                                             : "with MPI_COMM_NULL"));
  MPI_Comm_test_inter(comm, &inter);
  if (inter)
    return scr_report_local(SCR_ERR(SCR_ERR_ARG,
                                    "SCR_Init_comm is called with an intercommunicator; give each group its "
                                    "own communicator, or merge them with MPI_Intercomm_merge"));
  scr.prefix_lock = -1;
  rc = scr_start_run(comm);
  if (rc == SCR_SUCCESS || rc == SCR_ERR_DISABLED) return rc;
  scr_report(rc);
  scr_release();
  return rc;
}

SCR_API int SCR_Init(void)
{
  return SCR_Init_comm(MPI_COMM_WORLD);
}

SCR_API int SCR_Finalize(void)
{
  int            rc = scr_enter("SCR_Finalize", SCR_PHASE_IDLE);
  scr_err_record why;

  if (rc == SCR_ERR_DISABLED) scr_release(); /* the next SCR_Init reads SCR_ENABLE again */
  if (rc != SCR_SUCCESS) return scr_not_entered(rc);
  scr_event_compute(0);
  rc = scr_run_flush_newest();
  scr_report(rc);
  scr_event("END", NULL, NULL, scr_wtime() - scr.run_start);
  if (scr.world.rank == 0) {
    scr_err_save(&why);
    if (scr_run_write_reason("SCR_FINALIZE_CALLED") != SCR_SUCCESS)
      scr_warn("%s; commands cannot see that the run has ended", scr_err_text);
    scr_err_restore(&why);
  }
  scr_barrier(scr.world.comm); /* the next run, on any rank, finds all that this one leaves */
  scr_release();
  return rc;
}

/*
** Carry out CONFIG before SCR_Init.  A query sees the environment and the files as well.  A string that cannot be
** understood is an error of SCR_Init too: a program that ignores it here must not run without what it asked for.
*/
SCR_FN int scr_config_before_init(const char* config, char** value)
{
  scr_hash* all;
  int       rc;

  if (scr.app == NULL) scr.app = scr_hash_new();
  if (scr_params_config_is_query(config) != 1) {
    rc = scr_params_config(scr.app, config, value);
    if (rc == SCR_ERR_ARG && scr.config_failure.rc == SCR_SUCCESS) {
      scr.config_failure.rc = rc;
      scr_err_save(&scr.config_failure.why);
    }
    return rc;
  }
  all = scr_hash_new();
  scr_hash_merge(all, scr.app);
  rc = scr_params_read(all);
  if (rc == SCR_SUCCESS) rc = scr_params_config(all, config, value);
  scr_hash_delete(&all);
  return rc;
}

/* SCR_Config with its code; *VALUE receives the value of a query, which the caller frees, or NULL. */
SCR_FN int scr_config_any(const char* config, char** value)
{
  int rc;

  scr_oom = 0;
  *value = NULL;
  if (config == NULL) return scr_report_local(SCR_ERR(SCR_ERR_ARG, "SCR_Config is called with NULL"));
  if (scr.phase == SCR_PHASE_UNINIT && !scr.disabled) {
    rc = scr_config_before_init(config, value);
  } else if (scr_params_config_is_query(config)) {
    rc = scr_params_config(scr.world.params, config, value);
  } else {
    rc = SCR_ERR(SCR_ERR_STATE, "SCR_Config(\"%s\") sets a parameter after SCR_Init; set it before",
                 scr_params_shown(config));
  }
  if (rc == SCR_SUCCESS) scr_err_text[0] = '\0'; /* NULL with an empty SCR_Last_error then means: not set */
  return scr_report_local(rc);
}

SCR_API const char* SCR_Config(const char* config)
{
  char* value;

  scr_config_any(config, &value);
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

SCR_API int SCR_Route_file(const char* name, char* file)
{
  char copy[SCR_MAX_FILENAME] = ""; /* NAME and FILE may be the same buffer */
  int  rc;

  scr_oom = 0;
  if (name == NULL || *name == '\0' || file == NULL)
    rc = SCR_ERR(SCR_ERR_ARG, "SCR_Route_file needs a name and a buffer for the path");
  else rc = scr_fmt(copy, sizeof copy, "%s", name);
  if (file != NULL) *file = '\0';
  if (scr.disabled && rc == SCR_SUCCESS) {
    memcpy(file, copy, strlen(copy) + 1);
    return SCR_SUCCESS;
  }
  if (scr.phase == SCR_PHASE_UNINIT && rc == SCR_SUCCESS)
    rc = SCR_ERR(SCR_ERR_STATE, "SCR_Route_file is called before SCR_Init");
  if (scr.phase == SCR_PHASE_CHECKPOINT || scr.phase == SCR_PHASE_OUTPUT)
    return scr_report_local(scr_open_fails(rc == SCR_SUCCESS ? scr_route_new(copy, file) : rc));
  if (rc != SCR_SUCCESS) return scr_report_local(rc);
  if (scr.phase == SCR_PHASE_FAILED) return scr_open_failed();
  if (scr.loaded && (rc = scr_route_loaded(copy, file)) != SCR_ERR_NOT_FOUND) {
    if (rc != SCR_SUCCESS) *file = '\0';
    return scr_report_local(rc);
  }
  if (scr.phase == SCR_PHASE_RESTART || (scr.loaded && scr_read_is_foreign())) /* NAME may be an older file there */
    return scr_report_local(SCR_ERR(SCR_ERR_MISSING, "%s", scr_err_text));
  if (access(copy, R_OK) != 0)
    return SCR_ERR(SCR_ERR_MISSING, "%s is not a file of the loaded checkpoint, and cannot be read where it is: %s",
                   copy, strerror(errno));
  memcpy(file, copy, strlen(copy) + 1);
  return SCR_SUCCESS;
}

/* ---- restart ---- */

SCR_API int SCR_Have_restart(int* flag, char* name)
{
  int rc;

  if (flag != NULL) *flag = 0;
  if ((rc = scr_enter("SCR_Have_restart", SCR_PHASE_IDLE)) != SCR_SUCCESS) return scr_not_entered(rc);
  scr.phase = SCR_PHASE_IDLE;
  rc = scr_agree(scr_flag_given("SCR_Have_restart", flag), scr.world.comm);
  if (rc != SCR_SUCCESS) return scr_report(rc);
  if (scr.restart == SCR_RESTART_OVER) return SCR_SUCCESS;
  if (scr.restart == SCR_RESTART_UNTRIED && (rc = scr_restart_load(scr.offer, NULL)) != SCR_SUCCESS)
    return scr_report(rc);
  if (!scr.loaded)
    return scr_work_is_at_stake() && !scr.fresh_start ? scr_report(scr_refuse_fresh_start()) : SCR_SUCCESS;
  *flag = 1;
  if (name != NULL) snprintf(name, SCR_MAX_FILENAME, "%s", scr_desc_name(&scr_dataset_find(scr.loaded)->desc));
  return SCR_SUCCESS;
}

SCR_API int SCR_Start_restart(char* name)
{
  int rc = scr_enter("SCR_Start_restart", SCR_PHASE_IDLE);

  if (rc != SCR_SUCCESS) return scr_not_entered(rc);
  if (!scr.loaded)
    return scr_report_local(SCR_ERR(SCR_ERR_STATE, "SCR_Start_restart is called, but no checkpoint is loaded; ask "
                                                   "SCR_Have_restart first"));
  if (name != NULL) snprintf(name, SCR_MAX_FILENAME, "%s", scr_desc_name(&scr_dataset_find(scr.loaded)->desc));
  scr.phase = SCR_PHASE_RESTART;
  return SCR_SUCCESS;
}

SCR_API int SCR_Complete_restart(int valid)
{
  scr_vote v;
  int      rc = scr_enter("SCR_Complete_restart", SCR_PHASE_RESTART);

  if (rc != SCR_SUCCESS) return scr_not_entered(rc);
  memset(&v, 0, sizeof v);
  v.sum[0] = !valid;
  scr.phase = SCR_PHASE_IDLE;
  if ((rc = scr_vote_all(&v, SCR_SUCCESS, scr.world.comm)) != SCR_SUCCESS) return scr_report(rc);
  if (v.sum[0] > 0) return scr_report(scr_reject_loaded((int)v.sum[0]));
  if ((rc = scr_accept_loaded()) != SCR_SUCCESS) return scr_report(rc);
  scr_event("RESTART_SUCCESS", NULL, &scr_dataset_find(scr.loaded)->desc, -1.0);
  return SCR_SUCCESS;
}

/* ---- when ---- */

SCR_API int SCR_Need_checkpoint(int* flag)
{
  scr_vote v;
  int      rc;

  if (flag != NULL) *flag = 0;
  rc = scr_enter("SCR_Need_checkpoint", SCR_PHASE_IDLE);
  if (rc != SCR_SUCCESS && rc != SCR_ERR_DISABLED) return rc;
  scr_flush_poll();
  scr.need_calls++;
  memset(&v, 0, sizeof v);
  if (scr.world.rank == 0) v.max[0] = scr_need_decide();
  scr_wish_put(&v);
  rc = scr_vote_all(&v, scr_flag_given("SCR_Need_checkpoint", flag), scr.world.comm); /* after: it leaves its message */
  scr_wish_get(&v, rc);
  if (rc != SCR_SUCCESS) return scr_report(rc);
  *flag = v.max[0] || scr.wishes || scr.leaving;
  return SCR_SUCCESS;
}

SCR_API int SCR_Should_exit(int* flag)
{
  int rc, halt = 0;

  if (flag != NULL) *flag = 0;
  rc = scr_enter("SCR_Should_exit", SCR_PHASE_IDLE);
  if (rc != SCR_SUCCESS && rc != SCR_ERR_DISABLED) return rc;
  scr_flush_poll();
  rc = scr_run_halt_decide(0, &halt, scr_flag_given("SCR_Should_exit", flag));
  if (rc != SCR_SUCCESS) return scr_report(rc);
  scr.asked_should_exit = 1;
  *flag = halt;
  return SCR_SUCCESS;
}

SCR_API int SCR_Restart_ranks(int* ranks)
{
  if (ranks != NULL) *ranks = 0;
  scr_oom = 0;
  if (scr.disabled) return SCR_SUCCESS;
  if (ranks == NULL) return scr_report_local(SCR_ERR(SCR_ERR_ARG, "SCR_Restart_ranks needs a place for the number"));
  if (!scr.loaded)
    return scr_report_local(SCR_ERR(SCR_ERR_STATE, "SCR_Restart_ranks is called, but no checkpoint is loaded; ask "
                                                   "SCR_Have_restart first"));
  *ranks = scr_dataset_find(scr.loaded)->desc.ranks;
  if (scr.reading.id != 0) scr.reading.ranks_asked = 1;
  return SCR_SUCCESS;
}

/* ---- checkpoint and output ---- */

SCR_API int SCR_Start_output(const char* name, int flags)
{
  return scr_start("SCR_Start_output", name, flags, SCR_PHASE_OUTPUT);
}

SCR_API int SCR_Start_checkpoint(void)
{
  return scr_start("SCR_Start_checkpoint", NULL, SCR_FLAG_CHECKPOINT, SCR_PHASE_CHECKPOINT);
}

SCR_API int SCR_Complete_output(int valid)
{
  return scr_complete("SCR_Complete_output", valid, SCR_PHASE_OUTPUT);
}

SCR_API int SCR_Complete_checkpoint(int valid)
{
  return scr_complete("SCR_Complete_checkpoint", valid, SCR_PHASE_CHECKPOINT);
}

/* ---- datasets by name ---- */

SCR_API int SCR_Current(const char* name)
{
  int rc = scr_enter_name("SCR_Current", name, 0);
  return rc == SCR_SUCCESS ? scr_report(scr_run_choose(name)) : scr_not_entered(rc);
}

SCR_API int SCR_Drop(const char* name)
{
  int rc = scr_enter_name("SCR_Drop", name, 0);
  return rc == SCR_SUCCESS ? scr_report(scr_run_drop(name)) : scr_not_entered(rc);
}

SCR_API int SCR_Delete(const char* name)
{
  int rc = scr_enter_name("SCR_Delete", name, 0);
  return rc == SCR_SUCCESS ? scr_report(scr_run_delete(name)) : scr_not_entered(rc);
}

SCR_API int SCR_Wait(const char* name)
{
  int rc = scr_enter_name("SCR_Wait", name, 1);
  return rc == SCR_SUCCESS ? scr_report(scr_flush_wait(name)) : scr_not_entered(rc);
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

/* ==== 28 FORTRAN ========================================================================================
** The calls of scr.h as Fortran subroutines, compiled with -DSCR_WITH_FORTRAN.  examples/fortran has their interfaces:
** scr.f90, a module, and scrf.h, the constants for programs without modules.
**
** Uses       errors, memory, MPI helpers, state, start and end
** Offers     nothing
** Invariants
**   A3  A result that does not fit its variable is SCR_ERR_PATH, and the variable is blank: half a path is not a path.
**       If that comes from a collective call, it holds for all ranks as soon as it does for one.  Only messages are
**       shortened; then they end with "...".
**   A4  A call whose result does not fit has failed: nothing is started, and a file that it routed fails its dataset.
** Failure    As for the calls of scr.h, in the argument ierr.
** ====================================================================================================== */

#ifdef SCR_WITH_FORTRAN

typedef MPI_Fint* scr_fortran_int; /* an integer of a Fortran program: its address */

/* The result of a call.  IERR is NULL where the program leaves this argument out, as the module allows. */
SCR_FN void scr_fortran_return(scr_fortran_int ierr, int rc)
{
  if (ierr != NULL) *ierr = (MPI_Fint)rc;
}

/* The length of TEXT, a variable of N characters, without the blanks at its end; a NUL ends it, as from C. */
SCR_FN size_t scr_fortran_length(const char* text, size_t n)
{
  n = strnlen(text, n);
  while (n > 0 && text[n - 1] == ' ') n--;
  return n;
}

/*
** Make NAME the C string of TEXT, which has N characters.  It has room for one byte more than any call accepts, so that
** a text that is too long is refused by the call itself, in its own words and on all ranks.
*/
SCR_FN const char* scr_fortran_name(char name[SCR_MAX_FILENAME + 1], const char* text, size_t n)
{
  n = scr_fortran_length(text, n);
  if (n > SCR_MAX_FILENAME) n = SCR_MAX_FILENAME;
  memcpy(name, text, n);
  name[n] = '\0';
  return name;
}

/* Fill TEXT, a variable of N characters, with RESULT and blanks (A3).  CALL is for the message. */
SCR_FN int scr_fortran_fill(const char* call, char* text, size_t n, const char* result)
{
  size_t length = strlen(result);

  memset(text, ' ', n);
  if (length > n)
    return SCR_ERR(SCR_ERR_PATH, "%s: the result has %zu characters, but the variable for it only %zu", call, length,
                   n);
  memcpy(text, result, length);
  return SCR_SUCCESS;
}

/* The same for NAME, the result of a collective call that has succeeded.  Collective over the world. */
SCR_FN int scr_fortran_fill_all(const char* call, char* text, size_t n, const char* name)
{
  int rc = scr_fortran_fill(call, text, n, name);

  if (scr.disabled || (rc = scr_agree(rc, scr.world.comm)) == SCR_SUCCESS) return rc;
  memset(text, ' ', n);
  return scr_report(rc);
}

/* Fill TEXT, a variable of N characters, with MESSAGE and blanks; one that does not fit ends with "...". */
SCR_FN void scr_fortran_message(char* text, size_t n, const char* message)
{
  size_t length = strlen(message), i;

  memset(text, ' ', n);
  memcpy(text, message, length < n ? length : n);
  for (i = n < 3 ? 0 : n - 3; length > n && i < n; i++) text[i] = '.';
}

/* The calls that answer by a flag, and those that take a name. */
SCR_FN int scr_fortran_flag(int (*call)(int*), scr_fortran_int flag)
{
  int answer = 0, rc = call(&answer);

  *flag = (MPI_Fint)answer;
  return rc;
}

SCR_FN int scr_fortran_named(int (*call)(const char*), const char* text, size_t n)
{
  char name[SCR_MAX_FILENAME + 1];
  return call(scr_fortran_name(name, text, n));
}

/* A blank name stands for all datasets. */
SCR_FN int scr_fortran_wait(const char* text, size_t n)
{
  char        name[SCR_MAX_FILENAME + 1];
  const char* trimmed = scr_fortran_name(name, text, n);
  return SCR_Wait(trimmed != NULL && *trimmed == '\0' ? NULL : trimmed);
}

SCR_FN int scr_fortran_start_output(const char* text, size_t n, int flags)
{
  char name[SCR_MAX_FILENAME + 1];
  return SCR_Start_output(scr_fortran_name(name, text, n), flags);
}

/* The flag stays 1 when the name does not fit: a program that ignores the error must not start from the beginning. */
SCR_FN int scr_fortran_have_restart(scr_fortran_int flag, char* text, size_t n)
{
  char name[SCR_MAX_FILENAME] = "";
  int  have = 0, rc = SCR_Have_restart(&have, name);

  *flag = (MPI_Fint)have;
  memset(text, ' ', n);
  return rc != SCR_SUCCESS ? rc : scr_fortran_fill_all("SCR_Have_restart", text, n, name);
}

SCR_FN int scr_fortran_start_restart(char* text, size_t n)
{
  char      name[SCR_MAX_FILENAME] = "";
  scr_phase phase = scr.phase;
  int       rc = SCR_Start_restart(name);

  memset(text, ' ', n);
  if (rc != SCR_SUCCESS) return rc;
  rc = scr_fortran_fill_all("SCR_Start_restart", text, n, name);
  if (rc != SCR_SUCCESS) scr.phase = phase;
  return rc;
}

SCR_FN int scr_fortran_route_file(const char* text, size_t n, char* to, size_t m)
{
  char name[SCR_MAX_FILENAME + 1], file[SCR_MAX_FILENAME] = "";
  int  rc = SCR_Route_file(scr_fortran_name(name, text, n), file), err;

  err = scr_fortran_fill("SCR_Route_file", to, m, file);
  if (err == SCR_SUCCESS) return rc;
  if (scr.phase == SCR_PHASE_CHECKPOINT || scr.phase == SCR_PHASE_OUTPUT) scr_open_fails(err);
  return scr_report_local(err);
}

SCR_FN int scr_fortran_config(const char* text, size_t n, char* to, size_t m)
{
  size_t length = scr_fortran_length(text, n);
  char * value = NULL, *config = (char*)scr_malloc(length + 1);
  int    rc = SCR_SUCCESS, err;

  if (config != NULL) {
    memcpy(config, text, length);
    config[length] = '\0';
  }
  rc = config != NULL ? scr_config_any(config, &value) : scr_report_local(SCR_ERR_OOM());
  err = scr_fortran_fill("SCR_Config", to, m, value != NULL ? value : "");
  free(config);
  free(value);
  return rc != SCR_SUCCESS ? rc : scr_report_local(err);
}

/* ---- the subroutines ---- */

/*
** SCR_FORTRAN(subroutine, SUBROUTINE, parameters, its work) defines a subroutine, under each name that a Fortran
** compiler may make of it.  The lengths of all character variables are the last parameters.
*/
#define SCR_FORTRAN(low, UP, parameters, work)                                                                         \
  SCR_FORTRAN_AS(low, parameters, work)                                                                                \
  SCR_FORTRAN_AS(low##_, parameters, work)                                                                             \
  SCR_FORTRAN_AS(low##__, parameters, work)                                                                            \
  SCR_FORTRAN_AS(UP, parameters, work)
#define SCR_FORTRAN_AS(name, parameters, work)                                                                         \
  SCR_API void name parameters; /* compilers ask for the prototype of an exported function */                          \
  SCR_API void name parameters                                                                                         \
  {                                                                                                                    \
    work;                                                                                                              \
  }

#ifdef __cplusplus
extern "C" {
#endif

SCR_FORTRAN(scr_init, SCR_INIT, (scr_fortran_int ierr), scr_fortran_return(ierr, SCR_Init()))
SCR_FORTRAN(scr_init_comm, SCR_INIT_COMM, (scr_fortran_int comm, scr_fortran_int ierr),
            scr_fortran_return(ierr, SCR_Init_comm(MPI_Comm_f2c(*comm))))
SCR_FORTRAN(scr_finalize, SCR_FINALIZE, (scr_fortran_int ierr), scr_fortran_return(ierr, SCR_Finalize()))

SCR_FORTRAN(scr_have_restart, SCR_HAVE_RESTART,
            (scr_fortran_int flag, char* name, scr_fortran_int ierr, SCR_FORTRAN_LEN n),
            scr_fortran_return(ierr, scr_fortran_have_restart(flag, name, n)))
SCR_FORTRAN(scr_restart_ranks, SCR_RESTART_RANKS, (scr_fortran_int ranks, scr_fortran_int ierr),
            scr_fortran_return(ierr, scr_fortran_flag(SCR_Restart_ranks, ranks)))
SCR_FORTRAN(scr_start_restart, SCR_START_RESTART, (char* name, scr_fortran_int ierr, SCR_FORTRAN_LEN n),
            scr_fortran_return(ierr, scr_fortran_start_restart(name, n)))
SCR_FORTRAN(scr_complete_restart, SCR_COMPLETE_RESTART, (scr_fortran_int valid, scr_fortran_int ierr),
            scr_fortran_return(ierr, SCR_Complete_restart(*valid != 0)))

SCR_FORTRAN(scr_need_checkpoint, SCR_NEED_CHECKPOINT, (scr_fortran_int flag, scr_fortran_int ierr),
            scr_fortran_return(ierr, scr_fortran_flag(SCR_Need_checkpoint, flag)))
SCR_FORTRAN(scr_start_checkpoint, SCR_START_CHECKPOINT, (scr_fortran_int ierr),
            scr_fortran_return(ierr, SCR_Start_checkpoint()))
SCR_FORTRAN(scr_complete_checkpoint, SCR_COMPLETE_CHECKPOINT, (scr_fortran_int valid, scr_fortran_int ierr),
            scr_fortran_return(ierr, SCR_Complete_checkpoint(*valid != 0)))
SCR_FORTRAN(scr_start_output, SCR_START_OUTPUT,
            (const char* name, scr_fortran_int flags, scr_fortran_int ierr, SCR_FORTRAN_LEN n),
            scr_fortran_return(ierr, scr_fortran_start_output(name, n, (int)*flags)))
SCR_FORTRAN(scr_complete_output, SCR_COMPLETE_OUTPUT, (scr_fortran_int valid, scr_fortran_int ierr),
            scr_fortran_return(ierr, SCR_Complete_output(*valid != 0)))
SCR_FORTRAN(scr_route_file, SCR_ROUTE_FILE,
            (const char* name, char* file, scr_fortran_int ierr, SCR_FORTRAN_LEN n, SCR_FORTRAN_LEN m),
            scr_fortran_return(ierr, scr_fortran_route_file(name, n, file, m)))
SCR_FORTRAN(scr_should_exit, SCR_SHOULD_EXIT, (scr_fortran_int flag, scr_fortran_int ierr),
            scr_fortran_return(ierr, scr_fortran_flag(SCR_Should_exit, flag)))

SCR_FORTRAN(scr_current, SCR_CURRENT, (const char* name, scr_fortran_int ierr, SCR_FORTRAN_LEN n),
            scr_fortran_return(ierr, scr_fortran_named(SCR_Current, name, n)))
SCR_FORTRAN(scr_drop, SCR_DROP, (const char* name, scr_fortran_int ierr, SCR_FORTRAN_LEN n),
            scr_fortran_return(ierr, scr_fortran_named(SCR_Drop, name, n)))
SCR_FORTRAN(scr_delete, SCR_DELETE, (const char* name, scr_fortran_int ierr, SCR_FORTRAN_LEN n),
            scr_fortran_return(ierr, scr_fortran_named(SCR_Delete, name, n)))

SCR_FORTRAN(scr_wait, SCR_WAIT, (const char* name, scr_fortran_int ierr, SCR_FORTRAN_LEN n),
            scr_fortran_return(ierr, scr_fortran_wait(name, n)))

SCR_FORTRAN(scr_config, SCR_CONFIG,
            (const char* config, char* value, scr_fortran_int ierr, SCR_FORTRAN_LEN n, SCR_FORTRAN_LEN m),
            scr_fortran_return(ierr, scr_fortran_config(config, n, value, m)))
SCR_FORTRAN(scr_get_version, SCR_GET_VERSION, (char* version, scr_fortran_int ierr, SCR_FORTRAN_LEN n),
            scr_fortran_return(ierr,
                               scr_report_local(scr_fortran_fill("SCR_Get_version", version, n, SCR_Get_version()))))
SCR_FORTRAN(scr_strerror, SCR_STRERROR, (scr_fortran_int code, char* text, SCR_FORTRAN_LEN n),
            scr_fortran_message(text, n, SCR_Strerror((int)*code)))
SCR_FORTRAN(scr_last_error, SCR_LAST_ERROR, (char* text, SCR_FORTRAN_LEN n),
            scr_fortran_message(text, n, SCR_Last_error()))

#ifdef __cplusplus
}
#endif

#endif /* SCR_WITH_FORTRAN */

#endif /* SCR_SERIAL */
