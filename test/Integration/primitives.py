# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes plans that sum over four devices in other ways than by an all-reduce.

usage: primitives.py WAY OUTPUT REFERENCE

In each forward adapter the primitive that sums becomes several. A WAY that ends in
`-wrong` differs in one primitive, keyword or tensor from the one without.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from plan_maker.bugs.place import Place, nodes_at
from plan_maker.bugs.rewriting import next_tensor, replace_nodes
from plan_maker.emit import write_plan
from plan_maker.graph import Adapter, Constant, Keyword, Plan, Primitive, Range, SubTensor
from plan_maker.strategy.configuration import MlpSizes, Parallelism
from plan_maker.strategy.mlp import make_mlp

RANKS = (0, 1, 2, 3)
Keywords = dict[str, Constant]


@dataclass
class Site:
    """An adapter that sums, on one device; makes tensors for what lies between."""

    device: int
    term: SubTensor
    total: SubTensor
    is_wrong: bool
    next_number: int

    def tensor(self, parts: dict[int, Range] | None = None, part: Range = (0, 1)) -> SubTensor:
        """What is summed, or a part of it: ranges by dimension; or a term of it."""
        slices = tuple(
            (parts or {}).get(dimension, bounds)
            for dimension, bounds in enumerate(self.total.slices)
        )
        self.next_number += 1
        return replace(
            self.total, identifier=self.next_number, slices=slices, part=part, gradient=None
        )

    def half(self, number: int) -> SubTensor:
        """Half of the columns: the loss does not tell rows apart, but columns."""
        return self.share(number, 2, dimension=1)

    def share(self, number: int, count: int, dimension: int = 0) -> SubTensor:
        """One of some parts."""
        start, end = self.total.slices[dimension]
        size = (end - start) // count
        bounds = start + number * size, start + (number + 1) * size
        return self.tensor({dimension: bounds})


def primitive(
    name: str,
    inputs: tuple[SubTensor, ...],
    outputs: tuple[SubTensor, ...],
    keywords: Keywords | None = None,
) -> Primitive:
    """A primitive with keywords."""
    return Primitive(name, inputs, outputs, by_keywords(keywords or {}))


def by_keywords(keywords: Keywords) -> tuple[Keyword, ...]:
    """Keywords as a primitive has them."""
    return tuple(Keyword(key, value) for key, value in keywords.items())


def transfer(tensor: SubTensor, keywords: Keywords) -> Keywords:
    """Keywords of what makes room for a tensor."""
    kind: Constant = str(tensor.full.element_type)
    return {"shape": tensor.shape, "dtype": kind} | keywords


def by_scattering(site: Site) -> list[Primitive]:
    """A reduce-scatter and an all-gather; if wrong, nothing is summed."""
    part = site.share(site.device, 4)
    along: Keywords = {"dim": 0, "ranks": RANKS}
    first = "ChunkPrim" if site.is_wrong else "ReduceScatterPrim"
    return [
        primitive(first, (site.term,), (part,), along),
        primitive("AllGatherPrim", (part,), (site.total,), along),
    ]


def by_shuffled_ranks(site: Site) -> list[Primitive]:
    """As by scattering, and what gathers names its ranks in another order: it goes by
    their numbers.
    """
    scatter, gather = by_scattering(site)
    shuffled: Keywords = {"dim": 0, "ranks": (2, 0, 3, 1)}
    return [scatter, replace(gather, keywords=by_keywords(shuffled))]


def by_turning(site: Site) -> list[Primitive]:
    """An all-reduce whose rows become columns and rows again; if wrong, columns are
    exchanged for columns.
    """
    whole, part, turned = site.tensor(), site.share(site.device, 4), site.share(site.device, 4)
    columns = site.share(site.device, 4, dimension=1)

    def exchange(before: SubTensor, after: SubTensor, joined: int, cut: int) -> Primitive:
        keywords: Keywords = {"idim": joined, "odim": cut, "ranks": RANKS}
        return primitive("AllToAllPrim", (before,), (after,), keywords)

    there_and_back = [exchange(part, columns, 0, -1), exchange(columns, turned, -1, -2)]
    return [
        primitive("AllReducePrim", (site.term,), (whole,), {"ranks": RANKS}),
        primitive("ChunkPrim", (whole,), (part,), {"dim": -2, "ranks": RANKS}),
        *([exchange(part, turned, 1, 1)] if site.is_wrong else there_and_back),
        primitive("AllGatherPrim", (turned,), (site.total,), {"dim": -2, "ranks": RANKS}),
    ]


def by_sums(site: Site) -> list[Primitive]:
    """Each device sends its term to all others and adds what it gets."""
    primitives, terms = [], []
    for source in RANKS:
        for target in RANKS:
            keywords = transfer(site.total, {"src": source, "dst": target})
            if source == target or site.device not in (source, target):
                continue
            if source == site.device:
                primitives.append(primitive("MovePrim", (site.term,), (), keywords))
                continue
            term = site.tensor(part=(source, 4))
            primitives.append(primitive("MovePrim", (), (term,), keywords))
            terms.append(term)
    if site.is_wrong:
        terms[0] = terms[1]
    return [*primitives, primitive("SumPrim", (site.term, *terms), (site.total,))]


