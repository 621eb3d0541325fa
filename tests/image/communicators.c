/*
** communicators.c STEPS - communicators of all kinds, made, used and freed all the time: duplicates, splits, subsets,
** grids, graphs; with messages and collectives on each, attributes, names, error handlers.  For 4 ranks or more: on
** a communicator of one rank MPICH itself waits for ever for a message whose request was freed.
*/
#include <mpi.h>

#include "at.h"

#define KEPT 6 /* steps that a communicator lives */

static int      rank, size, copies, deletions, errors;
static unsigned sum;
static MPI_Comm kept[KEPT];

static void add(int x)
{
  sum = sum * 31 + (unsigned)x;
}

/* A message around COMM from anybody, and a collective, while another one is under way. */
static void use(MPI_Comm comm, int step)
{
  int         me, n, x, y = -1, total = 0, all = 0;
  MPI_Request r[2];
  MPI_Status  s[2];

  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &n);
  x = step * 100 + me;
  MPI_Iallreduce(&x, &total, 1, MPI_INT, MPI_SUM, comm, &r[0]);
  MPI_Irecv(&y, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &r[1]);
  point(rank);
  MPI_Send(&x, 1, MPI_INT, (me + 1) % n, step, comm);
  MPI_Waitall(2, r, s);
  add(y);
  add(s[1].MPI_SOURCE);
  add(s[1].MPI_TAG);
  add(total);
  point(rank);
  MPI_Allreduce(&y, &all, 1, MPI_INT, MPI_MAX, comm);
  add(all);
}

/* A message that is received after its communicator lived for a while. */
static void late(MPI_Comm comm, int step, int receive)
{
  static int  out[KEPT];
  MPI_Request r;
  int         me, n, x;

  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &n);
  if (receive) {
    MPI_Recv(&x, 1, MPI_INT, (me + n - 1) % n, 77, comm, MPI_STATUS_IGNORE);
    add(x);
    return;
  }
  out[step % KEPT] = step * 7 + rank;
  MPI_Isend(&out[step % KEPT], 1, MPI_INT, (me + 1) % n, 77, comm, &r);
  MPI_Request_free(&r);
}

static void splits(int step)
{
  MPI_Comm half, again, node;
  int      me;

  MPI_Comm_split(MPI_COMM_WORLD, (rank + step) % 2, -rank, &half);
  use(half, step);
  MPI_Comm_split(half, step % 3 ? 0 : MPI_UNDEFINED, 0, &again);
  if (again != MPI_COMM_NULL) {
    use(again, step);
    MPI_Comm_free(&again);
  }
  MPI_Comm_split_type(half, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_rank(node, &me);
  add(me);
  point(rank);
  MPI_Comm_free(&node);
  if (step >= KEPT) {
    late(kept[step % KEPT], step - KEPT, 1);
    MPI_Comm_free(&kept[step % KEPT]);
  }
  MPI_Comm_dup(half, &kept[step % KEPT]);
  late(kept[step % KEPT], step, 0);
  MPI_Comm_free(&half);
}

static void subsets(int step)
{
  MPI_Group   world, odd, even, both;
  MPI_Comm    comm;
  int         ranks[64], places[64], i, n = 0, result;
  MPI_Request r;
  int         x = step, y = 0;

  for (i = 1; i < size; i += 2) ranks[n++] = i;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, n, ranks, &odd);
  MPI_Group_excl(world, n, ranks, &even);
  MPI_Comm_create(MPI_COMM_WORLD, step % 2 ? odd : even, &comm);
  if (comm != MPI_COMM_NULL) {
    use(comm, step);
    MPI_Comm_free(&comm);
  }
  MPI_Comm_create_group(MPI_COMM_WORLD, rank % 2 ? odd : even, step, &comm);
  if (comm != MPI_COMM_NULL) {
    int me, many;

    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &many);
    MPI_Irecv(&y, 1, MPI_INT, (me + many - 1) % many, 5, comm, &r);
    MPI_Send(&x, 1, MPI_INT, (me + 1) % many, 5, comm);
    MPI_Comm_free(&comm); /* the request lives on */
    point(rank);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    add(y);
  }
  MPI_Group_union(odd, even, &both);
  MPI_Group_compare(both, world, &result);
  add(result == MPI_SIMILAR ? 3 : result == MPI_IDENT);
  MPI_Group_translate_ranks(odd, n, (int[]){0, 1, 2, 3, 4, 5, 6, 7}, both, places);
  for (i = 0; i < n; i++) add(places[i]);
  MPI_Group_free(&world);
  MPI_Group_free(&odd);
  MPI_Group_free(&even);
  MPI_Group_free(&both);
}

