#!/bin/bash
# Test scr_test_system on this machine, and over nodes of which each is a host name of its own: mpiexec starts its proxies
# there by a remote shell, and a node that is killed loses its processes and its cache.  BIN is the directory of the commands.
#
#   system.sh [check|full|long]        last line: N passed, N failed, N skipped
#
# shellcheck disable=SC2016,SC2086
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
BIN=$(cd "${BIN:-$top/tools}" && pwd)
for v in $(env | sed -n 's/^\(\(SCR\|SLURM\|PBS\|LSB\|FLUX\)_[A-Z_]*\)=.*/\1/p'); do unset "$v"; done
. "$top/tests/tools/check.sh"
host=$(hostname)
heat=$top/examples/heat2d
. "$top/tests/find_mpi.sh"
p="$tmp/a prefix" # with a blank
export "SCR_PREFIX=$p" "SCR_CNTL_BASE=$tmp/base" "SCR_CACHE_BASE=$tmp/base" SCR_USER_NAME=me SCR_JOB_ID=7 SCR_FLUSH=0
export SCR_RUN_WAIT=0 SCR_REMOTE_SHELL=sh
mkdir "$p" "$tmp/base" "$tmp/bin" "$tmp/nodes" && cd "$tmp" || exit 1
system="timeout -k 30 100 $BIN/scr_test_system --size 1MB"
left() { find "$p" "$tmp/base" "$tmp/nodes" -mindepth 1 ! -name me ! -name .scr ! -path "$tmp/nodes/n?" ! -path '*/.scr/*'; }
# tells WHAT PATTERN: the last output has it
tells() { says "$1" 0 "$2" cat "$tmp/log"; }
# tests WHAT WANTED-EXIT ARGUMENT...: run it; the output for `tells`
tests() {
  check "$1" "$2" - sh -c 'log=$1 && shift && "$@" >"$log" 2>&1; code=$?; cat "$log"; exit $code' sh "$tmp/log" $system "${@:3}"
}

# ---- the command line
for a in "--size 0" "--size x" "--bytes 0" "--timeout 0" "--timeout x" "--answer x" "--launcher {np}" "--part" "--nothing"; do
  says "wrong: $a" 2 "Usage" $system $a
done
says "wrong: no regular expression" 2 "needs an extended regular expression" $system --program x --answer '['
says "wrong: no prefix" 2 "cannot open the prefix directory" $system --prefix "$tmp/none"
says "wrong: no hosts" 2 "$tmp/none" $system --hosts "$tmp/none"
says "wrong: nodes" 2 "n\[1-" env "SCR_NODELIST=n[1-" $system
says "wrong: a damaged user file" 2 ".scrconf" sh -c 'echo STORE >"$1/.scrconf"; shift; "$@"' sh "$p" $system
rm "$p/.scrconf"
mkdir "$tmp/precious"
check "a part removes nothing that is not of a test" 0 "" $system --part remove "$tmp/precious"
check "and it is there" 0 "" test -d "$tmp/precious"