def by_reducing(site: Site) -> list[Primitive]:
    """A sum on device 0, halves of it on 2 and 1, together on 3, and from there to all."""
    whole, moved = site.tensor(), site.tensor()
    halves = (1, 2) if site.is_wrong else (2, 1)
    is_root, is_last = site.device == 0, site.device == 3
    primitives = [
        primitive(
            "ReducePrim", (site.term,), (whole,) if is_root else (), {"dst": 0, "ranks": RANKS}
        )
    ]
    part = site.half(2 - site.device) if site.device in (1, 2) else None
    parts = (part,) if part else ()
    scattered = transfer(whole, {"dim": 1, "src": 0, "dsts": halves})
    gathered = transfer(site.half(0), {"dim": 1, "srcs": (2, 1), "dst": 3})
    if not is_last:
        given = (whole,) if is_root else ()
        primitives.append(primitive("RDScatterPrim", given, parts, scattered))
    if not is_root:
        given = (moved,) if is_last else ()
        primitives.append(primitive("RDGatherPrim", parts, given, gathered))
    everywhere = transfer(site.total, {"src": 3, "ranks": RANKS})
    source = (moved,) if is_last else ()
    return [*primitives, primitive("BroadcastPrim", source, (site.total,), everywhere)]


def by_selecting(site: Site) -> list[Primitive]:
    """An all-reduce whose halves are cut out and joined again."""
    whole, halves = site.tensor(), [site.half(0), site.half(1)]
    rows, columns = whole.shape
    size = columns // 2
    primitives = [primitive("AllReducePrim", (site.term,), (whole,), {"ranks": RANKS})]
    for number, half in enumerate(halves):
        bounds = slice(number * size, (number + 1) * size)
        keywords: Keywords = {"indmap": (slice(0, rows), bounds), "valmap": 1}
        primitives.append(primitive("SelectPrim", (whole,), (half,), keywords))
    if site.is_wrong:
        halves.reverse()
    merged = primitive("MergeDimPrim", tuple(halves), (site.total,), {"dim": -1})
    return [*primitives, merged]


def by_dividing(site: Site) -> list[Primitive]:
    """A quarter of the all-reduced tensor on each device, summed up again."""
    whole, quarter = site.tensor(), site.tensor(part=(site.device, 4))
    ranges = tuple(slice(0, length) for length in whole.shape)
    keywords: Keywords = {"indmap": ranges, "valmap": 2 if site.is_wrong else 4}
    return [
        primitive("AllReducePrim", (site.term,), (whole,), {"ranks": RANKS}),
        primitive("SelectPrim", (whole,), (quarter,), keywords),
        primitive("AllReducePrim", (quarter,), (site.total,), {"ranks": RANKS}),
    ]


def by_meeting(site: Site, name: str, keywords: Keywords) -> list[Primitive]:
    """An all-reduce, and a collective with a root beside a message: device 1 sends it to
    device 2, which waits for it before it takes part; if wrong, device 1 sends it after
    it has taken part, and the two wait for each other.
    """
    whole, moved = site.tensor(), site.tensor()
    is_root = site.device == 0
    gives = is_root or name == "ReducePrim"
    takes = is_root or name == "BroadcastPrim"
    other = site.tensor()
    meet = primitive(
        name, (whole,) if gives else (), (other,) if takes else (), keywords | {"ranks": RANKS}
    )
    message: Primitive | None = None
    route = transfer(whole, {"src": 1, "dst": 2})
    if site.device == 1:
        message = primitive("MovePrim", (whole,), (), route)
    elif site.device == 2:
        message = primitive("MovePrim", (), (moved,), route)
    order = [message, meet] if message else [meet]
    if site.is_wrong and site.device == 1:
        order.reverse()
    last = primitive("IdentityPrim", (whole,), (site.total,))
    return [primitive("AllReducePrim", (site.term,), (whole,), {"ranks": RANKS}), *order, last]


def by_broadcast_order(site: Site) -> list[Primitive]:
    """Meets in a broadcast."""
    return by_meeting(site, "BroadcastPrim", transfer(site.total, {"src": 0}))


def by_reduction_order(site: Site) -> list[Primitive]:
    """Meets in a sum that one device keeps."""
    return by_meeting(site, "ReducePrim", {"dst": 0})


def by_reduction_roots(site: Site) -> list[Primitive]:
    """The same, where device 0 has the sum; if wrong, device 1 says it is its own."""
    ordered = replace(site, is_wrong=False)
    primitives = by_reduction_order(ordered)
    site.next_number = ordered.next_number
    if site.is_wrong and site.device == 1:
        number = next(i for i, each in enumerate(primitives) if each.name == "ReducePrim")
        keywords = by_keywords({"dst": 1, "ranks": RANKS})
        primitives[number] = replace(
            primitives[number], outputs=(site.tensor(),), keywords=keywords
        )
    return primitives


