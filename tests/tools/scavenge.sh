#!/bin/bash
# Scavenge what killed runs over virtual nodes leave in their caches; every file on the prefix is compared with that of an
# undisturbed run.  BIN is the directory of the commands.
#
#   scavenge.sh [check|full|long]      last line: N passed, N failed, N skipped
#
# shellcheck disable=SC2015,SC2046,SC2086
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
BIN=$(cd "${BIN:-$top/tools}" && pwd)
mode=${1:-check}
for v in $(env | sed -n 's/^\(\(SCR\|SLURM\|PBS\|LSB\|FLUX\)_[A-Z_]*\)=.*/\1/p'); do unset "$v"; done
. "$top/tests/tools/check.sh"
host=$(hostname)
heat=$top/examples/heat2d
. "$top/tests/find_mpi.sh"
if [ ! -x "$heat" ]; then
  skipped=1
  echo "skipped: examples/heat2d is not here"
  finish
  exit
fi

yields
p="$tmp/a prefix" # with a blank
export "SCR_PREFIX=$p" "SCR_CNTL_BASE=$tmp/base" "SCR_CACHE_BASE=$tmp/base" SCR_USER_NAME=me SCR_JOB_ID=7
job=$tmp/base/me/scr.7
size="--nx 200 --ny 200 --interval 100"
run() { # options of heat2d: 4 ranks on 4 nodes
  mkdir -p "$p" && (cd "$p" && SCR_VIRTUAL_NODES=4 timeout -k 5 60 $MPIEXEC -n ${RANKS:-4} "$heat" $size "$@") >"$tmp/log" 2>&1
}
node() { echo "$job/node.$host-v$1"; }
lose() { for n in "$@"; do rm -rf "$(node "$n")"; done; }

# killed SETTING...: a run with these settings is killed in its checkpoint 4; checkpoint 3 is whole in the caches.  The
# result of each setting is kept, and put back the next time.
killed() {
  rm -rf "$p" "$tmp/base"
  kept=$tmp/kept/$(printf '%s' "$*" | tr ' /' '__')
  if [ ! -d "$kept" ]; then
    env "$@" bash -c "$(declare -f run); p='$p'; tmp='$tmp'; heat='$heat'; size='$size'; MPIEXEC='$MPIEXEC'; run --steps 600 --kill-at 350"
    grep -q 'half of each checkpoint file is written' "$tmp/log" || { echo "the run was not killed as it should be:" && cat "$tmp/log"; }
    mkdir -p "$kept" && cp -a "$p" "$kept/prefix" && cp -a "$tmp/base" "$kept/base"
  else
    cp -a "$kept/prefix" "$p" && cp -a "$kept/base" "$tmp/base"
  fi
}
printf 'CKPT=0 INTERVAL=1 TYPE=XOR\nCKPT=1 INTERVAL=2 TYPE=XOR BYPASS=1\n' >"$tmp/every.other"
same() { # DIRECTORY STEP: the files of the checkpoint there are those of the undisturbed run
  for r in 0 1 2 3; do cmp "$tmp/calm/heat.$2/rank_$r.heat" "$1/rank_$r.heat" || return; done
}
newest() { "$BIN/scr_index" --prefix "$p" --list | sed -n 's/^\*.* //p'; } # the checkpoint of the index to restart from
gone() { for f in "$@"; do [ ! -e "$f" ] || { echo "$f is there" && return 1; }; done; }
left() { find "$p" -name '*.tmp' -o -name 'scavenge.*'; } # what a scavenge should not leave
whole() { # WHAT: checkpoint 3 is on the prefix, and nothing else is left
  check "$1: its bytes" 0 "" same "$p/heat.300" 300
  check "$1: the index" 0 heat.300 newest
  check "$1: nothing is left" 0 "" left
  says "$1: the flush file" 0 PFS "$BIN/scr_flush_file" --dir "$p" --location 3
}
scavenge="$BIN/scr_scavenge"

# the undisturbed run: its checkpoints, and its answer
answer() { sed -n 's/^heat2d: step .* crc32 \(0x[0-9a-f]*\) .*/\1/p' "$tmp/log"; }
SCR_FLUSH=1 run --steps 600
calm=$(answer)
cp -a "$p" "$tmp/calm"
check "an undisturbed run" 0 "" test -n "$calm" -a -f "$tmp/calm/heat.300/rank_3.heat"
export SCR_FLUSH=0

# a prefix that a run uses; the result is looked at when the time for its lock is over.  It is no job of this shell: %% is
# one that is killed, and would be this one if that has ended already.
mkdir -p "$tmp/busy/.scr"
{
  flock "$tmp/busy/.scr/run.lock" $scavenge -i 3 -t "$tmp/busy" >"$tmp/busy/log" 2>&1
  : >"$tmp/busy/ended"
} &
disown

