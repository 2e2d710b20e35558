# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A Llama of the transformers library as one device runs it, op by op as nnScaler
traces it.

Shapes: activations are batch x sequence x hidden, in attention batch x heads x
sequence x head size.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from plan_maker.graph import FLOAT32, INT64, Constant, FullTensor, Module
from plan_maker.source import read_model
from plan_maker.strategy.configuration import LlamaSizes
from plan_maker.strategy.model_tracer import ModelTracer
from plan_maker.trace import Keywords, Kind, LocalBound, LocalShape, Operand, Trace, Tracer

MODEL = "plan_maker.models.llama_hf"
RUNTIME = "nnscaler.runtime.function"
FUNCTIONAL = "torch.nn.functional"

ELEMENTWISE = ("* -> *",)
WITH_NUMBER = ("*, ? -> *", "?, * -> *")
SAME_SHAPES = ("a b c, a b c -> a b c",)
ALL: Constant = slice(None, None, None)

# Of tensors that are the same on all ranks.
COS = Kind("cos", "torch.cos", ("a^ b^ -> a^ b^",))
GREATER = Kind("gt", "torch.gt", ("1 b^, a^ 1 -> a^ b^",), truth_results=(0,))
INDEX_COLUMN = Kind("unsqueeze", "torch.unsqueeze", ("a^ -> a^ 1",), index_results=(0,))
MASKED_FILL = Kind("masked_fill", "torch.Tensor.masked_fill", ("a^ b^, a^ b^ -> a^ b^",))
OUTER = Kind("mul", "torch.mul", ("a^ 1, b^ -> a^ b^",))
SIN = Kind("sin", "torch.sin", ("a^ b^ -> a^ b^",))
TO_COLUMN = Kind("unsqueeze", "torch.unsqueeze", ("a^ -> a^ 1",))
TO_FLOAT = Kind("float", "torch.Tensor.float", ("a^ -> a^",))
TO_ROW = Kind("unsqueeze", "torch.unsqueeze", ("a^ -> 1 a^",), index_results=(0,))

ADD = Kind("add", "torch.add", SAME_SHAPES)
ADD_HEADS = Kind("add", "torch.add", ("a b c d, a b c d -> a b c d",))
ADD_NUMBER = Kind("add", "torch.add", WITH_NUMBER)
CROSS_ENTROPY = Kind("cross_entropy", f"{FUNCTIONAL}.cross_entropy", ("N+ C^, N+ -> 1",))
EMBEDDING = Kind("embedding", f"{RUNTIME}.embedding", ("*, n+ e -> * e",))
LINEAR = Kind("linear", f"{FUNCTIONAL}.linear", ("* k+, n k+ -> * n",))
MEAN = Kind("mean", "torch.mean", ("a b c^ -> a b 1",))
MUL = Kind("mul", "torch.mul", SAME_SHAPES)
MUL_COLUMN = Kind("mul", "torch.mul", ("a b c, a b 1 -> a b c",))
MUL_POSITIONS = Kind("mul", "torch.mul", ("a b c^ d, c^ d -> a b c^ d",))
NEG = Kind("neg", "torch.neg", ELEMENTWISE)
POW = Kind("pow", "torch.pow", WITH_NUMBER, result="pow_1")
RSQRT = Kind("rsqrt", "torch.rsqrt", ("a b c -> a b c",))
SCALE_ROW = Kind("mul", "torch.mul", ("c, a b c -> a b c",))
SDPA = Kind(
    "scaled_dot_product_attention",
    f"{FUNCTIONAL}.scaled_dot_product_attention",
    ("a b f^ e^, a b c^ e^, a b c^ d, f^ c^ -> a b f^ d",),
)
SILU = Kind("silu", f"{FUNCTIONAL}.silu", ELEMENTWISE)
SWAP_HEADS = Kind("permute", "torch.permute", ("a b c d -> a c b d",))


def trace_llama_hf(sizes: LlamaSizes, local_batch: int) -> Trace:
    """The trace for `local_batch` samples."""
    return _Tracer(read_model("llama_hf"), Tracer(), (), None, sizes).trace(local_batch)


