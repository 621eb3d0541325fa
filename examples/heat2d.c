/*
** heat2d.c - a solver of the heat equation that survives the loss of nodes.
**
** THE PROBLEM     u_t = u_xx + u_yy on the unit square, with nx x ny inner points.  The left wall is warm, the others
**                 are cold, and the middle is hot at first.  Explicit steps, almost as long as stability allows.
** IN PARALLEL     The grid is cut in both directions into one block per rank.  One layer of the neighbours' points
**                 surrounds a block; ranks exchange it before each step.  The same expression computes every point,
**                 however the grid is cut, so the result is bitwise equal on any number of ranks, as its CRC32 shows.
** CHECKPOINTS     One file per rank: a header that describes what the file belongs to, then the block.  try_restart and
**                 checkpoint show how to use the library; the rest of the program does not depend on it.
**
**   mpicc heat2d.c scr_impl.c -lz -lpthread -o heat2d
**   mpiexec -n 4 ./heat2d --nx 1024 --ny 1024 --steps 1000 --interval 100
**
** After a failure, start it again with the same options: it continues from the newest checkpoint.
** Exit code: 0 if it is done or was asked to stop, 1 on an error, 2 for a wrong option.
*/
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* SIGKILL, sched_yield */
#endif

#include <mpi.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include "scr.h"

#define HEAT_MAGIC 0x3130643274616568u /* "heat2d01"; differs on a machine with the other byte order */

typedef struct {
  int nx, ny, steps, interval, kill_at, help;
} options;

/* The block of this rank: w x h points with a frame of one point, in rows of w + 2. */
typedef struct {
  MPI_Comm     comm; /* the grid of ranks; rank numbers are those of MPI_COMM_WORLD */
  int          rank, ranks;
  int          dims[2], coords[2];    /* ranks down and across */
  int          up, down, left, right; /* neighbours, or MPI_PROC_NULL at a wall */
  int          nx, ny, x0, y0, w, h;  /* the grid, and the first point and the size of the block */
  double       cx, cy;                /* dt/dx^2, dt/dy^2 */
  double       residual;              /* largest change of a point of this block in the last step */
  double*      u;
  double*      next;
  MPI_Datatype column;
} block;

/* Header of a checkpoint file.  All members have 8 bytes, so that there is no padding. */
typedef struct {
  uint64_t magic, step, nx, ny, ranks, x0, y0, w, h;
  double   residual;
  uint64_t data_crc, head_crc; /* CRC32 of the points; CRC32 of the header before this member */
} header;

/* ---- the block ------------------------------------------------------------------------------------------------ */

static double* at(const block* b, double* field, int y, int x)
{
  return field + (size_t)y * ((size_t)b->w + 2) + (size_t)x;
}

/* The first point of part I if N points are cut into PARTS. */
static int part_start(int n, int parts, int i)
{
  return (int)((int64_t)n * i / parts);
}

/* Set the initial values and the walls of both fields, from the position in the whole grid only. */
static void block_init(block* b)
{
  int x, y;

  b->residual = 0;
  for (y = 0; y < b->h + 2; y++) {
    for (x = 0; x < b->w + 2; x++) {
      double px = (double)(b->x0 + x) / (b->nx + 1), py = (double)(b->y0 + y) / (b->ny + 1), v = 0;
      if (b->x0 + x == 0) v = 4 * py * (1 - py);
      else if (px > 0.35 && px < 0.65 && py > 0.35 && py < 0.65) v = 1;
      *at(b, b->u, y, x) = *at(b, b->next, y, x) = v;
    }
  }
}

