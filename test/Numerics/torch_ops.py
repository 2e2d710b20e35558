# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares results and derivatives with PyTorch and its autograd, op by op.

usage: llvm-tblgen --dump-json ... | torch_ops.py WORK ROUNDS [--break OP]

For each op that has a derivative a plan runs it and its backward op on random
tensors of random shapes, from a random gradient of the result. With --break the
meaning of one op is made wrong, and the comparison has to notice. Exit code 1 if
something differs, or if an op with a derivative has no meaning in PyTorch.
"""

import argparse
import random
import sys
from collections.abc import Callable
from pathlib import Path

import torch
import torch.nn.functional as functional

from cases import GENERATORS, OpCase, computing_ops
from draws import Operand, real
from programs import Programs, Result, add_backward_plan, add_graph, describe, interpret, read

Tensor = torch.Tensor
Meaning = Callable[..., Tensor]

TOLERANCE = 1e-10
#: Ops of integers alone, and ops that take some, or truth values, beside real numbers.
OF_INTEGERS = {"tv.one_hot"}
TAKES_OTHERS = {"tv.embedding", "tv.select"} | OF_INTEGERS
#: Draws of a case before it is taken that there is none in real numbers.
MOST_DRAWS = 1000


def reduce(x: Tensor, case: OpCase) -> Tensor:
    """Each kind of reduction."""
    kinds = {"sum": torch.sum, "average": torch.mean, "maximum": torch.amax, "minimum": torch.amin}
    dimensions, keep = case.attributes["dimensions"], case.attributes["keep"]
    return kinds[case.attributes["kind"]](x, dim=dimensions, keepdim=keep)


def pad(x: Tensor, case: OpCase) -> Tensor:
    """Zeros along one dimension; PyTorch counts dimensions from the last."""
    values = case.attributes
    after = x.ndim - 1 - values["dimension"]
    return functional.pad(x, [0, 0] * after + [values["low"], values["high"]])


def broadcast(x: Tensor, case: OpCase) -> Tensor:
    """New dimensions of size 1, then repetition."""
    for dimension in range(len(case.result)):
        if dimension not in case.attributes["dimensions"]:
            x = x.unsqueeze(dimension)
    return x.expand(case.result)


def one_hot(indices: Tensor, case: OpCase) -> Tensor:
    """Ones where index and position agree, nothing for indices outside."""
    classes = case.result[-1]
    positions = (indices - case.attributes["start"]).clamp(-1, classes) + 1
    return functional.one_hot(positions, classes + 2)[..., 1:-1].double()


def embedding(indices: Tensor, table: Tensor, case: OpCase) -> Tensor:
    """Rows of the table between two rows of zeros, where indices outside point."""
    rows = indices - case.attributes["start"]
    padded = functional.pad(table, [0, 0, 1, 1])
    return functional.embedding(rows.clamp(-1, len(table)) + 1, padded)


def complex_product(x: Tensor, factors: Tensor, case: OpCase) -> Tensor:
    """Products of complex numbers."""
    numbers = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())
    turns = torch.view_as_complex(factors.contiguous())
    after = numbers.ndim - 2 - case.attributes["position_dimension"]
    turns = turns.reshape(turns.shape[0], *([1] * after), turns.shape[1])
    return torch.view_as_real(numbers * turns).flatten(-2)


def slice_(x: Tensor, case: OpCase) -> Tensor:
    """A range of one dimension."""
    values = case.attributes
    return x.narrow(values["dimension"], values["start"], values["end"] - values["start"])


MEANINGS: dict[str, Meaning] = {
    "tv.add": lambda x, y, case: torch.add(x, y),
    "tv.subtract": lambda x, y, case: torch.sub(x, y),
    "tv.multiply": lambda x, y, case: torch.mul(x, y),
    "tv.divide": lambda x, y, case: torch.div(x, y),
    "tv.negate": lambda x, case: torch.neg(x),
    "tv.exp": lambda x, case: torch.exp(x),
    "tv.rsqrt": lambda x, case: torch.rsqrt(x),
    "tv.tanh": lambda x, case: torch.tanh(x),
    "tv.silu": lambda x, case: functional.silu(x),
    "tv.erf": lambda x, case: torch.erf(x),
    "tv.erf_derivative": lambda x, case: torch.exp(-x.square()) * (2 / torch.pi**0.5),
    "tv.gelu": lambda x, case: functional.gelu(x),
    "tv.sigmoid": lambda x, case: torch.sigmoid(x),
    "tv.sin": lambda x, case: torch.sin(x),
    "tv.cos": lambda x, case: torch.cos(x),
    "tv.to_real": lambda x, case: x.to(torch.float64),
    "tv.select": lambda c, x, y, case: torch.where(c != 0, x, y),
    "tv.sqrt": lambda x, case: torch.sqrt(x),
    "tv.log": lambda x, case: torch.log(x),
    "tv.relu": lambda x, case: functional.relu(x),
    "tv.maximum": lambda x, y, case: torch.maximum(x, y),
    "tv.minimum": lambda x, y, case: torch.minimum(x, y),
    "tv.abs": lambda x, case: torch.abs(x),
    "tv.sign": lambda x, case: torch.sign(x),
    "tv.copy": lambda x, case: x.clone(),
    "tv.detach": lambda x, case: x.detach() + 0 * x,
    "tv.power": lambda x, case: torch.pow(
        x, case.attributes["numerator"] / case.attributes["denominator"]
    ),
    "tv.linear": lambda x, weight, case: functional.linear(x, weight),
    "tv.matmul": lambda x, y, case: torch.matmul(x, y),
    "tv.einsum": lambda *given: torch.einsum(given[-1].attributes["equation"], *given[:-1]),
    "tv.reduce": reduce,
    "tv.softmax": lambda x, case: functional.softmax(x, case.attributes["dimension"]),
    "tv.cumulative_sum": lambda x, case: torch.cumsum(x, case.attributes["dimension"]),
    "tv.layer_norm": lambda x, weight, bias, case: functional.layer_norm(
        x, weight.shape, weight, bias, case.attributes["epsilon"]
    ),
    "tv.reshape": lambda x, case: x.reshape(case.result),
    "tv.transpose": lambda x, case: x.permute(case.attributes["permutation"]),
    "tv.slice": slice_,
    "tv.pad": pad,
    "tv.concat": lambda *given: torch.cat(given[:-1], given[-1].attributes["dimension"]),
    "tv.broadcast": broadcast,
    "tv.one_hot": one_hot,
    "tv.embedding": embedding,
    "tv.complex_product": complex_product,
}


def to_tensor(operand: Operand) -> Tensor:
    """An operand for PyTorch, which remembers what is done with it."""
    kind = torch.int64 if operand.element == "i64" else torch.float64
    result = torch.tensor(operand.values, dtype=kind).reshape(operand.shape)
    return result.requires_grad_(operand.differentiable)


def to_result(value: Tensor) -> Result:
    """A tensor as the interpreter's results are written."""
    return Result(tuple(value.shape), value.detach().flatten().tolist())


