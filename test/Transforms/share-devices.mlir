// DEFINE: %{others} =
// DEFINE: %{plan} = grep -v '// \(%{others}\)$' %s
// REDEFINE: %{others} = attribute\|operand\|type\|unlike\|alone\|average
// RUN: %{plan} | verify-opt --tv-canonicalize-ssa | FileCheck %s --check-prefix=ALIKE
// RUN: %{plan} | verify-opt --tv-verify-equiv | FileCheck %s --check-prefix=PROVED
// REDEFINE: %{others} = right\|operand\|type\|unlike\|alone\|average
// RUN: %{plan} | verify-opt --tv-canonicalize-ssa | FileCheck %s --check-prefix=APART
// RUN: %{plan} | not verify-opt --tv-verify-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=REFUTED
// REDEFINE: %{others} = right\|attribute\|type\|unlike\|alone\|average
// RUN: %{plan} | verify-opt --tv-canonicalize-ssa | FileCheck %s --check-prefix=APART
// RUN: %{plan} | not verify-opt --tv-verify-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=REFUTED
// REDEFINE: %{others} = same\|attribute\|operand\|unlike\|alone\|average
// RUN: %{plan} | verify-opt --tv-canonicalize-ssa | FileCheck %s --check-prefix=SHAPES
// RUN: %{plan} | verify-opt --tv-verify-equiv | FileCheck %s --check-prefix=PROVED
// REDEFINE: %{others} = attribute\|operand\|type\|alone\|average
// RUN: %{plan} | not verify-opt --tv-canonicalize-ssa -o /dev/null 2>&1 | FileCheck %s --check-prefix=TYPE
// REDEFINE: %{others} = attribute\|operand\|type\|unlike\|reduced\|average
// RUN: %{plan} | not verify-opt --tv-verify-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=GRADIENT
// REDEFINE: %{others} = attribute\|operand\|type\|unlike\|reduced\|alone
// RUN: %{plan} | not verify-opt --tv-verify-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=GRADIENT
// REDEFINE: %{others} = attribute\|operand\|type\|unlike\|alone\|average
// RUN: %{plan} | grep -v '@g1\|%%g group \[1\]' | not verify-opt --tv-verify-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=UNTRAINED

// Two devices do the same to the same tensors, and reduce the same gradient over replicas: that is
// one op of the graph for both. The two powers of one device are two ops, as each has its own place
// in the source. What the plan states, here the number of a tensor, is not what an op computes.

// ALIKE: tv.graph
// ALIKE: %[[X:.*]] = tv.distribute {{.*}} on <device = 0:2>
// ALIKE: %[[W:.*]] = tv.distribute {{.*}} on <device = 0:2>
// ALIKE: %[[R:.*]] = tv.multiply %[[X]], %[[W]] on <device = 0:2>
// ALIKE: tv.power %[[R]] on <device = 0:2> {numerator = 3
// ALIKE: tv.power %[[R]] on <device = 0:2> {numerator = 3
// ALIKE-NOT: {numerator = 3
// ALIKE: %[[A:.*]] = tv.accumulate {{.*}} on <device = 0:2>
// ALIKE: tv.all_reduce %[[A]] over ["dp"] on <device = 0:2>
// ALIKE: tv.expect {{.*}} on <device = 0:2> number {{.*}} contract <output "loss">
// ALIKE: tv.expect {{.*}} on <device = 0:2> number {{.*}} contract <gradient "w">
// PROVED: tv.answer = "proved"

// One that has another attribute, operand or type on device 1 stays apart, and so does what follows.

// APART: %[[P:.*]] = tv.power %{{.*}} on <device = 0:2>
// APART: tv.power %{{.*}} on <device = 0>
// APART: tv.power %{{.*}} on <device = 1>
// REFUTED: error: output 'loss' differs from the reference on device 1 of each of 2 replicas
// TYPE: error: 'tv.power' op
// SHAPES: tv.reshape {{.*}} on <device = 0> : (tensor<1x4xf32>) -> tensor<2x2xf32>
// SHAPES: tv.reshape {{.*}} on <device = 1> : (tensor<1x4xf32>) -> tensor<4x1xf32>

