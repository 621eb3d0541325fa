/* ==== AGREE =============================================================================================
** The ranks stop together: a request, a marker from rank 0 to all, their reports, and its decision.
**
** Uses       start.c (img_say), lib.c (img_lib_halt_changed, img_lib_time_to_ask, img_lib_signalled)
** Offers     img_rank, img_ranks, img_ctl, img_self, img_coll, img_channel*, img_agree_*.
** Invariants
**   A1  Only rank 0 decides, once for each marker; its words reach each rank in their order.
**   A2  All of this is native: a process that loads an image begins with none of it.
**   A3  Channels are made one after the other on all ranks, each in polls: no rank waits for it natively, and a stop
**       does not wait for it.
** Failure    A rank that objects, or that does not call MPI for SCR_IMAGE_WAIT seconds, calls the stop off.
**
**   state              event                                 action                                      next
**   running            a signal of SCR_SIGNALS               ASK to rank 0                               running
**   running, rank 0    ASK, a signal, the halt file, time    MARK to all                                 stopped
**   running            MARK                                  REPORT, with an objection or without        stopped
**   stopped, rank 0    all have reported, none objects       GO to all                                   image
**   stopped, rank 0    an objection; too long                CALLOFF to all; says why; later (PAUSE)     running
**   stopped            GO, CALLOFF                           -                                           image, running
**   running            a communicator needs a channel        WANT to rank 0                              running
**   running, rank 0    WANT                                  GROW to all                                 running
**   in MPI_Finalize    -                                     ENDING to rank 0, once in this process      running
**   running, rank 0    all are in MPI_Finalize               END to all                                  ended
** ====================================================================================================== */
#include "image.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum { ASK = 1, REPORT, ENDING, WANT, MARK, GO, CALLOFF, END, GROW } word;

typedef struct {
  int  what, n;
  char objection[200];
} message;

#define TAG_UP   1
#define TAG_DOWN 2
#define MOMENT   0.1  /* seconds after a stop that was called off, before the next; then twice as long each time, */
#define PAUSE    10.0 /* and so long at most */

int                img_rank, img_ranks;
MPI_Comm           img_ctl, img_self, img_coll;
static MPI_Request heard = MPI_REQUEST_NULL; /* the receive for the next message */
static message     in;
static int         from; /* of it */
static int         asked, ending, ended, endings, marks;
static int         owed;       /* rank 0: reports for a stop that was called off, which are still to come */
static double      not_before; /* rank 0: no marker until then */
static double      retry_after = MOMENT;
static int         requested; /* rank 0: somebody has asked for the stop */

/* ---- channels (A3) ---- */

MPI_Comm           img_channel[IMG_COMMS]; /* the first ones are the world, and one for MPI_COMM_SELF */
static MPI_Request growing = MPI_REQUEST_NULL;
static int         channel_count, target; /* those that are there, and those that have been told */
static int         wanted;                /* this process has asked for so many; at rank 0, someone has */

int img_channels(void)
{
  return channel_count;
}

int img_channels_growing(void)
{
  return channel_count < target;
}

/* Go on with what has been told. */
static void grow(void)
{
  int flag = 1;

  while (channel_count < target && flag) {
    if (growing == MPI_REQUEST_NULL) MPI_Comm_idup(img_coll, &img_channel[channel_count], &growing);
    MPI_Test(&growing, &flag, MPI_STATUS_IGNORE);
    channel_count += flag;
  }
}

void img_channels_make(int count)
{
  MPI_Allreduce(&count, &target, 1, MPI_INT, MPI_MAX, img_ctl);
  img_agree_settle();
}

void img_agree_settle(void)
{
  for (grow(); channel_count < target; grow()) sched_yield();
}

