# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Training steps as graphs: `python3 -m step_maker train --zero 1 --dp 4 > step.mlir`.

Prints the step of one device, that of all devices, and claims that they compute the same;
`verify-opt step.mlir --tv-check-equiv` proves them. With `--bug NAME` the devices make one
mistake. Exit codes: 0 printed; 2 wrong usage, or no such step.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from step_maker.all_to_all_attention import make_all_to_all_attention
from step_maker.attention import Attention
from step_maker.bugs import Bug, Mistake
from step_maker.catalogue import BUGS, STRATEGIES
from step_maker.experts import Experts, make_experts
from step_maker.graph import Graph, ImpossibleStepError
from step_maker.optimizers import Optimizer
from step_maker.ring_attention import make_ring_attention
from step_maker.settings import Training
from step_maker.training import make_training
from step_maker.vocabulary import Vocabulary, make_vocabulary

WRITTEN, WRONG_USAGE = 0, 2


class _ListBugs(argparse.Action):
    def __call__(
        self,
        parser: argparse.ArgumentParser,
        *_: Any,
    ) -> None:
        name = parser.prog.rpartition(" ")[2]
        for strategy in [name] if name in STRATEGIES else STRATEGIES:
            for bug in STRATEGIES[strategy]:
                print("\n".join(describe(strategy, bug)))
        parser.exit(WRITTEN)


def describe(strategy: str, bug: Bug) -> list[str]:
    """What is printed about a bug."""
    command = " ".join([strategy, *bug.options, "--bug", bug.name])
    return [command, f"    at '{bug.op}': {bug.what}", f"    {bug.rows}"]


def positive(text: str) -> int:
    """A whole number that is at least 1."""
    value = int(text)
    if value < 1:
        raise ValueError
    return value


def number(text: str) -> Fraction:
    """A positive number, such as `0.5` or `1/8`."""
    value = Fraction(text)
    if value <= 0:
        raise ValueError
    return value


# What an error says of a value that is none.
positive.__name__ = "positive whole number"
number.__name__ = "positive number"


def _make_train(options: argparse.Namespace, mistake: Mistake) -> Graph:
    settings = Training(
        Optimizer(options.optimizer, step=options.step),
        zero=options.zero,
        replicas=options.dp,
        ranks=options.tp,
        micro_batches=options.micro_batches,
        samples=options.samples,
        inputs=options.inputs,
        hidden=options.hidden,
        outputs=options.outputs,
        clip=options.clip,
        loss_scale=options.loss_scale,
        averages=options.averages,
        torch_form=options.torch_form,
    )
    return make_training(settings, mistake)


