#!/bin/bash
# Two real users over one prefix: what one of them may write to, the other plants links, names and directories in, before
# a run and while it flushes.  Nothing outside the prefix changes, and nothing is followed that is not the user's own.
# From the environment: CC, MPICC, MPIEXEC, BIN.  Needs root, for useradd.  Last line: N passed, N failed, N skipped.
# shellcheck disable=SC2016,SC2086,SC2317
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
BIN=$(cd "${BIN:-$top/tools}" && pwd)
. "$top/tests/find_mpi.sh"
unset "${!SCR_@}" "${!SLURM_@}"
. "$top/tests/tools/check.sh"
if [ "$(id -u)" != 0 ] || ! command -v useradd >/dev/null || ! command -v setpriv >/dev/null; then
  skipped=1
  echo "skipped: no root, useradd or setpriv to make two users with"
  finish
  exit
fi

# ---- the users: mine runs jobs, theirs attacks; both are of the group of the prefix
mine=scrm$$ theirs=scrt$$ group=scrg$$
trap 'pkill -KILL -u $theirs; userdel $mine; userdel $theirs; groupdel $group; rm -rf "$tmp"' EXIT 2>/dev/null
# The group has the number of the user who runs jobs, as the user's own group would have, if that is free.
groupadd $group && gid=$(getent group $group | cut -d: -f3) || exit 1
useradd -M -d "$tmp/home" $(getent passwd "$gid" >/dev/null || echo "-u $gid") -G $group $mine && useradd -M -d "$tmp/nowhere" -G $group $theirs || exit 1
as() { # USER COMMAND...
  local user=$1
  shift
  setpriv --reuid="$user" --regid="$user" --init-groups --no-new-privs env HOME="$tmp/home" USER="$user" "$@"
}
they() { as $theirs "$@" || { echo "$theirs cannot: $*"; failed=$((failed + 1)); }; }

chmod 755 "$tmp"
yields
mkdir "$tmp/bin"
check "a job builds" 0 "" $MPICC -O1 -Wall -Werror -o "$tmp/bin/job" "$top/tests/tools/steered.c" "$library" -lz -lpthread
cat >"$tmp/swap.c" <<'END'
#include <stdio.h>
int main(int n, char** a) /* DIR LINK ASIDE...: for ever, DIR is a directory and a link by turns */
{
  for (;;)
    for (int i = 1; i + 2 < n; i += 3) rename(a[i], a[i + 2]), rename(a[i + 1], a[i]), rename(a[i], a[i + 1]), rename(a[i + 2], a[i]);
}
END
cat >"$tmp/nodes.c" <<END
#define SCR_SERIAL
#include "$top/scr_impl.c"
int main(int argc, char** argv) /* PREFIX HOST DIR: the nodes file says that DIR is the control directory of HOST */
{
  scr_hash* h = scr_hash_new();
  (void)argc;
  umask(0);
  scr_hash_set(scr_hash_set_kv(h, argv[2], "CNTL"), argv[3], scr_hash_new());
  return scr_nodes_file_write(argv[1], 1, h, 0);
}
END
check "their program builds" 0 "" ${CC:-cc} -O1 -o "$tmp/bin/swap" "$tmp/swap.c"
cp "$BIN/scr" "$tmp/bin/" && for c in "$BIN"/scr_*; do [ ! -x "$c" ] || ln "$tmp/bin/scr" "$tmp/bin/${c##*/}"; done

p=$tmp/prefix base=$tmp/base mail=$tmp/home/mail
export SCR_PREFIX=$p SCR_CNTL_BASE=$base SCR_CACHE_BASE=$base SCR_JOB_ID=57 SCR_VIRTUAL_NODES=3 SCR_FLUSH=1 SCR_LOG_SYSLOG_ENABLE=0
export BEFORE_STEP=$tmp/step PATH=$tmp/bin:$PATH

# Give FILE a list of users (an ACL): its group reads, and nobody, a user, writes.  Fails where there are no lists.
listed() { # FILE
  python3 -c 'import os, struct, sys
e = [(1, 7, -1), (2, 7, 65534), (4, 5, -1), (16, 7, -1), (32, 0, -1)]
os.setxattr(sys.argv[1], "system.posix_acl_access", b"\2\0\0\0" + b"".join(struct.pack("<HHi", *x) for x in e))' "$1" 2>/dev/null
}
# A prefix of the group, as MODE says, a home with a letter, nothing else.
fresh() { # MODE
  rm -rf "$p" "$base" "$tmp/home"
  mkdir -m 700 "$tmp/home" && mkdir "$mail" && echo precious >"$mail/letter" && chown -R $mine "$tmp/home"
  mkdir -m "$1" "$p" && chown $mine:$group "$p" && mkdir -m 1777 "$base" && cd "$p" || exit 1
  chmod "$1" "$p" # whatever the umask
  printf '#!/bin/sh\n' >"$tmp/step" && chmod 755 "$tmp/step"
}
export SAID=$tmp/said
# The processes write what they say themselves: a launcher may lose the last words of a job that ends with an error.
job_of() { # USER ARGUMENTS
  : >"$SAID"
  chmod 666 "$SAID"
  as "$1" timeout -k 5 90 $MPIEXEC -n 3 sh -c 'exec "$0" "$@" >>"$SAID" 2>&1' "$tmp/bin/job" "${@:2}" >>"$SAID" 2>&1
}
job() { job_of $mine "$@"; }
masked() { (umask "$1" && job 1); }
home_is_as_it_was() { check "$1: nothing has reached their home" 0 "precious letter" sh -c "cd '$mail' && echo \$(cat letter) \$(ls -A)"; }
tell() { says "$1: the reason" 0 "$2" cat "$tmp/said"; }

# ---- what is planted before a run
fresh 2770
SCR_LOG_ENABLE=1 check "a run in a prefix of the group" 0 "" job 2
check "its files" 0 "3" sh -c "ls '$p/step.2' | grep -c rank_"
check "the group may write to .scr" 0 "drwxrws--- $group" stat -c "%A %G" "$p/.scr"

they ln -s "$mail/letter" report.html
they sh -c 'umask 0; mkfifo fifo'
for name in report.html fifo; do
  says "a report into a $name of theirs" 1 "cannot create $name" as $mine timeout 20 scr_report --output $name
done
home_is_as_it_was "a report into a link"

fresh 755
check "a prefix that is the user's alone, with umask 0" 0 "" masked 0
check "a prefix that is the user's alone: what the group may write in .scr" 0 "" find "$p/.scr" -perm /022
open_to_all() { find "$p" -perm -002 ! -name 'rank_*' ! -name 'pid.*'; }
check "a prefix that is the user's alone: what all may write, but for the program's files" 0 "" open_to_all
SCR_USE_CONTAINERS=1 check "a prefix that is the user's alone, containers with umask 0" 0 "" masked 0
check "containers: what all may write, but for the program's files" 0 "" open_to_all

