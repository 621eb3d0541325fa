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
  img_comm*        c;    /* whose collective it is */
  const int*       to;   /* the world's ranks of those who take part */
  int              rank, size, tag;
  int              used, steps_room, at; /* steps; the next one */
  img_step*        steps;
  img_message**    open; /* messages since the last fence */
  int              opened, open_room;
  void**           rooms; /* memory, which is freed with the plan */
  int              room_count, rooms_room;
  int              rc, wrong; /* of the steps; of the arguments, which then make no step */
} img_plan;

/* Begin a collective on COMM.  Returns NULL, and the error in RC, if COMM is none. */
img_plan* img_plan_new(MPI_Comm comm, int persistent, int* rc);
/* Begin one of SIZE ranks of the world, of which this is ME, by TAG: apart from those of all communicators. */
img_plan* img_plan_over(const int* to, int size, int me, int tag);
/* Its steps, in the order in which they are made; messages between two fences go at the same time. */
void img_plan_send(img_plan* p, const void* buf, int count, MPI_Datatype type, int to);
void img_plan_recv(img_plan* p, void* buf, int count, MPI_Datatype type, int from);
void img_plan_fence(img_plan* p);
void img_plan_copy(img_plan* p, void* to, int tocount, MPI_Datatype totype, const void* from, int count,
                   MPI_Datatype type);
/* TO becomes FROM op TO, or TO op FROM; then FROM is used up if the operation does not commute. */
void img_plan_combine(img_plan* p, const void* from, void* to, int count, MPI_Datatype type, MPI_Op op);
void img_plan_combine_after(img_plan* p, void* from, void* to, int count, MPI_Datatype type, MPI_Op op);
/* The steps of whole collectives (coll.c). */
void img_plan_barrier(img_plan* p);
void img_plan_allreduce(img_plan* p, const void* in, void* out, int count, MPI_Datatype type, MPI_Op op);
void img_plan_allgather(img_plan* p, const void* in, int count, MPI_Datatype type, void* out, int outs,
                        MPI_Datatype outtype);
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

/* Where the pieces of all ranks are: COUNT each from BUF on; or COUNTS and PLACES, these in bytes with TYPES; or AT; or
   FAR from BUF, in bytes. */
typedef struct {
  char*               buf;
  int                 count;
  const int *         counts, *places;
  MPI_Datatype        type;
  const MPI_Datatype* types;
  char**              at;
  const MPI_Aint*     far;
} img_pieces;

/* Send, or receive, the piece I (coll.c). */
void img_plan_send_piece(img_plan* p, const img_pieces* s, int i, int to);
void img_plan_recv_piece(img_plan* p, const img_pieces* s, int i, int from);

/* The three calls of a collective: blocking; nonblocking and persistent. */
#define IMG_LIST(...) __VA_ARGS__

#define IMG_BLOCKING(name, build, parameters, arguments)                                                               \
  IMG_NATIVE(MPI_##name);                                                                                              \
  IMG_API int MPI_##name(IMG_LIST parameters, MPI_Comm comm)                                                           \
  {                                                                                                                    \
    img_plan* p;                                                                                                       \
    int       rc;                                                                                                      \
                                                                                                                       \
    if (!img_on) return scr_native_MPI_##name(IMG_LIST arguments, comm);                                               \
    if ((p = img_plan_new(comm, 0, &rc)) == NULL) return rc;                                                           \
    build(p, IMG_LIST arguments);                                                                                      \
    return img_plan_run(p);                                                                                            \
  }

#define IMG_LATER(name, iname, build, parameters, arguments)                                                           \
  IMG_NATIVE(iname);                                                                                                   \
  IMG_NATIVE(MPI_##name##_init);                                                                                       \
  IMG_API int iname(IMG_LIST parameters, MPI_Comm comm, MPI_Request* request)                                          \
  {                                                                                                                    \
    img_plan* p;                                                                                                       \
    int       rc;                                                                                                      \
                                                                                                                       \
    if (!img_on) return scr_native_##iname(IMG_LIST arguments, comm, request);                                         \
    if ((p = img_plan_new(comm, 0, &rc)) == NULL) return rc;                                                           \
    build(p, IMG_LIST arguments);                                                                                      \
    return img_plan_request(p, 0, request);                                                                            \
  }                                                                                                                    \
  IMG_API int MPI_##name##_init(IMG_LIST parameters, MPI_Comm comm, MPI_Info info, MPI_Request* request)               \
  {                                                                                                                    \
    img_plan* p;                                                                                                       \
    int       rc;                                                                                                      \
                                                                                                                       \
    if (!img_on) return scr_native_MPI_##name##_init(IMG_LIST arguments, comm, info, request);                         \
    if ((p = img_plan_new(comm, 1, &rc)) == NULL) return rc;                                                           \
    build(p, IMG_LIST arguments);                                                                                      \
    return img_plan_request(p, 1, request);                                                                            \
  }

#define IMG_CALLS(name, iname, build, parameters, arguments)                                                           \
  IMG_BLOCKING(name, build, parameters, arguments)                                                                     \
  IMG_LATER(name, iname, build, parameters, arguments)

#endif
