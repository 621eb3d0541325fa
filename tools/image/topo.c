/* ==== TOPOLOGIES ========================================================================================
** Cartesian and graph topologies, which are lists of neighbours, and the collectives among these.
**
** Uses       comm.c, plan.c
** Offers     img_topology_*; the calls of topologies and the collectives of neighbours.
** Invariants
**   Y1  Ranks are never reordered, as MPICH does not reorder them either.
**   Y2  In a cartesian topology what goes down a dimension arrives from above, also where both neighbours are the same.
** Failure    The error handler of the communicator.
** ====================================================================================================== */
#include "plan.h"

#include <stdlib.h>
#include <string.h>

#include "objects.h"

/* Arrays of a topology are in one piece: N[0] values, then N[1], and so on. */
typedef struct img_topology {
  int kind; /* MPI_CART: dimensions, periods; MPI_GRAPH: index, edges; MPI_DIST_GRAPH: sources, their weights, the same
               of destinations */
  int weighted;
  int n[4];
  int data[];
} topology;

static topology* make(int kind, const int* n, int weighted)
{
  size_t    bytes = sizeof(topology) + sizeof(int) * (size_t)(n[0] + n[1] + n[2] + n[3]);
  topology* t = img_alloc(bytes);

  if (t == NULL) abort();
  memset(t, 0, bytes);
  t->kind = kind, t->weighted = weighted;
  memcpy(t->n, n, sizeof t->n);
  return t;
}

/* The array I of T. */
static int* part(topology* t, int i)
{
  int* at = t->data;

  while (i-- > 0) at += t->n[i];
  return at;
}

static void set(topology* t, int i, const int* values)
{
  if (t->n[i] > 0) memcpy(part(t, i), values, (size_t)t->n[i] * sizeof *values);
}

struct img_topology* img_topology_copy(const struct img_topology* t)
{
  topology* copy = t != NULL ? make(t->kind, t->n, t->weighted) : NULL;

  if (t != NULL) memcpy(copy->data, t->data, sizeof(int) * (size_t)(t->n[0] + t->n[1] + t->n[2] + t->n[3]));
  return copy;
}

void img_topology_free(img_comm* c)
{
  free(c->topology);
  c->topology = NULL;
}

/* The topology of COMM, of this KIND; NULL, and the error in RC. */
static topology* topology_of(MPI_Comm comm, int kind, int* rc)
{
  img_comm* c = img_comm_of(comm);

  *rc = MPI_ERR_COMM;
  if (c == NULL) return NULL;
  *rc = MPI_SUCCESS;
  if (c->topology != NULL && c->topology->kind == kind) return c->topology;
  *rc = img_error(c, MPI_ERR_TOPOLOGY);
  return NULL;
}

/* A communicator of the first N ranks of C, with T: which is freed where this rank is none of them. */
static int make_comm(img_comm* c, int n, topology* t, MPI_Comm* made)
{
  int       rc;
  img_comm* with = img_comm_make(c, c->rank < n, n, c->to, &rc);

  *made = with != NULL ? img_comm_handle(with) : MPI_COMM_NULL;
  if (with != NULL) with->topology = t;
  else free(t);
  return rc;
}

/* ---- cartesian ---- */

/* The rank at COORDS, or MPI_PROC_NULL outside of what has an edge. */
static int rank_at(topology* t, const int* coords)
{
  const int *dims = part(t, 0), *periods = part(t, 1);
  int        i, rank = 0;

  for (i = 0; i < t->n[0]; i++) {
    int x = coords[i];

    if (periods[i]) x = (x % dims[i] + dims[i]) % dims[i];
    if (x < 0 || x >= dims[i]) return MPI_PROC_NULL;
    rank = rank * dims[i] + x;
  }
  return rank;
}

static void coords_of(topology* t, int rank, int n, int* coords)
{
  const int* dims = part(t, 0);
  int        i;

  for (i = t->n[0]; i-- > 0; rank /= dims[i])
    if (i < n) coords[i] = rank % dims[i];
}

