#!/bin/bash
# Run real programs by scr_run: they fail, are killed, hang, are halted, and lose nodes that a remote shell stands in for.
# BIN is the directory of the commands.
#
#   run.sh [check|long]           last line: N passed, N failed, N skipped
#
# shellcheck disable=SC2016,SC2086
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
BIN=$(cd "${BIN:-$top/tools}" && pwd)
mode=${1:-check}
for v in $(env | sed -n 's/^\(\(SCR\|SLURM\|PBS\|LSB\|FLUX\)_[A-Z_]*\)=.*/\1/p'); do unset "$v"; done
. "$top/tests/tools/check.sh"
host=$(hostname)
heat=$top/examples/heat2d
MPIEXEC=${MPIEXEC:-$(command -v mpiexec.mpich || command -v mpiexec)}
run=$BIN/scr_run
p="$tmp/a prefix" # with a blank
export "SCR_PREFIX=$p" "SCR_CNTL_BASE=$tmp/base" "SCR_CACHE_BASE=$tmp/base" SCR_USER_NAME=me SCR_JOB_ID=7 SCR_FLUSH=0
export SCR_RUN_WAIT=0 "SCR_REMOTE_SHELL=$tmp/rsh"
new() { rm -rf "$p" "$tmp/base" && mkdir "$p" "$tmp/base" && cd "$p" || exit 1; }
new

# remote nodes: those that the file broken names do not work
cat >"$tmp/rsh" <<RSH
#!/bin/sh
if grep -qx "\$1" "$tmp/broken" 2>/dev/null; then echo "\$1 is broken" >&2; exit 1; fi
exec sh -c "\$2"
RSH
chmod +x "$tmp/rsh"
: >"$tmp/broken"

# ---- the command line
check "no arguments" 2 - "$run"
says "no arguments, what is needed" 2 "a launcher and a program are needed" "$run"
says "no program" 2 "a launcher and a program are needed" "$run" mpiexec
says "an unknown option" 2 "--unknown is not an option" "$run" --unknown mpiexec true
says "runs, no number" 2 "the value of --runs is missing or wrong" "$run" --runs x sh -c true
says "runs, nothing" 2 "the value of --runs is missing or wrong" "$run" --runs
says "runs, 0" 2 "the value of --runs=0 is missing or wrong" "$run" --runs=0 sh -c true
says "runs, a wrong parameter" 1 "SCR_RUNS=many is not a number of 1 or more" env SCR_RUNS=many "$run" sh -c true
says "wait, a wrong parameter" 1 "SCR_RUN_WAIT=-3 is not a number" env SCR_RUN_WAIT=-3 "$run" sh -c true
says "np is missing" 2 "needs --np" "$run" --launcher "launch {np}" true
says "no prefix" 1 "cannot open the prefix directory /none" "$run" --prefix /none sh -c true
says "no hosts" 1 "/none" "$run" --hosts /none sh -c true
says "wrong nodes" 1 "n\[1-" env "SCR_NODELIST=n[1-" "$run" sh -c true
says "no launcher" 127 "exit code 127" "$run" /none/launcher true
says "a program is missing" 1 "not ready" env SCR_REMOTE_SHELL=rsh9 "$run" sh -c true

# ---- launchers
says "any launcher" 0 "^it's \$HOME a  b$" "$run" sh -c 'echo "$0" "$1"' "it's \$HOME" "a  b"
says "any launcher, its name" 3 "run 1 has ended .* with exit code 3" "$run" sh -c 'exit 3'
check "the prefix of the run" 0 "$p" sh -c '"$1" sh -c "echo \$SCR_PREFIX" | sed -n /^scr_run/!p | head -n 1' sh "$run"
nodes="env SCR_NODELIST=n[1-4] $run"
says "a template" 0 "^n1,n2,n3,n4 8 x y$" $nodes --launcher 'echo {nodes} {np}' --np 8 x y
mkdir "$tmp/bin" && ln -s "$(type -P true)" "$tmp/bin/srun" # its arguments are in the line of the step
export "PATH=$tmp/bin:$PATH"
says "srun" 0 "run 1, 1 node: srun -N 1 true" "$BIN/scr_srun" -N 1 true
printf 'n2\nn3\n' >"$tmp/broken"
says "srun, nodes do not work" 0 "2 nodes: srun --exclude 'n\[2-3\]' -N 1 true" env "SCR_NODELIST=n[1-4]" "$BIN/scr_srun" -N 1 true
says "nodes do not work" 0 "^n1,n4 x$" $nodes --launcher 'echo {nodes}' x
says "nodes do not work, why" 0 "node n2: .*n2 is broken" $nodes --launcher 'echo {nodes}' x
says "too few nodes" 1 "2 nodes work, and a run needs 3" $nodes --min-nodes 3 sh -c 'exit 5'
says "too few nodes, by the parameter" 1 "2 nodes work, and a run needs 3" env SCR_MIN_NODES=3 $nodes sh -c 'exit 5'
says "all nodes but excluded ones" 0 "^n4 x$" env SCR_EXCLUDE_NODES=n1 $nodes --launcher 'echo {nodes}' x
printf 'n1\nn2 slots=2\n' >"$tmp/hosts"
says "a file of hosts" 0 "^n1 x$" "$run" --hosts "$tmp/hosts" --launcher 'echo {nodes}' x
: >"$tmp/broken"

