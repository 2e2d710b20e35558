# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One pipeline stage as a list of steps that are the same on all of its ranks.

Which ops start a split is the model's choice (`Seeds`); every other op follows
its operands: it is split as its first split operand is. Where an op wants an
operand in another layout than the one it has, communication comes in between,
and where several consumers share an operand that has a gradient, nnScaler's
`multiref` copies it, so that its backward adds up their gradients.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from plan_maker.graph import FullTensor
from plan_maker.strategy.layout import (
    TERM_ON_EACH,
    WHOLE_ON_EACH,
    Layout,
    Partition,
    Value,
    partition,
)
from plan_maker.trace import Call

Seeds: TypeAlias = Mapping[Call, tuple[int, int]]
"""Call -> (operand, dimension): the call is split along that dimension."""


@dataclass(frozen=True)
class Communicate:
    """Brings a tensor from one layout (also of its gradient) to another."""

    source: Value
    target: Value
    layer: int | None


@dataclass(frozen=True)
class Fork:
    """Copies a tensor for `copies` consumers."""

    source: Value
    copies: int
    layer: int | None


@dataclass(frozen=True)
class Copy:
    """Copy `index` that step `fork` made."""

    fork: Fork
    index: int


@dataclass(frozen=True)
class Run:
    """Runs a call. An operand that is None is not a tensor."""

    call: Call
    partition: Partition
    operands: tuple[Value | Copy | None, ...]


Step: TypeAlias = Communicate | Fork | Run


@dataclass(frozen=True)
class Stage:
    """A part of the model: `calls` on tensors that earlier stages or the loader
    made (`inputs`) or the stage itself made. `outputs` go to the next stage.
    """

    index: int
    calls: tuple[Call, ...]
    inputs: tuple[FullTensor, ...]
    outputs: tuple[FullTensor, ...]


@dataclass(frozen=True)
class StageSteps:
    """The steps of a stage; `inputs` and `outputs` are whole on every rank."""

    stage: Stage
    steps: tuple[Step, ...]
    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]

    def has_input_gradient(self, value: Value) -> bool:
        """Does the stage's backward part produce the gradient of input `value`?

        The loader's data are nobody's result: their gradient appears only as
        the by-product of splitting them.
        """
        if value.tensor.gradient is None:
            return False
        is_data = self.stage.index == 0
        return not is_data or any(
            isinstance(step, Communicate) and step.source == value for step in self.steps
        )


def plan_steps(stage: Stage, seeds: Seeds) -> StageSteps:
    """Turns the calls of `stage` into steps."""
    producers = {tensor: Value.produced(tensor, WHOLE_ON_EACH) for tensor in stage.inputs}
    partitions: list[Partition] = []
    for call in stage.calls:
        split_at = seeds[call] if call in seeds else _inherited_split(call, producers)
        partitions.append(partition(call, split_at))
        producers |= {value.tensor: value for value in partitions[-1].results}

    planner = _Planner(stage, producers, _count_consumers(stage, partitions))
    outputs = tuple(Value.produced(tensor, WHOLE_ON_EACH) for tensor in stage.outputs)
    for call, split_call in zip(stage.calls, partitions, strict=True):
        planner.run(call, split_call)
        for value in outputs:
            if value.tensor in call.results:
                planner.communicate(value, call.layer)
    return StageSteps(
        stage, tuple(planner.steps), tuple(producers[tensor] for tensor in stage.inputs), outputs
    )


def _inherited_split(call: Call, producers: Mapping[FullTensor, Value]) -> tuple[int, int] | None:
    for position, tensor in call.tensor_operands():
        if tensor in producers and producers[tensor].layout.dimension is not None:
            return position, producers[tensor].layout.dimension or 0
    return None


def _count_consumers(stage: Stage, partitions: list[Partition]) -> Counter[Value]:
    """How many calls want each value; only those that differentiate it count."""
    return Counter(
        value
        for split_call in partitions
        for value in split_call.operands
        if value is not None
        and value.gradient is not None
        and any(result.gradient for result in split_call.results)
    )


