"""cases.py - what scr.py promises.  python.sh runs its parts, each on what the part before has left."""
import array
import ctypes
import gc
import os
import re
import signal
import sys
import threading
import time
import traceback
import warnings
import weakref

part = sys.argv[1]
if part in ("regions", "damaged", "alike", "alike_again", "wanting", "recovered", "other_ranks", "written_by_others",
            "read_again", "disabled"):
    import numpy as np
else:
    sys.modules["numpy"] = None  # scr.py does not need it

import scr

faults = 0
warnings.simplefilter("error")  # of a wrong program


def check(right, what=""):
    global faults
    if not right:
        faults += 1
        where = scr.rank() if scr._place else -1
        print("FAULT rank %d, line %d: %s\n" % (where, sys._getframe(1).f_lineno, what), end="", flush=True)


def fails(kind, call, word="", code=None):
    """CALL raises KIND, and the message has WORD; an Error has this CODE, and says more than the text of the code."""
    try:
        call()
    except Exception as why:
        text = str(why)
        if type(why) is kind and re.search(word, text):
            if code is None or why.code == code and why.message == text != scr._library.SCR_Strerror(code).decode():
                return
        check(False, "line %d: %s: %s" % (sys._getframe(1).f_lineno, type(why).__name__, text))
    else:
        check(False, "line %d: no exception" % sys._getframe(1).f_lineno)


def errs(code, call, word=""):
    fails(scr.Error, call, word, code)


def file_name(name):
    return "%s/rank_%d" % (name, scr.rank())


def write_files(name, number, faulty=-1):
    """A dataset with one file of each rank; FAULTY raises after it has routed its file."""
    with scr.checkpoint(name) as c:
        with open(c.route(file_name(name)), "w") as f:
            f.write("%d\n" % number)
        if scr.rank() == faulty:
            raise IndexError("raised by the program")


def read_file(r):
    with open(r.route(file_name(r.name))) as f:
        return int(f.read())


# ---- datasets, exceptions, errors ----

def constants():
    """Those of scr.py are those of scr.h."""
    with open(os.path.join(os.path.dirname(os.path.abspath(scr.__file__)), "scr.h")) as f:
        text = f.read()
    there = dict(re.findall(r"^(?:#define |  X\()SCR_(\w+),? +(\d+)\b", text, re.M))
    here = {name: value for name, value in vars(scr).items() if re.match("[A-Z_]+$", name) and isinstance(value, int)}
    check(len(here) > 20 and here == {name: int(value) for name, value in there.items()}, "constants: %s" % here)
    check(scr.version() == re.search('define SCR_VERSION +"(.*)"', text).group(1))
    calls = set(re.findall(r"^SCR_API [a-z* ]*[ *](SCR_\w+)\(", text, re.M))
    with open(scr.__file__) as f:
        used = set(re.findall(r"_library\.(SCR_\w+)", f.read()))
    others = {"SCR_Init", "SCR_Init_comm", "SCR_Configf", "SCR_Start_checkpoint", "SCR_Complete_checkpoint",
              "SCR_Checkpoint", "SCR_Protect_array"}  # other calls do the same
    check(used | others == calls and not used & others, "calls: %s" % (calls ^ used))


def before_init():
    constants()
    scr.config("SCR_SET_SIZE", 4)
    check(scr.config("SCR_SET_SIZE") == "4" and scr.config("SCR_NO_SUCH_PARAMETER") is None)
    errs(scr.ERR_STATE, scr.rank)
    errs(scr.ERR_STATE, lambda: scr.protect("early", bytearray(8)))
    errs(scr.ERR_STATE, lambda: write_files("early", 0))
    errs(scr.ERR_STATE, scr.finalize)
    fails(AttributeError, lambda: scr.init(7), "py2f")


