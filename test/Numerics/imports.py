# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares ops of plans that no model here has with NumPy.

usage: imports.py WORK

Writes a plan in whose first layer other ops come first, runs it and compares the loss.
An op whose result is another one has to be noticed. Plans with ops that mean
something else than is known are errors. Exit code 1 if something is not so.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from imported_ops import use
from models import is_close, run
from plan_maker.bugs.place import Place, nodes_at
from plan_maker.bugs.rewriting import next_tensor, replace_nodes
from plan_maker.emit import write_plan
from plan_maker.graph import (
    FLOAT32,
    INT64,
    Constant,
    ElementType,
    ForwardOperation,
    Plan,
    SubTensor,
)
from plan_maker.strategy.configuration import MlpSizes, Parallelism
from plan_maker.strategy.mlp import make_mlp
from plan_ops import Ops, Value

FLOAT16 = ElementType("float16")
SIZES = MlpSizes(layers=2, hidden=6, batch=4)


#: How many ops on several tensors are refused.
OF_SEVERAL = 68
#: Ops on the data, the type that the plan declares for what they give, and what is said.
REFUSED: list[tuple[str, dict[str, Constant], ElementType, str]] = [
    ("torch.Tensor.float", {}, FLOAT16, "makes float32 where the plan declares float16"),
    ("torch.Tensor.contiguous", {}, FLOAT16, "makes float32 where the plan declares float16"),
    (
        "nnscaler.runtime.function.to",
        {"dtype_or_device": INT64},
        INT64,
        "makes elements of 'i64' from 'f32'",
    ),
    *(
        (
            "nnscaler.runtime.function.to",
            {"dtype_or_device": target},
            FLOAT32,
            "keyword 'dtype_or_device' is neither a type nor a device",
        )
        for target in ("float16", "cuda:", "cuda:x", ":0", "", -1, 0.5, (1,))
    ),
    ("torch.nn.functional.gelu", {"approximate": "erf"}, FLOAT32, "keyword 'approximate' is neit"),
    ("torch.nn.functional.silu", {"inplace": True}, FLOAT32, "keyword 'inplace' other than False"),
    ("torch.add", {"alpha": "2"}, FLOAT32, "keyword 'alpha' is not a number"),
    ("torch.mul", {"alpha": 2}, FLOAT32, "unknown keyword 'alpha'"),
    ("torch.neg", {"another": 1}, FLOAT32, "unknown keyword 'another'"),
    (
        "nnscaler.runtime.function.embedding",
        {"padding_idx": None, "start": None, "stop": 4},
        FLOAT32,
        "keywords 'start' and 'stop' are not both numbers",
    ),
    ("torch.floor", {}, FLOAT32, "unknown op 'torch.floor'"),
    ("torch.sum", {"dim": (0, -2)}, FLOAT32, "keyword 'dim' names a dimension twice"),
    ("torch.mean", {"dim": ("0",)}, FLOAT32, "keyword 'dim' is not a list of integers"),
    ("torch.squeeze", {"dim": (0, -2)}, FLOAT32, "keyword 'dim' names a dimension twice"),
    ("torch.clone", {"dtype": FLOAT32}, FLOAT32, "unknown keyword 'dtype'"),
    ("torch.tril", {"diagonal": 2**40}, FLOAT32, "is not supported"),
    ("torch.gather", {"dim": 0}, FLOAT32, "has 1 tensor operands, expected 2"),
    ("torch.Tensor.repeat", {"repeats": (2,)}, FLOAT32, "has 1 repeats for rank 2"),
    ("torch.split", {"split_size_or_sections": 0}, FLOAT32, "takes parts of 0"),
    ("torch.transpose", {"dim0": 0}, FLOAT32, "needs keywords 'dim0' and 'dim1'"),
    ("torch.Tensor.view", {"size": (-1, -1)}, FLOAT32, "has more than one size of -1"),
    ("torch.permute", {"dims": (0, 0)}, FLOAT32, "does not name each dimension once"),
    ("torch.permute", {"dims": (0, 2)}, FLOAT32, "has no dimension 2"),
    ("torch.Tensor.expand", {"size": (3, 6)}, FLOAT32, "makes size 3 of size 4"),
    ("torch.Tensor.expand", {"size": (-1, 4, 6)}, FLOAT32, "makes size -1 of size 1"),
    ("torch.Tensor.repeat", {"repeats": (0, 1)}, FLOAT32, "repeats size 4 0 times"),
    ("torch.flatten", {"start_dim": 1, "end_dim": 0}, FLOAT32, "ends at dimension 0, before 1"),
    ("torch.squeeze", {"dim": "0"}, FLOAT32, "keyword 'dim' is not a list of integers"),
    ("torch.chunk", {"chunks": 3, "dim": 0}, FLOAT32, "makes 3 parts of a dimension of 4"),
    ("torch.chunk", {"chunks": 2, "dim": 0}, FLOAT32, "gives 2 tensors, the plan has 1"),
    ("torch.split", {"split_size_or_sections": 3, "dim": 0}, FLOAT32, "gives 2 tensors, the plan"),
    ("torch.split", {"split_size_or_sections": (1, 1), "dim": 0}, FLOAT32, "divides 2 of a"),
    ("torch.split", {"split_size_or_sections": (5,), "dim": 0}, FLOAT32, "takes a part of 5 of"),
    *(
        ("nnscaler.runtime.function.fullslice", {"slicers": slicers}, FLOAT32, said)
        for slicers, said in (
            ((slice(None, None, 2),), "a step of 2 is not supported"),
            ((slice(3, 2),), "takes nothing of a dimension of 4"),
            ((slice(0.5, None),), "the bounds of a slice are not integers"),
            ((4,), "index 4 is outside of a dimension of 4"),
            ((0, 0, 0), "has more indices than dimensions"),
            (((1, 2),), "an index that is neither an integer, a slice nor None"),
            (1, "needs a tensor and indices"),
        )
    ),
    ("torch.nn.functional.pad", {"pad": (1, 0, 0)}, FLOAT32, "has 3 lengths for rank 2"),
    ("torch.nn.functional.pad", {"pad": (0, -1)}, FLOAT32, "lengths 0 and -1 are not supported"),
    ("torch.nn.functional.pad", {"pad": (0, 1), "value": 1.0}, FLOAT32, "keyword 'value' other"),
    ("torch.nn.functional.pad", {"pad": (0, 1), "mode": "reflect"}, FLOAT32, "'mode' other than"),
    ("torch.clamp", {"min": None}, FLOAT32, "needs keyword 'min' or 'max'"),
    ("torch.clamp", {"min": "0"}, FLOAT32, "keyword 'min' is not a number"),
    ("torch.clamp_min", {}, FLOAT32, "keyword 'min' is not a number"),
    ("torch.clamp_min", {"min": 0, "max": 1}, FLOAT32, "unknown keyword 'max'"),
    ("torch.cumsum", {}, FLOAT32, "needs keyword 'dim'"),
    ("torch.norm", {"p": 3}, FLOAT32, "keyword 'p' is neither 'fro' nor 1 nor 2"),
    ("torch.norm", {"p": "nuc"}, FLOAT32, "keyword 'p' is not a number"),
    ("torch.topk", {"k": 2, "sorted": False}, FLOAT32, "keyword 'sorted' other than True"),
    ("torch.topk", {"k": 0}, FLOAT32, "keyword 'k' is not a positive integer"),
    ("torch.topk", {"k": 2, "dim": 2}, FLOAT32, "has no dimension 2"),
    ("torch.max", {"dim": (0, 1)}, FLOAT32, "keyword 'dim' is not an integer"),
    ("torch.softmax", {"dim": 0, "dtype": FLOAT16}, FLOAT32, "keyword 'dtype' is not float32, wh"),
    ("torch.softmax", {"dim": 0, "dtype": 1}, FLOAT32, "keyword 'dtype' is not float32, which"),
    ("torch.index_select", {"dim": 0}, FLOAT32, "has 1 tensor operands, expected 2"),
    ("nnscaler.runtime.function.einsum", {"equation": "ab"}, FLOAT32, "keyword 'equation' does"),
    ("nnscaler.runtime.function.einsum", {"equation": "...->"}, FLOAT32, "keyword 'equation' does"),
    ("nnscaler.runtime.function.einsum", {"equation": "a.->a."}, FLOAT32, 'equation "a.->a."'),
    ("torch.Tensor.to", {"dtype": "cuda:"}, FLOAT32, "keyword 'dtype' is neither a type nor"),
    ("torch.nn.functional.cross_entropy", {}, FLOAT32, "has 1 tensor operands, expected 2"),
    ("torch.nn.functional.cross_entropy", {"label_smoothing": 1.1}, FLOAT32, "'label_smoothing'"),
    ("torch.nn.functional.nll_loss", {}, FLOAT32, "has 1 tensor operands, expected 2"),
    (
        "torch.nn.functional.scaled_dot_product_attention",
        {"dropout_p": 0.1},
        FLOAT32,
        "keyword 'dropout_p' other than 0",
    ),
    (
        "nnscaler.runtime.function.layer_norm",
        {"normalized_shape": (4,), "eps": 0.1},
        FLOAT32,
        "keyword 'normalized_shape' is not the shape",
    ),
    (
        "model.self_attention",
        {"h": 2, "scale": 0.5, "dropout_p": 0.0, "mask": True},
        FLOAT32,
        "keyword 'mask' other than False",
    ),
]


