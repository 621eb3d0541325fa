#!/bin/sh
# A job without a batch system: a program on four processes, run again after failures.
#
#   SCR_PREFIX=/scratch/me/heat sh job.sh ./heat2d --steps 1000
#
# HOSTS, if it is set, is a file of hosts to run on, with spare ones; else it runs on this machine.  MPIEXEC is the
# launcher, if it is not mpiexec.
export SCR_PREFIX="${SCR_PREFIX:-$PWD}"         # where the checkpoints are to be in the end
export SCR_RUNS="${SCR_RUNS:-5}"                # so often it is run, until it succeeds
export SCR_RUN_WAIT="${SCR_RUN_WAIT:-10}"       # seconds between two runs
export SCR_WATCHDOG=1                           # end a run that makes no checkpoint for an hour
exec scr_run ${HOSTS:+--hosts "$HOSTS"} "${MPIEXEC:-mpiexec}" -n 4 "$@"
