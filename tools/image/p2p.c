/* ==== POINT TO POINT ====================================================================================
** Messages: requests that last over a restart, and the draining of what is under way before an image.
**
** Uses       agree.c (channels, totals), comm.c, plan.c (collectives that have begun), heap.c (img_alloc)
** Offers     img_p2p_start, img_drain, img_repost, img_spin, img_go_on, img_test_sends, img_message_*,
**            img_forget_messages, img_plan_request, img_under_way, img_request_of_native, img_requests_held; the calls
**            of MPI that send, receive, wait, test and probe.
** Invariants
**   M1  A drained message matches no receive that is posted natively: each receive looks into the list first.
**   M2  Totals count each message once: when its receive completes, or when it enters the list.
**   M3  In an image no request of the program is native.
**   M4  No call blocks natively, but those of windows and files: a wait tests, polls, and yields.
**   M5  Collectives that have begun go on in each test and each round of a wait, of whatever request.
** Failure    Native errors are those of the program's communicator.
** ====================================================================================================== */
#include "plan.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "types.h"

IMG_NATIVE(MPI_Isend);
IMG_NATIVE(MPI_Issend);
IMG_NATIVE(MPI_Irecv);
IMG_NATIVE(MPI_Send);
IMG_NATIVE(MPI_Test);
IMG_NATIVE(MPI_Wait);
IMG_NATIVE(MPI_Request_get_status);
IMG_NATIVE(MPI_Cancel);
IMG_NATIVE(MPI_Test_cancelled);
IMG_NATIVE(MPI_Iprobe);
IMG_NATIVE(MPI_Improbe);
IMG_NATIVE(MPI_Mrecv);
IMG_NATIVE(MPI_Mrecv_c);
IMG_NATIVE(MPI_Send_c);
IMG_NATIVE(MPI_Get_count_c);
IMG_NATIVE(MPI_Status_set_elements_x);

typedef enum { SEND = 1, SSEND, BSEND, RECV, COLL, HELD } kind; /* HELD: of a window or a file */

typedef struct request {
  struct request *next, *back; /* of the list that it is in */
  img_comm*       c;
  MPI_Request     native; /* of this process (M3) */
  int             error;  /* the native one, when it is done */
  MPI_Status      status;
  unsigned char   kind, persistent, active, freed;
  int             done;
  int             number, context, peer, tag, count; /* the peer is a rank of the world */
  MPI_Datatype    type;
  void*           buf;
  void*           owned; /* the copy that a buffered send sends, or NULL */
  img_plan*       plan;  /* of a collective */
} request;

/* A message that was received before the program asked for it. */
typedef struct drained {
  struct drained* next;
  int             slot; /* of the channel, or COLLECTIVE */
  int             source, tag;
  MPI_Count       bytes;   /* more than an int, if the type is large */
  int             matched; /* the number of the program's message handle, or 0 */
  img_comm*       c;       /* of that */
  char            data[];
} drained;

#define REQUEST    0x72000000
#define MESSAGE    0x78000000
#define CHUNK      256
#define COLLECTIVE (-1)
#define SPINS      20  /* tests of a wait between two polls */
#define PATIENCE   200 /* tests before a wait yields its core after each poll */

static request** chunks;
static int       chunk_count, chunk_room;
static request*  unused;          /* linked by next */
static request   receives, sends; /* heads of rings, in the order of posting */
static request   running, held;   /* the same, for collectives (M5), and for windows and files */
static drained*  list;            /* M1, in the order of arrival */
static uint64_t *sent, *received; /* M2, for each rank of the world */
int              img_under_way;
static int       messages;
static int       buffered; /* copies that are still to be sent */

/* ---- requests ---- */

void img_p2p_start(void)
{
  sent = img_alloc(2 * (size_t)img_ranks * sizeof *sent);
  if (sent == NULL) abort();
  memset(sent, 0, 2 * (size_t)img_ranks * sizeof *sent);
  received = sent + img_ranks;
  receives.next = receives.back = &receives;
  sends.next = sends.back = &sends;
  running.next = running.back = &running;
  held.next = held.back = &held;
}

/* More requests. */
static void make_requests(void)
{
  request** more;
  request*  chunk = img_alloc(CHUNK * sizeof *chunk);
  int       i;

  if (chunk_count == chunk_room) {
    chunk_room = chunk_room == 0 ? 64 : 2 * chunk_room;
    more = img_alloc((size_t)chunk_room * sizeof *more);
    if (more == NULL) abort();
    if (chunk_count > 0) memcpy(more, chunks, (size_t)chunk_count * sizeof *more);
    free(chunks);
    chunks = more;
  }
  if (chunk == NULL) abort();
  memset(chunk, 0, CHUNK * sizeof *chunk);
  for (i = CHUNK; i-- > 0;) {
    chunk[i].number = chunk_count * CHUNK + i;
    chunk[i].next = unused;
    unused = &chunk[i];
  }
  chunks[chunk_count++] = chunk;
}

static request* make_request(int k, const void* buf, int count, MPI_Datatype type, int peer, int tag, img_comm* c,
                             int context)
{
  request* r;

  if (unused == NULL) make_requests();
  r = unused;
  unused = r->next;
  r->kind = (unsigned char)k;
  r->persistent = r->active = r->freed = 0;
  r->done = 0;
  r->buf = (void*)buf, r->count = count, r->type = type, r->peer = peer, r->tag = tag, r->c = c;
  r->context = context;
  r->error = MPI_SUCCESS;
  r->owned = NULL;
  r->native = MPI_REQUEST_NULL;
  img_comm_use(c, 1);
  img_type_use(type, 1);
  return r;
}

