#!/bin/bash
# Process images at any moment: signals ask random ranks for images at random times, ranks are killed at random times, and
# lose nodes; each program goes on from its newest image, and prints what it prints without images.
#
#   rounds.sh check|full|long           last line: N passed, N failed, N skipped
#
# From the environment: CC, MPICC, MPIEXEC, BIN, ROUNDS (long: 1000).
# shellcheck disable=SC2086
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
. "$top/tests/image/common.sh"
mode=${1:-check}
case $mode in long) rounds=${ROUNDS:-1000} ;; full) rounds=${ROUNDS:-50} ;; *) rounds=${ROUNDS:-4} ;; esac
programs="messages collectives nonblocking communicators datatypes across objects stencil"
set -- $programs
[ $rounds -ge $# ] || { # others in CI for each commit
  set -- "$@" "$@" && shift $((${TEST_TURN:-0} % ($# / 2))) && programs=${*:1:rounds}
}
declare -A steps
touch "$tmp/all" "$tmp/kills" # what runs have said, and the program of each that was killed
ranks() { case $program in communicators) echo 4 ;; *) echo 3 ;; esac; }

build() { # SOURCE COMPILER FLAGS...
  check "${1%.*} is built" 0 - $2 -O1 "$top/tests/image/$1" "${@:3}" "$top/scr_image.o" -o "$tmp/${1%.*}" -lm
}
check "the points of other languages" 0 "" $MPICC -O1 -c -o "$tmp/point.o" "$top/tests/image/point.c"
for program in $programs; do
  case $program in
  objects) build objects.cc "${MPICC/mpicc/mpicxx}" "$tmp/point.o" ;;
  stencil) build stencil.F90 "${MPICC/mpicc/mpifort}" "$tmp/point.o" ;;
  *) build $program.c $MPICC ;;
  esac
done

run() { # what it prints is added to $tmp/printed; what it says is in $tmp/said
  timeout -k 5 120 $MPIEXEC -n "$(ranks)" "$tmp/$program" ${steps[$program]} </dev/null >"$tmp/out" 2>"$tmp/said"
  local rc=$?
  grep '^ *rank ' "$tmp/out" >>"$tmp/printed" # and not what the launcher says of a killed one
  cat "$tmp/said" >>"$tmp/all"
  return $rc
}
processes() { pgrep -f "^$tmp/$program"; }
one_of() { # WORD...: one is in $one; none if there are none
  one=
  [ $# = 0 ] || one=${!#}
  [ $# -lt 2 ] || { shift $((RANDOM % $#)) && one=$1; }
}
# asked KILLED: a run whose ranks are asked again and again; after the request KILLED, one of them is killed, or all are
asked() {
  local requests=0 launcher
  : >"$tmp/said"
  run &
  launcher=$!
  while kill -0 $launcher 2>/dev/null; do
    sleep 0.0$((RANDOM % 9 + 1))
    grep -q 'ready after' "$tmp/said" || continue
    requests=$((requests + 1))
    one_of $(processes)
    [ $((RANDOM % 4)) != 0 ] || one=$(processes)
    if [ $requests != "$1" ]; then kill -USR1 $one 2>/dev/null
    elif kill -9 $one 2>/dev/null; then echo "$program" >>"$tmp/kills"; fi
  done
  wait $launcher 2>/dev/null
}
# The newest image that is complete after the last run, and the one that it went on from; each nothing, if it says none.
# One that is killed has perhaps only loaded it.
newest() { sed -n 's/.* image\.\([0-9]*\) is complete: .*/\1/p' "$tmp/said" | tail -n 1; }
source_of() {
  local from
  from=$(sed -n 's/.*restarted from image\.\([0-9]*\)$/\1/p' "$tmp/said")
  [ -n "$from" ] || [ $1 = 0 ] || from=$(sed -n 's/.* checkpoint image\.\([0-9]*\) .* is loaded$/\1/p' "$tmp/said" | tail -n 1)
  echo "$from"
}
round() { # killed up to three times, some of them with a lost node; each run goes on from the newest image
  local last=0 kill kills rc from
  fresh
  : >"$tmp/printed"
  for kill in 1 2 3 none; do
    [ $kill = none ] || kill=$((RANDOM % 5 + 1))
    kills=$(wc -l <"$tmp/kills")
    asked $kill
    rc=$?
    if [ $rc != 0 ] && [ "$(wc -l <"$tmp/kills")" = "$kills" ]; then
      echo "exit code $rc, although it was not killed" && tail -n 20 "$tmp/said" && return 1
    fi
    from=$(source_of $rc)
    if [ "${from:-0}" -lt $last ] && grep -q 'ready after' "$tmp/said"; then
      echo "it began with image ${from:-0}, and not with $last" && tail -n 20 "$tmp/said" && return 1
    fi
    [ -z "$(newest)" ] || last=$(newest)
    [ $rc != 0 ] || break # its end
    [ $((RANDOM % 2)) = 0 ] || rm -rf "$tmp"/node/*/scr.image/node.*-v$((RANDOM % 3))
  done
  # what was printed before the image of a restart is not printed again
  sort -u "$tmp/printed" | diff "$tmp/wanted.$program" -
}

for program in $programs; do
  steps[$program]=10
  while :; do
    fresh
    : >"$tmp/printed"
    from=$(date +%s%N)
    SCR_IMAGE=0 run || break
    [ $((($(date +%s%N) - from) / 1000000)) -lt 1500 ] || break
    steps[$program]=$((steps[$program] * 2))
  done
  sort -u "$tmp/printed" >"$tmp/wanted.$program"
  check "$program without images" 0 "" test -s "$tmp/wanted.$program"
done
i=0
while [ $i -lt $rounds ]; do
  i=$((i + 1))
  set -- $programs
  shift $((i % $#))
  program=$1
  check "$program, round $i" 0 "" round
done
restarts=$(grep -c 'restarted from' "$tmp/all")
check "they were killed" 0 "" test "$(wc -l <"$tmp/kills")" -ge $((rounds / 4))
check "they have restarted from images" 0 "" test "$restarts" -ge $((rounds / 4))
echo "note  $restarts restarts, $(grep -c 'is complete: ' "$tmp/all") images in $rounds rounds"
finish
