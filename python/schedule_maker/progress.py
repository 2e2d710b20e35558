# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether programs whose communication overlaps run to their ends and leave alone what it
uses.

Every state is visited that can be reached if what was posted may take any time: a transfer
is a step of its own, and so is the copy into a buffer. Memory is looked at pair by pair.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from schedule_maker.programs import COMMUNICATION, Program, Step
from schedule_maker.schedules import Kind

# What takes part in something together: a sender and a receiver, or members of a group.
Place = tuple[object, ...]


@dataclass(frozen=True)
class _Item:
    """A device posts what it takes part in, or waits for it."""

    is_wait: bool
    step: Step
    place: Place
    turn: int  # how often the device has taken part there before


@dataclass
class _Posted:
    """What the devices post at a place, in order."""

    parties: dict[int, list[Step]] = field(default_factory=dict)
    members: frozenset[int] = frozenset()


def starts_anything(program: Program) -> bool:
    """Is anything started and waited for apart?"""
    return any(step.handle for steps in program.steps for step in steps)


class OverlapExplorer:
    """Visits all states: where each device is, and what has happened at each place."""

    def __init__(
        self, program: Program, replicas: int, buffered_sends: int, one_at_a_time: bool = False
    ) -> None:
        self.program = program
        self.replicas = replicas
        self.buffered_sends = buffered_sends
        self.one_at_a_time = one_at_a_time
        self.places: dict[Place, _Posted] = {}
        self.items = [
            self._items(replica, device)
            for replica in range(replicas)
            for device in range(len(program.steps))
        ]
        self.order = list(self.places)
        self.number = {place: number for number, place in enumerate(self.order)}
        # For each device and position: how often it has posted at each place.
        self.counts = [self._count(items) for items in self.items]
        # Of each device what it posts, in order.
        self.posts = [[item for item in items if not item.is_wait] for items in self.items]

    def _items(self, replica: int, device: int) -> list[_Item]:
        items: list[_Item] = []
        started: dict[str, _Item] = {}
        for step in self.program.steps[device]:
            if step.kind == "wait":
                # A computation that was started ends whatever others do.
                if step.handle in started:
                    post = started[step.handle]
                    items.append(_Item(True, post.step, post.place, post.turn))
            elif step.kind in COMMUNICATION:
                post = self._post(replica, device, step)
                items.append(post)
                if step.handle:
                    started[step.handle] = post
                else:
                    items.append(_Item(True, step, post.place, post.turn))
        return items

    def _post(self, replica: int, device: int, step: Step) -> _Item:
        count = len(self.program.steps)
        own, peer = replica * count + device, replica * count + step.peer
        members = frozenset({own, peer})
        place: Place = ("channel", own, peer) if step.kind == "send" else ("channel", peer, own)
        if step.kind == "collective":
            where = range(self.replicas) if step.is_across_replicas else [replica]
            members = frozenset(other * count + member for other in where for member in step.group)
            place = ("group", members, step.is_across_replicas)
        posted = self.places.setdefault(place, _Posted())
        posted.members = members
        steps = posted.parties.setdefault(own, [])
        steps.append(step)
        return _Item(False, step, place, len(steps) - 1)

    @staticmethod
    def _count(items: list[_Item]) -> list[Counter[Place]]:
        counts: list[Counter[Place]] = [Counter()]
        for item in items:
            counts.append(counts[-1].copy())
            if not item.is_wait:
                counts[-1][item.place] += 1
        return counts

    def _posted(self, positions: tuple[int, ...], place: Place, device: int) -> int:
        """How often a device has posted at a place."""
        return self.counts[device][positions[device]][place]

    def _is_first(
        self, happened: tuple[tuple[int, int], ...], device: int, place: Place, turn: int
    ) -> bool:
        """Has a device ended all that it posts before it takes part in something? It need
        not where what it posts goes on side by side.
        """
        if not self.one_at_a_time:
            return True
        for item in self.posts[device]:
            if item.place == place and item.turn == turn:
                return True
            left, met = happened[self.number[item.place]]
            if item.turn >= (left if item.step.kind == "send" else met):
                return False
        return False

    def successors(
        self, state: tuple[tuple[int, ...], tuple[tuple[int, int], ...]]
    ) -> Iterator[tuple[tuple[tuple[int, ...], tuple[tuple[int, int], ...]], bool]]:
        """The states that a step leads to, and whether what meets in it fits."""
        positions, happened = state
        for device, position in enumerate(positions):
            if position == len(self.items[device]):
                continue
            item = self.items[device][position]
            left, met = happened[self.number[item.place]]
            is_sent = item.step.kind == "send" and self.buffered_sends > 0
            if not item.is_wait or item.turn < (left if is_sent else met):
                moved = tuple(other + (n == device) for n, other in enumerate(positions))
                yield (moved, happened), True
        for number, place in enumerate(self.order):
            for (left, met), fits in self._happens(positions, happened, place):
                changed = (*happened[:number], (left, met), *happened[number + 1 :])
                yield (positions, changed), fits

    def _happens(
        self, positions: tuple[int, ...], happened: tuple[tuple[int, int], ...], place: Place
    ) -> Iterator[tuple[tuple[int, int], bool]]:
        """What may happen at a place: `left` counts messages that have left their sender,
        `met` what is over.
        """
        posted = self.places[place]
        left, met = happened[self.number[place]]
        if place[0] == "group":
            if all(
                self._posted(positions, place, member) > met
                and self._is_first(happened, member, place, met)
                for member in posted.members
            ):
                same = {
                    (step.reduction, step.shape, step.group)
                    for step in (posted.parties[member][met] for member in posted.members)
                }
                yield (met + 1, met + 1), len(same) == 1
            return
        _, sender, receiver = place
        assert isinstance(sender, int) and isinstance(receiver, int)
        sent = self._posted(positions, place, sender)
        received = self._posted(positions, place, receiver)
        may_send = self._is_first(happened, sender, place, left)
        if left < sent and left - met < self.buffered_sends and may_send:
            yield (left + 1, met), True
        has_come = met < (left if self.buffered_sends else sent) and (left > met or may_send)
        if met < received and has_come and self._is_first(happened, receiver, place, met):
            fits = posted.parties[sender][met].shape == posted.parties[receiver][met].shape
            yield (max(left, met + 1), met + 1), fits

    def explore(self, most_states: int) -> tuple[bool, bool] | None:
        """Does an interleaving end well, and does one not? None if there are too many."""
        start = (tuple(0 for _ in self.items), tuple((0, 0) for _ in self.order))
        end = tuple(map(len, self.items))
        seen, waiting = {start}, [start]
        ends_well = ends_badly = False
        while waiting and not (ends_well and ends_badly):
            state = waiting.pop()
            reached = list(self.successors(state))
            if not reached:
                is_over = state[0] == end and all(
                    met == len(steps)
                    for place, (_, met) in zip(self.order, state[1], strict=True)
                    for steps in self.places[place].parties.values()
                )
                ends_well |= is_over
                ends_badly |= not is_over
            for following, fits in reached:
                if not fits:
                    ends_badly = True
                elif following not in seen:
                    seen.add(following)
                    waiting.append(following)
            if len(seen) > most_states:
                return None
        return ends_well, ends_badly