# A map, or the list of nodes, that others could have written has no power, whoever its owner is.
fresh 2770
check "a run, for its maps" 0 "" job 2
as $mine chmod g+w step.1/.scr/rank2file.0.0.scr .scr/nodes.scr
SCR_PREFIX_SIZE=1 check "a map that the group can write" 0 "" job 3
tell "a map that the group can write" "is named by a rank2file map that others than its owner can write; chmod g-w,o-w the map"
check "a map that the group can write deletes nothing" 0 "3" sh -c "ls step.1 | grep -c rank_"
as $mine chmod g+w .scr/nodes.scr
says "a list of nodes that the group can write" 1 "nodes.scr can be written by others, and the directories that it names are not used" as $mine scr_where
as $mine chmod g-w step.1/.scr/rank2file.0.0.scr
SCR_PREFIX_SIZE=1 check "a map that the group can write, no more" 0 "" job 4
check "as the message says: it is deleted" 1 "" test -d step.1

# A daemon serves no directory that another user has made, or put a link in.
fresh 2770
they mkdir "$base/$mine"
they ln -s "$mail" "$base/$mine/scr.57"
says "a daemon in a directory of theirs" 1 "belongs to user" as $mine timeout 20 scr_transfer "$base/$mine/scr.57"
home_is_as_it_was "a daemon in a directory of theirs"

# Nor a store that another user has made anew, after the base that all share was emptied.
fresh 755
mkdir -m 1777 "$tmp/stores" && chmod 1777 "$tmp/stores"
as $mine sh -c 'umask 022; yes "a secret" | head -c 1002 >"$HOME/secret"'
as $mine sh -c 'echo $$ >"$HOME/daemon"; exec scr_transfer "$0" >"$HOME/daemon.said" 2>&1' "$base/$mine/scr.57" &
for i in $(seq 100); do [ -s "$tmp/home/daemon" ] && break; sleep 0.1; done
daemon=$(cat "$tmp/home/daemon")
cat >>"$tmp/step" <<END
serves() { for f in "$base/$mine"/scr.57/node.*/transfer.daemon.lock; do flock -n "\$f" true 2>/dev/null || echo "\$f"; done; }
case \$1 in
1) until [ "\$(serves | wc -l)" = 3 ]; do sleep 0.3; done; kill -STOP $daemon ;;
2) kill -9 \$(cat "$p"/pid.*) ;;
esac
END
SCR_CACHE_BASE=$tmp/stores SCR_FLUSH_ASYNC=1 SCR_FLUSH_TYPE=DAEMON job 3
f=$(cd "$tmp/stores" && find . -path '*-v0/*' -name rank_0)
check "a store to be emptied: it has a checkpoint" 0 "" test -n "$f"
rm -rf "$tmp/stores/$mine"
they sh -c 'umask 022; mkdir -p "$(dirname "$1")" && ln -s "$2" "$1"' sh "$tmp/stores/$f" "$tmp/home/secret"
kill -CONT $daemon
for i in $(seq 200); do grep -q "belongs to user" "$tmp/home/daemon.said" && break; sleep 0.1; done
says "a store of theirs: the daemon says so" 0 "belongs to user $(id -u $theirs)" cat "$tmp/home/daemon.said"
check "a store of theirs: no byte of what their links lead to is on the prefix" 1 "" grep -rl "a secret" "$p"
kill $daemon
wait
rm -rf "$tmp/stores"

fresh 2770
they ln -s "$mail" step.1
check "a link in place of a directory" 3 - job 2
home_is_as_it_was "a link in place of a directory"
tell "a link in place of a directory" "step.1.*a link that is not followed"

fresh 2770
they mkdir -m 777 step.1
for r in 0 1 2; do they ln -s "$mail/letter" step.1/rank_$r; done
check "links in place of files" 0 - job 2
home_is_as_it_was "links in place of files"

fresh 2770
they mkdir -m 777 step.1
they ln -s "$mail" step.1/.scr
check "a link in place of the metadata" 0 - job 2
home_is_as_it_was "a link in place of the metadata"
check "a link in place of the metadata: these are elsewhere" 0 - test -f "$p/scr.dataset.1/.scr/summary.scr"

# ---- a flat store in a directory where all may make files; their names can be guessed
flat() { # FILE...: of each node, which they make
  local node file
  fresh 2770
  printf 'STORE=%s MKDIR=0 COUNT=2\n' "$tmp/flat" >.scrconf
  rm -rf "$tmp/flat" && mkdir -m 1777 "$tmp/flat" "$tmp/cntl" 2>/dev/null
  chmod 1777 "$tmp/flat" "$tmp/cntl"
  SCR_CNTL_BASE=$tmp/cntl SCR_CACHE_BASE=$tmp/flat SCR_JOB_ID=58 job 2
  for node in 0 1 2; do
    for file; do they touch "$tmp/flat/$mine%2Fscr.59%2Fnode.$(hostname)-v$node%2F$file"; done
  done
  SCR_CNTL_BASE=$tmp/cntl SCR_CACHE_BASE=$tmp/flat SCR_JOB_ID=59 job 3
}
for file in run.lock prefix.scrinfo; do
  check "a $file of theirs in a flat store" 2 - flat $file
  tell "a $file of theirs in a flat store" "$file belongs to user .*, not to you; choose another base"
