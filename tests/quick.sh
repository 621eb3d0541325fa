#!/bin/bash
# quick.sh - what a compiler and MPI alone can show in a minute: the demo, the unit tests, and on 4 ranks the main cases of
# restart, loss, flush and containers.  Last line: N passed, N failed, N skipped.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/find_mpi.sh
cases="the_prefix_gives_back_what_was_flushed_and_is_whole scr_prefix_size_keeps_so_many_checkpoints
  xor_rebuilds_what_it_bears_and_refuses_the_rest after_a_rejected_checkpoint_the_next_older_one_is_offered
  a_fresh_start_is_refused_until_it_is_asked_for what_is_packed_is_fetched_whole
  an_error_of_many_ranks_in_a_dataset_is_one_line"
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT
began=$SECONDS

# The demo counts as one test.
demo() {
  if sh examples/demo.sh; then echo "1 passed, 0 failed, 0 skipped"; else echo "0 passed, 1 failed, 0 skipped"; fi
}
# suite NAME COMMAND...: run it, print its line, and keep its log in NAME
suite() {
  local name=$1 start=$SECONDS
  shift
  "$@" >"$out/$name" 2>&1 </dev/null
  tail -n 1 "$out/$name" | grep -q ' passed, ' || echo "0 passed, 1 failed, 0 skipped" >>"$out/$name"
  printf '%-10s %4d s   %s\n' "$name" $((SECONDS - start)) "$(tail -n 1 "$out/$name")"
  tail -n 1 "$out/$name" | grep -q ' 0 failed' || sed 's/^/    /' "$out/$name" | tail -n 60
}
# Two lanes, for two cores.
# shellcheck disable=SC2086
TEST_COUNTS=4 suite mpi timeout -k 10 300 tests/mpi/mpi.sh check $cases &
[ -n "${TEST_MPI_ALONE:-}" ] || suite unit timeout -k 10 300 tests/unit/unit # it is the same for each MPI
suite demo demo
wait
awk -v seconds=$((SECONDS - began)) '
  / passed, / { last[FILENAME] = $0 }
  END {
    for (f in last) { split(last[f], n, " "); passed += n[1]; failed += n[3]; skipped += n[5] }
    printf "%d s\n%d passed, %d failed, %d skipped\n", seconds, passed, failed, skipped
    exit failed > 0
  }' "$out"/*
