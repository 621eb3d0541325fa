#!/bin/sh
# build.sh SOURCE OBJECT SECTIONS [FLAGS...] - compile a program for the simulator, unchanged: its variables go to
#   sections SECTIONSdata, SECTIONSbss and SECTIONStls, and its calls to the system to sim_*, as symbols.txt says.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
source=$1 object=$2 sections=$3
shift 3
[ "$sections" = scr ] || { # the audit is a part of the commands
  printf '#include "%s"\n#include "audit_files.h"\n' "$source" >"$object.in.c"
  source=$object.in.c
}
${CC:-cc} ${OPT:--O2} -g -fno-pie -fno-builtin-printf -fno-builtin-fprintf -U_FORTIFY_SOURCE -I"$here" -I"$here/../.." \
  "-D_Thread_local=__attribute__((section(\"${sections}tls\")))" -DSCR_WAIT_SPINS=1 -DSCR_API=extern -include "$here/sometimes.h" "$@" \
  -c "$source" -o "$object.tmp"
# Nothing may pass the simulator by.
unknown=$(nm -u "$object.tmp" | awk 'NR == FNR { known[$2] = 1; next } !($2 in known) && $2 !~ /^(MPI_|SCR_|_GLOBAL_)/ { print $2 }' \
  "$here/symbols.txt" -)
: >"$object.names"
: >"$object.c"
[ "$sections" = scr ] || { # what a command calls may never be run here; if it is, the seed fails
  for name in $unknown; do
    echo "$name sim_unknown_$name" >>"$object.names"
    echo "int sim_unknown(const char* name); int sim_unknown_$name(void) { return sim_unknown(\"$name\"); }" >>"$object.c"
  done
  unknown=
}
if [ -n "$unknown" ]; then
  for name in $unknown; do
    echo "$source calls $name, which the simulator does not know: add a line to tests/sim/symbols.txt, \`serve $name\`" \
      "with a function sim_$name in tests/sim/files.c or libc.c, or \`plain $name\` if it touches only its arguments" >&2
  done
  rm -f "$object.tmp"
  exit 1
fi
# `sleep`: sim_sleep is another function.
awk '$1 == "serve" { print $2, $2 == "sleep" ? "sim_sleep_seconds" : "sim_" $2 }' "$here/symbols.txt" >>"$object.names"
objcopy --redefine-syms="$object.names" --redefine-sym main="sim_${sections}_main" --rename-section ".data=${sections}data" \
  --set-section-flags .bss=alloc,load,contents,data --rename-section ".bss=${sections}bss,alloc,load,contents,data" \
  "$object.tmp"
${CC:-cc} -O1 -fno-pie -c "$object.c" -o "$object.c.o"
ld -r -o "$object" "$object.tmp" "$object.c.o"
rm -f "$object".*