done
check "a file of theirs in the place of a cached one" 0 - flat scr.dataset.2%2Fstep.2%2Frank_1
tell "a file of theirs in the place of a cached one" "step.2.*cannot be fetched.*exists already, and is another user's"
tell "a file of theirs: no older checkpoint in place of the newest" "complete checkpoints exist, but none could be loaded"
fresh 755
printf 'STORE=%s MKDIR=0\n' "$tmp/flat" >.scrconf
rm -rf "$tmp/flat" "$tmp/cntl" && mkdir -m 1777 "$tmp/flat" "$tmp/cntl" && chmod 1777 "$tmp/flat" "$tmp/cntl"
export SCR_CNTL_BASE=$tmp/cntl SCR_CACHE_BASE=$tmp/flat SCR_USE_CONTAINERS=1
check "containers, and a flat store" 0 "" job 2
rm -rf "${tmp:?}"/flat/* "${tmp:?}"/cntl/*
nonce=$(scr_print_hash_file step.2/.scr/summary.scr | sed -n 's/^ *NONCE = //p')
for r in 0 1 2; do they sh -c "echo '7 $r' >'$tmp/flat/$mine%2Fscr.57%2Fnode.$(hostname)-v$r%2Fscr.dataset.0%2F$nonce%2Fstep.2%2Frank_$r'"; done
SCR_FETCH_BYPASS=1 check "a file of theirs in the place of one taken out of a container" 0 - job 3
tell "a file of theirs in the place of one taken out of a container" "rank_0 exists already, and is another user's"
tell "a file of theirs in the place of one taken out of a container is not read" "no older one takes its place"
rm -rf "${tmp:?}"/flat/*
SCR_FETCH_BYPASS=1 check "a file of theirs in the place of one taken out of a container: the remedy" 0 "" job 3
tell "a file of theirs in the place of one taken out of a container: the remedy" "restarted from step.2"
export SCR_CNTL_BASE=$base SCR_CACHE_BASE=$base
unset SCR_USE_CONTAINERS
open_to_others() { find "$tmp/flat" -maxdepth 1 -type f \( -name '*run.lock' -o -name '*prefix.scrinfo' \) -printf '%m\n' | sort -u; }
check "a flat store: its lock and its record are the user's alone" 0 600 open_to_others
rm -rf "$tmp/cntl" "$tmp/flat"

for kind in link fifo; do
  fresh 2770
  they mkdir -m 777 step.1
  for id in 1 2; do
    for r in 0 1 2; do
      if [ $kind = link ]; then they ln -s "$mail/letter" "step.1/rank_$r.scr$id.tmp"; else they mkfifo -m 666 "step.1/rank_$r.scr$id.tmp"; fi
    done
  done
  SCR_CACHE_BYPASS=1 check "a $kind in place of what is written on the prefix" 0 - job 2
  home_is_as_it_was "a $kind in place of what is written on the prefix"
  tell "a $kind in place of what is written on the prefix" "step.1/rank_.*exists already, and is"
done

fresh 2770
SCR_CACHE_BYPASS=1 check "written on the prefix, in directories of one's own" 0 "" job 2
check "written on the prefix, and named at the end" 0 "rank_0 rank_1 rank_2" sh -c "echo \$(ls '$p/step.2')"
fresh 2770
printf 'umask 002; mkdir step.$1; chmod 2775 step.$1\n' >>"$tmp/step"
SCR_CACHE_BYPASS=1 check "written on the prefix, where the group may write" 0 "" job 2
check "there, too, and named at the end" 0 "rank_0 rank_1 rank_2" sh -c "echo \$(ls '$p/step.2')"

fresh 3777
they mkdir .scr
job 1
tell "a .scr of somebody else, which has the group of the prefix" "/.scr belongs to user $(id -u $theirs), who is neither you nor the owner of"
fresh 1777
chgrp $(id -g $theirs) "$p" && chmod 1777 "$p"
they mkdir .scr
job 1
tell "a .scr of somebody else, of whose group the prefix is" "/.scr belongs to user $(id -u $theirs), who is neither you nor the owner of"
fresh 1777
they mkdir .scr
job 1
tell "a .scr of somebody else" "/.scr belongs to user $(id -u $theirs), who is neither you nor the owner of"
rm -f pid.*
check "their run there" 0 "" job_of $theirs 1
chown root "$p"
for c in "scr_index --list" "scr_have_restart" "scr_postrun" "scr_status" "scr_flush_file --dir $p --latest"; do
  says "a .scr of somebody else: $c" 1 "/.scr belongs to user $(id -u $theirs), who is neither you" as $mine $c
done
fresh 1777
they mkdir -m 777 step.2
check "a run whose checkpoint has a directory of somebody else" 0 "" job 2
tell "a directory of somebody else" "step.2 belongs to user $(id -u $theirs), who is neither you nor the owner .* are written elsewhere"
check "its metadata are not there" 0 "" test -f scr.dataset.2/.scr/summary.scr -a ! -e step.2/.scr
for c in "" " --pattern rank_%r"; do
  says "nor by scr_index --add$c" 1 "step.2.* belongs to user $(id -u $theirs), who is neither you nor the owner of" as $mine scr_index --add step.2$c
done
check "nor any metadata of it" 1 "" test -e step.2/.scr
they sh -c 'mkdir w o; : >o/1_of_3_in_0.xor; ln -s ../o w/.scr'
says "a link of somebody else, when root rebuilds a dataset" 1 "1_of_3_in_0.xor: it is, or lies behind, a link" scr_rebuild w
they sh -c 'cd step.2 && sed s/2/3/g rank_0 >x && mv -f x rank_0'
rm -rf "${base:?}"/*
check "and what somebody else put there is not restarted from" 0 "" job 2
tell "the older one is" "restarted from step.1"
# directories below the prefix that all can write to
fresh 755
as $mine mkdir -m 777 step.1 && as $mine chmod 777 step.1 && they mkdir -m 777 step.1/.scr && they touch step.1/.scr/planted
check "metadata of somebody else, in a directory that all can write to" 0 "" job 1
tell "metadata of somebody else" "step.1/.scr belongs to user $(id -u $theirs), who is neither you nor the owner of"
check "they are elsewhere" 0 "" test -f scr.dataset.1/.scr/summary.scr -a ! -e step.1/.scr/summary.scr
fresh 755
mkdir "$tmp/open" && chmod 777 "$tmp/open" && chown $mine "$tmp/open" && as $mine ln -s "$tmp/open" step.1 && they mkdir "$tmp/open/.scr"
check "metadata of somebody else, in such a directory behind a link" 0 "" job 1
tell "the same behind a link" "step.1/.scr belongs to user $(id -u $theirs), who is neither you nor the owner of"
rm -r "$tmp/open"
fresh 755
as $mine mkdir -m 777 .scr
job 1
tell "a .scr that all can write to" "/.scr can be written by all users"
as $mine chmod o-w .scr
check "a .scr that all can write to: the remedy" 0 "" job 1
fresh 2750
if listed "$p"; then
  check "a run in a prefix with a list of users" 0 "" job 1
  check "its group may read only" 0 "" find .scr -perm -g+w
  as $theirs sh -c ': >.scr/planted' 2>/dev/null
  check "nobody of it writes there" 1 "" test -e .scr/planted
fi
fresh 2770
they ln -s "$mail" .scr
job 1
tell "a .scr that is a link" "/.scr is not a directory"
home_is_as_it_was "a .scr that is a link"

fresh 2770
check "a run, for its log" 0 "" job 1
for f in log halt.scr index.scr flush.scr nodes.scr status.scr; do
  they rm -f .scr/$f .scr/$f.lock
  they ln -s "$mail/letter" .scr/$f
  they ln -s "$mail/new" .scr/$f.lock
done
SCR_LOG_ENABLE=1 job 2
home_is_as_it_was "links in place of the files of .scr"

# ---- a file of parameters
fresh 2770
check "a run, for its files" 0 "" job 1
they mv .scr/index.scr.lock .scrconf # which is of the user who runs jobs, and writable for the group
as $theirs sh -c 'echo SCR_PREFIX_PURGE=1 >.scrconf'
job 2
tell "parameters that the group can write" "$p/.scrconf is one that others can write, and is not read"
check "the checkpoint is still there" 0 "rank_0 rank_1 rank_2" sh -c "echo \$(ls '$p/step.1')"
rm .scrconf && they sh -c 'umask 077; echo SCR_PREFIX_PURGE=1 >.scrconf'
job 2
tell "a file of another user that cannot be read" "$p/.scrconf is that of another user, and is not read"
obeyed() { check "$1" 0 "$2" as $mine scr_list_dir cache; }
rm .scrconf
as $mine sh -c 'umask 077; echo SCR_CACHE_BASE=/elsewhere >"$HOME/conf"; echo SCR_CACHE_BASE=/here >.scrconf'
SCR_CACHE_BASE='' obeyed "their own file is obeyed" "/here/$mine/scr.57"
rm .scrconf && as $mine ln -s "$tmp/home/conf" .scrconf
SCR_CACHE_BASE='' obeyed "so is one behind their own link" "/elsewhere/$mine/scr.57"
rm .scrconf && as $mine ln -s conf .scrconf && as $mine cp "$tmp/home/conf" conf
SCR_CACHE_BASE='' obeyed "and behind one that begins in the prefix" "/elsewhere/$mine/scr.57"
rm conf
says "a link to nothing" 1 "cannot open the parameter file $p/.scrconf.*No such file" as $mine scr_list_dir cache
rm .scrconf && they ln -s "$tmp/home/conf" .scrconf
says "a link of somebody else" 0 "$p/.scrconf is that of another user, and is not read" as $mine scr_list_dir cache

# Their own group, which has the number of the user, may write; but not whoever a list of users names.
own() { setpriv --reuid=$mine --regid="$(id -u $mine)" --clear-groups --no-new-privs env HOME="$tmp/home" "$@"; }
fresh 755
own sh -c 'umask 002; echo SCR_CACHE_BASE=/here >.scrconf'
if [ "$(id -u $mine)" = "$gid" ]; then
  SCR_CACHE_BASE='' check "parameters that their own group can write" 0 "/here/$mine/scr.57" own scr_list_dir cache
fi
if listed .scrconf; then
  says "parameters that a list of users lets others write" 0 "$p/.scrconf is one that others can write, and is not read" own scr_list_dir cache
fi

# ---- files that are given another name, records that somebody else has written
fresh 2770
check "a run, for its locks" 0 "" job 1
as $mine sh -c 'umask 077; echo secret >key'
they mv key .scr/halt.scr.lock
as $mine scr_halt --list "$p" >"$tmp/said" 2>&1
check "a private file in place of a lock stays private" 0 "600" stat -c %a .scr/halt.scr.lock
for with in "7</dev/null" "7<.scr/run.lock"; do
  as $mine sh -c "exec sleep 60 $with" &
  sleep 0.2
  asleep=$(pgrep -u $mine -x sleep)
  as $theirs sh -c "exec 9>>.scr/run.lock; flock 9; printf 'run\nprocess $asleep on $(uname -n)\n' >.scr/run.lock; exec sleep 60" &
  sleep 0.5
  says "a process that does not hold the lock of the run, $with" 1 "$asleep on .*it does not have $p/.scr/run.lock open for writing" as $mine scr_halt --immediate "$p"
  check "it lives, $with" 0 "" kill -0 "$asleep"
  pkill -KILL -u $theirs
  pkill -KILL -u $mine -x sleep
done
mkdir "$tmp/slurm" && printf '#!/bin/sh\necho "$*" >>"%s/cancelled"\n' "$tmp" >"$tmp/slurm/scancel" && chmod 755 "$tmp/slurm/scancel"
: >"$tmp/cancelled" && chmod 666 "$tmp/cancelled"
as $mine sleep 60 &
sleep 0.2
asleep=$(pgrep -u $mine -x sleep)
for line in "step 4711\\nrun" "step 4711.0\\nprocess $asleep on $(uname -n)"; do
  as $theirs sh -c "rm -f .scr/run.lock; umask 0; printf '$line\n' >.scr/run.lock; exec flock .scr/run.lock sleep 60" &
  sleep 0.5
  says "a job of another run in place of its own" 1 "does not tell which run uses it\|it does not have $p/.scr/run.lock open" as $mine env PATH="$tmp/slurm:$PATH" scr_halt --immediate "$p"
  pkill -KILL -u $theirs
done
check "no job is cancelled" 0 "" cat "$tmp/cancelled"
pkill -KILL -u $mine -x sleep
says "an option in place of a job step" 1 "is not the id of a job step" as $mine scr_kill_jobstep -j --user=$mine
check "the program of a forged record builds" 0 "" ${CC:-cc} -O0 -Wall -Werror -o "$tmp/bin/nodes" "$tmp/nodes.c" -lz
fresh 2770
check "a run, for its nodes" 0 "" job 1
as $mine sh -c 'cd && mkdir -p work/scr.dataset.results && echo data >work/scr.dataset.results/data && echo int >work/filemap.c'
they nodes "$p" "$(uname -n)" "$tmp/home/work"
says "nodes that another user has written" 1 "nodes.scr is what user $(id -u $theirs) has written, and the directories that it names are not used" as $mine scr_clean
chown $mine .scr/nodes.scr # as if it were not theirs
says "directories that no run has used" 1 "work stays as it is: it has no .*/prefix.scrinfo" as $mine scr_clean
check "they are as they were" 0 "filemap.c scr.dataset.results data" sh -c "cd '$tmp/home/work' && echo \$(ls -A . ) \$(cat */data)"

