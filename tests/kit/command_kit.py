"""command_kit.py -- for tests of the arras command: runs it in a scratch folder."""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

# NumPy 1.24 does as NumPy 2 in this state, which must be set before it is loaded.
if os.environ.get("NPY_PROMOTION_STATE") != "weak":
    os.execve(
        sys.executable, [sys.executable] + sys.argv, {**os.environ, "NPY_PROMOTION_STATE": "weak"}
    )


class Said(NamedTuple):
    status: int
    out: str
    err: str
    raw: bytes  # of standard output


# A process begins with the memory of the one that starts it as its peak: this one starts the command from a small one.
MEASURE = """
import resource, subprocess, sys
status = subprocess.call(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
print(status, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss << 10)
"""


class Scratch:
    """A folder to run the command in; it is gone at the end of the `with`."""

    def __init__(self, command):
        self.command = str(Path(command).resolve())

    def __enter__(self):
        self.folder = Path(tempfile.mkdtemp())
        return self

    def __exit__(self, *unused):
        for path in self.folder.rglob("*"):
            if path.is_dir():
                path.chmod(0o755)
        shutil.rmtree(self.folder)

    def run(self, *args, stdin=b"", stdout=subprocess.PIPE, env=None, user=None, before=None):
        """before: a function that is called in the new process first."""
        ran = subprocess.run(
            [self.command, *map(str, args)],
            input=stdin,
            stdout=stdout,
            stderr=subprocess.PIPE,
            cwd=self.folder,
            env={**os.environ, **(env or {})},
            timeout=600,
            user=user,
            preexec_fn=before,
        )
        raw = ran.stdout or b""
        return Said(ran.returncode, raw.decode(errors="replace"), ran.stderr.decode(), raw)

    def measure(self, *args):
        """The command's exit status, the bytes it had resident at most, and its standard error."""
        measured = [sys.executable, "-S", "-c", MEASURE, self.command, *map(str, args)]
        ran = subprocess.run(measured, capture_output=True, text=True, cwd=self.folder, timeout=600)
        assert ran.returncode == 0, ran.stderr
        status, peak = map(int, ran.stdout.split())
        return status, peak, ran.stderr

    def __truediv__(self, name):
        return self.folder / name

    def names(self):
        return sorted(path.name for path in self.folder.iterdir())


def is_sanitized(command):
    """Sanitizers take memory of their own."""
    with open(command, "rb") as file:
        return b"__asan_init" in file.read()


def options(description, *more):
    """--command PATH, and --NAME N for each (name, default)."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--command", required=True, help="path of the arras command")
    for name, default in more:
        parser.add_argument(f"--{name}", type=int, default=default)
    return parser.parse_args()
