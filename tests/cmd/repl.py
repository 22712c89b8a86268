"""repl.py --command ARRAS -- `arras repl` in a terminal: results, mistakes, keys, history, Ctrl-C; and in a
pipe."""

import argparse
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
from fcntl import ioctl
from pathlib import Path

sys.dont_write_bytecode = True
import numpy as np
from tally import Tally

PROMPT, MORE = "arras> ", "   ... "
PATIENCE = 600  # seconds for any answer, on a busy machine with sanitizers
CTRL_C, CTRL_D, CTRL_P, TAB = "\x03", "\x04", "\x10", "\t"
# Long enough that nobody waits for its end.
ENDLESS = "y[i:10000000] = sum[k:10000] sin(i*0.001 + k)"


def environment(folder):
    keep = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "COLORTERM", "CLICOLOR_FORCE")}
    return keep | {"TERM": "xterm", "LC_ALL": "C.UTF-8", "HOME": str(folder), "XDG_STATE_HOME": str(folder / "state")}


class Terminal:
    """A session in a terminal.  What it prints is read without what moves the cursor."""

    def __init__(self, command, folder, *arguments, width=100):
        self.pid, self.file = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.execve(command, [command, "repl", *arguments], environment(folder))
        ioctl(self.file, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
        self.said = ""

    def read(self, seconds):
        if not select.select([self.file], [], [], seconds)[0]:
            return False
        try:
            part = os.read(self.file, 65536).decode(errors="replace")
        except OSError:  # the session is over
            return False
        part = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\x07|\x1b[=>]", "", part)
        self.said += part.replace("\r\n", "\n").replace("\r", "")
        return bool(part)

    def wait_for(self, text, seconds=PATIENCE):
        """What was printed up to a text, which is taken away with it."""
        end = time.monotonic() + seconds
        while text not in self.said:
            left = end - time.monotonic()
            if left <= 0 or not self.read(left):
                raise AssertionError(f"waited for {text!r}; there was only {self.said!r}")
        before, _, self.said = self.said.partition(text)
        return before

    def type(self, keys):
        """Waits until the line editor listens: what comes before is echoed by the terminal itself."""
        end = time.monotonic() + PATIENCE
        while termios.tcgetattr(self.file)[3] & termios.ICANON and time.monotonic() < end:
            time.sleep(0.005)
        os.write(self.file, keys.encode())

    def cpu_time(self):
        with open(f"/proc/{self.pid}/stat") as stat:
            return sum(map(int, stat.read().rsplit(")", 1)[1].split()[11:13])) / os.sysconf("SC_CLK_TCK")

    def wait_for_work(self):
        """Until it has computed for a while: only then a Ctrl-C is for the line that was typed."""
        begun, end = self.cpu_time(), time.monotonic() + PATIENCE
        while self.cpu_time() < begun + 0.3:
            if time.monotonic() > end or self.said.endswith(PROMPT):
                raise AssertionError(f"waited for work; there was only {self.said!r}")
            self.read(0.02)

    def interrupt(self):
        """Ctrl-C while something runs."""
        os.write(self.file, CTRL_C.encode())

    def ask(self, line):
        """What a line gives, up to the next prompt."""
        self.type(line + "\n")
        self.wait_for("\n")
        return self.wait_for(PROMPT)

    def end(self):
        """The exit status; None if it had to be killed."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            self.read(0.05)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                os.close(self.file)
                return os.waitstatus_to_exitcode(status)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.file)
        return None


class Tests:
    def __init__(self, command, folder, tally):
        self.command, self.folder, self.tally = command, folder, tally

    def open(self, *arguments, **options):
        terminal = Terminal(self.command, self.folder, *arguments, **options)
        terminal.wait_for(PROMPT)
        return terminal

    def has(self, what, text, *parts):
        self.tally.check(what, [f"no {part!r} in {text!r}" for part in parts if part not in text])

    def same(self, what, got, want):
        self.tally.check(what, [] if got == want else [f"got  {got!r}", f"want {want!r}"])

    def quit(self, terminal):
        terminal.type(CTRL_D)
        self.same("Ctrl-D ends the session", terminal.end(), 0)


# ---- Results ------------------------------------------------------------------------------------


def results(t):
    repl = t.open()
    t.same("a number", repl.ask("1 + 2"), "result : i64[] = 3\n")
    t.same("an equation", repl.ask("x[i:5] = i*2"), "x : i64[5]\n[0 2 4 6 8]\n")
    t.same("arrays stay", repl.ask("y = x + 0.5"), "y : f64[5]\n[0.5 2.5 4.5 6.5 8.5]\n")
    t.same("a result can be used", repl.ask("result*2"), "result : i64[] = 6\n")
    t.same("a definition replaces the one before", repl.ask("x[i:3] = 10 - i"), "x : i64[3]\n[10  9  8]\n")
    t.same("what was computed from it stays", repl.ask("y"), "result : f64[5]\n[0.5 2.5 4.5 6.5 8.5]\n")
    t.same("two at once", repl.ask("a = 1; b = a + 1"), "a : i64[] = 1\nb : i64[] = 2\n")
    t.same("a function says nothing", repl.ask("def f(u) = u*u"), "")
    t.same("and stays", repl.ask("f(x)"), "result : i64[3]\n[100  81  64]\n")
    t.same("a let stays", repl.ask("let m = max(x)") + repl.ask("x - m"), "result : i64[3]\n[ 0 -1 -2]\n")
    t.same("an edge stays", repl.ask("edge x = wrap") + repl.ask("d[i] = x[i+1] - x[i]"), "d : i64[3]\n[-1 -1  2]\n")
    t.has("large arrays are shortened", repl.ask("big[i:1000, j:1000] = i + j"), "big : i64[1000, 1000]\n", "...")
    t.same("an empty line is nothing", repl.ask("   "), "")
    t.same("a comment is nothing", repl.ask("# what for?"), "")
    t.quit(repl)


def many_lines(t):
    repl = t.open()
    repl.type("x = (1 +\n")
    repl.wait_for(MORE)
    repl.type("2 +\n")
    repl.wait_for(MORE)
    repl.type("3)\n")
    t.has("three lines are one equation", repl.wait_for(PROMPT), "x : i64[] = 6")
    repl.type("y = [1,\n")
    repl.wait_for(MORE)
    repl.type("zz" + CTRL_C)
    t.has("Ctrl-C drops them all", repl.wait_for(PROMPT), "^C")
    t.same("and then all is as before", repl.ask("x"), "result : i64[] = 6\n")
    t.quit(repl)


def mistakes(t):
    repl = t.open()
    repl.ask("height = 3")
    t.has("a name that is not there", repl.ask("heigth + 1"), "unknown name `heigth`; did you mean `height`?", "^")
    t.has("a broken line", repl.ask("1 + ) 2"), "^")
    t.has("shapes that do not fit", repl.ask("[1,2,3] + [1,2]"), "3", "2")
    t.has("a command that is not there", repl.ask(":hlep"), "there is no command :hlep; did you mean :help?")
    t.has("a command without its colon", repl.ask("quit"), "the command is :quit")
    t.has("a bad file", repl.ask(":load q=nowhere.npy"), "nowhere.npy")
    t.has("an array that is not there", repl.ask(":save heigth=h.npy"), "did you mean `height`?")
    t.has("the session as a file", repl.ask(":load q=-"), "standard input has the lines of the session")
    t.has("an array to the terminal", repl.ask(":save height=-"), "save to a file")
    t.has("nothing to show", repl.ask(":show"), "say what to show")
    t.has("something else than an option", repl.ask(":show height --diverging 3"), "`3` is no option")
    t.has("an unknown option", repl.ask(":show height --bogus"), "--bogus; `arras help show` lists")
    t.has("a bad option", repl.ask(":show height --slize 1"), "--slice")
    t.same("a wrong index", repl.ask("v = [1,2,3]").count("\n"), 2)
    t.has("found while it runs", repl.ask("w = v[[5]]"), "5", "3")
    t.same("none of them was the end", repl.ask("height"), "result : i64[] = 3\n")
    t.quit(repl)


# ---- Commands -----------------------------------------------------------------------------------


def commands(t):
    np.save(t.folder / "sea-level.npy", np.arange(12.0).reshape(3, 4))
    repl = t.open("h=sea-level.npy", "n=[1,2,3]")
    t.same(":names", repl.ask(":names"), "h : f64[3, 4]\nn : i64[3]\n")
    t.same(":type computes nothing", repl.ask(":type sum(h, axis=0) > 1"), "result : bool[4]\n")
    t.same(":load by the name of the file", repl.ask(":load sea-level.npy"), "sea_level : f64[3, 4]\n")
    t.same(":load of a number", repl.ask(":load k=2.5"), "k : f64[]\n")
    t.has(":time", repl.ask(":time h*2 + 1"), "compiled in", "launched in", "GB/s")
    t.has(":explain", repl.ask(":explain h*2 + 1"), "kernel")
    t.has(":show", repl.ask(":show h"), "h : f64[3, 4]", "▀", "min 0  max 11  mean 5.5")
    said = repl.ask(":show h * 2 --range 0,50 --size 40x20")
    t.has(":show of an expression", said, "h * 2 : f64[3, 4]", "max 22", "(range given)")
    repl.ask(":show h --png h.png --bare")
    t.same(":show to a file", (t.folder / "h.png").read_bytes()[:4], b"\x89PNG")
    repl.ask("z = h + k")
    repl.ask(":save z=z.npy")
    t.same(":save", np.load(t.folder / "z.npy").tolist(), (np.arange(12.0).reshape(3, 4) + 2.5).tolist())
    t.has(":help", repl.ask(":help"), ":explain EXPR", ":load name=SOURCE", "Ctrl-D")
    t.has(":help of a function", repl.ask(":help roll"), "roll(")
    t.has(":help of a function as it is called", repl.ask(":help roll("), "roll(")
    t.has(":help of a topic", repl.ask(":help sources"), ".npy")
    t.same("a beginning is enough", repl.ask(":ty 1.5"), "result : f64[]\n")
    repl.type(":quit\n")
    t.same(":quit", repl.end(), 0)


# ---- Keys ---------------------------------------------------------------------------------------


def completion(t):
    (t.folder / "data").mkdir()
    np.save(t.folder / "data" / "temperature.npy", np.zeros(3))
    repl = t.open()
    repl.ask("temperature_mean = 5")
    repl.ask("let temperature_offset = 273.15")
    repl.type("tempe" + TAB)
    repl.wait_for("temperature_")
    repl.type(TAB)
    t.has("TAB lists names", repl.wait_for(PROMPT), "temperature_mean", "temperature_offset")
    repl.type("m" + TAB + "\n")
    t.has("TAB completes a name", repl.wait_for(PROMPT), "temperature_mean", "result : i64[] = 5")
    repl.type("index_ar" + TAB)
    t.has("TAB completes a function", repl.wait_for("("), "index_array")
    repl.type(CTRL_C)
    repl.wait_for(PROMPT)
    repl.type(":lo" + TAB + "t=da" + TAB + "te" + TAB + "\n")
    t.has("TAB completes commands and files", repl.wait_for("t : f64[3]"), ":load t=data/temperature.npy")
    repl.wait_for(PROMPT)
    repl.type("qqq" + TAB + CTRL_C)
    t.has("TAB finds nothing", repl.wait_for(PROMPT), "qqq^C")
    t.quit(repl)


def history(t):
    repl = t.open()
    repl.ask("1234 + 1")
    repl.type(CTRL_P)
    repl.wait_for("1234 + 1")
    repl.type("\n")
    t.has("the line before again", repl.wait_for(PROMPT), "result : i64[] = 1235")
    t.quit(repl)
    repl = t.open()
    repl.type(CTRL_P + "0\n")
    t.has("history outlives the session", repl.wait_for(PROMPT), "1234 + 10", "result : i64[] = 1244")
    t.quit(repl)
    file = t.folder / "state" / "arras" / "history"
    t.same("history is the user's own", oct(file.parent.stat().st_mode & 0o777), "0o700")
    if os.geteuid() != 0:
        print("skipped: only root can be at work in the home of another user")
        return
    for path in (file.parent.parent, file.parent, file):
        os.chown(path, 12345, 12345)
    before = file.read_bytes()
    repl = t.open()
    repl.ask("5678 + 1")
    t.quit(repl)
    t.same("root writes nothing into a user's history", (file.read_bytes(), file.stat().st_uid), (before, 12345))
    shutil.rmtree(file.parent)
    t.quit(t.open())
    t.same("nor makes folders for it", list(file.parent.parent.iterdir()), [])
    file.parent.parent.rmdir()


def interruption(t):
    repl = t.open()
    repl.type("never mind" + CTRL_C)
    t.has("Ctrl-C drops a line", repl.wait_for(PROMPT), "^C")
    repl.ask("x = 41")
    repl.type(ENDLESS + "\n")
    repl.wait_for("\n")
    repl.wait_for_work()
    repl.interrupt()
    t.has("Ctrl-C stops a computation", repl.wait_for(PROMPT), "cancelled")
    t.same("and the session goes on", repl.ask("x + 1"), "result : i64[] = 42\n")
    repl.type(f":time {ENDLESS}\n")
    repl.wait_for("\n")
    repl.wait_for_work()
    repl.interrupt()
    t.has("also within a command", repl.wait_for(PROMPT), "cancelled")
    interruption_of_reading(t, repl)
    os.kill(repl.pid, signal.SIGINT)
    t.same("a signal while nothing runs is nothing", repl.ask("x + 2"), "result : i64[] = 43\n")
    t.quit(repl)


def interruption_of_reading(t, repl):
    """An array of terabytes that stays in its file: neither loading it nor giving up takes long."""
    (t.folder / "huge.zarr").mkdir()
    (t.folder / "huge.zarr/.zarray").write_text(
        '{"zarr_format": 2, "shape": [1000000000000], "chunks": [100000], "dtype": "<f8", "compressor": null, '
        '"fill_value": 1, "order": "C", "filters": null}'
    )
    t.has("terabytes are loaded", repl.ask(":load z=huge.zarr"), "z : f64[1000000000000]")
    t.has("and looked at", repl.ask("z"), "[1. 1. 1. ... 1. 1. 1.]")
    for line in ["sum(z)", ":time max(z)", ":show z", ":save z=copy.zarr"]:
        repl.type(line + "\n")
        repl.wait_for("\n")
        repl.wait_for_work()
        repl.interrupt()
        t.has(f"Ctrl-C stops {line}", repl.wait_for(PROMPT), "cancelled")
    t.same("nothing is left of the copy", [p.name for p in t.folder.iterdir() if "copy" in p.name], [])
    t.has("the array is still there", repl.ask("z[5:8]"), "[1. 1. 1.]")


# ---- Pipes --------------------------------------------------------------------------------------


def pipe(t, text, *arguments):
    return subprocess.run([t.command, "repl", *arguments], input=text.encode(), capture_output=True,
                          cwd=t.folder, env=environment(t.folder), timeout=600)


def pipes(t):
    ran = pipe(t, "x = [1,2,\n3]\nsum(x)\n")
    t.same("no prompt in a pipe", ran.stdout, b"x : i64[3]\n[1 2 3]\nresult : i64[] = 6\n")
    t.same("all was well", (ran.returncode, ran.stderr), (0, b""))
    ran = pipe(t, "y = nope\n1 + 1\n")
    t.same("a mistake does not end it", ran.stdout, b"result : i64[] = 2\n")
    t.same("but is told by the status", ran.returncode, 1)
    t.has("and by a message", ran.stderr.decode(), "unknown name `nope`")
    ran = pipe(t, "1 + (2")
    t.tally.check("an end within a bracket is a mistake", [] if ran.returncode == 1 and ran.stderr else [ran])
    ran = pipe(t, ":quit\n1 + 1\n")
    t.same(":quit is the end", (ran.returncode, ran.stdout), (0, b""))
    ran = pipe(t, "1 +\0 2\n3\n")
    t.same("a byte 0 is a mistake", (ran.returncode, ran.stdout), (1, b"result : i64[] = 3\n"))
    ran = pipe(t, "1\n", "x=missing.npy")
    told = ran.returncode == 1 and b"missing.npy" in ran.stderr
    t.tally.check("an array that cannot be loaded", [] if told else [ran])
    ran = pipe(t, "let a = 5\na = nope\n:type a = 2\na\nlet q = nope*2; q\n:names\n")
    kept = b"a : i64[]\nresult : i64[] = 5\nresult : i64[]\na\n"
    t.same("a line that fails, or only asks, defines nothing", ran.stdout, kept)
    ran = pipe(t, "let q = nope*2\n:names\n")
    t.same("a let that fails defines nothing", ran.stdout, b"")
    t.has("and says so at once", ran.stderr.decode(), "unknown name `nope`")
    ran = pipe(t, "let a = 5\na = a + 1\nparam p = 2.5\np = p*a\n:names\n")
    t.same("a let begins with its value", ran.stdout, b"a : i64[] = 6\np : f64[] = 15.0\na : i64[]\np : f64[]\n")
    ran = pipe(t, "let b = [1,2]\nlet b = b*10\n:type b = b + 0.5\nb = b + nope\n")
    t.same("also of itself", ran.stdout, b"b : f64[2]\n")
    ran = pipe(t, "let b = [1,2]\nlet b = b*10\nb = b + nope\nlet c = b\nb = b*2; c = c + 1\n")
    t.same("two lets at once", ran.stdout, b"b : i64[2]\n[20 40]\nc : i64[2]\n[11 21]\n")
    ran = pipe(t, "x = (1 +\n\n2\ny = [1,\n  :names\n3\n")
    t.same("an empty line and a command end a statement", ran.stdout,
           b"result : i64[] = 2\nresult : i64[]\nresult : i64[] = 3\n")
    t.same("which is not complete", ran.stderr.count(b"expected"), 2)
    ran = pipe(t, "zeros([1000000,1000000])\n1 + 1\n")
    t.same("too large an array is refused", ran.stdout, b"result : i64[] = 2\n")
    t.has("with numbers", ran.stderr.decode(), "the arrays need 8000000000000 bytes of memory")
    ran = pipe(t, "1\n", "--what")
    t.tally.check("an unknown option", [] if ran.returncode == 1 and b"--what" in ran.stderr else [ran])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--command", required=True)
    command, tally = os.path.abspath(parser.parse_args().command), Tally()
    for part in (results, many_lines, mistakes, commands, completion, history, interruption, pipes):
        with tempfile.TemporaryDirectory() as folder:
            try:
                part(Tests(command, Path(folder), tally))
            except AssertionError as error:
                tally.check(part.__name__, [str(error)])
    tally.finish()


main()
