# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Splits of a Llama by positions.

Between the blocks, a rank has some positions of every sample: norms, additions and
whatever follows them are split along dimension 1. Within blocks:

* `megatron-sequence`: activations are gathered before column-split projections and
  reduce-scattered after row-split ones;
* `all-to-all`: attention is split by heads, and everything else by positions;
* `context`: attention is split by positions of the queries; keys and values are
  gathered. The rotary embedding's rule lets no positions be split, so each rank
  turns all of them.

The parameters of what is split by positions are whole on every rank, and each rank
has a term of their gradients.
"""

from __future__ import annotations

from collections.abc import Iterator

from plan_maker.graph import FullTensor
from plan_maker.strategy.configuration import TensorStyle
from plan_maker.strategy.stage import Split, Stage
from plan_maker.trace import Call

BY_POSITION, BY_HEADS, BY_QUERY = (0, 1), (0, 2), (0, 2)


def position_splits(stage: Stage, style: TensorStyle) -> dict[Call, Split]:
    """The calls that start a split by positions, or leave one."""
    splits: dict[Call, Split] = {
        call: None if call.name == "create_mask" else BY_POSITION
        for call in stage.calls
        if call.name == "create_mask" or _is_between_blocks(call)
    }
    if style is TensorStyle.ALL_TO_ALL:
        splits |= dict(_all_to_all(stage))
    elif style is TensorStyle.CONTEXT:
        splits |= dict(_context(stage))
    return splits


def _is_between_blocks(call: Call) -> bool:
    innermost = call.modules[-1].class_name if call.modules else None
    match call.name:
        case "embedding":
            return True
        case "identity":
            passed = call.operands[0]
            return isinstance(passed, FullTensor) and passed.gradient is not None
        case "float":
            return innermost == "RMSNorm"
        case "add":
            return innermost == "TransformerBlock"
        case _:
            return False


def _all_to_all(stage: Stage) -> Iterator[tuple[Call, Split]]:
    """By heads from the rotary embedding on, and the values' first transpose; by
    positions again where the heads are joined.
    """
    for call in stage.calls:
        if call.name == "apply_rotary_emb" or _transposes_projection(call, stage):
            yield call, BY_HEADS
        elif call.name == "view" and _rank(call) == 4:
            yield call, BY_POSITION


def _context(stage: Stage) -> Iterator[tuple[Call, Split]]:
    """By queries from the scores on."""
    layers: set[int | None] = set()
    for call in stage.calls:
        if call.name == "apply_rotary_emb":
            yield call, None
        elif call.name == "matmul" and call.layer not in layers:
            layers.add(call.layer)
            yield call, BY_QUERY


def _transposes_projection(call: Call, stage: Stage) -> bool:
    """Does it transpose what a projection gave, not what became of it?"""
    return call.name == "transpose" and any(
        other.name == "view" and call.operands[0] in other.results for other in stage.calls
    )


def _rank(call: Call) -> int:
    operand = call.operands[0]
    return len(operand.shape) if isinstance(operand, FullTensor) else 0
