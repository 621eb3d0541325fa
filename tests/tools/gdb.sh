#!/bin/sh
# gdb prints hashes as trees, by tools/scr-gdb.py.  Last line: N passed, N failed, N skipped.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
. "$top/tests/tools/check.sh"

command -v gdb >/dev/null || skip "gdb is not here"
gdb -nx -batch -ex 'python print(1)' 2>&1 | grep -qx 1 || skip "this gdb has no Python"
"${CC:-cc}" -g -O0 -o "$tmp/hash" "$top/tests/tools/gdb_hash.c" -lz || exit 1
# in_gdb EXPRESSION: what gdb prints of it where the program stops
in_gdb() {
  gdb -nx -batch -ex "source $top/tools/scr-gdb.py" -ex 'set disable-randomization off' -ex 'break stop' -ex run \
    -ex 'echo ---\n' -ex "print $1" "$tmp/hash" 2>&1 </dev/null | sed '1,/^---$/d'
}
[ -n "$(in_gdb 1)" ] || skip "gdb may not run a program here"

check "a tree" 0 '$1 = scr_hash with 3 keys
  NODES = 4
  HOST
    node1
      CACHE = /ssd/a b
    node2
  LINE\n' in_gdb '*h'
check "a part of the tree" 0 '$1 = scr_hash with 2 keys
  node1
    CACHE = /ssd/a b
  node2' in_gdb '*h->first->next->hash'
check "nothing in it" 0 '$1 = scr_hash with 0 keys' in_gdb '*empty'
check "no hash" 0 '$1 = (scr_hash *) 0x0' in_gdb none
says "a damaged hash" 0 "Cannot access memory at address" in_gdb '*broken'
finish
