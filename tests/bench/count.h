/* count.h - what the MPI calls of this process have been since the start, counted through the profiling interface. */
#ifndef BENCH_COUNT_H
#define BENCH_COUNT_H

typedef struct {
  int collectives;   /* blocking or not */
  int communicators; /* made by collective calls, each of which costs several collectives */
  int messages;      /* point-to-point sends */
} mpi_calls;

extern mpi_calls mpi_count;

#endif