# ---- launchers that are not good, without MPI
tests "a launcher that fails" 1 sh -c 'echo no such queue; exit 3' sh
tells "a launcher that fails, its message" "^failed   launch: sh failed with exit code 3: no such queue; give the launcher"
tells "a launcher that fails, the end" "^FAILED$"
tests "a launcher that does not launch" 1 true
tells "a launcher that does not launch, how" "^failed   launch: true runs on nothing, which is not of the allocation"
cat >"$tmp/bin/ends" <<'END'
# ends PID...: wait for processes of this shell; the first one that fails ends it, with status 1
ends() {
  local pid left
  while [ $# -gt 0 ]; do
    left=()
    for pid in "$@"; do
      if jobs -pr | grep -qx "$pid"; then left+=("$pid"); else wait "$pid" || return 1; fi
    done
    set -- "${left[@]}"
    sleep 0.05
  done
}
END
cat >"$tmp/bin/twice" <<'END'
#!/bin/bash
# two processes on this machine
. "$(dirname "$0")/ends"
"$@" & a=$!
"$@" & b=$!
ends $a $b && exit
[ -n "${MANNER:-}" ] || wait
kill -9 $(jobs -pr) 2>/dev/null
exit 0
END
chmod +x "$tmp/bin/twice"
tests "a launcher that waits for all processes" 0 --timeout 1 "$tmp/bin/twice"
tells "a launcher that waits for all processes, how long" "^unknown  process death: twice has not returned within 1 s after a process, not of MPI, was killed; --program tests it with MPI; SCR_WATCHDOG=1 ends"
tests "a launcher that does not begin" 1 --timeout 1 sh -c 'echo waiting for resources; exec sleep 50' sh
tells "a launcher that does not begin, how" "^failed   launch: sh has not run .uname -n. within 1 s: waiting for resources; it may wait for nodes"
MANNER=zero tests "a launcher that tells no failure" 1 "$tmp/bin/twice"
tells "a launcher that tells no failure, how" "^failed   process death: twice returned exit code 0 after a process was killed; scr_run takes"
says "a program is missing" 1 "^failed   programs: .*rsh9 is not found" env SCR_REMOTE_SHELL=rsh9 $system true
check "nothing is left" 0 "" left

# ---- nodes that a remote shell stands in for: n2 is broken, n3 is ahead, n4 does not share the prefix
cat >"$tmp/bin/rsh" <<END
#!/bin/sh
case \$1 in
n2) echo "no route to n2" >&2; exit 255 ;;
n3) sh -c "\$2" | awk '/^host/ {\$3 = sprintf("%.6f", \$3 + 10)} {print}' ;;
n4) exec sh -c "\$(echo "\$2" | sed 's,/a prefix/,/b prefix/,g')" ;;
*) exec sh -c "\$2" ;;
esac
END
printf '#!/bin/sh\necho "$1" | tr , "\\n"\n[ "$2" = uname ]\n' >"$tmp/bin/names"
printf '#!/bin/sh\necho n1\necho n3\necho n4\n[ "$2" = uname ]\n' >"$tmp/bin/stubborn"
chmod +x "$tmp"/bin/*
export SCR_REMOTE_SHELL=bin/rsh # below the working directory
tests "nodes with trouble" 1 --hosts <(printf 'n1\nn2\nn3\nn4\n') --verbose --launcher "$tmp/bin/names {nodes}"
tells "the nodes" "^ok       nodes: 4 of the list: n\[1-4\]"
tells "one that does not answer" "^failed   remote: n2: the commands cannot run there, exit code 255: no route to n2; SCR_REMOTE_SHELL"
tells "one that is ahead" "^failed   clocks: that of n3 is [19][0-9.]* s ahead of that of this node; let NTP"
tells "one that has another name" "^failed   names: n1 calls itself $host; SCR_NODELIST has to"
tells "one that has another prefix" "^failed   prefix: n4: cannot use the directory .*b prefix.*; SCR_PREFIX has to be"
tells "a cache that they share" "^failed   private: 2 of 2 nodes see in $tmp/base what another one wrote; SCR_CNTL_BASE"
tells "what each measures" "^         control and cache $tmp/base: n1: written at .*/s, read at"
tells "where they run" "^ok       launch: the launcher runs 3 processes on n\[1,3-4\]"
tells "a step that avoids one" "^ok       avoid a node: a second step runs on 2 nodes without n4"
says "nodes that are down" 1 "^failed   health: n3: excluded by SCR_EXCLUDE_NODES; scr_run leaves it out" env SCR_NODELIST=n1,n3 SCR_EXCLUDE_NODES=n3 $system true
tests "a launcher that avoids no node" 1 --hosts <(printf 'n1\nn3\nn4\n') --launcher "$tmp/bin/stubborn {nodes}"
tells "a launcher that avoids no node, how" "^failed   avoid a node: a second step ran on n4, though it was excluded"
check "nothing is left of them" 0 "" left

