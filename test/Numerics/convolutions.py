# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutions: strides, distances, zeros, groups, blocks, with and without a batch."""

from __future__ import annotations

from itertools import product

import numpy as np

from plan_maker.graph import Constant
from plan_ops import Array, Ops, Value


def correlate(
    x: Array,
    weight: Array,
    bias: Array | None = None,
    *,
    stride: tuple[int, ...],
    zeros: tuple[tuple[int, int], ...],
    dilation: tuple[int, ...],
    groups: int = 1,
) -> Array:
    """Of (batch, channels, ...): each element for itself, as PyTorch's manual has it."""
    rank = len(stride)
    x = np.pad(x, ((0, 0), (0, 0), *zeros))
    outputs, channels, *kernel = weight.shape
    reach = [d * (k - 1) + 1 for d, k in zip(dilation, kernel, strict=True)]
    sizes = [(n - r) // s + 1 for n, r, s in zip(x.shape[2:], reach, stride, strict=True)]
    result = np.zeros((len(x), outputs, *sizes))
    for sample, output, *place in product(*map(range, result.shape)):
        first = output // (outputs // groups) * channels
        total = 0.0 if bias is None else bias[output]
        for channel, *at in product(range(channels), *map(range, kernel)):
            position = [place[i] * stride[i] + at[i] * dilation[i] for i in range(rank)]
            element = x[(sample, first + channel, *position)]
            total = total + element * weight[(output, channel, *at)]
        result[(sample, output, *place)] = total
    return result


def convolve(ops: Ops, x: Value) -> Value:
    """From `x`, (4, 6), to that shape."""
    add, network = ops.add, "torch.nn.functional."

    def view(value: Value, *size: int) -> Value:
        return add("torch.Tensor.view", lambda a: a.reshape(size), value, size=size)

    def mean(value: Value) -> Value:
        return add("torch.mean", lambda a: a.mean(), value)

    # Channels of 6, without a batch; then two groups with a batch.
    bias = add("torch.mean", lambda a: a.mean(axis=1), view(x, 2, 12), dim=1)
    y = add(
        f"{network}conv1d",
        lambda a, w, b: correlate(a[None], w, b, stride=(1,), zeros=((1, 1),), dilation=(1,))[0],
        x,
        view(x, 2, 4, 3),
        bias,
        stride=1,
        padding=1,
        dilation=1,
        groups=1,
    )
    lengths: dict[str, Constant] = {"stride": (2,), "padding": (2,), "dilation": (2,)}
    z = add(
        "torch.conv1d",
        lambda a, w: correlate(a, w, stride=(2,), zeros=((2, 2),), dilation=(2,), groups=2),
        view(x, 1, 4, 6),
        view(x, 4, 2, 3),
        groups=2,
        **lengths,
    )
    y = add("torch.mul", lambda a, b: a * b, y, view(z, 2, 6))
    # Patches of an image; then blocks of rows of which the last is not whole, and steps of
    # columns.
    image, patches = view(x, 1, 1, 4, 6), view(x, 4, 1, 2, 3)
    z = add(
        f"{network}conv2d",
        lambda a, w: correlate(a, w, stride=(2, 3), zeros=((0, 0),) * 2, dilation=(1, 1)),
        image,
        patches,
        bias=None,
        stride=(2, 3),
        padding="valid",
    )
    y = add("torch.mul", lambda a, b: a * b, y, mean(z))
    z = add(
        "torch.conv2d",
        lambda a, w, b: correlate(a, w, b, stride=(3, 2), zeros=((0, 0), (1, 1)), dilation=(1, 2)),
        view(x, 1, 2, 4, 3),
        view(x, 2, 2, 3, 2),
        bias,
        stride=(3, 2),
        padding=(0, 1),
        dilation=(1, 2),
    )
    y = add("torch.mul", lambda a, b: a * b, y, mean(z))
    # As large as the image, with one more zero at the end; the kernel is the other operand.
    z = add(
        f"{network}conv2d",
        lambda a, w: correlate(a, w, stride=(1, 1), zeros=((0, 1), (1, 1)), dilation=(1, 1)),
        image,
        view(y, 2, 1, 2, 3),
        padding="same",
    )
    z = add("torch.sum", lambda a: a.sum(axis=(0, 1)), z, dim=(0, 1))
    # Every other element, of one channel each.
    row = add(
        f"{network}conv1d",
        lambda a, w: correlate(a[None], w, stride=(2,), zeros=((0, 0),), dilation=(1,))[0],
        view(z, 2, 12),
        view(y, 6, 2, 1),
        stride=2,
    )
    return add("torch.add", lambda a, b: a + b, z, mean(row))
