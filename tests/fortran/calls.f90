! calls.f90 - what the calls return to a Fortran program with the modules.  The checks are in calls.inc.
program calls
  use mpi_f08
  use scr
  implicit none
  integer :: rank, faults = 0, ierr, flag
  character(8) :: part

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call get_command_argument(1, part)
  if (part == 'first') then
    call before_init
    call scr_init() ! ierr may be left out
    call after_init
    call scr_finalize()
    call scr_init_comm(MPI_COMM_WORLD%MPI_VAL, ierr)
    call check(ierr == SCR_SUCCESS, 'scr_init_comm takes an integer')
  else
    call scr_init_comm(MPI_COMM_WORLD)
    call second_run
  end if
  call scr_have_restart(flag, part)
  call scr_should_exit(flag)
  call scr_finalize(ierr)
  call check(ierr == SCR_SUCCESS, 'scr_finalize')
  if (faults == 0 .and. rank == 0) print '(a)', 'all calls are right'
  call MPI_Finalize()

contains

  include 'calls.inc'

end program
