/*
** messages.c STEPS - messages of all kinds between all ranks: small and large, posted early and received late, with and
** without wildcards, probed, matched, persistent, cancelled.  Each rank prints a number that depends on every byte.
*/
#include <mpi.h>

#include "at.h"

#define LATE 5 /* steps between a message and its receive, and between a receive and its message */

static int      rank, size;
static unsigned sum;

/* A size from 4 bytes to 400 kB, in integers. */
static int length(int step, int who)
{
  static const int sizes[] = {1, 100, 3, 20000, 1000, 7, 100000, 300};

  return sizes[(step * 5 + who * 3) & 7] + (step & 3);
}

static int* fill(int n, int seed)
{
  int *data = malloc((size_t)n * sizeof *data), i;

  for (i = 0; i < n; i++) data[i] = seed * 31 + i;
  return data;
}

static void add(const int* data, int n)
{
  int i;

  for (i = 0; i < n; i++) sum = sum * 31 + (unsigned)data[i];
}

/* To the right and from the left, nonblocking, in reverse order of waiting. */
static void ring(int step)
{
  int  right = (rank + 1) % size, left = (rank + size - 1) % size, n = length(step, rank), m = length(step, left), got;
  int *out = fill(n, step + rank), *in = malloc((size_t)m * sizeof *in);
  MPI_Request r[2];
  MPI_Status  s[2];

  MPI_Isend(out, n, MPI_INT, right, 1, MPI_COMM_WORLD, &r[1]);
  point(rank);
  MPI_Irecv(in, m, MPI_INT, left, MPI_ANY_TAG, MPI_COMM_WORLD, &r[0]);
  point(rank);
  MPI_Waitall(2, r, s);
  MPI_Get_count(&s[0], MPI_INT, &got);
  add(in, m);
  sum += (unsigned)(got + s[0].MPI_SOURCE + s[0].MPI_TAG);
  free(in);
  free(out);
}

/* All to one, which does not know who is first: what it adds does not depend on the order. */
static void gather(int step)
{
  int         root = step % size, n = length(step, rank), i, got, flag = 0;
  int*        data = fill(n, step * 2 + rank);
  unsigned    all = 0, before = sum;
  MPI_Status  s;
  MPI_Message m;

  if (rank != root) {
    if (step % 2) MPI_Ssend(data, n, MPI_INT, root, 2, MPI_COMM_WORLD);
    else MPI_Send(data, n, MPI_INT, root, 2, MPI_COMM_WORLD);
  }
  free(data);
  for (i = 1; i < size && rank == root; i++) {
    if (step % 3 == 0) MPI_Mprobe(MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &m, &s);
    else if (step % 3 == 1) MPI_Probe(MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &s);
    else
      for (flag = 0; !flag;) MPI_Iprobe(MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &flag, &s);
    point(rank);
    MPI_Get_count(&s, MPI_INT, &got);
    data = malloc((size_t)got * sizeof *data);
    if (step % 3 == 0) MPI_Mrecv(data, got, MPI_INT, &m, &s);
    else MPI_Recv(data, got, MPI_INT, s.MPI_SOURCE, 2, MPI_COMM_WORLD, &s);
    sum = 0;
    add(data, got);
    all += sum;
    free(data);
  }
  sum = before + all;
}

static int*        early[LATE]; /* receives that are posted LATE steps before their message is sent */
static MPI_Request posted[LATE];

static void early_receives(int step)
{
  int right = (rank + 1) % size, left = (rank + size - 1) % size, slot = step % LATE, *data;

  if (step >= LATE) {
    data = fill(500, step + rank);
    MPI_Send(data, 500, MPI_INT, right, 100 + slot, MPI_COMM_WORLD);
    free(data);
    MPI_Wait(&posted[slot], MPI_STATUS_IGNORE);
    add(early[slot], 500);
  }
  if (early[slot] == NULL) early[slot] = malloc(500 * sizeof(int));
  MPI_Irecv(early[slot], 500, MPI_INT, left, 100 + slot, MPI_COMM_WORLD, &posted[slot]);
}

