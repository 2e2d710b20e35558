# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What programs compute, as terms: from which op and tensor each value is.

One order is followed, which stands for all where a program runs to its end and nothing
races. What was started goes on whenever a device is looked at.
"""

from collections import Counter
from dataclasses import dataclass, field, replace

from schedule_maker.programs import Program, Step
from schedule_maker.schedules import Kind, Task

# What a value is: the op that gave it, the chunk, and what that took; the micro-batch of
# a loaded tensor.
Term = tuple[object, ...]


@dataclass
class _Beside:
    """What was started at a place of a program and is not over."""

    step: Step
    place: int
    before: list["_Beside"]
    has_begun: bool = False
    is_over: bool = False


@dataclass
class _Device:
    """The values of a device, once it has run."""

    terms: dict[str, Term] = field(default_factory=dict)
    micro_batches: dict[str, int | None] = field(default_factory=dict)
    gradients: dict[int, list[Term]] = field(default_factory=dict)
    outputs: list[Term] = field(default_factory=list)
    saved: dict[int, tuple[Term, int | None]] = field(default_factory=dict)
    numbers: set[int] = field(default_factory=set)
    mirrored: Counter[tuple[int, Kind]] = field(default_factory=Counter)
    inputs: dict[int, tuple[int, tuple[str, ...]]] = field(default_factory=dict)
    reduced: set[int] = field(default_factory=set)
    slots: dict[int, tuple[Term, int | None]] = field(default_factory=dict)
    loads: int = 0
    position: int = 0
    beside: list["_Beside"] = field(default_factory=list)


def _terms_of(value: Term) -> list[Term]:
    """The terms of a sum, each as often as it is in it; another value is its own."""
    if value[0] != "sum" or not isinstance(value[1], frozenset):
        return [value]
    return [term for term, count in value[1] for _ in range(count)]


class Run:
    """Runs a program that runs to its end, in one order, and notes what is wrong."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.devices = [_Device() for _ in program.steps]
        self.channels: dict[tuple[int, int], dict[int, tuple[Term, int | None]]] = {}
        self.arrived: dict[tuple[object, ...], dict[int, tuple[Term, int | None]]] = {}
        self.is_in_order = True

    def run(self) -> None:
        """Runs all devices, those with the highest numbers first."""
        is_moving = True
        while is_moving:
            is_moving = False
            for number in reversed(range(len(self.devices))):
                steps = self.program.steps[number]
                while self.devices[number].position < len(steps):
                    is_moving |= self._go_on(number)
                    if not self._execute(number, steps[self.devices[number].position]):
                        break
                    self.devices[number].position += 1
                    is_moving = True

    def _execute(self, number: int, step: Step) -> bool:
        device = self.devices[number]
        if step.task is not None:
            self._task(device, step, step.task)
            return True
        if step.handle:
            return self._start_or_wait(device, step)
        match step.kind:
            case "load":
                self._define(device, step, ("load", device.loads), device.loads)
                device.loads += 1
            case "send":
                self._send(number, step, device.position)
            case "receive":
                return self._receive(number, step, step, device.position)
            case "collective":
                self._enter(number, step, device.position)
                return self._collective(number, step, step, device.position)
            case "read" if step.slot >= 0:
                self._define(device, step, *device.slots[step.slot])
            case "read":
                self._define(device, step, self._content(device, step.number), None)
                # A reducer is a read that goes into a collective.
                if any(
                    other.kind == "collective" and step.defines in other.uses
                    for other in self.program.steps[number]
                ):
                    device.reduced.add(step.number)
            case "write":
                value = device.terms[step.uses[0]]
                device.gradients[step.number] = _terms_of(value)
            case "seed":
                self._define(device, step, ("seed",), None)
            case "output":
                device.outputs.append(device.terms[step.uses[0]])
        return True

    @staticmethod
    def _content(device: _Device, chunk: int) -> Term:
        content = Counter(device.gradients.get(chunk, []))
        if sum(content.values()) == 1:
            return next(iter(content))
        return ("sum", frozenset(content.items()))

    @staticmethod
    def _start_or_wait(device: _Device, step: Step) -> bool:
        if step.kind == "wait":
            started = next(item for item in device.beside if item.step.handle == step.handle)
            if started.is_over and step.defines:
                given = f"({step.handle})"
                device.terms[step.defines] = device.terms[given]
                device.micro_batches[step.defines] = device.micro_batches[given]
            return started.is_over
        before = [
            item
            for item in device.beside
            if item.step.handle in step.after or item.step.stream == step.stream != ""
        ]
        device.beside.append(_Beside(step, device.position, before))
        if step.kind == "collective" and step.reading >= 0:
            device.reduced.add(step.reading)
        if step.kind == "copy":
            device.reduced.discard(step.into)
        return True

    def _go_on(self, number: int) -> bool:
        """Begins and ends what a device has started, as far as that goes."""
        device, is_moving = self.devices[number], False
        for item in device.beside:
            if item.is_over or not all(other.is_over for other in item.before):
                continue
            step, read = item.step, f"({item.step.handle} read)"
            given = replace(step, defines=f"({step.handle})")
            if not item.has_begun:
                item.has_begun = is_moving = True
                if step.reading >= 0:
                    content = self._content(device, step.reading)
                    self._define(device, replace(step, defines=read), content, None)
                    item.step = step = replace(step, uses=(read,))
                if step.kind == "send":
                    self._send(number, step, item.place)
                elif step.kind == "collective":
                    self._enter(number, step, item.place)
                elif step.kind == "copy":
                    self._define(device, given, device.terms[step.uses[0]], None)
            if step.kind == "receive" and not self._receive(number, step, given, item.place):
                continue
            if step.kind == "collective" and not self._collective(number, step, given, item.place):
                continue
            item.is_over = is_moving = True
            if step.slot >= 0:
                slot = device.terms[given.defines], device.micro_batches[given.defines]
                device.slots[step.slot] = slot
            if step.into >= 0:
                device.gradients[step.into] = _terms_of(device.terms[given.defines])
        return is_moving

    def _send(self, number: int, step: Step, place: int) -> None:
        device, used = self.devices[number], step.uses[0]
        turn = sum(
            other.kind == "send" and other.peer == step.peer
            for other in self.program.steps[number][:place]
        )
        value = (device.terms[used], device.micro_batches[used])
        self.channels.setdefault((number, step.peer), {})[turn] = value

    def _receive(self, number: int, step: Step, given: Step, place: int) -> bool:
        """Takes what was sent as often before as `step` was posted before."""
        turn = sum(
            other.kind == "receive" and other.peer == step.peer
            for other in self.program.steps[number][:place]
        )
        channel = self.channels.get((step.peer, number), {})
        if turn in channel:
            self._define(self.devices[number], given, *channel[turn])
        return turn in channel

    def _key(self, number: int, step: Step, place: int) -> tuple[object, ...]:
        """A collective: its members and how many they have posted before."""
        turn = sum(
            other.kind == "collective"
            and frozenset(other.group) == frozenset(step.group)
            and other.is_across_replicas == step.is_across_replicas
            for other in self.program.steps[number][:place]
        )
        return frozenset(step.group), step.is_across_replicas, turn

    def _enter(self, number: int, step: Step, place: int) -> None:
        device, used = self.devices[number], step.uses[0]
        present = self.arrived.setdefault(self._key(number, step, place), {})
        present[number] = (device.terms[used], device.micro_batches[used])

    def _collective(self, number: int, step: Step, given: Step, place: int) -> bool:
        device = self.devices[number]
        present = self.arrived[self._key(number, step, place)]
        if len(present) < len(step.group):
            return False
        terms = {term for term, _ in present.values()}
        known = {batch for _, batch in present.values() if batch is not None}
        term: Term = next(iter(terms))
        if step.is_across_replicas or len(terms) > 1:
            term = ("together", step.reduction, step.is_across_replicas, frozenset(terms))
        self._define(device, given, term, known.pop() if len(known) == 1 else None)
        return True

    @staticmethod
    def _define(device: _Device, step: Step, term: Term, micro_batch: int | None) -> None:
        device.terms[step.defines] = term
        device.micro_batches[step.defines] = micro_batch

    def _task(self, device: _Device, step: Step, task: Task) -> None:
        number = step.number if step.number >= 0 else self.program.execution(task)
        self.is_in_order &= number not in device.numbers
        device.numbers.add(number)
        taken = tuple(device.terms[used] for used in step.uses)
        known = {device.micro_batches[used] for used in step.uses} - {None}
        micro_batch = next(iter(known)) if len(known) == 1 else None
        if task.kind is Kind.FORWARD:
            device.saved[number] = (taken[0], micro_batch)
            device.inputs[number] = (task.chunk, step.uses)
            self._define(device, step, ("forward", task.chunk, taken), micro_batch)
            return
        mirror = self.program.execution(Task(Kind.FORWARD, task.chunk, task.micro_batch))
        self.is_in_order &= mirror in device.saved
        saved, expected = device.saved.get(mirror, (("nothing",), None))
        if None not in (micro_batch, expected) and micro_batch != expected:
            self.is_in_order = False
        device.mirrored[mirror, task.kind] += 1
        self.is_in_order &= device.mirrored[mirror, task.kind] == 1
        term = (task.chunk, saved, taken)
        if task.kind is Kind.WEIGHTS or not self.program.schedule.has_weights:
            device.gradients.setdefault(task.chunk, []).append(("weights", *term))
            self.is_in_order &= task.chunk not in device.reduced
        if step.defines:
            batch = expected if micro_batch is None else micro_batch
            self._define(device, step, ("backward", *term), batch)

    def has_complete_order(self) -> bool:
        """Is every execution there as often as a schedule has it?"""
        if not self.is_in_order:
            return False
        for device in self.devices:
            mirrored = {number for number, _ in device.mirrored}
            chunks = {device.inputs[number][0] for number in mirrored}
            if any(
                chunk in chunks and number not in mirrored
                for number, (chunk, _) in device.inputs.items()
            ):
                return False
            differentiated = [device.inputs[number] for number in mirrored]
            if len(set(differentiated)) < len(differentiated):
                return False
        return True

    def results(self) -> list[object]:
        """What can be seen from outside: gradients and outputs of each device."""
        return [
            (
                {chunk: Counter(terms) for chunk, terms in device.gradients.items()},
                Counter(device.outputs),
            )
            for device in self.devices
        ]
