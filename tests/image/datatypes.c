/*
** datatypes.c STEPS - datatypes and operations of the program: made before an image and used after it, freed while a
** message is under way, nested; in messages, collectives and packing; operations that do not commute.
*/
#include <mpi.h>
#include <stddef.h>

#include "at.h"

#define N 24

typedef struct {
  char   c;
  double x[2];
  int    i;
} item;

typedef struct {
  unsigned a, b, c, d; /* a matrix: the product depends on the order */
} matrix;

static int          rank, size, right, left;
static unsigned     sum;
static char*        buf; /* of MPI_Alloc_mem */
static MPI_Datatype column, block, item_type, matrix_type, picked, wide;
static MPI_Op       product, adding;
static MPI_Status   statuses[2];
static MPI_Datatype spread, small_real;
static int          error_class, error_code;

static void add(const void* data, size_t n)
{
  const unsigned char* p = data;
  size_t               i;

  for (i = 0; i < n; i++) sum = sum * 31 + p[i];
}

static void multiply(void* in, void* inout, int* n, MPI_Datatype* type)
{
  matrix *x = in, *y = inout, z;
  int     i;

  if (*type != matrix_type) sum += 1000;
  for (i = 0; i < *n; i++) {
    z.a = x[i].a * y[i].a + x[i].b * y[i].c, z.b = x[i].a * y[i].b + x[i].b * y[i].d;
    z.c = x[i].c * y[i].a + x[i].d * y[i].c, z.d = x[i].c * y[i].b + x[i].d * y[i].d;
    y[i] = z;
  }
}

static void sum_up(void* in, void* inout, int* n, MPI_Datatype* type)
{
  int i;

  (void)type;
  for (i = 0; i < *n; i++) ((double*)inout)[i] += ((double*)in)[i];
}

static void make_types(void)
{
  int          lengths[3] = {1, 2, 1}, places[3] = {1, 5, 11}, sizes[2] = {N, N}, subsizes[2] = {3, 4};
  int          starts[2] = {2, 5};
  MPI_Aint     at[3] = {offsetof(item, c), offsetof(item, x), offsetof(item, i)};
  MPI_Datatype of[3] = {MPI_CHAR, MPI_DOUBLE, MPI_INT}, raw;

  MPI_Type_vector(N, 1, N, MPI_INT, &raw);
  MPI_Type_create_resized(raw, 0, sizeof(int), &column);
  MPI_Type_free(&raw); /* it lives in the column */
  MPI_Type_create_subarray(2, sizes, subsizes, starts, MPI_ORDER_C, MPI_INT, &block);
  MPI_Type_create_struct(3, lengths, at, of, &raw);
  MPI_Type_create_resized(raw, 0, sizeof(item), &item_type);
  MPI_Type_free(&raw);
  MPI_Type_contiguous(4, MPI_UNSIGNED, &matrix_type);
  MPI_Type_indexed(3, lengths, places, item_type, &picked);
  MPI_Type_create_hvector(2, 1, 40, MPI_INT, &wide);
  MPI_Type_commit(&column);
  MPI_Type_commit(&block);
  MPI_Type_commit(&item_type);
  MPI_Type_commit(&matrix_type);
  MPI_Type_commit(&picked);
  MPI_Type_commit(&wide);
  MPI_Type_create_darray(2, 1, 1, (int[]){11}, (int[]){MPI_DISTRIBUTE_CYCLIC}, (int[]){2}, (int[]){2}, MPI_ORDER_C,
                         MPI_INT, &spread);
  MPI_Type_commit(&spread);
  MPI_Type_create_f90_real(6, 20, &small_real);
  MPI_Op_create(multiply, 0, &product);
  MPI_Op_create(sum_up, 1, &adding);
}

static void messages(int step)
{
  static int  grid[N][N], other[N][N];
  item        items[20], got[20];
  MPI_Request r[4];
  MPI_Status  s[4];
  int         i, j, count;

  for (i = 0; i < N; i++)
    for (j = 0; j < N; j++) grid[i][j] = step * 1000 + rank * 100 + i * N + j;
  memset(items, 0, sizeof items);
  memset(got, 0, sizeof got);
  for (i = 0; i < 20; i++) items[i].c = (char)(i + rank), items[i].x[1] = step * i, items[i].i = rank - i;
  MPI_Irecv(&other[0][1], 2, column, left, 1, MPI_COMM_WORLD, &r[0]);
  MPI_Isend(&grid[0][N - 3], 2, column, right, 1, MPI_COMM_WORLD, &r[1]);
  point(rank);
  MPI_Irecv(got, 1, picked, right, 2, MPI_COMM_WORLD, &r[2]);
  MPI_Isend(items, 1, picked, left, 2, MPI_COMM_WORLD, &r[3]);
  MPI_Waitall(4, r, s);
  MPI_Get_count(&s[0], column, &count);
  sum += (unsigned)count;
  MPI_Get_elements(&s[2], picked, &count);
  sum += (unsigned)count;
  add(got, sizeof got);
  MPI_Sendrecv_replace(grid, 1, block, right, 3, left, 3, MPI_COMM_WORLD, &s[0]);
  add(grid, sizeof grid);
  add(other, sizeof other);
}