# ---- a job of SLURM on this node and n1, as scontrol tells of it; srun starts a process for each node of its list
mkdir "$tmp/slurm"
# shows FLAGS NODES: what scontrol tells of the job
shows() {
  printf '#!/bin/sh\n[ "$*" = "show job 5" ] || exit 1\ncat <<END\nJobId=5 JobName=heat2d\n   %s Reboot=0 ExitCode=0:0\n' "$1"
  printf '   ReqNodeList=(null) ExcNodeList=n7\n   NodeList=%s\n   BatchHost=%s\nEND\n' "$2" "${2%%[,[]*}"
} >"$tmp/slurm/scontrol"
cat >"$tmp/slurm/srun" <<END
#!/bin/sh
echo step >>"$tmp/steps"
while [ "\$1" != --nodelist ]; do shift; done
list=\$2 && shift 2
for n in \$("$BIN/scr_hostlist" --expand "\$list" | tr ',' ' '); do SLURMD_NODENAME=\$n "\$@"; done
END
cat >"$tmp/slurm/ssh" <<END
#!/bin/sh
while [ "\${1#-}" != "\$1" ]; do shift; done
[ ! -e "$tmp/closed" ] || { echo connection refused >&2; exit 255; }
exec sh -c "\$2"
END
printf '#!/bin/sh\n' >"$tmp/slurm/sinfo"
shows "Requeue=1 Restarts=0 BatchFlag=1" "$host,n1"
chmod +x "$tmp"/slurm/*
slurm="env PATH=$tmp/slurm:$PATH SLURM_JOB_ID=5 SLURM_JOB_NODELIST=$host,n1 SCR_PING=0"
env -u SCR_REMOTE_SHELL $slurm $system --size 1 true >"$tmp/log" 2>&1
tells "a batch job that is started again" "^ok       batch host: the script runs on $host; when that fails, SLURM starts the job again (Requeue=1), unless it has --no-kill$"
tells "a job that ends: ssh is asked, though srun reaches the node" "^ok       job end: ssh reaches 1 node without job steps, which srun does not start"
shows "Requeue=0 Restarts=0 BatchFlag=1" "$host,n1"
: >"$tmp/closed"
env -u SCR_REMOTE_SHELL $slurm $system --size 1 true >"$tmp/log" 2>&1
tells "a batch job that is not started again" "^failed   batch host: the job does not survive $host, where its script runs: .* with --no-kill it even stays RUNNING and does nothing; submit it with --requeue and without --no-kill, or call salloc on a host"
tells "a job that ends, without ssh: all works but for that" "^ok       remote: commands run on 2 of 2 nodes"
tells "a job that ends, without ssh" "^failed   job end: n1: srun starts no job steps in a job that ends, .*: connection refused; SCR_REMOTE_SHELL names what"
shows "Requeue=1 Restarts=0 BatchFlag=0" "$host,n1"
$slurm $system --size 1 true >"$tmp/log" 2>&1
tells "salloc that runs its command on a node of the job" "^failed   batch host: the job does not survive $host"
tells "a job that ends, by another remote shell" "^ok       job end: SCR_REMOTE_SHELL reaches 1 node "
shows "Requeue=1 Restarts=0 BatchFlag=0" "n[1-2]"
says "salloc that runs its command elsewhere" 1 "^ok       batch host: this is $host, no node of the job: with --no-kill, the job survives the end of any node$" $slurm $system --size 1 true
rm -f "$tmp/steps"
env "PATH=$tmp/slurm:$PATH" SLURM_JOB_ID=5 "SLURM_JOB_NODELIST=$host,n[1-9]" SCR_PING=0 SCR_REMOTE_SHELL= $system --size 1 true >"$tmp/log" 2>&1
tells "ten nodes of SLURM" "^ok       remote: commands run on 10 of 10 nodes"
steps=$(grep -c step "$tmp/steps")
echo "job steps for a test of 10 nodes: $steps"
check "ten nodes of SLURM: each question is one step for all" 0 "" test "$steps" -le 5
printf '#!/bin/sh\nexit 1\n' >"$tmp/slurm/scontrol"
says "a job that scontrol does not know" 1 "^unknown  batch host: what becomes of job 5 when that fails is not known" $slurm $system --size 1 true
check "nothing is left of a job of SLURM" 0 "" left

if [ ! -x "$heat" ]; then
  skipped=1
  echo "skipped: a program; examples/heat2d is not here"
  finish
  exit
fi

# ---- one machine, with virtual nodes
export SCR_REMOTE_SHELL=sh
size="--nx 300 --ny 300 --interval 500"
answer='crc32 0x[0-9a-f]+'
export SCR_VIRTUAL_NODES=4
cd "$top" || exit 1
tests "one machine" 0 --bytes 1MB --program "examples/heat2d $size --steps 3000" --answer "$answer" "$MPIEXEC" -n 4
tells "what is not known" "^unknown  nodes: only $host is known; SCR_NODELIST or --hosts"
tells "names and clocks are not known of one node" "^unknown  clocks: only this node has answered"
tells "its speed" "^ok       control and cache: $tmp/base: 1 node wrote 1 MiB with fsync, and read the same; $host at .*/s and .*/s$"
tells "there is space" "^ok       space: $tmp/base has .* free or more, and 2 checkpoints with redundancy take"
tells "a process that dies" "^ok       process death: mpiexec.* returned [0-9.]* s after rank 0 on $host was killed"
tells "a program that restarts" "^ok       restart: the second run restarted from the cache and ended with the same answer$"
tells "the end" "^PASSED$"
check "nothing is left of it" 0 "" left
cd "$tmp" || exit 1
$system --json --bytes 9000PB "$MPIEXEC" -n 4 >"$tmp/json" 2>"$tmp/stderr"
check "json" 0 "False True 2 ['cache', 'prefix']" python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
kinds = {True: "prefix", False: "cache"}
print(d["passed"], d["failed"] == len([c for c in d["checks"] if c["result"] == "failed" and c["advice"]]), len(d["measured"]),
      [kinds[m["directory"] == sys.argv[2]] for m in d["measured"] if m["write"] > 0 and m["read"] > 0 and m["free"] > 0])' "$tmp/json" "$p"
