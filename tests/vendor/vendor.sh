#!/bin/bash
# vendor.sh - build the two files with a program, as users do, in an empty directory.  Last line: N passed, ...
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
MPICC=${MPICC:-mpicc} MPIEXEC=${MPIEXEC:-mpiexec}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
cp "$top/scr.h" "$top/scr_impl.c" "$top/examples/minimal.c" .
passed=0 failed=0 skipped=0
flags=$($MPICC -show | cut -d' ' -f2-)

# try NAME BUILD-COMMAND: it builds without a word, runs on 2 ranks, and leaves a checkpoint that a second run uses
try() {
  local name=$1
  shift
  rm -rf a.out run
  mkdir run
  if ! "$@" >log 2>&1 || [ -s log ]; then
    echo "FAILED $name: $*"
    head -n 20 log
    failed=$((failed + 1))
    return
  fi
  for n in 20 40; do
    (cd run && SCR_CNTL_BASE=$work/run/base SCR_CACHE_BASE=$work/run/base SCR_JOB_ID=vendor SCR_VIRTUAL_NODES=2 \
      timeout 60 "$MPIEXEC" -n 2 ../a.out $n) >log 2>&1 || break
  done
  if grep -q 'restarted from' log && [ -s run/.scr/index.scr ]; then
    echo "ok $name"
    passed=$((passed + 1))
  else
    echo "FAILED $name: the program did not make and use a checkpoint"
    cat log
    failed=$((failed + 1))
  fi
}

# The line of README.md, word by word.
line=$(sed -n 's/^    \(mpicc minimal.c .*\)/\1/p' "$top/README.md")
[ -n "$line" ] || { echo "FAILED: README.md has no build line"; failed=1; }
# shellcheck disable=SC2086
try "README: $line" ${line/mpicc/$MPICC}
# shellcheck disable=SC2086
{
  try "gcc" gcc -Wall -Wextra minimal.c scr_impl.c $flags -lz -lpthread
  try "gcc -O3 -std=c99" gcc -O3 -std=c99 -D_XOPEN_SOURCE=700 minimal.c scr_impl.c $flags -lz -lpthread
  try "clang" clang -Wall -Wextra minimal.c scr_impl.c $flags -lz -lpthread
  try "g++ (C++17)" g++ -std=c++17 -Wall -Wextra -x c++ minimal.c scr_impl.c -x none $flags -lz -lpthread
}
lib() { # the archive of library $1, found as the linker finds it
  gcc -print-file-name="lib$1.a"
}
if [ -e "$(lib mpich)" ] && [ -e "$(lib z)" ]; then
  $MPICC -O2 -c scr_impl.c && ar rcs libscr.a scr_impl.o
  extra=$(pkg-config --libs --static mpich 2>/dev/null | tr ' ' '\n' | grep '^-l' | grep -v '^-lmpich$' | tr '\n' ' ')
  [ -n "$extra" ] || extra=$(ldd "$(gcc -print-file-name=libmpich.so)" | awk '/=> \// {print $3}' | tr '\n' ' ')
  include=$(tr ' ' '\n' <<<"$flags" | grep '^-I' | tr '\n' ' ')
  # shellcheck disable=SC2086
  try "libscr.a, libmpich.a and libz.a" gcc $include minimal.c libscr.a "$(lib mpich)" "$(lib z)" $extra -lpthread -lm
  if readelf -d a.out | grep NEEDED | grep -E 'libmpich|libz\.'; then
    echo "FAILED the static program still needs these libraries"
    failed=$((failed + 1))
  fi
else
  echo "skipped: static linking, as there is no libmpich.a or libz.a"
  skipped=1
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
