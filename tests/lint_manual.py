#!/usr/bin/env python3
"""lint_manual.py RULE - one rule of README.md and of the manual, tools/manual/*.md; a line for each fault.

  marks     README.md has at most 250 lines; a chapter begins with its name, is in the Makefile, and is marked as
            tools/manual.h says
  entries   each message in tools/manual/errors.md is one of the code, or an error of the system in one of these
  entered   (a note) errors and warnings of scr_impl.c without an entry
  macros    the tables of what the compiler may be told, in part 00 and in the chapter build, have what the code asks for
  names     each parameter, call, command, option, path, target of make and chapter that is named is there
"""
import glob
import os
import re
import sys

CHAPTERS = sorted(glob.glob("tools/manual/*.md"))


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def documents():
    for path in ["README.md"] + CHAPTERS:
        for number, line in enumerate(read(path).split("\n"), 1):
            yield path, number, line


def rule_marks():
    if read("README.md").count("\n") > 250:
        yield "README.md has more than 250 lines"
    listed = re.search(r"^MANUAL .*?((?:.*\\\n)*.*)$", read("Makefile"), re.M).group(1).replace("\\\n", " ").split()
    names = [os.path.basename(c)[:-3] for c in CHAPTERS]
    for name in names:
        if not any(name in re.split(r"[,)]", w) for w in listed):
            yield "Makefile: MANUAL lacks %s" % name
        if not re.match("# %s: ." % name, read("tools/manual/%s.md" % name)):
            yield "tools/manual/%s.md does not begin with `# %s: `" % (name, name)
    tables = set(re.findall(r'strcmp\(name, "(\w+)"\) == 0\) \{', read("tools/scr.c")))
    cells, before = 0, ""
    for path, number, line in documents():
        where, code = "%s:%d: " % (path, number), line.startswith("    ")
        if path != "README.md" and not line.isascii():
            yield where + "a character that is not ASCII"
        if "\t" in line:
            yield where + "a tabulator"
        if line.startswith("@") and line[1:] not in tables:
            yield where + "no table of this name"
        if line.startswith("|"):
            n = len(re.split(r"(?<!\\)\|", line))
            if before.startswith("|") and n != cells:
                yield where + "%d cells in a table of %d" % (n - 2, cells - 2)
            if line.count("`") % 2:
                yield where + "an odd number of backquotes"
            cells = n
        elif not code and len(line) > 160:
            yield where + "longer than 160 columns"
        before = line
    for path in ["README.md"] + CHAPTERS:
        text = re.sub(r"^    .*$", "", read(path), flags=re.M)
        for block in re.split(r"\n\n|\n(?=- |\d\. |\|)", text):
            if block.count("`") % 2:
                yield "%s: an odd number of backquotes near %r" % (path, block[:60])


def rule_names():
    commands = "".join(read(p) for p in sorted(glob.glob("tools/*.[ch]")))
    source = read("scr_impl.c") + read("scr.h") + commands
    outside = "".join(read(p) for p in glob.glob("examples/*.c") + glob.glob("examples/fortran/*"))
    words = set(re.findall(r"\w+", source + outside))
    known = set(re.findall(r"^  X\((\w+), \"", read("tools/scr.c"), re.M))
    targets = set(re.findall(r"^([\w-]+):", read("Makefile"), re.M))
    chapters = {os.path.basename(c)[:-3] for c in CHAPTERS} | {"params", "scr.h"}
    for path, number, line in documents():
        where = "%s:%d: " % (path, number)
        for w in re.findall(r"(?<![\w<>$./*-])(?:SCR|scr)_\w+", line):
            w = w.rstrip("_") if w.endswith("__") else w
            if w not in words and w[4:] not in known and not any(k.startswith(w) for k in words if w.endswith("_")):
                yield where + "there is no %s" % w
        for w in re.findall(r"(?<![\w/.<>-])(?:tests|tools|examples|\.ci)/[\w./-]*\w", line):
            if not os.path.exists(w) and "NAME" not in w and w != "tools/scr":
                yield where + "there is no file %s" % w
        for w in re.findall(r"(?:^    |`|^    .*; )make ((?:[a-z-]+ ?)+)", line):
            for t in w.split("  ")[0].split():
                if t not in targets:
                    yield where + "there is no target %s" % t
        for w in re.findall(r"`scr help ([\w.]+)", line):
            if w not in chapters and w not in known and w not in words:
                yield where + "scr help has no %s" % w
        for w in re.findall(r"\bscr[_ ](\w+)((?: [^`|;#]*)?)", re.sub(r"'[^']*'", "", line)):
            if w[0] in known - {"run", "srun", "mpirun"}:  # these have those of a launcher and a program behind their own
                for option in re.findall(r" (--[a-z][a-z-]+)", w[1]):
                    if option not in commands:
                        yield where + "scr_%s has no %s" % (w[0], option)


