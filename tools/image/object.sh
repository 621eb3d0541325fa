#!/bin/sh
# object.sh SOURCES OUT - make the object OUT, scr_image.o, of the sources in SOURCES (tools/image) and the library.
#
# The native part is joined with zlib; its variables go to sections of their own, and each function of libc and MPI that it
# calls is renamed to a jump through a slot (native.S), so that what the saved part puts before libc never reaches it.
# Libraries of the program import more than it uses.  What they may import, but not call, gets a stub that tells of the
# call; so do the functions of MPI that images do not support (img_stubs).
# From the environment: CC, MPICC, CFLAGS, WARN.
set -eu
from=$1 out=$2
CC=${CC:-cc} MPICC=${MPICC:-mpicc}
top=$(cd "$from/../.." && pwd)
dir=$from/build # objects stay: only what is older than its sources is compiled again
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
stop() { echo "scr_image.o: $*" >&2; exit 1; }

case $(uname -sm) in "Linux x86_64") ;; *) stop "images need Linux on x86-64" ;; esac
echo '#include <mpi.h>
#ifndef MPICH_VERSION
no
#endif' | $MPICC -E -x c - | grep -q '^no$' && stop "images need MPICH; $MPICC is of another MPI"
zlib=$($CC -print-file-name=libz.a)
[ -f "$zlib" ] || stop "images need libz.a, which zlib1g-dev has"

flags="${CFLAGS:--O2 -g} ${WARN:-} -I$top -I$dir -fPIC -fvisibility=hidden -fno-stack-protector -fcf-protection=none"
flags="$flags -fno-lto -fno-common -ftls-model=local-exec -U_FORTIFY_SOURCE"

sed '/^#/d' "$from/names.txt" | tr -s ' ' '\n' | grep . | LC_ALL=C sort -u | sed 's/.*/"&",/' >"$dir/names.inc"
native="ranges start save agree lib table" saved="heap maps threads libc files streams p2p drain probe plan coll comm group attr topo types errors held info windows io old calls"
for name in $native $saved; do
  [ -f "$from/$name.c" ] || continue
  more=
  case $name in
  ranges | start) more=-fno-tree-loop-distribute-patterns ;;
  p2p | probe | comm) more="-O3 -fno-semantic-interposition" ;;
  libc) more=-fexceptions ;;
  heap) more="-fno-builtin-malloc -fno-builtin-calloc" ;;
  esac
  [ "$dir/$name.o" -nt "$from/$name.c" ] && [ -z "$(find "$from" -maxdepth 1 -name "*.h" -newer "$dir/$name.o")" ] &&
    { [ $name != lib ] || [ "$dir/lib.o" -nt "$top/scr_impl.c" ]; } &&
    { [ $name != table ] || [ "$dir/table.o" -nt "$from/names.txt" ]; } && continue
  # shellcheck disable=SC2086
  $MPICC $flags $more -c -o "$dir/$name.o" "$from/$name.c"
done
$CC -c -o "$dir/jump.o" "$from/jump.S"

# The native part; table.o is the last with thread-local variables (T1).
(cd "$dir" && ar x "$($CC -print-libgcc-file-name)" cpuinfo.o)
objects=
for name in $native; do objects="$objects $dir/$name.o"; done
# shellcheck disable=SC2086
ld -r -o "$dir/native.o" $(echo "$objects" | sed "s| $dir/table.o||") "$dir/cpuinfo.o" "$zlib" "$dir/jump.o" "$dir/table.o"
objdump -h "$dir/native.o" | grep -q ' \.tdata' && stop "the native part has thread-local data with values"

# What it calls: libc and MPI by slots.  Names of our own, and of the linker, stay.
nm -u "$dir/native.o" | awk '{print $2}' | grep -vE '^(img_|__start_|__stop_|scr_native_|_DYNAMIC$|_init$|__init_array_|__ehdr_start$|_GLOBAL_OFFSET_TABLE_$)' >"$dir/calls"
for name in $saved; do nm -g --defined-only "$dir/$name.o"; done | awk '$2 == "T" && $3 ~ /^MPI/ {print $3}' >"$dir/ours"
{ cat "$dir/ours"; tr -d '",' <"$dir/names.inc"; } | LC_ALL=C sort -u >"$dir/served"
mpi=$($MPICC -print-file-name=libmpich.so)
[ -f "$mpi" ] || stop "cannot find libmpich.so"
nm -D --defined-only "$mpi" | awk '$2 ~ /[TWi]/ && $3 ~ /^P?MPI/ {print $3}' | awk -v list="$dir/served" '
  BEGIN { while ((getline name <list) > 0) served[name] = 1 }
  { name = $1; sub(/^PMPI_/, "MPI_", name) } !(name in served)' >"$dir/refused"
sed '/^#/d' "$from/late.txt" | tr -s ' ' '\n' | grep . >"$dir/late"
for name in $saved; do [ ! -f "$dir/$name.o" ] || nm -u "$dir/$name.o"; done |
  awk '{print $2}' | sed -n 's/^scr_native_//p' | cat - "$dir/calls" "$dir/late" | sort -u | grep -vxE 'stderr|environ' >"$dir/slots"
