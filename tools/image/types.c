/* ==== TYPES =============================================================================================
** Derived datatypes and operations of the program.
**
** Uses       heap.c (img_alloc, img_widen), comm.c (img_error)
** Offers     img_type*, img_op*; the calls that make datatypes and operations, and those that ask about them.
** Invariants
**   D1  A datatype has a recipe, in the form of MPI_Type_get_contents, and the native type of this process, which a
**       restart makes again from the recipe; first those that it is made of.
**   D2  It lives until it is freed and no request, no plan and no other datatype has it any more.
** Failure    The error handler of the world.
** ====================================================================================================== */
#include "types.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OP 0x76000000

typedef struct {
  MPI_Datatype  native; /* MPI_DATATYPE_NULL: still to be made (D1) */
  int           users;  /* the program's handle counts, too (D2) */
  int           committed;
  int           combiner, n[3]; /* how many integers, addresses and datatypes */
  int*          ints;
  MPI_Aint*     places;
  MPI_Datatype* types;
  char          name[MPI_MAX_OBJECT_NAME];
} datatype;

typedef struct {
  MPI_User_function* f;
  int                commutes, users;
} operation;

/* A predefined datatype to which the program has given another name. */
typedef struct renamed {
  struct renamed* next;
  MPI_Datatype    type;
  char            name[MPI_MAX_OBJECT_NAME];
} renamed;

static datatype** types;
static renamed*   names;
static operation* ops;
static int        type_room, op_room;

IMG_NATIVE(MPI_Type_dup);
IMG_NATIVE(MPI_Type_contiguous);
IMG_NATIVE(MPI_Type_vector);
IMG_NATIVE(MPI_Type_create_hvector);
IMG_NATIVE(MPI_Type_indexed);
IMG_NATIVE(MPI_Type_create_hindexed);
IMG_NATIVE(MPI_Type_create_indexed_block);
IMG_NATIVE(MPI_Type_create_hindexed_block);
IMG_NATIVE(MPI_Type_create_struct);
IMG_NATIVE(MPI_Type_create_subarray);
IMG_NATIVE(MPI_Type_create_darray);
IMG_NATIVE(MPI_Type_create_resized);
IMG_NATIVE(MPI_Type_create_f90_integer);
IMG_NATIVE(MPI_Type_create_f90_real);
IMG_NATIVE(MPI_Type_create_f90_complex);
IMG_NATIVE(MPI_Type_commit);
IMG_NATIVE(MPI_Type_free);
IMG_NATIVE(MPI_Type_get_envelope);
IMG_NATIVE(MPI_Type_set_name);

/* ---- the table ---- */

static datatype* entry_of(MPI_Datatype handle)
{
  int i = handle & 0xffffff;

  return img_type_is_derived(handle) && i < type_room ? types[i] : NULL;
}

MPI_Datatype img_type_native(MPI_Datatype handle)
{
  const datatype* t = entry_of(handle);

  return t != NULL ? t->native : handle;
}

void img_type_free_native(MPI_Datatype* native)
{
  int n[3], combiner = MPI_COMBINER_NAMED;

  scr_native_MPI_Type_get_envelope(*native, &n[0], &n[1], &n[2], &combiner);
  if (combiner != MPI_COMBINER_NAMED) scr_native_MPI_Type_free(native);
}

void img_type_count(MPI_Datatype handle, int more)
{
  datatype* t = entry_of(handle);
  int       i;

  if (t == NULL) return;
  t->users += more;
  if (t->users > 0) return;
  types[handle & 0xffffff] = NULL;
  if (t->native != MPI_DATATYPE_NULL) scr_native_MPI_Type_free(&t->native);
  for (i = 0; i < t->n[2]; i++) img_type_use(t->types[i], -1);
  free(t->places);
  free(t);
}

/* ---- recipes (D1) ---- */

