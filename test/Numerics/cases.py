# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random small uses of every op that computes, whoever says what they mean.

An op of the dialect without a generator in `GENERATORS` fails the checks that
walk the dialect's list of ops.
"""

import json
import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from draws import (
    EXTENDED,
    Operand,
    Shape,
    attributes,
    boolean,
    broadcast_pair,
    count,
    draw_shape,
    extended,
    integer,
    positive,
    real,
    tensor,
    with_ties,
)

COMPUTES = {"TV_ComputeOp", "TV_CompositionOp"}


@dataclass(frozen=True)
class OpCase:
    """One use of an op: its operands, attributes and result."""

    op: str
    operands: list[Operand]
    result: Shape
    attributes: dict[str, Any] = field(default_factory=dict)
    #: What is written after the op's name, before and after the operands.
    prefix: str = ""
    suffix: str = ""
    element: str = "f64"

    def text(self, operands: Iterable[str]) -> str:
        """The op on these operands."""
        types = ", ".join(operand.type for operand in self.operands)
        parts = [self.op + self.prefix, ", ".join(operands), self.suffix]
        body = " ".join(part for part in parts if part)
        return f"{body} : ({types}) -> {tensor(self.result, self.element)}"


def computing_ops(dump: str) -> dict[str, bool]:
    """The dialect's ops that compute, and whether each has a derivative.

    `dump` is what llvm-tblgen writes about the dialect as JSON. A composition
    has the derivative of its parts.
    """
    records = json.loads(dump)
    ops = {}
    for name in records["!instanceof"]["Op"]:
        record = records[name]
        classes = set(record["!superclasses"])
        if not classes & COMPUTES:
            continue
        traits = {trait["def"] for trait in record["traits"]}
        has_derivative = "TV_CompositionOp" in classes or "TV_NotDifferentiable" not in traits
        ops["tv." + record["opName"]] = has_derivative
    return ops


# ---------------------------------------------------------------------------
# Ops
# ---------------------------------------------------------------------------

Generator = Callable[[random.Random, str], OpCase]


def binary(rng: random.Random, op: str) -> OpCase:
    """An op on two tensors that broadcast, of reals or of integers."""
    left, right, result = broadcast_pair(rng)
    if op != "tv.divide" and rng.random() < 0.25:
        integers = [integer(rng, shape, -5, 5) for shape in (left, right)]
        return OpCase(op, integers, result, element="i64")
    divisor = positive if op == "tv.divide" else real
    if op == "tv.add" and rng.random() < 0.25:
        operands = [real(rng, left), extended(rng, right)]
        return OpCase(op, operands, result, element=EXTENDED)
    return OpCase(op, [real(rng, left), divisor(rng, right)], result)


def unary(rng: random.Random, op: str) -> OpCase:
    """An op on each element."""
    shape = draw_shape(rng)
    if op in {"tv.rsqrt", "tv.sqrt", "tv.log"}:
        return OpCase(op, [positive(rng, shape)], shape)
    if op == "tv.exp" and rng.random() < 0.3:
        return OpCase(op, [extended(rng, shape)], shape)
    if op in {"tv.negate", "tv.copy"} and rng.random() < 0.3:
        return OpCase(op, [integer(rng, shape, -5, 5)], shape, element="i64")
    return OpCase(op, [real(rng, shape)], shape)


def with_order(rng: random.Random, op: str) -> OpCase:
    """The greater or lesser of two, or a comparison of them; often they are equal."""
    left, right, result = broadcast_pair(rng)
    is_integer = rng.random() < 0.3
    operands = [
        integer(rng, shape, -2, 2) if is_integer else with_ties(rng, shape)
        for shape in (left, right)
    ]
    if op == "tv.compare":
        kind = rng.choice(["equal", "not_equal", "less", "less_equal"])
        element = rng.choice(["f64", "i1"])
        return OpCase(op, operands, result, {"kind": kind}, prefix=f" {kind}", element=element)
    return OpCase(op, operands, result, element=operands[0].element)


def select(rng: random.Random, op: str) -> OpCase:
    """Elements of one of two tensors; numbers, some of them minus infinity, or integers."""
    left, right, result = broadcast_pair(rng)
    condition = boolean(rng, result if rng.random() < 0.5 else ())
    draw = rng.choice([real, extended, lambda rng, shape: integer(rng, shape, -5, 5), boolean])
    operands = [draw(rng, left), draw(rng, right)]
    return OpCase(op, [condition, *operands], result, element=operands[0].element)


def iota(rng: random.Random, op: str) -> OpCase:
    """Integers or real numbers at equal steps."""
    values = {"start": rng.randint(-5, 5), "step": rng.randint(-3, 3)}
    element = rng.choice(["f64", "i64"])
    return OpCase(
        op, [], draw_shape(rng, 1, 1), values, suffix=attributes(**values), element=element
    )


def to_real(rng: random.Random, op: str) -> OpCase:
    """Integers, truth values, or numbers that are real already."""
    shape = draw_shape(rng)
    draw = rng.choice([real, boolean, lambda rng, shape: integer(rng, shape, -5, 5)])
    return OpCase(op, [draw(rng, shape)], shape)


def with_kink(rng: random.Random, op: str) -> OpCase:
    """An op that is linear on each side of 0, at 0 too."""
    shape = draw_shape(rng)
    draw = with_ties if rng.random() < 0.5 else real
    return OpCase(op, [draw(rng, shape)], shape)


def power(rng: random.Random, op: str) -> OpCase:
    """A constant rational exponent."""
    shape = draw_shape(rng)
    numerator, denominator = rng.choice(
        [(0, 1), (1, 1), (2, 1), (3, 1), (-1, 1), (-2, 1), (1, 2), (-3, 2), (2, 3)]
    )
    is_total = denominator == 1 and numerator >= 0
    operand = real(rng, shape) if is_total else positive(rng, shape)
    exponent = {"numerator": numerator, "denominator": denominator}
    return OpCase(op, [operand], shape, exponent, suffix=attributes(**exponent))


def constant(rng: random.Random, op: str) -> OpCase:
    """One literal for all elements, or one for each; floats, integers or booleans."""
    shape = draw_shape(rng, 1, 2)
    element = rng.choice(["f64", "f64", "i64", "i1"])
    is_splat = rng.random() < 0.5

    def literal() -> float:
        if element == "f64":
            return rng.randint(-64, 64) / 16
        return rng.randint(0, 1) if element == "i1" else rng.randint(-9, 9)

    def write(values: list[float], rest: Shape) -> str:
        if not rest:
            value = values[0]
            if element == "i1":
                return "true" if value else "false"
            return f"{value:e}" if element == "f64" else str(value)
        size = len(values) // rest[0]
        rows = [values[start : start + size] for start in range(0, len(values), size)]
        return "[" + ", ".join(write(row, rest[1:]) for row in rows) + "]"

    values = [literal()] if is_splat else [literal() for _ in range(count(shape))]
    form = () if is_splat else shape
    return OpCase(
        op,
        [],
        shape,
        {"values": values * (count(shape) if is_splat else 1)},
        prefix=f" dense<{write(values, form)}> : {tensor(form, element)}",
        element=element,
    )


def linear(rng: random.Random, op: str) -> OpCase:
    """Rows of an input with rows of a weight."""
    batch, inner, outer = draw_shape(rng, 0, 2), rng.randint(1, 4), rng.randint(1, 4)
    operands = [real(rng, (*batch, inner)), real(rng, (outer, inner))]
    return OpCase(op, operands, (*batch, outer))


def matmul(rng: random.Random, op: str) -> OpCase:
    """Products of matrices."""
    batch, (m, k, n) = draw_shape(rng, 0, 2), draw_shape(rng, 3, 3)
    operands = [real(rng, (*batch, m, k)), real(rng, (*batch, k, n))]
    return OpCase(op, operands, (*batch, m, n))


def einsum(rng: random.Random, op: str) -> OpCase:
    """Labels at random; each label of the result is one of an operand."""
    sizes = {label: rng.randint(1, 4) for label in "abcde"}
    labels = ["".join(rng.sample("abcde", rng.randint(1, 3))) for _ in range(rng.randint(1, 3))]
    used = sorted(set("".join(labels)))
    result = "".join(rng.sample(used, rng.randint(0, len(used))))
    equation = ",".join(labels) + "->" + result
    operands = [real(rng, tuple(sizes[label] for label in word)) for word in labels]
    return OpCase(
        op,
        operands,
        tuple(sizes[label] for label in result),
        {"equation": equation},
        suffix=attributes(equation=f'"{equation}"'),
    )


def reduce(rng: random.Random, op: str) -> OpCase:
    """Each kind of reduction, over some dimensions, which stay or go."""
    shape = draw_shape(rng, 1)
    kind = rng.choice(["sum", "average", "maximum", "minimum"])
    dimensions = sorted(rng.sample(range(len(shape)), rng.randint(1, len(shape))))
    keep = rng.random() < 0.5
    result = tuple(
        1 if i in dimensions else size
        for i, size in enumerate(shape)
        if keep or i not in dimensions
    )
    return OpCase(
        op,
        [real(rng, shape)],
        result,
        {"kind": kind, "dimensions": dimensions, "keep": keep},
        prefix=f" {kind}",
        suffix=("keep " if keep else "") + attributes(dimensions=dimensions),
    )


def along(rng: random.Random, op: str) -> OpCase:
    """A real tensor and any of its dimensions."""
    shape = draw_shape(rng, 1)
    dimension = rng.randrange(len(shape))
    return OpCase(
        op,
        [real(rng, shape)],
        shape,
        {"dimension": dimension},
        suffix=attributes(dimension=dimension),
    )


def lower_triangle(rng: random.Random, op: str) -> OpCase:
    """A function of positions alone."""
    return OpCase(op, [], draw_shape(rng, 2, 2))


def layer_norm(rng: random.Random, op: str) -> OpCase:
    """Over one or more of the last dimensions."""
    shape = draw_shape(rng, 1)
    norm = shape[-rng.randint(1, len(shape)) :]
    epsilon = rng.choice([1e-5, 1e-3, 0.25])
    operands = [real(rng, shape), real(rng, norm), real(rng, norm)]
    text = f"{{epsilon = {epsilon:e} : f64}}"
    return OpCase(op, operands, shape, {"epsilon": epsilon}, suffix=text)


def reshape(rng: random.Random, op: str) -> OpCase:
    """Factors in one order, joined to dimensions in two ways."""
    factors = [rng.choice([2, 3]) for _ in range(rng.randint(0, 4))]

    def join() -> Shape:
        shape = [1] * rng.randint(0 if not factors else 1, 3)
        cuts = sorted(rng.randrange(len(shape)) for _ in factors)
        for factor, dimension in zip(factors, cuts, strict=True):
            shape[dimension] *= factor
        return tuple(shape)

    return OpCase(op, [real(rng, join())], join())


def transpose(rng: random.Random, op: str) -> OpCase:
    """Any order of dimensions."""
    shape = draw_shape(rng, 1, 4)
    order = rng.sample(range(len(shape)), len(shape))
    result = tuple(shape[dimension] for dimension in order)
    text = attributes(permutation=order)
    return OpCase(op, [real(rng, shape)], result, {"permutation": order}, suffix=text)


def slice_(rng: random.Random, op: str) -> OpCase:
    """A range of one dimension."""
    shape = draw_shape(rng, 1)
    dimension = rng.randrange(len(shape))
    start = rng.randrange(shape[dimension])
    end = rng.randint(start + 1, shape[dimension])
    result = (*shape[:dimension], end - start, *shape[dimension + 1 :])
    values = {"dimension": dimension, "start": start, "end": end}
    return OpCase(op, [real(rng, shape)], result, values, suffix=attributes(**values))


def pad(rng: random.Random, op: str) -> OpCase:
    """Zeros on both sides of one dimension."""
    shape = draw_shape(rng, 1)
    dimension, low, high = rng.randrange(len(shape)), rng.randint(0, 2), rng.randint(0, 2)
    size = shape[dimension] + low + high
    result = (*shape[:dimension], size, *shape[dimension + 1 :])
    values = {"dimension": dimension, "low": low, "high": high}
    return OpCase(op, [real(rng, shape)], result, values, suffix=attributes(**values))


def concat(rng: random.Random, op: str) -> OpCase:
    """Tensors of several sizes."""
    shape = draw_shape(rng, 1)
    dimension = rng.randrange(len(shape))
    sizes = [rng.randint(1, 3) for _ in range(rng.randint(1, 3))]
    before, after = shape[:dimension], shape[dimension + 1 :]
    operands = [real(rng, (*before, size, *after)) for size in sizes]
    return OpCase(
        op,
        operands,
        (*before, sum(sizes), *after),
        {"dimension": dimension},
        suffix=attributes(dimension=dimension),
    )


def broadcast(rng: random.Random, op: str) -> OpCase:
    """New dimensions, and repetition along those of size 1."""
    result = draw_shape(rng, 1)
    kept = sorted(rng.sample(range(len(result)), rng.randint(0, len(result))))
    shape = tuple(1 if rng.random() < 0.3 else result[i] for i in kept)
    text = attributes(dimensions=kept)
    return OpCase(op, [real(rng, shape)], result, {"dimensions": kept}, suffix=text)


def one_hot(rng: random.Random, op: str) -> OpCase:
    """Indices in the range and outside."""
    shape, classes, start = draw_shape(rng, 1, 2), rng.randint(1, 4), rng.randint(0, 2)
    return OpCase(
        op,
        [integer(rng, shape, 0, classes + start)],
        (*shape, classes),
        {"start": start},
        suffix=attributes(start=start),
    )


def one_hot_index(rng: random.Random, op: str) -> OpCase:
    """Rows with a single 1, with several and with none."""
    shape = draw_shape(rng, 1)
    values = [rng.choice([0.0, 0.0, 1.0, 0.5, -1.0]) for _ in range(count(shape))]
    return OpCase(op, [Operand(shape, values)], shape[:-1], element="i64")


def descending_rank(rng: random.Random, op: str) -> OpCase:
    """Ranks of scores, some of them equal, among all or among eligible ones."""
    shape = draw_shape(rng, 1)
    operands = [rng.choice([real, with_ties])(rng, shape)]
    if rng.random() < 0.5:
        eligible = [rng.choice([0.0, 1.0, 1.0, 0.5]) for _ in range(count(shape))]
        operands.append(Operand(shape, eligible))
    return OpCase(op, operands, shape, element="i64")


def embedding(rng: random.Random, op: str) -> OpCase:
    """Rows of a part of a table."""
    shape, (rows, width) = draw_shape(rng, 1, 2), draw_shape(rng, 2, 2)
    start = rng.randint(0, 2)
    operands = [integer(rng, shape, 0, rows + start), real(rng, (rows, width))]
    text = attributes(start=start)
    return OpCase(op, operands, (*shape, width), {"start": start}, suffix=text)


def causal_mask(rng: random.Random, op: str) -> OpCase:
    """A function of positions alone."""
    return OpCase(op, [], (*draw_shape(rng, 0, 1), *draw_shape(rng, 2, 2)), element=EXTENDED)


def complex_product(rng: random.Random, op: str) -> OpCase:
    """Pairs times factors that depend on one dimension's position."""
    shape = draw_shape(rng, 1, 3)
    pairs, position = rng.randint(1, 3), rng.randrange(len(shape))
    operands = [real(rng, (*shape, 2 * pairs)), real(rng, (shape[position], pairs, 2))]
    values = {"position_dimension": position}
    return OpCase(op, operands, (*shape, 2 * pairs), values, suffix=attributes(**values))


