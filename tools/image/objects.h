/* objects.h - the objects of MPI that the layer has itself, all on the saved side: groups, attributes, handlers. */
#ifndef IMAGE_OBJECTS_H
#define IMAGE_OBJECTS_H

#include "image.h"

/* ---- group.c ---- */

typedef struct {
  int size;
  int ranks[]; /* of the world */
} img_group;

/* The group of HANDLE; NULL, after the error handler of the world was called, if it is none. */
img_group* img_group_of(MPI_Group handle);
MPI_Group  img_group_make(int size, const int* ranks);
/* A native group with these ranks, for a call of native MPI; MPI_GROUP_EMPTY for none.  Returns the native error. */
int img_group_native(int size, const int* ranks, MPI_Group* made);
/* The place of this process in G, or -1. */
int img_group_rank(const img_group* g);
/* MPI_IDENT, MPI_SIMILAR or MPI_UNEQUAL. */
int img_ranks_compare(int size, const int* ranks, int othersize, const int* others);

/* ---- attr.c ---- */

/* Copy the attributes of C to its duplicate; free those of C.  Both call the program's functions. */
int img_attributes_copy(img_comm* c, img_comm* copy);
int img_attributes_free(img_comm* c);
/* Give C the error handler; call that of C, which is not fatal.  Returns CODE. */
void img_errhandler_set(img_comm* c, MPI_Errhandler handler);
int  img_errhandler_call(img_comm* c, int code);
/* 1 if the program has made it. */
int img_errhandler_is_made(MPI_Errhandler handler);
/* What is native of an error handler: whether errors end the program (comm.c). */
void img_comm_handler(img_comm* c, MPI_Errhandler handler);

/* ---- topo.c ---- */

struct img_topology* img_topology_copy(const struct img_topology* t);
void                 img_topology_free(img_comm* c);

#endif