static void grids(int step)
{
  int      dims[2] = {0, 0}, periods[2] = {1, step % 2}, coords[2], from, to, x = step + rank, y = -5, in[4] = {0};
  MPI_Comm grid, row;

  MPI_Dims_create(size, 2, dims);
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &grid);
  MPI_Cart_coords(grid, rank, 2, coords);
  add(coords[0] * 10 + coords[1]);
  MPI_Cart_shift(grid, step % 2, 1, &from, &to);
  MPI_Sendrecv(&x, 1, MPI_INT, to, 2, &y, 1, MPI_INT, from, 2, grid, MPI_STATUS_IGNORE);
  add(y);
  MPI_Neighbor_allgather(&x, 1, MPI_INT, in, 1, MPI_INT, grid);
  for (x = 0; x < 4; x++) add(in[x]);
  point(rank);
  MPI_Cart_sub(grid, (int[]){0, 1}, &row);
  use(row, step);
  MPI_Comm_free(&grid);
  MPI_Comm_free(&row);
}

/* Each rank sends to the next, and to the one two further on. */
static void graphs(int step)
{
  int      sources[2] = {(rank + size - 1) % size, (rank + 2 * size - 2) % size}, i, n, m, w, degrees[1] = {2};
  int      targets[2] = {(rank + 1) % size, (rank + 2) % size}, out[2] = {step + rank, step - rank}, in[2] = {0, 0};
  int      weights[2] = {rank + 1, rank + 2}, from[8], to[8], fromweights[8], toweights[8];
  MPI_Comm graph;

  if (step % 2)
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, sources, MPI_UNWEIGHTED, 2, targets, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &graph);
  else MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, degrees, targets, weights, MPI_INFO_NULL, 0, &graph);
  MPI_Dist_graph_neighbors_count(graph, &n, &m, &w);
  MPI_Dist_graph_neighbors(graph, n, from, fromweights, m, to, toweights);
  for (i = 0; i < n && !(step % 2); i++) sum += (unsigned)(from[i] * fromweights[i]); /* in any order */
  MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, graph);
  point(rank);
  add(in[0] + in[1]);
  MPI_Comm_free(&graph);
}

static int copy(MPI_Comm comm, int key, void* extra, void* in, void* out, int* flag)
{
  copies += extra == &copies && comm != MPI_COMM_NULL && key != MPI_KEYVAL_INVALID;
  *(void**)out = (char*)in + 1;
  *flag = 1;
  return MPI_SUCCESS;
}

static int delete (MPI_Comm comm, int key, void* value, void* extra)
{
  deletions += extra == &copies && comm != MPI_COMM_NULL && key != MPI_KEYVAL_INVALID && value != NULL;
  return MPI_SUCCESS;
}

static void on_error(MPI_Comm* comm, int* code, ...)
{
  char name[MPI_MAX_OBJECT_NAME];
  int  n, class;

  MPI_Comm_get_name(*comm, name, &n);
  MPI_Error_class(*code, &class);
  errors += class == MPI_ERR_RANK && strcmp(name, "wrong") == 0;
}

static int            key;
static MPI_Comm       with, copied;
static MPI_Errhandler handler;

static void begin_lasting(void)
{
  MPI_Comm_create_keyval(copy, delete, &key, &copies);
  MPI_Comm_dup(MPI_COMM_WORLD, &with);
  MPI_Comm_set_attr(with, key, (char*)0 + 10);
  MPI_Comm_create_errhandler(on_error, &handler);
  MPI_Comm_set_errhandler(with, handler);
  MPI_Comm_set_name(with, "wrong");
}

static void lasting(void)
{
  char* value = NULL;
  int   flag, result, *most;

  MPI_Comm_dup(with, &copied);
  MPI_Comm_get_attr(copied, key, &value, &flag);
  add(flag && value == (char*)0 + 11);
  MPI_Send(NULL, 0, MPI_INT, size + 3, 1, with);
  point(rank);
  add(MPI_Send(NULL, 0, MPI_INT, size + 3, 1, with) != MPI_SUCCESS);
  MPI_Comm_compare(with, copied, &result);
  add(result == MPI_CONGRUENT);
  MPI_Comm_free(&copied);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &flag);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &value, &flag); /* which stays beside it */
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &value, &flag);
  add(flag && *most >= 32767);
  add(copies);
  add(deletions);
  add(errors);
}

int main(int argc, char** argv)
{
  int             step, i, steps = argc > 1 ? atoi(argv[1]) : 10;
  volatile double work = 0;

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  begin_lasting();
  for (step = 0; step < steps; step++) {
    for (i = 0; i < ((step + rank) % size) * 100000; i++) work += i; /* out of step */
    splits(step);
    subsets(step);
    grids(step);
    graphs(step);
    lasting();
  }
  for (i = step < KEPT ? 0 : step - KEPT; i < step; i++) {
    late(kept[i % KEPT], i, 1);
    MPI_Comm_free(&kept[i % KEPT]);
  }
  MPI_Errhandler_free(&handler);
  MPI_Comm_free(&with);
  MPI_Comm_free_keyval(&key);
  add(deletions);
  MPI_Finalize();
  printf("rank %d of %d: %u, %d errors, %ld points\n", rank, size, sum, errors, points);
  return 0;
}
