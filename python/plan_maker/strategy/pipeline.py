# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The model cut into pipeline stages, and the transfers between them.

A tensor goes from stage to stage in a chain, also one that several stages use
(the attention mask): every stage passes on what it received. As in nnScaler's
plans, a stage copies what it receives with `identity` before it uses it.

A transfer sends each element once: rank r of the sender keeps part r of the
tensor, sends it to rank r of the receiver, and the receiver's ranks gather the
parts. A tensor without a dimension that can be divided is sent whole.

Or the ranks' parts are scattered, as in nnScaler's plans with four ranks and more:
rank r of the earlier stage declares to have part p and exchanges it with rank p of
the later one. The runtime does not look at what is declared.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from plan_maker import annotation
from plan_maker.graph import (
    Adapter,
    FullTensor,
    Keyword,
    Primitive,
    SubTensor,
)
from plan_maker.strategy.configuration import PartOrder
from plan_maker.strategy.layout import slice_of
from plan_maker.strategy.numbering import Numbering
from plan_maker.strategy.ranks import gradients
from plan_maker.strategy.stage import Stage
from plan_maker.trace import Call, Trace

IDENTITY = "nnscaler.runtime.function.identity"


@dataclass(frozen=True)
class Transfer:
    """The cells that move one tensor between two stages, or its gradient back:
    one adapter per device that takes part.
    """

    adapters: tuple[Adapter, ...]


@dataclass(frozen=True)
class _Route:
    """`source` sends part `part` to `target`."""

    source: int
    target: int
    part: int


def stage_calls(trace: Trace, layers_per_stage: tuple[int, ...]) -> list[list[Call]]:
    """The calls of each stage; stage 0 also has what comes before the layers, the
    last stage what comes after them.
    """
    stage_of_layer = [stage for stage, layers in enumerate(layers_per_stage) for _ in range(layers)]
    parts: list[list[Call]] = [[] for _ in layers_per_stage]
    seen_layer = False
    for call in trace.calls:
        if call.layer is not None:
            seen_layer = True
            parts[stage_of_layer[call.layer]].append(call)
        else:
            parts[-1 if seen_layer else 0].append(call)
    return parts


def cut(trace: Trace, parts: list[list[Call]], numbering: Numbering) -> list[Stage]:
    """The stages that run `parts` of the trace's calls."""
    aliases: dict[FullTensor, FullTensor] = {}
    stages: list[Stage] = []
    for index, calls in enumerate(parts):
        received = _needed_from_before(parts, index, trace) if index else trace.data
        inputs = tuple(aliases.get(tensor, tensor) for tensor in received)
        copies: list[Call] = []
        if index:
            # nnScaler inserts the copies in front one after the other, which
            # leaves them in reverse.
            copies = [_identity(tensor, numbering) for tensor in reversed(inputs)]
            copied = {call.operands[0]: call.results[0] for call in copies}
            aliases |= {
                tensor: copied[passed] for tensor, passed in zip(received, inputs, strict=True)
            }
        passed_on = _needed_from_before(parts, index + 1, trace)
        outputs = tuple(aliases.get(tensor, tensor) for tensor in passed_on)
        if index == len(parts) - 1:
            outputs = (trace.loss,)
        renamed = tuple(_rename(call, aliases) for call in calls)
        stages.append(Stage(index, (*copies, *renamed), inputs, outputs))
    return stages


def take(stage: Stage, given: Mapping[FullTensor, FullTensor]) -> Stage:
    """`stage` on what the stage before it gives in place of some tensors."""
    return replace(
        stage,
        calls=tuple(_rename(call, given) for call in stage.calls),
        inputs=tuple(given.get(tensor, tensor) for tensor in stage.inputs),
    )


def transfer(
    tensor: SubTensor,
    senders: tuple[int, ...],
    receivers: tuple[int, ...],
    numbering: Numbering,
    order: PartOrder = PartOrder.RANK,
) -> tuple[Transfer, Transfer | None]:
    """Moves `tensor` from `senders` to `receivers`, and its gradient, if it has
    one, the other way.
    """
    forward, backward = numbering.cell(), numbering.cell()
    parts = _parts(order, len(senders))
    routes = [
        _Route(sender, receivers[part], part) for sender, part in zip(senders, parts, strict=True)
    ]
    if tensor.gradient is None:
        return _move(tensor, routes, numbering, forward, None), None
    back = [_Route(route.target, route.source, route.part) for route in routes]
    return (
        _move(tensor, routes, numbering, forward, backward),
        _move(tensor.gradient, back, numbering, backward, forward, is_forward=False),
    )


