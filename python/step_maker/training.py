# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A training step of a model of two layers: forward, backward, and the optimizer.

`loss = mean over samples of |tanh(x W1') W2' + b - t|^2 / 2`. Replicas divide the batch
(mesh axis `dp`), each goes over micro-batches (`mb`), and the devices of a replica divide
the hidden dimension as Megatron does: the rows of W1 and the columns of W2. ZeRO divides
states, gradients and parameters over replicas, by rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from step_maker.bugs import Mistake
from step_maker.graph import Domain, Graph, Side, Tensor, whole
from step_maker.lineage import Lineage
from step_maker.optimizers import Tensors, paper_step
from step_maker.settings import Parameter, PlanWriter, Training, clip_factor
from step_maker.updates import Updates, gather_over_replicas

SPLITS = {"W1": 0, "W2": 1, "b": None}


def make_training(settings: Training, mistake: Mistake) -> Graph:
    """Both programs and the claims."""
    settings.check()
    s = settings
    graph = Graph("step", {"dp": s.replicas, "device": s.ranks, "mb": s.micro_batches})
    x = graph.input("x", (s.batch, s.inputs))
    target = graph.input("t", (s.batch, s.outputs))
    shapes = {"W1": (s.hidden, s.inputs), "W2": (s.outputs, s.hidden), "b": (s.outputs,)}
    parameters = []
    for name, shape in shapes.items():
        weight = graph.input(name, shape, role="parameter")
        states = {state: graph.input(f"{state} of {name}", shape) for state in s.optimizer.states}
        parameters.append(Parameter(name, SPLITS[name], s.ranks, weight, states))
    side = graph.reference()
    weights = [parameter.weight for parameter in parameters]
    results = _reference_gradients(side, x, target, weights, s.batch)
    updates = _reference_updates(side, s, parameters, results)
    model = _PlanModel(graph, s, mistake, parameters)
    gradients = model.gradients(x, target, results)
    Updates(graph, s, mistake, parameters).make(gradients, results, updates)
    return graph


def _reference_gradients(
    side: Side, x: Tensor, target: Tensor, weights: Sequence[Tensor], batch: int
) -> Tensors:
    first, second, bias = weights
    result: Tensors = {}
    result["z"] = side.einsum("bk,hk->bh", [x, first], "first layer")
    a = result["a"] = side.unary("tanh", result["z"], "activation")
    y = side.add(side.einsum("bh,nh->bn", [a, second], "second layer"), bias, "bias")
    result["y"] = y
    error = side.subtract(y, target, "error")
    squares = side.reduce("sum", side.square(error, "squared error"), [0, 1], "sum of errors")
    result["loss"] = side.scale(squares, Fraction(1, 2 * batch), "loss")
    error = result["error"] = side.scale(error, Fraction(1, batch), "mean over samples")
    result["W2"] = side.einsum("bn,bh->nh", [error, a], "weight gradient of W2")
    result["b"] = side.reduce("sum", error, [0], "weight gradient of b")
    back = side.einsum("bn,nh->bh", [error, second], "backward of second layer")
    slope = side.subtract(side.constant(1), side.square(a, "slope"), "slope")
    result["back"] = back = side.multiply(back, slope, "backward of activation")
    result["W1"] = side.einsum("bh,bk->hk", [back, x], "weight gradient of W1")
    return result


def _reference_updates(
    side: Side, settings: Training, parameters: Sequence[Parameter], results: Tensors
) -> dict[str, Tensors]:
    gradients = {parameter.name: results[parameter.name] for parameter in parameters}
    if settings.clip is not None:
        total: Tensor | None = None
        for name, gradient in gradients.items():
            squares = side.square(gradient, "norm")
            squares = side.reduce("sum", squares, range(len(gradient.shape)), "norm")
            results[f"squares of {name}"] = squares
            total = side.add(total, squares, "norm") if total else squares
        assert total is not None
        results["norm"] = side.unary("sqrt", total, "norm")
        factor = clip_factor(side, results["norm"], settings.clip, "clip")
        gradients = {
            name: side.multiply(gradient, factor, "clip") for name, gradient in gradients.items()
        }
        results |= {f"clipped {name}": gradient for name, gradient in gradients.items()}
    return {
        p.name: paper_step(
            side, settings.optimizer, p.weight, gradients[p.name], p.states, Mistake(None)
        )
        for p in parameters
    }


