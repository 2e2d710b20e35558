# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ops of plans that no model here has, beside what NumPy makes of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from combined_ops import combine, turn
from convolutions import convolve
from models import erf, sigmoid, softmax
from plan_maker.graph import FLOAT32, INT64, Constant
from plan_ops import Array, Ops, Value


def linear(x: Array, weight: Array, bias: Array) -> Array:
    """With a bias, which plans have as a tensor."""
    return x @ weight.T + bias


def normal(x: Array) -> Array:
    """The element times the normal distribution function."""
    return x * (1 + erf(x / np.sqrt(2))) / 2


def almost_normal(x: Array) -> Array:
    """The same by a hyperbolic tangent."""
    return x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))) / 2


def gate(x: Array, weight: Array, bias: Array) -> list[Array]:
    """A bias decides who is chosen, not what it weighs: two of the better pair."""
    scores = sigmoid(x @ weight.T)
    chosen = np.zeros((len(x), 2))
    indices = np.zeros((len(x), 2), np.int64)
    for row, weights, names in zip(scores, chosen, indices, strict=True):
        pairs = [sorted(pair, key=lambda i, row=row: -(row + bias)[i]) for pair in ([0, 1], [2, 3])]
        names[:] = max(pairs, key=lambda pair, row=row: (row + bias)[pair].sum())
        weights[:] = 1.5 * row[names] / row[names].sum()
    return [chosen, indices]


def log_softmax(x: Array) -> Array:
    """Of the last dimension."""
    return np.log(softmax(x))


def normalize(x: Array) -> Array:
    """Mean 0 and variance 1, almost."""
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 0.5)


def attend(query: Array, key: Array, value: Array, mask: Array | float) -> Array:
    """Rows of `value` by how far keys and queries agree."""
    scores = query @ key.swapaxes(-1, -2) / np.sqrt(query.shape[-1]) + mask
    return softmax(scores) @ value


def choose(rows: Array, target: Array) -> Array:
    """What each target names of its row."""
    return rows[np.arange(len(target)), target]


def move(ops: Ops, x: Value) -> Value:
    """Ops that give elements of `x`, (4, 6), in other places; the result is (4, 6), too."""
    add, add_all = ops.add, ops.add_all
    y = add("torch.permute", lambda a: a.T, x, dims=(1, 0))
    y = add("torch.Tensor.permute", lambda a: a.T, y, dims=(-1, 0))
    y = add("torch.unsqueeze", lambda a: a[:, None], y, dim=1)
    y = add("torch.unsqueeze", lambda a: a[..., None], y, dim=-1)
    y = add("torch.squeeze", lambda a: a[..., 0], y, dim=(-1, 0))
    y = add("torch.Tensor.expand", lambda a: a + np.zeros((2, 4, 3, 6)), y, size=(2, -1, 3, 6))
    y = add("torch.flatten", lambda a: a.reshape(2, 12, 6), y, start_dim=1, end_dim=-2)
    first, second = add_all("torch.chunk", lambda a: np.split(a, 2, axis=2), y, chunks=2, dim=-1)
    cat, stack = "nnscaler.runtime.function.cat", "nnscaler.runtime.function.stack"
    y = add(cat, lambda a, b: np.concatenate([a, b], axis=1), second, first, dim=1)
    cut = "split_size_or_sections"
    cuts: dict[str, Constant] = {cut: 10, "dim": 1}
    parts = add_all("torch.split", lambda a: np.split(a, [10, 20], axis=1), y, **cuts)
    cuts = {cut: (1, 3), "dim": -2}
    last = add_all("torch.functional.split", lambda a: np.split(a, [1], axis=1), parts[2], **cuts)
    y = add(stack, lambda a, b: np.stack([a, b], axis=-1), parts[0], parts[1], dim=-1)
    take = "nnscaler.runtime.function.fullslice"
    all_of_it = slice(None, None, None)
    at: tuple[Constant, ...] = 1, slice(-8, None, 1), None, -1, all_of_it
    y = add(take, lambda a, *index: a[index], y, *at)
    y = add("torch.squeeze", lambda a: a.squeeze(), y, dim=None)
    one = add(
        take, lambda a: a[0, :100, 1:2], last[1], slicers=(0, slice(None, 100, None), slice(1, 2))
    )
    one = add("torch.Tensor.repeat", lambda a: np.tile(a, (2, 2, 2)), one, repeats=(2, 2, 2))
    one = add("torch.mean", lambda a: a.mean(), one)
    y = add("torch.add", lambda a, b: a + b, y, one)
    one = add(take, lambda a, *index: a[index], last[0], 0, 0, 0)
    y = add("torch.mul", lambda a, b: a * b, y, one)
    padded: dict[str, Constant] = {"pad": (1, 0, 0, 2), "mode": "constant", "value": 0.0}
    y = add("torch.nn.functional.pad", lambda a: np.pad(a, [(0, 2), (1, 0)]), y, **padded)
    y = add(take, lambda a, *index: a[index], y, slice(0, -2, None))
    y = add("torch.Tensor.view", lambda a: a.reshape(4, 6), y, size=(4, 6))
    return add("torch.add", lambda a, b: a + b, y, 0.125)  # Zeros have no logarithm.


