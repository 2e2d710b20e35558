# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls of PyTorch's functions that plans may have, with operands at their kinks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

Array = Any
rng = np.random.default_rng(17)


@dataclass(frozen=True)
class Case:
    """A call: arrays stand for tensors."""

    signature: str
    arguments: tuple[Any, ...]
    keywords: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        shown = [
            f"{value.dtype}{list(value.shape)}" if isinstance(value, np.ndarray) else repr(value)
            for value in self.arguments
        ]
        shown += [f"{name}={value!r}" for name, value in self.keywords.items()]
        return f"{self.signature}({', '.join(shown)})"


def call(signature: str, *arguments: Any, **keywords: Any) -> Case:
    """A call by that name."""
    return Case(signature, arguments, keywords)


def real(*shape: int, least: float = -2, most: float = 2) -> Array:
    """Real numbers."""
    return rng.uniform(least, most, shape)


#: Where pieces end, on both sides of it, and far away.
KINKS = np.array([-3.0, -1.0, -0.5, 0.0, 0.25, 0.5, 1.0, 2.0, 10.0, 25.0]).reshape(2, 5)
NETWORK = "torch.nn.functional."

ACTIVATIONS = [
    call("torch.clamp", KINKS, -0.5, 1.0),
    call("torch.clamp", KINKS, min=-1),
    call("torch.clamp", KINKS, None, 0.25),
    call("torch.clamp", KINKS, 1.0, 1.0),
    call("torch.Tensor.clamp", KINKS, max=2.0, min=0),
    call("torch.clip", KINKS, -1.0, 2.0),
    call("torch.clamp_min", KINKS, 0.5),
    call("torch.Tensor.clamp_max", KINKS, max=0.5),
    call("torch._C._nn.softplus", KINKS),
    call(NETWORK + "softplus", KINKS, beta=2),
    call(NETWORK + "softplus", KINKS, 0.5, 5.0),
    call(NETWORK + "softplus", KINKS, -1, threshold=0.5),
    call(NETWORK + "leaky_relu", KINKS),
    call("torch._C._nn.leaky_relu", KINKS, 0.3),
    call(NETWORK + "elu", KINKS),
    call(NETWORK + "elu", KINKS, 0.7, False),
    call(NETWORK + "selu", KINKS),
    call("torch.selu", KINKS),
    call(NETWORK + "mish", KINKS),
    call("torch._C._nn.mish", KINKS),
    call("torch._C._nn.hardtanh", KINKS),
    call(NETWORK + "hardtanh", KINKS, -0.5, 2.0, False),
    call(NETWORK + "relu6", KINKS * 3),
    call(NETWORK + "glu", real(3, 4)),
    call("torch._C._nn.glu", real(4, 3), 0),
    call(NETWORK + "softsign", KINKS),
    call(NETWORK + "tanhshrink", KINKS),
    call("torch.reciprocal", real(2, 3, least=0.5)),
    call("torch.log1p", real(2, 3, least=-0.5)),
    call("torch.expm1", KINKS),
    call("torch.Tensor.log2", real(2, 3, least=0.1)),
    call("torch.exp2", KINKS),
]

ROWS = real(3, 4)
CLASSES = np.array([2, -100, 0])
#: Distances of 0, of a bound and beyond, in both directions.
HERE, THERE = np.array([[0.5, 1.0, 0.0], [2.0, -1.0, 0.0]]), np.array([[0.5, 0.0, 0.5], [0, 1, 3]])
#: Rows that add up to 1, and where some of them is nothing.
SHARES = np.exp(ROWS) / np.exp(ROWS).sum(1, keepdims=True)

LOSSES = [
    *(
        call(NETWORK + "cross_entropy", ROWS, CLASSES, label_smoothing=share, reduction=kind)
        for share in (0.25, 1.0)
        for kind in ("none", "mean", "sum")
    ),
    call(NETWORK + "cross_entropy", ROWS, abs(CLASSES) % 3, ignore_index=2, label_smoothing=0.5),
    *(
        call(NETWORK + name, HERE, THERE, reduction=kind, **more)
        for name, more in (
            ("l1_loss", {}),
            ("mse_loss", {}),
            ("smooth_l1_loss", {}),
            ("smooth_l1_loss", {"beta": 0.5}),
            ("smooth_l1_loss", {"beta": 0}),
            ("huber_loss", {}),
            ("huber_loss", {"delta": 0.5}),
            ("binary_cross_entropy_with_logits", {}),
        )
        for kind in ("none", "mean", "sum")
    ),
    call(NETWORK + "l1_loss", HERE, THERE, None, None, "sum"),
    call(NETWORK + "huber_loss", HERE, THERE, "sum", 2.0),
    *(
        call(NETWORK + "kl_div", ROWS, SHARES, reduction=kind)
        for kind in ("none", "mean", "sum", "batchmean")
    ),
    call(NETWORK + "kl_div", ROWS, real(3, 4), log_target=True, reduction="batchmean"),
]

