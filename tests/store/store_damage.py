"""store_damage.py --tool DAMAGE_TOOL -- files of HDF5 and netCDF-4 in which one byte after the other is another one.

Every layout and every index of chunks, with filters and without: what is read, or one line; no crash, no bytes of
anybody else.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
import h5py
import numpy as np
from tally import Tally

try:
    import netCDF4
except ImportError:
    netCDF4 = None

FILTERS = {"plain": {}, "deflate": dict(compression=1, shuffle=True)}
CELLS = np.arange(48, dtype="f4").reshape(6, 8)
BEHIND = np.zeros(1 << 17, "i1")


def make(path, latest, **how):
    with h5py.File(path, "w", libver="latest" if latest else "earliest") as f:
        f.create_dataset("x", data=CELLS, **how)
        f["zeros"] = BEHIND


def make_by_hand(path, latest, choose):
    """What h5py has no words for."""
    with h5py.File(path, "w", libver="latest" if latest else "earliest") as f:
        how = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        choose(how)
        space = h5py.h5s.create_simple(CELLS.shape)
        h5py.h5d.create(f.id, b"x", h5py.h5t.IEEE_F32LE, space, how).write(space, space, CELLS)
        f["zeros"] = BEHIND


def compact(how):
    how.set_layout(h5py.h5d.COMPACT)


def make_converted(path, filters):
    """A type that only libhdf5 converts: integers of 24 bits."""
    with h5py.File(path, "w", libver="earliest") as f:
        how = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        how.set_chunk((3, 4))
        if filters:
            how.set_shuffle()
            how.set_deflate(1)
        type_ = h5py.h5t.STD_I32LE.copy()
        type_.set_precision(24)
        type_.set_size(3)
        space = h5py.h5s.create_simple(CELLS.shape)
        h5py.h5d.create(f.id, b"x", type_, space, how).write(space, space, CELLS.astype("i4"))
        f["zeros"] = BEHIND


def implicit(how):
    """The index of chunks that are all there from the beginning."""
    how.set_chunk((3, 4))
    how.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)


def make_netcdf(path, filters):
    with netCDF4.Dataset(path, "w") as f:
        f.createDimension("time", None)
        f.createDimension("x", 8)
        f.createDimension("n", BEHIND.size)
        f.createVariable("x", "f4", ("time", "x"), chunksizes=(3, 4), **filters)[:] = CELLS
        f.createVariable("zeros", "i1", ("n",))[:] = BEHIND


def make_groups(path, latest):
    """More links than fit into a header."""
    with h5py.File(path, "w", libver="latest" if latest else "earliest", track_order=True) as f:
        f.create_dataset("x", data=CELLS, chunks=(3, 4), compression=1)
        for i in range(20):
            f[f"group{i}/a"] = np.float32(i)


def make_records(path):
    """Records in records, of which one member is read."""
    inner = [("h", "f2"), ("c", "c8")]
    cells = np.zeros(CELLS.shape, [("s", "S3"), ("x", "f4"), ("in", inner)])
    cells["in"]["h"] = CELLS
    with h5py.File(path, "w") as f:
        f.create_dataset("x", data=cells, chunks=(3, 4))
        f["zeros"] = BEHIND


def make_links(path):
    """A group so small that its links stand in its header, one of them into another file."""
    with h5py.File(path.parent / "linked.h5", "w") as f:
        f["g/x"] = CELLS
    with h5py.File(path, "w") as f:
        f["x"] = h5py.ExternalLink("linked.h5", "/g/x")
        f["y"] = h5py.SoftLink("/x")


def heap_complaints(tool, folder, behind):
    """The length of a heap of lists, in a file whose headers have checksums, with so many cells behind it."""
    path = folder / f"scales{behind}.h5"
    with h5py.File(path, "w", libver="latest") as f:
        f["x"], f["lat"] = CELLS, np.arange(6.0)
        f["lat"].make_scale("lat")
        f["x"].dims[0].attach_scale(f["lat"])
        f.flush()
        f["behind"] = np.zeros(behind)
    at = str(path.read_bytes().index(b"GCOL") + 8)
    ran = subprocess.run([tool, path.name, "x", at, str(int(at) + 1), "255"], cwd=folder, capture_output=True, timeout=300)
    return [] if ran.returncode == 0 else [ran.stdout.decode()]


def layout_complaints(tool, folder, rank, some):
    """Every value of every byte of the message that says what chunks are like, which no checksum guards; some: of them."""
    path = folder / f"layout{rank}.h5"
    with h5py.File(path, "w", libver="earliest") as f:
        f.create_dataset("x", data=np.zeros((7,) * rank), chunks=(3,) * rank)
    at = path.read_bytes().index(bytes([3, 2, rank + 1]))  # version, chunks, how many lengths they have
    places, values = [str(at), str(at + 11 + 4 * (rank + 1))], map(str, [0, 1, 2, 3, 4, 5, 127, 255] if some else range(256))
    ran = subprocess.run([tool, path.name, "x", *places, *values], cwd=folder, capture_output=True, timeout=300)
    return [] if ran.returncode == 0 else [ran.stdout.decode()]


def files(folder):
    """Names of files that are made; in each an array x, and behind it bytes that are not its own."""
    for words, filters in FILTERS.items():
        for index, latest, chunks, most in [
            ("btree1", False, (3, 4), None),
            ("btree1_growing", False, (3, 4), (None, 8)),
            ("single", True, (6, 8), None),
            ("fixed", True, (3, 4), None),
            ("extensible", True, (3, 4), (None, 8)),
            ("btree2", True, (3, 4), (None, None)),
        ]:
            path = folder / f"{index}_{words}.h5"
            make(path, latest, chunks=chunks, maxshape=most, **filters)
            yield path
    for filters in (False, True):
        path = folder / f"converted{filters}.h5"
        make_converted(path, filters)
        yield path
    make_by_hand(folder / "implicit.h5", True, implicit)
    yield folder / "implicit.h5"
    for latest in (False, True):
        path = folder / f"contiguous{latest}.h5"
        make(path, latest)
        yield path
        path = folder / f"compact{latest}.h5"
        make_by_hand(path, latest, compact)
        yield path
    make_groups(folder / "groups.h5", False)
    make_links(folder / "links.h5")
    make_records(folder / "records.h5")
    yield from (folder / "groups.h5", folder / "links.h5", folder / "records.h5")
    for words, filters in {"plain": {}, "deflate": dict(zlib=True)}.items():
        if netCDF4:
            make_netcdf(folder / f"netcdf_{words}.nc", filters)
            yield folder / f"netcdf_{words}.nc"


def damage(tool, path, values):
    inside = "x.in.h" if path.stem == "records" else "x"
    ran = subprocess.run([tool, path.name, inside, "0", str(path.stat().st_size), *values], cwd=path.parent,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # fmt: skip
    lines = ran.stdout.decode().splitlines()
    said = ran.stderr.decode(errors="replace").splitlines()
    complaints = [line for line in lines if not line.endswith(" refused")]
    good = sum(int(line.split()[0]) for line in lines if line.endswith(" refused"))
    refused = sum(int(line.split()[2]) for line in lines if line.endswith(" refused"))
    return complaints + said[:20], good, refused


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", required=True)
    parser.add_argument("--values", nargs="*", default=["255"])
    parser.add_argument("--some", action="store_true")
    args = parser.parse_args()
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        for path in files(Path(folder)):
            complaints, good, refused = damage(Path(args.tool).resolve(), path, args.values)
            if refused < 100:
                complaints.append(f"{good} good and {refused} refused: nothing was tried")
            tally.check(f"{path.name}: {path.stat().st_size} bytes", complaints)
        for behind in (0, 100_000):
            complaints = heap_complaints(Path(args.tool).resolve(), Path(folder), behind)
            tally.check(f"a heap that is too long, {behind} cells behind it", complaints)
        for rank in (1, 2):
            complaints = layout_complaints(Path(args.tool).resolve(), Path(folder), rank, args.some)
            tally.check(f"layouts of {rank} axes", complaints)
    tally.finish()


main()
