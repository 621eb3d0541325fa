#!/bin/bash
# A redundancy scheme is a row: a scheme with two copies, on the next two nodes, is added to a copy of the sources, and
# protects, rebuilds and is scavenged after every loss of two nodes of five, as SCR_SCHEME_ROWS promises.
# shellcheck disable=SC2016,SC2086
# scheme.sh [check|long]      last line: N passed, N failed, N skipped
set -u
cd "$(dirname "$0")/../.." || exit 1
top=$PWD
. tests/tools/check.sh
. tests/find_mpi.sh
row='  X(TWINS, "twins", COPY, 2, 0)'
mkdir "$tmp/src" && cp -r scr.h scr_impl.c tools examples "$tmp/src"
sed -i "s/^  X(RS, \"rs\", FACTORS, INT_MAX, 256)\$/& \\\\\\n$row/" "$tmp/src/scr_impl.c"
check "one line is added" 0 1 sh -c 'diff scr_impl.c "$1" | grep -c TWINS' sh "$tmp/src/scr_impl.c"
level=-O0
[ "${1:-}" != long ] || level=-O1
check "the library builds" 0 - $MPICC $level -I"$tmp/src" -o "$tmp/heat" examples/heat2d.c "$tmp/src/scr_impl.c" -lz -lpthread
check "the commands build" 0 - "${CC:-cc}" $level -I"$tmp/src" -o "$tmp/scr" "$tmp/src/tools/scr.c" -lz
ln -s scr "$tmp/scr_scavenge" && ln -s scr "$tmp/scr_copy"
export "SCR_PREFIX=$tmp/p" "SCR_CNTL_BASE=$tmp/base" "SCR_CACHE_BASE=$tmp/base" SCR_USER_NAME=me SCR_JOB_ID=7 SCR_FLUSH=0
export SCR_VIRTUAL_NODES=5 SCR_COPY_TYPE=TWINS SCR_CACHE_SIZE=9
node=$tmp/base/me/scr.7/node.$(hostname)-v
run() { mkdir -p "$tmp/p" && (cd "$tmp/p" && timeout -k 5 100 $MPIEXEC -n 5 "$tmp/heat" --nx 60 --ny 61 --interval 100 "$@") >"$tmp/log" 2>&1; }
answer() { sed -n 's/^heat2d: step .* crc32 \(0x[0-9a-f]*\) .*/\1/p' "$tmp/log"; }
lose() { rm -rf "$tmp/p" "$tmp/base" && cp -a "$tmp/kept/." "$tmp" && for n in "$@"; do rm -rf "$node$n"; done; }
same() { for n in 0 1 2 3 4; do diff -r "$tmp/kept/${node#"$tmp"/}$n/scr.dataset.3" "$node$n/scr.dataset.3" || return; done; }

SCR_FLUSH=1 run --steps 600
calm=$(answer)
check "an undisturbed run" 0 - test -n "$calm"
mv "$tmp/p" "$tmp/calm" && rm -rf "$tmp/base"
run --steps 600 --kill-at 350
mkdir "$tmp/kept" && cp -a "$tmp/p" "$tmp/base" "$tmp/kept"
check "each node holds its own files and two copies" 0 5 sh -c 'ls "$1"*/scr.dataset.3/.scr/*_of_5_in_0.twins | wc -l' sh "$node"
pairs=("0 1" "2 4" "4 0" "1 4")
[ "${1:-}" != long ] || pairs=("0 1" "0 2" "0 3" "0 4" "1 2" "1 3" "1 4" "2 3" "2 4" "3 4")
for pair in "${pairs[@]}"; do
  # shellcheck disable=SC2086
  lose $pair
  run --steps 600
  check "without the nodes $pair: the answer" 0 "$calm" answer
  says "without the nodes $pair: the checkpoint" 0 "restarted from heat.300" cat "$tmp/log"
  check "without the nodes $pair: every file, and every copy, is there again" 0 "" same
done
for pair in "1 2" "4 0"; do
  # shellcheck disable=SC2086
  lose $pair
  says "scavenge without the nodes $pair" 0 "dataset 3 is in" "$tmp/scr_scavenge"
  check "scavenge without the nodes $pair: bytes" 0 "" diff -r -x .scr "$tmp/calm/heat.300" "$tmp/p/heat.300"
done
lose 1 2 3
says "three neighbours are too many" 1 "the files of 1 of these ranks would have been enough" "$tmp/scr_scavenge"
run --steps 600
says "three neighbours are too many for a restart" 0 "the files of 3 of the 5 ranks that wrote it are lost" cat "$tmp/log"
finish
