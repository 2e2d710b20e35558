# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A stack of linear layers without biases, and the sum of its result as loss."""

import torch


class MLP(torch.nn.Module):
    def __init__(self, hidden: int, layers: int) -> None:
        super().__init__()
        self.layers = torch.nn.ModuleList(
            torch.nn.Linear(hidden, hidden, bias=False) for _ in range(layers)
        )

    def forward(self, data: torch.Tensor) -> torch.Tensor:
        x = data
        for layer in self.layers:
            x = layer(x)
        loss = torch.sum(x)
        return loss
