"""command_repeat.py -- `arras run` with --repeat, --until and --feed: the steps NumPy takes, in memory and from file
to file."""

import sys

sys.dont_write_bytecode = True
import command_kit
import numpy as np
from tally import Tally

SMOOTH = "edge x = nearest\ny[i] = (x[i-1] + x[i+1])/2\n"
DONE = "done = max(abs(y - x)) < 0.5\n"
N = 400000


def step(x):
    i = np.arange(len(x))
    return (x[np.maximum(i - 1, 0)] + x[np.minimum(i + 1, len(x) - 1)]) / 2


def steps(x, n):
    for _ in range(n):
        x = step(x)
    return x


def steps_until_done(x):
    n = 1
    while np.abs(step(x) - x).max() >= 0.5:
        x, n = step(x), n + 1
    return step(x), n


def check_loop(tally, scratch, what, expected, says, *arguments):
    ran = scratch.run("run", *arguments, "x=x.npy", "-o", "y=y.npy", "--feed", "y=x", env={"TMPDIR": scratch.folder})
    wrong = [] if ran.status == 0 and ran.err == says else [f"status {ran.status}: {ran.err}"]
    if not wrong and not np.array_equal(np.load(scratch / "y.npy"), expected):
        wrong = ["other numbers"]
    left = [name for name in scratch.names() if name not in ("x.npy", "y.npy")]
    tally.check(what, wrong + [f"{name} is left" for name in left])
    (scratch / "y.npy").unlink(missing_ok=True)


def check_refused(tally, scratch, part, *arguments):
    ran = scratch.run("run", "y = x + 1", "x=0", *arguments)
    tally.check(part, [] if ran.status == 1 and part in ran.err else [f"status {ran.status}: {ran.err}"])


def main():
    options = command_kit.options(__doc__)
    tally = Tally()
    x = np.random.default_rng(1).random(N)
    until, count = steps_until_done(x)
    with command_kit.Scratch(options.command) as scratch:
        np.save(scratch / "x.npy", x)
        for memory in ([], ["--memory", "4M"]):
            how = f"{memory[1]} of memory" if memory else "in memory"
            check_loop(tally, scratch, f"5 steps, {how}", steps(x, 5), "5 steps\n", SMOOTH, "--repeat", 5, *memory)
            check_loop(tally, scratch, f"until done, {how}", until, f"{count} steps\n", SMOOTH + DONE, "--until",
                       "done", *memory)
            check_loop(tally, scratch, f"at most 2, {how}", steps(x, 2), "2 steps\n", SMOOTH + DONE, "--until", "done",
                       "--repeat", 2, *memory)
        ran = scratch.run("run", "y = x + 1", "x=0", "--feed", "y=x", "--repeat", 3, "-q")
        tally.check("counted", [] if ran.out == "3\n" and not ran.err else [ran.out + ran.err])
        check_refused(tally, scratch, "say which result becomes which input", "--repeat", 3)
        check_refused(tally, scratch, "how often?", "--feed", "y=x")
        check_refused(tally, scratch, "expected RESULT=INPUT", "--feed", "y", "--repeat", 3)
        check_refused(tally, scratch, "z", "--feed", "z=x", "--repeat", 3)
        check_refused(tally, scratch, "what it is in the first step is not bound", "--feed", "y=w", "--repeat", 3)
    tally.finish()


main()
