#!/bin/bash
# A checkpoint on request: scr_checkpoint, the signals of SCR_SIGNALS, and the end of the allocation that a resource
# manager knows, over real jobs.  From the environment: CC, MPICC, MPIEXEC, BIN.  Last line: N passed, N failed, N skipped.
set -u
mode=${1:-check}
top=$(cd "$(dirname "$0")/../.." && pwd)
BIN=${BIN:-$top/tools}
. "$top/tests/find_mpi.sh"
unset "${!SCR_@}" "${!SLURM_@}"
. "$top/tests/tools/check.sh"
yields
# shellcheck disable=SC2086
{
  check "a library that looks at each call builds" 0 "" $MPICC -O0 -DSCR_LOOK_SECONDS=0 -Wall -Werror -c -o "$tmp/library.o" "$top/scr_impl.c"
  check "a job builds" 0 "" $MPICC -O1 -Wall -Werror -o "$tmp/job" "$top/tests/tools/steered.c" "$tmp/library.o" -lz -lpthread
  check "a job with a handler builds" 0 "" $MPICC -O1 -Wall -Werror -DSTEERED_SIGNAL=SIGUSR1 -o "$tmp/hears" "$top/tests/tools/steered.c" "$tmp/library.o" -lz -lpthread
}
export SCR_JOB_ID=57 SCR_PREFIX=$tmp/run SCR_VIRTUAL_NODES=3 SCR_CNTL_BASE=$tmp/node SCR_CACHE_BASE=$tmp/node SCR_FLUSH=0
export SCR_CHECKPOINT_INTERVAL=1000 BEFORE_STEP=$tmp/step PATH=$BIN:$PATH
unset ASKS FAILS

fresh() { cd "$tmp" && rm -rf run node && mkdir run node && cd run && printf '#!/bin/sh\n' >"$tmp/step" && chmod +x "$tmp/step"; }
# before STEP COMMAND: what is done before that step
before() { printf 'case $1 in %s) %s ;; esac\n' "$1" "$2" >>"$tmp/step"; }
# shellcheck disable=SC2086
job() { timeout -k 5 60 $MPIEXEC -n 3 "${ENVIRONMENT[@]}" "$tmp/${PROGRAM:-job}" "$@" >"$tmp/said" 2>&1; }
ENVIRONMENT=(env)
written() { echo $(sed -n 's/^step \([0-9]*\): checkpoint$/\1/p' "$tmp/said"); }
# asked N: wait until the halt file has N requests; ended FILE...: until each has an exit code at its end.  For any shell.
cat >"$tmp/asked" <<'END'
#!/bin/sh
for i in $(seq 600); do scr_halt --list | grep -q "asked for: *$1\$" && exit; sleep 0.05; done
exit 1
END
cat >"$tmp/ended" <<'END'
#!/bin/sh
for f in "$@"; do
  for i in $(seq 600); do tail -n 1 "$f" 2>/dev/null | grep -qx '[0-9][0-9]*' && break; sleep 0.05; done
done
END
chmod +x "$tmp/asked" "$tmp/ended"
# ends WHAT EXIT STEPS CHECKPOINTS: a job of so many steps, and the steps with a checkpoint
ends() {
  check "$1" "$2" "" job "$3"
  check "$1, the checkpoints" 0 "$4" written
}

# ---- by command
fresh
before 3 'scr_checkpoint'
ends "asked by command" 0 6 3
check "asked by command, no flush" 1 "" test -e step.3
says "asked by command, the run has ended" 0 "^    written by a run of job 57 at 20.*, for this job only$" scr_halt --list
check "asked by command, the request is gone" 0 "Halt file settings for $tmp/run/.scr/halt.scr:
  ExitReason:               SCR_FINALIZE_CALLED" sh -c 'scr_halt --list | grep -v "for this job only"'
