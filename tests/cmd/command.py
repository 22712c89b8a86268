"""command.py -- what the arras command does: exit status, what it prints and where, what it writes.

A case is a line of a table: arguments, then what is expected.  `out` and `err` are the whole of
standard output and standard error; `says` is a part of standard error, which must then be one line
(more for errors of the language, which show the place).  Without either, nothing may be said there.
"""

import io
import os
import subprocess
import sys
from dataclasses import dataclass, field

sys.dont_write_bytecode = True
import command_kit
import numpy as np
from tally import Tally


@dataclass
class Case:
    args: list
    out: str = ""
    err: str = ""
    says: str = None
    status: int = None  # 1 when something is said, otherwise 0
    stdin: bytes = b""
    files: list = field(default_factory=list)  # that are new afterwards
    lines: int = 1  # of standard error


def npy(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def damaged(header, data=b"", version=b"\x01\x00"):
    """A .npy file with this text as its header."""
    length = len(header).to_bytes(2 if version[0] == 1 else 4, "little")
    return b"\x93NUMPY" + version + length + header.encode() + data


def header(descr="'<f8'", order="False", shape="(2,)"):
    return f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}"


X = np.array([1.0, 2.0, 4.0])
TWO = np.arange(6.0).reshape(2, 3)
FILES = {
    "x.npy": npy(X),
    "two.npy": npy(TWO),
    "fortran.npy": npy(np.asfortranarray(TWO)),
    "big_endian.npy": npy(TWO.astype(">f8")),
    "cut.npy": npy(X)[:-1],
    "cut_header.npy": npy(X)[:40],
    "cut_start.npy": npy(X)[:5],
    "empty_file.npy": b"",
    "text.npy": b"1.0 2.0 4.0\n",
    "half.npy": npy(X.astype("f2")),
    "objects.npy": damaged(header("'|O'")),
    "dates.npy": damaged(header("'<M8[s]'"), bytes(16)),
    "strings.npy": damaged(header("'<U4'"), bytes(32)),
    "records.npy": damaged(header("[('a', '<f8')]"), bytes(16)),
    "odd_type.npy": damaged(header("'<q9'"), bytes(16)),
    "long.npy": damaged(header(shape="(99999999999999999999,)")),
    "huge.npy": damaged(header(shape="(4000000000, 4000000000)")),
    "lying.npy": damaged(header(shape="(1000000,)"), bytes(16)),
    "negative.npy": damaged(header(shape="(-2,)"), bytes(16)),
    "axes.npy": damaged(header(shape="(" + "1, " * 33 + ")"), bytes(8)),
    "no_shape.npy": damaged("{'descr': '<f8', 'fortran_order': False, }", bytes(16)),
    "twice.npy": damaged("{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, }"),
    "no_end.npy": damaged("{'descr': '<f8', 'fortran_order': False, 'shape': (2,)"),
    "after.npy": damaged(header() + " x", bytes(16)),
    "version9.npy": damaged(header(), bytes(16), b"\x09\x00"),
    "version2.npy": damaged(header(), npy(X)[-16:], b"\x02\x00"),
    "version3.npy": damaged(header(), npy(X)[-16:], b"\x03\x00"),
    "python2.npy": damaged(header(shape="(2L,)"), npy(X)[-16:]),
    "unaligned.npy": damaged(header() + "   ", npy(X)[-16:]),
    "bools.npy": damaged(header("'|b1'"), b"\x02\x00"),
    "scalar.npy": npy(np.float32(0.1)),
    "nothing.npy": npy(np.zeros((3, 0))),
    "much_nothing.npy": damaged(header(order="True", shape="(4000000000, 4000000000, 0)")),
    "a:b\\c.npy": npy(X),
    "data": npy(X),
    "double.arras": b"# twice\ny = 2*x\n",
    "marked.arras": b"\xef\xbb\xbfy = 2*x\n",
    "wrong.arras": b"z = 1\ny = 2*)\n",
    "odd.arras": b"y = 1\0\n",
}
DIRECTORIES = ["folder.npy", "folder"]

# ---- Results: what is printed, what is written ---------------------------------------------------

