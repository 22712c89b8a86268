"""random_language.py --library libarras.so --language liblanguage.so [--programs 300] [--first 1]

Random programs of the language against an oracle that was written from the manual: in the reference
evaluator, compiled with 1, 2, 3 and 7 threads, tile by tile from files to files, and resumed.  The
oracle says which types, shapes, integers and, within what rounding explains, which reals come out;
compiled, every way has to give the same bits.

A program is known by its number (--first N --programs 1 repeats it).  One that fails is made smaller
before it is printed, unless --no-shrinking."""

import argparse
import os
import random
import signal
import sys
import time

sys.dont_write_bytecode = True
# NumPy 1.24 does as NumPy 2 in this state, which must be set before it is loaded.
if os.environ.get("NPY_PROMOTION_STATE") != "weak":
    os.execve(sys.executable, [sys.executable] + sys.argv,
              {**os.environ, "NPY_PROMOTION_STATE": "weak"})

from arras_ctypes import ArrasError, name_of
from language import oracle
from language.drawing import draw_program
from language.modes import THREADS, Language, Refused, Runs
from language.shrinking import shrunk
from tally import Tally

# What is known to be wrong: (why, whether a program has it).  Has to be empty.
KNOWN = [
]
PATIENCE = 60  # seconds for a program and all its ways


def nodes_of(program):
    return [n for e in program.equations for tree in e.trees() for n in tree.walk()]


def same_bits(a, b):
    return {n: (x.dtype, x.shape, x.tobytes()) for n, x in a.items()} == {
        n: (x.dtype, x.shape, x.tobytes()) for n, x in b.items()}


class Check:
    def __init__(self, language, thorough):
        self.language, self.thorough = language, thorough
        self.limited = self.streamed = 0

    def complaints(self, program, want, number):
        """want: the oracle's results; None: an error."""
        rng = random.Random(number)
        try:
            runs = Runs(self.language, program, rng)
        except Refused as refused:
            return [] if want is None else ["refused:", *refused.text.splitlines()]
        with runs:
            found = self.compare("in the reference evaluator", runs.reference, want)
            return found or self.compare_compiled(runs, want, number)

    def outcome(self, run):
        """(results, None) or (None, the error)."""
        try:
            return run(), None
        except (Refused, ArrasError) as refused:
            return None, refused

    def compare(self, how, run, want):
        got, refused = self.outcome(run)
        if refused is not None:
            return [] if want is None else [f"{how}: {refused.status}: {refused}"]
        if want is None:
            return [f"{how}: there is no error"]
        if set(got) != set(want):
            return [f"{how}: results {sorted(got)}, not {sorted(want)}"]
        problems = [(name, oracle.wrong(got[name], want[name])) for name in want]
        return [f"{how}: {name}: {problem}" for name, problem in problems if problem]

    def compare_compiled(self, runs, want, number):
        tile_bytes = [0, 64, 1000, 300][number % 4]
        first = None
        for threads in THREADS:
            how = f"with {threads} threads and tiles of {tile_bytes or 'the usual'} bytes"
            program, refused = self.outcome(lambda: runs.compiled(threads, tile_bytes))
            if refused is not None:
                return [] if want is None else [f"{how}: {refused.status}: {refused}"]
            try:
                if first is None:
                    found = self.compare(how, lambda: runs.launch(program), want)
                    if found:
                        return found
                    first = runs.launch(program) if want is not None else {}
                found = self.compare_ways(runs, program, first, how, want, number + threads)
                if found:
                    return found
            finally:
                runs.lib.program_free(program)
        return []

    def compare_ways(self, runs, program, first, how, want, number):
        memory = [64 << 20, 400_000, 30_000][number % 3]
        ways = [("in memory", lambda: runs.launch(program))]
        if number % 2 == 0 or self.thorough:
            ways.append(("tile by tile", lambda: runs.stream(program, first, memory, False)))
        if want is not None and (number % 5 == 0 or self.thorough):
            ways.append(("resumed", lambda: runs.stream(program, first, memory, True)))
        for name, way in ways:
            got, refused = self.outcome(way)
            if refused is not None and refused.status == "ARRAS_ELIMIT" and name != "in memory":
                self.limited += 1
            elif refused is not None:
                if want is not None:
                    return [f"{name} {how}: {refused.status}: {refused}"]
            elif want is None:
                return [f"{name} {how}: there is no error"]
            elif not same_bits(got, first):
                return [f"{name} {how}: other bits", *bits_that_differ(got, first)]
            self.streamed += name != "in memory"
        return []


