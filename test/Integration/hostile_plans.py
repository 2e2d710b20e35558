# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Edits plans so that each contradicts itself or is out of all proportion.

usage: hostile_plans.py WORK [NAME]

Each edit changes a few fields of a proved plan or of its reference. verify-plan
has to end with the stated exit code and message, in 10 seconds and 2 GiB. What is
not proved is executed with numbers too, which has to end as well.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from damaged_plans import find_fault, limit_runs, run
from plan_maker.pickle_writer import (
    Global,
    Instance,
    OrderedMapping,
    PickleValue,
    PickleWriter,
    SetOf,
)
from tests.reading import StandIn, class_name, executed, is_tensor, make_files, read_plan

PARALLEL = ("--batch", "8", "--dp", "2", "--tp", "2", "--micro-batches", "2")
ROWS = ("--tp-style", "batch", *PARALLEL)
MLP = ("mlp", "--layers", "2", "--hidden", "8", "--pp", "2")
INTERLEAVED = ("mlp", "--pp", "2", "--virtual-stages", "2", "--micro-batches", "2")
LLAMA = ("llama", "--layers", "1", "--hidden", "16", "--heads", "2")
MODELS = {
    "mlp": (*MLP, *PARALLEL),
    "llama": (*LLAMA, *PARALLEL),
    "rows": ("mlp", "--layers", "4", "--hidden", "8", "--pp", "2", *ROWS),
    "ranks": (*LLAMA, "--batch", "4", "--tp", "2"),
    "vocabulary": (*LLAMA, "--split-vocabulary", *PARALLEL),
    "interleaved": (*INTERLEAVED, "--layers", "4", "--hidden", "8", "--batch", "4"),
    "replicated": (*LLAMA, "--tp-style", "batch", "--batch", "4", "--tp", "2"),
    "queue": (*MLP, "--batch", "4", "--micro-batches", "2", "--schedule", "gpipe"),
    "tied": ("gpt", "--layers", "1", "--hidden", "16", "--heads", "2", "--batch", "4"),
    "gpt": ("gpt", "--layers", "1", "--hidden", "16", "--heads", "2", *PARALLEL),
}


@dataclass
class Edit:
    """A change of a plan's root object, and what comes out."""

    name: str
    change: Callable[[Any], object]
    codes: tuple[int, ...]
    message: str
    model: str = "mlp"
    files: str = "plan"
    seconds: int = 10  # of processor time, after which it is taken for endless


def cells(root: Any, kind: str) -> list[Any]:
    """The cells and ops of one class, in order of device."""
    found = []
    for sequence in root.execplan._seq.values():
        for cell in map(executed, sequence):
            found += [cell, *(cell._nodes if class_name(cell) == "IRSegment" else [])]
    return [cell for cell in found if class_name(cell) == kind]


def everything(root: Any) -> list[Any]:
    """Whatever takes and gives tensors."""
    found = [cell for sequence in root.execplan._seq.values() for cell in sequence]
    for kind in ("IRDataOperation", "IRSegment", "IRDimops", "IRBpOperation", "IRAdapter"):
        found += cells(root, kind)
    return found + [call for adapter in cells(root, "IRAdapter") for call in adapter._prims]


def linear(root: Any) -> Any:
    """The first linear op."""
    return cells(root, "IRDimops")[0]


def parameter(root: Any) -> Any:
    """The parameter of the first linear op."""
    return linear(root)._inputs[1]


def primitives(root: Any, name: str) -> list[Any]:
    """The primitives of a class, in order of device."""
    found = [primitive for adapter in cells(root, "IRAdapter") for primitive in adapter._prims]
    return [primitive for primitive in found if class_name(primitive) == name]


def primitive(root: Any, name: str) -> Any:
    """The first primitive of a class that is executed."""
    return primitives(root, name)[0]


def reshape(tensor: Any, shape: tuple[int, ...]) -> None:
    """Gives a tensor, and the whole of it, another shape."""
    tensor._shape = tensor._full_tensor._shape = shape
    tensor._indmap = make("nnscaler.ir.tensor", "IndexMap")
    tensor._indmap._indices = tuple((0, size) for size in shape)


