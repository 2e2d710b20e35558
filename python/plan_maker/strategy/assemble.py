# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A plan from a trace: stages, ranks, transfers, schedule and reducers.

With one stage and one micro-batch, devices run their cells directly. Otherwise
every execution is a reuse cell, which binds the cell's tensors to those of the
micro-batch; micro-batch 0 uses the cell's own tensors.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TypeAlias

from plan_maker.graph import (
    BaseCell,
    Cell,
    DataOperation,
    DataSource,
    DeviceProgram,
    FullTensor,
    Plan,
    ReuseCell,
    SubTensor,
    WeightReducer,
)
from plan_maker.strategy.configuration import Parallelism, PartOrder
from plan_maker.strategy.numbering import Numbering
from plan_maker.strategy.pipeline import Transfer, cut, loss_transfer, take, transfer
from plan_maker.strategy.ranks import RankSegments, lower_stage
from plan_maker.strategy.reducers import weight_reducers
from plan_maker.strategy.schedule import Block, schedule
from plan_maker.strategy.stage import Seeds, Stage, plan_steps
from plan_maker.trace import Call, Trace

ChooseSeeds: TypeAlias = Callable[[Stage], Seeds]
"""Which calls of a stage start a split over the tensor-parallel ranks."""


@dataclass(frozen=True)
class Boundary:
    """The transfers from a stage to the next one, and back."""

    forward: tuple[Transfer, ...]
    backward: tuple[Transfer, ...]


def assemble(
    trace: Trace, parts: list[list[Call]], choose: ChooseSeeds, parallelism: Parallelism
) -> Plan:
    """The plan of one replica; stage s runs `parts[s]` of the trace's calls."""
    numbering = Numbering(trace.next_identifier)
    ranks = parallelism.tensor
    groups = [
        tuple(range(group * ranks, (group + 1) * ranks)) for group in range(parallelism.pipeline)
    ]
    # Interleaved stages take turns on the groups of devices.
    stage_devices = groups * parallelism.virtual
    loader = numbering.cell()
    stages: list[tuple[RankSegments, ...]] = []
    given: dict[FullTensor, FullTensor] = {}
    for cut_stage, devices in zip(cut(trace, parts, numbering), stage_devices, strict=True):
        stage = take(cut_stage, given)
        steps = plan_steps(stage, choose(stage), ranks, numbering)
        outputs = (value.tensor for value in steps.outputs)
        given = dict(zip(stage.outputs, outputs, strict=True))
        stages.append(lower_stage(steps, devices, numbering))
    data = stages[0][0].forward.inputs
    loaders = {
        rank.device: DataOperation(loader, trace.source, data, rank.device)
        for stage in stages[: parallelism.pipeline]
        for rank in stage
    }
    builder = _Builder(
        numbering, {device: [] for device in loaders}, {device: [] for device in loaders}
    )
    if len(stages) == 1 and parallelism.micro_batches == 1:
        builder.add_directly(stages[0], loaders)
    else:
        builder.add_scheduled(stages, loaders, parallelism)
    reducers = weight_reducers(stages, parallelism.data, numbering)
    loss = stages[-1][0].forward.outputs[0]
    return Plan(
        tuple(
            DeviceProgram(device, (*cells, *reducers[device]), tuple(builder.unscheduled[device]))
            for device, cells in builder.cells.items()
        ),
        parallelism.data * parallelism.devices_per_replica,
        tuple(builder.tensor(loss, micro) for micro in range(parallelism.micro_batches)),
        trace.source,
        _groups(groups, reducers, parallelism),
    )