def bits_that_differ(got, first):
    for name in first:
        if name not in got or got[name].tobytes() != first[name].tobytes():
            yield f"{name}: {got.get(name)!r}"
            yield f"in memory with 1 thread: {first[name]!r}"


# ---- Programs in processes of their own, for one may crash -----------------------------------------


def with_deadline(function):
    signal.alarm(PATIENCE)
    try:
        return function()
    finally:
        signal.alarm(0)


def try_alone(language, program, want, number):
    """What a child has to complain about a program; that it died counts too."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        signal.alarm(PATIENCE)
        found = Check(Language(*language), True).complaints(program, want, number)
        os.write(writing, "\n".join(found).encode()[:4000])
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        said = pipe.read().decode(errors="replace")
    _, status = os.waitpid(child, 0)
    if status != 0:
        how = f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else "status"
        return [how, f"the process ended with {status}"]
    return said.splitlines()


def constant_text(array):
    """The array as a constant of the language."""
    if array.dtype.kind == "b":
        text = str(array.tolist()).replace("True", "true").replace("False", "false")
    else:
        text = str(array.tolist())
    return f"{name_of(array.dtype)}({text})"


def report(program, number, complaints):
    lines = [f"program {number}; again: --first {number} --programs 1", ""]
    lines += [f"    {line}" for line in program.text().splitlines()]
    used = program.used()
    for name, array in program.inputs.items():
        if name in used:
            text = constant_text(array)
            lines.append(f"    {name}='{text if len(text) < 600 else text[:600] + ' ...'}'")
    for name, (_, new) in program.params.items():
        if new is not None:
            lines.append(f"    -p {name}={new}")
    return lines + [""] + complaints


def drawn(number):
    """A program, and how many known defects were passed over for it."""
    for again in range(100):
        rng = random.Random(f"{number}.{again}")
        program, want = draw_program(rng)
        if not any(has(program) for _, has in KNOWN):
            return program, want, again
    raise RuntimeError("every program has a known defect")


def run_part(options, numbers, out):
    """In a child: a line for each program that is begun, and for each that is done."""
    check = Check(Language(options.library, options.language), options.thorough)
    for number in numbers:
        print("begin", number, file=out, flush=True)
        found = with_deadline(lambda: check.complaints(*drawn(number)[:2], number))
        print("failed" if found else "passed", number, file=out, flush=True)
    print("streams", check.streamed, check.limited, file=out, flush=True)
    out.close()
    os._exit(0)


class Session:
    def __init__(self, options):
        self.options, self.tally = options, Tally()
        self.streamed = self.limited = 0

    def run(self, numbers):
        """Children go on where one has died."""
        while numbers:
            numbers = numbers[self.run_child(numbers) :]

    def run_child(self, numbers):
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            run_part(self.options, numbers, os.fdopen(writing, "w"))
        os.close(writing)
        begun = 0
        with os.fdopen(reading) as pipe:
            for line in pipe:
                word, *given = line.split()
                begun += word == "begin"
                if word == "passed":
                    self.tally.check("", [])
                elif word == "failed":
                    self.explain(int(given[0]))
                elif word == "streams":
                    self.streamed += int(given[0])
                    self.limited += int(given[1])
        _, status = os.waitpid(child, 0)
        if status != 0:
            self.explain(numbers[max(begun - 1, 0)])
        return max(begun, 1) if status else len(numbers)

    def explain(self, number):
        language = (self.options.library, self.options.language)
        program, want, _ = drawn(number)

        def complaints(program, want):
            return try_alone(language, program, want, number)

        found = complaints(program, want) or ["it failed, but not when it was tried again alone"]
        if not self.options.no_shrinking:
            program, found = shrunk(program, want, found, complaints)
        self.tally.check(f"seed {number}", report(program, number, found))
        sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--library", required=True, help="path of libarras.so")
    parser.add_argument("--language", required=True, help="path of the language as a library")
    parser.add_argument("--programs", type=int, default=300)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--thorough", action="store_true", help="all ways for each program")
    parser.add_argument("--no-shrinking", action="store_true")
    parser.add_argument("--show", action="store_true", help="print the programs")
    options = parser.parse_args()
    for path in (options.library, options.language):
        if not os.path.exists(path):
            sys.exit(f"random_language.py: there is no {path}")
    numbers = list(range(options.first, options.first + options.programs))
    if options.show:
        for number in numbers:
            print("\n".join(report(drawn(number)[0], number, [])))
        return
    session, began = Session(options), time.monotonic()
    session.run(numbers)
    print(f"programs {numbers[0]} to {numbers[-1]}: {session.streamed} times tile by tile, "
          f"{session.limited} of them refused for want of memory; {time.monotonic() - began:.0f} s")
    session.tally.finish()


main()
