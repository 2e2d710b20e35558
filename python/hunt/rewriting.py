# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What changes of the text of a plan that keep what it computes are made of.

What is added lies within what a `tv.save` differentiates, or, at random, behind it: the
saved result is then what was there before.
"""

import re
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
