/* ==== COLLECTIVES =======================================================================================
** The steps of each collective, for its blocking, nonblocking and persistent call.
**
** Uses       plan.c
** Offers     img_plan_barrier, img_plan_allreduce, img_plan_allgather; the collectives of MPI, but those of neighbours.
** Invariants
**   O1  What is combined, and in which order, depends on ranks, counts and types alone: results are the same with and
**       without images, and when ranks move.
**   O2  The order is that of MPICH 4.0 on one node: sums of floating-point numbers have the bits that it gives them.
**   O3  What a call needs of its arguments is in the steps when it returns, but for the buffers.
** Failure    The first error of a step; by default MPI has ended the program then.
** ====================================================================================================== */
#include "plan.h"

#include <stdlib.h>
#include <string.h>

#include "types.h"

#define SHORT_REDUCE 2048   /* bytes: up to here a reduction goes by ranks relative to its root (O2) */
#define LONG_SCATTER 524288 /* bytes: from here on the pieces of a reduction go from each rank to each (pairs) */

typedef img_pieces pieces;

static int count_of(const pieces* s, int i)
{
  return s->counts != NULL ? s->counts[i] : s->count;
}

static MPI_Datatype type_of(const pieces* s, int i)
{
  return s->types != NULL ? s->types[i] : s->type;
}

static char* piece(const pieces* s, int i)
{
  if (s->at != NULL) return s->at[i];
  if (s->far != NULL) return s->buf + s->far[i];
  if (s->types != NULL) return s->buf + s->places[i];
  if (s->places != NULL) return s->buf + img_extent(1, s->type) * s->places[i];
  return s->buf + img_extent(s->count, s->type) * i;
}

void img_plan_send_piece(img_plan* p, const pieces* s, int i, int to)
{
  img_plan_send(p, piece(s, i), count_of(s, i), type_of(s, i), to);
}

void img_plan_recv_piece(img_plan* p, const pieces* s, int i, int from)
{
  img_plan_recv(p, piece(s, i), count_of(s, i), type_of(s, i), from);
}

/* Copies of all pieces of S, for an exchange in place. */
static void keep_pieces(img_plan* p, pieces* copy, const pieces* s)
{
  char** at = img_plan_room(p, p->size * (int)sizeof *at, MPI_BYTE);
  int    i;

  for (i = 0; i < p->size; i++) {
    at[i] = img_plan_room(p, count_of(s, i), type_of(s, i));
    img_plan_copy(p, at[i], count_of(s, i), type_of(s, i), piece(s, i), count_of(s, i), type_of(s, i));
  }
  *copy = *s;
  copy->at = at;
}

/* ---- one to all, all to one ---- */

/* A dissemination: after the step of distance d, each rank has heard of the 2 d ranks before it. */
void img_plan_barrier(img_plan* p)
{
  int d;

  for (d = 1; d < p->size; d *= 2) {
    img_plan_recv(p, NULL, 0, MPI_BYTE, (p->rank + p->size - d) % p->size);
    img_plan_send(p, NULL, 0, MPI_BYTE, (p->rank + d) % p->size);
    img_plan_fence(p);
  }
}

static int is_root(img_plan* p, int root)
{
  if (root >= 0 && root < p->size) return 1;
  p->rc = p->wrong = MPI_ERR_ROOT;
  return 0;
}

/* A binomial tree, by ranks relative to the root. */
static void bcast(img_plan* p, void* buf, int count, MPI_Datatype type, int root)
{
  int me = (p->rank + p->size - root) % p->size, mask = 1;

  if (!is_root(p, root)) return;
  while (mask < p->size && (me & mask) == 0) mask *= 2;
  if (mask < p->size) {
    img_plan_recv(p, buf, count, type, (me - mask + root) % p->size);
    img_plan_fence(p);
  }
  for (mask /= 2; mask > 0; mask /= 2)
    if (me + mask < p->size) img_plan_send(p, buf, count, type, (me + mask + root) % p->size);
}

