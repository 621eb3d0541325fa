# find_hdf5.sh - print the options of a compiler with which a program in C has HDF5: those in HDF5, from the environment,
# or else what pkg-config or h5cc say.  If a program does not compile with them, it says what to install, and fails.
try() { echo '#include <hdf5.h>
int main(void) { return H5open() < 0; }' | ${CC:-cc} -x c - -x none "$@" -o /dev/null 2>/dev/null; }
# h5cc names its compiler first.
for flags in "${HDF5:-}" "$(pkg-config --cflags --libs hdf5 2>/dev/null)" "$(h5cc -shlib -show 2>/dev/null | cut -s -d' ' -f2-)"; do
  # shellcheck disable=SC2086
  if [ -n "$flags" ] && try $flags; then
    echo "$flags"
    exit 0
  fi
done
echo "examples/hdf5.c: there is no HDF5 for C; \`make setup hdf5\` installs it (libhdf5-dev, hdf5-devel), or name yours:" >&2
echo "    make hdf5 HDF5=\"-I/path/include -L/path/lib -lhdf5\"" >&2
exit 1
