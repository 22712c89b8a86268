"""codec_peers.py --tool CODEC_TOOL [--seed N] -- codecs against others' writers and readers, both ways.

zlib and gzip are Python's; numcodecs, h5py and the filters that HDF5 can load are used where
they are installed."""

import argparse
import gzip
import io
import itertools
import subprocess
import sys
import zlib

import numpy as np

sys.dont_write_bytecode = True
from tally import Tally


def found(name):
    try:
        return __import__(name)
    except ImportError:
        print(f"skipped: what needs {name}")
        return None


numcodecs = found("numcodecs")
h5py = found("h5py")


class Refused(Exception):
    pass


class Tool:
    def __init__(self, path):
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, how, chain, data, cell, size):
        request = f"{how} {len(data)} {cell} {size} {chain}\n".encode()
        self.process.stdin.write(request + data)
        self.process.stdin.flush()
        word, _, length = self.process.stdout.readline().partition(b" ")
        answer = self.process.stdout.read(int(length))
        if word != b"ok":
            raise Refused(answer.decode())
        return answer

    def has(self, chain):
        """Whether this Arras was built with the libraries of these codecs."""
        try:
            self.encode(chain, b"")
        except Refused as refusal:
            return "built without" not in str(refusal)
        return True

    def encode(self, chain, data, cell=1):
        return self.ask("encode", chain, data, cell, len(data))

    def decode(self, chain, data, size, cell=1):
        return self.ask("decode", chain, data, cell, size)


def samples(rng, cell):
    """Chunks of several sizes: what compresses well and what does not."""
    for count in (1, 7, 8, 17, 1000, 20011):
        yield rng.bytes(count * cell)
        smooth = np.cumsum(rng.integers(-3, 4, count)).astype("<i8").repeat(4)[:count]
        yield np.resize(smooth.view("u1").reshape(count, 8), (count, cell)).tobytes()
        yield bytes(count * cell)


# ---- Where others have functions: encode and decode of bytes ------------------------------------------


def with_numcodecs(codec):
    return lambda data: bytes(codec.encode(data)), lambda data: bytes(codec.decode(data))


def gzip_members(data):
    half = len(data) // 2
    return gzip.compress(data[:half], 1) + gzip.compress(data[half:], 9) + bytes(5)


def reference_transpose(shape, order, cell):
    def encode(data):
        cells = np.frombuffer(data, f"V{cell}").reshape(shape)
        return cells.transpose(order).tobytes()

    def decode(data):
        stored = np.frombuffer(data, f"V{cell}").reshape([shape[a] for a in order])
        return stored.transpose(np.argsort(order)).tobytes()

    return encode, decode


def reference_swap(size):
    def swap(data):
        return np.frombuffer(data, "u1").reshape(-1, size)[:, ::-1].tobytes()

    return swap, swap


def reference_crc32c():
    table = []
    for i in range(256):
        for _ in range(8):
            i = i >> 1 ^ (0x82F63B78 if i & 1 else 0)
        table.append(i)

    def encode(data):
        crc = 0xFFFFFFFF
        for byte in data:
            crc = crc >> 8 ^ table[(crc ^ byte) & 255]
        return data + (crc ^ 0xFFFFFFFF).to_bytes(4, "little")

    return encode, lambda data: data[:-4]


def reference_bits(cells):
    """Rows of bits, one for each bit of an element."""
    bits = np.unpackbits(cells, axis=1, bitorder="little")
    return np.packbits(bits.T, axis=1, bitorder="little").tobytes()


def reference_bitshuffle(cell, block, compress):
    """Blocks of so many elements, compressed one by one, as HDF5's filter has them."""

    def encode(data):
        cells = np.frombuffer(data, "u1").reshape(-1, cell)
        whole = len(cells) // 8 * 8
        out = len(data).to_bytes(8, "big") + (block * cell).to_bytes(4, "big")
        for start in range(0, whole, block):
            stored = compress(reference_bits(cells[start : min(start + block, whole)]))
            out += len(stored).to_bytes(4, "big") + stored
        return out + cells[whole:].tobytes()

    return encode


def python_peers(cell):
    """(chain, encode, decode) for cells of this size."""
    yield "deflate 6", lambda data: zlib.compress(data, 9), zlib.decompress
    yield "zlib 1", lambda data: zlib.compress(data, 1), zlib.decompress
    yield "zlib 12", lambda data: zlib.compress(data, 0), zlib.decompress
    yield "gzip 5", gzip_members, gzip.decompress
    yield "crc32c", *reference_crc32c()
    yield f"swap {cell}", *reference_swap(cell)


