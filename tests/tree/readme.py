"""readme.py SOURCE BUILD -- the README's first program prints what the README says it prints."""
import pathlib
import re
import subprocess
import sys
import tempfile

PROGRAM = """
#include <arras/arras.h>
#include <stdio.h>

int main(void)
{
    arras_graph *g = NULL;
    arras_error  err;
    char        *text = NULL;

    if (arras_graph_new(&g, &err) != ARRAS_OK)
        return 1;
    %s
    fputs(text, stdout);
    arras_text_free(text);
    arras_graph_free(g);
    return 0;
}
"""


def main(source, build):
    readme = (source / "README.md").read_text()
    code = re.search(r"```c\n(.*?)```", readme, re.S).group(1)
    shown = re.search(r"```\n(arras 1\n.*?)```", readme, re.S).group(1)
    with tempfile.TemporaryDirectory() as folder:
        file, program = pathlib.Path(folder, "program.c"), pathlib.Path(folder, "program")
        file.write_text(PROGRAM % code)
        subprocess.run(["cc", "-std=c99", f"-I{source}/include", f"-I{build}/include", str(file),
                        str(build / "libarras.a"), "-lm", "-o", str(program)], check=True)
        printed = subprocess.run([str(program)], check=True, stdout=subprocess.PIPE, text=True).stdout
    if printed != shown:
        print(f"README.md shows\n{shown}\nbut its program prints\n{printed}")
    print("0 passed, 1 failed" if printed != shown else "1 passed, 0 failed")
    return printed != shown


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])))
