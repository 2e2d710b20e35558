# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Does a plan compute what its single-device counterpart computes?"""

from __future__ import annotations

import math
from collections import defaultdict
from typing import Any

from tests.execution import CannotExecuteError, Device, Inputs, execute, make_samples
from tests.operations import Tensor, pick
from tests.reading import executed, read_plan


def differences(
    plan: bytes, reference: bytes, *, bound: int = 4, by_index_map: bool = False
) -> list[str]:
    """What differs: losses, gradients, parts of gradients that no device has; or why the
    plan cannot be executed. Integer data are below `bound`.
    """
    try:
        return compare(plan, reference, bound, by_index_map=by_index_map)
    except (CannotExecuteError, ValueError) as error:
        return [str(error)]


def compare(
    plan: bytes, reference: bytes, bound: int, *, by_index_map: bool, seed: int = 0
) -> list[str]:
    """What differs on the inputs of a seed; raises CannotExecuteError or ValueError if a plan
    cannot be executed.
    """
    parallel, single = read_plan(plan), read_plan(reference)
    loaded = executed(single.execplan._seq[0][0])._outputs
    samples = make_samples(loaded, loaded[0]._shape[0], bound, seed)
    inputs = Inputs(seed, samples=samples)
    (expected,) = execute(single, inputs)
    devices = execute(parallel, inputs, by_index_map=by_index_map)
    return [
        *_losses(parallel, devices, expected.values[single.execplan._outputs[0]._id]),
        *_gradients(devices, expected),
    ]


def _losses(root: Any, devices: list[Device], expected: Tensor) -> list[str]:
    losses: defaultdict[int, float] = defaultdict(float)
    for device in devices:
        # That of every micro-batch, or none.
        for tensor in root.execplan._outputs:
            if any(other._id in device.values for other in root.execplan._outputs):
                loss = device.values.get(tensor._id)
                losses[device.number] += loss.elements[0] if loss else math.nan
    if not losses:
        return ["no device has the loss"]
    return [
        f"loss on device {number}: {loss}, not {expected.elements[0]}"
        for number, loss in losses.items()
        if not math.isclose(loss, expected.elements[0], rel_tol=1e-7)
    ]


def _gradients(devices: list[Device], expected: Device) -> list[str]:
    found: list[str] = []
    whole = {name: tensor for (name, *_), tensor in expected.gradients.items()}
    covered: defaultdict[str, set[Any]] = defaultdict(set)
    for device in devices:
        for name, slices, _ in device.trained - device.gradients.keys():
            found.append(f"{name} {slices}: no gradient on device {device.number}")
        for (name, slices, _), gradient in device.gradients.items():
            covered[name].add(slices)
            if not _close(gradient, pick(whole[name], slices)):
                found.append(f"{name} {slices} on device {device.number}")
    for name, tensor in whole.items():
        sizes = [math.prod(end - start for start, end in slices) for slices in covered[name]]
        if sum(sizes) != len(tensor.elements):
            found.append(f"{name}: no device has all of it")
    return found


def _close(x: Tensor, y: Tensor) -> bool:
    scale = max(map(abs, y.elements))
    return x.shape == y.shape and all(
        math.isclose(a, b, rel_tol=1e-7, abs_tol=1e-13 + 1e-9 * scale)
        for a, b in zip(x.elements, y.elements, strict=True)
    )
