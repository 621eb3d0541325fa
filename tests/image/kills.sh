#!/bin/bash
# Process images of jobs that are killed at each step of a start, an image and a restart, whose writes fail, and that
# lose nodes: the next start goes on from the newest image that was complete, and ends as a run without images.
#
#   kills.sh check|full|long           last line: N passed, N failed, N skipped
#
# check has a few moments, full each step once, long also calls of the system in them, other programs, and more
# chains of kills at random (SEED=N).  From the environment: CC, MPICC, MPIEXEC, BIN.
# shellcheck disable=SC2086,SC2154
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
vnodes=$top/tests/cluster/vnodes
mode=${1:-check}
seed=${SEED:-20261}
RANDOM=$((seed % 32768))
ranks=3 program=messages steps=12 programs='' launch='' hold=0 completions=0

# ---- runs

# run: what it prints, sorted, is in $tmp/result, what it says in $tmp/said; its exit code
run() {
  rm -f "$tmp/step"
  STEP_LOG=$tmp/step STEP_HOLD=$hold timeout -k 5 60 ${launch:-$MPIEXEC -n $ranks} "$programs/steps" \
    "$programs/$program" $steps <"$programs/letters" >"$tmp/out" 2>"$tmp/said"
  local rc=$?
  sort "$tmp/out" >"$tmp/result"
  return $rc
}
# of PROGRAM RANKS STEPS: the program of the next runs, and what it prints without images
of() {
  program=$1 ranks=$2 steps=$3
  fresh
  SCR_IMAGE=0 check "$1 without images" 0 "" run
  cp "$tmp/result" "$tmp/wanted"
}
source_of() { sed -n 's/.*restarted from image\.\([0-9]*\)$/\1/p' "$tmp/said"; } # the image; nothing for the beginning
newest() { sed -n 's/.* image\.\([0-9]*\) is complete: .*/\1/p' "$tmp/said" | tail -n 1; }
was_killed() { grep -q killed "$tmp/step" 2>/dev/null; }
bad() { # the run was wrong: how
  echo "$*"
  sed 's/^/  /' "$tmp/said" | tail -n 25
  return 1
}

# goes_on LEAST MOST: the next run ends with the result; it has restarted from an image of these, 0: from the beginning
goes_on() {
  local from rc
  run
  rc=$?
  from=$(source_of)
  [ $rc = 0 ] || { bad "exit code $rc"; return; }
  cmp -s "$tmp/wanted" "$tmp/result" || { bad "another result:"; diff "$tmp/wanted" "$tmp/result"; return 1; }
  if [ "${from:-0}" -lt "$1" ] || [ "${from:-0}" -gt "$2" ]; then
    bad "it began with image ${from:-0}, and not with one of $1 to $2"
  fi
}

