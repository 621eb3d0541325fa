#!/bin/bash
# compat.sh - programs that are written for VELOC and FTI, unchanged over the headers of examples/compat: solvers are
# killed, lose a node and end with the same answer; what each call returns; what is refused when it is compiled.
# Last line: N passed, N failed, N skipped.
#
# In C99 and C++11, with gcc and, where it is installed, with clang; each program has two files, which share one state.
# From the environment: MPICC, MPIEXEC, MPICXX.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
. "$top/tests/programs.sh"
cp "$top"/tests/compat/*.[ch] .
export SCR_CACHE_SIZE=4

# ---- the programs ----

c="-std=c99 -D_POSIX_C_SOURCE=200809L -g -O1 -Wall -Wextra -Wpedantic -Wshadow -Werror"
cxx="-x c++ -std=c++11 -g -O1 -Wall -Wextra -Wpedantic -Wshadow -Werror"
include="-I. -I$top/examples/compat $(mpi_includes)"
libraries="-lz -lpthread -ldl"
clang=$(first_of clang $(for v in $(seq 30 -1 14); do echo "clang-$v"; done))
[ -n "$clang" ] || echo "note  clang: not tried, it is not installed"
have_cxx=1
$MPICXX --version >/dev/null 2>&1 || have_cxx=
[ -n "$have_cxx" ] || echo "note  C++: not tried, there is no C++ compiler with MPI"
# shellcheck disable=SC2086
{
  build scr_impl.o $MPICC -g -O0 -c scr_impl.c
  build yield.o $MPICC -O1 -c "$top/tests/cluster/yield.c" # makes MPI's waits yield: ranks share cores here
  for source in {veloc,fti}_{heat,cases,part}; do
    build ${source}_c.o gcc $c $include -c $source.c
    [ -z "$have_cxx" ] || build ${source}_cxx.o g++ $cxx $include -c $source.c
    built
    if [ -z "$clang" ] || [ "$mode" = check ]; then continue; fi
    build ${source}_clang.o $clang $c $include -c $source.c
    build ${source}_clangxx.o $clang $cxx $include -c $source.c
    built
  done
  for l in veloc fti; do
    build ${l}_heat $MPICC ${l}_heat_c.o scr_impl.o yield.o $libraries
    build ${l}_cases $MPICC ${l}_cases_c.o ${l}_part_c.o scr_impl.o yield.o $libraries
    [ -z "$have_cxx" ] && continue
    build ${l}_heat_cxx $MPICXX ${l}_heat_cxx.o scr_impl.o yield.o $libraries
    build ${l}_cases_mixed $MPICXX ${l}_cases_cxx.o ${l}_part_c.o scr_impl.o yield.o $libraries
    if [ -z "$clang" ] || [ "$mode" = check ]; then continue; fi
    build ${l}_cases_clang $MPICXX ${l}_cases_clang.o ${l}_part_clangxx.o scr_impl.o yield.o $libraries
  done
  built
}
ok "the headers and their programs compile without warnings, as C and C++"

# What does not compile: call|what the compiler says.
cat >refused <<'END'
VELOC_Init_single(1, "cfg")|call VELOC_Init(MPI_COMM_SELF
VELOC_Checkpoint_finished()|call VELOC_Checkpoint_wait
VELOC_Backend_ready()|call VELOC_Checkpoint_wait
VELOC_Cleanup("heat")|SCR_Delete
FTI_InitCompositeType("p", 8, 0)|call FTI_InitType
FTI_AddScalarField(1, "x", FTI_INTG, 0)|call FTI_InitType
FTI_AddVectorField(1, "x", FTI_INTG, 0, 1, &i)|call FTI_InitType
FTI_InitComplexType(0, 0, 2, 8, "p", 0)|call FTI_InitType
FTI_AddSimpleField(0, 0, 0, 0, "x")|call FTI_InitType
FTI_AddComplexField(0, 0, 0, 1, &i, 0, "x")|call FTI_InitType
FTI_InitGroup(0, "g", 0)|scr_regions --npy
FTI_RenameGroup(0, "g")|scr_regions --npy
FTI_DefineDataset(0, 2, &i, "u", 0)|scr_regions --npy
FTI_DefineGlobalDataset(0, 1, 0, "u", 0, FTI_INTG)|SCR_Protect_array
FTI_AddSubset(0, 1, 0, 0, 1)|SCR_Protect_array
FTI_UpdateGlobalDataset(0, 1, 0)|SCR_Protect_array
FTI_UpdateSubset(0, 1, 0, 0, 1)|SCR_Protect_array
FTI_RecoverDatasetDimension(1)|SCR_Protect_array
FTI_SendFile("a", "b")|SCR_Route_file
FTI_GetStageDir(b, 9)|SCR_Route_file
FTI_GetStageStatus(1)|SCR_Route_file
FTI_InitICP(1, 1, 1)|call FTI_Checkpoint
FTI_AddVarICP(1)|call FTI_Checkpoint
FTI_FinalizeICP()|call FTI_Checkpoint
FTI_setIDFromString("u")|FTI_Protect that
FTI_getIDFromString("u")|FTI_Protect that
FTI_BitFlip(1)|changes data
FTI_GetDatasetSpan(1, 0)|SCR_Protect_array
FTI_GetDatasetRank(1)|SCR_Protect_array
FTI_GetConfig("ckpt_l1", &i)|SCR_Config
FTI_Print("here", 1)|with printf
END
# refused COMPILER...: each call of the table, in one file, is an error of its own with the text
refused() {
  local call text n=0 missing=
  {
    echo '#include "veloc.h"'
    echo '#include <fti.h>'
    while IFS='|' read -r call text; do
      n=$((n + 1))
      printf 'void user_%d(void);\nvoid user_%d(void) { int i = 0; char b[9]; (void)b; (void)i; %s; }\n' $n $n "$call"
    done <refused
  } >refused.c
  # shellcheck disable=SC2086
  if "$@" $include -c -o refused.o refused.c >log 2>&1; then
    bad "refused by $*" "it compiles"
    return
  fi
  while IFS='|' read -r call text; do
    grep "error: call to [^a-zA-Z]*${call%%(*}[^a-zA-Z_]" log | grep -qF "$text" || missing="$missing ${call%%(*}"
  done <refused
  if [ -z "$missing" ]; then ok "refused by $*: calls that are not there, with what to use"
  else bad "refused by $*" "not, or without what to use:$missing"; fi
}
refused gcc -std=c99
[ -z "$have_cxx" ] || refused g++ -x c++ -std=c++11
[ -z "$clang" ] || refused "$clang" -std=c99 -ferror-limit=0

# ---- the cases ----

told() { # PROGRAM COUNT TEXT: the last run has printed TEXT so often
  local n
  n=$(grep -cF "$3" log)
  if [ "$n" = "$2" ]; then ok "$1: $3"
  else bad "$1: $3" "it is told $n times, not $2 times"; fi
}
veloc_cases() { # PROGRAM
  fresh
  SCR_FLUSH=0 case_of "$1" 4 writing
  told "$1" 1 "keep to the first name" # once, not by each rank
  SCR_FLUSH=0 case_of "$1" 4 reading
  told "$1" 2 "which is no version of b"
  told "$1" 1 "could not restart from a.v40" # not because of what did not fit it
  fresh
  SCR_FLUSH=0 case_of "$1" 4 writing
  SCR_FLUSH=0 case_of "$1" 4 anew
  told "$1" 1 "it begins anew"
  SCR_FLUSH=0 case_of "$1" 4 after_anew
  fresh
  SCR_FLUSH=1 case_of "$1" 4 replicated
  told "$1" 1 "VELOC_Init: veloc.cfg is not read"
  SCR_FLUSH=1 case_of "$1" 3 fewer
  SCR_ENABLE=0 case_of "$1" 4 disabled
  fresh
  case_of "$1" 4 bare
  case_of "$1" 4 bare_again
  fresh
  SCR_FLUSH=0 unseen case_of "$1" 4 writing
  damage "$(echo base/*/scr.compat/node.*-v0/scr.dataset.*/a.v40/regions.0)"
  SCR_FLUSH=0 unseen case_of "$1" 4 damaged
  fresh
  SCR_FLUSH=0 unseen case_of "$1" 4 writing
  sed -i 's/^2 4$/3 4/' base/*/scr.compat/node.*-v0/scr.dataset.*/a.v40/veloc.0
  SCR_FLUSH=0 unseen case_of "$1" 4 list
  told "$1" 1 "list of regions is damaged"
}
fti_cases() { # PROGRAM
  local part
  fresh
  case_of "$1" 4 writing
  told "$1" 1 "FTI_Init: config.fti is not read"
  case_of "$1" 4 reading
  if ! SCR_CHECKPOINT_INTERVAL=2 run 4 "$1" snapshots && ! grep -q '^FAULT' log; then ok "$1, snapshots"
  else bad "$1, snapshots" "something else happens"; fi
  case_of "$1" 4 killed
  fresh
  case_of "$1" 4 replicated
  case_of "$1" 3 fewer
  told "$1" 1 "variable 0 has 8 bytes, and 4 in the checkpoint"
  case_of "$1" 4 more
  case_of "$1" 4 anew
  told "$1" 1 "this run begins anew"
  SCR_ENABLE=0 case_of "$1" 4 disabled
  for part in all ones; do
    fresh
    SCR_FLUSH=0 unseen case_of "$1" 4 writing
    damage "$(echo base/*/scr.compat/node.*-v0/scr.dataset.*/fti.4/regions.0)"
    SCR_FLUSH=0 unseen case_of "$1" 4 damaged_$part
  done
  fresh
  SCR_FLUSH=0 unseen case_of "$1" 4 writing
  sed -i 's/^2 4$/3 4/' base/*/scr.compat/node.*-v0/scr.dataset.*/fti.4/fti.0
  SCR_FLUSH=0 unseen case_of "$1" 4 list
  told "$1" 1 "list of variables is damaged"
  fresh
  case_of veloc_cases 4 replicated
  case_of "$1" 4 foreign
  SCR_FRESH_START=1 case_of "$1" 4 replicated
}
programs=${have_cxx:+_mixed}
[ "$mode" = check ] || programs="'' $programs ${clang:+${have_cxx:+_clang}}"
for suffix in ${programs:-''}; do
  veloc_cases "veloc_cases${suffix#\'\'}"
  fti_cases "fti_cases${suffix#\'\'}"
