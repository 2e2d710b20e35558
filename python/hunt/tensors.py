# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensors of numbers: what the ops of a graph compute, written down a second time.

Numbers are exact (int, Fraction) until a function makes them floats.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

Number = int | float | Fraction
Index = tuple[int, ...]
Shape = tuple[int, ...]


class UndefinedError(Exception):
    """The program has no value at this input."""


def indices(shape: Shape) -> Iterator[Index]:
    """All indices, in row-major order."""
    return product(*map(range, shape))


@dataclass(frozen=True)
class Tensor:
    """A shape, and the elements in row-major order."""

    shape: Shape
    data: list[Number]

    def __getitem__(self, index: Index) -> Number:
        position = 0
        for size, at in zip(self.shape, index, strict=True):
            position = position * size + at
        return self.data[position]


def build(shape: Shape, element: Callable[[Index], Number]) -> Tensor:
    """The tensor with these elements."""
    return Tensor(shape, [element(index) for index in indices(shape)])


def elementwise(function: Callable[..., Number], *operands: Tensor) -> Tensor:
    """The function of each element."""
    data = [function(*xs) for xs in zip(*(x.data for x in operands), strict=True)]
    return Tensor(operands[0].shape, data)


def divide(x: Number, y: Number) -> Number:
    """An exact quotient of exact numbers."""
    if y == 0:
        raise UndefinedError
    if isinstance(x, float) or isinstance(y, float):
        return x / y
    return Fraction(x) / Fraction(y)


def power(x: Number, numerator: int, denominator: int = 1) -> Number:
    """A power with a rational exponent."""
    if denominator == 1 and numerator >= 0:
        result: Number = 1
        for _ in range(numerator):
            result *= x
        return result
    if denominator == 1:
        return divide(1, power(x, -numerator))
    if x <= 0:
        raise UndefinedError
    return math.pow(x, numerator / denominator)


def rsqrt(x: Number) -> Number:
    """`1 / sqrt(x)`."""
    return power(x, -1, 2)


def silu(x: Number) -> Number:
    """`x / (1 + exp(-x))`."""
    return x / (1 + math.exp(-x))


def gelu(x: Number) -> Number:
    """`x` times the normal distribution function of `x`."""
    return x * (1 + math.erf(x / math.sqrt(2))) / 2


def exp(x: Number) -> Number:
    """The exponential, 0 of minus infinity."""
    return math.exp(x) if x > -math.inf else 0


def log(x: Number) -> Number:
    """The natural logarithm."""
    if x <= 0:
        raise UndefinedError
    return math.log(x)


UNARY: dict[str, Callable[[Number], Number]] = {
    "copy": lambda x: x,
    "negate": lambda x: -x,
    "exp": exp,
    "tanh": math.tanh,
    "erf": math.erf,
    "silu": silu,
    "gelu": gelu,
    "log": log,
    "rsqrt": rsqrt,
}
BINARY: dict[str, Callable[[Number, Number], Number]] = {
    "add": lambda x, y: x + y,
    "subtract": lambda x, y: x - y,
    "multiply": lambda x, y: x * y,
    "divide": divide,
}


def einsum(equation: str, *operands: Tensor) -> Tensor:
    """Sums of products over labelled dimensions."""
    inputs, output = equation.split("->")
    labels = inputs.split(",")
    sizes: dict[str, int] = {}
    for label, operand in zip(labels, operands, strict=True):
        sizes.update(zip(label, operand.shape, strict=True))
    summed = sorted(set(sizes) - set(output))

    def element(index: Index) -> Number:
        total: Number = 0
        for rest in indices(tuple(sizes[name] for name in summed)):
            at = dict(zip(output, index, strict=True)) | dict(zip(summed, rest, strict=True))
            term: Number = 1
            for label, operand in zip(labels, operands, strict=True):
                term *= operand[tuple(at[name] for name in label)]
            total += term
        return total

    return build(tuple(sizes[name] for name in output), element)


def reduce(kind: str, operand: Tensor, dimension: int) -> Tensor:
    """Sum, average or maximum along one dimension, which disappears."""
    size = operand.shape[dimension]

    def element(index: Index) -> Number:
        line = [operand[(*index[:dimension], i, *index[dimension:])] for i in range(size)]
        if kind == "maximum":
            return max(line)
        return divide(sum(line), size) if kind == "average" else sum(line)

    shape = operand.shape
    return build((*shape[:dimension], *shape[dimension + 1 :]), element)


def transpose(operand: Tensor, permutation: Sequence[int]) -> Tensor:
    """Dimension `i` of the result is dimension `permutation[i]`."""
    shape = tuple(operand.shape[i] for i in permutation)
    inverse = [permutation.index(i) for i in range(len(permutation))]
    return build(shape, lambda index: operand[tuple(index[i] for i in inverse)])


def cut(operand: Tensor, dimension: int, start: int, end: int) -> Tensor:
    """Elements `start` to `end` along a dimension."""
    shape = tuple(end - start if i == dimension else n for i, n in enumerate(operand.shape))
    return build(
        shape,
        lambda at: operand[tuple(x + start * (i == dimension) for i, x in enumerate(at))],
    )


def pad(operand: Tensor, dimension: int, low: int, high: int) -> Tensor:
    """Zeros before and after."""
    size = operand.shape[dimension]
    shape = tuple(n + (low + high) * (i == dimension) for i, n in enumerate(operand.shape))

    def element(index: Index) -> Number:
        at = index[dimension] - low
        inside = 0 <= at < size
        return operand[(*index[:dimension], at, *index[dimension + 1 :])] if inside else 0

    return build(shape, element)


def concat(operands: Sequence[Tensor], dimension: int) -> Tensor:
    """Tensors one after the other."""
    shape = tuple(
        sum(x.shape[i] for x in operands) if i == dimension else n
        for i, n in enumerate(operands[0].shape)
    )

    def element(index: Index) -> Number:
        at = index[dimension]
        for operand in operands:
            if at < operand.shape[dimension]:
                return operand[(*index[:dimension], at, *index[dimension + 1 :])]
            at -= operand.shape[dimension]
        raise IndexError

    return build(shape, element)


def broadcast(operand: Tensor, shape: Shape, dimensions: Sequence[int]) -> Tensor:
    """Dimension `i` of the operand is dimension `dimensions[i]` of the result."""
    return build(shape, lambda index: operand[tuple(index[i] for i in dimensions)])


def one_hot(operand: Tensor, size: int, start: int) -> Tensor:
    """1 where the last index, from `start` on, is the element."""
    return build(
        (*operand.shape, size), lambda index: int(operand[index[:-1]] == index[-1] + start)
    )


def compare(kind: str, operand: Tensor, literal: Tensor) -> Tensor:
    """1 where each element is equal to a number, or where it is not."""
    number = literal[()]
    return build(operand.shape, lambda index: int((operand[index] == number) == (kind == "equal")))


def causal_mask(shape: Shape) -> Tensor:
    """0 on and below the diagonal, minus infinity above."""
    return build(shape, lambda index: 0 if index[-1] <= index[-2] else -math.inf)


def is_close(x: Number, y: Number) -> bool:
    """Equality, up to rounding where floats were used."""
    if isinstance(x, float) or isinstance(y, float):
        if math.isnan(x) or math.isnan(y) or math.isinf(x) or math.isinf(y):
            raise UndefinedError
        a, b = float(x), float(y)
        return abs(a - b) <= 1e-7 * (1 + max(abs(a), abs(b)))
    return x == y
