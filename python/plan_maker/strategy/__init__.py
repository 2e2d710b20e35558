# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From a model and parallel sizes to the programs of the devices.

* `configuration`: the sizes, and the combinations of them that exist;
* `mlp`, `llama`, `llama_moe`, `gpt`, their `_trace`s, `model_tracer`: the models'
  traces, and which ops start a split over the tensor-parallel ranks;
* `positions`: splits of a Llama by positions;
* `numbering`: numbers for tensors and cells;
* `layout`: what splitting an op does to its operands and results;
* `stage`: one stage as steps: communication, copies for several consumers, ops;
* `communication`: the primitives between two layouts;
* `ranks`: the steps on each rank, forward and backward;
* `pipeline`: the model cut into stages, and the transfers between them;
* `schedule`: which stage runs which micro-batch when;
* `reducers`: which devices sum which gradients;
* `assemble`: all of it put together.
"""
