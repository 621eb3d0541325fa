/*
** count.c - MPI calls that count themselves and go on to their PMPI forms.
*/
#include <mpi.h>

#include "count.h"

mpi_calls   mpi_count;
mpi_traffic mpi_moved;

static int probed_tag; /* of the message that the last matched probe has found */

/* The bytes of N elements of TYPE. */
static long long bytes_of(int n, MPI_Datatype type)
{
  int size = 0;

  PMPI_Type_size(type, &size);
  return (long long)n * size;
}

/* A message of this tag that is sent or received. */
static void count_message(int tag, long long bytes)
{
  if (tag < 0 || tag >= COUNT_TAGS) tag = COUNT_TAGS - 1;
  mpi_moved.messages[tag]++;
  mpi_moved.message_bytes[tag] += bytes;
}

#define COUNT(counted, name, declared, passed)                                                                         \
  int MPI_##name declared                                                                                              \
  {                                                                                                                    \
    counted;                                                                                                           \
    return PMPI_##name passed;                                                                                         \
  }

/* A collective and its nonblocking form: one that moves as much for each rank, and one that gathers or scatters. */
#define BOTH(counted, name, iname, declared, passed)                                                                   \
  COUNT(counted, name, (declared, MPI_Comm c), (passed, c))                                                            \
  COUNT(counted, iname, (declared, MPI_Comm c, MPI_Request * q), (passed, c, q))
#define EVEN(name, iname, declared, passed)                                                                            \
  BOTH((mpi_count.collectives++, mpi_moved.bytes += bytes_of(n, t)), name, iname, ARGS(declared), ARGS(passed))
#define GATHER(name, iname, declared, passed)                                                                          \
  BOTH((mpi_count.collectives++, mpi_moved.gathers++), name, iname, ARGS(declared), ARGS(passed))
#define COMMUNICATOR(name, declared, passed) COUNT(mpi_count.communicators++, name, declared, passed)
#define SEND(name, declared, passed)                                                                                   \
  COUNT((mpi_count.messages++, count_message(tag, bytes_of(n, t))), name, declared, passed)
#define TAKE(name, tag, declared, passed) COUNT(count_message(tag, bytes_of(m, u)), name, declared, passed)
#define ARGS(...)                         __VA_ARGS__

#define SENT                              const void *s, int n, MPI_Datatype t
#define SENT_V                            const void *s, const int *ns, const int *at, MPI_Datatype t
#define TAKEN                             void *r, int m, MPI_Datatype u
#define TAKEN_V                           void *r, const int *ms, const int *to, MPI_Datatype u
#define REDUCED                           const void *s, void *r, int n, MPI_Datatype t, MPI_Op o
#define RECEIVER                          int dst, int tag, MPI_Comm c
#define SENDER                            int src, int tag, MPI_Comm c

COUNT(mpi_count.collectives++, Barrier, (MPI_Comm c), (c))
COUNT(mpi_count.collectives++, Ibarrier, (MPI_Comm c, MPI_Request* q), (c, q))
EVEN(Bcast, Ibcast, ARGS(void* s, int n, MPI_Datatype t, int root), ARGS(s, n, t, root))
EVEN(Reduce, Ireduce, ARGS(REDUCED, int root), ARGS(s, r, n, t, o, root))
EVEN(Allreduce, Iallreduce, ARGS(REDUCED), ARGS(s, r, n, t, o))
EVEN(Scan, Iscan, ARGS(REDUCED), ARGS(s, r, n, t, o))
EVEN(Exscan, Iexscan, ARGS(REDUCED), ARGS(s, r, n, t, o))
GATHER(Gather, Igather, ARGS(SENT, TAKEN, int root), ARGS(s, n, t, r, m, u, root))
GATHER(Gatherv, Igatherv, ARGS(SENT, TAKEN_V, int root), ARGS(s, n, t, r, ms, to, u, root))
GATHER(Scatter, Iscatter, ARGS(SENT, TAKEN, int root), ARGS(s, n, t, r, m, u, root))
GATHER(Scatterv, Iscatterv, ARGS(SENT_V, TAKEN, int root), ARGS(s, ns, at, t, r, m, u, root))
GATHER(Allgather, Iallgather, ARGS(SENT, TAKEN), ARGS(s, n, t, r, m, u))
GATHER(Allgatherv, Iallgatherv, ARGS(SENT, TAKEN_V), ARGS(s, n, t, r, ms, to, u))
GATHER(Alltoall, Ialltoall, ARGS(SENT, TAKEN), ARGS(s, n, t, r, m, u))
GATHER(Alltoallv, Ialltoallv, ARGS(SENT_V, TAKEN_V), ARGS(s, ns, at, t, r, ms, to, u))
GATHER(Reduce_scatter_block, Ireduce_scatter_block, ARGS(REDUCED), ARGS(s, r, n, t, o))

