"""store_kit.py -- for tests in Python of arrays in files: runs store_tool, compares what it says."""

import os
import subprocess
from pathlib import Path

import numpy as np

CODES = "b1 i1 i2 i4 i8 u1 u2 u4 u8 f4 f8 c8 c16".split()
NAMES = "bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 c64 c128".split()
NUMPY = {name: np.dtype(code) for name, code in zip(NAMES, CODES)}
ARRAS = {np.dtype(code): name for name, code in zip(NAMES, CODES)}


class Tool:
    """The program store_tool, in a folder of its own."""

    def __init__(self, program, folder):
        self.program = str(Path(program).resolve())
        self.folder = Path(folder)

    def run(self, *args, stdin=b"", threads=1, missing=None):
        """What it printed, and the line that says why it failed; a crash is not a failure."""
        ran = subprocess.run(
            [self.program, *map(str, args)],
            input=stdin,
            capture_output=True,
            cwd=self.folder,
            env={**os.environ, "THREADS": str(threads), **({} if missing is None else {"MISSING": str(missing)})},
            timeout=600,
        )
        said = ran.stderr.decode(errors="replace").strip()
        if ran.returncode not in (0, 1) or (ran.returncode == 1) != said.startswith("store_tool: "):
            raise RuntimeError(f"store_tool {' '.join(map(str, args))}: status {ran.returncode}: {said}")
        if "\n" in said or (ran.returncode == 1 and len(said) < 20):
            raise RuntimeError(f"not one line that says what is wrong: {said!r}")
        return ran.stdout, said.removeprefix("store_tool: ")

    def info(self, place, missing=None):
        """Properties, then attributes; 'error' when it was refused."""
        out, said = self.run("info", place, missing=missing)
        if said:
            return {"error": said}
        lines = out.decode(errors="replace").splitlines()
        pairs = [line.split(": ", 1) if ": " in line else (line.rstrip(":"), "") for line in lines]
        return dict(reversed(pairs))  # an attribute may be called as a property

    def read(self, place, box=None, threads=1, missing=None):
        """An array, or the line that says why not."""
        info = self.info(place, missing)
        if "error" in info:
            return info["error"]
        shape = [int(n) for n in info["shape"].split()]
        if box:
            shape = [hi - lo for lo, hi in box]
        arguments = [",".join(f"{lo}:{hi}" for lo, hi in box)] if box else []
        out, said = self.run("read", place, *arguments, threads=threads, missing=missing)
        return said or np.frombuffer(out, NUMPY[info["dtype"]]).reshape(shape)

    def write(self, place, array, chunk=None, codecs="-", *options, threads=1):
        """The line that says why not; '' when it was written."""

        def numbers(list):
            return ",".join(map(str, list)) if list else "-"

        return self.run("write", place, ARRAS[array.dtype], numbers(array.shape), numbers(chunk), codecs, *options,
                        stdin=array.tobytes(), threads=threads)[1]


def differences(got, want):
    """Complaints about an array that should have these bits."""
    want = np.asarray(want)
    if isinstance(got, str):
        return [f"refused: {got}"]
    native = want.astype(want.dtype.newbyteorder("="), copy=False)
    if got.dtype != native.dtype or got.shape != native.shape:
        return [f"{got.dtype}{got.shape} instead of {native.dtype}{native.shape}"]
    if got.tobytes() == np.ascontiguousarray(native).tobytes():
        return []
    return [f"{got.ravel()[:8]}... instead of {native.ravel()[:8]}..."]


def cells(random, dtype, shape):
    """Any bits, but for booleans."""
    dtype = np.dtype(dtype)
    count = int(np.prod(shape, dtype=np.int64))
    if dtype.kind == "b":
        return random.integers(0, 2, shape).astype(dtype)
    if dtype.kind == "f" or dtype.kind == "c":
        parts = random.integers(-1000, 1000, (2, *shape)) / 8
        return (parts[0] + 1j * parts[1] if dtype.kind == "c" else parts[0]).astype(dtype)
    return np.frombuffer(random.bytes(count * dtype.itemsize), dtype).reshape(shape)


def random_box(random, shape):
    ends = [sorted(int(random.integers(0, n + 1)) for _ in range(2)) for n in shape]
    return [(lo, hi) for lo, hi in ends]


def cut(box):
    return tuple(slice(lo, hi) for lo, hi in box)
