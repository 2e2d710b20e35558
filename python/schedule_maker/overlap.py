# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs whose communication overlaps with what they compute.

A tensor is received from before the computation that precedes its use on, a send is waited
for before the next one to the same device, and a gradient is reduced in place as soon as
the last micro-batch is in it. A device that communicates through one queue must not start
a receive before a send that it has to come after; then it starts both in their order.
On a stream of its own, a gradient that was reduced is copied over itself.

With slots what is received goes to scratch memory, as little as suffices: the memory of a
tensor is freed after the last task that needs it, a derivative of what it was saved for
included, and is given to what is received next.

With events streams wait for each other, and the program does not: each neighbour has a
stream for what is sent there and one for what comes from there, all reducers are on one,
and what copies is on another; a second copy comes after the first one, on the stream of
the reducers. The program waits for it alone before it reads the gradient, and for the
others at the end.
"""

from dataclasses import replace

from schedule_maker.programs import COMMUNICATION, Program, Step
from schedule_maker.schedules import Kind, Task


def overlap(
    program: Program,
    keeps_order: bool = False,
    has_streams: bool = False,
    has_events: bool = False,
    has_slots: bool = False,
) -> Program:
    """The same program with communication that is started and waited for apart. With
    `keeps_order` transfers and collectives of several devices start in the order that
    they had, with `has_streams` computations are started too, with `has_events` one stream
    waits for another, with `has_slots` tensors are received in scratch memory.
    """
    for device, steps in enumerate(program.steps):
        changed = _reducers(program, _receives(_sends(list(steps)), keeps_order))
        if has_events:
            changed = _events(changed)
        elif has_streams:
            changed = _copies(changed)
        if has_slots:
            changed = _slots(changed)
        program = program.with_steps(device, changed)
    return program


def _slots(steps: list[Step]) -> list[Step]:
    """Each row that is received is in the first slot that is free from its start on."""
    changed: list[Step] = []
    freed: dict[str, int] = {}  # by tensor, the place of its last use
    slots: list[str] = []  # the tensor in each
    names = {step.handle: step.defines for step in steps if step.kind == "wait" and step.defines}
    waits = {step.handle: place for place, step in enumerate(steps) if step.kind == "wait"}
    base: dict[str, str] = {}  # what a derivative may be a view of
    for place, step in enumerate(steps):
        if step.task and step.task.kind is Kind.BACKWARD and step.uses:
            base[step.defines] = base.get(step.uses[0], step.uses[0])
        for used in step.uses:
            tensor = base.get(used, used)
            freed[tensor] = max(freed.get(tensor, 0), waits.get(step.handle, place))
        if step.task and step.task.kind is not Kind.FORWARD:
            for used in _saved(steps[:place], step.task):
                freed[used] = place
    for place, step in enumerate(steps):
        name = names.get(step.handle, "")
        if step.kind == "receive" and step.shape == "1x4" and name in freed:
            free = [slot for slot, tensor in enumerate(slots) if freed[tensor] < place]
            slots += [name] * (not free)
            slot = free[0] if free else len(slots) - 1
            slots[slot] = name
            changed.append(replace(step, slot=slot))
        elif step.kind == "wait" and name in slots:
            slot = slots.index(name)
            read = Step("read", (), name, slot=slot, shape=step.shape)
            changed += [replace(step, defines=""), read]
        else:
            changed.append(step)
        last = [slot for slot, tensor in enumerate(slots) if freed[tensor] == place]
        changed += [Step("free", slot=slot) for slot in last]
    return changed


def _saved(steps: list[Step], task: Task) -> tuple[str, ...]:
    """What the forward that a task differentiates has taken."""
    forward = replace(task, kind=Kind.FORWARD)
    return next((step.uses for step in reversed(steps) if step.task == forward), ())


def _events(steps: list[Step]) -> list[Step]:
    """What is started is on streams with names. Each gradient is read, reduced and copied
    twice by what begins when that before it is over.
    """
    changed: list[Step] = []
    waits: list[Step] = []
    reads = {step.uses[0] for step in steps if step.into >= 0}
    for step in steps:
        if step.kind == "read" and step.defines in reads:
            continue
        if step.kind == "send" and step.handle:
            changed.append(replace(step, stream=f"to {step.peer}"))
        elif step.kind == "receive" and step.handle:
            changed.append(replace(step, stream=f"from {step.peer}"))
        elif step.into >= 0:
            chunk = step.into
            copying, again = f"copying_{chunk}", f"again_{chunk}"
            reducing = replace(step, uses=(), reading=chunk, stream="reduce")
            copy = Step("copy", shape=step.shape, into=chunk, reading=chunk)
            changed += [
                reducing,
                replace(copy, handle=copying, stream="copy", after=(step.handle,)),
                replace(copy, handle=again, stream="reduce", after=(copying,)),
            ]
            waits += [Step("wait", handle=copying), Step("wait", handle=step.handle)]
        elif step.kind == "wait" and step.handle.startswith("reducing"):
            changed.append(replace(step, handle=step.handle.replace("reducing", "again")))
        else:
            changed.append(step)
    return changed + waits


def _copies(steps: list[Step]) -> list[Step]:
    """Each gradient is copied once it was reduced, until the next one is, or the end."""
    changed: list[Step] = []
    waits: list[Step] = []
    for step in steps:
        if step.kind == "wait" and step.handle.startswith("reducing"):
            changed += waits
            waits = []
        changed.append(step)
        if step.kind == "read" and step.defines == f"n{step.number}":
            handle = f"copying_{step.number}"
            changed.append(
                Step("copy", (step.defines,), shape=step.shape, handle=handle, into=step.number)
            )
            waits = [Step("wait", handle=handle)]
    return changed + waits


def _sends(steps: list[Step]) -> list[Step]:
    """Each send goes on until the next one to the same device, or the last task."""
    changed: list[Step] = []
    under_way: dict[int, Step] = {}
    last = max((place for place, step in enumerate(steps) if step.task), default=-1)
    for place, step in enumerate(steps):
        if step.kind == "send":
            if step.peer in under_way:
                changed.append(under_way.pop(step.peer))
            handle = f"sending_{step.uses[0]}"
            under_way[step.peer] = Step("wait", handle=handle)
            step = replace(step, handle=handle)
        changed.append(step)
        if place > last and not any(other.kind == "send" for other in steps[place + 1 :]):
            changed += under_way.values()
            under_way = {}
    return changed


def _receives(steps: list[Step], keeps_order: bool) -> list[Step]:
    """Each receive starts before the task in front of it, and is waited for at the use."""
    started: list[Step] = []
    for step in steps:
        if step.kind != "receive":
            started.append(step)
            continue
        place = len(started)
        tasks = [place for place, other in enumerate(started) if other.task]
        kinds = COMMUNICATION - {"wait"} if keeps_order else {"receive"}
        earlier = [place for place, other in enumerate(started) if other.kind in kinds]
        if tasks:
            place = max([tasks[-1], *(receive + 1 for receive in earlier)])
        handle = f"receiving_{step.defines}"
        started.insert(place, replace(step, handle=handle))
    changed: list[Step] = []
    waiting = {step.defines: step for step in started if step.kind == "receive"}
    for step in started:
        for used in step.uses:
            if used in waiting:
                received = waiting.pop(used)
                changed.append(Step("wait", (), used, handle=received.handle, shape=received.shape))
        changed.append(replace(step, defines="") if step.kind == "receive" else step)
    return changed


def _reducers(program: Program, steps: list[Step]) -> list[Step]:
    """Reducers in place, each from the last task on that adds to its gradient."""
    kind = Kind.WEIGHTS if program.schedule.has_weights else Kind.BACKWARD
    reducers = [step for step in steps if step.kind == "collective" and step.is_across_replicas]
    for reducer in reducers:
        read = next(step for step in steps if step.defines == reducer.uses[0])
        write = next(step for step in steps if reducer.defines in step.uses)
        chunk, handle = read.number, f"reducing_{read.number}"
        adding = [
            place
            for place, step in enumerate(steps)
            if step.task and (step.task.kind, step.task.chunk) == (kind, chunk)
        ]
        place = steps.index(write)
        wait = Step("wait", handle=handle)
        steps[place : place + 1] = [
            wait,
            Step("read", (), f"n{chunk}", number=chunk, shape="4"),
        ]
        steps.remove(read)
        steps.remove(reducer)
        start = replace(reducer, defines="", handle=handle, into=chunk)
        place = adding[-1] + 1 if adding else 0
        # Of several stages that hold a chunk each ends with another one first.
        if len(reducer.group) > 1:
            place = steps.index(wait)
        steps[place:place] = [read, start]
    return steps
