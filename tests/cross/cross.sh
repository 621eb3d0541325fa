#!/bin/bash
# cross.sh [check|full|long] [PROCESSOR...] - the unit suites and the commands of other processors, built by Debian's
# cross compilers and run by qemu; and what the commands write there and here, which has to be the same, byte for byte.
# check and full try i386 alone.
#
# Each processor reads what version 1 of the library has left on x86-64 (tests/data/version-1), and works on it: index,
# halt file, rebuilt files and redundancy files, a scavenged dataset.  This processor reads that.  The fastest loops are
# left out one after the other, here and where else there are several.  The processors are those of the table below, with
# musl: this one with another C library; and `here`, for its own loops and `make static-tools`.  BIN is the directory of
# the commands of this processor.  Last line: N passed, N failed, N skipped.
set -u
HERE=$(cd "$(dirname "$0")/../version" && pwd)
# shellcheck source=tests/version/cases.sh
. "$HERE/cases.sh"
cd "$ROOT" || exit 1
BIN=${BIN:-$ROOT/tools} CC=${CC:-cc}
# name of the processor, of its compiler, of its emulator: both byte orders, 32 and 64 bits, signed and unsigned char
processors="
i386     i686-linux-gnu-gcc        qemu-i386
armhf    arm-linux-gnueabihf-gcc   qemu-arm
arm64    aarch64-linux-gnu-gcc     qemu-aarch64
ppc64el  powerpc64le-linux-gnu-gcc qemu-ppc64le
s390x    s390x-linux-gnu-gcc       qemu-s390x
musl     musl-gcc                  -
"
level=-O1 # of the commands
quick=    # the unit suites that are run by an emulator; none: all
case ${1:-} in
long) shift ;;
check | full)
  shift && set -- i386 "$@" && level=-O0 # that one runs without an emulator, where the kernel can
  quick="path hash hash_files params dataset filemap rank2file kernels regions"
  ;;
esac
passed=0 failed=0 skipped=0
for c in $MPICC $CC make; do command -v "$c" >/dev/null || { echo "$c is missing"; echo "0 passed, 1 failed, 0 skipped"; exit 1; }; done
work=$(mktemp -d) || exit 1
suite='' of=''
trap '[ -z "$suite" ] || kill "$suite" 2>/dev/null; rm -rf "$work"; leave_place' EXIT
trap 'exit 130' INT TERM HUP
USER=$(id -un) # static programs do not look it up
export USER TEST_KERNELS_SKIP=0

# check NAME COMMAND...: passed when it succeeds
check() {
  if "${@:2}" >"$work/log" 2>&1; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAIL  $1"
    tail -n 40 "$work/log" | sed 's/^/      /'
  fi
}
skip() { # WHAT WHY
  skipped=$((skipped + 1))
  echo "skipped: $1: $2"
}

take() { take_place || { failed=$((failed + 1)) && return 1; }; } # others have the place of the data between two processors

# ---- what is built

# build DIR COMPILER OPTION...: the unit suites and the commands, statically; DIR/build.log has what the compiler says
build() {
  local common=(-Wall -Wextra -Werror -static -I. "${@:3}")
  mkdir -p "$1" && {
    "$2" -O1 "${common[@]}" -DCHECK_SLOWER=8 -o "$1/unit" tests/unit/unit.c -lz -lpthread &
    "$2" $level "${common[@]}" -DSCR_STATIC -D'SCR_KERNELS_SKIP=atoi(getenv("TEST_KERNELS_SKIP"))' -o "$1/scr.program" tools/scr.c -lz &&
      wait $!
  } >"$1/build.log" 2>&1
}
# commands DIR EMULATOR: a link for each command or, where the processor's programs need the emulator, a script
commands() {
  local c
  emulator=$2
  if "$1/scr.program" --version >/dev/null 2>&1; then emulator=; fi
  for c in scr $(cd "$BIN" && compgen -G 'scr_*' | grep -v '\.'); do
    if [ -z "$emulator" ]; then ln -s scr.program "$1/$c"
    else
      printf '#!/bin/sh\nexec %s -0 "%s" "%s" "$@"\n' "$emulator" "$1/$c" "$1/scr.program" >"$1/$c"
      chmod +x "$1/$c"
    fi
  done
}

# ---- what the commands do and write

unpack() { # CASE
  case=$1
  rm -rf "${D:?}/$case"
  tar -xzpf "$DATA/$case.tar.gz" --no-same-owner -C "$D" || exit 1
  settings "$case"
}
now='s/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}/TIME/g; s/, after [0-9.]+ s$//
  s/([^M]TIME[^0-9A-Z]+)[0-9]{10}/\1NOW/g' # no two runs have these; MTIME is that of a file
