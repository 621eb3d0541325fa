#!/bin/bash
# The log in a database, with a real MariaDB server in a directory of its own: what commands and a job write, odd names,
# many writers, and a server that is not there, refuses, hangs, or dies in the middle of a job.
# From the environment: CC, MPICC, MPIEXEC.  Last line: N passed, N failed, N skipped.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
CC=${CC:-cc}
. "$top/tests/find_mpi.sh"
unset "${!SCR_@}"
. "$top/tests/tools/check.sh"
PATH=$PATH:/usr/sbin:/usr/libexec
server=
trap '[ -z "$server" ] || kill -9 "$server"; rm -rf "$tmp"' EXIT
for c in mariadbd mariadb mariadb-install-db mariadb_config; do
  command -v "$c" >/dev/null || { echo "skipped: there is no $c"; skipped=1; finish; exit; }
done

# ---- the server
secret='pa;ss"w0rd'
options="--no-defaults --datadir=$tmp/data --socket=$tmp/socket --pid-file=$tmp/pid --innodb-buffer-pool-size=8M
  --skip-log-bin --bind-address=127.0.0.1"
[ "$(id -u)" != 0 ] || options="$options --user=root"
# shellcheck disable=SC2086
start() { # OPTIONS...
  mariadbd $options "$@" >"$tmp/server" 2>&1 &
  server=$!
  for _ in $(seq 200); do
    ask "SELECT 1" mysql >/dev/null 2>&1 && return
    kill -0 "$server" 2>/dev/null || break
    sleep 0.1
  done
  echo "the server does not start:"; tail -n 5 "$tmp/server"
  failed=$((failed + 1))
  finish
  exit
}
stop() { kill "-${1:-9}" "$server" && wait "$server" 2>/dev/null; server=; }
ask() { mariadb --no-defaults -S "$tmp/socket" -u root -N -B --raw "${2:-scr}" -e "$1"; }
user=()
[ "$(id -u)" != 0 ] || user=(--user=root)
mariadb-install-db --no-defaults --datadir="$tmp/data" --auth-root-authentication-method=normal --skip-test-db \
  "${user[@]}" >"$tmp/install" 2>&1 || { cat "$tmp/install"; failed=1; finish; exit; }
port=$((20000 + $$ % 10000))
start --port=$port
for i in 1 2; do check "the schema, time $i" 0 "" sh -c 'mariadb --no-defaults -S "$1" -u root <"$2"' sh "$tmp/socket" "$top/tools/scr.mysql"; done
ask "CREATE USER jobs IDENTIFIED BY '$secret'; GRANT SELECT, INSERT ON scr.* TO jobs; CREATE USER reader IDENTIFIED BY '$secret'; GRANT SELECT ON scr.* TO reader"

# ---- programs
yields
flags=$(mariadb_config --include) libs=$(mariadb_config --libs)
# shellcheck disable=SC2086
{
  check "the commands build" 0 "" $CC -O0 -Wall -Werror -DSCR_WITH_MYSQL $flags -I"$top" -o "$tmp/scr" "$top/tools/scr.c" -lz $libs
  check "a job builds" 0 "" $MPICC -O0 -Wall -Werror -DSCR_WITH_MYSQL $flags -I"$top" -o "$tmp/job" "$top/tests/tools/steered.c" "$top/scr_impl.c" -lz -lpthread $libs
  check "a job without the macro builds" 0 "" $MPICC -O1 -o "$tmp/plain" "$top/tests/tools/steered.c" "$library" -lz -lpthread
}
mkdir -p "$tmp/run/.scr" "$tmp/node"
cd "$tmp/run" || exit 1
export SCR_LOG_ENABLE=1 SCR_LOG_SYSLOG_ENABLE=0 SCR_LOG_DB_ENABLE=1 SCR_LOG_DB_USER=jobs SCR_JOB_ID=57 SCR_PREFIX=$tmp/run
export SCR_LOG_DB_HOST=$tmp/socket SCR_VIRTUAL_NODES=2 SCR_CNTL_BASE=$tmp/node SCR_CACHE_BASE=$tmp/node SCR_FLUSH=2
printf 'SCR_LOG_DB_PASS=%s\n' 'pa;ss"w0rd' >.scrconf
event() { "$tmp/scr" log_event "$@"; }
# shellcheck disable=SC2086
job() { timeout 100 $MPIEXEC -n 2 "$tmp/${PROGRAM:-job}" "$@"; }
rows() { ask "SELECT COUNT(*) FROM events JOIN types ON types.id=type_id WHERE types.name='$1'"; }

