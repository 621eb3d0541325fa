/* ==== POINT TO POINT ====================================================================================
** Messages: requests that last over a restart, and those that were drained before the program asked for them.
**
** Uses       agree.c (channels), comm.c, plan.c (collectives that have begun), heap.c (img_alloc)
** Offers     img_p2p_start, img_spin, img_go_on, img_test_sends, img_message_*, img_plan_request, img_under_way,
**            img_request_of_native, img_requests_held; p2p.h; the calls of MPI that send, receive, wait and test.
** Invariants
**   M1  A drained message matches no receive that is posted natively: each receive looks into the list first.
**   M2  Totals count each message once: when its receive completes, or when it enters the list.
**   M3  In an image no request of the program is native.
**   M4  No call blocks natively, but those of windows and files: a wait tests, polls, and yields.
**   M5  Collectives that have begun go on in each test and each round of a wait, of whatever request.
** Failure    Native errors are those of the program's communicator.
** ====================================================================================================== */
#include "p2p.h"

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
IMG_NATIVE(MPI_Mrecv_c);
IMG_NATIVE(MPI_Send_c);
IMG_NATIVE(MPI_Get_count_c);

#define REQUEST  0x72000000
#define CHUNK    256
#define STARTS   16  /* requests that begin without a look at the clock */
#define SPINS    20  /* tests of a wait between two polls */
#define PATIENCE 200 /* tests before a wait yields its core after each poll */

img_request          img_receives, img_sends;
img_drained*         img_drained_list;
uint64_t *           img_sent_count, *img_got_count;
int                  img_under_way;
static img_request** chunks;
static int           chunk_count, chunk_room;
static img_request*  unused;        /* linked by next */
static img_request   running, held; /* heads of rings, of collectives (M5), and of windows and files */
static int           buffered;      /* copies that are still to be sent */
static int           synchronous;   /* synchronous sends in img_sends */

/* ---- requests ---- */

void img_p2p_start(void)
{
  img_sent_count = img_alloc(2 * (size_t)img_ranks * sizeof *img_sent_count);
  if (img_sent_count == NULL) abort();
  memset(img_sent_count, 0, 2 * (size_t)img_ranks * sizeof *img_sent_count);
  img_got_count = img_sent_count + img_ranks;
  img_receives.next = img_receives.back = &img_receives;
  img_sends.next = img_sends.back = &img_sends;
  running.next = running.back = &running;
  held.next = held.back = &held;
}

