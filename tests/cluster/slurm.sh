#!/bin/bash
# slurm.sh - jobs of a real SLURM over the nodes of `vnodes`: they lose nodes, hang, are halted and killed, and end with the
# answer of an undisturbed run.  The jobs are examples/job.slurm.
#
#   slurm.sh check|full|long [NAME...]     last line: N passed, N failed, N skipped
#
# NAME is a test, the part of its function after test_, or a part of it; all of the mode are run when none is given.  From the environment:
# BIN, the directory of the commands.  After a failure the logs stay where the output says.
# shellcheck disable=SC2015,SC2046,SC2317
set -u
HERE=$(cd "$(dirname "$0")" && pwd)
ROOT=$(cd "$HERE/../.." && pwd)
BIN=$(cd "${BIN:-$ROOT/tools}" && pwd)
VNODES=$HERE/vnodes
MODE=${1:-}
case $MODE in check | full | long) shift ;; *) sed -n '2,9s/^# \{0,1\}//p' "$0"; exit 2 ;; esac
NAMES=$*
NODES=5

skip_all() {
  echo "skipped: $1"
  echo "0 passed, 0 failed, 1 skipped"
  exit 0
}

if [ -z "${SLURM_TEST_DIR:-}" ]; then
  . "$ROOT/tests/find_mpi.sh"
  # It has PMIx alone, of which the daemons of several nodes on one machine are in each other's way.
  [ "$MPI_NAME" != openmpi ] || skip_all "srun does not start ranks of Debian's Open MPI"
  export PATH=$PATH:/usr/sbin:/sbin
  for c in slurmctld slurmd srun sbatch sinfo squeue scancel; do
    command -v "$c" > /dev/null || skip_all "no program $c; SLURM is not installed"
  done
  [ -x "$ROOT/examples/heat2d" ] || skip_all "examples/heat2d is not built"
  why=$("$VNODES" check) || skip_all "$why"
  T=$(mktemp -d "${TMPDIR:-/tmp}/scr-slurm.XXXXXX") || exit 1
  chmod 755 "$T"
  export SLURM_TEST_DIR=$T VNODES_STATE=$T.vn
  # shellcheck disable=SC2086
  exec "$VNODES" with "$0" "$MODE" $NAMES
fi

T=$SLURM_TEST_DIR
S=$VNODES_STATE
SSD=$("$VNODES" ssd)
unset "${!SCR_@}" "${!SLURM_@}"
mkdir "$T/bin" && ln -s "$S/rsh" "$T/bin/ssh" # as sshd on each node would answer
export SLURM_CONF=$S/slurm.conf PATH=$T/bin:$BIN:$PATH
export SCR_USER_NAME=tester SCR_CNTL_BASE=$SSD SCR_CACHE_BASE=$SSD SCR_FLUSH=0 SCR_COPY_TYPE=XOR SCR_RUN_WAIT=0
heat=$ROOT/examples/heat2d
# The ranks share cores: MPI's waits yield.
${CC:-cc} -O2 -shared -fPIC -o "$T/yield.so" "$HERE/yield.c" -ldl && export LD_PRELOAD="$T/yield.so"
size="--nx 512 --ny 512 --steps 6000 --interval 200"

passed=0 failed=0 skipped=0
fail() {
  failed=$((failed + 1))
  echo "FAILED $TEST: $* (log $LOG)"
  tail -n 40 "$LOG" | sed 's/^/    | /'
  echo "    again, alone: make ${TEST_GOAL:-check} ONLY=$TEST"
}
# holds WHAT COMMAND...: passed when the command succeeds
holds() {
  local what=$1
  shift
  if "$@" > "$T/out" 2>&1; then passed=$((passed + 1)); else
    fail "$what"
    sed 's/^/    > /' "$T/out"
  fi
}
says() { holds "$1" grep -q -e "$2" "$LOG"; } # WHAT PATTERN
finish() {
  [ "$failed" = 0 ] && cd / && rm -rf "$T"
  echo "$passed passed, $failed failed, $skipped skipped"
  exit $((failed != 0))
}

