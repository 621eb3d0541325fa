#!/usr/bin/env python3
"""lint_parts.py RULE - one rule of the parts of scr_impl.c; a line for each fault, none when the rule holds.
lint_parts.py --self-test - plant a fault of each kind in a copy of the file, and see that its rule finds it.

  map       the map in part 00 equals the banners
  offers    what a banner offers is what other parts or the commands use, no more and no less.  Every name stands there in
            full, or as a group such as `scr_os.*`.  Types and macros may stand there too; then they must exist.
  banners   a banner names the parts that the part uses, no more and no less
  reached   each function is reached from the API or from a command, maybe through a table or a macro
  labels    the labels of invariants are unique, and what a comment refers to exists
  records   the keys of records are named in the parts that read and write them, and nowhere else
  linkage   in column 0, SCR_FN or SCR_API begins each function (but those of macros), and `static` each variable
  threads   no function that keeps its answer in one place for all threads, as the helper thread copies while others ask
  size      no part is longer than 1,200 lines
  states    the state of a dataset is set by the part that has its table, and by those that find it at a start
  slots     a slot of a vote has a name, in the function that uses it or in the part that owns it
  documents no comment and no message refers to a document that is not in the repository
  long      (a note, not a fault) functions above 60 lines whose comment does not say why: "Long, because ..."
  uses      (a note) parts that use the functions, types or variables of more than 16 others; the public API may
  commands  (a note) functions that only commands reach, but that every application compiles
"""
import bisect
import fnmatch
import glob
import os
import re
import sys

# The parts that read and write records, and the keys by which they do.
RECORD_PARTS = ["08"] + ["%02d" % i for i in range(12, 24)]  # DATASET; ERASURE CODE to TRANSFER FILE
RECORD_KEYS = set(
    "CHUNK CRC CREATED CURRENT CURRENT_BY DATADESC DIR DSET DSETDESC FAILED FETCHED FILES FLAG_CKPT"
    " FLAG_OUTPUT FLUSHED GROUP_ID GROUP_RANK GROUP_SIZE ID JOBID JOBNAME LEVEL LOCATION META MODE MTIME NOFETCH NONCE"
    " ORIG ORIGNAME ORIGPATH PASSED RANK RANK2FILE RANKS REDDESC REDO SERVED SIZE SUMMARY TAKEN TMP".split()
)
STATE_PARTS = ("30", "35", "43")  # THE RUNTIME STATE; RECOVERY; START OF A RUN
LONG = 60
PART = 1200
USES = 16

WORD = re.compile(r"[A-Za-z_]\w*")