def loss_transfer(
    loss: SubTensor, stages: list[tuple[int, ...]], numbering: Numbering
) -> tuple[Transfer, Transfer]:
    """Tells every device the loss: rank r of the last stage sends it to rank r
    of the other stages. No gradient comes back: nnScaler's plans have a mirror
    for it that no device runs, the second result.
    """
    forward, backward = numbering.cell(), numbering.cell()
    adapters: list[Adapter] = []
    mirrors: list[Adapter] = []
    for devices in zip(*stages, strict=True):
        source, others = devices[-1], devices[:-1]
        keywords = [Keyword("shape", loss.shape), Keyword("dtype", str(loss.full.element_type))]
        if len(others) == 1:
            name = "MovePrim"
            keywords += [Keyword("src", source), Keyword("dst", others[0])]
        else:
            name = "BroadcastPrim"
            keywords += [Keyword("src", source), Keyword("ranks", devices)]
        for device in devices:
            is_source = device == source
            inputs = (loss,) if is_source else ()
            outputs = () if is_source and name == "MovePrim" else (loss,)
            primitive = Primitive(name, inputs, outputs, tuple(keywords))
            adapters.append(
                Adapter(
                    forward,
                    inputs,
                    (loss,),
                    (primitive,),
                    True,
                    False,
                    True,
                    device,
                    backward,
                    None,
                )
            )
            seed = gradients((loss,))
            mirrors.append(
                Adapter(
                    backward,
                    seed,
                    seed if is_source else (),
                    (Primitive("IdentityPrim", seed, seed, ()),),
                    False,
                    False,
                    True,
                    device,
                    forward,
                    None,
                )
            )
    return _by_device(adapters), _by_device(mirrors)


def _move(
    tensor: SubTensor,
    routes: list[_Route],
    numbering: Numbering,
    identifier: int,
    mirror: int | None,
    *,
    is_forward: bool = True,
) -> Transfer:
    ranks = len(routes)
    senders = tuple(sorted(route.source for route in routes))
    receivers = tuple(sorted(route.target for route in routes))
    dimension = _dividable_dimension(tensor.shape, ranks)
    adapters: list[Adapter] = []
    for route in routes:
        piece = tensor
        if dimension is not None:
            part = slice_of(tensor.shape, dimension, route.part, ranks)
            piece = numbering.sub(tensor.full, part)
        keywords = (
            Keyword("shape", piece.shape),
            Keyword("dtype", str(tensor.full.element_type)),
            Keyword("src", route.source),
            Keyword("dst", route.target),
        )
        sent = [Primitive("MovePrim", (piece,), (), keywords)]
        received = [Primitive("MovePrim", (), (piece,), keywords)]
        if dimension is not None:
            along = Keyword("dim", dimension)
            chunk = Primitive("ChunkPrim", (tensor,), (piece,), (along, Keyword("ranks", senders)))
            gather = Primitive(
                "AllGatherPrim", (piece,), (tensor,), (along, Keyword("ranks", receivers))
            )
            sent, received = [chunk, *sent], [*received, gather]
        send = Adapter(
            identifier,
            (tensor,),
            (),
            tuple(sent),
            is_forward,
            False,
            True,
            route.source,
            mirror,
            None,
        )
        receive = replace(
            send, inputs=(), outputs=(tensor,), primitives=tuple(received), device=route.target
        )
        adapters += [send, receive]
    return _by_device(adapters)


def _parts(order: PartOrder, ranks: int) -> tuple[int, ...]:
    """The part of each rank of the earlier stage."""
    if order is PartOrder.RANK or ranks == 1:
        return tuple(range(ranks))
    half = ranks // 2
    return tuple(rank % half * 2 + rank // half for rank in range(ranks))


def _by_device(adapters: list[Adapter]) -> Transfer:
    return Transfer(tuple(sorted(adapters, key=lambda adapter: adapter.device)))


def _dividable_dimension(shape: tuple[int, ...], parts: int) -> int | None:
    """The last dimension that divides into `parts`, None if `parts` is 1."""
    if parts == 1:
        return None
    return next((place for place in reversed(range(len(shape))) if shape[place] % parts == 0), None)


def _needed_from_before(
    parts: list[list[Call]], index: int, trace: Trace
) -> tuple[FullTensor, ...]:
    """What stages from `index` on use of what stages before it made."""
    made = {tensor for calls in parts[:index] for call in calls for tensor in call.results}
    made |= set(trace.data)
    used = {
        tensor
        for calls in parts[index:]
        for call in calls
        for _, tensor in call.tensor_operands()
        if tensor in made
    }
    return tuple(sorted(used, key=lambda tensor: tensor.identifier))


def _identity(tensor: FullTensor, numbering: Numbering) -> Call:
    names = " ".join("abcdefgh"[: len(tensor.shape)])
    text = f"{names} -> {names}"
    return Call(
        "identity",
        IDENTITY,
        (tensor,),
        (numbering.full_like(tensor),),
        (),
        (text,),
        annotation.parse(text, [len(tensor.shape)]),
        None,
    )


def _rename(call: Call, aliases: Mapping[FullTensor, FullTensor]) -> Call:
    operands = tuple(
        aliases.get(operand, operand) if isinstance(operand, FullTensor) else operand
        for operand in call.operands
    )
    return replace(call, operands=operands)