# ---- commands
check "an event" 0 "" event -T RUN_START -N "run=1" -S 1000000000 -D 7 -n step7 -L 2.5
check "its row" 0 "RUN_START|7|step7|2.5|run=1|57|$tmp/run|$(date -d @999999998 '+%F %T')" ask \
  "SELECT CONCAT_WS('|', types.name, dset_id, dset_name, secs, note, jobid, jobnames.name, events.start) FROM events
   JOIN types ON types.id=type_id JOIN jobs ON jobs.id=job_id JOIN jobnames ON jobnames.id=jobname_id"
check "a transfer" 0 "" "$tmp/scr" log_transfer -T SCAVENGE -X /ssd -Y /p -D 7 -n step7 -L 2 -B 4000000000000 -F 3
check "its row" 0 "7|step7|2|4000000000000|3|2000000000000|/ssd|/p" ask \
  "SELECT CONCAT_WS('|', dset_id, dset_name, secs, bytes, files, bw, \`from\`, \`to\`) FROM transfers"
check "by a port" 0 "" env SCR_LOG_DB_HOST=127.0.0.1:$port "$tmp/scr" log_event -T PORT
check "by a port, its row" 0 1 rows PORT
n=0
for name in "a'b" 'a"b' 'a\' "'); DROP TABLE events; -- " 'step?' '%s%n' $'two\nlines' 'é漢😀' ' '; do
  n=$((n + 1))
  check "odd name $n" 0 "" event -T ODD -D "$n" -n "$name" -N "$name"
  check "odd name $n, its row" 0 "$name|$name" ask "SELECT CONCAT_WS('|', dset_name, note) FROM events JOIN types ON types.id=type_id WHERE types.name='ODD' AND dset_id=$n"
done
check "a name that is no UTF-8" 0 "" event -T LATIN -n $'caf\xe9 \xf0\x28' -N $'\xff'
check "a name that is no UTF-8, its row" 0 "caf? ?(|?" ask "SELECT CONCAT_WS('|', dset_name, note) FROM events JOIN types ON types.id=type_id WHERE types.name='LATIN'"
long=$(printf '%01000d' 0)
check "a long name" 0 "" event -T LONG -n "$long" -N "$long$long$long"
check "a long name, its row" 0 "1000 3000" ask "SELECT CONCAT(LENGTH(dset_name), ' ', LENGTH(note)) FROM events JOIN types ON types.id=type_id WHERE types.name='LONG'"
deep=$tmp/run/$(printf '%0200d/' 0 0 0)deep
mkdir -p "$deep/.scr"
for i in 1 2; do check "a long prefix, time $i" 0 "" env SCR_LOG_DB_PASS="$secret" "$tmp/scr" log_event -T DEEP -p "$deep"; done
check "a long prefix is one job" 0 1 ask "SELECT COUNT(*) FROM jobnames WHERE name LIKE '%/deep'"
for i in $(seq 20); do SCR_USER_NAME=many event -T "NEW$((i % 3))" -N "$i" & writers="${writers:-} $!"; done
for w in $writers; do wait "$w" || failed=$((failed + 1)); done
check "20 writers at once, 3 new types, a new job" 0 "20 3 1" ask "SELECT CONCAT((SELECT COUNT(*) FROM events JOIN types ON types.id=type_id WHERE types.name LIKE 'NEW%'), ' ',
  (SELECT COUNT(*) FROM types WHERE name LIKE 'NEW%'), ' ', (SELECT COUNT(*) FROM jobs JOIN usernames ON usernames.id=username_id WHERE name='many'))"
