/*
** yield - a shim for the ranks of functional tests, linked or preloaded: waits give up the processor.
**
** MPICH polls without yielding, so ranks that share a core wait for whole time slices: a collective of 4 ranks on 2
** cores takes 6 ms instead of 0.1.  Its polling ends in ucp_worker_progress, which says when nothing moved.  There, and
** where the library yields, the rank sleeps instead of yielding: what yields comes after all others, so that beside one
** process that computes each step would take a time slice again, and what sleeps leaves the processor to other tests.
*/
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <sys/prctl.h>
#include <time.h>

unsigned ucp_worker_progress(void* worker);

int sched_yield(void)
{
  static _Thread_local int exact;
  const struct timespec    moment = {0, 10000};

  if (!exact) exact = prctl(PR_SET_TIMERSLACK, 1UL) == 0; /* else it sleeps 50 us longer */
  return nanosleep(&moment, NULL);
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
