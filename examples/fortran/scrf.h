!
! scrf.h - constants of scr.h, for programs that do not use the
! module scr.  Valid in fixed and in free form.
!
!     include 'scrf.h'
!
! The calls are external subroutines; scr.f90 shows their arguments.
! Those for regions of memory need the module: without its interfaces
! a compiler may not see that a call changes a variable.
!
      integer SCR_SUCCESS
      parameter (SCR_SUCCESS = 0)
      integer SCR_MAX_FILENAME
      parameter (SCR_MAX_FILENAME = 1024)

      integer SCR_FLAG_NONE
      parameter (SCR_FLAG_NONE = 0)
      integer SCR_FLAG_CHECKPOINT
      parameter (SCR_FLAG_CHECKPOINT = 1)
      integer SCR_FLAG_OUTPUT
      parameter (SCR_FLAG_OUTPUT = 2)

      integer SCR_VERSION_NUMBER
      parameter (SCR_VERSION_NUMBER = 40000)

      integer SCR_ERR_DISABLED
      parameter (SCR_ERR_DISABLED = 1)
      integer SCR_ERR_STATE
      parameter (SCR_ERR_STATE = 2)
      integer SCR_ERR_ARG
      parameter (SCR_ERR_ARG = 3)
      integer SCR_ERR_PARAM
      parameter (SCR_ERR_PARAM = 4)
      integer SCR_ERR_DIFFER
      parameter (SCR_ERR_DIFFER = 5)
      integer SCR_ERR_PATH
      parameter (SCR_ERR_PATH = 6)
      integer SCR_ERR_MEM
      parameter (SCR_ERR_MEM = 7)
      integer SCR_ERR_IO
      parameter (SCR_ERR_IO = 8)
      integer SCR_ERR_SPACE
      parameter (SCR_ERR_SPACE = 9)
      integer SCR_ERR_FORMAT
      parameter (SCR_ERR_FORMAT = 10)
      integer SCR_ERR_CRC
      parameter (SCR_ERR_CRC = 11)
      integer SCR_ERR_MISSING
      parameter (SCR_ERR_MISSING = 12)
      integer SCR_ERR_INVALID
      parameter (SCR_ERR_INVALID = 13)
      integer SCR_ERR_LOST
      parameter (SCR_ERR_LOST = 14)
      integer SCR_ERR_NO_RESTART
      parameter (SCR_ERR_NO_RESTART = 15)
      integer SCR_ERR_BUSY
      parameter (SCR_ERR_BUSY = 16)
      integer SCR_ERR_UNSAFE
      parameter (SCR_ERR_UNSAFE = 17)
      integer SCR_ERR_MPI
      parameter (SCR_ERR_MPI = 18)
      integer SCR_ERR_NOT_FOUND
      parameter (SCR_ERR_NOT_FOUND = 19)
