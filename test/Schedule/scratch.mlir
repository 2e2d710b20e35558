// RUN: verify-opt %s --tv-check-schedule=checks=progress -verify-diagnostics -split-input-file -o /dev/null

// Memory that is used again and again: nothing may be read there that is gone.

tv.plan @plan <dp = 1, device = 2, mb = 2> {
  tv.scratch @slot on 0 "slot" : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    %s = tv.seed : tensor<4xf32>
    tv.write %s, @slot : tensor<4xf32>
    %0 = tv.read @slot : tensor<4xf32>
    %1 = tv.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
    tv.write %1, @slot : tensor<4xf32>
    %2 = tv.read @slot : tensor<4xf32>
    %3 = tv.exp %2 : (tensor<4xf32>) -> tensor<4xf32>
    tv.free @slot
    tv.write %s, @slot : tensor<4xf32>
    %4 = tv.read @slot : tensor<4xf32>
  }
}

// -----

// Nothing was written.

tv.plan @plan <dp = 1, device = 2, mb = 2> {
  tv.scratch @slot on 0 "slot" : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    %s = tv.seed : tensor<4xf32>
    // expected-error @below {{on device 0 reads 'slot', which holds nothing}}
    %0 = tv.read @slot : tensor<4xf32>
  }
}

// -----

// It was freed.

tv.plan @plan <dp = 1, device = 2, mb = 2> {
  tv.scratch @slot on 0 "slot" : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    %s = tv.seed : tensor<4xf32>
    tv.write %s, @slot : tensor<4xf32>
    // expected-note @below {{it was freed here}}
    tv.free @slot
    // expected-error @below {{on device 0 reads 'slot', which holds nothing}}
    %0 = tv.read @slot : tensor<4xf32>
  }
}

// -----

// What was read before is gone.

tv.plan @plan <dp = 1, device = 2, mb = 2> {
  tv.scratch @slot on 0 "slot" : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    %s = tv.seed : tensor<4xf32>
    tv.write %s, @slot : tensor<4xf32>
    // expected-note @below {{it was read here}}
    %0 = tv.read @slot : tensor<4xf32>
    // expected-note @below {{and freed here}}
    tv.free @slot
    // expected-error @below {{on device 0 reads 'slot' through a tensor that was read before it was freed}}
    %1 = tv.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
  }
}

// -----

// A part of it is gone, too.

tv.plan @plan <dp = 1, device = 2, mb = 2> {
  tv.scratch @slot on 0 "slot" : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    %s = tv.seed : tensor<4xf32>
    tv.write %s, @slot : tensor<4xf32>
    // expected-note @below {{it was read here}}
    %0 = tv.read @slot : tensor<4xf32>
    %1 = tv.reshape %0 : (tensor<4xf32>) -> tensor<2x2xf32>
    // expected-note @below {{and overwritten here}}
    tv.write %s, @slot : tensor<4xf32>
    // expected-error @below {{on device 0 reads 'slot' through a tensor that was read before it was overwritten}}
    %2 = tv.exp %1 : (tensor<2x2xf32>) -> tensor<2x2xf32>
  }
}

// -----

// What is sent is under way.

tv.plan @plan <dp = 1, device = 2, mb = 2> {
  tv.scratch @slot on 0 "slot" : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    %s = tv.seed : tensor<4xf32>
    tv.write %s, @slot : tensor<4xf32>
    %0 = tv.read @slot : tensor<4xf32>
    // expected-note @below {{it was started here}}
    %h = tv.start { tv.send %0 to 1 : tensor<4xf32> }
    // expected-error @below {{on device 0 writes to 'slot' while communication reads it}}
    tv.free @slot
    // expected-note @below {{and is waited for here, which has to come before}}
    tv.wait %h
  }
}

// -----

// What is received is under way.

tv.plan @plan <dp = 1, device = 2, mb = 2> {
  tv.scratch @slot on 0 "slot" : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    %s = tv.seed : tensor<4xf32>
    // expected-note @below {{it was started here}}
    %h = tv.start into @slot { %r = tv.receive from 1 : tensor<4xf32> }
    // expected-error @below {{on device 0 reads 'slot' while communication writes to it}}
    %0 = tv.read @slot : tensor<4xf32>
    // expected-note @below {{and is waited for here, which has to come before}}
    tv.wait %h
  }
}

// -----

// The backward of a micro-batch needs what its forward has read: the next one has overwritten it.