# ---- the caches are cleaned only of what the prefix has
clean="$BIN/scr_clean"
killed SCR_COPY_TYPE=XOR
says "clean, the newest checkpoint is not on the prefix" 1 "the cache is kept: the prefix lacks dataset 3" $clean
$scavenge >"$tmp/out" 2>&1
check "clean, what was kept can be saved: its bytes" 0 "" same "$p/heat.300" 300
printf X | dd of="$(node 3)/filemap_0.scrinfo" bs=1 seek=200 conv=notrunc 2>"$tmp/stderr"
says "clean, a node whose list cannot be read keeps its files" 1 "v3: .*filemap_0.scrinfo" $clean
check "clean, it has them" 0 "" test -d "$(node 3)/scr.dataset.3"
check "clean, the others have none" 0 "" sh -c '! ls -d "$1"/*/scr.dataset.*' sh "$(node 0)"
killed SCR_COPY_TYPE=XOR
$scavenge >"$tmp/out" 2>&1
says "clean" 0 "v2: the cache is empty" $clean --verbose
check "clean, nothing is left" 0 "" find "$tmp/base" -name 'scr.dataset.*' -o -name 'rank_*'
check "clean, the flush file" 1 "" "$BIN/scr_flush_file" --dir "$p" --list
run --steps 600
check "clean, the next run, of the same job, restarts from the prefix: the answer" 0 "$calm" answer
says "clean, and from where" 0 "restarted from heat.300" cat "$tmp/log"
killed SCR_COPY_TYPE=XOR SCR_FLUSH=2
says "clean, an older checkpoint on the prefix is not enough" 1 "the prefix lacks dataset 3" $clean
says "index, a newer checkpoint is in the cache" 0 "^The last run has left a newer checkpoint in the cache, 3, heat.300; a run that can use that cache" "$BIN/scr_index" --list
says "index, the one to be deleted is not what the next run restarts from" 1 "if it cannot use the cache, which has the newer 3" "$BIN/scr_index" --delete heat.200
mkdir -p "$tmp/other/.scr" && cp "$p/.scr/nodes.scr" "$tmp/other/.scr"
says "clean, a cache of another prefix" 1 "is the cache of the prefix $p, not of $tmp/other" $clean -p "$tmp/other"
rm -rf "$tmp/other"
says "clean, an argument" 1 "Usage" $clean 3

# ---- others have removed files of what the index has
for gone in heat.300 heat.300/rank_1.heat heat.300/.scr; do
  killed SCR_COPY_TYPE=XOR SCR_FLUSH=1
  rm -r "${p:?}/$gone"
  says "$gone is gone, clean, here" 1 "the cache is kept: the prefix lacks dataset 3" $clean --here
  says "$gone is gone, clean" 1 "the cache is kept: the prefix lacks dataset 3" $clean
  check "$gone is gone, all nodes keep theirs" 0 4 sh -c 'ls -d "$1"/*/scr.dataset.3 | wc -l' sh "${job:?}"
  says "$gone is gone, postrun" 0 "the newest checkpoint on the prefix is 3, heat.300" "$BIN/scr_postrun"
  whole "$gone is gone"
  check "$gone is gone, clean again" 0 "" $clean
