/*
** stall - a shim for processes of tests, preloaded: a process that opens, without making it, a file whose path ends in
** $STALL_AT, waits once before that until the file $STALL_UNTIL is there; meanwhile $STALL_UNTIL.waits is there.
*/
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void stall(const char* path)
{
  static int  done = 0;
  const char *at = getenv("STALL_AT"), *until = getenv("STALL_UNTIL");
  char        waits[4096];
  size_t      n, k;

  if (done || at == NULL || until == NULL) return;
  n = strlen(path);
  k = strlen(at);
  if (n < k || strcmp(path + n - k, at) != 0) return;
  done = 1;
  snprintf(waits, sizeof waits, "%s.waits", until);
  close(creat(waits, 0644));
  while (access(until, F_OK) != 0) usleep(20000);
}

/* openat and openat64 are one where off_t has 64 bits; a program calls either. */
#define OPENAT(name)                                                                                                   \
  int name(int dir, const char* path, int flags, ...)                                                                  \
  {                                                                                                                    \
    int (*real)(int, const char*, int, ...) = (int (*)(int, const char*, int, ...))dlsym(RTLD_NEXT, #name);            \
    va_list args;                                                                                                      \
    int     mode;                                                                                                      \
                                                                                                                       \
    va_start(args, flags);                                                                                             \
    mode = flags & O_CREAT ? va_arg(args, int) : 0;                                                                    \
    va_end(args);                                                                                                      \
    if (!(flags & O_CREAT)) stall(path);                                                                               \
    return real(dir, path, flags, mode);                                                                               \
  }

OPENAT(openat)
OPENAT(openat64)
