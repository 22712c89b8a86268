"""files_peers.py -- what users of Python do instead: NumPy, SciPy and Dask on arrays in HDF5 files.

Each function reads one file and writes another; the names of arrays are those of examples/slope."""

import h5py
import numpy as np
from scipy import ndimage

try:
    import dask
    import dask.array as da
except ImportError:
    dask = None


def load(path, *names):
    with h5py.File(path) as file:
        return [file[name][...] for name in names]


def save(path, name, cells):
    with h5py.File(path, "w") as file:
        file[name] = cells


def relu(x):
    return np.maximum(x, 0)


# ---- Cells of a block, from the block with its halo ---------------------------------------------------


def laplace2(p):
    four = np.float32(4)
    return four * p[1:-1, 1:-1] - p[:-2, 1:-1] - p[2:, 1:-1] - p[1:-1, :-2] - p[1:-1, 2:]


def laplace3(p):
    around = p[:-2, 1:-1, 1:-1] + p[2:, 1:-1, 1:-1] + p[1:-1, :-2, 1:-1] + p[1:-1, 2:, 1:-1]
    return around + p[1:-1, 1:-1, :-2] + p[1:-1, 1:-1, 2:] - np.float32(6) * p[1:-1, 1:-1, 1:-1]


def corner(x, r, s):
    """The cells of x that are at the corner (r, s) of a kernel of 2x2."""
    return x[r : x.shape[0] - 1 + r, s : x.shape[1] - 1 + s]


def two_layers(x, k1, k2):
    corners = [(r, s) for r in range(2) for s in range(2)]
    first = relu(sum(corner(x, r, s)[..., None] * k1[r, s] for r, s in corners))
    return relu(sum(corner(first, r, s) @ k2[r, s] for r, s in corners))


# ---- All in memory ------------------------------------------------------------------------------------


def numpy_cnn(source, to):
    save(to, "y", two_layers(*load(source, "x", "k1", "k2")))


def correlate(x, kernel):
    """Where the kernel of 2x2 is inside."""
    return ndimage.correlate(x, kernel, mode="constant", origin=-1)[:-1, :-1]


def scipy_cnn(source, to):
    x, k1, k2 = load(source, "x", "k1", "k2")
    first = [relu(correlate(x, k1[..., c])) for c in range(k1.shape[2])]
    second = [
        relu(sum(correlate(channel, k2[:, :, c, f]) for c, channel in enumerate(first)))
        for f in range(k2.shape[3])
    ]
    save(to, "y", np.stack(second, axis=2))


def scipy_cam5(source, to):
    tmq, w = load(source, "tmq", "w")
    rows = ndimage.correlate(np.pad(tmq, ((1, 1), (0, 0)), "edge"), w, mode="wrap")[1:-1]
    blocks = relu(rows).reshape(tmq.shape[0] // 2, 2, tmq.shape[1] // 2, 2)
    save(to, "pool", blocks.max(axis=(1, 3)))


def scipy_laplace(source, to):
    save(to, "lap", ndimage.laplace(*load(source, "g"), mode="wrap"))


def scipy_interpolate(source, to):
    g, *places = load(source, "g", "electron/x", "electron/y", "electron/z")
    save(to, "e", ndimage.map_coordinates(g, places, order=1, mode="nearest"))


# ---- Block by block -----------------------------------------------------------------------------------


def dask_over(block, source, name, to, result, boundary, threads):
    """A block is given with its halo and gives its cells back."""
    with dask.config.set(scheduler="threads", num_workers=threads):
        with h5py.File(source) as file, h5py.File(to, "w") as out:
            x = da.from_array(file[name], chunks="auto")
            depth = dict.fromkeys(range(x.ndim), 1)
            y = da.map_overlap(
                block, x, depth=depth, boundary=boundary, trim=False, dtype="f4", chunks=x.chunks
            )
            da.store(y, out.create_dataset(result, y.shape, "f4"), lock=True)


def dask_laplace2(source, to, threads):
    dask_over(laplace2, source, "h", to, "lap", 0, threads)


def dask_laplace3(source, to, threads):
    dask_over(laplace3, source, "g", to, "lap", "periodic", threads)


def dask_cnn(source, to, threads):
    """The halo is behind the cells only, and the last blocks have none."""
    k1, k2 = load(source, "k1", "k2")
    with dask.config.set(scheduler="threads", num_workers=threads):
        with h5py.File(source) as file, h5py.File(to, "w") as out:
            x = da.from_array(file["x"], chunks=(1024, 1024))
            shorter = [(*lengths[:-1], lengths[-1] - 2) for lengths in x.chunks]
            y = da.map_overlap(
                two_layers, x, k1=k1, k2=k2, depth={0: (0, 2), 1: (0, 2)}, boundary="none",
                trim=False, dtype="f4", new_axis=2, chunks=(*shorter, (k2.shape[3],)),
                meta=np.empty((0, 0, 0), "f4"),
            )
            da.store(y, out.create_dataset("y", y.shape, "f4"), lock=True)
