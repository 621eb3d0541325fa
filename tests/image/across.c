/*
** across.c STEPS - collectives of four communicators at a time, which the ranks begin in different orders, and chains
** in which a collective of one waits for a message, and that for a collective of another.
*/
#include <mpi.h>

#include "at.h"

#define COMMS 4

int main(int argc, char** argv)
{
  int         rank, size, step, i, k, steps = atoi(argv[1]), me[COMMS], of[COMMS];
  long        sum = 0, in[COMMS], out[COMMS], word, from;
  MPI_Comm    comm[COMMS];
  MPI_Request flow[COMMS], barrier, message;

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm[0]);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comm[1]);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm[2]);
  MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &comm[3]);
  for (i = 0; i < COMMS; i++) MPI_Comm_rank(comm[i], &me[i]), MPI_Comm_size(comm[i], &of[i]);
  for (step = 0; step < steps; step++) {
    for (k = 0; k < COMMS; k++) {
      i = (k + rank + step) % COMMS;
      in[i] = sum % 1000 + 10 * i + rank + step;
      if (i % 2 == 0) MPI_Iallreduce(&in[i], &out[i], 1, MPI_LONG, MPI_SUM, comm[i], &flow[i]);
      else MPI_Iscan(&in[i], &out[i], 1, MPI_LONG, MPI_SUM, comm[i], &flow[i]);
      point(rank);
    }
    for (k = 0; k < COMMS; k++) {
      i = (step % 2 == 0 ? k : COMMS - 1 - k);
      MPI_Wait(&flow[i], MPI_STATUS_IGNORE);
      sum = (sum * 31 + out[i]) % 1000003;
    }
    /* the first of a communicator waits for the barrier of all, and the others for its message */
    MPI_Ibarrier(comm[step % COMMS], &barrier);
    point(rank);
    MPI_Irecv(&from, 1, MPI_LONG, MPI_ANY_SOURCE, 3, comm[2], &message);
    MPI_Wait(&barrier, MPI_STATUS_IGNORE);
    word = sum + step;
    MPI_Send(&word, 1, MPI_LONG, (me[2] + 1) % of[2], 3, comm[2]);
    point(rank);
    MPI_Wait(&message, MPI_STATUS_IGNORE);
    MPI_Bcast(&from, 1, MPI_LONG, step % of[3], comm[3]);
    point(rank);
    MPI_Allreduce(MPI_IN_PLACE, &from, 1, MPI_LONG, MPI_MAX, comm[1]);
    sum = (sum * 31 + from) % 1000003;
  }
  printf("rank %d: %ld, %d\n", rank, sum, me[2]);
  for (i = 0; i < COMMS; i++) MPI_Comm_free(&comm[i]);
  MPI_Finalize();
  return 0;
}
