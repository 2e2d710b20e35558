# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Folds the ranks of a plan of two stages with three ranks each, and of plans in which ranks differ.

`fold_ranks.py DIRECTORY` writes `right.mlir`, and a file for each of `DIFFERENCES` and `INVALID`: what
the last rank of a stage does differently. Of each it says the stages whose ranks are folded, and the verdict.
"""

import re
import subprocess
import sys
from pathlib import Path

REFERENCE = """
tv.plan @reference <dp = 1, device = 1, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4, 0:6 of 6]> : !tv.buffer<tensor<4x6xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4, 0:6 of 6]> gradient_of @w : !tv.buffer<tensor<4x6xf32>>
  tv.buffer @v on 0 "v" holds <4, [0:4 of 4, 0:6 of 6]> : !tv.buffer<tensor<4x6xf32>>
  tv.buffer @h on 0 "v" holds <4, [0:4 of 4, 0:6 of 6]> gradient_of @v : !tv.buffer<tensor<4x6xf32>>
  tv.segment @forward on 0 cell 0 {
  ^bb0(%x: tensor<12x4xf32>, %i: tensor<12xi64>):
    %w = tv.read @w : tensor<4x6xf32>
    %v = tv.read @v : tensor<4x6xf32>
    %y = tv.einsum %x, %w {equation = "bi,io->bo", tv.piece = #tv.piece<5, [0:12 of 12, 0:6 of 6]>} : (tensor<12x4xf32>, tensor<4x6xf32>) -> tensor<12x6xf32>
    %u = tv.einsum %x, %v {equation = "bi,io->bo"} : (tensor<12x4xf32>, tensor<4x6xf32>) -> tensor<12x6xf32>
    %p = tv.power %y {numerator = 3 : i64} : (tensor<12x6xf32>) -> tensor<12x6xf32>
    %q = tv.multiply %p, %u : (tensor<12x6xf32>, tensor<12x6xf32>) -> tensor<12x6xf32>
    %o = tv.one_hot %i {start = 0 : i64} : (tensor<12xi64>) -> tensor<12x6xf32>
    %k = tv.random "dropout" <14, [0:12 of 12, 0:6 of 6]> like %q : tensor<12x6xf32> -> tensor<12x6xf32>
    %n = tv.multiply %q, %k : (tensor<12x6xf32>, tensor<12x6xf32>) -> tensor<12x6xf32>
    %m = tv.multiply %n, %o : (tensor<12x6xf32>, tensor<12x6xf32>) -> tensor<12x6xf32>
    %l = tv.reduce sum %m {dimensions = array<i64: 0, 1>} : (tensor<12x6xf32>) -> tensor<f32>
    tv.save 0 from %x, %w, %v to %l : tensor<12x4xf32>, tensor<4x6xf32>, tensor<4x6xf32> to tensor<f32>
    tv.return %l : tensor<f32>
  }
  tv.segment @backward on 0 cell 1 backward {
    %d = tv.seed : tensor<f32>
    %dw, %dv = tv.backward %d of 0 {outputs = array<i64: 0>, wrt = array<i64: 1, 2>} : (tensor<f32>) -> (tensor<4x6xf32>, tensor<4x6xf32>)
    tv.add_to %dw, @g : tensor<4x6xf32>
    tv.add_to %dv, @h : tensor<4x6xf32>
    tv.return
  }
  tv.program 0 {
    %x:2 = tv.load_data cell 1 ["x", "i"] holds [#tv.piece<1, [0:12 of 12, 0:4 of 4]>, #tv.piece<2, [0:12 of 12]>] : tensor<12x4xf32>, tensor<12xi64>
    %l = tv.call @forward(%x#0, %x#1) instance 0 mirror 1 : (tensor<12x4xf32>, tensor<12xi64>) -> tensor<f32>
    tv.output %l "loss" <9, []> : tensor<f32>
    tv.call @backward() instance 1 mirror 0 : () -> ()
  }
}
"""

# A rank of the first stage, device D, which has columns A to B; P is its peer of the other stage.
FIRST = """
  tv.buffer @w_D on D "w" holds <3, [0:4 of 4, A:B of 6]> : !tv.buffer<tensor<4x2xf32>>
  tv.buffer @g_D on D "w" holds <3, [0:4 of 4, A:B of 6]> gradient_of @w_D : !tv.buffer<tensor<4x2xf32>>
  tv.buffer @v_D on D "v" holds <4, [0:4 of 4, A:B of 6]> : !tv.buffer<tensor<4x2xf32>>
  tv.buffer @h_D on D "v" holds <4, [0:4 of 4, A:B of 6]> gradient_of @v_D : !tv.buffer<tensor<4x2xf32>>
  tv.segment @linear_D on D cell 10 {
  ^bb0(%x: tensor<3x4xf32>):
    %w = tv.read @w_D : tensor<4x2xf32>
    %v = tv.read @v_D : tensor<4x2xf32>
    %y = tv.einsum %x, %w {equation = "bi,io->bo", tv.piece = #tv.piece<5, [0:3 of 3, A:B of 6]>} : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
    %u = tv.einsum %x, %v {equation = "bi,io->bo"} : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
    tv.save 1D from %x, %w to %y : tensor<3x4xf32>, tensor<4x2xf32> to tensor<3x2xf32>
    tv.save 2D from %x, %v to %u : tensor<3x4xf32>, tensor<4x2xf32> to tensor<3x2xf32>
    tv.return %y, %u : tensor<3x2xf32>, tensor<3x2xf32>
  }
  tv.segment @send_D on D cell 11 {
  ^bb0(%y: tensor<3x2xf32>, %u: tensor<3x2xf32>):
    %all = tv.communicate all_gather %y group [0, 1, 2] {dimension = 1 : i64} : (tensor<3x2xf32>) -> tensor<3x6xf32>
    %part = tv.slice %all {dimension = 1 : i64, start = A : i64, end = B : i64} : (tensor<3x6xf32>) -> tensor<3x2xf32>
    tv.send %part to P : tensor<3x2xf32>
    tv.send %u to P : tensor<3x2xf32>
  }
  tv.segment @receive_D on D cell 12 backward {
    %d = tv.receive from P : tensor<3x2xf32>
    %e = tv.receive from P : tensor<3x2xf32>
    tv.return %d, %e : tensor<3x2xf32>, tensor<3x2xf32>
  }
  tv.segment @linear_backward_D on D cell 13 backward {
  ^bb0(%d: tensor<3x2xf32>, %e: tensor<3x2xf32>):
    %dw = tv.backward %d of 1D {outputs = array<i64: 0>, wrt = array<i64: 1>} : (tensor<3x2xf32>) -> tensor<4x2xf32>
    %dv = tv.backward %e of 2D {outputs = array<i64: 0>, wrt = array<i64: 1>} : (tensor<3x2xf32>) -> tensor<4x2xf32>
    tv.add_to %dw, @g_D : tensor<4x2xf32>
    tv.add_to %dv, @h_D : tensor<4x2xf32>
    tv.return
  }
  tv.segment @unused_D on D cell 14 {
  ^bb0(%i: tensor<3xi64>):
    %o = tv.one_hot %i {start = 0 : i64} : (tensor<3xi64>) -> tensor<3x2xf32>
  }
  tv.program D {
    %x:2 = tv.load_data cell 1 ["x", "i"] holds LOADED : tensor<3x4xf32>, tensor<3xi64>
    tv.call @unused_D(%x#1) instance 14 : (tensor<3xi64>) -> ()
    %y0, %u0 = tv.call @linear_D(%x#0) instance 10 mirror 11 : (tensor<3x4xf32>) -> (tensor<3x2xf32>, tensor<3x2xf32>)
    tv.call @send_D(%y0, %u0) instance 12 : (tensor<3x2xf32>, tensor<3x2xf32>) -> ()
    %z:2 = tv.load_data cell 1 ["x", "i"] holds LOADED : tensor<3x4xf32>, tensor<3xi64>
    %y1, %u1 = tv.call @linear_D(%z#0) instance 20 mirror 21 : (tensor<3x4xf32>) -> (tensor<3x2xf32>, tensor<3x2xf32>)
    tv.call @send_D(%y1, %u1) instance 22 : (tensor<3x2xf32>, tensor<3x2xf32>) -> ()
    %d0, %e0 = tv.call @receive_D() instance 13 : () -> (tensor<3x2xf32>, tensor<3x2xf32>)
    tv.call @linear_backward_D(%d0, %e0) instance 11 mirror 10 : (tensor<3x2xf32>, tensor<3x2xf32>) -> ()
    %d1, %e1 = tv.call @receive_D() instance 23 : () -> (tensor<3x2xf32>, tensor<3x2xf32>)
    tv.call @linear_backward_D(%d1, %e1) instance 21 mirror 20 : (tensor<3x2xf32>, tensor<3x2xf32>) -> ()
    %s = tv.communicate all_reduce %x#0 group [TIED] : (tensor<3x4xf32>) -> tensor<3x4xf32>
    %g = tv.read @g_D : tensor<4x2xf32>
    %a = tv.communicate all_reduce %g group [D] replicas : (tensor<4x2xf32>) -> tensor<4x2xf32>
    tv.write %a, @g_D : tensor<4x2xf32>
    %h = tv.read @h_D : tensor<4x2xf32>
    %b = tv.communicate all_reduce %h group [D] replicas : (tensor<4x2xf32>) -> tensor<4x2xf32>
    tv.write %b, @h_D : tensor<4x2xf32>
  }
"""

# The same for the second stage.
SECOND = """
  tv.segment @receive_D on D cell 20 {
    %y = tv.receive from P : tensor<3x2xf32>
    %u = tv.receive from P : tensor<3x2xf32>
    tv.return %y, %u : tensor<3x2xf32>, tensor<3x2xf32>
  }
  tv.segment @loss_D on D cell 21 {
  ^bb0(%y: tensor<3x2xf32>, %u: tensor<3x2xf32>, %i: tensor<3xi64>):
    %p = tv.power %y {numerator = 3 : i64} : (tensor<3x2xf32>) -> tensor<3x2xf32>
    %q = tv.multiply %p, %u {tag = 1 : i64} : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
    %o = tv.one_hot %i {start = A : i64} : (tensor<3xi64>) -> tensor<3x2xf32>
    %k = tv.random "dropout" <14, [0:3 of 3, A:B of 6]> like %q : tensor<3x2xf32> -> tensor<3x2xf32>
    %n = tv.multiply %q, %k : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
    %m = tv.multiply %n, %o : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
    tv.save 3D from %y, %u to %q, %p : tensor<3x2xf32>, tensor<3x2xf32> to tensor<3x2xf32>, tensor<3x2xf32>
    tv.save 7D from %q to %m : tensor<3x2xf32> to tensor<3x2xf32>
    tv.return %m : tensor<3x2xf32>
  }
  tv.segment @rows_D on D cell 22 {
  ^bb0(%m: tensor<3x2xf32>):
    %rows = tv.communicate all_to_all %m group [3, 4, 5] {split_dimension = 0 : i64, dimension = 1 : i64} : (tensor<3x2xf32>) -> tensor<1x6xf32>
    tv.return %rows : tensor<1x6xf32>
  }
  tv.segment @other_rows_D on D cell 29 {
  ^bb0(%m: tensor<3x2xf32>):
    %n = tv.negate %m : (tensor<3x2xf32>) -> tensor<3x2xf32>
    %rows = tv.communicate all_to_all %n group [3, 4, 5] {split_dimension = 0 : i64, dimension = 1 : i64} : (tensor<3x2xf32>) -> tensor<1x6xf32>
    tv.return %rows : tensor<1x6xf32>
  }
  tv.segment @sum_D on D cell 23 {
  ^bb0(%rows: tensor<1x6xf32>):
    %t = tv.reshape %rows : (tensor<1x6xf32>) -> tensor<2x3xf32>
    %s = tv.reduce sum %t {dimensions = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<f32>
    tv.save 5D from %rows to %s : tensor<1x6xf32> to tensor<f32>
    tv.return %s : tensor<f32>
  }
  tv.segment @total_D on D cell 24 {
  ^bb0(%s: tensor<f32>):
    %l = tv.communicate all_reduce %s group [3, 4, 5] : (tensor<f32>) -> tensor<f32>
    %b = tv.communicate broadcast %l group [3, 4, 5] {root = 3 : i64} : (tensor<f32>) -> tensor<f32>
    tv.return %b : tensor<f32>
  }
  tv.segment @sum_backward_D on D cell 25 backward {
  ^bb0(%d: tensor<f32>):
    %e = tv.backward %d of 5D {outputs = array<i64: 0>, wrt = array<i64: 0>} : (tensor<f32>) -> tensor<1x6xf32>
    tv.return %e : tensor<1x6xf32>
  }
  tv.segment @columns_D on D cell 26 backward {
  ^bb0(%e: tensor<1x6xf32>):
    %columns = tv.communicate all_to_all %e group [3, 4, 5] {split_dimension = 1 : i64, dimension = 0 : i64} : (tensor<1x6xf32>) -> tensor<3x2xf32>
    tv.return %columns : tensor<3x2xf32>
  }
  tv.segment @loss_backward_D on D cell 27 backward {
  ^bb0(%d: tensor<3x2xf32>):
    %dq = tv.backward %d of 7D {outputs = array<i64: 0>, wrt = array<i64: 0>} : (tensor<3x2xf32>) -> tensor<3x2xf32>
    %dy, %du = tv.backward %dq of 3D {outputs = array<i64: 0>, wrt = array<i64: 0, 1>} : (tensor<3x2xf32>) -> (tensor<3x2xf32>, tensor<3x2xf32>)
    tv.return %dy, %du : tensor<3x2xf32>, tensor<3x2xf32>
  }
  tv.segment @send_D on D cell 28 backward {
  ^bb0(%d: tensor<3x2xf32>, %e: tensor<3x2xf32>):
    tv.send %d to P : tensor<3x2xf32>
    tv.send %e to P : tensor<3x2xf32>
  }
  tv.program D {
    %x:2 = tv.load_data cell 1 ["x", "i"] holds LOADED : tensor<3x4xf32>, tensor<3xi64>
    %y0, %u0 = tv.call @receive_D() instance 30 : () -> (tensor<3x2xf32>, tensor<3x2xf32>)
    %m0 = tv.call @loss_D(%y0, %u0, %x#1) instance 31 mirror 32 : (tensor<3x2xf32>, tensor<3x2xf32>, tensor<3xi64>) -> tensor<3x2xf32>
    %r0 = tv.call @rows_D(%m0) instance 33 : (tensor<3x2xf32>) -> tensor<1x6xf32>
    %s0 = tv.call @sum_D(%r0) instance 34 mirror 35 : (tensor<1x6xf32>) -> tensor<f32>
    %l0 = tv.call @total_D(%s0) instance 36 : (tensor<f32>) -> tensor<f32>
    tv.output %l0 "loss" <9, []> : tensor<f32>
    %z:2 = tv.load_data cell 1 ["x", "i"] holds LOADED : tensor<3x4xf32>, tensor<3xi64>
    %y1, %u1 = tv.call @receive_D() instance 40 : () -> (tensor<3x2xf32>, tensor<3x2xf32>)
    %m1 = tv.call @loss_D(%y1, %u1, %z#1) instance 41 mirror 42 : (tensor<3x2xf32>, tensor<3x2xf32>, tensor<3xi64>) -> tensor<3x2xf32>
    %r1 = tv.call @rows_D(%m1) instance 43 : (tensor<3x2xf32>) -> tensor<1x6xf32>
    %s1 = tv.call @sum_D(%r1) instance 44 mirror 45 : (tensor<1x6xf32>) -> tensor<f32>
    %l1 = tv.call @total_D(%s1) instance 46 : (tensor<f32>) -> tensor<f32>
    tv.output %l1 "loss" <9, []> : tensor<f32>
    %d = tv.seed : tensor<f32>
    %e0 = tv.call @sum_backward_D(%d) instance 35 mirror 34 : (tensor<f32>) -> tensor<1x6xf32>
    %c0 = tv.call @columns_D(%e0) instance 37 : (tensor<1x6xf32>) -> tensor<3x2xf32>
    %b0, %f0 = tv.call @loss_backward_D(%c0) instance 32 mirror 31 : (tensor<3x2xf32>) -> (tensor<3x2xf32>, tensor<3x2xf32>)
    tv.call @send_D(%b0, %f0) instance 38 : (tensor<3x2xf32>, tensor<3x2xf32>) -> ()
    %e1 = tv.call @sum_backward_D(%d) instance 45 mirror 44 : (tensor<f32>) -> tensor<1x6xf32>
    %c1 = tv.call @columns_D(%e1) instance 47 : (tensor<1x6xf32>) -> tensor<3x2xf32>
    %b1, %f1 = tv.call @loss_backward_D(%c1) instance 42 mirror 41 : (tensor<3x2xf32>) -> (tensor<3x2xf32>, tensor<3x2xf32>)
    tv.call @send_D(%b1, %f1) instance 48 : (tensor<3x2xf32>, tensor<3x2xf32>) -> ()
  }
"""

# A stage that has nothing to do.
IDLE = """
  tv.segment @idle_D on D cell 30 {
  ^bb0(%x: tensor<3x4xf32>):
    %s = tv.communicate all_reduce %x group [6, 7, 8] : (tensor<3x4xf32>) -> tensor<3x4xf32>
  }
  tv.program D {
    %x:2 = tv.load_data cell 1 ["x", "i"] holds LOADED : tensor<3x4xf32>, tensor<3xi64>
    tv.call @idle_D(%x#0) instance 50 : (tensor<3x4xf32>) -> ()
    %s = tv.communicate all_reduce %x#0 group [TIED] : (tensor<3x4xf32>) -> tensor<3x4xf32>
  }
"""

LOADED = "[#tv.piece<1, [0:3 of 3, 0:4 of 4]>, #tv.piece<2, [0:3 of 3]>]"
BUFFER = "!tv.buffer<tensor<4x2xf32>>"
RANKS, STAGES = 3, [FIRST, SECOND, IDLE]

# By name the devices whose text is changed, and what is replaced there by what. Devices 2 and 5 are
# the last ranks of their stages.
DIFFERENCES: dict[str, dict[int, list[tuple[str, str]]]] = {
    "another-part": {2: [('"w" holds <3, [0:4 of 4, 4:6 of 6]', '"w" holds <3, [0:4 of 4, 3:5 of 6]')]},
    "parts-exchanged": {1: [("2:4 of 6]> ", "4:6 of 6]> ")], 2: [("4:6 of 6]> ", "2:4 of 6]> ")]},
    "another-tensor": {2: [('"w" holds <3', '"w" holds <7')]},
    "gradient-for-tensor": {2: [('"w" holds <3', '"w" holds <3 gradient')]},
    "term-for-part": {2: [("4:6 of 6]> : !", "4:6 of 6], 0 of 2> : !")]},
    "parameters-exchanged": {2: [('"w"', '"t"'), ('"v"', '"w"'), ('"t"', '"v"')]},
    "gradients-exchanged": {2: [("gradient_of @w_2", "gradient_of @t_2"), ("gradient_of @v_2", "gradient_of @w_2"), ("gradient_of @t_2", "gradient_of @v_2")]},
    "another-copy": {2: [("  tv.segment @linear_2", f'  tv.buffer @c_2 on 2 "w" holds <3, [0:4 of 4, 4:6 of 6]> : {BUFFER}\n  tv.buffer @k_2 on 2 "w" holds <3, [0:4 of 4, 4:6 of 6]> gradient_of @c_2 : {BUFFER}\n  tv.segment @linear_2')]},
    "another-buffer": {2: [("tv.read @w_2", "tv.read @v_2")]},
    "another-number": {5: [("start = 4 : i64", "start = 3 : i64")]},
    "another-attribute": {5: [("numerator = 3", "numerator = 2")]},
    "another-tag": {5: [("tag = 1", "tag = 2")]},
    "tag-of-another-name": {5: [("tag = 1", "gat = 1")]},
    "no-tag": {5: [("{tag = 1 : i64} ", "")]},
    "another-operand": {5: [("tv.multiply %p, %u", "tv.multiply %y, %u")]},
    "another-op": {5: [("tv.multiply %p, %u", "tv.add %p, %u")]},
    "another-type": {5: [("2x3", "3x2")]},
    "one-op-more": {5: [("    tv.save 35", "    %f = tv.negate %m : (tensor<3x2xf32>) -> tensor<3x2xf32>\n    tv.save 35")]},
    "one-op-more-at-the-end": {2: [("    tv.write %b, @h_2 : tensor<4x2xf32>", "    tv.write %b, @h_2 : tensor<4x2xf32>\n    tv.write %h, @h_2 : tensor<4x2xf32>")]},
    "another-result": {5: [("    tv.return %m", "    tv.return %q")]},
    "another-save": {5: [("from %y, %u to %q, %p : tensor<3x2xf32>, tensor<3x2xf32> to tensor<3x2xf32>, tensor<3x2xf32>", "from %y, %u, %q to %p : tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32> to tensor<3x2xf32>")]},
    "saves-exchanged": {5: [("tv.save 75", "tv.save 95"), ("tv.save 35", "tv.save 75"), ("tv.save 95", "tv.save 35")]},
    "one-execution-twice": {5: [("%r1 = tv.call @rows_5(%m1) instance 43", "%r1 = tv.call @rows_5(%m1) instance 33")]},
    "another-forward": {5: [("of 35 {", "of 75 {")]},
    "another-wrt": {5: [("wrt = array<i64: 0, 1>", "wrt = array<i64: 1, 0>")]},
    "another-output-of-forward": {5: [("of 35 {outputs = array<i64: 0>", "of 35 {outputs = array<i64: 1>")]},
    "another-reduction": {5: [("tv.communicate all_reduce %s group [3, 4, 5]", "tv.communicate all_reduce %s group [3, 4, 5] by average")]},
    "another-kind": {5: [("tv.communicate all_reduce %s group [3, 4, 5]", "tv.communicate broadcast %s group [3, 4, 5] {root = 3 : i64}")]},
    "another-root": {5: [("root = 3", "root = 4")]},
    "another-order": {5: [("all_reduce %s group [3, 4, 5]", "all_reduce %s group [3, 5, 4]")]},
    "not-of-replicas": {2: [("%h group [2] replicas", "%h group [2]")]},
    "group-of-another": {2: [("%h group [2]", "%h group [1]")]},
    "another-peer": {2: [("tv.send %u to P", "tv.send %u to 4")]},
    "peer-of-another-stage": {2: [("tv.send %u to P", "tv.send %u to 8")]},
    "another-source": {2: [("%e = tv.receive from P", "%e = tv.receive from 4")]},
    "another-segment": {5: [("%r1 = tv.call @rows_5", "%r1 = tv.call @other_rows_5")]},
    "segment-of-another": {5: [("@rows_5(%m", "@rows_4(%m")]},
    "another-argument": {5: [("tv.call @rows_5(%m1)", "tv.call @rows_5(%m0)")]},
    "executions-exchanged": {5: [("instance 31 mirror 32 : (tensor<3x2xf32>, ten", "instance 41 mirror 32 : (tensor<3x2xf32>, ten"), ("instance 41 mirror 42 : (tensor<3x2xf32>, ten", "instance 31 mirror 42 : (tensor<3x2xf32>, ten")]},
    "another-mirror": {5: [("@loss_backward_5(%c0) instance 32 mirror 31", "@loss_backward_5(%c0) instance 32 mirror 41")]},
    "no-mirror": {5: [("instance 31 mirror 32", "instance 31")]},
    "other-draws": {5: [("14, [0:3 of 3, 4:6 of 6]", "14, [0:3 of 3, 0:2 of 6]")]},
    "draws-of-another-op": {5: [('"dropout"', '"another dropout"')]},
    "tied-to-another": {2: [("[2, 8]", "[2, 7]")], 8: [("[2, 8]", "[1, 8]")]},
    "tied-to-none": {2: [("[2, 8]", "[2]")], 8: [("[2, 8]", "[8]")]},
    "another-loader": {5: [("%z:2 = tv.load_data cell 1", "%z:2 = tv.load_data cell 2")]},
    "another-name": {5: [('%z:2 = tv.load_data cell 1 ["x", "i"]', '%z:2 = tv.load_data cell 1 ["x", "j"]')]},
    "other-data": {5: [(f'%z:2 = tv.load_data cell 1 ["x", "i"] holds {LOADED}', f'%z:2 = tv.load_data cell 1 ["x", "i"] holds {LOADED.replace("[0:3 of 3]>]", "[1:4 of 6]>]")}')]},
    "another-output": {5: [('%l1 "loss"', '%l0 "loss"')]},
    "output-of-another-name": {5: [('%l1 "loss"', '%l1 "other"')]},
    "added-twice": {2: [("    tv.add_to %dw, @g_2", "    tv.add_to %dw, @g_2 : tensor<4x2xf32>\n    tv.add_to %dw, @g_2")]},
    "not-reduced": {2: [("tv.write %a,", "tv.write %g,")]},
}  # fmt: skip


def ring(rank: int, value: str, columns: int, use: str) -> list[tuple[str, str]]:
    """Takes the value of the previous rank of the first stage where its own one is used."""
    kind = f"tensor<3x{columns}xf32>"
    exchange = f"    tv.send {value} to {(rank + 1) % RANKS} : {kind}\n"
    exchange += f"    %ring = tv.receive from {(rank - 1) % RANKS} : {kind}\n"
    return [(use, exchange + use.replace(value, "%ring"))]


def parts_to_all(rank: int, used: int) -> dict[int, list[tuple[str, str]]]:
    """A rank of the first stage sends its part to all of the second; its peer uses the one of `used`."""
    kind = "tensor<3x2xf32>"
    send, receive = f"    tv.send %u to P : {kind}\n", f"    %u = tv.receive from P : {kind}\n"
    sends = [f"    tv.send %u to {RANKS + peer} : {kind}\n" for peer in range(RANKS)]
    receives = [f"    %{'u' if peer == used else f'unused{peer}'} = tv.receive from {peer} : {kind}\n" for peer in range(RANKS)]
    return {rank: [(send, "".join(sends))], rank + RANKS: [(receive, "".join(receives))]}


def broadcasts(source: int, targets: list[int]) -> dict[int, list[tuple[str, str]]]:
    """A rank of the first stage broadcasts its part to ranks of the second."""
    kind = "tensor<3x2xf32>"
    rest = f"group {[source, *targets]} {{root = {source} : i64}} : ({kind}) -> {kind}\n"
    send, receive = f"    tv.send %u to P : {kind}\n", f"    %u = tv.receive from P : {kind}\n"
    give = f"    %given = tv.communicate broadcast %u {rest}"
    take = f'    %none = tv.undefined "none" : {kind}\n    %u = tv.communicate broadcast %none {rest}'
    return {source: [(send, give)]} | {target: [(receive, take)] for target in targets}


def in_order(order: tuple[int, ...], ordered: str) -> dict[int, list[tuple[str, str]]]:
    """All ranks of a stage put together or cut what they have in this order."""
    first = ordered.split("group [")[1].split(",")[0]
    devices = [int(first) + rank for rank in range(RANKS)]
    new = ordered.split("group [")[0] + f"group {[devices[rank] for rank in order]}"
    return {device: [(ordered, new)] for device in devices}


def starts(parts: tuple[int, ...]) -> dict[int, list[tuple[str, str]]]:
    """The ranks of the first stage cut these parts."""
    return {rank: [(f"start = {2 * rank} : i64, end = {2 * rank + 2} : i64}} : (tensor<3x6", f"start = {2 * part} : i64, end = {2 * part + 2} : i64}} : (tensor<3x6")] for rank, part in enumerate(parts)}


def scattered(order: tuple[int, ...]) -> dict[int, list[tuple[str, str]]]:
    """The ranks of the first stage cut what they have by a reduce-scatter whose group is in this order."""
    cut = "    %part = tv.slice %all {dimension = 1 : i64, start = A : i64, end = B : i64} : (tensor<3x6xf32>) -> tensor<3x2xf32>"
    scatter = f"    %part = tv.communicate reduce_scatter %all group {list(order)} by average {{dimension = 1 : i64}} : (tensor<3x6xf32>) -> tensor<3x2xf32>"
    return {rank: [(cut.replace("A", str(2 * rank)).replace("B", str(2 * rank + 2)), scatter)] for rank in range(RANKS)}


def both(*changes: dict[int, list[tuple[str, str]]]) -> dict[int, list[tuple[str, str]]]:
    """Several changes of the same devices."""
    return {number: [one for each in changes for one in each.get(number, [])] for number in set().union(*changes)}


def messages_of_others(rank: int, own: int) -> list[tuple[str, str]]:
    """A rank of the first stage sends to ranks that are others but for rank `own`, once."""
    kind = "tensor<3x2xf32>"
    sends = [f"    tv.send %part to {(peers[(rank - own) % RANKS] + own) % RANKS} : {kind}\n" for peers in ((0, 0, 0), (2, 2, 1), (1, 2, 1))]
    receives = [f"    %from{number} = tv.receive from {(peers[(rank - own) % RANKS] + own) % RANKS} : {kind}\n" for number, peers in enumerate(((0, 2, 0), (2, 2, 1), (1, 0, 1)))]
    return [("    tv.send %part to P", "".join(sends + receives) + "    tv.send %part to P")]


GATHERED, SUMMED, SENT = "all_gather %y group [0, 1, 2]", "all_reduce %s group [3, 4, 5]", "broadcast %l group [3, 4, 5]"
SCALAR = ": (tensor<f32>) -> tensor<f32>"
PAIR = ": (tensor<f32>, tensor<f32>) -> tensor<f32>"
# The sum of what each has, which is broadcast by one after the other; by the first one in a group of another order.
OF_BROADCASTS = f"""
    %s3 = tv.communicate broadcast %s group [4, 5, 3] {{root = 3 : i64}} {SCALAR}
    %s4 = tv.communicate broadcast %s group [3, 4, 5] {{root = 4 : i64}} {SCALAR}
    %s5 = tv.communicate broadcast %s group [3, 4, 5] {{root = 5 : i64}} {SCALAR}
    %s34 = tv.add %s3, %s4 {PAIR}
    %l = tv.add %s34, %s5 {PAIR}
"""
# Of what is gathered in the order 1, 2, 0 the part of each rank.
ITS_OWN = (2, 0, 1)
# Devices 1 and 2 are exchanged; 7 and 8 do something with them.
PARTS = {
    1: [("2:4 of 6", "4:6 of 6"), ("[1, 7]", "[1, 8]"), (" P", " 5")],
    2: [("4:6 of 6", "2:4 of 6"), ("[2, 8]", "[2, 7]"), (" P", " 4")],
    7: [("[1, 7]", "[2, 7]")],
    8: [("[2, 8]", "[1, 8]")],
}
STRAIGHT = both(*(broadcasts(rank, [RANKS + rank]) for rank in range(RANKS)))
# One rank, of a stage that is not folded then, to all of another.
TO_SEVERAL = both(broadcasts(0, [RANKS + rank for rank in range(RANKS)]), {rank: [("    tv.send %u to P : tensor<3x2xf32>\n", "")] for rank in range(1, RANKS)})

# What no plan may say. No verifier has seen the plans of frontends before they are folded.
INVALID: dict[str, dict[int, list[tuple[str, str]]]] = {
    "buffer-of-another": {2: [("tv.read @w_2", "tv.read @w_1")]},
    "gradient-of-another": {2: [("tv.add_to %dw, @g_2", "tv.add_to %dw, @g_1")]},
    "to-itself": {2: [("tv.send %u to P", "tv.send %u to 2")]},
    "group-without-itself": {2: [("[2, 8]", "[1, 8]")], 8: [("[2, 8]", "[1, 8]")]},
    "not-called": {5: [("%n group [3, 4, 5]", "%n group [3, 4]")]},
    "slice-of-nothing": {2: [("start = 4 : i64, end = 6", "start = 5 : i64, end = 7")]},
    "slice-of-another-size": {2: [("start = 4 : i64, end = 6", "start = 4 : i64, end = 5")]},
    "draws-of-nothing": {5: [("14, [0:3 of 3, 4:6 of 6]", "14, [0:3 of 3, 4:7 of 7]")]},
    "saved-twice": {5: [("tv.save 75", "tv.save 35"), ("of 75 {", "of 35 {")]},
    "first-to-itself": {rank: messages_of_others(rank, 0) for rank in range(RANKS)},
    "second-to-itself": {rank: messages_of_others(rank, 1) for rank in range(RANKS)},
    "sum-for-the-first": {rank: [("all_reduce %s group [3, 4, 5]", "all_reduce %s group [3, 4, 5] {root = 3 : i64}")] for rank in (3, 4, 5)},
    "loaded-without-name": {5: [('%z:2 = tv.load_data cell 1 ["x", "i"]', '%z:2 = tv.load_data cell 1 ["x"]')]},
}  # fmt: skip

# The same for what all ranks of some stages do, which is an axis as well.
ALIKE: dict[str, dict[int, list[tuple[str, str]]]] = {
    "same-from-another-rank": {rank: ring(rank, "%all", 6, "    %part = tv.slice %all") for rank in range(RANKS)},
    "part-of-another-rank": {rank: ring(rank, "%part", 2, "    tv.send %part to") for rank in range(RANKS)},
    "to-another-rank": {rank: [("to P", f"to {RANKS + (rank + 1) % RANKS}"), ("from P", f"from {RANKS + (rank + 1) % RANKS}")] for rank in range(RANKS)}
    | {rank + RANKS: [("to P", f"to {(rank - 1) % RANKS}"), ("from P", f"from {(rank - 1) % RANKS}")] for rank in range(RANKS)},
    "parts-to-all": {number: change for rank in range(RANKS) for number, change in parts_to_all(rank, rank).items()},
    "first-part-to-all": {number: change for rank in range(RANKS) for number, change in parts_to_all(rank, 0).items()},
    "last-part-to-all": {number: change for rank in range(RANKS) for number, change in parts_to_all(rank, RANKS - 1).items()},
    "broadcast": STRAIGHT,
    "broadcast-to-another-rank": both(*(broadcasts(rank, [RANKS + (rank + 1) % RANKS]) for rank in range(RANKS))),
    "broadcast-to-others": both(STRAIGHT, DIFFERENCES["one-op-more"]),
    "broadcast-from-others": both(STRAIGHT, DIFFERENCES["another-tensor"]),
    "broadcast-to-several": TO_SEVERAL,
    "gathered-in-another-order": both(in_order((1, 2, 0), GATHERED), starts(ITS_OWN)),
    "gathered-and-cut-straight": in_order((1, 2, 0), GATHERED),
    "cut-in-another-order": starts(ITS_OWN),
    "one-part-twice": starts((0, 1, 0)),
    "parts-that-overlap": {2: [("start = 4 : i64, end = 6 : i64} : (tensor<3x6", "start = 3 : i64, end = 5 : i64} : (tensor<3x6")]},
    "scattered": scattered((0, 1, 2)),
    "scattered-in-another-order": both(in_order((1, 2, 0), GATHERED), scattered((1, 2, 0))),
    "scattered-and-gathered-straight": scattered((1, 2, 0)),
    "parts-in-another-order": PARTS | {4: [(" P", " 2")], 5: [(" P", " 1")]},
    "parts-in-another-order-sent-straight": {rank: changes[:2] for rank, changes in PARTS.items()},
    "summed-in-another-order": in_order((2, 0, 1), SUMMED),
    "broadcast-in-another-order": in_order((1, 2, 0), SENT),
    "sum-of-broadcasts": {rank: [(f"    %l = tv.communicate {SUMMED} : (tensor<f32>) -> tensor<f32>\n", OF_BROADCASTS)] for rank in (3, 4, 5)},
    "exchanged-in-another-order": in_order((1, 2, 0), "all_to_all %e group [3, 4, 5]"),
    "another-broadcast": both(STRAIGHT, {5: [("group [2, 5] {root = 2", "group [2, 5] {root = 5")]}),
}  # fmt: skip


def device(number: int) -> str:
    """The text of one device."""
    rank, template = number % RANKS, STAGES[number // RANKS]
    text = template.replace(" D ", f" {number} ").replace("_D", f"_{number}")
    text = text.replace("[D]", f"[{number}]")
    for kind in "12357":
        text = text.replace(f" {kind}D ", f" {kind}{number} ")
    text = text.replace("TIED", f"{rank}, {rank + 2 * RANKS}")
    start, end = 2 * rank, 2 * rank + 2
    text = text.replace("A:B", f"{start}:{end}").replace("= A :", f"= {start} :")
    return text.replace("= B :", f"= {end} :").replace("LOADED", LOADED)


# No rank has the other columns. What is said of it does not depend on folding either.
MISSING = {rank: [(f'"v" holds <4, [0:4 of 4, {2 * rank}:{2 * rank + 2} of 6]', '"v" holds <4, [0:4 of 4, 0:2 of 6]')] for rank in range(1, RANKS)}


def module(changes: dict[int, list[tuple[str, str]]], is_reversed: bool = False) -> str:
    """Both plans, with the last device first if that is wanted; what is replaced has to be there."""
    count = RANKS * len(STAGES)
    texts = [device(number) for number in range(count)]
    for number, replacements in changes.items():
        for old, new in replacements:
            if old not in texts[number]:
                raise ValueError(f"device {number} has no {old!r}")
            texts[number] = texts[number].replace(old, new)
    for number in range(count):
        peer = (number + RANKS) % (2 * RANKS)
        texts[number] = texts[number].replace(" P", f" {peer}")
    mesh = f"<dp = 2, device = {count}, mb = 2>"
    return REFERENCE + f"tv.plan @plan {mesh} {{\n" + "".join(reversed(texts) if is_reversed else texts) + "}\n"


def run(pipeline: str, file: Path, *options: str) -> tuple[int, str, str]:
    """Exit code, output and errors of `verify-opt`."""
    command = ["verify-opt", f"--pass-pipeline=builtin.module({pipeline})", str(file), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def summarize(errors: str) -> list[str]:
    """What is wrong, where, and what follows from it; not the numbers of one counterexample."""
    said = ("error: ", "note: as a consequence ")
    return [line for line in errors.splitlines() if any(word in line for word in said)]


def describe(file: Path, changed: set[int]) -> str:
    """The stages whose ranks are folded, none of which has a device of `changed`, and the verdict,
    which has to be the same without."""
    if run("", file)[0]:
        unverified = ("--mlir-very-unsafe-disable-verifier-on-parsing", "--verify-each=false")
        folded = run("tv-canonicalize-ssa{fold-ranks=true}", file, *unverified)
        apart = run("tv-canonicalize-ssa", file, *unverified)
        if folded != apart or not apart[0] or "error: " not in apart[2]:
            raise ValueError(f"{file} is no valid plan, which goes unnoticed:\n{folded[2]}{apart[2]}")
        return f"{file.stem}: no valid plan"
    check = "tv-check-schedule{checks=progress buffered-sends=1},tv-canonicalize-ssa%s,tv-check-equiv"
    code, output, errors = run(check % "{fold-ranks=true}", file)
    apart, _, errors_apart = run(check % "", file)
    if (code, summarize(errors)) != (apart, summarize(errors_apart)):
        raise ValueError(f"{file} has another verdict where ranks are folded")
    if code:
        output = run("tv-canonicalize-ssa{fold-ranks=true}", file)[1]
    groups = re.search(r"tv.folded = \[(.*?)\]", output)
    folded = [] if groups is None else re.findall(r"array<i64: (.*?)>", groups[1])
    stages = [int(ranks.split(", ")[0]) // RANKS for ranks in folded]
    if not changed.isdisjoint(stages):
        raise ValueError(f"{file} has ranks that differ, and are folded")
    words = f"stages {stages} folded" if stages else "apart"
    return f"{file.stem}: {words}, {'not proved' if code else 'proved'}"


def main() -> None:
    """Writes the plans into a directory, and what becomes of each."""
    directory, missing = Path(sys.argv[1]), "part-of-nobody"
    for name, changes in {"right": {}, missing: MISSING, **ALIKE, **INVALID, **DIFFERENCES}.items():
        file = directory / f"{name}.mlir"
        file.write_text(module(changes, is_reversed=name == missing))
        others = set() if name in (missing, *ALIKE) else {number // RANKS for number in changes}
        print(describe(file, others))


if __name__ == "__main__":
    main()
