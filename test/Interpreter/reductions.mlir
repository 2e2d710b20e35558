// RUN: verify-opt %s --tv-interpret="arithmetic=exact" -o /dev/null | FileCheck %s
// RUN: sed -e 's/ by [a-z]* / /' %s | verify-opt --tv-interpret -o /dev/null | FileCheck %s --check-prefix=SUM
// RUN: sed -e 's/group \[0, 1\] by maximum/group [0, 1] by minimum/' %s | verify-opt --tv-interpret -o /dev/null | FileCheck %s --check-prefix=MINIMUM

// What collectives combine by, on two replicas of two devices. The input of a
// device is two elements of x; outputs add up over replicas.

// CHECK-LABEL: @plan in exact rationals
// CHECK: output 'average' 2 0 0 equal
// CHECK-NEXT: output 'average of all' 2 0 0 equal
// CHECK-NEXT: output 'maximum' 2 0 0 equal
// CHECK-NEXT: output 'minimum' 2 0 0 equal
// CHECK-NEXT: output 'product' 2 0 0 equal
// CHECK-NEXT: output 'scattered maximum' 2 0 0 equal
// SUM: output 'average' {{.*}}differs on 2
// SUM-NEXT: output 'average of all' {{.*}}differs on 2
// SUM-NEXT: output 'maximum' {{.*}}differs on 2
// SUM-NEXT: output 'minimum' {{.*}}differs on 2
// SUM-NEXT: output 'product' {{.*}}differs on 2
// SUM-NEXT: output 'scattered maximum' {{.*}}differs on 2
// MINIMUM: output 'average of all' {{.*}}equal
// MINIMUM-NEXT: output 'maximum' {{.*}}differs on 2
// MINIMUM-NEXT: output 'minimum' {{.*}}equal
// MINIMUM-NEXT: output 'product' {{.*}}equal
// MINIMUM-NEXT: output 'scattered maximum' {{.*}}differs on 2

tv.plan @reference <dp = 1, device = 1, mb = 1> {
  tv.segment @forward on 0 cell 2 {
  ^bb0(%x: tensor<8xf32>):
    %all = tv.reshape %x : (tensor<8xf32>) -> tensor<2x2x2xf32>
    %averages = tv.reduce average %all {dimensions = array<i64: 1>} : (tensor<2x2x2xf32>) -> tensor<2x2xf32>
    %average = tv.reduce sum %averages {dimensions = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<2xf32>
    %maxima = tv.reduce maximum %all {dimensions = array<i64: 1>} : (tensor<2x2x2xf32>) -> tensor<2x2xf32>
    %maximum = tv.reduce sum %maxima {dimensions = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<2xf32>
    %minima = tv.reduce minimum %all {dimensions = array<i64: 1>} : (tensor<2x2x2xf32>) -> tensor<2x2xf32>
    %minimum = tv.reduce sum %minima {dimensions = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<2xf32>
    %first = tv.slice %all {dimension = 1 : i64, start = 0 : i64, end = 1 : i64} : (tensor<2x2x2xf32>) -> tensor<2x1x2xf32>
    %second = tv.slice %all {dimension = 1 : i64, start = 1 : i64, end = 2 : i64} : (tensor<2x2x2xf32>) -> tensor<2x1x2xf32>
    %products = tv.multiply %first, %second : (tensor<2x1x2xf32>, tensor<2x1x2xf32>) -> tensor<2x1x2xf32>
    %product = tv.reduce sum %products {dimensions = array<i64: 0, 1>} : (tensor<2x1x2xf32>) -> tensor<2xf32>
    tv.return %average, %maximum, %minimum, %product : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
  }
  tv.program 0 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:8 of 8]>] : tensor<8xf32>
    %0:4 = tv.call @forward(%x) instance 0 : (tensor<8xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
    tv.output %0#0 "average" <10, [0:2 of 2]> : tensor<2xf32>
    tv.output %0#0 "average of all" <11, [0:2 of 2]> : tensor<2xf32>
    tv.output %0#1 "maximum" <12, [0:2 of 2]> : tensor<2xf32>
    tv.output %0#2 "minimum" <13, [0:2 of 2]> : tensor<2xf32>
    tv.output %0#3 "product" <14, [0:2 of 2]> : tensor<2xf32>
    tv.output %0#1 "scattered maximum" <15, [0:2 of 2]> : tensor<2xf32>
  }
}
tv.plan @plan <dp = 2, device = 2, mb = 1> {
  tv.program 0 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:2 of 4]>] : tensor<2xf32>
    %average = tv.communicate all_reduce %x group [0, 1] by average : (tensor<2xf32>) -> tensor<2xf32>
    %all = tv.communicate all_reduce %x group [0, 1] replicas by average : (tensor<2xf32>) -> tensor<2xf32>
    %maximum = tv.communicate all_reduce %x group [0, 1] by maximum : (tensor<2xf32>) -> tensor<2xf32>
    %minimum = tv.communicate all_reduce %x group [0, 1] by minimum : (tensor<2xf32>) -> tensor<2xf32>
    %product = tv.communicate all_reduce %x group [0, 1] by product : (tensor<2xf32>) -> tensor<2xf32>
    %part = tv.communicate reduce_scatter %x group [0, 1] by maximum {dimension = 0 : i64} : (tensor<2xf32>) -> tensor<1xf32>
    %parts = tv.communicate all_gather %part group [0, 1] {dimension = 0 : i64} : (tensor<1xf32>) -> tensor<2xf32>
    tv.output %average "average" <10, [0:2 of 2]> : tensor<2xf32>
    tv.output %all "average of all" <11, [0:2 of 2]> : tensor<2xf32>
    tv.output %maximum "maximum" <12, [0:2 of 2]> : tensor<2xf32>
    tv.output %minimum "minimum" <13, [0:2 of 2]> : tensor<2xf32>
    tv.output %product "product" <14, [0:2 of 2]> : tensor<2xf32>
    tv.output %parts "scattered maximum" <15, [0:2 of 2]> : tensor<2xf32>
  }
  tv.program 1 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [2:4 of 4]>] : tensor<2xf32>
    %average = tv.communicate all_reduce %x group [0, 1] by average : (tensor<2xf32>) -> tensor<2xf32>
    %all = tv.communicate all_reduce %x group [0, 1] replicas by average : (tensor<2xf32>) -> tensor<2xf32>
    %maximum = tv.communicate all_reduce %x group [0, 1] by maximum : (tensor<2xf32>) -> tensor<2xf32>
    %minimum = tv.communicate all_reduce %x group [0, 1] by minimum : (tensor<2xf32>) -> tensor<2xf32>
    %product = tv.communicate all_reduce %x group [0, 1] by product : (tensor<2xf32>) -> tensor<2xf32>
    %part = tv.communicate reduce_scatter %x group [0, 1] by maximum {dimension = 0 : i64} : (tensor<2xf32>) -> tensor<1xf32>
    %parts = tv.communicate all_gather %part group [0, 1] {dimension = 0 : i64} : (tensor<1xf32>) -> tensor<2xf32>
    tv.output %average "average" <10, [0:2 of 2]> : tensor<2xf32>
    tv.output %all "average of all" <11, [0:2 of 2]> : tensor<2xf32>
    tv.output %maximum "maximum" <12, [0:2 of 2]> : tensor<2xf32>
    tv.output %minimum "minimum" <13, [0:2 of 2]> : tensor<2xf32>
    tv.output %product "product" <14, [0:2 of 2]> : tensor<2xf32>
    tv.output %parts "scattered maximum" <15, [0:2 of 2]> : tensor<2xf32>
  }
}
