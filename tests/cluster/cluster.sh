#!/bin/bash
# cluster.sh - node losses, kills and restarts over several nodes; every restored byte is checked.
#
#   cluster.sh check|full|long [NAME...]     last line: N passed, N failed, N skipped
#
# NAME is a test, the part of its function after test_, or a part of the names of several; all run when none is given.
# They need the cluster of `vnodes`, but for the last two, which use SCR_VIRTUAL_NODES.  From the environment: CC, MPICC,
# MPIEXEC (of MPICH or Open MPI), SCR_TEST_CFLAGS, SEED (of all that is random), SCR_IMPL (the source of the library).
# After a failure the logs stay where the output says.
# shellcheck disable=SC2015,SC2046,SC2317
set -u
HERE=$(cd "$(dirname "$0")" && pwd)
ROOT=$(cd "$HERE/../.." && pwd)
VNODES=$HERE/vnodes
MODE=${1:-}
case $MODE in check | full | long) shift ;; *) sed -n '2,9s/^# \{0,1\}//p' "$0"; exit 2 ;; esac
NAMES=$*
[ -z "$NAMES" ] || [ "$MODE" != check ] || MODE=full # what is asked for by name is run as in full
LIMIT=60 # seconds for one run

# ---- build, and enter the cluster ------------------------------------------------------------------------------------

. "$ROOT/tests/find_mpi.sh"
export MPICC MPIEXEC

build() {
  mkdir -p "$T/src/tests" && cp -r "$ROOT/tools" "$T/src/" && cp "$ROOT/scr.h" "$T/src/" &&
    cp -r "$ROOT/tests/cluster" "$ROOT/tests/unit" "$T/src/tests/" &&
    cp "${SCR_IMPL:-$ROOT/scr_impl.c}" "$T/src/scr_impl.c" || return
  local level=-O0
  [ "$MODE" != long ] || level=-O2
  # shellcheck disable=SC2086
  $MPICC $level -g ${SCR_TEST_CFLAGS:-} -o "$T/$APP" "$T/src/tests/cluster/ckpt.c" -lz -lpthread &&
    $MPICC -O2 -shared -fPIC -o "$T/yield.so" "$HERE/yield.c" -ldl &&
    ${CC:-cc} $level -I"$T/src" -o "$T/scr" "$T/src/tools/scr.c" -lz &&
    for name in rebuild list_down_nodes check_node inspect inspect_cache; do ln -s scr "$T/scr_$name" || return; done
}

if [ -z "${CLUSTER_DIR:-}" ]; then
  T=$(mktemp -d "${TMPDIR:-/tmp}/scr-cluster.XXXXXX") || exit 1
  APP=ck$$$((RANDOM % 1000)) # the name under which the ranks are found and killed
  chmod 755 "$T"
  if [ "$MPI_NAME" != openmpi ] && ! $MPIEXEC -version 2> /dev/null | grep -qi hydra; then
    echo "skipped: $MPIEXEC is not the launcher of MPICH or Open MPI"
    echo "0 passed, 0 failed, 1 skipped"
    rm -rf "$T"
    exit 0
  fi
  build || { echo "cluster: the test program does not build"; echo "0 passed, 1 failed, 0 skipped"; rm -rf "$T"; exit 1; }
  export CLUSTER_DIR=$T CLUSTER_APP=$APP SEED=${SEED:-20261}
  export VNODES_STATE=$T.vn
  # shellcheck disable=SC2086
  if why=$("$VNODES" check); then
    CLUSTER_NODES=yes exec "$VNODES" with "$0" "$MODE" $NAMES
  else
    CLUSTER_NODES="skipped: $why" exec "$0" "$MODE" $NAMES
  fi
fi

T=$CLUSTER_DIR
APP=$CLUSTER_APP
S=$VNODES_STATE
SSD=$("$VNODES" ssd)
if [ "$CLUSTER_NODES" = yes ]; then W=$S/work; else W=$T/work; fi
mkdir -p "$W"
unset "${!SCR_@}" "${!KILL_@}"
export SCR_USER_NAME=tester SCR_CONF_FILE=/dev/null

# ---- counting --------------------------------------------------------------------------------------------------------

passed=0 failed=0 skipped=0
pass() { passed=$((passed + 1)); }
fail() { # what
  failed=$((failed + 1))
  echo "FAILED $TEST: $* (SEED=$SEED, job $SCR_JOB_ID, log $OUT)"
  tail -n 25 "$OUT" | sed 's/^/    | /'
  echo "    again, alone: make ${TEST_GOAL:-check} ONLY=$TEST"
}
skip() {
  skipped=$((skipped + 1))
  echo "skipped: $TEST: $1"
}
finish() {
  [ "$failed" = 0 ] && cd / && rm -rf "$T" "$W" 2> /dev/null
  echo "$passed passed, $failed failed, $skipped skipped"
  exit $((failed != 0))
}

