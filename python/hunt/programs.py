# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Stages as data: printed as MLIR, and evaluated without it."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from random import Random

from hunt import tensors
from hunt.tensors import Number, Shape, Tensor, UndefinedError
from step_maker.lineage import Lineage, print_lineage

Coordinate = dict[str, int]
AXES = ("dp", "mb")
# Sums of larger floats may differ by more than what counts as equal.
ROUNDING_LIMIT = 1e6


@dataclass(frozen=True)
class Node:
    """An op with one result. `domain` is None on the side of the reference."""

    name: str
    op: str
    operands: tuple[str, ...]
    shape: Shape
    domain: str | None = None
    # Of the op: dimension, start, end, permutation, equation, value, kind, ...
    dimension: int = 0
    bounds: tuple[int, int] = (0, 0)
    numbers: tuple[int, ...] = ()
    text: str = ""
    value: Fraction = Fraction(0)
    lineage: Lineage = ()
    element: str = "f32"

    def type(self) -> str:
        """`tensor<5x7xf32>`."""
        return f"tensor<{''.join(f'{n}x' for n in self.shape)}{self.element}>"


@dataclass(frozen=True)
class Expect:
    """Plan values, summed, also over `axes`, are a part of a reference tensor."""

    values: tuple[str, ...]
    reference: str
    lineage: Lineage
    axes: tuple[str, ...]
    domain: str


@dataclass(frozen=True)
class Program:
    """A stage: arguments first, operands before their uses."""

    mesh: Mapping[str, int]
    nodes: tuple[Node, ...]
    expects: tuple[Expect, ...]
    # What was done to the plan, for tables.
    kind: str = "none"
    table: dict[str, Node] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        self.table.update({node.name: node for node in self.nodes})

    def with_nodes(self, nodes: list[Node]) -> "Program":
        """The program with other ops."""
        return replace(self, nodes=tuple(nodes), table={})


# ---- Text ----


def attributes(node: Node) -> str:
    """The op's attributes in braces."""
    start, end = node.bounds
    by_op = {
        "reduce": f"dimensions = array<i64: {node.dimension}>",
        "transpose": f"permutation = array<i64: {', '.join(map(str, node.numbers))}>",
        "broadcast": "dimensions = array<i64"
        + (f": {', '.join(map(str, node.numbers))}" if node.numbers else "")
        + ">",
        "slice": f"dimension = {node.dimension} : i64, start = {start} : i64, end = {end} : i64",
        "pad": f"dimension = {node.dimension} : i64, low = {start} : i64, high = {end} : i64",
        "concat": f"dimension = {node.dimension} : i64",
        "all_gather": f"dimension = {node.dimension} : i64",
        "power": f"numerator = {start} : i64, denominator = {end} : i64",
        "one_hot": f"start = {start} : i64",
        "einsum": f'equation = "{node.text}"',
    }
    return f" {{{by_op[node.op]}}}" if node.op in by_op else ""


def print_node(program: Program, node: Node) -> str:
    """One line of MLIR."""
    operands = ", ".join(f"%{name}" for name in node.operands)
    types = ", ".join(program.table[name].type() for name in node.operands)
    where = f" on <device = {node.domain}>" if node.domain is not None else ""
    head = f"tv.{node.op} {operands}"
    if node.op == "distribute":
        head += f" {print_lineage(node.lineage)}"
    elif node.op == "reduce":
        head = f"tv.reduce {node.text} {operands}"
    elif node.op == "constant":
        head = f"tv.constant dense<{float(node.value)!r}> : tensor<f64>"
    elif node.op == "literal":
        head = f"tv.constant dense<{int(node.value)}> : tensor<i64>"
    elif node.op == "compare":
        head = f"tv.compare {node.text} {operands}"
    elif node.op == "causal_mask":
        head = "tv.causal_mask"
    elif node.op == "all_reduce":
        axes = ", ".join(f'"{axis}"' for axis in node.text.split())
        head += f" over [{axes}]"
    elif node.op == "accumulate":
        head += f" over <{node.text} = {node.bounds[0]}:{node.bounds[1]}>"
    elif node.op == "move":
        head += f" from <{node.text} = {node.bounds[0]}>"
    return f"%{node.name} = {head}{where}{attributes(node)} : ({types}) -> {node.type()}"


