// RUN: verify-opt %s --tv-check-schedule -verify-diagnostics -split-input-file -o /dev/null
// RUN: sed '/^.. -----$/,$d' %s | verify-opt --tv-check-schedule | FileCheck %s
// CHECK: tv.live_activations = array<i64: 0, 0>
// CHECK-SAME: collectives = 0 : i64, messages = 4 : i64

// Neighbours exchange, and each pair of send and receive meets.

tv.plan @plan <dp = 1, device = 2, mb = 1> {
  tv.program 0 {
    %0 = tv.seed : tensor<4xf32>
    tv.send %0 to 1 : tensor<4xf32>
    %1 = tv.receive from 1 : tensor<4xf32>
    tv.send %1 to 1 : tensor<4xf32>
    %2 = tv.receive from 1 : tensor<8xf32>
  }
  tv.program 1 {
    %0 = tv.receive from 0 : tensor<4xf32>
    tv.send %0 to 0 : tensor<4xf32>
    %1 = tv.receive from 0 : tensor<4xf32>
    %2 = tv.seed : tensor<8xf32>
    tv.send %2 to 0 : tensor<8xf32>
  }
}

// -----

// Both send first.

tv.plan @plan <dp = 1, device = 2, mb = 1> {
  tv.program 0 {
    %0 = tv.seed : tensor<4xf32>
    // expected-error @below {{on device 0 waits for device 1 to receive: 2 devices wait for each other}}
    tv.send %0 to 1 : tensor<4xf32>
    %1 = tv.receive from 1 : tensor<4xf32>
  }
  tv.program 1 {
    %0 = tv.seed : tensor<4xf32>
    // expected-note @below {{device 1 is here and waits for device 0 to receive}}
    tv.send %0 to 0 : tensor<4xf32>
    %1 = tv.receive from 0 : tensor<4xf32>
  }
}

// -----

// Both receive first; a third device waits for one of them and is no part of it.

tv.plan @plan <dp = 1, device = 3, mb = 1> {
  tv.program 0 {
    %0 = tv.receive from 1 : tensor<4xf32>
    tv.send %0 to 1 : tensor<4xf32>
  }
  tv.program 1 {
    // expected-error @below {{on device 1 waits for device 2 to send: 2 devices wait for each other}}
    %0 = tv.receive from 2 : tensor<4xf32>
    tv.send %0 to 2 : tensor<4xf32>
    tv.send %0 to 0 : tensor<4xf32>
    %1 = tv.receive from 0 : tensor<4xf32>
  }
  tv.program 2 {
    // expected-note @below {{device 2 is here and waits for device 1 to send}}
    %0 = tv.receive from 1 : tensor<4xf32>
    tv.send %0 to 1 : tensor<4xf32>
  }
}

// -----

// A ring in which all send first.

tv.plan @plan <dp = 1, device = 3, mb = 1> {
  tv.program 0 {
    %0 = tv.seed : tensor<4xf32>
    // expected-error @below {{on device 0 waits for device 1 to receive: 3 devices wait for each other}}
    tv.send %0 to 1 : tensor<4xf32>
    %1 = tv.receive from 2 : tensor<4xf32>
  }
  tv.program 1 {
    %0 = tv.seed : tensor<4xf32>
    // expected-note @below {{device 1 is here and waits for device 2 to receive}}
    tv.send %0 to 2 : tensor<4xf32>
    %1 = tv.receive from 0 : tensor<4xf32>
  }
  tv.program 2 {
    %0 = tv.seed : tensor<4xf32>
    // expected-note @below {{device 2 is here and waits for device 0 to receive}}
    tv.send %0 to 0 : tensor<4xf32>
    %1 = tv.receive from 1 : tensor<4xf32>
  }
}

// -----

// One of the ring receives first.

tv.plan @plan <dp = 1, device = 3, mb = 1> {
  tv.program 0 {
    %0 = tv.seed : tensor<4xf32>
    tv.send %0 to 1 : tensor<4xf32>
    %1 = tv.receive from 2 : tensor<4xf32>
  }
  tv.program 1 {
    %0 = tv.seed : tensor<4xf32>
    %1 = tv.receive from 0 : tensor<4xf32>
    tv.send %0 to 2 : tensor<4xf32>
  }
  tv.program 2 {
    %0 = tv.seed : tensor<4xf32>
    tv.send %0 to 0 : tensor<4xf32>
    %1 = tv.receive from 1 : tensor<4xf32>
  }
}

