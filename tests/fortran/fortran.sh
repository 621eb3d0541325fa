#!/bin/bash
# fortran.sh - programs in Fortran: the calls, with the module and with scrf.h; the heat solvers, which are killed, lose a
# node and continue each other's runs; the program and the build lines of the manual; static programs.
# Last line: N passed, N failed, N skipped.
#
# With gfortran and, where it is installed, with flang.  From the environment: MPICC, MPIFORT, MPIEXEC, SCR_TEST_CFLAGS
# (sanitizers; then nothing is linked statically, and flang is not used).
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
sanitizers=${SCR_TEST_CFLAGS:-}
. "$top/tests/programs.sh"
if ! $MPIFORT --version >/dev/null 2>&1; then
  echo "skipped: there is no Fortran compiler with MPI; \`make setup check\` installs one"
  echo "0 passed, 0 failed, 1 skipped"
  exit
fi
cp "$top"/examples/*.c "$top"/examples/fortran/*.[fh]* "$top"/tests/fortran/*.[fi]* .
flags=${sanitizers:--g -O1}
level=-O0 # of the library, which then takes a third of the time
if [ "$mode" = long ] || [ -n "$sanitizers" ]; then level=; fi
limit=120
export SCR_FLUSH=0

# ---- the programs ----

strict="-Wall -Wextra -Werror"
modern="$strict -std=f2018 -pedantic -fimplicit-none"
# shellcheck disable=SC2086
{
  build scr_impl.o $MPICC $flags $level $strict -DSCR_WITH_FORTRAN -c scr_impl.c
  build yield.o $MPICC -O1 -c "$top/tests/cluster/yield.c" # makes MPI's waits yield: ranks share cores here
  build scr.o $MPIFORT $flags $modern -c scr.f90
  built
  build heat2d_c $MPICC $flags heat2d.c scr_impl.o yield.o -lz -lpthread -ldl
  build heat2d_f90 $MPIFORT $flags $modern heat2d.f90 scr.o scr_impl.o yield.o -lz -lpthread -ldl
  build heat2d_fixed $MPIFORT $flags $strict -Wno-unused-parameter heat2d_fixed.f scr_impl.o yield.o -lz -lpthread -ldl
  build calls_f90 $MPIFORT $flags $modern calls.f90 scr.o scr_impl.o yield.o -lz -lpthread -ldl
  build regions $MPIFORT $flags -O2 $modern regions.f90 scr.o scr_impl.o yield.o -lz -lpthread -ldl
  build calls_fixed $MPIFORT $flags $strict -Wno-unused-parameter calls.f scr_impl.o yield.o -lz -lpthread -ldl
  built
}

# The program of the manual, and the lines that build it.
manual=$top/tools/manual
awk '/^    program / {in_it = 1} in_it {print substr($0, 5)} /^    end program/ {in_it = 0}' "$manual/fortran.md" >app.f90
: >log
n=$(wc -l <app.f90)
if [ "$n" -gt 0 ] && [ "$n" -lt 40 ]; then ok "the manual: its program has $n lines"
else bad "the manual: its program" "it has $n lines, not 1 to 39"; fi

# Flang cannot read the module mpi_f08 that gfortran has made, so its programs include mpif.h.
flang=$(first_of flang-new flang $(for v in $(seq 30 -1 16); do echo "flang-$v flang-new-$v"; done))
[ -n "$flang" ] || echo "note  flang: not tried, it is not installed"
[ -z "$sanitizers" ] || flang=
if [ -n "$flang" ]; then
  include=$($MPIFORT -show | tr ' ' '\n' | grep '^-I' | sort -u | tr '\n' ' ')
  libraries=$($MPIFORT -show | tr ' ' '\n' | grep -E '^-[lL]' | tr '\n' ' ')
  mkdir flang # it takes the module of the other compiler for its own
  cp scrf.h calls.inc calls.f heat2d_fixed.f scr.f90 flang
  sed '/use mpi_f08/d; s/^  implicit none/&\n  include "mpif.h"/; s/MPI_Init()/MPI_Init(ierr)/; s/MPI_Finalize()/MPI_Finalize(error)/
    s/rank)$/rank, ierr)/' app.f90 >flang/app.f90
  # shellcheck disable=SC2086
  link() { # SOURCE -o PROGRAM
    (cd flang && $flang -O1 $include -c -o "$3.o" "$1") &&
      $flang -o "$3" "flang/$3.o" scr_impl.o yield.o $libraries -lz -lpthread -ldl
  }
  (cd flang && $flang -c scr.f90) >log 2>&1 || bad "$flang" "scr.f90 does not compile"
  build heat2d_flang link heat2d_fixed.f
  build calls_flang link calls.f
  build app_flang link app.f90
  built
fi

# ---- the calls ----

calls() { # PROGRAM
  local part
  fresh
  for part in first second; do
    if run 4 "$1" $part && grep -q '^all calls are right' log && ! grep -q '^FAULT' log &&
      { [ $part != first ] || grep -q 'SCR_Route_file: the name untrimmed\[blanks\]/file has blanks' log; }; then ok "$1, $part run"
    else
      grep -v '^SCR error' log >faults
      mv faults log
      bad "$1, $part run" "a call returns something else"
    fi
  done
}
calls calls_f90
calls calls_fixed
fresh
for part in write rows read; do
  ranks=4
  [ $part != rows ] || ranks=3
  if run $ranks regions $part && grep -q '^all calls are right' log && ! grep -q '^FAULT' log; then ok "regions $part"
  else bad "regions $part" "a call returns something else, or the array is another one"; fi
done
[ -z "$flang" ] || calls calls_flang

# The names that compilers give to subroutines.  No compiler here makes capitals, so objcopy does.
# shellcheck disable=SC2086
if $MPIFORT $flags -c -o capitals.o calls.f >log 2>&1 &&
  nm -u capitals.o | awk '$2 ~ /^scr_/ {name = $2; sub(/_$/, "", name); print $2, toupper(name)}' >names.txt &&
  [ "$(grep -c '^scr_.*_ SCR_' names.txt)" -gt 15 ] && objcopy --redefine-syms=names.txt capitals.o &&
  ! nm -u capitals.o | grep -q ' scr_' &&
  $MPIFORT $flags capitals.o scr_impl.o yield.o -lz -lpthread -ldl -o calls_capitals >log 2>&1; then calls calls_capitals
else bad "names: in capitals" "the subroutines are not found"; fi
cat >names.f90 <<'END'
program names
  character(80) :: text
  call scr_strerror(0, text)
  if (text /= 'success') stop 1
end program
END
for option in -funderscoring -fno-underscoring -fsecond-underscore; do
  # shellcheck disable=SC2086
  if $MPIFORT $flags $option names.f90 scr_impl.o -lz -lpthread -o names >log 2>&1 && ./names; then ok "names: $option"
  else bad "names: $option" "the subroutine is not found"; fi
done

# ---- the solvers ----

# shellcheck disable=SC2086
computes heat2d_c $options
before=heat2d_c
for other in heat2d_f90 heat2d_fixed ${flang:+heat2d_flang}; do
  reads_last "$other" "$before"
  [ "$mode" = check ] || continues "$other" "$other"
  continues heat2d_c "$other"
  [ "$other" != heat2d_flang ] || continue
  continues "$other" heat2d_c
  undisturbed "$other" 4
  before=$other
done
continues heat2d_f90 heat2d_fixed

# ---- the manual: its program, and its build lines ----

# restarts NAME PROGRAM: two runs, the second from the last checkpoint of the first
restarts() {
  fresh
  if run 2 "$2" 50 && run 2 "$2" 100 && grep -q '^restarted from ckpt.50' log; then ok "$1"
  else bad "$1" "it does not write and use a checkpoint"; fi
}
# line WORDS: builds as the only line of the manual with WORDS says, in an empty directory
line() {
  local text plain=
  text=$(grep -hF -e "$1" "$manual"/*.md | grep '^ *mpi')
  [ "$(wc -l <<<"$text")" = 1 ] || { bad "the manual: $1" "not one line"; return 1; }
  rm -rf vendored
  mkdir vendored
  cp scr.h scr_impl.c scr.f90 app.f90 vendored
  cp minimal.c vendored/app.cc
  sed 's/^int main/__attribute__((visibility("default"))) int app_main/; s/^static void must/int app_main(int argc, char** argv);\n&/' minimal.c >vendored/app.c
  [ "$mode" = long ] || plain=" -O0" # which takes a third of the time
  text=${text//mpicc/$MPICC$plain}
  text=${text//mpifort/$MPIFORT}
  text=${text//mpicxx/$MPICXX$plain}
  (cd vendored && eval "$text") >log 2>&1 && return
  bad "the manual: $1" "it does not build"
  return 1
}
quiet() { # NAME: the last build said nothing
  if [ -s log ]; then bad "$1" "the build says something"; fi
  [ ! -s log ]
}
needs() { readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sed 's/\.so.*//' | sort; } # PROGRAM: libraries