/* The datatypes that T is made of, as native ones; they are there already. */
static MPI_Datatype* native_parts(const datatype* t)
{
  MPI_Datatype* parts = img_alloc(((size_t)t->n[2] + 1) * sizeof *parts);
  int           i;

  if (parts == NULL) abort();
  for (i = 0; i < t->n[2]; i++) parts[i] = img_type(t->types[i]);
  return parts;
}

/* Make the native type of T. */
static int make_native(datatype* t)
{
  MPI_Datatype *parts = native_parts(t), *made = &t->native;
  const int*    x = t->ints;
  int           n = t->n[0] > 0 ? x[0] : 0, rc = MPI_ERR_TYPE;

  switch (t->combiner) {
  case MPI_COMBINER_DUP:
    rc = scr_native_MPI_Type_dup(parts[0], made);
    break;
  case MPI_COMBINER_CONTIGUOUS:
    rc = scr_native_MPI_Type_contiguous(n, parts[0], made);
    break;
  case MPI_COMBINER_VECTOR:
    rc = scr_native_MPI_Type_vector(n, x[1], x[2], parts[0], made);
    break;
  case MPI_COMBINER_HVECTOR:
    rc = scr_native_MPI_Type_create_hvector(n, x[1], t->places[0], parts[0], made);
    break;
  case MPI_COMBINER_INDEXED:
    rc = scr_native_MPI_Type_indexed(n, x + 1, x + 1 + n, parts[0], made);
    break;
  case MPI_COMBINER_HINDEXED:
    rc = scr_native_MPI_Type_create_hindexed(n, x + 1, t->places, parts[0], made);
    break;
  case MPI_COMBINER_INDEXED_BLOCK:
    rc = scr_native_MPI_Type_create_indexed_block(n, x[1], x + 2, parts[0], made);
    break;
  case MPI_COMBINER_HINDEXED_BLOCK:
    rc = scr_native_MPI_Type_create_hindexed_block(n, x[1], t->places, parts[0], made);
    break;
  case MPI_COMBINER_STRUCT:
    rc = scr_native_MPI_Type_create_struct(n, x + 1, t->places, parts, made);
    break;
  case MPI_COMBINER_SUBARRAY:
    rc = scr_native_MPI_Type_create_subarray(n, x + 1, x + 1 + n, x + 1 + 2 * n, x[1 + 3 * n], parts[0], made);
    break;
  case MPI_COMBINER_DARRAY:
    rc = scr_native_MPI_Type_create_darray(n, x[1], x[2], x + 3, x + 3 + x[2], x + 3 + 2 * x[2], x + 3 + 3 * x[2],
                                           x[3 + 4 * x[2]], parts[0], made);
    break;
  case MPI_COMBINER_F90_INTEGER:
    rc = scr_native_MPI_Type_create_f90_integer(n, made);
    break;
  case MPI_COMBINER_F90_REAL:
    rc = scr_native_MPI_Type_create_f90_real(n, x[1], made);
    break;
  case MPI_COMBINER_F90_COMPLEX:
    rc = scr_native_MPI_Type_create_f90_complex(n, x[1], made);
    break;
  case MPI_COMBINER_RESIZED:
    rc = scr_native_MPI_Type_create_resized(parts[0], t->places[0], t->places[1], made);
  }
  free(parts);
  return rc;
}

/* A new datatype: its numbers are still to be filled in. */
static datatype* begin(int combiner, int ints, int places, int parts)
{
  datatype* t = img_alloc(sizeof *t);
  size_t    bytes = (size_t)places * sizeof(MPI_Aint) + (size_t)(ints + parts + 1) * sizeof(int);

  if (t == NULL) abort();
  memset(t, 0, sizeof *t);
  t->native = MPI_DATATYPE_NULL, t->users = 1, t->combiner = combiner;
  t->n[0] = ints, t->n[1] = places, t->n[2] = parts;
  t->places = img_alloc(bytes);
  if (t->places == NULL) abort();
  t->types = (MPI_Datatype*)(t->places + places);
  t->ints = (int*)(t->types + parts);
  return t;
}

