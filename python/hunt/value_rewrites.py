# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Values in another form that hold the same: layouts, shapes, pieces, neutral arithmetic."""

from random import Random

from hunt.plan_text import Change, Op, PlanText, shape, with_shape
from hunt.rewriting import behind, is_real, is_wrapped


def copies(plan: PlanText, op: Op, random: Random) -> Change | None:
    """Identity copies."""
    if not is_wrapped(op):
        return None
    type_ = op.types[0]
    return behind(plan, op, random, [f"%new = tv.copy %old : ({type_}) -> {type_}"])


def transposed(plan: PlanText, op: Op, random: Random) -> Change | None:
    """Another layout, and back."""
    sizes = shape(op.types[0]) if is_wrapped(op) else ()
    if len(sizes) < 2:
        return None
    order = list(range(len(sizes)))
    random.shuffle(order)
    back = [order.index(i) for i in range(len(order))]
    type_, middle = op.types[0], plan.fresh()
    other = with_shape(type_, tuple(sizes[i] for i in order))
    forth, there = (", ".join(map(str, one)) for one in (order, back))
    return behind(
        plan,
        op,
        random,
        [
            f"{middle} = tv.transpose %old {{permutation = array<i64: {forth}>}} : "
            f"({type_}) -> {other}",
            f"%new = tv.transpose {middle} {{permutation = array<i64: {there}>}} : "
            f"({other}) -> {type_}",
        ],
    )


def reshaped(plan: PlanText, op: Op, random: Random) -> Change | None:
    """Another shape, and back."""
    sizes = shape(op.types[0]) if is_wrapped(op) else ()
    if not sizes:
        return None
    at = random.randrange(len(sizes))
    if random.random() < 0.5 and len(sizes) > 1:
        at = min(at, len(sizes) - 2)
        other_sizes = (*sizes[:at], sizes[at] * sizes[at + 1], *sizes[at + 2 :])
    else:
        other_sizes = (*sizes[:at], 1, *sizes[at:])
    type_, middle = op.types[0], plan.fresh()
    other = with_shape(type_, other_sizes)
    return behind(
        plan,
        op,
        random,
        [
            f"{middle} = tv.reshape %old : ({type_}) -> {other}",
            f"%new = tv.reshape {middle} : ({other}) -> {type_}",
        ],
    )


def neutral(plan: PlanText, op: Op, random: Random) -> Change | None:
    """Plus zero, times one, divided by one, negated twice, or halves added up."""
    if not is_wrapped(op) or not is_real(op.types[0]):
        return None
    type_, middle = op.types[0], plan.fresh()
    kind, number = random.choice(
        [
            ("add", 0.0),
            ("subtract", 0.0),
            ("multiply", 1.0),
            ("divide", 1.0),
            ("half", 0.5),
            ("negate", 0),
        ]
    )
    literal = f"{middle} = tv.constant dense<{number:e}> : tensor<f64> : () -> tensor<f64>"
    if kind == "negate":
        return behind(
            plan,
            op,
            random,
            [
                f"{middle} = tv.negate %old : ({type_}) -> {type_}",
                f"%new = tv.negate {middle} : ({type_}) -> {type_}",
            ],
        )
    if kind == "half":
        half = plan.fresh()
        return behind(
            plan,
            op,
            random,
            [
                literal,
                f"{half} = tv.multiply %old, {middle} : ({type_}, tensor<f64>) -> {type_}",
                f"%new = tv.add {half}, {half} : ({type_}, {type_}) -> {type_}",
            ],
        )
    last = f"%new = tv.{kind} %old, {middle} : ({type_}, tensor<f64>) -> {type_}"
    return behind(plan, op, random, [literal, last])


def divided(plan: PlanText, op: Op, random: Random) -> Change | None:
    """Cut into two pieces that are put together again."""
    sizes = shape(op.types[0]) if is_wrapped(op) else ()
    places = [i for i, size in enumerate(sizes) if size > 1]
    if not places:
        return None
    at = random.choice(places)
    cut = random.randrange(1, sizes[at])
    type_, names, types, lines = op.types[0], [], [], []
    for start, end in ((0, cut), (cut, sizes[at])):
        names.append(plan.fresh())
        types.append(with_shape(type_, (*sizes[:at], end - start, *sizes[at + 1 :])))
        lines.append(
            f"{names[-1]} = tv.slice %old {{dimension = {at} : i64, end = {end} : i64, "
            f"start = {start} : i64}} : ({type_}) -> {types[-1]}"
        )
    listed, of = ", ".join(names), ", ".join(types)
    lines.append(f"%new = tv.concat {listed} {{dimension = {at} : i64}} : ({of}) -> {type_}")
    return behind(plan, op, random, lines)
