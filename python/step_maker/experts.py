# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Experts that ranks divide, with all-to-alls at a fixed capacity.

As in GShard (Lepikhin et al., 2020, arXiv 2006.16668) each group of tokens has `c` slots of
each expert. A token names an expert and a slot; a slot that does not exist drops it. The
result is that of the expert, `tanh(x W1') W2'`, times the router's probability of it. Each
rank of each replica (mesh axis `dp`) has one group, and its range of the experts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from step_maker.bugs import Mistake
from step_maker.graph import Domain, Graph, ImpossibleStepError, Side, Tensor, part, whole
from step_maker.lineage import Lineage

Results = dict[str, Tensor]
# Dimensions of what experts work on: experts, groups, slots, features.
EXPERTS, GROUPS = 0, 1


@dataclass(frozen=True)
class Experts:
    """Sizes and strategy."""

    replicas: int = 2
    ranks: int = 2
    tokens: int = 3
    experts: int = 4
    capacity: int = 2
    features: int = 3
    inner: int = 2

    @property
    def groups(self) -> int:
        """Groups of tokens."""
        return self.replicas * self.ranks

    @property
    def own(self) -> int:
        """Experts of a rank."""
        return self.experts // self.ranks


def make_experts(settings: Experts, mistake: Mistake) -> Graph:
    """Both programs and the claims."""
    s = settings
    if s.experts % s.ranks:
        raise ImpossibleStepError(f"{s.ranks} ranks cannot divide {s.experts} experts")
    graph = Graph("step", {"dp": s.replicas, "device": s.ranks})
    tokens = (s.groups, s.tokens)
    given = {
        "x": graph.input("x", (*tokens, s.features)),
        "expert": graph.input("expert", tokens, element="i64"),
        "slot": graph.input("slot", tokens, element="i64"),
        "gradient of y": graph.input("gradient of y", (*tokens, s.features)),
    }
    graph.draw_below("expert", s.experts)
    graph.draw_below("slot", s.capacity + 1)
    shapes = {
        "router": (s.experts, s.features),
        "W1": (s.experts, s.inner, s.features),
        "W2": (s.experts, s.features, s.inner),
    }
    for name, shape in shapes.items():
        given[name] = graph.input(name, shape, role="parameter")
    side = graph.reference()
    routed = route(side, s, given)
    sent = side.einsum("gsec,gsm->egcm", [routed["dispatch"], given["x"]], "dispatch")
    worked = work(side, sent, given["W1"], given["W2"])
    results = routed | worked | {"sent": sent}
    results |= combine(side, given, routed, worked["out"])
    results |= work_back(side, results, given["W1"], given["W2"])
    results |= route_back(side, given, results)
    _Plan(graph, s, mistake, given, results).make()
    return graph


# ---- What both programs do ----


def route(side: Side, s: Experts, given: Mapping[str, Tensor]) -> Results:
    """Probabilities of experts, and where tokens go: one slot of one expert, or none."""
    logits = side.einsum("gsm,em->gse", [given["x"], given["router"]], "router")
    exponentials = side.unary("exp", logits, "probabilities")
    total = side.reduce("sum", exponentials, [2], "probabilities", keep=True)
    chosen = side.one_hot(given["expert"], 0, s.experts, "choice of expert")
    slots = side.one_hot(given["slot"], 0, s.capacity, "choice of slot")
    dispatch = side.einsum("gse,gsc->gsec", [chosen, slots], "choices")
    p = side.divide(exponentials, total, "probabilities")
    weights = side.einsum("gse,gsec->gsec", [p, dispatch], "weights")
    return {"p": p, "dispatch": dispatch, "weights": weights}


def work(side: Side, sent: Tensor, first: Tensor, second: Tensor) -> Results:
    """The experts."""
    hidden = side.unary(
        "tanh", side.einsum("egcm,efm->egcf", [sent, first], "first layer"), "activation"
    )
    return {"h": hidden, "out": side.einsum("egcf,emf->egcm", [hidden, second], "second layer")}


def combine(
    side: Side, given: Mapping[str, Tensor], routed: Mapping[str, Tensor], out: Tensor
) -> Results:
    """Results of tokens, and the gradients of what experts gave and of weights."""
    back = given["gradient of y"]
    weights = routed["weights"]
    return {
        "y": side.einsum("gsec,egcm->gsm", [weights, out], "combination"),
        "gradient of out": side.einsum("gsec,gsm->egcm", [weights, back], "gradient of results"),
        "gradient of weights": side.einsum("gsm,egcm->gsec", [back, out], "gradient of weights"),
    }