static void release(request* r)
{
  if (r->kind == COLL) img_plan_free(r->plan);
  buffered -= r->owned != NULL;
  free(r->owned);
  img_comm_use(r->c, -1);
  img_type_use(r->type, -1);
  r->kind = 0;
  r->next = unused;
  unused = r;
}

static MPI_Request handle_of(const request* r)
{
  return (MPI_Request)(REQUEST | r->number);
}

/* The request of HANDLE; NULL for none.  Any other value is an error of the program. */
static request* request_of(MPI_Request handle)
{
  int i = handle & 0xffffff;

  if (handle == MPI_REQUEST_NULL) return NULL;
  if ((handle & 0xff000000) != REQUEST || i >= chunk_count * CHUNK || chunks[i / CHUNK][i % CHUNK].kind == 0) {
    img_error(NULL, MPI_ERR_REQUEST);
    return NULL;
  }
  return &chunks[i / CHUNK][i % CHUNK];
}

static void append(request* head, request* r)
{
  r->back = head->back;
  r->next = head;
  r->back->next = head->back = r;
}

static void empty_status(MPI_Status* s, int source)
{
  memset(s, 0, sizeof *s);
  s->MPI_SOURCE = source;
  s->MPI_TAG = MPI_ANY_TAG;
  s->MPI_ERROR = MPI_SUCCESS;
}

/* Give the program FROM, but for its error: that is set by calls for several requests only. */
static void give_status(MPI_Status* status, const MPI_Status* from)
{
  int error;

  if (status == MPI_STATUS_IGNORE) return;
  error = status->MPI_ERROR;
  *status = *from;
  status->MPI_ERROR = error;
}

/* The world's rank of RANK of C, or what stands for none or any. */
static int peer_of(const img_comm* c, int rank)
{
  return rank >= 0 && rank < c->size ? c->to[rank] : rank;
}

static int slot_of(const request* r)
{
  return r->context == 0 ? r->c->slot : COLLECTIVE;
}

static MPI_Comm native_of(const request* r)
{
  return r->context == 0 ? img_channel[r->c->slot] : img_coll;
}

/* The native receive of R is complete: count it (M2), and tell its source by the ranks of the communicator. */
static void count_receive(request* r)
{
  received[r->status.MPI_SOURCE]++;
  if (r->context == 0) r->status.MPI_SOURCE = r->c->back[r->status.MPI_SOURCE];
}

/* R, which is in a list, is complete. */
static void complete(request* r)
{
  img_under_way -= r->kind == COLL;
  r->back->next = r->next;
  r->next->back = r->back;
  r->native = MPI_REQUEST_NULL;
  r->done = 1;
  if (r->freed) release(r);
}

/* MPI_Test of the request AT of C, of kind K.  MPICH's makes a round of progress first; MPI_Request_get_status does not
   if the request is complete, but it tells errors to the world's handler, and lets no request of a file go on. */
static int test_native(int k, const img_comm* c, MPI_Request* at, int* flag, MPI_Status* status)
{
  int rc;

  if (k == HELD || c->handler != img_world->handler) return scr_native_MPI_Test(at, flag, status);
  rc = scr_native_MPI_Request_get_status(*at, flag, status);
  return *flag ? scr_native_MPI_Wait(at, status) : rc;
}

/* ---- drained messages (M1) ---- */

static int matches(const drained* d, int slot, int peer, int tag)
{
  return d->matched == 0 && d->slot == slot && (peer == MPI_ANY_SOURCE || peer == d->source) &&
         (tag == MPI_ANY_TAG || tag == d->tag);
}

/* The first message for a receive with these arguments; NULL if there is none. */
static drained* look_up(int slot, int peer, int tag)
{
  drained* d = list;

  while (d != NULL && !matches(d, slot, peer, tag)) d = d->next;
  return d;
}

static void take_out(drained* d)
{
  drained** at = &list;

  while (*at != d) at = &(*at)->next;
  *at = d->next;
}

/* Hand D over to a receive of C: MPI unpacks it, and finds a truncation.  Returns the native error. */
static int deliver(drained* d, void* buf, int count, MPI_Datatype type, img_comm* c, MPI_Status* status)
{
  MPI_Request r;
  int         rc;

  take_out(d);
  scr_native_MPI_Irecv(buf, count, img_type(type), 0, 0, img_self, &r);
  scr_native_MPI_Send_c(d->data, d->bytes, MPI_BYTE, 0, 0, img_self);
  rc = scr_native_MPI_Wait(&r, status);
  status->MPI_SOURCE = c->back[d->source];
  status->MPI_TAG = d->tag;
  free(d);
  return rc;
}

/* Receive the message of STATUS, which was probed on the channel SLOT, into the list.  Returns it. */
static drained* receive_early(MPI_Message* m, const MPI_Status* status, int slot)
{
  drained*   d;
  drained**  at = &list;
  MPI_Status ignored;
  MPI_Count  bytes = 0;

  scr_native_MPI_Get_count_c(status, MPI_BYTE, &bytes);
  d = img_alloc(sizeof *d + (size_t)bytes);
  if (d == NULL) abort();
  d->next = NULL;
  d->slot = slot, d->bytes = bytes, d->matched = 0;
  d->source = status->MPI_SOURCE, d->tag = status->MPI_TAG;
  scr_native_MPI_Mrecv_c(d->data, bytes, MPI_BYTE, m, &ignored);
  received[d->source]++;
  while (*at != NULL) at = &(*at)->next;
  *at = d;
  return d;
}

/* ---- a request begins, and is tested ---- */

