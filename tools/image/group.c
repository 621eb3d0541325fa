/* ==== GROUPS ============================================================================================
** Groups: lists of ranks of the world.
**
** Uses       heap.c (img_alloc, img_widen), comm.c (img_error)
** Offers     img_group_*, img_ranks_compare; the calls of groups.
** Invariants
**   G1  A group is a list and no more: nothing of it is native.
** Failure    The error handler of the world.
** ====================================================================================================== */
#include "objects.h"

#include <stdlib.h>
#include <string.h>

IMG_NATIVE(MPI_Comm_group);
IMG_NATIVE(MPI_Group_size);
IMG_NATIVE(MPI_Group_rank);
IMG_NATIVE(MPI_Group_free);
IMG_NATIVE(MPI_Group_compare);
IMG_NATIVE(MPI_Group_translate_ranks);
IMG_NATIVE(MPI_Group_union);
IMG_NATIVE(MPI_Group_intersection);
IMG_NATIVE(MPI_Group_difference);
IMG_NATIVE(MPI_Group_incl);
IMG_NATIVE(MPI_Group_excl);
IMG_NATIVE(MPI_Group_range_incl);
IMG_NATIVE(MPI_Group_range_excl);

#define GROUP 0x73000000

static img_group** groups;
static int         room;
static img_group   nobody;

img_group* img_group_of(MPI_Group handle)
{
  int i = handle & 0xffffff;

  if (handle == MPI_GROUP_EMPTY) return &nobody;
  if ((handle & 0xff000000) == GROUP && i < room && groups[i] != NULL) return groups[i];
  img_error(NULL, MPI_ERR_GROUP);
  return NULL;
}

/* A group with room for SIZE ranks; none are in it yet. */
static img_group* make(int size, MPI_Group* handle)
{
  img_group* g;
  int        i = 0;

  while (i < room && groups[i] != NULL) i++;
  if (i == room) img_widen(&groups, &room, sizeof *groups);
  g = img_alloc(sizeof *g + (size_t)size * sizeof *g->ranks);
  if (g == NULL) abort();
  g->size = 0;
  groups[i] = g;
  *handle = (MPI_Group)(GROUP | i);
  return g;
}

/* An empty group has its own handle. */
static int finish(MPI_Group* handle)
{
  if (img_group_of(*handle)->size > 0) return MPI_SUCCESS;
  free(groups[*handle & 0xffffff]);
  groups[*handle & 0xffffff] = NULL;
  *handle = MPI_GROUP_EMPTY;
  return MPI_SUCCESS;
}

MPI_Group img_group_make(int size, const int* ranks)
{
  MPI_Group  handle;
  img_group* g = make(size, &handle);

  g->size = size;
  memcpy(g->ranks, ranks, (size_t)size * sizeof *ranks);
  return handle;
}

int img_group_native(int size, const int* ranks, MPI_Group* made)
{
  MPI_Group world;
  int       rc;

  scr_native_MPI_Comm_group(img_ctl, &world);
  rc = scr_native_MPI_Group_incl(world, size, ranks, made);
  scr_native_MPI_Group_free(&world);
  return rc;
}

/* The place of the world's RANK among RANKS, or -1. */
static int find(int size, const int* ranks, int rank)
{
  int i = 0;

  while (i < size && ranks[i] != rank) i++;
  return i < size ? i : -1;
}

int img_group_rank(const img_group* g)
{
  return find(g->size, g->ranks, img_rank);
}

int img_ranks_compare(int size, const int* ranks, int othersize, const int* others)
{
  int i;

  if (size != othersize) return MPI_UNEQUAL;
  if (memcmp(ranks, others, (size_t)size * sizeof *ranks) == 0) return MPI_IDENT;
  for (i = 0; i < size; i++)
    if (find(size, others, ranks[i]) < 0) return MPI_UNEQUAL;
  return MPI_SIMILAR;
}

/* ---- the calls ---- */

IMG_API int MPI_Group_size(MPI_Group group, int* size)
{
  img_group* g;

  if (!img_on) return scr_native_MPI_Group_size(group, size);
  if ((g = img_group_of(group)) == NULL) return MPI_ERR_GROUP;
  *size = g->size;
  return MPI_SUCCESS;
}

IMG_API int MPI_Group_rank(MPI_Group group, int* rank)
{
  img_group* g;

  if (!img_on) return scr_native_MPI_Group_rank(group, rank);
  if ((g = img_group_of(group)) == NULL) return MPI_ERR_GROUP;
  *rank = img_group_rank(g);
  if (*rank < 0) *rank = MPI_UNDEFINED;
  return MPI_SUCCESS;
}

IMG_API int MPI_Group_free(MPI_Group* group)
{
  img_group* g;

  if (!img_on) return scr_native_MPI_Group_free(group);
  if ((g = img_group_of(*group)) == NULL) return MPI_ERR_GROUP;
  if (g != &nobody) {
    groups[*group & 0xffffff] = NULL;
    free(g);
  }
  *group = MPI_GROUP_NULL;
  return MPI_SUCCESS;
}

IMG_API int MPI_Group_compare(MPI_Group one, MPI_Group other, int* result)
{
  img_group *a, *b;

  if (!img_on) return scr_native_MPI_Group_compare(one, other, result);
  if ((a = img_group_of(one)) == NULL || (b = img_group_of(other)) == NULL) return MPI_ERR_GROUP;
  *result = img_ranks_compare(a->size, a->ranks, b->size, b->ranks);
  return MPI_SUCCESS;
}