@dataclass
class _Planner:
    stage: Stage
    producers: Mapping[FullTensor, Value]
    consumers: Counter[Value]
    steps: list[Step] = field(default_factory=list)
    present: set[Value] = field(default_factory=set)
    forks: dict[Value, Fork] = field(default_factory=dict)
    copies_used: Counter[Value] = field(default_factory=Counter)

    def run(self, call: Call, split_call: Partition) -> None:
        """Appends the step for `call`, after what its operands need."""
        differentiates = any(result.gradient for result in split_call.results)
        operands = tuple(
            None if value is None else self._operand(value, call, differentiates)
            for value in split_call.operands
        )
        self.steps.append(Run(call, split_call, operands))

    def communicate(self, value: Value, layer: int | None) -> None:
        """Makes `value` present, by way of the whole tensor if need be."""
        source = self.producers[value.tensor]
        if value in self.present or value == source:
            return
        self.present.add(value)
        needs_whole = source.layout != WHOLE_ON_EACH and value.gradient == TERM_ON_EACH
        if needs_whole:
            source = Value.produced(value.tensor, WHOLE_ON_EACH)
            self.communicate(source, layer)
        self.steps.append(Communicate(source, value, layer))

    def _operand(self, value: Value, call: Call, differentiates: bool) -> Value | Copy:
        if value.tensor.is_parameter:
            return value
        if not differentiates:
            # The op reads the tensor where its gradient does not matter: it
            # takes it as the other consumers get it, before any copies.
            value = self._without_gradient_demand(value)
        if not self._is_unused_data_gradient(value):
            self.communicate(value, call.layer)
        if not differentiates or self.consumers[value] < 2:
            return value
        if value not in self.forks:
            self.forks[value] = Fork(value, self.consumers[value], call.layer)
            self.steps.append(self.forks[value])
        self.copies_used[value] += 1
        return Copy(self.forks[value], self.copies_used[value] - 1)

    def _without_gradient_demand(self, value: Value) -> Value:
        source = self.producers[value.tensor]
        return source if source.layout == value.layout else value

    def _is_unused_data_gradient(self, value: Value) -> bool:
        """Loader data that ranks use whole need no sum of their gradient."""
        is_data = self.stage.index == 0 and value.tensor in self.stage.inputs
        return is_data and value.layout == self.producers[value.tensor].layout


def communication(source: Value, target: Value) -> tuple[str, tuple[tuple[str, int], ...]]:
    """The primitive for a Communicate step, and its dimensions."""
    before, after = source.layout, target.layout
    if source.gradient is None:
        return _plain_communication(before, after)
    if before == TERM_ON_EACH and after == WHOLE_ON_EACH:
        return "AllReduceIdentityPrim", ()
    if before == WHOLE_ON_EACH and after == WHOLE_ON_EACH and target.gradient == TERM_ON_EACH:
        return "IdentityAllreducePrim", ()
    if before == WHOLE_ON_EACH and after.dimension is not None:
        return "SplitAllGatherPrim", (("dim", after.dimension),)
    if before.dimension is not None and after == WHOLE_ON_EACH:
        return "AllGatherSplitPrim", (("dim", before.dimension),)
    if before.dimension is not None and after.dimension is not None:
        return "AllToAllAllToAllPrim", (("idim", before.dimension), ("odim", after.dimension))
    raise ValueError(f"no primitive brings {before} to {after} for '{source.tensor.name}'")


def _plain_communication(before: Layout, after: Layout) -> tuple[str, tuple[tuple[str, int], ...]]:
    """Primitives for tensors without gradient: tokens and masks."""
    if before == WHOLE_ON_EACH and after.dimension is not None:
        return "ChunkPrim", (("dim", after.dimension),)
    if before.dimension is not None and after == WHOLE_ON_EACH:
        return "AllGatherPrim", (("dim", before.dimension),)
    raise ValueError(f"no primitive brings {before} to {after}")
