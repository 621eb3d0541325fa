#!/bin/bash
# smoke.sh check|full|long - the bench runs on little data, and leaves nothing.  Last line: N passed, N failed, N skipped.
set -u
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
T=$(mktemp -d "${TMPDIR:-/tmp}/scr-smoke.XXXXXX") || exit 1
trap 'rm -rf "$T"' EXIT
trap 'exit 130' INT TERM HUP
passed=0 failed=0 skipped=0
export BENCH_DIR=$T/store BENCH_LIMIT=60
mkdir "$BENCH_DIR"
if [ "$top/libscr.a" -nt "$top/scr_impl.c" ]; then export SCR_LIB=$top/libscr.a; fi

# must NAME COMMAND...: passed when the command succeeds
must() {
  local name=$1
  shift
  if "$@" >"$T/log" 2>&1; then passed=$((passed + 1)); else
    failed=$((failed + 1))
    echo "FAIL $name"
    tail -n 20 "$T/log" | sed 's/^/    /'
  fi
}
run() { # OUTPUT [--image] ARGUMENTS...
  local out=$1 image=()
  shift
  [ "${1:-}" != --image ] || { image=(--image); shift; }
  sh "$here/bench.sh" "${image[@]}" --mib 1 --runs 1 "$@" >"$out"
}
refuses() { ! sh "$here/bench.sh" "$@"; }

must "text" run "$T/text"
must "the table has every step" test "$(grep -cE '^[A-Z][A-Za-z0-9(), ]*: |^memcpy|^application|Init' "$T/text")" -ge 18
must "--json" run "$T/json" --json
if command -v python3 >/dev/null; then must "it is JSON" python3 -m json.tool "$T/json"; else
  skipped=$((skipped + 1))
  echo "skipped: is it JSON: no python3"
fi
must "two ranks on two nodes" env RANKS=2 NODES=2 sh "$here/bench.sh" --mib 1 --runs 1
must "a wrong argument is refused" refuses --mib 0
if [ -e "$top/scr_image.o" ]; then
  must "what images cost" run "$T/image" --image
  must "its table has every step" test "$(grep -cE '^[A-Z0-9a-z].* [0-9]+ +[0-9]+ +[0-9.]+$' "$T/image")" = 10
  must "a wrong argument of --image is refused" refuses --image --runs none
fi
must "nothing is left" test -z "$(ls -A "$BENCH_DIR")"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