def work_back(side: Side, at: Mapping[str, Tensor], first: Tensor, second: Tensor) -> Results:
    """Gradients of the experts."""
    hidden, back = at["h"], at["gradient of out"]
    result = {"gradient of W2": side.einsum("egcm,egcf->emf", [back, hidden], "gradient of W2")}
    inner = side.einsum("egcm,emf->egcf", [back, second], "backward of second layer")
    slope = side.subtract(side.constant(1), side.square(hidden, "slope"), "slope")
    inner = side.multiply(inner, slope, "backward of activation")
    result["gradient of W1"] = side.einsum("egcf,egcm->efm", [inner, at["sent"]], "gradient of W1")
    result["gradient of sent"] = side.einsum(
        "egcf,efm->egcm", [inner, first], "backward of first layer"
    )
    return result


def route_back(side: Side, given: Mapping[str, Tensor], at: Mapping[str, Tensor]) -> Results:
    """Gradients of the router and of tokens."""
    p = at["p"]
    change = side.einsum(
        "gsec,gsec->gse", [at["gradient of weights"], at["dispatch"]], "gradient of probabilities"
    )
    mean = side.einsum("gse,gse->gs", [p, change], "mean gradient")
    mean = side.reshape(mean, (*mean.shape, 1), "mean gradient")
    change = side.subtract(change, mean, "gradient of logits")
    change = side.multiply(p, change, "gradient of logits")
    router = side.einsum("gse,gsm->em", [change, given["x"]], "gradient of router")
    direct = side.einsum("gse,em->gsm", [change, given["router"]], "gradient by the router")
    through = side.einsum(
        "gsec,egcm->gsm", [at["dispatch"], at["gradient of sent"]], "gradient by experts"
    )
    return {
        "gradient of router": router,
        "gradient of x": side.add(direct, through, "gradient of x"),
    }


# ---- The plan ----