/* The rank that is BY steps away from RANK in the dimension I. */
static int neighbour(topology* t, int rank, int i, int by)
{
  const int* dims = part(t, 0);
  int        stride = 1, j, x;

  for (j = i + 1; j < t->n[0]; j++) stride *= dims[j];
  x = rank / stride % dims[i];
  if (part(t, 1)[i]) return rank + (((x + by) % dims[i] + dims[i]) % dims[i] - x) * stride;
  return x + by >= 0 && x + by < dims[i] ? rank + by * stride : MPI_PROC_NULL;
}

IMG_NATIVE(MPI_Cart_create);
IMG_NATIVE(MPI_Cart_coords);
IMG_NATIVE(MPI_Cart_rank);
IMG_NATIVE(MPI_Cart_shift);
IMG_NATIVE(MPI_Cart_get);
IMG_NATIVE(MPI_Cartdim_get);
IMG_NATIVE(MPI_Cart_sub);
IMG_NATIVE(MPI_Cart_map);
IMG_NATIVE(MPI_Topo_test);

IMG_API int MPI_Cart_create(MPI_Comm comm, int n, const int dims[], const int periods[], int reorder, MPI_Comm* made)
{
  int       i, size = 1, sizes[4] = {n, n, 0, 0};
  topology* t;
  img_comm* c;

  if (!img_on) return scr_native_MPI_Cart_create(comm, n, dims, periods, reorder, made);
  *made = MPI_COMM_NULL;
  if ((c = img_comm_of(comm)) == NULL) return MPI_ERR_COMM;
  for (i = 0; i < n; i++) {
    if (dims[i] < 1) return img_error(c, MPI_ERR_DIMS);
    size *= dims[i];
  }
  if (size > c->size) return img_error(c, MPI_ERR_DIMS);
  t = make(MPI_CART, sizes, 0);
  set(t, 0, dims);
  for (i = 0; i < n; i++) part(t, 1)[i] = periods[i] != 0;
  return make_comm(c, size, t, made);
}

IMG_API int MPI_Cart_coords(MPI_Comm comm, int rank, int n, int coords[])
{
  topology* t;
  int       rc;

  if (!img_on) return scr_native_MPI_Cart_coords(comm, rank, n, coords);
  if ((t = topology_of(comm, MPI_CART, &rc)) == NULL) return rc;
  if (rank < 0 || rank >= img_comm_of(comm)->size) return img_error(img_comm_of(comm), MPI_ERR_RANK);
  coords_of(t, rank, n, coords);
  return MPI_SUCCESS;
}

IMG_API int MPI_Cart_rank(MPI_Comm comm, const int coords[], int* rank)
{
  topology* t;
  int       rc;

  if (!img_on) return scr_native_MPI_Cart_rank(comm, coords, rank);
  if ((t = topology_of(comm, MPI_CART, &rc)) == NULL) return rc;
  *rank = rank_at(t, coords);
  return *rank >= 0 ? MPI_SUCCESS : img_error(img_comm_of(comm), MPI_ERR_ARG);
}

IMG_API int MPI_Cart_shift(MPI_Comm comm, int i, int by, int* from, int* to)
{
  topology* t;
  int       rc, me;

  if (!img_on) return scr_native_MPI_Cart_shift(comm, i, by, from, to);
  if ((t = topology_of(comm, MPI_CART, &rc)) == NULL) return rc;
  if (i < 0 || i >= t->n[0]) return img_error(img_comm_of(comm), MPI_ERR_DIMS);
  me = img_comm_of(comm)->rank;
  *from = neighbour(t, me, i, -by);
  *to = neighbour(t, me, i, by);
  return MPI_SUCCESS;
}

