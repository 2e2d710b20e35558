// RUN: not verify-opt %s --tv-canonicalize-ssa --mlir-print-ir-after-failure 2>&1 | FileCheck %s

// A sum of masks is not supported, and nobody's mistake.

// CHECK: error: {{.*}} is not defined on minus infinity
// CHECK: builtin.module
// CHECK-NOT: tv.malformed

tv.plan @reference <dp = 1, device = 1, mb = 1> {
  tv.program 0 {
  }
}
tv.plan @plan <dp = 1, device = 2, mb = 1> {
  tv.program 0 {
    %x = tv.undefined "x" : tensor<3x!tv.extended<f32>>
    %y = tv.communicate all_reduce %x group [0, 1] : (tensor<3x!tv.extended<f32>>) -> tensor<3x!tv.extended<f32>>
  }
  tv.program 1 {
    %x = tv.undefined "x" : tensor<3x!tv.extended<f32>>
    %y = tv.communicate all_reduce %x group [0, 1] : (tensor<3x!tv.extended<f32>>) -> tensor<3x!tv.extended<f32>>
  }
}