def _add_train(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--zero", type=int, choices=range(4), default=1, help="stage of ZeRO; 0 divides nothing")
    add("--optimizer", choices=["sgd", "adam", "adamw"], default="adam")
    add("--step", type=positive, default=3, help="number of the step, for bias corrections")
    add("--dp", type=positive, default=2, help="replicas")
    add("--tp", type=positive, default=1, help="tensor-parallel ranks")
    add("--micro-batches", type=positive, default=1)
    add("--samples", type=positive, default=2, help="of a replica in a micro-batch")
    add("--inputs", type=positive, default=3)
    add("--hidden", type=positive, default=4)
    add("--outputs", type=positive, default=5)
    add("--clip", type=number, help="the largest norm of all gradients")
    add("--loss-scale", type=number)
    add(
        "--averages",
        action="store_true",
        help="replicas divide by their own samples and average; else by all, and add up",
    )
    add("--torch-form", action="store_true", help="formulas of torch.optim, not those of papers")


def _make_vocabulary(options: argparse.Namespace, mistake: Mistake) -> Graph:
    settings = Vocabulary(
        options.dp, options.tp, options.tokens, options.hidden, options.vocabulary
    )
    return make_vocabulary(settings, mistake)


def _add_vocabulary(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--dp", type=positive, default=2, help="replicas")
    add("--tp", type=positive, default=2, help="ranks that divide the vocabulary")
    add("--tokens", type=positive, default=3, help="of a replica")
    add("--hidden", type=positive, default=4)
    add("--vocabulary", type=positive, default=6)


def _make_attention(
    make: Callable[[Attention, Mistake], Graph],
) -> Callable[[argparse.Namespace, Mistake], Graph]:
    def run(options: argparse.Namespace, mistake: Mistake) -> Graph:
        settings = Attention(
            options.dp,
            options.cp,
            options.samples,
            options.heads,
            options.positions,
            options.features,
            options.causal,
        )
        return make(settings, mistake)

    return run


def _add_attention(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--dp", type=positive, default=2, help="replicas")
    add("--cp", type=positive, default=2, help="ranks that divide the sequence")
    add("--samples", type=positive, default=1, help="of a replica")
    add("--heads", type=positive, default=4)
    add("--positions", type=positive, default=12)
    add("--features", type=positive, default=2, help="of a head")
    add("--causal", action="store_true", help="no query sees a later key")


def _make_experts(options: argparse.Namespace, mistake: Mistake) -> Graph:
    settings = Experts(
        options.dp,
        options.ep,
        options.tokens,
        options.experts,
        options.capacity,
        options.features,
        options.inner,
    )
    return make_experts(settings, mistake)


def _add_experts(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--dp", type=positive, default=2, help="replicas")
    add("--ep", type=positive, default=2, help="ranks that divide the experts")
    add("--tokens", type=positive, default=3, help="of a rank")
    add("--experts", type=positive, default=4)
    add("--capacity", type=positive, default=2, help="slots of an expert for tokens of one rank")
    add("--features", type=positive, default=3)
    add("--inner", type=positive, default=2, help="hidden units of an expert")


def _add_list(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--list-bugs",
        action=_ListBugs,
        nargs=0,
        default=argparse.SUPPRESS,
        help="describe the bugs and exit",
    )


def _make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="step_maker", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    _add_list(parser)
    commands = parser.add_subparsers(required=True, metavar="STRATEGY")
    strategies: dict[str, tuple[str, Callable[..., None], Callable[..., Graph]]] = {
        "train": (
            "ZeRO, optimizers, averages, clipping, loss scaling, on a model of two layers",
            _add_train,
            _make_train,
        ),
        "cross-entropy": (
            "an embedding tied to the output layer, and cross-entropy, divided by vocabulary",
            _add_vocabulary,
            _make_vocabulary,
        ),
        "ring-attention": (
            "attention whose keys and values go from rank to rank",
            _add_attention,
            _make_attention(make_ring_attention),
        ),
        "all-to-all-attention": (
            "attention that ranks divide by heads, between all-to-alls",
            _add_attention,
            _make_attention(make_all_to_all_attention),
        ),
        "experts": (
            "experts that ranks divide, with all-to-alls at a fixed capacity",
            _add_experts,
            _make_experts,
        ),
    }
    for name, (what, add, make) in strategies.items():
        command = commands.add_parser(
            name, help=what, formatter_class=argparse.ArgumentDefaultsHelpFormatter
        )
        add(command)
        bugs = [bug.name for bug in STRATEGIES[name]]
        command.add_argument("--bug", choices=bugs, metavar="NAME", help="make this mistake")
        _add_list(command)
        command.set_defaults(make=make)
    return parser


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """What a command line says; ends the program where it is wrong."""
    return _make_parser().parse_args(arguments)


def make_graph(options: argparse.Namespace) -> Graph:
    """The step that a command line asks for."""
    mistake = Mistake(options.bug)
    graph: Graph = options.make(options, mistake)
    if not mistake.is_made:
        needed = " ".join(BUGS[options.bug].options)
        hint = f"; it has one with {needed}" if needed else ""
        raise ImpossibleStepError(f"bug '{options.bug}' has no place in this step{hint}")
    return graph


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit code."""
    try:
        graph = make_graph(parse(sys.argv[1:] if arguments is None else arguments))
    except ImpossibleStepError as error:
        print(f"step_maker: error: {error}", file=sys.stderr)
        return WRONG_USAGE
    print(graph.print(), end="")
    return WRITTEN
