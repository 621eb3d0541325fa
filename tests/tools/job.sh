#!/bin/sh
# Drive the commands of a job script: over recorded answers of resource managers, a remote shell that stands in for other
# nodes, and a cache that a run over virtual nodes makes.  BIN is the directory of the commands.
# Last line: N passed, N failed, N skipped.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
BIN=$(cd "${BIN:-$top/tools}" && pwd)
data=$top/tests/data
for v in $(env | sed -n 's/^\(\(SCR\|SLURM\|PBS\|LSB\|FLUX\)_[A-Z_]*\)=.*/\1/p'); do unset "$v"; done
. "$top/tests/tools/check.sh"
scr=$BIN/scr
mkdir "$tmp/fake" "$tmp/run" "$tmp/run/.scr"
cd "$tmp/run" || exit 1

# fake NAME [FILE [EXIT]]: a program NAME that prints FILE of the recorded answers, and notes how it was called
fake() {
  printf '#!/bin/sh\necho "%s $*" >>"%s/asked"\n[ -z "%s" ] || cat "%s/managers/%s"\nexit %s\n' \
    "$1" "$tmp" "${2:-}" "$data" "${2:-}" "${3:-0}" >"$tmp/fake/$1"
  chmod +x "$tmp/fake/$1"
}
forget() { rm -f "$tmp"/fake/* "$tmp/asked"; } # all fakes
asked() { cat "$tmp/asked"; }
slurm="env SLURM_JOB_ID=57 SLURM_JOB_NODELIST=n[1-4] PATH=$tmp/fake:$PATH"
pbs="env PBS_JOBID=812.pbs1 PBS_NODEFILE=$tmp/nodefile PATH=$tmp/fake:$PATH"
lsf="env LSB_JOBID=99 LSB_DJOB_HOSTFILE=$tmp/nodefile PATH=$tmp/fake:$PATH"
flux="env FLUX_JOB_ID=f1zzz PATH=$tmp/fake:$PATH"
printf 'n1\nn1\nn2\nn2\nn3\nn4\n' >"$tmp/nodefile"
host=$(hostname)

# ---- scr_prefix, scr_list_dir
check "prefix, the working directory" 0 "$(pwd -P)" "$scr" prefix
check "prefix, SCR_PREFIX" 0 /p/run env SCR_PREFIX=/p/run "$BIN/scr_prefix"
check "prefix, json" 0 '"/p/r\"n"' env 'SCR_PREFIX=/p/r"n' "$scr" prefix --json
says "prefix, an argument" 1 "Usage" "$scr" prefix /p
list="env SCR_USER_NAME=me SCR_JOB_ID=7 $BIN/scr_list_dir"
check "control directory" 0 /tmp/me/scr.7 $list control
check "cache directory" 0 /tmp/me/scr.7 $list cache
check "base" 0 /tmp $list --base cache
check "another user and job" 0 /tmp/you/scr.8 $list -u you -j 8 control
check "by the environment" 0 /a/me/scr.7 env SCR_CACHE_BASE=/a SCR_CNTL_BASE=/b $list cache
printf 'STORE=/ssd COUNT=2\nSTORE=/off ENABLED=0\nSCR_CACHE_BASE=/ram\nSCR_CNTL_BASE=/c\n' >.scrconf
check "cache directories of the user file" 0 "/ssd/me/scr.7 /ram/me/scr.7" $list cache
check "cache directories, json" 0 '["/ssd", "/ram"]' $list --base --json cache
check "cache directories of a prefix elsewhere" 0 "/ssd /ram" sh -c 'cd / && "$@"' sh $list -b -p "$tmp/run" cache
printf 'SCR_CACHE_BASE=/ram # and\nSTORE\n' >.scrconf
check "a damaged user file" 1 INVALID $list cache
says "a damaged user file, where" 1 ".scrconf.* line 2" $list cache
rm .scrconf
says "list_dir, neither" 1 "control or cache" $list
says "list_dir, something else" 1 "control or cache" $list nothing
says "list_dir, both" 1 "control or cache" $list control cache

# ---- scr_env
env=$BIN/scr_env
check "env, user" 0 me env SCR_USER_NAME=me "$env" --user
check "env, job of SLURM" 0 57 $slurm "$env" --jobid
check "env, job of PBS" 0 812.pbs1 $pbs "$env" -j
check "env, no job" 0 defjobid "$env" -j
check "env, nodes of SLURM" 0 'n[1-4]' $slurm "$env" --nodes
check "env, nodes of PBS" 0 'n[1-4]' $pbs "$env" --nodes
check "env, nodes of LSF" 0 'n[1-4]' $lsf "$env" --nodes
check "env, nodes of LSF without a file" 0 'batch1,n[1-2]' env LSB_JOBID=99 'LSB_MCPU_HOSTS=batch1 1 n1 44 n2 44 ' "$env" -n
fake flux flux-hostlist.txt
check "env, nodes of Flux" 0 'n[1-4]' $flux "$env" --nodes
check "env, nodes of Flux, how" 0 "flux getattr hostlist" asked
check "env, nodes without a manager" 0 "$host" "$env" --nodes
check "env, nodes by the user" 0 'a[1-2]' $slurm env 'SCR_NODELIST=a2,a1' "$env" --nodes
says "env, nodes by nobody" 1 "SLURM does not tell the nodes.*SCR_NODELIST" env SLURM_JOB_ID=57 "$env" --nodes
says "env, no node file" 1 "$tmp/none" env PBS_JOBID=1 "PBS_NODEFILE=$tmp/none" "$env" -n
says "env, a wrong node list" 1 "n\[1-" env 'SCR_NODELIST=n[1-' "$env" -n
forget
fake sinfo sinfo.txt && fake pbsnodes pbsnodes.txt && fake bhosts bhosts.txt && fake flux flux-down.txt
for manager in slurm pbs lsf; do
  eval "set -- \$$manager"
  check "env, down in $manager" 0 'n[2,4]' "$@" "$env" --down
done
check "env, down in Flux" 0 'n[2,4]' $flux env 'SCR_NODELIST=n[1-4]' "$env" --down
check "env, down, of those asked for" 0 n4 $slurm env SCR_NODELIST=n1,n4 "$env" -d
says "env, down, how in SLURM" 0 "^sinfo .*-n n\[1-4\]" asked
fake sinfo "" 3
says "env, down, no answer" 1 "sinfo .* failed with exit code 3" $slurm "$env" --down
check "env, down without a manager" 0 "" "$env" --down
now=$(date +%s)
# left SECONDS COMMAND...: the allocation has about so many
left() {
  seconds=$1 && shift
  got=$("$@") || got=-1
  check "$* is about $seconds, not $got" 0 "" test $((got - seconds)) -le 0 -a $((got - seconds)) -ge -30
}
forget
fake squeue squeue-left.txt && fake qstat qstat.txt && fake bjobs bjobs.txt && fake flux flux-left.txt
left 93784 $slurm "$env" --runtime
left 4170 $pbs "$env" --runtime
left 43500 $lsf "$env" -t
left 5400 $flux "$env" --runtime
left 3000 env "SCR_END_TIME=$((now + 3000))" $slurm "$env" -t
left 2000 env "SLURM_JOB_END_TIME=$((now + 2000))" $slurm "$env" -t
fake qstat qstat-torque.txt
left 3000 $pbs "$env" -t
check "env, the end" 0 77 env SCR_END_TIME=77 "$env" --endtime
check "env, no time left" 0 0 env SCR_END_TIME=77 "$env" --runtime
says "env, the end is not known" 1 "set SCR_END_TIME" "$env" --endtime
printf 'UNLIMITED\n' >"$tmp/unlimited" && printf '#!/bin/sh\ncat "%s"\n' "$tmp/unlimited" >"$tmp/fake/squeue"
says "env, no end" 1 "set SCR_END_TIME" $slurm "$env" -e
cp "$data/scr-1.2.2/nodes.scr" .scr
check "env, nodes of the last run" 0 4 "$env" --runnodes
says "env, no last run" 1 "there is no nodes file" "$env" -r -p "$tmp"
says "env, no question" 1 "the question is missing" "$env"
says "env, two questions" 1 "one question" "$env" -u -j
says "env, json" 0 '"manager": "none", "user": "me", "jobid": "7", "nodes": "'"$host"'", "down": "", "end": 77, "seconds": 0, "runnodes": 4, "prefix": "/.*/run"' \
  env SCR_USER_NAME=me SCR_JOB_ID=7 SCR_END_TIME=77 "$env" --json
says "env, json of what is not known" 0 '"end": null, "seconds": null' "$env" --json
rm .scr/nodes.scr

# ---- scr_test_runtime
forget
for c in srun sinfo squeue; do fake $c; done
for c in sh env; do ln -s "$(command -v $c)" "$tmp/fake/$c"; done
only="env PATH=$tmp/fake"
says "runtime, one is missing" 1 "scancel is not found in PATH: it ends job steps" $only SLURM_JOB_ID=57 "$BIN/scr_test_runtime"
fake scancel
check "runtime, all are here" 0 "" $only SLURM_JOB_ID=57 "$BIN/scr_test_runtime"
says "runtime, all, told" 0 "squeue is here" $only SLURM_JOB_ID=57 "$BIN/scr_test_runtime" -v
says "runtime, no remote shell" 1 "ssh is not found" $only "$BIN/scr_test_runtime"
says "runtime, no remote shell of the user" 1 "rsh9 is not found" env "SCR_REMOTE_SHELL=rsh9 -q" "$BIN/scr_test_runtime"
says "runtime, of Flux" 1 "flux is not found" $only FLUX_JOB_ID=1 "$BIN/scr_test_runtime"
forget

# ---- scr_check_node
node="env SCR_CNTL_BASE=$tmp/fake SCR_CACHE_BASE=$tmp/run $BIN/scr_check_node"
check "node" 0 PASS $node
check "node, nothing is left there" 0 "" ls -A "$tmp/fake"
check "node, enough space" 0 PASS $node --cntl "$tmp:1MB" --cache "$tmp:10,$tmp/run"
check "node, enough space that is free" 0 PASS $node --free -C "$tmp:1KB"
says "node, too little space" 1 "^FAIL: $tmp has [0-9]* bytes, less than" $node --cache "$tmp/run,$tmp:9000PB"
says "node, too little space that is free" 1 "^FAIL: .* bytes free, less than" $node --free --cache "$tmp:9000PB"
says "node, no directory" 1 "^FAIL: cannot read the directory $tmp/none: No such file or directory$" $node -c "$tmp/none"
says "node, a file" 1 "^FAIL: .*Not a directory" $node -c "$data/hostlists.txt"
says "node, no size" 1 "^FAIL: $tmp:9x is not a directory and a size" $node -c "$tmp:9x"
printf 'CNTLDIR=%s BYTES=1KB\nCACHEDIR=%s BYTES=9000PB\n' "$tmp/fake" "$tmp/run" >.scrconf
says "node, the lines of the user file" 1 "^FAIL: $tmp/run has" $node
check "node, another directory than that of the line" 0 PASS $node --cache "$tmp"
printf 'CNTLDIR=%s BYTES=many\n' "$tmp/fake" >.scrconf
says "node, a wrong line" 1 "^FAIL: BYTES=many of $tmp/fake is not a size" $node
rm .scrconf
check "node, the user's test" 0 PASS $node --test "test -d $tmp/run"
says "node, the user's test fails" 1 "^FAIL: the test echo no; exit 3 failed with exit code 3: no" $node --test "echo no; exit 3"
if mkdir "$tmp/ro" && [ "$(id -u)" -eq 0 ]; then
  says "node, mounted read-only" 1 "^FAIL: .* mounted read-only" \
    unshare -m sh -c "mount -t tmpfs -o ro none '$tmp/ro' && exec '$BIN/scr_check_node' -c '$tmp/ro'"
fi

if unshare -m true 2>"$tmp/stderr"; then # what an earlier run of the job has left there is used, or replaced
  full() { # JOB
    unshare -m sh -c 'mount -t tmpfs -o size=2m none "$1" && mkdir -p "$1/me/scr.7" && head -c 1500k /dev/zero >"$1/me/scr.7/of a run" || exit
      SCR_USER_NAME=me SCR_JOB_ID=$2 exec "$3" --free -c "$1:1800K" -C "$1:1800K"' sh "$tmp/ro" "$1" "$BIN/scr_check_node"
  }
  check "a node with free space, of the job" 0 "PASS" full 7
  says "a node without free space, of another job" 1 "bytes free, less than the 1843200 that are expected" full 8
fi

# ---- scr_list_down_nodes: a remote shell that knows dead and slow nodes
cat >"$tmp/remote" <<'END'
#!/bin/sh
case $2 in
dead*) echo "no route to $2" >&2; exit 255 ;;
slow*) sleep 60 ;;
disk*) exec env SCR_CNTL_BASE=/none sh -c "$(echo "$3" | sed "s/--cntl '[^']*'//")" ;;
*) exec sh -c "$3" ;;
esac
END
chmod +x "$tmp/remote"
down="env SCR_CNTL_BASE=$tmp/fake SCR_CACHE_BASE=$tmp/run $BIN/scr_list_down_nodes"
export "SCR_REMOTE_SHELL=$tmp/remote -q"
check "down, none" 0 "" $down --no-ping "n[1-9],$host"
check "down, the default is the allocation" 0 "" $down --no-ping
check "down, all kinds" 1 "dead1,disk2,n[3,7-8],slow1" env SCR_EXCLUDE_NODES=n7,other $down --no-ping --timeout 2 -d n8,n3 "n[1-9],dead1,slow1,disk2"
check "down, the reasons" 1 "n9: excluded by SCR_EXCLUDE_NODES
n8: named as down
dead1: scr_check_node could not run there, exit code 255: no route to dead1
slow1: the test of the node has not ended within 2 s" \
  env SCR_EXCLUDE_NODES=n9 $down --reason --no-ping --timeout 2 -d n8 "n[9,8,1],dead1,slow1"