CUBE = real(2, 4, 3)
#: No line of it is shorter than the least number by which it is divided.
LINES = np.array([[3.0, -4.0, 0.0], [0.3, 0.0, 0.4], [0.0, 0.25, 0.0]])

NORMALIZATIONS = [
    call(NETWORK + "rms_norm", CUBE, (3,), real(3), 0.5),
    call(NETWORK + "rms_norm", CUBE, [4, 3], None, eps=1e-5),
    call(NETWORK + "rms_norm", CUBE, (4, 3), real(4, 3), eps=0.25),
    call(NETWORK + "group_norm", CUBE, 2, real(4), real(4), 0.5),
    call(NETWORK + "group_norm", CUBE, 1, None, None),
    call(NETWORK + "group_norm", real(2, 4), num_groups=2, eps=0.1),
    call(NETWORK + "group_norm", real(2, 4, 3, 2), 4, real(4), None),
    call(NETWORK + "normalize", CUBE),
    call(NETWORK + "normalize", LINES, dim=-1, eps=0.5),
    call(NETWORK + "normalize", LINES + 0.1, 1.0, 0, 1.0),
    call(NETWORK + "normalize", LINES, dim=(0, 1)),
    call(NETWORK + "cosine_similarity", LINES, real(3, 3)),
    call("torch.cosine_similarity", CUBE, real(2, 4, 3), -1, 0.5),
    call("torch.cosine_similarity", LINES, LINES + 0.25, dim=0, eps=2.0),
]

#: The greatest and least of lines and of all, several of them equal.
TIES = np.array([[2.0, -1.0, 2.0, 0.5], [-1.0, 0.25, 0.0, -1.0]])

REDUCTIONS = [
    call("torch.maximum", TIES, np.array([2.0, -1.0, 0.0, 0.25])),
    call("torch.minimum", TIES, TIES[:1]),
    call("torch.min", TIES, real(2, 4)),
    call("torch.max", TIES),
    call("torch.min", TIES),
    call("torch.amax", TIES, -1),
    call("torch.Tensor.amin", TIES, dim=(0, 1), keepdim=True),
    call("torch.amin", TIES, dim=1, keepdim=True),
    call("torch.logsumexp", CUBE, 1),
    call("torch.Tensor.logsumexp", CUBE, dim=(0, -1), keepdim=True),
    call("torch.var", CUBE),
    call("torch.var", CUBE, -1),
    call("torch.Tensor.var", CUBE, dim=(0, 1), unbiased=False, keepdim=True),
    call("torch.var", CUBE, 1, correction=2, keepdim=True),
    call("torch.std", CUBE, 1, False),
    call("torch.std", CUBE, dim=2, correction=0),
    call("torch.var_mean", CUBE, 1, True, True),
    call("torch.argmax", CUBE, 1),
    call("torch.Tensor.argmin", CUBE, dim=-1, keepdim=True),
]

COMBINED = [
    call("torch.addcmul", ROWS, real(3, 1), real(4), value=0.5),
    call("torch.addcdiv", ROWS, real(3, 1), real(3, 4, least=1)),
    call("torch.lerp", ROWS, real(4), 0.25),
    call("torch.logaddexp", ROWS, real(3, 1)),
    call("torch.dot", real(4), real(4)),
    call("torch.Tensor.mv", ROWS, real(4)),
    call("torch.Tensor.lerp", ROWS, real(3, 4), real(3, 1)),
]

