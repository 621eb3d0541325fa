!
! heat2d.f90 - the solver of heat2d.c in Fortran, with the modules scr and mpi_f08.
!
! THE PROBLEM     u_t = u_xx + u_yy on the unit square, with nx x ny inner points.  The left wall is warm, the others
!                 are cold, and the middle is hot at first.  The grid is cut into one block per rank, with one layer of
!                 the neighbours' points around it.
! CHECKPOINTS     One file per rank, the same as that of heat2d.c: either program continues a run of the other.
!                 Try_restart and checkpoint show how to use the library; the rest does not depend on it.
!
!   mpicc -DSCR_WITH_FORTRAN -c scr_impl.c && mpifort scr.f90 heat2d.f90 scr_impl.o -lz -lpthread -o heat2d
!   mpiexec -n 4 ./heat2d --nx 1024 --ny 1024 --steps 1000 --interval 100
!
! After a failure, start it again with the same options: it continues from the newest checkpoint.
! Exit code: 0 if it is done or was asked to stop, 1 on an error, 2 for a wrong option.
!
module heat
  use, intrinsic :: iso_c_binding, only: c_int, c_long
  use, intrinsic :: iso_fortran_env, only: int64, real64, output_unit, error_unit, iostat_end
  use mpi_f08
  use scr
  implicit none

  type options
    integer :: nx = 512, ny = 512, steps = 1000, interval = 100, kill_at = -1
  end type

  ! The part of this rank: w x h points with a frame of one point.
  type part
    type(MPI_Comm) :: comm = MPI_COMM_NULL ! the grid of ranks; rank numbers are those of MPI_COMM_WORLD
    integer :: rank, ranks
    integer :: dims(2) = 0, coords(2)      ! ranks down and across
    integer :: up, down, left, right       ! neighbours, or MPI_PROC_NULL at a wall
    integer :: nx, ny, x0, y0, w, h        ! the grid; what lies before the block; the size of the block
    real(real64) :: cx, cy                 ! dt/dx^2, dt/dy^2
    real(real64) :: residual = 0           ! largest change of a point of this block in the last step
    real(real64), allocatable :: u(:, :), next(:, :)
    type(MPI_Datatype) :: column
  end type

  ! The header of a checkpoint file: 12 numbers of 8 bytes, in this order.
  integer, parameter :: H_MAGIC = 1, H_STEP = 2, H_RESIDUAL = 10, H_DATA_CRC = 11, H_HEAD_CRC = 12, H_SIZE = 12
  integer(int64), parameter :: HEAT_MAGIC = int(z'3130643274616568', int64)

  interface
    function zlib_crc32(crc, bytes, n) bind(C, name="crc32")
      import :: c_int, c_long
      integer(c_long), value :: crc
      type(*), intent(in) :: bytes(*)
      integer(c_int), value :: n
      integer(c_long) :: zlib_crc32
    end function

    function c_raise(signal) bind(C, name="raise")
      import :: c_int
      integer(c_int), value :: signal
      integer(c_int) :: c_raise
    end function
  end interface