// -----

// To the wrong peer.

tv.plan @plan <dp = 1, device = 3, mb = 1> {
  tv.program 0 {
    %0 = tv.seed : tensor<4xf32>
    // expected-error @below {{to device 2 is never received}}
    // expected-note @below {{device 2 has run to its end without taking part}}
    tv.send %0 to 2 : tensor<4xf32>
  }
  tv.program 1 {
    %0 = tv.receive from 0 : tensor<4xf32>
  }
  tv.program 2 {
    %0 = tv.seed : tensor<4xf32>
  }
}

// -----

// From the wrong peer, which has no program.

tv.plan @plan <dp = 1, device = 3, mb = 1> {
  tv.program 0 {
    // expected-error @below {{on device 0 waits for device 2, which sends nothing more}}
    // expected-note @below {{device 2 has no program}}
    %0 = tv.receive from 2 : tensor<4xf32>
  }
  tv.program 1 {
    %0 = tv.seed : tensor<4xf32>
    tv.send %0 to 0 : tensor<4xf32>
  }
}

// -----

// Another shape, and another element type.

tv.plan @plan <dp = 1, device = 2, mb = 1> {
  tv.program 0 {
    %0 = tv.seed : tensor<4xf32>
    // expected-note @below {{sent here}}
    tv.send %0 to 1 : tensor<4xf32>
  }
  tv.program 1 {
    // expected-error @below {{expects 'tensor<2x2xf32>', device 0 sends 'tensor<4xf32>'}}
    %0 = tv.receive from 0 : tensor<2x2xf32>
  }
}

// -----

tv.plan @plan <dp = 1, device = 2, mb = 1> {
  tv.program 0 {
    %0 = tv.seed : tensor<4xbf16>
    // expected-note @below {{sent here}}
    tv.send %0 to 1 : tensor<4xbf16>
  }
  tv.program 1 {
    // expected-error @below {{expects 'tensor<4xf32>', device 0 sends 'tensor<4xbf16>'}}
    %0 = tv.receive from 0 : tensor<4xf32>
  }
}

// -----

// In a segment: what waits is the op inside, in a micro-batch.

tv.plan @plan <dp = 2, device = 2, mb = 2> {
  tv.segment @out on 0 cell 2 {
  ^bb0(%x: tensor<4xf32>):
    // expected-error @below {{on device 0 waits for device 1 to receive, in micro-batch 1: 2 devices wait for each other}}
    tv.send %x to 1 : tensor<4xf32>
  }
  tv.segment @in on 1 cell 2 {
    %0 = tv.receive from 0 : tensor<4xf32>
    tv.return %0 : tensor<4xf32>
  }
  tv.segment @back on 1 cell 3 backward {
  ^bb0(%x: tensor<4xf32>):
    // expected-note @below {{device 1 is here and waits for device 0 to receive, in micro-batch 0}}
    tv.send %x to 0 : tensor<4xf32>
  }
  tv.segment @home on 0 cell 3 backward {
    %0 = tv.receive from 1 : tensor<4xf32>
    tv.return %0 : tensor<4xf32>
  }
  tv.program 0 {
    %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    tv.call @out(%0) instance 0 mirror 10 : (tensor<4xf32>) -> ()
    %1 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    tv.call @out(%1) instance 1 mirror 11 : (tensor<4xf32>) -> ()
    %2 = tv.call @home() instance 10 mirror 0 : () -> tensor<4xf32>
    %3 = tv.call @home() instance 11 mirror 1 : () -> tensor<4xf32>
  }
  tv.program 1 {
    %0 = tv.call @in() instance 0 mirror 10 : () -> tensor<4xf32>
    tv.call @back(%0) instance 10 mirror 0 : (tensor<4xf32>) -> ()
    %1 = tv.call @in() instance 1 mirror 11 : () -> tensor<4xf32>
    tv.call @back(%1) instance 11 mirror 1 : (tensor<4xf32>) -> ()
  }
}
