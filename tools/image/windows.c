/* ==== WINDOWS ===========================================================================================
** One-sided communication: windows are native (held.c); calls translate datatypes.
**
** Uses       held.c, info.c, types.c, group.c, p2p.c (requests)
** Offers     the calls that make, free and synchronize windows, and those that access them.
** Invariants
**   W1  A call that waits for all ranks of a window has them meet first (H2).  One that waits for some of them is
**       refused while a nonblocking collective of this rank goes on, which would stand still meanwhile.
** Failure    The error handler of the window, which is native.
** ====================================================================================================== */
#include "held.h"
#include "objects.h"
#include "types.h"

IMG_NATIVE(MPI_Group_incl);
IMG_NATIVE(MPI_Group_free);
IMG_NATIVE(MPI_Comm_group);

/* ---- making one ---- */

/* Calls that make a window: with these arguments, and INFO, COMM and WINDOW. */
#define MAKES_WINDOW(name, parameters, arguments)                                                                      \
  IMG_NATIVE(name);                                                                                                    \
  IMG_API int name parameters                                                                                          \
  {                                                                                                                    \
    MPI_Info  given = info;                                                                                            \
    MPI_Comm  wanted = comm;                                                                                           \
    img_held* h;                                                                                                       \
    int       rc;                                                                                                      \
                                                                                                                       \
    if (!img_on) return scr_native_##name arguments;                                                                   \
    h = img_held_begin(wanted, IMG_WINDOW, "", &comm, &rc);                                                            \
    if (h == NULL) return rc;                                                                                          \
    info = img_info_native(given);                                                                                     \
    rc = scr_native_##name arguments;                                                                                  \
    if (info != given) img_info_free_native(&info);                                                                    \
    return img_held_made(h, &comm, *window, rc);                                                                       \
  }

MAKES_WINDOW(MPI_Win_create, (void* base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, MPI_Win* window),
             (base, size, unit, info, comm, window))
MAKES_WINDOW(MPI_Win_allocate, (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void* base, MPI_Win* window),
             (size, unit, info, comm, base, window))
MAKES_WINDOW(MPI_Win_allocate_shared,
             (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void* base, MPI_Win* window),
             (size, unit, info, comm, base, window))
MAKES_WINDOW(MPI_Win_create_dynamic, (MPI_Info info, MPI_Comm comm, MPI_Win* window), (info, comm, window))

IMG_NATIVE(MPI_Win_free);
IMG_NATIVE(MPI_Win_get_group);
IMG_NATIVE(MPI_Win_set_info);
IMG_NATIVE(MPI_Win_get_info);
IMG_NATIVE(MPI_Win_set_errhandler);

IMG_API int MPI_Win_free(MPI_Win* window)
{
  img_held* h;
  int       rc;

  if (!img_on) return scr_native_MPI_Win_free(window);
  h = img_held_of(IMG_WINDOW, *window);
  img_held_meet(IMG_WINDOW, *window);
  rc = scr_native_MPI_Win_free(window);
  if (h != NULL && rc == MPI_SUCCESS) img_held_end(h);
  return rc;
}

IMG_API int MPI_Win_get_group(MPI_Win window, MPI_Group* group)
{
  return img_on ? img_held_group(IMG_WINDOW, window, group) : scr_native_MPI_Win_get_group(window, group);
}

IMG_API int MPI_Win_set_info(MPI_Win window, MPI_Info info)
{
  MPI_Info native = img_info_native(info);
  int      rc;

  if (img_on) img_held_meet(IMG_WINDOW, window);
  rc = scr_native_MPI_Win_set_info(window, native);
  if (native != info) img_info_free_native(&native);
  return rc;
}

IMG_API int MPI_Win_get_info(MPI_Win window, MPI_Info* info)
{
  MPI_Info native = MPI_INFO_NULL;
  int      rc = scr_native_MPI_Win_get_info(window, &native);

  if (!img_on || rc != MPI_SUCCESS) *info = native;
  else {
    *info = img_info_from(native);
    img_info_free_native(&native);
  }
  return rc;
}

/* ---- synchronization (W1) ---- */

IMG_NATIVE(MPI_Win_fence);
IMG_NATIVE(MPI_Win_post);
IMG_NATIVE(MPI_Win_start);
IMG_NATIVE(MPI_Win_complete);
IMG_NATIVE(MPI_Win_wait);
IMG_NATIVE(MPI_Win_test);

IMG_API int MPI_Win_fence(int assert, MPI_Win window)
{
  if (img_on) img_held_meet(IMG_WINDOW, window);
  return scr_native_MPI_Win_fence(assert, window);
}

/* A native group with the ranks of the program's HANDLE; 0 if there is none. */
static int make_native(MPI_Group handle, MPI_Group* made)
{
  const img_group* g = img_group_of(handle);
  MPI_Group        world;
  int              rc;

  if (g == NULL) return 0;
  scr_native_MPI_Comm_group(img_ctl, &world);
  rc = scr_native_MPI_Group_incl(world, g->size, g->ranks, made);
  scr_native_MPI_Group_free(&world);
  return rc == MPI_SUCCESS;
}

static void free_native(MPI_Group* group)
{
  if (*group != MPI_GROUP_EMPTY) scr_native_MPI_Group_free(group);
}

/* 1 if NAME, which waits natively for other ranks, must not. */
static int collectives_go_on(const char* name)
{
  if (img_under_way == 0) return 0;
  img_say("%s waits, and a nonblocking collective that has begun would stand still: complete it first", name);
  return 1;
}

