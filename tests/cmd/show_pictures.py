"""show_pictures.py --command ARRAS -- `arras show`: every picture against one that is computed here, pixel by
pixel; colour maps against what they promise; errors against their words."""

import argparse
import base64
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
import xml.etree.ElementTree as xml
from fcntl import ioctl
from pathlib import Path

sys.dont_write_bytecode = True
import numpy as np
from picture_files import decode_blocks, decode_png
from tally import Tally

MAPS = ["sea", "ember", "grey", "balance"]
TERMINAL_VARIABLES = ["NO_COLOR", "CLICOLOR_FORCE", "COLORTERM", "COLUMNS", "LINES", "TERM", "LC_ALL"]
# How far two ways of rounding may be apart: colours of a map, of which there are 256.
NEARLY = 1e-6


class Show:
    """Runs `arras show` in a folder of its own."""

    def __init__(self, command, folder):
        self.command = command
        self.folder = Path(folder)

    def save(self, array, name="x.npy"):
        np.save(self.folder / name, array)
        return name

    def run(self, *arguments, env=None, status=0):
        clean = {k: v for k, v in os.environ.items() if k not in TERMINAL_VARIABLES}
        clean |= {"LC_ALL": "C.UTF-8", "TERM": "xterm"} | (env or {})
        ran = subprocess.run(
            [self.command, "show", *map(str, arguments)], cwd=self.folder, capture_output=True, env=clean
        )
        if ran.returncode != status:
            raise AssertionError(f"status {ran.returncode}: {ran.stderr.decode()}")
        return ran

    def pixels(self, array, *options):
        """The picture without anything around it."""
        return decode_png(self.run(self.save(array), "--png", "-", "--bare", *options).stdout)

    def palette(self, name):
        return self.pixels(np.arange(256.0).reshape(1, 256), "--range", "0,255", "--colour", name)[0]


# ---- What pictures should be --------------------------------------------------------------------


def overlaps(cells, means):
    """How much of each cell lies below each mean, when both are laid over the same length."""
    starts, ends = np.arange(cells) * means, (np.arange(cells) + 1) * means
    lo, hi = (np.arange(means) * cells)[:, None], ((np.arange(means) + 1) * cells)[:, None]
    return np.clip(np.minimum(ends, hi) - np.maximum(starts, lo), 0, None).astype(float)


def means(array, rows, columns):
    down, across = overlaps(array.shape[0], rows), overlaps(array.shape[1], columns)
    there = ~np.isnan(array)
    with np.errstate(invalid="ignore"):
        return (down @ np.where(there, array, 0) @ across.T) / (down @ there @ across.T)


def colours(values, lo, hi, palette, missing):
    """The colours a picture should have, and the ones it may have when rounding tips over."""
    place = (np.clip((values - lo) / (hi - lo), 0, 1) if hi > lo else values * 0 + 0.5) * 255 + 0.5
    number = lambda p: np.nan_to_num(np.clip(p, 0, 255)).astype(int)
    pick = lambda p: np.where(np.isnan(values)[..., None], missing, palette[number(p)])
    return pick(place - NEARLY), pick(place + NEARLY)


def differs(got, values, lo, hi, palette, missing):
    """What is wrong with a picture: nothing, or a line that says it."""
    if got.shape[:2] != values.shape:
        return [f"{got.shape[1]} x {got.shape[0]} pixels, not {values.shape[1]} x {values.shape[0]}"]
    low, high = colours(values, lo, hi, palette, missing)
    wrong = np.argwhere((got != low).any(2) & (got != high).any(2))
    return [f"pixel {at}: {got[tuple(at)]}, not {low[tuple(at)]}" for at in wrong[:3]]


# ---- Colour maps --------------------------------------------------------------------------------