# ---- resource managers, by their recorded answers: n2 and n4 are down
data=$top/tests/data/managers
printf 'n1\nn1\nn2\nn2\nn3\nn4\n' >"$tmp/nodefile"
# fake NAME ANSWERS: a program NAME, with lines of `case "$*" in`
fake() { printf '#!/bin/sh\ncase "$*" in\n%s\nesac\n' "$2" >"$tmp/fake/$1" && chmod +x "$tmp/fake/$1"; }
# managed MANAGER SECONDS VARIABLE...: scr_run in a job of it, which has so many seconds left
managed() {
  manager=$1 seconds=$2 && shift 2
  job="env $* PATH=$tmp/fake:$PATH $run"
  says "$manager, the nodes that work" 0 "^n1,n3 x$" $job --launcher 'echo {nodes}' x
  says "$manager, why the others do not" 0 "node n4: reported down by the resource manager" $job --launcher 'echo {nodes}' x
  says "$manager, mpiexec" 0 "run 1, 2 nodes: mpiexec -hosts n1,n3 -n 2 true" $job mpiexec -n 2 true
  says "$manager, too few nodes" 1 "2 nodes work, and a run needs 3" $job --min-nodes 3 sh -c 'exit 5'
  says "$manager, a node fails in the run" 1 "run 2, 1 node: " $job --runs 2 --min-nodes 1 sh -c "echo n3 >'$tmp/broken'; exit 1"
  : >"$tmp/broken"
  left=$($job sh -c 'echo "left $((SCR_END_TIME - $(date +%s)))"' 2>&1 | sed -n 's/^left //p')
  check "$manager, the end of the job is about in $seconds s, not ${left:-known}" 0 "" test $((${left:--1} - seconds)) -le 0 -a $((${left:--1} - seconds)) -ge -30
}
mkdir "$tmp/fake" && ln -s "$(type -P true)" "$tmp/fake/mpiexec"
fake pbsnodes "-l) cat $data/pbsnodes.txt ;;" && fake qstat "*812.pbs1*) cat $data/qstat.txt ;;"
managed PBS 4170 PBS_JOBID=812.pbs1 "PBS_NODEFILE=$tmp/nodefile"
fake bhosts "-w*) cat $data/bhosts.txt ;;" && fake bjobs "*99*) cat $data/bjobs.txt ;;"
managed LSF 43500 LSB_JOBID=99 "LSB_DJOB_HOSTFILE=$tmp/nodefile"
fake flux "'getattr hostlist') cat $data/flux-hostlist.txt ;;
resource*down*) cat $data/flux-down.txt ;;
'job timeleft f1zzz') cat $data/flux-left.txt ;;
*) echo \"flux: \$*: not recorded\" >&2; exit 1 ;;"
managed Flux 5400 FLUX_JOB_ID=f1zzz
fake flux "run*) echo \$\$ >'$tmp/step'; exec sleep 50 ;;
jobs*running*) cat $data/flux-jobs.txt ;;
'cancel f2abcDEF') kill \$(cat '$tmp/step') ;;
resource*) ;;
getattr*) cat $data/flux-hostlist.txt ;;
*) cat $data/flux-left.txt ;;"
says "Flux, a program that hangs" 143 "ending the job step f2abcDEF" env FLUX_JOB_ID=f1zzz SCR_WATCHDOG_TIMEOUT=1 "PATH=$tmp/fake:$PATH" "$run" --watchdog flux run program
rm -rf "$tmp/fake"

