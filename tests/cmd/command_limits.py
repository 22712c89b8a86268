"""command_limits.py --command ARRAS -- the command where something is missing that others have: standard files, room
on the stack, room for files, time to end."""

import os
import resource
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
import command_kit
import numpy as np
from tally import Tally

X = np.arange(12.0).reshape(3, 4)
SLOW_COMPILER = """#!/bin/sh
if [ -e first ]; then rm first; exec cc "$@"; fi
touch started
while [ ! -e go ]; do sleep 0.01; done
exec cc "$@"
"""


def wrong(what, got, wanted):
    return [] if got == wanted else [f"{what}: {got!r}, wanted {wanted!r}"]


# ---- Standard files that are closed -------------------------------------------------------------


def close_some(numbers):
    for number in numbers:
        os.close(number)


def check_closed(scratch):
    """What is printed goes into no array, whose file has a number that was free."""
    np.save(scratch / "x.npy", X)
    before = (scratch / "x.npy").read_bytes()
    found = []
    for closed in ([0], [1], [2], [0, 1], [0, 2], [1, 2], [0, 1, 2]):
        for args, sink, wanted in [
            (["run", "y = x + 1", "x=x.npy", "unused=1", "-o", "y.npy"], "y.npy", X + 1),
            (["rechunk", "x.npy", "y.npy"], "y.npy", X),
            (["label", "x.npy", "y.npy"], "y.npy", X > 0),
        ]:
            # Not a pipe, in whose way the numbers would be.
            with open(os.devnull, "r+b") as nothing:
                subprocess.run([scratch.command, *args], cwd=scratch.folder, stdin=nothing, stdout=nothing, stderr=nothing,
                               preexec_fn=lambda: close_some(closed), timeout=600)
            what = f"{args[0]} without {closed}"
            try:
                found += wrong(what, np.array_equal(np.load(scratch / sink), wanted), True)
            except (OSError, ValueError) as error:
                found += [f"{what}: {error}"]
            found += wrong(f"{what}: the input", (scratch / "x.npy").read_bytes() == before, True)
            (scratch / sink).unlink(missing_ok=True)
    return found


# ---- Limits of the shell ------------------------------------------------------------------------


def check_stacks(scratch):
    """`ulimit -s` in KB: however little the first thread has, what takes more has a stack of its own."""
    program = "y[i:30] = " + "sin(" * 180 + "i" + ")" * 180
    found = []
    if command_kit.is_sanitized(scratch.command):
        return found
    wanted = scratch.run("run", program)
    for size in (8192, 1024, 512, 256, 200, 128, 64):
        said = scratch.run("run", program, before=lambda: resource.setrlimit(resource.RLIMIT_STACK, (size << 10, size << 10)))
        found += wrong(f"{size} KB", (said.status, said.err, said.out), (0, "", wanted.out))
    return found


def check_small_files(scratch):
    """`ulimit -f`: a line says so, and nothing is left."""
    np.save(scratch / "x.npy", np.random.default_rng(1).standard_normal((400, 300)))
    start = scratch.names()
    found = []
    for args in (
        ["run", "-q", "y = x*2", "x=x.npy", "-o", "y.npy"],
        ["run", "-q", "y = x*2", "x=x.npy", "-o", "y.h5:/y"],
        ["run", "-q", "y = x*2", "x=x.npy", "-o", "y.zarr"],
        ["rechunk", "--quiet", "x.npy", "y.zarr"],
        ["label", "-q", "x.npy", "y.npy"],
        ["show", "x.npy", "--png", "y.png"],
    ):
        said = scratch.run(*args, before=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048)))
        lines = said.err.count("\n"), "File too large" in said.err
        found += wrong(f"{args}: {said.err}", (said.status, lines), (1, (1, True)))
        found += wrong(f"{args} leaves", scratch.names(), start)
    return found


# ---- Time to end --------------------------------------------------------------------------------


def end_compiling(scratch, sent, *args, stdin=b""):
    """The status of a command that is told to end while its compiler works, and what it leaves."""
    temporary, started, go = scratch / "tmp", scratch / "started", scratch / "go"
    temporary.mkdir()
    without_cache = {"ARRAS_CACHE_DIR": "", "XDG_CACHE_HOME": "", "HOME": ""}
    env = {**os.environ, **without_cache, "ARRAS_CC": str(scratch / "slow"), "TMPDIR": str(temporary)}
    running = subprocess.Popen([scratch.command, *args], cwd=scratch.folder, env=env, stdin=subprocess.PIPE,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    running.stdin.write(stdin)
    running.stdin.flush()
    while not started.exists() and running.poll() is None:
        time.sleep(0.01)
    running.send_signal(sent)
    time.sleep(0.05)  # one that leaves at once has the time for it
    go.touch()
    status = running.wait(timeout=600)
    running.stdin.close()
    left = [path.name for path in temporary.iterdir()]
    for path in (started, go):
        path.unlink()
    for path in [*temporary.glob("*/*"), *temporary.glob("*")]:
        path.unlink() if path.is_file() else path.rmdir()
    temporary.rmdir()
    return status, left


def check_signals(scratch):
    """Who is told to end while it compiles tidies up behind the compiler first."""
    (scratch / "slow").write_text(SLOW_COMPILER)
    (scratch / "slow").chmod(0o755)
    np.save(scratch / "f.npy", np.asfortranarray(np.zeros((1500, 1500))))  # has kernels of its own, built last
    found = []
    for sent in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        for args, stdin in (
            (["run", "y[i:5] = i*1.5"], b""),
            (["run", "y = x*1.5", "x=f.npy"], b""),
            (["repl"], b"y[i:5] = i*1.5\n"),
            (["repl", "x=f.npy"], b"y = x*1.5\n"),
        ):
            if "x=f.npy" in args:
                (scratch / "first").touch()
            said = end_compiling(scratch, sent, *args, stdin=stdin)
            found += wrong(f"{args}, {sent.name}", said, (128 + sent, []))
    return found


def main():
    chosen = command_kit.options(__doc__)
    tally = Tally()
    for name, check in [
        ("standard files that are closed", check_closed),
        ("short stacks", check_stacks),
        ("small files", check_small_files),
        ("signals while it compiles", check_signals),
    ]:
        with command_kit.Scratch(chosen.command) as scratch:
            tally.check(name, check(scratch))
    tally.finish()


main()
