# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Optimizer steps: as papers write them, and as PyTorch computes them.

The reference has the formulas of the papers. A plan has them too, as fused kernels do, or
those of `torch.optim`, which are the same in another form.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from step_maker.bugs import Mistake
from step_maker.graph import Side, Tensor

Tensors = dict[str, Tensor]


@dataclass(frozen=True)
class Optimizer:
    """Kind and constants; `step` counts from 1."""

    kind: str
    step: int = 3
    rate: Fraction = Fraction("0.001")
    momentum: Fraction = Fraction("0.9")
    betas: tuple[Fraction, Fraction] = (Fraction("0.9"), Fraction("0.999"))
    epsilon: Fraction = Fraction("1e-8")
    decay: Fraction = Fraction("0.01")

    @property
    def states(self) -> tuple[str, ...]:
        """Names of the states of a parameter."""
        return ("momentum",) if self.kind == "sgd" else ("first moment", "second moment")

    def corrections(self, step: int) -> list[Fraction]:
        """`1 - beta^step` for each beta."""
        return [1 - beta**step for beta in self.betas]


def paper_step(
    side: Side,
    optimizer: Optimizer,
    weight: Tensor,
    gradient: Tensor,
    states: Mapping[str, Tensor],
    mistake: Mistake,
) -> Tensors:
    """The new weight and states.

    Momentum as Polyak's heavy ball; Adam as in Kingma and Ba (2015), algorithm 1; AdamW as
    in Loshchilov and Hutter (2019), algorithm 2, with the decay times the rate, which is
    what frameworks do.
    """
    if optimizer.kind == "sgd":
        kept = side.scale(states["momentum"], optimizer.momentum, "kept momentum")
        momentum = side.add(kept, gradient, "next momentum")
        update = side.scale(momentum, optimizer.rate, "update")
        return {"momentum": momentum, "weight": side.subtract(weight, update, "next weight")}
    is_decayed = optimizer.kind == "adamw"
    if is_decayed and mistake.is_here("decay-in-gradient"):
        decay = side.scale(weight, optimizer.decay, "decay")
        gradient = side.add(gradient, decay, "decay")
        is_decayed = False
    beta1, beta2 = optimizer.betas
    first = side.add(
        side.scale(states["first moment"], beta1, "kept first moment"),
        side.scale(gradient, 1 - beta1, "new first moment"),
        "next first moment",
    )
    second = side.add(
        side.scale(states["second moment"], beta2, "kept second moment"),
        side.scale(side.square(gradient, "new second moment"), 1 - beta2, "new second moment"),
        "next second moment",
    )
    step = optimizer.step + mistake.is_here("step-counted-twice")
    corrections = optimizer.corrections(step)
    unbiased = side.divide(
        first, side.constant(corrections[0], "first correction"), "first correction"
    )
    variance = side.divide(
        second, side.constant(corrections[1], "second correction"), "second correction"
    )
    root = side.unary("sqrt", variance, "divisor")
    divisor = side.add(root, side.constant(optimizer.epsilon, "epsilon"), "divisor")
    update = side.divide(unbiased, divisor, "direction")
    if is_decayed:
        update = side.add(update, side.scale(weight, optimizer.decay, "decay"), "decay")
    update = side.scale(update, optimizer.rate, "update")
    next_weight = side.subtract(weight, update, "next weight")
    return {"first moment": first, "second moment": second, "weight": next_weight}


def torch_step(
    side: Side, optimizer: Optimizer, weight: Tensor, gradient: Tensor, states: Mapping[str, Tensor]
) -> Tensors:
    """The new weight and states in the form of `torch.optim`, but for the root.

    PyTorch divides the root of the second moment by the root of its correction; here it is
    the root of the quotient.
    """
    if optimizer.kind == "sgd":
        kept = side.scale(states["momentum"], optimizer.momentum, "kept momentum")
        momentum = side.add(kept, gradient, "next momentum")
        update = side.scale(momentum, -optimizer.rate, "update")
        return {"momentum": momentum, "weight": side.add(weight, update, "next weight")}
    beta1, beta2 = optimizer.betas
    corrections = optimizer.corrections(optimizer.step)
    if optimizer.kind == "adamw":
        weight = side.scale(weight, 1 - optimizer.rate * optimizer.decay, "decay")
    change = side.subtract(gradient, states["first moment"], "change")
    change = side.scale(change, 1 - beta1, "change")
    first = side.add(states["first moment"], change, "next first moment")
    squares = side.multiply(gradient, gradient, "new second moment")
    second = side.add(
        side.scale(states["second moment"], beta2, "kept second moment"),
        side.scale(squares, 1 - beta2, "new second moment"),
        "next second moment",
    )
    variance = side.divide(
        second, side.constant(corrections[1], "second correction"), "second correction"
    )
    divisor = side.add(
        side.unary("sqrt", variance, "divisor"),
        side.constant(optimizer.epsilon, "epsilon"),
        "divisor",
    )
    size = side.divide(
        side.constant(-optimizer.rate, "step size"),
        side.constant(corrections[0], "first correction"),
        "step size",
    )
    update = side.multiply(side.divide(first, divisor, "direction"), size, "update")
    next_weight = side.add(weight, update, "next weight")
    return {"first moment": first, "second moment": second, "weight": next_weight}
