#!/bin/bash
# lint.sh - the rules of scr_impl.c and of the tree, one line each.  Last line: N passed, N failed, N skipped.
#
#   lint.sh [long]     long: also what takes minutes, cppcheck and the optimisers that see most
set -u
mode=${1:-full}
cd "$(dirname "$0")/.." || exit 1
CC=${CC:-cc}
. tests/find_mpi.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0 skipped=0
sources=$(ls scr.h scr_impl.c tools/*.[ch] tools/image/*.[ch] examples/*.c tests/*/*.[ch] */cxx/*.cc examples/cxx/scr.hpp examples/compat/*.h examples/python/*.c)
warn="-Wall -Wextra -Wshadow -Wc++-compat -Wstrict-prototypes -Wmissing-prototypes -Werror"
mpi_flags=$(mpi_includes)

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

# cppcheck takes longest: in the long mode it runs from the beginning.
# checked NAME ARGUMENT...: what cppcheck says goes to $work/NAME.check
checked() {
  local name=$1
  shift
  cppcheck -q --inline-suppr --error-exitcode=1 --suppress=missingIncludeSystem --max-configs=1 -I. "$@" \
    >"$work/$name.check" 2>&1 || echo "exit status not 0" >>"$work/$name.check"
}
analysed() {
  checked library --enable=warning,portability,performance --suppress=preprocessorErrorDirective -DSCR_ERRORS_ENUM= \
    -DMPI_VERSION=3 scr_impl.c
  checked commands --enable=warning,portability -DSCR_SERIAL=1 tools/scr.c
}
[ "$mode" != long ] || analysed &

# ---- the suites ----
suites() {
  sed -n 's|^\(tests/[a-z0-9_/]*\.sh\) .*|\1|p' tests/run.sh | while read -r f; do [ -x "$f" ] || echo "$f"; done >"$work/out"
  report "each suite can be executed" "$work/out"
  must "few tests are excused with Open MPI" test "$(sed -n '/^excused="/,/"$/p' tests/openmpi/openmpi.sh | wc -l)" -le 4
}

# ---- the one file ----
one_file() {
  awk '{ line = $0; gsub(/\/\*.*\*\//, "", line); sub(/[ \t]+$/, "", line) }
    /^[A-Za-z_]/ && !/^typedef/ { open = 1; text = "" }
    open { text = text " " line }
    open && (line ~ /[{=]/ || line == "") { open = 0 }
    open && line ~ /;$/ { if (text ~ /^ *[A-Za-z_][A-Za-z0-9_* ]*[* ][A-Za-z_][A-Za-z0-9_]*\(/) print FILENAME ":" NR ":" text; open = 0 }
  ' scr_impl.c >"$work/out"
  report "no forward declarations" "$work/out"

  # cut_off LINE FLAGS...: the file up to LINE compiles
  cut_off() {
    head -n $(($1 - 1)) scr_impl.c >"$work/cut.c"
    awk '/^ *# *if/ {n++} /^ *# *endif/ {n--} END {while (n-- > 0) print "#endif"; print "typedef int scr_cut;"}' \
      "$work/cut.c" >"$work/cut.end"
    cat "$work/cut.end" >>"$work/cut.c"
    # shellcheck disable=SC2086
    $CC $mpi_flags "${@:2}" -Wall -Wextra -Werror -Wno-unused -I. -fsyntax-only "$work/cut.c" 2>"$work/err" ||
      { echo "cut off before line $*:"; head -n 3 "$work/err"; } >>"$work/out"
  }
  : >"$work/out"
  fence=$(grep -n '^#ifndef SCR_SERIAL /\*' scr_impl.c | head -n 1 | cut -d: -f1)
  for line in $(grep -n '^/\* ==== [0-9]' scr_impl.c | cut -d: -f1); do
    cut_off "$line"
    [ "$line" -gt "${fence:-0}" ] || cut_off "$line" -DSCR_SERIAL
  done
  report "the file cut off at each banner compiles" "$work/out"

  grep -nE '^ *# *(if|elif).*SCR_SERIAL' scr_impl.c >"$work/fence"
  awk -F: '{n[$2 ~ /^#ifndef SCR_SERIAL \/\*/ ? "fence" : $2 ~ /^#ifdef SCR_SERIAL/ ? "commands" : "other"]++}
    END {exit !(n["fence"] == 1 && n["commands"] <= 1 && n["other"] == 0)}' "$work/fence" ||
    { echo "SCR_SERIAL is not tested once for the fence, and at most once for what only commands use:"; cat "$work/fence"; } >"$work/out"
  report "one fence" "$work/out"

  # constants FILE: what it defines, as NAME VALUE
  constants() {
    sed -n 's/^#define \(SCR_[A-Z_]*\) *\([0-9][0-9]*\)\( .*\)*$/\1 \2/p; s/^  X(\(SCR_ERR_[A-Z_]*\), \([0-9]*\),.*/\1 \2/p
      s/^ *\(integer, parameter ::\|parameter (\) *\(SCR_[A-Z_]*\) = \([0-9]*\).*/\2 \3/p' "$1" | sort
  }
  for file in examples/fortran/scrf.h examples/fortran/scr.f90; do
    diff <(constants scr.h) <(constants $file) >"$work/out"
    report "$file has the constants of scr.h" "$work/out"
  done

  # part RULE TEXT: a rule of lint_parts.py; its faults have a line each
  part() {
    python3 tests/lint_parts.py "$1" >"$work/out" 2>&1
    [ -s "$work/out" ] && set -- "$1" "$2: $(wc -l <"$work/out") faults"
    report "$2" "$work/out"
  }
  # note RULE TEXT: what it finds is no fault
  note() {
    python3 tests/lint_parts.py "$1" >"$work/notes" 2>&1
    [ ! -s "$work/notes" ] || { echo "note  $2: $(wc -l <"$work/notes")"; head -n 10 "$work/notes" | sed 's/^/      /'; }
  }
  # manual RULE TEXT: a rule of lint_manual.py
  manual() {
    python3 tests/lint_manual.py "$1" >"$work/out" 2>&1
    report "$2" "$work/out"
  }
  manual marks "README and the manual: marks, chapters, lines"
  manual entries "scr explain: each entry is a message of the code"
  manual entered "scr explain: each error and warning has an entry"
  manual names "README and the manual: each parameter, call, command, option and file that is named is there"
  manual twice "a row of a table that README and a chapter have is the same"
  [ "$mode" != long ] || must "lint_parts.py finds each fault that is planted" python3 tests/lint_parts.py --self-test
  manual macros "the macros that can be set: the tables of part 00 and of the manual are as the code asks for them"
  part map "the map equals the banners"
  part offers "what a banner offers is what others use"
  part banners "what a banner uses is what its part uses"
  part reached "each function is reached from the API or a command"
  part labels "labels of invariants are unique, and references to them lead somewhere"
  part records "keys of records are named by their readers and writers alone"
  part linkage "SCR_FN or SCR_API begins each function, static each variable"
  part threads "no function that answers all threads in one place"
  part size "no part is longer than 1,200 lines"
  part states "the state of a dataset is set where its table is, or found at a start"
  part slots "each slot of a vote has a name"
  part documents "no reference to a document that is not here"
  note long "functions above 60 lines that do not say why"
  note uses "parts that use more than 16 others"
  note commands "functions that only commands reach, but every application compiles"
}

# ---- what compilers make of it ----
compilers() {
  level=-O0 # of what is to compile elsewhere, and is optimised above
  [ "$mode" != long ] || level=-O1
  # Threads of programs may have small stacks: scr.h names the need.
  for how in "-O1 -fno-inline" "-O2 $warn"; do
    gcc $mpi_flags $how -DSCR_WITH_FORTRAN -fstack-usage -fcallgraph-info=su -c -I. -o "$work/stack.o" scr_impl.c 2>"$work/out"
    [[ $how != -O2* ]] || report "gcc -O2, no warning" "$work/out"
    awk -F'\t' '$2 > 8192 {print $1 ": a frame of " $2 " bytes"} END {if (NR < 500) print "there are " NR " frames"}' \
      "$work/stack.su" >>"$work/out"
    report "no function has a frame above 8 KiB, ${how%% -W*}" "$work/out"
  done
  python3 tests/size/stack.py "$work/stack.ci" | awk 'NR < 3 && $1 > 98304 {print} END {if (NR < 3) print NR " lines"}' >>"$work/out"
  report "no call needs more than 96 KiB of stack, without MPI" "$work/out"

  sed -n 's/^SCR_API [a-z* ]*[ *]\(SCR_[A-Za-z_]*\)(.*/\1/p' scr.h | sort -u >"$work/calls"
  # exports NAMES OPTION...: an object of the library exports what the file NAMES lists, and nothing else
  exports() {
    $MPICC -O0 "${@:2}" -c -I. -o "$work/scr.o" scr_impl.c
    diff <(nm -g --defined-only "$work/scr.o" | awk '{print $3}' | sort) <(sort -u "$1") >"$work/out"
  }
  exports "$work/calls"
  report "the object exports the calls of scr.h and nothing else" "$work/out"
  sed -n 's/^ *subroutine \(scr_[a-z_]*\)(.*/\1/p' examples/fortran/scr.f90 |
    awk '{print; print $1 "_"; print $1 "__"; print toupper($1)}' | cat - "$work/calls" >"$work/names"
  exports "$work/names" -DSCR_WITH_FORTRAN
  report "with -DSCR_WITH_FORTRAN, it exports the subroutines of scr.f90 under four names too" "$work/out"

  must "gcc, no warning" gcc $mpi_flags $warn -I. -fsyntax-only scr_impl.c # what the optimiser sees is above and below
  must "clang, no warning" clang $mpi_flags $warn -I. -fsyntax-only scr_impl.c
  ! command -v tcc >/dev/null || must "tcc" tcc ${mpi_flags//-isystem /-I} -I. -c -o "$work/o" scr_impl.c
  must "C++17, the library" g++ $mpi_flags -std=c++17 -DSCR_WITH_FORTRAN -x c++ $level -Wall -Wextra -Wshadow -Werror -I. -c -o "$work/o" scr_impl.c
  echo '#include "scr.h"
  int main(void) { return SCR_SUCCESS; }' >"$work/h.cc"
  must "C++17, the header" g++ $mpi_flags -std=c++17 -Wall -Wextra -Werror -I. -c -o "$work/o" "$work/h.cc"
  must "C99 without extensions of the header" gcc $mpi_flags -std=c99 $warn -I. -x c -c -o "$work/o" "$work/h.cc"
  compilers="gcc clang g++ clang++" # what a careful program asks of each, as C99 or C++17, or as all that README names
  for compiler in $compilers; do
    case $mode$compiler in
    long*++) dialects="c++11 c++14 c++17 c++20 c++2b" ;; *++) dialects=c++17 ;;
    long*) dialects="c99 c11 c17 c2x" ;; *) dialects=c99 ;;
    esac
    for dialect in $dialects; do
      for macro in SCR_WITH_FORTRAN SCR_SERIAL; do
        must "$compiler, $dialect, -pedantic -Wcast-qual -Wformat=2, no warning, with -D$macro" $compiler $mpi_flags -std=$dialect \
          $(case $dialect in c++*) echo -x c++ ;; esac) -Wall -Wextra -pedantic -Wcast-qual -Wformat=2 -Werror -D$macro -I. -fsyntax-only scr_impl.c
      done
    done
  done
  grep -qF "| compilers | ${compilers// /, }: C99 to C23 and C++11 to C++23, without a warning |" README.md || echo "another list" >"$work/list"
  report "README names the compilers" "$work/list"
  for macro in SCR_SERIAL SCR_WITHOUT_REGIONS SCR_LOCK_BASES SCR_STATIC SCR_WITH_FORTRAN "SCR_WITH_FORTRAN -DSCR_FORTRAN_LEN=int" SCR_WITH_MYSQL; do
    case $macro in SCR_WITH_MYSQL) mysql=$(mariadb_config --include) ;; *) mysql= ;; esac
    must "with -D$macro alone" gcc $mpi_flags $mysql $warn -D$macro -I. -fsyntax-only scr_impl.c
  done
  for file in scr_impl.c tools/scr.c; do # what stands beside the parts for Linux is read by no other compiler here
    must "the portable parts of $file" gcc $mpi_flags -U__linux__ $warn -Wformat=2 -I. -DSCR_STATIC -fsyntax-only $file
  done
  if echo '#include <stdio.h>' | gcc -m32 -E - >/dev/null 2>&1; then
    must "32 bit" gcc $mpi_flags -m32 $warn -I. -fsyntax-only scr_impl.c
  else
    echo "note  32 bit: not tried, the headers are not installed"
  fi

  # optimised COMPILER OPTION: the library with a program, and the commands; what the compiler says goes to $work/COMPILER.
  # The optimiser warns only when it really compiles, and what it sees depends on what it inlines.
  optimised() {
    # shellcheck disable=SC2086
    {
      $1 $2 -Wall -Wextra -Werror -I. -o "$work/$1.out" examples/minimal.c scr_impl.c $mpi_link -lz -lpthread ||
        echo "scr_impl.c: exit status not 0"
      $1 $2 -Wall -Wextra -Werror -DTOOL_MANUAL -I. -o "$work/$1.out" tools/scr.c -lz || echo "tools/scr.c: exit status not 0"
    } >"$work/$1" 2>&1
  }
  make -s tools/manual/manual.inc
  mpi_link=$($MPICC -show | cut -d' ' -f2-)
  levels=(-O3)
  [ "$mode" != long ] || levels+=(-Ofast "-O2 -flto=auto")
  for option in "${levels[@]}"; do
    optimised gcc "$option" &
    optimised clang "$option" &
    wait
    for compiler in gcc clang; do report "$compiler $option, no warning in the library and the commands" "$work/$compiler"; done
  done

  must "the program writes its man pages" "$work/gcc.out" help --pages "$work/man"
  must "mandoc, no warning" mandoc -T lint -W warning "$work"/man/man*/*

  # Other processors, as far as their compilers are here: assembled too, for the kernels.  The headers of zlib are alike.
  mkdir "$work/zlib"
  echo '#include <zlib.h>' | $CC -M -x c - | tr ' ' '\n' | grep -E '/z(lib|conf)\.h$' | xargs -I{} cp {} "$work/zlib"
  for target in aarch64-linux-gnu s390x-linux-gnu i686-linux-gnu; do
    if echo '#include <stdio.h>' | "$target-gcc" -E - >/dev/null 2>&1; then
      must "$target, serial" "$target-gcc" $level $warn -DSCR_SERIAL -I. -isystem "$work/zlib" \
        -c -o "$work/o" scr_impl.c
      must "$target, the unit suites" "$target-gcc" $warn -I. -isystem "$work/zlib" -fsyntax-only tests/unit/unit.c
    else
      echo "note  $target: not tried, gcc-$target is not installed"
    fi
  done
  : >"$work/out"
  mkdir "$work/zlib/old"
  cp "$work/zlib/zconf.h" "$work/zlib/old"
  sed 's/\(define ZLIB_VERNUM\) .*/\1 0x1280/' "$work/zlib/zlib.h" >"$work/zlib/old/zlib.h"
  gcc -DSCR_SERIAL -I. -isystem "$work/zlib/old" -fsyntax-only scr_impl.c 2>"$work/err" && echo "it compiles" >"$work/out"
  grep -q 'error: #error .*zlib 1\.2\.9 or newer' "$work/err" || { echo "the compiler says:"; cat "$work/err"; } >>"$work/out"
  report "an older zlib is refused with a message" "$work/out"
}

