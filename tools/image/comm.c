/* ==== COMMUNICATORS =====================================================================================
** Communicators are records of the saved side: lists of ranks of the world, and a channel for their messages.
**
** Uses       agree.c (channels), plan.c (their collectives), group.c, attr.c
** Offers     img_comm_*, img_error; the calls that make, free, compare and name communicators.
** Invariants
**   N1  A channel is a native duplicate of the world.  Communicators share it if no rank is in two of them: a new one
**       takes a channel that is free on all its members, which they agree on by messages, as on all else.
**   N2  So nothing native is made or freed with a communicator, nobody waits natively, and a restart has nothing to
**       make again but as many channels as before.
**   N3  A channel is free again when the communicator is freed and none of its requests is left.
** Failure    The error handler of the communicator.
** ====================================================================================================== */
#include "plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "objects.h"

IMG_NATIVE(MPI_Abort);
IMG_NATIVE(MPI_Comm_set_errhandler);
IMG_NATIVE(MPI_Error_string);
IMG_NATIVE(MPI_Comm_rank);
IMG_NATIVE(MPI_Comm_size);
IMG_NATIVE(MPI_Comm_dup);
IMG_NATIVE(MPI_Comm_split);
IMG_NATIVE(MPI_Comm_split_type);
IMG_NATIVE(MPI_Comm_create);
IMG_NATIVE(MPI_Comm_create_group);
IMG_NATIVE(MPI_Comm_free);
IMG_NATIVE(MPI_Comm_group);
IMG_NATIVE(MPI_Comm_compare);
IMG_NATIVE(MPI_Comm_test_inter);
IMG_NATIVE(MPI_Comm_set_name);
IMG_NATIVE(MPI_Comm_get_name);

#define COMM  0x71000000
#define WORDS 4 /* of the mask of free channels */

img_comm*        img_world;
static img_comm* comms[IMG_COMMS];
static int       seen = 2; /* so many channels this rank has taken into account: one that is agreed on is among them */

/* ---- the table ---- */

img_comm* img_comm_find(MPI_Comm handle)
{
  int       slot = handle & 0xffffff;
  img_comm* c = NULL;

  if (handle == MPI_COMM_SELF) c = comms[1];
  if ((handle & 0xff000000) == COMM && slot < IMG_COMMS) c = comms[slot];
  if (c != NULL && !c->freed) return c;
  img_error(NULL, MPI_ERR_COMM);
  return NULL;
}

MPI_Comm img_comm_handle(const img_comm* c)
{
  if (c->slot == 0) return MPI_COMM_WORLD;
  return c->slot == 1 ? MPI_COMM_SELF : (MPI_Comm)(COMM | c->slot);
}

static img_comm* make(int slot, int size, const int* ranks)
{
  img_comm* c = img_alloc(sizeof *c);
  int       i;

  if (c == NULL) abort();
  memset(c, 0, sizeof *c);
  c->to = img_alloc((size_t)(size + img_ranks) * sizeof *c->to);
  if (c->to == NULL) abort();
  c->back = c->to + size;
  c->slot = slot, c->size = size, c->handler = MPI_ERRORS_ARE_FATAL;
  for (i = 0; i < img_ranks; i++) c->back[i] = -1;
  for (i = 0; i < size; i++) {
    c->to[i] = ranks != NULL ? ranks[i] : i;
    c->back[c->to[i]] = i;
  }
  c->rank = c->back[img_rank];
  comms[slot] = c;
  return c;
}

void img_comm_start(void)
{
  img_world = make(0, img_ranks, NULL);
  snprintf(img_world->name, MPI_MAX_OBJECT_NAME, "MPI_COMM_WORLD");
  snprintf(make(1, 1, &img_rank)->name, MPI_MAX_OBJECT_NAME, "MPI_COMM_SELF");
}

void img_comm_end(img_comm* c)
{
  img_forget_messages(c->slot); /* N3 */
  comms[c->slot] = NULL;
  free(c->to);
  free(c);
}

/* ---- errors: what is fatal, MPI says itself; its channel knows ---- */

static int is_fatal(MPI_Errhandler handler)
{
  return handler == MPI_ERRORS_ARE_FATAL || handler == MPI_ERRORS_ABORT;
}

void img_comm_handler(img_comm* c, MPI_Errhandler handler)
{
  c->handler = handler;
  scr_native_MPI_Comm_set_errhandler(img_channel[c->slot],
                                     is_fatal(handler) ? MPI_ERRORS_ARE_FATAL : MPI_ERRORS_RETURN);
}

void img_comm_resumed(void)
{
  int slot;

  img_channels_make(seen);
  for (slot = 0; slot < IMG_COMMS; slot++)
    if (comms[slot] != NULL) img_comm_handler(comms[slot], comms[slot]->handler);
}

