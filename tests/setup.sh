#!/bin/sh
# setup.sh [GOAL ...] - install what is missing to build, and what the goals need (check, check-full, check-long,
# check-cross, lint, sanitize, fortran, hdf5, static-tools); check-quick and check-scale need a compiler, MPI and zlib alone.
# Uses the system's package manager as root or through sudo without a password; else it says what to install.
set -u
goals=" $* "
missing=""

have() { command -v "$1" >/dev/null 2>&1; }
need() { missing="$missing $1"; } # a capability; packages_of names its packages

for c in apt-get dnf zypper pacman apk brew; do
  have "$c" && { manager=$c; break; }
done
manager=${manager:-none}

# The packages of capability $1 under the manager.
packages_of() {
  case $manager:$1 in
  apt-get:cc) echo gcc libc6-dev ;; apt-get:mpi) echo mpich libmpich-dev ;; apt-get:zlib) echo zlib1g-dev ;;
  apt-get:mkfs) echo xfsprogs btrfs-progs ntfs-3g ;; apt-get:openmpi) echo openmpi-bin libopenmpi-dev ;;
  apt-get:musl-gcc) echo musl-tools dpkg-dev ;; apt-get:qemu) echo qemu-user ;;
  apt-get:i386) echo gcc-i686-linux-gnu libc6-dev-i386-cross dpkg-dev ;;
  apt-get:cross) echo gcc-i686-linux-gnu libc6-dev-i386-cross gcc-arm-linux-gnueabihf libc6-dev-armhf-cross \
    gcc-aarch64-linux-gnu libc6-dev-arm64-cross gcc-powerpc64le-linux-gnu libc6-dev-ppc64el-cross \
    gcc-s390x-linux-gnu libc6-dev-s390x-cross ;;
  apt-get:mpi4py) echo python3-dev python3-numpy python3-setuptools cython3 python3-mpi4py ;; # to build it; and for Open MPI
  apt-get:blas) echo libblas-dev ;;
  apt-get:package) echo dpkg-dev debhelper lintian ;; apt-get:pkg-config) echo pkg-config ;;
  apt-get:numpy | dnf:numpy | zypper:numpy) echo python3-numpy ;; pacman:numpy) echo python-numpy ;; apk:numpy) echo py3-numpy ;;
  dnf:pkg-config) echo pkgconf-pkg-config ;; pacman:pkg-config | apk:pkg-config | brew:pkg-config) echo pkgconf ;;
  apt-get:hdf5) echo libhdf5-dev pkg-config ;; dnf:hdf5 | zypper:hdf5) echo hdf5-devel ;; apk:hdf5) echo hdf5-dev ;; # else hdf5
  apt-get:cxx) echo g++ ;; apt-get:ip) echo iproute2 ;; apt-get:ps) echo procps ;; apt-get:unshare) echo util-linux ;;
  apt-get:slurm) echo slurmctld slurmd slurm-client ;; dnf:slurm) echo slurm slurm-slurmctld slurm-slurmd ;;
  apt-get:format) echo clang-format ;; apt-get:fortran) echo gfortran libmpich-dev ;; apt-get:mysql) echo libmariadb-dev ;;
  apt-get:mariadb) echo mariadb-server-core mariadb-client-core ;;
  apt-get:fuzzer) echo clang libclang-rt-dev ;; dnf:fuzzer | pacman:fuzzer | apk:fuzzer) echo clang compiler-rt ;; *:fuzzer) echo clang ;;
  dnf:cc) echo gcc ;; dnf:mpi) echo mpich mpich-devel ;; dnf:zlib) echo zlib-devel ;; dnf:cxx) echo gcc-c++ ;;
  dnf:ip) echo iproute ;; dnf:ps) echo procps-ng ;; dnf:unshare) echo util-linux ;; dnf:format) echo clang-tools-extra ;;
  dnf:fortran) echo gcc-gfortran mpich-devel ;; dnf:mysql) echo mariadb-connector-c-devel ;; dnf:mariadb) echo mariadb-server ;;
  zypper:cc) echo gcc ;; zypper:mpi) echo mpich mpich-devel ;; zypper:zlib) echo zlib-devel ;; zypper:cxx) echo gcc-c++ ;;
  zypper:ip) echo iproute2 ;; zypper:ps) echo procps ;; zypper:unshare) echo util-linux ;; zypper:format) echo clang-tools ;;
  zypper:fortran) echo gcc-fortran mpich-devel ;; zypper:mysql) echo libmariadb-devel ;; zypper:mariadb) echo mariadb ;;
  pacman:cc) echo gcc ;; pacman:mpi) echo openmpi ;; pacman:zlib) echo zlib ;; pacman:cxx) echo gcc ;;
  pacman:ip) echo iproute2 ;; pacman:ps) echo procps-ng ;; pacman:unshare) echo util-linux ;; pacman:format) echo clang ;;
  pacman:fortran) echo gcc-fortran ;; pacman:mysql) echo mariadb-libs ;; pacman:mariadb) echo mariadb ;;
  apk:cc) echo gcc musl-dev ;; apk:mpi) echo mpich mpich-dev ;; apk:zlib) echo zlib-dev ;; apk:cxx) echo g++ ;;
  apk:ip) echo iproute2 ;; apk:ps) echo procps ;; apk:unshare) echo util-linux ;; apk:format) echo clang-extra-tools ;;
  apk:fortran) echo gfortran ;; apk:mysql) echo mariadb-connector-c-dev ;; apk:mariadb) echo mariadb mariadb-client ;;
  brew:cc) echo gcc ;; brew:mpi) echo mpich ;; brew:zlib) echo zlib ;; brew:cxx) echo gcc ;; brew:fortran) echo gcc ;; brew:format) echo clang-format ;;
  brew:mysql) echo mariadb-connector-c ;; brew:mariadb) echo mariadb ;;
  *:mpi) echo "an MPI with mpicc and mpiexec (MPICH)" ;; *:zlib) echo "the zlib headers" ;; *:cc) echo "a C compiler" ;;
  *) echo "$1" ;;
  esac
}

