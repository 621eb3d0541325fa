/* ==== ATTRIBUTES ========================================================================================
** Attributes of communicators, their keys, and error handlers: functions and pointers of the program, all saved.
**
** Uses       comm.c
** Offers     img_attributes_*, img_errhandler_*; the calls of attributes, keys and error handlers.
** Invariants
**   B1  A key, or an error handler, lives until it is freed and nothing has it any more.
** Failure    The error handler of the communicator.
** ====================================================================================================== */
#include "objects.h"

#include <stdlib.h>
#include <string.h>

IMG_NATIVE(MPI_Comm_create_keyval);
IMG_NATIVE(MPI_Comm_free_keyval);
IMG_NATIVE(MPI_Comm_set_attr);
IMG_NATIVE(MPI_Comm_get_attr);
IMG_NATIVE(MPI_Comm_delete_attr);
IMG_NATIVE(MPI_Keyval_create);
IMG_NATIVE(MPI_Keyval_free);
IMG_NATIVE(MPI_Attr_put);
IMG_NATIVE(MPI_Attr_get);
IMG_NATIVE(MPI_Attr_delete);
IMG_NATIVE(MPI_Comm_create_errhandler);
IMG_NATIVE(MPI_Comm_set_errhandler);
IMG_NATIVE(MPI_Comm_get_errhandler);
IMG_NATIVE(MPI_Comm_call_errhandler);
IMG_NATIVE(MPI_Errhandler_free);

#define KEY     0x79000000
#define HANDLER 0x77000000
#define MOST    1024 /* keys, or error handlers, at a time */

typedef struct {
  MPI_Comm_copy_attr_function* copy;
  MPI_Comm_delete_attr_function* delete;
  void* extra;
  int   freed, users, made;
} key;

typedef struct {
  MPI_Comm_errhandler_function* call;
  int                           users; /* the program's handle counts, too */
} handler;

typedef struct img_attribute {
  struct img_attribute* next;
  int                   key;
  void*                 value;
} img_attribute;

static key     keys[MOST];
static handler handlers[MOST];

/* ---- keys ---- */

static key* key_of(int handle)
{
  int i = handle & 0xffffff;

  if ((handle & 0xff000000) == KEY && i < MOST && keys[i].made) return &keys[i];
  return NULL;
}

/* One attribute more, or less, has the key. */
static void use_key(key* k, int more)
{
  k->users += more;
  if (k->freed && k->users == 0) memset(k, 0, sizeof *k);
}

static int make_key(MPI_Comm_copy_attr_function* copy, MPI_Comm_delete_attr_function* delete, int* handle, void* extra)
{
  int i = 0;

  while (i < MOST && keys[i].made) i++;
  if (i == MOST) return img_error(NULL, MPI_ERR_OTHER);
  keys[i].copy = copy, keys[i].delete = delete, keys[i].extra = extra, keys[i].made = 1;
  *handle = KEY | i;
  return MPI_SUCCESS;
}

static int free_key(int* handle)
{
  key* k = key_of(*handle);

  if (k == NULL) return img_error(NULL, MPI_ERR_KEYVAL); /* once more, by another copy of the handle, is no error */
  k->freed = 1;
  use_key(k, 0);
  *handle = MPI_KEYVAL_INVALID;
  return MPI_SUCCESS;
}

/* ---- attributes ---- */

/* Those that MPI has: a copy of the value, as its own is native. */
static int predefined(int handle, void* value, int* flag)
{
  static int values[16];
  int*       native = NULL;
  int        rc = scr_native_MPI_Comm_get_attr(MPI_COMM_WORLD, handle, &native, flag);
  void*      at = &values[handle & 15];

  if (rc != MPI_SUCCESS || !*flag) return rc;
  values[handle & 15] = *native;
  memcpy(value, &at, sizeof at);
  return rc;
}

/* Where the attribute of C with the key is linked, or the end of its list. */
static img_attribute** find(img_comm* c, int handle)
{
  img_attribute** at = &c->attributes;

  while (*at != NULL && (*at)->key != handle) at = &(*at)->next;
  return at;
}

static int delete_at(img_comm* c, img_attribute** at)
{
  img_attribute* a = *at;
  key*           k = key_of(a->key);
  int            rc = MPI_SUCCESS;

  if (k->delete != NULL) rc = k->delete (img_comm_handle(c), a->key, a->value, k->extra);
  if (rc != MPI_SUCCESS) return rc;
  *at = a->next;
  free(a);
  use_key(k, -1);
  return rc;
}