# ---- runs
count='echo x >>count; [ $(wc -l <count) -ge'
says "one run" 1 "no runs are left" "$run" sh -c "$count 2 ]"
says "the second run is good" 0 "run 2 has ended .* exit code 0" sh -c 'rm -f count; exec "$@"' sh "$run" --runs 3 sh -c "$count 2 ]"
check "the second run is good: there were two" 0 2 sh -c 'wc -l <count'
says "any number of runs" 0 "run 5 has ended .* exit code 0" sh -c 'rm -f count; exec "$@"' sh "$run" --runs -1 sh -c "$count 5 ]"
says "SCR_RETRIES" 1 "no runs are left" sh -c 'rm -f count; exec "$@"' sh env SCR_RETRIES=2 "$run" sh -c "$count 5 ]"
check "SCR_RETRIES: there were three" 0 3 sh -c 'wc -l <count'
says "a node that has failed stays out" 5 "run 3, 3 nodes: .*exit 5" $nodes --runs 3 sh -c "[ -s '$tmp/broken' ] && : >'$tmp/broken' || echo n2 >'$tmp/broken'; exit 5"
: >"$tmp/broken"
printf '#!/bin/sh\necho "on $1"\necho n2 >"%s"\nexit 1\n' "$tmp/broken" >"$tmp/bin/launch" && chmod +x "$tmp/bin/launch"
says "a node fails in the run" 1 "^on n1,n3,n4$" $nodes --runs 2 --launcher 'launch {nodes}' program
: >"$tmp/broken"
says "this node does not work" 5 "this node does not work" env SCR_NODELIST=$host,n1 "$run" --runs 2 sh -c "chmod 000 '$tmp/base'; mv '$tmp/base' '$tmp/gone'; exit 5"
mv "$tmp/gone" "$tmp/base" && chmod 700 "$tmp/base"
says "halted meanwhile" 7 "there is no other run: the halt file gives the reason JOB_HALTED" "$run" --runs 5 sh -c "'$BIN/scr_halt' >/dev/null; exit 7"
rm -f .scr/halt.scr
says "a fresh start after the last job ended well" 0 "run 1 has ended" sh -c '"$1" >/dev/null; exec "$2" sh -c true' sh "$BIN/scr_halt" "$run"
rm -f .scr/halt.scr
says "turned off" 4 "^bare$" env SCR_ENABLE=0 "$run" --runs 3 sh -c 'echo bare; exit 4'
SCR_LOG_ENABLE=1 "$run" sh -c 'exit 1' >"$tmp/out" 2>&1
says "the log" 0 'event=RUN_START, note="run=1"' cat .scr/log
says "the log, the end" 0 'event=RUN_END, note="run=1", secs=' cat .scr/log

# ---- signals, and a program that hangs
"$run" --runs 5 sh -c 'trap "exit 9" TERM; echo up >up; while :; do sleep 0.1; done' >"$tmp/log" 2>&1 &
pid=$!
while [ ! -e up ]; do sleep 0.1; done
kill -TERM $pid
wait $pid
check "SIGTERM, the exit code" 0 "" test $? = 9
says "SIGTERM, the last run" 0 "ended by signal 15" cat "$tmp/log"
says "SIGTERM, what is left is saved" 0 "saving what the caches have" cat "$tmp/log"
says "a program that hangs" 143 "ending the job step" env SCR_WATCHDOG_TIMEOUT=1 "$run" --watchdog sleep 50
says "a program that hangs, by the parameter" 143 "there is no dataset yet" env SCR_WATCHDOG=1 SCR_WATCHDOG_TIMEOUT=1 "$run" sleep 50

# ---- a solver
if [ ! -x "$heat" ] || [ -z "$MPIEXEC" ]; then
  skipped=1
  echo "skipped: examples/heat2d or mpiexec is not here"
  finish
  exit
