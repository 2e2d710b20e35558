# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the interpreter with NumPy, op by op, on random shapes.

usage: llvm-tblgen --dump-json ... | numpy_ops.py WORK ROUNDS [--break OP]

Reads the list of ops from the dialect's description; an op without a case, or
without a meaning in NumPy, is an error. With --break the meaning of one op is
made wrong, and the comparison has to notice. Exit code 1 if something differs.
"""

import argparse
import math
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from cases import GENERATORS, OpCase, computing_ops
from collectives import COLLECTIVES, Placed, add_placed_graph
from programs import Programs, Result, add_graph, describe, interpret, read

Array = Any  # What the operators of NumPy take and return.
Meaning = Callable[..., Array]

TOLERANCE = 1e-12
erf = np.vectorize(math.erf, otypes=[float])


def layer_norm(x: Array, weight: Array, bias: Array, case: OpCase) -> Array:
    """Normalization over the dimensions of the weight."""
    axes = tuple(range(x.ndim - weight.ndim, x.ndim))
    centered = x - x.mean(axis=axes, keepdims=True)
    variance = (centered**2).mean(axis=axes, keepdims=True)
    return centered / np.sqrt(variance + case.attributes["epsilon"]) * weight + bias


def reduce(x: Array, case: OpCase) -> Array:
    """Each kind of reduction."""
    kinds: Any = {"sum": np.sum, "average": np.mean, "maximum": np.max, "minimum": np.min}
    axes = tuple(case.attributes["dimensions"])
    return kinds[case.attributes["kind"]](x, axis=axes, keepdims=case.attributes["keep"])


def softmax(x: Array, case: OpCase) -> Array:
    """Exponentials divided by their sum."""
    power = np.exp(x - x.max(axis=case.attributes["dimension"], keepdims=True))
    return power / power.sum(axis=case.attributes["dimension"], keepdims=True)


def pad(x: Array, case: OpCase) -> Array:
    """Zeros along one dimension."""
    widths = [(0, 0)] * x.ndim
    values = case.attributes
    widths[values["dimension"]] = (values["low"], values["high"])
    return np.pad(x, widths)


def slice_(x: Array, case: OpCase) -> Array:
    """A range of one dimension."""
    values = case.attributes
    return np.take(x, range(values["start"], values["end"]), axis=values["dimension"])


def broadcast(x: Array, case: OpCase) -> Array:
    """New dimensions of size 1, then repetition."""
    shape = [1] * len(case.result)
    for dimension, size in zip(case.attributes["dimensions"], x.shape, strict=True):
        shape[dimension] = size
    return np.broadcast_to(x.reshape(shape), case.result)


def embedding(indices: Array, table: Array, case: OpCase) -> Array:
    """Rows of the table, zeros outside."""
    rows = indices.astype(int) - case.attributes["start"]
    inside = (rows >= 0) & (rows < len(table))
    return np.where(inside[..., None], table[np.where(inside, rows, 0)], 0.0)


def one_hot(indices: Array, case: OpCase) -> Array:
    """Ones where index and position agree."""
    positions = np.arange(case.result[-1]) + case.attributes["start"]
    return (indices[..., None] == positions).astype(float)


def one_hot_index(x: Array, case: OpCase) -> Array:
    """The sum of the positions of ones."""
    return np.where(x == 1, np.arange(x.shape[-1]), 0).sum(axis=-1)


def descending_rank(*given: Any) -> Array:
    """How many elements of the row are greater, of those that are eligible."""
    scores, eligible = given[0], given[1] if len(given) == 3 else np.ones_like(given[0])
    rank = np.zeros(scores.shape)
    for other in range(scores.shape[-1]):
        counts = eligible[..., other : other + 1] == 1
        rank += counts & (scores[..., other : other + 1] > scores)
    return rank


def compare(x: Array, y: Array, case: OpCase) -> Array:
    """1 where the comparison holds."""
    kinds: Any = {
        "equal": np.equal,
        "not_equal": np.not_equal,
        "less": np.less,
        "less_equal": np.less_equal,
    }
    return kinds[case.attributes["kind"]](x, y).astype(float)


def iota(case: OpCase) -> Array:
    """Numbers at equal steps."""
    start, step = case.attributes["start"], case.attributes["step"]
    return start + step * np.arange(case.result[0])


def causal_mask(case: OpCase) -> Array:
    """Minus infinity above the diagonal."""
    rows, columns = case.result[-2:]
    mask = np.where(np.tri(rows, columns) > 0, 0.0, -np.inf)
    return np.broadcast_to(mask, case.result)


def complex_product(x: Array, factors: Array, case: OpCase) -> Array:
    """Products of complex numbers."""
    numbers = x[..., 0::2] + 1j * x[..., 1::2]
    turns = factors[..., 0] + 1j * factors[..., 1]
    shape = [1] * numbers.ndim
    shape[case.attributes["position_dimension"]] = turns.shape[0]
    shape[-1] = turns.shape[1]
    product = numbers * turns.reshape(shape)
    return np.stack([product.real, product.imag], axis=-1).reshape(x.shape)


def power(x: Array, case: OpCase) -> Array:
    """A constant rational exponent."""
    return np.power(x, case.attributes["numerator"] / case.attributes["denominator"])


MEANINGS: dict[str, Meaning] = {
    "tv.add": lambda x, y, case: x + y,
    "tv.subtract": lambda x, y, case: x - y,
    "tv.multiply": lambda x, y, case: x * y,
    "tv.divide": lambda x, y, case: x / y,
    "tv.negate": lambda x, case: -x,
    "tv.exp": lambda x, case: np.exp(x),
    "tv.rsqrt": lambda x, case: 1 / np.sqrt(x),
    "tv.tanh": lambda x, case: np.tanh(x),
    "tv.silu": lambda x, case: x * (0.5 * (1 + np.tanh(x / 2))),
    "tv.erf": lambda x, case: erf(x),
    "tv.erf_derivative": lambda x, case: 2 / np.sqrt(np.pi) * np.exp(-x * x),
    "tv.gelu": lambda x, case: x * 0.5 * (1 + erf(x / np.sqrt(2))),
    "tv.sigmoid": lambda x, case: 0.5 * (1 + np.tanh(x / 2)),
    "tv.sin": lambda x, case: np.sin(x),
    "tv.cos": lambda x, case: np.cos(x),
    "tv.to_real": lambda x, case: x,
    "tv.select": lambda c, x, y, case: np.where(c != 0, x, y),
    "tv.iota": iota,
    "tv.sqrt": lambda x, case: np.sqrt(x),
    "tv.log": lambda x, case: np.log(x),
    "tv.maximum": lambda x, y, case: np.maximum(x, y),
    "tv.minimum": lambda x, y, case: np.minimum(x, y),
    "tv.compare": compare,
    "tv.relu": lambda x, case: np.clip(x, 0, None),
    "tv.abs": lambda x, case: np.abs(x),
    "tv.sign": lambda x, case: np.sign(x),
    "tv.copy": lambda x, case: x,
    "tv.detach": lambda x, case: x,
    "tv.power": power,
    "tv.constant": lambda case: np.array(case.attributes["values"]).reshape(case.result),
    "tv.linear": lambda x, w, case: x @ w.T,
    "tv.matmul": lambda x, y, case: x @ y,
    "tv.einsum": lambda *given: np.einsum(given[-1].attributes["equation"], *given[:-1]),
    "tv.reduce": reduce,
    "tv.softmax": softmax,
    "tv.lower_triangle": lambda case: np.tri(*case.result),
    "tv.cumulative_sum": lambda x, case: np.cumsum(x, axis=case.attributes["dimension"]),
    "tv.layer_norm": layer_norm,
    "tv.reshape": lambda x, case: x.reshape(case.result),
    "tv.transpose": lambda x, case: x.transpose(case.attributes["permutation"]),
    "tv.slice": slice_,
    "tv.pad": pad,
    "tv.concat": lambda *given: np.concatenate(given[:-1], axis=given[-1].attributes["dimension"]),
    "tv.broadcast": broadcast,
    "tv.one_hot": one_hot,
    "tv.one_hot_index": one_hot_index,
    "tv.descending_rank": descending_rank,
    "tv.embedding": embedding,
    "tv.causal_mask": causal_mask,
    "tv.complex_product": complex_product,
}


def to_result(array: Array) -> Result:
    """An array as the interpreter's results are written."""
    return Result(array.shape, [float(value) for value in np.ravel(array)])


