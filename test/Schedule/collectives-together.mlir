// RUN: verify-opt %s --tv-check-schedule -verify-diagnostics -split-input-file -o /dev/null
// RUN: sed '/^.. -----$/,$d' %s | verify-opt --tv-check-schedule | FileCheck %s
// CHECK: collectives = 8 : i64, messages = 0 : i64

// What the members of a group enter one after the other is looked at together,
// as far as it is alike. Where one of them does it in other pieces, or starts
// it, it is the same.

tv.plan @plan <dp = 1, device = 3, mb = 1> {
  tv.segment @all on 0 cell 1 {
  ^bb0(%x: tensor<4xf32>):
    %0 = tv.communicate all_reduce %x group [0, 1] : (tensor<4xf32>) -> tensor<4xf32>
    %1 = tv.communicate all_gather %x group [0, 1] {dimension = 0 : i64} : (tensor<4xf32>) -> tensor<8xf32>
    %2 = tv.communicate all_reduce %x group [0, 1] : (tensor<4xf32>) -> tensor<4xf32>
    %3 = tv.communicate all_reduce %x group [0, 2] : (tensor<4xf32>) -> tensor<4xf32>
    tv.return
  }
  tv.segment @two on 1 cell 2 {
  ^bb0(%x: tensor<4xf32>):
    %0 = tv.communicate all_reduce %x group [0, 1] : (tensor<4xf32>) -> tensor<4xf32>
    %1 = tv.communicate all_gather %x group [0, 1] {dimension = 0 : i64} : (tensor<4xf32>) -> tensor<8xf32>
    tv.return
  }
  tv.program 0 {
    %0 = tv.seed : tensor<4xf32>
    tv.call @all(%0) instance 1 : (tensor<4xf32>) -> ()
    tv.call @all(%0) instance 2 : (tensor<4xf32>) -> ()
  }
  tv.program 1 {
    %0 = tv.seed : tensor<4xf32>
    tv.call @two(%0) instance 1 : (tensor<4xf32>) -> ()
    %1 = tv.communicate all_reduce %0 group [0, 1] : (tensor<4xf32>) -> tensor<4xf32>
    %2 = tv.start { %7 = tv.communicate all_reduce %0 group [0, 1] : (tensor<4xf32>) -> tensor<4xf32> }
    %3 = tv.start { %8 = tv.communicate all_gather %0 group [0, 1] {dimension = 0 : i64} : (tensor<4xf32>) -> tensor<8xf32> }
    %4 = tv.wait %2 : tensor<4xf32>
    %5 = tv.wait %3 : tensor<8xf32>
    %6 = tv.communicate all_reduce %0 group [0, 1] : (tensor<4xf32>) -> tensor<4xf32>
  }
  tv.program 2 {
    %0 = tv.seed : tensor<4xf32>
    %1 = tv.communicate all_reduce %0 group [0, 2] : (tensor<4xf32>) -> tensor<4xf32>
    %2 = tv.communicate all_reduce %0 group [0, 2] : (tensor<4xf32>) -> tensor<4xf32>
  }
}

// -----

// The third is not alike, and it is named.

tv.plan @plan <dp = 1, device = 2, mb = 1> {
  tv.segment @first on 0 cell 1 {
  ^bb0(%x: tensor<4xf32>):
    %0 = tv.communicate all_reduce %x group [0, 1] : (tensor<4xf32>) -> tensor<4xf32>
    %1 = tv.communicate all_reduce %x group [0, 1] : (tensor<4xf32>) -> tensor<4xf32>
    // expected-error @below {{kind is all_gather on device 0 and all_reduce on device 1}}
    %2 = tv.communicate all_gather %x group [0, 1] {dimension = 0 : i64} : (tensor<4xf32>) -> tensor<8xf32>
    tv.return
  }
  tv.segment @other on 1 cell 2 {
  ^bb0(%x: tensor<4xf32>):
    %0 = tv.communicate all_reduce %x group [0, 1] : (tensor<4xf32>) -> tensor<4xf32>
    %1 = tv.communicate all_reduce %x group [0, 1] : (tensor<4xf32>) -> tensor<4xf32>
    // expected-note @below {{device 1 enters this one}}
    %2 = tv.communicate all_reduce %x group [0, 1] : (tensor<4xf32>) -> tensor<4xf32>
    tv.return
  }
  tv.program 0 {
    %0 = tv.seed : tensor<4xf32>
    tv.call @first(%0) instance 1 : (tensor<4xf32>) -> ()
  }
  tv.program 1 {
    %0 = tv.seed : tensor<4xf32>
    tv.call @other(%0) instance 1 : (tensor<4xf32>) -> ()
  }
}