# ---- runs ------------------------------------------------------------------------------------------------------------

job=0
# A new job: its own id, prefix and logs, empty storage on all nodes, the default settings of these tests.
new_job() {
  job=$((job + 1))
  export SCR_JOB_ID=job$job SCR_PREFIX=$W/prefix$job SCR_FLUSH=0 SCR_COPY_TYPE=XOR SCR_SET_SIZE=8 SCR_CACHE_SIZE=1
  unset SCR_FRESH_START SCR_SET_FAILURES
  OUT=$T/$TEST$job.log
  LOG=$T/$TEST$job.events
  mkdir -p "$SCR_PREFIX"
  : > "$LOG"
  : > "$OUT"
  FLOOR=0
}

real_nodes() { # the settings for nodes of the cluster; all up, and empty
  local i
  for i in $(seq "$1"); do
    [ -s "$S/node$i.pid" ] || "$VNODES" revive "node$i"
    "$VNODES" run "node$i" find "$SSD" -mindepth 1 -delete
  done
  export SCR_CNTL_BASE=$SSD SCR_CACHE_BASE=$SSD
  unset SCR_VIRTUAL_NODES
}

reap() { # the ranks that are left; APP is the name of no other program
  local _
  for _ in {1..100}; do
    pkill -9 -x "$APP" 2> /dev/null || return 0
    sleep 0.02
  done
}

# run HOSTS RANKS OPTION...: HOSTS is a list of nodes, or "here".  The status is that of the program; 0 if it crashed when
# its work was done.
run() {
  local hosts=$1 n=$2 rc launch
  shift 2
  if [ "$hosts" = here ]; then launch=("$MPIEXEC" -n "$n"); else launch=("$VNODES" mpiexec "$hosts" "$n"); fi
  {
    echo "---- run on $hosts, $n ranks: $*"
    env | grep '^SCR_' | sort | tr '\n' ' '
    echo
  } >> "$OUT"
  echo RUN >> "$LOG"
  (cd "$SCR_PREFIX" && exec timeout -k 5 "$LIMIT" "${launch[@]}" env LD_PRELOAD="$T/yield.so" "$T/$APP" -log "$LOG" \
    "$@") >> "$OUT" 2>&1 < /dev/null
  rc=$?
  case " $* " in
    *" finalize "*) ;;
    *) [ "$(tail -n 1 "$LOG" 2> /dev/null)" != END ] || rc=0 ;;
  esac
  [ "$rc" = 0 ] || echo "---- status $rc" >> "$OUT"
  reap
  return "$rc"
}

# The greatest checkpoint that was complete in this job, as events of these kinds say: the next restart may not be from
# an older one.
floor() { # [WORD]
  local words=${1:-COMPLETE RESTART}
  FLOOR=$(awk -v w=" $words " 'index(w, " " $1 " ") { if ($2 > m) m = $2 } END { print m + 0 }' "$LOG")
}

# events WORD: how many lines of the log begin with WORD
events() { awk -v w="$1" '$1 == w { n++ } END { print n + 0 }' "$LOG"; }

# wait_event WORD COUNT PID: until the log has COUNT such lines; fails when process PID ends before
wait_event() {
  local _
  for _ in $(seq $((LIMIT * 50))); do
    [ "$(events "$1")" -ge "$2" ] && return 0
    kill -0 "$3" 2> /dev/null || return 1
    sleep 0.02
  done
  return 1
}

ms() { sleep "$(printf '%d.%03d' $(($1 / 1000)) $(($1 % 1000)))"; }
random() { echo $((RANDOM % $1)); }
list() { # node1,node2,.. of the numbers given
  local IFS=,
  echo "${*/#/node}"
}
lose() { # nodes, given by number, die; spare ones of the same name take their places
  local i
  for i in "$@"; do "$VNODES" kill "node$i"; done
  for i in "$@"; do "$VNODES" revive "node$i"; done
}
save_ssd() { # NODE NAME: keep a copy of a node's storage
  rm -rf "${W:?}/saved.$2" && "$VNODES" run "node$1" cp -a "$SSD" "$W/saved.$2"
}
restore_ssd() { # NODE NAME: the storage of a node is what it was then
  "$VNODES" run "node$1" find "$SSD" -mindepth 1 -delete
  "$VNODES" run "node$1" cp -a "$W/saved.$2/." "$SSD/"
}

# try WHAT HOSTS RANKS OPTION...: a run that has to succeed.  One failure ends the test: `|| return`.
try() {
  local what=$1 rc
  shift
  run "$@"
  rc=$?
  if [ "$rc" = 0 ]; then pass; else fail "$what: status $rc"; fi
  return "$rc"
}

