#!/usr/bin/env python3
"""label_speed.py -- connected components of ice, as in a model of ice sheets, against scipy, cc3d and OpenCV.

  label_speed.py [--build build/release] [--side 12288] [--rounds 3] [--memory 256M] [--folder /tmp]

In memory: a mask and a thickness, all in turn, round after round.  Out of core: from HDF5 (gzip) to HDF5 with
`arras label` within --memory, against h5py and scipy, which hold everything.  Of cc3d and OpenCV (cv2) those
that are installed take part; they are given the mask, and number components in their own order.
"""

import argparse
import ctypes
import importlib
import statistics
import subprocess
import sys
import tempfile
import time
from ctypes import POINTER, Structure, byref, c_char, c_double, c_int, c_int64, c_void_p
from pathlib import Path

import environment

if "--no-install" not in sys.argv and not environment.is_active():
    environment.enter(["numpy", "h5py", "scipy"])

import h5py
import numpy as np
from scipy import ndimage

TYPES = {"u1": 6, "f4": 10, "i4": 4}  # numbers of arras_dtype
CHUNK = (1024, 1024)


# ---- The field: sheets with ragged margins, islands around them, specks -----------------------------


def noise(rng, side, cells):
    """Smooth in squares of so many cells."""
    coarse = rng.standard_normal((side // cells + 3,) * 2, dtype="f4")
    return ndimage.zoom(coarse, cells, order=1)[:side, :side]


def thickness(side):
    """Metres of ice in f32; 0 where there is none."""
    rng = np.random.default_rng(1)
    field = np.full((side, side), -1200, "f4")
    y, x = np.ogrid[:side, :side]
    for _ in range(5):
        cy, cx = rng.uniform(0.15, 0.85, 2) * side
        radius = rng.uniform(0.08, 0.2) * side
        dome = (1 - ((y - cy) ** 2 + (x - cx) ** 2) / radius**2).astype("f4")
        np.maximum(field, 3000 * dome, out=field)
    for cells, height in ((512, 500), (64, 250), (16, 120)):
        field += height * noise(rng, side, cells)
    specks = rng.random((side, side), dtype="f4")
    field[specks < 0.002] = 0
    field[specks > 0.999] = 10
    return np.maximum(field, 0)


# ---- Those who take part ----------------------------------------------------------------------------


class Buffer(Structure):
    _fields_ = [("data", c_void_p), ("dtype", c_int), ("rank", c_int)]
    _fields_ += [("shape", POINTER(c_int64)), ("strides", POINTER(c_int64))]


class Options(Structure):
    _fields_ = [("neighbours", c_int), ("rule", c_int), ("value", c_double)]
    _fields_ += [("threads", c_int), ("memory", c_int64)]


class Error(Structure):
    _fields_ = [("code", c_int), ("text", c_char * 1012)]


def buffer_of(array):
    numbers = c_int64 * array.ndim
    shape, strides = numbers(*array.shape), numbers(*array.strides)
    return Buffer(array.ctypes.data, TYPES[array.dtype.str[1:]], array.ndim, shape, strides)


def arras_with(library, threads):
    def run(field, neighbours, labels):
        count, err = c_int64(), Error()
        cells, into = buffer_of(field), buffer_of(labels)
        options = Options(neighbours=neighbours, threads=threads)
        if library.arras_label(byref(count), byref(cells), byref(into), byref(options), byref(err)):
            sys.exit(err.text.decode())
        return count.value

    return run


def run_scipy(field, neighbours, labels):
    structure = ndimage.generate_binary_structure(2, 1 if neighbours == 4 else 2)
    return ndimage.label(field, structure, output=labels)


def run_cc3d(field, neighbours, labels):
    import cc3d

    return cc3d.connected_components(field, connectivity=neighbours, binary_image=True, return_N=True)[1]


def run_opencv(field, neighbours, labels):
    import cv2

    return cv2.connectedComponents(field, connectivity=neighbours, ltype=cv2.CV_32S)[0] - 1


def is_installed(name):
    try:
        importlib.import_module(name)
    except ImportError:
        return False
    return True


def contenders(library, field):
    found = {"arras": arras_with(library, 0), "arras, 1 thread": arras_with(library, 1), "scipy": run_scipy}
    if field.dtype == np.uint8 and is_installed("cc3d"):
        found["cc3d"] = run_cc3d
    if field.dtype == np.uint8 and is_installed("cv2"):
        found["OpenCV"] = run_opencv
    return found


# ---- Times ------------------------------------------------------------------------------------------


def seconds(call):
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


def show(title, times):
    base = statistics.median(times["arras"])
    print(title)
    for name, taken in times.items():
        median = statistics.median(taken)
        print(f"   {name:28} {1e3 * median:8.0f} ms   {median / base:6.2f} x arras", flush=True)


def race(title, library, field, neighbours, rounds):
    """All in turn; labels are compared with scipy's, counts of the others too."""
    calls, counts = contenders(library, field), {}
    labels = {name: np.ones(field.shape, "i4") for name in ("arras", "arras, 1 thread", "scipy")}
    times = {name: [] for name in calls}
    for _ in range(rounds + 1):  # the first one warms up
        for name, call in calls.items():
            taken, counts[name] = seconds(lambda: call(field, neighbours, labels.get(name)))
            times[name].append(taken)
    same = all(np.array_equal(labels["scipy"], other) for other in labels.values())
    if not same or len(set(counts.values())) > 1:
        sys.exit(f"{title}: labels differ: {counts}")
    show(f"{title}, {neighbours} neighbours: {counts['arras']} components", {n: t[1:] for n, t in times.items()})


def resident(process):
    """Megabytes that it had at most, so far; what the system says at its end is that of its parent too."""
    try:
        lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return max((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM")), default=0)


def run_watched(command):
    """Seconds, and megabytes at most."""
    start, peak = time.perf_counter(), 0
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    while process.poll() is None:
        peak = max(peak, resident(process))
        time.sleep(0.01)
    if process.returncode:
        sys.exit(f"{command} failed")
    return time.perf_counter() - start, peak


def with_h5py(folder):
    """Labels are not compressed, as those of `arras label` are not."""
    with h5py.File(folder / "ice.h5") as file, h5py.File(folder / "scipy.h5", "w") as out:
        labels, _ = ndimage.label(file["thickness"][...])
        out.create_dataset("labels", data=labels, chunks=CHUNK)


def race_files(build, folder, field, memory, rounds):
    with h5py.File(folder / "ice.h5", "w") as file:
        file.create_dataset("thickness", data=field, chunks=CHUNK, compression="gzip", shuffle=True)
    out = folder / "arras.h5"
    command = [build / "arras", "label", folder / "ice.h5:/thickness", f"{out}:/labels"]
    times, peak = {"arras": [], "h5py and scipy": []}, 0
    for _ in range(rounds):
        out.unlink(missing_ok=True)
        taken, megabytes = run_watched([*command, "--memory", memory])
        times["arras"].append(taken)
        times["h5py and scipy"].append(seconds(lambda: with_h5py(folder))[0])
        peak = max(peak, megabytes)
    with h5py.File(out) as ours, h5py.File(folder / "scipy.h5") as theirs:
        if not np.array_equal(ours["labels"][...], theirs["labels"][...]):
            sys.exit("files: labels differ")
    stored = (folder / "ice.h5").stat().st_size / 1e6
    show(f"from HDF5 ({stored:.0f} MB in gzip) to HDF5, --memory {memory}: {peak:.0f} MB at most", times)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=Path("build/release"))
    parser.add_argument("--side", type=int, default=12288)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--memory", default="256M")
    parser.add_argument("--folder", help="where files are made and removed")
    parser.add_argument("--no-install", action="store_true", help="this Python with what it has")
    chosen = parser.parse_args()
    build = chosen.build.resolve()
    library = ctypes.CDLL(str(build / "libarras.so"))
    field = thickness(chosen.side)
    mask = (field > 0).astype("u1")
    print(f"{chosen.side} x {chosen.side} cells, {100 * mask.mean():.0f} % ice, median of {chosen.rounds}")
    for neighbours in (4, 8):
        race("mask, u8", library, mask, neighbours, chosen.rounds)
        race("thickness, f32", library, field, neighbours, chosen.rounds)
    with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
        race_files(build, Path(folder), field, chosen.memory, chosen.rounds)


main()