fi
export SCR_VIRTUAL_NODES=4
unset SCR_REMOTE_SHELL SCR_NODELIST
size="--nx 200 --ny 200 --steps 600 --interval 100"
answer() { sed -n 's/^heat2d: step .* crc32 \(0x[0-9a-f]*\) .*/\1/p' "$tmp/log" | tail -n 1; }
new
says "a solver" 0 "the newest checkpoint on the prefix is 6, heat.600" "$run" $MPIEXEC -n 4 "$heat" $size
cp "$tmp/out" "$tmp/log" && calm=$(answer)
check "a solver has an answer" 0 "" test -n "$calm"
says "the next job, whose first run fails before SCR_Init" 0 "run 2 has ended .* exit code 0" "$run" --runs 4 sh -c '[ -e failed ] || { touch failed; exit 3; }; exec "$@"' sh $MPIEXEC -n 4 "$heat" $size --steps 700
says "a run that ends well, but not with 0, is the last" 3 "there is no other run: .*SCR_FINALIZE_CALLED" "$run" --runs 4 sh -c '"$@"; exit 3' sh $MPIEXEC -n 4 "$heat" $size --steps 800
"$BIN/scr_halt" >/dev/null
check "prerun, a halt condition" 0 "" "$BIN/scr_prerun"
says "prerun, a halt condition stays" 0 "JOB_HALTED" "$BIN/scr_retries_halt" --dir "$p"
new
"$run" --runs 3 -rc "'$heat' $size --kill-at 350" -rs "'$heat' $size" $MPIEXEC -n 4 >"$tmp/log" 2>&1
check "a solver that is killed, and run again: its exit code" 0 "" test $? = 0
says "a solver that is killed: it restarts" 0 "restarted from heat.300" cat "$tmp/log"
check "a solver that is killed: its answer" 0 "$calm" answer
new
says "a solver that is always killed" 9 "the newest checkpoint on the prefix is 3, heat.300" "$run" --runs 2 $MPIEXEC -n 4 "$heat" $size --kill-at 350
says "a solver in the next allocation" 0 "restarted from heat.300" env SCR_JOB_ID=8 "$BIN/scr_mpirun" -n 4 "$heat" $size
cp "$tmp/out" "$tmp/log"
check "a solver in the next allocation: its answer" 0 "$calm" answer

# the batch scripts: the README has them, and that without a batch system runs
for script in job.sh job.slurm; do
  check "the README has $script" 0 "" python3 -c 'import sys
text = "".join("    " + line if line.strip() else line for line in open(sys.argv[1]))
sys.exit(text not in open(sys.argv[2]).read())' "$top/examples/$script" "$top/README.md"
done
new
says "job.sh" 0 "the newest checkpoint on the prefix is 6, heat.600" env "PATH=$BIN:$PATH" MPIEXEC="$MPIEXEC" sh "$top/examples/job.sh" "$heat" $size
cp "$tmp/out" "$tmp/log"
check "job.sh: its answer" 0 "$calm" answer
new
job="env PATH=$BIN:$PATH MPIEXEC=$MPIEXEC sh $top/examples/job.sh"
says "job.sh, with a program that dies" 9 "the newest checkpoint on the prefix is 3, heat.300" env SCR_RUNS=1 $job "$heat" $size --kill-at 350
says "job.sh, submitted again" 0 "restarted from heat.300" env SCR_JOB_ID=8 $job "$heat" $size
cp "$tmp/out" "$tmp/log"
check "job.sh, submitted again: its answer" 0 "$calm" answer

# a run whose ranks hang is ended from outside, and not started again
new
timeout -k 5 80 "$run" --runs 3 $MPIEXEC -n 4 "$heat" $size --steps 600000 >"$tmp/log" 2>&1 &
pid=$!
while ! grep -q heat.100 "$tmp/log"; do sleep 0.1; done
launch=$(sed -n 's/^parent \([0-9]*\) on .*/\1/p' "$p/.scr/run.lock")
kill -STOP $(cat "/proc/$launch/task/$launch/children")
says "halt, immediately" 0 "Ended the run on $p" "$BIN/scr_halt" --immediate "$p"
wait $pid
says "halt, immediately: the end" 0 "there is no other run: the halt file gives the reason JOB_HALTED" cat "$tmp/log"
says "halt, immediately: the checkpoint is saved" 0 "the newest checkpoint on the prefix is" cat "$tmp/log"
says "halt, immediately, without a run" 0 "No run uses $p now" "$BIN/scr_halt" -i "$p"

# scr_run is killed at any moment; what it started ends with it or soon after; the next one goes on
tries=2
[ "$mode" = long ] && tries=20
i=0
while [ $i -lt $tries ]; do
  i=$((i + 1))
  new
  for k in 1 2; do
    "$run" --runs 3 $MPIEXEC -n 4 "$heat" $size >"$tmp/log" 2>&1 &
    pid=$!
    sleep "$((RANDOM % 2)).$((RANDOM % 10))"
    kill -9 $pid 2>/dev/null
    wait $pid 2>/dev/null
  done
  "$run" --runs 3 --wait 1 $MPIEXEC -n 4 "$heat" $size >"$tmp/log" 2>&1
  check "killed twice, try $i" 0 "" test $? = 0
  check "killed twice, try $i: the answer" 0 "$calm" answer
  says "killed twice, try $i: the end is saved" 0 "heat.600" "$BIN/scr_index" --list
done
finish
