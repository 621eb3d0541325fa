#!/bin/bash
# run.sh check|long - run all suites, each under a timeout, and sum up.  Last line: N passed, N failed, N skipped.
# ONLY=NAME: only the suites of which NAME is a part, or else the cases of the MPI, cluster and unit suites.
# The suites of a lane run one after the other, two lanes side by side; those of lane `last` alone, after these.  With
# CI=1 a skipped test is a failure.
set -u
mode=${1:-check}
top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top" || exit 1
# lane, suite, seconds for check, seconds for long
suites="
one   tests/mpi/mpi.sh          2400 4800
one   tests/vendor/vendor.sh     540  540
one   tests/fortran/fortran.sh   540  540
two   tests/unit/unit            300  600
two   tests/tools/tools.sh       240  300
two   tests/tools/job.sh         240  300
two   tests/tools/scavenge.sh    240  400
two   tests/tools/run.sh         240  400
two   tests/tools/transfer.sh    450  900
two   tests/tools/system.sh      300  300
two   tests/scheme/scheme.sh  180  300
two   tests/tools/gdb.sh         120  120
two   tests/tools/database.sh    180  180
two   tests/tools/ask.sh         240  240
two   tests/tools/report.sh      180  180
two   tests/tools/users.sh       180  180
two   tests/version/version.sh   240  240
two   tests/package/package.sh   450  450
two   tests/fuzz/fuzz.sh         120  300
two   tests/sim/sim.sh           450 3600
last  tests/cluster/cluster.sh   420 5400
last  tests/cluster/slurm.sh     360  900
last  tests/bench/smoke.sh       240  240
"
if [ "$mode" = long ]; then export TEST_LONG=1; fi
# Syncs cost nothing on a tmpfs: the suites work on one, if it has room and lets programs run.
out=$(mktemp -d "${TMPDIR:-/dev/shm}/scr-check.XXXXXX" 2>/dev/null) || out=$(mktemp -d) || exit 1
chmod 711 "$out" # some cases run as other users
lanes=() alone=() names=()
trap 'rm -rf "$out"' EXIT
if [ -z "${TMPDIR:-}" ] && cp "$(type -P true)" "$out/" && "$out/true" 2>/dev/null &&
  [ "$(df -Pk "$out" | awk 'NR == 2 {print $4}')" -gt 4000000 ]; then
  export TMPDIR=$out
  alone=(env -u TMPDIR) # the nodes of a cluster have a /dev/shm of their own
fi
trap '[ ${#lanes[@]} = 0 ] || kill "${lanes[@]}" 2>/dev/null; exit 130' INT TERM HUP

# cases NAME: the suites that have cases of which NAME is a part, as this table has them, with NAME for them.
cases() {
  local lane suite limits
  while read -r lane suite limits; do
    case $suite in
      tests/mpi/mpi.sh) grep -qhE "CASE\(\w*$1" tests/mpi/*.c ;;
      tests/cluster/*) grep -qE "^test_\w*$1" "$suite" ;;
      tests/unit/unit) grep -q "{\"$1\"," tests/unit/unit.c ;;
      *) false ;;
    esac && echo "$lane $suite $limits"
  done <<<"$suites"
}
if [ -n "${ONLY:-}" ]; then
  if ! table=$(grep -E "/[^ ]*$ONLY" <<<"$suites"); then
    table=$(cases "$ONLY")
    names=("$ONLY")
    [ -n "$table" ] || { echo "no suite and no case has $ONLY in its name"; echo "0 passed, 1 failed, 0 skipped"; exit 1; }
  fi
  suites=$table
fi

# Run SUITE, by COMMAND, for at most LIMIT seconds, print its line, and its log if it failed; its numbers go to $out/sums.
suite() { # SUITE LIMIT [COMMAND...]
  local log rc line p f s began=$SECONDS arguments=("$mode" "${names[@]}")
  log=$out/$(basename "$1").log
  [ "$1" = tests/unit/unit ] && arguments=("${names[@]}") # it takes names of suites
  timeout -k 10 "$2" "${@:3}" "$1" "${arguments[@]}" >"$log" 2>&1 </dev/null &
  trap 'kill $! 2>/dev/null; exit 130' TERM
  wait $!
  rc=$?
  line=$(grep -E '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' "$log" | tail -n 1)
  read -r p _ f _ s _ <<<"${line//,/}"
  [ -n "$line" ] || p=0 f=1 s=0
  [ "$rc" = 0 ] || [ "$f" != 0 ] || f=1
  echo "$p $f $s" >>"$out/sums"
  { # one write: the lanes share the output
    printf '%-26s %4d s   %s\n' "$1" $((SECONDS - began)) "$p passed, $f failed, $s skipped"
    if [ $rc = 124 ] || [ $rc = 137 ]; then echo "    $1: no end within $2 s"; fi
    if [ "$f" != 0 ] || { [ "$s" != 0 ] && [ "${CI:-}" = 1 ]; }; then sed 's/^/    /' "$log" | tail -n 150
      echo "    again, alone: make check ONLY=$(basename "$1" .sh)"
    else grep -E '^(skipped|note)' "$log" | sed 's/^/    /'; fi
  } >"$log.report"
  cat "$log.report"
}

lane() { # NAME [COMMAND...]
  local name suite short long
  while read -r name suite short long; do
    [ "$name" = "$1" ] || continue
    if [ "$mode" = long ]; then suite "$suite" "$long" "${@:2}"; else suite "$suite" "$short" "${@:2}"; fi
  done <<<"$suites"
}

lane one &
lanes=($!)
lane two &
lanes+=($!)
wait
lane last "${alone[@]}" &
lanes=($!)
wait
read -r passed failed skipped < <(awk '{p += $1; f += $2; s += $3} END {print p + 0, f + 0, s + 0}' "$out/sums")
if [ "${CI:-}" = 1 ] && [ "$skipped" -gt 0 ]; then
  echo "in CI a skipped test counts as failed"
  failed=$((failed + skipped)) skipped=0
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
