/*
** refused.c - built with one of the macros below: what keeps a program from having images, and the message that says
** so.  Without any, a program whose image another build must not load.
*/
#include <mpi.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "at.h"

#if defined(SORTS)
static int compare(const void* a, const void* b)
{
  point(0);
  linger();
  return *(const int*)a - *(const int*)b;
}
#elif defined(STAYS)
static void* nothing(void* arg)
{
  return arg;
}
#endif

int main(int argc, char** argv)
{
  int rank;

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#if defined(SORTS)
  {
    int pair[2] = {2, 1};

    qsort(pair, 2, sizeof *pair, compare);
  }
#elif defined(STAYS)
  {
    pthread_t t;

    if (pthread_create(&t, NULL, nothing, NULL) != 0) return 1;
  }
#elif defined(OPTIONS)
  while (getopt(argc, argv, "ab") != -1) {
    point(0);
    linger();
  }
#elif defined(SOCKET)
  close(socket(AF_UNIX, SOCK_STREAM, 0));
#elif defined(BRIDGE)
  {
    MPI_Comm bridge;

    MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, 1 - rank, 0, &bridge);
    MPI_Comm_free(&bridge);
  }
#elif defined(SLEEPS)
  point(rank); /* of rank 0; rank 1 does not call MPI for a while */
  if (rank == 1) sleep(6);
#elif defined(OPENS) || defined(UNLINKS) || defined(FULL)
  {
#ifdef FULL
    FILE* f = fopen("/dev/full", "w");
#else
    FILE* f = fopen(rank == 0 ? "words" : "words.1", "w");
#endif

    if (f == NULL) return 1;
    fprintf(f, "text\n");
#ifdef UNLINKS
    remove("words");
#endif
    point(rank);
    linger();
    fprintf(f, "more\n");
    fclose(f);
  }
#endif
  point(rank);
  linger();
  point(rank);
  MPI_Finalize();
  printf("rank %d: the end\n", rank);
  return 0;
}
