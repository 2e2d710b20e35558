# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mistakes in the text of a plan: one place, or the same place on all devices.

A mutation gets an op and returns what replaces lines, or None where it does not
apply. Whether it can be seen in a result is for execution to say.
"""

import re
from collections.abc import Callable
from random import Random

from hunt.plan_text import PIECE, VALUE, Change, Op, PlanText, replace_value, shape

Mutation = Callable[[PlanText, Op, Random], Change | None]

SIMILAR = {
    "add": ["subtract", "multiply", "maximum"],
    "subtract": ["add"],
    "multiply": ["add", "divide"],
    "divide": ["multiply"],
    "silu": ["gelu", "sigmoid", "relu", "copy"],
    "gelu": ["silu", "relu", "copy"],
    "rsqrt": ["sqrt", "copy"],
    "sqrt": ["rsqrt"],
    "exp": ["copy"],
    "sigmoid": ["tanh", "silu"],
    "maximum": ["minimum", "add"],
}
GROUP = re.compile(r"group \[([\d, ]*)\]( replicas)?")
RANK = re.compile(r"(receive from|to) (\d+)")
CALL = re.compile(r"(tv\.call )(@[^(]+)(\([^)]*\))( instance \d+ mirror \d+.*)")


def attributes(op: Op) -> str:
    """What is stated about the result, as an attribute dictionary."""
    return f" {{tv.piece = {op.piece}}}" if op.piece else ""


def copy_of(op: Op, value: str, type_: str) -> str:
    """The op's line as a copy of a value."""
    return f"{op.indent}{op.name} = tv.copy {value}{attributes(op)} : ({type_}) -> {type_}"


def without_piece(text: str) -> str:
    """A line that states nothing about its result."""
    text = re.sub(r"(, )?tv\.piece = #tv\.piece<[^>]*>(, )?", first_separator, text)
    return re.sub(r" \{\}", "", text)


def first_separator(match: re.Match[str]) -> str:
    """What stays between two attributes."""
    return ", " if match.group(1) and match.group(2) else ""


def in_place(plan: PlanText, op: Op, old: str, new: str) -> Change | None:
    """The reads of a value read another one."""
    uses = [use for use in plan.uses(op, old) if use.kind != "save"]
    return {use.line: replace_value(use.text, old, new) for use in uses} or None


def drop(plan: PlanText, op: Op, random: Random) -> Change | None:
    """The op does nothing: its result is an operand of it."""
    if op.body == -1 or op.kind in ("return", "save", "read"):
        return None
    if not op.results:
        return {op.line: ""}
    at = random.randrange(len(op.results))
    same = [v for v in op.operands if plan.type(op, v) == op.types[at]]
    if not same:
        return None
    if len(op.results) == 1:
        return {op.line: copy_of(op, random.choice(same), op.types[0])}
    return in_place(plan, op, op.results[at], random.choice(same))


def duplicate(plan: PlanText, op: Op, random: Random) -> Change | None:
    """The op is done twice: again on its result, or its result counts twice."""
    if op.body == -1 or op.kind in ("return", "save", "call", "load_data"):
        return None
    if not op.results:
        return {op.line: f"{op.text}\n{op.text}"}
    if len(op.results) > 1:
        return None
    again = plan.fresh()
    first = without_piece(op.text).replace(f"{op.name} =", f"{again} =", 1)
    same = [i for i, v in enumerate(op.operands) if plan.type(op, v) == op.types[0]]
    if same and random.random() < 0.5:
        return {op.line: f"{first}\n{op.with_operand(random.choice(same), again)}"}
    type_ = op.types[0]
    total = f"{op.indent}{op.name} = tv.add {again}, {again}{attributes(op)}"
    return {op.line: f"{first}\n{total} : ({type_}, {type_}) -> {type_}"}


def similar(plan: PlanText, op: Op, random: Random) -> Change | None:
    """Another op of the same shape."""
    if op.kind in SIMILAR:
        kind = random.choice(SIMILAR[op.kind])
        return {op.line: op.text.replace(f"tv.{op.kind} ", f"tv.{kind} ", 1)}
    if op.kind == "reduce":
        kinds = ["sum", "average", "maximum", "minimum"]
        now = op.own.split()[1]
        if now not in kinds:
            return None
        kinds.remove(now)
        return {op.line: op.text.replace(f"reduce {now}", f"reduce {random.choice(kinds)}", 1)}
    if op.kind == "power":
        other = random.choice([1, 3, 4])
        return {op.line: re.sub(r"numerator = \d+", f"numerator = {other}", op.text)}
    if op.kind in ("linear", "matmul"):
        type_ = plan.type(op, op.operands[1])
        sizes = shape(type_)
        if len(sizes) < 2 or sizes[-1] != sizes[-2]:
            return None
        order = [*range(len(sizes) - 2), len(sizes) - 1, len(sizes) - 2]
        matrix = plan.fresh()
        turned = f"{op.indent}{matrix} = tv.transpose {op.operands[1]} {{permutation = "
        turned += f"array<i64: {', '.join(map(str, order))}>}} : ({type_}) -> {type_}"
        return {op.line: f"{turned}\n{op.with_operand(1, matrix)}"}
    if op.kind == "transpose":
        order = [int(i) for i in re.findall(r"\d+", op.text.split("array<i64:")[1].split(">")[0])]
        random.shuffle(order)
        listed = ", ".join(map(str, order))
        return {op.line: re.sub(r"array<i64: [^>]*>", f"array<i64: {listed}>", op.text)}
    if op.kind in ("softmax", "layer_norm", "reshape"):
        return drop(plan, op, random)
    return None


