/* ==== HELD ==============================================================================================
** Windows and files of MPI.  They are native, and the program has their native handles; so no image is written while
** one of them lives, and none of them is in an image.
**
** Uses       comm.c, group.c, agree.c, p2p.c (requests), plan.c, coll.c (barrier)
** Offers     img_held_*
** Invariants
**   Q1  While a window or a file lives, or is being made, each of its ranks objects to an image.  So if a rank waits
**       natively for another one that has stopped, that one has objected, and the stop is called off.
**   Q2  Ranks that will wait natively for each other meet by messages of the layer first: until then, collectives that
**       have begun go on, and channels are made; and then none of them needs the layer of another.
** Failure    The error handler of the communicator; else that of the window or the file, which is native.
** ====================================================================================================== */
#include "held.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "objects.h"
#include "plan.h"

IMG_NATIVE(MPI_Comm_create_group);
IMG_NATIVE(MPI_Comm_free);
IMG_NATIVE(MPI_Comm_set_errhandler);
IMG_NATIVE(MPI_Group_free);

const char IMG_WINDOW[] = "a window of MPI", IMG_FILE[] = "a file of MPI open";

static img_held* all; /* also those that are being made */

const char* img_held_objection(void)
{
  static char why[160];

  if (all == NULL) return img_requests_held() ? "has a request of a window or a file of MPI" : NULL;
  snprintf(why, sizeof why, "has %s%s%s", all->kind, all->name[0] != '\0' ? ": " : "", all->name);
  return why;
}

/* A native communicator with the ranks of H, which returns errors. */
static int make_native(const img_held* h, MPI_Comm* made)
{
  MPI_Group group;
  int       rc = img_group_native(h->size, h->to, &group);

  *made = MPI_COMM_NULL;
  if (rc != MPI_SUCCESS) return rc;
  rc = scr_native_MPI_Comm_create_group(img_ctl, group, 0, made);
  scr_native_MPI_Group_free(&group);
  if (rc == MPI_SUCCESS) scr_native_MPI_Comm_set_errhandler(*made, MPI_ERRORS_RETURN);
  return rc;
}

/* Q2 */
static int meet(const img_held* h)
{
  img_plan* p = img_plan_over(h->to, h->size, h->me, -1);

  img_plan_barrier(p);
  return img_plan_run(p);
}

img_held* img_held_begin(MPI_Comm comm, const char* kind, const char* name, MPI_Comm* native, int* rc)
{
  img_comm* c = img_comm_of(comm);
  img_held* h;

  *rc = MPI_ERR_COMM;
  if (c == NULL) return NULL;
  img_enter();
  h = img_alloc(sizeof *h);
  if (h == NULL) abort();
  memset(h, 0, sizeof *h);
  h->kind = kind, h->size = c->size, h->me = c->rank;
  h->to = img_alloc((size_t)c->size * sizeof *h->to);
  if (h->to == NULL) abort();
  memcpy(h->to, c->to, (size_t)c->size * sizeof *h->to);
  h->unit = h->view = MPI_DATATYPE_NULL;
  snprintf(h->name, sizeof h->name, "%s", name);
  h->next = all;
  all = h;
  *rc = meet(h);
  if (*rc == MPI_SUCCESS) *rc = img_error(c, make_native(h, native));
  if (*rc == MPI_SUCCESS) return h;
  img_held_end(h);
  return NULL;
}

int img_held_made(img_held* h, MPI_Comm* native, intptr_t handle, int rc)
{
  scr_native_MPI_Comm_free(native);
  h->native = handle;
  if (rc != MPI_SUCCESS) img_held_end(h);
  return rc;
}

img_held* img_held_of(const char* kind, intptr_t handle)
{
  img_held* h = all;

  while (h != NULL && (h->kind != kind || h->native != handle)) h = h->next;
  return h;
}

void img_held_meet(const char* kind, intptr_t handle)
{
  const img_held* h = img_held_of(kind, handle);

  img_enter();
  if (h != NULL) meet(h);
}

int img_held_group(const char* kind, intptr_t handle, MPI_Group* group)
{
  const img_held* h = img_held_of(kind, handle);

  if (h == NULL) return img_error(NULL, kind == IMG_FILE ? MPI_ERR_FILE : MPI_ERR_WIN);
  *group = img_group_make(h->size, h->to);
  return MPI_SUCCESS;
}

void img_held_end(img_held* h)
{
  img_held** at = &all;

  while (*at != h) at = &(*at)->next;
  *at = h->next;
  free(h->to);
  free(h);
}
