#!/bin/bash
# size.sh - what the library costs the program that contains it, as a table.  All of it is computed here: from the object
# file, from the compiler's call graph, and from two runs of examples/minimal on 4 ranks that are 4 nodes.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
. "$top/tests/find_mpi.sh"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
unset "${!SCR_@}"

line() { printf '  %-34s %s\n' "$@"; }
die() {
  echo "size: $1" >&2
  [ -z "${2:-}" ] || sed 's/^/    /' "$2" >&2
  exit 1
}
# object FILE OPTION...: the library as FILE.o
object() { $MPICC -O2 "${@:2}" -I"$top" -c -o "$1.o" "$top/scr_impl.c" 2>log || die "scr_impl.c does not compile" log; }

# ---- the object ----

graph=
! echo 'int x;' | $MPICC -fcallgraph-info=su -x c -c -o try.o - 2>/dev/null || graph=-fcallgraph-info=su
object plain $graph &
object fortran -DSCR_WITH_FORTRAN
wait $! || exit 1
echo "object file, bytes (-O2)            code and constants      data      zeroed memory"
for o in plain fortran; do
  case $o in plain) name="C alone" ;; *) name="with SCR_WITH_FORTRAN" ;; esac
  size $o.o | awk -v name="$name" 'NR == 2 {printf "  %-34s %17d %9d %18d\n", name, $1, $2, $3; sum = $2 + $3}
    END {if (name == "C alone") printf "  %-34s %d bytes: data and zeroed memory of C alone\n", "static memory of a process", sum}' >>lines
done
grep -v 'static memory' lines
grep 'static memory' lines

# ---- the runs ----

wrap=$(sed -n 's/^PROBE(\(SCR_[a-zA-Z_]*\),.*/\1/p' "$top/tests/size/probe.c" | sed 's/^/-Wl,--wrap=/' | tr '\n' ' ')
$MPICC -O1 -w -I"$top" -c "$top/examples/minimal.c" "$top/tests/size/probe.c" 2>log &&
  $MPICC $wrap -Wl,--wrap=pthread_create,--wrap=sigaction,--wrap=posix_spawnp -o minimal minimal.o probe.o plain.o -lz \
    -lpthread 2>log || die "examples/minimal does not build" log

# run NAME SETTING...: two runs in the directory NAME, of which the second restarts; what the probe says is in NAME.probe
run() {
  mkdir -p "$1/prefix" "$1/cache" "$1/control"
  for steps in 45 100; do
    (cd "$1/prefix" && PROBE=$work/$1.probe SCR_VIRTUAL_NODES=4 SCR_JOB_ID=size SCR_CACHE_BASE=$work/$1/cache \
      SCR_CNTL_BASE=$work/$1/control env "${@:2}" timeout 120 $MPIEXEC -n 4 "$work/minimal" $steps) >log 2>&1 </dev/null
  done
  grep -q '^restarted from ckpt.40' log && [ "$(wc -l <"$1.probe")" = 8 ] || die "examples/minimal does not restart" log
}
run plainly
run behind SCR_FLUSH_ASYNC=1 SCR_SIGNALS=USR1:checkpoint,TERM:halt

echo
echo "stack, bytes"
if [ -n "$graph" ]; then
  python3 "$top/tests/size/stack.py" plain.ci >stack || die "tests/size/stack.py failed"
  # direct LINE: the bytes and the first function of a line of stack.py
  direct() { sed -n "$1p" stack | awk '{print $1 "  " $2}'; }
  line "deepest chain of direct calls" "$(direct 1)"
  sed -n 1p stack | cut -d' ' -f3- | fold -s -w 80 | sed 's/^/      /; s/ *$//'
  line "deepest chain below a pointer" "$(direct 2)"
  line "largest frame" "$(direct 3)"
  echo "    by the compiler's call graph, without what MPI, zlib and the C library use; calls through pointers end a"
  echo "    chain, and a function that calls itself counts once"
else
  line "deepest chain of direct calls" "not computed: $MPICC has no -fcallgraph-info"
fi
line "deepest call of examples/minimal" "$(sort -k2nr plainly.probe | awk 'NR == 1 {print $2 "  " $3}')"
echo "    measured, with what MPI and the C library use; no failure occurred in this run"

echo
echo "a process of examples/minimal           by default   SCR_FLUSH_ASYNC=1 and two SCR_SIGNALS"
for what in threads processes signals; do
  for r in plainly behind; do
    awk -v what=$what '{for (i = 4; i < NF; i += 2) if ($i == what && $(i + 1) > most) most = $(i + 1)} END {print most + 0}' $r.probe
  done | tr '\n' ' ' >counts
  case $what in signals) name="signals caught" ;; *) name="$what started" ;; esac
  awk -v name="$name" '{printf "  %-34s %13d %23d\n", name, $1, $2}' counts
done

# ---- what it leaves ----

# kinds TITLE DIRECTORY: the kinds of files below it: digits are N, the names of this user and job are USER and JOB
kinds() {
  echo
  echo "$1: $(find "$2" -type f | wc -l) files"
  (cd "$2" && find . -type f) | sed "s:^\./::; s:$(id -un):USER:g; s:scr\.size:scr.JOB:g; s/[0-9a-f]\{8,\}/N/g; s/[0-9][0-9]*/N/g" |
    sort | uniq -c | awk '{printf "  %6d  %s\n", $1, $2}'
}
kinds "left in the prefix" plainly/prefix
kinds "left in the cache" plainly/cache
kinds "left in the control directory" plainly/control