def local(op: Op, type_: str) -> list[str]:
    """What a collective may become when nothing is sent: lines of the same type."""
    value = op.operands[0]
    lines = [copy_of(op, value, type_)] if type_ == op.types[0] else []
    before, after = shape(type_), shape(op.types[0])
    if " all_gather " in op.text or " all_to_all " in op.text:
        at = op.number("dimension")
        times = after[at] // max(before[at], 1)
        if " all_gather " in op.text:
            values, types = ", ".join([value] * times), ", ".join([type_] * times)
            lines.append(
                f"{op.indent}{op.name} = tv.concat {values} {{dimension = {at} : i64}} : "
                f"({types}) -> {op.types[0]}"
            )
    if " reduce_scatter " in op.text:
        at = op.number("dimension")
        lines += [
            f"{op.indent}{op.name} = tv.slice {value} {{dimension = {at} : i64, end = "
            f"{start + after[at]} : i64, start = {start} : i64}} : ({type_}) -> {op.types[0]}"
            for start in range(0, before[at], after[at])
        ]
    return lines


def primitive(plan: PlanText, op: Op, random: Random) -> Change | None:
    """Another collective, or none; or one where there was none."""
    if op.kind == "communicate":
        type_ = plan.type(op, op.operands[0])
        lines = local(op, type_)
        numbers = re.search(r"dimension = (\d+) : i64, split_dimension = (\d+)", op.text)
        if numbers:
            first, second = numbers.groups()
            text = f"dimension = {second} : i64, split_dimension = {first}"
            lines.append(op.text.replace(numbers.group(), text))
        return {op.line: random.choice(lines)} if lines else None
    if op.kind in ("copy", "slice"):
        group = f"group {sorted({other.device for other in plan.siblings(op)})}"
        value, types = op.operands[0], op.text.rsplit(" : (", 1)[1]
        if op.kind == "copy":
            start = f"{op.indent}{op.name} = tv.communicate all_reduce {value} {group}"
            return {op.line: f"{start}{attributes(op)} : ({types}"}
        start = f"{op.indent}{op.name} = tv.communicate reduce_scatter {value} {group}"
        return {op.line: f"{start} {{dimension = {op.number('dimension')} : i64}} : ({types}"}
    return None


def group(plan: PlanText, op: Op, random: Random) -> Change | None:
    """A collective of other devices."""
    match = GROUP.search(op.text)
    if op.kind != "communicate" or not match:
        return None
    devices = sorted({device for _name, device in plan.bodies.values()})
    now, replicas = match.group(1), match.group(2) or ""
    others = {other for text in plan.lines for other in GROUP.findall(text)}
    others |= {(str(op.device), ""), (str(op.device), " replicas")}
    others |= {(", ".join(map(str, devices)), ""), (", ".join(now.split(", ")[::-1]), replicas)}
    others |= {(now, "" if replicas else " replicas")}
    chosen = random.choice(sorted(others - {(now, replicas)}))
    return {op.line: GROUP.sub(f"group [{chosen[0]}]{chosen[1]}", op.text)}


def rank(plan: PlanText, op: Op, random: Random) -> Change | None:
    """A send to, and a receive from, another rank; exchanged with another pair, or alone."""
    if op.kind not in ("send", "receive"):
        return None
    devices = sorted({device for _name, device in plan.bodies.values()})
    if random.random() < (0.8 if op.kind == "receive" else 0):
        return None
    if op.kind == "receive" or random.random() < 0.2:
        other = random.choice([number for number in devices if number != op.device])
        return {op.line: RANK.sub(rf"\1 {other}", op.text, count=1)}
    to = next(int(n) for _word, n in RANK.findall(op.text))
    pairs = [other for other in plan.siblings(op) if other.device != op.device]
    if not pairs:
        return None
    other_op = random.choice(pairs)
    other_to = next(int(n) for _word, n in RANK.findall(other_op.text))
    change = {
        op.line: RANK.sub(rf"\1 {other_to}", op.text, count=1),
        other_op.line: RANK.sub(rf"\1 {to}", other_op.text, count=1),
    }
    # Alone, neither arrives; with the receives, each gets what the other should.
    from_ = {to: (op.device, other_op.device), other_to: (other_op.device, op.device)}
    for receive in plan.ops if random.random() < 0.9 else []:
        old, new = from_.get(receive.device, (-1, -1))
        if receive.kind == "receive" and receive.cell == op.cell and f"from {old} " in receive.text:
            change[receive.line] = RANK.sub(rf"\1 {new}", receive.text, count=1)
    return change


