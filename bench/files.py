"""files.py -- arrays in files: Arras against cp, hand-written C, SciPy and Dask, interleaved in one run.

  files.py [--build build/release] [--size 4G] [--folder /tmp] [--only raw] [--quick] [--json FILE]

  raw        5-point Laplacian of an f32 array, HDF5 to HDF5: cp of the file, Dask
  gzip       the same from chunks in gzip and shuffle: the decoders alone, the decoders when what
             comes out is written to a file (the least that any program does), a loop of H5Dread in C
  memory     the most that was resident, for inputs ten times larger than --memory
  cnn, cam5, vpic    the applications of examples/slope: C, NumPy, SciPy, Dask

Components of ice sheets, the fourth application, have a benchmark of their own: label_speed.py.
Files are in the cache of the system: what is measured is not the disk.  All contenders take turns,
round after round, and before they are timed their results are compared.  Before each run what the
one before it wrote goes to the disk, and as much memory as it reads and writes is touched and given
back: virtual machines may lose memory that is free, and whoever is first to use it again would pay
for that.  In a file system of memory only (--folder /dev/shm) the system itself takes nearly all of
the time of those that write fast.  Needs a build with ARRAS_BENCH, as make bench makes it."""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

sys.dont_write_bytecode = True
import environment

TREE = Path(__file__).resolve().parent.parent
PROGRAMS = TREE / "examples/slope"
PACKAGES = ["numpy", "h5py", "scipy", "dask[array]"]
PARTS = ["raw", "gzip", "memory", "cnn", "cam5", "vpic"]
LAPLACE = "edge h = 0; lap[i,j] = 4*h[i,j] - h[i-1,j] - h[i+1,j] - h[i,j-1] - h[i,j+1]"
CHUNK = 512
SAMPLE = 64  # rows that are compared at the beginning, in the middle and at the end
MEGABYTE = 1 << 20
MORE_MEMORY = 64  # megabytes above --memory that a process may have
# How much of the speed of C, by hand, equations must reach, and how many times that of peers.
OF_C, TIMES_PEERS = 0.8, 1


def bytes_of(text):
    """From 512M to a number."""
    unit = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}.get(text[-1:].upper())
    number = text[:-1] if unit else text
    if not number.isdigit() or int(number) == 0:
        raise argparse.ArgumentTypeError(f"{text}: expected a size such as 512M or 4G")
    return int(number) * (unit or 1)


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--build", type=Path, default=TREE / "build/release")
    parser.add_argument("--size", type=bytes_of, default="4G", help="of the input of raw and gzip")
    parser.add_argument("--budgets", default="128M,256M", help="of memory, with commas")
    parser.add_argument("--folder", type=Path, help="for files; default: that for temporary files")
    parser.add_argument("--only", action="append", choices=PARTS, help="may be given again")
    parser.add_argument("--rounds", type=int, default=5, help="of which medians are taken")
    parser.add_argument("--patience", type=float, default=20, help="who takes more seconds runs once")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="of each contender")
    parser.add_argument("--quick", action="store_true", help="small sizes: to see that it works")
    parser.add_argument("--json", type=Path, help="writes all numbers to this file")
    parser.add_argument("--no-install", action="store_true", help="this Python with what it has")
    return parser.parse_args()


# ---- Races ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Contender:
    name: str
    run: callable  # gives the seconds it took
    writes: Path = None  # a file that is removed after each run
    result: str = None  # the array in it that is compared


@dataclass
class Race:
    title: str
    moved: int  # bytes that are read and written
    seconds: dict
    failures: list = field(default_factory=list)

    def ratio(self, name):
        """How many times faster than this one Arras is; None: it did not run."""
        own, other = self.seconds.get("Arras"), self.seconds.get(name)
        return other / own if own and other else None