def find_first(plan: Plan) -> tuple[ForwardOperation, SubTensor]:
    """The op that reads the data, and the data."""
    for located in nodes_at(plan, Place(), lambda node: isinstance(node, ForwardOperation)):
        node = located.node
        assert isinstance(node, ForwardOperation)
        for value in node.inputs:
            if isinstance(value, SubTensor) and value.full.name == "data":
                return node, value
    raise AssertionError("nothing reads the data")


def write(plan: Plan, nodes: list[ForwardOperation], path: Path) -> None:
    """Writes the plan with other ops between the data and what read them."""
    first, data = find_first(plan)
    # The backward op of the layer gives a gradient of what it reads.
    output = nodes[-1].outputs[0]
    full = replace(output.full, gradient=data.full.gradient)
    last = replace(output, full=full, gradient=data.gradient)
    inputs = tuple(last if value is data else value for value in first.inputs)
    changed = *nodes[:-1], replace(nodes[-1], outputs=(last,)), replace(first, inputs=inputs)
    write_plan(replace_nodes(plan, {(0, first.identifier): changed}), path)


def refuse(plan: Plan, work: Path, ops: Ops, said: str) -> str:
    """What is said of the plan with these ops, unless it is what should be said."""
    path = work / "refused.pkl"
    write(plan, ops.nodes, path)
    command = ["verify-plan", "--reference", str(path), str(path)]
    told = subprocess.run(command, check=False, capture_output=True, text=True)
    if told.returncode == 3 and said in told.stderr:
        return ""
    return f"{ops.nodes[-1].signature}: exit code {told.returncode}: {told.stderr}"