IMG_API int MPI_Cart_get(MPI_Comm comm, int n, int dims[], int periods[], int coords[])
{
  topology* t;
  int       rc;

  if (!img_on) return scr_native_MPI_Cart_get(comm, n, dims, periods, coords);
  if ((t = topology_of(comm, MPI_CART, &rc)) == NULL) return rc;
  if (n > t->n[0]) n = t->n[0];
  memcpy(dims, part(t, 0), (size_t)n * sizeof *dims);
  memcpy(periods, part(t, 1), (size_t)n * sizeof *dims);
  coords_of(t, img_comm_of(comm)->rank, n, coords);
  return MPI_SUCCESS;
}

IMG_API int MPI_Cartdim_get(MPI_Comm comm, int* n)
{
  topology* t;
  int       rc;

  if (!img_on) return scr_native_MPI_Cartdim_get(comm, n);
  if ((t = topology_of(comm, MPI_CART, &rc)) == NULL) return rc;
  *n = t->n[0];
  return MPI_SUCCESS;
}

/* Those that agree in the dimensions that are not kept. */
IMG_API int MPI_Cart_sub(MPI_Comm comm, const int keep[], MPI_Comm* made)
{
  topology *t, *less;
  img_comm* c;
  int       rc, i, color = 0, n = 0, sizes[4] = {0, 0, 0, 0};
  int*      coords;

  if (!img_on) return scr_native_MPI_Cart_sub(comm, keep, made);
  *made = MPI_COMM_NULL;
  if ((t = topology_of(comm, MPI_CART, &rc)) == NULL) return rc;
  c = img_comm_of(comm);
  coords = img_alloc(((size_t)t->n[0] + 1) * sizeof *coords);
  if (coords == NULL) abort();
  coords_of(t, c->rank, t->n[0], coords);
  for (i = 0; i < t->n[0]; i++) {
    if (keep[i]) sizes[0]++, sizes[1]++;
    else color = color * part(t, 0)[i] + coords[i];
  }
  free(coords);
  less = make(MPI_CART, sizes, 0);
  for (i = 0; i < t->n[0]; i++) {
    if (!keep[i]) continue;
    part(less, 0)[n] = part(t, 0)[i];
    part(less, 1)[n++] = part(t, 1)[i];
  }
  if (n == 0) return make_comm(c, 1, less, made); /* as MPICH does: rank 0 has it */
  rc = MPI_Comm_split(comm, color, c->rank, made);
  if (rc == MPI_SUCCESS) img_comm_of(*made)->topology = less;
  else free(less);
  return rc;
}

IMG_API int MPI_Cart_map(MPI_Comm comm, int n, const int dims[], const int periods[], int* rank)
{
  img_comm* c;
  int       i, size = 1;

  if (!img_on) return scr_native_MPI_Cart_map(comm, n, dims, periods, rank);
  if ((c = img_comm_of(comm)) == NULL) return MPI_ERR_COMM;
  for (i = 0; i < n; i++) size *= dims[i];
  if (size > c->size) return img_error(c, MPI_ERR_DIMS);
  *rank = c->rank < size ? c->rank : MPI_UNDEFINED;
  return MPI_SUCCESS;
}

IMG_API int MPI_Topo_test(MPI_Comm comm, int* kind)
{
  img_comm* c;

  if (!img_on) return scr_native_MPI_Topo_test(comm, kind);
  if ((c = img_comm_of(comm)) == NULL) return MPI_ERR_COMM;
  *kind = c->topology != NULL ? c->topology->kind : MPI_UNDEFINED;
  return MPI_SUCCESS;
}

/* ---- graphs ---- */

IMG_NATIVE(MPI_Graph_create);
IMG_NATIVE(MPI_Graphdims_get);
IMG_NATIVE(MPI_Graph_get);
IMG_NATIVE(MPI_Graph_neighbors_count);
IMG_NATIVE(MPI_Graph_neighbors);
IMG_NATIVE(MPI_Graph_map);