GENERATORS: dict[str, Generator] = {
    **dict.fromkeys(["tv.add", "tv.subtract", "tv.multiply", "tv.divide"], binary),
    **dict.fromkeys(["tv.negate", "tv.exp", "tv.rsqrt", "tv.tanh", "tv.silu"], unary),
    **dict.fromkeys(["tv.erf", "tv.erf_derivative", "tv.gelu", "tv.copy", "tv.detach"], unary),
    **dict.fromkeys(["tv.sigmoid", "tv.sqrt", "tv.log", "tv.sin", "tv.cos"], unary),
    "tv.to_real": to_real,
    "tv.select": select,
    "tv.iota": iota,
    **dict.fromkeys(["tv.maximum", "tv.minimum", "tv.compare"], with_order),
    **dict.fromkeys(["tv.relu", "tv.abs", "tv.sign"], with_kink),
    "tv.power": power,
    "tv.constant": constant,
    "tv.linear": linear,
    "tv.matmul": matmul,
    "tv.einsum": einsum,
    "tv.reduce": reduce,
    **dict.fromkeys(["tv.softmax", "tv.cumulative_sum"], along),
    "tv.lower_triangle": lower_triangle,
    "tv.layer_norm": layer_norm,
    "tv.reshape": reshape,
    "tv.transpose": transpose,
    "tv.slice": slice_,
    "tv.pad": pad,
    "tv.concat": concat,
    "tv.broadcast": broadcast,
    "tv.one_hot": one_hot,
    "tv.one_hot_index": one_hot_index,
    "tv.descending_rank": descending_rank,
    "tv.embedding": embedding,
    "tv.causal_mask": causal_mask,
    "tv.complex_product": complex_product,
}
