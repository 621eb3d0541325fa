/* ==== INFO ==============================================================================================
** MPI_Info: keys and values.
**
** Uses       heap.c (img_alloc, img_widen), comm.c (img_error)
** Offers     img_info_*; the calls of MPI_Info.
** Invariants
**   E1  An info is a list and no more; where native MPI is given one, it gets a copy.
** Failure    The error handler of the world.
** ====================================================================================================== */
#include "held.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

IMG_NATIVE(MPI_Info_create);
IMG_NATIVE(MPI_Info_set);
IMG_NATIVE(MPI_Info_delete);
IMG_NATIVE(MPI_Info_get);
IMG_NATIVE(MPI_Info_get_string);
IMG_NATIVE(MPI_Info_get_valuelen);
IMG_NATIVE(MPI_Info_get_nkeys);
IMG_NATIVE(MPI_Info_get_nthkey);
IMG_NATIVE(MPI_Info_dup);
IMG_NATIVE(MPI_Info_free);

#define INFO 0x74000000

typedef struct pair {
  struct pair* next;
  char*        value;
  char         key[];
} pair;

typedef struct {
  int   used;
  pair* first; /* in the order in which the keys were set */
} info;

static info* infos;
static int   room;

/* The info of HANDLE; NULL if the program has not made it: native MPI says what it is. */
static info* info_of(MPI_Info handle)
{
  int i = handle & 0xffffff;

  return (handle & 0xff000000) == INFO && i < room && infos[i].used ? &infos[i] : NULL;
}

static MPI_Info make(void)
{
  int i = 0;

  while (i < room && infos[i].used) i++;
  if (i == room) img_widen(&infos, &room, sizeof *infos);
  infos[i].used = 1;
  infos[i].first = NULL;
  return (MPI_Info)(INFO | i);
}

/* Where the pair of KEY is, or would be. */
static pair** find(info* i, const char* key)
{
  pair** at = &i->first;

  while (*at != NULL && strcmp((*at)->key, key) != 0) at = &(*at)->next;
  return at;
}

static void set(info* i, const char* key, const char* value)
{
  pair**       at = find(i, key);
  pair*        p;
  const size_t keys = strlen(key) + 1, all = keys + strlen(value) + 1;

  p = img_alloc(sizeof *p + all);
  if (p == NULL) abort();
  p->next = *at != NULL ? (*at)->next : NULL;
  p->value = p->key + keys;
  memcpy(p->key, key, keys);
  memcpy(p->value, value, all - keys);
  free(*at);
  *at = p;
}

/* ---- native copies (E1) ---- */

MPI_Info img_info_native(MPI_Info handle)
{
  info*       i = info_of(handle);
  const pair* p;
  MPI_Info    native;

  if (i == NULL) return handle;
  if (scr_native_MPI_Info_create(&native) != MPI_SUCCESS) return MPI_INFO_NULL;
  for (p = i->first; p != NULL; p = p->next) scr_native_MPI_Info_set(native, p->key, p->value);
  return native;
}

void img_info_done(MPI_Info native, MPI_Info handle)
{
  if (native != handle && native != MPI_INFO_NULL) scr_native_MPI_Info_free(&native);
}

static MPI_Info copy_of(MPI_Info native)
{
  MPI_Info made = make();
  char     key[MPI_MAX_INFO_KEY + 1], value[MPI_MAX_INFO_VAL + 1];
  int      n = 0, i, flag;

  scr_native_MPI_Info_get_nkeys(native, &n);
  for (i = 0; i < n; i++) {
    scr_native_MPI_Info_get_nthkey(native, i, key);
    scr_native_MPI_Info_get(native, key, MPI_MAX_INFO_VAL, value, &flag);
    if (flag) set(info_of(made), key, value);
  }
  return made;
}

int img_info_give(int rc, MPI_Info native, MPI_Info* handle)
{
  *handle = native;
  if (!img_on || rc != MPI_SUCCESS) return rc;
  *handle = copy_of(native);
  scr_native_MPI_Info_free(&native);
  return rc;
}

/* ---- the calls ---- */

IMG_API int MPI_Info_create(MPI_Info* made)
{
  if (!img_on) return scr_native_MPI_Info_create(made);
  *made = make();
  return MPI_SUCCESS;
}