def reshape_all(root: Any, old: int, new: int) -> None:
    """Replaces one size by another in all shapes and index maps."""
    seen: set[int] = set()
    waiting = [root]
    while waiting:
        value = waiting.pop()
        if isinstance(value, (dict, list, tuple)):
            waiting += value.values() if isinstance(value, dict) else value
        if not isinstance(value, StandIn) or id(value) in seen:
            continue
        seen.add(id(value))
        for name, field in vars(value).items():
            if name in ("_shape", "_indices"):
                setattr(value, name, _replaced(field, old, new))
        if class_name(value) == "MovePrim":
            value.kwargs = {**value.kwargs, "shape": _replaced(value.kwargs["shape"], old, new)}
        waiting += vars(value).values()


def _replaced(value: Any, old: int, new: int) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value)(_replaced(part, old, new) for part in value)
    return new if value == old else value


def make(module: str, name: str) -> Any:
    """A new object of a class."""
    return type(name, (StandIn,), {"__module__": module})()


def convert(value: Any) -> PickleValue:
    """What the writer takes, for what the reader gave."""
    if isinstance(value, type):
        return Global(value.__module__, value.__qualname__)
    if isinstance(value, StandIn):
        of = Global(type(value).__module__, type(value).__qualname__)
        return Instance(
            id(value), of, lambda: {name: convert(field) for name, field in vars(value).items()}
        )
    if type(value).__name__ == "OrderedDict":
        return OrderedMapping(tuple((convert(k), convert(v)) for k, v in value.items()))
    if isinstance(value, dict):
        return {convert(key): convert(element) for key, element in value.items()}
    if isinstance(value, list):
        return [convert(element) for element in value]
    if isinstance(value, tuple):
        return tuple(convert(element) for element in value)
    if isinstance(value, set):
        return SetOf([convert(element) for element in value])
    return value


def many_micro_batches(root: Any) -> None:
    """Executes everything again and again."""
    for device, sequence in root.execplan._seq.items():
        root.execplan._seq[device] = sequence * 100_000


def drop_forward(root: Any) -> None:
    """Device 0 executes the backward of segments that it does not execute."""
    cells = root.execplan._seq[0]
    is_forward = lambda cell: cell.name == "segment" and cell._id > cell._mirror._id  # noqa: E731
    cells[:] = [cell for cell in cells if not is_forward(cell)]


def cycle(root: Any) -> None:
    """A segment whose ops are the segment itself."""
    segment = cells(root, "IRSegment")[0]
    segment._nodes.append(segment)


def deep_constant(root: Any) -> None:
    """An argument that is a list in a list in a list."""
    constant: list[Any] = []
    for _ in range(100):
        constant = [constant]
    linear(root)._kwargs = {"bias": constant}


def collide(root: Any) -> None:
    """Two tensors of one number."""
    op = linear(root)
    op._outputs[0]._id = op._inputs[1]._id


def power(exponent: object) -> Callable[[Any], None]:
    """Other powers than squares."""

    def change(root: Any) -> None:
        for op in cells(root, "IRDimops"):
            if op.signature == "torch.pow":
                op._inputs = [op._inputs[0], exponent]

    return change


def _own_gradient(tensor: Any) -> None:
    tensor._grad = tensor


def _move(root: Any, **keywords: Any) -> None:
    move = primitive(root, "MovePrim")
    move.kwargs = {**move.kwargs, **keywords}


def _adapter_of_itself(root: Any) -> None:
    inner = (op for segment in cells(root, "IRSegment") for op in segment._nodes)
    adapter = next(op for op in inner if class_name(op) == "IRAdapter")
    adapter._inputs = [adapter]


def _same_numbers(root: Any) -> None:
    segment = cells(root, "IRSegment")[0]
    segment._nodes[0]._id = segment._nodes[-1]._id = 7


def _sum(root: Any) -> Any:
    return next(op for op in cells(root, "IRDimops") if op.signature == "torch.sum")


