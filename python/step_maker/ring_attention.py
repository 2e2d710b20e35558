# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ring attention: keys and values go from rank to rank (Liu et al., 2023, arXiv 2310.01889).

Each rank keeps its queries, and a running maximum, sum and output. In the backward the
gradients of keys and values travel with them, and come home in the end.
"""

from step_maker.attention import (
    Attention,
    Results,
    pairs_of,
    positions_of,
    start_attention,
)
from step_maker.bugs import Mistake
from step_maker.graph import Graph, Tensor

# A kernel that goes over blocks is one line of a program.
KERNEL = "online softmax"


def make_ring_attention(settings: Attention, mistake: Mistake) -> Graph:
    """Both programs and the claims."""
    graph, results = start_attention(settings)
    _Ring(graph, settings, mistake, results).make()
    return graph


class _Ring:
    """Writes the plan of all ranks."""

    def __init__(
        self, graph: Graph, settings: Attention, mistake: Mistake, results: Results
    ) -> None:
        self.graph = graph
        self.settings = s = settings
        self.mistake = mistake
        self.results = results
        self.sides = [graph.on({"device": rank}) for rank in range(s.ranks)]
        self.ranks = range(s.ranks)
        self.last = s.ranks - 1
        self.held = {
            name: [
                graph.distribute(results[name], positions_of(s, rank), {"device": rank})
                for rank in self.ranks
            ]
            for name in ("q", "k", "v", "gradient of o")
        }

    def make(self) -> None:
        """Forward, backward and claims."""
        outputs, sums, maxima = self._forward()
        self._claim("o", outputs, ("output", "o"))
        gradients = self._backward(outputs, sums, maxima)
        for name in ("q", "k", "v"):
            self._claim(f"gradient of {name}", gradients[name], ("gradient", name))

    def _claim(self, name: str, values: list[Tensor], claim: tuple[str, str]) -> None:
        for rank, value in enumerate(values):
            lineage = positions_of(self.settings, rank)
            domain = {"device": rank}
            self.graph.expect(value, self.results[name], lineage, domain)
            self.graph.expect(value, self.results[name], lineage, domain, claim)

    def _shift(self, values: list[Tensor], name: str, distance: int = 1) -> list[Tensor]:
        """Each rank gets what the rank before it has."""
        count = len(values)
        return [
            side.move(
                values[(rank - distance) % count], {"device": (rank - distance) % count}, name
            )
            for rank, side in enumerate(self.sides)
        ]

    def _go_on(
        self, step: int, keys: list[Tensor], values: list[Tensor]
    ) -> tuple[list[Tensor], list[Tensor]]:
        """Keys and values after a step: each rank has those of one rank before."""
        is_wrong = self.mistake.is_here("values-go-the-other-way", where=len(keys) > 2)
        keys = self._shift(keys, "keys go on")
        values = self._shift(values, "values go on", -1 if is_wrong else 1)
        for name, held in (("k", keys), ("v", values)):
            for rank, value in enumerate(held):
                lineage = positions_of(self.settings, (rank - step - 1) % len(held))
                self.graph.expect(value, self.results[name], lineage, {"device": rank})
        return keys, values

    def _scores(self, rank: int, key: Tensor) -> Tensor:
        s, side = self.settings, self.sides[rank]
        scores = side.einsum("bhid,bhjd->bhij", [self.held["q"][rank], key], "scores")
        return side.scale(scores, s.scale, "scores")

    def _exponentials(self, rank: int, step: int, scores: Tensor, most: Tensor) -> Tensor:
        s, side = self.settings, self.sides[rank]
        shifted = side.subtract(scores, most, KERNEL)
        if s.causal:
            mask = side.causal_mask((1, 1, s.positions, s.positions), KERNEL)
            columns = (rank - step) % s.ranks
            if self.mistake.is_here("mask-of-own-block", where=step > 0):
                columns = rank
            mask = side.slice(mask, 2, rank * s.block, (rank + 1) * s.block, KERNEL)
            mask = side.slice(mask, 3, columns * s.block, (columns + 1) * s.block, KERNEL)
            shifted = side.add(shifted, mask, KERNEL)
        return side.unary("exp", shifted, KERNEL)

    def _forward(self) -> tuple[list[Tensor], list[Tensor], list[Tensor]]:
        s = self.settings
        keys, values = self.held["k"], self.held["v"]
        maxima: list[Tensor] = []
        sums: list[Tensor] = []
        outputs: list[Tensor] = []
        is_short = self.mistake.is_here("last-block-not-seen", where=s.ranks > 1)
        for step in range(s.ranks - is_short):
            for rank, side in enumerate(self.sides):
                scores = self._scores(rank, keys[rank])
                most = side.reduce("maximum", scores, [3], KERNEL, keep=True)
                if step:
                    most = side.maximum(maxima[rank], most, KERNEL)
                p = self._exponentials(rank, step, scores, most)
                total = side.reduce("sum", p, [3], KERNEL, keep=True)
                output = side.einsum("bhij,bhjd->bhid", [p, values[rank]], KERNEL)
                if step == 0:
                    maxima.append(most)
                    sums.append(total)
                    outputs.append(output)
                    continue
                ratio = side.subtract(maxima[rank], most, KERNEL)
                ratio = side.unary("exp", ratio, KERNEL)
                kept = sums[rank]
                if not self.mistake.is_here("sum-not-corrected"):
                    kept = side.multiply(kept, ratio, KERNEL)
                sums[rank] = side.add(kept, total, KERNEL)
                kept = outputs[rank]
                if not self.mistake.is_here("output-not-corrected"):
                    kept = side.multiply(kept, ratio, KERNEL)
                outputs[rank] = side.add(kept, output, KERNEL)
                maxima[rank] = most
            if step < self.last:
                keys, values = self._go_on(step, keys, values)
        outputs = [
            side.divide(outputs[rank], sums[rank], KERNEL) for rank, side in enumerate(self.sides)
        ]
        return outputs, sums, maxima

    def _backward(
        self, outputs: list[Tensor], sums: list[Tensor], maxima: list[Tensor]
    ) -> dict[str, list[Tensor]]:
        s, sides = self.settings, self.sides
        backs = self.held["gradient of o"]
        keys, values = self.held["k"], self.held["v"]
        result: dict[str, list[Tensor]] = {"q": [], "k": [], "v": []}
        means = [
            side.reduce("sum", side.multiply(back, o, "row product"), [3], "row product", keep=True)
            for side, back, o in zip(sides, backs, outputs, strict=True)
        ]
        for step in range(s.ranks):
            for rank, side in enumerate(sides):
                scores = self._scores(rank, keys[rank])
                p = self._exponentials(rank, step, scores, maxima[rank])
                p = side.divide(p, sums[rank], "softmax")
                pairs = pairs_of(s, rank, (rank - step) % s.ranks)
                self.graph.expect(p, self.results["softmax"], pairs, {"device": rank})
                change = side.einsum(
                    "bhid,bhjd->bhij", [backs[rank], values[rank]], "gradient of softmax"
                )
                change = side.subtract(change, means[rank], "gradient of scores")
                change = side.multiply(p, change, "gradient of scores")
                change = side.scale(change, s.scale, "gradient of scores")
                self.graph.expect(
                    change, self.results["gradient of scores"], pairs, {"device": rank}
                )
                terms = {
                    "q": side.einsum("bhij,bhjd->bhid", [change, keys[rank]], "gradient of q"),
                    "k": side.einsum(
                        "bhij,bhid->bhjd", [change, self.held["q"][rank]], "gradient of k"
                    ),
                    "v": side.einsum("bhij,bhid->bhjd", [p, backs[rank]], "gradient of v"),
                }
                for name, term in terms.items():
                    if step == 0:
                        result[name].append(term)
                    else:
                        result[name][rank] = side.add(
                            result[name][rank], term, f"sum of gradients of {name}"
                        )
            if step < self.last:
                keys, values = self._go_on(step, keys, values)
            is_last = self.mistake.is_here(
                "gradients-not-sent-home", where=step == self.last and s.ranks > 1
            )
            if s.ranks > 1 and not is_last:
                for name in ("k", "v"):
                    result[name] = self._shift(result[name], f"gradients of {name} go on")
        return result
