/* ==== IO ================================================================================================
** Files of MPI: they are native (held.c); calls translate datatypes.
**
** Uses       held.c, info.c, types.c, p2p.c (requests)
** Offers     the calls that open and close files, and those that read and write; img_io_resumed.
** Invariants
**   J1  A call that waits for all ranks of a file has them meet first (Q2).
** Failure    The error handler of the file, which is native.
** ====================================================================================================== */
#include "held.h"
#include "objects.h"

IMG_NATIVE(MPI_File_open);
IMG_NATIVE(MPI_File_close);
IMG_NATIVE(MPI_File_delete);
IMG_NATIVE(MPI_File_get_group);
IMG_NATIVE(MPI_File_set_info);
IMG_NATIVE(MPI_File_get_info);
IMG_NATIVE(MPI_File_set_view);
IMG_NATIVE(MPI_File_get_view);
IMG_NATIVE(MPI_File_set_errhandler);

/* Of files that are still to be opened, as the program has set it; 0: as it is at the start. */
static MPI_Errhandler by_default;

static void meet(MPI_File file)
{
  if (img_on) img_held_meet(IMG_FILE, (intptr_t)file);
}

/* ---- files ---- */

IMG_API int MPI_File_open(MPI_Comm comm, const char* name, int mode, MPI_Info info, MPI_File* file)
{
  MPI_Comm  native;
  MPI_Info  hints;
  img_held* h;
  int       rc;

  if (!img_on) return scr_native_MPI_File_open(comm, name, mode, info, file);
  h = img_held_begin(comm, IMG_FILE, name, &native, &rc);
  if (h == NULL) return rc;
  hints = img_info_native(info);
  rc = scr_native_MPI_File_open(native, name, mode, hints, file);
  img_info_done(hints, info);
  h->unit = h->view = MPI_BYTE;
  return img_held_made(h, &native, (intptr_t)*file, rc);
}

IMG_API int MPI_File_close(MPI_File* file)
{
  img_held* h;
  int       rc;

  if (!img_on) return scr_native_MPI_File_close(file);
  h = img_held_of(IMG_FILE, (intptr_t)*file);
  meet(*file);
  rc = scr_native_MPI_File_close(file);
  if (h == NULL || *file != MPI_FILE_NULL) return rc;
  img_type_use(h->unit, -1);
  img_type_use(h->view, -1);
  img_held_end(h);
  return rc;
}

IMG_API int MPI_File_delete(const char* name, MPI_Info info)
{
  MPI_Info native = img_info_native(info);
  int      rc = scr_native_MPI_File_delete(name, native);

  img_info_done(native, info);
  return rc;
}

IMG_API int MPI_File_get_group(MPI_File file, MPI_Group* group)
{
  return img_on ? img_held_group(IMG_FILE, (intptr_t)file, group) : scr_native_MPI_File_get_group(file, group);
}

IMG_API int MPI_File_set_info(MPI_File file, MPI_Info info)
{
  MPI_Info native = img_info_native(info);
  int      rc;

  meet(file);
  rc = scr_native_MPI_File_set_info(file, native);
  img_info_done(native, info);
  return rc;
}

IMG_API int MPI_File_get_info(MPI_File file, MPI_Info* info)
{
  MPI_Info native = MPI_INFO_NULL;
  int      rc = scr_native_MPI_File_get_info(file, &native);

  return img_info_give(rc, native, info);
}

IMG_API int MPI_File_set_view(MPI_File file, MPI_Offset at, MPI_Datatype unit, MPI_Datatype view, const char* as,
                              MPI_Info info)
{
  img_held* h = img_on ? img_held_of(IMG_FILE, (intptr_t)file) : NULL;
  MPI_Info  native = img_info_native(info);
  int       rc;

  meet(file);
  rc = scr_native_MPI_File_set_view(file, at, img_type(unit), img_type(view), as, native);
  img_info_done(native, info);
  if (h == NULL || rc != MPI_SUCCESS) return rc;
  img_type_use(unit, 1);
  img_type_use(view, 1);
  img_type_use(h->unit, -1);
  img_type_use(h->view, -1);
  h->unit = unit, h->view = view;
  return rc;
}

/* The datatypes are the program's own, which it has to free once more. */
IMG_API int MPI_File_get_view(MPI_File file, MPI_Offset* at, MPI_Datatype* unit, MPI_Datatype* view, char* as)
{
  const img_held* h = img_on ? img_held_of(IMG_FILE, (intptr_t)file) : NULL;
  MPI_Datatype    natives[2];
  int             rc;

  if (h == NULL) return scr_native_MPI_File_get_view(file, at, unit, view, as);
  rc = scr_native_MPI_File_get_view(file, at, &natives[0], &natives[1], as);
  if (rc != MPI_SUCCESS) return rc;
  img_type_free_native(&natives[0]);
  img_type_free_native(&natives[1]);
  *unit = h->unit, *view = h->view;
  img_type_use(*unit, 1);
  img_type_use(*view, 1);
  return rc;
}

