#!/bin/bash
# filesystems.sh - cache and prefix on one kind of file system after the other, in a file that is mounted: a run is killed
# and loses a node, what is flushed, packed or in the background, is fetched again, and the answer is always the same.
# Needs root, loop devices, and mkfs of each kind.  Last line: N passed, N failed, N skipped.
#
#   filesystems.sh [long]
#
# The table of README names the kinds.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
kinds="tmpfs ext4 xfs btrfs overlay noexec caseless" # the last is NTFS, on which A and a are one file

# one KIND: the cases, in a directory that mktemp makes on it
if [ "${1:-}" = one ]; then
  . "$top/tests/programs.sh"
  ln -s "$top/examples/heat2d" heat2d # another file system may be mounted so that nothing of it is executed
  export SCR_FLUSH=0 SCR_FSYNC=1 SCR_CACHE_SIZE=2
  # shellcheck disable=SC2086
  {
    : >log
    computes heat2d $options
    continues heat2d heat2d
    for how in SCR_USE_CONTAINERS=0 SCR_USE_CONTAINERS=1 SCR_FLUSH_ASYNC=1 SCR_CACHE_BYPASS=1; do
      fresh
      (export SCR_FLUSH=1 "$how" SCR_CONTAINER_SIZE=50000 && run 4 heat2d $options)
      rm -rf base
      mkdir base
      reads_last heat2d "a run with $how"
    done
  }
  echo "$passed passed, $failed failed, $skipped skipped"
  [ "$failed" = 0 ]
  exit
fi

finish() {
  echo "$passed passed, $failed failed, $skipped skipped"
  [ "$failed" = 0 ]
  exit
}
passed=0 failed=0 skipped=0
[ -x "$top/examples/heat2d" ] || { echo "examples/heat2d is not built"; failed=1; finish; }
# In mounts of its own, which vanish with the last process.
if [ -z "${TEST_MOUNTED:-}" ]; then
  if unshare --mount true 2>/dev/null; then TEST_MOUNTED=1 exec unshare --mount "$0" "$@"; fi
  skipped=1
  echo "skipped: file systems in files; only root may mount them"
  finish
fi
work=$(mktemp -d) || exit 1
image=$(TMPDIR=/var/tmp mktemp -d) # on a disk
trap 'umount -l "$work"/* 2>/dev/null; rm -rf "$work" "$image"' EXIT

# mounted KIND: one is mounted at $work/KIND
mounted() {
  local at=$work/$1
  mkdir "$at"
  case $1 in
  tmpfs) mount -t tmpfs -o size=400M none "$at" ;;
  noexec) mount -t tmpfs -o size=400M,noexec none "$at" ;;
  overlay) mkdir "$image/lower" "$image/upper" "$image/work" &&
    mount -t overlay -o "lowerdir=$image/lower,upperdir=$image/upper,workdir=$image/work" none "$at" ;;
  caseless) truncate -s 400M "$image/$1" && mkntfs -q -F "$image/$1" && lowntfs-3g -o ignore_case,permissions "$image/$1" "$at" &&
    touch "$at/A" && [ -e "$at/a" ] ;;
  *) truncate -s 400M "$image/$1" && "mkfs.$1" -q "$image/$1" && mount -o loop "$image/$1" "$at" ;;
  esac
}
tested=()
for kind in $kinds; do
  if ! mounted "$kind" >"$image/log" 2>&1; then
    skipped=$((skipped + 1))
    echo "skipped: $kind: $(tail -n 1 "$image/log")"
    continue
  fi
  chmod 1777 "$work/$kind"
  TMPDIR=$work/$kind "$0" one "$kind" >"$image/log" 2>&1 || sed "s/^/    /" "$image/log"
  read -r p _ f _ <<<"$(tail -n 1 "$image/log")"
  [ "${f:-1}" != 0 ] || tested+=("$kind")
  passed=$((passed + ${p:-0})) failed=$((failed + ${f:-1}))
  echo "tested  $kind: ${p:-0} cases right, ${f:-all} wrong"
  umount -l "$work/$kind"
done
if [ "$(sed -n 's/^| file systems | \(.*\) | .*/\1/p' "$top/README.md")" = "$(sed 's/ /, /g' <<<"${tested[*]}")" ]; then passed=$((passed + 1)); else
  failed=$((failed + 1))
  echo "FAIL  README's table names other file systems than ${tested[*]}"
fi
finish
