#!/bin/bash
# The daemon scr_transfer under real jobs: it, the job, or both are killed while it copies, and other runs follow; every
# file on the prefix is compared with that of an undisturbed run.  From the environment: CC, MPICC, MPIEXEC, BIN.
#
#   transfer.sh [check|full|long]      last line: N passed, N failed, N skipped
#
# shellcheck disable=SC2005,SC2015,SC2016,SC2046,SC2086,SC2154,SC2317
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
BIN=$(cd "${BIN:-$top/tools}" && pwd)
mode=${1:-check}
. "$top/tests/find_mpi.sh"
for v in $(env | sed -n 's/^\(\(SCR\|SLURM\|PBS\|LSB\|FLUX\)_[A-Z_]*\)=.*/\1/p'); do unset "$v"; done
. "$top/tests/tools/check.sh"
trap '{ timeout 20 "$BIN/scr_transfer" --exit "$tmp/base/me/scr.57"; kill -9 $(jobs -pr); rm -rf "$tmp"; } 2>/dev/null' EXIT
yields
check "a job builds" 0 "" $MPICC -O1 -Wall -Werror -o "$tmp/job" "$top/tests/tools/steered.c" "$library" -lz -lpthread
transfer=$BIN/scr_transfer p="$tmp/a prefix" base=$tmp/base
node=$base/me/scr.57 # of the job
export "SCR_PREFIX=$p" SCR_CNTL_BASE=$base SCR_CACHE_BASE=$base SCR_USER_NAME=me SCR_JOB_ID=57 SCR_VIRTUAL_NODES=3
export SCR_FLUSH=1 SCR_FLUSH_ASYNC=1 SCR_FLUSH_TYPE=DAEMON SCR_CACHE_SIZE=4 SCR_LOG_ENABLE=1 SCR_LOG_SYSLOG_ENABLE=0
export BYTES=1000000 BEFORE_STEP=$tmp/step PATH=$BIN:$PATH
RANKS=3 total=3000006

fresh() { rm -rf "$p" "$base" && mkdir "$p" "$base" && cd "$p" && printf '#!/bin/bash\n' >"$tmp/step" && chmod +x "$tmp/step"; }
# before STEP COMMAND: what is done before that step
before() { printf 'case $1 in %s) %s ;; esac\n' "$1" "$2" >>"$tmp/step"; }
job() { timeout -k 5 90 $MPIEXEC -n $RANKS "$tmp/job" "$@" >"$tmp/said" 2>&1; }
calmly() { printf '#!/bin/sh\n' >"$tmp/step" && job "$@"; }

# The daemon, the newest job of this shell; its number is in the file daemon, and what it says in daemon.log.
daemon() {
  "$@" "$transfer" >>"$tmp/daemon.log" 2>&1 &
  last=$!
  echo $last >"$tmp/daemon"
  until "$BIN/scr_print_hash_file" "$node/transfer.scrinfo" 2>/dev/null | grep -q RUN; do sleep 0.05; done
}
wrote() { awk '/^wchar/ {print $2}' /proc/$last/io; } # bytes that the daemon has written
wrote_once() { [ "$(wrote)" -gt $((${1:-1} * total)) ] && [ "$(wrote)" -lt $((${1:-1} * total * 12 / 10)) ] || { wrote; return 1; }; }
fell() { kill -9 %% && wait $last; } 2>/dev/null # the daemon is killed; by its job: its number may be another's by now
lives() { [ -e "/proc/$last" ] && ! grep -q '^State:.*Z' "/proc/$last/status"; }
# within COMMAND...: it succeeds, within a minute
within() { for _ in $(seq 600); do "$@" >/dev/null 2>&1 && return; sleep 0.1; done; return 1; }
has_ended() { ! lives; }
ends() { timeout 60 "$transfer" --exit && within has_ended; }
# looks N: the daemon reads N times more, which it does at each look at the transfer file
reads() { awk '/^syscr/ {print $2}' /proc/$last/io; }
has_read() { [ "$(reads)" -ge "$1" ]; }
looks() { within has_read $(($(reads) + $1)); }
# the transfer file becomes one that is damaged, at once: of a file that grows the daemon tells more than once
damage() { printf 'no hash' >"$tmp/damaged" && mv "$tmp/damaged" "$node/transfer.scrinfo"; }

