#!/bin/bash
# scr_status and scr_report over real jobs, and over logs of any shape.
# From the environment: MPICC, MPIEXEC, BIN.  Last line: N passed, N failed, N skipped.
set -u
mode=${1:-check}
top=$(cd "$(dirname "$0")/../.." && pwd)
BIN=${BIN:-$top/tools}
. "$top/tests/find_mpi.sh"
unset "${!SCR_@}" "${!SLURM_@}"
. "$top/tests/tools/check.sh"
yields
# shellcheck disable=SC2086
check "a job builds" 0 "" $MPICC -O1 -Wall -Werror -o "$tmp/job" "$top/tests/tools/steered.c" "$library" -lz -lpthread
export SCR_JOB_ID=57 SCR_PREFIX=$tmp/run SCR_VIRTUAL_NODES=3 SCR_CNTL_BASE=$tmp/node SCR_CACHE_BASE=$tmp/node SCR_CACHE_SIZE=2
export SCR_LOG_SYSLOG_ENABLE=0 BEFORE_STEP=$tmp/step PATH=$BIN:$PATH
mkdir "$tmp/run" "$tmp/node" && cd "$tmp/run" || exit 1
printf '#!/bin/sh\n' >"$tmp/step" && chmod +x "$tmp/step"
before() { printf 'case $1 in %s) %s ;; esac\n' "$1" "$2" >>"$tmp/step"; }
# shellcheck disable=SC2086
job() { timeout -k 5 60 $MPIEXEC -n 3 "$tmp/job" "$@"; }