# ---- tests on real nodes ---------------------------------------------------------------------------------------------

# Each node is killed while the program runs, and the spare one takes its place.
test_each_node_dies_in_turn_and_a_spare_takes_its_place() {
  local hosts=(1 2 3 4) spare=5 k pid dead
  new_job
  real_nodes 5
  try "first run" "$(list "${hosts[@]}")" 4 -expect fresh -count 2 -shape mixed || return
  for k in $(if [ "$MODE" = check ]; then echo 1; else echo 0 1 2 3; fi); do
    floor
    run "$(list "${hosts[@]}")" 4 -min "$FLOOR" -count 1000 -pause 10 -shape mixed &
    pid=$!
    wait_event COMPLETE $(($(events COMPLETE) + 3)) "$pid" || { fail "the run before node ${hosts[k]} dies"; return; }
    ms "$(random 100)"
    dead=${hosts[k]}
    "$VNODES" kill "node$dead"
    if wait "$pid"; then fail "the run went on without node$dead"; fi
    floor
    hosts[k]=$spare
    spare=$dead
    try "restart on node${hosts[k]} for node$dead" "$(list "${hosts[@]}")" 4 -min "$FLOOR" -count 1 -shape mixed || return
    "$VNODES" revive "node$dead"
  done
}

# The survivors take the ranks of each node in turn; then the node is back, empty, and the files go home.  With six
# nodes in two sets, one of each set is lost at once, and files of several nodes come together on one.
test_survivors_share_the_ranks_of_a_lost_node() {
  local k rest
  new_job
  real_nodes 6
  try "first run" node1,node2,node3,node4 4 -count 1 || return
  for k in $(if [ "$MODE" = check ]; then echo 2; else echo 1 2 3 4; fi); do
    floor
    "$VNODES" kill "node$k"
    rest=$(list $(seq 4 | grep -v "$k"))
    try "survivors share, without node$k" "$rest" 4 -min "$FLOOR" -shape odd || return
    try "again on the survivors" "$rest" 4 -min "$FLOOR" -end finalize || return
    "$VNODES" revive "node$k"
    try "home, with node$k" node1,node2,node3,node4 4 -min "$FLOOR" || return
    # Each rank is on its own node again, so the set protects against any one loss.
    lose $((k % 4 + 1))
    try "lost node$((k % 4 + 1)) next" node1,node2,node3,node4 4 -min "$FLOOR" -count 1 || return
  done
  floor
  try "ranks the other way round" node4,node3,node2,node1 4 -min "$FLOOR" || return

  new_job
  real_nodes 6
  export SCR_SET_SIZE=3
  try "six nodes" "$(list {1..6})" 6 -count 2 -shape names || return
  "$VNODES" kill node2
  "$VNODES" kill node6
  try "six ranks on four nodes" node1,node3,node4,node5 6 -exact 2 -shape names || return
  "$VNODES" revive node2
  "$VNODES" revive node6
  try "six nodes again" "$(list {1..6})" 6 -exact 2 -shape names -count 1 || return
  lose 3 4
  try "two more, one of each set" "$(list {1..6})" 6 -exact 3 -shape names || return
}

# All ranks are killed at a random moment, again and again.
test_a_killed_run_restarts_from_its_last_checkpoint() {
  local rounds=$1 r pid sure=0 lost
  for r in $(seq "$rounds"); do
    if [ $((r % 10)) = 1 ]; then
      new_job
      real_nodes 4
      sure=0
      case $((r / 10 % 3)) in
      0) SCR_COPY_TYPE=XOR ;;
      1) SCR_COPY_TYPE=PARTNER ;;
      2) SCR_COPY_TYPE=RS ;; # of two failures
      esac
    fi
    RANDOM=$(((SEED + r) % 32768))
    export SCR_FLUSH=$((r % 3 * 2)) SCR_CACHE_SIZE=$((r % 2 + 1))
    floor
    echo "---- round $r" >> "$OUT"
    cp "$LOG" "$LOG.before"
    lost=
    # One node may be lost too, once the set is known to be whole.
    if [ "$sure" = 1 ] && [ "$(random 4)" = 0 ]; then
      lost=$(($(random 4) + 1))
      if [ "$SCR_COPY_TYPE" = RS ]; then lost="$lost $((lost % 4 + 1))"; fi
      # shellcheck disable=SC2086
      lose $lost
      echo "---- nodes $lost are lost" >> "$OUT"
    fi
    run "$(list 1 2 3 4)" 4 -min "$FLOOR" -count 1000 -shape mixed -gen "$r" -seed "$SEED" &
    pid=$!
    if [ "$(random 4)" = 0 ]; then
      wait_event INIT $(($(events INIT) + 1)) "$pid"
      ms "$(random 150)"
    else
      wait_event READY $(($(events READY) + 1)) "$pid"
      ms "$(random 800)"
    fi
    pkill -9 -x "$APP"
    wait "$pid"
    if [ "$(events FAIL)" != 0 ]; then
      fail "round $r: $(grep FAIL "$LOG")"
      return
    fi
    pass
    if cmp -s <(grep -c -e COMPLETE -e RESTART "$LOG") <(grep -c -e COMPLETE -e RESTART "$LOG.before"); then
      [ -z "$lost" ] || sure=0
    else
      sure=1
    fi
    if [ "$r" = "$rounds" ] || [ $((r % 10)) = 0 ]; then
      floor
      try "after round $r" "$(list 1 2 3 4)" 4 -min "$FLOOR" -count 1 -shape mixed -gen "$r" -seed "$SEED" -end finalize ||
        return
      [ "$(events COMPLETE)" -gt 0 ] || { fail "no checkpoint in ten rounds"; return; }
    fi
  done
}

