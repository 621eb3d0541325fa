/*
** scr_python.c - MPI for scr.py, in terms in which all MPI libraries are alike.
**
** What the handle of a communicator is in C differs between MPI libraries; the integer that Fortran has for it does
** not, and py2f of mpi4py tells it.  The library that scr.py loads is this file and scr_impl.c:
**
**   mpicc -shared -fPIC -DSCR_API=extern scr_impl.c scr_python.c -o libscr_python.so -lz -lpthread
*/
#include <stdio.h>
#include <sys/types.h>
#include <unistd.h>
#include "scr.h"

SCR_API int  scr_python_init(const int* comm, int* rank, int* ranks);
SCR_API void scr_python_end(int code, int seconds);

static pid_t    started_by; /* the process in which this file has started MPI; a child of it has no part in that */
static MPI_Comm end_comm;   /* of all ranks, on which they meet in the end */

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
    MPI_Comm_dup(MPI_COMM_WORLD, &end_comm);
    started_by = getpid();
  }
  rc = SCR_Init_comm(world);
  if ((rc == SCR_SUCCESS || rc == SCR_ERR_DISABLED) && !ended && world != MPI_COMM_NULL) {
    MPI_Comm_rank(world, rank);
    MPI_Comm_size(world, ranks);
  }
  return rc;
}

/*
** End MPI where this file has started it.  CODE is the exit code of this rank.  If it is not 0, other ranks may go on:
** they are waited for SECONDS seconds, and then made to end.
*/
void scr_python_end(int code, int seconds)
{
  MPI_Request others;
  int         ended = 0, all = 0;
  double      began;

  if (started_by != getpid()) return;
  MPI_Finalized(&ended);
  if (ended) return;
  if (code == 0 || seconds > 0) {
    MPI_Ibarrier(end_comm, &others);
    began = MPI_Wtime();
    while (!all && (code == 0 || MPI_Wtime() < began + seconds)) {
      MPI_Test(&others, &all, MPI_STATUS_IGNORE);
      if (!all) usleep(1000);
    }
    if (all) {
      MPI_Comm_free(&end_comm);
      MPI_Finalize();
      return;
    }
    fprintf(stderr,
            "scr.py: sys.exit(%d) has ended this rank, but not all others within %d seconds: MPI_Abort ends them\n",
            code, seconds);
  }
  usleep(200000); /* MPI_Abort ends the launcher, too, which else loses the message */
  MPI_Abort(MPI_COMM_WORLD, code);
}