# all transfer files as text; a program, because launchers do not pass on functions
printf '#!/bin/sh\nfor f in "%s"/node.*/transfer.scrinfo; do "%s" "$f"; done\n' "$node" "$BIN/scr_print_hash_file" >"$tmp/files"
chmod +x "$tmp/files" && export PATH="$tmp:$PATH"
is_done() { [ "$(files | grep -c 'FLAG = DONE')" = "$RANKS" ]; }
wait_done() { within is_done || { files; return 1; }; }
# what a step waits for: something of the newest dataset is copied
begun='until files | grep -q "WRITTEN = [1-9]"; do sleep 0.02; done'
die='kill -9 $(cat pid.*)'

same() { for d in "$@"; do for r in 0 1 2; do cmp "$tmp/calm/$d/rank_$r" "$p/$d/rank_$r" || return; done; done; }
listed() { echo $("$BIN/scr_index" --prefix "$p" --list | sed -n 's/^.* \(step[.0-9]*\)$/\1/p' | sort); }
left() { find "$p" -name '*.tmp' -o -name 'scavenge.*'; }
# the flushes of the last run, by its log
flushes() { echo $(tac "$p/.scr/log" | sed '/event=START/q' | grep -o 'event=[A-Z_]*FLUSH_[A-Z]*' | sort | uniq -c); }
# whole WHAT DATASETS: they are on the prefix, and nothing is left to copy or to remove
whole() {
  check "$1: the index" 0 "$2" listed
  check "$1: the bytes" 0 "" same $2
  check "$1: nothing is left" 0 "" left
  check "$1: the transfer files are empty" 1 "" grep -q WRITTEN <(files)
}

# ---- the command
fresh
says "help" 0 "control directory" "$transfer" --help
says "two directories" 1 "one directory is enough" "$transfer" a b
says "wrong option" 1 "Usage" "$transfer" --none
says "no control directory" 1 "not a control directory" "$transfer" /x
says "a directory of somebody else" 1 "cannot create\|belongs to\|others" "$transfer" /proc/me/scr.1
mkdir -p "$tmp/open/me/scr.9" && : >"$tmp/open/me/scr.9/transfer.scrinfo" && chmod 777 "$tmp/open/me/scr.9"
says "no daemon is told to end where others can write" 1 "scr.9 can be written by others" flock "$tmp/open/me/scr.9/transfer.daemon.lock" "$transfer" --exit "$tmp/open/me/scr.9"
check "no daemon to end" 0 "" "$transfer" --exit
check "no daemon to end, nowhere" 0 "" "$transfer" --exit "$tmp/none/me/scr.1"
check "nothing is made by that" 1 "" test -e "$tmp/none"
daemon
check "it makes its control directory, for this user alone" 0 "drwx------" sh -c 'ls -ld "$1" | cut -c1-10' sh "$node"
says "a second one" 0 "is served already" "$transfer" "$node"
says "a second one, by the file" 0 "is served already" "$transfer" "$node/transfer.scrinfo"
says "a second one, by a relative path" 0 "is served already" sh -c 'cd "$1/.." && "$2" scr.57/' sh "$node" "$transfer"
damage
within grep -q "is truncated" "$tmp/daemon.log"
looks 50
check "a damaged transfer file: it lives" 0 "" lives
says "a damaged transfer file: it says so" 0 "transfer.scrinfo is truncated" cat "$tmp/daemon.log"
check "a damaged transfer file: once" 0 1 grep -c "is truncated" "$tmp/daemon.log"
check "it ends" 0 "" ends
: >"$tmp/daemon.log"
damage
daemon
says "a file that is damaged from the start" 0 "is truncated.*begun anew" cat "$tmp/daemon.log"
check "it ends again" 0 "" ends
: >"$tmp/daemon.log"

# ---- runs that nobody disturbs
fresh
SCR_FLUSH_ASYNC=0 calmly 3
cp -a "$p" "$tmp/calm"
check "an undisturbed run" 0 "step.1 step.2 step.3" listed
fresh
SCR_FLUSH_ASYNC=0 SCR_USE_CONTAINERS=1 SCR_CONTAINER_SIZE=1200000 calmly 3
cp -a "$p" "$tmp/calm.packed"
fresh
daemon
check "a job and a daemon" 0 "" calmly 3
whole "a job and a daemon" "step.1 step.2 step.3"
check "the daemon has copied all" 0 "" wrote_once 3
check "nobody complains" 1 "" grep -e warning -e error "$tmp/said" "$tmp/daemon.log"
check "the next job, too" 0 "" calmly 3
check "it ends when asked to" 0 "" ends
fresh
check "no daemon" 0 "" calmly 2
whole "no daemon" "step.1 step.2"
check "no daemon: one line says so" 0 1 grep -c "no process scr_transfer serves.*the first of 3 ranks that say so" "$tmp/said"

