// RUN: verify-opt %s --tv-reduce-shapes | FileCheck %s

// Where a function takes what a sum over steps gives, cases of its argument at few
// positions say nothing about many.

// Exactly 500 positive elements.
// CHECK: tv.stage @count
// CHECK-SAME: factors = [{bulk = 997 : i64, counts_steps, kept = 3 : i64, size = 1000 : i64, width = 3 : i64}]
tv.stage @count <dp = 1, device = 1> expects array<i64: 0> (%x: tensor<1000xf32>) {
  %zero = tv.constant dense<0.0> : tensor<f64> : () -> tensor<1000xf32>
  %step = tv.compare less %zero, %x : (tensor<1000xf32>, tensor<1000xf32>) -> tensor<1000xf32>
  %count = tv.reduce sum %step {dimensions = array<i64: 0>} : (tensor<1000xf32>) -> tensor<f32>
  %half = tv.constant dense<500.0> : tensor<f64> : () -> tensor<f32>
  %l = tv.compare equal %count, %half : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %r = tv.constant dense<0.0> : tensor<f64> on <device = 0> : () -> tensor<f32>
  tv.expect %r is %l <> on <device = 0> number 0 : tensor<f32> is tensor<f32>
}

// A sum of numbers is none.
// CHECK: tv.stage @sum
// CHECK-SAME: factors = [{bulk = 997 : i64, kept = 3 : i64, size = 1000 : i64, width = 3 : i64}]
tv.stage @sum <dp = 1, device = 1> expects array<i64: 0> (%x: tensor<1000xf32>) {
  %e = tv.exp %x : (tensor<1000xf32>) -> tensor<1000xf32>
  %sum = tv.reduce sum %e {dimensions = array<i64: 0>} : (tensor<1000xf32>) -> tensor<f32>
  %half = tv.constant dense<500.0> : tensor<f64> : () -> tensor<f32>
  %l = tv.compare equal %sum, %half : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %r = tv.constant dense<0.0> : tensor<f64> on <device = 0> : () -> tensor<f32>
  tv.expect %r is %l <> on <device = 0> number 0 : tensor<f32> is tensor<f32>
}

// The choice of one element by its index is no count: one term at most is not 0.
// CHECK: tv.stage @choice
// CHECK-SAME: factors = [{bulk = {{[0-9]+}} : i64, kept = {{[0-9]+}} : i64, size = 1000 : i64, width = {{[0-9]+}} : i64}]
tv.stage @choice <dp = 1, device = 1> expects array<i64: 0> (%x: tensor<1000xf32>, %i: tensor<1xi64>) {
  %hot = tv.one_hot %i {start = 0 : i64} : (tensor<1xi64>) -> tensor<1x1000xf32>
  %y = tv.einsum %hot, %x {equation = "ba,a->b"} : (tensor<1x1000xf32>, tensor<1000xf32>) -> tensor<1xf32>
  %l = tv.exp %y : (tensor<1xf32>) -> tensor<1xf32>
  %r = tv.constant dense<0.0> : tensor<f64> on <device = 0> : () -> tensor<1xf32>
  tv.expect %r is %l <[0:1 of 1]> on <device = 0> number 0 : tensor<1xf32> is tensor<1xf32>
}

// It is one in its own dimension only: here positive elements are added up in another one
// of the same sort.
// CHECK: tv.stage @choice_and_count
// CHECK-SAME: factors = [{bulk = {{[0-9]+}} : i64, counts_steps,
tv.stage @choice_and_count <dp = 1, device = 1> expects array<i64: 0> (%x: tensor<1000xf32>, %i: tensor<1xi64>) {
  %hot = tv.one_hot %i {start = 0 : i64} : (tensor<1xi64>) -> tensor<1x1000xf32>
  %zero = tv.constant dense<0.0> : tensor<f64> : () -> tensor<1000xf32>
  %step = tv.compare less %zero, %x : (tensor<1000xf32>, tensor<1000xf32>) -> tensor<1000xf32>
  %many = tv.einsum %hot, %step {equation = "ba,c->a"} : (tensor<1x1000xf32>, tensor<1000xf32>) -> tensor<1000xf32>
  %y = tv.add %many, %x : (tensor<1000xf32>, tensor<1000xf32>) -> tensor<1000xf32>
  %l = tv.exp %y : (tensor<1000xf32>) -> tensor<1000xf32>
  %r = tv.constant dense<0.0> : tensor<f64> on <device = 0> : () -> tensor<1000xf32>
  tv.expect %r is %l <[0:1000 of 1000]> on <device = 0> number 0 : tensor<1000xf32> is tensor<1000xf32>
}

// Whether an element of a mask is finite is a step: this is how many are.
// CHECK: tv.stage @mask
// CHECK-SAME: factors = [{bulk = 997 : i64, counts_steps,
tv.stage @mask <dp = 1, device = 1> expects array<i64: 0> (%m: tensor<1000x!tv.extended<f32>>) {
  %e = tv.exp %m : (tensor<1000x!tv.extended<f32>>) -> tensor<1000xf32>
  %count = tv.reduce sum %e {dimensions = array<i64: 0>} : (tensor<1000xf32>) -> tensor<f32>
  %half = tv.constant dense<500.0> : tensor<f64> : () -> tensor<f32>
  %l = tv.compare equal %count, %half : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %r = tv.constant dense<0.0> : tensor<f64> on <device = 0> : () -> tensor<f32>
  tv.expect %r is %l <> on <device = 0> number 0 : tensor<f32> is tensor<f32>
}