# The offset of a function in the program; of a part of it, if the compiler has made one.
offset() {
  nm "$programs/$program" | awk -v f="$1" '$3 == f || index($3, f ".part.") == 1 {print length($3), $1}' | sort -rn |
    awk '{print $2; exit}'
}
number() { # of a call of the system
  case $1 in
  read) echo 0 ;; write) echo 1 ;; close) echo 3 ;; lseek) echo 8 ;; munmap) echo 11 ;; pwrite) echo 18 ;;
  sched_yield) echo 24 ;; fsync) echo 74 ;; openat) echo 257 ;; mkdir) echo 258 ;; fstatat) echo 262 ;;
  unlink) echo 263 ;; rename) echo 264 ;;
  esac
}
# at RANK FUNCTION COUNT [CALL COUNT [ERROR [on]]]: the step of the next run, see steps.c; it is looked for after so
# many entries of SCR_Complete_output as $completions says
at() {
  local where
  where=$(offset "$2")
  [ -n "$where" ] || { echo "there is no function $2" >&2; return 1; }
  STEP="$1 $where $3"
  [ $# = 3 ] || STEP="$STEP $(number $4) $5 ${*:6}"
  STEP_AFTER="$(offset SCR_Complete_output) $completions"
  export STEP STEP_AFTER
}

# dies RANK FUNCTION COUNT [CALL COUNT]: a run that is killed there
dies() {
  local rc
  at "$@" || return
  run
  rc=$?
  unset STEP STEP_AFTER
  was_killed || { bad "it does not come to this step: exit code $rc"; return; }
  [ $rc != 0 ] || bad "it ends with 0 although it was killed"
}

# how_many RANK FUNCTION COUNT CALL: of this call in the function there
how_many() {
  at "$1" "$2" "$3" "$4" 0 || return
  run
  unset STEP STEP_AFTER
  awk -v r="$1" '$1 == r && $2 == "back" {print $3; exit}' "$tmp/step"
}

# A run that has taken image 1 and was killed after it.
with_image() {
  fresh
  AT=4 DIES=30 run
  check "there is an image" 0 1 newest
}
lose() { # virtual nodes
  local i
  for i in "$@"; do rm -rf "$tmp"/node/*/scr.image/node.*-v"$i"; done
}

# ---- moments: RANK FUNCTION COUNT [CALL COUNT], and the images from which the next start may go on

# A run is killed while it takes its second image.  What follows takes another one, and goes on from that too.
in_image() { # LEAST MOST RANK FUNCTION COUNT [CALL COUNT]
  local name="an image, rank ${*:3}: killed" least=$1 most=$2 completions=$1 last
  shift 2
  fresh
  AT=4,16 check "$name" 0 "" dies "$@"
  last=$(newest)
  [ "${last:-0}" -le "$least" ] || least=$last
  AT=4,16,30 check "$name, it goes on" 0 "" goes_on $least $most
  last=$(newest)
  check "$name, the images after it" 0 "" test -n "$last"
  [ $mode != long ] || check "$name, again" 0 "" goes_on "${last:-0}" "${last:-0}"
}
# A run is killed while it restarts from its image.
in_restart() { # [lost] RANK FUNCTION COUNT [CALL COUNT]
  local name="a restart, rank $*: killed"
  with_image
  if [ $1 = lost ]; then
    lose 1
    shift
  fi
  check "$name" 0 "" dies "$@"
  AT=40 check "$name, it goes on" 0 "" goes_on 1 1
}
# A run is killed while its second image is flushed, and all nodes are lost.
in_flush() { # RANK FUNCTION COUNT CALL COUNT
  local name="a flush, rank $*: killed" completions=1
  fresh
  AT=4,16 SCR_FLUSH=1 check "$name" 0 "" dies "$@"
  rm -rf "$tmp/node"/*
  AT=30 SCR_FLUSH=1 check "$name, it goes on" 0 "" goes_on 1 2
  rm -rf "$tmp/node"/*
  check "$name, the next image" 0 "" goes_on 2 3
}
# A run is killed before there is an image, or in the first one.
in_start() { # MOST RANK FUNCTION COUNT [CALL COUNT]
  local name="a start, rank ${*:2}: killed" most=$1
  shift
  fresh
  AT=4 check "$name" 0 "" dies "$@"
  AT=4 check "$name, it goes on" 0 "" goes_on 0 $most
}
# An error at the second image: the run ends as it should, the next one has the newest image, and takes another.  The
# second image may be whole although the library could not say so, if the call is one of its own.
in_error() { # RANK FUNCTION COUNT CALL COUNT ERROR [on]
  local name="an error, rank $*" completions=1 last most=2
  fresh
  at "$@"
  AT=4,16 check "$name: the run goes on" 0 "" goes_on 0 0
  unset STEP STEP_AFTER
  last=$(newest)
  check "$name: the older image" 0 "" test -n "$last"
  if [ $2 = img_write ]; then
    check "$name: a message" 0 - grep "scr_image: rank $1 on .*: cannot \(write\|close\) .*/rank_$1\.img: " "$tmp/said"
    check "$name: which image" 0 "" test "$last" = 1
    most=1
  fi
  AT=30 check "$name: restarted" 0 "" goes_on "${last:-0}" "$most"
  check "$name: a later image" 0 "" test -n "$(newest)"
}
# counted WHAT RANK FUNCTION COUNT CALL: the number of calls, at least one, is in $n
counted() {
  n=$(how_many "${@:2}")
  check "the calls of $5 in $3, $1, are counted" 0 "" test "${n:-0}" -gt 0
}

few_kills() {
  in_image 1 1 1 img_agree_totals 1
  in_image 1 1 2 img_write 1 write 3
  in_image 1 2 0 SCR_Complete_output 1 rename 1
  in_image 2 2 all img_lib_leave 1
  in_restart 2 img_load 1 read 4
  in_restart 0 SCR_Complete_restart 1
  in_error 1 img_write 1 write 3 28 on
}
kills() {
  local r f n call

  # from the request to the end of the image; the second one is complete when SCR_Complete_output has returned
  r=0
  for f in img_streams_objection img_drain img_agree_totals img_lib_due img_files_save img_lib_write SCR_Route_file \
    img_write; do
    in_image 1 1 $r $f 1
    r=$(((r + 1) % ranks))
  done
  hold=40
  in_image 1 1 1 img_agree_totals 1
  in_image 1 1 0 SCR_Complete_output 1
  in_image 1 1 all SCR_Complete_output 1
  in_image 2 2 0 img_lib_leave 1
  hold=0
  in_image 2 2 all img_lib_leave 1
  in_image 2 2 1 img_repost 1
  fresh
  AT=4,16 completions=1 counted "an image" 1 img_write 1 write
  in_image 1 1 1 img_write 1 write $((n / 2))
  in_image 1 1 1 img_write 1 lseek 3
  in_image 1 1 2 img_write 1 close 1
  for call in openat pwrite rename; do
    fresh
    AT=4,16 completions=1 counted "an image" 0 SCR_Complete_output 1 $call
    in_image 1 2 0 SCR_Complete_output 1 $call $((RANDOM % n + 1))
  done

  for call in write rename fsync; do
    fresh
    AT=4,16 SCR_FLUSH=1 completions=1 counted "a flush" 0 SCR_Complete_output 1 $call
    in_flush 0 SCR_Complete_output 1 $call $((RANDOM % n + 1))
    in_flush 1 SCR_Complete_output 1 $call 1
  done

  # the restart
  r=0
  for f in img_agree_start img_lib_start SCR_Init_comm SCR_Have_restart SCR_Start_restart SCR_Route_file img_compare \
    img_load SCR_Complete_restart img_resume img_files_resumed img_agree_barrier img_comm_resumed img_types_resumed \
    img_repost; do
    in_restart $r $f 1
    r=$(((r + 1) % ranks))
  done
  hold=40
  in_restart all img_load 1
  in_restart 0 SCR_Complete_restart 1
  hold=0
  in_restart 1 img_compare 1 fstatat 1
  with_image
  counted "a restart" 1 img_load 1 read
  in_restart 1 img_load 1 munmap 1
  in_restart 1 img_load 1 read $((n / 2))
  with_image
  lose 1
  counted "a rebuild" 1 SCR_Init_comm 1 rename
  in_restart lost 1 SCR_Init_comm 1 rename $n
  in_restart lost 0 SCR_Init_comm 1 rename 1

  # the start
  in_start 0 1 img_agree_start 1
  in_start 0 0 SCR_Init_comm 1
  in_start 0 all SCR_Complete_output 1
  in_start 1 0 SCR_Complete_output 1 rename 1

  # errors: no space, input and output
  fresh
  AT=4,16 completions=1 counted "an image" 1 img_write 1 write
  in_error 1 img_write 1 write 1 28 on
  in_error 2 img_write 1 write $((n / 2)) 5
  in_error 1 img_write 1 lseek 3 5
  in_error 0 img_write 1 openat 1 28
  in_error 1 img_write 1 close 1 28
  in_error 1 SCR_Complete_output 1 pwrite 1 28 on
  in_error 0 img_lib_write 1 mkdir 1 28 on
}

# some N: at most twelve numbers from 1 to N, evenly spaced, other ones for each SEED
some() {
  local pace=$(($1 / 12 + 1))
  seq $((1 + seed % pace)) $pace $(($1 > 0 ? $1 : 0))
}
# Calls of the system within these functions; how many there are differs a little from run to run.
all_calls() {
  local r call k n
  for call in openat write pwrite mkdir rename unlink fsync; do
    for r in 0 1; do
      fresh
      n=$(AT=4,16 completions=1 how_many $r img_lib_write 1 $call)
      for k in $(some $((${n:-0} - 4))); do
        in_image 1 2 $r img_lib_write 1 $call $k
        in_error $r img_lib_write 1 $call $k 28 on
        in_error $r img_lib_write 1 $call $k 5
      done
      fresh
      n=$(AT=4,16 SCR_FLUSH=1 completions=1 how_many $r SCR_Complete_output 1 $call)
      for k in $(some $((${n:-0} - 1))); do in_flush $r SCR_Complete_output 1 $call $k; done
      with_image
      n=$(how_many $r SCR_Init_comm 1 $call)
      for k in $(some $((${n:-0} - 1))); do in_restart $r SCR_Init_comm 1 $call $k; done
      with_image
      lose 1
      n=$(how_many $r SCR_Init_comm 1 $call)
      for k in $(some $((${n:-0} - 1))); do in_restart lost $r SCR_Init_comm 1 $call $k; done
    done
  done
}

# ---- chains: each run takes images, and is killed somewhere; a node may be lost between two

in_starts="img_agree_start:1 img_lib_start:1 SCR_Init_comm:1 SCR_Have_restart:1 SCR_Route_file:1 img_compare:1
  img_load:1 SCR_Complete_restart:1 img_resume:1 img_files_resumed:1 img_agree_barrier:1 img_comm_resumed:1
  img_types_resumed:1 img_repost:1 SCR_Init_comm:1:openat SCR_Init_comm:1:rename SCR_Init_comm:1:read img_load:1:read
  img_load:1:munmap"
in_images="img_streams_objection img_drain img_agree_totals img_lib_due img_files_save img_lib_write
  img_write SCR_Complete_output img_lib_leave img_repost"
in_writes="img_drain:sched_yield img_write:write img_write:close img_lib_write:mkdir img_lib_write:openat
  SCR_Complete_output:openat SCR_Complete_output:pwrite SCR_Complete_output:rename SCR_Complete_output:fsync
  SCR_Complete_output:unlink"
# some_step: one is in $step
some_step() {
  completions=0
  one_of all $(seq 0 $((ranks - 1))) && step=$one
  case $((RANDOM % 3)) in
  0) one_of $in_starts && step="$step ${one//:/ }" ;;
  1) one_of $in_images && step="$step $one $((RANDOM % 3 + 1))" && completions=$((RANDOM % 2)) ;;
  2) one_of $in_writes && step="$step ${one%:*} $((RANDOM % 2 + 1)) ${one#*:}" ;;
  esac
  case $step in *:* | *[a-z]) step="$step $((RANDOM % 6 + 1))" ;; esac
}
one_of() { # WORD...: one is in $one
  shift $((RANDOM % $#))
  one=$1
}
# link LEAST: the run at the step that is set: it is killed there, or ends with the result; from which image it is
link() {
  local rc from
  run
  rc=$?
  from=$(source_of)
  if was_killed && [ -z "$from$(newest)" ]; then return; fi # it may have been in the restart
  if [ "${from:-0}" -lt "$1" ]; then bad "it began with image ${from:-0}, and not with $1"; return 1; fi
  if was_killed; then return; fi
  [ $rc = 0 ] || { bad "exit code $rc"; return; }
  cmp -s "$tmp/wanted" "$tmp/result" || bad "another result"
}
chain() { # ROUNDS
  local i least=0 last scheme step hits=0
  one_of XOR PARTNER RS
  scheme=$one
  fresh
  export SCR_COPY_TYPE=$scheme AT=4,9,14,19,24,29,34,39,44,49,54,59,64
  for i in $(seq "$1"); do
    one_of 0 0 20 && hold=$one
    some_step
    at $step
    check "chain of $program, seed $seed, $scheme, $i: $step" 0 "" link "$least"
    unset STEP STEP_AFTER
    if was_killed; then hits=$((hits + 1)); fi
    last=$(source_of)
    [ "${last:-0}" -le "$least" ] || least=$last
    last=$(newest)
    [ "${last:-0}" -le "$least" ] || least=$last
    # what this run has completed is whole on all nodes
    if [ -n "$last" ] && [ $((RANDOM % 3)) = 0 ]; then lose $((RANDOM % ranks)); fi
    if [ "$least" -gt 8 ]; then # few points are left
      hold=0
      check "chain of $program, seed $seed, $scheme, $i: the end" 0 "" goes_on "$least" 1000
      fresh
      least=0
    fi
  done
  hold=0 completions=0
  check "chain of $program, seed $seed, $scheme: its end" 0 "" goes_on "$least" 1000
  check "chain of $program: kills" 0 "" test $hits -ge $(($1 / 10))
  unset SCR_COPY_TYPE AT
}

# ---- virtual nodes, networks, the commands of a job

schemes() {
  local scheme
  for scheme in PARTNER XOR RS; do
    export SCR_COPY_TYPE=$scheme
    with_image
    lose 1
    AT=40 check "$scheme, a node is lost" 0 "" goes_on 1 1
    check "$scheme, another image" 0 2 newest
    lose 2
    check "$scheme, another node is lost" 0 "" goes_on 2 2
  done
  export SCR_COPY_TYPE=RS SCR_SET_FAILURES=2
  with_image
  lose 0 2
  check "RS, two nodes are lost" 0 "" goes_on 1 1
  export SCR_COPY_TYPE=SINGLE
  with_image
  lose 1
  check "SINGLE, a node is lost: no start from the beginning" 1 "" run
  check "SINGLE, a node is lost: why" 0 - grep "complete checkpoints exist, but none could be loaded" "$tmp/said"
  fresh
  AT=4,20,34 DIES=60 SCR_FLUSH=2 run
  check "SINGLE, each second image is flushed" 0 3 newest
  lose 1
  check "SINGLE, a node is lost: the image that was flushed" 0 "" goes_on 2 2
  unset SCR_COPY_TYPE SCR_SET_FAILURES
}

# leg NETWORK POINT FROM IMAGE: over this network, from one image to the next; killed before MPI_Finalize, which over
# TCP does not always return here, with and without images
leg() {
  UCX_TLS=$1,self AT=$2 DIES=$(($2 + 16)) run
  check "over $1, the image at point $2" 0 "$4" newest
  check "over $1, from which image" 0 "$3" source_of
}
networks() {
  fresh
  leg tcp 4 "" 1
  leg sm 22 1 2
  leg tcp 40 2 3
  UCX_TLS=sm,self check "shared memory after TCP" 0 "" goes_on 3 3
  fresh
  leg sm 4 "" 1
  leg tcp 22 1 2
  UCX_TLS=sm,self check "shared memory again" 0 "" goes_on 2 2
}

# What ranks have printed, whatever the commands of the job have said.
same_lines() { grep "^rank " "$tmp/out" | sort | diff "$tmp/wanted" -; }
# until PATTERN PROCESS: what it says has this
until_said() {
  local _
  for _ in $(seq 300); do
    if grep -q "$1" "$tmp/said" 2>/dev/null; then return 0; fi
    kill -0 "$2" 2>/dev/null || return 1
    sleep 0.1
  done
  return 1
}
until_killed() { # PROCESS: a rank of it has come to its step
  local _
  for _ in $(seq 200); do
    if was_killed; then return 0; fi
    kill -0 "$1" 2>/dev/null || return 1
    sleep 0.05
  done
  return 1
}
# job SETTING...: scr_run of the program in the background, as process $job
job() {
  env "$@" timeout 100 scr_run ${launch:-$MPIEXEC -n $ranks} "$programs/$program" $steps </dev/null >"$tmp/out" \
    2>"$tmp/said" &
  job=$!
}
commands() {
  with_image
  lose 1
  check "scr_postrun after a killed run" 0 - scr_postrun
  check "it has copied the image" 0 "" test -f "$p/image.1/rank_1.img"
  rm -rf "$tmp/node"/*
  AT=40 check "from the prefix, all nodes are new" 0 "" goes_on 1 1
  with_image
  check "scr_scavenge after a killed run" 0 - scr_scavenge
  rm -rf "$tmp/node"/*
  check "from the prefix again" 0 "" goes_on 1 1

  of state 3 "60 40000"
  fresh
  job SCR_RUN_WAIT=0 SCR_RUNS=3 AT=10 DIES=30
  wait $job
  check "scr_run, a rank is killed in each run" 9 "" sh -c "exit $?"
  check "scr_run, the next runs go on" 0 "" test "$(grep -c "restarted from image\.1\$" "$tmp/said")" = 2
  job AT=40
  wait $job
  check "scr_run, the next job" 0 "" same_lines
  check "scr_run, the next job goes on" 0 1 source_of

  fresh
  job SCR_SIGNALS=TERM:checkpoint+halt
  check "the run has begun" 0 "" until_said "ready after" $job
  kill -TERM "$(pgrep -P $job -x scr_run)"
  wait $job
  check "SIGTERM to scr_run: to be submitted again" 3 "" sh -c "exit $?"
  check "SIGTERM to scr_run: an image" 0 1 newest
  check "SIGTERM to scr_run: why it ends" 0 - grep "the run ends here" "$tmp/said"
  rm -rf "$tmp/node"/*
  job SCR_SIGNALS=TERM:checkpoint+halt
  wait $job
  check "SIGTERM to scr_run: the next job ends" 0 "" sh -c "exit $?"
  check "SIGTERM to scr_run: the result" 0 "" same_lines
  check "SIGTERM to scr_run: from which image" 0 1 source_of
}

# ---- real nodes: within a cluster, with the programs of $KILLS

on() { # NODE...: the next runs are on these
  local IFS=,
  launch="$vnodes mpiexec ${*/#/node} $ranks"
}
node_lost() { "$vnodes" kill "node$1"; }
in_cluster() {
  local pid
  programs=$KILLS
  p=$tmp/prefix
  cd "$tmp" && mkdir "$p" || return
  fresh() {
    local i
    rm -rf "$p" && mkdir "$p" && cd "$p" || exit 1
    for i in 1 2 3 4 5; do
      [ -s "$VNODES_STATE/node$i.pid" ] || "$vnodes" revive node$i
      "$vnodes" run node$i find "$("$vnodes" ssd)" -mindepth 1 -delete
    done
  }
  export SCR_PREFIX=$p SCR_CACHE_BASE SCR_CNTL_BASE SCR_REMOTE_SHELL=$VNODES_STATE/rsh
  SCR_CACHE_BASE=$("$vnodes" ssd) SCR_CNTL_BASE=$("$vnodes" ssd)
  unset SCR_VIRTUAL_NODES
  check "the nodes boot" 0 - "$vnodes" up 5
  ranks=4
  fresh
  on 1 2 3 4
  SCR_IMAGE=0 run
  cp "$tmp/result" "$tmp/wanted"
  check "a run without images" 0 "" test -s "$tmp/wanted"
  with_image
  node_lost 2
  on 1 5 3 4
  AT=40 check "node2 is lost, and node5 takes its place" 0 "" goes_on 1 1
  check "another image" 0 2 newest
  node_lost 3
  on 1 5 4
  AT=60 check "node3 is lost, and the others take its rank" 0 "" goes_on 2 2
  check "one more image" 0 3 newest
  "$vnodes" revive node2
  "$vnodes" revive node3
  on 4 3 2 1
  check "the ranks are elsewhere" 0 "" goes_on 3 3
  with_image
  on 1 2 3 4
  at 2 img_load 1 read 4
  run
  check "a restart is killed" 0 "" was_killed
  unset STEP STEP_AFTER
  node_lost 4
  on 1 2 3 5
  check "a restart is killed, and then node4 is lost" 0 "" goes_on 1 1

  # node2 dies while its rank stands still at a step, and the others have gone on as far as they can
  hold=10000
  for step in "img_agree_barrier 1" "img_write 1 write 3" "SCR_Complete_output 1 rename 1" "img_lib_leave 1"; do
    with_image
    on 1 2 3 4
    case $step in img_lib_leave*) completions=1 ;; *) completions=0 ;; esac
    at 1 $step
    AT=40 run &
    pid=$!
    check "node2 is to die at $step" 0 "" until_killed $pid
    sleep 0.2
    node_lost 2
    wait $pid
    unset STEP STEP_AFTER
    on 1 5 3 4
    check "node2 died at $step" 0 "" goes_on $((completions + 1)) 2
  done
  hold=0 completions=0

  program=state steps="60 40000"
  fresh
  on 1 2 3 4
  SCR_IMAGE=0 run
  cp "$tmp/result" "$tmp/wanted"
  fresh
  printf 'node%d\n' 1 2 3 4 5 >"$tmp/hosts"
  AT=10 SCR_MIN_NODES=4 SCR_RUN_WAIT=0 SCR_RUNS=3 timeout 100 scr_run --hosts "$tmp/hosts" \
    --launcher "'$vnodes' mpiexec {nodes} {np}" --np 4 "$programs/$program" $steps </dev/null \
    >"$tmp/out" 2>"$tmp/said" &
  pid=$!
  check "scr_run: an image" 0 "" until_said "image\.1 is complete" $pid
  node_lost 2
  wait $pid
  check "scr_run: a node dies, and it ends" 0 "" sh -c "exit $?"
  check "scr_run: the result" 0 "" same_lines
  check "scr_run: from which image" 0 1 source_of
}