fresh 2770
SCR_FLUSH=0 check "a run that leaves its checkpoint in its caches" 0 "" job 2
rm -f pid.*
SCR_FLUSH=0 SCR_JOB_ID=58 job_of $theirs 1
check "another user's run there" 0 $theirs stat -c %U .scr/nodes.scr
says "its checkpoint is saved" 0 "nodes.scr is what user $(id -u $theirs) has written.*; the nodes of the allocation are asked" as $mine scr_postrun
check "it is on the prefix" 0 "rank_0 rank_1 rank_2" sh -c "echo \$(ls step.2)"

# A base that all share was emptied: who makes the directories anew can have them lead to other caches of the user, and to
# others again while the user's command waits for a lock.
fresh 755
own=$tmp/home/base other=$tmp/home/other
as $mine mkdir "$own" "$other"
cd "$other" || exit 1
SCR_JOB_ID=58 SCR_CNTL_BASE=$own SCR_CACHE_BASE=$own SCR_PREFIX=$other SCR_FLUSH=0 check "a run over another prefix" 0 "" job 1
cd "$p" || exit 1
SCR_JOB_ID=56 SCR_CNTL_BASE=$own SCR_CACHE_BASE=$own check "a run with a base of its own" 0 "" job 2
rm -f pid.*
check "a run with a base that all share" 0 "" job 3
rm -rf "${base:?}/$mine" pid.*
work=$(cd "$own/$mine/scr.58" && find . | sort)
they mkdir "$base/$mine"
they ln -s "$own/$mine/scr.56" "$base/$mine/scr.57"
they ln -s "$own/$mine/scr.58" "$base/$mine/aside"
locked() { # LEAST: as many descriptors of the locks are open
  for _ in $(seq 300); do
    [ "$(find /proc/[0-9]*/fd -lname "$own/$mine/scr.56/node.*/run.lock" 2>/dev/null | wc -l)" -lt "$1" ] || return 0
    sleep 0.1
  done
}
for lock in "$own/$mine"/scr.56/node.*/run.lock; do as $mine flock "$lock" sleep 471 & done
locked 6
as $mine timeout 60 scr_clean >"$tmp/said" 2>&1 &
locked 9
they mv -T "$base/$mine/aside" "$base/$mine/scr.57"
pkill -u $mine -x sleep
wait
tell "a base that somebody else made" "$base/$mine/scr.57/node.*another directory has"
check "a base that somebody else made: the work of another prefix" 0 "$work" sh -c "cd '$own/$mine/scr.58' && find . | sort"

