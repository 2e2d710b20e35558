// RUN: grep -v "// wrong$" %s | verify-opt --tv-check-schedule -o /dev/null
// RUN: grep -v "// fixed$" %s | not verify-opt --tv-check-schedule -o /dev/null 2>&1 | FileCheck %s

// A variable holds the handle of a receive and should have been given that of the next one.

// CHECK: error: 'tv.wait' op on device 1 waits a second time for what was started
// CHECK: note: the first time is here
// CHECK: note: it was started here

tv.plan @plan <dp = 1, device = 2, mb = 2> {
  tv.program 0 {
    %0 = tv.seed : tensor<4xf32>
    tv.send %0 to 1 : tensor<4xf32>
    tv.send %0 to 1 : tensor<4xf32>
  }
  tv.program 1 {
    %first = tv.start { %0 = tv.receive from 0 : tensor<4xf32> }
    %second = tv.start { %0 = tv.receive from 0 : tensor<4xf32> }
    %1 = tv.wait %first : tensor<4xf32>
    %2 = tv.wait %second : tensor<4xf32> // fixed
    %2 = tv.wait %first : tensor<4xf32> // wrong
  }
}