/* Messages that are received LATE steps after they were sent. */
static void late_messages(int step)
{
  int left = (rank + size - 1) % size, n = length(step, 1) % 3000 + 1, *data = fill(n, step * 3 + rank), flag = 0, i;
  MPI_Request r[2];
  static int  kept[LATE][3010];

  memcpy(kept[step % LATE], data, (size_t)n * sizeof *data);
  free(data);
  MPI_Isend(kept[step % LATE], n, MPI_INT, left, 200 + step, MPI_COMM_WORLD, &r[0]);
  MPI_Request_free(&r[0]);
  if (step < LATE) return;
  n = length(step - LATE, 1) % 3000 + 1;
  data = malloc((size_t)n * sizeof *data);
  MPI_Irecv(data, n, MPI_INT, (rank + 1) % size, 200 + step - LATE, MPI_COMM_WORLD, &r[0]);
  r[1] = MPI_REQUEST_NULL;
  if (step % 2)
    while (!flag) MPI_Testany(2, r, &i, &flag, MPI_STATUS_IGNORE);
  else MPI_Waitany(2, r, &i, MPI_STATUS_IGNORE);
  add(data, n);
  free(data);
}

static MPI_Request lasting[2];
static int         out[64], in[64];

static void persistent(int step)
{
  MPI_Status s[2];
  int        i, count, which[2], done = 0;

  for (i = 0; i < 64; i++) out[i] = step * rank + i;
  MPI_Startall(2, lasting);
  point(rank);
  while (done < 2) {
    MPI_Waitsome(2, lasting, &count, which, s);
    done += count;
  }
  add(in, 64);
}

