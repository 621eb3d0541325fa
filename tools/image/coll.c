/* ==== COLLECTIVES =======================================================================================
** Blocking collectives over messages: a rank may stop in the middle of one; what is half done is stack and messages.
**
** Uses       p2p.c (img_send, img_recv, img_sendrecv), heap.c (img_alloc)
** Offers     the blocking collectives of MPI.
** Invariants
**   O1  All ranks of a communicator count its collectives alike: the count is the tag of the messages.
**   O2  What is combined, and in which order, depends on ranks and counts alone: results are the same with and without
**       images, and when ranks move.
**   O3  Types and operations are predefined (those who make others are refused): data lies without gaps but those of
**       the extent, and every operation commutes.
** Failure    The first error of a message; by default MPI has ended the program then.
** ====================================================================================================== */
#include "image.h"

#include <stdlib.h>
#include <string.h>

IMG_NATIVE(MPI_Barrier);
IMG_NATIVE(MPI_Bcast);
IMG_NATIVE(MPI_Reduce);
IMG_NATIVE(MPI_Allreduce);
IMG_NATIVE(MPI_Reduce_scatter_block);
IMG_NATIVE(MPI_Reduce_scatter);
IMG_NATIVE(MPI_Scan);
IMG_NATIVE(MPI_Exscan);
IMG_NATIVE(MPI_Gather);
IMG_NATIVE(MPI_Gatherv);
IMG_NATIVE(MPI_Scatter);
IMG_NATIVE(MPI_Scatterv);
IMG_NATIVE(MPI_Allgather);
IMG_NATIVE(MPI_Allgatherv);
IMG_NATIVE(MPI_Alltoall);
IMG_NATIVE(MPI_Alltoallv);
IMG_NATIVE(MPI_Reduce_local);

/* A collective that is under way on this rank. */
typedef struct {
  MPI_Comm comm;
  int      rank, size, tag;
} call;

/* Begin a collective on COMM.  MPI itself refuses a communicator that is none. */
static int enter(call* c, MPI_Comm comm)
{
  static int counts[2]; /* of the world, of MPI_COMM_SELF (O1) */
  int        rc;

  img_enter();
  c->comm = comm;
  rc = MPI_Comm_rank(comm, &c->rank);
  if (rc == MPI_SUCCESS) rc = MPI_Comm_size(comm, &c->size);
  c->tag = counts[comm == MPI_COMM_SELF]++ & 0x7fff;
  return rc;
}

static size_t bytes_of(int count, MPI_Datatype type)
{
  MPI_Aint low, extent = 0;

  MPI_Type_get_extent(type, &low, &extent);
  return (size_t)extent * (size_t)(count > 0 ? count : 0);
}

/* Memory for COUNT of TYPE. */
static void* room(int count, MPI_Datatype type)
{
  void* p = img_alloc(bytes_of(count, type) + 1);

  if (p == NULL) abort();
  return p;
}

static void copy(void* to, const void* from, int count, MPI_Datatype type)
{
  if (to != from) memmove(to, from, bytes_of(count, type));
}

static int worse(int rc, int other)
{
  return rc != MPI_SUCCESS ? rc : other;
}

/* ---- one to all, all to one ---- */

/* A dissemination: after the step of distance d, each rank has heard of the 2 d ranks before it. */
static int barrier(const call* c)
{
  int  d, rc = MPI_SUCCESS;
  char none[2] = {0, 0};

  for (d = 1; d < c->size && rc == MPI_SUCCESS; d *= 2)
    rc = img_sendrecv(&none[0], 0, MPI_BYTE, (c->rank + d) % c->size, &none[1], 0, MPI_BYTE,
                      (c->rank + c->size - d) % c->size, c->tag, c->comm);
  return rc;
}

/* A binomial tree, by ranks relative to the root. */
static int bcast(const call* c, void* buf, int count, MPI_Datatype type, int root)
{
  int me = (c->rank + c->size - root) % c->size, mask = 1, rc = MPI_SUCCESS;

  while (mask < c->size && (me & mask) == 0) mask *= 2;
  if (mask < c->size) rc = img_recv(buf, count, type, (me - mask + root) % c->size, c->tag, c->comm);
  for (mask /= 2; mask > 0 && rc == MPI_SUCCESS; mask /= 2)
    if (me + mask < c->size) rc = img_send(buf, count, type, (me + mask + root) % c->size, c->tag, c->comm);
  return rc;
}