/* What is wrong with the message is told when the request completes, what is wrong with the receive at once. */
static int post(request* r)
{
  drained* d = look_up(slot_of(r), r->peer, r->tag);
  int      rc;

  if (d != NULL) {
    r->error = deliver(d, r->buf, r->count, r->type, r->c, &r->status);
    complete(r);
    return MPI_SUCCESS;
  }
  rc = scr_native_MPI_Irecv(r->buf, r->count, img_type(r->type), r->peer, r->tag, native_of(r), &r->native);
  if (rc != MPI_SUCCESS) complete(r);
  return rc;
}

/* Let the collective R go on. */
static void go_on(request* r)
{
  if (!img_plan_advance(r->plan)) return;
  empty_status(&r->status, MPI_ANY_SOURCE);
  r->error = r->plan->rc;
  complete(r);
}

void img_go_on(void)
{
  static int inside; /* the function of an operation may call MPI */
  request *  r, *next;

  if (inside) return;
  inside = 1;
  for (r = running.next; r != &running; r = next) {
    next = r->next;
    go_on(r);
  }
  inside = 0;
}

/* Let R be active.  Returns the native error. */
static int begin(request* r);

/* Send a copy of what R is to send; it is complete at once. */
static int send_copy(request* r)
{
  int      rc, size = 0, at = 0;
  request* copy;
  void*    packed;

  if ((rc = MPI_Pack_size(r->count, r->type, MPI_COMM_WORLD, &size)) != MPI_SUCCESS) return rc;
  packed = img_alloc((size_t)size + 1);
  if (packed == NULL) return MPI_ERR_BUFFER;
  rc = MPI_Pack(r->buf, r->count, r->type, packed, size, &at, MPI_COMM_WORLD);
  copy = make_request(SEND, packed, at, MPI_PACKED, r->peer, r->tag, r->c, 0);
  copy->owned = packed;
  buffered++;
  if (rc == MPI_SUCCESS) rc = begin(copy);
  r->done = 1;
  empty_status(&r->status, MPI_ANY_SOURCE);
  if (rc != MPI_SUCCESS || copy->done) release(copy);
  else copy->freed = 1;
  return rc;
}

static int begin(request* r)
{
  int rc;

  r->active = 1;
  r->done = 0;
  r->error = MPI_SUCCESS;
  if (r->kind == COLL) {
    img_plan_rewind(r->plan);
    append(&running, r);
    img_under_way++;
    go_on(r);
    return MPI_SUCCESS;
  }
  if (r->peer == MPI_PROC_NULL) {
    r->done = 1;
    empty_status(&r->status, MPI_PROC_NULL);
    return MPI_SUCCESS;
  }
  if (r->kind == RECV) {
    append(&receives, r);
    return post(r);
  }
  if (r->kind == BSEND) return send_copy(r);
  if (r->kind == SSEND)
    rc = scr_native_MPI_Issend(r->buf, r->count, img_type(r->type), r->peer, r->tag, native_of(r), &r->native);
  else rc = scr_native_MPI_Isend(r->buf, r->count, img_type(r->type), r->peer, r->tag, native_of(r), &r->native);
  if (rc != MPI_SUCCESS) return rc;
  sent[r->peer]++;
  r->error = test_native(SEND, r->c, &r->native, &r->done, &r->status); /* a short one is complete already */
  if (r->error != MPI_SUCCESS) r->done = 1;
  if (!r->done) append(&sends, r);
  return rc;
}

static int test(request* r);

/* 1 if a collective of the same file as that of R has begun before it, and is not complete: MPICH mixes up their
   messages if they do not go on one after the other. */
static int has_to_wait(const request* r)
{
  request *q, *next;

  for (q = held.next; q != r; q = next) {
    next = q->next;
    if (q->buf == r->buf && !test(q)) return 1;
  }
  return 0;
}

/* 1 if R is complete, or not active. */
static int test(request* r)
{
  int flag = 0;

  if (!r->active || r->done) return 1;
  if (r->kind == HELD && r->buf != NULL && has_to_wait(r)) return 0;
  if (r->kind == COLL) go_on(r);
  if (r->native == MPI_REQUEST_NULL) return r->done;
  r->error = test_native(r->kind, r->c, &r->native, &flag, &r->status);
  if (!flag && r->error == MPI_SUCCESS) return 0;
  if (r->kind == RECV) count_receive(r);
  complete(r);
  return 1;
}

/* M4, M5 */
void img_spin(int* spins)
{
  if (img_under_way > 0) img_go_on();
  if (++*spins % SPINS != 0) return;
  img_poll();
  if (*spins >= PATIENCE) sched_yield();
}

static void wait_for(request* r)
{
  int spins = 0;

  while (!test(r)) img_spin(&spins);
}

/* The program has seen that R is complete: give it the status, and the handle back.  Returns what is wrong with it. */
static int finish(request* r, MPI_Request* handle, MPI_Status* status)
{
  int code = r->active ? r->error : MPI_SUCCESS;

  if (!r->active) empty_status(&r->status, MPI_ANY_SOURCE);
  give_status(status, &r->status);
  r->active = 0;
  if (r->persistent) return code;
  release(r);
  *handle = MPI_REQUEST_NULL;
  return code;
}

/* ---- before and after an image ---- */

/* Take back the posted receives, the last one first, so that none takes a message meant for an earlier one. */
static void cancel_receives(void)
{
  request *r, *back;
  int      flag;

  for (r = receives.back; r != &receives; r = back) {
    back = r->back;
    scr_native_MPI_Cancel(&r->native);
    r->error = scr_native_MPI_Wait(&r->native, &r->status);
    scr_native_MPI_Test_cancelled(&r->status, &flag);
    r->native = MPI_REQUEST_NULL;
    if (flag) continue;
    count_receive(r);
    complete(r);
  }
}

