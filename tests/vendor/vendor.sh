#!/bin/bash
# vendor.sh - build the two files with a program, as users do, in an empty directory; the programs and the lines that
# build and run them are those of README.md, the manual, scr.h and the examples.  Last line: N passed, N failed, N skipped.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
. "$top/tests/find_mpi.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
cp "$top/scr.h" "$top/scr_impl.c" "$top"/examples/*.c .
passed=0 failed=0 skipped=0
mode=${1:-check}
# All is built without optimization, which takes a third of the time; in long, the lines of the documents as they are.
# There, too, each program has a build of the library of its own; else one is built for those that differ in nothing else.
compile=$MPICC opt=-O2 library=scr_impl.c
[ "$mode" = long ] || compile="$MPICC -O0" opt=-O0 library=library.o
flags=$($MPICC -show | cut -d' ' -f2- | sed 's/-I/-isystem /g')
strict="-Wall -Wextra -Werror"
export SCR_CNTL_BASE=$work/run/base SCR_CACHE_BASE=$work/run/base SCR_JOB_ID=vendor

ok() { # NAME
  echo "ok $1"
  passed=$((passed + 1))
}
bad() { # NAME WHY: and the log
  echo "FAILED $1: $2"
  head -n 20 log
  failed=$((failed + 1))
}
run() { # RANKS PROGRAM ARGUMENTS...: in the directory run, with what it prints in log
  (cd "$work/run" && SCR_VIRTUAL_NODES=$1 timeout 60 "$MPIEXEC" -n "$1" "../$2" "${@:3}") >log 2>&1
}
build() { # NAME COMMAND...: it builds without a word
  rm -rf a.out run
  mkdir run
  if "${@:2}" >log 2>&1 && [ ! -s log ]; then return 0; fi
  bad "$1" "${*:2}"
  return 1
}
restarts() { # NAME PROGRAM: two runs on 2 ranks, of which the second uses a checkpoint of the first
  local first=20 second=40
  [ "$2" = heat2d ] && first="--steps 20 --interval 10" second="--steps 40"
  # shellcheck disable=SC2086
  run 2 "$2" $first && run 2 "$2" $second
  if grep -q 'restarted from' log && [ -s run/.scr/index.scr ]; then ok "$1"
  else bad "$1" "the program did not make and use a checkpoint"; fi
}
# try NAME BUILD-COMMAND: it builds without a word, runs, and leaves a checkpoint that a second run uses
try() {
  build "$@" && restarts "$1" a.out
}

# shellcheck disable=SC2086
[ "$mode" = long ] || build "the library" $compile -c $strict -o library.o scr_impl.c

# ---- the programs and the lines of the documents ----

# programs FILE LEAD NAME: each block of FILE whose lines begin with LEAD and that has a main is a program, NAME<n>.c;
# those in C++ are for tests/cxx/cxx.sh
programs() {
  awk -v lead="$2" -v name="$3" '
    function end(  out) {
      out = name (n + 1) ".c"
      if (index("\n" text, "\nint main(") && !index(text, "\"scr.hpp\"") && ++n) printf "%s", text >out
      text = ""
    }
    index($0, lead) == 1 { text = text substr($0, length(lead) + 1) "\n"; next }
    /^(\*\*)?$/ { text = text "\n"; next }
    { end() }
    END { end() }' "$1"
}
programs scr.h '**   ' manual
for document in "$top"/README.md "$top"/tools/manual/*.md; do programs "$document" '    ' "$(basename "$document" .md)_"; done
: >log
[ -s manual1.c ] || bad "scr.h: its program" "not found"
# The lines of the chapter memory that look into a checkpoint of its program, with its last checkpoint in place of theirs.
look() {
  local name="memory.md: its lines with scr_regions" at
  at=$("$top/tools/scr_index" -p run | sed -n 's/^\*.* //p')
  grep '^    scr_regions ' "$top/tools/manual/memory.md" | sed "s/ckpt\.40/$at/" >lines
  (cd run && PATH=$top/tools:$PATH && while read -r line; do eval "$line" </dev/null || break; done) <lines >log 2>&1
  if [ "$(wc -l <lines)" = 2 ] && grep -q ' step$' log && grep -q ' u  \[0\]' log && head -c 6 run/u.npy | grep -q NUMPY; then ok "$name"
  else bad "$name" "they do not show the regions"; fi
}
for program in [A-Za-z]*_[0-9]*.c manual[2-9]*.c; do
  # shellcheck disable=SC2086
  [ ! -e "$program" ] || try "$program" $compile "$program" $library -lz -lpthread $strict
  [ "$program" != memory_1.c ] || look
done
[ ! -e manual1.c ] || mv manual1.c app.c # the name that the build lines use

# The lines that build, word by word.
for document in README.md tools/manual/build.md scr.h scr_impl.c examples/minimal.c examples/heat2d.c; do
  grep -hoE 'mpicc( [a-z0-9_]+\.c| -o [a-z0-9]+| -l[a-z]+)+' "$top/$document" >lines || bad "$document" "it has no build line"
  while read -r line; do
    program=a.out
    [[ $line == *" -o "* ]] && program=${line##* -o }
    text=$line
    [ ! -e built ] || text=${line/scr_impl.c/$library} # the first is built as it is
    # shellcheck disable=SC2086
    if grep -qxF -e "$line" built 2>/dev/null; then ok "$document: $line (as above)"
    elif build "$document: $line" ${text/mpicc/$compile} $strict; then
      echo "$line" >>built
      cp "$program" "$(cut -d' ' -f2 <<<"$line").out"
      restarts "$document: $line" "$program"
    fi </dev/null
  done <lines
done

# README.md has the two important pieces of minimal.c as they are.
name="README.md: the pieces of minimal.c"
sed -n '/^This is all of it/,/^    mpicc minimal/ s/^    //p' "$top/README.md" | grep -v '^mpicc' >lines
grep -vxFf minimal.c lines >log
if [ "$(wc -l <lines)" -gt 20 ] && [ ! -s log ]; then ok "$name"; else bad "$name" "they are not what minimal.c has"; fi

# The lines of README.md that run minimal.c, word by word, after the first one that builds it.
name="README.md: its runs of minimal.c"
grep -A 9 '^    mpicc minimal.c' "$top/README.md" | sed -n '2,$ { /^    /!q; s/^    //p; }' >lines
[ "$(wc -l <lines)" = 2 ] || bad "$name" "not found"
rm -rf run && mkdir run && cp minimal.c.out run/a.out
(cd run && while read -r line; do eval "${line/mpiexec/timeout 60 $MPIEXEC}" </dev/null || break; done) <lines >log 2>&1
if [ "$(cat log)" = "$(printf 'done at step 45\nrestarted from ckpt.40\ndone at step 100')" ]; then ok "$name"
else bad "$name" "they do not print what they should"; fi

# What the user sees of an error: its text once, nothing else, and an exit code.  Without the library the program runs.
touch file
for program in minimal.c app.c; do
  rm -rf run && mkdir run
  for setting in SCR_PREFIX="$work/missing" SCR_CNTL_BASE="$work/file"; do
    name="$program: one line tells of an error of ${setting%%=*}"
    if (export "${setting?}" && run 4 "$program.out" 20); then bad "$name" "exit code 0"
    elif [ "$(sed '/^-----/,$d' log | grep -c "")" = 1 ] && # a launcher's own words are below a line
       grep -q "^SCR error: rank 0 .*${setting#*=}" log; then ok "$name"
    else bad "$name" "it prints something else"; fi
  done
  rm -rf run && mkdir run
  name="$program: runs with SCR_ENABLE=0"
  if (export SCR_ENABLE=0 && run 2 "$program.out" 20) && [ ! -e run/.scr ]; then ok "$name"; else bad "$name" "not so"; fi
done

# ---- versions ----

name="scr.h: its five versions are one"
cat >versions.c <<'END'
#include "scr.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void)
{
  char version[32], number[32];

  sprintf(version, "v%s.%s.%s", SCR_MAJOR_VERSION, SCR_MINOR_VERSION, SCR_PATCH_VERSION);
  sprintf(number, "%d%02d%02d", atoi(SCR_MAJOR_VERSION), atoi(SCR_MINOR_VERSION), atoi(SCR_PATCH_VERSION));
  return strcmp(version, SCR_VERSION) != 0 || atoi(number) != SCR_VERSION_NUMBER;
}
END
# shellcheck disable=SC2086
if gcc -DSCR_SERIAL $strict -o a.out versions.c >log 2>&1 && ./a.out; then ok "$name"; else bad "$name" "they differ"; fi

number=$(sed -n 's/^#define SCR_VERSION_NUMBER \([0-9]*\).*/\1/p' scr.h)
mkdir other
# with NUMBER PROGRAM: other/scr.h is of version NUMBER; PROGRAM is compiled with it
with() {
  sed "s/^#define SCR_VERSION_NUMBER .*/#define SCR_VERSION_NUMBER $1/" scr.h >other/scr.h
  cp "$2" other
  $MPICC -O0 -c -o other/program.o "other/$2" >log 2>&1
}
name="scr_impl.c and the scr.h of another version do not compile"
if with $((number + 1)) scr_impl.c; then bad "$name" "they do"
elif grep -q 'error.*different versions' log; then ok "$name"; else bad "$name" "another error"; fi

