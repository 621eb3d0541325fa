#!/bin/bash
# Process images: unchanged programs that are linked with scr_image.o take images, are killed, lose a node, start again,
# and end with the result of a run without the object; what cannot be restarted is refused by name.
# From the environment: CC, MPICC, MPIEXEC, BIN.  Last line: N passed, N failed, N skipped.
# shellcheck disable=SC2086
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
. "$top/tests/image/common.sh"
mode=${1:-check}
build() { # PROGRAM SOURCE FLAGS...
  check "$1 is built, without a warning" 0 "" sh -c "$MPICC -O1 -Wall -Werror '$top/tests/image/$2' '$top/scr_image.o' -o '$tmp/$1' ${*:3} -lm 2>&1"
}

# run RANKS PROGRAM ARGS...: what it prints, sorted, is in $tmp/result, what it says in $tmp/said; its exit code
run() {
  timeout -k 5 ${LIMIT:-120} $MPIEXEC -n "$1" "$tmp/$2" "${@:3}" <"${INPUT:-/dev/null}" >"$tmp/out" 2>"$tmp/said"
  local rc=$?
  sort "$tmp/out" >"$tmp/result"
  return $rc
}
# a run that ends with 1; of the ranks that the launcher kills then, a 9 may be added
refused() {
  local rc=0
  run "$@" || rc=$?
  return $((rc == 9 ? 1 : rc))
}
plain() { SCR_IMAGE=0 run "$@" && cp "$tmp/result" "$tmp/wanted"; }
# ends WHAT RANKS PROGRAM ARGS...: with the result of the run without images
ends() {
  check "$1: it ends" 0 "" run "${@:2}"
  check "$1: the result" 0 "" diff "$tmp/wanted" "$tmp/result"
  [ -z "$out" ] || sed 's/^/  /' "$tmp/said"
}
said() { check "$1" 0 - grep -e "$2" "$tmp/said"; }
not_said() { check "$1" 1 - grep -e "$2" "$tmp/said"; }

# round WHAT RANKS PROGRAM ARGS...: a run with images at the points AT, and a restart from the last one.  Two requests may
# be served by one image, when ranks are far from each other.
round() {
  local last
  fresh
  AT=$AT ends "$1, with images" "${@:2}"
  last=$(sed -n 's/.* image\.\([0-9]*\) is complete: .*/\1/p' "$tmp/said" | tail -n 1)
  unset AT
  check "$1: there is an image" 0 "" test -n "$last"
  ends "$1, restarted" "${@:2}"
  said "$1: from which" "restarted from image\.$last\$"
}

build state state.c
check "a library is built" 0 "" ${CC:-cc} -O1 -Wall -Werror -shared -fPIC -o "$tmp/libkeeps.so" "$top/tests/image/keeps.c"
build with_library state.c -DLIBRARY "$tmp/libkeeps.so" "-Wl,-rpath,$tmp"
build messages messages.c
build collectives collectives.c
build nonblocking nonblocking.c
build communicators communicators.c
build datatypes datatypes.c
build held held.c
build synchronous synchronous.c
build callbacks callbacks.c -fopenmp -O2
build jumps jumps.c
build process process.c -O2 -D_FORTIFY_SOURCE=2
build bits bits.c -O2
build across across.c
build zlib zlib.c -lz
build open open.c
build maps maps.c
build hybrid hybrid.c -fopenmp
build private hybrid.c -fopenmp -DPRIVATE
compiles() { # PROGRAM COMPILER SOURCE FLAGS...: a program in C++ or Fortran
  check "$1 is built" 0 "" sh -c "$2 -O1 '$top/tests/image/$3' '$tmp/point.o' '$top/scr_image.o' -o '$tmp/$1' ${*:4} 2>&1"
}
check "the points of other languages" 0 "" $MPICC -O1 -Wall -Werror -c -o "$tmp/point.o" "$top/tests/image/point.c"
compiles objects "${MPICC/mpicc/mpicxx}" objects.cc -Wall -Wextra -Werror
compiles stencil "${MPICC/mpicc/mpifort}" stencil.F90 -Wall
compiles stencil_mpif "${MPICC/mpicc/mpifort}" stencil.F90 -DMPIF
compiles stencil_f08 "${MPICC/mpicc/mpifort}" stencil.F90 -DF08
compiles files "${MPICC/mpicc/mpicxx}" files.cc -Wall -Wextra -Werror
compiles threads "${MPICC/mpicc/mpicxx}" threads.cc -O2 -pthread -Wall -Wextra -Werror
compiles units "${MPICC/mpicc/mpifort}" units.f90 -Wall
check "a library that can do more" 0 "" $MPICC -O1 -Wall -Werror -shared -fPIC -o "$tmp/liblate.so" "$top/tests/image/late.c"
build late late.c -DPROGRAM "$tmp/liblate.so" "-Wl,-rpath,$tmp"

