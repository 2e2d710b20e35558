# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a plan of a masked language model, and its reference.

usage: labels.py PLAN REFERENCE sum | mean IGNORED [BUG]

Words are attended to where an integer mask is 1, and classified among more classes than
are looked at one by one. Two replicas of two ranks divide samples, and the inner
elements of the feed-forward block. With `mean` the loss of a replica is half of the mean
of its samples' losses, which is wrong: one of them may have more labels that are ignored
than the other one. The plan, not the reference, ignores labels of IGNORED.
"""

from __future__ import annotations

import sys
from pathlib import Path

from plan_maker.bugs import Place, apply_bug
from plan_maker.emit import write_plan
from plan_maker.graph import INT64, FullTensor
from plan_maker.strategy.assemble import assemble
from plan_maker.strategy.configuration import Parallelism
from plan_maker.strategy.pipeline import stage_calls
from plan_maker.strategy.stage import Seeds, Stage
from plan_maker.trace import KeywordValue, Kind, LocalBound, Operand, Site, Trace, Tracer

WIDTH, WORDS, CLASSES, SAMPLES = 8, 4, 30000, 8
NETWORK = "torch.nn.functional."


class Model:
    """Records calls, each at a line of its own."""

    def __init__(self) -> None:
        self.tracer = Tracer()
        self.loader = self.tracer.source()

    def call(
        self,
        rule: str,
        signature: str,
        *operands: Operand,
        of_data: bool = False,
        **given: KeywordValue,
    ) -> FullTensor:
        """The result of a function."""
        name = signature.rsplit(".", maxsplit=1)[-1]
        line = 11 + len(self.tracer.calls)
        site = Site(f'File "labels.py", line {line}, in forward,  x = {name}(x)', (), 0)
        integers = (0,) if of_data and name == "flatten" else ()
        kind = Kind(name, signature, (rule,), index_results=integers)
        [result] = self.tracer.call(
            kind, operands, tuple(given.items()), site, has_gradient=not of_data
        )
        return result

    def integers(self, name: str, shape: tuple[int, ...]) -> FullTensor:
        """An input."""
        return self.tracer.tensor(name, shape, element_type=INT64, has_gradient=False)

    def parameter(self, name: str, *shape: int) -> FullTensor:
        """A weight."""
        return self.tracer.parameter(f"{name}.weight", shape)

    def linear(self, x: FullTensor, name: str, width: int) -> FullTensor:
        """A layer without a bias."""
        weight = self.parameter(name, width, x.shape[-1])
        return self.call("* k+, n k+ -> * n", NETWORK + "linear", x, weight, bias=None)

    def bias(self, mask: FullTensor) -> FullTensor:
        """What is added to scores: a large negative number where the mask is 0."""
        x = self.call("a b -> a b", "torch.Tensor.float", mask, of_data=True)
        x = self.call("?, a b -> a b", "torch.sub", 1.0, x, of_data=True, alpha=1)
        x = self.call("a b, ? -> a b", "torch.mul", x, -10000.0, of_data=True)
        return self.call("a b -> a 1 b", "torch.unsqueeze", x, of_data=True, dim=1)

    def attend(self, x: FullTensor, mask: FullTensor) -> FullTensor:
        """What words make of those that the mask lets them see."""
        keys = self.call("a b c -> a c b", "torch.transpose", x, dim0=1, dim1=2)
        scores = self.call("a b k+, a k+ c -> a b c", "torch.matmul", x, keys)
        scores = self.call("a b c, a 1 c -> a b c", "torch.add", scores, self.bias(mask), alpha=1)
        shares = self.call("a b c^ -> a b c^", "torch.softmax", scores, dim=-1, dtype=None)
        return self.call("a b k+, a k+ c -> a b c", "torch.matmul", shares, x)


def trace(samples: int, parts: int, kind: str, ignored: int) -> Trace:
    """The model on so many samples, of so many parts of all."""
    model = Model()
    words, mask, labels = (
        model.integers(name, (samples, WORDS)) for name in ("words", "mask", "labels")
    )
    x = model.call(
        "*, n+ e -> * e",
        "nnscaler.runtime.function.embedding",
        words,
        model.parameter("words", CLASSES, WIDTH),
        padding_idx=None,
        start=LocalBound("n", CLASSES),
        stop=LocalBound("n", CLASSES, is_end=True),
    )
    x = model.attend(x, mask)
    x = model.linear(model.linear(x, "inner", 4 * WIDTH), "outer", WIDTH)
    x = model.linear(x, "classes", CLASSES)
    x = model.call("a b c -> (a b) c", "torch.flatten", x, start_dim=0, end_dim=1)
    target = model.call(
        "a b -> (a b)", "torch.flatten", labels, of_data=True, start_dim=0, end_dim=1
    )
    mark = "+" if kind == "sum" else "^"
    site = Site('File "labels.py", line 90, in forward,  x = cross_entropy(x, target)', (), 0)
    [loss] = model.tracer.call(
        Kind("cross_entropy", NETWORK + "cross_entropy", (f"n{mark} c^, n{mark} -> 1",)),
        (x, target),
        (
            ("weight", None),
            ("ignore_index", ignored),
            ("reduction", kind),
            ("label_smoothing", 0.0),
        ),
        site,
        is_loss=kind == "sum" or parts == 1,
    )
    if kind == "mean" and parts > 1:
        site = Site('File "labels.py", line 91, in forward,  x = x / replicas', (), 0)
        half = Kind("div", "torch.div", ("a, ? -> a",))
        [loss] = model.tracer.call(half, (loss, float(parts)), (), site, is_loss=True)
    calls = tuple(model.tracer.calls)
    data = (words, mask, labels)
    return Trace(calls, model.loader, data, loss, model.tracer.next_identifier)


def leave_whole(_: Stage) -> Seeds:
    """Nothing is split."""
    return Seeds({})


def split(stage: Stage) -> Seeds:
    """The rows of the first linear layer's weight, and what follows from that."""
    return Seeds({next(call for call in stage.calls if call.name == "linear"): (1, 0)})


def main() -> None:
    """Writes both files."""
    plan, reference, kind, ignored, *bugs = sys.argv[1:]
    for path, parallelism in (
        (reference, Parallelism()),
        (plan, Parallelism(tensor=2, data=2)),
    ):
        is_plan = path == plan
        traced = trace(
            parallelism.local_batch(SAMPLES),
            parallelism.data,
            kind,
            int(ignored) if is_plan else -100,
        )
        parts = stage_calls(traced, parallelism.layers_of_stages(1))
        made = assemble(traced, parts, split if is_plan else leave_whole, parallelism)
        for bug in bugs if is_plan else ():
            _, made = apply_bug(made, bug, Place())
        write_plan(made, Path(path))


if __name__ == "__main__":
    main()
