#!/bin/bash
# mpi.sh - all MPI test cases, in small runs on one machine.
#
#   mpi.sh check|full|long [NAME...]     last line: N passed, N failed, N skipped
#
# NAME is a case, a part of the names of several, or `encode`, the engine of redundancy sets by itself: these run as in
# full, but for check too on the numbers of ranks of full.  Without one all cases run, each on the numbers of ranks that its
# table says for the mode.  From the environment: MPICC, MPIEXEC, BIN (the directory of the commands), SCR_TEST_CFLAGS,
# TEST_COUNTS (numbers of ranks), TEST_TIMES (print how long each case takes), SCR_IMPL (the source of the library),
# TEST_TURN (where loops begin that try some points of many).
# Full and read-only file systems need mounts of their own: root, or user namespaces; else those cases are skipped.  A
# case that hangs is a failure, and the others still run.  After a failure the logs stay where the output says.
set -u
HERE=$(cd "$(dirname "$0")" && pwd)
ROOT=$(cd "$HERE/../.." && pwd)
MODE=${1:-}
case $MODE in check | full | long) shift ;; *) sed -n '2,12s/^# \{0,1\}//p' "$0"; exit 2 ;; esac
COUNTS=${TEST_COUNTS:-1 2 3 4 5 8 9} ENCODE_COUNTS=4
LIMIT=900 # seconds for one run
export TEST_LIMIT=${TEST_LIMIT:-40} # seconds for one case
unset TEST_FULL TEST_LONG
if [ "$MODE" != check ] || [ $# != 0 ]; then export TEST_FULL=1; fi
if [ "$MODE" = long ]; then export TEST_LONG=1 LIMIT=3000 TEST_LIMIT=200 COUNTS="$COUNTS 6 7 16" ENCODE_COUNTS="1 2 3 4 5"; fi

# From here on in a mount namespace of its own, if that can be had: what is mounted vanishes with the last process.
if [ -z "${TEST_TRIED_MOUNTS:-}" ]; then
  flags=
  if [ "$(id -u)" = 0 ]; then export TEST_REAL_ROOT=1; else flags="--user --map-root-user"; fi
  export TEST_TRIED_MOUNTS=1
  # shellcheck disable=SC2086
  if unshare $flags --mount sh -c 'mount -t tmpfs none /mnt && mount -o remount,ro /mnt' 2> /dev/null; then
    TEST_MOUNTS=1 exec unshare $flags --mount "$0" "$MODE" "$@"
  fi
fi

# ---- build -----------------------------------------------------------------------------------------------------------

. "$ROOT/tests/find_mpi.sh"
passed=0 failed=0 skipped=0 runs=0 rc=0 pid=
jobs=()

# Nothing is left behind, but after a failure the logs.
stop() {
  # shellcheck disable=SC2086
  if [ -n "$pid${jobs[*]}" ]; then
    kill $pid "${jobs[@]}" 2> /dev/null
    wait
  fi
  if [ "$failed" -gt 0 ]; then rm -rf "$T"/run.* "$T/src"; else rm -rf "$T"; fi
}
T=$(mktemp -d "${TMPDIR:-/tmp}/scr-mpi.XXXXXX") || exit 1
T=$(cd "$T" && pwd -P)
trap stop EXIT
trap 'exit 130' INT TERM HUP

flags=${SCR_TEST_CFLAGS:-} # the parameters of the runs are unset below
# In the background, a few at a time: COMMAND with the options of all test programs.
compile() { # COMMAND...
  while [ "$(jobs -pr | wc -l)" -ge 3 ]; do sleep 0.05; done
  # shellcheck disable=SC2086
  "$@" -g $flags -I"$T/src" &
  jobs+=($!)
}
names=("$@")
# 1 when one of the names that were given is a part of CASE, or none was given.
wanted() { # CASE
  local name
  for name in ${names[@]+"${names[@]}"}; do [[ $1 != *"$name"* ]] || return 0; done
  [ ${#names[@]} = 0 ]
}
built() {
  local job broken=0
  for job in "${jobs[@]}"; do wait "$job" || broken=1; done
  jobs=()
  [ "$broken" = 0 ] || { echo "mpi: a test program does not build"; echo "0 passed, 1 failed, 0 skipped"; exit 1; }
}

# A copy of the sources, with the library that is to be tested.  The helpers see its private names in one file only.
mkdir -p "$T/src/tests" && cp "$ROOT/scr.h" "$T/src/" && cp "${SCR_IMPL:-$ROOT/scr_impl.c}" "$T/src/scr_impl.c" &&
  cp -r "$ROOT/tools" "$T/src/" && cp -r "$ROOT/tests/mpi" "$ROOT/tests/unit" "$T/src/tests/" || exit 1
level=-O1
[ "$MODE" != check ] || level=-O0 # which takes a third of the time
compile $MPICC $level -fvisibility=hidden -c -o "$T/library.o" "$T/src/tests/mpi/library.c"
if wanted encode; then # the redundancy engine alone
  compile $MPICC -O1 -o "$T/encode" "$T/src/tests/mpi/encode.c" "$ROOT/tests/cluster/yield.c" -lz -lpthread -ldl
fi
for file in mpi_test writing settings cache halt restart jobs loss flush containers async ranks bypass interop crash states power bad faults messages regions; do
  compile $MPICC -O0 -fvisibility=hidden -c -o "$T/$file.o" "$T/src/tests/mpi/$file.c"
done
compile $MPICC -O1 -c -o "$T/yield.o" "$ROOT/tests/cluster/yield.c" # makes MPI's own waits yield: ranks share cores here
# The commands: those that are built, unless another library is tested.
if [ -n "${SCR_IMPL:-}${SCR_TEST_CFLAGS:-}" ] || [ ! -x "${BIN:=$ROOT/tools}/scr" ] || [ "$ROOT/scr_impl.c" -nt "$BIN/scr" ]; then
  compile ${CC:-cc} -O1 -o "$T/scr" "$T/src/tools/scr.c" -lz
else ln -s "$(readlink -f "$BIN/scr")" "$T/scr"; fi
for tool in scr_halt scr_index scr_print_hash_file scr_rebuild scr_regions scr_status scr_transfer scr_where; do ln -s scr "$T/$tool"; done
built
compile $MPICC -rdynamic -o "$T/mpi" "$T"/*.o -lz -lpthread -ldl
built
export TEST_TRANSFER=$T/scr_transfer TEST_HALT=$T/scr_halt TEST_INDEX=$T/scr_index TEST_WHERE=$T/scr_where TEST_REBUILD=$T/scr_rebuild TEST_REGIONS=$T/scr_regions TEST_STATUS=$T/scr_status TEST_PRINT=$T/scr_print_hash_file TEST_DATA=$ROOT/tests/data
unset "${!SCR_@}"

# ---- runs ------------------------------------------------------------------------------------------------------------

fail() {
  failed=$((failed + 1))
  echo "FAIL $*"
}
again() { echo "    again, alone: make ${TEST_GOAL:-check} ONLY=$1"; } # CASE

# Run the program on N ranks; its exit code in $rc, its words in $LOG, its scratch directory $TEST_DIR: a new one, unless
# KEEP_DIR is 1.
launch() { # N NAME...
  local n=$1
  shift
  runs=$((runs + 1))
  if [ "${KEEP_DIR:-0}" != 1 ] || [ -z "${TEST_DIR:-}" ]; then
    export TEST_DIR=$T/run.$runs
    mkdir "$TEST_DIR"
  fi
  LOG=$T/log.$runs.$n
  # shellcheck disable=SC2086
  SCR_JOB_ID=mpi$$ timeout -k 5 "$LIMIT" $MPIEXEC -n "$n" "$T/${PROGRAM:-mpi}" "$@" > "$LOG" 2>&1 < /dev/null &
  pid=$! # in the background, so that a signal to this script is served at once
  wait "$pid"
  rc=$?
  pid=
}

# Run the cases on N ranks and count them.  Where one hangs or kills the program, go on with the next.
cases() { # N NAME...
  local n=$1 name last
  shift
  unset TEST_AFTER
  while :; do
    launch "$n" "$@"
    passed=$((passed + $(grep -c '^PASS ' "$LOG")))
    skipped=$((skipped + $(grep -c '^SKIP ' "$LOG")))
    sed -n 's/^SKIP /skipped: /p; /^[0-9.]* s /p' "$LOG"
    while read -r _ name; do
      fail "$n ranks: $name"
      sed -n "/^RUN $name\$/,/^FAIL $name\$/{s/^  rank/    rank/p}" "$LOG" | head -n 12
      again "${PROGRAM:-$name}"
    done < <(grep '^FAIL ' "$LOG")
    if grep -q '^DONE' "$LOG"; then
      if [ "$rc" -ne 0 ] && ! grep -q '^FAIL ' "$LOG"; then fail "$n ranks: exit code $rc at the end, $LOG"; fi
      break
    fi
    last=$(sed -n 's/^RUN //p' "$LOG" | tail -n 1)
    if [ "$rc" = 124 ] || [ $((rc & 127)) = 14 ]; then fail "$n ranks: ${last:-the start} hangs"; else
      fail "$n ranks: ${last:-the start} ends the program with $rc"
    fi
    grep -v '^\(PASS\|RUN\) ' "$LOG" | tail -n 6 | sed 's/^/    /'
    again "${PROGRAM:-${last:-mpi}}"
    [ -n "$last" ] && [ -z "${PROGRAM:-}" ] || break
    export TEST_AFTER=$last
  done
  unset TEST_AFTER
}

# A case that the library ends in its midst: the program ends with 0, and leaves the checkpoint on the prefix.
exits() { # CASE
  wanted "$1" || return 0
  launch 4 "$1"
  if [ "$rc" -eq 0 ] && ! grep -q '^\(PASS\|FAIL\|DONE\)' "$LOG" && [ -f "$TEST_DIR/exit/prefix/ck2/rank_3_0" ]; then
    passed=$((passed + 1))
  else
    fail "4 ranks: $1: the program should have ended with 0 and its checkpoint on the prefix; it ended with $rc"
    again "$1"
  fi
}

# A case behind which the program ends without SCR_Finalize: MPI_Finalize has to flush what WANT names below the test's
# directory, and rank 0 of each library's run to say so once.
forgets() { # CASE WARNINGS WANT...
  local file case=$1 warnings=$2
  shift 2
  launch 4 "$case"
  [ "$(grep -c 'MPI_Finalize is called before SCR_Finalize' "$LOG")" = "$warnings" ] || rc="$rc, without a word"
  for file in "$@"; do [ -f "$TEST_DIR/$file" ] || rc="$rc, without $file"; done
  # DONE may stand behind the half of a line: the two halves of a program print at once
  if [ "$rc" = 0 ] && grep -q 'DONE' "$LOG" && ! grep -q '^FAIL' "$LOG"; then passed=$((passed + 1)); else
    fail "4 ranks: $case ends with $rc"
    grep '^  rank' "$LOG" | head -n 6
    again although_scr_finalize_was_forgotten
  fi
}

# Every death of states.c again, with processes that are killed: one program dies, the next looks at what is left.
kill_all() {
  local k=0
  wanted a_job_dies || return 0
  while :; do
    k=$((k + 1))
    TEST_KILL=$k launch 4 a_job_dies
    if [ "$rc" -eq 0 ]; then break; fi # there are not so many
    if [ $((rc & 127)) = 9 ]; then TEST_KILL=$k TEST_KILLED=1 KEEP_DIR=1 launch 4 a_job_dies; fi
    if [ "$rc" -eq 0 ] && grep -q '^DONE' "$LOG"; then
      passed=$((passed + 1))
    else
      fail "4 ranks: a job that is killed, TEST_KILL=$k"
      grep '^  rank' "$LOG" | head -n 6 | sed 's/^/  /'
    fi
    rm -rf "$TEST_DIR"
  done
  [ "$k" -gt 100 ] || fail "4 ranks: only $((k - 1)) jobs are killed"
}

# CASE was launched on 2 ranks with TEST_KILL=K: if it was killed, the run that looks at what is left follows.  Returns 1
# if either failed.
after_kill() { # CASE K
  if [ $((rc & 127)) = 9 ]; then TEST_KILL=$2 TEST_KILLED=1 KEEP_DIR=1 launch 2 "$1"; fi
  if [ "$rc" = 0 ] && grep -q '^DONE' "$LOG"; then
    passed=$((passed + 1))
    rm -rf "$TEST_DIR"
    return 0
  fi
  fail "2 ranks: $1, TEST_KILL=$2"
  grep '^  rank' "$LOG" | head -n 6 | sed 's/^/  /'
  again "$1"
  return 1
}

# Runs that are killed at some moment of their asynchronous flushes, each followed by runs that look at what is left.
kill_flushes() { # SEEDS
  local seed
  wanted a_run_is_killed_while_it_flushes || return 0
  for seed in $(seq "$1"); do
    TEST_KILL=$seed launch 2 a_run_is_killed_while_it_flushes
    after_kill a_run_is_killed_while_it_flushes "$seed"
  done
}

# Runs that are killed at each STEP-th call of one with regions, which makes LEAST at least; each is followed by one that
# looks at what is left.
kill_regions() { # CASE STEP LEAST
  local k
  wanted "$1" || return 0
  for ((k = 1; ; k += $2)); do
    TEST_KILL=$k launch 2 "$1"
    if [ "$rc" = 0 ]; then break; fi # it makes fewer
    after_kill "$1" "$k" || return
  done
  [ "$k" -gt "$3" ] || fail "2 ranks: $1: it makes only $((k - 1)) calls"
}

for n in $COUNTS; do cases "$n" "$@"; done
if wanted encode; then
  for n in $ENCODE_COUNTS; do PROGRAM=encode TEST_LIMIT=300 cases "$n"; done
fi
if wanted what_a_killed_run_held_is_free_at_once; then
  launch 4 a_run_is_killed_while_it_holds_its_directories
  KEEP_DIR=1 cases 4 what_a_killed_run_held_is_free_at_once
fi
if wanted although_scr_finalize_was_forgotten; then
  forgets a_program_ends_without_scr_finalize 1 end/prefix/ck2/rank_3_0 end/prefix/ck3/rank_3_0
  KEEP_DIR=1 cases 4 what_the_cache_had_is_on_the_prefix_although_scr_finalize_was_forgotten
  forgets halves_of_a_program_end_without_scr_finalize 2 halves/prefix/half{0/ck1/rank_0,1/ck1/rank_3}
  grep -q 'MPI_Finalize is called before SCR_Complete_output: dataset 2 is not complete' "$LOG" ||
    fail "an open checkpoint ends with the program without a word"
fi
# The program of the chapter memory: 4 ranks begin, 3 go on, and their answer is right.
if wanted the_program_of_the_chapter_memory; then
  awk '/^    #include <mpi.h>/ {in_it = 1} in_it {print substr($0, 5)} /^    }/ {in_it = 0}' "$ROOT/tools/manual/memory.md" > "$T/src/app.c"
  compile $MPICC -O0 -Wall -Wextra -Werror -o "$T/app" "$T/src/app.c" "$T/src/scr_impl.c" "$T/yield.o" -lz -lpthread -ldl
  built
  said=
  export TEST_DIR=$T/run.regions
  mkdir "$TEST_DIR" && cd "$TEST_DIR" || exit 1 # the prefix is the working directory
  for n in 4 3; do
    SCR_CACHE_BASE=$TEST_DIR SCR_CNTL_BASE=$TEST_DIR SCR_VIRTUAL_NODES=$n PROGRAM=app KEEP_DIR=1 launch "$n"
    said="$said$(grep '^step' "$LOG"), "
  done
  cd "$ROOT" || exit 1
  if [ "$(wc -l < "$T/src/app.c")" -lt 40 ] && [ "$said" = "step 50, sum 1774500, step 100, sum 5549500, " ] &&
    [ "$(cat "$TEST_DIR/steps.txt")" = "$(seq 100)" ]; then passed=$((passed + 1)); else
    fail "the program of the chapter memory, of $(wc -l < "$T/src/app.c") lines, says: $said"
  fi
fi
exits a_halted_program_that_does_not_ask_ends_in_complete
exits scr_halt_exit_1_ends_a_program_that_asks
KEEP_DIR=1 exits scr_halt_exit_1_ends_a_halted_program_in_init
if [ "$MODE" = long ]; then kill_all; fi
if [ "$MODE" = long ]; then kill_flushes 200; elif [ -n "${TEST_FULL:-}" ]; then kill_flushes 20; else kill_flushes 5; fi
if [ "$MODE" = long ]; then step=1; elif [ -n "${TEST_FULL:-}" ]; then step=8; else step=30; fi
kill_regions a_run_is_killed_in_a_checkpoint_of_regions $step 60
kill_regions a_run_is_killed_while_it_recovers_regions $step 15
[ $((passed + failed + skipped)) -gt 0 ] || fail "no case has a name with ${names[*]} in it"
if [ "$failed" -gt 0 ]; then echo "mpi: the logs are in $T"; fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