says "down, what the node says" 1 "^disk2: cannot read the directory /none" $down -r --no-ping disk2
check "down, json" 1 '[
  {"host": "n2", "reason": "named as down"}
]' $down --json --no-ping -d n2 "n[1-2]"
check "down, json of none" 0 '[]' $down -j --no-ping "n[1-2]"
check "down, the launcher of release 3" 1 "n2" $down -j srun --no-ping -d n2 "n[1-2]"
check "down, the launcher of release 3 by its long name" 1 "n2" $down --joblauncher srun --no-ping -d n2 "n[1-2]"
check "down, two lists" 1 "n2" $down -j srun --no-ping -d n2 n1 n2
check "down, the launcher of release 3, and reasons" 1 "n2: named as down" $down -r -j jsrun --no-ping -d n2 "n[1-2]"
says "down, the user's test" 1 "the test exit 4 failed with exit code 4" $down -r --no-ping --test "exit 4" n1
printf 'CACHEDIR=%s BYTES=9000PB\nSCR_EXCLUDE_NODES=n5\n' "$tmp/run" >.scrconf
says "down, the sizes of the user file" 1 "^n1: $tmp/run has" $down -r --no-ping "n[1,5]"
says "down, what the user file excludes" 1 "^n5: excluded" $down -r --no-ping "n[1,5]"
rm .scrconf
fake sinfo sinfo.txt
says "down, what the manager knows" 1 "^n4: reported down by the resource manager" $slurm $down -r --no-ping
fake sinfo "" 1
says "down, a manager that does not answer" 0 "nodes are tested all the same" $slurm $down --no-ping
printf '#!/bin/sh\nfor h in "$@"; do :; done\ncase $h in dead1) exit 1 ;; dead2) exit 2 ;; *) echo "$h" >>"%s/pinged" ;; esac\n' "$tmp" >"$tmp/fake/ping" && chmod +x "$tmp/fake/ping"
check "down, ping is asked where the remote shell has no answer" 1 "dead1: no answer to ping; scr_check_node could not run there, exit code 255: no route to dead1
dead2: scr_check_node could not run there, exit code 255: no route to dead2" env "PATH=$tmp/fake:$PATH" $down -r "n[1-3],dead[1-2]"
check "down, ping is not asked where it has one" 1 "" test -e "$tmp/pinged"
says "down, SCR_PING=0" 1 "^dead1: scr_check_node" env SCR_PING=0 "PATH=$tmp/fake:$PATH" $down -r dead1
check "down, 200 nodes at once" 1 "dead[1-2],slow3" $down --no-ping --timeout 10 "n[1-200],dead[1-2],slow3"
check "down, logged" 1 - env SCR_LOG_ENABLE=1 SCR_LOG_SYSLOG_ENABLE=0 SCR_JOB_ID=57 $down --log --secs 90 --no-ping -d n2 "n[1-2]"
says "down, the log" 0 'jobid=57, event=NODE_FAIL, note="n2: named as down", secs=90' cat .scr/log
rm .scr/log
says "down, no list" 2 "n\[1" $down "n[1"
says "down, no number" 2 "whole number" $down --timeout x n1
unset SCR_REMOTE_SHELL
fake srun
printf '#!/bin/sh\necho "ssh: no route to $1" >&2\nexit 255\n' >"$tmp/fake/ssh" && chmod +x "$tmp/fake/ssh"
says "down, by srun" 1 "^n1: scr_check_node could not run there, exit code 255: ssh" $slurm SCR_PING=0 $down -r n1
says "down, how by srun" 0 "^srun --overlap --no-kill .*--job-name scr_remote --nodes=1 --ntasks=1 --nodelist n1 .*scr_remote --part - .*scr_check_node" asked
# srun as the real one is: a process for each node of the list, but for dead ones
cat >"$tmp/fake/srun" <<END
#!/bin/sh
echo step >>"$tmp/asked"
while [ "\$1" != --nodelist ]; do shift; done
list=\$2 && shift 2
for n in \$("$BIN/scr_hostlist" --expand "\$list" | tr ',' ' '); do
  case \$n in
  dead*) echo "srun: error: Task launch for StepId=1.1 failed on node \$n: Communication connection failure" >&2 ;;
  *) (sleep 1; SLURMD_NODENAME=\$n exec "\$@") & ;;
  esac
