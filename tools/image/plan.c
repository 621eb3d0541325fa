/* ==== PLAN ==============================================================================================
** Collectives as lists of steps: send, receive, copy, combine, and fences, at which all messages before are awaited.
**
** Uses       p2p.c (messages, requests), comm.c, types.c, heap.c (img_alloc)
** Offers     img_plan_*, img_extent.
** Invariants
**   P1  All ranks of a communicator count its collectives alike: the count is the tag of the messages.  Those of
**       persistent ones are counted apart, as they are started in any order.
**   P2  Between two messages of a plan the same rank sends and receives them in the same order.
**   P3  A step is complete, or has not begun: what is half done is messages, of which p2p.c takes care.
** Failure    The first error of a step; the plan goes on, so that no other rank waits for this one.
** ====================================================================================================== */
#include "plan.h"

#include <stdlib.h>
#include <string.h>

#include "types.h"

IMG_NATIVE(MPI_Sendrecv);

enum { STEP_SEND, STEP_RECV, STEP_FENCE, STEP_COPY, STEP_COMBINE, STEP_AFTER };

#define COUNTS     0x10000 /* tags of one kind (P1) */
#define PERSISTENT COUNTS

static img_plan* unused;

ptrdiff_t img_extent(int count, MPI_Datatype type)
{
  MPI_Aint low, extent = 0;

  MPI_Type_get_extent(type, &low, &extent);
  return (ptrdiff_t)extent * (count > 0 ? count : 0);
}

/* ---- plans ---- */

/* More memory for the array *AT, which has room for *ROOM elements of SIZE. */
static void grow(void* at, int* room, size_t size)
{
  int   more = *room == 0 ? 16 : 2 * *room;
  void *old, *wide = img_alloc((size_t)more * size);

  if (wide == NULL) abort();
  memcpy(&old, at, sizeof old);
  if (*room > 0) memcpy(wide, old, (size_t)*room * size);
  free(old);
  memcpy(at, &wide, sizeof wide);
  *room = more;
}

static img_plan* make(img_comm* c, const int* to, int size, int me, int tag)
{
  img_plan* p = unused;

  if (p != NULL) {
    unused = p->next;
  } else {
    p = img_alloc(sizeof *p);
    if (p == NULL) abort();
    memset(p, 0, sizeof *p);
  }
  p->c = c, p->to = to, p->size = size, p->rank = me, p->tag = tag;
  p->used = p->at = p->opened = p->room_count = 0;
  p->rc = p->wrong = MPI_SUCCESS;
  img_comm_use(c, 1);
  return p;
}

img_plan* img_plan_new(MPI_Comm comm, int persistent, int* rc)
{
  img_comm* c;
  int       n;

  img_enter();
  *rc = MPI_ERR_COMM;
  if ((c = img_comm_of(comm)) == NULL) return NULL;
  *rc = MPI_SUCCESS;
  n = c->counts[persistent]++;
  if (persistent && n == COUNTS)
    img_say("no more than %d persistent collectives can be made of a communicator", COUNTS);
  if (persistent && n >= COUNTS) *rc = img_error(c, MPI_ERR_OTHER); /* tags of older ones may be in use */
  if (*rc != MPI_SUCCESS) return NULL;
  n &= COUNTS - 1;
  return make(c, c->to, c->size, c->rank, c->slot << IMG_TAG_BITS | (persistent ? PERSISTENT | n : n));
}

img_plan* img_plan_over(const int* to, int size, int me, int tag)
{
  tag &= (1 << IMG_TAG_BITS) - 1;
  return make(img_comm_of(MPI_COMM_WORLD), to, size, me, IMG_COMMS << IMG_TAG_BITS | tag);
}

/* Keep the datatypes and the operation of a step, or let them go. */
static void hold(const img_step* s, int more)
{
  if (s->what == STEP_FENCE) return;
  img_type_use(s->type, more);
  if (s->what == STEP_COPY) img_type_use(s->othertype, more);
  if (s->what == STEP_COMBINE || s->what == STEP_AFTER) img_op_use(s->op, more);
}

void img_plan_free(img_plan* p)
{
  int i;

  for (i = 0; i < p->room_count; i++) free(p->rooms[i]);
  for (i = 0; i < p->used; i++) hold(&p->steps[i], -1);
  img_comm_use(p->c, -1);
  p->next = unused;
  unused = p;
}

static img_step* add(img_plan* p, int what)
{
  if (p->used == p->steps_room) grow(&p->steps, &p->steps_room, sizeof *p->steps);
  p->steps[p->used].what = what;
  return &p->steps[p->used++];
}

void img_plan_send(img_plan* p, const void* buf, int count, MPI_Datatype type, int to)
{
  img_step* s = add(p, STEP_SEND);

  s->from = buf, s->count = count, s->type = type, s->peer = to;
  hold(s, 1);
}