if line 'SCR_WITH_FORTRAN -c scr_impl.c && mpifort scr.f90' && quiet "the manual: app.f90"; then
  cp vendored/a.out app
  restarts "the manual: app.f90" vendored/a.out
fi
[ -z "$flang" ] || restarts "the manual: app.f90 with $flang and mpif.h" app_flang
if [ -z "$sanitizers" ]; then
  if line 'mpicxx app.cc' && quiet "the manual: C++"; then
    sed -i 's/=10"/=50"/' vendored/app.cc
    (cd vendored && $MPICXX app.cc scr_impl.o -lz -lpthread) >log 2>&1 # so that its checkpoint is ckpt.50
    restarts "the manual: C++" vendored/a.out
  fi
  if line '-o libapp.so' && quiet "the manual: a shared library"; then
    sed -i 's/=10"/=50"/' vendored/app.c
    nm -D --defined-only vendored/libapp.so | awk '{print $3}' | grep -vE '^(app_main|_init|_fini)$' >log
    echo 'int app_main(int, char**); int main(int c, char** v) { return app_main(c, v); }' >vendored/main.c
    if [ -s log ]; then bad "the manual: a shared library" "it exports more than app_main"
    elif (cd vendored && $MPICC main.c "$PWD/libapp.so") >log 2>&1; then
      fresh
      if run 2 vendored/a.out 45 && run 2 vendored/a.out 50 &&
        grep -q '^restarted from ckpt.40' log; then ok "the manual: a shared library"
      else bad "the manual: a shared library" "it does not write and use a checkpoint"; fi
    else bad "the manual: a shared library" "it does not link"; fi
  fi
  if line '-o libscr.so' && quiet "the manual: a shared library that offers the calls"; then
    sed 's/=10"/=50"/' minimal.c >vendored/main.c # so that its checkpoint is ckpt.50
    if (cd vendored && $MPICC main.c "$PWD/libscr.so") >log 2>&1; then restarts "the manual: a shared library that offers the calls" vendored/a.out
    else bad "the manual: a shared library that offers the calls" "a program does not link with it"; fi
  fi

  # ---- static programs ----

  skip_static() { # MISSING
    skipped=$((skipped + 1))
    echo "skipped: static linking in Fortran, as there is no ${1% }"
  }
  # The libraries that gfortran does not find as archives.
  without() { for l in "$@"; do [ -e "$(gfortran -print-file-name="lib$l.a")" ] || echo "lib$l.a"; done | tr '\n' ' '; }
  name="the manual: all but MPI and the C library inside"
  missing=$(without gfortran quadmath z)
  if [ -n "$missing" ]; then skip_static "$missing"
  elif line '-static-libgcc' && quiet "$name"; then
    cp vendored/a.out app_static
    needs app_static | grep -vE '^lib(mpi|m$|c$|pthread$|ld-linux)' >log
    if [ -s log ]; then bad "$name" "it needs other libraries"; else restarts "$name" app_static; fi

    # The user in the paths: a later run finds the cache, whatever its environment is then.
    as() { # SETTINGS PROGRAM: a run of which the user is known by these settings only
      # shellcheck disable=SC2086
      (unset USER && { [ -z "$1" ] || export $1; } && run 2 "$2")
    }
    found() { # NAME DIRECTORY SETTINGS PROGRAM SETTINGS PROGRAM: the second run finds the cache of the first
      fresh
      as "$3" "$4" && as "$5" "$6"
      if grep -q '^restarted from ckpt.50' log && [ "$(ls base)" = "$2" ]; then ok "$1"
      else bad "$1" "the cache of $2 is not found; the directories: $(ls base)"; fi
    }
    id=$(id -u)
    found "a static program uses the user id, and a later run that knows a name finds its cache" "$id" "" app_static USER=ann app
    found "a static program finds the cache below the name of the account" "$(id -un)" "" app "" app_static
    found "a static program uses USER" ann USER=ann app_static "" app_static
    found "a static program uses SCR_USER_NAME" bob "USER=ann SCR_USER_NAME=bob" app_static USER=ann app_static
    as SCR_USER_NAME=eve app_static
    if [ -d base/eve ]; then ok "SCR_USER_NAME is stronger than what the prefix knows"; else bad "SCR_USER_NAME" "$(ls base)"; fi
  fi

  name="the manual: everything inside"
  missing="archive of the MPI library"
  [ "$MPI_NAME" = openmpi ] || missing=$(without mpichfort mpich ucp uct ucs ucm hwloc numa gfortran quadmath z)
  if [ -n "$missing" ]; then skip_static "$missing"
  else
    if [ -n "$(without udev)" ]; then # MPI asks it for the names of disks only
      mkdir lib
      cat >lib/udev.c <<'END'
