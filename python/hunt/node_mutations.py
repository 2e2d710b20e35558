# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mistakes in the nodes of a plan's segments, before the plan is pickled."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

from hunt.plan_objects import (
    NodeChange,
    change_nodes,
    nodes,
    others_like,
    readable,
    tensors,
)
from plan_maker.bugs.place import Located
from plan_maker.graph import (
    Adapter,
    BackwardOperation,
    ForwardOperation,
    Keyword,
    Plan,
    Primitive,
    SegmentNode,
    SubTensor,
)

Nodes = tuple[SegmentNode, ...] | None
ALTERNATIVES = (
    ("AllReduceIdentityPrim", "IdentityAllreducePrim", "IdentityPrim", "AllReduceAllReducePrim"),
    ("AllReducePrim", "IdentityPrim"),
    ("AllGatherSplitPrim", "AllGatherReduceScatterPrim", "AllGatherPrim"),
    ("SplitAllGatherPrim", "ReduceScatterAllGatherPrim", "ChunkPrim", "ReduceScatterPrim"),
    ("AllToAllAllToAllPrim", "AllToAllPrim"),
)


def dropped(_located: Located, _random: Random) -> Nodes:
    """The node is gone."""
    return ()


def doubled(located: Located, _random: Random) -> Nodes:
    """The node is there twice."""
    return located.node, located.node


def operand(located: Located, random: Random) -> Nodes:
    """The node reads another tensor."""
    node = located.node
    at = random.randrange(len(node.inputs)) if node.inputs else 0
    if not node.inputs or not isinstance(old := node.inputs[at], SubTensor):
        return None
    others = others_like(old, readable(located))
    return (_with_input(node, at, random.choice(others)),) if others else None


def _two_tensors(node: SegmentNode, random: Random) -> tuple[int, int] | None:
    """The places of two tensors that the node reads."""
    at = [place for place, value in enumerate(node.inputs) if isinstance(value, SubTensor)]
    if len(at) < 2:
        return None
    first, second = random.sample(at, 2)
    return first, second


def swapped(located: Located, random: Random) -> Nodes:
    """Two tensors that the node reads are exchanged."""
    node = located.node
    places = _two_tensors(node, random)
    if places is None:
        return None
    first, second = places
    inputs: list[Any] = list(node.inputs)
    inputs[first], inputs[second] = inputs[second], inputs[first]
    return (replace(node, inputs=tuple(inputs)),)


def taken_twice(located: Located, random: Random) -> Nodes:
    """The node reads one tensor twice, and perhaps its backward has one gradient for both."""
    node = located.node
    places = _two_tensors(node, random)
    if places is None:
        return None
    first, second = places
    kept = node.inputs[first]
    assert isinstance(kept, SubTensor)
    return (_with_input(node, second, kept),)


def result(located: Located, random: Random) -> Nodes:
    """The node gives another tensor, or its results are exchanged."""
    node = located.node
    if not node.outputs:
        return None
    outputs = list(node.outputs)
    at = random.randrange(len(outputs))
    after = [one for other in located.segment.nodes for one in other.outputs]
    others = others_like(outputs[at], [*readable(located), *after])
    if not others:
        return None
    other = random.choice(others)
    if other in outputs and random.random() < 0.7:
        outputs[outputs.index(other)] = outputs[at]
    outputs[at] = other
    return (replace(node, outputs=tuple(outputs)),)


def constant(located: Located, random: Random) -> Nodes:
    """A number of an op is another one."""
    node = located.node
    if not isinstance(node, ForwardOperation):
        return None
    at = [place for place, value in enumerate(node.inputs) if _is_number(value)]
    keywords = [place for place, one in enumerate(node.keywords) if _is_number(one.value)]
    if not at and not keywords:
        return None
    place = random.randrange(len(at) + len(keywords))
    if place < len(at):
        inputs: list[Any] = list(node.inputs)
        inputs[at[place]] = _other_number(inputs[at[place]], random)
        return (replace(node, inputs=tuple(inputs)),)
    own = list(node.keywords)
    old = own[keywords[place - len(at)]]
    own[keywords[place - len(at)]] = Keyword(old.name, _other_number(old.value, random))
    return (replace(node, keywords=tuple(own)),)


SIMILAR = (
    (("add", "torch.add"), ("mul", "torch.mul")),
    (
        ("silu", "torch.nn.functional.silu"),
        ("identity", "nnscaler.runtime.function.identity"),
        ("contiguous", "torch.Tensor.contiguous"),
        ("float", "torch.Tensor.float"),
    ),
    (("pow", "torch.pow"), ("div", "torch.div"), ("add", "torch.add"), ("mul", "torch.mul")),
)
KEYWORDS: dict[str, tuple[Keyword, ...]] = {
    "add": (Keyword("alpha", 1),),
    "silu": (Keyword("inplace", False),),
    "div": (Keyword("rounding_mode", None),),
}


