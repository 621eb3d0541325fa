/* ==== WINDOWS ===========================================================================================
** One-sided communication: windows are native (held.c); calls translate datatypes.
**
** Uses       held.c, info.c, types.c, group.c, p2p.c (requests)
** Offers     the calls that make, free and synchronize windows, and those that access them.
** Invariants
**   W1  A call that waits for all ranks of a window has them meet first (Q2).
**   W2  MPI_Win_post tells the ranks of its group, and MPI_Win_start hears of its ranks, by messages of the layer: then
**       the native call does not wait long, nor MPI_Win_complete.
** Failure    The error handler of the window, which is native.
** ====================================================================================================== */
#include "held.h"
#include "objects.h"
#include "plan.h"

IMG_NATIVE(MPI_Group_free);

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
    img_info_done(info, given);                                                                                        \
    return img_error(img_comm_of(wanted), img_held_made(h, &comm, *window, rc));                                       \
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
  img_info_done(native, info);
  return rc;
}

IMG_API int MPI_Win_get_info(MPI_Win window, MPI_Info* info)
{
  MPI_Info native = MPI_INFO_NULL;
  int      rc = scr_native_MPI_Win_get_info(window, &native);

  return img_info_give(rc, native, info);
}

/* ---- synchronization (W1, W2) ---- */

IMG_NATIVE(MPI_Win_fence);
IMG_NATIVE(MPI_Win_post);
IMG_NATIVE(MPI_Win_start);
IMG_NATIVE(MPI_Win_wait);

IMG_API int MPI_Win_fence(int assert, MPI_Win window)
{
  if (img_on) img_held_meet(IMG_WINDOW, window);
  return scr_native_MPI_Win_fence(assert, window);
}

/* Tell the ranks of G that this one has posted, or hear that they have (W2). */
static int tell(const img_group* g, int hear)
{
  img_plan* p = img_plan_over(g->ranks, g->size, img_group_rank(g), -2);
  int       i;

  for (i = 0; i < g->size; i++)
    if (hear) img_plan_recv(p, NULL, 0, MPI_BYTE, i);
    else img_plan_send(p, NULL, 0, MPI_BYTE, i);
  return img_plan_run(p);
}

/* A call with a group of ranks: native, with a native group. */
static int with_group(int (*call)(MPI_Group, int, MPI_Win), const img_group* g, int assert, MPI_Win window)
{
  MPI_Group native;
  int       rc = img_group_native(g->size, g->ranks, &native);

  if (rc == MPI_SUCCESS) rc = call(native, assert, window);
  if (native != MPI_GROUP_EMPTY) scr_native_MPI_Group_free(&native);
  return rc;
}

IMG_API int MPI_Win_post(MPI_Group group, int assert, MPI_Win window)
{
  const img_group* g;
  int              rc;

  if (!img_on) return scr_native_MPI_Win_post(group, assert, window);
  img_enter();
  if ((g = img_group_of(group)) == NULL) return MPI_ERR_GROUP;
  rc = with_group(scr_native_MPI_Win_post, g, assert, window);
  return rc == MPI_SUCCESS ? tell(g, 0) : rc;
}

IMG_API int MPI_Win_start(MPI_Group group, int assert, MPI_Win window)
{
  const img_group* g;
  int              rc;

  if (!img_on) return scr_native_MPI_Win_start(group, assert, window);
  img_enter();
  if ((g = img_group_of(group)) == NULL) return MPI_ERR_GROUP;
  rc = tell(g, 1);
  return rc == MPI_SUCCESS ? with_group(scr_native_MPI_Win_start, g, assert, window) : rc;
}

