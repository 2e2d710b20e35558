# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A plan as the object graph that nnScaler pickles.

Class names, field names and their order are nnScaler's. Left out, because they
say nothing about what the plan computes: the bookkeeping of graphs and segments
(producers, consumers, dispatch caches), parsed annotations, and code generator
state. `_topo_seqs`, the cells before they are dispatched to devices, is empty.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

from plan_maker.graph import (
    Adapter,
    Argument,
    BackwardOperation,
    Cell,
    DataOperation,
    DataSource,
    DeviceProgram,
    ElementType,
    ForwardOperation,
    FullTensor,
    Keyword,
    Module,
    Plan,
    Primitive,
    ReuseCell,
    Segment,
    SegmentNode,
    SubTensor,
    WeightReducer,
    base_cell,
)
from plan_maker.pickle_writer import Global, Instance, OrderedMapping, PickleValue, PickleWriter

State: TypeAlias = dict[str, PickleValue]
Node: TypeAlias = Cell | SegmentNode

MODULE_CODE_GENERATOR = Global("nnscaler.codegen.module.module", "ModuleCodeGen")
EXECUTION_PLAN = Global("nnscaler.execplan.execplan", "ExecutionPlan")
REUSE_CELL = Global("nnscaler.execplan.execplan", "ExeReuseCell")
GRAPH = Global("nnscaler.graph.graph", "IRGraph")
SEGMENT = Global("nnscaler.graph.segment", "IRSegment")
FORWARD_OPERATION = Global("nnscaler.graph.function.dimops", "IRDimops")
BACKWARD_OPERATION = Global("nnscaler.ir.operator", "IRBpOperation")
DATA_OPERATION = Global("nnscaler.ir.operator", "IRDataOperation")
ADAPTER = Global("nnscaler.ir.adapter.adapter", "IRAdapter")
WEIGHT_REDUCER = Global("nnscaler.ir.adapter.adapter", "IRWeightReducer")
OBJECT = Global("nnscaler.ir.cten", "IRObject")
FULL_TENSOR = Global("nnscaler.ir.tensor", "IRFullTensor")
SUB_TENSOR = Global("nnscaler.ir.tensor", "IRSubTensor")
INDEX_MAP = Global("nnscaler.ir.tensor", "IndexMap")
VALUE_MAP = Global("nnscaler.ir.tensor", "ValueMap")
PRIMITIVES = "nnscaler.ir.adapter.prim"

PRIMITIVE_FUNCTIONS = {
    "AllGatherPrim": "all_gather",
    "AllGatherSplitPrim": "nn.allgather_split",
    "AllReduceIdentityPrim": "nn.allreduce_identity",
    "AllReducePrim": "all_reduce",
    "AllToAllAllToAllPrim": "nn.alltoall_alltoall",
    "BroadcastPrim": "broadcast",
    "ChunkPrim": "chunk",
    "IdentityAllreducePrim": "nn.identity_allreduce",
    "IdentityPrim": "identity",
    "MovePrim": "move",
    "SplitAllGatherPrim": "nn.split_allgather",
}


