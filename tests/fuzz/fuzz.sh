#!/bin/bash
# fuzz.sh [check|long] - hostile bytes for all that reads a file, by libFuzzer with AddressSanitizer and
# UndefinedBehaviorSanitizer: the corpus once with check, FUZZ_SECONDS (60) of new inputs with long.  An input that
# fails is kept in tests/fuzz/, and printed.  Last line: N passed, N failed, N skipped.
set -u
cd "$(dirname "$0")/../.." || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
if ! clang -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined -I. tests/fuzz/fuzz.c -lz \
  -o "$work/fuzz" 2>"$work/log"; then
  if echo 'int LLVMFuzzerTestOneInput(void); int LLVMFuzzerTestOneInput(void) { return 0; }' |
    clang -x c -fsanitize=fuzzer,address - -o "$work/probe" 2>/dev/null; then
    cat "$work/log"
    echo "0 passed, 1 failed, 0 skipped"
    exit 1
  fi
  echo "skipped: clang has no libFuzzer here (Debian: libclang-rt-dev)"
  echo "0 passed, 0 failed, 1 skipped"
  exit 0
fi
mkdir "$work/new"
set -- "${1:-long}"
limit=-max_total_time=${FUZZ_SECONDS:-60}
[ "$1" = long ] || limit=-runs=0
if "$work/fuzz" "$limit" -close_fd_mask=2 -max_len=8192 -rss_limit_mb=2048 -artifact_prefix=tests/fuzz/ "$work/new" \
  tests/fuzz/corpus >"$work/log" 2>&1; then
  grep -E '^Done|INITED' "$work/log" | tail -n 1
  echo "1 passed, 0 failed, 0 skipped"
else
  tail -n 60 "$work/log"
  echo "0 passed, 1 failed, 0 skipped"
  exit 1
fi