class Code:
    """The text of a file: code has blanks in place of comments and of what is in strings; those are lists beside it."""

    def __init__(self, text):
        self.text, self.comments, self.strings = text, [], []
        out, at = [], 0
        for m in re.finditer(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", text, re.S):
            out.append(text[at : m.start()])
            kind = self.comments if m.group()[0] == "/" else self.strings
            kind.append((m.start(), m.group()))
            blank = re.sub(r"[^\n]", " ", m.group())
            out.append(blank if kind is self.comments else m.group()[0] + blank[1:-1] + m.group()[-1])
            at = m.end()
        self.code = "".join(out) + text[at:]
        self.starts = [0] + [m.end() for m in re.finditer("\n", text)]

    def line(self, offset):
        return bisect.bisect_right(self.starts, offset)


class Item:
    """What is defined at file scope: a function, variable, macro or type."""

    def __init__(self, kind, name, start, code, part):
        self.kind, self.name, self.start, self.code, self.part = kind, name, start, code, part
        self.words = set(WORD.findall(code)) - {name}


class Part:
    def __init__(self, number, title, start, end, banner):
        self.number, self.title, self.start, self.end, self.banner = number, title, start, end, banner
        fields = re.split(r"^\*\* (Uses|Offers|Invariants|Failure)\b", banner, flags=re.M)
        self.fields = dict(zip(fields[1::2], fields[2::2]))
        offers = re.sub(r"^\*\*", "", self.fields.get("Offers", ""), flags=re.M)
        names = re.findall(r"(?<![\w.])(?:_|scr|SCR)\w*(?:\.?\*)?", offers)
        self.offers = [re.sub(r"\.\*$", "", n) for n in names]

    def name(self):
        return self.number + " " + self.title

    def short(self):
        """How banners call it: `PREFIX: INDEX` is index, `A RUN: MESSAGES...` run, `MEMORY, BUFFERS, STRINGS` memory."""
        name = re.split(r"[:,]| AND | OF A RUN", re.sub(r"^PREFIX: ", "", self.title))[0]
        return re.sub(r"^(the|a) ", "", name.lower()).replace("mpi", "MPI").replace(" api", " API")


class Source(Code):
    """scr_impl.c, taken apart."""

    def __init__(self, text, commands):
        super().__init__(text)
        self.commands = commands  # the code of tools/
        self.parts = self.find_parts()
        self.items = self.find_items()
        self.functions = [i for i in self.items if i.kind == "function"]
        self.by_name = {}
        for i in self.items:
            self.by_name.setdefault(i.name, []).append(i)
        self.api = [i for i in self.functions if i.code.startswith("SCR_API")]

    def find_parts(self):
        parts, heads = [], list(re.finditer(r"^/\* ==== (\d\d) ([^=\n]*?) =+$", self.text, re.M))
        for m, n in zip(heads, heads[1:] + [None]):
            end = n.start() if n else len(self.text)
            banner = self.text[m.start() : self.text.find("*/", m.start())]
            parts.append(Part(m.group(1), m.group(2), m.start(), end, banner))
        return parts

    def part_of(self, offset):
        return next((p for p in self.parts if p.start <= offset < p.end), None)

    def find_items(self):
        items, self.calls = [], ""  # calls: what macros at the start of a line make, which is API too
        plain = re.sub(r"\\\n", "  ", self.code)  # a macro is one line; offsets stay

        def macro(m):
            d = re.match(r"#\s*define\s+(\w+)", m.group())
            if d:
                items.append(Item("macro", d.group(1), m.start(), m.group()[d.end() :], self.part_of(m.start())))
            return " " * len(m.group())

        def call(m):
            self.calls += m.group()
            return re.sub(r"[^\n]", " ", m.group())

        plain = re.sub(r"^[ \t]*#[^\n]*", macro, plain, flags=re.M)
        plain = re.sub(r"^SCR_[A-Z_]+\([^\n]*(?:\n [^\n]*)*", call, plain, flags=re.M)
        plain = re.sub(r'^extern "[^"]*" \{', lambda m: " " * len(m.group()), plain, flags=re.M)
        at = 0
        while True:
            m = re.compile(r"^[A-Za-z_]", re.M).search(plain, at)
            if not m:
                return items
            depth, end = 0, m.start()
            for t in re.compile(r"[{}()\[\];]").finditer(plain, m.start()):
                c = t.group()
                depth += (c in "{([") - (c in "})]")
                end = t.end()
                if depth == 0 and (c == ";" or (c == "}" and self.is_function(plain[m.start() : end]))):
                    break
            text = plain[m.start() : end]
            items += [Item(k, n, m.start(), text, self.part_of(m.start())) for k, n in self.names_of(text)]
            at = end

    @staticmethod
    def is_function(text):
        head = text.split("{", 1)[0]
        return "(" in head and "=" not in head and not head.startswith("typedef")

    @classmethod
    def names_of(cls, text):
        """The kind and name of all that the declaration TEXT declares."""
        if cls.is_function(text) and "{" in text:
            head = re.sub(r"__attribute__\s*\(\([^)]*\)\)|\bSCR_[A-Z]+\s*\([^)]*\)", " ", text.split("{", 1)[0])
            return [("function", re.search(r"(\w+)\s*\(", head).group(1))]
        found = []
        for enum in re.findall(r"\benum\b[^{;]*\{([^}]*)\}", text):
            found += [("type", w) for w in re.findall(r"(?:^|,)\s*(\w+)", enum)]
        found += [("type", w) for w in re.findall(r"\b(?:struct|enum|union)\s+(\w+)\s*\{", text)]
        flat, n = text, 1
        while n:
            flat, n = re.subn(r"\{[^{}]*\}", " ", flat)
        flat = re.sub(r"=[^,;]*", "", flat)
        pointer = re.search(r"\(\s*\*\s*(?:const\s+)?(\w+)", flat)
        names = [pointer.group(1)] if pointer else []
        if not pointer and "(" not in flat:
            names = [WORD.findall(re.sub(r"\[[^\]]*\]", "", d))[-1:] for d in flat.rstrip(";").split(",")]
            names = [n[0] for n in names if n]
        kind = "type" if text.startswith("typedef") else "variable"
        if kind == "variable" and re.match(r"(struct|enum|union)\s+\w*\s*;?$", flat.strip()):
            names = []
        return found + [(kind, n) for n in names]

    def comment_above(self, item):
        """The comment that ends on the line before ITEM; "" when there is none."""
        i = bisect.bisect_left(self.comments, (item.start, "")) - 1
        if i < 0:
            return ""
        start, text = self.comments[i]
        return text if self.text[start + len(text) : item.start].count("\n") == 1 else ""

    def reached(self, names):
        """All items that code with the words NAMES reaches."""
        seen, todo = set(), list(names)
        while todo:
            word = todo.pop()
            if word in seen or word not in self.by_name:
                continue
            seen.add(word)
            for item in self.by_name[word]:
                todo += item.words
        return seen


# ---- rules: each yields its faults ------------------------------------------------------------------------------------


def rule_map(s):
    found = re.findall(r"^\*\*   (\d\d [A-Z].*)$", s.parts[0].banner, re.M)
    parts = [p.name() for p in s.parts]
    yield from ("%s: in the map, but there is no such banner" % n for n in found if n not in parts)
    yield from ("%s: the map lacks it" % n for n in parts if n not in found)
    if sorted(found) == sorted(parts) and found != parts:
        yield "the map has another order"


def rule_offers(s):
    for p in s.parts:
        others = set(WORD.findall(s.commands))
        for i in s.items:
            if i.part is not p:
                others |= i.words
        mine = [i for i in s.items if i.part is p and i.kind in ("function", "variable") and i not in s.api]
        used = sorted({i.name for i in mine if i.name in others})
        here = set(WORD.findall(s.code[p.start : p.end]))
        for o in p.offers:
            names = [i.name for i in mine if fnmatch.fnmatchcase(i.name, o)]
            if o.startswith("_"):
                yield "%s: offers %s: write the name in full" % (p.name(), o)
            elif o.endswith("*"):
                if not any(n in used for n in names) and not any(fnmatch.fnmatchcase(i.name, o) for i in s.api):
                    yield "%s: offers %s, of which nobody else uses any" % (p.name(), o)
            elif names and names[0] not in used:
                yield "%s: offers %s, which nobody else uses" % (p.name(), o)
            elif not names and o not in here:
                yield "%s: offers %s, which it does not have" % (p.name(), o)
        for n in used:
            if not any(fnmatch.fnmatchcase(n, o) for o in p.offers):
                yield "%s: does not offer %s, which others use" % (p.name(), n)


def rule_reached(s):
    live = s.reached([i.name for i in s.api] + WORD.findall(s.calls) + WORD.findall(s.commands))
    for f in s.functions:
        if f.name not in live:
            yield "%d: %s" % (s.line(f.start), f.name)


def rule_commands(s):
    api = s.reached([i.name for i in s.api] + WORD.findall(s.calls))
    live = s.reached(WORD.findall(s.commands))
    serial, depth = [], 0  # where the code for commands begins and ends
    for m in re.finditer(r"^[ \t]*#[ \t]*(if|endif)([^\n]*)", s.code, re.M):
        depth += (m.group(1) == "if" and (depth > 0 or m.group(2).split() == ["def", "SCR_SERIAL"])) - (
            m.group(1) == "endif" and depth > 0
        )
        if (depth > 0) != (len(serial) % 2 > 0):
            serial.append(m.start())
    for f in s.functions:
        if f.name in live and f.name not in api and bisect.bisect(serial, f.start) % 2 == 0:
            yield "%d: %s" % (s.line(f.start), f.name)


def rule_labels(s):
    label = re.compile(r"^\*\*   ([A-Z]\d{1,2})  ", re.M)
    seen = {}
    for p in s.parts:
        for m in label.finditer(p.banner):
            line = s.line(p.start + m.start())
            if m.group(1) in seen:
                yield "%d: %s is the label of an invariant in line %d too" % (line, m.group(1), seen[m.group(1)])
            else:
                seen[m.group(1)] = line
    for start, text in s.comments:
        for m in re.finditer(r"(?<![\w+-])([A-Z]\d{1,2})(?:-([A-Z]?\d{1,2}))?(?!\w)", text):
            if not re.match(r"C(99|11|17)$", m.group(1)) and m.group(1) not in seen:
                yield "%d: no invariant is labelled %s" % (s.line(start + m.start()), m.group(1))


def rule_records(s):
    for start, text in s.strings:
        part = s.part_of(start)
        if text[1:-1] in RECORD_KEYS and (part is None or part.number not in RECORD_PARTS):
            yield "%d: part %s: %s is a key of a record" % (s.line(start), part.number if part else "none", text)


def rule_linkage(s):
    for i in s.items:
        if i.kind == "function" and not re.match(r"SCR_(FN|API)\b", i.code):
            yield "%d: the function %s begins with neither SCR_FN nor SCR_API" % (s.line(i.start), i.name)
        if i.kind == "variable" and not re.match(r"static\b", i.code):
            yield "%d: the variable %s is not static" % (s.line(i.start), i.name)
    plain = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda m: re.sub(r"[^\n]", " ", m.group()), s.code, flags=re.M)
    for m in re.finditer(r"^[ \t]+(SCR_FN|SCR_API)\b", plain, re.M):  # a macro may define an exported function
        yield "%d: %s is not in column 0" % (s.line(m.start()), m.group(1))


