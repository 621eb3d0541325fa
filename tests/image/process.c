/*
** process.c - what a program in C sets of its process, and what a restart has to set again: handlers of signals, what
** runs at the end and at a fork, the directory, the mask of new files, options, keys of threads, the time zone, what
** was read of standard input.
*/
#define _GNU_SOURCE
#include <fcntl.h>
#include <locale.h>
#include <mpi.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "at.h"

static volatile sig_atomic_t handled;
static int                   rank, forks;
static char                  last_words[40];
static volatile size_t       room = 4096; /* of a path: the compiler does not know it, and lets libc check it */

static void handle(int number)
{
  handled += number == SIGUSR2 ? 1 : 1000;
}

static void at_a_fork(void)
{
  forks++;
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

/* Calls of libc whose results are in memory of the program; 5 where the process is in a directory `below`. */
static int names(void)
{
  char path[4096], *made = NULL, *real = realpath(".", NULL), *here = getcwd(NULL, 0);
  int  n = real != NULL && here != NULL && asprintf(&made, "%s", strrchr(real, '/') + 1) == 5 ? 5 : -1000;

  if (getcwd(path, room) == NULL || strcmp(path, here) != 0) n = -1000;
  if (realpath(here, path) == NULL || strcmp(path, real) != 0 || strcmp(made, "below") != 0) n = -1000;
  free(made);
  free(real);
  free(here);
  return n;
}

int main(int argc, char** argv)
{
  const time_t     zero = 0;
  struct tm        at;
  pid_t            child;
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
  pthread_atfork(at_a_fork, NULL, NULL);
  setenv("TZ", "ABC-5", 1);
  sum = localtime(&zero)->tm_hour;
  if (rank == 0 && mkdir("below", 0777) != 0) return 1;
  MPI_Barrier(MPI_COMM_WORLD);
  if (chdir("below") != 0 || pthread_key_create(&key, NULL) != 0 || pthread_setspecific(key, last_words) != 0) return 1;
  for (i = 0; i < steps; i++) {
    point(rank);
    linger(); /* it is taken before the last line, which the next run prints */
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    sum = sum % 1000 + i;
    if (i == steps - 2) pthread_atfork(at_a_fork, NULL, NULL); /* once more, after a restart */
    raise(SIGUSR2);
    sum += localtime_r(&zero, &at)->tm_hour + names();
    if (mode_of_new_file() == 0640) modes++;
    if (rank == 0 && read(0, letter, 1) == 1) sum += letter[0];
    snprintf((char*)pthread_getspecific(key), sizeof last_words, "after %d steps, option %d", i + 1, optind);
  }
  if ((child = fork()) == 0) _exit(0);
  waitpid(child, NULL, 0);
  printf("rank %d: sum %d, signals %d, modes %d, last letter %s, forks %d, %s", rank, sum, (int)handled % 1000, modes,
         letter, forks, ctime(&zero));
  MPI_Finalize();
  return 0;
}