def uses_memory_safely(program: Program) -> bool:
    """Is each handle waited for once, and no gradient used against what is under way?"""
    return all(_is_safe(program, steps) for steps in program.steps)


def _is_safe(program: Program, steps: tuple[Step, ...]) -> bool:
    waits = [step.handle for step in steps if step.kind == "wait"]
    starts = {
        step.handle: place
        for place, step in enumerate(steps)
        if step.handle and step.kind != "wait"
    }
    if sorted(waits) != sorted(starts):
        return False
    accesses = [_accesses(program, steps, place) for place in range(len(steps))]
    ends = {step.handle: place for place, step in enumerate(steps) if step.kind == "wait"}
    return not any(
        chunk == other and (writes or other_writes)
        for handle, place in starts.items()
        for between in range(place + 1, ends[handle])
        for chunk, writes in accesses[place]
        for other, other_writes in accesses[between]
    )


def _accesses(program: Program, steps: tuple[Step, ...], place: int) -> set[tuple[int, bool]]:
    """The gradients that a step uses, and whether it writes to them."""
    step, found = steps[place], set()
    if step.kind in {"read", "write"}:
        found.add((step.number, step.kind == "write"))
    if step.into >= 0:
        found.add((step.into, True))
    adding = Kind.WEIGHTS if program.schedule.has_weights else Kind.BACKWARD
    if step.task and step.task.kind is adding:
        found.add((step.task.chunk, True))
    for used in step.uses:
        chunk = _viewed(program, steps[:place], used)
        if chunk is not None:
            found.add((chunk, False))
    return found


def _viewed(program: Program, steps: tuple[Step, ...], name: str) -> int | None:
    """The gradient that a tensor is a view of: it was read from there, and since then at
    most handed on by groups of one.
    """
    for place, step in enumerate(steps):
        if step.defines != name:
            continue
        if step.kind == "read":
            return step.number
        if step.kind == "wait":
            step = next(other for other in steps if other.handle == step.handle)
        alone = len(step.group) == 1 and not (step.is_across_replicas and program.replicas > 1)
        if step.kind == "collective" and alone:
            return _viewed(program, steps[:place], step.uses[0])
    return None
