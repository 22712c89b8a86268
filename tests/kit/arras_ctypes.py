"""arras_ctypes.py -- a thin face of <arras/arras.h> for the tests; not a binding for users.

Arrays and expressions are plain addresses; the graph that owns them must be kept.  What can be
built wrongly is passed on as it is: the library has to say so, not this file."""

import collections
import ctypes
from ctypes import (
    POINTER,
    byref,
    c_bool,
    c_char,
    c_char_p,
    c_double,
    c_int,
    c_int64,
    c_size_t,
    c_void_p,
)

import numpy as np

NONE = 2**63 - 1  # ARRAS_NONE: an index or bound that is not given

# In the order of arras_dtype, whose 0 is "none".
DTYPE_NAMES = [
    "none",
    "bool",
    "i8",
    "i16",
    "i32",
    "i64",
    "u8",
    "u16",
    "u32",
    "u64",
    "f32",
    "f64",
    "c64",
    "c128",
]
NUMPY_NAMES = ["", "?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8", "c8", "c16"]
DTYPES = {name: np.dtype(short) for name, short in zip(DTYPE_NAMES[1:], NUMPY_NAMES[1:])}
DTYPE_CODES = {dtype: DTYPE_NAMES.index(name) for name, dtype in DTYPES.items()}
DTYPE_OF_CODE = {code: dtype for dtype, code in DTYPE_CODES.items()}

PAD_MODES = [
    "constant",
    "edge",
    "linear_ramp",
    "maximum",
    "mean",
    "median",
    "minimum",
    "reflect",
    "symmetric",
    "wrap",
    "empty",
]
EDGE_RULES = ["none", "constant", "nearest", "reflect", "mirror", "wrap"]
ITEM_KINDS = ["at", "slice", "ellipsis", "newaxis", "gather"]
TEXT_FORMS = ["full", "brief", "dot", "summary"]


def name_of(dtype):
    """'f64' for np.float64."""
    return DTYPE_NAMES[DTYPE_CODES[np.dtype(dtype)]]


class ErrorStruct(ctypes.Structure):
    _fields_ = [("code", c_int), ("text", c_char * 1012)]


class OpInfo(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("arity", c_int), ("text", c_char_p)]


class Item(ctypes.Structure):
    _fields_ = [
        ("kind", c_int),
        ("start", c_int64),
        ("stop", c_int64),
        ("step", c_int64),
        ("index", c_void_p),
    ]


class Edge(ctypes.Structure):
    _fields_ = [("rule", c_int), ("fill", c_void_p)]


class Buffer(ctypes.Structure):
    _fields_ = [
        ("data", c_void_p),
        ("dtype", c_int),
        ("rank", c_int),
        ("shape", POINTER(c_int64)),
        ("strides", POINTER(c_int64)),
    ]


class Binding(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("buffer", Buffer)]


class Options(ctypes.Structure):
    _fields_ = [
        ("threads", c_int),
        ("tile_bytes", c_int64),
        ("no_fusion", c_bool),
        ("reference", c_bool),
        ("no_cache", c_bool),
        ("cache", c_char_p),
        ("compiler", c_char_p),
    ]


class Summary(ctypes.Structure):
    _fields_ = [
        (name, c_int64)
        for name in ("nodes", "depth", "width", "flops", "bytes_in", "bytes_out", "bytes_between")
    ] + [("symbolic", c_bool)]


INTS, LONGS, POINTERS = POINTER(c_int), POINTER(c_int64), POINTER(c_void_p)
ERROR = POINTER(ErrorStruct)