IMG_API int MPI_Group_translate_ranks(MPI_Group one, int n, const int ranks[], MPI_Group other, int places[])
{
  img_group *a, *b;
  int        i;

  if (!img_on) return scr_native_MPI_Group_translate_ranks(one, n, ranks, other, places);
  if ((a = img_group_of(one)) == NULL || (b = img_group_of(other)) == NULL) return MPI_ERR_GROUP;
  for (i = 0; i < n; i++) {
    if (ranks[i] == MPI_PROC_NULL) {
      places[i] = MPI_PROC_NULL;
      continue;
    }
    if (ranks[i] < 0 || ranks[i] >= a->size) return img_error(NULL, MPI_ERR_RANK);
    places[i] = find(b->size, b->ranks, a->ranks[ranks[i]]);
    if (places[i] < 0) places[i] = MPI_UNDEFINED;
  }
  return MPI_SUCCESS;
}

/* Of A, those that are in B, or those that are not; and then, if REST, those of B that are not in A. */
static int combine(MPI_Group one, MPI_Group other, int in, int out, int rest, MPI_Group* made)
{
  img_group *a = img_group_of(one), *b = img_group_of(other), *g;
  int        i;

  if (a == NULL || b == NULL) return MPI_ERR_GROUP;
  g = make(a->size + b->size, made);
  for (i = 0; i < a->size; i++)
    if (find(b->size, b->ranks, a->ranks[i]) >= 0 ? in : out) g->ranks[g->size++] = a->ranks[i];
  for (i = 0; i < b->size && rest; i++)
    if (find(a->size, a->ranks, b->ranks[i]) < 0) g->ranks[g->size++] = b->ranks[i];
  return finish(made);
}

IMG_API int MPI_Group_union(MPI_Group one, MPI_Group other, MPI_Group* made)
{
  return img_on ? combine(one, other, 1, 1, 1, made) : scr_native_MPI_Group_union(one, other, made);
}

IMG_API int MPI_Group_intersection(MPI_Group one, MPI_Group other, MPI_Group* made)
{
  return img_on ? combine(one, other, 1, 0, 0, made) : scr_native_MPI_Group_intersection(one, other, made);
}

IMG_API int MPI_Group_difference(MPI_Group one, MPI_Group other, MPI_Group* made)
{
  return img_on ? combine(one, other, 0, 1, 0, made) : scr_native_MPI_Group_difference(one, other, made);
}

/* Of GROUP those that RANKS names, in this order; or all others. */
static int choose(MPI_Group group, int n, const int* ranks, int others, MPI_Group* made)
{
  img_group *a = img_group_of(group), *g;
  int        i;

  if (a == NULL) return MPI_ERR_GROUP;
  for (i = 0; i < n; i++)
    if (ranks[i] < 0 || ranks[i] >= a->size) return img_error(NULL, MPI_ERR_RANK);
  g = make(a->size + n, made);
  for (i = 0; i < n && !others; i++) g->ranks[g->size++] = a->ranks[ranks[i]];
  for (i = 0; i < a->size && others; i++)
    if (find(n, ranks, i) < 0) g->ranks[g->size++] = a->ranks[i];
  return finish(made);
}

IMG_API int MPI_Group_incl(MPI_Group group, int n, const int ranks[], MPI_Group* made)
{
  return img_on ? choose(group, n, ranks, 0, made) : scr_native_MPI_Group_incl(group, n, ranks, made);
}

IMG_API int MPI_Group_excl(MPI_Group group, int n, const int ranks[], MPI_Group* made)
{
  return img_on ? choose(group, n, ranks, 1, made) : scr_native_MPI_Group_excl(group, n, ranks, made);
}

/* The same, by N ranges: first, last, stride. */
static int select_ranges(MPI_Group group, int n, int ranges[][3], int others, MPI_Group* made)
{
  img_group* a = img_group_of(group);
  int *      ranks, i, r, count = 0, rc;

  if (a == NULL) return MPI_ERR_GROUP;
  ranks = img_alloc(((size_t)a->size + 1) * sizeof *ranks);
  if (ranks == NULL) abort();
  for (i = 0; i < n; i++) {
    if (ranges[i][2] == 0) return img_error(NULL, MPI_ERR_ARG);
    for (r = ranges[i][0]; ranges[i][2] > 0 ? r <= ranges[i][1] : r >= ranges[i][1]; r += ranges[i][2]) {
      if (r < 0 || r >= a->size || count == a->size) return img_error(NULL, MPI_ERR_RANK);
      ranks[count++] = r;
    }
  }
  rc = choose(group, count, ranks, others, made);
  free(ranks);
  return rc;
}

IMG_API int MPI_Group_range_incl(MPI_Group group, int n, int ranges[][3], MPI_Group* made)
{
  return img_on ? select_ranges(group, n, ranges, 0, made) : scr_native_MPI_Group_range_incl(group, n, ranges, made);
}

IMG_API int MPI_Group_range_excl(MPI_Group group, int n, int ranges[][3], MPI_Group* made)
{
  return img_on ? select_ranges(group, n, ranges, 1, made) : scr_native_MPI_Group_range_excl(group, n, ranges, made);
}
