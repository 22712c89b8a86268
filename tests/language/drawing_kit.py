"""drawing_kit.py -- what both kinds of drawing share."""


class Index:
    """low <= index < high; constant: at every place, so that other ranges can be inferred."""

    def __init__(self, low, high, constant):
        self.low, self.high, self.constant = low, high, constant

    def width(self):
        return max(0, self.high - self.low)


def index_text_names(rng):
    names = list("ijkpqrst") + ["row", "n_2"]
    rng.shuffle(names)
    return names
