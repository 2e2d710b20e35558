# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ops that combine elements, choose the greatest, compare tensors or turn pairs."""

from __future__ import annotations

import numpy as np

from models import softmax
from plan_maker.graph import FLOAT32, Constant
from plan_ops import Array, Ops, Value


def real(x: Array) -> Array:
    """Integers as numbers."""
    return x.astype(float)


def combine(ops: Ops, x: Value, names: Value) -> Value:
    """Ops that combine, choose the greatest or compare, from `x`, (4, 6), to that shape."""
    add, add_all = ops.add, ops.add_all
    network = "torch.nn.functional."
    over: dict[str, Constant] = {"keepdim": True, "out": None, "dtype": None}
    y = add("torch.norm", lambda a: np.sqrt((a**2).sum(1, keepdims=True)), x, p=2, dim=1, **over)
    y = add("torch.mul", lambda a, b: a * b, x, y)
    z = add("torch.functional.norm", lambda a: np.sqrt((a**2).sum()), x, p="fro", dim=None)
    y = add("torch.div", lambda a, b: a / b, y, z)
    z = add("torch.Tensor.norm", lambda a: np.abs(a).sum(0), y, p=1, dim=(0,), keepdim=False)
    y = add("torch.mul", lambda a, b: a * b, y, z)
    y = add("torch.max", np.maximum, y, x)
    y = add("torch.mul", lambda a, b: a * b, y, add("torch.max", np.max, x))
    y = add("torch.sub", lambda a, b: a - b, y, add("torch.min", np.min, y, dim=None))
    z = add("torch.amax", lambda a, d: a.max(d), x, -1)
    z = add("torch.unsqueeze", lambda a: a[:, None], z, dim=1)
    y = add("torch.sub", lambda a, b: a - b, y, z)
    z = add(
        "torch.Tensor.amin", lambda a: a.min((0, 1), keepdims=True), y, dim=(0, 1), keepdim=True
    )
    y = add("torch.mul", lambda a, b: a * b, y, z)
    for function, choose_one in (("max", np.argmax), ("min", np.argmin)):
        for kept in (True, False):
            values, places = add_all(
                f"torch.{function}",
                lambda a, f=choose_one, k=kept: [
                    np.take_along_axis(a, f(a, 0, keepdims=True), 0).reshape((1, 6) if k else (6,)),
                    f(a, 0, keepdims=k),
                ],
                y,
                dim=0,
                keepdim=kept,
            )
            y = add("torch.add", lambda a, b: a + b, y, values)
            y = add("torch.add", lambda a, b: a + b, y, add("torch.Tensor.float", real, places))
    y = add("torch.div", lambda a, b: a / b, y, 256)
    y = add("torch.add", lambda a, b: a + b, y, x)  # No two are equal.
    for least in (False, True):
        values, places = add_all(
            "torch.topk",
            lambda a, s=1 if least else -1: [
                s * np.sort(s * a, axis=1)[:, :3],
                np.argsort(s * a, axis=1)[:, :3],
            ],
            y,
            k=3,
            dim=None if least else -1,
            largest=not least,
            sorted=True,
        )
        values = add(
            "torch.mul", lambda a, b: a * b, values, add("torch.Tensor.float", real, places)
        )
        y = add("torch.add", lambda a, b: a + b, y, add("torch.sum", np.sum, values))
        picked = add("torch.gather", lambda a, _, i: np.take_along_axis(a, i % 6, 1), y, 1, places)
        picked = add(
            "torch.mean", lambda a: a.mean(axis=1, keepdims=True), picked, dim=1, keepdim=True
        )
        y = add("torch.add", lambda a, b: a + b, y, picked)
    y = add("torch.div", lambda a, b: a / b, y, 64)
    total = x
    for distance, meaning in (("l1_loss", np.abs), ("mse_loss", np.square)):
        for kind, reduce in (("none", lambda a: a), ("sum", np.sum), ("mean", np.mean)):
            said: dict[str, Constant] = {"size_average": None, "reduce": None, "reduction": kind}
            z = add(network + distance, lambda a, b, m=meaning, r=reduce: r(m(a - b)), y, x, **said)
            total = add("torch.add", lambda a, b: a + b, total, z)
    y = add("torch.div", lambda a, b: a / b, total, 32768)
    y = add("torch.detach", lambda a: a, y)
    line = add(
        "nnscaler.runtime.function.fullslice",
        lambda a, *index: a[index],
        names,
        0,
        slice(None, None, None),
    )
    z = add("torch.index_select", lambda a, _, i: a[:, i % 6], y, -1, line)
    y = add(
        "torch.matmul",
        lambda a, b: a @ b,
        add("torch.transpose", np.transpose, z, dim0=0, dim1=1),
        y,
    )
    chosen = add("nnscaler.runtime.function.index_select", lambda a, i: a[i % 4], x, line, dim=0)
    y = add("torch.mul", lambda a, b: a * b, y, chosen)
    y = add("torch.sum", lambda a: a.sum(axis=0), y, dim=0)
    return add(
        network + "softmax",
        softmax,
        add("torch.add", lambda a, b: a + b, x, y),
        dim=-1,
        dtype=FLOAT32,
    )


def turn(ops: Ops, x: Value, other: Value) -> Value:
    """Products of complex numbers that are pairs of (4, 6); the result has that shape."""
    add = ops.add

    def pairs(value: Value) -> Value:
        cut = add("torch.Tensor.view", lambda a: a.reshape(4, 3, 2), value, size=(4, -1, 2))
        return add("torch.view_as_complex", lambda a: a[..., 0] + 1j * a[..., 1], cut)

    def product(one: Value, two: Value) -> Value:
        return add("torch.mul", lambda a, b: a * b, one, two)

    y, f = pairs(x), pairs(other)
    row = add("nnscaler.runtime.function.fullslice", lambda a, i: a[i], f, 1)
    y = product(product(y, f), row)
    cube = add("torch.Tensor.view", lambda a: a.reshape(2, 2, 3), f, size=(2, 2, 3))
    column = add("torch.Tensor.reshape", lambda a: a.reshape(4, 1, 3), f, shape=(4, 1, 3))
    row = add(
        "nnscaler.runtime.function.fullslice", lambda a, i: a[i], column, slice(None, 2, None)
    )
    line = add("torch.Tensor.view", lambda a: a.reshape(4, 3), product(row, cube), size=(4, 3))
    y = add("torch.mul", lambda a, b: a * b, product(y, line), 2)
    size = add("torch.mean", lambda a: a.mean(axis=1), x, dim=1)
    size = add("torch.unsqueeze", lambda a: a[:, None], size, dim=1)
    y = product(product(size, y), size)
    z = add("torch.view_as_real", lambda a: np.stack([a.real, a.imag], -1), y)
    return add("torch.Tensor.reshape", lambda a: a.reshape(4, 6), z, shape=(4, 6))
