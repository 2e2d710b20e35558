# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A Llama whose feed-forward blocks, after the first layers, are mixtures of experts:
a router gives every token to a few experts, and shared experts see every token.
"""

import torch
import torch.nn.functional as F

from plan_maker.models.llama import FeedForward, Llama, TransformerBlock


def gate_fw(
    x: torch.Tensor,
    weight: torch.Tensor,
    score_func: str,
    bias: torch.Tensor | None,
    n_groups: int,
    topk_groups: int,
    topk: int,
    route_scale: float,
) -> tuple[torch.Tensor, torch.Tensor]:
    """The weights and the numbers of the `topk` experts of every token.

    Experts compete within the `topk_groups` groups that have the best of them.
    """
    scores = F.linear(x, weight)
    scores = scores.softmax(dim=-1) if score_func == "softmax" else scores.sigmoid()
    ranking = scores if bias is None else scores + bias
    if n_groups > 1:
        grouped = ranking.view(x.shape[0], n_groups, -1)
        if bias is None:
            group_scores = grouped.amax(dim=-1)
        else:
            group_scores = grouped.topk(2, dim=-1)[0].sum(dim=-1)
        groups = group_scores.topk(topk_groups, dim=-1)[1]
        left_out = torch.ones_like(group_scores, dtype=torch.bool).scatter(1, groups, False)
        ranking = grouped.masked_fill(left_out.unsqueeze(-1), float("-inf")).flatten(1)
    indices = ranking.topk(topk, dim=-1)[1]
    weights = scores.gather(1, indices)
    if score_func == "sigmoid":
        weights = weights / weights.sum(dim=-1, keepdim=True)
    return weights * route_scale, indices


def nnscaler_moe_gmm(
    x: torch.Tensor,
    topk_idx: torch.Tensor,
    topk_weight: torch.Tensor,
    gate_projs: torch.Tensor,
    up_projs: torch.Tensor,
    down_projs: torch.Tensor,
    n_routed_experts: int,
    local_expert_start: int,
    local_expert_end: int,
) -> torch.Tensor:
    """The sum over each token's experts that are in the local range."""
    output = torch.zeros_like(x)
    for local, expert in enumerate(range(local_expert_start, local_expert_end)):
        tokens, places = torch.where(topk_idx == expert)
        inner = F.silu(x[tokens] @ gate_projs[local].T) * (x[tokens] @ up_projs[local].T)
        result = (inner @ down_projs[local].T) * topk_weight[tokens, places, None]
        output = output.index_add(0, tokens, result)
    return output


class Gate(torch.nn.Module):
    def __init__(
        self,
        dim: int,
        experts: int,
        score_func: str,
        n_groups: int,
        topk_groups: int,
        topk: int,
        route_scale: float,
    ) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.empty(experts, dim))
        self.score_func, self.topk, self.route_scale = score_func, topk, route_scale
        self.groups = n_groups, topk_groups

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        rest = self.topk, self.route_scale
        return gate_fw(x, self.weight, self.score_func, None, *self.groups, *rest)


class MoE(torch.nn.Module):
    def __init__(
        self, dim: int, experts: int, inner: int, shared: int, gate: Gate
    ) -> None:
        super().__init__()
        self.dim, self.experts = dim, experts
        self.gate = gate
        self.w11 = torch.nn.Parameter(torch.empty(experts, inner, dim))
        self.w33 = torch.nn.Parameter(torch.empty(experts, inner, dim))
        self.w22 = torch.nn.Parameter(torch.empty(experts, dim, inner))
        self.shared_experts = FeedForward(dim, shared * inner)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        shape = x.shape
        x = x.view(-1, self.dim)
        weights, indices = self.gate(x)
        projections = self.w11, self.w33, self.w22
        y = nnscaler_moe_gmm(x, indices, weights, *projections, self.experts, 0, self.experts)
        z = self.shared_experts(x)
        return (y + z).view(shape)


class LlamaMoE(Llama):
    """Layers from `dense_layers` on have experts; the rest is as in Llama."""

    def __init__(
        self,
        dim: int,
        layers: int,
        heads: int,
        hidden_dim: int,
        vocab: int,
        sequence: int,
        dense_layers: int,
        moe: dict[str, int],
        gate: dict[str, int],
    ) -> None:
        super().__init__(dim, layers, heads, hidden_dim, vocab, sequence)
        for layer in self.layers[dense_layers:]:
            assert isinstance(layer, TransformerBlock)
            layer.feed_forward = MoE(dim, gate=Gate(dim, **gate), **moe)
