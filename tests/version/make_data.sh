#!/bin/bash
# make_data.sh DIR - make tests/data/version-1 with the library in DIR, which `make` has built there.
#
# It was run once, with the first version of the library.  The data stays as it is: later versions have to read it.
set -u
HERE=$(cd "$(dirname "$0")" && pwd)
old=$(cd "${1:?the directory of the first version of the library}" && pwd) || exit 1
# shellcheck source=tests/version/cases.sh
. "$HERE/cases.sh"
[ ! -e "$DATA" ] || { echo "$DATA exists: it is data of the first version, which nothing else can make again"; exit 1; }
take_place || exit 1
trap leave_place EXIT
build_version "$old" "$D/version" || exit 1
mkdir -p "$DATA"

# Begin CASE; the runs of this script follow with `steps`.
begin() { # CASE
  case=$1
  mkdir -m 700 "$D/$case" "$D/$case"/{prefix,cntl,cache}
  settings "$case"
}
steps() { run_steps "$D/version" "$case" "$@" || { echo "$case: $* has failed"; exit 1; }; }
dies() { # RANKS:PART STEP..., the last of which ends the program
  ! VERSION_KILL=$1 run_steps "$D/version" "$case" "${@:2}" >/dev/null 2>&1 || { echo "$case: $* goes on"; exit 1; }
}
lose_nodes() { # NUMBER...
  local i
  for i in "$@"; do rm -r "$D/$case"/{cntl,cache}/tester/scr.version1/node.node-v"$i"; done
}
lose_cache() { rm -r "$D/$case"/{cntl,cache}/tester; }
# Write the archive, and what the commands say about it.
keep() {
  (cd "$D" && tar --sort=name --owner=0 --group=0 --numeric-owner -cf - "$case" | gzip -9n >"$DATA/$case.tar.gz") || exit 1
  { ask_all "$old/tools" "$case"; ask_rebuild "$old/tools" "$case"; } >"$DATA/$case.txt"
}

# ---- the cache, of which nodes are lost
begin xor # killed while it writes the third checkpoint
dies - none put:ck1 put:ck2 open:ck3
lose_nodes 2
keep
begin rs
steps put:ck1 end
lose_nodes 1 3
keep
begin partner
steps put:ck1 end
lose_nodes 0
keep
begin names # in a store without directories: names of files tell where they belong
printf 'SCR_COPY_TYPE=FILE\nSTORE=%s MKDIR=0\nCKPT=0 STORE=%s TYPE=XOR\n' "$D/names/cache" "$D/names/cache" >"$D/names/prefix/.scrconf"
steps put:ck1 end
rm -r "$D"/names/cntl/tester/scr.version1/node.node-v1 "$D"/names/cache/*node.node-v1%*
keep

# ---- the prefix, of which the cache is lost
begin prefix # an output dataset, and a newer checkpoint that the application rejected
steps put:ck1 put:ck2 out:o3 put:ck4 end
steps reject:ck4 end
lose_cache
keep
begin chosen # an older checkpoint, which the user chose
steps put:ck1 put:ck2 current:ck1 end
lose_cache
keep
begin flat
steps put:ck1 put:ck2 end
lose_cache
keep
begin same # the second checkpoint has replaced the first
steps put:state@1 put:state@2 end
lose_cache
keep

# ---- killed in a flush, with the cache: before the index is updated; after that, with two of four ranks' files renamed
begin torn
dies 0:/index.scr put:ck1 kill:ck2
keep
begin torn-same
dies 0:/index.scr put:state@1 kill:state@2
keep
begin redo
dies 23:/rank_ put:ck1 kill:ck2
keep
begin redo-same
dies 23:/rank_ put:state@1 kill:state@2
keep