int img_error_of(img_comm* c, int code)
{
  char text[MPI_MAX_ERROR_STRING] = "";
  int  n;

  if (c == NULL) c = img_world;
  if (c == NULL) img_die("the program calls MPI before MPI_Init");
  if (!is_fatal(c->handler)) return img_errhandler_call(c, code);
  scr_native_MPI_Error_string(code, text, &n);
  img_say("fatal error of MPI on %s: %s", c->name[0] != '\0' ? c->name : "a communicator", text);
  usleep(200000); /* MPI_Abort ends the launcher, too, which else loses the message */
  scr_native_MPI_Abort(MPI_COMM_WORLD, code);
  return code;
}

/* ---- making one (N1) ---- */

/* A collective of those who make a communicator: all of FROM, or the SIZE ranks TO, of which this is ME, by TAG. */
typedef struct {
  img_comm*  from;
  const int* to;
  int        size, me, tag;
} makers;

static img_plan* plan_of(const makers* m)
{
  int rc;

  if (m->from != NULL) return img_plan_new(img_comm_handle(m->from), 0, &rc);
  return img_plan_over(m->to, m->size, m->me, m->tag);
}

/* A channel that is free on all makers that are members, or -1 if there is none. */
static int agree_on_channel(const makers* m, int member)
{
  int slot, have, spins = 0;

  for (;;) {
    uint64_t  mine[WORDS], all[WORDS];
    img_plan* p;

    have = img_channels();
    if (have > seen) seen = have;
    memset(mine, member ? 0 : -1, sizeof mine);
    for (slot = 2; slot < have && member; slot++) {
      if (comms[slot] != NULL) continue;
      img_forget_messages(slot); /* to a communicator that was freed before they came */
      mine[slot / 64] |= (uint64_t)1 << slot % 64;
    }
    p = plan_of(m);
    img_plan_allreduce(p, mine, all, WORDS, MPI_UINT64_T, MPI_BAND);
    if (img_plan_run(p) != MPI_SUCCESS) return -1;
    for (slot = 2; slot < IMG_COMMS; slot++)
      if (all[slot / 64] >> slot % 64 & 1) return slot;
    p = plan_of(m); /* the fewest that any has: all decide alike */
    img_plan_allreduce(p, member ? &have : (int[]){IMG_COMMS}, &slot, 1, MPI_INT, MPI_MIN);
    if (img_plan_run(p) != MPI_SUCCESS || slot == IMG_COMMS) return -1;
    for (; img_channels() <= slot; img_spin(&spins)) img_channels_ask(slot + 4 < IMG_COMMS ? slot + 4 : IMG_COMMS);
  }
}

static img_comm* make_by(const makers* m, int member, int size, const int* ranks, int* rc)
{
  int       slot = agree_on_channel(m, member);
  img_comm* c;

  *rc = MPI_SUCCESS;
  if (!member) return NULL;
  if (slot < 0) {
    img_say("no more than %d communicators can live at a time", IMG_COMMS);
    *rc = img_error(m->from, MPI_ERR_OTHER);
    return NULL;
  }
  c = make(slot, size, ranks);
  img_errhandler_set(c, m->from != NULL ? m->from->handler : MPI_ERRORS_ARE_FATAL);
  return c;
}

img_comm* img_comm_make(img_comm* from, int member, int size, const int* ranks, int* rc)
{
  makers m = {from, NULL, 0, 0, 0};

  return make_by(&m, member, size, ranks, rc);
}

static void give(const img_comm* c, MPI_Comm* made)
{
  *made = c != NULL ? img_comm_handle(c) : MPI_COMM_NULL;
}

/* ---- the calls ---- */

IMG_API int MPI_Comm_rank(MPI_Comm comm, int* rank)
{
  img_comm* c;

  if (!img_on) return scr_native_MPI_Comm_rank(comm, rank);
  if ((c = img_comm_of(comm)) == NULL) return MPI_ERR_COMM;
  *rank = c->rank;
  return MPI_SUCCESS;
}

IMG_API int MPI_Comm_size(MPI_Comm comm, int* size)
{
  img_comm* c;

  if (!img_on) return scr_native_MPI_Comm_size(comm, size);
  if ((c = img_comm_of(comm)) == NULL) return MPI_ERR_COMM;
  *size = c->size;
  return MPI_SUCCESS;
}

IMG_API int MPI_Comm_test_inter(MPI_Comm comm, int* flag)
{
  if (!img_on) return scr_native_MPI_Comm_test_inter(comm, flag);
  *flag = 0;
  return img_comm_of(comm) != NULL ? MPI_SUCCESS : MPI_ERR_COMM;
}

