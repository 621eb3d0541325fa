!
! scr.f90 - the module of the library for Fortran programs: interfaces of its calls, and constants.
!
! The manual of the calls is scr.h.  In Fortran:
!   - Each call is a subroutine.  Its last argument, ierr, receives the code that the C function returns; it may be left
!     out, because the library prints errors itself.
!   - Blanks at the end of a text that is passed in do not count, nor does what follows a NUL; a text that is received
!     is padded with blanks.  A name or path that does not fit its variable is the error SCR_ERR_PATH, and the variable
!     is blank.  A variable of SCR_MAX_FILENAME characters is large enough for any of them.
!   - Flags are integers: 1 yes, 0 no.
!   - With a blank name, scr_start_output and scr_checkpoint let the library name the dataset.
!   - Numbers of bytes and elements are integers of kind c_int64_t.
!
!   mpicc -DSCR_WITH_FORTRAN -c scr_impl.c && mpifort scr.f90 app.f90 scr_impl.o -lz -lpthread
!
! The module needs no module of MPI, but Fortran 2018: with gfortran, no older standard than -std=f2018 for this file.
! Integers are default integers, of the size for which MPI was built; so not -fdefault-integer-8 alone.
!
module scr
  use, intrinsic :: iso_c_binding, only: c_int64_t, c_ptr
  implicit none
  public

  integer, parameter :: SCR_SUCCESS = 0
  integer, parameter :: SCR_MAX_FILENAME = 1024 ! characters that hold any name or path

  ! Flags of scr_start_output; add them.
  integer, parameter :: SCR_FLAG_NONE = 0
  integer, parameter :: SCR_FLAG_CHECKPOINT = 1 ! a restart can use it
  integer, parameter :: SCR_FLAG_OUTPUT = 2     ! always flushed to the prefix

  ! Of this file: 10000 * major + 100 * minor + patch
  integer, parameter :: SCR_VERSION_NUMBER = 40000

  ! Errors
  integer, parameter :: SCR_ERR_DISABLED = 1  ! the library is disabled (SCR_ENABLE=0)
  integer, parameter :: SCR_ERR_STATE = 2  ! call in the wrong state
  integer, parameter :: SCR_ERR_ARG = 3  ! bad argument
  integer, parameter :: SCR_ERR_PARAM = 4  ! bad parameter value
  integer, parameter :: SCR_ERR_DIFFER = 5  ! the ranks disagree
  integer, parameter :: SCR_ERR_PATH = 6  ! path too long, or not below the prefix directory
  integer, parameter :: SCR_ERR_MEM = 7  ! out of memory
  integer, parameter :: SCR_ERR_IO = 8  ! input or output failed
  integer, parameter :: SCR_ERR_SPACE = 9  ! no space left
  integer, parameter :: SCR_ERR_FORMAT = 10 ! file is corrupt, truncated or of another format
  integer, parameter :: SCR_ERR_CRC = 11 ! checksum mismatch
  integer, parameter :: SCR_ERR_MISSING = 12 ! file is missing or has the wrong size
  integer, parameter :: SCR_ERR_INVALID = 13 ! the dataset is not valid on some rank
  integer, parameter :: SCR_ERR_LOST = 14 ! more was lost than the redundancy scheme can rebuild
  integer, parameter :: SCR_ERR_NO_RESTART = 15 ! checkpoints exist, but none could be loaded
  integer, parameter :: SCR_ERR_BUSY = 16 ! in use by another run
  integer, parameter :: SCR_ERR_UNSAFE = 17 ! directory or file is not safe to use
  integer, parameter :: SCR_ERR_MPI = 18 ! an MPI call failed
  integer, parameter :: SCR_ERR_NOT_FOUND = 19 ! no such dataset

  interface

    ! ---- start and end ----

    subroutine scr_init(ierr)
      integer, intent(out), optional :: ierr
    end subroutine

    ! Comm is an integer, as in mpif.h and the module mpi, or a type(MPI_Comm) of mpi_f08; its type is not checked.
    subroutine scr_init_comm(comm, ierr)
      type(*), intent(in) :: comm
      integer, intent(out), optional :: ierr
    end subroutine

    subroutine scr_finalize(ierr)
      integer, intent(out), optional :: ierr
    end subroutine

    ! Sets a parameter, before scr_init ("KEY=VALUE"), or asks for one ("KEY"): then value receives it, else blanks.
    subroutine scr_config(config, value, ierr)
      character(*), intent(in) :: config
      character(*), intent(out) :: value
      integer, intent(out), optional :: ierr
    end subroutine

    ! ---- restart ----

    ! Flag is 1 if a checkpoint is loaded, and name its name.
    subroutine scr_have_restart(flag, name, ierr)
      integer, intent(out) :: flag
      character(*), intent(out) :: name
      integer, intent(out), optional :: ierr
    end subroutine

    ! Ranks is the number of ranks that wrote the loaded checkpoint.
    subroutine scr_restart_ranks(ranks, ierr)
      integer, intent(out) :: ranks
      integer, intent(out), optional :: ierr
    end subroutine

    subroutine scr_start_restart(name, ierr)
      character(*), intent(out) :: name
      integer, intent(out), optional :: ierr
    end subroutine

    ! Valid is 1 if this rank could read its files.
    subroutine scr_complete_restart(valid, ierr)
      integer, intent(in) :: valid
      integer, intent(out), optional :: ierr
    end subroutine

    ! ---- checkpoint and output ----

    subroutine scr_need_checkpoint(flag, ierr)
      integer, intent(out) :: flag
      integer, intent(out), optional :: ierr
    end subroutine

    subroutine scr_start_checkpoint(ierr)
      integer, intent(out), optional :: ierr
    end subroutine

    subroutine scr_complete_checkpoint(valid, ierr)
      integer, intent(in) :: valid
      integer, intent(out), optional :: ierr
    end subroutine

    ! Flags may have 256 * (n + 1), which is SCR_FLAG_LINE(n) of scr.h, too.
    subroutine scr_start_output(name, flags, ierr)
      character(*), intent(in) :: name
      integer, intent(in) :: flags
      integer, intent(out), optional :: ierr
    end subroutine

    ! Valid is 1 if this rank wrote all its files and closed them.
    subroutine scr_complete_output(valid, ierr)
      integer, intent(in) :: valid
      integer, intent(out), optional :: ierr
    end subroutine

    ! File receives the path at which to open the file name.
    subroutine scr_route_file(name, file, ierr)
      character(*), intent(in) :: name
      character(*), intent(out) :: file
      integer, intent(out), optional :: ierr
    end subroutine

    ! ---- regions of memory, and files that only grow ----

    ! Count elements of size bytes at data: c_loc of a variable with the attribute target, or of an allocated array,
    ! without gaps.  It must stay there as long as the region is protected; after allocate or reallocation, call again.
    subroutine scr_protect(name, data, count, size, ierr)
      import :: c_int64_t, c_ptr
      character(*), intent(in) :: name
      type(c_ptr), intent(in) :: data
      integer(c_int64_t), intent(in) :: count, size
      integer, intent(out), optional :: ierr
    end subroutine

    ! Dimensions are in the order of Fortran: the first one varies fastest.  Offset counts from 0.
    subroutine scr_protect_array(name, data, size, ndims, global, offset, extent, ierr)
      import :: c_int64_t, c_ptr
      character(*), intent(in) :: name
      type(c_ptr), intent(in) :: data
      integer(c_int64_t), intent(in) :: size
      integer, intent(in) :: ndims
      integer(c_int64_t), intent(in) :: global(ndims), offset(ndims), extent(ndims)
      integer, intent(out), optional :: ierr
    end subroutine

    ! Data is c_loc of the first element of the block; stride counts elements.
    subroutine scr_protect_array_strided(name, data, size, ndims, global, offset, extent, stride, ierr)
      import :: c_int64_t, c_ptr
      character(*), intent(in) :: name
      type(c_ptr), intent(in) :: data
      integer(c_int64_t), intent(in) :: size
      integer, intent(in) :: ndims
      integer(c_int64_t), intent(in) :: global(ndims), offset(ndims), extent(ndims), stride(ndims)
      integer, intent(out), optional :: ierr
    end subroutine

    subroutine scr_unprotect(name, ierr)
      character(*), intent(in) :: name
      integer, intent(out), optional :: ierr
    end subroutine

    subroutine scr_checkpoint(name, ierr)
      character(*), intent(in) :: name
      integer, intent(out), optional :: ierr
    end subroutine

    ! Have is 1 if the regions are filled, and name the name of that checkpoint; also if name does not fit.
    subroutine scr_recover(have, name, ierr)
      integer, intent(out) :: have
      character(*), intent(out) :: name
      integer, intent(out), optional :: ierr
    end subroutine

    subroutine scr_region_size(name, bytes, ierr)
      import :: c_int64_t
      character(*), intent(in) :: name
      integer(c_int64_t), intent(out) :: bytes
      integer, intent(out), optional :: ierr
    end subroutine

    subroutine scr_put_regions(ierr)
      integer, intent(out), optional :: ierr
    end subroutine

    subroutine scr_get_regions(ierr)
      integer, intent(out), optional :: ierr
    end subroutine

    subroutine scr_track(path, ierr)
      character(*), intent(in) :: path
      integer, intent(out), optional :: ierr
    end subroutine

    ! ---- the end of the job ----

    subroutine scr_should_exit(flag, ierr)
      integer, intent(out) :: flag
      integer, intent(out), optional :: ierr
    end subroutine

    ! ---- datasets ----

    subroutine scr_current(name, ierr)
      character(*), intent(in) :: name
      integer, intent(out), optional :: ierr
    end subroutine

    subroutine scr_drop(name, ierr)
      character(*), intent(in) :: name
      integer, intent(out), optional :: ierr
    end subroutine

    subroutine scr_delete(name, ierr)
      character(*), intent(in) :: name
      integer, intent(out), optional :: ierr
    end subroutine

    ! Wait for the asynchronous flush of NAME; a blank name stands for all.
    subroutine scr_wait(name, ierr)
      character(*), intent(in) :: name
      integer, intent(out), optional :: ierr
    end subroutine

    ! ---- information ----

    subroutine scr_get_version(version, ierr)
      character(*), intent(out) :: version
      integer, intent(out), optional :: ierr
    end subroutine

    ! The text of an error code, and the message of the last error; one that does not fit ends with "...".
    subroutine scr_strerror(code, text)
      integer, intent(in) :: code
      character(*), intent(out) :: text
    end subroutine

    subroutine scr_last_error(text)
      character(*), intent(out) :: text
    end subroutine

  end interface

end module scr
