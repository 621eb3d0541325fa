"""heat2d.py - the solver of examples/heat2d.c in Python, with scr.py, NumPy and mpi4py.

The files of its checkpoints are those of the C program, so each continues a run that the other has begun.  Both end
with the same result, bit for bit, unless the C compiler fuses multiplications and additions, as on some processors it
does.  The options and what is printed are the same, too.

  mpicc -shared -fPIC -DSCR_API=extern scr_impl.c scr_python.c -o libscr_python.so -lz -lpthread
  mpiexec -n 4 python3 heat2d.py --nx 1024 --ny 1024 --steps 1000 --interval 100
"""
import os
import signal
import struct
import sys
import time
import zlib

import numpy as np
from mpi4py import MPI

import scr

# A file of a checkpoint is this header and the points.  It has: magic, step, nx, ny, ranks, x0, y0, w, h, residual, the
# CRC32 of the points, and that of the header before this member.
HEADER = struct.Struct("=9Qd2Q")
MAGIC = 0x3130643274616568  # "heat2d01"; differs on a machine with the other byte order


def part_start(n, parts, i):
    """The first point of part I if N points are cut into PARTS."""
    return n * i // parts


class Block:
    """The block of this rank: h x w points with a frame of one point."""

    def __init__(self, nx, ny):
        self.nx, self.ny, self.ranks = nx, ny, MPI.COMM_WORLD.size
        self.dims = MPI.Compute_dims(self.ranks, 2)  # ranks down and across
        if self.dims[0] > ny or self.dims[1] > nx:
            raise ValueError("grid too small for so many ranks")
        self.comm = MPI.COMM_WORLD.Create_cart(self.dims)  # rank numbers are those of COMM_WORLD
        self.rank = self.comm.rank
        (self.up, self.down), (self.left, self.right) = self.comm.Shift(0, 1), self.comm.Shift(1, 1)
        self.y0, self.x0, self.h, self.w = self.place(self.rank)
        ax, ay = (nx + 1.0) * (nx + 1), (ny + 1.0) * (ny + 1)
        self.cx, self.cy = 0.4 * ax / (ax + ay), 0.4 * ay / (ax + ay)  # cx + cy = 0.4; stable up to 0.5
        self.init()

    def place(self, rank):
        """The first point and the size of the block of a rank."""
        (row, column), (rows, columns) = divmod(rank, self.dims[1]), self.dims
        y0, x0 = part_start(self.ny, rows, row), part_start(self.nx, columns, column)
        return y0, x0, part_start(self.ny, rows, row + 1) - y0, part_start(self.nx, columns, column + 1) - x0

    def init(self):
        """The initial values and the walls, from the position in the whole grid only."""
        py = (self.y0 + np.arange(self.h + 2.0))[:, None] / (self.ny + 1)
        px = (self.x0 + np.arange(self.w + 2.0)) / (self.nx + 1)
        middle = (px > 0.35) & (px < 0.65) & (py > 0.35) & (py < 0.65)
        self.u = np.where(self.x0 + np.arange(self.w + 2) == 0, 4 * py * (1 - py), np.where(middle, 1.0, 0.0))
        self.residual = 0.0

    @property
    def points(self):
        return self.u[1:-1, 1:-1]

    def exchange_halo(self):
        """Send each border to the neighbour there, and receive the points behind the border across."""
        u = self.u
        for to, border, source, frame in ((self.up, u[1, 1:-1], self.down, u[-1, 1:-1]),
                                          (self.down, u[-2, 1:-1], self.up, u[0, 1:-1]),
                                          (self.left, u[1:-1, 1], self.right, u[1:-1, -1]),
                                          (self.right, u[1:-1, -2], self.left, u[1:-1, 0])):
            got = frame.copy()  # a wall stays what it is
            self.comm.Sendrecv(border.copy(), dest=to, recvbuf=got, source=source)
            frame[:] = got

    def step(self):
        self.exchange_halo()
        c, n, s, w, e = self.points, self.u[:-2, 1:-1], self.u[2:, 1:-1], self.u[1:-1, :-2], self.u[1:-1, 2:]
        d = self.cx * (w - 2 * c + e) + self.cy * (n - 2 * c + s)
        c += d
        self.residual = float(np.abs(d).max())

    def global_crc(self):
        """The CRC32 of the field, by rows of the whole grid, on rank 0 (elsewhere 0)."""
        if self.rank != 0:
            self.comm.Send(self.points.copy(), dest=0)
            return 0
        whole = np.empty((self.ny, self.nx))
        for rank in range(self.ranks):
            y0, x0, h, w = self.place(rank)
            part = self.points.copy() if rank == 0 else np.empty((h, w))
            if rank != 0:
                self.comm.Recv(part, source=rank)
            whole[y0:y0 + h, x0:x0 + w] = part
        return zlib.crc32(whole)

    def file_name(self, checkpoint):
        return "%s/rank_%d.heat" % (checkpoint, self.rank)

    def header(self, step, residual, data_crc):
        e = HEADER.pack(MAGIC, step, self.nx, self.ny, self.ranks, self.x0, self.y0, self.w, self.h, residual, data_crc,
                        0)[:-8]
        return e + struct.pack("=Q", zlib.crc32(e))

    def save(self, file, step, kill_here):
        """Write the block at STEP."""
        data = self.points.tobytes()
        half = self.h // 2 * self.w * 8
        with open(file, "wb") as f:
            f.write(self.header(step, self.residual, zlib.crc32(data)))
            f.write(data[:half])
            if kill_here:
                self.crash(f, step)
            f.write(data[half:])

    def load(self, file):
        """Read the block, and return its step.  A file of another grid or rank, or that is damaged, is an exception."""
        with open(file, "rb") as f:
            head, data = f.read(HEADER.size), f.read()
        if len(head) < HEADER.size or HEADER.unpack(head)[0] != MAGIC:
            raise ValueError("it is not a heat2d checkpoint")
        step, residual, data_crc = (HEADER.unpack(head)[i] for i in (1, 9, 10))
        if head != self.header(step, residual, data_crc):
            raise ValueError("it belongs to another grid or rank, or its header is damaged")
        if len(data) != self.points.size * 8:
            raise ValueError("it has the wrong length")
        if zlib.crc32(data) != data_crc:
            raise ValueError("it is damaged")
        self.init()
        self.points[:] = np.frombuffer(data).reshape(self.points.shape)
        self.residual = residual
        return step

    def crash(self, f, step):
        """--kill-at: kill every rank when half of each file is written."""
        f.flush()
        self.comm.Barrier()
        if self.rank == 0:
            say("step %d: half of each checkpoint file is written; SIGKILL to every rank" % step)
        self.comm.Barrier()
        os.kill(os.getpid(), signal.SIGKILL)


