# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the traces of models with modules share: each call is on a line of the
model's source, in a module, in a layer.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from plan_maker.graph import FullTensor, Module
from plan_maker.source import SourceText
from plan_maker.trace import Keywords, Kind, Operand, Site, Tracer


@dataclass
class ModelTracer:
    """Traces the lines of `source` that are in `modules`, the innermost last."""

    source: SourceText
    tracer: Tracer
    modules: tuple[Module, ...]
    layer: int | None

    def inside(self, module: Module) -> Self:
        """The same tracer, one module deeper."""
        return replace(self, modules=(*self.modules, module))

    def call(
        self, kind: Kind, operands: tuple[Operand, ...], code: str, keywords: Keywords = ()
    ) -> FullTensor:
        """The only result of the call on the line that reads `code`."""
        (result,) = self.calls(kind, operands, code, keywords)
        return result

    def calls(
        self,
        kind: Kind,
        operands: tuple[Operand, ...],
        code: str,
        keywords: Keywords = (),
        *,
        has_gradient: bool = True,
        is_loss: bool = False,
    ) -> tuple[FullTensor, ...]:
        """The results of the call on the line that reads `code`."""
        site = Site(self.source.comment(code), self.modules, self.layer)
        return self.tracer.call(
            kind, operands, keywords, site, has_gradient=has_gradient, is_loss=is_loss
        )