# name: (result, arguments).  Functions of ops.h are declared from the library's own tables.
SIGNATURES = {
    "version": (c_char_p, []),
    "status_name": (c_char_p, [c_int]),
    "status_text": (c_char_p, [c_int]),
    "dtype_name": (c_char_p, [c_int]),
    "dtype_size": (c_size_t, [c_int]),
    "dtype_find": (c_int, [c_char_p]),
    "dtype_promote": (c_int, [c_int, c_int]),
    "graph_new": (c_int, [POINTERS, ERROR]),
    "graph_free": (None, [c_void_p]),
    "graph_nodes": (c_int64, [c_void_p]),
    "array_graph": (c_void_p, [c_void_p]),
    "array_dtype": (c_int, [c_void_p]),
    "array_rank": (c_int, [c_void_p]),
    "array_dim": (c_int64, [c_void_p, c_int]),
    "array_error": (c_char_p, [c_void_p]),
    "array_equal": (c_bool, [c_void_p, c_void_p]),
    "size": (c_int64, [c_void_p, c_char_p]),
    "dim_add": (c_int64, [c_void_p, c_int64, c_int64]),
    "dim_sub": (c_int64, [c_void_p, c_int64, c_int64]),
    "dim_mul": (c_int64, [c_void_p, c_int64, c_int64]),
    "dim_is_symbolic": (c_bool, [c_int64]),
    "placeholder": (c_void_p, [c_void_p, c_char_p, c_int, c_int, LONGS]),
    "copy": (c_void_p, [c_void_p, c_int, c_int, LONGS, LONGS, c_void_p]),
    "borrow": (c_void_p, [c_void_p, c_int, c_int, LONGS, LONGS, c_void_p]),
    "int": (c_void_p, [c_void_p, c_int64]),
    "float": (c_void_p, [c_void_p, c_double]),
    "complex": (c_void_p, [c_void_p, c_double, c_double]),
    "scalar": (c_void_p, [c_void_p, c_int, c_void_p]),
    "size_value": (c_void_p, [c_void_p, c_int64]),
    "zeros": (c_void_p, [c_void_p, c_int, c_int, LONGS]),
    "ones": (c_void_p, [c_void_p, c_int, c_int, LONGS]),
    "full": (c_void_p, [c_void_p, c_int, LONGS]),
    "eye": (c_void_p, [c_void_p, c_int, c_int64, c_int64, c_int64]),
    "arange": (c_void_p, [c_void_p, c_int64, c_int64, c_int64]),
    "arange_real": (c_void_p, [c_void_p, c_double, c_double, c_double]),
    "linspace": (c_void_p, [c_void_p, c_double, c_double, c_int64, c_bool]),
    "index_array": (c_void_p, [c_void_p, c_int, LONGS, c_int]),
    "op_count": (c_int, []),
    "op_get": (POINTER(OpInfo), [c_int]),
    "op_find": (c_int, [c_char_p]),
    "apply": (c_void_p, [c_int, c_int, POINTERS]),
    "cast": (c_void_p, [c_void_p, c_int]),
    "clip": (c_void_p, [c_void_p, c_void_p, c_void_p]),
    "reduction_count": (c_int, []),
    "reduction_name": (c_char_p, [c_int]),
    "reduction_find": (c_int, [c_char_p]),
    "reduce": (c_void_p, [c_int, c_void_p, c_int, INTS, c_bool, c_void_p]),
    "mean": (c_void_p, [c_void_p, c_int, INTS, c_bool]),
    "var": (c_void_p, [c_void_p, c_int, INTS, c_int64, c_bool]),
    "std": (c_void_p, [c_void_p, c_int, INTS, c_int64, c_bool]),
    "einsum": (c_void_p, [c_char_p, c_int, POINTERS]),
    "matmul": (c_void_p, [c_void_p, c_void_p]),
    "dot": (c_void_p, [c_void_p, c_void_p]),
    "vdot": (c_void_p, [c_void_p, c_void_p]),
    "outer": (c_void_p, [c_void_p, c_void_p]),
    "csr_matmul": (c_void_p, [c_void_p, c_void_p, c_void_p, c_void_p]),
    "stack": (c_void_p, [c_int, POINTERS, c_int]),
    "concatenate": (c_void_p, [c_int, POINTERS, c_int]),
    "roll": (c_void_p, [c_void_p, c_int, LONGS, INTS]),
    "cumulative_sum": (c_void_p, [c_void_p, c_int]),
    "permute": (c_void_p, [c_void_p, c_int, INTS]),
    "reshape": (c_void_p, [c_void_p, c_int, LONGS, c_char]),
    "broadcast_to": (c_void_p, [c_void_p, c_int, LONGS]),
    "squeeze": (c_void_p, [c_void_p, c_int, INTS]),
    "expand_dims": (c_void_p, [c_void_p, c_int, INTS]),
    "flip": (c_void_p, [c_void_p, c_int, INTS]),
    "tile": (c_void_p, [c_void_p, c_int, LONGS]),
    "repeat": (c_void_p, [c_void_p, c_int64, c_int]),
    "pad": (c_void_p, [c_void_p, LONGS, c_int, c_void_p]),
    "index": (c_void_p, [c_void_p, c_int, POINTER(Item)]),
    "expr_index": (c_void_p, [c_void_p, c_int]),
    "expr_var": (c_void_p, [c_void_p, c_char_p]),
    "expr_int": (c_void_p, [c_void_p, c_int64]),
    "expr_float": (c_void_p, [c_void_p, c_double]),
    "expr_complex": (c_void_p, [c_void_p, c_double, c_double]),
    "expr_size": (c_void_p, [c_void_p, c_int64]),
    "expr_cast": (c_void_p, [c_void_p, c_int]),
    "expr_apply": (c_void_p, [c_int, c_int, POINTERS]),
    "expr_load": (c_void_p, [c_void_p, c_int, POINTERS, POINTER(Edge)]),
    "expr_reduce": (c_void_p, [c_int, c_char_p, c_void_p, c_void_p, c_void_p]),
    "expr_error": (c_char_p, [c_void_p]),
    "lambda": (c_void_p, [c_void_p, c_int, LONGS, c_void_p]),
    "neighbours": (None, [POINTERS, c_void_p, c_int, LONGS, POINTER(Edge)]),
    "stencil": (c_void_p, [c_void_p, c_int, LONGS, POINTER(c_double), POINTER(Edge)]),
    "param": (c_void_p, [c_void_p, c_char_p, c_int, c_int, LONGS]),
    "function_new": (
        c_void_p,
        [c_void_p, c_char_p, c_int, POINTERS, c_int, POINTER(c_char_p), POINTERS],
    ),
    "call": (c_void_p, [c_void_p, c_char_p, c_int, POINTERS]),
    "output": (c_void_p, [c_void_p, c_char_p, c_void_p]),
    "output_count": (c_int, [c_void_p]),
    "output_name": (c_char_p, [c_void_p, c_int]),
    "output_array": (c_void_p, [c_void_p, c_int]),
    "find_input": (c_void_p, [c_void_p, c_char_p]),
    "check": (c_int, [c_void_p, ERROR]),
    "summarize": (c_int, [POINTER(Summary), c_void_p, ERROR]),
    "graph_print": (c_int, [POINTERS, POINTER(c_size_t), c_void_p, c_int, ERROR]),
    "graph_read": (c_int, [POINTERS, c_char_p, c_size_t, ERROR]),
    "text_free": (None, [c_void_p]),
    "evaluate": (c_int, [POINTERS, c_void_p, c_int, POINTER(Binding), ERROR]),
    "compile": (c_int, [POINTERS, c_void_p, POINTER(Options), ERROR]),
    "program_free": (None, [c_void_p]),
    "program_warning": (c_char_p, [c_void_p]),
    "launch": (c_int, [POINTERS, c_void_p, c_int, POINTER(Binding), ERROR]),
    "results_count": (c_int, [c_void_p]),
    "results_at": (POINTER(Binding), [c_void_p, c_int]),
    "results_find": (POINTER(Binding), [c_void_p, c_char_p]),
    "results_free": (None, [c_void_p]),
}


