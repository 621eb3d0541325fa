#!/bin/bash
# sanitize.sh - unit, command, MPI, Fortran and cluster suites under ASan and UBSan, asynchronous flushes under TSan.
# Last line: N passed, N failed, N skipped.
set -u
cd "$(dirname "$0")/.." || exit 1
export SCR_TEST_CFLAGS="-g -O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0 skipped=0
run() { # name, seconds, command...
  local name=$1 limit=$2 line p f s rc
  shift 2
  timeout -k 10 "$limit" "$@" >"$work/log" 2>&1 </dev/null
  rc=$?
  line=$(grep -E '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' "$work/log" | tail -n 1)
  read -r p _ f _ s _ <<<"${line//,/}"
  [ -n "$line" ] || f=1
  [ "$rc" = 0 ] || [ "${f:-0}" != 0 ] || f=1
  echo "$name: ${line:-no result}"
  [ "${f:-0}" = 0 ] || tail -n 100 "$work/log" | sed 's/^/    /'
  passed=$((passed + ${p:-0})) failed=$((failed + ${f:-0})) skipped=$((skipped + ${s:-0}))
}
# shellcheck disable=SC2086
${CC:-cc} $SCR_TEST_CFLAGS -I. -o "$work/unit" tests/unit/unit.c -lz || exit 1
# shellcheck disable=SC2086
make -s tools/manual/manual.inc && ${CC:-cc} $SCR_TEST_CFLAGS -DTOOL_MANUAL -I. -o "$work/scr" tools/scr.c -lz || exit 1
for c in $("$work/scr" help | sed -n 's/^  \([a-z_0-9]*\)  .*/\1/p'); do ln -s scr "$work/scr_$c"; done
TEST_FULL=1 run unit 300 "$work/unit"
BIN=$work run tools 240 tests/tools/tools.sh full
BIN=$work run job 240 tests/tools/job.sh full
# MPI keeps memory until the process ends, and the tests preload a library before the sanitizer's.
export TEST_LIMIT=300 ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0
run mpi 3300 tests/mpi/mpi.sh full
run fortran 600 tests/fortran/fortran.sh full
BIN=$work run version 300 tests/version/version.sh full
run cluster 1500 tests/cluster/cluster.sh full
# The copies of a flush under TSan, which stands neither the hooks of UCX into mmap nor addresses at random.
export SCR_TEST_CFLAGS="-g -O1 -fsanitize=thread" UCX_MEM_EVENTS=n UCX_MEM_MMAP_HOOK_MODE=none TSAN_OPTIONS=exitcode=66
run threads 900 setarch -R tests/mpi/mpi.sh full behind_the_application several_flushes several_threads by_name_wait \
  is_told_and_made
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
