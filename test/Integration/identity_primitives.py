# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes plans whose backward adapters hold another primitive.

usage: identity_primitives.py PRIMITIVE OUTPUT REFERENCE [OTHER]

In each adapter of a backward segment, which holds its forward primitive, a
PRIMITIVE becomes `IdentityPrim` on the same tensors. With OTHER the adapter is custom,
and what it holds is OTHER on the gradients. Of several, as in
`AllReducePrim+IdentityPrim`, all but the last take the gradients and give a tensor of
the adapter's own, and the last takes that.
"""

import sys
from dataclasses import replace
from pathlib import Path

from plan_maker.bugs.place import Place, nodes_at
from plan_maker.bugs.rewriting import replace_nodes
from plan_maker.emit import write_plan
from plan_maker.graph import Adapter, Plan, Primitive, SubTensor
from plan_maker.strategy.configuration import MlpSizes, Parallelism
from plan_maker.strategy.mlp import make_mlp

# A number that no tensor of the plan has.
OWN = 999_999
# What a primitive with a backward of its own does forward.
FORWARD = {"AllReduceIdentityPrim": "AllReducePrim", "IdentityAllreducePrim": "IdentityPrim"}


def call(
    name: str, inputs: tuple[SubTensor, ...], outputs: tuple[SubTensor, ...], old: Primitive
) -> Primitive:
    """A primitive over the ranks of another one, if it communicates."""
    return Primitive(name, inputs, outputs, () if name == "IdentityPrim" else old.keywords)


def with_identities(plan: Plan, name: str, other: str) -> Plan:
    """The plan with identities in the place of backward primitives `name`."""
    changed = {}
    located = list(nodes_at(plan, Place(), lambda node: isinstance(node, Adapter)))
    forwards = {(each.device, each.node.mirror): each.node for each in located}
    for each in located:
        adapter = each.node
        assert isinstance(adapter, Adapter)
        if adapter.is_forward or adapter.primitives[0].name != name:
            continue
        (old,) = adapter.primitives
        forward = forwards[each.device, adapter.identifier]
        assert isinstance(forward, Adapter)
        identity = Primitive("IdentityPrim", old.inputs, old.outputs, ())
        new = replace(adapter, primitives=(identity,))
        if other:
            *first, last = other.split("+")
            own = (replace(adapter.inputs[0], identifier=OWN),) if first else adapter.inputs
            explicit = [call(one, adapter.inputs, own, old) for one in first]
            explicit.append(call(last, own, adapter.outputs, old))
            new = replace(adapter, primitives=tuple(explicit), is_custom=True)
            does = call(FORWARD[name], forward.inputs, forward.outputs, old)
            forward = replace(forward, primitives=(does,), is_custom=True)
            changed[each.device, forward.identifier] = (forward,)
        changed[each.device, adapter.identifier] = (new,)
    assert changed, f"no backward adapter holds {name}"
    return replace_nodes(plan, changed)


def main() -> None:
    """Writes the plan and its reference."""
    name, output, reference, *other = sys.argv[1:]
    sizes = MlpSizes(layers=4, hidden=64, batch=16)
    plan = make_mlp(sizes, Parallelism(tensor=2))
    write_plan(with_identities(plan, name, "".join(other)), Path(output))
    write_plan(make_mlp(sizes, Parallelism()), Path(reference))


if __name__ == "__main__":
    main()
