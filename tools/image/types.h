/* types.h - derived datatypes and operations of the program (types.c), all on the saved side. */
#ifndef IMAGE_TYPES_H
#define IMAGE_TYPES_H

#include "image.h"

#define IMG_TYPE 0x75000000 /* the handles of datatypes of the program */

/* 1 if the program has made the datatype HANDLE; its native one. */
static inline int img_type_is_derived(MPI_Datatype handle)
{
  return (handle & 0xff000000) == IMG_TYPE;
}
MPI_Datatype               img_type_native(MPI_Datatype handle);
static inline MPI_Datatype img_type(MPI_Datatype handle)
{
  return img_type_is_derived(handle) ? img_type_native(handle) : handle;
}
/* Free a native datatype that native MPI has returned, unless it is predefined. */
void img_type_free_native(MPI_Datatype* native);
/* One more uses the datatype, or the operation, or one less: it lives as long as any does. */
void               img_type_count(MPI_Datatype handle, int more);
static inline void img_type_use(MPI_Datatype handle, int more)
{
  if (img_type_is_derived(handle)) img_type_count(handle, more);
}
void img_op_use(MPI_Op handle, int more);
/* In a process that was restarted: make the native ones again. */
void img_types_resumed(void);
/* 1 if the program has made the operation; 1 if it commutes. */
int img_op_is_made(MPI_Op handle);
int img_op_commutes(MPI_Op handle);
/* TO becomes FROM op TO. */
int img_op_apply(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op);

#endif
