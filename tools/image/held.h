/* held.h - windows and files of MPI, which are native: while one lives, no image is written (held.c). */
#ifndef IMAGE_HELD_H
#define IMAGE_HELD_H

#include "image.h"
#include "types.h"

typedef struct img_held {
  struct img_held* next;
  const char*      kind; /* IMG_WINDOW or IMG_FILE */
  intptr_t         native;
  int              size, me;   /* of the communicator that the program gave */
  int*             to;         /* its ranks, as ranks of the world */
  MPI_Datatype     unit, view; /* of a file */
  char             name[100];
} img_held;

extern const char IMG_WINDOW[], IMG_FILE[];

/* All ranks of COMM begin to make a window, or to open a file: they meet, and have a NATIVE communicator.  NULL, and
   the error in RC, if they do not. */
img_held* img_held_begin(MPI_Comm comm, const char* kind, const char* name, MPI_Comm* native, int* rc);
/* Native MPI has returned RC for it, and its handle.  Returns RC. */
int img_held_made(img_held* h, MPI_Comm* native, intptr_t handle, int rc);
/* What was made as this native handle; NULL if there is none. */
img_held* img_held_of(const char* kind, intptr_t handle);
/* All ranks that have it are in the same call, so that none of them waits natively for one that stops.  What is not
   known is left to native MPI. */
void img_held_meet(const char* kind, intptr_t handle);
/* Its ranks, as a group for the program. */
int img_held_group(const char* kind, intptr_t handle, MPI_Group* group);
/* It is no more. */
void img_held_end(img_held* h);

/* Calls of windows and files, with native datatypes: those that return when they are complete, and those with a
   REQUEST, OF a file of which it is a collective, or NULL. */
#define IMG_HELD_CALL(name, parameters, arguments)                                                                     \
  IMG_NATIVE(name);                                                                                                    \
  IMG_API int name parameters                                                                                          \
  {                                                                                                                    \
    if (img_on) img_enter();                                                                                           \
    return scr_native_##name arguments;                                                                                \
  }
#define IMG_HELD_LATER(name, of, parameters, arguments)                                                                \
  IMG_NATIVE(name);                                                                                                    \
  IMG_API int name parameters                                                                                          \
  {                                                                                                                    \
    int rc;                                                                                                            \
                                                                                                                       \
    if (img_on) img_enter();                                                                                           \
    rc = scr_native_##name arguments;                                                                                  \
    if (img_on && rc == MPI_SUCCESS) img_request_of_native(request, of);                                               \
    return rc;                                                                                                         \
  }

/* ---- info.c ---- */

/* A native copy of the program's HANDLE; it is not needed any more. */
MPI_Info img_info_native(MPI_Info handle);
void     img_info_done(MPI_Info native, MPI_Info handle);
/* Native MPI has returned RC and, unless that is an error, the info NATIVE: the program gets it.  Returns RC. */
int img_info_give(int rc, MPI_Info native, MPI_Info* handle);

#endif
