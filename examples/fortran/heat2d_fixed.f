!
! heat2d_fixed.f - the solver of heat2d.c in fixed form, with mpif.h
! and scrf.h.  The text in heat2d.f90 holds here too: the checkpoints of
! the three programs are the same.
!
!   mpicc -DSCR_WITH_FORTRAN -c scr_impl.c &&
!   mpifort heat2d_fixed.f scr_impl.o -lz -lpthread -o heat2d_fixed
!   mpiexec -n 4 ./heat2d_fixed --nx 1024 --ny 1024 --steps 1000
!
      program heat2d
      use, intrinsic :: iso_c_binding
      implicit none
      include 'mpif.h'
      include 'scrf.h'

      integer*8 HEAT_MAGIC
      parameter (HEAT_MAGIC = 3544443074604262760_8)

!     The options, and the exit code.
      integer nx, ny, steps, every, killat, code

!     The block of this rank: w x h points with a frame of one point, in
!     two fields, of which now (1 or 2) is the one that is valid.
      integer comm, rank, ranks, dims(2), coords(2)
      integer up, down, left, right, x0, y0, w, h, column, now
      double precision cx, cy, change, start
      double precision, allocatable :: u(:, :, :)

      integer e

      interface
        function crc32(crc, bytes, n) bind(C)
          import :: c_int, c_long
          integer(c_long), value :: crc
          type(*) :: bytes(*)
          integer(c_int), value :: n
          integer(c_long) crc32
        end function
        function kill_self(signal) bind(C, name='raise')
          import :: c_int
          integer(c_int), value :: signal
          integer(c_int) kill_self
        end function
      end interface

      call MPI_INIT(e)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, e)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, ranks, e)
      code = 2
      if (options_valid()) then
        code = 1
        if (block_made()) then
          call run
          call MPI_TYPE_FREE(column, e)
          call MPI_COMM_FREE(comm, e)
        end if
      end if
      call MPI_FINALIZE(e)
      if (code .eq. 1) stop 1
      if (code .eq. 2) stop 2

      contains

!     ---- the block ---------------------------------------------------

!     What lies before part i if n points are cut into parts.
      integer function before(n, parts, i)
      integer n, parts, i
      before = int(int(n, 8) * i / parts)
      end function

!     Set the initial values and the walls, from the position in the
!     whole grid only.
      subroutine block_init
      integer x, y
      double precision px, py, v

      now = 1
      change = 0
      do y = 0, h + 1
        do x = 0, w + 1
          px = dble(x0 + x) / (nx + 1)
          py = dble(y0 + y) / (ny + 1)
          v = 0
          if (x0 + x .eq. 0) then
            v = 4 * py * (1 - py)
          else if (px .gt. 0.35d0 .and. px .lt. 0.65d0 .and.
     &             py .gt. 0.35d0 .and. py .lt. 0.65d0) then
            v = 1
          end if
          u(x, y, 1) = v
          u(x, y, 2) = v
        end do
      end do
      end subroutine

!     Distribute the grid over the ranks.  No reordering: rank r reads
!     what rank r wrote.
      logical function block_made()
      logical periods(2)
      double precision ax, ay

      dims = 0
      periods = .false.
      call MPI_DIMS_CREATE(ranks, 2, dims, e)
      block_made = dims(1) .le. ny .and. dims(2) .le. nx
      if (.not. block_made) then
        if (rank .eq. 0) print *, 'heat2d: grid too small'
        return
      end if
      call MPI_CART_CREATE(MPI_COMM_WORLD, 2, dims, periods, .false.,
     &                     comm, e)
      call MPI_CART_COORDS(comm, rank, 2, coords, e)
      call MPI_CART_SHIFT(comm, 0, 1, up, down, e)
      call MPI_CART_SHIFT(comm, 1, 1, left, right, e)
      y0 = before(ny, dims(1), coords(1))
      x0 = before(nx, dims(2), coords(2))
      h = before(ny, dims(1), coords(1) + 1) - y0
      w = before(nx, dims(2), coords(2) + 1) - x0
      ax = (dble(nx) + 1) * (nx + 1)
      ay = (dble(ny) + 1) * (ny + 1)
      cx = 0.4d0 * ax / (ax + ay)
      cy = 0.4d0 * ay / (ax + ay)
      call MPI_TYPE_VECTOR(h, 1, w + 2, MPI_DOUBLE_PRECISION, column, e)
      call MPI_TYPE_COMMIT(column, e)
      allocate (u(0:w+1, 0:h+1, 2))
      call block_init
      end function

