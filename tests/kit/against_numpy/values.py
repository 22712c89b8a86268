"""values.py -- random types, shapes and numbers, all from one random.Random, so that a seed says
it all."""

import numpy as np

KINDS = {
    "?": ["?"],
    "i": ["i1", "i2", "i4", "i8"],
    "u": ["u1", "u2", "u4", "u8"],
    "f": ["f4", "f8"],
    "c": ["c8", "c16"],
}
DTYPES = [np.dtype(name) for names in KINDS.values() for name in names]
SPECIAL_REALS = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 2.0, 3.0, np.nan, np.inf, -np.inf]


class Size(int):
    """A length that is recorded as a symbolic size and is its number for NumPy."""

    def __new__(cls, value, terms, constant=0):
        self = super().__new__(cls, value)
        self.terms, self.constant = terms, constant
        return self

    def __repr__(self):
        terms = [f"{factor}*{name}" for name, factor in self.terms.items()]
        return "+".join(terms + [str(self.constant)]) + f"={int(self)}"


def draw_dtype(rng, kinds="?iufc"):
    return np.dtype(rng.choice(KINDS[rng.choice(kinds)]))


def draw_length(rng):
    return rng.choice([0, 1, 1, 2, 2, 3, 3, 4, 5])


def draw_shape(rng, max_size=120):
    """Mostly ranks 0 to 4, at times more; 0 and 1 among the lengths."""
    while True:
        rank = rng.choice([0, 1, 1, 2, 2, 2, 3, 3, 4, 5, rng.randint(5, 9)])
        shape = [1 if rank > 5 and rng.random() < 0.6 else draw_length(rng) for _ in range(rank)]
        if 0 in shape and rng.random() < 0.6:
            continue
        if int(np.prod(shape, dtype=np.int64)) <= max_size:
            return tuple(shape)


def special_values(dtype):
    """Where an operation might go wrong: zeros, ends of the range, what is not a number."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        values = [
            0,
            1,
            2,
            3,
            5,
            7,
            8,
            31,
            63,
            64,
            100,
            info.min,
            info.min + 1,
            info.max,
            info.max - 1,
        ]
        return np.array(values + ([-1, -2, -3, -7] if dtype.kind == "i" else []), dtype)
    if dtype.kind == "f":
        info = np.finfo(dtype)
        ends = [
            info.max,
            info.min,
            info.tiny,
            -info.tiny,
            info.smallest_subnormal,
            info.eps,
            1 / info.eps,
        ]
        return np.array(SPECIAL_REALS + [float(end) for end in ends] + [1e10, -7.25, 100.0], dtype)
    reals = special_values("f4" if dtype == "c8" else "f8")
    some = [reals[i] for i in (0, 1, 2, 3, 6, 11, 12, 13, 14, 18)]
    return np.array([complex(a, b) for a in some for b in some], dtype)


def draw_real(rng):
    if rng.random() < 0.5:
        return rng.randint(-16, 16) / 4
    return rng.gauss(0, 1) * rng.choice([1, 1, 10, 1e-3, 1e5])


def draw_cell(rng, dtype):
    """An ordinary number of this type."""
    if dtype.kind == "b":
        return rng.random() < 0.5
    if dtype.kind == "u":
        return rng.randint(0, 9) if rng.random() < 0.8 else rng.randint(0, int(np.iinfo(dtype).max))
    if dtype.kind == "i":
        info = np.iinfo(dtype)
        return (
            rng.randint(-6, 6) if rng.random() < 0.8 else rng.randint(int(info.min), int(info.max))
        )
    if dtype.kind == "f":
        return draw_real(rng)
    return complex(draw_real(rng), draw_real(rng))


def draw_array(rng, dtype, shape):
    """Ordinary numbers; in a third of the arrays special ones among them."""
    count = int(np.prod(shape, dtype=np.int64))
    flat = np.array([draw_cell(rng, dtype) for _ in range(count)], dtype)
    if rng.random() < 0.3:
        special = special_values(dtype)
        for cell in range(count):
            if rng.random() < 0.3:
                flat[cell] = special[rng.randrange(len(special))]
    return flat.reshape(shape)


def spread(rng, array):
    """The same array with another layout: other order, gaps, negative strides, odd addresses."""
    how = rng.random()
    if how < 0.4 or array.ndim == 0:
        return array
    if how < 0.5:
        record = np.zeros(array.shape, np.dtype([("before", "u1"), ("cells", array.dtype)]))
        record["cells"] = array
        return record["cells"]
    axes = rng.sample(range(array.ndim), array.ndim)
    steps = [rng.choice([1, -1, 2, -2, 3]) for _ in range(array.ndim)]
    room = [length * abs(step) for length, step in zip(array.shape, steps)]
    base = np.zeros([room[axis] for axis in axes], array.dtype).transpose(np.argsort(axes))
    view = base[tuple(slice(None, None, step) for step in steps)]
    view[...] = array
    return view


def draw_number(rng):
    """An untyped number: mostly a small integer, at times one that fits no small type."""
    how = rng.random()
    if how < 0.5:
        return rng.randint(-4, 9)
    if how < 0.6:
        return rng.choice([127, 128, 255, 256, -129, 65536, 2**31, 2**62, -(2**63), 2**63 - 1])
    if how < 0.9:
        return rng.choice([draw_real(rng), float(rng.choice(SPECIAL_REALS)), 1e300])
    return complex(draw_real(rng), draw_real(rng))
