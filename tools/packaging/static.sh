#!/bin/sh
# static.sh DIR - build the commands into DIR as one static program, which runs on any Linux of this processor.
#
# CC is the compiler, CFLAGS its options.  Where it cannot link zlib statically, as musl-gcc of Debian, zlib is built
# with it (zlib.sh).  The chapters of the manual have to be embedded already.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
dir=${1:?the directory}
CC=${CC:-cc}
mkdir -p "$dir"
zlib=
# shellcheck disable=SC2086
if ! echo '#include <zlib.h>
int main(void) { return *zlibVersion() == 0; }' | $CC -static -x c -o "$dir/scr" - -lz 2>/dev/null; then
  zlib=$here/build/$(basename "${CC%% *}")
  sh "$here/zlib.sh" "$CC" "$zlib"
fi
# shellcheck disable=SC2086
$CC ${CFLAGS:--O2} -static -DSCR_STATIC -DTOOL_MANUAL -I"$top" ${zlib:+-I"$zlib" -L"$zlib"} -o "$dir/scr" "$top/tools/scr.c" -lz