/* More requests. */
static void make_requests(void)
{
  img_request** more;
  img_request*  chunk = img_alloc(CHUNK * sizeof *chunk);
  int           i;

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

img_request* img_request_make(int k, const void* buf, int count, MPI_Datatype type, int peer, int tag, img_comm* c,
                              int context)
{
  img_request* r;

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
  r->later = 0;
  r->word = NULL;
  r->native = MPI_REQUEST_NULL;
  img_comm_use(c, 1);
  img_type_use(type, 1);
  return r;
}

void img_request_release(img_request* r)
{
  if (r->kind == COLL) img_plan_free(r->plan);
  if (r->owned != NULL) free(r->owned), buffered--;
  img_comm_use(r->c, -1);
  img_type_use(r->type, -1);
  r->kind = 0;
  r->next = unused;
  unused = r;
}

MPI_Request img_request_handle(const img_request* r)
{
  return (MPI_Request)(REQUEST | r->number);
}

/* The request of HANDLE; NULL for none.  Any other value is an error of the program. */
static img_request* img_request_of(MPI_Request handle)
{
  int i = handle & 0xffffff;

  if (handle == MPI_REQUEST_NULL) return NULL;
  if ((handle & 0xff000000) != REQUEST || i >= chunk_count * CHUNK || chunks[i / CHUNK][i % CHUNK].kind == 0) {
    img_error(NULL, MPI_ERR_REQUEST);
    return NULL;
  }
  return &chunks[i / CHUNK][i % CHUNK];
}

void img_request_append(img_request* head, img_request* r)
{
  r->back = head->back;
  r->next = head;
  r->back->next = head->back = r;
}

void img_status_empty(MPI_Status* s, int source)
{
  memset(s, 0, sizeof *s);
  s->MPI_SOURCE = source;
  s->MPI_TAG = MPI_ANY_TAG;
  s->MPI_ERROR = MPI_SUCCESS;
}

/* Give the program FROM, but for its error: that is set by calls for several requests only. */
void img_status_give(MPI_Status* status, const MPI_Status* from)
{
  int error;

  if (status == MPI_STATUS_IGNORE) return;
  error = status->MPI_ERROR;
  *status = *from;
  status->MPI_ERROR = error;
}

/* The world's rank of RANK of C, or what stands for none or any. */
int img_peer_of(const img_comm* c, int rank)
{
  return rank >= 0 && rank < c->size ? c->to[rank] : rank;
}

int img_request_slot(const img_request* r)
{
  return r->context == 0 ? r->c->slot : COLLECTIVE;
}

static MPI_Comm native_of(const img_request* r)
{
  return r->context == 0 ? img_channel[r->c->slot] : img_coll;
}

/* The native receive of R is complete: count it (M2), and tell its source by the ranks of the communicator. */
void img_request_received(img_request* r)
{
  img_got_count[r->status.MPI_SOURCE]++;
  if (r->context == 0) r->status.MPI_SOURCE = r->c->back[r->status.MPI_SOURCE];
}

/* One more message to PEER (M2): it comes after the synchronous sends that are open (D3 of drain.c). */
static void count_send(int peer, int slot, int tag)
{
  img_request* r;

  img_sent_count[peer]++;
  if (synchronous == 0) return;
  for (r = img_sends.next; r != &img_sends; r = r->next)
    r->later += r->kind == SSEND && r->peer == peer && r->tag == tag && img_request_slot(r) == slot;
}

/* R, which is in a list, is complete. */
void img_request_complete(img_request* r)
{
  img_under_way -= r->kind == COLL;
  synchronous -= r->kind == SSEND;
  r->back->next = r->next;
  r->next->back = r->back;
  r->native = MPI_REQUEST_NULL;
  r->done = 1;
  if (r->freed) img_request_release(r);
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

static int img_request_begin(img_request* r);

static int matches(const img_drained* d, int slot, int peer, int tag)
{
  return d->matched == 0 && d->slot == slot && (peer == MPI_ANY_SOURCE || peer == d->source) &&
         (tag == MPI_ANY_TAG || tag == d->tag);
}

/* The first message for a receive with these arguments; NULL if there is none. */
img_drained* img_drained_find(int slot, int peer, int tag)
{
  img_drained* d = img_drained_list;

  while (d != NULL && !matches(d, slot, peer, tag)) d = d->next;
  return d;
}

void img_drained_take(img_drained* d)
{
  img_drained** at = &img_drained_list;

  while (*at != d) at = &(*at)->next;
  *at = d->next;
}

/* Tell the sender of D, which waits for it, that D was received (D3 of drain.c). */
static void send_word(const img_drained* d)
{
  img_request* r = img_request_make(SEND, NULL, 0, MPI_BYTE, d->source, d->word, img_world, 1);

  img_request_begin(r);
  if (r->done) img_request_release(r);
  else r->freed = 1;
}

/* Hand D over to a receive of C: MPI unpacks it, and finds a truncation.  Returns the native error. */
int img_drained_deliver(img_drained* d, void* buf, int count, MPI_Datatype type, img_comm* c, MPI_Status* status)
{
  MPI_Request r;
  int         rc;

  img_drained_take(d);
  scr_native_MPI_Irecv(buf, count, img_type(type), 0, 0, img_self, &r);
  scr_native_MPI_Send_c(d->data, d->bytes, MPI_BYTE, 0, 0, img_self);
  rc = scr_native_MPI_Wait(&r, status);
  status->MPI_SOURCE = c->back[d->source];
  status->MPI_TAG = d->tag;
  if (d->word != 0) send_word(d);
  free(d);
  return rc;
}

/* Receive the message of STATUS, which was probed on the channel SLOT, into the list.  Returns it. */
img_drained* img_drained_receive(MPI_Message* m, const MPI_Status* status, int slot)
{
  img_drained*  d;
  img_drained** at = &img_drained_list;
  MPI_Status    ignored;
  MPI_Count     bytes = 0;

  scr_native_MPI_Get_count_c(status, MPI_BYTE, &bytes);
  d = img_alloc(sizeof *d + (size_t)bytes);
  if (d == NULL) abort();
  d->next = NULL;
  d->slot = slot, d->bytes = bytes, d->matched = d->word = 0;
  d->source = status->MPI_SOURCE, d->tag = status->MPI_TAG;
  scr_native_MPI_Mrecv_c(d->data, bytes, MPI_BYTE, m, &ignored);
  img_got_count[d->source]++;
  while (*at != NULL) at = &(*at)->next;
  *at = d;
  return d;
}

/* ---- a request begins, and is tested ---- */

/* What is wrong with the message is told when the request completes, what is wrong with the receive at once. */
int img_request_post(img_request* r)
{
  img_drained* d = img_drained_find(img_request_slot(r), r->peer, r->tag);
  int          rc;

  if (d != NULL) {
    r->error = img_drained_deliver(d, r->buf, r->count, r->type, r->c, &r->status);
    img_request_complete(r);
    return MPI_SUCCESS;
  }
  rc = scr_native_MPI_Irecv(r->buf, r->count, img_type(r->type), r->peer, r->tag, native_of(r), &r->native);
  if (rc != MPI_SUCCESS) img_request_complete(r);
  return rc;
}

/* Let the collective R go on. */
static void go_on(img_request* r)
{
  if (!img_plan_advance(r->plan)) return;
  img_status_empty(&r->status, MPI_ANY_SOURCE);
  r->error = r->plan->rc;
  img_request_complete(r);
}

void img_go_on(void)
{
  static int   inside; /* the function of an operation may call MPI */
  img_request *r, *next;

  if (inside) return;
  inside = 1;
  for (r = running.next; r != &running; r = next) {
    next = r->next;
    go_on(r);
  }
  inside = 0;
}

/* Send a copy of what R is to send; it is complete at once. */
static int send_copy(img_request* r)
{
  int          rc, size = 0, at = 0;
  img_request* copy;
  void*        packed;

  if ((rc = MPI_Pack_size(r->count, r->type, MPI_COMM_WORLD, &size)) != MPI_SUCCESS) return rc;
  packed = img_alloc((size_t)size + 1);
  if (packed == NULL) return MPI_ERR_BUFFER;
  rc = MPI_Pack(r->buf, r->count, r->type, packed, size, &at, MPI_COMM_WORLD);
  copy = img_request_make(SEND, packed, at, MPI_PACKED, r->peer, r->tag, r->c, 0);
  copy->owned = packed;
  buffered++;
  if (rc == MPI_SUCCESS) rc = img_request_begin(copy);
  r->done = 1;
  img_status_empty(&r->status, MPI_ANY_SOURCE);
  if (rc != MPI_SUCCESS || copy->done) img_request_release(copy);
  else copy->freed = 1;
  return rc;
}

/* Let R be active.  Returns the native error. */
static int img_request_begin(img_request* r)
{
  int rc;

  r->active = 1;
  r->done = 0;
  r->later = 0;
  r->error = MPI_SUCCESS;
  if (r->kind == COLL) {
    img_plan_rewind(r->plan);
    img_request_append(&running, r);
    img_under_way++;
    go_on(r);
    return MPI_SUCCESS;
  }
  if (r->peer == MPI_PROC_NULL) {
    r->done = 1;
    img_status_empty(&r->status, MPI_PROC_NULL);
    return MPI_SUCCESS;
  }
  if (r->kind == RECV) {
    img_request_append(&img_receives, r);
    return img_request_post(r);
  }
  if (r->kind == BSEND) return send_copy(r);
  if (r->kind == SSEND)
    rc = scr_native_MPI_Issend(r->buf, r->count, img_type(r->type), r->peer, r->tag, native_of(r), &r->native);
  else rc = scr_native_MPI_Isend(r->buf, r->count, img_type(r->type), r->peer, r->tag, native_of(r), &r->native);
  if (rc != MPI_SUCCESS) return rc;
  count_send(r->peer, img_request_slot(r), r->tag);
  r->error = test_native(SEND, r->c, &r->native, &r->done, &r->status); /* a short one is complete already */
  if (r->error != MPI_SUCCESS) r->done = 1;
  if (!r->done) img_request_append(&img_sends, r), synchronous += r->kind == SSEND;
  return rc;
}

static int img_request_test(img_request* r);

/* 1 if a collective of the same file as that of R has begun before it, and is not complete: MPICH mixes up their
   messages if they do not go on one after the other. */
static int has_to_wait(const img_request* r)
{
  img_request *q, *next;

  for (q = held.next; q != r; q = next) {
    next = q->next;
    if (q->buf == r->buf && !img_request_test(q)) return 1;
  }
  return 0;
}

/* 1 if R, a synchronous send whose message was drained, was received. */
static int word_has_come(img_request* r)
{
  if (!img_request_test(r->word)) return 0;
  img_request_release(r->word);
  r->word = NULL;
  return r->done = 1;
}

/* 1 if R is complete, or not active. */
static int img_request_test(img_request* r)
{
  int flag = 0;

  if (!r->active || r->done) return 1;
  if (r->kind == HELD && r->buf != NULL && has_to_wait(r)) return 0;
  if (r->kind == COLL) go_on(r);
  if (r->native == MPI_REQUEST_NULL) return r->word != NULL ? word_has_come(r) : r->done;
  r->error = test_native(r->kind, r->c, &r->native, &flag, &r->status);
  if (!flag && r->error == MPI_SUCCESS) return 0;
  if (r->kind == RECV) img_request_received(r);
  img_request_complete(r);
  return 1;
}

void img_test_sends(void)
{
  img_request *r, *next;

  for (r = img_sends.next; r != &img_sends; r = next) {
    next = r->next;
    img_request_test(r);
  }
}

/* M4, M5 */
void img_spin(int* spins)
{
  if (img_under_way > 0) img_go_on();
  if (++*spins % SPINS != 0) return;
  img_poll();
  if (*spins >= PATIENCE) sched_yield();
}

static void wait_for(img_request* r)
{
  int spins = 0;

  while (!img_request_test(r)) img_spin(&spins);
}

/* The program has seen that R is complete: give it the status, and the handle back.  Returns what is wrong with it. */
static int finish(img_request* r, MPI_Request* handle, MPI_Status* status)
{
  int code = r->active ? r->error : MPI_SUCCESS;

  if (!r->active) img_status_empty(&r->status, MPI_ANY_SOURCE);
  img_status_give(status, &r->status);
  r->active = 0;
  if (r->persistent) return code;
  img_request_release(r);
  *handle = MPI_REQUEST_NULL;
  return code;
}

/* ---- blocking messages ---- */

/* The communicator of HANDLE, if RANK is one of its ranks, or none, or any where one is received from; else NULL. */
img_comm* img_check_peer(MPI_Comm handle, int rank, int receive, int* rc)
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
static img_request* request_for(int k, const void* buf, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                                int* rc)
{
  img_comm* c = img_check_peer(comm, peer, k == RECV, rc);

  return c != NULL ? img_request_make(k, buf, count, type, img_peer_of(c, peer), tag, c, 0) : NULL;
}

/* The end of a call whose only request is R, which began with RC: wait for it, and tell what is wrong with either. */
static int end_call(img_request* r, int rc, MPI_Status* status)
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
  int          rc;
  img_request* r = request_for(k, buf, count, type, peer, tag, comm, &rc);

  return r != NULL ? end_call(r, img_request_begin(r), status) : rc;
}

/* Send, or receive, what is complete at once: without a request of the layer, which it becomes if it is not. */
static int transfer_now(int k, const void* buf, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                        MPI_Status* status)
{
  img_comm*    c = img_comm_of(comm);
  MPI_Status   found;
  MPI_Request  native;
  img_request* r;
  int          rc, flag = 0;

  if (c == NULL) return MPI_ERR_COMM;
  if (peer >= c->size || (peer < 0 && (k == SEND || peer != MPI_ANY_SOURCE)) || (k == RECV && img_drained_list != NULL))
    return transfer(k, buf, count, type, peer, tag, comm, status); /* no peer, one that is wrong, or M1 */
  peer = img_peer_of(c, peer);
  if (k == SEND) rc = scr_native_MPI_Isend(buf, count, img_type(type), peer, tag, img_channel[c->slot], &native);
  else rc = scr_native_MPI_Irecv((void*)buf, count, img_type(type), peer, tag, img_channel[c->slot], &native);
  if (rc != MPI_SUCCESS) return img_error(c, rc);
  if (k == SEND) count_send(peer, c->slot, tag);
  rc = test_native(k, c, &native, &flag, &found);
  if (!flag && rc == MPI_SUCCESS) {
    r = img_request_make(k, buf, count, type, peer, tag, c, 0);
    r->active = 1, r->native = native;
    img_request_append(k == SEND ? &img_sends : &img_receives, r);
    return end_call(r, MPI_SUCCESS, status);
  }
  if (k == RECV) {
    img_got_count[found.MPI_SOURCE]++;
    found.MPI_SOURCE = c->back[found.MPI_SOURCE];
  }
  img_status_give(status, &found);
  return img_error(c, rc);
}

int img_request_take_back(img_request* r)
{
  int flag = 0;

  scr_native_MPI_Cancel(&r->native);
  r->error = scr_native_MPI_Wait(&r->native, &r->status);
  scr_native_MPI_Test_cancelled(&r->status, &flag);
  r->native = MPI_REQUEST_NULL;
  if (!flag) img_request_received(r);
  return flag;
}

/* Take the receive R back, unless it is complete. */
static void cancel(img_request* r)
{
  if (img_request_test(r)) return;
  img_request_take_back(r);
  img_request_complete(r);
}

static int exchange(const void* out, int outs, MPI_Datatype outtype, int to, int outtag, void* in, int ins,
                    MPI_Datatype intype, int from, int intag, MPI_Comm comm, MPI_Status* status)
{
  int          rc, sent = MPI_SUCCESS;
  img_request* r = request_for(RECV, in, ins, intype, from, intag, comm, &rc);

  if (r == NULL) return rc;
  rc = img_request_begin(r);
  if (rc == MPI_SUCCESS) sent = transfer(SEND, out, outs, outtype, to, outtag, comm, MPI_STATUS_IGNORE);
  if (sent != MPI_SUCCESS) cancel(r);
  rc = end_call(r, rc, status);
  return rc != MPI_SUCCESS ? rc : sent;
}

img_message* img_message_begin(int receive, const void* buf, int count, MPI_Datatype type, int peer, int tag,
                               img_comm* c, int* rc)
{
  img_request* r = img_request_make(receive ? RECV : SEND, buf, count, type, peer, tag, c, 1);

  *rc = img_request_begin(r);
  if (*rc == MPI_SUCCESS) return (img_message*)r;
  img_request_release(r);
  return NULL;
}

int img_message_end(img_message* m, int* rc)
{
  img_request* r = (img_request*)m;

  if (!img_request_test(r)) return 0;
  *rc = r->error;
  img_request_release(r);
  return 1;
}

void img_request_of_native(MPI_Request* handle, void* file)
{
  img_request* r = img_request_make(HELD, file, 0, MPI_BYTE, 0, 0, img_comm_of(MPI_COMM_WORLD), 0);

  r->native = *handle;
  r->active = 1;
  img_request_append(&held, r);
  *handle = img_request_handle(r);
}

int img_requests_held(void)
{
  img_request *r, *next;

  for (r = held.next; r != &held; r = next) {
    next = r->next;
    img_request_test(r);
  }
  return held.next != &held;
}

int img_plan_request(img_plan* p, int persistent, MPI_Request* handle)
{
  img_request* r = img_request_make(COLL, NULL, 0, MPI_BYTE, 0, 0, p->c, 1);

  r->plan = p;
  r->persistent = persistent;
  *handle = img_request_handle(r);
  return persistent ? MPI_SUCCESS : img_error(r->c, img_request_begin(r));
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
  static unsigned begun;
  img_request*    r;
  int             rc = MPI_SUCCESS;

  if (++begun % STARTS == 0 || img_under_way > 0) img_enter(); /* its wait looks at the clock, too */
  if ((r = request_for(k, buf, count, type, peer, tag, comm, &rc)) == NULL) return rc;
  r->persistent = persistent;
  if (!persistent) rc = img_request_begin(r);
  *handle = img_request_handle(r);
  if (rc == MPI_SUCCESS) return rc;
  rc = img_error(r->c, rc);
  img_request_release(r);
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
  img_request* r;

  if (!img_on) return scr_native_MPI_Start(handle);
  img_enter();
  r = img_request_of(*handle);
  if (r == NULL || !r->persistent || r->active) return img_error(NULL, MPI_ERR_REQUEST);
  return img_error(r->c, img_request_begin(r));
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
  img_request* r;

  if (!img_on) return scr_native_MPI_Request_free(handle);
  img_enter();
  r = img_request_of(*handle);
  if (r == NULL) return MPI_ERR_REQUEST;
  if (img_request_test(r)) img_request_release(r);
  else r->freed = 1; /* one that waits for its word stays, as the word has its number */
  *handle = MPI_REQUEST_NULL;
  return MPI_SUCCESS;
}

IMG_API int MPI_Cancel(MPI_Request* handle)
{
  img_request* r;

  if (!img_on) return scr_native_MPI_Cancel(handle);
  img_enter();
  r = img_request_of(*handle);
  if (r == NULL) return MPI_ERR_REQUEST;
  if (r->kind == RECV) cancel(r); /* a send goes its way, as MPI allows */
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
static int finish_handle(img_request* r, MPI_Request* handle, MPI_Status* status, int* in_array)
{
  MPI_Status none;
  img_comm*  c;
  int        code = MPI_SUCCESS;

  if (r == NULL) { /* of a wrong handle the error handler has been told */
    if (handle != NULL && *handle != MPI_REQUEST_NULL) code = MPI_ERR_REQUEST;
    img_status_empty(&none, MPI_ANY_SOURCE);
    img_status_give(status, &none);
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
  img_request* r;

  if (!img_on) return scr_native_MPI_Wait(handle, status);
  img_enter();
  r = img_request_of(*handle);
  if (r != NULL) wait_for(r);
  return finish_handle(r, handle, status, NULL);
}

IMG_API int MPI_Test(MPI_Request* handle, int* flag, MPI_Status* status)
{
  img_request* r;

  if (!img_on) return scr_native_MPI_Test(handle, flag, status);
  img_enter();
  r = img_request_of(*handle);
  *flag = r == NULL || img_request_test(r);
  return *flag ? finish_handle(r, handle, status, NULL) : MPI_SUCCESS;
}

IMG_API int MPI_Request_get_status(MPI_Request handle, int* flag, MPI_Status* status)
{
  MPI_Status   none;
  img_request* r;

  if (!img_on) return scr_native_MPI_Request_get_status(handle, flag, status);
  img_enter();
  r = img_request_of(handle);
  *flag = r == NULL || img_request_test(r);
  img_status_empty(&none, MPI_ANY_SOURCE);
  if (*flag) img_status_give(status, r != NULL && r->active ? &r->status : &none);
  return MPI_SUCCESS;
}

/* The first of HANDLES that is active and complete, or -1; ACTIVE becomes the number of active ones seen. */
static int first_complete(int n, const MPI_Request* handles, int* active)
{
  int i;

  for (*active = i = 0; i < n; i++) {
    img_request* r = img_request_of(handles[i]);

    if (r == NULL || !r->active) continue;
    ++*active;
    if (img_request_test(r)) return i;
  }
  return -1;
}

/* 1 if all of HANDLES are complete. */
static int all_complete(int n, const MPI_Request* handles)
{
  int i, all = 1;

  for (i = 0; i < n; i++) {
    img_request* r = img_request_of(handles[i]);

    if (r != NULL && !img_request_test(r)) all = 0;
  }
  return all;
}

IMG_API int MPI_Waitall(int n, MPI_Request* handles, MPI_Status* statuses)
{
  int i, spins = 0, rc = MPI_SUCCESS;

  if (!img_on) return scr_native_MPI_Waitall(n, handles, statuses);
  img_enter();
  for (i = 0; i < n; i++) {
    img_request* r = img_request_of(handles[i]);

    while (r != NULL && !img_request_test(r)) {
      img_requests_held(); /* those of files go on only when they are tested */
      img_spin(&spins);
    }
    finish_handle(r, &handles[i], status_at(statuses, i), &rc);
  }
  return rc;
}

IMG_API int MPI_Testall(int n, MPI_Request* handles, int* flag, MPI_Status* statuses)
{
  int i, rc = MPI_SUCCESS;

  if (!img_on) return scr_native_MPI_Testall(n, handles, flag, statuses);
  img_enter();
  *flag = all_complete(n, handles);
  for (i = 0; i < n && *flag; i++) finish_handle(img_request_of(handles[i]), &handles[i], status_at(statuses, i), &rc);
  return rc;
}

/* The end of Waitany and Testany: request I of HANDLES, or none. */
static int finish_any(MPI_Request* handles, int i, int* index, MPI_Status* status)
{
  *index = i < 0 ? MPI_UNDEFINED : i;
  return i < 0 ? finish_handle(NULL, NULL, status, NULL)
               : finish_handle(img_request_of(handles[i]), &handles[i], status, NULL);
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
    img_request* r = img_request_of(handles[i]);

    if (r == NULL || !r->active) continue;
    ++*active;
    if (!img_request_test(r)) continue;
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
