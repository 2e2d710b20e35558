// DEFINE: %{others} =
// DEFINE: %{plan} = grep -v '// \(%{others}\)$' %s
// REDEFINE: %{others} = alike\|drawn
// RUN: %{plan} | verify-opt --tv-canonicalize-ssa=fold-ranks=true | FileCheck %s
// RUN: %{plan} | not verify-opt --tv-verify-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG
// RUN: %{plan} | not verify-opt --tv-canonicalize-ssa --tv-outline-stages --tv-reduce-shapes --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=APART

// A rank that loads in another order than its group has in each micro-batch what it loads for the one
// that the group works on: no micro-batch needs ops of its own.

// CHECK: %[[X:.*]] = tv.distribute %{{.*}} <[mb, 0:1 of 1]>
// CHECK: %[[ALL:.*]] = tv.all_gather %[[X]] over "mb" on <device = 1, rank = 0> {dimension = 0 : i64}
// CHECK: %[[LATER:.*]] = tv.slice %[[ALL]] on <device = 1, rank = 0> {dimension = 0 : i64, end = 3 : i64, start = 1 : i64}
// CHECK: %[[FIRST:.*]] = tv.slice %[[ALL]] on <device = 1, rank = 0> {dimension = 0 : i64, end = 1 : i64, start = 0 : i64}
// CHECK: %[[JOINED:.*]] = tv.all_gather %[[LATER]], %[[FIRST]] on <device = 1, rank = 0>
// CHECK: %[[OTHER:.*]] = tv.all_slice %[[JOINED]] over "mb" on <device = 1, rank = 0>
// CHECK: tv.multiply %[[OTHER]], %[[OTHER]] on <device = 1, rank = 0>
// CHECK-NOT: tv.move

// WRONG: mixed micro-batches: what device 1 loads for micro-batch 1 is taken together with what others load for micro-batch 0
// WRONG: it is read here

// Without ranks as an axis each works on what it has loaded.

// APART: mixed micro-batches: in micro-batch {{[0-2]}}, {{.*}} takes a value of micro-batch {{[0-2]}} on device

// Where all load in one order, which need not be that of the data, nothing is loaded in another one.

// REDEFINE: %{others} = apart\|drawn
// RUN: %{plan} | verify-opt --tv-canonicalize-ssa=fold-ranks=true | FileCheck %s --check-prefix=SAME
// RUN: %{plan} | verify-opt --tv-verify-equiv | FileCheck %s --check-prefix=RIGHT
// SAME-NOT: over "mb"
// RIGHT: tv.answer = "proved"

// What is drawn is that of the micro-batch whose data a device works on.

// REDEFINE: %{others} = alike
// RUN: %{plan} | verify-opt --tv-canonicalize-ssa=fold-ranks=true | FileCheck %s --check-prefix=SAME

tv.plan @reference <dp = 1, device = 1, mb = 1> {
  tv.segment @forward on 0 cell 2 {
  ^bb0(%x: tensor<3xf32>):
    %d = tv.random "dropout" <14, [0:3 of 3]> like %x : tensor<3xf32> -> tensor<3xf32> // drawn
    %e = tv.exp %x : (tensor<3xf32>) -> tensor<3xf32>
    %q = tv.multiply %x, %x : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %t = tv.add %e, %q : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %u = tv.multiply %t, %t : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %s = tv.reduce sum %u {dimensions = array<i64: 0>} : (tensor<3xf32>) -> tensor<f32>
    tv.return %s : tensor<f32>
  }
  tv.program 0 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:3 of 3]>] : tensor<3xf32>
    %s = tv.call @forward(%x) instance 2 : (tensor<3xf32>) -> tensor<f32>
    tv.output %s "sum" <9, []> : tensor<f32>
  }
}
tv.plan @plan <dp = 1, device = 2, mb = 3> {
  tv.segment @forward0 on 0 cell 2 {
  ^bb0(%x: tensor<1xf32>):
    %d = tv.random "dropout" <14, [0:1 of 1]> like %x : tensor<1xf32> -> tensor<1xf32> // drawn
    %e = tv.exp %x {tv.piece = #tv.piece<3, [0:1 of 1]>} : (tensor<1xf32>) -> tensor<1xf32>
    %t = tv.communicate all_reduce %e group [0, 1] : (tensor<1xf32>) -> tensor<1xf32>
    %u = tv.multiply %t, %t : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
    %s = tv.reduce sum %u {dimensions = array<i64: 0>} : (tensor<1xf32>) -> tensor<f32>
    tv.return %s : tensor<f32>
  }
  tv.segment @forward1 on 1 cell 2 {
  ^bb0(%x: tensor<1xf32>):
    %q = tv.multiply %x, %x : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
    %t = tv.communicate all_reduce %q group [0, 1] : (tensor<1xf32>) -> tensor<1xf32>
    %u = tv.multiply %t, %t : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
    %s = tv.reduce sum %u {dimensions = array<i64: 0>} : (tensor<1xf32>) -> tensor<f32>
    tv.return %s : tensor<f32>
  }
  tv.program 0 {
    %x0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:1 of 1]>] : tensor<1xf32>
    %x1 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:1 of 1]>] : tensor<1xf32>
    %x2 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:1 of 1]>] : tensor<1xf32>
    %s0 = tv.call @forward0(%x0) instance 2 : (tensor<1xf32>) -> tensor<f32> // apart
    %s0 = tv.call @forward0(%x1) instance 2 : (tensor<1xf32>) -> tensor<f32> // alike
    %s1 = tv.call @forward0(%x1) instance 3 : (tensor<1xf32>) -> tensor<f32> // apart
    %s1 = tv.call @forward0(%x2) instance 3 : (tensor<1xf32>) -> tensor<f32> // alike
    %s2 = tv.call @forward0(%x2) instance 4 : (tensor<1xf32>) -> tensor<f32> // apart
    %s2 = tv.call @forward0(%x0) instance 4 : (tensor<1xf32>) -> tensor<f32> // alike
    tv.output %s0 "sum" <9, []> : tensor<f32>
    tv.output %s1 "sum" <9, []> : tensor<f32>
    tv.output %s2 "sum" <9, []> : tensor<f32>
  }
  tv.program 1 {
    %x0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:1 of 1]>] : tensor<1xf32>
    %x1 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:1 of 1]>] : tensor<1xf32>
    %x2 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:1 of 1]>] : tensor<1xf32>
    %y1 = tv.copy %x1 : (tensor<1xf32>) -> tensor<1xf32>
    %s0 = tv.call @forward1(%y1) instance 2 : (tensor<1xf32>) -> tensor<f32>
    %s1 = tv.call @forward1(%x2) instance 3 : (tensor<1xf32>) -> tensor<f32>
    %s2 = tv.call @forward1(%x0) instance 4 : (tensor<1xf32>) -> tensor<f32>
    tv.output %s0 "sum" <9, []> : tensor<f32>
    tv.output %s1 "sum" <9, []> : tensor<f32>
    tv.output %s2 "sum" <9, []> : tensor<f32>
  }
}
