# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Changes of communication that is started and waited for apart.

They need a program that has some: others have no place for them.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from random import Random
from typing import Any

from schedule_maker.programs import Program, Step


def _places(steps: tuple[Step, ...], is_wait: bool) -> list[int]:
    """Where a device starts something, or waits for it."""
    return [
        place
        for place, step in enumerate(steps)
        if step.handle and (step.kind == "wait") is is_wait
    ]


_Place = tuple[int, list[Step], int]
_Mutation = Callable[[Program, Random], Program | None]


def _choose(program: Program, random: Random, is_wait: bool) -> _Place | None:
    """A device, a copy of its program to change, and where it starts or waits."""
    places = [
        (device, place)
        for device, steps in enumerate(program.steps)
        for place in _places(steps, is_wait)
    ]
    if not places:
        return None
    device, place = random.choice(places)
    return device, list(program.steps[device]), place


def _a_start(program: Program, random: Random) -> _Place | None:
    return _choose(program, random, is_wait=False)


def _a_wait(program: Program, random: Random) -> _Place | None:
    return _choose(program, random, is_wait=True)


def _changes(
    choose: Callable[[Program, Random], tuple[Any, ...] | None],
) -> Callable[[Callable[..., list[Step] | None]], _Mutation]:
    """Makes a mutation of what changes the program of a device: `choose` gives the device,
    a copy of its program, and what else the change is given.
    """

    def decorate(change: Callable[..., list[Step] | None]) -> _Mutation:
        @wraps(change)
        def mutation(program: Program, random: Random) -> Program | None:
            chosen = choose(program, random)
            if chosen is None:
                return None
            device, *given = chosen
            steps = change(*given, random)
            return None if steps is None else program.with_steps(device, steps)

        return mutation

    return decorate


def _wait_of(steps: list[Step], handle: str) -> Step | None:
    """The wait for what was started with a handle."""
    return next((step for step in steps if step.kind == "wait" and step.handle == handle), None)


@_changes(_a_wait)
def dropped_wait(steps: list[Step], place: int, _: Random) -> list[Step]:
    """What is started is not waited for."""
    del steps[place]
    return steps


@_changes(_a_wait)
def repeated_wait(steps: list[Step], place: int, random: Random) -> list[Step]:
    """What is started is waited for twice."""
    again = replace(steps[place], defines=steps[place].defines and "again")
    steps.insert(random.randrange(place + 1, len(steps) + 1), again)
    return steps


@_changes(_a_wait)
def late_wait(steps: list[Step], place: int, random: Random) -> list[Step]:
    """A device waits later."""
    wait = steps.pop(place)
    steps.insert(random.randrange(place, len(steps) + 1), wait)
    return steps


@_changes(_a_start)
def early_wait(steps: list[Step], place: int, _: Random) -> list[Step] | None:
    """A device waits right after the start."""
    handle = steps[place].handle
    wait = _wait_of(steps, handle)
    if wait is None:
        return None
    steps.remove(wait)
    steps.insert(place + 1, wait)
    return steps


@_changes(_a_start)
def moved_start(steps: list[Step], place: int, random: Random) -> list[Step] | None:
    """A start is somewhere else before its wait."""
    start = steps.pop(place)
    waits = [
        place
        for place, step in enumerate(steps)
        if step.kind == "wait" and step.handle == start.handle
    ]
    if not waits:
        return None
    steps.insert(random.randrange(waits[0] + 1), start)
    return steps


def exchanged_handles(program: Program, random: Random) -> Program | None:
    """Two waits of a device take each other's handle."""
    devices = [
        device
        for device, steps in enumerate(program.steps)
        if len(_places(steps, is_wait=True)) > 1
    ]
    if not devices:
        return None
    device = random.choice(devices)
    steps = list(program.steps[device])
    # Of one kind, or one of them has no result to give.
    waits = _places(program.steps[device], is_wait=True)
    first = random.choice(waits)
    others = [
        place
        for place in waits
        if place != first and bool(steps[place].defines) == bool(steps[first].defines)
    ]
    if not others:
        return None
    second = random.choice(others)
    handles = steps[first].handle, steps[second].handle
    steps[first] = replace(steps[first], handle=handles[1])
    steps[second] = replace(steps[second], handle=handles[0])
    return program.with_steps(device, steps)


