# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What changes of the text of a plan that keep what it computes are made of.

What is added lies within what a `tv.save` differentiates, or, at random, behind it: the
saved result is then what was there before.
"""

import re
from collections.abc import Sequence
from random import Random

from hunt.plan_text import VALUE, Change, Op, PlanText, replace_value

SAVE = re.compile(r"(.*tv\.save \d+ from )(.*)( to %.*?)( : .*)$")


def is_real(type_: str) -> bool:
    """Whether elements are numbers that arithmetic is for."""
    return type_.endswith("xf32>") or type_ == "tensor<f32>"


def behind(plan: PlanText, op: Op, random: Random, make: list[str] | None) -> Change | None:
    """Ops after `op`: lines of `make` read `%old` and define `%new`."""
    if make is None or len(op.results) != 1:
        return None
    old = plan.fresh()
    text = op.text.replace(f"{op.name} =", f"{old} =", 1)
    outside = random.random() < 0.5
    made = [line.replace("%old", old).replace("%new", op.name or "") for line in make]
    change = {op.line: "\n".join([text, *(op.indent + line for line in made)])}
    for save in plan.uses(op, op.results[0]) if outside else []:
        match = SAVE.match(save.text)
        if save.kind == "save" and match and op.results[0] in re.findall(r"%\w+", match.group(3)):
            to = replace_value(match.group(3), op.results[0], old)
            change[save.line] = match.group(1) + match.group(2) + to + match.group(4)
    return change


def is_wrapped(op: Op) -> bool:
    """Whether ops can follow the op's result."""
    return op.cell != "program" and len(op.results) == 1 and op.kind not in ("read", "constant")


def is_saved(plan: PlanText, op: Op) -> bool:
    """Whether the op's result is one that is differentiated as such."""
    outputs = [SAVE.match(save.text) for save in plan.alike(op.body, "save")]
    return any(found and op.results[0] in VALUE.findall(found.group(3)) for found in outputs)


class Lines:
    """New ops in place of one, a line each; the last has its name and what is stated."""

    def __init__(self, plan: PlanText, op: Op) -> None:
        self.plan = plan
        self.op = op
        self.lines: list[str] = []
        self.types: dict[str, str] = {}

    def type(self, value: str) -> str:
        """The type of a value, new or not."""
        return self.types.get(value) or self.plan.type(self.op, value)

    def add(
        self,
        kind: str,
        operands: Sequence[str],
        type_: str,
        attributes: str = "",
        words: str = "",
        name: str = "",
    ) -> str:
        """A new op; `words` stand between its operands and attributes."""
        name = name or self.plan.fresh()
        listed, of = ", ".join(operands), ", ".join(map(self.type, operands))
        text = f"{self.op.indent}{name} = tv.{kind} {listed}{words}"
        text += f" {{{attributes}}}" if attributes else ""
        self.lines.append(f"{text} : ({of}) -> {type_}")
        self.types[name] = type_
        return name

    def constant(self, number: float, type_: str = "tensor<f64>") -> str:
        """A tensor of one number."""
        name = self.plan.fresh()
        value = f"dense<{number:.17e}> : tensor<f64>"
        self.lines.append(f"{self.op.indent}{name} = tv.constant {value} : () -> {type_}")
        self.types[name] = type_
        return name

    def done(
        self, kind: str, operands: Sequence[str], attributes: str = "", words: str = ""
    ) -> Change:
        """The last op, and all in place of the one."""
        if self.op.piece:
            attributes += (", " if attributes else "") + f"tv.piece = {self.op.piece}"
        assert self.op.name
        self.add(kind, operands, self.op.types[0], attributes, words, self.op.name)
        return {self.op.line: "\n".join(self.lines)}