# ---- a prefix that somebody else has made, as a link to another one
fresh 755
job 2
behind() { (cd "$p" && find step.* -type f | sort | xargs md5sum); }
before=$(behind)
for mode in 1777 2775; do
  rm -rf "$tmp/open" && mkdir "$tmp/open" && chgrp $group "$tmp/open" && chmod $mode "$tmp/open"
  they ln -s "$p" "$tmp/open/new"
  as $mine ln -s new "$tmp/open/mine"
  for name in new mine; do
    SCR_PREFIX=$tmp/open/$name check "a prefix of mode $mode that is a link of somebody else, $name: refused" 2 "" job 1
    tell "a prefix of mode $mode that is a link of somebody else, $name" "$tmp/open/new, on the way to the prefix $tmp/open/$name, is a link that user"
    says "scr_index, a prefix of mode $mode that is a link of somebody else, $name" 1 "may have planted there" as $mine scr_index --prefix "$tmp/open/$name"
    says "scr_run, a prefix of mode $mode that is a link of somebody else, $name" 1 "may have planted there" as $mine env "SCR_PREFIX=$tmp/open/$name" scr_run $MPIEXEC -n 1 true
  done
  they mkdir -m 777 "$tmp/open/made" && they ln -s "$p" "$tmp/open/made/run"
  SCR_PREFIX=$tmp/open/made/run check "a prefix of mode $mode in a directory of somebody else: refused" 2 "" job 1
  tell "a prefix of mode $mode in a directory of somebody else" "$tmp/open/made/run, on the way to the prefix $tmp/open/made/run, is a link that user"
  as $mine ln -s "$p" "$tmp/open/own"
  SCR_PREFIX=$tmp/open/own check "a prefix of mode $mode that is a link of one's own" 0 "" job 0
done
for owner in root $mine; do # and $theirs have the link, as chown -h may give it to them
  rm -rf "$tmp/shut" && mkdir -m 755 "$tmp/shut" && chown $owner "$tmp/shut" && ln -s "$p" "$tmp/shut/link" && chown -h $theirs "$tmp/shut/link"
  SCR_PREFIX=$tmp/shut/link check "a link of somebody else where only $owner can make one" 0 "" job 0
done
check "a prefix that is a link: the files behind it" 0 "$before" behind

# ---- a base
fresh 755
rm -rf "$base" && mkdir "$base" && chmod 1777 "$base"
they mkdir "$base/$mine"
job 1
tell "a directory of somebody else in the base" "$base/$mine belongs to user $(id -u $theirs), not to you"
fresh 755
rm -rf "$base" && mkdir -m 755 "$base" && chmod 777 "$base" && chown $theirs "$base"
check "a base of somebody else" 0 "" job 1
tell "a base of somebody else" "the base $base belongs to user $(id -u $theirs)"
fresh 755
they mkdir -m 777 "$base/way"
SCR_CNTL_BASE=$base/way/there SCR_CACHE_BASE=$base/way/there check "a base in a directory of somebody else" 0 "" job 1
tell "a base in a directory of somebody else" "$base/way, on the way to the base $base/way/there, belongs to user $(id -u $theirs)"
as $mine sh -c "umask 0 && SCR_CNTL_BASE=$base/new/base SCR_CACHE_BASE=$base/new/base scr_check_node --free"
check "a base that scr_check_node makes, with umask 0" 0 "755 755" sh -c "echo \$(stat -c %a '$base/new' '$base/new/base')"
fresh 755
chmod -t "$base"
check "a base without the sticky bit" 0 "" job 1
tell "a base without the sticky bit" "the base $base can be written by others (mode 0777).*chmod +t"
fresh 755
chgrp $group "$base" && chmod 2770 "$base"
check "a base of the group" 0 "" job 1
tell "a base of the group" "the base $base can be written by others (mode 2770).*chmod +t"
chmod +t "$base"
check "a sticky base of the group" 0 "" job 1
check "is no matter" 1 "0" grep -c "can be written by others" "$tmp/said"
fresh 755
rm -rf "$base" && mkdir -m 777 "$base" && chmod 1777 "$base"
umask 0
SCR_CNTL_BASE=$base/more SCR_CACHE_BASE=$base/more check "a base that is made, with umask 0" 0 "" job 1
umask 022
check "nobody else may write to it, nor to a record of the prefix" 0 "" find "$base/more" "$p/.scr" -perm -o+w ! -name 'rank_*'

# ---- a scavenge
fresh 2770
printf 'case $1 in 2) kill -9 $(cat pid.1) ;; esac\n' >>"$tmp/step"
SCR_FLUSH=0 job 3
scr_print_hash_file .scr/flush.scr >"$tmp/flush"
field() { sed -n "s/^ *$1 = //p" "$tmp/flush"; }
stage=scavenge.$(field ID).$(field CREATED).$(field NONCE)
they ln -s "$mail" ".scr/$stage"
says "a link in place of a stage" 1 "$stage belongs to user .* move it away" as $mine scr_postrun
home_is_as_it_was "a link in place of a stage"
they rm ".scr/$stage"
they mkdir -m 777 ".scr/$stage"
they ln -s "$mail" ".scr/$stage/.scr"
says "a stage of somebody else" 1 "$stage belongs to user .* move it away" as $mine scr_postrun
home_is_as_it_was "a stage of somebody else"
chown $mine ".scr/$stage"
says "a stage that others can write to" 1 "others can write to .*$stage" as $mine scr_postrun
chmod 700 ".scr/$stage"
says "a link within a stage" 1 "$stage/.scr" as $mine scr_postrun
home_is_as_it_was "a link within a stage"
rm ".scr/$stage/.scr"
rmdir ".scr/$stage"
ln -s "$tmp" "$tmp/way"
they ln -s "$mail" step.1
for prefix in "$p" "$tmp/way/prefix"; do
  SCR_PREFIX=$prefix says "a link in place of what is saved below $prefix" 1 "step.1.*a link that is not followed" as $mine scr_postrun
  home_is_as_it_was "a link in place of what is saved below $prefix"
done
they rm step.1
check "without them" 0 - as $mine scr_postrun
check "all is saved" 0 "rank_0 rank_1 rank_2" sh -c "echo \$(ls '$p/step.1')"

fresh 2770
check "a run, whose dataset is complete" 0 "" job 1
as $mine sh -c 'umask 002; mkdir work; mkdir -m 700 work/private; echo "a thesis" >work/private/thesis'
scr_print_hash_file step.1/.scr/summary.scr >"$tmp/flush" 2>/dev/null || scr_print_hash_file .scr/scr.dataset.1/summary.scr >"$tmp/flush"
they mv work ".scr/scavenge.$(field ID | head -n 1).$(field CREATED | head -n 1).$(field NONCE | head -n 1)"
check "another directory in place of a stage that nobody needs" 0 - as $mine scr_postrun
check "stays" 0 "a thesis" sh -c "cat .scr/scavenge.*/private/thesis"

check "their forger builds" 0 "" ${CC:-cc} -O0 -Wall -Werror -o "$tmp/bin/forge" "$top/tests/tools/forge.c" -lz
fresh 2770
chmod 600 "$mail/letter"
check "a run, for its records" 0 "" job 1
they forge "$p" 77 "$(stat -c %s "$mail/letter")" "$mail"
says "a forged stage" 0 "belongs to user .*, and only that user can go on with a scavenge that .* move it away" as $mine scr_postrun
find .scr/scavenge.77.* ! -type l -exec chown $mine {} + -exec chmod go-w {} + # as if it were not forged
says "a forged stage that leads to a letter" 0 "letters/letter: it is, or lies behind, a link" as $mine scr_postrun
check "nothing of the letter is on the prefix" 1 "" grep -r precious "$p"

