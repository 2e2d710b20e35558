# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the steps of step_maker compute, as formulas on numbers.

Nothing is shared with step_maker. Gradients are derivatives of the loss along an imaginary
direction: exact but for rounding, and no backward pass is written down.
"""

import argparse
import cmath
from collections.abc import Callable, Sequence

Number = complex
Vector = list[Number]
Matrix = list[Vector]
# Elements in row-major order, by the name of the tensor.
Values = dict[str, list[float]]

DIRECTION = 1e-30


def rows(flat: Sequence[Number], width: int) -> Matrix:
    """The rows of a matrix."""
    return [list(flat[i : i + width]) for i in range(0, len(flat), width)]


def dot(left: Sequence[Number], right: Sequence[Number]) -> Number:
    """Sum of products."""
    return sum((x * y for x, y in zip(left, right, strict=True)), 0j)


def real(values: Sequence[Number]) -> list[float]:
    """Real parts."""
    return [complex(value).real for value in values]


def gradients(
    loss: Callable[[dict[str, list[Number]]], Number], inputs: Values, names: Sequence[str]
) -> Values:
    """The derivatives of the loss with respect to each element."""
    point: dict[str, list[Number]] = {name: list(map(complex, inputs[name])) for name in inputs}
    result: Values = {}
    for name in names:
        result[name] = []
        for i in range(len(point[name])):
            point[name][i] += DIRECTION * 1j
            result[name].append(loss(point).imag / DIRECTION)
            point[name][i] -= DIRECTION * 1j
    return result


# ---- Training ----

PARAMETERS = ("W1", "W2", "b")


def train(options: argparse.Namespace, inputs: Values) -> Values:
    """Loss, gradients, their norm, and the next parameters and states."""

    def loss(at: dict[str, list[Number]]) -> Number:
        first, second = rows(at["W1"], options.inputs), rows(at["W2"], options.hidden)
        samples = rows(at["x"], options.inputs)
        targets = rows(at["t"], options.outputs)
        total = 0j
        for x, target in zip(samples, targets, strict=True):
            hidden = [cmath.tanh(dot(row, x)) for row in first]
            for row, bias, wanted in zip(second, at["b"], target, strict=True):
                total += (dot(row, hidden) + bias - wanted) ** 2 / 2
        return total / len(samples)

    point = {name: list(map(complex, inputs[name])) for name in inputs}
    result: Values = {"loss": [loss(point).real]}
    gradient = gradients(loss, inputs, PARAMETERS)
    result |= gradient
    factor = 1.0
    if options.clip is not None:
        norm = sum(x * x for name in PARAMETERS for x in gradient[name]) ** 0.5
        result["norm"] = [norm]
        factor = min(1.0, float(options.clip) / (norm + 1e-6))
    for name in PARAMETERS:
        clipped = [factor * x for x in gradient[name]]
        result |= next_values(options, name, inputs, clipped)
    return result


def next_values(
    options: argparse.Namespace, name: str, inputs: Values, gradient: Sequence[float]
) -> Values:
    """A parameter and its states after a step."""
    weights = inputs[name]
    result: Values = {f"next {name}": []}
    if options.optimizer == "sgd":
        state = f"momentum of {name}"
        result[f"next {state}"] = [
            0.9 * v + g for v, g in zip(inputs[state], gradient, strict=True)
        ]
        pairs = zip(weights, result[f"next {state}"], strict=True)
        result[f"next {name}"] = [w - 0.001 * v for w, v in pairs]
        return result
    first, second = f"first moment of {name}", f"second moment of {name}"
    result[f"next {first}"], result[f"next {second}"] = [], []
    states = zip(weights, gradient, inputs[first], inputs[second], strict=True)
    for w, g, m, v in states:
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
        update = m / (1 - 0.9**options.step)
        update /= (v / (1 - 0.999**options.step)) ** 0.5 + 1e-8
        if options.optimizer == "adamw":
            update += 0.01 * w
        result[f"next {name}"].append(w - 0.001 * update)
        result[f"next {first}"].append(m)
        result[f"next {second}"].append(v)
    return result


# ---- Vocabulary ----


def cross_entropy(options: argparse.Namespace, inputs: Values) -> Values:
    """The mean loss, and the gradients of the tied embedding and the layer."""
    words, targets = ([int(word) for word in inputs[name]] for name in ("words", "targets"))

    def loss(at: dict[str, list[Number]]) -> Number:
        table, weight = rows(at["E"], options.hidden), rows(at["W"], options.hidden)
        total = 0j
        for word, target in zip(words, targets, strict=True):
            hidden = [dot(row, table[word]) for row in weight]
            logits = [dot(row, hidden) for row in table]
            total += cmath.log(sum(map(cmath.exp, logits))) - logits[target]
        return total / len(words)

    parameters = {name: inputs[name] for name in ("E", "W")}
    point = {name: list(map(complex, values)) for name, values in parameters.items()}
    return {"loss": [loss(point).real]} | gradients(loss, parameters, list(parameters))


# ---- Attention ----


def attention(options: argparse.Namespace, inputs: Values) -> Values:
    """The output, and the gradients of its product with a given tensor."""
    size = options.features

    def outputs(at: dict[str, list[Number]]) -> list[Number]:
        result: list[Number] = []
        heads = [rows(at[name], options.positions * size) for name in "qkv"]
        for q, k, v in zip(*(([rows(head, size) for head in one]) for one in heads), strict=True):
            for i, query in enumerate(q):
                seen = i + 1 if options.causal else len(k)
                scores = [cmath.exp(dot(query, key) / size**0.5) for key in k[:seen]]
                total = sum(scores)
                columns = zip(*v[:seen], strict=True)
                result.extend(dot(scores, column) / total for column in columns)
        return result

    def product(at: dict[str, list[Number]]) -> Number:
        return dot(outputs(at), at["gradient of o"])

    point = {name: list(map(complex, inputs[name])) for name in inputs}
    return {"o": real(outputs(point))} | gradients(product, inputs, ["q", "k", "v"])


# ---- Experts ----


def experts(options: argparse.Namespace, inputs: Values) -> Values:
    """The results of tokens, and the gradients of their product with a given tensor."""
    size, inner = options.features, options.inner

    def outputs(at: dict[str, list[Number]]) -> list[Number]:
        tokens, router = rows(at["x"], size), rows(at["router"], size)
        first = [rows(one, size) for one in rows(at["W1"], inner * size)]
        second = [rows(one, inner) for one in rows(at["W2"], inner * size)]
        result: list[Number] = []
        for start in range(0, len(tokens), options.tokens):
            group = range(start, start + options.tokens)
            chosen = {t: (int(inputs["expert"][t]), int(inputs["slot"][t])) for t in group}
            for t in group:
                expert, slot = chosen[t]
                if slot >= options.capacity:
                    result += [0j] * size
                    continue
                # Tokens that share a slot are added up.
                sharing = [tokens[other] for other in group if chosen[other] == (expert, slot)]
                sent = [sum(column) for column in zip(*sharing, strict=True)]
                hidden = [cmath.tanh(dot(row, sent)) for row in first[expert]]
                scores = [cmath.exp(dot(row, tokens[t])) for row in router]
                weight = scores[expert] / sum(scores)
                result += [weight * dot(row, hidden) for row in second[expert]]
        return result

    def product(at: dict[str, list[Number]]) -> Number:
        return dot(outputs(at), at["gradient of y"])

    point = {name: list(map(complex, inputs[name])) for name in inputs}
    gradient = gradients(product, inputs, ["x", "router", "W1", "W2"])
    return {"y": real(outputs(point)), "dx": gradient.pop("x")} | gradient


FORMULAS = {
    "train": train,
    "cross-entropy": cross_entropy,
    "ring-attention": attention,
    "all-to-all-attention": attention,
    "experts": experts,
}
