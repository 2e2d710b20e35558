# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Vocabulary parallelism: an embedding tied to the output layer, and cross-entropy.

`loss = mean over tokens of log(sum over v of exp(l[v])) - l[target]`, where `l = h E'`,
`h = x W'` and `x` are the rows of E that the words name. Ranks divide the rows of E, so
columns of the logits (Shoeybi et al., 2019, arXiv 1909.08053, section 3); replicas (mesh
axis `dp`) divide the tokens.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from step_maker.bugs import Mistake
from step_maker.graph import Domain, Graph, ImpossibleStepError, Side, Tensor, part, whole
from step_maker.lineage import Lineage
from step_maker.settings import shard_rows

Results = dict[str, Tensor]


@dataclass(frozen=True)
class Vocabulary:
    """Sizes and strategy."""

    replicas: int = 2
    ranks: int = 2
    tokens: int = 3
    hidden: int = 4
    vocabulary: int = 6

    @property
    def batch(self) -> int:
        """Tokens of all replicas."""
        return self.replicas * self.tokens


def make_vocabulary(settings: Vocabulary, mistake: Mistake) -> Graph:
    """Both programs and the claims."""
    s = settings
    graph = Graph("step", {"dp": s.replicas, "device": s.ranks})
    words = graph.input("words", (s.batch,), element="i64")
    targets = graph.input("targets", (s.batch,), element="i64")
    for name in ("words", "targets"):
        graph.draw_below(name, s.vocabulary)
    table = graph.input("E", (s.vocabulary, s.hidden), role="parameter")
    weight = graph.input("W", (s.hidden, s.hidden), role="parameter")
    results = _reference(graph.reference(), s, words, targets, table, weight)
    _Plan(graph, s, mistake, results).make(words, targets, table, weight)
    return graph


def _reference(
    side: Side, s: Vocabulary, words: Tensor, targets: Tensor, table: Tensor, weight: Tensor
) -> Results:
    result: Results = {}
    chosen = side.one_hot(words, 0, s.vocabulary, "rows of words")
    result["words"] = chosen
    result["x"] = x = side.einsum("bv,vk->bk", [chosen, table], "embedding")
    result["h"] = h = side.einsum("bk,nk->bn", [x, weight], "layer")
    logits = side.einsum("bk,vk->bv", [h, table], "logits")
    result["logits"] = logits
    result["targets"] = target = side.one_hot(targets, 0, s.vocabulary, "rows of targets")
    highest = side.reduce("maximum", logits, [1], "maximum", keep=True)
    result["highest"] = highest
    shifted = side.subtract(logits, highest, "shifted logits")
    exponentials = side.unary("exp", shifted, "exponentials")
    total = side.reduce("sum", exponentials, [1], "sum of exponentials", keep=True)
    result["total"] = total
    own = side.einsum("bv,bv->b", [target, shifted], "logit of target")
    losses = side.subtract(
        side.unary("log", side.reshape(total, (s.batch,), "sum of exponentials"), "logarithm"),
        own,
        "loss of token",
    )
    result["losses"] = losses
    result["loss"] = side.scale(
        side.reduce("sum", losses, [0], "loss"), Fraction(1, s.batch), "loss"
    )
    softmax = side.divide(exponentials, total, "softmax")
    change = result["change of sum"] = side.subtract(softmax, target, "gradient of logits")
    change = result["change"] = side.scale(change, Fraction(1, s.batch), "mean over tokens")
    out = side.einsum("bv,bk->vk", [change, h], "gradient of output layer")
    back = result["back"] = side.einsum("bv,vk->bk", [change, table], "gradient of hidden")
    result["W"] = side.einsum("bn,bk->nk", [back, x], "gradient of W")
    back = side.einsum("bn,nk->bk", [back, weight], "backward of layer")
    rows = side.einsum("bv,bk->vk", [chosen, back], "gradient of embedding")
    result["E"] = side.add(out, rows, "gradient of E")
    return result


