# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a plan does with gradients: reduces, unscales and clips them, and updates parameters.

ZeRO-1 divides states over replicas, ZeRO-2 gradients too, ZeRO-3 parameters too.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from step_maker.graph import Domain, Graph, Tensor
from step_maker.lineage import Lineage
from step_maker.optimizers import Tensors, paper_step, torch_step
from step_maker.settings import Parameter, Piece, PlanWriter, clip_factor, place_domain

Place = tuple[int, int | None]


def gather_over_replicas(graph: Graph, name: str, parts: Sequence[tuple[Piece, Tensor]]) -> Tensor:
    """On the rank of the pieces in each replica: the parts, one after the other."""
    side = graph.on(place_domain(parts[0][0].rank, None))
    moved = [side.move(value, {"dp": piece.replica or 0}, name) for piece, value in parts]
    return side.all_gather(moved, 0, name)


@dataclass
class Updates(PlanWriter):
    """Writes the end of a step."""

    def __post_init__(self) -> None:
        is_divided = self.settings.zero > 0
        self.pieces = {p.name: p.pieces(self.settings, divided=is_divided) for p in self.parameters}

    def make(
        self,
        gradients: dict[str, list[Tensor]],
        references: Tensors,
        updates: dict[str, Tensors],
    ) -> None:
        """The ops, and the claims about gradients, their norm, states and parameters."""
        reduced: dict[str, list[Tensor]] = {}
        s = self.settings
        scaled_norm = self.mistake.is_here(
            "unscaled-after-clip", where=s.clip is not None and s.loss_scale not in (None, 1)
        )
        for p in self.parameters:
            values = self._reduce(p, gradients[p.name], references[p.name])
            if not scaled_norm:
                values = self._unscale(p, values)
                self._claim(p, values, references[p.name], ("gradient", p.name))
            reduced[p.name] = values
        if self.settings.clip is not None:
            reduced = self._clip(reduced, self.settings.clip, references)
        for p in self.parameters:
            values = self._unscale(p, reduced[p.name]) if scaled_norm else reduced[p.name]
            self._update(p, values, updates[p.name])

    def _claim(
        self, p: Parameter, values: Sequence[Tensor], reference: Tensor, claim: tuple[str, str]
    ) -> None:
        for piece, value in zip(self.pieces[p.name], values, strict=True):
            lineage = p.lineage(piece.rank, piece.rows)
            self._result(value, reference, lineage, piece.domain, claim)

    def _result(
        self,
        value: Tensor,
        reference: Tensor,
        lineage: Lineage,
        domain: Domain,
        claim: tuple[str, str],
    ) -> None:
        """A claim about a result, which is a lemma for what comes after it."""
        self.graph.expect(value, reference, lineage, domain)
        self.graph.expect(value, reference, lineage, domain, claim)

    # ---- Gradients ----

    def _reduce(self, p: Parameter, gradients: Sequence[Tensor], reference: Tensor) -> list[Tensor]:
        """The average over replicas of each piece."""
        name = p.name
        if self.settings.zero >= 2:
            return [
                self._average(
                    self.graph.on(place_domain(piece.rank, None)).slice(
                        gradients[piece.rank], 0, *piece.rows, f"bucket of {name}"
                    ),
                    piece,
                    f"reduction of {name}",
                )
                for piece in self.pieces[name]
            ]
        wholes = [Piece(rank, None, (0, p.rows)) for rank in range(p.ranks)]
        reduced = [
            self._average(value, piece, f"reduction of {name}")
            for piece, value in zip(wholes, gradients, strict=True)
        ]
        if self.settings.zero == 0:
            return reduced
        if self.settings.loss_scale is None:
            for piece, value in zip(wholes, reduced, strict=True):
                lineage = p.lineage(piece.rank, piece.rows)
                self.graph.expect(value, reference, lineage, piece.domain)
        return [
            self.graph.on(piece.domain).slice(
                reduced[piece.rank], 0, *self._own_rows(piece, p), f"shard of gradient of {name}"
            )
            for piece in self.pieces[name]
        ]

    def _own_rows(self, piece: Piece, p: Parameter) -> tuple[int, int]:
        """The rows of the gradient that belong to a piece."""
        start, end = piece.rows
        other = p.rows - end, p.rows - start
        is_here = self.mistake.is_here(
            "gradient-shard-cut-from-the-end", where=p.name == "W1" and other != piece.rows
        )
        return other if is_here else piece.rows

    def _average(self, value: Tensor, piece: Piece, name: str) -> Tensor:
        side, mistake, s = self.graph.on(piece.domain), self.mistake, self.settings
        is_divided = name.endswith("W1") and piece.replica is not None
        if mistake.is_here("gradient-not-reduced", where=is_divided and s.replicas > 1):
            return side.move(value, {"dp": piece.replica or 0}, name)
        averages = s.averages
        other = "sum-for-average" if averages else "averaged-again"
        averages ^= mistake.is_here(other, where=s.replicas > 1)
        value = side.all_reduce([value], ["dp"], name, "average" if averages else "")
        if mistake.is_here("averaged-over-all-devices", where=s.ranks > 1):
            value = side.scale(value, Fraction(1, s.ranks), name)
        return value

    def _unscale(self, p: Parameter, values: Sequence[Tensor]) -> list[Tensor]:
        if self.settings.loss_scale in (None, 1):
            return list(values)
        return [
            self.graph.on(piece.domain).scale(
                value, 1 / self.settings.loss_scale, f"unscaled gradient of {p.name}"
            )
            for piece, value in zip(self.pieces[p.name], values, strict=True)
        ]

    # ---- Clipping ----

    def _clip(
        self, gradients: dict[str, list[Tensor]], limit: Fraction, references: Tensors
    ) -> dict[str, list[Tensor]]:
        """Gradients times the factor that makes their global norm at most the limit."""
        places = {piece.place for pieces in self.pieces.values() for piece in pieces}
        if self.mistake.is_here("clipped-by-local-norm", where=len(places) > 1):
            norms = self._local_norms(gradients)
        else:
            norms = self._global_norm(gradients, references)
        result: dict[str, list[Tensor]] = {p.name: [] for p in self.parameters}
        factors: dict[Place, Tensor] = {}
        for place, value in norms.items():
            domain = place_domain(*place)
            self._result(value, references["norm"], (), domain, ("output", "norm"))
            factors[place] = clip_factor(self.graph.on(domain), value, limit, "clip")
        for p in self.parameters:
            for piece, value in zip(self.pieces[p.name], gradients[p.name], strict=True):
                factor = factors.get(piece.place) or factors[piece.rank, None]
                side = self.graph.on(piece.domain)
                clipped = side.multiply(value, factor, "clip")
                lineage, reference = p.lineage(piece.rank, piece.rows), f"clipped {p.name}"
                self.graph.expect(clipped, references[reference], lineage, piece.domain)
                result[p.name].append(clipped)
        if self.mistake.is_here("clipped-copy-not-used"):
            return gradients
        return result

    def _square(self, piece: Piece, value: Tensor) -> Tensor:
        """The sum of the squares of a piece of a gradient."""
        labels = "ij"[: len(value.shape)]
        side = self.graph.on(piece.domain)
        return side.einsum(f"{labels},{labels}->", [value, value], "norm")

    def _global_norm(
        self, gradients: dict[str, list[Tensor]], references: Tensors
    ) -> dict[Place, Tensor]:
        """The norm of all gradients, on each rank of all replicas: parameter by parameter."""
        s, graph, mistake = self.settings, self.graph, self.mistake
        is_wide = mistake.is_here("norm-over-replicas", where=s.replicas > 1)
        sides = [graph.on(place_domain(rank, None)) for rank in range(s.ranks)]
        totals: list[Tensor] = []
        for p in self.parameters:
            terms = []
            for piece, value in zip(self.pieces[p.name], gradients[p.name], strict=True):
                # What all ranks have is counted once.
                is_copy = p.split is None and piece.rank > 0
                counts = mistake.is_here("replicated-gradients-in-norm", where=is_copy)
                if is_copy and not counts:
                    continue
                square = self._square(piece, value)
                if piece.replica is not None:
                    square = sides[piece.rank].move(square, {"dp": piece.replica}, "norm")
                terms.append(square)
            sums = [side.all_reduce(terms, ["dp"] if is_wide else [], "norm") for side in sides]
            for rank, value in enumerate(sums):
                domain = place_domain(rank, None)
                graph.expect(value, references[f"squares of {p.name}"], (), domain)
            totals = (
                [
                    side.add(total, value, "norm")
                    for side, total, value in zip(sides, totals, sums, strict=True)
                ]
                if totals
                else sums
            )
        return {
            (rank, None): side.unary("sqrt", totals[rank], "norm")
            for rank, side in enumerate(sides)
        }

    def _local_norms(self, gradients: dict[str, list[Tensor]]) -> dict[Place, Tensor]:
        """The norm of what is updated at each place."""
        squares: dict[Place, Tensor] = {}
        for p in self.parameters:
            for piece, value in zip(self.pieces[p.name], gradients[p.name], strict=True):
                square = self._square(piece, value)
                if piece.place in squares:
                    side = self.graph.on(piece.domain)
                    square = side.add(squares[piece.place], square, "norm")
                squares[piece.place] = square
        return {
            place: self.graph.on(place_domain(*place)).unary("sqrt", value, "norm")
            for place, value in squares.items()
        }

    # ---- Parameters ----

    def _update(self, p: Parameter, gradients: Sequence[Tensor], updates: Tensors) -> None:
        s, graph, mistake = self.settings, self.graph, self.mistake
        pieces = self.pieces[p.name]
        results = []
        for number, (piece, gradient) in enumerate(zip(pieces, gradients, strict=True)):
            lineage = p.lineage(piece.rank, piece.rows)
            weight = graph.distribute(p.weight, lineage, piece.domain)
            states = {
                name: graph.distribute(state, lineage, piece.domain)
                for name, state in p.states.items()
            }
            is_later = p.name == "W1" and bool(piece.replica)
            if mistake.is_here("state-of-another-shard", where=is_later):
                name, start = s.optimizer.states[-1], pieces[number - 1].rows[0]
                other = p.lineage(piece.rank, (start, start + piece.rows[1] - piece.rows[0]))
                states[name] = graph.distribute(p.states[name], other, piece.domain)
            side = graph.on(piece.domain)
            if s.torch_form:
                results.append(torch_step(side, s.optimizer, weight, gradient, states))
            else:
                results.append(paper_step(side, s.optimizer, weight, gradient, states, mistake))
        for name in s.optimizer.states:
            values = [result[name] for result in results]
            self._claim(p, values, updates[name], ("output", f"next {name} of {p.name}"))
        weights = [result["weight"] for result in results]
        claim = ("output", f"next {p.name}")
        if s.zero in (0, 3):
            self._claim(p, weights, updates["weight"], claim)
            return
        for piece, weight in zip(pieces, weights, strict=True):
            lineage = p.lineage(piece.rank, piece.rows)
            graph.expect(weight, updates["weight"], lineage, piece.domain)
        for rank in range(s.ranks):
            parts = [
                (piece, value)
                for piece, value in zip(pieces, weights, strict=True)
                if piece.rank == rank
            ]
            is_divided = p.name == "W1" and len(parts) > 1
            if mistake.is_here("parameters-gathered-rotated", where=is_divided):
                parts = [*parts[1:], parts[0]]
            value = gather_over_replicas(graph, f"all-gather of updated {p.name}", parts)
            lineage = p.lineage(rank, (0, p.rows))
            self._result(value, updates["weight"], lineage, place_domain(rank, None), claim)