!     ---- the solver --------------------------------------------------

!     Fetch the points around field f from the neighbours.
      subroutine exchange(f)
      double precision f(0:w+1, 0:h+1)
      integer r(8), status(MPI_STATUS_SIZE, 8), real8
      parameter (real8 = MPI_DOUBLE_PRECISION)

      call MPI_IRECV(f(1, 0), w, real8, up, 0, comm, r(1), e)
      call MPI_IRECV(f(1, h+1), w, real8, down, 0, comm, r(2), e)
      call MPI_IRECV(f(0, 1), 1, column, left, 0, comm, r(3), e)
      call MPI_IRECV(f(w+1, 1), 1, column, right, 0, comm, r(4), e)
      call MPI_ISEND(f(1, 1), w, real8, up, 0, comm, r(5), e)
      call MPI_ISEND(f(1, h), w, real8, down, 0, comm, r(6), e)
      call MPI_ISEND(f(1, 1), 1, column, left, 0, comm, r(7), e)
      call MPI_ISEND(f(w, 1), 1, column, right, 0, comm, r(8), e)
      call MPI_WAITALL(8, r, status, e)
      end subroutine

      subroutine step_once
      integer x, y, next
      double precision d

      call exchange(u(0, 0, now))
      next = 3 - now
      change = 0
      do y = 1, h
        do x = 1, w
          d = cx * (u(x-1, y, now) - 2 * u(x, y, now) + u(x+1, y, now))
     &      + cy * (u(x, y-1, now) - 2 * u(x, y, now) + u(x, y+1, now))
          u(x, y, next) = u(x, y, now) + d
          change = max(change, abs(d))
        end do
      end do
      now = next
      end subroutine

!     The CRC32 of the field, by rows of the whole grid, on rank 0.
      integer(c_long) function field_crc()
      integer row, col, i, owner, first, n
      double precision line(nx)

      field_crc = 0
      if (rank .ne. 0) then
        do i = 1, h
          call MPI_SEND(u(1, i, now), w, MPI_DOUBLE_PRECISION, 0, 1,
     &                  comm, e)
        end do
        return
      end if
      do row = 0, dims(1) - 1
        do i = before(ny, dims(1), row), before(ny, dims(1), row+1) - 1
          do col = 0, dims(2) - 1
            first = before(nx, dims(2), col)
            n = before(nx, dims(2), col + 1) - first
            call MPI_CART_RANK(comm, (/ row, col /), owner, e)
            if (owner .eq. 0) then
              line(first+1:first+n) = u(1:n, i - y0 + 1, now)
            else
              call MPI_RECV(line(first+1), n, MPI_DOUBLE_PRECISION,
     &                      owner, 1, comm, MPI_STATUS_IGNORE, e)
            end if
          end do
          field_crc = crc32(field_crc, line, 8 * nx)
        end do
      end do
      end function

!     ---- the file of a rank ------------------------------------------

!     The header, 12 numbers of 8 bytes: magic, step, the geometry, the
!     residual, the CRC32 of the points, and that of the header.
      subroutine header_make(head, step, residual)
      integer*8 head(12)
      integer step, y
      double precision residual
      integer(c_long) crc

      crc = 0
      do y = 1, h
        crc = crc32(crc, u(1:w, y, now), 8 * w)
      end do
      head(1) = HEAT_MAGIC
      head(2) = step
      head(3:9) = (/ nx, ny, ranks, x0, y0, w, h /)
      head(10) = transfer(residual, head(10))
      head(11) = crc
      head(12) = crc32(0_c_long, head, 88)
      end subroutine

