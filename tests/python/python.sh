#!/bin/bash
# python.sh - programs in Python with scr.py: what it promises, case by case; the heat solver, which is killed, loses a node
# and continues runs of the C program, as that continues its runs; the program and the build line of the manual.
# Last line: N passed, N failed, N skipped.
#
# With mpi4py, if there is one for this MPI library, or else with a stand-in.  From the environment: MPICC, MPIEXEC, PYTHON.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
. "$top/tests/programs.sh"
export PYTHONDONTWRITEBYTECODE=1
unset PYTHONUNBUFFERED # what is printed has to be found without it
PYTHON=${PYTHON:-$(for p in python3 /usr/bin/python3; do $p -c 'import numpy' 2>/dev/null && echo $p; done | head -n 1)}
if [ -z "$PYTHON" ]; then
  echo "skipped: there is no Python with NumPy; \`make setup check\` installs one"
  echo "0 passed, 0 failed, 1 skipped"
  exit
fi
cp "$top/examples/heat2d.c" "$top"/examples/python/*.[ch] "$top"/examples/python/*.py "$top/tests/python/cases.py" .
export SCR_FLUSH=0 SCR_CACHE_SIZE=4

# ---- the programs ----

strict="-Wall -Wextra -Wmissing-prototypes -Werror"
libraries="-lz -lpthread -ldl"
level=-O1
[ "$mode" = long ] || level=-O0 # which takes a third of the time
mkdir -p standin/mpi4py
: >standin/mpi4py/__init__.py
cp "$top/tests/python/mpi4py_standin.py" standin/mpi4py/MPI.py
# The waits of MPI yield (yield.c): ranks share cores here.  What it replaces has to be loaded before.
ucp=$(ldd "$(command -v "${MPIEXEC%% *}")" "$($MPICC -print-file-name=libmpich.so)" 2>/dev/null | awk '$1 ~ /^libucp\.so/ {print $3; exit}')
# shellcheck disable=SC2086
{
  build scr_impl.o $MPICC -g $level $strict -fPIC -DSCR_API=extern -c scr_impl.c
  build standin/mpi4py/libstandin.so $MPICC -O1 $strict -shared -fPIC "$top/tests/python/standin.c"
  build yield.so $MPICC -O1 -shared -fPIC "$top/tests/cluster/yield.c" ${ucp:+-Wl,--no-as-needed $ucp}
  built
  build libscr_python.so $MPICC -g -O1 $strict -shared -fPIC -DSCR_API=extern scr_python.c scr_impl.o $libraries
  build heat2d_c $MPICC -g -O1 heat2d.c scr_impl.o $libraries
  built
}
# program NAME [PRELOADED]: a program that runs NAME.py
program() {
  printf '#!/bin/sh\nLD_PRELOAD="%s" exec %s %s/%s.py "$@"\n' "${2:-$preload}" "$PYTHON" "$work" "${1%_sanitized}" >"$1"
  chmod +x "$1"
}
preload=${ucp:+$work/yield.so}
for source in cases heat2d app killed; do program $source; done
cat >probe.py <<'END'
from mpi4py import MPI
import scr
scr.init(MPI.COMM_WORLD)
END
program probe
mkdir base prefix
if ! run 1 probe; then
  echo "note  mpi4py: a stand-in has its place, as there is none for this MPI library"
  export PYTHONPATH=$work/standin
fi

# ---- the cases ----

is_right() { [ "$(grep -c "^$1: rank [0-9]* is right" log)" = "$2" ]; } # PART RANKS
cases() { # PROGRAM
  fresh
  case_of "$1" 4 files
  case_of "$1" 4 rejected
  if halted; then bad "$1" "a run that an exception ends is recorded as done"; else ok "$1: a run that an exception ends is not recorded as done"; fi
  case_of "$1" 4 newest
  if halted; then ok "$1: the end of the block of a session ends a run"; else bad "$1" "the end of a run is not recorded"; fi

  fresh
  case_of "$1" 4 regions
  case_of "$1" 4 wanting
  lose 2
  case_of "$1" 4 recovered
  grep -q 'lost files of 1 of 4 ranks are rebuilt' log || bad "$1" "no rank has lost its files"
  case_of "$1" 3 other_ranks
  case_of "$1" 6 other_ranks
  if [ "$mode" != check ]; then
    case_of "$1" 3 written_by_others
    case_of "$1" 4 read_again
  fi
  fresh
  unseen case_of "$1" 4 regions
  damage "$(echo base/*/scr.python/node.*/scr.dataset.4/v4/regions.0)"
  unseen case_of "$1" 4 damaged
  fresh
  unseen case_of "$1" 4 alike
  damage "$(echo base/*/scr.python/node.*/scr.dataset.3/same/regions.0)"
  unseen case_of "$1" 4 alike_again
  SCR_ENABLE=0 case_of "$1" 2 disabled

  fresh
  case_of "$1" 4 plain
  case_of "$1" 4 plain
  fresh
  case_of "$1" 4 tracked
  case_of "$1" 4 tracked
  fresh
  case_of "$1" 4 communicators
  case_of "$1" 4 communicators
}
cases cases

