#!/bin/bash
# older.sh - programs as they are for SCR 1.2 and 3.x, which look at nothing that is new here, and what programs do beside
# the library: threads, children, signals, few descriptors.  Last line: N passed, N failed, N skipped.
#
# From the environment: MPICC, MPIEXEC, MPICXX, BIN (the directory of the commands).
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
. "$top/tests/programs.sh"
MPICXX=${MPICXX:-$(first_of mpicxx.mpich mpicxx)}
BIN=$(cd "${BIN:-$top/tools}" && pwd)
cp "$top"/tests/compat/{older,around}.c .
export SCR_CACHE_SIZE=4

strict="-O1 -Wall -Wextra -Werror"
# shellcheck disable=SC2086
{
  build scr_impl.o $MPICC -g -O0 -c scr_impl.c
  build yield.o $MPICC -O1 -c "$top/tests/cluster/yield.c" # makes MPI's waits yield: ranks share cores here
  built
  build older $MPICC $strict older.c scr_impl.o yield.o -lz -lpthread -ldl
  build around $MPICC $strict around.c scr_impl.o yield.o -lz -lpthread -ldl
  programs=older
  if $MPICXX --version >/dev/null 2>&1; then
    build older_cxx $MPICXX -O1 -Wall -Werror -x c++ older.c -x none scr_impl.o yield.o -lz -lpthread -ldl
    programs="older older_cxx"
  else echo "note  C++: not tried, there is no C++ compiler with MPI"; fi
  built
}

# ends NAME TEXT WORD...: the last run has said each TEXT, with a | between two of them, and its loop of restarts has ended
ends() {
  local name=$1 text=
  local IFS='|'
  for text in $2; do
    grep -qF "$text" log || { bad "$name" "it does not say: $text"; return; }
  done
  if grep -q 'the loop does not end' log; then bad "$name" "the loop of restarts does not end"; else ok "$name"; fi
}
run_ends() { # NAME TEXTS RANKS PROGRAM ARGUMENTS...
  run "${@:3}"
  ends "$1" "$2"
}

# ---- checkpoints and restarts, each program from what the one before has left, without a node ----

last=${programs##* }
for words in "" "many" "output" "many output config"; do
  fresh
  # shellcheck disable=SC2086
  {
    run_ends "older $words: checkpoints" "at step 3, 0 failed" 4 older 3 $words die
    lose 1
    run_ends "$last $words: a node is lost" "restarted from step.|, 0 failed" 4 "$last" 3 $words
    rm -rf base/*
    run_ends "older $words: all nodes are lost" "restarted from step.|, 0 failed" 4 older 2 $words
  }
done

# ---- a loop of restarts ends, whatever is wrong with them ----

fresh
SCR_FLUSH=1 run 4 older 3
run_ends "older on fewer ranks" "not restarted from step.3|not restarted from step.1|at step 1, 1 failed" 3 older 1
run_ends "older on more ranks" "not restarted from step.3|not restarted from step.1|at step 1, 1 failed" 5 older 1
run_ends "older on as many ranks as before: nothing is held against it" "restarted from step.3" 4 older 0
for i in 1 2 3; do damage prefix/step.$i/rank_2; done
rm -rf base/*
run_ends "older, all is damaged" "cannot be fetched|at step 1, 1 failed" 4 older 1

# ---- all ranks write one file ----

fresh
run_ends "older shared: the parameter is named" "ranks share a file, which they can with SCR_CACHE_BYPASS=1|at step 2, 2 failed" \
  4 older 2 shared
SCR_CACHE_BYPASS=1 run_ends "older shared, on the prefix" "at step 2, 0 failed" 4 older 2 shared
SCR_CACHE_BYPASS=1 run_ends "$last shared, on the prefix, restarts" "restarted from step.2|at step 3, 0 failed" 4 "$last" 1 shared

# ---- the program beside the library ----

part() { # ARGUMENTS...: of the program around, on 4 ranks
  fresh
  run 4 around "$@"
  if grep -q '^skipped: ' log; then
    sed -n 's/^\(skipped: .*\)/\1/p' log
    skipped=$((skipped + 1))
  elif is_right "$1" 4; then ok "around $1 ${2%% *}"
  else bad "around $1" "something else happens"; fi
}
part threads ""
part children "$BIN/scr_index --delete ck1 2>&1 | grep -q 'a run uses the prefix'"
part signals ""
SCR_FLUSH=1 SCR_FLUSH_ASYNC=1 part signals ""
for few in 1 2 3 4 5 6 8 12 20; do part descriptors $few; done

echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