# Program $1 of an MPI, in PATH or where some systems keep MPICH (the Makefile looks there too).
have_mpi() { have "$1.mpich" || have "$1" || [ -n "$(ls /usr/lib*/mpich/bin/"$1" /usr/lib*/mpi/gcc/mpich/bin/"$1" 2>/dev/null)" ]; }
have_fuzzer() { echo 'int LLVMFuzzerTestOneInput(void); int LLVMFuzzerTestOneInput(void) { return 0; }' |
  clang -x c -fsanitize=fuzzer,address - -o /dev/null 2>/dev/null; }
have_hdf5() { sh "$(dirname "$0")/find_hdf5.sh" >/dev/null 2>&1; }
have_mpi4py() { /usr/bin/python3 -c 'import numpy, Cython, setuptools, mpi4py, sysconfig
open(sysconfig.get_path("include") + "/Python.h")' 2>/dev/null; }
have_zlib() { echo '#include <zlib.h>' | "${CC:-cc}" -E - >/dev/null 2>&1; }

have "${CC:-cc}" || need cc
case ${MPICC:-} in
*.openmpi) have "$MPICC" || need openmpi ;; # as Debian names them
"") have_mpi mpicc && have_mpi mpiexec || need mpi ;;
*) have "$MPICC" || need mpi ;;
esac
have "${CC:-cc}" && have_zlib || need zlib
case $goals in *" check"* | *" lint "* | *" sanitize "*) have bash || need bash ;; esac
case $goals in
*" check "* | *" check-full "* | *" check-long "* | *" lint "* | *" sanitize "*)
  have pkill || [ "$(uname)" != Linux ] || need ps
  have python3 || need python3
  [ "$manager" != apt-get ] || [ -e /usr/share/i18n/locales/tr_TR ] || need locales
  ;;
esac
case $goals in
*" check-full "* | *" check-long "* | *" lint "* | *" sanitize "*)
  have g++ || need cxx
  have gfortran && have_mpi mpifort || need fortran
  have clang && have_fuzzer || need fuzzer
  have mariadb_config || need mysql
  if [ "$(uname)" = Linux ]; then # what the tests over several nodes use
    have ip || need ip
    have unshare || need unshare
    have gdb || need gdb
    case $manager in apt-get | dnf) PATH=$PATH:/usr/sbin:/sbin have slurmctld || need slurm ;; esac
  fi
  ;;