/* Make it, and give it a handle. */
static int end(datatype* t, MPI_Datatype* handle)
{
  int i, rc = make_native(t);

  *handle = MPI_DATATYPE_NULL;
  if (rc != MPI_SUCCESS) {
    free(t->places);
    free(t);
    return img_error(NULL, rc);
  }
  for (i = 0; i < t->n[2]; i++) img_type_use(t->types[i], 1);
  for (i = 0; i < type_room && types[i] != NULL;) i++;
  if (i == type_room) img_widen(&types, &type_room, sizeof *types);
  types[i] = t;
  *handle = (MPI_Datatype)(IMG_TYPE | i);
  return rc;
}

/* After a restart: T, and before it those that it is made of. */
static void make_again(datatype* t)
{
  int i;

  if (t == NULL || t->native != MPI_DATATYPE_NULL) return;
  for (i = 0; i < t->n[2]; i++) make_again(entry_of(t->types[i]));
  make_native(t);
  if (t->committed) scr_native_MPI_Type_commit(&t->native);
}

void img_types_resumed(void)
{
  const renamed* n;
  int            i;

  for (i = 0; i < type_room; i++)
    if (types[i] != NULL) types[i]->native = MPI_DATATYPE_NULL;
  for (i = 0; i < type_room; i++) make_again(types[i]);
  for (n = names; n != NULL; n = n->next) scr_native_MPI_Type_set_name(n->type, n->name);
}

/* ---- the calls that make datatypes ---- */

/* A list of integers of a recipe. */
typedef struct {
  int        n;
  const int* x;
} ints;

/* A datatype of COUNT lists, of N places, and of OF. */
static int make(int combiner, const ints* lists, int count, int n, const MPI_Aint* places, MPI_Datatype of,
                MPI_Datatype* made)
{
  datatype* t;
  int       i, all = 0;

  for (i = 0; i < count; i++) all += lists[i].n;
  t = begin(combiner, all, n, 1);
  for (all = i = 0; i < count; all += lists[i++].n)
    if (lists[i].n > 0) memcpy(t->ints + all, lists[i].x, (size_t)lists[i].n * sizeof(int));
  if (n > 0) memcpy(t->places, places, (size_t)n * sizeof *places);
  t->types[0] = of;
  return end(t, made);
}

IMG_API int MPI_Type_dup(MPI_Datatype of, MPI_Datatype* made)
{
  int rc;

  if (!img_on) return scr_native_MPI_Type_dup(of, made);
  rc = make(MPI_COMBINER_DUP, NULL, 0, 0, NULL, of, made);
  if (rc == MPI_SUCCESS) entry_of(*made)->committed = entry_of(of) == NULL || entry_of(of)->committed;
  return rc;
}

IMG_API int MPI_Type_contiguous(int n, MPI_Datatype of, MPI_Datatype* made)
{
  ints x = {1, &n};

  return img_on ? make(MPI_COMBINER_CONTIGUOUS, &x, 1, 0, NULL, of, made) : scr_native_MPI_Type_contiguous(n, of, made);
}

IMG_API int MPI_Type_vector(int n, int length, int stride, MPI_Datatype of, MPI_Datatype* made)
{
  int  values[] = {n, length, stride};
  ints x = {3, values};

  return img_on ? make(MPI_COMBINER_VECTOR, &x, 1, 0, NULL, of, made)
                : scr_native_MPI_Type_vector(n, length, stride, of, made);
}

IMG_API int MPI_Type_create_hvector(int n, int length, MPI_Aint stride, MPI_Datatype of, MPI_Datatype* made)
{
  int  values[] = {n, length};
  ints x = {2, values};

  return img_on ? make(MPI_COMBINER_HVECTOR, &x, 1, 1, &stride, of, made)
                : scr_native_MPI_Type_create_hvector(n, length, stride, of, made);
}

