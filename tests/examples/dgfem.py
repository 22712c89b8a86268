"""dgfem.py --program DGFEM --command ARRAS [--long] -- the example dgfem against values that other programs computed:
norms, errors, rates of convergence, what is conserved and what may only fall, and its command line."""

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
from tally import Tally

NORM = 1e-12  # relative
CONSERVED = 1e-13
RATE = 0.15

# One right-hand side on 4 x 4 x 4 cells: norms of all fields, by degree.
RATES = {
    "wave": {
        1: [4.324611927586e-01, 1.727084456205e-01, 2.291023848773e-01, 2.931328391167e-01],
        2: [5.906041966081e-01, 2.615463822862e-01, 3.445069608611e-01, 4.199654892584e-01],
        3: [7.267148639259e-01, 3.841684180482e-01, 5.305133686954e-01, 6.138860482049e-01],
        4: [8.767416672967e-01, 4.830664324813e-01, 5.859394198465e-01, 6.648703737077e-01],
    },
    "euler": {
        1: [7.323137854121e-01, 2.533588917531e00, 6.399139271299e-01, 8.088412295598e-01, 9.774176501683e-01],
        2: [1.014482417645e00, 3.504740610137e00, 8.177196493405e-01, 1.050390953001e00, 1.301099696942e00],
        3: [1.253300656253e00, 4.334767696163e00, 9.942682418333e-01, 1.273693215185e00, 1.578650068825e00],
        4: [1.512562111828e00, 5.232593154055e00, 1.192506555302e00, 1.524753450986e00, 1.900635281251e00],
    },
}

# Of a case by degree and cells: steps, error of all fields, errors of each.
ERRORS = {
    "W1": {
        (1, 4): (8, 3.810886662670e-02, [1.7845748828e-02, 1.8765648645e-02, 2.0724763598e-02, 1.8765648645e-02]),
        (1, 8): (16, 1.031446117548e-02, [5.2818670058e-03, 4.9314745067e-03, 5.4636168106e-03, 4.9314745067e-03]),
        (2, 4): (18, 5.145127993601e-03, [1.8324432873e-03, 2.7409125544e-03, 2.8441677882e-03, 2.7409125544e-03]),
        (2, 8): (36, 6.578309066796e-04, [1.8861565957e-04, 3.6030486733e-04, 3.7084557420e-04, 3.6030486733e-04]),
        (3, 4): (32, 5.768318596682e-04, [2.2752737352e-04, 3.0014201921e-04, 3.1748358263e-04, 3.0014201921e-04]),
        (3, 8): (64, 3.526953135858e-05, [1.3293804790e-05, 1.8474468211e-05, 1.9611288717e-05, 1.8474468211e-05]),
        (4, 4): (50, 6.351697495336e-05, [2.4122971394e-05, 3.3764762191e-05, 3.4239889410e-05, 3.3764762191e-05]),
        (4, 8): (100, 1.909267394025e-06, [6.8172301608e-07, 9.8836240611e-07, 1.1076259386e-06, 9.8836240604e-07]),
    },
    "W2": {
        (1, 4): (8, 3.873582687514e-01, [2.1022986387e-01, 1.8272744061e-01, 1.7873294986e-01, 2.0128350103e-01]),
        (2, 4): (18, 1.058141393496e-01, [6.0314550692e-02, 4.9871257400e-02, 4.7477841007e-02, 5.3080122077e-02]),
        (3, 4): (32, 1.776453581002e-02, [9.2969582909e-03, 8.7017336618e-03, 8.2513399705e-03, 9.2379932373e-03]),
        (4, 4): (50, 2.917327881224e-03, [1.5777701027e-03, 1.3886996187e-03, 1.3334696069e-03, 1.5214518218e-03]),
    },
    "E3": {
        (1, 4): (8, 6.004670295022e-02, [2.0795628703e-02, 5.2542283371e-02, 9.8753060843e-03, 9.7839188199e-03, 1.4805744914e-02]),
        (2, 4): (18, 1.740728976658e-02, [5.9123191655e-03, 1.5006359406e-02, 3.2037095748e-03, 3.3056243612e-03, 4.6558016510e-03]),
        (3, 4): (32, 4.933843978529e-03, [1.4724037087e-03, 4.1725159858e-03, 1.1391718683e-03, 1.1339738892e-03, 1.4769376238e-03]),
        (4, 4): (50, 1.214620736657e-03, [5.2470328570e-04, 9.0335766447e-04, 2.9844464562e-04, 2.9405221925e-04, 4.5650740606e-04]),
    },
    "E1": {
        (1, 4): (16, 1.699874202705e-02, [8.9173728666e-03, 8.0813691604e-03, 8.9173728666e-03, 4.4586864333e-03, 6.6880296500e-03]),
        (2, 4): (36, 7.129806534407e-03, [3.7402263787e-03, 3.3895801557e-03, 3.7402263787e-03, 1.8701131894e-03, 2.8051697840e-03]),
        (3, 4): (64, 6.482165992549e-04, [3.4004805207e-04, 3.0816854719e-04, 3.4004805207e-04, 1.7002402603e-04, 2.5503603905e-04]),
        (4, 4): (100, 5.005098592026e-05, [2.6256254909e-05, 2.3794731011e-05, 2.6256254909e-05, 1.3128127454e-05, 1.9692191182e-05]),
    },
}

