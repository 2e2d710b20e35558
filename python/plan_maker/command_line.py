# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command line of `verify-make-plan`.

Exit codes: 0 the files are written; 1 a file could not be written; 3 the command
line is wrong or asks for a plan that does not exist.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import NoReturn, TypeVar

from plan_maker.bugs import BUGS, OPERATIONS, Direction, Place, apply_bug, describe
from plan_maker.emit import check_path, write_plan
from plan_maker.errors import ImpossiblePlanError
from plan_maker.graph import Plan
from plan_maker.strategy.configuration import (
    ExpertSplit,
    GptSizes,
    LlamaMoeSizes,
    LlamaSizes,
    MlpSizes,
    Parallelism,
    PartOrder,
    Score,
    TensorStyle,
    TransformerSizes,
)
from plan_maker.strategy.gpt import make_gpt
from plan_maker.strategy.llama import make_llama
from plan_maker.strategy.llama_hf import make_llama_hf
from plan_maker.strategy.llama_moe import make_llama_moe
from plan_maker.strategy.mlp import make_mlp
from plan_maker.strategy.schedule import ScheduleKind

Sizes = TypeVar("Sizes", bound=TransformerSizes)

WRITTEN, NOT_WRITTEN, WRONG_USAGE = 0, 1, 3


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(WRONG_USAGE, f"{self.prog}: error: {message}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit code."""
    if arguments is None:
        signal.signal(signal.SIGTERM, _stop)
        signal.signal(signal.SIGINT, _stop)
    parser = _make_parser()
    # Who reads only the beginning of a list ends this without an error.
    before = signal.getsignal(signal.SIGPIPE)
    if arguments is None:
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    options = parser.parse_args(arguments)
    if arguments is None:
        signal.signal(signal.SIGPIPE, before)
    if wrong := _find_wrong_usage(options):
        parser.error(wrong)
    try:
        # A large plan is not made for nothing.
        check_path(options.output)
        if options.reference is not None:
            check_path(options.reference)
        write_plan(make_plan(options), options.output)
        if options.reference is not None:
            write_plan(make_reference(options), options.reference)
    except ImpossiblePlanError as error:
        print(f"{parser.prog}: error: {error}", file=sys.stderr)
        return WRONG_USAGE
    except OSError as error:
        print(f"{parser.prog}: error: {error.filename}: {error.strerror}", file=sys.stderr)
        return NOT_WRITTEN
    return WRITTEN


def read_options(arguments: Sequence[str]) -> argparse.Namespace:
    """What the command line asks for."""
    return _make_parser().parse_args(arguments)


def make_plan(options: argparse.Namespace) -> Plan:
    """The plan that is asked for, with its bug; ImpossiblePlanError if there is none."""
    plan: Plan = options.make(options, _parallelism(options))
    return plan if options.bug is None else _with_bug(plan, options)


def make_reference(options: argparse.Namespace) -> Plan:
    """The same for one device."""
    if options.reference_batch is not None:
        options.batch = options.reference_batch
    reference: Plan = options.make(options, Parallelism())
    return reference


def _find_wrong_usage(options: argparse.Namespace) -> str:
    """What options contradict, or do nothing without; empty if nothing."""
    if options.reference is not None and options.reference.resolve() == options.output.resolve():
        return "-o and --reference are one file"
    if options.bug is None:
        for name, value in vars(options).items():
            if name.startswith(("bug_", "describe_bug")) and value is not None:
                return f"--{name.replace('_', '-')} takes --bug"
    return ""


def _stop(number: int, _: FrameType | None) -> None:
    """Ends as an exception does, so that no part of a file is left."""
    sys.exit(128 + number)


def _with_bug(plan: Plan, options: argparse.Namespace) -> Plan:
    """The plan with the bug; says where it is if asked to."""
    place = Place(
        options.bug_device,
        options.bug_layer,
        options.bug_operation,
        options.bug_micro_batch,
        options.bug_direction,
        options.bug_number or 0,
    )
    plan, broken = apply_bug(plan, options.bug, place)
    if options.describe_bug is not None:
        description = {"bug": options.bug, "edits": describe(plan, broken)}
        options.describe_bug.write_text(json.dumps(description, indent=1) + "\n", "utf-8")
    return broken


def _make_parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="verify-make-plan",
        description="Write a distributed execution plan in nnScaler's pickle format, with the "
        "single-device plan of the same model to compare it with.",
        epilog="Exit codes: 0 written, 1 not written, 3 wrong usage or no such plan.",
    )
    _add_list_of_bugs(parser)
    models = parser.add_subparsers(dest="model", metavar="MODEL", required=True)
    _add_mlp(models)
    _add_llama(models)
    _add_llama_hf(models)
    _add_llama_moe(models)
    _add_gpt(models)
    return parser


