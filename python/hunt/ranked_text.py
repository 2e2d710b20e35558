# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plans of equal ranks as text: every value goes into the loss, and one into a gradient."""

from hunt.ranked_plans import SIZE, TOKENS, WHOLE, RankedPlan, Shape, kind, signature

PRODUCT = '{equation = "bi,io->bo"}'
BACKWARD = "{outputs = array<i64: 0>, wrt = array<i64: 1>}"


def print_plan(plan: RankedPlan) -> str:
    """The module: a reference of the same interface, and the plan."""
    devices = plan.stages * plan.ranks
    mesh = f"<dp = {plan.replicas}, device = {devices}, mb = {plan.micro_batches}>"
    lines = _reference(SIZE * plan.replicas * plan.micro_batches)
    lines.append(f"tv.plan @plan {mesh} {{")
    for stage in range(plan.stages):
        values = list(plan.values[stage].items())
        left = plan.random.choice([name for name, shape in values if shape == WHOLE])
        gradient = plan.random.choice([name for name, shape in values if shape == plan.columns])
        for rank in range(plan.ranks):
            lines += _device(plan, stage, rank, left, gradient)
    return "\n".join([*lines, "}"]) + "\n"


def _reference(rows: int) -> list[str]:
    """A program that divides its inputs and its parameter as the plan does."""
    shape = (rows, SIZE)
    tokens = f"tensor<{rows}xi64>"
    whole = f"<3, [0:{SIZE} of {SIZE}, 0:{SIZE} of {SIZE}]>"
    buffer = f"!tv.buffer<{kind(WHOLE)}>"
    pieces = _pieces(rows)
    return [
        "tv.plan @reference <dp = 1, device = 1, mb = 1> {",
        f'  tv.buffer @w on 0 "w" holds {whole} : {buffer}',
        f'  tv.buffer @g on 0 "w" holds {whole} gradient_of @w : {buffer}',
        "  tv.segment @forward on 0 cell 0 {",
        f"  ^bb0(%x: {kind(shape)}, %i: {tokens}):",
        f"    %w = tv.read @w : {kind(WHOLE)}",
        f"    %y = tv.einsum %x, %w {PRODUCT} : {signature((shape, WHOLE), shape)}",
        f"    %o = tv.one_hot %i {{start = 0 : i64}} : ({tokens}) -> {kind(shape)}",
        f"    %z = tv.multiply %y, %o : {signature((shape, shape), shape)}",
        *_sum("%l", "%z", shape),
        f"    tv.save 0 from %x, %w to %l : {kind(shape)}, {kind(WHOLE)} to tensor<f32>",
        "    tv.return %l : tensor<f32>",
        "  }",
        "  tv.segment @backward on 0 cell 1 backward {",
        "    %d = tv.seed : tensor<f32>",
        f"    %dw = tv.backward %d of 0 {BACKWARD} : (tensor<f32>) -> {kind(WHOLE)}",
        f"    tv.add_to %dw, @g : {kind(WHOLE)}",
        "    tv.return",
        "  }",
        "  tv.program 0 {",
        f'    %x:2 = tv.load_data cell 1 ["x", "i"] holds [{pieces}] : {kind(shape)}, {tokens}',
        "    %l = tv.call @forward(%x#0, %x#1) instance 0 mirror 1 : "
        f"({kind(shape)}, {tokens}) -> tensor<f32>",
        '    tv.output %l "loss" <9, []> : tensor<f32>',
        "    tv.call @backward() instance 1 mirror 0 : () -> ()",
        "  }",
        "}",
    ]


def _pieces(rows: int) -> str:
    """What a loader gives: data and tokens."""
    data = f"#tv.piece<1, [0:{rows} of {rows}, 0:{SIZE} of {SIZE}]>"
    return f"{data}, #tv.piece<2, [0:{rows} of {rows}]>"


def _sum(result: str, value: str, shape: Shape) -> list[str]:
    types = f"({kind(shape)}) -> tensor<f32>"
    return [f"    {result} = tv.reduce sum {value} {{dimensions = array<i64: 0, 1>}} : {types}"]