IMG_API int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* made)
{
  img_comm *c, *copy;
  int       rc;

  if (!img_on) return scr_native_MPI_Comm_dup(comm, made);
  *made = MPI_COMM_NULL;
  if ((c = img_comm_of(comm)) == NULL) return MPI_ERR_COMM;
  copy = img_comm_make(c, 1, c->size, c->to, &rc);
  if (copy == NULL) return rc;
  give(copy, made);
  copy->topology = img_topology_copy(c->topology);
  rc = img_attributes_copy(c, copy);
  if (rc == MPI_SUCCESS) return rc;
  MPI_Comm_free(made);
  return img_error(c, rc);
}

/* Hints are taken, and none is in use. */
IMG_NATIVE(MPI_Comm_dup_with_info);
IMG_NATIVE(MPI_Comm_set_info);
IMG_NATIVE(MPI_Comm_get_info);

IMG_API int MPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* made)
{
  return img_on ? MPI_Comm_dup(comm, made) : scr_native_MPI_Comm_dup_with_info(comm, info, made);
}

IMG_API int MPI_Comm_set_info(MPI_Comm comm, MPI_Info info)
{
  if (!img_on) return scr_native_MPI_Comm_set_info(comm, info);
  return img_comm_of(comm) != NULL ? MPI_SUCCESS : MPI_ERR_COMM;
}

IMG_API int MPI_Comm_get_info(MPI_Comm comm, MPI_Info* info)
{
  if (!img_on) return scr_native_MPI_Comm_get_info(comm, info);
  return img_comm_of(comm) != NULL ? MPI_Info_create(info) : MPI_ERR_COMM;
}

/* What a rank says in a split. */
typedef struct {
  int color, key, rank;
} choice;

static int compare(const void* a, const void* b)
{
  const choice *x = a, *y = b;

  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  return x->rank < y->rank ? -1 : x->rank > y->rank;
}

static int split(img_comm* c, int color, int key, MPI_Comm* made)
{
  choice    mine = {color, key, c->rank};
  choice*   all = img_alloc((size_t)c->size * sizeof *all);
  int*      ranks = img_alloc((size_t)c->size * sizeof *ranks);
  img_plan* p;
  int       i, n = 0, rc;

  if (all == NULL || ranks == NULL) abort();
  p = img_plan_new(img_comm_handle(c), 0, &rc);
  img_plan_allgather(p, &mine, 3, MPI_INT, all, 3, MPI_INT);
  rc = img_plan_run(p);
  for (i = 0; i < c->size; i++)
    if (all[i].color == color) all[n++] = all[i];
  qsort(all, (size_t)n, sizeof *all, compare);
  for (i = 0; i < n; i++) ranks[i] = c->to[all[i].rank];
  if (rc == MPI_SUCCESS) give(img_comm_make(c, color != MPI_UNDEFINED, n, ranks, &rc), made);
  free(all);
  free(ranks);
  return rc;
}

IMG_API int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* made)
{
  img_comm* c;

  if (!img_on) return scr_native_MPI_Comm_split(comm, color, key, made);
  *made = MPI_COMM_NULL;
  if ((c = img_comm_of(comm)) == NULL) return MPI_ERR_COMM;
  if (color < 0 && color != MPI_UNDEFINED) return img_error(c, MPI_ERR_ARG);
  return split(c, color, key, made);
}

/* The ranks of a node, as it is now: those whose host has the same name.  Ranks move when a job restarts. */
IMG_API int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made)
{
  char      name[MPI_MAX_PROCESSOR_NAME] = "", *all;
  img_comm* c;
  img_plan* p;
  int       n, rc, color = 0;

  if (!img_on) return scr_native_MPI_Comm_split_type(comm, type, key, info, made);
  *made = MPI_COMM_NULL;
  if ((c = img_comm_of(comm)) == NULL) return MPI_ERR_COMM;
  if (type != MPI_COMM_TYPE_SHARED && type != MPI_UNDEFINED) {
    img_say("MPI_Comm_split_type does not work in programs with images but for MPI_COMM_TYPE_SHARED");
    return img_error(c, MPI_ERR_ARG);
  }
  MPI_Get_processor_name(name, &n);
  all = img_alloc((size_t)c->size * sizeof name);
  if (all == NULL) abort();
  p = img_plan_new(comm, 0, &rc);
  img_plan_allgather(p, name, sizeof name, MPI_CHAR, all, sizeof name, MPI_CHAR);
  rc = img_plan_run(p);
  while (rc == MPI_SUCCESS && strcmp(all + (size_t)color * sizeof name, name) != 0) color++;
  free(all);
  return rc != MPI_SUCCESS ? rc : split(c, type == MPI_UNDEFINED ? MPI_UNDEFINED : color, key, made);
}