!     Write the block to file.  1 if all writes and the close succeeded.
      integer function block_save(file, step, dies)
      character*(*) file
      integer step, e1, e2
      logical dies
      integer*8 head(12)

      block_save = 0
      call header_make(head, step, change)
      open (10, file=file, access='stream', form='unformatted',
     &      status='replace', iostat=e1)
      if (e1 .eq. 0) write (10, iostat=e1) head, u(1:w, 1:h/2, now)
      if (dies) then
        if (e1 .eq. 0) flush (10)
        call crash(step)
      end if
      if (e1 .ne. 0) return
      write (10, iostat=e1) u(1:w, h/2+1:h, now)
      close (10, iostat=e2)
      if (e1 .eq. 0 .and. e2 .eq. 0) block_save = 1
      end function

!     Read file into the block.  1 if it is whole and belongs here.
      integer function block_load(file, step)
      character*(*) file
      character more
      integer step, e1
      integer*8 head(12), want(12)

      block_load = 0
      open (10, file=file, access='stream', form='unformatted',
     &      status='old', iostat=e1)
      if (e1 .ne. 0) return
      read (10, iostat=e1) head, u(1:w, 1:h, now)
      if (e1 .eq. 0) read (10, iostat=e1) more
      close (10)
      if (.not. is_iostat_end(e1)) return
      step = int(head(2))
      change = transfer(head(10), change)
      call header_make(want, step, change)
      if (all(head .eq. want)) block_load = 1
      end function

!     Kill this rank when all ranks have come this far.
      subroutine crash(step)
      integer step, unused

      call MPI_BARRIER(comm, e)
      if (rank .eq. 0) print '(a, i0, a)', 'heat2d: step ', step,
     &  ': SIGKILL to every rank in its checkpoint'
      flush (6)
      call MPI_BARRIER(comm, e)
      unused = kill_self(9)
      end subroutine

!     ---- checkpoint and restart --------------------------------------

!     The name of this rank's file in the dataset name.
      subroutine name_file(name, path)
      character*(*) name, path
      write (path, '(2a, i0, a)') trim(name), '/rank_', rank, '.heat'
      end subroutine

!     Report which call failed, from one rank.
      subroutine complain(what, rc)
      character*(*) what
      integer rc
      character*80 text

      call scr_strerror(rc, text)
      if (rank .eq. 0) write (0, '(4a)') 'heat2d: ', what, ': ', text
      end subroutine

!     Restart from the newest checkpoint that every rank can read.  Not
!     valid if old work exists but cannot be used: a start from the
!     beginning would lose it.
      logical function restart_valid(step)
      integer step, have, rc, valid
      character*(SCR_MAX_FILENAME) name, path, file

      do
        step = 0
        call scr_have_restart(have, name, rc)
        restart_valid = rc .eq. SCR_SUCCESS .or.
     &                  rc .eq. SCR_ERR_DISABLED
        if (.not. restart_valid) call complain('scr_have_restart', rc)
        if (.not. restart_valid .or. have .eq. 0) return
        call scr_start_restart(name, rc)
        restart_valid = rc .eq. SCR_SUCCESS
        if (.not. restart_valid) call complain('scr_start_restart', rc)
        if (.not. restart_valid) return
        call name_file(name(:900), path)
        call scr_route_file(path, file, rc)
        valid = 0
        if (rc .eq. SCR_SUCCESS) valid = block_load(file, step)
        if (valid .eq. 0) write (0, '(a, i0, 3a)') 'heat2d: rank ',
     &    rank, ': ', trim(path), ' cannot be used'
        call scr_complete_restart(valid, rc)
        restart_valid = rc .eq. SCR_SUCCESS
        if (restart_valid .and. rank .eq. 0) print '(3a, i0)',
     &    'heat2d: restarted from ', trim(name), ', at step ', step
        if (restart_valid) return
        if (rc .ne. SCR_ERR_INVALID) then
          call complain('scr_complete_restart', rc)
          return
        end if