contains

  ! ---- the block ------------------------------------------------------------------------------------------------

  ! What lies before part i if n points are cut into parts.
  integer function part_start(n, parts, i)
    integer, intent(in) :: n, parts, i

    part_start = int(int(n, int64) * i / parts)
  end function

  ! Set the initial values and the walls of both fields, from the position in the whole grid only.
  subroutine part_init(b)
    type(part), intent(inout) :: b
    real(real64) :: px, py, v
    integer :: x, y

    b%residual = 0
    do y = 0, b%h + 1
      do x = 0, b%w + 1
        px = real(b%x0 + x, real64) / (b%nx + 1)
        py = real(b%y0 + y, real64) / (b%ny + 1)
        v = 0
        if (b%x0 + x == 0) then
          v = 4 * py * (1 - py)
        else if (px > 0.35_real64 .and. px < 0.65_real64 .and. py > 0.35_real64 .and. py < 0.65_real64) then
          v = 1
        end if
        b%u(x, y) = v
        b%next(x, y) = v
      end do
    end do
  end subroutine

  ! Distribute the grid over the ranks of MPI_COMM_WORLD.  Ok is false if that is not possible, on every rank.
  subroutine part_new(b, o, ok)
    type(part), intent(out) :: b
    type(options), intent(in) :: o
    logical, intent(out) :: ok
    real(real64) :: ax, ay

    call MPI_Comm_size(MPI_COMM_WORLD, b%ranks)
    call MPI_Dims_create(b%ranks, 2, b%dims)
    ok = b%dims(1) <= o%ny .and. b%dims(2) <= o%nx
    if (.not. ok) return
    ! No reordering: rank r reads what rank r wrote.
    call MPI_Cart_create(MPI_COMM_WORLD, 2, b%dims, [.false., .false.], .false., b%comm)
    call MPI_Comm_rank(b%comm, b%rank)
    call MPI_Cart_coords(b%comm, b%rank, 2, b%coords)
    call MPI_Cart_shift(b%comm, 0, 1, b%up, b%down)
    call MPI_Cart_shift(b%comm, 1, 1, b%left, b%right)
    b%nx = o%nx
    b%ny = o%ny
    b%y0 = part_start(b%ny, b%dims(1), b%coords(1))
    b%x0 = part_start(b%nx, b%dims(2), b%coords(2))
    b%h = part_start(b%ny, b%dims(1), b%coords(1) + 1) - b%y0
    b%w = part_start(b%nx, b%dims(2), b%coords(2) + 1) - b%x0
    ax = (real(o%nx, real64) + 1) * (o%nx + 1)
    ay = (real(o%ny, real64) + 1) * (o%ny + 1)
    b%cx = 0.4_real64 * ax / (ax + ay) ! cx + cy = 0.4; stable up to 0.5
    b%cy = 0.4_real64 * ay / (ax + ay)
    call MPI_Type_vector(b%h, 1, b%w + 2, MPI_DOUBLE_PRECISION, b%column)
    call MPI_Type_commit(b%column)
    allocate (b%u(0:b%w + 1, 0:b%h + 1), b%next(0:b%w + 1, 0:b%h + 1))
    call part_init(b)
  end subroutine

  subroutine part_free(b)
    type(part), intent(inout) :: b

    if (b%comm == MPI_COMM_NULL) return
    call MPI_Type_free(b%column)
    call MPI_Comm_free(b%comm)
  end subroutine

  ! ---- the solver -----------------------------------------------------------------------------------------------

  ! Receive the points around the block from the neighbours, and send them those at its border.
  subroutine exchange_halo(b, u)
    type(part), intent(in) :: b
    real(real64), intent(inout), asynchronous :: u(0:b%w + 1, 0:b%h + 1)
    type(MPI_Request) :: r(8)

    call MPI_Irecv(u(1, 0), b%w, MPI_DOUBLE_PRECISION, b%up, 0, b%comm, r(1))
    call MPI_Irecv(u(1, b%h + 1), b%w, MPI_DOUBLE_PRECISION, b%down, 0, b%comm, r(2))
    call MPI_Irecv(u(0, 1), 1, b%column, b%left, 0, b%comm, r(3))
    call MPI_Irecv(u(b%w + 1, 1), 1, b%column, b%right, 0, b%comm, r(4))
    call MPI_Isend(u(1, 1), b%w, MPI_DOUBLE_PRECISION, b%up, 0, b%comm, r(5))
    call MPI_Isend(u(1, b%h), b%w, MPI_DOUBLE_PRECISION, b%down, 0, b%comm, r(6))
    call MPI_Isend(u(1, 1), 1, b%column, b%left, 0, b%comm, r(7))
    call MPI_Isend(u(b%w, 1), 1, b%column, b%right, 0, b%comm, r(8))
    call MPI_Waitall(8, r, MPI_STATUSES_IGNORE)
  end subroutine

  subroutine step_once(b)
    type(part), intent(inout) :: b
    real(real64), allocatable :: swap(:, :)
    real(real64) :: d
    integer :: x, y

    call exchange_halo(b, b%u)
    b%residual = 0
    do y = 1, b%h
      do x = 1, b%w
        d = b%cx * (b%u(x - 1, y) - 2 * b%u(x, y) + b%u(x + 1, y)) + &
            b%cy * (b%u(x, y - 1) - 2 * b%u(x, y) + b%u(x, y + 1))
        b%next(x, y) = b%u(x, y) + d
        b%residual = max(b%residual, abs(d))
      end do
    end do
    call move_alloc(b%u, swap)
    call move_alloc(b%next, b%u)
    call move_alloc(swap, b%next)
  end subroutine

  real(real64) function global_residual(b)
    type(part), intent(in) :: b

    call MPI_Allreduce(b%residual, global_residual, 1, MPI_DOUBLE_PRECISION, MPI_MAX, b%comm)
  end function

  ! The CRC32 of the field, by rows of the whole grid, on rank 0 (elsewhere 0).  Rank 0 holds one row at a time.
  integer(c_long) function global_crc(b)
    type(part), intent(in) :: b
    real(real64), allocatable :: line(:)
    integer :: row, col, i, owner, x0, w

    global_crc = 0
    if (b%rank /= 0) then
      do i = 1, b%h
        call MPI_Send(b%u(1, i), b%w, MPI_DOUBLE_PRECISION, 0, 1, b%comm)
      end do
      return
    end if
    allocate (line(b%nx))
    do row = 0, b%dims(1) - 1
      do i = part_start(b%ny, b%dims(1), row), part_start(b%ny, b%dims(1), row + 1) - 1
        do col = 0, b%dims(2) - 1
          x0 = part_start(b%nx, b%dims(2), col)
          w = part_start(b%nx, b%dims(2), col + 1) - x0
          call MPI_Cart_rank(b%comm, [row, col], owner)
          if (owner == 0) then
            line(x0 + 1:x0 + w) = b%u(1:w, i - b%y0 + 1)
          else
            call MPI_Recv(line(x0 + 1), w, MPI_DOUBLE_PRECISION, owner, 1, b%comm, MPI_STATUS_IGNORE)
          end if
        end do
        global_crc = zlib_crc32(global_crc, line, 8 * b%nx)
      end do
    end do
  end function

  ! ---- the file of a rank ---------------------------------------------------------------------------------------

  integer(c_long) function part_crc(b)
    type(part), intent(in) :: b
    integer :: y

    part_crc = 0
    do y = 1, b%h
      part_crc = zlib_crc32(part_crc, b%u(1:b%w, y), 8 * b%w)
    end do
  end function

  ! The header of this block's file.  It covers the geometry, so another grid or rank has another one.
  function header_make(b, step, residual, data_crc) result(h)
    type(part), intent(in) :: b
    integer(int64), intent(in) :: step, residual, data_crc
    integer(int64) :: h(H_SIZE)

    h(:H_HEAD_CRC - 1) = [HEAT_MAGIC, step, int([b%nx, b%ny, b%ranks, b%x0, b%y0, b%w, b%h], int64), residual, data_crc]
    h(H_HEAD_CRC) = zlib_crc32(0_c_long, h, 8 * (H_SIZE - 1))
  end function

  ! --kill-at: kill this rank when all ranks have come this far.
  subroutine crash(b, step)
    type(part), intent(in) :: b
    integer, intent(in) :: step
    integer(c_int) :: unused

    call MPI_Barrier(b%comm)
    if (b%rank == 0) print '(a, i0, a)', 'heat2d: step ', step, ': SIGKILL to every rank in its checkpoint'
    flush (output_unit)
    call MPI_Barrier(b%comm)
    unused = c_raise(9)
  end subroutine

  ! Write the block at step to file.  Returns 1 if all writes and the close succeeded.
  integer function part_save(b, file, step, kill_here)
    type(part), intent(in) :: b
    character(*), intent(in) :: file
    integer, intent(in) :: step
    logical, intent(in) :: kill_here
    integer :: f, e, e_close

    part_save = 0
    open (newunit=f, file=file, access='stream', form='unformatted', status='replace', action='write', iostat=e)
    if (e == 0) write (f, iostat=e) header_make(b, int(step, int64), transfer(b%residual, 0_int64), &
        int(part_crc(b), int64)), b%u(1:b%w, 1:b%h / 2)
    if (kill_here) then
      if (e == 0) flush (f)
      call crash(b, step)
    end if
    if (e /= 0) return
    write (f, iostat=e) b%u(1:b%w, b%h / 2 + 1:b%h)
    close (f, iostat=e_close) ! the file system may report an error only here
    if (e == 0 .and. e_close == 0) part_save = 1
  end function

  ! Read file into the block.  Why is what is wrong with the file, or blank.
  subroutine part_load(b, file, step, why)
    type(part), intent(inout) :: b
    character(*), intent(in) :: file
    integer, intent(out) :: step
    character(*), intent(out) :: why
    integer(int64) :: h(H_SIZE), want(H_SIZE)
    character :: more
    integer :: f, e

    why = 'cannot be opened'
    step = 0
    open (newunit=f, file=file, access='stream', form='unformatted', status='old', action='read', iostat=e)
    if (e /= 0) return
    why = 'is not a heat2d checkpoint'
    read (f, iostat=e) h
    if (e == 0 .and. h(H_MAGIC) == HEAT_MAGIC) then
      want = header_make(b, h(H_STEP), h(H_RESIDUAL), h(H_DATA_CRC))
      if (h(H_HEAD_CRC) /= want(H_HEAD_CRC)) then
        why = 'belongs to another grid or rank, or its header is damaged'
      else
        why = 'has the wrong length'
        read (f, iostat=e) b%u(1:b%w, 1:b%h)
        if (e == 0) read (f, iostat=e) more
        if (e == iostat_end) then
          why = 'is damaged'
          if (part_crc(b) == h(H_DATA_CRC)) why = ''
        end if
      end if
    end if
    close (f)
    step = int(h(H_STEP))
    b%residual = transfer(h(H_RESIDUAL), b%residual)
  end subroutine

  ! ---- checkpoint and restart -----------------------------------------------------------------------------------

  ! The name of this rank's file in the dataset name, below the working directory.
  function file_name(b, name)
    type(part), intent(in) :: b
    character(*), intent(in) :: name
    character(SCR_MAX_FILENAME) :: file_name

    write (file_name, '(2a, i0, a)') trim(name), '/rank_', b%rank, '.heat'
  end function

  ! Report which call failed, from one rank.  The library has printed the reason already.
  subroutine complain(b, call_name, rc, then)
    type(part), intent(in) :: b
    character(*), intent(in) :: call_name, then
    integer, intent(in) :: rc
    character(80) :: text

    call scr_strerror(rc, text)
    if (b%rank == 0) write (error_unit, '(7a)') 'heat2d: ', call_name, ': ', trim(text), '; ', then
  end subroutine

  ! Restart from the newest checkpoint that every rank can read.  Step stays 0 if there is none.
  ! Ok is false if old work exists but cannot be used: a start from the beginning would lose it.
  subroutine try_restart(b, step, ok)
    type(part), intent(inout) :: b
    integer, intent(out) :: step
    logical, intent(out) :: ok
    character(SCR_MAX_FILENAME - 32) :: name
    character(SCR_MAX_FILENAME) :: file
    character(80) :: why
    integer :: have, rc, valid

    do
      step = 0
      ok = .false.
      call scr_have_restart(have, name, rc)
      if (rc /= SCR_SUCCESS .and. rc /= SCR_ERR_DISABLED) then
        call complain(b, 'scr_have_restart', rc, &
          'SCR_FRESH_START=1 starts from the beginning, another SCR_PREFIX keeps both')
        return
      end if
      ok = have == 0
      if (ok) return
      call scr_start_restart(name, rc)
      if (rc /= SCR_SUCCESS) then
        call complain(b, 'scr_start_restart', rc, 'giving up')
        return
      end if
      why = 'is not in the checkpoint'
      call scr_route_file(file_name(b, name), file, rc)
      if (rc == SCR_SUCCESS) call part_load(b, file, step, why)
      if (why /= '') write (error_unit, '(a, i0, 4a)') 'heat2d: rank ', b%rank, ' ', trim(file_name(b, name)), ' ', &
        trim(why)
      valid = merge(1, 0, why == '')
      call scr_complete_restart(valid, rc)
      ok = rc == SCR_SUCCESS
      if (ok .and. b%rank == 0) print '(3a, i0)', 'heat2d: restarted from ', trim(name), ', at step ', step
      if (ok) return
      if (rc /= SCR_ERR_INVALID) then
        call complain(b, 'scr_complete_restart', rc, 'giving up')
        return
      end if
      call part_init(b) ! another rank could not read its file; the library offers the next older checkpoint
    end do
  end subroutine

  ! Save step.  After a failure the run goes on, because the older checkpoint is still there.
  subroutine checkpoint(b, step, kill_here)
    type(part), intent(in) :: b
    integer, intent(in) :: step
    logical, intent(in) :: kill_here
    character(64) :: name
    character(SCR_MAX_FILENAME) :: file
    integer :: rc

    write (name, '(a, i0)') 'heat.', step
    call scr_start_output(name, SCR_FLAG_CHECKPOINT, rc)
    if (rc /= SCR_SUCCESS) then
      if (kill_here) call crash(b, step)
      call complain(b, 'scr_start_output', rc, 'going on without this checkpoint')
      return
    end if
    call scr_route_file(file_name(b, name), file) ! on an error file is blank, and part_save fails
    call scr_complete_output(part_save(b, file, step, kill_here), rc)
    if (rc /= SCR_SUCCESS) then
      call complain(b, 'scr_complete_output', rc, 'going on')
    else if (b%rank == 0) then
      print '(2a)', 'heat2d: checkpoint ', trim(name)
      flush (output_unit)
    end if
  end subroutine

  ! Every interval steps, ask the library whether to write a checkpoint, and whether the run should end.
  subroutine solve(b, o, step)
    type(part), intent(inout) :: b
    type(options), intent(in) :: o
    integer, intent(inout) :: step
    integer :: need, stop_now

    call scr_should_exit(stop_now) ! asked before the first checkpoint, so that the library leaves the exit to us
    do while (step < o%steps .and. stop_now == 0)
      call step_once(b)
      step = step + 1
      if (step /= o%kill_at .and. (o%interval == 0 .or. mod(step, max(o%interval, 1)) /= 0)) cycle
      call scr_need_checkpoint(need)
      if (need /= 0 .or. step == o%kill_at) call checkpoint(b, step, step == o%kill_at)
      call scr_should_exit(stop_now)
    end do
  end subroutine

  ! ---- the program ----------------------------------------------------------------------------------------------

  ! Read the arguments; bad is the first that is not valid, or blank.
  subroutine options_read(o, bad)
    type(options), intent(inout) :: o
    character(*), intent(out) :: bad
    character(32) :: value
    integer :: i, n, e

    do i = 1, command_argument_count(), 2
      call get_command_argument(i, bad)
      call get_command_argument(i + 1, value)
      read (value, '(i32)', iostat=e) n
      if (value == '' .or. e /= 0 .or. n < 0) return
      select case (bad)
      case ('--nx')
        o%nx = max(n, 1)
      case ('--ny')
        o%ny = max(n, 1)
      case ('--steps')
        o%steps = n
      case ('--interval')
        o%interval = n
      case ('--kill-at')
        o%kill_at = n
      case default
        return
      end select
    end do
    bad = ''
  end subroutine

  ! 0x and 8 digits, in small letters as C prints them.
  function hexadecimal(n) result(text)
    integer(c_long), intent(in) :: n
    character(10) :: text
    integer :: i

    write (text, '(a, z8.8)') '0x', n
    do i = 3, 10
      if (text(i:i) >= 'A') text(i:i) = achar(iachar(text(i:i)) + 32)
    end do
  end function

  ! From scr_init to scr_finalize.  Code is the exit code.
  subroutine run(b, o, code)
    type(part), intent(inout) :: b
    type(options), intent(in) :: o
    integer, intent(out) :: code
    real(real64) :: start, residual
    integer(c_long) :: crc
    integer :: rc, step
    logical :: ok

    code = 1
    start = MPI_Wtime()
    call scr_init(rc)
    if (rc /= SCR_SUCCESS .and. rc /= SCR_ERR_DISABLED) then
      call complain(b, 'scr_init', rc, 'giving up')
      return
    end if
    if (b%rank == 0) print '(4(a, i0), a, f8.3, a)', 'heat2d: ', b%nx, ' x ', b%ny, ' points on ', b%dims(2), ' x ', &
      b%dims(1), ' ranks, scr_init took', MPI_Wtime() - start, ' s'
    call try_restart(b, step, ok)
    if (ok) then
      call solve(b, o, step)
      residual = global_residual(b)
      crc = global_crc(b)
      if (b%rank == 0) then
        if (step < o%steps) print '(a, i0)', 'heat2d: asked to stop before step ', o%steps
        print '(a, i0, a, es15.9, 3a, f8.2, a)', 'heat2d: step ', step, ' residual ', residual, ' crc32 ', &
          hexadecimal(crc), ' time', MPI_Wtime() - start, ' s'
      end if
      code = 0
    end if
    call scr_finalize(rc)
    if (rc /= SCR_SUCCESS .and. rc /= SCR_ERR_DISABLED) then
      call complain(b, 'scr_finalize', rc, 'the last checkpoint may be in the cache only')
      code = 1
    end if
  end subroutine

end module heat

program heat2d
  use heat
  implicit none
  type(options) :: o
  type(part) :: b
  character(80) :: bad
  integer :: rank, code
  logical :: ok

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call options_read(o, bad)
  code = 2
  if (bad /= '') then
    if (rank == 0) write (error_unit, '(2a)') 'heat2d: unknown option, or bad value for it: ', trim(bad)
    if (rank == 0) write (error_unit, '(a)') 'options: --nx N --ny N --steps N --interval N --kill-at N'
  else
    call part_new(b, o, ok)
    code = 1
    if (ok) then
      call run(b, o, code)
    else if (rank == 0) then
      write (error_unit, '(a)') 'heat2d: grid too small for so many ranks'
    end if
    call part_free(b)
  end if
  call MPI_Finalize()
  if (code == 1) stop 1
  if (code == 2) stop 2
end program