def other_op(located: Located, random: Random) -> Nodes:
    """Another op with the same operands."""
    node = located.node
    if not isinstance(node, ForwardOperation):
        return None
    has_number = any(map(_is_number, node.inputs))
    groups = [
        group
        for group in SIMILAR
        if (node.name, node.signature) in group and (len(group) != 2 or not has_number)
    ]
    if not groups:
        return None
    others = [one for one in groups[0] if one[0] != node.name]
    name, signature = random.choice(others)
    keywords = KEYWORDS.get(name, ())
    return (replace(node, name=name, signature=signature, keywords=keywords),)


def keyword(located: Located, random: Random) -> Nodes:
    """An op lacks a keyword, or two exchange their values."""
    node = located.node
    if not isinstance(node, ForwardOperation) or not node.keywords:
        return None
    if node.name == "to":
        return None  # Without its keyword it is no op.
    own = list(node.keywords)
    at = random.randrange(len(own))
    if len(own) > 1 and random.random() < 0.5:
        other = random.randrange(len(own))
        first, second = own[at], own[other]
        own[at], own[other] = Keyword(first.name, second.value), Keyword(second.name, first.value)
    else:
        del own[at]
    return (replace(node, keywords=tuple(own)),)


def comment(located: Located, random: Random) -> Nodes:
    """An op says that it stands elsewhere in the model, which changes nothing."""
    node = located.node
    if not isinstance(node, ForwardOperation):
        return None
    others = [one for one in located.segment.nodes if isinstance(one, ForwardOperation)]
    other = random.choice(others)
    return (replace(node, comment=other.comment, modules=other.modules),)


def _is_number(value: object) -> bool:
    return isinstance(value, (bool, int, float))


def _other_number(value: Any, random: Random) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + random.choice([-1, 1, 2])
    return random.choice([value * 2, value / 2, -value, value + 1])


def no_gradient(located: Located, random: Random) -> Nodes:
    """A tensor of an op has no gradient there."""
    node = located.node
    if not isinstance(node, ForwardOperation):
        return None
    own = [one for one in (*tensors(node), *node.outputs) if one.gradient is not None]
    if not own:
        return None
    old = random.choice(own)
    new = replace(old, gradient=None)
    inputs = tuple(new if one is old else one for one in node.inputs)
    outputs = tuple(new if one is old else one for one in node.outputs)
    return (replace(node, inputs=inputs, outputs=outputs),)


def derivative(located: Located, random: Random) -> Nodes:
    """The gradients that a backward op gives are exchanged, or one of them is another one."""
    node = located.node
    if not isinstance(node, BackwardOperation) or len(node.outputs) < 2:
        return None
    outputs = list(node.outputs)
    first, second = random.sample(range(len(outputs)), 2)
    if outputs[first].shape != outputs[second].shape:
        return None
    if random.random() < 0.5:
        outputs[first] = outputs[second]
    else:
        outputs[first], outputs[second] = outputs[second], outputs[first]
    return (replace(node, outputs=tuple(outputs)),)


def declared(located: Located, random: Random) -> Nodes:
    """A tensor of the node is declared to be another part, or term, of the whole."""
    node = located.node
    own = [*tensors(node), *node.outputs]
    if not own:
        return None
    old = random.choice(own)
    if random.random() < 0.4:
        part = random.choice([(0, 1), (0, 2), (1, 2)])
        new = replace(old, part=part)
    else:
        new = shifted(old, random) or old
    if new == old:
        return None
    inputs: tuple[Any, ...] = tuple(new if one is old else one for one in node.inputs)
    outputs = tuple(new if one is old else one for one in node.outputs)
    return (replace(node, inputs=inputs, outputs=outputs),)


def shifted(tensor: SubTensor, random: Random) -> SubTensor | None:
    """The part of the same size beside a tensor, and its gradient with it."""
    places = [
        (at, start, end)
        for at, (start, end) in enumerate(tensor.slices)
        if 0 < end - start < tensor.full.shape[at]
    ]
    if not places:
        return None
    at, start, end = random.choice(places)
    size = end - start
    by = size if start == 0 else -size
    if random.random() < 0.3:
        by = 1 if end < tensor.full.shape[at] else -1
    slices = list(tensor.slices)
    slices[at] = (start + by, end + by)
    gradient = tensor.gradient
    if gradient is not None and gradient.slices == tensor.slices:
        gradient = replace(gradient, slices=tuple(slices))
    return replace(tensor, slices=tuple(slices), gradient=gradient)


