"""steps_product.py -- sums of products: einsum, matmul, dot, vdot, outer, sparse rows."""

import string

import numpy as np

from . import meaning, values
from .compare import Expected
from .program import MAX_CELLS, Kind, register
from .steps_reduce import count_units, overflows


def near_products(function, xs, terms):
    """A sum of products of reals or complex numbers: computed in a wider type, compared by its
    scale."""
    dtype = meaning.promoted(*xs)
    typed = [x.astype(dtype) for x in xs]
    if dtype not in meaning.WIDER:
        return Expected(np.asarray(function(*typed)))
    wide = [x.astype(meaning.WIDER[dtype]) for x in typed]
    # Which part of a complex product is inf and which nan depends on the order of the factors.
    sizes = [
        np.abs(x) if dtype.kind == "c" else np.where(np.isfinite(x), np.abs(x), 0) for x in wide
    ]
    total, scale = np.asarray(function(*wide)), np.asarray(function(*sizes))
    reach = np.prod(
        [np.max(size, initial=1) for size in sizes]
    )  # a product on the way may overflow
    free = overflows(np.maximum(scale, reach), dtype)
    slack = meaning.ulps(count_units(terms) + 2 * len(xs), dtype, scale)
    return Expected(total.astype(dtype), slack=slack, zero_signs=False, free=free)


STAND_IN = 7  # for a length of 0; longer than any that is drawn


def einsum_labels(spec, ranks):
    """A list of labels for each operand, and for the output; what "..." stands for is numbered
    from the right.  An output that is not given is as NumPy implies it."""
    operands, arrow, output = spec.replace(" ", "").partition("->")
    parts = operands.split(",")

    def spread(part, axes):
        before, dots, after = part.partition("...")
        return list(before) + [-k for k in range(axes, 0, -1)] * bool(dots) + list(after)

    extra = [rank - len(part.replace("...", "")) for part, rank in zip(parts, ranks)]
    labels = [spread(part, axes) for part, axes in zip(parts, extra)]
    most = max([axes for part, axes in zip(parts, extra) if "..." in part], default=0)
    if not arrow:
        output = "..." + "".join(
            sorted(c for c in set(operands) - set(".,") if operands.count(c) == 1)
        )
    return labels, spread(output, most)


def einsum(spec, xs):
    """By definition: every product, in the order of the operands, then the sum.  NumPy's own takes
    factors out of sums (so that 0 * inf is lost), and NumPy 1.24's spoils memory when there are
    no cells.
    """
    labels, output = einsum_labels(spec, [x.ndim for x in xs])
    every = output + sorted({label for part in labels for label in part} - set(output), key=str)
    total = None
    for x, part in zip(xs, labels):
        for label in {label for label in part if part.count(label) > 1}:
            while part.count(label) > 1:  # the diagonal comes last
                first = part.index(label)
                second = part.index(label, first + 1)
                x = np.diagonal(x, axis1=first, axis2=second)
                part = [other for k, other in enumerate(part) if k not in (first, second)] + [label]
        missing = [label for label in every if label not in part]
        x = x.reshape(x.shape + (1,) * len(missing))
        x = x.transpose([(part + missing).index(label) for label in every])
        total = x if total is None else total * x
    summed = tuple(range(len(output), len(every)))
    return (
        total.any(axis=summed) if total.dtype == bool else total.sum(axis=summed, dtype=total.dtype)
    )


def check_einsum(spec, xs):
    """NumPy refuses what it refuses.
    DIFFERENCE: it wants the ellipsis in the output; here its axes are summed like any others."""
    operands, arrow, output = spec.partition("->")
    if arrow and "..." in operands and "..." not in output:
        spec = f"{operands}->...{output}"
    np.einsum(spec, *[np.zeros([n or STAND_IN for n in x.shape], "?") for x in xs])


@register
class Einsum(Kind):
    """Random specs: repeated letters, letters of length 1, ellipses, given and implied outputs."""

    weight = 5

    def draw(self, maker):
        rng = maker.rng
        letters = rng.sample(string.ascii_letters, rng.randint(1, 5))
        lengths = {letter: rng.choice([0, 1, 2, 2, 3]) for letter in letters}
        spread = [rng.choice([1, 2, 3]) for _ in range(rng.choice([0, 0, 0, 1, 2]))]
        dotted = bool(spread) or rng.random() < 0.05
        parts, operands = [], []
        for _ in range(rng.choice([1, 2, 2, 2, 3])):
            part, operand = self.draw_operand(maker, letters, lengths, spread, dotted)
            parts.append(part)
            operands.append(operand)
        if np.prod([lengths[letter] for letter in lengths] + spread, dtype=float) > MAX_CELLS:
            return None
        return operands, {"spec": ",".join(parts) + self.draw_output(maker, parts, dotted)}

    def draw_operand(self, maker, letters, lengths, spread, dotted):
        rng = maker.rng
        count = rng.randint(0, 3)
        part = (
            rng.choices(letters, k=count)
            if rng.random() < 0.3
            else rng.sample(letters, min(count, len(letters)))
        )
        one = {letter for letter in part if rng.random() < 0.08}
        shape = [1 if letter in one else lengths[letter] for letter in part]
        if maker.wrong():
            shape = shape[:-1] + [4]
        if dotted and rng.random() < 0.8:
            some = [n if rng.random() < 0.8 else 1 for n in spread[rng.randint(0, len(spread)) :]]
            at = rng.randint(0, len(part))
            part[at:at], shape[at:at] = ["..."], some
        return "".join(part), maker.new(tuple(shape))

    def draw_output(self, maker, parts, dotted):
        rng = maker.rng
        if rng.random() < 0.25:
            return ""
        used = sorted(set("".join(parts)) - {"."})
        output = rng.sample(used, rng.randint(0, len(used)))
        if maker.wrong():
            output.append(rng.choice(string.ascii_letters))
        if any("..." in part for part in parts) and rng.random() < 0.9:
            output.insert(rng.randint(0, len(output)), "...")
        return ("->" if rng.random() < 0.8 else " -> ") + "".join(output)

    def record(self, graph, xs, args):
        return graph.einsum(args["spec"], xs)

    def meaning(self, xs, args):
        check_einsum(args["spec"], xs)
        return near_products(lambda *ys: einsum(args["spec"], ys), xs, MAX_CELLS)