done
# Metadata of what the caches still have are damaged: another directory has new ones, and the index has it there alone.
for damaged in summary.scr rank2file.0.0.scr; do
  for saver in "postrun $BIN/scr_postrun" "run run --steps 310"; do
    killed SCR_COPY_TYPE=XOR SCR_FLUSH=1
    check "$damaged is damaged: the user's choice" 0 - "$BIN/scr_index" --current heat.300
    printf X | dd of="$p/heat.300/.scr/$damaged" bs=1 seek=60 conv=notrunc 2>"$tmp/stderr"
    SCR_FLUSH=1 check "$damaged is damaged: ${saver%% *}" 0 - ${saver#* }
    check "$damaged is damaged: it is chosen, and listed once" 0 "heat.300 1" sh -c 'echo "$1 $(grep -c heat.300)"' sh "$(newest)" \
      < <("$BIN/scr_index" --list)
    lose 0 1 2 3
    run --steps 600
    check "$damaged was damaged: the answer" 0 "$calm" answer
    says "$damaged was damaged: from where" 0 "restarted from heat.300" cat "$tmp/log"
  done
done
killed SCR_COPY_TYPE=XOR SCR_FLUSH=1 SCR_CACHE_SIZE=3 SCR_CACHE_KEEP=1
rm -r "$p/.scr/index.scr" "$p/heat.200"
check "the index is gone: what a scavenge of an older one leaves" 0 - "$BIN/scr_scavenge" --id 2
says "the index is gone: it has the newer one" 0 "3, heat.300" "$BIN/scr_postrun"
rm "$p/.scr/index.scr"
check "the index is gone: one is added" 0 - "$BIN/scr_index" --add heat.200
says "the index is gone: all are there" 0 "the newest checkpoint on the prefix is 3, heat.300" "$BIN/scr_postrun"
killed SCR_COPY_TYPE=XOR SCR_FLUSH=1
echo more >>"$p/heat.300/rank_1.heat"
says "a file has grown, clean" 1 "the cache is kept: the prefix lacks dataset 3" $clean
says "a file has grown, postrun" 0 "the newest checkpoint on the prefix is 3, heat.300" "$BIN/scr_postrun"
whole "a file has grown"
killed SCR_COPY_TYPE=XOR SCR_FLUSH=1
rm -r "${p:?}/heat.300" "$tmp/base"
says "what is gone everywhere, postrun" 1 "the prefix has lost files of checkpoint 3, heat.300" "$BIN/scr_postrun"
says "what is gone everywhere, what is left" 1 "the newest checkpoint on the prefix is 2, heat.200" "$BIN/scr_postrun"

# ---- each scheme, with what it survives and what it does not
killed SCR_COPY_TYPE=XOR
says "nothing is lost" 0 "dataset 3 is in $p/heat.300" $scavenge
whole "nothing is lost"
says "again" 0 "on the prefix already" $scavenge
echo damaged >"$p/heat.300/rank_1.heat"
check "damaged on the prefix" 0 - "$BIN/scr_index" --drop heat.300
says "damaged on the prefix: again after a drop" 0 "the newest checkpoint on the prefix is 3, heat.300" "$BIN/scr_postrun"
whole "damaged on the prefix"
SCR_JOB_ID=8 run --steps 600
check "the next job restarts from it, and has the answer" 0 "$calm" answer
says "the next job, from where" 0 "restarted from heat.300" cat "$tmp/log"
killed SCR_COPY_TYPE=XOR
lose 1
says "XOR, a node is lost" 0 "v1: cannot open the control directory" $scavenge
whole "XOR, a node is lost"
killed SCR_COPY_TYPE=XOR
lose 1 3
says "XOR, two nodes are lost" 1 "files of the ranks 1,3 are missing, all in one XOR set of 4 ranks; the files of 1 of these ranks would" $scavenge
says "XOR, two nodes are lost, in short" 1 "files of 2 of its 4 ranks are missing" $scavenge
check "XOR, two nodes are lost: not in the index" 0 "" newest
check "XOR, two nodes are lost: no file in its place" 0 "" gone "$p/heat.300"
cp -a "$tmp/kept/SCR_COPY_TYPE=XOR/base/me/scr.7/node.$host-v3" "$job/"
rm -rf "$(node 0)" # the copy of its files stays
says "XOR, one of the two comes back" 0 "is in $p/heat.300" $scavenge
whole "XOR, one of the two comes back"
killed SCR_COPY_TYPE=PARTNER
lose 0 2
says "PARTNER, two nodes that are no neighbours" 0 "is in" $scavenge
whole "PARTNER, two nodes that are no neighbours"
killed SCR_COPY_TYPE=PARTNER
lose 0 3
says "PARTNER, two neighbours" 1 "ranks 0,3 are missing, all in one PARTNER set of 4 ranks; the files of 1 of these ranks would" $scavenge
killed SCR_COPY_TYPE=PARTNER
lose 1 2 3
says "PARTNER, three neighbours" 1 "ranks 1,2,3 are missing.*the files of 1 of these ranks" $scavenge
killed SCR_COPY_TYPE=RS SCR_SET_FAILURES=2
lose 0 1
says "RS, two nodes" 0 "is in" $scavenge
whole "RS, two nodes"
killed SCR_COPY_TYPE=RS SCR_SET_FAILURES=2
lose 0 1 2
says "RS, three nodes" 1 "ranks 0,1,2 are missing, all in one RS set of 4 ranks; the files of 1 of these ranks" $scavenge
lose 3
says "all nodes" 1 "the files of 1 of these ranks would have been enough" $scavenge
killed SCR_COPY_TYPE=SINGLE
lose 0 2
says "SINGLE, two nodes" 1 "files of the ranks 0,2 are missing, and nothing was found that protects them" $scavenge
killed SCR_COPY_TYPE=SINGLE
says "SINGLE, nothing is lost" 0 "is in" $scavenge
whole "SINGLE, nothing is lost"
killed SCR_COPY_TYPE=XOR
rm -rf "$tmp/base"
says "nothing is left of any node" 1 "no files of dataset 3 could be copied from the caches" $scavenge

# ---- damage in the caches
file() { echo "$(node "$1")/scr.dataset.3/heat.300/rank_$1.heat"; }
killed SCR_COPY_TYPE=XOR
printf X | dd of="$(file 2)" bs=1 seek=70000 conv=notrunc 2>"$tmp/stderr"
says "a byte is wrong" 0 "rank_2.heat.* was corrupted in the cache\|CRC" $scavenge
whole "a byte is wrong"
killed SCR_COPY_TYPE=XOR
truncate -s 1000 "$(file 0)"
says "a file is cut short" 0 "has 1000 bytes instead of" $scavenge
whole "a file is cut short"
killed SCR_COPY_TYPE=XOR
rm "$(file 1)" && mkfifo "$(file 1)"
says "a FIFO is in the place of a file" 0 "is not a plain file" $scavenge
whole "a FIFO is in the place of a file"
killed SCR_COPY_TYPE=XOR
printf X | dd of="$(node 3)/filemap_0.scrinfo" bs=1 seek=200 conv=notrunc 2>"$tmp/stderr"
says "a filemap is damaged" 0 "v3: .*filemap_0.scrinfo" $scavenge
whole "a filemap is damaged"
# as a start leaves them that is killed while entries change hands, or of which a rank has none
killed SCR_COPY_TYPE=SINGLE
mv "$(node 2)/filemap_0.scrinfo" "$(node 2)/filemap_all.scrinfo"
says "a filemap that the list of them lacks: clean keeps the cache" 1 "the cache is kept: the prefix lacks dataset 3" $clean
check "a filemap that the list of them lacks" 0 - $scavenge
whole "a filemap that the list of them lacks"
killed SCR_COPY_TYPE=XOR
lose 1
red=$(echo "$(node 2)"/scr.dataset.3/.scr/*.xor)
truncate -s 100 "$red"
says "a node is lost, and a redundancy file is damaged" 1 "files of the ranks 1 are missing\|cannot be rebuilt" $scavenge
check "a node is lost, and a redundancy file is damaged: not in the index" 0 "" newest
killed SCR_COPY_TYPE=XOR
printf X | dd of="$p/.scr/flush.scr" bs=1 seek=60 conv=notrunc 2>"$tmp/stderr"
says "the flush file is damaged" 1 "flush.scr" $scavenge
says "the flush file is damaged, by id" 0 "is in" $scavenge --id 3
check "the flush file is damaged: its bytes" 0 "" same "$p/heat.300" 300
killed SCR_COPY_TYPE=XOR
rm "$p/.scr/nodes.scr"
check "the nodes file is missing" 0 - $scavenge --from "$job" --jobset "$host"
check "the nodes file is missing: its bytes" 0 "" same "$p/heat.300" 300

# a start of another job, which cannot reach the checkpoint, and has none of its own when it ends
killed SCR_COPY_TYPE=XOR
SCR_JOB_ID=8 run --steps 50
says "a later start in vain" 0 "^an earlier run had its files where the last one could not reach them" "$BIN/scr_postrun" -j 7
whole "a later start in vain"
SCR_JOB_ID=8 run --steps 600
check "after it is saved: the answer" 0 "$calm" answer
check "after it is saved: earlier nodes are forgotten" 0 "" sh -c '"$1" "$2/.scr/nodes.scr" | grep BEFORE; :' sh "$BIN/scr_print_hash_file" "$p"

# a prefix that was moved, and a start there that is refused
killed SCR_COPY_TYPE=XOR
was=$p
mv "$p" "$tmp/moved"
p=$tmp/moved
SCR_PREFIX=$p run --steps 50
says "a prefix that was moved: a start" 0 "this was written for the prefix $was, but here is $p" cat "$tmp/log"
SCR_PREFIX=$p says "a prefix that was moved: postrun" 0 "^an earlier run had its files" "$BIN/scr_postrun"
SCR_PREFIX=$p whole "a prefix that was moved"
rm -rf "$p"
p=$was

# ---- the forms of a dataset on the prefix
killed SCR_COPY_TYPE=XOR SCR_PRESERVE_DIRECTORIES=0
lose 2
says "without the user's directories" 0 "is in $p/scr.dataset.3" $scavenge
check "without the user's directories: its bytes" 0 "" same "$p/scr.dataset.3/heat.300" 300
SCR_JOB_ID=8 SCR_PRESERVE_DIRECTORIES=0 run --steps 600
check "without the user's directories: the answer" 0 "$calm" answer
killed SCR_COPY_TYPE=XOR SCR_USE_CONTAINERS=1
lose 0
says "containers" 0 "is in" env SCR_CONTAINER_SIZE=100000 $scavenge
check "containers: there are four" 0 4 sh -c 'ls "$1"/.scr/ctr.* | wc -l' sh "$p/heat.300"
check "containers: nothing is left" 0 "" left
check "containers: files" 0 - "$BIN/scr_index" --extract heat.300 --into "$tmp/extracted"
check "containers: their bytes" 0 "" same "$tmp/extracted/heat.300" 300
SCR_JOB_ID=8 run --steps 600
check "containers: the answer" 0 "$calm" answer
killed SCR_COPY_TYPE=XOR
other=/dev/shm
[ "$(stat -c %d /dev/shm)" != "$(stat -c %d "$tmp")" ] || other=/var/tmp
other=$(mktemp -d "$other/scr.XXXXXX") && ln -s "$other" "$p/heat.300"
check "the directory is on another file system" 0 - $scavenge
whole "the directory is on another file system"
rm -rf "$other"
killed SCR_COPY_TYPE=XOR
check "many leaves of the rank2file map" 0 - env SCR_RANK2FILE_SIZE=1 $scavenge
check "many leaves of the rank2file map: there are four" 0 4 sh -c 'ls "$1"/.scr/rank2file.0.*.scr | wc -l' sh "$p/heat.300"
SCR_JOB_ID=8 run --steps 600
check "many leaves of the rank2file map: the answer" 0 "$calm" answer

# ---- other nodes by the user's remote shell: v1 hangs, v2 does not answer
killed SCR_COPY_TYPE=RS SCR_SET_FAILURES=2
cat >"$tmp/rsh" <<RSH
#!/bin/sh
case \$1 in
*-v1) exec sleep 60 ;;
*-v2) echo "no route to host" >&2; exit 255 ;;
*) exec sh -c "\$2" ;;
esac
RSH
chmod +x "$tmp/rsh"
says "a node hangs" 0 "v1: no answer for 2 s" env SCR_REMOTE_SHELL="$tmp/rsh" $scavenge --timeout 2
whole "a node hangs"
killed SCR_COPY_TYPE=RS SCR_SET_FAILURES=2
says "a node does not answer" 0 "v2: no route to host" env SCR_REMOTE_SHELL="$tmp/rsh" $scavenge --down "$host-v1"
whole "a node does not answer"
killed SCR_COPY_TYPE=RS SCR_SET_FAILURES=2
says "some nodes only" 0 "copying from 2 nodes" env SCR_REMOTE_SHELL="$tmp/rsh" $scavenge --up "$host-v[0,3]"
whole "some nodes only"
killed SCR_COPY_TYPE=XOR
says "all nodes are down" 1 "all nodes of the run are down" $scavenge --down "$host-v[0-3]"

# ---- a dataset that was moved is in the index once
killed SCR_COPY_TYPE=XOR
$scavenge >"$tmp/out" 2>&1
"$BIN/scr_index" --current heat.300
mv "$p/heat.300" "$p/kept"
check "moved and added" 0 "     3 heat.300" "$BIN/scr_index" --add kept
check "moved and added: it is there once" 0 1 sh -c '"$1" --long | grep -c "3 checkpoint .* heat.300$"' sh "$BIN/scr_index"
says "moved and added: and loads" 0 "^\* *3 checkpoint *ok *YES .* heat.300$" "$BIN/scr_index" --long
says "moved and added: it is still the choice" 0 "CURRENT = kept" "$BIN/scr_print_hash_file" "$p/.scr/index.scr"
says "moved and added: postrun" 0 "the newest checkpoint on the prefix is 3, heat.300" "$BIN/scr_postrun"
check "moved and added: clean" 0 "" $clean
killed SCR_COPY_TYPE=XOR SCR_FLUSH=1
mv "$p/heat.300" "$tmp/elsewhere" && mkdir "$p/heat.300" && mv "$tmp/elsewhere/.scr" "$p/heat.300" && ln -s "$tmp/elsewhere"/* "$p/heat.300"
check "files behind links of the user: clean" 0 "" $clean
rm -r "$tmp/elsewhere"

# ---- nodes whose directories are full or read-only can be read
killed SCR_COPY_TYPE=XOR
printf '#!/bin/sh\nexec sh -c "$2"\n' >"$tmp/rsh"
full="env SCR_REMOTE_SHELL=$tmp/rsh SCR_NODELIST=$host-v[0-3] SCR_CACHE_BASE=/proc/none"
says "a base that cannot be written, for a run" 1 "$host-v\[0-3\]" $full "$BIN/scr_list_down_nodes"
check "a base that cannot be written, to be reached" 0 "" $full "$BIN/scr_list_down_nodes" --reach
says "a base that cannot be written, postrun" 0 "the newest checkpoint on the prefix is 3, heat.300" $full "$BIN/scr_postrun"
whole "a base that cannot be written"

# ---- what a run records while it still lives is saved
for save in "$BIN/scr_postrun" $scavenge; do
  killed SCR_COPY_TYPE=XOR
  mv "$p/.scr/flush.scr" "$tmp/flush.scr"
  flock "$p/.scr/run.lock" sh -c 'sleep 1.5; mv "$1" "$2"' sh "$tmp/flush.scr" "$p/.scr" &
  until [ -e "$p/.scr/run.lock" ] && ! flock -n "$p/.scr/run.lock" true; do sleep 0.02; done
  check "a run that still lives, ${save##*/}" 0 - $save
  whole "a run that still lives, ${save##*/}"
done

# ---- what more than one run has left
killed SCR_COPY_TYPE=FILE "SCR_CONF_FILE=$tmp/every.other"
check "every other one on the prefix at once" 0 "" same "$p/heat.200" 200
lose 2
says "every other one on the prefix at once, the newest" 0 "dataset 3 is in $p/heat.300" $scavenge
check "every other one on the prefix at once: the newest, its bytes" 0 "" same "$p/heat.300" 300
check "every other one on the prefix at once: the other, its bytes" 0 "" same "$p/heat.200" 200
SCR_JOB_ID=8 run --steps 600
check "every other one on the prefix at once: the answer" 0 "$calm" answer
killed SCR_CACHE_BYPASS=1
says "all on the prefix at once" 0 "the newest checkpoint on the prefix is 3, heat.300" "$BIN/scr_postrun"
says "all on the prefix at once, alone" 0 "dataset 3 is on the prefix already" $scavenge
check "all on the prefix at once: its bytes" 0 "" same "$p/heat.300" 300

killed SCR_COPY_TYPE=XOR
rm "$p/.scr/flush.scr" # as old as that of a prefix that was full
says "what the flush file does not know" 1 "the newest that it lists is 3, which scr_scavenge --id 3 saves" $scavenge --id 2
says "what the flush file does not know: the command that the message names" 0 "dataset 3 is in" $scavenge --id 3
check "what the flush file does not know: its bytes" 0 "" same "$p/heat.300" 300

# A prefix that is full while checkpoints 2 to 4 are made, and has room again when they are saved.
if unshare --mount sh -c 'mount -t tmpfs none /mnt' 2>/dev/null; then
  rm -rf "$p" "$tmp/base"
  mkdir "$p"
  unshare --mount bash -c "$(declare -f run); p='$p'; tmp='$tmp'; heat='$heat'; size='$size'; MPIEXEC='$MPIEXEC'
    export SCR_CACHE_SIZE=2
    mount -t tmpfs -o size=2m none \"\$p\" && run --steps 150 --kill-at 120 && echo no kill
    head -c 4m /dev/zero >\"\$p/full\"
    SCR_JOB_ID=7 run --steps 600 --kill-at 450
    '$BIN/scr_postrun'
    echo \"scr_postrun ends on the full prefix with \$?\"
    rm \"\$p/full\"
    mount -o remount,ro none \"\$p\"
    '$BIN/scr_postrun'
    echo \"scr_postrun ends on the prefix that is read only with \$?\"
    mount -o remount,rw none \"\$p\"
    '$BIN/scr_postrun'
    echo \"scr_postrun ends with \$?\"
    cp -r \"\$p\" '$tmp/was full'" >"$tmp/postrun" 2>&1
  says "a prefix that is full: what fails" 0 "No space left on device" cat "$tmp/postrun"
  says "a prefix that is full: scr_postrun" 0 "^scr_postrun ends on the full prefix with 1" cat "$tmp/postrun"
  says "a prefix that is read only: scr_postrun" 0 "cannot write .*/run.lock: Read-only file system" cat "$tmp/postrun"
  says "a prefix that is read only: scr_postrun ends" 0 "^scr_postrun ends on the prefix that is read only with 1" cat "$tmp/postrun"
  says "a prefix that was full: scr_postrun" 0 "^scr_postrun ends with 0" cat "$tmp/postrun"
  says "a prefix that was full: what is saved" 0 "the newest checkpoint on the prefix is [0-9]*, heat.400" cat "$tmp/postrun"
  check "a prefix that was full: its bytes" 0 "" same "$tmp/was full/heat.400" 400
else
  skipped=$((skipped + 1))
  echo "skipped: a prefix that was full: needs a mount of its own"
fi

killed SCR_COPY_TYPE=XOR
RANKS=8 SCR_RESTART_RANKS=same run --steps 600
says "a run of more ranks, which refuses" 0 "4 ranks wrote it, but this run has 8" cat "$tmp/log"
lose 1
says "a run of more ranks" 0 "the newest checkpoint on the prefix is 3" "$BIN/scr_postrun"
whole "a run of more ranks"
killed SCR_COPY_TYPE=XOR
RANKS=2 SCR_RESTART_RANKS=same run --steps 600
says "a run of fewer nodes, which are not enough" 0 "an earlier run had its files" $scavenge
whole "a run of fewer nodes, which are not enough"
killed SCR_COPY_TYPE=XOR
rm "$p/.scr/nodes.scr" # which an earlier version wrote without directories
RANKS=2 SCR_RESTART_RANKS=same run --steps 600
says "nobody knows of the other nodes" 1 "files of the ranks 2,3 are missing" $scavenge
cat >"$tmp/rsh" <<RSH
#!/bin/sh
# the control directory of a job is that of a virtual node
exec sh -c "\$(echo "\$2" | sed "s,/me/scr.7',/me/scr.7/node.\$1',")"
RSH
chmod +x "$tmp/rsh"
says "a run of fewer nodes, of an allocation that has the others" 0 "copying from these too" env "SCR_REMOTE_SHELL=$tmp/rsh" "SCR_NODELIST=$host-v[0-3]" $scavenge
whole "a run of fewer nodes"

# output datasets, as a run leaves them that dies while it flushes them
cat >"$tmp/mark.c" <<'END'
#include "tools/tool.h"
/* mark PREFIX ID output|both [WHERE]: the flush file says that the dataset is output, or both, and in the cache alone,
** where a later run could not reach it */
int main(int argc, char** argv)
{
  scr_record     file;
  scr_flush_note note;
  int            rc = argc >= 4 ? scr_flush_file_open(&file, argv[1]) : 1;
  if (rc == 0 && scr_flush_file_get(&file, atoi(argv[2]), &note)) {
    note.flags = SCR_FLAG_OUTPUT | (strcmp(argv[3], "both") == 0 ? SCR_FLAG_CHECKPOINT : 0);
    note.location = SCR_LOCATION_CACHE;
    if (argc == 5) strcpy(note.where, argv[4]);
    scr_flush_file_put(&file, &note);
  } else rc = 1;
  return rc || scr_record_close(&file, rc, 1);
}
END
check "a program that marks datasets builds" 0 "" ${CC:-cc} -I"$top" -w -o "$tmp/mark" "$tmp/mark.c" -lz
killed SCR_COPY_TYPE=XOR
"$tmp/mark" "$p" 3 both
"$BIN/scr_postrun" >"$tmp/log" 2>&1
check "a checkpoint that is output too is copied once" 0 1 grep -c "dataset 3: copying" "$tmp/log"
whole "a checkpoint that is output too"
for reached in "" elsewhere; do
  killed SCR_COPY_TYPE=XOR SCR_CACHE_SIZE=3
  "$tmp/mark" "$p" 1 both $reached
  rm -rf "$job"/node.*/scr.dataset.1
  "$BIN/scr_postrun" >"$tmp/log" 2>&1
  check "an output that is lost: the newest checkpoint${reached:+, if a run went on without it}" 0 "${reached:+heat.300}" newest
done

# a solver that gives each checkpoint the same names: a newer one replaces an older one
sed 's|"%s/rank_%d.heat", name, b->rank|"state/rank_%d.heat%.0s", b->rank, name|' "$heat.c" >"$tmp/state.c"
check "a solver with the same names builds" 0 "" ${MPICC:-mpicc} -O1 -I"$top" -o "$tmp/state" "$tmp/state.c" "$library" -lz -lpthread
other=$heat heat=$tmp/state
killed SCR_COPY_TYPE=XOR SCR_FLUSH=2 NAMES=same
check "the same names, the older one" 0 "" same "$p/state" 200
cp -a "$(node 1)" "$tmp/node.1"
lose 1 3
says "the same names, not enough is left" 1 "files of the ranks 1,3 are missing" $scavenge
check "the same names, not enough is left: the older one is whole" 0 "" same "$p/state" 200
check "the same names, not enough is left: the index" 0 heat.200 newest
mv "$tmp/node.1" "$(node 1)"
says "the same names" 0 "dataset 3 is in" $scavenge
check "the same names, its bytes" 0 "" same "$p/state" 300
check "the same names, the older one has left the index" 0 heat.300 newest
check "the same names, one dataset" 0 1 sh -c '"$1" --long | grep -c heat' sh "$BIN/scr_index"
SCR_JOB_ID=8 run --steps 600
check "the same names: the answer" 0 "$calm" answer
killed SCR_COPY_TYPE=XOR SCR_FLUSH=2 SCR_CACHE_SIZE=3 NAMES=same
"$tmp/mark" "$p" 1 output
says "an older output, whose places a newer one has" 0 "dataset 1 is not copied to .* the newer dataset 2" "$BIN/scr_postrun"
check "an older output, whose places a newer one has: what is newer is saved" 0 heat.300 newest
check "an older output, whose places a newer one has: the bytes of the newest" 0 "" same "$p/state" 300
killed SCR_COPY_TYPE=XOR SCR_FLUSH=2 NAMES=same
run --nx 100 --steps 600
says "a rejected one, and an older one" 0 "4 ranks could not restart from heat.200" cat "$tmp/log"
says "a rejected one takes the place of an older one" 1 "there is no checkpoint on the prefix" "$BIN/scr_postrun"
check "a rejected one, its bytes" 0 "" same "$p/state" 300
says "a rejected one stays one" 0 "^  *3 checkpoint rejected .*heat.300" "$BIN/scr_index" --long
check "a rejected one, for this job" 0 "" newest
SCR_JOB_ID=8 run --steps 600
says "a rejected one, which another job can read" 0 "restarted from heat.300" cat "$tmp/log"
check "a rejected one: the answer" 0 "$calm" answer
heat=$other

# a trial over virtual nodes, and then a real job with the same base: the cache of both is found, also after a trial of
# another prefix
for trial in "$p" "$tmp/trial"; do
  rm -rf "$p" "$tmp/base" "$tmp/trial" && mkdir -p "$trial" "$p"
  (cd "$trial" && SCR_PREFIX=$trial SCR_VIRTUAL_NODES=4 timeout -k 5 60 $MPIEXEC -n 4 "$heat" $size --steps 200) >"$tmp/log" 2>&1
  check "a trial over virtual nodes" 0 "" test -d "$(node 3)/scr.dataset.2"
  (cd "$p" && SCR_COPY_TYPE=SINGLE SCR_FRESH_START=1 timeout -k 5 60 $MPIEXEC -n 4 "$heat" $size --steps 600 --kill-at 350) >"$tmp/log" 2>&1
  id=$("$BIN/scr_flush_file" --dir "$p" --latest)
  says "a real job after a trial in ${trial##*/}" 0 "dataset $id is in $p/heat.300" $scavenge
  check "a real job after a trial in ${trial##*/}: its bytes" 0 "" same "$p/heat.300" 300
done

# two applications in a job, and nothing that tells which of the directories is whose but what they record
rm -rf "$p" "$tmp/base" && mkdir -p "$tmp/first" "$p"
(cd "$tmp/first" && SCR_PREFIX=$tmp/first timeout -k 5 60 $MPIEXEC -n 2 "$heat" $size --steps 200) >"$tmp/log" 2>&1
(cd "$p" && SCR_COPY_TYPE=SINGLE timeout -k 5 60 $MPIEXEC -n 4 "$heat" $size --steps 600 --kill-at 350) >"$tmp/log" 2>&1
check "two applications: the second one's directory" 0 "" test -d "$job.1/scr.dataset.3"
rm "$p/.scr/nodes.scr"
says "two applications: inspect" 0 "^ *3$" "$BIN/scr_inspect" --up "$host"
rm -rf "$job" "$job.1/prefix.scrinfo" # the first one's, and the record of the second one's; its filemaps have it, too
says "two applications: scavenge" 0 "dataset 3 is in $p/heat.300" env SCR_NODELIST="$host" $scavenge --verbose
check "two applications: the bytes" 0 "" same "$p/heat.300" 300

# ---- other prefixes
killed SCR_COPY_TYPE=XOR
mkdir -p "$tmp/other/.scr"
says "a cache of another prefix" 1 "is the cache of the prefix $p, not of $tmp/other" "$BIN/scr_copy" -c "$(node 0)" -i 3 -p "$tmp/other"
chmod 777 "$(node 0)"
says "a control directory that others can write to" 1 "can be written by others" "$BIN/scr_copy" -c "$(node 0)" -i 3
chmod 700 "$(node 0)"

# ---- scr_copy alone
says "copy, a node" 0 "Return code: 0" "$BIN/scr_copy" --cntldir "$(node 0)" --id 3 --buf 1000 --crc
says "copy, the entry of a rank" 0 "rank_0.heat" sh -c '"$1" "$2"/.scr/scavenge.3.*/.scr/0.scrfilemap' sh "$BIN/scr_print_hash_file" "$p"
says "copy, another dataset" 1 "lists no files of dataset 9; the newest that it lists is 3" "$BIN/scr_copy" --cntldir "$(node 0)" --id 9
says "copy, one that was not complete" 1 "lists no files of dataset 4" "$BIN/scr_copy" --cntldir "$(node 0)" --id 4
says "copy, redundancy files" 0 "Return code: 0" "$BIN/scr_copy" --cntldir "$(node 1)" --id 3 --partner
check "copy, redundancy files: those alone" 0 "" gone "$p"/.scr/scavenge.3.*/heat.300/rank_1.heat
says "copy, nothing" 1 "--cntldir and --id are needed" "$BIN/scr_copy"
says "copy, no number" 1 "--id needs the number" "$BIN/scr_copy" --id x
says "copy, no directory" 1 "cannot open the control directory /none" "$BIN/scr_copy" -c /none -i 1
says "copy, no prefix" 1 "cannot open the prefix directory /none" "$BIN/scr_copy" -c "$(node 0)" -i 1 -p /none
says "scavenge, no prefix" 1 "cannot open the prefix directory /none" $scavenge -t /none
says "scavenge, an argument" 1 "nothing to say after" $scavenge 3
says "scavenge, no number" 1 "need a whole number" $scavenge --id 0
says "scavenge, wrong nodes" 1 "n\[1-" $scavenge --down "n[1-"
says "scavenge, an empty prefix" 1 "knows of no checkpoint" $scavenge -t "$tmp/other"

# ---- interrupted: killed at any moment, as often as it likes; another one finishes
case $mode in check) tries=2 ;; full) tries=6 ;; *) tries=60 ;; esac
i=0
while [ $i -lt $tries ]; do
  i=$((i + 1))
  killed SCR_COPY_TYPE=XOR $([ $((i % 2)) = 0 ] && echo SCR_USE_CONTAINERS=1)
  lose $((i % 4))
  for k in 1 2 3 4; do
    $scavenge >"$tmp/log" 2>&1 &
    pid=$!
    sleep "0.0$((RANDOM % 10))$((RANDOM % 10))"
    [ $((RANDOM % 2)) = 0 ] || for c in $(cat /proc/$pid/task/$pid/children 2>/dev/null); do kill -9 "$c" 2>/dev/null; done
    kill -9 %% 2>/dev/null # the job, not a number that another process may have by now
    wait $pid 2>/dev/null
  done
  check "killed four times, try $i" 0 - $scavenge
  while pgrep -f "scr_copy.*$tmp" >/dev/null; do sleep 0.05; done # one whose scavenge was killed may begin a stage again,
  check "killed four times, try $i: again" 0 - $scavenge          # which the next scavenge removes
  check "killed four times, try $i: nothing is left" 0 "" left
  if [ $((i % 2)) = 0 ]; then
    rm -rf "$tmp/extracted"
    check "killed four times, try $i: files" 0 - "$BIN/scr_index" --extract heat.300 --into "$tmp/extracted"
    check "killed four times, try $i: bytes" 0 "" same "$tmp/extracted/heat.300" 300
  else
    check "killed four times, try $i: bytes" 0 "" same "$p/heat.300" 300
  fi
