/*
** probe.c - linked with a program and the library, it counts what the library's calls take: stack, threads, signals.
**
** The linker's option --wrap leads the calls of the program to __wrap_NAME here, and what it calls __real_NAME is the
** function itself.  Each process appends one line to the file that PROBE names when it ends:
**
**   stack BYTES CALL threads N processes N signals N
**
** The stack is that of the deepest call, with what MPI and the C library use below it: before the call all bytes that
** it may use get a value, and afterwards those that still have it are counted.
*/
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>

#include "scr.h"
#undef SCR_Init

#define ROOM  (1 << 20)
#define PAINT 0x5a

static size_t      deepest;
static const char* deepest_call = "none";
static int         threads, processes;
static sigset_t    caught;

static __attribute__((noinline)) void paint(void)
{
  volatile unsigned char room[ROOM];
  size_t                 i;

  for (i = 0; i < sizeof room; i++) room[i] = PAINT;
}

/* Count what CALL has overwritten of the same bytes, which are at the same place as those of paint. */
static __attribute__((noinline)) void look(const char* call)
{
  volatile unsigned char room[ROOM];
  size_t                 i = 0;

  while (i < sizeof room && room[i] == PAINT) i++;
  if (sizeof room - i > deepest) {
    deepest = sizeof room - i;
    deepest_call = call;
  }
}

/* A call of the library that the program makes: PARAMETERS with their types, and the NAMES of them. */
#define PROBE(name, parameters, names)                                                                                 \
  int __real_##name parameters;                                                                                        \
  int __wrap_##name parameters;                                                                                        \
  int __wrap_##name parameters                                                                                         \
  {                                                                                                                    \
    int rc;                                                                                                            \
                                                                                                                       \
    paint();                                                                                                           \
    rc = __real_##name names;                                                                                          \
    look(#name);                                                                                                       \
    return rc;                                                                                                         \
  }

PROBE(SCR_Init, (void), ())
PROBE(SCR_Finalize, (void), ())
PROBE(SCR_Have_restart, (int* flag, char* name), (flag, name))
PROBE(SCR_Start_restart, (char* name), (name))
PROBE(SCR_Complete_restart, (int valid), (valid))
PROBE(SCR_Need_checkpoint, (int* flag), (flag))
PROBE(SCR_Should_exit, (int* flag), (flag))
PROBE(SCR_Start_output, (const char* name, int flags), (name, flags))
PROBE(SCR_Route_file, (const char* name, char* file), (name, file))
PROBE(SCR_Complete_output, (int valid), (valid))

/* What the library starts and catches. */
int __real_pthread_create(pthread_t* thread, const pthread_attr_t* attr, void* (*work)(void* arg), void* arg);
int __wrap_pthread_create(pthread_t* thread, const pthread_attr_t* attr, void* (*work)(void* arg), void* arg);
int __wrap_pthread_create(pthread_t* thread, const pthread_attr_t* attr, void* (*work)(void* arg), void* arg)
{
  threads++;
  return __real_pthread_create(thread, attr, work, arg);
}

int __real_sigaction(int number, const struct sigaction* now, struct sigaction* before);
int __wrap_sigaction(int number, const struct sigaction* now, struct sigaction* before);
int __wrap_sigaction(int number, const struct sigaction* now, struct sigaction* before)
{
  if (now != NULL && now->sa_handler != SIG_DFL && now->sa_handler != SIG_IGN) sigaddset(&caught, number);
  return __real_sigaction(number, now, before);
}

int __real_posix_spawnp(pid_t* pid, const char* file, const posix_spawn_file_actions_t* actions,
                        const posix_spawnattr_t* attributes, char* const* argv, char* const* env);
int __wrap_posix_spawnp(pid_t* pid, const char* file, const posix_spawn_file_actions_t* actions,
                        const posix_spawnattr_t* attributes, char* const* argv, char* const* env);
int __wrap_posix_spawnp(pid_t* pid, const char* file, const posix_spawn_file_actions_t* actions,
                        const posix_spawnattr_t* attributes, char* const* argv, char* const* env)
{
  processes++;
  return __real_posix_spawnp(pid, file, actions, attributes, argv, env);
}

static __attribute__((destructor)) void report(void)
{
  const char* name = getenv("PROBE");
  FILE*       f = name != NULL ? fopen(name, "a") : NULL;
  int         number, signals = 0;

  if (f == NULL) return;
  for (number = 1; number < NSIG; number++) signals += sigismember(&caught, number) == 1;
  fprintf(f, "stack %lu %s threads %d processes %d signals %d\n", (unsigned long)deepest, deepest_call, threads,
          processes, signals);
  fclose(f);
}
