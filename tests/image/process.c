/*
** process.c - what a program in C sets of its process, and what a restart has to set again: handlers of signals, what
** runs at the end, the directory, the mask of new files, options, keys of threads, what was read of standard input.
*/
#include <fcntl.h>
#include <locale.h>
#include <mpi.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "at.h"

static volatile sig_atomic_t handled;
static int                   rank;
static char                  last_words[40];

static void handle(int number)
{
  handled += number == SIGUSR2 ? 1 : 1000;
}

static void at_the_end(void)
{
  printf("rank %d: %s\n", rank, last_words);
}

/* The mode of a file that is made now, in the directory where the process is. */
static int mode_of_new_file(void)
{
  struct stat st;
  char        name[40];
  int         fd;

  snprintf(name, sizeof name, "made.%d", rank);
  remove(name);
  fd = open(name, O_CREAT | O_WRONLY, 0666);
  if (fd < 0 || close(fd) != 0 || stat(name, &st) != 0) return -1;
  return (int)(st.st_mode & 0777);
}

int main(int argc, char** argv)
{
  pthread_key_t    key;
  struct sigaction action;
  char             letter[2] = "-";
  int              i, c, steps = 0, sum = 0, modes = 0;

  while ((c = getopt(argc, argv, "n:")) != -1)
    if (c == 'n') steps = atoi(optarg);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  atexit(at_the_end);
  memset(&action, 0, sizeof action);
  action.sa_handler = handle;
  sigaction(SIGUSR2, &action, NULL);
  signal(SIGUSR1, handle); /* which SCR_SIGNALS names: both see it */
  setlocale(LC_ALL, "C");
  umask(027);
  if (rank == 0 && mkdir("below", 0777) != 0) return 1;
  MPI_Barrier(MPI_COMM_WORLD);
  if (chdir("below") != 0 || pthread_key_create(&key, NULL) != 0 || pthread_setspecific(key, last_words) != 0) return 1;
  for (i = 0; i < steps; i++) {
    point(rank);
    linger(); /* it is taken before the last line, which the next run prints */
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    sum = sum % 1000 + i;
    raise(SIGUSR2);
    if (mode_of_new_file() == 0640) modes++;
    if (rank == 0 && read(0, letter, 1) == 1) sum += letter[0];
    snprintf((char*)pthread_getspecific(key), sizeof last_words, "after %d steps, option %d", i + 1, optind);
  }
  printf("rank %d: sum %d, signals %d, modes %d, last letter %s\n", rank, sum, (int)handled % 1000, modes, letter);
  MPI_Finalize();
  return 0;
}
