/* ==== MPI =======================================================================================================
** The calls of MPI that the library makes, between the ranks of the simulated job.
**
** Offers     the functions of mpi.h; mpi_begin, mpi_end, mpi_check_end, mpi_comm_of of sim.h
** Freedom    A message of up to S.eager bytes is sent at once, a larger or synchronous one when it is received.  A
**            receive from any source takes the first message of any source.  Probe and Test may say no for a while
**            although something is there (S.not_yet).  A broadcast ends when its data is there, or when all have come
**            (S.bcast_waits).  A message to a rank that has died is lost, and who waits for it waits for ever.
** Checks     truncation; a buffer that changes while it is sent or reduced; a request of another rank; collectives that
**            do not match; messages, requests and communicators that are left at the end.
** ================================================================================================================= */
#include "sim.h"

#include "mpi.h"

typedef struct sim_request request;
typedef struct sim_message message;

enum { KIND_SEND, KIND_RECEIVE, KIND_COLLECTIVE };
enum { COLL_BARRIER = 1, COLL_BCAST, COLL_ALLREDUCE };
static const char* const coll_names[] = {"", "barrier", "broadcast", "allreduce"};

/* A collective operation that some have begun, and not all have completed. */
typedef struct collective {
  int                number, kind, arrived, left, n, root, op, type;
  char*              data;
  const char*        api; /* the call of the library in which the first one came */
  struct collective* next;
} collective;

struct sim_request {
  int         kind, done, late, n, source, tag, comm;
  process*    p;
  void*       buf;  /* where it receives, */
  const void* from; /* or what it sends, */
  int         bytes;
  uint64_t    sum; /* and the sum of that */
  collective* c;
  MPI_Status  status;
  request *   next, *all_next, **all_prev;
};

struct sim_message {
  int         source, tag, comm, n; /* source: number in the communicator */
  process*    sender;
  const void* buf;  /* the sender's, if it is not eager */
  char*       data; /* else what it sent */
  request*    send;
  message *   next, *all_next, **all_prev;
};

#define MPI_COMMS  64
#define MPI_OPS    8
#define MPI_TYPES  64
#define OP_FIRST   4 /* the first operation that a program has made */
#define TYPE_FIRST 16

static struct {
  int         n, parent, child; /* it is duplicate number `child` of `parent`; 0: mpi_comm_of made it */
  int*        member;           /* ranks of the job, ascending; NULL: all */
  int *       number, *dups;    /* of each member: its next collective, its duplicates */
  collective* first;
} comms[MPI_COMMS];
static int                ncomms;
static message*           messages;
static request*           requests;
static MPI_User_function* ops[MPI_OPS];
static int                type_size[MPI_TYPES], types;

/* ---- begin and end ---- */

static int comm_add(int n, int parent, int child, const int* member)
{
  int c = ncomms++;

  if (ncomms > MPI_COMMS) fprintf(stderr, "too many communicators\n"), abort();
  comms[c].n = n;
  comms[c].parent = parent;
  comms[c].child = child;
  comms[c].first = NULL;
  comms[c].number = calloc((size_t)n, sizeof(int));
  comms[c].dups = calloc((size_t)n, sizeof(int));
  comms[c].member = member ? malloc((size_t)n * sizeof(int)) : NULL;
  if (member) memcpy(comms[c].member, member, (size_t)n * sizeof(int));
  return c;
}

void mpi_begin(int ranks)
{
  ncomms = 1; /* 0 is MPI_COMM_NULL */
  comm_add(ranks, 0, 0, NULL);
  memset(ops, 0, sizeof ops);
  types = TYPE_FIRST;
  type_size[MPI_BYTE] = type_size[MPI_CHAR] = 1;
  type_size[MPI_INT] = 4;
  type_size[MPI_INT64_T] = 8;
}

static void message_free(message* m)
{
  if ((*m->all_prev = m->all_next)) m->all_next->all_prev = m->all_prev;
  free(m->data);
  free(m);
}

static void request_free(request* q)
{
  if ((*q->all_prev = q->all_next)) q->all_next->all_prev = q->all_prev;
  q->p->requests--;
  free(q);
}

