/* ==== THREADS ===========================================================================================
** Threads of the program, which an image does not have: there is one only when all are joined, or are OpenMP's and
** idle.  Locks of this object's tables for as long as they run; keys, destructors, mutexes and signals of the main
** thread.
**
** Uses       ranges.c (who calls), heap.c
** Offers     img_lock, img_unlock, img_threads_objection, img_threads_save, img_threads_resumed, img_run_thread_exits;
**            keys, destructors of thread-local objects, pthread_once, regions of OpenMP; stubs for pthread_create,
**            pthread_join, mutexes and locks.
** Invariants
**   T2  While no thread of the program runs, and without OpenMP, no lock is needed; none is held when an image is
**       taken.
**   T3  A mutex that notes its owner notes a number of this process: none is held when an image is taken.
**   T4  What libc or OpenMP's library calls of the program's is called from here, and does not end with a jump: else a
**       function that the program's ends with would see a native caller.
** Failure    As in POSIX.
** ====================================================================================================== */
#include "image.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

IMG_NATIVE(pthread_create);
IMG_NATIVE(pthread_join);
IMG_NATIVE(pthread_once);
IMG_NATIVE(pthread_key_create);
IMG_NATIVE(pthread_key_delete);
IMG_NATIVE(pthread_mutex_lock);
IMG_NATIVE(pthread_mutex_trylock);
IMG_NATIVE(pthread_mutex_unlock);
IMG_NATIVE(pthread_rwlock_wrlock);
IMG_NATIVE(pthread_rwlock_trywrlock);
IMG_NATIVE(pthread_rwlock_unlock);

static int threads; /* that were created and not joined */
static int owned;   /* mutexes with an owner, and locks for writing, that are held */

/* ---- locks of this object's tables (T2) ---- */

void img_lock(int* lock)
{
  while ((threads > 0 || img_openmp) && __atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE) != 0) sched_yield();
}

void img_unlock(int* lock)
{
  __atomic_store_n(lock, 0, __ATOMIC_RELEASE);
}

/* ---- OpenMP: its library is native, and its threads wait for the next region ---- */

typedef struct {
  int threads, dynamic, levels, schedule, chunk;
} openmp;

static openmp settings;

/* The function NAME of OpenMP. */
static void* openmp_function(const char* name)
{
  void* f = img_native_symbol(name);

  if (f == NULL) img_die("the library of OpenMP has no function %s", name);
  return f;
}

static int openmp_get(const char* name)
{
  union {
    void* address;
    int (*call)(void);
  } f = {openmp_function(name)};

  return f.call();
}

static void openmp_set(const char* name, int value)
{
  union {
    void* address;
    void (*call)(int);
  } f = {openmp_function(name)};

  f.call(value);
}

/* A region: what its threads call, and with what (T4). */
typedef struct {
  void (*f)(void*);
  void* data;
} region;

static void run_region(void* argument)
{
  const region* r = argument;

  r->f(r->data);
  IMG_RETURNS();
}

