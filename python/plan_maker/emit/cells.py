# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cells, ops and communication primitives as nnScaler's objects."""

from __future__ import annotations

from functools import cached_property
from typing import TypeAlias

from plan_maker.emit.rules import Rules
from plan_maker.emit.tensors import (
    State,
    argument,
    arguments,
    data_source,
    full_tensor,
    instance,
    keywords_of,
    results,
    sub_tensor,
    sub_tensors,
)
from plan_maker.graph import (
    Adapter,
    BackwardOperation,
    Cell,
    DataOperation,
    DeviceProgram,
    ForwardOperation,
    Module,
    Primitive,
    ReuseCell,
    Segment,
    SegmentNode,
    SubTensor,
    WeightReducer,
    base_cell,
)
from plan_maker.pickle_writer import (
    Global,
    Instance,
    OrderedMapping,
    PickleValue,
    SetOf,
    Table,
)

Node: TypeAlias = Cell | SegmentNode

REUSE_CELL = Global("nnscaler.execplan.execplan", "ExeReuseCell")
SEGMENT = Global("nnscaler.graph.segment", "IRSegment")
FORWARD_OPERATION = Global("nnscaler.graph.function.dimops", "IRDimops")
BACKWARD_OPERATION = Global("nnscaler.ir.operator", "IRBpOperation")
DATA_OPERATION = Global("nnscaler.ir.operator", "IRDataOperation")
ADAPTER = Global("nnscaler.ir.adapter.adapter", "IRAdapter")
WEIGHT_REDUCER = Global("nnscaler.ir.adapter.adapter", "IRWeightReducer")
PRIMITIVES = "nnscaler.ir.adapter.prim"

PRIMITIVE_FUNCTIONS = {
    "AllGatherPrim": "all_gather",
    "AllGatherReduceScatterPrim": "nn.allgather_reducescatter",
    "AllGatherSplitPrim": "nn.allgather_split",
    "AllReduceAllReducePrim": "nn.allreduce_allreduce",
    "AllReduceIdentityPrim": "nn.allreduce_identity",
    "AllReducePrim": "all_reduce",
    "AllToAllAllToAllPrim": "nn.alltoall_alltoall",
    "AllToAllPrim": "all_to_all",
    "BroadcastPrim": "broadcast",
    "ChunkPrim": "chunk",
    "IdentityAllreducePrim": "nn.identity_allreduce",
    "IdentityPrim": "identity",
    "MergeDimPrim": "smerge",
    "MovePrim": "move",
    "RDGatherPrim": "rdgather",
    "RDScatterPrim": "rdscatter",
    "RVScatterPrim": "rvscatter",
    "ReducePrim": "reduce",
    "ReduceScatterAllGatherPrim": "nn.reducescatter_allgather",
    "ReduceScatterPrim": "reduce_scatter",
    "SelectPrim": "select",
    "SplitAllGatherPrim": "nn.split_allgather",
    "SumPrim": "vmerge",
}
LOCAL_PRIMITIVES = {"IdentityPrim", "MergeDimPrim", "SelectPrim", "SumPrim"}


class _Uses:
    """Who in a segment makes and takes a full tensor, and their copies of its parts."""

    def __init__(self, tensor: Instance, is_parameter: bool) -> None:
        self.tensor = tensor
        self.is_parameter = is_parameter
        self.producers: list[PickleValue] = []
        self.consumers: list[PickleValue] = []
        self.made: list[PickleValue] = []
        self.taken: list[PickleValue] = []


