// DEFINE: %{others} =
// DEFINE: %{plan} = grep -v '// \(%{others}\)$' %s
// REDEFINE: %{others} = early\|wrong
// RUN: %{plan} | verify-opt --tv-canonicalize-ssa=fold-ranks=true | FileCheck %s --check-prefix=OTHER
// RUN: %{plan} | verify-opt --tv-verify-equiv | FileCheck %s --check-prefix=PROVED
// REDEFINE: %{others} = early\|right
// RUN: %{plan} | not verify-opt --tv-verify-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=FACTOR
// REDEFINE: %{others} = order\|wrong
// RUN: %{plan} | verify-opt --tv-canonicalize-ssa=fold-ranks=true | FileCheck %s --check-prefix=SAME
// RUN: %{plan} | verify-opt --tv-verify-equiv | FileCheck %s --check-prefix=PROVED
// REDEFINE: %{others} = order\|right
// RUN: %{plan} | not verify-opt --tv-verify-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=FACTOR

// Each rank has a part of the data, and sums are added up: it does not matter that one of them loads in
// another order, and what is wrong is said to be so.

// OTHER: tv.all_slice {{.*}} over "mb" on <device = 1, rank = 0>
// PROVED: tv.answer = "proved"
// FACTOR: error: output 'sum' differs from the reference
// FACTOR-NOT: mixed micro-batches

// What a rank does alone before they meet may be in any order.

// SAME-NOT: over "mb"

tv.plan @reference <dp = 1, device = 1, mb = 1> {
  tv.segment @forward on 0 cell 2 {
  ^bb0(%x: tensor<6xf32>):
    %e = tv.exp %x : (tensor<6xf32>) -> tensor<6xf32>
    %s = tv.reduce sum %e {dimensions = array<i64: 0>} : (tensor<6xf32>) -> tensor<f32>
    tv.return %s : tensor<f32>
  }
  tv.program 0 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:6 of 6]>] : tensor<6xf32>
    %s = tv.call @forward(%x) instance 2 : (tensor<6xf32>) -> tensor<f32>
    tv.output %s "sum" <9, []> : tensor<f32>
  }
}
tv.plan @plan <dp = 1, device = 2, mb = 3> {
  tv.segment @forward0 on 0 cell 2 {
  ^bb0(%x: tensor<1xf32>):
    %e = tv.exp %x : (tensor<1xf32>) -> tensor<1xf32>
    %p = tv.reduce sum %e {dimensions = array<i64: 0>} : (tensor<1xf32>) -> tensor<f32>
    %s = tv.communicate all_reduce %p group [0, 1] : (tensor<f32>) -> tensor<f32>
    tv.return %s : tensor<f32>
  }
  tv.segment @forward1 on 1 cell 2 {
  ^bb0(%x: tensor<1xf32>):
    %e = tv.exp %x : (tensor<1xf32>) -> tensor<1xf32>
    %c = tv.constant dense<2.0> : tensor<f32> : () -> tensor<f32> // wrong
    %f = tv.multiply %e, %c : (tensor<1xf32>, tensor<f32>) -> tensor<1xf32> // wrong
    %p = tv.reduce sum %e {dimensions = array<i64: 0>} : (tensor<1xf32>) -> tensor<f32> // right
    %p = tv.reduce sum %f {dimensions = array<i64: 0>} : (tensor<1xf32>) -> tensor<f32> // wrong
    %s = tv.communicate all_reduce %p group [0, 1] : (tensor<f32>) -> tensor<f32>
    tv.return %s : tensor<f32>
  }
  tv.segment @prepare1 on 1 cell 5 {
  ^bb0(%x: tensor<1xf32>):
    %d = tv.add %x, %x : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
    %c = tv.constant dense<0.5> : tensor<f32> : () -> tensor<f32>
    %h = tv.multiply %d, %c : (tensor<1xf32>, tensor<f32>) -> tensor<1xf32>
    tv.return %h : tensor<1xf32>
  }
  tv.program 0 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:1 of 2]>] : tensor<1xf32>
    %s = tv.call @forward0(%x) instance 2 : (tensor<1xf32>) -> tensor<f32>
    tv.output %s "sum" <9, []> : tensor<f32>
    %y = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:1 of 2]>] : tensor<1xf32>
    %t = tv.call @forward0(%y) instance 3 : (tensor<1xf32>) -> tensor<f32>
    tv.output %t "sum" <9, []> : tensor<f32>
    %z = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:1 of 2]>] : tensor<1xf32>
    %u = tv.call @forward0(%z) instance 4 : (tensor<1xf32>) -> tensor<f32>
    tv.output %u "sum" <9, []> : tensor<f32>
  }
  tv.program 1 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [1:2 of 2]>] : tensor<1xf32>
    %y = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [1:2 of 2]>] : tensor<1xf32>
    %z = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [1:2 of 2]>] : tensor<1xf32>
    %hz = tv.call @prepare1(%z) instance 17 : (tensor<1xf32>) -> tensor<1xf32> // early
    %hx = tv.call @prepare1(%x) instance 15 : (tensor<1xf32>) -> tensor<1xf32> // early
    %hy = tv.call @prepare1(%y) instance 16 : (tensor<1xf32>) -> tensor<1xf32> // early
    %s = tv.call @forward1(%y) instance 2 : (tensor<1xf32>) -> tensor<f32> // order
    %s = tv.call @forward1(%hx) instance 2 : (tensor<1xf32>) -> tensor<f32> // early
    tv.output %s "sum" <9, []> : tensor<f32>
    %t = tv.call @forward1(%z) instance 3 : (tensor<1xf32>) -> tensor<f32> // order
    %t = tv.call @forward1(%hy) instance 3 : (tensor<1xf32>) -> tensor<f32> // early
    tv.output %t "sum" <9, []> : tensor<f32>
    %u = tv.call @forward1(%x) instance 4 : (tensor<1xf32>) -> tensor<f32> // order
    %u = tv.call @forward1(%hz) instance 4 : (tensor<1xf32>) -> tensor<f32> // early
    tv.output %u "sum" <9, []> : tensor<f32>
  }
}