def linear(rgb):
    c = rgb / 255
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def lightness(rgb):
    """Of OKLab."""
    lms = linear(rgb) @ np.array(
        [[0.4122214708, 0.2119034982, 0.0883024619], [0.5363325363, 0.6806995451, 0.2817188376],
         [0.0514459929, 0.1073969566, 0.6299787005]]
    )
    return np.cbrt(lms) @ np.array([0.2104542553, 0.7936177850, -0.0040720468])


# How eyes without one kind of cone see linear colours (Viénot, Brettel and Mollon, 1999).
DEUTERANOPE = np.array([[0.29275, 0.29275, -0.02234], [0.70725, 0.70725, 0.02234], [0, 0, 1]])
PROTANOPE = np.array([[0.11238, 0.11238, 0.00401], [0.88762, 0.88762, -0.00401], [0, 0, 1]])


def encoded(c):
    c = np.clip(c, 0, 1)
    return 255 * np.where(c <= 0.0031308, 12.92 * c, 1.055 * c ** (1 / 2.4) - 0.055)


def check_maps(tally, show):
    for name in MAPS:
        palette = show.palette(name).astype(float)
        light = lightness(palette)
        if name == "balance":
            rise, fall = light[:128], light[128:][::-1]
            tally.check(f"{name} is as light on both sides", [*np.argwhere(abs(rise - fall) > 0.01)])
            light, palette = rise, palette[:128]
        steps = np.diff(light)
        even = abs(light - np.linspace(light[0], light[-1], len(light)))
        tally.check(f"{name} grows lighter", [*np.argwhere(steps < -0.001)])
        tally.check(f"{name} grows lighter evenly", [*np.argwhere(even > 0.01)])
        tally.check(f"{name} goes far", [] if np.ptp(light) > 0.6 else [np.ptp(light)])
        for kind, eyes in [("deuteranopes", DEUTERANOPE), ("protanopes", PROTANOPE)]:
            seen = lightness(encoded(linear(palette) @ eyes))[::8]
            tally.check(f"{name} grows lighter for {kind}", [*np.argwhere(np.diff(seen) < 0)])


def check_ends(tally, show):
    """A few colours of each map: they change only when somebody means it."""
    known = {
        "sea": ["#1c0e40", "#1f8d9f", "#fdf9a0"],
        "ember": ["#120732", "#cd3d49", "#fff4ca"],
        "grey": ["#0b0b0b", "#797979", "#ffffff"],
        "balance": ["#1d3270", "#f4f4f4", "#631c0d"],
    }
    for name, texts in known.items():
        palette = show.palette(name)
        got = ["#%02x%02x%02x" % tuple(palette[i]) for i in (0, 128, 255)]
        tally.check(f"the ends of {name}", [] if got == texts else [f"{got}, not {texts}"])


# ---- Matrices -----------------------------------------------------------------------------------


def check_sizes(tally, show, random):
    palette, grey = show.palette("sea"), np.array([152, 152, 152])
    field = random.random((37, 53))
    holes = field.copy()
    holes[5:20, 10:30] = np.nan
    for array in (field, holes):
        for columns, rows in [(53, 37), (20, 11), (52, 36), (7, 37), (106, 111), (80, 5), (1, 1), (300, 40)]:
            got = show.pixels(array, "--size", f"{columns}x{rows}", "--colour", "sea")
            want = means(array, rows, columns)
            what = f"{columns} x {rows} pixels of 53 x 37 cells{' with nan' if array is holes else ''}"
            tally.check(what, differs(got, want, np.nanmin(array), np.nanmax(array), palette, grey))