tv.plan @plan <dp = 1, device = 2, mb = 2> {
  tv.scratch @slot on 0 "slot" : !tv.buffer<tensor<4xf32>>
  tv.segment @forward on 0 cell 1 {
  ^bb0(%x: tensor<4xf32>):
    %0 = tv.exp %x : (tensor<4xf32>) -> tensor<4xf32>
    tv.save 7 from %x to %0 : tensor<4xf32> to tensor<4xf32>
    tv.return %0 : tensor<4xf32>
  }
  tv.segment @backward on 0 cell 2 backward {
    %d = tv.seed : tensor<4xf32>
    // expected-error @below {{on device 0 reads 'slot' through a tensor that was read before it was overwritten}}
    %dx = tv.backward %d of 7 {outputs = array<i64: 0>, wrt = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
  }
  tv.program 0 {
    %h = tv.start into @slot { %r = tv.receive from 1 : tensor<4xf32> }
    tv.wait %h
    // expected-note @below {{it was read here}}
    %0 = tv.read @slot : tensor<4xf32>
    %1 = tv.call @forward(%0) instance 1 mirror 2 : (tensor<4xf32>) -> tensor<4xf32>
    // expected-note @below {{and overwritten here}}
    %i = tv.start into @slot { %r = tv.receive from 1 : tensor<4xf32> }
    tv.wait %i
    %2 = tv.read @slot : tensor<4xf32>
    %3 = tv.call @forward(%2) instance 3 mirror 4 : (tensor<4xf32>) -> tensor<4xf32>
    // expected-note @below {{in execution 2}}
    tv.call @backward() instance 2 mirror 1 : () -> ()
    tv.call @backward() instance 4 mirror 3 : () -> ()
  }
}

// -----

// It comes before.

tv.plan @plan <dp = 1, device = 2, mb = 2> {
  tv.scratch @slot on 0 "slot" : !tv.buffer<tensor<4xf32>>
  tv.segment @forward on 0 cell 1 {
  ^bb0(%x: tensor<4xf32>):
    %0 = tv.exp %x : (tensor<4xf32>) -> tensor<4xf32>
    tv.save 7 from %x to %0 : tensor<4xf32> to tensor<4xf32>
    tv.return %0 : tensor<4xf32>
  }
  tv.segment @backward on 0 cell 2 backward {
    %d = tv.seed : tensor<4xf32>
    %dx = tv.backward %d of 7 {outputs = array<i64: 0>, wrt = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
  }
  tv.program 0 {
    %h = tv.start into @slot { %r = tv.receive from 1 : tensor<4xf32> }
    tv.wait %h
    %0 = tv.read @slot : tensor<4xf32>
    %1 = tv.call @forward(%0) instance 1 mirror 2 : (tensor<4xf32>) -> tensor<4xf32>
    tv.call @backward() instance 2 mirror 1 : () -> ()
    tv.free @slot
    %i = tv.start into @slot { %r = tv.receive from 1 : tensor<4xf32> }
    tv.wait %i
    %2 = tv.read @slot : tensor<4xf32>
    %3 = tv.call @forward(%2) instance 3 mirror 4 : (tensor<4xf32>) -> tensor<4xf32>
    tv.call @backward() instance 4 mirror 3 : () -> ()
  }
  tv.program 1 {
    %s = tv.seed : tensor<4xf32>
    tv.send %s to 0 : tensor<4xf32>
    tv.send %s to 0 : tensor<4xf32>
  }
}

// -----

// It comes while the next one arrives.

tv.plan @plan <dp = 1, device = 2, mb = 2> {
  tv.scratch @slot on 0 "slot" : !tv.buffer<tensor<4xf32>>
  tv.segment @forward on 0 cell 1 {
  ^bb0(%x: tensor<4xf32>):
    %0 = tv.exp %x : (tensor<4xf32>) -> tensor<4xf32>
    tv.save 7 from %x to %0 : tensor<4xf32> to tensor<4xf32>
    tv.return %0 : tensor<4xf32>
  }
  tv.segment @backward on 0 cell 2 backward {
    %d = tv.seed : tensor<4xf32>
    // expected-error @below {{on device 0 reads 'slot' while communication writes to it}}
    %dx = tv.backward %d of 7 {outputs = array<i64: 0>, wrt = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
  }
  tv.program 0 {
    %h = tv.start into @slot { %r = tv.receive from 1 : tensor<4xf32> }
    tv.wait %h
    %0 = tv.read @slot : tensor<4xf32>
    %1 = tv.call @forward(%0) instance 1 mirror 2 : (tensor<4xf32>) -> tensor<4xf32>
    // expected-note @below {{it was started here}}
    %i = tv.start into @slot { %r = tv.receive from 1 : tensor<4xf32> }
    // expected-note @below {{in execution 2}}
    tv.call @backward() instance 2 mirror 1 : () -> ()
    // expected-note @below {{and is waited for here, which has to come before}}
    tv.wait %i
    %2 = tv.read @slot : tensor<4xf32>
    %3 = tv.call @forward(%2) instance 3 mirror 4 : (tensor<4xf32>) -> tensor<4xf32>
    tv.call @backward() instance 4 mirror 3 : () -> ()
  }
}
