"""scr.py - the calls of scr.h for Python 3: what `with` begins ends with it, and errors are exceptions.

A function does what the call of its name in scr.h does, and is collective where that is.  A collective call raises
scr.Error with the same code on all ranks, or on none; SCR_ENABLE=0 is no error.  An exception that leaves the block of
a checkpoint, output or restart makes that invalid, and goes on; on the other ranks the end of the block raises Error
with ERR_INVALID, so that all ranks leave it together.  So no other collective call follows in a block what can fail on
one rank.  A region is a NumPy array, or any other object that has memory which can be changed, such as an array.array
or a ctypes.c_long; NumPy is not needed.  Two programs: heat2d.py, and one in tools/manual/languages.md.

The library is libscr_python.so, beside this file or where the system finds it.  scr_python.c tells how to build it.
"""
import atexit
import contextlib
import ctypes
import operator
import os
import re
import sys
import threading
import traceback
import warnings
from ctypes import byref, c_char, c_char_p, c_int, c_size_t, c_void_p

VERSION_NUMBER = 40000
MAX_FILENAME = 1024
SUCCESS = 0
(ERR_DISABLED, ERR_STATE, ERR_ARG, ERR_PARAM, ERR_DIFFER, ERR_PATH, ERR_MEM, ERR_IO, ERR_SPACE, ERR_FORMAT, ERR_CRC,
 ERR_MISSING, ERR_INVALID, ERR_LOST, ERR_NO_RESTART, ERR_BUSY, ERR_UNSAFE, ERR_MPI, ERR_NOT_FOUND) = range(1, 20)
FLAG_NONE, FLAG_CHECKPOINT, FLAG_OUTPUT = 0, 1, 2
def FLAG_LINE(n): return n + 1 << 8  # kept by the line CKPT=n


class Error(Exception):
    """A call has failed: code is one of ERR_..., message the library's.  If alone is true, the call is not collective,
    so that other ranks may not have the error."""

    def __init__(self, code, message, alone=False):
        super().__init__(message)
        self.code, self.message, self.alone = code, message, alone


# ---- the library ----

def _load():
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "libscr_python.so")
    try:
        library = ctypes.CDLL(beside if os.path.exists(beside) else "libscr_python.so")
    except OSError as why:
        raise ImportError("scr.py has no library: %s; scr_python.c tells how to build it" % why) from None
    library.SCR_Strerror.restype = library.SCR_Last_error.restype = library.SCR_Get_version.restype = c_char_p
    library.SCR_Config.restype = c_void_p  # an address, which is freed
    return library


_library = _load()
_lock = threading.RLock()  # the library is called by one thread at a time
_place = None              # the rank of this process, and the number of ranks
_regions = {}              # what this rank protects, by name
_exit_code = 0             # of a sys.exit that has left a session


def _call(function, *arguments, alone=False):
    with _lock:
        code = function(*arguments)
        if code in (SUCCESS, ERR_DISABLED):
            return
        message = _library.SCR_Last_error() or _library.SCR_Strerror(code)
    raise Error(code, message.decode(errors="replace"), alone)


def _ask(question, alone=False):
    answer = c_int()
    _call(question, byref(answer), alone=alone)
    return answer.value


def _ask_name(question):
    answer, name = c_int(), ctypes.create_string_buffer(MAX_FILENAME)
    _call(question, byref(answer), name)
    return os.fsdecode(name.value) if answer.value else None


def _text(text):
    """TEXT, a string, a path, or None, for C."""
    text = None if text is None else os.fsencode(text)
    if text is not None and b"\0" in text:
        raise ValueError("a NUL in the name %r" % text)
    return text


