# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ops that are done again, or in another order."""

from random import Random

from hunt.op_mutations import without_piece
from hunt.plan_text import VALUE, Change, Op, PlanText, replace_value
from hunt.rewriting import SAVE, is_saved, is_wrapped


def recomputed(plan: PlanText, op: Op, random: Random) -> Change | None:
    """An op is done again, and one of those that read it reads the copy."""
    if not is_wrapped(op) or op.kind in ("communicate", "receive", "backward"):
        return None
    readers = [use for use in plan.uses(op, op.results[0]) if use.kind != "save" and use.results]
    if not readers:
        return None
    reader, again = random.choice(readers), plan.fresh()
    text = op.text.replace(f"{op.name} =", f"{again} =", 1)
    if random.random() < 0.5:
        text = without_piece(text) if op.kind != "random" else text
    change = {
        op.line: f"{op.text}\n{text}",
        reader.line: replace_value(reader.text, op.results[0], again),
    }
    # What is differentiated starts at the copy too, where it starts at the value.
    for save in plan.by_body[op.body]:
        match = SAVE.match(save.text) if save.kind == "save" else None
        if not match or op.results[0] not in VALUE.findall(match.group(2)):
            continue
        if VALUE.findall(match.group(3)) != list(reader.results):
            if reader.results[0] in VALUE.findall(match.group(3)) or not is_saved(plan, reader):
                return None
            continue
        from_ = replace_value(match.group(2), op.results[0], again)
        change[save.line] = match.group(1) + from_ + match.group(3) + match.group(4)
    return change


def replicated(plan: PlanText, op: Op, _random: Random) -> Change | None:
    """An op is done once more, for nobody."""
    if not is_wrapped(op) or op.kind in ("receive", "communicate"):
        return None
    text = op.text.replace(f"{op.name} =", f"{plan.fresh()} =", 1)
    return {op.line: f"{op.text}\n{text}"}


def micro_batches(plan: PlanText, op: Op, _random: Random) -> Change | None:
    """Two micro-batches in the other order, with all that is done for them."""
    if any(other.kind == "send" for other in plan.ops):
        return None
    ops = plan.by_body[op.body]
    if plan.bodies.get(op.body, ("", 0))[0] != "program" or op.kind != "load_data":
        return None
    loads = [i for i, other in enumerate(ops) if other.kind == "load_data"]
    nth = loads.index(ops.index(op))
    if nth + 1 >= len(loads):
        return None
    ends = [i for i, other in enumerate(ops) if other.kind == "call" and not other.results]
    start, middle = loads[nth], loads[nth + 1]
    after = [end for end in ends if end > middle]
    if not after or any(other.kind == "communicate" for other in ops[start : after[0]]):
        return None
    one, other = ops[start:middle], ops[middle : after[0] + 1]
    defined = {value for each in one for value in each.results}
    if any(value in defined for each in other for value in each.operands):
        return None
    text = "\n".join(each.text for each in [*other, *one])
    return {each.line: "" for each in [*one, *other]} | {op.line: text}


def call_order(plan: PlanText, op: Op, _random: Random) -> Change | None:
    """The data of a micro-batch and seeds are read later, buffers are added to earlier."""
    if op.kind not in ("load_data", "seed", "add_to") or op.body == -1:
        return None
    ops = plan.by_body[op.body]
    place = ops.index(op)
    if op.kind == "add_to":
        defined = [i for i, o in enumerate(ops) if set(o.results) & set(op.operands)]
        if not defined or defined[0] + 1 >= place:
            return None
        before = ops[defined[0]]
        return {op.line: "", before.line: f"{before.text}\n{op.text}"}
    used = plan.uses(op, op.results[0])
    if not used or len(op.results) > 1 or used[0].line == op.line + 1:
        return None
    if op.kind == "load_data" and any(
        other.kind == "load_data" for other in ops[place + 1 :] if other.line < used[0].line
    ):
        return None
    return {op.line: "", used[0].line: f"{op.text}\n{used[0].text}"}