done
wait
END
rm -f "$tmp/asked"
check "64 nodes of SLURM, two of them dead" 1 "dead1: scr_check_node could not run there, exit code 255: srun: error: Task launch for StepId=1.1 failed on node dead1: Communication connection failure
dead2: scr_check_node could not run there, exit code 255: srun: error: Task launch for StepId=1.1 failed on node dead2: Communication connection failure" $slurm SCR_PING=0 $down -r "n[1-62],dead[1-2]"
steps=$(grep -c step "$tmp/asked")
echo "job steps for a test of 64 nodes: $steps"
check "64 nodes of SLURM, one job step" 0 "" test "$steps" = 1
fake ssh
cat >"$tmp/fake/ssh" <<END
#!/bin/sh
while [ "\${1#-}" != "\$1" ]; do shift; done
echo "ssh \$1" >>"$tmp/asked"
exec sh -c "\$2"
END
says "a node that srun does not reach answers by ssh" 0 "^dead1: there$" $slurm "$BIN/scr_remote" --nodes n1,dead1 "echo there"
printf '#!/bin/sh\necho step >>"%s/asked"\necho "srun: error: Slurm job 57 has expired" >&2\nexit 1\n' "$tmp" >"$tmp/fake/srun"
rm -f "$tmp/asked"
check "a job that is ending: srun refuses, and ssh is asked" 0 "" $slurm SCR_PING=0 $down "n[1-3]"
check "a job that is ending: how" 0 "ssh n1 ssh n2 ssh n3 step " sh -c 'grep -v sinfo "$1" | sort | tr "\n" " "' sh "$tmp/asked"
printf '#!/bin/sh\necho "connection refused" >&2\nexit 255\n' >"$tmp/fake/ssh"
says "a job that is ending: both reasons" 1 "^n1: .*srun: error: Slurm job 57 has expired; connection refused" $slurm SCR_PING=0 $down -r n1
rm "$tmp/fake/srun" && forget
# a tree of remote shells, each of which takes its time
printf '#!/bin/sh\necho "$1" >>"%s/asked"\nsleep 1\nexec sh -c "$2"\n' "$tmp" >"$tmp/slow" && chmod +x "$tmp/slow"
began=$(date +%s)
check "64 nodes by a remote shell" 0 64 sh -c 'SCR_REMOTE_SHELL="$1" "$2" --nodes "n[1-64]" "echo here" | grep -c ": here$"' sh "$tmp/slow" "$BIN/scr_remote"
echo "64 nodes by a remote shell that takes a second: $(($(date +%s) - began)) s, $(wc -l <"$tmp/asked") calls"
check "64 nodes by a remote shell, each asked once" 0 64 sh -c 'sort -u "$1" | wc -l' sh "$tmp/asked"
check "64 nodes by a remote shell, 64 calls" 0 64 sh -c 'wc -l <"$1"' sh "$tmp/asked"
check "remote, the name of the node in the line" 0 "n1: on n1
n2: on n2" sh -c '"$@" | sort' sh env SCR_REMOTE_SHELL="$tmp/slow" "$BIN/scr_remote" -n "n[1-2]" "echo on {node}"
says "remote, exit codes" 1 "^n2: exit code 4$" env SCR_REMOTE_SHELL="$tmp/slow" "$BIN/scr_remote" -n n2 "exit 4"
for a in "" "a b" "--timeout x a" "--nothing"; do says "remote, wrong: $a" 2 "Usage" "$BIN/scr_remote" $a; done
fake ssh
says "down, by ssh" 1 "could not run there" env "PATH=$tmp/fake:$PATH" $down -r --no-ping n1
says "down, how by ssh" 0 "^ssh -oBatchMode=yes .* n1 .*scr_check_node" asked
forget

