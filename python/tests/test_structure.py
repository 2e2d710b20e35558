# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Correct plans of many configurations: every tensor is defined where it is read,
devices do not wait for each other in circles, shapes and slices fit.
"""

from __future__ import annotations

import itertools
import unittest
from collections import defaultdict
from typing import Any

from plan_maker import annotation
from tests.interpretation import communication_order, undefined_reads
from tests.reading import class_name, executed, is_tensor, make_plan, segment_nodes

LLAMA: tuple[str, ...] = ("llama", "--layers", "3", "--hidden", "32", "--ffn", "48", "--heads", "4")
FOUR_MICRO_BATCHES = ("--micro-batches", "4")
BATCH = ("--tp-style", "batch")
GPT: tuple[str, ...] = ("gpt", *LLAMA[1:])
MOE: tuple[str, ...] = ("llama-moe", *LLAMA[1:])
MLP = ("mlp", "--layers", "4", "--hidden", "32")


def configurations() -> list[tuple[str, ...]]:
    """Command lines: all styles, with and without each kind of parallelism."""
    meshes = [(1, 1, 1, 1), (2, 1, 1, 1), (1, 1, 2, 1), (1, 2, 1, 3), (1, 3, 1, 2), (2, 2, 2, 2)]
    result: list[tuple[str, ...]] = []
    for model, styles in (
        (LLAMA, ("batch", "megatron", "feed-forward")),
        (MOE, ("batch", "megatron", "feed-forward")),
        (MLP, ("batch", "megatron")),
        (GPT, ("batch", "megatron", "feed-forward", "sequence", "mixed")),
    ):
        for style, (dp, pp, tp, micro) in itertools.product(styles, meshes):
            mesh = ("--dp", dp, "--pp", pp, "--tp", tp, "--micro-batches", micro, "--batch", 24)
            result.append((*model, "--tp-style", style, *map(str, mesh)))
    result.append((*LLAMA, "--pp", "2", "--tp", "4", "--schedule", "gpipe", *FOUR_MICRO_BATCHES))
    result.append((*LLAMA, "--pp", "3", "--layers-per-stage", "0,3,0", "--tp", "2"))
    result.append((*MLP, "--pp", "2", "--layers-per-stage", "4,0", "--tp", "2", *BATCH))
    result.append((*MLP, "--pp", "2", "--layers-per-stage", "1,3", "--tp", "2"))
    result += [(*model, "--pp", "2", "--tp", "2", "--split-vocabulary") for model in (LLAMA, GPT)]
    for style in ("megatron-sequence", "all-to-all", "context"):
        options = ("--dp", "2", "--pp", "2", "--tp", "4", "--sequence", "8", "--tp-style", style)
        result += [(*model, *options) for model in (LLAMA, MOE)]
    for kind in ("1f1b", "gpipe"):
        turns = ("--virtual-stages", "2", "--layers", "6", "--schedule", kind)
        result.append((*LLAMA, "--pp", "3", "--tp", "2", *turns, *FOUR_MICRO_BATCHES))
        result.append((*GPT, "--dp", "2", "--pp", "2", *turns, "--layers-per-stage", "0,4,1,1"))
    sequence = ("--tp", "2", "--tp-style", "megatron-sequence")
    result += [(*GPT, "--pp", "3", *sequence), (*GPT, *sequence, "--split-vocabulary")]
    return result


class Structure(unittest.TestCase):
    def test_all_configurations(self) -> None:
        for arguments in configurations():
            with self.subTest(" ".join(arguments)):
                root = make_plan(*arguments)
                self.assertEqual(undefined_reads(root), [])
                self.assertEqual(communication_order(root), [])
                self.check_mirrors(root)
                self.check_shapes(root)
                self.check_parameters(root)
                self.check_reducers(root)

    def test_bug_in_a_micro_batch(self) -> None:
        """Segments that the bug does not change stay one object for all micro-batches."""
        stages = ("--layers", "4", "--pp", "2", "--virtual-stages", "2", "--tp", "2")
        batch = ("--micro-batches", "4", "--batch", "8")
        bug = ("--bug", "wrong-group", "--bug-micro-batch", "2")
        self.check_mirrors(make_plan("llama", *stages, *batch, *bug))

    def check_mirrors(self, root: Any) -> None:
        for device, cells in root.execplan._seq.items():
            bases = [executed(cell) for cell in cells]
            for cell in [*cells, *bases, *segment_nodes(root, device)]:
                if cell._mirror is not None:
                    self.assertIs(cell._mirror._mirror, cell)
                    self.assertIs(
                        type(cell._mirror) is type(cell),
                        "IRDimops" not in {class_name(cell), class_name(cell._mirror)},
                    )

    def check_shapes(self, root: Any) -> None:
        """Each op's rule holds on the device's own shapes."""
        for device in root.devices:
            for node in segment_nodes(root, device):
                for tensor in filter(is_tensor, [*node._inputs, *node._outputs]):
                    sizes = tuple(end - start for start, end in tensor._indmap._indices)
                    self.assertEqual(tensor._shape, sizes)
                if class_name(node) != "IRDimops":
                    continue
                shapes = [value._shape if is_tensor(value) else None for value in node._inputs]
                results = tuple(tensor._shape for tensor in node._outputs)
                sizes_of = {"h": "h", "k": "topk"}
                known = {
                    factor: node._kwargs[key]
                    for factor, key in sizes_of.items()
                    if key in node._kwargs
                }
                self.assertIn(results, _possible_results(node._annos_candidates, shapes, known))
                if "size" in node._kwargs:
                    for size, stated in zip(results[0], node._kwargs["size"], strict=True):
                        self.assertIn(stated, (size, -1))

    def check_parameters(self, root: Any) -> None:
        """The slices of a parameter on a replica's devices cover it."""
        slices: dict[str, set[Any]] = defaultdict(set)
        fulls: dict[str, Any] = {}
        for device in root.devices:
            for node in segment_nodes(root, device):
                for value in filter(is_tensor, node._inputs):
                    if value._is_attr:
                        slices[value.name].add(value._indmap._indices)
                        fulls[value.name] = value._full_tensor
        for name, parts in slices.items():
            covered = sum(_count(part) for part in parts)
            self.assertEqual(covered, _count([(0, size) for size in fulls[name]._shape]), name)

    def check_reducers(self, root: Any) -> None:
        """With replicas every trained parameter is reduced once on each device."""
        for device in root.devices:
            reduced = [
                weight.name
                for cell in root.execplan._seq[device]
                if class_name(cell) == "IRWeightReducer"
                for weight in cell._inputs
            ]
            trained = {
                value.name
                for node in segment_nodes(root, device)
                if class_name(node) == "IRDimops"
                for value in filter(is_tensor, node._inputs)
                if value._is_attr and value._grad is not None
            }
            self.assertEqual(len(reduced), len(set(reduced)))
            if root.enable_dp:
                self.assertEqual(set(reduced), trained)


def _possible_results(
    texts: tuple[str, ...], shapes: list[Any], known: dict[str, int]
) -> list[Any]:
    ranks = [None if shape is None else len(shape) for shape in shapes]
    possible: list[Any] = []
    for text in texts:
        try:
            possible.append(annotation.result_shapes(annotation.parse(text, ranks), shapes, known))
        except ValueError:
            continue
    return possible


def _count(part: Any) -> int:
    count = 1
    for start, end in part:
        count *= end - start
    return count


if __name__ == "__main__":
    unittest.main()
