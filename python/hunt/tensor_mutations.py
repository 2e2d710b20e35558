# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mistakes in what a plan's tensors are, wherever they occur."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

from hunt.node_mutations import shifted
from hunt.plan_objects import are_alike, objects, substitute
from plan_maker.graph import FullTensor, Plan, SubTensor


def sub_tensor(plan: Plan, random: Random) -> Plan | None:
    """A tensor is, wherever it occurs, another part, another term or another one's part."""
    scope: Any = plan if random.random() < 0.5 else random.choice(plan.programs)
    found = objects(scope, SubTensor)
    parameters = [one for one in found if one.full.is_parameter]
    if parameters and random.random() < 0.5:
        found = parameters
    old = random.choice(found)
    alike = [one for one in found if one.identifier != old.identifier and are_alike(one, old)]
    new: SubTensor | None
    match random.randrange(5):
        case 0:
            new = shifted(old, random)
        case 1:
            new = replace(old, part=random.choice([(0, 1), (0, 2), (1, 2)]))
        case 2 if alike:
            new = replace(old, identifier=random.choice(alike).identifier)
        case 3 if alike:
            other = random.choice(alike)
            new = replace(old, full=other.full, slices=other.slices)
        case 4 if old.gradient is not None:
            others = [one for one in alike if one.gradient is not None]
            gradient = random.choice(others).gradient if others else None
            new = replace(old, gradient=gradient)
        case _:
            return None
    if new is None or new == old:
        return None
    changed = substitute(scope, {id(old): new})
    return changed if scope is plan else substitute(plan, {id(scope): changed})


def full_tensor(plan: Plan, random: Random) -> Plan | None:
    """A whole tensor is another one's namesake, or is said to be something else."""
    found = objects(plan, FullTensor)
    parameters = [one for one in found if one.is_parameter]
    old = random.choice(parameters if parameters and random.random() < 0.6 else found)
    alike = [one for one in found if one is not old and one.shape == old.shape]
    match random.randrange(6):
        case 0 if alike:
            new = replace(old, name=random.choice(alike).name)
        case 1 if alike:
            return substitute(plan, {id(old): random.choice(alike)})
        case 2:
            new = replace(old, is_parameter=not old.is_parameter)
        case 3:
            new = replace(old, is_loss=not old.is_loss)
        case 4 if alike:
            new = replace(old, gradient=random.choice(alike).gradient)
        case 5:
            new = replace(old, is_gradient=not old.is_gradient)
        case _:
            return None
    return substitute(plan, {id(old): new})


def swapped_parameters(plan: Plan, random: Random) -> Plan | None:
    """A device holds a parameter for another one, or another part of it."""
    program = random.choice(plan.programs)
    found = [
        one
        for one in objects(program, SubTensor)
        if one.full.is_parameter and not one.full.is_gradient
    ]
    if not found:
        return None
    old = random.choice(found)
    every = objects(plan, SubTensor)
    alike = [
        one
        for one in every
        if one.full.is_parameter
        and not one.full.is_gradient
        and one.identifier != old.identifier
        and are_alike(one, old)
    ]
    if not alike:
        return None
    new = random.choice(alike)
    changed = {id(one): new for one in found if one.identifier == old.identifier}
    if random.random() < 0.5:
        changed |= {id(one): old for one in found if one.identifier == new.identifier}
    return substitute(plan, {id(program): substitute(program, changed)})