# ---- scr_status
says "status, no run yet" 1 "no run has used $tmp/run yet" scr_status
says "status, no directory" 1 "$tmp/none" scr_status "$tmp/none"
for a in "--seconds 0" "--seconds x" "a b"; do says "status, $a" 1 "Usage" scr_status $a; done
before 3 "scr_halt -c 9 >/dev/null; scr_checkpoint >/dev/null; scr status >'$tmp/one' 2>&1; scr_status --json >'$tmp/json' 2>&1"
BYTES=1000000 SCR_FLUSH=2 SCR_END_TIME=$(($(date +%s) + 5000)) SCR_HALT_SECONDS=60 check "status, a job" 0 - job 4
shows() { says "status, $1" 0 "$2" cat "$tmp/one"; }
shows "the run" "^Run          job 57, 3 ranks on 3 nodes, for [0-9.]* s, on $tmp/run"
shows "the phase" "^Phase        computing, for [0-9.]* s"
shows "the checkpoint" "^Checkpoint   step.2 (dataset 2), [0-9.]* s ago; 3.0 MB in [0-9.]* s, [0-9.]* [kMG]B/s"
shows "the cache, before" "^Cache        step.1 (dataset 1), 3.0 MB, XOR in $tmp/node\$"
shows "the cache, what is flushed" "^Cache        step.2 (dataset 2), 3.0 MB, XOR in $tmp/node, on the prefix\$"
shows "time" "^Time left    8[23] min"
shows "conditions" "^Halt         CheckpointsLeft 9, a checkpoint is asked for\|^Halt         CheckpointsLeft 9, HaltSeconds 60, a checkpoint is asked for"
# json FILE EXPRESSION: what it is for the object d of FILE; nothing without Python
json() { python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$@"; }
if command -v python3 >/dev/null; then
  check "status, json" 0 "computing None 57 3 3 step.2 2 True XOR $tmp/run" json "$tmp/json" \
    '" ".join(map(str, [d["phase"], d["was"], d["run"]["job"], d["run"]["ranks"], d["run"]["nodes"], d["checkpoint"]["name"], d["cache"][1]["dataset"], d["cache"][1]["on_prefix"], d["cache"][1]["scheme"], d["prefix"]]))'
  check "status, json, numbers" 0 "True True True 3000000 True {'CheckpointsLeft': 9} True []" json "$tmp/json" \
    '" ".join(map(str, [0 <= d["seconds"] < 60, 0 < d["run"]["seconds"] < 60, 0 < d["checkpoint"]["seconds"] < 60, d["checkpoint"]["bytes"] // 1000 * 1000, 4900 < d["seconds_left"] <= 5000, d["halt"], d["requested"], d["flushes"]]))'
fi
says "status, the end" 0 "^Phase        ended" scr_status
if command -v script >/dev/null; then
  # on COLUMNS: the status of a run with a long path, on a terminal of so many columns; longest: how long its lines are
  long=$tmp/$(printf '%040d' 0)/$(printf '%040d' 1) && mkdir -p "$long" && cp -r "$tmp/run/.scr" "$long/"
  on() { script -qec "stty cols $1; scr_status '$long'" /dev/null | tr -d '\r' >"$tmp/terminal"; }
  longest() { awk '{ if (length > n) n = length } END { print n }' "$tmp/terminal"; }
  on 80
  check "status, 80 columns: no line is longer" 0 "" test "$(longest)" -le 80
  says "status, 80 columns: a line goes on below what it says" 0 "^             on /.*[.][.][.].*0001$" cat "$tmp/terminal"
  on 200
  check "status, 200 columns: lines are not cut where there is room" 0 "" test "$(longest)" -gt 150
  says "status, 200 columns: all of a path" 0 "^Run .*, on $long$" cat "$tmp/terminal"
  on 20
  says "status, hardly a terminal: lines as they are" 0 "^Run .*, on $long$" cat "$tmp/terminal"
fi
says "status, to the end" 0 "^Phase        ended" timeout 10 scr_status --watch --seconds 1
rm -rf .scr "$tmp/node/"* step.* && printf '#!/bin/sh\n' >"$tmp/step"
before 2 "sleep 0.5; scr_status >'$tmp/one' 2>&1; scr_status --json >'$tmp/json'; cp .scr/status.scr '$tmp/during'; sleep 1.5; scr_status >'$tmp/two' 2>&1"
BYTES=10000000 SCR_FLUSH=1 SCR_FLUSH_ASYNC=1 SCR_FLUSH_ASYNC_BW=8M check "status, a flush behind the job" 0 - job 2
shows "its progress" "^Flush        step.1, 30.0 MB, since .* s  \[#*\.*\]  *[0-9]* %"
progress() { sed -n 's/^Flush.*\] *\([0-9]*\) %/\1/p' "$1"; }
check "status, the progress grows" 0 "" test "$(progress "$tmp/two")" -gt "$(progress "$tmp/one")" -a "$(progress "$tmp/one")" -lt 60
cp "$tmp/during" .scr/status.scr
says "status, a flush whose files have their final names" 0 "^Flush        step.1, .*\[#*\] *100 %" scr_status
command -v python3 >/dev/null && check "status, the progress, json" 0 "1 step.1 True" json "$tmp/json" \
  '" ".join(map(str, [len(d["flushes"]), d["flushes"][0]["name"], 0 <= d["flushes"][0]["progress"] < 0.6]))'
rm -rf .scr "$tmp/node/"* step.* && printf '#!/bin/sh\n' >"$tmp/step"
before 3 "scr_status >'$tmp/one' 2>&1; kill -9 \$(cat pid.0)"
SCR_CACHE_BYPASS=1 check "status, a job that is killed" 1 - sh -c '"$@"; [ $? = 0 ]' sh timeout -k 5 60 $MPIEXEC -n 3 "$tmp/job" 4
shows "without a cache" "^Cache        step.2 (dataset 2), [0-9.]* kB, on the prefix\$"
shows "of a living run" "^Phase        computing, for"
says "status, killed" 0 "^Phase        killed: no process of the run is there, and SCR_Finalize was not completed; last seen computing, which began [0-9.]* s ago" scr_status
says "status, killed, json" 0 '"phase": "killed", "was": "computing"' scr_status --json
says "status, to the kill" 0 "^Phase        killed" timeout 10 scr_status --watch --seconds 1
rm -rf .scr "$tmp/node/"* step.* && printf '#!/bin/sh\n' >"$tmp/step"
mkdir -p "$tmp/fake"
printf '#!/bin/sh\n[ "$*" = "-h -o %%L -j 99" ] && echo 30:00\n' >"$tmp/fake/squeue"
chmod +x "$tmp/fake/squeue"
before 2 "env -u SLURM_JOB_ID PATH='$tmp/fake:$PATH' scr_status >'$tmp/one' 2>&1; kill -9 \$(cat pid.0)"
BYTES=10000000 SCR_FLUSH=1 SCR_FLUSH_ASYNC=1 SCR_FLUSH_ASYNC_BW=4M SLURM_JOB_ID=99 check "status, a job of SLURM" 1 - sh -c '"$@"; [ $? = 0 ]' sh timeout -k 5 60 $MPIEXEC -n 3 "$tmp/job" 2
shows "the time left without SCR_HALT_SECONDS, asked outside the job" "^Time left    [23][90] min"
PATH=$tmp/fake:$PATH says "status, the time left, json" 0 '"seconds_left": 1[78][0-9][0-9]' scr_status --json
# zeros TIME: the files of the flush become as many zeros, changed at TIME
zeros() { find . -name '*.scr1.tmp' | while read -r f; do n=$(stat -c %s "$f"); : >"$f"; truncate -s "$n" "$f"; touch -d "$1" "$f"; done; }
check "status, a flush that was killed, its files" 0 "" sh -c 'find . -name "*.scr1.tmp" | grep -q .'
zeros now
says "status, zeros that are not copied yet" 0 "^Flush        step.1, .*\[\.*\]  *0 %" scr_status
zeros "1 hour ago"
says "status, files of zeros that are copied" 0 "^Flush        step.1, .*\[#*\] *100 %" scr_status
printf '#!/bin/sh\n' >"$tmp/step"
head -c 50 .scr/status.scr >"$tmp/cut" && cp "$tmp/cut" .scr/status.scr
says "status, a damaged file" 1 "status.scr" scr_status
rm .scr/status.scr && mkdir .scr/status.scr
check "status, a file that cannot be written does not matter" 0 - job 3
rmdir .scr/status.scr

# ---- scr_report
data=$top/tests/data/managers/log.txt
export TZ=UTC
report=$BIN/scr_report
check "report, the figures" 0 "Runs on $tmp/run: 5, of which 1 ended by themselves and 2 failed
Mean time between failures: 3000 s
Time of all runs
  computation that counts         4800.0 s   80.0 %
  start and restart                  0.0 s    0.0 %
  checkpoints                       12.0 s    0.2 %
  output                             0.0 s    0.0 %
  flushes                            0.0 s    0.0 %
  work lost in failures           1188.0 s   19.8 %
  all                             6000.0 s  100.0 %
Idle between the runs: 81000.0 s, 93.1 % of the time from the begin of the first to the end of the last
When 3 of the runs ended is not known: the time between failures and the lost work are at least these, and
the idle time at most this.
Transfers                       count       MB/s: least     median   greatest
  checkpoints to the cache          1            2000.0     2000.0     2000.0
  flushes to the prefix             1              80.0       80.0       80.0
  asynchronous flushes              0               0.0        0.0        0.0
  fetches from the prefix           0               0.0        0.0        0.0
Runs that were halted           times  last time
  JOB_HALTED                        1  2026-03-01T11:30:00" "$report" -f "$data"
"$report" -f "$top/tests/data/managers/log-runs.txt" >"$tmp/one"
says "report, runs of scr_run: both have failed" 0 ": 2, of which 0 ended by themselves and 2 failed" cat "$tmp/one"
says "report, runs of scr_run: what counts" 0 "computation that counts  *200.0 s" cat "$tmp/one"
says "report, runs of scr_run: the wait between them is not lost work" 0 "work lost in failures  *196.0 s" cat "$tmp/one"
node='host=n1, jobid=57, event=NODE_FAIL, note='
{ cat "$top/tests/data/managers/log-runs.txt"; echo "2026-03-01T10:10:00: $node\"n3: does not answer\", secs=2.5"
  echo "2026-03-01T10:11:00: $node\"n12: <b>: named as down\""; echo "2026-03-01T10:12:00: $node\"n3: no space in /ssd\""; } >"$tmp/log"
check "report, nodes that failed, and why" 0 "Nodes that failed               times  last time
  n3                                2  2026-03-01T10:12:00  no space in /ssd
  n12                               1  2026-03-01T10:11:00  <b>: named as down" sh -c '"$1" -f "$2" | sed -n "/^Nodes/,\$p"' sh "$report" "$tmp/log"
{ cat "$tmp/log"; seq -f "2026-03-01T10:20:00: ${node}\"x%.0f: gone\"" 200000; } >"$tmp/many"
says "report, nodes without end" 0 "^  others  *199003  2026-03-01T10:20:00  gone$" timeout 20 "$report" -f "$tmp/many"
"$report" -f "$tmp/log" -o "$tmp/page.html"
says "report, nodes that failed, in the page" 0 '<td class="name">n12</td><td>1</td><td>2026-03-01T10:11:00</td><td>&lt;b&gt;: named as down</td>' cat "$tmp/page.html"
# page WHAT: $tmp/page.html is a page with nothing from outside, whose elements are closed
page() {
  check "report, $1, nothing from outside" 1 "" grep -niE 'https?:|src=|href=|url\(|@import|<script' "$tmp/page.html"
  command -v python3 >/dev/null || return
  check "report, $1, the elements" 0 "" python3 -c 'import sys
from html.parser import HTMLParser
class Page(HTMLParser):
    def __init__(self): super().__init__(); self.open = []
    def handle_starttag(self, tag, attrs):
        if tag not in ("meta",): self.open.append(tag)
        for k, v in attrs:
            if v is None or "nan" in v or "inf" in v or (k in ("x", "y", "width") and tag == "rect" and float(v) < 0): print(tag, k, v)
    def handle_startendtag(self, tag, attrs): pass
    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag: print("end of", tag, self.getpos())
p = Page(); p.feed(open(sys.argv[1], encoding="utf-8").read()); print(*p.open, sep="", end="")' "$tmp/page.html"
}
check "report, a page" 0 "" "$report" -f "$data" -o "$tmp/page.html"
page "a log"
says "report, the page tells of lost work" 0 "<title>lost: " cat "$tmp/page.html"
says "report, the page shows when nothing ran" 0 "No run for 22.5 h, 93.1 % of this time; the longest gap is 22.2 h" cat "$tmp/page.html"
says "report, the page has a scale of times" 0 "<span>2026-03-01 10:00</span>.*<span>2026-03-02 10:10</span>" cat "$tmp/page.html"
says "report, bandwidths have a scale" 0 "<span>2.00 GB/s</span><span>1.00 GB/s</span><span>0</span>" cat "$tmp/page.html"
says "report, bandwidths have a scale of another size" 0 "<span>100 MB/s</span><span>50.0 MB/s</span><span>0</span>" cat "$tmp/page.html"
check "report, on stdout" 0 "$(cat "$tmp/page.html")" "$report" -f "$data" --output -
rm -rf .scr "$tmp/node/"* step.* && printf '#!/bin/sh\n' >"$tmp/step"
SCR_LOG_ENABLE=1 SCR_FLUSH=2 check "report, a job" 0 - job 5
says "report, a job, as text" 0 "^Runs on $tmp/run: 1, of which 1 ended by themselves and 0 failed" "$report"
check "report, a job, a page" 0 "" "$report" -o "$tmp/page.html" "$tmp/run"
page "a job"
check "report, a job, its flushes are listed" 0 2 grep -c '<td class="name">step.[24]</td>' "$tmp/page.html"

# log EVENTS RUNS: a long one, with odd names
log() {
  awk -v events="$1" -v runs="$2" 'function line(text) { printf "%s: host=n1, jobid=%d, %s\n", strftime("%Y-%m-%dT%H:%M:%S", t), 7 + run % 3, text }
  BEGIN { t = 1760000000
    for (run = 0; run < runs; run++) {
      line("event=START, procs=4, nodes=4")
      t += 5; line("event=INIT_END, secs=5.0")
      for (i = 0; i < events / runs / 4; i++) {
        t += 100; d++; name = ", dset=" d ", name=\"<b>&" d "</b>\303\251\351\""
        line("event=CHECKPOINT_START, note=\"/ssd, XOR\"" name)
        t += 3; line("event=CHECKPOINT_END" name ", secs=3.0")
        line("xfer=CHECKPOINT, from=/p, to=/ssd" name ", secs=3.0, bytes=4000000000, files=4")
        if (i % 7 == 0) { t += 20; line((i % 2 ? "event=FLUSH_FAIL" : "event=ASYNC_FLUSH_SUCCESS") name ", secs=20.0") }
      }
      t += 50; line(run % 4 == 0 ? "event=HALT, note=\"<i>why</i>\"" : "event=CORRUPT, note=\"x\"")
    } }' >"$tmp/log"
}
shapes=("10 1" "10000 500")
[ "$mode" = check ] || shapes+=("10000 1" "100000 20")
for shape in "${shapes[@]}"; do
  log $shape
  check "report, events and runs: $shape" 0 "" timeout 10 "$report" -f "$tmp/log" -o "$tmp/page.html"
  page "$shape"
  check "report, events and runs: $shape, its size" 0 "" test "$(stat -c %s "$tmp/page.html")" -lt 3000000
  check "report, events and runs: $shape, names are text" 1 "" grep -E '<b>&[0-9]|<i>why' "$tmp/page.html"
done
LC_ALL=C awk 'BEGIN { srand(5); for (i = 0; i < 3000; i++) { s = ""; for (k = 0; k < 60; k++) s = s sprintf("%c", 32 + int(rand() * 220))
  print (i % 3 ? "2026-01-01T00:00:" i % 60 ": host=n, jobid=1, " (i % 5 ? "event=" : "xfer=") (i % 7 ? "CHECKPOINT_END" : "START") ", secs=" (i % 11 ? i : "1e999") ", " : "") s } }' >"$tmp/log"
