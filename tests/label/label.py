"""label.py --library LIBARRAS --command ARRAS [--fields N] [--seed S] -- connected components against
scipy.ndimage.label: the same labels, cell by cell, for random fields of all ranks, types, layouts and neighbourhoods;
and `arras label` from file to file."""

import command_kit  # first: it sets up NumPy

import argparse
import ctypes
from ctypes import Structure, byref, c_double, c_int, c_int64

import h5py
import numpy as np
from arras_ctypes import DTYPE_CODES, Buffer, ErrorStruct
from scipy import ndimage
from tally import Tally

NEIGHBOURS = {1: [2], 2: [4, 8], 3: [6, 18, 26]}
TYPES = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8"]


class Options(Structure):
    _fields_ = [("neighbours", c_int), ("rule", c_int), ("value", c_double)]
    _fields_ += [("threads", c_int), ("memory", c_int64)]


NONZERO, ABOVE, EQUAL = range(3)


def buffer_of(array):
    numbers = c_int64 * array.ndim
    return Buffer(
        array.ctypes.data,
        DTYPE_CODES[array.dtype],
        array.ndim,
        numbers(*array.shape),
        numbers(*array.strides),
    )


def label(library, field, labels, **options):
    """The number of components, or the message."""
    count, err = c_int64(-1), ErrorStruct()
    status = library.arras_label(
        byref(count), byref(buffer_of(field)), byref(buffer_of(labels)), byref(Options(**options)), byref(err)
    )
    return err.text.decode() if status else count.value


def random_shape(rng, rank):
    longest = {1: 5000, 2: 120, 3: 30}[rank]
    return tuple(int(n) for n in rng.integers(1, longest, rank))


def random_field(rng):
    """Noise of any density, in some fields smoothed, so that there are large components."""
    rank = int(rng.integers(1, 4))
    dtype = np.dtype(rng.choice(TYPES))
    field = rng.random(random_shape(rng, rank))
    if rng.random() < 0.5:
        field = ndimage.uniform_filter(field, 3)
        field = (field - field.min()) / max(field.max() - field.min(), 1e-9)
    levels = 1 if dtype == bool else 3
    field = np.round(levels * field - rng.uniform(0, levels) + 0.5)
    return (field if dtype.kind in "if" else np.maximum(field, 0)).astype(dtype)


def random_layout(rng, field):
    """The same cells, lying differently."""
    way = rng.integers(0, 4)
    if way == 1:
        return np.asfortranarray(field)
    if way == 2:
        return field[..., ::-1].copy()[..., ::-1]
    if way == 3:
        wide = np.zeros((*field.shape[:-1], 2 * field.shape[-1]), field.dtype)
        wide[..., ::2] = field
        return wide[..., ::2]
    return field


def random_rule(rng, field):
    """Options, and which cells count."""
    rule = int(rng.integers(0, 3))
    value = float(rng.choice([-300, -2, -1.5, -1, 0, 0.25, 1, 2, 1e30]))
    counts = [field != 0, field > value, field == value][rule]
    return {"rule": rule, "value": value}, counts


def compare(library, rng):
    field = random_field(rng)
    options, counts = random_rule(rng, field)
    neighbours = int(rng.choice(NEIGHBOURS[field.ndim]))
    structure = ndimage.generate_binary_structure(field.ndim, 1 + NEIGHBOURS[field.ndim].index(neighbours))
    want, wanted = ndimage.label(counts, structure)
    labels = random_layout(rng, np.full(field.shape, -1, rng.choice(["i4", "i8"])))
    got = label(library, random_layout(rng, field), labels, neighbours=neighbours, threads=int(rng.integers(1, 4)), **options)
    if got != wanted:
        return [f"{field.dtype}{field.shape}, {neighbours}, {options}: {got} components, not {wanted}"]
    if not np.array_equal(labels, want):
        return [f"{field.dtype}{field.shape}, {neighbours}, {options}: {np.sum(labels != want)} labels differ"]
    return []


def check_large(library, tally, rng):
    """Large enough for many tiles and threads."""
    for shape in [(1500, 1100), (40, 200, 230), (700_000,), (3, 300_000), (300_000, 3)]:
        field = rng.random(shape) < 0.55
        for k, neighbours in enumerate(NEIGHBOURS[field.ndim], 1):
            want, wanted = ndimage.label(field, ndimage.generate_binary_structure(field.ndim, k))
            labels = np.full(shape, -1, "i4")
            for threads in (1, 3):
                got = label(library, field, labels, neighbours=neighbours, threads=threads)
                same = got == wanted and np.array_equal(labels, want)
                tally.check(f"{shape}, {neighbours} neighbours, {threads} threads", [] if same else ["differs"])


