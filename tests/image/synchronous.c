/*
** synchronous.c STEPS - exchanges that end by consensus: each rank sends to some; when its synchronous sends are
** complete, all that it has sent was received, and it enters a barrier.  A send that is complete too early loses
** messages.  Before a rank receives a message, it writes into a file how many it has had of the sender, which looks
** there afterwards.
*/
#include <fcntl.h>
#include <mpi.h>

#include "at.h"

#define MOST  24 /* messages of a rank in a step */
#define RANKS 8

static int      rank, size, sent[RANKS], had[RANKS];
static unsigned sum, plan, delays;

/* A number below N; the same in each run, if STATE does not depend on when messages come. */
static unsigned chance(unsigned* state, unsigned n)
{
  *state = *state * 1103515245u + 12345u;
  return (*state >> 16) % n;
}

/* Rank TO has begun to receive N messages of rank FROM; with N = 0, how many it has told. */
static int told(int to, int from, int n)
{
  char name[40];
  int  fd, got = n;

  snprintf(name, sizeof name, "had.%d.%d", to, from);
  fd = open(name, n == 0 ? O_RDONLY : O_WRONLY | O_CREAT, 0600);
  if (fd < 0) return 0;
  if (n == 0 ? pread(fd, &got, sizeof got, 0) < 0 : pwrite(fd, &n, sizeof n, 0) < 0) got = 0;
  close(fd);
  return got;
}

static void check(int to)
{
  if (told(to, rank, 0) < sent[to])
    printf("rank %d: %d messages to %d are complete, but it has had %d\n", rank, sent[to], to, told(to, rank, 0));
}

static void receive(int from, int tag)
{
  int value;

  told(rank, from, ++had[from]);
  MPI_Recv(&value, 1, MPI_INT, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  sum += (unsigned)(value * (from + 3));
  if (chance(&delays, 3) == 0) usleep(chance(&delays, 800));
}

/* A message that has come, if there is one. */
static void receive_any(void)
{
  MPI_Status s;
  int        flag;

  MPI_Iprobe(MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &flag, &s);
  if (flag) receive(s.MPI_SOURCE, 7);
}

/* Begin message I of N: the last one to each rank is synchronous, those before it are of any kind. */
static void begin(int i, int n, const int* to, int* value, MPI_Request* r)
{
  int k, last = 1, kind = (int)chance(&plan, 3);

  for (k = i + 1; k < n; k++) last &= to[k] != to[i];
  sent[to[i]]++;
  if (kind == 0 && !last) MPI_Isend(value, 1, MPI_INT, to[i], 7, MPI_COMM_WORLD, r);
  else if (kind == 1) {
    MPI_Ssend_init(value, 1, MPI_INT, to[i], 7, MPI_COMM_WORLD, r);
    MPI_Start(r);
  } else MPI_Issend(value, 1, MPI_INT, to[i], 7, MPI_COMM_WORLD, r);
}

static void exchange(int step)
{
  static int  values[MOST];
  int         to[MOST], i, n = 4 + (int)chance(&plan, MOST - 4), flag, done = 0, in = 0;
  MPI_Request r[MOST], barrier;
  MPI_Status  statuses[MOST];

  for (i = 0; i < n; i++) to[i] = (int)chance(&plan, (unsigned)size), values[i] = step * 100 + i + rank;
  for (i = 0; i < n; i++) begin(i, n, to, &values[i], &r[i]);
  point(rank);
  while (!done) {
    receive_any();
    if (in) {
      MPI_Test(&barrier, &done, MPI_STATUS_IGNORE);
      continue;
    }
    MPI_Testall(n, r, &flag, statuses);
    if (!flag) continue;
    for (i = 0; i < n; i++) check(to[i]);
    for (i = 0; i < n; i++)
      if (r[i] != MPI_REQUEST_NULL) MPI_Request_free(&r[i]);
    MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
    in = 1;
  }
}

/* The next rank gets a message that it receives after a while. */
static void wait_for_next(int step)
{
  int         next = (rank + 1) % size, before = (rank + size - 1) % size;
  MPI_Request r;

  sent[next]++;
  if (rank % 2 == 0 && next != 0) {
    MPI_Ssend(&step, 1, MPI_INT, next, 9, MPI_COMM_WORLD);
    check(next);
    receive(before, 9);
  } else {
    MPI_Issend(&step, 1, MPI_INT, next, 9, MPI_COMM_WORLD, &r);
    point(rank);
    linger();
    receive(before, 9);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    check(next);
  }
}

int main(int argc, char** argv)
{
  int step, steps = argc > 1 ? atoi(argv[1]) : 10;

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  plan = delays = (unsigned)rank;
  for (step = 0; step < steps; step++) {
    exchange(step);
    wait_for_next(step);
  }
  MPI_Finalize();
  printf("rank %d of %d: %u, %ld points\n", rank, size, sum, points);
  return 0;
}
