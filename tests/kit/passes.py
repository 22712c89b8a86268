"""passes.py --tool PASS_TOOL FILE ... -- stages of compilation, tested by text: in ROOM/passes/STAGE.txt stand
programs and what the stage makes of them.

    # why this example
    size n
    input x : f64[n]
    ...
    => what is expected, in the text form

Examples are separated by empty lines; the line `arras 1` is left out.  With --rewrite, what comes
out is written into the files: look at the difference before you commit it.
"""

import argparse
import difflib
import subprocess
from pathlib import Path

from tally import Tally

FIRST = "arras 1\n"


class Example:
    def __init__(self, text):
        program, arrow, self.want = text.partition("=>\n")
        lines = program.splitlines(keepends=True)
        self.why = "".join(line for line in lines if line.startswith("#"))
        self.program = "".join(line for line in lines if not line.startswith("#"))
        self.whole = bool(arrow) and bool(self.why)

    def text(self, want):
        return f"{self.why}{self.program}=>\n{want}"


def read(path):
    text = path.read_text()
    return [Example(part.strip("\n") + "\n") for part in text.split("\n\n") if part.strip()]


def run(tool, stage, examples):
    """What the stage makes of each."""
    programs = "".join(f"{FIRST}{example.program}=>\n" for example in examples)
    ran = subprocess.run([tool, stage], input=programs, capture_output=True, text=True, check=True)
    return [text.removeprefix(FIRST) for text in ran.stdout.split("=>\n")[:-1]]


def differences(want, got):
    lines = difflib.unified_diff(
        want.splitlines(), got.splitlines(), "expected", "made", lineterm="", n=99
    )
    return list(lines)


def check(tally, path, tool, rewrite):
    stage, examples = path.stem, read(path)
    outcomes = run(tool, stage, examples)
    tally.check(f"{stage}: one outcome for each example", [] if len(outcomes) == len(examples) else ["no"])
    for example, got in zip(examples, outcomes):
        complaints = [] if example.whole else ["it has no reason (#) or no =>"]
        if not rewrite:
            complaints += differences(example.want, got)
        tally.check(f"{stage}: {example.why.strip()}", complaints)
    if rewrite:
        path.write_text("\n".join(e.text(got) for e, got in zip(examples, outcomes)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tool", required=True)
    parser.add_argument("--rewrite", action="store_true")
    parser.add_argument("files", nargs="+", type=Path)
    arguments = parser.parse_args()
    tally = Tally()
    for path in sorted(arguments.files):
        check(tally, path, arguments.tool, arguments.rewrite)
    tally.finish()


main()