# More nodes are lost than the redundancy covers.
test_losses_beyond_redundancy_fall_back_to_the_prefix_or_are_refused() {
  local all=node1,node2,node3,node4
  new_job
  real_nodes 4
  export SCR_FLUSH=2
  try "first run" "$all" 4 -count 5 || return
  lose 2 3
  try "two of a set lost: the flushed one" "$all" 4 -exact 4 -count 3 || return # 7, and 6 is flushed
  lose 1
  try "one lost after that" "$all" 4 -exact 7 || return
  lose 1 2 3 4
  try "all lost: the flushed one" "$all" 4 -exact 6 -count 1 || return
  [ "$MODE" != check ] || return 0

  new_job
  real_nodes 4
  try "first run" "$all" 4 -count 3 -gen 1 || return
  save_ssd 2 a && save_ssd 3 b || { fail "cannot save the storage"; return; }
  lose 2 3
  try "two lost, nothing flushed" "$all" 4 -expect refused || return
  try "the same again" "$all" 4 -expect refused -end finalize || return
  restore_ssd 2 a
  restore_ssd 3 b
  try "they were only away" "$all" 4 -exact 3 -expect-gen 1 || return
  lose 3 4
  try "two lost again" "$all" 4 -expect refused || return
  export SCR_FRESH_START=1
  try "a fresh start" "$all" 4 -expect fresh -count 2 -gen 2 || return
  unset SCR_FRESH_START
  lose 1
  try "and on from it" "$all" 4 -exact 2 -expect-gen 2 -count 1 || return
}

# Nodes come back with what they held in an older run.
test_a_node_with_older_contents_mixes_nothing_in() {
  local all=node1,node2,node3,node4 i
  new_job
  real_nodes 4
  try "first run" "$all" 4 -count 1 -gen 1 || return
  save_ssd 2 old
  try "and on" "$all" 4 -exact 1 -count 3 -gen 1 || return
  restore_ssd 2 old
  try "an older checkpoint on one node" "$all" 4 -exact 4 -expect-gen 1 -count 1 -gen 1 || return
  [ "$MODE" != check ] || return 0

  # The same ids and names again, with other contents.
  new_job
  real_nodes 4
  export SCR_FLUSH=2
  try "first run" "$all" 4 -count 3 -gen 1 -shape equal || return
  for i in 1 2 3; do save_ssd "$i" "gen1.$i"; done
  lose 3 4
  try "rolled back" "$all" 4 -exact 2 -count 1 -gen 2 -shape equal || return
  for i in 1 2 3 4; do save_ssd "$i" "gen2.$i"; done
  restore_ssd 2 gen1.2
  try "one node with the same name of another life" "$all" 4 -exact 3 -expect-gen 2 -shape equal || return
  for i in 1 4; do restore_ssd "$i" "gen2.$i"; done
  for i in 2 3; do restore_ssd "$i" "gen1.$i"; done
  try "two against two" "$all" 4 -exact 2 -expect-gen 1 -shape equal || return
  for i in 1 2 3; do restore_ssd "$i" "gen1.$i"; done
  restore_ssd 4 gen2.4
  try "three against one" "$all" 4 -min 2 -shape equal -count 1 -gen 3 || return
}

# A node comes back with its files after a spare one had taken its place and the run went on.
test_a_node_that_comes_back_does_no_harm() {
  local all=node1,node2,node3,node4
  new_job
  real_nodes 5
  try "first run" "$all" 4 -count 2 -gen 1 || return
  save_ssd 3 away
  try "on the spare" node1,node2,node5,node4 4 -exact 2 -expect-gen 1 || return
  restore_ssd 3 away
  try "back with the same checkpoint" "$all" 4 -exact 2 -expect-gen 1 || return
  try "on the spare, which has it too" node1,node2,node5,node4 4 -exact 2 -count 1 -gen 1 || return
  try "back with an older one" "$all" 4 -exact 3 -expect-gen 1 -count 1 -gen 1 || return
  lose 1
  try "one more lost" "$all" 4 -exact 4 -expect-gen 1 || return
}