def print_stage(program: Program, name: str) -> str:
    """The program as a `tv.stage`."""
    axes = {"dp": program.mesh["dp"], "device": 2, "mb": program.mesh["mb"]}
    mesh = ", ".join(f"{axis} = {size}" for axis, size in axes.items())
    arguments = [node for node in program.nodes if node.op == "argument"]
    signature = ", ".join(f"%{node.name}: {node.type()}" for node in arguments)
    lines = [f"tv.stage @{name} <{mesh}> expects array<i64: 0> ({signature}) {{"]
    computed = [node for node in program.nodes if node.op != "argument"]
    lines.extend(f"  {print_node(program, node)}" for node in computed)
    for expect in program.expects:
        values = ", ".join(f"%{value}" for value in expect.values)
        types = ", ".join(program.table[value].type() for value in expect.values)
        lineage = print_lineage(expect.lineage, expect.axes)
        lines.append(
            f"  tv.expect {values} is %{expect.reference} {lineage} on <device = "
            f"{expect.domain}> : {types} is {program.table[expect.reference].type()}"
        )
    return "\n".join([*lines, "}", ""])


# ---- Values ----


def global_index(
    lineage: Lineage, coordinate: Coordinate, mesh: Mapping[str, int], local: tuple[int, ...]
) -> tuple[int, ...]:
    """Where an element of a part lies in the whole."""
    result = []
    for parts, at in zip(lineage, local, strict=True):
        sizes = [end - start for start, end, _ in (p for p in parts if not isinstance(p, str))]
        digits = []
        for size in reversed(sizes):
            digits.append(at % size)
            at //= size
        position = 0
        for part in parts:
            if isinstance(part, str):
                position = position * mesh[part] + coordinate[part]
            else:
                position = position * part[2] + part[0] + digits.pop()
        result.append(position)
    return tuple(result)


