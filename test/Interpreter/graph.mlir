// RUN: verify-opt %s --tv-interpret="inputs=%S/Inputs/graph.json print-results" -o /dev/null | FileCheck %s
// RUN: verify-opt %s --tv-interpret="inputs=%S/Inputs/x.json arithmetic=double symbol=exact print-results" -o /dev/null | FileCheck %s --check-prefix=DOUBLE

// CHECK-LABEL: @exact in exact rationals, seed 0
// CHECK: value '0'{{$}}
// CHECK-NEXT: on every place
// CHECK-NEXT: [0] 1/3
// CHECK-NEXT: [1] -5/6
// DOUBLE-LABEL: @exact in doubles, seed 0
// DOUBLE: [0] 0.3333333333333333
// DOUBLE: [1] -0.8333333333333334
// DOUBLE-NOT: @
tv.graph @exact <> {
  %x = tv.input <input "x"> : tensor<2xf32>
  %three = tv.constant dense<3.0> : tensor<f64> : () -> tensor<2xf64>
  %y = tv.divide %x, %three : (tensor<2xf32>, tensor<2xf64>) -> tensor<2xf32>
}

// CHECK-LABEL: @root in doubles, seed 0
// CHECK: [] 0.7071067811865475
tv.graph @root <> {
  %two = tv.input <input "two"> : tensor<f32>
  %y = tv.rsqrt %two : (tensor<f32>) -> tensor<f32>
}

// A value of the plan is one tensor for each coordinate that it depends on.
// CHECK-LABEL: @places in exact rationals
// CHECK: value '0'{{$}}
// CHECK-NEXT: on dp = 0, device = 1
// CHECK-NEXT: [0] -1
// CHECK-NEXT: on dp = 1, device = 1
// CHECK-NEXT: [0] 5/2
// CHECK: value '1'{{$}}
// CHECK-NEXT: on every place
// CHECK-NEXT: [0] -3/2
tv.graph @places <dp = 2, device = 2> {
  %x = tv.input <input "x"> : tensor<2xf32>
  %part = tv.distribute %x <[dp, 0:1 of 1]> on <> : (tensor<2xf32>) -> tensor<1xf32>
  %move = tv.move %part from <device = 0> on <device = 1> : (tensor<1xf32>) -> tensor<1xf32>
  %other = tv.undefined "nothing" on <device = 1> : tensor<1xf32>
  %zero = tv.subtract %other, %other on <device = 1> : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  %minus = tv.subtract %zero, %move on <device = 1> : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  %sum = tv.all_reduce %part over ["dp"] on <device = 0> : (tensor<1xf32>) -> tensor<1xf32>
}

// Expects are compared, at each place.
// CHECK-LABEL: @expects
// CHECK: output 'y' 2 0 0 equal
// CHECK: lemma '1' 2 3.5 1.4 differs on 1: dp = 1, element [0]
// CHECK: gradient 'g' 1 0 0 equal
tv.stage @expects <dp = 2> expects array<i64: 0, 1, 2>(%x: tensor<2xf32>) {
  %part = tv.distribute %x <[dp, 0:1 of 1]> on <> : (tensor<2xf32>) -> tensor<1xf32>
  %first = tv.move %part from <dp = 0> on <> : (tensor<1xf32>) -> tensor<1xf32>
  %sum = tv.reduce sum %x keep {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<1xf32>
  tv.expect %part is %x <[dp, 0:1 of 1]> on <> number 0 contract <output "y"> : tensor<1xf32> is tensor<2xf32>
  tv.expect %first is %x <[dp, 0:1 of 1]> on <> number 1 : tensor<1xf32> is tensor<2xf32>
  tv.expect %part is %sum <[0:1 of 1] sum dp> on <> number 2 contract <gradient "g"> : tensor<1xf32> is tensor<1xf32>
}