IMG_API int MPI_Type_indexed(int n, const int lengths[], const int places[], MPI_Datatype of, MPI_Datatype* made)
{
  ints x[] = {{1, &n}, {n, lengths}, {n, places}};

  return img_on ? make(MPI_COMBINER_INDEXED, x, 3, 0, NULL, of, made)
                : scr_native_MPI_Type_indexed(n, lengths, places, of, made);
}

IMG_API int MPI_Type_create_hindexed(int n, const int lengths[], const MPI_Aint places[], MPI_Datatype of,
                                     MPI_Datatype* made)
{
  ints x[] = {{1, &n}, {n, lengths}};

  return img_on ? make(MPI_COMBINER_HINDEXED, x, 2, n, places, of, made)
                : scr_native_MPI_Type_create_hindexed(n, lengths, places, of, made);
}

IMG_API int MPI_Type_create_indexed_block(int n, int length, const int places[], MPI_Datatype of, MPI_Datatype* made)
{
  ints x[] = {{1, &n}, {1, &length}, {n, places}};

  return img_on ? make(MPI_COMBINER_INDEXED_BLOCK, x, 3, 0, NULL, of, made)
                : scr_native_MPI_Type_create_indexed_block(n, length, places, of, made);
}

IMG_API int MPI_Type_create_hindexed_block(int n, int length, const MPI_Aint places[], MPI_Datatype of,
                                           MPI_Datatype* made)
{
  ints x[] = {{1, &n}, {1, &length}};

  return img_on ? make(MPI_COMBINER_HINDEXED_BLOCK, x, 2, n, places, of, made)
                : scr_native_MPI_Type_create_hindexed_block(n, length, places, of, made);
}

IMG_API int MPI_Type_create_struct(int n, const int lengths[], const MPI_Aint places[], const MPI_Datatype of[],
                                   MPI_Datatype* made)
{
  datatype* t;

  if (!img_on) return scr_native_MPI_Type_create_struct(n, lengths, places, of, made);
  t = begin(MPI_COMBINER_STRUCT, n + 1, n, n);
  t->ints[0] = n;
  if (n > 0) {
    memcpy(t->ints + 1, lengths, (size_t)n * sizeof *lengths);
    memcpy(t->places, places, (size_t)n * sizeof *places);
    memcpy(t->types, of, (size_t)n * sizeof *of);
  }
  return end(t, made);
}

IMG_API int MPI_Type_create_subarray(int n, const int sizes[], const int subsizes[], const int starts[], int order,
                                     MPI_Datatype of, MPI_Datatype* made)
{
  ints x[] = {{1, &n}, {n, sizes}, {n, subsizes}, {n, starts}, {1, &order}};

  return img_on ? make(MPI_COMBINER_SUBARRAY, x, 5, 0, NULL, of, made)
                : scr_native_MPI_Type_create_subarray(n, sizes, subsizes, starts, order, of, made);
}

IMG_API int MPI_Type_create_darray(int size, int rank, int n, const int sizes[], const int kinds[],
                                   const int arguments[], const int ranks[], int order, MPI_Datatype of,
                                   MPI_Datatype* made)
{
  ints x[] = {{1, &size}, {1, &rank}, {1, &n}, {n, sizes}, {n, kinds}, {n, arguments}, {n, ranks}, {1, &order}};

  return img_on ? make(MPI_COMBINER_DARRAY, x, 8, 0, NULL, of, made)
                : scr_native_MPI_Type_create_darray(size, rank, n, sizes, kinds, arguments, ranks, order, of, made);
}

/* One of Fortran's types of a precision and a range, N numbers at X: there is one for each, which is never freed. */
static int make_f90(int combiner, int n, const int* x, MPI_Datatype* made)
{
  datatype* t;
  int       i;

  for (i = 0; i < type_room; i++)
    if (types[i] != NULL && types[i]->combiner == combiner && memcmp(types[i]->ints, x, (size_t)n * sizeof *x) == 0) {
      *made = (MPI_Datatype)(IMG_TYPE | i);
      return MPI_SUCCESS;
    }
  t = begin(combiner, n, 0, 0);
  memcpy(t->ints, x, (size_t)n * sizeof *x);
  t->committed = 1;
  return end(t, made);
}