def numcodecs_peers(cell):
    yield "zstd 3 1", *with_numcodecs(numcodecs.Zstd(level=7))
    yield "gzip 1", *with_numcodecs(numcodecs.GZip(level=2))
    yield "lz4_zarr 1", *with_numcodecs(numcodecs.LZ4())
    yield f"shuffle {cell}", *with_numcodecs(numcodecs.Shuffle(elementsize=cell))
    for code, name in ((0, "blosclz"), (1, "lz4"), (4, "zlib"), (5, "zstd")):
        for shuffle in (0, 1, 2):
            peer = numcodecs.Blosc(name, clevel=4, shuffle=shuffle)
            yield f"blosc_zarr {code} 5 {shuffle} 0", *with_numcodecs(peer)


def check_bitshuffle(tally, tool, rng):
    """No reader of this is in Debian: what others would write is decoded, and so is ours."""
    zstd, lz4 = numcodecs.Zstd(level=1), numcodecs.LZ4()
    inner = {3: zstd.encode, 2: lambda block: lz4.encode(block)[4:]}
    for cell, (code, compress) in itertools.product((1, 2, 3, 4, 8, 12), inner.items()):
        chain = f"bitshuffle 0 4 {cell} 64 {code} 5"
        if not tool.has(chain):
            continue
        encode = reference_bitshuffle(cell, 64, lambda block: bytes(compress(block)))
        for data in samples(rng, cell):
            complaints = []
            for stored in (encode(data), tool.encode(chain, data, cell)):
                if tool.decode(chain, stored, len(data), cell) != data:
                    complaints.append("it is decoded wrongly")
            tally.check(f"{chain}, {len(data)} bytes", complaints)


def compare_function(tool, chain, encode, decode, data, cell):
    complaints = []
    if tool.decode(chain, encode(data), len(data), cell) != data:
        complaints.append("what the other encoded is decoded wrongly")
    if decode(tool.encode(chain, data, cell)) != data:
        complaints.append("the other decodes ours to something else")
    return complaints


def check_functions(tally, tool, rng):
    for cell in (1, 2, 3, 4, 8, 12, 16):
        tries = [(peer, b"") for peer in python_peers(cell)]  # numcodecs refuses what is empty
        peers = [*python_peers(cell), *(numcodecs_peers(cell) if numcodecs else ())]
        tries += [(peer, data) for peer in peers for data in samples(rng, cell)]
        for (chain, encode, decode), data in tries:
            if not tool.has(chain):
                continue
            what = f"{chain}, {len(data)} bytes in cells of {cell}"
            tally.check(what, compare_function(tool, chain, encode, decode, data, cell))


def check_transpose(tally, tool, rng):
    for _ in range(60):
        rank = int(rng.integers(0, 6))
        shape = [int(n) for n in rng.integers(1, 12, rank)]
        if rank == 2:
            shape = [int(n) for n in rng.integers(1, 150, rank)]
        order = [int(a) for a in rng.permutation(rank)]
        cell = int(rng.choice([1, 2, 3, 4, 8, 16, 24]))
        data = rng.bytes(int(np.prod(shape)) * cell)
        chain = " ".join(str(word) for word in ["transpose", rank, *order, *shape])
        peers = reference_transpose(shape, order, cell)
        tally.check(f"{chain} of {cell} bytes", compare_function(tool, chain, *peers, data, cell))


# ---- Where others have files: chunks as h5py stores them ----------------------------------------------

TYPES = ["u1", "<i2", "<f4", "<f8", "<c16"]


def filter_there(number):
    return h5py.h5z.filter_avail(number)


def file_peers(cells):
    """(names of codecs, options of create_dataset)."""
    size, count = cells.dtype.itemsize, cells.size
    yield ["deflate"], {"compression": "gzip", "compression_opts": 5}
    yield ["shuffle", "deflate"], {"compression": "gzip", "shuffle": True}
    yield ["shuffle", "deflate", "fletcher32"], {
        "compression": "gzip",
        "shuffle": True,
        "fletcher32": True,
    }
    yield ["fletcher32"], {"fletcher32": True}
    yield ["lzf"], {"compression": "lzf"}
    if size <= 8 and filter_there(4):
        for method in ("nn", "ec"):
            for pixels in (4, 32):
                if pixels <= count:
                    yield ["szip"], {"compression": "szip", "compression_opts": (method, pixels)}
    others = [
        ("lz4_hdf5", 32004, ()),
        ("lz4_hdf5", 32004, (1000,)),
        ("zstd", 32015, (5,)),
        ("bitshuffle", 32008, (0, 0)),
        ("bitshuffle", 32008, (64, 0)),
        ("bitshuffle", 32008, (0, 2)),
        ("bitshuffle", 32008, (128, 2)),
        ("blosc_hdf5", 32001, (0, 0, 0, 0, 5, 1, 1)),
        ("blosc_hdf5", 32001, (0, 0, 0, 0, 5, 2, 5)),
    ]
    for name, number, values in others:
        if filter_there(number):
            yield [name], {"compression": number, "compression_opts": values}