def compute(ops: Ops, x: Value) -> Value:
    """Ops on numbers from `x`, (4, 6), to a tensor of its shape."""
    add = ops.add
    network = "torch.nn.functional."
    y = add("torch.tanh", np.tanh, x)
    y = add("torch.erf", erf, y)
    y = add("_operator.neg", lambda a: -a, y)
    y = add("torch.abs", np.abs, y)
    y = add("torch.sqrt", np.sqrt, y)
    y = add("torch.log", np.log, y)
    y = add("_operator.pow", lambda a, b: a**b, y, 2)
    y = add("torch.clamp", lambda a: np.clip(a, 0.001, 2), y, min=0.001, max=2)
    y = add("torch.clamp", lambda a: np.maximum(a, 0.01), y, min=0.01, max=None)
    y = add("torch.clamp_min", lambda a: np.maximum(a, 0.02), y, min=0.02)
    y = add("torch.clamp_max", lambda a: np.minimum(a, 1.5), y, max=1.5)
    y = add("torch.Tensor.sigmoid", sigmoid, y)
    y = add("torch.sub", lambda a, b: a - b, y, x)
    y = add(network + "sigmoid", sigmoid, y)
    y = add("torch._C._nn.log_sigmoid", lambda a: np.log(sigmoid(a)), y)
    y = add("torch.add", lambda a, b: a + b / 2, x, y, alpha=0.5)
    y = add("torch.sub", lambda a, b: a - b / 8, y, -1, alpha=0.125)
    signs = add("torch.sign", np.sign, y)
    y = add(network + "relu", lambda a: np.maximum(a, 0), y, inplace=False)
    y = add("torch.relu", lambda a: np.maximum(a, 0), y)
    y = add("torch.add", lambda a, b: a + b, y, signs)
    y = add("torch.cumsum", lambda a: a.cumsum(axis=1), y, dim=-1)
    for function, meaning, diagonals in (("tril", np.tril, (0, -1)), ("triu", np.triu, (0, 1))):
        for k in diagonals:
            z = add(f"torch.{function}", lambda a, f=meaning, k=k: f(a, k), y, diagonal=k)
            y = add("torch.add", lambda a, b: a + b, y, z)
    squares = add(
        "nnscaler.runtime.function.einsum", lambda a, b: a @ b.T, y, x, equation="b h, c h -> b c"
    )
    factors: dict[str, Constant] = {"alpha": 2, "beta": -0.5}
    y = add("torch.addmm", lambda c, a, b: 2 * (a @ b) - c / 2, y, squares, x, **factors)
    pairs = add("torch.Tensor.view", lambda a: a.reshape(2, 2, 6), y, size=(2, 2, 6))
    other = add("torch.Tensor.view", lambda a: a.reshape(2, 6, 2), x, size=(2, 6, 2))
    small = add("torch.bmm", lambda a, b: a @ b, pairs, other)
    y = add("torch.baddbmm", lambda c, a, b: c + a @ b, pairs, small, pairs, beta=1)
    y = add("torch.div", lambda a, b: a / b, y, 100)
    y = add("torch.softmax", softmax, y, dim=-1)
    y = add(network + "log_softmax", log_softmax, y, dim=2, dtype=None)
    bare: dict[str, Constant] = {"weight": None, "bias": None, "normalized_shape": (6,), "eps": 0.5}
    y = add("nnscaler.runtime.function.layer_norm", normalize, y, **bare)
    mixed = network + "scaled_dot_product_attention"
    mask = np.where(np.tril(np.ones((2, 2))), 0, -np.inf)
    plain: dict[str, Constant] = {"dropout_p": 0.0, "is_causal": True, "attn_mask": None}
    z = add(mixed, lambda a, b, c: attend(a, b, c, mask), y, pairs, y, **plain)
    y = add(mixed, lambda a, b, c: attend(a, b, c, 0), y, z, pairs, scale=None)
    y = add(mixed, attend, pairs, z, y, small, dropout_p=0.0, is_causal=False)
    y = add("torch.clone", lambda a: a, y)
    y = add("torch.Tensor.type", lambda a: a, y, dtype=FLOAT32, non_blocking=False)
    y = add("torch.Tensor.to", lambda a: a, y, dtype=FLOAT32, non_blocking=True, copy=False)
    return add("torch.Tensor.reshape", lambda a: a.reshape(4, 6), y, shape=(4, -1))