void mpi_end(void)
{
  int i;

  while (messages) message_free(messages);
  while (requests) request_free(requests);
  for (i = 1; i < ncomms; i++) {
    while (comms[i].first) {
      collective* c = comms[i].first;
      comms[i].first = c->next;
      free(c->data);
      free(c);
    }
    free(comms[i].number);
    free(comms[i].dups);
    free(comms[i].member);
  }
  ncomms = 0;
}

void mpi_check_end(void)
{
  int i;

  if (messages) sim_violation("a message of rank %d, tag %d, was never received", messages->sender->id, messages->tag);
  for (i = 0; i < S.ranks; i++) {
    if (S.rank[i]->requests) sim_violation("rank %d has %d requests left at the end", i, S.rank[i]->requests);
    if (S.rank[i]->comms) sim_violation("rank %d has %d communicators left at the end", i, S.rank[i]->comms);
  }
}

/* The number of the calling rank in C; -1 if it is not in it. */
static int comm_me(int c)
{
  int low = 0, high = comms[c].n - 1;

  if (!comms[c].member) return S.me->id;
  while (low <= high) {
    int mid = (low + high) / 2;
    if (comms[c].member[mid] == S.me->id) return mid;
    if (comms[c].member[mid] < S.me->id) low = mid + 1;
    else high = mid - 1;
  }
  return -1;
}

static process* comm_process(int c, int rank)
{
  return S.rank[comms[c].member ? comms[c].member[rank] : rank];
}

int mpi_comm_of(int n, const int* member)
{
  int c;

  for (c = 2; c < ncomms; c++)
    if (comms[c].parent == 0 && comms[c].n == n && memcmp(comms[c].member, member, (size_t)n * sizeof(int)) == 0)
      return c;
  return comm_add(n, 0, 0, member);
}

/* ---- messages ---- */

/*
** An error that the seed wants.  The job is broken then; the launcher ends it.  What the library had begun is not
** waited for, so nothing comes into its buffers any more, and what it sends has left them.
*/
static int mpi_fails(void)
{
  message* m;

  if (!sim_fails(FAULT_MPI, S.fault_rate / 16, 0)) return 0;
  S.struck = 1;
  if (S.end_at > S.ops + 3000) S.end_at = S.ops + 3000;
  S.me->posted = NULL;
  for (m = messages; m; m = m->all_next) {
    if (m->sender != S.me || !m->send) continue;
    m->data = memcpy(malloc((size_t)m->n + 1), m->buf, (size_t)m->n);
    m->send = NULL;
  }
  return 1;
}

/* A sum over N bytes, or over some of many. */
static uint64_t sum_of(const void* p, size_t n)
{
  const unsigned char* c = p;
  uint64_t             h = 1469598103934665603u;
  size_t               i, step = n > 2048 ? n / 512 : 1;

  for (i = 0; i < n; i += step) h = (h ^ c[i]) * 1099511628211u;
  return h;
}

static request* request_new(int kind, int comm)
{
  request* q = calloc(1, sizeof *q);

  q->kind = kind;
  q->p = S.me;
  q->comm = comm;
  q->all_next = requests;
  q->all_prev = &requests;
  if (requests) requests->all_prev = &q->all_next;
  requests = q;
  S.me->requests++;
  S.me->mpi_calls++;
  return q;
}

/* M goes into the receive Q. */
static void deliver(message* m, request* q)
{
  int n = m->n;

  if (n > q->n) {
    if (!(S.faults & FAULT_MPI))
      sim_violation("rank %d: a message of %d bytes from rank %d, tag %d, is cut to %d", q->p->id, n, m->sender->id,
                    m->tag, q->n);
    n = q->n;
  }
  if (n > 0) memcpy(sim_translate(q->p, q->buf), m->data ? m->data : sim_translate(m->sender, m->buf), (size_t)n);
  q->status.MPI_SOURCE = m->source;
  q->status.MPI_TAG = m->tag;
  q->status.n = n;
  q->done = 1;
  if (m->send) {
    m->send->done = 1;
    sim_wake(m->sender);
  }
  message_free(m);
}