class Run:
    """The values of a program at one input."""

    def __init__(self, program: Program, random: Random, signed: bool) -> None:
        self.program = program
        self.random = random
        self.signed = signed
        self.reference: dict[str, Tensor] = {}
        self.plan: dict[str, list[Tensor]] = {}
        sizes = program.mesh
        self.coordinates = [
            {"dp": dp, "mb": mb} for dp in range(sizes["dp"]) for mb in range(sizes["mb"])
        ]
        for node in program.nodes:
            if node.domain is None:
                operands = [self.reference[name] for name in node.operands]
                self.reference[node.name] = self.compute(node, operands)
            else:
                self.plan[node.name] = list(self.compute_plan(node))

    def draw(self, node: Node) -> Tensor:
        """Random elements of an argument."""
        if node.element == "i64":
            return tensors.build(
                node.shape,
                lambda _: self.random.choice([-100, *range(-6, 0), *range(13), *range(9)]),
            )
        low = -4 if self.signed else 1
        return tensors.build(node.shape, lambda _: self.random.randint(low, 5))

    def compute(self, node: Node, operands: list[Tensor]) -> Tensor:
        """The result of an op; none where differences would be those of rounding."""
        result = self.apply(node, operands)
        if any(isinstance(x, float) and ROUNDING_LIMIT < abs(x) < math.inf for x in result.data):
            raise UndefinedError
        return result

    def apply(self, node: Node, operands: list[Tensor]) -> Tensor:
        """The result of an op, or the elements of an argument."""
        if node.op in tensors.UNARY:
            return tensors.elementwise(tensors.UNARY[node.op], *operands)
        if node.op in tensors.BINARY:
            return tensors.elementwise(tensors.BINARY[node.op], *operands)
        match node.op:
            case "argument":
                return self.draw(node)
            case "power":
                return tensors.elementwise(lambda x: tensors.power(x, *node.bounds), *operands)
            case "constant" | "literal":
                return tensors.build(node.shape, lambda _: node.value)
            case "compare":
                return tensors.compare(node.text, *operands)
            case "einsum":
                return tensors.einsum(node.text, *operands)
            case "reduce":
                return tensors.reduce(node.text, operands[0], node.dimension)
            case "transpose":
                return tensors.transpose(operands[0], node.numbers)
            case "reshape":
                return Tensor(node.shape, operands[0].data)
            case "slice":
                return tensors.cut(operands[0], node.dimension, *node.bounds)
            case "pad":
                return tensors.pad(operands[0], node.dimension, *node.bounds)
            case "concat" | "all_gather":
                return tensors.concat(operands, node.dimension)
            case "broadcast":
                return tensors.broadcast(operands[0], node.shape, node.numbers)
            case "one_hot":
                return tensors.one_hot(operands[0], node.shape[-1], node.bounds[0])
            case "causal_mask":
                return tensors.causal_mask(node.shape)
        raise ValueError(node.op)

    def compute_plan(self, node: Node) -> Iterator[Tensor]:
        """The result of an op of the plan, at each coordinate."""
        for number, coordinate in enumerate(self.coordinates):
            operands = [self.plan.get(name, []) for name in node.operands]
            if node.op == "distribute":
                yield self.part(node, coordinate)
            elif node.op in ("all_reduce", "accumulate", "move"):
                yield self.communicate(node, operands, coordinate)
            else:
                yield self.compute(node, [values[number] for values in operands])

    def part(self, node: Node, coordinate: Coordinate) -> Tensor:
        """What a part of a tensor of the reference holds."""
        whole = self.reference[node.operands[0]]

        def element(local: tuple[int, ...]) -> Number:
            return whole[global_index(node.lineage, coordinate, self.program.mesh, local)]

        return tensors.build(node.shape, element)

    def communicate(
        self, node: Node, operands: list[list[Tensor]], coordinate: Coordinate
    ) -> Tensor:
        """What an op gets that reads other coordinates."""
        axes = node.text.split()

        def is_read(other: Coordinate) -> bool:
            for axis in AXES:
                at = other[axis]
                first, last = node.bounds
                if axis not in axes:
                    matches = at == coordinate[axis]
                elif node.op == "all_reduce":
                    matches = True
                else:
                    matches = at == first if node.op == "move" else first <= at < last
                if not matches:
                    return False
            return True

        read = [
            values[number]
            for values in operands
            for number, other in enumerate(self.coordinates)
            if is_read(other)
        ]
        return Tensor(node.shape, [sum(xs) for xs in zip(*(x.data for x in read), strict=True)])

    def differs(self, expect: Expect) -> bool:
        """Whether the plan's value is another one than the reference's."""
        whole = self.reference[expect.reference]
        values = [self.plan[name] for name in expect.values]
        for number, coordinate in enumerate(self.coordinates):
            summed = [
                other_number
                for other_number, other in enumerate(self.coordinates)
                if all(axis in expect.axes or other[axis] == coordinate[axis] for axis in AXES)
            ]
            for local in tensors.indices(values[0][number].shape):
                total: Number = sum(value[other][local] for value in values for other in summed)
                index = global_index(expect.lineage, coordinate, self.program.mesh, local)
                if not tensors.is_close(total, whole[index]):
                    return True
        return False


def values_differ(program: Program, seed: int, runs: int = 3) -> bool | None:
    """Whether the sides differ at one of some random inputs; None if undefined."""
    seen = 0
    for attempt in range(2 * runs):
        random = Random(f"{seed} {attempt}")
        try:
            run = Run(program, random, signed=attempt % 2 == 1)
            if any(run.differs(expect) for expect in program.expects):
                return True
        except (UndefinedError, OverflowError):
            continue
        seen += 1
        if seen == runs:
            break
    return False if seen else None
