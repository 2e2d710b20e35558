# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Collectives as others, of parts of their groups or of parts of what they move."""

from random import Random

from hunt.op_mutations import GROUP, attributes
from hunt.plan_text import Change, Op, PlanText, shape, with_shape
from hunt.rewriting import behind, is_wrapped


def scattered(plan: PlanText, op: Op, random: Random) -> Change | None:
    """An all-reduce as a reduce-scatter and an all-gather."""
    match = GROUP.search(op.text)
    if op.kind != "communicate" or " all_reduce " not in op.text or not match:
        return None
    # Over all replicas there are only all-reduces.
    if match.group(2):
        return None
    count, type_ = len(match.group(1).split(",")), op.types[0]
    places = [i for i, size in enumerate(shape(type_)) if size % count == 0]
    if not places or count == 1:
        return None
    at = random.choice(places)
    part = list(shape(type_))
    part[at] //= count
    other, middle = with_shape(type_, tuple(part)), plan.fresh()
    first = f"{op.indent}{middle} = tv.communicate reduce_scatter {op.operands[0]} {match.group()}"
    last = f"{op.indent}{op.name} = tv.communicate all_gather {middle} {match.group()}"
    stated = f", tv.piece = {op.piece}" if op.piece else ""
    return {
        op.line: f"{first} {{dimension = {at} : i64}} : ({type_}) -> {other}\n"
        f"{last} {{dimension = {at} : i64{stated}}} : ({other}) -> {type_}"
    }


def resharded(plan: PlanText, op: Op, random: Random) -> Change | None:
    """What all devices of a group have is cut, one part for each, and gathered again."""
    if not is_wrapped(op) or op.kind != "communicate" or " all_" not in op.text:
        return None
    match = GROUP.search(op.text)
    if not match or match.group(2) or " all_to_all " in op.text:
        return None
    members = [int(member) for member in match.group(1).split(", ")]
    sizes = shape(op.types[0])
    places = [i for i, size in enumerate(sizes) if size % len(members) == 0]
    if not places or len(members) == 1:
        return None
    at = random.choice(places)
    size = sizes[at] // len(members)
    start = members.index(op.device) * size
    type_, middle = op.types[0], plan.fresh()
    other = with_shape(type_, (*sizes[:at], size, *sizes[at + 1 :]))
    return behind(
        plan,
        op,
        random,
        [
            f"{middle} = tv.slice %old {{dimension = {at} : i64, end = {start + size} : i64, "
            f"start = {start} : i64}} : ({type_}) -> {other}",
            f"%new = tv.communicate all_gather {middle} {match.group()} "
            f"{{dimension = {at} : i64}} : ({other}) -> {type_}",
        ],
    )


def split_group(plan: PlanText, op: Op, random: Random) -> Change | None:
    """A sum over a group as two, over parts of it and over what they give."""
    match = GROUP.search(op.text)
    if op.kind != "communicate" or " all_reduce " not in op.text or not match:
        return None
    members = [int(member) for member in match.group(1).split(", ")]
    if op.device not in members:
        return None
    if match.group(2) and len(members) > 1:
        groups = [f"group {members}", f"group [{op.device}] replicas"]
    elif not match.group(2) and len(members) == 4:
        pairs = random.choice([((0, 1), (2, 3)), ((0, 2), (1, 3)), ((0, 3), (1, 2))])
        across = {(0, 1): ((0, 2), (1, 3)), (0, 2): ((0, 1), (2, 3)), (0, 3): ((0, 1), (3, 2))}
        at = members.index(op.device)
        groups = [
            f"group {sorted(members[i] for i in next(pair for pair in two if at in pair))}"
            for two in (pairs, across[pairs[0]])
        ]
    else:
        return None
    if random.random() < 0.5 and match.group(2):
        groups.reverse()
    middle, type_ = plan.fresh(), op.types[0]
    first = f"{op.indent}{middle} = tv.communicate all_reduce {op.operands[0]} {groups[0]}"
    last = f"{op.indent}{op.name} = tv.communicate all_reduce {middle} {groups[1]}"
    end = f" : ({type_}) -> {type_}"
    return {op.line: f"{first}{end}\n{last}{attributes(op)}{end}"}
