# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One pipeline stage as a list of steps that are the same on all of its ranks.

Which ops start a split is the model's choice (`Seeds`); every other op follows
its operands: it is split as its first split operand is. Where an op wants an
operand in another layout than the one it has, communication comes in between,
and where several consumers share an operand that has a gradient, nnScaler's
`multiref` copies it, so that its backward adds up their gradients.

A parameter that several ops of a stage share is copied too if there are several
ranks; on one rank each op has a term of its gradient, as in nnScaler's plans.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from plan_maker.errors import ImpossiblePlanError
from plan_maker.graph import FullTensor
from plan_maker.strategy.layout import (
    TERM_ON_EACH,
    WHOLE_ON_EACH,
    Partition,
    Value,
    partition,
)
from plan_maker.strategy.numbering import Numbering
from plan_maker.trace import Call

Split: TypeAlias = "tuple[int, int] | None"
"""Operand and dimension along which a call is split; None: not split."""


@dataclass(frozen=True)
class Seeds:
    """How the calls that do not follow their operands are split.

    Several consumers of an activation get copies after it was brought to the
    layout that they want, or, if `copies_first`, as it was produced; where they want
    it in several, there is a copy for each first. Sums of which each rank keeps a
    part are reduce-scatters if `scatters`.
    """

    at: Mapping[Call, Split]
    copies_first: bool = False
    scatters: bool = False


@dataclass(frozen=True)
class Communicate:
    """Brings a tensor from one layout (also of its gradient) to another."""

    source: Value
    target: Value
    layer: int | None


@dataclass(frozen=True)
class Fork:
    """Copies a tensor for several consumers. The copies are full tensors of their
    own, on each rank, or if `is_shared`, on all ranks together.
    """

    source: Value
    copies: tuple[Value, ...]
    is_shared: bool
    layer: int | None


@dataclass(frozen=True)
class Run:
    """Runs a call. An operand that is None is not a tensor."""

    call: Call
    partition: Partition
    operands: tuple[Value | None, ...]


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
    """The steps of a stage; `inputs` and `outputs` are whole on every rank. An output
    that the stage also uses is a copy, one for each of the stage's `outputs`.
    """

    stage: Stage
    steps: tuple[Step, ...]
    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]
    scatters: bool

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


def plan_steps(stage: Stage, seeds: Seeds, ranks: int, numbering: Numbering) -> StageSteps:
    """Turns the calls of `stage` into steps."""
    producers = {tensor: Value.produced(tensor, WHOLE_ON_EACH) for tensor in stage.inputs}
    partitions: list[Partition] = []
    for call in stage.calls:
        split_at = seeds.at[call] if call in seeds.at else _inherited_split(call, producers)
        partitions.append(partition(call, split_at))
        producers |= {value.tensor: value for value in partitions[-1].results}

    planner = _Planner(stage, producers, seeds.copies_first, numbering)
    outputs = tuple(Value.produced(tensor, WHOLE_ON_EACH) for tensor in stage.outputs)
    planner.count_consumers(partitions, outputs)
    if ranks > 1:
        planner.copy_parameters(partitions)
    given = {
        value.tensor: planner.consume(value, None, is_output=True)
        for value in outputs
        if value.tensor in stage.inputs
    }
    for call, split_call in zip(stage.calls, partitions, strict=True):
        planner.run(call, split_call)
        for value in outputs:
            if value.tensor in call.results:
                given[value.tensor] = planner.consume(value, call.layer, is_output=True)
    return StageSteps(
        stage,
        tuple(planner.steps),
        tuple(producers[tensor] for tensor in stage.inputs),
        tuple(given[tensor] for tensor in stage.outputs),
        seeds.scatters,
    )


def _inherited_split(call: Call, producers: Mapping[FullTensor, Value]) -> tuple[int, int] | None:
    for position, tensor in call.tensor_operands():
        if tensor in producers and producers[tensor].layout.dimension is not None:
            return position, producers[tensor].layout.dimension or 0
    return None


@dataclass(frozen=True)
class _Way:
    """How an activation gets to some of its consumers: in a layout, or to a later stage.
    Each way starts with a copy where there are several, so that their gradients add up.
    """

    value: Value
    is_output: bool