# points POINT...: those that are tried: in check one of them, in CI another one for each commit
points() {
  [ "$mode" != check ] || { shift $((turn % $#)) && set -- "$1"; }
  printf '%s\n' "$@"
}
turn=${TEST_TURN:-0}

# ---- images, and a restart from them
export WORD=here
plain 1 state 30
AT=2,9,17 AT_RANK=0 round "one process, three images" 1 state 30
plain 3 state 12
AT=2,7 AT_RANK=2 round "three processes" 3 state 12
plain 1 with_library 12
AT=5 round "a library with variables of its own" 1 with_library 12
plain 2 state 12
while read -r flags; do
  build variant state.c $flags
  AT=3 round "built with $flags" 2 variant 12
done < <(points "-no-pie -Wl,-z,lazy" "-O3 -flto=auto -Wl,-z,now" "-Wl,-z,norelro -Wl,-z,lazy")
plain 3 messages 12
for at in $(points 1 7 21 33); do AT=$at AT_RANK=$((at % 3)) round "messages, image at point $at" 3 messages 12; done
AT=5,20,40 AT_RANK=1 round "messages, three images" 3 messages 12
plain 4 synchronous 12
for at in $(points 1 6 17); do AT=$at AT_RANK=$((at % 4)) round "synchronous sends, image at point $at" 4 synchronous 12; done
AT=3,8,13,19 AT_RANK=1 round "synchronous sends, four images" 4 synchronous 12
plain 2 callbacks 6
AT=3 round "what libc calls of the program" 2 callbacks 6
fresh
check "threads with the user's limit of the stack" 0 - sh -c "ulimit -s 65536 && '$MPIEXEC' -n 1 '$tmp/callbacks' 1 deep"
plain 4 collectives 8
for at in $(points 1 9 28); do AT=$at AT_RANK=$((at % 4)) round "collectives, image at point $at" 4 collectives 8; done
plain 3 collectives 8
AT=3,11,20 AT_RANK=2 round "collectives on 3 ranks, three images" 3 collectives 8
plain 4 nonblocking 6
for at in $(points 2 20); do AT=$at AT_RANK=$((at % 4)) round "nonblocking collectives, image at point $at" 4 nonblocking 6; done
plain 3 nonblocking 6
AT=4,9,23 AT_RANK=2 round "nonblocking collectives on 3 ranks, three images" 3 nonblocking 6
plain 4 across 6
for at in $(points 2 13 20); do AT=$at AT_RANK=$((at % 4)) round "four communicators, image at point $at" 4 across 6; done
AT=3,11 AT_RANK=all round "four communicators, all ranks ask at once" 4 across 6
sizes=5
[ "$mode" != long ] || sizes=7
for n in $(points 3 5 6 9 12 16); do
  fresh
  plain $n bits $sizes
  AT=2 ends "the bits of reductions on $n ranks" $n bits $sizes
done
plain 2 zlib 12
AT=3,8 AT_RANK=1 round "a stream of zlib, two images" 2 zlib 12
plain 4 communicators 8
for at in $(points 3 25); do AT=$at AT_RANK=$((at % 4)) round "communicators, image at point $at" 4 communicators 8; done
plain 5 communicators 8
AT=9,31,60 AT_RANK=2 round "communicators on 5 ranks, three images" 5 communicators 8
plain 4 datatypes 8
AT=7 AT_RANK=3 round "datatypes, image at point 7" 4 datatypes 8
plain 3 datatypes 8
AT=2,20,33 AT_RANK=2 round "datatypes on 3 ranks, three images" 3 datatypes 8
# windows and files of MPI: images between them
plain 4 held 6
AT=2,5 AT_RANK=1 round "windows and files of MPI, two images" 4 held 6
plain 3 held 4
AT=3 AT_RANK=2 round "windows and files of MPI on 3 ranks" 3 held 4
for what in file window; do
  fresh
  AT=2 AT_RANK=1 ends "a $what of MPI that is open" 3 held 4 $what
  said "a $what of MPI that is open: the message" "no image: rank [0-2] has a \\(file of MPI open: held\\.[01]\\|window of MPI\\)"
done
LC_ALL=C.UTF-8 plain 2 jumps 12
check "the locale is there" 0 - grep -q "UTF-8, wide 233" "$tmp/wanted"
LC_ALL=C.UTF-8 AT=3,7 AT_RANK=1 round "jumps and a locale, two images" 2 jumps 12
plain 3 objects 12
AT=4,8 AT_RANK=1 round "C++, two images" 3 objects 12
plain 3 stencil 12
for program in stencil stencil_mpif stencil_f08; do AT=5,9 AT_RANK=2 round "Fortran, $program, two images" 3 $program 12; done
plain 2 hybrid 12
AT=2 OMP_NUM_THREADS=2 round "OpenMP" 2 hybrid 12
fresh
AT=6 check "a parallel region: the program goes on" 0 "" run 2 hybrid 6 inside
said "a parallel region: the message" "no image: rank [01] is in a parallel region of OpenMP"
check "threadprivate variables: it does not start" 1 "" run 2 private 6
said "threadprivate variables: the message" "the program has thread-local (threadprivate) variables, and OpenMP"
plain 2 threads 12
AT=6 round "threads that were joined" 2 threads 12
fresh
AT=4 check "a recursive mutex that is held: the program goes on" 0 "" run 2 threads 12 held
said "a recursive mutex that is held: the message" "no image: rank [01] holds a recursive mutex"
printf abcdefghijklmnopqrstuvwxyz >"$tmp/letters"
fresh
INPUT=$tmp/letters plain 2 process -n 12
AT=5 INPUT=$tmp/letters round "what a process has set" 2 process -n 12
AT=12 INPUT=$tmp/letters ends "what a restarted process has set, with an image" 2 process -n 12
INPUT=$tmp/letters ends "what a restarted process has set, restarted" 2 process -n 12
said "what a restarted process has set: from which" "restarted from image\.2\$"
check "what a process has set: the restart has read on" 0 - grep "last letter l" "$tmp/result"
fresh
INPUT=$tmp/letters plain 1 process -n 12
AT=5 INPUT=$tmp/letters round "calls that are rare, and never wait" 1 process -n 12
plain 3 maps 12
for at in $(points 1 7 10); do AT=$at AT_RANK=$((at % 3)) round "memory that is mapped, image at $at" 3 maps 12; done
# files that stay open: what was written after the image is cut off
export INPUT=$tmp/letters
printf 'ab cdefghij\nklmnop\nqrs t\n u\n' >"$INPUT"
for program in open files units; do
  fresh
  plain 3 $program 12
  AT=5,9 AT_RANK=2 round "$program, two images" 3 $program 12
  said "$program: what was written after the image goes" "is cut from [0-9]* bytes to [0-9]*, as it was in the image"
  if [ "$mode" = long ]; then
    for at in $(seq 1 12); do AT=$at AT_RANK=$((at % 3)) round "$program, image at $at" 3 $program 12; done
  fi
done
unset INPUT
if [ "$mode" = long ]; then
  plain 3 objects 30
  # later, a rank may have printed its result before the image, and does not again
  for at in $(seq 1 27); do AT=$at AT_RANK=$((at % 3)) round "C++, image at $at" 3 objects 30; done
  plain 4 stencil 30
  for at in $(seq 1 29); do
    for program in stencil stencil_mpif stencil_f08; do AT=$at AT_RANK=$((at % 4)) round "Fortran, $program, image at $at" 4 $program 30; done
  done
  plain 5 datatypes 12
  for at in $(seq 1 2 70); do AT=$at AT_RANK=$((at % 5)) round "datatypes, image at $at" 5 datatypes 12; done
  for n in 6 7 8; do
    plain $n communicators 20
    AT=$((7 * n)) round "communicators on $n ranks" $n communicators 20
  done
  plain 4 communicators 12
  for at in $(seq 1 2 120); do AT=$at AT_RANK=$((at % 4)) round "communicators, image at $at" 4 communicators 12; done
  for n in 1 2 5 6 7 8; do
    plain $n nonblocking 12
    AT=$((5 * n)) round "nonblocking collectives on $n ranks" $n nonblocking 12
  done
  plain 4 nonblocking 12
  for at in $(seq 1 60); do AT=$at AT_RANK=$((at % 4)) round "nonblocking collectives, image at $at" 4 nonblocking 12; done
  plain 4 messages 20
  for at in $(seq 1 60); do AT=$at AT_RANK=$((at % 4)) round "messages on 4 ranks, image at point $at" 4 messages 20; done
fi

# ---- chains: each run ends with an image, and the next one goes on
chain() { # WHAT RANKS PROGRAM ARGS...
  local i
  for i in 1 2 3; do
    check "$1: run $i ends early" 0 "" run "${@:2}"
    said "$1: run $i says why" "the run ends here"
    [ $i = 1 ] || said "$1: run $i goes on" "restarted from image\.$((i - 1))\$"
  done
  ends "$1: the last run" "${@:2}"
}
fresh
plain 3 messages 12
AT=4,15,35 AT_RANK=1 SCR_SIGNALS=USR1:checkpoint+halt chain "a chain" 3 messages 12

# what could not be saved is told by the exit code
fresh
touch image.1
AT=4 SCR_FLUSH=9 SCR_SIGNALS=USR1:checkpoint+halt check "a run that cannot flush its last image" 1 "" refused 3 messages 12
said "it cannot flush: why" "image\.1 was not flushed, and stays in the cache"
rm image.1
ends "it cannot flush: the next run" 3 messages 12
said "it cannot flush: the next run goes on" "restarted from image\.1\$"

# ---- killed, also with a lost node
lose() { rm -rf "$tmp"/node/*/scr.image/node.*-v1; }
fresh
killed() { AT=4,16 DIES=30 run 3 messages 12 && return 1; return 0; }
check "a killed run" 0 "" killed
ends "killed, restarted" 3 messages 12
said "killed: from which" "restarted from image\.2\$"
fresh
check "another killed run" 0 "" killed
lose
ends "killed and a node lost" 3 messages 12
said "a node lost: from which" "restarted from image\.2\$"

fresh
AT=4 SCR_FLUSH=1 check "an image that is flushed" 0 "" run 3 messages 12
rm -rf "$tmp/node"/*
ends "all nodes lost, restarted" 3 messages 12
said "all nodes lost: from which" "restarted from image\.1\$"
fresh
AT=4,20 SCR_FLUSH=1 SCR_FLUSH_ASYNC=1 SCR_CHECKPOINT_INTERVAL=3 check "images that are flushed in the background" 0 "" run 3 messages 12
said "a rule that counts calls: a warning" "SCR_CHECKPOINT_INTERVAL"
rm -rf "$tmp/node"/*
ends "flushed in the background, restarted" 3 messages 12
said "flushed in the background: from which" "restarted from image\.2\$"
fresh
AT=4,16 SCR_FLUSH=1 check "two images that are flushed" 0 "" run 3 messages 12
rm -rf "$tmp/node"/*
printf x | dd of=image.2/rank_1.img bs=1 seek=200 conv=notrunc 2>/dev/null
ends "the newest image is damaged, restarted" 3 messages 12
said "the newest image is damaged: the older one" "restarted from image\.1\$"
SCR_ENABLE=0 AT=4 ends "with SCR_ENABLE=0" 3 messages 12
check "with SCR_ENABLE=0: nothing is said" 1 - grep scr_image "$tmp/said"

# ---- refused at the start
refuse() { # NAME PATTERN
  build "$1" refused.c "-D$1"
  fresh
  check "$1: it does not start" 1 "" run 2 $1
  said "$1: the message" "^scr_image: .*$2"
  check "$1: it runs without images" 0 "" plain 2 $1
}
refuse GROUPS "the program uses setgrent, which images do not support yet"
refuse BRIDGE "the program uses MPI_Intercomm_create, which"
unfit() { # NAME PATTERN COMMAND...: it does not start
  fresh
  check "$1: it does not start" 1 - timeout 60 $MPIEXEC -n 1 sh -c 'exec 2>"$0" "$@"' "$tmp/said" "${@:3}"
  said "$1: the message" "^scr_image: .*$2"
}
check "a command that forbids a call of the system" 0 "" ${CC:-cc} -Wall -Werror -o "$tmp/locked" "$top/tests/image/locked.c"
unfit "address randomisation that stays" "cannot switch off address randomisation" "$tmp/locked" "$tmp/state" 3
check "AddressSanitizer is built" 0 - $MPICC -fsanitize=address "$top/tests/image/state.c" "$top/scr_image.o" -o "$tmp/asan" -lm
unfit "AddressSanitizer" "the program uses AddressSanitizer" "$tmp/asan" 3
check "a program with the library is built" 0 - $MPICC -I"$top" "$top/examples/minimal.c" "$top/libscr.a" "$top/scr_image.o" -o "$tmp/calls" -lz -lpthread
unfit "a program that calls the library" "the program writes checkpoints itself; link it without scr_image.o" "$tmp/calls" 3
links() { # NAME PATTERN SOURCE COMPILER...: it is not linked
  printf '%s\n' "$3" >"$tmp/own.c"
  says "$1: it is not linked" 1 "$2" "${@:4}" "$tmp/own.c" "$top/scr_image.o" -o "$tmp/own"
}
links "a malloc of its own" "multiple definition of .malloc" 'void* malloc(unsigned long n) { return (void*)n; } int main(void) { return 0; }' $MPICC -w
links "a call of MPI of its own" "multiple definition of .MPI_Barrier" 'int MPI_Barrier(int c) { return c; } int main(void) { return 0; }' $MPICC
links "a static program" "hidden symbol ._DYNAMIC" 'int main(void) { return 0; }' $MPICC -static
if command -v mpicc.openmpi >/dev/null; then links "another MPI" "undefined reference to .MPI_UNWEIGHTED" 'int main(void) { return 0; }' mpicc.openmpi; fi

# ---- refused when a library of the program makes the call
fresh
AT=1 check "a library that calls nothing of it" 0 - run 1 late no
said "a library that calls nothing of it: an image" "image\.1 is complete"
check "a library that calls nothing of it: its end" 0 "" grep -qx "the library ends" "$tmp/result"
check "a library that calls nothing of it, without images" 0 "" plain 1 late no
check "its end without images" 0 "" grep -qx "the library ends" "$tmp/result"
for call in alarm pipe fork mmap dlopen; do
  fresh
  AT=1 check "a library that calls $call: the program goes on" 0 - run 1 late $call
  said "a library that calls $call: the message" "no image: rank 0 has called $call()"
done
check "threads that call MPI: what is provided" 0 - grep -x "only the main thread" "$tmp/result"
said "threads that call MPI: the message" "MPI_THREAD_FUNNELED is provided: only the main thread can be saved"
check "a library that merges communicators: an error of MPI" 0 - run 1 late merge
check "a library that merges communicators: which" 0 "" grep -qx "the end, 1" "$tmp/result"
said "a library that merges communicators: the message" "MPI_Intercomm_merge does not work in programs with images"
printf 'program p\n  use mpi\n  integer :: e, c\n  call MPI_Init(e)\n  call MPI_Comm_get_parent(c, e)\n  call MPI_Comm_join(1, c, e)\nend program\n' >"$tmp/d.f90"
check "Fortran with a function that is not supported is built" 0 - ${MPICC/mpicc/mpifort} "$tmp/d.f90" "$top/scr_image.o" -o "$tmp/d"
check "such a program does not start" 1 "" run 1 d
said "such a program: the message" "the program uses MPI_Comm_join, which images do not support"

# ---- each function of mpi.h is on the side that sides.txt names, or refused by its name: one of sixty is tried, in long all
sides() {
  nm -g --defined-only "$top/scr_image.o" | awk '$3 ~ /^MPI_/ {print "object", $3}'
  sed '/^#/d' "$top/tools/image/names.txt" | tr ' ' '\n' | awk '/^MPI_/ && !/IGNORE$/ {print "MPI", $1}'
}
sides | LC_ALL=C sort -k 2 >"$tmp/sides"
echo '#include <mpi.h>' | $MPICC -E -x c - | grep -oE '\bMPI_[A-Za-z0-9_]+ *\(' | tr -d '( ' | LC_ALL=C sort -u >"$tmp/all"
awk '{print $2}' "$tmp/sides" | LC_ALL=C sort | LC_ALL=C comm -13 - "$tmp/all" >"$tmp/refused"
check "the functions of MPI are on the sides of sides.txt" 0 "" sh -c "sed '/^#/d' '$top/tests/image/sides.txt' | diff - '$tmp/sides'"
tried() { # FUNCTION: a program that uses it is refused by its name, if MPI has it
  printf 'int %s(void);\nint main(void) { return %s(); }\n' "$1" "$1" >"$tmp/tried.c"
  $MPICC "$tmp/tried.c" -o "$tmp/tried" >"$tmp/said" 2>&1 || return 0
  $MPICC "$tmp/tried.c" "$top/scr_image.o" -o "$tmp/tried" >"$tmp/said" 2>&1 || return 1
  timeout 60 "$tmp/tried" >"$tmp/said" 2>&1
  [ $? = 1 ] && grep -q "the program uses $1, which images do not support" "$tmp/said"
}
each=60
[ "$mode" = check ] || each=5
[ "$mode" != long ] || each=1
check "mpi.h has functions that are refused" 0 "" test "$(wc -l <"$tmp/refused")" -gt 250
for f in $(awk "NR % $each == $turn % $each" "$tmp/refused"); do check "$f is refused by its name" 0 "" tried "$f"; done

# ---- refused at the request: the program goes on
build OPENS refused.c -DOPENS
build EMPTY refused.c -DOPENS -DEMPTY
build GROWS refused.c -DOPENS -DGROWS
build UNLINKS refused.c -DUNLINKS
build SORTS refused.c -DSORTS
build SLEEPS refused.c -DSLEEPS
fresh
AT=1 check "a file without a name: the program goes on" 0 "" run 2 UNLINKS
said "a file without a name: the message" "no image: rank 0 has a file open that has no name any more, .*/words (deleted)"
not_said "a file without a name: no image" "is complete"
fresh
AT=1 AT_RANK=0 check "within qsort: the program goes on" 0 "" run 2 SORTS
said "within qsort: the message" "no image: rank 0 is in a function that qsort() calls"
build SOCKET refused.c -DSOCKET
fresh
AT=1 check "a socket that was open: the program goes on" 0 "" run 2 SOCKET
said "a socket that was open: the message" "no image: rank [01] has called socket()"
build BLOCKS_SIGNAL refused.c -DBLOCKS_SIGNAL
fresh
AT=1 check "a signal that is blocked: the program goes on" 0 "" run 2 BLOCKS_SIGNAL
said "a signal that is blocked: the message" "no image: rank [01] has blocked signal 12, which has come"
build PRINTS refused.c -DPRINTS
fresh
AT=1 check "a conversion of printf: the program goes on" 0 "" run 2 PRINTS
said "a conversion of printf: the message" "no image: rank [01] has called register_printf_specifier()"
build REWINDS refused.c -DREWINDS
fresh
printf abc >"$tmp/words"
AT=1 check "standard input that was rewound: the program goes on" 0 - $MPIEXEC -n 1 sh -c 'exec "$0" <"$1" 2>"$2"' "$tmp/REWINDS" "$tmp/words" "$tmp/said"
said "standard input that was rewound: the message" "no image: rank 0 has moved within standard input"
build LISTS refused.c -DLISTS
for how in "" opendir; do
  fresh
  SCR_IMAGE=0 check "a directory that is read" 0 "" run 1 LISTS $how
  cp "$tmp/result" "$tmp/wanted"
  AT=1 ends "a directory that is read: the program goes on" 1 LISTS $how
  said "a directory that is read: the message" "no image: rank 0 is reading a directory"
  fresh
  AT=2 ends "a directory that was read" 1 LISTS $how
  said "a directory that was read: an image" "image\.1 is complete: 1 ranks, [0-9.]* MB, stopped"
done
build PIPES refused.c -DPIPES
fresh
AT=1 check "a pipe of popen: the program goes on" 0 "" run 1 PIPES
said "a pipe of popen: the message" "no image: rank 0 has a pipe to another program open"
fresh
AT=2 check "a pipe that was closed" 0 "" run 1 PIPES
said "a pipe that was closed: an image" "image\.1 is complete"

fresh
AT=1 SCR_IMAGE_WAIT=2 check "a rank that does not call MPI: the program goes on" 0 "" run 2 SLEEPS
said "a rank that does not call MPI: the message" "no image: rank 1 has not called MPI for 2 s"

build FULL refused.c -DFULL
fresh
AT=1 check "a full disk: the program goes on" 0 "" run 2 FULL
said "a full disk: the message" "no image: rank [01] cannot write to a stream: No space left on device"
build OPTIONS refused.c -DOPTIONS
fresh
AT=1 check "between options: the program goes on" 0 "" run 1 OPTIONS -a -b
said "between options: the message" "no image: rank 0 is between two calls of getopt()"
build STAYS refused.c -DSTAYS -pthread
fresh
AT=1 check "a thread that was not joined: the program goes on" 0 "" run 1 STAYS
said "a thread that was not joined: the message" "no image: rank 0 has 1 threads that were not joined"

# ---- handlers of the program that run all the time: an image has what they change before them, or after them
build torn torn.c
plain 2 torn
fresh
AT=3 run 2 torn &
while kill -0 $! 2>/dev/null; do [ ! -e ready ] || pkill -USR2 -f "^$tmp/torn"; sleep 0.001; done
wait $!
check "handlers of signals: the run ends" 0 "" diff "$tmp/wanted" "$tmp/result"
said "handlers of signals: an image" "image\.1 is complete"
ends "handlers of signals: restarted" 2 torn

# ---- refused at a restart: nothing is rejected
fresh
AT=1 check "an image with an open file" 0 "" run 2 OPENS
cp words kept
rm words
check "the file is gone: refused" 1 "" refused 2 OPENS
said "the file is gone: the message" "cannot open .*/words, which the program had open: No such file or directory; bring it back"
ln -s kept words
check "the file is a link: refused" 1 "" refused 2 OPENS
said "the file is a link: the message" "cannot open .*/words, which the program had open: Too many levels of symbolic links"
rm words && mkfifo words
LIMIT=20 check "the file is a FIFO: refused" 1 "" refused 2 OPENS
said "the file is a FIFO: the message" "words.* is no plain file any more\|cannot open .*/words, which the program had open: No such device"
rm words
printf te >words
check "the file is shorter: refused" 1 "" refused 2 OPENS
said "the file is shorter: the message" "words has 2 bytes, but had 5 in the image: bring it back as it was"
printf 'another file\n' >words
check "the file is another: refused" 1 "" refused 2 OPENS
said "the file is another: the message" "words is not the file that the program had open, or was changed before byte 5: bring it back"
check "the file is another: it is as it was" 0 "another file" cat words
cp kept words
if [ "$(id -u)" = 0 ]; then
  chown 4711 words
  check "the file is another user's: refused" 1 "" refused 2 OPENS
  said "the file is another user's: the message" "words belongs to user 4711, and not to user 0 as the file that the program had open"
  chown 0 words
fi
check "the file is back" 0 "" run 2 OPENS
said "the file is back: it restarts" "restarted from image\.1"
check "the file is back: what is in it" 0 "" sh -c 'printf "text\nmore\n" | cmp - words'
fresh
AT=1,2 SCR_FLUSH=1 check "two images with a file that grows" 0 "" run 2 GROWS
truncate -s 7 words
check "the file is too short for the newest image: refused" 1 "" refused 2 GROWS
said "the file is too short: the message" "words has 7 bytes, but had 10 in the image: .*, or choose an older image with scr_index --current"
check "an older image is chosen" 0 - scr_index --current image.1
check "the file is long enough for the older image" 0 "" run 2 GROWS
said "the file is long enough: it restarts" "restarted from image\.1"
check "the file is long enough: what is in it" 0 "" sh -c 'printf "text\nmore\nmore\n" | cmp - words'
fresh
AT=1 check "an image with an empty file" 0 "" run 2 EMPTY
printf 'an older log\n' >older
mv older words
check "the file is another, and was empty: refused" 1 "" refused 2 EMPTY
said "the file is another, and was empty: the message" "words may not be the file that the program had open: .* is longer; if it is that file, cut it to 0 bytes"
check "the file is another, and was empty: it is as it was" 0 "an older log" cat words
check "the file is another, and was empty: it is cut" 0 "" truncate -s 0 words
check "the file is another, and was empty: it restarts" 0 "" run 2 EMPTY
build first refused.c
build second refused.c -O2
fresh
AT=1 check "an image of the first build" 0 "" run 2 first
cp "$tmp/first" "$tmp/kept" && cp "$tmp/second" "$tmp/first"
check "another build: refused" 1 "" refused 2 first
said "another build: the message" "image\.1 was written by another build of the program"
cp "$tmp/kept" "$tmp/first"
check "the build of the image" 0 "" run 2 first with arguments
said "the build of the image restarts" "restarted from image\.1"
said "other arguments: a warning" "image\.1 was written with other arguments, and goes on with them: *$"
check "other ranks: refused" 1 "" refused 3 first

# ---- of another processor, and where something else is now
check "a command that makes images foreign" 0 "" ${CC:-cc} -Wall -Werror -o "$tmp/foreign" "$top/tests/image/foreign.c" -lz
fresh
plain 2 maps 12
AT=7 check "an image with memory that is mapped" 0 - run 2 maps 12
foreign() { # NAME KIND PATTERN: the image of a rank becomes foreign, and its own again
  local file
  file=$(find "$tmp/node" -name rank_1.img)
  cp "$file" "$tmp/own"
  check "$1" 0 "" "$tmp/foreign" "$file" "$2"
  check "$1: refused" 1 - refused 2 maps 12
  said "$1: the message" "^scr_image: .*$3"
  check "$1: as it was" 0 "" cp "$tmp/own" "$file"
}
foreign "an image of another processor" processor "image\.1 was written on another kind of processor"
foreign "an image with a library elsewhere" library "is at 0x[0-9a-f]*, but in image\.1 at 0x"
foreign "an image with memory where a library is" memory "there is no memory for image\.1: its addresses are in use"
ends "what was foreign: restarted" 2 maps 12
said "what was foreign: from which" "restarted from image\.1\$"

# ---- what is in an image, and the command that tells
build FREES refused.c -DFREES
fresh
AT=1 check "an image of a heap with free blocks" 0 "" run 2 FREES
check "free blocks: what remains is whole at a restart" 0 "" run 2 FREES
said "free blocks: it restarts" "restarted from image\.1"
file=$(find "$tmp/node" -name rank_0.img)
check "free blocks are not in the image" 0 "" sh -c "scr_image '$file' | awk '\$5 == \"heap\" {n++; if (\$3 > 29000000 && \$4 > 15000000 && \$4 < 16000000) m++} END {exit n != 1 || m != 1}'"
fresh
AT=3 check "an image of a program with large variables" 0 - run 1 state 12
file=$(find "$tmp/node" -name rank_0.img)
check "zero pages of variables are not in the image" 0 "" sh -c "scr_image '$file' | awk '\$5 == \"variables\" && \$3 > 800000 {n++; if (\$4 < 200000) m++} END {exit n != 1 || m != 1}'"
says "scr_image tells the program" 0 "^program *saved *[0-9a-f]* $tmp/state\$" scr_image "$file"
says "scr_image tells the arguments" 0 "^arguments  12\$" scr_image "$file"
says "scr_image tells the libraries" 0 "^library *native .*/libmpich" scr_image "$file"
check "scr_image --check" 0 "$file can be loaded here, as rank 0 of 1" scr_image --check "$file"
mv "$tmp/state" "$tmp/kept"
says "scr_image --check without the program" 1 "$tmp/state is missing" scr_image --check "$file"
cp "$tmp/second" "$tmp/state"
says "scr_image --check of another build" 1 "$file was written by another build of $tmp/state" scr_image --check "$file"
mv "$tmp/kept" "$tmp/state"
head -c -1 "$file" >cut
says "scr_image of a file that was cut off" 1 "cut is damaged: it has another size" scr_image cut
{ cat "$file"; echo; } >longer
says "scr_image of a file that is longer" 1 "longer is damaged: it has another size" scr_image --check longer
{ head -c 200 "$file"; printf x; tail -c +202 "$file"; } >other
says "scr_image of a damaged header" 1 "other is damaged: the checksum of its header" scr_image other
says "scr_image of another file" 1 "$tmp/state is no image of a process" scr_image "$tmp/state"
says "scr_image without a file" 1 "which file" scr_image

# ---- where all users can write, no image goes into a directory of a stranger
fresh
chmod 1777 "$p" && mkdir image.1 image.3 && if chown 61299 image.1 image.3; then
  export SCR_FLUSH=1
  AT=3,7 check "directories of a stranger have the names of images" 0 - run 2 state 12
  said "the next number is taken" "image\.1 is of user 61299: the image has the next number"
  check "which images there are" 0 "rank_0.img rank_0.img" echo $(ls image.2 image.4 | grep rank_0)
  check "nothing is in a directory of the stranger" 0 "" find image.1 image.3 -type f
  rm -rf "$tmp/node" && mkdir "$tmp/node"
  check "it restarts" 0 - run 2 state 12
  said "from the newest" "restarted from image\.4"
  export SCR_FLUSH=0
else echo "skipped: directories of a stranger: needs root"; skipped=$((skipped + 1)); fi

# ---- libraries whose side the user chooses
numa=$(ldd "$tmp/state" | awk '/libnuma/ {print $3}') # which Debian's MPICH uses
if [ -n "$numa" ]; then
  build NUMA refused.c -DNUMA "$numa"
  fresh
  check "a library that MPI uses, too: refused" 1 "" refused 2 NUMA
  said "a library that MPI uses, too: the message" "libnuma.so.1 is used by the program and by MPI: name it in SCR_IMAGE_SAVED_LIBS or SCR_IMAGE_NATIVE_LIBS"
  SCR_IMAGE_SAVED_LIBS=libnuma check "it can do what images do not have: refused" 1 "" refused 2 NUMA
  said "it can do what images do not have: the message" "libnuma.so.1 uses [a-z_]*, which images do not support"
  export SCR_IMAGE_NATIVE_LIBS=libnuma
  plain 2 NUMA
  AT=1 round "a library that the user has chosen to be native" 2 NUMA
  unset SCR_IMAGE_NATIVE_LIBS
fi
fresh
AT=1 check "an image with a library" 0 - run 1 with_library 12
SCR_IMAGE_NATIVE_LIBS=libkeeps.so check "the library is native now: refused" 1 - run 1 with_library 12
said "the library is native now: the message" "libkeeps.so was saved in image\.1: set SCR_IMAGE_SAVED_LIBS and SCR_IMAGE_NATIVE_LIBS as then"
SCR_IMAGE_SAVED_LIBS=libm:libkeeps check "a library that is always native: refused" 1 - run 1 with_library 12
said "a library that is always native: the message" "SCR_IMAGE_SAVED_LIBS names libm.so.6, which is always native"
SCR_IMAGE_SAVED_LIBS=libkeeps SCR_IMAGE_NATIVE_LIBS=libkeeps check "both sides: refused" 1 - run 1 with_library 12
said "both sides: the message" "SCR_IMAGE_SAVED_LIBS names libkeeps.so, which is always native, or named in"
SCR_IMAGE_NATIVE_LIBS=libkeep check "a library that there is not: refused" 1 - run 1 with_library 12
said "a library that there is not: the message" "SCR_IMAGE_NATIVE_LIBS names libkeep, which is no library of the program"
SCR_IMAGE_SAVED_LIBS=libkeeps check "the side that it has without a list" 0 - run 1 with_library 12
said "the side that it has without a list: it restarts" "restarted from image\.1"
LD_PRELOAD=$tmp/liblate.so check "one library more: refused" 1 - run 1 with_library 12
said "one library more: the message" "image\.1 was written with .*libkeeps.so where .*liblate.so is now"
${CC:-cc} -O2 -DANEW -Wl,--build-id -shared -fPIC -o "$tmp/libkeeps.so" "$top/tests/image/keeps.c"
check "another build of the library: refused" 1 - run 1 with_library 12
said "another build of the library: the message" "image\.1 was written by another build of .*libkeeps.so"

fresh
check "a program that writes checkpoints itself" 0 - timeout 120 $MPIEXEC -n 2 "$top/examples/minimal" 20
check "a checkpoint that is no image: refused" 1 "" refused 2 first
said "a checkpoint that is no image: the message" "the newest checkpoint, ckpt\.[0-9]*, is not an image"

# ---- requests by command, and limits of the stack
fresh
plain 2 state 120 100000
run 2 state 120 100000 &
for _ in $(seq 300); do [ -e "$p/.scr/status.scr" ] && break; sleep 0.1; done
check "scr_checkpoint --halt" 0 - timeout 120 scr_checkpoint --wait --halt "$p"
wait $!
ends "scr_checkpoint: the next run" 2 state 120 100000
plain 2 state 12
for limit in 4096 unlimited; do
  fresh
  AT=3 check "ulimit -s $limit" 0 "" sh -c "ulimit -s $limit && timeout 120 $MPIEXEC -n 2 '$tmp/state' 12 2>/dev/null | sort | cmp - '$tmp/wanted'"
  ends "ulimit -s $limit, restarted with another" 2 state 12
  said "ulimit -s $limit: from which" "restarted from image\.1\$"
done

# ---- the session of the chapter images, with fewer cells
fresh
sed -n '/^    make image$/,/^    mpiexec .*prints the answer$/p' "$top/tools/manual/images.md" |
  sed -e '/make image/d' -e "s|mpicc examples|$MPICC $top/examples|" -e "s|scr_image.o|$top/scr_image.o|" -e "s|/dev/shm|$tmp/node|g" \
    -e "s|/p/run|$p|g" -e "s|mpiexec -n 4|$MPIEXEC -n 2|" -e 's|1000 20000|400 30000|' -e 's|sleep 5|while [ ! -e .scr/status.scr ]; do sleep 0.1; done|' >session
check "the session of the manual has its lines" 0 8 grep -c . session
check "the session of the manual" 0 - timeout 120 sh -e session
answer() { "$@" 2>/dev/null | tail -n 1; }
wanted=$(SCR_IMAGE=0 answer $MPIEXEC -n 2 ./heat 400 30000)
check "the session of the manual: its answer" 0 "$wanted" answer $MPIEXEC -n 2 ./heat 400 30000

# ---- the demo of the chapter images
if [ "$mode" != check ]; then says "make demo-image" 0 "^ *equal" timeout 300 make -s -C "$top" demo-image; fi

finish
