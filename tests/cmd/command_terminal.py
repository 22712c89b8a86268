"""command_terminal.py -- the command in a terminal: progress, Ctrl-C, the width of what is printed.

Nothing here depends on how fast the machine is, or how busy: what is to be interrupted would run for hours, what is
to be waited for waits for this test, and limits only end what hangs."""

import fcntl
import io
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time

sys.dont_write_bytecode = True
import command_kit
import numpy as np
from tally import Tally

CELLS = 2_000_000
# Seconds of work in the evaluator that has no kernels; hours of it.
SLOW = "y = " + "+".join(f"sin({k}*x)" for k in range(1, 13))
ENDLESS = "y[i] = sum[k] sin(x[k]*x[i])"
# A minute of work for two threads with kernels, in which the bar moves.
LONG = ["run", "--threads", "2", ENDLESS, "x=few.npy", "-o", "y.npy"]
FEW = 200_000
LIMIT = 600  # seconds until a test gives up
PROGRESS = re.compile("\r[^\r\x1b]*?([0-9.]+) s\x1b\\[K|\r\x1b\\[K")


class Terminal:
    """A command with a terminal as its standard error, and as its standard output if it is to be."""

    def __init__(self, scratch, *args, columns=80, shows=False, stdin=None):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        self.process = subprocess.Popen(
            [scratch.command, *args],
            cwd=scratch.folder,
            stdin=stdin or slave,
            stdout=slave if shows else subprocess.DEVNULL,
            stderr=slave,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(slave, termios.TIOCSCTTY, 0),
        )
        os.close(slave)
        self.seen = ""

    def read_more(self, wait):
        if not select.select([self.master], [], [], wait)[0]:
            return False
        try:
            self.seen += os.read(self.master, 65536).decode()
            return True
        except OSError:  # the other side is closed
            return False

    def wait_for(self, text, times=1):
        """What is wrong if the text does not appear so often."""
        end = time.monotonic() + LIMIT
        while self.seen.count(text) < times and time.monotonic() < end and self.process.poll() is None:
            self.read_more(0.1)
        seen = self.seen.count(text)
        return [] if seen >= times else [f"waited for {text!r}, {times} times; there was {self.seen!r}"]

    def press(self, key):
        os.write(self.master, key)

    def finish(self):
        status = None
        end = time.monotonic() + LIMIT
        while status is None and time.monotonic() < end:
            self.read_more(0.05)
            status = self.process.poll()
        while self.read_more(0.1):
            pass
        if status is None:
            self.process.kill()
            self.process.wait()
        os.close(self.master)
        return status


def wrong(what, got, wanted):
    return [] if got == wanted else [f"{what}: {got!r}, wanted {wanted!r}"]


def check_progress(scratch):
    """As long as it waits for its input."""
    terminal = Terminal(scratch, "run", "x + 1", "x=-", "-o", "y.npy", stdin=subprocess.PIPE)
    faults = terminal.wait_for("reading")
    array = io.BytesIO()
    np.save(array, np.arange(3))
    terminal.process.stdin.write(array.getvalue())
    terminal.process.stdin.close()
    return (
        faults
        + wrong("status", terminal.finish(), 0)
        + wrong("it was wiped off in the end", terminal.seen.endswith("\r\x1b[K"), True)
        + wrong("the result", list(np.load(scratch / "y.npy")), [1, 2, 3])
        + wrong("files", scratch.names(), ["x.npy", "y.npy"])
    )


def check_bar(scratch):
    """Kernels say how far they are.  Ctrl-C ends them."""
    np.save(scratch / "few.npy", np.linspace(0, 1, FEW))
    terminal = Terminal(scratch, *LONG)
    faults = terminal.wait_for("%", 5)
    terminal.press(b"\x03")
    status = terminal.finish()
    percents = [int(text.split("]")[1].split("%")[0]) for text in terminal.seen.split("\r") if "%" in text]
    return (
        faults
        + wrong("status", status, 130)
        + wrong("they only grow", percents, sorted(percents))
        + wrong("they stay in bounds", all(0 <= p <= 100 for p in percents), True)
        + wrong("files", scratch.names(), ["few.npy", "x.npy"])
    )


def check_quiet(scratch):
    terminal = Terminal(scratch, "run", "--quiet", "--reference", SLOW, "x=x.npy", "-o", "y.npy")
    return wrong("status", terminal.finish(), 0) + wrong("what was shown", terminal.seen, "")


