# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The root of the file, and the file itself."""

from __future__ import annotations

import contextlib
import errno
import gc
import os
from collections.abc import Iterator
from pathlib import Path

from plan_maker.emit.cells import DeviceCells
from plan_maker.emit.rules import Rules
from plan_maker.emit.tensors import State, data_source, sub_tensors
from plan_maker.graph import Plan
from plan_maker.pickle_writer import Global, Instance, PickleWriter

MODULE_CODE_GENERATOR = Global("nnscaler.codegen.module.module", "ModuleCodeGen")
EXECUTION_PLAN = Global("nnscaler.execplan.execplan", "ExecutionPlan")
GRAPH = Global("nnscaler.graph.graph", "IRGraph")


def _write(plan: Plan, path: Path) -> None:
    with path.open("wb") as stream, _without_collector():
        PickleWriter(stream).write(_root(plan))


def check_path(path: Path) -> None:
    """OSError where it is known before that `write_plan` cannot write there."""
    if path.is_dir():
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    try:
        path.resolve().parent.stat()
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


def write_plan(plan: Plan, path: Path) -> None:
    """Writes `plan` to `path`, which changes only when the file is complete. What is no
    regular file is written to as it is; a link stays, and what it leads to is written.
    """
    if path.exists() and not path.is_file() and not path.is_dir():
        try:
            _write(plan, path)
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(path)) from error
        return
    path = path.resolve()
    temporary = path.with_name(f"{path.name}.{os.getpid()}.partial")
    try:
        _write(plan, temporary)
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror, str(path)) from error
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


@contextlib.contextmanager
def _without_collector() -> Iterator[None]:
    """Millions of objects are made that stay until the file is there: looking through them
    for garbage again and again takes as long as writing.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _root(plan: Plan) -> Instance:
    return Instance(
        "root",
        MODULE_CODE_GENERATOR,
        lambda: {
            "execplan": Instance("plan", EXECUTION_PLAN, lambda: _execution_plan(plan)),
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


def _execution_plan(plan: Plan) -> State:
    rules = Rules()
    return {
        "_graph": Instance("graph", GRAPH, lambda: _graph(plan)),
        "_topo_seqs": [],
        "_seq": {program.device: DeviceCells(program, rules).cells() for program in plan.programs},
        "_outputs": sub_tensors(plan.outputs),
    }


def _graph(plan: Plan) -> State:
    graph: State = {"_id": 0, "name": "program", "signature": "", "_device": ()}
    return graph | {
        "_inputs": [data_source(plan.source)],
        "_kwargs": {},
        "_outputs": sub_tensors(plan.outputs[:1]),
        "_mirror": None,
        "_comment": None,
        "_module_stack": None,
        "_nodes": [],
    }