# ---- jobs ------------------------------------------------------------------------------------------------------------

# All nodes are up and empty, and the prefix is new.
new() {
  local i
  for i in $(seq $NODES); do
    [ -s "$S/node$i.pid" ] || "$VNODES" revive "node$i"
    "$VNODES" run "node$i" find "$SSD" -mindepth 1 -maxdepth 1 -name tester -exec rm -rf {} +
  done
  for i in {1..100}; do
    [ "$(sinfo -h -t idle -o %D)" = $NODES ] && break
    [ "$i" != 50 ] || scontrol update nodename="node[1-$NODES]" state=resume 2> /dev/null
    sleep 0.3
  done
  export SCR_PREFIX=$T/$TEST
  mkdir -p "$SCR_PREFIX"
  LOG=$T/$TEST.log
  : > "$LOG"
}
# batch OPTIONS ARGUMENT...: the solver as a job with these options of sbatch; its id in $job
batch() { job=$(cd "$SCR_PREFIX" && sbatch --parsable -o "$LOG" $1 "$ROOT/examples/job.slurm" "$heat" $size "${@:2}"); }
# submit ARGUMENT...: the same with a spare node; it goes on when a node fails that is not its first
submit() { batch "--nodes=5 --no-kill --no-requeue" "$@"; }
ended() { [ -z "$(squeue -h -j "$job" -t PD,R,CG -o %T 2> /dev/null | grep -v COMPLETING)" ]; }
# wait_for SECONDS COMMAND...: until the command succeeds, or the job has ended
wait_for() {
  local end=$((SECONDS + $1))
  shift
  while ! "$@" > /dev/null 2>&1; do
    [ $SECONDS -lt $end ] || { echo "no end of: $*" >> "$LOG"; return 1; }
    sleep 0.05
  done
}
ended_process() { ! kill -0 "$1"; }
wait_job() { wait_for 120 ended || scancel "$job"; }
answer() { sed -n 's/^heat2d: step .* crc32 \(0x[0-9a-f]*\) .*/\1/p' "$LOG" | tail -n 1; }
right() { [ "$(answer)" = "$calm" ] || { echo "the answer is $(answer) instead of $calm"; false; }; }
has_checkpoints() { [ "$(grep -c '^heat2d: checkpoint' "$LOG")" -ge "$1" ]; }
# The solver on NODE stops in its next checkpoint, as soon as there is another dataset.
stop_in_checkpoint() { # NODE
  "$VNODES" run "$1" sh -c '
    cd "$0" || exit 1
    pid= newest=0
    for p in $(pgrep -x heat2d); do
      [ "$(readlink "/proc/$p/ns/mnt")" != "$(readlink /proc/self/ns/mnt)" ] || pid=$p
    done
    for d in scr.dataset.*; do [ "${d##*.}" -le "$newest" ] || newest=${d##*.}; done
    while kill -0 "$pid"; do
      for d in scr.dataset.*; do [ "${d##*.}" -gt "$newest" ] && exec kill -STOP "$pid"; done
    done
    exit 1' "$SSD/tester/scr.$job"
}

# ---- tests -----------------------------------------------------------------------------------------------------------

test_undisturbed() {
  new
  submit
  wait_job
  calm=$(answer)
  holds "there is an answer" test -n "$calm"
  says "it runs on four nodes of five" "run 1, 5 nodes: srun --nodes=4"
  says "the last checkpoint is saved" "the newest checkpoint on the prefix is 30, heat.6000"
}

# The form with salloc: the script runs where no node is.
test_node_lost_in_compute() {
  new
  (cd "$SCR_PREFIX" && exec salloc --nodes=5 --no-kill --time=60 sh "$ROOT/examples/job.slurm" "$heat" $size) >> "$LOG" 2>&1 &
  local salloc=$!
  wait_for 30 has_checkpoints 3
  "$VNODES" kill node3
  wait_for 120 ended_process $salloc
  wait $salloc
  holds "the exit code" test $? = 0
  says "the node is found" "node node3: "
  says "it runs again without it" "run 2, 4 nodes: srun --overlap --exclude node3"
  says "it restarts from the cache" "^heat2d: restarted from heat"
  holds "the answer" right
}

test_node_lost_in_a_checkpoint() {
  new
  submit
  wait_for 30 has_checkpoints 3
  wait_for 10 stop_in_checkpoint node2
  "$VNODES" kill node2
  wait_job
  says "the node is found" "node node2: "
  says "it restarts from the cache" "^heat2d: restarted from heat"
  holds "the answer" right
}

test_hung_application() {
  new
  SCR_WATCHDOG_TIMEOUT=3 submit
  wait_for 30 has_checkpoints 3
  pkill -STOP -x heat2d
  wait_job
  says "the watchdog ends it" "ending the job step $job\\."
  says "it restarts" "^heat2d: restarted from heat"
  holds "the answer" right
}

test_scavenge_with_a_dead_node() {
  new
  SCR_RUNS=1 submit
  wait_for 30 has_checkpoints 3
  "$VNODES" kill node4
  wait_job
  says "no runs are left" "no runs are left"
  says "a checkpoint is saved" "the newest checkpoint on the prefix is [0-9]*, heat"
  "$VNODES" revive node4
  "$VNODES" run node2 rm -rf "$SSD/tester"
  submit
  wait_job
  says "the next job restarts from it" "^heat2d: restarted from heat"
  holds "the answer" right
}

# A job is cancelled while it runs: srun refuses any step from then on, and ssh brings what the other nodes have.  It is
# submitted again on other nodes: the empty ones among them cost nothing, as all is on the prefix.
test_cancelled() {
  new
  submit
  wait_for 30 has_checkpoints 3
  scancel "$job"
  wait_for 60 grep -q ': the end, after' "$LOG" # the job is COMPLETING by then, and has no steps any more
  says "the program is ended" "signal TERM: the program gets SIGTERM\|ended by signal 15" # srun may be gone first
  says "all nodes work" "saving what the caches have"
  holds "no node is called down" test "$(grep -c ': node node' "$LOG")" = 0
  says "a checkpoint is saved" "the newest checkpoint on the prefix is [0-9]*, heat"
  "$VNODES" run node2 rm -rf "$SSD/tester"
  "$VNODES" run node3 rm -rf "$SSD/tester"
  submit
  wait_job
  says "the next job restarts from it" "^heat2d: restarted from heat"
  holds "the answer" right
}

# The script gets SIGTERM, as from --signal=B:TERM@120: the job goes on RUNNING, so srun brings what the other nodes have.
test_ended_by_a_signal() {
  new
  mv "$T/bin/ssh" "$T/ssh" # srun needs no help
  submit
  wait_for 30 has_checkpoints 3
  scancel --batch --signal=TERM "$job"
  wait_job
  mv "$T/ssh" "$T/bin/ssh"
  says "the program is ended" "signal TERM: the program gets SIGTERM"
  holds "srun has refused nothing, and no node is called down" test "$(grep -c -e expired -e ': node node' "$LOG")" = 0
  says "a checkpoint is saved" "the newest checkpoint on the prefix is [0-9]*, heat"
  holds "the job is to be submitted again" test "$(scontrol show job "$job" | grep -c 'ExitCode=3:0')" = 1
  for i in $(seq $NODES); do "$VNODES" run "node$i" rm -rf "$SSD/tester"; done
  submit
  wait_job
  says "the next job restarts from it" "^heat2d: restarted from heat"
  holds "the answer" right
}

# Those in the long mode only.
waits_to_begin() { [ "$(squeue -h -j "$job" -o "%t %r")" = "PD BeginTime" ]; }
# The batch form: the node fails where the script runs, and with it the job.  SLURM starts it again on other nodes; before
# the first run, what the caches of the others have is saved.
test_requeued() {
  new
  batch "" # on the first four of five nodes
  wait_for 30 has_checkpoints 3
  "$VNODES" kill node1
  wait_for 60 waits_to_begin # SLURM lets two minutes go by
  scontrol update "jobid=$job" starttime=now
  wait_for 60 grep -q "this job has left dataset" "$LOG"
  wait_job
  says "what it has left is saved before the first run" "this job has left dataset [0-9]* in caches only, and may run on other nodes"
  says "and it restarts from that" "^heat2d: restarted from heat"
  holds "the answer" right
  holds "the job is done" test "$(scontrol show job "$job" | grep -c 'ExitCode=0:0')" = 1
}

# The form with an array: two tasks, each with its own prefix; and the exit code of a task that was halted.
test_array() {
  new
  batch "--array=1-2"
  wait_for 60 grep -q "task.1" "$SCR_PREFIX"/task.1/.scr/prefix.scr
  wait_job
  for i in 1 2; do
    holds "task $i has its checkpoints" test "$(cd "$SCR_PREFIX" && scr_have_restart --prefix "task.$i")" = heat.6000
  done
  holds "both have the answer" test "$(grep -c "crc32 $calm" "$LOG")" = 2
}

# The manual's chain: the second job goes on where the first was halted; one behind a job that has done all is cancelled.
test_chain() {
  new
  local options first second
  options=$(sed -n 's/^    id=.*; sbatch \(.*\) job\.slurm .*/\1/p' "$ROOT/tools/manual/jobs.md")
  holds "the manual has the line" test -n "$options"
  batch --hold
  first=$job
  batch "${options/\$id/$first}"
  second=$job
  batch "${options/\$id/$second}"
  scontrol release "$first"
  wait_for 30 has_checkpoints 3
  scr_checkpoint --wait --halt "$SCR_PREFIX" >> "$LOG" 2>&1
  wait_job
  holds "the first is halted" test "$(scontrol show job "$first" | grep -c 'ExitCode=3:0')" = 1
  says "the second goes on" "^heat2d: restarted from heat"
  holds "the second is done" test "$(scontrol show job "$second" | grep -c 'ExitCode=0:0')" = 1
  holds "the answer" right
  holds "the third is cancelled" test "$(scontrol show job "$job" | grep -c 'JobState=CANCELLED')" = 1
}

test_node_lost_twice() {
  new
  submit
  wait_for 30 has_checkpoints 3
  "$VNODES" kill node3
  wait_for 90 grep -q '^heat2d: restarted' "$LOG"
  "$VNODES" kill node5
  wait_job
  says "with three of five nodes it does not run" "3 nodes work, and a run needs 4"
  says "what it has is saved" "the newest checkpoint on the prefix is [0-9]*, heat"
  submit # when the nodes are back
  "$VNODES" revive node3
  "$VNODES" revive node5
  wait_job
  says "the next job restarts from it" "^heat2d: restarted from heat"
  holds "the answer" right
}

test_two_partners_dead() {
  new
  SCR_RUNS=1 submit
  wait_for 30 has_checkpoints 3
  "$VNODES" kill node3
  "$VNODES" kill node4
  wait_job
  says "it is said what is missing" "files of the ranks [0-9,]* are missing, which are in one XOR set of 4 ranks"
  says "nothing is saved" "there is no checkpoint on the prefix"
}

test_node_lost_in_a_flush() {
  new
  SCR_FLUSH=1 submit
  wait_for 30 test -e "$SCR_PREFIX/heat.600"
  "$VNODES" kill node3
  wait_job
  says "it restarts" "^heat2d: restarted from heat"
  holds "the answer" right
}

daemons() { # how many live
  local i
  for i in $(seq $NODES); do [ ! -s "$S/node$i.pid" ] || "$VNODES" run "node$i" sh -c 'flock -n "$0" true || echo' "$SSD/tester/scr.$job/transfer.daemon.lock"; done | wc -l
}
# A node is lost while the daemons of all nodes copy; those of the others outlive the run.
test_node_lost_beside_daemons() {
  new
  SCR_FLUSH=1 SCR_FLUSH_ASYNC=1 SCR_FLUSH_TYPE=DAEMON SCR_FLUSH_ASYNC_BW=3000000 submit
  wait_for 30 has_checkpoints 3
  holds "a daemon lives on each node, the spare one too" test "$(daemons)" = $NODES
  "$VNODES" kill node3
  wait_job
  says "it restarts" "^heat2d: restarted from heat"
  holds "the answer" right
  holds "the daemons have copied" test "$(grep -c 'scr_transfer' "$LOG")" = 0
  holds "the last checkpoint is on the prefix" test -e "$SCR_PREFIX/heat.6000/.scr/summary.scr"
  holds "nothing is left" test -z "$(find "$SCR_PREFIX" -name '*.tmp')"
  holds "the daemons have ended" test "$(daemons)" = 0
}

# The job has a minute, and 45 s less are left for the run: job.slurm asks for five minutes, which is more than it has.
test_time_limit_near() {
  new
  sed 's/SCR_HALT_SECONDS=300/SCR_HALT_SECONDS=45/; s/--time=60/--time=1/; s/@120/@15/' "$ROOT/examples/job.slurm" > "$T/short.slurm"
  job=$(cd "$SCR_PREFIX" && sbatch --parsable -o "$LOG" "$T/short.slurm" "$heat" $size --steps 600000)
  wait_job
  says "it ends before the limit" "asked to stop"
  says "its last checkpoint is saved" "the newest checkpoint on the prefix is [0-9]*, heat"
}

test_halted() {
  new
  submit
  wait_for 30 has_checkpoints 3
  scr_halt "$SCR_PREFIX" >> "$LOG"
  wait_job
  says "it ends" "asked to stop"
  holds "there was one run" test "$(grep -c 'run [0-9]* has ended' "$LOG")" = 1
  scr_halt --remove "$SCR_PREFIX" >> "$LOG"
  submit
  wait_for 30 has_checkpoints 6
  scr_halt --immediate "$SCR_PREFIX" >> "$LOG"
  wait_job
  says "immediately" "there is no other run: the halt file gives the reason JOB_HALTED"
  scr_halt --remove "$SCR_PREFIX" >> "$LOG"
  submit
  wait_job
  holds "the answer" right
}

test_batch_script_killed() {
  new
  submit
  wait_for 30 has_checkpoints 3
  scancel --signal=KILL --batch "$job"
  wait_for 30 ended
  submit
  wait_job
  says "the next job on the same nodes saves what is there" "the newest checkpoint on the prefix is [0-9]*, heat"
  says "and restarts from it" "^heat2d: restarted from heat"
  holds "the answer" right
  new
  rm -rf "$SCR_PREFIX" && mkdir "$SCR_PREFIX"
  SCR_FLUSH=1 submit
  wait_for 30 has_checkpoints 3
  scancel --signal=KILL --batch "$job"
  wait_for 30 ended
  for i in $(seq $NODES); do "$VNODES" run "node$i" rm -rf "$SSD/tester"; done
  : > "$LOG"
  submit
  wait_job
  says "the next job on empty nodes restarts from the prefix" "^heat2d: restarted from heat"
  holds "the answer, again" right
}

# Signals as SLURM sends them: a checkpoint that is flushed, then one before the end.
test_signalled() {
  new
  SCR_SIGNALS=USR1:checkpoint+flush,TERM:checkpoint+halt SCR_CHECKPOINT_INTERVAL=100000 submit
  wait_for 30 grep -q "SCR_Init took" "$LOG"
  scancel --signal=USR1 "$job"
  wait_for 30 has_checkpoints 1
  holds "a signal has a checkpoint flushed" wait_for 10 ls -d "$SCR_PREFIX"/heat.*/.scr/summary.scr
  scancel --signal=TERM "$job"
  wait_job
  says "a signal ends the run" "asked to stop"
  holds "there was one run" test "$(grep -c 'run [0-9]* has ended' "$LOG")" = 1
  holds "there were two checkpoints" test "$(grep -c '^heat2d: checkpoint' "$LOG")" = 2
  says "the second one is saved" "the newest checkpoint on the prefix is 2, heat"
  submit
  wait_job
  says "the next job goes on" "^heat2d: restarted from heat"
  holds "the answer" right
}

# The test of a new system, which kills a process and a node.
test_system() {
  new
  job=$(cd "$SCR_PREFIX" && sbatch --parsable -o "$LOG" --open-mode=append --nodes=$NODES --no-kill --time=10 \
    --wrap "exec scr_test_system --size 4MB --bytes 4MB --timeout 60 --program '$heat $size' --answer 'crc32 0x[0-9a-f]+' \
      --kill-node '$VNODES kill' srun --nodes=4 --ntasks-per-node=1")
  wait_for 200 ended || scancel "$job"
  says "five nodes" "^ok       nodes: 5 of SLURM: node\[1-5\]"
  says "their names" "^ok       names: "
  says "their clocks" "^ok       clocks: "
  says "their health" "^ok       health: "
  says "the script's node may fail" "^ok       batch host: the script runs on node1; when that fails, SLURM starts the job again (Requeue=1)"
  says "a job that ends can be saved" "^ok       job end: ssh reaches 4 nodes"
  says "each has its own storage" "^ok       private: each node has its own $SSD"
  says "they share the prefix" "^ok       shared: "
  says "a step on four nodes" "^ok       launch: srun runs 4 processes on node\[1-4\]"
  says "a step without one of them" "^ok       avoid a node: a second step runs on 4 nodes without node4"
  says "a process dies" "^ok       process death: srun returned [0-9.]* s after rank 0 on node1 was killed"
  says "the program restarts" "^ok       restart: the second run restarted from the cache and ended with the same answer"
  says "the job goes on when a node dies" "^ok       job script: it goes on, [0-9]* s after node[2-4] was killed"
  says "srun returns" "^ok       node death: srun returned [0-9.]* s after node[2-4] was killed"
  says "the node is found" "^ok       detection: node[2-4]: "
  says "the program restarts elsewhere" "^ok       restart elsewhere: .* from the cache, rebuilt what was lost, and ended with the same answer"
  says "the end" "^PASSED$"
  holds "nothing is left on the prefix" test -z "$(ls "$SCR_PREFIX")"
}

# Run test NAME when it is asked for, or else in the modes of TIER; the first one always, for its answer.
perform() { # TIER NAME
  local began=$SECONDS before=$failed name named=
  TEST=$2
  for name in $NAMES; do [[ $TEST != *"$name"* ]] || named=yes; done
  case $MODE:$1 in *:check | full:full | long:*) [ -n "$NAMES" ] || named=yes ;; esac
  [ -n "$named" ] || [ "$TEST" = undisturbed ] || return
  "test_$TEST"
  scancel -u root 2> /dev/null
  echo "slurm: $TEST: $([ "$failed" = "$before" ] && echo ok || echo FAILED), $((SECONDS - began)) s"
}

TEST=boot LOG=/dev/null
trap finish TERM INT
"$VNODES" up $NODES && "$VNODES" slurm || { echo "slurm: the cluster does not start"; failed=1; finish; }
perform check undisturbed
perform check node_lost_in_compute
perform full node_lost_in_a_checkpoint
perform full hung_application
perform full scavenge_with_a_dead_node
perform check cancelled
perform long ended_by_a_signal
perform long requeued
perform long array
perform long chain
perform long node_lost_twice
perform long two_partners_dead
perform long node_lost_in_a_flush
perform long node_lost_beside_daemons
perform long time_limit_near
perform long halted
perform long batch_script_killed
perform long signalled
perform long system
finish
