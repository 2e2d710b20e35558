# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Changes of device programs, most of which make them wrong.

A mutation draws a place. It gives None where there is no such place, and what it gives
may turn out to be no program, or a right one: the oracle says.
"""

from collections.abc import Callable
from dataclasses import replace
from random import Random

from schedule_maker.overlap_mutations import OVERLAP_MUTATIONS
from schedule_maker.programs import COMMUNICATION, Program, Step, name
from schedule_maker.schedules import Kind, Task

Mutation = Callable[[Program, Random], Program | None]


def _choose(
    program: Program, random: Random, is_wanted: Callable[[Step], bool]
) -> tuple[int, int, list[Step]] | None:
    """A device, the position of a step in its program, and a copy of that to change."""
    places = [
        (device, position)
        for device, steps in enumerate(program.steps)
        for position, step in enumerate(steps)
        if is_wanted(step)
    ]
    if not places:
        return None
    device, position = random.choice(places)
    return device, position, list(program.steps[device])


def _is(*kinds: str) -> Callable[[Step], bool]:
    return lambda step: step.kind in kinds


def swapped_neighbours(program: Program, random: Random) -> Program | None:
    """Two adjacent communication ops of a device are swapped."""
    places = [
        (device, position)
        for device, steps in enumerate(program.steps)
        for position in range(len(steps) - 1)
        if {steps[position].kind, steps[position + 1].kind} <= COMMUNICATION
    ]
    if not places:
        return None
    device, position = random.choice(places)
    steps = list(program.steps[device])
    steps[position : position + 2] = steps[position : position + 2][::-1]
    return program.with_steps(device, steps)


def wrong_peer(program: Program, random: Random) -> Program | None:
    """A tensor is sent to another device, or expected from another."""
    place = _choose(program, random, _is("send", "receive"))
    if place is None:
        return None
    device, position, steps = place
    others = set(range(len(program.steps))) - {device, steps[position].peer}
    if not others:
        return None
    steps[position] = replace(steps[position], peer=random.choice(sorted(others)))
    return program.with_steps(device, steps)


def _renamed(program: Program, device: int, letters: str) -> Program:
    """A device takes micro-batches for those of the opposite order, in what it names by
    one of the letters and in the tasks that give it.
    """
    last = program.schedule.micro_batches - 1
    names: dict[str, str] = {}
    for chunk in range(program.schedule.chunks):
        for micro_batch in range(last + 1):
            for letter in set(letters) - {"x"}:
                for end in ("", "_own"):
                    old = name(letter, Task(Kind.FORWARD, chunk, micro_batch)) + end
                    new = name(letter, Task(Kind.FORWARD, chunk, last - micro_batch)) + end
                    names[old] = new
            if "x" in letters:
                names[f"x{micro_batch}"] = f"x{last - micro_batch}"

    def change(step: Step) -> Step:
        task = step.task
        if task is not None and (task.kind is not Kind.FORWARD or "y" in letters):
            task = replace(task, micro_batch=last - task.micro_batch)
        return replace(
            step,
            uses=tuple(names.get(used, used) for used in step.uses),
            defines=names.get(step.defines, step.defines),
            task=task,
        )

    return program.with_steps(device, [change(step) for step in program.steps[device]])


def reversed_backwards(program: Program, random: Random) -> Program | None:
    """A device runs its backwards in the opposite order of micro-batches."""
    return _renamed(program, random.randrange(len(program.steps)), "d")


def renamed_micro_batches(program: Program, random: Random) -> Program | None:
    """A device has other names for the micro-batches, in all that it does."""
    return _renamed(program, random.randrange(len(program.steps)), "xyd")


def exchanged_collectives(program: Program, random: Random) -> Program | None:
    """A device enters two of its collectives in the opposite order."""
    devices = [
        device
        for device, steps in enumerate(program.steps)
        if sum(step.kind == "collective" for step in steps) > 1
    ]
    if not devices:
        return None
    device = random.choice(devices)
    steps = list(program.steps[device])
    places = [place for place, step in enumerate(steps) if step.kind == "collective"]
    first, second = sorted(random.sample(places, 2))
    steps[first], steps[second] = steps[second], steps[first]
    return program.with_steps(device, steps)


def missing_member(program: Program, random: Random) -> Program | None:
    """A device leaves out a collective and goes on with its own tensor."""
    place = _choose(program, random, _is("collective"))
    if place is None:
        return None
    device, position, old = place
    left_out = old[position]
    steps = [
        replace(
            step,
            uses=tuple(
                left_out.uses[0] if used == left_out.defines else used for used in step.uses
            ),
        )
        for step in program.steps[device]
        if step is not left_out
    ]
    return program.with_steps(device, steps)


def other_reduction(program: Program, random: Random) -> Program | None:
    """A device takes a maximum where the others take a sum or an average."""
    place = _choose(program, random, lambda step: len(step.group) > 1)
    if place is None:
        return None
    device, position, steps = place
    steps[position] = replace(steps[position], reduction="maximum")
    return program.with_steps(device, steps)


def other_count(program: Program, random: Random) -> Program | None:
    """A device gives another number of elements to a collective."""
    device = random.randrange(len(program.steps))
    steps = [
        replace(step, shape="3") if step.defines in {"s", "n", "e"} else step
        for step in program.steps[device]
    ]
    return program.with_steps(device, steps)


def early_reducer(program: Program, random: Random) -> Program | None:
    """A reducer reads a gradient before the last micro-batch is added."""
    place = _choose(program, random, _is("read"))
    if place is None:
        return None
    device, position, steps = place
    chunk, length = steps[position].number, random.choice([1, 2, 3])
    kind = Kind.WEIGHTS if program.schedule.has_weights else Kind.BACKWARD
    adding = [
        place
        for place, step in enumerate(steps)
        if step.task is not None and (step.task.kind, step.task.chunk) == (kind, chunk)
    ]
    if not adding:
        return None
    moved = steps[position : position + length]
    del steps[position : position + length]
    steps[adding[-1] : adding[-1]] = moved
    return program.with_steps(device, steps)


def dropped_send(program: Program, random: Random) -> Program | None:
    """A send is left out."""
    place = _choose(program, random, _is("send"))
    if place is None:
        return None
    device, position, steps = place
    del steps[position]
    return program.with_steps(device, steps)


def repeated_transfer(program: Program, random: Random) -> Program | None:
    """A send or receive is there twice."""
    place = _choose(program, random, _is("send", "receive"))
    if place is None:
        return None
    device, position, steps = place
    again = steps[position]
    steps.insert(position + 1, replace(again, defines=again.defines and again.defines + "_again"))
    return program.with_steps(device, steps)


def repeated_task(program: Program, random: Random) -> Program | None:
    """A task runs twice, the second time under a number of its own."""
    place = _choose(program, random, lambda step: step.task is not None)
    if place is None:
        return None
    device, position, steps = place
    again = steps[position]
    defines = again.defines and again.defines + "_again"
    number = 1_000_000 + len(steps)
    steps.insert(position + 1, replace(again, defines=defines, number=number))
    return program.with_steps(device, steps)


def forgotten_backward(program: Program, random: Random) -> Program | None:
    """A backward is left out, with all that needs its result on the device."""
    place = _choose(
        program, random, lambda step: step.task is not None and step.task.kind is not Kind.FORWARD
    )
    if place is None:
        return None
    device, position, old = place
    left_out = old[position]
    missing = {left_out.defines} - {""}
    steps = []
    for step in program.steps[device]:
        if step is left_out or missing.intersection(step.uses):
            missing.update({step.defines} - {""})
            continue
        steps.append(step)
    return program.with_steps(device, steps)


def moved_step(program: Program, random: Random) -> Program | None:
    """A task or communication op is somewhere else in its program."""
    place = _choose(
        program, random, lambda step: step.task is not None or step.kind in COMMUNICATION
    )
    if place is None:
        return None
    device, position, steps = place
    step = steps.pop(position)
    nearby = range(max(0, position - 6), min(len(steps), position + 6) + 1)
    steps.insert(random.choice(nearby), step)
    return program.with_steps(device, steps)


def receives_at_use(program: Program, random: Random) -> Program | None:
    """Every tensor is received right before it is used, on all devices: the order of
    programs that let send and receive overlap, without the overlap.
    """
    changed = program
    for device, program_steps in enumerate(program.steps):
        steps: list[Step] = []
        received: dict[str, Step] = {}
        for step in program_steps:
            if step.kind == "receive":
                received[step.defines] = step
                continue
            steps += [received.pop(used) for used in step.uses if used in received]
            steps.append(step)
        changed = changed.with_steps(device, steps + list(received.values()))
    return changed


MUTATIONS: dict[str, Mutation] = {
    "swapped-neighbours": swapped_neighbours,
    "wrong-peer": wrong_peer,
    "reversed-backwards": reversed_backwards,
    "renamed-micro-batches": renamed_micro_batches,
    "exchanged-collectives": exchanged_collectives,
    "missing-member": missing_member,
    "other-reduction": other_reduction,
    "other-count": other_count,
    "early-reducer": early_reducer,
    "dropped-send": dropped_send,
    "repeated-transfer": repeated_transfer,
    "repeated-task": repeated_task,
    "forgotten-backward": forgotten_backward,
    "moved-step": moved_step,
    "receives-at-use": receives_at_use,
    **OVERLAP_MUTATIONS,
}