static void gather_pieces(img_plan* p, const void* in, int count, MPI_Datatype type, const pieces* to, int root)
{
  int i;

  if (!is_root(p, root)) return;
  if (p->rank != root) {
    img_plan_send(p, in, count, type, root);
    return;
  }
  for (i = 0; i < p->size; i++) {
    if (i != root) img_plan_recv_piece(p, to, i, i);
    else if (in != MPI_IN_PLACE) img_plan_copy(p, piece(to, i), count_of(to, i), type_of(to, i), in, count, type);
  }
}

static void scatter_pieces(img_plan* p, const pieces* from, void* out, int count, MPI_Datatype type, int root)
{
  int i;

  if (!is_root(p, root)) return;
  if (p->rank != root) {
    img_plan_recv(p, out, count, type, root);
    return;
  }
  for (i = 0; i < p->size; i++) {
    if (i != root) img_plan_send_piece(p, from, i, i);
    else if (out != MPI_IN_PLACE)
      img_plan_copy(p, out, count, type, piece(from, i), count_of(from, i), type_of(from, i));
  }
}

static void gather(img_plan* p, const void* in, int count, MPI_Datatype type, void* out, int outs, MPI_Datatype outtype,
                   int root)
{
  pieces to = {out, outs, NULL, NULL, outtype, NULL, NULL, NULL};

  gather_pieces(p, in, count, type, &to, root);
}

static void gatherv(img_plan* p, const void* in, int count, MPI_Datatype type, void* out, const int* outs,
                    const int* places, MPI_Datatype outtype, int root)
{
  pieces to = {out, 0, outs, places, outtype, NULL, NULL, NULL};

  gather_pieces(p, in, count, type, &to, root);
}

static void scatter(img_plan* p, const void* in, int count, MPI_Datatype type, void* out, int outs,
                    MPI_Datatype outtype, int root)
{
  pieces from = {(char*)in, count, NULL, NULL, type, NULL, NULL, NULL};

  scatter_pieces(p, &from, out, outs, outtype, root);
}

static void scatterv(img_plan* p, const void* in, const int* counts, const int* places, MPI_Datatype type, void* out,
                     int outs, MPI_Datatype outtype, int root)
{
  pieces from = {(char*)in, 0, counts, places, type, NULL, NULL, NULL};

  scatter_pieces(p, &from, out, outs, outtype, root);
}

/* ---- all to all ---- */

/* A ring: in each step a rank passes on the piece that it got last. */
static void pass_around(img_plan* p, const void* in, int count, MPI_Datatype type, const pieces* to)
{
  int i, n = p->size, right = (p->rank + 1) % n, left = (p->rank + n - 1) % n;

  if (in != MPI_IN_PLACE)
    img_plan_copy(p, piece(to, p->rank), count_of(to, p->rank), type_of(to, p->rank), in, count, type);
  for (i = 0; i < n - 1; i++) {
    img_plan_recv_piece(p, to, (p->rank + 2 * n - i - 1) % n, left);
    img_plan_send_piece(p, to, (p->rank + n - i) % n, right);
    img_plan_fence(p);
  }
}

void img_plan_allgather(img_plan* p, const void* in, int count, MPI_Datatype type, void* out, int outs,
                        MPI_Datatype outtype)
{
  pieces to = {out, outs, NULL, NULL, outtype, NULL, NULL, NULL};

  pass_around(p, in, count, type, &to);
}

static void allgatherv(img_plan* p, const void* in, int count, MPI_Datatype type, void* out, const int* outs,
                       const int* places, MPI_Datatype outtype)
{
  pieces to = {out, 0, outs, places, outtype, NULL, NULL, NULL};

  pass_around(p, in, count, type, &to);
}

/* In each step a rank sends to one rank and receives from another, at the same distance. */
static void exchange(img_plan* p, pieces* from, const pieces* to)
{
  int i, me = p->rank, n = p->size;

  if (from->buf == MPI_IN_PLACE) keep_pieces(p, from, to);
  else
    img_plan_copy(p, piece(to, me), count_of(to, me), type_of(to, me), piece(from, me), count_of(from, me),
                  type_of(from, me));
  for (i = 1; i < n; i++) {
    img_plan_recv_piece(p, to, (me + n - i) % n, (me + n - i) % n);
    img_plan_send_piece(p, from, (me + i) % n, (me + i) % n);
    img_plan_fence(p);
  }
}

