// DEFINE: %{others} =
// DEFINE: %{plan} = grep -v '// \(%{others}\)$' %s
// REDEFINE: %{others} = scratch
// RUN: %{plan} | verify-opt --tv-verify-equiv | FileCheck %s --check-prefix=RIGHT
// REDEFINE: %{others} = scratch\|right
// RUN: %{plan} | not verify-opt --tv-verify-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG
// REDEFINE: %{others} = parameter
// RUN: %{plan} | verify-opt --tv-verify-equiv | FileCheck %s --check-prefix=RIGHT
// REDEFINE: %{others} = parameter\|right
// RUN: %{plan} | not verify-opt --tv-verify-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// A parameter that is read twice, or from memory where it was written: the gradient is that of the one that
// was saved, half of that of the square.

// RIGHT: tv.answer = "proved"
// WRONG: error: gradient of 'w' differs from the reference on device 0

tv.plan @reference <dp = 1, device = 1, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.segment @forward on 0 cell 0 {
  ^bb0(%x: tensor<4xf32>):
    %w = tv.read @w : tensor<4xf32>
    %p = tv.multiply %w, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %y = tv.multiply %p, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %l = tv.reduce sum %y {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
    tv.save 0 from %x, %w to %l : tensor<4xf32>, tensor<4xf32> to tensor<f32>
    tv.return %l : tensor<f32>
  }
  tv.segment @backward on 0 cell 1 backward {
    %d = tv.seed : tensor<f32>
    %dw = tv.backward %d of 0 {outputs = array<i64: 0>, wrt = array<i64: 1>} : (tensor<f32>) -> tensor<4xf32>
    tv.add_to %dw, @g : tensor<4xf32>
    tv.return
  }
  tv.program 0 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<1, [0:4 of 4]>] : tensor<4xf32>
    %y = tv.call @forward(%x) instance 0 mirror 1 : (tensor<4xf32>) -> tensor<f32>
    tv.output %y "loss" <2, []> : tensor<f32>
    tv.call @backward() instance 1 mirror 0 : () -> ()
  }
}
tv.plan @plan <dp = 1, device = 1, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.scratch @s on 0 "s" : !tv.buffer<tensor<4xf32>>
  tv.segment @forward on 0 cell 0 {
  ^bb0(%x: tensor<4xf32>):
    %w = tv.read @w : tensor<4xf32>
    %v = tv.read @w : tensor<4xf32> // parameter
    tv.write %w, @s : tensor<4xf32> // scratch
    %v = tv.read @s : tensor<4xf32> // scratch
    %p = tv.multiply %w, %v : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %y = tv.multiply %p, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %l = tv.reduce sum %y {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
    tv.save 0 from %x, %w to %l : tensor<4xf32>, tensor<4xf32> to tensor<f32>
    tv.return %l : tensor<f32>
  }
  tv.segment @backward on 0 cell 1 backward {
    %d = tv.seed : tensor<f32>
    %dw = tv.backward %d of 0 {outputs = array<i64: 0>, wrt = array<i64: 1>} : (tensor<f32>) -> tensor<4xf32>
    tv.add_to %dw, @g : tensor<4xf32>
    tv.add_to %dw, @g : tensor<4xf32> // right
    tv.return
  }
  tv.program 0 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<1, [0:4 of 4]>] : tensor<4xf32>
    %y = tv.call @forward(%x) instance 0 mirror 1 : (tensor<4xf32>) -> tensor<f32>
    tv.output %y "loss" <2, []> : tensor<f32>
    tv.call @backward() instance 1 mirror 0 : () -> ()
  }
}
