#!/bin/bash
# sim.sh [check|full|long] - run simulated jobs.  Last line, where there is a mode: N passed, N failed, N skipped.
#   From the environment, as `make sim` sets it: SEEDS=N runs the seeds 1 to N (above 5000 on all cores; what is
#   done already, in tests/sim/build/night, stays); SEED=N one, TRACE=1 with all messages,
#   TRACE=2 with all calls, AT=CALL in gdb, which stops there; ARGS has more for the program.
set -u
cd "$(dirname "$0")/../.." || exit 1
sim=tests/sim/build/sim
passed=0 failed=0

if [ "$(uname -m)" != x86_64 ]; then
  echo "skipped: the simulator changes stacks, and knows how on x86_64 only"
  echo "0 passed, 0 failed, 1 skipped"
  exit 0
fi
# case NAME ARGUMENTS...: passed when the simulator finds nothing
run() {
  local name=$1 out
  shift
  if out=$($sim "$@" 2>&1); then
    echo "ok    $name: $(tail -n 1 <<<"$out")"
    passed=$((passed + 1))
  else
    echo "FAIL  $name"
    echo "$out"
    failed=$((failed + 1))
  fi
}
if [ -n "${SEED:-}" ]; then
  trace=
  [ "${TRACE:-0}" = 0 ] || trace=v
  [ "${TRACE:-0}" != 2 ] || trace=trace
  # shellcheck disable=SC2086
  [ -z "${AT:-}" ] || exec gdb -q -ex run --args $sim seed="$SEED" at="$AT" $trace ${ARGS:-}
  # shellcheck disable=SC2086
  exec $sim seed="$SEED" $trace ${ARGS:-}
fi
# Many seeds: by the thousand, on all cores; what is done is not done again when this is called again.
if [ $# = 0 ] && [ "${SEEDS:-400}" -gt 5000 ]; then
  night=tests/sim/build/night
  mkdir -p $night
  find $night -type f ! -newer $sim -delete # another simulator said that
  for from in $(seq 1 1000 "$SEEDS"); do [ -s "$night/$from" ] || echo "$from"; done |
    xargs -P "$(nproc)" -I{} sh -c "nice $sim from={} seeds=1000 all >$night/{}.part 2>&1; mv $night/{}.part $night/{}"
  grep -h -A9 '^seed .* fails' $night/* | head -n 200
  cat $night/* | awk '/ seeds, .* failed/ { n += $1; bad += $3; lives += $5 }
    /^rare branches:/ { for (i = 3; i < NF - 2; i += 2) times[$i] += $(i + 1) }
    END { for (i in times) print i, times[i]; print n " seeds, " bad " failed; " lives " lifetimes"; exit bad != 0 }'
  exit
fi
if [ $# = 0 ]; then
  # shellcheck disable=SC2086
  exec $sim seeds="${SEEDS:-400}" ${ARGS:-}
fi

mode=$1
# model NAME DIRECTORY: the model of file systems answers as the one that has DIRECTORY does
model() {
  mkdir -p "$2"
  run "the model of file systems answers as $1 does" model="$2" seeds=$([ "$mode" = check ] && echo 10 || echo 30)
}
# mounted KIND: the same with a file system of KIND in a file, where that can be mounted
mounted() {
  local dir=$work/$1
  mkdir -p "$dir"
  if command -v "mkfs.$1" >/dev/null && truncate -s 320M "$work/$1.img" && "mkfs.$1" -q "$work/$1.img" &&
    mount -o loop "$work/$1.img" "$dir"; then
    model "$1" "$dir/t"
    umount "$dir"
  else
    echo "note  $1 cannot be mounted here; the model is not compared with it"
  fi 2>/dev/null
}
work=$(TMPDIR=/var/tmp mktemp -d) # on a disk
trap 'rm -rf "$work"' EXIT
model "that of $work" "$work/t"
[ ! -w /dev/shm ] || { shm=$(mktemp -d /dev/shm/scr_sim.XXXXXX) && model tmpfs "$shm" && rm -rf "$shm"; }
mounted ext4
mounted xfs
mounted btrfs

# Every seed that ever failed: one a line, with overrides, and why after #.
while read -r line; do
  line=${line%%#*}
  [ -n "${line// /}" ] || continue
  # shellcheck disable=SC2086
  run "seed $line" seed=$line
done <tests/sim/seeds.txt
case $mode in check) seeds=120 ;; full) seeds=400 ;; *) seeds=20000 ;; esac
from=1
run "jobs with kills, lost nodes, power cuts and faults keep their checkpoints" from=$from seeds=$seeds
if [ "${CI:-}" = 1 ]; then # other seeds for each commit
  from=$((0x$(git rev-parse --short=8 HEAD 2>/dev/null || echo 1) * 1000))
  # What they find is told, with the line that replays it; the commit that happens to draw it is not to blame.
  out=$($sim from=$from seeds=100000 seconds="${SIM_SECONDS:-90}" 2>&1)
  echo "note  jobs that nobody has seen before, from seed $from on: $(tail -n 1 <<<"$out")"
  sed -n '/^seed .* fails/,/^rare branches/{/^rare branches/!s/^/note  /p}' <<<"$out"
fi
# What steps cost a rank; 32,768 ranks take 16 GB and ten minutes.
case $mode in long) ranks=32768 ;; *) ranks=512 ;; esac
if [ $ranks = 32768 ] && [ "$(awk '/^MemAvailable/ {print $2}' /proc/meminfo)" -lt 18000000 ]; then
  ranks=4096
  echo "note  32,768 ranks need 18 GB of free memory; $ranks are run"
fi
run "what steps cost a rank of $ranks grows as it may" scale=$ranks
if out=$(python3 tests/sim/mutants.py apply); then
  echo "ok    each planted bug applies"
  passed=$((passed + 1))
else
  echo "FAIL  each planted bug applies: mend tests/sim/mutants.txt"
  grep FAIL <<<"$out"
  failed=$((failed + 1))
fi
# The line of the chapter testing.
if out=$(make -s sim SEED=17 TRACE=1 2>&1) && grep -q 'acknowledged' <<<"$out"; then
  echo "ok    make sim SEED=17 TRACE=1"
  passed=$((passed + 1))
else
  echo "FAIL  make sim SEED=17 TRACE=1"
  tail -n 5 <<<"$out"
  failed=$((failed + 1))
fi
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
