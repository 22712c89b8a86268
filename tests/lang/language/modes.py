"""modes.py -- runs a program of the language in every way there is: in memory, tile by tile from
files to files, resumed, on several threads."""

import ctypes
import itertools
import os
import shutil
import tempfile
from ctypes import POINTER, byref, c_bool, c_char, c_char_p, c_double, c_int, c_int64, c_size_t, c_void_p
from pathlib import Path

import numpy as np
from arras_ctypes import (
    DTYPE_CODES,
    Binding,
    ErrorStruct,
    Graph,
    Library,
    Options,
    array_of,
    binding,
)

THREADS = [1, 2, 3, 7]
# Where writing to the end costs nothing: what is resumed has to be on the disk.
FOLDER = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


class LanguageError(ctypes.Structure):
    _fields_ = [("text", c_char * 4096)]


class Input(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("dtype", c_int), ("rank", c_int), ("shape", POINTER(c_int64))]


class Setting(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("value", c_char_p)]


class GivenWorld(ctypes.Structure):
    _fields_ = [
        ("ninputs", c_int), ("inputs", POINTER(Input)),
        ("nsettings", c_int), ("settings", POINTER(Setting)),
        ("noutputs", c_int), ("outputs", POINTER(c_char_p)),
    ]


class Stored(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("source", c_void_p), ("sink", c_void_p)]


class StreamOptions(ctypes.Structure):
    _fields_ = [("memory", c_int64)]


class SinkOptions(ctypes.Structure):
    _fields_ = [
        ("codecs", c_char_p), ("chunk", POINTER(c_int64)), ("fill", c_void_p),
        ("growable", POINTER(c_bool)), ("like", c_void_p), ("version", c_int), ("replace", c_bool),
    ]


OUT, ERROR, LONGS = POINTER(c_void_p), POINTER(ErrorStruct), POINTER(c_int64)
FILES = {
    "source_open": (c_int, [OUT, c_char_p, c_char_p, ERROR]),
    "source_close": (None, [c_void_p]),
    "source_read": (c_int, [c_void_p, LONGS, LONGS, c_void_p, LONGS, c_int, ERROR]),
    "sink_create": (c_int, [OUT, c_char_p, c_char_p, c_int, c_int, LONGS, POINTER(SinkOptions), ERROR]),
    "sink_resume": (c_int, [OUT, c_char_p, c_char_p, c_int, c_int, LONGS, POINTER(SinkOptions),
                            c_char_p, c_double, ERROR]),
    "sink_write": (c_int, [c_void_p, LONGS, LONGS, c_void_p, LONGS, c_int, ERROR]),
    "sink_finish": (c_int, [c_void_p, ERROR]),
    "sink_abandon": (None, [c_void_p]),
    "stream_start": (c_int, [OUT, c_void_p, c_int, POINTER(Binding), c_int, POINTER(Stored),
                             POINTER(StreamOptions), ERROR]),
    "stream_wait": (c_int, [OUT, c_void_p, ERROR]),
    "stream_cancel": (None, [c_void_p]),
    "stream_free": (None, [c_void_p]),
}
LANGUAGE = {
    "program_new": (c_void_p, []),
    "program_free": (None, [c_void_p]),
    "program_add": (c_bool, [c_void_p, c_char_p, c_char_p, c_size_t, POINTER(LanguageError)]),
    "lower": (c_bool, [OUT, c_void_p, POINTER(GivenWorld), POINTER(LanguageError)]),
}


class Refused(Exception):
    """The program ended in an error: status and message."""

    def __init__(self, status, text):
        super().__init__(text)
        self.status, self.text = status, text