static int put(img_comm* c, int handle, void* value)
{
  img_attribute *a, **at = find(c, handle);
  int            rc;

  if (*at != NULL && (rc = delete_at(c, at)) != MPI_SUCCESS) return rc;
  a = img_alloc(sizeof *a);
  if (a == NULL) abort();
  a->key = handle, a->value = value, a->next = c->attributes;
  c->attributes = a;
  use_key(key_of(handle), 1);
  return MPI_SUCCESS;
}

/* In the order in which they were put. */
static int copy_from(img_comm* c, img_comm* copy, const img_attribute* a)
{
  void* value = NULL;
  int   flag = 0, rc;
  key*  k;

  if (a == NULL) return MPI_SUCCESS;
  if ((rc = copy_from(c, copy, a->next)) != MPI_SUCCESS) return rc;
  k = key_of(a->key);
  if (k->copy == NULL) return MPI_SUCCESS;
  rc = k->copy(img_comm_handle(c), a->key, k->extra, a->value, &value, &flag);
  return rc == MPI_SUCCESS && flag ? put(copy, a->key, value) : rc;
}

int img_attributes_copy(img_comm* c, img_comm* copy)
{
  return copy_from(c, copy, c->attributes);
}

int img_attributes_free(img_comm* c)
{
  int rc = MPI_SUCCESS;

  while (c->attributes != NULL && rc == MPI_SUCCESS) rc = delete_at(c, &c->attributes);
  return rc;
}

static int set_attribute(MPI_Comm comm, int handle, void* value)
{
  img_comm* c = img_comm_of(comm);

  if (c == NULL) return MPI_ERR_COMM;
  if (key_of(handle) == NULL || key_of(handle)->freed) return img_error(c, MPI_ERR_KEYVAL);
  return img_error(c, put(c, handle, value));
}

static int get_attribute(MPI_Comm comm, int handle, void* value, int* flag)
{
  img_comm*      c = img_comm_of(comm);
  img_attribute* a;

  if (c == NULL) return MPI_ERR_COMM;
  if ((handle & 0xff000000) != KEY) return img_error(c, predefined(handle, value, flag));
  if (key_of(handle) == NULL) return img_error(c, MPI_ERR_KEYVAL);
  a = *find(c, handle);
  *flag = a != NULL;
  if (a != NULL) memcpy(value, &a->value, sizeof a->value);
  return MPI_SUCCESS;
}

static int delete_attribute(MPI_Comm comm, int handle)
{
  img_comm*       c = img_comm_of(comm);
  img_attribute** at;

  if (c == NULL) return MPI_ERR_COMM;
  if (key_of(handle) == NULL) return img_error(c, MPI_ERR_KEYVAL);
  at = find(c, handle);
  return *at != NULL ? img_error(c, delete_at(c, at)) : img_error(c, MPI_ERR_KEYVAL);
}

/* ---- the calls of attributes, new names and old ---- */

IMG_API int MPI_Comm_create_keyval(MPI_Comm_copy_attr_function* copy, MPI_Comm_delete_attr_function* delete,
                                   int* handle, void* extra)
{
  return img_on ? make_key(copy, delete, handle, extra)
                : scr_native_MPI_Comm_create_keyval(copy, delete, handle, extra);
}

IMG_API int MPI_Keyval_create(MPI_Copy_function* copy, MPI_Delete_function* delete, int* handle, void* extra)
{
  return img_on ? make_key(copy, delete, handle, extra) : scr_native_MPI_Keyval_create(copy, delete, handle, extra);
}

IMG_API int MPI_Comm_free_keyval(int* handle)
{
  return img_on ? free_key(handle) : scr_native_MPI_Comm_free_keyval(handle);
}

IMG_API int MPI_Keyval_free(int* handle)
{
  return img_on ? free_key(handle) : scr_native_MPI_Keyval_free(handle);
}

IMG_API int MPI_Comm_set_attr(MPI_Comm comm, int handle, void* value)
{
  return img_on ? set_attribute(comm, handle, value) : scr_native_MPI_Comm_set_attr(comm, handle, value);
}

IMG_API int MPI_Attr_put(MPI_Comm comm, int handle, void* value)
{
  return img_on ? set_attribute(comm, handle, value) : scr_native_MPI_Attr_put(comm, handle, value);
}

IMG_API int MPI_Comm_get_attr(MPI_Comm comm, int handle, void* value, int* flag)
{
  return img_on ? get_attribute(comm, handle, value, flag) : scr_native_MPI_Comm_get_attr(comm, handle, value, flag);
}

/*
** The way in of Fortran, in which the value of an attribute is the number, not where it is: of the type MPI_Aint (1) or
** int (3).
*/
int MPII_Comm_get_attr(MPI_Comm comm, int handle, void* value, int* flag, int type);
IMG_NATIVE(MPII_Comm_get_attr);

