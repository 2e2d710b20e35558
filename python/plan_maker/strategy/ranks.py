# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The steps of a stage as each of its ranks executes them, forward and backward.

The backward segment is the forward one reversed, step by step. An op that is not
split has one number on all ranks, a split one has a number per rank.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import pairwise

from plan_maker.graph import (
    Adapter,
    Argument,
    BackwardOperation,
    ForwardOperation,
    FullTensor,
    Keyword,
    Primitive,
    Segment,
    SegmentNode,
    SubTensor,
)
from plan_maker.strategy.communication import Hop, communication
from plan_maker.strategy.layout import WHOLE_ON_EACH, Value, hold
from plan_maker.strategy.numbering import Numbering
from plan_maker.strategy.stage import Communicate, Fork, Run, StageSteps, Step
from plan_maker.trace import Share, keyword_values

MULTIREF = "nnscaler.runtime.function.multiref"


@dataclass(frozen=True)
class RankSegments:
    """The two segments of a stage on one device."""

    device: int
    forward: Segment
    backward: Segment


@dataclass(frozen=True)
class _Numbers:
    """The numbers of a step's forward and backward node."""

    forward: int
    backward: int


def lower_stage(
    steps: StageSteps, devices: tuple[int, ...], numbering: Numbering
) -> tuple[RankSegments, ...]:
    """The segments of every rank; rank r is `devices[r]`."""
    segments = _Numbers(numbering.cell(), numbering.cell())
    numbers = [_number(step, len(devices), numbering) for step in steps.steps]
    return tuple(
        _Rank(rank, devices, numbering, steps.scatters).lower(
            steps, [of_ranks[rank] for of_ranks in numbers], segments
        )
        for rank in range(len(devices))
    )


def _number(step: Step, ranks: int, numbering: Numbering) -> list[_Numbers]:
    if isinstance(step, Communicate) or (isinstance(step, Run) and step.partition.factor is None):
        return [_Numbers(numbering.cell(), numbering.cell())] * ranks
    if isinstance(step, Fork) and step.is_shared and step.source.layout == WHOLE_ON_EACH:
        forward = numbering.cell()
        return [_Numbers(forward, numbering.cell()) for _ in range(ranks)]
    return [_Numbers(numbering.cell(), numbering.cell()) for _ in range(ranks)]


