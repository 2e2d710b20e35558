# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A `tv.graph` under construction: the reference and the plan, side by side.

Ops have names, by which diagnostics speak of them. Each name is a line of `step.py`, a
file that does not exist, in the order in which names occur first.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from random import Random

from step_maker.lineage import Lineage, print_lineage

Shape = tuple[int, ...]
# Coordinates, or ranges of them, by axis; an axis that is not named is free.
Domain = Mapping[str, int | tuple[int, int]]
# What a constant may be given as.
Number = int | float | Fraction


class ImpossibleStepError(ValueError):
    """What was asked for does not exist; the message says why."""


@dataclass(frozen=True)
class Tensor:
    """A value of the graph."""

    name: str
    shape: Shape
    element: str = "f32"
    # The name of the op that gives it.
    op: str = ""

    @property
    def type(self) -> str:
        """`tensor<5x7xf32>`."""
        return f"tensor<{''.join(f'{n}x' for n in self.shape)}{self.element}>"


def print_domain(domain: Domain) -> str:
    """`<device = 0:2, dp = 1>`."""

    def coordinates(at: int | tuple[int, int]) -> str:
        return str(at) if isinstance(at, int) else f"{at[0]}:{at[1]}"

    return f"<{', '.join(f'{axis} = {coordinates(domain[axis])}' for axis in sorted(domain))}>"


def print_number(value: Number) -> str:
    """A literal that MLIR reads: `1.0e-08`, not `1e-08`."""
    text = repr(float(value))
    return re.sub(r"^(-?\d+)e", r"\1.0e", text)


def whole(shape: Shape) -> Lineage:
    """The lineage of a value that is all of a tensor."""
    return tuple(((0, size, size),) for size in shape)


def part(shape: Shape, dimension: int, start: int, end: int) -> Lineage:
    """The lineage of a range of one dimension."""
    return tuple(
        ((start, end, size),) if number == dimension else ((0, size, size),)
        for number, size in enumerate(shape)
    )


class Graph:
    """The text of a graph, line by line."""

    def __init__(self, name: str, mesh: Mapping[str, int]) -> None:
        self.name = name
        self.mesh = mesh
        self.inputs: dict[str, Tensor] = {}
        # How to draw inputs that are not just any numbers, for executions.
        self.choices: dict[str, Callable[[Random], list[float]]] = {}
        self._lines: list[str] = []
        self._places: dict[str, int] = {}
        self._names = 0
        self._claims = 0

    def place(self, name: str) -> str:
        """Where diagnostics say that ops of this name are."""
        return f"step.py:{self._places[name]}:0"

    def input(
        self, name: str, shape: Shape, *, role: str = "input", element: str = "f32"
    ) -> Tensor:
        """A tensor that nobody computes."""
        result = self.inputs[name] = Tensor(self._fresh(name), shape, element, name)
        self._write(f'%{result.name} = tv.input <{role} "{name}"> : {result.type}', name)
        return result

    def draw_below(self, name: str, limit: int) -> None:
        """Executions draw an input from the integers below a limit."""
        count = prod(self.inputs[name].shape)
        self.choices[name] = lambda random: [random.randrange(limit) for _ in range(count)]

    def reference(self) -> "Side":
        """Where ops of the program for one device go."""
        return Side(self, None)

    def on(self, domain: Domain) -> "Side":
        """Where ops of the plan on these coordinates go."""
        return Side(self, domain)

    def distribute(self, reference: Tensor, lineage: Lineage, domain: Domain) -> Tensor:
        """What devices hold of an input, by contract."""
        shape = tuple(
            prod(end - start for start, end, _ in (f for f in factors if not isinstance(f, str)))
            for factors in lineage
        )
        name = f"held {reference.op}"
        result = Tensor(self._fresh(name), shape, reference.element, name)
        self._write(
            f"%{result.name} = tv.distribute %{reference.name} {print_lineage(lineage)} "
            f"on {print_domain(domain)} : ({reference.type}) -> {result.type}",
            name,
        )
        return result

    def expect(
        self,
        value: Tensor,
        reference: Tensor,
        lineage: Lineage,
        domain: Domain,
        claim: tuple[str, str] | None = None,
        sum_over: tuple[str, ...] = (),
    ) -> None:
        """A claim: a result of the step with its role and name, or a lemma.

        It is where the value is.
        """
        contract = f' contract <{claim[0]} "{claim[1]}">' if claim else ""
        number = f" number {self._claims}"
        self._claims += 1
        self._write(
            f"tv.expect %{value.name} is %{reference.name} {print_lineage(lineage, sum_over)} "
            f"on {print_domain(domain)}{number}{contract} : {value.type} is {reference.type}",
            value.op,
        )

    def op(
        self,
        name: str,
        text: str,
        operands: Sequence[Tensor],
        result: tuple[Shape, str],
        domain: Domain | None,
        attributes: str = "",
    ) -> Tensor:
        """Adds an op with one result; `text` names it and what is no attribute."""
        value = Tensor(self._fresh(name), *result, name)
        where = "" if domain is None else f" on {print_domain(domain)}"
        types = ", ".join(operand.type for operand in operands)
        braces = f" {{{attributes}}}" if attributes else ""
        self._write(f"%{value.name} = {text}{where}{braces} : ({types}) -> {value.type}", name)
        return value

    def print(self) -> str:
        """The graph as MLIR."""
        mesh = ", ".join(f"{axis} = {size}" for axis, size in self.mesh.items())
        lines = "\n".join(f"  {line}" for line in self._lines)
        return f"tv.graph @{self.name} <{mesh}> {{\n{lines}\n}}\n"

    def _fresh(self, name: str) -> str:
        self._names += 1
        stem = re.sub(r"_\d+$", "", re.sub(r"\W", "_", name))
        return f"{stem}_{self._names}"

    def _write(self, line: str, name: str = "") -> None:
        if name:
            number = self._places.setdefault(name, len(self._places) + 1)
            line += f' loc("{name}"("step.py":{number}:0))'
        self._lines.append(line)