if [ "$mode" = long ]; then $MPICC -O0 -c -o old.o scr_impl.c; else cp library.o old.o; fi
sed "/^#if SCR_VERSION_NUMBER/ s/$number/$((number + 102))/" scr_impl.c >other/newer.c
with $((number + 102)) minimal.c && $MPICC -O0 -c -o new.o other/newer.c
# serves YES|NO LIBRARY NUMBER NAME: the program of version NUMBER runs with LIBRARY, or SCR_Init says why not
serves() {
  rm -rf run && mkdir run
  with "$3" minimal.c && $MPICC -o a.out other/program.o "$2.o" -lz -lpthread >>log 2>&1 || bad "$4" "it does not build"
  if run 2 a.out 20; then [ "$1" = YES ]; else
    [ "$1" = NO ] && grep -q "scr.h of version $(($3 / 10000)).$(($3 / 100 % 100)).$(($3 % 100)), but the library" log
  fi && ok "$4" || bad "$4" "not so"
}
serves YES new "$number" "a program of an older minor version runs"
serves NO old $((number + 1)) "a program of a newer version is refused"
serves NO old $((number - 10000)) "a program of an older major version is refused"
serves NO old $((number + 10000)) "a program of a newer major version is refused"

# ---- compilers, and static linking ----

# shellcheck disable=SC2086
{
  if [ "$mode" = long ]; then
    try "gcc -O3 -std=c99" gcc -O3 -std=c99 -D_XOPEN_SOURCE=700 minimal.c scr_impl.c $flags -lz -lpthread
    try "gcc -Ofast -flto" gcc -Ofast -flto=auto minimal.c scr_impl.c $flags -lz -lpthread
  else try "gcc -std=c99" gcc -std=c99 -D_XOPEN_SOURCE=700 minimal.c scr_impl.c $flags $opt -lz -lpthread; fi
  try "clang" clang $strict minimal.c scr_impl.c $flags $opt -lz -lpthread
  try "g++ (C++17)" g++ -std=c++17 $strict -DOMPI_SKIP_MPICXX -x c++ minimal.c scr_impl.c -x none $flags $opt -lz -lpthread
}
name="g++, scr.h within extern C, and the C++ bindings of MPI"
printf 'extern "C" {\n#include "scr.h"\n}\nint main() { return SCR_Init() != SCR_SUCCESS; }\n' >within.cc
# shellcheck disable=SC2086
if g++ -Wall -Wextra -Werror -c -o within.o within.cc $flags >log 2>&1; then ok "$name"; else bad "$name" "it does not compile"; fi
for compiler in mpicxx.mpich mpicxx.openmpi; do
  type -P "$compiler" >/dev/null || continue
  if "$compiler" -c -o within.o within.cc >log 2>&1; then ok "$compiler: $name"; else bad "$compiler: $name" "it does not compile"; fi
