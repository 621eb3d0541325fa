#!/bin/sh
# Drive the built commands over files of earlier releases, and over files that the commands make themselves.
# BIN is the directory of the commands.  Last line: N passed, N failed, N skipped.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
BIN=${BIN:-$top/tools}
data=$top/tests/data
unset SCR_PREFIX
. "$top/tests/tools/check.sh"

# prefix NAME RELEASE: a prefix directory with the golden files of a release
prefix() {
  mkdir -p "$tmp/$1/.scr"
  for f in index flush halt nodes; do
    [ ! -f "$data/$2/$f.scr" ] || cp "$data/$2/$f.scr" "$tmp/$1/.scr/"
  done
}
prefix old scr-1.2.2
prefix new scr-3.1
mkdir "$tmp/empty"

# a damaged file: one byte of the middle is another
mkdir -p "$tmp/bad/.scr"
for f in index flush halt nodes; do
  cp "$data/scr-1.2.2/$f.scr" "$tmp/bad/.scr/"
  printf '~' | dd of="$tmp/bad/.scr/$f.scr" bs=1 seek=27 conv=notrunc 2>/dev/null
done

# ---- every command: help, version, bad options
scr=$BIN/scr
commands=$("$scr" help | sed -n 's/^  \([a-z_0-9][a-z_0-9]*\)  .*/\1/p')
for c in $commands; do
  case $c in retries_halt | should_exit) bad=0 ;; crc32 | rebuild | rebuild_xor | list_down_nodes | test_system | remote | run | srun | mpirun) bad=2 ;; *) bad=1 ;; esac
  says "$c --help" 0 "^Usage: scr_$c" "$BIN/scr_$c" --help
  [ "$c" = glob_hosts ] || says "$c -h" 0 "Exit [01]" "$BIN/scr_$c" -h
  says "$c --version" 0 "^scr_$c v[0-9]" "$BIN/scr_$c" --version
  says "$c, unknown option" "$bad" "^Usage: scr_$c" "$BIN/scr_$c" --no-such-option
  says "$c, unknown option, which one" "$bad" "scr_$c: .*no-such-option" "$scr" "$c" --no-such-option
  check "$c by the program" 0 "$("$BIN/scr_$c" --help)" "$scr" "$c" --help
  check "$c by the program's help" 0 "$("$BIN/scr_$c" --help)" "$scr" help "$c"
done

# ---- scr, the program
check "scr has each command" 0 "" sh -c '
  cd "$1/tools" && for f in scr_*.c; do echo "${f%.c}"; done | while read -r c; do [ -x "$2/$c" ] && "$2/scr" help "$c" >/dev/null || echo "$c"; done' \
  sh "$top" "$(cd "$BIN" && pwd)"
says "scr --version" 0 "^scr v[0-9]" "$scr" --version
says "scr --help" 0 "^Usage: scr COMMAND" "$scr" --help
says "scr, nothing" 1 "^Usage: scr COMMAND" "$scr"
says "scr, no such command" 1 "^scr: there is no command nothing; .scr help. lists them" "$scr" nothing --list
says "scr help, no such command" 1 "there is no command nothing" "$scr" help nothing
# the manual
says "scr help params" 0 "^.SCR_FLUSH., by default 10" "$scr" help params
says "scr help params, one" 0 "^.SCR_FLUSH_WIDTH., by default 256" "$scr" help params SCR_FLUSH_WIDTH
check "scr help params, one, has no other" 1 "" sh -c '"$0" help params SCR_FLUSH_WIDTH | grep "^.SCR_" | grep -v SCR_FLUSH_WIDTH' "$scr"
says "scr help with a parameter alone" 0 "Value: one of any, same" "$scr" help SCR_RESTART_RANKS
says "scr help with a parameter of the commands" 0 "Seconds between two runs" "$scr" help params SCR_RUN_WAIT
says "scr help params, unknown" 1 "there is no parameter SCR_NOTHING" "$scr" help params SCR_NOTHING
says "scr help with a call" 0 "^SCR_API int SCR_Wait(const char" "$scr" help SCR_Wait
check "scr help scr.h" 0 "$(tr '\0' ' ' <"$top/scr.h")" "$scr" help scr.h
says "scr help with a chapter, shortened" 0 "^# restart: " "$scr" help rest
says "scr help commands" 0 "^scr_index  *list the checkpoints" "$scr" help commands
says "scr help, too many words" 1 "one topic" "$scr" help index halt status
for chapter in "$top"/tools/manual/*.md; do
  chapter=$(basename "$chapter" .md)
  says "scr help $chapter" 0 "^# $chapter: " "$scr" help "$chapter"
  check "scr help $chapter, lines that fit" 1 "" sh -c '"$0" help "$1" | grep "^[^ #]" | grep -E "^.{81}"' "$scr" "$chapter"
done
# each `scr help TOPIC` that README, the manual, the header and the commands name
grep -ohE '`scr help [A-Za-z_.]+( [A-Za-z_]+)?`' "$top/README.md" "$top"/tools/manual/*.md "$top/scr.h" "$top"/tools/*.[ch] | tr -d '`' | sort -u | grep -v NAME >"$tmp/topics"
check "scr help: what is named is there" 0 "" sh -c 'while read -r _ _ topic; do "$0" help $topic >/dev/null 2>&1 || echo "$topic"; done <"$1"' "$scr" "$tmp/topics"
check "scr help: topics are named" 0 "" test "$(grep -c . "$tmp/topics")" -gt 10
cp "$scr" "$tmp/alone" # one file has its manual
says "a copy of scr in another place" 0 "^# files: " "$tmp/alone" help files
check "man pages" 0 "" "$scr" help --pages "$tmp/man"
check "man pages, of each command and scr, its file and its manual" 0 "$(($(echo "$commands" | wc -l) + 1)) 1 1" \
  sh -c 'cd "$1" && echo $(ls man1 | wc -l) $(ls man5 | wc -l) $(ls man7 | wc -l)' sh "$tmp/man"
check "man pages, of each call" 0 "$(sed -n 's/^SCR_API [a-z* ]*[ *]\(SCR_[A-Za-z_]*\)(.*/\1.3/p' "$top/scr.h" | sort)" \
  sh -c 'ls "$1" | sort' sh "$tmp/man/man3"
says "man pages, where there is no place" 1 "scr: " "$scr" help --pages "$tmp/alone/man"
# scr explain
says "scr explain, a message" 0 "^To do: give each run its own" "$scr" explain "another run, job 5 on n1, uses the prefix /p; give each run its own SCR_PREFIX"
says "scr explain, with what is around it" 0 "^A file system is full" "$scr" explain "SCR error: rank 1 on n1: cannot write /p/x: No space left on device (on all 4 ranks)"
says "scr explain, a message that has its entry with others" 0 "^To do: end the run and start it again" "$scr" explain "SCR error: rank 1 on n1: the broadcast failed"
check "scr explain, what is general only where nothing else is known" 0 "0 1" sh -c 'for why in "Disk quota exceeded" "Bad file descriptor"; do
  "$0" explain "SCR error: cannot create /tmp/x: $why" | grep -c "^The system has refused this"; done | xargs' "$scr"
check "scr explain, tracked files and regions by their own entries" 0 "2 0" sh -c 'for why in "cannot open the tracked file /p/log" "cannot write the region u to /c/regions.0"; do
  "$0" explain "SCR error: $why: Input/output error"; done >"$1"; echo $(grep -c "^A tracked file cannot be read\|^The file of regions could not" "$1") $(grep -c "^The system has refused" "$1")' "$scr" "$tmp/out"
check "scr explain, a message of two entries" 0 "1 2" sh -c '
  "$0" explain "SCR warning: /p/flush.scr is corrupt: its CRC32 is wrong; restore it or move it away; a new one is written" >"$1"
  echo $(grep -c "^SCR warning" "$1") $(grep -c "^To do:" "$1")' "$scr" "$tmp/two"
says "scr explain, a restart with other ranks, of which the program knows nothing" 0 "^To do: start as many ranks as wrote it" "$scr" explain \
  "SCR error: rank 0 on n1: 3 ranks could not restart from ck: 4 ranks wrote it, this run has 3, and the program has not asked SCR_Restart_ranks; SCR_Have_restart offers another checkpoint, if there is one"
says "scr explain, a directory that is no prefix" 0 "^The directory is not the prefix of a run" sh -c '"$0" explain "$("$1" "$2" 2>&1)"' "$scr" "$BIN/scr_where" "$tmp/empty"
check "scr explain, a file that changed, explained once" 0 1 sh -c '"$0" explain "SCR warning: rank 0 on n1: dataset 1: /c/x has 3 bytes instead of 2: it changed after SCR_Complete_output; was it still open?" | grep -c "wrote to it after"' "$scr"
says "scr explain, no message" 1 "no entry for: some words" "$scr" explain "some words"
says "scr explain, nothing" 1 "needs a message" "$scr" explain
printf '%s\n' "step 1" "SCR error: rank 3 on n7: cannot create /tmp/x: No space left on device" "0: SCR error: rank 0: nobody knows this" \
  "SCR error: rank 4 on n8: cannot create /tmp/x: No space left on device" "12:00 scr_run: no runs are left" "No space left on device" >"$tmp/job.out"
