# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pipeline schedules: what each stage computes, in which order.

The model is cut into chunks, and each chunk lies on a stage, or on two that are as far
from either end, for micro-batches that run in two directions. A forward needs that of the
chunk before, a backward that of the chunk behind and its own forward. Where weights are
differentiated apart, that needs the backward of the same chunk.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum


class Kind(Enum):
    """What is computed."""

    FORWARD = "forward"
    BACKWARD = "backward"
    # The gradients of weights, where the backward gives those of inputs only.
    WEIGHTS = "weights"


@dataclass(frozen=True)
class Task:
    """One computation, of one chunk for one micro-batch."""

    kind: Kind
    chunk: int
    micro_batch: int


class ImpossibleScheduleError(Exception):
    """The kind of schedule is not defined for these numbers."""


@dataclass(frozen=True)
class Schedule:
    """The tasks of every stage, in order."""

    stage_of: tuple[int, ...]  # of each chunk
    micro_batches: int
    tasks: tuple[tuple[Task, ...], ...]
    # From this micro-batch on, all run through the stages in the opposite direction.
    turned_from: int | None = None

    def stage(self, task: Task) -> int:
        """The stage that runs a task."""
        stage = self.stage_of[task.chunk]
        is_turned = self.turned_from is not None and task.micro_batch >= self.turned_from
        return self.stages - 1 - stage if is_turned else stage

    def holders(self, chunk: int) -> tuple[int, ...]:
        """The stages that a chunk lies on."""
        stage = self.stage_of[chunk]
        other = stage if self.turned_from is None else self.stages - 1 - stage
        return tuple(sorted({stage, other}))

    @property
    def stages(self) -> int:
        """The number of stages."""
        return len(self.tasks)

    @property
    def chunks(self) -> int:
        """The number of chunks, of all stages."""
        return len(self.stage_of)

    @property
    def has_weights(self) -> bool:
        """Are gradients of weights computed apart?"""
        return any(task.kind is Kind.WEIGHTS for tasks in self.tasks for task in tasks)

    def needs(self, task: Task) -> Iterator[Task]:
        """The tasks that have to be over before this one."""
        chunk, micro_batch = task.chunk, task.micro_batch
        if task.kind is Kind.WEIGHTS:
            yield Task(Kind.BACKWARD, chunk, micro_batch)
        if task.kind is Kind.BACKWARD:
            yield Task(Kind.FORWARD, chunk, micro_batch)
            if chunk + 1 < self.chunks:
                yield Task(Kind.BACKWARD, chunk + 1, micro_batch)
        if task.kind is Kind.FORWARD and chunk > 0:
            yield Task(Kind.FORWARD, chunk - 1, micro_batch)

    def in_order(self) -> list[Task]:
        """All tasks in an order in which all stages together can run them, each as soon
        as it can, one step for each.
        """
        position = [0] * self.stages
        clock = [0] * self.stages
        end: dict[Task, int] = {}
        is_moving = True
        while is_moving:
            is_moving = False
            for stage, tasks in enumerate(self.tasks):
                while position[stage] < len(tasks):
                    task = tasks[position[stage]]
                    ends = [end.get(needed) for needed in self.needs(task)]
                    if None in ends:
                        break
                    start = max([clock[stage], *(time for time in ends if time is not None)])
                    clock[stage] = end[task] = start + 1
                    position[stage] += 1
                    is_moving = True
        if any(position[stage] < len(tasks) for stage, tasks in enumerate(self.tasks)):
            raise ImpossibleScheduleError("no order of the tasks has what each needs before it")
        return sorted(end, key=lambda task: (end[task], self.stage(task)))


def _alternating(
    forwards: list[Task], backwards: list[Task], warm_up: int, weights: int | None = None
) -> tuple[Task, ...]:
    """First `warm_up` forwards, then one forward and one backward in turn; where there are
    `weights`, those follow the backward by so many turns.
    """
    tasks = forwards[:warm_up]
    for turn, backward in enumerate(backwards):
        tasks += forwards[warm_up + turn : warm_up + turn + 1]
        tasks.append(backward)
        if weights is not None and turn >= weights:
            tasks.append(_weights_of(backwards[turn - weights]))
    if weights is not None:
        tasks += [_weights_of(task) for task in backwards[max(0, len(backwards) - weights) :]]
    return tuple(tasks)


def _weights_of(backward: Task) -> Task:
    return Task(Kind.WEIGHTS, backward.chunk, backward.micro_batch)


def _of_stage(kind: Kind, stage: int, micro_batches: int) -> list[Task]:
    return [Task(kind, stage, micro_batch) for micro_batch in range(micro_batches)]


def _plain(
    stages: int,
    micro_batches: int,
    warm_up: Callable[[int], int],
    weights: Callable[[int], int] | None = None,
) -> Schedule:
    """One chunk on each stage."""
    return Schedule(
        tuple(range(stages)),
        micro_batches,
        tuple(
            _alternating(
                _of_stage(Kind.FORWARD, stage, micro_batches),
                _of_stage(Kind.BACKWARD, stage, micro_batches),
                min(micro_batches, warm_up(stage)),
                weights(stage) if weights else None,
            )
            for stage in range(stages)
        ),
    )


def gpipe(stages: int, micro_batches: int, chunks: int = 1) -> Schedule:
    """All forwards, then all backwards in the opposite order [GPipe]."""
    _needs_one_chunk(chunks)
    tasks = tuple(
        tuple(
            _of_stage(Kind.FORWARD, stage, micro_batches)
            + _of_stage(Kind.BACKWARD, stage, micro_batches)[::-1]
        )
        for stage in range(stages)
    )
    return Schedule(tuple(range(stages)), micro_batches, tasks)