def use_wrongly(ops: Ops, x: Value) -> Iterator[tuple[Callable[[], Value], str]]:
    """Ops on several tensors, and what is said of them; `x` is (4, 6)."""
    network = "torch.nn.functional."
    same: Callable[..., Any] = lambda a, *_: a  # noqa: E731
    mask = ops.add("model.create_mask", lambda *_: np.zeros((4, 4)), x, x)
    half = ops.add("torch.Tensor.to", same, x, dtype=FLOAT32)
    row = ops.add("torch.mean", lambda a: a.mean(axis=0), x, dim=0)
    attention = network + "scaled_dot_product_attention"
    norm = "nnscaler.runtime.function.layer_norm"
    bare: dict[str, Constant] = {"weight": None, "normalized_shape": (4,), "eps": 0.5}
    # Minus infinity has a softmax, and that has no logarithm.
    for function, inputs in (("log_softmax", 1), ("cross_entropy", 2), ("nll_loss", 2)):
        operands = [mask, mask][:inputs]
        yield (
            lambda f=function, o=operands: ops.add(network + f, same, *o, dim=1),
            "is not supported on minus infinity",
        )
    yield lambda: ops.add(norm, same, mask, **bare), "is not supported on elements of"
    yield lambda: ops.add(norm, same, x, row, **bare), "has 2 tensor operands, expected 1"
    yield lambda: ops.add(network + "cross_entropy", same, x, row), "operand 1 is"
    yield lambda: ops.add(network + "cross_entropy", same, row, row), "is only supported on a mat"
    targets = ops.add("torch.mean", lambda a: a.mean(axis=1), x, dim=1)
    yield lambda: ops.add(network + "nll_loss", same, x, targets), "needs targets that are integ"
    yield lambda: ops.add(attention, same, x, x, row), "needs matrices of one rank"
    yield (
        lambda: ops.add(attention, same, x, x, x, mask, is_causal=True),
        "has a mask and is causal, too",
    )
    yield lambda: ops.add("torch.bmm", same, x, half), "needs operands of rank 3"
    yield lambda: ops.add("torch.baddbmm", same, x, x, half), "needs operands of rank 3"
    yield lambda: ops.add("torch.tril", same, row), "needs a matrix, got"
    yield lambda: ops.add("torch.pow", same, x, "2"), "exponent is not a number"
    yield lambda: ops.add("torch.pow", lambda *_: x.array, -2, x), "needs a base that is positive"
    yield lambda: ops.add("torch.pow", lambda *_: x.array, "2", x), "needs a number as its other"
    yield from choose_wrongly(ops, x)
    yield from convolve_wrongly(ops, x)