def _add_mlp(models: argparse._SubParsersAction[_Parser]) -> None:
    parser = models.add_parser(
        "mlp", help="linear layers and a sum", description="Plan of a stack of linear layers."
    )
    sizes = parser.add_argument_group("sizes of the model")
    sizes.add_argument("--layers", type=int, default=2, metavar="N", help="layers (default: 2)")
    sizes.add_argument(
        "--hidden", type=int, default=64, metavar="N", help="width of every layer (default: 64)"
    )
    _add_batch(sizes)
    _add_parallelism(parser)
    _add_files(parser)
    _add_bug(parser)

    def make(options: argparse.Namespace, parallelism: Parallelism) -> Plan:
        return make_mlp(MlpSizes(options.layers, options.hidden, options.batch), parallelism)

    parser.set_defaults(make=make)


def _add_llama(models: argparse._SubParsersAction[_Parser]) -> None:
    parser = models.add_parser(
        "llama", help="a Llama 3 transformer", description="Plan of a Llama 3 transformer."
    )
    _add_transformer(parser)

    def make(options: argparse.Namespace, parallelism: Parallelism) -> Plan:
        return make_llama(_sizes(LlamaSizes, options), parallelism)

    parser.set_defaults(make=make)


def _add_llama_hf(models: argparse._SubParsersAction[_Parser]) -> None:
    parser = models.add_parser(
        "llama-hf",
        help="a Llama 3 transformer in other functions of PyTorch",
        description="Plan of a Llama 3 transformer as the transformers library writes it: rotation "
        "by halves, fused attention, cross entropy.",
    )
    _add_transformer(parser)

    def make(options: argparse.Namespace, parallelism: Parallelism) -> Plan:
        return make_llama_hf(_sizes(LlamaSizes, options), parallelism)

    parser.set_defaults(make=make)


def _add_llama_moe(models: argparse._SubParsersAction[_Parser]) -> None:
    parser = models.add_parser(
        "llama-moe",
        help="a Llama 3 transformer with mixtures of experts",
        description="Plan of a Llama 3 transformer whose layers, after the first, are mixtures of "
        "experts.",
    )
    _add_transformer(parser)
    _add_experts(parser)

    def make(options: argparse.Namespace, parallelism: Parallelism) -> Plan:
        return make_llama_moe(_moe_sizes(options), parallelism)

    parser.set_defaults(make=make)


def _add_experts(parser: _Parser) -> None:
    group = parser.add_argument_group("mixtures of experts")
    for option, default, meaning in (
        ("--dense-layers", 1, "first layers without experts"),
        ("--experts", 8, "experts per layer"),
        ("--active-experts", 2, "experts that a token goes to"),
        ("--expert-groups", 4, "groups that the experts are in"),
        ("--active-groups", 2, "groups that a token's experts can be in"),
        ("--expert-ffn", 32, "inner elements of an expert"),
        ("--shared-experts", 1, "experts that every token goes to"),
    ):
        text = f"{meaning} (default: {default})"
        group.add_argument(option, type=int, default=default, metavar="N", help=text)
    group.add_argument(
        "--score",
        type=Score,
        choices=list(Score),
        default=Score.SIGMOID,
        help="the router's score of an expert (default: sigmoid)",
    )
    group.add_argument(
        "--route-scale",
        type=float,
        default=2.5,
        metavar="X",
        help="factor of the experts' weights (default: 2.5)",
    )
    group.add_argument(
        "--expert-split",
        type=ExpertSplit,
        choices=list(ExpertSplit),
        default=ExpertSplit.EXPERTS,
        help="what the ranks of a stage divide among them: experts, the inner dimension of every "
        "expert, tokens, or nothing (default: experts)",
    )


def _moe_sizes(options: argparse.Namespace) -> LlamaMoeSizes:
    return LlamaMoeSizes(
        options.layers,
        options.hidden,
        options.ffn,
        options.heads,
        options.vocab,
        options.sequence,
        options.batch,
        options.dense_layers,
        options.experts,
        options.active_experts,
        options.expert_groups,
        options.active_groups,
        options.expert_ffn,
        options.shared_experts,
        options.score,
        options.route_scale,
    )


def _add_gpt(models: argparse._SubParsersAction[_Parser]) -> None:
    parser = models.add_parser(
        "gpt",
        help="a GPT transformer",
        description="Plan of a GPT transformer whose output layer shares the token embedding.",
    )
    _add_transformer(parser)

    def make(options: argparse.Namespace, parallelism: Parallelism) -> Plan:
        return make_gpt(_sizes(GptSizes, options), parallelism)

    parser.set_defaults(make=make)


def _add_transformer(parser: _Parser) -> None:
    sizes = parser.add_argument_group("sizes of the model")
    for option, default, meaning in (
        ("--layers", 2, "transformer blocks"),
        ("--hidden", 64, "elements per token"),
        ("--ffn", 128, "inner elements of a feed-forward block"),
        ("--heads", 4, "attention heads"),
        ("--vocab", 128, "different tokens"),
        ("--sequence", 16, "tokens per sample"),
    ):
        text = f"{meaning} (default: {default})"
        sizes.add_argument(option, type=int, default=default, metavar="N", help=text)
    _add_batch(sizes)
    parallelism = _add_parallelism(parser)
    parallelism.add_argument(
        "--split-vocabulary",
        action="store_true",
        help="the ranks of a stage also divide the rows of the token embedding and the columns "
        "of the output layer",
    )
    _add_files(parser)
    _add_bug(parser)