def one_forward_one_backward(stages: int, micro_batches: int, chunks: int = 1) -> Schedule:
    """As many forwards first as there are stages behind [PipeDream-Flush]."""
    _needs_one_chunk(chunks)
    return _plain(stages, micro_batches, lambda stage: stages - stage - 1)


def zero_bubble_h1(stages: int, micro_batches: int, chunks: int = 1) -> Schedule:
    """Weights later on later stages, so that each keeps as much as the first [ZB-H1]."""
    _needs_one_chunk(chunks)
    return _plain(stages, micro_batches, lambda stage: stages - stage - 1, lambda stage: stage)


def zero_bubble_h2(stages: int, micro_batches: int, chunks: int = 1) -> Schedule:
    """Twice the forwards first, so that nothing idles [ZB-H2]."""
    _needs_one_chunk(chunks)
    return _plain(
        stages, micro_batches, lambda stage: 2 * (stages - stage - 1), lambda stage: 2 * stage
    )


def interleaved(stages: int, micro_batches: int, chunks: int = 2) -> Schedule:
    """`chunks` on each stage, in rounds of as many micro-batches as there are stages."""
    if micro_batches % stages:
        raise ImpossibleScheduleError(
            f"{micro_batches} micro-batches do not go into rounds of {stages}"
        )
    order = [
        (chunk, first + offset)
        for first in range(0, micro_batches, stages)
        for chunk in range(chunks)
        for offset in range(stages)
    ]
    tasks = []
    for stage in range(stages):
        forwards = [Task(Kind.FORWARD, chunk * stages + stage, k) for chunk, k in order]
        backwards = [
            Task(Kind.BACKWARD, (chunks - 1 - chunk) * stages + stage, k) for chunk, k in order
        ]
        warm_up = min(len(forwards), 2 * (stages - stage - 1) + (chunks - 1) * stages)
        tasks.append(_alternating(forwards, backwards, warm_up))
    return Schedule(
        tuple(chunk % stages for chunk in range(stages * chunks)), micro_batches, tuple(tasks)
    )


def dualpipe(stages: int, micro_batches: int, chunks: int = 1) -> Schedule:
    """Half of the micro-batches enter at the first stage and half at the last, each in the
    order of 1F1B. Each stage holds two chunks [DualPipe].
    """
    _needs_one_chunk(chunks)
    half, own = stages // 2, micro_batches // 2
    if stages % 2 or micro_batches % 2 or own < stages:
        raise ImpossibleScheduleError(
            f"{micro_batches} micro-batches do not run in two directions through {stages} stages"
        )
    tasks = []
    for stage in range(stages):
        from_end = min(stage, stages - 1 - stage)
        to_middle = half - 1 - from_end
        # Capital letters are of micro-batches that enter at the nearer end.
        order = "F" * (2 * to_middle) + "Ff" * (from_end + 1) + "bf" * to_middle
        order += "FbfB" * (own - stages + from_end + 1) + "bfB" * to_middle
        order += "bB" * (from_end + 1) + "B" * to_middle
        nearer = [(stage, micro_batch) for micro_batch in range(own)]
        farther = [(stages - 1 - stage, own + micro_batch) for micro_batch in range(own)]
        if stage >= half:
            nearer, farther = farther, nearer
        following = {"F": iter(nearer), "f": iter(farther), "B": iter(nearer), "b": iter(farther)}
        kinds = {"f": Kind.FORWARD, "b": Kind.BACKWARD}
        computed = [Task(kinds[letter.lower()], *next(following[letter])) for letter in order]
        tasks.append(_with_weights(computed, delayed=half, in_turn=to_middle))
    return Schedule(tuple(range(stages)), micro_batches, tuple(tasks), turned_from=own)


def _with_weights(tasks: list[Task], delayed: int, in_turn: int) -> tuple[Task, ...]:
    """The weights of each backward right after it, but for the last ones, `delayed` of
    them: the oldest of those come before the last backwards, `in_turn` of them, one each,
    and the others at the end.
    """
    left = sum(task.kind is Kind.BACKWARD for task in tasks)
    done: list[Task] = []
    waiting: list[Task] = []
    for task in tasks:
        if task.kind is Kind.BACKWARD and left <= in_turn:
            done.append(waiting.pop(0))
        done.append(task)
        if task.kind is not Kind.BACKWARD:
            continue
        (waiting if left <= delayed else done).append(_weights_of(task))
        left -= 1
    return tuple(done + waiting)


def _needs_one_chunk(chunks: int) -> None:
    if chunks != 1:
        raise ImpossibleScheduleError("only an interleaved schedule has several chunks a stage")


SCHEDULES: dict[str, Callable[[int, int, int], Schedule]] = {
    "gpipe": gpipe,
    "1f1b": one_forward_one_backward,
    "interleaved": interleaved,
    "zero-bubble-h1": zero_bubble_h1,
    "zero-bubble-h2": zero_bubble_h2,
    "dualpipe": dualpipe,
}


def peak_live_activations(
    name: str, stages: int, micro_batches: int, chunks: int, stage: int
) -> int:
    """How many forwards a stage keeps values of at a time, at most, by the formula that
    is published for the schedule (docs/PlanMaker.md), for enough micro-batches.
    """
    formulas = {
        "gpipe": micro_batches,
        "1f1b": stages - stage,
        "interleaved": chunks * stages + stages - 1 - 2 * stage,
        "zero-bubble-h1": stages,
        "zero-bubble-h2": 2 * stages - 1,
        "dualpipe": stages + 1,
    }
    return min(micro_batches * chunks, formulas[name])
