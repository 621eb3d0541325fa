/*
** yield - a shim to preload into the ranks of functional tests: MPI's idle waits give up the processor.
**
** MPICH polls without yielding, so ranks that share a core wait for whole time slices: a collective of 4 ranks on 2
** cores takes 6 ms instead of 0.1.  Its polling ends in ucp_worker_progress, which says when nothing moved.
*/
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>

unsigned ucp_worker_progress(void* worker);

unsigned ucp_worker_progress(void* worker)
{
  static unsigned (*real)(void*);
  unsigned moved;

  if (real == NULL) *(void**)&real = dlsym(RTLD_NEXT, "ucp_worker_progress");
  moved = real(worker);
  if (moved == 0) sched_yield();
  return moved;
}