# The size and the sum of each file below DIR, but for locks and what is random; of a hash file in which a time stands, without the time and
# the CRC that covers it: this processor's command reads it then.
files_of() { # DIR
  (cd "$1" && find . -type f ! -name '*lock' ! -name reserve -print | sort | while read -r f; do
    if [[ $f == */halt.scr ]] || LC_ALL=C grep -qaE '[0-9]{4}-[0-9]{2}-[0-9]{2}T' "$f"; then
      echo "$f: $(LC_ALL=C sed -E "$now" "$f" | head -c -4 | cksum)"
      "$BIN/scr_print_hash_file" "$f" | sed -E "$now"
    else echo "$f: $(cksum <"$f")"; fi
  done)
}
tell() { ask timeout 60 "$@" 2>&1 | sed -E "1s,^.*/(scr_),\$ \\1,; $now"; }
on() { SCR_PREFIX=$D/$case/prefix SCR_CNTL_BASE=$D/$case/cntl SCR_CACHE_BASE=$D/$case/cache "$@"; } # COMMAND: of CASE

# What the commands in directory BIN say of the data of version 1, and what they make of it; CASE stays in DIR/CASE.
work_on() { # BIN DIR
  local bin=$1 id
  for case in xor rs partner names; do
    unpack $case
    on tell "$bin/scr_scavenge"
    tell "$bin/scr_index" --long --prefix "$D/$case/prefix"
    files_of "$D/$case/prefix"
    cp -a "$D/$case" "$2/"
  done
  for id in 1 2; do
    unpack xor
    tell "$bin/scr_rebuild" --into "$D/xor/rebuilt" "$D"/xor/cache/tester/scr.version1/node.node-v*/scr.dataset.$id
    files_of "$D/xor/rebuilt"
  done
  unpack rs
  tell "$bin/scr_rebuild" --into "$D/rs/rebuilt" "$D"/rs/cache/tester/scr.version1/node.node-v*/scr.dataset.1
  files_of "$D/rs/rebuilt"
  unpack prefix
  tell "$bin/scr_index" --prefix "$D/prefix/prefix" --current ck1
  tell "$bin/scr_index" --prefix "$D/prefix/prefix" --drop ck2
  tell "$bin/scr_index" --prefix "$D/prefix/prefix" --add ck2
  tell "$bin/scr_index" --prefix "$D/prefix/prefix" --json
  tell "$bin/scr_index" --prefix "$D/prefix/prefix" --extract ck2 --into "$D/prefix/extracted"
  tell "$bin/scr_halt" --unset-reason --checkpoints 3 --before 1924992000 "$D/prefix/prefix"
  tell "$bin/scr_halt" --list "$D/prefix/prefix"
  files_of "$D/prefix"
  cp -a "$D/prefix" "$2/"
  unpack flat
  rm "$D/flat/prefix/.scr/index.scr"
  tell "$bin/scr_index" --prefix "$D/flat/prefix" --build
  tell "$bin/scr_index" --prefix "$D/flat/prefix" --long
  files_of "$D/flat/prefix"
  cp -a "$D/flat" "$2/"
}
# This processor's program reads what they have made.
goes_on() { # DIR CASE NAME STEP...
  case=$2
  rm -rf "${D:?}/$case"
  cp -a "$1/$case" "$D/"
  rm -rf "$D/$case"/{cntl,cache}/tester
  settings "$case"
  check "$processor: $case: $3" run_steps "$work/version" "$case" "${@:4}"
}
read_here() { # DIR
  goes_on "$1" xor "what it has scavenged is restarted from here" get:ck2 prefix:ck2 put:ck4 end
  goes_on "$1" rs "what it has rebuilt in a scavenge is restarted from here" get:ck1 prefix:ck1 end
  goes_on "$1" prefix "the checkpoint that was chosen there is restarted from here" get:ck1 end
  goes_on "$1" flat "the index that was built there leads to the newest checkpoint here" get:ck2 end
}
# The commands read what version 1 has written on x86-64.
read_there() { # BIN
  local archive
  for archive in "$DATA"/*.tar.gz; do
    unpack "$(basename "$archive" .tar.gz)"
    { ask_all "$1" "$case"; ask_rebuild "$1" "$case"; } >"$work/said"
    check "$processor: $case: the commands say what they said on x86-64" diff "$DATA/$case.txt" "$work/said"
  done
}

# Each loop that the processor has, without those that are better: the unit suite chooses it, and files are rebuilt by it.
each_loop() { # DIR UNIT
  local row name loops=0
  # shellcheck disable=SC2086
  timeout 300 $2 kernels >"$work/loops"
  while read -r row name; do
    export TEST_KERNELS_SKIP=$row
    # shellcheck disable=SC2086
    check "$processor: $name is the best loop: the unit suite" timeout 300 $2 kernels
    for case in xor rs; do
      unpack $case
      ask_rebuild "$1" $case >"$work/said"
      check "$processor: $name is the best loop: $case is rebuilt as it was" diff <(sed -n '/^\$ scr_rebuild/,$p' "$DATA/$case.txt") "$work/said"
    done
    loops=$((loops + 1))
  done < <(sed -n 's/^kernels \([0-9][0-9]*\)  *\([a-z0-9]*\)$/\1 \2/p' "$work/loops")
  export TEST_KERNELS_SKIP=0
  sed -n "s/^note: this processor/note: $processor/p" "$work/loops"
  check "$processor: a portable loop and a faster one were tried" test $loops -ge "$3"
}

build_version "$ROOT" "$work/version" && take || { echo "0 passed, 1 failed, 0 skipped"; exit 1; }
mkdir "$work/here" && work_on "$BIN" "$work/here" >"$work/here/said"
leave_place

# The unit suites run while the commands are tried, and the next processor's are built.
reap() {
  local code
  [ -n "$suite" ] || return 0
  wait "$suite"
  code=$?
  suite=
  check "$of: the unit suites: $(tail -n 1 "$work/$of/unit.log")" eval "cat '$work/$of/unit.log'; (exit $code)"
}

try() { # PROCESSOR COMPILER EMULATOR
  local processor=$1 cc=$2 dir=$work/$1 emulator
  command -v "$cc" >/dev/null || { skip "$1" "there is no $cc"; return; }
  [ "$3" = - ] || command -v "$3" >/dev/null || { skip "$1" "there is no $3"; return; }
  echo '#include <stdio.h>' | "$cc" -E - >/dev/null 2>&1 || { skip "$1" "$cc finds no C library"; return; }
  sh tools/packaging/zlib.sh "$cc" "$zlib/$1" >"$work/log" 2>&1 || { skip "$1" "no zlib: $(tail -n 1 "$work/log")"; return; }
  check "$1: the unit suites and the commands build without a warning" \
    eval "build '$dir' $cc -I'$zlib/$1' -L'$zlib/$1' && ! grep . '$dir/build.log' || ! cat '$dir/build.log'"
  [ -x "$dir/unit" ] && [ -x "$dir/scr.program" ] || return
  commands "$dir" "$3"
  reap
  # shellcheck disable=SC2086
  timeout 1500 $emulator "$dir/unit" ${emulator:+$quick} >"$dir/unit.log" 2>&1 &
  suite=$! of=$1
  take || return
  read_there "$dir"
  work_on "$dir" "$dir" >"$dir/said"
  check "$1: what the commands say and write is the same here and there" diff "$work/here/said" "$dir/said"
  read_here "$dir"
  [ "$1" != arm64 ] || each_loop "$dir" "$emulator $dir/unit" 2
  leave_place
}

zlib=$ROOT/tools/packaging/build
while read -r name cc emulator; do
  if [ -z "$name" ] || { [ $# != 0 ] && [[ " $* " != *" $name "* ]]; }; then continue; fi
  started=$SECONDS
  try "$name" "$cc" "$emulator"
  echo "$name: $((SECONDS - started)) s"
  case $name in musl) ;; *) check "$name: README's table names it" grep -q "^| processors |.*\b$name\b" README.md ;; esac
done <<<"$processors"
reap

# ---- the loops of this processor, and the static commands
if { [ $# = 0 ] || [[ " $* " == *" here "* ]]; } && take; then
  processor=$(uname -m)
  check "$processor: the commands build" build "$work/native" "$CC"
  commands "$work/native" -
  case $processor in x86_64 | aarch64) least=2 ;; *) least=1 ;; esac
  each_loop "$work/native" "$work/native/unit" $least
  check "make static-tools" make -s static-tools
  check "it makes a program that needs no library and no loader" eval '! readelf -ld tools/static/scr | grep -E "INTERP|NEEDED"'
  unpack prefix
  for command in scr_index "scr index"; do
    check "it is each of the commands: $command" \
      eval "'$ROOT'/tools/static/$command --list --prefix $D/prefix/prefix | diff - <(sed -n '2,/^exit/p' '$DATA/prefix.txt' | grep -v ^exit)"
  done
  check "it has the manual" eval "tools/static/scr help build | grep -q static-tools"
fi

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