class Product(Kind):
    """Two arrays whose last axes meet."""

    builder = None

    def record(self, graph, xs, args):
        return getattr(graph.lib, self.builder)(*xs)

    def meaning(self, xs, args):
        return near_products(getattr(np, self.builder), xs, MAX_CELLS)

    def draw(self, maker):
        rng = maker.rng
        x = maker.pick(lambda i: np.size(maker.value(i)) <= 60)
        if x is None:
            return None
        shape = maker.shape(x)
        inner = shape[-1] if shape and not maker.wrong() else values.draw_length(rng)
        other = [inner] + [values.draw_length(rng)] * (rng.random() < 0.7)
        if len(other) == 2 and rng.random() < 0.4:
            other = self.draw_batch(maker, shape) + other
        if rng.random() < 0.05:
            other = []
        if np.prod(other, dtype=float) > 60:
            return None
        return [x, maker.new(tuple(other))], {}

    def draw_batch(self, maker, shape):
        return [values.draw_length(maker.rng)]


@register
class Matmul(Product):
    builder = "matmul"
    weight = 2

    def draw_batch(self, maker, shape):
        return list(maker.partner_shape(shape[:-2]))


@register
class Dot(Product):
    builder = "dot"

    def meaning(self, xs, args):
        if any(x.ndim == 0 for x in xs):  # the BLAS behind NumPy takes 0 * nan for 0
            return meaning.elementwise("multiply", xs)
        return super().meaning(xs, args)


@register
class Vdot(Product):
    builder = "vdot"

    def draw(self, maker):
        x = maker.pick(weak=maker.rng.random() < 0.02)
        from .steps_move import factors

        count = np.size(maker.value(x)) + maker.wrong()
        return [x, maker.new(tuple(factors(maker.rng, int(count))))], {}

    def meaning(self, xs, args):
        xs = [meaning.typed(x) for x in xs]
        if xs[0].size != xs[1].size:
            raise ValueError("as many cells are needed on both sides")
        return near_products(
            lambda x, y: (
                np.sum(np.conj(x.ravel()) * y.ravel(), dtype=x.dtype)
                if x.dtype.kind != "b"
                else np.any(x.ravel() & y.ravel())
            ),
            xs,
            MAX_CELLS,
        )


@register
class Outer(Product):
    builder = "outer"

    def draw(self, maker):
        x, y = [maker.pick(lambda i: np.size(maker.value(i)) <= 20) for _ in range(2)]
        return None if x is None else ([x, y], {})


@register
class CsrMatmul(Kind):
    """A random sparse matrix; columns and row starts of any integer type."""

    weight = 2

    def draw(self, maker):
        rng = maker.rng
        dense = maker.pick(lambda i: maker.rank(i) > 0)
        if dense is None:
            return None
        width, rows = maker.shape(dense)[0], rng.choice([0, 1, 2, 3, 4])
        counts = [rng.choice([0, 1, 2, 3]) if width else 0 for _ in range(rows)]
        starts, stored = np.cumsum([0] + counts), sum(counts)
        columns = [rng.randrange(width) for _ in range(stored)]
        if stored and maker.wrong():
            columns[0] = rng.choice([width, -1])
        if rows and maker.wrong():
            starts[-1] += rng.choice([1, -9])
        kinds = [np.dtype(rng.choice(["i1", "i4", "i8", "u2", "u8"])) for _ in range(2)]
        if np.size(maker.value(dense)) // max(width, 1) * rows > MAX_CELLS:
            return None
        operands = [
            maker.new((stored + maker.wrong(),)),
            maker.leaf(np.array(columns, "i8").astype(kinds[0])),
            maker.leaf(starts.astype(kinds[1])),
            dense,
        ]
        return operands, {}

    def record(self, graph, xs, args):
        return graph.lib.csr_matmul(*xs)

    def meaning(self, xs, args):
        entries, columns, starts, dense = xs
        columns, starts = [int(c) for c in columns], [int(s) for s in starts]
        rising = all(a <= b for a, b in zip([0] + starts, starts + [len(entries)]))
        if len(entries) != len(columns) or not rising:
            raise ValueError("values, columns and row starts do not fit")
        if any(not 0 <= c < len(dense) for c in columns):
            raise IndexError("a column does not exist")
        rows = len(starts) - 1

        def product(values_, dense_):
            out = np.zeros((rows,) + dense_.shape[1:], dense_.dtype)
            for row in range(rows):
                for p in range(starts[row], starts[row + 1]):
                    out[row] += values_[p] * dense_[columns[p]]
            return out

        return near_products(product, [entries, dense], MAX_CELLS)