def choose_wrongly(ops: Ops, x: Value) -> Iterator[tuple[Callable[[], Value], str]]:
    """Conditions, choices and tensors that are created; `x` is (4, 6)."""
    same: Callable[..., Any] = lambda a, *_: a  # noqa: E731
    c = ops.add("torch.gt", lambda a, b: a > b, x, 0)
    made: Callable[..., Any] = lambda: np.zeros((4,))  # noqa: E731
    arange, full = "nnscaler.runtime.function.arange", "nnscaler.runtime.function.full"
    kept: dict[str, Constant] = {"dtype": FLOAT32}
    yield lambda: ops.add("torch.gt", same, x), "has 1 operands, expected 2"
    yield lambda: ops.add("torch.gt", lambda *_: x.array, x, 0), "makes bool where"
    yield lambda: ops.add("torch.eq", lambda *_: x.array > 0, c, c), "is not defined on booleans"
    yield lambda: ops.add("torch.lt", lambda *_: x.array > 0, x, c), "is not defined on booleans"
    yield lambda: ops.add("torch.logical_not", same, x), "is only supported on truth values"
    yield lambda: ops.add("torch.bitwise_or", same, x, c), "is only supported on truth values"
    yield lambda: ops.add("torch.gather", same, x, x, dim=1), "indices are not integers"
    yield lambda: ops.add("torch.gather", same, x, c), "needs keyword 'dim'"
    yield lambda: ops.add("torch.index_select", same, x, 0, c), "and a vector of indices"
    two = lambda *_: [x.array, x.array]  # noqa: E731
    yield lambda: ops.add_all("torch.topk", two, x, k=7)[0], "takes 7 of a dimension of 6"
    distance = "torch.nn.functional.l1_loss"
    yield lambda: ops.add(distance, same, x, x, reduction="batchmean"), "keyword 'reduction' is no"
    row = ops.add("torch.mean", lambda a: a.mean(axis=0), x, dim=0)
    yield lambda: ops.add(distance, same, x, row), "operand 1 is"
    cut = ops.add("torch.Tensor.view", lambda a: a.reshape(4, 3, 2), x, size=(4, 3, 2))
    pairs = ops.add("torch.view_as_complex", lambda a: a[..., 0] + 1j * a[..., 1], cut)
    yield lambda: ops.add("torch.view_as_complex", same, x), "does not give 'tensor<4x6xf32>' for"
    yield lambda: ops.add("torch.view_as_real", same, pairs), "does not give 'tensor<4x3x2xf32>' f"
    yield lambda: ops.add("torch.exp", same, pairs), "is not supported on complex numbers"
    yield lambda: ops.add("torch.outer", same, x, x), "needs operands of rank 1"
    yield lambda: ops.add("torch.Tensor.where", same, x, c, x), "unknown op 'torch.Tensor.where'"
    yield lambda: ops.add("torch.where", same, x, x, x), "selects by elements of 'f32'"
    yield lambda: ops.add("torch.where", lambda *_: x.array, c), "needs a condition and two values"
    yield lambda: ops.add("torch.where", lambda *_: x.array, c, x, True), "is none of"
    yield lambda: ops.add("torch.where", lambda *_: x.array, c, x, np.inf), "is none of"
    yield lambda: ops.add("torch.masked_fill", same, x, c, value=None), "is none of"
    yield lambda: ops.add(full, made, size=(4,), fill_value=np.nan, **kept), "is none of"
    yield (
        lambda: ops.add(
            full, lambda: np.zeros(4, np.int64), size=(4,), fill_value=-np.inf, dtype=INT64
        ),
        "of int64 may be minus infinity",
    )
    yield lambda: ops.add(full, made, size=(5,), fill_value=0, **kept), "does not make"
    yield lambda: ops.add(full, made, size=(4,), fill_value=0, dtype=INT64), "makes int64 where"
    yield (
        lambda: ops.add(arange, made, start=0, end=5, step=1, **kept),
        "makes 5 numbers where the plan declares 4",
    )
    yield lambda: ops.add(arange, made, start=0, end=4, step=0, **kept), "has no steps"
    yield (
        lambda: ops.add(arange, made, start=0, end=2, step=0.5, **kept),
        "keyword 'step' that is no integer is not supported",
    )


