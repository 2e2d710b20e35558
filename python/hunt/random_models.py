# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random models: what nobody had in mind when the strategies were written.

Values are used several times, multiplied by themselves, added to parameters; layers share
parameters, and what is computed of parameters is the weight of a layer.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from random import Random

from plan_maker.graph import FullTensor
from plan_maker.trace import Keywords, Kind, Operand, Site, Trace, Tracer

TORCH, FUNCTIONAL = "torch", "torch.nn.functional"
LINEAR = Kind("linear", f"{FUNCTIONAL}.linear", ("* k+, n k+ -> * n",))
ADD = Kind("add", f"{TORCH}.add", ("a b, a b -> a b",))
ADD_NUMBER = Kind("add", f"{TORCH}.add", ("*, ? -> *",))
ADD_ROW = Kind("add", f"{TORCH}.add", ("a b, b -> a b",))
MULTIPLY = Kind("mul", f"{TORCH}.mul", ("a b, a b -> a b",))
MULTIPLY_ROW = Kind("mul", f"{TORCH}.mul", ("a b, b -> a b",))
DIVIDE = Kind("div", f"{TORCH}.div", ("*, ? -> *",))
POWER = Kind("pow", f"{TORCH}.pow", ("*, ? -> *",))
ACTIVATION = Kind("silu", f"{FUNCTIONAL}.silu", ("* -> *",))
SOFTMAX = Kind("softmax", f"{FUNCTIONAL}.softmax", ("a b^ -> a b^",))
IDENTITY = Kind("identity", "nnscaler.runtime.function.identity", ("* -> *",))
SUM = Kind("sum", f"{TORCH}.sum", ("a+ b+ -> 1",), result="sum_1")
ALPHA: Keywords = (("alpha", 1),)
CALLS = (2, 3, 3, 4, 5)


@dataclass
class _Model:
    """A model of which some calls are there."""

    random: Random
    hidden: int
    tracer: Tracer = field(default_factory=Tracer)
    layer: int = 0
    parameters: list[FullTensor] = field(default_factory=list)
    weights: list[FullTensor] = field(default_factory=list)
    values: list[FullTensor] = field(default_factory=list)
    uses: Counter[FullTensor] = field(default_factory=Counter)

    def call(self, kind: Kind, operands: tuple[Operand, ...], keywords: Keywords) -> FullTensor:
        """The result of one more call, on a line of its own."""
        self.uses.update(operand for operand in operands if isinstance(operand, FullTensor))
        line = len(self.tracer.calls) + 1
        comment = f'File "model.py", line {line}, in forward,  x = {kind.name}()'
        (result,) = self.tracer.call(kind, operands, keywords, Site(comment, (), self.layer))
        return result

    def parameter(self, shape: tuple[int, ...]) -> FullTensor:
        """A parameter, most often a new one."""
        known = [one for one in self.parameters if one.shape == shape]
        if known and self.random.random() < 0.3:
            return self.random.choice(known)
        name = f"layers.{self.layer}.weight_{len(self.parameters)}"
        self.parameters.append(self.tracer.parameter(name, shape))
        return self.parameters[-1]

    def weight(self) -> FullTensor:
        """A matrix: a parameter, or what is computed of some."""
        shape = (self.hidden, self.hidden)
        choice = self.random.random()
        if choice < 0.75:
            return self.parameter(shape)
        if self.weights and choice < 0.85:
            return self.random.choice(self.weights)
        kind, keywords = self.random.choice(
            [(LINEAR, (("bias", None),)), (ADD, ALPHA), (MULTIPLY, ())]
        )
        operands = (self.parameter(shape), self.parameter(shape))
        self.weights.append(self.call(kind, operands, keywords))
        return self.weights[-1]

    def value(self) -> FullTensor:
        """An activation, most often the last one."""
        return self.values[-1] if self.random.random() < 0.7 else self.random.choice(self.values)

    def add_call(self) -> None:
        """One more activation."""
        x, random = self.value(), self.random
        row = (self.hidden,)
        match random.choices(range(11), [5, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1])[0]:
            case 0:
                result = self.call(LINEAR, (x, self.weight()), (("bias", None),))
            case 1:
                result = self.call(ADD, (x, self.value()), ALPHA)
            case 2:
                result = self.call(MULTIPLY, (x, self.value()), ())
            case 3:
                result = self.call(ADD_ROW, (x, self.parameter(row)), ALPHA)
            case 4:
                result = self.call(MULTIPLY_ROW, (x, self.parameter(row)), ())
            case 5:
                result = self.call(ACTIVATION, (x,), (("inplace", False),))
            case 6:
                result = self.call(POWER, (x, 2), ())
            case 7:
                result = self.call(DIVIDE, (x, 4), (("rounding_mode", None),))
            case 8:
                last: Keywords = (("dim", -1), ("_stacklevel", 3), ("dtype", None))
                result = self.call(SOFTMAX, (x,), last)
            case 9:
                result = self.call(ADD_NUMBER, (x, 0.5), ALPHA)
            case _:
                result = self.call(IDENTITY, (x,), ())
        self.values.append(result)


def random_model(random: Random, layers: int, hidden: int, local_batch: int) -> Trace:
    """The calls of a model; the same `random` makes the same for another batch."""
    model = _Model(random, hidden)
    loader = model.tracer.source()
    names = ["data", "more"] if random.random() < 0.3 else ["data"]
    data = tuple(model.tracer.tensor(name, (local_batch, hidden)) for name in names)
    model.values += data
    for layer in range(layers):
        model.layer = layer
        for _ in range(random.choice(CALLS)):
            model.add_call()
    # Every result has a part in the loss, as ops that have none have no gradients.
    x = model.values[-1]
    for value in model.values[:-1]:
        if not model.uses[value]:
            x = model.call(ADD, (x, value), ALPHA)
    for weight in model.weights:
        if not model.uses[weight]:
            x = model.call(LINEAR, (x, weight), (("bias", None),))
    comment = 'File "model.py", line 100, in forward,  loss = torch.sum(x)'
    (loss,) = model.tracer.call(SUM, (x,), (), Site(comment), is_loss=True)
    return Trace(tuple(model.tracer.calls), loader, data, loss, model.tracer.next_identifier)