/* Receive what has come on a channel, or for collectives. */
static void drain_one(int slot)
{
  MPI_Comm    comm = slot == COLLECTIVE ? img_coll : img_channel[slot];
  MPI_Message m;
  MPI_Status  status;
  int         flag = 1;

  while (flag) {
    scr_native_MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, &m, &status);
    if (flag) receive_early(&m, &status, slot);
  }
}

void img_forget_messages(int slot)
{
  drained *d, *next;

  drain_one(slot);
  for (d = list; d != NULL; d = next) {
    next = d->next;
    if (d->slot != slot) continue;
    take_out(d);
    free(d);
  }
}

void img_test_sends(void)
{
  request *r, *next;

  for (r = sends.next; r != &sends; r = next) {
    next = r->next;
    test(r);
  }
}

void img_drain(void)
{
  uint64_t* from = img_alloc((size_t)img_ranks * sizeof *from);
  int       slot;

  if (from == NULL) abort();
  cancel_receives();
  img_agree_totals(sent, from);
  while (memcmp(from, received, (size_t)img_ranks * sizeof *from) != 0 || sends.next != &sends) {
    drain_one(COLLECTIVE);
    for (slot = 0; slot < img_channels(); slot++) drain_one(slot);
    img_test_sends();
    sched_yield();
  }
  free(from);
  img_agree_barrier();
}

void img_repost(void)
{
  request *r, *next;

  for (r = receives.next; r != &receives; r = next) {
    next = r->next;
    post(r);
  }
}

/* ---- blocking messages ---- */

/* The communicator of HANDLE, if RANK is one of its ranks, or none, or any where one is received from; else NULL. */
static img_comm* check(MPI_Comm handle, int rank, int receive, int* rc)
{
  img_comm* c = img_comm_of(handle);

  *rc = MPI_ERR_COMM;
  if (c == NULL) return NULL;
  *rc = MPI_SUCCESS;
  if ((rank >= 0 && rank < c->size) || rank == MPI_PROC_NULL || (receive && rank == MPI_ANY_SOURCE)) return c;
  *rc = img_error(c, MPI_ERR_RANK);
  return NULL;
}

/* The request of the program's arguments; NULL, and the error in RC, if they are wrong. */
static request* request_for(int k, const void* buf, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                            int* rc)
{
  img_comm* c = check(comm, peer, k == RECV, rc);

  return c != NULL ? make_request(k, buf, count, type, peer_of(c, peer), tag, c, 0) : NULL;
}

/* The end of a call whose only request is R, which began with RC: wait for it, and tell what is wrong with either. */
static int end_call(request* r, int rc, MPI_Status* status)
{
  MPI_Request handle = MPI_REQUEST_NULL;
  img_comm*   c = r->c;
  int         error;

  img_comm_use(c, 1);
  if (rc == MPI_SUCCESS) wait_for(r);
  else r->active = 0;
  error = finish(r, &handle, status);
  rc = img_error(c, rc != MPI_SUCCESS ? rc : error);
  img_comm_use(c, -1);
  return rc;
}

static int transfer(int k, const void* buf, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                    MPI_Status* status)
{
  int      rc;
  request* r = request_for(k, buf, count, type, peer, tag, comm, &rc);

  return r != NULL ? end_call(r, begin(r), status) : rc;
}

/* Send, or receive, what is complete at once: without a request of the layer, which it becomes if it is not. */
static int transfer_now(int k, const void* buf, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                        MPI_Status* status)
{
  img_comm*   c = img_comm_of(comm);
  MPI_Status  found;
  MPI_Request native;
  request*    r;
  int         rc, flag = 0;

  if (c == NULL) return MPI_ERR_COMM;
  if (peer >= c->size || (peer < 0 && (k == SEND || peer != MPI_ANY_SOURCE)) || (k == RECV && list != NULL))
    return transfer(k, buf, count, type, peer, tag, comm, status); /* no peer, one that is wrong, or M1 */
  peer = peer_of(c, peer);
  if (k == SEND) rc = scr_native_MPI_Isend(buf, count, img_type(type), peer, tag, img_channel[c->slot], &native);
  else rc = scr_native_MPI_Irecv((void*)buf, count, img_type(type), peer, tag, img_channel[c->slot], &native);
  if (rc != MPI_SUCCESS) return img_error(c, rc);
  if (k == SEND) sent[peer]++;
  rc = test_native(k, c, &native, &flag, &found);
  if (!flag && rc == MPI_SUCCESS) {
    r = make_request(k, buf, count, type, peer, tag, c, 0);
    r->active = 1, r->native = native;
    append(k == SEND ? &sends : &receives, r);
    return end_call(r, MPI_SUCCESS, status);
  }
  if (k == RECV) {
    received[found.MPI_SOURCE]++;
    found.MPI_SOURCE = c->back[found.MPI_SOURCE];
  }
  give_status(status, &found);
  return img_error(c, rc);
}

static int exchange(const void* out, int outs, MPI_Datatype outtype, int to, int outtag, void* in, int ins,
                    MPI_Datatype intype, int from, int intag, MPI_Comm comm, MPI_Status* status)
{
  int      rc, rc2;
  request* r = request_for(RECV, in, ins, intype, from, intag, comm, &rc);

  if (r == NULL) return rc;
  rc = begin(r);
  rc2 = transfer(SEND, out, outs, outtype, to, outtag, comm, MPI_STATUS_IGNORE);
  rc = end_call(r, rc, status);
  return rc != MPI_SUCCESS ? rc : rc2;
}

img_message* img_message_begin(int receive, const void* buf, int count, MPI_Datatype type, int peer, int tag,
                               img_comm* c, int* rc)
{
  request* r = make_request(receive ? RECV : SEND, buf, count, type, peer, tag, c, 1);

  *rc = begin(r);
  if (*rc == MPI_SUCCESS) return (img_message*)r;
  release(r);
  return NULL;
}