def convolve_wrongly(ops: Ops, x: Value) -> Iterator[tuple[Callable[[], Value], str]]:
    """Convolutions that are none, or not supported; `x` is (4, 6)."""

    def view(*size: int) -> Value:
        return ops.add("torch.Tensor.view", lambda a: a.reshape(size), x, size=size)

    def convolve(function: str, *operands: Value, **keywords: Constant) -> Value:
        return ops.add(f"torch.nn.functional.{function}", lambda a, *_: a, *operands, **keywords)

    row, kernel, image = view(1, 4, 6), view(2, 4, 3), view(1, 1, 4, 6)
    names = ops.add("torch.ge", lambda a, b: a >= b, x, 0)
    wide = ops.add("torch.Tensor.repeat", lambda a: np.tile(a, (1, 24)), x, repeats=(1, 24))
    for operands, keywords, said in (
        ((row,), {}, "has 1 tensor operands, expected 3"),
        ((row, x), {}, "convolves 'tensor<1x4x6xf32>' with 'tensor<4x6xf32>'"),
        ((image, kernel), {}, "convolves 'tensor<1x1x4x6xf32>' with"),
        ((row, view(4, 2, 3)), {}, "in 1 groups"),
        ((row, view(2, 2, 6)), {"groups": 0}, "keyword 'groups' is not a positive integer"),
        ((row, row), {"groups": 2}, "in 2 groups"),
        ((row, kernel, x), {}, "operand 2 is"),
        ((row, kernel), {"stride": 0}, "keyword 'stride' of 0 is not supported"),
        ((row, kernel), {"stride": (1, 1)}, "keyword 'stride' has 2 numbers for 1 dimensions"),
        ((row, kernel), {"stride": None}, "keyword 'stride' is not a list of integers"),
        ((row, kernel), {"padding": -1}, "keyword 'padding' of -1 is not supported"),
        ((row, kernel), {"padding": 2**62}, "keyword 'padding' of 4611686018427387904 is not"),
        ((row, kernel), {"padding": "full"}, "keyword 'padding' is neither numbers nor"),
        ((row, kernel), {"padding": "same", "stride": 2}, "has padding 'same' and a stride of 2"),
        ((row, kernel), {"dilation": 3}, "has a kernel that reaches over 7 elements of 6"),
        ((row, kernel), {"bias": 1}, "keyword 'bias' with a value is not supported"),
        ((row, kernel), {"padding_mode": "zeros"}, "unknown keyword 'padding_mode'"),
        ((row, kernel), {}, "makes 'tensor<1x2x4xf32>' where the plan declares"),
        ((wide, view(1, 24, 1)), {}, "in 1 groups"),
    ):
        yield partial(convolve, "conv1d", *operands, **keywords), said
    long = ops.add("torch.Tensor.view", lambda a: a.reshape(1, 576), wide, size=(1, 576))
    whole = ops.add("torch.Tensor.view", lambda a: a.reshape(1, 1, 576), wide, size=(1, 1, 576))
    yield lambda: convolve("conv1d", long, whole), "has a kernel of more than 128 positions"
    yield lambda: convolve("conv2d", image, names), "with 'tensor<4x6xi1>'"
    mask = ops.add("model.create_mask", lambda *_: np.zeros((4, 4)), x, x)
    mask = ops.add("torch.Tensor.view", lambda a: a.reshape(1, 4, 4), mask, size=(1, 4, 4))
    yield lambda: convolve("conv1d", mask, kernel), "is not defined on minus infinity"
    number = ops.add("torch.Tensor.view", lambda a: a.reshape(1, 4, 6), names, size=(1, 4, 6))
    yield lambda: convolve("conv1d", number, kernel), "is not defined on booleans"


