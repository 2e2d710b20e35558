// RUN: not verify-opt %s --tv-verify-equiv --split-input-file 2>&1 | FileCheck %s
// RUN: not verify-opt %s --split-input-file \
// RUN:   --pass-pipeline='builtin.module(tv-canonicalize-ssa{fold-ranks=true},tv-check-equiv)' 2>&1 | FileCheck %s
// RUN: sed 's/tv.executed_otherwise\( = {.*}\)\?} {/} {/' %s > %t.right.mlir
// RUN: verify-opt %t.right.mlir --tv-verify-equiv --split-input-file | FileCheck %s --check-prefix=PROVED

// A frontend says of a plan that it is not executed as it was read. What is proved of it is not said of what is
// run; without that, each of these is right.

// PROVED-COUNT-2: tv.answer = "proved"
// CHECK-NOT: "proved"

// CHECK: model.py:7:{{.*}}error: unknown whether the plan computes what the reference computes: it is run backwards
// CHECK-NOT: "proved"
module {
  tv.plan @reference <dp = 1, device = 1, mb = 1> {
    tv.segment @forward on 0 cell 2 {
    ^bb0(%x: tensor<4xf32>):
      %0 = tv.reduce sum %x {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
      tv.return %0 : tensor<f32>
    }
    tv.program 0 {
      %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
      %1 = tv.call @forward(%0) instance 2 : (tensor<4xf32>) -> tensor<f32>
      tv.output %1 "loss" <8, []> : tensor<f32>
    }
  }
  tv.plan @plan <dp = 1, device = 1, mb = 1> attributes {tv.executed_otherwise = {place = loc("model.py":7:0), reason = "it is run backwards"}} {
    tv.segment @forward on 0 cell 2 {
    ^bb0(%x: tensor<4xf32>):
      %0 = tv.reduce sum %x {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
      tv.return %0 : tensor<f32>
    }
    tv.program 0 {
      %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
      %1 = tv.call @forward(%0) instance 2 : (tensor<4xf32>) -> tensor<f32>
      tv.output %1 "loss" <8, []> : tensor<f32>
    }
  }
}

// -----

// CHECK: executed-otherwise.mlir:[[@LINE+2]]:{{.*}}error: unknown whether the plan computes
// CHECK-NOT: "proved"
module attributes {tv.executed_otherwise} {
  tv.graph @graph <dp = 1, device = 1> {
    %x = tv.input <input "x"> : tensor<4xf32>
    %y = tv.negate %x : (tensor<4xf32>) -> tensor<4xf32>
    %p = tv.distribute %x <[0:4 of 4]> on <device = 0> : (tensor<4xf32>) -> tensor<4xf32>
    %z = tv.negate %p on <device = 0> : (tensor<4xf32>) -> tensor<4xf32>
    tv.expect %z is %y <[0:4 of 4]> on <device = 0> number 0 contract <output "y"> : tensor<4xf32> is tensor<4xf32>
  }
}

// -----

// CHECK: executed-otherwise.mlir:[[@LINE+1]]:{{.*}}error: unknown whether the plan computes
module attributes {tv.executed_otherwise} {
  tv.stage @stage <dp = 1, device = 1> expects array<i64: 0> (%x: tensor<4xf32>) {
    %y = tv.negate %x : (tensor<4xf32>) -> tensor<4xf32>
    %p = tv.distribute %x <[0:4 of 4]> on <device = 0> : (tensor<4xf32>) -> tensor<4xf32>
    %z = tv.negate %p on <device = 0> : (tensor<4xf32>) -> tensor<4xf32>
    tv.expect %z is %y <[0:4 of 4]> on <device = 0> number 0 : tensor<4xf32> is tensor<4xf32>
  }
}
