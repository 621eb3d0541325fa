/*
** plan.h - a collective as a list of steps, which a rank may leave and take up again at any of them (plan.c), and what
** builds such lists (coll.c).
*/
#ifndef IMAGE_PLAN_H
#define IMAGE_PLAN_H

#include "image.h"

typedef struct {
  int          what, count, othercount, peer;
  MPI_Datatype type, othertype;
  MPI_Op       op;
  const void*  from;
  void*        to;
} img_step;

typedef struct img_plan {
  struct img_plan* next; /* of those that wait for their next use */
  MPI_Comm         comm;
  int              rank, size, tag;
  int              used, steps_room, at; /* steps; the next one */
  img_step*        steps;
  img_message**    open; /* messages since the last fence */
  int              opened, open_room;
  void**           rooms; /* memory, which is freed with the plan */
  int              room_count, rooms_room;
  int              rc;
} img_plan;

/* Begin a collective on COMM.  Returns NULL, and the error in RC, if COMM is none. */
img_plan* img_plan_new(MPI_Comm comm, int persistent, int* rc);
/* Its steps, in the order in which they are made; messages between two fences go at the same time. */
void img_plan_send(img_plan* p, const void* buf, int count, MPI_Datatype type, int to);
void img_plan_recv(img_plan* p, void* buf, int count, MPI_Datatype type, int from);
void img_plan_fence(img_plan* p);
void img_plan_copy(img_plan* p, void* to, int tocount, MPI_Datatype totype, const void* from, int count,
                   MPI_Datatype type);
/* TO becomes FROM op TO, or TO op FROM; then FROM is used up if the operation does not commute. */
void img_plan_combine(img_plan* p, const void* from, void* to, int count, MPI_Datatype type, MPI_Op op);
void img_plan_combine_after(img_plan* p, void* from, void* to, int count, MPI_Datatype type, MPI_Op op);
/* Memory for COUNT of TYPE, as a buffer of these. */
void* img_plan_room(img_plan* p, int count, MPI_Datatype type);
/* Run it to the end, as a blocking collective. */
int img_plan_run(img_plan* p);
/* Make it the request *HANDLE, which has begun unless it is persistent. */
int img_plan_request(img_plan* p, int persistent, MPI_Request* handle);
/* From its first step again. */
void img_plan_rewind(img_plan* p);
/* Go on as far as it can.  Returns 1 if it is complete. */
int  img_plan_advance(img_plan* p);
void img_plan_free(img_plan* p);
/* COUNT times the extent of TYPE. */
ptrdiff_t img_extent(int count, MPI_Datatype type);

#endif
