# shellcheck shell=sh disable=SC2034
# find_mpi.sh - for the scripts that read it: MPICC and MPIEXEC, from the environment, or else those of this machine,
# MPICH's first; and the function that finds them, which prints nothing if there is none.
first_of() { for p in "$@"; do command -v "$p" > /dev/null && { echo "$p"; return; }; done; return 0; }
MPICC=${MPICC:-$(first_of mpicc.mpich mpicc)}
MPIEXEC=${MPIEXEC:-$(first_of mpiexec.mpich mpiexec.hydra mpiexec)}
MPICC=${MPICC:-mpicc} MPIEXEC=${MPIEXEC:-mpiexec} # a message then tells what is missing
# Open MPI wants to be told that root and more ranks than cores are meant.
case $($MPIEXEC --version 2>&1) in
*"Open MPI"* | *OpenRTE* | *PRRTE*)
  MPIEXEC="$MPIEXEC --oversubscribe"
  if [ "$(id -u)" = 0 ]; then MPIEXEC="$MPIEXEC --allow-run-as-root"; fi
  ;;
esac