def _loss(values: list[tuple[str, Shape]]) -> tuple[list[str], str]:
    """The sum of all values, each times other elements of the data; its name."""
    lines: list[str] = []
    total = ""
    for number, (value, shape) in enumerate(values):
        weight = f"%x{number}"
        if shape[0] > SIZE or shape[1] > SIZE:
            weight = value
        else:
            start = f"dimension = 0 : i64, start = 0 : i64, end = {shape[0]} : i64"
            rows = (shape[0], SIZE)
            lines.append(f"    %r{number} = tv.slice %x {{{start}}} : {signature((WHOLE,), rows)}")
            start = f"dimension = 1 : i64, start = 0 : i64, end = {shape[1]} : i64"
            lines.append(
                f"    {weight} = tv.slice %r{number} {{{start}}} : {signature((rows,), shape)}"
            )
        types = signature((shape, shape), shape)
        lines.append(f"    %q{number} = tv.multiply {value}, {weight} : {types}")
        lines += _sum(f"%s{number}", f"%q{number}", shape)
        if total:
            types = "(tensor<f32>, tensor<f32>) -> tensor<f32>"
            lines.append(f"    %a{number} = tv.add {total}, %s{number} : {types}")
        total = f"%a{number}" if total else f"%s{number}"
    return lines, total


def _device(plan: RankedPlan, stage: int, rank: int, left: str, gradient: str) -> list[str]:
    """The buffers, segments and program of a rank."""
    device = plan.device(stage, rank)
    columns = kind(plan.columns)
    size, part = plan.columns[1], plan.parts[stage][rank]
    piece = f"<3, [0:{SIZE} of {SIZE}, {part * size}:{(part + 1) * size} of {SIZE}]>"
    summed, loss = _loss(list(plan.values[stage].items()))
    product = signature((WHOLE, plan.columns), plan.columns)
    lines = [
        f'  tv.buffer @w{device} on {device} "w" holds {piece} : !tv.buffer<{columns}>',
        f'  tv.buffer @g{device} on {device} "w" holds {piece} '
        f"gradient_of @w{device} : !tv.buffer<{columns}>",
        f"  tv.segment @forward{device} on {device} cell 10 {{",
        f"  ^bb0(%x: {kind(WHOLE)}, %i: {TOKENS}):",
        f"    %w = tv.read @w{device} : {columns}",
        *(f"    {line}" for line in plan.lines[device]),
        f"    %m = tv.einsum {left}, %w {PRODUCT} : {product}",
        f"    tv.save 1 from {left}, %w to %m : {kind(WHOLE)}, {columns} to {columns}",
        *summed,
    ]
    if stage == plan.odd:
        tag = " {tag = 1 : i64}" if rank == plan.ranks - 1 else ""
        lines.append(f"    %odd = tv.negate %x{tag} : {signature((WHOLE,), WHOLE)}")
    lines += [
        f"    tv.return {loss}, {gradient} : tensor<f32>, {columns}",
        "  }",
        f"  tv.segment @backward{device} on {device} cell 11 backward {{",
        f"  ^bb0(%d: {columns}):",
        f"    %dw = tv.backward %d of 1 {BACKWARD} : ({columns}) -> {columns}",
        f"    tv.add_to %dw, @g{device} : {columns}",
        "    tv.return",
        "  }",
        f"  tv.program {device} {{",
    ]
    data_type, pieces = kind(WHOLE), _pieces(SIZE)
    for number in range(plan.micro_batches):
        data, given = f"%x{number}", f"%l{number}"
        lines += [
            f'    {data}:2 = tv.load_data cell 1 ["x", "i"] holds [{pieces}] : '
            f"{data_type}, {TOKENS}",
            f"    {given}:2 = tv.call @forward{device}({data}#0, {data}#1) instance {10 * number} "
            f"mirror {10 * number + 1} : ({data_type}, {TOKENS}) -> (tensor<f32>, {columns})",
            f'    tv.output {given}#0 "loss" <9, []> : tensor<f32>',
            f"    tv.call @backward{device}({given}#1) instance {10 * number + 1} "
            f"mirror {10 * number} : ({columns}) -> ()",
        ]
    return [*lines, "  }"]