# ---- maps that name files of others
check "another forger builds" 0 "" ${CC:-cc} -O0 -Wall -Werror -o "$tmp/bin/forge_map" "$top/tests/tools/forge_map.c" -lz
forged() { # HOW
  fresh 2770
  mkdir -m 700 private && echo "a thesis" >private/thesis && chown -R $mine private
  check "a run, for a map" 0 "" job 1
  they forge_map "$p" private/thesis 9 "$1"
}
forged deleted
check "a forged deletion stops no run" 0 "" job 2
tell "a forged deletion" "private/thesis belongs to user .*, and the rank2file map that names it to user"
check "a forged deletion: the file is there" 0 "a thesis" cat private/thesis
forged renaming
check "a forged renaming, of what a killed flush has left" 0 "" cp -p private/thesis private/thesis.scr77.tmp
echo "half a" >>private/thesis.scr77.tmp
check "a forged renaming stops no run" 0 "" job 2
check "a forged renaming: the file is as it was" 0 "a thesis" cat private/thesis
forged packed
says "a forged container" 1 "private/thesis belongs to user .*, and the rank2file map" as $mine scr_index --extract forged --into "$p/out"
check "a forged container: nothing is copied" 0 "" find "$p" -path '*copy'
for copy in forged/.scrconf .config/start forged/look; do
  fresh 2770
  check "a run, for a map" 0 "" job 1
  they sh -c 'umask 0; echo settings >settings'
  COPY=$copy they forge_map "$p" settings 9 packed
  as $mine mkdir "$tmp/home/look"
  case $copy in
  *look) check "what another user names is extracted" 0 - as $mine scr_index --extract forged --into "$tmp/home/look" ;;
  *) says "but not as settings: $copy" 1 "$copy would be a hidden file of yours" as $mine scr_index --extract forged --into "$tmp/home/look" ;;
  esac
done
check "the file that is extracted" 0 settings cat "$tmp/home/look/forged/look"
fresh 2770
check "a run, whose maps nobody else may change" 0 "" job 1
check "its maps have no right for others to write" 0 "" find step.1/.scr -name 'rank2file*' -perm /022
check "its maps can be read by the group" 0 "" find step.1/.scr -name 'rank2file*' ! -perm -040
check "it has maps" 0 2 sh -c 'ls step.1/.scr/rank2file* | wc -l'

# ---- an output that another user has scavenged, the only copy there is
fresh 2770
check "a run, after an output" 0 "" job 3
they forge "$p" 1 9 "$tmp/nowhere" output
for who in $mine root; do
  check "a newer checkpoint is saved, by $who" 0 - as $who scr_postrun
  check "a stage that $who cannot look into stays" 0 "letters" sh -c 'ls .scr/scavenge.1.*'
done

# ---- the log
fresh 2770
SCR_LOG_ENABLE=1 check "a run, for its log" 0 "" job 1
they sh -c 'truncate -s 4T .scr/log && echo >>.scr/log && echo >>.scr/log && echo "2030-01-01T00:00:00: host=a, jobid=57, event=START, procs=3, nodes=3" >>.scr/log'
says "a log of four terabytes" 0 "has more than .* bytes; only what stands at its end counts" as $mine timeout 60 scr_report
fresh 2770
SCR_LOG_ENABLE=1 check "a run, for its log" 0 "" job 1
as $theirs flock .scr/log sleep 600 &
sleep 0.5
SCR_LOG_ENABLE=1 check "a lock of the log that is never free is waited for once" 0 "" job 4
pkill -KILL -u $theirs

# ---- locks and files of .scr
fresh 2770
check "a run, for its files" 0 "" job 1
as $theirs sh -c 'umask 0; cd .scr && : >nodes.scr.lock && touch nodes.scr.host.1.1.tmp nodes.scr.host.2.1.tmp'
as $theirs flock .scr/nodes.scr.lock sleep 600 &
sleep 0.5
started=$(date +%s)
check "temporary files whose lock is never free" 0 "" job 2
check "they are not waited for" 0 "" test $(($(date +%s) - started)) -lt 25
pkill -KILL -u $theirs
for f in prefix.scr flush.scr; do
  they rm .scr/$f
  they python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' .scr/$f
done
check "sockets in place of records" 0 "" job 1
tell "sockets in place of records" "prefix.scr is not a plain file"
check "a new record is in the place of one" 0 "regular file" stat -c %F .scr/flush.scr
they rm .scr/halt.scr.lock
they mkfifo -m 666 .scr/halt.scr.lock
says "a FIFO in place of a lock" 1 "the lock $p/.scr/halt.scr.lock is not a plain file" as $mine scr_halt --checkpoints 1 "$p"

# ---- what only its owner may read
cat >"$tmp/bare.c" <<END
#define SCR_SERIAL
#include "$top/scr_impl.c"
static void bare(scr_hash* h)
{
  scr_hash_elem* e;
  scr_hash_unset(h, "CRC");
  for (e = scr_hash_elem_first(h); e != NULL; e = scr_hash_elem_next(e))
    if (scr_hash_elem_hash(e) != NULL) bare(scr_hash_elem_hash(e));
}
int main(int argc, char** argv) /* FILE: a hash file loses its checksums of files */
{
  scr_hash* h = scr_hash_new();
  int       rc = scr_hash_file_read(argv[argc - 1], h);
  umask(0);
  bare(h);
  return rc == SCR_SUCCESS ? scr_hash_file_write(argv[1], h) : rc;
}
END
check "their program that takes checksums away builds" 0 "" ${CC:-cc} -O0 -o "$tmp/bin/bare" "$tmp/bare.c" -lz
secret() { as $mine sh -c "umask 077; head -c $1 /dev/zero | tr '\\0' S >'$2'"; }
for kind in link move; do
  fresh 2770
  SCR_USE_CONTAINERS=1 check "a run with containers" 0 "" job 1
  chmod -R g+w step.1
  they bare "$p/step.1/.scr/rank2file.0.0.scr"
  if [ $kind = link ]; then
    secret 3006 "$tmp/home/secret"
    they ln -sf "$tmp/home/secret" step.1/.scr/ctr.0.scr
    says "a link in place of a container" 1 "ctr.0.scr: it is, or lies behind, a link" as $mine scr_index --extract step.1 rank_0 --into out
    check "nothing behind the link is on the prefix" 1 "" grep -r SSSS "$p"
  else
    secret 3006 key
    they mv -f key step.1/.scr/ctr.0.scr
    says "a private file in place of a container" 1 "ctr.0.scr belongs to user .*, and the rank2file map" as $mine scr_index --extract step.1 rank_0 --into out
    chown $mine step.1/.scr/rank2file.0.0.scr # as if the map were not forged
    check "a private file in place of a container, by a map of its owner" 0 - as $mine scr_index --extract step.1 rank_0 --into out
    check "what is extracted is as private" 0 600 stat -c %a out/step.1/rank_0
  fi
