/*
** torn.c - a handler of signals changes two variables, one among the first that an image has and one among the last:
** they are equal, whenever signals come.
*/
#include <mpi.h>

#include "at.h"

static volatile long  first;
static volatile long* last;

static void handle(int number)
{
  (void)number;
  first++;
  ++*last;
}

int main(int argc, char** argv)
{
  const size_t big = 64UL << 20;
  int          rank, i;
  long         sum = 0;
  char*        between;
  FILE*        ready;

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  between = malloc(big);
  last = calloc(1, sizeof *last);
  if (between == NULL || last == NULL) return 1;
  memset(between, 1, big);
  signal(SIGUSR2, handle);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0 && (ready = fopen("ready", "w")) != NULL) fclose(ready);
  for (i = 0; i < 6; i++) {
    point(rank);
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    sum += i;
  }
  signal(SIGUSR2, SIG_IGN);
  MPI_Finalize();
  printf("rank %d: %s, sum %ld\n", rank, first == *last ? "equal" : "different", sum);
  return 0;
}
