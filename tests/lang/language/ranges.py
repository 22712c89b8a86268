"""ranges.py -- how far the indices of an equation go, from "How far an index goes" in docs/language.md.

An equation is first expanded: functions of the program are put in their places, and every index gets
a name of its own.  A box is (start, stop)."""

import itertools

import numpy as np

from .tree import Node, ranges_of, reduction


NOWHERE = ()
MOST_POINTS = 1_000_000


class NotMeant(Exception):
    """The language does not mean such a program, or does not say what it means: it is not used."""


class Fails(Exception):
    """The program has to end in an error: an index outside, the largest of nothing."""


class Expander:
    def __init__(self, functions):
        self.functions, self.numbers = functions, itertools.count()
        self.active = ()  # the indices of the reductions around
        self.around = {}  # of each read, wherever it is used: of an argument, those around the call

    def expand(self, node, names):
        """names: what stands for each index, parameter and argument here."""
        if node.kind == "call":
            parameters, body = self.functions[node.value]
            given = [self.expand(kid, names) for kid in node.kids]
            return self.expand(body, dict(zip(parameters, given)))
        if node.kind in ("var", "scalar", "array") and node.value in names:
            return names[node.value]
        if node.kind == "reduce":
            return self.expand_reduction(node, names)
        kids = [self.expand(kid, names) for kid in node.kids]
        if node.kind == "load" and node.value in names:
            array = names[node.value]
            return self.noted(Node("load", array.value, *kids) if array.kind == "array" else Node(
                "cells", None, array, *kids))
        if node.kind == "size" and node.value[0] in names:
            raise NotMeant
        return self.noted(node.with_kids(kids))

    def noted(self, node):
        if node.kind in ("load", "cells"):
            self.around[id(node)] = self.active
        return node

    def expand_reduction(self, node, names):
        names, ranges, before = dict(names), [], self.active
        for name, low, high in ranges_of(node):
            if high is not None:
                low, high = self.expand(low, names), self.expand(high, names)
            unique = f"{name}#{next(self.numbers)}"
            names[name] = Node("var", unique)
            ranges.append((unique, low, high))
            self.active += (unique,)
        body = self.expand(node.kids[-1], names)
        self.active = before
        return reduction(node.value[0], ranges, body)


def affine(node, size_of):
    """({variable: factor}, constant), or None.  size_of(name, axis): a length; axis None: of a param
    its value, None for other names."""
    kind, kids = node.kind, node.kids
    if kind == "var":
        return {node.value: 1}, 0
    if kind == "size":
        return {}, size_of(*node.value)
    if kind == "scalar" and isinstance(size_of(node.value, None), int):
        return {}, size_of(node.value, None)
    if kind == "number" and isinstance(node.value, int) and not isinstance(node.value, bool):
        return {}, node.value
    if kind != "op" or node.value not in ("add", "subtract", "multiply", "negative"):
        return None
    parts = [affine(kid, size_of) for kid in kids]
    if None in parts:
        return None
    if node.value == "negative":
        return scaled(parts[0], -1)
    (a, c), (b, d) = parts
    if node.value == "multiply":
        if a and b:
            return None
        return scaled(parts[0], d) if a else scaled(parts[1], c)
    sign = 1 if node.value == "add" else -1
    total = {v: a.get(v, 0) + sign * b.get(v, 0) for v in {**a, **b}}
    return {v: f for v, f in total.items() if f}, c + sign * d


def scaled(form, factor):
    return {v: f * factor for v, f in form[0].items() if f * factor}, form[1] * factor


class Read:
    """One axis of one read whose index is affine."""

    def __init__(self, form, length, rule, in_bounds, guarded, around):
        self.factors, self.constant = form
        self.around = around  # indices of reductions
        self.length, self.rule, self.in_bounds, self.guarded = length, rule, in_bounds, guarded

    def is_exact(self, variable):
        return self.factors == {variable: 1} and self.constant == 0