def literals(text):
    """The strings of TEXT, adjacent ones as one, with `...` for what varies."""
    for m in re.finditer(r'(?:"(?:\\.|[^"\\\n])*"(?:\s|PRI\w+)*)+', text):
        whole = "".join(w if w else "%d" for w in re.findall(r'"((?:\\.|[^"\\\n])*)"|PRI\w+', m.group()))
        whole = re.sub(r"%%?(?:PRI\w+|[-+ #0]*[\d*]*(?:\.[\d*]+)?(?:hh|h|ll|l|z|j|t)?[a-zA-Z])?", "...", whole)
        yield whole.replace('\\"', '"').replace("\\n", "\n")


def calls(text):
    """The formats of errors and warnings in TEXT, with 1 if an error of the system may follow."""
    for m in re.finditer(r"\b(SCR_ERR|SCR_ERRNO|scr_warn|scr_warn_each)\(", text):
        end, depth = m.end(), 1
        while depth and end < len(text):
            string = re.match(r'"(?:\\.|[^"\\\n])*"', text[end:])
            if string:
                end += string.end()
                continue
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        for whole in literals(text[m.end() : end]):
            if re.search(r"[a-z]{3}", whole):
                yield whole, m.group(1) == "SCR_ERRNO"
                break


def entries():
    for number, line in enumerate(read("tools/manual/errors.md").split("\n"), 1):
        if line.startswith("### "):
            pieces = [re.escape(p.strip()) for p in line[4:].split("...")]
            yield number, line[4:], re.compile(".*?".join(pieces), re.S)


def rule_entries():
    code = read("scr_impl.c") + "".join(read(p) for p in sorted(glob.glob("tools/*.[ch]")) if "/explain" not in p)
    texts = list(literals(code))
    system = [": " + os.strerror(i) for i in range(1, 134)]
    seen = {}
    for number, title, pattern in entries():
        if len(re.sub(r"[^a-zA-Z]", "", title)) < 10:
            yield "%d: too short: %s" % (number, title)
        if title in seen:
            yield "%d: the same entry as in line %d: %s" % (number, seen[title], title)
        seen[title] = number
        if not any(pattern.search(t) for t in texts) and not any(pattern.fullmatch(t) for t in system):
            yield "%d: no message of the code is: %s" % (number, title)


def rule_entered():
    patterns = [p for _, _, p in entries()]
    formats = sorted(set(calls(read("scr_impl.c"))))
    missing = [t for t, _ in formats if not any(p.search(t) for p in patterns)]
    print("%d of %d formats have an entry" % (len(formats) - len(missing), len(formats)))
    yield from missing


def rule_macros():
    source = read("scr_impl.c")
    code = re.sub(r"/\*.*?\*/", "", source + read("scr.h"), flags=re.S)
    own = {}  # the macros that may be set before: those of `#ifndef NAME`, `#define NAME VALUE`, and what follows these
    for m in re.finditer(r"^#if(?:ndef| !defined\() ?(\w+).*\n((?:#define \w+.*\n)+)#endif", code, re.M):
        defined = re.findall(r"^#define (\w+)(?:\(\w+\))? +(.*?) *$", m.group(2), re.M)
        if defined and defined[0][0] == m.group(1):
            own.update((name, value) for name, value in defined if name.startswith("SCR_") and name not in own)
    made = set(re.findall(r"^ *# *define (\w+)", code, re.M)) - set(own)
    tested = set(re.findall(r"\bSCR_\w+", " ".join(re.findall(r"^ *# *(?:if|elif).*(?:\\\n.*)*", code, re.M))))
    wanted = {name: own.get(name, "-") for name in (tested | set(own)) - made}
    manual = re.findall(r"^\| `(SCR_\w+)` \| `?(.*?)`? \|", read("tools/manual/build.md"), re.M)
    for where, rows in ("part 00", re.findall(r"^\*\*   (SCR_\w+) +(\S+)  ", source, re.M)), ("the manual", manual):
        table = dict(rows)
        yield from ("%s: no row of %s, which can be set" % (where, n) for n in sorted(set(wanted) - set(table)))
        yield from ("%s: %s, which the code does not ask for" % (where, n) for n in sorted(set(table) - set(wanted)))
        for name in sorted(set(table) & set(wanted)):
            if "(" in wanted[name]:  # a word of English stands for it
                wanted[name] = table[name]
            if table[name] != wanted[name]:
                yield "%s: the default of %s is %s, not %s" % (where, name, wanted[name], table[name])
        if [n for n, _ in rows] != sorted(table):
            yield where + ": not in the order of the alphabet, or a row twice"


RULES = {k[5:]: v for k, v in list(globals().items()) if k.startswith("rule_")}

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
if len(sys.argv) != 2 or sys.argv[1] not in RULES:
    sys.exit(__doc__)
for fault in RULES[sys.argv[1]]():
    print(fault)
