// RUN: grep -v '// wrong$' %s | verify-opt --tv-verify-equiv | FileCheck %s --check-prefix=RIGHT
// RUN: grep -v '// right$' %s | not verify-opt --tv-verify-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// Programs that were traced apart may have one number for a tensor of reals and one of truth values, which says
// nothing of either.

// RIGHT: tv.answer = "proved"
// WRONG: error: output 'a' differs from the reference
// WRONG-NOT: kinds

tv.plan @reference <dp = 1, device = 1, mb = 1> {
  tv.program 0 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    %n = tv.negate %x {tv.piece = #tv.piece<7, [0:4 of 4]>} : (tensor<4xf32>) -> tensor<4xf32>
    %z = tv.negate %n : (tensor<4xf32>) -> tensor<4xf32>
    tv.output %z "a" <8, [0:4 of 4]> : tensor<4xf32>
  }
}
tv.plan @plan <dp = 1, device = 1, mb = 1> {
  tv.program 0 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    %0 = tv.constant dense<0.0> : tensor<f32> : () -> tensor<4xf32>
    %c = tv.compare less %x, %0 {tv.piece = #tv.piece<7, [0:4 of 4]>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %z = tv.select %c, %x, %x : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> // right
    %z = tv.select %c, %0, %x : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> // wrong
    tv.output %z "a" <8, [0:4 of 4]> : tensor<4xf32>
  }
}