check "report, noise" 0 "" "$report" -f "$tmp/log" -o "$tmp/page.html"
page "noise"
printf '2026-01-01T00:00:10: host=n, jobid=1, event=START, procs=1, nodes=1\n2025-01-01T00:00:00: host=n, jobid=1, event=CHECKPOINT_END, secs=1e300\n' >"$tmp/log"
check "report, a clock that goes back" 0 "" "$report" -f "$tmp/log" -o "$tmp/page.html"
page "a clock that goes back"
says "report, no run" 1 "has no run" "$report" -f <(sed -n 3,5p "$data")
says "report, no log" 1 "SCR_LOG_ENABLE=1 writes it" "$report" -f "$tmp/none"
says "report, no log at all" 1 "is not a log" "$report" -f "$top/tests/data/hostlists.txt"
says "report, nowhere to write" 1 "cannot create" "$report" -f "$data" -o "$tmp/none/page.html"
if [ -c /dev/full ]; then
  says "report, a full disk" 1 "cannot write /dev/full" "$report" -f "$data" -o /dev/full
  check "report, which it does not remove" 0 "" test -c /dev/full
fi
printf 'no index' >.scr/index.scr
check "report, a damaged index" 0 "" "$report" -f "$data" -o "$tmp/page.html"
says "report, a damaged index is named" 0 "The index cannot be read" cat "$tmp/page.html"