int img_message_end(img_message* m, int* rc)
{
  request* r = (request*)m;

  if (!test(r)) return 0;
  *rc = r->error;
  release(r);
  return 1;
}

void img_request_of_native(MPI_Request* handle, void* file)
{
  request* r = make_request(HELD, file, 0, MPI_BYTE, 0, 0, img_comm_of(MPI_COMM_WORLD), 0);

  r->native = *handle;
  r->active = 1;
  append(&held, r);
  *handle = handle_of(r);
}

int img_requests_held(void)
{
  request *r, *next;

  for (r = held.next; r != &held; r = next) {
    next = r->next;
    test(r);
  }
  return held.next != &held;
}

int img_plan_request(img_plan* p, int persistent, MPI_Request* handle)
{
  request* r = make_request(COLL, NULL, 0, MPI_BYTE, 0, 0, p->c, 1);

  r->plan = p;
  r->persistent = persistent;
  *handle = handle_of(r);
  return persistent ? MPI_SUCCESS : img_error(r->c, begin(r));
}

/* ---- the calls: send and receive ---- */

IMG_NATIVE(MPI_Ssend);
IMG_NATIVE(MPI_Bsend);
IMG_NATIVE(MPI_Buffer_attach);
IMG_NATIVE(MPI_Buffer_detach);
IMG_NATIVE(MPI_Recv);
IMG_NATIVE(MPI_Sendrecv);
IMG_NATIVE(MPI_Sendrecv_replace);

#define SEND_CALL(name, how, kind)                                                                                     \
  IMG_API int name(const void* buf, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)                      \
  {                                                                                                                    \
    if (!img_on) return scr_native_##name(buf, count, type, to, tag, comm);                                            \
    img_enter();                                                                                                       \
    return how(kind, buf, count, type, to, tag, comm, MPI_STATUS_IGNORE);                                              \
  }

SEND_CALL(MPI_Send, transfer_now, SEND)
SEND_CALL(MPI_Ssend, transfer, SSEND)
SEND_CALL(MPI_Bsend, transfer, BSEND)

IMG_API int MPI_Rsend(const void* buf, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
  return MPI_Send(buf, count, type, to, tag, comm);
}

/* The program's buffer is not used: copies are on its heap. */
static void* attached;
static int   attached_size;

IMG_API int MPI_Buffer_attach(void* buffer, int size)
{
  if (!img_on) return scr_native_MPI_Buffer_attach(buffer, size);
  if (attached != NULL) return img_error(NULL, MPI_ERR_BUFFER);
  attached = buffer, attached_size = size;
  return MPI_SUCCESS;
}

IMG_API int MPI_Buffer_detach(void* at, int* size)
{
  int spins = 0;

  if (!img_on) return scr_native_MPI_Buffer_detach(at, size);
  for (img_test_sends(); buffered > 0; img_test_sends()) img_spin(&spins);
  memcpy(at, &attached, sizeof attached);
  *size = attached_size;
  attached = NULL, attached_size = 0;
  return MPI_SUCCESS;
}

IMG_API int MPI_Recv(void* buf, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status)
{
  if (!img_on) return scr_native_MPI_Recv(buf, count, type, from, tag, comm, status);
  img_enter();
  return transfer_now(RECV, buf, count, type, from, tag, comm, status);
}

IMG_API int MPI_Sendrecv(const void* out, int outs, MPI_Datatype outtype, int to, int outtag, void* in, int ins,
                         MPI_Datatype intype, int from, int intag, MPI_Comm comm, MPI_Status* status)
{
  if (!img_on)
    return scr_native_MPI_Sendrecv(out, outs, outtype, to, outtag, in, ins, intype, from, intag, comm, status);
  img_enter();
  return exchange(out, outs, outtype, to, outtag, in, ins, intype, from, intag, comm, status);
}

IMG_API int MPI_Sendrecv_replace(void* buf, int count, MPI_Datatype type, int to, int outtag, int from, int intag,
                                 MPI_Comm comm, MPI_Status* status)
{
  int   rc, size = 0, at = 0;
  void* packed;

  if (!img_on) return scr_native_MPI_Sendrecv_replace(buf, count, type, to, outtag, from, intag, comm, status);
  img_enter();
  if ((rc = MPI_Pack_size(count, type, comm, &size)) != MPI_SUCCESS) return rc;
  packed = img_alloc((size_t)size + 1);
  if (packed == NULL) return MPI_ERR_NO_MEM;
  rc = MPI_Pack(buf, count, type, packed, size, &at, comm);
  if (rc == MPI_SUCCESS) rc = exchange(packed, at, MPI_PACKED, to, outtag, buf, count, type, from, intag, comm, status);
  free(packed);
  return rc;
}

/* A nonblocking or persistent request of the program. */
static int request_call(int k, int persistent, const void* buf, int count, MPI_Datatype type, int peer, int tag,
                        MPI_Comm comm, MPI_Request* handle)
{
  request* r;
  int      rc = MPI_SUCCESS;

  img_enter();
  if ((r = request_for(k, buf, count, type, peer, tag, comm, &rc)) == NULL) return rc;
  r->persistent = persistent;
  if (!persistent) rc = begin(r);
  *handle = handle_of(r);
  if (rc == MPI_SUCCESS) return rc;
  rc = img_error(r->c, rc);
  release(r);
  *handle = MPI_REQUEST_NULL;
  return rc;
}

