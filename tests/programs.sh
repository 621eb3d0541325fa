# shellcheck shell=bash disable=SC2034,SC2154
# programs.sh - for the suites that read it, which build programs in a directory of their own, kill them and start others
# in their place.  It makes that directory and enters it, and sets MPICC and MPIEXEC, `mode`, and the counts passed, failed
# and skipped.  They have set `top`; `limit` is the seconds of a run.
. "$top/tests/find_mpi.sh"
# shellcheck disable=SC2086
unset ${!SCR_@} # settings of the user
suite=$(basename "$0" .sh)
work=$(mktemp -d "${TMPDIR:-/tmp}/scr-$suite.XXXXXX") || exit 1
work=$(cd "$work" && pwd -P)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
cp "$top/scr.h" "$top/scr_impl.c" .
passed=0 failed=0 skipped=0 limit=60
mode=${1:-check}
export SCR_CNTL_BASE=$work/base SCR_CACHE_BASE=$work/base SCR_JOB_ID=$suite SCR_CONF_FILE=/dev/null

ok() { # NAME
  echo "ok $1"
  passed=$((passed + 1))
}
bad() { # NAME WHY: and the log
  echo "FAILED $1: $2"
  tail -n 30 log
  failed=$((failed + 1))
}
fresh() {
  rm -rf base prefix
  mkdir base prefix
}
# shellcheck disable=SC2086
run() { # RANKS PROGRAM ARGUMENTS...: in the directory prefix, with what it prints in log; a virtual node for each rank
  (cd prefix && SCR_VIRTUAL_NODES=$1 timeout -k 5 "$limit" $MPIEXEC -n "$1" "../$2" "${@:3}") >log 2>&1 </dev/null
}

# case_of PROGRAM RANKS PART: the program says that this part of it is right, as is_right finds in the log
is_right() { grep -q "^$1: all is right" log && ! grep -q '^FAULT' log; } # PART RANKS
case_of() {
  if run "$2" "$1" "$3" && is_right "$3" "$2"; then ok "$1, $3 on $2 ranks"
  else
    grep -v '^SCR' log >faults
    mv faults log
    bad "$1, $3 on $2 ranks" "something else happens"
  fi
}
# unseen COMMAND...: the library does not see that a file is damaged, only who reads it does
unseen() { SCR_CRC_ON_COPY=0 SCR_COPY_TYPE=SINGLE "$@"; }
halted() { grep -aq SCR_FINALIZE_CALLED prefix/.scr/halt.scr; } # whether the halt file says that the run is done
damage() { # FILE: in its middle
  [ -f "$1" ] || { bad "a damaged file" "there is no $1"; return; }
  printf 'damaged' | dd of="$1" bs=1 seek=$(($(wc -c <"$1") / 2)) conv=notrunc 2>/dev/null
}
lose() { # N: the cache of virtual node N is gone, whose directory is `lost`
  lost=$(echo base/*/scr."$SCR_JOB_ID"/node.*-v"$1")
  [ -d "$lost" ] || { bad "a lost node" "there is no $lost"; return 1; }
  rm -rf "$lost"
}

jobs=()
# build PROGRAM COMMAND...: in the background; the command may say nothing
build() {
  { "${@:2}" -o "$1" >"$1.log" 2>&1 && [ ! -s "$1.log" ]; } &
  jobs+=("$! $1")
}
built() {
  local job
  for job in "${jobs[@]}"; do
    wait "${job% *}" && continue
    head -n 30 "${job#* }.log"
    echo "$(basename "$0" .sh): ${job#* } does not build without warnings"
    echo "$passed passed, $((failed + 1)) failed, $skipped skipped"
    exit 1
  done
  jobs=()
}

# The solvers: how one tells its answer, which is the same whichever computes it, and the answer, after `computes`.
answer() { sed -n 's/^heat2d: step .* crc32 \(0x[0-9a-fA-F]*\) .*/\1/p' log | tr A-F a-f; }
computes() { # PROGRAM ARGUMENTS...: undisturbed, on 4 ranks
  fresh
  run 4 "$@"
  calm=$(answer)
  [ -n "$calm" ] || bad "$1" "no answer"
}
# survives NAME FIRST KILLED NEXT RESTARTED: FIRST, a program with arguments, is killed, as KILLED in its log says, and
# loses a node; NEXT says RESTARTED and has the answer
survives() {
  fresh
  # shellcheck disable=SC2086
  if run 4 $2 || ! grep -q "$3" log; then
    bad "$1" "the first is not killed"
    return
  fi
  lose 1 || return
  # shellcheck disable=SC2086
  if run 4 $4 && grep -q "$5" log && [ "$(answer)" = "$calm" ] && [ -d "$lost" ]; then ok "$1"
  else bad "$1" "it does not restart with the same answer, $calm"; fi
}

# The heat solvers of the examples, and their options.
options="--nx 96 --ny 64 --steps 60 --interval 20"
continues() { # PROGRAM OTHER: the first is killed in a checkpoint, and a node is lost; the other goes on to the answer
  survives "$1 is killed, a node is lost, $2 goes on" "$1 $options --kill-at 50" 'step 50: .*SIGKILL to every rank' \
    "$2 $options" 'restarted from heat.40, at step 40'
}
# shellcheck disable=SC2086
reads_last() { # PROGRAM OTHER: nothing is left to do for it; it reads the last checkpoint of the other
  run 4 "$1" $options
  if grep -q 'restarted from heat.60' log && [ "$(answer)" = "$calm" ]; then ok "$1 reads the last checkpoint of $2"
  else bad "$1" "it does not read the last checkpoint of $2"; fi
}
# shellcheck disable=SC2086
undisturbed() { # PROGRAM RANKS
  fresh
  run "$2" "$1" $options
  if [ "$(answer)" = "$calm" ]; then ok "$1 on $2 ranks, undisturbed"; else bad "$1 on $2 ranks" "another answer than $calm"; fi
}
# shellcheck disable=SC2086
refuses_damage() { # PROGRAM: one rank cannot read its file, and all take the older checkpoint
  unseen undisturbed "$1" 4
  damage "$(echo base/*/scr."$SCR_JOB_ID"/node.*/scr.dataset.3/heat.60/rank_2.heat)"
  if unseen run 4 "$1" $options && grep -q 'heat.60 cannot be used: it is damaged' log &&
    grep -q 'restarted from heat.40' log && [ "$(answer)" = "$calm" ]; then ok "$1: a damaged file is refused, and the older checkpoint taken"
  else bad "$1" "a damaged file is not refused, or the older checkpoint not taken"; fi
}
refuses_option() { # PROGRAM RANKS
  run "$2" "$1" --steps -3
  if grep -q 'bad value for it: -3' log; then ok "$1: a wrong option"; else bad "$1" "a wrong option is not refused"; fi
}
