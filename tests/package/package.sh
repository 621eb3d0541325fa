#!/bin/bash
# package.sh - what systems expect: scr.pc, CMake, the package of Debian, the recipe of Spack; each is built in a copy of
# the tree, as far as this machine can, and a program is built against what it installs.
# Last line: N passed, N failed, N skipped.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
. "$top/tests/find_mpi.sh"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
mode=${1:-check}
unset "${!SCR_@}" "${!PKG_CONFIG_@}" MAKEFLAGS MAKELEVEL MFLAGS PREFIX LIBDIR DESTDIR
passed=0 failed=0 skipped=0

ok() {
  echo "ok $1"
  passed=$((passed + 1))
}
bad() { # NAME WHY: and the log
  echo "FAILED $1: $2"
  tail -n 20 log
  failed=$((failed + 1))
}
skip() { # WHY NAME...
  for name in "${@:2}"; do echo "skipped: $name, as $1"; done
  skipped=$((skipped + $# - 1))
}
have() { command -v "$1" >/dev/null; }

# try NAME COMMAND...: the command succeeds
try() {
  if "${@:2}" >log 2>&1 </dev/null; then ok "$1"; else bad "$1" "${*:2}"; return 1; fi
}
# same NAME WANTED GOT
same() {
  if [ "$2" = "$3" ]; then ok "$1"; else
    printf 'wanted: %s\ngot:    %s\n' "$2" "$3" >log
    bad "$1" "not so"
  fi
}
# restarts NAME PROGRAM MPIEXEC: two runs of examples/minimal.c as PROGRAM, of which the second goes on from the first
restarts() {
  rm -rf run && mkdir -p run/cache
  for steps in 45 100; do
    # shellcheck disable=SC2086
    (cd run && SCR_VIRTUAL_NODES=2 SCR_JOB_ID=package SCR_CACHE_BASE=$work/run/cache SCR_CNTL_BASE=$work/run/cache \
      timeout 100 $3 -n 2 "$2" $steps)
  done >log 2>&1 </dev/null
  if grep -q '^restarted from ckpt.40' log; then ok "$1"; else bad "$1" "the second run does not restart"; fi
}
# program NAME FILE MPICC: examples/minimal.c, as FILE, with what pkg-config says, and nothing else
program() {
  local flags
  flags=$(pkg-config --cflags --libs scr 2>log) || { bad "$1" "pkg-config does not find scr"; return 1; }
  eval "flags=($flags)" # they have quotes where a directory has blanks
  cp "$top/examples/minimal.c" . && try "$1" "$3" -Wall -Wextra -Werror minimal.c -o "$2" "${flags[@]}"
}

version=$(sed -n 's/^#define SCR_VERSION  *"v\(.*\)".*/\1/p' "$top/scr.h")
mkdir tree && (cd "$top" && cp -r scr.h scr_impl.c tools tests examples Makefile LICENSE README.md "$work/tree") || exit 1
make -s -C tree clean >log 2>&1 || bad "make clean, in a copy" "it fails"

# ---- the versions ----

same "the recipe of Spack is of this version" "$version" "$(sed -n 's/^ *version("\(.*\)".*/\1/p' "$top/tools/packaging/spack/package.py")"
same "the package of Debian is of this version" "$version" \
  "$(sed -n '1s/^scr (\(.*\)-[0-9]*) .*/\1/p' "$top/tools/packaging/debian/changelog")"

# ---- scr.pc ----

# installed DESTDIR VARIABLE...: make install, of what is built already
installed() { make -s -C "$top" MPICC="$MPICC" CC="${CC:-cc}" install DESTDIR="$1" "${@:2}"; }
if have pkg-config; then
  if try "make install, in a place with a blank" installed "" PREFIX="$work/in place"; then
    export PKG_CONFIG_PATH="$work/in place/lib/pkgconfig"
    same "scr.pc has the version" "$version" "$(pkg-config --modversion scr)"
    same "scr.pc names no MPI" "" "$(pkg-config --cflags --libs scr | grep mpi)"
    program "a program by pkg-config" a.out "$MPICC" && restarts "the program by pkg-config runs" "$work/a.out" "$MPIEXEC"
    unset PKG_CONFIG_PATH
  fi
  if try "make install with DESTDIR and LIBDIR" installed "$work/dest" PREFIX=/opt/s LIBDIR=/opt/s/lib64; then
    export PKG_CONFIG_LIBDIR=$work/dest/opt/s/lib64/pkgconfig
    same "scr.pc has no DESTDIR" "-I/opt/s/include -L/opt/s/lib64 -lscr -lz -lpthread" \
      "$(pkg-config --cflags --libs scr | tr -s ' ' | sed 's/ $//')"
    PKG_CONFIG_SYSROOT_DIR=$work/dest program "a program of another root, by pkg-config" a.out "$MPICC"
    unset PKG_CONFIG_LIBDIR
  fi
else
  skip "there is no pkg-config" "make install, in a place with a blank" "a program by pkg-config" \
    "make install with DESTDIR and LIBDIR" "a program of another root, by pkg-config"
fi

# ---- CMake ----

# project NAME DIRECTORY OPTION...: configure, build, and run its tests
project() {
  local launcher
  read -ra launcher <<<"$MPIEXEC"
  rm -rf build
  try "$1: cmake" cmake -S "$2" -B build -DMPI_C_COMPILER="$(command -v "$MPICC")" \
    -DMPIEXEC_EXECUTABLE="$(command -v "${launcher[0]}")" -DMPIEXEC_PREFLAGS="$(printf ';%s' "${launcher[@]:1}")" "${@:3}" &&
    try "$1: it builds" cmake --build build || return
  ! grep -q enable_testing "$2/CMakeLists.txt" ||
    try "$1: its tests" ctest --test-dir build --output-on-failure
}
if have cmake; then
  mkdir lines && cp "$top/scr.h" "$top/scr_impl.c" "$top/examples/minimal.c" lines
  sed -n '/^## With CMake/,/^## / { s/^    //p; }' "$top/tools/manual/build.md" | sed '/^ *\(cmake\|cp\) /,$d' >snippet
  same "the six lines of the manual are six" 6 "$(grep -c . snippet)"
  { echo 'cmake_minimum_required(VERSION 3.13)' && echo 'project(lines C)' && cat snippet &&
    echo 'add_executable(app minimal.c)' && echo 'target_link_libraries(app scr)'; } >lines/CMakeLists.txt
  project "the six lines of the manual" lines && restarts "the six lines of the manual: the program runs" "$work/build/app" "$MPIEXEC"
  project "examples/cmake/vendored" tree/examples/cmake/vendored
  if [ -e "in place" ]; then project "examples/cmake/installed" tree/examples/cmake/installed -DCMAKE_PREFIX_PATH="$work/in place"
  else skip "there is no pkg-config" "examples/cmake/installed"; fi
else
  skip "there is no cmake" "the six lines of the manual" "examples/cmake/vendored" "examples/cmake/installed"
fi

# ---- Spack: a stand-in of what the recipe imports runs its phases ----

mkdir -p standin/spack && : >standin/spack/__init__.py && cp "$top/tests/package/spack_standin.py" standin/spack/package.py
if have python3; then
  name="the phases of Spack's recipe"
  if try "$name" env CFLAGS=-O0 PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$work/standin" RECIPE="$top/tools/packaging/spack/package.py" \
    python3 -m spack.package "$work/tree" "$work/spack" "$MPICC" "$version"; then
    try "Spack's recipe installs the commands" spack/bin/scr_index --version
    if have pkg-config; then
      PKG_CONFIG_PATH=$work/spack/lib/pkgconfig program "a program with what Spack's recipe installs" a.out "$MPICC"
    fi
  fi
else
  skip "there is no python3" "the phases of Spack's recipe"
fi

# ---- Debian: the packages are built and unpacked below a root of their own ----

debian() {
  local name="the packages of Debian" root=$work/root deb
  make -s -C tree clean && cp -r tree/tools/packaging/debian tree || { bad "$name" "no copy"; return; }
  # Without the tests of the package, which are tests of `make check` too, and without the optimiser.
  (cd tree && DEB_BUILD_OPTIONS="nocheck noopt noautodbgsym" DPKG_DEB_COMPRESSOR_TYPE=gzip dpkg-buildpackage -us -uc -b -Pnocheck) >log 2>&1 </dev/null ||
    { bad "$name" "dpkg-buildpackage fails"; return; }
  ok "$name"
  for deb in *_"$version"-*.deb; do case $deb in *-dbgsym*) ;; *) dpkg -x "$deb" "$root" || bad "$name" "dpkg -x $deb" ;; esac; done
  export PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_LIBDIR
  PKG_CONFIG_LIBDIR=$(dirname "$root"/usr/lib/*/pkgconfig/scr.pc)
  program "a program with $name" a.out mpicc.mpich && restarts "a program with $name runs" "$work/a.out" mpiexec.mpich
  unset PKG_CONFIG_SYSROOT_DIR PKG_CONFIG_LIBDIR
  same "$name: scr is of this version" "scr v$version" "$("$root/usr/bin/scr" --version)"
  same "$name: a page for each command" "" \
    "$(for c in "$root"/usr/bin/*; do [ -e "$root/usr/share/man/man1/${c##*/}.1.gz" ] || echo "${c##*/}"; done)"
  same "$name: a page for each call" "" "$(sed -n 's/^SCR_API [a-z* ]*[ *]\(SCR_[A-Za-z_]*\)(.*/\1/p' "$top/scr.h" |
    while read -r c; do [ -e "$root/usr/share/man/man3/$c.3.gz" ] || echo "$c"; done)"
  if ! have lintian; then skip "there is no lintian" "$name: lintian"
  elif lintian --fail-on error ./*.changes >log 2>&1; then ok "$name: lintian finds no error"
  else bad "$name: lintian finds no error" "it does"; fi
}
if ! have dpkg-buildpackage || ! have dh; then skip "there is no dpkg-buildpackage or debhelper" "the packages of Debian"
elif ! (cd tree/tools/packaging && dpkg-checkbuilddeps -Pnocheck debian/control) 2>log; then
  skip "packages to build with are missing: $(sed 's/.*: //' log)" "the packages of Debian"
else debian; fi

# ---- the chapter jobs: with a database ----

name="make MYSQL=1 install: scr.pc names the library of the database"
if [ "$mode" = long ]; then
  if ! have mariadb_config; then skip "there is no mariadb_config" "$name"
  elif make -s -C tree clean >log 2>&1 && make -s -C tree CFLAGS=-O0 MYSQL=1 >log 2>&1 &&
    make -s -C tree CFLAGS=-O0 MYSQL=1 install DESTDIR="$work/mysql" PREFIX=/usr >log 2>&1; then
    same "$name" 1 "$(cat "$work"/mysql/usr/lib*/pkgconfig/scr.pc "$work"/mysql/usr/lib/*/pkgconfig/scr.pc 2>log | grep -c mariadb)"
  else bad "$name" "it is not built"; fi
fi

echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
