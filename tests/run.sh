#!/bin/bash
# run.sh check|full|long - run suites, each under a timeout, and sum up.  Last line: N passed, N failed, N skipped.
#
# check has what a newcomer waits for: the simulator, the main cases of restart and rebuild on real ranks, the commands;
# full has every behaviour at least once; long has more numbers of ranks, more moments of failure, more rounds, and programs
# that are built with optimization or sanitizers, or for other processors.  ONLY=NAME: only the suites of which NAME is a
# part, or else the cases of the MPI, cluster and unit suites; full and long then have more of each, as long has it.
# BEYOND=check: only the suites that check does not run.  As many suites run at a time as there are processors, each with
# its own directories, ports, jobs and users.
# With CI=1 a skipped test is a failure.  TEST_PATIENCE=N: each suite has N times its limit, on a machine with other work.
set -u
mode=${1:-check}
top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top" || exit 1
# suite, seconds for check and full, seconds for long; the longest first
main="
tests/sim/sim.sh           450 3600
tests/tools/scavenge.sh    450  450
tests/tools/tools.sh       360  360
tests/tools/job.sh         360  300
tests/tools/report.sh      360  360
"
beyond="
tests/mpi/mpi.sh          3000 4800
tests/image/image.sh       900 3600
tests/openmpi/openmpi.sh   400 5400
tests/vendor/vendor.sh     900  900
tests/tools/run.sh         360  400
tests/cxx/cxx.sh           300  600
tests/tools/system.sh      450  450
tests/tools/users.sh       360  360
tests/cluster/cluster.sh   900 5400
tests/fortran/fortran.sh   700  700
tests/cross/cross.sh       400 4800
tests/tools/transfer.sh    450  900
tests/package/package.sh   450  450
tests/cluster/slurm.sh     700  900
tests/compat/compat.sh     450  450
tests/python/python.sh     600  600
tests/scheme/scheme.sh     300  300
tests/tools/ask.sh         360  360
tests/unit/unit            450  600
tests/hdf5/hdf5.sh         300  300
tests/compat/older.sh      240  240
tests/tools/database.sh    300  300
tests/bench/smoke.sh       240  240
tests/version/version.sh   360  360
tests/image/kills.sh       600 7200
tests/image/rounds.sh      300 5400
tests/fuzz/fuzz.sh         120  300
tests/tools/gdb.sh         120  120
"
long="
tests/filesystems/filesystems.sh 400 400
tests/image/mpich.sh      2400 2400
tests/image/others.sh     3600 3600
tests/python/mpi4py.sh    1800 1800
"
pace=check # of the suites
case $mode in
check) TEST_GOAL=check suites="tests/quick.sh 300 300$main" ;;
full) TEST_GOAL=check-full suites=$main$beyond ;;
long) TEST_GOAL=check-long pace=long suites=$main$beyond$long ;;
*) sed -n '2,12s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac
[ -z "${BEYOND:-}" ] || suites=${suites#"$main"}
unset TEST_FULL TEST_LONG
if [ -n "${ONLY:-}" ]; then
  suites=$main$beyond$long
  [ "$mode" != full ] || pace=full
fi
[ "$pace" = check ] || export TEST_FULL=1
[ "$pace" != long ] || export TEST_LONG=1
export TEST_GOAL # for the commands that messages name
# Where loops begin that take each third point or so at the pace check: in CI, each commit tries other ones.
if [ -z "${TEST_TURN:-}" ] && [ "${CI:-}" = 1 ]; then
  TEST_TURN=$((0x$(git rev-parse --short=8 HEAD 2>/dev/null || echo 0) % 10000))
  echo "note  loops that take some of their points begin at TEST_TURN=$TEST_TURN"
fi
export TEST_TURN=${TEST_TURN:-0}
# What MPICH looks for when it starts, on a machine that has none of it, is half of the time of a short program: the devices
# and plug-ins of hwloc, and networks.
export HWLOC_PLUGINS_PATH=${HWLOC_PLUGINS_PATH:-/none} HWLOC_SYNTHETIC=${HWLOC_SYNTHETIC:-core:$(nproc) pu:1}
export UCX_TLS=${UCX_TLS:-posix,self} UCX_MODULES=${UCX_MODULES:-none}
# Syncs cost nothing on a tmpfs: the suites work on one, if it has room and lets programs run.
out=$(mktemp -d "${TMPDIR:-/dev/shm}/scr-check.XXXXXX" 2>/dev/null) || out=$(mktemp -d) || exit 1
chmod 711 "$out" # some cases run as other users
names=() nodes=(env -u UCX_TLS -u UCX_MODULES) # the nodes of a cluster have a network,
trap 'rm -rf "$out"' EXIT
if [ -z "${TMPDIR:-}" ] && cp "$(type -P true)" "$out/" && "$out/true" 2>/dev/null &&
  [ "$(df -Pk "$out" | awk 'NR == 2 {print $4}')" -gt 4000000 ]; then
  export TMPDIR=$out
  nodes+=(-u TMPDIR) # and a /dev/shm of their own
fi

# cases NAME: the suites that have cases of which NAME is a part, as this table has them, with NAME for them.
cases() {
  local suite limits
  while read -r suite limits; do
    case $suite in
      tests/mpi/mpi.sh) [ "$1" = encode ] || grep -qhE "CASE\(\w*$1" tests/mpi/*.c ;;
      tests/cluster/*) grep -qE "^test_\w*$1" "$suite" ;;
      tests/unit/unit) grep -q "{\"$1\"," tests/unit/unit.c ;;
      *) false ;;
    esac && echo "$suite $limits"
  done <<<"$suites"
}
if [ -n "${ONLY:-}" ]; then
  if ! table=$(grep -E "/[^ ]*$ONLY" <<<"$suites"); then
    table=$(cases "$ONLY")
    names=("$ONLY")
    export TEST_FULL=1
    [ -n "$table" ] || { echo "no suite and no case has $ONLY in its name"; echo "0 passed, 1 failed, 0 skipped"; exit 1; }
  fi
  suites=$table
fi
case ${MPICC:-} in *.openmpi) suites=$(grep -v /openmpi/ <<<"$suites") ;; esac
suites=$(grep . <<<"$suites")
all=$(wc -l <<<"$suites")

# A terminal has a line that counts, which `erase` removes.
terminal=
[ ! -t 1 ] || terminal=1
erase=${terminal:+$'\r\e[K'}
count() {
  local log now
  trap 'exit 0' TERM
  while :; do
    now=
    for log in "$out"/*.running; do [ ! -e "$log" ] || now="$now $(basename "$log" .running)"; done
    printf '%s%4d s   %d of %d suites have ended; now:%s' "$erase" "$SECONDS" "$(grep -c . "$out/sums" 2>/dev/null)" "$all" "$now"
    sleep 1
  done
}

# Run SUITE for at most LIMIT seconds, print its line, and its log if it failed; its numbers go to $out/sums.
suite() { # SUITE LIMIT
  local name log rc line p f s began=$SECONDS arguments=("$pace" "${names[@]}") command=()
  name=$(basename "$1" .sh)
  log=$out/$name.log
  case $1 in
  tests/unit/unit) arguments=("${names[@]}") ;; # it takes names of suites
  tests/quick.sh) arguments=() ;;
  esac
  case $1 in
  tests/cluster/*) command=("${nodes[@]}") ;;
  tests/mpi/* | tests/image/* | tests/bench/*) ;; # they share memory through MPI
  *) command=(env MPIR_CVAR_NOLOCAL=1) ;; # MPICH's processes of one node spin when they start, until all have
  esac
  : >"$out/$name.running"
  timeout -k 10 "$2" "${command[@]}" "$1" "${arguments[@]}" >"$log" 2>&1 </dev/null &
  trap 'kill $! 2>/dev/null; exit 130' TERM
  wait $!
  rc=$?
  line=$(grep -E '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' "$log" | tail -n 1)
  read -r p _ f _ s _ <<<"${line//,/}"
  [ -n "$line" ] || p=0 f=1 s=0
  [ "$rc" = 0 ] || [ "$f" != 0 ] || f=1
  { # one write: several suites share the output
    printf '%s%-26s %4d s   %s\n' "$erase" "$1" $((SECONDS - began)) "$p passed, $f failed, $s skipped"
    if [ $rc = 124 ] || [ $rc = 137 ]; then echo "    $1: no end within $2 s"; fi
    if [ "$f" != 0 ] || { [ "$s" != 0 ] && [ "${CI:-}" = 1 ]; }; then
      sed 's/^/    /' "$log" | tail -n 150
      grep -q 'again, alone: make' "$log" || echo "    again, alone: make $TEST_GOAL ONLY=$name"
      [ "$TEST_TURN" = 0 ] || echo "    its loops began at TEST_TURN=$TEST_TURN"
    else grep -E '^(skipped|note)' "$log" | sed 's/^/    /'; fi
  } >"$log.report"
  rm -f "$out/$name.running"
  echo "$p $f $s" >>"$out/sums"
  cat "$log.report"
}

# All that runs ends with this script.
stop() {
  # shellcheck disable=SC2046
  kill $(jobs -p) 2>/dev/null
  wait
  exit 130
}
trap stop INT TERM HUP
: >"$out/sums"
counter=
if [ -n "$terminal" ]; then
  count &
  counter=$!
fi
running() { jobs -pr | grep -cvx "${counter:-none}"; } # suites
slots=$(nproc 2>/dev/null || echo 2)
while read -r name short long; do
  while [ "$(running)" -ge "$slots" ]; do sleep 0.2; done
  if [ "$mode" = long ]; then limit=$long; else limit=$short; fi
  suite "$name" $((limit * ${TEST_PATIENCE:-1})) &
done <<<"$suites"
while [ "$(running)" -gt 0 ]; do sleep 0.2; done
[ -z "$counter" ] || { kill "$counter"; wait "$counter"; printf '%s' "$erase"; }
read -r passed failed skipped < <(awk '{p += $1; f += $2; s += $3} END {print p + 0, f + 0, s + 0}' "$out/sums")
if [ "${CI:-}" = 1 ] && [ "$skipped" -gt 0 ]; then
  echo "in CI a skipped test counts as failed"
  failed=$((failed + skipped)) skipped=0
fi
echo "all suites: $SECONDS s"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