says "too little space" 0 '"failed", "name": "space", "text": "'"$tmp"'/base has .* free on '"$host"', and 2 checkpoints with redundancy take' cat "$tmp/json"
says "a process that dies, without a program" 0 '"ok", "name": "process death", "text": "mpiexec.* returned exit code [1-9]' cat "$tmp/json"
tests "a program that fails" 1 --program "sh -c 'echo no input; exit 4'" "$MPIEXEC" -n 2
tells "a program that fails, how" "^failed   program: the undisturbed run ended with exit code 4 and no checkpoint; its output is in .*/calm.log; it has to"
says "a program that fails, its output" 0 "^no input$" sh -c 'cat "$1"/scr_test_system.*/calm.log' sh "$p"
rm -rf "$p"/scr_test_system.*
printf '#!/bin/sh\n"%s" "$@"\nexit 0\n' "$MPIEXEC" >"$tmp/bin/hides" && chmod +x "$tmp/bin/hides"
tests "another answer" 1 --program "sh -c '$heat $size --steps 3000 && date +the.answer.is.%s%N'" --answer 'the.answer.is.*' "$MPIEXEC" -n 4
tells "another answer, how" "^failed   restart: the answer is not that of the undisturbed run; its output is in .*/process.log"
rm -rf "$p"/scr_test_system.*
tests "a launcher that hides the end of a program" 1 --program "$heat $size --steps 3000" "$tmp/bin/hides" -n 4
tells "a launcher that hides the end of a program, how" "^failed   process death: hides returned exit code 0 after rank 0 on $host was killed; scr_run takes"
rm -rf "$p"/scr_test_system.*
tests "no answer" 1 --program "$heat $size --steps 3000" --answer "none of this" "$MPIEXEC" -n 4
tells "no answer, how" "^failed   program: its output has nothing that matches none of this"
tells "no answer, and what else there is" "^ok       restart: .* exit code 0; --answer compares more$"
tests "a failure that has no effect" 1 --kill-node "sh -c 'exit 6' --" --program "$heat $size --steps 2000" "$MPIEXEC" -n 4
tells "a failure that has no effect, how" "^failed   node death: nothing was killed: .sh -c .* failed with exit code 6.*; --kill-node is a command that gets the name"
rm -rf "$p"/scr_test_system.*
unset SCR_VIRTUAL_NODES
tests "a node that has to survive" 1 --kill-node false --program "$heat $size --steps 1500" "$MPIEXEC" -n 2
tells "a node that has to survive, how" "^failed   node death: nothing was killed: the program runs on this node only.*; give the launcher more nodes"
export SCR_VIRTUAL_NODES=4
rm -rf "$p"/scr_test_system.*
printf '#!/bin/sh\n"%s" "$@" || exec sleep 90\n' "$MPIEXEC" >"$tmp/bin/hangs" && chmod +x "$tmp/bin/hangs"
tests "a launcher that hangs after a failure" 1 --timeout 8 --program "$heat $size --steps 3000" "$tmp/bin/hangs" -n 4
tells "a launcher that hangs after a failure, how" "^failed   process death: hangs has not returned within 8 s after rank 0 on $host was killed; SCR_WATCHDOG=1 ends"
tells "a launcher that hangs after a failure, no restart" "^unknown  restart: there was no second run, because the launcher has not returned; .*; SCR_WATCHDOG=1 ends"
rm -rf "$p"/scr_test_system.*
# not by timeout: it kills what has not cleaned up some seconds after the signal
"$BIN/scr_test_system" --size 1MB --program "$heat $size --steps 300000" "$MPIEXEC" -n 4 >"$tmp/log" 2>&1 &
pid=$!
# until its ranks are in SCR_Init: a launcher that still starts its proxies would leave them behind
until grep -qs '^process' "$p"/scr_test_system.*/calm/.scr/run.lock; do sleep 0.1; done
kill -TERM $pid
wait $pid
check "a signal, the exit code" 0 "" test $? = 2
tells "a signal" "ended by signal 15"
# the launcher's proxies end the ranks a little later
for _ in $(seq 300); do pgrep -f "$heat $size --steps 300000" >/dev/null || break; sleep 0.1; done
check "a signal, no process of a run is left" 1 "" pgrep -f "$heat $size --steps 300000"
check "a signal, nothing is left" 0 "" left
unset SCR_VIRTUAL_NODES SCR_REMOTE_SHELL

