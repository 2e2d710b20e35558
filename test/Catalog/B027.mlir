// RUN: grep -v '// wrong$' %s | verify-opt --tv-verify-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-verify-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// The loss is a sum whose terms are on two devices. Only its forward sum was generated:
// the wrong plan has no backward pass, and no gradient.

// FIXED: tv.answer = "proved"
// WRONG: error: gradient of 'w' differs from the reference on devices 0-1
// WRONG-NEXT: tv.buffer @dw0
// WRONG: note: element [0] of gradient of 'w' is 0 in the plan

tv.plan @reference <dp = 1, device = 1, mb = 1> {
  tv.buffer @w0 on 0 "w" holds <4, [0:3 of 3]> : !tv.buffer<tensor<3xf32>>
  tv.buffer @dw0 on 0 "w" holds <4, [0:3 of 3]> gradient_of @w0 : !tv.buffer<tensor<3xf32>>
  tv.segment @forward0 on 0 cell 2 {
  ^bb0(%x: tensor<4x3xf32>):
    %w = tv.read @w0 : tensor<3xf32>
    %y = tv.multiply %x, %w {tv.piece = #tv.piece<6, [0:4 of 4, 0:3 of 3]>} : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32>
    tv.save 4 from %x, %w to %y : tensor<4x3xf32>, tensor<3xf32> to tensor<4x3xf32>
    %part = tv.reduce sum %y {dimensions = array<i64: 0, 1>} : (tensor<4x3xf32>) -> tensor<f32>
    tv.save 6 from %y to %part : tensor<4x3xf32> to tensor<f32>
    tv.return %part : tensor<f32>
  }
  tv.segment @backward0 on 0 cell 3 backward {
  ^bb0(%g: tensor<f32>):
    %dy = tv.backward %g of 6 {outputs = array<i64: 0>, tv.pieces = [#tv.piece<6 gradient, [0:4 of 4, 0:3 of 3]>], wrt = array<i64: 0>} : (tensor<f32>) -> tensor<4x3xf32>
    %dw = tv.backward %dy of 4 {outputs = array<i64: 0>, wrt = array<i64: 1>} : (tensor<4x3xf32>) -> tensor<3xf32>
    tv.add_to %dw, @dw0 : tensor<3xf32>
  }
  tv.program 0 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4, 0:3 of 3]>] : tensor<4x3xf32>
    %loss = tv.call @forward0(%x) instance 2 mirror 3 : (tensor<4x3xf32>) -> tensor<f32>
    %seed = tv.seed : tensor<f32>
    tv.call @backward0(%seed) instance 3 mirror 2 : (tensor<f32>) -> ()
    tv.output %loss "loss" <8, []> : tensor<f32>
  }
}
tv.plan @plan <dp = 1, device = 2, mb = 1> {
  tv.buffer @w0 on 0 "w" holds <4, [0:3 of 3]> : !tv.buffer<tensor<3xf32>>
  tv.buffer @dw0 on 0 "w" holds <4, [0:3 of 3]> gradient_of @w0 : !tv.buffer<tensor<3xf32>>
  tv.segment @forward0 on 0 cell 2 {
  ^bb0(%x: tensor<2x3xf32>):
    %w = tv.read @w0 : tensor<3xf32>
    %y = tv.multiply %x, %w {tv.piece = #tv.piece<6, [0:2 of 4, 0:3 of 3]>} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
    tv.save 4 from %x, %w to %y : tensor<2x3xf32>, tensor<3xf32> to tensor<2x3xf32>
    %part = tv.reduce sum %y {dimensions = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<f32>
    tv.save 6 from %y to %part : tensor<2x3xf32> to tensor<f32>
    %loss = tv.communicate all_reduce %part group [0, 1] : (tensor<f32>) -> tensor<f32>
    tv.return %loss : tensor<f32>
  }
  tv.segment @backward0 on 0 cell 3 backward { // fixed
  ^bb0(%g: tensor<f32>): // fixed
    %dy = tv.backward %g of 6 {outputs = array<i64: 0>, tv.pieces = [#tv.piece<6 gradient, [0:2 of 4, 0:3 of 3]>], wrt = array<i64: 0>} : (tensor<f32>) -> tensor<2x3xf32> // fixed
    %dw = tv.backward %dy of 4 {outputs = array<i64: 0>, wrt = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<3xf32> // fixed
    tv.add_to %dw, @dw0 : tensor<3xf32> // fixed
  } // fixed
  tv.program 0 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:2 of 4, 0:3 of 3]>] : tensor<2x3xf32>
    %loss = tv.call @forward0(%x) instance 2 mirror 3 : (tensor<2x3xf32>) -> tensor<f32>
    %seed = tv.seed : tensor<f32> // fixed
    tv.call @backward0(%seed) instance 3 mirror 2 : (tensor<f32>) -> () // fixed
    %dw = tv.read @dw0 : tensor<3xf32> // fixed
    %all = tv.communicate all_reduce %dw group [0, 1] : (tensor<3xf32>) -> tensor<3xf32> // fixed
    tv.write %all, @dw0 : tensor<3xf32> // fixed
    tv.output %loss "loss" <8, []> : tensor<f32>
  }
  tv.buffer @w1 on 1 "w" holds <4, [0:3 of 3]> : !tv.buffer<tensor<3xf32>>
  tv.buffer @dw1 on 1 "w" holds <4, [0:3 of 3]> gradient_of @w1 : !tv.buffer<tensor<3xf32>>
  tv.segment @forward1 on 1 cell 2 {
  ^bb0(%x: tensor<2x3xf32>):
    %w = tv.read @w1 : tensor<3xf32>
    %y = tv.multiply %x, %w {tv.piece = #tv.piece<6, [2:4 of 4, 0:3 of 3]>} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
    tv.save 4 from %x, %w to %y : tensor<2x3xf32>, tensor<3xf32> to tensor<2x3xf32>
    %part = tv.reduce sum %y {dimensions = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<f32>
    tv.save 6 from %y to %part : tensor<2x3xf32> to tensor<f32>
    %loss = tv.communicate all_reduce %part group [0, 1] : (tensor<f32>) -> tensor<f32>
    tv.return %loss : tensor<f32>
  }
  tv.segment @backward1 on 1 cell 3 backward { // fixed
  ^bb0(%g: tensor<f32>): // fixed
    %dy = tv.backward %g of 6 {outputs = array<i64: 0>, tv.pieces = [#tv.piece<6 gradient, [2:4 of 4, 0:3 of 3]>], wrt = array<i64: 0>} : (tensor<f32>) -> tensor<2x3xf32> // fixed
    %dw = tv.backward %dy of 4 {outputs = array<i64: 0>, wrt = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<3xf32> // fixed
    tv.add_to %dw, @dw1 : tensor<3xf32> // fixed
  } // fixed
  tv.program 1 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [2:4 of 4, 0:3 of 3]>] : tensor<2x3xf32>
    %loss = tv.call @forward1(%x) instance 2 mirror 3 : (tensor<2x3xf32>) -> tensor<f32>
    %seed = tv.seed : tensor<f32> // fixed
    tv.call @backward1(%seed) instance 3 mirror 2 : (tensor<f32>) -> () // fixed
    %dw = tv.read @dw1 : tensor<3xf32> // fixed
    %all = tv.communicate all_reduce %dw group [0, 1] : (tensor<3xf32>) -> tensor<3xf32> // fixed
    tv.write %all, @dw1 : tensor<3xf32> // fixed
    tv.output %loss "loss" <8, []> : tensor<f32>
  }
}
