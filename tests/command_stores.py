"""command_stores.py --command ARRAS -- arrays in HDF5, netCDF and Zarr on the command line, compared with what
h5py, netCDF4 and zarr read and write."""

import command_kit

import h5py
import netCDF4
import numpy as np
import zarr
from tally import Tally

FIELD = np.arange(60, dtype="f4").reshape(6, 10)


def write_inputs(scratch):
    with h5py.File(scratch / "in.h5", "w") as file:
        file.create_dataset("g/x", data=FIELD, chunks=(4, 4), compression="gzip", shuffle=True)
        file["g/x"].attrs["units"] = "m"
        file["one"] = np.float64(2.5)
    with netCDF4.Dataset(scratch / "in.nc", "w") as file:
        file.createDimension("y", 6)
        file.createDimension("x", 10)
        file.createVariable("ssh", "f4", ("y", "x"))[:] = FIELD
    zarr.save_array(str(scratch / "in.zarr"), FIELD, chunks=(5, 3))
    FIELD.tofile(scratch / "in.bin")


def holds(tally, what, good):
    tally.check(what, [] if good else ["it does not"])


def reads(scratch, source):
    said = scratch.run("run", "y = x*2", f"x={source}", "-o", "y=y.npy")
    return said.status == 0 and np.array_equal(np.load(scratch / "y.npy"), FIELD * 2)


def writes(scratch, sink, read):
    said = scratch.run("run", "y = x + 1", "x=in.h5:/g/x", "-o", f"y={sink}")
    return said.status == 0 and np.array_equal(read(), FIELD + 1)


def refuses(scratch, args, words):
    before = scratch.names()
    said = scratch.run(*args)
    return said.status == 1 and words in said.err and said.err.count("\n") == 1 and scratch.names() == before


def read_hdf5(path, inside):
    with h5py.File(path) as file:
        return file[inside][...]


def read_netcdf(path):
    with netCDF4.Dataset(path) as file:
        return np.asarray(file["y"][...])


def check(scratch, tally):
    for source in ("in.h5:/g/x", "in.nc:ssh", "in.zarr", "in.bin:f32[6,10]"):
        holds(tally, f"reads {source}", reads(scratch, source))
    holds(tally, "writes HDF5", writes(scratch, "out.h5:/a/y", lambda: read_hdf5(scratch / "out.h5", "/a/y")))
    holds(tally, "adds to HDF5", writes(scratch, "out.h5:/b", lambda: read_hdf5(scratch / "out.h5", "/b")))
    holds(tally, "and the first is still there", np.array_equal(read_hdf5(scratch / "out.h5", "/a/y"), FIELD + 1))
    holds(tally, "writes netCDF", writes(scratch, "out.nc:y", lambda: read_netcdf(scratch / "out.nc")))
    said = scratch.run("run", "y = x + 1", "x=in.h5:/g/x", "-o", "y=out.zarr")
    holds(tally, "writes Zarr", said.status == 0 and reads_back(scratch, "out.zarr"))

    info = scratch.run("info", "in.h5:/g/x").out
    holds(tally, "info says how it is stored", all(word in info for word in ("[4, 4]", "deflate", "units: m", "59")))
    listed = scratch.run("info", "in.h5").out
    holds(tally, "a container is listed", "/g/x" in listed and "f32[6, 10]" in listed and "/one" in listed)

    holds(tally, "no such array", refuses(scratch, ["run", "x", "x=in.h5:/g/z"], "/g/z"))
    holds(tally, "no such file", refuses(scratch, ["run", "x", "x=none.h5:/x"], "none.h5"))
    holds(tally, "there already", refuses(scratch, ["run", "x+1", "x=in.h5:/g/x", "-o", "out.h5:/b"], "/b"))
    (scratch / "bad.h5").write_bytes((scratch / "in.h5").read_bytes()[:700])
    holds(tally, "cut off", refuses(scratch, ["run", "x", "x=bad.h5:/g/x"], "bad.h5"))


def reads_back(scratch, source):
    said = scratch.run("run", "y = x - 1", f"x={source}", "-o", "y=y.npy")
    return said.status == 0 and np.array_equal(np.load(scratch / "y.npy"), FIELD)


def main():
    chosen = command_kit.options(__doc__)
    tally = Tally()
    with command_kit.Scratch(chosen.command) as scratch:
        write_inputs(scratch)
        check(scratch, tally)
    tally.finish()


main()
