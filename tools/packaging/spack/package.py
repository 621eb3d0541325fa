"""The recipe for Spack.

A repository of recipes is a directory with repo.yaml (`repo: {namespace: local}`) and packages/scr/package.py, which is
this file.  Then, in the library's source tree:

    spack repo add REPOSITORY && spack dev-build local.scr@4.0.0

Where a release is kept as a tarball, `url` and a checksum in `version` let `spack install local.scr` fetch it.
"""
from spack.package import *

try:
    from spack_repo.builtin.build_systems.makefile import MakefilePackage  # Spack 1.0 and newer
except ImportError:
    pass  # spack.package has it


class Scr(MakefilePackage):
    """Checkpoints and restarts of MPI programs: Scalable Checkpoint / Restart as two source files, a static
    library, and commands."""

    license("MIT")

    version("4.0.0")

    depends_on("c", type="build")
    depends_on("mpi@3:", type=("build", "link", "run"))
    depends_on("zlib-api", type=("build", "link"))

    @property
    def build_targets(self):
        return ["V=1", "MPICC=" + self.spec["mpi"].mpicc, "all"]

    @property
    def install_targets(self):
        return ["MPICC=" + self.spec["mpi"].mpicc, "PREFIX=" + str(self.prefix), "install"]
