// RUN: not verify-opt %s --split-input-file --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s

// One small graph for each kind of difference that a graph can have.

// Each device has one term of a contraction.
// CHECK-LABEL: error: output 'missing sum' differs from the reference on devices 0-1
// CHECK-NEXT: tv.expect
// CHECK: note: missing sum: the value is one term of a sum over devices 0-1, and nothing adds the terms up
// CHECK: model.py:3:0: note: the term on device 0 is computed here, by 'linear'
// CHECK: note: single-device model: the reference value is computed here
// CHECK: note: element [{{[0-9]}}, {{[0-9]}}] of output 'missing sum' is {{.*}} in the plan and {{.*}} in the reference
// CHECK: note: as a consequence 2 of 2 results come out wrong: 1 output, on devices 0-1
// CHECK: note: counterexample:
tv.graph @missing_sum <device = 2> {
  %x = tv.input <input "x"> : tensor<4x8xf32>
  %w = tv.input <parameter "w"> : tensor<6x8xf32>
  %y = tv.linear %x, %w : (tensor<4x8xf32>, tensor<6x8xf32>) -> tensor<4x6xf32>
  %x0 = tv.distribute %x <[0:4 of 4], [0:4 of 8]> on <device = 0> : (tensor<4x8xf32>) -> tensor<4x4xf32>
  %x1 = tv.distribute %x <[0:4 of 4], [4:8 of 8]> on <device = 1> : (tensor<4x8xf32>) -> tensor<4x4xf32>
  %w0 = tv.distribute %w <[0:6 of 6], [0:4 of 8]> on <device = 0> : (tensor<6x8xf32>) -> tensor<6x4xf32>
  %w1 = tv.distribute %w <[0:6 of 6], [4:8 of 8]> on <device = 1> : (tensor<6x8xf32>) -> tensor<6x4xf32>
  %y0 = tv.linear %x0, %w0 on <device = 0> : (tensor<4x4xf32>, tensor<6x4xf32>) -> tensor<4x6xf32> loc("linear"("model.py":3:0))
  %y1 = tv.linear %x1, %w1 on <device = 1> : (tensor<4x4xf32>, tensor<6x4xf32>) -> tensor<4x6xf32> loc("linear"("model.py":3:0))
  tv.expect %y0 is %y <[0:4 of 4], [0:6 of 6]> on <device = 0> contract <output "missing sum"> : tensor<4x6xf32> is tensor<4x6xf32>
  tv.expect %y1 is %y <[0:4 of 4], [0:6 of 6]> on <device = 1> contract <output "missing sum"> : tensor<4x6xf32> is tensor<4x6xf32>
}

// -----

// A row of the reference is held by each device; a sum over devices does not belong.
// CHECK-LABEL: error: output 'extra sum' differs
// CHECK: note: extra sum: 'all_reduce' adds up over devices 0-1, but the value is complete before it
tv.graph @extra_sum <device = 2> {
  %x = tv.input <input "x"> : tensor<4x8xf32>
  %y = tv.exp %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %x0 = tv.distribute %x <[0:4 of 4], [0:8 of 8]> on <device = 0:2> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %y0 = tv.exp %x0 on <device = 0> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %y1 = tv.exp %x0 on <device = 1> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = tv.all_reduce %y0, %y1 over [] on <device = 0:2> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> loc("all_reduce"("model.py":4:0))
  tv.expect %s is %y <[0:4 of 4], [0:8 of 8]> on <device = 0:2> contract <output "extra sum"> : tensor<4x8xf32> is tensor<4x8xf32>
}

// -----

// Terms of replicas are added up in a group without them.
// CHECK-LABEL: error: gradient of 'w' differs from the reference on device 0 of each of 4 replicas
// CHECK: note: wrong group: 'reducer' adds up over device 0; the group has to be the 4 replicas
tv.graph @wrong_group <dp = 4, device = 1> {
  %x = tv.input <input "x"> : tensor<8x6xf32>
  %y = tv.reduce sum %x {dimensions = array<i64: 0>} : (tensor<8x6xf32>) -> tensor<6xf32>
  %x0 = tv.distribute %x <[dp, 0:2 of 2], [0:6 of 6]> on <device = 0> : (tensor<8x6xf32>) -> tensor<2x6xf32>
  %y0 = tv.reduce sum %x0 on <device = 0> {dimensions = array<i64: 0>} : (tensor<2x6xf32>) -> tensor<6xf32>
  %s = tv.all_reduce %y0 over [] on <device = 0> : (tensor<6xf32>) -> tensor<6xf32> loc("reducer"("model.py":5:0))
  tv.expect %s is %y <[0:6 of 6]> on <device = 0> contract <gradient "w"> : tensor<6xf32> is tensor<6xf32>
}

// -----

