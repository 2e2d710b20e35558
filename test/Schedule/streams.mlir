// RUN: verify-opt %s --tv-check-schedule=checks=progress -verify-diagnostics -split-input-file -o /dev/null
// RUN: sed '/^.. -----$/,$d' %s | verify-opt --tv-check-schedule | FileCheck %s
// CHECK: tv.assumptions = ["computations that were started run on streams of their own, whatever else the device does"]

// A computation on a stream of its own, and its event.

tv.plan @plan <dp = 2, device = 1, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    %s = tv.seed : tensor<4xf32>
    %h = tv.start into @g { %1 = tv.exp %s : (tensor<4xf32>) -> tensor<4xf32> }
    %2 = tv.exp %s : (tensor<4xf32>) -> tensor<4xf32>
    tv.wait %h
    %0 = tv.read @g : tensor<4xf32>
    %3 = tv.communicate all_reduce %0 group [0] replicas : (tensor<4xf32>) -> tensor<4xf32>
    tv.write %3, @g : tensor<4xf32>
  }
}

// -----

// The program reads what it computes, and does not wait for the event.

tv.plan @plan <dp = 2, device = 1, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    %s = tv.seed : tensor<4xf32>
    // expected-note @below {{it was started here}}
    %h = tv.start into @g { %1 = tv.exp %s : (tensor<4xf32>) -> tensor<4xf32> }
    // expected-error @below {{on device 0 reads 'w' while another stream writes to it}}
    %0 = tv.read @g : tensor<4xf32>
    // expected-note @below {{and is waited for here, which has to come before}}
    tv.wait %h
  }
}

// -----

// A stream reads what the program writes to.

tv.plan @plan <dp = 2, device = 1, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    %s = tv.seed : tensor<4xf32>
    %0 = tv.read @g : tensor<4xf32>
    // expected-note @below {{it was started here}}
    %h = tv.start { %1 = tv.exp %0 : (tensor<4xf32>) -> tensor<4xf32> }
    // expected-error @below {{on device 0 writes to 'w' while another stream reads it}}
    tv.add_to %s, @g : tensor<4xf32>
    // expected-note @below {{and is waited for here, which has to come before}}
    %2 = tv.wait %h : tensor<4xf32>
  }
}

// -----

// Two streams may read one buffer.

tv.plan @plan <dp = 2, device = 1, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    %s = tv.seed : tensor<4xf32>
    %0 = tv.read @g : tensor<4xf32>
    %h = tv.start { %1 = tv.exp %0 : (tensor<4xf32>) -> tensor<4xf32> }
    %i = tv.start { %1 = tv.negate %0 : (tensor<4xf32>) -> tensor<4xf32> }
    %2 = tv.wait %h : tensor<4xf32>
    %3 = tv.wait %i : tensor<4xf32>
    tv.add_to %s, @g : tensor<4xf32>
  }
}

// -----

// One reads and the other writes.

tv.plan @plan <dp = 2, device = 1, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    %s = tv.seed : tensor<4xf32>
    %0 = tv.read @g : tensor<4xf32>
    // expected-note @below {{it was started here}}
    %h = tv.start { %1 = tv.exp %0 : (tensor<4xf32>) -> tensor<4xf32> }
    // expected-note @+2 {{or this has to come after it, by its handle or on its stream}}
    // expected-error @below {{on device 0 writes to 'w' while another stream reads it}}
    %i = tv.start into @g { %1 = tv.negate %s : (tensor<4xf32>) -> tensor<4xf32> }
    // expected-note @below {{and is waited for here, which has to come before}}
    %2 = tv.wait %h : tensor<4xf32>
    tv.wait %i
  }
}

// -----

// A computation while communication writes to what it reads.

tv.plan @plan <dp = 2, device = 1, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    %s = tv.seed : tensor<4xf32>
    %0 = tv.read @g : tensor<4xf32>
    // expected-note @below {{it was started here}}
    %h = tv.start into @g { %1 = tv.communicate all_reduce %0 group [0] replicas : (tensor<4xf32>) -> tensor<4xf32> }
    // expected-note @+2 {{or this has to come after it, by its handle or on its stream}}
    // expected-error @below {{on device 0 reads 'w' while communication writes to it}}
    %i = tv.start { %1 = tv.exp %0 : (tensor<4xf32>) -> tensor<4xf32> }
    // expected-note @below {{and is waited for here, which has to come before}}
    tv.wait %h
    %2 = tv.wait %i : tensor<4xf32>
  }
}

// -----

// What a stream makes of a view is one.

tv.plan @plan <dp = 2, device = 1, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    %s = tv.seed : tensor<4xf32>
    %0 = tv.read @g : tensor<4xf32>
    %h = tv.start { %1 = tv.reshape %0 : (tensor<4xf32>) -> tensor<2x2xf32> }
    %2 = tv.wait %h : tensor<2x2xf32>
    // expected-note @below {{it was started here}}
    %i = tv.start into @g { %1 = tv.exp %s : (tensor<4xf32>) -> tensor<4xf32> }
    // expected-error @below {{on device 0 reads 'w' while another stream writes to it}}
    %3 = tv.exp %2 : (tensor<2x2xf32>) -> tensor<2x2xf32>
    // expected-note @below {{and is waited for here, which has to come before}}
    tv.wait %i
  }
}

// -----

// Nobody waits for its event.

tv.plan @plan <dp = 2, device = 1, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    %s = tv.seed : tensor<4xf32>
    // expected-error @below {{on device 0 is never waited for}}
    %h = tv.start { %1 = tv.exp %s : (tensor<4xf32>) -> tensor<4xf32> }
  }
}
