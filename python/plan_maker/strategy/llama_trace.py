# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Llama as one device runs it, op by op as nnScaler traces it.

Shapes: activations are batch x sequence x hidden; in attention batch x sequence
x heads x head size, and after the transposes batch x heads x sequence x head size.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from plan_maker.graph import COMPLEX64, INT64, FullTensor, Module
from plan_maker.source import read_model
from plan_maker.strategy.configuration import LlamaSizes, TransformerSizes
from plan_maker.strategy.model_tracer import ModelTracer
from plan_maker.trace import Kind, LocalBound, LocalShape, Trace, Tracer

MODEL = "plan_maker.models.llama"
RUNTIME = "nnscaler.runtime.function"

ELEMENTWISE = ("* -> *",)
WITH_NUMBER = ("*, ? -> *", "?, * -> *")
SAME_SHAPES = ("a b c, a b c -> a b c",)

ADD_NUMBER = Kind("add", "torch.add", WITH_NUMBER)
ADD = Kind("add", "torch.add", SAME_SHAPES)
APPLY_MASK = Kind("apply_mask", f"{MODEL}.apply_mask", ("N seqlen *, 1^ 1^ * -> N seqlen *",))
CONTIGUOUS = Kind("contiguous", "torch.Tensor.contiguous", ELEMENTWISE)
CREATE_MASK = Kind(
    "create_mask",
    f"{MODEL}.create_mask",
    ("N seqlen^, N seqlen^ H^ -> 1^ 1^ seqlen^ seqlen^",),
)
DIV = Kind("div", "torch.div", WITH_NUMBER, result="truediv")
EMBEDDING = Kind("embedding", f"{RUNTIME}.embedding", ("*, n+ e -> * e",))
FLOAT = Kind("float", "torch.Tensor.float", ELEMENTWISE, result="float_1")
LINEAR = Kind("linear", "torch.nn.functional.linear", ("* k+, n k+ -> * n",))
MATMUL = Kind(
    "matmul",
    "torch.matmul",
    (
        "k+, k+ -> 1",
        "m k+, k+ n -> m n",
        "k+, k+ n -> n",
        "m k+, k+ -> m",
        "* m k+, k+ n -> * m n",
        "m k+, * k+ n -> * m n",
        "* m k+, * k+ n -> * m n",
    ),
)
MEAN = Kind("mean", "torch.mean", ("a b c^ -> a b 1",))
MUL = Kind("mul", "torch.mul", SAME_SHAPES)
MUL_TOKENS = Kind("mul", "torch.mul", ("a b, a b -> a b",))
MUL_COLUMN = Kind("mul", "torch.mul", ("a b c, a b 1 -> a b c",))
MUL_ROW = Kind("mul", "torch.mul", ("a b c, c -> a b c",))
POW = Kind("pow", "torch.pow", WITH_NUMBER, result="pow_1")
ROTARY = Kind(
    "apply_rotary_emb",
    f"{MODEL}.apply_rotary_emb",
    (
        "bsz seqlen^ head dim^, bsz seqlen^ head dim^, seqlen^ hidden^ "
        "-> bsz seqlen^ head dim^, bsz seqlen^ head dim^",
    ),
)
RSQRT = Kind("rsqrt", "torch.rsqrt", ("a b c -> a b c",))
SILU = Kind("silu", "torch.nn.functional.silu", ELEMENTWISE)
SOFTMAX = Kind("softmax", "torch.nn.functional.softmax", ("a b c d^ -> a b c d^",))
SUM = Kind("sum", "torch.sum", ("a+ b+ c+ -> 1",), result="sum_1")
TO = Kind("to", f"{RUNTIME}.to", ELEMENTWISE, result="type_as")
SWAP_HEADS = Kind("transpose", "torch.transpose", ("a b c d -> a c b d",))
SWAP_LAST = Kind("transpose", "torch.transpose", ("a b c d -> a b d c",))


def trace_llama(sizes: LlamaSizes, local_batch: int) -> Trace:
    """The trace for `local_batch` samples."""
    return LlamaTracer(read_model("llama"), Tracer(), (), None, sizes).trace(local_batch)