static int fits(const message* m, int source, int tag, int comm)
{
  return m->comm == comm && (source == MPI_ANY_SOURCE || m->source == source) && (tag == MPI_ANY_TAG || m->tag == tag);
}

/* Put a message of the calling rank, for rank TO of C, on its way to P. */
static message* message_new(process* p, const void* buf, int n, int tag, int c)
{
  message* m = calloc(1, sizeof *m);

  (void)p;
  m->source = comm_me(c);
  m->sender = S.me;
  m->tag = tag;
  m->comm = c;
  m->n = n;
  m->buf = buf;
  m->all_next = messages;
  m->all_prev = &messages;
  if (messages) messages->all_prev = &m->all_next;
  messages = m;
  return m;
}

/* P receives M now, if it waits for it, or else later. */
static void arrive(process* p, message* m)
{
  request **at, *q;

  for (at = &p->posted; *at && !fits(m, (*at)->source, (*at)->tag, (*at)->comm); at = &(*at)->next) continue;
  if ((q = *at)) {
    *at = q->next;
    deliver(m, q);
  } else {
    if (!p->last) p->last = &p->first;
    *p->last = m;
    p->last = &m->next;
  }
  sim_wake(p);
}

static int send_message(const void* buf, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request* out, int sync)
{
  process* p;
  message* m;
  request* q;

  sim_call(sync ? "MPI_Issend" : "MPI_Isend", (uint64_t)(unsigned)to << 32 | (unsigned)tag);
  if (mpi_fails()) return MPI_ERR_OTHER;
  q = *out = request_new(KIND_SEND, c);
  n *= type_size[t];
  S.me->sent++;
  S.me->sent_bytes += (uint64_t)n;
  if (to < 0 || to >= comms[c].n) {
    sim_violation("rank %d sends to rank %d", S.me->id, to);
    q->done = 1;
    return MPI_SUCCESS;
  }
  q->from = buf;
  q->bytes = n;
  q->sum = sum_of(buf, (size_t)n);
  p = comm_process(c, to);
  m = message_new(p, buf, n, tag, c);
  if (sync || (unsigned)n > S.eager) {
    m->send = q;
    q->late = 1;
  } else {
    m->data = malloc((size_t)n + 1);
    if (n) memcpy(m->data, buf, (size_t)n);
    q->done = 1;
  }
  if (p->alive) arrive(p, m);
  else message_free(m);
  return MPI_SUCCESS;
}

int MPI_Isend(const void* b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request* q)
{
  return send_message(b, n, t, to, tag, c, q, 0);
}

int MPI_Issend(const void* b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request* q)
{
  return send_message(b, n, t, to, tag, c, q, 1);
}

/*
** The first message for (SOURCE, TAG, C) that has come to the calling rank, or from any source one of the first of
** each; it is taken out of the queue.  NULL if there is none, or if fate says that it is NOT_YET there.
*/
static message* take(int source, int tag, int c, int not_yet)
{
  message **at, **found[8], *m;
  int       n = 0, i;

  for (at = &S.me->first; *at; at = &(*at)->next) {
    if (!fits(*at, source, tag, c)) continue;
    for (i = 0; i < n && (*found[i])->source != (*at)->source; i++) continue;
    if (i < n) continue;
    found[n++] = at;
    if (source != MPI_ANY_SOURCE || n == 8) break;
  }
  if (n == 0) return NULL;
  if (not_yet && sim_chance(S.not_yet)) {
    S.me->activity++;
    return NULL;
  }
  at = found[n > 1 ? sim_below((uint64_t)n) : 0];
  m = *at;
  *at = m->next;
  if (S.me->last == &m->next) S.me->last = at;
  m->next = NULL;
  return m;
}

