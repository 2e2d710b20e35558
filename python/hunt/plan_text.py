# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The text of an imported pair of plans, line by line, for edits anywhere in the plan.

Only what edits need is understood: what an op defines and reads, and of which types.
An edit is a map from lines to what replaces them; the tools judge what comes out.
"""

import re
from dataclasses import dataclass
from functools import cached_property

Change = dict[int, str]

VALUE = re.compile(r"%\w+(?:#\d+)?")
LINE = re.compile(r"(\s+)(?:(%\w+)(?::(\d+))? = )?tv\.([a-z_]+)\b")
BODY = re.compile(r"\s+tv\.(?:segment @(\S+?)(?:_device\d+)? on|(program)) (\d+)")
PIECE = re.compile(r"#tv\.piece<(\d+)( gradient)?, \[[^]]*\](?:, \d+ of \d+)?>")


def split_types(text: str) -> tuple[str, ...]:
    """The types of a list."""
    text = text.strip().removeprefix("(").removesuffix(")")
    return tuple(text.split(", ")) if text else ()


@dataclass(frozen=True)
class Op:
    """A line that is an op, in a body of the plan or beside them (`body` is -1)."""

    line: int
    text: str
    indent: str
    kind: str
    name: str | None
    count: int
    device: int
    body: int
    cell: str  # `program` for a program and what lies beside all bodies

    @cached_property
    def results(self) -> tuple[str, ...]:
        """The values it defines."""
        if not self.name:
            return ()
        if self.count == 1:
            return (self.name,)
        return tuple(f"{self.name}#{i}" for i in range(self.count))

    @cached_property
    def operands(self) -> tuple[str, ...]:
        """The values it reads, in order."""
        return tuple(VALUE.findall(self.text.split(" = tv.", 1)[-1]))

    @cached_property
    def types(self) -> tuple[str, ...]:
        """The types of its results."""
        if not self.name:
            return ()
        if " -> " in self.text:
            return split_types(self.text.rsplit(" -> ", 1)[1])
        return split_types(self.text.rsplit(" : ", 1)[1])

    @property
    def own(self) -> str:
        """The text without results and indent."""
        return self.text.split(" = ", 1)[1] if self.name else self.text.strip()

    @property
    def piece(self) -> str:
        """What is stated about its only result."""
        match = re.search(r"tv\.piece = (#tv\.piece<[^>]*>)", self.text)
        return match.group(1) if match else ""

    def with_operand(self, index: int, value: str) -> str:
        """The line with another operand."""
        start = self.text.find(" = tv.") if self.name else 0
        matches = list(VALUE.finditer(self.text, start))
        at = matches[index]
        return self.text[: at.start()] + value + self.text[at.end() :]

    def number(self, name: str) -> int:
        """The integer attribute of a name."""
        match = re.search(rf"\b{name} = (-?\d+) : i64", self.text)
        assert match, f"no {name} in {self.text}"
        return int(match.group(1))


def shape(type_: str) -> tuple[int, ...]:
    """The sizes of a tensor type."""
    match = re.match(r"tensor<((?:\d+x)*)", type_)
    return tuple(map(int, match.group(1).split("x")[:-1])) if match else ()


def with_shape(type_: str, sizes: tuple[int, ...]) -> str:
    """The tensor type of other sizes."""
    element = re.sub(r"^tensor<(?:\d+x)*", "", type_)
    return "tensor<" + "".join(f"{size}x" for size in sizes) + element


class PlanText:
    """A module with `@reference` and `@plan`, of which the ops of one side are read."""

    def __init__(self, text: str, generation: int = 0, side: str = "plan") -> None:
        self.lines = text.split("\n")
        self.generation = generation
        self.made = 0
        self.ops: list[Op] = []
        self.types: dict[tuple[int, str], str] = {}
        self.bodies: dict[int, tuple[str, int]] = {}
        self.by_body: dict[int, list[Op]] = {}
        first = next(i for i, line in enumerate(self.lines) if f" tv.plan @{side} " in line)
        body, device, cell = -1, -1, "program"
        for i in range(first + 1, len(self.lines)):
            line = self.lines[i]
            if " tv.plan @" in line:
                break
            if match := BODY.match(line):
                body, device, cell = i, int(match.group(3)), match.group(1) or "program"
                self.bodies[body] = (cell, device)
                self.by_body[body] = []
            elif line.strip() == "}":
                body, device, cell = -1, -1, "program"
            elif line.strip().startswith("^bb0("):
                for name, type_ in re.findall(r"(%\w+): ([^,]*?)(?=, %|\):$)", line):
                    self.types[body, name] = type_
            elif match := LINE.match(line):
                own = (
                    int(line.split(" on ")[1].split()[0]) if match.group(4) == "buffer" else device
                )
                op = Op(i, line, match[1], match[4], match[2], int(match[3] or 1), own, body, cell)
                self.ops.append(op)
                self.by_body.setdefault(body, []).append(op)
                self.types.update(
                    ((body, value), type_)
                    for value, type_ in zip(op.results, op.types, strict=True)
                )

    def type(self, op: Op, value: str) -> str:
        """The type of a value of the op's body."""
        return self.types.get((op.body, value), "")

    def operand_types(self, op: Op) -> tuple[str, ...]:
        """The types of what the op reads."""
        return tuple(self.type(op, value) for value in op.operands)

    def siblings(self, op: Op) -> list[Op]:
        """The op and those that do the same on other devices: the nth of a kind."""
        if op.body == -1:
            return [op]
        place = self.alike(op.body, op.kind).index(op)
        cell = self.bodies[op.body][0]
        found = []
        for body, (name, _device) in self.bodies.items():
            ops = self.alike(body, op.kind)
            if name == cell and place < len(ops) and ops[place].types == op.types:
                found.append(ops[place])
        return found

    def alike(self, body: int, kind: str) -> list[Op]:
        """The ops of a kind in a body."""
        return [op for op in self.by_body[body] if op.kind == kind]

    def before(self, op: Op, type_: str) -> list[str]:
        """The values of a type that are defined before the op in its body."""
        place = self.by_body[op.body].index(op)
        own = {value for other in self.by_body[op.body][place:] for value in other.results}
        return [
            value
            for (body, value), other in self.types.items()
            if body == op.body and other == type_ and value not in own
        ]

    def uses(self, op: Op, value: str) -> list[Op]:
        """The ops after `op` that read a value of its body."""
        return [
            other
            for other in self.by_body[op.body]
            if other.line > op.line and value in other.operands
        ]

    def fresh(self) -> str:
        """A name that no value has."""
        self.made += 1
        return f"%e{self.generation}x{self.made}"

    def apply(self, change: Change) -> "PlanText":
        """The text with some lines replaced."""
        lines = [change.get(i, line) for i, line in enumerate(self.lines)]
        return PlanText("\n".join(line for line in lines if line), self.generation + 1)

    def of_reference(self) -> "PlanText":
        """The same module, of which the ops of the reference are read."""
        return PlanText(self.text, self.generation, "reference")

    @property
    def text(self) -> str:
        """All lines."""
        return "\n".join(self.lines)


def replace_value(text: str, old: str, new: str) -> str:
    """A line that reads another value."""
    return re.sub(rf"{re.escape(old)}(?![\w#])", new, text)