IMG_API int MPI_Type_create_f90_integer(int range, MPI_Datatype* made)
{
  return img_on ? make_f90(MPI_COMBINER_F90_INTEGER, 1, &range, made)
                : scr_native_MPI_Type_create_f90_integer(range, made);
}

IMG_API int MPI_Type_create_f90_real(int precision, int range, MPI_Datatype* made)
{
  int x[] = {precision, range};

  return img_on ? make_f90(MPI_COMBINER_F90_REAL, 2, x, made)
                : scr_native_MPI_Type_create_f90_real(precision, range, made);
}

IMG_API int MPI_Type_create_f90_complex(int precision, int range, MPI_Datatype* made)
{
  int x[] = {precision, range};

  return img_on ? make_f90(MPI_COMBINER_F90_COMPLEX, 2, x, made)
                : scr_native_MPI_Type_create_f90_complex(precision, range, made);
}

/* MPICH calls this one itself by this name, for views of files. */
IMG_API int MPI_Type_create_resized(MPI_Datatype of, MPI_Aint low, MPI_Aint extent, MPI_Datatype* made)
{
  MPI_Aint places[] = {low, extent};

  return img_on && img_is_saved_text(IMG_CALLER()) ? make(MPI_COMBINER_RESIZED, NULL, 0, 2, places, of, made)
                                                   : scr_native_MPI_Type_create_resized(of, low, extent, made);
}

IMG_API int MPI_Type_commit(MPI_Datatype* handle)
{
  datatype* t;

  if (!img_on) return scr_native_MPI_Type_commit(handle);
  if ((t = entry_of(*handle)) == NULL) return img_error(NULL, scr_native_MPI_Type_commit(handle));
  t->committed = 1;
  return img_error(NULL, scr_native_MPI_Type_commit(&t->native));
}

static int is_f90(int combiner)
{
  return combiner == MPI_COMBINER_F90_INTEGER || combiner == MPI_COMBINER_F90_REAL ||
         combiner == MPI_COMBINER_F90_COMPLEX;
}

IMG_API int MPI_Type_free(MPI_Datatype* handle)
{
  datatype* t;

  if (!img_on) return scr_native_MPI_Type_free(handle);
  t = entry_of(*handle);
  if (t == NULL || is_f90(t->combiner)) return img_error(NULL, MPI_ERR_TYPE);
  img_type_use(*handle, -1);
  *handle = MPI_DATATYPE_NULL;
  return MPI_SUCCESS;
}

/* ---- what is asked about datatypes ---- */

IMG_NATIVE(MPI_Type_get_contents);
IMG_NATIVE(MPI_Type_get_name);

IMG_API int MPI_Type_get_envelope(MPI_Datatype type, int* counts, int* places, int* parts, int* combiner)
{
  const datatype* t = entry_of(type);

  if (!img_on || t == NULL) return scr_native_MPI_Type_get_envelope(type, counts, places, parts, combiner);
  *counts = t->n[0], *places = t->n[1], *parts = t->n[2], *combiner = t->combiner;
  return MPI_SUCCESS;
}

IMG_API int MPI_Type_get_contents(MPI_Datatype type, int n, int places, int parts, int values[], MPI_Aint addresses[],
                                  MPI_Datatype of[])
{
  const datatype* t = entry_of(type);
  int             i;

  if (!img_on || t == NULL) return scr_native_MPI_Type_get_contents(type, n, places, parts, values, addresses, of);
  if (n < t->n[0] || places < t->n[1] || parts < t->n[2]) return img_error(NULL, MPI_ERR_ARG);
  for (i = 0; i < t->n[0]; i++) values[i] = t->ints[i];
  for (i = 0; i < t->n[1]; i++) addresses[i] = t->places[i];
  for (i = 0; i < t->n[2]; i++) {
    of[i] = t->types[i];
    img_type_use(of[i], 1);
  }
  return MPI_SUCCESS;
}