int MPI_Irecv(void* buf, int n, MPI_Datatype t, int source, int tag, MPI_Comm c, MPI_Request* out)
{
  request *q, **at;
  message* m;

  sim_call("MPI_Irecv", (uint64_t)(unsigned)source << 32 | (unsigned)tag);
  if (mpi_fails()) return MPI_ERR_OTHER;
  q = *out = request_new(KIND_RECEIVE, c);
  q->buf = buf;
  q->n = n * type_size[t];
  q->source = source;
  q->tag = tag;
  if ((m = take(source, tag, c, 0))) {
    deliver(m, q);
    return MPI_SUCCESS;
  }
  for (at = &S.me->posted; *at; at = &(*at)->next) continue;
  *at = q;
  return MPI_SUCCESS;
}

int MPI_Improbe(int source, int tag, MPI_Comm c, int* flag, MPI_Message* out, MPI_Status* status)
{
  message* m;

  sim_call("MPI_Improbe", (uint64_t)(unsigned)source << 32 | (unsigned)tag);
  S.me->mpi_calls++;
  *flag = 0;
  if (mpi_fails()) return MPI_ERR_OTHER;
  if (!(m = take(source, tag, c, 1))) return MPI_SUCCESS;
  *flag = 1;
  status->MPI_SOURCE = m->source;
  status->MPI_TAG = m->tag;
  status->n = m->n;
  *out = m;
  return MPI_SUCCESS;
}

int MPI_Imrecv(void* buf, int n, MPI_Datatype t, MPI_Message* m, MPI_Request* out)
{
  request* q;

  sim_call("MPI_Imrecv", (uint64_t)n);
  q = *out = request_new(KIND_RECEIVE, (*m)->comm);
  q->buf = buf;
  q->n = n * type_size[t];
  deliver(*m, q);
  *m = NULL;
  return MPI_SUCCESS;
}

int MPI_Get_count(const MPI_Status* status, MPI_Datatype t, int* n)
{
  *n = status->n / type_size[t];
  return MPI_SUCCESS;
}

/* ---- collectives ---- */

/* Combine IN into INOUT by the operation O. */
static void reduce(const void* in, void* inout, int n, MPI_Datatype t, MPI_Op o)
{
  int i;

  if (o >= OP_FIRST) {
    ops[o - OP_FIRST]((void*)(uintptr_t)in, inout, &n, &t);
    return;
  }
  if (t != MPI_INT && t != MPI_INT64_T) sim_violation("a reduction of type %d", t);
  for (i = 0; i < n; i++) {
    int64_t a = t == MPI_INT ? ((const int*)in)[i] : ((const int64_t*)in)[i];
    int64_t b = t == MPI_INT ? ((int*)inout)[i] : ((int64_t*)inout)[i];
    int64_t r = o == MPI_MAX ? (a > b ? a : b) : o == MPI_MIN ? (a < b ? a : b) : a + b;
    if (t == MPI_INT) ((int*)inout)[i] = (int)r;
    else ((int64_t*)inout)[i] = r;
  }
}

static int coll_is_over(const collective* x, int comm)
{
  return x->arrived == comms[comm].n || (x->kind == COLL_BCAST && !S.bcast_waits && x->data);
}

/* The collective that is the next one of the calling rank in C; made by the first one that comes. */
static collective* coll_find(int kind, int n, MPI_Datatype t, int op, int root, int c)
{
  int          me = comm_me(c), number = comms[c].number[me]++;
  collective **at, *x;

  for (at = &comms[c].first; *at && (*at)->number != number; at = &(*at)->next) continue;
  if ((x = *at)) {
    if (!(S.faults & FAULT_MPI) && (x->kind != kind || x->root != root || x->n != n || x->type != t || x->op != op))
      sim_violation("rank %d, in %s, calls %s (n %d, root %d, operation %d), and others, in %s, %s (n %d, root %d, "
                    "operation %d)",
                    S.me->id, S.me->api ? S.me->api : "-", coll_names[kind], n, root, op, x->api ? x->api : "-",
                    coll_names[x->kind], x->n, x->root, x->op);
    return x;
  }
  x = *at = calloc(1, sizeof *x);
  x->number = number;
  x->kind = kind;
  x->n = n;
  x->root = root;
  x->op = op;
  x->type = t;
  x->left = comms[c].n;
  x->api = S.me->api;
  return x;
}