# ---- scr_log_event, scr_log_transfer
event=$BIN/scr_log_event
transfer=$BIN/scr_log_transfer
export SCR_LOG_SYSLOG_ENABLE=0 SCR_JOB_ID=57 TZ=UTC
says "event, the log is off" 0 "SCR_LOG_ENABLE=1 turns it on" "$event" --type RUN_START
check "event, nothing is written" 1 "" test -e .scr/log
export SCR_LOG_ENABLE=1
check "event" 0 "" "$event" -T RUN_START -N 'run="1"' -S 1000000000
check "event, with all" 0 "" "$event" --type SCAVENGE_END --dset 7 --name step7 --secs 2.5 --start 1000000001 --user me --jobid 9 -j heat -s 5 --prefix "$tmp/run"
check "transfer" 0 "" "$transfer" -T SCAVENGE -X /ssd -Y /p -D 7 -n step7 -S 1000000002 -L 2 -B 4000000000000 -F 3
check "event, the lines" 0 "2001-09-09T01:46:40: host=$host, jobid=57, event=RUN_START, note=\"run='1'\"
2001-09-09T01:46:41: host=$host, jobid=9, event=SCAVENGE_END, dset=7, name=\"step7\", secs=2.500000
2001-09-09T01:46:42: host=$host, jobid=57, xfer=SCAVENGE, from=/ssd, to=/p, dset=7, name=\"step7\", secs=2.000000, bytes=4000000000000, files=3" cat .scr/log
says "event, no type" 1 "the type of the event is missing" "$event" -N note
for a in "-D x" "-D -1" "-L x" "-L -1" "-S 1.5" "-L 1e99" "-T ''"; do says "event, $a" 1 "is not a value" sh -c "'$event' -T X $a"; done
says "event, no prefix" 1 "$tmp/none" "$event" -T X -p "$tmp/none"
says "transfer, not all" 1 "is missing" "$transfer" -T X --from a --to b --secs 1
says "transfer, wrong bytes" 1 "is not a value" "$transfer" --bytes many
unset SCR_LOG_ENABLE SCR_LOG_SYSLOG_ENABLE SCR_JOB_ID

