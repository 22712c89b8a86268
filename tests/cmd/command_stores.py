"""command_stores.py --command ARRAS -- arrays in HDF5, netCDF and Zarr on the command line, compared with what
h5py, netCDF4 and zarr read and write."""

import json
import os
import resource
import signal
import subprocess
import time

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


# ---- Packed and missing cells, members, attributes ----------------------------------------------


def prints(scratch, args, words):
    said = scratch.run(*args)
    return said.status == 0 and said.out.strip() == words


def write_others(scratch):
    with netCDF4.Dataset(scratch / "packed.nc", "w", format="NETCDF3_CLASSIC") as file:
        file.createDimension("x", 4)
        t = file.createVariable("t", "i2", ("x",), fill_value=-1)
        t.setncatts({"scale_factor": np.float32(0.5), "units": "K", "range": np.array([1, 9], "i4")})
        t.set_auto_maskandscale(False)
        t[:] = [1, 2, -1, 4]
    with h5py.File(scratch / "balls.h5", "w") as file:
        file["ball"] = np.array([(1, 2, b"a"), (3, 4, b"b")], [("x", "f8"), ("y", "f4"), ("name", "S1")])
        file["group/x"], file["group/y"] = [1.0, 3.0], [2.0, 4.0]
        file["names"] = [b"one", b"two"]


def check_cells(scratch, tally):
    write_others(scratch)
    for source, words in (
        ("packed.nc", "[0.5 1.  nan 2. ]"),
        ("packed.nc:t@raw", "[ 1  2 -1  4]"),
        ("packed.nc:t@missing=0", "[0.5 1.  0.  2. ]"),
    ):
        holds(tally, source, prints(scratch, ["run", "t", f"t={source}"], words))
    holds(tally, "@missing", refuses(scratch, ["run", "t", "t=packed.nc@missing=no"], "expected a number"))
    program = "e[p] = p0.x[p]*2 + p0.y[p]"
    for source in ("balls.h5:/ball", "balls.h5:/group"):
        holds(tally, f"members of {source}", prints(scratch, ["run", program, f"p0={source}"], "[ 4. 10.]"))
    holds(tally, "of all", prints(scratch, ["run", "b.group.x + b.names0", "b=balls.h5", "b.names0=1"], "[2. 4.]"))
    holds(tally, "no such member", refuses(scratch, ["run", "b.z", "b=balls.h5:/ball"], "the members are x, y, name"))
    holds(tally, "no member", refuses(scratch, ["run", "b", "b=balls.h5:/ball"], "say which member"))
    listed = scratch.run("info", "balls.h5:/ball").out
    holds(tally, "members are listed", "/ball.x\tf64[2]" in listed and "/ball.name\ttext[2]" in listed)
    holds(tally, "info of text", "/names\ttext" in scratch.run("info", "balls.h5:/names").out)


def check_large(scratch, tally):
    """More than 256 MiB of cells, of which few are stored: statistics only when asked for."""
    with h5py.File(scratch / "large.h5", "w") as file:
        data = file.create_dataset("x", (9000, 9000), "f4", chunks=(900, 900), fillvalue=1)
        data[5, 5], data[8999, 8999], data[0, 0], data[1, 0] = -3, 7, np.nan, np.inf
    said = scratch.run("info", "large.h5:/x", "--log-queries", "none.csv").out
    holds(tally, "info of a large array", "f32[9000, 9000]" in said and "stats    not computed" in said and "min" not in said)
    holds(tally, "nothing of it is read", not (scratch / "none.csv").exists() or "9000" not in (scratch / "none.csv").read_text())
    said = scratch.run("info", "large.h5:/x", "--stats", "--log-queries", "all.csv").out
    got = dict(line.split(None, 1) for line in said.splitlines())
    n = 9000 * 9000 - 2
    mean = (n - 2 + 4) / n
    std = np.sqrt(((n - 2) * (1 - mean) ** 2 + (-3 - mean) ** 2 + (7 - mean) ** 2) / n)
    holds(tally, "its least, largest, nan, inf", [got[k] for k in ("min", "max", "nan", "inf")] == ["-3.0", "7.0", "1 cell", "1 cell"])
    holds(tally, "its mean", np.isclose(float(got["mean"]), mean, rtol=1e-9) and np.isclose(float(got["std"]), std, rtol=1e-7))
    holds(tally, "all of it is read", "0,9000,0,9000" in (scratch / "all.csv").read_text())


def attributes(scratch, sink, *args):
    scratch.run("run", "y = t*2", "t=packed.nc", "-o", f"y={sink}", *args)
    if sink.endswith(".zarr"):
        return zarr_attributes(scratch / sink)
    with h5py.File(scratch / sink.split(":")[0]) as file:
        return dict(file["y"].attrs)


def zarr_attributes(path):
    return json.loads((path / "zarr.json").read_text())["attributes"]


def check_attributes(scratch, tally):
    for sink in ("like.h5:/y", "like.nc:y", "like.zarr"):
        got = attributes(scratch, sink, "--attributes-from", "t")
        good = got.get("units") in ("K", b"K") and list(got["range"]) == [1, 9] and "scale_factor" not in got
        holds(tally, f"attributes of {sink}", good)
    holds(tally, "not unless asked", "units" not in attributes(scratch, "unlike.h5:/y"))
    with netCDF4.Dataset(scratch / "like.nc") as file:
        holds(tally, "and the axis", file["y"].dimensions == ("x",))
    holds(tally, "of what", refuses(scratch, ["run", "1", "--attributes-from", "q"], "there is no input q"))


