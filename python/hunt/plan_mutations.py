# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mistakes in what surrounds the ops of a plan: calls, buffers, order, derivatives."""

import re
from random import Random

from hunt import op_mutations
from hunt.op_mutations import CALL, Mutation
from hunt.plan_text import Change, Op, PlanText, replace_value

BUFFER = re.compile(r"@[\w.]+")


def micro_batch(plan: PlanText, op: Op, random: Random) -> Change | None:
    """A call of a micro-batch is left out, or works on another one's values."""
    match = CALL.search(op.text)
    if op.kind != "call" or not match:
        return None
    others = [
        (other, found)
        for other in plan.by_body[op.body]
        if other is not op
        and (found := CALL.search(other.text))
        and found.group(2) == match.group(2)
    ]
    if not others or random.random() < 0.15:
        return None if op.results else {op.line: ""}
    other, found = random.choice(others)
    choice = random.random()
    if choice < 0.4 and other.line < op.line:
        return {op.line: op.text.replace(match.group(3), found.group(3), 1)}
    if choice < 0.7:
        mine = re.sub(r"mirror \d+", "mirror " + found.group(4).split()[3], op.text)
        if random.random() < 0.5:
            return {op.line: mine}
        theirs = re.sub(r"mirror \d+", "mirror " + match.group(4).split()[3], other.text)
        return {op.line: mine, other.line: theirs}
    if op.types != other.types or not op.results:
        return {
            op.line: op.text.replace(match.group(3), found.group(3), 1),
            other.line: other.text.replace(found.group(3), match.group(3), 1),
        }
    return {
        use.line: replace_value(use.text, op.results[0], other.results[0])
        for use in plan.uses(max(op, other, key=lambda o: o.line), op.results[0])
    } or None


def load(plan: PlanText, op: Op, random: Random) -> Change | None:
    """A micro-batch is read twice, and another not; or in another order."""
    if op.kind != "load_data":
        return None
    others = [o for o in plan.by_body[op.body] if o.kind == op.kind and o.types == op.types]
    others = [other for other in others if other is not op]
    if not others:
        return None
    other = random.choice(others)
    change: Change = {}
    for mine, theirs in zip(op.results, other.results, strict=True):
        for use in plan.by_body[op.body]:
            if use.line <= max(op.line, other.line):
                continue
            text = change.get(use.line, use.text)
            change[use.line] = replace_value(text, mine, theirs)
    return change


def called(plan: PlanText, op: Op, random: Random) -> Change | None:
    """Another segment of the device."""
    match = CALL.search(op.text)
    if op.kind != "call" or not match:
        return None
    types = (plan.operand_types(op), op.types)
    others = {
        found.group(2)
        for other in plan.by_body[op.body]
        if (found := CALL.search(other.text)) and (plan.operand_types(other), other.types) == types
    } - {match.group(2)}
    if not others:
        return None
    return {op.line: op.text.replace(match.group(2) + "(", random.choice(sorted(others)) + "(", 1)}


def buffer(plan: PlanText, op: Op, random: Random) -> Change | None:
    """Another buffer of the device is read, added to or written."""
    if op.kind not in ("read", "add_to", "write"):
        return None
    held = {
        match.group(): (match.group().startswith("@gradient"), other.text.rsplit(" : ", 1)[1])
        for other in plan.by_body.get(-1, [])
        if other.device == op.device and (match := BUFFER.search(other.text))
    }
    now = BUFFER.search(op.text)
    assert now, op.text
    kind, type_ = held.get(now.group(), (False, ""))
    any_kind = random.random() < 0.2
    others = [
        name
        for name, (is_gradient, held_type) in held.items()
        if held_type == type_ and name != now.group() and (any_kind or is_gradient == kind)
    ]
    if not others:
        return None
    return {op.line: op.text.replace(now.group(), random.choice(others), 1)}


def device(plan: PlanText, op: Op, random: Random) -> Change | None:
    """Two devices hold each other's slice of a parameter."""
    if op.kind != "buffer" or " gradient_of " in op.text:
        return None
    name = op.text.split('"')[1]
    others = [
        other
        for other in plan.by_body[-1]
        if f'"{name}"' in other.text
        and " gradient_of " not in other.text
        and other.device != op.device
    ]
    if not others:
        return None
    pair = (op, random.choice(others))
    symbols = [BUFFER.findall(one.text)[0][1:] for one in pair]
    parts = [one.text.split(" holds ")[1].split(">")[0] for one in pair]
    if parts[0] == parts[1]:
        return None
    change: Change = {}
    for other in plan.by_body[-1]:
        for i in range(2):
            if re.search(rf"@(gradient_of_)?{symbols[i]}\b", other.text):
                change[other.line] = other.text.replace(parts[i], parts[1 - i], 1)
    return change


