#!/bin/bash
# mpi.sh - the public calls and the MPI helpers, in small runs on one machine.
#
#   mpi.sh check|long [CASE...]     last line: N passed, N failed, N skipped
#
# From the environment: MPICC, MPIEXEC, SCR_TEST_CFLAGS, SCR_IMPL (the source of the library).  A case that hangs is a failure, and the others still run.  After a failure the logs stay where the
# output says.
set -u
HERE=$(cd "$(dirname "$0")" && pwd)
MODE=${1:-}
case $MODE in check | long) shift ;; *) sed -n '2,8s/^# \{0,1\}//p' "$0"; exit 2 ;; esac
ONLY=$*
# shellcheck source=tests/mpi/lib.sh
. "$HERE/lib.sh"
start_tests mpi
build api "$SRC/tests/mpi/api.c" "$SRC/scr_impl.c"
build private "$SRC/tests/mpi/private.c"
build loss "$SRC/tests/mpi/loss.c"
build faults "$SRC/tests/mpi/faults.c"
build prefix "$SRC/tests/mpi/prefix.c"
build scr_halt "$SRC/tools/scr_halt.c"
wait_builds
export TEST_HALT=$T/scr_halt
if [ "$MODE" = long ]; then export TEST_LONG=1 LIMIT=3000 TEST_LIMIT=200; fi

# A run whose library is told to end the program: it must end with 0, and leave the checkpoint on the prefix.
exits() { # CASE DIR
  [ -z "$ONLY" ] || [[ " $ONLY " == *" $1 "* ]] || return 0
  launch 4 api "$1"
  if [ "$rc" -eq 0 ] && ! grep -q '^\(PASS\|FAIL\|DONE\)' "$LOG" && [ -f "$TEST_DIR/$2/prefix/ck2/rank_3_0" ]; then
    passed=$((passed + 1))
  else
    fail "api 4 $1: the program should have ended with 0 and its checkpoint on the prefix; it ended with $rc"
  fi
}

# shellcheck disable=SC2086
{
  for n in 1 2 4 5; do cases "$n" api $ONLY; done
  for n in 1 2 3 5 9; do cases "$n" private $ONLY; done
  for n in 2 3 4; do cases "$n" loss $ONLY; done
  for n in 4 5 8; do cases "$n" faults $ONLY; done
  for n in 2 4; do cases "$n" prefix $ONLY; done
  if [ -z "$ONLY" ]; then
    cases 4 api split_busy
    cases 5 loss rs_all partner_all messages
  fi
}
if [ -z "$ONLY" ] || [[ " $ONLY " == *" kill "* ]]; then # what a killed run held is free at once
  launch 4 api killed
  KEEP_DIR=1 cases 4 api after_kill
fi
exits exit_auto exit_auto
exits exit_always exit_1
KEEP_DIR=1 exits exit_init exit_1
if [ "$MODE" = long ]; then
  for n in 5 6 7; do cases "$n" loss; done
  cases 9 api
  cases 16 private
fi
end_tests