@dataclass
class _PlanModel(PlanWriter):
    """Writes forward and backward of the plan."""

    def __post_init__(self) -> None:
        self.first, self.second, self.bias = self.parameters
        self.ranks = range(self.settings.ranks)
        self.everywhere: Domain = {"device": (0, self.settings.ranks)}

    def _hold(self, parameter: Parameter, purpose: str) -> list[Tensor]:
        """What each rank has of a parameter, for the forward or the backward."""
        s = self.settings
        pieces = parameter.pieces(s, divided=s.zero == 3)
        values = [
            self.graph.distribute(
                parameter.weight, parameter.lineage(piece.rank, piece.rows), piece.domain
            )
            for piece in pieces
        ]
        if s.zero < 3:
            return values
        name = f"all-gather of {parameter.name} for the {purpose}"
        is_here = self.mistake.is_here(
            "backward-gathers-rotated",
            where=purpose == "backward" and s.replicas > 1 and parameter.rows > 1,
        )
        result = []
        for rank in self.ranks:
            parts = [
                (piece, value)
                for piece, value in zip(pieces, values, strict=True)
                if piece.rank == rank
            ]
            parts = [*parts[1:], parts[0]] if is_here else parts
            value = gather_over_replicas(self.graph, name, parts)
            lineage = parameter.lineage(rank, (0, parameter.rows))
            self.graph.expect(value, parameter.weight, lineage, {"device": rank})
            result.append(value)
        return result

    def _batch_of(self, value: Tensor) -> Tensor:
        return self.graph.distribute(value, self._batch(value), self.everywhere)

    def _batch(self, value: Tensor, rank: int | None = None) -> Lineage:
        """The samples of a replica and micro-batch; of hidden units those of the rank."""
        s = self.settings
        first: Lineage = (("dp", "mb", (0, s.samples, s.samples)),)
        if rank is None:
            return (*first, *whole(value.shape)[1:])
        size = s.hidden // s.ranks
        return (*first, ((rank * size, (rank + 1) * size, s.hidden),))

    def gradients(self, x: Tensor, target: Tensor, references: Tensors) -> dict[str, list[Tensor]]:
        """What each rank has accumulated over micro-batches, of its own samples."""
        s, graph, mistake = self.settings, self.graph, self.mistake
        sides = [graph.on({"device": rank}) for rank in self.ranks]
        x, target = self._batch_of(x), self._batch_of(target)
        bias = self._hold(self.bias, "forward")
        adds_early = mistake.is_here("bias-before-all-reduce", where=s.ranks > 1)
        activations, partial = [], []
        first, second = self._hold(self.first, "forward"), self._hold(self.second, "forward")
        for rank, side in enumerate(sides):
            z = side.einsum("bk,hk->bh", [x, first[rank]], "first layer")
            a = side.unary("tanh", z, "activation")
            graph.expect(a, references["a"], self._batch(a, rank), {"device": rank})
            y = side.einsum("bh,nh->bn", [a, second[rank]], "second layer")
            activations.append(a)
            partial.append(side.add(y, bias[rank], "bias") if adds_early else y)
        errors = []
        for rank, side in enumerate(sides):
            y = partial[0]
            if s.ranks > 1:
                y = side.all_reduce(partial, [], "all-reduce of outputs")
            y = y if adds_early else side.add(y, bias[rank], "bias")
            graph.expect(y, references["y"], self._batch(y), {"device": rank})
            errors.append(side.subtract(y, target, "error"))
        self._claim_loss(errors[0], references["loss"])
        errors = [self._scaled(side, error) for side, error in zip(sides, errors, strict=True)]
        second = self._hold(self.second, "backward")
        result: dict[str, list[Tensor]] = {"W1": [], "W2": [], "b": []}
        for side, error, a, weight in zip(sides, errors, activations, second, strict=True):
            result["W2"].append(side.einsum("bn,bh->nh", [error, a], "weight gradient of W2"))
            result["b"].append(side.reduce("sum", error, [0], "weight gradient of b"))
            back = side.einsum("bn,nh->bh", [error, weight], "backward of second layer")
            slope = side.subtract(side.constant(1), side.multiply(a, a, "slope"), "slope")
            back = side.multiply(back, slope, "backward of activation")
            result["W1"].append(side.einsum("bh,bk->hk", [back, x], "weight gradient of W1"))
        end = s.micro_batches
        if mistake.is_here("last-micro-batch-not-accumulated", where=end > 1):
            end -= 1
        return {
            name: [
                side.accumulate(value, "mb", 0, end, f"accumulation of {name}")
                for side, value in zip(sides, values, strict=True)
            ]
            for name, values in result.items()
        }

    def _scaled(self, side: Side, error: Tensor) -> Tensor:
        """The gradient of the outputs: of a mean over samples, with its scale."""
        s, mistake = self.settings, self.mistake
        divisor = s.samples if s.averages else s.batch
        if s.averages and not mistake.is_here(
            "loss-not-divided-by-micro-batches", where=s.micro_batches > 1
        ):
            divisor *= s.micro_batches
        error = side.scale(error, Fraction(1, divisor), "mean over samples")
        if s.loss_scale in (None, 1) or mistake.is_here("unscaled-without-scale"):
            return error
        return side.scale(error, s.loss_scale, "loss scale")

    def _claim_loss(self, error: Tensor, loss: Tensor) -> None:
        s, side = self.settings, self.graph.on({"device": 0})
        squares = side.multiply(error, error, "squared error")
        squares = side.reduce("sum", squares, [0, 1], "sum of errors")
        value = side.accumulate(squares, "mb", 0, s.micro_batches, "accumulated loss")
        value = side.scale(value, Fraction(1, 2 * s.samples * s.micro_batches), "loss")
        value = side.all_reduce([value], ["dp"], "all-reduce of loss", "average")
        self.graph.expect(value, loss, (), {"device": 0}, ("output", "loss"))