# ---- limits: the daemon of a node has a third of them
fresh
daemon
before 2 'until files | grep -q "SIZE = "; do sleep 0.02; done; date +%s%N >"$BEFORE_STEP.began"; until [ $(files | grep -c "FLAG = DONE") = 3 ]; do sleep 0.05; done; date +%s%N >"$BEFORE_STEP.ended"'
BYTES=3000000 SCR_FLUSH_ASYNC_BW=3000000 job 2
took=$((($(cat "$tmp/step.ended") - $(cat "$tmp/step.began")) / 1000000))
# a burst may use up one second's worth at once; later ones have to wait for their time
check "9 MB at 3 MB/s take 2 s or more, after the first burst: $took ms" 0 "" test $took -ge 1800 -a $took -le 8000
fell
fresh
daemon
cat >"$tmp/share" <<END
#!/bin/sh
# the time now, in ms, and what the daemon has worked
echo \$((\$(date +%s%N) / 1000000)) "\$(awk '/^se.sum_exec_runtime/ {print int(\$3)}' "/proc/\$(cat "$tmp/daemon")/sched")"
END
chmod +x "$tmp/share"
before 2 'until [ $(files | grep -c "FLAG = DONE") = 3 ]; do sleep 0.05; done; share >"$BEFORE_STEP.ended"'
"$tmp/share" >"$tmp/step.began" # not when the flush has begun: a busy machine may be late to look
BYTES=120000000 SCR_FLUSH_ASYNC_PERCENT=20 SCR_COPY_TYPE=SINGLE job 2
read -r began cpu_began <"$tmp/step.began" && read -r ended cpu_ended <"$tmp/step.ended"
took=$((ended - began)) cpu=$((cpu_ended - cpu_began))
check "it works no more than its share of the time: $cpu of $took ms" 0 "" test "$cpu" -gt 0 -a $((cpu * 100)) -le $((took * 35))
fell

