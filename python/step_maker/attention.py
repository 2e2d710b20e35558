# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention whose sequence is divided over ranks, forward and backward.

`o = softmax(q k' / sqrt(d) + mask) v`, with gradients of q, k and v for a given one of o.
The ranks of a replica divide the positions, replicas (mesh axis `dp`) the samples.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from step_maker.graph import Graph, ImpossibleStepError, Side, Tensor
from step_maker.lineage import Lineage

Results = dict[str, Tensor]
# Dimensions: samples, heads, positions, features.
HEADS, POSITIONS = 1, 2


@dataclass(frozen=True)
class Attention:
    """Sizes and strategy."""

    replicas: int = 2
    ranks: int = 2
    samples: int = 1
    heads: int = 2
    positions: int = 4
    features: int = 2
    causal: bool = False

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Of queries, keys and values."""
        return (self.replicas * self.samples, self.heads, self.positions, self.features)

    @property
    def block(self) -> int:
        """Positions of a rank."""
        return self.positions // self.ranks

    @property
    def scale(self) -> Fraction:
        """What products of queries and keys are multiplied by."""
        return Fraction(float(self.features) ** -0.5)


def start_attention(s: Attention) -> tuple[Graph, Results]:
    """The graph with the reference; inputs are among the results."""
    if s.positions % s.ranks:
        raise ImpossibleStepError(f"{s.ranks} ranks cannot divide {s.positions} positions")
    graph = Graph("step", {"dp": s.replicas, "device": s.ranks})
    results = {name: graph.input(name, s.shape) for name in ("q", "k", "v", "gradient of o")}
    side = graph.reference()
    mask = side.causal_mask((1, 1, s.positions, s.positions), "mask") if s.causal else None
    results |= attend(side, s, results, mask)
    return graph, results


def attend(side: Side, s: Attention, given: Mapping[str, Tensor], mask: Tensor | None) -> Results:
    """Output and gradients, of all positions at once."""
    q, k, v, back = (given[name] for name in ("q", "k", "v", "gradient of o"))
    result: Results = {}
    scores = side.einsum("bhid,bhjd->bhij", [q, k], "scores")
    scores = side.scale(scores, s.scale, "scores")
    if mask:
        scores = side.add(scores, mask, "masked scores")
    exponentials = side.unary("exp", scores, "exponentials")
    total = side.reduce("sum", exponentials, [3], "sum of exponentials", keep=True)
    p = result["softmax"] = side.divide(exponentials, total, "softmax")
    result["o"] = side.einsum("bhij,bhjd->bhid", [p, v], "output")
    result["gradient of v"] = side.einsum("bhij,bhid->bhjd", [p, back], "gradient of v")
    change = side.einsum("bhid,bhjd->bhij", [back, v], "gradient of softmax")
    mean = side.reduce(
        "sum", side.multiply(back, result["o"], "row product"), [3], "row product", keep=True
    )
    change = side.multiply(
        p, side.subtract(change, mean, "gradient of scores"), "gradient of scores"
    )
    result["gradient of scores"] = change = side.scale(change, s.scale, "gradient of scores")
    result["gradient of q"] = side.einsum("bhij,bhjd->bhid", [change, k], "gradient of q")
    result["gradient of k"] = side.einsum("bhij,bhid->bhjd", [change, q], "gradient of k")
    return result


def pairs_of(s: Attention, rank: int, other: int) -> Lineage:
    """The samples of a replica, queries of a rank and keys of another one."""
    samples, heads, rows, _ = positions_of(s, rank)
    return (samples, heads, rows, positions_of(s, other)[POSITIONS])


def positions_of(s: Attention, rank: int) -> Lineage:
    """The samples of a replica, and the positions of a rank."""
    bounds = (rank * s.block, (rank + 1) * s.block, s.positions)
    return (
        ("dp", (0, s.samples, s.samples)),
        ((0, s.heads, s.heads),),
        (bounds,),
        ((0, s.features, s.features),),
    )
