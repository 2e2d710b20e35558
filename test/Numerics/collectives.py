# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Graphs whose values differ from place to place, and what NumPy makes of them."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from draws import Operand, real, tensor
from programs import Programs

Array = Any  # What the operators of NumPy take and return.


@dataclass(frozen=True)
class Placed:
    """A graph over a mesh, its inputs, and the result at each place."""

    mesh: str
    inputs: list[Operand]
    body: list[str]
    expected: list[Array]


def add_placed_graph(programs: Programs, symbol: str, placed: Placed) -> None:
    """Adds the graph, whose inputs are `%x0`, `%x1`, ..."""
    lines = [f"tv.graph @{symbol} <{placed.mesh}> {{"]
    for number, operand in enumerate(placed.inputs):
        role = programs.name(operand, symbol, number)
        lines.append(f'  %x{number} = tv.input <input "{role}"> : {operand.type}')
    lines += [f"  {line}" for line in placed.body]
    programs.texts.append("\n".join([*lines, "}"]))


def array(operand: Operand) -> Array:
    """An operand as an array."""
    return np.array(operand.values).reshape(operand.shape)


def sharded(rng: random.Random) -> tuple[int, int, int, list[Operand], list[str]]:
    """Two inputs whose rows are divided over `dp` and whose columns belong to devices."""
    replicas, rows, columns = (rng.randint(1, 3) for _ in range(3))
    inputs = [real(rng, (replicas * rows, columns)) for _ in range(2)]
    whole, part = tensor((replicas * rows, columns)), tensor((rows, columns))
    lines = [
        f"%p{device} = tv.distribute %x{device} "
        f"<[dp, 0:{rows} of {rows}], [0:{columns} of {columns}]> on <device = {device}> : "
        f"({whole}) -> {part}"
        for device in range(2)
    ]
    return replicas, rows, columns, inputs, lines


def all_reduce(rng: random.Random) -> Placed:
    """Each kind of reduction over two operands; sums and averages over replicas too."""
    replicas, rows, columns, inputs, lines = sharded(rng)
    part = tensor((rows, columns))
    kind = rng.choice(["", "sum", "average", "maximum", "minimum", "product"])
    over = kind in {"", "sum", "average"} and rng.random() < 0.5
    by, axes = f" by {kind}" if kind else "", '"dp"' if over else ""
    lines.append(
        f"%y = tv.all_reduce %p0, %p1{by} over [{axes}] on <device = 0:2> : "
        f"({part}, {part}) -> {part}"
    )
    combine: Any = {
        "average": np.mean,
        "maximum": np.max,
        "minimum": np.min,
        "product": np.prod,
    }.get(kind, np.sum)
    parts = np.stack([array(operand).reshape(replicas, rows, columns) for operand in inputs])
    expected = [combine(parts, axis=(0, 1))] if over else list(combine(parts, axis=0))
    return Placed(f"dp = {replicas}, device = 2", inputs, lines, expected)


def gather_operands(rng: random.Random) -> Placed:
    """Two operands one after the other."""
    replicas, rows, columns, inputs, lines = sharded(rng)
    part, dimension = tensor((rows, columns)), rng.randrange(2)
    shape = (2 * rows, columns) if dimension == 0 else (rows, 2 * columns)
    lines.append(
        f"%y = tv.all_gather %p1, %p0 on <device = 0:2> {{dimension = {dimension} : i64}} : "
        f"({part}, {part}) -> {tensor(shape)}"
    )
    parts = [array(operand).reshape(replicas, rows, columns) for operand in inputs]
    expected = [
        np.concatenate([parts[1][replica], parts[0][replica]], axis=dimension)
        for replica in range(replicas)
    ]
    return Placed(f"dp = {replicas}, device = 2", inputs, lines, expected)


def gather_over_axis(rng: random.Random) -> Placed:
    """What one operand is on each replica, one after the other."""
    replicas, rows, columns, inputs, lines = sharded(rng)
    part, dimension = tensor((rows, columns)), rng.randrange(2)
    shape = (replicas * rows, columns) if dimension == 0 else (rows, replicas * columns)
    line = (
        f'%y = tv.all_gather %p0 over "dp" on <device = 0> {{dimension = {dimension} : i64}} : '
        f"({part}) -> {tensor(shape)}"
    )
    parts = array(inputs[0]).reshape(replicas, rows, columns)
    expected = [np.concatenate(list(parts), axis=dimension)]
    return Placed(f"dp = {replicas}, device = 1", inputs[:1], [lines[0], line], expected)


def all_gather(rng: random.Random) -> Placed:
    """Of operands, or over an axis."""
    return (gather_over_axis if rng.random() < 0.5 else gather_operands)(rng)


def all_slice(rng: random.Random) -> Placed:
    """The part of the operand with the number of the replica."""
    shape, dimension, replicas = [rng.randint(1, 3), rng.randint(1, 3)], rng.randrange(2), 2
    part = tensor(tuple(shape))
    shape[dimension] *= replicas
    whole, operand = tensor(tuple(shape)), real(rng, tuple(shape))
    lineage = ", ".join(f"[0:{size} of {size}]" for size in shape)
    lines = [
        f"%w = tv.distribute %x0 <{lineage}> on <> : ({whole}) -> {whole}",
        f'%y = tv.all_slice %w over "dp" on <> {{dimension = {dimension} : i64}} : '
        f"({whole}) -> {part}",
    ]
    expected = np.split(array(operand), replicas, axis=dimension)
    return Placed(f"dp = {replicas}", [operand], lines, expected)


def move(rng: random.Random) -> Placed:
    """The operand of one device, on another; of one replica, on all."""
    replicas, rows, columns, inputs, lines = sharded(rng)
    part = tensor((rows, columns))
    replica = rng.randrange(replicas)
    fixes_replica = rng.random() < 0.5
    source = f"device = 1, dp = {replica}" if fixes_replica else "device = 1"
    lines.append(f"%y = tv.move %p1 from <{source}> on <device = 0> : ({part}) -> {part}")
    # The other operand is used, so that it is no result.
    lines.append(f"%z = tv.add %y, %p0 on <device = 0> : ({part}, {part}) -> {part}")
    moved, own = (array(inputs[i]).reshape(replicas, rows, columns) for i in (1, 0))
    expected = [moved[replica if fixes_replica else each] + own[each] for each in range(replicas)]
    return Placed(f"dp = {replicas}, device = 2", inputs, lines, expected)


def accumulate(rng: random.Random) -> Placed:
    """The sum over some micro-batches."""
    count, size = rng.randint(1, 5), rng.randint(1, 3)
    start = rng.randrange(count)
    end = rng.randint(start + 1, count)
    inputs = [real(rng, (count * size,))]
    lines = [
        f"%p = tv.distribute %x0 <[mb, 0:{size} of {size}]> on <> : "
        f"({tensor((count * size,))}) -> {tensor((size,))}",
        f"%y = tv.accumulate %p over <mb = {start}:{end}> on <> : "
        f"({tensor((size,))}) -> {tensor((size,))}",
    ]
    expected = [array(inputs[0]).reshape(count, size)[start:end].sum(axis=0)]
    return Placed(f"mb = {count}", inputs, lines, expected)


COLLECTIVES: dict[str, Callable[[random.Random], Placed]] = {
    "tv.all_reduce": all_reduce,
    "tv.all_gather": all_gather,
    "tv.all_slice": all_slice,
    "tv.move": move,
    "tv.accumulate": accumulate,
}