RESULTS = [
    Case(["run", "[1,2,3] * 2"], "[2 4 6]\n"),
    Case(["run", "1/3"], "0.3333333333333333\n"),
    Case(["run", "y = 2*x", "x=x.npy"], "[2. 4. 8.]\n"),
    Case(["run", "y = x + a", "x=x.npy", "a=3.5"], "[4.5 5.5 7.5]\n"),
    Case(["run", "y = x + a", "a=[1,2,3]", "x=x.npy"], "[2. 4. 7.]\n"),
    Case(["run", "y = x; n = sum(x)", "x=x.npy"], "y : f64[3]\n[1. 2. 4.]\nn : f64[]\n7.0\n"),
    Case(["run", "y[i] = x[i,1]", "x=two.npy"], "[1. 4.]\n"),
    Case(["run", "x", "x=fortran.npy"], "[[0. 1. 2.]\n [3. 4. 5.]]\n"),
    Case(["run", "x", "x=big_endian.npy"], "[[0. 1. 2.]\n [3. 4. 5.]]\n"),
    Case(["run", "x", "x=version2.npy"], "[2. 4.]\n"),
    Case(["run", "x", "x=version3.npy"], "[2. 4.]\n"),
    Case(["run", "x", "x=python2.npy"], "[2. 4.]\n"),
    Case(["run", "x", "x=unaligned.npy"], "[2. 4.]\n"),
    Case(["run", "x", "x=bools.npy"], "[ True False]\n"),
    Case(["run", "x", "x=scalar.npy"], "0.1\n"),
    Case(["run", "x", "x=nothing.npy"], "[]\n"),
    Case(["run", "x", "x=much_nothing.npy"], "[]\n"),
    Case(["run", "x", "x=-"], "[1. 2. 4.]\n", stdin=npy(X)),
    Case(["run", "x", "x=-"], "[[0. 1. 2.]\n [3. 4. 5.]]\n", stdin=npy(np.asfortranarray(TWO))),
    Case(["run", "x", "x=data"], "[1. 2. 4.]\n"),
    Case(["run", "x", "x=/dev/stdin"], "[1. 2. 4.]\n", stdin=npy(X)),
    Case(["run", "x", r"x=a\:b\\c.npy"], "[1. 2. 4.]\n"),
    Case(["run", "-f", "double.arras", "x=x.npy"], "[2. 4. 8.]\n"),
    Case(["run", "--file=double.arras", "x=x.npy"], "[2. 4. 8.]\n"),
    Case(["run", "x=x.npy", "-fdouble.arras"], "[2. 4. 8.]\n"),
    Case(["run", "-f", "-", "x=x.npy"], "[2. 4. 8.]\n", stdin=b"y = 2*x"),
    Case(["run", "y = n*x; param n = 2", "x=x.npy"], "[2. 4. 8.]\n"),
    Case(["run", "y = n*x; param n = 2", "x=x.npy", "-p", "n=1/2"], "[0.5 1.  2. ]\n"),
    Case(["run", "--", "-x", "x=x.npy"], "[-1. -2. -4.]\n"),
    Case(["run", "y = 2*x", "x=x.npy", "--threads", "1"], "[2. 4. 8.]\n"),
    Case(["run", "y = 2*x", "x=x.npy", "--reference"], "[2. 4. 8.]\n"),
    Case(["run", "y = 2*x", "x=x.npy", "--device", "cpu"], "[2. 4. 8.]\n"),
    Case(["run", "y = 2*x", "x=x.npy", "--memory", "1K"], "[2. 4. 8.]\n"),
    Case(["run", "y = e*2", "e=10"], "20\n"),
    Case(["run", "y = e*0", "-q", "x=10"], "0.0\n"),
    Case(["run", "y = p.x + p.v", "p.x=1", "p.v=2"], "3\n"),
    Case(["run", "y = 2*x", "x=x.npy", "-o", "y=new.npy"], files=["new.npy"]),
    Case(["run", "y = 2*x", "x=x.npy", "-o", "new.npy"], files=["new.npy"]),
    Case(["run", "y = 2*x; z = x", "x=x.npy", "-oz=z.npy", "-oy=y.npy"], files=["y.npy", "z.npy"]),
    Case(["run", "y = 2*x; z = b", "x=x.npy", "b=1", "-o", "y=y.npy"], files=["y.npy"]),
    Case(["run", "y = 2*x", "x=x.npy", "-o", "y=y.npy", "-o", "y=z.npy"], files=["y.npy", "z.npy"]),
    Case(["run", "x", "x=1", "-o", "y.h5:/y"], files=["y.h5"]),
    Case(["run", "y = 2*x", "x=x.npy", "-o", "y=/dev/null"]),
    Case(["run", "y = 2*x", "x=x.npy", "--dot", "g.dot", "-o", "y.npy"], files=["g.dot", "y.npy"]),
    Case(["run", "y = 2*x", "x=x.npy", "--trace", "t.json", "-o", "y.npy"], files=["t.json", "y.npy"]),
    Case(["help", "sin"], "sin(x)\n    sine of x radians\n"),
    Case(["help", "sin("], "sin(x)\n    sine of x radians\n"),
    Case(["help", "let"], "    let m = mean(h)                      a name that is not itself a result\n"
                          "\n`arras help language` says more.\n"),
    Case(["--version"], "arras 0.1.0\n"),
    Case(["version"], "arras 0.1.0\n"),
    Case(["-V"], "arras 0.1.0\n"),
    Case(["run", "-f", "marked.arras", "x=x.npy"], "[2. 4. 8.]\n"),
]

# ---- Mistakes: one line that says what, and nothing is left behind --------------------------------