MOVEMENTS = [
    call("torch.Tensor.expand_as", real(4, 1), CUBE),
    call("torch.Tensor.view_as", real(8, 3), CUBE),
    call("torch.Tensor.reshape_as", CUBE, real(24)),
    call("torch.repeat_interleave", CUBE, 2, 1),
    call("torch.Tensor.repeat_interleave", CUBE, 3, dim=-1),
    call("torch.repeat_interleave", CUBE, repeats=2),
    call("torch.tile", CUBE, (2,)),
    call("torch.Tensor.tile", ROWS, dims=(2, 1, 3)),
    call("torch.broadcast_to", real(4, 1), (2, 4, 3)),
    call("torch.swapaxes", CUBE, 0, -1),
    call("torch.Tensor.swapdims", CUBE, dim0=1, dim1=0),
    call("torch.t", ROWS),
    call("torch.movedim", CUBE, 0, -1),
    call("torch.Tensor.movedim", CUBE, (0, 1), (2, 0)),
    call("torch.unflatten", CUBE, 1, (2, -1)),
    call("torch.Tensor.unflatten", CUBE, dim=-1, sizes=[3, 1]),
    call("torch.narrow", CUBE, 1, 1, 2),
    call("torch.Tensor.narrow", CUBE, 1, -3, length=3),
    call("torch.select", CUBE, 1, -1),
    call("torch.Tensor.select", CUBE, dim=0, index=1),
    call("torch.unbind", CUBE),
    call("torch.Tensor.unbind", CUBE, dim=-1),
    call("torch.roll", CUBE, 1, 1),
    call("torch.Tensor.roll", CUBE, shifts=(-1, 5), dims=(0, 2)),
    call("torch.roll", CUBE, 7),
    call("torch.Tensor.type_as", ROWS, CUBE),
    call("torch.Tensor.long", np.array([[True, False], [False, False]])),
    call(NETWORK + "one_hot", np.array([[2, 0], [1, 1]]), 3),
    call("torch._C._nn.one_hot", np.array([0, 3]), num_classes=4),
]

IMAGE = real(2, 3, 4, 6)
PIXELS = real(2, 4, 3, 2)

IMAGES = [
    call("torch._C._nn.avg_pool2d", IMAGE, 2),
    call(NETWORK + "avg_pool2d", IMAGE, (2, 3), stride=(2, 3), padding=0, ceil_mode=False),
    call(NETWORK + "avg_pool2d", IMAGE, 4, None),
    call("torch.avg_pool1d", CUBE, 2),
    call(NETWORK + "adaptive_avg_pool2d", IMAGE, (1, 1)),
    call(NETWORK + "adaptive_avg_pool2d", IMAGE, 2),
    call(NETWORK + "adaptive_avg_pool1d", CUBE, 3),
    call(NETWORK + "interpolate", IMAGE, scale_factor=2),
    call(NETWORK + "interpolate", IMAGE, None, 2.0, "nearest"),
    call(NETWORK + "interpolate", IMAGE, size=(8, 6)),
    call(NETWORK + "interpolate", CUBE, 6),
    call(NETWORK + "pixel_shuffle", PIXELS, 2),
    call("torch.pixel_shuffle", real(4, 2, 3), 2),
    call(NETWORK + "pixel_unshuffle", IMAGE, 2),
]

PLACES = np.array([[2, 0], [1, 1], [0, 3]])

SCATTERINGS = [
    call("torch.scatter_add", ROWS, 1, PLACES, real(3, 2)),
    call("torch.Tensor.scatter_add", ROWS, 0, np.array([[2, 0, 2, 1]]), real(1, 4)),
    call("torch.index_add", CUBE, 1, np.array([3, 0, 3]), real(2, 3, 3), alpha=0.5),
    call("torch.Tensor.index_add", ROWS, -1, np.array([1, 2]), real(3, 2)),
    call("torch.Tensor.scatter", ROWS, -1, PLACES, 0.25),
    call("torch.scatter", ROWS, 1, PLACES, value=2),
]

CASES: list[Case] = [
    *ACTIVATIONS,
    *LOSSES,
    *NORMALIZATIONS,
    *REDUCTIONS,
    *COMBINED,
    *MOVEMENTS,
    *IMAGES,
    *SCATTERINGS,
]