/* Duplicate COMM; the others get the processor meanwhile. */
static MPI_Comm duplicate(MPI_Comm comm)
{
  MPI_Request r;
  MPI_Comm    made;
  int         flag = 0;

  if (MPI_Comm_idup(comm, &made, &r) != MPI_SUCCESS) img_die("cannot duplicate communicators");
  while (MPI_Test(&r, &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS && !flag) sched_yield();
  return made;
}

/* ---- words ---- */

static void listen(void)
{
  MPI_Irecv(&in, (int)sizeof in, MPI_BYTE, img_rank == 0 ? MPI_ANY_SOURCE : 0, img_rank == 0 ? TAG_UP : TAG_DOWN,
            img_ctl, &heard);
}

void img_agree_start(void)
{
  int *most, flag;

  MPI_Comm_rank(MPI_COMM_WORLD, &img_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &img_ranks);
  img_ctl = duplicate(MPI_COMM_WORLD);
  img_self = duplicate(MPI_COMM_SELF);
  img_coll = duplicate(MPI_COMM_WORLD);
  img_channel[0] = MPI_COMM_WORLD;
  img_channel[1] = duplicate(MPI_COMM_WORLD);
  channel_count = target = 2;
  if (MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &flag) != MPI_SUCCESS || !flag || *most < IMG_WORDS)
    img_die("this MPI has fewer than %d tags", IMG_WORDS);
  MPI_Comm_set_errhandler(img_ctl, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(img_self, MPI_ERRORS_RETURN);
  listen();
}

/* 1 if a message has come: it is in IN, until the next listen(). */
static int hears(void)
{
  MPI_Status status;
  int        flag = 0;

  MPI_Test(&heard, &flag, &status);
  if (flag) from = status.MPI_SOURCE;
  return flag;
}

/* Send a short message, which MPI buffers: nobody waits for its receiver. */
static void tell(int rank, word what, int n, const char* objection)
{
  message m;

  memset(&m, 0, sizeof m);
  m.what = (int)what, m.n = n;
  if (objection != NULL) snprintf(m.objection, sizeof m.objection, "%s", objection);
  MPI_Send(&m, (int)sizeof m, MPI_BYTE, rank, rank == 0 ? TAG_UP : TAG_DOWN, img_ctl);
}

static void tell_all(word what)
{
  int r;

  for (r = 1; r < img_ranks; r++) tell(r, what, what == GROW ? target : marks, NULL);
}

void img_channels_ask(int count)
{
  if (count <= wanted || count <= target) return;
  wanted = count;
  if (img_rank != 0) tell(0, WANT, count, NULL);
}

/* Rank 0: tell all that there are to be more channels, a few at a time. */
static void tell_growth(void)
{
  if (wanted <= target || ended) return;
  target = wanted > IMG_COMMS ? IMG_COMMS : wanted;
  tell_all(GROW);
}

/* Rank 0: end the stop.  The ranks go on, and are asked again; WHY is said the first time, and then where the pause is
   the longest. */
static void call_off(int rank, const char* why)
{
  tell_all(CALLOFF);
  asked = requested;
  if (!requested) retry_after = PAUSE; /* perhaps no image is due */
  if (retry_after == MOMENT || retry_after == PAUSE) img_say("no image: rank %d %s", rank, why);
  not_before = img_wtime() + retry_after;
  retry_after = retry_after < PAUSE / 2 ? 2 * retry_after : PAUSE;
}

/* Rank 0: the name of a rank that has not REPORTED. */
static int absent(const char* reported)
{
  int r = 1;

  while (r < img_ranks - 1 && reported[r]) r++;
  return r;
}

/* Rank 0: mark all ranks, and wait for their reports.  Returns 1 on GO. */
static int coordinate(const char* (*object)(void))
{
  double      began = img_wtime(), limit = img_seconds("SCR_IMAGE_WAIT", 300);
  char*       reported = calloc((size_t)img_ranks, 1);
  char        why[300];
  const char* objection = object();
  int         left = img_ranks - 1, bad = objection != NULL ? 0 : -1, rc;

  if (reported == NULL) return 0;
  marks++;
  tell_all(MARK);
  snprintf(why, sizeof why, "%s", objection != NULL ? objection : "");
  while (left > 0 && bad < 0) {
    if (!hears()) {
      if (img_wtime() - began > limit) {
        snprintf(why, sizeof why, "has not called MPI for %.0f s", limit);
        bad = absent(reported);
        retry_after = PAUSE; /* the others have waited long enough */
      }
      sched_yield();
      continue;
    }
    if (in.what == ENDING) endings++;
    if (in.what == WANT && in.n > wanted) wanted = in.n;
    if (in.what == REPORT && in.n != marks) owed--;
    if (in.what == REPORT && in.n == marks) {
      reported[from] = 1, left--;
      if (in.objection[0] != '\0') {
        bad = from;
        snprintf(why, sizeof why, "%s", in.objection);
      }
    }
    listen();
  }
  free(reported);
  owed += left;
  rc = bad < 0;
  if (rc) {
    tell_all(GO);
    retry_after = MOMENT;
  } else call_off(bad, why);
  return rc;
}

/* Another rank was marked: report, and wait for the decision.  Returns 1 on GO. */
static int stop(const char* (*object)(void))
{
  int n = in.n, what;

  listen();
  tell(0, REPORT, n, object());
  while (!hears()) sched_yield();
  what = in.what;
  asked = 0;
  listen();
  return what == GO;
}

/* Rank 0: whether someone has asked. */
static int suspects(void)
{
  while (hears()) {
    if (in.what == ASK) asked = 1;
    if (in.what == ENDING) endings++;
    if (in.what == WANT && in.n > wanted) wanted = in.n;
    if (in.what == REPORT) owed--;
    listen();
  }
  if (img_lib_signalled() || img_lib_halt_changed()) asked = 1;
  if (img_wtime() < not_before) return 0;
  requested = asked;
  return asked || img_lib_time_to_ask();
}

int img_agree_poll(const char* (*objection)(void))
{
  if (ended) return 0;
  grow();
  if (img_rank == 0) {
    int due = suspects();

    tell_growth();
    if (!due) return 0;
    asked = 0;
    img_lib_asked();
    return coordinate(objection);
  }
  if (img_lib_signalled() && !asked && !ending) { /* ENDING is the last word to rank 0, but for a report */
    tell(0, ASK, 0, NULL);
    asked = 1;
    img_lib_asked();
  }
  if (!hears()) return 0;
  if (in.what == MARK) return stop(objection);
  if (in.what == END) ended = 1;
  if (in.what == GROW) target = in.n;
  if (!ended) listen(); /* else it is of a stop that was called off early */
  return 0;
}

void img_agree_hear_no_more(void)
{
  if (heard == MPI_REQUEST_NULL) return;
  MPI_Cancel(&heard);
  MPI_Wait(&heard, MPI_STATUS_IGNORE);
}

int img_agree_ending(void)
{
  if (!ending) {
    ending = 1;
    if (img_rank == 0) endings++;
    else tell(0, ENDING, 0, NULL);
  }
  if (img_rank == 0 && endings == img_ranks && owed == 0 && !ended) {
    tell_all(END);
    ended = 1;
    img_agree_hear_no_more();
  }
  if (ended) img_agree_settle();
  return ended;
}

void img_agree_totals(const uint64_t* sent, uint64_t* received)
{
  MPI_Alltoall((void*)sent, 1, MPI_UINT64_T, received, 1, MPI_UINT64_T, img_ctl);
}

int img_agree_any(int value)
{
  int any = 0;

  MPI_Allreduce(&value, &any, 1, MPI_INT, MPI_MAX, img_ctl);
  return any > 0;
}

void img_agree_counts(const int* outs, int* backs)
{
  MPI_Alltoall((void*)outs, 1, MPI_INT, backs, 1, MPI_INT, img_ctl);
}

void img_agree_exchange(const int* out, const int* outs, int* back, const int* backs)
{
  int *first = calloc(2 * (size_t)img_ranks, sizeof *first), *first_back = first + img_ranks, r;

  if (first == NULL) abort();
  for (r = 1; r < img_ranks; r++) {
    first[r] = first[r - 1] + outs[r - 1];
    first_back[r] = first_back[r - 1] + backs[r - 1];
  }
  MPI_Alltoallv((void*)out, (int*)outs, first, MPI_INT, back, (int*)backs, first_back, MPI_INT, img_ctl);
  free(first);
}

void img_agree_barrier(void)
{
  MPI_Barrier(img_ctl);
}