check "scr explain, a job's output" 0 "SCR error: rank 3 on n7: cannot create /tmp/x: No space left on device  (and 1 more line)
12:00 scr_run: no runs are left
The manual has no entry for: 0: SCR error: rank 0: nobody knows this" \
  sh -c '"$0" explain - <"$1" | grep -E "^SCR|scr_run:|entry"' "$scr" "$tmp/job.out"
says "scr explain, an output without messages" 1 "no message of the library" sh -c 'echo "all is well" | "$0" explain -' "$scr"
printf 'SCR error: \033[31m%2000s\n' x | "$scr" explain - >"$tmp/out"
check "scr explain prints nothing that steers a terminal" 1 "" grep "$(printf '\033')" "$tmp/out"
check "a manual that nobody reads to its end" 0 "" sh -c '"$0" help params | head -n 1 >/dev/null' "$scr"
if command -v script >/dev/null; then
  says "scr help, on a terminal" 0 "S.SC.CR.R_._E.E" env PAGER=cat script -qec "$scr help params SCR_ENABLE" /dev/null
fi
check "scr index" 0 "$("$BIN/scr_index" -l -p "$tmp/old")" "$scr" index -l -p "$tmp/old"
check "scr flush-file, as one writes elsewhere" 0 3 "$scr" flush-file --dir "$tmp/old" --latest
check "scr scr_flush_file" 0 3 "$scr" scr_flush_file --dir "$tmp/old" --latest
ln -s "$(cd "$BIN" && pwd)/scr" "$tmp/scr_unknown"
says "a link with another name is the program" 0 "^scr v[0-9]" "$tmp/scr_unknown" --version
says "scr completion, no shell" 1 "bash" "$scr" completion
says "scr completion, another shell" 1 "bash" "$scr" completion fish
# complete WORD...: what bash offers for the last word of a line
complete_line() {
  PATH=$BIN:$PATH bash -c 'eval "$(scr completion bash)"; COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _scr; echo "${COMPREPLY[@]}"' bash "$@"
}
if command -v bash >/dev/null; then
  check "completion of a command" 0 "index" complete_line scr ind
  check "completion of an option" 0 "--drop --drop-after" complete_line scr index --dr
  check "completion of an option, by a path" 0 "--before" complete_line "$BIN/scr" halt --bef
  check "completion of an option of a link" 0 "--need-flush --needflush" complete_line scr_flush_file --need
  check "completion of an option of a link, by a path" 0 "--latest" complete_line "$BIN/scr_flush_file" --dir x --la
  check "completion of help" 0 "nodes_file" complete_line scr help nod
  check "completion of help with a chapter" 0 "migration" complete_line scr help mig
  check "completion of a file" 0 "$data/scr-3.1" complete_line scr print_hash_file "$data/scr-3"
fi

# ---- scr_print_hash_file
print=$BIN/scr_print_hash_file
# in the form of 1.2.2, values stand on lines of their own; the order of keys is each printer's
spread() { awk '{ p = index($0, " = "); if (p == 0) { print; next }
  match($0, /^ */); print substr($0, 1, p - 1); printf "%*s%s\n", RLENGTH + 2, "", substr($0, p + 3) }'; }
for f in filemap.scrinfo filemap_0.scrinfo flush.scr halt.scr index.scr nodes.scr rank2file.0.0.scr rank2file.scr summary.scr \
  xor.0_2_of_4.scr; do
  sort "$data/scr-1.2.2/$f.txt" >"$tmp/want"
  "$print" "$data/scr-1.2.2/$f" 2>"$tmp/stderr" | spread | sort >"$tmp/got"
  check "print 1.2.2 $f" 0 "" cmp "$tmp/want" "$tmp/got"
done
for f in flush.scr halt.scr index.scr rank2file rank2file.0.0 summary.scr; do
  sort "$data/scr-3.1/$f.txt" >"$tmp/want"
  "$print" "$data/scr-3.1/$f" 2>"$tmp/stderr" | sort >"$tmp/got"
  check "print 3.1 $f" 0 "" cmp "$tmp/want" "$tmp/got"
