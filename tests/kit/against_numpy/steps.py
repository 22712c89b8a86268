"""steps.py -- every kind of step there is; importing it fills program.KINDS."""

from . import steps_call  # noqa: F401
from . import steps_create  # noqa: F401
from . import steps_elementwise  # noqa: F401
from . import steps_index  # noqa: F401
from . import steps_lambda  # noqa: F401
from . import steps_move  # noqa: F401
from . import steps_product  # noqa: F401
from . import steps_reduce  # noqa: F401
from . import steps_stencil  # noqa: F401
from .program import KINDS, LEAF

KINDS.sort(key=lambda kind: kind.name)  # a seed means the same, whatever was imported first


def all_labels(lib):
    """What a run must have used."""
    labels = {"found at run time", "poison"}
    labels |= {"wrong input " + wrong for wrong in ("missing", "unknown", "rank", "dtype")}
    for kind in KINDS + [LEAF]:
        labels.update(kind.all_labels(lib))
    return labels