def rule_documents(s):
    doubt = re.compile(
        r"\b(?:the|developer'?s?|user'?s?) guide\b|\bDESIGN\b|\bprior[_ ]art\b|\bissue #?\d|§|https?://|\.\./\w+/"
        r"|(?<![\w.])[\w/]+\.(?:md|txt|pdf|html)\b",
        re.I,
    )
    for start, text in sorted(s.comments + s.strings):
        for m in doubt.finditer(text):
            if m.group().isupper() or m.group().lower() != "design":  # the word of English is no document
                if not (m.group()[-3:] in (".md", "txt") and os.path.exists(m.group())):
                    yield "%d: %s" % (s.line(start + m.start()), m.group())


def rule_threads(s):
    for m in re.finditer(r"(?<![\w.>])(?:strerror|strtok|localtime|gmtime|ctime|asctime|rand)\s*\(", s.code):
        yield "%d: %s is not for threads" % (s.line(m.start()), m.group().rstrip("( "))


def rule_long(s):
    for f in s.functions:
        lines = f.code.count("\n") + 1
        if lines > LONG and not re.search(r"\bLong\b[,:]|\blong\b.*\bbecause\b", s.comment_above(f), re.S):
            yield "%d: %s has %d lines" % (s.line(f.start), f.name, lines)