done

lib() { # the archive of library $1, found as the linker finds it
  gcc -print-file-name="lib$1.a"
}
if [ "$MPI_NAME" = mpich ] && [ -e "$(lib mpich)" ] && [ -e "$(lib z)" ]; then
  if [ "$mode" = long ]; then $MPICC $opt -c -o library.o scr_impl.c; fi
  ar rcs libscr.a library.o
  extra=$(pkg-config --libs --static mpich 2>/dev/null | tr ' ' '\n' | grep '^-l' | grep -v '^-lmpich$' | tr '\n' ' ')
  [ -n "$extra" ] || extra=$(ldd "$(gcc -print-file-name=libmpich.so)" | awk '/=> \// {print $3}' | tr '\n' ' ')
  # shellcheck disable=SC2086
  try "libscr.a, libmpich.a and libz.a" gcc $(mpi_includes) minimal.c libscr.a "$(lib mpich)" "$(lib z)" $extra -lpthread -lm
  if readelf -d a.out | grep NEEDED | grep -E 'libmpich|libz\.'; then
    echo "FAILED the static program still needs these libraries"
    failed=$((failed + 1))
  fi
else
  echo "skipped: static linking, as there is no libz.a, or no archive of the MPI library"
  skipped=1
fi

# ---- the commands ----

