// RUN: grep -v "// wrong$" %s | verify-opt --tv-check-schedule -o /dev/null
// RUN: grep -v "// fixed$" %s | not verify-opt --tv-check-schedule -o /dev/null 2>&1 | FileCheck %s

// A device runs a segment that enters no collective of its peer: the peer leaves out nothing
// by not running it. Where the two then meet in different collectives, that is what is wrong.

// CHECK-NOT: left out
// CHECK: error: 'tv.communicate' op is not what another member of its group enters at this point: kind is all_gather on device 1 and all_reduce on device 0
// CHECK-NOT: left out

tv.plan @plan <dp = 1, device = 2, mb = 1> {
  tv.segment @own on 0 cell 2 {
  ^bb0(%x: tensor<4xf32>):
    %0 = tv.exp %x : (tensor<4xf32>) -> tensor<4xf32>
    tv.return
  }
  tv.segment @forward0 on 0 cell 3 {
  ^bb0(%x: tensor<4xf32>):
    %0 = tv.communicate all_reduce %x group [0, 1] : (tensor<4xf32>) -> tensor<4xf32>
    tv.return
  }
  tv.segment @forward1 on 1 cell 3 {
  ^bb0(%x: tensor<4xf32>):
    %0 = tv.communicate all_reduce %x group [0, 1] : (tensor<4xf32>) -> tensor<4xf32> // fixed
    %0 = tv.communicate all_gather %x group [0, 1] {dimension = 0 : i64} : (tensor<4xf32>) -> tensor<8xf32> // wrong
    tv.return
  }
  tv.program 0 {
    %0 = tv.seed : tensor<4xf32>
    tv.call @own(%0) instance 1 : (tensor<4xf32>) -> ()
    tv.call @forward0(%0) instance 2 : (tensor<4xf32>) -> ()
  }
  tv.program 1 {
    %0 = tv.seed : tensor<4xf32>
    tv.call @forward1(%0) instance 2 : (tensor<4xf32>) -> ()
  }
}
