# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random tensors for the checks of ops."""

import random
from dataclasses import dataclass
from typing import Any

Shape = tuple[int, ...]
EXTENDED = "!tv.extended<f64>"
MINUS_INFINITY = float("-inf")


@dataclass(frozen=True)
class Operand:
    """A tensor with its elements in row-major order."""

    shape: Shape
    values: list[float]
    element: str = "f64"
    differentiable: bool = True

    @property
    def type(self) -> str:
        """Its type in the text of a program."""
        return tensor(self.shape, self.element)


def tensor(shape: Shape, element: str = "f64") -> str:
    """`tensor<2x3xf64>`."""
    return f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"


def count(shape: Shape) -> int:
    """The number of elements."""
    product = 1
    for size in shape:
        product *= size
    return product


def draw_shape(rng: random.Random, least: int = 0, most: int = 3) -> Shape:
    """A shape of small sizes."""
    return tuple(rng.randint(1, 4) for _ in range(rng.randint(least, most)))


def real(rng: random.Random, shape: Shape, least: float = -2, most: float = 2) -> Operand:
    """A tensor of real numbers."""
    return Operand(shape, [rng.uniform(least, most) for _ in range(count(shape))])


def positive(rng: random.Random, shape: Shape) -> Operand:
    """A tensor of numbers that are not close to 0."""
    return real(rng, shape, 0.5, 3)


def integer(rng: random.Random, shape: Shape, least: int, most: int) -> Operand:
    """A tensor of integers from `least` to `most`."""
    values = [float(rng.randint(least, most)) for _ in range(count(shape))]
    return Operand(shape, values, "i64", differentiable=False)


def boolean(rng: random.Random, shape: Shape) -> Operand:
    """A tensor of truth values."""
    values = [float(rng.randint(0, 1)) for _ in range(count(shape))]
    return Operand(shape, values, "i1", differentiable=False)


def with_ties(rng: random.Random, shape: Shape) -> Operand:
    """A tensor of few different numbers, of which 0 is one."""
    return Operand(shape, [rng.choice([-1.5, -0.5, 0.0, 0.5, 2.0]) for _ in range(count(shape))])


def extended(rng: random.Random, shape: Shape) -> Operand:
    """A tensor that holds minus infinity here and there."""
    values = [
        MINUS_INFINITY if rng.random() < 0.3 else rng.uniform(-2, 2) for _ in range(count(shape))
    ]
    return Operand(shape, values, EXTENDED, differentiable=False)


def broadcast_pair(rng: random.Random) -> tuple[Shape, Shape, Shape]:
    """Two shapes that broadcast, and what they broadcast to."""
    whole = draw_shape(rng, 1)
    left = tuple(1 if rng.random() < 0.3 else size for size in whole)
    right = tuple(
        size if one == 1 or rng.random() < 0.7 else 1 for size, one in zip(whole, left, strict=True)
    )
    whole = tuple(max(pair) for pair in zip(left, right, strict=True))
    start = rng.randint(0, len(whole))
    if all(size == 1 for size in right[:start]):
        right = right[start:]
    if rng.random() < 0.5:
        left, right = right, left
    return left, right, whole


def attributes(**values: Any) -> str:
    """Attributes as text: integers, lists of integers and others as they are."""

    def one(value: Any) -> str:
        if isinstance(value, list):
            return f"array<i64: {', '.join(map(str, value))}>" if value else "array<i64>"
        return f"{value} : i64" if isinstance(value, int) else str(value)

    return "{" + ", ".join(f"{name} = {one(value)}" for name, value in values.items()) + "}"
