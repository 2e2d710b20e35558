# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Changes of the plan of a program: ones that keep what it computes, and others.

An edit of one op returns the ops that replace it, the last under its name, or None
where it does not apply. Whether a change can be seen is for evaluation to say.
"""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from random import Random

from hunt.programs import Node, Program

Edit = Callable[["Place"], list[Node] | None]


class Place:
    """An op of the plan that an edit is tried on."""

    def __init__(self, program: Program, node: Node, random: Random) -> None:
        self.program = program
        self.node = node
        self.random = random
        self.made: list[Node] = []

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of a value."""
        made = [node.shape for node in self.made if node.name == name]
        return made[0] if made else self.program.table[name].shape

    def make(
        self, op: str, operands: tuple[str, ...], shape: tuple[int, ...], **fields: object
    ) -> str:
        """A new op before the edited one."""
        name = f"{self.node.name}e{len(self.made)}x{len(self.program.nodes)}"
        node = Node(name, op, operands, shape, self.node.domain)
        self.made.append(replace(node, **fields))  # type: ignore[arg-type]
        return name

    def constant(self, value: Fraction, shape: tuple[int, ...]) -> str:
        """A tensor of one number."""
        return self.make("constant", (), shape, value=value)

    def done(self, op: str, operands: tuple[str, ...], **fields: object) -> list[Node]:
        """The new ops, and the last one under the edited op's name."""
        node = Node(
            self.node.name,
            op,
            operands,
            self.node.shape,
            self.node.domain,
            element=self.node.element,
        )
        return [*self.made, replace(node, **fields)]  # type: ignore[arg-type]

    def after(self, change: Callable[[str], tuple[str, tuple[str, ...]]]) -> list[Node]:
        """The op under another name, and what `change` makes of its value."""
        inner = self.make(self.node.op, self.node.operands, self.node.shape)
        self.made[-1] = replace(self.node, name=inner)
        return self.done(*change(inner))

    def pieces(self, name: str, dimension: int, at: int) -> tuple[str, str]:
        """A value before and after a place."""
        shape = self.shape(name)

        def piece(start: int, end: int) -> str:
            part = (*shape[:dimension], end - start, *shape[dimension + 1 :])
            return self.make("slice", (name,), part, dimension=dimension, bounds=(start, end))

        return piece(0, at), piece(at, shape[dimension])


def long_dimension(place: Place, least: int = 2) -> int | None:
    """A dimension of the result with several elements."""
    found = [i for i, size in enumerate(place.node.shape) if size >= least]
    return place.random.choice(found) if found else None


def is_real(place: Place) -> bool:
    """Whether the result may not be infinite."""
    return place.node.element == "f32"


def apply(program: Program, edits: tuple[Edit, ...], random: Random) -> tuple[Program, str]:
    """One of the edits, at a random op of the plan where it applies; its name."""
    order = list(edits)
    random.shuffle(order)
    plan = [node for node in program.nodes if node.domain is not None]
    for edit in order:
        random.shuffle(plan)
        for node in plan:
            new = edit(Place(program, node, random))
            if new:
                nodes: list[Node] = []
                for old in program.nodes:
                    nodes.extend(new if old.name == node.name else [old])
                return program.with_nodes(nodes), edit.__name__
    return program, "none"