class Language:
    def __init__(self, library, language):
        self.lib = Library(library)
        for name, (result, arguments) in FILES.items():
            self.lib.declare(name, result, arguments)
        self.dll = ctypes.CDLL(language)
        for name, (result, arguments) in LANGUAGE.items():
            function = getattr(self.dll, "lang_" + name)
            function.restype, function.argtypes = result, arguments

    def call(self, name, *arguments):
        error = ErrorStruct()
        status = getattr(self.lib, name)(*arguments, byref(error))
        if status != 0:
            raise Refused(self.lib.status_name(status).decode(), error.text.decode())

    def lower(self, program, given):
        """The graph of a program's text."""
        text, error, out = program.text().encode(), LanguageError(), c_void_p()
        settings = [Setting(name.encode(), repr(new).encode())
                    for name, (_, new) in program.params.items() if new is not None]
        world = GivenWorld(
            len(given),
            array_of(Input, [Input(name.encode(), DTYPE_CODES[x.dtype], x.ndim,
                                   array_of(c_int64, x.shape)) for name, x in given.items()]),
            len(settings), array_of(Setting, settings), 0, None)
        handle = self.dll.lang_program_new()
        try:
            if not self.dll.lang_program_add(handle, b"program", text, len(text), byref(error)) or (
                    not self.dll.lang_lower(byref(out), handle, byref(world), byref(error))):
                raise Refused("lang", error.text.decode())
        finally:
            self.dll.lang_program_free(handle)
        return Graph(self.lib, out)


