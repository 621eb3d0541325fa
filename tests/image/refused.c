/*
** refused.c - built with one of the macros below: what keeps a program from having images, and the message that says
** so.  Without any, a program whose image another build must not load.  With NUMA it uses a library that MPI uses, too.
** With FREES it frees much of its heap, and takes it again after the image.
*/
#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <mpi.h>
#include <printf.h>
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
#elif defined(PRINTS)
static int print(FILE* f, const struct printf_info* how, const void* const* args)
{
  (void)how, (void)args;
  return fputs("own", f);
}

static int count(const struct printf_info* how, size_t n, int* types, int* size)
{
  (void)how, (void)n, (void)types, (void)size;
  return 0;
}
#endif

#if defined(NUMA)
int numa_available(void);
#elif defined(FREES)
#define BLOCKS 60
#define SIZE   500000
static char* blocks[BLOCKS];

/* All blocks, where K is odd, with the byte K. */
static int is_whole(void)
{
  int i, k, whole = 1;

  for (k = 1; k < BLOCKS; k += 2)
    for (i = 0; i < SIZE; i++) whole &= blocks[k][i] == k;
  return whole;
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
#elif defined(NUMA)
  numa_available();
#elif defined(FREES)
  {
    int   k;
    char* zeros;

    for (k = 0; k < BLOCKS; k++) blocks[k] = memset(malloc(SIZE), k, SIZE);
    for (k = 0; k < BLOCKS; k += 2) free(blocks[k]);
    point(rank);
    linger();
    for (k = 0; k < BLOCKS; k += 2) blocks[k] = memset(malloc(SIZE), 7, SIZE);
    if (!is_whole()) return 1;
    free(blocks[30]);
    zeros = calloc(SIZE, 1);
    for (k = 0; k < SIZE; k++)
      if (zeros[k] != 0) return 1;
  }
#elif defined(OPTIONS)
  while (getopt(argc, argv, "ab") != -1) {
    point(0);
    linger();
  }
#elif defined(BLOCKS_SIGNAL)
  {
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    signal(SIGUSR2, SIG_IGN);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGUSR2, SIG_DFL);
    raise(SIGUSR2);
    point(rank);
    linger();
    signal(SIGUSR2, SIG_IGN);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
  }
#elif defined(REWINDS)
  {
    char letter = '-';

    if (read(0, &letter, 1) != 1 || lseek(0, 0, SEEK_SET) != 0) return 1;
    point(rank);
    linger();
    printf("%c\n", letter);
  }
#elif defined(PRINTS)
  register_printf_specifier('Q', print, count);
#elif defined(SOCKET)
  close(socket(AF_UNIX, SOCK_STREAM, 0));
#elif defined(GROUPS)
  setgrent();
#elif defined(BRIDGE)
  {
    MPI_Comm bridge;

    MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, 1 - rank, 0, &bridge);
    MPI_Comm_free(&bridge);
  }
#elif defined(SLEEPS)
  point(rank); /* of rank 0; rank 1 does not call MPI for a while */
  if (rank == 1) sleep(6);
#elif defined(LISTS)
  {
    DIR* d = argc > 1 ? opendir("/usr") : fdopendir(open("/usr", O_RDONLY | O_DIRECTORY));
    int  n;

    for (n = 0; readdir(d) != NULL; n++) {
      if (n != 3) continue;
      point(rank);
      linger();
    }
    closedir(d);
    usleep(200000); /* a request that was called off is repeated after a tenth of a second */
    printf("%d entries\n", n);
  }
#elif defined(PIPES)
  {
    FILE* f = popen("echo from another program", "r");
    char  line[80] = "";

    point(rank);
    linger();
    if (fgets(line, sizeof line, f) != NULL) printf("%s", line);
    pclose(f);
    usleep(200000);
  }
#elif defined(OPENS) || defined(UNLINKS) || defined(FULL)
  {
#ifdef FULL
    FILE* f = fopen("/dev/full", "w");
#else
    FILE* f = fopen(rank == 0 ? "words" : "words.1", "w");
#endif

    if (f == NULL) return 1;
#ifndef EMPTY
    fprintf(f, "text\n");
#endif
#ifdef UNLINKS
    remove("words");
#endif
    point(rank);
    linger();
#ifdef GROWS
    fprintf(f, "more\n");
    fflush(f);
    point(rank);
    linger();
#endif
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
