#!/bin/bash
# Run real programs by scr_run: they fail, are killed, hang, are halted, and lose nodes that a remote shell stands in for.
# BIN is the directory of the commands.
#
#   run.sh [check|full|long]           last line: N passed, N failed, N skipped
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
. "$top/tests/find_mpi.sh"
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

new
says "a base that is missing is made, as a run makes it" 0 "run 1 has ended .* exit code 0" env "SCR_CNTL_BASE=$tmp/new/control" "SCR_CACHE_BASE=$tmp/new/cache" "$run" sh -c true
check "a base that is missing: it is there" 0 "" test -d "$tmp/new/control" -a -d "$tmp/new/cache"
rm -rf "$tmp/new"
echo n1 >"$tmp/broken"
"$BIN/scr_halt" >/dev/null
says "no node works: there was no run, and none was halted" 1 "0 nodes work, and a run needs 1" env SCR_NODELIST=n1 "$run" sh -c true
check "no node works: nothing is said of a halt at the end" 1 "" grep "the program was halted" "$tmp/out"
: >"$tmp/broken"
says "a condition that stays halts the next job too" 3 "the program was halted, and so would the next job be: .*JOB_HALTED.* takes it back; then submit the job again" "$run" sh -c true
new

# ---- launchers
says "any launcher" 0 "^it's \$HOME a  b$" "$run" sh -c 'echo "$0" "$1"' "it's \$HOME" "a  b"
says "any launcher, its name" 3 "run 1 has ended .* with exit code 3" "$run" sh -c 'exit 3'
check "the prefix of the run" 0 "$p" sh -c '"$1" sh -c "echo \$SCR_PREFIX" | sed -n /^scr_run/!p | head -n 1' sh "$run"
mkdir "$tmp/its\$USER" # its name is itself, and not a variable
its() { env -u SCR_PREFIX "$run" "$@" env "$BIN/scr_prefix" | sed -n '/^scr_run/!p' | head -n 1; }
check "a prefix with a dollar, by its name" 0 "$tmp/its\$USER" its --prefix "$tmp/its\$USER"
cd "$tmp/its\$USER" || exit 1
check "a prefix with a dollar, the working directory" 0 "$tmp/its\$USER" its
cd "$p" || exit 1
nodes="env SCR_NODELIST=n[1-4] $run"
says "a template" 0 "^n1,n2,n3,n4 8 x y$" $nodes --launcher 'echo {nodes} {np}' --np 8 x y
mkdir "$tmp/bin" && ln -s "$(type -P true)" "$tmp/bin/srun" # its arguments are in the line of the step
export "PATH=$tmp/bin:$PATH"
says "srun" 0 "run 1, 1 node: srun -N 1 true" "$BIN/scr_srun" -N 1 true
srun="env SCR_NODELIST=n[1-4] $BIN/scr_srun"
: >"$tmp/broken"
for a in "-w n1" "-wn1" "--nodelist=n1" "--nodelist n1" "-F f" "--nodefile=f"; do # but "-l -n2", and what is the program's
  says "srun names hosts: $a" 0 "srun -l -N 1 $a ./prog -w n3" sh -c 'printf "#!/bin/sh\n" >prog; chmod +x prog; exec "$@"' sh $srun -l -N 1 $a ./prog -w n3
done
printf 'n2\nn3\n' >"$tmp/broken"
says "srun names hosts: nodes that do not work are not left out" 0 "the arguments of srun name hosts" $srun -w n1 ./prog
says "srun, the arguments of the program are not those of srun" 0 "2 nodes: srun --exclude 'n\[2-3\]' --mpi=pmi2 ./prog -w n1 -x n1" $srun --mpi=pmi2 ./prog -w n1 -x n1
for a in "-x n1" "-xn1" "--exclude=n1" "--exclude n1"; do
  says "srun, the user excludes: $a" 0 "2 nodes: srun --exclude 'n\[1-3\]' -l -N 1 ./prog" $srun -l $a -N 1 ./prog