/* Calls of one form. */
#define REQUEST_CALL(name, k, persistent, constant)                                                                    \
  IMG_NATIVE(name);                                                                                                    \
  IMG_API int name(constant void* buf, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,                 \
                   MPI_Request* handle)                                                                                \
  {                                                                                                                    \
    if (!img_on) return scr_native_##name(buf, count, type, peer, tag, comm, handle);                                  \
    return request_call(k, persistent, buf, count, type, peer, tag, comm, handle);                                     \
  }
#define NOTHING

IMG_API int MPI_Isend(const void* buf, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                      MPI_Request* handle)
{
  if (!img_on) return scr_native_MPI_Isend(buf, count, type, peer, tag, comm, handle);
  return request_call(SEND, 0, buf, count, type, peer, tag, comm, handle);
}

IMG_API int MPI_Issend(const void* buf, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                       MPI_Request* handle)
{
  if (!img_on) return scr_native_MPI_Issend(buf, count, type, peer, tag, comm, handle);
  return request_call(SSEND, 0, buf, count, type, peer, tag, comm, handle);
}

IMG_API int MPI_Irecv(void* buf, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm, MPI_Request* handle)
{
  if (!img_on) return scr_native_MPI_Irecv(buf, count, type, peer, tag, comm, handle);
  return request_call(RECV, 0, buf, count, type, peer, tag, comm, handle);
}

REQUEST_CALL(MPI_Irsend, SEND, 0, const)
REQUEST_CALL(MPI_Ibsend, BSEND, 0, const)
REQUEST_CALL(MPI_Bsend_init, BSEND, 1, const)
REQUEST_CALL(MPI_Send_init, SEND, 1, const)
REQUEST_CALL(MPI_Ssend_init, SSEND, 1, const)
REQUEST_CALL(MPI_Rsend_init, SEND, 1, const)
REQUEST_CALL(MPI_Recv_init, RECV, 1, NOTHING)

IMG_NATIVE(MPI_Start);
IMG_NATIVE(MPI_Startall);
IMG_NATIVE(MPI_Request_free);

IMG_API int MPI_Start(MPI_Request* handle)
{
  request* r;

  if (!img_on) return scr_native_MPI_Start(handle);
  img_enter();
  r = request_of(*handle);
  if (r == NULL || !r->persistent || r->active) return img_error(NULL, MPI_ERR_REQUEST);
  return img_error(r->c, begin(r));
}

IMG_API int MPI_Startall(int n, MPI_Request* handles)
{
  int i, rc = MPI_SUCCESS;

  if (!img_on) return scr_native_MPI_Startall(n, handles);
  for (i = 0; i < n && rc == MPI_SUCCESS; i++) rc = MPI_Start(&handles[i]);
  return rc;
}

IMG_API int MPI_Request_free(MPI_Request* handle)
{
  request* r;

  if (!img_on) return scr_native_MPI_Request_free(handle);
  img_enter();
  r = request_of(*handle);
  if (r == NULL) return MPI_ERR_REQUEST;
  if (test(r)) release(r);
  else r->freed = 1;
  *handle = MPI_REQUEST_NULL;
  return MPI_SUCCESS;
}

IMG_API int MPI_Cancel(MPI_Request* handle)
{
  request* r;
  int      flag = 0;

  if (!img_on) return scr_native_MPI_Cancel(handle);
  img_enter();
  r = request_of(*handle);
  if (r == NULL) return MPI_ERR_REQUEST;
  if (r->kind != RECV || test(r)) return MPI_SUCCESS; /* a send goes its way, as MPI allows */
  scr_native_MPI_Cancel(&r->native);
  r->error = scr_native_MPI_Wait(&r->native, &r->status);
  scr_native_MPI_Test_cancelled(&r->status, &flag);
  if (!flag) count_receive(r);
  complete(r);
  return MPI_SUCCESS;
}

/* ---- the calls: wait and test ---- */

IMG_NATIVE(MPI_Waitall);
IMG_NATIVE(MPI_Waitany);
IMG_NATIVE(MPI_Waitsome);
IMG_NATIVE(MPI_Testall);
IMG_NATIVE(MPI_Testany);
IMG_NATIVE(MPI_Testsome);

/* Finish R, the request of HANDLE, which is complete, or none.  A status of an array has its error, and the call that
   of all; else its error is returned. */
static int finish_handle(request* r, MPI_Request* handle, MPI_Status* status, int* in_array)
{
  MPI_Status none;
  img_comm*  c;
  int        code = MPI_SUCCESS;

  if (r == NULL) { /* of a wrong handle the error handler has been told */
    if (handle != NULL && *handle != MPI_REQUEST_NULL) code = MPI_ERR_REQUEST;
    empty_status(&none, MPI_ANY_SOURCE);
    give_status(status, &none);
    if (in_array != NULL && status != MPI_STATUS_IGNORE) status->MPI_ERROR = code;
    if (in_array != NULL && code != MPI_SUCCESS) *in_array = code;
    return code;
  }
  c = r->error != MPI_SUCCESS ? r->c : NULL; /* its handler is called when R is released */
  if (c != NULL) img_comm_use(c, 1);
  code = finish(r, handle, status);
  if (in_array != NULL && status != MPI_STATUS_IGNORE) status->MPI_ERROR = code;
  if (in_array != NULL && code != MPI_SUCCESS) *in_array = code = MPI_ERR_IN_STATUS;
  if (c == NULL) return code;
  code = img_error(c, code);
  img_comm_use(c, -1);
  return code;
}

static MPI_Status* status_at(MPI_Status* statuses, int i)
{
  return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
}

IMG_API int MPI_Wait(MPI_Request* handle, MPI_Status* status)
{
  request* r;

  if (!img_on) return scr_native_MPI_Wait(handle, status);
  img_enter();
  r = request_of(*handle);
  if (r != NULL) wait_for(r);
  return finish_handle(r, handle, status, NULL);
}

