// RUN: verify-opt %s --tv-interpret="arithmetic=exact" -o /dev/null | FileCheck %s
// RUN: sed -e 's/{root = 1 : i64}/{root = 0 : i64}/' %s | verify-opt --tv-interpret -o /dev/null | FileCheck %s --check-prefix=ROOT
// RUN: sed -e 's/group \[0, 1\] replicas/group [0, 1]/' %s | verify-opt --tv-interpret -o /dev/null | FileCheck %s --check-prefix=REPLICAS
// RUN: sed -e 's/tv.add_to %%7/tv.write %%7/' %s | verify-opt --tv-interpret -o /dev/null | FileCheck %s --check-prefix=WRITE

// Every collective, messages, a buffer, and a backward op, on two replicas of two
// devices. The reference says with other ops what the devices make of their parts.

// CHECK-LABEL: @plan in exact rationals
// CHECK: output 'gathered' 2 0 0 equal
// CHECK-NEXT: output 'doubled' 2 0 0 equal
// CHECK-NEXT: output 'turned' 2 0 0 equal
// CHECK-NEXT: output 'reduced' 2 0 0 equal
// CHECK-NEXT: output 'broadcast' 2 0 0 equal
// CHECK-NEXT: output 'replicas' 2 0 0 equal
// CHECK-NEXT: gradient 'w' 4 0 0 equal
// ROOT: output 'reduced' {{.*}}equal
// ROOT-NEXT: output 'broadcast' {{.*}}differs on 2
// ROOT-NEXT: output 'replicas' {{.*}}equal
// REPLICAS: output 'broadcast' {{.*}}equal
// REPLICAS-NEXT: output 'replicas' {{.*}}differs on 2
// REPLICAS-NEXT: gradient 'w' {{.*}}equal
// WRITE: output 'replicas' {{.*}}equal
// WRITE-NEXT: gradient 'w' {{.*}}differs on 4

