# shellcheck shell=bash disable=SC2154
# programs.sh - for the suites that read it, which build programs in a directory of their own, kill them and start others
# in their place.  They have set MPIEXEC, SCR_JOB_ID, `limit`, the seconds of a run, and the counts passed, failed, skipped.

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

# The heat solvers: their options, and the CRC32 of the result, which is the same whichever of them computes it.
options="--nx 96 --ny 64 --steps 60 --interval 20"
answer() { sed -n 's/^heat2d: step .* crc32 \(0x[0-9a-fA-F]*\) .*/\1/p' log | tr A-F a-f; }
continues() { # PROGRAM OTHER: the first is killed in a checkpoint, and a node is lost; the other goes on to the answer $calm
  local name="$1 is killed, a node is lost, $2 goes on" lost
  fresh
  # shellcheck disable=SC2086
  if run 4 "$1" $options --kill-at 50 || ! grep -q 'step 50: .*SIGKILL to every rank' log; then
    bad "$name" "the first is not killed"
    return
  fi
  lost=$(echo base/*/scr."$SCR_JOB_ID"/node.*-v1)
  [ -d "$lost" ] || { bad "$name" "no node can be lost"; return; }
  rm -rf "$lost"
  # shellcheck disable=SC2086
  if run 4 "$2" $options && grep -q 'restarted from heat.40, at step 40' log && [ "$(answer)" = "$calm" ] && [ -d "$lost" ]; then ok "$name"
  else bad "$name" "it does not restart with the same answer, $calm"; fi
}