/* A type that lives for one message, and is freed while this is under way. */
static void short_lived(int step)
{
  MPI_Datatype pairs, of, copy;
  MPI_Request  r[2];
  MPI_Aint     low, extent;
  static int   out[100], in[100];
  int          i, n[4], lengths[100], places[2];
  MPI_Aint     addresses[2];

  for (i = 0; i < 100; i++) out[i] = step * rank + i, in[i] = 0;
  MPI_Type_create_indexed_block(2, 3, (int[]){1 + step % 4, 20}, MPI_INT, &pairs);
  MPI_Type_get_envelope(pairs, &n[0], &n[1], &n[2], &n[3]);
  MPI_Type_get_contents(pairs, n[0], n[1], n[2], lengths, addresses, &of);
  sum += (unsigned)(lengths[0] + lengths[1] + lengths[2] + (of == MPI_INT) + (n[3] == MPI_COMBINER_INDEXED_BLOCK));
  MPI_Type_dup(pairs, &copy);
  MPI_Type_commit(&copy);
  MPI_Type_free(&pairs);
  MPI_Irecv(in, 1, copy, left, 9, MPI_COMM_WORLD, &r[0]);
  point(rank);
  MPI_Isend(out, 1, copy, right, 9, MPI_COMM_WORLD, &r[1]);
  MPI_Type_get_extent(copy, &low, &extent);
  MPI_Type_size(copy, &places[0]);
  sum += (unsigned)(low + extent + places[0]);
  MPI_Type_free(&copy);
  point(rank);
  MPI_Waitall(2, r, statuses);
  add(in, sizeof in);
}

static void collectives(int step)
{
  matrix      m[3], all[3], before[3];
  double      x[2] = {step, rank}, y[2];
  static int  out[64 * 20], in[64 * 20];
  static item items[64];
  MPI_Request r[3];
  int         i;

  for (i = 0; i < 3; i++) m[i].a = 1 + (unsigned)(rank * i), m[i].b = 2, m[i].c = (unsigned)step, m[i].d = 3;
  memset(all, 0, sizeof all);
  memset(before, 0, sizeof before);
  MPI_Iallreduce(m, all, 3, matrix_type, product, MPI_COMM_WORLD, &r[0]);
  MPI_Iscan(m, before, 3, matrix_type, product, MPI_COMM_WORLD, &r[1]);
  point(rank);
  MPI_Allreduce(x, y, 2, MPI_DOUBLE, adding, MPI_COMM_WORLD);
  MPI_Waitall(2, r, statuses);
  add(all, sizeof all);
  add(before, sizeof before);
  add(y, sizeof y);
  MPI_Reduce(m, all, 3, matrix_type, product, step % size, MPI_COMM_WORLD);
  if (rank == step % size) add(all, sizeof all);
  for (i = 0; i < 64 * 20; i++) out[i] = rank * 7 + i * step, in[i] = 0;
  MPI_Alltoall(out, 1, wide, in, 2, MPI_INT, MPI_COMM_WORLD);
  add(in, sizeof in);
  memset(items, 0, sizeof items);
  items[rank].i = step * rank, items[rank].x[0] = rank;
  MPI_Iallgather(MPI_IN_PLACE, 0, MPI_INT, items, 1, item_type, MPI_COMM_WORLD, &r[2]);
  point(rank);
  MPI_Wait(&r[2], MPI_STATUS_IGNORE);
  add(items, sizeof items);
}

/* Types of Fortran, and blocks that are dealt out; errors of the program's own. */
static void others(void)
{
  int          out[11], in[11], i, count, n;
  MPI_Count    elements;
  MPI_Datatype again;
  MPI_Status   s;
  char         text[MPI_MAX_ERROR_STRING];

  for (i = 0; i < 11; i++) out[i] = i + rank, in[i] = -1;
  MPI_Sendrecv(out, 1, spread, right, 11, in, 1, spread, left, 11, MPI_COMM_WORLD, &s);
  MPI_Get_elements_x(&s, spread, &elements);
  add(in, sizeof in);
  MPI_Type_create_f90_real(6, 20, &again);
  MPI_Type_size(small_real, &count);
  sum += (unsigned)(elements + count + (again == small_real));
  MPI_Error_string(error_code, text, &n);
  add(text, (size_t)n);
  MPI_Error_class(error_code, &n);
  sum += n == error_class;
  point(rank);
}

static void packing(int step)
{
  item one, two;
  int  at = 0, n;

  memset(&one, 0, sizeof one);
  memset(&two, 0, sizeof two);
  one.i = step, one.c = 'x', one.x[0] = rank;
  MPI_Pack_size(1, item_type, MPI_COMM_WORLD, &n);
  sum += (unsigned)n;
  MPI_Pack(&one, 1, item_type, buf, 400, &at, MPI_COMM_WORLD);
  point(rank);
  MPI_Sendrecv_replace(buf, at, MPI_PACKED, right, 4, left, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  at = 0;
  MPI_Unpack(buf, 400, &at, &two, 1, item_type, MPI_COMM_WORLD);
  add(&two, sizeof two);
}

int main(int argc, char** argv)
{
  int step, steps = argc > 1 ? atoi(argv[1]) : 10;

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  right = (rank + 1) % size, left = (rank + size - 1) % size;
  make_types();
  MPI_Add_error_class(&error_class);
  MPI_Add_error_code(error_class, &error_code);
  MPI_Add_error_string(error_code, "an error of this program");
  MPI_Alloc_mem(400, MPI_INFO_NULL, &buf);
  MPI_Pcontrol(1);
  for (step = 0; step < steps; step++) {
    messages(step);
    short_lived(step);
    collectives(step);
    packing(step);
    others();
  }
  MPI_Free_mem(buf);
  MPI_Op_free(&product);
  MPI_Type_free(&column);
  MPI_Type_free(&matrix_type);
  MPI_Finalize();
  printf("rank %d of %d: %u, %ld points\n", rank, size, sum, points);
  return 0;
}