IMG_API int MPI_Test(MPI_Request* handle, int* flag, MPI_Status* status)
{
  request* r;

  if (!img_on) return scr_native_MPI_Test(handle, flag, status);
  img_enter();
  r = request_of(*handle);
  *flag = r == NULL || test(r);
  return *flag ? finish_handle(r, handle, status, NULL) : MPI_SUCCESS;
}

IMG_API int MPI_Request_get_status(MPI_Request handle, int* flag, MPI_Status* status)
{
  MPI_Status none;
  request*   r;

  if (!img_on) return scr_native_MPI_Request_get_status(handle, flag, status);
  img_enter();
  r = request_of(handle);
  *flag = r == NULL || test(r);
  empty_status(&none, MPI_ANY_SOURCE);
  if (*flag) give_status(status, r != NULL && r->active ? &r->status : &none);
  return MPI_SUCCESS;
}

/* The first of HANDLES that is active and complete, or -1; ACTIVE becomes the number of active ones seen. */
static int first_complete(int n, const MPI_Request* handles, int* active)
{
  int i;

  for (*active = i = 0; i < n; i++) {
    request* r = request_of(handles[i]);

    if (r == NULL || !r->active) continue;
    ++*active;
    if (test(r)) return i;
  }
  return -1;
}

/* 1 if all of HANDLES are complete. */
static int all_complete(int n, const MPI_Request* handles)
{
  int i, all = 1;

  for (i = 0; i < n; i++) {
    request* r = request_of(handles[i]);

    if (r != NULL && !test(r)) all = 0;
  }
  return all;
}

IMG_API int MPI_Waitall(int n, MPI_Request* handles, MPI_Status* statuses)
{
  int i, spins = 0, rc = MPI_SUCCESS;

  if (!img_on) return scr_native_MPI_Waitall(n, handles, statuses);
  img_enter();
  for (i = 0; i < n; i++) {
    request* r = request_of(handles[i]);

    while (r != NULL && !test(r)) {
      img_requests_held(); /* those of files go on only when they are tested */
      img_spin(&spins);
    }
  }
  for (i = 0; i < n; i++) finish_handle(request_of(handles[i]), &handles[i], status_at(statuses, i), &rc);
  return rc;
}

IMG_API int MPI_Testall(int n, MPI_Request* handles, int* flag, MPI_Status* statuses)
{
  int i, rc = MPI_SUCCESS;

  if (!img_on) return scr_native_MPI_Testall(n, handles, flag, statuses);
  img_enter();
  *flag = all_complete(n, handles);
  for (i = 0; i < n && *flag; i++) finish_handle(request_of(handles[i]), &handles[i], status_at(statuses, i), &rc);
  return rc;
}

/* The end of Waitany and Testany: request I of HANDLES, or none. */
static int finish_any(MPI_Request* handles, int i, int* index, MPI_Status* status)
{
  *index = i < 0 ? MPI_UNDEFINED : i;
  return i < 0 ? finish_handle(NULL, NULL, status, NULL)
               : finish_handle(request_of(handles[i]), &handles[i], status, NULL);
}

IMG_API int MPI_Waitany(int n, MPI_Request* handles, int* index, MPI_Status* status)
{
  int i, active, spins = 0;

  if (!img_on) return scr_native_MPI_Waitany(n, handles, index, status);
  img_enter();
  while ((i = first_complete(n, handles, &active)) < 0 && active > 0) img_spin(&spins);
  return finish_any(handles, i, index, status);
}

IMG_API int MPI_Testany(int n, MPI_Request* handles, int* index, int* flag, MPI_Status* status)
{
  int i, active;

  if (!img_on) return scr_native_MPI_Testany(n, handles, index, flag, status);
  img_enter();
  i = first_complete(n, handles, &active);
  *flag = i >= 0 || active == 0;
  *index = MPI_UNDEFINED;
  return *flag ? finish_any(handles, i, index, status) : MPI_SUCCESS;
}

/* Finish all of HANDLES that are complete.  Returns their number; ACTIVE becomes that of the active ones. */
static int finish_some(int n, MPI_Request* handles, int* indices, MPI_Status* statuses, int* active, int* rc)
{
  int i, count = 0;

  for (*active = i = 0; i < n; i++) {
    request* r = request_of(handles[i]);

    if (r == NULL || !r->active) continue;
    ++*active;
    if (!test(r)) continue;
    finish_handle(r, &handles[i], status_at(statuses, count), rc);
    indices[count++] = i;
  }
  return count;
}

IMG_API int MPI_Waitsome(int n, MPI_Request* handles, int* count, int* indices, MPI_Status* statuses)
{
  int active, spins = 0, rc = MPI_SUCCESS;

  if (!img_on) return scr_native_MPI_Waitsome(n, handles, count, indices, statuses);
  img_enter();
  while ((*count = finish_some(n, handles, indices, statuses, &active, &rc)) == 0 && active > 0) img_spin(&spins);
  if (active == 0) *count = MPI_UNDEFINED;
  return rc;
}

IMG_API int MPI_Testsome(int n, MPI_Request* handles, int* count, int* indices, MPI_Status* statuses)
{
  int active, rc = MPI_SUCCESS;

  if (!img_on) return scr_native_MPI_Testsome(n, handles, count, indices, statuses);
  img_enter();
  *count = finish_some(n, handles, indices, statuses, &active, &rc);
  if (active == 0) *count = MPI_UNDEFINED;
  return rc;
}

/* ---- the calls: probe ---- */

IMG_NATIVE(MPI_Probe);
IMG_NATIVE(MPI_Mprobe);
IMG_NATIVE(MPI_Imrecv);

