// RUN: not verify-opt %s --tv-verify-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: sed 's/ {tv.piece = #tv.piece<5, \[0:4 of 4\]>}//' %s | not verify-opt --tv-verify-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: sed 's/tv.log/tv.exp/' %s | verify-opt --tv-verify-equiv | FileCheck %s --check-prefix=PROVED
// RUN: sed '/@reference/,/^}/s/0:2 of 2/0:4 of 4/; /@reference/,/^}/s/end = 2/end = 4/; /@reference/,/^}/s/tensor<2xf32>/tensor<4xf32>/' %s \
// RUN:   | sed '/@plan/,$s/output %y "y" <3, \[0:2 of 2\]> : tensor<2xf32>/output %z "y" <3, [0:4 of 4]> : tensor<4xf32>/; s/^    %y = tv.add %a, %c .*/&\n    %z = tv.concat %y, %b {dimension = 0 : i64} : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>/' \
// RUN:   | verify-opt --tv-verify-equiv | FileCheck %s --check-prefix=PROVED
// RUN: sed 's/tv.log/tv.exp/; s/tv.add %a, %c/tv.add %a, %b/' %s | not verify-opt --tv-verify-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=REFUTED

// The plan reads logarithms that the reference computes and no result needs: its results are
// defined where these logarithms are not, so nothing rests on what is stated of them. Exponentials
// are defined everywhere, and logarithms wherever the results are that need all of them.

// UNKNOWN: the plan may be undefined where the reference is not
// PROVED: tv.answer = "proved"
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
