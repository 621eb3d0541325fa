#!/bin/bash
# hdf5.sh - one solver with each way to write checkpoints: HDF5 files of each rank, other files, regions, arrays.  Runs are
# killed in a step and in the middle of a file, lose a node, and end with the answer of the solver without checkpoints.
# Last line: N passed, N failed, N skipped.
#
# With any HDF5 that tests/find_hdf5.sh finds; without one, the other ways alone.  From the environment: MPICC, MPIEXEC, HDF5.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
. "$top/tests/programs.sh"
cp "$top"/examples/{heat_*,hdf5,particles,blast}.c "$top/tests/hdf5/read.c" .
export SCR_FLUSH=0 SCR_CACHE_SIZE=4 SCR_CHECKPOINT_INTERVAL=20
solver="64 100" # its points in one direction, and its steps
answer() { sed -n 's/^heat: heat //p; s/^particles: sums //p; s/^blast: time //p' log; }
: >log

if hdf5=$(CC="$MPICC" sh "$top/tests/find_hdf5.sh" 2>found); then with=hdf5
else
  echo "skipped: $(head -n 1 found)"
  hdf5='' with='' skipped=1
fi

# ---- the programs ----

strict="-g -O1 -Wall -Wextra -Wshadow -Werror"
libraries="-lz -lpthread -ldl -lm"
# PROGRAM_killed.c: rank 2 dies in step 50
killed() { sed '/^    swap = /a\    if (rank == 2 \&\& i == 49) perror("killed in a step"), raise(SIGKILL);
  s/^    step++;/if (rank == 2 \&\& step == 49) perror("killed in a step"), raise(SIGKILL);\n&/
  /^#include <stdio.h>/i #include <signal.h>' "$1.c" >"$1_killed.c"; }
# PROGRAM_halved.c: all ranks die in the third checkpoint, before the first line that has TEXT, when a part is written
halved() { # PROGRAM TEXT COUNT WRITING: the COUNT-th time that it is WRITING there
  awk -v text="$2" -v dies="  { static int times; if ($4 && ++times == $3) perror(\\\"killed in a file\\\"), raise(SIGKILL); }" '
    /^#include <stdio.h>/ {print "#include <signal.h>"} index($0, text) && !done++ {print dies} {print}' "$1.c" >"$1_halved.c"
}
for program in particles blast; do grep -v 'SCR_\|"scr\.h"' $program.c >${program}_plain.c; done
for program in heat_files heat_regions heat_arrays hdf5 particles blast; do killed "$program"; done
halved heat_files '  return fclose(f)' 3 "*mode == 'w'"
halved hdf5 '  if (set >= 0 && H5Dclose' 8 writing # a checkpoint has three datasets
# The disk of a rank is full in its third checkpoint, and has room again in the fourth.
sed '/^    must(SCR_Need_checkpoint/i\    full(rank == 1 \&\& i == 59);
/^int main/i static void full(int yes)\n{\n  struct rlimit l = {RLIM_INFINITY, RLIM_INFINITY};\n\n  if (yes) l.rlim_cur = 5000;\n  signal(SIGXFSZ, SIG_IGN);\n  setrlimit(RLIMIT_FSIZE, \&l);\n}\n
/^#include <stdio.h>/i #include <signal.h>\n#include <sys/resource.h>' hdf5.c >hdf5_full.c
# Datasets of HDF5 stay open, and H5Fclose closes their file, or not.
sed '/H5Dclose(set) < 0/d' hdf5.c >hdf5_open.c
sed '/H5Pset_fclose_degree/d' hdf5_open.c >hdf5_weak.c
# shellcheck disable=SC2086
{
  build scr_impl.o $MPICC -g -O0 -c scr_impl.c
  build yield.o $MPICC -O1 -c "$top/tests/cluster/yield.c" # makes MPI's waits yield: ranks share cores here
  built
  [ -z "$with" ] || build read $MPICC $strict read.c $hdf5
  for source in heat_*.c particles*.c blast*.c ${with:+hdf5*.c}; do
    build "${source%.c}" $MPICC $strict "$source" scr_impl.o yield.o $hdf5 $libraries
    [ ${#jobs[@]} -lt 2 ] || built
  done
  built
}
ok "the programs compile without warnings"

# ---- what they take ----

"$top/tests/hdf5/lines.sh" >lines
sed -n 's/^|.*`\(examples\/[a-z0-9_]*\.c\)` | *\([0-9]*\) *|.*/\1 \2/p' "$top/tools/manual/choosing.md" >table
if diff <(sort lines) <(sort table) >log && [ "$(wc -l <table)" = 7 ]; then ok "the chapter choosing has the lines that each way takes"
else bad "the chapter choosing" "other lines than tests/hdf5/lines.sh counts"; fi
if [ "$(awk '/heat_regions|particles|blast/ && $2 < 20' lines | wc -l)" = 3 ]; then ok "regions take less than 20 lines"
else bad "regions" "they take 20 lines or more"; fi

# ---- each way: the same answer ----

# shellcheck disable=SC2086
{
  fresh
  run 3 heat_plain $solver
  on_three=$(answer)
  computes heat_plain $solver
}
each() { # PROGRAM
  fresh
  # shellcheck disable=SC2086
  if run 4 "$1" $solver && [ "$(answer)" = "$calm" ]; then ok "$1: the answer of the solver without checkpoints"
  else bad "$1" "another answer than $calm"; fi
  if [ "$mode" != check ]; then
    fresh
    # shellcheck disable=SC2086
    if SCR_ENABLE=0 run 4 "$1" $solver && [ "$(answer)" = "$calm" ] && [ -z "$(ls base)" ]; then ok "$1: the same with SCR_ENABLE=0"
    else bad "$1 with SCR_ENABLE=0" "another answer than $calm, or something in the cache"; fi
  fi
  survives "$1 is killed in a step, loses a node, and goes on" "$1_killed $solver" 'killed in a step' \
    "$1 $solver" 'goes on after step 40'
}
for program in heat_files heat_regions heat_arrays $with; do each "$program"; done
survives "heat_files is killed in the middle of a file, loses a node, and goes on" "heat_files_halved $solver" \
  'killed in a file' "heat_files $solver" 'goes on after step 40'
fresh
# shellcheck disable=SC2086
if ! run 4 heat_arrays_killed $solver && run 3 heat_arrays $solver && grep -q 'goes on after step 40' log &&
  [ "$(answer)" = "$on_three" ]; then ok "heat_arrays goes on with another number of ranks"
else bad "heat_arrays on 3 ranks" "it does not go on with the answer $on_three"; fi

# The number of particles of a rank is another one in each checkpoint.
computes particles_plain 60 100
survives "particles is killed in a step, loses a node, and goes on" "particles_killed 60 100" 'killed in a step' \
  "particles 60 100" 'go on after step 40'
fresh
unseen run 4 particles 60 100
damage "$(echo base/*/scr."$SCR_JOB_ID"/node.*/scr.dataset.5/scr.dataset.5/regions.1)"
if unseen run 4 particles 60 100 && grep -q 'go on after step 80' log && [ "$(answer)" = "$calm" ]; then ok "particles takes an older checkpoint, with other sizes"
else bad "particles" "it does not take the older checkpoint"; fi

# The answer of the blast has the CRC32 of all that it has computed, and is the same on any number of ranks.
computes blast_plain 32 100
fresh
if run 3 blast 32 100 && [ "$(answer)" = "$calm" ] && [[ $calm == *"energy 0.250000, crc32 0x"* ]]; then ok "blast has the same answer on 3 ranks, and the energy that was released"
else bad "blast on 3 ranks" "another answer than $calm, or another energy"; fi
survives "blast is killed in a step, loses a node, and goes on" "blast_killed 32 100" 'killed in a step' \
  "blast 32 100" 'go on after step 40'
# shellcheck disable=SC2086
computes heat_plain $solver

# goes_on NAME STEP [COMMAND...]: hdf5 goes on behind STEP, with the answer
goes_on() {
  # shellcheck disable=SC2086
  if "${@:3}" run 4 hdf5 $solver && grep -q "goes on after step $2\$" log && [ "$(answer)" = "$calm" ]; then ok "$1"
  else bad "$1" "it does not go on behind step $2 with the answer $calm"; fi
}
cached() { echo base/*/scr."$SCR_JOB_ID"/node.*/scr.dataset."$1"/"$2"; } # ID FILE

if [ -n "$with" ]; then
  # ---- files of HDF5 ----

  survives "hdf5 is killed in the middle of a file, loses a node, and goes on" "hdf5_halved $solver" 'killed in a file' \
    "hdf5 $solver" 'goes on after step 40'

  fresh
  # shellcheck disable=SC2086
  run 4 heat_files $solver
  for r in 0 1 2 3; do cp "$(cached 5 "heat.100/rank_$r")" "raw_$r"; done
  fresh
  # shellcheck disable=SC2086
  run 4 hdf5 $solver
  wrong=
  for r in 0 1 2 3; do
    ./read "$(cached 5 "heat.100/rank_$r.h5")" >values 2>>log && cmp -s values "raw_$r" || wrong="$wrong $r"
  done
  if [ -z "$wrong" ]; then ok "each file is a file of HDF5, with the values that the other program writes"
  else bad "the files of HDF5" "other values in that of ranks$wrong"; fi

  # of the newest checkpoint of this run
  file=$(cached 5 heat.100/rank_2.h5)
  cp "$file" before.h5
  damage "$file"
  goes_on "a damaged file of HDF5 is rebuilt" 100
  if cmp -s "$file" before.h5; then ok "the rebuilt file is that which was written"; else bad "the rebuilt file" "it is another"; fi
  lose 2
  goes_on "the files of a lost node are rebuilt" 100
  if cmp -s "$file" before.h5; then ok "the rebuilt files are those that were written"; else bad "the rebuilt files" "they are others"; fi
  # shellcheck disable=SC2086
  if run 4 hdf5 96 100; then bad "a checkpoint of another size" "it is taken"
  elif grep -q 'none could be loaded' log && ! grep -qi 'signal\|bad termination' log; then ok "a checkpoint of another size is refused"
  else bad "a checkpoint of another size" "it is not refused by the library"; fi

  fresh
  # shellcheck disable=SC2086
  SCR_FLUSH=1 run 4 hdf5 $solver
  rm -rf base/*
  if ./read prefix/heat.100/rank_1.h5 2>&1 | cmp -s - raw_1; then ok "what is copied to the prefix is a file of HDF5"
  else bad "the prefix" "heat.100/rank_1.h5 has other values"; fi
  goes_on "a checkpoint of HDF5 files is fetched from the prefix" 100

  fresh
  # shellcheck disable=SC2086
  unseen run 4 hdf5 $solver
  printf 'wrong' | dd of="$(cached 5 heat.100/rank_2.h5)" conv=notrunc 2>/dev/null
  goes_on "a file that HDF5 cannot open makes the older checkpoint be offered" 80 unseen

  fresh
  # shellcheck disable=SC2086
  run 4 hdf5_full $solver
  rc=$? ids=$(cd base/*/scr."$SCR_JOB_ID"/node.*-v0 && echo scr.dataset.*)
  if [ $rc = 0 ] && [ "$(answer)" = "$calm" ] && grep -q 'H5Fclose\|H5Dwrite' log && [ ! -e "$(cached 3 heat.60/rank_0.h5)" ] &&
    [ -e "$(cached 4 heat.80/rank_1.h5)" ]; then ok "an error of HDF5 makes its checkpoint invalid, and the next one is written"
  else bad "an error of HDF5" "code $rc, and the cache has $ids"; fi
  goes_on "after an error of HDF5, a run goes on from the last checkpoint" 100

  fresh
  # shellcheck disable=SC2086
  if run 4 hdf5_open $solver && [ "$(answer)" = "$calm" ] && ! grep -q '^SCR.*open' log; then ok "with H5F_CLOSE_STRONG, H5Fclose closes what is open"
  else bad "with H5F_CLOSE_STRONG" "a file is still open"; fi
  fresh
  # shellcheck disable=SC2086
  run 4 hdf5_weak $solver
  if grep -q 'rank_.\.h5.* is still open for writing' log; then ok "without it, the library refuses a file that HDF5 has not closed"
  else bad "without H5F_CLOSE_STRONG" "a file that is still open is accepted"; fi
fi

# ---- how they are built ----

unset MAKEFLAGS # of the make that runs this

for program in heat_files heat_regions heat_arrays particles blast $with; do
  line=$(sed -n 's/^\*\* *mpicc /mpicc /p' "$program.c")
  name="$program.c: $line"
  mkdir -p "vendored/$program"
  cp scr.h scr_impl.o "$program.c" "vendored/$program"
  [[ $line != *pkg-config* ]] || pkg-config --exists hdf5 2>/dev/null || line="mpicc $program.c scr_impl.c $hdf5 -lz -lpthread -o $program"
  line=${line/scr_impl.c/scr_impl.o} # to save time
  if (cd "vendored/$program" && eval "${line/mpicc/$MPICC -O0}") >log 2>&1 && [ ! -s log ] && [ -x "vendored/$program/$program" ]; then ok "$name"
  else bad "$name" "it does not build without a word"; fi
done
if [ -n "$with" ]; then
  if make -s -C "$top" MPICC="$MPICC" hdf5 >log 2>&1 && [ ! -s log ]; then ok "make hdf5"
  else bad "make hdf5" "it does not build without a word"; fi
fi
if make -n -C "$top" -W examples/minimal.c -W examples/hdf5.c MPICC="$MPICC" all >log 2>&1 && grep -q examples/minimal.c log &&
  ! grep -q examples/hdf5 log; then ok "make all needs no HDF5"
else bad "make all" "it builds examples/hdf5"; fi
# No header, whatever there is.
if make -C "$top" -W examples/hdf5.c MPICC=false CC=false hdf5 -o libscr.a >log 2>&1; then bad "make hdf5 without an HDF5" "it does not fail"
elif grep -q 'examples/hdf5.c: there is no HDF5 for C; .make setup hdf5. installs it (libhdf5-dev' log; then ok "make hdf5 says by name what is missing"
else bad "make hdf5 without an HDF5" "it does not say what to install"; fi

echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
