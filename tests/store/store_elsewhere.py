"""store_elsewhere.py --tool STORE_TOOL -- HDF5 datasets whose cells are in other files or datasets, against h5py:
virtual ones, also those made of themselves; external ones, also in what is no file; and files others write."""

import argparse
import os
import sys
import tempfile
import time

sys.dont_write_bytecode = True
import h5py
import numpy as np
from store_kit import Tool, differences
from tally import Tally

CELLS = np.arange(4.0)


def virtual(path, *sources, shape=(4,), inside="x"):
    """A row of cells: each that of its place in a source, (file, dataset)."""
    with h5py.File(path, "a", libver="latest") as f:
        layout = h5py.VirtualLayout(shape=shape, dtype="f8")
        for i, (file, dataset) in enumerate(sources):
            layout[i] = h5py.VirtualSource(file, dataset, shape=(4,))[i]
        f.create_virtual_dataset(inside, layout, fillvalue=-1)


def without_end(path, file, dataset, blocks, inside=b"x"):
    """A virtual dataset that is as long as its source; or made of blocks of 4 cells, the source's name numbered."""
    with h5py.File(path, "a", libver="latest") as f:
        whole = h5py.h5s.create_simple((4,), (h5py.h5s.UNLIMITED,))
        whole.select_hyperslab((0,), (h5py.h5s.UNLIMITED,), (4,) if blocks else None, (4,) if blocks else (1,))
        source = h5py.h5s.create_simple((4,)) if blocks else whole
        how = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        how.set_virtual(whole, file, dataset, source)
        h5py.h5d.create(f.id, inside, h5py.h5t.NATIVE_DOUBLE, whole, how)


def with_cells(path, **more):
    with h5py.File(path, "w") as f:
        f["y"] = CELLS
        for name, cells in more.items():
            f[name] = cells


def says(tally, what, said, words):
    tally.check(what, [] if isinstance(said, str) and words in said else [str(said)])


def check_virtual(tool, tally):
    folder = tool.folder
    (folder / "below").mkdir()
    for name in ("one.h5", "two.h5", "below/three.h5", "numbered.h5"):
        with_cells(folder / name, y0=CELLS, y1=CELLS + 4)
    virtual(folder / "one.h5", *[(".", "y")] * 4)
    virtual(folder / "two.h5", ("none.h5", "y"), ("one.h5", "y"), ("one.h5", "none"), ("one.h5", "x"))
    virtual(folder / "below/three.h5", ("../one.h5", "x"), ("three.h5", "y"), (str(folder / "two.h5"), "x"),
            ("/none/three.h5", "y"))  # fmt: skip
    without_end(folder / "numbered.h5", b".", b"y%b", True)
    without_end(folder / "numbered.h5", b"one.h5", b"y", False, b"long")
    for place in ("one.h5:x", "two.h5:x", "below/three.h5:x", "numbered.h5:x", "numbered.h5:long"):
        file, name = place.split(":")
        with h5py.File(folder / file) as f:
            tally.check(f"virtual {place}", differences(tool.read(place), f[name][()]))


def check_circles(tool, tally):
    """h5py would end here."""
    folder = tool.folder
    for name in ("own.h5", "there.h5", "back.h5", "softly.h5", "numbers.h5", "endless.h5", "named.h5"):
        with_cells(folder / name)
    virtual(folder / "own.h5", (".", "x"))
    virtual(folder / "there.h5", ("one.h5", "y"), ("back.h5", "x"))
    virtual(folder / "back.h5", ("one.h5", "y"), ("./there.h5", "x"))
    with h5py.File(folder / "softly.h5", "a") as f:
        f["other"] = h5py.SoftLink("/x")
        f["away"] = h5py.ExternalLink("softly.h5", "/other")
    virtual(folder / "softly.h5", (".", "away"))
    without_end(folder / "numbers.h5", b".", b"x%b", True, b"x1")
    virtual(folder / "numbers.h5", (".", "y"), inside="x0")
    without_end(folder / "endless.h5", b".", b"x", False)
    os.symlink("named.h5", folder / "alias.h5")
    virtual(folder / "named.h5", ("alias.h5", "x"))
    for place in ("own.h5:x", "there.h5:x", "back.h5:x", "softly.h5:x", "numbers.h5:x1", "endless.h5:x", "named.h5:x"):
        says(tally, f"made of itself: {place}", tool.read(place), "made of themselves")
        out, said = tool.run("list", place.split(":")[0])
        says(tally, f"listed: {place}", out.decode() + said, "made of themselves")

    with_cells(folder / "tower.h5")
    for i in range(20):
        virtual(folder / "tower.h5", (".", f"x{i - 1}" if i else "y"), inside=f"x{i}")
    tally.check("a tower", differences(tool.read("tower.h5:x15"), [0.0, -1, -1, -1]))
    says(tally, "too high a tower", tool.read("tower.h5:x16"), "more than 16 deep")
    with_cells(folder / "wide.h5")  # 4^16 ways to the cells
    for i in range(16):
        virtual(folder / "wide.h5", *[(".", f"x{i - 1}" if i else "y")] * 4, inside=f"x{i}")
    began = time.monotonic()
    tally.check("a wide one", [] if "error" not in tool.info("wide.h5:x15") else ["refused"])
    tally.check("each is looked at once", [] if time.monotonic() - began < 20 else ["it took long"])


def external(path, name, n=4):
    with h5py.File(path, "w") as f:
        f.create_dataset("x", shape=(n,), dtype="f8", external=[(name, 0, 8 * n)])


def check_external(tool, tally):
    folder = tool.folder
    CELLS.tofile(folder / "cells.bin")
    external(folder / "plain.h5", "cells.bin")
    tally.check("cells in another file", differences(tool.read("plain.h5:x"), CELLS))
    external(folder / "gone.h5", "none.bin")
    says(tally, "cells in a file that is gone", tool.read("gone.h5:x"), "cells can't be read")
    os.mkfifo(folder / "pipe")
    for what in ("pipe", "/dev/zero", "below"):
        external(folder / "odd.h5", what)
        says(tally, f"cells in {what}", tool.read("odd.h5:x"), "no regular file")
        tally.check(f"listed: cells in {what}", [] if b"no regular file" in tool.run("list", "odd.h5")[0] else ["no"])
    os.environ["HDF5_EXTFILE_PREFIX"] = "${ORIGIN}/.."
    external(folder / "below/up.h5", "pipe")
    says(tally, "cells in a pipe above", tool.read("below/up.h5:x"), "no regular file")
    del os.environ["HDF5_EXTFILE_PREFIX"]


def check_others(tool, tally):
    """A file that somebody writes: who reads it is told why it can't be read."""
    with h5py.File(tool.folder / "busy.h5", "w") as f:
        f["x"] = CELLS
        f.flush()
        says(tally, "read what is written", tool.read("busy.h5:x"), "open for writing elsewhere")
        says(tally, "add to what is written", tool.write("busy.h5:new", CELLS), "open for writing elsewhere")
    tally.check("afterwards", differences(tool.read("busy.h5:x"), CELLS))
    with h5py.File(tool.folder / "busy.h5", "r"):
        tally.check("while others read", differences(tool.read("busy.h5:x"), CELLS))
        said = tool.write("busy.h5:new", CELLS)
    tally.check("added while others read", [said] if said else differences(tool.read("busy.h5:new"), CELLS))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tool", required=True)
    arguments = parser.parse_args()
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        tool = Tool(arguments.tool, folder)
        check_virtual(tool, tally)
        check_circles(tool, tally)
        check_external(tool, tally)
        check_others(tool, tally)
    tally.finish()


main()