static void alltoall(img_plan* p, const void* in, int count, MPI_Datatype type, void* out, int outs,
                     MPI_Datatype outtype)
{
  pieces from = {(char*)in, count, NULL, NULL, type, NULL, NULL, NULL},
         to = {out, outs, NULL, NULL, outtype, NULL, NULL, NULL};

  exchange(p, &from, &to);
}

static void alltoallv(img_plan* p, const void* in, const int* counts, const int* places, MPI_Datatype type, void* out,
                      const int* outs, const int* outplaces, MPI_Datatype outtype)
{
  pieces from = {(char*)in, 0, counts, places, type, NULL, NULL, NULL};
  pieces to = {out, 0, outs, outplaces, outtype, NULL, NULL, NULL};

  exchange(p, &from, &to);
}

static void alltoallw(img_plan* p, const void* in, const int* counts, const int* places, const MPI_Datatype* types,
                      void* out, const int* outs, const int* outplaces, const MPI_Datatype* outtypes)
{
  pieces from = {(char*)in, 0, counts, places, MPI_BYTE, types, NULL, NULL};
  pieces to = {out, 0, outs, outplaces, MPI_BYTE, outtypes, NULL, NULL};

  exchange(p, &from, &to);
}

/* ---- reductions (O2) ---- */

/* The data of a reduction: MINE becomes the result, OTHER is what comes. */
typedef struct {
  void *       mine, *other;
  int          count;
  MPI_Datatype type;
  MPI_Op       op;
} data;

/* MINE of rank AT has come into OTHER: combine it, in the order of ranks. */
static void take(img_plan* p, const data* d, int at)
{
  img_plan_fence(p);
  if (at < p->rank) img_plan_combine(p, d->other, d->mine, d->count, d->type, d->op);
  else img_plan_combine_after(p, d->other, d->mine, d->count, d->type, d->op);
}

static int power_of(const img_plan* p)
{
  int power = 1;

  while (power * 2 <= p->size) power *= 2;
  return power;
}

/* Ranks above the power of two take part through a neighbour: the number of RANK among those that do, or -1. */
static int folded(const img_plan* p, int rank)
{
  int extra = p->size - power_of(p);

  if (rank >= 2 * extra) return rank - extra;
  return rank % 2 ? rank / 2 : -1;
}

/* And back. */
static int unfolded(const img_plan* p, int number)
{
  int extra = p->size - power_of(p);

  return number < extra ? 2 * number + 1 : number + extra;
}

/* The neighbours give what they have.  Returns 1 if this rank takes part. */
static int fold(img_plan* p, const data* d)
{
  if (folded(p, p->rank) < 0) {
    img_plan_send(p, d->mine, d->count, d->type, p->rank + 1);
    img_plan_fence(p);
    return 0;
  }
  if (p->rank < 2 * (p->size - power_of(p))) {
    img_plan_recv(p, d->other, d->count, d->type, p->rank - 1);
    take(p, d, p->rank - 1);
  }
  return 1;
}

/* Recursive doubling. */
void img_plan_allreduce(img_plan* p, const void* in, void* out, int count, MPI_Datatype type, MPI_Op op)
{
  data d = {out, img_plan_room(p, count, type), count, type, op};
  int  mask, part;

  if (in != MPI_IN_PLACE) img_plan_copy(p, out, count, type, in, count, type);
  part = fold(p, &d);
  if (!part) img_plan_recv(p, out, count, type, p->rank + 1);
  for (mask = 1; mask < power_of(p) && part; mask *= 2) {
    int peer = unfolded(p, folded(p, p->rank) ^ mask);

    img_plan_recv(p, d.other, count, type, peer);
    img_plan_send(p, out, count, type, peer);
    take(p, &d, peer);
  }
  if (part && p->rank < 2 * (p->size - power_of(p))) img_plan_send(p, out, count, type, p->rank - 1);
}

/* A binomial tree, by ranks relative to the root; MINE of the root becomes the result, those of others are used up. */
static void reduce_short(img_plan* p, const data* d, int root)
{
  int me = (p->rank + p->size - root) % p->size, mask;

  for (mask = 1; mask < p->size; mask *= 2) {
    if (me & mask) {
      img_plan_send(p, d->mine, d->count, d->type, (me - mask + root) % p->size);
      img_plan_fence(p);
      return;
    }
    if (me + mask >= p->size) continue;
    img_plan_recv(p, d->other, d->count, d->type, (me + mask + root) % p->size);
    img_plan_fence(p);
    img_plan_combine_after(p, d->other, d->mine, d->count, d->type, d->op);
  }
}