done

# ---- scr_prerun, scr_postrun
prerun=$BIN/scr_prerun postrun=$BIN/scr_postrun
rm -rf "$p" && mkdir "$p"
check "prerun" 0 "" env SCR_REMOTE_SHELL=sh "$prerun"
check "prerun, the options of release 3" 0 "" env SCR_REMOTE_SHELL=sh "$prerun" -p "$p" -v
check "prerun, the directory" 0 "" test -d "$p/.scr" -a -z "$(ls "$p/.scr" | grep -v lock)"
cat >"$tmp/dies.c" <<'END'
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
int unlinkat(int dir, const char* path, int flags)
{
  if (strstr(path, "prefix.scr.") != NULL) kill(getpid(), SIGKILL);
  return (int)syscall(SYS_unlinkat, dir, path, flags);
}
int unlink(const char* path) { return unlinkat(-100, path, 0); }
END
${CC:-cc} -shared -fPIC -o "$tmp/dies.so" "$tmp/dies.c"
tried() { find "$p/.scr" -name 'prefix.scr.*.tmp' | wc -l; }
check "prerun, killed" 137 - env SCR_REMOTE_SHELL=sh LD_PRELOAD="$tmp/dies.so ${LD_PRELOAD-}" "$prerun"
check "prerun, killed: its file is there" 0 1 tried
check "prerun, killed: another one" 0 "" env SCR_REMOTE_SHELL=sh "$prerun"
check "prerun, killed: a run" 0 "" run --steps 10
check "prerun, killed: the run has removed its file" 0 0 tried
says "prerun, no prefix" 1 "cannot create the directory /none/.scr" env SCR_REMOTE_SHELL=sh "$prerun" -p /none
says "prerun, a program is missing" 1 "not ready: a program is missing" env SCR_REMOTE_SHELL=rsh9 "$prerun"
check "prerun, turned off" 0 "" env SCR_ENABLE=0 "$prerun" -p /none
says "prerun, an argument" 1 "nothing to say after" "$prerun" x
says "postrun, nothing" 1 "has left nothing in the caches" "$postrun"
check "postrun, turned off" 0 "" env SCR_ENABLE=0 "$postrun"
says "postrun, no prefix" 1 "cannot open the prefix directory" "$postrun" -p /none
killed SCR_COPY_TYPE=XOR
says "postrun" 0 "the newest checkpoint on the prefix is 3, heat.300" "$postrun"
whole "postrun"
says "postrun, again" 0 "the newest checkpoint on the prefix is 3" "$postrun"
killed SCR_COPY_TYPE=XOR
says "postrun, the options of release 3" 0 "the newest checkpoint on the prefix is 3, heat.300" "$postrun" -p "$p" -j srun -v
says "postrun, the launcher of release 3 by its long name" 0 "the newest checkpoint on the prefix is 3, heat.300" "$postrun" -p "$p" --joblauncher srun
whole "postrun, the options of release 3"
killed SCR_COPY_TYPE=XOR SCR_CACHE_SIZE=3 SCR_CACHE_KEEP=1
rm "$(file 0)" "$(file 1)"
says "postrun, the newest cannot be put together" 0 "the newest checkpoint on the prefix is 2, heat.200" "$postrun"
check "postrun, the older one: its bytes" 0 "" same "$p/heat.200" 200
check "postrun, what was collected of the newer one is there" 0 - ls -d "$p"/.scr/scavenge.3.*
cp "$tmp/calm/heat.300/rank_0.heat" "$(file 0)"
says "postrun, one file is back" 0 "the newest checkpoint on the prefix is 3" "$postrun"
whole "postrun, one file is back"
killed SCR_COPY_TYPE=XOR SCR_CACHE_SIZE=3 SCR_CACHE_KEEP=1
says "postrun, with older ones that are due" 0 "the newest checkpoint on the prefix is 3" env SCR_FLUSH=2 "$postrun"
check "postrun, the one that was due" 0 "" same "$p/heat.200" 200
check "postrun, one that was not due" 0 "" gone "$p/heat.100"
whole "postrun, with older ones that are due"
killed SCR_COPY_TYPE=XOR SCR_CACHE_SIZE=3 SCR_CACHE_KEEP=1
says "postrun, as many as SCR_PREFIX_SIZE" 0 "the newest checkpoint on the prefix is 3" env SCR_FLUSH=1 SCR_PREFIX_SIZE=2 "$postrun"
check "postrun, one that SCR_PREFIX_SIZE keeps" 0 "" same "$p/heat.200" 200
check "postrun, one that SCR_PREFIX_SIZE would delete" 0 "" gone "$p/heat.100"
# the prefix was away, or full, when the run recorded its checkpoints
killed SCR_FLUSH=0
rm "$p/.scr/flush.scr"
says "postrun, what the prefix does not know of" 0 "the nodes have dataset 3, which the prefix does not know of" "$postrun"
check "postrun, what the prefix does not know of: its bytes" 0 "" same "$p/heat.300" 300
killed SCR_FLUSH=0
rm "$p/.scr/flush.scr"
lose 1 2
says "postrun, what the prefix does not know of, and the nodes have lost" 1 "the nodes have dataset 3, which" "$postrun"
killed SCR_COPY_TYPE=XOR SCR_CACHE_SIZE=3 SCR_CACHE_KEEP=1
rm "$p/.scr/flush.scr"
for n in 1 2; do rm -r "$(node $n)"/scr.dataset.3; done
says "postrun, what the prefix does not know of, the newest that is whole" 0 "the newest checkpoint on the prefix is 2" "$postrun"
check "postrun, the one before it: its bytes" 0 "" same "$p/heat.200" 200
says "copy, what a node has" 0 "has dataset 2 of [0-9]*, [0-9a-f]*: checkpoint 2$" "$BIN/scr_copy" --cntldir "$(node 0)" --list
check "copy, a node that has nothing" 0 "" "$BIN/scr_copy" --cntldir "$tmp/none/me/scr.7" --list
killed SCR_COPY_TYPE=XOR SCR_CACHE_SIZE=3 SCR_CACHE_KEEP=1
mkdir -p "$p/.scr/scavenge.1.5.0000000000000007/.scr" "$p/.scr/scavenge.8.5.0000000000000007/.scr"
mkdir "$p/.scr/scavenge.2.5.0000000000000007" # one whose removal was interrupted
check "postrun, stages that nobody needs" 0 - "$postrun"
check "postrun, stages that nobody needs, are removed" 0 "scavenge.8.5.0000000000000007" sh -c 'ls "$1/.scr" | grep scavenge' sh "$p"
for _ in $(seq 600); do [ ! -e "$tmp/busy/ended" ] || break; sleep 0.1; done
says "a run uses the prefix" 0 "a run or another scavenge uses the prefix $tmp/busy" cat "$tmp/busy/log"
finish