def rule_size(s):
    for p in s.parts:
        lines = s.text.count("\n", p.start, p.end)
        if lines > PART:
            yield "%s has %d lines" % (p.name(), lines)


def rule_states(s):
    for f in s.functions:
        for m in re.finditer(r"(?:\.|->)(life|on_prefix|aside)\s*(?:[|+-]?=(?!=)|\+\+)", f.code):
            if f.part.number not in STATE_PARTS:
                yield "%d: %s sets %s itself" % (s.line(f.start + m.start()), f.name, m.group(1))


def rule_slots(s):
    for f in s.functions:
        for m in re.finditer(r"(?:\.|->)(?:max|sum)\[\d", f.code):
            if f.name not in ("scr_vote_max", "scr_vote_sum"):  # which have but one
                yield "%d: %s: a slot of a vote without a name" % (s.line(f.start + m.start()), f.name)


def used(s, p):
    """What of other parts P uses; MANUAL, which has the macros of all, aside."""
    words = set().union(*(i.words for i in s.items if i.part is p))
    return [i for i in s.items if i.name in words and i.part and i.part is not p and i.part is not s.parts[0]]


def rule_uses(s):
    for p in s.parts:
        others = {i.part.number for i in used(s, p) if i.kind != "macro"}
        if len(others) > USES and p.title != "PUBLIC API":
            yield "%s uses %d others" % (p.name(), len(others))


