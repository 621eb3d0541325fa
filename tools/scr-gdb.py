"""scr-gdb.py - gdb prints an scr_hash as a tree of its keys; a pointer to one stays a pointer, so that frames stay short.

    (gdb) source tools/scr-gdb.py
    (gdb) print *file.h
    $1 = scr_hash with 2 keys
      NODES = 4
      HOST
        node1

A key with one value stands with it on one line, as scr_print_hash_file prints it.
"""
import gdb
import gdb.printing

MOST = 10000  # lines; a hash that memory errors have made a ring ends somewhere
DEEPEST = 64


def elements(table):
    """The elements of the scr_hash TABLE, in the order of adding."""
    element = table["first"]
    while element != 0:
        yield element.dereference()
        element = element["next"]


def text(element):
    """The key of ELEMENT, with what is not printable escaped."""
    key = element["key"]
    return key.string("utf-8", "backslashreplace").encode("unicode_escape").decode() if key != 0 else "(no key)"


def single(table):
    """The value if TABLE has a single one without children, or None."""
    if int(table["count"]) != 1 or table["first"] == 0:
        return None
    element = table["first"].dereference()
    below = element["hash"]
    return text(element) if below == 0 or int(below["count"]) == 0 else None


def tree(table, depth, lines):
    """Append the lines of TABLE to LINES."""
    indent = "  " * (depth + 1)
    for element in elements(table):
        if len(lines) >= MOST or depth >= DEEPEST:
            lines.append(indent + "...")
            return
        below = element["hash"]
        value = single(below.dereference()) if below != 0 else None
        lines.append(indent + text(element) + (" = " + value if value is not None else ""))
        if value is None and below != 0:
            tree(below.dereference(), depth + 1, lines)


class HashPrinter:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        lines = []
        try:
            count = int(self.value["count"])
            lines.append("scr_hash with %d key%s" % (count, "" if count == 1 else "s"))
            tree(self.value, 0, lines)
        except gdb.MemoryError as error:
            lines.append("  (%s)" % error)
        return "\n".join(lines)


class Printers(gdb.printing.PrettyPrinter):
    def __call__(self, value):
        kind = value.type.strip_typedefs()
        return HashPrinter(value) if kind.code == gdb.TYPE_CODE_STRUCT and kind.tag == "scr_hash" else None


gdb.printing.register_pretty_printer(gdb.current_objfile(), Printers("scr"), replace=True)