// CHECK-LABEL: error: output 'wrong slice' differs from the reference on device 1
// CHECK: note: wrong slice: on device 1 the value is part [0:2, :] of the reference tensor, part [2:4, :] is expected
tv.graph @wrong_slice <device = 2> {
  %x = tv.input <input "x"> : tensor<4x8xf32>
  %y = tv.exp %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %x0 = tv.distribute %x <[0:4 of 4], [0:8 of 8]> on <device = 1> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %e = tv.exp %x0 on <device = 1> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = tv.slice %e on <device = 1> {dimension = 0 : i64, start = 0 : i64, end = 2 : i64} : (tensor<4x8xf32>) -> tensor<2x8xf32>
  tv.expect %s is %y <[2:4 of 4], [0:8 of 8]> on <device = 1> contract <output "wrong slice"> : tensor<2x8xf32> is tensor<4x8xf32>
}

// -----

// CHECK-LABEL: error: output 'factor' differs
// CHECK: note: wrong scale factor: the value is 3/2 times that of the reference
tv.graph @scale_factor <device = 1> {
  %x = tv.input <input "x"> : tensor<4x8xf32>
  %y = tv.exp %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %x0 = tv.distribute %x <[0:4 of 4], [0:8 of 8]> on <device = 0> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %e = tv.exp %x0 on <device = 0> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %c = tv.constant dense<1.5> : tensor<f64> on <device = 0> : () -> tensor<f32>
  %s = tv.multiply %e, %c on <device = 0> : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  tv.expect %s is %y <[0:4 of 4], [0:8 of 8]> on <device = 0> contract <output "factor"> : tensor<4x8xf32> is tensor<4x8xf32>
}

// -----

// CHECK-LABEL: error: gradient of 'v' differs
// CHECK: note: missing micro-batch: what is accumulated from 'accumulate' lacks micro-batches 0, 3 of 0-3; with them the value is right
tv.graph @missing_micro_batch <device = 1, mb = 4> {
  %x = tv.input <input "x"> : tensor<8x6xf32>
  %y = tv.reduce sum %x {dimensions = array<i64: 0>} : (tensor<8x6xf32>) -> tensor<6xf32>
  %x0 = tv.distribute %x <[mb, 0:2 of 2], [0:6 of 6]> on <device = 0> : (tensor<8x6xf32>) -> tensor<2x6xf32>
  %y0 = tv.reduce sum %x0 on <device = 0, mb = 1:3> {dimensions = array<i64: 0>} : (tensor<2x6xf32>) -> tensor<6xf32>
  %s = tv.accumulate %y0 over <mb = 1:3> on <device = 0> : (tensor<6xf32>) -> tensor<6xf32> loc("accumulate"("model.py":6:0))
  tv.expect %s is %y <[0:6 of 6]> on <device = 0> contract <gradient "v"> : tensor<6xf32> is tensor<6xf32>
}

// -----

// CHECK-LABEL: error: gradient of 'early' differs
// CHECK: note: early reduction: 'reducer' adds up before micro-batches 2-3 of 0-3 are accumulated; what 'accumulate' gives after it is not added up
tv.graph @early_reduction <dp = 2, device = 1, mb = 4> {
  %x = tv.input <input "x"> : tensor<16x6xf32>
  %y = tv.reduce sum %x {dimensions = array<i64: 0>} : (tensor<16x6xf32>) -> tensor<6xf32>
  %x0 = tv.distribute %x <[mb, dp, 0:2 of 2], [0:6 of 6]> on <device = 0> : (tensor<16x6xf32>) -> tensor<2x6xf32>
  %y0 = tv.reduce sum %x0 on <device = 0> {dimensions = array<i64: 0>} : (tensor<2x6xf32>) -> tensor<6xf32>
  %s = tv.accumulate %y0 over <mb = 0:2> on <device = 0> : (tensor<6xf32>) -> tensor<6xf32> loc("accumulate"("model.py":6:0))
  %r = tv.all_reduce %s over ["dp"] on <device = 0> : (tensor<6xf32>) -> tensor<6xf32> loc("reducer"("model.py":7:0))
  %t = tv.accumulate %y0 over <mb = 2:4> on <device = 0> : (tensor<6xf32>) -> tensor<6xf32> loc("accumulate"("model.py":6:0))
  %z = tv.add %r, %t on <device = 0> : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
  tv.expect %z is %y <[0:6 of 6]> on <device = 0> contract <gradient "early"> : tensor<6xf32> is tensor<6xf32>
}

// -----

// CHECK-LABEL: error: output 'constant' differs
// CHECK: note: wrong constant: the number in 'add' is 0.25, in the reference 0.5
tv.graph @constant <device = 1> {
  %x = tv.input <input "x"> : tensor<4x8xf32>
  %c = tv.constant dense<0.5> : tensor<f64> : () -> tensor<f32> loc("add"("model.py":7:0))
  %y = tv.add %x, %c : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32> loc("add"("model.py":7:0))
  %x0 = tv.distribute %x <[0:4 of 4], [0:8 of 8]> on <device = 0> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %d = tv.constant dense<0.25> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("add"("model.py":7:0))
  %s = tv.add %x0, %d on <device = 0> : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32> loc("add"("model.py":7:0))
  tv.expect %s is %y <[0:4 of 4], [0:8 of 8]> on <device = 0> contract <output "constant"> : tensor<4x8xf32> is tensor<4x8xf32>
}

