// RUN: grep -v 'crossed$' %s | verify-opt --tv-verify-equiv | FileCheck %s --check-prefix=RIGHT
// RUN: grep -v '// inputs$\|// crossed$' %s | not verify-opt --tv-verify-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=INPUTS
// RUN: grep -v '// outputs$\|// inputs crossed$' %s | not verify-opt --tv-verify-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=OUTPUTS
// RUN: grep -v 'crossed$' %s | sed '/@plan/,$s/"a"/"c"/' | verify-opt --tv-verify-equiv | FileCheck %s --check-prefix=RIGHT

// Inputs and outputs correspond by their places. Names may be others, but not those of other places.

// RIGHT: tv.answer = "proved"
// INPUTS: error: 'tv.load_data' op gives 'y' where the reference loads 'x'
// OUTPUTS: error: output 'b' stands where the reference gives 'a'

tv.plan @reference <dp = 1, device = 1, mb = 1> {
  tv.program 0 {
    %x, %y = tv.load_data cell 1 ["x", "y"] holds [#tv.piece<2, [0:4 of 4]>, #tv.piece<3, [0:4 of 4]>] : tensor<4xf32>, tensor<4xf32>
    %z = tv.subtract %x, %y  : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %n = tv.negate %z : (tensor<4xf32>) -> tensor<4xf32>
    tv.output %z "a" <8, [0:4 of 4]> : tensor<4xf32>
    tv.output %n "b" <9, [0:4 of 4]> : tensor<4xf32>
  }
}
tv.plan @plan <dp = 1, device = 1, mb = 1> {
  tv.program 0 {
    %x, %y = tv.load_data cell 1 ["x", "y"] holds [#tv.piece<2, [0:4 of 4]>, #tv.piece<3, [0:4 of 4]>] : tensor<4xf32>, tensor<4xf32> // inputs
    %x, %y = tv.load_data cell 1 ["y", "x"] holds [#tv.piece<3, [0:4 of 4]>, #tv.piece<2, [0:4 of 4]>] : tensor<4xf32>, tensor<4xf32> // inputs crossed
    %z = tv.subtract %x, %y  : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %n = tv.negate %z : (tensor<4xf32>) -> tensor<4xf32>
    tv.output %z "a" <8, [0:4 of 4]> : tensor<4xf32> // outputs
    tv.output %n "b" <9, [0:4 of 4]> : tensor<4xf32> // outputs
    tv.output %z "b" <9, [0:4 of 4]> : tensor<4xf32> // crossed
    tv.output %n "a" <8, [0:4 of 4]> : tensor<4xf32> // crossed
  }
}