def chain_of(dataset, names):
    """The chain with the values that the file has."""
    plist = dataset.id.get_create_plist()
    steps = []
    for i, name in enumerate(names):
        values = plist.get_filter(i)[2]
        steps.append(" ".join(str(word) for word in [name, *values]))
    return " ; ".join(steps)


def compare_file(tool, names, options, cells):
    complaints = []
    with h5py.File(io.BytesIO(), "w") as file:
        dataset = file.create_dataset("x", data=cells, chunks=cells.shape, **options)
        ours = file.create_dataset("y", cells.shape, cells.dtype, chunks=cells.shape, **options)
        chain = chain_of(dataset, names)
        mask, stored = dataset.id.read_direct_chunk((0,) * cells.ndim)
        data, cell = cells.tobytes(), cells.dtype.itemsize
        if mask == 0 and tool.decode(chain, stored, len(data), cell) != data:
            complaints.append(f"{chain}: what h5py stored is decoded wrongly")
        ours.id.write_direct_chunk((0,) * cells.ndim, tool.encode(chain, data, cell))
        if ours[...].tobytes() != data:
            complaints.append(f"{chain}: h5py reads ours as something else")
    return complaints


def grids(rng, dtype):
    for shape in ((1,), (9,), (31, 33), (64, 128), (3, 50, 77)):
        smooth = np.add.outer(*[np.linspace(0, 90, n) for n in (int(np.prod(shape)), 1)])
        yield (100 + smooth).reshape(shape).astype(dtype)
        yield rng.integers(0, 256, (*shape, dtype.itemsize)).astype("u1").view(dtype)[..., 0]


def check_files(tally, tool, rng):
    for name in TYPES:
        dtype = np.dtype(name)
        for cells in grids(rng, dtype):
            for names, options in file_peers(cells):
                if not tool.has(" ; ".join(names)):
                    continue
                what = f"HDF5 {options}, {name}{list(cells.shape)}"
                try:
                    tally.check(what, compare_file(tool, names, options, cells))
                except (Refused, OSError, ValueError) as error:
                    if "built without" not in str(error):
                        tally.check(what, [f"{type(error).__name__}: {error}"])


# ---- What is damaged ----------------------------------------------------------------------------------


def damaged(rng, stored):
    for length in range(len(stored)):
        yield stored[:length]
    for _ in range(60):
        copy = bytearray(stored)
        copy[int(rng.integers(len(copy)))] ^= 1 << int(rng.integers(8))
        yield bytes(copy)


def check_damage(tally, tool, rng):
    """A refusal or the right number of bytes; what has a checksum is refused, or unharmed."""
    data = np.arange(75, dtype="<f4").tobytes()
    sums = {"deflate 4": True, "gzip 4": True, "zstd 3 1": True, "fletcher32": True, "crc32c": True}
    plain = ["zstd 3", "lz4_hdf5 64", "lz4_zarr", "lzf", "szip 141 8 32 16", "blosc_zarr 1 5 1 0"]
    plain += ["bitshuffle 0 4 4 8 0", "bitshuffle 0 4 4 8 2", "bitshuffle 0 4 4 8 3"]
    for chain, has_sum in {**sums, **dict.fromkeys(plain, False)}.items():
        complaints = []
        if not tool.has(chain):
            continue
        for stored in damaged(rng, tool.encode(chain, data, 4)):
            try:
                if tool.decode(chain, stored, len(data), 4) != data and has_sum:
                    complaints.append(f"{stored.hex()} became something else")
            except Refused as refusal:
                if not str(refusal) or "\n" in str(refusal):
                    complaints.append(f"refused with {refusal!r}")
        tally.check(f"{chain}: truncations and flipped bits", complaints)


def check_bombs(tally, tool):
    """What would become much more than the chunk is refused."""
    peers = {"deflate 4": zlib.compress(bytes(1 << 24)), "gzip 4": gzip.compress(bytes(1 << 24))}
    peers = {chain: stored for chain, stored in peers.items() if tool.has(chain)}
    ours = ["zstd 3", "lz4_hdf5", "lz4_zarr", "lzf", "blosc_zarr"]
    peers |= {chain: tool.encode(chain, bytes(1 << 24)) for chain in ours if tool.has(chain)}
    for chain, stored in peers.items():
        try:
            tool.decode(chain, stored, 1000)
            tally.check(f"{chain}: too much comes out", ["it was not refused"])
        except Refused as refusal:
            tally.check(f"{chain}: too much comes out", [] if "come" in str(refusal) else [refusal])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", required=True)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    tool = Tool(arguments.tool)
    rng = np.random.default_rng(arguments.seed)
    tally = Tally()
    check_functions(tally, tool, rng)
    check_transpose(tally, tool, rng)
    if numcodecs:
        check_bitshuffle(tally, tool, rng)
    if h5py:
        check_files(tally, tool, rng)
    check_damage(tally, tool, rng)
    check_bombs(tally, tool)
    tally.finish()


main()