IMG_API int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* made)
{
  img_comm*  c;
  img_group* g;
  int        rc;

  if (!img_on) return scr_native_MPI_Comm_create(comm, group, made);
  *made = MPI_COMM_NULL;
  if ((c = img_comm_of(comm)) == NULL) return MPI_ERR_COMM;
  if ((g = img_group_of(group)) == NULL) return MPI_ERR_GROUP;
  give(img_comm_make(c, img_group_rank(g) >= 0, g->size, g->ranks, &rc), made);
  return rc;
}

IMG_API int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* made)
{
  img_comm*  c;
  img_group* g;
  makers     m;
  int        rc;

  if (!img_on) return scr_native_MPI_Comm_create_group(comm, group, tag, made);
  *made = MPI_COMM_NULL;
  if ((c = img_comm_of(comm)) == NULL) return MPI_ERR_COMM;
  if ((g = img_group_of(group)) == NULL) return MPI_ERR_GROUP;
  if (img_group_rank(g) < 0) return MPI_SUCCESS;
  m.from = NULL, m.to = g->ranks, m.size = g->size, m.me = img_group_rank(g), m.tag = tag;
  c = make_by(&m, 1, g->size, g->ranks, &rc);
  give(c, made);
  if (c != NULL) img_errhandler_set(c, img_comm_of(comm)->handler);
  return rc;
}

IMG_API int MPI_Comm_free(MPI_Comm* comm)
{
  img_comm* c;
  int       rc;

  if (!img_on) return scr_native_MPI_Comm_free(comm);
  img_enter();
  if ((c = img_comm_of(*comm)) == NULL) return MPI_ERR_COMM;
  if (c->slot < 2) return img_error(c, MPI_ERR_COMM);
  rc = img_attributes_free(c);
  if (rc != MPI_SUCCESS) return img_error(c, rc);
  img_errhandler_set(c, MPI_ERRORS_ARE_FATAL);
  img_topology_free(c);
  c->freed = 1;
  img_comm_use(c, 0);
  *comm = MPI_COMM_NULL;
  return MPI_SUCCESS;
}

IMG_NATIVE(MPI_Comm_disconnect);

/* Requests that are under way keep what they need. */
IMG_API int MPI_Comm_disconnect(MPI_Comm* comm)
{
  return img_on ? MPI_Comm_free(comm) : scr_native_MPI_Comm_disconnect(comm);
}

/* There is no communicator with a remote group. */
IMG_NATIVE(MPI_Comm_remote_size);
IMG_NATIVE(MPI_Comm_remote_group);

IMG_API int MPI_Comm_remote_size(MPI_Comm comm, int* size)
{
  return img_on ? img_error(img_comm_of(comm), MPI_ERR_COMM) : scr_native_MPI_Comm_remote_size(comm, size);
}

IMG_API int MPI_Comm_remote_group(MPI_Comm comm, MPI_Group* group)
{
  return img_on ? img_error(img_comm_of(comm), MPI_ERR_COMM) : scr_native_MPI_Comm_remote_group(comm, group);
}

IMG_API int MPI_Comm_group(MPI_Comm comm, MPI_Group* group)
{
  img_comm* c;

  if (!img_on) return scr_native_MPI_Comm_group(comm, group);
  if ((c = img_comm_of(comm)) == NULL) return MPI_ERR_COMM;
  *group = img_group_make(c->size, c->to);
  return MPI_SUCCESS;
}

IMG_API int MPI_Comm_compare(MPI_Comm one, MPI_Comm other, int* result)
{
  img_comm *a, *b;

  if (!img_on) return scr_native_MPI_Comm_compare(one, other, result);
  if ((a = img_comm_of(one)) == NULL || (b = img_comm_of(other)) == NULL) return MPI_ERR_COMM;
  *result = img_ranks_compare(a->size, a->to, b->size, b->to);
  if (*result == MPI_IDENT && a != b) *result = MPI_CONGRUENT;
  return MPI_SUCCESS;
}

IMG_API int MPI_Comm_set_name(MPI_Comm comm, const char* name)
{
  img_comm* c;

  if (!img_on) return scr_native_MPI_Comm_set_name(comm, name);
  if ((c = img_comm_of(comm)) == NULL) return MPI_ERR_COMM;
  snprintf(c->name, sizeof c->name, "%s", name);
  return MPI_SUCCESS;
}

IMG_API int MPI_Comm_get_name(MPI_Comm comm, char* name, int* length)
{
  img_comm* c;

  if (!img_on) return scr_native_MPI_Comm_get_name(comm, name, length);
  if ((c = img_comm_of(comm)) == NULL) return MPI_ERR_COMM;
  snprintf(name, MPI_MAX_OBJECT_NAME, "%s", c->name);
  *length = (int)strlen(name);
  return MPI_SUCCESS;
}

IMG_API int MPI_Abort(MPI_Comm comm, int code)
{
  if (!img_on) return scr_native_MPI_Abort(comm, code);
  return scr_native_MPI_Abort(MPI_COMM_WORLD, code);
}