awk '{print $1, "scr_native_" $1}' "$dir/calls" >"$dir/renames"
# What saved libraries call of libc's that is ours: by a stub, so that the caller is in this object, also in a tail call
# (C3).  Not by a stub: functions whose arguments may be on the stack.
for name in $saved; do nm -g --defined-only "$dir/$name.o"; done | awk '$2 == "T" && $3 !~ /^(MPI_|img_)/ {print $3}' |
  grep -vxE 'asprintf|syscall|__isoc[0-9]*_[a-z]*scanf' >"$dir/called"
{ sed 's/.*/& img_call_&/' "$dir/called"
  printf '%s\n' 'mmap img_mmap' 'mmap64 img_mmap' 'munmap img_munmap' 'mprotect img_mprotect' 'mremap img_mremap'
  printf '%s\n' 'setjmp img_setjmp_mask' '_setjmp img_setjmp' '__sigsetjmp img_sigsetjmp'
  for name in longjmp _longjmp siglongjmp __longjmp_chk; do echo "$name img_longjmp"; done
  for name in create join mutex_lock mutex_trylock mutex_unlock rwlock_wrlock rwlock_trywrlock rwlock_unlock; do
    echo "pthread_$name img_pthread_$name"
  done
  sed -n 's/^MPI_.*/P& &/p' "$dir/ours"; sed 's/$/ img_stub_mpi/' "$dir/refused"; sed 's/$/ img_stub_late/' "$dir/late"; } |
  LC_ALL=C sort >"$dir/stubs"
{
  echo '	.text'
  awk '{printf "\t.globl scr_native_%s\n\t.type scr_native_%s, @function\nscr_native_%s:\n\tjmp *slots_at+%d(%%rip)\n", $1, $1, $1, (NR - 1) * 16 + 8}' "$dir/slots"
  echo '	.section .rodata'
  awk '{printf "name_%d: .asciz \"%s\"\n", NR, $1}' "$dir/slots"
  printf '\t.section scr_native_data, "aw"\n\t.balign 16\n\t.globl scr_native_slots, scr_native_stderr, scr_native_environ\nscr_native_slots:\nslots_at:\n'
  awk '{printf "\t.quad name_%d, 0\n", NR}' "$dir/slots"
  printf '\t.quad 0, 0\nscr_native_stderr: .quad 0\nscr_native_environ: .quad 0\n'
  awk '{
    name = "stub_name_" NR; at = $2
    printf "\t.section .rodata\n%s: .asciz \"%s\"\n", name, $1
    if ($2 ~ /^img_stub_/) {
      at = "stub_" NR
      printf "\t.text\n%s:\n\tleaq %s(%%rip), %%r10\n", at, name
      if ($2 == "img_stub_late") printf "\tleaq scr_native_%s(%%rip), %%r11\n", $1
      printf "\tjmp %s\n", $2
    }
    table = table sprintf("\t.quad %s, %s, %d\n", name, at, $2 == "img_stub_mpi" ? 1 : $2 == "img_stub_late" ? 2 : 0)
  } END {
    printf "\t.section scr_native_data, \"aw\"\n\t.balign 16\n\t.globl img_stubs, img_stub_count\nimg_stubs:\n%simg_stub_count: .quad %d\n", table, NR
  }' "$dir/stubs"
  awk '{
    printf "\t.text\nimg_call_%s:\n\t.cfi_startproc\n\tsubq $8, %%rsp\n\t.cfi_adjust_cfa_offset 8\n\tcall %s\n", $1, $1
    print "\taddq $8, %rsp\n\t.cfi_adjust_cfa_offset -8\n\tret\n\t.cfi_endproc"
  }' "$dir/called"
  printf '\t.section .note.GNU-stack, "", @progbits\n'
} >"$dir/native.S"
$CC -c -o "$dir/slots.o" "$dir/native.S"
objcopy --redefine-syms="$dir/renames" "$dir/native.o"
renamed=
for section in $(objdump -h "$dir/native.o" | awk '$2 ~ /^\.data(\.rel(\.local)?)?$/ {print $2}'); do
  renamed="$renamed --rename-section $section=scr_native_data"
done
# shellcheck disable=SC2086
objcopy $renamed --rename-section .bss=scr_native_bss "$dir/native.o"
other=$(objdump -h "$dir/native.o" | awk '$2 ~ /^\.(data|bss|lbss|ldata)/ && $2 !~ /^\.data\.rel\.ro/ && $3 !~ /^0*$/ {print $2}')
[ -z "$other" ] || stop "the native part has variables in $other"

# All of it: only what replaces functions of libc and MPI can be seen.
objects=
for name in $saved; do [ ! -f "$dir/$name.o" ] || objects="$objects $dir/$name.o"; done
# shellcheck disable=SC2086
ld -r -o "$dir/all.o" "$dir/native.o" "$dir/slots.o" $objects
# shellcheck disable=SC2086
nm -g --defined-only $objects "$dir/start.o" | awk '$2 ~ /[TW]/ && $3 !~ /^img_/ {print $3}' >"$dir/seen"
objcopy --keep-global-symbols="$dir/seen" "$dir/all.o"
objcopy --redefine-sym img_program_init=SCR_Init "$dir/all.o" # the program's, not that of the library in this object
mv "$dir/all.o" "$out"