def _sizes(model: type[Sizes], options: argparse.Namespace) -> Sizes:
    return model(
        options.layers,
        options.hidden,
        options.ffn,
        options.heads,
        options.vocab,
        options.sequence,
        options.batch,
    )


def _add_batch(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--batch",
        type=int,
        default=16,
        metavar="N",
        help="samples in all replicas and micro-batches together (default: 16)",
    )


def _add_parallelism(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    group = parser.add_argument_group("parallelism")
    for option, meaning in (
        ("--dp", "data-parallel replicas"),
        ("--pp", "pipeline stages"),
        ("--tp", "tensor-parallel ranks per stage"),
        ("--micro-batches", "micro-batches per step"),
    ):
        group.add_argument(option, type=int, default=1, metavar="N", help=f"{meaning} (default: 1)")
    group.add_argument(
        "--tp-style",
        type=TensorStyle,
        choices=list(TensorStyle),
        default=TensorStyle.MEGATRON,
        help="what the ranks of a stage divide among them: samples, parameters, the parameters "
        "of feed-forward blocks only, positions, each op something else, or parameters and, "
        "between the blocks, positions; positions, and heads in attention; positions, with "
        "gathered keys and values (default: megatron)",
    )
    group.add_argument(
        "--schedule",
        type=ScheduleKind,
        choices=list(ScheduleKind),
        default=ScheduleKind.ONE_FORWARD_ONE_BACKWARD,
        help="order of the micro-batches' blocks (default: 1f1b)",
    )
    group.add_argument(
        "--part-order",
        type=PartOrder,
        choices=list(PartOrder),
        default=PartOrder.RANK,
        help="which part of a tensor a rank declares to send to the next stage; what runs goes "
        "by rank, so that a plan with scattered parts is wrong (default: rank)",
    )
    group.add_argument(
        "--layers-per-stage",
        type=_counts,
        metavar="N,N,...",
        help="layers of each stage (default: even, the first stages having one more)",
    )
    group.add_argument(
        "--virtual-stages",
        type=int,
        default=1,
        metavar="N",
        help="stages that the ranks of a stage have in turn: with --pp 2, the first ranks have "
        "stages 0, 2, ..., the others 1, 3, ... (default: 1)",
    )
    return group


def _add_files(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("files")
    group.add_argument(
        "-o", "--output", type=Path, required=True, metavar="FILE", help="the parallel plan"
    )
    group.add_argument(
        "--reference", type=Path, metavar="FILE", help="the single-device plan, never with a bug"
    )
    group.add_argument(
        "--reference-batch",
        type=int,
        metavar="N",
        help="samples of the single-device plan (default: as many as the parallel plan has)",
    )


def _add_bug(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("bug")
    group.add_argument("--bug", metavar="NAME", help="put this bug into the parallel plan")
    group.add_argument(
        "--bug-device", type=int, metavar="N", help="device (default: the first that can have it)"
    )
    group.add_argument(
        "--bug-layer", type=int, metavar="N", help="layer (default: the first that can have it)"
    )
    group.add_argument(
        "--bug-micro-batch",
        type=int,
        metavar="N",
        help="micro-batch (default: all, or the last where one goes missing)",
    )
    group.add_argument(
        "--bug-direction",
        type=Direction,
        choices=list(Direction),
        help="of a transfer between stages (default: forward)",
    )
    group.add_argument(
        "--bug-number",
        type=int,
        metavar="N",
        help="which of the places that fit, counted from 0 (default: 0)",
    )
    group.add_argument(
        "--bug-operation",
        choices=OPERATIONS,
        help="op whose number the constant bugs change (default: the first of these that is there)",
    )
    group.add_argument(
        "--describe-bug",
        type=Path,
        metavar="FILE",
        help="write which cells and ops differ, and the model's lines that they come from, as JSON",
    )
    _add_list_of_bugs(group)


def _add_list_of_bugs(parser: argparse._ActionsContainer) -> None:
    parser.add_argument(
        "--list-bugs", action=_ListBugs, nargs=0, help="list the bugs and what they are"
    )


class _ListBugs(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        for bug in BUGS:
            text = textwrap.fill(
                bug.description, width=79, initial_indent="    ", subsequent_indent="    "
            )
            print(f"{bug.name}\n{text}")
        parser.exit()


def _counts(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not a list of numbers") from None


def _parallelism(options: argparse.Namespace) -> Parallelism:
    return Parallelism(
        options.dp,
        options.pp,
        options.tp,
        options.micro_batches,
        options.tp_style,
        options.schedule,
        options.layers_per_stage,
        getattr(options, "split_vocabulary", False),
        options.part_order,
        getattr(options, "expert_split", ExpertSplit.EXPERTS),
        options.virtual_stages,
    )
