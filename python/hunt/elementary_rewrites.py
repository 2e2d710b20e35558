# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ops as the ops that they are made of: norms, softmax, activations, roots, quotients.

Each keeps the values wherever the op is defined. Done to the reference, they leave a plan
whose op is the fused one.
"""

import re
from fractions import Fraction
from math import prod
from random import Random

from hunt.plan_text import Change, Op, PlanText, shape, with_shape
from hunt.rewriting import Lines, is_real

LITERAL = re.compile(r"dense<(-?[\d.]+(?:e[+-]?\d+)?)>")


def epsilon(op: Op) -> float:
    """The number that a norm adds to the variance."""
    match = re.search(r"epsilon = ([\d.]+(?:e[+-]?\d+)?) : f64", op.text)
    assert match, op.text
    return float(match.group(1))


def reciprocal(number: float) -> float | None:
    """One divided by a number, if a literal says just that.

    A literal is the simplest rational that rounds to it, so the inverse of a short one is.
    """
    simple = Fraction(repr(number)).limit_denominator(4096)
    if not number or float(simple) != number or abs(simple.numerator) > 4096:
        return None
    return float(1 / simple)


def mean(lines: Lines, value: str, over: tuple[int, ...], random: Random) -> str:
    """The average over dimensions that stay, in one of three forms."""
    type_ = lines.type(value)
    sizes = shape(type_)
    kept = with_shape(type_, tuple(1 if i in over else size for i, size in enumerate(sizes)))
    dimensions = f"dimensions = array<i64: {', '.join(map(str, over))}>"
    form = random.choice(["average", "divide", "multiply"])
    if form == "average":
        return lines.add("reduce average", [value], kept, dimensions, " keep")
    total = lines.add("reduce sum", [value], kept, dimensions, " keep")
    count = prod(sizes[i] for i in over)
    return lines.add(form, [total, lines.constant(count if form == "divide" else 1 / count)], kept)


def square(lines: Lines, value: str, random: Random) -> str:
    """A value times itself."""
    if random.random() < 0.5:
        return lines.add("power", [value], lines.type(value), "numerator = 2 : i64")
    return lines.add("multiply", [value, value], lines.type(value))


def over_root(lines: Lines, value: str, variance: str, random: Random) -> str:
    """A value divided by the root of a positive one."""
    type_, root = lines.type(value), lines.type(variance)
    form = random.choice(["rsqrt", "sqrt", "power"])
    if form == "sqrt":
        return lines.add("divide", [value, lines.add("sqrt", [variance], root)], type_)
    half = "denominator = 2 : i64, numerator = -1 : i64" if form == "power" else ""
    return lines.add("multiply", [value, lines.add(form, [variance], root, half)], type_)


def unfused_norm(plan: PlanText, op: Op, random: Random) -> Change | None:
    """A norm of a layer as averages, a root, a product and a sum.

    The variance is a sum of squares, so that with a positive epsilon the root is of a
    positive number.
    """
    if op.kind != "layer_norm" or epsilon(op) <= 0:
        return None
    lines = Lines(plan, op)
    x, weight, bias = op.operands
    type_, rank = op.types[0], len(shape(op.types[0]))
    over = tuple(range(rank - len(shape(plan.type(op, weight))), rank))
    average = mean(lines, x, over, random)
    centred = lines.add("subtract", [x, average], type_)
    if random.random() < 0.5:
        variance = mean(lines, square(lines, centred, random), over, random)
    else:
        squares = mean(lines, square(lines, x, random), over, random)
        kept = lines.type(average)
        variance = lines.add("subtract", [squares, square(lines, average, random)], kept)
    raised = lines.add("add", [variance, lines.constant(epsilon(op))], lines.type(variance))
    normal = over_root(lines, centred, raised, random)
    return lines.done("add", [lines.add("multiply", [normal, weight], type_), bias])


def unfused_softmax(plan: PlanText, op: Op, random: Random) -> Change | None:
    """A softmax as exponentials divided by their sum, of the operand or of it less another.

    What is subtracted is the same along the dimension: a number, or the logarithm of the
    sum, where no element is minus infinity. A maximum would have no derivative at ties.
    """
    if op.kind != "softmax":
        return None
    lines = Lines(plan, op)
    x, type_ = op.operands[0], op.types[0]
    at = op.number("dimension")
    sizes = shape(type_)
    kept = with_shape(type_, (*sizes[:at], 1, *sizes[at + 1 :]))
    along = f"dimensions = array<i64: {at}>"
    form = random.choice(["plain", "number", "logarithm"])
    if not is_real(plan.type(op, x)) and form == "logarithm":
        form = "plain"
    if form == "number":
        x = lines.add("add", [x, lines.constant(random.choice([1, -2, 0.5]))], lines.type(x))
    powers = lines.add("exp", [x], type_)
    total = lines.add("reduce sum", [powers], kept, along, " keep")
    if form == "logarithm":
        less = lines.add("subtract", [x, lines.add("log", [total], kept)], type_)
        return lines.done("exp", [less])
    if random.random() < 0.5:
        return lines.done("divide", [powers, total])
    inverse = lines.add("divide", [lines.constant(1), total], kept)
    return lines.done("multiply", [powers, inverse])


def logistic(lines: Lines, x: str, random: Random) -> tuple[str, str]:
    """A numerator and a denominator, the quotient of which is the sigmoid."""
    type_ = lines.type(x)
    one = lines.constant(1)
    if random.random() < 0.5:
        power = lines.add("exp", [x], type_)
        return power, lines.add("add", [power, one], type_)
    power = lines.add("exp", [lines.add("negate", [x], type_)], type_)
    return one, lines.add("add", [one, power], type_)


def unfused_activation(plan: PlanText, op: Op, random: Random) -> Change | None:
    """A sigmoid as a quotient of exponentials, and activations by what they multiply x by."""
    if op.kind not in ("silu", "sigmoid", "gelu") or not is_real(op.types[0]):
        return None
    lines = Lines(plan, op)
    x, type_ = op.operands[0], op.types[0]
    if op.kind == "gelu":
        root = lines.add("sqrt", [lines.constant(2)], "tensor<f64>")
        error = lines.add("erf", [lines.add("divide", [x, root], type_)], type_)
        raised = lines.add("add", [error, lines.constant(1)], type_)
        halved = lines.add("multiply", [x, lines.constant(0.5)], type_)
        return lines.done("multiply", [halved, raised])
    if op.kind == "silu" and random.random() < 0.5:
        return lines.done("multiply", [x, lines.add("sigmoid", [x], type_)])
    above, below = logistic(lines, x, random)
    if op.kind == "sigmoid":
        return lines.done("divide", [above, below])
    return lines.done("multiply", [x, lines.add("divide", [above, below], type_)])


def literal_of(plan: PlanText, op: Op, value: str) -> float | None:
    """The number that a value of the body is, if it is a literal."""
    made = [one for one in plan.alike(op.body, "constant") if one.name == value]
    match = LITERAL.search(made[0].text) if made else None
    return float(match.group(1)) if match else None


def other_arithmetic(plan: PlanText, op: Op, random: Random) -> Change | None:
    """A power as products, a root in another form, a quotient as a product, a difference
    as a sum, and back. What is divided by is not 0 where the op is defined.
    """
    if len(op.results) != 1 or not is_real(op.types[0]):
        return None
    lines = Lines(plan, op)
    type_ = op.types[0]
    match op.kind, op.operands:
        case "power", [x] if op.number("numerator") in (2, 3) and "denominator" not in op.text:
            if op.number("numerator") == 3:
                return lines.done("multiply", [lines.add("multiply", [x, x], type_), x])
            return lines.done("multiply", [x, x])
        case "rsqrt", [x]:
            if random.random() < 0.5:
                return lines.done("power", [x], "denominator = 2 : i64, numerator = -1 : i64")
            root = lines.add("sqrt", [x], type_)
            return lines.done("divide", [lines.constant(1), root])
        case "divide" | "multiply", [x, y] if (number := literal_of(plan, op, y)) is not None:
            inverse = reciprocal(number)
            if inverse is None:
                return None
            kind = "multiply" if op.kind == "divide" else "divide"
            return lines.done(kind, [x, lines.constant(inverse)])
        case "divide", [x, y]:
            if random.random() < 0.5:
                inverse_of = lines.add("power", [y], lines.type(y), "numerator = -1 : i64")
            else:
                inverse_of = lines.add("divide", [lines.constant(1), y], lines.type(y))
            return lines.done("multiply", [x, inverse_of])
        case "multiply", [x, y] if x == y:
            return lines.done("power", [x], "numerator = 2 : i64")
        case "subtract", [x, y]:
            return lines.done("add", [x, lines.add("negate", [y], lines.type(y))])
        case "add", [x, y] if is_real(lines.type(x)) and is_real(lines.type(y)):
            return lines.done("subtract", [x, lines.add("negate", [y], lines.type(y))])
    return None


def other_contraction(plan: PlanText, op: Op, random: Random) -> Change | None:
    """A product of matrices with one of them transposed, by letters, or as products that
    are summed.
    """
    if op.kind not in ("linear", "matmul") or len(op.operands) != 2:
        return None
    lines = Lines(plan, op)
    (x, y), type_ = op.operands, op.types[0]
    sizes, others = shape(plan.type(op, x)), shape(plan.type(op, y))
    if op.kind == "matmul":
        if len(sizes) != len(others) or sizes[:-2] != others[:-2]:
            return None
        batch = "abcdefgh"[: len(sizes) - 2]
        return lines.done("einsum", [x, y], f'equation = "{batch}ik,{batch}kj->{batch}ij"')
    form = random.choice(["letters", "transposed", "products"])
    batch = "abcdefgh"[: len(sizes) - 1]
    if form == "letters":
        return lines.done("einsum", [y, x], f'equation = "nk,{batch}k->{batch}n"')
    if form == "transposed":
        turned = with_shape(plan.type(op, y), others[::-1])
        matrix = lines.add("transpose", [y], turned, "permutation = array<i64: 1, 0>")
        rows = prod(sizes[:-1])
        flat = lines.add("reshape", [x], with_shape(type_, (rows, sizes[-1])))
        result = lines.add("matmul", [flat, matrix], with_shape(type_, (rows, others[0])))
        return lines.done("reshape", [result])
    spread = with_shape(plan.type(op, x), (*sizes[:-1], 1, sizes[-1]))
    product = with_shape(type_, (*sizes[:-1], *others))
    terms = lines.add("multiply", [lines.add("reshape", [x], spread), y], product)
    return lines.done("reduce sum", [terms], f"dimensions = array<i64: {len(sizes)}>")
