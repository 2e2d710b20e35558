# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every bug changes a plan, where it was asked to, and leaves it readable."""

from __future__ import annotations

import unittest
from collections import Counter
from typing import Any

from plan_maker.bugs import BUGS
from tests.interpretation import communication_order, undefined_reads
from tests.reading import class_name, executed, is_tensor, make_files, read_plan, segment_nodes

MESH = ("--dp", "2", "--pp", "2", "--tp", "2", "--micro-batches", "2")
LLAMA = ("llama", "--layers", "4", *MESH)
BATCH = (*LLAMA, "--tp-style", "batch")
MLP = ("mlp", "--layers", "4", *MESH)

LEAVES_A_VALUE_UNDEFINED = {"dropped-primitive"}
# Where the ranks of a stage communicate in the backward segment that is left out.
HANGS = {"dropped-micro-batch"}
ONLY_IN_BATCH_STYLE = {"wrong-reducer-group"}
NOT_IN_MLP = {"constant-one-rank", "constant-all-ranks", "swapped-operands", "wrong-reducer-group"}


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
        for model in (LLAMA, BATCH, MLP):
            correct, reference = make_files(*model)
            for bug in BUGS:
                if not self.applies(bug.name, model):
                    continue
                with self.subTest(f"{model[0]} {bug.name}"):
                    plan, same_reference = make_files(*model, "--bug", bug.name)
                    self.assertNotEqual(plan, correct)
                    self.assertEqual(same_reference, reference)
                    root = read_plan(plan)
                    undefined = bool(undefined_reads(root))
                    self.assertEqual(undefined, bug.name in LEAVES_A_VALUE_UNDEFINED)
                    hangs = bool(communication_order(root))
                    self.assertEqual(hangs, bug.name in HANGS and model is LLAMA)

    def applies(self, name: str, model: tuple[str, ...]) -> bool:
        """Does the model have a place for the bug?"""
        if model is MLP:
            return name not in NOT_IN_MLP
        if model is BATCH:
            return "slice" not in name and name != "gradient-all-reduce-to-identity"
        return name not in ONLY_IN_BATCH_STYLE

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


if __name__ == "__main__":
    unittest.main()