/* The same tree, upwards: BUF of the root becomes the result, those of others are used up. */
static int reduce(const call* c, void* buf, int count, MPI_Datatype type, MPI_Op op, int root)
{
  int   me = (c->rank + c->size - root) % c->size, mask, rc = MPI_SUCCESS;
  void* other = room(count, type);

  for (mask = 1; mask < c->size && rc == MPI_SUCCESS; mask *= 2) {
    if (me & mask) {
      rc = img_send(buf, count, type, (me - mask + root) % c->size, c->tag, c->comm);
      break;
    }
    if (me + mask >= c->size) continue;
    rc = img_recv(other, count, type, (me + mask + root) % c->size, c->tag, c->comm);
    rc = worse(rc, scr_native_MPI_Reduce_local(other, buf, count, type, op));
  }
  free(other);
  return rc;
}

/* Exchange BUF with rank PEER and combine. */
static int combine(const call* c, void* buf, void* other, int count, MPI_Datatype type, MPI_Op op, int peer)
{
  int rc = img_sendrecv(buf, count, type, peer, other, count, type, peer, c->tag, c->comm);

  return worse(rc, scr_native_MPI_Reduce_local(other, buf, count, type, op));
}

/* Recursive doubling; ranks above the power of two take part through a neighbour. */
static int allreduce(const call* c, void* buf, int count, MPI_Datatype type, MPI_Op op)
{
  int   power = 1, extra, me, mask, peer, rc = MPI_SUCCESS;
  void* other = room(count, type);

  while (power * 2 <= c->size) power *= 2;
  extra = c->size - power;
  me = c->rank < 2 * extra ? (c->rank % 2 ? c->rank / 2 : -1) : c->rank - extra;
  if (me < 0) {
    rc = img_send(buf, count, type, c->rank + 1, c->tag, c->comm);
    rc = worse(rc, img_recv(buf, count, type, c->rank + 1, c->tag, c->comm));
  } else {
    if (c->rank < 2 * extra) {
      rc = img_recv(other, count, type, c->rank - 1, c->tag, c->comm);
      rc = worse(rc, scr_native_MPI_Reduce_local(other, buf, count, type, op));
    }
    for (mask = 1; mask < power && rc == MPI_SUCCESS; mask *= 2) {
      peer = me ^ mask;
      rc = combine(c, buf, other, count, type, op, peer < extra ? 2 * peer + 1 : peer + extra);
    }
    if (c->rank < 2 * extra) rc = worse(rc, img_send(buf, count, type, c->rank - 1, c->tag, c->comm));
  }
  free(other);
  return rc;
}

/* Where the pieces of all ranks are: COUNTS and DISPLACEMENTS, or COUNT each. */
typedef struct {
  char*        buf;
  int          count;
  const int *  counts, *displacements;
  MPI_Datatype type;
} pieces;

static int piece_count(const pieces* p, int i)
{
  return p->counts != NULL ? p->counts[i] : p->count;
}

static char* piece(const pieces* p, int i)
{
  return p->displacements != NULL ? p->buf + (ptrdiff_t)bytes_of(1, p->type) * p->displacements[i]
                                  : p->buf + (ptrdiff_t)bytes_of(p->count, p->type) * i;
}

/* BUF of each rank becomes its piece at the root. */
static int gather(const call* c, const void* buf, int count, MPI_Datatype type, const pieces* to, int root)
{
  int i, rc = MPI_SUCCESS;

  if (c->rank != root) return img_send(buf, count, type, root, c->tag, c->comm);
  for (i = 0; i < c->size && rc == MPI_SUCCESS; i++) {
    if (i != root) rc = img_recv(piece(to, i), piece_count(to, i), to->type, i, c->tag, c->comm);
    else if (buf != MPI_IN_PLACE) copy(piece(to, i), buf, count, type);
  }
  return rc;
}