/*
** By the numbers of the ranks that take part, from near to far or from FAR to near: each value is combined as where
** vectors are halved and the halves put together.
*/
static void reduce_long(img_plan* p, const data* d, int root, int far)
{
  int i, steps = 0, power = power_of(p), holder = root, me, to;

  if (folded(p, root) < 0) holder = root + 1;
  to = folded(p, holder);
  while (1 << steps < power) steps++;
  if (fold(p, d)) {
    me = folded(p, p->rank) ^ to;
    for (i = 0; i < steps; i++) {
      int mask = far ? power >> (i + 1) : 1 << i, peer = unfolded(p, me ^ mask ^ to);

      if (me & mask) {
        img_plan_send(p, d->mine, d->count, d->type, peer);
        img_plan_fence(p);
        break;
      }
      img_plan_recv(p, d->other, d->count, d->type, peer);
      take(p, d, peer);
    }
  }
  if (holder == root) return;
  if (p->rank == holder) img_plan_send(p, d->mine, d->count, d->type, root);
  if (p->rank == root) img_plan_recv(p, d->mine, d->count, d->type, holder);
  img_plan_fence(p);
}

static size_t size_of(int count, MPI_Datatype type)
{
  int size = 0;

  MPI_Type_size(type, &size);
  return (size_t)size * (size_t)(count > 0 ? count : 0);
}

/* For operations that do not commute: rank 0 is the root of the tree, and sends the result on. */
static void reduce_in_order(img_plan* p, const data* d, int root)
{
  reduce_short(p, d, 0);
  if (root == 0) return;
  if (p->rank == 0) img_plan_send(p, d->mine, d->count, d->type, root);
  if (p->rank == root) img_plan_recv(p, d->mine, d->count, d->type, 0);
}

/* MPICH combines long values with an operation of the program at rank 0, but not LATER: in a nonblocking call. */
static void reduce_as(img_plan* p, const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, int root,
                      int later)
{
  int  is_long = size_of(count, type) > SHORT_REDUCE, made = img_op_is_made(op);
  data d = {p->rank == root ? out : img_plan_room(p, count, type), img_plan_room(p, count, type), count, type, op};

  if (!is_root(p, root)) return;
  if (in != MPI_IN_PLACE) img_plan_copy(p, d.mine, count, type, in, count, type);
  if (!img_op_commutes(op) || (is_long && made && !later)) reduce_in_order(p, &d, root);
  else if (is_long && count >= power_of(p) && !made) reduce_long(p, &d, root, 0);
  else reduce_short(p, &d, root);
}

static void reduce(img_plan* p, const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, int root)
{
  reduce_as(p, in, out, count, type, op, root, 0);
}

static void reduce_later(img_plan* p, const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, int root)
{
  reduce_as(p, in, out, count, type, op, root, 1);
}

/* The pieces of all ranks: each rank sends to each what is its, and takes the pieces by their distance. */
static void reduce_pairs(img_plan* p, const pieces* all, void* out, MPI_Op op)
{
  int  count = count_of(all, p->rank), n = p->size, i;
  data d = {out, img_plan_room(p, count, all->type), count, all->type, op};

  img_plan_copy(p, out, count, all->type, piece(all, p->rank), count, all->type);
  for (i = 1; i < n; i++) {
    img_plan_recv(p, d.other, count, all->type, (p->rank + n - i) % n);
    img_plan_send_piece(p, all, (p->rank + i) % n, (p->rank + i) % n);
    take(p, &d, (p->rank + n - i) % n);
  }
}

