"""slope.py --command ARRAS -- examples/slope: the command lines of its README, on small data, against NumPy and SciPy."""

import command_kit  # first: it sets up NumPy

import re
import shlex
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
from scipy import ndimage
from tally import Tally

EXAMPLES = Path(__file__).resolve().parents[2] / "examples/slope"
COMMAND = re.compile(r"^arras (.*)$", re.MULTILINE)
SIZES = ["--image", "90,130", "--climate", "48,72", "--grid", "24,16,20", "--particles", "3000", "--ice", "200,150"]
# Another tile, chunk or codec changes no bit.
VARIANTS = [[], ["--memory", "2M", "--threads", "1"], ["--memory", "8M", "--codec", "shuffle deflate 1"]]


# ---- The same, by NumPy and SciPy ---------------------------------------------------------------------------------


def relu(x):
    return np.maximum(x, 0)


def correlate_all(planes, kernels):
    """Planes [i,j,c] and kernels [r,s,c,f], where all of the kernel is inside."""
    windows = np.lib.stride_tricks.sliding_window_view(planes, kernels.shape[:2], axis=(0, 1))
    return np.einsum("ijcrs,rscf->ijf", windows, kernels, optimize=True)


def want_cnn(data):
    x, k1, k2 = (data[name].astype("f8") for name in ("x", "k1", "k2"))
    first = relu(correlate_all(x[..., None], k1[:, :, None]))
    return relu(correlate_all(first, k2))


def want_pool(data):
    tmq, w = data["tmq"].astype("f8"), data["w"].astype("f8")
    padded = np.pad(np.pad(tmq, ((1, 1), (0, 0)), "edge"), ((0, 0), (1, 1)), "wrap")
    conv = relu(ndimage.correlate(padded, w)[1:-1, 1:-1])
    rows, columns = (length // 2 for length in conv.shape)
    return conv.reshape(rows, 2, columns, 2).max(axis=(1, 3))


def want_laplacian(data):
    return ndimage.laplace(data["g"].astype("f8"), mode="wrap")


def want_field(data):
    places = [data[f"electron/{name}"].astype("f8") for name in "xyz"]
    return ndimage.map_coordinates(data["g"].astype("f8"), places, order=1, mode="nearest")


def want_labels(data):
    return ndimage.label(data["thickness"])[0]


# ---- The command lines --------------------------------------------------------------------------------------------


def contents(path):
    """All arrays of a file, by their paths."""
    found = {}
    with h5py.File(path) as file:
        file.visititems(lambda name, item: found.update({name: item[...]}) if isinstance(item, h5py.Dataset) else None)
    return found


def command_for(sink):
    """The line of the README that writes this array."""
    lines = COMMAND.findall((EXAMPLES / "README.md").read_text())
    words = [shlex.split(line) for line in lines if sink in line]
    assert len(words) == 1, f"{len(words)} command lines write {sink}"
    return [str(EXAMPLES / word) if word.endswith(".arras") else word for word in words[0]]


def differences(got, want, tolerance):
    if got.shape != want.shape:
        return [f"shape {got.shape}, not {want.shape}"]
    if got.size == 0 or not np.any(want):
        return ["a check of nothing"]
    away = np.abs(got.astype("f8") - want).max() / np.abs(want).max()
    return [] if away <= tolerance else [f"differs by {away:.2g}"]


def run(scratch, words):
    said = scratch.run(*words)
    return [] if said.status == 0 else [said.err]


def check(scratch, tally, sink, source, want, tolerance, variants):
    path, inside = sink.split(":/")
    wanted, first = want(contents(scratch / source)), None
    for more in variants:
        (scratch / path).unlink(missing_ok=True)
        wrong = run(scratch, command_for(sink) + more)
        got = None if wrong else contents(scratch / path)[inside]
        tally.check(f"{sink} {more}", wrong or differences(got, wanted, tolerance))
        first = got if first is None else first
        same = got is not None and got.tobytes() == first.tobytes()
        tally.check(f"{sink} {more}: bits", [] if same else ["others than those of the first run"])


def check_data(scratch, tally):
    """It is made again with the same cells; what it can't make it says."""
    maker = [sys.executable, EXAMPLES / "make_data.py"]
    for folder in (".", "again"):
        subprocess.run([*maker, *SIZES, "--folder", scratch / folder], check=True)
    for name in ("cnn.h5", "cam5.h5", "vpic.h5", "bisicles.h5"):
        ours, again = contents(scratch / name), contents(scratch / "again" / name)
        same = {key: cells.tobytes() for key, cells in ours.items()} == {
            key: cells.tobytes() for key, cells in again.items()
        }
        tally.check(f"{name} is made again", [] if same and ours else ["with other cells"])
    said = subprocess.run([*maker, "--grid", "3,4"], capture_output=True, text=True)
    tally.check("a grid of two axes", [] if said.returncode == 2 and "expected 3 lengths" in said.stderr else [said.stderr])


def main():
    options = command_kit.options(__doc__)
    tally = Tally()
    with command_kit.Scratch(options.command) as scratch:
        check_data(scratch, tally)
        check(scratch, tally, "features.h5:/y", "cnn.h5", want_cnn, 1e-6, VARIANTS)
        check(scratch, tally, "storms.h5:/pool", "cam5.h5", want_pool, 1e-6, VARIANTS)
        check(scratch, tally, "vpic_lap.h5:/lap", "vpic.h5", want_laplacian, 1e-6, VARIANTS)
        check(scratch, tally, "vpic_e.h5:/electron/e", "vpic.h5", want_field, 1e-5, VARIANTS)
        check(scratch, tally, "sheets.h5:/labels", "bisicles.h5", want_labels, 0, [[], ["--memory", "2M"]])
    tally.finish()


main()