# ---- the tree ----
tree() {
  # shellcheck disable=SC2086
  must "clang-format" clang-format --dry-run -Werror $sources
  for s in tests/*.sh tests/*/*.sh tests/cluster/vnodes .ci/run; do must "bash -n $s" bash -n "$s"; done
  must "sh -n examples/demo.sh" sh -n examples/demo.sh
  if $CC -I. -o "$work/table" tests/unit/params_table.c -lz 2>"$work/out" && "$work/table" >"$work/params"; then
    grep '^| SCR_' README.md | grep -vxFf "$work/params" >"$work/out"
  fi
  report "the parameters in README.md are as the source has them" "$work/out"
  git ls-files 2>/dev/null | grep -v '^tests/data/' | xargs grep -nE '[[:space:]]+$' -- 2>/dev/null | grep -v '^Binary' >"$work/out"
  report "no blanks at the end of a line" "$work/out"
  grep -nE '(^|[^_[:alnum:]])(strn?casecmp|toupper|tolower|isalpha|isalnum|strtod|atof) *\(' scr_impl.c >"$work/out"
  report "letters and numbers are read without the locale of the program" "$work/out"
  git ls-files 2>/dev/null | grep -vE '^tests/(data|fuzz/corpus)/' | LC_ALL=C xargs grep -alP '[\x00-\x08\x0e-\x1f]' -- >"$work/out" 2>/dev/null
  report "no control characters: tools take such a file for binary" "$work/out"
  awk 'length > (FILENAME ~ /\.(f|inc)$|scrf\.h$/ ? 72 : 120) {print FILENAME ":" FNR ": " length " columns"}' \
    $sources */fortran/*.[fhi]* */python/*.py >"$work/out"
  report "no line is longer than 120 columns, in fixed form 72" "$work/out"
  git ls-files 2>/dev/null | xargs grep -InE "(^|[^[:alnum:]_.}])($PWD|${HOME:-/root})/" -- 2>/dev/null >"$work/out"
  report "no path of this machine" "$work/out"
  git ls-files 2>/dev/null | cut -d/ -f1 | sort -u | grep -vxE 'scr\.h|scr_impl\.c|tools|tests|examples|Makefile|LICENSE|README\.md|\..*' >"$work/out"
  report "nothing else at the top level" "$work/out"
}

# lane FUNCTION...: run these, in a directory of their own; what passed and failed goes to $work/FUNCTION.sum
lane() {
  (
    sum=$work/$1.sum work=$work/$1
    mkdir "$work"
    for section in "$@"; do "$section"; done
    echo "$passed $failed $skipped" >"$sum"
  )
}
lane compilers >"$work/said" &
lane one_file suites tree
wait
cat "$work/said"
if [ "$mode" = long ]; then
  report "cppcheck, the library" "$work/library.check"
  report "cppcheck, the commands" "$work/commands.check"
fi
for section in compilers one_file; do
  read -r p f s <"$work/$section.sum" || { echo "FAIL  $section: it did not come to its end"; p=0 f=1 s=0; }
  passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
done
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