IMG_API int MPI_File_set_errhandler(MPI_File file, MPI_Errhandler handler)
{
  int rc;

  if (img_on && img_errhandler_is_made(handler))
    return img_refuse_call("MPI_File_set_errhandler with an error handler of the program");
  rc = scr_native_MPI_File_set_errhandler(file, handler);
  if (file == MPI_FILE_NULL && rc == MPI_SUCCESS) by_default = handler;
  return rc;
}

void img_io_resumed(void)
{
  if (by_default != 0) scr_native_MPI_File_set_errhandler(MPI_FILE_NULL, by_default);
}

/* ---- reading and writing ---- */

/* Calls of all ranks of a FILE. */
#define CALL_OF_ALL(name, parameters, arguments)                                                                       \
  IMG_NATIVE(name);                                                                                                    \
  IMG_API int name parameters                                                                                          \
  {                                                                                                                    \
    meet(file);                                                                                                        \
    return scr_native_##name arguments;                                                                                \
  }

/* The calls of one direction: DO is read or write, BUFFER the type of what is read into or written from. */
#define DIRECTION(do, buffer)                                                                                          \
  IMG_HELD_CALL(MPI_File_##do, (MPI_File file, buffer at, int count, MPI_Datatype type, MPI_Status* status),           \
                (file, at, count, img_type(type), status))                                                             \
  IMG_HELD_CALL(MPI_File_##do##_at,                                                                                    \
                (MPI_File file, MPI_Offset from, buffer at, int count, MPI_Datatype type, MPI_Status* status),         \
                (file, from, at, count, img_type(type), status))                                                       \
  IMG_HELD_CALL(MPI_File_##do##_shared, (MPI_File file, buffer at, int count, MPI_Datatype type, MPI_Status* status),  \
                (file, at, count, img_type(type), status))                                                             \
  CALL_OF_ALL(MPI_File_##do##_all, (MPI_File file, buffer at, int count, MPI_Datatype type, MPI_Status* status),       \
              (file, at, count, img_type(type), status))                                                               \
  CALL_OF_ALL(MPI_File_##do##_at_all,                                                                                  \
              (MPI_File file, MPI_Offset from, buffer at, int count, MPI_Datatype type, MPI_Status* status),           \
              (file, from, at, count, img_type(type), status))                                                         \
  CALL_OF_ALL(MPI_File_##do##_ordered, (MPI_File file, buffer at, int count, MPI_Datatype type, MPI_Status* status),   \
              (file, at, count, img_type(type), status))                                                               \
  CALL_OF_ALL(MPI_File_##do##_all_begin, (MPI_File file, buffer at, int count, MPI_Datatype type),                     \
              (file, at, count, img_type(type)))                                                                       \
  CALL_OF_ALL(MPI_File_##do##_at_all_begin, (MPI_File file, MPI_Offset from, buffer at, int count, MPI_Datatype type), \
              (file, from, at, count, img_type(type)))                                                                 \
  CALL_OF_ALL(MPI_File_##do##_ordered_begin, (MPI_File file, buffer at, int count, MPI_Datatype type),                 \
              (file, at, count, img_type(type)))                                                                       \
  IMG_HELD_LATER(MPI_File_i##do, NULL, (MPI_File file, buffer at, int count, MPI_Datatype type, MPI_Request* request), \
                 (file, at, count, img_type(type), request))                                                           \
  IMG_HELD_LATER(MPI_File_i##do##_at, NULL,                                                                            \
                 (MPI_File file, MPI_Offset from, buffer at, int count, MPI_Datatype type, MPI_Request* request),      \
                 (file, from, at, count, img_type(type), request))                                                     \
  IMG_HELD_LATER(MPI_File_i##do##_shared, NULL,                                                                        \
                 (MPI_File file, buffer at, int count, MPI_Datatype type, MPI_Request* request),                       \
                 (file, at, count, img_type(type), request))                                                           \
  IMG_HELD_LATER(MPI_File_i##do##_all, file,                                                                           \
                 (MPI_File file, buffer at, int count, MPI_Datatype type, MPI_Request* request),                       \
                 (file, at, count, img_type(type), request))                                                           \
  IMG_HELD_LATER(MPI_File_i##do##_at_all, file,                                                                        \
                 (MPI_File file, MPI_Offset from, buffer at, int count, MPI_Datatype type, MPI_Request* request),      \
                 (file, from, at, count, img_type(type), request))

DIRECTION(read, void*)
DIRECTION(write, const void*)

CALL_OF_ALL(MPI_File_set_size, (MPI_File file, MPI_Offset size), (file, size))
CALL_OF_ALL(MPI_File_preallocate, (MPI_File file, MPI_Offset size), (file, size))
CALL_OF_ALL(MPI_File_seek_shared, (MPI_File file, MPI_Offset at, int whence), (file, at, whence))
CALL_OF_ALL(MPI_File_set_atomicity, (MPI_File file, int flag), (file, flag))
CALL_OF_ALL(MPI_File_sync, (MPI_File file), (file))
IMG_HELD_CALL(MPI_File_get_type_extent, (MPI_File file, MPI_Datatype type, MPI_Aint* extent),
              (file, img_type(type), extent))