IMG_API int MPI_Type_set_name(MPI_Datatype type, const char* name)
{
  datatype* t = entry_of(type);
  renamed*  n = names;
  int       rc;

  if (!img_on) return scr_native_MPI_Type_set_name(type, name);
  if (t != NULL) {
    snprintf(t->name, sizeof t->name, "%s", name);
    return MPI_SUCCESS;
  }
  rc = scr_native_MPI_Type_set_name(type, name);
  if (rc != MPI_SUCCESS) return img_error(NULL, rc);
  while (n != NULL && n->type != type) n = n->next;
  if (n == NULL) {
    n = img_alloc(sizeof *n);
    if (n == NULL) abort();
    n->next = names;
    names = n;
  }
  n->type = type;
  snprintf(n->name, sizeof n->name, "%s", name);
  return rc;
}

IMG_API int MPI_Type_get_name(MPI_Datatype type, char* name, int* length)
{
  const datatype* t = entry_of(type);

  if (!img_on || t == NULL) return scr_native_MPI_Type_get_name(type, name, length);
  snprintf(name, MPI_MAX_OBJECT_NAME, "%s", t->name);
  *length = (int)strlen(name);
  return MPI_SUCCESS;
}

/* Calls that ask MPI, with the native datatype. */
#define ASK(name, parameters, arguments)                                                                               \
  IMG_NATIVE(name);                                                                                                    \
  IMG_API int name parameters                                                                                          \
  {                                                                                                                    \
    int rc = scr_native_##name arguments;                                                                              \
                                                                                                                       \
    return img_on ? img_error(NULL, rc) : rc;                                                                          \
  }

ASK(MPI_Type_size, (MPI_Datatype type, int* size), (img_type(type), size))
ASK(MPI_Type_size_x, (MPI_Datatype type, MPI_Count* size), (img_type(type), size))
ASK(MPI_Type_get_extent, (MPI_Datatype type, MPI_Aint* low, MPI_Aint* extent), (img_type(type), low, extent))
ASK(MPI_Type_get_true_extent, (MPI_Datatype type, MPI_Aint* low, MPI_Aint* extent), (img_type(type), low, extent))
ASK(MPI_Type_get_extent_x, (MPI_Datatype type, MPI_Count* low, MPI_Count* extent), (img_type(type), low, extent))
ASK(MPI_Type_get_true_extent_x, (MPI_Datatype type, MPI_Count* low, MPI_Count* extent), (img_type(type), low, extent))
ASK(MPI_Get_count, (const MPI_Status* status, MPI_Datatype type, int* count), (status, img_type(type), count))
ASK(MPI_Get_elements, (const MPI_Status* status, MPI_Datatype type, int* count), (status, img_type(type), count))
ASK(MPI_Get_elements_x, (const MPI_Status* status, MPI_Datatype type, MPI_Count* count),
    (status, img_type(type), count))
ASK(MPI_Status_set_elements_x, (MPI_Status * status, MPI_Datatype type, MPI_Count count),
    (status, img_type(type), count))
ASK(MPI_Pack_external,
    (const char form[], const void* in, int count, MPI_Datatype type, void* out, MPI_Aint size, MPI_Aint* at),
    (form, in, count, img_type(type), out, size, at))
ASK(MPI_Unpack_external,
    (const char form[], const void* in, MPI_Aint size, MPI_Aint* at, void* out, int count, MPI_Datatype type),
    (form, in, size, at, out, count, img_type(type)))
ASK(MPI_Pack_external_size, (const char form[], int count, MPI_Datatype type, MPI_Aint* size),
    (form, count, img_type(type), size))