# ---- scr_ckpt_interval: 5 runs, 6000 s, of which two failed; checkpoints take 5 s in /ssd, 2 s in /ram, 4 s on average
interval=$BIN/scr_ckpt_interval
log=$data/managers/log.txt
check "interval, Young" 0 154.919 "$interval" --model young --logfile "$log"
check "interval, Daly" 0 152.264 "$interval" -f "$log"
check "interval, percent" 0 2.517 "$interval" -m young --percent -f "$log"
check "interval, another time between failures" 0 282.843 "$interval" -m young --mtbf 10000 -f "$log"
check "interval, the figures" 0 "5 runs, 6000 s; 2 failures; 1 fetches from the prefix; a restart takes 20.000 s
 count       cost s         MB/s       MTBF s   interval s efficiency %  place
     2        5.000        800.0       3000.0        173.2         93.6  /ssd
     1        2.000          0.0       3000.0        109.5         95.7  /ram
     1      100.000         80.0       6000.0       1095.4         81.3  prefix" "$interval" -s -m young -f "$log"
says "interval, runs of scr_run: the wait between them is no time of a run, and the last one has failed too" 0 "^2 runs, 400 s; 2 failures" "$interval" -s -f "$data/managers/log-runs.txt"
mkdir -p "$tmp/run/.scr" && cp "$log" .scr/log
check "interval, the log of the prefix" 0 "$("$interval" -f "$log")" "$interval" -p "$tmp/run"
if command -v python3 >/dev/null; then
  "$interval" -j -f "$log" >"$tmp/json"
  check "interval, json" 0 "2 [3000.0, 3000.0, 6000.0]" python3 -c 'import json, sys