# ---- the command lines of README and the manual
rm -rf .scr "$tmp/node/"* step.* && printf '#!/bin/sh\n' >"$tmp/step"
SCR_LOG_ENABLE=1 SCR_FLUSH=1 SCR_USE_CONTAINERS=1 check "a job with containers" 0 - job 2
: >"$tmp/ran"
# line DOCUMENT COMMAND [SED]: the line of a document that begins with COMMAND, without the remark behind it, with its
# names replaced by those of this place
line() {
  sed -n "s/^    \($2.*\)/\1/p" "$top/$1" | head -n 1 | tee -a "$tmp/ran" | sed "s/   .*//${3:+;$3}"
}
there() { SCR_PREFIX=$tmp/run bash -c "cd '$tmp/here' && $1"; }
mkdir "$tmp/here" "$tmp/elsewhere"
echo "SCR error: cannot create /tmp/x: No space left on device" >"$tmp/here/slurm-57.out"
m=tools/manual
says "errors: $(line $m/errors.md 'scr explain "')" 0 "^A file system is full" there "$(line $m/errors.md 'scr explain "')"
says "errors: scr explain -" 0 "^A file system is full" there "$(line $m/errors.md 'scr explain -')"
says "choosing: scr_ckpt_interval --stats" 0 "2" there "$(line $m/choosing.md 'scr_ckpt_interval --stats' "s,/p/run,$tmp/run,")"
says "choosing: scr_ckpt_interval --mtbf" 0 "[0-9]" there "$(line $m/choosing.md 'scr_ckpt_interval --mtbf')"
check "files: scr_index --extract, one file" 0 - there "$(line $m/files.md 'scr_index --extract' "s,ckpt.40,step.2,g;s,rank_7,rank_1,;s,/tmp/look,$tmp/look,")"
check "files: scr_index --extract, its file" 0 "" sh -c 'find "$1" -name "rank_[0-9]" | grep -qx ".*/rank_1"' sh "$tmp/look"
check "files: scr_index --extract, all files" 0 - there "$(line $m/files.md 'cd elsewhere' "s,ckpt.40,step.2,g;s,elsewhere,$tmp/elsewhere,;s,<prefix>,$tmp/run,")"
check "files: scr_index --extract, all of them" 0 3 sh -c 'find "$1" -name "rank_[0-9]" | grep -c .' sh "$tmp/elsewhere"
mkdir -p old_run/step_4000/part && for r in 0 1 2; do echo $r | tee "old_run/step_4000/rank_0000$r.dat" >"old_run/step_4000/part/of_rank_$r.dat"; done
check "migration: scr_index --add with a pattern" 0 - there "$(line $m/migration.md 'scr_index --add.*--pattern')"
says "migration: what is added is listed" 0 "old_run/step_4000" scr_index --list
check "migration: it is dropped again" 0 - scr_index --drop old_run/step_4000
for r in 0 1 2; do echo "$r part/of_rank_$r.dat"; done >"$tmp/here/files.txt"
rm -rf old_run/step_4000/.scr
check "migration: scr_index --add with a manifest" 0 - there "$(line $m/migration.md 'scr_index --add.*--manifest')"
says "migration: what is added by a manifest is listed" 0 "old_run/step_4000" scr_index --list
# what README answers its questions with
says "README: where are my files now, scr_where" 0 "$tmp/node" scr_where
says "README: where are my files now, scr_index --long" 0 "step.2" scr_index --long
check "README: how do I go back" 0 - scr_index --current step.1
says "README: how do I go back, it is the one" 0 "^\* .*step.1" scr_index --list
check "README: how do I delete a checkpoint" 0 - scr_index --delete step.2
check "README: how do I empty the caches" 0 - scr_clean
for text in 'scr status' scr_where 'scr_index --long' 'scr_index --current NAME' 'scr_index --delete NAME' scr_clean; do
  check "README: it names $text" 0 "" grep -q "\`$text\`" "$top/README.md"
done
# all other lines that begin with a command are of a system that is not here, or run.sh, system.sh, vendor.sh and image.sh run them
check "each command line in README and the manual is run, or is one of a system that is not here" 1 "" sh -c '
  sed -n "s/^    \(\(cd [a-z]* && \)*scr[_ ][a-z].*\)/\1/p" "$1"/README.md "$1"/tools/manual/*.md | grep -vxFf "$2" |
    grep -vE " srun |apptainer|^scr_run mpiexec |^scr_regions |^scr_image |^scr_checkpoint .*/p/run"' sh "$top" "$tmp/ran"
finish