# ---- aimed kills: at the N-th file call of an encode, a rebuild or a flush (see ckpt.c) ----------------------------------

aim() { # PHASE BELOW [RANK N HOW]: where the next runs are killed; without RANK they list the calls
  export KILL_PHASE=$1 KILL_BELOW=$2 KILL_LOG=$W/calls
  unset KILL_RANK KILL_AT KILL_HOW
  [ $# = 2 ] || export KILL_RANK=$3 KILL_AT=$4 KILL_HOW=$5
  rm -f "$KILL_LOG"
}
unaim() { unset "${!KILL_@}"; }

# Of the calls that are listed in FILE, one of the I-th of N equal parts, as "RANK NUMBER".
pick() { # FILE I N
  local calls
  calls=$(wc -l < "$1")
  sed -n "$((($2 * calls + $(random "$calls")) / $3 + 1))s/^\([0-9]* [0-9]*\) .*/\1/p" "$1"
}

# The same; but the first processes of a job that are killed are in the midst of a file, which is left: before a call on a
# file that is being made, but for the first, which creates it.
pick_for() { # FILE I N HOW
  if [ "$4" = process ] && [ "$2" -lt 2 ] && awk '/\.new\./ && seen[$1, $3]++' "$1" > "$1.parts" && [ -s "$1.parts" ]; then
    pick "$1.parts" "$2" "$3"
  else
    pick "$1" "$2" "$3"
  fi
}

# killed_run HOSTS RANKS OPTION...: a run that is killed as aimed.  With KILL_HOW=node the driver takes the node of the rank
# away while the rank stands still; a new one of its name boots.  Fails when a check of the program failed.
killed_run() {
  local pid
  run "$@" &
  pid=$!
  if [ "$KILL_HOW" = node ]; then
    while [ ! -s "$KILL_LOG" ] && kill -0 "$pid" 2> /dev/null; do sleep 0.01; done
    [ ! -s "$KILL_LOG" ] || "$VNODES" kill "node$((KILL_RANK + 1))"
  fi
  wait "$pid"
  tries=$((tries + 1))
  if [ -s "$KILL_LOG" ]; then
    hits=$((hits + 1))
    echo "---- killed ($KILL_HOW) at $(cat "$KILL_LOG")" >> "$OUT"
    [ "$KILL_HOW" = process ] || "$VNODES" revive "node$((KILL_RANK + 1))"
  fi
  unaim
  [ "$(events FAIL)" = 0 ] || { fail "$(grep FAIL "$LOG")"; return 1; }
}

# Nearly all of the rounds must have hit the phase, and some in the midst of what it writes.  Two runs do not make the
# same number of calls: of a few rounds, one may aim behind the last.
aimed_end() { # LEAST
  if [ "$hits" -gt 0 ] && [ $((tries - hits)) -le $((tries < 10 ? 1 : tries / 10)) ] && [ "$parts" -ge "$1" ]; then pass; else
    fail "$hits of $tries kills hit the phase, $parts left a part of a file"
  fi
  echo "cluster: $TEST: $hits of $tries kills hit the phase, $parts left a part of a file"
}

# A shape of files for each job.
shape() {
  local shapes=(odd names unequal base)
  echo "${shapes[job % 4]}"
}

# The way to kill in the rounds: processes and nodes by turns.
how() { if [ $(($1 % 2)) = 0 ]; then echo process; else echo node; fi; }

# Does a node hold a file NAME, which a killed run has left?
has_parts() { # NAME
  local i
  for i in 1 2 3 4; do
    [ -z "$("$VNODES" run "node$i" find "$SSD" -name "$1" -print -quit)" ] || return 0
  done
  return 1
}

# encode_job SCHEME ROUNDS: each run restarts from what the last one left, and is killed while it encodes.
encode_job() {
  local all=node1,node2,node3,node4 r at how
  new_job
  real_nodes 4
  export SCR_COPY_TYPE=$1 SCR_CACHE_SIZE=$((job % 2 + 1))
  try "first run" "$all" 4 -shape "$(shape)" -count 2 || return
  aim encode "$SSD"
  try "count the calls" "$all" 4 -shape "$(shape)" -count 1 || return
  sort -k 2n -k 1n "$KILL_LOG" > "$W/encode"
  unaim
  for r in $(seq 0 $(($2 - 1))); do
    floor
    how=$(how "$((r + job))")
    at=$(pick_for "$W/encode" "$r" "$2" "$how")
    # shellcheck disable=SC2086
    aim encode "$SSD" $at "$how"
    killed_run "$all" 4 -shape "$(shape)" -min "$FLOOR" -count 1 || return
    if has_parts '*.new.*'; then parts=$((parts + 1)); fi
    pass
  done
  floor
  try "after the last kill" "$all" 4 -shape "$(shape)" -min "$FLOOR" -count 1 || return
}

# Can SCHEME bear the loss of nodes A and B of four?
bears_two() {
  case $1 in
  RS) return 0 ;;
  PARTNER) [ $((($2 - $3) % 2)) = 0 ] ;;
  *) [ "$2" = "$3" ] ;;
  esac
}