/* Each rank gets its piece of the root. */
static int scatter(const call* c, const pieces* from, void* buf, int count, MPI_Datatype type, int root)
{
  int i, rc = MPI_SUCCESS;

  if (c->rank != root) return img_recv(buf, count, type, root, c->tag, c->comm);
  for (i = 0; i < c->size && rc == MPI_SUCCESS; i++) {
    if (i != root) rc = img_send(piece(from, i), piece_count(from, i), from->type, i, c->tag, c->comm);
    else if (buf != MPI_IN_PLACE) copy(buf, piece(from, i), piece_count(from, i), from->type);
  }
  return rc;
}

/* A ring: in each step a rank passes on the piece that it got last.  Its own is in place. */
static int allgather(const call* c, const pieces* p)
{
  int i, rc = MPI_SUCCESS, right = (c->rank + 1) % c->size, left = (c->rank + c->size - 1) % c->size;

  for (i = 0; i < c->size - 1 && rc == MPI_SUCCESS; i++) {
    int mine = (c->rank + c->size - i) % c->size, next = (c->rank + 2 * c->size - i - 1) % c->size;

    rc = img_sendrecv(piece(p, mine), piece_count(p, mine), p->type, right, piece(p, next), piece_count(p, next),
                      p->type, left, c->tag, c->comm);
  }
  return rc;
}

/* In each step a rank sends to one rank and receives from another, at the same distance. */
static int alltoall(const call* c, const pieces* from, const pieces* to)
{
  int i, rc = MPI_SUCCESS;

  copy(piece(to, c->rank), piece(from, c->rank), piece_count(from, c->rank), from->type);
  for (i = 1; i < c->size && rc == MPI_SUCCESS; i++) {
    int next = (c->rank + i) % c->size, last = (c->rank + c->size - i) % c->size;

    rc = img_sendrecv(piece(from, next), piece_count(from, next), from->type, next, piece(to, last),
                      piece_count(to, last), to->type, last, c->tag, c->comm);
  }
  return rc;
}

/* A copy of the pieces P, for an exchange in place. */
static char* copy_pieces(const call* c, const pieces* p)
{
  size_t end, most = 0;
  char*  all;
  int    i;

  for (i = 0; i < c->size; i++) {
    end = (size_t)(piece(p, i) - p->buf) + bytes_of(piece_count(p, i), p->type);
    if (end > most) most = end;
  }
  all = img_alloc(most + 1);
  if (all == NULL) abort();
  memcpy(all, p->buf, most);
  return all;
}

/* ---- the calls ---- */

IMG_API int MPI_Barrier(MPI_Comm comm)
{
  call c;
  int  rc;

  if (!img_on) return scr_native_MPI_Barrier(comm);
  rc = enter(&c, comm);
  return rc != MPI_SUCCESS ? rc : barrier(&c);
}

IMG_API int MPI_Bcast(void* buf, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
  call c;
  int  rc;

  if (!img_on) return scr_native_MPI_Bcast(buf, count, type, root, comm);
  rc = enter(&c, comm);
  return rc != MPI_SUCCESS ? rc : bcast(&c, buf, count, type, root);
}

IMG_API int MPI_Reduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm)
{
  call  c;
  void* mine;
  int   rc;

  if (!img_on) return scr_native_MPI_Reduce(in, out, count, type, op, root, comm);
  if ((rc = enter(&c, comm)) != MPI_SUCCESS) return rc;
  mine = c.rank == root ? out : room(count, type);
  if (in != MPI_IN_PLACE) copy(mine, in, count, type);
  rc = reduce(&c, mine, count, type, op, root);
  if (c.rank != root) free(mine);
  return rc;
}

IMG_API int MPI_Allreduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
  call c;
  int  rc;

  if (!img_on) return scr_native_MPI_Allreduce(in, out, count, type, op, comm);
  if ((rc = enter(&c, comm)) != MPI_SUCCESS) return rc;
  if (in != MPI_IN_PLACE) copy(out, in, count, type);
  return allreduce(&c, out, count, type, op);
}

