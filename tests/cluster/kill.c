/*
** kill - a shim to preload: it counts the file calls in one phase of the program, and ends a process at one of them.
**
** The program says in the environment, as CKPT_PHASE, what it calls: init (SCR_Init), complete (SCR_Complete_output).
** From the environment that the program was started with:
**
**   KILL_PHASE=encode|rebuild   encode: what is called within complete.  rebuild: within init, from the first call on a
**                               file that is being rebuilt, or on one of the application, which others rebuild from
**   KILL_BELOW=DIRECTORY        only calls on files below it count
**   KILL_LOG=FILE               without KILL_RANK: a line "<rank> <number> <call> <path>" for each call that counts
**   KILL_RANK=R, KILL_AT=N      before the N-th call that counts, rank R writes that line, and ends
**   KILL_HOW=process|node       by SIGKILL; or it stands still until somebody reads the line and takes its node away
**
** Ranks are those of hydra (PMI_RANK).
*/
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static int calls; /* that have counted so far */

/* The next definition of NAME, into the function pointer at FN. */
static void next_of(const char* name, void* fn)
{
  if (*(void**)fn == NULL) *(void**)fn = dlsym(RTLD_NEXT, name);
}

static const char* setting(const char* name)
{
  const char* v = getenv(name);
  return v != NULL ? v : "";
}

/* 1 when the program is in the phase in which calls count; PATH may begin it. */
static int in_phase(const char* path)
{
  static int  begun;
  const char* phase = setting("CKPT_PHASE");

  if (strcmp(setting("KILL_PHASE"), "encode") == 0) return strcmp(phase, "complete") == 0;
  if (strcmp(phase, "init") != 0) return 0;
  if (strstr(path, "/.scr/new.") != NULL || (strstr(path, "/ckpt.") != NULL && strstr(path, "/.scr/") == NULL))
    begun = 1;
  return begun;
}

/* Write the line of call N. */
static void tell(const char* rank, int n, const char* call, const char* path)
{
  static int (*real_open)(const char*, int, ...);
  static ssize_t (*real_write)(int, const void*, size_t);
  char line[5000];
  int  fd, size = snprintf(line, sizeof line, "%s %d %s %s\n", rank, n, call, path);

  next_of("open", &real_open);
  next_of("write", &real_write);
  fd = real_open(setting("KILL_LOG"), O_WRONLY | O_CREAT | O_APPEND, 0666);
  if (fd < 0 || real_write(fd, line, (size_t)size) != size) abort();
  close(fd);
}

/* CALL on PATH comes next. */
static void meet(const char* call, const char* path)
{
  const char *rank = setting("PMI_RANK"), *victim = setting("KILL_RANK"), *below = setting("KILL_BELOW");
  int         n;

  if (*below == '\0' || strncmp(path, below, strlen(below)) != 0 || !in_phase(path)) return;
  n = __atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST);
  if (*victim == '\0') tell(rank, n, call, path);
  if (strcmp(rank, victim) != 0 || n != atoi(setting("KILL_AT"))) return;
  tell(rank, n, call, path);
  if (strcmp(setting("KILL_HOW"), "node") == 0)
    for (;;) pause();
  kill(getpid(), SIGKILL);
}

/* The same with a descriptor. */
static void meet_fd(const char* call, int fd)
{
  char    link[64], path[4096];
  ssize_t n;

  if (*setting("CKPT_PHASE") == '\0') return;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  n = readlink(link, path, sizeof path - 1);
  if (n <= 0) return;
  path[n] = '\0';
  meet(call, path);
}

/* ---- the calls ------------------------------------------------------------------------------------------------- */

#define OPEN(name)                                                                                                     \
  int name(const char* path, int flags, ...)                                                                           \
  {                                                                                                                    \
    static int (*real)(const char*, int, ...);                                                                         \
    mode_t  mode = 0;                                                                                                  \
    va_list ap;                                                                                                        \
    va_start(ap, flags);                                                                                               \
    if (flags & O_CREAT) mode = (mode_t)va_arg(ap, int);                                                               \
    va_end(ap);                                                                                                        \
    next_of(#name, &real);                                                                                             \
    meet("open", path);                                                                                                \
    return real(path, flags, mode);                                                                                    \
  }

/* A call of TYPE on the descriptor fd, declared as PARAMETERS and called with ARGUMENTS. */
#define ON_FD(type, name, parameters, arguments)                                                                       \
  type name parameters                                                                                                 \
  {                                                                                                                    \
    static type(*real) parameters;                                                                                     \
    next_of(#name, &real);                                                                                             \
    meet_fd(#name, fd);                                                                                                \
    return real arguments;                                                                                             \
  }

/* A call on PATH, one of its parameters. */
#define ON_PATH(name, path, parameters, arguments)                                                                     \
  int name parameters                                                                                                  \
  {                                                                                                                    \
    static int(*real) parameters;                                                                                      \
    next_of(#name, &real);                                                                                             \
    meet(#name, path);                                                                                                 \
    return real arguments;                                                                                             \
  }

OPEN(open)
OPEN(open64)
ON_FD(ssize_t, write, (int fd, const void* buf, size_t n), (fd, buf, n))
ON_FD(ssize_t, pread, (int fd, void* buf, size_t n, off_t at), (fd, buf, n, at))
ON_FD(ssize_t, pread64, (int fd, void* buf, size_t n, off64_t at), (fd, buf, n, at))
ON_FD(ssize_t, pwrite, (int fd, const void* buf, size_t n, off_t at), (fd, buf, n, at))
ON_FD(ssize_t, pwrite64, (int fd, const void* buf, size_t n, off64_t at), (fd, buf, n, at))
ON_FD(int, ftruncate, (int fd, off_t size), (fd, size))
ON_FD(int, ftruncate64, (int fd, off64_t size), (fd, size))
ON_FD(int, fsync, (int fd), (fd))
ON_PATH(rename, to, (const char* from, const char* to), (from, to))
ON_PATH(unlink, path, (const char* path), (path))
ON_PATH(rmdir, path, (const char* path), (path))
ON_PATH(mkdir, path, (const char* path, mode_t mode), (path, mode))