@dataclass
class _Rank:
    rank: int
    devices: tuple[int, ...]
    numbering: Numbering
    scatters: bool
    # The planner's copy of a tensor -> this rank's.
    copies: dict[FullTensor, FullTensor] = field(default_factory=dict)
    # How many ops use a parameter directly, and how many of them were lowered.
    uses: Counter[FullTensor] = field(default_factory=Counter)
    terms: Counter[FullTensor] = field(default_factory=Counter)

    @property
    def device(self) -> int:
        return self.devices[self.rank]

    def lower(self, steps: StageSteps, numbers: list[_Numbers], segments: _Numbers) -> RankSegments:
        """Both segments of this rank."""
        forward: list[SegmentNode] = []
        backward: list[SegmentNode] = []
        self.uses = Counter(
            operand.tensor
            for step in steps.steps
            if isinstance(step, Run)
            for operand in step.operands
            if operand is not None and operand.tensor.is_parameter
        )
        for step, step_numbers in zip(steps.steps, numbers, strict=True):
            node, transposed = self._lower_step(step, step_numbers)
            forward.append(node)
            if transposed is not None:
                backward.append(transposed)
        inputs = tuple(self._hold(value) for value in steps.inputs)
        outputs = tuple(self._hold(value) for value in steps.outputs)
        input_gradients = tuple(
            tensor.gradient
            for tensor, value in zip(inputs, steps.inputs, strict=True)
            if tensor.gradient is not None and steps.has_input_gradient(value)
        )
        return RankSegments(
            self.device,
            Segment(segments.forward, inputs, outputs, tuple(forward), True, segments.backward),
            Segment(
                segments.backward,
                gradients(outputs),
                input_gradients,
                tuple(reversed(backward)),
                False,
                segments.forward,
            ),
        )

    def _lower_step(self, step: Step, numbers: _Numbers) -> tuple[SegmentNode, SegmentNode | None]:
        match step:
            case Communicate():
                return self._lower_communication(step, numbers)
            case Fork():
                return self._lower_fork(step, numbers)
            case Run():
                return self._lower_run(step, numbers)

    def _lower_run(self, step: Run, numbers: _Numbers) -> tuple[SegmentNode, SegmentNode | None]:
        call = step.call
        inputs: list[Argument] = []
        for constant, operand in zip(call.operands, step.operands, strict=True):
            if operand is None:
                assert not isinstance(constant, FullTensor)
                inputs.append(constant)
            else:
                inputs.append(self._term(self._hold(operand)))
        outputs = tuple(self._hold(value) for value in step.partition.results)
        factor = step.partition.factor
        share = Share(
            outputs[0].shape, factor.name if factor else None, self.rank, len(self.devices)
        )
        forward = ForwardOperation(
            numbers.forward,
            call.name,
            call.signature,
            tuple(inputs),
            outputs,
            keyword_values(call.keywords, share),
            call.annotations,
            call.comment,
            call.modules,
            self.device,
            numbers.backward if gradients(outputs) else None,
            call.layer,
        )
        return forward, self._transpose(forward)

    def _term(self, tensor: SubTensor) -> SubTensor:
        """If `tensor` is a parameter that ops share: with its own gradient term."""
        count = self.uses[tensor.full]
        if count < 2 or tensor.gradient is None:
            return tensor
        self.terms[tensor.full] += 1
        part = (self.terms[tensor.full] - 1, count)
        gradient = self.numbering.sub(tensor.gradient.full, tensor.gradient.slices, part)
        return self.numbering.sub(tensor.full, tensor.slices, tensor.part, gradient)

    def _lower_fork(self, step: Fork, numbers: _Numbers) -> tuple[SegmentNode, SegmentNode | None]:
        source = self._hold(step.source)
        if not step.is_shared:
            for copy in step.copies:
                self.copies[copy.tensor] = self.numbering.full_like(source.full)
        forward = ForwardOperation(
            numbers.forward,
            "multiref",
            MULTIREF,
            (source,),
            tuple(map(self._hold, step.copies)),
            (Keyword("times", len(step.copies)),),
            ("* -> " + ", ".join(["*"] * len(step.copies)),),
            None,
            (),
            self.device,
            numbers.backward,
            step.layer,
        )
        return forward, self._transpose(forward)

    def _lower_communication(
        self, step: Communicate, numbers: _Numbers
    ) -> tuple[SegmentNode, SegmentNode | None]:
        source, target = self._hold(step.source), self._hold(step.target)
        how = communication(step.source, step.target, scatters=self.scatters)
        primitives = self._primitives(how.forward, source, target)
        is_differentiable = source.gradient is not None and target.gradient is not None
        is_custom = not is_differentiable or how.backward is not None
        forward = Adapter(
            numbers.forward,
            (source,),
            (target,),
            primitives,
            True,
            is_differentiable,
            is_custom,
            self.device,
            numbers.backward if is_differentiable else None,
            step.layer,
        )
        if source.gradient is None or target.gradient is None:
            return forward, None
        if how.backward is not None:
            primitives = self._primitives(how.backward, target.gradient, source.gradient)
        backward = Adapter(
            numbers.backward,
            (target.gradient,),
            (source.gradient,),
            primitives,
            False,
            True,
            is_custom,
            self.device,
            numbers.forward,
            step.layer,
        )
        return forward, backward

    def _primitives(
        self, hops: tuple[Hop, ...], source: SubTensor, target: SubTensor
    ) -> tuple[Primitive, ...]:
        """The hops one after the other, from `source` to `target`."""
        between = self.numbering.sub(source.full, source.full.whole())
        stops = [source, *[between] * (len(hops) - 1), target]
        return tuple(
            Primitive(
                hop.name,
                (start,),
                (end,),
                (
                    *(Keyword(key, dimension) for key, dimension in hop.dimensions),
                    Keyword("ranks", self.devices),
                ),
            )
            for hop, (start, end) in zip(hops, pairwise(stops), strict=True)
        )

    def _transpose(self, forward: ForwardOperation) -> BackwardOperation | None:
        if forward.mirror is None:
            return None
        tensors = tuple(value for value in forward.inputs if isinstance(value, SubTensor))
        return BackwardOperation(
            forward.mirror,
            gradients(forward.outputs),
            gradients(tensors),
            self.device,
            forward.identifier,
            forward.layer,
        )

    def _hold(self, value: Value) -> SubTensor:
        value = replace(value, tensor=self.copies.get(value.tensor, value.tensor))
        return hold(value, self.rank, len(self.devices), self.numbering)


def gradients(tensors: tuple[SubTensor, ...]) -> tuple[SubTensor, ...]:
    """The gradients of those of `tensors` that have one, in order."""
    return tuple(tensor.gradient for tensor in tensors if tensor.gradient is not None)
