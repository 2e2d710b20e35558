# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes execution plans of small models in nnScaler's pickle file format.

A plan says what every device of one data-parallel replica runs, in order. The
package makes the plan of an MLP, a Llama, dense or with mixtures of experts, or a
GPT model for given data, pipeline and tensor parallel sizes, its single-device
counterpart, and, on request, the same plan with one named bug. Only the standard
library is needed.

The layers, each of which knows only the ones before it:

* `annotation`: nnScaler's partition rules, `'* k+, n k+ -> * n'`;
* `graph`: tensors, ops, cells and device programs as frozen data;
* `trace`: the model as one device runs it;
* `strategy`: the model cut into stages, each stage split over its ranks, and
  the stages scheduled over micro-batches;
* `bugs`: transformations of a finished plan;
* `pickle_writer` and `emit`: the plan as pickle opcodes;
* `command_line`: `verify-make-plan`, which `python3 -m plan_maker` runs.
"""
