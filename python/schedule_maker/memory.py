# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether programs leave alone the memory that something beside them uses.

What is before what on a device is a graph: of the steps of its program, and of the begin
and the end of each thing that it starts. Two accesses of one gradient or slot are safe if
both read, or if a path leads from the end of one to the begin of the other. All pairs are
looked at, and all paths.
"""

from dataclasses import dataclass

from schedule_maker.programs import Program, Step
from schedule_maker.schedules import Kind, Task

# A gradient by its chunk, or a slot by its number.
Memory = tuple[str, int]
# A step by its place, or the begin or end of what is started there.
Node = tuple[str, int]


@dataclass(frozen=True)
class _Access:
    """Memory that is used, by what begins and ends with two nodes."""

    memory: Memory
    writes: bool
    begin: Node
    end: Node


def uses_memory_safely(program: Program) -> bool:
    """Is each handle waited for once, and no memory used against what is under way, nor as
    it was before it was overwritten or freed, nor before it was written?
    """
    return all(_is_safe(program, steps) for steps in program.steps)


def _is_safe(program: Program, steps: tuple[Step, ...]) -> bool:
    waits = [step.handle for step in steps if step.kind == "wait"]
    starts = [step.handle for step in steps if step.handle and step.kind != "wait"]
    if sorted(waits) != sorted(starts):
        return False
    accesses = [
        access for place in range(len(steps)) for access in _accesses(program, steps, place)
    ]
    reached = _reached(steps)
    for number, first in enumerate(accesses):
        for second in accesses[:number]:
            is_alone = first.memory != second.memory or not (first.writes or second.writes)
            if is_alone or first.begin == second.begin:
                continue
            if second.begin not in reached[first.end] and first.begin not in reached[second.end]:
                return False
    writes = {(access.memory, access.begin[1]) for access in accesses if access.writes}
    return _holds_something(steps) and not any(
        (memory, between) in writes
        for place in range(len(steps))
        for memory, read in _views(program, steps, place)
        for between in range(read + 1, place)
    )


def _holds_something(steps: tuple[Step, ...]) -> bool:
    """Was each slot that is read written before, and not freed since?"""
    return all(
        [other.kind for other in steps[:place] if other.slot == step.slot and _changes(other)][-1:]
        == ["receive"]
        for place, step in enumerate(steps)
        if step.kind == "read" and step.slot >= 0
    )


def _changes(step: Step) -> bool:
    return step.kind in {"receive", "free"}


def _reached(steps: tuple[Step, ...]) -> dict[Node, set[Node]]:
    """What comes after each node, and itself."""
    edges: dict[Node, list[Node]] = {}
    starts: dict[str, int] = {}
    last: dict[str, int] = {}
    for place, step in enumerate(steps):
        edges.setdefault(("step", place), [])
        if place:
            edges["step", place - 1].append(("step", place))
        if step.kind == "wait":
            edges["end", starts[step.handle]].append(("step", place))
        elif step.handle:
            starts[step.handle] = place
            edges["step", place].append(("begin", place))
            edges["begin", place] = [("end", place)]
            edges["end", place] = []
            earlier = [starts[handle] for handle in step.after]
            if step.stream in last:
                earlier.append(last[step.stream])
            for other in earlier:
                edges["end", other].append(("begin", place))
            if step.stream:
                last[step.stream] = place
    reached: dict[Node, set[Node]] = {}
    for node in edges:
        reached[node] = {node}
        waiting = [node]
        while waiting:
            for following in edges[waiting.pop()]:
                if following not in reached[node]:
                    reached[node].add(following)
                    waiting.append(following)
    return reached


def _accesses(program: Program, steps: tuple[Step, ...], place: int) -> list[_Access]:
    """The memory that a step, or what it starts, uses."""
    step = steps[place]
    found: set[tuple[Memory, bool]] = set()
    if step.slot >= 0:
        found.add((("slot", step.slot), _changes(step)))
    elif step.kind in {"read", "write"}:
        found.add((("gradient", step.number), step.kind == "write"))
    if step.into >= 0:
        found.add((("gradient", step.into), True))
    if step.reading >= 0:
        found.add((("gradient", step.reading), False))
    adding = Kind.WEIGHTS if program.schedule.has_weights else Kind.BACKWARD
    if step.task and step.task.kind is adding:
        found.add((("gradient", step.task.chunk), True))
    found.update((memory, False) for memory, _ in _views(program, steps, place))
    begin, end = ("step", place), ("step", place)
    if step.handle and step.kind != "wait":
        begin, end = ("begin", place), ("end", place)
    return [_Access(memory, writes, begin, end) for memory, writes in sorted(found)]


def _views(program: Program, steps: tuple[Step, ...], place: int) -> list[tuple[Memory, int]]:
    """What a step takes a view of, and where that was read: what it uses, and what was
    used by the forward that it differentiates.
    """
    step = steps[place]
    found = [view for used in step.uses for view in _viewed(program, steps[:place], used)]
    if step.task and step.task.kind is not Kind.FORWARD:
        number = program.execution(Task(Kind.FORWARD, step.task.chunk, step.task.micro_batch))
        saved = [
            earlier
            for earlier, other in enumerate(steps[:place])
            if other.task
            and other.task.kind is Kind.FORWARD
            and (other.number if other.number >= 0 else program.execution(other.task)) == number
        ]
        for used in steps[saved[-1]].uses if saved else ():
            found += _viewed(program, steps[: saved[-1]], used)
    return found


def _viewed(program: Program, steps: tuple[Step, ...], name: str) -> list[tuple[Memory, int]]:
    """The memory that a tensor is a view of, and where it was read: since then it was at
    most handed on, by groups of one, copies and derivatives.
    """
    for place, step in enumerate(steps):
        if step.defines != name:
            continue
        if step.kind == "read":
            memory = ("slot", step.slot) if step.slot >= 0 else ("gradient", step.number)
            return [(memory, place)]
        if step.task and step.task.kind is Kind.BACKWARD and step.uses:
            return _viewed(program, steps[:place], step.uses[0])
        if step.kind == "wait":
            place = next(
                place
                for place, other in enumerate(steps)
                if other.handle == step.handle and other.kind != "wait"
            )
            step = steps[place]
        alone = len(step.group) == 1 and not (step.is_across_replicas and program.replicas > 1)
        if step.kind == "copy" or (step.kind == "collective" and alone):
            if step.reading >= 0:
                return [(("gradient", step.reading), place)]
            return _viewed(program, steps[:place], step.uses[0])
    return []
