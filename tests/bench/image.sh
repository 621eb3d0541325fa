#!/bin/sh
# image.sh [--runs N] [--mib N] - what scr_image.o costs: a program as it is and linked with the object, run after run; the
# medians, and their ratio.  Then a checkpoint of N MiB a rank (256), as an image and written by the program.  For
# `bench.sh --image`.  Two ranks on two virtual nodes; BENCH_DIR (/dev/shm) needs 8 times that much.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
. "$top/tests/find_mpi.sh"
runs=5 mib=256
while [ $# -gt 0 ]; do
  case $1 in
  --runs) runs=${2:-} ;;
  --mib) mib=${2:-} ;;
  *) sed -n '2,4s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
  esac
  case ${2:-} in '' | *[!0-9]* | 0*) echo "bench: $1 wants a number" >&2; exit 2 ;; esac
  shift 2
done
[ -e "$top/scr_image.o" ] || { echo "bench: there is no scr_image.o; \`make image\` makes it" >&2; exit 1; }
work=$(mktemp -d "${BENCH_DIR:-/dev/shm}/scr-bench.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP
$MPICC -O2 -o "$work/plain" "$here/image.c"
$MPICC -O2 -o "$work/image" "$here/image.c" "$top/scr_image.o"
$MPICC -O2 -DWRITES -I"$top" -o "$work/writes" "$here/image.c" "${SCR_LIB:-$top/scr_impl.c}" -lz -lpthread
export SCR_VIRTUAL_NODES=2 SCR_COPY_TYPE=XOR SCR_FLUSH=0 SCR_DEBUG=0 SCR_SIGNALS=USR1:checkpoint SCR_HALT_SECONDS=0
export SCR_PREFIX="$work/prefix" SCR_CACHE_BASE="$work/cache" SCR_CNTL_BASE="$work/cntl"

# run PROGRAM ARGUMENTS...: with nothing left of another run; its lines go to the file of the program's name
run() {
  program=$1
  shift
  rm -rf "$SCR_PREFIX" "$SCR_CACHE_BASE" "$SCR_CNTL_BASE"
  mkdir "$SCR_PREFIX" "$SCR_CACHE_BASE" "$SCR_CNTL_BASE"
  timeout -k 5 300 $MPIEXEC -n 2 "$work/$program" "$@" </dev/null >>"$work/$program.times"
}
for _ in $(seq "$runs"); do
  run plain
  run image
done
for _ in $(seq "$runs"); do
  run writes --mib "$mib"
  run image --mib "$mib"
  [ -n "$(find "$SCR_CACHE_BASE" -name 'rank_0.img')" ] || { echo "bench: no image was taken" >&2; exit 1; }
done
# Of each step the median of both programs, in ns (of a checkpoint in ms).
awk -v runs="$runs" -v mib="$mib" '
  function median(who, what, n, i, j, t) {
    for (n = 0; (who, what, n) in time; n++) list[n] = time[who, what, n]
    for (i = 1; i < n; i++) for (j = i; j > 0 && list[j - 1] > list[j]; j--) { t = list[j]; list[j] = list[j - 1]; list[j - 1] = t }
    return n == 0 ? 0 : list[int(n / 2)]
  }
  { of = FILENAME ~ /image\.times$/ ? "image" : "plain"
    step = $0
    sub(/ [^ ]*$/, "", step)
    if (!(step in seen)) order[++steps] = step
    seen[step] = 1
    time[of, step, count[of, step]++ + 0] = $NF }
  END {
    printf "%-28s %12s %12s %7s   (medians of %d runs, ns)\n", "", "as it is", "with object", "ratio", runs
    for (k = 1; k <= steps; k++) {
      a = median("plain", order[k]); b = median("image", order[k])
      name = order[k] == "checkpoint" ? "checkpoint of " mib " MiB a rank" : order[k]
      printf "%-28s %12.0f %12.0f %7.2f\n", name, a, b, (a > 0 ? b / a : 0)
    }
  }' "$work/plain.times" "$work/image.times" "$work/writes.times"
