#!/usr/bin/env python3
"""mutants.py [apply | run] [NAME...] - planted bugs that the simulator must find.

apply: test that each mutant of mutants.txt applies to scr_impl.c.  run: build each, and run seeds until one fails, at
most SEEDS (2000) and SECONDS (120) of processor time; print the table.  Last line: N passed, N failed, N skipped."""

import os, re, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
BUILD = os.path.join(HERE, "build")


def read():
    """The mutants: name, what they do, function, old and new text, draws that are the same in all of its seeds, and
    why it is not expected to be found or ''."""
    mutants = []
    for line in open(os.path.join(HERE, "mutants.txt")):
        line = line.rstrip("\n")
        if line.startswith("= "):
            name, text = line[2:].split(": ", 1)
            mutants.append({"name": name, "text": text, "draws": "", "why": ""})
        elif line[:2] in ("@ ", "- ", "+ ", "~ ", "! "):
            mutants[-1][{"@": "function", "-": "old", "+": "new", "~": "draws", "!": "why"}[line[0]]] = line[2:]
        elif line and not line.startswith("#"):
            sys.exit("mutants.txt: what is " + line)
    return mutants


def function(source, name):
    """Where the definition of NAME begins and ends in SOURCE."""
    head = r"^(?:SCR_FN|SCR_API|static)\b[^\n;]*\b%s\((?:[^;{]*)\)\n" % re.escape(name)
    m = re.search(head + r"\{.*?^\}", source, re.M | re.S)
    return m.span() if m else None


def apply(source, mutant):
    """SOURCE with MUTANT in it, or None and what is wrong."""
    span = function(source, mutant["function"])
    if span is None:
        return None, "there is no function " + mutant["function"]
    body = source[span[0] : span[1]]
    if mutant["old"] == "{":
        return source[: span[0]] + body.replace("\n{\n", "\n" + mutant["new"] + "\n", 1) + source[span[1] :], ""
    n = body.count(mutant["old"])
    if n != 1:
        return None, "%s has %d times: %s" % (mutant["function"], n, mutant["old"])
    return source[: span[0]] + body.replace(mutant["old"], mutant["new"]) + source[span[1] :], ""


def run(mutant, source, seeds, seconds):
    """Build the simulator with MUTANT and run it.  The seeds that were run, and what was wrong, '' if nothing."""
    with tempfile.TemporaryDirectory() as work:
        path = os.path.join(work, "scr_impl.c")
        open(path, "w").write(source)
        env = dict(os.environ, OPT="-O0 -g0")
        subprocess.check_call(["sh", os.path.join(HERE, "build.sh"), path, work + "/library.o", "scr", "-w"], env=env)
        objects = [os.path.join(BUILD, f) for f in os.listdir(BUILD) if f.endswith(".o") and f != "library.o"]
        objects += [work + "/library.o", "-lz"]
        subprocess.check_call([os.environ.get("CC", "cc"), "-no-pie", "-o", work + "/sim"] + objects)
        limits = ["seeds=%d" % seeds, "seconds=%d" % seconds, "shrink=0", "twice=0"]
        limits += ["set=" + draw for draw in mutant["draws"].split()]
        try:
            out = subprocess.run([work + "/sim"] + limits, timeout=seconds * 60, stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, errors="replace")
        except subprocess.TimeoutExpired:
            return 0, ""  # a machine that is busy: not found in that time
        text = out.stdout
        n = re.search(r"^(\d+) seeds", text, re.M)
        if out.returncode < 0:
            return int(n.group(1)) if n else 0, "signal %d" % -out.returncode
        crash = re.search(r"^seed (\d+) fails: (signal \d+)", text, re.M)
        if crash:
            return int(crash.group(1)), crash.group(2)
        why = re.search(r"^  lifetime \d+: +(.*)$", text, re.M)
        return int(n.group(1)) if n else 0, why.group(1)[:90] if out.returncode and why else ""


def main():
    mode = sys.argv[1] if len(sys.argv) > 1 else "apply"
    source = open(os.path.join(TOP, "scr_impl.c")).read()
    passed = failed = 0
    for m in read():
        if len(sys.argv) > 2 and m["name"] not in sys.argv[2:]:
            continue
        mutated, wrong = apply(source, m)
        if mutated is not None and mode == "run":
            seeds, what = run(m, mutated, int(os.environ.get("SEEDS", "2000")), int(os.environ.get("SECONDS_EACH", "120")))
            if what:
                print("%-26s %5d  %s" % (m["name"], seeds, what), flush=True)
            elif m["why"]:
                print("%-26s   not  %s" % (m["name"], m["why"]), flush=True)
            else:
                wrong = "not found in %d seeds: %s" % (seeds, m["text"])
        if wrong:
            print("FAIL  %s: %s" % (m["name"], wrong), flush=True)
        passed += not wrong
        failed += bool(wrong)
    print("%d passed, %d failed, 0 skipped" % (passed, failed))
    sys.exit(failed != 0)


main()