/* The neighbours of RANK in a graph: their number; FIRST becomes where they are. */
static int graph_neighbours(topology* t, int rank, const int** first)
{
  const int* index = part(t, 0);
  int        begin = rank > 0 ? index[rank - 1] : 0;

  *first = part(t, 1) + begin;
  return index[rank] - begin;
}

IMG_API int MPI_Graph_create(MPI_Comm comm, int n, const int index[], const int edges[], int reorder, MPI_Comm* made)
{
  int       sizes[4] = {n, n > 0 ? index[n - 1] : 0, 0, 0};
  topology* t;
  img_comm* c;

  if (!img_on) return scr_native_MPI_Graph_create(comm, n, index, edges, reorder, made);
  *made = MPI_COMM_NULL;
  if ((c = img_comm_of(comm)) == NULL) return MPI_ERR_COMM;
  if (n > c->size) return img_error(c, MPI_ERR_ARG);
  t = make(MPI_GRAPH, sizes, 0);
  set(t, 0, index);
  set(t, 1, edges);
  return make_comm(c, n, t, made);
}

IMG_API int MPI_Graphdims_get(MPI_Comm comm, int* nodes, int* edges)
{
  topology* t;
  int       rc;

  if (!img_on) return scr_native_MPI_Graphdims_get(comm, nodes, edges);
  if ((t = topology_of(comm, MPI_GRAPH, &rc)) == NULL) return rc;
  *nodes = t->n[0];
  *edges = t->n[1];
  return MPI_SUCCESS;
}

IMG_API int MPI_Graph_get(MPI_Comm comm, int nodes, int count, int index[], int edges[])
{
  topology* t;
  int       rc, i;

  if (!img_on) return scr_native_MPI_Graph_get(comm, nodes, count, index, edges);
  if ((t = topology_of(comm, MPI_GRAPH, &rc)) == NULL) return rc;
  for (i = 0; i < nodes && i < t->n[0]; i++) index[i] = part(t, 0)[i];
  for (i = 0; i < count && i < t->n[1]; i++) edges[i] = part(t, 1)[i];
  return MPI_SUCCESS;
}

IMG_API int MPI_Graph_neighbors_count(MPI_Comm comm, int rank, int* n)
{
  const int* first;
  topology*  t;
  int        rc;

  if (!img_on) return scr_native_MPI_Graph_neighbors_count(comm, rank, n);
  if ((t = topology_of(comm, MPI_GRAPH, &rc)) == NULL) return rc;
  if (rank < 0 || rank >= t->n[0]) return img_error(img_comm_of(comm), MPI_ERR_RANK);
  *n = graph_neighbours(t, rank, &first);
  return MPI_SUCCESS;
}

IMG_API int MPI_Graph_neighbors(MPI_Comm comm, int rank, int most, int neighbours[])
{
  const int* first;
  topology*  t;
  int        rc, n, i;

  if (!img_on) return scr_native_MPI_Graph_neighbors(comm, rank, most, neighbours);
  if ((t = topology_of(comm, MPI_GRAPH, &rc)) == NULL) return rc;
  if (rank < 0 || rank >= t->n[0]) return img_error(img_comm_of(comm), MPI_ERR_RANK);
  n = graph_neighbours(t, rank, &first);
  for (i = 0; i < n && i < most; i++) neighbours[i] = first[i];
  return MPI_SUCCESS;
}

IMG_API int MPI_Graph_map(MPI_Comm comm, int n, const int index[], const int edges[], int* rank)
{
  img_comm* c;

  if (!img_on) return scr_native_MPI_Graph_map(comm, n, index, edges, rank);
  if ((c = img_comm_of(comm)) == NULL) return MPI_ERR_COMM;
  *rank = c->rank < n ? c->rank : MPI_UNDEFINED;
  return MPI_SUCCESS;
}

/* ---- distributed graphs ---- */

