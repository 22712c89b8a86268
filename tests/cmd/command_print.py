"""command_print.py -- random arrays, printed by arras and by NumPy's str(), must look the same."""

import sys

sys.dont_write_bytecode = True
import command_kit
import numpy as np
from tally import Tally

BATCH = 100  # arrays printed by one process
DTYPES = "b1 i1 i2 i4 i8 u1 u2 u4 u8 f4 f4 f8 f8 f8 c8 c16".split()
SIDES = [1, 30, 12, 6, 4]  # of arrays of rank 0 to 4, at most
LARGE_SIDES = [1, 3000, 60, 20, 9]  # some of these are shortened when they are printed
ODD = [np.nan, np.inf, -np.inf, -0.0]


def draw_floats(rng, n):
    """Numbers of one of many characters: round, tiny, of all sizes, powers of two, any bits."""
    x = rng.normal(size=n)
    x = [
        lambda: x,
        lambda: np.round(x * 10),
        lambda: np.round(x, rng.integers(0, 6)),
        lambda: x * 10.0 ** rng.integers(-8, 9),
        lambda: x * 10.0 ** rng.integers(-300, 300, n),
        lambda: 2.0 ** rng.integers(-1074, 1023, n),
        lambda: 2.0 ** rng.integers(-10, 10, n),
        lambda: np.where(rng.random(n) < 0.5, 0.0, x * rng.choice([1, 1e-5, 1e9])),
        lambda: rng.integers(0, 2**63, n).view("f8"),
    ][rng.integers(9)]()
    if rng.random() < 0.2:
        x = np.where(rng.random(n) < 0.3, rng.choice(ODD, n), x)
    return x


def draw_cells(rng, dtype, n):
    if dtype.kind == "f":
        return draw_floats(rng, n).astype(dtype)
    if dtype.kind == "c":
        x = draw_floats(rng, n).astype(dtype)
        x.imag = draw_floats(rng, n)
        return x
    if dtype.kind == "b":
        return rng.random(n) < 0.5
    if rng.random() < 0.5:
        return rng.integers(0, 100, n).astype(dtype)
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max, n, dtype=dtype, endpoint=True)


def draw_array(rng):
    rank = rng.choice([0, 1, 1, 1, 2, 2, 3, 4])
    sides = LARGE_SIDES if rng.random() < 0.15 else SIDES
    least = 0 if rng.random() < 0.05 else 1
    shape = tuple(rng.integers(least, sides[rank] + 1, rank))
    return draw_cells(rng, np.dtype(rng.choice(DTYPES)), int(np.prod(shape))).reshape(shape)


def printed(scratch, arrays):
    """What arras prints of each array."""
    names = [f"x{i}" for i in range(len(arrays))]
    for name, array in zip(names, arrays):
        np.save(scratch / f"{name}.npy", array)
    program = "; ".join(f"y{name} = {name}" for name in names)
    said = scratch.run(
        "run", "--reference", program, *[f"{name}={name}.npy" for name in names]
    )
    if said.status:
        return [said.err] * len(arrays)
    texts, lines = {}, []
    for line in said.out.split("\n"):
        head = line.partition(" : ")
        if head[1]:
            lines = texts.setdefault(head[0], [])
        else:
            lines.append(line)
    return ["\n".join(texts[f"y{name}"]).rstrip("\n") for name in names]


def complaint(array, got):
    want = str(array)
    if got == want:
        return []
    return [f"{array.dtype}{list(array.shape)}", "NumPy:", *want.split("\n")[:8], "arras:",
            *got.split("\n")[:8]]


def main():
    chosen = command_kit.options(__doc__, ("batches", 20), ("seed", 1))
    tally = Tally()
    with np.errstate(all="ignore"), command_kit.Scratch(chosen.command) as scratch:
        for batch in range(chosen.batches):
            rng = np.random.default_rng([chosen.seed, batch])
            arrays = [draw_array(rng) for _ in range(BATCH)]
            for i, (array, got) in enumerate(zip(arrays, printed(scratch, arrays))):
                tally.check(f"array {i} of batch {batch}, seed {chosen.seed}", complaint(array, got))
    tally.finish()


main()
