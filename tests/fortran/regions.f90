! regions.f90 - what the calls for regions of memory return to a Fortran program, and what they write and read.
!
!   regions write   4 ranks write an array of 6 x 8 by columns, and a region of each
!   regions rows    3 ranks read the array by rows
!   regions read    4 ranks read it by columns, in a restart of their own
program regions
  use, intrinsic :: iso_c_binding
  use mpi_f08
  use scr
  implicit none
  integer(c_int64_t), parameter :: four = 4, whole(2) = [6, 8]
  integer :: rank, faults = 0, ierr, have
  character(8) :: part
  character(SCR_MAX_FILENAME) :: name

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call get_command_argument(1, part)
  call scr_checkpoint(' ', ierr)
  call check(ierr == SCR_ERR_STATE, 'checkpoint before init')
  call scr_init()
  select case (part)
  case ('write')
    call write_columns
  case ('rows')
    call read_block([2 * rank, 0], [2, 8])
  case ('read')
    call read_block([0, 2 * rank], [6, 2])
  end select
  call scr_finalize(ierr)
  call check(ierr == SCR_SUCCESS, 'finalize')
  if (faults == 0 .and. rank == 0) print '(a)', 'all calls are right'
  call MPI_Finalize()

contains

  subroutine check(right, what)
    logical, intent(in) :: right
    character(*), intent(in) :: what
    if (right) return
    faults = faults + 1
    print '(a, i0, 2a)', 'FAULT rank ', rank, ': ', what
  end subroutine

  integer function element(i, k) ! of the array
    integer, intent(in) :: i, k
    element = i + 100 * k
  end function

  subroutine write_columns ! two on each rank, within a margin
    integer, target :: v(0:7, 0:3), at(2)
    integer(c_int64_t) :: first(2), columns(2)
    integer :: i, k

    v = -1
    do k = 1, 2
      do i = 1, 6
        v(i, k) = element(i, 2 * rank + k)
      end do
    end do
    at = [7, 8 + rank]
    first = [0, 2 * rank]
    columns = [6, 2]
    call scr_protect('at', c_loc(at), 1_c_int64_t, four, ierr)
    call check(ierr == SCR_SUCCESS, 'protect')
    call scr_protect('at ', c_loc(at), 2_c_int64_t, four, ierr)
    call check(ierr == SCR_SUCCESS, 'protect it anew')
    call scr_protect('bad', c_loc(at), -1_c_int64_t, four, ierr)
    call check(ierr == SCR_ERR_ARG, 'less than no element')
    call scr_protect('bad', c_null_ptr, four, four, ierr)
    call check(ierr == SCR_ERR_ARG, 'no data')
    call scr_protect_array('u', c_loc(v), four, 9, whole, first, columns, ierr)
    call check(ierr == SCR_ERR_ARG, 'nine dimensions')
    call scr_protect_array('u', c_loc(v), four, 2, whole, columns, columns, ierr)
    call check(ierr == SCR_ERR_ARG, 'a block that is outside')
    call scr_protect_array('u', c_loc(v), four, 2, whole, -first, [-6_c_int64_t, 2_c_int64_t], ierr)
    call check(ierr == SCR_ERR_ARG, 'a block of less than no element')
    call scr_protect_array_strided('u', c_loc(v(1, 1)), four, 2, whole, first, columns, [1_c_int64_t, 8_c_int64_t], &
      ierr)
    call check(ierr == SCR_SUCCESS, 'protect an array')
    call scr_protect('no', c_loc(at), four, four, ierr)
    call scr_unprotect('no', ierr)
    call check(ierr == SCR_SUCCESS, 'unprotect')
    call scr_unprotect('no', ierr)
    call check(ierr == SCR_ERR_ARG, 'unprotect twice')
    call scr_track(' ', ierr)
    call check(ierr == SCR_ERR_ARG, 'track nothing')
    call scr_track('log of ' // achar(iachar('0') + rank), ierr)
    call check(ierr == SCR_SUCCESS, 'track')
    call scr_recover(have, name, ierr)
    call check(ierr == SCR_SUCCESS .and. have == 0, 'no checkpoint yet')
    call scr_checkpoint(' ', ierr)
    call check(ierr == SCR_SUCCESS, 'the library names it')
    call scr_start_output('regions', SCR_FLAG_CHECKPOINT, ierr)
    call scr_put_regions(ierr)
    call check(ierr == SCR_SUCCESS, 'put_regions')
    call scr_complete_output(1, ierr)
    call check(ierr == SCR_SUCCESS, 'beside no files')
  end subroutine

  subroutine read_block(offset, extent)
    integer, intent(in) :: offset(2), extent(2)
    integer, allocatable, target :: u(:, :)
    integer(c_int64_t) :: bytes
    integer :: i, k

    allocate (u(extent(1), extent(2)), source=0)
    call scr_protect_array('u', c_loc(u), four, 2, whole, int(offset, c_int64_t), int(extent, c_int64_t), ierr)
    call check(ierr == SCR_SUCCESS, 'protect the array')
    call scr_have_restart(have, name, ierr)
    call check(have == 1 .and. name == 'regions', 'the newest')
    call scr_region_size('at', bytes, ierr)
    call check(ierr == SCR_SUCCESS .and. bytes == 8, 'its size')
    call scr_region_size('none', bytes, ierr)
    call check(ierr == SCR_ERR_NOT_FOUND .and. bytes == 0, 'no such region')
    if (part == 'rows') then
      call scr_recover(have, name(:5), ierr)
      call check(ierr == SCR_ERR_PATH, 'recover has no room for the name')
      call check(have == 1 .and. name(:5) == ' ', 'but regions')
    else
      call scr_start_restart(name, ierr)
      call scr_get_regions(ierr)
      call check(ierr == SCR_SUCCESS, 'get_regions')
      call scr_complete_restart(1, ierr)
      call check(ierr == SCR_SUCCESS, 'complete_restart')
    end if
    do k = 1, extent(2)
      do i = 1, extent(1)
        call check(u(i, k) == element(offset(1) + i, offset(2) + k), 'an element')
      end do
    end do
  end subroutine

end program
