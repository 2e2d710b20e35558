// RUN: grep -v "// wrong$" %s > %t.fixed.mlir
// RUN: grep -v "// fixed$" %s > %t.wrong.mlir
// RUN: verify-opt %t.fixed.mlir --tv-verify-equiv | FileCheck %s --check-prefix=PROVED
// RUN: not verify-opt %t.wrong.mlir --tv-verify-equiv 2>&1 | FileCheck %s --check-prefix=REFUTED
// RUN: verify-opt %t.fixed.mlir --tv-interpret -o /dev/null | FileCheck %s --check-prefix=EQUAL
// RUN: verify-opt %t.fixed.mlir --tv-canonicalize-ssa --tv-interpret -o /dev/null \
// RUN:   | FileCheck %s --check-prefix=EQUAL
// RUN: verify-opt %t.wrong.mlir --tv-interpret -o /dev/null | FileCheck %s --check-prefix=DIFFERS

// Two streams compute, and their events are waited for in another order. What each gives is
// what its own wait gives.

// PROVED: tv.answer = "proved"
// REFUTED: error: output 'y' differs from the reference
// EQUAL: output 'y' {{.*}} equal
// DIFFERS: output 'y' {{.*}} differs
tv.plan @reference <dp = 1, device = 1, mb = 1> {
  tv.program 0 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<1, [0:4 of 4]>] : tensor<4xf32>
    %0 = tv.multiply %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %1 = tv.add %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %2 = tv.subtract %0, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    tv.output %2 "y" <2, [0:4 of 4]> : tensor<4xf32>
  }
}
tv.plan @plan <dp = 1, device = 1, mb = 1> {
  tv.program 0 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<1, [0:4 of 4]>] : tensor<4xf32>
    %a = tv.start { %0 = tv.multiply %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> }
    %b = tv.start { %0 = tv.add %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> }
    %1 = tv.wait %b : tensor<4xf32>
    %0 = tv.wait %a : tensor<4xf32>
    %2 = tv.subtract %0, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> // fixed
    %2 = tv.subtract %1, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> // wrong
    tv.output %2 "y" <2, [0:4 of 4]> : tensor<4xf32>
  }
}