def files():
    before_init()
    with scr.session():
        check(scr.rank() in range(4) and scr.ranks() == 4)
        check(scr.need_checkpoint() and not scr.should_exit())
        check(scr.have_restart() is None and scr.recover() is None and scr.resume(read_file) is None)
        errs(scr.ERR_STATE, scr.init)
        errs(scr.ERR_ARG, lambda: scr.config("SCR_SET_SIZE", 8), "after SCR_Init")
        write_files("f1", 1)
        write_files("f2", 2)

        # one rank leaves the block by an exception: the others have one too, and f2 is the newest
        if scr.rank() == 1:
            fails(IndexError, lambda: write_files("f3", 3, 1))
        else:
            errs(scr.ERR_INVALID, lambda: write_files("f3", 3, 1))
        with scr.checkpoint() as c:  # without a name or files
            check(c.code is None)
        check(c.code == scr.SUCCESS)

        def not_written():
            with scr.checkpoint("f5") as d:
                d.route(file_name("f5"))
        errs(scr.ERR_MISSING, not_written)

        def without_with():
            scr.checkpoint("f6")
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            without_with()
            gc.collect()
        check(len(seen) == 1 and "without `with`" in str(seen[0].message), seen)
        with scr.output("f7") as o:
            with open(o.route(file_name("f7")), "w") as f:
                f.write("7")
            errs(scr.ERR_STATE, lambda: scr.checkpoint("f8").__enter__())
        check(os.path.exists(file_name("f7")))  # on the prefix
        scr.delete("f7")
        wrong_arguments()
        scr.wait()
    errs(scr.ERR_STATE, scr.finalize)
    check(scr.ranks() == 4)


def wrong_arguments():
    def inside(call):
        def block():
            with scr.output("bad"):
                call()
        return block
    nul, number = "a\0b", 5
    for call in (scr.current, scr.drop, scr.delete, scr.wait, scr.track, scr.route, scr.unprotect, scr.region_size,
                 scr.checkpoint, scr.output, lambda name: scr.protect(name, bytearray(1)), scr.config):
        fails(ValueError, lambda: call(nul), "NUL")
        if call is not scr.config:
            fails(TypeError, lambda: call(number))
    fails(TypeError, lambda: scr.output("bad", "flag"))
    errs(scr.ERR_ARG, lambda: scr.output("bad", 64).__enter__())
    errs(scr.ERR_DIFFER, lambda: scr.output("bad%d" % scr.rank()).__enter__())
    errs(scr.ERR_STATE, lambda: scr.restart().__enter__())
    for call in (scr.current, scr.drop, scr.delete):
        errs(scr.ERR_ARG, lambda: call(""))
        errs(scr.ERR_NOT_FOUND, lambda: call("nothing"), "nothing")
    errs(scr.ERR_ARG, lambda: scr.drop(None))
    errs(scr.ERR_NOT_FOUND, lambda: scr.wait("nothing"), "nothing")
    errs(scr.ERR_PATH, lambda: scr.track("/etc/passwd"))
    errs(scr.ERR_ARG, lambda: scr.track(None))
    errs(scr.ERR_PATH, inside(lambda: scr.route("/etc/passwd")))
    errs(scr.ERR_PATH, inside(lambda: scr.route("x" * 5000)))
    errs(scr.ERR_ARG, inside(lambda: scr.route(None)))
    errs(scr.ERR_STATE, scr.put_regions)
    errs(scr.ERR_STATE, scr.get_regions)


def rejected():
    """f2 cannot be read on rank 2 alone; all ranks take f1.  Then a run ends by an exception."""
    scr.init()
    check(scr.have_restart() is not None)
    tries = []

    def read(r):
        if not r.name.startswith("f"):
            raise ValueError("not of this test")
        tries.append((r.name, read_file(r), r.ranks))
        if len(tries) == 1 and scr.rank() == 2:
            raise ValueError("raised by the reader")
    check(scr.resume(read) == "f1" and tries == [("f2", 2, 4), ("f1", 1, 4)], tries)
    scr.finalize()
    with scr.session():
        write_files("f9", 9)
        raise RuntimeError("the run ends by an exception")


