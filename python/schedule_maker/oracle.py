# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether programs run to their ends, by trying all interleavings, and what they compute.

Nothing is concluded from one interleaving: every state that can be reached is visited.
Replicas can be written out, each with devices of its own. What is computed is followed
as terms, from which op and tensor each value is.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from schedule_maker.programs import COMMUNICATION, Program, Step
from schedule_maker.progress import OverlapExplorer, starts_anything, uses_memory_safely
from schedule_maker.schedules import Kind, Task

MOST_STATES = 200_000


class TooManyStatesError(Exception):
    """The program is too large to be explored."""


class InterleavingError(Exception):
    """Some interleavings end well and others do not, which no program here may."""


@dataclass(frozen=True)
class _Action:
    """A communication op of one device of one replica."""

    step: Step
    sender: int = -1
    receiver: int = -1
    members: frozenset[int] = frozenset()


def _actions(program: Program, replicas: int) -> list[list[_Action]]:
    """What each device does, replica by replica."""
    count = len(program.steps)
    actions: list[list[_Action]] = []
    for replica in range(replicas):
        for device, steps in enumerate(program.steps):
            own, listed = replica * count + device, []
            for step in steps:
                if step.kind not in COMMUNICATION:
                    continue
                peer = replica * count + step.peer
                where = range(replicas) if step.is_across_replicas else [replica]
                members = frozenset(
                    other * count + member for other in where for member in step.group
                )
                if step.kind == "send":
                    listed.append(_Action(step, own, peer))
                elif step.kind == "receive":
                    listed.append(_Action(step, peer, own))
                else:
                    listed.append(_Action(step, members=members))
            actions.append(listed)
    return actions


class _Explorer:
    """Visits all states. A state is how many actions each device has done."""

    def __init__(self, program: Program, replicas: int, buffered_sends: int) -> None:
        self.actions = _actions(program, replicas)
        self.buffered_sends = buffered_sends
        # For each device and position: how often each channel was used before.
        self.sent = [self._count(actions, "send") for actions in self.actions]
        self.received = [self._count(actions, "receive") for actions in self.actions]

    @staticmethod
    def _count(actions: list[_Action], kind: str) -> list[Counter[tuple[int, int]]]:
        counts: list[Counter[tuple[int, int]]] = [Counter()]
        for action in actions:
            counts.append(counts[-1].copy())
            if action.step.kind == kind:
                counts[-1][action.sender, action.receiver] += 1
        return counts

    def _under_way(self, state: tuple[int, ...], channel: tuple[int, int]) -> int:
        sender, receiver = channel
        sent = self.sent[sender][state[sender]][channel]
        return sent - self.received[receiver][state[receiver]][channel]

    def _next(self, state: tuple[int, ...], device: int) -> _Action | None:
        actions = self.actions[device]
        return actions[state[device]] if state[device] < len(actions) else None

    def _message(self, sender: int, receiver: int, number: int) -> Step:
        """The n-th send of a channel."""
        sends = [
            action.step
            for action in self.actions[sender]
            if action.step.kind == "send" and action.receiver == receiver
        ]
        return sends[number]

    def successors(self, state: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], bool]]:
        """The states that a step leads to, and whether what meets in it fits."""
        for device in range(len(state)):
            action = self._next(state, device)
            if action is None:
                continue
            channel = (action.sender, action.receiver)
            if action.step.kind == "send":
                if self.buffered_sends:
                    if self._under_way(state, channel) < self.buffered_sends:
                        yield self._moved(state, [device]), True
                    continue
                other = self._next(state, action.receiver)
                if other and other.step.kind == "receive" and other.sender == device:
                    fits = other.step.shape == action.step.shape
                    yield self._moved(state, [device, action.receiver]), fits
            elif action.step.kind == "receive":
                if self.buffered_sends and self._under_way(state, channel):
                    number = self.received[device][state[device]][channel]
                    message = self._message(action.sender, device, number)
                    yield self._moved(state, [device]), message.shape == action.step.shape
            elif device == min(action.members):
                yield from self._collective(state, action)

    def _collective(
        self, state: tuple[int, ...], action: _Action
    ) -> Iterator[tuple[tuple[int, ...], bool]]:
        present = [self._next(state, member) for member in action.members]
        if not all(
            other is not None
            and other.members == action.members
            and other.step.is_across_replicas == action.step.is_across_replicas
            for other in present
        ):
            return
        same = {
            (other.step.reduction, other.step.shape, other.step.group)
            for other in present
            if other is not None
        }
        yield self._moved(state, list(action.members)), len(same) == 1

    @staticmethod
    def _moved(state: tuple[int, ...], devices: list[int]) -> tuple[int, ...]:
        return tuple(position + (device in devices) for device, position in enumerate(state))

    def explore(self) -> bool:
        """Do all interleavings end well?"""
        end = tuple(map(len, self.actions))
        start = tuple(0 for _ in self.actions)
        seen, waiting = {start}, [start]
        ends_well = ends_badly = False
        while waiting:
            state = waiting.pop()
            reached = list(self.successors(state))
            if not reached:
                is_over = state == end and not any(
                    self._under_way(state, (sender, receiver))
                    for sender in range(len(end))
                    for receiver in range(len(end))
                )
                ends_well |= is_over
                ends_badly |= not is_over
            for following, fits in reached:
                if not fits:
                    ends_badly = True
                elif following not in seen:
                    seen.add(following)
                    waiting.append(following)
            if len(seen) > MOST_STATES:
                raise TooManyStatesError
        if ends_well and ends_badly:
            raise InterleavingError
        return ends_well


