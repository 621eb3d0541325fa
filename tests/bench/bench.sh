#!/bin/sh
# bench.sh [ARGUMENTS OF bench] - time a checkpoint with XOR on 4 virtual nodes in memory-backed storage.
# RANKS (4), NODES (4) and BENCH_DIR (/dev/shm) may be set; it needs about 3 times RANKS x MiB there.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
MPICC=${MPICC:-mpicc} MPIEXEC=${MPIEXEC:-mpiexec} RANKS=${RANKS:-4} NODES=${NODES:-4}
work=$(mktemp -d "${BENCH_DIR:-/dev/shm}/scr-bench.XXXXXX")
trap 'rm -rf "$work"' EXIT INT TERM
$MPICC -O2 -I"$top" -o "$work/bench" "$here/bench.c" "$top/scr_impl.c" -lz -lpthread
mkdir "$work/prefix"
cd "$work/prefix"
SCR_PREFIX=$work/prefix SCR_CNTL_BASE=$work SCR_CACHE_BASE=$work SCR_JOB_ID=bench SCR_VIRTUAL_NODES=$NODES SCR_FLUSH=0 \
  timeout 600 $MPIEXEC -n "$RANKS" "$work/bench" "$@"