# rebuild_job SCHEME FLUSH ROUNDS: again and again a node is lost, and the rebuild of it is killed.  Two nodes may be
# too many: then the older checkpoint of the prefix is right too (or a refusal, where nothing is flushed).
rebuild_job() {
  local all=node1,node2,node3,node4 lost=$((job % 4 + 1)) r i at how victim
  new_job
  real_nodes 4
  export SCR_COPY_TYPE=$1 SCR_FLUSH=$2
  try "first run" "$all" 4 -shape "$(shape)" -count 3 || return
  for i in 1 2 3 4; do save_ssd "$i" "$i" || { fail "cannot save the storage"; return; }; done
  rm -rf "$W/saved.prefix"
  cp -a "$SCR_PREFIX" "$W/saved.prefix"
  lose "$lost"
  aim rebuild "$SSD"
  try "count the calls" "$all" 4 -shape "$(shape)" -exact 3 || return
  sort -k 2n -k 1n "$KILL_LOG" > "$W/rebuild"
  unaim
  for r in $(seq 0 $(($3 - 1))); do
    for i in 1 2 3 4; do [ "$i" = "$lost" ] || restore_ssd "$i" "$i"; done
    find "$SCR_PREFIX" -mindepth 1 -delete
    cp -a "$W/saved.prefix/." "$SCR_PREFIX/"
    lose "$lost"
    how=$(how "$((r + job))")
    at=$(pick_for "$W/rebuild" "$r" "$3" "$how")
    victim=$((${at% *} + 1))
    # shellcheck disable=SC2086
    aim rebuild "$SSD" $at "$how"
    killed_run "$all" 4 -shape "$(shape)" -exact 3 || return
    if has_parts '*.new.*'; then parts=$((parts + 1)); fi
    i="$1, node $lost is lost, rank $at is killed ($how)"
    if [ "$how" = process ] || [ "$lost" = "$victim" ] || bears_two "$1" "$lost" "$victim"; then
      try "$i" "$all" 4 -shape "$(shape)" -exact 3 || return
    elif [ "$2" = 0 ]; then
      try "$i" "$all" 4 -shape "$(shape)" -exact 3 -expect perhaps || return
    else
      try "$i" "$all" 4 -shape "$(shape)" -min 2 || return
    fi
  done
  rm -rf "$W"/saved.*
}

# Tenths of ROUNDS for each scheme, in jobs of their own; ROUNDS 4: two for XOR and two for one of the others by turns.
if [ $((${TEST_TURN:-0} % 2)) = 0 ]; then other=RS; else other=PARTNER; fi
test_a_kill_while_encoding_costs_only_the_open_checkpoint() {
  local _
  if [ "$1" = 4 ]; then encode_job XOR 2 && encode_job "$other" 2 || return; fi
  for _ in $(seq $(($1 / 10))); do
    encode_job XOR 6 || return
    encode_job RS 2 || return
    encode_job PARTNER 2 || return
  done
  aimed_end "$(($1 / 10))"
}

test_a_kill_while_rebuilding_costs_no_more_than_the_node() {
  local _
  if [ "$1" = 4 ]; then
    if [ "$other" = RS ]; then rebuild_job RS 0 2; else rebuild_job PARTNER 2 2; fi && rebuild_job XOR 2 2 || return
  fi
  for _ in $(seq $(($1 / 10))); do
    rebuild_job XOR 2 3 || return
    rebuild_job XOR 0 3 || return
    rebuild_job RS 0 2 || return
    rebuild_job PARTNER 2 2 || return
  done
  aimed_end "$(($1 / 10))"
}