def primitive(located: Located, random: Random) -> Nodes:
    """An adapter has another primitive, or one more or less."""
    node = located.node
    if not isinstance(node, Adapter):
        return None
    new = other_primitive(node, random)
    return None if new is None else (new,)


def other_primitive(node: Adapter, random: Random) -> Adapter | None:
    """The adapter with another primitive."""
    if not node.primitives:
        return None
    own = list(node.primitives)
    at = random.randrange(len(own))
    choice = random.random()
    if choice < 0.1:
        del own[at]
    elif choice < 0.2:
        own.insert(at, own[at])
    elif choice < 0.3 and len(own) > 1:
        own.reverse()
    else:
        changed = _kind(own[at], random) if choice < 0.6 else _keyword(own[at], random)
        if changed is None:
            return None
        own[at] = changed
    return replace(node, primitives=tuple(own))


def _kind(old: Primitive, random: Random) -> Primitive | None:
    names = [name for group in ALTERNATIVES if old.name in group for name in group]
    names = [name for name in names if name != old.name]
    return replace(old, name=random.choice(names)) if names else None


def _keyword(old: Primitive, random: Random) -> Primitive | None:
    keywords = list(old.keywords)
    numbers = [at for at, one in enumerate(keywords) if one.name not in ("shape", "dtype")]
    if not numbers:
        return None
    at = random.choice(numbers)
    name, value = keywords[at].name, keywords[at].value
    if name == "ranks" and isinstance(value, tuple):
        ranks = list(value)
        choice = random.random()
        if choice < 0.3:
            random.shuffle(ranks)
        elif len(ranks) > 2 and choice < 0.8:
            ranks = ranks[: len(ranks) // 2] if choice < 0.5 else ranks[::2]
        else:
            ranks.pop(random.randrange(len(ranks)))
        keywords[at] = Keyword(name, tuple(ranks))
    elif isinstance(value, int):
        keywords[at] = Keyword(name, max(value + random.choice([-1, 1]), 0))
    else:
        return None
    return replace(old, keywords=tuple(keywords))


def flag(located: Located, random: Random) -> Nodes:
    """An adapter is said to be of another direction or kind."""
    node = located.node
    if not isinstance(node, Adapter):
        return None
    name = random.choice(["is_forward", "is_differentiable", "is_custom"])
    flags: dict[str, Any] = {name: not getattr(node, name)}
    return (replace(node, **flags),)


def ends(located: Located, random: Random) -> Nodes:
    """An adapter's tensors are not those of its primitives."""
    node = located.node
    if not isinstance(node, Adapter) or not node.inputs or not node.outputs:
        return None
    is_input = random.random() < 0.5
    old = node.inputs[0] if is_input else node.outputs[0]
    others = others_like(old, readable(located))
    if not others:
        return None
    other = (random.choice(others),)
    return (replace(node, inputs=other) if is_input else replace(node, outputs=other),)


def _with_input(node: SegmentNode, at: int, tensor: SubTensor) -> SegmentNode:
    """The node that reads `tensor`; so do an adapter's primitives."""
    inputs: list[Any] = list(node.inputs)
    old = inputs[at]
    inputs[at] = tensor
    if not isinstance(node, Adapter):
        return replace(node, inputs=tuple(inputs))
    primitives = tuple(
        replace(one, inputs=tuple(tensor if value is old else value for value in one.inputs))
        for one in node.primitives
    )
    return replace(node, inputs=tuple(inputs), primitives=primitives)


CHANGES: dict[str, NodeChange] = {
    "node dropped": dropped,
    "node doubled": doubled,
    "operand": operand,
    "swapped operands": swapped,
    "one tensor twice": taken_twice,
    "result": result,
    "constant": constant,
    "other op": other_op,
    "keyword": keyword,
    "comment": comment,
    "no gradient": no_gradient,
    "derivative": derivative,
    "declared part": declared,
    "primitive": primitive,
    "flag": flag,
    "adapter's tensors": ends,
}


def mutate_node(plan: Plan, kind: str, random: Random) -> Plan | None:
    """The plan with a change of that kind at a place that is drawn."""
    located = nodes(plan)
    for place in random.sample(located, min(len(located), 60)):
        is_everywhere = random.random() < 0.5
        if new := change_nodes(plan, place, CHANGES[kind], random, is_everywhere):
            return new
    return None