/*
** The pieces of a reduction, COUNTS or COUNT each: combined at rank 0, and scattered; or by pairs, if values of UNIT
** bytes are LONG_SCATTER in all.
*/
static void reduce_pieces(img_plan* p, const void* in, void* out, const int* counts, int count, MPI_Datatype type,
                          MPI_Op op, size_t unit)
{
  int *  places = img_plan_room(p, p->size, MPI_INT), i, all = 0;
  pieces s = {NULL, count, counts, places, type, NULL, NULL, NULL};
  data   d;

  for (i = 0; i < p->size; i++) {
    places[i] = all;
    all += count_of(&s, i);
  }
  s.buf = img_plan_room(p, all, type);
  img_plan_copy(p, s.buf, all, type, in != MPI_IN_PLACE ? in : out, all, type);
  if ((size_t)all * unit >= LONG_SCATTER && img_op_commutes(op)) {
    reduce_pairs(p, &s, out, op);
    return;
  }
  d.mine = s.buf, d.other = img_plan_room(p, all, type), d.count = all, d.type = type, d.op = op;
  if (img_op_commutes(op)) reduce_long(p, &d, 0, 1);
  else reduce_short(p, &d, 0);
  scatter_pieces(p, &s, out, count_of(&s, p->rank), type, 0);
}

static void reduce_scatter(img_plan* p, const void* in, void* out, const int* counts, MPI_Datatype type, MPI_Op op)
{
  reduce_pieces(p, in, out, counts, 0, type, op, size_of(1, type));
}

static void reduce_scatter_block(img_plan* p, const void* in, void* out, int count, MPI_Datatype type, MPI_Op op)
{
  reduce_pieces(p, in, out, NULL, count, type, op, size_of(1, type));
}

/* MPICH takes the number of values for their bytes here (O2). */
static void reduce_scatter_block_later(img_plan* p, const void* in, void* out, int count, MPI_Datatype type, MPI_Op op)
{
  reduce_pieces(p, in, out, NULL, count, type, op, 1);
}

/* Recursive doubling: D holds what a group of ranks has; OUT, what those up to this rank have, or those BEFORE it. */
static void prefix(img_plan* p, const data* d, void* out, int before)
{
  int mask, first = before;

  for (mask = 1; mask < p->size; mask *= 2) {
    int peer = p->rank ^ mask;

    if (peer >= p->size) continue;
    img_plan_recv(p, d->other, d->count, d->type, peer);
    img_plan_send(p, d->mine, d->count, d->type, peer);
    img_plan_fence(p);
    if (peer < p->rank && first) img_plan_copy(p, out, d->count, d->type, d->other, d->count, d->type);
    else if (peer < p->rank) img_plan_combine(p, d->other, out, d->count, d->type, d->op);
    if (peer < p->rank) first = 0;
    take(p, d, peer);
  }
}

static void scan(img_plan* p, const void* in, void* out, int count, MPI_Datatype type, MPI_Op op)
{
  data d = {img_plan_room(p, count, type), img_plan_room(p, count, type), count, type, op};

  if (in != MPI_IN_PLACE) img_plan_copy(p, out, count, type, in, count, type);
  img_plan_copy(p, d.mine, count, type, out, count, type);
  prefix(p, &d, out, 0);
}

static void exscan(img_plan* p, const void* in, void* out, int count, MPI_Datatype type, MPI_Op op)
{
  data d = {img_plan_room(p, count, type), img_plan_room(p, count, type), count, type, op};

  img_plan_copy(p, d.mine, count, type, in != MPI_IN_PLACE ? in : out, count, type);
  prefix(p, &d, out, 1);
}

/* ---- the calls, three for each ---- */

IMG_CALLS(Bcast, MPI_Ibcast, bcast, (void* buf, int count, MPI_Datatype type, int root), (buf, count, type, root))
IMG_CALLS(Gather, MPI_Igather, gather,
          (const void* in, int count, MPI_Datatype type, void* out, int outs, MPI_Datatype outtype, int root),
          (in, count, type, out, outs, outtype, root))
IMG_CALLS(Gatherv, MPI_Igatherv, gatherv,
          (const void* in, int count, MPI_Datatype type, void* out, const int outs[], const int places[],
           MPI_Datatype outtype, int root),
          (in, count, type, out, outs, places, outtype, root))
IMG_CALLS(Scatter, MPI_Iscatter, scatter,
          (const void* in, int count, MPI_Datatype type, void* out, int outs, MPI_Datatype outtype, int root),
          (in, count, type, out, outs, outtype, root))
IMG_CALLS(Scatterv, MPI_Iscatterv, scatterv,
          (const void* in, const int counts[], const int places[], MPI_Datatype type, void* out, int outs,
           MPI_Datatype outtype, int root),
          (in, counts, places, type, out, outs, outtype, root))
