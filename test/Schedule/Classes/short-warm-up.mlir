// RUN: grep -v "// wrong$" %s | verify-opt --tv-check-schedule -o /dev/null
// RUN: grep -v "// fixed$" %s | not verify-opt --tv-check-schedule -o /dev/null 2>&1 | FileCheck %s

// 1F1B of two stages. The second receives the next activation before it sends a gradient
// back, so the first has to have sent two before it waits for one: a warm-up of one.

// CHECK: error: 'tv.receive' op on device 0 waits for device 1 to send: 2 devices wait for each other
// CHECK: note: device 1 is here and waits for device 0 to send

tv.plan @plan <dp = 1, device = 2, mb = 2> {
  tv.program 0 {
    %0 = tv.seed : tensor<4xf32>
    tv.send %0 to 1 : tensor<4xf32>
    %1 = tv.receive from 1 : tensor<4xf32> // wrong
    tv.send %0 to 1 : tensor<4xf32>
    %1 = tv.receive from 1 : tensor<4xf32> // fixed
    %2 = tv.receive from 1 : tensor<4xf32>
  }
  tv.program 1 {
    %0 = tv.receive from 0 : tensor<4xf32>
    %1 = tv.receive from 0 : tensor<4xf32>
    tv.send %0 to 0 : tensor<4xf32>
    tv.send %1 to 0 : tensor<4xf32>
  }
}
