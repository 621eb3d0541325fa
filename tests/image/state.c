/*
** state.c STEPS [MICROSECONDS] - what a process has besides messages: variables, thread-local ones, heap, stack,
** arguments, environment, the state of rand() and strtok().  The result depends on all of them.  It may sleep
** in each step.
*/
#include <math.h>
#include <mpi.h>
#include <time.h>
#include <unistd.h>

#include "at.h"

static int           counter = 5;
static double        zeros[100000];
static __thread long tls = 7, tls_zero;
#ifdef LIBRARY
int keeps(int value); /* keeps.c */
#else
#define keeps(value) 0
#endif
static const char* names[] = {"one", "two", "three"};

/* A recursion whose frames hold something while images are taken below. */
static double deep(int depth, int rank, double x)
{
  double here[64];
  int    i;

  for (i = 0; i < 64; i++) here[i] = x * i + depth;
  if (depth == 0) {
    linger();
    point(rank);
    linger();
  } else x = deep(depth - 1, rank, x * 0.5 + 1);
  for (i = 0; i < 64; i++) x += here[i] * 1e-3;
  return fmod(x, 1000);
}

static int compare(const void* a, const void* b)
{
  return *(const int*)a - *(const int*)b;
}

int main(int argc, char** argv)
{
  int    rank, size, step, i, steps = argc > 1 ? atoi(argv[1]) : 10, numbers[50];
  char * list[100] = {NULL}, *text, *word, line[100];
  double x = 1, time_before;
  time_t t = 1000000000;

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  srand(17);
  srand48(3 + rank);
  text = strdup("a bb ccc dddd eeeee ffffff ggggggg hhhhhhhh iiiiiiiii jjjjjjjjjj");
  word = strtok(text, " ");
  time_before = MPI_Wtime();
  for (step = 0; step < steps; step++) {
    int k = rand() % 100;

    free(list[k]);
    list[k] = malloc((size_t)(10 + rand() % (step % 10 == 0 ? 2000000 : 20000)));
    snprintf(list[k], 10, "%d", step + k);
    if (step % 3 == 0) list[k] = realloc(list[k], (size_t)(10 + rand() % 30000));
    for (i = 0; i < 100; i++) x = x * 0.99 + (list[i] != NULL ? atof(list[i]) : 1);
    for (i = 0; i < 50; i++) numbers[i] = rand() % 1000;
    qsort(numbers, 50, sizeof *numbers, compare);
    x = deep(20, rank, x + numbers[25]) + drand48();
    if (word != NULL) x += (double)strlen(word), word = strtok(NULL, " ");
    if (argc > 2) usleep((unsigned)atoi(argv[2]));
    counter += k + (int)strlen(names[step % 3]) + keeps(k);
    tls += counter, tls_zero++;
    zeros[(step * 7919) % 100000] += x;
    if (MPI_Wtime() < time_before) printf("the clock goes back\n");
    time_before = MPI_Wtime();
  }
  for (i = 0; i < 100000; i++) x += zeros[i];
  snprintf(line, sizeof line, "rank %d of %d: %d %ld %ld %.15g", rank, size, counter, tls, tls_zero, x);
  MPI_Finalize();
  printf("%s %s %d %s %s", line, argv[argc - 1], gmtime(&t)->tm_year, getenv("WORD") != NULL ? getenv("WORD") : "-",
         asctime(gmtime(&t))); /* now, as no image can be taken any more: a restart prints all of it, or nothing */
  return 0;
}
