// RUN: not verify-opt %s --tv-check-schedule 2>&1 | FileCheck %s
// RUN: not verify-opt %s --tv-check-schedule=buffered-sends=3 2>&1 | FileCheck %s

// What stays in a buffer at the end was lost, however many sends are buffered.

tv.plan @plan <dp = 1, device = 2, mb = 1> {
  tv.program 0 {
    %0 = tv.seed : tensor<4xf32>
    tv.send %0 to 1 : tensor<4xf32>
    // CHECK: :[[#@LINE+1]]:5: error: 'tv.send' op to device 1 is never received
    tv.send %0 to 1 : tensor<4xf32>
  }
  tv.program 1 {
    %0 = tv.receive from 0 : tensor<4xf32>
  }
}