def sample(path, name):
    import h5py
    import numpy as np

    with h5py.File(path) as file:
        cells, rows = file[name], file[name].shape[0]
        starts = [0, max(0, rows // 2 - SAMPLE // 2), max(0, rows - SAMPLE)]
        return cells.shape, np.concatenate([cells[at : at + SAMPLE] for at in starts])


def difference(ours, theirs):
    import numpy as np

    (shape, wanted), (other, got) = ours, theirs
    if shape != other:
        return f"shape {other}, not {shape}"
    away = float(np.abs(got.astype("f8") - wanted).max() / max(np.abs(wanted).max(), 1e-30))
    return None if away <= 1e-5 else f"differs by {away:.2g}"


def run_once(contender, warm):
    """Seconds and, of those that write an array, a part of it."""
    try:
        os.sync()
        warm()
        seconds = contender.run()
        return seconds, sample(contender.writes, contender.result) if contender.result else None
    finally:
        if contender.writes:
            contender.writes.unlink(missing_ok=True)


def hold(title, moved, contenders, arguments):
    """The first round warms up and compares with Arras, which comes first."""
    times, wanted, race = {}, None, Race(title, moved, {})
    warm = lambda: subprocess.run([arguments.build / "files_hand", "warm", str(moved)], check=True)
    print(f"== {title}", flush=True)
    for contender in contenders:
        try:
            seconds, got = run_once(contender, warm)
        except Exception as error:
            race.failures.append(f"{title}: {contender.name}: {error}")
            continue
        wanted = wanted or got
        if got and (wrong := difference(wanted, got)):
            race.failures.append(f"{title}: {contender.name} {wrong}")
            continue
        times[contender.name] = [seconds]
    for _ in range(arguments.rounds):
        for contender in contenders:
            if contender.name in times and times[contender.name][0] <= arguments.patience:
                times[contender.name].append(run_once(contender, warm)[0])
    race.seconds = {name: statistics.median(of[1:] or of) for name, of in times.items()}
    return race


def show(race):
    import report

    rows = [
        [name, f"{taken:.3f}", f"{race.moved / taken / 1e9:.2f}", report.number(race.ratio(name))]
        for name, taken in race.seconds.items()
    ]
    report.show_table([f"{race.title}, {race.moved / 1e9:.2f} GB", "s", "GB/s", "/ Arras"], rows)
    for failure in race.failures:
        print(f"   failed: {failure}")
    print(flush=True)


# ---- Who takes part -----------------------------------------------------------------------------------


class Bench:
    """A folder with files, and how programs are run on them."""

    def __init__(self, arguments, folder):
        self.arguments, self.folder = arguments, folder
        self.hand_program = arguments.build / "files_hand"
        self.arras_program = arguments.build / "arras"

    def timed(self, *command):
        """Seconds and bytes that were resident at most."""
        return self.numbers("timed", *command)

    def numbers(self, *arguments):
        command = [self.hand_program, *arguments]
        ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if ran.returncode:
            raise RuntimeError(ran.stderr.strip())
        seconds, count = ran.stdout.split("\n")[-2].split()
        return float(seconds), int(count)

    def arras(self, program, inputs, result, *more):
        """The command; program: an equation, or a file of examples/slope."""
        given = ["-f", PROGRAMS / program] if program.endswith(".arras") else [program]
        sink = f"{result}={self.folder / 'arras.h5'}:/{result}"
        threads = f"--threads={self.arguments.threads}"
        return [self.arras_program, "run", *given, *inputs, "-o", sink, threads, "-q", *more]

    def arras_contender(self, program, inputs, result, *more):
        command = self.arras(program, inputs, result, *more)
        return Contender("Arras", lambda: self.timed(*command)[0], self.folder / "arras.h5", result)

    def hand(self, kind, source, result, name="C"):
        to = self.folder / "hand.h5"
        return Contender(name, lambda: self.timed(self.hand_program, kind, source, to)[0], to, result)

    def python(self, name, call, source, result):
        to = self.folder / "python.h5"

        def run():
            start = time.perf_counter()
            call(source, to)
            return time.perf_counter() - start

        return Contender(name, run, to, result)

    def dask(self, call, source, result):
        """In a list: nothing where there is no Dask."""
        import files_peers

        if not files_peers.dask:
            return []
        threads = self.arguments.threads
        return [self.python("Dask", lambda here, to: call(here, to, threads), source, result)]


# ---- Data ---------------------------------------------------------------------------------------------


def make_field(path, rows, columns):
    """/h: waves with noise, in steps of 1/4096 so that gzip finds something; no two slabs are the same."""
    import h5py
    import numpy as np

    rng = np.random.default_rng(1)
    height = min(rows, CHUNK)
    i, j = np.arange(height, dtype="f4")[:, None], np.arange(columns, dtype="f4")
    slab = np.sin(i / 31) * np.cos(j / 47) + np.float32(0.02) * rng.random((height, columns), "f4")
    with h5py.File(path, "w") as file:
        data = file.create_dataset("h", (rows, columns), "f4")
        for first in range(0, rows, height):
            count = min(height, rows - first)
            factor = np.float32(4096 * (1 + first / rows))
            data[first : first + count] = np.rint(slab[:count] * factor) / np.float32(4096)


def pack(bench, source, to):
    """The same array in chunks, shuffled, in gzip."""
    command = [bench.arras_program, "run", "h = x", f"x={source}:/h", "-o", f"h={to}:/h"]
    options = ["--chunk", f"{CHUNK},{CHUNK}", "--codec", "shuffle deflate 4", "--memory", "1G"]
    subprocess.run([*command, *options, "-q"], check=True)


def side_of(size):
    """Of a square of f32 with about so many bytes."""
    return max(CHUNK, round((size / 4) ** 0.5 / CHUNK) * CHUNK)


def make_slope(bench, which, *options):
    """Data of an application; the size of its file."""
    maker = [sys.executable, PROGRAMS / "make_data.py", "--folder", bench.folder, "--only", which]
    subprocess.run([*maker, *options], check=True)
    return bench.folder / f"{which}.h5"


# ---- The parts: each gives races and bounds -------------------------------------------------------------


def bound(race, name, limit, what):
    import report

    ratio = race.ratio(name)
    return [] if ratio is None else [report.Bound(f"{race.title}: {what}", ratio, limit, "", True)]


def run_raw(bench, arguments):
    import files_peers

    source, copy = bench.folder / "raw.h5", bench.folder / "copy.h5"
    side = side_of(arguments.size)
    make_field(source, side, side)
    # Copies that share blocks would copy nothing.
    cp = ["cp", "--reflink=never", source, copy]
    contenders = [
        bench.arras_contender(LAPLACE, [f"h={source}:/h"], "lap", "--memory=1G"),
        Contender("cp", lambda: bench.timed(*cp)[0], copy),
        *bench.dask(files_peers.dask_laplace2, source, "lap"),
    ]
    race = hold("Laplacian, raw", 8 * side * side, contenders, arguments)
    source.unlink()
    bounds = bound(race, "cp", 0.8, "of the speed of cp")
    return [race], bounds + bound(race, "Dask", 10, "times Dask")


def run_gzip(bench, arguments):
    raw, source = bench.folder / "raw.h5", bench.folder / "gzip.h5"
    decoded = bench.folder / "decoded.bin"
    side = side_of(arguments.size)
    make_field(raw, side, side)
    pack(bench, raw, source)
    stored = source.stat().st_size / raw.stat().st_size
    raw.unlink()
    contenders = [
        bench.arras_contender(LAPLACE, [f"h={source}:/h"], "lap", "--memory=1G"),
        Contender("decoders alone", lambda: bench.numbers("decode", source)[0]),
        Contender("and writing", lambda: bench.numbers("decode", source, decoded)[0], decoded),
        bench.hand("loop", source, "lap", "H5Dread loop"),
    ]
    title = f"Laplacian, gzip to {100 * stored:.0f} %"
    race = hold(title, 8 * side * side, contenders, arguments)
    source.unlink()
    bounds = bound(race, "decoders alone", 0.9, "of the speed of the decoders")
    return [race], bounds + bound(race, "H5Dread loop", 4, "times the loop in C")


def run_memory(bench, arguments):
    import report

    raw, packed, bounds = bench.folder / "raw.h5", bench.folder / "gzip.h5", []
    for budget in arguments.budgets.split(","):
        allowed = bytes_of(budget)
        make_field(raw, 4096, (10 * allowed if not arguments.quick else 32 * MEGABYTE) // 4 // 4096)
        pack(bench, raw, packed)
        for source in (raw, packed):
            command = bench.arras(LAPLACE, [f"h={source}:/h"], "lap", "--memory", budget)
            _, resident = bench.timed(*command)
            (bench.folder / "arras.h5").unlink()
            limit = allowed / MEGABYTE + MORE_MEMORY
            what = f"resident, {source.stem} with --memory {budget}"
            bounds.append(report.Bound(what, resident / MEGABYTE, limit, "MB"))
            source.unlink()
    return [], bounds


def peer_bounds(race, peers):
    bounds = bound(race, "C", OF_C, "of the speed of C")
    for peer in peers:
        bounds += bound(race, peer, TIMES_PEERS, f"times {peer}")
    return bounds


def run_cnn(bench, arguments):
    import files_peers

    side = 256 if arguments.quick else 4096
    source = make_slope(bench, "cnn", "--image", f"{side},{side}")
    inputs = [f"{name}={source}:/{name}" for name in ("x", "k1", "k2")]
    contenders = [
        bench.arras_contender("cnn.arras", inputs, "y", "--memory=1G"),
        bench.hand("cnn", source, "y"),
        bench.python("NumPy", files_peers.numpy_cnn, source, "y"),
        bench.python("SciPy", files_peers.scipy_cnn, source, "y"),
        *bench.dask(files_peers.dask_cnn, source, "y"),
    ]
    moved = 4 * side**2 + 32 * (side - 2) ** 2
    race = hold(f"CNN, {side} x {side}", moved, contenders, arguments)
    source.unlink()
    return [race], peer_bounds(race, ["NumPy", "SciPy", "Dask"])


def run_cam5(bench, arguments):
    import files_peers

    source = make_slope(bench, "cam5")
    inputs = [f"tmq={source}:/tmq", f"w={source}:/w"]
    contenders = [
        bench.arras_contender("cam5.arras", inputs, "pool"),
        bench.hand("cam5", source, "pool"),
        bench.python("SciPy", files_peers.scipy_cam5, source, "pool"),
    ]
    race = hold("CAM5, 768 x 1152", 5 * 768 * 1152, contenders, arguments)
    source.unlink()
    return [race], peer_bounds(race, ["SciPy"])


def run_vpic(bench, arguments):
    import files_peers

    shape, particles = ((48, 32, 32), 10_000) if arguments.quick else ((512, 256, 256), 10_000_000)
    grid = ",".join(map(str, shape))
    source = make_slope(bench, "vpic", "--grid", grid, "--particles", str(particles))
    g, electrons = f"g={source}:/g", f"electron={source}:/electron"
    cells = shape[0] * shape[1] * shape[2]
    laplacian = [
        bench.arras_contender("laplace.arras", [g], "lap", "--memory=1G"),
        bench.hand("laplace", source, "lap"),
        bench.python("SciPy", files_peers.scipy_laplace, source, "lap"),
        *bench.dask(files_peers.dask_laplace3, source, "lap"),
    ]
    at_particles = [
        bench.arras_contender("interpolate.arras", [g, electrons], "e", "--memory=1G"),
        bench.hand("interpolate", source, "e"),
        bench.python("SciPy", files_peers.scipy_interpolate, source, "e"),
    ]
    moved = 4 * cells + 16 * particles
    races = [
        hold(f"VPIC, Laplacian of {grid}", 8 * cells, laplacian, arguments),
        hold(f"VPIC, field at {particles:.0e} particles", moved, at_particles, arguments),
    ]
    source.unlink()
    return races, [b for race in races for b in peer_bounds(race, ["SciPy", "Dask"])]


RUN = {
    "raw": run_raw,
    "gzip": run_gzip,
    "memory": run_memory,
    "cnn": run_cnn,
    "cam5": run_cam5,
    "vpic": run_vpic,
}


# ---- All ------------------------------------------------------------------------------------------------


def run_parts(arguments, folder):
    races, bounds = [], []
    bench = Bench(arguments, folder)
    for name in arguments.only or PARTS:
        more, held = RUN[name](bench, arguments)
        for race in more:
            show(race)
        races += more
        bounds += held
    return races, bounds


def as_json(races, bounds, arguments):
    return {
        "machine": f"{platform.machine()}, {arguments.threads} threads",
        "races": [
            {"title": race.title, "bytes": race.moved, "seconds": race.seconds} for race in races
        ],
        "bounds": [
            {"what": b.what, "value": b.value, "limit": b.limit, "holds": b.holds} for b in bounds
        ],
    }


def main():
    arguments = parse_arguments()
    environment.threads_in_environment(arguments.threads)
    if not arguments.no_install and not environment.is_active():
        environment.enter(PACKAGES)
    import report

    if arguments.quick:
        arguments.size, arguments.rounds = 24 * MEGABYTE, 1
    arguments.build = arguments.build.resolve()
    os.environ.setdefault("ARRAS_CACHE_DIR", str(arguments.build / "kernels"))
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        print(f"== files: {folder}, {arguments.threads} threads, median of {arguments.rounds}")
        races, bounds = run_parts(arguments, Path(folder))
    if bounds and not arguments.quick:
        report.show_bounds(bounds)
    if arguments.json:
        arguments.json.write_text(json.dumps(as_json(races, bounds, arguments), indent=1) + "\n")
    failures = [failure for race in races for failure in race.failures]
    print(f"\n{sum(len(race.seconds) for race in races)} passed, {len(failures)} failed")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
