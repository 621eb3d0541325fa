/*
** blast.c [N [STEPS]] - a blast in a cold gas, computed as LULESH does: energy that is released in a corner of a square
** of N x N elements, which move with the gas.
**
**   mpicc blast.c scr_impl.c -lz -lpthread -lm -o blast
**
** The same command starts it and, after a failure, continues it, on as many ranks.  Without the lines that have SCR_ or
** "scr.h" it is the same program without checkpoints.  Its answer is the same on any number of ranks, up to N.
**
** The gas of an element keeps its mass; its pressure pushes the four nodes at its corners, and what these gain in
** energy, the element loses.  A rank has a slab of rows of elements, and all nodes of these.  The row of nodes between
** two slabs is on both ranks, which tell each other how hard their elements push there.
*/
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include "scr.h"

#define SIDE    1.2  /* of the square, at first */
#define ENERGY  0.25 /* of the blast */
#define DENSITY 1.0  /* of the gas, at first */
#define GAMMA   1.4  /* its heat capacity at constant pressure, divided by that at constant volume */
#define DAMPING 0.1  /* of the motion in which corners that are opposite go one way, and the others the other way */
#define COURANT 0.25 /* the step, as a part of the time in which sound crosses an element */
#define GROWTH  1.05 /* of the step, at most */

typedef struct {
  double x[2], v[2];
} node;

typedef struct {
  double f[4][2];
} force; /* of an element on its corners */

static int    rank, ranks;
static int    across;      /* elements in a row, and rows in all */
static int    first, rows; /* the first row of this rank, and how many it has */
static double mass;        /* of each element */

static node*   nodes;   /* rows + 1 times across + 1 */
static double* energy;  /* of a unit of mass, of each element */
static force*  forces;  /* of each element */
static double* from[2]; /* what the elements below each node push, and those above it */

