#!/bin/bash
# scale.sh - the life of a checkpoint with 64 ranks on this machine, and what each call costs as the ranks grow.
#
# 64 ranks on 16 virtual nodes write a checkpoint; 64, 48 and 96 ranks restart from it and compare every byte, from the
# cache and from the prefix, and go on with a checkpoint of their own.  Then, with 4, 16 and 64 ranks, a table of what
# each step costs a rank in collectives, messages, bytes and files of metadata, which may not grow faster than log2 of
# the ranks.  From the environment: MPICC, MPIEXEC.  Last line: N passed, N failed, N skipped.
set -u
HERE=$(cd "$(dirname "$0")" && pwd)
ROOT=$(cd "$HERE/../.." && pwd)
END=540 # seconds for all, of which one run takes at most LIMIT
LIMIT=120
. "$ROOT/tests/find_mpi.sh"
passed=0 failed=0 pid=
base=${TMPDIR:-/dev/shm}
[ -w "$base" ] || base=/tmp
T=$(mktemp -d "$base/scr-scale.XXXXXX") || exit 1

stop() {
  if [ -n "$pid" ]; then
    kill "$pid" 2>/dev/null
    wait "$pid"
  fi
  rm -rf "$T"
}
trap stop EXIT
trap 'exit 130' INT TERM HUP

