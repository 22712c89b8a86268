"""doc_program.py SOURCE BUILD PAGE ... -- the first program of each page prints what stands below it."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
from tally import Tally

PROGRAM = re.compile(r"```c\n(.*?)```\n+```\n(.*?)```", re.DOTALL)


def printed_by(code, source, build):
    with tempfile.TemporaryDirectory() as folder:
        file, program = Path(folder, "program.c"), Path(folder, "program")
        file.write_text(code)
        subprocess.run(
            ["cc", "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", f"-I{source}/include",
             f"-I{build}/include", file, build / "libarras.so", f"-Wl,-rpath,{build}", "-o", program],
            check=True,
        )
        done = subprocess.run([program], check=True, stdout=subprocess.PIPE, text=True, env={
            "PATH": "/usr/local/bin:/usr/bin:/bin", "ARRAS_CACHE_DIR": f"{folder}/cache"})
    return done.stdout


def check_page(page, source, build):
    found = PROGRAM.search(page.read_text())
    if not found:
        return ["no program with what it prints below it"]
    printed = printed_by(found[1], source, build)
    return [] if printed == found[2] else [f"it shows\n{found[2]}but its program prints\n{printed}"]


def main():
    source, build = Path(sys.argv[1]), Path(sys.argv[2])
    tally = Tally()
    for page in sys.argv[3:]:
        tally.check(page, check_page(source / page, source, build))
    tally.finish()


main()