static void* allocate(size_t count, size_t size)
{
  void* p = calloc(count, size);

  if (p == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  return p;
}

static size_t node_at(int row, int column)
{
  return (size_t)row * ((size_t)across + 1) + (size_t)column;
}

static size_t element_at(int row, int column)
{
  return (size_t)row * (size_t)across + (size_t)column;
}

/* The corners C of an element, one after the other around it: two below its middle, then two above. */
static void corners_of(int row, int column, node** c)
{
  c[0] = nodes + node_at(row, column);
  c[1] = c[0] + 1;
  c[3] = nodes + node_at(row + 1, column);
  c[2] = c[3] + 1;
}

/*
** What an element with the energy E pushes its corners C with, in PUSHED.  Returns how often sound crosses it in a unit
** of time.
*/
static double push(node* const* c, double e, force* pushed)
{
  double u[2] = {c[2]->x[0] - c[0]->x[0], c[2]->x[1] - c[0]->x[1]}; /* the diagonals */
  double w[2] = {c[3]->x[0] - c[1]->x[0], c[3]->x[1] - c[1]->x[1]};
  double area = (u[0] * w[1] - u[1] * w[0]) / 2;
  double width = sqrt(area), density = mass / area, growth = 0, pressure, sound, closing;
  double by[4][2]; /* growth of the area when a corner moves */
  int    k, d;

  if (!(area > 0)) {
    fprintf(stderr, "blast: an element is turned inside out\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  for (k = 0; k < 4; k++) {
    const node *next = c[(k + 1) % 4], *last = c[(k + 3) % 4];

    by[k][0] = (next->x[1] - last->x[1]) / 2;
    by[k][1] = (last->x[0] - next->x[0]) / 2;
    growth += by[k][0] * c[k]->v[0] + by[k][1] * c[k]->v[1];
  }
  pressure = (GAMMA - 1) * density * (e > 0 ? e : 0);
  sound = sqrt(GAMMA * pressure / density);
  closing = growth < 0 ? -growth / width : 0;                  /* how fast its sides come nearer to each other */
  pressure += density * closing * (sound / 2 + 1.5 * closing); /* so a shock is some elements wide */
  for (d = 0; d < 2; d++) {
    double twist = c[0]->v[d] - c[1]->v[d] + c[2]->v[d] - c[3]->v[d];

    twist *= DAMPING * density * width * (sound + closing);
    for (k = 0; k < 4; k++) pushed->f[k][d] = pressure * by[k][d] + (k % 2 ? twist : -twist);
  }
  return (sound + 4 * closing) / width;
}

/* All elements push; returns the shortest time in which sound crosses one. */
static double push_all(void)
{
  size_t row = 2 * node_at(1, 0), top = 2 * node_at(rows, 0);
  int    up = rank < ranks - 1 ? rank + 1 : MPI_PROC_NULL, down = rank > 0 ? rank - 1 : MPI_PROC_NULL, i, j, k, d;
  double most = 0, rate;
  node*  c[4];

  for (k = 0; k < 2; k++) memset(from[k], 0, (top + row) * sizeof *from[k]);
  for (j = 0; j < rows; j++)
    for (i = 0; i < across; i++) {
      force* f = &forces[element_at(j, i)];

      corners_of(j, i, c);
      rate = push(c, energy[element_at(j, i)], f);
      if (rate > most) most = rate;
      for (k = 0; k < 4; k++)
        for (d = 0; d < 2; d++) from[k < 2][2 * (c[k] - nodes) + d] += f->f[k][d]; /* it is above the first two */
    }
  MPI_Sendrecv(from[0] + top, (int)row, MPI_DOUBLE, up, 1, from[0], (int)row, MPI_DOUBLE, down, 1, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  MPI_Sendrecv(from[1], (int)row, MPI_DOUBLE, down, 2, from[1] + top, (int)row, MPI_DOUBLE, up, 2, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return 1 / most;
}

/* The mass that moves with a node: a quarter of that of each element around it. */
static double mass_of(int row, int column)
{
  int edge = column == 0 || column == across, end = first + row == 0 || first + row == across;

  return mass / (edge ? 2 : 1) / (end ? 2 : 1);
}

/* All nodes move for a time of DT, but not out of the planes behind which the other three quarters of the blast are. */
static void move_all(double dt)
{
  int i, j, d;

  for (j = 0; j <= rows; j++)
    for (i = 0; i <= across; i++) {
      size_t at = node_at(j, i);
      node*  p = &nodes[at];

      for (d = 0; d < 2; d++) p->v[d] += dt * (from[0][2 * at + d] + from[1][2 * at + d]) / mass_of(j, i);
      if (i == 0) p->v[0] = 0;
      if (first + j == 0) p->v[1] = 0;
      for (d = 0; d < 2; d++) p->x[d] += dt * p->v[d];
    }
}

/* The elements lose what they give to their corners in a time of DT. */
static void give_all(double dt)
{
  int   i, j, k;
  node* c[4];

  for (j = 0; j < rows; j++)
    for (i = 0; i < across; i++) {
      size_t at = element_at(j, i);
      double work = 0;

      corners_of(j, i, c);
      for (k = 0; k < 4; k++) work += forces[at].f[k][0] * c[k]->v[0] + forces[at].f[k][1] * c[k]->v[1];
      energy[at] -= dt * work / mass;
    }
}

/* The energy of all gas, on rank 0: that of the blast, as none is lost. */
static double energy_of_all(void)
{
  double sum = 0, all = 0;
  int    i, j, own = rows + (rank == ranks - 1); /* rows of nodes that no other rank counts */

  for (j = 0; j < rows; j++)
    for (i = 0; i < across; i++) sum += mass * energy[element_at(j, i)];
  for (j = 0; j < own; j++)
    for (i = 0; i <= across; i++) {
      const double* v = nodes[node_at(j, i)].v;

      sum += mass_of(j, i) * (v[0] * v[0] + v[1] * v[1]) / 2;
    }
  MPI_Reduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  return all;
}

/* The CRC32 of all rows, one behind the other, which goes from rank to rank. */
static unsigned long crc_of_all(void)
{
  unsigned long crc = 0;
  int           j;

  if (rank > 0) MPI_Recv(&crc, 1, MPI_UNSIGNED_LONG, rank - 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (j = 0; j < rows + (rank == ranks - 1); j++) {
    crc = crc32(crc, (const Bytef*)&nodes[node_at(j, 0)], (uInt)(node_at(1, 0) * sizeof *nodes));
    if (j < rows) crc = crc32(crc, (const Bytef*)&energy[element_at(j, 0)], (uInt)((size_t)across * sizeof *energy));
  }
  if (rank < ranks - 1) MPI_Send(&crc, 1, MPI_UNSIGNED_LONG, rank + 1, 3, MPI_COMM_WORLD);
  MPI_Bcast(&crc, 1, MPI_UNSIGNED_LONG, ranks - 1, MPI_COMM_WORLD);
  return crc;
}

/* The square at rest, all energy in its first element. */
static void begin(void)
{
  double width = SIDE / across;
  int    i, j;

  first = (int)((long)across * rank / ranks);
  rows = (int)((long)across * (rank + 1) / ranks) - first;
  mass = DENSITY * width * width;
  nodes = (node*)allocate(node_at(rows + 1, 0), sizeof *nodes);
  energy = (double*)allocate(element_at(rows, 0), sizeof *energy);
  forces = (force*)allocate(element_at(rows, 0), sizeof *forces);
  for (i = 0; i < 2; i++) from[i] = (double*)allocate(2 * node_at(rows + 1, 0), sizeof *from[i]);
  for (j = 0; j <= rows; j++)
    for (i = 0; i <= across; i++) {
      nodes[node_at(j, i)].x[0] = width * i;
      nodes[node_at(j, i)].x[1] = width * (first + j);
    }
  if (rank == 0) energy[0] = ENERGY / mass;
}

int main(int argc, char** argv)
{
  int           steps = argc > 2 ? atoi(argv[2]) : 500, step = 0, i;
  double        now[2] = {0, 1}, crossed, all; /* the time, and how long the last step was */
  unsigned long crc;
  int           rc = SCR_SUCCESS, have = 0, need = 0;

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  across = argc > 1 ? atoi(argv[1]) : 96;
  if (across < ranks) {
    if (rank == 0) fprintf(stderr, "blast: %d rows are too few for %d ranks\n", across, ranks);
    MPI_Finalize();
    return 1;
  }
  begin();
  SCR_Config("SCR_CHECKPOINT_INTERVAL=100"); /* our default; the environment overrides it */
  rc = SCR_Init();
  SCR_Protect("step", &step, 1, sizeof step);
  SCR_Protect("time", now, 2, sizeof *now);
  SCR_Protect("nodes", nodes, node_at(rows + 1, 0), sizeof *nodes);
  SCR_Protect("energy", energy, element_at(rows, 0), sizeof *energy);
  if (rc == SCR_SUCCESS) rc = SCR_Recover(&have, NULL);
  if (rc != SCR_SUCCESS && rc != SCR_ERR_DISABLED) MPI_Finalize(), exit(1); /* the library has said why */
  if (rank == 0 && step > 0) printf("blast: go on after step %d\n", step);
  while (step < steps) {
    crossed = push_all();
    now[1] = COURANT * crossed < GROWTH * now[1] ? COURANT * crossed : GROWTH * now[1];
    give_all(now[1] / 2); /* half of it with the velocities before, and half with those behind: */
    move_all(now[1]);
    give_all(now[1] / 2); /* so that none is lost */
    now[0] += now[1];
    step++;
    SCR_Need_checkpoint(&need);
    if (need) SCR_Checkpoint(NULL); /* if it fails, the older one is still there */
  }
  all = energy_of_all();
  crc = crc_of_all();
  free(nodes);
  free(energy);
  free(forces);
  for (i = 0; i < 2; i++) free(from[i]);
  SCR_Finalize();
  MPI_Finalize();
  if (rank == 0) printf("blast: time %.6f, energy %.6f, crc32 0x%08lx\n", now[0], all, crc);
  return 0;
}
