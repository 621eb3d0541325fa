#!/bin/sh
# bench.sh [--mib N] [--runs N] [--small N] [--json] - time checkpoints, rebuilds and starts on virtual nodes in memory;
# bench.sh --image [--mib N] [--runs N] - what the object of process images costs a program.
# RANKS (4), NODES (4) and BENCH_DIR (/dev/shm) may be set; it needs 4 times RANKS x MiB there (6 times with 3 nodes;
# 2 nodes leave out RS(2)), and twice RANKS x MiB of other memory.  BENCH_PREFIX (/var/tmp), on a disk, receives what is
# flushed, twice RANKS x MiB.  SCR_LIB is the library to link (libscr.a) in place of
# scr_impl.c.  Parameters of the library that the bench does not set itself are taken from the environment.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
if [ "${1:-}" = --image ]; then
  shift
  exec sh "$here/image.sh" "$@"
fi
top=$(cd "$here/../.." && pwd)
. "$top/tests/find_mpi.sh"
RANKS=${RANKS:-4} NODES=${NODES:-4}
unset SCR_PREFIX SCR_CNTL_BASE SCR_CACHE_BASE SCR_VIRTUAL_NODES SCR_COPY_TYPE SCR_SET_FAILURES SCR_CRC_ON_COPY \
  SCR_CRC_ON_RESTART SCR_FLUSH SCR_USER_NAME SCR_JOB_ID SCR_CONF_FILE SCR_CURRENT
base=${BENCH_DIR:-/dev/shm}
if [ ! -d "$base" ] || [ ! -w "$base" ]; then
  echo "bench: $base is no directory to write in; set BENCH_DIR" >&2
  exit 1
fi
work=$(mktemp -d "$base/scr-bench.XXXXXX")
work=$(cd "$work" && pwd -P)
prefix=$(mktemp -d "${BENCH_PREFIX:-/var/tmp}/scr-bench.XXXXXX")
pid=

# Nothing is left behind; ranks that are being killed may still write.
# shellcheck disable=SC2317
clean() {
  if [ -n "$pid" ]; then
    kill "$pid" 2>/dev/null || :
    wait "$pid" || :
  fi
  tries=0
  until rm -rf "$work" "$prefix" 2>/dev/null || [ "$tries" = 50 ]; do
    tries=$((tries + 1))
    sleep 0.1
  done
}
trap clean EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

warn="-Wall -Wextra -Wshadow -Wc++-compat -Wstrict-prototypes -Wmissing-prototypes"
[ "${CI:-}" != 1 ] || warn="$warn -Werror"
mkdir "$work/store"
# shellcheck disable=SC2086
$MPICC -O2 $warn -I"$top" -o "$work/bench" "$here/bench.c" "$here/count.c" \
  "${SCR_LIB:-$top/scr_impl.c}" -lz -lpthread
cd "$work/store"
# In the background, so that a signal to this script is served at once.
# shellcheck disable=SC2086
timeout -k 5 "${BENCH_LIMIT:-900}" \
  $MPIEXEC -n "$RANKS" "$work/bench" --dir "$work/store" --prefix "$prefix" --nodes "$NODES" "$@" </dev/null &
pid=$!
rc=0
wait "$pid" || rc=$?
pid=
[ $rc != 124 ] || echo "bench: no end within ${BENCH_LIMIT:-900} s" >&2
exit $rc
