#!/bin/bash
# badinput.sh - bad input and bad surroundings: the same clear error on every rank, no hang, nothing safe is lost.
#
#   badinput.sh check|long [CASE...]     last line: N passed, N failed, N skipped
#
# From the environment: MPICC, MPIEXEC, SCR_TEST_CFLAGS, SCR_IMPL (the source of the library).  Full and read-only file
# systems need mounts of their own: root, or user namespaces; without them those cases are skipped.
set -u
HERE=$(cd "$(dirname "$0")" && pwd)
MODE=${1:-}
case $MODE in check | long) shift ;; *) sed -n '2,7s/^# \{0,1\}//p' "$0"; exit 2 ;; esac
ONLY=$*
# shellcheck source=tests/mpi/lib.sh
. "$HERE/lib.sh"
MOUNTS="cache_full fetch_full prefix_full frozen_bases frozen_later"

# In a mount namespace of its own from here on, if that can be had: what is mounted vanishes with the last process.
if [ -z "${BADINPUT_MOUNTS:-}" ]; then
  flags=
  if [ "$(id -u)" = 0 ]; then export TEST_REAL_ROOT=1; else flags="--user --map-root-user"; fi
  # shellcheck disable=SC2086
  if why=$(unshare $flags --mount sh -c 'mount -t tmpfs none /mnt && mount -o remount,ro /mnt' 2>&1); then
    # shellcheck disable=SC2086
    BADINPUT_MOUNTS=yes exec unshare $flags --mount "$0" "$MODE" $ONLY
  fi
  export BADINPUT_MOUNTS="no: ${why##*$'\n'}"
fi

start_tests badinput
build bad "$SRC/tests/mpi/bad.c" "$SRC/scr_impl.c"
wait_builds
if [ "$MODE" = long ]; then export TEST_LONG=1 LIMIT=3000; fi
# shellcheck disable=SC2086
if [ -n "$ONLY" ]; then
  cases 4 bad $ONLY
else
  cases 4 bad
  if [ "$BADINPUT_MOUNTS" = yes ]; then cases 4 bad $MOUNTS; else
    echo "skipped: $MOUNTS: mounts of our own are not possible here (${BADINPUT_MOUNTS#no: })"
    skipped=$((skipped + $(wc -w <<< "$MOUNTS")))
  fi
  if [ "$MODE" = long ]; then
    cases 1 bad
    cases 5 bad
    if [ "$BADINPUT_MOUNTS" = yes ]; then cases 5 bad $MOUNTS; fi
  fi
fi
end_tests
