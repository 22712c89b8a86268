"""peer_torch.py -- the workloads in PyTorch, operation by operation, into results given where it can."""

import torch
import torch.nn.functional as nn

NAME = "torch"
VERSION = torch.__version__


def prepare(threads):
    torch.set_num_threads(threads)
    torch.set_grad_enabled(False)


def adopt(array):
    return torch.from_numpy(array)


def forget():
    pass


def cheap_chain(y, a, b, c):
    torch.mul(a, 2, out=y)
    y.add_(b, alpha=3)
    y.sub_(c)


def dear_chain(y, a, b, c, d):
    torch.sin(b, out=y)
    y.mul_(a)
    y.addcmul_(torch.neg(c).exp_(), d)


def int_map(y, x):
    torch.mul(x, 3, out=y)
    y.add_(7)
    y.bitwise_xor_(x >> 2)


def add_neighbours(y, x, weight):
    for axis in range(x.ndim):
        n = x.shape[axis] - 1
        y.narrow(axis, 1, n).add_(x.narrow(axis, 0, n), alpha=weight)
        y.narrow(axis, 0, n).add_(x.narrow(axis, 1, n), alpha=weight)


def stencil5(y, x):
    torch.mul(x, 0.5, out=y)
    add_neighbours(y, x, 0.125)


def stencil7(y, x):
    torch.mul(x, 0.4, out=y)
    add_neighbours(y, x, 0.1)


def stencil5_twice(y, x):
    between = torch.empty_like(y)
    stencil5(between, x)
    stencil5(y, between)


def conv8(y, x, kernel):
    """Channels last, so that the 8 results of a cell lie together."""
    weight = kernel.permute(2, 0, 1)[:, None].contiguous(memory_format=torch.channels_last)
    conv = nn.conv2d(x[None, None].contiguous(memory_format=torch.channels_last), weight)
    return torch.relu_(conv)[0].permute(1, 2, 0)


def conv_pool(y, x, kernel):
    conv = torch.relu_(nn.conv2d(x[None, None], kernel[None, None]))
    return nn.max_pool2d(conv, 2)[0, 0]


def stats_axis0(mean, std, x):
    spread, centre = torch.std_mean(x, dim=0, correction=0)
    return centre, spread


def stats_axis1(mean, std, x):
    spread, centre = torch.std_mean(x, dim=1, correction=0)
    return centre, spread


def argmin(place, x):
    return torch.argmin(x)


def matmul(y, a, b):
    torch.matmul(a, b, out=y)


def einsum(y, d, u):
    torch.matmul(u, d.transpose(1, 2), out=y)


def gather(y, x, index):
    torch.index_select(x, 0, index, out=y)


def chain50(y, x):
    y.copy_(x)
    for _ in range(10):
        y.add_(0.25).mul_(0.875).abs_().sub_(0.5).add_(x)
