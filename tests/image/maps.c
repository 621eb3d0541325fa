/*
** maps.c - memory that a program maps itself: anonymous, reserved and opened in part, of a file, cut, moved.  And the
** names of MPI-1.
*/
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <sys/mman.h>
#include <unistd.h>

#include "at.h"

#define PAGE 4096UL

static void need(int ok, const char* what)
{
  if (ok) return;
  fprintf(stderr, "%s fails\n", what);
  exit(1);
}

static unsigned char* map(size_t n, int protection, int fd)
{
  int   flags = MAP_PRIVATE | (fd < 0 ? MAP_ANONYMOUS | MAP_NORESERVE : 0);
  void* p = mmap(NULL, n, protection, flags, fd, 0);

  need(p != MAP_FAILED, "mmap");
  return p;
}

static long sum(const unsigned char* p, size_t n)
{
  size_t i;
  long   s = 0;

  for (i = 0; i < n; i++) s = (s * 31 + p[i]) % 1000003;
  return s;
}

/* A type of two integers, by the names of MPI-1. */
static MPI_Datatype make_pair(void)
{
  MPI_Datatype types[2] = {MPI_INT, MPI_INT}, pair;
  MPI_Aint     places[2] = {0, 2 * sizeof(int)}, extent;
  int          lengths[2] = {1, 1};

  need(MPI_Type_struct(2, lengths, places, types, &pair) == MPI_SUCCESS && MPI_Type_commit(&pair) == MPI_SUCCESS,
       "struct");
  need(MPI_Type_extent(pair, &extent) == MPI_SUCCESS && extent == 3 * sizeof(int), "MPI_Type_extent");
  return pair;
}

int main(int argc, char** argv)
{
  unsigned char *plain, *reserved, *of_file, *cut, *moving, *hidden, *sparse;
  int            i, fd, rank, ranks, total = 0, steps = argc > 1 ? atoi(argv[1]) : 10, pair[3] = {0, 7, 0};
  size_t         moving_size = PAGE;
  MPI_Datatype   type;
  char           path[40];

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  type = make_pair();
  snprintf(path, sizeof path, "mapped.%d", rank);
  fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0666);
  need(fd >= 0 && write(fd, argv[0], strlen(argv[0])) > 0, "write");
  plain = map(3 * PAGE + 100, PROT_READ | PROT_WRITE, -1);
  reserved = map(1UL << 36, PROT_NONE, -1);
  need(mprotect(reserved + (1UL << 33), 2 * PAGE, PROT_READ | PROT_WRITE) == 0, "mprotect");
  of_file = map(2 * PAGE, PROT_READ | PROT_WRITE, fd); /* its second page is behind the end */
  cut = map(10 * PAGE, PROT_READ | PROT_WRITE, -1);
  moving = map(moving_size, PROT_READ | PROT_WRITE, -1);
  hidden = map(PAGE, PROT_READ | PROT_WRITE, -1);
  sparse = map(1UL << 36, PROT_READ | PROT_WRITE, -1); /* far more than there is */
  need(close(fd) == 0 && truncate(path, 3) == 0 && unlink(path) == 0, "close");
  for (i = 0; i < steps; i++) {
    plain[i * 1000 % (3 * PAGE + 100)] += (unsigned char)(i + rank);
    reserved[(1UL << 33) + i * 500 % (2 * PAGE)] ^= (unsigned char)(i * 7);
    of_file[i]++;
    cut[(i % 3 + 7) * PAGE + i] = (unsigned char)i;
    sparse[(size_t)i << 32] = (unsigned char)i;
    if (i == 1) {
      hidden[7] = 7;
      need(mprotect(hidden, PAGE, PROT_NONE) == 0, "mprotect to nothing");
      hidden = mremap(hidden, PAGE, 2 * PAGE, MREMAP_MAYMOVE);
      need(hidden != MAP_FAILED, "mremap of what cannot be read");
    }
    moving[moving_size - 1] = (unsigned char)i;
    if (i == 3) need(munmap(cut + 2 * PAGE, 3 * PAGE) == 0, "munmap");
    if (i == 4) memset(map(3 * PAGE, PROT_READ | PROT_WRITE, -1), 'x', 3 * PAGE); /* into the hole */
    if (i == 5) need(mprotect(reserved + (1UL << 33) + PAGE, PAGE, PROT_NONE) == 0, "mprotect to nothing");
    if (i == 8) need(mprotect(reserved + (1UL << 33) + PAGE, PAGE, PROT_READ | PROT_WRITE) == 0, "mprotect back");
    moving = mremap(moving, moving_size, moving_size + PAGE, MREMAP_MAYMOVE);
    need(moving != MAP_FAILED, "mremap");
    moving_size += PAGE;
    point(rank);
    pair[0] = i, pair[2] = rank;
    MPI_Sendrecv_replace(pair, 1, type, (rank + 1) % ranks, 1, (rank + ranks - 1) % ranks, 1, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
    total += pair[0] * pair[1] + pair[2];
  }
  MPI_Finalize();
  need(mprotect(hidden, 2 * PAGE, PROT_READ) == 0 && hidden[7] == 7, "what could not be read");
  for (i = 0; i < steps; i++) total += sparse[(size_t)i << 32];
  printf("rank %d: total %d, sums %ld %ld %ld %ld %ld\n", rank, total, sum(plain, 3 * PAGE + 100),
         sum(reserved + (1UL << 33), PAGE), sum(of_file, PAGE), sum(cut + 5 * PAGE, 5 * PAGE),
         sum(moving, moving_size));
  return 0;
}