@dataclass
class _Tracer(ModelTracer):
    sizes: LlamaSizes

    def trace(self, local_batch: int) -> Trace:
        loader = self.tracer.source()
        shape = (local_batch, self.sizes.sequence)
        tokens, labels = (
            self.tracer.tensor(name, shape, element_type=INT64, has_gradient=False)
            for name in ("input_ids", "labels")
        )
        x = self._embed(tokens)
        for layer in range(self.sizes.layers):
            self.layer = layer
            x = self._block(x)
        self.layer = None
        code = "logits = self.lm_head(self.norm(x))"
        logits = self._linear("lm_head", self.sizes.vocab, self._norm("norm", x), code)
        loss = self._loss(logits, labels)
        calls = tuple(self.tracer.calls)
        return Trace(calls, loader, (tokens, labels), loss, self.tracer.next_identifier)

    def _embed(self, tokens: FullTensor) -> FullTensor:
        vocab = self.sizes.vocab
        weight = self.tracer.parameter("embed_tokens.weight", (vocab, self.sizes.hidden))
        module = Module("embed_tokens", "torch.nn.modules.sparse", "Embedding")
        start, stop = LocalBound("n", vocab), LocalBound("n", vocab, is_end=True)
        keywords: Keywords = (("padding_idx", None), ("start", start), ("stop", stop))
        code = "x = self.embed_tokens(input_ids)"
        return self.inside(module).call(EMBEDDING, (tokens, weight), code, keywords)

    def _loss(self, logits: FullTensor, labels: FullTensor) -> FullTensor:
        code = 'loss = F.cross_entropy(logits.flatten(0, 1), labels.flatten(0, 1), reduction="sum")'
        size = self.sizes.sequence
        both = (("start_dim", 0), ("end_dim", 1))
        rows = Kind("flatten", "torch.flatten", (f"a {size} c -> (a {size}) c",))
        rows_of_labels = Kind(
            "flatten", "torch.flatten", (f"a {size} -> (a {size})",), index_results=(0,)
        )
        logits = self.call(rows, (logits,), code, both)
        (labels,) = self.calls(rows_of_labels, (labels,), code, both, has_gradient=False)
        keywords: Keywords = (
            ("weight", None),
            ("size_average", None),
            ("ignore_index", -100),
            ("reduce", None),
            ("reduction", "sum"),
            ("label_smoothing", 0.0),
        )
        (loss,) = self.calls(CROSS_ENTROPY, (logits, labels), code, keywords, is_loss=True)
        return loss

    def _block(self, x: FullTensor) -> FullTensor:
        path = f"layers.{self.layer}"
        block = self.inside(Module(path, MODEL, "DecoderLayer"))
        normal = block._norm(f"{path}.input_layernorm", x)
        code = "x = x + self.self_attn(self.input_layernorm(x))"
        x = block.call(ADD, (x, block._attention(f"{path}.self_attn", normal)), code)
        normal = block._norm(f"{path}.post_attention_layernorm", x)
        code = "x = x + self.mlp(self.post_attention_layernorm(x))"
        return block.call(ADD, (x, block._feed_forward(f"{path}.mlp", normal)), code)

    def _norm(self, path: str, x: FullTensor) -> FullTensor:
        """Divides by the root mean square of the last dimension, times a weight."""
        norm = self.inside(Module(path, MODEL, "RMSNorm"))
        code = "variance = x.pow(2).mean(-1, keepdim=True)"
        scale = norm.call(POW, (x, 2), code)
        scale = norm.call(MEAN, (scale,), code, (("dim", (2,)), ("keepdim", True)))
        code = "x = x * torch.rsqrt(variance + self.eps)"
        scale = norm.call(ADD_NUMBER, (scale, 1e-5), code, (("alpha", 1),))
        scale = norm.call(RSQRT, (scale,), code)
        x = norm.call(MUL_COLUMN, (x, scale), code)
        weight = self.tracer.parameter(f"{path}.weight", (self.sizes.hidden,))
        return norm.call(SCALE_ROW, (weight, x), "return self.weight * x")

    def _attention(self, path: str, x: FullTensor) -> FullTensor:
        here = self.inside(Module(path, MODEL, "Attention"))
        hidden, size = self.sizes.hidden, self.sizes.head_size
        to_heads = Kind("view", "torch.Tensor.view", (f"a b (c {size}) -> a b c {size}",))
        order = (("dims", (0, 2, 1, 3)),)

        def project(name: str) -> FullTensor:
            code = (
                f"{name} = self.{name}_proj(x)"
                ".view(bsz, seqlen, self.heads, self.head_size).permute(0, 2, 1, 3)"
            )
            y = here._linear(f"{path}.{name}_proj", hidden, x, code)
            y = here.call(to_heads, (y,), code, (("size", LocalShape()),))
            return here.call(SWAP_HEADS, (y,), code, order)

        query, key, value = project("q"), project("k"), project("v")
        positions = here._number(
            "arange",
            "positions = torch.arange(seqlen)",
            (("start", 0), ("end", self.sizes.sequence), ("step", 1), ("dtype", INT64)),
        )
        cos, sin = here._turn(path, positions)
        mask = here._mask(positions)
        query = here._rotate("q", query, cos, sin)
        key = here._rotate("k", key, cos, sin)
        keywords = (("dropout_p", 0.0), ("is_causal", False))
        code = "output = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)"
        y = here.call(SDPA, (query, key, value, mask), code, keywords)
        code = "output = output.permute(0, 2, 1, 3).flatten(2, 3)"
        y = here.call(SWAP_HEADS, (y,), code, order)
        joined = Kind("flatten", "torch.flatten", (f"a b c {size} -> a b (c {size})",))
        y = here.call(joined, (y,), code, (("start_dim", 2), ("end_dim", 3)))
        return here._linear(f"{path}.o_proj", hidden, y, "return self.o_proj(output)")

    def _constant(
        self, kind: Kind, operands: tuple[Operand, ...], code: str, keywords: Keywords = ()
    ) -> FullTensor:
        """The result of a call, which depends on no parameter."""
        (result,) = self.calls(kind, operands, code, keywords, has_gradient=False)
        return result

    def _number(self, name: str, code: str, keywords: Keywords) -> FullTensor:
        """A tensor of given numbers; its dimensions have the size of the sequence."""
        size = f"{self.sizes.sequence}^"
        shape = size if name == "arange" else f"{size} {size}"
        indices = (0,) if name == "arange" else ()
        kind = Kind(name, f"{RUNTIME}.{name}", (f"-> {shape}",), index_results=indices)
        return self._constant(kind, (), code, (*keywords, ("requires_grad", False)))

    def _turn(self, path: str, positions: FullTensor) -> tuple[FullTensor, FullTensor]:
        """Cosines and sines of the angles at each position, twice for each pair."""
        size = self.sizes.head_size
        code = "angles = positions.float().unsqueeze(1) * self.frequencies"
        frequencies = self.tracer.tensor(
            f"{path}.frequencies", (size // 2,), is_parameter=True, has_gradient=False
        )
        numbers = self._constant(TO_FLOAT, (positions,), code)
        column = self._constant(TO_COLUMN, (numbers,), code, (("dim", 1),))
        angles = self._constant(OUTER, (column, frequencies), code)
        code = "angles = torch.cat((angles, angles), dim=-1)"
        join = Kind("cat", f"{RUNTIME}.cat", (f"a^ b^, a^ b^ -> a^ {size}^",))
        angles = self._constant(join, (angles, angles), code, (("dim", -1),))
        cos = self._constant(COS, (angles,), "cos = angles.cos()")
        return cos, self._constant(SIN, (angles,), "sin = angles.sin()")

    def _mask(self, positions: FullTensor) -> FullTensor:
        """Minus infinity where a key is at a later position than a query, else 0."""
        code = "future = positions.unsqueeze(0) > positions.unsqueeze(1)"
        keys = self._constant(TO_ROW, (positions,), code, (("dim", 0),))
        queries = self._constant(INDEX_COLUMN, (positions,), code, (("dim", 1),))
        future = self._constant(GREATER, (keys, queries), code)
        code = 'mask = torch.zeros((seqlen, seqlen)).masked_fill(future, float("-inf"))'
        sequence = self.sizes.sequence
        zeros = self._number("zeros", code, (("size", (sequence, sequence)), ("dtype", FLOAT32)))
        return self._constant(MASKED_FILL, (zeros, future), code, (("value", -math.inf),))

    def _rotate(self, name: str, x: FullTensor, cos: FullTensor, sin: FullTensor) -> FullTensor:
        """`x` times cosines, and its halves exchanged, the second one negated, times sines."""
        size = self.sizes.head_size
        half = size // 2
        take = Kind(
            "fullslice", f"{RUNTIME}.fullslice", (f"a b c {size}, ?, ?, ?, ? -> a b c {half}",)
        )
        join = Kind("cat", f"{RUNTIME}.cat", (f"a b c {half}, a b c {half} -> a b c {size}",))
        low, high = slice(None, half, None), slice(half, None, None)
        first = self.call(take, (x, ALL, ALL, ALL, low), "x1 = x[:, :, :, :half]")
        second = self.call(take, (x, ALL, ALL, ALL, high), "x2 = x[:, :, :, half:]")
        code = "return torch.cat((-x2, x1), dim=-1)"
        second = self.call(NEG, (second,), code)
        rotated = self.call(join, (second, first), code, (("dim", -1),))
        code = f"{name} = {name} * cos + rotate_half({name}) * sin"
        x = self.call(MUL_POSITIONS, (x, cos), code)
        rotated = self.call(MUL_POSITIONS, (rotated, sin), code)
        return self.call(ADD_HEADS, (x, rotated), code, (("alpha", 1),))

    def _feed_forward(self, path: str, x: FullTensor) -> FullTensor:
        here = self.inside(Module(path, MODEL, "MLP"))
        inner = self.sizes.ffn
        code = "return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))"
        gate = here._linear(f"{path}.gate_proj", inner, x, code)
        gate = here.call(SILU, (gate,), code, (("inplace", False),))
        up = here._linear(f"{path}.up_proj", inner, x, code)
        product = here.call(MUL, (gate, up), code)
        return here._linear(f"{path}.down_proj", self.sizes.hidden, product, code)

    def _linear(self, path: str, columns: int, x: FullTensor, code: str) -> FullTensor:
        weight = self.tracer.parameter(f"{path}.weight", (columns, x.shape[-1]))
        module = Module(path, "torch.nn.modules.linear", "Linear")
        return self.inside(module).call(LINEAR, (x, weight), code, (("bias", None),))
