# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a plan without values: which tensors exist when, and who waits for whom."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tests.reading import class_name, executed, is_tensor

COLLECTIVES = {
    "AllGatherPrim",
    "AllGatherReduceScatterPrim",
    "AllReducePrim",
    "AllToAllAllToAllPrim",
    "BroadcastPrim",
    "ReduceScatterAllGatherPrim",
}
FORWARD_COLLECTIVES = {"AllGatherSplitPrim", "AllReduceIdentityPrim"}
BACKWARD_COLLECTIVES = {"IdentityAllreducePrim", "SplitAllGatherPrim"}


@dataclass
class DeviceState:
    """What one device has computed; micro-batches share the parameters."""

    tensors: set[tuple[int, int]] = field(default_factory=set)
    undefined: list[str] = field(default_factory=list)


def undefined_reads(root: Any) -> list[str]:
    """Reads of tensors that nothing wrote before. The gradient of the loss is
    given, and so are parameters.
    """
    found: list[str] = []
    for device, cells in root.execplan._seq.items():
        known: set[int] = set()
        for cell in cells:
            base = executed(cell)
            if class_name(base) == "IRWeightReducer":
                found += [
                    f"{device}: {weight.name} reduced without gradient"
                    for weight in base._inputs
                    if not any(number in known for number in _gradients_of(root, device, weight))
                ]
                continue
            binding = _binding(cell, base)
            inside = {number for number in known if number not in binding.values()}
            inside |= {own for own, bound in binding.items() if bound in known}
            _run(base, device, inside, found)
            for tensor in base._outputs:
                if tensor._id in inside:
                    known.add(binding.get(tensor._id, tensor._id))
                else:
                    found.append(f"{device}: output {tensor._id} of {class_name(base)}")
            known |= {number for number in inside if number in _parameter_gradients(base)}
    return found


def communication_order(root: Any) -> list[str]:
    """Runs sends, receives and collectives as blocking; returns what is left
    when no device can go on.
    """
    waiting = {device: _events(cells, device) for device, cells in root.execplan._seq.items()}
    progress = True
    while progress:
        progress = False
        for events in waiting.values():
            if not events:
                continue
            event = events[0]
            if all(waiting[member][:1] == [event] for member in event[1]):
                for member in event[1]:
                    waiting[member].pop(0)
                progress = True
    return [f"{device}: {events[0]}" for device, events in waiting.items() if events]


def _events(cells: list[Any], device: int) -> list[tuple[str, tuple[int, ...]]]:
    events: list[tuple[str, tuple[int, ...]]] = []
    for cell in map(executed, cells):
        nodes = cell._nodes if class_name(cell) == "IRSegment" else [cell]
        for adapter in nodes:
            if class_name(adapter) != "IRAdapter":
                continue
            for primitive in adapter._prims:
                name, keywords = class_name(primitive), primitive.kwargs
                one_way = FORWARD_COLLECTIVES if adapter._forward else BACKWARD_COLLECTIVES
                if name == "MovePrim":
                    members = (keywords["src"], keywords["dst"])
                elif name in COLLECTIVES | one_way:
                    members = tuple(keywords["ranks"])
                else:
                    continue
                assert device in members, f"{device} is not in {members}"
                events.append((f"{name} {adapter._id}", members))
    return events


def _binding(cell: Any, base: Any) -> dict[int, int]:
    """Tensor numbers of the cell -> numbers of this execution."""
    pairs = [*zip(base._inputs, cell._inputs), *zip(base._outputs, cell._outputs)]  # noqa: B905
    return {own._id: bound._id for own, bound in pairs if is_tensor(own)}


def _run(base: Any, device: int, inside: set[int], found: list[str]) -> None:
    kind = class_name(base)
    if kind == "IRDataOperation":
        inside |= {tensor._id for tensor in base._outputs}
        return
    if kind == "IRSegment":
        inside |= {tensor._id for tensor in base._inputs if tensor._full_tensor._is_loss}
        for node in base._nodes:
            _run(node, device, inside, found)
        return
    if kind == "IRAdapter" and (not base._differentiable or base.custom):
        for primitive in base._prims:
            _check(primitive._inputs, primitive, device, inside, found)
            inside |= {tensor._id for tensor in primitive._outputs}
        return
    _check(base._inputs, base, device, inside, found)
    if kind != "IRAdapter" or base._prims:
        inside |= {tensor._id for tensor in base._outputs}


def _check(inputs: list[Any], reader: Any, device: int, inside: set[int], found: list[str]) -> None:
    for tensor in inputs:
        if not is_tensor(tensor) or (tensor._is_attr and not tensor._is_grad):
            continue
        if tensor._id not in inside:
            found.append(f"{device}: {class_name(reader)} reads {tensor.name} {tensor._id}")


def _parameter_gradients(base: Any) -> set[int]:
    if class_name(base) != "IRSegment":
        return set()
    return {
        tensor._id
        for node in base._nodes
        for tensor in node._outputs
        if tensor._is_attr and tensor._is_grad
    }


def _gradients_of(root: Any, device: int, weight: Any) -> set[int]:
    """The numbers of the gradients of `weight` on `device`."""
    return {
        tensor._id
        for cell in map(executed, root.execplan._seq[device])
        if class_name(cell) == "IRSegment"
        for node in cell._nodes
        for tensor in node._outputs
        if tensor._is_grad and tensor._full_tensor is weight._full_tensor._grad
    }