def by_value_scatter(site: Site) -> list[Primitive]:
    """A primitive that the runtime cannot execute."""
    keywords = transfer(site.total, {"src": 0, "dst": RANKS[1:]})
    return [primitive("RVScatterPrim", (site.term,), (site.total,), keywords)]


def by_scattering_to_itself(site: Site) -> list[Primitive]:
    """A device that is among those it sends to."""
    keywords = transfer(site.total, {"dim": 0, "src": 0, "dsts": RANKS})
    part = site.share(site.device, 4)
    return [
        primitive("RDScatterPrim", (site.term,), (part,), keywords),
        primitive("AllGatherPrim", (part,), (site.total,), {"dim": 0, "ranks": RANKS}),
    ]


def by_selecting_outside(site: Site) -> list[Primitive]:
    """Columns that are not there."""
    rows, columns = site.total.shape
    keywords: Keywords = {"indmap": (slice(0, rows), slice(1, columns + 1)), "valmap": 1}
    return [primitive("SelectPrim", (site.term,), (site.total,), keywords)]


def by_reducing_twice(site: Site) -> list[Primitive]:
    """A collective of two tensors."""
    return [primitive("AllReducePrim", (site.term, site.term), (site.total,), {"ranks": RANKS})]


WAYS: dict[str, Callable[[Site], list[Primitive]]] = {
    "scatter": by_scattering,
    "shuffled": by_shuffled_ranks,
    "turn": by_turning,
    "sum": by_sums,
    "reduce": by_reducing,
    "select": by_selecting,
    "divide": by_dividing,
    "broadcast-order": by_broadcast_order,
    "reduction-order": by_reduction_order,
    "reduction-roots": by_reduction_roots,
    "value-scatter": by_value_scatter,
    "to-itself": by_scattering_to_itself,
    "outside": by_selecting_outside,
    "two-tensors": by_reducing_twice,
}


def rewrite(plan: Plan, way: str) -> Plan:
    """The plan in which forward adapters sum in this way."""
    changed = {}
    found = list(nodes_at(plan, Place(), lambda node: isinstance(node, Adapter)))
    mirrors = {
        (each.device, each.node.mirror): each.node
        for each in found
        if isinstance(each.node, Adapter)
    }
    number = next_tensor(plan)
    for located in found:
        adapter = located.node
        assert isinstance(adapter, Adapter)
        if not adapter.is_forward or adapter.primitives[0].name != "AllReduceIdentityPrim":
            continue
        (term,), (total,) = adapter.inputs, adapter.outputs
        is_wrong = way.endswith("-wrong")
        site = Site(located.device, term, total, is_wrong, number)
        primitives = WAYS[way.removesuffix("-wrong")](site)
        number = site.next_number
        # The runtime makes one function of a custom adapter and its mirror, so the
        # mirror has the gradient's own primitive: an identity.
        custom = replace(adapter, primitives=tuple(primitives), is_custom=True)
        changed[located.device, adapter.identifier] = (custom,)
        mirror = mirrors[located.device, adapter.identifier]
        identity = Primitive("IdentityPrim", mirror.inputs, mirror.outputs, ())
        mirror = replace(mirror, primitives=(identity,), is_custom=True)
        changed[located.device, mirror.identifier] = (mirror,)
    assert changed, "no adapter sums"
    return replace_nodes(plan, changed)


def sum_twice(plan: Plan, is_wrong: bool) -> Plan:
    """Sums of values that are followed by sums of gradients: one primitive does both.

    What summed the gradients becomes an identity; not if `is_wrong`.
    """
    found = [
        (located.device, located.node)
        for located in nodes_at(plan, Place(), lambda node: isinstance(node, Adapter))
        if isinstance(located.node, Adapter)
    ]
    summed = {
        adapter.primitives[0].inputs[0].full.identifier
        for _, adapter in found
        if adapter.primitives[0].name == "IdentityAllreducePrim"
    }
    changed = {}
    for device, adapter in found:
        (old,) = adapter.primitives
        if old.inputs[0].full.identifier not in summed:
            continue
        if old.name == "AllReduceIdentityPrim":
            new = replace(old, name="AllReduceAllReducePrim")
        elif is_wrong:
            continue
        else:
            new = Primitive("IdentityPrim", old.inputs, old.outputs, ())
        changed[device, adapter.identifier] = (replace(adapter, primitives=(new,)),)
    assert changed, "no value is summed whose gradient is summed"
    return replace_nodes(plan, changed)


def main() -> None:
    """Writes the plan and its reference."""
    way, output, reference = sys.argv[1:]
    sizes = MlpSizes(layers=4, hidden=64, batch=16)
    plan = make_mlp(sizes, Parallelism(tensor=4))
    if way.startswith("twice"):
        plan = sum_twice(plan, way.endswith("-wrong"))
    else:
        plan = rewrite(plan, way)
    write_plan(plan, Path(output))
    write_plan(make_mlp(sizes, Parallelism()), Path(reference))


if __name__ == "__main__":
    main()
