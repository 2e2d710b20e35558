// RUN: verify-opt %s --tv-verify-equiv | FileCheck %s --check-prefix=PROVED
// RUN: sed 's/ {tv.piece = #tv.piece<5, \[0:4 of 4\]>}//' %s | not verify-opt --tv-verify-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: sed 's/tv.add %a, %c/tv.add %a, %b/' %s | not verify-opt --tv-verify-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=REFUTED

// What is claimed is claimed where all that the reference computes is defined (A35): the plan reads
// logarithms that the reference computes and no result needs. Where nothing states of a value that
// it is that tensor of the reference, this is not used.

// PROVED: tv.answer = "proved"
// UNKNOWN: the plan may be undefined where the reference is not
// REFUTED: error: output 'y' differs from the reference

tv.plan @reference <dp = 1, device = 1, mb = 1> {
  tv.program 0 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    %t = tv.log %x {tv.piece = #tv.piece<5, [0:4 of 4]>} : (tensor<4xf32>) -> tensor<4xf32>
    %y = tv.slice %t {dimension = 0 : i64, start = 0 : i64, end = 2 : i64} : (tensor<4xf32>) -> tensor<2xf32>
    tv.output %y "y" <3, [0:2 of 2]> : tensor<2xf32>
  }
}
tv.plan @plan <dp = 1, device = 1, mb = 1> {
  tv.program 0 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    %t = tv.log %x {tv.piece = #tv.piece<5, [0:4 of 4]>} : (tensor<4xf32>) -> tensor<4xf32>
    %a = tv.slice %t {dimension = 0 : i64, start = 0 : i64, end = 2 : i64} : (tensor<4xf32>) -> tensor<2xf32>
    %b = tv.slice %t {dimension = 0 : i64, start = 2 : i64, end = 4 : i64} : (tensor<4xf32>) -> tensor<2xf32>
    %c = tv.subtract %b, %b : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %y = tv.add %a, %c : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    tv.output %y "y" <3, [0:2 of 2]> : tensor<2xf32>
  }
}