def newest():
    """It left f9.  A block of a restart that fails passes the exception on."""
    with scr.session():
        def block():
            with scr.restart() as r:
                check(r.name == "f9" and read_file(r) == 9 and r.ranks == 4)
                if scr.rank() == 3:
                    raise KeyError("raised by the reader")
        check(scr.have_restart() == "f9")
        if scr.rank() == 3:
            fails(KeyError, block)
        else:
            errs(scr.ERR_INVALID, block)
        check(scr.have_restart() == "f1")
        scr.current("f9")
        with scr.restart() as r:
            check(read_file(r) == 9)


# ---- regions ----

ROWS, COLUMNS, LAYERS = 12, 10, 5
PARTICLE = [("x", "f8", 3), ("Option", "i4")]  # a name with a letter of objects


def cut(n):
    return n * scr.rank() // scr.ranks(), n * (scr.rank() + 1) // scr.ranks()


class State:
    """All that a rank protects.  The array u is cut by rows, each block within a frame; v by its middle dimension, in
    the order of Fortran; both have every pattern of bits."""

    def __init__(self):
        (self.y0, y1), (self.z0, z1) = cut(ROWS), cut(COLUMNS)
        self.step = np.array(0)
        self.plain = np.zeros((3, 4), "c16")
        self.particles = np.zeros(0, PARTICLE)
        self.u = np.full((y1 - self.y0 + 2, COLUMNS + 2), -1.0)
        self.next = self.u.copy()
        self.v = np.zeros((LAYERS, z1 - self.z0, 3), "f4", order="F")
        self.flags = np.zeros(max(0, 5 - 2 * scr.rank()), bool)  # none on rank 3

    def resize(self, nbytes):
        self.particles = np.zeros(nbytes // np.dtype(PARTICLE).itemsize, PARTICLE)

    def protect(self):
        scr.protect("step", self.step)
        scr.protect("u", lambda: self.u[1:-1, 1:-1], global_shape=(ROWS, COLUMNS), offset=(self.y0, 0))
        scr.protect("v", self.v, global_shape=(LAYERS, COLUMNS, 3), offset=(0, self.z0, 0))
        if scr.ranks() != 4:
            return  # what differs between the ranks is for as many as wrote it
        scr.protect("plain", self.plain)
        scr.protect("flags", self.flags)
        scr.protect("particles", lambda: self.particles, resize=self.resize)

    @staticmethod
    def whole(version, *shape):
        return np.random.RandomState(version).bytes(8 * int(np.prod(shape)))

    def arrays(self, version):
        u = np.frombuffer(self.whole(version, ROWS, COLUMNS)).reshape(ROWS, COLUMNS)
        v = np.frombuffer(self.whole(version, LAYERS, COLUMNS, 3), "f4")[::2].reshape(LAYERS, COLUMNS, 3)
        return u[self.y0:self.y0 + self.u.shape[0] - 2], v[:, self.z0:self.z0 + self.v.shape[1]]

    def others(self, version):
        many = 1000 * version + 100 * scr.rank()
        particles = np.zeros(many, PARTICLE)
        particles["x"] = np.arange(3 * many).reshape(many, 3) / (scr.rank() + 1)
        particles["Option"] = version
        plain = np.arange(12).reshape(3, 4) * (version + 1j * scr.rank())
        return [np.array(version), plain, particles, np.arange(self.flags.size) % 2 == version % 2]

    def set(self, version):
        """Some arrays change in place; others are new ones, of another size, or swapped."""
        u, v = self.arrays(version)
        step, plain, particles, flags = self.others(version)
        self.step += step - self.step
        self.plain[:], self.flags[:], self.particles, self.v[:] = plain, flags, particles, v
        self.next[1:-1, 1:-1] = u
        self.u, self.next = self.next, self.u
        self.next[:] = -1

    def arrays_are(self, version):
        u, v = self.arrays(version)
        frame = self.u.copy()
        frame[1:-1, 1:-1] = -1
        return (self.u[1:-1, 1:-1].tobytes() == u.tobytes() and self.v.tobytes() == v.tobytes() and self.step == version
                and (frame == -1).all())

    def is_(self, version):
        here = [self.step, self.plain, self.particles, self.flags]
        return self.arrays_are(version) and all(a.tobytes() == b.tobytes() for a, b in zip(here, self.others(version)))


def regions():
    with scr.session():
        s = State()
        s.protect()
        check(scr.recover() is None and s.step == 0)
        gone = []
        scr.protect("particles", lambda: gone[0] if gone else s.particles)
        if scr.rank() == 1:
            gone.append(None)
        check(scr.recover() is None)  # there is nothing to read: no rank has an exception, rather than one rank alone
        s.protect()
        for version in range(1, 5):
            s.set(version)
            if version == 4:
                wrong_regions(s)
            scr.save("v%d" % version)

        # on one rank the function of a region fails when a checkpoint is written: no rank has that checkpoint
        u = s.u
        if scr.rank() == 1:
            s.u = "no array"
            fails(TypeError, lambda: scr.save("v5"))
            s.u = u
        else:
            try:
                scr.save("v5")
                check(False, "v5 is complete")
            except scr.Error:
                pass
        kept_memory()

        def left():  # beside files, without a name of its own, and left by an exception
            with scr.checkpoint():
                scr.put_regions()
                raise EOFError
        s.set(6)
        fails(EOFError, left)


def wrong_regions(s):
    """Each is an exception, and what is protected is as before, as the next checkpoint shows."""
    small = np.zeros(3)
    errs(scr.ERR_ARG, lambda: scr.protect("", small))
    errs(scr.ERR_ARG, lambda: scr.protect("n" * 300, small))
    errs(scr.ERR_ARG, lambda: scr.unprotect("nothing"))
    for wrong in (3, 2.5, None, "text", [1, 2], {}, np.zeros(2, "M8[s]")):
        fails(TypeError, lambda: scr.protect("plain", wrong), "plain")
    for wrong in (np.array([s]), np.zeros(2, [("x", "i4"), ("y", object)]), (ctypes.c_char_p * 2)(),
                  (ctypes.c_void_p * 2)(), (ctypes.POINTER(ctypes.c_int) * 2)()):
        fails(TypeError, lambda: scr.protect("plain", wrong), "addresses")
    fixed = np.zeros(3)
    fixed.flags.writeable = False
    for wrong in (b"bytes", fixed, np.float64(2), np.broadcast_to(small, (2, 3))):
        fails(ValueError, lambda: scr.protect("plain", wrong), "cannot be changed")
    fails(TypeError, lambda: scr.protect("plain", np.ma.zeros(3)), "has a mask")
    table = np.zeros((6, 8))
    for wrong in (table[:, 1:], table[::2], table.T, table[::-1]):
        fails(ValueError, lambda: scr.protect("plain", wrong), "order of C")

    def block(data, shape, offset):
        return lambda: scr.protect("u", data, global_shape=shape, offset=offset)
    overlap = np.lib.stride_tricks.as_strided(table, (6, 8), (0, 8))
    fields = np.zeros(4, "f4,f8")["f1"]
    for wrong in (table[::-1], table[:, ::-1], overlap):
        fails(ValueError, block(wrong, (6, 8), (0, 0)), "backwards")
    fails(ValueError, block(fields, 4, 0), "between others")
    fails(ValueError, block(table, (6, 8, 1), (0, 0, 0)), "dimensions")
    fails(ValueError, block(table, 48, 0), "dimensions")
    fails(ValueError, block(table, (6, 8), 0), "dimensions")
    fails(ValueError, block(table, (6, -8), (0, 0)), "negative")
    fails(ValueError, block(table, (6, 8), (0, 2 ** 64)), "too large")
    fails(TypeError, block(table, (6, 8.5), (0, 0)))
    fails(TypeError, block(table, "ab", (0, 0)))
    fails(TypeError, block(table, (6, 8), None))
    fails(TypeError, lambda: scr.protect("u", table, offset=(0, 0)))
    fails(TypeError, lambda: scr.protect("u", table, resize=print))
    fails(TypeError, lambda: scr.protect("u", lambda: table, resize=5))
    fails(TypeError, lambda: scr.protect("u", lambda: None), "u")
    fails(ZeroDivisionError, lambda: scr.protect("u", lambda: 1 // 0))
    errs(scr.ERR_ARG, block(small, 9, 7))
    errs(scr.ERR_ARG, block(small, 2 ** 62, 2 ** 62))
    errs(scr.ERR_ARG, block(np.zeros(()), (), ()))
    errs(scr.ERR_ARG, block(np.zeros((1,) * 9), (1,) * 9, (0,) * 9))


def kept_memory():
    """What is protected stays alive, and in its place, until it is protected no more."""
    data = np.arange(5000.)
    dead = weakref.ref(data)
    scr.protect("kept", data)
    fails(ValueError, lambda: data.resize(9000))
    del data
    gc.collect()
    check(dead() is not None)
    scr.protect("kept", np.arange(7.))  # in its place
    gc.collect()
    check(dead() is None)
    grows, counts = bytearray(b"abc"), array.array("i", [1, 2])
    scr.protect("grows", grows)
    scr.protect("counts", counts)
    fails(BufferError, lambda: grows.extend(b"x" * 10000))
    fails(BufferError, lambda: counts.append(3))
    for name in ("kept", "grows", "counts"):
        scr.unprotect(name)
    grows.extend(b"x" * 10000)
    counts.append(3)
    block = np.zeros((8, 4), "i8")
    dead = weakref.ref(block)
    scr.protect("block", block[1:-1, ::2], global_shape=(6 * scr.ranks(), 2), offset=(6 * scr.rank(), 0))
    del block
    gc.collect()
    check(dead() is not None)
    scr.unprotect("block")
    gc.collect()
    check(dead() is None)
    made = []

    def make():
        new = np.zeros((4, 3), "i4")
        made.append(weakref.ref(new))
        return new[:, :2]
    scr.protect("made", make, global_shape=(4 * scr.ranks(), 2), offset=(4 * scr.rank(), 0))
    gc.collect()
    check(made[0]() is not None)
    scr.unprotect("made")


def recovered(version):
    """The newest one is VERSION."""
    with scr.session():
        s = State()
        s.protect()
        check(scr.recover() == "v%d" % version and s.is_(version))
        s.set(version + 1)  # again, beside files of the program
        with scr.checkpoint("w") as c:
            scr.put_regions()
            with open(c.route(file_name("w")), "wb") as f:
                np.save(f, s.plain)
    with scr.session():
        t = State()
        t.protect()
        seen = []

        def read(r):
            scr.get_regions()
            seen.append(np.load(r.route(file_name(r.name))))
        check(scr.resume(read) == "w" and t.is_(version + 1) and (seen[0] == t.plain).all())
        scr.delete("w")


def alike(again=False):
    """Checkpoints of one name, each with an array of another size.  AGAIN: they are read, and the newest is damaged."""
    data = [np.zeros(0)]
    with scr.session():
        scr.protect("v", lambda: data[0], resize=lambda size: data.__setitem__(0, np.zeros(size // 8)))
        for size in () if again else (1000, 2000, 3000):
            data[0] = np.full(size, float(size))
            scr.save("same")
        check(not again or (scr.recover() == "same" and np.array_equal(data[0], np.full(2000, 2000.0))))


def wanting():
    """What cannot be filled is an exception on all ranks, and names the region; the next call may be right."""
    with scr.session():
        s = State()
        s.protect()
        check(scr.region_size("plain") == s.plain.nbytes)
        errs(scr.ERR_NOT_FOUND, lambda: scr.region_size("other"), "other")
        scr.protect("other", np.zeros(3))
        errs(scr.ERR_MISSING, scr.recover, "other")
        scr.unprotect("other")
        scr.protect("plain", np.zeros(3))
        errs(scr.ERR_MISSING, scr.recover, "plain")
        scr.protect("plain", s.plain)

        def broken(nbytes=None):
            if nbytes is not None:
                raise KeyError("raised by the program")
            return s.particles
        for name in ("particles", "u"):  # on one rank: the others have an error too
            if scr.rank() == 1:
                scr.protect(name, broken, resize=broken)
                fails(KeyError, scr.recover)
                s.protect()
            else:
                errs(scr.ERR_DIFFER if name == "u" else scr.ERR_MISSING, scr.recover, name)
        check(scr.recover() == "v4" and s.is_(4))


def other_ranks():
    """Any number of ranks reads the arrays."""
    with scr.session():
        s = State()
        s.protect()
        check(scr.recover() == "v4" and s.arrays_are(4))


def written_by_others():
    with scr.session():
        s = State()
        s.protect()
        check(scr.recover() == "v4" and s.arrays_are(4))
        s.set(5)
        scr.save("v5")


def read_again():
    """By four ranks, after others."""
    with scr.session():
        s = State()
        scr.protect("step", s.step)
        scr.protect("v", s.v, global_shape=(LAYERS, COLUMNS, 3), offset=(0, s.z0, 0))
        scr.protect("u", s.u[1:-1, 1:-1], global_shape=(ROWS, COLUMNS), offset=(s.y0, 0))
        check(scr.recover() == "v5" and s.arrays_are(5))


def disabled():
    with scr.session():
        s = State()
        s.protect()
        check(scr.recover() is None and scr.have_restart() is None and scr.need_checkpoint() and scr.ranks() == 2)
        scr.save()
        with scr.checkpoint("d") as c:
            check(c.route("d/file") == "d/file")


def plain():
    """Without NumPy: files, and what has memory.  Threads call one after the other."""
    with scr.session():
        numbers, text, step = array.array("d", [0] * 10), bytearray(5), ctypes.c_long(0)
        pair = type("Pair", (ctypes.Structure,), {"_fields_": [("x", ctypes.c_double), ("P", ctypes.c_int)]})()
        for name, data in (("numbers", numbers), ("text", text), ("step", step), ("pair", pair)):
            scr.protect(name, data)
        scr.protect("half", memoryview(numbers)[5:], global_shape=5 * scr.ranks(), offset=5 * scr.rank())
        fails(ValueError, lambda: scr.protect("odd", memoryview(numbers)[::2]), "order of C")
        fails(TypeError, lambda: scr.protect("step", 5), "int")
        if scr.recover() is None:
            numbers[:], text[:], step.value = array.array("d", range(10)), b"hello", 7 + scr.rank()
            pair.x, pair.P = 0.5, -3
            threads = [threading.Thread(target=many, args=(i,)) for i in range(4)]
            for t in threads:
                t.start()
            for t in threads:
                t.join()
            check(len(scr._regions) == 5)
            one_at_a_time()
            scr.save("plain")
            return
        check(list(numbers) == list(range(10)) and text == b"hello" and step.value == 7 + scr.rank())
        check((pair.x, pair.P) == (0.5, -3))


def one_at_a_time():
    free = []

    def call():
        other = threading.Thread(target=lambda: free.append(scr._lock.acquire(blocking=False)))
        other.start()
        other.join()
        return scr.SUCCESS
    scr._call(call)
    check(free == [False])


def many(i):
    for n in range(300):
        name = "thread.%d.%d" % (i, n)
        scr.protect(name, bytearray(10))
        scr.unprotect(name)


def tracked():
    """The file has each line once, whatever was written after the newest checkpoint."""
    with scr.session():
        step = array.array("i", [0])
        scr.protect("step", step)
        if scr.rank() == 0:
            scr.track("log.txt")
        old = scr.recover()
        with open("log.txt" if scr.rank() == 0 else os.devnull, "a" if old else "w") as log:
            for _ in range(3):
                step[0] += 1
                log.write("%d\n" % step[0])
                log.flush()
                if step[0] % 3 != 0:
                    scr.save("t%d" % step[0])
        if scr.rank() == 0:
            with open("log.txt") as f:
                check([int(line) for line in f] == list(range(1, 6 if old else 4)))
        raise RuntimeError("the run ends by an exception")


# ---- communicators, and the ends of a run ----

def communicators():
    """A run over a part of the ranks, by a communicator of mpi4py."""
    from mpi4py import MPI
    world = MPI.COMM_WORLD
    half = world.Split(world.rank % 2)
    os.makedirs("half%d" % (world.rank % 2), exist_ok=True)
    world.Barrier()
    scr.config("SCR_PREFIX", os.path.join(os.getcwd(), "half%d" % (world.rank % 2)))
    errs(scr.ERR_STATE, lambda: scr.init(world.Split(MPI.UNDEFINED)), "MPI_COMM_NULL")
    with scr.session(half):
        check(scr.ranks() == half.size == 2 and scr.rank() == half.rank == world.rank // 2)
        data = ctypes.c_int(-1)
        scr.protect("data", data)
        if scr.recover() is None:
            data.value = world.rank
            scr.save("half")
        else:
            check(data.value == world.rank)
    scr.config("SCR_PREFIX", "")  # unset again
    with scr.session(world.Create_cart([2, 2])):
        check(scr.ranks() == 4)


def alone():
    """Rank 1 has an exception, and nobody waits for it."""
    scr.init()
    if scr.rank() == 1:
        raise IndexError("raised on one rank")
    while True:
        scr.need_checkpoint()


def alone_error():
    """The same with an error of a call that is not collective."""
    scr.init()
    if scr.rank() == 1:
        scr.unprotect("nothing")
    while True:
        scr.need_checkpoint()


def alone_exit():
    """The same with a sys.exit, for which the others are waited for some time."""
    with scr.session():
        if scr.rank() == 1:
            sys.exit(3)
        while True:
            scr.need_checkpoint()


def exit_together():
    """All ranks call it, one a moment later; they end MPI as together does."""
    with scr.session():
        write_files("together", 1)
        time.sleep(0.5 * (scr.rank() == 2))
        sys.exit("rank %d gives up" % scr.rank())


def together():
    """All ranks have the same error; they end MPI, which flushes the newest checkpoint."""
    with scr.session():
        write_files("together", 1)
        scr.delete("nothing")


def halted():
    """A signal asks for the end, and the library ends the program; what Python has printed is not lost."""
    scr.config("SCR_SIGNALS", "USR1:halt")
    with scr.session():
        write_files("first", 1)
        if scr.rank() == 2:
            os.kill(os.getpid(), signal.SIGUSR1)
        sys.stdout.write("rank %d was here\n" % scr.rank())
        for step in range(100):
            time.sleep(0.05)
            scr.need_checkpoint()
            write_files("last%d" % step, 1)
        check(False, "the run goes on")


def main():
    variants = {"alike_again": lambda: alike(True), "damaged": lambda: recovered(3), "recovered": lambda: recovered(4)}
    function = variants.get(part) or globals()[part]
    try:
        function()
        check(part not in ("rejected", "tracked"))
    except Exception as why:
        if part in ("alone", "alone_error", "together"):
            raise
        check(part in ("rejected", "tracked") and str(why) == "the run ends by an exception", traceback.format_exc())
    if faults == 0:
        print("%s: rank %d is right\n" % (part, scr.rank()), end="", flush=True)
    sys.exit(faults > 0)


main()
