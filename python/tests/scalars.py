# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Numbers that remember how they were computed, for derivatives.

A function written for plain floats takes `Variable`s as well; `pull_back` then
brings the derivative of its results back to what it was computed from.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import TypeAlias


class Variable:
    """A value, and the derivatives by the variables it was computed from."""

    __slots__ = ("gradient", "parents", "value")

    def __init__(self, value: float, parents: tuple[tuple[Variable, float], ...] = ()) -> None:
        self.value = value
        self.parents = parents
        self.gradient = 0.0

    def __add__(self, other: Number) -> Variable:
        if isinstance(other, Variable):
            return Variable(self.value + other.value, ((self, 1.0), (other, 1.0)))
        return Variable(self.value + other, ((self, 1.0),))

    def __mul__(self, other: Number) -> Variable:
        if isinstance(other, Variable):
            parents = (self, other.value), (other, self.value)
            return Variable(self.value * other.value, parents)
        return Variable(self.value * other, ((self, other),))

    def __pow__(self, exponent: float) -> Variable:
        slope = exponent * self.value ** (exponent - 1)
        return Variable(self.value**exponent, ((self, slope),))

    __radd__ = __add__
    __rmul__ = __mul__


Number: TypeAlias = float | Variable


def value_of(number: Number) -> float:
    """The number without its history."""
    return number.value if isinstance(number, Variable) else number


def apply(function: Callable[[float], float], slope: Callable[[float], float], x: Number) -> Number:
    """`function` of x; `slope` is its derivative."""
    if isinstance(x, Variable):
        return Variable(function(x.value), ((x, slope(x.value)),))
    return function(x)


def exp(x: Number) -> Number:
    """The exponential function."""
    return apply(math.exp, math.exp, x)


def normal_distribution(x: Number) -> Number:
    """The standard normal distribution up to x."""

    def density(at: float) -> float:
        return math.exp(-at * at / 2) / math.sqrt(2 * math.pi)

    return apply(lambda at: (1 + math.erf(at / math.sqrt(2))) / 2, density, x)


def dot(xs: Sequence[Number], ys: Sequence[Number]) -> Number:
    """The sum of products."""
    left, right = [value_of(x) for x in xs], [value_of(y) for y in ys]
    value = sum(map(operator.mul, left, right))
    parents = [(x, y) for x, y in zip(xs, right, strict=True) if isinstance(x, Variable)]
    parents += [(y, x) for x, y in zip(left, ys, strict=True) if isinstance(y, Variable)]
    return Variable(value, tuple(parents)) if parents else value


def total(xs: Sequence[Number]) -> Number:
    """The sum."""
    return dot(xs, [1.0] * len(xs))


def pull_back(results: Sequence[Number], gradients: Sequence[float]) -> None:
    """Adds to the `gradient` of each variable that `results` depend on."""
    order: list[Variable] = []
    seen: set[int] = set()
    for result in results:
        stack = [(result, False)] if isinstance(result, Variable) else []
        while stack:
            variable, is_done = stack.pop()
            if is_done:
                order.append(variable)
            elif id(variable) not in seen:
                seen.add(id(variable))
                stack.append((variable, True))
                stack += [(parent, False) for parent, _ in variable.parents]
    for result, gradient in zip(results, gradients, strict=True):
        if isinstance(result, Variable):
            result.gradient += gradient
    for variable in reversed(order):
        for parent, slope in variable.parents:
            parent.gradient += variable.gradient * slope