# Processes are killed at a file call below the prefix while a flush is under way.
test_a_kill_while_flushing_leaves_a_good_prefix() {
  local rounds=$1 all=node1,node2,node3,node4 r at
  new_job
  real_nodes 4
  export SCR_FLUSH=1
  aim encode "$SCR_PREFIX"
  try "count the calls" "$all" 4 -count 1 || return
  sort -k 2n -k 1n "$KILL_LOG" > "$W/flush"
  unaim
  for r in $(seq 0 $((rounds - 1))); do
    floor
    at=$(pick "$W/flush" "$r" "$rounds")
    # shellcheck disable=SC2086
    aim encode "$SCR_PREFIX" $at process
    killed_run "$all" 4 -min "$FLOOR" -count 1 || return
    if [ -n "$(find "$SCR_PREFIX" -name '*.scr*.tmp' -print -quit)" ]; then parts=$((parts + 1)); fi
    pass
    # What SCR_Complete_output has returned for is on the prefix.
    if [ $((r % 2)) = 0 ]; then
      lose 1 2 3 4
      floor COMPLETE
      try "round $r: all is lost after the kill" "$all" 4 -min "$FLOOR" || return
    fi
  done
  floor COMPLETE
  try "after the last kill" "$all" 4 -min "$FLOOR" || return
  aimed_end "$((rounds / 10))"
}

# ---- tests on virtual nodes ------------------------------------------------------------------------------------------

node_dirs() { find "$W/base" -type d -name "node.*-v$1" -prune; }

# The files of the newest checkpoint in the cache, the second, as paths below the base.  The run was killed while it may
# have been deleting the first one.
data_files() { (cd "$1" && find . -name .scr -prune -o -type f -path '*scr.dataset.2/*' -print0 | sort -z); }

# Compare the real files with the copies that were taken before the loss.
same_files() {
  local f n=0
  while IFS= read -r -d '' f; do
    n=$((n + 1))
    cmp "$W/copy/$f" "$W/base/$f" >> "$OUT" 2>&1 || return 1
  done < <(data_files "$W/copy")
  cmp -s <(data_files "$W/copy") <(data_files "$W/base") || { echo "other files than before" >> "$OUT"; return 1; }
  [ "$shape" = none ] || [ "$n" -gt 0 ] || { echo "no file to compare" >> "$OUT"; return 1; }
  echo "---- $n files are as they were" >> "$OUT"
}

# series NODES RANKS SHAPE: lose each node in turn, without any write in between: the redundancy has to be whole again.
series() {
  local nodes=$1 ranks=$2 shape=$3 k what dirs
  new_job
  what="$ranks ranks on $nodes nodes, $shape"
  rm -rf "${W:?}/base" "$W/copy"
  mkdir "$W/base"
  export SCR_CNTL_BASE=$W/base SCR_CACHE_BASE=$W/base SCR_VIRTUAL_NODES=$nodes
  try "$what: first run" here "$ranks" -count 2 -shape "$shape" -seed "$ranks" || return
  cp -a "$W/base" "$W/copy"
  for k in $(seq 0 $((nodes - 1))); do
    dirs=$(node_dirs "$k")
    [ -n "$dirs" ] || { fail "$what: there is no directory of virtual node $k"; return; }
    find "$W/base" -type d -name "node.*-v$k" -prune -exec rm -rf {} +
    try "$what: lost node $k" here "$ranks" -exact 2 -shape "$shape" -seed "$ranks" || return
    if same_files; then pass; else fail "$what: lost node $k: other bytes"; return; fi
  done
  try "$what: on" here "$ranks" -exact 2 -count 1 -shape "$shape" -seed "$ranks" -end finalize || return
}

test_nodes_lost_in_turn_give_back_files_of_every_shape() {
  local n s i=0 shapes=(equal odd empty one unequal none many names base)
  mkdir -p "$W"
  if [ "$MODE" = check ]; then
    series 2 2 odd
    series 4 4 many
    series 3 6 unequal
    return
  fi
  for n in 2 3 4 5 6; do
    if [ "$MODE" = long ]; then
      for s in "${shapes[@]}"; do series "$n" "$n" "$s"; done
      series "$n" $((n * 2)) unequal
      [ "$n" = 2 ] || series "$n" $((n * 3 - 1)) many # uneven, and still no rank without a partner
    else
      series "$n" "$n" "${shapes[i % 9]}"
      series "$n" "$n" "${shapes[(i + 1) % 9]}"
      i=$((i + 2))
    fi
  done
  series 3 6 unequal
  series 3 8 many
}

# says WHAT OUTPUT STATUS COMMAND...: a command with this output and status.  One failure ends the test: `|| return`.
says() {
  local what=$1 want="$2 $3" got
  shift 3
  got="$("$@" 2>> "$OUT") $?"
  if [ "$got" = "$want" ]; then pass; else fail "$what: $* gives '$got' instead of '$want'"; fi
  [ "$got" = "$want" ]
}

