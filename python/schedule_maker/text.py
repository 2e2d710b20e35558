# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs as text of the tv dialect, with the single-device program they belong to.

Each chunk multiplies the square of what it gets by a parameter of its own, so gradients
tell micro-batches apart, and the last one adds all up to the loss. A row of the batch is
one micro-batch of one replica.
"""

from collections.abc import Iterator
from dataclasses import replace

from schedule_maker.programs import Program, Step
from schedule_maker.schedules import Kind, Task

WIDTH = 4
# Numbers of tensors: those of parameters follow that of the loss.
INPUT, LOSS, PARAMETERS = 1, 2, 3
PARAMETER = f"tensor<{WIDTH}xf32>"


def print_module(program: Program, with_reference: bool = True) -> str:
    """The text of a module."""
    lines = list(_reference(program)) if with_reference else []
    return "\n".join([*lines, *_plan(program)]) + "\n"


def invalid_use(program: Program) -> str | None:
    """A tensor that is used before it is there, or made twice, which no text can say."""
    for steps in program.steps:
        defined: set[str] = set()
        for step in steps:
            handle: set[str] = {f"handle {step.handle}"} if step.handle else set()
            after = {f"handle {other}" for other in step.after}
            is_wait = step.kind == "wait"
            for used in {*step.uses, *after} | (handle if is_wait else set()):
                if used not in defined:
                    return used
            for given in {step.defines} | (set() if is_wait else handle):
                if given in defined:
                    return given
            defined.update({step.defines, *handle} - {""})
    return None


def _tensor(shape: str) -> str:
    return f"tensor<{shape}xf32>" if shape else "tensor<f32>"


def _piece(number: int, rows: int, of: int) -> str:
    return f"<{number}, [0:{rows} of {of}, 0:{WIDTH} of {WIDTH}]>"


def _segments(program: Program, chunk: int, device: int, suffix: str, rows: int) -> Iterator[str]:
    """The segments of a chunk on a device, and its buffers."""
    schedule = program.schedule
    is_last, is_apart = chunk == schedule.chunks - 1, schedule.has_weights
    piece = f"<{PARAMETERS + chunk}, [0:{WIDTH} of {WIDTH}]>"
    held = f'on {device} "w{chunk}" holds {piece}'
    yield f"  tv.buffer @w{suffix} {held} : !tv.buffer<{PARAMETER}>"
    yield f"  tv.buffer @g{suffix} {held} gradient_of @w{suffix} : !tv.buffer<{PARAMETER}>"
    row, result = _tensor(f"{rows}x{WIDTH}"), _tensor("" if is_last else f"{rows}x{WIDTH}")
    yield f"  tv.segment @forward{suffix} on {device} cell {chunk * 3} {{"
    yield f"  ^bb0(%x: {row}):"
    yield f"    %w = tv.read @w{suffix} : {PARAMETER}"
    yield f"    %s = tv.multiply %x, %x : ({row}, {row}) -> {row}"
    yield f"    %0 = tv.multiply %s, %w : ({row}, {PARAMETER}) -> {row}"
    if is_last:
        sums = "{dimensions = array<i64: 0, 1>}"
        yield f"    %1 = tv.reduce sum %0 {sums} : ({row}) -> {result}"
    given = "%1" if is_last else "%0"
    yield f"    tv.save {chunk} from %x, %w to {given} : {row}, {PARAMETER} to {result}"
    yield f"    tv.return {given} : {result}"
    yield "  }"
    for kind, operands in (
        (Kind.BACKWARD, (0,) if is_apart else (0, 1)),
        (Kind.WEIGHTS, (1,) if is_apart else ()),
    ):
        if operands:
            yield f"  tv.segment @{kind.value}{suffix} on {device} cell {chunk * 3 + 1} backward {{"
            yield from _derivative(chunk, suffix, operands, is_last, row, result)
            yield "  }"


def _derivative(
    chunk: int, suffix: str, operands: tuple[int, ...], is_last: bool, row: str, result: str
) -> Iterator[str]:
    """The inside of a backward segment that differentiates in some operands."""
    if is_last:
        yield f"    %d = tv.seed : {result}"
    else:
        yield f"  ^bb0(%d: {result}):"
    values = ", ".join("%dx" if operand == 0 else "%dw" for operand in operands)
    types = ", ".join(row if operand == 0 else PARAMETER for operand in operands)
    wrt = ", ".join(map(str, operands))
    attributes = f"{{outputs = array<i64: 0>, wrt = array<i64: {wrt}>}}"
    yield f"    {values} = tv.backward %d of {chunk} {attributes} : ({result}) -> ({types})"
    if 1 in operands:
        yield f"    tv.add_to %dw, @g{suffix} : {PARAMETER}"
    if 0 in operands:
        yield f"    tv.return %dx : {row}"


def _plan(program: Program) -> Iterator[str]:
    schedule, devices = program.schedule, len(program.steps)
    mesh = f"dp = {program.replicas}, device = {devices}, mb = {schedule.micro_batches}"
    yield f"tv.plan @plan <{mesh}> {{"
    for chunk in range(schedule.chunks):
        for stage in schedule.holders(chunk):
            for device in range(stage * program.ranks, (stage + 1) * program.ranks):
                yield from _segments(program, chunk, device, f"{chunk}_{device}", 1)
    for device, steps in enumerate(program.steps):
        for slot in sorted({step.slot for step in steps} - {-1}):
            name, memory = f"@slot{slot}_{device}", f"!tv.buffer<{_tensor(f'1x{WIDTH}')}>"
            yield f'  tv.scratch {name} on {device} "slot {slot}" : {memory}'
        yield f"  tv.program {device} {{"
        for position, step in enumerate(steps):
            yield f"    {_print(program, device, step, position)}"
        yield "  }"
    yield "}"


def _print(program: Program, device: int, step: Step, position: int) -> str:
    """One op of a device program."""
    if step.handle and step.kind != "wait":
        into = f"into @g{step.into}_{device} " if step.into >= 0 else ""
        into = f"into @slot{step.slot}_{device} " if step.slot >= 0 else into
        stream = f'stream "{step.stream}" ' if step.stream else ""
        after = f"after {', '.join(f'%{other}' for other in step.after)} " * bool(step.after)
        given = "" if step.kind == "send" else f"{step.handle}_value"
        inner = replace(step, handle="", defines=given)
        read = ""
        if step.reading >= 0:
            value = f"{step.handle}_read"
            read = f"%{value} = tv.read @g{step.reading}_{device} : {_tensor(step.shape)}\n"
            inner = replace(inner, uses=(value,))
        text = read + _print(program, device, inner, position)
        return f"%{step.handle} = tv.start {stream}{after}{into}{{ {text} }}"
    defines = f"%{step.defines} = " if step.defines else ""
    uses = ", ".join(f"%{used}" for used in step.uses)
    tensor = _tensor(step.shape)
    if step.task:
        return defines + _print_call(program, device, step, step.task, position)
    match step.kind:
        case "load":
            piece = f"#tv.piece{_piece(INPUT, 1, 1)}"
            return f'{defines}tv.load_data cell 1 ["x"] holds [{piece}] : {tensor}'
        case "wait":
            kinds = f" : {tensor}" if defines else ""
            return f"{defines}tv.wait %{step.handle}{kinds}"
        case "send":
            return f"tv.send {uses} to {step.peer} : {tensor}"
        case "receive":
            return f"{defines}tv.receive from {step.peer} : {tensor}"
        case "collective":
            group = ", ".join(map(str, step.group))
            replicas = " replicas" if step.is_across_replicas else ""
            by = "" if step.reduction == "sum" else f" by {step.reduction}"
            kinds = f"({tensor}) -> {tensor}"
            op = f"tv.communicate all_reduce {uses} group [{group}]{replicas}{by}"
            return f"{defines}{op} : {kinds}"
        case "copy":
            return f"{defines}tv.copy {uses} : ({tensor}) -> {tensor}"
        case "free":
            return f"tv.free @slot{step.slot}_{device}"
        case "read":
            if step.slot >= 0:
                return f"{defines}tv.read @slot{step.slot}_{device} : {tensor}"
            return f"{defines}tv.read @g{step.number}_{device} : {tensor}"
        case "write":
            return f"tv.write {uses}, @g{step.number}_{device} : {tensor}"
        case "seed":
            return f"{defines}tv.seed : {tensor}"
        case "output":
            return f'tv.output {uses} "loss" <{LOSS}, []> : {tensor}'
    raise ValueError(f"no op for {step.kind}")


def _print_call(program: Program, device: int, step: Step, task: Task, position: int) -> str:
    execution = program.execution(task)
    kind = Kind.BACKWARD if task.kind is Kind.FORWARD else Kind.FORWARD
    mirror = program.execution(Task(kind, task.chunk, task.micro_batch))
    uses = ", ".join(f"%{used}" for used in step.uses)
    is_last = task.chunk == program.schedule.chunks - 1
    takes_loss = is_last and task.kind is not Kind.FORWARD
    takes = ", ".join([f"tensor<1x{WIDTH}xf32>"] * (0 if takes_loss else 1))
    gives = _tensor(step.shape) if step.defines else "()"
    if step.number >= 0:  # a second execution under a number of its own
        execution = step.number
    callee = f"{task.kind.value}{task.chunk}_{device}"
    return f"tv.call @{callee}({uses}) instance {execution} mirror {mirror} : ({takes}) -> {gives}"


def _reference(program: Program) -> Iterator[str]:
    """The same model on one device, for the whole batch."""
    schedule = program.schedule
    rows = program.replicas * schedule.micro_batches
    row = _tensor(f"{rows}x{WIDTH}")
    yield "tv.plan @reference <dp = 1, device = 1, mb = 1> {"
    for chunk in range(schedule.chunks):
        yield from _segments(program, chunk, 0, f"{chunk}_0", rows)
    yield "  tv.program 0 {"
    yield f'    %y = tv.load_data cell 1 ["x"] holds [#tv.piece{_piece(INPUT, rows, rows)}] : {row}'
    taken = "%y"
    for chunk in range(schedule.chunks):
        result = "tensor<f32>" if chunk == schedule.chunks - 1 else row
        call = f"tv.call @forward{chunk}_0({taken}) instance {chunk * 2} mirror {chunk * 2 + 1}"
        yield f"    %y{chunk} = {call} : ({row}) -> {result}"
        taken = f"%y{chunk}"
    yield f'    tv.output {taken} "loss" <{LOSS}, []> : tensor<f32>'
    taken = ""
    for chunk in reversed(range(schedule.chunks)):
        mirror = f"mirror {chunk * 2}"
        types = f"({row})" if taken else "()"
        if schedule.has_weights:
            number = 2 * schedule.chunks + chunk
            call = f"tv.call @weights{chunk}_0({taken}) instance {number} {mirror}"
            yield f"    {call} : {types} -> ()"
        call = f"tv.call @backward{chunk}_0({taken}) instance {chunk * 2 + 1} {mirror}"
        yield f"    %d{chunk} = {call} : {types} -> {row}"
        taken = f"%d{chunk}"
    yield "  }"
    yield "}"