MISTAKES = [
    # The command line.
    Case(["rum"], says="unknown command rum; did you mean run?"),
    Case(["frobnicate"], says="unknown command frobnicate; `arras help` lists the commands"),
    Case(["run"], says="run what?"),
    Case(["run", "x", "--thread", "2"], says="unknown option --thread; did you mean --threads?"),
    Case(["run", "x", "--frobnicate"], says="unknown option --frobnicate; `arras help run`"),
    Case(["run", "x", "-Z"], says="unknown option -Z"),
    Case(["run", "x", "--threads"], says="option --threads needs a value: --threads N"),
    Case(["run", "x", "--threads", "many"], says="--threads many: expected a whole number"),
    Case(["run", "x", "--threads", "0"], says="from 1 to 1024"),
    Case(["run", "x", "--stats=yes"], says="option --stats takes no value"),
    Case(["run", "x", "--memory", "2X"], says="--memory 2X: expected bytes, such as 512M"),
    Case(["run", "x", "--device", "gpu"], says="unknown device gpu"),
    Case(["run", "x", "x"], says="x: expected an input, name=SOURCE"),
    Case(["run", "x=x.npy", "y = x"], says="(the program is the first argument)"),
    Case(["run", "x", "2x=1"], says="2x=1: expected an input, name=SOURCE"),
    Case(["run", "x", "x=1", "x=2"], says="input x is given twice"),
    Case(["run", "x+y", "x=-", "y=-"], says="standard input (-) can be read only once"),
    Case(["run", "-f", "-", "y=-"], says="standard input (-) can be read only once"),
    Case(["run", "y = n", "-p", "n"], says="-p n: expected NAME=VALUE"),
    Case(["run", "y = rate; param rate = 1", "-p", "rats=2"], says="no param rats; did you mean rate?"),
    Case(["run", "y = 1", "-p", "width=2"], says="no param width; declare it: param width = 1"),
    Case(["run", "param n = 3; y = n*2", "n=5"], says="n is a param of the program: write -p n=5"),
    Case(["run", "y = pi*2", "pi=3"], says="pi is a number of the language"),
    Case(["help", "sorces"], says="no help on sorces; did you mean sources?"),
    Case(["help", "ron"], says="no help on ron; did you mean run?"),
    Case(["help", "xyzzy"], says="no help on xyzzy; `arras help` lists the topics"),
    Case(["help", "everything"], says="no help on everything; `arras help` lists the topics"),
    Case(["info"], says="info on what?"),
    Case(["info", "--all"], says="unknown option --all"),
    # Names.
    Case(["run", "y = height + 1"], says="`height` is neither defined nor given: add height=SOURCE",
         lines=3),
    Case(["run", "x=x.npy", "y=x"], says="x=x.npy: this is taken for the program, which comes first"),
    Case(["run", "y = height + 1", "hieght=1"], says="the program needs height; you gave hieght=1"),
    Case(["run", "total = 1; y = 2", "-o", "totl=t.npy"], says="no result totl; did you mean total?"),
    Case(["run", "a = 1; b = 2", "-o", "x.npy"], says="several results; say which: -o a=x.npy"),
    Case(["run", "a = 1; b = 2", "-o", "a=t.npy", "-o", "b=t.npy"], says="both be written to t.npy"),
    Case(["run", "let a = 1"], says="the program has no result"),
    # Files.
    Case(["run", "x", "x=none.npy"], says="cannot read none.npy: No such file or directory"),
    Case(["run", "x", "x=folder.npy"], says="cannot read folder.npy: it is a directory"),
    Case(["run", "x", "x=folder"], says="folder is a directory"),
    Case(["run", "x", "x=nowhere"], says="nowhere is neither a file nor a literal"),
    Case(["run", "x", "x="], says="the name of a file is missing"),
    Case(["run", "x", "x=a:b.npy"], says="a: No such file or directory"),
    Case(["run", "x", "x=x.npy:/a"], says="a .npy file holds one array"),
    Case(["run", "x", "x=a.h5:/x"], says="a.h5: No such file or directory"),
    Case(["run", "x", "x=a.nc:t"], says="a.nc: No such file or directory"),
    Case(["run", "x", "x=a.zarr/"], says="a.zarr: No such file or directory"),
    Case(["run", "x", "x=1", "-o", "y.dat"], says="the name of a file must end in .npy"),
    Case(["run", "x", "x=1", "-o", "y.png"], says="for a picture write a .npy, then arras show"),
    Case(["run", "1", "--dot", "y.png"], says="--dot y.png: the graph is text; write y.dot, then dot -Tpng y.dot"),
    Case(["run", "x", "x=none.h5:a@rwa"], says="@rwa: expected @raw or @missing=NUMBER"),
    Case(["run", "x", "x=none.h5:a@missing"], says="@missing: expected @raw or @missing=NUMBER"),
    Case(["run", "x", "x=1", "-o", "folder"], says="it is a directory; name a file in it: folder/y.npy"),
    Case(["run", "x", "x=a.npz"], says="a .npz holds several arrays"),
    Case(["run", "x", "x=a.csv"], says="a file of text; convert it"),
    Case(["show", "x.npy", "--png", "p.svg"], says="the name ends in .svg; did you mean --svg p.svg?"),
    Case(["show", "x.npy", "--svg", "p.PNG"], says="the name ends in .png; did you mean --png p.PNG?"),
    Case(["run", "x", "x=1", "-o", "folder.npy"], says="folder.npy: it is a directory"),
    Case(["run", "x", "x=1", "-o", "no/y.npy"], says="cannot write no/y.npy: No such file"),
    Case(["run", "x", "x=1", "-o", "x.npy/y.npy"], says="x.npy/y.npy: Not a directory"),
    Case(["run", "x", "x=1", "-o", "/dev/full"], says="/dev/full: No space left on device"),
    Case(["run", "x", "x=1", "--dot", "no/g.dot"], says="cannot write no/g.dot"),
    Case(["run", "-f", "none.arras"], says="cannot read none.arras: No such file or directory"),
    Case(["run", "-f", "folder"], says="cannot read folder: Is a directory"),
    Case(["run", "x+y", "x=x.npy", "y=x.npy", "--memory", "20"], says="--memory allows 20"),
    Case(["run", "zeros([1000000,1000000])"], says="the arrays need 8000000000000 bytes of memory"),
    # .npy files that are not what they should be.
    Case(["run", "x", "x=cut.npy"], says="promises 24 bytes of data, 23 are there"),
    Case(["run", "x", "x=-"], says="promises 24 bytes of data, 23 are there", stdin=npy(X)[:-1]),
    Case(["run", "x", "x=-"], says="standard input is empty", stdin=b""),
    Case(["run", "x", "x=cut_header.npy"], says="ends after 30 of 118 bytes of its header"),
    Case(["run", "x", "x=cut_start.npy"], says="is not a .npy file"),
    Case(["run", "x", "x=empty_file.npy"], says="empty_file.npy is empty"),
    Case(["run", "x", "x=text.npy"], says="text.npy is not a .npy file"),
    # Reals of 16 bits are f32, mapped, from a pipe, in any order; and are written where that is asked for.
    Case(["run", "x", "x=half.npy"], out="[1. 2. 4.]\n"),
    Case(["run", "x", "x=-"], out="[1. 2. 4.]\n", stdin=npy(X.astype(">f2"))),
    Case(["run", "x", "x=-"], out="[[0. 1. 2.]\n [3. 4. 5.]]\n", stdin=npy(np.asfortranarray(np.arange(6, dtype="f2").reshape(2, 3)))),
    Case(["run", "x", "x=-"], says="promises 6 bytes of data, 5 are there", stdin=npy(X.astype("f2"))[:-1]),
    Case(["run", "f32(x)", "x=half.npy", "-o", "small.npy", "--codec", "float16"], files=["small.npy"]),
    Case(["run", "x", "x=x.npy", "-o", "small.npy", "--codec", "float16"], says="these are f64; make them f32(...)"),
    Case(["run", "x", "x=x.npy", "-o", "-", "--codec", "float16"], says="-o - is written as .npy"),
    Case(["run", "x", "x=x.npy", "-o", "small.npy", "--codec", "zstd"], says="which has no codecs"),
    Case(["run", "x", "x=objects.npy"], says="Python objects"),
    Case(["run", "x", "x=dates.npy"], says="dates; store them as integers"),
    Case(["run", "x", "x=strings.npy"], says="it holds text"),
    Case(["run", "x", "x=records.npy"], says="a record array"),
    Case(["run", "x", "x=odd_type.npy"], says="the type 'q9' is not known"),
    Case(["run", "x", "x=long.npy"], says="an axis is too long"),
    Case(["run", "x", "x=huge.npy"], says="promises more bytes than there can be"),
    Case(["run", "x", "x=lying.npy"], says="promises 8000000 bytes of data, 16 are there"),
    Case(["run", "x", "x=negative.npy"], says="expected the length of an axis"),
    Case(["run", "x", "x=axes.npy"], says="more than 32 axes"),
    Case(["run", "x", "x=no_shape.npy"], says="expected 'descr', 'fortran_order' and 'shape'"),
    Case(["run", "x", "x=twice.npy"], says="each once"),
    Case(["run", "x", "x=no_end.npy"], says="expected a comma or }"),
    Case(["run", "x", "x=after.npy"], says="expected nothing after }"),
    Case(["run", "x", "x=version9.npy"], says="version 9.0 of the .npy format is not known"),
    # The language says where.
    Case(["run", "y = 2*"], says="program:1:", lines=3),
    Case(["run", "-f", "wrong.arras"], says="wrong.arras:2:", lines=3),
    Case(["run", "y = sqrtt(x)", "x=1"], says="did you mean `sqrt`?", lines=3),
    Case(["run", "x", "x=[1,2"], says="x:1:5: expected", lines=3),
    Case(["run", "y = sin"], says="`sin` is a function: sin(x)", lines=3),
    Case(["run", "y = a.T"], says="did you mean permute(a)?", lines=3),
    Case(["run", "y = x if x > 1 else 2", "x=1"], says="a choice is written condition ? x : y", lines=3),
    Case(["run", "y = np.sin(x)", "x=1"], says="did you mean `sin`?", lines=3),
    Case(["run", "y = x \u2212 1", "x=1"], says="did you mean `-`?", lines=3),
    Case(["run", "y = x\u00b2", "x=1"], says="did you mean `**2`?", lines=3),
    Case(["run", "y = dot(x, \u201ca\u201d)", "x=1"], says='did you mean `"`?', lines=3),
    Case(["run", "y[i] = x[idx[i]]", "x=x.npy", "idx=[0,7]"], says="7"),
]