esac
case $goals in
*" check-full "* | *" check-long "*)
  PATH=$PATH:/usr/sbin:/usr/libexec have mariadbd && have mariadb-install-db || need mariadb
  have cmake || need cmake
  have pkg-config || need pkg-config
  python3 -c 'import numpy' 2>/dev/null || /usr/bin/python3 -c 'import numpy' 2>/dev/null || need numpy
  [ "$manager" != apt-get ] || { have dpkg-buildpackage && have dh && have lintian; } || need package
  ;;
esac
case $manager:$goals in
apt-get:*" check-full "* | apt-get:*" check-long "*)
  [ "$(uname -m)" != x86_64 ] || { echo '#include <stdio.h>' | i686-linux-gnu-gcc -E - >/dev/null 2>&1 && have dpkg-source; } || need i386
  have mpicc.openmpi || need openmpi # another MPI library beside, which Debian allows
  for c in mkfs.xfs mkfs.btrfs mkntfs; do PATH=$PATH:/usr/sbin:/sbin have $c || need mkfs; done
  ;;
esac
case $manager:$goals in
apt-get:*" check-cross "* | apt-get:*" check-long "*)
  for c in i686-linux-gnu arm-linux-gnueabihf aarch64-linux-gnu powerpc64le-linux-gnu s390x-linux-gnu; do
    echo '#include <stdio.h>' | "$c-gcc" -E - >/dev/null 2>&1 || { need cross; break; }
  done
  have qemu-s390x && have qemu-arm || need qemu
  have musl-gcc && have dpkg-source || need musl-gcc
  ;;
apt-get:*" static-tools "*) have musl-gcc && have dpkg-source || need musl-gcc ;;
esac
case $manager:$goals in
apt-get:*" check-long "*)
  have_mpi4py || need mpi4py
  echo 'int main(void) { return 0; }' | "${CC:-cc}" -x c - -lblas -o /dev/null 2>/dev/null || need blas
  ;;
esac
case $goals in *" hdf5 "* | *" check-full "* | *" check-long "*) have_hdf5 || need hdf5 ;; esac
case $goals in *" fortran "*) have gfortran && have_mpi mpifort || need fortran ;; esac
case $goals in
*" lint "*)
  have clang-format || need format
  [ "$manager" != apt-get ] || have tcc || need tcc
  have cppcheck || need cppcheck
  have mandoc || need mandoc
  ;;
esac
[ -n "$missing" ] || exit 0

packages=""
for m in $missing; do packages="$packages $(packages_of "$m")"; done
packages=${packages# }
case $manager in
apt-get) command="apt-get install -y -q --no-install-recommends" ;;
dnf) command="dnf install -y -q" ;;
zypper) command="zypper --non-interactive install" ;;
pacman) command="pacman -Sy --noconfirm --needed" ;;
apk) command="apk add" ;;
brew) command="brew install" ;;
none) command="" ;;
esac
root=""
may=yes
if [ "$manager" = none ]; then may=no
elif [ "$(id -u)" != 0 ] && [ "$manager" != brew ]; then
  root="sudo "
  { have sudo && sudo -n true 2>/dev/null; } || may=no
fi
install() {
  echo "setup: installing $packages"
  if [ "$manager" = apt-get ]; then
    ${root:+sudo -n} apt-get update -q >/dev/null || return
    for p in $packages; do # not every processor has all the cross compilers; tests/cross/cross.sh names those that it lacks
      case $p in *-linux-gnu* | *-cross) apt-cache show "$p" >/dev/null 2>&1 || { echo "setup: there is no $p"; packages=$(echo "$packages " | sed "s/$p //"); } ;; esac
    done
  fi
  # shellcheck disable=SC2086
  ${root:+sudo -n} env DEBIAN_FRONTEND=noninteractive $command $packages >/dev/null
}
[ $may = yes ] && install || {
  echo "setup: please install these packages, and start again: $packages" >&2
  [ -z "$command" ] || echo "    $root$command $packages" >&2
  exit 1
}