IMG_API int MPII_Comm_get_attr(MPI_Comm comm, int handle, void* value, int* flag, int type)
{
  const int* number;
  MPI_Aint   wide;
  int        rc;

  if (!img_is_saved_text(IMG_CALLER()) || type == 0) /* MPI_Comm_get_attr of MPI itself jumps here */
    return scr_native_MPII_Comm_get_attr(comm, handle, value, flag, type);
  if ((handle & 0xff000000) == KEY) return img_refuse_call("MPI_Comm_get_attr, in Fortran, of a key of the program,");
  rc = get_attribute(comm, handle, &number, flag);
  if (rc != MPI_SUCCESS || !*flag) return rc;
  wide = *number;
  if (type == 1) memcpy(value, &wide, sizeof wide);
  else memcpy(value, number, sizeof *number);
  return MPI_SUCCESS;
}

IMG_API int MPI_Attr_get(MPI_Comm comm, int handle, void* value, int* flag)
{
  return img_on ? get_attribute(comm, handle, value, flag) : scr_native_MPI_Attr_get(comm, handle, value, flag);
}

IMG_API int MPI_Comm_delete_attr(MPI_Comm comm, int handle)
{
  return img_on ? delete_attribute(comm, handle) : scr_native_MPI_Comm_delete_attr(comm, handle);
}

IMG_API int MPI_Attr_delete(MPI_Comm comm, int handle)
{
  return img_on ? delete_attribute(comm, handle) : scr_native_MPI_Attr_delete(comm, handle);
}

/* ---- error handlers ---- */

/* The program's handler, or NULL if it is predefined, or none. */
static handler* handler_of(MPI_Errhandler handle)
{
  int i = handle & 0xffffff;

  return (handle & 0xff000000) == HANDLER && i < MOST && handlers[i].users > 0 ? &handlers[i] : NULL;
}

int img_errhandler_is_made(MPI_Errhandler handle)
{
  return handler_of(handle) != NULL;
}

static int is_handler(MPI_Errhandler handle)
{
  return handle == MPI_ERRORS_ARE_FATAL || handle == MPI_ERRORS_RETURN || handle == MPI_ERRORS_ABORT ||
         img_errhandler_is_made(handle);
}

void img_errhandler_set(img_comm* c, MPI_Errhandler handle)
{
  handler *next = handler_of(handle), *last = handler_of(c->handler);

  if (next != NULL) next->users++;
  if (last != NULL) last->users--;
  img_comm_handler(c, handle);
}

int img_errhandler_call(img_comm* c, int code)
{
  handler* h = handler_of(c->handler);
  MPI_Comm comm = img_comm_handle(c);

  if (h != NULL) h->call(&comm, &code);
  return code;
}

IMG_API int MPI_Comm_create_errhandler(MPI_Comm_errhandler_function* call, MPI_Errhandler* handle)
{
  int i = 0;

  if (!img_on) return scr_native_MPI_Comm_create_errhandler(call, handle);
  while (i < MOST && handlers[i].users > 0) i++;
  if (i == MOST) return img_error(NULL, MPI_ERR_OTHER);
  handlers[i].call = call, handlers[i].users = 1;
  *handle = (MPI_Errhandler)(HANDLER | i);
  return MPI_SUCCESS;
}

IMG_API int MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handle)
{
  img_comm* c;

  if (!img_on) return scr_native_MPI_Comm_set_errhandler(comm, handle);
  if ((c = img_comm_of(comm)) == NULL) return MPI_ERR_COMM;
  if (!is_handler(handle)) return img_error(c, MPI_ERR_ARG);
  img_errhandler_set(c, handle);
  return MPI_SUCCESS;
}

IMG_API int MPI_Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler* handle)
{
  img_comm* c;

  if (!img_on) return scr_native_MPI_Comm_get_errhandler(comm, handle);
  if ((c = img_comm_of(comm)) == NULL) return MPI_ERR_COMM;
  *handle = c->handler;
  if (handler_of(*handle) != NULL) handler_of(*handle)->users++;
  return MPI_SUCCESS;
}

IMG_API int MPI_Comm_call_errhandler(MPI_Comm comm, int code)
{
  img_comm* c;

  if (!img_on) return scr_native_MPI_Comm_call_errhandler(comm, code);
  if ((c = img_comm_of(comm)) == NULL) return MPI_ERR_COMM;
  img_error(c, code);
  return MPI_SUCCESS;
}

IMG_API int MPI_Errhandler_free(MPI_Errhandler* handle)
{
  if (!img_on) return scr_native_MPI_Errhandler_free(handle);
  if (!is_handler(*handle)) return img_error(NULL, MPI_ERR_ARG);
  if (handler_of(*handle) != NULL) handler_of(*handle)->users--;
  *handle = MPI_ERRHANDLER_NULL;
  return MPI_SUCCESS;
}