def bounds(_plan: PlanText, op: Op, random: Random) -> Change | None:
    """Another part of a tensor, of the same size."""
    if op.kind != "slice":
        return None
    start, end = op.number("start"), op.number("end")
    step = random.choice([end - start, start - end, 1, -1])
    text = re.sub(r"\bend = \d+", f"end = {end + step}", op.text)
    return {op.line: re.sub(r"\bstart = \d+", f"start = {start + step}", text)}


def holds(plan: PlanText, op: Op, random: Random) -> Change | None:
    """A device holds the parameter slice of another, or a part between."""
    if op.kind != "buffer":
        return None
    now = re.search(r"holds <[^>]*>", op.text)
    name = re.search(r'"([^"]*)"', op.text)
    assert now and name, op.text
    if random.random() < 0.6:
        others = {
            match.group()
            for line in plan.lines
            if f'"{name.group(1)}"' in line
            and "tv.buffer" in line
            and (match := re.search(r"holds <[^>]*>", line))
        } - {now.group()}
        if not others:
            return None
        new = random.choice(sorted(others))
    else:
        parts = list(re.finditer(r"(\d+):(\d+) of (\d+)", now.group()))
        part = random.choice(parts)
        start, end, size = map(int, part.groups())
        step = random.choice([1, -1, end - start, start - end])
        moved = f"{start + step}:{end + step} of {size}"
        if end - start == size:
            return None
        new = now.group()[: part.start()] + moved + now.group()[part.end() :]
    # The parameter and its gradient, or one of them.
    both = random.random() < 0.7
    symbol = op.text.split("@")[1].split()[0].removeprefix("gradient_of_")
    return {
        other.line: other.text.replace(now.group(), new, 1)
        for other in plan.by_body.get(-1, [])
        if other is op or (both and re.search(rf"@(gradient_of_)?{symbol}\b", other.text))
    }


def lineage(plan: PlanText, op: Op, random: Random) -> Change | None:
    """What the plan states about a value is another slice, tensor or term."""
    pieces = list(PIECE.finditer(op.text)) if op.kind != "load_data" else []
    if not pieces:
        return None
    piece = random.choice(pieces)
    text = piece.group()
    choice = random.random()
    if choice < 0.3:
        text = re.sub(r"<\d+", f"<{random.choice(PIECE.findall(plan.text))[0]}", text)
    elif choice < 0.4:
        text = (
            text.replace(" gradient", "") if piece.group(2) else text.replace(",", " gradient,", 1)
        )
    elif choice < 0.6:
        text = re.sub(r", \d+ of \d+>", ">", text)
        if text == piece.group():
            text = text.replace("]>", "], 0 of 2>")
    else:
        match = random.choice(list(re.finditer(r"(\d+):(\d+) of (\d+)", text)))
        start, end, size = map(int, match.groups())
        step = random.choice([end - start, start - end, 1])
        whole = max(size, end + step)
        moved = f"{max(start + step, 0)}:{max(start + step, 0) + end - start} of {whole}"
        text = text[: match.start()] + moved + text[match.end() :]
    return {op.line: op.text[: piece.start()] + text + op.text[piece.end() :]}


def constant(_plan: PlanText, op: Op, random: Random) -> Change | None:
    """Another number."""
    match = re.search(r"dense<(-?[\d.]+e[+-]\d+)>", op.text)
    if op.kind != "constant" or not match:
        return None
    number = float(match.group(1))
    changed = random.choice([number * 2, -number, number + 1, number / 2, number * 1.125, 0.0])
    return {op.line: op.text.replace(match.group(), f"dense<{changed:.17e}>", 1)}


def swap(plan: PlanText, op: Op, random: Random) -> Change | None:
    """Two operands of the same type, the other way round."""
    types = plan.operand_types(op)
    pairs = [
        (i, j)
        for i in range(len(types))
        for j in range(i)
        if types[i] == types[j] and op.operands[i] != op.operands[j]
    ]
    if not pairs or op.body == -1 or op.kind == "save":
        return None
    i, j = random.choice(pairs)
    text = op.with_operand(i, op.operands[j])
    start = text.find(" = tv.") if op.name else 0
    at = list(VALUE.finditer(text, start))[j]
    return {op.line: text[: at.start()] + op.operands[i] + text[at.end() :]}


def operand(plan: PlanText, op: Op, random: Random) -> Change | None:
    """Another value of the same type is read."""
    if not op.operands or op.body == -1 or op.kind == "save":
        return None
    at = random.randrange(len(op.operands))
    others = plan.before(op, plan.type(op, op.operands[at]))
    others = [value for value in others if value != op.operands[at]]
    return {op.line: op.with_operand(at, random.choice(others))} if others else None