def check_edges(library, tally):
    for shape in [(0,), (0, 5), (5, 0), (3, 0, 2)]:
        tally.check(f"nothing: {shape}", [] if label(library, np.ones(shape), np.ones(shape, "i4")) == 0 else ["no"])
    field = np.array([[1, 0, 2], [0, 3, 0]], "i4")
    got = label(library, field, field, neighbours=4)
    tally.check("in place", [] if got == 3 and field.tolist() == [[1, 0, 2], [0, 3, 0]] else [str(field)])
    nan = np.array([np.nan, 0, np.nan])
    tally.check("nan is not 0", [] if label(library, nan, np.zeros(3, "i4")) == 2 else ["no"])
    big = np.array([2**63, 2**63 - 1], "u8")
    options = {"rule": ABOVE, "value": 2.0**63 - 1024}
    tally.check("above, in u64", [] if label(library, big, np.zeros(2, "i4"), **options) == 1 else ["no"])
    third = np.array([1 / 3], "f4")
    found = [label(library, third, np.zeros(1, "i4"), rule=rule, value=1 / 3) for rule in (ABOVE, EQUAL)]
    tally.check("a double is not rounded to a float", [] if found == [1, 0] else [str(found)])


# ---- The command ------------------------------------------------------------------------------------


def files_agree(scratch, source, sink, read, counts, structure, *args):
    want, wanted = ndimage.label(counts, structure)
    said = scratch.run("label", source, sink, "--memory", "64M", *args)
    if said.status or said.out != f"{wanted} component{'' if wanted == 1 else 's'}\n":
        return [f"{said.out!r} {said.err!r}, not {wanted}"]
    got = read(scratch)
    return [] if got.dtype == np.int32 and np.array_equal(got, want) else ["labels differ"]


def read_hdf5(scratch):
    with h5py.File(scratch / "out.h5") as file:
        return file["labels"][...]


def refuses(scratch, words, *args):
    before = scratch.names()
    said = scratch.run("label", *args)
    good = said.status == 1 and words in said.err and said.err.count("\n") == 1 and scratch.names() == before
    return [] if good else [f"{said.status} {said.out!r} {said.err!r} {scratch.names()}"]


def check_command(command, tally, rng):
    field = ndimage.uniform_filter(rng.standard_normal((300, 400)), 2).astype("f4")
    corners = np.ones((3, 3))
    with command_kit.Scratch(command) as scratch:
        np.save(scratch / "in.npy", field)
        np.save(scratch / "ranks.npy", np.ones((2, 2, 2, 2)))
        with h5py.File(scratch / "in.h5", "w") as file:
            file.create_dataset("x", data=field, chunks=(70, 90), compression="gzip", shuffle=True)
            file["x"].attrs["_FillValue"] = field[0, 0]
        above = ("--above", "0.1", "--neighbours", "8", "--threads", "3")
        there = (scratch, "in.npy", "out.h5:/labels", read_hdf5, field > 0.1, corners)
        tally.check("npy to HDF5", files_agree(*there, *above))
        there = (scratch, "in.h5:/x", "out.npy", lambda s: np.load(s / "out.npy"))
        tally.check("HDF5 to npy; missing is 0", files_agree(*there, (field != 0) & (field != field[0, 0]), None))
        said = scratch.run("label", "[[1,0,2],[1,0,0]]", "-", "--equal", "1")
        tally.check("a literal, to standard output", [] if b"NUMPY" in said.raw and said.err == "1 component\n" else [said.err])
        tally.check("quiet", [] if scratch.run("label", "in.npy", "q.npy", "-q").out == "" else ["it is not"])
        for words, *args in [
            ("SOURCE and a SINK", "a", "b", "c"),
            ("and where to", "in.npy"),
            ("4 or 8", "in.npy", "no.npy", "--neighbours", "6"),
            ("one of them", "in.npy", "no.npy", "--above", "1", "--equal", "2"),
            ("expected a number", "in.npy", "no.npy", "--above", "much"),
            ("rank 4", "ranks.npy", "no.npy"),
            ("there already", "in.npy", "out.npy"),
            ("none.h5", "none.h5:/x", "no.npy"),
        ]:
            tally.check(f"refuses {args}", refuses(scratch, words, *args))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--library", required=True)
    parser.add_argument("--command", required=True)
    parser.add_argument("--fields", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    library, rng, tally = ctypes.CDLL(args.library), np.random.default_rng(args.seed), Tally()
    for i in range(args.fields):
        tally.check(f"field {i}", compare(library, rng))
    check_large(library, tally, rng)
    check_edges(library, tally)
    check_command(args.command, tally, rng)
    tally.finish()


main()
