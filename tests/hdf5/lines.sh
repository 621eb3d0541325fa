#!/bin/sh
# lines.sh - what each way to write checkpoints takes in one program, examples/heat_plain.c: how many lines the program
# with checkpoints has that are new or other; and the lines of examples/particles.c and blast.c without which these have
# none.  Lines that are blank or a comment alone do not count.  The table of the chapter choosing has these figures.
cd "$(dirname "$0")/../../examples" || exit 1
code() { awk '/^ *\/\*/ {comment = 1} !comment && NF {print} /\*\/ *$/ {comment = 0}' "$1"; }
plain=$(mktemp) || exit 1
trap 'rm -f "$plain"' EXIT
code heat_plain.c >"$plain"
for program in heat_plain heat_regions heat_arrays heat_files hdf5; do
  echo "examples/$program.c $(code $program.c | diff "$plain" - | grep -c '^>')"
done
for program in particles blast; do
  echo "examples/$program.c $(code $program.c | grep -c 'SCR_\|"scr\.h"')"
done
