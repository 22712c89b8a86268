#!/usr/bin/env python3
"""differential.py -- random programs, run by Arras and by NumPy, compared step by step.

  differential.py --library libarras.so [--programs 2000] [--seed N] [--first N] [--jobs 2]
                  [--compiled]

Ends with a line "N passed, M failed".  A failure is printed with its seed and number; run it
alone with --seed N --first NUMBER --programs 1.  NumPy 1.24 does as NumPy 2 when
NPY_PROMOTION_STATE is "weak".
"""

import argparse
import faulthandler
import json
import os
import random
import sys
import traceback
import warnings

sys.dont_write_bytecode = True
if os.environ.get("NPY_PROMOTION_STATE") != "weak":
    os.execve(
        sys.executable, [sys.executable] + sys.argv, {**os.environ, "NPY_PROMOTION_STATE": "weak"}
    )

import numpy as np  # noqa: E402

import arras_ctypes  # noqa: E402
from against_numpy import exhaustive, program, runner, steps  # noqa: E402

DEFAULT_SEED = 20240613


def check_program(lib, seed, number):
    """What is reported of one program."""
    rng = random.Random(f"{seed}/{number}")
    drawn = program.draw_program(rng, lib)
    checker = runner.Checker(lib, drawn).check()
    dumps = [runner.dump(lib, drawn, problem) for problem in checker.problems]
    return {
        "labels": sorted(checker.labels),
        "steps": len(drawn.steps),
        "problems": dumps,
        "symbolic_refusals": checker.symbolic_refusals,
    }


def check_group(group):
    return {"title": group.title, "cases": len(group.cases), "problems": group.run().problems}


def tasks(lib, options):
    """(name, function) of all there is to do, in one order in every process."""
    if options.first == 0 and not options.programs_only:
        groups = exhaustive.groups_thinned if options.thin else exhaustive.groups
        for group in groups(lib):
            yield group.title, lambda group=group: check_group(group)
    for number in range(options.first, options.first + options.programs):
        yield f"program {number}", lambda number=number: check_program(lib, options.seed, number)


def protected(function):
    try:
        return function()
    except Exception:  # a mistake of the tests is a failure, and the next program still runs
        return {"problems": [traceback.format_exc(limit=-4)]}


# ---- Workers: a crash of the library ends one of them, and is reported -----------------------


def work(options, worker, after, pipe):
    """Every jobs-th task after a given one; one line of JSON before and after each."""
    faulthandler.enable()
    lib = arras_ctypes.Library(options.library, options.compiled)
    with os.fdopen(pipe, "w") as out:
        for place, (name, function) in enumerate(tasks(lib, options)):
            if place % options.jobs != worker or place <= after:
                continue
            print(json.dumps({"begin": place, "name": name}), file=out, flush=True)
            print(
                json.dumps({"end": place, "name": name, **protected(function)}),
                file=out,
                flush=True,
            )


class Worker:
    def __init__(self, options, number):
        self.options, self.number, self.last = options, number, None
        self.start(-1)

    def start(self, after):
        read, write = os.pipe()
        sys.stdout.flush()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(read)
            work(self.options, self.number, after, write)
            os._exit(0)
        os.close(write)
        self.lines = os.fdopen(read)

    def reports(self):
        """Reports until all is done; a crash is a report too, and a new process goes on after
        it."""
        while True:
            for line in self.lines:
                message = json.loads(line)
                self.last = message
                if "end" in message:
                    yield message
            _, status = os.waitpid(self.pid, 0)
            if status == 0:
                return
            if self.last is None or "end" in self.last:
                yield {"name": "a worker", "problems": [f"ended with status {status}"]}
                return
            yield {"name": self.last["name"], "problems": [f"CRASH: process status {status}"]}
            self.start(self.last["begin"])


def all_reports(options):
    """Takes turns, so that no pipe fills up."""
    streams = [Worker(options, number).reports() for number in range(options.jobs)]
    while streams:
        for stream in list(streams):
            report = next(stream, None)
            if report is None:
                streams.remove(stream)
            else:
                yield report


# ---- The report ------------------------------------------------------------------------------


class Tally:
    def __init__(self, most_shown):
        self.most_shown = most_shown
        self.passed = self.failed = self.programs = self.steps = self.cases = self.symbolic = 0
        self.used = {}

    def add(self, report, seed):
        if report["problems"]:
            self.failed += 1
            self.show(report, seed)
        else:
            self.passed += 1
        self.programs += "labels" in report
        self.steps += report.get("steps", 0)
        self.cases += report.get("cases", 0)
        self.symbolic += report.get("symbolic_refusals", 0)
        for label in report.get("labels", []):
            self.used[label] = self.used.get(label, 0) + 1

    def show(self, report, seed):
        if self.failed > self.most_shown:
            return
        print(f"FAILED seed {seed}, {report['name']}: {len(report['problems'])} problem(s)")
        for problem in report["problems"][: self.most_shown]:
            print("  " + problem.replace("\n", "\n  "))
        sys.stdout.flush()

    def coverage(self, wanted):
        """Prints how many programs used each thing; what none used is a failure."""
        print(
            f"{self.programs} programs of {self.steps} steps, {self.cases} single cases; "
            f"{self.symbolic} steps refused because a length was not known"
        )
        if self.programs < 100:
            return
        print(
            "programs that used each: "
            + ", ".join(f"{label} {self.used.get(label, 0)}" for label in sorted(wanted))
        )
        missing = sorted(label for label in wanted if label not in self.used)
        if missing and self.programs >= 2000:
            self.failed += 1
            print("FAILED never used: " + ", ".join(missing))


def options_given():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--library", required=True, help="path of the shared library")
    parser.add_argument("--programs", type=int, default=2000)
    parser.add_argument("--seed", default=DEFAULT_SEED)
    parser.add_argument("--first", type=int, default=0, help="number of the first program")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument(
        "--compiled", action="store_true", help="compile and launch instead of evaluating"
    )
    parser.add_argument(
        "--thin", action="store_true", help="not every combination in the exhaustive part"
    )
    parser.add_argument(
        "--show", type=int, default=12, help="how many failures are printed in full"
    )
    parser.add_argument(
        "--programs-only", action="store_true", help="leave the exhaustive part out"
    )
    return parser.parse_args()


def main():
    options = options_given()
    warnings.simplefilter("ignore")
    lib = arras_ctypes.Library(options.library)
    print(
        f"Arras {lib.version().decode()} against NumPy {np.__version__}, seed {options.seed}",
        flush=True,
    )
    tally = Tally(options.show)
    for report in all_reports(options):
        tally.add(report, options.seed)
    tally.coverage(steps.all_labels(lib))
    print(f"{tally.passed} passed, {tally.failed} failed")
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main())