d = json.load(open(sys.argv[1])); print(d["failures"], [l["mtbf"] for l in d["levels"]])' "$tmp/json"
fi
says "interval, no failure" 1 "give --mtbf" sh -c 'head -n 11 "$1" >"$2" && "$3" -f "$2"' sh "$log" "$tmp/log" "$interval"
says "interval, no checkpoint" 1 "has no complete checkpoint" sh -c 'head -n 3 "$1" >"$2" && "$3" -f "$2"' sh "$log" "$tmp/log" "$interval"
says "interval, no log" 1 "SCR_LOG_ENABLE=1 writes it" "$interval" -p "$tmp"
says "interval, no log at all" 1 "is not a log" "$interval" -f "$data/hostlists.txt"
says "interval, a directory" 1 "is not a plain file" "$interval" -f "$tmp"
says "interval, another model" 1 "young and daly" "$interval" --model x
for m in 0 -1 x 1x nan; do says "interval, mtbf $m" 1 "above 0" "$interval" --mtbf "$m"; done
unset TZ

# ---- scr_should_exit
exits=$BIN/scr_should_exit
rm -f .scr/*
check "exit, run again" 1 "" "$exits"
says "exit, why not" 1 "RUN AGAIN: there is no halt file" "$exits" -v
says "exit, no runs" 0 "EXIT: no runs are left" "$exits" -v --runs 0
check "exit, runs" 1 "" "$exits" --runs -1
says "exit, enough nodes" 1 "4 nodes work" env 'SCR_NODELIST=n[1-4]' "$exits" -v --min-nodes 4
says "exit, too few nodes" 0 "3 nodes work, and a run needs 4" env 'SCR_NODELIST=n[1-4]' SCR_MIN_NODES=4 "$exits" -v --down n2
says "exit, excluded nodes" 0 "2 nodes work" env 'SCR_NODELIST=n[1-4]' SCR_EXCLUDE_NODES=n1 "$exits" -v --down n2 --min-nodes 3
cp "$data/scr-1.2.2/nodes.scr" .scr
says "exit, the nodes of the last run" 0 "3 nodes work, and a run needs 4" env 'SCR_NODELIST=n[1-3]' "$exits" -v
fake sinfo sinfo.txt
says "exit, what the manager knows" 0 "2 nodes work" $slurm "$exits" -v
forget
"$BIN/scr_halt" . >/dev/null
says "exit, halted" 0 "EXIT: .*JOB_HALTED" "$exits" -v
for a in "--runs x" "--min-nodes -1" "--nothing" "arg"; do says "exit, $a" 0 "Usage" "$exits" $a; done
says "exit, no prefix" 0 "$tmp/none" "$exits" -p "$tmp/none"
says "exit, wrong SCR_MIN_NODES" 0 "SCR_MIN_NODES=x" env SCR_MIN_NODES=x "$exits" -v -p "$tmp/fake"
printf 'no hash file' >.scr/nodes.scr
rm .scr/halt.scr
says "exit, a damaged nodes file" 1 "nodes.scr.*; set SCR_MIN_NODES" "$exits"
rm -f .scr/*

# ---- scr_have_restart
have=$BIN/scr_have_restart
check "restart, none" 0 "" "$have"
check "restart, none in json" 0 null "$have" --json
for r in scr-1.2.2 scr-3.1; do
  cp "$data/$r/index.scr" .scr
  check "restart, of $r" 0 ckpt.3 "$have"
  check "restart, an older one is chosen" 0 "" "$BIN/scr_index" --current ckpt.1 -p .
  check "restart, the choice" 0 '{"name": "ckpt.1", "id": 1, "where": "prefix", "chosen": true}' "$have" --json --prefix .
  rm .scr/index.scr*
  cp "$data/$r/flush.scr" .scr
  check "restart, in the cache of $r" 0 '{"name": "ckpt.3", "id": 3, "where": "cache", "chosen": false}' "$have" -j
  rm .scr/*
done
printf 'no hash file' >.scr/index.scr
says "restart, a damaged index" 1 "index.scr.*; scr_index --build makes a new index" "$have"
rm .scr/index.scr
says "restart, no prefix" 1 "$tmp/none" "$have" -p "$tmp/none"

# ---- scr_get_jobstep_id, scr_kill_jobstep, scr_watchdog
step=$BIN/scr_get_jobstep_id
sleep 60 &
pid=$!
check "step, the process itself" 0 "$pid" "$step" "$pid"
fake squeue squeue-steps.txt && fake flux flux-jobs.txt
check "step, of SLURM, which is not that of a command on a node" 0 57.10 $slurm "$step" "$pid"
check "step, of Flux" 0 f2abcDEF $flux "$step" "$pid"
check "end a process" 0 "" "$BIN/scr_kill_jobstep" -j "$pid"
check "the process has ended" 1 "" kill -0 "$pid"
wait "$pid"
check "step, no process" 1 -1 "$step" "$pid"
fake squeue
check "step, no step yet" 1 -1 $slurm "$step" $$
says "step, no argument" 1 "one process" "$step"
says "step, no number" 1 "one process" "$step" x
says "end no process" 1 "cannot end the process $pid" "$BIN/scr_kill_jobstep" -j "$pid"
fake scancel && fake jskill
check "end a step of SLURM" 0 "" $slurm "$BIN/scr_kill_jobstep" --jobStepId 57.10
says "end a step of SLURM, how" 0 "^scancel 57.10$" asked
check "end a step of jsrun" 0 "" $lsf "$BIN/scr_kill_jobstep" -l jsrun -j 3
says "end a step of jsrun, how" 0 "^jskill 3$" asked
check "end a job of Flux" 0 "" $flux "$BIN/scr_kill_jobstep" -j f2abcDEF
says "end a job of Flux, how" 0 "^flux cancel f2abcDEF$" asked
fake scancel "" 1
says "end a step, no answer" 1 "scancel .* failed with exit code 1" $slurm "$BIN/scr_kill_jobstep" -j 57.10
says "end a step, no id" 1 "one job step is needed" "$BIN/scr_kill_jobstep"
says "end a step, no number" 1 "no number of one" "$BIN/scr_kill_jobstep" -j x
says "end a step, a trap" 1 "is not the id of a job step" $slurm "$BIN/scr_kill_jobstep" -j "1'; touch x; '"
watch=$BIN/scr_watchdog
cp "$data/scr-1.2.2/flush.scr" .scr
sleep 60 &
pid=$!
says "watchdog, no progress" 0 "no progress since dataset 3: ending the job step $pid" "$watch" --dir . --jobStepId "$pid" -t 1 -T 1
check "watchdog, the process has ended" 1 "" kill -0 "$pid"
wait "$pid"
sh -c 'sleep 2' &
check "watchdog, the process ends by itself" 0 "" env SCR_WATCHDOG_TIMEOUT=30 "$watch" -d . -j $!
wait
rm .scr/flush.scr
sleep 60 &
pid=$!
says "watchdog, not one dataset" 0 "there is no dataset yet: ending the job step $pid" "$watch" --dir . -j "$pid" -t 1 -l mpiexec
wait "$pid"
cp "$data/scr-1.2.2/flush.scr" .scr
fake scancel
says "watchdog, of SLURM" 0 "ending the job step 57.10" $slurm env SCR_WATCHDOG_TIMEOUT=1 SCR_WATCHDOG_TIMEOUT_PFS=1 "$watch" -d . -j 57.10
says "watchdog, no prefix" 1 "$tmp/none" "$watch" -d "$tmp/none" -j 1
says "watchdog, no step" 1 "is missing" "$watch" -d .
says "watchdog, no time" 1 "whole number" "$watch" -d . -j 5 -t 0
says "watchdog, a wrong parameter" 1 "SCR_WATCHDOG_TIMEOUT=x is not a whole number" env SCR_WATCHDOG_TIMEOUT=x "$watch" -d . -j 5
forget

# ---- scr_inspect, scr_inspect_cache: what caches have, in lines as scr_inspect_cache prints them
inspect=$BIN/scr_inspect
# part ID RANK TYPE SETS FIRST SIZE MEMBER LOST RANKS [FILES [NONCE]]
part() {
  echo "DSET=$1 RANK=$2 TYPE=$3 GROUPS=$4 GROUP_ID=$5 GROUP_SIZE=$6 GROUP_RANK=$7 FAILURES=$8 RANKS=$9 CREATED=5 NONCE=${11:-a} FILES=${10:-1}"
}
printf '#!/bin/sh\ncat "%s/caches/$1"\n' "$tmp" >"$tmp/remote"
export "SCR_REMOTE_SHELL=$tmp/remote"
mkdir "$tmp/caches"
# cache RANK...: nodes n<rank>, each with its part of one set of 4 ranks
cache() {
  rm -f "$tmp"/caches/*
  for r in 0 1 2 3; do : >"$tmp/caches/n$r"; done
  type=$1 lost=$2 && shift 2
  for r in "$@"; do part 7 "$r" "$type" 1 0 4 "$r" "$lost" 4 >"$tmp/caches/n$r"; done
}
# whether the ids WANTED are told of what `cache ARGUMENT...` makes
inspects() {
  wanted=$1 && shift
  cache "$@"
  check "inspect, $*" $((${#wanted} == 0)) "$wanted" "$inspect" --up "n[0-3]" --from /c/me/scr.7
}
inspects 7 XOR 1 0 1 2 3
inspects 7 XOR 1 0 1 3
inspects "" XOR 1 0 3
inspects 7 RS 2 1 2
inspects "" RS 2 1
inspects 7 SINGLE 0 0 1 2 3
inspects "" SINGLE 0 0 1 2
inspects 7 PARTNER 1 0 2
inspects 7 PARTNER 1 1 3
inspects 7 PARTNER 1 0 1 2
inspects "" PARTNER 1 1 2
inspects "" PARTNER 1 0 3
inspects "" PARTNER 1 2
inspects "" XOR 1
cache XOR 1 0 1 2 3
part 7 2 XOR 1 0 4 2 1 4 0 >"$tmp/caches/n2"
check "inspect, a part without its files" 0 7 "$inspect" -u "n[0-3]" -f /c/me/scr.7
check "inspect, and a node less" 1 "" "$inspect" -u "n[0-3]" --down n1 -f /c/me/scr.7
part 9 0 XOR 1 0 4 0 1 4 1 b >>"$tmp/caches/n0"
part 8 0 SINGLE 1 0 1 0 0 1 >>"$tmp/caches/n0"
check "inspect, several datasets" 0 "8 7" "$inspect" -u "n[0-3]" -f /c/me/scr.7
check "inspect, json" 0 '[
  {"id": 9, "type": "XOR", "ranks": 4, "whole": 1, "recoverable": false},
  {"id": 8, "type": "SINGLE", "ranks": 1, "whole": 1, "recoverable": true},
  {"id": 7, "type": "XOR", "ranks": 4, "whole": 3, "recoverable": true}
]' "$inspect" --json -u "n[0-3]" -f /c/me/scr.7
cache XOR 1 0 1
for r in 2 3; do part 7 $r XOR 1 0 4 $r 1 4 1 b >"$tmp/caches/n$r"; done
check "inspect, parts of two datasets with one id" 1 "" "$inspect" -u "n[0-3]" -f /c/me/scr.7
rm "$tmp/caches/n3"
says "inspect, a node that does not answer" 1 "n3: exit code 1" "$inspect" -u "n[0-3]" -f /c/me/scr.7
says "inspect, an argument" 1 "Usage" "$inspect" n1
says "inspect, no time" 1 "whole number" "$inspect" --timeout 0
unset SCR_REMOTE_SHELL
says "inspect, no cache" 1 "cannot open the control directory $tmp/fake/" env "SCR_CNTL_BASE=$tmp/fake" "$inspect"
cached=$BIN/scr_inspect_cache
says "inspect_cache, nothing" 1 "one control directory is needed" "$cached"
says "inspect_cache, another directory" 1 "is not a control directory" "$cached" "$tmp/run"
says "inspect_cache, another file" 1 "Not a directory" "$cached" "$data/hostlists.txt"
c=$tmp/c/me/scr.7
mkdir -p "$c"
says "inspect_cache, no file" 1 "$c/filemap.scrinfo" "$cached" "$c"
printf 'no hash file' >"$c/filemap.scrinfo"
says "inspect_cache, a damaged file" 1 "$c/filemap.scrinfo" "$cached" "$c/filemap.scrinfo"

# a run over virtual nodes makes a cache, and loses nodes of it
. "$top/tests/find_mpi.sh"
minimal=$top/examples/minimal
if [ -x "$minimal" ]; then
  mkdir "$tmp/prefix" && cd "$tmp/prefix" || exit 1
  export "SCR_CNTL_BASE=$tmp/base" "SCR_CACHE_BASE=$tmp/base" SCR_USER_NAME=me SCR_JOB_ID=7
  SCR_VIRTUAL_NODES=4 timeout 60 "$MPIEXEC" -n 4 "$minimal" 45 >"$tmp/log" 2>&1
  check "a run has made a cache" 0 "done at step 45" cat "$tmp/log"
  d=$tmp/base/me/scr.7
  where=$BIN/scr_where
  check "where, a command for each node" 0 4 sh -c '"$1" | grep -c "lose     rm -rf .*/node[.][^ ]*$"' sh "$where"
  mkdir "$tmp/other" && cd "$tmp/other" || exit 1
  timeout 60 "$MPIEXEC" -n 2 "$minimal" 20 >"$tmp/log" 2>&1
  check "where, no command that deletes the nodes of another prefix" 0 "by hand: node.* in it is the cache of another prefix: '$d'" \
    sh -c '"$1" | sed -n "s/^  lose     //p"' sh "$where"
  mkdir "$tmp/third" && cd "$tmp/third" || exit 1
  timeout 60 "$MPIEXEC" -n 2 "$minimal" 35 >"$tmp/log" 2>&1
  check "a third prefix has a directory of its own" 0 3 sh -c '"$1" "$2" | grep -o "^DSET=[0-9]*" | sort -u | sed "s/.*=//" | tail -n 1' sh "$cached" "$d.1"
  check "cache, that of a prefix whose directory has a number" 0 3 sh -c '"$1" | cut -d " " -f 1' sh "$inspect"
  cd "$tmp/prefix" || exit 1
  says "cache, one node" 0 "^DSET=4 RANK=2 TYPE=XOR GROUPS=1 GROUP_ID=0 GROUP_SIZE=4 GROUP_RANK=2 .* FILES=1" "$cached" "$d/node.$host-v2/filemap.scrinfo"
  check "cache, all nodes" 0 4 sh -c '"$1" --prefix "$3" "$2" | grep -c FILES=1' sh "$cached" "$d" "$tmp/prefix"
  check "cache, all nodes, and that of a run of another prefix without virtual ones" 0 6 sh -c '"$1" "$2" | grep -c FILES=1' sh "$cached" "$d"
  check "cache, all is there" 0 4 "$inspect"
  rm "$d/node.$host-v1/scr.dataset.4/.scr"/*
  says "cache, a file is missing" 0 "RANK=1 .*FILES=0" "$cached" "$d"
  check "cache, it can be rebuilt" 0 4 "$inspect"
  rm -r "$d/node.$host-v3"
  check "cache, and not without another node" 1 "" "$inspect"
  check "cache, the checkpoint on the prefix" 0 ckpt.40 "$have"
else
  skipped=$((skipped + 1))
  echo "skipped: a cache that a run makes, as examples/minimal is not here"
fi
finish
