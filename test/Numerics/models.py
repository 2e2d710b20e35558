# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares whole models with NumPy: what their plans give, and the derivatives.

usage: models.py WORK NAME MODEL [KEYWORD=VALUE...]

WORK/NAME.pkl is a plan for one device; MODEL says what it should compute. Functions
that plans know by name alone are written here once more. The loss has to be the same,
and derivatives are compared with differences. A function that is changed a little has
to be noticed. Exit code 1 if something is not so.
"""

import json
import math
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

Array = Any  # What the operators of NumPy take and return.
Tensors = dict[str, Array]
Options = dict[str, Any]

STEP = 1e-5
erf = np.vectorize(math.erf, otypes=[float])

#: The function that is changed, if one is, and those that were called.
changed = ""
called: set[str] = set()


def known_by_name(function: Callable[..., Array]) -> Callable[..., Array]:
    """A function whose body is not in plans; the one called `changed` gives a bit more."""

    def call(*given: Any) -> Array:
        called.add(function.__name__)
        factor = 1.001 if function.__name__ == changed else 1.0
        return function(*given) * factor

    return call


def softmax(x: Array) -> Array:
    """Exponentials divided by their sum, along the last dimension."""
    power = np.exp(x - x.max(axis=-1, keepdims=True))
    return power / power.sum(axis=-1, keepdims=True)


def sigmoid(x: Array) -> Array:
    """The logistic function."""
    return 1 / (1 + np.exp(-x))


def dropout(x: Array, draws: Array, probability: float) -> Array:
    """What is kept stands for what is dropped."""
    return np.where(draws == 1, x / (1 - probability), 0.0)


# ---------------------------------------------------------------------------
# Functions that plans name
# ---------------------------------------------------------------------------


@known_by_name
def self_attention(x: Array, qkv: Array, bias: Array, out: Array, *rest: Array) -> Array:
    """Attention among positions, the first dimension; each head has its own rows."""
    heads, draws = rest
    length, batch, width = x.shape
    size = width // heads
    y = np.zeros((length, batch, width))
    for sample in range(batch):
        for head in range(heads):
            rows = head * size * 3 + 3 * np.arange(size)
            query, key, value = (x[:, sample] @ qkv[rows + i].T + bias[rows + i] for i in range(3))
            weights = softmax(query @ key.T / math.sqrt(size))
            part = slice(head * size, (head + 1) * size)
            y[:, sample, part] = dropout(weights, draws[sample, head], 0.2) @ value
    return y @ out.T


@known_by_name
def feedforward(x: Array, first: Array, bias: Array, second: Array, draws: Array) -> Array:
    """Linear, gelu, dropout, linear."""
    inner = x @ first.T + bias
    return dropout(inner * (1 + erf(inner / math.sqrt(2))) / 2, draws, 0.2) @ second.T


@known_by_name
def apply_rotary_emb(x: Array, factors: Array) -> Array:
    """Pairs of the last dimension as complex numbers, times that of their position."""
    product = (x[..., 0::2] + 1j * x[..., 1::2]) * (factors[..., 0] + 1j * factors[..., 1])[:, None]
    return np.stack([product.real, product.imag], axis=-1).reshape(x.shape)


@known_by_name
def apply_mask(scores: Array) -> Array:
    """With what create_mask makes: a position does not see those after it."""
    length = scores.shape[-1]
    return np.where(np.arange(length) <= np.arange(length)[:, None], scores, -np.inf)


@known_by_name
def gate_fw(x: Array, weight: Array, options: Options) -> Array:
    """For each token the weights of all experts, 0 for those that it does not go to."""
    scores = x @ weight.T
    is_sigmoid = options["score"] == "sigmoid"
    scores = sigmoid(scores) if is_sigmoid else softmax(scores)
    members = len(weight) // options["groups"]
    weights = np.zeros(scores.shape)
    for row, chosen in zip(scores, weights, strict=True):
        groups = sorted(
            (range(start, start + members) for start in range(0, len(row), members)),
            key=lambda group, row=row: -max(row[list(group)]),
        )
        eligible = [expert for group in groups[: options["active_groups"]] for expert in group]
        best = sorted(eligible, key=lambda expert, row=row: -row[expert])[: options["active"]]
        chosen[best] = row[best] * options["scale"] / (sum(row[best]) if is_sigmoid else 1)
    return weights


@known_by_name
def nnscaler_moe_gmm(x: Array, weights: Array, gates: Array, ups: Array, downs: Array) -> Array:
    """The weighted sum of what the experts make of each token."""
    y = np.zeros(x.shape)
    for weight, gate, up, down in zip(weights.T, gates, ups, downs, strict=True):
        inner = x @ gate.T
        y += weight[:, None] * ((inner * sigmoid(inner) * (x @ up.T)) @ down.T)
    return y


# ---------------------------------------------------------------------------
# Models
# ---------------------------------------------------------------------------


def gpt(given: Tensors, options: Options) -> Array:
    """Positions come first between the embedding and the end."""
    draws: Iterator[Array] = (given[name] for name in given if " of tensor " in name)

    def norm(x: Array, name: str) -> Array:
        centered = x - x.mean(axis=-1, keepdims=True)
        scale = np.sqrt((centered**2).mean(axis=-1, keepdims=True) + 1e-5)
        return centered / scale * given[f"{name}.weight"] + given[f"{name}.bias"]

    x = given["embedw"][given["input_ids"]] + given["position.weight"][given["position_ids"]]
    x = dropout(x, next(draws), 0.5).transpose(1, 0, 2)
    for layer in range(options["layers"]):
        name = f"layers.{layer}"
        attention = [given[f"{name}.self_attn.{of}"] for of in ("qkv_proj", "qkv_bias", "out_proj")]
        inner = norm(x, f"{name}.self_attn_layer_norm")
        y = self_attention(inner, *attention, options["heads"], next(draws))
        x = x + dropout(y + given[f"{name}.self_attn.out_bias"], next(draws), 0.2)
        block = [given[f"{name}.mlp.{of}"] for of in ("proj1", "proj1_bias", "proj2")]
        y = feedforward(norm(x, f"{name}.final_layer_norm"), *block, next(draws))
        x = x + dropout(y + given[f"{name}.mlp.proj2_bias"], next(draws), 0.2)
    return (norm(x, "final_layernorm") @ given["embedw"].T).sum()


def llama(given: Tensors, options: Options) -> Array:
    """Blocks with a gate are mixtures of experts, and all tokens see one more expert."""

    def norm(x: Array, name: str) -> Array:
        scale = np.sqrt((x**2).mean(axis=-1, keepdims=True) + 1e-5)
        return x / scale * given[f"{name}.weight"]

    def attend(x: Array, layer: int) -> Array:
        name, shape = f"layers.{layer}.attention", (*x.shape[:2], options["heads"], -1)
        query, key, value = (
            (x @ given[f"{name}.{of}.weight"].T).reshape(shape) for of in ("wq", "wk", "wv")
        )
        factors = given[f"_tensor_constant{layer}"]
        query, key = apply_rotary_emb(query, factors), apply_rotary_emb(key, factors)
        scores = np.einsum("blhs,bmhs->bhlm", query, key) / math.sqrt(query.shape[-1])
        y = np.einsum("bhlm,bmhs->blhs", softmax(apply_mask(scores)), value)
        return y.reshape(x.shape) @ given[f"{name}.wo.weight"].T

    def feed(x: Array, name: str) -> Array:
        inner, other = (x @ given[f"{name}.{of}.weight"].T for of in ("w1", "w3"))
        return (inner * sigmoid(inner) * other) @ given[f"{name}.w2.weight"].T

    def mix(x: Array, name: str) -> Array:
        tokens = x.reshape(-1, x.shape[-1])
        weights = gate_fw(tokens, given[f"{name}.gate.weight"], options)
        experts = [given[f"{name}.{of}"] for of in ("w11", "w33", "w22")]
        y = nnscaler_moe_gmm(tokens, weights, *experts)
        return (y + feed(tokens, f"{name}.shared_experts")).reshape(x.shape)

    x = given["tok_embeddings.weight"][given["tokens"]]
    for layer in range(options["layers"]):
        x = x + attend(norm(x, f"layers.{layer}.attention_norm"), layer)
        name = f"layers.{layer}.feed_forward"
        block = mix if f"{name}.gate.weight" in given else feed
        x = x + block(norm(x, f"layers.{layer}.ffn_norm"), name)
    return (norm(x, "norm") @ given["output.weight"].T).sum()


# ---------------------------------------------------------------------------
# Comparison
# ---------------------------------------------------------------------------


def draw_inputs(text: str) -> Tensors:
    """Inputs, parameters and draws of an imported plan, in the order it names them."""
    rng = np.random.default_rng(7)
    given: Tensors = {}
    shape = r"tensor<((?:\d+x)*)(\w+)>"
    load = rf"tv\.load_data cell \d+ \[(.*?)\] .* : ({shape}(?:, {shape})*)$"
    names = re.search(load, text, re.M)
    assert names
    found = list(zip(re.findall(r'"(.*?)"', names[1]), re.findall(shape, names[2]), strict=True))
    buffers = rf'tv\.buffer @\w+ on 0 "(.*?)" holds [^!]*: !tv\.buffer<{shape}>'
    found += [(name, (sizes, kind)) for name, sizes, kind in re.findall(buffers, text)]
    draws = rf'tv\.random "(.*?)" <(\d+), .* -> {shape}'
    found += [
        (f"{name} of tensor {tensor}", (sizes, "i1"))
        for name, tensor, sizes, kind in re.findall(draws, text)
    ]
    for name, (sizes, kind) in found:
        of = [int(size) for size in sizes.split("x")[:-1]]
        values = rng.integers(0, 2 if kind == "i1" else 4, of)
        given.setdefault(name, rng.uniform(-1, 1, of) if kind.startswith("f") else values)
    return given


def run(work: Path, name: str) -> tuple[Tensors, Tensors]:
    """What a plan was given and what it gave."""
    plan = work / f"{name}.pkl"
    command = ["verify-translate", "--import-nnscaler", "--reference", str(plan), str(plan)]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    given = draw_inputs(text[text.index("tv.plan @reference") :].split("\n  }\n")[0])
    inputs, output = work / f"{name}.json", work / f"{name}.results.json"
    inputs.write_text(json.dumps({key: tensor.tolist() for key, tensor in given.items()}))
    files = ["--inputs", str(inputs), "--run-output", str(output)]
    command = ["verify-plan", "--run", "--quiet", "--reference", str(plan), str(plan), *files]
    subprocess.run(command, check=True)
    [program] = json.loads(output.read_text())["programs"]
    results: Tensors = {}
    for row in program["results"]:
        tensor = row["reference"]
        values = [float(Fraction(value)) for value in tensor["values"]]
        results[row["name"]] = np.array(values).reshape(tensor["shape"])
    return given, results


def is_close(one: float, other: float, tolerance: float = 1e-10) -> bool:
    """Whether two numbers are the same but for rounding."""
    return abs(one - other) <= tolerance * (1 + abs(other))


def main() -> int:
    """Prints what differs, or what was compared, and returns the exit code."""
    global changed  # noqa: PLW0603
    work, name, kind = Path(sys.argv[1]), *sys.argv[2:4]
    pairs = [argument.split("=") for argument in sys.argv[4:]]
    options: Options = {
        key: float(value) if "." in value else int(value) if value.isdigit() else value
        for key, value in pairs
    }
    model = {"gpt": gpt, "llama": llama}[kind]
    given, results = run(work, name)
    [loss] = results.pop("sum_1")
    if not is_close(loss, model(given, options)):
        print(f"{name}: the loss is {loss}, not {model(given, options)}")
        return 1
    for parameter, gradient in results.items():
        along = np.random.default_rng(8).uniform(-1, 1, gradient.shape) * STEP
        moved = [
            model(given | {parameter: given[parameter] + sign * along}, options) for sign in (1, -1)
        ]
        slope, expected = (gradient * along).sum() / STEP, (moved[0] - moved[1]) / (2 * STEP)
        if not is_close(slope, expected, 1e-6):
            print(f"{name}: along the gradient of {parameter} the slope is {slope}, not {expected}")
            return 1
    for function in sorted(called):
        changed = function
        if is_close(loss, model(given, options)):
            print(f"{name}: {function} may be anything")
            return 1
    print(f"{name}: the loss and {len(results)} derivatives agree; {', '.join(sorted(called))}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