IMG_NATIVE(MPI_Dist_graph_create);
IMG_NATIVE(MPI_Dist_graph_create_adjacent);
IMG_NATIVE(MPI_Dist_graph_neighbors);
IMG_NATIVE(MPI_Dist_graph_neighbors_count);

static int is_weighted(const int* weights)
{
  return weights != MPI_UNWEIGHTED;
}

IMG_API int MPI_Dist_graph_create_adjacent(MPI_Comm comm, int ins, const int sources[], const int inweights[], int outs,
                                           const int destinations[], const int outweights[], MPI_Info info, int reorder,
                                           MPI_Comm* made)
{
  int       weighted = is_weighted(inweights), sizes[4] = {ins, ins, outs, outs};
  topology* t;
  img_comm* c;

  if (!img_on)
    return scr_native_MPI_Dist_graph_create_adjacent(comm, ins, sources, inweights, outs, destinations, outweights,
                                                     info, reorder, made);
  *made = MPI_COMM_NULL;
  if ((c = img_comm_of(comm)) == NULL) return MPI_ERR_COMM;
  t = make(MPI_DIST_GRAPH, sizes, weighted);
  set(t, 0, sources);
  if (weighted) set(t, 1, inweights);
  set(t, 2, destinations);
  if (weighted) set(t, 3, outweights);
  return make_comm(c, c->size, t, made);
}

/* Of COUNT edges {from, to, weight}, those that end (SIDE 1) or begin (SIDE 0) at ME, into T, or only counted. */
static int pick(const int (*edges)[3], int count, int side, int me, topology* t)
{
  int i, n = 0;

  for (i = 0; i < count; i++) {
    if (edges[i][side] != me) continue;
    if (t != NULL) {
      part(t, side ? 0 : 2)[n] = edges[i][!side];
      part(t, side ? 1 : 3)[n] = edges[i][2];
    }
    n++;
  }
  return n;
}

/* All edges of all ranks, in the order of these; COUNT becomes their number. */
static int (*gather_edges(img_comm* c, const int (*mine)[3], int n, int* count, int* rc))[3]
{
  int* counts = img_alloc(2 * (size_t)c->size * sizeof *counts);
  int* places = counts + c->size;
  int(*all)[3], i;

  if (counts == NULL) abort();
  n *= 3;
  *rc = MPI_Allgather(&n, 1, MPI_INT, counts, 1, MPI_INT, img_comm_handle(c));
  for (*count = i = 0; i < c->size; *count += counts[i++]) places[i] = *count;
  all = img_alloc(((size_t)*count + 1) * sizeof(int));
  if (all == NULL) abort();
  if (*rc == MPI_SUCCESS) *rc = MPI_Allgatherv(mine, n, MPI_INT, all, counts, places, MPI_INT, img_comm_handle(c));
  *count /= 3;
  free(counts);
  return all;
}

IMG_API int MPI_Dist_graph_create(MPI_Comm comm, int n, const int sources[], const int degrees[],
                                  const int destinations[], const int weights[], MPI_Info info, int reorder,
                                  MPI_Comm* made)
{
  int i, j, rc, count = 0, sizes[4], weighted = is_weighted(weights);
  int(*mine)[3], (*all)[3];
  topology* t;
  img_comm* c;

  if (!img_on)
    return scr_native_MPI_Dist_graph_create(comm, n, sources, degrees, destinations, weights, info, reorder, made);
  *made = MPI_COMM_NULL;
  if ((c = img_comm_of(comm)) == NULL) return MPI_ERR_COMM;
  for (i = 0; i < n; i++) count += degrees[i];
  mine = img_alloc(((size_t)count + 1) * sizeof *mine);
  if (mine == NULL) abort();
  for (count = i = 0; i < n; i++)
    for (j = 0; j < degrees[i]; j++, count++) {
      mine[count][0] = sources[i], mine[count][1] = destinations[count];
      mine[count][2] = weighted ? weights[count] : 0;
    }
  all = gather_edges(c, mine, count, &count, &rc);
  free(mine);
  sizes[0] = sizes[1] = pick(all, count, 1, c->rank, NULL);
  sizes[2] = sizes[3] = pick(all, count, 0, c->rank, NULL);
  t = make(MPI_DIST_GRAPH, sizes, weighted);
  pick(all, count, 1, c->rank, t);
  pick(all, count, 0, c->rank, t);
  free(all);
  return rc != MPI_SUCCESS ? rc : make_comm(c, c->size, t, made);
}