IMG_API int MPI_Info_dup(MPI_Info handle, MPI_Info* made)
{
  const pair* p;

  if (!img_on) return scr_native_MPI_Info_dup(handle, made);
  if (info_of(handle) == NULL && handle != MPI_INFO_ENV) return img_error(NULL, MPI_ERR_INFO);
  if (handle == MPI_INFO_ENV) {
    *made = copy_of(handle);
    return MPI_SUCCESS;
  }
  *made = make();
  for (p = info_of(handle)->first; p != NULL; p = p->next) set(info_of(*made), p->key, p->value);
  return MPI_SUCCESS;
}

IMG_API int MPI_Info_free(MPI_Info* handle)
{
  info* i;
  pair *p, *next;

  if (!img_on) return scr_native_MPI_Info_free(handle);
  if ((i = info_of(*handle)) == NULL) return img_error(NULL, MPI_ERR_INFO);
  for (p = i->first; p != NULL; p = next) {
    next = p->next;
    free(p);
  }
  i->used = 0;
  *handle = MPI_INFO_NULL;
  return MPI_SUCCESS;
}

IMG_API int MPI_Info_set(MPI_Info handle, const char* key, const char* value)
{
  info* i;

  if (!img_on) return scr_native_MPI_Info_set(handle, key, value);
  if ((i = info_of(handle)) == NULL) return img_error(NULL, MPI_ERR_INFO);
  if (key == NULL || *key == '\0' || strlen(key) > MPI_MAX_INFO_KEY) return img_error(NULL, MPI_ERR_INFO_KEY);
  if (value == NULL || strlen(value) > MPI_MAX_INFO_VAL) return img_error(NULL, MPI_ERR_INFO_VALUE);
  set(i, key, value);
  return MPI_SUCCESS;
}

IMG_API int MPI_Info_delete(MPI_Info handle, const char* key)
{
  info*  i;
  pair **at, *p;

  if (!img_on) return scr_native_MPI_Info_delete(handle, key);
  if ((i = info_of(handle)) == NULL) return img_error(NULL, MPI_ERR_INFO);
  at = find(i, key);
  if ((p = *at) == NULL) return img_error(NULL, MPI_ERR_INFO_NOKEY);
  *at = p->next;
  free(p);
  return MPI_SUCCESS;
}

/* Copy the value of KEY, with SIZE bytes at most; its whole length, or -1 if there is no such key. */
static int value_of(info* i, const char* key, int size, char* value)
{
  const pair* p = *find(i, key);

  if (p == NULL) return -1;
  if (size > 0) snprintf(value, (size_t)size, "%s", p->value);
  return (int)strlen(p->value);
}

IMG_API int MPI_Info_get(MPI_Info handle, const char* key, int length, char* value, int* flag)
{
  info* i = info_of(handle);

  if (!img_on || i == NULL) return scr_native_MPI_Info_get(handle, key, length, value, flag);
  *flag = value_of(i, key, length + 1, value) >= 0;
  return MPI_SUCCESS;
}

IMG_API int MPI_Info_get_string(MPI_Info handle, const char* key, int* size, char* value, int* flag)
{
  info* i = info_of(handle);
  int   n;

  if (!img_on || i == NULL) return scr_native_MPI_Info_get_string(handle, key, size, value, flag);
  n = value_of(i, key, *size, value);
  *flag = n >= 0;
  if (*flag) *size = n + 1;
  return MPI_SUCCESS;
}

IMG_API int MPI_Info_get_valuelen(MPI_Info handle, const char* key, int* length, int* flag)
{
  info* i = info_of(handle);
  int   n;

  if (!img_on || i == NULL) return scr_native_MPI_Info_get_valuelen(handle, key, length, flag);
  n = value_of(i, key, 0, NULL);
  *flag = n >= 0;
  if (*flag) *length = n;
  return MPI_SUCCESS;
}

IMG_API int MPI_Info_get_nkeys(MPI_Info handle, int* n)
{
  info*       i = info_of(handle);
  const pair* p;

  if (!img_on || i == NULL) return scr_native_MPI_Info_get_nkeys(handle, n);
  for (*n = 0, p = i->first; p != NULL; p = p->next) ++*n;
  return MPI_SUCCESS;
}

IMG_API int MPI_Info_get_nthkey(MPI_Info handle, int n, char* key)
{
  info*       i = info_of(handle);
  const pair* p;

  if (!img_on || i == NULL) return scr_native_MPI_Info_get_nthkey(handle, n, key);
  for (p = i->first; p != NULL && n > 0; p = p->next) n--;
  if (p == NULL || n < 0) return img_error(NULL, MPI_ERR_ARG);
  strcpy(key, p->key);
  return MPI_SUCCESS;
}