def say(text):
    print("heat2d: " + text, flush=True)  # so that the output of a killed run is not lost


def checkpoint(b, step, kill_here):
    """Save STEP.  After a failure the run goes on, because the older checkpoint is still there."""
    start, name = time.time(), "heat.%d" % step
    try:
        with scr.checkpoint(name) as c:
            b.save(c.route(b.file_name(name)), step, kill_here)
        if b.rank == 0:
            say("checkpoint %s in %.3f s" % (name, time.time() - start))
    except (scr.Error, OSError) as why:
        print("heat2d: rank %d: %s; going on" % (b.rank, why), file=sys.stderr)


def solve(b, o):
    step, start = 0, time.time()

    def read(r):
        nonlocal step
        step = b.load(r.route(b.file_name(r.name)))

    with scr.session(b.comm):
        if b.rank == 0:
            say("%d x %d points on %d x %d ranks, SCR_Init took %.3f s" %
                (b.nx, b.ny, b.dims[1], b.dims[0], time.time() - start))
        name = scr.resume(read)
        if name is None:
            step = 0
            b.init()  # one that is rejected may have been read on this rank
        elif b.rank == 0:
            say("restarted from %s, at step %d" % (name, step))
        stop = scr.should_exit()  # asked before the first checkpoint, so that the library leaves the exit to us
        while step < o["--steps"] and not stop:
            b.step()
            step += 1
            kill_here = step == o["--kill-at"]
            if kill_here or o["--interval"] > 0 and step % o["--interval"] == 0:
                if scr.need_checkpoint() or kill_here:
                    checkpoint(b, step, kill_here)
                stop = scr.should_exit()
        residual, crc = b.comm.allreduce(b.residual, op=MPI.MAX), b.global_crc()
        if b.rank == 0:
            if step < o["--steps"]:
                say("asked to stop before step %d" % o["--steps"])
            say("step %d residual %.9e crc32 0x%08x time %.2f s" % (step, residual, crc, time.time() - start))


def read_options(arguments, o):
    """Returns the argument that is not an option or has no possible value, or None."""
    for option, value in zip(arguments[::2], arguments[1::2] + [""]):
        lowest = 0 if option in ("--steps", "--interval") else 1
        if option not in o or value == "":
            return option
        if not value.isascii() or not value.isdigit() or int(value) < lowest:
            return value
        o[option] = int(value)
    return None


def main():
    o = {"--nx": 512, "--ny": 512, "--steps": 1000, "--interval": 100, "--kill-at": -1}
    bad = read_options(sys.argv[1:], o)
    try:
        if bad is None:
            solve(Block(o["--nx"], o["--ny"]), o)
            return 0
        why = "unknown option, or bad value for it: %s" % bad
    except (scr.Error, ValueError) as error:  # the same on all ranks, which end together
        why = "%s; giving up" % error
    if MPI.COMM_WORLD.rank == 0:
        print("heat2d: " + why, file=sys.stderr)
    return 1 if bad is None else 2


if __name__ == "__main__":
    sys.exit(main())