IMG_API int MPI_Dist_graph_neighbors_count(MPI_Comm comm, int* ins, int* outs, int* weighted)
{
  topology* t;
  int       rc;

  if (!img_on) return scr_native_MPI_Dist_graph_neighbors_count(comm, ins, outs, weighted);
  if ((t = topology_of(comm, MPI_DIST_GRAPH, &rc)) == NULL) return rc;
  *ins = t->n[0];
  *outs = t->n[2];
  *weighted = t->weighted;
  return MPI_SUCCESS;
}

IMG_API int MPI_Dist_graph_neighbors(MPI_Comm comm, int ins, int sources[], int inweights[], int outs,
                                     int destinations[], int outweights[])
{
  topology* t;
  int       rc, i;

  if (!img_on)
    return scr_native_MPI_Dist_graph_neighbors(comm, ins, sources, inweights, outs, destinations, outweights);
  if ((t = topology_of(comm, MPI_DIST_GRAPH, &rc)) == NULL) return rc;
  for (i = 0; i < ins && i < t->n[0]; i++) {
    sources[i] = part(t, 0)[i];
    if (t->weighted && is_weighted(inweights)) inweights[i] = part(t, 1)[i];
  }
  for (i = 0; i < outs && i < t->n[2]; i++) {
    destinations[i] = part(t, 2)[i];
    if (t->weighted && is_weighted(outweights)) outweights[i] = part(t, 3)[i];
  }
  return MPI_SUCCESS;
}

/* ---- collectives of neighbours ---- */

/* The neighbours that this rank sends to, or receives from: their number; RANKS become theirs. */
static int neighbours(img_plan* p, int receive, const int** ranks)
{
  topology* t = p->c->topology;
  int *     list, i;

  if (t == NULL) p->rc = img_error(p->c, MPI_ERR_TOPOLOGY);
  if (t == NULL) return 0;
  if (t->kind == MPI_GRAPH) return graph_neighbours(t, p->rank, ranks);
  *ranks = part(t, receive ? 0 : 2);
  if (t->kind == MPI_DIST_GRAPH) return t->n[receive ? 0 : 2];
  list = img_plan_room(p, 2 * t->n[0], MPI_INT);
  for (i = 0; i < 2 * t->n[0]; i++) list[i] = neighbour(t, p->rank, i / 2, i % 2 ? 1 : -1);
  *ranks = list;
  return 2 * t->n[0];
}

/* From each neighbour its piece; in a cartesian topology in the order in which they are sent (Y2). */
static void exchange(img_plan* p, const img_pieces* from, const img_pieces* to)
{
  const int* ranks = NULL;
  int        i, n = neighbours(p, 1, &ranks), swap = n > 0 && p->c->topology->kind == MPI_CART;

  for (i = 0; i < n; i++)
    if (ranks[i ^ swap] != MPI_PROC_NULL) img_plan_recv_piece(p, to, i ^ swap, ranks[i ^ swap]);
  n = neighbours(p, 0, &ranks);
  for (i = 0; i < n; i++)
    if (ranks[i] != MPI_PROC_NULL) img_plan_send_piece(p, from, i, ranks[i]);
}

/* The same to all: each piece is where the last one was. */
static const int* zeros(img_plan* p, const int** counts, int count)
{
  const int* ranks;
  int        i, n = neighbours(p, 0, &ranks);
  int*       places = img_plan_room(p, 2 * n, MPI_INT);

  for (i = 0; i < n; i++) places[i] = 0, places[n + i] = count;
  *counts = places + n;
  return places;
}