def write_plan(plan: Plan, path: Path) -> None:
    """Writes `plan` to `path`, which changes only when the file is complete."""
    handle, name = tempfile.mkstemp(prefix=path.name + ".", dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            PickleWriter(stream).write(_Emitter(plan).root())
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


class _Emitter:
    """Describes the objects of one plan to the pickle writer.

    A description is made when the writer reaches it. Python objects of the plan
    are the keys: one object in the plan is one object in the file.
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    def root(self) -> Instance:
        plan = self._plan
        return Instance(
            "root",
            MODULE_CODE_GENERATOR,
            lambda: {
                "execplan": Instance("plan", EXECUTION_PLAN, self._execution_plan),
                "devices": plan.devices,
                "runtime_ndevs": plan.runtime_devices,
                "enable_dp": plan.runtime_devices > len(plan.devices),
                "init_code": [],
                "model_init_statements": [],
                "model_methods_bodies": [],
                "batch_size": None,
                "comm_groups": list(plan.groups),
            },
        )

    def _execution_plan(self) -> State:
        plan = self._plan
        return {
            "_graph": Instance("graph", GRAPH, self._graph),
            "_topo_seqs": [],
            "_seq": {program.device: _Device(program).cells() for program in plan.programs},
            "_outputs": _sub_tensors(plan.outputs),
        }

    def _graph(self) -> State:
        graph: State = {"_id": 0, "name": "program", "signature": "", "_device": ()}
        return graph | {
            "_inputs": [_source(self._plan.source)],
            "_kwargs": {},
            "_outputs": _sub_tensors(self._plan.outputs[:1]),
            "_mirror": None,
            "_comment": None,
            "_module_stack": None,
            "_nodes": [],
        }


class _Device:
    """Describes the cells of one device."""

    def __init__(self, program: DeviceProgram) -> None:
        self._program = program

    def cells(self) -> list[PickleValue]:
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
                return _instance(node, FORWARD_OPERATION, lambda: self._forward_operation(node))
            case BackwardOperation():
                return _instance(node, BACKWARD_OPERATION, lambda: self._backward_operation(node))
            case Adapter():
                return _instance(node, ADAPTER, lambda: self._adapter(node))
            case Segment():
                return _instance(node, SEGMENT, lambda: self._segment(node))
            case ReuseCell():
                return _instance(node, REUSE_CELL, lambda: self._reuse_cell(node))
            case DataOperation():
                return _instance(node, DATA_OPERATION, lambda: _data_operation(node))
            case WeightReducer():
                return _instance(node, WEIGHT_REDUCER, lambda: _weight_reducer(node))

    def _mirror(self, number: int | None) -> PickleValue:
        return None if number is None else self._node(self._by_number[number])

    def _forward_operation(self, node: ForwardOperation) -> State:
        own: State = {"_annos_candidates": node.annotations, "_recompute": None}
        cell = _cell_state(
            node.identifier,
            node.name,
            node.signature,
            (node.device,),
            [_argument(value) for value in node.inputs],
            _sub_tensors(node.outputs),
            self._mirror(node.mirror),
        )
        cell["_kwargs"] = _keywords(node.keywords)
        cell["_comment"] = node.comment
        cell["_module_stack"] = OrderedMapping(
            tuple((module.path, _module_class(module)) for module in node.modules)
        )
        return own | cell

    def _backward_operation(self, node: BackwardOperation) -> State:
        return _cell_state(
            node.identifier,
            "backward",
            "torch.autograd.grad",
            (node.device,),
            _sub_tensors(node.inputs),
            _sub_tensors(node.outputs),
            self._mirror(node.mirror),
        )

    def _adapter(self, node: Adapter) -> State:
        cell = _cell_state(
            node.identifier,
            "adapter",
            "adapter",
            (node.device,),
            _sub_tensors(node.inputs),
            _sub_tensors(node.outputs),
            self._mirror(node.mirror),
        )
        own: State = {
            "_prims": [_primitive(primitive, node.device) for primitive in node.primitives],
            "_differentiable": node.is_differentiable,
            "custom": node.is_custom,
            "_recompute": None,
            "_forward": node.is_forward,
        }
        return cell | own

    def _segment(self, node: Segment) -> State:
        cell = _cell_state(
            node.identifier,
            "segment",
            "",
            (),
            _sub_tensors(node.inputs),
            _sub_tensors(node.outputs),
            self._mirror(node.mirror),
        )
        return cell | {"_nodes": [self._node(inner) for inner in node.nodes]}

    def _reuse_cell(self, node: ReuseCell) -> State:
        name, signature = _EXECUTED_AS[type(node.cell)]
        cell = _cell_state(
            node.identifier,
            name,
            signature,
            (),
            [_argument(value) for value in node.inputs],
            _sub_tensors(node.outputs),
            self._mirror(node.mirror),
        )
        return cell | {"_cell": self._node(node.cell)}


_EXECUTED_AS = {
    Segment: ("segment", ""),
    Adapter: ("adapter", "adapter"),
    DataOperation: ("dataloader", "next"),
}


def _instance(key: object, of: Global, state: Callable[[], State]) -> Instance:
    return Instance(id(key), of, state)


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


def _data_operation(node: DataOperation) -> State:
    outputs = _sub_tensors(node.outputs)
    inputs: list[PickleValue] = [_source(node.source)]
    return _cell_state(node.identifier, "dataloader", "next", (node.device,), inputs, outputs, None)


def _weight_reducer(node: WeightReducer) -> State:
    weights = _sub_tensors(node.inputs)
    return _cell_state(node.identifier, "reducer", None, node.devices, weights, [], None)


def _primitive(primitive: Primitive, device: int) -> Instance:
    return _instance(
        primitive,
        Global(PRIMITIVES, primitive.name),
        lambda: {
            "_inputs": _sub_tensors(primitive.inputs),
            "_outputs": _sub_tensors(primitive.outputs),
            "_device": [device],
            "kwargs": _primitive_keywords(primitive),
            "signature": "nnscaler.runtime.adapter." + PRIMITIVE_FUNCTIONS[primitive.name],
            "local": primitive.name == "IdentityPrim",
        },
    )


def _primitive_keywords(primitive: Primitive) -> PickleValue:
    """Like other keywords, but device groups are lists."""
    keywords: dict[PickleValue, PickleValue] = {}
    for keyword in primitive.keywords:
        value = _argument(keyword.value)
        if keyword.name == "ranks" and isinstance(value, tuple):
            value = list(value)
        keywords[keyword.name] = value
    return keywords


def _keywords(keywords: tuple[Keyword, ...]) -> PickleValue:
    return {keyword.name: _argument(keyword.value) for keyword in keywords}


def _argument(value: Argument) -> PickleValue:
    match value:
        case SubTensor():
            return _sub_tensor(value)
        case DataSource():
            return _source(value)
        case ElementType():
            return _element_type(value)
        case tuple():
            return tuple(_argument(element) for element in value)
    return value


def _source(source: DataSource) -> Instance:
    return _instance(
        source,
        OBJECT,
        lambda: {
            "_id": source.identifier,
            "name": source.name,
            "_cell": None,
            "_is_attr": False,
            "_value": None,
            "_is_constant": True,
        },
    )


def _sub_tensors(tensors: tuple[SubTensor, ...]) -> list[PickleValue]:
    return [_sub_tensor(tensor) for tensor in tensors]


def _sub_tensor(tensor: SubTensor) -> Instance:
    def state() -> State:
        own: State = {
            "_full_tensor": _full_tensor(tensor.full),
            "_indmap": Instance(
                ("index map", tensor.slices, tensor.full.shape),
                INDEX_MAP,
                lambda: {"_indices": tensor.slices, "_shape": tensor.full.shape},
            ),
            "_valmap": Instance(
                ("value map", tensor.part), VALUE_MAP, lambda: {"_weight": tensor.part}
            ),
        }
        gradient = None if tensor.gradient is None else _sub_tensor(tensor.gradient)
        return _tensor_state(tensor.full, tensor.identifier, tensor.shape, gradient) | own

    return _instance(tensor, SUB_TENSOR, state)


def _full_tensor(tensor: FullTensor) -> Instance:
    def state() -> State:
        gradient = None if tensor.gradient is None else _full_tensor(tensor.gradient)
        own: State = {"_subtensors": {}, "_is_loss": tensor.is_loss}
        return _tensor_state(tensor, tensor.identifier, tensor.shape, gradient) | own

    return _instance(tensor, FULL_TENSOR, state)


def _tensor_state(
    full: FullTensor, identifier: int, shape: tuple[int, ...], gradient: PickleValue
) -> State:
    """The fields that full tensors and sub-tensors share."""
    return {
        "_id": identifier,
        "name": full.name,
        "_cell": None,
        "_is_attr": full.is_parameter,
        "_value": None,
        "_is_constant": True,
        "_shape": shape,
        "_dtype": _element_type(full.element_type),
        "_is_grad": full.is_gradient,
        "_requires_grad": full.gradient is not None,
        "_grad": gradient,
        "_persistent": full.is_parameter and not full.is_gradient,
    }


def _element_type(element_type: ElementType) -> Global:
    return Global("torch", element_type.name)


def _module_class(module: Module) -> Global:
    return Global(module.class_module, module.class_name)
