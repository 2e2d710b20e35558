# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every bug changes a plan, where it was asked to, and leaves it readable."""

from __future__ import annotations

import json
import tempfile
import unittest
from collections import Counter
from pathlib import Path
from typing import Any

from plan_maker.bugs import BUGS
from plan_maker.command_line import WRONG_USAGE
from plan_maker.source import read_model
from tests.interpretation import communication_order, undefined_reads
from tests.reading import (
    class_name,
    executed,
    is_tensor,
    make_file,
    make_files,
    read_plan,
    segment_nodes,
)

MESH = ("--dp", "2", "--pp", "2", "--tp", "2", "--micro-batches", "2")
LLAMA = ("llama", "--layers", "4", *MESH)
MOE = ("llama-moe", "--layers", "4", *MESH)
BATCH = (*LLAMA, "--tp-style", "batch")
MLP = ("mlp", "--layers", "4", *MESH)
GPT = ("gpt", "--split-vocabulary", *MESH)
MIXED = ("gpt", *MESH, "--tp-style", "mixed")

LEAVES_A_VALUE_UNDEFINED = {"dropped-primitive"}
# Where the ranks of a stage communicate in the backward segment that is left out.
HANGS_AMONG_RANKS = {"dropped-micro-batch"}
HANGS = {"late-receive", "wrong-group-one-rank"}
OUTSIDE = "rank-outside-group"

CONSTANTS = {"constant-one-rank", "constant-all-ranks"}
VOCABULARY = {"wrong-vocabulary-range"}
GATHERS = {"gather-backward-sums", "gather-backward-splits"}
BIASES = {"bias-before-all-reduce"}
EXPERTS = {"router-gradient-not-reduced", "wrong-expert-range"}
SLICES = {"wrong-parameter-slice", "swapped-parameter-slices"}
# Nothing of the kind is there that the bug changes.
IMPOSSIBLE = {
    LLAMA: VOCABULARY | EXPERTS | GATHERS | BIASES | {"wrong-reducer-group"},
    MOE: VOCABULARY | GATHERS | BIASES | {"wrong-reducer-group"},
    BATCH: VOCABULARY
    | EXPERTS
    | BIASES
    | SLICES
    | {
        "gather-backward-splits",
        "mixed-slices-reduced",
        "exchanged-micro-batches",
        "gradient-all-reduce-to-identity",
        "too-wide-reducer-group",
    },
    MLP: CONSTANTS
    | VOCABULARY
    | EXPERTS
    | GATHERS
    | BIASES
    | {
        "doubled-incoming-gradient",
        "wrong-layer-parameters",
        "swapped-forward-operands",
        "swapped-operands",
        "too-wide-reducer-group",
        "wrong-reducer-group",
    },
    GPT: EXPERTS | GATHERS | {"swapped-operands", "wrong-layer-parameters"},
    MIXED: VOCABULARY
    | EXPERTS
    | BIASES
    | {
        "wrong-layer-parameters",
        "exchanged-micro-batches",
        "gather-backward-splits",
        "swapped-operands",
        "too-wide-reducer-group",
    },
}


def primitives(root: Any, device: int) -> list[tuple[str, Any]]:
    """All primitives of a device: class name and keywords."""
    adapters = [
        node
        for node in [*map(executed, root.execplan._seq[device]), *segment_nodes(root, device)]
        if class_name(node) == "IRAdapter"
    ]
    unique = {id(adapter): adapter for adapter in adapters}
    return [
        (class_name(primitive), primitive.kwargs)
        for adapter in unique.values()
        for primitive in adapter._prims
    ]


