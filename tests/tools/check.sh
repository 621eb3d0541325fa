# shellcheck shell=sh disable=SC2034
# check.sh - for the scripts beside it: a directory $tmp for their files, checks of commands, and their count.
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
passed=0 failed=0 skipped=0
# What programs link with: the library that is built, or else its source.
library=$top/scr_impl.c
[ ! "$top/libscr.a" -nt "$library" ] || library=$top/libscr.a

# From now on MPI's waits yield (see yield.c): the ranks of a job share cores here.
yields() {
  ${CC:-cc} -O2 -shared -fPIC -o "$tmp/yield.so" "$top/tests/cluster/yield.c" -ldl 2>/dev/null || return 0
  export LD_PRELOAD="$tmp/yield.so"
}

# check WHAT WANTED-EXIT WANTED-OUTPUT COMMAND...   (WANTED-OUTPUT - : not looked at)
check() {
  what=$1 want=$2 text=$3
  shift 3
  out=$("$@" 2>"$tmp/stderr")
  got=$?
  if [ "$got" -eq "$want" ] && { [ "$text" = - ] || [ "$out" = "$text" ]; }; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf 'FAILED: %s\n  command: %s\n  exit %s, wanted %s; output:\n%s\n' "$what" "$*" "$got" "$want" "$out"
    [ "$text" = - ] || printf '  wanted:\n%s\n' "$text"
    sed 's/^/  stderr: /' "$tmp/stderr"
  fi
}

# says WHAT WANTED-EXIT PATTERN COMMAND...   PATTERN is in the output or on stderr
says() {
  what=$1 want=$2 pattern=$3
  shift 3
  "$@" >"$tmp/out" 2>&1
  got=$?
  if [ "$got" -eq "$want" ] && grep -q -e "$pattern" "$tmp/out"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf 'FAILED: %s\n  command: %s\n  exit %s, wanted %s, and the pattern "%s" in:\n' "$what" "$*" "$got" "$want" "$pattern"
    sed 's/^/    /' "$tmp/out"
  fi
}

# The last line, and the exit code.
finish() {
  echo "$passed passed, $failed failed, $skipped skipped"
  [ "$failed" -eq 0 ]
}
# skip WHY: nothing here can be tried.
skip() { skipped=1; echo "skipped: $*"; finish; exit; }