// -----

// CHECK-LABEL: error: output 'exchanged' differs
// CHECK: note: exchanged operands: the operands of 'divide' are those of the reference in another order
tv.graph @exchanged <device = 1> {
  %x = tv.input <input "x"> : tensor<4x8xf32>
  %w = tv.input <parameter "w"> : tensor<4x8xf32>
  %q = tv.exp %w : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %y = tv.divide %x, %q : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> loc("divide"("model.py":8:0))
  %x0 = tv.distribute %x <[0:4 of 4], [0:8 of 8]> on <device = 0> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %w0 = tv.distribute %w <[0:4 of 4], [0:8 of 8]> on <device = 0> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %q0 = tv.exp %w0 on <device = 0> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = tv.divide %q0, %x0 on <device = 0> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> loc("divide"("model.py":8:0))
  tv.expect %s is %y <[0:4 of 4], [0:8 of 8]> on <device = 0> contract <output "exchanged"> : tensor<4x8xf32> is tensor<4x8xf32>
}

// -----

// What has no value gets no number.
// CHECK-LABEL: error: undefined value: nothing produces t7 on device 0
// CHECK-NOT: note: element
// CHECK-NOT: counterexample
// CHECK: note: as a consequence 1 of 1 results comes out wrong
tv.graph @undefined <device = 1> {
  %x = tv.input <input "x"> : tensor<4x8xf32>
  %y = tv.exp %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %u = tv.undefined "t7" on <device = 0> : tensor<4x8xf32>
  %s = tv.exp %u on <device = 0> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  tv.expect %s is %y <[0:4 of 4], [0:8 of 8]> on <device = 0> contract <output "undefined"> : tensor<4x8xf32> is tensor<4x8xf32>
}

// -----

// Where nothing fits, nothing is guessed.
// CHECK-LABEL: error: output 'other' differs
// CHECK: note: other value: the operands of 'tv.silu' are values of the reference, its result is no part, sum or multiple of a value there
tv.graph @other <device = 1> {
  %x = tv.input <input "x"> : tensor<4x8xf32>
  %p = tv.exp %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %y = tv.exp %p : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %x0 = tv.distribute %x <[0:4 of 4], [0:8 of 8]> on <device = 0> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %p0 = tv.exp %x0 on <device = 0> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = tv.silu %p0 on <device = 0> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  tv.expect %s is %y <[0:4 of 4], [0:8 of 8]> on <device = 0> contract <output "other"> : tensor<4x8xf32> is tensor<4x8xf32>
}

// -----

// The weight of another layer.
// CHECK-LABEL: error: output 'wrong parameter' differs from the reference on device 0
// CHECK: note: wrong operand: 'linear' reads parameter 'layers.1.w', the reference 'layers.0.w'
tv.graph @wrong_parameter <device = 1> {
  %x = tv.input <input "x"> : tensor<4x8xf32>
  %v = tv.input <parameter "layers.0.w"> : tensor<6x8xf32>
  %w = tv.input <parameter "layers.1.w"> : tensor<6x8xf32>
  %y = tv.linear %x, %v : (tensor<4x8xf32>, tensor<6x8xf32>) -> tensor<4x6xf32>
  %x0 = tv.distribute %x <[0:4 of 4], [0:8 of 8]> on <device = 0> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %w0 = tv.distribute %w <[0:6 of 6], [0:8 of 8]> on <device = 0> : (tensor<6x8xf32>) -> tensor<6x8xf32>
  %y0 = tv.linear %x0, %w0 on <device = 0> : (tensor<4x8xf32>, tensor<6x8xf32>) -> tensor<4x6xf32> loc("linear"("model.py":7:0))
  tv.expect %y0 is %y <[0:4 of 4], [0:6 of 6]> on <device = 0> contract <output "wrong parameter"> : tensor<4x6xf32> is tensor<4x6xf32>
}

// -----

// What the reference adds twice too is no mistake.
// CHECK-LABEL: error: output 'added twice' differs from the reference on device 0
// CHECK: note: wrong constant: the number in 'scale' is 3, in the reference 2
tv.graph @added_twice <device = 1> {
  %x = tv.input <input "x"> : tensor<4xf32>
  %two = tv.constant dense<2.0> : tensor<f64> : () -> tensor<4xf32> loc("scale"("model.py":8:0))
  %doubled = tv.add %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("add"("model.py":9:0))
  %y = tv.add %doubled, %two : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("add"("model.py":10:0))
  %x0 = tv.distribute %x <[0:4 of 4]> on <device = 0> : (tensor<4xf32>) -> tensor<4xf32>
  %three = tv.constant dense<3.0> : tensor<f64> on <device = 0> : () -> tensor<4xf32> loc("scale"("model.py":8:0))
  %doubled0 = tv.add %x0, %x0 on <device = 0> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("add"("model.py":9:0))
  %y0 = tv.add %doubled0, %three on <device = 0> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("add"("model.py":10:0))
  tv.expect %y0 is %y <[0:4 of 4]> on <device = 0> contract <output "added twice"> : tensor<4xf32> is tensor<4xf32>
}
