# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Executes a plan with numbers, all devices of all replicas, as nnScaler's runtime
would: what is sent and summed follows the plan, not what the plan is for.
"""

from __future__ import annotations

import math
import random
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from tests.operations import Context, Tensor, add, compute, concatenate, part, pick, plain
from tests.reading import class_name, executed, is_tensor
from tests.scalars import Variable, pull_back

TRANSPOSED = {
    "AllReduceAllReducePrim": "AllReducePrim",
    "AllReduceIdentityPrim": "IdentityPrim",
    "IdentityAllreducePrim": "AllReducePrim",
    "AllGatherSplitPrim": "ChunkPrim",
    "SplitAllGatherPrim": "AllGatherPrim",
    "AllToAllAllToAllPrim": "AllToAllBackPrim",
    "AllGatherReduceScatterPrim": "ReduceScatterPrim",
    "ReduceScatterAllGatherPrim": "AllGatherPrim",
}
FORWARD = {
    "AllReduceAllReducePrim": "AllReducePrim",
    "AllReduceIdentityPrim": "AllReducePrim",
    "IdentityAllreducePrim": "IdentityPrim",
    "AllGatherSplitPrim": "AllGatherPrim",
    "SplitAllGatherPrim": "ChunkPrim",
    "AllGatherReduceScatterPrim": "AllGatherPrim",
    "ReduceScatterAllGatherPrim": "ReduceScatterPrim",
}

GradientKey: TypeAlias = tuple[str, tuple[tuple[int, int], ...], int]
Message: TypeAlias = tuple[object, tuple[int, ...], Tensor | None, int]
Steps: TypeAlias = Generator[Message, dict[int, tuple[Tensor | None, int]], None]


class CannotExecuteError(Exception):
    """The plan selects by what nothing wrote, or its devices wait for each other."""


@dataclass
class Inputs:
    """The values of the parameters by name, other ones for each seed, and the samples of
    the whole batch. Of odd seeds they are small: large ones hide what a softmax is given.
    """

    seed: int = 0
    parameters: dict[str, Tensor] = field(default_factory=dict)
    samples: list[Tensor] = field(default_factory=list)

    def parameter(self, full: Any) -> Tensor:
        """The same values for the same name."""
        if full.name not in self.parameters:
            shape = tuple(full._shape)
            scale = 0.2 if self.seed % 2 else 1.0
            elements = _values(
                self.seed, full.name, shape, lambda draw: scale * draw.gauss(0.1, 0.6)
            )
            self.parameters[full.name] = Tensor(shape, elements)
        return self.parameters[full.name]


def _values(seed: int, name: str, shape: tuple[int, ...], value: Any) -> list[Any]:
    draw = random.Random(f"{seed} {name}" if seed else name)
    count = 1
    for size in shape:
        count *= size
    return [value(draw) for _ in range(count)]


def make_samples(loaded: list[Any], batch: int, bound: int, seed: int = 0) -> list[Tensor]:
    """A batch of what the loader gives; integers are below `bound`."""
    tensors: list[Tensor] = []
    for tensor in loaded:
        shape = (batch, *tensor._shape[1:])
        if class_name(tensor._dtype()) == "int64":
            elements = _values(seed, tensor.name, shape, lambda draw: draw.randrange(bound))
        else:
            elements = _values(seed, tensor.name, shape, lambda draw: draw.gauss(0, 1))
        tensors.append(Tensor(shape, elements))
    return tensors


@dataclass
class Device:
    """One device of one replica."""

    root: Any
    number: int
    replica: int
    inputs: Inputs
    by_index_map: bool
    values: dict[int, Tensor] = field(default_factory=dict)
    gradients: dict[GradientKey, Tensor] = field(default_factory=dict)
    trained: set[GradientKey] = field(default_factory=set)
    operands: dict[int, dict[int, list[Any]]] = field(default_factory=dict)
    loaded: int = 0

    @property
    def offset(self) -> int:
        """What this replica adds to device numbers."""
        return self.replica * len(self.root.devices)

    def run(self) -> Steps:
        """Runs all cells; yields what is communicated."""
        for cell in self.root.execplan._seq[self.number]:
            base = executed(cell)
            match class_name(base):
                case "IRDataOperation":
                    self._load(cell)
                case "IRWeightReducer":
                    yield from self._reduce(base)
                case kind:
                    known = {
                        own._id: self.values[bound._id]
                        for own, bound in zip(base._inputs, cell._inputs, strict=True)
                        if bound._id in self.values
                    }
                    if kind == "IRSegment":
                        yield from self._segment(base, cell, known)
                    else:
                        yield from self._adapter(base, known)
                    for own, bound in zip(base._outputs, cell._outputs, strict=True):
                        self.values[bound._id] = _read(known, own)

    def _load(self, cell: Any) -> None:
        count = len(self.root.execplan._outputs)
        for tensor, samples in zip(cell._outputs, self.inputs.samples, strict=True):
            replicas = self.root.runtime_ndevs // len(self.root.devices)
            index = self.replica * count + self.loaded % count
            self.values[tensor._id] = part(samples, 0, index, replicas * count)
        self.loaded += 1

    def _reduce(self, reducer: Any) -> Steps:
        replicas = self.root.runtime_ndevs // len(self.root.devices)
        size = len(self.root.devices)
        group = tuple(
            sorted(own + replica * size for own in reducer._device for replica in range(replicas))
        )
        for weight in reducer._inputs:
            key = _key(weight)
            if key not in self.gradients:
                raise CannotExecuteError(f"no gradient of {weight.name}")
            answer = yield ("reducer", reducer._id, weight.name), group, self.gradients[key], 0
            self.gradients[key] = _sum(answer)

    def _segment(self, segment: Any, cell: Any, known: dict[int, Tensor]) -> Steps:
        is_forward = any(class_name(node) == "IRDimops" for node in segment._nodes)
        run = cell._id if is_forward else cell._mirror._id
        saved = self.operands.setdefault(run, {})
        for tensor in segment._inputs:
            if tensor._is_grad and tensor._full_tensor._is_loss:
                known.setdefault(tensor._id, Tensor((1,), [1.0]))
        for node in segment._nodes:
            match class_name(node):
                case "IRAdapter":
                    yield from self._adapter(node, known)
                case "IRDimops":
                    self._forward(node, known, saved)
                case _:
                    self._backward(node, known, saved)

    def _forward(self, node: Any, known: dict[int, Tensor], saved: dict[int, list[Any]]) -> None:
        operands = [self._operand(value, known) for value in node._inputs]
        saved[node._id] = operands
        results = compute(node.name, _context(node), operands, node._kwargs)
        for tensor, result in zip(node._outputs, results, strict=True):
            known[tensor._id] = result

    def _operand(self, value: Any, known: dict[int, Tensor]) -> Any:
        if not is_tensor(value):
            return value
        if value._is_attr:
            if value._grad is not None:
                self.trained.add(_key(value))
            return pick(self.inputs.parameter(value._full_tensor), value._indmap._indices)
        return _read(known, value)

    def _backward(self, node: Any, known: dict[int, Tensor], saved: dict[int, list[Any]]) -> None:
        forward = node._mirror
        operands = list(saved[forward._id])
        sources: list[Any] = []
        wanted: list[Tensor] = []
        for place, value in enumerate(forward._inputs):
            if is_tensor(value) and value._grad is not None:
                own = operands[place]
                operands[place] = Tensor(own.shape, [Variable(x) for x in own.elements])
                sources.append(value)
                wanted.append(operands[place])
        results = compute(forward.name, _context(forward), operands, forward._kwargs)
        traced = [
            result
            for result, tensor in zip(results, forward._outputs, strict=True)
            if tensor._grad is not None
        ]
        for result, tensor in zip(traced, node._inputs, strict=True):
            pull_back(result.elements, _read(known, tensor).elements)
        for tensor, value, operand in zip(node._outputs, sources, wanted, strict=True):
            gradient = Tensor(operand.shape, [x.gradient for x in operand.elements])
            if value._is_attr:
                key = _key(value)
                old = self.gradients.get(key)
                self.gradients[key] = gradient if old is None else add(old, gradient)
            else:
                _accumulate(known, tensor, gradient)

    def _adapter(self, adapter: Any, known: dict[int, Tensor]) -> Steps:
        # As in the generated code, what runs is what the primitives name; only a transpose,
        # which holds its forward's, runs on the adapter's own tensors.
        local: dict[int, Tensor] = {}
        is_transposed = adapter._differentiable and not adapter.custom and not adapter._forward
        for primitive in adapter._prims:
            source, target = primitive._inputs, primitive._outputs
            if is_transposed:
                source, target = adapter._inputs, adapter._outputs
            value = _read(known | local, source[0]) if source else None
            name = class_name(primitive)
            name = (TRANSPOSED if is_transposed else FORWARD).get(name, name)
            result: list[Tensor] = []
            yield from self._primitive(name, primitive, adapter._id, value, result)
            for tensor in target:
                local[tensor._id] = result[0]
                if adapter._forward:
                    known[tensor._id] = result[0]
        inputs = {tensor._id for tensor in adapter._inputs}
        for tensor in adapter._outputs:
            is_added = not adapter._forward and tensor._id not in inputs and tensor._id in local
            if is_added:
                _accumulate(known, tensor, local[tensor._id])
            else:
                known[tensor._id] = _read(known | local, tensor)

    def _primitive(
        self, name: str, primitive: Any, adapter: int, value: Any, result: list[Tensor]
    ) -> Steps:
        keywords = primitive.kwargs
        me = self.number + self.offset
        if name == "IdentityPrim":
            result.append(value)
            return
        if name in ("MovePrim", "BroadcastPrim"):
            source = keywords["src"] + self.offset
            others = (keywords["dst"],) if name == "MovePrim" else keywords["ranks"]
            members = tuple(dict.fromkeys((source, *(rank + self.offset for rank in others))))
            answer = yield ("move", adapter), members, value, 0
            result += [tensor for tensor, _ in [answer[source]] if tensor is not None]
            return
        group = tuple(sorted(rank + self.offset for rank in keywords["ranks"]))
        position = group.index(me)
        if name == "ChunkPrim":
            if self.by_index_map and class_name(primitive) == name:
                position = _position(primitive._outputs[0], keywords["dim"])
            result.append(part(value, keywords["dim"], position, len(group)))
            return
        dimension = keywords.get("dim", 0)
        if self.by_index_map and class_name(primitive) == "AllGatherPrim":
            position = _position(primitive._inputs[0], dimension)
        answer = yield (name, adapter), group, value, position
        if name == "AllReducePrim":
            result.append(_sum(answer))
            return
        if name == "ReduceScatterPrim":
            result.append(part(_sum(answer), dimension, position, len(group)))
            return
        pieces = [tensor for tensor, _ in sorted(answer.values(), key=lambda item: item[1])]
        present = [piece for piece in pieces if piece is not None]
        if name == "AllGatherPrim":
            result.append(concatenate(present, dimension))
            return
        split, joined = keywords["odim"], keywords["idim"]
        if name == "AllToAllBackPrim":
            split, joined = joined, split
        mine = [part(piece, split, position, len(group)) for piece in present]
        result.append(concatenate(mine, joined))


def execute(root: Any, inputs: Inputs, *, by_index_map: bool = False) -> list[Device]:
    """Runs all devices to the end."""
    replicas = root.runtime_ndevs // len(root.devices)
    devices = {
        replica * len(root.devices) + number: Device(root, number, replica, inputs, by_index_map)
        for replica in range(replicas)
        for number in root.devices
    }
    steps = {number: device.run() for number, device in devices.items()}
    waiting: dict[int, Message] = {}

    def resume(number: int, answer: Any) -> None:
        try:
            waiting[number] = steps[number].send(answer)
        except StopIteration:
            waiting.pop(number, None)

    for number in steps:
        resume(number, None)
    while waiting:
        ready = [
            message
            for number, message in waiting.items()
            if number == min(message[1])
            and all(waiting.get(member, (None,))[:2] == message[:2] for member in message[1])
        ]
        if not ready:
            raise CannotExecuteError(f"devices {sorted(waiting)} wait for each other")
        for _, members, *_ in ready:
            answer = {member: waiting[member][2:] for member in members}
            for member in members:
                resume(member, answer)
    return list(devices.values())


def _read(values: dict[int, Tensor], tensor: Any) -> Tensor:
    if tensor._id in values:
        return values[tensor._id]
    shape = tuple(tensor._shape)
    if class_name(tensor._dtype()) != "float32":
        raise CannotExecuteError(f"nothing wrote {tensor.name} ({tensor._id})")
    # Wrong only where a result depends on it.
    return Tensor(shape, [math.nan] * math.prod(shape))


def _accumulate(values: dict[int, Tensor], tensor: Any, gradient: Tensor) -> None:
    old = values.get(tensor._id)
    values[tensor._id] = gradient if old is None else add(old, gradient)


def _sum(answer: dict[int, tuple[Tensor | None, int]]) -> Tensor:
    tensors = [tensor for tensor, _ in answer.values() if tensor is not None]
    result = tensors[0]
    for tensor in tensors[1:]:
        result = add(result, tensor)
    return plain(result)


def _key(parameter: Any) -> GradientKey:
    """Of the gradient of a part of a parameter: name, slice and number. A device may have
    several copies of a part, each with a gradient of its own.
    """
    slices = tuple((start, end) for start, end in parameter._indmap._indices)
    return parameter._full_tensor.name, slices, parameter._id


def _position(tensor: Any, dimension: int) -> int:
    start, end = tensor._indmap._indices[dimension]
    return int(start // (end - start))


def _context(node: Any) -> Context:
    start = node._outputs[0]._indmap._indices[-1][0]
    weights = [value for value in node._inputs[1:] if is_tensor(value)]
    weight_start = weights[0]._indmap._indices[0][0] if weights else 0
    return Context(node._outputs[0]._full_tensor.name, start, weight_start)
