#!/bin/bash
# Programs of others, unchanged, of Debian's sources, linked with scr_image.o: they are killed again and again, lose a
# node, go on from their newest images, and end with the results of a run without images, bit by bit.
# Skipped where the source cannot be fetched.  Arguments: the programs, hpcc (C) and lammps (C++); ROUNDS=16 of each.
# From the environment: MPICC, MPIEXEC, BIN.  Last line: N passed, N failed, N skipped.
# shellcheck disable=SC2046,SC2086,SC2154
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
. "$top/tests/image/common.sh"
. "$top/tests/debian_source.sh"
rounds=${ROUNDS:-16} ranks=4
RANDOM=$((${SEED:-20261} % 32768))
export SCR_COPY_TYPE=XOR

# ---- the programs: <name>_build makes $tmp/<name>; <name>_input its input in the working directory; <name>_results
# prints what must be the same, of its output in $tmp/printed and its files

unpack() { debian_source $1 && mkdir -p "$tmp/$1.source" && tar xf "$tar" -C "$tmp/$1.source" --strip-components=1; }

hpcc_build() {
  cd "$tmp/hpcc.source" || return
  set -- $(find DGEMM FFT PTRANS RandomAccess STREAM src hpl/src hpl/testing -name '*.c')
  $MPICC -O1 -w -Iinclude -Ihpl/include -IDGEMM -IFFT -IPTRANS -IRandomAccess -ISTREAM -DAdd__ -DF77_INTEGER=int \
    -DStringSunStyle "$@" "$top/scr_image.o" -lblas -lm -o "$tmp/hpcc"
}
hpcc_input() {
  sed -e 's/^1000 *Ns/600 Ns/' -e 's/^80 *NBs/32 NBs/' -e "s/^2 *Ps/$((ranks / 2)) Ps/" \
    "$tmp/hpcc.source/_hpccinf.txt" >hpccinf.txt
}
hpcc_results() { # the summary, but for times and rates
  sed -n '/^Begin of Summary/,/^End of Summary/p' hpccoutf.txt | grep -vE 'time|Time|flops|GUPs|usec|GB|STREAM_[A-Z][a-z]'
}

lammps_build() {
  cd "$tmp/lammps.source/src" || return
  sh Make.sh style && sh Make.sh packages || return
  echo 'const char* LAMMPS_NS::LAMMPS::installed_packages[] = {NULL};' >lmpinstalledpkgs.h
  {
    echo 'const bool LAMMPS_NS::LAMMPS::has_git_info = false;'
    for what in commit branch descriptor; do echo "const char LAMMPS_NS::LAMMPS::git_${what}[] = \"\";"; done
  } >lmpgitversion.h
  printf '%s\n' *.cpp | xargs -P 2 -I{} ${MPICC/mpicc/mpicxx} -std=c++11 -O1 -w -c {} &&
    ${MPICC/mpicc/mpicxx} ./*.o "$top/scr_image.o" -o "$tmp/lammps"
}
lammps_input() {
  sed -e 's/^run.*/run 1000/' -e 's/^thermo.*//' -e '/^run/i thermo 20' "$tmp/lammps.source/bench/in.lj" |
    sed -e 's/20\*\$[{]*x[}]*/8/' >in.lj
}
lammps_results() { grep -E '^ *[0-9]+( +-?[0-9.e+-]+){5} *$' "$tmp/printed" | sort -n | uniq; }

# ---- runs
run() { timeout -k 5 900 $MPIEXEC -n $ranks "$tmp/$program" $args </dev/null >"$tmp/said" 2>&1; }
processes() { pgrep -f "^$tmp/$program"; }
asked() { # TENTHS: ask for images all the time; after so many tenths of a second in which it could take some, kill it
  local tenths=0 launcher
  run &
  launcher=$!
  while kill -0 $launcher 2>/dev/null; do
    sleep 0.1
    grep -q 'ready after' "$tmp/said" && tenths=$((tenths + 1))
    [ $tenths != "$1" ] || kill -9 $(pgrep -f "$tmp/$program") 2>/dev/null # the launcher, too
    [ $tenths = 0 ] || [ $((tenths % 3)) != 0 ] || kill -USR1 $(processes | head -n 1) 2>/dev/null
  done
  wait $launcher 2>/dev/null
  local rc=$?
  cat "$tmp/said" >>"$tmp/printed"
  return $rc
}
new() { fresh && ${program}_input && : >"$tmp/printed"; }
goes_on() { # the run that was killed, with what it has printed, goes on to its end
  asked none || { echo "exit code $?" && tail -n 20 "$tmp/said" && return 1; }
  ${program}_results >"$tmp/results"
  cmp -s "$tmp/wanted" "$tmp/results" || { diff "$tmp/wanted" "$tmp/results" | head -n 20 && return 1; }
}
round() { # killed up to three times, and without a node each second time
  new
  for _ in 1 2 3; do
    asked $((RANDOM % tenths + 1)) && break # it has ended before
    [ $((RANDOM % 2)) = 0 ] || rm -rf "$tmp"/node/*/scr.image/node.*-v$((RANDOM % 4))
  done
  goes_on
}
ms() { # RANKS IMAGES: a run of so many ranks with SCR_IMAGE=IMAGES, of which none is asked for
  local from ranks=$1
  new
  from=$(date +%s%N)
  SCR_IMAGE=$2 run && echo $((($(date +%s%N) - from) / 1000000))
}
median() { sort -n | sed -n 2p; }

[ $# -gt 0 ] && case $1 in check | full | long) shift ;; esac
[ $# -gt 0 ] || set -- hpcc lammps
for program; do
  unpack $program
  case $program in lammps) args='-in in.lj -log none' ;; *) args='' ;; esac
  check "$program is built, unchanged" 0 - ${program}_build
  new
  SCR_IMAGE=0 check "$program without images" 0 - run
  cp "$tmp/said" "$tmp/printed"
  ${program}_results >"$tmp/wanted"
  check "$program, its results" 0 "" test "$(wc -l <"$tmp/wanted")" -gt 20
  native='' with=''
  for _ in 1 2 3; do native="$native $(ms 2 0)" with="$with $(ms 2 1)"; done
  echo "note  $program, 2 ranks: $(printf '%s\n' $with | median) ms with the object, and $(printf '%s\n' $native | median) ms with SCR_IMAGE=0; medians of 3, in turn"
  tenths=$(($(ms 4 1) / 100 + 1))
  i=0 restarts=0
  while [ $i -lt $rounds ]; do
    i=$((i + 1))
    check "$program, killed and restarted, round $i" 0 "" round
    restarts=$((restarts + $(grep -c 'restarted from' "$tmp/printed")))
  done
  check "$program has restarted from images" 0 "" test $restarts -ge $((rounds / 2))
  echo "note  $program: $restarts restarts in $rounds rounds"
done
finish
