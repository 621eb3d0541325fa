/*
** scr_python.c - MPI for scr.py, in terms in which all MPI libraries are alike.
**
** What the handle of a communicator is in C differs between MPI libraries; the integer that Fortran has for it does
** not, and py2f of mpi4py tells it.  The library that scr.py loads is this file and scr_impl.c:
**
**   mpicc -shared -fPIC -DSCR_API=extern scr_impl.c scr_python.c -o libscr_python.so -lz -lpthread
*/
#include <sys/types.h>
#include <unistd.h>
#include "scr.h"

SCR_API int  scr_python_init(const int* comm, int* rank, int* ranks);
SCR_API void scr_python_end(int failed);

static pid_t started_by; /* the process in which this file has started MPI; a child of it has no part in that */

/*
** Start the library over COMM, a communicator of Fortran, or, if COMM is NULL, over MPI_COMM_WORLD; then MPI is started
** first, unless that has been done.  RANK and RANKS receive the rank of this process and the number of ranks.  MPI must
** be initialized if COMM is given.  Returns the code of SCR_Init_comm.
*/
int scr_python_init(const int* comm, int* rank, int* ranks)
{
  MPI_Comm world = MPI_COMM_WORLD;
  int      started = 0, ended = 0, level, rc;

  MPI_Initialized(&started);
  MPI_Finalized(&ended);
  if (comm != NULL) world = MPI_Comm_f2c((MPI_Fint)*comm);
  else if (!started) {
    MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level);
    started_by = getpid();
  }
  rc = SCR_Init_comm(world);
  if ((rc == SCR_SUCCESS || rc == SCR_ERR_DISABLED) && !ended && world != MPI_COMM_NULL) {
    MPI_Comm_rank(world, rank);
    MPI_Comm_size(world, ranks);
  }
  return rc;
}

/* End MPI where this file has started it.  FAILED tells that other ranks may not end, too: then they are made to. */
void scr_python_end(int failed)
{
  int ended = 0;

  if (started_by != getpid()) return;
  MPI_Finalized(&ended);
  if (ended) return;
  if (failed) MPI_Abort(MPI_COMM_WORLD, 1);
  else MPI_Finalize();
}