@dataclass
class _Builder:
    """The growing lists of cells, and the tensors of each micro-batch."""

    numbering: Numbering
    cells: dict[int, list[Cell]]
    unscheduled: dict[int, list[Cell]]
    full_tensors: dict[tuple[int, int], FullTensor] = field(default_factory=dict)
    sub_tensors: dict[tuple[int, int], SubTensor] = field(default_factory=dict)
    reuse_numbers: dict[tuple[int, int], int] = field(default_factory=dict)

    def add_directly(
        self, stage: tuple[RankSegments, ...], loaders: dict[int, DataOperation]
    ) -> None:
        """One stage, one micro-batch."""
        for rank in stage:
            self.cells[rank.device] += [loaders[rank.device], rank.forward, rank.backward]

    def add_scheduled(
        self,
        stages: list[tuple[RankSegments, ...]],
        loaders: dict[int, DataOperation],
        parallelism: Parallelism,
    ) -> None:
        """Blocks and transfers in the schedule's order, then what is left."""
        boundaries = [
            _boundary(before, after, self.numbering, parallelism.part_order)
            for before, after in pairwise(stages)
        ]
        count = parallelism.micro_batches
        for blocks in schedule(parallelism.schedule, len(stages), count):
            for block in blocks:
                self._add_block(block, stages[block.stage], loaders)
            for block in blocks:
                if block.is_forward and block.stage < len(boundaries):
                    self._add_transfers(boundaries[block.stage].forward, block.micro_batch)
            for block in blocks:
                if not block.is_forward and block.stage > 0:
                    self._add_transfers(boundaries[block.stage - 1].backward, block.micro_batch)
        # nnScaler runs the loader on every device; later stages draw what they
        # do not use, last micro-batch first.
        for micro_batch in reversed(range(count)):
            for stage in stages[1 : parallelism.pipeline]:
                for rank in stage:
                    self._add(rank.device, loaders[rank.device], micro_batch, is_shared=False)
        if len(stages) > 1:
            loss = stages[-1][0].forward.outputs[0]
            devices = [
                tuple(rank.device for rank in stage) for stage in stages[: parallelism.pipeline]
            ]
            told, mirror = loss_transfer(loss, devices, self.numbering)
            for micro_batch in range(count):
                self._add_transfers((told,), micro_batch)
                for adapter in mirror.adapters:
                    cell = self._reuse(adapter, micro_batch)
                    self.unscheduled[adapter.device].append(cell)

    def tensor(self, tensor: SubTensor, micro_batch: int) -> SubTensor:
        """The tensor that stands for `tensor` of the cell in `micro_batch`."""
        if micro_batch == 0:
            return tensor
        key = (micro_batch, tensor.identifier)
        if key not in self.sub_tensors:
            gradient = None
            if tensor.gradient is not None:
                self._full_tensor(tensor.full, micro_batch)
                gradient = self.tensor(tensor.gradient, micro_batch)
            full = self._full_tensor(tensor.full, micro_batch)
            self.sub_tensors[key] = SubTensor(
                self.numbering.tensor(), full, tensor.slices, tensor.part, gradient
            )
        return self.sub_tensors[key]

    def _full_tensor(self, full: FullTensor, micro_batch: int) -> FullTensor:
        key = (micro_batch, full.identifier)
        if key not in self.full_tensors:
            fresh = self.numbering.full_like(full)
            self.full_tensors[key] = fresh
            if full.gradient is not None and fresh.gradient is not None:
                self.full_tensors[micro_batch, full.gradient.identifier] = fresh.gradient
        return self.full_tensors[key]

    def _add_block(
        self, block: Block, stage: tuple[RankSegments, ...], loaders: dict[int, DataOperation]
    ) -> None:
        for rank in stage:
            if block.is_forward and block.stage == 0:
                self._add(rank.device, loaders[rank.device], block.micro_batch, is_shared=False)
            segment = rank.forward if block.is_forward else rank.backward
            self._add(rank.device, segment, block.micro_batch)

    def _add_transfers(self, transfers: tuple[Transfer, ...], micro_batch: int) -> None:
        for moved in transfers:
            for adapter in moved.adapters:
                self._add(adapter.device, adapter, micro_batch)

    def _add(
        self, device: int, cell: BaseCell, micro_batch: int, *, is_shared: bool = True
    ) -> None:
        self.cells[device].append(self._reuse(cell, micro_batch, is_shared=is_shared))

    def _reuse(self, cell: BaseCell, micro_batch: int, *, is_shared: bool = True) -> ReuseCell:
        """One execution of `cell`; a shared one has one number on all devices."""
        mirror = None
        inputs: tuple[SubTensor | DataSource, ...]
        if isinstance(cell, DataOperation):
            inputs = (cell.source,)
        else:
            inputs = tuple(self.tensor(tensor, micro_batch) for tensor in cell.inputs)
            if cell.mirror is not None:
                mirror = self._reuse_number(cell.mirror, micro_batch)
        number = (
            self._reuse_number(cell.identifier, micro_batch) if is_shared else self.numbering.cell()
        )
        outputs = tuple(self.tensor(tensor, micro_batch) for tensor in cell.outputs)
        return ReuseCell(number, cell, inputs, outputs, mirror, micro_batch)

    def _reuse_number(self, cell: int, micro_batch: int) -> int:
        key = (cell, micro_batch)
        if key not in self.reuse_numbers:
            self.reuse_numbers[key] = self.numbering.cell()
        return self.reuse_numbers[key]


def _boundary(
    before: tuple[RankSegments, ...],
    after: tuple[RankSegments, ...],
    numbering: Numbering,
    order: PartOrder,
) -> Boundary:
    senders = tuple(rank.device for rank in before)
    receivers = tuple(rank.device for rank in after)
    pairs = [
        transfer(tensor, senders, receivers, numbering, order)
        for tensor in before[0].forward.outputs
    ]
    backward = [back for _, back in pairs if back is not None]
    return Boundary(tuple(there for there, _ in pairs), tuple(reversed(backward)))


def _groups(
    stages: list[tuple[int, ...]],
    reducers: dict[int, tuple[WeightReducer, ...]],
    parallelism: Parallelism,
) -> tuple[tuple[int, ...], ...]:
    """Process groups of more than one device: of reducers over all replicas, of
    tensor-parallel ranks in each replica.
    """
    size, replicas = parallelism.devices_per_replica, range(parallelism.data)
    groups: dict[tuple[int, ...], None] = {}
    for of_device in reducers.values():
        for reducer in of_device:
            members = (
                replica * size + device for replica in replicas for device in reducer.devices
            )
            groups[tuple(members)] = None
    for stage in stages:
        for replica in replicas:
            groups[tuple(replica * size + device for device in stage)] = None
    return tuple(group for group in groups if len(group) > 1)
