# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The named bugs, by strategy."""

from step_maker.bugs import Bug

TRAINING = (
    Bug(
        "gradient-not-reduced",
        "reduction of W1",
        "each replica keeps the gradient of its own samples",
        "NVIDIA/Megatron-LM#1685 (B003), verl-project/verl#7493 (B021)",
        ("--zero", "2"),
    ),
    Bug(
        "sum-for-average",
        "reduction of W1",
        "gradients of means over the samples of a replica are added up, not averaged",
        "NVIDIA/Megatron-LM@3373641f (B048), huggingface/nanotron@2dd40d35 (B071)",
        ("--averages",),
    ),
    Bug(
        "averaged-again",
        "reduction of W1",
        "the loss is divided by all samples, and replicas average over it once more",
        "huggingface/transformers#37474 (B066), deepspeedai/DeepSpeed#4957 (B054)",
    ),
    Bug(
        "averaged-over-all-devices",
        "reduction of W1",
        "gradients are divided by the number of tensor-parallel ranks too",
        "deepspeedai/DeepSpeed#5555 (B055), ByteDance-Seed/VeOmni#338 (B069)",
        ("--tp", "2"),
    ),
    Bug(
        "loss-not-divided-by-micro-batches",
        "reduction of W1",
        "the mean over a micro-batch is taken for its part of the mean over all",
        "NVIDIA/Megatron-LM#4070 (B045)",
        ("--averages", "--micro-batches", "2"),
    ),
    Bug(
        "last-micro-batch-not-accumulated",
        "accumulation of W1",
        "the buffers of gradients lack the last micro-batch",
        "deepspeedai/DeepSpeed#6550 (B122), NVIDIA-NeMo/Automodel#3530 (B123)",
        ("--micro-batches", "2"),
    ),
    Bug(
        "bias-before-all-reduce",
        "bias",
        "each rank adds the bias to its term of a sum",
        "huggingface/text-generation-inference#1036 (B025), pytorch/torchtitan#4245 (B074)",
        ("--tp", "2"),
    ),
    Bug(
        "gradient-shard-cut-from-the-end",
        "shard of gradient of W1",
        "states are divided from the first row on, gradients from the last",
        "deepspeedai/DeepSpeed#545 (B127), msrasys/nnscaler#61 (B088)",
    ),
    Bug(
        "state-of-another-shard",
        "next second moment",
        "a replica updates its rows with the second moment of the replica before it",
        "deepspeedai/DeepSpeed#2059 (B033), #5259 (B035)",
        ("--optimizer", "adam"),
    ),
    Bug(
        "parameters-gathered-rotated",
        "all-gather of updated W1",
        "the updated rows of replica 0 come last",
        "deepspeedai/DeepSpeed#2059 (B033), msrasys/nnscaler#61 (B088)",
    ),
    Bug(
        "backward-gathers-rotated",
        "all-gather of W2 for the backward",
        "the backward gathers rows in another order than the forward",
        "NVIDIA/Megatron-LM#7452 (B032), #6500 (B031)",
        ("--zero", "3"),
    ),
    Bug(
        "step-counted-twice",
        "first correction",
        "the bias corrections are those of the next step",
        "NVIDIA/Megatron-LM#5976 (B124)",
        ("--optimizer", "adam"),
    ),
    Bug(
        "decay-in-gradient",
        "decay",
        "the decay goes through the moments: Adam with a penalty in place of AdamW",
        "no public row: two algorithms that are taken for one another",
        ("--optimizer", "adamw"),
    ),
    Bug(
        "unscaled-without-scale",
        "unscaled gradient of W1",
        "gradients are divided by a loss scale that was never applied",
        "deepspeedai/DeepSpeed#7839 (B057)",
        ("--loss-scale", "1024"),
    ),
    Bug(
        "unscaled-after-clip",
        "norm",
        "the norm is that of gradients that still have the loss scale",
        "deepspeedai/DeepSpeed#7839 (B057), of the same kind",
        ("--loss-scale", "8", "--clip", "1/8"),
    ),
    Bug(
        "clipped-by-local-norm",
        "norm",
        "each device clips by the norm of what it holds",
        "pytorch/pytorch#170862 (B121), NVIDIA/Megatron-LM#7452 (B113)",
        ("--clip", "1/8"),
    ),
    Bug(
        "replicated-gradients-in-norm",
        "norm",
        "the gradient of the bias, which all ranks have, is counted once for each",
        "NVIDIA-NeMo/RL#3788 (B116), ROCm/TransformerEngine#715 (B117)",
        ("--clip", "1/8", "--tp", "2"),
    ),
    Bug(
        "norm-over-replicas",
        "norm",
        "squares of gradients that all replicas have are added up over replicas",
        "ByteDance-Seed/VeOmni#184 (B118), NVIDIA/Megatron-LM#3754 (B017)",
        ("--clip", "1/8", "--zero", "0"),
    ),
    Bug(
        "clipped-copy-not-used",
        "new first moment",
        "the step uses gradients as they were before they were clipped",
        "huggingface/transformers#46113 (B120)",
        ("--clip", "1/8", "--optimizer", "adam"),
    ),
)

