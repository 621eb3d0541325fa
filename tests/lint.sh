#!/bin/bash
# lint.sh - the rules of scr_impl.c and of the tree, one line each.  Last line: N passed, N failed, N skipped.
set -u
cd "$(dirname "$0")/.." || exit 1
CC=${CC:-cc} MPICC=${MPICC:-mpicc}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0 skipped=0
sources=$(ls scr.h scr_impl.c tools/*.[ch] examples/*.c tests/*/*.[ch])
warn="-Wall -Wextra -Wshadow -Wc++-compat -Wstrict-prototypes -Wmissing-prototypes -Werror"
mpi_flags=$($MPICC -show | tr ' ' '\n' | grep '^-I' | tr '\n' ' ')

# report NAME FILE: passed when FILE is empty
report() {
  if [ -s "$2" ]; then
    echo "FAIL  $1"
    head -n 40 "$2" | sed 's/^/      /'
    failed=$((failed + 1))
  else
    echo "ok    $1"
    passed=$((passed + 1))
  fi
}
# must NAME COMMAND...: passed when the command succeeds
must() {
  local name=$1
  shift
  if "$@" >"$work/out" 2>&1; then : >"$work/out"; elif [ ! -s "$work/out" ]; then echo "exit status not 0" >"$work/out"; fi
  report "$name" "$work/out"
}

