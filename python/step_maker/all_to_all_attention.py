# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""All-to-all attention (Jacobs et al., 2023, arXiv 2309.14509).

Outside of attention ranks divide positions, within it heads: an all-to-all before it and
one after it, forward and backward.
"""

from step_maker.attention import (
    HEADS,
    POSITIONS,
    Attention,
    Results,
    attend,
    positions_of,
    start_attention,
)
from step_maker.bugs import Mistake
from step_maker.graph import Graph, ImpossibleStepError, Tensor
from step_maker.lineage import Lineage


def make_all_to_all_attention(settings: Attention, mistake: Mistake) -> Graph:
    """Both programs and the claims."""
    if settings.heads % settings.ranks:
        raise ImpossibleStepError(f"{settings.ranks} ranks cannot divide {settings.heads} heads")
    graph, results = start_attention(settings)
    _AllToAll(graph, settings, mistake, results).make()
    return graph


class _AllToAll:
    """Writes the plan of all ranks."""

    def __init__(
        self, graph: Graph, settings: Attention, mistake: Mistake, results: Results
    ) -> None:
        self.graph = graph
        self.settings = settings
        self.mistake = mistake
        self.results = results
        self.sides = [graph.on({"device": rank}) for rank in range(settings.ranks)]

    def make(self) -> None:
        """Forward, backward and claims."""
        s = self.settings
        names = ("q", "k", "v", "gradient of o")
        held = {}
        for name in names:
            parts = [
                self.graph.distribute(self.results[name], positions_of(s, rank), {"device": rank})
                for rank in range(s.ranks)
            ]
            held[name] = self._to_heads(name, parts)
        given: list[Results] = []
        for rank, side in enumerate(self.sides):
            mask = side.causal_mask((1, 1, s.positions, s.positions), "mask") if s.causal else None
            own = {name: held[name][rank] for name in names}
            given.append(attend(side, s, own, mask))
        self._claim("o", [result["o"] for result in given], ("output", "o"))
        for name in ("q", "k", "v"):
            values = [result[f"gradient of {name}"] for result in given]
            self._claim(f"gradient of {name}", values, ("gradient", name))

    def _heads_of(self, rank: int) -> Lineage:
        """The samples of a replica, and the heads of a rank."""
        s = self.settings
        size = s.heads // s.ranks
        samples, _, _, features = positions_of(s, rank)
        heads = ((rank * size, (rank + 1) * size, s.heads),)
        return (samples, heads, ((0, s.positions, s.positions),), features)

    def _exchange(self, parts: list[Tensor], split: int, joined: int, name: str) -> list[Tensor]:
        """Each rank gets its range of a dimension from all, one after the other in another."""
        count = len(parts)
        size = parts[0].shape[split] // count
        mistake, result = self.mistake, []
        for rank, side in enumerate(self.sides):
            received = []
            for source in range(count):
                start = rank * size
                if name == "all-to-all of o" and mistake.is_here(
                    "returns-parts-of-own-positions", where=rank != source
                ):
                    start = source * size
                sent = self.sides[source].slice(parts[source], split, start, start + size, name)
                received.append(sent)
            if name == "all-to-all of k" and mistake.is_here("sources-rotated", where=count > 1):
                received = [*received[1:], received[0]]
            if name == "all-to-all of v" and mistake.is_here(
                "joined-along-heads", where=count > 1 and size > 1
            ):
                value = side.all_gather(received, split, name)
                shape = list(received[0].shape)
                shape[joined] *= count
                result.append(side.reshape(value, tuple(shape), name))
                continue
            result.append(side.all_gather(received, joined, name))
        return result

    def _to_heads(self, name: str, parts: list[Tensor]) -> list[Tensor]:
        result = self._exchange(parts, HEADS, POSITIONS, f"all-to-all of {name}")
        for rank, value in enumerate(result):
            lineage = self._heads_of(rank)
            self.graph.expect(value, self.results[name], lineage, {"device": rank})
        return result

    def _claim(self, name: str, parts: list[Tensor], claim: tuple[str, str]) -> None:
        """The claim about a result, which goes back to the ranks of its positions."""
        reference = self.results[name]
        for rank, value in enumerate(parts):
            self.graph.expect(value, reference, self._heads_of(rank), {"device": rank})
        result = self._exchange(parts, POSITIONS, HEADS, f"all-to-all of {name}")
        for rank, value in enumerate(result):
            lineage = positions_of(self.settings, rank)
            self.graph.expect(value, reference, lineage, {"device": rank})
            self.graph.expect(value, reference, lineage, {"device": rank}, claim)