def lose(ops: Ops, x: Value, names: Value) -> Value:
    """Losses of rows of `x`, (4, 6), and two targets of each; the result is (4, 6)."""
    add = ops.add
    kinds: list[tuple[str, Callable[[Array], Array]]] = [
        ("none", lambda terms: terms),
        ("sum", lambda terms: terms.sum()),
        ("mean", lambda terms: terms.mean()),
    ]
    take = "nnscaler.runtime.function.fullslice"
    target = add(take, lambda a, *index: a[index], names, slice(None, None, None), 1)
    entropy, likelihood = "torch.nn.functional.cross_entropy", "torch.nn.functional.nll_loss"
    y = x
    for kind, reduce in kinds:
        said: dict[str, Constant] = {"weight": None, "reduction": kind, "ignore_index": -100}
        z = add(entropy, lambda a, t, f=reduce: f(-choose(log_softmax(a), t)), y, target, **said)
        if kind == "none":
            z = add("torch.unsqueeze", lambda a: a[:, None], z, dim=1)
        y = add("torch.add", lambda a, b: a + b, y, z)
        # The last one is of a class that counts nothing.
        z = add(
            likelihood,
            lambda a, t, f=reduce, k=kind: f(
                -choose(a, t)[t != 2] if k != "none" else -choose(a, t) * (t != 2)
            ),
            y,
            target,
            reduction=kind,
            ignore_index=2,
        )
        if kind == "none":
            z = add("torch.unsqueeze", lambda a: a[:, None], z, dim=1)
        y = add("torch.mul", lambda a, b: a * b, y, z)
        y = add("torch.div", lambda a, b: a / b, y, 8)
    return y