def _group(root: Any, device: int) -> None:
    chunk = primitive(root, "ChunkPrim")
    chunk.kwargs = {**chunk.kwargs, "ranks": [chunk.kwargs["ranks"][0], device]}


def _gather(root: Any, dimension: int) -> None:
    gather = primitive(root, "AllGatherPrim")
    gather.kwargs = {**gather.kwargs, "dim": dimension}


def _gather_rows(root: Any) -> None:
    for gather in primitives(root, "SplitAllGatherPrim"):
        gather.kwargs = {**gather.kwargs, "dim": 1}


def _tokens_as_start(root: Any) -> None:
    for op in cells(root, "IRDimops"):
        if op.signature.endswith("embedding"):
            op._kwargs = {**op._kwargs, "start": op._inputs[0]}


def _complex(root: Any) -> None:
    """Multiplies complex numbers, element by element."""
    rotary = next(op for op in cells(root, "IRDimops") if op.name == "apply_rotary_emb")
    product = next(op for op in cells(root, "IRDimops") if op.signature == "torch.mul")
    _set_types(root, [*product._inputs, *product._outputs], rotary._inputs[2]._dtype)


def _set_types(root: Any, tensors: list[Any], kind: Any) -> None:
    """Gives tensors another element type, wherever parts of them are."""
    wholes = {id(tensor._full_tensor) for tensor in filter(is_tensor, tensors)}
    for each in everything(root):
        for tensor in filter(is_tensor, [*each._inputs, *each._outputs]):
            if id(tensor._full_tensor) in wholes:
                tensor._dtype = tensor._full_tensor._dtype = kind


def _freeze(root: Any, device: int) -> None:
    """Takes the gradients of norms from one device, all that a plan has."""
    found = [executed(cell) for cell in root.execplan._seq[device]]
    segments = [cell for cell in found if class_name(cell) == "IRSegment"]
    frozen = set()
    for op in (op for segment in segments for op in segment._nodes):
        for tensor in op._inputs if class_name(op) == "IRDimops" else ():
            if is_tensor(tensor) and "norm" in tensor._full_tensor.name and tensor._grad:
                frozen.add(tensor._grad._id)
                tensor._grad, tensor._requires_grad = None, False
                tensor._full_tensor._requires_grad = False
    for cell in (*segments, *(op for segment in segments for op in segment._nodes)):
        if cell in segments or class_name(cell) == "IRBpOperation":
            cell._outputs = [each for each in cell._outputs if each._id not in frozen]


def _call(name: str, **keywords: Any) -> Callable[[Any], None]:
    """Changes keywords of the first op of this name."""

    def change(root: Any) -> None:
        op = next(cell for cell in cells(root, "IRDimops") if cell.name == name)
        op._kwargs = {**op._kwargs, **keywords}

    return change


def _attention_output(root: Any) -> None:
    op = next(cell for cell in cells(root, "IRDimops") if cell.name == "self_attention")
    shape = op._outputs[0]._shape
    reshape(op._outputs[0], (shape[0], shape[1], shape[2] * 2))


def _argument(root: Any, value: object) -> None:
    _sum(root)._inputs = [*_sum(root)._inputs, value]


def _retype(root: Any) -> None:
    integers = type("int64", (StandIn,), {"__module__": "torch"})
    tensors = []
    for op in cells(root, "IRDimops"):
        for tensor in filter(is_tensor, [*op._inputs, *op._outputs]):
            tensors += [tensor] if tensor._grad is None else [tensor, tensor._grad]
    _set_types(root, tensors, integers)


def _other_output(root: Any) -> None:
    output = make("nnscaler.ir.tensor", "IRSubTensor")
    vars(output).update(vars(root.execplan._outputs[0]), _id=12345)
    root.execplan._outputs = [output]


def _scale(root: Any) -> None:
    root.runtime_ndevs, root.enable_dp = 2, True


def _part(root: Any) -> None:
    tensor = parameter(root)
    tensor._full_tensor._shape = (16, 8)