WARNINGS = [
    Case(["run", "x", "x=1", "y=2"], "1\n", says="warning: the program does not use the input y",
         status=0),
    Case(["run", "x", "x=1", "y=2", "--quiet"], "1\n"),
    Case(["run", "x", "x=1", "y=none.npy", "-q"], "1\n"),
]


def complaints_about(scratch, case):
    before = scratch.names()
    said = scratch.run(*case.args, stdin=case.stdin)
    status = case.status if case.status is not None else int(case.says is not None or bool(case.err))
    found = []
    if said.status != status:
        found.append(f"status {said.status}, wanted {status}: {said.err}")
    if said.out != case.out:
        found.append(f"printed {said.out!r}, wanted {case.out!r}")
    if case.says is None and said.err != case.err:
        found.append(f"said {said.err!r}, wanted {case.err!r}")
    if case.says is not None and case.says not in said.err:
        found.append(f"said {said.err!r}, wanted a part of it to be {case.says!r}")
    if case.says is not None and said.err.count("\n") != case.lines:
        found.append(f"said {said.err!r}, wanted {case.lines} line(s)")
    new = [name for name in scratch.names() if name not in before]
    if new != case.files:
        found.append(f"new files {new}, wanted {case.files}")
    for name in new:
        (scratch / name).unlink()
    return found