done
says "srun needs the nodes of -N" 1 "2 nodes work, and a run needs 3" $srun -N3 ./prog
says "srun needs the nodes of -N, a range" 0 "run 1, 2 nodes" $srun --nodes=2-4 ./prog
says "srun needs the nodes of its tasks" 1 "2 nodes work, and a run needs 3" $srun -n 9 --ntasks-per-node=4 ./prog
ln -s "$(type -P true)" "$tmp/bin/mpiexec"
mpi="env SCR_NODELIST=n[1-4] $run mpiexec"
says "mpiexec, the arguments of the program are not those of mpiexec" 0 "mpiexec -hosts n1,n4 -n 4 -genv A 1 -l ./prog -f in.txt" $mpi -n 4 -genv A 1 -l ./prog -f in.txt
says "mpiexec names hosts" 0 "mpiexec -n 4 -f h ./prog" $mpi -n 4 -f h ./prog
says "mpiexec needs the nodes of -ppn" 1 "2 nodes work, and a run needs 3" $mpi -n 9 -ppn 4 ./prog
printf 'n1:2\nn2:2\nn4:8\n' >"$tmp/hosts"
says "mpiexec, the slots of a file of hosts" 0 "mpiexec -hosts n1:2,n4:8 -n 4 ./prog" "$run" --hosts "$tmp/hosts" mpiexec -n 4 ./prog
rm "$tmp/bin/mpiexec"
printf '#!/bin/sh\n[ "$1" != --version ] || echo "mpiexec (OpenRTE) 4.1.4"\n' >"$tmp/bin/mpiexec" && chmod +x "$tmp/bin/mpiexec"
says "Open MPI's mpiexec has a host for its share of the processes" 0 "mpiexec --host n1:3,n4:2 .*-x SCR_PREFIX .*--mca btl self,tcp -np 5 ./prog -H n1" $mpi --mca btl self,tcp -np 5 ./prog -H n1
says "Open MPI's mpiexec names hosts" 0 "mpiexec .*-x SCR_PREFIX .*--oversubscribe -H n1:4 ./prog" $mpi --oversubscribe -H n1:4 ./prog
says "Open MPI's mpiexec needs the nodes of -N" 1 "2 nodes work, and a run needs 3" $mpi -n 9 -N 4 ./prog
printf 'n1 slots=2\nn2 slots=2\nn4 slots=8\n' >"$tmp/hosts"
says "Open MPI's mpiexec, the slots of a file of hosts" 0 "mpiexec --host n1:2,n4:8 .*-x SCR_PREFIX .*-n 4 ./prog" "$run" --hosts "$tmp/hosts" mpiexec -n 4 ./prog
says "Open MPI's mpiexec, processes of each host" 0 "mpiexec --host n1:4,n4:4 .*-N 4 ./prog" $mpi -N 4 ./prog
says "Open MPI's mpiexec, more hosts than processes" 0 "mpiexec --host n1:1 .*-n 1 ./prog" $mpi -n 1 ./prog
says "Open MPI's mpiexec, several programs" 0 "mpiexec --host n1:2,n4:2 .*-n 1 ./a : .*-x SCR_PREFIX .*-n 3 ./b" $mpi -n 1 ./a : -n 3 ./b
mv "$tmp/bin/mpiexec" "$tmp/bin/orterun"
says "orterun is Open MPI's mpiexec" 0 "orterun --host n1:2,n4:2 .*-n 4 ./prog" env SCR_NODELIST=n[1-4] "$run" orterun -n 4 ./prog
says "scr_mpirun takes what MPIEXEC names" 0 "orterun --host n1:2,n4:2 .*-n 4 ./prog" env MPIEXEC=orterun SCR_NODELIST=n[1-4] "$BIN/scr_mpirun" -n 4 ./prog
says "scr_mpirun takes no other when that is not there" 127 "nowhere: not found" env MPIEXEC=nowhere SCR_NODELIST=n[1-4] "$BIN/scr_mpirun" -n 4 ./prog
rm "$tmp/bin/orterun"
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
  recipe=$(sed -n '/^### PBS, LSF and Flux/,/^|/s/^    //p' "$top/tools/manual/choosing.md" | sed "s|=/scratch/me/heat|='$p'|; s/--min-nodes 4/--min-nodes 2/; s/-n 16/-n 8/")
  says "$manager, the recipe for it" 0 "run 1, 2 nodes: mpiexec -hosts n1,n3 -n 8 -ppn 4 ./heat2d --steps 1000" env $* "PATH=$tmp/fake:$BIN:$PATH" sh -c "unset SCR_PREFIX; cd /; $recipe"
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
# n3, which an earlier job had, does not work: this job has never had it
says "nodes of an earlier job, which do not work now" 5 "run 2, 3 nodes" sh -c 'mkdir -p .scr; cp "$1" .scr; echo n3 >"$2"; shift 2; exec "$@"' sh "$top/tests/data/scr-1.2.2/nodes.scr" "$tmp/broken" env "SCR_NODELIST=n[1-4]" "$run" --runs 2 sh -c 'exit 5'
rm -f .scr/nodes.scr
: >"$tmp/broken"
says "a node that has failed stays out" 5 "run 3, 3 nodes: .*exit 5" $nodes --runs 3 sh -c "[ -s '$tmp/broken' ] && : >'$tmp/broken' || echo n2 >'$tmp/broken'; exit 5"
: >"$tmp/broken"
printf '#!/bin/sh\necho "on $1"\necho n2 >"%s"\nexit 1\n' "$tmp/broken" >"$tmp/bin/launch" && chmod +x "$tmp/bin/launch"
says "a node fails in the run" 1 "^on n1,n3,n4$" $nodes --runs 2 --launcher 'launch {nodes}' program
: >"$tmp/broken"
says "this node does not work" 5 "this node does not work" env SCR_NODELIST=$host,n1 "$run" --runs 2 sh -c "chmod 000 '$tmp/base'; mv '$tmp/base' '$tmp/gone'; exit 5"
mv "$tmp/gone" "$tmp/base" && chmod 700 "$tmp/base"
says "halted meanwhile: to be submitted again" 3 "there is no other run: the halt file gives the reason JOB_HALTED" "$run" --runs 5 sh -c "'$BIN/scr_halt' >/dev/null; exit 7"
rm -f .scr/halt.scr
says "a run that ends with 0 while a halt condition holds is halted, not done" 3 "run 1 has ended" sh -c '"$1" >/dev/null; exec "$2" sh -c true' sh "$BIN/scr_halt" "$run"
says "a standing condition is told before the first run" 3 "scr_run: .*: the run will end at its first checkpoint: the halt file gives the reason JOB_HALTED, set by .* takes it back" "$run" sh -c true
"$BIN/scr_halt" --unset-reason --checkpoints 3 >/dev/null
says "a condition that does not hold yet is told too" 0 "scr_run: .*: a halt condition is set: the run stops after 3 more checkpoints" "$run" sh -c true
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
check "SIGTERM, the exit code: to be submitted again" 0 "" test $? = 3
says "SIGTERM, nothing halts the next job" 0 "the program was halted; submit the job again to go on" cat "$tmp/log"
says "SIGTERM, the last run" 0 "ended by signal 15" cat "$tmp/log"
says "SIGTERM, what is left is saved" 0 "saving what the caches have" cat "$tmp/log"
# signalled SIGNAL SETTING... -- PROGRAM: scr_run gets the signal when the program is up; its output for `tells`
signalled() {
  local signal=$1 settings=()
  shift
  while [ "$1" != -- ]; do settings+=("$1") && shift; done
  rm -f up
  env "${settings[@]}" "$run" --runs 5 sh -c "$2" >"$tmp/log" 2>&1 &
  pid=$!
  while [ ! -e up ]; do sleep 0.05; done
  kill "-$signal" $pid
  wait $pid
}
tells() { says "$1" 0 "$2" cat "$tmp/log"; }
signalled TERM -- 'trap "exit 0" TERM; : >up; while :; do sleep 0.1; done'
check "SIGTERM, a launcher that returns 0: no success" 0 "" test $? = 3
signalled HUP -- 'trap "exit 0" TERM; : >up; while :; do sleep 0.1; done'
check "SIGHUP is SIGTERM" 0 "" test $? = 3
tells "SIGHUP, as SIGTERM" "signal HUP: the program gets SIGTERM"
signalled TERM SCR_RUN_GRACE=1 -- 'trap "" TERM; : >up; i=0; while [ $i -lt 300 ]; do sleep 0.1; i=$((i + 1)); done'
check "SIGTERM, a launcher that does not end is killed" 0 "" test $? = 3
tells "SIGTERM, a launcher that does not end, after a grace time" "has not ended within 1 s; it is killed"
tells "SIGTERM, a launcher that does not end: what is left is saved" "saving what the caches have"
waits='i=0; while [ ! -e go ] && [ $i -lt 300 ]; do sleep 0.1; i=$((i + 1)); done; rm -f go'
signalled USR1 -- ": >up; sleep 1; exit 0"
check "SIGUSR1 that nobody wants: the run goes on, and is done" 0 "" test $? = 0
tells "SIGUSR1 that nobody wants, why" "signal USR1 has come, and nothing is done, because SCR_SIGNALS does not name it"
signalled USR1 SCR_SIGNALS=USR1:checkpoint+halt -- "trap 'echo it came; : >go' USR1; : >up; $waits; exit 0"
check "a signal of SCR_SIGNALS goes to the program: halted" 0 "" test $? = 3
tells "a signal of SCR_SIGNALS goes to the program" "^it came$"
signalled USR2 SCR_SIGNALS=USR2:checkpoint -- "trap 'echo it came; : >go' USR2; : >up; $waits; exit 0"
check "a signal of SCR_SIGNALS that asks for no end: done" 0 "" test $? = 0
signalled TERM SCR_SIGNALS=TERM:checkpoint+halt -- "trap 'echo it came; : >go' TERM; : >up; $waits; exit 0"
check "SIGTERM of SCR_SIGNALS goes to the program" 0 "" test $? = 3
says "a program that hangs" 143 "ending the job step" env SCR_WATCHDOG_TIMEOUT=1 "$run" --watchdog sleep 50
says "a program that hangs, by the parameter" 143 "there is no dataset yet" env SCR_WATCHDOG=1 SCR_WATCHDOG_TIMEOUT=1 "$run" sleep 50

# ---- a solver
if [ ! -x "$heat" ]; then
  skipped=1
  echo "skipped: examples/heat2d is not here"
  finish
  exit
fi
yields
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
says "a solver that is always killed" $KILLED "the newest checkpoint on the prefix is 3, heat.300" "$run" --runs 2 $MPIEXEC -n 4 "$heat" $size --kill-at 350
says "a solver in the next allocation" 0 "restarted from heat.300" env SCR_JOB_ID=8 "$BIN/scr_mpirun" -n 4 "$heat" $size
cp "$tmp/out" "$tmp/log"
check "a solver in the next allocation: its answer" 0 "$calm" answer

# the daemons of a job live in its first run, though an earlier job is saved before that, which ends those that there are
new
check "an earlier job, which is not saved" $KILLED - $MPIEXEC -n 4 "$heat" $size --kill-at 350
printf '#!/bin/sh\ni=0\nwhile flock -n "%s/base/me/scr.8/transfer.daemon.lock" true && [ $i -lt 300 ]; do sleep 0.1; i=$((i + 1)); done\n' "$tmp" >"$tmp/lives"
printf '[ $i -lt 300 ] && echo "a daemon lives"\n' >>"$tmp/lives"
daemons="env SCR_JOB_ID=8 SCR_FLUSH_ASYNC=1 SCR_FLUSH_TYPE=DAEMON"
says "daemons beside an earlier job: they live when the run begins" 0 "^a daemon lives$" $daemons "$run" sh "$tmp/lives"
cp "$tmp/out" "$tmp/log"
says "daemons beside an earlier job: that is saved before" 0 "the newest checkpoint on the prefix is 3, heat.300" sed "/^a daemon lives/,\$d" "$tmp/log"

