/* ==== PROBE =============================================================================================
** Probes, and messages that a matched probe has found.
**
** Uses       p2p.c (the list of drained messages, requests)
** Offers     MPI_Iprobe, MPI_Probe, MPI_Improbe, MPI_Mprobe, MPI_Mrecv, MPI_Imrecv.
** Invariants
**   B1  A probe looks into the list first (M1).
**   B2  A message that a matched probe has found is in the list until it is received.
** Failure    As in p2p.c.
** ====================================================================================================== */
#include "p2p.h"

IMG_NATIVE(MPI_Iprobe);
IMG_NATIVE(MPI_Improbe);
IMG_NATIVE(MPI_Mrecv);
IMG_NATIVE(MPI_Status_set_elements_x);
IMG_NATIVE(MPI_Probe);
IMG_NATIVE(MPI_Mprobe);
IMG_NATIVE(MPI_Imrecv);

#define MESSAGE 0x78000000

static int messages; /* the last number */

static void drained_status(const img_drained* d, const img_comm* c, MPI_Status* status)
{
  MPI_Status found;

  img_status_empty(&found, c->back[d->source]);
  found.MPI_TAG = d->tag;
  scr_native_MPI_Status_set_elements_x(&found, MPI_BYTE, d->bytes);
  img_status_give(status, &found);
}

/* The communicator of a probe with these arguments, and the message in the list that it finds, or NULL, in *D (B1).
   NULL if the arguments are wrong, and the error in RC. */
static img_comm* look(int from, int tag, MPI_Comm comm, img_drained** d, int* rc)
{
  img_comm* c = img_check_peer(comm, from, 1, rc);

  if (c == NULL) return NULL;
  *d = from == MPI_PROC_NULL ? NULL : img_drained_find(c->slot, img_peer_of(c, from), tag);
  return c;
}

static int probe(int from, int tag, MPI_Comm comm, int* flag, MPI_Status* status)
{
  MPI_Status   found;
  img_drained* d;
  img_comm*    c;
  int          rc;

  if ((c = look(from, tag, comm, &d, &rc)) == NULL) return rc;
  *flag = d != NULL;
  if (d == NULL) {
    rc = scr_native_MPI_Iprobe(img_peer_of(c, from), tag, img_channel[c->slot], flag, &found);
    if (rc != MPI_SUCCESS || !*flag) return img_error(c, rc);
    if (from != MPI_PROC_NULL) found.MPI_SOURCE = c->back[found.MPI_SOURCE];
    img_status_give(status, &found);
    return rc;
  }
  drained_status(d, c, status);
  return MPI_SUCCESS;
}

IMG_API int MPI_Iprobe(int from, int tag, MPI_Comm comm, int* flag, MPI_Status* status)
{
  if (!img_on) return scr_native_MPI_Iprobe(from, tag, comm, flag, status);
  img_enter();
  return probe(from, tag, comm, flag, status);
}

IMG_API int MPI_Probe(int from, int tag, MPI_Comm comm, MPI_Status* status)
{
  int flag = 0, spins = 0, rc;

  if (!img_on) return scr_native_MPI_Probe(from, tag, comm, status);
  img_enter();
  while ((rc = probe(from, tag, comm, &flag, status)) == MPI_SUCCESS && !flag) img_spin(&spins);
  return rc;
}

/* A matched probe receives the message into the list, where its handle finds it. */
static int matched_probe(int from, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status)
{
  MPI_Message  m;
  MPI_Status   found;
  img_drained* d;
  img_comm*    c;
  int          rc;

  if ((c = look(from, tag, comm, &d, &rc)) == NULL) return rc;
  *flag = d != NULL;
  if (d == NULL) {
    rc = scr_native_MPI_Improbe(img_peer_of(c, from), tag, img_channel[c->slot], flag, &m, &found);
    if (rc != MPI_SUCCESS || !*flag) return img_error(c, rc);
    if (m == MPI_MESSAGE_NO_PROC) {
      *message = m;
      img_status_give(status, &found);
      return rc;
    }
    d = img_drained_receive(&m, &found, c->slot);
  }
  messages = messages == 0xffffff ? 1 : messages + 1;
  d->matched = messages;
  d->c = c;
  img_comm_use(c, 1);
  *message = (MPI_Message)(MESSAGE | messages);
  drained_status(d, c, status);
  return MPI_SUCCESS;
}

IMG_API int MPI_Improbe(int from, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status)
{
  if (!img_on) return scr_native_MPI_Improbe(from, tag, comm, flag, message, status);
  img_enter();
  return matched_probe(from, tag, comm, flag, message, status);
}

IMG_API int MPI_Mprobe(int from, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status)
{
  int flag = 0, spins = 0, rc;

  if (!img_on) return scr_native_MPI_Mprobe(from, tag, comm, message, status);
  img_enter();
  while ((rc = matched_probe(from, tag, comm, &flag, message, status)) == MPI_SUCCESS && !flag) img_spin(&spins);
  return rc;
}

/* Receive the message of a matched probe; STATUS is there.  What is wrong with the message is in ERROR. */
static int receive_matched(void* buf, int count, MPI_Datatype type, MPI_Message* message, MPI_Status* status,
                           int* error)
{
  img_drained* d = img_drained_list;
  img_comm*    c;

  *error = MPI_SUCCESS;
  if (*message == MPI_MESSAGE_NO_PROC) {
    *message = MPI_MESSAGE_NULL;
    img_status_empty(status, MPI_PROC_NULL);
    return MPI_SUCCESS;
  }
  while (d != NULL && (MPI_Message)(MESSAGE | d->matched) != *message) d = d->next;
  if (d == NULL) return img_error(NULL, MPI_ERR_REQUEST);
  *message = MPI_MESSAGE_NULL;
  c = d->c;
  *error = img_drained_deliver(d, buf, count, type, c, status);
  img_comm_use(c, -1);
  return MPI_SUCCESS;
}

IMG_API int MPI_Mrecv(void* buf, int count, MPI_Datatype type, MPI_Message* message, MPI_Status* status)
{
  MPI_Status got;
  int        rc, error;

  if (!img_on) return scr_native_MPI_Mrecv(buf, count, type, message, status);
  img_enter();
  rc = receive_matched(buf, count, type, message, &got, &error);
  if (rc == MPI_SUCCESS) img_status_give(status, &got);
  return rc != MPI_SUCCESS ? rc : img_error(NULL, error);
}

IMG_API int MPI_Imrecv(void* buf, int count, MPI_Datatype type, MPI_Message* message, MPI_Request* handle)
{
  img_request* r;
  int          rc;

  if (!img_on) return scr_native_MPI_Imrecv(buf, count, type, message, handle);
  img_enter();
  r = img_request_make(RECV, buf, count, type, MPI_PROC_NULL, 0, img_comm_of(MPI_COMM_WORLD), 0);
  rc = receive_matched(buf, count, type, message, &r->status, &r->error);
  r->active = r->done = 1;
  *handle = img_request_handle(r);
  return rc;
}