typedef struct udev udev;
udev *udev_new(void) { return 0; }
udev *udev_unref(udev* u) { return u; }
void* udev_device_new_from_subsystem_sysname(udev* u, const char* a, const char* b) { return u && a && b ? u : 0; }
void* udev_device_unref(void* d) { return d; }
const char* udev_device_get_property_value(void* d, const char* k) { return d && k ? k : 0; }
END
      gcc -c -o lib/udev.o lib/udev.c && ar rcs lib/libudev.a lib/udev.o
      export LIBRARY_PATH=$work/lib
      name="$name but libudev, which has no archive here"
    fi
    if line 'mpifort -static '; then
      grep -E 'scr_impl|in function .(scr|SCR)_' log >left
      mv left log
      needs vendored/a.out >>log 2>/dev/null
      export UCX_TLS=sm,self # as the manual says: MPI_Finalize may hang over TCP
      if [ -s log ]; then bad "$name" "something needs shared libraries"; else restarts "$name" vendored/a.out; fi
      unset UCX_TLS
    fi
  fi
fi

name="fortran.md: make fortran"
if [ "$mode" != check ]; then
  if make -s -C "$top" fortran >log 2>&1 && [ ! -s log ]; then ok "$name"; else bad "$name" "it does not build without a word"; fi
fi

echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
