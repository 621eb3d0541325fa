# lib.sh - what mpi.sh and badinput.sh share: builds, runs under a time limit, and the count of cases.
# shellcheck shell=bash disable=SC2034,SC2086
ROOT=$(cd "$HERE/../.." && pwd)
LIMIT=600 # seconds for one run
export TEST_LIMIT=${TEST_LIMIT:-40} # seconds for one case
passed=0 failed=0 skipped=0 runs=0 rc=0 pid=
builds=()

first_of() { for p in "$@"; do command -v "$p" > /dev/null && { echo "$p"; return; }; done; }
MPICC=${MPICC:-$(first_of mpicc.mpich mpicc)}
MPIEXEC=${MPIEXEC:-$(first_of mpiexec.mpich mpiexec.hydra mpiexec)}

# The scratch directory $T, and in it a copy of the sources with the library that is to be tested.
start_tests() { # NAME
  local impl=${SCR_IMPL:-$ROOT/scr_impl.c}
  T=$(mktemp -d "${TMPDIR:-/tmp}/scr-$1.XXXXXX") || exit 1
  T=$(cd "$T" && pwd -P)
  SRC=$T/src
  NAME=$1
  trap 'stop_tests' EXIT
  trap 'exit 130' INT TERM HUP
  mkdir -p "$SRC/tests/unit" && cp "$ROOT/scr.h" "$SRC/" && cp "$impl" "$SRC/scr_impl.c" &&
    cp -r "$ROOT/tools" "$SRC/" && cp -r "$ROOT/tests/mpi" "$SRC/tests/" &&
    cp "$ROOT/tests/unit/check_alloc.h" "$SRC/tests/unit/" || exit 1
  $MPICC -O2 -c -o "$T/yield.o" "$ROOT/tests/cluster/yield.c" || exit 1
  CFLAGS_OF_TEST=${SCR_TEST_CFLAGS:-}
  unset "${!SCR_@}"
  # Open MPI wants to be told that root and more ranks than cores are meant.
  case $($MPIEXEC --version 2>&1) in
  *"Open MPI"* | *OpenRTE* | *PRRTE*)
    MPIEXEC="$MPIEXEC --oversubscribe"
    if [ "$(id -u)" = 0 ]; then MPIEXEC="$MPIEXEC --allow-run-as-root"; fi
    ;;
  esac
}

# Nothing is left behind, but after a failure the logs.
stop_tests() {
  if [ -n "$pid${builds[*]}" ]; then
    # shellcheck disable=SC2086
    kill $pid "${builds[@]}" 2> /dev/null
    wait
  fi
  if [ "$failed" -gt 0 ]; then rm -rf "$T"/run.* "$SRC"; else rm -rf "$T"; fi
}

end_tests() {
  if [ "$failed" -gt 0 ]; then echo "$NAME: the logs are in $T"; fi
  echo "$passed passed, $failed failed, $skipped skipped"
  [ "$failed" -eq 0 ]
  exit
}

# Build PROGRAM beside others.  With the shim that makes MPI's own waits yield: ranks share cores here.
build() { # PROGRAM ARGS...
  local program=$1
  shift
  $MPICC -O1 -g $CFLAGS_OF_TEST -I"$SRC" -rdynamic -o "$T/$program" "$T/yield.o" "$@" -lz -lpthread -ldl &
  builds+=($!)
}

wait_builds() {
  local pid
  for pid in "${builds[@]}"; do
    wait "$pid" || { echo "$NAME: a test program does not build"; echo "0 passed, 1 failed, 0 skipped"; exit 1; }
  done
  builds=()
}

fail() {
  failed=$((failed + 1))
  echo "FAIL $*"
}

# Run PROGRAM on N ranks; its exit code in $rc, its words in $LOG, its scratch directory $TEST_DIR: a new one, unless
# KEEP_DIR is 1.
launch() { # N PROGRAM ARGS...
  local n=$1 program=$2
  shift 2
  runs=$((runs + 1))
  if [ "${KEEP_DIR:-0}" != 1 ] || [ -z "${TEST_DIR:-}" ]; then
    export TEST_DIR=$T/run.$runs
    mkdir "$TEST_DIR"
  fi
  export SCR_JOB_ID=${TEST_JOB:-$NAME$$}
  LOG=$T/log.$runs.$program.$n
  timeout -k 5 "$LIMIT" $MPIEXEC -n "$n" "$T/$program" "$@" > "$LOG" 2>&1 < /dev/null &
  pid=$! # in the background, so that a signal to this script is served at once
  wait "$pid"
  rc=$?
  pid=
  unset SCR_JOB_ID
}

# Run the cases of PROGRAM on N ranks and count them.  Where one hangs or kills the program, go on with the next.
cases() { # N PROGRAM CASE...
  local n=$1 program=$2 name last
  shift 2
  unset TEST_AFTER
  while :; do
    launch "$n" "$program" "$@"
    passed=$((passed + $(grep -c '^PASS ' "$LOG")))
    while read -r _ name; do
      fail "$program, $n ranks: $name"
      sed -n "/^RUN $name\$/,/^FAIL $name\$/{s/^  rank/    rank/p}" "$LOG" | head -n 12
    done < <(grep '^FAIL ' "$LOG")
    if grep -q '^DONE' "$LOG"; then
      if [ "$rc" -ne 0 ] && ! grep -q '^FAIL ' "$LOG"; then fail "$program, $n ranks: exit code $rc at the end, $LOG"; fi
      break
    fi
    last=$(sed -n 's/^RUN //p' "$LOG" | tail -n 1)
    if [ "$rc" = 124 ] || [ $((rc & 127)) = 14 ]; then fail "$program, $n ranks: ${last:-the start} hangs"; else
      fail "$program, $n ranks: ${last:-the start} ends the program with $rc"
    fi
    grep -v '^\(PASS\|RUN\) ' "$LOG" | tail -n 6 | sed 's/^/    /'
    [ -n "$last" ] || break
    export TEST_AFTER=$last
  done
  unset TEST_AFTER
}