static int coll_start(int kind, const void* in, void* out, int n, MPI_Datatype t, int op, int root, MPI_Comm c,
                      MPI_Request* to)
{
  collective* x;
  request*    q;
  int         i, bytes = n * (t ? type_size[t] : 0);

  sim_call(coll_names[kind], (uint64_t)(unsigned)bytes);
  if (mpi_fails()) return MPI_ERR_OTHER;
  q = *to = request_new(KIND_COLLECTIVE, c);
  S.me->collectives++;
  x = q->c = coll_find(kind, n, t, op, root, c);
  x->arrived++;
  q->buf = out;
  q->n = bytes;
  if (kind == COLL_ALLREDUCE) {
    q->from = in;
    q->bytes = bytes;
    q->sum = sum_of(in, (size_t)bytes);
    if (x->data && x->n == n && x->kind == kind) reduce(in, x->data, n, t, op);
    else if (!x->data) x->data = memcpy(malloc((size_t)bytes + 1), in, (size_t)bytes);
  } else if (kind == COLL_BCAST && comm_me(c) == root) {
    x->data = malloc((size_t)bytes + 1);
    if (bytes) memcpy(x->data, out, (size_t)bytes);
  }
  if (x->arrived == comms[c].n || (kind == COLL_BCAST && comm_me(c) == root))
    for (i = 0; i < comms[c].n; i++)
      if (comm_process(c, i)->alive) sim_wake(comm_process(c, i));
  return MPI_SUCCESS;
}

int MPI_Ibarrier(MPI_Comm c, MPI_Request* q)
{
  return coll_start(COLL_BARRIER, NULL, NULL, 0, 0, 0, 0, c, q);
}

int MPI_Ibcast(void* b, int n, MPI_Datatype t, int root, MPI_Comm c, MPI_Request* q)
{
  return coll_start(COLL_BCAST, NULL, b, n, t, 0, root, c, q);
}

int MPI_Iallreduce(const void* in, void* out, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c, MPI_Request* q)
{
  return coll_start(COLL_ALLREDUCE, in, out, n, t, o, 0, c, q);
}

/* The calling rank completes its part Q of a collective; the last one frees that. */
static void coll_complete(request* q)
{
  collective *x = q->c, **at = &comms[q->comm].first;

  if (x->data && q->n && !(x->kind == COLL_BCAST && x->root == comm_me(q->comm)))
    memcpy(q->buf, x->data, (size_t)(q->n < x->n * type_size[x->type] ? q->n : x->n * type_size[x->type]));
  if (--x->left > 0) return;
  while (*at != x) at = &(*at)->next;
  *at = x->next;
  free(x->data);
  free(x);
}

int MPI_Test(MPI_Request* to, int* flag, MPI_Status* status)
{
  request* q = *to;
  int      over;

  sim_call("MPI_Test", q ? (uint64_t)q->kind : 9);
  S.me->mpi_calls++;
  *flag = 1;
  if (!q) return MPI_SUCCESS;
  if (q->p != S.me) sim_violation("rank %d tests a request of rank %d", S.me->id, q->p->id);
  *flag = 0;
  if (mpi_fails()) return MPI_ERR_OTHER;
  over = q->kind == KIND_COLLECTIVE ? coll_is_over(q->c, q->comm) : q->done;
  if (over && (q->kind == KIND_COLLECTIVE || q->late) && sim_chance(S.not_yet)) {
    S.me->activity++;
    over = 0;
  }
  if (!over) return MPI_SUCCESS;
  if (q->from && sum_of(q->from, (size_t)q->bytes) != q->sum)
    sim_violation("rank %d, in %s, changes a buffer that it sends or reduces", S.me->id, S.me->api ? S.me->api : "-");
  if (q->kind == KIND_COLLECTIVE) coll_complete(q);
  if (status) *status = q->status;
  request_free(q);
  *to = NULL;
  *flag = 1;
  return MPI_SUCCESS;
}

/* ---- the rest ---- */

