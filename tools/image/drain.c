/* ==== DRAIN =============================================================================================
** Before an image: what is under way is received into the list of drained messages, and no request is native any more.
** After it the receives are posted again.
**
** Uses       p2p.c (requests, the list), agree.c (channels, totals, questions)
** Offers     img_drain, img_repost, img_forget_messages.
** Invariants
**   D1  Receives are taken back from the last one to the first, and posted in their order.
**   D2  When img_drain ends, each message has been counted by both sides, and nobody sends any more.
**   D3  A synchronous send is complete when the program receives its message, not when draining does.  If its message
**       was drained, it waits for a word of the receiver instead: an empty message with a tag of its own, which is
**       under way as any other.  Messages of one sender with one tag on one channel are received in their order, so
**       those in the list are the last ones, and the number of later ones tells which it is.
** Failure    As in p2p.c.
** ====================================================================================================== */
#include "p2p.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

IMG_NATIVE(MPI_Improbe);

/* D1 */
static void cancel_receives(void)
{
  img_request *r, *back;

  for (r = img_receives.back; r != &img_receives; r = back) {
    back = r->back;
    if (!img_request_take_back(r)) img_request_complete(r);
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
    if (flag) img_drained_receive(&m, &status, slot);
  }
}

void img_forget_messages(int slot)
{
  img_drained *d, *next;

  drain_one(slot);
  for (d = img_drained_list; d != NULL; d = next) {
    next = d->next;
    if (d->slot != slot) continue;
    img_drained_take(d);
    free(d);
  }
}

/* ---- synchronous sends (D3) ---- */

/* A question to the receiver of a synchronous send: is its message in the list? */
typedef struct {
  int slot, tag, later, word;
} question;

#define QUESTION ((int)(sizeof(question) / sizeof(int)))

static void* allocate(size_t n)
{
  void* p = img_alloc(n + 1);

  if (p == NULL) abort();
  return p;
}

/* 1 if D may be the message of Q from SOURCE: one that a matched probe has found was received then. */
static int is_like(const img_drained* d, const question* q, int source)
{
  return d->source == source && d->slot == q->slot && d->tag == q->tag && d->matched == 0;
}

/* Note that the sender of the message of Q waits for a word.  0: the message is not in the list. */
static int promise_word(const question* q, int source)
{
  img_drained* d;
  int          n = 0;

  for (d = img_drained_list; d != NULL; d = d->next) n += is_like(d, q, source);
  if (n <= q->later) return 0;
  for (d = img_drained_list; n > q->later; d = d->next)
    if (is_like(d, q, source) && n-- == q->later + 1) d->word = q->word;
  return 1;
}

/* R was complete too early: it is when the word of its receiver comes. */
static void await_word(img_request* r)
{
  img_request* word = img_request_make(RECV, NULL, 0, MPI_BYTE, r->peer, IMG_TAGS + r->number, r->c, 1);

  word->active = 1;
  img_request_append(&img_receives, word);
  r->word = word;
  r->done = 0;
}

/* The synchronous sends that are open, in the order of their peers, in *OPEN.  Returns their number. */
static int open_sends(img_request*** open)
{
  img_request* r;
  int          n = 0, peer, k = 0;

  for (r = img_sends.next; r != &img_sends; r = r->next) n += r->kind == SSEND && !r->freed;
  *open = allocate((size_t)n * sizeof **open);
  for (peer = 0; peer < img_ranks && k < n; peer++)
    for (r = img_sends.next; r != &img_sends; r = r->next)
      if (r->kind == SSEND && !r->freed && r->peer == peer) (*open)[k++] = r;
  return n;
}

/* Find out which of the N sends of OPEN, which are complete natively now, were drained.  Collective. */
static void settle(img_request** open, int n)
{
  int *     outs = allocate(2 * (size_t)img_ranks * sizeof *outs), *ins = outs + img_ranks, *yes, *said;
  question *out = allocate((size_t)n * sizeof *out), *in;
  int       i, k = 0, r, asked = 0;

  memset(outs, 0, (size_t)img_ranks * sizeof *outs);
  for (i = 0; i < n; i++) {
    out[i] = (question){img_request_slot(open[i]), open[i]->tag, open[i]->later, IMG_TAGS + open[i]->number};
    outs[open[i]->peer] += QUESTION;
  }
  img_agree_counts(outs, ins);
  for (r = 0; r < img_ranks; r++) asked += ins[r] / QUESTION;
  in = allocate((size_t)asked * sizeof *in);
  img_agree_exchange((int*)out, outs, (int*)in, ins);
  yes = allocate(((size_t)asked + (size_t)n) * sizeof *yes), said = yes + asked;
  for (r = 0; r < img_ranks; r++) {
    for (i = 0; i < ins[r]; i += QUESTION, k++) yes[k] = promise_word(&in[k], r);
    outs[r] /= QUESTION, ins[r] /= QUESTION;
  }
  img_agree_exchange(yes, ins, said, outs);
  for (i = 0; i < n; i++)
    if (said[i]) await_word(open[i]);
  free(yes);
  free(in);
  free(out);
  free(outs);
}

/* ---- before and after an image ---- */

void img_drain(void)
{
  uint64_t*     from = allocate((size_t)img_ranks * sizeof *from);
  img_request** open;
  int           slot, n;

  cancel_receives();
  n = open_sends(&open);
  img_agree_totals(img_sent_count, from);
  while (memcmp(from, img_got_count, (size_t)img_ranks * sizeof *from) != 0 || img_sends.next != &img_sends) {
    drain_one(COLLECTIVE);
    for (slot = 0; slot < img_channels(); slot++) drain_one(slot);
    img_test_sends();
    sched_yield();
  }
  free(from);
  if (img_agree_any(n)) settle(open, n); /* nobody sends while another still drains (D2) */
  free(open);
}

void img_repost(void)
{
  img_request *r, *next;

  for (r = img_receives.next; r != &img_receives; r = next) {
    next = r->next;
    img_request_post(r);
  }
}
