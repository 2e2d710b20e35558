# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The files: opcodes, class and field names, same bytes for the same input."""

from __future__ import annotations

import io
import os
import pickle
import pickletools
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from plan_maker.pickle_writer import (
    Global,
    Instance,
    Member,
    OrderedMapping,
    PickleValue,
    PickleWriter,
    SetOf,
    Table,
)
from plan_maker.source import read_model
from tests.reading import (
    class_name,
    class_path,
    executed,
    is_tensor,
    make_files,
    make_plan,
    read_plan,
    segment_nodes,
)

MESH = ["--dp", "2", "--pp", "2", "--tp", "2", "--micro-batches", "2"]
CELL_FIELDS = (
    "_id",
    "name",
    "signature",
    "_device",
    "_inputs",
    "_kwargs",
    "_outputs",
    "_mirror",
    "_comment",
)


def written(value: PickleValue) -> bytes:
    """The pickle of `value`."""
    stream = io.BytesIO()
    PickleWriter(stream).write(value)
    return stream.getvalue()


class Opcodes(unittest.TestCase):
    def test_values_come_back(self) -> None:
        text = "x" * 300
        numbers = [0, 255, 256, 65535, 65536, -1, 2**31 - 1, -(2**31), 2**40, -(2**40)]
        value: PickleValue = [(), (1,), (1, 2, 3, 4), {"a": None, 2: True}, 1e-5, text, *numbers]
        self.assertEqual(read_plan(written(value)), value)

    def test_ordered_mapping(self) -> None:
        self.assertEqual(list(read_plan(written(OrderedMapping((("b", 1), ("a", 2)))))), ["b", "a"])

    def test_as_python_does(self) -> None:
        """Containers are memoized, one tuple is written once, and single elements have no mark."""
        shared = (1, (2, 3))
        value: PickleValue = [shared, [shared], {"a": shared}, {}, [], (), {"b": 1, "c": 2}, "a"]
        names = [opcode.name for opcode, _, _ in pickletools.genops(written(value))]
        standard = pickletools.genops(pickle.dumps(value, protocol=4))
        self.assertEqual(names, [opcode.name for opcode, _, _ in standard])

    def test_tables_sets_and_members(self) -> None:
        def key() -> Instance:
            return Instance("key", Global("m", "C"), lambda: {"x": 1})

        member = Member(Global("m", "Kind"), "+")
        first, table, of, one, other = read_plan(
            written([key(), Table([(key(), 1)]), SetOf([key()]), member, member])
        )
        self.assertEqual(table, {first: 1})
        self.assertEqual(of, {first})
        self.assertIs(one, other)
        self.assertEqual((class_path(one), one.value), ("m.Kind", "+"))

    def test_shared_and_cyclic_objects(self) -> None:
        def again() -> Instance:
            return Instance("key", Global("m", "C"), lambda: {"itself": again()})

        first, second = read_plan(written([again(), again()]))
        self.assertIs(first, second)
        self.assertIs(first.itself, first)

    def test_depth_does_not_matter(self) -> None:
        def link(index: int) -> Instance:
            def state() -> dict[str, PickleValue]:
                return {"next": link(index + 1) if index < 10_000 else None}

            return Instance(index, Global("m", "C"), state)

        names = [opcode.name for opcode, _, _ in pickletools.genops(written(link(0)))]
        self.assertEqual(names.count("BUILD"), 10_001)

    def test_files_are_well_formed(self) -> None:
        for data in make_files("llama", *MESH):
            pickletools.dis(data, out=io.StringIO())