def main() -> int:
    """Compares, prints what differs and returns the exit code."""
    parser = argparse.ArgumentParser()
    parser.add_argument("work", type=Path)
    parser.add_argument("rounds", type=int)
    parser.add_argument("--break", dest="broken", default="")
    arguments = parser.parse_args()
    ops = sorted(computing_ops(sys.stdin.read()))
    missing = [op for op in ops if op not in COLLECTIVES]
    missing = [op for op in missing if op not in GENERATORS or op not in MEANINGS]
    if missing or not ops:
        print(f"no case or no meaning for {', '.join(missing) or 'any op'}")
        return 1
    rng = random.Random(5)
    programs = Programs()
    expected: dict[str, tuple[str, list[Array]]] = {}
    for op in ops:
        for round_ in range(arguments.rounds):
            symbol = f"{op.removeprefix('tv.')}_{round_}"
            if op in COLLECTIVES:
                placed: Placed = COLLECTIVES[op](rng)
                add_placed_graph(programs, symbol, placed)
                arrays = placed.expected
            else:
                case = GENERATORS[op](rng, op)
                add_graph(programs, symbol, case)
                given = [
                    np.array(operand.values, dtype=float).reshape(operand.shape)
                    for operand in case.operands
                ]
                arrays = [np.asarray(MEANINGS[op](*given, case))]
            if op == arguments.broken:
                arrays = [array + (1e-9 * (1 + np.abs(array))) for array in arrays]
            expected[symbol] = (op, arrays)
    differences: list[str] = []
    compared = 0
    for arithmetic in ("auto", "double"):
        results = interpret(programs, arguments.work, arithmetic)
        for symbol, (op, arrays) in expected.items():
            places = [place for row in results[symbol] for place in row["places"]]
            found = [read(place["plan"]) for place in places]
            if len(found) != len(arrays):
                differences.append(f"{op} ({symbol}): {len(found)} results")
                continue
            for result, array in zip(found, arrays, strict=True):
                compared += 1
                if text := describe(result, to_result(array), TOLERANCE):
                    differences.append(f"{op} ({symbol}, {arithmetic}): {text}")
    for text in differences[:20]:
        print(text)
    print(f"{len(ops)} ops, {compared} results compared with NumPy, {len(differences)} differ")
    return 1 if differences or compared == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
