"""command_rivals.py --command ARRAS [--rounds N] -- two processes that write one output at the same time: whatever happens
first, what is there afterwards is whole and is what those wrote who said that all is well; the others say in one line what
happened, and nothing is left lying about."""

import os
import shutil
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
from command_kit import Scratch, options

import numpy as np
from tally import Tally

ROWS, COLUMNS = 64, 4096
PATIENCE = 60  # seconds, of a machine that does other things, too


def array(value):
    return value + np.arange(COLUMNS, dtype="i8")[None, :] + 0 * np.arange(ROWS, dtype="i8")[:, None]


PROGRAM = f"y[i:{ROWS},j:{COLUMNS}] = {{}} + j + 0*i"


def start(scratch, args):
    return subprocess.Popen([scratch.command, *map(str, args)], cwd=scratch.folder, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(process):
    """None when all went well, otherwise the line that says why not."""
    out, said = process.communicate(timeout=PATIENCE)
    return None if process.returncode == 0 and not said else said or f"status {process.returncode} without a word"


def at_once(scratch, commands):
    processes = [start(scratch, command) for command in commands]
    return [finish(process) for process in processes]


def one_held(scratch, commands):
    """The first is stopped as soon as it has begun to write (a draft, or a lock), the others run, then it goes on."""
    before = set(scratch.folder.rglob("*"))
    first, until = start(scratch, commands[0]), time.monotonic() + PATIENCE
    while first.poll() is None and set(scratch.folder.rglob("*")) <= before and time.monotonic() < until:
        pass
    held = first.poll() is None
    if held:
        os.kill(first.pid, signal.SIGSTOP)
    others = at_once(scratch, commands[1:])
    if held:
        os.kill(first.pid, signal.SIGCONT)
    return [finish(first), *others]


def run(value, sink, *more):
    chunk = [] if sink.endswith((".npy", "+")) else ["--chunk", f"4,{COLUMNS}"]
    return ["run", PROGRAM.format(value), "-o", f"y={sink}", "-q", *chunk, *more]


# ---- What is there afterwards --------------------------------------------------------------------


def read(scratch, place):
    """By the command, which knows all formats; None: it is not there."""
    said = scratch.run("run", "z = y", f"y={place}", "-o", "z=read.npy", "-q")
    if said.status:
        return None
    cells = np.load(scratch / "read.npy")
    (scratch / "read.npy").unlink()
    return cells


def line_complaints(said):
    return [f"not one clear line: {line!r}" for line in said if line is not None and (line.count("\n") != 1 or len(line) < 30)]


def leftovers(scratch):
    return [f"{path.relative_to(scratch.folder)} is left" for path in scratch.folder.rglob("*")
            if path.name.endswith((".draft", ".new", ".partial")) or ".draft" in str(path)]


def check_one_place(scratch, place, values, said, replaced):
    """All wrote to one place: one of them is there; of places that are not replaced exactly one did well."""
    good = [value for value, line in zip(values, said) if line is None]
    cells = read(scratch, place)
    wrong = [] if any(cells is not None and np.array_equal(cells, array(v)) for v in good) else [f"{place} is none of {good}"]
    if not replaced and len(good) != 1:
        wrong.append(f"{len(good)} of {len(said)} did well: {said}")
    return wrong + line_complaints(said)


def check_places(scratch, places, said):
    """Each wrote to a place of its own."""
    wrong = [] if None in said else [f"none did well: {said}"]
    for value, (place, line) in enumerate(zip(places, said)):
        cells = read(scratch, place)
        if line is None and (cells is None or not np.array_equal(cells, array(value))):
            wrong.append(f"{place} was written, and is not there: {said}")
        if line is not None and cells is not None:
            wrong.append(f"{place} was not written, and is there: {line}")
    return wrong + line_complaints(said)


def check_appended(scratch, place, said, before):
    """As many rows as those appended who did well, each of them whole."""
    cells, good = read(scratch, place), [v for v, line in enumerate(said) if line is None]
    parts = [] if cells is None else [int(part[0, 0]) for part in np.split(cells, len(cells) // ROWS)]
    whole = cells is not None and np.array_equal(cells, np.concatenate([array(part) for part in parts]))
    wrong = [] if whole and sorted(parts) == sorted([*before, *good]) else [f"{place} has {parts}, not {before} and {good}"]
    return wrong + ([] if good else [f"none did well: {said}"]) + line_complaints(said)


# ---- Two who want the same -----------------------------------------------------------------------


def clean(scratch):
    for path in sorted(scratch.folder.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()


def new_outputs(scratch, together):
    for sink in ("x.npy", "x.h5:/a", "x.nc:a", "x.zarr", "x.zarr:/g/a"):
        clean(scratch)
        yield sink, check_one_place(scratch, sink, (0, 1), together(scratch, [run(v, sink) for v in (0, 1)]), sink == "x.npy")
    for sinks in (("x.h5:/a", "x.h5:/g/b"), ("x.nc:a", "x.nc:b"), ("x.zarr:/a", "x.zarr:/b"), ("x.zarr:/g/a", "x.zarr:/g/h/b")):
        clean(scratch)
        said = together(scratch, [run(v, sink) for v, sink in enumerate(sinks)])
        yield f"new {sinks}", check_places(scratch, sinks, said) + ([str(said)] if ".zarr" in sinks[0] and any(said) else [])


def old_outputs(scratch, together):
    for sinks in (("x.h5:/a", "x.h5:/g/b"), ("x.zarr:/a", "x.zarr:/g/b")):
        clean(scratch)
        first = scratch.run(*run(7, sinks[0].split(":")[0] + ":/old"))
        yield f"{sinks} beside another", check_places(scratch, sinks, together(scratch, [run(v, s) for v, s in enumerate(sinks)]))
        old = read(scratch, sinks[0].split(":")[0] + ":/old")
        yield "which is still there", [] if first.status == 0 and np.array_equal(old, array(7)) else [first.err]


def appended(scratch, together):
    for sink in ("x.h5:/a", "x.zarr", "x.zarr:/g/a"):
        clean(scratch)
        scratch.run(*run(7, sink + "+"))
        said = together(scratch, [run(v, sink + "+") for v in (0, 1)])
        yield f"{sink}+", check_appended(scratch, sink, said, [7])


def resumed(scratch, together):
    for sink in ("x.npy", "x.h5:/a", "x.zarr:/a"):
        clean(scratch)
        same = [run(0, sink, "--resume", "--memory", "16M")] * 2
        said = together(scratch, same)
        cells = read(scratch, sink)
        wrong = [] if cells is not None and np.array_equal(cells, array(0)) else ["it is not there"]
        if any(line and "already" in line for line in said):  # who comes too late keeps what was computed, to go on with
            for folder in scratch.folder.glob(".*.partial"):
                shutil.rmtree(folder)
        yield f"{sink} resumed twice", wrong + ([] if None in said else [str(said)]) + line_complaints(said)


def other_commands(scratch, together):
    for sink in ("y.h5:/a", "y.zarr", "y.zarr:/g/a"):
        clean(scratch)
        scratch.run(*run(0, "x.zarr"))
        said = together(scratch, [["rechunk", "x.zarr", sink, "--chunk", f"{n},{COLUMNS}", "--quiet"] for n in (3, 5)])
        yield f"rechunk to {sink}", check_one_place(scratch, sink, (0, 0), said, False)
        clean(scratch)
        scratch.run(*run(0, "x.zarr"))
        said = together(scratch, [["label", "x.zarr", sink, "-q", "--above", n] for n in (5, 9)])
        yield f"label to {sink}", ([] if said.count(None) == 1 and read(scratch, sink) is not None else [str(said)]) + line_complaints(said)


def main():
    arguments = options(__doc__, ("rounds", 1))
    tally = Tally()
    with Scratch(arguments.command) as scratch:
        for number in range(arguments.rounds):
            for together in (at_once, one_held):
                for kind in (new_outputs, old_outputs, appended, resumed, other_commands):
                    for what, wrong in kind(scratch, together):
                        tally.check(f"{number}: {together.__name__}: {what}", wrong + leftovers(scratch))
    tally.finish()


main()
