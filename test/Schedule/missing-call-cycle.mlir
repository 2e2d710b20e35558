// RUN: grep -v "// wrong$" %s | verify-opt --tv-check-schedule -o /dev/null
// RUN: grep -v "// fixed$" %s | not verify-opt --tv-check-schedule -o /dev/null 2>&1 | FileCheck %s

// A device leaves out what its group runs, and waits for what its peer sends afterwards.

// CHECK: error: 'tv.call' op instance 1 on device 0, number 1 of 1 like it, is left out by device 1, which runs 0: as a consequence 2 devices wait for each other
// CHECK: note: device 0 is here and waits for members of its group
// CHECK: note: of group [0, 1] device 1 is missing
// CHECK: note: device 1 is here and waits for device 0 to send

tv.plan @plan <dp = 1, device = 2, mb = 1> {
  tv.segment @backward0 on 0 cell 4 {
  ^bb0(%x: tensor<4xf32>):
    %0 = tv.communicate all_reduce %x group [0, 1] : (tensor<4xf32>) -> tensor<4xf32>
    tv.return
  }
  tv.segment @backward1 on 1 cell 4 {
  ^bb0(%x: tensor<4xf32>):
    %0 = tv.communicate all_reduce %x group [0, 1] : (tensor<4xf32>) -> tensor<4xf32>
    tv.return
  }
  tv.program 0 {
    %0 = tv.seed : tensor<4xf32>
    tv.call @backward0(%0) instance 1 : (tensor<4xf32>) -> ()
    tv.send %0 to 1 : tensor<4xf32>
  }
  tv.program 1 {
    %0 = tv.seed : tensor<4xf32>
    tv.call @backward1(%0) instance 1 : (tensor<4xf32>) -> () // fixed
    %1 = tv.receive from 0 : tensor<4xf32>
  }
}