KEYS = {"norms", "errors", "error", "integrals", "energy", "steps", "ms_per_rhs", "kernels", "tasks",
        "bytes_moved", "bytes_compulsory"}

# What is wrong with a command line, and a word that says so.
MISTAKES = [
    ([], "wave or euler"),
    (["heat"], "wave or euler"),
    (["wave", "--case", "E1"], "W1 W2 W3 R"),
    (["wave", "--degree", "5"], "degree 5"),
    (["wave", "--degree", "0"], "degree 0"),
    (["wave", "--degree", "two"], "'two'"),
    (["wave", "--degree", "1;2"], "';2'"),
    (["wave", "--cells", "0"], "at least 1"),
    (["euler", "--case", "E1", "--cells", "2"], "at least 3"),
    (["wave", "--cells", "100000"], "take fewer"),
    (["wave", "--cells", "2x2"], "one number, or three"),
    (["wave", "--cells", "99999999999"], "'99999999999'"),
    (["wave", "--steps"], "--steps"),
    (["wave", "--tetrahedra", "7"], "--tetrahedra"),
    (["wave", "--print", "poem"], "explain"),
    (["wave", "--height", "2"], "-0.5 to 0.5"),
]


def near(found, wanted, relative, absolute=0.0):
    return abs(found - wanted) <= absolute + relative * abs(wanted)


def rounding(printed_digits, wanted):
    """What the last printed digit of a reference value stands for."""
    return 0.5 * 10.0 ** (math.floor(math.log10(abs(wanted))) - printed_digits)


