# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Changes of the text of a plan that keep what it computes.

What is added lies within what a `tv.save` differentiates, or, at random, behind it: the
saved result is then what was there before.
"""

import re
from random import Random

from hunt.op_mutations import GROUP, Mutation, attributes, without_piece
from hunt.plan_text import VALUE, Change, Op, PlanText, replace_value, shape, with_shape

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


def is_saved(plan: PlanText, op: Op) -> bool:
    """Whether the op's result is one that is differentiated as such."""
    outputs = [SAVE.match(save.text) for save in plan.alike(op.body, "save")]
    return any(found and op.results[0] in VALUE.findall(found.group(3)) for found in outputs)


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


# All members of a group change what they do together.
TOGETHER = {"reduce-scatter and all-gather", "resharding", "split group", "micro-batch order"}
REWRITES: dict[str, Mutation] = {
    "identity copy": copies,
    "transposed layout": transposed,
    "reshaping": reshaped,
    "neutral arithmetic": neutral,
    "cut and joined": divided,
    "reduce-scatter and all-gather": scattered,
    "resharding": resharded,
    "split group": split_group,
    "commuted operands": commuted,
    "split contraction": split_contraction,
    "split sum": split_sum,
    "recomputation": recomputed,
    "replicated computation": replicated,
    "micro-batch order": micro_batches,
    "order of ops": call_order,
}


def rewrite(plan: PlanText, random: Random) -> tuple[PlanText, str]:
    """One rewrite of a kind and at a place that are drawn, and its kind."""
    kinds = list(REWRITES)
    while kinds:
        kind = kinds.pop(random.randrange(len(kinds)))
        for op in random.sample(plan.ops, len(plan.ops)):
            seed = random.random()
            change = REWRITES[kind](plan, op, Random(seed))
            if not change:
                continue
            if kind in TOGETHER or random.random() < 0.4:
                for sibling in plan.siblings(op):
                    if sibling.line not in change:
                        change |= REWRITES[kind](plan, sibling, Random(seed)) or {}
            return plan.apply(change), kind
    raise ValueError("no rewrite applies")