done

# ---- the solvers ----

answer() { sed -n 's/^answer \([0-9a-f]*\) at step 60$/\1/p' log; }
goes_on() { # FROM NEXT WAY KILL_AT RESTARTED
  survives "$1 ($3) is killed, a node is lost, $2 goes on" "$1 $3 60 10 $4" . "$2 $3 60 10 0" "$5"
}
computes veloc_heat all 60 100 0 # without checkpoints
next=${have_cxx:+_cxx}
for way in all steps files; do
  goes_on veloc_heat "veloc_heat$next" $way 40 'restarted from version 30, at step 30'
done
for way in levels ones; do goes_on fti_heat "fti_heat$next" $way 45 'restarted at step 40, status 1'; done
SCR_CHECKPOINT_INTERVAL=20 goes_on fti_heat fti_heat snapshots 45 'restarted at step 39'

# After FTI_Finalize a run finds the last checkpoint, and level 4 is on the prefix at once.
if run 4 fti_heat levels 60 10 0 && [ "$(answer)" = "$calm" ] && run 4 fti_heat levels 60 10 0 &&
  grep -q 'restarted at step 60, status 2' log; then ok "fti_heat: the status after FTI_Finalize"
else bad "fti_heat" "the status is another one after FTI_Finalize"; fi
fresh
SCR_FLUSH=0 run 4 fti_heat levels 60 10 55
n=$(echo prefix/fti.*/)
if [ "$n" = "prefix/fti.4/" ]; then ok "fti_heat: level 4 alone is copied to the prefix"
else bad "fti_heat" "the prefix has $n"; fi
rm -rf base/*
if run 4 fti_heat levels 60 10 0 && grep -q 'restarted at step 30, status 1' log && [ "$(answer)" = "$calm" ]; then
  ok "fti_heat: all nodes are lost, it goes on from level 4"
else bad "fti_heat" "it does not go on from level 4"; fi

# ---- the manual ----

# Its CKPT lines, which stand for the levels 2, 3, 4, 1, 2, 3: a lost node takes what is of level 1 only.
manual=$top/tools/manual/migration.md
sed -n "/^    SCR_COPY_TYPE=FILE/,/^$/{s,/dev/shm,$work/base,; s/^    //p}" "$manual" >lines
for way in "snapshots:SINGLE PARTNER SINGLE RS :prefix/fti.*" "differential:PARTNER RS SINGLE SINGLE :prefix/fti.4" \
  "levels:PARTNER RS SINGLE SINGLE :prefix/fti.4"; do
  fresh
  SCR_CONF_FILE=$work/lines SCR_CHECKPOINT_INTERVAL=10 SCR_FLUSH=0 SCR_DEBUG=1 run 4 fti_heat "${way%%:*}" 60 10 45
  n=$(sed -n 's/.* bytes, \([A-Z]*\), complete in .*/\1/p' log | tr '\n' ' ')
  n="${way%%:*}:$n:$(echo prefix/fti.*)"
  if [ "$n" = "$way" ]; then ok "the manual: its CKPT lines, $n"; else bad "the manual: its CKPT lines" "$n, not $way"; fi