# ---- all

if [ $mode = nodes ]; then
  . "$top/tests/find_mpi.sh"
  . "$top/tests/tools/check.sh"
  mode=$2
  in_cluster
  finish
  exit
fi
. "$top/tests/image/common.sh"
programs=$tmp
export WORD=here
check "steps is built" 0 "" ${CC:-cc} -O1 -Wall -Wextra -Werror -o "$tmp/steps" "$top/tests/image/steps.c"
PMI_RANK=0 STEP="0 0 1" "$tmp/steps" "$(type -P true)" || skip "processes cannot be traced here"
printf 'ab cdefghij\nklmnop\nqrs t\n u\n' >"$tmp/letters"
for name in messages state collectives communicators nonblocking open; do
  check "$name is built" 0 "" $MPICC -O1 -o "$tmp/$name" "$top/tests/image/$name.c" "$top/scr_image.o" -lm
done
of messages 3 12
if [ $mode = check ]; then
  few_kills
  chain 4
  finish
  exit
fi
kills
chain 12
schemes
networks
commands
if [ $mode = long ]; then
  of messages 3 12
  all_calls
  for seed in $(seq $seed $((seed + 9))); do
    for name in "messages 3 12" "messages 4 20" "collectives 4 12" "nonblocking 3 12" "communicators 4 12" \
      "open 3 12"; do
      of $name
      chain 20
    done
  done
fi
if why=$("$vnodes" check); then
  KILLS=$(TMPDIR='' mktemp -d /tmp/scr-kills.XXXXXX) || exit 1
  trap 'rm -rf "$tmp" "$KILLS"' EXIT
  cp "$tmp/steps" "$tmp/messages" "$tmp/state" "$tmp/letters" "$KILLS/"
  export KILLS
  env -u TMPDIR "VNODES_STATE=$KILLS/nodes" "$vnodes" with "$top/tests/image/kills.sh" nodes $mode >"$KILLS/log" 2>&1
  grep -v "^[0-9]* passed, " "$KILLS/log"
  read -r a _ b _ c _ < <(grep "^[0-9]* passed, " "$KILLS/log" | tr -d , || echo "0 passed 1 failed 0 skipped")
  passed=$((passed + ${a:-0})) failed=$((failed + ${b:-1})) skipped=$((skipped + ${c:-0}))
else
  skipped=$((skipped + 1))
  echo "skipped: nodes: $why"
fi
finish