def check_growth(scratch, tally):
    for sink in ("grow.h5:/y", "grow.nc:y", "grow.zarr", "deep.zarr:/a/y"):
        for _ in range(3):
            said = scratch.run("run", "y = x", "x=[[1, 2]]", "-o", f"y={sink}+")
        holds(tally, f"{sink} grows", said.status == 0 and prints(scratch, ["run", "shape(y)", f"y={sink}"], "[3 2]"))
        before = scratch.run("run", "y", f"y={sink}").out
        for x, words in (("[[1.5, 2]]", "f64"), ("[1, 2]", "rank 1"), ("[[1, 2, 3]]", "axes")):
            holds(tally, f"{sink}: {words}", refuses(scratch, ["run", "x", f"x={x}", "-o", f"{sink}+"], words))
        holds(tally, f"{sink} is as before", scratch.run("run", "y", f"y={sink}").out == before)


# ---- What can go wrong ----------------------------------------------------------------------------

SLOW = "y[i] = sum[k:40000000] sin(k*x[i])"  # hours


def interrupted(scratch, sink, sent):
    """Names in the folder before and after, and the status."""
    before = scratch.names()
    child = subprocess.Popen(
        [scratch.command, "run", SLOW, "x=slow.npy", "-o", f"y={sink}"],
        cwd=scratch.folder, stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 600
    while scratch.names() == before and time.monotonic() < deadline and child.poll() is None:
        time.sleep(0.02)
    begun = scratch.names() != before
    child.send_signal(sent)
    status = child.wait(timeout=600)
    return begun and scratch.names() == before and status == 128 + sent


def check_interrupts(scratch, tally):
    np.save(scratch / "slow.npy", np.linspace(0, 1, 50000))
    scratch.run("run", SLOW, "x=[1.5]")  # so that the kernel is there
    for sink in ("slow.h5:/y", "slow.zarr", "slow.zarr:/a/b", "in.h5:/slow", "slow2.npy"):
        for sent in (signal.SIGINT, signal.SIGTERM):
            holds(tally, f"{sent.name} while {sink} is written", interrupted(scratch, sink, sent))


def limited(scratch, sink, limit):
    """A run whose files may have so many bytes."""

    def limits():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    return subprocess.run([scratch.command, "run", "-q", "y[i:300, j:300] = i + 0.5*j", "-o", f"y={sink}"],
                          cwd=scratch.folder, capture_output=True, preexec_fn=limits, timeout=600)


def check_room(scratch, tally):
    for sink in ("full.h5:/y", "full.nc:y", "full.zarr", "full.npy", "in.h5:/full"):
        before, old = scratch.names(), (scratch / "in.h5").read_bytes()
        said = limited(scratch, sink, 8000)
        line = said.stderr.decode()
        good = said.returncode == 1 and line.count("\n") == 1 and "File too large" in line
        holds(tally, f"no room for {sink}: {line}", good)
        same = scratch.names() == before and (scratch / "in.h5").read_bytes() == old
        holds(tally, f"nothing is left of {sink}", same)


def check_same(scratch, tally):
    old = (scratch / "in.h5").read_bytes()
    for sink in ("in.h5:/g/x", "in.h5:/g", "in.h5:/g/x/y"):
        holds(tally, f"output = input, {sink}", refuses(scratch, ["run", "x", "x=in.h5:/g/x", "-o", sink], "/g"))
    holds(tally, "the input stays", (scratch / "in.h5").read_bytes() == old)
    holds(tally, "output = input, Zarr", refuses(scratch, ["run", "x", "x=in.zarr", "-o", "in.zarr"], "already"))
    holds(tally, "beside its input", writes(scratch, "in.h5:/g/y", lambda: read_hdf5(scratch / "in.h5", "/g/y")))
    holds(tally, "which is there", np.array_equal(read_hdf5(scratch / "in.h5", "/g/x"), FIELD))


def check_permission(scratch, tally):
    """As somebody who may not, if we may everything."""
    nobody = 65534 if os.geteuid() == 0 else None
    env = {"ARRAS_CACHE_DIR": "", "HOME": "/nonexistent"}
    scratch.folder.chmod(0o755)
    for name in ("in.h5", "in.nc"):
        (scratch / name).chmod(0)
        said = scratch.run("info", name, env=env, user=nobody)
        good = said.status == 1 and said.err.count("\n") == 1 and "Permission denied" in said.err
        holds(tally, f"may not read {name}: {said.err}", good)
        (scratch / name).chmod(0o644)
    if nobody is None:
        scratch.folder.chmod(0o555)
    for sink in ("no.h5:/y", "no.zarr", "in.h5:/no", "in.zarr:/no"):
        said = scratch.run("run", "y = x", "x=in.bin:f32[6,10]", "-o", f"y={sink}", env=env, user=nobody)
        good = said.status == 1 and said.err.count("\n") == 1
        holds(tally, f"may not write {sink}: {said.err}", good)
    scratch.folder.chmod(0o755)


def main():
    chosen = command_kit.options(__doc__)
    tally = Tally()
    with command_kit.Scratch(chosen.command) as scratch:
        write_inputs(scratch)
        check(scratch, tally)
        check_cells(scratch, tally)
        check_large(scratch, tally)
        check_attributes(scratch, tally)
        check_growth(scratch, tally)
        check_interrupts(scratch, tally)
        check_room(scratch, tally)
        check_same(scratch, tally)
        check_permission(scratch, tally)
    tally.finish()


main()