IMG_API int MPI_Win_post(MPI_Group group, int assert, MPI_Win window)
{
  MPI_Group native;
  int       rc;

  if (!img_on) return scr_native_MPI_Win_post(group, assert, window);
  if (!make_native(group, &native)) return MPI_ERR_GROUP;
  rc = scr_native_MPI_Win_post(native, assert, window);
  free_native(&native);
  return rc;
}

IMG_API int MPI_Win_start(MPI_Group group, int assert, MPI_Win window)
{
  MPI_Group native;
  int       rc;

  if (!img_on) return scr_native_MPI_Win_start(group, assert, window);
  if (collectives_go_on("MPI_Win_start")) return img_error(NULL, MPI_ERR_OTHER);
  if (!make_native(group, &native)) return MPI_ERR_GROUP;
  rc = scr_native_MPI_Win_start(native, assert, window);
  free_native(&native);
  return rc;
}

IMG_API int MPI_Win_complete(MPI_Win window)
{
  if (img_on && collectives_go_on("MPI_Win_complete")) return img_error(NULL, MPI_ERR_OTHER);
  return scr_native_MPI_Win_complete(window);
}

IMG_API int MPI_Win_wait(MPI_Win window)
{
  int flag = 0, spins = 0, rc;

  if (!img_on) return scr_native_MPI_Win_wait(window);
  while ((rc = scr_native_MPI_Win_test(window, &flag)) == MPI_SUCCESS && !flag) img_spin(&spins);
  return rc;
}

IMG_API int MPI_Win_set_errhandler(MPI_Win window, MPI_Errhandler handler)
{
  if (img_on && img_errhandler_is_made(handler))
    return img_refuse_call("MPI_Win_set_errhandler with an error handler of the program");
  return scr_native_MPI_Win_set_errhandler(window, handler);
}

/* ---- access ---- */

/* Calls with the native datatypes. */
#define ACCESS(name, parameters, arguments)                                                                            \
  IMG_NATIVE(name);                                                                                                    \
  IMG_API int name parameters                                                                                          \
  {                                                                                                                    \
    return scr_native_##name arguments;                                                                                \
  }

/* Calls that begin an access, with a REQUEST. */
#define ACCESS_LATER(name, parameters, arguments)                                                                      \
  IMG_NATIVE(name);                                                                                                    \
  IMG_API int name parameters                                                                                          \
  {                                                                                                                    \
    int rc = scr_native_##name arguments;                                                                              \
                                                                                                                       \
    if (img_on && rc == MPI_SUCCESS) img_request_of_native(request, NULL);                                             \
    return rc;                                                                                                         \
  }

ACCESS(MPI_Put,
       (const void* from, int count, MPI_Datatype type, int rank, MPI_Aint at, int there, MPI_Datatype as,
        MPI_Win window),
       (from, count, img_type(type), rank, at, there, img_type(as), window))
ACCESS(MPI_Get,
       (void* to, int count, MPI_Datatype type, int rank, MPI_Aint at, int there, MPI_Datatype as, MPI_Win window),
       (to, count, img_type(type), rank, at, there, img_type(as), window))
ACCESS(MPI_Accumulate,
       (const void* from, int count, MPI_Datatype type, int rank, MPI_Aint at, int there, MPI_Datatype as, MPI_Op op,
        MPI_Win window),
       (from, count, img_type(type), rank, at, there, img_type(as), op, window))
ACCESS(MPI_Get_accumulate,
       (const void* from, int count, MPI_Datatype type, void* to, int before, MPI_Datatype was, int rank, MPI_Aint at,
        int there, MPI_Datatype as, MPI_Op op, MPI_Win window),
       (from, count, img_type(type), to, before, img_type(was), rank, at, there, img_type(as), op, window))
ACCESS(MPI_Fetch_and_op,
       (const void* from, void* to, MPI_Datatype type, int rank, MPI_Aint at, MPI_Op op, MPI_Win window),
       (from, to, img_type(type), rank, at, op, window))
ACCESS(MPI_Compare_and_swap,
       (const void* from, const void* old, void* to, MPI_Datatype type, int rank, MPI_Aint at, MPI_Win window),
       (from, old, to, img_type(type), rank, at, window))
ACCESS_LATER(MPI_Rput,
             (const void* from, int count, MPI_Datatype type, int rank, MPI_Aint at, int there, MPI_Datatype as,
              MPI_Win window, MPI_Request* request),
             (from, count, img_type(type), rank, at, there, img_type(as), window, request))
ACCESS_LATER(MPI_Rget,
             (void* to, int count, MPI_Datatype type, int rank, MPI_Aint at, int there, MPI_Datatype as, MPI_Win window,
              MPI_Request* request),
             (to, count, img_type(type), rank, at, there, img_type(as), window, request))
ACCESS_LATER(MPI_Raccumulate,
             (const void* from, int count, MPI_Datatype type, int rank, MPI_Aint at, int there, MPI_Datatype as,
              MPI_Op op, MPI_Win window, MPI_Request* request),
             (from, count, img_type(type), rank, at, there, img_type(as), op, window, request))
ACCESS_LATER(MPI_Rget_accumulate,
             (const void* from, int count, MPI_Datatype type, void* to, int before, MPI_Datatype was, int rank,
              MPI_Aint at, int there, MPI_Datatype as, MPI_Op op, MPI_Win window, MPI_Request* request),
             (from, count, img_type(type), to, before, img_type(was), rank, at, there, img_type(as), op, window,
              request))
