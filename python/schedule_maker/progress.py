# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether programs whose communication overlaps run to their ends and leave alone what it
uses.

Every state is visited that can be reached if what was posted may take any time: a transfer
is a step of its own, and so is a computation on a stream that others wait for.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from schedule_maker.programs import COMMUNICATION, Program, Step

# What takes part in something together: a sender and a receiver, or members of a group.
Place = tuple[object, ...]


@dataclass(frozen=True)
class _Item:
    """A device posts what it takes part in, or waits for it."""

    is_wait: bool
    step: Step
    place: Place
    turn: int  # how often the device has taken part there before
    # What of the device has to be over before: places and turns.
    before: tuple[tuple[Place, int], ...] = ()


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
        # Of each device what it communicates, in order, and what comes before it.
        self.posts = [
            [item for item in items if not item.is_wait and item.place[0] != "stream"]
            for items in self.items
        ]
        self.before = [
            {(item.place, item.turn): item.before for item in items if not item.is_wait}
            for items in self.items
        ]

    def _items(self, replica: int, device: int) -> list[_Item]:
        items: list[_Item] = []
        started: dict[str, _Item] = {}
        last: dict[str, _Item] = {}
        has_order = any(step.stream or step.after for step in self.program.steps[device])
        for step in self.program.steps[device]:
            if step.kind == "wait":
                # A computation that waits for nothing ends whatever others do.
                if step.handle in started:
                    post = started[step.handle]
                    items.append(_Item(True, post.step, post.place, post.turn))
            elif step.kind in COMMUNICATION or (step.handle and has_order):
                names = {handle: started[handle] for handle in step.after}
                earlier = [*names.values(), *([last[step.stream]] if step.stream in last else [])]
                before = tuple({(item.place, item.turn) for item in earlier})
                post = replace(self._post(replica, device, step), before=before)
                items.append(post)
                if step.stream:
                    last[step.stream] = post
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
        elif step.kind not in COMMUNICATION:
            members = frozenset({own})
            place = ("stream", own, step.handle)
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

    def _may_begin(
        self, happened: tuple[tuple[int, int], ...], device: int, place: Place, turn: int
    ) -> bool:
        """Is all over that a device has to end before it takes part in something?"""
        before = self.before[device].get((place, turn), ())
        if not all(self._is_over(happened, device, *end) for end in before):
            return False
        if not self.one_at_a_time or place[0] == "stream":
            return True
        for item in self.posts[device]:
            if item.place == place and item.turn == turn:
                return True
            if not self._is_over(happened, device, item.place, item.turn):
                return False
        return False

    def _is_over(
        self, happened: tuple[tuple[int, int], ...], device: int, place: Place, turn: int
    ) -> bool:
        left, met = happened[self.number[place]]
        return turn < (left if place[:2] == ("channel", device) else met)

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
        if place[0] != "channel":
            if all(
                self._posted(positions, place, member) > met
                and self._may_begin(happened, member, place, met)
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
        may_send = self._may_begin(happened, sender, place, left)
        if left < sent and left - met < self.buffered_sends and may_send:
            yield (left + 1, met), True
        has_come = met < (left if self.buffered_sends else sent) and (left > met or may_send)
        if met < received and has_come and self._may_begin(happened, receiver, place, met):
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