EDITS = [
    Edit("tensor of 2^62", lambda r: reshape(parameter(r), (1 << 62, 8)), (3,), "2\\^63"),
    Edit("huge sizes", lambda r: reshape(parameter(r), (1 << 59, 8)), (1, 3), "error"),
    Edit("huge sizes everywhere", lambda r: reshape_all(r, 8, 1 << 20), (1, 2, 3), "error"),
    Edit("negative size", lambda r: reshape(parameter(r), (-8, 8)), (3,), "negative size -8"),
    Edit("no elements", lambda r: reshape(parameter(r), (0, 8)), (3,), "not within the size 0"),
    Edit("no elements anywhere", lambda r: reshape_all(r, 8, 0), (3,), "error"),
    # Takes 7 to 13 s, as the machine is more or less busy.
    Edit("100,000 micro-batches", many_micro_batches, (1, 3), "error", seconds=60),
    Edit("no devices", lambda r: setattr(r, "devices", ()), (3,), "no devices"),
    Edit("no programs", lambda r: r.execplan._seq.clear(), (3,), "device 0 is missing"),
    Edit("an empty program", lambda r: r.execplan._seq[0].clear(), (1,), "refuted|error"),
    Edit(
        "empty programs", lambda r: [s.clear() for s in r.execplan._seq.values()], (1, 3), "error"
    ),
    Edit("no forward", drop_forward, (1,), "is left out by device 0"),
    Edit("no outputs", lambda r: r.execplan._outputs.clear(), (1,), "gives output"),
    Edit("a segment in itself", cycle, (3,), "an op at position"),
    Edit("a deep constant", deep_constant, (3,), "nested more than 32"),
    Edit(
        "a mirror of itself",
        lambda r: setattr(linear(r), "_mirror", linear(r)),
        (3,),
        "is the mirror of something else",
    ),
    Edit(
        "a tensor's gradient is the tensor",
        lambda r: _own_gradient(parameter(r)),
        (3,),
        "not a gradient",
    ),
    Edit(
        "index map outside",
        lambda r: setattr(parameter(r)._indmap, "_indices", ((8, 16), (0, 8))),
        (3,),
        "is not within the size",
    ),
    Edit(
        "index map backwards",
        lambda r: setattr(parameter(r)._indmap, "_indices", ((4, 0), (0, 8))),
        (3,),
        "is not within the size",
    ),
    Edit("device out of range", lambda r: setattr(linear(r), "_device", (9,)), (3,), "device 9 is"),
    Edit("another device", lambda r: setattr(linear(r), "_device", (3,)), (3,), "other devices"),
    Edit("dp of 10^9", lambda r: setattr(r, "runtime_ndevs", 10**9), (0, 1, 3), ""),
    Edit("dp of 10^18", lambda r: setattr(r, "runtime_ndevs", 10**18), (3,), "runtime_ndevs"),
    Edit("dp against enable_dp", lambda r: setattr(r, "enable_dp", False), (3,), "enable_dp"),
    Edit("peer out of range", lambda r: _move(r, dst=2**63 - 1), (1, 3), "error"),
    Edit("negative peer", lambda r: _move(r, src=-1), (1, 3), "error"),
    Edit("shape of a transfer", lambda r: _move(r, shape=(1, 1)), (3,), "keyword 'shape'"),
    Edit("type of a transfer", lambda r: _move(r, dtype="torch.int64"), (3,), "keyword 'dtype'"),
    Edit("adapter of itself", _adapter_of_itself, (3,), "of something that is not a tensor"),
    Edit("two tensors of one number", collide, (3,), "is part of two different tensors"),
    Edit("two cells of one number", _same_numbers, (3,), "has another cell"),
    Edit("largest number", lambda r: setattr(parameter(r), "_id", 2**63 - 1), (3,), "is no number"),
    Edit("negative number", lambda r: setattr(parameter(r), "_id", -1), (3,), "is no number"),
    Edit("a large exponent", power(10**9), (3,), "'torch.pow': exponent", "llama"),
    Edit("the least exponent", power(-(2**63)), (3,), "'torch.pow': exponent", "llama"),
    Edit("a small exponent", power(1e-9), (3,), "'torch.pow': exponent", "llama"),
    Edit("a group of nobody", lambda r: _group(r, 49), (1,), "names device 49"),
    Edit("a gather along -3", lambda r: _gather(r, -3), (3,), "has no dimension -3"),
    Edit("a gather along 2^62", lambda r: _gather(r, 2**62), (3,), "has no dimension 46116"),
    Edit("rows along columns", _gather_rows, (1,), "has size 1, expected 2", "rows"),
    Edit("complex numbers", _complex, (3,), "not supported on complex numbers", "llama"),
    Edit("tokens as start", _tokens_as_start, (3,), "'start' is not an integer", "vocabulary"),
    Edit("a frozen copy", lambda r: _freeze(r, 1), (3,), "gradients; its forward op has", "ranks"),
    Edit(
        "a frozen model",
        lambda r: _freeze(r, 0),
        (1,),
        "the reference does not",
        "llama",
        "reference",
    ),
    Edit("heads that do not fit", _call("self_attention", h=5), (3,), "for 5 heads", "gpt"),
    Edit("a mask", _call("self_attention", mask=True), (3,), "'mask' other than False", "gpt"),
    Edit("in place", _call("dropout", inplace="True"), (3,), "'inplace' is not a truth", "gpt"),
    Edit("all dropped", _call("dropout", p=1.0), (3,), "with probability 1", "gpt"),
    Edit("an output of another shape", _attention_output, (3,), "the plan declares", "gpt"),
    Edit("positional dimension", lambda r: _argument(r, 1), (3,), "unknown positional argument"),
    Edit("no dimensions", lambda r: _sum(r)._kwargs.update(dim=()), (3,), "'dim'"),
    Edit("keepdim of 1", lambda r: _sum(r)._kwargs.update(keepdim=1), (3,), "'keepdim'"),
    Edit("a loss of integers", _retype, (3,), "error", files="reference"),
    Edit("dp of the reference", _scale, (3,), "is a plan for", files="reference"),
    Edit("part of the model", _part, (3,), "have another size", files="reference"),
    Edit(
        "an output that is not computed",
        _other_output,
        (3,),
        "computes 0 of its 1 outputs",
        files="reference",
    ),
]


