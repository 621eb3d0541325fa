# shellcheck shell=bash disable=SC2034,SC2154
# common.sh - for the scripts beside it, which have set top: the tools, a prefix $p, and the object, or skipped.
BIN=$(cd "${BIN:-$top/tools}" && pwd)
. "$top/tests/find_mpi.sh"
unset "${!SCR_@}" "${!SLURM_@}" AT AT_RANK DIES WORD
. "$top/tests/tools/check.sh"
case $(uname -sm) in "Linux x86_64") ;; *) skip "process images need Linux on x86-64" ;; esac
printf '#include <mpi.h>\n#ifndef MPICH_VERSION\n#error\n#endif\n' | $MPICC -E -x c - >/dev/null 2>&1 || skip "process images need MPICH"

p=$tmp/prefix
export SCR_JOB_ID=image SCR_PREFIX=$p SCR_CACHE_BASE=$tmp/node SCR_CNTL_BASE=$tmp/node SCR_VIRTUAL_NODES=9 SCR_FLUSH=0
export SCR_LOG_SYSLOG_ENABLE=0 SCR_DEBUG=1 SCR_SIGNALS=USR1:checkpoint PATH=$BIN:$PATH
check "the object is built" 0 - flock "$top/tools/image" make -s -C "$top" CC="${CC:-cc}" MPICC="$MPICC" scr_image.o
fresh() { rm -rf "$p" "$tmp/node" && mkdir "$p" "$tmp/node" && cd "$p" || exit 1; }
