#!/usr/bin/env python3
"""stack.py FILE.ci - the deepest stack of a public call, from what gcc -fcallgraph-info=su writes.

Prints three lines, each a number of bytes and what has them: the deepest chain of direct calls that begins in a public
call; the deepest one that begins in a function which only pointers lead to, as a table of functions or a callback has
them: where a call goes on through a pointer, the first chain does not see it; and the largest frame.  A function that
calls itself counts once.  What MPI, zlib and the C library use is not in the file.
"""
import re
import sys


def read(path):
    """The frames of all functions, and whom each calls."""
    frames, calls, name = {}, {}, lambda title: title.split(":")[-1]
    for line in open(path):
        m = re.match(r'node: \{ title: "([^"]*)" label: ".*\\n(\d+) bytes', line)
        if m:
            frames[name(m.group(1))] = int(m.group(2))
        m = re.match(r'edge: \{ sourcename: "([^"]*)" targetname: "([^"]*)"', line)
        if m:
            calls.setdefault(name(m.group(1)), set()).add(name(m.group(2)))
    return frames, calls


def deepest(frames, calls, start, known, way):
    """The bytes of the deepest chain that begins in START, and the functions of it; WAY is what leads here."""
    if start in known:
        return known[start]
    best, cut = (0, []), False
    for callee in sorted(calls.get(start, ())):
        if callee in way or callee == start:
            cut = True
        elif callee in frames:
            best = max(best, deepest(frames, calls, callee, known, way | {start}))
    found = (frames[start] + best[0], [start] + best[1])
    if not cut:
        known[start] = found  # a chain that was cut at a function of WAY may be deeper on another way
    return found


def plain(name):
    """NAME as the source has it: the optimiser makes several functions of one."""
    return name.split(".")[0]


def main():
    frames, calls = read(sys.argv[1])
    called = set().union(*calls.values())
    known = {}
    chains = {f: deepest(frames, calls, f, known, frozenset()) for f in sorted(frames)}
    public = [chains[f] for f in frames if f.startswith("SCR_")]
    pointed = [chains[f] for f in frames if not f.startswith("SCR_") and f not in called]
    for size, chain in (max(public), max(pointed)):
        print(size, plain(chain[0]), " > ".join(map(plain, chain[1:])))
    largest = max(frames, key=frames.get)
    print(frames[largest], plain(largest))


if len(sys.argv) != 2:
    sys.exit(__doc__)
main()