// What device 1 does not reduce over replicas, or averages, is not what device 0 adds up.

// GRADIENT: error: gradient of 'w' differs from the reference on device 1 of each of 2 replicas

// A copy that has no gradient is not trained where the other one is.

// UNTRAINED: error: 'tv.buffer' op parameter 'w' is trained, but not on device 1, which holds part

tv.plan @reference <dp = 1, device = 1, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.segment @forward on 0 cell 0 {
  ^bb0(%x: tensor<4x4xf32>):
    %w = tv.read @w : tensor<4xf32>
    %r = tv.multiply %x, %w : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
    %p = tv.power %r {numerator = 3 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %q = tv.power %r {numerator = 3 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %s = tv.add %p, %q : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %y = tv.reduce sum %s {dimensions = array<i64: 0, 1>} : (tensor<4x4xf32>) -> tensor<f32>
    tv.save 0 from %x, %w to %y : tensor<4x4xf32>, tensor<4xf32> to tensor<f32>
    tv.return %y : tensor<f32>
  }
  tv.segment @backward on 0 cell 1 backward {
    %d = tv.seed : tensor<f32>
    %dw = tv.backward %d of 0 {outputs = array<i64: 0>, wrt = array<i64: 1>} : (tensor<f32>) -> tensor<4xf32>
    tv.add_to %dw, @g : tensor<4xf32>
    tv.return
  }
  tv.program 0 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<1, [0:4 of 4, 0:4 of 4]>] : tensor<4x4xf32>
    %y = tv.call @forward(%x) instance 0 mirror 1 : (tensor<4x4xf32>) -> tensor<f32>
    tv.output %y "loss" <2, []> : tensor<f32>
    tv.call @backward() instance 1 mirror 0 : () -> ()
  }
}
tv.plan @plan <dp = 2, device = 2, mb = 2> {
  tv.buffer @w0 on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g0 on 0 "w" holds <3, [0:4 of 4]> gradient_of @w0 : !tv.buffer<tensor<4xf32>>
  tv.buffer @w1 on 1 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g1 on 1 "w" holds <3, [0:4 of 4]> gradient_of @w1 : !tv.buffer<tensor<4xf32>>
  tv.segment @forward0 on 0 cell 10 {
  ^bb0(%x: tensor<1x4xf32>):
    %w = tv.read @w0 : tensor<4xf32>
    %r = tv.multiply %x, %w {tv.piece = #tv.piece<5, [0:1 of 1, 0:4 of 4]>} : (tensor<1x4xf32>, tensor<4xf32>) -> tensor<1x4xf32>
    %p = tv.power %r {numerator = 3 : i64} : (tensor<1x4xf32>) -> tensor<1x4xf32>
    %q = tv.power %r {numerator = 3 : i64} : (tensor<1x4xf32>) -> tensor<1x4xf32>
    %s = tv.add %p, %q : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
    %y = tv.reduce sum %s {dimensions = array<i64: 0, 1>} : (tensor<1x4xf32>) -> tensor<f32> // same
    %v = tv.reshape %s : (tensor<1x4xf32>) -> tensor<2x2xf32> // type
    %y = tv.reduce sum %v {dimensions = array<i64: 0, 1>} : (tensor<2x2xf32>) -> tensor<f32> // type
    tv.save 0 from %x, %w to %y : tensor<1x4xf32>, tensor<4xf32> to tensor<f32>
    tv.return %y : tensor<f32>
  }
  tv.segment @backward0 on 0 cell 11 backward {
    %d = tv.seed : tensor<f32>
    %dw = tv.backward %d of 0 {outputs = array<i64: 0>, wrt = array<i64: 1>} : (tensor<f32>) -> tensor<4xf32>
    tv.add_to %dw, @g0 : tensor<4xf32>
    tv.return
  }
  tv.segment @forward1 on 1 cell 20 {
  ^bb0(%x: tensor<1x4xf32>):
    %w = tv.read @w1 : tensor<4xf32>
    %r = tv.multiply %x, %w {tv.piece = #tv.piece<6, [0:1 of 1, 0:4 of 4]>} : (tensor<1x4xf32>, tensor<4xf32>) -> tensor<1x4xf32>
    %p = tv.power %r {numerator = 3 : i64} : (tensor<1x4xf32>) -> tensor<1x4xf32>
    %t = tv.power %r {numerator = 3 : i64} : (tensor<1x4xf32>) -> tensor<1x2xf32> // unlike
    %q = tv.power %r {numerator = 3 : i64} : (tensor<1x4xf32>) -> tensor<1x4xf32> // right
    %q = tv.power %r {numerator = 2 : i64} : (tensor<1x4xf32>) -> tensor<1x4xf32> // attribute
    %q = tv.power %x {numerator = 3 : i64} : (tensor<1x4xf32>) -> tensor<1x4xf32> // operand
    %s = tv.add %p, %q : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
    %y = tv.reduce sum %s {dimensions = array<i64: 0, 1>} : (tensor<1x4xf32>) -> tensor<f32> // same
    %v = tv.reshape %s : (tensor<1x4xf32>) -> tensor<4x1xf32> // type
    %y = tv.reduce sum %v {dimensions = array<i64: 0, 1>} : (tensor<4x1xf32>) -> tensor<f32> // type
    tv.save 1 from %x, %w to %y : tensor<1x4xf32>, tensor<4xf32> to tensor<f32>
    tv.return %y : tensor<f32>
  }
  tv.segment @backward1 on 1 cell 21 backward {
    %d = tv.seed : tensor<f32>
    %dw = tv.backward %d of 1 {outputs = array<i64: 0>, wrt = array<i64: 1>} : (tensor<f32>) -> tensor<4xf32>
    tv.add_to %dw, @g1 : tensor<4xf32>
    tv.return
  }
  tv.program 0 {
    %x0 = tv.load_data cell 1 ["x"] holds [#tv.piece<1, [0:1 of 1, 0:4 of 4]>] : tensor<1x4xf32>
    %y0 = tv.call @forward0(%x0) instance 0 mirror 1 : (tensor<1x4xf32>) -> tensor<f32>
    tv.output %y0 "loss" <2, []> : tensor<f32>
    tv.call @backward0() instance 1 mirror 0 : () -> ()
    %x1 = tv.load_data cell 1 ["x"] holds [#tv.piece<1, [0:1 of 1, 0:4 of 4]>] : tensor<1x4xf32>
    %y1 = tv.call @forward0(%x1) instance 2 mirror 3 : (tensor<1x4xf32>) -> tensor<f32>
    tv.output %y1 "loss" <2, []> : tensor<f32>
    tv.call @backward0() instance 3 mirror 2 : () -> ()
    %g = tv.read @g0 : tensor<4xf32>
    %a = tv.communicate all_reduce %g group [0] replicas : (tensor<4xf32>) -> tensor<4xf32>
    tv.write %a, @g0 : tensor<4xf32>
  }
  tv.program 1 {
    %x0 = tv.load_data cell 1 ["x"] holds [#tv.piece<1, [0:1 of 1, 0:4 of 4]>] : tensor<1x4xf32>
    %y0 = tv.call @forward1(%x0) instance 0 mirror 1 : (tensor<1x4xf32>) -> tensor<f32>
    tv.output %y0 "loss" <2, []> : tensor<f32>
    tv.call @backward1() instance 1 mirror 0 : () -> ()
    %x1 = tv.load_data cell 1 ["x"] holds [#tv.piece<1, [0:1 of 1, 0:4 of 4]>] : tensor<1x4xf32>
    %y1 = tv.call @forward1(%x1) instance 2 mirror 3 : (tensor<1x4xf32>) -> tensor<f32>
    tv.output %y1 "loss" <2, []> : tensor<f32>
    tv.call @backward1() instance 3 mirror 2 : () -> ()
    %g = tv.read @g1 : tensor<4xf32>
    %a = tv.communicate all_reduce %g group [1] replicas : (tensor<4xf32>) -> tensor<4xf32> // reduced
    %a = tv.communicate all_reduce %g group [1] : (tensor<4xf32>) -> tensor<4xf32> // alone
    %a = tv.communicate all_reduce %g group [1] replicas by average : (tensor<4xf32>) -> tensor<4xf32> // average
    tv.write %a, @g1 : tensor<4xf32>
  }
}