# ---- the job is killed, or the daemon, or both: with plain files, and with containers
slow=600000 # of three nodes: a file takes several seconds; 60000 where nobody waits for the daemon
# dies STEP: the ranks are killed before this step, when some of the newest dataset is copied
dies() { before "$1" "$begun; $die" && SCR_FLUSH_ASYNC_BW=$slow job $(($1 + 1)); }
plain_same() { for d in "$@"; do for r in 0 1 2; do cmp "$tmp/calm/$d/rank_$r" "$p/$d/rank_$r" || return; done; done; }
packed_same() { for d in "$@"; do for c in 0 1 2; do cmp "$tmp/calm.packed/$d/.scr/ctr.$c.scr" "$p/$d/.scr/ctr.$c.scr" || return; done; done; }
same() { if [ -n "$with" ]; then packed_same "$@"; else plain_same "$@"; fi; }
taken_over="1 event=ASYNC_FLUSH_START 1 event=ASYNC_FLUSH_SUCCESS"
for packs in 0 1; do
  export SCR_USE_CONTAINERS=$packs SCR_CONTAINER_SIZE=1200000
  [ $packs = 0 ] && with='' || with=', containers'

  fresh
  daemon
  dies 2
  check "killed$with: nothing is in the index" 0 "" listed
  check "killed$with: the daemon has not finished" 1 - is_done
  check "killed$with: it completes the copy" 0 "" wait_done
  check "killed$with: it lives" 0 "" lives
  check "killed$with: the next run" 0 "" calmly 0
  whole "killed$with" step.1
  check "killed$with: nothing was copied twice" 0 "" wrote_once
  check "killed$with: the next run has only completed the flush" 0 "$taken_over" flushes
  check "killed$with: it restarts from it" 0 1 grep -c "^restarted from step.1" "$tmp/said"
  fell

  if [ $packs = 0 ] || [ "$mode" != check ]; then
    fresh
    daemon
    dies 2
    check "the daemon outlives a relaunch$with" 0 "" calmly 0
    whole "the daemon outlives a relaunch$with" step.1
    check "the daemon outlives a relaunch$with: nothing was copied twice" 0 "" wrote_once
    check "the daemon outlives a relaunch$with: it goes on with the flush" 0 "$taken_over" flushes
    fell

    fresh
    daemon
    before 2 "$begun; kill -9 $last"
    SCR_FLUSH_ASYNC_BW=$slow job 2
    whole "the daemon is killed$with" "step.1 step.2"
    says "the daemon is killed$with: the job says so" 0 "process scr_transfer .*; the ranks of this node copy" cat "$tmp/said" # it has ended, or none serves
    check "the daemon is killed$with: it had copied something" 0 "" test $(wc -c <"$tmp/said") -gt 0

    fresh
    daemon
    slow=60000 dies 2
    fell
    check "both are killed$with: the copy is not complete" 1 - is_done
    check "both are killed$with: the next run" 0 "" calmly 0
    whole "both are killed$with" step.1
  fi

  fresh
  daemon
  dies 2
  fell
  daemon
  check "both are killed$with, a new daemon: it goes on" 0 "" wait_done
  check "both are killed$with, a new daemon: without what was done" 0 "" test "$(wrote)" -lt $total
  check "both are killed$with, a new daemon: the next run" 0 "" calmly 0
  whole "both are killed$with, a new daemon" step.1
  check "both are killed$with, a new daemon: the flush goes on" 0 "$taken_over" flushes
  fell

  if [ $packs = 0 ] || [ "$mode" != check ]; then
    fresh
    daemon
    dies 4
    check "several datasets$with: the next run" 0 "" calmly 0
    whole "several datasets$with" "step.1 step.2 step.3"
    check "several datasets$with: nothing was copied twice" 0 "" wrote_once 3
    fell

    fresh
    daemon
    dies 2
    rm -rf "$node/node.$(hostname)-v1"
    check "a node is lost$with: the next run rebuilds it" 0 "" calmly 0
    whole "a node is lost$with" step.1
    fell
  fi

  fresh
  daemon
  dies 2
  check "ranks are on other nodes$with: the next run" 0 - env SCR_VIRTUAL_NODES=2 $MPIEXEC -n 3 "$tmp/job" 0
  check "ranks are on other nodes$with: the index" 0 step.1 listed
  check "ranks are on other nodes$with: nothing is left" 0 "" left
  [ $packs = 1 ] || check "ranks are on other nodes: the bytes" 0 "" same step.1
  fell

  if [ $packs = 0 ] || [ "$mode" != check ]; then
    fresh
    daemon
    slow=60000 dies 2
    check "another type of flush$with" 0 - env SCR_FLUSH_TYPE=PTHREAD $MPIEXEC -n 3 "$tmp/job" 0
    whole "another type of flush$with" step.1
    check "another type of flush$with: the daemon does not copy for it" 0 "" test "$(wrote)" -lt $total
    fell
  fi
done
unset SCR_USE_CONTAINERS SCR_CONTAINER_SIZE
with=''

# ---- the end of an allocation
fresh
daemon
dies 2
says "postrun saves what was flushed" 0 "the newest checkpoint on the prefix is 1, step.1" "$BIN/scr_postrun"
check "postrun: the daemon has ended" 1 "" lives
whole postrun step.1
check "postrun: the next run" 0 "" calmly 0
whole "after postrun" step.1
fresh
daemon
dies 2
check "halted at once" 0 - "$BIN/scr_halt" --immediate
check "halted at once: the daemon has ended" 1 "" lives
rm -f .scr/halt.scr
check "halted at once: the next run" 0 "" calmly 0
whole "halted at once" step.1
fresh
check "prerun" 0 "" flock "$tmp/held" "$BIN/scr_prerun"
check "prerun: the daemon keeps no lock of its caller" 0 "" flock -n "$tmp/held" true
for _ in $(seq 100); do [ -e "$node/transfer.daemon.lock" ] && break || sleep 0.1; done
check "prerun starts the daemon" 0 "" sh -c 'flock -n "$1" true && exit 1 || exit 0' sh "$node/transfer.daemon.lock"
check "prerun starts the daemon: halt ends it" 0 - "$BIN/scr_halt" --immediate
check "prerun starts the daemon: it has ended" 0 "" flock -n "$node/transfer.daemon.lock" true
fresh
before 2 "[ -e died ] || { $begun; touch died; $die; }"
check "a job that scr_run starts again" 0 - env SCR_RUN_WAIT=0 SCR_FLUSH_ASYNC_BW=$slow "$BIN/scr_run" --runs 2 $MPIEXEC -n 3 "$tmp/job" 2
whole "a job that scr_run starts again" "step.1 step.2"
check "a job that scr_run starts again: the daemon has ended" 0 "" flock -n "$node/transfer.daemon.lock" true
check "a job that scr_run starts again: it had copied" 0 "" test -e died

