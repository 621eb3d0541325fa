#!/bin/bash
# mpi4py.sh - mpi4py is built for the MPI library of $MPICC, from Debian's source, and the suite for Python runs with
# it, where a stand-in has its place else.  Skipped where the source cannot be fetched; MPI4PY_SOURCE: a directory that
# has it.  From the environment also: MPICC, MPIEXEC, PYTHON.  Last line: N passed, N failed, N skipped.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
. "$top/tests/find_mpi.sh"
. "$top/tests/tools/check.sh"
. "$top/tests/debian_source.sh"
export PYTHON=${PYTHON:-/usr/bin/python3} # the one for which Debian has Cython
"$PYTHON" -c 'import numpy, Cython, setuptools, sysconfig
open(sysconfig.get_path("include") + "/Python.h")' 2>/dev/null ||
  skip "mpi4py: $PYTHON lacks NumPy, Cython, setuptools or Python.h; \`make setup check-long\` installs them on Debian"

source=${MPI4PY_SOURCE:-}
if [ -z "$source" ]; then
  debian_source mpi4py
  tar xf "$tar" -C "$tmp" && source=$(echo "$tmp"/mpi4py-*)
fi
build() {
  cp -R "$source" "$tmp/build" && cd "$tmp/build" &&
    "$PYTHON" setup.py build --mpicc="$(command -v "$MPICC")" --build-lib="$tmp/lib" >"$tmp/said" 2>&1
}
check "mpi4py is built" 0 - build
export PYTHONPATH=$tmp/lib${PYTHONPATH:+:$PYTHONPATH}
check "Python finds it" 0 "$tmp/lib/mpi4py/__init__.py" "$PYTHON" -c 'import mpi4py; print(mpi4py.__file__)'
[ $failed = 0 ] || { tail -n 20 "$tmp/said"; finish; exit; }

# The address sanitizer, which the suite adds in long, has its turn without mpi4py.
"$top/tests/python/python.sh" full | tee "$tmp/log"
line=$(grep -E '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' "$tmp/log" | tail -n 1)
read -r p _ f _ s _ <<<"${line:-0 passed, 1 failed, 0 skipped}"
passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
check "no stand-in is used" 1 "" grep 'stand-in' "$tmp/log"
finish
