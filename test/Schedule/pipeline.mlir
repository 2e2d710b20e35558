// RUN: verify-opt %s --tv-canonicalize-ssa --tv-check-equiv | FileCheck %s --check-prefix=VALUES
// RUN: not verify-opt %s --tv-verify-equiv 2>&1 | FileCheck %s --check-prefix=RENDEZVOUS
// RUN: verify-opt %s --tv-verify-equiv=buffered-sends=1 | FileCheck %s --check-prefix=BUFFERED
// RUN: not verify-opt %s --tv-check-schedule --mlir-print-ir-after-failure 2>&1 | FileCheck %s --check-prefix=MALFORMED

// The values are right, and the plan hangs: both devices send before they receive.

// VALUES: tv.answer = "proved"
// RENDEZVOUS: error: 'tv.send' op on device 0 waits for device 1 to receive, in micro-batch 0: 2 devices wait for each other
// RENDEZVOUS: note: device 1 is here and waits for device 0 to receive, in micro-batch 0
// RENDEZVOUS-NOT: error
// BUFFERED: tv.answer = "proved", tv.assumptions = ["the runtime buffers 1 send of each channel"]
// MALFORMED: tv.malformed = "devices wait for each other without end"

tv.plan @reference <dp = 1, device = 1, mb = 1> {
  tv.segment @forward on 0 cell 2 {
  ^bb0(%x: tensor<4xf32>):
    %0 = tv.exp %x : (tensor<4xf32>) -> tensor<4xf32>
    tv.return %0 : tensor<4xf32>
  }
  tv.program 0 {
    %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    %1 = tv.call @forward(%0) instance 2 : (tensor<4xf32>) -> tensor<4xf32>
    tv.output %1 "y" <8, [0:4 of 4]> : tensor<4xf32>
  }
}
tv.plan @plan <dp = 1, device = 2, mb = 1> {
  tv.segment @forward0 on 0 cell 2 {
  ^bb0(%x: tensor<4xf32>):
    tv.send %x to 1 : tensor<4xf32>
    %0 = tv.receive from 1 : tensor<4xf32>
    %1 = tv.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
    tv.return %1 : tensor<4xf32>
  }
  tv.segment @forward1 on 1 cell 2 {
  ^bb0(%x: tensor<4xf32>):
    tv.send %x to 0 : tensor<4xf32>
    %0 = tv.receive from 0 : tensor<4xf32>
    %1 = tv.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
    tv.return %1 : tensor<4xf32>
  }
  tv.program 0 {
    %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    %1 = tv.call @forward0(%0) instance 2 : (tensor<4xf32>) -> tensor<4xf32>
    tv.output %1 "y" <8, [0:4 of 4]> : tensor<4xf32>
  }
  tv.program 1 {
    %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    %1 = tv.call @forward1(%0) instance 2 : (tensor<4xf32>) -> tensor<4xf32>
    tv.output %1 "y" <8, [0:4 of 4]> : tensor<4xf32>
  }
}
