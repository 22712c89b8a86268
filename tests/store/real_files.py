"""real_files.py --command ARRAS --tool STORE_TOOL --folder DIR -- netCDF and HDF5 files that nobody here made, out of
Debian packages: every one opens with `arras info`, every array of numbers is what h5py and netCDF4 read, and all else
is refused with one line.  Packages that are not in the folder are fetched into it, and not installed."""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
import h5py
import netCDF4
import numpy as np
from store_kit import ARRAS, Tool, differences
from store_packed import unpacked
from tally import Tally

PACKAGES = "ferret-datasets r-cran-ncmeta python-tables-data bitshuffle python3-anndata libhe5-hdfeos-dev".split()
ENDINGS = {".nc", ".cdf", ".h5", ".he5", ".hdf5", ".h5ad", ".hdf"}
ABOUT = "_FillValue missing_value scale_factor add_offset _Unsigned".split()
os.environ["HDF5_PLUGIN_PATH"] = "/usr/lib/x86_64-linux-gnu/hdf5/serial/plugins"


def fetch(folder):
    """The files of the packages below the folder, one directory for each."""
    folder.mkdir(parents=True, exist_ok=True)
    for package in PACKAGES:
        if (folder / package).is_dir():
            continue
        with tempfile.TemporaryDirectory() as scratch:
            subprocess.run(["apt-get", "-q", "download", package], cwd=scratch, check=True, capture_output=True)
            (deb,) = Path(scratch).glob("*.deb")
            subprocess.run(["dpkg", "-x", deb, Path(scratch) / "all"], check=True)
            os.rename(Path(scratch) / "all", folder / package) if same_disk(scratch, folder) else subprocess.run(
                ["cp", "-r", Path(scratch) / "all", folder / package], check=True)


def same_disk(a, b):
    return os.stat(a).st_dev == os.stat(b).st_dev


def files(folder):
    for path in sorted(folder.rglob("*")):
        if path.suffix in ENDINGS and path.is_file() and not path.is_symlink():
            with open(path, "rb") as file:
                first = file.read(4)
            if first[:3] == b"CDF" or first == b"\x89HDF":
                yield path, first[:3] == b"CDF"


def is_number(dtype):
    """What Arras has a type for: f16 is read as f32."""
    return dtype.newbyteorder("=") in ARRAS or dtype == np.float16


def as_read(array):
    array = np.asarray(array)
    return array.astype("f4") if array.dtype == np.float16 else array.astype(array.dtype.newbyteorder("="))


def check_refusal(tally, tool, place):
    """Of no cells nothing is wrong."""
    out, said = tool.run("read", place)
    tally.check(f"{place} is refused", [] if said or out == b"" and "0" in tool.info(place)["shape"].split() else ["it is not"])


def read_type(dtype, attributes):
    """Of cells that are unpacked, as CF says."""
    factors = [np.asarray(attributes[name]).dtype for name in ("scale_factor", "add_offset") if name in attributes]
    if dtype.kind == "f":
        return np.result_type(dtype, *factors)
    singles = all(factor == np.float32 for factor in factors)
    return np.dtype("f4" if dtype.itemsize <= 2 and singles else "f8")


def check_unpacked(tally, tool, place, cells, attributes):
    """Only what has such attributes, and of one kind."""
    about = {name: np.asarray(value)[()] for name, value in attributes.items() if name in ABOUT}
    if "_Unsigned" in about or not about or cells.dtype.kind not in "iuf":
        return
    want = unpacked(cells, about, read_type(cells.dtype, about), np.nan)
    tally.check(f"{place} unpacked", differences(tool.read(place, missing="nan"), want))


def check_dataset(tally, tool, path, name, dataset):
    place = f"{path}:{name}"
    if h5py.check_dtype(vlen=dataset.dtype) or h5py.check_dtype(ref=dataset.dtype) or dataset.shape is None:
        check_refusal(tally, tool, place)
    elif is_number(dataset.dtype):
        cells = as_read(dataset[()])
        tally.check(place, differences(tool.read(place), cells))
        check_unpacked(tally, tool, place, cells, dataset.attrs)
    elif dataset.dtype.names:
        check_members(tally, tool, place, dataset)
    else:
        check_refusal(tally, tool, place)


def check_members(tally, tool, place, dataset):
    for name in dataset.dtype.names:
        dtype = dataset.dtype[name]
        if is_number(dtype) and not h5py.check_dtype(vlen=dtype) and not h5py.check_dtype(ref=dtype):
            tally.check(f"{place}.{name}", differences(tool.read(f"{place}.{name}"), as_read(dataset.fields(name)[()])))
        elif not dtype.names:
            check_refusal(tally, tool, f"{place}.{name}")


def check_hdf5(tally, tool, path):
    with h5py.File(path) as file:
        datasets = []
        file.visititems(lambda name, thing: datasets.append(name) if isinstance(thing, h5py.Dataset) else None)
        for name in datasets:
            try:
                file[name][()]
            except (OSError, ValueError, TypeError) as why:  # not h5py's either
                print(f"note: h5py does not read {path}:{name}: {why}")
                tool.run("read", f"{path}:/{name}")
            else:
                check_dataset(tally, tool, path, f"/{name}", file[name])


def check_classic(tally, tool, path):
    with netCDF4.Dataset(path) as file:
        file.set_auto_maskandscale(False)
        for name, variable in file.variables.items():
            place = f"{path}:{name}"
            if variable.dtype == "S1":
                check_refusal(tally, tool, place)
                continue
            cells = as_read(variable[...])
            tally.check(place, differences(tool.read(place), cells))
            check_unpacked(tally, tool, place, cells, {key: variable.getncattr(key) for key in variable.ncattrs()})


def check_info(tally, command, path):
    said = subprocess.run([command, "info", path], capture_output=True, timeout=600)
    good = said.returncode == 0 and said.stdout and not said.stderr
    refused = said.returncode == 1 and said.stderr.count(b"\n") == 1
    tally.check(f"info {path}", [] if good or refused else [f"{said.returncode}: {said.stderr.decode()}"])
    return not refused or said.stderr.decode()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("command", "tool", "folder"):
        parser.add_argument(f"--{name}", required=True)
    arguments = parser.parse_args()
    tally, folder, seen = Tally(), Path(arguments.folder).resolve(), 0
    fetch(folder)
    tool = Tool(arguments.tool, folder)
    for path, classic in files(folder):
        seen += 1
        said = check_info(tally, os.path.abspath(arguments.command), path)
        if said is not True:
            print(f"note: {said.strip()}")
        (check_classic if classic else check_hdf5)(tally, tool, path)
    tally.check("there are files", [] if seen >= 60 else [f"{seen}"])
    tally.finish()


if __name__ == "__main__":
    main()