@dataclass
class LlamaTracer(ModelTracer):
    """Traces a Llama; `feed_forward` is for models that differ in it."""

    sizes: TransformerSizes

    def trace(self, local_batch: int) -> Trace:
        """The whole model."""
        loader = self.tracer.source()
        shape = (local_batch, self.sizes.sequence)
        tokens = self.tracer.tensor("tokens", shape, element_type=INT64, has_gradient=False)
        hidden = self._embed(tokens)
        code = "mask = create_mask(tokens, h)"
        (mask,) = self.calls(CREATE_MASK, (tokens, hidden), code, has_gradient=False)
        for layer in range(self.sizes.layers):
            self.layer = layer
            hidden = self._block(hidden, mask)
        self.layer = None
        hidden = self._norm("norm", hidden)
        loss = self._loss(hidden)
        return Trace(tuple(self.tracer.calls), loader, (tokens,), loss, self.tracer.next_identifier)

    def _embed(self, tokens: FullTensor) -> FullTensor:
        vocab = self.sizes.vocab
        path = "tok_embeddings"
        weight = self.tracer.parameter(f"{path}.weight", (vocab, self.sizes.hidden))
        module = Module(path, "torch.nn.modules.sparse", "Embedding")
        start, stop = LocalBound("n", vocab), LocalBound("n", vocab, is_end=True)
        keywords = (("padding_idx", None), ("start", start), ("stop", stop))
        code = "h = self.tok_embeddings(tokens)"
        with_module = self.inside(module)
        return with_module.call(EMBEDDING, (tokens, weight), code, keywords)

    def _loss(self, hidden: FullTensor) -> FullTensor:
        code = "output = self.output(h).float()"
        logits = self._linear("output", self.sizes.vocab, hidden, code)
        logits = self.call(FLOAT, (logits,), code)
        (loss,) = self.calls(SUM, (logits,), "loss = torch.sum(output)", is_loss=True)
        return loss

    def _block(self, x: FullTensor, mask: FullTensor) -> FullTensor:
        path = f"layers.{self.layer}"
        block = self.inside(Module(path, MODEL, "TransformerBlock"))
        attended = block._attention(
            f"{path}.attention", block._norm(f"{path}.attention_norm", x), mask
        )
        code = "h = x + self.attention(self.attention_norm(x), freqs_cis, mask)"
        h = block.call(ADD, (x, attended), code, (("alpha", 1),))
        fed = block.feed_forward(f"{path}.feed_forward", block._norm(f"{path}.ffn_norm", h))
        code = "out = h + self.feed_forward(self.ffn_norm(h))"
        return block.call(ADD, (h, fed), code, (("alpha", 1),))

    def _norm(self, path: str, x: FullTensor) -> FullTensor:
        """Divides by the root mean square of the last dimension, times a weight."""
        norm = self.inside(Module(path, MODEL, "RMSNorm"))
        whole = "output = self._norm(x.float()).type_as(x)"
        inner = "return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)"
        x = norm.call(FLOAT, (x,), whole)
        scale = norm.call(POW, (x, 2), inner)
        scale = norm.call(MEAN, (scale,), inner, (("dim", (2,)), ("keepdim", True)))
        scale = norm.call(ADD_NUMBER, (scale, 1e-5), inner, (("alpha", 1),))
        scale = norm.call(RSQRT, (scale,), inner)
        x = norm.call(MUL_COLUMN, (x, scale), inner)
        x = norm.call(TO, (x,), whole, (("dtype_or_device", x.element_type),))
        weight = self.tracer.parameter(f"{path}.weight", (self.sizes.hidden,))
        return norm.call(MUL_ROW, (x, weight), "return output * self.weight")

    def _attention(self, path: str, x: FullTensor, mask: FullTensor) -> FullTensor:
        here = self.inside(Module(path, MODEL, "Attention"))
        hidden = self.sizes.hidden
        code = "xq, xk, xv = self.wq(x), self.wk(x), self.wv(x)"
        projected = [here._linear(f"{path}.{name}", hidden, x, code) for name in ("wq", "wk", "wv")]
        size = self.sizes.head_size
        to_heads = Kind("view", "torch.Tensor.view", (f"a b (c {size}) -> a b c {size}",))
        queries, keys, values = (
            here.call(
                to_heads,
                (projection,),
                f"{name} = {name}.view(bsz, seqlen, self.heads, self.head_size)",
                (("size", LocalShape()),),
            )
            for name, projection in zip(("xq", "xk", "xv"), projected, strict=True)
        )
        frequencies = self.tracer.tensor(
            f"_tensor_constant{self.layer}",
            (self.sizes.sequence, size // 2),
            element_type=COMPLEX64,
            is_parameter=True,
            has_gradient=False,
        )
        code = "xq, xk = apply_rotary_emb(xq, xk, freqs_cis)"
        queries, keys = here.calls(ROTARY, (queries, keys, frequencies), code)
        weights = here._attention_weights(queries, keys, mask, values)
        return here._linear(f"{path}.wo", hidden, weights, "return self.wo(output)")

    def _attention_weights(
        self, queries: FullTensor, keys: FullTensor, mask: FullTensor, values: FullTensor
    ) -> FullTensor:
        """softmax(q k^T / sqrt(head size) + mask) v, heads next to each other again."""
        size = self.sizes.head_size
        heads = (("dim0", 1), ("dim1", 2))
        queries = self.call(SWAP_HEADS, (queries,), "xq = xq.transpose(1, 2)", heads)
        keys = self.call(SWAP_HEADS, (keys,), "keys = xk.transpose(1, 2)", heads)
        values = self.call(SWAP_HEADS, (values,), "values = xv.transpose(1, 2)", heads)
        code = "scores = torch.matmul(xq, keys.transpose(2, 3)) / math.sqrt(self.head_size)"
        keys = self.call(SWAP_LAST, (keys,), code, (("dim0", 2), ("dim1", 3)))
        scores = self.call(MATMUL, (queries, keys), code)
        scores = self.call(DIV, (scores, math.sqrt(size)), code, (("rounding_mode", None),))
        scores = self.call(APPLY_MASK, (scores, mask), "scores = apply_mask(scores, mask)")
        code = "scores = F.softmax(scores.float(), dim=-1).type_as(xq)"
        scores = self.call(FLOAT, (scores,), code)
        last = (("dim", -1), ("_stacklevel", 3), ("dtype", None))
        scores = self.call(SOFTMAX, (scores,), code, last)
        scores = self.call(TO, (scores,), code, (("dtype_or_device", scores.element_type),))
        output = self.call(MATMUL, (scores, values), "output = torch.matmul(scores, values)")
        code = "output = output.transpose(1, 2).contiguous().view(bsz, seqlen, -1)"
        output = self.call(SWAP_HEADS, (output,), code, heads)
        output = self.call(CONTIGUOUS, (output,), code)
        joined = Kind("view", "torch.Tensor.view", (f"a b c {size} -> a b (c {size})",))
        return self.call(joined, (output,), code, (("size", LocalShape(inferred=2)),))

    def feed_forward(self, path: str, x: FullTensor) -> FullTensor:
        """The feed-forward block of a layer."""
        return self.gated(path, x, self.sizes.ffn)

    def gated(self, path: str, x: FullTensor, inner: int) -> FullTensor:
        """A feed-forward block with a gate, `inner` elements wide."""
        here = self.inside(Module(path, MODEL, "FeedForward"))
        code = "return self.w2(F.silu(self.w1(x)) * self.w3(x))"
        gate = here._linear(f"{path}.w1", inner, x, code)
        gate = here.call(SILU, (gate,), code, (("inplace", False),))
        up = here._linear(f"{path}.w3", inner, x, code)
        product = here.call(MUL if len(x.shape) == 3 else MUL_TOKENS, (gate, up), code)
        return here._linear(f"{path}.w2", self.sizes.hidden, product, code)

    def _linear(self, path: str, columns: int, x: FullTensor, code: str) -> FullTensor:
        weight = self.tracer.parameter(f"{path}.weight", (columns, x.shape[-1]))
        module = Module(path, "torch.nn.modules.linear", "Linear")
        return self.inside(module).call(LINEAR, (x, weight), code, (("bias", None),))