for txt in 0 1; do
  for db in 0 1; do
    rm -f .scr/log
    before=$(rows COMBINATION)
    check "text $txt, database $db" 0 "" env SCR_LOG_TXT_ENABLE=$txt SCR_LOG_DB_ENABLE=$db SCR_LOG_SYSLOG_ENABLE=1 "$tmp/scr" log_event -T COMBINATION
    check "text $txt, database $db: lines and rows" 0 "$txt $db" echo "$(cat .scr/log | grep -c COMBINATION)" "$(($(rows COMBINATION) - before))"
  done
done 2>/dev/null
says "the statements" 0 "^SCR: INSERT INTO events .*'DEBUG'\|^SCR: SELECT id FROM types WHERE name='DEBUG'" env SCR_LOG_DB_DEBUG=1 "$tmp/scr" log_event -T DEBUG

# ---- what is refused; never with the password
refuse() { # WHAT PATTERN VARIABLE=VALUE...
  local what=$1 pattern=$2
  shift 2
  says "$what" 1 "$pattern" env "$@" "$tmp/scr" log_event -T REFUSED
  check "$what, no password is printed" 1 "" grep -F -e 'pa;ss' -e w0rd -e S3cret "$tmp/out"
}
refuse "a wrong password" "cannot connect to the log database scr.*Access denied" SCR_LOG_DB_PASS=S3cret SCR_LOG_DB_DEBUG=1 SCR_DEBUG=2
refuse "an unknown user" "Access denied for user 'nobody'" SCR_LOG_DB_USER=nobody
refuse "no such database" "nothere on" SCR_LOG_DB_NAME=nothere
refuse "no server" "none.socket" SCR_LOG_DB_HOST=/none.socket
refuse "no such host" "no.such.host.invalid" SCR_LOG_DB_HOST=no.such.host.invalid
refuse "nobody listens" "127.0.0.1:1:" SCR_LOG_DB_HOST=127.0.0.1:1
refuse "a user who may not write" "refuses an entry: INSERT command denied" SCR_LOG_DB_USER=reader
cp .scrconf "$tmp/conf"
for line in 'SCR_LOG_DB_PASS=S3cret=x' 'SCR_LOG_DB_PASS=a S3cret' 'SCR_LOG_DB_PASS=a$S3cret' 'SCR_LOG_DB_PASS=S3cret\' "SCR_LOG_DB_PASS=S3cret$long$long"; do
  printf '%s\n' "$line" >.scrconf
  refuse "a password that cannot be read, ${line:15:10}" "SCR_LOG_DB_PASS=(not shown)\|line 1: the line cannot be read, and is not shown\|Access denied" SCR_X=1
done
printf 'SCR_LOG_DB_PASS=a S3cret=x\n' >.scrconf
job 1 >"$tmp/out" 2>&1
check "a word after a password" 1 "" grep -i S3cret "$tmp/out"
cp "$tmp/conf" .scrconf
says "ranks with other passwords" 0 "SCR_LOG_DB_PASS is not the same on rank 1 as on rank 0" sh -c \
  '$1 -n 1 env SCR_LOG_DB_PASS=S3cret1 "$2" 1 : -n 1 env SCR_LOG_DB_PASS=S3cret2 "$2" 1; true' sh "$MPIEXEC" "$tmp/job"
check "ranks with other passwords, which are not printed" 1 "" grep S3cret "$tmp/out"