def refuse_all(plan: Plan, work: Path) -> str:
    """What is not refused as it should be, or nothing."""
    first, data = find_first(plan)
    for signature, keywords, kind, said in REFUSED:
        ops = Ops(next_tensor(plan) + 1000, first)
        inputs = (
            Value(data, np.zeros(data.shape)),
            *([1] if signature in ("torch.add", "torch.mul") else []),
        )
        ops.add(signature, lambda *given: given[0], *inputs, **keywords)
        output = ops.tensor(data.shape, kind)
        ops.nodes[-1] = replace(ops.nodes[-1], outputs=(output,))
        if wrong := refuse(plan, work, ops, said):
            return wrong
    for number in range(OF_SEVERAL):
        ops = Ops(next_tensor(plan) + 1000, first)
        add, said = list(use_wrongly(ops, Value(data, np.zeros(data.shape))))[number]
        add()
        if wrong := refuse(plan, work, ops, said):
            return wrong
    return ""


def main() -> int:
    """Prints what differs, or what was compared, and returns the exit code."""
    np.seterr(all="ignore")  # Of what is changed.
    work = Path(sys.argv[1])
    plan = make_mlp(SIZES, Parallelism())
    first, data = find_first(plan)
    start = next_tensor(plan) + 1000
    ops = Ops(start, first)
    use(ops, Value(data, np.random.default_rng(1).uniform(-1, 1, data.shape)))
    write(plan, ops.nodes, work / "imports.pkl")
    given, results = run(work, "imports")

    def compute(changed: int) -> float:
        y = use(Ops(start, first, changed), Value(data, given["data"])).array
        return float((y @ given["layers.0.weight"].T @ given["layers.1.weight"].T).sum())

    [loss] = results["sum_1"]
    if not is_close(loss, compute(-1)):
        print(f"the loss is {loss}, not {compute(-1)}")
        return 1
    for number, node in enumerate(ops.nodes):
        if is_close(loss, compute(number)):
            print(f"{node.signature}, op {number}, may be anything")
            return 1
    if wrong := refuse_all(plan, work):
        print(wrong)
        return 1
    kinds = {node.signature for node in ops.nodes}
    print(
        f"{len(ops.nodes)} ops of {len(kinds)} kinds agree, {len(REFUSED) + OF_SEVERAL} are refused"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