says "no run, the last one has ended" 1 "no run uses $tmp/run: the last one has ended" scr_checkpoint
rm .scr/halt.scr
says "no run, and no halt file" 1 "no run uses $tmp/run now" scr_checkpoint --wait
check "no run, no request is left" 1 "" test -e .scr/halt.scr
mkdir "$tmp/unused"
says "a directory that no run has used" 1 "no run uses $tmp/unused now" timeout 10 scr_checkpoint --wait "$tmp/unused"
check "a directory that no run has used stays as it is" 0 "" rmdir "$tmp/unused"
says "no directory" 1 "none" scr_checkpoint "$tmp/none"
for a in "--timeout 0" "--timeout x" "--timeout 3" "a b"; do says "wrong: $a" 1 "Usage" scr_checkpoint $a; done

fresh
before 2 "(scr_checkpoint --wait --flush >'$tmp/one' 2>&1; echo \$? >>'$tmp/one') & (scr_checkpoint -w >'$tmp/two' 2>&1; echo \$? >>'$tmp/two') & $tmp/asked 2"
before 5 "$tmp/ended '$tmp/one' '$tmp/two'"
ends "two who wait" 0 5 2
check "the one who waits for a flush" 0 "step.2 (dataset 1) is complete, and on the prefix
0" cat "$tmp/one"
check "the other" 0 "step.2 (dataset 1) is complete, and on the prefix
0" cat "$tmp/two"
check "the files are there" 0 "3" sh -c 'ls step.2 | grep -c rank_'
check "nothing is left of requests and answers" 0 0 sh -c 'scr_print_hash_file .scr/halt.scr | grep -c -e REQUEST -e ANSWER; true'

fresh
before 2 "(scr_checkpoint --wait >'$tmp/one' 2>&1; echo \$? >>'$tmp/one') & $tmp/asked 1"
before 6 "$tmp/ended '$tmp/one'"
FAILS=2 ends "a checkpoint that fails is written again" 0 6 3
check "and answered only then" 0 "step.3 (dataset 2) is complete, and in the cache
0" cat "$tmp/one"

fresh
before 3 'scr_checkpoint --halt'
ends "asked to end, by an exit in SCR_Complete_output" 0 6 ""
check "asked to end, before the other steps" 1 "" grep -q '^done' "$tmp/said"
check "the next run is not kept from it" 0 "" job 6
says "it goes on where the first one ended" 0 "restarted from step.3" cat "$tmp/said"
check "and ends" 0 1 grep -c '^done' "$tmp/said"

fresh
before 3 'touch step.3; scr_checkpoint --halt'
before 4 'rm step.3'
ends "asked to end, but the flush fails: it ends after the next checkpoint" 0 6 ""
says "why it ends is told then" 0 "the run ends here: a signal or scr_checkpoint --halt has asked for it" cat "$tmp/said"

fresh
before 3 'scr_checkpoint --halt'
ASKS=1 ends "asked to end, a program that asks" 0 6 3
check "it is told after the checkpoint" 0 "step 3: checkpoint step 3: should exit done" sh -c "echo \$(grep -e ^step -e ^done '$tmp/said')"

fresh
before 2 "touch '$tmp/began'; until [ -e '$tmp/stopped' ]; do sleep 0.1; done; kill -9 \$(cat pid.1)"
began() { until [ -e "$tmp/began" ]; do sleep 0.1; done; }
# asks NAME: what waits for a checkpoint of the job that began, and its exit code, go to the file NAME
asks() { scr_checkpoint --wait >"$tmp/$1" 2>&1; echo $? >>"$tmp/$1"; }
( began; asks one ) & # not of the job
ends=$!
( began; scr_checkpoint --wait & echo $! >"$tmp/pid"; "$tmp/asked" 2 >/dev/null; kill -STOP "$(cat "$tmp/pid")"; touch "$tmp/stopped"; wait $!; echo $? ) >"$tmp/two" 2>&1 &
waits=$!
job 4
rm "$tmp/began" "$tmp/stopped"
wait $ends
check "a job that is killed does not answer, and is not waited for" 0 "scr_checkpoint: no run uses $tmp/run any more: the one that was asked has ended
1" sed 's/ \[.*//' "$tmp/one"
check "the next run" 0 "" job 1
kill -CONT "$(cat "$tmp/pid")"
wait $waits
mv "$tmp/two" "$tmp/one"
check "it says that the one that was asked has ended" 0 "scr_checkpoint: the run that was asked has ended
1" sed 's/ \[.*//' "$tmp/one"
printf '#!/bin/sh\n' >"$tmp/step"
before 2 "scr_checkpoint --wait --timeout 1 >'$tmp/one' 2>&1"
ends "a request that is taken back" 0 3 ""
says "when its time is over" 0 "has not answered within 1 s" cat "$tmp/one"
printf '#!/bin/sh\n' >"$tmp/step"
before 2 "(scr_checkpoint --wait >'$tmp/one' 2>&1; echo \$? >>'$tmp/one') & $tmp/asked 1; scr_halt --remove >/dev/null; $tmp/ended '$tmp/one'"
check "a request that someone removes" 0 "" job 3
says "is not waited for" 0 "someone has removed the request" cat "$tmp/one"
printf 'no hash' >.scr/halt.scr
says "a damaged halt file" 1 "halt.scr" scr_checkpoint

