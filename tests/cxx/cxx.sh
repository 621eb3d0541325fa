#!/bin/bash
# cxx.sh - programs in C++ with scr.hpp: what it promises, case by case; the heat solver, which is killed, loses a node and
# continues runs of the C program, as that continues its runs; the program and the build line of the manual.
# Last line: N passed, N failed, N skipped.
#
# With g++ and, where it is installed, with clang++; as C++17 and C++20.  From the environment: MPICC, MPIEXEC, MPICXX.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
. "$top/tests/programs.sh"
if ! $MPICXX --version >/dev/null 2>&1; then
  echo "skipped: there is no C++ compiler with MPI; \`make setup check\` installs one"
  echo "0 passed, 0 failed, 1 skipped"
  exit
fi
cp "$top/examples/heat2d.c" "$top"/examples/cxx/*.[ch]* "$top/tests/cxx/cases.cc" .
export SCR_FLUSH=0 SCR_CACHE_SIZE=4

# ---- the programs ----

level=-O0 # of the library and of programs that are not run, which then take a third of the time
[ "$mode" != long ] || level=-O1
strict="-g -O1 -Wall -Wextra -Wpedantic -Wshadow -Werror"
include=$(mpi_includes)
libraries="-lz -lpthread -ldl"
clang=$(first_of clang++ $(for v in $(seq 30 -1 9); do echo "clang++-$v"; done))
[ -n "$clang" ] || echo "note  clang++: not tried, it is not installed"
# shellcheck disable=SC2086
{
  build scr_impl.o $MPICC -g $level -Wall -Wextra -Werror -c scr_impl.c
  build yield.o $MPICC -O1 -c "$top/tests/cluster/yield.c" # makes MPI's waits yield: ranks share cores here
  built
  build heat2d_c $MPICC -g -O1 heat2d.c scr_impl.o yield.o $libraries
  built
  for compiler in g++ $clang; do
    name=${compiler%%[+-]*}
    if [ "$name" = g ]; then seventeen='' twenty=$level; else seventeen=$level twenty=''; fi
    for source in cases heat2d; do
      build "${source}_${name}17.o" $compiler $strict $seventeen -std=c++17 $include -c $source.cc
      build "${source}_${name}20.o" $compiler $strict $twenty -std=c++20 $include -c $source.cc
      built
    done
  done
  for object in cases_*.o heat2d_*.o; do build "${object%.o}" $MPICXX "$object" scr_impl.o yield.o $libraries; done
  built
}
ok "the header and its programs compile without warnings, as C++17 and C++20"

# refused NAME TEXT CODE: the CODE does not compile, and the compiler says TEXT
refused() {
  printf '#include "scr.hpp"\nint main() { scr::session run; %s; }\n' "$3" >refused.cc
  # shellcheck disable=SC2086
  if g++ -std=c++17 $include -fsyntax-only refused.cc >log 2>&1; then bad "refused: $1" "it compiles"
  elif grep -qF "$2" log; then ok "refused: $1"
  else bad "refused: $1" "for another reason"; fi
}
refused "a region of a pointer" "no addresses" 'int i = 0, *p = &i; run.protect("p", p)'
refused "a region of strings" "trivially copyable" 'std::vector<std::string> v; run.protect("v", v)'
refused "a region that cannot be filled" "trivially copyable" 'const int i = 0; run.protect("i", i)'
refused "a region of addresses" "no addresses" 'int* a[3] = {}; run.protect("a", a)'
refused "a region that is gone at once" "cannot bind" 'run.protect("v", std::vector<int>(3))'
refused "a copy of a session" "deleted function" 'scr::session other(run)'
refused "an output that moves" "deleted function" 'scr::output a("a"), b(std::move(a))'
refused "a block with other dimensions" "too many" 'int i = 0; run.protect_array("i", &i, scr::block<1>{{1, 2}, {0}, {1}})'

# ---- the cases ----

cases() { # PROGRAM
  fresh
  case_of "$1" 4 files
  case_of "$1" 4 rejected
  if halted; then bad "$1" "a run that an exception ends is recorded as done"; else ok "$1: a run that an exception ends is not recorded as done"; fi
  case_of "$1" 4 newest
  if halted; then ok "$1: the destructor ends a run"; else bad "$1" "a run that the destructor ends is not recorded"; fi
  fresh
  case_of "$1" 4 regions
  case_of "$1" 4 wanting
  case_of "$1" 4 recovered
  case_of "$1" 3 fewer
  SCR_ENABLE=0 case_of "$1" 4 disabled
  fresh
  unseen case_of "$1" 4 regions
  damage "$(echo base/*/scr.cxx/node.*/scr.dataset.4/v4/regions.0)" # which no other has
  unseen case_of "$1" 4 damaged
  if [ "$(grep -c 'the region particles .*in the checkpoint v3' log)" = 1 ]; then ok "$1: sizes are asked again for an older checkpoint"
  else bad "$1" "the older checkpoint was loaded at once"; fi
  fresh
  unseen case_of "$1" 4 alike
  damage "$(echo base/*/scr.cxx/node.*/scr.dataset.3/same/regions.0)"
  unseen case_of "$1" 4 alike_again
  fresh
  case_of "$1" 4 shrunk
}
cases cases_g17
[ -z "$clang" ] || [ "$mode" = check ] || cases cases_clang20