class Ranges:
    """boxes: of each index whose range is not given, and of those on the left."""

    def __init__(self, world, indices, body, around):
        self.world, self.reads, self.around = world, [], around
        self.left = [name for name, _, _ in indices]
        self.given = {}  # in the order in which they are declared
        for name, low, high in indices:
            self.declare(name, low, high)
        self.collect(body, False, False)
        self.boxes = {}
        self.resolve()
        self.shrink()
        self.check()

    def declare(self, name, low, high):
        self.given[name] = None if high is None else (low, high)

    def collect(self, node, in_bounds, guarded):
        if node.kind == "reduce":
            for name, low, high in ranges_of(node):
                self.declare(name, low, high)
                if high is not None:
                    self.collect(low, True, guarded)
                    self.collect(high, True, guarded)
            self.collect(node.kids[-1], in_bounds, guarded)
            return
        for place, kid in enumerate(node.kids):
            self.collect(kid, in_bounds, guarded or node.kind == "choose" and place > 0)
        if node.kind in ("load", "cells"):
            indices = node.kids if node.kind == "load" else node.kids[1:]
            for axis, index in enumerate(indices):
                form = affine(index, self.world.length)
                if form is not None:
                    length, rule = self.world.axis(node, axis)
                    around = self.around[id(node)]
                    self.reads.append(Read(form, length, rule, in_bounds, guarded, around))

    def resolve(self):
        """Those that are given, then those with an exact read, then the others."""
        self.waiting = set(self.given)
        for name in self.given:
            if name in self.waiting and (self.given[name] is not None or self.has_exact(name)):
                self.waiting.discard(name)
                self.try_box(name)
        while self.waiting:
            found = [name for name in self.given if name in self.waiting and self.try_box(name)]
            if not found:
                raise NotMeant("nothing says how far")
            self.waiting -= set(found)

    def has_exact(self, name):
        return any(r.is_exact(name) and not r.in_bounds for r in self.reads)

    def try_box(self, name):
        if self.given[name] is None:
            box = self.infer(name)
            if box is not None:
                self.boxes[name] = box
            return box is not None
        ends = self.ends(name)
        known = all(end is not None and not end[0] for end in ends)
        self.boxes[name] = (ends[0][1], max(ends[0][1], ends[1][1])) if known else None
        return True

    def infer(self, name):
        lengths = {r.length for r in self.reads if r.is_exact(name) and not r.in_bounds}
        if len(lengths) > 1:
            raise NotMeant("they must be equal")
        if lengths:
            return 0, lengths.pop()
        stops = {False: [], True: []}  # by whether a choice guards the read
        for read in self.reads:
            if name in read.factors:
                stop = self.stop(name, read)
                if stop is not None:
                    stops[read.guarded].append(stop)
        found = stops[False] or stops[True]
        return (0, max(0, min(found))) if found else None

    def stop(self, name, read):
        """Where an index has to stop so that this read stays inside; None: this read does not say."""
        if any(self.is_waiting(other) for other in (*read.factors, *read.around) if other != name):
            raise NotMeant("one of two indices has to come first")
        factor, rest = read.factors[name], self.rest(read, name)
        if rest == NOWHERE:
            raise NotMeant("a read that nothing comes to")
        if rest is None:
            return None
        if read.rule not in (None, "none"):
            # Beyond the array there is something: how far its own cells are apart is what counts.
            if factor < 0:
                raise NotMeant("backwards over an edge")
            return -(-read.length // factor)
        if factor > 0:
            return (read.length - 1 - rest[1]) // factor + 1
        return rest[0] // -factor + 1

    def is_waiting(self, name):
        """Its range, or one on which that depends, is not known yet."""
        return name in self.waiting or self.boxes[name] is None and any(
            self.is_waiting(v) for end in self.ends(name) if end is not None for v in end[0])

    def shrink(self):
        """`edge x = none`: only the cells all of whose reads exist."""
        reads = [r for r in self.reads if r.rule == "none" and not r.guarded]
        while any([self.shrink_by(read) for read in reads]):
            pass
        if any(len(self.outside(read)[1]) for read in reads):
            raise Fails("a value in the middle has no cell")

    def shrink_by(self, read):
        """Whether this read leaves an index fewer values, from its ends."""
        name, places = self.outside(read)
        start, stop = self.boxes[name] if len(places) else (0, 0)
        places, before = set(places.tolist()), (start, stop)
        while start < stop and start in places:
            start += 1
        while start < stop and stop - 1 in places:
            stop -= 1
        if (start, stop) == before:
            return False
        self.boxes[name] = start, stop
        return True

    def outside(self, read):
        """The index that shrinks, and its values at which this read leaves its array."""
        if not read.factors and not 0 <= read.constant < read.length:
            raise NotMeant("no index can shrink")
        if not read.factors:
            return None, np.array([], "i8")
        able = [name for name in read.factors if name in self.left] or list(read.factors)
        if len(able) != 1 or self.boxes.get(able[0]) is None:
            raise NotMeant("which index shrinks")
        together = self.together(read)
        if together is None:
            raise NotMeant("how far it shrinks")
        total, values = together
        return able[0], values[able[0]][(total < 0) | (total >= read.length)]

    def check(self):
        """A read that leaves its array for some values that its indices have together is an error."""
        for read in self.reads:
            if read.rule is None and not read.guarded:
                rest = self.rest(read)
                if rest not in (None, NOWHERE) and not (0 <= rest[0] and rest[1] < read.length):
                    raise NotMeant("a read that leaves its array")

    # ---- The values that indices have together -----------------------------------------------------

    def rest(self, read, variable=None):
        """The least and largest of an index but for this variable; NOWHERE where nothing is read,
        None where it depends on data."""
        together = self.together(read, variable)
        if together is None:
            return None
        total, _ = together
        return (int(total.min()), int(total.max())) if len(total) else NOWHERE

    def together(self, read, variable=None):
        """An index but for this variable wherever it is read, and the values of all indices there."""
        names = set(read.factors) - {variable}
        if not all(self.is_affine(name) for name in names):
            return None
        names |= {name for name in read.around if self.is_affine(name)}
        values = self.points({needed for name in names for needed in self.needs(name)})
        return sum((f * values[v] for v, f in read.factors.items() if v != variable),
                   np.full(len(values[None]), read.constant)), values

    def ends(self, name):
        """The bounds of a range that is given, as affine forms; one that is none is None."""
        return [affine(bound, self.world.length) for bound in self.given[name]]

    def is_affine(self, name):
        if name in self.waiting:
            return False
        if self.boxes[name] is not None:
            return True
        ends = self.ends(name)
        return None not in ends and all(self.is_affine(v) for end in ends for v in end[0])

    def needs(self, name):
        found = {name}
        if self.boxes[name] is None:
            found.update(*(self.needs(v) for end in self.ends(name) for v in end[0]))
        return found

    def points(self, names):
        """An array of values for each name, and one of zeros for None."""
        values = {None: np.zeros(1, "i8")}
        for name in self.given:
            if name not in names:
                continue
            box = self.boxes[name]
            start, stop = [end + values[None] for end in box] if box is not None else [
                sum((f * values[v] for v, f in end[0].items()), end[1] + values[None])
                for end in self.ends(name)]
            counts = np.maximum(stop - start, 0)
            if counts.sum() > MOST_POINTS:
                raise NotMeant("too many places")
            parents = np.repeat(np.arange(len(counts)), counts)
            own = np.arange(len(parents)) - np.repeat(np.cumsum(counts) - counts, counts)
            values = {v: x[parents] for v, x in values.items()}
            values[name] = own + start[parents]
        return values