def same_handle(program: Program, random: Random) -> Program | None:
    """A wait takes the handle of another one."""
    chosen, other = (_choose(program, random, is_wait=True) for _ in range(2))
    if chosen is None or other is None or chosen[0] != other[0] or chosen[2] == other[2]:
        return None
    device, steps, place = chosen
    if bool(steps[place].defines) != bool(steps[other[2]].defines):
        return None
    steps[place] = replace(steps[place], handle=steps[other[2]].handle)
    return program.with_steps(device, steps)


def use_in_flight(program: Program, random: Random) -> Program | None:
    """A task, or a read or write of a gradient, comes while a gradient is reduced."""
    reducers = [
        (device, place)
        for device, steps in enumerate(program.steps)
        for place, step in enumerate(steps)
        if step.into >= 0
    ]
    if not reducers:
        return None
    device, place = random.choice(reducers)
    steps = list(program.steps[device])
    users = [step for step in steps if step.task is not None or step.kind in {"read", "write"}]
    start, user = steps[place], random.choice(users)
    steps.remove(user)
    steps.insert(steps.index(start) + 1, user)
    return program.with_steps(device, steps)


def used_twice(program: Program, random: Random) -> Program | None:
    """A gradient is read, written or reduced once more, somewhere."""
    device = random.randrange(len(program.steps))
    steps = list(program.steps[device])
    reads = [step for step in steps if step.kind == "read"]
    if not reads:
        return None
    again = replace(random.choice(reads), defines="again")
    place = random.randrange(len(steps) + 1)
    steps.insert(place, again)
    if random.random() < 0.5:
        write = Step("write", ("again",), number=again.number, shape=again.shape)
        steps.insert(random.randrange(place + 1, len(steps) + 1), write)
    return program.with_steps(device, steps)


@_changes(_a_start)
def without_overlap(steps: list[Step], place: int, random: Random) -> list[Step] | None:
    """What is started is waited for at once: where it starts, or where the wait is."""
    start = steps[place]
    wait = _wait_of(steps, start.handle)
    if wait is None or start.into >= 0 or start.slot >= 0:
        return None
    kept, left_out = (start, wait) if random.random() < 0.5 else (wait, start)
    steps[steps.index(kept)] = replace(start, handle="", defines=wait.defines)
    steps.remove(left_out)
    return steps


def _an_event(program: Program, random: Random) -> _Place | None:
    """A start that comes after a handle."""
    places = [
        (device, place)
        for device, steps in enumerate(program.steps)
        for place, step in enumerate(steps)
        if step.after
    ]
    if not places:
        return None
    device, place = random.choice(places)
    return device, list(program.steps[device]), place


@_changes(_an_event)
def dropped_event(steps: list[Step], place: int, _: Random) -> list[Step]:
    """A stream does not wait for another one."""
    steps[place] = replace(steps[place], after=())
    return steps


@_changes(_an_event)
def wrong_event(steps: list[Step], place: int, random: Random) -> list[Step]:
    """A stream waits for something else that was started before."""
    earlier = [steps[other].handle for other in _places(tuple(steps[:place]), is_wait=False)]
    steps[place] = replace(steps[place], after=(random.choice(earlier),))
    return steps


@_changes(_a_start)
def further_event(steps: list[Step], place: int, random: Random) -> list[Step] | None:
    """What is started waits for one thing more."""
    earlier = [steps[other].handle for other in _places(tuple(steps[:place]), is_wait=False)]
    earlier = [handle for handle in earlier if handle not in steps[place].after]
    if not earlier:
        return None
    after = (*steps[place].after, random.choice(earlier))
    steps[place] = replace(steps[place], after=after)
    return steps


