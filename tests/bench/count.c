/*
** count.c - MPI calls that count themselves and go on to their PMPI forms.
*/
#include <mpi.h>

#include "count.h"

mpi_calls mpi_count;

#define COUNT(kind, name, declared, passed)                                                                            \
  int MPI_##name declared                                                                                              \
  {                                                                                                                    \
    mpi_count.kind++;                                                                                                  \
    return PMPI_##name passed;                                                                                         \
  }

/* A collective and its nonblocking form. */
#define COLLECTIVE(name, declared, passed) COUNT(collectives, name, declared, passed)
#define BOTH(name, iname, declared, passed)                                                                            \
  COLLECTIVE(name, (declared, MPI_Comm c), (passed, c))                                                                \
  COLLECTIVE(iname, (declared, MPI_Comm c, MPI_Request * q), (passed, c, q))
#define ARGS(...) __VA_ARGS__

#define SENT      const void *s, int n, MPI_Datatype t
#define SENT_V    const void *s, const int *ns, const int *at, MPI_Datatype t
#define TAKEN     void *r, int m, MPI_Datatype u
#define TAKEN_V   void *r, const int *ms, const int *to, MPI_Datatype u
#define REDUCED   const void *s, void *r, int n, MPI_Datatype t, MPI_Op o
#define RECEIVER  int dst, int tag, MPI_Comm c

COLLECTIVE(Barrier, (MPI_Comm c), (c))
COLLECTIVE(Ibarrier, (MPI_Comm c, MPI_Request* q), (c, q))
BOTH(Bcast, Ibcast, ARGS(void* s, int n, MPI_Datatype t, int root), ARGS(s, n, t, root))
BOTH(Gather, Igather, ARGS(SENT, TAKEN, int root), ARGS(s, n, t, r, m, u, root))
BOTH(Gatherv, Igatherv, ARGS(SENT, TAKEN_V, int root), ARGS(s, n, t, r, ms, to, u, root))
BOTH(Scatter, Iscatter, ARGS(SENT, TAKEN, int root), ARGS(s, n, t, r, m, u, root))
BOTH(Scatterv, Iscatterv, ARGS(SENT_V, TAKEN, int root), ARGS(s, ns, at, t, r, m, u, root))
BOTH(Allgather, Iallgather, ARGS(SENT, TAKEN), ARGS(s, n, t, r, m, u))
BOTH(Allgatherv, Iallgatherv, ARGS(SENT, TAKEN_V), ARGS(s, n, t, r, ms, to, u))
BOTH(Alltoall, Ialltoall, ARGS(SENT, TAKEN), ARGS(s, n, t, r, m, u))
BOTH(Alltoallv, Ialltoallv, ARGS(SENT_V, TAKEN_V), ARGS(s, ns, at, t, r, ms, to, u))
BOTH(Reduce, Ireduce, ARGS(REDUCED, int root), ARGS(s, r, n, t, o, root))
BOTH(Allreduce, Iallreduce, ARGS(REDUCED), ARGS(s, r, n, t, o))
BOTH(Scan, Iscan, ARGS(REDUCED), ARGS(s, r, n, t, o))
BOTH(Exscan, Iexscan, ARGS(REDUCED), ARGS(s, r, n, t, o))
BOTH(Reduce_scatter_block, Ireduce_scatter_block, ARGS(REDUCED), ARGS(s, r, n, t, o))

COUNT(communicators, Comm_dup, (MPI_Comm c, MPI_Comm* d), (c, d))
COUNT(communicators, Comm_idup, (MPI_Comm c, MPI_Comm* d, MPI_Request* q), (c, d, q))
COUNT(communicators, Comm_split, (MPI_Comm c, int color, int key, MPI_Comm* d), (c, color, key, d))
COUNT(communicators, Comm_split_type, (MPI_Comm c, int type, int key, MPI_Info i, MPI_Comm* d), (c, type, key, i, d))
COUNT(communicators, Comm_create, (MPI_Comm c, MPI_Group g, MPI_Comm* d), (c, g, d))
COUNT(communicators, Comm_create_group, (MPI_Comm c, MPI_Group g, int tag, MPI_Comm* d), (c, g, tag, d))

COUNT(messages, Send, (SENT, RECEIVER), (s, n, t, dst, tag, c))
COUNT(messages, Bsend, (SENT, RECEIVER), (s, n, t, dst, tag, c))
COUNT(messages, Ssend, (SENT, RECEIVER), (s, n, t, dst, tag, c))
COUNT(messages, Rsend, (SENT, RECEIVER), (s, n, t, dst, tag, c))
COUNT(messages, Isend, (SENT, RECEIVER, MPI_Request* q), (s, n, t, dst, tag, c, q))
COUNT(messages, Ibsend, (SENT, RECEIVER, MPI_Request* q), (s, n, t, dst, tag, c, q))
COUNT(messages, Issend, (SENT, RECEIVER, MPI_Request* q), (s, n, t, dst, tag, c, q))
COUNT(messages, Irsend, (SENT, RECEIVER, MPI_Request* q), (s, n, t, dst, tag, c, q))
COUNT(messages, Sendrecv, (SENT, int dst, int tag, TAKEN, int src, int rtag, MPI_Comm c, MPI_Status* st),
      (s, n, t, dst, tag, r, m, u, src, rtag, c, st))