static void drained_status(const drained* d, const img_comm* c, MPI_Status* status)
{
  MPI_Status found;

  empty_status(&found, c->back[d->source]);
  found.MPI_TAG = d->tag;
  scr_native_MPI_Status_set_elements_x(&found, MPI_BYTE, d->bytes);
  give_status(status, &found);
}

static int probe(int from, int tag, MPI_Comm comm, int* flag, MPI_Status* status)
{
  MPI_Status found;
  drained*   d;
  img_comm*  c;
  int        rc;

  if ((c = check(comm, from, 1, &rc)) == NULL) return rc;
  d = from == MPI_PROC_NULL ? NULL : look_up(c->slot, peer_of(c, from), tag);
  *flag = d != NULL;
  if (d == NULL) {
    rc = scr_native_MPI_Iprobe(peer_of(c, from), tag, img_channel[c->slot], flag, &found);
    if (rc != MPI_SUCCESS || !*flag) return img_error(c, rc);
    if (from != MPI_PROC_NULL) found.MPI_SOURCE = c->back[found.MPI_SOURCE];
    give_status(status, &found);
    return rc;
  }
  drained_status(d, c, status);
  return MPI_SUCCESS;
}

IMG_API int MPI_Iprobe(int from, int tag, MPI_Comm comm, int* flag, MPI_Status* status)
{
  if (!img_on) return scr_native_MPI_Iprobe(from, tag, comm, flag, status);
  img_enter();
  return probe(from, tag, comm, flag, status);
}

IMG_API int MPI_Probe(int from, int tag, MPI_Comm comm, MPI_Status* status)
{
  int flag = 0, spins = 0, rc;

  if (!img_on) return scr_native_MPI_Probe(from, tag, comm, status);
  img_enter();
  while ((rc = probe(from, tag, comm, &flag, status)) == MPI_SUCCESS && !flag) img_spin(&spins);
  return rc;
}

/* A matched probe receives the message into the list, where its handle finds it. */
static int matched_probe(int from, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status)
{
  MPI_Message m;
  MPI_Status  found;
  drained*    d;
  img_comm*   c;
  int         rc;

  if ((c = check(comm, from, 1, &rc)) == NULL) return rc;
  d = from == MPI_PROC_NULL ? NULL : look_up(c->slot, peer_of(c, from), tag);
  *flag = d != NULL;
  if (d == NULL) {
    rc = scr_native_MPI_Improbe(peer_of(c, from), tag, img_channel[c->slot], flag, &m, &found);
    if (rc != MPI_SUCCESS || !*flag) return img_error(c, rc);
    if (m == MPI_MESSAGE_NO_PROC) {
      *message = m;
      give_status(status, &found);
      return rc;
    }
    d = receive_early(&m, &found, c->slot);
  }
  messages = messages == 0xffffff ? 1 : messages + 1;
  d->matched = messages;
  d->c = c;
  img_comm_use(c, 1);
  *message = (MPI_Message)(MESSAGE | messages);
  drained_status(d, c, status);
  return MPI_SUCCESS;
}

IMG_API int MPI_Improbe(int from, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status)
{
  if (!img_on) return scr_native_MPI_Improbe(from, tag, comm, flag, message, status);
  img_enter();
  return matched_probe(from, tag, comm, flag, message, status);
}

IMG_API int MPI_Mprobe(int from, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status)
{
  int flag = 0, spins = 0, rc;

  if (!img_on) return scr_native_MPI_Mprobe(from, tag, comm, message, status);
  img_enter();
  while ((rc = matched_probe(from, tag, comm, &flag, message, status)) == MPI_SUCCESS && !flag) img_spin(&spins);
  return rc;
}

/* Receive the message of a matched probe; STATUS is there.  What is wrong with the message is in ERROR. */
static int receive_matched(void* buf, int count, MPI_Datatype type, MPI_Message* message, MPI_Status* status,
                           int* error)
{
  drained*  d = list;
  img_comm* c;

  *error = MPI_SUCCESS;
  if (*message == MPI_MESSAGE_NO_PROC) {
    *message = MPI_MESSAGE_NULL;
    empty_status(status, MPI_PROC_NULL);
    return MPI_SUCCESS;
  }
  while (d != NULL && (MPI_Message)(MESSAGE | d->matched) != *message) d = d->next;
  if (d == NULL) return img_error(NULL, MPI_ERR_REQUEST);
  *message = MPI_MESSAGE_NULL;
  c = d->c;
  *error = deliver(d, buf, count, type, c, status);
  img_comm_use(c, -1);
  return MPI_SUCCESS;
}

IMG_API int MPI_Mrecv(void* buf, int count, MPI_Datatype type, MPI_Message* message, MPI_Status* status)
{
  MPI_Status got;
  int        rc, error;

  if (!img_on) return scr_native_MPI_Mrecv(buf, count, type, message, status);
  img_enter();
  rc = receive_matched(buf, count, type, message, &got, &error);
  if (rc == MPI_SUCCESS) give_status(status, &got);
  return rc != MPI_SUCCESS ? rc : img_error(NULL, error);
}

IMG_API int MPI_Imrecv(void* buf, int count, MPI_Datatype type, MPI_Message* message, MPI_Request* handle)
{
  request* r;
  int      rc;

  if (!img_on) return scr_native_MPI_Imrecv(buf, count, type, message, handle);
  img_enter();
  r = make_request(RECV, buf, count, type, MPI_PROC_NULL, 0, img_comm_of(MPI_COMM_WORLD), 0);
  rc = receive_matched(buf, count, type, message, &r->status, &r->error);
  r->active = r->done = 1;
  *handle = handle_of(r);
  return rc;
}