class Names(unittest.TestCase):
    def test_classes(self) -> None:
        root = make_plan("llama", *MESH)
        self.assertEqual(class_path(root), "nnscaler.codegen.module.module.ModuleCodeGen")
        self.assertEqual(class_path(root.execplan), "nnscaler.execplan.execplan.ExecutionPlan")
        cells = root.execplan._seq[0]
        paths = {class_path(cell) for cell in [*cells, *map(executed, cells)]}
        self.assertEqual(
            paths,
            {
                "nnscaler.execplan.execplan.ExeReuseCell",
                "nnscaler.graph.segment.IRSegment",
                "nnscaler.ir.adapter.adapter.IRAdapter",
                "nnscaler.ir.adapter.adapter.IRWeightReducer",
                "nnscaler.ir.operator.IRDataOperation",
            },
        )
        nodes = {class_path(node) for node in segment_nodes(root, 0)}
        self.assertIn("nnscaler.graph.function.dimops.IRDimops", nodes)
        self.assertIn("nnscaler.ir.operator.IRBpOperation", nodes)

    def test_fields(self) -> None:
        root = make_plan("llama", *MESH)
        for node in [*root.execplan._seq[0], *segment_nodes(root, 0)]:
            for field in CELL_FIELDS:
                self.assertTrue(hasattr(node, field), f"{class_name(node)}.{field}")
        self.assertEqual(
            (root.devices, root.runtime_ndevs, root.enable_dp), ((0, 1, 2, 3), 8, True)
        )

    def test_segments_say_who_uses_what(self) -> None:
        for node in segment_nodes(make_plan("llama", *MESH), 0):
            if class_name(node) == "IRDimops":
                self.assertEqual(len(node._anno._inputs), len(node._inputs))
        root = make_plan("llama", *MESH)
        segment = next(
            cell for cell in map(executed, root.execplan._seq[0]) if "_nodes" in vars(cell)
        )
        for node in segment._nodes:
            for tensor in filter(is_tensor, node._inputs):
                self.assertIn(node, segment._consumers[tensor._full_tensor])
                self.assertIn(tensor, segment._ctensors[tensor._full_tensor])
            for tensor in filter(is_tensor, node._outputs):
                self.assertIn(node, segment._producers[tensor._full_tensor])
                self.assertIn(tensor, segment._ptensors[tensor._full_tensor])
                self.assertIn(tensor._full_tensor, segment._fobjects)

    def test_comments_name_lines_that_exist(self) -> None:
        repository = Path(__file__).parents[2]
        for model in ("mlp", "llama", "llama-moe", "gpt"):
            nodes = segment_nodes(make_plan(model), 0)
            comments = {node._comment for node in nodes if node._comment is not None}
            for comment in comments:
                place, code = comment.split(",  ")
                _, path, rest = place.split('"')
                line = int(rest.split(",")[1].split()[1])
                text = (repository / path).read_text("utf-8").splitlines()[line - 1]
                self.assertEqual(text.strip(), code)

    def test_a_line_must_be_there_once(self) -> None:
        with self.assertRaisesRegex(ValueError, "0 lines read 'y = x'"):
            read_model("mlp").comment("y = x")


class Reproducibility(unittest.TestCase):
    def test_same_bytes_whatever_the_hash_seed(self) -> None:
        files: set[bytes] = set()
        with tempfile.TemporaryDirectory() as folder:
            for seed in ("1", "2", "3"):
                path = Path(folder, seed)
                command = [sys.executable, "-m", "plan_maker", "llama", *MESH, "-o", str(path)]
                environment = {
                    **os.environ,
                    "PYTHONHASHSEED": seed,
                    "PYTHONPATH": str(Path(__file__).parents[1]),
                }
                subprocess.run(command, check=True, env=environment)
                files.add(path.read_bytes())
        self.assertEqual(len(files), 1)

    def test_full_tensors_are_numbered_as_in_the_reference(self) -> None:
        plan, reference = map(read_plan, make_files("llama", *MESH))
        names = {
            tensor._full_tensor._id: tensor.name
            for node in segment_nodes(reference, 0)
            if class_name(node) == "IRDimops" and node.name != "multiref"
            for tensor in node._outputs
        }
        for device in plan.devices:
            for node in segment_nodes(plan, device):
                if class_name(node) == "IRDimops" and node.name not in ("multiref", "identity"):
                    for tensor in node._outputs:
                        self.assertEqual(names[tensor._full_tensor._id], tensor.name)


if __name__ == "__main__":
    unittest.main()
