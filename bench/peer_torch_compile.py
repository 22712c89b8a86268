"""peer_torch_compile.py -- the workloads through torch.compile, which fuses them and writes C++."""

import torch
import torch.nn.functional as nn

NAME = "torch.compile"
VERSION = torch.__version__


def prepare(threads):
    torch.set_num_threads(threads)
    torch.set_grad_enabled(False)


def adopt(array):
    return torch.from_numpy(array)


def forget():
    torch.compiler.reset()


@torch.compile
def cheap_chain(y, a, b, c):
    y.copy_(2 * a + 3 * b - c)


@torch.compile
def dear_chain(y, a, b, c, d):
    y.copy_(a * torch.sin(b) + torch.exp(-c) * d)


@torch.compile
def int_map(y, x):
    y.copy_((x * 3 + 7) ^ (x >> 2))


def cross(x):
    p = nn.pad(x, (1, 1, 1, 1))
    sides = p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:]
    return 0.5 * x + 0.125 * sides


@torch.compile
def stencil5(y, x):
    y.copy_(cross(x))


@torch.compile
def stencil5_twice(y, x):
    y.copy_(cross(cross(x)))


@torch.compile
def stencil7(y, x):
    p = nn.pad(x, (1, 1, 1, 1, 1, 1))
    levels = p[:-2, 1:-1, 1:-1] + p[2:, 1:-1, 1:-1]
    rows = p[1:-1, :-2, 1:-1] + p[1:-1, 2:, 1:-1]
    y.copy_(0.4 * x + 0.1 * (levels + rows + p[1:-1, 1:-1, :-2] + p[1:-1, 1:-1, 2:]))


@torch.compile
def conv8(y, x, kernel):
    top = x[:-1, :-1, None] * kernel[0, 0] + x[:-1, 1:, None] * kernel[0, 1]
    y.copy_(torch.relu(top + x[1:, :-1, None] * kernel[1, 0] + x[1:, 1:, None] * kernel[1, 1]))


@torch.compile
def conv_pool(y, x, kernel):
    rows, cols = x.shape[0] - 2, x.shape[1] - 2
    conv = sum(x[k // 3 :, k % 3 :][:rows, :cols] * kernel[k // 3, k % 3] for k in range(9))
    y.copy_(nn.max_pool2d(torch.relu(conv)[None, None], 2)[0, 0])


@torch.compile
def stats_axis0(mean, std, x):
    spread, centre = torch.std_mean(x, dim=0, correction=0)
    return centre, spread


@torch.compile
def stats_axis1(mean, std, x):
    spread, centre = torch.std_mean(x, dim=1, correction=0)
    return centre, spread


@torch.compile
def argmin(place, x):
    return torch.argmin(x)


@torch.compile
def einsum(y, d, u):
    return torch.einsum("xij,ej->xei", d, u)


@torch.compile
def gather(y, x, index):
    y.copy_(x[index])


@torch.compile
def chain50(y, x):
    v = x
    for _ in range(10):
        v = torch.abs((v + 0.25) * 0.875) - 0.5 + x
    y.copy_(v)