def check_edits(edits: list[Edit], work: Path, names: list[str]) -> int:
    """Exit code 1 if any of the edits, or of those named, did not come out as stated."""
    work.mkdir(parents=True, exist_ok=True)
    chosen = [edit for edit in edits if not names or edit.name in names]
    models = {edit.model for edit in chosen}
    originals = {model: make_files(*MODELS[model]) for model in sorted(models)}
    failures = 0
    for edit in chosen:
        limits = limit_runs(edit.seconds, 2048)
        paths = {"reference": work / "reference.pkl", "plan": work / "plan.pkl"}
        for (kind, path), data in zip(paths.items(), originals[edit.model][::-1], strict=True):
            path.write_bytes(data)
            if edit.files in (kind, "both"):
                root = read_plan(data)
                edit.change(root)
                with path.open("wb") as stream:
                    PickleWriter(stream).write(convert(root))
        ended = run(paths["reference"], paths["plan"], work / "report", limits)
        fault = find_fault(ended, limits)
        if not fault and ended.code not in edit.codes:
            fault = f"exit code {ended.code}"
        if not fault and not re.search(edit.message, ended.errors):
            fault = "another message"
        if not fault and ended.code != 0:
            on_numbers = run(*paths.values(), work / "numbers", limits, "--run", "--quiet")
            fault = find_fault(on_numbers, limits)
        first = ended.errors.partition("\n")[0]
        print(f"{edit.name}: {ended.code}, {ended.seconds:.2f} s, {ended.mebibytes} MiB: {first}")
        if fault:
            failures += 1
            print(f"{fault}\n{ended.errors[:1500]}")
    print(f"{len(chosen) - failures} of {len(chosen)} edits as expected")
    return 1 if failures or not chosen else 0


if __name__ == "__main__":
    sys.exit(check_edits(EDITS, Path(sys.argv[1]), sys.argv[2:]))
