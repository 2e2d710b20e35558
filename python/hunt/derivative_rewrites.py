# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is differentiated at once, as a fused norm is, or step by step, as its ops are.

A `tv.save` says from where to where, and the `tv.backward` that names its number gives
the gradients. Two that follow one another are one, and one is two that meet at a value.
"""

import re
from dataclasses import dataclass
from random import Random

from hunt.plan_text import VALUE, Change, Op, PlanText, replace_value
from hunt.rewriting import is_real

SAVE = re.compile(r"tv\.save (\d+) from (.*?) to (.*?) : ")
BACKWARD = re.compile(r"tv\.backward (.*?) of (\d+) \{(.*)\} : ")
PIECES = re.compile(r"#tv\.piece<[^>]*>|unit")


def array(attributes: str, name: str) -> list[int]:
    """An attribute that is a list of numbers."""
    listed = attributes.partition(f"{name} = array<i64")[2].partition(">")[0]
    return [int(number) for number in re.findall(r"\d+", listed)]


@dataclass(frozen=True)
class Saved:
    """A `tv.save`."""

    op: Op
    number: int
    inputs: list[str]
    outputs: list[str]

    @staticmethod
    def read(op: Op) -> "Saved":
        """What a line says."""
        match = SAVE.search(op.text)
        assert match, op.text
        inputs, outputs = (VALUE.findall(match.group(i)) for i in (2, 3))
        return Saved(op, int(match.group(1)), inputs, outputs)

    def line(self, plan: PlanText) -> str:
        """The line that says so."""
        lists = self.inputs, self.outputs
        values = " to ".join(", ".join(some) for some in lists)
        types = " to ".join(", ".join(plan.type(self.op, one) for one in some) for some in lists)
        return f"{self.op.indent}tv.save {self.number} from {values} : {types}"


@dataclass(frozen=True)
class Backward:
    """A `tv.backward`, whose results are of the types and pieces of the same place."""

    gradients: list[str]
    number: int
    outputs: list[int]
    wrt: list[int]
    pieces: list[str]
    results: list[str]
    types: list[str]

    @staticmethod
    def read(op: Op) -> "Backward":
        """What a line says."""
        match = BACKWARD.search(op.text)
        assert match, op.text
        stated = match.group(3).partition("tv.pieces = [")[2].partition("], wrt")[0]
        return Backward(
            VALUE.findall(match.group(1)),
            int(match.group(2)),
            array(match.group(3), "outputs"),
            array(match.group(3), "wrt"),
            PIECES.findall(stated) or ["unit"] * len(op.results),
            list(op.results),
            list(op.types),
        )

    def lines(self, plan: PlanText, op: Op) -> tuple[str, dict[str, str]]:
        """The line that says so, and the new names of its results."""
        name, count = plan.fresh(), len(self.results)
        new = [name] if count == 1 else [f"{name}#{i}" for i in range(count)]
        outputs, wrt = (", ".join(map(str, numbers)) for numbers in (self.outputs, self.wrt))
        attributes = f"outputs = array<i64: {outputs}>, tv.pieces = [{', '.join(self.pieces)}], "
        attributes += f"wrt = array<i64: {wrt}>"
        types = ", ".join(plan.type(op, gradient) for gradient in self.gradients)
        to = self.types[0] if count == 1 else f"({', '.join(self.types)})"
        text = f"{op.indent}{name}{'' if count == 1 else f':{count}'} = tv.backward "
        text += f"{', '.join(self.gradients)} of {self.number} {{{attributes}}} : ({types}) -> {to}"
        return text, dict(zip(self.results, new, strict=True))


def backwards(plan: PlanText, device: int, number: int) -> list[Op]:
    """The ops that differentiate what a device saved under a number."""
    return [
        op
        for op in plan.ops
        if op.kind == "backward" and op.device == device and f" of {number} {{" in op.text
    ]


def renamed(plan: PlanText, op: Op, names: dict[str, str]) -> Change:
    """The lines after `op` with results under other names."""
    change: Change = {}
    for other in plan.by_body[op.body]:
        text = other.text
        for old, new in names.items():
            if other.line > op.line and old in other.operands:
                text = replace_value(text, old, new)
        if text != other.text:
            change[other.line] = text
    return change


def downstream(plan: PlanText, op: Op, values: list[str]) -> set[str]:
    """What is computed from some values of the body, and they."""
    found = set(values)
    for other in plan.by_body[op.body]:
        if found & set(other.operands):
            found |= set(other.results)
    return found


def joint_derivative(plan: PlanText, op: Op, _random: Random) -> Change | None:
    """Two steps that are differentiated one after the other are so at once.

    What the first gives is for the second alone, nothing else that the second takes comes
    from what the first takes, and each gradient goes from one to the other.
    """
    if op.kind != "save":
        return None
    first = Saved.read(op)
    saves = [Saved.read(other) for other in plan.alike(op.body, "save") if other.line != op.line]
    after = [save for save in saves if set(save.inputs) & set(first.outputs)]
    if len(after) != 1 or [v for v in after[0].inputs if v in first.outputs] != first.outputs:
        return None
    second = after[0]
    others = [value for value in second.inputs if value not in first.outputs]
    if set(others) & downstream(plan, op, first.inputs):
        return None
    both = Saved(second.op, first.number, [*first.inputs, *others], second.outputs)
    change = {op.line: "", second.op.line: both.line(plan)}
    ends = backwards(plan, op.device, second.number)
    starts = {other.body: other for other in backwards(plan, op.device, first.number)}
    if not ends or sorted(end.body for end in ends) != sorted(starts):
        return None
    for end in ends:
        of_second, of_first = Backward.read(end), Backward.read(starts[end.body])
        inner = [second.inputs.index(value) for value in first.outputs]
        passed = [r for r, i in zip(of_second.results, of_second.wrt, strict=True) if i in inner]
        uses = [use for result in passed for use in plan.uses(end, result)]
        if of_first.gradients != passed or [use.line for use in uses] != [
            starts[end.body].line
        ] * len(inner):
            return None
        left = [i for i, at in enumerate(of_second.wrt) if at not in inner]
        at = [len(first.inputs) + others.index(second.inputs[of_second.wrt[i]]) for i in left]
        new = Backward(
            of_second.gradients,
            first.number,
            of_second.outputs,
            [*of_first.wrt, *at],
            [*of_first.pieces, *(of_second.pieces[i] for i in left)],
            [*of_first.results, *(of_second.results[i] for i in left)],
            [*of_first.types, *(of_second.types[i] for i in left)],
        )
        text, names = new.lines(plan, end)
        change |= renamed(plan, end, names)
        change |= {end.line: text, starts[end.body].line: ""}
    return change


def sources(plan: PlanText, save: Saved, value: str, end: str = "") -> set[str]:
    """The inputs of a save that a value depends on, not counting those of `end`."""
    found, left = set(), [value]
    made = {result: op for op in plan.by_body[save.op.body] for result in op.results}
    seen = {end}
    while left:
        one = left.pop()
        if one in seen:
            continue
        seen.add(one)
        if one in save.inputs:
            found.add(one)
        elif one in made:
            left.extend(made[one].operands)
    return found


def split_derivative(plan: PlanText, op: Op, random: Random) -> Change | None:
    """What is differentiated at once is so in two steps, which meet at a value between.

    All that the value depends on reaches the results by way of it only.
    """
    if op.kind != "save":
        return None
    whole = Saved.read(op)
    inside = downstream(plan, op, whole.inputs) - {*whole.inputs, *whole.outputs}
    places = []
    for middle in plan.by_body[op.body]:
        value = middle.name or ""
        if value not in inside or len(middle.results) != 1 or not is_real(middle.types[0]):
            continue
        inner = sources(plan, whole, value)
        outer = {one for output in whole.outputs for one in sources(plan, whole, output, value)}
        if (
            not inner & outer
            and inner | outer == set(whole.inputs)
            and is_passed(plan, whole, value)
        ):
            places.append(value)
    if not places:
        return None
    value = random.choice(places)
    inner = sources(plan, whole, value)
    number = 1 + max(int(n) for n in re.findall(r"tv\.save (\d+) ", plan.text)) + op.device
    first = Saved(op, number, [v for v in whole.inputs if v in inner], [value])
    outer_inputs = [v for v in whole.inputs if v not in inner]
    second = Saved(op, whole.number, [value, *outer_inputs], whole.outputs)
    change = {op.line: f"{first.line(plan)}\n{second.line(plan)}"}
    ends = backwards(plan, op.device, whole.number)
    for end in ends:
        old = Backward.read(end)
        near = [i for i, at in enumerate(old.wrt) if whole.inputs[at] not in inner]
        far = [i for i, at in enumerate(old.wrt) if whole.inputs[at] in inner]
        if not far:
            return None
        type_ = plan.type(op, value)
        last = Backward(
            old.gradients,
            whole.number,
            old.outputs,
            [0, *(1 + outer_inputs.index(whole.inputs[old.wrt[i]]) for i in near)],
            ["unit", *(old.pieces[i] for i in near)],
            ["", *(old.results[i] for i in near)],
            [type_, *(old.types[i] for i in near)],
        )
        text, names = last.lines(plan, end)
        start = Backward(
            [names.pop("")],
            number,
            [0],
            [first.inputs.index(whole.inputs[old.wrt[i]]) for i in far],
            [old.pieces[i] for i in far],
            [old.results[i] for i in far],
            [old.types[i] for i in far],
        )
        plan.types[end.body, start.gradients[0]] = type_
        again, more = start.lines(plan, end)
        change |= renamed(plan, end, names | more) | {end.line: f"{text}\n{again}"}
    return change if ends else None


def is_passed(plan: PlanText, save: Saved, value: str) -> bool:
    """Whether a result depends on a value."""
    op = save.op
    return bool(downstream(plan, op, [value]) & set(save.outputs))