IMG_CALLS(Allgather, MPI_Iallgather, img_plan_allgather,
          (const void* in, int count, MPI_Datatype type, void* out, int outs, MPI_Datatype outtype),
          (in, count, type, out, outs, outtype))
IMG_CALLS(Allgatherv, MPI_Iallgatherv, allgatherv,
          (const void* in, int count, MPI_Datatype type, void* out, const int outs[], const int places[],
           MPI_Datatype outtype),
          (in, count, type, out, outs, places, outtype))
IMG_CALLS(Alltoall, MPI_Ialltoall, alltoall,
          (const void* in, int count, MPI_Datatype type, void* out, int outs, MPI_Datatype outtype),
          (in, count, type, out, outs, outtype))
IMG_CALLS(Alltoallv, MPI_Ialltoallv, alltoallv,
          (const void* in, const int counts[], const int places[], MPI_Datatype type, void* out, const int outs[],
           const int outplaces[], MPI_Datatype outtype),
          (in, counts, places, type, out, outs, outplaces, outtype))
IMG_CALLS(Alltoallw, MPI_Ialltoallw, alltoallw,
          (const void* in, const int counts[], const int places[], const MPI_Datatype types[], void* out,
           const int outs[], const int outplaces[], const MPI_Datatype outtypes[]),
          (in, counts, places, types, out, outs, outplaces, outtypes))
IMG_BLOCKING(Reduce, reduce, (const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, int root),
             (in, out, count, type, op, root))
IMG_LATER(Reduce, MPI_Ireduce, reduce_later,
          (const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, int root),
          (in, out, count, type, op, root))
IMG_CALLS(Allreduce, MPI_Iallreduce, img_plan_allreduce,
          (const void* in, void* out, int count, MPI_Datatype type, MPI_Op op), (in, out, count, type, op))
IMG_CALLS(Reduce_scatter, MPI_Ireduce_scatter, reduce_scatter,
          (const void* in, void* out, const int counts[], MPI_Datatype type, MPI_Op op), (in, out, counts, type, op))
IMG_BLOCKING(Reduce_scatter_block, reduce_scatter_block,
             (const void* in, void* out, int count, MPI_Datatype type, MPI_Op op), (in, out, count, type, op))
IMG_LATER(Reduce_scatter_block, MPI_Ireduce_scatter_block, reduce_scatter_block_later,
          (const void* in, void* out, int count, MPI_Datatype type, MPI_Op op), (in, out, count, type, op))
IMG_CALLS(Scan, MPI_Iscan, scan, (const void* in, void* out, int count, MPI_Datatype type, MPI_Op op),
          (in, out, count, type, op))
IMG_CALLS(Exscan, MPI_Iexscan, exscan, (const void* in, void* out, int count, MPI_Datatype type, MPI_Op op),
          (in, out, count, type, op))

IMG_NATIVE(MPI_Barrier);
IMG_NATIVE(MPI_Ibarrier);
IMG_NATIVE(MPI_Barrier_init);

IMG_API int MPI_Barrier(MPI_Comm comm)
{
  img_plan* p;
  int       rc;

  if (!img_on) return scr_native_MPI_Barrier(comm);
  if ((p = img_plan_new(comm, 0, &rc)) == NULL) return rc;
  img_plan_barrier(p);
  return img_plan_run(p);
}

IMG_API int MPI_Ibarrier(MPI_Comm comm, MPI_Request* request)
{
  img_plan* p;
  int       rc;

  if (!img_on) return scr_native_MPI_Ibarrier(comm, request);
  if ((p = img_plan_new(comm, 0, &rc)) == NULL) return rc;
  img_plan_barrier(p);
  return img_plan_request(p, 0, request);
}

IMG_API int MPI_Barrier_init(MPI_Comm comm, MPI_Info info, MPI_Request* request)
{
  img_plan* p;
  int       rc;

  if (!img_on) return scr_native_MPI_Barrier_init(comm, info, request);
  if ((p = img_plan_new(comm, 1, &rc)) == NULL) return rc;
  img_plan_barrier(p);
  return img_plan_request(p, 1, request);
}