!       Another rank could not read its file: try the next older one.
        call block_init
      end do
      end function

!     Save step.  After a failure the run goes on, because the older
!     checkpoint is still there.
      subroutine checkpoint(step, dies)
      integer step, rc
      logical dies
      character*64 name
      character*(SCR_MAX_FILENAME) path, file

      write (name, '(a, i0)') 'heat.', step
      call scr_start_output(name, SCR_FLAG_CHECKPOINT, rc)
      if (rc .ne. SCR_SUCCESS) then
        if (dies) call crash(step)
        call complain('scr_start_output', rc)
        return
      end if
      call name_file(name, path)
!     On an error file is blank, and block_save fails.
      call scr_route_file(path, file, rc)
      call scr_complete_output(block_save(file, step, dies), rc)
      if (rc .ne. SCR_SUCCESS) then
        call complain('scr_complete_output', rc)
      else if (rank .eq. 0) then
        print '(2a)', 'heat2d: checkpoint ', trim(name)
        flush (6)
      end if
      end subroutine

!     Every so many steps, ask the library whether to write a checkpoint
!     and whether the run should end.
      subroutine solve(step)
      integer step, need, ends, rc

!     Asked before the first checkpoint, so that the library leaves the
!     exit to us.
      call scr_should_exit(ends, rc)
      do while (step .lt. steps .and. ends .eq. 0)
        call step_once
        step = step + 1
        if (mod(step, every) .eq. 0 .or. step .eq. killat) then
          call scr_need_checkpoint(need, rc)
          if (need .eq. 1 .or. step .eq. killat)
     &      call checkpoint(step, step .eq. killat)
          call scr_should_exit(ends, rc)
        end if
      end do
      end subroutine

!     ---- the program -------------------------------------------------

      logical function options_valid()
      character*32 name, value
      integer i, n, bad

      nx = 512
      ny = 512
      steps = 1000
      every = 100
      killat = -1
      bad = 0
      do i = 1, command_argument_count(), 2
        call get_command_argument(i, name)
        call get_command_argument(i + 1, value)
        read (value, '(i32)', iostat=bad) n
        if (value .eq. ' ' .or. n .lt. 1) bad = 1
        if (name .eq. '--nx') then
          nx = n
        else if (name .eq. '--ny') then
          ny = n
        else if (name .eq. '--steps') then
          steps = n
        else if (name .eq. '--interval') then
          every = n
        else if (name .eq. '--kill-at') then
          killat = n
        else
          bad = 1
        end if
        if (bad .ne. 0) exit
      end do
      options_valid = bad .eq. 0
      if (bad .ne. 0 .and. rank .eq. 0) write (0, '(a)')
     &  'options: --nx N --ny N --steps N --interval N --kill-at N'
      end function

!     From scr_init to scr_finalize.
      subroutine run
      integer rc, step
      double precision residual
      integer(c_long) crc

      start = MPI_WTIME()
      call scr_init(rc)
      if (rc .ne. SCR_SUCCESS .and. rc .ne. SCR_ERR_DISABLED) then
        call complain('scr_init', rc)
        return
      end if
      if (restart_valid(step)) then
        call solve(step)
        call MPI_ALLREDUCE(change, residual, 1, MPI_DOUBLE_PRECISION,
     &                     MPI_MAX, comm, e)
        crc = field_crc()
        if (rank .eq. 0) print '(a, i0, a, es15.9, a, z8.8, a, f8.2, a)'
     &    , 'heat2d: step ', step, ' residual ', residual, ' crc32 0x',
     &    crc, ' time', MPI_WTIME() - start, ' s'
        code = 0
      end if
      call scr_finalize(rc)
      if (rc .ne. SCR_SUCCESS .and. rc .ne. SCR_ERR_DISABLED) then
        call complain('scr_finalize', rc)
        code = 1
      end if
      end subroutine

      end program
