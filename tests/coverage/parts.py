#!/usr/bin/env python3
"""parts.py FILE.json... - lines and branches of each part of scr_impl.c that were reached, from what gcov prints as JSON.

A line, and a direction of a branch, is reached if one of the files says so.  Lines with no code have no counts.
"""
import json
import re
import sys


def counts(path, lines, branches):
    """Add what the file PATH has: counts of lines, and of the directions of the branches of each line."""
    for document in open(path):
        for f in json.loads(document)["files"]:
            if not f["file"].endswith("scr_impl.c"):
                continue
            for line in f["lines"]:
                n = line["line_number"]
                lines[n] = lines.get(n, 0) + line["count"]
                for i, branch in enumerate(line["branches"]):
                    key = (n, line.get("function_name"), i)
                    branches[key] = branches.get(key, 0) + branch["count"]


def row(title, lines, branches):
    cells = []
    for found in lines, branches:
        n, reached = len(found), sum(1 for c in found if c > 0)
        cells.append("%6d %6s" % (n, "%.1f%%" % (100.0 * reached / n) if n else "-"))
    print("%-46s %s   %s" % (title, *cells))


def main():
    lines, branches, parts = {}, {}, []
    for path in sys.argv[1:]:
        counts(path, lines, branches)
    for number, text in enumerate(open("scr_impl.c"), 1):
        m = re.match(r"/\* ==== (\d\d [^=\n]*?) =+$", text)
        if m:
            parts.append((number, m.group(1)))
    if not lines:
        sys.exit("parts.py: no counts of scr_impl.c")
    print("%-46s %6s %6s   %6s %6s" % ("part", "lines", "", "branches", ""))
    for (begin, title), (end, _) in zip(parts, parts[1:] + [(float("inf"), "")]):
        inside = [c for n, c in lines.items() if begin <= n < end]
        if inside:
            row(title, inside, [c for key, c in branches.items() if begin <= key[0] < end])
    row("all", lines.values(), branches.values())


if len(sys.argv) < 2:
    sys.exit(__doc__)
main()