IMG_HELD_CALL(MPI_Win_complete, (MPI_Win window), (window))
IMG_HELD_CALL(MPI_Win_test, (MPI_Win window, int* flag), (window, flag))
IMG_HELD_CALL(MPI_Win_lock, (int type, int rank, int assert, MPI_Win window), (type, rank, assert, window))
IMG_HELD_CALL(MPI_Win_lock_all, (int assert, MPI_Win window), (assert, window))
IMG_HELD_CALL(MPI_Win_unlock, (int rank, MPI_Win window), (rank, window))
IMG_HELD_CALL(MPI_Win_unlock_all, (MPI_Win window), (window))
IMG_HELD_CALL(MPI_Win_flush, (int rank, MPI_Win window), (rank, window))
IMG_HELD_CALL(MPI_Win_flush_all, (MPI_Win window), (window))
IMG_HELD_CALL(MPI_Win_flush_local, (int rank, MPI_Win window), (rank, window))
IMG_HELD_CALL(MPI_Win_flush_local_all, (MPI_Win window), (window))
IMG_HELD_CALL(MPI_Win_sync, (MPI_Win window), (window))

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

IMG_HELD_CALL(MPI_Put,
              (const void* from, int count, MPI_Datatype type, int rank, MPI_Aint at, int there, MPI_Datatype as,
               MPI_Win window),
              (from, count, img_type(type), rank, at, there, img_type(as), window))
IMG_HELD_CALL(MPI_Get,
              (void* to, int count, MPI_Datatype type, int rank, MPI_Aint at, int there, MPI_Datatype as,
               MPI_Win window),
              (to, count, img_type(type), rank, at, there, img_type(as), window))
IMG_HELD_CALL(MPI_Accumulate,
              (const void* from, int count, MPI_Datatype type, int rank, MPI_Aint at, int there, MPI_Datatype as,
               MPI_Op op, MPI_Win window),
              (from, count, img_type(type), rank, at, there, img_type(as), op, window))
IMG_HELD_CALL(MPI_Get_accumulate,
              (const void* from, int count, MPI_Datatype type, void* to, int before, MPI_Datatype was, int rank,
               MPI_Aint at, int there, MPI_Datatype as, MPI_Op op, MPI_Win window),
              (from, count, img_type(type), to, before, img_type(was), rank, at, there, img_type(as), op, window))
IMG_HELD_CALL(MPI_Fetch_and_op,
              (const void* from, void* to, MPI_Datatype type, int rank, MPI_Aint at, MPI_Op op, MPI_Win window),
              (from, to, img_type(type), rank, at, op, window))
IMG_HELD_CALL(MPI_Compare_and_swap,
              (const void* from, const void* old, void* to, MPI_Datatype type, int rank, MPI_Aint at, MPI_Win window),
              (from, old, to, img_type(type), rank, at, window))
IMG_HELD_LATER(MPI_Rput, NULL,
               (const void* from, int count, MPI_Datatype type, int rank, MPI_Aint at, int there, MPI_Datatype as,
                MPI_Win window, MPI_Request* request),
               (from, count, img_type(type), rank, at, there, img_type(as), window, request))
IMG_HELD_LATER(MPI_Rget, NULL,
               (void* to, int count, MPI_Datatype type, int rank, MPI_Aint at, int there, MPI_Datatype as,
                MPI_Win window, MPI_Request* request),
               (to, count, img_type(type), rank, at, there, img_type(as), window, request))
IMG_HELD_LATER(MPI_Raccumulate, NULL,
               (const void* from, int count, MPI_Datatype type, int rank, MPI_Aint at, int there, MPI_Datatype as,
                MPI_Op op, MPI_Win window, MPI_Request* request),
               (from, count, img_type(type), rank, at, there, img_type(as), op, window, request))
IMG_HELD_LATER(MPI_Rget_accumulate, NULL,
               (const void* from, int count, MPI_Datatype type, void* to, int before, MPI_Datatype was, int rank,
                MPI_Aint at, int there, MPI_Datatype as, MPI_Op op, MPI_Win window, MPI_Request* request),
               (from, count, img_type(type), to, before, img_type(was), rank, at, there, img_type(as), op, window,
                request))
