// RUN: not verify-opt %s --tv-verify-equiv -o /dev/null 2>&1 | FileCheck %s
// RUN: not verify-opt %s --tv-interpret -o /dev/null 2>&1 | FileCheck %s --check-prefix=RUNS

// The second batch that the reference loads would be taken for the first.

// CHECK: error: 'tv.load_data' op loads another batch, and the reference has one
// RUNS: loads more than 1 micro-batch on device 0

tv.plan @reference <dp = 1, device = 1, mb = 1> {
  tv.program 0 {
    %a = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    %b = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    %z = tv.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    tv.output %z "z" <9, [0:4 of 4]> : tensor<4xf32>
  }
}
tv.plan @plan <dp = 1, device = 1, mb = 1> {
  tv.program 0 {
    %a = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    %z = tv.add %a, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    tv.output %z "z" <9, [0:4 of 4]> : tensor<4xf32>
  }
}