/* The pieces of a reduction, COUNTS or COUNT each: combined at rank 0, and scattered. */
static int reduce_scatter(call* c, const void* in, void* out, const int* counts, int count, MPI_Datatype type,
                          MPI_Op op)
{
  int *  places = room(c->size, MPI_INT), i, all = 0, rc;
  pieces p = {NULL, count, counts, places, type};

  for (i = 0; i < c->size; i++) {
    places[i] = all;
    all += piece_count(&p, i);
  }
  p.buf = room(all, type);
  copy(p.buf, in != MPI_IN_PLACE ? in : out, all, type);
  rc = reduce(c, p.buf, all, type, op, 0);
  rc = worse(rc, scatter(c, &p, out, piece_count(&p, c->rank), type, 0));
  free(p.buf);
  free(places);
  return rc;
}

IMG_API int MPI_Reduce_scatter_block(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
  call c;
  int  rc;

  if (!img_on) return scr_native_MPI_Reduce_scatter_block(in, out, count, type, op, comm);
  rc = enter(&c, comm);
  return rc != MPI_SUCCESS ? rc : reduce_scatter(&c, in, out, NULL, count, type, op);
}

IMG_API int MPI_Reduce_scatter(const void* in, void* out, const int counts[], MPI_Datatype type, MPI_Op op,
                               MPI_Comm comm)
{
  call c;
  int  rc;

  if (!img_on) return scr_native_MPI_Reduce_scatter(in, out, counts, type, op, comm);
  rc = enter(&c, comm);
  return rc != MPI_SUCCESS ? rc : reduce_scatter(&c, in, out, counts, 0, type, op);
}

/* What the ranks before this one have, combined: into BEFORE; and what they have with this one goes on. */
static int prefix(const call* c, void* mine, void* before, int count, MPI_Datatype type, MPI_Op op)
{
  int rc = MPI_SUCCESS;

  if (c->rank > 0) {
    rc = img_recv(before, count, type, c->rank - 1, c->tag, c->comm);
    rc = worse(rc, scr_native_MPI_Reduce_local(before, mine, count, type, op));
  }
  if (c->rank < c->size - 1) rc = worse(rc, img_send(mine, count, type, c->rank + 1, c->tag, c->comm));
  return rc;
}

IMG_API int MPI_Scan(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
  call  c;
  void* before;
  int   rc;

  if (!img_on) return scr_native_MPI_Scan(in, out, count, type, op, comm);
  if ((rc = enter(&c, comm)) != MPI_SUCCESS) return rc;
  before = room(count, type);
  if (in != MPI_IN_PLACE) copy(out, in, count, type);
  rc = prefix(&c, out, before, count, type, op);
  free(before);
  return rc;
}

IMG_API int MPI_Exscan(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
  call  c;
  void* mine;
  int   rc;

  if (!img_on) return scr_native_MPI_Exscan(in, out, count, type, op, comm);
  if ((rc = enter(&c, comm)) != MPI_SUCCESS) return rc;
  mine = room(count, type);
  copy(mine, in != MPI_IN_PLACE ? in : out, count, type);
  rc = prefix(&c, mine, out, count, type, op);
  free(mine);
  return rc;
}

IMG_API int MPI_Gather(const void* in, int count, MPI_Datatype type, void* out, int outs, MPI_Datatype outtype,
                       int root, MPI_Comm comm)
{
  pieces p = {out, outs, NULL, NULL, outtype};
  call   c;
  int    rc;

  if (!img_on) return scr_native_MPI_Gather(in, count, type, out, outs, outtype, root, comm);
  rc = enter(&c, comm);
  return rc != MPI_SUCCESS ? rc : gather(&c, in, count, type, &p, root);
}

IMG_API int MPI_Gatherv(const void* in, int count, MPI_Datatype type, void* out, const int outs[], const int places[],
                        MPI_Datatype outtype, int root, MPI_Comm comm)
{
  pieces p = {out, 0, outs, places, outtype};
  call   c;
  int    rc;

  if (!img_on) return scr_native_MPI_Gatherv(in, count, type, out, outs, places, outtype, root, comm);
  rc = enter(&c, comm);
  return rc != MPI_SUCCESS ? rc : gather(&c, in, count, type, &p, root);
}

