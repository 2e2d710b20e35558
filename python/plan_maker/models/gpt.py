# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""GPT with an output layer that shares the token embedding, and the sum of its
result as loss. Inside, activations are sequence x batch x hidden.
"""

import torch
import torch.nn.functional as F


def self_attention(
    x: torch.Tensor,
    qkv_proj: torch.Tensor,
    qkv_bias: torch.Tensor,
    out_proj: torch.Tensor,
    h: int,
    scale: float,
    dropout_p: float,
    mask: bool = False,
) -> torch.Tensor:
    """Attention with `h` heads; the columns of `qkv_proj` are heads x head size x 3."""
    length, batch = x.shape[0], x.shape[1]
    qkv = F.linear(x, qkv_proj, qkv_bias).view(length, batch * h, -1, 3)
    q, k, v = (part.transpose(0, 1) for part in qkv.unbind(-1))
    scores = torch.bmm(q * scale, k.transpose(1, 2))
    if mask:
        above = torch.ones(length, length, device=x.device, dtype=torch.bool).triu(1)
        scores = scores.masked_fill(above, float("-inf"))
    weights = F.dropout(F.softmax(scores, dim=-1), dropout_p, True, False)
    output = torch.bmm(weights, v).transpose(0, 1).reshape(length, batch, -1)
    return F.linear(output, out_proj)


def feedforward(
    x: torch.Tensor,
    proj1: torch.Tensor,
    proj1_bias: torch.Tensor,
    proj2: torch.Tensor,
    dropout: float,
    is_training: bool = True,
) -> torch.Tensor:
    x = F.gelu(F.linear(x, proj1, proj1_bias))
    return F.linear(F.dropout(x, dropout, is_training, False), proj2)


class MultiHeadSelfAttention(torch.nn.Module):
    def __init__(self, dim: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.heads, self.scale, self.dropout_p = heads, (dim // heads) ** -0.5, dropout
        self.qkv_proj = torch.nn.Parameter(torch.empty(3 * dim, dim))
        self.qkv_bias = torch.nn.Parameter(torch.empty(3 * dim))
        self.out_proj = torch.nn.Parameter(torch.empty(dim, dim))
        self.out_bias = torch.nn.Parameter(torch.empty(dim))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        weights = self.qkv_proj, self.qkv_bias, self.out_proj
        attn = self_attention(x, *weights, self.heads, self.scale, self.dropout_p)
        attn = attn + self.out_bias
        return attn


class MLP(torch.nn.Module):
    def __init__(self, dim: int, hidden_dim: int, dropout: float) -> None:
        super().__init__()
        self.dropout = dropout
        self.proj1 = torch.nn.Parameter(torch.empty(hidden_dim, dim))
        self.proj1_bias = torch.nn.Parameter(torch.empty(hidden_dim))
        self.proj2 = torch.nn.Parameter(torch.empty(dim, hidden_dim))
        self.proj2_bias = torch.nn.Parameter(torch.empty(dim))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = feedforward(x, self.proj1, self.proj1_bias, self.proj2, self.dropout)
        x = x + self.proj2_bias
        return x


class TransformerLayer(torch.nn.Module):
    def __init__(self, dim: int, heads: int, hidden_dim: int, dropout: float = 0.2) -> None:
        super().__init__()
        self.self_attn_layer_norm = torch.nn.LayerNorm(dim)
        self.self_attn = MultiHeadSelfAttention(dim, heads, dropout)
        self.final_layer_norm = torch.nn.LayerNorm(dim)
        self.mlp = MLP(dim, hidden_dim, dropout)
        self.dropout = torch.nn.Dropout(dropout)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        attn = self.self_attn(self.self_attn_layer_norm(x))
        x = x + self.dropout(attn)
        out = self.mlp(self.final_layer_norm(x))
        out = x + self.dropout(out)
        return out


class GPT(torch.nn.Module):
    def __init__(
        self, dim: int, layers: int, heads: int, hidden_dim: int, vocab: int, sequence: int
    ) -> None:
        super().__init__()
        self.embedw = torch.nn.Parameter(torch.empty(vocab, dim))
        self.position = torch.nn.Embedding(sequence, dim)
        self.embed_dropout = torch.nn.Dropout()
        self.layers = torch.nn.ModuleList(
            TransformerLayer(dim, heads, hidden_dim) for _ in range(layers)
        )
        self.final_layernorm = torch.nn.LayerNorm(dim)

    def forward(self, input_ids: torch.Tensor, position_ids: torch.Tensor) -> torch.Tensor:
        embed = F.embedding(input_ids, self.embedw)
        pos_embed = self.position(position_ids)
        embed = self.embed_dropout(embed + pos_embed)
        enc = embed.transpose(0, 1)
        for layer in self.layers:
            enc = layer(enc)
        enc = self.final_layernorm(enc)
        logits = F.linear(enc, self.embedw)
        loss = torch.sum(logits)
        return loss