class ArrasError(Exception):
    """A status that is not OK, with its one line."""

    def __init__(self, status, text):
        super().__init__(text)
        self.status, self.text = status, text


def array_of(ctype, values):
    """A C array, or NULL for None; never of length 0, so that it is not NULL when it is given."""
    if values is None:
        return None
    values = list(values)
    return (ctype * max(len(values), 1))(*values)


def count_of(values):
    return 0 if values is None else len(values)


def pointers(handles):
    return array_of(c_void_p, handles)


def layout(array):
    """Rank, shape, strides and address of a NumPy array, for functions that take all four."""
    return (
        array.ndim,
        array_of(c_int64, array.shape),
        array_of(c_int64, array.strides),
        c_void_p(array.ctypes.data),
    )


class Library:
    """The shared library; lib.NAME is arras_NAME.  `calls` counts what was called."""

    def __init__(self, path, compiled=False):
        """compiled: programs are compiled and launched, not given to the reference evaluator."""
        self.dll = ctypes.CDLL(path)
        self.compiled = compiled
        self.calls = collections.Counter()
        for name, (result, arguments) in SIGNATURES.items():
            self.declare(name, result, arguments)
        infos = [self.op_get(i).contents for i in range(self.op_count())]
        self.arity = {info.name.decode(): info.arity for info in infos}
        self.help = {info.name.decode(): info.text.decode() for info in infos}
        self.reductions = [self.reduction_name(i).decode() for i in range(self.reduction_count())]
        for name, arity in self.arity.items():
            self.declare(name, c_void_p, [c_void_p] * arity)
        for name in self.reductions:
            self.declare(name, c_void_p, [c_void_p, c_int, INTS, c_bool])

    def declare(self, name, result, arguments):
        function = getattr(self.dll, "arras_" + name)
        function.restype, function.argtypes = result, arguments

        def counted(*args):
            self.calls[name] += 1
            return function(*args)

        setattr(self, name, counted)

    def fail(self, status, error):
        if status != 0:
            raise ArrasError(self.status_name(status).decode(), error.text.decode())

    def graph(self):
        out, error = c_void_p(), ErrorStruct()
        self.fail(self.graph_new(byref(out), byref(error)), error)
        return Graph(self, out)

    def read(self, text):
        """The graph a text describes."""
        out, error, data = c_void_p(), ErrorStruct(), text.encode()
        self.fail(self.graph_read(byref(out), data, len(data), byref(error)), error)
        return Graph(self, out)


