#!/bin/sh
# demo_image.sh - a program that knows nothing of checkpoints is killed, loses a node, and ends with the same answer.
#
#   sh demo_image.sh OBJECT        (scr_image.o, which `make demo-image` builds)
#
# MPICC and MPIEXEC are those of MPICH.  One machine plays four nodes (SCR_VIRTUAL_NODES), and nothing is copied to the
# parallel file system (SCR_FLUSH=0).  Exit code: 0 both answers are equal, 1 they differ or a run failed.
set -u

object=${1:?usage: demo_image.sh OBJECT}
here=$(cd "$(dirname "$0")" && pwd)
mpicc=${MPICC:-mpicc} mpiexec=${MPIEXEC:-mpiexec}
limit=${DEMO_LIMIT:-120} # seconds that a run may take; it needs some
pid=
for name in $(env | sed -n 's/^\(SCR_[A-Z_]*\)=.*/\1/p'); do
  unset "$name"
done
dir=$(mktemp -d "${TMPDIR:-/tmp}/scr-demo.XXXXXX") || exit 1
trap '[ -z "$pid" ] || kill "$pid" 2>/dev/null; rm -rf "$dir"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
mkdir "$dir/prefix" "$dir/node"
export SCR_PREFIX="$dir/prefix" SCR_CNTL_BASE="$dir/node" SCR_CACHE_BASE="$dir/node" SCR_JOB_ID="demo$$"
export SCR_VIRTUAL_NODES=4 SCR_FLUSH=0 SCR_CHECKPOINT_SECONDS=1 SCR_DEBUG=1

say() { printf '%s\n' "$*"; }
fail() {
  say "demo: $1" >&2
  tail -n 30 "$dir/log" | sed 's/^/  | /' >&2
  exit 1
}
# run: start the program in the background
# shellcheck disable=SC2086
run() { timeout -k 5 "$limit" $mpiexec -n 4 "$dir/heat_plain" 1536 1500 >"$dir/log" 2>&1 & pid=$!; }
# over: the run has ended; its exit code in $rc, its words on the screen
over() {
  wait "$pid"
  rc=$?
  pid=
  grep -E '^(heat|scr_image): ' "$dir/log" | sed 's/^/     /'
}
answer() { sed -n 's/^heat: heat //p' "$dir/log"; }

say "1. mpicc heat_plain.c scr_image.o: the source has no checkpoints in it"
# shellcheck disable=SC2086
$mpicc -O2 -o "$dir/heat_plain" "$here/heat_plain.c" "$object" >"$dir/log" 2>&1 || fail "it does not compile"

say "2. it runs on 4 ranks, one on each of 4 virtual nodes, with an image each second; when there is one, it is killed"
run
waited=0
until grep -q 'image\.1 is complete' "$dir/log"; do
  sleep 0.1
  waited=$((waited + 1))
  [ $waited -lt $((limit * 10)) ] || fail "there is no image"
done
pkill -KILL -f "$dir/heat_plain" # its path is this run's alone
over
[ "$rc" -ne 0 ] || fail "the run should have been killed"

say "3. a node dies: everything on it is deleted"
rm -rf "$dir"/node/*/"scr.$SCR_JOB_ID"/node.*-v1

say "4. the same command again, with an image each half minute"
export SCR_CHECKPOINT_SECONDS=30
run
over
[ "$rc" -eq 0 ] || fail "the run that was started again failed with code $rc"
grep -q 'restarted from image' "$dir/log" || fail "it did not restart from an image"
broken=$(answer)

say "5. the same program, undisturbed and without images (SCR_IMAGE=0)"
SCR_IMAGE=0 run
over
[ "$rc" -eq 0 ] || fail "the undisturbed run failed with code $rc"
say "   killed:      ${broken:-none}"
say "   undisturbed: $(answer)"
[ -n "$broken" ] && [ "$broken" = "$(answer)" ] || fail "the answers differ"
say "   equal"
