# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares ops of plans that no model here has with NumPy.

usage: imports.py WORK

Writes a plan in whose first layer other ops come first, runs it and compares the loss.
An op whose result is three times what it is has to be noticed. Plans with ops that mean
something else than is known are errors. Exit code 1 if something is not so.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from models import erf, is_close, run, sigmoid, softmax
from plan_maker.bugs.place import Place, nodes_at
from plan_maker.bugs.rewriting import next_tensor, replace_nodes
from plan_maker.emit import write_plan
from plan_maker.graph import (
    FLOAT32,
    INT64,
    Constant,
    ElementType,
    ForwardOperation,
    FullTensor,
    Keyword,
    Plan,
    SubTensor,
)
from plan_maker.strategy.configuration import MlpSizes, Parallelism
from plan_maker.strategy.mlp import make_mlp

Array = Any  # What the operators of NumPy take and return.
FLOAT16 = ElementType("float16")
SIZES = MlpSizes(layers=2, hidden=6, batch=4)
#: Ops that also give integers, which nothing reads.
WITH_INDICES = {"model.gate_fw"}


@dataclass
class Value:
    """A tensor of the plan and its elements."""

    tensor: SubTensor
    array: Array


@dataclass
class Ops:
    """The ops so far; the one whose number is `changed` gives three times of what it should."""

    number: int
    template: ForwardOperation
    changed: int = -1
    nodes: list[ForwardOperation] = field(default_factory=list)

    def tensor(self, shape: tuple[int, ...], kind: ElementType) -> SubTensor:
        """A tensor that is new."""
        self.number += 2
        full = FullTensor(self.number, f"t{self.number}", shape, kind)
        return SubTensor(self.number + 1, full, full.whole())

    def add(
        self,
        signature: str,
        meaning: Callable[..., Array],
        *inputs: Value | Constant,
        **keywords: Constant,
    ) -> Value:
        """The op on tensors and constants."""
        given = [value.array if isinstance(value, Value) else value for value in inputs]
        array = np.asarray(meaning(*given)) * (3 if len(self.nodes) == self.changed else 1)
        shape = array.shape or (1,)
        output = self.tensor(shape, FLOAT32)
        self.number += 1
        node = replace(
            self.template,
            identifier=self.number,
            name=signature.split(".")[-1],
            signature=signature,
            inputs=tuple(x.tensor if isinstance(x, Value) else x for x in inputs),
            outputs=(output, self.tensor(shape, INT64)) if signature in WITH_INDICES else (output,),
            keywords=tuple(Keyword(name, value) for name, value in keywords.items()),
            mirror=None,
        )
        self.nodes.append(node)
        return Value(output, array.reshape(shape))


def linear(x: Array, weight: Array, bias: Array) -> Array:
    """With a bias, which plans have as a tensor."""
    return x @ weight.T + bias


def normal(x: Array) -> Array:
    """The element times the normal distribution function."""
    return x * (1 + erf(x / np.sqrt(2))) / 2


def gate(x: Array, weight: Array, bias: Array) -> Array:
    """A bias decides who is chosen, not what it weighs: two of the better pair."""
    scores = sigmoid(x @ weight.T)
    chosen = np.zeros((len(x), 2))
    for row, weights in zip(scores, chosen, strict=True):
        pairs = [sorted(pair, key=lambda i, row=row: -(row + bias)[i]) for pair in ([0, 1], [2, 3])]
        best = max(pairs, key=lambda pair, row=row: (row + bias)[pair].sum())
        weights[:] = 1.5 * row[best] / row[best].sum()
    return chosen