done
rm -rf prefix/fti.4 base/{*,level*/*}/scr."$SCR_JOB_ID"/node.*-v1
if SCR_CONF_FILE=$work/lines run 4 fti_heat levels 60 10 0 && grep -q 'restarted at step 20, status 1' log &&
  [ "$(answer)" = "$calm" ]; then ok "the manual: the newest checkpoint of level 3 stays until it is needed"
else bad "the manual: its CKPT lines" "the run does not go on from level 3"; fi
# A line that is not there: a word, once, and the checkpoints are kept by another.
sed '/^CKPT=[23]/d' lines >fewer
fresh
if SCR_CONF_FILE=$work/fewer run 4 fti_heat levels 60 10 0 && [ "$(answer)" = "$calm" ] &&
  [ "$(grep -c 'asks for the line CKPT=2, and no enabled line has that number: CKPT=1 keeps' log)" = 1 ]; then
  ok "fti_heat: a level without a line"
else bad "fti_heat" "it misses a line of a level"; fi
# Its line builds a program with the header beside the library.
line=$(sed -n 's/^    \(mpicc -I\. app\.c .*\)/\1/p' "$manual")
mkdir vendored
cp scr.h scr_impl.c heat.h "$top/examples/compat/veloc.h" vendored
cp veloc_heat.c vendored/app.c
fresh
: >log
if [ -n "$line" ] && (cd vendored && eval "${line/mpicc/$MPICC -O0}") >log 2>&1 && [ ! -s log ] &&
  run 2 vendored/a.out all 20 10 0 && run 2 vendored/a.out all 20 10 0 && grep -q 'restarted from version 20' log; then
  ok "the manual: its line builds a program"
else bad "the manual: its line" "it does not build, or the program does not restart"; fi
# Its tables name each call of the headers.
sed -n '/^## Programs of VELOC and FTI/,/^## Files/p' "$manual" >chapter
for header in veloc fti; do
  sed -n 's/^static inline .*[ *]\(VELOC\|FTI\)\(_[A-Za-z_]*\)(.*/\2/p' "$top/examples/compat/$header.h" >calls
  while read -r n; do
    grep -qE "(VELOC|FTI|[ ,|])$n\b" chapter || echo "$header.h: $n"
  done <calls
done >log
if [ ! -s log ]; then ok "the manual: its tables have each call"
else bad "the manual: its tables" "they lack calls"; fi

# ---- sanitizers ----

if [ "$mode" = long ]; then
  export ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0 # MPI keeps memory until the process ends
  sanitize="-g -O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all"
  # shellcheck disable=SC2086
  {
    build scr_impl_san.o $MPICC $sanitize -c scr_impl.c
    for l in veloc fti; do
      build ${l}_heat_san.o $MPICC $sanitize -D_POSIX_C_SOURCE=200809L $include -c ${l}_heat.c
      build ${l}_cases_san.o $MPICC $sanitize -D_POSIX_C_SOURCE=200809L $include -c ${l}_cases.c
      build ${l}_part_san.o $MPICC $sanitize $include -c ${l}_part.c
    done
    built
    for l in veloc fti; do
      build ${l}_heat_sanitized $MPICC $sanitize ${l}_heat_san.o scr_impl_san.o yield.o $libraries
      build ${l}_cases_sanitized $MPICC $sanitize ${l}_cases_san.o ${l}_part_san.o scr_impl_san.o yield.o $libraries
    done
    built
  }
  veloc_cases veloc_cases_sanitized
  fti_cases fti_cases_sanitized
  goes_on veloc_heat_sanitized veloc_heat_sanitized files 40 'restarted from version 30'
  goes_on fti_heat_sanitized fti_heat_sanitized ones 45 'restarted at step 40'
fi

echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