mkdir one && cp scr.h scr_impl.c one && cp -r "$top/tools" one/tools && rm -f one/tools/scr one/tools/scr_*[!c]
sources=(one/tools/scr_index.c one/tools/scr_transfer.c)
[ "$mode" != long ] || sources=(one/tools/scr_*.c)
for source in "${sources[@]}"; do
  command=$(basename "$source" .c)
  name="$command, built alone"
  # shellcheck disable=SC2086
  if ! cc -O0 $strict -o "$command" "$source" -lz >log 2>&1 || [ -s log ]; then bad "$name" "it does not build"
  elif ./"$command" --version >log 2>&1 && grep -q "^$command v" log; then ok "$name"
  else bad "$name" "it does not run"; fi
  rm -f "$command"
done
name="the commands, installed"
if make -s -C "$top" install DESTDIR="$work/dest" PREFIX=/usr >log 2>&1 && [ ! -s log ] &&
  for source in one/tools/scr_*.c; do
    command=$(basename "$source" .c)
    "dest/usr/bin/$command" --version 2>&1 | grep -q "^$command v" || { echo "$command" >log; break; }
  done && [ ! -s log ] && dest/usr/bin/scr --version >/dev/null; then ok "$name"
else bad "$name" "not all are there"; fi

# The line of the chapter fortran that builds with what is installed.
name="fortran.md: its line with what is installed"
line=$(tr '\n' ' ' <"$top/tools/manual/fortran.md" | grep -oE '`mpifort DIR/[^`]*`' | tr -d '`')
if [ -z "$MPIFORT" ]; then
  echo "skipped: $name, as there is no mpifort"
  skipped=$((skipped + 1))