VOCABULARY = (
    Bug(
        "maximum-of-own-columns",
        "maximum",
        "each rank subtracts the maximum of its own logits, and sums of exponentials are added up",
        "pytorch/pytorch#165962 (B110)",
    ),
    Bug(
        "sum-of-own-columns",
        "sum of exponentials",
        "each rank divides by the sum over its own columns",
        "pytorch/torchtitan#1878 (B007), of the same kind",
    ),
    Bug(
        "targets-counted-from-zero",
        "rows of targets",
        "each rank looks targets up as if its columns were the first ones",
        "pytorch/pytorch#172350 (B094), NVIDIA/Megatron-LM#3575 (B075)",
    ),
    Bug(
        "words-counted-from-zero",
        "rows of words",
        "each rank looks words up as if its rows were the first ones",
        "pytorch/pytorch#172350 (B094), pytorch/torchtitan#3604 (B087)",
    ),
    Bug(
        "gradient-only-at-targets",
        "gradient of logits",
        "columns of ranks that do not hold the target get no gradient",
        "modelscope/ms-swift#9947 (B013)",
    ),
    Bug(
        "gradient-of-hidden-not-reduced",
        "gradient of hidden",
        "each rank goes on with the gradient that its own columns give",
        "pytorch/torchtitan#3412 (B010), #4054 (B009)",
    ),
    Bug(
        "tied-gradient-added-twice",
        "gradient of E",
        "the gradient of the embedding is added to that of the output layer twice",
        "pytorch/torchtitan#3174 (B125)",
    ),
    Bug(
        "loss-of-own-tokens",
        "mean loss",
        "the sum of the losses of all replicas is divided by the tokens of one",
        "pytorch/torchtitan#2972 (B061), of the same kind",
    ),
)

RING_ATTENTION = (
    Bug(
        "values-go-the-other-way",
        "values go on",
        "keys and values go round in opposite directions",
        "msrasys/nnscaler#40 (B036), of the same kind",
        ("--cp", "3", "--positions", "12"),
    ),
    Bug(
        "last-block-not-seen",
        "online softmax",
        "the ring takes one step too few",
        "AI-Hypercomputer/maxtext@d20a48da (B097), of the same kind",
    ),
    Bug(
        "mask-of-own-block",
        "online softmax",
        "each block of keys is masked as if it were the rank's own",
        "NVIDIA/TransformerEngine#2349 (B037)",
        ("--causal",),
    ),
    Bug(
        "output-not-corrected",
        "online softmax",
        "the output so far keeps the factor of the maximum before",
        "NVIDIA/TransformerEngine#1546 (B145), whose correction was there and not precise",
    ),
    Bug(
        "sum-not-corrected",
        "online softmax",
        "the sum so far keeps the factor of the maximum before",
        "NVIDIA/TransformerEngine#1546 (B145), whose correction was there and not precise",
    ),
    Bug(
        "gradients-not-sent-home",
        "sum of gradients of k",
        "gradients of keys and values stay one rank before their own",
        "NVIDIA/TransformerEngine#1896 (B086), of the same kind",
    ),
)

ALL_TO_ALL_ATTENTION = (
    Bug(
        "sources-rotated",
        "all-to-all of k",
        "what comes from rank 0 is taken for the last part of the sequence",
        "deepspeedai/DeepSpeed#5664 (B098), NVIDIA/Megatron-LM@54d4b3dd (B096)",
    ),
    Bug(
        "joined-along-heads",
        "all-to-all of v",
        "parts are joined along the dimension that was split, and reshaped",
        "deepspeedai/DeepSpeed#5664 (B098), #5823 (B099), pytorch/torchtitan#3206 (B100)",
    ),
    Bug(
        "returns-parts-of-own-positions",
        "all-to-all of o",
        "each rank returns its own range of positions to all",
        "NVIDIA/TransformerEngine#1768 (B085), of the same kind",
    ),
)

EXPERTS = (
    Bug(
        "tokens-to-next-rank",
        "all-to-all of tokens",
        "each rank gets the tokens of the next rank's experts",
        "deepspeedai/DeepSpeed#7551 (B034), pytorch/torchtitan#3604 (B087), of the same kind",
    ),
    Bug(
        "groups-joined-along-experts",
        "all-to-all of tokens",
        "parts are joined along the dimension that was split, and reshaped",
        "NVIDIA/Megatron-LM@54d4b3dd (B096), deepspeedai/DeepSpeed#8195 (B083)",
    ),
    Bug(
        "results-in-another-order",
        "all-to-all of results",
        "results of the experts of rank 0 come last",
        "NVIDIA/Megatron-LM@54d4b3dd (B096)",
    ),
    Bug(
        "weights-of-other-tokens",
        "weights of tokens",
        "each token gets the weights of the next one",
        "pytorch/torchtitan#3604 (B087)",
    ),
    Bug(
        "combined-without-probabilities",
        "combination",
        "results are not multiplied by the probability of their expert",
        "NVIDIA/Megatron-LM#5850 (B150)",
    ),
    Bug(
        "router-reduced-over-replicas-only",
        "reduction of router",
        "the gradient of the router lacks the tokens of other ranks",
        "pytorch/torchtitan#2416 (B008), huggingface/transformers#48687 (B012)",
    ),
    Bug(
        "experts-reduced-over-all-ranks",
        "reduction of W1",
        "gradients of different experts are added up",
        "NVIDIA/Megatron-LM#5916 (B028), #6080 (B029)",
    ),
)

STRATEGIES = {
    "train": TRAINING,
    "cross-entropy": VOCABULARY,
    "ring-attention": RING_ATTENTION,
    "all-to-all-attention": ALL_TO_ALL_ATTENTION,
    "experts": EXPERTS,
}
BUGS = {bug.name: bug for bugs in STRATEGIES.values() for bug in bugs}