static void allgather(img_plan* p, const void* in, int count, MPI_Datatype type, void* out, int outs,
                      MPI_Datatype outtype)
{
  img_pieces from = {(char*)in, 0, NULL, NULL, type, NULL, NULL, NULL};
  img_pieces to = {out, outs, NULL, NULL, outtype, NULL, NULL, NULL};

  from.places = zeros(p, &from.counts, count);
  exchange(p, &from, &to);
}

static void allgatherv(img_plan* p, const void* in, int count, MPI_Datatype type, void* out, const int* outs,
                       const int* places, MPI_Datatype outtype)
{
  img_pieces from = {(char*)in, 0, NULL, NULL, type, NULL, NULL, NULL};
  img_pieces to = {out, 0, outs, places, outtype, NULL, NULL, NULL};

  from.places = zeros(p, &from.counts, count);
  exchange(p, &from, &to);
}

static void alltoall(img_plan* p, const void* in, int count, MPI_Datatype type, void* out, int outs,
                     MPI_Datatype outtype)
{
  img_pieces from = {(char*)in, count, NULL, NULL, type, NULL, NULL, NULL};
  img_pieces to = {out, outs, NULL, NULL, outtype, NULL, NULL, NULL};

  exchange(p, &from, &to);
}

static void alltoallv(img_plan* p, const void* in, const int* counts, const int* places, MPI_Datatype type, void* out,
                      const int* outs, const int* outplaces, MPI_Datatype outtype)
{
  img_pieces from = {(char*)in, 0, counts, places, type, NULL, NULL, NULL};
  img_pieces to = {out, 0, outs, outplaces, outtype, NULL, NULL, NULL};

  exchange(p, &from, &to);
}

static void alltoallw(img_plan* p, const void* in, const int* counts, const MPI_Aint* places, const MPI_Datatype* types,
                      void* out, const int* outs, const MPI_Aint* outplaces, const MPI_Datatype* outtypes)
{
  img_pieces from = {(char*)in, 0, counts, NULL, MPI_BYTE, types, NULL, places};
  img_pieces to = {out, 0, outs, NULL, MPI_BYTE, outtypes, NULL, outplaces};

  exchange(p, &from, &to);
}

IMG_CALLS(Neighbor_allgather, MPI_Ineighbor_allgather, allgather,
          (const void* in, int count, MPI_Datatype type, void* out, int outs, MPI_Datatype outtype),
          (in, count, type, out, outs, outtype))
IMG_CALLS(Neighbor_allgatherv, MPI_Ineighbor_allgatherv, allgatherv,
          (const void* in, int count, MPI_Datatype type, void* out, const int outs[], const int places[],
           MPI_Datatype outtype),
          (in, count, type, out, outs, places, outtype))
IMG_CALLS(Neighbor_alltoall, MPI_Ineighbor_alltoall, alltoall,
          (const void* in, int count, MPI_Datatype type, void* out, int outs, MPI_Datatype outtype),
          (in, count, type, out, outs, outtype))
IMG_CALLS(Neighbor_alltoallv, MPI_Ineighbor_alltoallv, alltoallv,
          (const void* in, const int counts[], const int places[], MPI_Datatype type, void* out, const int outs[],
           const int outplaces[], MPI_Datatype outtype),
          (in, counts, places, type, out, outs, outplaces, outtype))
IMG_CALLS(Neighbor_alltoallw, MPI_Ineighbor_alltoallw, alltoallw,
          (const void* in, const int counts[], const MPI_Aint places[], const MPI_Datatype types[], void* out,
           const int outs[], const MPI_Aint outplaces[], const MPI_Datatype outtypes[]),
          (in, counts, places, types, out, outs, outplaces, outtypes))