// The input of a replica is r = x[0:4] or x[4:8]; outputs add up over replicas, so
// `%both` is what each output is made of.
tv.plan @reference <dp = 1, device = 1, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:2 of 2]> : !tv.buffer<tensor<2xf32>>
  tv.buffer @dw on 0 "w" holds <3 gradient, [0:2 of 2]> gradient_of @w : !tv.buffer<tensor<2xf32>>
  tv.segment @forward on 0 cell 2 {
  ^bb0(%x: tensor<8xf32>):
    %rows = tv.reshape %x : (tensor<8xf32>) -> tensor<2x4xf32>
    %both = tv.reduce sum %rows {dimensions = array<i64: 0>} : (tensor<2x4xf32>) -> tensor<4xf32>
    %double = tv.add %both, %both : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %pairs = tv.reshape %double : (tensor<4xf32>) -> tensor<2x2xf32>
    %turned = tv.transpose %pairs {permutation = array<i64: 1, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
    %flat = tv.reshape %turned : (tensor<2x2xf32>) -> tensor<4xf32>
    %sums = tv.reduce sum %pairs {dimensions = array<i64: 1>} : (tensor<2x2xf32>) -> tensor<2xf32>
    %last = tv.slice %flat {dimension = 0 : i64, start = 2 : i64, end = 4 : i64} : (tensor<4xf32>) -> tensor<2xf32>
    %halves = tv.reduce sum %pairs {dimensions = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<2xf32>
    tv.return %both, %double, %flat, %sums, %last, %halves : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
  }
  tv.segment @backward on 0 cell 3 backward {
  ^bb0(%x: tensor<8xf32>):
    %w = tv.read @w : tensor<2xf32>
    %pairs = tv.reshape %x : (tensor<8xf32>) -> tensor<4x2xf32>
    %sum = tv.reduce sum %pairs {dimensions = array<i64: 0>} : (tensor<4x2xf32>) -> tensor<2xf32>
    // The derivative of the sum of w * w * x, twice.
    %product = tv.multiply %w, %sum : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %four = tv.constant dense<4.0> : tensor<f32> : () -> tensor<2xf32>
    %gradient = tv.multiply %product, %four : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    tv.write %gradient, @dw : tensor<2xf32>
  }
  tv.program 0 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:8 of 8]>] : tensor<8xf32>
    %0:6 = tv.call @forward(%x) instance 0 : (tensor<8xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
    tv.call @backward(%x) instance 1 : (tensor<8xf32>) -> ()
    tv.output %0#0 "gathered" <10, [0:4 of 4]> : tensor<4xf32>
    tv.output %0#1 "doubled" <11, [0:4 of 4]> : tensor<4xf32>
    tv.output %0#2 "turned" <12, [0:4 of 4]> : tensor<4xf32>
    tv.output %0#3 "reduced" <13, [0:2 of 2]> : tensor<2xf32>
    tv.output %0#4 "broadcast" <14, [0:2 of 2]> : tensor<2xf32>
    tv.output %0#5 "replicas" <15, [0:2 of 2]> : tensor<2xf32>
  }
}
tv.plan @plan <dp = 2, device = 2, mb = 1> {
  tv.buffer @w0 on 0 "w" holds <3, [0:2 of 2]> : !tv.buffer<tensor<2xf32>>
  tv.buffer @dw0 on 0 "w" holds <3 gradient, [0:2 of 2]> gradient_of @w0 : !tv.buffer<tensor<2xf32>>
  tv.segment @forward0 on 0 cell 2 {
  ^bb0(%x: tensor<2xf32>):
    %w = tv.read @w0 : tensor<2xf32>
    %square = tv.multiply %w, %w : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %y = tv.multiply %square, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    tv.save 7 from %x, %w to %y : tensor<2xf32>, tensor<2xf32> to tensor<2xf32>
  }
  tv.segment @backward0 on 0 cell 3 backward {
  ^bb0(%g: tensor<2xf32>):
    %0 = tv.backward %g of 7 {outputs = array<i64: 0>, wrt = array<i64: 1>} : (tensor<2xf32>) -> tensor<2xf32>
    %1 = tv.communicate all_reduce %0 group [0, 1] {tv.note} : (tensor<2xf32>) -> tensor<2xf32>
    tv.return %1 : tensor<2xf32>
  }
  tv.program 0 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:2 of 4]>] : tensor<2xf32>
    tv.send %x to 1 : tensor<2xf32>
    tv.send %x to 1 : tensor<2xf32>
    %there = tv.receive from 1 : tensor<2xf32>
    tv.send %there to 1 : tensor<2xf32>
    %again = tv.receive from 1 : tensor<2xf32>
    %back = tv.receive from 1 : tensor<2xf32>
    %1 = tv.communicate all_gather %back group [0, 1] {dimension = 0 : i64} : (tensor<2xf32>) -> tensor<4xf32>
    %2 = tv.communicate reduce_scatter %1 group [0, 1] {dimension = 0 : i64} : (tensor<4xf32>) -> tensor<2xf32>
    %3 = tv.communicate all_gather %2 group [0, 1] {dimension = 0 : i64} : (tensor<2xf32>) -> tensor<4xf32>
    %4 = tv.communicate all_to_all %2 group [0, 1] {dimension = 0 : i64, split_dimension = 0 : i64} : (tensor<2xf32>) -> tensor<2xf32>
    %5 = tv.communicate all_gather %4 group [0, 1] {dimension = 0 : i64} : (tensor<2xf32>) -> tensor<4xf32>
    %sum = tv.communicate all_reduce %4 group [0, 1] : (tensor<2xf32>) -> tensor<2xf32>
    %last = tv.communicate broadcast %4 group [0, 1] {root = 1 : i64} : (tensor<2xf32>) -> tensor<2xf32>
    %all = tv.communicate all_reduce %x group [0, 1] replicas : (tensor<2xf32>) -> tensor<2xf32>
    %seed = tv.seed : tensor<2xf32>
    tv.call @forward0(%x) instance 0 mirror 1 : (tensor<2xf32>) -> ()
    %6 = tv.call @backward0(%seed) instance 1 mirror 0 : (tensor<2xf32>) -> tensor<2xf32>
    %7 = tv.communicate all_reduce %6 group [0] replicas : (tensor<2xf32>) -> tensor<2xf32>
    tv.add_to %7, @dw0 : tensor<2xf32>
    tv.add_to %7, @dw0 : tensor<2xf32>
    tv.output %1 "gathered" <10, [0:4 of 4]> : tensor<4xf32>
    tv.output %3 "doubled" <11, [0:4 of 4]> : tensor<4xf32>
    tv.output %5 "turned" <12, [0:4 of 4]> : tensor<4xf32>
    tv.output %sum "reduced" <13, [0:2 of 2]> : tensor<2xf32>
    tv.output %last "broadcast" <14, [0:2 of 2]> : tensor<2xf32>
    tv.output %all "replicas" <15, [0:2 of 2]> : tensor<2xf32>
  }
  tv.buffer @w1 on 1 "w" holds <3, [0:2 of 2]> : !tv.buffer<tensor<2xf32>>
  tv.buffer @dw1 on 1 "w" holds <3 gradient, [0:2 of 2]> gradient_of @w1 : !tv.buffer<tensor<2xf32>>
  tv.segment @forward1 on 1 cell 2 {
  ^bb0(%x: tensor<2xf32>):
    %w = tv.read @w1 : tensor<2xf32>
    %square = tv.multiply %w, %w : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %y = tv.multiply %square, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    tv.save 7 from %x, %w to %y : tensor<2xf32>, tensor<2xf32> to tensor<2xf32>
  }
  tv.segment @backward1 on 1 cell 3 backward {
  ^bb0(%g: tensor<2xf32>):
    %0 = tv.backward %g of 7 {outputs = array<i64: 0>, wrt = array<i64: 1>} : (tensor<2xf32>) -> tensor<2xf32>
    %1 = tv.communicate all_reduce %0 group [0, 1] {tv.note} : (tensor<2xf32>) -> tensor<2xf32>
    tv.return %1 : tensor<2xf32>
  }
  tv.program 1 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [2:4 of 4]>] : tensor<2xf32>
    tv.send %x to 0 : tensor<2xf32>
    tv.send %x to 0 : tensor<2xf32>
    %there = tv.receive from 0 : tensor<2xf32>
    tv.send %there to 0 : tensor<2xf32>
    %again = tv.receive from 0 : tensor<2xf32>
    %back = tv.receive from 0 : tensor<2xf32>
    %1 = tv.communicate all_gather %back group [0, 1] {dimension = 0 : i64} : (tensor<2xf32>) -> tensor<4xf32>
    %2 = tv.communicate reduce_scatter %1 group [0, 1] {dimension = 0 : i64} : (tensor<4xf32>) -> tensor<2xf32>
    %3 = tv.communicate all_gather %2 group [0, 1] {dimension = 0 : i64} : (tensor<2xf32>) -> tensor<4xf32>
    %4 = tv.communicate all_to_all %2 group [0, 1] {dimension = 0 : i64, split_dimension = 0 : i64} : (tensor<2xf32>) -> tensor<2xf32>
    %5 = tv.communicate all_gather %4 group [0, 1] {dimension = 0 : i64} : (tensor<2xf32>) -> tensor<4xf32>
    %sum = tv.communicate all_reduce %4 group [0, 1] : (tensor<2xf32>) -> tensor<2xf32>
    %last = tv.communicate broadcast %4 group [0, 1] {root = 1 : i64} : (tensor<2xf32>) -> tensor<2xf32>
    %all = tv.communicate all_reduce %x group [0, 1] replicas : (tensor<2xf32>) -> tensor<2xf32>
    %seed = tv.seed : tensor<2xf32>
    tv.call @forward1(%x) instance 0 mirror 1 : (tensor<2xf32>) -> ()
    %6 = tv.call @backward1(%seed) instance 1 mirror 0 : (tensor<2xf32>) -> tensor<2xf32>
    %7 = tv.communicate all_reduce %6 group [1] replicas : (tensor<2xf32>) -> tensor<2xf32>
    tv.add_to %7, @dw1 : tensor<2xf32>
    tv.add_to %7, @dw1 : tensor<2xf32>
    tv.output %1 "gathered" <10, [0:4 of 4]> : tensor<4xf32>
    tv.output %3 "doubled" <11, [0:4 of 4]> : tensor<4xf32>
    tv.output %5 "turned" <12, [0:4 of 4]> : tensor<4xf32>
    tv.output %sum "reduced" <13, [0:2 of 2]> : tensor<2xf32>
    tv.output %last "broadcast" <14, [0:2 of 2]> : tensor<2xf32>
    tv.output %all "replicas" <15, [0:2 of 2]> : tensor<2xf32>
  }
}
