# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether programs run to their ends, by trying all interleavings, and what they compute.

Nothing is concluded from one interleaving: every state that can be reached is visited.
Replicas can be written out, each with devices of its own.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from schedule_maker.memory import uses_memory_safely
from schedule_maker.programs import COMMUNICATION, Program, Step
from schedule_maker.progress import OverlapExplorer, starts_anything
from schedule_maker.values import Run

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
    run, expected = Run(program), Run(original)
    run.run()
    expected.run()
    is_right = run.results() == expected.results()
    return Judgement(True, run.has_complete_order(), is_right)
