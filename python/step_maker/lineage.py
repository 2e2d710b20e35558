# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which part of a reference tensor a value of the plan holds, as text."""

# Part of a dimension: the name of a mesh axis, or `start:end of extent`.
Factor = str | tuple[int, int, int]
Lineage = tuple[tuple[Factor, ...], ...]


def print_lineage(lineage: Lineage, axes: tuple[str, ...] = ()) -> str:
    """`<[dp, 0:2 of 5], [0:3 of 3] sum mb>`."""

    def factor(part: Factor) -> str:
        return part if isinstance(part, str) else f"{part[0]}:{part[1]} of {part[2]}"

    dimensions = ", ".join(f"[{', '.join(map(factor, parts))}]" for parts in lineage)
    total = f"{' ' if dimensions else ''}sum {', '.join(axes)}" if axes else ""
    return f"<{dimensions}{total}>"
