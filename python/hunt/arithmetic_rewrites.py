# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sums and products in other forms that give the same."""

import re
from random import Random

from hunt.op_mutations import attributes, without_piece
from hunt.plan_text import Change, Op, PlanText, shape, with_shape


def commuted(plan: PlanText, op: Op, _random: Random) -> Change | None:
    """Operands of a sum or product in the other order."""
    if op.kind not in ("add", "multiply") or len(op.operands) != 2:
        return None
    types = plan.operand_types(op)
    start, _, end = op.text.rpartition(" : (")
    head, _, rest = start.partition(f"{op.operands[0]}, {op.operands[1]}")
    result = end.rsplit(") -> ", 1)[1]
    swapped = f"{op.operands[1]}, {op.operands[0]}"
    return {op.line: f"{head}{swapped}{rest} : ({types[1]}, {types[0]}) -> {result}"}


def split_contraction(plan: PlanText, op: Op, random: Random) -> Change | None:
    """A product of matrices as the sum of two, over parts of what is summed."""
    if op.kind != "linear" or len(op.operands) != 2:
        return None
    x, weight = plan.operand_types(op)
    size = shape(weight)[1]
    if size < 2:
        return None
    cut = random.randrange(1, size)
    lines, terms = [], []
    for start, end in ((0, cut), (cut, size)):
        parts, types = [], []
        for value, type_ in zip(op.operands, (x, weight), strict=True):
            parts.append(plan.fresh())
            types.append(with_shape(type_, (*shape(type_)[:-1], end - start)))
            lines.append(
                f"{op.indent}{parts[-1]} = tv.slice {value} {{dimension = {len(shape(type_)) - 1} "
                f": i64, end = {end} : i64, start = {start} : i64}} : ({type_}) -> {types[-1]}"
            )
        terms.append(plan.fresh())
        lines.append(
            f"{op.indent}{terms[-1]} = tv.linear {parts[0]}, {parts[1]} : "
            f"({types[0]}, {types[1]}) -> {op.types[0]}"
        )
    if random.random() < 0.5:
        terms.reverse()
    type_ = op.types[0]
    total = f"{op.indent}{op.name} = tv.add {terms[0]}, {terms[1]}{attributes(op)}"
    return {op.line: "\n".join([*lines, f"{total} : ({type_}, {type_}) -> {type_}"])}


def split_sum(plan: PlanText, op: Op, random: Random) -> Change | None:
    """A sum over two dimensions one after the other; an average as a sum divided."""
    if op.kind != "reduce":
        return None
    found = re.search(r"dimensions = array<i64: ([\d, ]+)>", op.text)
    type_ = plan.type(op, op.operands[0])
    assert found, op.text
    over = [int(i) for i in found.group(1).split(", ")]
    if " average " in op.text:
        number = 1
        for i in over:
            number *= shape(type_)[i]
        total, literal = plan.fresh(), plan.fresh()
        text = (
            without_piece(op.text)
            .replace("average", "sum")
            .replace(f"{op.name} =", f"{total} =", 1)
        )
        return {
            op.line: f"{text}\n{op.indent}{literal} = tv.constant dense<{number:e}> : "
            f"tensor<f64> : () -> tensor<f64>\n{op.indent}{op.name} = tv.divide {total}, {literal}"
            f"{attributes(op)} : ({op.types[0]}, tensor<f64>) -> {op.types[0]}"
        }
    if len(over) < 2 or " keep " in op.text or " sum " not in op.text:
        return None
    at = random.choice(over)
    left = tuple(size for i, size in enumerate(shape(type_)) if i != at)
    others = ", ".join(str(i - (i > at)) for i in over if i != at)
    middle, other = plan.fresh(), with_shape(type_, left)
    stated = f", tv.piece = {op.piece}" if op.piece else ""
    return {
        op.line: f"{op.indent}{middle} = tv.reduce sum {op.operands[0]} {{dimensions = array<i64: "
        f"{at}>}} : ({type_}) -> {other}\n{op.indent}{op.name} = tv.reduce sum {middle} "
        f"{{dimensions = array<i64: {others}>{stated}}} : ({other}) -> {op.types[0]}"
    }