// -----

// One member enters one less, and the other waits at the one after that.

tv.plan @plan <dp = 1, device = 2, mb = 1> {
  tv.segment @three on 0 cell 1 {
  ^bb0(%x: tensor<4xf32>):
    %0 = tv.communicate all_reduce %x group [0, 1] : (tensor<4xf32>) -> tensor<4xf32>
    %1 = tv.communicate all_reduce %x group [0, 1] : (tensor<4xf32>) -> tensor<4xf32>
    // expected-error @+2 {{on device 0 waits for members of its group}}
    // expected-note @+1 {{device 1 has run to its end without taking part}}
    %2 = tv.communicate all_reduce %x group [0, 1] : (tensor<4xf32>) -> tensor<4xf32>
    tv.return
  }
  tv.segment @two on 1 cell 2 {
  ^bb0(%x: tensor<4xf32>):
    %0 = tv.communicate all_reduce %x group [0, 1] : (tensor<4xf32>) -> tensor<4xf32>
    %1 = tv.communicate all_reduce %x group [0, 1] : (tensor<4xf32>) -> tensor<4xf32>
    tv.return
  }
  tv.program 0 {
    %0 = tv.seed : tensor<4xf32>
    tv.call @three(%0) instance 1 : (tensor<4xf32>) -> ()
  }
  tv.program 1 {
    %0 = tv.seed : tensor<4xf32>
    tv.call @two(%0) instance 1 : (tensor<4xf32>) -> ()
  }
}

// -----

// Members of different micro-batches are looked at one by one: the first
// collective tells of which one the execution is that knows none, the second
// one that it is of another one too.

tv.plan @plan <dp = 1, device = 3, mb = 2> {
  tv.segment @two0 on 0 cell 2 {
  ^bb0(%x: tensor<4xf32>):
    %0 = tv.communicate all_reduce %x group [0, 1, 2] : (tensor<4xf32>) -> tensor<4xf32>
    // expected-error @below {{on device 0 takes a tensor of micro-batch 1, execution 0 that it belongs to is of micro-batch 0}}
    %1 = tv.communicate all_reduce %0 group [0, 1, 2] : (tensor<4xf32>) -> tensor<4xf32>
  }
  tv.segment @two1 on 1 cell 2 {
  ^bb0(%x: tensor<4xf32>):
    %0 = tv.communicate all_reduce %x group [0, 1, 2] : (tensor<4xf32>) -> tensor<4xf32>
    %1 = tv.communicate all_reduce %0 group [0, 1, 2] : (tensor<4xf32>) -> tensor<4xf32>
  }
  tv.segment @two2 on 2 cell 2 {
  ^bb0(%x: tensor<4xf32>):
    %0 = tv.communicate all_reduce %x group [0, 1, 2] : (tensor<4xf32>) -> tensor<4xf32>
    // expected-note @below {{the tensor of micro-batch 1 comes from here}}
    %1 = tv.communicate all_reduce %0 group [0, 1, 2] : (tensor<4xf32>) -> tensor<4xf32>
  }
  tv.program 0 {
    %0 = tv.seed : tensor<4xf32>
    tv.call @two0(%0) instance 0 mirror 10 : (tensor<4xf32>) -> ()
  }
  tv.program 1 {
    %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    tv.call @two1(%0) instance 1 : (tensor<4xf32>) -> ()
  }
  tv.program 2 {
    %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    %1 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    tv.call @two2(%1) instance 1 : (tensor<4xf32>) -> ()
  }
}