def runs_to_end(
    program: Program, buffered_sends: int = 0, replicas: int = 1, one_at_a_time: bool = False
) -> bool:
    """Do all devices run to their ends, in every interleaving, and leave alone what
    communication uses? Where a device communicates `one_at_a_time`, what it started goes
    on when that before it is over.
    """
    if starts_anything(program):
        if not uses_memory_safely(program):
            return False
        explorer = OverlapExplorer(program, replicas, buffered_sends, one_at_a_time)
        ends = explorer.explore(MOST_STATES)
        if ends is None:
            raise TooManyStatesError
        if ends == (True, True):
            raise InterleavingError
        return ends[0]
    return _Explorer(program, replicas, buffered_sends).explore()


# What a value is: the op that gave it, the chunk, and what that took; the micro-batch of
# a loaded tensor.
Term = tuple[object, ...]


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
    loads: int = 0
    position: int = 0


def _terms_of(value: Term) -> list[Term]:
    """The terms of a sum, each as often as it is in it; another value is its own."""
    if value[0] != "sum" or not isinstance(value[1], frozenset):
        return [value]
    return [term for term, count in value[1] for _ in range(count)]


class _Run:
    """Runs a program that runs to its end, in one order, and notes what is wrong."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.devices = [_Device() for _ in program.steps]
        self.channels: dict[tuple[int, int], list[tuple[Term, int | None]]] = {}
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
            return self._asynchronous(number, step)
        match step.kind:
            case "load":
                self._define(device, step, ("load", device.loads), device.loads)
                device.loads += 1
            case "send":
                used = step.uses[0]
                value = (device.terms[used], device.micro_batches[used])
                self.channels.setdefault((number, step.peer), []).append(value)
            case "receive":
                return self._receive(number, step, step, device.position)
            case "collective":
                self._enter(number, step)
                return self._collective(number, step, step, device.position)
            case "read":
                content = Counter(device.gradients.get(step.number, []))
                total: Term = ("sum", frozenset(content.items()))
                if sum(content.values()) == 1:
                    total = next(iter(content))
                self._define(device, step, total, None)
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

    def _asynchronous(self, number: int, step: Step) -> bool:
        """A start, or the wait for one, which gives what was decided at the start."""
        device = self.devices[number]
        if step.kind == "send":
            return self._execute(number, replace(step, handle=""))
        if step.kind == "collective":
            self._enter(number, step)
        if step.kind == "copy":
            copied = replace(step, defines=f"({step.handle})")
            self._define(device, copied, device.terms[step.uses[0]], None)
        if step.kind != "wait":
            return True
        place, start = next(
            (place, other)
            for place, other in enumerate(self.program.steps[number])
            if other.handle == step.handle and other.kind != "wait"
        )
        given = replace(step, defines=step.defines or f"({step.handle})")
        if start.kind == "receive" and not self._receive(number, start, given, place):
            return False
        if start.kind == "collective" and not self._collective(number, start, given, place):
            return False
        if start.kind == "copy":
            device.reduced.discard(start.into)
        if start.into >= 0:
            device.gradients[start.into] = _terms_of(device.terms[given.defines])
        return True

    def _receive(self, number: int, step: Step, given: Step, place: int) -> bool:
        """Takes what was sent as often before as `step` was posted before."""
        turn = sum(
            other.kind == "receive" and other.peer == step.peer
            for other in self.program.steps[number][:place]
        )
        channel = self.channels.get((step.peer, number), [])
        if turn < len(channel):
            self._define(self.devices[number], given, *channel[turn])
        return turn < len(channel)

    def _key(self, number: int, step: Step, place: int) -> tuple[object, ...]:
        """A collective: its members and how many they have posted before."""
        turn = sum(
            other.kind == "collective"
            and frozenset(other.group) == frozenset(step.group)
            and other.is_across_replicas == step.is_across_replicas
            for other in self.program.steps[number][:place]
        )
        return frozenset(step.group), step.is_across_replicas, turn

    def _enter(self, number: int, step: Step) -> None:
        device, used = self.devices[number], step.uses[0]
        present = self.arrived.setdefault(self._key(number, step, device.position), {})
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


@dataclass(frozen=True)
class Judgement:
    """What is true of a program."""

    runs: bool  # to its end
    is_in_order: bool  # as a schedule has to be
    is_right: bool  # computes what the program does that it was made from


def judge(program: Program, original: Program) -> Judgement:
    """Judges a program that was made from a right one."""
    if not runs_to_end(program):
        return Judgement(False, False, False)
    run, expected = _Run(program), _Run(original)
    run.run()
    expected.run()
    is_right = run.results() == expected.results()
    return Judgement(True, run.has_complete_order(), is_right)