ASK(MPI_Status_set_elements, (MPI_Status * status, MPI_Datatype type, int count), (status, img_type(type), count))

IMG_NATIVE(MPI_Pack);
IMG_NATIVE(MPI_Unpack);
IMG_NATIVE(MPI_Pack_size);

IMG_API int MPI_Pack(const void* in, int count, MPI_Datatype type, void* out, int size, int* at, MPI_Comm comm)
{
  if (!img_on) return scr_native_MPI_Pack(in, count, type, out, size, at, comm);
  return img_error(img_comm_of(comm), scr_native_MPI_Pack(in, count, img_type(type), out, size, at, MPI_COMM_WORLD));
}

IMG_API int MPI_Unpack(const void* in, int size, int* at, void* out, int count, MPI_Datatype type, MPI_Comm comm)
{
  if (!img_on) return scr_native_MPI_Unpack(in, size, at, out, count, type, comm);
  return img_error(img_comm_of(comm), scr_native_MPI_Unpack(in, size, at, out, count, img_type(type), MPI_COMM_WORLD));
}

IMG_API int MPI_Pack_size(int count, MPI_Datatype type, MPI_Comm comm, int* size)
{
  if (!img_on) return scr_native_MPI_Pack_size(count, type, comm, size);
  return img_error(img_comm_of(comm), scr_native_MPI_Pack_size(count, img_type(type), MPI_COMM_WORLD, size));
}

/* ---- operations ---- */

IMG_NATIVE(MPI_Op_create);
IMG_NATIVE(MPI_Op_free);
IMG_NATIVE(MPI_Op_commutative);
IMG_NATIVE(MPI_Reduce_local);

static operation* op_of(MPI_Op handle)
{
  int i = handle & 0xffffff;

  return (handle & 0xff000000) == OP && i < op_room && ops[i].users > 0 ? &ops[i] : NULL;
}

int img_op_is_made(MPI_Op handle)
{
  return op_of(handle) != NULL;
}

int img_op_commutes(MPI_Op handle)
{
  return op_of(handle) == NULL || op_of(handle)->commutes;
}

void img_op_use(MPI_Op handle, int more)
{
  if (op_of(handle) != NULL) op_of(handle)->users += more;
}

int img_op_apply(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op)
{
  const operation* o = op_of(op);

  if (count <= 0) return MPI_SUCCESS;
  if (o == NULL) return scr_native_MPI_Reduce_local(from, to, count, img_type(type), op);
  o->f((void*)from, to, &count, &type);
  return MPI_SUCCESS;
}

IMG_API int MPI_Op_create(MPI_User_function* f, int commutes, MPI_Op* made)
{
  int i = 0;

  if (!img_on) return scr_native_MPI_Op_create(f, commutes, made);
  while (i < op_room && ops[i].users > 0) i++;
  if (i == op_room) img_widen(&ops, &op_room, sizeof *ops);
  ops[i].f = f, ops[i].commutes = commutes != 0, ops[i].users = 1;
  *made = (MPI_Op)(OP | i);
  return MPI_SUCCESS;
}

IMG_API int MPI_Op_free(MPI_Op* op)
{
  if (!img_on) return scr_native_MPI_Op_free(op);
  if (op_of(*op) == NULL) return img_error(NULL, MPI_ERR_OP);
  img_op_use(*op, -1);
  *op = MPI_OP_NULL;
  return MPI_SUCCESS;
}

IMG_API int MPI_Op_commutative(MPI_Op op, int* commutes)
{
  if (!img_on || op_of(op) == NULL) return scr_native_MPI_Op_commutative(op, commutes);
  *commutes = op_of(op)->commutes;
  return MPI_SUCCESS;
}

IMG_API int MPI_Reduce_local(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op)
{
  if (!img_on) return scr_native_MPI_Reduce_local(from, to, count, type, op);
  return img_error(NULL, img_op_apply(from, to, count, type, op));
}