def decide(ops: Ops, x: Value) -> Value:
    """Ops that compare, choose and create elements, from `x`, (4, 6), to that shape."""
    add = ops.add
    runtime = "nnscaler.runtime.function."
    said: dict[str, Constant] = {"dtype": INT64, "requires_grad": False}
    i = add(runtime + "arange", lambda: np.arange(6), start=0, end=6, step=1, **said)
    j = add(runtime + "arange", lambda: np.arange(5, -2, -2), start=5, end=-2, step=-2, **said)
    j = add("torch.unsqueeze", lambda a: a[:, None], j, dim=1)
    real: dict[str, Constant] = {"dtype": FLOAT32, "requires_grad": False}
    turn = add(runtime + "arange", lambda: np.arange(1.0, 7), start=1.0, end=7, step=1, **real)
    c = add("torch.le", lambda a, b: a <= b, i, j)
    d = add("torch.gt", lambda a, b: a > b, x, 0.125)
    e = add("_operator.ge", lambda a, b: a >= b, 0.25, x)
    f = add("torch.eq", lambda a, b: a == b, i, 2)
    g = add("torch.ne", lambda a, b: a != b, 3, j)
    c = add("torch.logical_or", np.logical_or, c, d)
    g = add("torch.bitwise_and", np.logical_and, e, g)
    g = add("torch.logical_not", np.logical_not, g)
    c = add("_operator.and_", np.logical_and, c, add("_operator.invert", np.logical_not, f))
    both = add("torch.logical_and", np.logical_and, d, e)
    c = add("torch.bitwise_or", np.logical_or, c, add("_operator.or_", np.logical_or, both, f))
    y = add("torch.where", np.where, c, x, -0.5)
    y = add("torch.where", np.where, g, 2, y)
    h = add("torch.lt", lambda a, b: a < b, x, y)
    y = add("torch.where", np.where, h, y, x)
    y = add("torch.Tensor.masked_fill", lambda a, m: np.where(m, 0.25, a), y, f, value=0.25)
    y = add("torch.masked_fill", lambda a, m: np.where(m, -np.inf, a), y, f, value=-np.inf)
    y = add("torch.softmax", softmax, y, dim=-1)
    angle = add("torch.mul", lambda a, b: a * b, y, turn)
    y = add("torch.cos", np.cos, angle)
    z = add("torch.sin", np.sin, angle)
    y = add("torch.maximum", np.maximum, y, z)
    z = add("torch.minimum", np.minimum, z, x)
    y = add("torch.sub", lambda a, b: a - b, y, z)
    z = add("torch.masked_fill", lambda a, m: np.where(m, -np.inf, a), x, f, value=-np.inf)
    upper = np.triu(np.ones((4, 6)))
    z = add("torch.triu", lambda a: np.where(upper, a, 0), z, diagonal=0)
    y = add("torch.add", lambda a, b: a + b, y, add("torch.softmax", softmax, z, dim=1))
    z = add("torch.tril", lambda a: np.tril(a, -2), y, diagonal=-2)
    z = add(
        "torch.sub",
        lambda a, b: a - b,
        z,
        add("torch.triu", lambda a: np.triu(a, 3), y, diagonal=3),
    )
    c = add("torch.tril", lambda a: np.tril(a, 1), c, diagonal=1)
    y = add("torch.add", lambda a, b: a + b, y, z)
    line = add("torch.mean", lambda a: a.mean(axis=1), y, dim=1)
    y = add("torch.add", lambda a, b: a + b, y, add("torch.outer", np.outer, line, turn))
    index = add("torch.where", lambda c, i, n: np.where(c, i, n), f, i, 3)
    index = add("torch.Tensor.expand", lambda a: a + np.zeros((4, 6), int), index, size=(4, -1))
    z = add("torch.gather", lambda a, i: np.take_along_axis(a, i, 1), y, index, dim=-1)
    y = add("torch.sub", lambda a, b: a - b, y, add("torch.square", np.square, z))
    one = add(runtime + "ones", lambda: np.ones((4, 6)), size=(4, 6), pin_memory=False, **real)
    y = add("torch.add", lambda a, b: a + b, y, one)
    half = add(runtime + "full", lambda: np.full((1, 6), 0.5), size=(1, 6), fill_value=0.5, **real)
    y = add("torch.mul", lambda a, b: a * b, y, half)
    one = add("torch.ones_like", np.ones_like, y, requires_grad=False, memory_format=None)
    y = add("torch.add", lambda a, b: a + b, y, one)
    two = add("torch.full_like", lambda a: np.full_like(a, 2), half, fill_value=2, dtype=None)
    y = add("torch.mul", lambda a, b: a * b, y, two)
    counted = add("torch.Tensor.float", lambda a: a.astype(float), c)
    y = add("torch.add", lambda a, b: a + b, y, counted)
    other = add("torch.Tensor.bool", lambda a: a != 0, j)
    counted = add("torch.Tensor.to", lambda a: a.astype(float), other, dtype=FLOAT32)
    y = add("torch.add", lambda a, b: a + b, y, counted)
    counted = add("torch.Tensor.to", lambda a: a.astype(float), j, dtype=FLOAT32)
    return add("torch.add", lambda a, b: a + b, y, counted)


