/* count.h - what the MPI calls of this process have been since the start, counted through the profiling interface. */
#ifndef BENCH_COUNT_H
#define BENCH_COUNT_H

typedef struct {
  int collectives;   /* blocking or not */
  int communicators; /* made by collective calls, each of which costs several collectives */
  int messages;      /* point-to-point sends */
} mpi_calls;

extern mpi_calls mpi_count;

enum { COUNT_TAGS = 16 }; /* messages with this tag or a larger one count as those of the last */

/* What passes through this process; a message counts where it is sent, and where it is received. */
typedef struct {
  int       gathers;              /* collectives in which one rank sends or receives something for each */
  long long bytes;                /* that this process hands to collectives */
  int       messages[COUNT_TAGS]; /* by tag */
  long long message_bytes[COUNT_TAGS];
} mpi_traffic;

extern mpi_traffic mpi_moved;

#endif
