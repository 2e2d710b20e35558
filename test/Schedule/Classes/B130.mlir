// RUN: grep -v "// wrong$" %s | verify-opt --tv-check-schedule -o /dev/null
// RUN: grep -v "// fixed$" %s | not verify-opt --tv-check-schedule -o /dev/null 2>&1 | FileCheck %s

// A gradient is computed on the current stream, and the stream of its reduction has to wait
// for that. It waits for the default stream instead.

// CHECK: error: 'tv.start' op on device 0 reads 'bucket' while another stream writes to it
// CHECK: note: it was started here
// CHECK: note: and is waited for here, which has to come before
// CHECK: note: or this has to come after it, by its handle or on its stream

tv.plan @plan <dp = 2, device = 1, mb = 1> {
  tv.buffer @w on 0 "bucket" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "bucket" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    %0 = tv.seed : tensor<4xf32>
    %current = tv.start stream "current" into @g {
      %1 = tv.read @g : tensor<4xf32>
      %2 = tv.add %1, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    }
    %default = tv.start stream "default" { %1 = tv.exp %0 : (tensor<4xf32>) -> tensor<4xf32> }
    %reducing = tv.start stream "communication" after %current into @g { // fixed
    %reducing = tv.start stream "communication" after %default into @g { // wrong
      %1 = tv.read @g : tensor<4xf32>
      %2 = tv.communicate all_reduce %1 group [0] replicas : (tensor<4xf32>) -> tensor<4xf32>
    }
    tv.wait %reducing
    tv.wait %current
    %3 = tv.wait %default : tensor<4xf32>
  }
}
