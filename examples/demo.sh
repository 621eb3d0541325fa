#!/bin/sh
# demo.sh - a run of heat2d is killed in the middle of a checkpoint, loses a node, and still ends with the same answer.
#
#   sh demo.sh [PATH OF heat2d]        (default: beside this script)
#
# One machine plays four nodes (SCR_VIRTUAL_NODES).  Nothing is copied to the parallel file system (SCR_FLUSH=0): only
# the XOR parity in the cache can bring the lost node back.  MPIEXEC is the launcher (default mpiexec).
# Exit code: 0 both answers are equal, 1 they differ or a run failed.
set -u

heat=${1:-$(dirname "$0")/heat2d}
mpiexec=${MPIEXEC:-mpiexec}
options="--nx 2048 --ny 2048 --steps 600 --interval 100"
kill_at=350
limit=60 # seconds that a run may take; it needs five
pid=
dir=

clean_up() {
  if [ -n "$pid" ]; then # a signal came while a run was going on
    kill "$pid" 2>/dev/null
    wait "$pid" 2>/dev/null
  fi
  if [ -n "$dir" ]; then rm -rf "$dir"; fi
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

say() { printf '%s\n' "$*"; }
size() { du -sh "$1" | awk '{ print $1 }'; }
fail() {
  say "demo: $1" >&2
  if [ -n "${2:-}" ]; then sed 's/^/  | /' "$2" >&2; fi
  exit 1
}

# run PREFIX LOG OPTIONS...: start heat2d on 4 ranks in PREFIX; its exit code in $rc, its words on the screen.
run() {
  where=$1
  log=$2
  shift 2
  # In the background, so that a signal to this script is served at once.  $mpiexec may hold options.
  # shellcheck disable=SC2086
  (cd "$where" && SCR_PREFIX=$where exec timeout -k 5 "$limit" $mpiexec -n 4 "$heat" "$@") >"$log" 2>&1 &
  pid=$!
  wait "$pid"
  rc=$?
  pid=
  grep -E '^(heat2d|SCR [a-z]*): ' "$log" | sed 's/^heat2d: //; s/^/     /'
}

# The CRC32 that a run printed.
answer() { sed -n 's/^heat2d: step .* crc32 \(0x[0-9a-f]*\) .*/\1/p' "$1"; }

[ -x "$heat" ] || fail "there is no program $heat; run make first"
heat=$(cd "$(dirname "$heat")" && pwd)/$(basename "$heat")

# Settings of the user's own runs would change the story.
for name in $(env | sed -n 's/^\(SCR_[A-Z_]*\)=.*/\1/p'); do
  case $name in SCR_DEBUG) ;; *) unset "$name" ;; esac
done

# Open MPI wants to be told that root and more ranks than cores are meant.
# shellcheck disable=SC2086
case $($mpiexec --version 2>&1) in
*"Open MPI"* | *OpenRTE* | *PRRTE*)
  mpiexec="$mpiexec --oversubscribe"
  if [ "$(id -u)" = 0 ]; then mpiexec="$mpiexec --allow-run-as-root"; fi
  ;;
esac

began=$(date +%s)
dir=$(mktemp -d "${TMPDIR:-/tmp}/scr-demo.XXXXXX") || fail "cannot make a scratch directory"
dir=$(cd "$dir" && pwd -P) # the library compares true paths
mkdir "$dir/prefix" "$dir/calm" "$dir/cntl" "$dir/cache"
export SCR_CNTL_BASE="$dir/cntl" SCR_CACHE_BASE="$dir/cache"
export SCR_VIRTUAL_NODES=4 SCR_COPY_TYPE=XOR SCR_FLUSH=0
export SCR_JOB_ID="demo$$"

say "1. heat2d on 4 ranks, one on each of 4 virtual nodes; it will be killed in the checkpoint of step $kill_at"
# shellcheck disable=SC2086
run "$dir/prefix" "$dir/log" $options --kill-at "$kill_at"
[ "$rc" -ne 0 ] || fail "the run should have been killed" "$dir/log"
[ "$rc" -ne 124 ] || fail "the run hung" "$dir/log"
grep -q 'half of each checkpoint file is written' "$dir/log" || fail "the run died in another way" "$dir/log"

say "2. a node dies: everything on it is deleted"
lost=
for node in "$dir"/cache/*/"scr.$SCR_JOB_ID"/node.*; do
  [ -d "$node" ] || fail "the cache holds no node directory" "$dir/log"
  mark=kept
  case $node in *-v1) mark=LOST lost=$node ;; esac
  say "     $(size "$node")  $(basename "$node")  $mark"
done
[ -n "$lost" ] || fail "the cache has no node v1" "$dir/log"
rm -rf "$lost" "$dir"/cntl/*/"scr.$SCR_JOB_ID/$(basename "$lost")"
if [ -e "$dir/prefix/heat.$kill_at" ]; then fail "a checkpoint is on the prefix"; fi

say "3. the same command again: the lost files are rebuilt from the XOR parity of the other nodes"
# shellcheck disable=SC2086
run "$dir/prefix" "$dir/log" $options
[ "$rc" -eq 0 ] || fail "the restarted run failed with code $rc" "$dir/log"
grep -q 'restarted from' "$dir/log" || fail "the run did not restart from a checkpoint" "$dir/log"
[ -d "$lost" ] || fail "node $(basename "$lost") was not rebuilt" "$dir/log"
say "     $(size "$lost")  $(basename "$lost")  is whole again"
broken=$(answer "$dir/log")

say "4. the same problem, undisturbed"
rm -rf "$dir"/cntl/* "$dir"/cache/*
export SCR_JOB_ID="demo$$.calm"
# shellcheck disable=SC2086
run "$dir/calm" "$dir/log" $options
[ "$rc" -eq 0 ] || fail "the undisturbed run failed with code $rc" "$dir/log"
calm=$(answer "$dir/log")

say "5. CRC32 of the field after a kill and a lost node: ${broken:-none}"
say "   CRC32 of the field of the undisturbed run:       ${calm:-none}"
if [ -z "$calm" ] || [ "$broken" != "$calm" ]; then fail "the answers differ"; fi
say "   equal; the demo took $(($(date +%s) - began)) s"
