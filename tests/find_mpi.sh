# shellcheck shell=sh disable=SC2034
# find_mpi.sh - for the scripts that read it: MPICC and MPIEXEC, from the environment, or else those of this machine,
# MPICH's first; and the function that finds them, which prints nothing if there is none.
first_of() { for p in "$@"; do command -v "$p" > /dev/null && { echo "$p"; return; }; done; return 0; }
# of_mpi PROGRAM: the one of the library of $MPICC, which may have a suffix or a directory of its own.
of_mpi() { first_of "${MPICC%mpicc*}$1${MPICC##*mpicc}" "$1.mpich" "$1"; }
MPICC=${MPICC:-$(first_of mpicc.mpich mpicc)}
MPICC=${MPICC:-mpicc} # a message then tells what is missing
MPIEXEC=${MPIEXEC:-$(of_mpi mpiexec)}
MPIEXEC=${MPIEXEC:-$(first_of mpiexec.hydra)}
MPIEXEC=${MPIEXEC:-mpiexec}
# The options with which another compiler finds mpi.h, whose own warnings are no one's here.
mpi_includes() { $MPICC -show | tr ' ' '\n' | sed -n 's/^-I/-isystem /p' | tr '\n' ' '; }
MPICXX=${MPICXX:-$(of_mpi mpicxx)} MPIFORT=${MPIFORT:-$(of_mpi mpifort)}
# Open MPI wants to be told that root and more ranks than cores are meant; then its waits yield, and no rank is bound to a
# core.
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_hwloc_base_binding_policy=none
export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe PRTE_MCA_hwloc_default_binding_policy=none
export OMPI_MCA_orte_tmpdir_base=/tmp PRTE_MCA_prte_tmpdir_base=/tmp # for other users too, unlike TMPDIR
if [ "$(id -u)" = 0 ]; then export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; fi
# Which it is, and its exit code when all ranks are killed with SIGKILL.
case $($MPIEXEC --version 2>&1) in
*"Open MPI"* | *OpenRTE* | *PRRTE*) MPI_NAME=openmpi KILLED=137 ;;
*) MPI_NAME=mpich KILLED=9 ;;
esac