# ---- the one file ----
awk '{ line = $0; gsub(/\/\*.*\*\//, "", line); sub(/[ \t]+$/, "", line) }
  /^[A-Za-z_]/ && !/^typedef/ { open = 1; text = "" }
  open { text = text " " line }
  open && (line ~ /[{=]/ || line == "") { open = 0 }
  open && line ~ /;$/ { if (text ~ /^ *[A-Za-z_][A-Za-z0-9_* ]*[* ][A-Za-z_][A-Za-z0-9_]*\(/) print FILENAME ":" NR ":" text; open = 0 }
' scr_impl.c >"$work/out"
report "no forward declarations" "$work/out"

: >"$work/out"
grep -n '^/\* ==== [0-9]' scr_impl.c | cut -d: -f1 | while read -r line; do
  head -n $((line - 1)) scr_impl.c >"$work/cut.c"
  grep -q '^#ifndef SCR_SERIAL /\*' "$work/cut.c" && echo '#endif' >>"$work/cut.c"
  echo 'typedef int scr_cut;' >>"$work/cut.c"
  # shellcheck disable=SC2086
  $CC $mpi_flags -Wall -Wextra -Werror -Wno-unused -I. -fsyntax-only "$work/cut.c" 2>"$work/err" ||
    { echo "cut off before line $line:"; head -n 3 "$work/err"; } >>"$work/out"
done
report "the file cut off at each banner compiles" "$work/out"

grep -nE '^ *# *(if|elif).*SCR_SERIAL' scr_impl.c >"$work/fence"
[ "$(wc -l <"$work/fence")" = 1 ] || { echo "SCR_SERIAL is not tested exactly once:"; cat "$work/fence"; } >"$work/out"
report "one fence" "$work/out"

diff <(sed -n 's/^\/\* ==== \([0-9][0-9] [^=]*[^= ]\) =*$/\1/p' scr_impl.c) \
  <(sed -n 's/^\*\*   \([0-9][0-9] [A-Z].*\)$/\1/p' scr_impl.c) >"$work/out"
report "the map equals the banners" "$work/out"

$MPICC -O1 -c -I. -o "$work/scr.o" scr_impl.c
diff <(nm -g --defined-only "$work/scr.o" | awk '{print $3}' | sort) \
  <(sed -n 's/^SCR_API [a-z* ]*[ *]\(SCR_[A-Za-z_]*\)(.*/\1/p' scr.h | sort -u) >"$work/out"
report "the object exports the calls of scr.h and nothing else" "$work/out"

: >"$work/out"
grep -oE '^SCR_FN .*[ *](scr_[a-z0-9_]+)\(' scr_impl.c | grep -oE 'scr_[a-z0-9_]+\($' | tr -d '(' | sort -u >"$work/names"
# shellcheck disable=SC2086
cat $sources tests/*/*.sh | grep -oE '\bscr_[a-z0-9_]+\b' | sort | uniq -c | awk '$1 < 2 {print $2}' | sort >"$work/once"
comm -12 "$work/names" "$work/once" >"$work/out"
report "every function is used somewhere" "$work/out"

awk '/^\{/ {s=NR} /^[A-Za-z].*\(/ && !/;/ {name=$0} /^\}/ {if (s && NR-s > 100) print NR-s " lines: " name; s=0}' scr_impl.c >"$work/long"
[ -s "$work/long" ] && { echo "note  functions above 100 lines:"; sed 's/^/      /' "$work/long"; }

# ---- compilers ----
must "gcc, no warning" gcc $mpi_flags -O2 $warn -I. -c -o "$work/o" scr_impl.c
must "clang, no warning" clang $mpi_flags -O2 $warn -I. -c -o "$work/o" scr_impl.c
must "C++17, the library" g++ $mpi_flags -std=c++17 -x c++ -O1 -Wall -Wextra -Wshadow -Werror -I. -c -o "$work/o" scr_impl.c
echo '#include "scr.h"
int main(void) { return SCR_SUCCESS; }' >"$work/h.cc"
must "C++17, the header" g++ $mpi_flags -std=c++17 -Wall -Wextra -Werror -I. -c -o "$work/o" "$work/h.cc"
must "C99 without extensions of the header" gcc $mpi_flags -std=c99 $warn -I. -x c -c -o "$work/o" "$work/h.cc"
for macro in SCR_SERIAL SCR_LOCK_BASES; do
  must "with -D$macro alone" gcc $mpi_flags -O1 $warn -Wno-unused-variable -D$macro -I. -c -o "$work/o" scr_impl.c
done
if echo '#include <stdio.h>' | gcc -m32 -E - >/dev/null 2>&1; then
  must "32 bit" gcc $mpi_flags -m32 $warn -I. -fsyntax-only scr_impl.c
else
  echo "note  32 bit: not tried, the headers are not installed"
fi

# Other processors, as far as their compilers are here: assembled too, for the kernels.  The headers of zlib are alike.
mkdir "$work/zlib"
echo '#include <zlib.h>' | $CC -M -x c - | tr ' ' '\n' | grep -E '/z(lib|conf)\.h$' | xargs -I{} cp {} "$work/zlib"
for target in aarch64-linux-gnu s390x-linux-gnu i686-linux-gnu; do
  if echo '#include <stdio.h>' | "$target-gcc" -E - >/dev/null 2>&1; then
    must "$target, serial" "$target-gcc" -O1 $warn -Wno-unused-variable -DSCR_SERIAL -I. -isystem "$work/zlib" \
      -c -o "$work/o" scr_impl.c
    must "$target, the unit suites" "$target-gcc" $warn -I. -isystem "$work/zlib" -fsyntax-only tests/unit/unit.c
  else
    echo "note  $target: not tried, gcc-$target is not installed"
  fi
done

# ---- the tree ----
# shellcheck disable=SC2086
must "clang-format" clang-format --dry-run -Werror $sources
must "cppcheck, the library" cppcheck -q --enable=warning,portability,performance --inline-suppr --error-exitcode=1 \
  --suppress=missingIncludeSystem --suppress=preprocessorErrorDirective --max-configs=1 -DSCR_ERRORS_ENUM= -DMPI_VERSION=3 -I. scr_impl.c
must "cppcheck, the commands" cppcheck -q --enable=warning,portability --inline-suppr --error-exitcode=1 \
  --suppress=missingIncludeSystem --max-configs=1 -DSCR_SERIAL=1 -I. tools/*.c
for s in tests/*.sh tests/*/*.sh tests/cluster/vnodes .ci/run; do must "bash -n $s" bash -n "$s"; done
must "sh -n examples/demo.sh" sh -n examples/demo.sh
if $CC -I. -o "$work/table" tests/unit/params_table.c -lz 2>"$work/out" && "$work/table" >"$work/params"; then
  diff <(grep '^| SCR_' README.md) <(grep '^| SCR_' "$work/params") >"$work/out"
fi
report "the table of parameters in README.md is that of the source" "$work/out"
git ls-files 2>/dev/null | grep -v '^tests/data/' | xargs grep -nE '[[:space:]]+$' -- 2>/dev/null | grep -v '^Binary' >"$work/out"
report "no blanks at the end of a line" "$work/out"
git ls-files 2>/dev/null | xargs grep -InE "(^|[^[:alnum:]_.}])($PWD|${HOME:-/root})/" -- 2>/dev/null >"$work/out"
report "no path of this machine" "$work/out"
git ls-files 2>/dev/null | cut -d/ -f1 | sort -u | grep -vxE 'scr\.h|scr_impl\.c|tools|tests|examples|Makefile|LICENSE|README\.md|\..*' >"$work/out"
report "nothing else at the top level" "$work/out"

echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