done
fresh 2770
check "a run, for its records" 0 "" job 1
secret 333 key
they forge "$p" 77 333 key
find .scr/scavenge.77.* -exec chown $mine {} + -exec chmod go-w {} +
check "a private file in a stage" 0 - as $mine scr_postrun
check "packed, it is as private" 0 600 stat -c %a letters/.scr/ctr.0.scr

# A container is made with the rights that all files in it give, before it has a byte.
for mask in 077 022; do
  fresh 2770
  SCR_USE_CONTAINERS=1 check "umask $mask: a run with containers" 0 "" masked $mask
  check "umask $mask: the rights of the container" 0 $(printf %o $((0666 & ~0$mask))) stat -c %a step.1/.scr/ctr.0.scr
done

# Files that lie in containers with other rights than the first are as private as the most private one.
fresh 2770
BYTES=9000 SCR_USE_CONTAINERS=1 SCR_CONTAINER_SIZE=4K check "a run with small containers" 0 "" job 1
chmod 644 step.1/.scr/ctr.*.scr && chmod 600 step.1/.scr/ctr.1.scr
check "containers of different rights: extracted" 0 - as $mine scr_index --extract step.1 --into out
they ln -s "$mail" away
says "a link of theirs on the way to where files are extracted" 1 "link" as $mine scr_index --extract step.1 --into away/look
home_is_as_it_was "a link of theirs on the way"
check "containers of different rights: the files" 0 "600 644 644" sh -c "echo \$(stat -c %a out/step.1/rank_* | sort)"
rm -rf "$base" && mkdir -m 1777 "$base"
BYTES=9000 check "containers of different rights: a restart" 0 "" job 2
tell "containers of different rights: a restart" "step.1"

# ---- scr_test_system, whose directory below the prefix can be guessed
fresh 2770
cat >"$tmp/flood.sh" <<'END'
d=()
for second in $(seq $(date +%s) $(($(date +%s) + 2))); do
  for process in $(seq $BASHPID $((BASHPID + 150))); do printf -v x "%s/scr_test_system.%x.%x" "$1" $second $process; d+=("$x"); done
done
mkdir -m 777 "${d[@]}"
END
they bash "$tmp/flood.sh" "$p"
says "scr_test_system in a directory that is there" 2 "cannot make the directory $p/scr_test_system" as $mine scr_test_system --size 100KB

# ---- another user has taken the name of what a restart cuts off a tracked file, in a directory of root
fresh 755
mkdir -m 1777 logs
TRACKED=logs/series check "a run that tracks a file" 0 "" job 1
as $mine sh -c 'echo more >>logs/series'
they sh -c 'echo theirs >logs/series.scr-cut'
TRACKED=logs/series check "a restart that cuts a file" 0 "" job 2
tell "a restart that cuts a file" "what followed is in $p/logs/series.scr-cut.[0-9a-f]"
check "what was cut off" 0 "more" sh -c 'cat logs/series.scr-cut.????????????????'
check "the tracked file" 0 "step 1 step 2" sh -c 'echo $(cat logs/series)'