class Test:
    def __init__(self, program):
        self.program = program
        self.tally = Tally()

    def dgfem(self, *words, folder=None):
        return subprocess.run(
            [self.program, *map(str, words)], capture_output=True, text=True, timeout=600, cwd=folder
        )

    def runs(self, *words):
        ran = self.dgfem(*words, "--json")
        if ran.returncode:
            self.tally.check(" ".join(map(str, words)), [ran.stderr.strip() or f"status {ran.returncode}"])
            return []
        return [json.loads(line) for line in ran.stdout.splitlines()]

    def check(self, what, holds, detail):
        self.tally.check(what, [] if holds else [detail])

    def title(self, run):
        return f"{run['equations']} {run['case']}, degree {run['degree']}, {run['cells']} cells"

    def rates(self, equations, degrees):
        words = ",".join(map(str, degrees))
        for run in self.runs(equations, "--case", "R", "--degree", words, "--cells", 4):
            wanted = RATES[equations][run["degree"]]
            away = [
                f"{name}: {found!r}, not {norm!r}"
                for name, found, norm in zip(run["fields"], run["norms"], wanted)
                if not near(found, norm, NORM, rounding(12, norm))
            ]
            self.tally.check(f"norms of {self.title(run)}", away)
            missing = sorted(KEYS - run.keys())
            self.tally.check(f"keys of {self.title(run)}", [f"no {key}" for key in missing])
            self.check(f"bytes of {self.title(run)}",
                       run["bytes_moved"] >= run["bytes_compulsory"] > 0, "fewer than compulsory")

    def errors(self, case, places):
        """Runs a case in all places (degree, cells); returns what was found there."""
        equations, found = "wave" if case[0] == "W" else "euler", {}
        for degree, cells in places:
            for run in self.runs(equations, "--case", case, "--degree", degree, "--cells", cells):
                found[degree, cells] = run
                steps, error, errors = ERRORS[case][degree, cells]
                self.check(f"steps of {self.title(run)}", run["steps"] == steps, f"{run['steps']}, not {steps}")
                self.compare_errors(run, [error, *errors])
                self.conserved(run, case)
        return found

    def compare_errors(self, run, wanted):
        found = [run["error"], *run["errors"]]
        # The first value has 13 digits, the others 11.
        slack = [1e-13 + rounding(12 if k == 0 else 10, x) for k, x in enumerate(wanted)]
        away = [
            f"{name}: {x!r}, not {want!r}"
            for name, x, want, room in zip(["all", *run["fields"]], found, wanted, slack)
            if not near(x, want, 1e-10, room)
        ]
        self.tally.check(f"errors of {self.title(run)}", away)

    def conserved(self, run, case):
        """In periodic boxes all integrals stay; the energy of a wave only falls."""
        lost = [
            f"{name}: from {before!r} to {after!r}"
            for name, before, after in zip(run["fields"], run["integrals_before"], run["integrals"])
            if abs(after - before) > CONSERVED * max(1, abs(before))
        ]
        if case != "W1":
            self.tally.check(f"what {self.title(run)} conserves", lost)
        if case[0] == "W":
            self.check(f"energy of {self.title(run)}", run["energy"] <= run["energy_before"] * (1 + 1e-14),
                       f"from {run['energy_before']!r} to {run['energy']!r}")

    def convergence(self, found):
        for degree in sorted({degree for degree, cells in found if cells == 8}):
            wanted, rate = (
                math.log2(coarse / fine)
                for coarse, fine in (
                    (ERRORS["W1"][degree, 4][1], ERRORS["W1"][degree, 8][1]),
                    (found[degree, 4]["error"], found[degree, 8]["error"]),
                )
            )
            self.check(f"rate of degree {degree}", abs(rate - wanted) <= RATE, f"{rate:.3f}, not {wanted:.3f}")
            self.check(f"order of degree {degree}", rate > degree + 0.8, f"{rate:.3f}")

    def walls(self):
        """Nothing flows through walls: mass and energy stay; a box need not be a cube."""
        for run in self.runs("euler", "--case", "E2", "--degree", 1, "--cells", "3x2x4", "--steps", 5):
            for k, name in enumerate(["rho", "E"]):
                change = abs(run["integrals"][k] - run["integrals_before"][k])
                self.check(f"{name} between walls", change <= CONSERVED * 3, f"changed by {change:.2g}")
            self.check("exact solutions are not invented", run["error"] is None, f"{run['error']}")
            self.check("elements", run["elements"] == 144, f"{run['elements']}")

    def same_bits(self):
        """Threads and fusion may not change a result."""
        words = ["wave", "--case", "R", "--degree", 1, "--cells", 3]
        wanted = [run["norms"] for run in self.runs(*words)]
        for more in (["--threads", 1], ["--no-fusion"]):
            found = [run["norms"] for run in self.runs(*words, *more)]
            self.check(f"the same bits with {more[0]}", found == wanted, f"{found}, not {wanted}")

    def table(self):
        ran = self.dgfem("wave", "--degree", 1, "--cells", "4,8")
        self.check("a table has rates", "1.885" in ran.stdout, ran.stdout + ran.stderr)

    def picture(self, command):
        with tempfile.TemporaryDirectory() as folder:
            ran = self.dgfem("wave", "--degree", 1, "--cells", 4, "--picture", "u.npy", folder=folder)
            self.check("a picture is written", ran.returncode == 0, ran.stderr)
            shown = subprocess.run([command, "show", "u.npy", "--png", "u.png"], cwd=folder,
                                   capture_output=True, text=True)
            made = Path(folder, "u.png")
            self.check("arras shows it", made.exists() and made.stat().st_size > 1000, shown.stderr)
            again = self.dgfem("wave", "--degree", 1, "--cells", 4, "--picture", "u.npy", folder=folder)
            self.check("what there is already stays", again.returncode == 1 and "u.npy" in again.stderr,
                       again.stderr)

    def mistakes(self):
        for words, told in MISTAKES:
            ran = self.dgfem(*words)
            self.check(f"dgfem {' '.join(words)}", ran.returncode == 1 and told in ran.stderr, ran.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True, type=os.path.abspath)
    parser.add_argument("--command", required=True, type=os.path.abspath, help="arras")
    parser.add_argument("--long", action="store_true", help="all values there are")
    arguments = parser.parse_args()
    test = Test(arguments.program)
    test.mistakes()
    degrees = [1, 2, 3, 4] if arguments.long else [1, 3]
    for equations in RATES:
        test.rates(equations, degrees)
    places = {case: [at for at in of if arguments.long or at[0] <= 1] for case, of in ERRORS.items()}
    test.convergence(test.errors("W1", places.pop("W1")))
    for case, of in places.items():
        test.errors(case, of)
    test.walls()
    test.same_bits()
    test.table()
    test.picture(arguments.command)
    test.tally.finish()


main()