def draw_case(rng: random.Random, op: str) -> OpCase:
    """A case in real numbers; PyTorch does not differentiate the others."""
    for _ in range(MOST_DRAWS):
        case = GENERATORS[op](rng, op)
        is_real = case.element == "f64" and all(
            operand.element == "f64" or op in TAKES_OTHERS for operand in case.operands
        )
        if is_real:
            return case
    raise AssertionError(f"{op} has no case in real numbers")


def add_case(
    programs: Programs, symbol: str, case: OpCase, rng: random.Random, is_broken: bool
) -> list[Tensor]:
    """Adds a program; the results that PyTorch gives."""
    given = [to_tensor(operand) for operand in case.operands]
    result = MEANINGS[case.op](*given, case)
    if is_broken:
        # The value stays right; the derivative does not.
        result = result + 1e-6 * sum((x - x.detach()).sum() for x in given if x.requires_grad)
    if not any(operand.differentiable for operand in case.operands):
        add_graph(programs, symbol, case)
        return [result]
    cotangent = real(rng, case.result)
    wrt = add_backward_plan(programs, symbol, case, cotangent)
    gradients = torch.autograd.grad(
        result,
        [given[i] for i in wrt],
        torch.tensor(cotangent.values, dtype=torch.float64).reshape(case.result),
        allow_unused=True,
        materialize_grads=True,
    )
    return [result, *gradients]


def main() -> int:
    """Compares, prints what differs and returns the exit code."""
    parser = argparse.ArgumentParser()
    parser.add_argument("work", type=Path)
    parser.add_argument("rounds", type=int)
    parser.add_argument("--break", dest="broken", default="")
    arguments = parser.parse_args()
    ops = computing_ops(sys.stdin.read())
    differentiable = sorted(op for op, has_derivative in ops.items() if has_derivative)
    missing = [op for op in differentiable if op not in MEANINGS or op not in GENERATORS]
    if missing or not differentiable:
        print(f"no case or no meaning for {', '.join(missing) or 'any op'}")
        return 1
    rng = random.Random(11)
    programs = Programs()
    expected: dict[str, tuple[str, list[Tensor]]] = {}
    for op in differentiable:
        for round_ in range(arguments.rounds):
            symbol = f"{op.removeprefix('tv.')}_{round_}"
            case = draw_case(rng, op)
            tensors = add_case(programs, symbol, case, rng, op == arguments.broken)
            expected[symbol] = (op, tensors)
    results = interpret(programs, arguments.work, "double")
    differences: list[str] = []
    derivatives: dict[str, int] = dict.fromkeys(differentiable, 0)
    compared = 0
    for symbol, (op, tensors) in expected.items():
        found = [
            read(row["reference"] if "reference" in row else row["places"][0]["plan"])
            for row in results[symbol]
        ]
        if len(found) != len(tensors):
            differences.append(f"{op} ({symbol}): {len(found)} results")
            continue
        derivatives[op] += len(tensors) - 1
        for number, (result, value) in enumerate(zip(found, tensors, strict=True)):
            compared += 1
            if text := describe(result, to_result(value), TOLERANCE):
                what = f"derivative {number - 1}" if number else "the result"
                differences.append(f"{op} ({symbol}), {what}: {text}")
    for text in differences[:20]:
        print(text)
    unchecked = [op for op, number in derivatives.items() if number == 0 and op not in OF_INTEGERS]
    if unchecked:
        print(f"no derivative was compared for {', '.join(unchecked)}")
    print(
        f"{len(differentiable)} ops with a derivative, {compared} results and derivatives "
        f"compared with PyTorch {torch.__version__}, {len(differences)} differ"
    )
    return 1 if differences or unchecked else 0


if __name__ == "__main__":
    sys.exit(main())
