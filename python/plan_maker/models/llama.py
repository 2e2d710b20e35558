# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Llama 3 without grouped queries, and the sum of its result as loss."""

import math

import torch
import torch.nn.functional as F


def precompute_freqs_cis(head_size: int, sequence: int, theta: float = 500000.0) -> torch.Tensor:
    freqs = 1.0 / (theta ** (torch.arange(0, head_size, 2).float() / head_size))
    angles = torch.outer(torch.arange(sequence).float(), freqs)
    return torch.polar(torch.ones_like(angles), angles)


def apply_rotary_emb(
    xq: torch.Tensor, xk: torch.Tensor, freqs_cis: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Turns each pair of the last dimension by the angle of its position."""
    factor = freqs_cis.view(1, xq.shape[1], 1, xq.shape[3] // 2)
    xq_pairs = torch.view_as_complex(xq.float().reshape(*xq.shape[:-1], -1, 2))
    xk_pairs = torch.view_as_complex(xk.float().reshape(*xk.shape[:-1], -1, 2))
    xq_out = torch.view_as_real(xq_pairs * factor).flatten(3)
    xk_out = torch.view_as_real(xk_pairs * factor).flatten(3)
    return xq_out.type_as(xq), xk_out.type_as(xk)


def create_mask(tokens: torch.Tensor, h: torch.Tensor) -> torch.Tensor:
    """Minus infinity above the diagonal, 0 elsewhere: a position sees no later one."""
    seqlen = tokens.shape[1]
    mask = torch.full((seqlen, seqlen), float("-inf"), device=tokens.device)
    return torch.triu(mask, diagonal=1).view(1, 1, seqlen, seqlen).type_as(h)


def apply_mask(scores: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    return scores + mask


class RMSNorm(torch.nn.Module):
    def __init__(self, dim: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.eps = eps
        self.weight = torch.nn.Parameter(torch.ones(dim))

    def _norm(self, x: torch.Tensor) -> torch.Tensor:
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        output = self._norm(x.float()).type_as(x)
        return output * self.weight


class Attention(torch.nn.Module):
    def __init__(self, dim: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.head_size = dim // heads
        self.wq = torch.nn.Linear(dim, dim, bias=False)
        self.wk = torch.nn.Linear(dim, dim, bias=False)
        self.wv = torch.nn.Linear(dim, dim, bias=False)
        self.wo = torch.nn.Linear(dim, dim, bias=False)

    def forward(
        self, x: torch.Tensor, freqs_cis: torch.Tensor, mask: torch.Tensor
    ) -> torch.Tensor:
        bsz, seqlen, _ = x.shape
        xq, xk, xv = self.wq(x), self.wk(x), self.wv(x)

        xq = xq.view(bsz, seqlen, self.heads, self.head_size)
        xk = xk.view(bsz, seqlen, self.heads, self.head_size)
        xv = xv.view(bsz, seqlen, self.heads, self.head_size)
        xq, xk = apply_rotary_emb(xq, xk, freqs_cis)

        xq = xq.transpose(1, 2)
        keys = xk.transpose(1, 2)
        values = xv.transpose(1, 2)
        scores = torch.matmul(xq, keys.transpose(2, 3)) / math.sqrt(self.head_size)
        scores = apply_mask(scores, mask)
        scores = F.softmax(scores.float(), dim=-1).type_as(xq)
        output = torch.matmul(scores, values)
        output = output.transpose(1, 2).contiguous().view(bsz, seqlen, -1)
        return self.wo(output)


class FeedForward(torch.nn.Module):
    def __init__(self, dim: int, hidden_dim: int) -> None:
        super().__init__()
        self.w1 = torch.nn.Linear(dim, hidden_dim, bias=False)
        self.w2 = torch.nn.Linear(hidden_dim, dim, bias=False)
        self.w3 = torch.nn.Linear(dim, hidden_dim, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class TransformerBlock(torch.nn.Module):
    def __init__(self, dim: int, heads: int, hidden_dim: int) -> None:
        super().__init__()
        self.attention_norm = RMSNorm(dim)
        self.attention = Attention(dim, heads)
        self.ffn_norm = RMSNorm(dim)
        self.feed_forward = FeedForward(dim, hidden_dim)

    def forward(
        self, x: torch.Tensor, freqs_cis: torch.Tensor, mask: torch.Tensor
    ) -> torch.Tensor:
        h = x + self.attention(self.attention_norm(x), freqs_cis, mask)
        out = h + self.feed_forward(self.ffn_norm(h))
        return out


class Llama(torch.nn.Module):
    def __init__(
        self, dim: int, layers: int, heads: int, hidden_dim: int, vocab: int, sequence: int
    ) -> None:
        super().__init__()
        self.tok_embeddings = torch.nn.Embedding(vocab, dim)
        self.layers = torch.nn.ModuleList(
            TransformerBlock(dim, heads, hidden_dim) for _ in range(layers)
        )
        self.norm = RMSNorm(dim)
        self.output = torch.nn.Linear(dim, vocab, bias=False)
        self.freqs_cis = precompute_freqs_cis(dim // heads, sequence)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        h = self.tok_embeddings(tokens)
        mask = create_mask(tokens, h)
        for layer in self.layers:
            h = layer(h, self.freqs_cis, mask)
        h = self.norm(h)
        output = self.output(h).float()
        loss = torch.sum(output)
        return loss
