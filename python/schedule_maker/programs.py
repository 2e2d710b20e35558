# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Device programs of a schedule: computations, transfers and collectives, in order.

Transfers are put where one order of all stages together has them, right after what they
send was computed. That order is a run in which every send meets its receive, so sends
may wait for their receives.
"""

from dataclasses import dataclass, replace

from schedule_maker.schedules import Kind, Schedule, Task


@dataclass(frozen=True)
class Step:
    """One op of a device program. `kind` is that of the op, or of the task it runs."""

    kind: str
    uses: tuple[str, ...] = ()
    defines: str = ""
    task: Task | None = None
    peer: int = -1
    group: tuple[int, ...] = ()
    is_across_replicas: bool = False
    reduction: str = "average"
    # The chunk whose parameter or gradient it is about, or the micro-batch that is loaded.
    number: int = -1
    # What is sent, received or reduced: a row of the batch, the loss or a parameter.
    shape: str = "1x4"
    # Of communication that is started here and goes on, and of the wait for it.
    handle: str = ""
    # The chunk whose gradient gets the result of what is started.
    into: int = -1
    # What is started: its stream, the handles it comes after, and the chunk whose gradient
    # it reads itself when it begins.
    stream: str = ""
    after: tuple[str, ...] = ()
    reading: int = -1
    # The slot of scratch memory that gets what is received, is read or is freed.
    slot: int = -1


COMMUNICATION = {"send", "receive", "collective", "wait"}


@dataclass(frozen=True)
class Program:
    """The programs of all devices of a replica."""

    schedule: Schedule
    ranks: int  # devices of a stage, which compute the same
    replicas: int
    steps: tuple[tuple[Step, ...], ...]

    def with_steps(self, device: int, steps: list[Step]) -> "Program":
        """The same, with another program of a device."""
        programs = list(self.steps)
        programs[device] = tuple(steps)
        return replace(self, steps=tuple(programs))

    def execution(self, task: Task) -> int:
        """The number of an execution."""
        kinds = list(Kind)
        place = task.chunk * self.schedule.micro_batches + task.micro_batch
        return place * len(kinds) + kinds.index(task.kind)


def name(letter: str, task: Task) -> str:
    """The name of a tensor of a task."""
    return f"{letter}{task.chunk}_{task.micro_batch}"


def make_program(schedule: Schedule, ranks: int = 1, replicas: int = 2) -> Program:
    """The programs that run a schedule, with `ranks` devices on each stage."""
    seed = Step("seed", (), "s", shape="2")
    steps = [[seed] for _ in range(schedule.stages * ranks)]
    for task in schedule.in_order():
        stage = schedule.stage(task)
        group = _group(stage, ranks)
        for rank, device in enumerate(group):
            _add_task(schedule, task, steps[device], group)
            neighbour = _receiver(schedule, task)
            if neighbour is None or schedule.stage(neighbour) == stage:
                continue
            peer = _group(schedule.stage(neighbour), ranks)[rank]
            letter = "y" if task.kind is Kind.FORWARD else "d"
            value = name(letter, task)
            steps[device].append(Step("send", (value,), peer=peer))
            steps[peer].append(Step("receive", (), value, peer=device))
    _add_losses(schedule, steps, ranks)
    for device, program in enumerate(steps):
        _add_end(schedule, device // ranks, program, device, len(steps))
    return Program(schedule, ranks, replicas, tuple(map(tuple, steps)))


def _group(stage: int, ranks: int) -> tuple[int, ...]:
    return tuple(range(stage * ranks, (stage + 1) * ranks))


def _receiver(schedule: Schedule, task: Task) -> Task | None:
    """The task of another chunk that needs the result of a task, if one does."""
    if task.kind is Kind.FORWARD and task.chunk + 1 < schedule.chunks:
        return replace(task, chunk=task.chunk + 1)
    if task.kind is Kind.BACKWARD and task.chunk > 0:
        return replace(task, chunk=task.chunk - 1)
    return None


def _add_task(schedule: Schedule, task: Task, program: list[Step], group: tuple[int, ...]) -> None:
    """A task with what it takes and the collective that follows it."""
    micro_batch, is_last = task.micro_batch, task.chunk == schedule.chunks - 1
    if task.kind is Kind.FORWARD:
        taken = f"y{task.chunk - 1}_{micro_batch}"
        if task.chunk == 0:
            taken = f"x{micro_batch}"
            # Each call of the loader gives the next micro-batch, wanted or not.
            loaded = sum(step.kind == "load" for step in program)
            program.extend(
                Step("load", (), f"x{number}", number=number)
                for number in range(loaded, micro_batch + 1)
            )
        uses: tuple[str, ...] = (taken,)
        given = name("y", task)
    else:
        uses = () if is_last else (f"d{task.chunk + 1}_{micro_batch}",)
        given = name("d", task) if task.kind is Kind.BACKWARD else ""
    is_loss = is_last and task.kind is Kind.FORWARD
    shape = "" if is_loss else "1x4"
    # An average of losses of several micro-batches would be right in their sum.
    if len(group) == 1 or task.kind is Kind.WEIGHTS or is_loss:
        program.append(Step(task.kind.value, uses, given, task, shape=shape))
        return
    program.append(Step(task.kind.value, uses, f"{given}_own", task, shape=shape))
    program.append(Step("collective", (f"{given}_own",), given, group=group, shape=shape))


def _add_losses(schedule: Schedule, steps: list[list[Step]], ranks: int) -> None:
    """Sends the losses that are on another stage to that of the last chunk."""
    last = schedule.chunks - 1
    for micro_batch in range(schedule.micro_batches):
        task = Task(Kind.FORWARD, last, micro_batch)
        stages = schedule.stage(task), schedule.stage_of[last]
        if stages[0] == stages[1]:
            continue
        for sender, receiver in zip(*(_group(stage, ranks) for stage in stages), strict=True):
            loss = name("y", task)
            steps[sender].append(Step("send", (loss,), peer=receiver, shape=""))
            steps[receiver].append(Step("receive", (), loss, peer=sender, shape=""))


def _add_end(
    schedule: Schedule, stage: int, program: list[Step], device: int, devices: int
) -> None:
    """The reducers of a device, a collective of all devices and one of the first and last
    of them, and the outputs.
    """
    ranks = devices // schedule.stages
    for chunk in range(schedule.chunks):
        holders = schedule.holders(chunk)
        if stage not in holders:
            continue
        read, reduced = f"g{chunk}", f"r{chunk}"
        group = tuple(holder * ranks + device % ranks for holder in holders)
        program.append(Step("read", (), read, number=chunk, shape="4"))
        program.append(
            Step(
                "collective",
                (read,),
                reduced,
                group=group,
                is_across_replicas=True,
                reduction="sum",
                shape="4",
            )
        )
        program.append(Step("write", (reduced,), number=chunk, shape="4"))
    program.append(Step("collective", ("s",), "n", group=tuple(range(devices)), shape="2"))
    if device in (0, devices - 1) and devices > 1:
        program.append(Step("collective", ("s",), "e", group=(0, devices - 1), shape="2"))
    if schedule.stage_of[-1] == stage:
        for micro_batch in range(schedule.micro_batches):
            loss = f"y{schedule.chunks - 1}_{micro_batch}"
            program.append(Step("output", (loss,), number=micro_batch, shape=""))