def check_types(tally, show):
    palette = show.palette("sea")
    cells = np.arange(60).reshape(6, 10)
    for dtype in "u1 u2 u4 u8 i1 i2 i4 i8 f4 f8 >f8 >i2".split():
        got = show.pixels(cells.astype(dtype))
        tally.check(f"cells of {dtype}", differs(got, cells.astype(float), 0, 59, palette, None))
    for dtype in "c8 c16".split():
        got = show.pixels((cells * (0.6 + 0.8j)).astype(dtype))
        want = np.abs((cells * (0.6 + 0.8j)).astype(dtype)).astype(float)
        tally.check(f"cells of {dtype}", differs(got, want, 0, want.max(), palette, None))
    said = show.run(show.save(cells * 1j)).stdout.decode()
    tally.check("complex numbers are explained", lacks(said, "(the absolute value of complex numbers)"))
    said = show.run(show.save(cells % 3 == 0)).stdout.decode()
    tally.check("a scale of bools", lacks(said, "false [ .:-=+*#%@] true\n"))
    said = show.run(show.save(cells - 30.0)).stdout.decode()
    tally.check("a scale about 0", lacks(said, "-30 [ .:-=+*#%@] 30  (0 in the middle)\n"))
    got = show.pixels(cells % 3 == 0)
    tally.check("cells of bool", differs(got, (cells % 3 == 0).astype(float), 0, 1, palette, None))
    got = show.pixels(np.asfortranarray(cells.astype(float)))
    tally.check("cells in Fortran order", differs(got, cells.astype(float), 0, 59, palette, None))


def check_ranges(tally, show, random):
    sea, balance, grey = show.palette("sea"), show.palette("balance"), np.array([152, 152, 152])
    field = random.normal(size=(9, 12))
    reach = abs(field).max()
    tally.check("both sides of 0", differs(show.pixels(field), field, -reach, reach, balance, grey))
    got = show.pixels(field + 1.5, "--diverging")
    reach = abs(field + 1.5).max()
    tally.check("--diverging", differs(got, field + 1.5, -reach, reach, balance, grey))
    got = show.pixels(field, "--range", "-0.5,1")
    tally.check("--range", differs(got, field, -0.5, 1, sea, grey))
    got = show.pixels(field, "--range=-0.5,1", "--diverging")
    tally.check("--range and --diverging", differs(got, field, -0.5, 1, balance, grey))
    wild = field.copy()
    wild[2, 3], wild[4, 4], wild[0, 0] = np.inf, -np.inf, np.nan
    lo, hi = wild[np.isfinite(wild)].min(), wild[np.isfinite(wild)].max()
    got = show.pixels(wild, "--colour", "sea")
    tally.check("infinite cells are at the ends", differs(got, wild, lo, hi, sea, grey))
    got = show.pixels(np.full((4, 5), 7.25))
    tally.check("cells that are all the same", differs(got, np.full((4, 5), 7.25), 7.25, 7.25, sea, grey))
    huge = np.array([[-1.5e308, 1.5e308], [0, 1e308]])
    got = show.pixels(huge, "--colour", "sea")
    tally.check("a range beyond doubles", differs(got, huge / 1e308, -1.5, 1.5, sea, grey))


SLICES = {
    "2,:,:,1": np.s_[2, :, :, 1],
    "-1,0,:,:": np.s_[-1, 0],
    "1,::2,3,::-1": np.s_[1, ::2, 3, ::-1],
    "1:2,2,4:1:-1,-3": np.s_[1:2, 2, 4:1:-1, -3],
    "0,-3:-1,1:100,0": np.s_[0, -3:-1, 1:100, 0],
    "3,3": np.s_[3, 3],
}


def check_slices(tally, show, random):
    cube = random.random((4, 5, 6, 7))
    for text, part in SLICES.items():
        same = (show.pixels(cube, "--slice", text) == show.pixels(cube[part])).all()
        tally.check(f"--slice {text}", [] if same else ["another picture than of the slice itself"])
    said = show.run(show.save(cube)).stdout.decode()
    tally.check("the middle is shown", lacks(said, "x.npy[2, 2, :, :] : f64[4, 5, 6, 7]", "the middle"))
    same = (show.pixels(cube) == show.pixels(cube[2, 2])).all()
    tally.check("it is the middle", [] if same else ["another picture"])


# ---- Figures ------------------------------------------------------------------------------------