class DeviceCells:
    """Describes the cells of one device; each only when the writer reaches it."""

    def __init__(self, program: DeviceProgram, rules: Rules) -> None:
        self._program = program
        self._rules = rules
        #: By number. A bug may leave equal ones, of which each execution has one.
        self._segments: dict[int, Segment] = {}

    def cells(self) -> list[PickleValue]:
        """The device's list of cells."""
        return [self._node(cell) for cell in self._program.cells]

    @cached_property
    def _by_number(self) -> dict[int, Node]:
        """What `mirror` fields refer to."""
        nodes: dict[int, Node] = {}
        for cell in (*self._program.cells, *self._program.unscheduled):
            executed = base_cell(cell)
            if isinstance(executed, Segment) and executed.identifier not in nodes:
                nodes |= {node.identifier: node for node in executed.nodes}
            nodes[executed.identifier] = executed
            nodes[cell.identifier] = cell
        return nodes

    def _node(self, node: Node) -> Instance:
        match node:
            case ForwardOperation():
                return instance(node, FORWARD_OPERATION, lambda: self._forward_operation(node))
            case BackwardOperation():
                return instance(node, BACKWARD_OPERATION, lambda: self._backward_operation(node))
            case Adapter():
                return instance(node, ADAPTER, lambda: self._adapter(node))
            case Segment():
                only = self._segments.setdefault(node.identifier, node)
                return instance(only, SEGMENT, lambda: self._segment(only))
            case ReuseCell():
                return instance(node, REUSE_CELL, lambda: self._reuse_cell(node))
            case DataOperation():
                return instance(node, DATA_OPERATION, lambda: self._data_operation(node))
            case WeightReducer():
                return instance(node, WEIGHT_REDUCER, lambda: self._weight_reducer(node))

    def _mirror(self, number: int | None) -> PickleValue:
        return None if number is None else self._node(self._by_number[number])

    def _forward_operation(self, node: ForwardOperation) -> State:
        own: State = {"_annos_candidates": node.annotations}
        own |= self._rules.fields_of(node) | {"_recompute": None}
        itself = self._node(node)
        cell = _cell_state(
            node.identifier,
            node.name,
            node.signature,
            (node.device,),
            arguments(node.inputs, itself),
            results(node.outputs, itself),
            self._mirror(node.mirror),
        )
        cell["_kwargs"] = keywords_of(node.keywords)
        cell["_comment"] = node.comment
        cell["_module_stack"] = OrderedMapping(
            tuple((module.path, _module_class(module)) for module in node.modules)
        )
        return own | cell

    def _backward_operation(self, node: BackwardOperation) -> State:
        itself = self._node(node)
        return _cell_state(
            node.identifier,
            "backward",
            "torch.autograd.grad",
            (node.device,),
            arguments(node.inputs, itself),
            results(node.outputs, itself),
            self._mirror(node.mirror),
        )

    def _adapter(self, node: Adapter) -> State:
        cell = _cell_state(
            node.identifier,
            "adapter",
            "adapter",
            (node.device,),
            sub_tensors(node.inputs),
            sub_tensors(node.outputs),
            self._mirror(node.mirror),
        )
        own: State = {
            "_prims": [_primitive(primitive, node.device) for primitive in node.primitives],
            "_differentiable": node.is_differentiable,
            "custom": node.is_custom,
            "_recompute": None,
            "_forward": node.is_forward,
            "_cached_dispatch": {},
        }
        return cell | own

    def _segment(self, node: Segment) -> State:
        itself = self._node(node)
        cell = _cell_state(
            node.identifier,
            "segment",
            "",
            (),
            arguments(node.inputs, itself),
            results(node.outputs, itself),
            self._mirror(node.mirror),
        )
        return cell | {"_nodes": [self._node(inner) for inner in node.nodes]} | self._uses(node)

    def _uses(self, segment: Segment) -> State:
        """Who in a segment makes and who takes each full tensor, and which copies."""
        uses: dict[int, _Uses] = {}

        def get(tensor: SubTensor) -> _Uses:
            full = tensor.full
            found = uses.get(id(full))
            if found is None:
                found = uses[id(full)] = _Uses(full_tensor(full), full.is_parameter)
            return found

        for node in segment.nodes:
            cell = self._node(node)
            # Cells of communication have no copies.
            owner = None if isinstance(node, Adapter) else cell
            for place, value in enumerate(node.inputs):
                if isinstance(value, SubTensor):
                    of = get(value)
                    of.consumers.append(cell)
                    of.taken.append(sub_tensor(value, None if owner is None else (owner, place)))
            for place, tensor in enumerate(node.outputs):
                of = get(tensor)
                of.producers.append(cell)
                of.made.append(sub_tensor(tensor, None if owner is None else (owner, -1 - place)))
        everyone = uses.values()
        return {
            "_fobjects": SetOf([of.tensor for of in everyone]),
            "_producers": Table([(of.tensor, of.producers) for of in everyone]),
            "_consumers": Table([(of.tensor, of.consumers) for of in everyone]),
            "_ptensors": Table([(of.tensor, of.made) for of in everyone]),
            "_ctensors": Table([(of.tensor, of.taken) for of in everyone]),
            "_attributes": SetOf([of.tensor for of in everyone if of.is_parameter]),
            "_dispatch_cached": {},
        }

    def _reuse_cell(self, node: ReuseCell) -> State:
        name, signature = _EXECUTED_AS[type(node.cell)]
        itself = self._node(node)
        cell = _cell_state(
            node.identifier,
            name,
            signature,
            (),
            arguments(node.inputs, itself),
            results(node.outputs, itself),
            self._mirror(node.mirror),
        )
        return cell | {"_cell": self._node(node.cell), "_cached_dispatched": {}}

    def _data_operation(self, node: DataOperation) -> State:
        outputs = results(node.outputs, self._node(node))
        inputs: list[PickleValue] = [data_source(node.source)]
        return _cell_state(
            node.identifier, "dataloader", "next", (node.device,), inputs, outputs, None
        )

    def _weight_reducer(self, node: WeightReducer) -> State:
        weights = arguments(node.inputs, self._node(node))
        return _cell_state(node.identifier, "reducer", None, node.devices, weights, [], None)


_EXECUTED_AS = {
    Segment: ("segment", ""),
    Adapter: ("adapter", "adapter"),
    DataOperation: ("dataloader", "next"),
}


def _cell_state(
    identifier: int,
    name: str,
    signature: str | None,
    devices: tuple[int, ...],
    inputs: list[PickleValue],
    outputs: list[PickleValue],
    mirror: PickleValue,
) -> State:
    """The fields that all cells have."""
    return {
        "_id": identifier,
        "name": name,
        "signature": signature,
        "_device": devices,
        "_inputs": inputs,
        "_kwargs": {},
        "_outputs": outputs,
        "_mirror": mirror,
        "_comment": None,
        "_module_stack": None,
    }


def _primitive(primitive: Primitive, device: int) -> Instance:
    return instance(
        primitive,
        Global(PRIMITIVES, primitive.name),
        lambda: {
            "_inputs": sub_tensors(primitive.inputs),
            "_outputs": sub_tensors(primitive.outputs),
            "_device": [device],
            "kwargs": _primitive_keywords(primitive),
            "signature": "nnscaler.runtime.adapter." + PRIMITIVE_FUNCTIONS[primitive.name],
            "local": primitive.name in LOCAL_PRIMITIVES,
        },
    )


def _primitive_keywords(primitive: Primitive) -> PickleValue:
    """Like other keywords, but device groups are lists."""
    keywords: dict[PickleValue, PickleValue] = {}
    for keyword in primitive.keywords:
        value = argument(keyword.value)
        if keyword.name == "ranks" and isinstance(value, tuple):
            value = list(value)
        keywords[keyword.name] = value
    return keywords


def _module_class(module: Module) -> Global:
    return Global(module.class_module, module.class_name)