def check_short(scratch):
    """Where the machine makes short work long, progress may be shown: never before half a second."""
    terminal = Terminal(scratch, "run", "[1, 2]*2", shows=True)
    status = terminal.finish()
    ages = [float(age) for age in PROGRESS.findall(terminal.seen) if age]
    return (
        wrong("status", status, 0)
        + wrong("what was shown", PROGRESS.sub("", terminal.seen), "[2 4]\r\n")
        + wrong("progress that came too soon", [age for age in ages if age < 0.5], [])
    )


def check_pipe(scratch):
    said = scratch.run("run", "--reference", SLOW, "x=x.npy", "-o", "y.npy")
    return wrong("status", said.status, 0) + wrong("standard error", said.err, "")


def check_width(scratch):
    terminal = Terminal(scratch, "run", "arange(0, 40)", columns=40, shows=True)
    status = terminal.finish()
    terminal.seen = PROGRESS.sub("", terminal.seen)
    longest = max(map(len, terminal.seen.splitlines()))
    return wrong("status", status, 0) + wrong("the longest line fits", 30 < longest <= 40, True)


def check_interrupt(scratch):
    """Ctrl-C while it computes: it ends with status 130, and the old file is still there."""
    np.save(scratch / "y.npy", np.arange(3))
    terminal = Terminal(scratch, "run", "--reference", ENDLESS, "x=x.npy", "-o", "y.npy")
    faults = terminal.wait_for("computing")
    terminal.press(b"\x03")
    return (
        faults
        + wrong("status", terminal.finish(), 130)
        + wrong("files", scratch.names(), ["x.npy", "y.npy"])
        + wrong("the old file", list(np.load(scratch / "y.npy")), [0, 1, 2])
    )


def wait_for_work(scratch, process):
    """Until the command has begun a file, and has its input in memory; what is wrong if it never does."""
    end = time.monotonic() + LIMIT
    while time.monotonic() < end and process.poll() is None:
        with open(f"/proc/{process.pid}/maps") as maps:
            if "x.npy" in maps.read() and any(name.endswith(".draft") for name in scratch.names()):
                return []
        time.sleep(0.01)
    return [f"waited for a draft and a mapped input; there was {scratch.names()}, status {process.poll()}"]


def start_endless(scratch):
    return subprocess.Popen(
        [scratch.command, "run", "--reference", ENDLESS, "x=x.npy", "-o", "z.npy"],
        cwd=scratch.folder,
        stderr=subprocess.PIPE,
    )


def check_signal(scratch, number):
    process = start_endless(scratch)
    faults = wait_for_work(scratch, process)
    process.send_signal(number)
    process.communicate(timeout=LIMIT)
    return faults + wrong("status", process.returncode, 128 + number) + wrong("files", scratch.names(), ["x.npy"])


def check_shrinking(scratch):
    """An input that becomes shorter while it is read."""
    process = start_endless(scratch)
    faults = wait_for_work(scratch, process)
    os.truncate(scratch / "x.npy", 100)
    said = process.communicate(timeout=LIMIT)[1].decode()
    return (
        faults
        + wrong("status", process.returncode, 1)
        + wrong("said", said.count("\n"), 1)
        + wrong("said why", "became shorter" in said, True)
        + wrong("files", scratch.names(), ["x.npy"])
    )


def check_waiting(scratch):
    """Ctrl-C while it waits for input."""
    terminal = Terminal(scratch, "run", "x + 1", "x=-")
    faults = terminal.wait_for("reading")
    terminal.press(b"\x03")
    return faults + wrong("status", terminal.finish(), 130)


CHECKS = [
    ("who waits is shown progress", check_progress),
    ("kernels show how far they are, until Ctrl-C", check_bar),
    ("--quiet shows none", check_quiet),
    ("short work shows none", check_short),
    ("nor does a pipe", check_pipe),
    ("arrays fit the terminal", check_width),
    ("Ctrl-C", check_interrupt),
    ("Ctrl-C while waiting for input", check_waiting),
    ("an input shrinks", check_shrinking),
    ("SIGTERM", lambda scratch: check_signal(scratch, signal.SIGTERM)),
    ("SIGHUP", lambda scratch: check_signal(scratch, signal.SIGHUP)),
]


def main():
    chosen = command_kit.options(__doc__)
    tally = Tally()
    for name, check in CHECKS:
        with command_kit.Scratch(chosen.command) as scratch:
            np.save(scratch / "x.npy", np.linspace(0, 1, CELLS))
            tally.check(name, check(scratch))
    tally.finish()


main()
