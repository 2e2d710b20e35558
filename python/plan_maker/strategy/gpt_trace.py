# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""GPT as one device runs it, op by op as nnScaler traces it.

Shapes: embeddings are batch x sequence x hidden, everything after the transpose
is sequence x batch x hidden. Attention and feed-forward are one op each.
"""

from __future__ import annotations

from dataclasses import dataclass

from plan_maker.graph import INT64, FullTensor, Module
from plan_maker.source import read_model
from plan_maker.strategy.configuration import GptSizes
from plan_maker.strategy.model_tracer import ModelTracer
from plan_maker.trace import Keywords, Kind, LocalBound, LocalSize, Trace, Tracer

BLOCKS = "examples.nlp.blocks"
RUNTIME = "nnscaler.runtime.function"
EPSILON, EMBEDDING_DROPOUT, DROPOUT = 1e-5, 0.5, 0.2

ADD = Kind("add", "torch.add", ("a b c, a b c -> a b c",))
ADD_BIAS = Kind("add", "torch.add", ("a b c, c -> a b c",))
DROP = Kind("dropout", "torch.nn.functional.dropout", ("* -> *",))
EMBEDDING = Kind("embedding", f"{RUNTIME}.embedding", ("*, n+ e -> * e",))
FEED_FORWARD = Kind(
    "feedforward", f"{BLOCKS}.mlp.feedforward", ("L^ N E^, H+ E^, H+, E^ H+ -> L^ N E^",)
)
LAYER_NORM = Kind(
    "layernorm", f"{RUNTIME}.layer_norm", ("a b c^, d^, e^ -> a b c^",), result="layer_norm"
)
LINEAR = Kind("linear", "torch.nn.functional.linear", ("* k+, n k+ -> * n",))
SELF_ATTENTION = Kind(
    "self_attention",
    f"{BLOCKS}.attention.self_attention",
    ("L^ N E^, (h+ d^ 3^) E^, (h+ d^ 3^), E^ (h+ d^) -> L^ N E^",),
)
SUM = Kind("sum", "torch.sum", ("a+ b+ c+ -> 1",), result="sum_1")
TRANSPOSE = Kind("transpose", "torch.transpose", ("a b c -> b a c",))


def trace_gpt(sizes: GptSizes, local_batch: int) -> Trace:
    """The trace for `local_batch` samples."""
    return _GptTracer(read_model("gpt"), Tracer(), (), None, sizes).trace(local_batch)


@dataclass
class _GptTracer(ModelTracer):
    sizes: GptSizes

    def trace(self, local_batch: int) -> Trace:
        loader = self.tracer.source()
        shape = (local_batch, self.sizes.sequence)
        tokens, positions = (
            self.tracer.tensor(name, shape, element_type=INT64, has_gradient=False)
            for name in ("input_ids", "position_ids")
        )
        table = self.tracer.parameter("embedw", (self.sizes.vocab, self.sizes.hidden))
        x = self._embed(tokens, positions, table)
        for layer in range(self.sizes.layers):
            self.layer = layer
            x = self._block(x)
        self.layer = None
        x = self._norm("final_layernorm", x, "enc = self.final_layernorm(enc)")
        x = self.call(LINEAR, (x, table), "logits = F.linear(enc, self.embedw)", (("bias", None),))
        (loss,) = self.calls(SUM, (x,), "loss = torch.sum(logits)", is_loss=True)
        calls = tuple(self.tracer.calls)
        return Trace(calls, loader, (tokens, positions), loss, self.tracer.next_identifier)

    def _embed(self, tokens: FullTensor, positions: FullTensor, table: FullTensor) -> FullTensor:
        code = "embed = F.embedding(input_ids, self.embedw)"
        x = self.call(EMBEDDING, (tokens, table), code, _rows(self.sizes.vocab))
        module = Module("position", "torch.nn.modules.sparse", "Embedding")
        size = self.sizes.sequence
        places = self.tracer.parameter("position.weight", (size, self.sizes.hidden))
        code = "pos_embed = self.position(position_ids)"
        y = self.inside(module).call(EMBEDDING, (positions, places), code, _rows(size))
        code = "embed = self.embed_dropout(embed + pos_embed)"
        x = self.call(ADD, (x, y), code, (("alpha", 1),))
        x = self._drop("embed_dropout", x, EMBEDDING_DROPOUT, code)
        dimensions = (("dim0", 0), ("dim1", 1))
        return self.call(TRANSPOSE, (x,), "enc = embed.transpose(0, 1)", dimensions)

    def _block(self, x: FullTensor) -> FullTensor:
        path = f"layers.{self.layer}"
        block = self.inside(Module(path, f"{BLOCKS}.transformer", "TransformerLayer"))
        code = "attn = self.self_attn(self.self_attn_layer_norm(x))"
        y = block._norm(f"{path}.self_attn_layer_norm", x, code)
        y = block._attention(f"{path}.self_attn", y)
        code = "x = x + self.dropout(attn)"
        y = block._drop(f"{path}.dropout", y, DROPOUT, code)
        x = block.call(ADD, (y, x), code, (("alpha", 1),))
        code = "out = self.mlp(self.final_layer_norm(x))"
        y = block._norm(f"{path}.final_layer_norm", x, code)
        y = block._feed_forward(f"{path}.mlp", y)
        code = "out = x + self.dropout(out)"
        y = block._drop(f"{path}.dropout", y, DROPOUT, code)
        return block.call(ADD, (y, x), code, (("alpha", 1),))

    def _attention(self, path: str, x: FullTensor) -> FullTensor:
        here = self.inside(Module(path, f"{BLOCKS}.attention", "MultiHeadSelfAttention"))
        hidden = self.sizes.hidden
        weights = (
            self.tracer.parameter(f"{path}.qkv_proj", (3 * hidden, hidden)),
            self.tracer.parameter(f"{path}.qkv_bias", (3 * hidden,)),
            self.tracer.parameter(f"{path}.out_proj", (hidden, hidden)),
        )
        keywords: Keywords = (
            ("mask", False),
            ("h", LocalSize("h", self.sizes.heads)),
            ("scale", self.sizes.head_size**-0.5),
            ("dropout_p", DROPOUT),
        )
        code = "attn = self_attention(x, *weights, self.heads, self.scale, self.dropout_p)"
        x = here.call(SELF_ATTENTION, (x, *weights), code, keywords)
        bias = self.tracer.parameter(f"{path}.out_bias", (hidden,))
        return here.call(ADD_BIAS, (x, bias), "attn = attn + self.out_bias", (("alpha", 1),))

    def _feed_forward(self, path: str, x: FullTensor) -> FullTensor:
        here = self.inside(Module(path, f"{BLOCKS}.mlp", "MLP"))
        hidden, inner = self.sizes.hidden, self.sizes.ffn
        weights = (
            self.tracer.parameter(f"{path}.proj1", (inner, hidden)),
            self.tracer.parameter(f"{path}.proj1_bias", (inner,)),
            self.tracer.parameter(f"{path}.proj2", (hidden, inner)),
        )
        code = "x = feedforward(x, self.proj1, self.proj1_bias, self.proj2, self.dropout)"
        keywords = (("dropout", DROPOUT), ("is_training", True))
        x = here.call(FEED_FORWARD, (x, *weights), code, keywords)
        bias = self.tracer.parameter(f"{path}.proj2_bias", (hidden,))
        return here.call(ADD_BIAS, (x, bias), "x = x + self.proj2_bias", (("alpha", 1),))

    def _norm(self, path: str, x: FullTensor, code: str) -> FullTensor:
        here = self.inside(Module(path, "torch.nn.modules.normalization", "LayerNorm"))
        size = (self.sizes.hidden,)
        weight = self.tracer.parameter(f"{path}.weight", size)
        bias = self.tracer.parameter(f"{path}.bias", size)
        keywords = (("normalized_shape", size), ("eps", EPSILON))
        return here.call(LAYER_NORM, (x, weight, bias), code, keywords)

    def _drop(self, path: str, x: FullTensor, rate: float, code: str) -> FullTensor:
        here = self.inside(Module(path, "torch.nn.modules.dropout", "Dropout"))
        keywords = (("p", rate), ("training", "self.training"), ("inplace", False))
        return here.call(DROP, (x,), code, keywords)


def _rows(size: int) -> Keywords:
    """The rows of an embedding's table that the device has."""
    start, stop = LocalBound("n", size), LocalBound("n", size, is_end=True)
    return (("padding_idx", None), ("start", start), ("stop", stop))