/* Distribute the grid over the ranks of MPI_COMM_WORLD.  Returns 0 if that is not possible; the same on every rank. */
static int block_new(block* b, const options* o)
{
  int    periods[2] = {0, 0}, ok, all;
  double ax = ((double)o->nx + 1) * (o->nx + 1), ay = ((double)o->ny + 1) * (o->ny + 1);
  size_t n;

  memset(b, 0, sizeof *b);
  b->comm = MPI_COMM_NULL;
  MPI_Comm_size(MPI_COMM_WORLD, &b->ranks);
  MPI_Dims_create(b->ranks, 2, b->dims);
  if (b->dims[0] > o->ny || b->dims[1] > o->nx) return 0;
  MPI_Cart_create(MPI_COMM_WORLD, 2, b->dims, periods, 0, &b->comm); /* no reordering: rank r reads what rank r wrote */
  MPI_Comm_rank(b->comm, &b->rank);
  MPI_Cart_coords(b->comm, b->rank, 2, b->coords);
  MPI_Cart_shift(b->comm, 0, 1, &b->up, &b->down);
  MPI_Cart_shift(b->comm, 1, 1, &b->left, &b->right);
  b->nx = o->nx;
  b->ny = o->ny;
  b->y0 = part_start(b->ny, b->dims[0], b->coords[0]);
  b->x0 = part_start(b->nx, b->dims[1], b->coords[1]);
  b->h = part_start(b->ny, b->dims[0], b->coords[0] + 1) - b->y0;
  b->w = part_start(b->nx, b->dims[1], b->coords[1] + 1) - b->x0;
  b->cx = 0.4 * ax / (ax + ay); /* cx + cy = 0.4; stable up to 0.5 */
  b->cy = 0.4 * ay / (ax + ay);
  MPI_Type_vector(b->h, 1, b->w + 2, MPI_DOUBLE, &b->column);
  MPI_Type_commit(&b->column);
  n = ((size_t)b->w + 2) * ((size_t)b->h + 2);
  b->u = (double*)malloc(n * sizeof *b->u);
  b->next = (double*)malloc(n * sizeof *b->next);
  ok = b->u != NULL && b->next != NULL;
  MPI_Allreduce(&ok, &all, 1, MPI_INT, MPI_MIN, b->comm);
  if (all) block_init(b);
  return all;
}

static void block_free(block* b)
{
  free(b->u);
  free(b->next);
  if (b->comm != MPI_COMM_NULL) {
    MPI_Type_free(&b->column);
    MPI_Comm_free(&b->comm);
  }
}

/* ---- the solver ----------------------------------------------------------------------------------------------- */

/* Receive the points around the block from the neighbours, and send them those at its border. */
static void exchange_halo(block* b)
{
  MPI_Request r[8];
  MPI_Status  status[8];
  int         w = b->w, h = b->h, done = 0;

  MPI_Irecv(at(b, b->u, 0, 1), w, MPI_DOUBLE, b->up, 0, b->comm, &r[0]);
  MPI_Irecv(at(b, b->u, h + 1, 1), w, MPI_DOUBLE, b->down, 0, b->comm, &r[1]);
  MPI_Irecv(at(b, b->u, 1, 0), 1, b->column, b->left, 0, b->comm, &r[2]);
  MPI_Irecv(at(b, b->u, 1, w + 1), 1, b->column, b->right, 0, b->comm, &r[3]);
  MPI_Isend(at(b, b->u, 1, 1), w, MPI_DOUBLE, b->up, 0, b->comm, &r[4]);
  MPI_Isend(at(b, b->u, h, 1), w, MPI_DOUBLE, b->down, 0, b->comm, &r[5]);
  MPI_Isend(at(b, b->u, 1, 1), 1, b->column, b->left, 0, b->comm, &r[6]);
  MPI_Isend(at(b, b->u, 1, w), 1, b->column, b->right, 0, b->comm, &r[7]);
  for (;;) { /* MPI_Waitall would not yield the processor to a rank that shares it */
    MPI_Testall(8, r, &done, status);
    if (done) return;
    sched_yield();
  }
}

static void step_once(block* b)
{
  double *swap, change = 0;
  int     x, y;

  exchange_halo(b);
  for (y = 1; y <= b->h; y++) {
    const double *n = at(b, b->u, y - 1, 0), *c = at(b, b->u, y, 0), *s = at(b, b->u, y + 1, 0);
    double*       to = at(b, b->next, y, 0);
    for (x = 1; x <= b->w; x++) {
      double d = b->cx * (c[x - 1] - 2 * c[x] + c[x + 1]) + b->cy * (n[x] - 2 * c[x] + s[x]);
      to[x] = c[x] + d;
      d = d < 0 ? -d : d;
      change = d > change ? d : change;
    }
  }
  swap = b->u;
  b->u = b->next;
  b->next = swap;
  b->residual = change;
}

static double global_residual(const block* b)
{
  double all = 0;
  MPI_Allreduce(&b->residual, &all, 1, MPI_DOUBLE, MPI_MAX,
                b->comm); /* a maximum does not depend on the order of the ranks */
  return all;
}

