/*
** jumps.c - setjmp and longjmp over an image, also out of functions that libc calls and out of handlers of signals; and
** a locale, which the program takes from its environment.
*/
#include <ctype.h>
#include <langinfo.h>
#include <locale.h>
#include <mpi.h>
#include <setjmp.h>
#include <wchar.h>

#include "at.h"

static jmp_buf    far;
static sigjmp_buf out, of_handler;
static long       total;

static void need(int ok, const char* what)
{
  if (ok) return;
  fprintf(stderr, "%s fails\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static int gives_up(const void* a, const void* b)
{
  if (*(const int*)a + *(const int*)b == 9) siglongjmp(out, *(const int*)a + 1);
  return *(const int*)a - *(const int*)b;
}

static void handler(int number)
{
  siglongjmp(of_handler, number);
}

/* Down DEPTH calls, and back by a jump. */
static void down(int depth, int step)
{
  volatile char room[1000];

  room[depth] = (char)depth;
  total += room[depth];
  if (depth > 0) down(depth - 1, step);
  else if (step >= 0) longjmp(far, step);
}

/* One step: the jump goes over an image that was taken in between. */
static void go(int rank, int step)
{
  volatile double kept = step * 0.5;
  int             numbers[] = {7, 3, 6, 2, 5, 4}, came;
  sigset_t        now;

  came = setjmp(far);
  if (came == 0) {
    point(rank);
    MPI_Barrier(MPI_COMM_WORLD);
    down(step % 20, step);
  }
  need(came == (step == 0 ? 1 : step), "what longjmp returns");
  total += (long)(kept * 2);
  came = sigsetjmp(out, 0);
  if (came == 0) {
    qsort(numbers, 6, sizeof *numbers, gives_up);
    need(0, "to leave qsort");
  }
  total += came > 1;
  came = sigsetjmp(of_handler, 1);
  if (came == 0) raise(SIGUSR2);
  need(came == SIGUSR2, "to leave a handler");
  sigprocmask(SIG_BLOCK, NULL, &now);
  need(!sigismember(&now, SIGUSR2), "the mask of signals");
}

int main(int argc, char** argv)
{
  int         i, rank, steps = argc > 1 ? atoi(argv[1]) : 10;
  const char* code;
  wchar_t     wide = 0;

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  setlocale(LC_ALL, "");
  code = nl_langinfo(CODESET);
  signal(SIGUSR2, handler);
  for (i = 0; i < steps; i++) {
    go(rank, i);
    need(mbstowcs(&wide, "\303\251", 1) == (strcmp(code, "UTF-8") == 0 ? 1 : (size_t)-1), "mbstowcs");
  }
  MPI_Finalize();
  printf("rank %d: total %ld, %s, wide %d, %s\n", rank, total, code, (int)wide, setlocale(LC_CTYPE, NULL));
  return 0;
}
