/* standin.c - what the stand-in for mpi4py needs of MPI.  A communicator is the integer that Fortran has for it. */
#include <mpi.h>
#include <stddef.h>

int  standin_world(void);
void standin_end(void);
int  standin_grid(int comm, int down, int across);
int  standin_split(int comm, int color);
int  standin_rank(int comm);
int  standin_size(int comm);
int  standin_shift(int comm, int direction);
void standin_sendrecv(int comm, const char* from, int bytes, int to, char* into, int room, int source);
void standin_send(int comm, const char* from, int bytes, int to);
void standin_recv(int comm, char* into, int room, int source);

int standin_world(void)
{
  int started = 0;

  MPI_Initialized(&started);
  if (!started) MPI_Init(NULL, NULL);
  return (int)MPI_Comm_c2f(MPI_COMM_WORLD);
}

void standin_end(void)
{
  int ended = 0;

  MPI_Finalized(&ended);
  if (!ended) MPI_Finalize();
}

/* The neighbours at a wall are MPI_PROC_NULL. */
int standin_grid(int comm, int down, int across)
{
  int      dims[2], periods[2] = {0, 0};
  MPI_Comm grid;

  dims[0] = down;
  dims[1] = across;
  MPI_Cart_create(MPI_Comm_f2c(comm), 2, dims, periods, 0, &grid);
  return (int)MPI_Comm_c2f(grid);
}

/* The ranks of the same COLOR; those of a negative one get MPI_COMM_NULL. */
int standin_split(int comm, int color)
{
  MPI_Comm part;

  MPI_Comm_split(MPI_Comm_f2c(comm), color < 0 ? MPI_UNDEFINED : color, 0, &part);
  return (int)MPI_Comm_c2f(part);
}

int standin_rank(int comm)
{
  int rank = -1;

  MPI_Comm_rank(MPI_Comm_f2c(comm), &rank);
  return rank;
}

int standin_size(int comm)
{
  int size = -1;

  MPI_Comm_size(MPI_Comm_f2c(comm), &size);
  return size;
}

/* The neighbour behind in DIRECTION; with -1 - DIRECTION the one before. */
int standin_shift(int comm, int direction)
{
  int before = 0, behind = 0;

  MPI_Cart_shift(MPI_Comm_f2c(comm), direction < 0 ? -1 - direction : direction, 1, &before, &behind);
  return direction < 0 ? before : behind;
}

void standin_sendrecv(int comm, const char* from, int bytes, int to, char* into, int room, int source)
{
  MPI_Sendrecv(from, bytes, MPI_BYTE, to, 0, into, room, MPI_BYTE, source, 0, MPI_Comm_f2c(comm), MPI_STATUS_IGNORE);
}

void standin_send(int comm, const char* from, int bytes, int to)
{
  MPI_Send(from, bytes, MPI_BYTE, to, 0, MPI_Comm_f2c(comm));
}

void standin_recv(int comm, char* into, int room, int source)
{
  MPI_Recv(into, room, MPI_BYTE, source, 0, MPI_Comm_f2c(comm), MPI_STATUS_IGNORE);
}
