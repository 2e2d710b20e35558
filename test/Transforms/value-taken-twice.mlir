// DEFINE: %{others} =
// DEFINE: %{plan} = grep -v '// \(%{others}\)$' %s
// REDEFINE: %{others} = first\|second\|wrong\|lost
// RUN: %{plan} | verify-opt --tv-canonicalize-ssa | FileCheck %s --check-prefix=VALUES
// RUN: %{plan} | verify-opt --tv-verify-equiv | FileCheck %s --check-prefix=PROVED
// REDEFINE: %{others} = both\|second\|wrong\|lost
// RUN: %{plan} | verify-opt --tv-verify-equiv | FileCheck %s --check-prefix=PROVED
// REDEFINE: %{others} = both\|first\|wrong\|lost
// RUN: %{plan} | verify-opt --tv-verify-equiv | FileCheck %s --check-prefix=PROVED
// REDEFINE: %{others} = both\|first\|second\|lost
// RUN: %{plan} | not verify-opt --tv-verify-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=REFUTED
// REDEFINE: %{others} = both\|first\|second\|wrong
// RUN: %{plan} | not verify-opt --tv-verify-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=REFUTED

// A segment computes a b^2 and is called with one value for both. Each operand has a gradient of
// its own, b^2 and 2 a b, also where only one of them is asked for. Together they are that of a^3.

// VALUES: tv.graph
// VALUES: %[[R:.*]] = tv.multiply {{.*}} on <device = 0>
// VALUES: %[[B:.*]] = tv.copy %[[R]] on <device = 0>
// VALUES: tv.multiply %[[R]], %[[B]] on <device = 0>
// PROVED: tv.answer = "proved"
// REFUTED: error: gradient of 'w' differs from the reference

tv.plan @reference <dp = 1, device = 1, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.segment @forward on 0 cell 0 {
  ^bb0(%x: tensor<4x4xf32>):
    %w = tv.read @w : tensor<4xf32>
    %r = tv.multiply %x, %w : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
    %p = tv.power %r {numerator = 3 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %y = tv.reduce sum %p {dimensions = array<i64: 0, 1>} : (tensor<4x4xf32>) -> tensor<f32>
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
tv.plan @plan <dp = 1, device = 1, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.segment @forward on 0 cell 0 {
  ^bb0(%x: tensor<4x4xf32>):
    %w = tv.read @w : tensor<4xf32>
    %r = tv.multiply %x, %w : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
    tv.save 0 from %x, %w to %r : tensor<4x4xf32>, tensor<4xf32> to tensor<4x4xf32>
    tv.return %r : tensor<4x4xf32>
  }
  tv.segment @cube on 0 cell 1 {
  ^bb0(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>):
    %ab = tv.multiply %a, %b : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %abb = tv.multiply %ab, %b : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %y = tv.reduce sum %abb {dimensions = array<i64: 0, 1>} : (tensor<4x4xf32>) -> tensor<f32>
    tv.save 1 from %a, %b to %y : tensor<4x4xf32>, tensor<4x4xf32> to tensor<f32>
    tv.return %y : tensor<f32>
  }
  tv.segment @cube_backward on 0 cell 2 backward {
    %d = tv.seed : tensor<f32>
    %da, %db = tv.backward %d of 1 {outputs = array<i64: 0>, wrt = array<i64: 0, 1>} : (tensor<f32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) // both
    %dr = tv.add %da, %db : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> // both
    %da, %db = tv.backward %d of 1 {outputs = array<i64: 0>, wrt = array<i64: 0, 1>} : (tensor<f32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) // wrong
    %dr = tv.add %da, %da : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> // wrong
    %da = tv.backward %d of 1 {outputs = array<i64: 0>, wrt = array<i64: 0>} : (tensor<f32>) -> tensor<4x4xf32> // first
    %twice = tv.add %da, %da : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> // first
    %dr = tv.add %twice, %da : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> // first
    %dr = tv.backward %d of 1 {outputs = array<i64: 0>, wrt = array<i64: 0>} : (tensor<f32>) -> tensor<4x4xf32> // lost
    %db = tv.backward %d of 1 {outputs = array<i64: 0>, wrt = array<i64: 1>} : (tensor<f32>) -> tensor<4x4xf32> // second
    %half = tv.constant dense<1.5> : tensor<f64> : () -> tensor<f64> // second
    %dr = tv.multiply %db, %half : (tensor<4x4xf32>, tensor<f64>) -> tensor<4x4xf32> // second
    tv.return %dr : tensor<4x4xf32>
  }
  tv.segment @backward on 0 cell 3 backward {
  ^bb0(%dr: tensor<4x4xf32>):
    %dw = tv.backward %dr of 0 {outputs = array<i64: 0>, wrt = array<i64: 1>} : (tensor<4x4xf32>) -> tensor<4xf32>
    tv.add_to %dw, @g : tensor<4xf32>
    tv.return
  }
  tv.program 0 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<1, [0:4 of 4, 0:4 of 4]>] : tensor<4x4xf32>
    %r = tv.call @forward(%x) instance 0 mirror 3 : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %y = tv.call @cube(%r, %r) instance 1 mirror 2 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<f32>
    tv.output %y "loss" <2, []> : tensor<f32>
    %dr = tv.call @cube_backward() instance 2 mirror 1 : () -> tensor<4x4xf32>
    tv.call @backward(%dr) instance 3 mirror 0 : (tensor<4x4xf32>) -> ()
  }
}