/*
** Calls of OpenMP's library that begin a region.  The executable's definition is found by all objects; those that are
** native call it with what is not in saved text, and so get what they want, too.
*/
#define REGION_CALL(name, parameters, arguments)                                                                       \
  IMG_API void name parameters;                                                                                        \
  IMG_API void name parameters                                                                                         \
  {                                                                                                                    \
    static union {                                                                                                     \
      void* address;                                                                                                   \
      void(*call) parameters;                                                                                          \
    } native;                                                                                                          \
    region r = {f, data};                                                                                              \
                                                                                                                       \
    if (native.address == NULL) native.address = openmp_function(#name);                                               \
    native.call arguments;                                                                                             \
    IMG_RETURNS();                                                                                                     \
  }
#define LOOP_CALL(kind)                                                                                                \
  REGION_CALL(GOMP_parallel_loop_##kind,                                                                               \
              (void (*f)(void*), void* data, unsigned threads_wanted, long from, long to, long by, long chunk,         \
               unsigned flags),                                                                                        \
              (run_region, &r, threads_wanted, from, to, by, chunk, flags))
#define RUNTIME_CALL(kind)                                                                                             \
  REGION_CALL(GOMP_parallel_loop_##kind,                                                                               \
              (void (*f)(void*), void* data, unsigned threads_wanted, long from, long to, long by, unsigned flags),    \
              (run_region, &r, threads_wanted, from, to, by, flags))

REGION_CALL(GOMP_parallel, (void (*f)(void*), void* data, unsigned threads_wanted, unsigned flags),
            (run_region, &r, threads_wanted, flags))
REGION_CALL(GOMP_parallel_sections,
            (void (*f)(void*), void* data, unsigned threads_wanted, unsigned count, unsigned flags),
            (run_region, &r, threads_wanted, count, flags))
LOOP_CALL(static)
LOOP_CALL(dynamic)
LOOP_CALL(guided)
LOOP_CALL(nonmonotonic_dynamic)
LOOP_CALL(nonmonotonic_guided)
RUNTIME_CALL(runtime)
RUNTIME_CALL(nonmonotonic_runtime)
RUNTIME_CALL(maybe_nonmonotonic_runtime)

static void openmp_save(void)
{
  union {
    void* address;
    void (*call)(int*, int*);
  } schedule;

  if (!img_openmp) return;
  settings.threads = openmp_get("omp_get_max_threads");
  settings.dynamic = openmp_get("omp_get_dynamic");
  settings.levels = openmp_get("omp_get_max_active_levels");
  schedule.address = openmp_function("omp_get_schedule");
  schedule.call(&settings.schedule, &settings.chunk);
}

static void openmp_resumed(void)
{
  union {
    void* address;
    void (*call)(int, int);
  } schedule;

  if (!img_openmp) return;
  openmp_set("omp_set_num_threads", settings.threads);
  openmp_set("omp_set_dynamic", settings.dynamic);
  openmp_set("omp_set_max_active_levels", settings.levels);
  schedule.address = openmp_function("omp_set_schedule");
  schedule.call(settings.schedule, settings.chunk);
}

/* ---- created and joined: what saved objects call in place of libc's functions (ranges.c, R3) ---- */

int img_pthread_create(pthread_t* t, const pthread_attr_t* attributes, void* (*f)(void*), void* argument);
int img_pthread_join(pthread_t t, void** result);

/* What a thread runs. */
typedef struct {
  void* (*f)(void*);
  void* argument;
} routine;

static void* run_thread(void* argument)
{
  routine r = *(routine*)argument;
  void*   result;

  free(argument);
  result = r.f(r.argument);
  IMG_RETURNS();
  return result;
}

int img_pthread_create(pthread_t* t, const pthread_attr_t* attributes, void* (*f)(void*), void* argument)
{
  routine* r;
  int      rc = EAGAIN;

  __atomic_add_fetch(&threads, 1, __ATOMIC_SEQ_CST); /* before it runs (T2) */
  if ((r = img_alloc(sizeof *r)) != NULL) {
    *r = (routine){f, argument};
    rc = scr_native_pthread_create(t, attributes, run_thread, r);
  }
  if (rc == 0) return rc;
  free(r);
  __atomic_sub_fetch(&threads, 1, __ATOMIC_SEQ_CST);
  return rc;
}

/* What pthread_once() calls has no argument. */
static void run_once(void)
{
  img_once();
  IMG_RETURNS();
}

IMG_API int pthread_once(pthread_once_t* once, void (*f)(void))
{
  int rc;

  if (!img_is_saved_text(IMG_CALLER())) return scr_native_pthread_once(once, f);
  img_once = f;
  rc = scr_native_pthread_once(once, run_once);
  IMG_RETURNS();
  return rc;
}

int img_pthread_join(pthread_t t, void** result)
{
  int rc = scr_native_pthread_join(t, result);

  if (rc == 0) __atomic_sub_fetch(&threads, 1, __ATOMIC_SEQ_CST);
  return rc;
}

/* ---- keys: an image has the values of the main thread ---- */

typedef struct {
  int      used;
  unsigned number;
  void (*destructor)(void*);
  const void* value;
} key;

static key keys[IMG_KEYS];

/* Make the key of slot I anew: under its number, which is the lowest that is free then. */
static void make_key(int i)
{
  pthread_key_t made;

  if (scr_native_pthread_key_delete(img_keys[i]) != 0 ||
      scr_native_pthread_key_create(&made, keys[i].destructor) != 0 || made != img_keys[i])
    img_die("keys of threads have other numbers than they had");
}

IMG_API int pthread_key_create(pthread_key_t* made, void (*destructor)(void*))
{
  int i = 0;

  if (!img_is_saved_text(IMG_CALLER())) return scr_native_pthread_key_create(made, destructor);
  while (i < IMG_KEYS && keys[i].used) i++;
  if (i == IMG_KEYS) return EAGAIN;
  keys[i] = (key){1, img_keys[i], destructor, NULL};
  make_key(i);
  *made = keys[i].number;
  return 0;
}

IMG_ALSO(pthread_key_create, __pthread_key_create);

IMG_API int pthread_key_delete(pthread_key_t number)
{
  int i = 0;

  while (i < IMG_KEYS && !(keys[i].used && keys[i].number == number)) i++;
  if (i == IMG_KEYS || !img_is_saved_text(IMG_CALLER())) return scr_native_pthread_key_delete(number);
  keys[i] = (key){0, 0, NULL, NULL};
  make_key(i);
  return 0;
}

/* ---- before an image, and after a restart ---- */

static sigset_t mask; /* of the main thread */

/* A signal that is blocked, has come and is not ignored: it would be in no image.  0 if there is none. */
static int waiting_signal(void)
{
  sigset_t         waiting;
  struct sigaction action;
  int              i;

  if (sigpending(&waiting) != 0 || sigisemptyset(&waiting)) return 0;
  for (i = 1; i < NSIG; i++) {
    if (sigismember(&waiting, i) != 1 || img_lib_sigaction(i, NULL, &action) != 0) continue;
    if (action.sa_handler == SIG_DFL && (i == SIGCHLD || i == SIGCONT || i == SIGURG || i == SIGWINCH)) continue;
    if (action.sa_handler != SIG_IGN) return i;
  }
  return 0;
}

const char* img_threads_objection(void)
{
  static char text[80];
  int         number = waiting_signal();

  if (number != 0) {
    snprintf(text, sizeof text, "has blocked signal %d, which has come", number);
    return text;
  }
  if (img_openmp && openmp_get("omp_get_level") > 0) return "is in a parallel region of OpenMP";
  if (threads > 0) {
    snprintf(text, sizeof text, "has %d threads that were not joined", threads);
    return text;
  }
  return owned > 0 ? "holds a recursive mutex, or a lock for writing" : NULL;
}

void img_threads_save(void)
{
  int i;

  pthread_sigmask(SIG_SETMASK, NULL, &mask);
  openmp_save();
  for (i = 0; i < IMG_KEYS; i++)
    if (keys[i].used) keys[i].value = pthread_getspecific(keys[i].number);
}

void img_threads_resumed(void)
{
  int i;

  for (i = 0; i < IMG_KEYS; i++) {
    if (!keys[i].used) continue;
    if (keys[i].number != img_keys[i]) img_die("keys of threads have other numbers than in the image");
    make_key(i);
    pthread_setspecific(keys[i].number, keys[i].value);
  }
  pthread_sigmask(SIG_SETMASK, &mask, NULL);
  openmp_resumed();
}

/* ---- destructors of thread-local objects: those of the main thread run at the end ---- */

int __cxa_thread_atexit_impl(void (*f)(void*), void* argument, void* object);
IMG_NATIVE(__cxa_thread_atexit_impl);
IMG_NATIVE(syscall);

typedef struct thread_exit {
  struct thread_exit* before;
  void (*f)(void*);
  void* argument;
} thread_exit;

static thread_exit* exits;

IMG_API int __cxa_thread_atexit_impl(void (*f)(void*), void* argument, void* object)
{
  thread_exit* e;

  if (!img_is_saved_text(IMG_CALLER()) || scr_native_syscall(SYS_gettid) != getpid())
    return scr_native___cxa_thread_atexit_impl(f, argument, object);
  if ((e = img_alloc(sizeof *e)) == NULL) return -1;
  *e = (thread_exit){exits, f, argument};
  exits = e;
  return 0;
}

void img_run_thread_exits(void)
{
  while (exits != NULL) {
    thread_exit* e = exits;

    exits = e->before;
    e->f(e->argument);
  }
}

/* ---- mutexes (T3): stubs, too ---- */

int img_pthread_mutex_lock(pthread_mutex_t* m);
int img_pthread_mutex_trylock(pthread_mutex_t* m);
int img_pthread_mutex_unlock(pthread_mutex_t* m);
int img_pthread_rwlock_wrlock(pthread_rwlock_t* l);
int img_pthread_rwlock_trywrlock(pthread_rwlock_t* l);
int img_pthread_rwlock_unlock(pthread_rwlock_t* l);

/* 1 if the kind of M notes its owner and looks at it: recursive, or one that checks for errors. */
static int has_owner(const pthread_mutex_t* m)
{
  return (m->__data.__kind & 3) == PTHREAD_MUTEX_RECURSIVE || (m->__data.__kind & 3) == PTHREAD_MUTEX_ERRORCHECK;
}

static int count(int rc, int more)
{
  if (rc == 0) __atomic_add_fetch(&owned, more, __ATOMIC_SEQ_CST);
  return rc;
}

int img_pthread_mutex_lock(pthread_mutex_t* m)
{
  int rc = scr_native_pthread_mutex_lock(m);

  return has_owner(m) ? count(rc, 1) : rc;
}

int img_pthread_mutex_trylock(pthread_mutex_t* m)
{
  int rc = scr_native_pthread_mutex_trylock(m);

  return has_owner(m) ? count(rc, 1) : rc;
}

int img_pthread_mutex_unlock(pthread_mutex_t* m)
{
  int owner = has_owner(m), rc = scr_native_pthread_mutex_unlock(m);

  return owner ? count(rc, -1) : rc;
}

int img_pthread_rwlock_wrlock(pthread_rwlock_t* l)
{
  return count(scr_native_pthread_rwlock_wrlock(l), 1);
}

int img_pthread_rwlock_trywrlock(pthread_rwlock_t* l)
{
  return count(scr_native_pthread_rwlock_trywrlock(l), 1);
}

int img_pthread_rwlock_unlock(pthread_rwlock_t* l)
{
  int writes = l->__data.__cur_writer != 0, rc = scr_native_pthread_rwlock_unlock(l);

  return writes ? count(rc, -1) : rc;
}
