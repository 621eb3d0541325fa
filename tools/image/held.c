/* ==== HELD ==============================================================================================
** Windows and files of MPI.  They are native, and the program has their native handles; so no image is written while
** one of them lives, and none of them is in an image.
**
** Uses       comm.c, group.c, agree.c, p2p.c (requests)
** Offers     img_held_*
** Invariants
**   H1  From before the ranks meet to make one until it has ended, its ranks object to an image.  So a rank that waits
**       natively for others, which a stop would keep from coming, has the stop called off.
**   H2  The ranks meet by messages of the layer before they wait natively: collectives that have begun go on until
**       then, and behind it no rank needs another one's layer.
** Failure    The error handler of the communicator; else that of the window or the file, which is native.
** ====================================================================================================== */
#include "held.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "objects.h"

IMG_NATIVE(MPI_Comm_create_group);
IMG_NATIVE(MPI_Comm_free);
IMG_NATIVE(MPI_Comm_group);
IMG_NATIVE(MPI_Group_free);
IMG_NATIVE(MPI_Group_incl);

const char IMG_WINDOW[] = "a window of MPI", IMG_FILE[] = "a file of MPI open";

static img_held* all; /* also those that are being made */

const char* img_held_objection(void)
{
  static char why[160];

  if (all == NULL) return img_requests_held() ? "has a request of a window or a file of MPI" : NULL;
  snprintf(why, sizeof why, "has %s%s%s", all->kind, all->name[0] != '\0' ? ": " : "", all->name);
  return why;
}

/* A native communicator with the ranks of C. */
static int make_native(const img_comm* c, MPI_Comm* made)
{
  MPI_Group world, group;
  int       rc;

  *made = MPI_COMM_NULL;
  scr_native_MPI_Comm_group(img_ctl, &world);
  rc = scr_native_MPI_Group_incl(world, c->size, c->to, &group);
  if (rc == MPI_SUCCESS) {
    rc = scr_native_MPI_Comm_create_group(img_ctl, group, 0, made);
    scr_native_MPI_Group_free(&group);
  }
  scr_native_MPI_Group_free(&world);
  return rc;
}

img_held* img_held_begin(MPI_Comm comm, const char* kind, const char* name, MPI_Comm* native, int* rc)
{
  img_comm* c = img_comm_of(comm);
  img_comm* own;
  img_held* h;

  *rc = MPI_ERR_COMM;
  if (c == NULL) return NULL;
  h = img_alloc(sizeof *h);
  if (h == NULL) abort();
  memset(h, 0, sizeof *h);
  h->kind = kind;
  h->unit = h->view = MPI_DATATYPE_NULL;
  snprintf(h->name, sizeof h->name, "%s", name);
  h->next = all;
  all = h;
  own = img_comm_make(c, 1, c->size, c->to, rc); /* H2 */
  if (own != NULL) {
    h->comm = img_comm_handle(own);
    *rc = img_error(c, make_native(own, native));
    if (*rc == MPI_SUCCESS) return h;
  }
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

  if (h != NULL) MPI_Barrier(h->comm);
}

int img_held_group(const char* kind, intptr_t handle, MPI_Group* group)
{
  const img_held* h = img_held_of(kind, handle);

  return h != NULL ? MPI_Comm_group(h->comm, group) : img_error(NULL, kind == IMG_FILE ? MPI_ERR_FILE : MPI_ERR_WIN);
}

void img_held_end(img_held* h)
{
  img_held** at = &all;

  while (*at != h) at = &(*at)->next;
  *at = h->next;
  if (h->comm != 0) MPI_Comm_free(&h->comm);
  free(h);
}