def rule_banners(s):
    for p in s.parts:
        if "Uses" in p.fields:
            said = set(re.split(r",\s+", re.sub(r"\n\*\*\s*", " ", p.fields["Uses"]).strip())) - {"nothing"}
            fact = {i.part.short() for i in used(s, p)}
            for name in sorted(fact - said):
                yield "%s: its banner does not name %s, which it uses" % (p.name(), name)
            for name in sorted(said - fact):
                yield "%s: its banner names %s, which it does not use" % (p.name(), name)


RULES = {k[5:]: v for k, v in list(globals().items()) if k.startswith("rule_")}


# ---- the rules are tested --------------------------------------------------------------------------------------------


def self_test(text, commands):
    """Plant faults in TEXT; yields the rules that do not see them, or that see some where there are none."""
    source = Source(text, commands)
    hashes = next(p for p in source.parts if p.number in RECORD_PARTS)  # the part that gets the faults
    after = next(p for p in source.parts if p.start > hashes.start and "Invariants" in p.fields)
    me = hashes.name()
    before = {}

    def faults(rule, t, c):
        return {re.sub(r"^\d+: | in line \d+", "", x) for x in RULES[rule](Source(t, c))}

    def insert(t, part, key, line):
        """T with LINE below the line that begins with `** KEY` in the banner of PART."""
        at = t.index("\n", t.index("\n** " + key, part.start) + 1) + 1
        return t[:at] + line + "\n" + t[at:]

    def plant(code="", more="", offers=""):
        """TEXT with CODE at the end of the part, MORE at the end of the file, and OFFERS in the banner."""
        t = text[: hashes.end] + "\n" + code + "\n" + text[hashes.end :] + "\n" + more + "\n"
        return insert(t, hashes, "Offers", "**            %s," % offers) if offers else t

    def labels(first, second, comment=""):
        """TEXT with these labels in two banners."""
        t = insert(text, after, "Invariants", "**   %s  planted." % second)
        return insert(t, hashes, "Invariants", "**   %s  planted." % first) + comment

    def function(name, body="return 1;", linkage="SCR_FN"):
        return "%s int %s(void)\n{\n  %s\n}\n" % (linkage, name, body)

    def api(expression):
        return function("SCR_Planted", "return %s;" % expression, "SCR_API")

    some = [next((i.name for i in source.functions if i.part is p), "f") for p in source.parts]
    others = " + ".join(some) + "()"
    one = function("scr_planted")
    long = function("scr_planted", "f();\n" * 70 + "return 1;")
    row = one + "\nstatic int (*const scr_rows[])(void) = {scr_planted};\n\n#define SCR_ROW() scr_rows[0]()\n"
    ways = [  # rule, the file with a fault, what the rule says (or how much), what the commands call
        ("map", text.replace("/* ==== %s =" % me, "/* ==== %s TOO =" % me, 1), 2),
        ("offers", plant(one, "", "scr_planted"), [me + ": offers scr_planted, which nobody else uses"]),
        ("offers", plant("", "", "scr_planted"), [me + ": offers scr_planted, which it does not have"]),
        ("offers", plant(one, "", "scr_plan*"), [me + ": offers scr_plan*, of which nobody else uses any"]),
        ("offers", plant(one, api("scr_planted()"), "_planted"), 2),
        ("offers", plant("static int planted;", api("planted")), [me + ": does not offer planted, which others use"]),
        ("offers", plant(function("planted"), api("planted()")), [me + ": does not offer planted, which others use"]),
        ("offers", plant(function("planted")), [me + ": does not offer planted, which others use"], "planted();"),
        ("offers", plant(one, api("scr_planted()"), "scr_planted"), []),
        ("offers", plant("typedef int scr_planted;", "", "scr_planted"), []),
        ("reached", plant(one), ["scr_planted"]),
        ("reached", plant(one, api("scr_planted()")), []),
        ("reached", plant(one), [], "scr_planted();"),
        ("reached", plant(row, api("0")), ["scr_planted"]),
        ("reached", plant(row, api("SCR_ROW()")), []),
        ("reached", plant(one, "SCR_PLANTED(low, UP,\n            scr_planted())\n"), []),
        ("reached", plant(one, "#define SCR_PLANTED(low) scr_planted()\n"), ["scr_planted"]),
        ("labels", labels("Q9", "Q9"), ["Q9 is the label of an invariant too"]),
        ("labels", labels("Q8", "Q9", "/* As planted (Q8, Q9; C99 too). */"), []),
        ("labels", labels("Q8", "Q9", "/* As planted (Q7). */"), ["no invariant is labelled Q7"]),
        ("records", plant("", api('scr_hash_get(NULL, "META") != NULL')), 1),
        ("records", plant(function("scr_planted", 'return scr_hash_get(NULL, "META") != NULL;')), []),
        ("linkage", plant(function("scr_planted", linkage="static")), 1),
        ("linkage", plant("  " + one), 1),
        ("linkage", plant("#define SCR_PLANTED \\\n  SCR_API int SCR_Planted(void); \\\n  SCR_API int f(void)\n"), []),
        ("linkage", plant("int scr_planted[3] = {1, 2, 3};\n"), ["the variable scr_planted is not static"]),
        ("linkage", plant(one + "static int scr_planted_too[3] = {1, 2, 3};\n"), []),
        ("documents", plant("/* As the developer guide says. */\n"), ["developer guide"]),
        ("documents", plant("/* See DESIGN. */\n"), ["DESIGN"]),
        ("documents", plant(function("scr_planted", 'return scr_warn("see notes/more.md");')), ["notes/more.md"]),
        ("documents", plant("/* The design is that of README.md. */\n"), []),
        ("threads", plant(function("scr_planted", "return *strerror(1);")), ["strerror is not for threads"]),
        ("threads", plant(function("scr_planted", "return *scr_strerror(1) + *strerror_r(1, s, 9);")), []),
        ("long", plant(long), ["scr_planted has 74 lines"]),
        ("long", plant("/* Planted.  Long, because it is planted. */\n" + long), []),
        ("size", plant("\n" * PART), 1),
        ("states", plant(function("scr_planted", "ds->life = SCR_WHOLE; return 0;")), 1),
        ("states", plant(function("scr_planted", "return ds->life == SCR_WHOLE;")), []),
        ("slots", plant(function("scr_planted", "return v.max[0] == 1;")), 1),
        ("slots", plant(function("scr_planted", "return v->sum[PLANTED] == 1;")), []),
        ("uses", plant(function("scr_planted", "return %s;" % others)), 1),
        ("banners", text.replace("\n** Uses       nothing", "\n** Uses       hash", 1), 1),
        ("banners", plant(function("scr_planted", "return %s;" % some[-1])), 1),
        ("commands", plant(one), ["scr_planted"], "scr_planted();"),
        ("commands", plant("#ifdef SCR_SERIAL\n#if 1\n#endif\n" + one + "#endif\n"), [], "scr_planted();"),
        ("commands", plant(one, api("scr_planted()")), [], "scr_planted();"),
    ]
    for rule, planted, want, *calls in ways:
        if rule not in before:
            before[rule] = faults(rule, text, commands)
        got = sorted(faults(rule, planted, commands + "".join(calls)) - before[rule])
        if len(got) != want if isinstance(want, int) else got != want:
            yield "%s: planted faults give %s instead of %s" % (rule, got, want)


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    with open("scr_impl.c", encoding="utf-8") as f:
        text = f.read()
    commands = ""
    for path in sorted(glob.glob("tools/*.[ch]")):
        with open(path, encoding="utf-8") as f:
            commands += Code(f.read()).code
    rule = sys.argv[1] if len(sys.argv) == 2 else ""
    if rule != "--self-test" and rule not in RULES:
        sys.exit(__doc__)
    for fault in self_test(text, commands) if rule == "--self-test" else RULES[rule](Source(text, commands)):
        print(fault)


if __name__ == "__main__":
    main()