def broadcast_shapes(left: Shape, right: Shape) -> Shape:
    """The shape of an elementwise result."""
    length = max(len(left), len(right))
    pairs = zip(
        (1,) * (length - len(left)) + left, (1,) * (length - len(right)) + right, strict=True
    )
    return tuple(max(pair) for pair in pairs)


def print_ints(numbers: Sequence[int]) -> str:
    """`array<i64: 0, 1>`."""
    return f"array<i64: {', '.join(map(str, numbers))}>" if numbers else "array<i64>"


class Side:
    """Writes ops of the reference, or of the plan on some coordinates."""

    def __init__(self, graph: Graph, domain: Domain | None) -> None:
        self.graph = graph
        self.domain = domain

    def _op(
        self,
        name: str,
        op: str,
        operands: Sequence[Tensor],
        shape: Shape,
        attributes: str = "",
        element: str = "",
        suffix: str = "",
    ) -> Tensor:
        names = ", ".join(f"%{operand.name}" for operand in operands)
        text = f"tv.{op} {names}".rstrip() + suffix
        element = element or operands[0].element
        return self.graph.op(name, text, operands, (shape, element), self.domain, attributes)

    # ---- Elementwise ----

    def constant(self, value: Number, name: str = "constant") -> Tensor:
        """A number."""
        literal = f"constant dense<{print_number(value)}> : tensor<f64>"
        return self._op(name, literal, [], (), element="f32")

    def add(self, left: Tensor, right: Tensor, name: str) -> Tensor:
        """`left + right`."""
        return self._binary("add", left, right, name)

    def subtract(self, left: Tensor, right: Tensor, name: str) -> Tensor:
        """`left - right`."""
        return self._binary("subtract", left, right, name)

    def multiply(self, left: Tensor, right: Tensor, name: str) -> Tensor:
        """`left * right`."""
        return self._binary("multiply", left, right, name)

    def divide(self, left: Tensor, right: Tensor, name: str) -> Tensor:
        """`left / right`."""
        return self._binary("divide", left, right, name)

    def maximum(self, left: Tensor, right: Tensor, name: str) -> Tensor:
        """The greater of both."""
        return self._binary("maximum", left, right, name)

    def minimum(self, left: Tensor, right: Tensor, name: str) -> Tensor:
        """The less of both."""
        return self._binary("minimum", left, right, name)

    def compare(self, kind: str, left: Tensor, right: Tensor, name: str) -> Tensor:
        """1 where a comparison of data holds, else 0."""
        shape = broadcast_shapes(left.shape, right.shape)
        return self._op(name, f"compare {kind}", [left, right], shape, element="f32")

    def scale(self, value: Tensor, factor: Number, name: str) -> Tensor:
        """A number times the value."""
        return self.multiply(value, self.constant(factor, name), name)

    def unary(self, op: str, value: Tensor, name: str) -> Tensor:
        """A function of each element: `exp`, `log`, `sqrt`, `tanh`, `negate`."""
        element = "f32" if op == "exp" else value.element
        return self._op(name, op, [value], value.shape, element=element)

    def square(self, value: Tensor, name: str) -> Tensor:
        """The square of each element."""
        return self._op(name, "power", [value], value.shape, "numerator = 2 : i64")

    def _binary(self, op: str, left: Tensor, right: Tensor, name: str) -> Tensor:
        element = left.element if "extended" in left.element else right.element
        element = left.element if right.element == "f32" else element
        shape = broadcast_shapes(left.shape, right.shape)
        return self._op(name, op, [left, right], shape, element=element)

    # ---- Sums, shapes and indices ----

    def einsum(self, equation: str, operands: Sequence[Tensor], name: str) -> Tensor:
        """Sum of products over labelled dimensions."""
        inputs, result = equation.split("->")
        sizes: dict[str, int] = {}
        for labels, operand in zip(inputs.split(","), operands, strict=True):
            sizes.update(zip(labels, operand.shape, strict=True))
        shape = tuple(sizes[label] for label in result)
        return self._op(name, "einsum", operands, shape, f'equation = "{equation}"')

    def reduce(
        self, kind: str, value: Tensor, dimensions: Sequence[int], name: str, *, keep: bool = False
    ) -> Tensor:
        """A sum or maximum along dimensions."""
        shape = tuple(
            1 if number in dimensions else size
            for number, size in enumerate(value.shape)
            if keep or number not in dimensions
        )
        attributes = f"dimensions = {print_ints(dimensions)}"
        suffix = " keep" if keep else ""
        return self._op(name, f"reduce {kind}", [value], shape, attributes, suffix=suffix)

    def reshape(self, value: Tensor, shape: Shape, name: str) -> Tensor:
        """The same elements in another shape."""
        return self._op(name, "reshape", [value], shape)

    def transpose(self, value: Tensor, permutation: Sequence[int], name: str) -> Tensor:
        """Other order of dimensions."""
        shape = tuple(value.shape[number] for number in permutation)
        return self._op(
            name, "transpose", [value], shape, f"permutation = {print_ints(permutation)}"
        )

    def slice(self, value: Tensor, dimension: int, start: int, end: int, name: str) -> Tensor:
        """A range of one dimension."""
        shape = (*value.shape[:dimension], end - start, *value.shape[dimension + 1 :])
        attributes = f"dimension = {dimension} : i64, start = {start} : i64, end = {end} : i64"
        return self._op(name, "slice", [value], shape, attributes)

    def concat(self, values: Sequence[Tensor], dimension: int, name: str) -> Tensor:
        """Tensors one after the other."""
        return self._joined("concat", values, dimension, name)

    def one_hot(self, value: Tensor, start: int, size: int, name: str) -> Tensor:
        """1 at the position that an integer names, counted from `start`, else 0."""
        shape = (*value.shape, size)
        return self._op(name, "one_hot", [value], shape, f"start = {start} : i64", element="f32")

    def causal_mask(self, shape: Shape, name: str) -> Tensor:
        """0 where a query may see a key, else minus infinity."""
        return self._op(name, "causal_mask", [], shape, element="!tv.extended<f32>")

    # ---- Communication ----

    def all_reduce(
        self, values: Sequence[Tensor], axes: Sequence[str], name: str, kind: str = ""
    ) -> Tensor:
        """The sum of values, each summed over axes; or their average or maximum."""
        by = f" by {kind}" if kind else ""
        over = ", ".join(f'"{axis}"' for axis in axes)
        return self._op(name, "all_reduce", values, values[0].shape, suffix=f"{by} over [{over}]")

    def all_gather(self, values: Sequence[Tensor], dimension: int, name: str) -> Tensor:
        """Values of devices one after the other."""
        return self._joined("all_gather", values, dimension, name)

    def move(self, value: Tensor, source: Domain, name: str) -> Tensor:
        """The value that other coordinates have."""
        return self._op(name, "move", [value], value.shape, suffix=f" from {print_domain(source)}")

    def accumulate(self, value: Tensor, axis: str, start: int, end: int, name: str) -> Tensor:
        """The sum over coordinates of an axis, as a gradient buffer collects it."""
        return self._op(
            name, "accumulate", [value], value.shape, suffix=f" over <{axis} = {start}:{end}>"
        )

    def _joined(self, op: str, values: Sequence[Tensor], dimension: int, name: str) -> Tensor:
        first = values[0].shape
        size = sum(value.shape[dimension] for value in values)
        shape = (*first[:dimension], size, *first[dimension + 1 :])
        return self._op(name, op, values, shape, f"dimension = {dimension} : i64")