# restart loops: a run that always fails at the same place
new
export SCR_FLUSH=1
says "a restart loop ends" $KILLED "there is no other run: 2 runs from one checkpoint, and one from the checkpoint before it, have failed" "$run" --runs -1 $MPIEXEC -n 4 "$heat" $size --kill-at 350
cp "$tmp/out" "$tmp/log"
check "a restart loop: four runs" 0 4 grep -c "run [0-9] has ended" "$tmp/log"
tells "a restart loop: the fourth starts from an older checkpoint" "the next one starts from heat.200; .scr_index --current heat.300. chooses the newer one again"
says "a restart loop: the older one is read" 0 "restarted from heat.200" sed -n '/: run 4, /,$p' "$tmp/log"
new
says "a restart loop, --restart-cmd is told of the older one" $KILLED "told heat.200" "$run" --runs 4 -rc "'$heat' $size --kill-at 350" -rs "sh -c 'echo told \$1; shift; exec \"\$@\"' sh SCR_CKPT_NAME '$heat' $size --kill-at 350" $MPIEXEC -n 4
new
: >heat.300
says "a restart loop whose newest checkpoint cannot be saved ends" $KILLED "there is no other run: heat.300 could not be saved, and one that starts from heat.200" env SCR_FLUSH=2 "$run" --runs -1 $MPIEXEC -n 4 "$heat" $size --kill-at 350
check "a restart loop whose newest checkpoint cannot be saved: no fourth run" 0 3 grep -c "run [0-9] has ended" "$tmp/out"
rm heat.300
says "a restart loop whose newest checkpoint cannot be saved: it is there" 0 "restarted from heat.300" $MPIEXEC -n 4 "$heat" $size
new
says "a restart loop, the older one is purged" $KILLED "the next one starts from heat.100" "$run" --runs 4 sh -c 'rm -f heat.200/rank_0*; exec "$@"' sh $MPIEXEC -n 4 "$heat" $size --kill-at 350
new
says "a restart loop, the older one is damaged: the newest is chosen again" 1 "has not started from heat.200; heat.300 is chosen again" "$run" --runs 4 sh -c '[ ! -d heat.200 ] || for f in heat.200/*0*; do printf x | dd of="$f" bs=1 seek=9000 conv=notrunc 2>/dev/null; done; exec "$@"' sh $MPIEXEC -n 4 "$heat" $size --kill-at 350
check "a restart loop, the older one is damaged: what is next" 0 heat.300 "$BIN/scr_have_restart"
new
says "a restart loop, and the user chooses meanwhile" $KILLED "the next one starts from heat.200" "$run" --runs 4 sh -c 'n=$(cat n 2>/dev/null); n=$((n + 1)); echo $n >n; i=$1; shift; "$@"; code=$?; [ $n != 4 ] || "$i" --current heat.100; exit $code' sh "$BIN/scr_index" $MPIEXEC -n 4 "$heat" $size --kill-at 350
check "a restart loop, and the user chooses meanwhile: that stays" 0 heat.100 "$BIN/scr_have_restart"
new
check "a job that gets far" 0 - $MPIEXEC -n 4 "$heat" $size
says "a fresh start that gets on is no loop" 0 "run 5 has ended .* exit code 0" env SCR_FRESH_START=1 "$run" --runs 5 sh -c 'n=$(cat n 2>/dev/null); n=$((n + 1)); echo $n >n; [ $n = 5 ] || set -- "$@" --kill-at ${n}50; exec "$@"' sh $MPIEXEC -n 4 "$heat" $size
check "a fresh start that gets on: no older one is tried" 1 "" grep "the next one starts from" "$tmp/out"
new
says "a program that is done, with a flush file that is damaged" 4 "nobody can tell whether what it has left is saved" "$run" sh -c '"$@"; echo x >.scr/flush.scr' sh $MPIEXEC -n 4 "$heat" $size
new
says "a restart loop, without a limit" $KILLED "no runs are left" env SCR_RUN_LOOPS=0 "$run" --runs 4 $MPIEXEC -n 4 "$heat" $size --kill-at 350
new
says "a restart loop without an older checkpoint" $KILLED "there is no older checkpoint to start from" env SCR_FLUSH=0 "$run" --runs 5 $MPIEXEC -n 4 "$heat" $size --kill-at 150
new
says "an older checkpoint helps" 0 "run 4 has ended .* exit code 0" "$run" --runs -1 sh -c 'n=$(cat n 2>/dev/null); n=$((n + 1)); echo $n >n; [ $n = 4 ] || set -- "$@" --kill-at 350; exec "$@"' sh $MPIEXEC -n 4 "$heat" $size
new
says "a choice that comes while runs fail" 0 "the next one starts from heat.100, which was chosen" "$run" --runs -1 sh -c 'n=$(cat n 2>/dev/null); n=$((n + 1)); echo $n >n; [ $n = 4 ] && exec "$@"; "$@" --kill-at 350; rc=$?; [ $n != 3 ] || "$0" --current heat.100; exit $rc' "$BIN/scr_index" $MPIEXEC -n 4 "$heat" $size
check "a choice that comes while runs fail is obeyed" 0 - grep "restarted from heat.100" "$tmp/out"
new
says "runs that never start end" 1 "there is no other run: 5 runs have ended before they used the prefix" "$run" --runs -1 sh -c 'exit 1'
check "runs that never start end: five of them" 0 5 grep -c "run [0-9] has ended" "$tmp/out"
new
check "runs that cannot start, before them" $KILLED - $MPIEXEC -n 4 "$heat" $size --kill-at 350
says "runs that cannot start try no checkpoint" 0 "restarted from heat.300" "$run" --runs 5 sh -c 'n=$(cat n 2>/dev/null); n=$((n + 1)); echo $n >n; [ $n -gt 3 ] || exit 1; exec "$@"' sh $MPIEXEC -n 4 "$heat" $size
export SCR_FLUSH=0

# a signal that comes while an earlier job is saved: there is no run
new
check "an earlier job, which is not saved, before a signal" $KILLED - $MPIEXEC -n 4 "$heat" $size --kill-at 350
exec 9>>.scr/index.scr.lock
flock 9 # saving waits for it
SCR_JOB_ID=8 "$run" sh -c 'echo a run' >"$tmp/log" 2>&1 9>&- &
pid=$!
until pgrep -P $pid -x scr_postrun >"$tmp/out" || [ ! -d /proc/$pid ]; do sleep 0.05; done
kill -TERM $pid
exec 9>&-
wait $pid
check "SIGTERM while an earlier job is saved, the exit code: to be submitted again" 0 "" test $? = 3
tells "SIGTERM while an earlier job is saved: that goes on" "the newest checkpoint on the prefix is 3, heat.300"
check "SIGTERM while an earlier job is saved: there is no run" 1 "" grep "a run" "$tmp/log"

