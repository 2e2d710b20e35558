// RUN: grep -v "// wrong$" %s | verify-opt --tv-check-schedule -o /dev/null
// RUN: grep -v "// fixed$" %s | not verify-opt --tv-check-schedule -o /dev/null 2>&1 | FileCheck %s

// A device leaves out one of its backwards. What it does next is not what its peer does:
// what is wrong is not there, but at the execution that has no counterpart.

// CHECK: error: 'tv.call' op instance 4 on device 0, number 2 of 3 like it, is left out by device 1, which runs 2
// CHECK: note: as a consequence this is not what another member of its group enters at this point: kind is all_reduce on device 0 and all_gather on device 1
// CHECK: note: device 1 enters this one

tv.plan @plan <dp = 1, device = 2, mb = 3> {
  tv.segment @forward0 on 0 cell 3 {
  ^bb0(%x: tensor<4xf32>):
    %0 = tv.communicate all_gather %x group [0, 1] {dimension = 0 : i64} : (tensor<4xf32>) -> tensor<8xf32>
    tv.return
  }
  tv.segment @backward0 on 0 cell 4 {
  ^bb0(%x: tensor<4xf32>):
    %0 = tv.communicate all_reduce %x group [0, 1] : (tensor<4xf32>) -> tensor<4xf32>
    tv.return
  }
  tv.segment @forward1 on 1 cell 3 {
  ^bb0(%x: tensor<4xf32>):
    %0 = tv.communicate all_gather %x group [0, 1] {dimension = 0 : i64} : (tensor<4xf32>) -> tensor<8xf32>
    tv.return
  }
  tv.segment @backward1 on 1 cell 4 {
  ^bb0(%x: tensor<4xf32>):
    %0 = tv.communicate all_reduce %x group [0, 1] : (tensor<4xf32>) -> tensor<4xf32>
    tv.return
  }
  tv.program 0 {
    %0 = tv.seed : tensor<4xf32>
    tv.call @forward0(%0) instance 1 : (tensor<4xf32>) -> ()
    tv.call @backward0(%0) instance 2 : (tensor<4xf32>) -> ()
    tv.call @forward0(%0) instance 3 : (tensor<4xf32>) -> ()
    tv.call @backward0(%0) instance 4 : (tensor<4xf32>) -> ()
    tv.call @forward0(%0) instance 5 : (tensor<4xf32>) -> ()
    tv.call @backward0(%0) instance 6 : (tensor<4xf32>) -> ()
  }
  tv.program 1 {
    %0 = tv.seed : tensor<4xf32>
    tv.call @forward1(%0) instance 1 : (tensor<4xf32>) -> ()
    tv.call @backward1(%0) instance 2 : (tensor<4xf32>) -> ()
    tv.call @forward1(%0) instance 3 : (tensor<4xf32>) -> ()
    tv.call @backward1(%0) instance 4 : (tensor<4xf32>) -> () // fixed
    tv.call @forward1(%0) instance 5 : (tensor<4xf32>) -> ()
    tv.call @backward1(%0) instance 6 : (tensor<4xf32>) -> ()
  }
}
