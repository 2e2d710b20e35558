# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the ops of a plan compute, on tensors of numbers.

Dropout is a factor for each position of the last dimension, so that which part
of a tensor a device has matters: `Context` says where its parts start.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from tests.scalars import Number, dot, exp, normal_distribution, total, value_of


@dataclass(frozen=True)
class Tensor:
    """Elements in row-major order."""

    shape: tuple[int, ...]
    elements: list[Any]

    def rows(self) -> list[list[Any]]:
        """The elements by their last dimension."""
        size = self.shape[-1]
        return [self.elements[at : at + size] for at in range(0, len(self.elements), size)]


@dataclass(frozen=True)
class Context:
    """The op's name in the model, where the last dimension of its result starts,
    and where the first dimension of its second operand does.
    """

    name: str
    start: int
    weight_start: int


Results: TypeAlias = tuple[Tensor, ...]


def pick(tensor: Tensor, ranges: Sequence[Sequence[int]]) -> Tensor:
    """A slice."""
    strides = [math.prod(tensor.shape[place + 1 :]) for place in range(len(tensor.shape))]
    offsets = [
        [index * stride for index in range(start, end)]
        for (start, end), stride in zip(ranges, strides, strict=True)
    ]
    shape = tuple(end - start for start, end in ranges)
    return Tensor(shape, [tensor.elements[sum(at)] for at in itertools.product(*offsets)])


def concatenate(tensors: Sequence[Tensor], dimension: int) -> Tensor:
    """One after the other along `dimension`."""
    shape = list(tensors[0].shape)
    shape[dimension] = sum(tensor.shape[dimension] for tensor in tensors)
    inner = [math.prod(tensor.shape[dimension:]) for tensor in tensors]
    elements: list[Any] = []
    for outer in range(math.prod(shape[:dimension])):
        for tensor, size in zip(tensors, inner, strict=True):
            elements += tensor.elements[outer * size : (outer + 1) * size]
    return Tensor(tuple(shape), elements)


def part(tensor: Tensor, dimension: int, index: int, parts: int) -> Tensor:
    """Part `index` of equal parts along `dimension`."""
    size = tensor.shape[dimension] // parts
    ranges = [(0, whole) for whole in tensor.shape]
    ranges[dimension] = (index * size, (index + 1) * size)
    return pick(tensor, ranges)


def add(x: Tensor, y: Tensor) -> Tensor:
    """The sum of two tensors."""
    return _broadcast(lambda a, b: a + b, x, y)


def compute(name: str, context: Context, operands: list[Any], keywords: dict[str, Any]) -> Results:
    """The results of an op."""
    result = OPERATIONS[name](context, *operands, **keywords)
    return result if isinstance(result, tuple) else (result,)


def _map(function: Callable[[Any], Any], x: Tensor) -> Tensor:
    return Tensor(x.shape, [function(element) for element in x.elements])


def _broadcast(function: Callable[[Any, Any], Any], x: Any, y: Any) -> Tensor:
    if not isinstance(x, Tensor):
        return _map(lambda element: function(x, element), y)
    if not isinstance(y, Tensor):
        return _map(lambda element: function(element, y), x)
    if x.shape == y.shape:
        return Tensor(x.shape, list(map(function, x.elements, y.elements)))
    rank = max(len(x.shape), len(y.shape))
    shapes = [(1,) * (rank - len(tensor.shape)) + tensor.shape for tensor in (x, y)]
    shape = tuple(map(max, *shapes))
    if any({*sizes} - {1, max(sizes)} for sizes in zip(*shapes, strict=True)):
        raise ValueError("the shapes do not fit")
    picked = []
    for tensor, own in zip((x, y), shapes, strict=True):
        strides = [math.prod(own[place + 1 :]) * (own[place] > 1) for place in range(rank)]
        places = itertools.product(*map(range, shape))
        picked.append(
            [
                tensor.elements[sum(i * stride for i, stride in zip(at, strides, strict=True))]
                for at in places
            ]
        )
    return Tensor(shape, list(map(function, *picked)))


