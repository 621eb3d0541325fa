! calls.f - what the calls return to a program in fixed form with mpif.h
! and scrf.h.  The checks are in calls.inc.
      program calls
      implicit none
      include 'mpif.h'
      include 'scrf.h'
      integer rank, faults, ierr
      character*8 part

      faults = 0
      call MPI_INIT(ierr)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
      call get_command_argument(1, part)
      if (part .eq. 'first') then
        call before_init
        call scr_init(ierr)
        call check(ierr .eq. SCR_SUCCESS, 'scr_init')
        call after_init
      else
        call scr_init_comm(MPI_COMM_WORLD, ierr)
        call check(ierr .eq. SCR_SUCCESS, 'scr_init_comm')
        call second_run
      end if
      call scr_finalize(ierr)
      call check(ierr .eq. SCR_SUCCESS, 'scr_finalize')
      if (faults .eq. 0 .and. rank .eq. 0) print '(a)',
     &  'all calls are right'
      call MPI_FINALIZE(ierr)

      contains

      include 'calls.inc'

      end program