class _Plan:
    """Writes the plan of all ranks."""

    def __init__(
        self,
        graph: Graph,
        settings: Experts,
        mistake: Mistake,
        given: Results,
        results: Results,
    ) -> None:
        self.graph = graph
        self.settings = settings
        self.mistake = mistake
        self.given = given
        self.results = results
        self.domains: list[Domain] = [{"device": rank} for rank in range(settings.ranks)]
        self.sides = [graph.on(domain) for domain in self.domains]

    def _group(self, rank: int, shape: Sequence[int]) -> Lineage:
        """The group of a rank, of a tensor that begins with groups."""
        first: Lineage = (("dp", (rank, rank + 1, self.settings.ranks)),)
        return (*first, *whole(tuple(shape))[1:])

    def _slots(self, rank: int, reference: Tensor) -> Lineage:
        """The experts of a rank, with the groups of all ranks."""
        s = self.settings
        own = ((rank * s.own, (rank + 1) * s.own, s.experts),)
        groups = ("dp", (0, s.ranks, s.ranks))
        return (own, groups, *whole(reference.shape)[2:])

    def _all_groups(self, rank: int, reference: Tensor) -> Lineage:
        """The group of a rank, with all experts."""
        experts, _, *rest = whole(reference.shape)
        return (experts, ("dp", (rank, rank + 1, self.settings.ranks)), *rest)

    def make(self) -> None:
        """Forward, backward and claims."""
        s, graph, sides = self.settings, self.graph, self.sides
        held: list[Results] = []
        for rank, domain in enumerate(self.domains):
            own = {
                name: graph.distribute(
                    self.given[name], self._group(rank, self.given[name].shape), domain
                )
                for name in ("x", "expert", "slot", "gradient of y")
            }
            router = self.given["router"]
            own["router"] = graph.distribute(router, whole(router.shape), domain)
            for name in ("W1", "W2"):
                weight = self.given[name]
                rows = part(weight.shape, 0, rank * s.own, (rank + 1) * s.own)
                own[name] = graph.distribute(weight, rows, domain)
            held.append(own)
        for side, own in zip(sides, held, strict=True):
            own |= route(side, s, own)
            own["parts"] = side.einsum("gsec,gsm->egcm", [own["dispatch"], own["x"]], "dispatch")
        sent = self._to_experts("sent", [own["parts"] for own in held], "all-to-all of tokens")
        for rank, side in enumerate(sides):
            held[rank] |= work(side, sent[rank], held[rank]["W1"], held[rank]["W2"])
            held[rank]["sent"] = sent[rank]
        out = self._to_groups("out", [own["out"] for own in held], "all-to-all of results")
        for rank, side in enumerate(sides):
            own = held[rank]
            self._combine(side, rank, own, out[rank])
        back = [own["gradient of out"] for own in held]
        back = self._to_experts("gradient of out", back, "all-to-all of gradients of results")
        for rank, side in enumerate(sides):
            held[rank]["gradient of out"] = back[rank]
            held[rank] |= work_back(side, held[rank], held[rank]["W1"], held[rank]["W2"])
        back = [own["gradient of sent"] for own in held]
        back = self._to_groups("gradient of sent", back, "all-to-all of gradients of tokens")
        for rank, side in enumerate(sides):
            own = held[rank]
            own["gradient of sent"] = back[rank]
            own |= route_back(side, own, own)
            lineage = self._group(rank, own["x"].shape)
            self._claim("gradient of x", own["gradient of x"], lineage, rank, ("output", "dx"))
        self._reduce(held)

    def _combine(self, side: Side, rank: int, own: Results, out: Tensor) -> None:
        used = own
        if self.mistake.is_here("weights-of-other-tokens", where=self.settings.tokens > 1):
            weights = own["weights"]
            first = side.slice(weights, 1, 0, 1, "weights of tokens")
            rest = side.slice(weights, 1, 1, weights.shape[1], "weights of tokens")
            used = own | {"weights": side.concat([rest, first], 1, "weights of tokens")}
        if self.mistake.is_here("combined-without-probabilities"):
            used = own | {"weights": own["dispatch"]}
        own |= combine(side, own, used, out)
        lineage = self._group(rank, own["y"].shape)
        self._claim("y", own["y"], lineage, rank, ("output", "y"))

    def _claim(
        self, name: str, value: Tensor, lineage: Lineage, rank: int, claim: tuple[str, str]
    ) -> None:
        reference = self.results[name]
        self.graph.expect(value, reference, lineage, self.domains[rank])
        self.graph.expect(value, reference, lineage, self.domains[rank], claim)

    def _to_experts(self, name: str, parts: list[Tensor], op: str) -> list[Tensor]:
        """Each rank gets the slots of its experts from all ranks."""
        s, mistake, result = self.settings, self.mistake, []
        reference = self.results[name]
        for rank, side in enumerate(self.sides):
            expert = rank
            if name == "sent" and mistake.is_here("tokens-to-next-rank", where=s.ranks > 1):
                expert = (rank + 1) % s.ranks
            received = [
                sender.slice(value, EXPERTS, expert * s.own, (expert + 1) * s.own, op)
                for sender, value in zip(self.sides, parts, strict=True)
            ]
            is_mixed = name == "sent" and s.own > 1 and s.ranks > 1
            if mistake.is_here("groups-joined-along-experts", where=is_mixed):
                value = side.all_gather(received, EXPERTS, op)
                shape = (s.own, s.ranks, *value.shape[2:])
                result.append(side.reshape(value, shape, op))
            else:
                result.append(side.all_gather(received, GROUPS, op))
            lineage = self._slots(rank, reference)
            self.graph.expect(result[-1], reference, lineage, self.domains[rank])
        return result

    def _to_groups(self, name: str, parts: list[Tensor], op: str) -> list[Tensor]:
        """Each rank gets the slots of its tokens from the ranks of all experts."""
        s, result = self.settings, []
        reference = self.results[name]
        for rank, side in enumerate(self.sides):
            received = [
                sender.slice(value, GROUPS, rank, rank + 1, op)
                for sender, value in zip(self.sides, parts, strict=True)
            ]
            is_wrong = name == "out" and s.ranks > 1
            if self.mistake.is_here("results-in-another-order", where=is_wrong):
                received = [*received[1:], received[0]]
            result.append(side.all_gather(received, EXPERTS, op))
            lineage = self._all_groups(rank, reference)
            self.graph.expect(result[-1], reference, lineage, self.domains[rank])
        return result

    def _reduce(self, held: Sequence[Results]) -> None:
        """Gradients of the router are of all ranks, those of an expert of its replicas."""
        s, mistake, given = self.settings, self.mistake, self.given
        routers = [own["gradient of router"] for own in held]
        for rank, side in enumerate(self.sides):
            terms = routers
            if mistake.is_here("router-reduced-over-replicas-only", where=s.ranks > 1):
                terms = [routers[rank]]
            value = side.all_reduce(terms, ["dp"], "reduction of router")
            lineage = whole(given["router"].shape)
            self._claim("gradient of router", value, lineage, rank, ("gradient", "router"))
            for name in ("W1", "W2"):
                terms = [held[rank][f"gradient of {name}"]]
                if mistake.is_here("experts-reduced-over-all-ranks", where=s.ranks > 1):
                    terms = [own[f"gradient of {name}"] for own in held]
                value = side.all_reduce(terms, ["dp"], f"reduction of {name}")
                rows = part(given[name].shape, 0, rank * s.own, (rank + 1) * s.own)
                self._claim(f"gradient of {name}", value, rows, rank, ("gradient", name))
