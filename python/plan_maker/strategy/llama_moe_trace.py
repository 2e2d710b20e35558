# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A Llama with mixtures of experts as one device runs it.

Within a mixture of experts, activations are tokens x hidden: samples and positions
are one dimension.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from plan_maker.graph import FullTensor, Module
from plan_maker.source import read_model
from plan_maker.strategy.configuration import LlamaMoeSizes
from plan_maker.strategy.llama_trace import LlamaTracer
from plan_maker.trace import Keywords, Kind, LocalBound, LocalShape, Trace, Tracer

MODEL = "plan_maker.models.llama_moe"

ADD_TOKENS = Kind("add", "torch.add", ("a b, a b -> a b",))
EXPERTS = Kind(
    "nnscaler_moe_gmm",
    f"{MODEL}.nnscaler_moe_gmm",
    ("a h^, a e, a e, E+ d+ h^, E+ d+ h^, E+ h^ d+ -> a h^",),
)


def trace_llama_moe(sizes: LlamaMoeSizes, local_batch: int) -> Trace:
    """The trace for `local_batch` samples."""
    return _MoeTracer(read_model("llama"), Tracer(), (), None, sizes).trace(local_batch)


@dataclass
class _MoeTracer(LlamaTracer):
    sizes: LlamaMoeSizes

    def feed_forward(self, path: str, x: FullTensor) -> FullTensor:
        """A mixture of experts; in the first layers a block as in a Llama."""
        if self.layer is not None and self.layer < self.sizes.dense_layers:
            return super().feed_forward(path, x)
        here = replace(self, source=read_model("llama_moe")).inside(Module(path, MODEL, "MoE"))
        sequence, hidden = self.sizes.sequence, self.sizes.hidden
        flat = Kind("view", "torch.Tensor.view", (f"a {sequence} c -> (a {sequence}) c",))
        size = (("size", LocalShape(inferred=0)),)
        tokens = here.call(flat, (x,), "x = x.view(-1, self.dim)", size)
        weights, indices = here._route(path, tokens)
        routed = here._experts(path, tokens, indices, weights)
        inner = self.sizes.shared_experts * self.sizes.expert_ffn
        shared = replace(here, source=self.source).gated(f"{path}.shared_experts", tokens, inner)
        code = "return (y + z).view(shape)"
        result = here.call(ADD_TOKENS, (routed, shared), code, (("alpha", 1),))
        whole = Kind("view", "torch.Tensor.view", (f"(a {sequence}) c -> a {sequence} c",))
        assert result.shape[-1] == hidden
        return here.call(whole, (result,), code, (("size", LocalShape()),))

    def _route(self, path: str, tokens: FullTensor) -> tuple[FullTensor, ...]:
        """The weights and the numbers of every token's experts."""
        sizes = self.sizes
        module = Module(f"{path}.gate", MODEL, "Gate")
        weight = self.tracer.parameter(f"{path}.gate.weight", (sizes.experts, sizes.hidden))
        gate = Kind(
            "gate_fw",
            f"{MODEL}.gate_fw",
            ("a^ h^, e^ h^ -> a^ k^, a^ k^",),
            sizes=(("k", sizes.active_experts),),
            index_results=(1,),
        )
        keywords: Keywords = (
            ("score_func", str(sizes.score)),
            ("bias", None),
            ("n_groups", sizes.expert_groups),
            ("topk_groups", sizes.active_groups),
            ("topk", sizes.active_experts),
            ("route_scale", sizes.route_scale),
        )
        code = "return gate_fw(x, self.weight, self.score_func, None, *self.groups, *rest)"
        return self.inside(module).calls(gate, (tokens, weight), code, keywords)

    def _experts(
        self, path: str, tokens: FullTensor, indices: FullTensor, weights: FullTensor
    ) -> FullTensor:
        """The weighted sum of the results of every token's experts."""
        count, inner, hidden = self.sizes.experts, self.sizes.expert_ffn, self.sizes.hidden
        projections = (
            self.tracer.parameter(f"{path}.w11", (count, inner, hidden)),
            self.tracer.parameter(f"{path}.w33", (count, inner, hidden)),
            self.tracer.parameter(f"{path}.w22", (count, hidden, inner)),
        )
        keywords: Keywords = (
            ("n_routed_experts", count),
            ("local_expert_start", LocalBound("E", count)),
            ("local_expert_end", LocalBound("E", count, is_end=True)),
        )
        code = (
            "y = nnscaler_moe_gmm(x, indices, weights, *projections, self.experts, 0, self.experts)"
        )
        return self.call(EXPERTS, (tokens, indices, weights, *projections), code, keywords)
