/*
** yield - a shim for the ranks of functional tests, linked or preloaded: waits give up the processor.
**
** MPICH polls without yielding, so ranks that share a core wait for whole time slices: a collective of 4 ranks on 2
** cores takes 6 ms instead of 0.1.  Its polling ends in ucp_worker_progress, which says when nothing moved.
**
** Who yields comes after all others: beside a process that computes, each turn of a wait takes a time slice again.
** Where that is seen, the rank sleeps for a while instead, and is the first to run when it wakes.
*/
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

unsigned ucp_worker_progress(void* worker);

static double seconds(void)
{
  struct timespec t;

  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* For the library's own waits, too. */
int sched_yield(void)
{
  static _Thread_local int sleeps; /* so many more turns sleep */
  const struct timespec    moment = {0, 100000};
  double                   began;

  if (sleeps > 0) {
    sleeps--;
    return nanosleep(&moment, NULL);
  }
  began = seconds();
  if (syscall(SYS_sched_yield) != 0) return -1;
  if (seconds() - began > 0.002) sleeps = 20;
  return 0;
}

unsigned ucp_worker_progress(void* worker)
{
  static unsigned (*real)(void*);
  unsigned moved;

  if (real == NULL) *(void**)&real = dlsym(RTLD_NEXT, "ucp_worker_progress");
  moved = real(worker);
  if (moved == 0) sched_yield();
  return moved;
}