class Bugs(unittest.TestCase):
    def make(self, *arguments: str) -> tuple[Any, Any]:
        """The correct plan and the one with the bug."""
        correct = arguments[: arguments.index("--bug")]
        return read_plan(make_files(*correct)[0]), read_plan(make_files(*arguments)[0])

    def test_each_bug(self) -> None:
        for model, impossible in IMPOSSIBLE.items():
            correct, reference = make_files(*model)
            for bug in BUGS:
                if bug.name in impossible:
                    continue
                with self.subTest(f"{model[0]} {bug.name}"):
                    plan, same_reference = make_files(*model, "--bug", bug.name)
                    self.assertNotEqual(plan, correct)
                    self.assertEqual(same_reference, reference)
                    root = read_plan(plan)
                    undefined = bool(undefined_reads(root))
                    self.assertEqual(undefined, bug.name in LEAVES_A_VALUE_UNDEFINED)
                    if bug.name == OUTSIDE:
                        with self.assertRaisesRegex(AssertionError, "is not in"):
                            communication_order(root)
                        continue
                    hangs = bool(communication_order(root))
                    among_ranks = HANGS_AMONG_RANKS if model not in (BATCH, MLP) else set()
                    self.assertEqual(hangs, bug.name in HANGS | among_ranks)

    def test_impossible_bugs(self) -> None:
        for model, impossible in IMPOSSIBLE.items():
            for name in impossible:
                with self.subTest(f"{model[0]} {name}"):
                    self.assertEqual(make_file(*model, "--bug", name)[0], WRONG_USAGE)

    def test_constant_on_the_chosen_rank(self) -> None:
        place = ("--bug-device", "3", "--bug-layer", "2", "--bug-operation", "div")
        before, after = self.make(*LLAMA, "--bug", "constant-one-rank", *place)
        changed = self.changed_constants(before, after)
        self.assertEqual(list(changed), [3])
        (old, new) = changed[3]
        self.assertEqual((old.name, new._inputs[1]), ("div", 2 * old._inputs[1]))
        self.assertIn("layers.2.attention", old._module_stack)

    def test_constant_on_all_ranks(self) -> None:
        changed = self.changed_constants(*self.make(*LLAMA, "--bug", "constant-all-ranks"))
        self.assertEqual(list(changed), [0, 1])

    def changed_constants(self, before: Any, after: Any) -> dict[int, tuple[Any, Any]]:
        """Device -> the op before and after."""
        return {
            device: (old, new)
            for device in before.devices
            for old, new in zip(
                segment_nodes(before, device), segment_nodes(after, device), strict=True
            )
            if [value for value in old._inputs if not is_tensor(value)]
            != [value for value in new._inputs if not is_tensor(value)]
        }

    def test_removed_all_reduce_on_all_ranks_of_the_group(self) -> None:
        before, after = self.make(*LLAMA, "--bug", "removed-all-reduce", "--bug-device", "3")
        for device in before.devices:
            lost = Counter(name for name, _ in primitives(before, device))
            lost.subtract(name for name, _ in primitives(after, device))
            expected = {"AllReduceIdentityPrim": 2} if device > 1 else {}
            self.assertEqual(+lost, expected)

    def test_wrong_group_is_consistent(self) -> None:
        arguments = ("llama", "--tp", "4", "--bug", "wrong-group")
        _, after = self.make(*arguments)
        for device in after.devices:
            half = [0, 1] if device < 2 else [2, 3]
            groups = [keywords["ranks"] for _, keywords in primitives(after, device)]
            self.assertEqual(groups.count(half), 2)

    def test_wrong_parameter_slice(self) -> None:
        before, after = self.make(*LLAMA, "--bug", "wrong-parameter-slice", "--bug-layer", "3")
        names = ("layers.3.attention.wq.weight", "glayers_3_attention_wq_weight")
        for name in names:
            slices = [
                {
                    tensor._indmap._indices
                    for device in root.devices
                    for node in segment_nodes(root, device)
                    for tensor in filter(is_tensor, [*node._inputs, *node._outputs])
                    if tensor.name == name
                }
                for root in (before, after)
            ]
            self.assertEqual((len(slices[0]), len(slices[1])), (2, 1))

    def test_dropped_micro_batch(self) -> None:
        before, after = self.make(*LLAMA, "--bug", "dropped-micro-batch", "--bug-device", "1")
        for device in before.devices:
            missing = 1 if device == 1 else 0
            cells = before.execplan._seq[device], after.execplan._seq[device]
            self.assertEqual(len(cells[0]) - len(cells[1]), missing)

    def test_doubled_gradient_lists_an_op_twice(self) -> None:
        _, after = self.make(*LLAMA, "--bug", "doubled-gradient")
        counts = Counter(map(id, segment_nodes(after, 0)))
        self.assertEqual(sorted(counts.values())[-2:], [1, 2])

    def test_micro_batch(self) -> None:
        """The op of one micro-batch changes, and that of the others does not."""
        place = ("--bug-micro-batch", "1", "--bug-device", "3", "--bug-operation", "pow")
        _, after = self.make(*LLAMA, "--bug", "constant-one-rank", *place)
        exponents = [node._inputs[1] for node in segment_nodes(after, 3) if node.name == "pow"]
        self.assertEqual(Counter(exponents), {2: 9, 3: 1})

    def test_micro_batch_of_one_stage(self) -> None:
        """Both stages run two micro-batches; the one without the bug runs the same
        segments in both, and the ranks of the other run segments of their own.
        """
        for bug in ("constant-one-rank", "dropped-primitive", "doubled-gradient"):
            place = ("--bug-micro-batch", "1", "--bug-layer", "3")
            before, after = self.make(*LLAMA, "--bug", bug, *place)
            for plan, expected in ((before, [2, 2, 2, 2]), (after, [2, 2, 4, 4])):
                segments = [
                    {
                        id(getattr(cell, "_cell", cell))
                        for cell in plan.execplan._seq[device]
                        if class_name(getattr(cell, "_cell", cell)) == "IRSegment"
                    }
                    for device in plan.devices
                ]
                self.assertEqual(list(map(len, segments)), expected, bug)

    def test_number(self) -> None:
        """The third of the all-reduces is in the second layer of the stage."""
        arguments = (*LLAMA, "--bug", "all-reduce-to-identity", "--bug-number", "2")
        found = self.describe(*arguments)
        before = read_plan(make_files(*LLAMA)[0])
        (node,) = [
            node for node in segment_nodes(before, 0) if node._id == found["edits"][0]["cell"]
        ]
        names = [
            other._outputs[0].name
            for other in segment_nodes(before, 0)
            if class_name(other) == "IRAdapter"
            and other._forward
            and other._prims
            and class_name(other._prims[0]) == "AllReduceIdentityPrim"
        ]
        self.assertEqual(names.index(node._outputs[0].name), 2)

    def test_description(self) -> None:
        """It names the op on all ranks, with the line of the model that it is from."""
        text = read_model("llama").lines
        for name, operation, code, edits in (
            ("all-reduce-to-identity", "adapter", "return self.wo(output)", 2),
            ("constant-one-rank", "add", "x.pow(2).mean(-1, keepdim=True) + self.eps", 1),
            ("missing-reducer", "reducer", "h = self.tok_embeddings(tokens)", 1),
            ("swapped-operands", "apply_rotary_emb backward", "apply_rotary_emb(xq, xk", 1),
        ):
            with self.subTest(name):
                found = self.describe(*LLAMA, "--bug", name)
                self.assertEqual(found["bug"], name)
                self.assertEqual(len(found["edits"]), edits)
                edit = found["edits"][0]
                self.assertEqual(edit["operation"], operation)
                self.assertIn(code, text[edit["line"] - 1])

    def describe(self, *arguments: str) -> Any:
        """What `--describe-bug` writes."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "bug.json")
            make_files(*arguments, "--describe-bug", str(path))
            return json.loads(path.read_text("utf-8"))


if __name__ == "__main__":
    unittest.main()