# ---- five nodes, each a host name of its own
flags="--uts --mount"
[ "$(id -u)" = 0 ] || flags="-Ur $flags"
if ! unshare $flags hostname n1 2>"$tmp/stderr"; then
  skipped=1
  echo "skipped: nodes with host names of their own; unshare is not allowed"
  finish
  exit
fi
cat >"$tmp/bin/rsh" <<END
#!/bin/sh
# as ssh is called: options, a host, the words of a command
while [ "\${1#-}" != "\$1" ]; do shift; done
if grep -qx "\$1" "$tmp/broken" 2>/dev/null; then echo "\$1 is broken" >&2; exit 255; fi
mkdir -p "$tmp/nodes/\$1"
export "TEST_NODE=$tmp/\$1"
exec unshare $flags sh -c 'hostname "\$0" && mount --bind "$tmp/nodes/\$0" "$tmp/base" && exec sh -c "\$*"' "\$@"
END
cat >"$tmp/bin/kill-node" <<END
#!/bin/bash
# the node \$1 loses all of its processes and its cache
echo "\$1" >>"$tmp/broken"
ls "$p"/scr_test_system.*/node | grep -c "^up\." >"$tmp/begun"
kill -9 \$(grep -lsazx "TEST_NODE=$tmp/\$1" /proc/[0-9]*/environ | cut -d/ -f3)
rm -rf "$tmp/nodes/\$1"
END
chmod +x "$tmp"/bin/*
unset UCX_TLS UCX_MODULES # these nodes are further from each other
export "SCR_REMOTE_SHELL=$tmp/bin/rsh" "SCR_NODELIST=n[1-5]"
case $MPI_NAME in
openmpi) mpiexec="$MPIEXEC --mca plm_rsh_agent $tmp/bin/rsh -n 4" ;;
*) mpiexec="$MPIEXEC -launcher ssh -launcher-exec $tmp/bin/rsh -localhost 127.0.0.1 -n 4" ;;
esac
: >"$tmp/broken"
tests "five nodes" 0 --program "$heat $size --steps 3000" --answer "$answer" --kill-node "$tmp/bin/kill-node" $mpiexec
cp "$tmp/log" "$tmp/five"
tells "their names" "^ok       names: the nodes have the names of the list"
tells "their clocks" "^ok       clocks: they differ by less than"
tells "the prefix" "^ok       shared: the nodes share the prefix"
tells "four of them run" "^ok       launch: mpiexec.* runs 4 processes on n\[1-4\]"
tells "a step without one" "^ok       avoid a node: a second step runs on 4 nodes without n4"
tells "the script goes on" "^ok       job script: it goes on, [0-9]* s after n[1-4] was killed"
tells "the launcher returns" "^ok       node death: mpiexec.* returned [0-9.]* s after n[1-4] was killed"
tells "the node is found" "^ok       detection: n[1-4]: scr_check_node could not run there, exit code 255: n[1-4] is broken"
tells "each has its cache" "^ok       private: each node has its own $tmp/base"
tells "a process dies" "^ok       process death: mpiexec.* returned [0-9.]* s after rank 0 on n1 was killed"
tells "and the program restarts" "^ok       restart: the second run restarted from the cache and ended with the same answer"
tells "and what it had is rebuilt" "^ok       restart elsewhere: the second run restarted from the cache, rebuilt what was lost, and ended with the same answer"
tells "the end of five nodes" "^PASSED$"
check "nothing is left of five nodes" 0 "" left
: >"$tmp/broken"
cat >"$tmp/bin/launch" <<END
#!/bin/bash
# one process on each of four nodes, the last node first; when one fails the others are ended
IFS=, read -ra nodes <<<"\$1"
shift
for i in 3 2 1 0; do
  "$tmp/bin/rsh" "\${nodes[i]}" "exec \$(printf '%q ' "\$@")" & pids+=(\$!)
  sleep 0.3
done
. "$tmp/bin/ends"
ends "\${pids[@]}" || { kill -9 \$(jobs -pr) 2>/dev/null; exit 1; }
END
chmod +x "$tmp/bin/launch"
tests "five nodes without a program" 0 --kill-node "$tmp/bin/kill-node" --launcher "$tmp/bin/launch {nodes}"
tells "a process dies, without a program" "^ok       process death: the launcher returned exit code 1, after"
tells "a node dies, without a program" "^ok       node death: the launcher returned [0-9.]* s after n4 was killed"
tells "a second run, without a program" "^ok       run again: a second run, without the node, has ended well"
tells "what is not tested" "^unknown  restart: does a program go on .*--program names"
check "the node is killed when all processes have begun" 0 4 cat "$tmp/begun"
: >"$tmp/broken"
printf '#!/bin/sh\nshift\nexec "%s/bin/launch" "$@"\n' "$tmp" >"$tmp/bin/mpiexec" && chmod +x "$tmp/bin/mpiexec"
tests "a launcher whose arguments name hosts" 1 --kill-node "$tmp/bin/kill-node" "$tmp/bin/mpiexec" -hosts n1,n2,n3,n4
tells "a launcher whose arguments name hosts, how" "^failed   avoid a node: the arguments of the launcher name hosts; leave that to scr_run"
tells "a launcher whose arguments name hosts, no second run" "^failed   run again: there was no second run, or it failed; .*; leave the hosts to scr_run: the arguments of the launcher name them"
rm -rf "$p"/scr_test_system.*
: >"$tmp/broken"
SCR_NODELIST="n[1-4]" tests "no spare node" 1 --program "$heat $size --steps 3000" --kill-node "$tmp/bin/kill-node" $mpiexec
tells "no spare node, how" "^failed   restart elsewhere: there was no second run; its output is in .*/node.log; SCR_MIN_NODES"
rm -rf "$p"/scr_test_system.*
check "nothing is left at last" 0 "" left
finish
