#!/usr/bin/env python3
"""lint_manual.py RULE - one rule of README.md and of the manual, tools/manual/*.md; a line for each fault.

  marks     README.md has at most 250 lines; a chapter begins with its name, is in the Makefile, and is marked as
            tools/manual.h says
  entries   each message in tools/manual/errors.md is one of the code, or an error of the system in one of these
  entered   each error and warning of the library and the commands, and what ends a program with process images, has an
            entry there; a usage error of a command needs none, as the usage follows it
  twice     a row of a table that README and a chapter have is the same in both
  macros    the tables of what the compiler may be told, in part 00 and in the chapter build, have what the code asks for
  names     each parameter, call, command, option, path, target of make and chapter that is named is there
"""
import functools
import glob
import os
import re
import sys

# Names of other releases, of which the chapter migration tells.
OTHERS = set("""scr_fluxrun scr_halt_cntl scr_jsrun scr_lrun scr_param scr_poststage scr_print scr_rebuild_partner scr_rebuild_rs
scr_srun_loop SCR_AXL_MKDIR SCR_DB_ENABLE SCR_FLUSH_ASYNC_USLEEP SCR_NODE_TESTS SCR_TRANSFER_SECS""".split())
CHAPTERS = sorted(glob.glob("tools/manual/*.md"))
SOURCES = ["scr_impl.c"] + sorted(glob.glob("tools/*.[ch]") + glob.glob("tools/image/*.[ch]"))


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
    source = read("scr_impl.c") + read("scr.h") + commands + "".join(read(p) for p in glob.glob("tools/image/*.[ch]"))
    outside = "".join(read(p) for p in glob.glob("examples/*.c") + glob.glob("examples/fortran/*.[fh]*") + glob.glob("examples/cxx/*.[ch]*"))
    outside += "".join(read(p) for p in glob.glob("examples/python/*.[cp]*"))
    words = set(re.findall(r"\w+", source + outside))
    known = set(re.findall(r"^  X\((\w+), \"", read("tools/scr.c"), re.M))
    targets = set(re.findall(r"^([\w-]+):", read("Makefile"), re.M))
    chapters = {os.path.basename(c)[:-3] for c in CHAPTERS} | {"params", "scr.h"}
    for path, number, line in documents():
        where = "%s:%d: " % (path, number)
        for w in re.findall(r"(?<![\w<>$./*-])(?:SCR|scr)_\w+", line):
            w = w.rstrip("_") if w.endswith("__") else w
            if w in OTHERS and path.endswith("/migration.md"):
                continue
            if w not in words and w[4:] not in known and not any(k.startswith(w) for k in words if w.endswith("_")):
                yield where + "there is no %s" % w
        for w in re.findall(r"(?<![\w/.<>-])(?:tests|tools|examples|\.ci)/[\w./-]*\w", line):
            if not os.path.exists(w) and "NAME" not in w and w != "tools/scr":
                yield where + "there is no file %s" % w
        for w in re.findall(r"(?:^    |`|^    .*; )make ((?:[a-z-]+5? ?)+)", line):
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
        yield whole.replace('\\"', '"').replace("\\n", "\n").replace("\\\\", "\\")


# Where the format of a message stands among the arguments of a call.
MESSAGES = {"SCR_ERR": 1, "SCR_ERRNO": 0, "SCR_PARAMS_BAD": 1, "scr_warn": 0, "scr_warn_each": 0, "scr_tried_add": 0}
MESSAGES["tool_fail"] = 2
MESSAGES["img_die"] = 0


def arguments(text, at):
    """The arguments of the call whose parenthesis opens before AT."""
    depth, begin, found = 1, at, []
    for m in re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\])+\'|[(),]').finditer(text, at):
        depth += {"(": 1, ")": -1}.get(m.group(), 0)
        if depth == 0 or (depth == 1 and m.group() == ","):
            found.append(text[begin : m.start()])
            begin = m.end()
        if depth == 0:
            return found
    return found


def messages(text):
    """The formats of the errors and warnings that TEXT prints; of several in one call, each.  Those of less than eight
    letters have the message of another call in them."""
    made = [(m, MESSAGES[m.group(1)]) for m in re.finditer(r"\b(%s)\(" % "|".join(MESSAGES), text)]
    for body in re.finditer(r"^\{\n.*?^\}$", text, re.M | re.S):  # tool_fail(argv0, 1, text), which is made before
        if re.search(r"tool_fail\([^;]*\btext\)", body.group()):
            made += [(m, 2) for m in re.compile(r"\b(snprintf)\((?=text,)").finditer(text, body.start(), body.end())]
    for m, at in made:
        found = arguments(text, m.end())
        formats = list(literals(found[at])) if at < len(found) else []
        if all(letters(f) < 4 for f in formats):  # "%s: %s"
            formats = [f for a in found[at + 1 :] for f in literals(a)]
        yield from (f for f in formats if letters(f) >= 8)


@functools.lru_cache(None)
def letters(text):
    """How many letters and digits TEXT has itself, and not in what varies."""
    return len(re.findall("[A-Za-z0-9]", text.replace("...", "")))


@functools.lru_cache(None)
def pieces(text):
    """What stands between the `...` of TEXT."""
    return [p.strip() for p in text.split("...")]


@functools.lru_cache(None)
def pattern_of(text):
    """TEXT with `...` for anything, as a pattern."""
    return re.compile(".*?".join(re.escape(p) for p in pieces(text)), re.S)


def has_pieces(text, of):
    """Are the pieces of OF in TEXT, one after the other?  As the search for its pattern, and faster."""
    at = 0
    for piece in pieces(of):
        at = text.find(piece, at) + len(piece)
        if at < len(piece):
            return False
    return True


def entries():
    for number, line in enumerate(read("tools/manual/errors.md").split("\n"), 1):
        if line.startswith("### "):
            yield number, line[4:]


def is_entry_of(title, text):
    """Does the entry TITLE have the message with the format TEXT, or one of those that it can become?"""
    return has_pieces(text, title) or (letters(text) >= 8 and has_pieces(title, text) and pattern_of(text).fullmatch(title))


def rule_entries():
    texts = {t for p in SOURCES for t in literals(read(p))}
    system = [": " + os.strerror(i) for i in range(1, 134)]
    seen = {}
    for number, title in entries():
        if letters(title) < 8:
            yield "%d: too short: %s" % (number, title)
        if title in seen:
            yield "%d: the same entry as in line %d: %s" % (number, seen[title], title)
        seen[title] = number
        if not any(is_entry_of(title, t) for t in texts) and not any(pattern_of(title).fullmatch(t) for t in system):
            yield "%d: no message of the code is: %s" % (number, title)


def rule_entered():
    titles = [title for _, title in entries()]
    for path in SOURCES:
        for text in sorted(set(messages(read(path)))):
            if not any(is_entry_of(t, text) for t in titles):
                yield "%s: no entry explains: %s" % (path, text)


def rule_twice():
    rows = {}  # of the chapters, by the first cell
    for path, number, line in documents():
        cells = re.split(r"(?<!\\)\|", line)
        if not line.startswith("|") or line.startswith("|-") or len(cells) < 5:
            continue
        if path == "README.md":
            rows.setdefault(cells[1], []).append((number, line))
            continue
        for at, row in rows.get(cells[1], []):
            if len(re.split(r"(?<!\\)\|", row)) == len(cells) and row != line:
                yield "README.md:%d: another row than %s:%d" % (at, path, number)


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
