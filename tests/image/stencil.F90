! stencil.F90 - a program in Fortran that knows nothing of images: allocatable arrays, modules, derived types, internal
! and list-directed output, blocking and nonblocking messages, MPI_IN_PLACE and MPI_STATUSES_IGNORE; MPI by the module
! mpi, mpi_f08 (F08) or by mpif.h (MPIF).
module heat
  implicit none
  type cell
    real(8) :: value = 0
    character(len=:), allocatable :: name
  end type cell
  real(8), allocatable, save :: u(:), v(:)
  type(cell), allocatable, save :: cells(:)
  interface
    subroutine at_point(rank) bind(c, name='at_point')
      use iso_c_binding, only: c_int
      integer(c_int), value :: rank
    end subroutine at_point
  end interface
contains
  subroutine relax(n)
    integer, intent(in) :: n
    integer :: i
    do i = 1, n
      v(i) = u(i) + 0.25d0 * (u(i - 1) - 2 * u(i) + u(i + 1))
    end do
    u(1:n) = v(1:n)
  end subroutine relax
end module heat

program stencil
#if defined(F08)
  use mpi_f08
#elif !defined(MPIF)
  use mpi
#endif
  use heat
  implicit none
#ifdef MPIF
  include 'mpif.h'
#endif
  integer, parameter :: n = 2000
#ifdef F08
  type(MPI_Request) :: req(4)
  type(MPI_Status) :: st
  type(MPI_Comm) :: half
  type(MPI_Op) :: op
  procedure(MPI_User_function) :: keep_greater
#else
  integer :: req(4), st(MPI_STATUS_SIZE), half, op
  external :: keep_greater
#endif
  integer :: rank, ranks, ierr, step, steps, i, left, right, color, tag
  integer(MPI_ADDRESS_KIND) :: most
  logical :: flag
  real(8) :: total, biggest(2), lost, sums(1)
  character(len=80) :: text

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, most, flag, ierr)
  if (.not. flag .or. most < 32767) print '(a,i0)', 'the greatest tag is ', most
  call get_command_argument(1, text)
  read (text, *) steps
  color = mod(rank, 2)
  call MPI_Comm_split(MPI_COMM_WORLD, color, rank, half, ierr)
  call MPI_Op_create(keep_greater, .true., op, ierr)
  left = merge(MPI_PROC_NULL, rank - 1, rank == 0)
  right = merge(MPI_PROC_NULL, rank + 1, rank == ranks - 1)
  allocate(u(0:n + 1), v(n), cells(10))
  u = [(sin(0.01d0 * (i + rank * n)), i = 0, n + 1)]
  do i = 1, 10
    write (text, '(a,i0,a,i0)') 'cell ', i, ' of ', rank
    cells(i)%name = trim(text)
  end do
  do step = 1, steps
    call MPI_Irecv(u(0), 1, MPI_DOUBLE_PRECISION, left, 1, MPI_COMM_WORLD, req(1), ierr)
    call MPI_Irecv(u(n + 1), 1, MPI_DOUBLE_PRECISION, right, 2, MPI_COMM_WORLD, req(2), ierr)
    call MPI_Isend(u(1), 1, MPI_DOUBLE_PRECISION, left, 2, MPI_COMM_WORLD, req(3), ierr)
    call MPI_Isend(u(n), 1, MPI_DOUBLE_PRECISION, right, 1, MPI_COMM_WORLD, req(4), ierr)
    call at_point(rank)
    call MPI_Waitall(4, req, MPI_STATUSES_IGNORE, ierr)
    call relax(n)
    cells(mod(step, 10) + 1)%value = u(mod(step, n) + 1)
    total = sum(u(1:n))
    sums = total
    call MPI_Allreduce(MPI_IN_PLACE, sums, 1, MPI_DOUBLE_PRECISION, MPI_SUM, half, ierr)
    total = sums(1)
    biggest = [maxval(u(1:n)), dble(rank)]
    call MPI_Allreduce(MPI_IN_PLACE, biggest, 1, MPI_2DOUBLE_PRECISION, op, MPI_COMM_WORLD, ierr)
    if (rank == 0 .and. ranks > 1) then
      call MPI_Recv(lost, 1, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, st, ierr)
#ifdef F08
      tag = st%MPI_TAG
#else
      tag = st(MPI_TAG)
#endif
      u(1) = u(1) + 1d-3 * lost + tag
      u(1) = u(1) - 3
    else if (rank == 1) then
      call MPI_Send(total, 1, MPI_DOUBLE_PRECISION, 0, 3, MPI_COMM_WORLD, ierr)
    end if
  end do
  write (text, '(a,i0,3f16.9)') 'rank ', rank, total, biggest
  print '(a)', trim(text)
  print *, 'rank', rank, sum(cells%value), cells(3)%name
  call MPI_Finalize(ierr)
end program stencil

#ifdef F08
subroutine keep_greater(one, two, count, type)
  use mpi_f08
  use iso_c_binding
  implicit none
  type(c_ptr), value :: one, two
  integer :: count, i
  type(MPI_Datatype) :: type, unused
  real(8), pointer :: from(:, :), to(:, :)
  call c_f_pointer(one, from, [2, count])
  call c_f_pointer(two, to, [2, count])
  unused = type
#else
subroutine keep_greater(from, to, count, type)
  implicit none
  integer :: count, type, i, unused
  real(8) :: from(2, count), to(2, count)
  unused = type
#endif
  do i = 1, count
    if (from(1, i) > to(1, i)) to(:, i) = from(:, i)
  end do
end subroutine keep_greater