jobs=()
compile() { # OBJECT SOURCE
  $MPICC -O1 -g -c -o "$T/$1.o" "$2" &
  jobs+=($!)
}
compile scale "$HERE/scale.c"
compile count "$ROOT/tests/bench/count.c"
compile yield "$ROOT/tests/cluster/yield.c" # makes MPI's own waits yield: many ranks share a core here
for job in "${jobs[@]}"; do wait "$job" || failed=1; done
if [ "$failed" = 1 ] || ! $MPICC -o "$T/scale" "$T"/*.o -lz -lpthread -ldl; then
  echo "scale: the test program does not build"
  echo "0 passed, 1 failed, 0 skipped"
  exit 1
fi
unset "${!SCR_@}"
export SCR_PREFIX=$T/run/prefix SCR_CNTL_BASE=$T/run/cntl SCR_CACHE_BASE=$T/run/cache SCR_CONF_FILE=/dev/null
export SCR_USER_NAME=scale SCR_JOB_ID=scale SCR_VIRTUAL_NODES=16

# Run the program on N ranks; what it prints goes to $T/out.
scale() { # N ARGUMENTS...
  local n=$1 left=$((END - SECONDS)) rc
  shift
  [ $left -lt $LIMIT ] || left=$LIMIT
  [ $left -gt 0 ] || left=1
  # shellcheck disable=SC2086
  timeout -k 5 $left $MPIEXEC -n "$n" "$T/scale" "$@" >"$T/out" 2>"$T/err" </dev/null &
  pid=$! # in the background, so that a signal to this script is served at once
  wait "$pid"
  rc=$?
  pid=
  return $rc
}
passes() { # WHAT
  passed=$((passed + 1))
  printf 'ok    %4d s  %s\n' $SECONDS "$1"
}
fails() { # WHAT
  failed=$((failed + 1))
  echo "FAIL  $1"
  head -n 20 "$T/err" | sed 's/^/      /'
}
must() { # WHAT N ARGUMENTS...
  if scale "${@:2}"; then passes "$1"; else fails "$1"; fi
}
empty() {
  rm -rf "$T/run"
  mkdir -p "$T/run/prefix" "$T/run/cntl" "$T/run/cache"
}

# ---- the life of a checkpoint ----------------------------------------------------------------------------------------

# restarts PLACE N...: with N ranks each, from what 64 have just written
restarts() {
  local place=$1 n
  mv "$T/run" "$T/written"
  for n in "${@:2}"; do
    cp -a "$T/written" "$T/run"
    must "$n ranks restart from $place, and write the next one" "$n" read ck 64 next
    rm -rf "$T/run"
  done
}

empty
SCR_FLUSH=0 must "64 ranks write a checkpoint" 64 write ck
# In CI the simulator has larger jobs; here, all goes on with other ranks, and with what is left after a loss.
cached='64 48 96' flushed='64 48 96'
[ "${CI:-}" != 1 ] || cached='' flushed=96
# shellcheck disable=SC2086
restarts "the cache" $cached
mv "$T/written" "$T/run"
rm -rf "$T"/run/*/scale/scr.scale/node.*-v3
restarts "a cache that has lost a node" 48
rm -rf "$T/written"
empty
SCR_FLUSH=1 must "64 ranks write a checkpoint, and flush it" 64 write ck
rm -rf "$T"/run/cntl/* "$T"/run/cache/*
# shellcheck disable=SC2086
restarts "the prefix" $flushed

# ---- what a rank pays ------------------------------------------------------------------------------------------------

# Two ranks on a node, sets of two, and small nodes of the map, so that nothing but the number of ranks differs.
export SCR_SET_SIZE=2 SCR_FLUSH=2 SCR_CACHE_SIZE=2 SCR_RANK2FILE_SIZE=2000 SCR_FLUSH_WIDTH=2 SCR_FETCH_WIDTH=2
for n in 4 16 64; do
  empty
  export SCR_VIRTUAL_NODES=$((n / 2))
  if scale $n count "$T/run"; then
    passes "$n ranks count"
    sed "s/^/$n|/" "$T/out" >>"$T/counts"
  else
    fails "$n ranks count"
  fi
done

# A cost of a + b log2(ranks) grows from 16 to 64 ranks by as much as from 4 to 16; one in proportion to the ranks, by
# four times as much, whatever it starts from.  This rule holds for rank 0 and for the greatest of the others, with a
# quarter and a few more for what depends on hashes and on the length of numbers.  It has two exceptions, by design:
#   sorts   the messages of the merge sort that forms groups of ranks with equal strings grow as log2 squared
#   nodes   in SCR_Init rank 0 receives a message of each node for the list of all nodes, which it writes
# shellcheck disable=SC2016
judge='
  {
    if ($2 == "nodes") list[$1] = $4
    if ($2 == "nodes") next
    v[$1, $2, $3, 0] = $4; v[$1, $2, $3, 1] = $5
    if (!($2 in step)) { step[$2]; steps[++s] = $2 }
    if (!($3 in cost)) { cost[$3]; costs[++c] = $3 }
  }
  function by_design(n, step, cost) { # of rank 0, for the list of all nodes
    return step !~ /^SCR_Init/ ? 0 : cost == "messages" ? n / 2 : cost ~ /bytes|written/ ? list[n] : 0
  }
  function own(n, step, cost, who) { return v[n, step, cost, who] - (who == 0 ? by_design(n, step, cost) : 0) }
  function limit(step, cost, who,  from, to) {
    if (cost == "gathers") return 0
    from = own(4, step, cost, who); to = own(16, step, cost, who)
    if (from > to) from = to
    return to + (to - from) * (cost == "sorts" ? 5 / 3 : 1) * 1.25 + (cost ~ /bytes|written/ ? 256 : 2)
  }
  function most(n, step, cost,  a, b) { a = v[n, step, cost, 0]; b = v[n, step, cost, 1]; return a > b ? a : b }
  function cell(j, text) { printf (costs[j] ~ /bytes|written/ ? " %17s%s" : " %11s%s"), text, j < c ? "" : "\n" }
  END {
    printf "%-24s", "with 4/16/64 ranks"
    for (j = 1; j <= c; j++) cell(j, costs[j])
    for (i = 1; i <= s; i++) {
      printf "%-24s", steps[i]
      for (j = 1; j <= c; j++) {
        cell(j, most(4, steps[i], costs[j]) "/" most(16, steps[i], costs[j]) "/" most(64, steps[i], costs[j]))
        for (who = 0; who <= 1; who++)
          if (own(64, steps[i], costs[j], who) > limit(steps[i], costs[j], who))
            bad = bad sprintf("%s, %s, %s: %d, %d, %d with 4, 16, 64 ranks grows too fast\n", steps[i], costs[j], \
              who == 0 ? "rank 0" : "the others", v[4, steps[i], costs[j], who], v[16, steps[i], costs[j], who], \
              v[64, steps[i], costs[j], who])
      }
    }
    printf "%s", bad
    exit bad != "" || s != 6 || c != 7
  }'
echo
if [ "$failed" = 0 ]; then
  : >"$T/err"
  if awk -F'|' "$judge" "$T/counts"; then passes "no cost grows faster than log2 of the ranks"; else
    fails "no cost grows faster than log2 of the ranks"
  fi
fi
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