def _flush():
    """The library may end the program; it cannot write what Python still has in its buffers."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()


# ---- start and end ----

def init(comm=None):
    """Start the library over COMM, a communicator of mpi4py, or over all ranks.  Without COMM, MPI is started, too, if
    nobody has done so; it then ends with the program."""
    global _place, _exit_code
    handle = None if comm is None else byref(c_int(comm.py2f()))
    mpi = sys.modules.get("mpi4py.MPI")
    if not _ask(_library.MPI_Initialized) and (handle is not None or mpi is not None and mpi.Is_initialized()):
        raise Error(ERR_STATE, "the MPI library of libscr_python.so is not initialized, but that of mpi4py is: build "
                    "libscr_python.so with the MPI for which mpi4py was built", alone=True)
    place = c_int(), c_int()
    _exit_code = 0
    _flush()
    _library.SCR_Check_version(VERSION_NUMBER)
    _call(_library.scr_python_init, handle, *map(byref, place))
    _place = [number.value for number in place]


def finalize():
    """Stop the library.  Only this tells whether the newest checkpoint is on the prefix."""
    try:
        _call(_library.SCR_Finalize)
    except Error as why:
        if why.code != ERR_STATE:
            _regions.clear()
        raise
    _regions.clear()


@contextlib.contextmanager
def session(comm=None):
    """A run, from init to finalize.  One that an exception ends is left to MPI_Finalize: that saves the newest
    checkpoint, too, but does not record that the run is done, so scr_run starts it again."""
    global _exit_code
    init(comm)
    try:
        yield
    except SystemExit as why:
        _exit_code = (why.code or 0) & 255 if isinstance(why.code, (int, type(None))) else 1
        raise
    finalize()


@atexit.register
def _end():
    """End MPI, if init has started it.  After an exception that other ranks may not have, it does not wait for them;
    after a sys.exit of failure, in a session, for some seconds: if all ranks call it, they end as usual."""
    why = getattr(sys, "last_value", None)
    alone = why is not None and (not isinstance(why, Error) or why.alone)
    _library.scr_python_end(1 if alone else _exit_code, 0 if alone else 20)


def _where():
    if _place is None:
        raise Error(ERR_STATE, "scr.init has not been called", alone=True)
    return _place


def rank(): return _where()[0]
def ranks(): return _where()[1]
def should_exit(): return _ask(_library.SCR_Should_exit) != 0
def version(): return _library.SCR_Get_version().decode()


def config(key, value=None):
    """The value of KEY, or None; or set KEY to VALUE, before init.  KEY may be a line, as "CKPT=0 TYPE=XOR"."""
    text = _text(key if value is None else "%s=%s" % (key, value))
    with _lock:
        answer = _library.SCR_Config(text)
        message = _library.SCR_Last_error().decode(errors="replace")
    if answer is None and message:
        raise Error(ERR_ARG, message, alone=True)
    if answer is None:
        return None
    value = os.fsdecode(ctypes.string_at(answer))
    ctypes.CDLL(None).free(c_void_p(answer))
    return value


# ---- datasets ----

def route(name):
    """The path at which to open the file NAME."""
    file = ctypes.create_string_buffer(MAX_FILENAME)
    _call(_library.SCR_Route_file, _text(name), file, alone=True)
    return os.fsdecode(file.value)


class _Dataset:
    code = None  # what the end of its block has returned
    route = staticmethod(route)

    def __init__(self, complete, start, *arguments):
        self._complete, self._start, self._idle = complete, (start,) + arguments, True

    def __enter__(self):
        self._idle = False
        _call(*self._start)
        return self

    def __exit__(self, kind, why, trace):
        _flush()
        try:
            _call(self._complete, kind is None)
            self.code = SUCCESS
        except Error as failure:
            self.code = failure.code
            if kind is None:
                raise

    def __del__(self):
        if getattr(self, "_idle", False):
            warnings.warn("a dataset of scr without `with`: nothing is written or read", RuntimeWarning)


def output(name=None, flags=FLAG_OUTPUT):
    """`with output(...) as o`: a dataset with files at o.route(...).  If the block fails, it is deleted, and older ones
    are unchanged."""
    return _Dataset(_library.SCR_Complete_output, _library.SCR_Start_output, _text(name), operator.index(flags))


def checkpoint(name=None): return output(name, FLAG_CHECKPOINT)


class restart(_Dataset):
    """`with restart() as r`: the loaded checkpoint, r.name, which r.ranks ranks wrote, with files at r.route(...).  If
    the block fails, it is rejected, and an older one is offered."""

    def __init__(self):
        self._name = ctypes.create_string_buffer(MAX_FILENAME)
        super().__init__(_library.SCR_Complete_restart, _library.SCR_Start_restart, self._name)

    name = property(lambda self: os.fsdecode(self._name.value))
    ranks = property(lambda self: _ask(_library.SCR_Restart_ranks, alone=True))


def have_restart(): return _ask_name(_library.SCR_Have_restart)
def need_checkpoint(): return _ask(_library.SCR_Need_checkpoint) != 0
def current(name): _call(_library.SCR_Current, _text(name))
def drop(name): _call(_library.SCR_Drop, _text(name))
def delete(name): _call(_library.SCR_Delete, _text(name))
def wait(name=None): _call(_library.SCR_Wait, _text(name))
def track(path): _call(_library.SCR_Track, _text(path), alone=True)


def resume(read):
    """Restart from the newest checkpoint that READ(restart) can read on every rank; return its name, or None.  READ
    raises where it cannot.  As it may be called for an older one then, it sets all data anew."""
    while have_restart() is not None:
        attempt = restart()
        try:
            with attempt:
                read(attempt)
            return attempt.name
        except Exception as why:
            if attempt.code != ERR_INVALID:
                raise
            if not isinstance(why, Error):
                traceback.print_exc()
            if not isinstance(why, Error) or why.alone:
                print("%s cannot be used: %s" % (attempt.name, why), file=sys.stderr)
    return None


# ---- regions of memory ----

class _Region:
    """DATA, or what the function DATA returns; with what keeps its memory from being freed or moved."""

    def __init__(self, name, data, shape, offset, resize):
        self.name, self.data, self.shape, self.offset, self.resize = name, data, shape, offset, resize
        self.describe(False)

    def describe(self, reading):
        """Tell the library where the memory is; if READING, give it the size in the checkpoint first."""
        what = "the region %s" % os.fsdecode(self.name)
        size = self.size() if reading and self.resize is not None else None
        if size is not None:
            self.resize(size)
        data = self.data() if callable(self.data) else self.data
        if hasattr(type(data), "mask"):
            raise TypeError("%s has a mask, which is memory of its own; protect its .data and its .mask" % what)
        try:
            view = memoryview(data)
        except (TypeError, ValueError, BufferError) as why:
            raise TypeError("%s: %s; protect an array, such as numpy.zeros(1, int)" % (what, why)) from None
        if view.readonly:
            raise ValueError("%s cannot be changed" % what)
        if re.search("[OPX&z]|Z(?![fdg])", re.sub(":[^:]*:", "", view.format)):
            raise TypeError("%s has Python objects or addresses, which mean nothing to another run" % what)
        kept, address, element = view, None, view.itemsize or 1
        if view.c_contiguous and view.nbytes > 0:
            kept = c_char.from_buffer(view)
            address = ctypes.addressof(kept)
        elif self.shape is not None and hasattr(data, "__array_interface__"):
            address = data.__array_interface__["data"][0]
        elif not view.c_contiguous:
            raise ValueError("%s is not contiguous in the order of C; protect a copy, or the transpose, or, with "
                             "global_shape and offset, a block of an array" % what)
        if self.shape is None:
            _call(_library.SCR_Protect, self.name, c_void_p(address), c_size_t(view.nbytes // element),
                  c_size_t(element), alone=True)
        else:
            if not len(self.shape) == len(self.offset) == view.ndim:
                raise ValueError("%s has %d dimensions, its global_shape %d, and its offset %d" %
                                 (what, view.ndim, len(self.shape), len(self.offset)))
            lists = [_sizes(what, n) for n in (self.shape, self.offset, view.shape, _strides(what, view, element))]
            _call(_library.SCR_Protect_array_strided, self.name, c_void_p(address), c_size_t(element), view.ndim,
                  *lists, alone=True)
        self.kept = kept

    def size(self):
        with contextlib.suppress(Error):
            return region_size(self.name)

    def withdraw(self, reading):
        """It cannot be described.  If READING, its size is made wrong, which is an error on all ranks."""
        self.kept = (c_char * 2)()
        if reading:
            _call(_library.SCR_Protect, self.name, self.kept, c_size_t(2 if self.size() == 1 else 1), c_size_t(1))
        else:
            _library.SCR_Unprotect(self.name)


def _sizes(what, numbers):
    if not all(0 <= n < 1 << 63 for n in numbers):
        raise ValueError("%s: a number in %s is negative, or too large" % (what, tuple(numbers)))
    return (c_size_t * len(numbers))(*numbers)


def _strides(what, view, element):
    """How many elements it is from one to the next in each dimension."""
    strides, step = [], element
    for extent, stride in zip(reversed(view.shape), reversed(view.strides)):
        if view.c_contiguous or extent == 1:
            stride = step
        elif stride <= 0 or stride % element != 0:
            raise ValueError("%s has elements backwards, on one another, or between others; protect a copy" % what)
        strides.insert(0, stride // element)
        step *= extent
    return strides


def protect(name, data, *, global_shape=None, offset=None, resize=None):
    """Name the memory of DATA a region; with GLOBAL_SHAPE and OFFSET, the block of an array that begins at OFFSET.

    DATA is kept, and stays in its place, until unprotect or finalize.  It is changed in place, as u[:] = ... does.  Or
    DATA is a function that returns the array, such as `lambda: u`, and is asked whenever regions are written or read;
    then RESIZE is called before the region is read, with the number of bytes that it has in the checkpoint."""
    if (global_shape is None) != (offset is None):
        raise TypeError("global_shape and offset belong together")
    if resize is not None and not (callable(data) and callable(resize) and offset is None):
        raise TypeError("resize is for a region that a function returns, and not for the block of an array")
    if offset is not None:
        global_shape, offset = ([operator.index(n) for n in (numbers if hasattr(numbers, "__iter__") else [numbers])]
                                for numbers in (global_shape, offset))
    _regions[_text(name)] = _Region(_text(name), data, global_shape, offset, resize)


def unprotect(name):
    _call(_library.SCR_Unprotect, _text(name), alone=True)
    del _regions[_text(name)]


def region_size(name):
    """How many bytes the region NAME has in the loaded checkpoint."""
    size = c_size_t()
    _call(_library.SCR_Region_size, _text(name), byref(size), alone=True)
    return size.value


def save(name=None):
    """Write all regions as a checkpoint."""
    with checkpoint(name):
        put_regions()


def recover():
    """Fill all regions from the newest checkpoint that has regions; return its name, or None."""
    loaded, again = have_restart(), False
    while True:
        failure = _describe(loaded is not None)
        try:
            name = _ask_name(_library.SCR_Recover)
        except Error as why:
            now = have_restart() if why.code == ERR_MISSING else None
            if now is None or (now == loaded and again):
                raise failure or why
            again = now == loaded  # if the newest was damaged, this one has other sizes, and maybe the same name
            loaded = now
        else:
            if failure is not None and name is not None:  # with nothing to read, only the next checkpoint is an error
                raise failure                             # on all ranks
            return name


# Beside files of the program's own, at the beginning of the block of an output or restart.
def put_regions(): _move(False, _library.SCR_Put_regions)
def get_regions(): _move(True, _library.SCR_Get_regions)


def _move(reading, move):
    failure = _describe(reading)
    try:
        _call(move)
    finally:
        if failure is not None:
            raise failure


def _describe(reading):
    """Ask the functions that return regions.  Returns the first exception of one, which is raised after the collective
    call: the other ranks make that, too."""
    first = None
    for region in list(_regions.values()):
        try:
            if callable(region.data):
                region.describe(reading)
        except Exception as why:
            region.withdraw(reading)
            first = first or why
    return first