/* A receive that nothing matches, to oneself, to nobody. */
static void odds(int step)
{
  MPI_Request r;
  MPI_Status  s;
  int         flag, x = step, y = 0;

  MPI_Irecv(&y, 1, MPI_INT, MPI_ANY_SOURCE, 9999, MPI_COMM_WORLD, &r);
  point(rank);
  MPI_Cancel(&r);
  MPI_Wait(&r, &s);
  MPI_Test_cancelled(&s, &flag);
  sum += (unsigned)flag;
  MPI_Sendrecv(&x, 1, MPI_INT, rank, 3, &y, 1, MPI_INT, rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  sum += (unsigned)y;
  MPI_Sendrecv(&x, 1, MPI_INT, 0, 3, &y, 1, MPI_INT, 0, 3, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  MPI_Recv(&y, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &s);
  sum += (unsigned)(s.MPI_SOURCE == MPI_PROC_NULL);
  MPI_Sendrecv_replace(&x, 1, MPI_INT, (rank + 1) % size, 4, (rank + size - 1) % size, 4, MPI_COMM_WORLD, &s);
  sum += (unsigned)x;
}

/* Buffered: the data are overwritten before they are received. */
static void buffered(int step)
{
  static MPI_Request again;
  static int         value, got;
  static char*       space;
  MPI_Request        r;
  int                n = length(step, 3), right = (rank + 1) % size, left = (rank + size - 1) % size, m, *data;

  if (space == NULL) {
    space = malloc(4000000);
    MPI_Buffer_attach(space, 4000000);
    MPI_Bsend_init(&value, 1, MPI_INT, right, 11, MPI_COMM_WORLD, &again);
  }
  data = fill(n, step + rank);
  MPI_Bsend(data, n, MPI_INT, right, 10, MPI_COMM_WORLD);
  MPI_Ibsend(data, 1, MPI_INT, right, 12, MPI_COMM_WORLD, &r);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  value = step + rank;
  MPI_Start(&again);
  MPI_Wait(&again, MPI_STATUS_IGNORE);
  memset(data, 0, (size_t)n * sizeof *data);
  value = 0;
  point(rank);
  m = length(step, 3);
  MPI_Recv(data, m, MPI_INT, left, 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  add(data, m);
  MPI_Recv(&got, 1, MPI_INT, left, 11, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  add(&got, 1);
  MPI_Recv(&got, 1, MPI_INT, left, 12, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  add(&got, 1);
  if (step % 3 == 2) {
    MPI_Buffer_detach(&space, &m);
    sum += (unsigned)m;
    MPI_Buffer_attach(space, m);
  }
  free(data);
}

/* A message that is too long: an error of each call that may complete it, also of one that was drained. */
static void cut(void)
{
  int         big[4] = {1, 2, 3, 4}, got[4], rc[3], k, index, to = (rank + 1) % size, from = (rank + size - 1) % size;
  MPI_Request r[3], sends[3];
  MPI_Status  status[2];

  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (k = 0; k < 3; k++) MPI_Isend(big, 4, MPI_INT, to, 90 + k, MPI_COMM_WORLD, &sends[k]);
  point(rank);
  rc[0] = MPI_Recv(got, 2, MPI_INT, from, 90, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Irecv(got, 2, MPI_INT, from, 91, MPI_COMM_WORLD, &r[0]);
  rc[1] = MPI_Waitany(1, r, &index, MPI_STATUS_IGNORE);
  MPI_Irecv(got, 2, MPI_INT, from, 92, MPI_COMM_WORLD, &r[0]);
  r[1] = MPI_REQUEST_NULL;
  rc[2] = MPI_Waitall(2, r, status);
  for (k = 0; k < 3; k++) MPI_Error_class(rc[k], &rc[k]);
  if (MPI_Sendrecv(&k, 1, MPI_INT, size, 5, &r[0], 1, MPI_INT, rank, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE) ==
      MPI_SUCCESS)
    printf("rank %d: MPI_Sendrecv to a rank that there is not\n", rank);
  MPI_Error_class(status[0].MPI_ERROR, &k);
  if (rc[0] != MPI_ERR_TRUNCATE || rc[1] != MPI_ERR_TRUNCATE || rc[2] != MPI_ERR_IN_STATUS || k != MPI_ERR_TRUNCATE)
    printf("rank %d: errors %d %d %d %d of messages that are too long\n", rank, rc[0], rc[1], rc[2], k);
  for (k = 0; k < 3; k++) MPI_Wait(&sends[k], MPI_STATUS_IGNORE);
  r[0] = (MPI_Request)0x98000123; /* no request */
  rc[0] = MPI_Wait(&r[0], MPI_STATUS_IGNORE);
  rc[1] = MPI_Test(&r[0], &k, MPI_STATUS_IGNORE);
  rc[2] = MPI_Waitall(1, r, status);
  for (k = 0; k < 3; k++) MPI_Error_class(rc[k], &rc[k]);
  if (rc[0] != MPI_ERR_REQUEST || rc[1] != MPI_ERR_REQUEST || rc[2] != MPI_ERR_REQUEST)
    printf("rank %d: errors %d %d %d of what is no request\n", rank, rc[0], rc[1], rc[2]);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char** argv)
{
  int step, steps = argc > 1 ? atoi(argv[1]) : 10, slot;

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Send_init(out, 64, MPI_INT, (rank + 1) % size, 7, MPI_COMM_WORLD, &lasting[0]);
  MPI_Recv_init(in, 64, MPI_INT, (rank + size - 1) % size, MPI_ANY_TAG, MPI_COMM_WORLD, &lasting[1]);
  MPI_Request_free(&lasting[1]);
  MPI_Recv_init(in, 64, MPI_INT, (rank + size - 1) % size, 7, MPI_COMM_WORLD, &lasting[1]);
  for (step = 0; step < steps; step++) {
    ring(step);
    gather(step);
    early_receives(step);
    late_messages(step);
    persistent(step);
    odds(step);
    buffered(step);
    if (step % 4 == 0) cut();
  }
  for (slot = 0; slot < LATE; slot++) {
    MPI_Cancel(&posted[slot]);
    MPI_Wait(&posted[slot], MPI_STATUS_IGNORE);
  }
  for (step = steps - LATE; step < steps; step++) {
    int n = length(step, 1) % 3000 + 1, *data = malloc((size_t)n * sizeof *data);

    MPI_Recv(data, n, MPI_INT, (rank + 1) % size, 200 + step, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    add(data, n);
    free(data);
  }
  point(rank);
  MPI_Request_free(&lasting[0]);
  MPI_Request_free(&lasting[1]);
  MPI_Finalize();
  printf("rank %d of %d: %u, %ld points\n", rank, size, sum, points);
  return 0;
}