def place_of(part, whole):
    """Where a picture stands within another, by its middle row."""
    row = part[len(part) // 2].tobytes()
    for y in range(len(whole)):
        at = whole[y].tobytes().find(row[9:-9])
        if at >= 0 and at % 3 == 0:
            return at // 3 - 3, y - len(part) // 2
    return None


def check_figure(tally, show, random):
    field = random.random((30, 52))
    figure = decode_png(show.run(show.save(field), "--png", "-", "--size", "600x400").stdout)
    tally.check("a figure has the size asked for", [] if figure.shape == (400, 600, 3) else [figure.shape])
    cells = show.pixels(field, "--size", "468x270")  # 9 pixels a cell: as many as there is room for
    place = place_of(cells, figure)
    tally.check("the cells are in the figure", [] if place else ["not found"])
    if place:
        x, y = place
        same = (figure[y + 2 : y + 268, x + 2 : x + 466] == cells[2:-2, 2:-2]).all()
        tally.check("the figure shows all cells", [] if same else ["they differ"])
    white = (figure[[0, -1]] == 255).all() and (figure[:, [0, -1]] == 255).all()
    tally.check("nothing is cut off", [] if white else ["there is something at the edge"])
    width, height = struct.unpack(">II", show.run("x.npy", "--png", "-").stdout[16:24])
    fine = 1200 < width < 1600 and 800 < height < 1100
    tally.check("a figure that chooses its size", [] if fine else [width, height])


def check_files(tally, show, random):
    name = show.save(random.random((20, 30)), "a<b>&'é.npy")
    for kind in ("png", "svg"):
        first = show.run(name, f"--{kind}", "-").stdout
        show.run(name, f"--{kind}", f"file.{kind}")
        again = (show.folder / f"file.{kind}").read_bytes()
        tally.check(f"the same {kind} each time", [] if first == again else ["bytes differ"])
    show.run(name, "--png", "two.png", "--svg", "two.svg")
    both = [f"two.{kind} differs" for kind in ("png", "svg")
            if (show.folder / f"two.{kind}").read_bytes() != (show.folder / f"file.{kind}").read_bytes()]
    tally.check("both at once", both)


def svg_of(show, *arguments):
    return xml.fromstring(show.run(*arguments, "--svg", "-").stdout)


def check_svg(tally, show, random):
    field = random.random((20, 30))
    svg = svg_of(show, show.save(field, "a<b>&\"x.npy"))
    space = "{http://www.w3.org/2000/svg}"
    texts = [node.text for node in svg.iter(space + "text")]
    words = ['a<b>&"x.npy : f64[20, 30]', "axis 0", "axis 1", "10"]
    tally.check("an SVG has its words", [word for word in words if word not in texts])
    image = next(svg.iter(space + "image"))
    inner = decode_png(base64.b64decode(image.get("href").split(",")[1]))
    tally.check("an SVG has the cells", [] if (inner == show.pixels(field)).all() else ["they differ"])
    svg = svg_of(show, show.save(np.array([1.0, 2, 4, np.nan, 3, np.nan, 5, 6])))
    lines = [node.get("d") for node in svg.iter(space + "path") if node.get("stroke") == "#0e6796"]
    tally.check("a line ends at nan", [] if [d.count("L") for d in lines] == [2, 0, 1] else lines)


# ---- Lines --------------------------------------------------------------------------------------


def check_lines(tally, show):
    picture = show.pixels(np.full(40, 3.0), "--size", "100x41")
    dark = (picture < 200).any(2)
    tally.check("a level line is level", [] if dark[20, 10:90].all() and not dark[:15].any() else ["no"])
    picture = show.pixels(np.arange(1e5), "--size", "100x100")
    ridge = (picture < 200).any(2).argmax(0)[5:-5]
    tally.check("a rising line rises", [*np.argwhere(np.diff(ridge) > 0)])
    spike = np.zeros(1_000_000)
    spike[123_456] = 1
    dark = (show.pixels(spike, "--size", "200x100") < 200).any(2)
    at = np.flatnonzero(dark[10:50].any(0))
    tally.check("one cell of a million is seen", [] if len(at) and abs(at - 24.7).max() < 3 else [at])


def check_terminal_lines(tally, show):
    name = show.save(np.array([0.0, 1, 2, 3, 2, 1, 0, 0]))
    said = show.run(name, "--size", "24x9", env={"CLICOLOR_FORCE": "1"}).stdout.decode()
    plain = re.sub(r"\x1b\[[0-9;]*m", "", said)
    dots = [line[3:] for line in plain.splitlines()[1:4]]
    tally.check("dots of Braille", [plain] if not all(re.fullmatch("[⠀-⣿]{21}", d) for d in dots) else [])
    tops = "".join(dots[0][8:12])
    tally.check("the top is in the middle", [] if any(c != "⠀" for c in tops) else [plain])
    said = show.run(name, "--size", "24x9").stdout.decode()
    tally.check("dots of ASCII", lacks(said, "+", "'", "min 0  max 3  mean 1.125"))
    tally.check("ASCII only", [] if said.isascii() else [said])


# ---- Terminals ----------------------------------------------------------------------------------


def lacks(text, *parts):
    return [f"no {part!r} in:\n{text}" for part in parts if part not in text]


def check_half_blocks(tally, show, random):
    field = random.random((60, 100))
    palette, name = show.palette("sea"), show.save(field)
    env = {"CLICOLOR_FORCE": "1", "COLORTERM": "truecolor"}
    lines = show.run(name, "--size", "50x20", env=env).stdout.decode().split("\n")
    got = decode_blocks(lines[1:16])
    want = means(field, 30, 50)
    tally.check("half blocks", differs(got, want, field.min(), field.max(), palette, None))
    tally.check("below them the scale", lacks(lines[16], "(min to max)", "\x1b[48;2;"))
    numbers = [f"{kind} {getattr(field, kind)():.6g}" for kind in ("min", "max", "mean", "std")]
    tally.check("and statistics", lacks(lines[17], *numbers, "nan 0"))
    odd = show.run(show.save(field[:5, :20]), "--size", "20x12", env=env).stdout.decode().split("\n")
    ground = decode_blocks(odd[1:4])[-1]
    tally.check("half of the last line has no ground", [] if (ground == -1).all() else [ground])


def nearest_256(rgb):
    steps = [0, 95, 135, 175, 215, 255]
    table = [[r, g, b] for r in steps for g in steps for b in steps] + [[8 + 10 * i] * 3 for i in range(24)]
    apart = ((np.array(table) - rgb) ** 2).sum(1)
    return [16 + i for i in np.flatnonzero(apart == apart.min())]


def check_256_colours(tally, show):
    wrong = []
    for name in MAPS:
        options = ["--size", "256x40", "--colour", name, "--range", "0,255"]
        row = show.save(np.arange(256.0).reshape(1, 256))
        said = show.run(row, *options, env={"CLICOLOR_FORCE": "1"}).stdout.decode()
        palette = show.palette(name)
        number, codes = None, []
        for code, character in re.findall(r"\x1b\[38;5;(\d+)m|(▀)", said.split("\n")[1]):
            number = int(code) if code else number
            codes += [number] if character else []
        wrong += [f"{name} {c}: {n}" for n, c in zip(codes, palette) if n not in nearest_256(c)]
        wrong += [] if len(codes) == 256 else [f"{name}: {len(codes)} columns"]
    tally.check("the nearest of 256 colours", wrong)


def check_plain(tally, show):
    name = show.save(np.tile(np.arange(10), (40, 1)))
    ways = {"no terminal": {}, "NO_COLOR": {"CLICOLOR_FORCE": "1", "NO_COLOR": "1"},
            "a Latin-1 locale": {"CLICOLOR_FORCE": "1", "LC_ALL": "de_DE.ISO-8859-1"}}
    for what, env in ways.items():
        said = show.run(name, "--size", "20x25", env=env).stdout.decode()
        wrong = lacks(said, " .:-=+*#%@\n", "0 [ .:-=+*#%@] 9")
        tally.check(f"{what}: a ramp of ASCII", wrong if said.isascii() else [said])
    said = show.run(show.save(np.array([[0.0, np.nan], [1, 2]])), "--size", "20x12").stdout.decode()
    tally.check("nan is a question mark", lacks(said, "?"))


def in_a_terminal(show, name, width, height, env):
    """What it prints to a terminal of this size."""
    parent, child = pty.openpty()
    ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
    clean = {k: v for k, v in os.environ.items() if k not in TERMINAL_VARIABLES}
    ran = subprocess.Popen([show.command, "show", name], cwd=show.folder, stdout=child, env=clean | env)
    os.close(child)
    said = b""
    try:
        while part := os.read(parent, 65536):
            said += part
    except OSError:  # the end of a terminal
        pass
    os.close(parent)
    ran.wait()
    return said.decode().replace("\r\n", "\n")


def check_narrow(tally, show):
    """Labels that are wider than the terminal, names that a terminal would obey."""
    name = show.save(np.array([1.23456789e200, 1.23456789012e200]), "a\x1b[31mb.npy")
    said = show.run(name, "--size", "20x8", env={"CLICOLOR_FORCE": "1"}).stdout.decode()
    tally.check("a narrow plot", lacks(said, "min 1.23457e+200"))
    tally.check("a wild name", lacks(said, "a?[31mb.npy : f64[2]"))
    said = show.run(show.save(np.array([[1.23456e-200, 1], [2, -3.45678e-100]])), "--size", "20x8",
                    "--colour", "sea", env={"CLICOLOR_FORCE": "1"}).stdout.decode()
    tally.check("a narrow picture", lacks(said, "▀", "min -3.45678e-100"))


def check_real_terminal(tally, show, random):
    name = show.save(random.random((200, 300)))
    utf8 = {"LC_ALL": "C.UTF-8"}
    said = in_a_terminal(show, name, 64, 30, utf8 | {"TERM": "xterm", "COLORTERM": "truecolor"})
    rows = [line for line in said.split("\n") if "▀" in line]
    tally.check("it fills the width", [len(r) for r in rows if r.count("▀") != 64])
    tally.check("cells are square", [] if len(rows) == 21 else [len(rows)])
    tally.check("all colours", [] if "\x1b[38;2;" in said else [said[:200]])
    said = in_a_terminal(show, name, 64, 30, utf8 | {"TERM": "xterm"})
    tally.check("256 colours", [] if "\x1b[38;5;" in said and "38;2" not in said else [said[:200]])
    tall = in_a_terminal(show, show.save(random.random((300, 100))), 120, 25, utf8 | {"TERM": "xterm"})
    tally.check("it fits the height", [] if tall.count("\n") < 25 else [tall.count("\n")])
    for env in ({"TERM": "dumb"}, {"TERM": "xterm", "NO_COLOR": "1"}):
        said = in_a_terminal(show, name, 64, 30, utf8 | env)
        tally.check(f"plain with {env}", [] if said.isascii() and "\x1b" not in said else [said[:200]])


# ---- Mistakes -----------------------------------------------------------------------------------


def check_errors(tally, show):
    two, three = show.save(np.zeros((3, 4)), "two.npy"), show.save(np.zeros((2, 3, 4)), "three.npy")
    one = show.save(np.zeros(5), "one.npy")
    rows = [
        ([], "say which array"),
        ([two, two], "one array at a time"),
        (["missing.npy"], "missing.npy"),
        ([show.save(np.zeros((0, 3)), "empty.npy")], "the array is empty (axis 0 has no cells)"),
        ([show.save(np.full((2, 3), np.nan), "nan.npy")], "none of the 6 cells is a finite number"),
        ([show.save(np.float64(3), "number.npy")], "a single number"),
        ([two, "--colour", "see"], "there is no colour map `see`; did you mean `sea`?"),
        ([two, "--colour", "viridis"], "there are: sea, ember, grey, balance"),
        ([two, "--colour", "sea", "--diverging"], "--diverging needs a colour map with two ends"),
        ([two, "--range", "1"], "write two numbers"),
        ([two, "--range", "1,x"], "write two numbers"),
        ([two, "--range", "nan,2"], "write two numbers"),
        ([two, "--range", "2,1"], "the first number must be the smaller one"),
        ([two, "--size", "12"], "write width and height"),
        ([two, "--size", "0x12"], "each side must be 1 to 16384"),
        ([two, "--size", "99999999x12"], "each side must be 1 to 16384"),
        ([two, "--size", "5x5"], "a terminal picture has 20 x 8 to"),
        ([two, "--size", "50x50", "--png", "p.png"], "no room for the cells"),
        ([two, "--size", "16384x16384", "--png", "p.png"], "67108864 pixels are the most"),
        ([show.save(np.zeros((20000, 2), bool), "tall.npy"), "--bare", "--png", "p.png"], "--size says"),
        ([two, "--bare"], "--bare is for files"),
        ([two, "--slice", "3,:"], "index 3 is outside axis 0, which has 3 cells (0 to 2)"),
        ([two, "--slice", ":,:,:"], "more items than the array has axes (2)"),
        ([two, "--slice", "1,1"], "a single cell"),
        ([two, "--slice", "1,a"], "neither a number"),
        ([two, "--slice", "1,"], "an item is empty"),
        ([two, "--slice", "::0,:"], "a step of 0"),
        ([two, "--slice", "2:1,:"], "a range holds no cells"),
        ([three, "--slice", ":,:,:"], "leaves 3 axes"),
        ([two, "--slice", "99999999999999999999999,:"], "too large"),
        ([two, "--png", "no/such/folder.png"], "no/such/folder.png"),
        ([two, "--pgn", "p.png"], "--png"),
        *[([one, f"--{kind}", f"p.{other}"], f"--{kind} p.{other}: the name ends in .{other.lower()}")
          for kind in ("png", "svg") for other in ("jpg", "JPEG", "pdf", "gif", "npy", "h5", "svg", "png") if other != kind],
        ([one, "--png", "-", "--svg", "-"], "cannot both be standard output"),
    ]
    for arguments, part in rows:
        before = sorted(os.listdir(show.folder))
        ran = show.run(*arguments, status=1)
        said = ran.stderr.decode()
        wrong = lacks(said, part) + ([f"{said.count(chr(10))} lines"] if said.count("\n") != 1 else [])
        wrong += [f"output {ran.stdout[:80]}"] if ran.stdout else []
        wrong += ["files were left"] if before != sorted(os.listdir(show.folder)) else []
        tally.check(f"the mistake {' '.join(arguments)}", wrong)


def check_full_disk(tally, show):
    line = f"{show.command} show two.npy > /dev/full"
    ran = subprocess.run(line, shell=True, cwd=show.folder, capture_output=True)
    said = ran.returncode == 1 and b"No space left" in ran.stderr
    tally.check("a full disk is said", [] if said else [ran])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--command", required=True)
    tally, random = Tally(), np.random.default_rng(11)
    with tempfile.TemporaryDirectory() as folder:
        show = Show(os.path.abspath(parser.parse_args().command), folder)
        check_maps(tally, show)
        check_ends(tally, show)
        check_sizes(tally, show, random)
        check_types(tally, show)
        check_ranges(tally, show, random)
        check_slices(tally, show, random)
        check_figure(tally, show, random)
        check_files(tally, show, random)
        check_svg(tally, show, random)
        check_lines(tally, show)
        check_terminal_lines(tally, show)
        check_half_blocks(tally, show, random)
        check_256_colours(tally, show)
        check_plain(tally, show)
        check_narrow(tally, show)
        check_real_terminal(tally, show, random)
        check_errors(tally, show)
        check_full_disk(tally, show)
    tally.finish()


main()
