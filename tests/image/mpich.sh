#!/bin/bash
# MPICH's own tests, of Debian's source of the MPICH that is installed, linked with scr_image.o: each that passes without
# images passes with images that are asked for again and again, and restarts from the last one, or is refused by the name
# of a function.  Skipped where the source cannot be fetched.  Arguments: directories of the suite, or tests, as
# pt2pt/sendself.
# From the environment: MPICC, MPIEXEC, BIN.  Last line: N passed, N failed, N skipped.
# shellcheck disable=SC2086
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
. "$top/tests/image/common.sh"
. "$top/tests/debian_source.sh"

# ---- the source, and what its tests have in common as a library: what a library only imports is not refused at the start
debian_source mpich
tar xf "$tar" -C "$tmp" --wildcards '*/test/mpi' && suite=$(echo "$tmp"/mpich-*/test/mpi)
configure() {
  cd "$suite" && ./configure CC="${CC:-cc}" MPICC="$(command -v $MPICC)" --with-mpi=/usr --disable-spawn --disable-fortran --disable-cxx >"$tmp/said" 2>&1
}
check "MPICH's tests are configured" 0 - configure
flags="-O1 -w -I$suite/include -I$suite/dtpools -I$suite/dtpools/include"
common="$suite/util/dtypes.c $suite/util/mtest.c $suite/util/mtest_common.c $suite/util/mtest_single.c $suite/dtpools/src/*.c"
check "what they have in common is built" 0 - $MPICC $flags -fPIC -shared -DHAVE_CONFIG_H $common -o "$tmp/libmtest.so"

# ---- each test: without images, with them, and restarted
run() { timeout -k 5 $LIMIT $MPIEXEC -n $n "$tmp/$name" $args </dev/null >"$tmp/printed" 2>&1; }
ends_well() { [ $? = 0 ] && ! grep -v 'No Errors' "$tmp/printed" | grep -q 'Found [0-9]* errors'; }
asked() { # ask for images from the moment when the library is there, less and less often, for 20 s
  local ms=20 began=$SECONDS
  run &
  while kill -0 $! 2>/dev/null; do
    [ $((SECONDS - began)) -le 20 ] && grep -qs 'ready after' "$tmp/printed" && pkill -USR1 -f "^$tmp/$name" 2>/dev/null && ms=$((ms + ms / 10))
    [ $ms -lt 900 ] || ms=900
    sleep 0.$(printf %03d $ms)
  done
  wait $!
}
wrong() { # HOW
  echo "$1; the end of what it prints:"
  tail -n 20 "$tmp/printed"
  return 1
}
came_to() { echo "$1" >>"$tmp/ends"; } # what becomes of a test
: >"$tmp/ends"
one() { # the test NAME of DIRECTORY with N ranks and ARGS
  fresh
  LIMIT=15; SCR_IMAGE=0 run
  ends_well || { came_to native; return 0; } # slow, or not for this machine
  LIMIT=120; asked
  if ends_well; then
    grep -q 'is complete: ' "$tmp/printed" || return 0
    LIMIT=120; run
    ends_well || wrong "restarted, it fails or has no end" || return
    came_to restarted
  else
    grep -qE 'uses MPIX?_.* which images do not support|MPI_[A-Za-z_]* does not work in programs with images|MPI_Abort\(MPI_COMM_WORLD, 44\)' "$tmp/printed" || wrong "with images, it fails or has no end" || return
    came_to refused
  fi
}
case ${1:-} in check | full | long) shift ;; esac
[ $# -gt 0 ] || set -- pt2pt coll comm datatype attr topo group errhan info io rma
for what; do
  directory=${what%/*} only=${what#"$directory"}
  while read -r name n args; do
    [ -z "$only" ] || [ "/$name" = "$only" ] || continue
    case "$name $n $args" in '#'* | ' '* | *xfail* | *env=*) continue ;; esac
    if [ "$n" -gt 8 ] || [ ! -f "$suite/$directory/$name.c" ]; then continue; fi
    args=$(printf '%s\n' $args | sed -n 's/^arg=//p' | tr '\n' ' ')
    $MPICC $flags "$suite/$directory/$name.c" "$tmp/libmtest.so" -Wl,-rpath,"$tmp" "$top/scr_image.o" -lm -o "$tmp/$name" >"$tmp/said" 2>&1 || continue
    check "$directory/$name $n $args" 0 "" one
  done <"$suite/$directory/testlist"
done
check "there are such tests" 0 "" test -s "$tmp/ends"
of() { grep -c "$1" "$tmp/ends"; }
echo "$(of restarted) restarted, $(of refused) refused by name, $(of native) not tried as they fail without images or take long"
finish