int MPI_Comm_dup(MPI_Comm c, MPI_Comm* out)
{
  int k, child;

  sim_call("MPI_Comm_dup", (uint64_t)c);
  if (mpi_fails()) return MPI_ERR_OTHER;
  child = ++comms[c].dups[comm_me(c)];
  for (k = 2; k < ncomms && (comms[k].parent != c || comms[k].child != child); k++) continue;
  *out = k < ncomms ? k : comm_add(comms[c].n, c, child, comms[c].member);
  S.me->comms++;
  return MPI_SUCCESS;
}

int MPI_Comm_free(MPI_Comm* c)
{
  sim_call("MPI_Comm_free", (uint64_t)*c);
  S.me->comms--;
  *c = MPI_COMM_NULL;
  return MPI_SUCCESS;
}

int MPI_Comm_rank(MPI_Comm c, int* rank)
{
  *rank = comm_me(c);
  return MPI_SUCCESS;
}

int MPI_Comm_size(MPI_Comm c, int* n)
{
  *n = comms[c].n;
  return MPI_SUCCESS;
}

int MPI_Comm_set_errhandler(MPI_Comm c, MPI_Errhandler e)
{
  (void)c, (void)e;
  return MPI_SUCCESS;
}

int MPI_Comm_test_inter(MPI_Comm c, int* flag)
{
  (void)c;
  *flag = 0;
  return MPI_SUCCESS;
}

int MPI_Initialized(int* flag)
{
  *flag = 1;
  return MPI_SUCCESS;
}

int MPI_Finalized(int* flag)
{
  *flag = 0;
  return MPI_SUCCESS;
}

/* ---- the attribute of MPI_COMM_SELF: a process has one at most, which MPI_Finalize deletes first ---- */

int MPI_Comm_create_keyval(MPI_Comm_copy_attr_function* copy, MPI_Comm_delete_attr_function* gone, int* key,
                           void* extra)
{
  (void)copy;
  if (mpi_fails()) return MPI_ERR_OTHER;
  S.me->attribute_gone = gone;
  S.me->attribute_extra = extra;
  S.me->comms++;
  *key = 1;
  return MPI_SUCCESS;
}

int MPI_Comm_free_keyval(int* key)
{
  S.me->comms--;
  *key = 0;
  return MPI_SUCCESS;
}

int MPI_Comm_set_attr(MPI_Comm c, int key, void* value)
{
  (void)c, (void)key;
  S.me->attribute = value;
  S.me->attribute_set = 1;
  return MPI_SUCCESS;
}

int MPI_Comm_delete_attr(MPI_Comm c, int key)
{
  if (!S.me->attribute_set) return MPI_SUCCESS;
  S.me->attribute_set = 0;
  return S.me->attribute_gone(c, key, S.me->attribute, S.me->attribute_extra);
}

int MPI_Finalize(void)
{
  if (!S.me->attribute_set) return MPI_SUCCESS;
  MPI_Comm_delete_attr(MPI_COMM_SELF, 1);
  S.me->comms--; /* its key goes with MPI */
  return MPI_SUCCESS;
}

/* The same function is the same operation on all ranks. */
int MPI_Op_create(MPI_User_function* f, int commutes, MPI_Op* o)
{
  int i;

  (void)commutes;
  for (i = 0; i < MPI_OPS - 1 && ops[i] && ops[i] != f; i++) continue;
  ops[i] = f;
  *o = OP_FIRST + i;
  return MPI_SUCCESS;
}

int MPI_Op_free(MPI_Op* o)
{
  *o = MPI_OP_NULL;
  return MPI_SUCCESS;
}

int MPI_Type_contiguous(int n, MPI_Datatype t, MPI_Datatype* out)
{
  int i, size = n * type_size[t];

  for (i = TYPE_FIRST; i < types && type_size[i] != size; i++) continue;
  if (i == types && types < MPI_TYPES) type_size[types++] = size;
  *out = i;
  return MPI_SUCCESS;
}

int MPI_Type_commit(MPI_Datatype* t)
{
  (void)t;
  return MPI_SUCCESS;
}

int MPI_Type_free(MPI_Datatype* t)
{
  *t = MPI_DATATYPE_NULL;
  return MPI_SUCCESS;
}