done
check "print a leaf" 0 "  NODES = 4" "$print" "$data/scr-1.2.2/nodes.scr"
says "print a redundancy file" 0 "6830 bytes of data follow" "$print" "$data/scr-1.2.2/xor.0_2_of_4.scr"
says "print a damaged file" 1 "index.scr" "$print" "$tmp/bad/.scr/index.scr"
says "print no file" 1 "$tmp/none" "$print" "$tmp/none"
says "print nothing" 1 "Usage" "$print"
check "print several, one bad" 1 "  NODES = 4" "$print" "$tmp/none" "$data/scr-1.2.2/nodes.scr"
check "json" 0 '{
  "NODES": "4"
}' "$print" --json "$data/scr-1.2.2/nodes.scr"
if command -v python3 >/dev/null; then
  for f in "$data"/scr-1.2.2/*.scr "$data"/scr-1.2.2/*.scrinfo "$data"/scr-3.1/*.scr; do
    "$print" -j "$f" >"$tmp/json" 2>"$tmp/stderr"
    check "json of $f" 0 "" python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$tmp/json"
  done
  "$print" --json "$data/scr-3.1/flush.scr" >"$tmp/json"
  check "json, lists and values" 0 "['CACHE', 'PFS'] ckpt.3" python3 -c '
import json, sys
d = json.load(open(sys.argv[1]))["DATASET"]["3"]
print(sorted(d["LOCATION"]), d["NAME"])' "$tmp/json"
else
  skipped=$((skipped + 1))
  echo "skipped: the check of JSON, as python3 is not here"
fi

# ---- scr_index
index=$BIN/scr_index
check "index of 1.2.2" 0 "   DSET VALID FLUSHED             NAME
*     3 YES   2026-11-21T03:18:23 ckpt.3
      2 YES   2026-11-21T03:18:23 ckpt.2
      1 YES   2026-11-21T03:18:23 ckpt.1" "$index" --list --prefix "$tmp/old"
check "index of 3.1" 0 "   DSET VALID FLUSHED             NAME
*     3 YES   2026-11-21T03:42:22 ckpt.3
      2 YES   2026-11-21T03:42:22 ckpt.2
      1 YES   2026-11-21T03:42:21 ckpt.1" "$index" -l "--prefix=$tmp/new"
check "index by SCR_PREFIX" 0 "$("$index" -p "$tmp/old")" env "SCR_PREFIX=$tmp/old" "$index"
check "index of the working directory" 0 "$("$index" -p "$tmp/old")" sh -c 'cd "$1" && "$2"' sh "$tmp/old" "$(cd "$BIN" && pwd)/scr_index"
check "index, none" 0 "   DSET VALID FLUSHED             NAME" "$index" -p "$tmp/empty"
says "index, no prefix" 1 "$tmp/none" "$index" -p "$tmp/none"
says "index, damaged" 1 "index.scr" "$index" -p "$tmp/bad"
cp "$data/scr-1.2.2/summary.scr" "$tmp/empty/index.scr"
mkdir "$tmp/six" "$tmp/six/.scr"
mv "$tmp/empty/index.scr" "$tmp/six/.scr/"
says "index, version 6" 1 "version 6" "$index" -p "$tmp/six"
says "index, an argument" 1 "^scr_index: $tmp/old is too much" "$index" "$tmp/old"
check "index, an option in the place of a name" 1 "scr_index: --force is in the place of a name, and NAME is too much: a name follows its option" sh -c '"$@" 2>&1' sh "$index" -p "$tmp/old" --delete --force NAME
check "index leaves nothing behind" 0 "" ls -A "$tmp/empty"
for r in scr-1.2.2 scr-3.1; do # the user chooses
  prefix "choose.$r" $r
  p=$tmp/choose.$r
  check "index of $r, a choice" 0 "" "$index" --current ckpt.1 --prefix "$p"
  says "index of $r, the choice is listed" 0 '^\*  *1 YES .* ckpt\.1$' "$index" --list --prefix "$p"
  check "index of $r, one star" 0 1 sh -c '"$1" -p "$2" | grep -c "^\*"' sh "$index" "$p"
  says "index of $r, the choice is recorded" 0 "CURRENT = ckpt.1" "$print" "$p/.scr/index.scr"
  says "index of $r, whose choice it is" 0 USER "$print" "$p/.scr/index.scr"
  cp "$p/.scr/index.scr" "$tmp/before"
  says "index of $r, no such checkpoint" 1 "there is no checkpoint ckpt.9 on $p, or in the cache" "$index" --current ckpt.9 -p "$p"
  says "index of $r, an empty name" 1 "." "$index" --current "" -p "$p"
  long=$(printf '%01024d' 0)
  says "index of $r, a long name" 1 "the name is too long" "$index" "--current=$long" -p "$p"
  says "index of $r, the longest name" 1 "there is no checkpoint 0" "$index" -c "${long#0}" -p "$p"
  check "index of $r, the choice stays" 0 "" cmp "$tmp/before" "$p/.scr/index.scr"
  check "index of $r, another choice" 0 "" env "SCR_PREFIX=$p" "$index" -c ckpt.2
  says "index of $r, the other choice is listed" 0 '^\*  *2 YES .* ckpt\.2$' "$index" -p "$p"
  rm "$p/.scr/index.scr" # only the flush file knows of ckpt.3 and ckpt.2
  says "flush file of $r, a choice while a run may delete it" 1 "may delete ckpt.2, which only its cache has; wait until it has ended" sh -c 'exec 8>>"$2/.scr/run.lock"; flock 8; "$1" --current ckpt.2 -p "$2" 8>&-' sh "$index" "$p"
  check "flush file of $r, a choice" 0 "" "$index" --current ckpt.2 -p "$p"
  says "flush file of $r, the choice is recorded" 0 "CURRENT = ckpt.2" "$print" "$p/.scr/index.scr"
  check "flush file of $r, none is listed" 0 "   DSET VALID FLUSHED             NAME" "$index" -p "$p"
  says "flush file of $r, no such checkpoint" 1 "there is no checkpoint ckpt.1 on" "$index" --current ckpt.1 -p "$p"
done
mkdir -p "$tmp/plain/old run/sub" # files that were never written through the library
plain=$tmp/plain dir="old run"
for r in 0 1 2; do
  printf 'state %s' $r >"$plain/$dir/rank_000$r.dat"
  : >"$plain/$dir/sub/more_$r"
done
says "plain, no %r" 1 "needs %r" "$index" -p "$plain" --add "$dir" --pattern rank.dat
says "plain, no file" 1 "no file in" "$index" -p "$plain" --add "$dir" --pattern 'none_%r'
says "plain, no directory" 1 "not a directory below the prefix" "$index" -p "$plain" --add ../x --pattern 'rank_%r'
says "plain, a file of one rank is missing" 1 "sub/more_0" sh -c 'mv "$2/sub/more_0" "$2/sub/m"; "$1" -p "$2/.." --add "old run" --pattern rank_%4r.dat --pattern sub/more_%r; e=$?; mv "$2/sub/m" "$2/sub/more_0"; exit $e' sh "$index" "$plain/$dir"
printf x >"$plain/$dir/rank_0007.dat"
says "plain, a gap" 1 "rank_0007.dat is there, but rank 3 has no file" "$index" -p "$plain" --add "$dir" --pattern 'rank_%4r.dat'
rm "$plain/$dir/rank_0007.dat"
ln -s rank_0000.dat "$plain/$dir/link_0"
says "plain, a link" 1 "not a regular file" "$index" -p "$plain" --add "$dir" --pattern 'link_%r'
printf '0 rank_0000.dat\n1 rank_0000.dat\n' >"$tmp/twice"
says "plain, one file of two ranks" 1 "of rank 0 and of rank 1" "$index" -p "$plain" --add "$dir" --manifest "$tmp/twice"
printf '0 ../rank_0000.dat\n' >"$tmp/outside"
says "plain, a path that leads out" 1 "not a path below" "$index" -p "$plain" --add "$dir" --manifest "$tmp/outside"
printf '# ranks\n\nrank_0000.dat\n' >"$tmp/norank"
says "plain, a line without a rank" 1 "line 3 of .* is not a rank and a path" "$index" -p "$plain" --add "$dir" --manifest "$tmp/norank"
mkdir -p "$plain/$dir/.scr" && printf x >"$plain/$dir/.scr/own" && printf '0 .scr/own\n' >"$tmp/own"
says "plain, a file in .scr" 1 "lies in a directory .scr" "$index" -p "$plain" --add "$dir" --manifest "$tmp/own"
rm -r "$plain/$dir/.scr"
says "plain, a manifest that cannot be read" 1 "cannot read $tmp: Is a directory" "$index" -p "$plain" --add "$dir" --manifest "$tmp"
says "plain, no manifest" 1 "cannot open" "$index" -p "$plain" --add "$dir" --manifest "$tmp/none"
says "plain, both" 1 "either --pattern or --manifest" "$index" -p "$plain" --add "$dir" --manifest x --pattern 'x%r'
says "plain, without --add" 1 "belong to --add" "$index" -p "$plain" --pattern 'x%r'
check "plain, nothing is left of what failed" 1 "" test -e "$plain/$dir/.scr"
check "plain, a message that cannot be printed" 1 "" sh -c '"$1" -p "$2" --add nowhere 2>&-' sh "$index" "$plain"
check "plain, it is in no file" 1 "" grep -r nowhere "$plain"
says "plain, while a run uses the prefix" 1 "a run uses the prefix" sh -c 'mkdir -p "$2/.scr"; exec 8>>"$2/.scr/run.lock"; flock 8; "$1" -p "$2" --add "old run" --pattern rank_%4r.dat 8>&-' sh "$index" "$plain"
check "plain" 0 "     1 old run: 6 files of 3 ranks, 21 bytes" "$index" -p "$plain" --add "$dir" --pattern 'rank_%4r.dat' --pattern 'sub/more_%r'
says "plain, it is listed" 0 "1 checkpoint ok         YES        3        6             21 .* old run" "$index" --long -p "$plain"
says "plain, again" 1 "is the directory of a dataset already" "$index" -p "$plain" --add "$dir" --pattern 'rank_%4r.dat'
check "plain, taken out again" 0 - "$index" -p "$plain" --extract "$dir" --into "$tmp/plain.out"
check "plain, the same bytes" 0 "" diff -r -x .scr -x 'link*' "$plain/$dir" "$tmp/plain.out/$dir"
check "plain, dropped and added as it is" 0 "     1 old run" sh -c '"$1" -p "$2" --drop "old run" && "$1" -p "$2" --add "old run"' sh "$index" "$plain"
mkdir "$plain/other"
printf '2 a b\n0 c\n' >"$tmp/manifest"
printf 1 >"$plain/other/a b"
printf 22 >"$plain/other/c"
check "plain, by a manifest" 0 "     2 second: 2 files of 3 ranks, 3 bytes" "$index" -p "$plain" --add other --manifest "$tmp/manifest" --name second --output
mkdir -p "$plain/nest/deep" && printf 1 >"$plain/nest/deep/x_0"
check "plain, a directory in another" 0 - "$index" -p "$plain" --add nest/deep --pattern 'x_%r' --output
says "plain, files of a dataset already" 1 "are of the dataset nest/deep already; --drop" "$index" -p "$plain" --add nest --pattern 'deep/x_%r'
check "plain, that dropped" 0 - "$index" -p "$plain" --drop nest/deep
check "plain, files of a dataset no more" 0 - "$index" -p "$plain" --add nest --pattern 'deep/x_%r' --output
check "plain, that dropped, too" 0 - sh -c '"$1" -p "$2" --drop nest && rm -r "$2/nest"' sh "$index" "$plain"
says "plain, output" 0 "2 output " "$index" --long -p "$plain"
says "plain, a directory that is not there" 1 "cannot open the directory $plain/none: No such file" "$index" -p "$plain" --add none --pattern 'x_%r'
says "plain, dropped and added with other files" 0 "old run: 3 files of 3 ranks, 21 bytes" sh -c '"$1" -p "$2" --drop "old run" && "$1" -p "$2" --add "old run" --pattern rank_%4r.dat' sh "$index" "$plain"
says "plain, its new files are all that it has" 0 "checkpoint ok         YES        3        3             21 .* old run" "$index" --long -p "$plain"
printf '0 rank_0000.dat\r\n\r\n1 rank_0001.dat\r\n' >"$tmp/manifest"
check "plain, a manifest of another system, and a whole path" 0 - sh -c 'cd "$2" && "$1" --drop "old run" && "$1" --add "$PWD/old run" --manifest "$3"' sh "$index" "$plain" "$tmp/manifest"
check "plain, a whole path through a link" 0 - sh -c 'ln -s "$2" "$3" && cd "$2" && "$1" --drop "old run" && "$1" -p . --add "$3/old run"' sh "$index" "$plain" "$tmp/to plain"
says "plain, a whole path, it is listed" 0 "checkpoint ok         YES        2        2             14 .* old run" "$index" --long -p "$plain"
check "plain, from a directory elsewhere and from one in the prefix" 0 - sh -c 'cd / && "$1" -p "$2" --drop "old run" && "$1" -p "$2" --add "old run" && cd "$2/old run/sub" && "$1" -p "$2" --drop "old run" && "$1" -p "$2" --add ..' sh "$index" "$plain"
check "plain, one file by its name in a directory of the prefix" 0 "$tmp/plain.one/old run/rank_0000.dat" sh -c 'cd "$2/old run" && "$1" -p "$2" --extract "old run" rank_0000.dat --into "$3"' sh "$index" "$plain" "$tmp/plain.one"
says "plain, a whole path elsewhere" 1 "$tmp/old is not a directory below the prefix" "$index" -p "$plain" --add "$tmp/old"
mkdir "$plain/third" && printf 333 >"$plain/third/x_0"
check "delete, a newer one" 0 - "$index" -p "$plain" --add third --pattern 'x_%r'
says "delete, what the next run restarts from" 1 "third is the .*; --force deletes it" "$index" -p "$plain" --delete third
says "delete, while a run uses the prefix" 1 "a run uses the prefix" sh -c 'exec 8>>"$2/.scr/run.lock"; flock 8; "$1" -p "$2" --delete "old run" 8>&-' sh "$index" "$plain"
for c in "--add third" --build; do # no run may give out ids, or flush, beside them
  says "$c, while a run uses the prefix" 1 "a run uses the prefix $plain; wait until it has ended" sh -c 'exec 8>>"$2/.scr/run.lock"; flock 8; "$1" -p "$2" $3 8>&-' sh "$index" "$plain" "$c"
done
cp -r "$plain" "$tmp/used"
check "delete, while a run uses the prefix, --force" 0 "" sh -c 'exec 8>>"$2/.scr/run.lock"; flock 8; "$1" -p "$2" --delete third --force 8>&-' sh "$index" "$tmp/used"
check "delete, while a run uses the prefix: its files are gone" 1 "" test -e "$tmp/used/third/x_0"
says "delete, no such dataset" 1 "has no dataset none" "$index" -p "$plain" --delete none
mv "$plain/old run/.scr/rank2file.scr" "$tmp/map"
says "delete, its map cannot be read" 1 "rank2file" "$index" -p "$plain" --delete "old run"
mv "$tmp/map" "$plain/old run/.scr/rank2file.scr"
says "delete, nothing has changed" 0 "checkpoint ok         YES        2        2             14 .* old run" "$index" --long -p "$plain"
cp -r "$plain" "$tmp/halfway" && rm "$tmp/halfway/old run/rank_0001.dat" && mkdir "$tmp/halfway/old run/rank_0001.dat"
says "delete, halfway" 1 "cannot delete .*rank_0001.dat.*; the next run deletes the rest of" "$index" -p "$tmp/halfway" --delete "old run"
says "delete, halfway, is on record" 0 "DELETED" "$BIN/scr_print_hash_file" "$tmp/halfway/.scr/index.scr"
check "delete" 0 "" "$index" -p "$plain" --delete "old run"
check "delete, its two files and its metadata are gone, and others stay" 0 "rank_0002.dat" sh -c 'ls -A "$1/old run" | grep -v "^link_0$\|^sub$"' sh "$plain"
check "delete, it is not in the index" 0 1 sh -c '"$1" -p "$2" | grep -c YES' sh "$index" "$plain"
says "delete, --force alone" 1 "belongs to --delete" "$index" -p "$plain" --force
check "delete, the newest" 1 "" sh -c '"$1" -p "$2" --delete third --force; ls -d "$2/third" 2>/dev/null | grep third' sh "$index" "$plain"
mkdir -p "$tmp/written/ckpt/.scr" && cp "$data/scr-1.2.2/summary.scr" "$tmp/written/ckpt/.scr" && : >"$tmp/written/ckpt/x_0"
says "plain, the directory of a run" 1 "a dataset that a run wrote; .*remove $tmp/written/ckpt/.scr" "$index" -p "$tmp/written" --add ckpt --pattern x_%r
check "plain, the directory of a run stays as it is" 0 "" cmp "$data/scr-1.2.2/summary.scr" "$tmp/written/ckpt/.scr/summary.scr"
for r in scr-1.2.2 scr-3.1; do # what is removed
  prefix "drop.$r" $r
  p=$tmp/drop.$r
  says "index of $r, all" 0 '^\*  *3 checkpoint ok  *NO .* ckpt\.3$' "$index" --long -p "$p"
  says "index of $r, json" 0 '"id": 3, "name": "ckpt.3", .*"checkpoint": true, "output": false, "current": true, "state": "ok", "loadable": false' "$index" --json -p "$p"
  check "index of $r, drop" 0 "" "$index" --drop ckpt.2 -p "$p"
  check "index of $r, without 2" 0 "*3 1" sh -c '"$1" -p "$2" | awk "NR > 1 { printf \"%s%s\", sep, \$1 == \"*\" ? \"*\" \$2 : \$1; sep = \" \" } END { print \"\" }"' sh "$index" "$p"
  check "index of $r, drop what is newer" 0 "" "$index" --drop-after ckpt.1 --prefix "$p"
  says "index of $r, the star moves" 0 '^\*  *1 YES .* ckpt\.1$' "$index" -p "$p"
  check "index of $r, one is left" 0 2 sh -c '"$1" -p "$2" | grep -c .' sh "$index" "$p"
  says "index of $r, dropped before" 1 "has no dataset ckpt.2" "$index" -r ckpt.2 -p "$p"
  check "index of $r, remove the last" 0 "" "$index" --remove ckpt.1 -p "$p"
  check "index of $r, nothing is left" 0 "   DSET VALID FLUSHED             NAME" "$index" -p "$p"
done
for r in scr-1.2.2 scr-3.1; do # what a release before has put there is there
  p=$tmp/there.$r m=$tmp/there.$r/.scr/scr.dataset.3
  prefix "there.$r" $r
  mkdir -p "$m" "$p/ckpt.3"
  cp "$data/$r"/summary.scr "$data/$r"/rank2file* "$m"
  for i in 0 1 2 3; do truncate -s $((524295 + i)) "$p/ckpt.3/rank_$i.ckpt"; done
  check "a checkpoint of $r is on the prefix" 0 "the newest checkpoint on the prefix is 3, ckpt.3" "$BIN/scr_postrun" -p "$p"
  rm "$p/ckpt.3/rank_2.ckpt"
  says "a checkpoint of $r has lost a file" 1 "the prefix has lost files of checkpoint 3, ckpt.3" "$BIN/scr_postrun" -p "$p"
done
says "index, two changes" 1 "one question or change" "$index" --drop a --current b -p "$tmp/old"
says "index, drop without a name" 1 "Usage" "$index" --drop
if command -v python3 >/dev/null; then
  "$index" --json -p "$tmp/old" >"$tmp/json"
  check "index, json" 0 "[3, 2, 1]" python3 -c 'import json, sys; print([d["id"] for d in json.load(open(sys.argv[1]))["datasets"]])' "$tmp/json"
fi
says "index, a choice without a name" 1 "Usage" "$index" --current
says "index, a choice on no prefix" 1 "$tmp/none" "$index" --current ckpt.1 --prefix "$tmp/none"
says "index, a choice in a damaged one" 1 "index.scr" "$index" --current ckpt.1 --prefix "$tmp/bad"
says "index, a choice in version 6" 1 "version 6" "$index" --current ckpt.1 --prefix "$tmp/six"

# ---- scr_flush_file
flush=$BIN/scr_flush_file
for p in old new; do
  check "$p latest" 0 3 "$flush" --dir "$tmp/$p" --latest
  check "$p latest, the guide's form" 0 3 "$flush" --latest "$tmp/$p"
  check "$p latest before 3" 0 2 "$flush" -d "$tmp/$p" -l -b 3
  check "$p list of checkpoints" 0 "3 2" "$flush" --dir "$tmp/$p" --list-ckpt
  check "$p list of checkpoints before 3" 0 2 "$flush" --dir "$tmp/$p" -c --before 3
  check "$p list before the first" 1 "" "$flush" --dir "$tmp/$p" --list-ckpt --before 2
  check "$p list of output" 1 "" "$flush" --dir "$tmp/$p" --list-output
  check "$p need of a flush" 1 "" "$flush" --dir "$tmp/$p" --need-flush 3
  check "$p need of a flush, the guide's form" 1 "" "$flush" --needflush 3 "$tmp/$p"
  check "$p need of a flush, no such" 1 "" "$flush" --dir "$tmp/$p" -n 9
  check "$p location" 0 "PFS CACHE" "$flush" --dir "$tmp/$p" --location 3
  check "$p location, no such" 1 NONE "$flush" --dir "$tmp/$p" -L 9
  check "$p name" 0 ckpt.2 "$flush" --dir "$tmp/$p" --name 2
  check "$p name, no such" 1 "" "$flush" --dir "$tmp/$p" -s 9
  check "$p directory" 0 ckpt.3 "$flush" --subdir 3 "$tmp/$p"
done
check "flush file, none" 1 "" "$flush" --dir "$tmp/empty" --latest
says "flush file, damaged" 1 "flush.scr" "$flush" --dir "$tmp/bad" --latest
says "flush file, no directory" 1 "Usage" "$flush" --latest
says "flush file, no directory, and says so" 1 "scr_flush_file: the prefix directory is missing: --dir" "$flush" --latest
says "flush file, no question" 1 "Usage" "$flush" --dir "$tmp/old"
says "flush file, no question, and says so" 1 "scr_flush_file: the question is missing" "$flush" --dir "$tmp/old"
says "flush file, two directories" 1 "one directory" "$flush" --latest "$tmp/old" "$tmp/new"
says "flush file, why nothing: no such directory" 1 "/nonexist is not a directory" "$flush" --dir /nonexist -l
says "flush file, why nothing: no file" 1 "no flush file $tmp/empty" "$flush" --dir "$tmp/empty" -l
says "flush file, that is about none" 1 NONE "$flush" --dir /nonexist -L 3
"$flush" --dir "$tmp/old" -s 9 2>"$tmp/stderr"
check "flush file, nothing to say when it is there" 0 "" cat "$tmp/stderr"
says "flush file, two questions" 1 "one question" "$flush" --dir "$tmp/old" --latest --name 3
for id in 0 -1 x 1x "" 99999999999; do
  says "flush file, id '$id'" 1 "whole number" "$flush" --dir "$tmp/old" --name "$id"
done

# ---- scr_nodes_file
nodes=$BIN/scr_nodes_file
check "nodes" 0 4 "$nodes" --dir "$tmp/old"
check "nodes, -d" 0 4 "$nodes" -d "$tmp/old"
check "nodes, none" 1 "" "$nodes" --dir "$tmp/empty"
check "nodes, damaged" 1 "" "$nodes" --dir "$tmp/bad"
mkdir -p "$tmp/nokey/.scr"
cp "$data/scr-1.2.2/halt.scr" "$tmp/nokey/.scr/nodes.scr"
check "nodes, no number" 1 0 "$nodes" --dir "$tmp/nokey"
says "nodes, no directory" 1 "Usage" "$nodes"
says "nodes, no directory, and says so" 1 "scr_nodes_file: the prefix directory is missing: --dir" "$nodes"
says "nodes, two directories" 1 "one directory" "$nodes" "$tmp/old" "$tmp/new"

# ---- scr_halt and scr_retries_halt
halt=$BIN/scr_halt
retries=$BIN/scr_retries_halt
p=$tmp/run
mkdir "$p"
says "retries, no file" 1 "^scr_retries_halt: CONTINUE RUN: " "$retries" --dir "$p"
says "retries, damaged" 0 "HALT RUN: .*halt.scr" "$retries" --dir "$tmp/bad"
says "retries, no directory" 0 "Usage" "$retries"
says "retries, no directory, and says so" 0 "scr_retries_halt: the prefix directory is missing: --dir" "$retries"
says "retries, two directories" 0 "one directory" "$retries" "$tmp/old" "$tmp/new"
says "retries, the last run ended" 0 "^scr_retries_halt: HALT RUN: .*SCR_FINALIZE_CALLED" "$retries" --dir "$tmp/old"
for o in -l "-c 3" -i --remove --unset-reason; do
  # shellcheck disable=SC2086
  says "a directory that no run has used, $o" 1 "scr_halt: no run has used $p; .* by --create" "$halt" $o "$p"
done
check "a directory that no run has used stays as it is" 0 "" ls -A "$p"
says "a directory that no run has used, the remedy" 0 "CheckpointsLeft: *3$" "$halt" -c 3 --create "$p"
rm "$p/.scr/halt.scr"
check "list, no file" 0 "Halt file settings for $p/.scr/halt.scr:
  None" "$halt" --list "$p"
check "list makes no halt file" 1 "" test -e "$p/.scr/halt.scr"
says "no condition" 0 "ExitReason: *JOB_HALTED" "$halt" "$p"
says "who has set it" 0 "^    set by .* on $(hostname) at 20" "$halt" -l "$p"
says "who has set it, and what takes it back" 0 "JOB_HALTED, set by .* on $(hostname) at 20.*; .scr_halt --unset-reason $p. takes it back" "$retries" --dir "$p"
says "no prefix is called ." 0 "scr_halt --unset-reason $p. takes it back" sh -c "cd '$p' && '$retries' --dir ."
says "no prefix is called ., nor by default" 0 "settings for $p/.scr/halt.scr" sh -c "cd '$p' && '$halt' -l"
says "retries, halted" 0 "HALT RUN: .*JOB_HALTED" "$retries" --dir "$p"
check "unset the reason" 0 - "$halt" --unset-reason "$p"
says "retries, nothing is left" 1 "CONTINUE RUN" "$retries" -d "$p"
says "immediate" 0 "ExitReason: *JOB_HALTED" "$halt" -i "$p"
check "remove" 0 "Halt file settings for $p/.scr/halt.scr:
  None" "$halt" -r "$p"
check "remove, gone" 1 - test -e "$p/.scr/halt.scr"
check "remove what is not there" 0 - "$halt" --remove "$p"
says "checkpoints" 0 "CheckpointsLeft: *3$" "$halt" -c 3 "$p"
says "retries, 3 are left" 1 "CONTINUE RUN" "$retries" --dir "$p"
says "checkpoints 0" 0 "CheckpointsLeft: *0$" "$halt" --checkpoints=0 "$p"
says "retries, 0 are left" 0 "HALT RUN" "$retries" --dir "$p"
says "other conditions stay" 0 "CheckpointsLeft: *0$" "$halt" --seconds 60 "$p"
check "unset checkpoints" 0 - "$halt" --unset-checkpoints "$p"
says "retries, seconds alone" 1 "CONTINUE RUN" "$retries" --dir "$p"
says "before" 0 "ExitBefore - HaltSeconds: *.*(1999999940)" "$halt" -b 2000000000 "$p"
says "before, in 30 s, 60 s early" 0 "ExitBefore:" "$halt" -b now+30s "$p"
says "retries, before has come" 0 "HALT RUN" "$retries" --dir "$p"
check "unset seconds" 0 - "$halt" --unset-seconds "$p"
says "retries, before has not come" 1 "CONTINUE RUN" "$retries" --dir "$p"
check "unset before" 0 - "$halt" --unset-before "$p"
says "after" 0 "ExitAfter: *2001-09-09T01:46:40 (1000000000)" env TZ=UTC "$halt" -a 1000000000 "$p"
says "retries, after has come" 0 "HALT RUN" "$retries" --dir "$p"
check "unset after" 0 "Removing ExitAfter
Halt file settings for $p/.scr/halt.scr:
  None" "$halt" --unset-after "$p"

says "ISO time" 0 "(1000000000)" env TZ=UTC "$halt" -a 2001-09-09T01:46:40 "$p"
says "ISO time without seconds" 0 "(999999960)" env TZ=UTC "$halt" -a 2001-09-09T01:46 "$p"
says "ISO time is local" 0 "(1000003600)" env TZ=XYZ+1 "$halt" -a 2001-09-09T01:46:40 "$p"
# span TEXT SECONDS: the time it gives lies so many seconds from now
span() {
  "$halt" -a "$1" "$p" >"$tmp/out" 2>&1
  t=$(sed -n 's/.*ExitAfter: .*(\([0-9]*\))$/\1/p' "$tmp/out")
  d=$((${t:-0} - $(date +%s) - $2))
  check "time $1" 0 - test "$d" -ge -5 -a "$d" -le 0
}
span now 0
span now+30m 1800
span +2h 7200
span +1d12h 129600
span +90 90
for t in tomorrow 2001-02-30T00:00 2001-13-01T00:00 2001-09-09 2001-09-09T24:00 2001-09-09T01:60 +2w + now- now+ -5 "" 1e9 +h; do
  says "bad time '$t'" 1 "is not a time" "$halt" -a "$t" "$p"
done
for n in -1 x "" 1.5 99999999999; do
  says "bad count '$n'" 1 "is not a count" "$halt" --checkpoints="$n" "$p"
done
says "no such prefix" 1 "$tmp/none" "$halt" "$tmp/none"
check "no such prefix is not made" 1 - test -e "$tmp/none"
says "damaged" 1 "scr_halt --remove" "$halt" -c 1 "$tmp/bad"
check "damaged, removed and set" 0 "Removing halt file $tmp/bad/.scr/halt.scr
Halt file settings for $tmp/bad/.scr/halt.scr:
  None" "$halt" -r -v "$tmp/bad"
mkdir "$tmp/x" "$tmp/y"
check "several prefixes" 0 - "$halt" --create -c 5 "$tmp/x" "$tmp/y"
says "several prefixes, both set" 0 "CheckpointsLeft = 5" "$print" "$tmp/y/.scr/halt.scr"
check "several prefixes, one bad" 1 - "$halt" -c 6 "$tmp/none" "$tmp/y"
says "several prefixes, the good one is set" 0 "CheckpointsLeft = 6" "$print" "$tmp/y/.scr/halt.scr"
says "prefix by SCR_PREFIX" 0 "CheckpointsLeft: *6" env "SCR_PREFIX=$tmp/y" "$halt" -l
says "remove and set" 0 "HaltSeconds: *9" "$halt" -r -s 9 "$tmp/y"
check "remove and set, the old is gone" 0 "HaltSeconds = 9" sh -c '"$1" "$2" | grep = | sed "1s/^ *//;1q"' sh "$print" "$tmp/y/.scr/halt.scr"
check "remove and set, the rest is gone" 1 "" grep -q CheckpointsLeft "$tmp/y/.scr/halt.scr"
i=0
while [ $i -lt 8 ]; do # eight at once, each a change of its own: none is lost
  "$halt" -c $i "$tmp/x" >/dev/null 2>&1 &
  "$halt" -s $i "$tmp/x" >/dev/null 2>&1 &
  i=$((i + 1))