# ---- a job
ask "DELETE FROM events; DELETE FROM transfers"
rm -rf .scr "$tmp/node/"* step.*
says "a job" 0 "^done" job 4
text() { sed -n "s/.*, $1=\([A-Z_]*\).*/\1/p" .scr/log | sort | uniq -c | awk '{print $2, $1}'; }
check "a job's events are those of the text log" 0 "$(text event)" ask "SELECT CONCAT(types.name, ' ', COUNT(*)) FROM events JOIN types ON types.id=type_id GROUP BY types.name ORDER BY types.name"
check "a job's transfers are those of the text log" 0 "$(text xfer)" ask "SELECT CONCAT(types.name, ' ', COUNT(*)) FROM transfers JOIN types ON types.id=type_id GROUP BY types.name ORDER BY types.name"
check "a job's phases begin and end" 0 "4 CHECKPOINT_END, 4 CHECKPOINT_START, 5 COMPUTE_END, 5 COMPUTE_START, 1 END, 2 FLUSH_START, 2 FLUSH_SUCCESS, 1 INIT_END, 1 START" \
  sh -c "sed -n 's/.*, event=\([A-Z_]*\).*/\1/p' .scr/log | sort | uniq -c | awk '{printf \"%s%s %s\", n++ ? \", \" : \"\", \$1, \$2}'"
says "a job without the macro" 0 "^done" env PROGRAM=plain bash -c "$(declare -f job); tmp=$tmp MPIEXEC='$MPIEXEC'; job 5"
check "a job without the macro, one warning" 0 1 grep -c "built without -DSCR_WITH_MYSQL" "$tmp/out"
says "a job with a wrong password" 0 "^done" env SCR_LOG_DB_PASS=S3cret bash -c "$(declare -f job); tmp=$tmp MPIEXEC='$MPIEXEC'; job 6"
check "a job with a wrong password, one warning" 0 1 grep -c "Access denied.*the log of this run has gaps" "$tmp/out"
check "a job with a wrong password, which is not printed" 1 "" grep S3cret "$tmp/out"

# ---- a server that fails in the middle
during() { # WHAT COMMAND: before step 3 of a new job
  printf '#!/bin/sh\n[ "$1" != 3 ] || { %s; }\n' "$2" >"$tmp/step" && chmod +x "$tmp/step"
  rm -rf .scr "$tmp/node" step.*
  mkdir "$tmp/node"
  ask "DELETE FROM events; DELETE FROM transfers"
  local began=$SECONDS
  BEFORE_STEP=$tmp/step says "$1" 0 "^done" job 6
  took=$((SECONDS - began))
  check "$1, all checkpoints" 0 6 grep -c "checkpoint$" "$tmp/out"
  check "$1, all in the text log" 0 6 grep -c CHECKPOINT_END .scr/log
}
during "the server is killed in the middle" "kill -9 $server; sleep 0.5"
check "the server is killed in the middle, one warning" 0 1 grep -c "the log of this run has gaps" "$tmp/out"
wait "$server" 2>/dev/null
start
check "what was written before is there" 0 2 rows CHECKPOINT_END
during "the connection is lost in the middle" "mariadb --no-defaults -S $tmp/socket -u root -N -B -e \"SELECT CONCAT('KILL ', id, ';') FROM information_schema.processlist WHERE user='jobs'\" | mariadb --no-defaults -S $tmp/socket -u root"
check "the connection is lost in the middle, no row is" 0 6 rows CHECKPOINT_END
check "the connection is lost in the middle, no warning" 1 0 grep -c "has gaps" "$tmp/out"
during "the server hangs in the middle" "kill -STOP $server"
kill -CONT "$server"
check "the server hangs in the middle, one warning" 0 1 grep -c "the log of this run has gaps" "$tmp/out"
says "the server hangs in the middle, the job waits once" 0 yes sh -c "[ $took -lt 25 ] && echo yes || echo $took s"
during "the table is dropped in the middle" "mariadb --no-defaults -S $tmp/socket -u root scr -e 'DROP TABLE events'"  2>/dev/null
check "the table is dropped in the middle, one warning" 0 1 grep -c "refuses an entry.*the log of this run has gaps" "$tmp/out"
stop
finish