else
  awk '/^    program / {in_it = 1} in_it {print substr($0, 5)} /^    end program/ {in_it = 0}' "$top/tools/manual/fortran.md" >app.f90
  line=${line//DIR/$work/dest/usr}
  # shellcheck disable=SC2086
  if [ -n "$line" ] && build "$name" "$MPIFORT" ${line#mpifort }; then
    if run 2 a.out && run 2 a.out && grep -q 'restarted from' log; then ok "$name"
    else bad "$name" "the program did not make and use a checkpoint"; fi
  fi
fi

# Lines of README and the manual over this machine alone, and over a program that logs to a database.
name="README.md: scr_test_system --bytes 20GB"
rm -rf run && mkdir -p run/base
grep -q '`scr_test_system --bytes 20GB`' "$top/README.md" || bad "$name" "not found"
SCR_PREFIX=$work/run timeout 120 "$top/tools/scr_test_system" --bytes 20GB >log 2>&1
if grep -q '  space: .*2 checkpoints with redundancy take 42.9 GB' log; then ok "$name"; else bad "$name" "it does not tell"; fi
name="jobs.md: its line with a database"
line=$(sed -n 's/^    \(mpicc -DSCR_WITH_MYSQL .*\)/\1/p' "$top/tools/manual/jobs.md")
if ! command -v mariadb_config >/dev/null; then
  echo "skipped: $name, as there is no mariadb_config"
  skipped=$((skipped + 1))
elif [ -n "$line" ] && build "$name" eval "${line/mpicc/$compile}"; then restarts "$name" a.out; fi
name="build.md: make help"
make -s -C "$top" help >log 2>&1
if grep -ohE '^    make [a-z-]+|`make [a-z-]+' "$top"/README.md "$top"/tools/manual/*.md | sed 's/.*make //' | sort -u | grep -vxE 'setup|help' |
  while read -r target; do grep -q "make $target:" log || echo "$target"; done | grep .; then bad "$name" "it does not list these"
else ok "$name"; fi

# The settings of the chapter choosing, with directories of this machine, on 4 ranks that are 4 nodes.
name="choosing.md: its settings"
# shellcheck disable=SC2086
$compile heat2d.c $library -o heat2d -lz -lpthread -lm >log 2>&1 || bad "$name" "heat2d does not build"
for base in nvme dev/shm; do
  rm -rf run && mkdir -p run/node run/scratch/heat
  settings=$(sed -n "\|^    export SCR_PREFIX=/scratch.* SCR_CACHE_BASE=/$base |{p; n; p}" "$top/tools/manual/choosing.md" |
    sed "s/^    //; s|=/$base|=NODE|g; s|/scratch/me|$work/run/scratch|; s|=NODE|=$work/run/node|g")
  if [ "$(grep -c '^export SCR_' <<<"$settings")" != 2 ]; then
    bad "$name" "no two lines of settings have this base: $base"
  elif (eval "$settings" && run 4 heat2d --steps 20 --interval 10 && run 4 heat2d --steps 40) &&
    grep -q 'restarted from' log && [ -e run/scratch/heat/.scr/index.scr ] && [ -n "$(ls run/node)" ]; then ok "$name, $base"
  else bad "$name, $base" "the program did not make and use a checkpoint"; fi
done

# The lines with children of the chapter parameters, on two virtual nodes of each of two switches.
name="parameters.md: its lines with children"
rm -rf run && mkdir -p run/ssd run/tmp
lines=$(sed -n '/^    SCR_COPY_TYPE=FILE$/,/^$/s/^    //p' "$top/tools/manual/parameters.md" | sed -E "s#=/(tmp|ssd)#=$work/run/\1#")
{
  grep -v '^GROUPS=' <<<"$lines"
  for i in 0 1 2 3; do grep '^GROUPS=' <<<"$lines" | sed "s/host1/$(hostname)-v$i/; s/SWITCH=0/SWITCH=$((i / 2))/"; done
} >run/lines.conf
if [ "$(grep -c = run/lines.conf)" = 10 ] && # 16 checkpoints: the last is of the third line
  (export SCR_CONF_FILE=$work/run/lines.conf SCR_PREFIX=$work/run/prefix && mkdir run/prefix &&
    run 4 heat2d --steps 16 --interval 1 && run 4 heat2d --steps 17 --interval 1) && grep -q 'restarted from heat.16' log &&
  find run/ssd -name '*.rs' | grep -q . && find run/tmp -name 'heat.17' | grep -q .; then ok "$name"
else
  find run | head -n 30 >>log
  bad "$name" "the program did not make and use a checkpoint of these"
fi

# What make prints and builds, as README and the manual say.
if [ "$mode" != check ]; then
  name="README.md: make size"
  make -s -C "$top" size >log 2>&1 && grep -q 'left in the cache' log && ok "$name" || bad "$name" "it does not tell what is left"
fi

# ---- shared libraries ----

# shellcheck disable=SC2086
shared() { # NAME OPTIONS...: libapp.so of the sources in $sources, built with OPTIONS
  gcc -O0 -fPIC -shared "${@:2}" $strict -I. -o libapp.so $sources $flags -lz -lpthread >log 2>&1 && [ ! -s log ] && return
  bad "$1" "the shared library does not build"
  return 1
}
visible='-DSCR_API=__attribute__((visibility("default")))'

# A program that uses the calls of a shared library, which exports them and nothing else.
exports() { # NAME OPTIONS...
  shared "$@" || return
  nm -D --defined-only libapp.so | awk '{print $3}' | grep -vE '^SCR_[A-Z]|^_(init|fini)$' >log
  # shellcheck disable=SC2086
  if [ -s log ]; then bad "$1" "and more"
  else try "$1" gcc minimal.c "$work/libapp.so" $flags; fi
}
sources=scr_impl.c
[ "$mode" = check ] || exports "a shared library exports the calls" -DSCR_API=extern
exports "a shared library exports the calls, -fvisibility=hidden" -fvisibility=hidden "$visible"

# A program and a shared library with a copy each, which keeps its calls to itself.
cp "$top/tests/vendor/copies.c" .
sources="copies.c scr_impl.c"
two() { # NAME OPTIONS...: the library built with OPTIONS and the program, with their own prefixes and with one
  shared "$1" -DINNER "${@:2}" || return
  # shellcheck disable=SC2086
  build "$1" gcc -O0 $strict copies.c $library "$work/libapp.so" $flags -lz -lpthread || return
  mkdir run/in
  run 2 a.out "$work/run" "$work/run/in"
  if grep -qx 'outer 0, inner 0' log && grep -qx inner run/in/inner/rank_1 && grep -qx outer run/outer/rank_1; then ok "$1"
  else bad "$1" "not both have written a checkpoint"; fi
  rm -rf run && mkdir -p run/in
  FORGET=1 run 2 a.out "$work/run" "$work/run/in"
  if grep -qx inner run/in/inner/rank_1 && grep -qx outer run/outer/rank_1 &&
    [ "$(grep -c 'MPI_Finalize is called before SCR_Finalize' log)" = 2 ]; then ok "$1, both without SCR_Finalize"
  else bad "$1, both without SCR_Finalize" "MPI_Finalize has not flushed both"; fi
  rm -rf run && mkdir run
  run 2 a.out "$work/run" "$work/run"
  if grep -qx 'outer 0, inner 16' log && grep -qx outer run/outer/rank_1; then ok "$1, one prefix: the second is refused"
  else bad "$1, one prefix" "the second is not refused with SCR_ERR_BUSY"; fi
  grep -q 'SCR error: .*another copy of the library in this program' log || bad "$1, one prefix" "the message"
}
[ "$mode" = check ] || two "two copies in a process"
two "two copies in a process, -fvisibility=hidden" -fvisibility=hidden

echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
