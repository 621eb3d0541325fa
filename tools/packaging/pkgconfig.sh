#!/bin/sh
# pkgconfig.sh PREFIX LIBDIR LIBS - print scr.pc for a library in LIBDIR with its header below PREFIX.
# Names without `/` at their beginning are below the working directory, as for `install`.
set -u
absolute() { case $1 in /*) printf '%s' "$1" ;; *) printf '%s' "$PWD/$1" ;; esac; }
prefix=$(absolute "$1")
libdir=$(absolute "$2")
case $libdir in "$prefix"/*) libdir="\${prefix}${libdir#"$prefix"}" ;; esac
version=$(sed -n 's/^#define SCR_VERSION  *"v\([0-9.]*\)".*/\1/p' "$(dirname "$0")/../../scr.h")
cat <<END
prefix=$prefix
libdir=$libdir
includedir=\${prefix}/include

Name: SCR
Description: checkpoints and restarts of MPI programs
Version: $version
# MPI is not here: its compiler, such as mpicc, adds it.  The library is static, so all of LIBS is needed always.
Cflags: -I"\${includedir}"
Libs: -L"\${libdir}" -lscr $3
END