WHOLE = np.array([[2, 0], [1, 1]])
#: Calls that are refused, and what is said of them.
REFUSED: list[tuple[Case, str]] = [
    (call("torch.clamp", ROWS), "needs keyword 'min' or 'max'"),
    (call("torch.clamp", ROWS, 1.0, 0.0), "has a least number that is above the greatest"),
    (call("torch.clamp", ROWS, real(4), 1.0), "unknown positional argument"),
    (call("torch.clamp", ROWS, "0", None), "keyword 'min' is not a number"),
    (call("torch.clamp", WHOLE, 1, 2), "is not supported on 'tensor<2x2xi64>'"),
    (call("torch.clamp_min", ROWS, 0, 1), "unknown positional argument"),
    (call("torch.clamp_min", ROWS, 0, min=1), "argument 'min' is given twice"),
    (call(NETWORK + "leaky_relu", ROWS, 0.1, True), "keyword 'inplace' other than False"),
    (call(NETWORK + "softplus", ROWS, 0), "keyword 'beta' of 0 is not supported"),
    (call(NETWORK + "elu", ROWS, 1.0, 1.0), "keyword 'inplace' is not a truth value"),
    (call(NETWORK + "elu", ROWS, scale=2), "unknown keyword 'scale'"),
    (call(NETWORK + "glu", real(3, 3)), "halves a dimension of 3"),
    (call("torch.log1p", ROWS, real(4)), "unknown positional argument"),
    (call("torch.log1p", 1.0, ROWS), "keyword 'input' other than None is not supported"),
    (call("torch.addcmul", ROWS, ROWS), "needs a tensor 'tensor2'"),
    (call("torch.dot", ROWS, ROWS), "needs a vector, got 'tensor<3x4xf32>'"),
    (call("torch.mv", ROWS, real(3)), "operand 1 is 'tensor<3xf32>'"),
    (call("torch.tile", ROWS, (0, 1)), "repeats size 3 0 times"),
    (call("torch.broadcast_to", ROWS, (-1, 4)), "keyword 'size' is not a list of positive"),
    (call("torch.broadcast_to", ROWS, (2, 4)), "does not repeat 'tensor<3x4xf32>'"),
    (call("torch.lerp", ROWS, ROWS, None), "keyword 'weight' is not a number"),
    (
        call(NETWORK + "cross_entropy", ROWS, CLASSES, label_smoothing=1.5),
        "keyword 'label_smoothing' is not in [0, 1]",
    ),
    (call(NETWORK + "huber_loss", ROWS, ROWS, "sum", 0.0), "needs a positive keyword 'delta'"),
    (call(NETWORK + "smooth_l1_loss", ROWS, ROWS, beta=-1), "needs a positive keyword 'beta'"),
    (call(NETWORK + "huber_loss", ROWS, real(4)), "operand 1 is 'tensor<4xf32>'"),
    (call(NETWORK + "huber_loss", ROWS, ROWS, weight=1.0), "keyword 'weight' other than None"),
    (
        call(NETWORK + "binary_cross_entropy_with_logits", ROWS, ROWS, pos_weight=2.0),
        "keyword 'pos_weight' other than None",
    ),
    (call(NETWORK + "kl_div", ROWS, SHARES, reduction="all"), "keyword 'reduction' is none of"),
    (call(NETWORK + "rms_norm", CUBE, (4,), eps=0.5), "keyword 'normalized_shape' is not that"),
    (call(NETWORK + "rms_norm", CUBE, (3,), real(4), 0.5), "operand 1 is 'tensor<4xf32>'"),
    (call(NETWORK + "group_norm", CUBE, 3), "makes 3 groups of the channels of"),
    (call(NETWORK + "group_norm", CUBE, 2, real(3)), "operand 1 is 'tensor<3xf32>'"),
    (call(NETWORK + "hardtanh", KINKS, 1.0, 1.0), "has a least number that is not below the gr"),
    (call(NETWORK + "cosine_similarity", ROWS, real(4)), "operand 1 is 'tensor<4xf32>'"),
    (call(NETWORK + "normalize", ROWS, 2.0, (1, -1)), "keyword 'dim' names a dimension twice"),
    (call(NETWORK + "normalize", CUBE, 3.0), "keyword 'p' is neither 1 nor 2"),
    (call("torch.logsumexp", CUBE), "needs keyword 'dim'"),
    (call("torch.var", CUBE, 0, correction=2), "corrects a mean of 2 by 2"),
    (call("torch.var", CUBE, 0, correction=0.5), "keyword 'correction' is not an integer"),
    (call("torch.var", CUBE, True), "keyword 'dim' is not a list of integers"),
    (call("torch.argmax", CUBE), "needs keyword 'dim'"),
    (call("torch.argmax", CUBE, (0, 1)), "keyword 'dim' is not an integer"),
    (call("torch.Tensor.expand_as", ROWS, real(2, 4)), "does not repeat 'tensor<3x4xf32>'"),
    (call("torch.Tensor.view_as", ROWS, real(2, 4)), "does not give 'tensor<3x4xf32>' the sh"),
    (call("torch.repeat_interleave", ROWS, WHOLE), "keyword 'repeats' is not a positive integer"),
    (call("torch.repeat_interleave", ROWS, 2**62, 0), "repeats size 3 4611686018427387904 times"),
    (call("torch.repeat_interleave", ROWS, 2, 2), "has no dimension 2"),
    (call("torch.swapaxes", ROWS, 0), "needs keywords 'axis0' and 'axis1'"),
    (call("torch.t", CUBE), "needs a matrix, got 'tensor<2x4x3xf32>'"),
    (call("torch.movedim", CUBE, (0, 1), 0), "does not move each dimension to one place"),
    (call("torch.movedim", CUBE, (0, 0), (1, 2)), "does not move each dimension to one place"),
    (call("torch.unflatten", CUBE, 1, (3, -1)), "does not divide a dimension of 4"),
    (call("torch.unflatten", CUBE, 1, (-1, -1)), "does not divide a dimension of 4"),
    (call("torch.narrow", CUBE, 1, 2, 3), "takes 3 from 2 of a dimension of 4"),
    (call("torch.narrow", CUBE, 1, 2, 0), "keyword 'length' is not a positive integer"),
    (call("torch.select", CUBE, 1, -5), "takes 1 from -5 of a dimension of 4"),
    (call("torch.select", CUBE, 1), "needs to know where it starts"),
    (call("torch.unbind", CUBE), "gives 2 tensors, the plan has 1"),
    (call("torch.roll", CUBE, (1, 2), 0), "has 2 shifts of 1 dimensions"),
    (call("torch.roll", CUBE, 1, 3), "has no dimension 3"),
    (call(NETWORK + "one_hot", WHOLE, -1), "keyword 'num_classes' is not a positive integer"),
    (call(NETWORK + "one_hot", ROWS, 4), "makes 'tensor<3x4xf32>' of 'tensor<3x4xf32>'"),
    (call(NETWORK + "avg_pool2d", IMAGE, 2, 1), "takes windows that are no blocks"),
    (call(NETWORK + "avg_pool2d", IMAGE, 2, 2, 1), "keyword 'padding' other than 0"),
    (call(NETWORK + "avg_pool2d", IMAGE, 5), "takes 5 of a dimension of 4"),
    (call(NETWORK + "avg_pool2d", ROWS, 2), "is no image of 2 dimensions"),
    (call(NETWORK + "avg_pool2d", IMAGE, (2, 0)), "keyword 'kernel_size' is no positive integer"),
    (call(NETWORK + "avg_pool2d", IMAGE, 2, 2, 0, True), "keyword 'ceil_mode' other than False"),
    (call(NETWORK + "adaptive_avg_pool2d", IMAGE, 3), "makes 3 of a dimension of 4"),
    (call(NETWORK + "interpolate", IMAGE, 2, 2), "keyword 'scale_factor' other than None"),
    (call(NETWORK + "interpolate", IMAGE, 9), "makes no whole number of elements of each"),
    (call(NETWORK + "interpolate", IMAGE, None, 1.5), "makes no whole number of elements of"),
    (call(NETWORK + "interpolate", IMAGE, 8, mode="area"), "keyword 'mode' other than 'nearest'"),
    (call(NETWORK + "interpolate", ROWS, 8), "is no batch of channels"),
    (call(NETWORK + "pixel_shuffle", IMAGE, 2), "does not divide 'tensor<2x3x4x6xf32>' by 2"),
    (call("torch.scatter_add", ROWS, 1, WHOLE, real(2, 2)), "has an index of 'tensor<2x2xi64>'"),
    (call("torch.scatter_add", ROWS, 1, PLACES, ROWS), "operand 2 is 'tensor<3x4xf32>'"),
    (call("torch.scatter_add", ROWS, 1, PLACES), "needs a tensor 'src'"),
    (call("torch.index_add", ROWS, 1, PLACES, ROWS), "has an index of 'tensor<3x2xi64>'"),
    (call("torch.scatter", ROWS, 1, PLACES, real(3, 2)), "puts the elements of a tensor"),
    (call(NETWORK + "interpolate", IMAGE, scale_factor=3), "repeats size 4 3 times, which is on"),
    (call(NETWORK + "interpolate", np.ones((1, 1, 2**15)), None, 1024), "repeats size 32768 1024"),
    (call("torch._C._nn.elu", ROWS, 1.0, False), "unknown positional argument"),
    (call("torch.scatter", ROWS, 1, PLACES, None), "keyword 'src' is not a number"),
    (call("torch.scatter", ROWS, 1, PLACES, 1, reduce="add"), "keyword 'reduce' other than None"),
    (call("torch.scatter", ROWS, None, PLACES, 1), "needs a dimension and a tensor 'index'"),
    (call("torch.Tensor.type_as", ROWS, WHOLE), "makes int64 where the plan declares float32"),
    (call("torch.Tensor.half", ROWS), "makes float16 where the plan declares float32"),
    (call("torch.Tensor.long", ROWS), "makes int64 where the plan declares float32"),
]
