// RUN: verify-opt --tv-verify-equiv %s | FileCheck %s
// RUN: sed '/^tv.plan @plan/,$s/start = 2 : i64, end = 3/start = 1 : i64, end = 2/' %s | not verify-opt --tv-verify-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// The first ranks of two groups take the same row of the same data, and the other ranks another one in each
// group: that of one group is not taken for that of the other.

// CHECK: tv.answer = "proved"
// CHECK: attributes {tv.folded = [array<i64: 0, 1>, array<i64: 2, 3>]}
// CHECK-DAG: tv.slice %{{.*}} on <device = 0> {dimension = 0 : i64, end = 2 : i64, start = 0 : i64}
// CHECK-DAG: tv.slice %{{.*}} on <device = 2> {dimension = 0 : i64, end = 3 : i64, start = 2 : i64}
// WRONG: error: {{.*}} differs from the reference on devices 2-3

tv.plan @reference <dp = 1, device = 1, mb = 1> {
  tv.program 0 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:3 of 3]>] : tensor<3xf32>
    %a = tv.slice %x {dimension = 0 : i64, start = 0 : i64, end = 1 : i64} : (tensor<3xf32>) -> tensor<1xf32>
    %b = tv.slice %x {dimension = 0 : i64, start = 1 : i64, end = 2 : i64} : (tensor<3xf32>) -> tensor<1xf32>
    %c = tv.slice %x {dimension = 0 : i64, start = 2 : i64, end = 3 : i64} : (tensor<3xf32>) -> tensor<1xf32>
    %s = tv.add %a, %b : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
    %t = tv.add %a, %c : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
    %u = tv.add %s, %t : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
    tv.output %u "sum" <9, [0:1 of 1]> : tensor<1xf32>
  }
}
tv.plan @plan <dp = 1, device = 4, mb = 1> {
  tv.program 0 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:3 of 3]>] : tensor<3xf32>
    %p = tv.slice %x {dimension = 0 : i64, start = 0 : i64, end = 1 : i64} : (tensor<3xf32>) -> tensor<1xf32>
    %s = tv.communicate all_reduce %p group [0, 1] : (tensor<1xf32>) -> tensor<1xf32>
    tv.send %s to 2 : tensor<1xf32>
  }
  tv.program 1 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:3 of 3]>] : tensor<3xf32>
    %p = tv.slice %x {dimension = 0 : i64, start = 1 : i64, end = 2 : i64} : (tensor<3xf32>) -> tensor<1xf32>
    %s = tv.communicate all_reduce %p group [0, 1] : (tensor<1xf32>) -> tensor<1xf32>
    tv.send %s to 3 : tensor<1xf32>
  }
  tv.program 2 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:3 of 3]>] : tensor<3xf32>
    %p = tv.slice %x {dimension = 0 : i64, start = 0 : i64, end = 1 : i64} : (tensor<3xf32>) -> tensor<1xf32>
    %s = tv.communicate all_reduce %p group [2, 3] : (tensor<1xf32>) -> tensor<1xf32>
    %r = tv.receive from 0 : tensor<1xf32>
    %u = tv.add %r, %s : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
    tv.output %u "sum" <9, [0:1 of 1]> : tensor<1xf32>
  }
  tv.program 3 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:3 of 3]>] : tensor<3xf32>
    %p = tv.slice %x {dimension = 0 : i64, start = 2 : i64, end = 3 : i64} : (tensor<3xf32>) -> tensor<1xf32>
    %s = tv.communicate all_reduce %p group [2, 3] : (tensor<1xf32>) -> tensor<1xf32>
    %r = tv.receive from 1 : tensor<1xf32>
    %u = tv.add %r, %s : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
    tv.output %u "sum" <9, [0:1 of 1]> : tensor<1xf32>
  }
}