# ends NAME WORDS CODE PART: the job ends by itself with an exit code that is 0, or is not, and prints WORDS on each of 4 ranks, or on one
ends() {
  local began=$SECONDS rc n
  fresh
  run 4 cases "$4"
  rc=$?
  n=$(grep -c "$2" log)
  if [ $((rc != 0)) = "$3" ] && [ "$n" -ge 1 ] && ! grep -q FAULT log && [ $((SECONDS - began)) -lt $((limit - 10)) ]; then ok "$1"
  else bad "$1" "exit code $rc, $n such lines"; fi
}
ends "an exception of one rank ends all, and is told" '^IndexError: raised on one rank' 1 alone
[ "$mode" = check ] || ends "an error of a call that is not collective ends all" '^scr.Error: .*no region nothing is protected' 1 alone_error
[ "$mode" = check ] || ends "a sys.exit of one rank ends all, after a while" '^scr.py: sys.exit(3) has ended this rank' 1 alone_exit
is_flushed() { # WHAT
  if [ -f prefix/together/rank_3 ] && ! halted && ! grep -q 'MPI_Abort' log; then ok "so the newest checkpoint is on the prefix, and the run not recorded as done"
  else bad "$1" "the newest checkpoint is not on the prefix, or the run recorded as done"; fi
}
SCR_FLUSH=100 ends "an error of all ranks ends MPI" '^scr.Error: there is no dataset nothing' 1 together
is_flushed "an error of all ranks"
SCR_FLUSH=100 ends "a sys.exit of all ranks ends MPI" '^rank . gives up' 1 exit_together
is_flushed "a sys.exit of all ranks"
ends "the library ends a run" '^rank . was here' 0 halted
if [ "$(grep -c 'was here' log)" = 4 ]; then ok "what was printed before is not lost"; else bad "the library ends a run" "what was printed is lost"; fi

# ---- the solver ----

# shellcheck disable=SC2086
computes heat2d_c $options
if [ "$mode" != check ]; then
  reads_last heat2d "the C program"
  undisturbed heat2d 6
  continues heat2d heat2d
fi
continues heat2d heat2d_c
continues heat2d_c heat2d

refuses_damage heat2d
refuses_option heat2d 1

# ---- the manual ----

manual=$top/tools/manual/languages.md
awk '/^    import numpy/ {in_it = 1} in_it && /^[^ ]/ {exit} in_it {print substr($0, 5)}' "$manual" | sed '$d' >app.py
n=$(wc -l <app.py) line=$(grep -F 'libscr_python.so -lz' "$manual")
: >log
if [ "$n" -gt 20 ] && [ "$n" -lt 40 ]; then ok "the manual: its program has $n lines"
else bad "the manual: its program" "it has $n lines, not 21 to 39"; fi
goes_on() { # RANKS FROM TO: u[0] is the sum of all steps
  run "$1" app && grep -q "^restarted from ckpt.$2$" log && grep -q "^step $3, u\[0\] is $(($3 * ($3 + 1) / 2))$" log
}
fresh
if run 4 app && goes_on 4 50 100 && goes_on 3 100 150; then ok "the manual: its program goes on, also on other numbers of ranks"
else bad "the manual: its program" "it does not go on"; fi
# killed in its 30th step
sed 's|  # the work of a step|\n        if step[0] == 30: os.kill(os.getpid(), 9)|; s/^import numpy/import os\n&/' app.py >killed.py
fresh
if ! run 4 killed && lose 1 && goes_on 4 29 79; then ok "the manual: its program is killed, loses a node, and goes on"
else bad "the manual: its program" "it does not go on after a kill"; fi

if [ "$mode" != check ]; then
  mkdir vendored
  cp scr.h scr_impl.c scr.py scr_python.c vendored
  : >log
  if (cd vendored && eval "${line//mpicc/$MPICC}") >log 2>&1 && [ ! -s log ] && $PYTHON -c '
import sys
sys.path.insert(0, "vendored")
import scr
assert "vendored" in scr._library._name
with scr.session(): pass' >log 2>&1; then ok "the manual: its line"; else bad "the manual: its line" "it does not build without a word"; fi
  if make -s -C "$top" python >log 2>&1 && [ ! -s log ]; then ok "make python"; else bad "make python" "it does not build without a word"; fi
fi

# ---- the address sanitizer: of the library, and of the memory that Python gives it ----

if [ "$mode" = long ]; then
  export ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0 PYTHONMALLOC=malloc
  # shellcheck disable=SC2086
  build libscr_python.so $MPICC -g -O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all -shared -fPIC \
    -DSCR_API=extern scr_python.c scr_impl.c $libraries
  built
  for source in cases heat2d; do program ${source}_sanitized "$($MPICC -print-file-name=libasan.so) $preload"; done
  cases cases_sanitized
  continues heat2d_sanitized heat2d_sanitized
fi

echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