/* The CRC32 of the field, by rows of the whole grid, on rank 0 (elsewhere 0).  Rank 0 holds one row at a time. */
static unsigned long global_crc(const block* b)
{
  unsigned long crc = 0;
  int           row, col, i, owner, c[2];
  double*       line;

  if (b->rank != 0) {
    for (i = 1; i <= b->h; i++) MPI_Send(at(b, b->u, i, 1), b->w, MPI_DOUBLE, 0, 1, b->comm);
    return 0;
  }
  line = (double*)malloc((size_t)b->nx * sizeof *line);
  if (line == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  for (row = 0; row < b->dims[0]; row++) {
    for (i = part_start(b->ny, b->dims[0], row); i < part_start(b->ny, b->dims[0], row + 1); i++) {
      for (col = 0; col < b->dims[1]; col++) {
        int x0 = part_start(b->nx, b->dims[1], col), w = part_start(b->nx, b->dims[1], col + 1) - x0;
        c[0] = row;
        c[1] = col;
        MPI_Cart_rank(b->comm, c, &owner);
        if (owner == 0) memcpy(line + x0, at(b, b->u, i - b->y0 + 1, 1), (size_t)w * sizeof *line);
        else MPI_Recv(line + x0, w, MPI_DOUBLE, owner, 1, b->comm, MPI_STATUS_IGNORE);
      }
      crc = crc32(crc, (const Bytef*)line, (uInt)((size_t)b->nx * sizeof *line));
    }
  }
  free(line);
  return crc;
}

/* ---- the file of a rank --------------------------------------------------------------------------------------- */

static uint64_t block_crc(const block* b)
{
  unsigned long crc = 0;
  int           y;

  for (y = 1; y <= b->h; y++) crc = crc32(crc, (const Bytef*)at(b, b->u, y, 1), (uInt)((size_t)b->w * sizeof(double)));
  return crc;
}

/* The header of this block's file at STEP. */
static header header_make(const block* b, uint64_t step, double residual, uint64_t data_crc)
{
  header e = {HEAT_MAGIC,      step,           (uint64_t)b->nx, (uint64_t)b->ny, (uint64_t)b->ranks, (uint64_t)b->x0,
              (uint64_t)b->y0, (uint64_t)b->w, (uint64_t)b->h,  residual,        data_crc,           0};

  e.head_crc = crc32(0, (const Bytef*)&e, (uInt)(sizeof e - sizeof e.head_crc));
  return e;
}

/* Read or write rows FROM to TO-1 of the block.  Returns 1 on success. */
static int rows_move(const block* b, FILE* f, int writing, int from, int to)
{
  size_t w = (size_t)b->w;
  int    y;

  for (y = from; y < to; y++) {
    double* row = at(b, b->u, y + 1, 1);
    if ((writing ? fwrite(row, sizeof *row, w, f) : fread(row, sizeof *row, w, f)) != w) return 0;
  }
  return 1;
}

/* --kill-at: kill this rank when all ranks have come this far. */
static void crash(const block* b, FILE* f, int step)
{
  if (f != NULL) fflush(f);
  MPI_Barrier(b->comm);
  if (b->rank == 0)
    printf("heat2d: step %d: %s; SIGKILL to every rank\n", step,
           f != NULL ? "half of each checkpoint file is written" : "no checkpoint file");
  fflush(stdout);
  MPI_Barrier(b->comm);
  raise(SIGKILL);
}

/* Write the block at STEP to FILE.  Returns 1 if all writes and the close succeeded. */
static int block_save(const block* b, const char* file, int step, int kill_here)
{
  header e = header_make(b, (uint64_t)step, b->residual, block_crc(b));
  FILE*  f = fopen(file, "wb");
  int    ok;

  ok = f != NULL && fwrite(&e, sizeof e, 1, f) == 1 && rows_move(b, f, 1, 0, b->h / 2);
  if (kill_here) crash(b, f, step);
  ok = ok && rows_move(b, f, 1, b->h / 2, b->h);
  if (f != NULL && fclose(f) != 0) ok = 0; /* the file system may report an error only here */
  return ok;
}

/* Read FILE into the block.  Returns NULL, or what is wrong with the file. */
static const char* block_load(block* b, const char* file, int* step)
{
  header      e, want;
  FILE*       f = fopen(file, "rb");
  const char* why = NULL;

  if (f == NULL) return "cannot be opened";
  if (fread(&e, sizeof e, 1, f) != 1 || e.magic != HEAT_MAGIC) why = "is not a heat2d checkpoint";
  else {
    want = header_make(b, e.step, e.residual, e.data_crc);
    if (e.head_crc != want.head_crc) /* it covers the geometry, so another grid or rank, or damage, shows here */
      why = "belongs to another grid or rank, or its header is damaged";
    else if (!rows_move(b, f, 0, 0, b->h) || fgetc(f) != EOF) why = "has the wrong length";
    else if (block_crc(b) != e.data_crc) why = "is damaged";
  }
  fclose(f);
  if (why == NULL) {
    *step = (int)e.step;
    b->residual = e.residual;
  }
  return why;
}

/* ---- checkpoint and restart ----------------------------------------------------------------------------------- */

/* The name of this rank's file in the dataset NAME, below the working directory. */
static void file_name(const block* b, const char* name, char* path, size_t n)
{
  if (snprintf(path, n, "%s/rank_%d.heat", name, b->rank) >= (int)n) path[0] = '\0';
}

/* Report which call failed, from one rank.  The library has printed the reason already. */
static void complain(const block* b, const char* call, int rc, const char* then)
{
  if (b->rank == 0) fprintf(stderr, "heat2d: %s: %s; %s\n", call, SCR_Strerror(rc), then);
}

/*
** Restart from the newest checkpoint that every rank can read.  STEP stays 0 if there is none.
** Returns 0 if old work exists but cannot be used: a start from the beginning would lose it.
*/
static int try_restart(block* b, int* step)
{
  char        name[SCR_MAX_FILENAME], path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME];
  const char* why;
  int         have, rc;

  for (;;) {
    have = 0;
    rc = SCR_Have_restart(&have, name);
    if (rc != SCR_SUCCESS && rc != SCR_ERR_DISABLED) {
      complain(b, "SCR_Have_restart", rc, "SCR_FRESH_START=1 starts from the beginning, another SCR_PREFIX keeps both");
      return 0;
    }
    if (!have) return 1;
    if ((rc = SCR_Start_restart(name)) != SCR_SUCCESS) {
      complain(b, "SCR_Start_restart", rc, "giving up");
      return 0;
    }
    file_name(b, name, path, sizeof path);
    why = SCR_Route_file(path, file) == SCR_SUCCESS ? block_load(b, file, step) : "is not in the checkpoint";
    if (why != NULL) fprintf(stderr, "heat2d: rank %d: %s %s\n", b->rank, path, why);
    rc = SCR_Complete_restart(why == NULL);
    if (rc == SCR_SUCCESS) {
      if (b->rank == 0) printf("heat2d: restarted from %s, at step %d\n", name, *step);
      return 1;
    }
    if (rc != SCR_ERR_INVALID) {
      complain(b, "SCR_Complete_restart", rc, "giving up");
      return 0;
    }
    *step = 0; /* another rank could not read its file; the library offers the next older checkpoint */
    block_init(b);
  }
}

