// RUN: not verify-opt %s --tv-check-schedule 2>&1 | FileCheck %s --check-prefix=RENDEZVOUS
// RUN: not verify-opt %s --tv-check-schedule=buffered-sends=1 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: verify-opt %s --tv-check-schedule=buffered-sends=2 | FileCheck %s --check-prefix=TWO
// RUN: not verify-opt %s --tv-check-schedule=buffered-sends=-1 2>&1 | FileCheck %s --check-prefix=NONSENSE

// Neighbours that send twice before they receive: a runtime that buffers two sends of
// each channel survives it, and the report says that it has to.

// RENDEZVOUS: :[[#@LINE+10]]:5: error: 'tv.send' op on device 0 waits for device 1 to receive: 2 devices
// RENDEZVOUS: :[[#@LINE+16]]:5: note: device 1 is here and waits for device 0 to receive
// ONE: :[[#@LINE+9]]:5: error: 'tv.send' op on device 0 waits for device 1 to receive: 2 devices
// ONE: :[[#@LINE+15]]:5: note: device 1 is here and waits for device 0 to receive
// TWO: tv.assumptions = ["the runtime buffers 2 sends of each channel"]
// TWO-SAME: messages = 4 : i64
// NONSENSE: buffered-sends
tv.plan @plan <dp = 1, device = 2, mb = 1> {
  tv.program 0 {
    %0 = tv.seed : tensor<4xf32>
    tv.send %0 to 1 : tensor<4xf32>
    tv.send %0 to 1 : tensor<4xf32>
    %1 = tv.receive from 1 : tensor<4xf32>
    %2 = tv.receive from 1 : tensor<4xf32>
  }
  tv.program 1 {
    %0 = tv.seed : tensor<4xf32>
    tv.send %0 to 0 : tensor<4xf32>
    tv.send %0 to 0 : tensor<4xf32>
    %1 = tv.receive from 0 : tensor<4xf32>
    %2 = tv.receive from 0 : tensor<4xf32>
  }
}