class Graph:
    """A graph and its builders, with Python's lists for C's counts and pointers."""

    def __init__(self, lib, pointer):
        self.lib, self.pointer = lib, pointer
        self.kept = []  # memory the graph borrows
        self.functions = {}  # by name, for those who define one only once

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.lib.graph_free(self.pointer)
        self.pointer = None

    # ---- Looking at arrays ----

    def error(self, x):
        """The message of poison, or None."""
        message = self.lib.array_error(x)
        return None if message is None else message.decode()

    def dtype(self, x):
        return DTYPE_OF_CODE.get(self.lib.array_dtype(x))

    def dims(self, x):
        return [self.lib.array_dim(x, axis) for axis in range(self.lib.array_rank(x))]

    def shape(self, x):
        """The shape as far as it is known when recorded: None for symbolic lengths."""
        return [None if self.lib.dim_is_symbolic(d) else d for d in self.dims(x)]

    # ---- Sizes ----

    def dim(self, value):
        """A number, or anything with `terms` ({name: factor}) and `constant`."""
        if not getattr(value, "terms", None):
            return int(value)
        total = value.constant
        for name, factor in value.terms.items():
            size = self.lib.size(self.pointer, name.encode())
            term = size if factor == 1 else self.lib.dim_mul(self.pointer, factor, size)
            total = term if total == 0 else self.lib.dim_add(self.pointer, term, total)
        return total

    def dims_of(self, shape):
        return array_of(c_int64, [self.dim(d) for d in shape])

    # ---- Leaves ----

    def placeholder(self, name, dtype, shape):
        return self.lib.placeholder(
            self.pointer,
            name.encode(),
            DTYPE_CODES[np.dtype(dtype)],
            len(shape),
            self.dims_of(shape),
        )

    def param(self, name, dtype, shape):
        return self.lib.param(
            self.pointer,
            name.encode(),
            DTYPE_CODES[np.dtype(dtype)],
            len(shape),
            self.dims_of(shape),
        )

    def copy(self, array):
        return self.lib.copy(self.pointer, DTYPE_CODES[array.dtype], *layout(array))

    def borrow(self, array):
        self.kept.append(array)
        return self.lib.borrow(self.pointer, DTYPE_CODES[array.dtype], *layout(array))

    def scalar(self, value):
        """A 0-d array with the type of a NumPy scalar or 0-d array."""
        value = np.asarray(value)
        return self.lib.scalar(self.pointer, DTYPE_CODES[value.dtype], c_void_p(value.ctypes.data))

    def number(self, value):
        """An untyped number from a Python one."""
        if isinstance(value, complex):
            return self.lib.complex(self.pointer, value.real, value.imag)
        if isinstance(value, float):
            return self.lib.float(self.pointer, value)
        return self.lib.int(self.pointer, value)

    # ---- Builders whose arguments need marshalling; the rest is reached through lib ----

    def op(self, name, *xs):
        return getattr(self.lib, name)(*xs)

    def apply(self, name, *xs):
        return self.lib.apply(self.lib.op_find(name.encode()), len(xs), pointers(xs))

    def cast(self, x, dtype):
        return self.lib.cast(x, DTYPE_CODES[np.dtype(dtype)])

    def reduce(self, name, x, axes=None, keepdims=False, initial=None):
        n, axes_given = count_of(axes), array_of(c_int, axes)
        if initial is None:
            return getattr(self.lib, name)(x, n, axes_given, keepdims)
        return self.lib.reduce(
            self.lib.reduction_find(name.encode()), x, n, axes_given, keepdims, initial
        )

    def statistic(self, name, x, axes, keepdims, ddof=0):
        n, axes_given = count_of(axes), array_of(c_int, axes)
        if name == "mean":
            return self.lib.mean(x, n, axes_given, keepdims)
        return getattr(self.lib, name)(x, n, axes_given, ddof, keepdims)

    def with_axes(self, name, x, axes):
        """permute, squeeze, expand_dims, flip."""
        return getattr(self.lib, name)(x, count_of(axes), array_of(c_int, axes))

    def with_parts(self, name, xs, axis):
        """stack, concatenate."""
        return getattr(self.lib, name)(len(xs), pointers(xs), axis)

    def einsum(self, spec, xs):
        return self.lib.einsum(spec.encode(), len(xs), pointers(xs))

    def roll(self, x, shifts, axes):
        return self.lib.roll(x, len(shifts), array_of(c_int64, shifts), array_of(c_int, axes))

    def reshape(self, x, shape, order="C"):
        return self.lib.reshape(x, len(shape), self.dims_of(shape), order.encode())

    def broadcast_to(self, x, shape):
        return self.lib.broadcast_to(x, len(shape), self.dims_of(shape))

    def tile(self, x, reps):
        return self.lib.tile(x, len(reps), array_of(c_int64, reps))

    def pad(self, x, widths, mode, fill=None):
        flat = [width for pair in widths for width in pair]
        return self.lib.pad(x, array_of(c_int64, flat), PAD_MODES.index(mode), fill)

    def filled(self, name, dtype, shape):
        """zeros, ones."""
        return getattr(self.lib, name)(
            self.pointer, DTYPE_CODES[np.dtype(dtype)], len(shape), self.dims_of(shape)
        )

    def full(self, value, shape):
        return self.lib.full(value, len(shape), self.dims_of(shape))

    def eye(self, dtype, rows, columns, diagonal):
        return self.lib.eye(
            self.pointer, DTYPE_CODES[np.dtype(dtype)], self.dim(rows), self.dim(columns), diagonal
        )

    def index_array(self, shape, axis):
        return self.lib.index_array(self.pointer, len(shape), self.dims_of(shape), axis)

    def item(self, given):
        """An item from what stands between brackets in Python; index arrays are handles in a
        tuple."""
        if given is Ellipsis or given is None:
            return Item(ITEM_KINDS.index("newaxis" if given is None else "ellipsis"), 0, 0, 1, None)
        if isinstance(given, slice):
            bounds = [NONE if b is None else self.dim(b) for b in (given.start, given.stop)]
            return Item(
                ITEM_KINDS.index("slice"), *bounds, 1 if given.step is None else given.step, None
            )
        if isinstance(given, tuple):
            return Item(ITEM_KINDS.index("gather"), 0, 0, 1, given[0])
        return Item(ITEM_KINDS.index("at"), self.dim(given), 0, 1, None)

    def index(self, x, items):
        return self.lib.index(x, len(items), array_of(Item, [self.item(item) for item in items]))

    # ---- Index lambdas and neighbours ----

    def edges(self, rules):
        """From (rule, fill) pairs; fill is an expression or None."""
        if rules is None:
            return None
        return array_of(Edge, [Edge(EDGE_RULES.index(rule), fill) for rule, fill in rules])

    def expr_number(self, value):
        if isinstance(value, complex):
            return self.lib.expr_complex(self.pointer, value.real, value.imag)
        if isinstance(value, float):
            return self.lib.expr_float(self.pointer, value)
        return self.lib.expr_int(self.pointer, value)

    def expr_apply(self, name, es):
        return self.lib.expr_apply(self.lib.op_find(name.encode()), len(es), pointers(es))

    def expr_load(self, x, indices, rules=None):
        return self.lib.expr_load(x, len(indices), pointers(indices), self.edges(rules))

    def expr_reduce(self, name, var, lo, hi, body):
        return self.lib.expr_reduce(
            self.lib.reduction_find(name.encode()), var.encode(), lo, hi, body
        )

    def array_lambda(self, shape, cell):
        return getattr(self.lib, "lambda")(self.pointer, len(shape), self.dims_of(shape), cell)

    def neighbours(self, x, offsets, rules):
        out = array_of(c_void_p, [None] * len(offsets))
        flat = [number for offset in offsets for number in offset]
        self.lib.neighbours(out, x, len(offsets), array_of(c_int64, flat), self.edges(rules))
        return [out[k] for k in range(len(offsets))]

    def stencil(self, x, offsets, weights, rules):
        flat = [number for offset in offsets for number in offset]
        return self.lib.stencil(
            x, len(offsets), array_of(c_int64, flat), array_of(c_double, weights), self.edges(rules)
        )

    # ---- Functions ----

    def function(self, name, params, results):
        names = array_of(c_char_p, [result.encode() for result in results])
        return self.lib.function_new(
            self.pointer,
            name.encode(),
            len(params),
            pointers(params),
            len(results),
            names,
            pointers(results.values()),
        )

    def call(self, function, result, xs):
        return self.lib.call(function, result.encode(), len(xs), pointers(xs))

    # ---- Programs ----

    def output(self, name, x):
        return self.lib.output(self.pointer, name.encode(), x)

    def check(self):
        error = ErrorStruct()
        self.lib.fail(self.lib.check(self.pointer, byref(error)), error)

    def summary(self):
        out, error = Summary(), ErrorStruct()
        self.lib.fail(self.lib.summarize(byref(out), self.pointer, byref(error)), error)
        return out

    def text(self, form="full"):
        out, length, error = c_void_p(), c_size_t(), ErrorStruct()
        status = self.lib.graph_print(
            byref(out), byref(length), self.pointer, TEXT_FORMS.index(form), byref(error)
        )
        self.lib.fail(status, error)
        text = ctypes.string_at(out, length.value).decode()
        self.lib.text_free(out)
        return text

    def evaluate(self, inputs):
        """The outputs by name, as NumPy arrays of their own; `inputs` are NumPy arrays by name."""
        return self.launch(inputs) if self.lib.compiled else self.evaluate_reference(inputs)

    def evaluate_reference(self, inputs):
        bindings = array_of(Binding, [binding(name, array) for name, array in inputs.items()])
        out, error = c_void_p(), ErrorStruct()
        status = self.lib.evaluate(byref(out), self.pointer, len(inputs), bindings, byref(error))
        self.lib.fail(status, error)
        return self.take_results(out)

    def launch(self, inputs, **options):
        """The same of the program compiled.  That it can't be compiled is a mistake of the library."""
        bindings = array_of(Binding, [binding(name, array) for name, array in inputs.items()])
        program, out, error = c_void_p(), c_void_p(), ErrorStruct()
        status = self.lib.compile(
            byref(program), self.pointer, byref(Options(**options)), byref(error)
        )
        self.lib.fail(status, error)
        try:
            warning = self.lib.program_warning(program)
            if warning is not None:
                raise RuntimeError("not compiled: " + warning.decode())
            status = self.lib.launch(byref(out), program, len(inputs), bindings, byref(error))
            self.lib.fail(status, error)
            return self.take_results(out)
        finally:
            self.lib.program_free(program)

    def take_results(self, out):
        try:
            results = [
                self.lib.results_at(out, i).contents for i in range(self.lib.results_count(out))
            ]
            return {result.name.decode(): array_from(result.buffer) for result in results}
        finally:
            self.lib.results_free(out)


def binding(name, array):
    shape, strides = array_of(c_int64, array.shape), array_of(c_int64, array.strides)
    buffer = Buffer(array.ctypes.data, DTYPE_CODES[array.dtype], array.ndim, shape, strides)
    return Binding(name.encode(), buffer)


def array_from(buffer):
    """A copy of a result, which is in C order."""
    dtype, shape = DTYPE_OF_CODE[buffer.dtype], [buffer.shape[axis] for axis in range(buffer.rank)]
    count = int(np.prod(shape, dtype=np.int64))
    if count == 0:
        return np.empty(shape, dtype)
    data = ctypes.string_at(buffer.data, count * dtype.itemsize)
    return np.frombuffer(data, dtype).reshape(shape).copy()