/* Save STEP.  After a failure the run goes on, because the older checkpoint is still there. */
static void checkpoint(const block* b, int step, int kill_here)
{
  char   name[64], path[SCR_MAX_FILENAME], file[SCR_MAX_FILENAME];
  double start = MPI_Wtime();
  int    rc;

  snprintf(name, sizeof name, "heat.%d", step);
  rc = SCR_Start_output(name, SCR_FLAG_CHECKPOINT);
  if (rc != SCR_SUCCESS) {
    if (kill_here) crash(b, NULL, step);
    complain(b, "SCR_Start_output", rc, "going on without this checkpoint");
    return;
  }
  file_name(b, name, path, sizeof path);
  SCR_Route_file(path, file); /* on an error file is "", and block_save fails */
  rc = SCR_Complete_output(block_save(b, file, step, kill_here));
  if (rc != SCR_SUCCESS) complain(b, "SCR_Complete_output", rc, "going on");
  else if (b->rank == 0)
    printf("heat2d: checkpoint %s, %.1f MiB in %.3f s\n", name,
           ((double)b->nx * b->ny * sizeof(double) + (double)b->ranks * sizeof(header)) / 1048576, MPI_Wtime() - start);
}

/* Every INTERVAL steps, ask the library whether to write a checkpoint, and whether the run should end. */
static int solve(block* b, const options* o, int step)
{
  int need, stop = 0;

  SCR_Should_exit(&stop); /* asked before the first checkpoint, so that the library leaves the exit to us */
  while (step < o->steps && !stop) {
    step_once(b);
    step++;
    if (step == o->kill_at || (o->interval > 0 && step % o->interval == 0)) {
      need = 0;
      SCR_Need_checkpoint(&need);
      if (need || step == o->kill_at) checkpoint(b, step, step == o->kill_at);
      SCR_Should_exit(&stop);
    }
  }
  return step;
}

