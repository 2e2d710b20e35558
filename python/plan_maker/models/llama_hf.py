# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Llama 3 without grouped queries, in the operations of PyTorch that the transformers
library uses: rotation by halves, fused attention, cross entropy. Each attention makes its
angles and its mask of the positions itself.
"""

import torch
import torch.nn.functional as F


def rotate_half(x: torch.Tensor) -> torch.Tensor:
    """The second half of the last dimension, negated, and then the first."""
    half = x.shape[-1] // 2
    x1 = x[:, :, :, :half]
    x2 = x[:, :, :, half:]
    return torch.cat((-x2, x1), dim=-1)


class RMSNorm(torch.nn.Module):
    def __init__(self, dim: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.eps = eps
        self.weight = torch.nn.Parameter(torch.ones(dim))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        variance = x.pow(2).mean(-1, keepdim=True)
        x = x * torch.rsqrt(variance + self.eps)
        return self.weight * x


class Attention(torch.nn.Module):
    def __init__(self, dim: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.head_size = dim // heads
        self.q_proj = torch.nn.Linear(dim, dim, bias=False)
        self.k_proj = torch.nn.Linear(dim, dim, bias=False)
        self.v_proj = torch.nn.Linear(dim, dim, bias=False)
        self.o_proj = torch.nn.Linear(dim, dim, bias=False)
        powers = -torch.arange(0, self.head_size, 2) / self.head_size
        self.register_buffer("frequencies", 500000.0**powers)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        bsz, seqlen, _ = x.shape
        positions = torch.arange(seqlen)
        angles = positions.float().unsqueeze(1) * self.frequencies
        angles = torch.cat((angles, angles), dim=-1)
        cos = angles.cos()
        sin = angles.sin()
        future = positions.unsqueeze(0) > positions.unsqueeze(1)
        mask = torch.zeros((seqlen, seqlen)).masked_fill(future, float("-inf"))
        q = self.q_proj(x).view(bsz, seqlen, self.heads, self.head_size).permute(0, 2, 1, 3)
        k = self.k_proj(x).view(bsz, seqlen, self.heads, self.head_size).permute(0, 2, 1, 3)
        v = self.v_proj(x).view(bsz, seqlen, self.heads, self.head_size).permute(0, 2, 1, 3)
        q = q * cos + rotate_half(q) * sin
        k = k * cos + rotate_half(k) * sin
        output = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        output = output.permute(0, 2, 1, 3).flatten(2, 3)
        return self.o_proj(output)


class MLP(torch.nn.Module):
    def __init__(self, dim: int, hidden_dim: int) -> None:
        super().__init__()
        self.up_proj = torch.nn.Linear(dim, hidden_dim, bias=False)
        self.gate_proj = torch.nn.Linear(dim, hidden_dim, bias=False)
        self.down_proj = torch.nn.Linear(hidden_dim, dim, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class DecoderLayer(torch.nn.Module):
    def __init__(self, dim: int, heads: int, hidden_dim: int) -> None:
        super().__init__()
        self.input_layernorm = RMSNorm(dim)
        self.self_attn = Attention(dim, heads)
        self.post_attention_layernorm = RMSNorm(dim)
        self.mlp = MLP(dim, hidden_dim)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.self_attn(self.input_layernorm(x))
        x = x + self.mlp(self.post_attention_layernorm(x))
        return x


class LlamaForCausalLM(torch.nn.Module):
    def __init__(self, dim: int, layers: int, heads: int, hidden_dim: int, vocab: int) -> None:
        super().__init__()
        self.embed_tokens = torch.nn.Embedding(vocab, dim)
        self.layers = torch.nn.ModuleList(
            DecoderLayer(dim, heads, hidden_dim) for _ in range(layers)
        )
        self.norm = RMSNorm(dim)
        self.lm_head = torch.nn.Linear(dim, vocab, bias=False)

    def forward(self, input_ids: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        x = self.embed_tokens(input_ids)
        for layer in self.layers:
            x = layer(x)
        logits = self.lm_head(self.norm(x))
        loss = F.cross_entropy(logits.flatten(0, 1), labels.flatten(0, 1), reduction="sum")
        return loss
