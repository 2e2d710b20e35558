// RUN: verify-opt %s --tv-check-schedule=timeline=%t.json -o /dev/null
// RUN: %python %S/timeline.py %t.json | FileCheck %s
// RUN: sed s/fixed/wrong/ %s | grep -v '// wrong$' > %t.mlir
// RUN: not verify-opt %t.mlir --tv-check-schedule=timeline=%t.bad.json -o /dev/null
// RUN: %python %S/timeline.py %t.bad.json | FileCheck %s --check-prefix=BLOCKED
// RUN: not verify-opt %s --tv-check-schedule=timeline=%t.none/there.json -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NOWHERE
// RUN: not ls %t.none

// CHECK: device 0: forward 0-1 forward0, micro-batch 0; send 1-2 send to 1, micro-batch 0; collective 2-3 all_reduce
// CHECK: device 1: wait 0-1; receive 1-2 receive from 0, micro-batch 0; collective 2-3 all_reduce
// BLOCKED: device 0: forward 0-1 forward0, micro-batch 0; deadlock 1-2 waits without end: send to 1, micro-batch 0
// BLOCKED: device 1: deadlock 0-2 waits without end: all_reduce
// NOWHERE: error: timeline '{{.*}}there.json': {{[Nn]}}o such file or directory

tv.plan @plan <dp = 1, device = 2, mb = 1> {
  tv.segment @forward0 on 0 cell 2 {
  ^bb0(%x: tensor<4xf32>):
    %0 = tv.exp %x : (tensor<4xf32>) -> tensor<4xf32>
    tv.send %0 to 1 : tensor<4xf32>
  }
  tv.program 0 {
    %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    tv.call @forward0(%0) instance 2 : (tensor<4xf32>) -> ()
    %1 = tv.seed : tensor<4xf32>
    %2 = tv.communicate all_reduce %1 group [0, 1] : (tensor<4xf32>) -> tensor<4xf32>
  }
  tv.program 1 {
    %0 = tv.receive from 0 : tensor<4xf32> // fixed
    %1 = tv.seed : tensor<4xf32>
    %2 = tv.communicate all_reduce %1 group [0, 1] : (tensor<4xf32>) -> tensor<4xf32>
  }
}
