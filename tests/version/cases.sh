# cases.sh - what make_data.sh and version.sh share: the place of the data, the program, its runs, and the commands.
# shellcheck shell=bash disable=SC2034,SC2086
#
# The data of version 1 of the library's files is one archive for each case, in tests/data/version-1.  Its records hold
# absolute paths, names of hosts and of the user; so it is made and read in one place, on hosts that are called node-v0 to
# node-v3 (version.c says so), by the user `tester`, in the job `version1`.
D=/tmp/scr-version-1-data # of the data, while it is made or read: D/<case>/{prefix,cntl,cache}
ROOT=$(cd "$HERE/../.." && pwd)
DATA=$ROOT/tests/data/version-1
. "$ROOT/tests/find_mpi.sh"
unset "${!SCR_@}"
export SCR_USER_NAME=tester SCR_JOB_ID=version1 SCR_VIRTUAL_NODES=4

# Take the directory D, which other runs on this machine use too; one that is not of this kind is left alone.
take_place() {
  local owner waited=0
  until mkdir -m 700 "$D" 2>/dev/null && echo $$ >"$D/owner"; do
    owner=$(cat "$D/owner" 2>/dev/null)
    if [ -L "$D" ] || [ ! -O "$D" ] || { [ "$waited" -gt 10 ] && [ -z "$owner" ]; }; then
      echo "$D exists, and is not a directory that this test has made: move it away"
      return 1
    fi
    if [ -n "$owner" ] && ! kill -0 "$owner" 2>/dev/null; then # of a test that was killed
      mv "$D" "$D.$$" 2>/dev/null && rm -rf "$D.$$"
    elif [ "$waited" -ge 240 ]; then
      echo "$D is in use by process $owner"
      return 1
    else
      sleep 1
      waited=$((waited + 1))
    fi
  done
}

leave_place() { [ "$(cat "$D/owner" 2>/dev/null)" != $$ ] || rm -rf "$D"; }

# Build the program over the library in directory $1, as $2.  Fortified headers would go around its host name.
build_version() {
  local flags="-O0 -g -U_FORTIFY_SOURCE -I$1 ${SCR_TEST_CFLAGS:-}"
  $MPICC $flags -Dgethostname=version_gethostname -Drename=version_rename -c -o "$2.o" "$1/scr_impl.c" &&
    $MPICC $flags -o "$2" "$HERE/version.c" "$2.o" -lz -lpthread
}

# Run PROGRAM with STEPS on the directories of CASE.
run_steps() { # PROGRAM CASE STEP...
  local program=$1 dir=$D/$2
  shift 2
  SCR_PREFIX=$dir/prefix SCR_CNTL_BASE=$dir/cntl SCR_CACHE_BASE=$dir/cache \
    timeout -k 5 90 $MPIEXEC -n 4 "$program" "$@" </dev/null
}

# The settings of CASE, the same for the run that made it and for those that read it.
settings() { # CASE
  unset SCR_FLUSH SCR_CACHE_SIZE SCR_COPY_TYPE SCR_PRESERVE_DIRECTORIES
  case $1 in
  prefix) export SCR_FLUSH=1 SCR_CACHE_SIZE=3 ;;
  xor) export SCR_FLUSH=0 SCR_CACHE_SIZE=2 ;;
  rs) export SCR_FLUSH=0 SCR_COPY_TYPE=RS ;;
  names) export SCR_FLUSH=0 ;;
  partner) export SCR_FLUSH=0 SCR_COPY_TYPE=PARTNER ;;
  flat) export SCR_FLUSH=1 SCR_PRESERVE_DIRECTORIES=0 ;;
  *) export SCR_FLUSH=1 ;;
  esac
}

ask() { # COMMAND...: its words to stdout, and its exit code
  echo "$ $(basename "$1") ${*:2}"
  "$@" 2>/dev/null
  echo "exit $?"
}

# What the commands in directory $1 say about the directories of CASE, which changes nothing in them.
ask_all() { # BIN CASE
  local bin=$1 p=$D/$2/prefix id
  ask "$bin/scr_index" --list --prefix "$p"
  ask "$bin/scr_nodes_file" --dir "$p"
  ask "$bin/scr_retries_halt" --dir "$p"
  for option in --latest --list-ckpt --list-output; do ask "$bin/scr_flush_file" --dir "$p" $option; done
  for id in 1 2 3 4; do
    for option in --location --name --subdir --need-flush; do ask "$bin/scr_flush_file" --dir "$p" $option $id; done
  done
}

# What scr_rebuild of directory $1 says about, and makes of, the datasets in the cache of CASE, which stays as it is.
ask_rebuild() { # BIN CASE
  local id into=$D/rebuilt
  for id in 1 2; do
    compgen -G "$D/$2/cache/tester/scr.version1/node.node-v*/scr.dataset.$id" >/dev/null || continue
    cp -a "$D/$2/cache/tester/scr.version1" "$D/copy"
    mkdir "$into"
    ask "$1/scr_rebuild" --dry-run --verbose --into "$into" "$D"/copy/node.node-v*/scr.dataset.$id
    ask "$1/scr_rebuild" --into "$into" "$D"/copy/node.node-v*/scr.dataset.$id
    (cd "$into" && find . -name .scr -prune -o -type f -print | sort | while read -r f; do cksum "$f"; done)
    rm -rf "$into" "$D/copy"
  done
}