IMG_API int MPI_Scatter(const void* in, int count, MPI_Datatype type, void* out, int outs, MPI_Datatype outtype,
                        int root, MPI_Comm comm)
{
  pieces p = {(char*)in, count, NULL, NULL, type};
  call   c;
  int    rc;

  if (!img_on) return scr_native_MPI_Scatter(in, count, type, out, outs, outtype, root, comm);
  rc = enter(&c, comm);
  return rc != MPI_SUCCESS ? rc : scatter(&c, &p, out, outs, outtype, root);
}

IMG_API int MPI_Scatterv(const void* in, const int counts[], const int places[], MPI_Datatype type, void* out, int outs,
                         MPI_Datatype outtype, int root, MPI_Comm comm)
{
  pieces p = {(char*)in, 0, counts, places, type};
  call   c;
  int    rc;

  if (!img_on) return scr_native_MPI_Scatterv(in, counts, places, type, out, outs, outtype, root, comm);
  rc = enter(&c, comm);
  return rc != MPI_SUCCESS ? rc : scatter(&c, &p, out, outs, outtype, root);
}

IMG_API int MPI_Allgather(const void* in, int count, MPI_Datatype type, void* out, int outs, MPI_Datatype outtype,
                          MPI_Comm comm)
{
  pieces p = {out, outs, NULL, NULL, outtype};
  call   c;
  int    rc;

  if (!img_on) return scr_native_MPI_Allgather(in, count, type, out, outs, outtype, comm);
  if ((rc = enter(&c, comm)) != MPI_SUCCESS) return rc;
  if (in != MPI_IN_PLACE) copy(piece(&p, c.rank), in, count, type);
  return allgather(&c, &p);
}

IMG_API int MPI_Allgatherv(const void* in, int count, MPI_Datatype type, void* out, const int outs[],
                           const int places[], MPI_Datatype outtype, MPI_Comm comm)
{
  pieces p = {out, 0, outs, places, outtype};
  call   c;
  int    rc;

  if (!img_on) return scr_native_MPI_Allgatherv(in, count, type, out, outs, places, outtype, comm);
  if ((rc = enter(&c, comm)) != MPI_SUCCESS) return rc;
  if (in != MPI_IN_PLACE) copy(piece(&p, c.rank), in, count, type);
  return allgather(&c, &p);
}

/* An exchange of all with all; in place, FROM becomes a copy of TO. */
static int exchange(const call* c, pieces* from, const pieces* to)
{
  char* all = NULL;
  int   rc;

  if (from->buf == MPI_IN_PLACE) {
    *from = *to;
    from->buf = all = copy_pieces(c, to);
  }
  rc = alltoall(c, from, to);
  free(all);
  return rc;
}

IMG_API int MPI_Alltoall(const void* in, int count, MPI_Datatype type, void* out, int outs, MPI_Datatype outtype,
                         MPI_Comm comm)
{
  pieces from = {(char*)in, count, NULL, NULL, type}, to = {out, outs, NULL, NULL, outtype};
  call   c;
  int    rc;

  if (!img_on) return scr_native_MPI_Alltoall(in, count, type, out, outs, outtype, comm);
  rc = enter(&c, comm);
  return rc != MPI_SUCCESS ? rc : exchange(&c, &from, &to);
}

IMG_API int MPI_Alltoallv(const void* in, const int counts[], const int places[], MPI_Datatype type, void* out,
                          const int outs[], const int outplaces[], MPI_Datatype outtype, MPI_Comm comm)
{
  pieces from = {(char*)in, 0, counts, places, type}, to = {out, 0, outs, outplaces, outtype};
  call   c;
  int    rc;

  if (!img_on) return scr_native_MPI_Alltoallv(in, counts, places, type, out, outs, outplaces, outtype, comm);
  rc = enter(&c, comm);
  return rc != MPI_SUCCESS ? rc : exchange(&c, &from, &to);
}