class Runs:
    """One program, lowered."""

    def __init__(self, language, program, rng):
        self.language, self.lib, self.rng = language, language.lib, rng
        used = program.used()
        self.inputs = {name: x for name, x in program.inputs.items() if name in used}
        self.graph = language.lower(program, self.inputs)
        self.inputs = {name: x for name, x in self.inputs.items()
                       if self.lib.find_input(self.graph.pointer, name.encode())}

    def __enter__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="arras-language-", dir=FOLDER))
        self.files = itertools.count()
        return self

    def __exit__(self, *exception):
        shutil.rmtree(self.folder)
        self.graph.__exit__()

    def reference(self):
        bindings = self.bindings(self.inputs)
        return self.results("evaluate", self.graph.pointer, len(self.inputs), bindings)

    def bindings(self, inputs):
        return array_of(Binding, [binding(name, array) for name, array in inputs.items()])

    def results(self, name, *arguments):
        out = c_void_p()
        self.language.call(name, byref(out), *arguments)
        return self.graph.take_results(out)

    def compiled(self, threads, tile_bytes):
        """A program; the caller frees it."""
        out = c_void_p()
        options = Options(threads=threads, tile_bytes=tile_bytes)
        self.language.call("compile", byref(out), self.graph.pointer, byref(options))
        warning = self.lib.program_warning(out)
        if warning is not None:
            raise Refused("warning", warning.decode())
        return out

    def launch(self, compiled):
        return self.results("launch", compiled, len(self.inputs), self.bindings(self.inputs))

    # ---- Files -------------------------------------------------------------------------------------

    def chunk_of(self, shape):
        return [self.rng.randint(max(1, n // 4), n) for n in shape]

    def open_sink(self, path, x, chunk, identity=None):
        out = c_void_p()
        options = SinkOptions(codecs=b"none" if chunk else None, chunk=array_of(c_int64, chunk))
        arguments = [path.encode(), None, DTYPE_CODES[x.dtype], x.ndim, array_of(c_int64, x.shape),
                     byref(options)]
        if identity:
            self.language.call("sink_resume", byref(out), *arguments, identity, 3600.0)
        else:
            self.language.call("sink_create", byref(out), *arguments)
        return out

    def new_path(self, endings):
        return str(self.folder / f"a{next(self.files)}.{self.rng.choice(endings)}")

    def write(self, sink, low, high, x):
        part = np.ascontiguousarray(x[tuple(slice(a, b) for a, b in zip(low, high))])
        self.language.call("sink_write", sink, array_of(c_int64, low), array_of(c_int64, high),
                           c_void_p(part.ctypes.data), None, 1)

    def source(self, x):
        path = self.new_path(["npy", "h5", "zarr"])
        if path.endswith("npy"):
            np.save(path, x)
        else:
            sink = self.open_sink(path, x, self.chunk_of(x.shape))
            self.write(sink, [0] * x.ndim, x.shape, x)
            self.language.call("sink_finish", sink)
        out = c_void_p()
        self.language.call("source_open", byref(out), path.encode(), None)
        return out

    def read(self, path, like):
        out, x = c_void_p(), np.empty(like.shape, like.dtype)
        self.language.call("source_open", byref(out), path.encode(), None)
        try:
            self.language.call("source_read", out, array_of(c_int64, [0] * x.ndim),
                               array_of(c_int64, x.shape), c_void_p(x.ctypes.data), None, 1)
        finally:
            self.lib.source_close(out)
        return x

    # ---- Tile by tile ------------------------------------------------------------------------------

    def stream(self, compiled, like, memory, resumed):
        """Inputs from files, results to files, but for some; like: the results as they must be.
        resumed: of some chunks the cells are there before, and a first try is stopped."""
        sources = {name: self.source(x) for name, x in self.inputs.items()
                   if x.size and x.ndim and self.rng.random() < 0.7}
        bound = {name: x for name, x in self.inputs.items() if name not in sources}
        sinks = {}
        try:
            for name, x in like.items():
                if x.ndim and x.size and (resumed or self.rng.random() < 0.6):
                    sinks[name] = self.place(x, resumed)
            if resumed:
                self.interrupted(compiled, bound, sources, sinks, memory)
                for place in sinks.values():
                    place.open()
            got = self.one_stream(compiled, bound, sources, sinks, memory)
            for name, place in sinks.items():
                place.finish()
                got[name] = self.read(place.path, like[name])
            return got
        finally:
            for source in sources.values():
                self.lib.source_close(source)
            for place in sinks.values():
                place.close()

    def place(self, x, resumed):
        place = Place(self, x, resumed)
        place.open()
        if resumed:
            place.write_some()
        return place

    def one_stream(self, compiled, bound, sources, sinks, memory, stopped=False):
        stored = [Stored(name.encode(), source, None) for name, source in sources.items()]
        stored += [Stored(name.encode(), None, place.sink) for name, place in sinks.items()]
        stream, out = c_void_p(), c_void_p()
        bindings, places = self.bindings(bound), array_of(Stored, stored)  # until all is done
        self.language.call("stream_start", byref(stream), compiled, len(bound), bindings, len(stored),
                           places, byref(StreamOptions(memory)))
        try:
            if stopped:
                self.lib.stream_cancel(stream)
            self.language.call("stream_wait", byref(out), stream)
        finally:
            self.lib.stream_free(stream)
        del bindings, places
        return self.graph.take_results(out) if out else {}

    def interrupted(self, compiled, bound, sources, sinks, memory):
        """How far it comes does not matter: what follows has to give the same."""
        try:
            self.one_stream(compiled, bound, sources, sinks, memory, stopped=True)
        except Refused as refused:
            if refused.status != "ARRAS_ECANCEL":
                raise
        for place in sinks.values():
            place.close()


class Place:
    """Where a result goes."""

    def __init__(self, runs, x, resumed):
        self.runs, self.x, self.sink = runs, x, None
        self.identity = b"a program" if resumed else None
        self.path = runs.new_path(["npy", "h5", "zarr", "zarr"])
        chunked = not self.path.endswith("npy") and runs.rng.random() < 0.8
        self.chunk = runs.chunk_of(x.shape) if chunked else None

    def open(self):
        self.sink = self.runs.open_sink(self.path, self.x, self.chunk, self.identity)

    def write_some(self):
        """Chunks that an earlier process has computed."""
        if not self.chunk:
            return
        starts = [range(0, n, c) for n, c in zip(self.x.shape, self.chunk)]
        for low in itertools.islice(itertools.product(*starts), 40):
            if self.runs.rng.random() < 0.4:
                high = [min(a + c, n) for a, c, n in zip(low, self.chunk, self.x.shape)]
                self.runs.write(self.sink, low, high, self.x)
        self.close()
        self.open()

    def finish(self):
        sink, self.sink = self.sink, None
        self.runs.language.call("sink_finish", sink)

    def close(self):
        if self.sink:
            self.runs.lib.sink_abandon(self.sink)
        self.sink = None