void img_plan_recv(img_plan* p, void* buf, int count, MPI_Datatype type, int from)
{
  img_step* s = add(p, STEP_RECV);

  s->to = buf, s->count = count, s->type = type, s->peer = from;
  hold(s, 1);
}

void img_plan_fence(img_plan* p)
{
  add(p, STEP_FENCE);
}

void img_plan_copy(img_plan* p, void* to, int tocount, MPI_Datatype totype, const void* from, int count,
                   MPI_Datatype type)
{
  img_step* s;

  if (to == from || (tocount == 0 && count == 0)) return;
  s = add(p, STEP_COPY);
  s->to = to, s->othercount = tocount, s->othertype = totype, s->from = from, s->count = count, s->type = type;
  hold(s, 1);
}

static void add_combine(img_plan* p, int what, const void* from, void* to, int count, MPI_Datatype type, MPI_Op op)
{
  img_step* s = add(p, what);

  s->from = from, s->to = to, s->count = count, s->type = type, s->op = op;
  hold(s, 1);
}

void img_plan_combine(img_plan* p, const void* from, void* to, int count, MPI_Datatype type, MPI_Op op)
{
  add_combine(p, STEP_COMBINE, from, to, count, type, op);
}

void img_plan_combine_after(img_plan* p, void* from, void* to, int count, MPI_Datatype type, MPI_Op op)
{
  add_combine(p, STEP_AFTER, from, to, count, type, op);
}

void* img_plan_room(img_plan* p, int count, MPI_Datatype type)
{
  MPI_Aint low = 0, extent = 0;
  char*    room;

  if (img_type_is_derived(type)) MPI_Type_get_true_extent(type, &low, &extent);
  room = img_alloc((size_t)(img_extent(count, type) + extent) + 1);
  if (room == NULL) abort();
  if (p->room_count == p->rooms_room) grow(&p->rooms, &p->rooms_room, sizeof *p->rooms);
  p->rooms[p->room_count++] = room;
  return room - low;
}

/* ---- steps ---- */

static void note(img_plan* p, int rc)
{
  if (p->rc == MPI_SUCCESS) p->rc = rc;
}

static void post(img_plan* p, const img_step* s)
{
  img_message* m;
  int          rc;

  if (p->opened == p->open_room) grow(&p->open, &p->open_room, sizeof *p->open);
  m = img_message_begin(s->what == STEP_RECV, s->what == STEP_RECV ? s->to : s->from, s->count, s->type, p->to[s->peer],
                        p->tag, p->c, &rc);
  note(p, rc);
  if (m != NULL) p->open[p->opened++] = m;
}

/* 1 if all messages since the last fence are complete. */
static int settled(img_plan* p)
{
  int i, rc, left = 0;

  for (i = 0; i < p->opened; i++)
    if (!img_message_end(p->open[i], &rc)) p->open[left++] = p->open[i];
    else note(p, rc);
  p->opened = left;
  return left == 0;
}

static int copy(void* to, int tocount, MPI_Datatype totype, const void* from, int count, MPI_Datatype type)
{
  if (img_type_is_derived(type) || img_type_is_derived(totype))
    return scr_native_MPI_Sendrecv(from, count, img_type(type), 0, 0, to, tocount, img_type(totype), 0, 0, img_self,
                                   MPI_STATUS_IGNORE);
  memmove(to, from, (size_t)img_extent(count, type));
  return MPI_SUCCESS;
}

/* FROM op TO; the other way round where both are not the same. */
static int combine(const img_step* s)
{
  int rc;

  if (s->what == STEP_COMBINE || img_op_commutes(s->op)) return img_op_apply(s->from, s->to, s->count, s->type, s->op);
  rc = img_op_apply(s->to, (void*)s->from, s->count, s->type, s->op);
  return rc != MPI_SUCCESS ? rc : copy(s->to, s->count, s->type, s->from, s->count, s->type);
}

int img_plan_advance(img_plan* p)
{
  for (;; p->at++) {
    const img_step* s = &p->steps[p->at];

    if (p->at == p->used) return settled(p);
    switch (s->what) {
    case STEP_SEND:
    case STEP_RECV:
      post(p, s);
      break;
    case STEP_FENCE:
      if (!settled(p)) return 0;
      break;
    case STEP_COPY:
      note(p, copy(s->to, s->othercount, s->othertype, s->from, s->count, s->type));
      break;
    default:
      note(p, combine(s));
    }
  }
}

void img_plan_rewind(img_plan* p)
{
  p->at = 0;
  p->rc = p->wrong;
}

int img_plan_run(img_plan* p)
{
  int spins = 0, rc;

  while (!img_plan_advance(p)) img_spin(&spins);
  rc = img_error(p->c, p->rc);
  img_plan_free(p);
  return rc;
}