COMMUNICATOR(Comm_dup, (MPI_Comm c, MPI_Comm* d), (c, d))
COMMUNICATOR(Comm_idup, (MPI_Comm c, MPI_Comm* d, MPI_Request* q), (c, d, q))
COMMUNICATOR(Comm_split, (MPI_Comm c, int color, int key, MPI_Comm* d), (c, color, key, d))
COMMUNICATOR(Comm_split_type, (MPI_Comm c, int type, int key, MPI_Info i, MPI_Comm* d), (c, type, key, i, d))
COMMUNICATOR(Comm_create, (MPI_Comm c, MPI_Group g, MPI_Comm* d), (c, g, d))
COMMUNICATOR(Comm_create_group, (MPI_Comm c, MPI_Group g, int tag, MPI_Comm* d), (c, g, tag, d))

SEND(Send, (SENT, RECEIVER), (s, n, t, dst, tag, c))
SEND(Bsend, (SENT, RECEIVER), (s, n, t, dst, tag, c))
SEND(Ssend, (SENT, RECEIVER), (s, n, t, dst, tag, c))
SEND(Rsend, (SENT, RECEIVER), (s, n, t, dst, tag, c))
SEND(Isend, (SENT, RECEIVER, MPI_Request* q), (s, n, t, dst, tag, c, q))
SEND(Ibsend, (SENT, RECEIVER, MPI_Request* q), (s, n, t, dst, tag, c, q))
SEND(Issend, (SENT, RECEIVER, MPI_Request* q), (s, n, t, dst, tag, c, q))
SEND(Irsend, (SENT, RECEIVER, MPI_Request* q), (s, n, t, dst, tag, c, q))
TAKE(Recv, tag, (TAKEN, SENDER, MPI_Status* st), (r, m, u, src, tag, c, st))
TAKE(Irecv, tag, (TAKEN, SENDER, MPI_Request* q), (r, m, u, src, tag, c, q))
TAKE(Mrecv, probed_tag, (TAKEN, MPI_Message* p, MPI_Status* st), (r, m, u, p, st))
TAKE(Imrecv, probed_tag, (TAKEN, MPI_Message* p, MPI_Request* q), (r, m, u, p, q))

int MPI_Sendrecv(SENT, int dst, int stag, TAKEN, int src, int rtag, MPI_Comm c, MPI_Status* st)
{
  mpi_count.messages++;
  count_message(stag, bytes_of(n, t));
  count_message(rtag, bytes_of(m, u));
  return PMPI_Sendrecv(s, n, t, dst, stag, r, m, u, src, rtag, c, st);
}

int MPI_Improbe(SENDER, int* found, MPI_Message* p, MPI_Status* st)
{
  int rc = PMPI_Improbe(src, tag, c, found, p, st);

  if (rc == MPI_SUCCESS && *found && st != MPI_STATUS_IGNORE) probed_tag = st->MPI_TAG;
  return rc;
}

int MPI_Mprobe(SENDER, MPI_Message* p, MPI_Status* st)
{
  int rc = PMPI_Mprobe(src, tag, c, p, st);

  if (rc == MPI_SUCCESS && st != MPI_STATUS_IGNORE) probed_tag = st->MPI_TAG;
  return rc;
}
