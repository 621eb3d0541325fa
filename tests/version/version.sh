#!/bin/bash
# version.sh check|full|long - read what version 1 of the library's files has left: caches, prefixes, killed flushes.
#
# tests/data/version-1 has an archive for each case, and what the commands of version 1 said about it; make_data.sh has
# made them.  Last line: N passed, N failed, N skipped.
set -u
HERE=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/version/cases.sh
. "$HERE/cases.sh"
BIN=${BIN:-$ROOT/tools}
passed=0 failed=0 skipped=0
take_place || { echo "0 passed, 1 failed, 0 skipped"; exit 1; }
trap leave_place EXIT
trap 'exit 130' INT TERM HUP
build_version "$ROOT" "$D/version" || { echo "0 passed, 1 failed, 0 skipped"; exit 1; }

# check NAME COMMAND...: passed when it succeeds
check() {
  if "${@:2}" >"$D/log" 2>&1; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAIL  $1"
    tail -n 40 "$D/log" | sed 's/^/      /'
  fi
}

# The directories of CASE as they were left.
unpack() { # CASE
  case=$1
  rm -rf "${D:?}/$case"
  tar -xzpf "$DATA/$case.tar.gz" --no-same-owner -C "$D" || { echo "0 passed, 1 failed, 0 skipped"; exit 1; }
  settings "$case"
}
lose_cache() { rm -r "$D/$case"/{cntl,cache}/tester; }
# A run on the directories as they are; and one on those that the data has.
goes_on() { # NAME STEP...
  check "$case: $1" run_steps "$D/version" "$case" "${@:2}"
}
reads() { # CASE NAME STEP...
  unpack "$1"
  goes_on "${@:2}"
}
# The same, without the cache.
fetches() { # CASE NAME STEP...
  unpack "$1"
  lose_cache
  goes_on "${@:2}"
}
# That the flush left nothing behind on the prefix.
tidy() {
  check "$case: no temporary files of checkpoints are left" test -z "$(find "$D/$case/prefix" -name 'rank_*.tmp' 2>&1)"
}

for archive in "$DATA"/*.tar.gz; do
  unpack "$(basename "$archive" .tar.gz)"
  { ask_all "$BIN" "$case"; ask_rebuild "$BIN" "$case"; } >"$D/said"
  check "$case: the commands say what they said" diff "$DATA/$case.txt" "$D/said"
done

# ---- the cache
reads xor "node 2 is rebuilt" get:ck2 put:ck4 end
goes_on "its next checkpoint is offered" get:ck4 end
reads xor "the older checkpoint is rebuilt too" reject:ck2 get:ck1 end
reads rs "nodes 1 and 3 are rebuilt" get:ck1 end
rm -r "$D"/rs/{cntl,cache}/tester/scr.version1/node.node-v[02]
goes_on "then nodes 0 and 2" get:ck1 end
reads partner "node 0 is rebuilt" get:ck1 end
rm -r "$D"/partner/{cntl,cache}/tester/scr.version1/node.node-v1
goes_on "then node 1" get:ck1 end
reads names "node 1 is rebuilt" get:ck1 put:ck2 end
rm -r "$D"/names/cntl/tester/scr.version1/node.node-v2 "$D"/names/cache/*node.node-v2%*
goes_on "then node 2" get:ck2 end
unpack xor
rm -r "$D"/xor/{cntl,cache}/tester/scr.version1/node.node-v0
goes_on "with two nodes lost nothing is offered, and an error says so" lost

# ---- the prefix
reads prefix "the newest checkpoint that was not rejected is fetched" get:ck2 prefix:ck1 prefix:ck2 prefix:o3 put:ck5 end
goes_on "its next checkpoint is offered" get:ck5 end
reads prefix "the older checkpoint is fetched too" reject:ck2 get:ck1 end
reads chosen "the checkpoint is fetched that the user chose" get:ck1 put:ck3 end
goes_on "until a newer one is complete" get:ck3 prefix:ck1 prefix:ck3 end
reads flat "a checkpoint in a directory of its number is fetched" get:ck2 end
reads same "the checkpoint that replaced another is fetched" get:state@2 prefix:state@2 end

# ---- killed flushes
reads redo "the cache has the checkpoint, and its flush is finished" get:ck2 prefix:ck1 prefix:ck2 end
tidy
fetches redo "without the cache the flush is finished, and the checkpoint fetched" get:ck2 prefix:ck1 prefix:ck2 end
tidy
reads redo-same "the cache has the checkpoint, and its flush is finished" get:state@2 prefix:state@2 end
tidy
fetches redo-same "without the cache the flush is finished, and the checkpoint fetched" get:state@2 prefix:state@2 end
tidy
reads torn "the cache has the checkpoint, which is flushed again" get:ck2 prefix:ck1 prefix:ck2 end
tidy
fetches torn "without the cache the older checkpoint is fetched" prefix:ck1 no-prefix:ck2 get:ck1 put:ck2 end
goes_on "the lost checkpoint is written again, with a number of its own" get:ck2 prefix:ck2 end
reads torn-same "the cache has the checkpoint, which is flushed again" get:state@2 prefix:state@2 end
tidy
fetches torn-same "without the cache the older checkpoint is fetched, for its files were not touched" \
  prefix:state@1 get:state@1 end

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
