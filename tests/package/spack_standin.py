"""python3 -m spack.package TREE PREFIX MPICC VERSION - run the phases of the recipe that RECIPE names, in TREE.

This stands for the module spack.package: it has the names that the recipe imports, and does with them what Spack would do
in the phases of a package with a Makefile.  It does not look for dependencies, and neither fetches nor patches anything.
"""
import importlib.util
import os
import subprocess
import sys

declared = {}


def declare(kind):
    def directive(*args, **options):
        declared.setdefault(kind, []).append((args, options))

    return directive


license, version, depends_on = declare("license"), declare("version"), declare("depends_on")


class MakefilePackage:
    build_targets, install_targets = [], ["install"]

    def __init__(self, spec, prefix):
        self.spec, self.prefix = spec, prefix


class Mpi:
    def __init__(self, mpicc):
        self.mpicc = mpicc


def main(tree, prefix, mpicc, release):
    sys.modules["spack.package"] = sys.modules["__main__"]
    loader = importlib.util.spec_from_file_location("recipe", os.environ["RECIPE"])
    recipe = importlib.util.module_from_spec(loader)
    loader.loader.exec_module(recipe)
    package = recipe.Scr({"mpi": Mpi(mpicc)}, prefix)
    assert declared["version"] == [((release,), {})], declared["version"]
    names = [args[0].split("@")[0] for args, _ in declared["depends_on"]]
    assert names == ["c", "mpi", "zlib-api"], names
    for targets in package.build_targets, package.install_targets:
        subprocess.run(["make"] + targets, cwd=tree, check=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
