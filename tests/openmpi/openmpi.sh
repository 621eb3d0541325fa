#!/bin/bash
# openmpi.sh - a copy of the tree is built with Open MPI and tested: by check-quick, in long by check-full and check-scale, too.
# Last line: N passed, N failed, N skipped.
#
#   openmpi.sh check|full|long
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
case ${1:-} in check | full) goals=check-quick ;; long) goals="check-quick check-full check-scale" ;; *) sed -n '2,5s/^# \{0,1\}//p' "$0"; exit 2 ;; esac
# What has no place here, and why; all else that is skipped is a failure.
excused="process images need MPICH
srun does not start ranks of Debian's Open MPI
static linking, as there is no libz.a, or no archive of the MPI library
static linking in Fortran, as there is no archive of the MPI library"
if ! command -v mpicc.openmpi >/dev/null; then
  echo "skipped: Open MPI: there is no mpicc.openmpi; \`make setup check-full\` installs it on Debian"
  echo "0 passed, 0 failed, 1 skipped"
  exit
fi
[ "$1" != long ] || unset TMPDIR # nodes have a /dev/shm of their own, without what is in this one
tree=$(mktemp -d) || exit 1
trap 'rm -rf "$tree"' EXIT
unset MPICC MPIEXEC MPIFORT MPICXX BIN ONLY CI TMPDIR MAKEFLAGS MAKEOVERRIDES # of the suite that runs this
(cd "$top" && cp -r scr.h scr_impl.c tools tests examples Makefile LICENSE README.md "$tree") && make -s -C "$tree" clean || exit 1
# What does not depend on MPI is taken as it is built here, and has been tried; the library is optimised less: not so in long.
if [ "$1" != long ]; then
  export TEST_MPI_ALONE=1
  for file in tools/manual/manual.inc tools/scr tests/unit/unit; do
    [ -n "$(cd "$top" && find scr_impl.c scr.h tools tests/unit -newer "$file" -name '*.[chm]*' -not -name '*.inc')" ] ||
      cp "$top/$file" "$tree/$file"
  done
  make --no-print-directory -C "$tree" MPICC=mpicc.openmpi CFLAGS="-O1 -g" libscr.a || exit 1
fi
[ "$1" != long ] || export TEST_PATIENCE=2 # another suite runs beside it
passed=0 failed=0
for goal in $goals; do
  make --no-print-directory -C "$tree" MPICC=mpicc.openmpi "$goal" 2>&1 | tee "$tree/now"
  line=$(grep -E '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' "$tree/now" | tail -n 1)
  read -r p _ f _ <<<"${line:-0 passed, 1 failed}"
  passed=$((passed + p)) failed=$((failed + f))
  cat "$tree/now" >>"$tree/log"
done
sed -n 's/^ *skipped: //p' "$tree/log" | sort -u >"$tree/skipped"
skipped=$(grep -cvxF "$excused" "$tree/skipped")
# An excuse that is no longer needed goes; what README says of Open MPI is what was tried.
if [ "$1" = long ]; then
  grep -vxF -f "$tree/skipped" <<<"$excused" >"$tree/gone" && failed=$((failed + 1)) && sed 's/^/FAIL  no longer skipped: /' "$tree/gone"
fi
version=$(mpiexec.openmpi --version | sed -n '1s/.* \([0-9]*\.[0-9]*\).*/\1/p')
grep -q "^| MPI libraries |.*; Open MPI $version: all but process images, static linking, and srun" "$top/README.md" || {
  failed=$((failed + 1))
  echo "FAIL  README's table does not name Open MPI $version, and what is excused here"
}
echo "$passed passed, $((failed + skipped)) failed, 0 skipped"
[ $((failed + skipped)) = 0 ]