/* ---- the program ---------------------------------------------------------------------------------------------- */

static int usage(FILE* f, int code)
{
  fputs("usage: mpiexec -n RANKS heat2d [OPTION N]...\n"
        "Solves the heat equation, checkpoints, and restarts by itself.\n"
        "  --nx N --ny N    points across and down (512 512)\n"
        "  --steps N        steps to compute (1000)\n"
        "  --interval N     ask for a checkpoint every N steps (100); 0: never\n"
        "  --kill-at N      at step N every rank kills itself in the middle of a checkpoint\n"
        "  --help           print this\n"
        "Parameters of the library, such as SCR_PREFIX, come from the environment.\n",
        f);
  return code;
}

/* Returns 1 if the arguments are valid; else 0, and BAD is the first that is not. */
static int options_read(int argc, char** argv, options* o, const char** bad)
{
  static const char* const names[] = {"--nx", "--ny", "--steps", "--interval", "--kill-at"};
  static const long        lowest[] = {1, 1, 0, 0, 1};
  int* const               to[] = {&o->nx, &o->ny, &o->steps, &o->interval, &o->kill_at};
  int                      i, k;
  long                     v;
  char*                    end;

  for (i = 1; i < argc; i++) {
    *bad = argv[i];
    if (strcmp(argv[i], "--help") == 0) {
      o->help = 1;
      continue;
    }
    for (k = 0; k < 5 && strcmp(argv[i], names[k]) != 0; k++) {
    }
    if (k == 5 || ++i == argc) return 0;
    v = strtol(argv[i], &end, 10);
    if (end == argv[i] || *end != '\0' || v < lowest[k] || v > (k < 2 ? 1000000 : 2000000000)) return 0;
    *to[k] = (int)v;
  }
  return 1;
}

/* From SCR_Init to SCR_Finalize.  Returns the exit code. */
static int run(block* b, const options* o)
{
  double        start = MPI_Wtime(), residual;
  int           rc, step = 0, code = 1;
  unsigned long crc;

  rc = SCR_Init();
  if (rc != SCR_SUCCESS && rc != SCR_ERR_DISABLED) {
    complain(b, "SCR_Init", rc, "giving up");
    return 1;
  }
  if (b->rank == 0)
    printf("heat2d: %d x %d points on %d x %d ranks, SCR_Init took %.3f s\n", b->nx, b->ny, b->dims[1], b->dims[0],
           MPI_Wtime() - start);
  if (try_restart(b, &step)) {
    step = solve(b, o, step);
    residual = global_residual(b);
    crc = global_crc(b);
    if (b->rank == 0) {
      if (step < o->steps) printf("heat2d: asked to stop before step %d\n", o->steps);
      printf("heat2d: step %d residual %.9e crc32 0x%08lx time %.2f s\n", step, residual, crc, MPI_Wtime() - start);
    }
    code = 0;
  }
  rc = SCR_Finalize();
  if (rc != SCR_SUCCESS && rc != SCR_ERR_DISABLED) {
    complain(b, "SCR_Finalize", rc, "the last checkpoint may be in the cache only");
    code = 1;
  }
  return code;
}

int main(int argc, char** argv)
{
  options     o = {512, 512, 1000, 100, -1, 0};
  const char* bad = NULL;
  block       b;
  int         rank, code;

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  setvbuf(stdout, NULL, _IOLBF, BUFSIZ); /* so that the output of a killed run is not lost */
  if (!options_read(argc, argv, &o, &bad)) {
    if (rank == 0) fprintf(stderr, "heat2d: unknown option, or bad value for it: %s\n", bad);
    code = rank == 0 ? usage(stderr, 2) : 2;
  } else if (o.help) {
    code = rank == 0 ? usage(stdout, 0) : 0;
  } else {
    if (block_new(&b, &o)) code = run(&b, &o);
    else {
      if (rank == 0) fprintf(stderr, "heat2d: grid too small for so many ranks, or too large for the memory\n");
      code = 1;
    }
    block_free(&b);
  }
  MPI_Finalize();
  return code;
}
