/* at.h - for the programs of this suite: at the points that AT names on rank AT_RANK, they ask for an image. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long points; /* that were passed */

/* Does AT name the point that was passed last? */
static int asked(void)
{
  const char* at = getenv("AT");

  while (at != NULL && *at != '\0') {
    if (atol(at) == points) return 1;
    at = strchr(at, ',');
    if (at != NULL) at++;
  }
  return 0;
}

/* The next point.  AT=3,10: a signal at the third and tenth one, of each rank if AT_RANK is `all`; DIES=N: the process
   is killed at that one. */
static void point(int rank)
{
  const char *who = getenv("AT_RANK"), *dies = getenv("DIES");

  points++;
  if ((who == NULL || strcmp(who, "all") != 0) && rank != (who != NULL ? atoi(who) : 0)) return;
  if (dies != NULL && atol(dies) == points) raise(SIGKILL);
  if (asked()) raise(SIGUSR1);
}

/* Time for the image that was asked for. */
static inline void linger(void)
{
  int i, flag;

  for (i = 0; i < 3; i++) {
    usleep(1000);
    MPI_Iprobe(MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  }
}