class _Plan:
    """Writes the plan of all ranks."""

    def __init__(
        self, graph: Graph, settings: Vocabulary, mistake: Mistake, results: Results
    ) -> None:
        self.graph = graph
        self.settings = s = settings
        self.mistake = mistake
        self.results = results
        self.rows = [rows for rows in shard_rows(s.vocabulary, s.ranks) if rows[0] < rows[1]]
        if len(self.rows) < s.ranks:
            raise ImpossibleStepError(f"{s.ranks} ranks cannot divide {s.vocabulary} words")
        self.domains: list[Domain] = [{"device": rank} for rank in range(s.ranks)]
        self.sides = [graph.on(domain) for domain in self.domains]
        self.everywhere: Domain = {"device": (0, s.ranks)}

    def _tokens(self, value: Tensor, columns: tuple[int, int] | None = None) -> Lineage:
        """The tokens of a replica; of the vocabulary some columns."""
        first: Lineage = (("dp", (0, self.settings.tokens, self.settings.tokens)),)
        if columns is None:
            return (*first, *whole(value.shape)[1:])
        return (*first, ((*columns, self.settings.vocabulary),))

    def _lemma(self, name: str, values: Sequence[Tensor], *, divided: bool = False) -> None:
        """Each rank has the tensor of the reference, or its columns."""
        for rank, value in enumerate(values):
            columns = self.rows[rank] if divided else None
            lineage = self._tokens(value, columns)
            self.graph.expect(value, self.results[name], lineage, self.domains[rank])

    def _all_reduce(self, values: Sequence[Tensor], name: str, kind: str = "") -> list[Tensor]:
        """The sum over ranks, on each of them."""
        return [side.all_reduce(values, [], name, kind) for side in self.sides]

    def _one_hot(self, value: Tensor, name: str, *, bug: str) -> list[Tensor]:
        """1 where a word is one of the rank's, at its row."""
        result = []
        for side, (start, end) in zip(self.sides, self.rows, strict=True):
            first = 0 if self.mistake.is_here(bug, where=start > 0) else start
            result.append(side.one_hot(value, first, end - start, name))
        return result

    def make(self, words: Tensor, targets: Tensor, table: Tensor, weight: Tensor) -> None:
        """Forward, backward and claims."""
        graph, mistake, sides = self.graph, self.mistake, self.sides
        s = self.settings
        words = graph.distribute(words, self._tokens(words), self.everywhere)
        targets = graph.distribute(targets, self._tokens(targets), self.everywhere)
        local_weight = graph.distribute(weight, whole(weight.shape), self.everywhere)
        tables = [
            graph.distribute(table, part(table.shape, 0, *rows), domain)
            for rows, domain in zip(self.rows, self.domains, strict=True)
        ]
        chosen = self._one_hot(words, "rows of words", bug="words-counted-from-zero")
        self._lemma("words", chosen, divided=True)
        terms = [
            side.einsum("bv,vk->bk", [rows, own], "embedding")
            for side, rows, own in zip(sides, chosen, tables, strict=True)
        ]
        x = self._all_reduce(terms, "all-reduce of embeddings")
        self._lemma("x", x)
        h = [
            side.einsum("bk,nk->bn", [value, local_weight], "layer")
            for side, value in zip(sides, x, strict=True)
        ]
        self._lemma("h", h)
        logits = [
            side.einsum("bk,vk->bv", [value, own], "logits")
            for side, value, own in zip(sides, h, tables, strict=True)
        ]
        self._lemma("logits", logits, divided=True)
        target = self._one_hot(targets, "rows of targets", bug="targets-counted-from-zero")
        self._lemma("targets", target, divided=True)
        change = self._cross_entropy(logits, target)
        out = [
            side.einsum("bv,bk->vk", [value, own], "gradient of output layer")
            for side, value, own in zip(sides, change, h, strict=True)
        ]
        back = [
            side.einsum("bv,vk->bk", [value, own], "gradient of hidden")
            for side, value, own in zip(sides, change, tables, strict=True)
        ]
        if not mistake.is_here("gradient-of-hidden-not-reduced", where=s.ranks > 1):
            back = self._all_reduce(back, "all-reduce of gradient of hidden")
        self._lemma("back", back)
        for rank, side in enumerate(sides):
            gradient = side.einsum("bn,bk->nk", [back[rank], x[rank]], "gradient of W")
            gradient = side.all_reduce([gradient], ["dp"], "reduction of W")
            domain = self.domains[rank]
            graph.expect(
                gradient, self.results["W"], whole(weight.shape), domain, ("gradient", "W")
            )
            inner = side.einsum("bn,nk->bk", [back[rank], local_weight], "backward of layer")
            rows = side.einsum("bv,bk->vk", [chosen[rank], inner], "gradient of embedding")
            both = side.add(out[rank], rows, "gradient of E")
            if mistake.is_here("tied-gradient-added-twice"):
                both = side.add(both, rows, "gradient of E")
            both = side.all_reduce([both], ["dp"], "reduction of E")
            lineage = part(table.shape, 0, *self.rows[rank])
            graph.expect(both, self.results["E"], lineage, domain, ("gradient", "E"))

    def _cross_entropy(self, logits: list[Tensor], target: list[Tensor]) -> list[Tensor]:
        """The gradient of the logits of each rank; claims the loss."""
        s, mistake, sides = self.settings, self.mistake, self.sides
        highest = [
            side.reduce("maximum", value, [1], "maximum", keep=True)
            for side, value in zip(sides, logits, strict=True)
        ]
        if not mistake.is_here("maximum-of-own-columns", where=s.ranks > 1):
            highest = self._all_reduce(highest, "all-reduce of maxima", "maximum")
        self._lemma("highest", highest)
        shifted = [
            side.subtract(value, most, "shifted logits")
            for side, value, most in zip(sides, logits, highest, strict=True)
        ]
        exponentials = [
            side.unary("exp", value, "exponentials")
            for side, value in zip(sides, shifted, strict=True)
        ]
        totals = [
            side.reduce("sum", value, [1], "sum of exponentials", keep=True)
            for side, value in zip(sides, exponentials, strict=True)
        ]
        if not mistake.is_here("sum-of-own-columns", where=s.ranks > 1):
            totals = self._all_reduce(totals, "all-reduce of sums")
        self._lemma("total", totals)
        own = [
            side.einsum("bv,bv->b", [rows, value], "logit of target")
            for side, rows, value in zip(sides, target, shifted, strict=True)
        ]
        own = self._all_reduce(own, "all-reduce of logits of targets")
        result = []
        losses = []
        for rank, side in enumerate(sides):
            total = side.reshape(totals[rank], (s.tokens,), "sum of exponentials")
            losses.append(
                side.subtract(side.unary("log", total, "logarithm"), own[rank], "loss of token")
            )
            softmax = side.divide(exponentials[rank], totals[rank], "softmax")
            rows = target[rank]
            change = side.subtract(softmax, rows, "gradient of logits")
            if mistake.is_here("gradient-only-at-targets", where=s.ranks > 1):
                has_target = side.reduce("sum", rows, [1], "gradient of logits", keep=True)
                change = side.multiply(change, has_target, "gradient of logits")
            result.append(change)
        self._lemma("losses", losses)
        self._lemma("change of sum", result, divided=True)
        result = [
            side.scale(value, Fraction(1, s.batch), "mean over tokens")
            for side, value in zip(sides, result, strict=True)
        ]
        for rank, side in enumerate(sides):
            loss = side.reduce("sum", losses[rank], [0], "loss")
            loss = side.all_reduce([loss], ["dp"], "all-reduce of loss")
            divisor = s.batch
            if mistake.is_here("loss-of-own-tokens", where=s.replicas > 1):
                divisor = s.tokens
            loss = side.scale(loss, Fraction(1, divisor), "mean loss")
            self.graph.expect(
                loss, self.results["loss"], (), self.domains[rank], ("output", "loss")
            )
        self._lemma("change", result, divided=True)
        return result
