"""house.py [TREE] -- the habits of this tree that a program can check: names, sizes, headers, format."""

import re
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

sys.dont_write_bytecode = True
from tally import Tally

MAX_LINES = 700
MAX_COLUMNS = 100
NOT_OURS = {".git", "__pycache__"}
C_SUFFIXES = {".c", ".h", ".inc", ".cpp"}
CODE_SUFFIXES = C_SUFFIXES | {".def", ".py", ".sh", ".rb", ".cmake"}
# What these print and read, and which letters they know, depends on the locale of the process.
FOLDERS_OF_ANY_PROCESS = {"src", "lang"}
OF_THE_LOCALE = re.compile(
    r"(?<![a-z_])(strto(d|f|ld)|atof|isalpha|isalnum|isspace|isupper|islower|isprint|ispunct|toupper|tolower"
    r"|strn?casecmp|strcoll|(v?sn?|f)?printf(?=.*%[-+ #0-9.*]*[aefgAEFG]))\("
)
NUMBERS_IN_TEXTS = "real_text.c"
# Each folder may have one of these.
COMMON_NAMES = {"CMakeLists.txt", "README.md"}
UNFINISHED = re.compile(r"\b(" + "|".join(["TO" + "DO", "FIX" + "ME", "X" + "XX"]) + r")\b")
# Headers are tables of declarations and are laid out by hand.
FORMATTED_SUFFIXES = {".c"}
CLANG_FORMAT_VERSION = "version 14."


def files_of(tree):
    found = []
    for path in sorted(tree.rglob("*")):
        inside = path.relative_to(tree)
        ours = inside.parts[0] != "build" and not NOT_OURS & set(inside.parts)
        if path.is_file() and ours and "corpus" not in inside.parts:
            found.append(inside)
    return found


def lines_of(tree, path):
    return (tree / path).read_text(errors="replace").split("\n")


def same_names(tree, files):
    places = defaultdict(list)
    for path in files:
        if path.name not in COMMON_NAMES:
            places[path.name].append(str(path))
    return [f"one name, several files: {', '.join(p)}" for p in places.values() if len(p) > 1]


def long_files(tree, files):
    counts = {path: len(lines_of(tree, path)) for path in files if path.suffix in CODE_SUFFIXES}
    return [
        f"{path}: {count} lines, more than {MAX_LINES}"
        for path, count in counts.items()
        if count > MAX_LINES
    ]


def complaints_by_line(tree, files, complaint):
    return [
        f"{path}:{number}: {text}"
        for path in files
        for number, line in enumerate(lines_of(tree, path), 1)
        if (text := complaint(line))
    ]


def long_lines(tree, files):
    def complaint(line):
        return len(line) > MAX_COLUMNS and f"{len(line)} columns, more than {MAX_COLUMNS}"

    return complaints_by_line(tree, [f for f in files if f.suffix in C_SUFFIXES], complaint)


def unfinished_words(tree, files):
    def complaint(line):
        found = UNFINISHED.search(line)
        return found and f"{found[0]}: finish it or leave it out"

    return complaints_by_line(tree, files, complaint)


def untidy_lines(tree, files):
    def complaint(line):
        if line != line.rstrip():
            return "white space at the end of the line"
        return "\t" in line and "a tab"

    return complaints_by_line(tree, [f for f in files if f.suffix in CODE_SUFFIXES], complaint)


def words_of_the_locale(tree, files):
    def complaint(line):
        found = OF_THE_LOCALE.search(line)
        return found and f"{found[1]} depends on the locale; base/base.h has what does not"

    files = [f for f in files if f.suffix in C_SUFFIXES and f.parts[0] in FOLDERS_OF_ANY_PROCESS]
    return complaints_by_line(tree, [f for f in files if f.name != NUMBERS_IN_TEXTS], complaint)


def missing_openings(tree, files):
    """A C file opens with /* NAME -- what it is."""
    return [
        f"{path}: does not open with '{start}'"
        for path in files
        if path.suffix in C_SUFFIXES
        and (start := f"{'//' if path.suffix == '.cpp' else '/*'} {path.name} -- ")
        and not lines_of(tree, path)[0].startswith(start)
    ]


def files_that_are_not_there(tree, files):
    """Sources that documents name between backticks; NAME, ROOM and the like stand for any."""
    names = {str(path) for path in files} | {path.name for path in files}

    def is_there(named):
        return named in names or ("/" in named and any(name.endswith("/" + named) for name in names))

    def complaint(line):
        named = re.findall(r"`([\w./-]+\.(?:c|h|def|inc|py|sh|cmake))`", line)
        missing = [name for name in named if not re.search(r"[A-Z]{3}", name) and not is_there(name)]
        return missing and f"there is no {missing[0]}"

    return complaints_by_line(tree, [f for f in files if f.suffix == ".md"], complaint)


def find_clang_format():
    for name in ("clang-format-14", "clang-format"):
        program = shutil.which(name)
        if program:
            said = subprocess.run([program, "--version"], capture_output=True, text=True).stdout
            if CLANG_FORMAT_VERSION in said:
                return program
    return None


def badly_formatted(tree, files, program):
    names = [str(tree / path) for path in files if path.suffix in FORMATTED_SUFFIXES]
    said = subprocess.run([program, "--dry-run", *names], capture_output=True, text=True).stderr
    places = re.findall(r"^(\S+?:\d+):\d+: warning", said, re.MULTILINE)
    return [f"{place}: differs; make format lays it out" for place in dict.fromkeys(places)]


def main():
    tree = (Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[2]).resolve()
    files = files_of(tree)
    tally = Tally()
    tally.check("file names are unique", same_names(tree, files))
    tally.check("files are short", long_files(tree, files))
    tally.check("lines are short", long_lines(tree, files))
    tally.check("lines are tidy", untidy_lines(tree, files))
    tally.check("nothing is left for later", unfinished_words(tree, files))
    tally.check("no number depends on the locale", words_of_the_locale(tree, files))
    tally.check("files open with what they are", missing_openings(tree, files))
    tally.check("documents name files that are there", files_that_are_not_there(tree, files))
    program = find_clang_format()
    if program:
        tally.check("C is formatted", badly_formatted(tree, files, program))
    else:
        print("skipped: the format of C files (needs clang-format 14)")
    tally.finish()


main()
