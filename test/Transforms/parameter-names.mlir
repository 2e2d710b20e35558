// RUN: verify-opt %s --tv-verify-equiv | FileCheck %s
// RUN: sed 's/^    tv.buffer @first on 0 "weight"/    tv.buffer @first on 0 "bias"/; s/^    tv.buffer @second on 0 "bias"/    tv.buffer @second on 0 "weight"/' %s | not verify-opt --tv-verify-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=SWAPPED
// RUN: sed 's/^    tv.buffer @second on 0 "bias"/    tv.buffer @second on 0 "other"/' %s | not verify-opt --tv-verify-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: sed 's/"bias"/"weight"/' %s | not verify-opt --tv-verify-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: sed 's/^    tv.buffer @first on 0 "weight" holds <4, \[0:3 of 3\]/&, 1 of 2/' %s | not verify-opt --tv-verify-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=TERM
// RUN: sed 's/"weight" holds <3, \[0:3 of 3\]/"weight" holds <3, [0:3 of 6]/' %s | not verify-opt --tv-verify-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=PART

// Names say which parameter a device holds (assumption A4 of docs/Soundness.md):
// numbers of tensors do not, nor does the order of buffers. A name that the reference
// does not have, or has twice, and a parameter of which it has a part, are errors.

// CHECK: tv.answer = "proved"
// SWAPPED: error: output 'y' differs from the reference
// OTHER: error: the reference program does not belong to this plan: {{.*}} not in the reference ('other')
// TWICE: error: 'tv.buffer' op names parameter 'weight' twice
// TERM: error: the reference program does not belong to this plan: parameter 'weight' is
// PART: error: the reference program does not belong to this plan: {{.*}} ('weight' is 6 there and 3 here)

module {
  tv.plan @reference <dp = 1, device = 1, mb = 1> {
    tv.buffer @w on 0 "weight" holds <3, [0:3 of 3]> : !tv.buffer<tensor<3xf32>>
    tv.buffer @v on 0 "bias" holds <4, [0:3 of 3]> : !tv.buffer<tensor<3xf32>>
    tv.segment @forward on 0 cell 2 {
    ^bb0(%x: tensor<3xf32>):
      %0 = tv.read @w : tensor<3xf32>
      %1 = tv.read @v : tensor<3xf32>
      %2 = tv.multiply %x, %0 : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %3 = tv.add %2, %1 : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      tv.return %3 : tensor<3xf32>
    }
    tv.program 0 {
      %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:3 of 3]>] : tensor<3xf32>
      %1 = tv.call @forward(%0) instance 2 : (tensor<3xf32>) -> tensor<3xf32>
      tv.output %1 "y" <8, [0:3 of 3]> : tensor<3xf32>
    }
  }
  tv.plan @plan <dp = 1, device = 1, mb = 1> {
    tv.buffer @second on 0 "bias" holds <3, [0:3 of 3]> : !tv.buffer<tensor<3xf32>>
    tv.buffer @first on 0 "weight" holds <4, [0:3 of 3]> : !tv.buffer<tensor<3xf32>>
    tv.segment @forward on 0 cell 2 {
    ^bb0(%x: tensor<3xf32>):
      %0 = tv.read @first : tensor<3xf32>
      %1 = tv.read @second : tensor<3xf32>
      %2 = tv.multiply %x, %0 : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %3 = tv.add %2, %1 : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      tv.return %3 : tensor<3xf32>
    }
    tv.program 0 {
      %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:3 of 3]>] : tensor<3xf32>
      %1 = tv.call @forward(%0) instance 2 : (tensor<3xf32>) -> tensor<3xf32>
      tv.output %1 "y" <8, [0:3 of 3]> : tensor<3xf32>
    }
  }
}