def order(plan: PlanText, op: Op, random: Random) -> Change | None:
    """The op runs earlier or later, as far as its operands let it."""
    if op.kind not in ("add_to", "write", "call", "communicate", "send", "receive", "read"):
        return None
    ops = plan.by_body[op.body]
    place = ops.index(op)
    other = ops[min(max(place + random.choice([-12, -6, -3, -1, 1, 3, 6, 12]), 0), len(ops) - 1)]
    if other is op or other.kind == "return":
        return None
    text = f"{op.text}\n{other.text}" if other.line < op.line else f"{other.text}\n{op.text}"
    return {op.line: "", other.line: text}


def early_reducer(plan: PlanText, op: Op, random: Random) -> Change | None:
    """A gradient is reduced before the last calls, or twice, or not."""
    if op.kind != "communicate" or plan.bodies[op.body][0] != "program":
        return None
    ops = plan.by_body[op.body]
    place = ops.index(op)
    if place == 0 or place + 1 == len(ops) or ops[place + 1].kind != "write":
        return None
    triple = ops[place - 1 : place + 2]
    change: Change = {one.line: "" for one in triple}
    if random.random() < 0.3:
        return change
    calls = [other for other in ops if other.kind == "call" and other.line < op.line]
    if not calls:
        return None
    text = "\n".join(one.text for one in triple)
    last = random.choice(calls[-3:])
    return change | {last.line: f"{text}\n{last.text}"}


def derivative(plan: PlanText, op: Op, random: Random) -> Change | None:
    """The derivative of another op, or for other operands or results of it."""
    if op.kind != "backward":
        return None
    choice = random.random()
    if choice < 0.6:
        numbers = sorted(set(re.findall(r"tv\.save (\d+) ", plan.text)))
        if random.random() < 0.7:
            # One that is of the same types.
            numbers = sorted(
                {
                    match.group(1)
                    for other in plan.ops
                    if other.kind == "backward"
                    and other.text.rsplit(" : ", 1)[1] == op.text.rsplit(" : ", 1)[1]
                    and (match := re.search(r" of (\d+) ", other.text))
                }
            )
        return {op.line: re.sub(r" of \d+ \{", f" of {random.choice(numbers)} {{", op.text)}
    key = random.choice(["wrt", "outputs"])
    match = re.search(rf"{key} = array<i64: ([^>]*)>", op.text)
    assert match, op.text
    numbers = match.group(1).split(", ")
    random.shuffle(numbers)
    if random.random() < 0.3:
        numbers[0] = str(random.randrange(3))
    text = f"{key} = array<i64: {', '.join(numbers)}>"
    return {op.line: op.text.replace(match.group(), text, 1)}


def saved(plan: PlanText, op: Op, random: Random) -> Change | None:
    """A derivative is that between other values."""
    if op.kind != "save":
        return None
    at = random.randrange(len(op.operands))
    others = set(plan.before(op, plan.type(op, op.operands[at]))) - {op.operands[at]}
    return {op.line: op.with_operand(at, random.choice(sorted(others)))} if others else None


def number(_plan: PlanText, op: Op, random: Random) -> Change | None:
    """An attribute, or the number of a segment's save, is another one."""
    found = list(re.finditer(r"\b([a-z_]+) = (\d+) : i64", op.text))
    if op.kind == "slice" or not found:
        return None
    match = random.choice(found)
    changed = int(match.group(2)) + random.choice([-1, 1])
    return {op.line: op.text[: match.start(2)] + str(changed) + op.text[match.end(2) :]}


# Mistakes of one device in what its group does together end in a plan that cannot be
# executed; those of all its members do not.
TOGETHER = {"primitive", "group"}
MUTATIONS: dict[str, Mutation] = {
    "drop": op_mutations.drop,
    "duplicate": op_mutations.duplicate,
    "similar op": op_mutations.similar,
    "primitive": op_mutations.primitive,
    "group": op_mutations.group,
    "rank": op_mutations.rank,
    "bounds": op_mutations.bounds,
    "parameter slice": op_mutations.holds,
    "lineage": op_mutations.lineage,
    "constant": op_mutations.constant,
    "swapped operands": op_mutations.swap,
    "operand": op_mutations.operand,
    "micro-batch": micro_batch,
    "data": load,
    "segment": called,
    "buffer": buffer,
    "device": device,
    "order": order,
    "reducer": early_reducer,
    "derivative": derivative,
    "saved values": saved,
    "attribute": number,
}


def mutate(plan: PlanText, random: Random) -> tuple[PlanText, str]:
    """One mutation of a kind and at a place that are drawn, and its kind."""
    kinds = list(MUTATIONS)
    while kinds:
        kind = kinds.pop(random.randrange(len(kinds)))
        for op in random.sample(plan.ops, len(plan.ops)):
            seed = random.random()
            change = MUTATIONS[kind](plan, op, Random(seed))
            if not change:
                continue
            share = 0.95 if kind in TOGETHER else 0.35
            if random.random() < share:
                for sibling in plan.siblings(op):
                    if sibling.line not in change:
                        change |= MUTATIONS[kind](plan, sibling, Random(seed)) or {}
            if all(plan.lines[line] == text for line, text in change.items()):
                continue
            return plan.apply(change), kind
    raise ValueError("no mutation applies")