def use(ops: Ops, x: Value) -> Value:
    """Each op in the forms in which it may be, from `x` to a tensor of its shape."""
    add, none = ops.add, None
    y = add("torch.sub", lambda a, b: a - b, x, 2.5)
    y = add("torch.sub", lambda a, b: a - b, 0.5, y)
    y = add("torch.sub", lambda a, b: a - b, y, x, alpha=1)
    y = add("torch.add", lambda a, b: a + b, 7, y)
    y = add("torch.mul", lambda a, b: a * b, y, 0.1)
    y = add("torch.mul", lambda a, b: a * b, 16777217, y)
    y = add("torch.div", lambda a, b: a / b, y, 16777216.0)
    y = add("torch.div", lambda a, b: a / b, 2, y, rounding_mode=none)
    y = add("torch.neg", lambda a: -a, y)
    y = add("torch.exp", np.exp, y)
    y = add("torch.rsqrt", lambda a: 1 / np.sqrt(a), y)
    y = add("torch.pow", lambda a, b: a**b, y, 1.5)
    y = add("torch.pow", lambda a, b: a**b, y, 2)
    rows = add("torch.sum", lambda a: a.sum(axis=1, keepdims=True), y, dim=1, keepdim=True)
    columns = add("torch.mean", lambda a: a.mean(axis=0), y, dim=(0,), keepdim=False)
    all_of_it = add("torch.mean", lambda a: a.mean(), y)
    bias = add("torch.mean", lambda a: a.mean(axis=-1), y, dim=-1)
    y = add("torch.div", lambda a, b: a / b, y, rows)
    y = add("torch.mul", lambda a, b: a * b, y, columns)
    y = add("torch.nn.functional.softmax", lambda a: softmax(a.T).T, y, dim=0)
    y = add("torch.add", lambda a, b: a + b, y, all_of_it)
    squares = add("torch.nn.functional.linear", linear, y, x, bias, bias=none)
    y = add("torch.matmul", lambda a, b: a @ b, squares, x)
    y = add("torch.div", lambda a, b: a / b, y, 40)
    bias = add("torch.mean", lambda a: a.mean(axis=-1), y, dim=(-1,))
    bias = add("torch.mul", lambda a, b: a * b, bias, 2)
    limits: dict[str, Constant] = {"n_groups": 2, "topk_groups": 1, "topk": 2, "route_scale": 1.5}
    weights = add("model.gate_fw", gate, x, y, bias, score_func="sigmoid", **limits)
    halves = add("torch.Tensor.view", lambda a: a.reshape(2, 12), x, size=(2, 12))
    mixed = add("torch.matmul", lambda a, b: a @ b, weights, halves)
    mixed = add("torch.Tensor.view", lambda a: a.reshape(4, 2, 6), mixed, size=(4, 2, 6))
    mixed = add("torch.mean", lambda a: a.mean(axis=1), mixed, dim=1)
    y = add("torch.add", lambda a, b: a + b, y, mixed)
    y = add("torch.nn.functional.gelu", normal, y, approximate="none")
    y = add("torch.nn.functional.silu", lambda a: a / (1 + np.exp(-a)), y, inplace=False)
    y = add("torch.transpose", lambda a: a.T, y, dim0=0, dim1=-1)
    y = add("torch.Tensor.contiguous", lambda a: a, y)
    y = add("torch.Tensor.view", lambda a: a.reshape(3, 2, 4), y, size=(3, -1, 4))
    y = add("torch.transpose", lambda a: a.swapaxes(0, 1), y, dim0=1, dim1=0)
    y = add("torch.Tensor.reshape", lambda a: a.reshape(6, 4), y, shape=(6, 4))
    y = add("torch.transpose", lambda a: a.T, y, dim0=1, dim1=0)
    dropped: dict[str, Constant] = {"p": 0.5, "training": False, "inplace": False}
    y = add("torch.nn.functional.dropout", lambda a: a, y, **dropped)
    y = add("torch.Tensor.float", lambda a: a, y)
    for device in ("cpu", "cuda", "cuda:0", 1):
        y = add("nnscaler.runtime.function.to", lambda a: a, y, dtype_or_device=device)
    return add("nnscaler.runtime.function.to", lambda a: a, y, dtype_or_device=FLOAT32)


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
    ("torch.nn.functional.gelu", {"approximate": "tanh"}, FLOAT32, "keyword 'approximate' other"),
    ("torch.nn.functional.silu", {"inplace": True}, FLOAT32, "keyword 'inplace' other than False"),
    ("torch.add", {"alpha": 2}, FLOAT32, "keyword 'alpha' other than 1"),
    ("torch.neg", {"another": 1}, FLOAT32, "unknown keyword 'another'"),
    (
        "nnscaler.runtime.function.embedding",
        {"padding_idx": None, "start": None, "stop": 4},
        FLOAT32,
        "keywords 'start' and 'stop' are not both numbers",
    ),
    ("torch.floor", {}, FLOAT32, "unknown op 'torch.floor'"),
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


def refuse(plan: Plan, work: Path) -> str:
    """What is not refused as it should be, or nothing."""
    first, data = find_first(plan)
    for signature, keywords, kind, said in REFUSED:
        ops = Ops(next_tensor(plan) + 1000, first)
        inputs = (Value(data, np.zeros(data.shape)), *([1] if signature == "torch.add" else []))
        ops.add(signature, lambda *given: given[0], *inputs, **keywords)
        output = ops.tensor(data.shape, kind)
        ops.nodes[-1] = replace(ops.nodes[-1], outputs=(output,))
        path = work / "refused.pkl"
        write(plan, ops.nodes, path)
        command = ["verify-plan", "--reference", str(path), str(path)]
        told = subprocess.run(command, check=False, capture_output=True, text=True)
        if told.returncode != 3 or said not in told.stderr:
            return f"{signature}: exit code {told.returncode}: {told.stderr}"
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
    if wrong := refuse(plan, work):
        print(wrong)
        return 1
    kinds = {node.signature for node in ops.nodes}
    print(f"{len(ops.nodes)} ops of {len(kinds)} kinds agree, {len(REFUSED)} are refused")
    return 0


if __name__ == "__main__":
    sys.exit(main())
