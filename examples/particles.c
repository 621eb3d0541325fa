/*
** particles.c [N [STEPS]] - particles that repel each other in a periodic box, N of each rank at first; they move on to
** the rank whose slab they enter, so that each rank has another number of them in each checkpoint.
**
**   mpicc particles.c scr_impl.c -lz -lpthread -lm -o particles
**
** The same command starts it and, after a failure, continues it, on as many ranks.  Without the lines that have SCR_ or
** "scr.h" it is the same program without checkpoints.
*/
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "scr.h"

#define WIDTH 10.0 /* of the slab of a rank, and of the box in the other directions */
#define REACH 1.0  /* particles further apart do not feel each other */

typedef struct {
  double x[3], v[3];
} particle;

typedef struct {
  particle* at;
  int       n, room;
} list;

static int rank, ranks;

/* Have N particles in L: the first ones that were there before, as far as there are so many, are kept. */
static void resize(list* l, int n)
{
  if (n > l->room) {
    l->room = 2 * n;
    l->at = (particle*)realloc(l->at, (size_t)l->room * sizeof *l->at);
    if (l->at == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  }
  l->n = n;
}

static void add(list* l, const particle* p)
{
  resize(l, l->n + 1);
  l->at[l->n - 1] = *p;
}

/* Send OUT[0] to the rank on the left and OUT[1] to that on the right; add what these send to INTO. */
static void trade(list* out, list* into)
{
  const int size = (int)sizeof(particle);
  int       way, i, n, had;

  for (way = 0; way < 2; way++) {
    int to = (rank + (way ? 1 : ranks - 1)) % ranks, from = (rank + (way ? ranks - 1 : 1)) % ranks;

    for (i = 0; i < out[way].n; i++) { /* across the end of the box */
      if (way == 0 && rank == 0) out[way].at[i].x[0] += WIDTH * ranks;
      if (way == 1 && rank == ranks - 1) out[way].at[i].x[0] -= WIDTH * ranks;
    }
    MPI_Sendrecv(&out[way].n, 1, MPI_INT, to, way, &n, 1, MPI_INT, from, way, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    had = into->n;
    resize(into, had + n);
    MPI_Sendrecv(out[way].at, out[way].n * size, MPI_BYTE, to, 2, into->at + had, n * size, MPI_BYTE, from, 2,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    out[way].n = 0;
  }
}

/* Push P away from Q for a time of DT. */
static void push(particle* p, const particle* q, double dt)
{
  double d[3], r = 0;
  int    k;

  for (k = 0; k < 3; k++) {
    d[k] = p->x[k] - q->x[k];
    if (k > 0) d[k] -= WIDTH * floor(d[k] / WIDTH + 0.5); /* of all images of Q the nearest */
    r += d[k] * d[k];
  }
  r = sqrt(r);
  if (r < REACH && r > 0)
    for (k = 0; k < 3; k++) p->v[k] += dt * 10 * (REACH - r) * d[k] / r;
}

/* One step.  OUT and NEAR are lists that it may use; they are empty before and after it. */
static void move(list* own, list* out, list* near, double dt)
{
  double left = WIDTH * rank, right = left + WIDTH;
  int    i, j, k;

  for (i = 0; i < own->n; i++) {
    if (own->at[i].x[0] < left + REACH) add(&out[0], &own->at[i]);
    if (own->at[i].x[0] > right - REACH) add(&out[1], &own->at[i]);
  }
  trade(out, near);
  for (i = 0; i < own->n; i++) {
    for (j = 0; j < own->n; j++)
      if (j != i) push(&own->at[i], &own->at[j], dt);
    for (j = 0; j < near->n; j++) push(&own->at[i], &near->at[j], dt);
  }
  near->n = 0;
  for (i = j = 0; i < own->n; i++) {
    particle* p = &own->at[i];

    for (k = 0; k < 3; k++) p->x[k] += dt * p->v[k];
    for (k = 1; k < 3; k++) p->x[k] -= WIDTH * floor(p->x[k] / WIDTH);
    if (p->x[0] < left) add(&out[0], p);
    else if (p->x[0] >= right) add(&out[1], p);
    else own->at[j++] = *p;
  }
  own->n = j;
  trade(out, own);
}

int main(int argc, char** argv)
{
  int    n = argc > 1 ? atoi(argv[1]) : 500, steps = argc > 2 ? atoi(argv[2]) : 1000, i, k, step = 0;
  double sums[2] = {0, 0}, all[2];
  list   own = {NULL, 0, 0}, out[2] = {{NULL, 0, 0}, {NULL, 0, 0}}, near = {NULL, 0, 0};
  int    rc = SCR_SUCCESS, have = 0, need = 0, tries = 0;
  size_t bytes; /* for SCR_Region_size */

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  srand((unsigned)rank + 1);
  resize(&own, n);
  for (i = 0; i < n; i++) {
    for (k = 0; k < 3; k++) own.at[i].x[k] = WIDTH * rand() / (RAND_MAX + 1.0) + (k == 0 ? WIDTH * rank : 0);
    for (k = 0; k < 3; k++) own.at[i].v[k] = (rank + 1.0) * rand() / RAND_MAX;
  }
  SCR_Config("SCR_CHECKPOINT_INTERVAL=100"); /* our default; the environment overrides it */
  rc = SCR_Init();
  if (rc == SCR_SUCCESS) SCR_Protect("step", &step, 1, sizeof step);
  if (rc == SCR_SUCCESS) do { /* with SCR_ERR_MISSING again: it has an older checkpoint, where this rank had others */
      rc = SCR_Have_restart(&have, NULL);
      if (have && SCR_Region_size("particles", &bytes) == SCR_SUCCESS) resize(&own, (int)(bytes / sizeof *own.at));
      SCR_Protect("particles", own.at, (size_t)own.n, sizeof *own.at);
      if (rc == SCR_SUCCESS) rc = SCR_Recover(&have, NULL);
    } while (rc == SCR_ERR_MISSING && ++tries < 10);
  if (rc != SCR_SUCCESS && rc != SCR_ERR_DISABLED) MPI_Finalize(), exit(1); /* the library has said why */
  if (rank == 0 && step > 0) printf("particles: go on after step %d\n", step);
  while (step < steps) {
    move(&own, out, &near, 0.01);
    step++;
    SCR_Need_checkpoint(&need);
    if (need) SCR_Protect("particles", own.at, (size_t)own.n, sizeof *own.at); /* there are others now */
    if (need) SCR_Checkpoint(NULL); /* if it fails, the older one is still there */
  }
  for (i = 0; i < own.n; i++)
    for (k = 0; k < 3; k++) sums[k > 0] += own.at[i].v[k] * own.at[i].v[k] + own.at[i].x[k];
  MPI_Reduce(sums, all, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  printf("particles: rank %d has %d\n", rank, own.n);
  free(own.at);
  free(near.at);
  free(out[0].at);
  free(out[1].at);
  SCR_Finalize();
  MPI_Finalize();
  if (rank == 0) printf("particles: sums %.17g, %.17g\n", all[0], all[1]);
  return 0;
}
