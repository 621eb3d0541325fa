#!/bin/bash
# coverage.sh - compile the library for gcov, run the unit tests and the MPI tests on 1 and 4 ranks, and print for each part
# of scr_impl.c how many of its lines and branches were reached.  All it makes is in tests/coverage/build.
#
#   coverage.sh [CASE...]     only these cases of the MPI suite
#   QUICK=1                   the cases of `make check-quick`, and the unit suites that take little
#
# Processes that the tests kill, to see what a failure leaves, write no counts: what only they reach is not counted.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/find_mpi.sh
build=$PWD/tests/coverage/build
rm -rf "$build" && mkdir -p "$build/unit" "$build/mpi" || exit 1
die() {
  echo "coverage: $1" >&2
  exit 1
}
options="--coverage -fprofile-update=atomic -O0 -g"
gcov=${GCOV:-gcov}
command -v "$gcov" >/dev/null || die "there is no $gcov; GCOV names it"
export MPICC_COUNTED=$MPICC MPIEXEC GCOV_PREFIX_STRIP=99 COVERAGE_BUILD=$build COVERAGE_OPTIONS=$options

# Only the file of the MPI suite that contains the library is compiled for gcov, and linked with the program of the cases.
cat >"$build/mpicc" <<'END'
#!/bin/bash
case " $* " in
*/library.c\ *)
  while [ "$1" != -o ]; do arguments+=("$1") && shift; done
  $MPICC_COUNTED "${arguments[@]}" "$@" $COVERAGE_OPTIONS && cp "${2%.o}.gcno" "$COVERAGE_BUILD/mpi/"
  ;;
*" -rdynamic "*) exec $MPICC_COUNTED "$@" --coverage ;;
*) exec $MPICC_COUNTED "$@" ;;
esac
END
chmod +x "$build/mpicc"

cases=("$@") suites=()
[ -z "${QUICK:-}" ] || suites=(path hash hash_files params dataset filemap prefix index run_files copies scavenge)
# shellcheck disable=SC2207
[ -z "${QUICK:-}" ] || cases=($(sed -n '/^cases="/,/"$/ { s/^cases="//; s/"$//; p; }' tests/quick.sh))
counts="1 4"
[ ${#cases[@]} = 0 ] || counts=4

# shellcheck disable=SC2086
{
  ${CC:-cc} $options -I. -c -o "$build/unit/unit.o" tests/unit/unit.c &&
    ${CC:-cc} --coverage -o "$build/unit/unit" "$build/unit/unit.o" -lz -lpthread || die "the unit tests do not build"
}
echo "unit tests:  $(GCOV_PREFIX=$build/unit timeout 1800 "$build/unit/unit" "${suites[@]}" 2>&1 </dev/null | tail -n 1)"
echo "MPI tests:   $(MPICC=$build/mpicc GCOV_PREFIX=$build/mpi TEST_COUNTS=$counts TEST_LIMIT=200 timeout 6000 \
  tests/mpi/mpi.sh check "${cases[@]}" 2>&1 </dev/null | tee "$build/mpi.log" | tail -n 1)"
for run in unit/unit mpi/library; do
  [ -s "$build/$run.gcda" ] || die "the $(dirname $run) tests have left no counts"
  (cd "$build/$(dirname $run)" && "$gcov" --json-format --stdout --branch-probabilities "$(basename $run).gcda") \
    >"$build/$(dirname $run).json" 2>"$build/gcov.log" || die "$gcov: $(tail -n 1 "$build/gcov.log")"
done
python3 tests/coverage/parts.py "$build/unit.json" "$build/mpi.json"
