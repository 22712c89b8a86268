"""drawing_kit.py -- what both kinds of drawing share."""


from .tree import Node, number, op


class Index:
    """low <= index < high; constant: at every place, so that other ranges can be inferred.
    forms: (tree, least, largest) of what stays there because a range depends on another index."""

    def __init__(self, low, high, constant, forms=()):
        self.low, self.high, self.constant, self.forms = low, high, constant, forms

    def width(self):
        return max(0, self.high - self.low)


def triangle(name, outer_name, outer, length):
    """Ranges of an index that depend on one further outside: ((low, high), Index)."""
    var, other, last = Node("var", name), Node("var", outer_name), length - 1
    left, right = op("subtract", other, var), op("subtract", var, other)
    whole = op("add", var, other)
    top = max(outer.high, length)
    found = [((number(0), other), Index(0, max(0, outer.high - 1), False, [
        (left, 1, outer.high - 1), (other, 1, outer.high - 1), (whole, 1, 2 * outer.high - 3)])),
             ((number(0), op("add", other, number(1))), Index(0, max(0, outer.high), False, [
                 (left, 0, outer.high - 1), (other, 0, outer.high - 1)])),
             ((other, number(top)), Index(outer.low, top, False, [(right, 0, top - 1 - outer.low)])),
             ((number(0), op("subtract", number(length), other)),
              Index(0, max(0, length - outer.low), False, [
                  (whole, outer.low, last), (other, outer.low, last), (left, 1 - length, last)]))]
    return found


def index_text_names(rng):
    names = list("ijkpqrst") + ["row", "n_2"]
    rng.shuffle(names)
    return names
