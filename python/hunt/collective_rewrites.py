# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Collectives over a group as several over its parts, as one over the whole, or as others.

All members of a group change what they do together.
"""

from random import Random

from hunt.op_mutations import GROUP
from hunt.plan_text import Change, Op, PlanText, shape, with_shape
from hunt.rewriting import Lines, is_real


class Collective:
    """What a `tv.communicate` says."""

    def __init__(self, op: Op) -> None:
        match = GROUP.search(op.text)
        assert match, op.text
        self.op = op
        self.kind = op.text.split("communicate ")[1].split()[0]
        self.members = [int(member) for member in match.group(1).split(", ")]
        self.of_replicas = bool(match.group(2))
        self.position = self.members.index(op.device) if op.device in self.members else -1

    def group(self, places: list[int]) -> str:
        """The words for some of the members."""
        return f" group {[self.members[place] for place in places]}"


def read(op: Op, *kinds: str) -> Collective | None:
    """The collective of an op, if it is one of these, within a replica."""
    if op.kind != "communicate" or not GROUP.search(op.text) or " by " in op.text:
        return None
    found = Collective(op)
    is_one = found.kind in kinds and found.position >= 0 and len(found.members) > 1
    return found if is_one and not found.of_replicas else None


def resized(type_: str, dimension: int, times: int = 1, parts: int = 1) -> str:
    """A type of which one dimension is longer or shorter."""
    sizes = list(shape(type_))
    sizes[dimension] = sizes[dimension] * times // parts
    return with_shape(type_, tuple(sizes))


def piece(lines: Lines, value: str, dimension: int, number: int, count: int) -> str:
    """One of the equal parts of a value."""
    type_ = resized(lines.type(value), dimension, parts=count)
    size = shape(type_)[dimension]
    return lines.add("slice", [value], type_, bounds(dimension, number * size, size))


def bounds(dimension: int, start: int, size: int) -> str:
    """The attributes of a slice."""
    return f"dimension = {dimension} : i64, end = {start + size} : i64, start = {start} : i64"


def along(dimension: int, split: int | None = None) -> str:
    """The attributes of a collective."""
    text = f"dimension = {dimension} : i64"
    return text if split is None else f"{text}, split_dimension = {split} : i64"


def two_by_two(plan: PlanText, op: Op, _random: Random) -> Change | None:
    """What four ranks gather, scatter or exchange, in two steps of pairs.

    A gather takes neighbours first and a scatter last, as parts are in the order of the
    ranks. An exchange leaves the two parts in the middle the wrong way round.
    """
    found = read(op, "all_gather", "reduce_scatter", "all_to_all")
    if not found or len(found.members) != 4:
        return None
    lines = Lines(plan, op)
    x, at, me = op.operands[0], op.number("dimension"), found.position
    near = found.group([me & 2, (me & 2) + 1])
    far = found.group([me & 1, (me & 1) + 2])
    type_, name = plan.type(op, x), f"communicate {found.kind}"
    if found.kind == "all_gather":
        half = lines.add(name, [x], resized(type_, at, times=2), along(at), near)
        return lines.done(name, [half], along(at), far)
    if found.kind == "reduce_scatter":
        half = lines.add(name, [x], resized(type_, at, parts=2), along(at), far)
        return lines.done(name, [half], along(at), near)
    split = op.number("split_dimension")
    if at == split:
        return None
    for group in (far, near):
        type_ = resized(resized(type_, at, times=2), split, parts=2)
        x = lines.add(name, [x], type_, along(at, split), group)
    parts = [piece(lines, x, at, number, 4) for number in (0, 2, 1, 3)]
    return lines.done("concat", parts, along(at))


def as_whole(plan: PlanText, op: Op, _random: Random) -> Change | None:
    """A scatter as an all-reduce and an exchange as an all-gather, of which each rank keeps
    its own part; a gather as the sum of what ranks have, with zeros around.
    """
    found = read(op, "all_gather", "reduce_scatter", "all_to_all")
    if not found:
        return None
    lines = Lines(plan, op)
    x, at, count = op.operands[0], op.number("dimension"), len(found.members)
    type_, words = plan.type(op, x), found.group(list(range(count)))
    size = shape(op.types[0])[at]
    if found.kind == "reduce_scatter":
        whole = lines.add("communicate all_reduce", [x], type_, words=words)
        return lines.done("slice", [whole], bounds(at, found.position * size, size))
    if found.kind == "all_to_all":
        split = op.number("split_dimension")
        if at == split:
            return None
        gathered = resized(type_, at, times=count)
        whole = lines.add("communicate all_gather", [x], gathered, along(at), words)
        size = shape(op.types[0])[split]
        return lines.done("slice", [whole], bounds(split, found.position * size, size))
    if not is_real(type_):
        return None
    before, behind = found.position, count - 1 - found.position
    parts = [lines.constant(0, resized(type_, at, times=before))] if before else []
    parts.append(x)
    parts += [lines.constant(0, resized(type_, at, times=behind))] if behind else []
    padded = lines.add("concat", parts, op.types[0], along(at))
    return lines.done("communicate all_reduce", [padded], words=words)


def reordered(plan: PlanText, op: Op, random: Random) -> Change | None:
    """The members of a group in another order, and parts put where they were.

    A sum has no order. What is gathered is put back afterwards, what is scattered is put
    in the order of the members before.
    """
    found = read(op, "all_gather", "reduce_scatter", "all_reduce")
    if not found:
        return None
    count = len(found.members)
    order = random.sample(range(count), count)
    if order == sorted(order):
        order.reverse()
    lines = Lines(plan, op)
    x, words, name = op.operands[0], found.group(order), f"communicate {found.kind}"
    if found.kind == "all_reduce":
        return lines.done(name, [x], words=words)
    at = op.number("dimension")
    if found.kind == "all_gather":
        whole = lines.add(name, [x], op.types[0], along(at), words)
        parts = [piece(lines, whole, at, order.index(i), count) for i in range(count)]
        return lines.done("concat", parts, along(at))
    parts = [piece(lines, x, at, i, count) for i in order]
    whole = lines.add("concat", parts, plan.type(op, x), along(at))
    return lines.done(name, [whole], along(at), words)


def first_of_two(plan: PlanText, op: Op) -> Op | None:
    """The collective whose result is read by `op` alone."""
    before = [one for one in plan.by_body[op.body] if op.operands[0] in one.results]
    uses = plan.uses(before[0], op.operands[0]) if before else []
    return before[0] if len(uses) == 1 and before[0].kind == "communicate" else None


def union(plan: PlanText, op: Op, first: Op) -> list[int] | None:
    """The members of the groups of `first`, one after the other in the order of `op`'s.

    A sum has no order. None if groups overlap, or if a member has another union.
    """
    groups = {one.device: Collective(one).members for one in plan.siblings(first)}
    outer = {one.device: Collective(one).members for one in plan.siblings(op)}
    unions = {}
    for device, members in outer.items():
        if any(member not in groups for member in members):
            return None
        unions[device] = [one for member in members for one in groups[member]]
        if " all_reduce " in op.text:
            unions[device].sort()
    own = unions.get(op.device, [])
    is_same = all(unions.get(member) == own for member in own)
    return own if is_same and len(set(own)) == len(own) else None


def joint(plan: PlanText, op: Op, _random: Random) -> Change | None:
    """Two collectives after one another as one over all of their members.

    Sums over pairs and across them, of different ranks each time, are one sum, of the
    replicas too where the second is; parts that are gathered twice are in the order of the
    first within that of the second. A scatter and a gather of the same parts are a sum.
    """
    last = read(op, "all_reduce", "all_gather")
    if op.kind == "communicate" and GROUP.search(op.text) and not last:
        last = Collective(op) if " all_reduce " in op.text and " by " not in op.text else None
    before = first_of_two(plan, op) if last else None
    first = read(before, "all_reduce", "all_gather", "reduce_scatter") if before else None
    if not last or not first or not before:
        return None
    lines = Lines(plan, op)
    x, name = before.operands[0], f"communicate {last.kind}"
    kinds = (first.kind, last.kind)
    if kinds == ("reduce_scatter", "all_gather"):
        if first.members != last.members or before.number("dimension") != op.number("dimension"):
            return None
        words = first.group(list(range(len(first.members))))
        return {before.line: ""} | lines.done("communicate all_reduce", [x], words=words)
    members = union(plan, op, before)
    if kinds[0] != kinds[1] or not members:
        return None
    if last.kind == "all_reduce":
        words = f" group {members}{' replicas' if last.of_replicas else ''}"
        return {before.line: ""} | lines.done(name, [x], words=words)
    if before.number("dimension") != op.number("dimension"):
        return None
    words, attributes = f" group {members}", along(op.number("dimension"))
    return {before.line: ""} | lines.done(name, [x], attributes, words)