# ---- cases of the MPI suite that depend on who the user is, by one who is not root
mkdir "$tmp/src" "$tmp/src/tools" && cp -r "$top/scr.h" "$top/scr_impl.c" "$top/tests" "$tmp/src/" && cp -r "$top"/tools/*.[ch] "$top/tools/image" "$tmp/src/tools/"
mkdir -m 777 "$tmp/runs"
suite() { as $mine env -u SCR_PREFIX -u SCR_CNTL_BASE -u SCR_CACHE_BASE -u SCR_JOB_ID -u SCR_FLUSH -u SCR_VIRTUAL_NODES TMPDIR="$tmp/runs" \
  MPICC="$MPICC" MPIEXEC="$MPIEXEC" CC="${CC:-cc}" BIN="$tmp/bin" TEST_COUNTS=4 bash "$tmp/src/tests/mpi/mpi.sh" check "$@"; }
says "tracked files of a user who is not root" 0 "^[1-9][0-9]* passed, 0 failed, 0 skipped" suite tracked restarts_cut

# ---- where it extracts to
fresh 2770
check "a run, for its files" 0 "" job 1
rm -rf "$tmp/group" && mkdir "$tmp/group" && chown $mine:$group "$tmp/group" && chmod 2770 "$tmp/group"
extract() { as $mine scr_index --extract step.1 --into "$tmp/group/$1"; }
they ln -s "$mail" "$tmp/group/out"
says "a link in place of what is extracted to" 1 "group/out: it is, or lies behind, a link" extract out
check "a directory that is not there yet" 0 - extract new/out
check "it has the files" 0 "rank_0 rank_1 rank_2" sh -c "echo \$(ls '$tmp/group/new/out/step.1')"
they mv "$tmp/group/out" "$tmp/group/away"
as $theirs "$tmp/bin/swap" "$tmp/group/out" "$tmp/group/away" "$tmp/group/aside" 2>/dev/null &
for _ in $(seq 40); do
  extract out >"$tmp/said" 2>&1
  rm -rf "$tmp/group/out" "$tmp/group/aside" 2>/dev/null
  [ -e "$tmp/group/away" ] || as $theirs ln -s "$mail" "$tmp/group/away" 2>/dev/null
done
pkill -KILL -u $theirs
wait $!
home_is_as_it_was "links in place of what is extracted to"
rm -rf "$tmp/group"

# ---- the prefix itself
# In a directory of the group, they rename the prefix during step 2, and put a link to the mail in its place.
fresh 2770
mkdir "$tmp/group" && chown $mine:$group "$tmp/group" && chmod 2770 "$tmp/group"
as $mine mkdir "$tmp/group/run"
printf '[ $1 != 2 ] || { touch here; for i in $(seq 100); do [ -e %s/done ] || sleep 0.1; done; }\n' "$tmp/group" >>"$tmp/step"
(
  for _ in $(seq 300); do [ -e "$p/here" ] || sleep 0.1; done
  they mv "$tmp/group/run" "$tmp/group/gone"
  they ln -s "$mail" "$tmp/group/run"
  they touch "$tmp/group/done"
) &
SCR_PREFIX=$tmp/group/run job 3
wait $!
check "the prefix is replaced by a link during a run" 0 "" test -L "$tmp/group/run"
home_is_as_it_was "the prefix is replaced by a link during a run"
tell "the prefix is replaced by a link during a run" "another directory has the name of the prefix now"
check "what was on it is there" 0 "rank_0 rank_1 rank_2" sh -c "echo \$(ls '$tmp/group/gone/step.1')"
rm -rf "$tmp/group"

# ---- files of theirs in a sticky directory, whose names my checkpoints have, too
fresh 2770
job_of $theirs 2
complete() { echo $(scr_index -p "$p" --list | sed -n 's/.* YES .* //p' | sort); }
rm -f pid.*
they chmod 3775 step.1 step.2
SCR_FRESH_START=1 SCR_CACHE_SIZE=3 job 2
tell "my checkpoints cannot replace them" "step.1/rank_. belongs to user .*, and cannot be replaced by a file of dataset .*chmod -t it"
check "my checkpoints cannot replace them: these stay" 0 "step.1 step.2" complete
they chmod -t step.1 step.2
check "the remedy" 0 "" job 3
check "after it" 0 "step.1 step.2 step.3" complete

# ---- a umask that would take .scr from the user who makes it, and one whose owner cannot use it
fresh 755
chown $mine:$mine "$p"
check "umask 0177" 0 - as $mine sh -c 'umask 0177 && exec scr_halt --create "$SCR_PREFIX"'
check "umask 0177: the next command" 0 - as $mine scr_halt --create "$p"
check "no right to use .scr" 0 "" as $mine chmod 0600 "$p/.scr"
says "no right to use .scr: the reason" 1 "/.scr takes rights from you, its owner (mode 0600).*chmod u+rwx it" as $mine scr_halt --create "$p"
check "no right to use .scr: the remedy" 0 "" as $mine chmod u+rwx "$p/.scr"
check "no right to use .scr: after it" 0 - as $mine scr_halt --create "$p"

# ---- root uses the prefix, too: before the first run, between two, and what it left there in older days
root() { (umask 077 && exec "$@" >"$tmp/said" 2>&1); }
owners() { find "$p/.scr" ! -user $mine -printf '%P belongs to %u\n'; }
fresh 755
chown $mine:$mine "$p"
check "root asks for a halt before the first run" 0 "" root scr_halt --create --checkpoints 2 "$p"
check "what root made belongs to the owner of the prefix" 0 "" owners
job 6
check "the run finds the halt and stops" 0 1 grep -c "^step .: checkpoint" "$tmp/said"
check "root lets it run again, and edits the index" 0 "" root sh -c "scr_halt --remove '$p' && scr_index -p '$p' --current step.1"
check "what root edited belongs to the owner of the prefix" 0 "" owners
check "the next run goes on" 0 - job 3
tell "the next run goes on" "^step 3: checkpoint"
chown root "$p/.scr/index.scr.lock" && chmod 600 "$p/.scr/index.scr.lock"
says "a lock of root's" 1 "index.scr.lock, which belongs to user 0, in a directory of yours; remove it" as $mine scr_index -p "$p" --current step.1
check "the remedy" 0 "" as $mine rm -f "$p/.scr/index.scr.lock"
check "after it" 0 - as $mine scr_index -p "$p" --current step.1

# ---- a base is emptied or removed while a job runs, and they make a link there to another cache of mine
second() { SCR_PREFIX=$tmp/prefix2 SCR_CNTL_BASE=$tmp/base2 SCR_CACHE_BASE=$tmp/base2 SCR_FLUSH=0 job "$1"; }
of_second() { find "$tmp/base2" -type f ! -name '*.lock' -exec cksum {} + | sort; }
awaits() { for i in $(seq 1000); do [ ! "$@" ] || return 0; sleep 0.02; done; } # for 20 seconds
# stolen WHAT BASE GONE TARGET: a job with the base BASE, in the midst of which GONE is removed, and a link to TARGET
stolen() {
  local what="a link in place of $1" gone=$3 target=$4
  rm -rf "$tmp/prefix2" "$tmp/base2" && mkdir "$tmp/prefix2" && mkdir -m 1777 "$tmp/base2" && chown $mine "$tmp/prefix2"
  chmod 1777 "$tmp/base2" # whatever the umask
  check "$what: a second job" 0 "" second 3
  of_second >"$tmp/was"
  printf '#!/bin/bash\n%s\n[ "$1" != 3 ] || { rm -rf "%s"; : >"%s"; awaits -L "%s"; }\n' "$(declare -f awaits)" \
    "$gone" "$tmp/home/emptied" "$gone" >"$tmp/step"
  (awaits -e "$tmp/home/emptied" && they ln -sT "$target" "$gone") &
  SCR_CNTL_BASE=$2 SCR_CACHE_BASE=$2 SCR_FLUSH=0 check "$what: the job ends" 0 "" job 5
  wait $!
  tell "$what" "$gone/.* it is, or lies behind, a link that is not followed"
  check "$what: checkpoints fail" 0 3 grep -c "^step [345]: checkpoint failed" "$tmp/said"
  of_second >"$tmp/is"
  check "$what: the other cache" 0 "" cmp "$tmp/was" "$tmp/is"
  printf '#!/bin/sh\n' >"$tmp/step"
  check "$what: the other job" 0 "" second 4
  check "$what: it restarts" 0 "restarted from step.3" grep restarted "$tmp/said"
}
fresh 755
stolen "a cache that was removed" "$base" "$base/$mine" "$tmp/base2/$mine"
fresh 755
as $mine mkdir "$base/mine"
stolen "a base that was removed" "$base/mine" "$base/mine" "$tmp/base2"
fresh 1777
chown 0:0 "$p"
stolen "a base in the prefix that was removed" "$p/cache" "$p/cache" "$tmp/base2"

# ---- bases that lie in one another, and are not there yet
fresh 755
SCR_CNTL_BASE=$base/one/cntl SCR_CACHE_BASE=$base/one check "a base in a base, both missing" 0 "" job 1
SCR_CNTL_BASE=$base/two SCR_CACHE_BASE=$base/two/cache check "a base in a base, both missing, the other way" 0 "" job 1
they mkdir -m 777 "$base/theirs"
as $mine ln -s theirs "$base/link"
as $mine mkdir "$base/theirs/p"
SCR_PREFIX=$base/link/p check "a prefix in a base, behind a link of the user's own" 0 "" job 2
check "a prefix in a base, behind a link of the user's own: its checkpoint" 0 "" test -f "$base/theirs/p/step.2/rank_2"

# ---- while it flushes
# swapped WHAT SETTING...: a job flushes while what the array args says (DIRECTORY LINK ASIDE...) is swapped again and again
swapped() {
  local what="$1 are swapped while a job flushes (${*:2})"
  as $theirs "$tmp/bin/swap" "${args[@]}" 2>/dev/null &
  swaps=$!
  as $mine env "${@:2}" timeout -k 5 90 $MPIEXEC -n 3 "$tmp/bin/job" 6 >"$tmp/said" 2>&1
  check "$what: it goes on" 0 1 grep -c "^step 6: checkpoint" "$tmp/said"
  pkill -KILL -u $theirs
  wait $swaps
  home_is_as_it_was "$what"
}
for setting in SCR_USE_CONTAINERS=0 SCR_USE_CONTAINERS=1; do
  fresh 2770
  args=()
  for s in 1 2 3 4 5 6; do
    they mkdir -m 777 step.$s
    they ln -s "$mail" away.$s
    args+=("$p/step.$s" "$p/away.$s" "$p/aside.$s")
  done
  swapped directories SCR_PREFIX_SIZE=1 $setting
done
for setting in SCR_RANK2FILE_SIZE=1 SCR_FLUSH_ASYNC=1; do
  fresh 2770
  args=()
  for s in 1 2 3 4 5 6; do
    they mkdir -m 777 step.$s
    they ln -s "$mail" step.$s/away
    args+=("$p/step.$s/.scr" "$p/step.$s/away" "$p/step.$s/aside")
  done
  swapped "directories of metadata" SCR_USE_CONTAINERS=1 $setting
done
finish