# ---- tasks of an array, one after the other over one prefix
fresh
export SCR_CHECKPOINT_INTERVAL=2
SCR_FLUSH=2 SCR_JOB_ID=57_1 ends "the first task" 0 4 "2 4"
says "the first task has ended" 0 "written by a run of job 57_1" env SCR_JOB_ID=57_1 scr_retries_halt --dir .
check "the second has not" 1 - env SCR_JOB_ID=57_2 scr_retries_halt --dir .
SCR_FLUSH=2 SCR_JOB_ID=57_2 ASKS=1 ends "the second task" 0 8 "6 8"
says "it goes on from the first" 0 "restarted from step.4" cat "$tmp/said"
check "it is not told to exit" 1 "" grep "should exit" "$tmp/said"
says "it has ended too" 0 "written by a run of job 57_2" env SCR_JOB_ID=57_2 scr_retries_halt --dir .
SCR_CHECKPOINT_INTERVAL=1000

# ---- by signal
fresh
before 3 'kill -USR2 $(cat pid.1)' # MPICH has a handler for USR1
check "without SCR_SIGNALS a signal ends the job" 1 - sh -c '"$@"; [ $? = 0 ]' sh timeout 60 $MPIEXEC -n 3 "$tmp/job" 5
export SCR_SIGNALS="USR1=checkpoint, SIGTERM=halt usr2:checkpoint+flush"
fresh
before 3 'kill -USR1 $(cat pid.1); sleep 0.2'
before 5 'kill -USR2 $(cat pid.2); sleep 0.2'
ends "signals to one rank" 0 7 "3 5"
check "one that asks for a flush, and one that does not" 0 "step.5" sh -c 'echo step.*'
fresh
before 3 'kill -TERM $(cat pid.2); sleep 0.2'
ends "a signal to end" 0 6 ""
says "a signal to end, no other run in this job" 0 "HALT_REQUESTED, written by a run of job 57" scr_retries_halt --dir .
check "a signal to end, another job" 1 - env SCR_JOB_ID=58 scr_retries_halt --dir .
check "a signal to end, the next run" 0 "" job 6
says "which goes on" 0 "restarted from step.3" cat "$tmp/said"
check "to the end" 0 1 grep -c '^done' "$tmp/said"
fresh
before 2 'kill -USR1 $(cat pid.1); sleep 0.2'
PROGRAM=hears ends "a program with a handler" 0 4 2
check "its handler is called too" 0 "heard.1:10" grep -H . heard.*
rm -rf .scr heard.* "$tmp"/node/*
SCR_SIGNALS='' PROGRAM=hears ends "and is alone without SCR_SIGNALS" 0 4 ""
check "but called" 0 "heard.1:10" grep -H . heard.*
fresh
before '*' 'sleep 0.03'
storm() { # signals to any rank at any moment, while the job lives
  while [ -e "$tmp/began" ]; do
    sleep 0.004
    kill -USR$((RANDOM % 2 + 1)) "$(cat pid.$((RANDOM % 3)))"
  done
}
before 1 "touch '$tmp/began'"
before 39 "rm '$tmp/began'; sleep 0.5" # SCR_Finalize gives the signals back
( until [ -e "$tmp/began" ]; do sleep 0.02; done; storm ) &
storm=$!
check "signals at any moment" 0 "" job 40
kill "$storm" 2>/dev/null
wait "$storm" 2>/dev/null
check "signals at any moment ask for checkpoints" 0 "" test "$(written | wc -w)" -ge 20
fresh
before '*' "sleep 0.02; for i in 1 2 3 4 5; do kill -USR\$((\$1 % 2 + 1)) \$(cat pid.\$(((\$1 + i) % 3))); done"
ends "five signals before each step" 0 20 "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20"
fresh
values=(KILL=checkpoint USR1=fly USR1)
[ "$mode" = check ] || values+=(SEGV=checkpoint =checkpoint USR1= 'USR1=checkpoint+' 99=checkpoint)
for v in "${values[@]}"; do
  SCR_SIGNALS=$v job 1
  says "SCR_SIGNALS=$v" 0 "bad value SCR_SIGNALS=$v.*pairs such as USR1:checkpoint" cat "$tmp/said"
done
unset SCR_SIGNALS

# ---- the end of the allocation
fresh
mkdir -p "$tmp/fake"
# manager NAME ANSWER VARIABLE: a command of a resource manager, which counts its calls
manager() {
  printf '#!/bin/sh\necho x >>"%s/calls"\n%s\n' "$tmp" "$2" >"$tmp/fake/$1"
  chmod +x "$tmp/fake/$1"
  rm -f "$tmp/calls"
  ENVIRONMENT=(env "PATH=$tmp/fake:$PATH" "$3=7" SCR_HALT_SECONDS=3600 SCR_CHECKPOINT_INTERVAL=2)
}
data=$top/tests/data/managers
for m in "squeue;echo 30:00;SLURM_JOB_ID" "qstat;sed s/walltime.*/'walltime = 00:30:00'/ $data/qstat-torque.txt;PBS_JOBID" "bjobs;echo 0:30 L;LSB_JOBID" "flux;echo 1800.0;FLUX_JOB_ID"; do
  IFS=';' read -r name answer variable <<<"$m"
  fresh
  manager "$name" "$answer" "$variable"
  if [ "$name" = squeue ] || [ "$mode" != check ]; then
    check "no run would have time, says $name" 2 "" job 9
    says "no run would have time, says $name, both numbers" 0 "SCR_HALT_SECONDS=3600, set in the environment, is not below the [0-9]* s that job 57 had" cat "$tmp/said"
    rm "$tmp/calls" .scr/halt.scr
  fi
  SCR_END_TIME=$(($(date +%s) + 9000)) check "a first run has time" 0 "" job 1
  ends "little time is left, says $name" 0 9 ""
  says "little time is left, says $name, so the run ends" 0 "the run ends here: TIME_LIMIT" cat "$tmp/said"
  check "$name is asked once, by one rank" 0 x cat "$tmp/calls"
done
fresh
manager squeue "echo 2-00:00:00" SLURM_JOB_ID
ends "time is left" 0 5 "2 4"
check "squeue is asked once" 0 x cat "$tmp/calls"
answers=("echo UNLIMITED" "exit 1" "head -c 100000 /dev/zero")
[ "$mode" = check ] || answers+=("kill -9 \$\$" ":" "echo -1")
for m in "${answers[@]}"; do
  fresh
  manager squeue "$m" SLURM_JOB_ID
  ends "squeue: $m" 0 3 2
  check "squeue: $m, which is said once" 0 1 grep -c "SCR_HALT_SECONDS=3600 has no effect" "$tmp/said"
done
fresh
manager qstat "cat $data/qstat-torque.txt; printf %020000d 1" PBS_JOBID
SCR_END_TIME=$(($(date +%s) + 9000)) check "a first run has time, before a long answer" 0 "" job 1
ends "little time is left, in a long answer" 0 9 ""
fresh
manager squeue "exec sleep 100" SLURM_JOB_ID
began=$SECONDS
ends "squeue hangs" 0 3 2
check "squeue hangs, it is not waited for longer than 10 s" 0 "" test $((SECONDS - began)) -lt 25
finish
