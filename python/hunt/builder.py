# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes a program and a plan of it side by side.

Every dimension is a product of factors; `p` and `m` are as long as the mesh axes
`dp` and `mb`, which may divide them. Two devices may divide one more dimension, at
any place.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import prod
from random import Random

from hunt.programs import Expect, Node
from step_maker.lineage import Factor, Lineage

AXIS_OF = {"p": "dp", "m": "mb"}
LIMIT = 400

Dimension = tuple[str, ...]


@dataclass(frozen=True)
class Cut:
    """The devices hold the elements of a dimension before and after `at`."""

    dimension: int
    at: int


@dataclass(frozen=True)
class Value:
    """A tensor of the reference and the values of the plan that hold it."""

    reference: str
    parts: tuple[str, ...]
    dimensions: tuple[Dimension, ...]
    sharded: frozenset[str] = frozenset()
    # Axes over which the parts have to be summed.
    pending: frozenset[str] = frozenset()
    # How two devices divide the tensor; None with two parts: they are summed.
    cut: Cut | None = None

    def is_whole(self) -> bool:
        """No sum is pending."""
        return not self.pending and (len(self.parts) == 1 or self.cut is not None)

    def same_layout(self, other: "Value") -> bool:
        """Elements lie at the same places."""
        return (
            self.dimensions == other.dimensions
            and self.sharded == other.sharded
            and self.cut == other.cut
            and len(self.parts) == len(other.parts)
        )


class Builder:
    """Makes a program, one op of the reference and its plan at a time."""

    def __init__(self, random: Random, size: int) -> None:
        self.random = random
        self.size = size
        dp, mb = random.choice([2, 3, size]), random.choice([1, 1, 1, 2, 3, size])
        mb = 2 if dp * mb > 24 else mb
        self.mesh = {"dp": dp, "mb": mb}
        self.extents = {"a": size, "b": size, "c": 2, "p": dp, "m": mb}
        self.nodes: list[Node] = []
        self.table: dict[str, Node] = {}

    # ---- Ops ----

    def emit(
        self,
        op: str,
        operands: tuple[str, ...],
        shape: tuple[int, ...],
        domain: str | None,
        **fields: object,
    ) -> str:
        """Adds an op and returns its name."""
        node = Node(f"v{len(self.nodes)}", op, operands, shape, domain)
        node = replace(node, **fields)  # type: ignore[arg-type]
        self.nodes.append(node)
        self.table[node.name] = node
        return node.name

    def domain_of(self, value: Value, part: int) -> str:
        """The devices that hold a part."""
        return str(part) if len(value.parts) == 2 else "0:2"

    def extent(self, dimension: Dimension) -> int:
        """The size of a dimension."""
        return prod(self.extents[factor] for factor in dimension)

    def shape(self, dimensions: tuple[Dimension, ...]) -> tuple[int, ...]:
        """The shape in the reference."""
        return tuple(map(self.extent, dimensions))

    def local_extent(self, value: Value, part: int, number: int) -> int:
        """The size of a dimension in a part."""
        if value.cut and value.cut.dimension == number:
            whole = self.extent(value.dimensions[number])
            return value.cut.at if part == 0 else whole - value.cut.at
        return prod(
            self.extents[factor]
            for factor in value.dimensions[number]
            if AXIS_OF.get(factor) not in value.sharded
        )

    def local_shape(self, value: Value, part: int) -> tuple[int, ...]:
        """The shape of a part."""
        return tuple(
            self.local_extent(value, part, number) for number in range(len(value.dimensions))
        )

    def lineage(self, value: Value, part: int) -> Lineage:
        """Which elements a part holds."""
        result: list[tuple[Factor, ...]] = []
        for number, dimension in enumerate(value.dimensions):
            if value.cut and value.cut.dimension == number:
                whole = self.extent(dimension)
                at = value.cut.at
                result.append((((0, at, whole) if part == 0 else (at, whole, whole)),))
                continue
            factors: list[Factor] = []
            for factor in dimension:
                axis = AXIS_OF.get(factor)
                if axis in value.sharded:
                    factors.append(str(axis))
                elif factors and not isinstance(factors[-1], str):
                    extent = factors[-1][2] * self.extents[factor]
                    factors[-1] = (0, extent, extent)
                else:
                    factors.append((0, self.extents[factor], self.extents[factor]))
            result.append(tuple(factors))
        return tuple(result)

    def both(
        self, value: Value, new: Value, make: Callable[[tuple[int, ...], str | None, str], str]
    ) -> Value:
        """The op that `make` makes, in the reference and in each part."""
        reference = make(self.shape(new.dimensions), None, value.reference)
        new = replace(new, parts=value.parts)
        parts = tuple(
            make(self.local_shape(new, i), self.domain_of(value, i), part)
            for i, part in enumerate(value.parts)
        )
        return replace(new, reference=reference, parts=parts)

    def argument(self, dimensions: tuple[Dimension, ...] | None = None) -> Value:
        """A new argument, divided in some way."""
        random = self.random
        if dimensions is None:
            choices = ["a", "b", "a", "c"]
            rank = random.choice([1, 2, 2, 2, 3])
            chosen: list[Dimension] = []
            for _ in range(rank):
                dimension = [random.choice(choices)]
                if random.random() < 0.3 and self.mesh["dp"] * len(chosen) < 20:
                    dimension.insert(random.randint(0, 1), "p")
                if random.random() < 0.2 and self.mesh["mb"] > 1:
                    dimension.insert(random.randint(0, len(dimension)), "m")
                chosen.append(tuple(dimension))
            dimensions = tuple(chosen)
        while prod(self.shape(dimensions)) > LIMIT and len(dimensions) > 1:
            dimensions = dimensions[1:]
        if prod(self.shape(dimensions)) > LIMIT:
            dimensions = (("a",),)
        reference = self.emit("argument", (), self.shape(dimensions), None)
        return self.distribute(reference, dimensions)

    def distribute(self, reference: str, dimensions: tuple[Dimension, ...]) -> Value:
        """A tensor of the reference, divided in some way."""
        random = self.random
        factors = [factor for dimension in dimensions for factor in dimension]
        sharded = frozenset(
            axis
            for factor, axis in AXIS_OF.items()
            if factors.count(factor) == 1 and random.random() < 0.8
        )
        cut = None
        if random.random() < 0.3:
            free = [
                i
                for i, dimension in enumerate(dimensions)
                if self.extent(dimension) > 1
                and not any(AXIS_OF.get(factor) in sharded for factor in dimension)
            ]
            if free:
                chosen = random.choice(free)
                at = random.choice([1, 2, self.extent(dimensions[chosen]) - 1])
                cut = Cut(chosen, min(at, self.extent(dimensions[chosen]) - 1))
        value = Value(reference, ("", "") if cut else ("",), dimensions, sharded, cut=cut)
        parts = tuple(
            self.emit(
                "distribute",
                (reference,),
                self.local_shape(value, i),
                self.domain_of(value, i),
                lineage=self.lineage(value, i),
                element=self.table[reference].element,
            )
            for i in range(len(value.parts))
        )
        return replace(value, parts=parts)

    def expects(self, x: Value) -> tuple[Expect, ...]:
        """What the plan's values of a tensor should be."""
        axes = tuple(axis for axis in ("dp", "mb") if axis in x.pending)
        if x.cut:
            return tuple(
                Expect((part,), x.reference, self.lineage(x, i), axes, str(i))
                for i, part in enumerate(x.parts)
            )
        return (Expect(x.parts, x.reference, self.lineage(x, 0), axes, "0:2"),)