# Commands ask the nodes through a remote shell: which of them are dead, and what the caches of the others have.
test_commands_find_dead_nodes_and_what_the_caches_have() {
  local down=("$T/scr_list_down_nodes" --no-ping "node[1-4]") inspect=("$T/scr_inspect" --up "node[1-4]")
  new_job
  real_nodes 4
  export SCR_REMOTE_SHELL=$S/rsh
  says "nodes that work" "" 0 "${down[@]}" || return
  says "empty caches" "" 1 "${inspect[@]}" || return
  try "first run" "$(list 1 2 3 4)" 4 -expect fresh -count 2 -shape mixed || return
  says "what the caches have" 2 0 "${inspect[@]}" || return
  "$VNODES" kill node3
  says "one dead node" node3 1 "${down[@]}" || return
  says "what the others have" 2 0 "${inspect[@]}" --down node3 || return
  "$VNODES" kill node2
  says "two dead nodes" "node[2-3]" 1 "${down[@]}" || return
  says "too little is left" "" 1 "${inspect[@]}" --down "node[2-3]" || return
  "$VNODES" revive node2
  "$VNODES" revive node3
  says "spare nodes take their places" "" 0 "${down[@]}" || return
  unset SCR_REMOTE_SHELL
}

# scr_rebuild has little memory, and rebuilds large files in place; then the ranks restart from them.
test_scr_rebuild_needs_little_memory_for_large_files() {
  local k dirs=() lost
  new_job
  export SCR_CNTL_BASE=$T/large SCR_CACHE_BASE=$T/large SCR_VIRTUAL_NODES=4 SCR_COPY_TYPE=RS SCR_SET_FAILURES=2
  mkdir "$T/large"
  try "first run" here 4 -count 1 -size $((40 << 20)) || return
  for k in 0 1 2 3; do dirs+=("$(echo "$T/large/tester/scr.$SCR_JOB_ID"/node.*-v"$k"/scr.dataset.1)"); done
  mkdir "$T/large/was"
  mv "${dirs[1]}" "$T/large/was/1"
  cp -a "${dirs[2]}" "$T/large/was/2"
  rm -r "${dirs[2]}/ckpt.1"
  lost=${dirs[1]}
  unset "dirs[1]"
  if (ulimit -v 32768 && exec "$T/scr_rebuild" --into "$lost" "${dirs[@]}") >> "$OUT" 2>&1 &&
    diff -r "$T/large/was/1" "$lost" >> "$OUT" 2>&1 && diff -r "$T/large/was/2" "${dirs[2]}" >> "$OUT" 2>&1; then pass; else
    fail "scr_rebuild in 32 MiB"
    return
  fi
  try "the ranks restart" here 4 -exact 1 -size $((40 << 20)) || return
  rm -rf "$T/large"
}

# ---- all -------------------------------------------------------------------------------------------------------------

# Run test NAME with ARGUMENTS when it is asked for; WHERE is `nodes` when it needs the cluster.
perform() { # WHERE NAME ARGUMENT...
  local where=$1 began=$SECONDS before=$failed name
  TEST=$2
  shift 2
  for name in $NAMES; do [[ $TEST != *"$name"* ]] || break; done
  [[ -z $NAMES || $TEST == *"$name"* ]] || return
  tries=0 hits=0 parts=0
  RANDOM=$((SEED % 32768))
  if [ "$where" = nodes ] && [ "$CLUSTER_NODES" != yes ]; then
    skip "${CLUSTER_NODES#skipped: }"
    return
  fi
  "test_$TEST" "$@"
  echo "cluster: $TEST: $([ "$failed" = "$before" ] && echo ok || echo FAILED), $((SECONDS - began)) s"
}

trap 'finish' TERM INT
TEST=boot SCR_JOB_ID=none OUT=/dev/null
[ "$CLUSTER_NODES" != yes ] || "$VNODES" up 6 || { echo "cluster: the nodes do not boot"; failed=1; finish; }
case $MODE in check) kills=5 aimed=4 ;; full) kills=30 aimed=10 ;; long) kills=200 aimed=100 ;; esac
perform nodes each_node_dies_in_turn_and_a_spare_takes_its_place
perform nodes survivors_share_the_ranks_of_a_lost_node
perform nodes a_killed_run_restarts_from_its_last_checkpoint "$kills"
perform nodes losses_beyond_redundancy_fall_back_to_the_prefix_or_are_refused
perform nodes a_node_with_older_contents_mixes_nothing_in
perform nodes a_node_that_comes_back_does_no_harm
perform nodes a_kill_while_encoding_costs_only_the_open_checkpoint "$aimed"
perform nodes a_kill_while_rebuilding_costs_no_more_than_the_node "$aimed"
perform nodes a_kill_while_flushing_leaves_a_good_prefix "$aimed"
perform nodes commands_find_dead_nodes_and_what_the_caches_have
perform here nodes_lost_in_turn_give_back_files_of_every_shape
perform here scr_rebuild_needs_little_memory_for_large_files
[ $((passed + failed + skipped)) -gt 0 ] || { echo "cluster: no test has a name with $NAMES in it"; failed=1; }
finish