done
wait
says "many at once" 0 "CheckpointsLeft = " "$print" "$tmp/x/.scr/halt.scr"
says "many at once, the other" 0 "HaltSeconds = " "$print" "$tmp/x/.scr/halt.scr"
mkdir "$tmp/ro"
if [ "$(id -u)" -ne 0 ]; then
  chmod 555 "$tmp/ro"
  says "read-only prefix" 1 "writable" "$halt" --create "$tmp/ro"
else # root may write everywhere but on a read-only file system
  says "read-only prefix" 1 "writable" unshare -m sh -c "mount -t tmpfs -o ro none '$tmp/ro' && exec '$halt' --create '$tmp/ro'"
fi

# ---- scr_rebuild: datasets of four ranks, which a run has made
rebuild=$BIN/scr_rebuild
# dataset SCHEME: a fresh copy in $d, with the set $set
dataset() {
  rm -rf "$tmp/dataset"
  mkdir "$tmp/dataset"
  d=$tmp/dataset/all
  cp -r "$data/sets/$1" "$d"
  set=of_4_in_0.$1
}
# lose RANK...: all files of these ranks
lose() {
  for r in "$@"; do rm -rf "$d/ck/rank_$r" "$d/.scr/$((r + 1))_$set"; done
}
for s in xor partner rs; do
  dataset $s
  check "$s, whole" 0 "*_$set: whole" "$rebuild" "$d"
  for r in 0 1 2 3; do
    lose $r
    n=$((2 + r % 2))
    check "$s, rank $r, dry run" 0 "*_$set: $n files can be rebuilt" "$rebuild" --dry-run "$d"
    check "$s, rank $r, a dry run changes nothing" 1 "" test -e "$d/ck/rank_$r"
    says "$s, rank $r, each file" 0 "^$d/ck/rank_$r/part_0.txt is missing\$" "$rebuild" -nv "$d"
    check "$s, rank $r" 0 "*_$set: $n files rebuilt" "$rebuild" "$d"
    check "$s, rank $r, all bytes" 0 "" diff -r "$data/sets/$s" "$d"
  done
  lose 0 1
  rm -rf "$tmp/left"
  cp -r "$d" "$tmp/left"
  if [ $s = rs ]; then
    says "$s, two ranks" 0 "^rebuilt $d/ck/rank_1/part_1.txt\$" "$rebuild" --verbose "$d"
    check "$s, two ranks, all bytes" 0 "" diff -r "$data/sets/$s" "$d"
    lose 0 1 2
    rm -rf "$tmp/left"
    cp -r "$d" "$tmp/left"
  fi
  says "$s, beyond its power" 1 "^scr_rebuild: ._$set: .* lost" "$rebuild" "$d"
  says "$s, beyond its power, dry run" 1 "lost" "$rebuild" -n "$d"
  check "$s, beyond its power, nothing changed" 0 "" diff -r "$tmp/left" "$d"
