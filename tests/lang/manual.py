"""manual.py --command ARRAS [--write] [FILE] -- every example of the manual, of docs/files.md and of the
README, prints what the text says.

A block of code whose first line begins with `$ ` is a session: lines after `$ ` and `> ` are given to a shell
(one command each time, all of the manual in one scratch directory), and the lines below are what it printed, on
standard output and standard error.  The table of functions must be that of `arras help functions`.
--write puts what was printed, and the table, into the manual instead.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
from tally import Tally

MANUAL = Path(__file__).resolve().parents[2] / "docs/language.md"
BLOCK = re.compile(r"^```\n(\$ .*?)^```$", re.MULTILINE | re.DOTALL)
TABLE = re.compile(r"^\| function \| what it gives \|\n\|---\|---\|\n((?:\|.*\|\n)*)", re.MULTILINE)
README = MANUAL.parent.parent / "README.md"
FILES = MANUAL.parent / "files.md"
HEADER = MANUAL.parent.parent / "include/arras/arras.h"
# They look at graphs, or make no program.
NOT_RECORDED = {"arras_poison", "arras_output_array", "arras_find_input", "arras_launch_cancel",
                "arras_label_cancel", "arras_stream_cancel", "arras_sinks_discard",
                "arras_source_fetched", "arras_rechunk_cancel", "arras_rechunk_look",
                "arras_program_counters", "arras_source_close", "arras_sink_abandon",
                "arras_sinks_discard"}
TIMEOUT = 600


def examples_of(block):
    """A session as [(lines typed, lines printed)]."""
    examples = []
    for line in block.splitlines():
        if line.startswith("$ "):
            examples.append(([line], []))
        elif line.startswith("> ") and not examples[-1][1]:
            examples[-1][0].append(line)
        else:
            examples[-1][1].append(line)
    return examples


class Shell:
    """Runs commands in one scratch directory, where `arras` is the command under test."""

    def __init__(self, command, folder):
        bin = Path(folder, "bin")
        bin.mkdir()
        (bin / "arras").symlink_to(Path(command).resolve())
        self.folder = Path(folder, "work")
        self.folder.mkdir()
        self.environment = {**os.environ, "PATH": f"{bin}:{os.environ['PATH']}", "NO_COLOR": "1"}

    def run(self, typed):
        text = "\n".join(line[2:] for line in typed)
        done = subprocess.run(["sh", "-c", text], cwd=self.folder, env=self.environment, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=TIMEOUT)
        return done.stdout.rstrip("\n").split("\n") if done.stdout else []


def function_rows(shell):
    """The table of functions as rows of the manual, from `arras help functions`."""
    rows, usage = [], None
    for line in shell.run(["$ arras help functions"]):
        known = re.fullmatch(r"    (\w+\(.*?\))(?:  +(.*))?", line)
        if known and known[2]:
            rows.append((known[1], known[2]))
        elif known:
            usage = known[1]
        elif usage and line.startswith("      "):
            rows.append((usage, line.strip()))
            usage = None
    cell = lambda text: text.replace("|", "\\|")
    return [f"| `{usage}` | {cell(text)} |" for usage, text in rows]


def unreachable(text, rows, header):
    """Builders of the C interface that are neither functions nor in the manual's table of the others."""
    builders = re.findall(r"^ARRAS_API\s+(?:arras_(?:array|expr|function)|void)\s+(arras_\w+)\(", header,
                          re.MULTILINE)
    recorded = [name for name in builders if name not in NOT_RECORDED and not name.endswith("_free")]
    functions = {re.match(r"\| `(\w+)", row)[1] for row in rows}
    said = [name for cell in re.findall(r"^\| (`arras_.*?) \|", text, re.MULTILINE)
            for name in re.findall(r"`(arras_\w+)`", cell)]
    return [f"{name} can't be reached from the language" for name in recorded
            if name.removeprefix("arras_") not in functions and name not in said
            and not any(part.endswith("_") and name.startswith(part) for part in said)]


def check_examples(text, shell, tally):
    for block in BLOCK.finditer(text):
        line = text.count("\n", 0, block.start()) + 2
        for typed, printed in examples_of(block[1]):
            got = shell.run(typed)
            wrong = [] if got == printed else ["the text says", *printed, "it printed", *got]
            tally.check(f"line {line}: {' '.join(typed)}", wrong)
            line += len(typed) + len(printed)


def check_functions(text, shell, tally):
    found = TABLE.search(text)
    shown, wanted = found[1].splitlines() if found else [], function_rows(shell)
    tally.check("there are functions", [] if len(wanted) > 50 else ["arras help functions shows few"])
    tally.check("the table of functions is complete",
                [f"missing: {row}" for row in wanted if row not in shown] +
                [f"too much: {row}" for row in shown if row not in wanted] +
                ([] if shown == wanted else ["or in another order"]))
    tally.check("all of the C interface can be said", unreachable(text, wanted, HEADER.read_text()))
    tally.check("what can't be said is found",
                [] if unreachable("", [], HEADER.read_text()) else ["nothing was found"])


def rewrite(text, shell):
    def session(block):
        lines = []
        for typed, _ in examples_of(block[1]):
            lines += typed + shell.run(typed)
        return "```\n" + "\n".join(lines) + "\n```"

    text = BLOCK.sub(session, text)
    return TABLE.sub(lambda found: found[0][: found.start(1) - found.start()]
                     + "".join(row + "\n" for row in function_rows(shell)), text)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--command", required=True)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("manual", nargs="?", type=Path, default=MANUAL)
    options = parser.parse_args()
    text = options.manual.read_text()
    with tempfile.TemporaryDirectory() as folder:
        shell = Shell(options.command, folder)
        if options.write:
            options.manual.write_text(rewrite(text, shell))
            return
        tally = Tally()
        check_examples(text, shell, tally)
        if options.manual == MANUAL:
            check_functions(text, shell, tally)
            for page in (README, FILES):
                check_examples(page.read_text(), shell, tally)
        tally.finish()


main()
