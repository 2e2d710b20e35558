# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""nnScaler's partition rules: which dimensions of an op's operands and results
belong together, and what splitting them does.

`'* k+, n k+ -> * n'` (linear) reads: the operands are `* k` and `n k`, the result
is `* n`; equal names are one *factor*, an independent size. `*` stands for any
leading dimensions, `(a b)` for a dimension made of two factors, a number for a
size, `?` for an operand that is not a tensor. A factor with `+` may be split and
leaves a sum to be done, a factor with `^` may not be split, any other may be split
wherever it occurs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

SUM, WHOLE, PLAIN = "+", "^", ""


@dataclass(frozen=True)
class Factor:
    """A factor or, if `size` is given, a number; `kind` is SUM, WHOLE or PLAIN."""

    name: str
    kind: str = PLAIN
    size: int | None = None


Dimension: TypeAlias = tuple[Factor, ...]
"""The factors of a dimension, major first."""


@dataclass(frozen=True)
class Rule:
    """The dimensions of every operand and result; None for a non-tensor."""

    text: str
    operands: tuple[tuple[Dimension, ...] | None, ...]
    results: tuple[tuple[Dimension, ...], ...]

    def factor_at(self, operand: int, dimension: int) -> Factor:
        """The factor that is split when `operand` is split along `dimension`."""
        dimensions = self.operands[operand]
        if dimensions is None:
            raise ValueError(f"'{self.text}': operand {operand} is not a tensor")
        return dimensions[dimension][0]

    def factors(self) -> tuple[Factor, ...]:
        """All factors, in order of appearance, repetitions included."""
        shapes = [*(shape for shape in self.operands if shape is not None), *self.results]
        return tuple(factor for shape in shapes for dimension in shape for factor in dimension)


def parse(text: str, ranks: Sequence[int | None]) -> Rule:
    """Reads `text` for operands of the given ranks (None: not a tensor)."""
    left, right = (side.split(",") if side.strip() else [] for side in text.split("->"))
    if len(left) != len(ranks):
        raise ValueError(f"'{text}' has {len(left)} operands, not {len(ranks)}")
    leading = [
        rank - (len(_words(shape)) - 1)
        for shape, rank in zip(left, ranks, strict=True)
        if rank is not None and "*" in _words(shape)
    ]
    star_rank = max(leading, default=0)
    operands = tuple(
        None if rank is None else _parse_shape(shape, star_rank)
        for shape, rank in zip(left, ranks, strict=True)
    )
    for shape, rank in zip(operands, ranks, strict=True):
        if shape is not None and len(shape) != rank:
            raise ValueError(f"'{text}' does not fit operands of ranks {tuple(ranks)}")
    return Rule(text, operands, tuple(_parse_shape(shape, star_rank) for shape in right))


def result_shapes(
    rule: Rule,
    operand_shapes: Sequence[tuple[int, ...] | None],
    known: Mapping[str, int] | None = None,
) -> tuple[tuple[int, ...], ...]:
    """The shapes of the results; raises ValueError if two operands disagree.

    `known` gives the sizes of factors that no operand has alone: a keyword
    argument with the name of a factor is its size.
    """
    sizes = dict(known or {})
    for dimensions, shape in zip(rule.operands, operand_shapes, strict=True):
        if dimensions is None or shape is None:
            continue
        for dimension, size in zip(dimensions, shape, strict=True):
            _bind(rule, dimension, size, sizes)
    return tuple(
        tuple(math.prod(_size(factor, sizes) for factor in dimension) for dimension in shape)
        for shape in rule.results
    )


def _words(shape: str) -> list[str]:
    words: list[str] = []
    depth = 0
    for word in shape.split():
        if depth:
            words[-1] += " " + word
        else:
            words.append(word)
        depth += word.count("(") - word.count(")")
    return words


def _parse_shape(shape: str, star_rank: int) -> tuple[Dimension, ...]:
    dimensions: list[Dimension] = []
    for word in _words(shape):
        if word == "*":
            dimensions += [(Factor(f"*{index}"),) for index in range(star_rank)]
        else:
            dimensions.append(tuple(_parse_factor(name) for name in word.strip("()").split()))
    return tuple(dimensions)


def _parse_factor(word: str) -> Factor:
    name = word.rstrip(SUM + WHOLE)
    kind = word[len(name) :]
    return Factor(name, kind, int(name) if name.isdigit() else None)


def _bind(rule: Rule, dimension: Dimension, size: int, sizes: dict[str, int]) -> None:
    unknown = [factor for factor in dimension if factor.size is None and factor.name not in sizes]
    known = math.prod(_size(factor, sizes) for factor in dimension if factor not in unknown)
    if len(unknown) > 1 or size % known or (not unknown and size != known):
        raise ValueError(f"'{rule.text}': a dimension of size {size} does not fit")
    if unknown:
        sizes[unknown[0].name] = size // known


def _size(factor: Factor, sizes: dict[str, int]) -> int:
    return sizes[factor.name] if factor.size is None else factor.size
