"""command_terminal.py -- the command in a terminal: progress, Ctrl-C, the width of what is printed."""

import fcntl
import os
import pty
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
# Seconds of work in the evaluator that has no kernels.
SLOW = "y = " + "+".join(f"sin({k}*x)" for k in range(1, 13))
# A second or two of work for two threads with kernels.
LONG = ["run", "--threads", "2", "y[i] = sum[k] sin(x[k]*x[i])", "x=few.npy", "-o", "y.npy"]
FEW = 36_000
LIMIT = 60  # seconds until a test gives up


class Terminal:
    """A command with a terminal as its standard error, and as its standard output if it is to be."""

    def __init__(self, scratch, *args, columns=80, shows=False):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        self.process = subprocess.Popen(
            [scratch.command, *args],
            cwd=scratch.folder,
            stdin=slave,
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

    def wait_for(self, text):
        """Whether the text was seen before the limit."""
        end = time.monotonic() + LIMIT
        while text not in self.seen and time.monotonic() < end and self.process.poll() is None:
            self.read_more(0.1)
        return text in self.seen

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
    terminal = Terminal(scratch, "run", "--reference", SLOW, "x=x.npy", "-o", "y.npy")
    shown = terminal.wait_for("computing")
    status = terminal.finish()
    wiped = terminal.seen.endswith("\r\x1b[K")
    return (
        wrong("status", status, 0)
        + wrong("progress was shown", shown, True)
        + wrong("it was wiped off in the end", wiped, True)
        + wrong("files", scratch.names(), ["x.npy", "y.npy"])
    )


def check_bar(scratch):
    """Kernels say how far they are."""
    np.save(scratch / "few.npy", np.linspace(0, 1, FEW))
    terminal = Terminal(scratch, *LONG)
    status = terminal.finish()
    percents = [int(text.split("]")[1].split("%")[0]) for text in terminal.seen.split("\r") if "]" in text]
    return (
        wrong("status", status, 0)
        + wrong("percents were shown", len(percents) > 0, True)
        + wrong("they only grow", percents, sorted(percents))
        + wrong("they stay in bounds", all(0 <= p <= 100 for p in percents), True)
    )


def check_interrupted_kernel(scratch):
    np.save(scratch / "few.npy", np.linspace(0, 1, FEW))
    terminal = Terminal(scratch, *LONG)
    shown = terminal.wait_for("computing [")
    terminal.press(b"\x03")
    return (
        wrong("progress was shown", shown, True)
        + wrong("status", terminal.finish(), 130)
        + wrong("files", scratch.names(), ["few.npy", "x.npy"])
    )


def check_quiet(scratch):
    terminal = Terminal(scratch, "run", "--quiet", "--reference", SLOW, "x=x.npy", "-o", "y.npy")
    return wrong("status", terminal.finish(), 0) + wrong("what was shown", terminal.seen, "")


def check_short(scratch):
    terminal = Terminal(scratch, "run", "[1, 2]*2", shows=True)
    return wrong("status", terminal.finish(), 0) + wrong("what was shown", terminal.seen, "[2 4]\r\n")


def check_pipe(scratch):
    said = scratch.run("run", "--reference", SLOW, "x=x.npy", "-o", "y.npy")
    return wrong("status", said.status, 0) + wrong("standard error", said.err, "")


def check_width(scratch):
    terminal = Terminal(scratch, "run", "arange(0, 40)", columns=40, shows=True)
    status = terminal.finish()
    longest = max(map(len, terminal.seen.splitlines()))
    return wrong("status", status, 0) + wrong("the longest line fits", 30 < longest <= 40, True)


def check_interrupt(scratch):
    """Ctrl-C while it computes: at once, with status 130, and the old file is still there."""
    np.save(scratch / "y.npy", np.arange(3))
    terminal = Terminal(scratch, "run", "--reference", SLOW, "x=x.npy", "-o", "y.npy")
    shown = terminal.wait_for("computing")
    began = time.monotonic()
    terminal.press(b"\x03")
    status = terminal.finish()
    return (
        wrong("progress was shown", shown, True)
        + wrong("status", status, 130)
        + wrong("it ended within half a second", time.monotonic() - began < 0.5, True)
        + wrong("files", scratch.names(), ["x.npy", "y.npy"])
        + wrong("the old file", list(np.load(scratch / "y.npy")), [0, 1, 2])
    )


def wait_for_file(scratch):
    """Until the command has begun to write."""
    end = time.monotonic() + LIMIT
    while not any(name.endswith(".draft") for name in scratch.names()) and time.monotonic() < end:
        time.sleep(0.01)


def check_signal(scratch, number):
    process = subprocess.Popen(
        [scratch.command, "run", "--reference", SLOW, "x=x.npy", "-o", "z.npy"], cwd=scratch.folder
    )
    wait_for_file(scratch)
    process.send_signal(number)
    status = process.wait(LIMIT)
    return wrong("status", status, 128 + number) + wrong("files", scratch.names(), ["x.npy"])


def check_shrinking(scratch):
    """An input that becomes shorter while it is read."""
    process = subprocess.Popen(
        [scratch.command, "run", "--reference", SLOW, "x=x.npy", "-o", "z.npy"],
        cwd=scratch.folder,
        stderr=subprocess.PIPE,
    )
    wait_for_file(scratch)
    time.sleep(0.2)
    os.truncate(scratch / "x.npy", 100)
    said = process.communicate(timeout=LIMIT)[1].decode()
    return (
        wrong("status", process.returncode, 1)
        + wrong("said", said.count("\n"), 1)
        + wrong("said why", "became shorter" in said, True)
        + wrong("files", scratch.names(), ["x.npy"])
    )


def check_waiting(scratch):
    """Ctrl-C while it waits for input."""
    terminal = Terminal(scratch, "run", "x + 1", "x=-")
    shown = terminal.wait_for("reading")
    terminal.press(b"\x03")
    return wrong("progress was shown", shown, True) + wrong("status", terminal.finish(), 130)


CHECKS = [
    ("long work shows progress", check_progress),
    ("kernels show how far they are", check_bar),
    ("--quiet shows none", check_quiet),
    ("short work shows none", check_short),
    ("nor does a pipe", check_pipe),
    ("arrays fit the terminal", check_width),
    ("Ctrl-C", check_interrupt),
    ("Ctrl-C while kernels run", check_interrupted_kernel),
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