def _linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    if x.shape[-1] != weight.shape[-1]:
        raise ValueError("the shapes do not fit")
    rows = weight.rows()
    elements = [dot(row, other) for row in x.rows() for other in rows]
    result = Tensor((*x.shape[:-1], weight.shape[0]), elements)
    return result if bias is None else add(result, bias)


def _transpose(x: Tensor, dim0: int, dim1: int) -> Tensor:
    order = list(range(len(x.shape)))
    order[dim0], order[dim1] = order[dim1], order[dim0]
    strides = [math.prod(x.shape[place + 1 :]) for place in range(len(x.shape))]
    offsets = [[i * strides[place] for i in range(x.shape[place])] for place in order]
    shape = tuple(x.shape[place] for place in order)
    return Tensor(shape, [x.elements[sum(at)] for at in itertools.product(*offsets)])


def _view(x: Tensor, size: Sequence[int]) -> Tensor:
    known = math.prod(count for count in size if count > 0)
    return Tensor(
        tuple(count if count > 0 else len(x.elements) // known for count in size), x.elements
    )


def _matmul(x: Tensor, y: Tensor) -> Tensor:
    columns = _transpose(y, len(y.shape) - 2, len(y.shape) - 1)
    outer = x.shape[:-2]
    elements: list[Number] = []
    left, right = x.rows(), columns.rows()
    m, n = x.shape[-2], y.shape[-1]
    for batch in range(math.prod(outer)):
        for row in left[batch * m : (batch + 1) * m]:
            elements += [dot(row, column) for column in right[batch * n : (batch + 1) * n]]
    return Tensor((*outer, m, n), elements)


def _softmax(x: Tensor) -> Tensor:
    elements: list[Number] = []
    for row in x.rows():
        largest = max(map(value_of, row))
        powers = [exp(element + -largest) for element in row]
        scale = _power(total(powers), -1.0)
        elements += [power * scale for power in powers]
    return Tensor(x.shape, elements)


def _power(x: Number, exponent: float) -> Any:
    return x**exponent


def _embedding(tokens: Tensor, table: Tensor, start: int, stop: int) -> Tensor:
    rows = table.rows()
    nothing = [0.0] * table.shape[1]
    elements: list[Any] = []
    for token in tokens.elements:
        elements += rows[token - start] if start <= token < stop else nothing
    return Tensor((*tokens.shape, table.shape[1]), elements)


def _create_mask(tokens: Tensor) -> Tensor:
    size = tokens.shape[1]
    elements = [0.0 if j <= i else -1e9 for i in range(size) for j in range(size)]
    return Tensor((1, 1, size, size), elements)


def _rotary(xq: Tensor, xk: Tensor, angles: Tensor) -> Results:
    return _turn(xq, angles), _turn(xk, angles)


def _turn(x: Tensor, angles: Tensor) -> Tensor:
    """Turns pairs of the last dimension; dimension 1 is the position."""
    elements: list[Number] = []
    rows, turns = x.rows(), angles.rows()
    for index, row in enumerate(rows):
        position = index // x.shape[2] % x.shape[1]
        for pair, angle in enumerate(turns[position]):
            a, b = row[2 * pair : 2 * pair + 2]
            cos, sin = math.cos(angle), math.sin(angle)
            elements += [a * cos + b * -sin, a * sin + b * cos]
    return Tensor(x.shape, elements)


def _layer_norm(x: Tensor, weight: Tensor, bias: Tensor, eps: float) -> Tensor:
    elements: list[Number] = []
    for row in x.rows():
        mean = total(row) * (1 / len(row))
        centered = [element + mean * -1.0 for element in row]
        scale = _power(dot(centered, centered) * (1 / len(row)) + eps, -0.5)
        elements += [
            element * scale * factor + term
            for element, factor, term in zip(centered, weight.elements, bias.elements, strict=True)
        ]
    return Tensor(x.shape, elements)


def _kept(name: str, index: int, rate: float) -> float:
    """The factor that dropout gives to position `index`."""
    return (1 + math.sin(7 * index + sum(map(ord, name)))) / (1 - rate)


def _dropout(x: Tensor, context: Context, rate: float) -> Tensor:
    factors = [_kept(context.name, context.start + i, rate) for i in range(x.shape[-1])]
    return Tensor(x.shape, [a * b for row in x.rows() for a, b in zip(row, factors, strict=True)])


def _gelu(x: Number) -> Any:
    return x * normal_distribution(x)


def _silu(x: Number) -> Any:
    return x * _sigmoid(x)


def _self_attention(
    context: Context,
    x: Tensor,
    qkv: Tensor,
    qkv_bias: Tensor,
    out: Tensor,
    *,
    mask: bool,
    h: int,
    scale: float,
    dropout_p: float,
) -> Tensor:
    assert not mask
    length, batch, _ = x.shape
    size = qkv.shape[0] // (3 * h)
    projected = _linear(x, qkv, qkv_bias)
    first = context.weight_start // (3 * size)
    heads: list[Tensor] = []
    for head in range(h):
        columns = [[(head * size + i) * 3 + which for i in range(size)] for which in range(3)]
        q, k, v = (_heads(projected, places) for places in columns)
        scores = _map(lambda score: score * scale, _matmul(q, _transpose(k, 1, 2)))
        factor = _kept(context.name, first + head, dropout_p)
        output = _matmul(_softmax(scores), v)
        heads.append(Tensor(output.shape, [element * factor for element in output.elements]))
    joined = _transpose(concatenate(heads, 2), 0, 1)
    return _linear(Tensor((length, batch, h * size), joined.elements), out)


def _heads(projected: Tensor, places: Sequence[int]) -> Tensor:
    """Some columns, batch first."""
    columns = [row[place] for row in projected.rows() for place in places]
    return _transpose(Tensor((*projected.shape[:2], len(places)), columns), 0, 1)


def _feed_forward(
    context: Context,
    x: Tensor,
    w1: Tensor,
    b1: Tensor,
    w2: Tensor,
    *,
    dropout: float,
    is_training: bool,
) -> Tensor:
    assert is_training
    inner = _map(_gelu, _linear(x, w1, b1))
    shifted = Context(context.name, context.weight_start, 0)
    return _linear(_dropout(inner, shifted, dropout), w2)


def _gate(
    x: Tensor,
    weight: Tensor,
    *,
    score_func: str,
    bias: None,
    n_groups: int,
    topk_groups: int,
    topk: int,
    route_scale: float,
) -> Results:
    """The weights and the numbers of every token's experts."""
    assert bias is None
    logits = _linear(x, weight)
    scores = _softmax(logits) if score_func == "softmax" else _map(_sigmoid, logits)
    weights: list[Any] = []
    indices: list[int] = []
    for row in scores.rows():
        chosen = _best(list(map(value_of, row)), n_groups, topk_groups, topk)
        picked = [row[expert] for expert in chosen]
        scale = 1.0 if score_func == "softmax" else _power(total(picked), -1.0)
        weights += [score * scale * route_scale for score in picked]
        indices += chosen
    shape = (x.shape[0], topk)
    return Tensor(shape, weights), Tensor(shape, indices)


def _best(scores: list[float], groups: int, active: int, count: int) -> list[int]:
    """The best of the groups that have the best."""
    size = len(scores) // groups
    tops = [max(scores[group * size : (group + 1) * size]) for group in range(groups)]
    allowed = sorted(range(groups), key=lambda group: -tops[group])[:active]
    experts = [group * size + place for group in allowed for place in range(size)]
    return sorted(experts, key=lambda expert: -scores[expert])[:count]


def _experts(
    x: Tensor,
    indices: Tensor,
    weights: Tensor,
    gates: Tensor,
    ups: Tensor,
    downs: Tensor,
    *,
    n_routed_experts: int,
    local_expert_start: int,
    local_expert_end: int,
) -> Tensor:
    """Each token's sum over its experts that are here."""
    assert local_expert_end - local_expert_start == gates.shape[0] <= n_routed_experts
    local = [
        [
            Tensor(tensor.shape[1:], part(tensor, 0, place, tensor.shape[0]).elements)
            for tensor in (gates, ups, downs)
        ]
        for place in range(gates.shape[0])
    ]
    elements: list[Any] = []
    choices = zip(x.rows(), indices.rows(), weights.rows(), strict=True)
    for row, experts, factors in choices:
        token, result = Tensor((1, len(row)), row), Tensor((1, len(row)), [0.0] * len(row))
        for expert, factor in zip(experts, factors, strict=True):
            if local_expert_start <= expert < local_expert_end:
                gate, up, down = local[expert - local_expert_start]
                inner = _broadcast(_times, _map(_silu, _linear(token, gate)), _linear(token, up))
                term = _linear(inner, down)
                result = add(
                    result, Tensor(term.shape, [value * factor for value in term.elements])
                )
        elements += result.elements
    return Tensor(x.shape, elements)


def _times(x: Number, y: Number) -> Any:
    return x * y


def _sigmoid(x: Number) -> Any:
    if value_of(x) < -700:
        return x * 0.0  # As the exponential function would overflow.
    return _power(exp(x * -1.0) + 1.0, -1.0)


def _along_rows(x: Tensor, dimension: int) -> Tensor:
    """A tensor of which an op takes the last dimension."""
    if dimension not in (-1, len(x.shape) - 1):
        raise ValueError(f"dimension {dimension} is not supported")
    return x


def _mean(x: Tensor) -> Tensor:
    size = x.shape[-1]
    return Tensor((*x.shape[:-1], 1), [total(row) * (1 / size) for row in x.rows()])


OPERATIONS: dict[str, Callable[..., Any]] = {
    "add": lambda _, x, y, alpha=1: _broadcast(lambda a, b: a + b * alpha, x, y),
    "apply_mask": lambda _, x, mask: add(x, mask),
    "apply_rotary_emb": lambda _, q, k, angles: _rotary(q, k, angles),
    "contiguous": lambda _, x: x,
    "create_mask": lambda _, tokens, h: _create_mask(tokens),
    "div": lambda _, x, y, rounding_mode=None: _map(lambda a: a * (1 / y), x),
    "dropout": lambda context, x, p=0.5, training=True, inplace=False: (
        _dropout(x, context, p) if training else x
    ),
    "embedding": lambda _, x, w, padding_idx, start, stop: _embedding(x, w, start, stop),
    "feedforward": _feed_forward,
    "float": lambda _, x: x,
    "gate_fw": lambda _, x, w, **keywords: _gate(x, w, **keywords),
    "identity": lambda _, x: x,
    "layernorm": lambda _, x, w, b, normalized_shape, eps: _layer_norm(x, w, b, eps),
    "linear": lambda _, x, w, bias=None: _linear(x, w),
    "matmul": lambda _, x, y: _matmul(x, y),
    "mean": lambda _, x, dim, keepdim: _mean(_along_rows(x, *dim)),
    "mul": lambda _, x, y: _broadcast(lambda a, b: a * b, x, y),
    "multiref": lambda _, x, times: (x,) * times,
    "nnscaler_moe_gmm": lambda _, *operands, **keywords: _experts(*operands, **keywords),
    "pow": lambda _, x, n: _map(lambda a: a**n, x),
    "rsqrt": lambda _, x: _map(lambda a: _power(a, -0.5), x),
    "self_attention": _self_attention,
    "silu": lambda _, x, inplace=False: _map(_silu, x),
    "softmax": lambda _, x, dim, _stacklevel=3, dtype=None: _softmax(_along_rows(x, dim)),
    "sum": lambda _, x: Tensor((1,), [total(x.elements)]),
    "to": lambda _, x, dtype_or_device: x,
    "transpose": lambda _, x, dim0, dim1: _transpose(x, dim0, dim1),
    "view": lambda _, x, size: _view(x, size),
}


def plain(tensor: Tensor) -> Tensor:
    """Without the history of the elements."""
    return _map(value_of, tensor)