done
dataset partner
lose 1 3
check "partner, two that are no neighbours" 0 "*_$set: 6 files rebuilt" "$rebuild" "$d"
check "partner, all bytes" 0 "" diff -r "$data/sets/partner" "$d"
dataset xor
printf 'R' | dd of="$d/ck/rank_2/part_0.txt" bs=1 seek=100 conv=notrunc 2>/dev/null
says "xor, a wrong byte" 0 "has the checksum 0x.* instead of" "$rebuild" -v "$d"
check "xor, a wrong byte, repaired" 0 "" diff -r "$data/sets/xor" "$d"
cp "$data/sets/partner/.scr/2_of_4_in_0.partner" "$d/.scr/2_$set"
says "a redundancy file of another dataset" 1 "are of different datasets; nothing was changed: move" "$rebuild" "$d"
check "a redundancy file of another dataset stays" 0 "" cmp "$data/sets/partner/.scr/2_of_4_in_0.partner" "$d/.scr/2_$set"
dataset rs
cp "$data"/sets/xor/.scr/*.xor "$d/.scr"
rm -r "$d/ck/rank_1"
cp -r "$d" "$tmp/stale"
says "two generations" 1 "are of different datasets; nothing was changed" "$rebuild" "$d"
check "two generations, nothing changed" 0 "" diff -r "$tmp/stale" "$d"
dataset rs
rm -r "$d/ck/rank_1"
for r in 1 3 4; do # wherever it is used, the corrupt one is found
  bytes=$(stat -c %s "$d/.scr/${r}_$set")
  chunk=$("$BIN/scr_print_hash_file" "$d/.scr/${r}_$set" 2>/dev/null | sed -n 's/.*CHUNK = //p')
  for part in 1 2; do # the first byte of each
    printf '\377' | dd of="$d/.scr/${r}_$set" bs=1 seek=$((bytes - part * chunk)) conv=notrunc 2>/dev/null
  done
  "$rebuild" -v "$d" >>"$tmp/doubted" 2>&1 || echo "failed $r" >>"$tmp/doubted"
  check "rs, corrupt redundancy file $r, the files" 0 "" diff -r "$data/sets/rs/ck" "$d/ck"
  cp "$data/sets/rs/.scr/${r}_$set" "$d/.scr/${r}_$set"
  check "rs, corrupt redundancy file $r, the others" 0 "" diff -r "$data/sets/rs" "$d"
  rm -r "$d/ck/rank_1"
done
says "rs, the corrupt one is named" 0 "_of_4_in_0.rs was corrupt, and is rebuilt" cat "$tmp/doubted"
check "rs, each time" 1 "" grep failed "$tmp/doubted"
dataset xor
mv "$d/ck/rank_1" "$tmp/elsewhere"
ln -s "$tmp/elsewhere" "$d/ck/rank_1"
rm "$tmp/elsewhere/part_0.txt"
says "a link out of the dataset" 1 "ck/rank_1 is a symbolic link" "$rebuild" "$d"
rm "$d/ck/rank_1"
: >"$d/.scr/2_of_4_in_0.xor.new.9"
check "a directory that is in use" 1 "" flock "$d/.scr" "$rebuild" "$d"
says "a directory that is in use, the reason" 1 "another process is rebuilding files in $d/.scr, which is locked by process [0-9]* " flock "$d/.scr" "$rebuild" "$d"
cp -a "$d" "$tmp/copied"
says "a directory that is in use, a copy of it" 0 "rebuilt" flock "$d/.scr" "$rebuild" "$tmp/copied"
check "a directory that is in use, a copy of it, the files" 0 "" diff -r "$data/sets/xor" "$tmp/copied"
says "remainders of another attempt" 0 "rebuilt" "$rebuild" "$d"
check "remainders of another attempt are gone" 0 "" diff -r "$data/sets/xor" "$d"
for r in 0 1 2 3; do # the ranks on directories of their own
  mkdir -p "$tmp/dataset/node$r/.scr" "$tmp/dataset/node$r/ck"
  cp -r "$data/sets/rs/ck/rank_$r" "$tmp/dataset/node$r/ck"
  cp "$data/sets/rs/.scr/$((r + 1))_of_4_in_0.rs" "$tmp/dataset/node$r/.scr"
done
check "nodes, whole" 0 "*_of_4_in_0.rs: whole" "$rebuild" --into "$tmp/place" "$tmp"/dataset/node?
check "nodes, whole, nothing is made" 1 "" test -e "$tmp/place"
rm -rf "$tmp/dataset/node1" "$tmp/dataset/node2/.scr"
says "nodes, no --into" 2 "--into" "$rebuild" "$tmp"/dataset/node?
mkdir -p "$tmp/prefix/ck/rank_1"
echo newer >"$tmp/prefix/ck/rank_1/part_0.txt"
says "nodes, another file in the place" 1 "part_0.txt is there, and is not the file" "$rebuild" -i "$tmp/prefix" "$tmp"/dataset/node?
check "nodes, another file stays" 0 "newer" cat "$tmp/prefix/ck/rank_1/part_0.txt"
check "nodes, one lost" 0 "*_of_4_in_0.rs: 4 files rebuilt" "$rebuild" -i "$tmp/place" "$tmp"/dataset/node?
check "nodes, its files" 0 "" diff -r "$data/sets/rs/ck/rank_1" "$tmp/place/ck/rank_1"
check "nodes, its redundancy" 0 "" cmp "$data/sets/rs/.scr/2_of_4_in_0.rs" "$tmp/place/.scr/2_of_4_in_0.rs"
check "nodes, where the files were left" 0 "" cmp "$data/sets/rs/.scr/3_of_4_in_0.rs" "$tmp/dataset/node2/.scr/3_of_4_in_0.rs"
check "nodes, and nothing else" 0 "rank_1" ls "$tmp/place/ck"
says "no directory" 1 "$tmp/none" "$rebuild" "$tmp/none"
says "no redundancy files" 1 "no redundancy files in $tmp/empty" "$rebuild" "$tmp/empty"

# ---- scr_rebuild_xor, the old form
rebuild=$BIN/scr_rebuild_xor
dataset xor
lose 2
check "old form" 0 "$d/.scr/3_$set: 2 files rebuilt" "$rebuild" 4 2 "$d/.scr/3_$set" "$d/.scr/1_$set" "$d/.scr/2_$set" "$d/.scr/4_$set"
check "old form, all bytes" 0 "" diff -r "$data/sets/xor" "$d"
lose 0
check "old form, relative names" 0 - sh -c 'cd "$1" && "$2" 4 0 .scr/1_$3 .scr/2_$3 ./.scr/3_$3 .scr/4_$3' \
  sh "$d" "$(cd "$BIN" && pwd)/scr_rebuild_xor" "$set"
check "old form, relative names, all bytes" 0 "" diff -r "$data/sets/xor" "$d"
lose 0
check "old form, bare names" 0 - sh -c 'cd "$1/.scr" && "$2" 4 0 1_$3 2_$3 3_$3 4_$3' sh "$d" "$(cd "$BIN" && pwd)/scr_rebuild_xor" "$set"
check "old form, bare names, all bytes" 0 "" diff -r "$data/sets/xor" "$d"
mv "$d"/.scr/* "$d" # as older releases had them
rm -rf "$d/.scr" "$d/ck/rank_3" "$d/4_$set"
check "old form, without .scr" 0 "$d/4_$set: 3 files rebuilt" "$rebuild" 4 3 "$d/4_$set" "$d/1_$set" "$d/2_$set" "$d/3_$set"
check "old form, without .scr, a file" 0 "" cmp "$data/sets/xor/ck/rank_3/part_1.txt" "$d/ck/rank_3/part_1.txt"
check "old form, without .scr, the redundancy file" 0 "" cmp "$data/sets/xor/.scr/4_$set" "$d/4_$set"
dataset xor
lose 1 2
says "old form, two are lost" 1 "lost" "$rebuild" 4 1 "$d/.scr/2_$set" "$d/.scr/1_$set" "$d/.scr/3_$set" "$d/.scr/4_$set"
dataset xor
lose 1
says "old form, wrong order" 1 "rank" "$rebuild" 4 1 "$d/.scr/2_$set" "$d/.scr/3_$set" "$d/.scr/1_$set" "$d/.scr/4_$set"
says "old form, wrong member" 1 "rank" "$rebuild" 4 2 "$d/.scr/2_$set" "$d/.scr/1_$set" "$d/.scr/3_$set" "$d/.scr/4_$set"
says "old form, wrong size" 1 "4 members instead of 3" "$rebuild" 3 2 "$d/.scr/2_$set" "$d/.scr/1_$set" "$d/.scr/3_$set"
says "old form, one too few" 2 "for each member" "$rebuild" 4 1 "$d/.scr/2_$set" "$d/.scr/1_$set" "$d/.scr/3_$set"
says "old form, no such member" 2 "lost member" "$rebuild" 4 4 "$d/.scr/2_$set" "$d/.scr/1_$set" "$d/.scr/3_$set" "$d/.scr/4_$set"
for n in 1 0 -1 x 9999999999; do says "old form, size $n" 2 "Usage" "$rebuild" $n 0 "$d/.scr/2_$set" "$d/.scr/1_$set"; done
old=$data/scr-1.2.2/xor.0_2_of_4.scr
mkdir "$tmp/v1"
says "a file of 1.2.2 is read" 1 "lost" "$rebuild" 4 0 "$tmp/v1/x0" "$old" "$tmp/v1/x2" "$tmp/v1/x3"
check "a file of 1.2.2, nothing is made" 0 "" ls -A "$tmp/v1"

# ---- scr_hostlist and scr_glob_hosts: each case of the table by both
hostlist=$BIN/scr_hostlist
glob=$BIN/scr_glob_hosts
# hosts RESULT COMMAND...: the command prints RESULT or, if that is `error: TEXT`, fails with TEXT
hosts() {
  case $1 in
  error:*) pattern=$(printf '%s' "${1#error: }" | sed 's/[][]/\\&/g') && shift && says "hosts: $*" 1 "$pattern" "$@" ;;
  *) result=$1 && shift && check "hosts: $*" 0 "$result" "$@" ;;
  esac
}
while IFS='|' read -r op list expected; do
  list=${list# } list=${list% } expected=${expected# }
  case ${op% } in
  nth*) op=${op#nth } && hosts "$expected" "$hostlist" -n "${op% }" "$list" && hosts "$expected" "$glob" "--nth=${op% }" "$list" ;;
  minus) hosts "$expected" "$hostlist" --diff "$list" && hosts "$expected" "$glob" -m "$list" ;;
  intersection) hosts "$expected" "$hostlist" --intersection "$list" && hosts "$expected" "$glob" -i "$list" ;;
  count) hosts "$expected" "$hostlist" --size "$list" && hosts "$expected" "$glob" -c "$list" ;;
  compress) hosts "$expected" "$hostlist" "$list" && hosts "$expected" "$glob" --compress --hosts "$list" ;;
  expand) hosts "$expected" "$hostlist" --expand "$list" ;;
  esac
done <"$data/hostlists.txt"
printf 'node3:4\n# a comment\n\nnode1 slots=4\nnode2\r\nnode1\nnode[5-6]\n' >"$tmp/hostfile"
check "hosts of a file" 0 "node3,node1,node2,node5,node6" "$hostlist" --expand --file "$tmp/hostfile"
check "hosts of a file, and more" 0 "node[1-3,5-6,9]" "$hostlist" --file "$tmp/hostfile" node9
check "hosts of the input" 0 2 sh -c 'printf "a\nb\na\n" | "$1" -s -f -' sh "$hostlist"
says "hosts, no file" 1 "$tmp/none" "$hostlist" --file "$tmp/none"
says "hosts, a directory" 1 "cannot read the file of hosts $tmp" "$hostlist" --file "$tmp"
check "hosts, json" 0 '["n1", "n2"]' "$hostlist" --json 'n[1-2]'
check "hosts, json of none" 0 '[]' "$hostlist" --json ','
check "hosts, json of one" 0 '"n2"' "$glob" --json --nth 2 'n[1-2]'
for c in "$hostlist" "$glob"; do
  says "hosts, none: $c" 1 "the list of hosts is missing" "$c"
  says "hosts, two questions: $c" 1 "one question at a time" "$c" --count -n 1 a
done
check "hosts, none is a list" 0 0 "$hostlist" -s ""

# ---- scr_crc32
crc=$BIN/scr_crc32
printf '123456789' >"$tmp/nine"
: >"$tmp/none at all"
ln -s nine "$tmp/link"
check "crc" 0 "0xcbf43926  $tmp/nine" "$crc" "$tmp/nine"
check "crc, several" 0 "0xcbf43926  $tmp/nine
0x00000000  $tmp/none at all
0xcbf43926  $tmp/link" "$crc" "$tmp/nine" "$tmp/none at all" "$tmp/link"
says "crc as recorded" 0 "CRC = $("$crc" "$data/sets/xor/ck/rank_2/part_0.txt" | cut -d' ' -f1)\$" \
  "$print" "$data/sets/xor/.scr/3_of_4_in_0.xor"
check "crc, one of two" 1 "0xcbf43926  $tmp/nine" "$crc" "$tmp/none" "$tmp/nine"
says "crc, no file" 1 "$tmp/none" "$crc" "$tmp/none"
says "crc, a directory" 1 "no plain file\|not a plain file" "$crc" "$tmp"
truncate -s 5G "$tmp/hole" && printf x | dd of="$tmp/hole" bs=1 seek=4500000000 conv=notrunc 2>/dev/null
check "crc, 5 GiB with holes" 0 "0x67f1b220  $tmp/hole" "$crc" "$tmp/hole"

# ---- files that a stranger has filled: what steers a terminal is printed as text, and no host is an option of ssh
cat >"$tmp/hostile.c" <<'END'
#include "tools/tool.h"
/* hostile PREFIX TEXT HOST: the files of the prefix have TEXT wherever they have text; HOST is a node of the last run */
int main(int argc, char** argv)
{
  static const char* const names[] = {"halt.scr", "flush.scr", "nodes.scr", "status.scr", "index.scr"};
  const char*              text = argv[2];
  char                     path[SCR_MAX_FILENAME];
  scr_record               file;
  scr_flush_note           note;
  scr_index                index;
  scr_desc                 desc;
  size_t                   i;
  FILE*                    f;
  int                      rc = argc == 4 ? scr_record_mkdir(argv[1]) : 1;

  memset(&note, 0, sizeof note);
  memset(&desc, 0, sizeof desc);
  desc.identity.id = note.id = 3;
  desc.flags = note.flags = SCR_FLAG_CHECKPOINT;
  desc.complete = 1;
  note.location = SCR_LOCATION_CACHE;
  snprintf(note.name, sizeof note.name, "%s", text);
  snprintf(desc.name, sizeof desc.name, "%s", text);
  for (i = 0; i < sizeof names / sizeof *names && rc == SCR_SUCCESS; i++) {
    if (i == 4) {
      if ((rc = scr_index_open(&index, argv[1])) == SCR_SUCCESS) rc = scr_index_set(&index, &desc, text);
      rc = scr_index_close(&index, rc, 1);
      continue;
    }
    rc = scr_record_open(&file, argv[1], names[i]);
    if (i == 0 && rc == SCR_SUCCESS) scr_hash_util_set_str(file.h, "ExitReason", text);
    if (i == 0 && rc == SCR_SUCCESS) scr_halt_sign(file.h, SCR_HALT_REASON, text, text, NULL);
    if (i == 1 && rc == SCR_SUCCESS) scr_flush_file_put(&file, &note);
    if (i == 2 && rc == SCR_SUCCESS) scr_hash_util_set_str(scr_hash_set_kv(file.h, "HOST", argv[3]), "CNTL", text);
    if (i == 3 && rc == SCR_SUCCESS) scr_hash_util_set_str(file.h, "PHASE", text);
    if (i == 3 && rc == SCR_SUCCESS) scr_hash_util_set_str(scr_hash_set_kv(file.h, "CACHE", text), "NAME", text);
    rc = scr_record_close(&file, rc, 1);
  }
  snprintf(path, sizeof path, "%s/.scr/log", argv[1]);
  if (rc != SCR_SUCCESS || (f = fopen(path, "w")) == NULL) return 1;
  fprintf(f, "2026-01-01T00:00:00: host=a, jobid=1, event=START, procs=1e300, nodes=99999999999\n");
  fprintf(f, "2026-01-01T00:00:01: host=a, jobid=1, event=HALT, note=\"%s\"\n", text);
  return fclose(f) != 0;
}
END
check "a program that fills files builds" 0 "" ${CC:-cc} -I"$top" -w -o "$tmp/hostile" "$tmp/hostile.c" -lz
mkdir "$tmp/hostile.p" "$tmp/hostile.bin"
printf '#!/bin/sh\necho "$*" >>"%s/called"\nexit 255\n' "$tmp" | tee "$tmp/hostile.bin/ssh" >"$tmp/hostile.bin/rsh"
chmod +x "$tmp"/hostile.bin/*
evil=$(printf '\033]0;evil\007\302\2332J\342\200\256') # the last one turns what follows to run from right to left
"$tmp/hostile" "$tmp/hostile.p" "$evil" "$evil"
# shellcheck disable=SC2016,SC2086
steers() { (cd "$tmp" && SCR_PREFIX=$tmp/hostile.p PATH="$tmp/hostile.bin:$BIN:$PATH" timeout 20 $1 </dev/null 2>&1 | tee "$tmp/said" | LC_ALL=C grep -c "$(printf '[\033\007\233\256]')"); }
for c in scr_status scr_report "scr_halt --list" "scr_retries_halt -d hostile.p" "scr_should_exit -v" "scr_flush_file --list-ckpt" \
  "scr_flush_file --name 3" scr_have_restart scr_index "scr_index --long" "scr_index --list" "scr_index --json" "scr_status --json" scr_where "scr_run true" scr_postrun scr_clean \
  "scr_print_hash_file hostile.p/.scr/halt.scr"; do
  check "$c prints nothing that steers a terminal" 1 0 steers "$c"
done
steers "scr_retries_halt -d hostile.p" >"$tmp/out"
says "what would steer is there as text" 0 'reason \\x1b\]0;evil\\x07\\xc2\\x9b2J\\xe2\\x80\\xae' cat "$tmp/said"
says "a log with numbers out of range" 0 "2147483647 ranks" "$BIN/scr_report" -o - "$tmp/hostile.p"
for h in -oProxyCommand=evil 'a;b' 'a b'; do
  rm -rf "$tmp/hostile.p" && mkdir "$tmp/hostile.p"
  "$tmp/hostile" "$tmp/hostile.p" text "$h"
  says "scr_scavenge, a node $h" 1 "'$h' is not the name of a host" env PATH="$tmp/hostile.bin:$PATH" "$BIN/scr_scavenge" -p "$tmp/hostile.p"
  says "scr_clean, a node $h" 1 "'$h' is not the name of a host" env PATH="$tmp/hostile.bin:$PATH" "$BIN/scr_clean" -p "$tmp/hostile.p"
  rm "$tmp/hostile.p/.scr/halt.scr"
  says "the daemons of a node $h" 1 "'$h' is not the name of a host" env PATH="$tmp/hostile.bin:$PATH" SCR_FLUSH_ASYNC=1 SCR_FLUSH_TYPE=DAEMON "$BIN/scr_halt" -i "$tmp/hostile.p"
done
says "scr_remote, a node that is an option" 2 "'-oProxyCommand=evil' is not the name of a host" env PATH="$tmp/hostile.bin:$PATH" "$BIN/scr_remote" --nodes -oProxyCommand=evil true
check "no remote shell is called" 1 "" test -e "$tmp/called"

# ---- a FIFO in place of a file: no command waits for who writes to it
# shellcheck disable=SC2086
waits() { (cd "$tmp/fifo.p" && SCR_CNTL_BASE=$tmp/fifo.b SCR_CACHE_BASE=$tmp/fifo.b SCR_PREFIX=$tmp/fifo.p PATH="$BIN:$PATH" timeout 20 $1 </dev/null >"$tmp/said" 2>&1); test $? -ge 124; }
mkdir "$tmp/fifo.b"
for f in halt.scr status.scr nodes.scr flush.scr index.scr run.lock; do
  rm -rf "$tmp/fifo.p" && mkdir -p "$tmp/fifo.p/.scr" && mkfifo "$tmp/fifo.p/.scr/$f"
  for c in "scr_status" "scr_status --json" scr_report "scr_halt -i" "scr_retries_halt ." scr_should_exit "scr_flush_file --latest ." \
    scr_have_restart scr_index "scr_index --build" scr_where "scr_nodes_file ." "scr_run true" scr_postrun scr_clean scr_scavenge scr_checkpoint \
    "scr_print_hash_file .scr/$f" "scr_watchdog -d . -j 99999999"; do
    check "a FIFO in place of $f: $c" 1 "" waits "$c"
  done
done

# ---- the prefix is named in full, also where it is the working directory
mkdir "$tmp/here"
# shellcheck disable=SC2016,SC2086
dots() { (cd "$tmp/here" && env -u SCR_PREFIX PATH="$BIN:$PATH" timeout 20 $1 </dev/null 2>&1 | grep -e "[ \`'\"]\./\?[ ':,;)\"]" -e '[ "]\.\(/\.scr\|$\)'); }
for c in scr_status scr_report scr_checkpoint scr_retries_halt "scr_halt --list" "scr_halt -c 3" "scr_flush_file --latest" scr_have_restart \
  scr_index "scr_index --build" scr_nodes_file scr_scavenge scr_postrun "scr_env --json" scr_prefix scr_should_exit scr_copy "scr_run true" \
  scr_test_system; do
  check "$c names the prefix in full" 1 "" dots "$c"
done
finish