# ---- the solver ----

# shellcheck disable=SC2086
computes heat2d_c $options
before=heat2d_c
for program in heat2d_g17 ${clang:+heat2d_clang20}; do
  reads_last "$program" "$before"
  undisturbed "$program" 4
  before=$program
done
continues heat2d_g17 heat2d_g17
continues heat2d_g17 heat2d_c
continues heat2d_c heat2d_g17
[ -z "$clang" ] || [ "$mode" = check ] || continues heat2d_clang20 heat2d_g17

refuses_damage heat2d_g17
refuses_option heat2d_g17 4

# ---- the manual ----

manual=$top/tools/manual/languages.md
awk '/^    #include <iostream>/ {in_it = 1} in_it && /^[^ ]/ {exit} in_it {print substr($0, 5)}' "$manual" | sed '$d' >app.cc
n=$(wc -l <app.cc) line=$(grep -F 'mpicxx -std=c++17' "$manual")
: >log
if [ "$n" -gt 20 ] && [ "$n" -lt 40 ]; then ok "the manual: its program has $n lines"
else bad "the manual: its program" "it has $n lines, not 21 to 39"; fi
mkdir vendored
cp scr.h scr_impl.c scr.hpp app.cc vendored
line=${line//mpicc/$MPICC -O0}
if (cd vendored && eval "${line//mpicxx/$MPICXX -DOMPI_SKIP_MPICXX -Wall -Wextra}") >log 2>&1 && [ ! -s log ]; then
  fresh
  if run 2 vendored/a.out && grep -q '^step 50, 1050 elements' log && run 2 vendored/a.out &&
    grep -q '^restarted from ckpt.50' log && grep -q '^step 100, 1100 elements' log; then ok "the manual: its program goes on"
  else bad "the manual: its program" "it does not go on"; fi
  # killed in its 30th step
  sed 's|// the work of a step|if (step == 30) kill(getpid(), SIGKILL);|; 1i #include <signal.h>\n#include <unistd.h>' app.cc >killed.cc
  fresh
  if $MPICXX -std=c++17 killed.cc scr_impl.o yield.o -lz -lpthread -ldl -o killed >log 2>&1 && ! run 2 killed &&
    lose 1 && run 2 vendored/a.out && grep -q '^restarted from ckpt.29' log &&
    grep -q '^step 79, 1079 elements' log; then ok "the manual: its program is killed, loses a node, and goes on"
  else bad "the manual: its program" "it does not go on after a kill"; fi
else bad "the manual: its line" "it does not build without a word"; fi

# ---- sanitizers ----

if [ "$mode" = long ]; then
  export ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0 # MPI keeps memory until the process ends
  sanitize="-g -O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all"
  # shellcheck disable=SC2086
  {
    build scr_impl_san.o $MPICC $sanitize -c scr_impl.c
    build cases_san.o $MPICXX $sanitize -std=c++17 -c cases.cc
    build heat2d_san.o $MPICXX $sanitize -std=c++17 -c heat2d.cc
    built
    for source in cases heat2d; do build ${source}_sanitized $MPICXX $sanitize ${source}_san.o scr_impl_san.o yield.o $libraries; done
    built
  }
  cases cases_sanitized
  continues heat2d_sanitized heat2d_sanitized
fi

echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
