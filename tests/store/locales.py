"""locales.py --tests FOLDER --tool STORE_TOOL --folder DIR -- no number of a file or a text depends on the locale, and no
letter: other tests once more where a point is a comma, or of two bytes, and where i and I are not one letter.  Programs of
tests take the locale of the environment; the locales are compiled into the folder."""

import argparse
import ctypes
import os
import re
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from tally import Tally

HERE = Path(__file__).resolve().parent
# What C's printf makes of 2.5, and tolower of "I".
LOCALES = {"de_DE.UTF-8": ("de_DE", "UTF-8"), "ps_AF.UTF-8": ("ps_AF", "UTF-8"), "tr_TR.ISO-8859-9": ("tr_TR", "ISO-8859-9")}
SHOWN = {"de_DE.UTF-8": b"2,5 i", "ps_AF.UTF-8": "2٫5 i".encode(), "tr_TR.ISO-8859-9": b"2,5 \xfd"}
# Programs that print, read or write numbers and are quick: texts, files, C, plans and messages.
PROGRAMS = """base text chunk_log chunk_cost chunk_advice codec_text hdf5_inside lang_text lang_meaning lang_program lang_functions
record store_growth store_zarr_trouble task_pictures stream""".split()
# These in one locale only: the one whose point is of two bytes, which not even jansson knows how to mend.
ONE = "ps_AF.UTF-8"
SLOW = ["c_forms"]
SCRIPTS = "store_zarr store_netcdf".split()


def compile_locales(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for name, (source, charset) in LOCALES.items():
        if not (folder / name).is_dir():
            subprocess.run(["localedef", "-c", "-i", source, "-f", charset, folder / name], capture_output=True)


def shown_by_c():
    """In a process that has the locale already."""
    libc = ctypes.CDLL(None)
    libc.setlocale(6, b"")
    text = ctypes.create_string_buffer(64)
    libc.snprintf(text, ctypes.c_size_t(64), b"%.1f ", ctypes.c_double(2.5))
    sys.stdout.buffer.write(text.value + bytes([libc.tolower(ord("I")) & 0xFF]))


def in_locale(folder, name):
    return {**os.environ, "LOCPATH": str(folder), "LC_ALL": name, "LANGUAGE": "C"}


def check_run(tally, what, command, environment):
    ran = subprocess.run(command, capture_output=True, env=environment, timeout=250)
    said = (ran.stdout + ran.stderr).decode(errors="replace")
    good = ran.returncode == 0 and re.search(r"^\d+ passed, 0 failed$", said, re.MULTILINE)
    lines = [line for line in said.splitlines() if not re.match(r"[a-z_0-9]+$", line)]
    tally.check(what, [] if good else [f"status {ran.returncode}", *lines[-20:]])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shown", action="store_true")
    for name in ("tests", "tool", "folder"):
        parser.add_argument(f"--{name}")
    arguments = parser.parse_args()
    if arguments.shown:
        return shown_by_c()
    tally, folder = Tally(), Path(arguments.folder).resolve()
    compile_locales(folder)
    for name in LOCALES:
        environment = in_locale(folder, name)
        shown = subprocess.run([sys.executable, __file__, "--shown"], capture_output=True, env=environment).stdout
        tally.check(f"{name} is there", [] if shown == SHOWN[name] else [f"C shows {shown!r}, not {SHOWN[name]!r}"])
        for program in PROGRAMS + (SLOW if name == ONE else []):
            check_run(tally, f"{program} in {name}", [Path(arguments.tests) / f"test_{program}"], environment)
        for script in SCRIPTS if name == ONE else []:
            check_run(tally, f"{script} in {name}",
                      [sys.executable, HERE / f"{script}.py", "--tool", arguments.tool], environment)
    tally.finish()


main()