# ---- copies that fail
fresh
daemon bash -c 'trap "" XFSZ; ulimit -f 600; exec "$0"' # no file of more than 600 kB
check "the daemon cannot copy" 0 "" calmly 2
whole "the daemon cannot copy" "step.1 step.2"
says "the daemon cannot copy: the job says so" 0 "File too large.*the ranks of this node copy their files themselves" cat "$tmp/said"
fell
fresh
daemon
before 2 'printf x | dd of="$(find '"$base"' -name rank_1 | head -n 1)" bs=1 seek=999000 conv=notrunc 2>/dev/null'
SCR_FLUSH_ASYNC_BW=$slow job 2
whole "a file that is damaged in the cache" "step.1 step.2"
check "a file that is damaged in the cache: it was rebuilt" 0 "" grep -q CORRUPT .scr/log
fell

# ---- a daemon that hung while its run was followed by another, which flushes the same dataset into other containers
fresh
check "a job that waits two seconds for a lock builds" 0 "" $MPICC -O0 -Wall -Werror -DSCR_LOCK_SECONDS=2 -DSCR_LOCK_TELL_SECONDS=1 \
  -o "$tmp/impatient" "$top/tests/tools/steered.c" "$top/scr_impl.c" -lz -lpthread
check "what makes a process hang builds" 0 "" ${CC:-cc} -O1 -Wall -Werror -shared -fPIC -o "$tmp/stall.so" "$top/tests/tools/stall.c" -ldl
stalls() { env LD_PRELOAD="$tmp/stall.so ${LD_PRELOAD-}" STALL_AT="$1" STALL_UNTIL="$tmp/$2" "${@:3}"; }
export SCR_USE_CONTAINERS=1
daemon stalls rank_1 hung
before 2 "until [ -e $tmp/hung.waits ]; do sleep 0.02; done; $die"
SCR_CONTAINER_SIZE=1500000 job 2
check "a daemon hangs: nothing is in the index" 0 "" listed
(
  within test -e "$tmp/held.waits" # the next run has written the containers before
  touch "$tmp/hung"
  sleep 1
  touch "$tmp/held"
) &
SCR_CONTAINER_SIZE=900000 stalls ctr.3.scr.scr1.tmp held timeout -k 5 90 $MPIEXEC -n 3 "$tmp/impatient" 0 >"$tmp/said" 2>&1
wait $!
check "a daemon hangs: the next run flushes itself" 0 step.1 listed
check "a daemon hangs: it was waited for, and went on while that flush was under way" 0 "" test -e "$tmp/held.waits" -a -e "$tmp/hung"
fell
rm -rf "$base"
check "a daemon hangs: a restart from the prefix" 0 "" calmly 0
check "a daemon hangs: all bytes are those of the run" 0 1 grep -c "^restarted from step.1" "$tmp/said"
unset SCR_USE_CONTAINERS

# ---- deaths at any time: what was flushed is whole, and nothing is lost
for seed in $(seq $(case $mode in check) echo 2 ;; full) echo 4 ;; *) echo 60 ;; esac)); do
  RANDOM=$seed
  fresh
  daemon
  export SCR_USE_CONTAINERS=$((RANDOM % 2)) SCR_CONTAINER_SIZE=1200000
  [ $SCR_USE_CONTAINERS = 0 ] && with='' || with=', containers'
  pause=0.$((RANDOM % 10))$((RANDOM % 10)) who=$((RANDOM % 3)) bw=$((RANDOM * 100 + 300000))
  printf 'sleep %s\n' "$pause" >>"$tmp/step"
  [ $who != 1 ] || printf '[ $1 != 3 ] || kill -9 %s\n' $last >>"$tmp/step"
  before 3 'kill -9 $(cat pid.*)'
  SCR_FLUSH_ASYNC_BW=$bw job 4
  [ $who != 2 ] || fell
  before=$(grep -c '^step' "$tmp/said")
  check "seed $seed: the next run" 0 "" calmly 0
  check "seed $seed: it restarts from the newest" 0 "restarted from step.$before" grep restarted "$tmp/said"
  whole "seed $seed" "step.1 step.2"
  fell
done
finish
