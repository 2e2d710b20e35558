# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sizes and strategy of a training step, and how its parameters are divided."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from step_maker.bugs import Mistake
from step_maker.graph import Domain, Graph, ImpossibleStepError, Side, Tensor
from step_maker.lineage import Lineage
from step_maker.optimizers import Optimizer, Tensors

CLIP_EPSILON = Fraction("1e-6")


@dataclass(frozen=True)
class Training:
    """Sizes and strategy of a step."""

    optimizer: Optimizer
    zero: int = 1
    replicas: int = 2
    ranks: int = 1
    micro_batches: int = 1
    samples: int = 2
    inputs: int = 3
    hidden: int = 4
    outputs: int = 5
    clip: Fraction | None = None
    loss_scale: Fraction | None = None
    # Replicas divide by their own samples and average; else by all samples, and add up.
    averages: bool = False
    # The plan has the formulas of `torch.optim`, not those of papers.
    torch_form: bool = False

    def check(self) -> None:
        """Raises an error where there is no such step."""
        if self.hidden % self.ranks:
            raise ImpossibleStepError(
                f"{self.ranks} ranks cannot divide {self.hidden} hidden units"
            )

    @property
    def batch(self) -> int:
        """Samples of a step."""
        return self.replicas * self.micro_batches * self.samples


@dataclass
class PlanWriter:
    """What each part of the plan is written with."""

    graph: Graph
    settings: Training
    mistake: Mistake
    parameters: Sequence["Parameter"]


@dataclass(frozen=True)
class Piece:
    """What is updated at one place: rows of what one rank holds of a parameter."""

    rank: int
    # The replica that holds it alone; None where all hold it.
    replica: int | None
    rows: tuple[int, int]

    @property
    def place(self) -> tuple[int, int | None]:
        """Who updates it."""
        return self.rank, self.replica

    @property
    def domain(self) -> Domain:
        """Where ops on it run."""
        return place_domain(self.rank, self.replica)


@dataclass(frozen=True)
class Parameter:
    """A parameter of the model: its values in the reference, and how ranks divide it."""

    name: str
    # The dimension that ranks divide; None where each has all of it.
    split: int | None
    ranks: int
    weight: Tensor
    states: Tensors

    @property
    def rows(self) -> int:
        """Rows that a rank holds."""
        rows = self.weight.shape[0]
        return rows // self.ranks if self.split == 0 else rows

    def lineage(self, rank: int, rows: tuple[int, int]) -> Lineage:
        """Where rows of what a rank holds lie in the parameter."""
        sizes = self.weight.shape
        bounds = [(0, size) for size in sizes]
        if self.split is not None:
            size = sizes[self.split] // self.ranks
            bounds[self.split] = (rank * size, (rank + 1) * size)
        start = bounds[0][0]
        bounds[0] = (start + rows[0], start + rows[1])
        return tuple(((*bound, size),) for bound, size in zip(bounds, sizes, strict=True))

    def pieces(self, settings: Training, *, divided: bool) -> list[Piece]:
        """What is held where: divided over replicas, or whole on each."""
        if not divided:
            return [Piece(rank, None, (0, self.rows)) for rank in range(self.ranks)]
        return [
            Piece(rank, replica, rows)
            for rank in range(self.ranks)
            for replica, rows in enumerate(shard_rows(self.rows, settings.replicas))
            if rows[0] < rows[1]
        ]


def place_domain(rank: int, replica: int | None) -> Domain:
    """One device of one replica, or of each."""
    return {"device": rank} if replica is None else {"device": rank, "dp": replica}


def shard_rows(rows: int, replicas: int) -> list[tuple[int, int]]:
    """The rows of each replica: equal parts, of which the last ones are smaller or empty."""
    size = -(-rows // replicas)
    return [(min(rows, size * i), min(rows, size * (i + 1))) for i in range(replicas)]


def clip_factor(side: Side, norm: Tensor, limit: Fraction, name: str) -> Tensor:
    """`min(limit / (norm + epsilon), 1)`."""
    divisor = side.add(norm, side.constant(CLIP_EPSILON), name)
    ratio = side.divide(side.constant(limit), divisor, name)
    return side.minimum(ratio, side.constant(1), name)