def use(ops: Ops, x: Value) -> Value:
    """Each op in the forms in which it may be, from `x` to a tensor of its shape."""
    add, none = ops.add, None
    y = add("torch.sub", lambda a, b: a - b, x, 2.5)
    y = add("torch.sub", lambda a, b: a - b, 0.5, y)
    y = add("torch.sub", lambda a, b: a - b, y, x, alpha=1)
    y = add("torch.add", lambda a, b: a + b, 7, y, alpha=1.0)
    y = add("torch.mul", lambda a, b: a * b, y, 0.1)
    y = add("torch.mul", lambda a, b: a * b, 16777217, y)
    y = add("torch.div", lambda a, b: a / b, y, 16777216.0)
    y = add("torch.div", lambda a, b: a / b, 2, y, rounding_mode=none)
    y = add("torch.neg", lambda a: -a, y)
    y = add("torch.exp", np.exp, y)
    y = add("torch.rsqrt", lambda a: 1 / np.sqrt(a), y)
    y = add("torch.pow", lambda a, b: a**b, y, 1.5)
    y = add("torch.pow", lambda a, b: a**b, y, 2)
    rows = add("torch.sum", lambda a: a.sum(axis=1, keepdims=True), y, dim=1, keepdim=True)
    columns = add("torch.mean", lambda a: a.mean(axis=0), y, dim=(0,), keepdim=False)
    all_of_it = add("torch.mean", lambda a: a.mean(), y)
    bias = add("torch.mean", lambda a: a.mean(axis=-1), y, dim=-1)
    y = add("torch.div", lambda a, b: a / b, y, rows)
    y = add("torch.mul", lambda a, b: a * b, y, columns)
    y = add("torch.nn.functional.softmax", lambda a: softmax(a.T).T, y, dim=0)
    y = add("torch.pow", lambda a, b: a**b, 1.25, y)
    y = add("_operator.pow", lambda a, b: a**b, 2, y)
    y = add("torch.add", lambda a, b: a + b, y, all_of_it)
    squares = add("torch.nn.functional.linear", linear, y, x, bias, bias=none)
    y = add("torch.matmul", lambda a, b: a @ b, squares, x)
    y = add("torch.div", lambda a, b: a / b, y, 40)
    bias = add("torch.mean", lambda a: a.mean(axis=-1), y, dim=(-1,))
    bias = add("torch.mul", lambda a, b: a * b, bias, 2)
    limits: dict[str, Constant] = {"n_groups": 2, "topk_groups": 1, "topk": 2, "route_scale": 1.5}
    weights, names = ops.add_all("model.gate_fw", gate, x, y, bias, score_func="sigmoid", **limits)
    halves = add("torch.Tensor.view", lambda a: a.reshape(2, 12), x, size=(2, 12))
    mixed = add("torch.matmul", lambda a, b: a @ b, weights, halves)
    mixed = add("torch.Tensor.view", lambda a: a.reshape(4, 2, 6), mixed, size=(4, 2, 6))
    mixed = add("torch.mean", lambda a: a.mean(axis=1), mixed, dim=1)
    y = add("torch.add", lambda a, b: a + b, y, mixed)
    y = add("torch.nn.functional.gelu", normal, y, approximate="none")
    y = add("torch.nn.functional.gelu", almost_normal, y, approximate="tanh")
    y = add("torch.nn.functional.silu", lambda a: a / (1 + np.exp(-a)), y, inplace=False)
    y = add("torch.transpose", lambda a: a.T, y, dim0=0, dim1=-1)
    y = add("torch.Tensor.contiguous", lambda a: a, y)
    y = add("torch.Tensor.view", lambda a: a.reshape(3, 2, 4), y, size=(3, -1, 4))
    y = add("torch.transpose", lambda a: a.swapaxes(0, 1), y, dim0=1, dim1=0)
    y = add("torch.Tensor.reshape", lambda a: a.reshape(6, 4), y, shape=(6, 4))
    y = add("torch.transpose", lambda a: a.T, y, dim0=1, dim1=0)
    dropped: dict[str, Constant] = {"p": 0.5, "training": False, "inplace": False}
    y = add("torch.nn.functional.dropout", lambda a: a, y, **dropped)
    y = add("torch.Tensor.float", lambda a: a, y)
    others = move(ops, y), compute(ops, x), lose(ops, x, names), decide(ops, x)
    for z in (*others, combine(ops, x, names), turn(ops, x, y), convolve(ops, x)):
        y = add("torch.add", lambda a, b: a + b, y, z)
    for device in ("cpu", "cuda", "cuda:0", 1):
        y = add("nnscaler.runtime.function.to", lambda a: a, y, dtype_or_device=device)
    return add("nnscaler.runtime.function.to", lambda a: a, y, dtype_or_device=FLOAT32)