@dataclass
class _Planner:
    stage: Stage
    producers: dict[FullTensor, Value]
    copies_first: bool
    numbering: Numbering
    consumers: Counter[Value] = field(default_factory=Counter)
    steps: list[Step] = field(default_factory=list)
    ways: dict[FullTensor, dict[_Way, FullTensor]] = field(default_factory=dict)
    present: set[Value] = field(default_factory=set)
    copies: dict[Value, Iterator[Value]] = field(default_factory=dict)

    def count_consumers(self, partitions: list[Partition], outputs: tuple[Value, ...]) -> None:
        """How many want each value, a later stage among them; only those that
        differentiate it count.
        """
        wanted = [
            _Way(value, is_output=False)
            for split_call in partitions
            if _differentiates(split_call)
            for value in split_call.operands
            if value is not None and not value.tensor.is_parameter
        ]
        wanted += [_Way(value, is_output=True) for value in outputs]
        wanted = [way for way in wanted if way.value.gradient is not None]
        for way in wanted:
            self.ways.setdefault(way.value.tensor, {})[way] = way.value.tensor
        if not self.copies_first:
            for tensor, ways in self.ways.items():
                if len(ways) > 1:
                    self.ways[tensor] = {way: self.numbering.full_like(tensor) for way in ways}
        for way in wanted:
            self.consumers[self._forked(self._on(way))] += 1

    def copy_parameters(self, partitions: list[Partition]) -> None:
        """Starts the stage with copies of the parameters that several calls use."""
        uses: defaultdict[FullTensor, list[Value]] = defaultdict(list)
        for split_call in partitions:
            for value in split_call.operands:
                if value is not None and value.tensor.is_parameter and value.gradient is not None:
                    uses[value.tensor].append(value)
        for tensor, values in uses.items():
            if len(values) < 2:
                continue
            if len({value.layout for value in values}) > 1:
                raise ImpossiblePlanError(f"ops that share '{tensor.name}' split it differently")
            source = Value.produced(tensor, values[0].layout)
            self.producers[tensor] = source
            self.consumers[source] = len(values)
            self._fork(source, None)

    def run(self, call: Call, split_call: Partition) -> None:
        """Appends the step for `call`, after what its operands need."""
        operands = tuple(
            None if value is None else self._operand(value, call, _differentiates(split_call))
            for value in split_call.operands
        )
        self.steps.append(Run(call, split_call, operands))

    def communicate(self, value: Value, layer: int | None) -> None:
        """Makes `value` present, by way of the complete sum if need be."""
        source = self.producers[value.tensor]
        if value in self.present or value == source:
            return
        self.present.add(value)
        if source.layout.is_partial and value.gradient == TERM_ON_EACH:
            source = Value.produced(value.tensor, WHOLE_ON_EACH)
            self.communicate(source, layer)
        self.steps.append(Communicate(source, value, layer))

    def consume(self, value: Value, layer: int | None, *, is_output: bool = False) -> Value:
        """Makes `value` present for one of those that were counted: as a copy if there
        are several.
        """
        value = self._start(_Way(value, is_output), layer)
        forked = self._forked(value)
        is_copied = self.consumers[forked] > 1
        if is_copied and forked == self.producers[value.tensor]:
            value = replace(value, tensor=self._copy(forked, layer).tensor)
            is_copied = False
        if not self._is_unused_data_gradient(value):
            self.communicate(value, layer)
        return self._copy(value, layer) if is_copied else value

    def _on(self, way: _Way) -> Value:
        """What `way` asks for, of its copy."""
        tensor = way.value.tensor
        return replace(way.value, tensor=self.ways.get(tensor, {}).get(way, tensor))

    def _start(self, way: _Way, layer: int | None) -> Value:
        """What `way` asks for, of its copy, which is there."""
        value = self._on(way)
        if value.tensor not in self.producers:
            source = self.producers[way.value.tensor]
            tensors = self.ways[way.value.tensor].values()
            copies = tuple(replace(source, tensor=tensor) for tensor in tensors)
            self.steps.append(Fork(source, copies, True, layer))
            self.producers |= {copy.tensor: copy for copy in copies}
        return value

    def _operand(self, value: Value, call: Call, differentiates: bool) -> Value:
        if value.tensor not in self.producers:
            return value  # a parameter of this call only
        if differentiates:
            return self.consume(value, call.layer)
        # The op reads the tensor where its gradient does not matter: it takes it as
        # the other consumers get it, before any copies.
        value = self._without_gradient_demand(value, call.layer)
        if not self._is_unused_data_gradient(value):
            self.communicate(value, call.layer)
        return value

    def _forked(self, value: Value) -> Value:
        """What is copied where several consumers want `value`."""
        return self.producers[value.tensor] if self._copies_first(value) else value

    def _copies_first(self, value: Value) -> bool:
        return self.copies_first or value.tensor.is_parameter

    def _copy(self, value: Value, layer: int | None) -> Value:
        """The next copy of `value`."""
        if value not in self.copies:
            self._fork(value, layer)
        return next(self.copies[value])

    def _fork(self, value: Value, layer: int | None) -> None:
        copies = tuple(
            replace(value, tensor=self.numbering.full_like(value.tensor))
            for _ in range(self.consumers[value])
        )
        self.steps.append(Fork(value, copies, self._copies_first(value), layer))
        self.producers |= {copy.tensor: copy for copy in copies}
        self.copies[value] = iter(copies)

    def _without_gradient_demand(self, value: Value, layer: int | None) -> Value:
        source = self.producers[value.tensor]
        if source.layout == value.layout:
            return source
        ways = self.ways.get(value.tensor, {})
        for way in ways:
            if way.value == value or (not self.copies_first and way.value.layout == value.layout):
                return self._start(way, layer)
        return replace(value, gradient=None)

    def _is_unused_data_gradient(self, value: Value) -> bool:
        """Loader data that ranks use whole need no sum of their gradient."""
        is_data = self.stage.index == 0 and value.tensor in self.stage.inputs
        return is_data and value.layout == self.producers[value.tensor].layout


def _differentiates(split_call: Partition) -> bool:
    return any(result.gradient for result in split_call.results)