# names that mean something to a shell, and output that an earlier job has left
cat >"$tmp/named.c" <<'C'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>
#include "scr.h"
/* The launcher has read what was printed to FD, which it may lose when the job is ended. */
static void is_read(int fd)
{
  struct stat st;
  int         i, left = 1;
  if (fstat(fd, &st) != 0 || !S_ISFIFO(st.st_mode)) sleep(1);
  else for (i = 0; i < 1000 && ioctl(fd, FIONREAD, &left) == 0 && left > 0; i++) usleep(10000);
}
int main(int argc, char** argv) /* c:, o: and b: before the names of checkpoints, output, and both; it dies at the end */
{
  char name[SCR_MAX_FILENAME], file[2 * SCR_MAX_FILENAME];
  int  have = 0, i, rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (SCR_Init() != SCR_SUCCESS || SCR_Have_restart(&have, name) != SCR_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 4);
  if (have && SCR_Start_restart(name) == SCR_SUCCESS) SCR_Complete_restart(getenv("REJECT") == NULL);
  for (i = 1; i < argc; i++) { /* c, o, b:NAME[,DIRECTORY]; d: delete NAME; x: a command */
    FILE* f;
    char* dir = strchr(argv[i], ',');
    if (*argv[i] == 'd') SCR_Delete(argv[i] + 2);
    MPI_Barrier(MPI_COMM_WORLD);
    if (*argv[i] == 'x' && rank == 0 && system(argv[i] + 2) != 0) MPI_Abort(MPI_COMM_WORLD, 6);
    MPI_Barrier(MPI_COMM_WORLD);
    if (*argv[i] == 'd' || *argv[i] == 'x') continue;
    if (dir != NULL) *dir++ = '\0';
    SCR_Start_output(argv[i] + 2, (*argv[i] != 'o' ? SCR_FLAG_CHECKPOINT : 0) | (*argv[i] != 'c' ? SCR_FLAG_OUTPUT : 0));
    snprintf(name, sizeof name, "%s/r%d", dir != NULL ? dir : argv[i] + 2, rank);
    SCR_Route_file(name, file);
    if ((f = fopen(file, "w")) != NULL) fputc('r', f), fclose(f);
    SCR_Complete_output(f != NULL);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (getenv("FINALIZE") != NULL) return SCR_Finalize() != SCR_SUCCESS || MPI_Finalize() != MPI_SUCCESS;
  is_read(1);
  is_read(2);
  MPI_Barrier(MPI_COMM_WORLD);
  usleep(500000); /* mpiexec passes it on */
  MPI_Abort(MPI_COMM_WORLD, 5);
}
C
ended() { flock -w 20 .scr/run.lock true; } # wait for the ranks, which may outlive the launcher of a job that was ended
check "a program of any names builds" 0 "" $MPICC -o "$tmp/named" -I"$top" "$tmp/named.c" "$library" -lz -lpthread
for name in "état 1" ' "; touch x' "\$(touch x)'a" "-x *?&|<>"; do
  new
  check "the name $name: a checkpoint" 5 - env SCR_FLUSH=1 $MPIEXEC -n 2 "$tmp/named" "c:$name"
  check "the name $name: scr_have_restart" 0 "$name" "$BIN/scr_have_restart"
  says "the name $name: --restart-cmd" 0 "^told: $(sed 's/[*$.]/\\&/g' <<<"$name")$" "$run" -rc "echo fresh" -rs "told: SCR_CKPT_NAME" echo
  check "the name $name: nothing else is run" 1 "" test -e x
done
new
check "a choice that only the cache has: three checkpoints" 5 - env SCR_FLUSH=3 SCR_CACHE_SIZE=3 $MPIEXEC -n 2 "$tmp/named" c:one c:two c:three
ended
check "a choice that only the cache has" 0 - "$BIN/scr_index" --current two
says "a choice that only the cache has keeps its cache" 1 "the cache is kept: the prefix lacks dataset 2" "$BIN/scr_clean"
says "a choice that only the cache has is saved" 0 "dataset 2 is in" "$BIN/scr_postrun"
check "a choice that was saved" 0 "" "$BIN/scr_clean"
check "a choice that was saved is loaded" 5 - env SCR_CACHE_SIZE=3 $MPIEXEC -n 2 "$tmp/named"
check "a choice that was saved is current" 0 two "$BIN/scr_have_restart"
new
check "SCR_CURRENT is the next restart: two checkpoints" 5 - env SCR_FLUSH=1 $MPIEXEC -n 2 "$tmp/named" c:one c:two
check "SCR_CURRENT is the next restart" 0 one env SCR_CURRENT=one "$BIN/scr_have_restart"
says "SCR_CURRENT is the next restart, one that is not there" 1 "SCR_CURRENT=three names no checkpoint" env SCR_CURRENT=three "$BIN/scr_have_restart"
check "SCR_FRESH_START: there is no restart" 0 "" env SCR_FRESH_START=1 "$BIN/scr_have_restart"
check "SCR_FRESH_START: there is no restart, a run" 5 - env SCR_FRESH_START=1 $MPIEXEC -n 2 "$tmp/named" c:three
check "SCR_FRESH_START counts once in a job" 0 three env SCR_FRESH_START=1 "$BIN/scr_have_restart"
echo damaged >.scr/index.scr
says "an index that is damaged: nothing begins anew" 1 "index.scr.*scr_index --build makes a new index" "$run" -rc "echo fresh" -rs "echo SCR_CKPT_NAME" env
check "an index that is damaged: nothing begins anew, there is no run" 1 "" grep "^fresh" "$tmp/out"

# leaves: a job that has output in its cache alone, of before a checkpoint that was flushed
alone="env -u SCR_VIRTUAL_NODES SCR_COPY_TYPE=SINGLE SCR_FLUSH=1"
leaves() {
  new
  : >out.2
  check "$1: a job" 5 - $alone $MPIEXEC -n 2 "$tmp/named" c:ck.1 "${2:-o}:out.2" c:ck.3
  rm out.2
}
leaves "output that an earlier job has left"
says "output that an earlier job has left is saved" 0 "job 7 has left dataset 2 in caches only" env SCR_JOB_ID=8 "$run" sh -c true
check "output that an earlier job has left: it is there" 0 "" test -f out.2/r1
leaves "output that other ranks have left"
says "output that other ranks have left is set aside" 5 "dataset 2 out.2 in the cache cannot be used: 2 ranks wrote it" $alone SCR_RESTART_RANKS=same SCR_FRESH_START=1 SCR_CACHE_SIZE=1 $MPIEXEC -n 1 "$tmp/named" c:one c:two
says "output that other ranks have left is saved" 0 "dataset 2 is in" "$BIN/scr_postrun"
check "output that other ranks have left: it is there" 0 "" test -f out.2/r1
cat >"$tmp/meanwhile.c" <<'END'
#include <stdlib.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>
/* what others do, as $MEANWHILE says, before a process gets its first exclusive lock */
int flock(int fd, int how)
{
  const char* command = getenv("MEANWHILE");
  static int  locks;
  if (command != NULL && (how & LOCK_EX) && locks++ == 0) {
    unsetenv("LD_PRELOAD");
    if (system(command) < 0) return -1;
  }
  return (int)syscall(SYS_flock, fd, how);
}
END
check "what happens meanwhile builds" 0 "" ${CC:-cc} -shared -fPIC -o "$tmp/meanwhile.so" "$tmp/meanwhile.c"
new
check "a run that comes and goes meanwhile: a job" 5 - $alone SCR_FLUSH=0 SCR_CACHE_SIZE=2 $MPIEXEC -n 2 "$tmp/named" c:a
ended
says "a run that comes and goes meanwhile: what it leaves is saved" 0 "the newest checkpoint on the prefix is 2, b" env LD_PRELOAD="$tmp/meanwhile.so" \
  MEANWHILE="$alone SCR_FLUSH=0 SCR_CACHE_SIZE=2 $MPIEXEC -n 2 '$tmp/named' c:b >'$tmp/its' 2>&1; flock -w 20 .scr/run.lock true" "$BIN/scr_postrun"
leaves "output that is in the way of a checkpoint"
: >out.2
says "output that cannot be saved, and a newer checkpoint that is" 1 "the newest checkpoint on the prefix is 3, ck.3" "$BIN/scr_postrun"
check "output that cannot be saved, and a newer checkpoint that is: nothing else stays" 1 "" grep "stays in the caches" "$tmp/out"
check "output that is in the way of a checkpoint: a newer one" 5 - $alone SCR_FLUSH=0 $MPIEXEC -n 2 "$tmp/named" c:ck.4
says "output that is in the way of a checkpoint: that is saved, as a run from ck.3 would not write the output again" 1 "the newest checkpoint on the prefix is 4, ck.4" "$BIN/scr_postrun"
says "output that is in the way of a checkpoint, a program that is done" 4 "the program is done, but dataset [0-9]*, .*, is in caches only" $alone "$run" sh -c true
new
: >out.1
check "output that is in the way of the only checkpoint: a job" 5 - $alone SCR_FLUSH=0 SCR_CACHE_SIZE=2 $MPIEXEC -n 2 "$tmp/named" o:out.1 c:ck.2
says "output that is in the way of the only checkpoint, as postrun says" 1 "what is newer than the output dataset 1, up to dataset 2, stays in the caches" "$BIN/scr_postrun"
check "output that is in the way of the only checkpoint: the remedy" 0 - "$BIN/scr_scavenge" --id 2
leaves "output in the cache of another job"
says "output in the cache of another job is named" 5 "the output out.2 (dataset 2) was not copied to the prefix, and cannot be reached by this run: it is in the cache of job 7 on $host, in $tmp/base/me/scr.7; .scr_scavenge --id 2., before another run starts, copies it" $alone SCR_JOB_ID=8 $MPIEXEC -n 2 "$tmp/named"
check "output in the cache of another job: the remedy" 0 - "$BIN/scr_scavenge" --id 2
check "output in the cache of another job: it is there" 0 "" test -f out.2/r1
leaves "output in the cache of another job, later"
for i in 1 2; do check "output in the cache of another job, later: run $i" 5 - $alone SCR_JOB_ID=8 $MPIEXEC -n 2 "$tmp/named"; done
check "output in the cache of another job, later: the remedy" 0 - "$BIN/scr_scavenge" --id 2 --jobset "$host" --from "$tmp/base/me/scr.7"
leaves "output in a cache that is emptied"
says "output in a cache that is emptied is named" 5 "SCR_CACHE_PURGE=1 deletes out.2 (dataset 2) from the cache, and the prefix has no copy of it" $alone SCR_CACHE_PURGE=1 $MPIEXEC -n 2 "$tmp/named"
new
: >out.2
check "output before a lost checkpoint: a job" 5 - $alone SCR_FLUSH=0 $MPIEXEC -n 2 "$tmp/named" c:ck.1 o:out.2 c:ck.3
rm out.2
for i in 1 2; do says "output before a lost checkpoint: start $i in vain" 4 "ck.3 (dataset 3, in the cache of job 7" $alone SCR_JOB_ID=8 $MPIEXEC -n 2 "$tmp/named" c:ck.4; done
says "output before a lost checkpoint is saved with it" 0 "dataset 2 is in" "$BIN/scr_postrun"
check "output before a lost checkpoint: both are there" 0 "" test -f out.2/r1 -a -f ck.3/r1
new
: >out.2
check "output before a lost checkpoint, in the way: a job" 5 - $alone SCR_FLUSH=0 SCR_CACHE_SIZE=3 $MPIEXEC -n 2 "$tmp/named" c:ck.1 o:out.2 c:ck.3
check "output before a lost checkpoint, in the way: a start in vain" 4 - $alone SCR_JOB_ID=8 $MPIEXEC -n 2 "$tmp/named" c:ck.4
says "output before a lost checkpoint, in the way, holds it back" 1 "newer than the output dataset 2, up to dataset 3, stays" "$BIN/scr_postrun"
check "output before a lost checkpoint, in the way: the one before is there" 0 "" test -f ck.1/r1 -a ! -e ck.3

new
: >out.2
check "output before a lost checkpoint, and a run without the cache: a job" 5 - $alone SCR_FLUSH=0 SCR_CACHE_SIZE=3 $MPIEXEC -n 2 "$tmp/named" c:ck.1 o:out.2 c:ck.3
rm out.2
check "output before a lost checkpoint, and a run without the cache" 5 - $alone SCR_JOB_ID=8 SCR_DISTRIBUTE=0 $MPIEXEC -n 2 "$tmp/named"
says "output before a lost checkpoint, and a run without the cache: it is saved" 0 "dataset 2 is in" "$BIN/scr_postrun"

# an output under the names of the one before, which stays in the cache, where nobody needs it
new
check "output that newer output has replaced: a job" 5 - $alone SCR_FLUSH=0 SCR_CACHE_SIZE=3 $MPIEXEC -n 2 "$tmp/named" o:plot o:plot c:ck.3
rm "$tmp/base/me/scr.7/scr.dataset.1/plot/r1"
says "output that newer output has replaced is not missed" 0 "the newest checkpoint on the prefix is 3, ck.3" "$BIN/scr_postrun"
check "output that newer output has replaced: nothing else stays" 1 "" grep "stays in the caches" "$tmp/out"
check "output that newer output has replaced does not keep the cache" 0 "" "$BIN/scr_clean"
new
check "output that newer output has replaced, and the next job: a job" 5 - $alone SCR_FLUSH=2 SCR_CACHE_SIZE=4 $MPIEXEC -n 2 "$tmp/named" o:plot o:plot c:ck.3 c:ck.4
says "output that newer output has replaced, and the next job" 5 "." $alone SCR_DEBUG=1 SCR_JOB_ID=8 $MPIEXEC -n 2 "$tmp/named"
check "output that newer output has replaced is not told to the next job" 1 "" grep "plot" "$tmp/out"

# no checkpoint, and one that was never in a cache
new
check "output alone: a job" 5 - $alone $MPIEXEC -n 2 "$tmp/named" o:out.1
says "output alone is all that there is to save" 0 "there is no checkpoint on the prefix" "$BIN/scr_postrun"
new
: >out.1
check "output alone, in the way: a job" 5 - $alone $MPIEXEC -n 2 "$tmp/named" o:out.1
says "output alone, in the way" 1 "there is no checkpoint on the prefix" "$BIN/scr_postrun"
new
printf 'CKPT=0 INTERVAL=1 TYPE=SINGLE STORE=%s\nCKPT=1 INTERVAL=2 TYPE=SINGLE STORE=%s BYPASS=1\n' "$tmp/base" "$tmp/base" >.scrconf
check "a checkpoint that was written on the prefix: a job" 5 - $alone SCR_COPY_TYPE=FILE SCR_FLUSH=0 $MPIEXEC -n 2 "$tmp/named" c:ck.1 c:ck.2
check "a checkpoint that was written on the prefix: the one before in the cache" 0 "" test -f "$tmp/base/me/scr.7/scr.dataset.1/ck.1/r1" -a ! -e ck.1 -a -f ck.2/r1
rm "$tmp/base/me/scr.7/scr.dataset.1/ck.1/r1"
says "a checkpoint that was written on the prefix is saved" 0 "the newest checkpoint on the prefix is 2, ck.2" "$BIN/scr_postrun"
says "a checkpoint that was written on the prefix, and a program that is done" 0 "the newest checkpoint on the prefix is 2, ck.2" "$run" sh -c true

# datasets whose files have the same names
cached=$tmp/base/me/scr.7
new
check "a rejected checkpoint, and a good one under the same names: a job" 5 - $alone SCR_FLUSH=2 $MPIEXEC -n 2 "$tmp/named" c:a,x c:b,x c:c,x
check "a rejected checkpoint, and a good one under the same names: the rejection" 5 - $alone SCR_FLUSH=2 SCR_FETCH_BYPASS=1 REJECT=1 $MPIEXEC -n 2 "$tmp/named"
says "a rejected checkpoint, and a good one under the same names: the good one stays" 1 "dataset 3 is not copied to $p: it would replace files of the good dataset 2" "$BIN/scr_postrun"
says "a rejected checkpoint, and a good one under the same names: that is current" 0 "[*] *2 YES .* b" "$BIN/scr_index" --list
new
check "output that was passed over, and the chosen one under the same names: a job" 5 - $alone SCR_CACHE_SIZE=2 $MPIEXEC -n 2 "$tmp/named" c:a,x "x:mv x away; : >x" b:b,x
ended
rm x && mv away x
check "output that was passed over, and the chosen one under the same names: the choice" 0 - "$BIN/scr_index" --current a
says "output that was passed over, and the chosen one under the same names: the chosen one stays" 0 "output 2 b is not copied to $p: the good checkpoint 1 has files of the same names there" $alone SCR_FLUSH=0 SCR_CACHE_SIZE=2 FINALIZE=1 $MPIEXEC -n 2 "$tmp/named"
check "output that was passed over, and the chosen one under the same names: another run" 0 - $alone SCR_CACHE_SIZE=2 SCR_GLOBAL_RESTART=1 FINALIZE=1 $MPIEXEC -n 2 "$tmp/named"
says "output that was passed over, and the chosen one under the same names: that is there" 0 "[*] *1 YES .* a" "$BIN/scr_index" --list
check "output that was passed over, and the chosen one under the same names: as the manual says, a choice lets it take its places" 0 - "$BIN/scr_index" --current b
check "output that was passed over, and the chosen one under the same names: a run from it" 0 - $alone SCR_CACHE_SIZE=2 FINALIZE=1 $MPIEXEC -n 2 "$tmp/named"
says "output that was passed over, and the chosen one under the same names: it has them" 0 "[*] *2 YES .* b" "$BIN/scr_index" --list
new
check "output that waits, and newer output under the same names: a job" 5 - $alone SCR_CACHE_SIZE=2 $MPIEXEC -n 2 "$tmp/named" "x:: >x" o:one,x "x:rm x" o:two,x
ended
says "output that waits, and newer output under the same names: the newer one stays" 0 "output 1 one is not copied to $p: the newer output 2 has files of the same names there" $alone SCR_CACHE_SIZE=2 FINALIZE=1 $MPIEXEC -n 2 "$tmp/named"
check "output that waits, and newer output under the same names: the newer one" 0 "2 output two" sh -c '"$1" --long | awk "/ output /{print \$1, \$2, \$NF}"' sh "$BIN/scr_index"
new
says "a checkpoint whose map is damaged leaves the index" 5 "dataset 1 in $p/x leaves the index: its rank2file map is damaged" $alone SCR_RANK2FILE_SIZE=1 SCR_PREFIX_SIZE=1 SCR_CACHE_SIZE=1 $MPIEXEC -n 2 "$tmp/named" c:a,x "x:: >'$p/x/.scr/rank2file.0.1.scr'" c:b,x
check "a checkpoint whose map is damaged, and its successor: another run" 5 - $alone SCR_CACHE_PURGE=1 $MPIEXEC -n 2 "$tmp/named"
check "a checkpoint whose map is damaged takes no file of its successor" 0 "" test -f x/r0 -a -f x/r1
check "a checkpoint whose map is damaged, and its successor: that is current" 0 b "$BIN/scr_have_restart"
new
says "output under the names of a checkpoint" 5 "dataset 2 out takes the places of files of checkpoint 1 in $p: only the cache has that now" $alone SCR_CACHE_SIZE=1 $MPIEXEC -n 2 "$tmp/named" c:a,x o:out,x
check "output under the names of a checkpoint: the cache keeps it" 0 "" test -f "$cached/scr.dataset.1/x/r1"
check "output under the names of a checkpoint: a newer one" 5 - $alone SCR_CACHE_SIZE=3 $MPIEXEC -n 2 "$tmp/named" c:b
check "output under the names of a checkpoint that is past" 0 - "$BIN/scr_postrun"
check "output under the names of a checkpoint that is past: no cache is kept" 0 "" "$BIN/scr_clean"
new
check "output under the names of a checkpoint that is rejected: a job" 5 - $alone SCR_CACHE_SIZE=3 $MPIEXEC -n 2 "$tmp/named" b:a,x o:out,x
check "output under the names of a checkpoint that is rejected: the ranks agree" 0 - timeout 60 $alone REJECT=1 FINALIZE=1 $MPIEXEC -n 2 "$tmp/named"
new
check "a checkpoint that is dropped while a run goes on: a job" 5 - $alone SCR_CACHE_SIZE=1 $MPIEXEC -n 2 "$tmp/named" c:a "x:'$BIN/scr_index' --drop a" o:out
check "a checkpoint that is dropped while a run goes on stays in the cache" 0 "" test -f "$cached/scr.dataset.1/a/r1"
new
says "a checkpoint whose file is gone, and output: a job" 5 "files of dataset 2 b have changed since it was completed" $alone SCR_FLUSH=0 SCR_CACHE_SIZE=2 $MPIEXEC -n 2 "$tmp/named" c:a c:b "x:rm '$cached/scr.dataset.2/b/r1'" o:out
check "a checkpoint whose file is gone, and output: the one before stays" 0 "" test -f "$cached/scr.dataset.1/a/r1"
new
check "a dropped checkpoint, and another one of equal files: a job" 5 - $alone $MPIEXEC -n 2 "$tmp/named" c:a,x "x:'$BIN/scr_index' --drop a" c:b,x
ended
says "a dropped checkpoint, and another one of equal files: the older one is not added" 1 "x is not added: .* it would replace files of the newer dataset 2" "$BIN/scr_index" --build
new
check "a directory with files of one's own: a job" 5 - $alone $MPIEXEC -n 2 "$tmp/named" c:a c:b
touch b/notes && cp -a b "$tmp/b.copy"
ended
check "a directory with files of one's own: the deletion" 0 - "$BIN/scr_index" --delete b --force
rm -rf b && mv "$tmp/b.copy" b
check "a directory with files of one's own: another run" 5 - $alone SCR_CACHE_PURGE=1 $MPIEXEC -n 2 "$tmp/named"
check "a copy that is brought back is not deleted" 0 "" test -f b/r1
new
check "a checkpoint that is purged: a job" 5 - $alone $MPIEXEC -n 2 "$tmp/named" c:a c:b
rm b/r1
ended
says "the one before a checkpoint that is purged is not deleted" 1 "a is the newest good checkpoint whose files are there" "$BIN/scr_index" --delete a
new
check "a name that is a directory of another dataset" 5 - $alone SCR_FLUSH=2 $MPIEXEC -n 2 "$tmp/named" c:data,tmp o:result,data d:data
check "a name that is a directory of another dataset: that stays" 0 "" test -f data/r1
new
check "a choice of which a node has lost its part: a job" 5 - $alone SCR_FLUSH=0 SCR_CACHE_SIZE=2 $MPIEXEC -n 2 "$tmp/named" c:a c:b
ended
check "a choice of which a node has lost its part: the choice" 0 - "$BIN/scr_index" --current a
rm "$cached/scr.dataset.1/a/r1"
says "a choice of which a node has lost its part: what was found" 1 "what was found is in $p/.scr/scavenge.1" "$BIN/scr_postrun"
check "a choice of which a node has lost its part: that stays" 0 "" sh -c 'test -d .scr/scavenge.1.*'
new
check "a choice that the cache alone has, and a run without it: a job" 5 - $alone SCR_FLUSH=0 SCR_CACHE_SIZE=2 $MPIEXEC -n 2 "$tmp/named" c:a c:b
ended
says "a choice that the cache alone has, by parameter, and a run without it" 4 "SCR_DISTRIBUTE=0 would empty the cache, .* checkpoint a, .* not emptied.* with SCR_CURRENT, or none" $alone SCR_CURRENT=a SCR_DISTRIBUTE=0 $MPIEXEC -n 2 "$tmp/named"
check "a choice that the cache alone has, and a run without it: the choice" 0 - "$BIN/scr_index" --current a
says "a choice that the cache alone has, and a run without it" 4 "SCR_CACHE_PURGE=1 would empty the cache, .* checkpoint a, .* not emptied.* with scr_index --current, or begin anew with SCR_FRESH_START=1" $alone SCR_CACHE_PURGE=1 $MPIEXEC -n 2 "$tmp/named"
says "a choice that the cache alone has, and a run with it" 5 "checkpoint a (dataset 1) is loaded" $alone SCR_DEBUG=1 SCR_CACHE_SIZE=3 $MPIEXEC -n 2 "$tmp/named" c:c
says "a choice that the cache alone has, and was served: a run without it" 5 "checkpoint c (dataset 4) is loaded" $alone SCR_DEBUG=1 SCR_CACHE_PURGE=1 $MPIEXEC -n 2 "$tmp/named"
new
check "a choice whose files are gone from the prefix, and a run without the cache: a job" 5 - $alone SCR_FLUSH=1 SCR_CACHE_SIZE=2 $MPIEXEC -n 2 "$tmp/named" c:a c:b
rm -r a && ended
check "a choice whose files are gone from the prefix: the choice" 0 - "$BIN/scr_index" --current a
says "a choice whose files are gone from the prefix, and a run without the cache" 4 "the prefix does not have the checkpoint a" $alone SCR_CACHE_PURGE=1 $MPIEXEC -n 2 "$tmp/named"
says "a choice whose files are gone from the prefix, and a run with the cache" 5 "checkpoint a (dataset 1) is loaded" $alone SCR_DEBUG=1 SCR_CACHE_SIZE=2 $MPIEXEC -n 2 "$tmp/named"
new
check "a checkpoint that is damaged everywhere: a job" 5 - $alone SCR_FLUSH=2 SCR_CACHE_SIZE=2 $MPIEXEC -n 2 "$tmp/named" c:a,x c:b,x c:c,x c:d,x
rm x/r1 "$cached/scr.dataset.4/x/r1"
check "a checkpoint that is damaged everywhere: a run from the one before" 5 - $alone SCR_FLUSH=2 $MPIEXEC -n 2 "$tmp/named"
says "a checkpoint that is damaged everywhere: the one before is saved" 0 "the newest checkpoint on the prefix is 3, c" "$BIN/scr_postrun"

# the metadata are those of a backup
new
check "older metadata: a job" 5 - $alone SCR_FLUSH=1 $MPIEXEC -n 2 "$tmp/named" c:ck.1 c:ck.2
cp -a .scr "$tmp/older"
check "older metadata: it goes on" 5 - $alone SCR_FLUSH=1 $MPIEXEC -n 2 "$tmp/named" c:ck.3 c:ck.4
ended
rm -rf .scr && mv "$tmp/older" .scr
says "older metadata: the newer checkpoint is named" 5 "ck.4 (dataset 4) is complete on the prefix $p, but neither its index nor its flush file knows of it" $alone SCR_CACHE_PURGE=1 $MPIEXEC -n 2 "$tmp/named"
says "older metadata: the remedy" 0 "4 .*ck.4" sh -c '"$0" --build && "$0" --list' "$BIN/scr_index"
says "older metadata: the newer one is loaded" 5 "checkpoint ck.4 (dataset 4) is loaded" $alone SCR_DEBUG=1 SCR_CACHE_PURGE=1 $MPIEXEC -n 2 "$tmp/named" c:ck.5
check "older metadata: it has the next number" 0 - test -f "$cached/scr.dataset.5/ck.5/r1"

# datasets of two prefixes that have the same id
new
rm -rf "$tmp/other" && mkdir "$tmp/other"
check "a dataset of the same id: a job with another prefix" 5 - sh -c 'cd "$1" && shift && exec "$@"' sh "$tmp/other" $alone "SCR_PREFIX=$tmp/other" SCR_JOB_ID=9 $MPIEXEC -n 2 "$tmp/named" c:o1 c:o2
check "a dataset of the same id: a job" 5 - $alone SCR_FLUSH=0 SCR_CACHE_SIZE=2 $MPIEXEC -n 2 "$tmp/named" c:c1 c:c2
mv "$tmp/other/o2" . && ended
check "a dataset of the same id is added" 0 - "$BIN/scr_index" --add o2
check "a dataset of the same id is chosen" 0 - "$BIN/scr_index" --current o2
says "a dataset of the same id takes the place of one in the cache, which is copied first" 5 "the cache has another dataset 2, c2, which is copied to $p first" $alone SCR_FLUSH=0 $MPIEXEC -n 2 "$tmp/named"
check "a dataset of the same id, and the one of the cache: that is there" 0 "" test -f c2/r1
says "a dataset of the same id, and the one of the cache, which is chosen by its name" 5 "checkpoint c2 (dataset 2) is loaded" $alone SCR_FLUSH=0 SCR_DEBUG=1 SCR_CURRENT=c2 $MPIEXEC -n 2 "$tmp/named"

# two control directories, and one cache
new
check "what another control directory lists: a job" 5 - $alone SCR_FLUSH=0 SCR_CACHE_SIZE=2 $MPIEXEC -n 2 "$tmp/named" c:ck.1 c:ck.2
mkdir "$tmp/base/other"
check "what another control directory lists: a start in vain" 4 - $alone "SCR_CNTL_BASE=$tmp/base/other" $MPIEXEC -n 2 "$tmp/named" c:ck.3
says "what another control directory lists stays" 1 "the cache is kept: the prefix lacks dataset [12]; scr_postrun saves it" env "SCR_CNTL_BASE=$tmp/base/other" "$BIN/scr_clean"
says "what another control directory lists: the remedy" 0 "the newest checkpoint on the prefix is 2, ck.2" env "SCR_CNTL_BASE=$tmp/base/other" "$BIN/scr_postrun"
check "what another control directory lists: what is saved goes" 0 "" env "SCR_CNTL_BASE=$tmp/base/other" "$BIN/scr_clean"

# chosen: a job of whose two checkpoints the user has chosen the one that only its cache has
chosen() {
  new
  check "$1: a job" 5 - $alone SCR_FLUSH=2 SCR_CACHE_SIZE=2 $MPIEXEC -n 2 "$tmp/named" c:ck.1 c:ck.2
  ended
  check "$1: the choice" 0 - "$BIN/scr_index" --current ck.1
}
new
check "a map that is lost: a job" 5 - $alone $MPIEXEC -n 2 "$tmp/named" c:ck.1 c:ck.2
rm ck.2/.scr/rank2file.0.0.scr
for i in 1 2; do says "a map that is lost: start $i of another job" 5 "ck.2 (dataset 2, in the cache of job 7 .* cannot be reached by this run" $alone SCR_JOB_ID=8 $MPIEXEC -n 2 "$tmp/named"; done
says "a map that is lost: the cache of the first job still has it" 0 "dataset 2 is in" "$BIN/scr_scavenge"
new
check "rejected by another job: a job" 5 - $alone $MPIEXEC -n 2 "$tmp/named" c:ck.1 c:ck.2
check "rejected by another job: it rejects the newest" 5 - $alone REJECT=1 $MPIEXEC -n 2 "$tmp/named"
says "rejected by another job: it is named" 5 "ck.2 (dataset 2) is newer than ck.1, .*rejected it in another job; .* scr_index --current" $alone SCR_JOB_ID=8 $MPIEXEC -n 2 "$tmp/named"
ended
check "rejected by another job: it is chosen" 0 - "$BIN/scr_index" --current ck.2
check "rejected by another job: the choice" 5 - $alone SCR_JOB_ID=8 $MPIEXEC -n 2 "$tmp/named"
mv "$tmp/stderr" "$tmp/said"
check "rejected by another job: nothing is told of the choice" 1 "" grep "rejected it" "$tmp/said"
new
check "deleted during a run: a job" 5 - $alone $MPIEXEC -n 2 "$tmp/named" c:ck.1 "x:$BIN/scr_index --delete ck.1 --force" c:ck.2
check "deleted during a run: its files are gone" 1 "" test -e ck.1/r1
says "deleted during a run: the other is there" 0 "YES.* ck.2" "$BIN/scr_index" --long
new
says "a choice during a run, which writes to the same files: it is told" 5 "a (dataset 3) takes the place of a (dataset 1), which the user has chosen" $alone $MPIEXEC -n 2 "$tmp/named" c:a c:b "x:$BIN/scr_index --current a" c:a
ended
check "a choice during a run: the remedy" 0 - "$BIN/scr_index" --current a
check "a choice during a run: a run that goes on from it" 5 - $alone $MPIEXEC -n 2 "$tmp/named" c:a
mv "$tmp/stderr" "$tmp/said"
check "a choice during a run: once it is served, no word of it" 1 "" grep "takes the place" "$tmp/said"
chosen "a choice that another job's cache has"
for i in 1 2; do says "a choice that another job's cache has: start $i in vain" 4 "choice, the checkpoint ck.1, cannot be loaded.*; ck.1 (dataset 1, in the cache of job 7" $alone SCR_JOB_ID=8 $MPIEXEC -n 2 "$tmp/named" c:ck.3; done
says "a choice that another job's cache has is saved" 0 "dataset 1 is in" "$BIN/scr_postrun"
check "a choice that another job's cache has is loaded" 5 - $alone SCR_JOB_ID=8 $MPIEXEC -n 2 "$tmp/named"
chosen "a choice that another job's cache has, by scr_run"
says "a choice that another job's cache has, by scr_run, is saved" 0 "job 7 has left dataset 1 in caches only" env SCR_JOB_ID=8 "$run" sh -c true
check "a choice that another job's cache has, by scr_run: it is there" 0 "" test -f ck.1/r1
chosen "a choice that is lost"
rm -r "$tmp/base/me/scr.7"
says "a choice that is lost" 1 "the checkpoint that the user has chosen, 1, ck.1, is not saved; scr_index --current chooses another" "$BIN/scr_postrun"
check "a choice that is lost: the remedy" 0 - "$BIN/scr_index" --current ck.2
says "a choice that is lost: the remedy helps" 0 "the newest checkpoint on the prefix is 2, ck.2" "$BIN/scr_postrun"

new
check "a prefix that was moved: a job" 5 - $alone SCR_FLUSH=0 $MPIEXEC -n 2 "$tmp/named" c:ck.1
cp -a "$p" "$p.copy"
says "a prefix that was copied has no caches" 1 "is the cache of the prefix $p, not of" env "SCR_PREFIX=$p.copy" "$BIN/scr_postrun"
mv "$p" "$p.moved" && mkdir "$p" && cd "$p"
says "a prefix that was moved, and a new one in its place" 5 "cache of an earlier prefix directory $p, which was removed or moved" $alone $MPIEXEC -n 2 "$tmp/named" c:new.1
says "a prefix that was moved: the remedy" 0 "the newest checkpoint on the prefix is 1, ck.1" env "SCR_PREFIX=$p.moved" "$BIN/scr_postrun"
check "a prefix that was moved: what is saved" 0 "" test -f "$p.moved/ck.1/r1" -a ! -e ck.1
new
check "a prefix that is not mounted: a job" 5 - $alone SCR_FLUSH=0 $MPIEXEC -n 2 "$tmp/named" c:ck.1
mv "$p" "$p.away" && mkdir "$p" && cd "$p"
says "a prefix that is not mounted" 1 "the prefix $p has neither .* but had an identity when .* was written: is its file system mounted" env "SCR_NODELIST=$(hostname)" "$BIN/scr_postrun"
check "a prefix that is not mounted: nothing is saved below the mount point" 0 "" ls -A "$p"
cp -a "$tmp/base" "$tmp/base.kept"
says "a prefix that is not mounted: a scavenge" 1 "the prefix $p has neither .* is its file system mounted" env "SCR_NODELIST=$(hostname)" "$BIN/scr_scavenge" --id 1
check "a prefix that is not mounted: it is the right one" 0 - "$BIN/scr_index" --build
says "a prefix that is not mounted: the remedy for one that was emptied" 0 "dataset 1 is in $p/ck.1" env "SCR_NODELIST=$(hostname)" "$BIN/scr_postrun"
rm -r "$p" "$tmp/base" && mv "$tmp/base.kept" "$tmp/base" && mv "$p.away" "$p" && cd "$p"
says "a prefix that is mounted again" 0 "the newest checkpoint on the prefix is 1, ck.1" "$BIN/scr_postrun"
new
check "a purged checkpoint that another job has in its cache: a job" 5 - $alone SCR_FLUSH=1 $MPIEXEC -n 2 "$tmp/named" c:ck.1 c:ck.2
rm ck.2/r*
says "a purged checkpoint that another job has in its cache is named" 5 "ck.2 (dataset 2, in the cache of job 7" $alone SCR_JOB_ID=8 $MPIEXEC -n 2 "$tmp/named"
check "a purged checkpoint that another job has in its cache is saved" 0 - "$BIN/scr_postrun"
check "a purged checkpoint that another job has in its cache is there" 0 "" test -f ck.2/r1
leaves "output that is a checkpoint, in the cache of another job" b
says "output that is a checkpoint, in the cache of another job, is named" 5 "the output out.2 (dataset 2) was not copied" $alone SCR_JOB_ID=8 $MPIEXEC -n 2 "$tmp/named"
leaves "output in the cache of another job, two runs"
check "output in the cache of another job, two runs: the first" 5 - $alone SCR_JOB_ID=8 $MPIEXEC -n 2 "$tmp/named"
check "output in the cache of another job is named once" 5 "" sh -c 'exec "$@" >"$0" 2>&1' "$tmp/out" $alone SCR_JOB_ID=8 $MPIEXEC -n 2 "$tmp/named"
check "output in the cache of another job is named once: not again" 1 "" grep out.2 "$tmp/out"

# at the end, what is saved leaves the caches; what is not stays, as does all where the next run may use it
cached() { find "$tmp/base" -path '*/scr.dataset.*' -name 'rank_*' | grep -c . ; }
new
says "clean, the program is done" 0 "the newest checkpoint on the prefix is 6, heat.600" "$run" $MPIEXEC -n 4 "$heat" $size
check "clean, the program is done: the caches are empty" 1 0 cached
new
says "clean, turned off" 0 "the newest checkpoint on the prefix is 6, heat.600" env SCR_CACHE_CLEAN=0 "$run" $MPIEXEC -n 4 "$heat" $size
check "clean, turned off: the caches are not empty" 0 - cached
check "clean, here" 0 "" "$BIN/scr_clean" --here
check "clean, here: the cache of this node is empty" 1 0 cached
new
says "clean, a program that fails, without a batch system" $KILLED "no runs are left" "$run" $MPIEXEC -n 4 "$heat" $size --kill-at 350
check "clean, a program that fails, without a batch system: the next run has its cache" 0 - cached
new
check "clean, here, a program that died" $KILLED - $MPIEXEC -n 4 "$heat" $size --kill-at 350
says "clean, here, what the prefix lacks stays" 1 "the cache is kept: the prefix lacks dataset 3" "$BIN/scr_clean" --here
check "clean, here, what the prefix lacks stays: it is there" 0 - cached
flags=--uts
[ "$(id -u)" = 0 ] || flags="-Ur --uts"
if unshare $flags true 2>"$tmp/stderr"; then
  new
  check "clean, here, a run without virtual nodes" 0 - env -u SCR_VIRTUAL_NODES SCR_FLUSH=1 SCR_COPY_TYPE=SINGLE $MPIEXEC -n 4 "$heat" $size
  check "clean, here, on a node that the run did not have" 0 "" unshare $flags sh -c 'hostname elsewhere && exec "$@"' sh "$BIN/scr_clean" --here
  check "clean, here, on a node that the run did not have: nothing is removed" 0 - cached
  check "clean, here, on its node" 0 "" "$BIN/scr_clean" --here
  check "clean, here, on its node: the cache is empty" 1 0 cached
fi

# the batch scripts: the manual has them, README one, and that without a batch system runs
for script in job.sh:tools/manual/jobs.md job.slurm:tools/manual/jobs.md job.slurm:README.md; do
  check "${script#*:} has ${script%:*}" 0 "" python3 -c 'import sys
text = "".join("    " + line if line.strip() else line for line in open(sys.argv[1]))
sys.exit(text not in open(sys.argv[2]).read())' "$top/examples/${script%:*}" "$top/${script#*:}"
done
# job.slurm: the watchdog ends a program that hangs before the job's time is over, and the job has the nodes of the program
option() { sed -n "s/^#SBATCH --$1=\([0-9]*\)\$/\1/p" "$top/examples/job.slurm"; }
patience=$(sed -n 's/.*SCR_WATCHDOG_TIMEOUT:-\([0-9]*\)}.*/\1/p' "$top/examples/job.slurm")
check "job.slurm: the watchdog is faster than the time limit" 0 "" test "${patience:-3600}" -lt $(($(option time) * 60 - 600))
check "job.slurm: its nodes" 0 "$(option nodes)" sed -n 's/^exec scr_srun --nodes=\([0-9]*\) .*/\1/p' "$top/examples/job.slurm"
new
says "job.sh" 0 "the newest checkpoint on the prefix is 6, heat.600" env "PATH=$BIN:$PATH" MPIEXEC="$MPIEXEC" sh "$top/examples/job.sh" "$heat" $size
cp "$tmp/out" "$tmp/log"
check "job.sh: its answer" 0 "$calm" answer
new
mkdir "$tmp/elsewhere"
says "job.sh, whose prefix is not the working directory" 0 "the newest checkpoint on the prefix is 6, heat.600" sh -c 'cd "$1" && shift && exec "$@"' sh "$tmp/elsewhere" env "PATH=$BIN:$PATH" "SCR_PREFIX=$p" MPIEXEC="$MPIEXEC" sh "$top/examples/job.sh" "$heat" $size
check "job.sh, whose prefix is not the working directory: its checkpoint" 0 "" test -d "$p/heat.600"
new
job="env PATH=$BIN:$PATH MPIEXEC=$MPIEXEC sh $top/examples/job.sh"
says "job.sh, with a program that dies" $KILLED "the newest checkpoint on the prefix is 3, heat.300" env SCR_RUNS=1 $job "$heat" $size --kill-at 350
says "job.sh, submitted again" 0 "restarted from heat.300" env SCR_JOB_ID=8 $job "$heat" $size
cp "$tmp/out" "$tmp/log"
check "job.sh, submitted again: its answer" 0 "$calm" answer

# the recipe for a workstation, as the manual has it
recipe=$(sed -n '/^### A workstation/,/^### [^A]/s/^    //p' "$top/tools/manual/choosing.md" |
  sed "s|/dev/shm|$tmp/shm|g; s|mpiexec|$MPIEXEC|; s|\./heat2d --steps 1000|$heat $size|")
new
mkdir -p "$tmp/shm"
says "the recipe for a workstation" 0 "the newest checkpoint on the prefix is 6, heat.600" env "PATH=$BIN:$PATH" sh -c 'cd "$1" && unset SCR_PREFIX SCR_VIRTUAL_NODES && eval "$2"' sh "$p" "$recipe"
cp "$tmp/out" "$tmp/log"
check "the recipe for a workstation: its answer" 0 "$calm" answer

# a run whose ranks hang is ended from outside, and not started again
new
: >"$tmp/log" # the program before said what the loop waits for
timeout -k 5 80 "$run" --runs 3 $MPIEXEC -n 4 "$heat" $size --steps 600000 >"$tmp/log" 2>&1 &
pid=$!
while ! grep -q heat.100 "$tmp/log"; do sleep 0.1; done
launch=$(sed -n 's/^parent \([0-9]*\) on .*/\1/p' "$p/.scr/run.lock") # Open MPI's launcher is not named
if [ -n "$launch" ]; then kill -STOP $(cat "/proc/$launch/task/$launch/children")
else kill -STOP "$(sed -n 's/^process \([0-9]*\) on .*/\1/p' "$p/.scr/run.lock")"; fi
says "halt, immediately" 0 "Ended the run on $p" "$BIN/scr_halt" --immediate "$p"
wait $pid
says "halt, immediately: the end" 0 "there is no other run: the halt file gives the reason JOB_HALTED" cat "$tmp/log"
says "halt, immediately: the checkpoint is saved" 0 "the newest checkpoint on the prefix is" cat "$tmp/log"
says "halt, immediately, without a run" 0 "No run uses $p now" "$BIN/scr_halt" -i "$p"

# scr_run is killed at any moment; what it started ends with it or soon after; the next one goes on
case $mode in check) tries=1 ;; full) tries=2 ;; *) tries=20 ;; esac
i=0
while [ $i -lt $tries ]; do
  i=$((i + 1))
  new
  for k in 1 2; do
    "$run" --runs 3 $MPIEXEC -n 4 "$heat" $size >"$tmp/log" 2>&1 &
    pid=$!
    sleep "$((RANDOM % 2)).$((RANDOM % 10))"
    kill -9 %% 2>/dev/null # the job, not a number that another process may have by now
    wait $pid 2>/dev/null
  done
  "$run" --runs 3 --wait 1 $MPIEXEC -n 4 "$heat" $size >"$tmp/log" 2>&1
  check "killed twice, try $i" 0 "" test $? = 0
  check "killed twice, try $i: the answer" 0 "$calm" answer
  says "killed twice, try $i: the end is saved" 0 "heat.600" "$BIN/scr_index" --list
done
finish