# ---- What does not fit the table -----------------------------------------------------------------


def wrong(what, got, wanted):
    return [] if got == wanted else [f"{what}: {got!r}, wanted {wanted!r}"]


def check_written(scratch):
    """Files are NumPy's own, byte for byte."""
    arrays = [X, TWO, np.float32(0.1), np.zeros((3, 0)), X > 1, X.astype("c8"), np.arange(5, dtype="u1"),
              np.zeros((1,) * 30), np.arange(300_000.0)]
    found = []
    for array in map(np.asarray, arrays):
        np.save(scratch / "in.npy", array)
        said = scratch.run("run", "x", "x=in.npy", "-o", "out.npy")
        piped = scratch.run("run", "x", "x=in.npy", "-o", "-")
        what = f"{array.dtype}{list(array.shape)}"
        found += wrong(f"{what}: status", (said.status, piped.status), (0, 0))
        found += wrong(f"{what}: in a pipe", piped.raw == npy(array), True)
        found += wrong(f"{what}: in a file", (scratch / "out.npy").read_bytes() == npy(array), True)
    return found


def check_no_compiler(scratch):
    """Without a C compiler all goes on, slowly, and that is said."""
    env = {"ARRAS_CC": "/nowhere/cc", "ARRAS_CACHE_DIR": str(scratch / "empty")}
    said = scratch.run("run", "y[i:3] = i*2.25", "--explain", env=env)
    told = "warning: no C compiler" in said.err and "the reference evaluator computes, which is slow" in said.err
    session = scratch.run("repl", stdin=b"x[i:3] = i*2.25\nx*2\n:explain x*3\n", env=env)
    return (
        wrong("run", (said.status, said.out), (0, "[0.   2.25 4.5 ]\n"))
        + wrong("it is said", told, True)
        + wrong("explained", "there are no kernels" in said.err, True)
        + wrong("repl", (session.status, session.out.count("[")), (0, 4))
        + wrong("it is said once", session.err.count("no C compiler"), 1)
        + wrong("and explained", "there are no kernels" in session.out, True)
    )


def check_foreign_cache(scratch):
    """A folder of kernels that is somebody else's is passed over, and that is said once; root leaves
    nothing in the home of a user."""
    cache, home = scratch / "cache", scratch / "home"
    cache.mkdir(0o777 if os.geteuid() else 0o700)
    home.mkdir()
    told = "belongs to user 12345"
    if os.geteuid() == 0:
        os.chown(cache, 12345, 12345)
        os.chown(home, 12345, 12345)
    else:
        print("skipped: users other than root cannot be somebody else")
        cache.chmod(0o777)
        told = "has mode 0777"
    env = {"ARRAS_CACHE_DIR": str(cache)}
    said = scratch.run("run", "y[i:3] = i*2.25", env=env)
    quiet = scratch.run("run", "y[i:3] = i*2.25", "--quiet", env=env)
    session = scratch.run("repl", stdin=b"x[i:3] = i*2.25\nx*2\n", env=env)
    found = (
        wrong("run", (said.status, said.out), (0, "[0.   2.25 4.5 ]\n"))
        + wrong(f"it is said: {said.err}", (said.err.count("\n"), told in said.err), (1, True))
        + wrong("quiet", (quiet.status, quiet.err), (0, ""))
        + wrong("repl", (session.status, session.out.count("[")), (0, 4))
        + wrong("it is said once", session.err.count(told), 1)
    )
    if os.geteuid() == 0:
        env = {"ARRAS_CACHE_DIR": "", "HOME": str(home), "XDG_CACHE_HOME": "", "XDG_STATE_HOME": ""}
        said = scratch.run("run", "y[i:3] = i*2.25", env=env)
        found += wrong("root", (said.status, "root makes no folder" in said.err), (0, True))
        found += wrong("nothing is left", list(home.iterdir()), [])
    return found


