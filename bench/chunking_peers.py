"""chunking_peers.py WHO SOURCE SINK CHUNK MEMORY -- rechunks an array as users of other libraries would.

WHO: dask (HDF5 to HDF5), rechunker (Zarr to Zarr, with a temporary array beside the sink), or zarr, which only makes a Zarr
array of an HDF5 file, for rechunker."""

import sys

import h5py


def with_dask(source, sink, chunk, memory):
    import dask
    import dask.array as da

    with h5py.File(source) as file, dask.config.set({"array.chunk-size": memory // 8}):
        data = file["x"]
        # Blocks of whole images as large as memory allows for both threads, then the other way.
        images = max(1, memory // 8 // (data.nbytes // len(data)))
        cells = da.from_array(data, chunks=(images, -1, -1)).rechunk(chunk)
        with h5py.File(sink, "w") as out:
            to = out.create_dataset("x", data.shape, data.dtype, chunks=chunk)
            da.store(cells, to, lock=True)


def with_rechunker(source, sink, chunk, memory):
    import rechunker
    import zarr

    plan = rechunker.rechunk(zarr.open(source), target_chunks=chunk, max_mem=memory, target_store=sink,
                             temp_store=f"{sink}.temporary", target_options={"compressor": None},
                             temp_options={"compressor": None})
    plan.execute()


def to_zarr(source, sink, chunk, memory):
    import zarr

    with h5py.File(source) as file:
        data = file["x"]
        out = zarr.open(sink, "w", shape=data.shape, dtype=data.dtype, chunks=chunk, compressor=None)
        for i in range(0, len(data), 64):
            out[i : i + 64] = data[i : i + 64]


def main():
    who, source, sink, chunk, memory = sys.argv[1:]
    work = {"dask": with_dask, "rechunker": with_rechunker, "zarr": to_zarr}[who]
    work(source, sink, tuple(map(int, chunk.split(","))), int(memory))


main()
