! units.f90 - units of Fortran that stay open: formatted, unformatted, direct and stream access, written, read, and read
! back; standard input.
program units
  use mpi
  implicit none
  interface
    subroutine at_point(rank) bind(c, name='at_point')
      use iso_c_binding, only: c_int
      integer(c_int), value :: rank
    end subroutine at_point
  end interface
  integer :: ierr, rank, i, value, number, doubled, total, stream, ios, steps
  integer(8) :: position
  character(80) :: name, record

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call get_command_argument(1, record)
  read (record, *) steps
  write (name, '(a,i0)') 'units.', rank
  open (10, file=trim(name)//'.in')
  write (10, *) (i, i*i, new_line('a'), i=1, 3000)
  close (10)
  open (11, file=trim(name)//'.in', status='old', action='read')
  open (12, file=trim(name)//'.log')
  open (13, file=trim(name)//'.bin', form='unformatted')
  open (14, file=trim(name)//'.direct', access='direct', recl=80, form='unformatted')
  open (newunit=stream, file=trim(name)//'.stream', access='stream', form='unformatted')
  total = 0
  do i = 1, steps
    read (11, *) number, value
    total = total + value
    write (12, '(a,i0,a,i0)') 'step ', i, ' total ', total
    write (13) i, total, total + 1
    write (record, '(a,i0)') 'record ', total
    write (14, rec=i) record
    write (stream) total
    if (mod(i, 4) == 0) then
      backspace (13)
      read (13) number, value, doubled
      read (14, rec=i/2) record
      inquire (stream, pos=position)
      total = total + doubled + ichar(record(9:9)) + int(position)
      flush (12)
    end if
    if (rank == 0) then
      read (*, '(a)', iostat=ios) record
      if (ios == 0) total = total + ichar(record(1:1))
    end if
    call at_point(rank)
    call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    total = mod(total, 10007)
  end do
  close (11)
  close (12)
  close (13)
  close (14)
  close (stream)
  call MPI_Finalize(ierr)
  call look_at(trim(name)//'.log')
  call look_at(trim(name)//'.bin')
  call look_at(trim(name)//'.direct')
  call look_at(trim(name)//'.stream')
contains
  subroutine look_at(path)
    character(*), intent(in) :: path
    integer(1) :: byte
    integer :: bytes, hash

    open (20, file=path, access='stream', form='unformatted', status='old')
    bytes = 0
    hash = 0
    do
      read (20, iostat=ios) byte
      if (ios /= 0) exit
      hash = mod(hash * 31 + byte + 128, 100003)
      bytes = bytes + 1
    end do
    print '(a,a,i0,a,i0)', path, ': bytes ', bytes, ', hash ', hash
    close (20)
  end subroutine look_at
end program units