@_changes(_a_start)
def other_stream(steps: list[Step], place: int, random: Random) -> list[Step] | None:
    """What is started is on another stream, or on one of its own."""
    names = sorted({step.stream for step in steps} - {steps[place].stream})
    if not names:
        return None
    steps[place] = replace(steps[place], stream=random.choice(names))
    return steps


def one_stream(program: Program, random: Random) -> Program | None:
    """All that a device starts, or some of it, is on one stream."""
    device = random.randrange(len(program.steps))
    is_some = random.random() < 0.5
    steps = [
        replace(step, stream="one")
        if step.handle and step.kind != "wait" and not (is_some and random.random() < 0.5)
        else step
        for step in program.steps[device]
    ]
    return program.with_steps(device, steps) if list(program.steps[device]) != steps else None


@_changes(_an_event)
def waits_for_itself(steps: list[Step], place: int, _: Random) -> list[Step] | None:
    """The program waits for what a stream waits for, and the stream does not."""
    wait = _wait_of(steps, steps[place].after[0])
    if wait is None or steps.index(wait) < place:
        return None
    steps.remove(wait)
    steps[place] = replace(steps[place], after=steps[place].after[1:])
    steps.insert(place, wait)
    return steps


def _slots_of(program: Program, random: Random) -> tuple[int, list[Step], list[int]] | None:
    """A device with scratch memory, a copy of its program, and the slots that it has."""
    devices = [
        device for device, steps in enumerate(program.steps) if any(s.slot >= 0 for s in steps)
    ]
    if not devices:
        return None
    device = random.choice(devices)
    steps = list(program.steps[device])
    return device, steps, sorted({step.slot for step in steps} - {-1})


@_changes(_slots_of)
def too_few_slots(steps: list[Step], slots: list[int], random: Random) -> list[Step] | None:
    """A device has one slot less, and takes another one in its place."""
    if len(slots) < 2:
        return None
    gone, kept = random.sample(slots, 2)
    return [replace(step, slot=kept) if step.slot == gone else step for step in steps]


@_changes(_slots_of)
def other_slot(steps: list[Step], slots: list[int], random: Random) -> list[Step] | None:
    """A tensor is received in another slot, or one is read or freed."""
    if len(slots) < 2:
        return None
    place = random.choice([place for place, step in enumerate(steps) if step.slot >= 0])
    others = [slot for slot in slots if slot != steps[place].slot]
    steps[place] = replace(steps[place], slot=random.choice(others))
    return steps


@_changes(_slots_of)
def moved_free(steps: list[Step], _: list[int], random: Random) -> list[Step]:
    """Memory is freed somewhere else."""
    place = random.choice([place for place, step in enumerate(steps) if step.kind == "free"])
    free = steps.pop(place)
    near = random.randrange(max(0, place - 6), min(len(steps), place + 6) + 1)
    steps.insert(near, free)
    return steps


@_changes(_slots_of)
def dropped_free(steps: list[Step], _: list[int], random: Random) -> list[Step]:
    """Memory is not freed, which nobody notices."""
    del steps[random.choice([place for place, step in enumerate(steps) if step.kind == "free"])]
    return steps


OVERLAP_MUTATIONS = {
    "too-few-slots": too_few_slots,
    "other-slot": other_slot,
    "moved-free": moved_free,
    "dropped-free": dropped_free,
    "dropped-event": dropped_event,
    "wrong-event": wrong_event,
    "further-event": further_event,
    "other-stream": other_stream,
    "one-stream": one_stream,
    "waits-for-itself": waits_for_itself,
    "dropped-wait": dropped_wait,
    "repeated-wait": repeated_wait,
    "late-wait": late_wait,
    "early-wait": early_wait,
    "moved-start": moved_start,
    "exchanged-handles": exchanged_handles,
    "same-handle": same_handle,
    "use-in-flight": use_in_flight,
    "used-twice": used_twice,
    "without-overlap": without_overlap,
}
