# shellcheck shell=bash disable=SC2034,SC2154
# debian_source.sh - for the suites that read it, after tools/check.sh: the source of a package of this Debian.
# debian_source PACKAGE: its files are in $tmp/source, and what its authors wrote is the archive $tar; or the suite is
# skipped.  Without root, and without a change of the system's lists.
debian_source() {
  local package=$1
  command -v apt-get >/dev/null && fetch_source "$package" >"$tmp/said" 2>&1
  tar=$(ls "$tmp/source/${package}"_*.orig.tar.* 2>/dev/null)
  [ -n "$tar" ] || # and the first of what apt-get said
    skip "no source of $package from Debian$(sed -n 's/^E: /: /p' "$tmp/said" 2>/dev/null | head -n 1)"
}
fetch_source() { # PACKAGE
  local package=$1
  . /etc/os-release
  mkdir -p "$tmp/lists/partial" "$tmp/source"
  echo "deb-src http://deb.debian.org/debian ${VERSION_CODENAME:-} main" >"$tmp/list"
  set -- -o Dir::Etc::sourcelist="$tmp/list" -o Dir::Etc::sourceparts=- -o Dir::State::lists="$tmp/lists" \
    -o APT::Sandbox::User=root
  timeout 120 apt-get -qq "$@" update &&
    (cd "$tmp/source" && timeout 300 apt-get -qq "$@" source --download-only "$package")
}