def check_info_goes_on(scratch):
    """A file that cannot be read is no end; infinite cells are counted, but not part of the statistics."""
    said = scratch.run("info", "[1,inf,3,nan,-inf]", "none.npy", "[1,2]")
    together = subprocess.run([scratch.command, "info", "1", "none.npy", "2"], cwd=scratch.folder,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
    return (
        wrong("status", said.status, 1)
        + wrong("arrays", said.out.count("array "), 2)
        + wrong("statistics", said.out.split("literal\n")[1].split("\n\n")[0],
                "min      1.0\nmax      3.0\nmean     2\nstd      1\nnan      1 cell\ninf      2 cells")
        + wrong("in order", [together.index(a) for a in ("array    1", "none.npy", "array    2")],
                sorted(together.index(a) for a in ("array    1", "none.npy", "array    2")))
    )


def check_in_place(scratch):
    """A result never replaces one of its inputs: a file, what a link leads to, a file of a folder."""
    np.save(scratch / "h.npy", X)
    (scratch / "other.npy").symlink_to("h.npy")
    (scratch / "parts").mkdir()
    np.save(scratch / "parts" / "1.npy", X)
    before = (scratch / "h.npy").read_bytes()
    problems = []
    for source, sink in [("h.npy", "h.npy"), ("h.npy", "./other.npy"), ("parts", "parts/1.npy")]:
        for command in (["run", "2*h", f"h={source}", "-o", sink], ["label", source, sink]):
            said = scratch.run(*command)
            wanted = (
                f"arras: {sink} would replace the input {source}; write another file, so that the "
                "input stays as it is\n"
            )
            problems += wrong(" ".join(command), said.err, wanted) + wrong("exit", said.status, 1)
    after = [(scratch / name).read_bytes() for name in ("h.npy", "parts/1.npy")]
    problems += wrong("inputs", after, [before, before])
    said = scratch.run("run", "2*h", "h=parts", "-o", "parts/2.npy")  # none of them yet
    return problems + wrong("a new file in the folder", said.err, "")


def check_replacing(scratch):
    """A result replaces what was there; the permissions of the file stay."""
    np.save(scratch / "new.npy", np.arange(1_000_000.0))
    (scratch / "new.npy").chmod(0o640)
    said = scratch.run("run", "2*x", "x=x.npy", "-o", "new.npy")
    mode = (scratch / "new.npy").stat().st_mode & 0o777
    cells = list(np.load(scratch / "new.npy"))
    return (
        wrong("said", said.err, "")
        + wrong("cells", cells, [2.0, 4.0, 8.0])
        + wrong("mode", mode, 0o640)
    )


def check_link(scratch):
    """What a link leads to is replaced, not the link."""
    np.save(scratch / "real.npy", X)
    (scratch / "link.npy").symlink_to("real.npy")
    said = scratch.run("run", "2*x", "x=x.npy", "-o", "link.npy")
    return (
        wrong("said", said.err, "")
        + wrong("is a link", (scratch / "link.npy").is_symlink(), True)
        + wrong("cells", list(np.load(scratch / "real.npy")), [2.0, 4.0, 8.0])
    )


def check_failure_leaves_files(scratch):
    """An error while computing leaves what was there, for all outputs."""
    np.save(scratch / "y.npy", X)
    said = scratch.run("run", "y[i] = x[idx[i]]; z = x", "x=x.npy", "idx=[0,7]", "-o", "y=y.npy", "-o",
                       "z=z.npy")
    return (
        wrong("status", said.status, 1)
        + wrong("cells", list(np.load(scratch / "y.npy")), list(X))
        + wrong("files", [n for n in scratch.names() if n.startswith((".arras", "z"))], [])
    )


def check_damage(scratch):
    """Files with some bytes changed or cut off are read, or refused with one line."""
    rng = np.random.default_rng(1)
    found = []
    for number in range(120):
        array = TWO.astype(rng.choice(["f8", ">i4", "c8", "b1"]))
        data = bytearray(npy(np.asfortranarray(array) if number % 2 else array))
        for place in rng.integers(0, 80, rng.integers(0, 3)):
            data[place] = rng.integers(0, 256)
        if number % 3 == 0:
            data = data[: rng.integers(0, len(data))]
        (scratch / "damaged.npy").write_bytes(data)
        said = scratch.run("run", "--reference", "x", "x=damaged.npy")
        if said.status not in (0, 1) or said.err.count("\n") != said.status:
            found.append(f"number {number}: status {said.status}, {said.err!r}")
    return found


def check_full_output(scratch):
    found = []
    for args in (["run", "x", "x=x.npy"], ["run", "x", "x=x.npy", "-o", "-"], ["help"], ["info", "1"]):
        with open("/dev/full", "wb") as full:
            said = scratch.run(*args, stdout=full)
        found += wrong(f"{args}: status", said.status, 1)
        found += wrong(f"{args}: one line", said.err.count("\n"), 1)
        found += wrong(f"{args}: says", "standard output: No space left" in said.err, True)
    return found


def check_full_disk(scratch):
    """A disk with less room than the result needs, large and small.  Needs root."""
    disk = scratch / "disk"
    disk.mkdir()
    mount = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", disk], capture_output=True)
    if mount.returncode:
        return []
    found = []
    for cells in (10_000, 1_000_000):
        said = scratch.run("run", f"y[i:{cells}] = i*0.5", "-o", "disk/y.npy")
        found += wrong(f"{cells} cells: status", said.status, 1)
        found += wrong(f"{cells} cells: says", "disk/y.npy: No space left" in said.err, True)
        found += wrong(f"{cells} cells: files", os.listdir(disk), [])
    subprocess.run(["umount", disk], check=True)
    return found


def check_forbidden(scratch):
    """Files that must not be read or written.  Root may do both, so it becomes somebody else."""
    nobody = 65534 if os.geteuid() == 0 else None
    env = {"ARRAS_CACHE_DIR": str(scratch / "cache")}
    (scratch / "x.npy").chmod(0)
    (scratch / "two.npy").chmod(0o444)
    scratch.folder.chmod(0o777)
    try:
        read = scratch.run("run", "x", "x=x.npy", env=env, user=nobody)
        write = scratch.run("run", "1", "-o", "two.npy", env=env, user=nobody)
    except PermissionError:  # somebody else may not even run the command
        return []
    return wrong("read", read.err, "arras: cannot read x.npy: Permission denied\n") + wrong(
        "write", write.err, "arras: cannot write two.npy: Permission denied\n"
    )


def check_reader_gone(scratch):
    """`arras run ... | head -1` ends quietly."""
    done = subprocess.run(
        ["sh", "-c", f"{scratch.command} run 'x[i:3000000] = i' -o - | head -c 10 | wc -c"],
        capture_output=True, cwd=scratch.folder,
    )
    return wrong("printed", done.stdout.strip(), b"10") + wrong("said", done.stderr, b"")


def check_stats(scratch):
    said = scratch.run("run", "y = 2*x", "x=x.npy", "-o", "y.npy", "--stats")
    missing = [word for word in ("input     x : f64[3], 24 B", "result    y : f64[3], 24 B", "1 kernel",
                                 "compute", "total") if word not in said.err]
    return wrong("status", said.status, 0) + wrong("missing", missing, [])


def check_explain(scratch):
    said = scratch.run("run", "y = 2*x", "x=x.npy", "--explain")
    late = scratch.run("run", "y[i] = sqrt(x[[0,1,2,2,1,0,1,2][i]])", "x=x.npy", "--explain")
    line = "computed before a gather: sqrt, cells of f64[3] instead of f64[8]"
    return (
        wrong("printed", said.out, "[2. 4. 8.]\n")
        + wrong("explained", len(said.err) > 40, True)
        + wrong("no order was changed", "order of operations" in said.err, False)
        + wrong("the order of operations", late.err.splitlines()[:2], ["order of operations", "  " + line])
    )


def check_info(scratch):
    np.save(scratch / "n.npy", np.array([1.0, np.nan, 3.0, -2.0], ">f4"))
    said = scratch.run("info", "n.npy", "[[3+4j]]")
    return wrong("status", said.status, 0) + wrong("printed", said.out, INFO)


INFO = """\
array    n.npy : f32[4]
size     4 cells, 16 B
layout   .npy version 1, C order, big-endian
min      -2.0
max      3.0
mean     0.6666666667
std      2.054804668
nan      1 cell

array    [[3+4j]] : c128[1, 1]
size     1 cell, 16 B
layout   a literal
of |x|:
min      5.0
max      5.0
mean     5
std      0
"""


def check_info_large(scratch):
    """Through a kernel, as through the evaluator."""
    x = np.random.default_rng(1).normal(5, 2, 200_000).astype("f4")
    x[::1000] = np.nan
    np.save(scratch / "x.npy", x)
    said = scratch.run("info", "x.npy")
    got = dict(line.split(None, 1) for line in said.out.splitlines())
    wide = x.astype("f8")
    return (
        wrong("min and max", (got["min"], got["max"]), (str(np.nanmin(x)), str(np.nanmax(x))))
        + wrong("mean", np.isclose(float(got["mean"]), np.nanmean(wide), rtol=1e-9), True)
        + wrong("std", np.isclose(float(got["std"]), np.nanstd(wide), rtol=1e-9), True)
        + wrong("nan", got["nan"], "200 cells")
    )


def check_info_huge(scratch):
    """The header at once; cells only when they are asked for, and then not all at once."""
    cells = np.lib.format.open_memmap(scratch / "huge.npy", "w+", ">i2", (160, 1000, 1000), fortran_order=True)
    cells[1, 2, 3], cells[159, 999, 999] = 5, -400
    del cells
    said = scratch.run("info", "huge.npy", "2.5")
    head = """\
array    huge.npy : i16[160, 1000, 1000]
size     160000000 cells, 320 MB
layout   .npy version 1, Fortran order, big-endian
"""
    none = "stats    not computed, all cells would have to be read: arras info --stats\n"
    asked = scratch.run("info", "huge.npy", "--stats")
    (scratch / "huge.npy").unlink()
    mean = -395 / 160e6
    std = np.sqrt((25 + 160000) / 160e6 - mean**2)
    values = dict(line.split(None, 1) for line in asked.out.removeprefix(head).splitlines())
    return (
        wrong("not asked", said.out.startswith(head + none + "\narray    2.5 : f64[]\n"), True)
        + wrong("asked", asked.out.startswith(head), True)
        + wrong("min and max", (values.get("min"), values.get("max")), ("-400", "5"))
        + wrong("mean", np.isclose(float(values.get("mean", 0)), mean, rtol=1e-9), True)
        + wrong("std", np.isclose(float(values.get("std", 0)), std, rtol=1e-9), True)
    )


def check_help(scratch):
    found = []
    for topic in scratch.run("help", "--words", "topics").out.split():
        said = scratch.run("help", topic)
        found += wrong(f"{topic}: status", said.status, 0)
        wide = [line for line in said.out.splitlines() if len(line) > 110]
        found += wrong(f"{topic}: wide lines", wide[:2] if topic != "functions" else [], [])
    for command in scratch.run("help", "--words", "commands").out.split():
        found += wrong(command, scratch.run(command, "--help").out, scratch.run("help", command).out)
        for option in scratch.run("help", "--words", command).out.split():
            text = scratch.run("help", command).out
            found += wrong(f"{command} {option} is explained", option in text, True)
    return found + wrong("arras --help", scratch.run("--help").out, scratch.run("help").out)


def check_man_page(scratch):
    page = scratch.run("help", "--man").out
    missing = [word for word in (".TH ARRAS 1", ".SH RUN", ".SH SOURCES", "\\-\\-threads") if word not in page]
    return wrong("missing", missing, [])


def completions(scratch, *words):
    """What bash offers for the last word."""
    script = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _arras; printf "%s\\n" "${COMPREPLY[@]}"'
    here = os.path.dirname(os.path.abspath(__file__))
    said = subprocess.run(
        ["bash", "-c", script, "bash", f"{here}/../../cmd/completion/arras.bash", scratch.command, *words],
        capture_output=True, text=True, cwd=scratch.folder,
    )
    return sorted(said.stdout.split())


def check_completion(scratch):
    return (
        wrong("r", completions(scratch, "r"), ["rechunk", "repl", "run"])
        + wrong("--v", completions(scratch, "--v"), ["--version"])
        + wrong("run --th", completions(scratch, "run", "--th"), ["--threads"])
        + wrong("help so", completions(scratch, "help", "so"), ["sources"])
        + wrong("info tw", completions(scratch, "info", "tw"), ["twice.npy", "two.npy"])
        + wrong("run y x=tw", completions(scratch, "run", "y", "x=tw"), ["twice.npy", "two.npy"])
        + wrong("run y --device ", completions(scratch, "run", "y", "--device", ""), ["cpu"])
    )


CHECKS = [
    ("written files are NumPy's", check_written),
    ("no C compiler", check_no_compiler),
    ("a foreign cache", check_foreign_cache),
    ("info goes on after a mistake", check_info_goes_on),
    ("a result replaces no input", check_in_place),
    ("a result replaces what was there", check_replacing),
    ("links are followed", check_link),
    ("a failure leaves files as they were", check_failure_leaves_files),
    ("damaged files", check_damage),
    ("standard output is full", check_full_output),
    ("the disk is full", check_full_disk),
    ("permissions", check_forbidden),
    ("nobody reads the pipe", check_reader_gone),
    ("--stats", check_stats),
    ("--explain", check_explain),
    ("info", check_info),
    ("info of a large array", check_info_large),
    ("info of a huge array", check_info_huge),
    ("help", check_help),
    ("man page", check_man_page),
    ("completion in bash", check_completion),
]


def fill(scratch):
    for name, data in FILES.items():
        (scratch / name).write_bytes(data)
    for name in DIRECTORIES:
        (scratch / name).mkdir()


def main():
    chosen = command_kit.options(__doc__)
    tally = Tally()
    with command_kit.Scratch(chosen.command) as scratch:
        fill(scratch)
        for case in RESULTS + MISTAKES + WARNINGS:
            tally.check("arras " + " ".join(case.args), complaints_about(scratch, case))
    for name, check in CHECKS:
        with command_kit.Scratch(chosen.command) as scratch:
            fill(scratch)
            tally.check(name, check(scratch))
    tally.finish()


main()
