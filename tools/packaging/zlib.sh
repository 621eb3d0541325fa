#!/bin/sh
# zlib.sh CC DIR - make a static zlib with the compiler CC: DIR has libz.a, zlib.h and zconf.h then.
# zlib.sh --fetch - only get its source, if it is not here.
#
# The source is the directory ZLIB_SOURCE, or else that of this Debian, which apt-get fetches and verifies, without
# root and without a change of the system's lists; it stays in tools/packaging/build/zlib.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
source=${ZLIB_SOURCE:-$here/build/zlib}

fetch() {
  for c in apt-get dpkg-source; do
    command -v "$c" >/dev/null || { echo "the source of zlib is not here: $c is missing, and ZLIB_SOURCE is not set" >&2; exit 1; }
  done
  new=$(mktemp -d)
  trap 'rm -rf "$new"' EXIT
  chmod 755 "$new" # apt-get downloads as a user of its own
  mkdir -p "$new/lists/partial" "$new/cache/archives/partial"
  server=$(apt-get --print-uris download zlib1g-dev | sed -n "s/^'\(.*\)\/pool\/.*/\1/p")
  # shellcheck disable=SC1091
  release=$(. /etc/os-release && echo "$VERSION_CODENAME")
  echo "deb-src $server $release main" >"$new/sources.list"
  set -- -q -o Dir::Etc::SourceList="$new/sources.list" -o Dir::Etc::SourceParts=/dev/null -o Dir::State::Lists="$new/lists" \
    -o Dir::Cache="$new/cache" -o APT::Sandbox::User=
  (apt-get "$@" update && cd "$new" && apt-get "$@" source --download-only zlib && dpkg-source --no-check -x zlib_*.dsc zlib) \
    >"$new/log" 2>&1 || { tail -n 5 "$new/log" >&2; exit 1; }
  mkdir -p "$here/build"
  mv "$new/zlib" "$here/build/"
}

[ -e "$source/zlib.h" ] || fetch
[ "${1:-}" != --fetch ] || exit 0
cc=${1:?the compiler} dir=${2:?the directory of libz.a}
[ ! -e "$dir/libz.a" ] || exit 0
rm -rf "$dir.new"
mkdir -p "$(dirname "$dir")"
cp -R "$source" "$dir.new"
(cd "$dir.new" && CC="$cc" CFLAGS="-O2" ./configure --static && make libz.a) >"$dir.log" 2>&1 || { tail -n 5 "$dir.log" >&2; exit 1; }
rm -rf "$dir"
mkdir "$dir"
mv "$dir.new/libz.a" "$dir.new/zlib.h" "$dir.new/zconf.h" "$dir"
rm -r "$dir.new" "$dir.log"
