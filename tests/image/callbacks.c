/*
** callbacks.c STEPS - what libc and OpenMP's library call of a program, and what that ends with: it is the program that
** seeds numbers, makes a key, and allocates.  With the name of a thing, only that thing is tried.
*/
#include <mpi.h>
#include <omp.h>
#include <pthread.h>

#include "at.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t  key;
static int            ended;

static void end_of(void* value)
{
  ended = value != NULL;
}

static void make_key(void)
{
  pthread_key_create(&key, end_of);
}

static void seed(void)
{
  srand(4711);
}

/* What a thread returns is of the program's heap. */
static void* copy(void* text)
{
  return strdup(text);
}

static void* has_value(void* value)
{
  pthread_setspecific(key, value);
  return NULL;
}

static void* run(void* (*f)(void*), const char* argument)
{
  pthread_t t;
  void*     result = NULL;

  if (pthread_create(&t, NULL, f, (void*)argument) == 0) pthread_join(t, &result);
  return result;
}

static int sum_of(int n)
{
  int i, sum = 0;

#pragma omp                   parallel for reduction(+ : sum) schedule(dynamic)
  for (i = 0; i < n; i++) sum += i;
#pragma omp parallel for reduction(+ : sum)
  for (i = 0; i < n; i++) sum += i;
#pragma omp parallel sections reduction(+ : sum)
  {
                  #pragma omp section
    sum += 1;
#pragma omp section
    sum += 2;
  }
  return sum;
}

/* A region whose threads need more than 8 MiB of stack. */
static int deep(void)
{
  int sum = 0;

#pragma omp parallel reduction(+ : sum)
  {
    volatile char room[24 << 20];

    room[0] = 1, room[sizeof room - 1] = 2;
    sum += room[0] + room[sizeof room - 1];
  }
  return sum;
}

int main(int argc, char** argv)
{
  int         rank, step, steps = argc > 1 ? atoi(argv[1]) : 10, first;
  const char* what = argc > 2 ? argv[2] : "";
  char*       text;

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  omp_set_num_threads(2);
  if (strcmp(what, "deep") == 0) printf("deep %d\n", deep());
  pthread_once(&once, seed);
  first = rand();
#pragma omp parallel
#pragma omp master
  srand(1234);
  once = (pthread_once_t)PTHREAD_ONCE_INIT;
  pthread_once(&once, make_key);
  pthread_setspecific(key, &first);
  text = run(copy, "made by a thread");
  for (step = 0; step < steps; step++) {
    point(rank);
    linger();
    run(has_value, "of a thread");
  }
  MPI_Finalize();
  printf("rank %d: %d %d %d %s, %d, %s key\n", rank, first, rand(), sum_of(100), text, ended,
         pthread_getspecific(key) == &first ? "its" : "another");
  return 0;
}
