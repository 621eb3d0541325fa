/* p2p.h - requests and drained messages: shared by p2p.c, drain.c and probe.c. */
#ifndef IMAGE_P2P_H
#define IMAGE_P2P_H

#include "plan.h"

typedef enum { SEND = 1, SSEND, BSEND, RECV, COLL, HELD } img_request_kind; /* HELD: of a window or a file */

typedef struct img_request {
  struct img_request *next, *back; /* of the ring that it is in */
  img_comm*           c;
  MPI_Request         native; /* of this process (M3) */
  int                 error;  /* the native one, when it is done */
  MPI_Status          status;
  unsigned char       kind, persistent, active, freed;
  int                 done;
  int                 number, context, peer, tag, count; /* the peer is a rank of the world */
  MPI_Datatype        type;
  void*               buf;
  void*               owned; /* the copy that a buffered send sends, or NULL */
  img_plan*           plan;  /* of a collective */
  int                 later; /* of a synchronous send: messages after it that it must not be mixed up with (D3) */
  struct img_request* word;  /* of a synchronous send: the receive of the word that it was received, or NULL (D3) */
} img_request;

/* A message that was received before the program asked for it. */
typedef struct img_drained {
  struct img_drained* next;
  int                 slot; /* of the channel, or COLLECTIVE */
  int                 source, tag;
  MPI_Count           bytes;   /* more than an int, if the type is large */
  int                 matched; /* the number of the program's message handle, or 0 */
  img_comm*           c;       /* of that */
  int                 word;    /* the tag of the word that its sender waits for, or 0 (D3) */
  char                data[];
} img_drained;

#define COLLECTIVE (-1)

/* ---- p2p.c ---- */

extern img_request  img_receives, img_sends;        /* heads of rings, in the order of posting */
extern img_drained* img_drained_list;               /* M1, in the order of arrival */
extern uint64_t *   img_sent_count, *img_got_count; /* M2, for each rank of the world */

img_request* img_request_make(int k, const void* buf, int count, MPI_Datatype type, int peer, int tag, img_comm* c,
                              int context);
void         img_request_release(img_request* r);
MPI_Request  img_request_handle(const img_request* r);
/* The end of the ring of HEAD is R. */
void img_request_append(img_request* head, img_request* r);
/* R, a receive, is active: take its message from the list, or post it.  What is wrong with the message is told when the
   request completes, what is wrong with the receive is returned. */
int img_request_post(img_request* r);
/* The native receive of R is complete: count it (M2), and tell its source by the ranks of the communicator. */
void img_request_received(img_request* r);
/* End the native receive of R, which was posted.  Returns 1 if it was taken back, 0 if its message had come. */
int img_request_take_back(img_request* r);
/* R, which is in a ring, is complete. */
void img_request_complete(img_request* r);
/* The channel of R, or COLLECTIVE. */
int  img_request_slot(const img_request* r);
void img_status_empty(MPI_Status* s, int source);
/* Give the program FROM, but for its error: that is set by calls for several requests only. */
void img_status_give(MPI_Status* status, const MPI_Status* from);
/* The world's rank of RANK of C, or what stands for none or any. */
int img_peer_of(const img_comm* c, int rank);
/* The communicator of HANDLE, if RANK is one of its ranks, or none, or any where one is received from; else NULL. */
img_comm* img_check_peer(MPI_Comm handle, int rank, int receive, int* rc);
/* The first drained message for a receive with these arguments; NULL if there is none. */
img_drained* img_drained_find(int slot, int peer, int tag);
void         img_drained_take(img_drained* d);
/* Hand D over to a receive of C: MPI unpacks it, and finds a truncation.  Returns the native error. */
int img_drained_deliver(img_drained* d, void* buf, int count, MPI_Datatype type, img_comm* c, MPI_Status* status);
/* Receive the message of STATUS, which was probed on the channel SLOT, into the list.  Returns it. */
img_drained* img_drained_receive(MPI_Message* m, const MPI_Status* status, int slot);

#endif
