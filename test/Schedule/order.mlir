// RUN: verify-opt %s --tv-check-schedule -verify-diagnostics -split-input-file -o /dev/null
// RUN: sed '/^.. -----$/,$d' %s | verify-opt --tv-check-schedule | FileCheck %s
// CHECK: tv.live_activations = array<i64: 2>
// CHECK-SAME: peak_live_activations = 2 : i64, peak_live_values = 4 : i64

// Two micro-batches, the backward of the first after the forward of both, the second
// one in two parts: what is saved is kept until the last of them.

tv.plan @plan <dp = 2, device = 1, mb = 2> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.segment @forward on 0 cell 2 {
  ^bb0(%x: tensor<4xf32>):
    %w = tv.read @w : tensor<4xf32>
    %0 = tv.multiply %x, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    tv.save 7 from %x, %w to %0 : tensor<4xf32>, tensor<4xf32> to tensor<4xf32>
    tv.return %0 : tensor<4xf32>
  }
  tv.segment @backward on 0 cell 3 backward {
    %0 = tv.seed : tensor<4xf32>
    %1 = tv.backward %0 of 7 {outputs = array<i64: 0>, wrt = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
    tv.return %1 : tensor<4xf32>
  }
  tv.segment @weights on 0 cell 4 backward {
    %0 = tv.seed : tensor<4xf32>
    %1 = tv.backward %0 of 7 {outputs = array<i64: 0>, wrt = array<i64: 1>} : (tensor<4xf32>) -> tensor<4xf32>
    tv.add_to %1, @g : tensor<4xf32>
  }
  tv.program 0 {
    %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    %1 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    %2 = tv.call @forward(%0) instance 0 mirror 10 : (tensor<4xf32>) -> tensor<4xf32>
    %3 = tv.call @forward(%1) instance 1 mirror 11 : (tensor<4xf32>) -> tensor<4xf32>
    %4 = tv.call @backward() instance 10 mirror 0 : () -> tensor<4xf32>
    %5 = tv.call @backward() instance 11 mirror 1 : () -> tensor<4xf32>
    tv.call @weights() instance 21 mirror 1 : () -> ()
    tv.call @weights() instance 20 mirror 0 : () -> ()
    %6 = tv.read @g : tensor<4xf32>
    %7 = tv.communicate all_reduce %6 group [0] replicas : (tensor<4xf32>) -> tensor<4xf32>
    tv.write %7, @g : tensor<4xf32>
  }
}

// -----

// A backward before its forward.

tv.plan @plan <dp = 2, device = 1, mb = 2> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.segment @forward on 0 cell 2 {
  ^bb0(%x: tensor<4xf32>):
    %w = tv.read @w : tensor<4xf32>
    %0 = tv.multiply %x, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    tv.save 7 from %x, %w to %0 : tensor<4xf32>, tensor<4xf32> to tensor<4xf32>
    tv.return %0 : tensor<4xf32>
  }
  tv.segment @backward on 0 cell 3 backward {
    %0 = tv.seed : tensor<4xf32>
    %1 = tv.backward %0 of 7 {outputs = array<i64: 0>, wrt = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
    tv.return %1 : tensor<4xf32>
  }
  tv.segment @weights on 0 cell 4 backward {
    %0 = tv.seed : tensor<4xf32>
    %1 = tv.backward %0 of 7 {outputs = array<i64: 0>, wrt = array<i64: 1>} : (tensor<4xf32>) -> tensor<4xf32>
    tv.add_to %1, @g : tensor<4xf32>
  }
  tv.program 0 {
    %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    %1 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    %2 = tv.call @forward(%0) instance 0 mirror 10 : (tensor<4xf32>) -> tensor<4xf32>
    %4 = tv.call @backward() instance 10 mirror 0 : () -> tensor<4xf32>
    // expected-error @below {{on device 0 runs backward execution 11 before its forward execution 1}}
    %5 = tv.call @backward() instance 11 mirror 1 : () -> tensor<4xf32>
    // expected-note @below {{execution 1 is here}}
    %3 = tv.call @forward(%1) instance 1 mirror 11 : (tensor<4xf32>) -> tensor<4xf32>
    tv.call @weights() instance 21 mirror 1 : () -> ()
    tv.call @weights() instance 20 mirror 0 : () -> ()
    %6 = tv.read @g : tensor<4xf32>
    %7 = tv.communicate all_reduce %6 group [0] replicas : (tensor<4xf32>) -> tensor<4xf32>
    tv.write %7, @g : tensor<4xf32>
  }
}

// -----

// A backward of an execution that there is not.

tv.plan @plan <dp = 2, device = 1, mb = 2> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.segment @forward on 0 cell 2 {
  ^bb0(%x: tensor<4xf32>):
    %w = tv.read @w : tensor<4xf32>
    %0 = tv.multiply %x, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    tv.save 7 from %x, %w to %0 : tensor<4xf32>, tensor<4xf32> to tensor<4xf32>
    tv.return %0 : tensor<4xf32>
  }
  tv.segment @backward on 0 cell 3 backward {
    %0 = tv.seed : tensor<4xf32>
    %1 = tv.backward %0 of 7 {outputs = array<i64: 0>, wrt = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
    tv.return %1 : tensor<4xf32>
  }
  tv.segment @weights on 0 cell 4 backward {
    %0 = tv.seed : tensor<4xf32>
    %1 = tv.backward %0 of 7 {outputs = array<i64: 0>, wrt = array<i64: 1>} : (tensor<4xf32>) -> tensor<4xf32>
    tv.add_to %1, @g : tensor<4xf32>
  }
  tv.program 0 {
    %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    %1 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    %2 = tv.call @forward(%0) instance 0 mirror 10 : (tensor<4xf32>) -> tensor<4xf32>
    %3 = tv.call @forward(%1) instance 1 mirror 11 : (tensor<4xf32>) -> tensor<4xf32>
    %4 = tv.call @backward() instance 10 mirror 0 : () -> tensor<4xf32>
    // expected-error @below {{on device 0 runs backward execution 11 without its forward execution 5}}
    %5 = tv.call @backward() instance 11 mirror 5 : () -> tensor<4xf32>
    tv.call @weights() instance 21 mirror 1 : () -> ()
    tv.call @weights() instance 20 mirror 0 : () -> ()
    %6 = tv.read @g : tensor<4xf32>
    %7 = tv.communicate all_reduce %6 group [0] replicas : (tensor<4xf32>) -> tensor<4xf32>
    tv.write %7, @g : tensor<4xf32>
  }
}

// -----

// A backward that does not say of what.

tv.plan @plan <dp = 2, device = 1, mb = 2> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.segment @forward on 0 cell 2 {
  ^bb0(%x: tensor<4xf32>):
    %w = tv.read @w : tensor<4xf32>
    %0 = tv.multiply %x, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    tv.save 7 from %x, %w to %0 : tensor<4xf32>, tensor<4xf32> to tensor<4xf32>
    tv.return %0 : tensor<4xf32>
  }
  tv.segment @backward on 0 cell 3 backward {
    %0 = tv.seed : tensor<4xf32>
    %1 = tv.backward %0 of 7 {outputs = array<i64: 0>, wrt = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
    tv.return %1 : tensor<4xf32>
  }
  tv.segment @weights on 0 cell 4 backward {
    %0 = tv.seed : tensor<4xf32>
    %1 = tv.backward %0 of 7 {outputs = array<i64: 0>, wrt = array<i64: 1>} : (tensor<4xf32>) -> tensor<4xf32>
    tv.add_to %1, @g : tensor<4xf32>
  }
  tv.program 0 {
    %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    %1 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    %2 = tv.call @forward(%0) instance 0 mirror 10 : (tensor<4xf32>) -> tensor<4xf32>
    %3 = tv.call @forward(%1) instance 1 mirror 11 : (tensor<4xf32>) -> tensor<4xf32>
    %4 = tv.call @backward() instance 10 mirror 0 : () -> tensor<4xf32>
    // expected-error @below {{takes derivatives and mirrors no execution}}
    %5 = tv.call @backward() instance 11 : () -> tensor<4xf32>
    tv.call @weights() instance 21 mirror 1 : () -> ()
    tv.call @weights() instance 20 mirror 0 : () -> ()
    %6 = tv.read @g : tensor<4xf32>
    %7 = tv.communicate all_reduce %6 group [0] replicas : (tensor<4xf32>) -> tensor<4xf32>
    tv.write %7, @g : tensor<4xf32>
  }
}

// -----

// One micro-batch has a backward twice, and the other none.

tv.plan @plan <dp = 2, device = 1, mb = 2> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.segment @forward on 0 cell 2 {
  ^bb0(%x: tensor<4xf32>):
    %w = tv.read @w : tensor<4xf32>
    %0 = tv.multiply %x, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    tv.save 7 from %x, %w to %0 : tensor<4xf32>, tensor<4xf32> to tensor<4xf32>
    tv.return %0 : tensor<4xf32>
  }
  tv.segment @backward on 0 cell 3 backward {
    %0 = tv.seed : tensor<4xf32>
    %1 = tv.backward %0 of 7 {outputs = array<i64: 0>, wrt = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
    tv.return %1 : tensor<4xf32>
  }
  tv.segment @weights on 0 cell 4 backward {
    %0 = tv.seed : tensor<4xf32>
    %1 = tv.backward %0 of 7 {outputs = array<i64: 0>, wrt = array<i64: 1>} : (tensor<4xf32>) -> tensor<4xf32>
    tv.add_to %1, @g : tensor<4xf32>
  }
  tv.program 0 {
    %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    %1 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    // expected-note @below {{execution 0 is here}}
    %2 = tv.call @forward(%0) instance 0 mirror 10 : (tensor<4xf32>) -> tensor<4xf32>
    %3 = tv.call @forward(%1) instance 1 mirror 11 : (tensor<4xf32>) -> tensor<4xf32>
    // expected-note @below {{the first time is here}}
    %4 = tv.call @backward() instance 10 mirror 0 : () -> tensor<4xf32>
    // expected-error @below {{on device 0 runs the backward of execution 0 a second time}}
    %5 = tv.call @backward() instance 11 mirror 0 : () -> tensor<4xf32>
    tv.call @weights() instance 21 mirror 1 : () -> ()
    tv.call @weights() instance 20 mirror 0 : () -> ()
    %6 = tv.read @g : tensor<4xf32>
    %7 = tv.communicate all_reduce %6 group [0] replicas : (tensor<4xf32>) -> tensor<4xf32>
    tv.write %7, @g : tensor<4xf32>
  }
}

// -----

// A micro-batch is forgotten by its backward, in both parts.

tv.plan @plan <dp = 2, device = 1, mb = 2> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.segment @forward on 0 cell 2 {
  ^bb0(%x: tensor<4xf32>):
    %w = tv.read @w : tensor<4xf32>
    %0 = tv.multiply %x, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    tv.save 7 from %x, %w to %0 : tensor<4xf32>, tensor<4xf32> to tensor<4xf32>
    tv.return %0 : tensor<4xf32>
  }
  tv.segment @backward on 0 cell 3 backward {
    %0 = tv.seed : tensor<4xf32>
    %1 = tv.backward %0 of 7 {outputs = array<i64: 0>, wrt = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
    tv.return %1 : tensor<4xf32>
  }
  tv.segment @weights on 0 cell 4 backward {
    %0 = tv.seed : tensor<4xf32>
    %1 = tv.backward %0 of 7 {outputs = array<i64: 0>, wrt = array<i64: 1>} : (tensor<4xf32>) -> tensor<4xf32>
    tv.add_to %1, @g : tensor<4xf32>
  }
  tv.program 0 {
    %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    %1 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    %2 = tv.call @forward(%0) instance 0 mirror 10 : (tensor<4xf32>) -> tensor<4xf32>
    // expected-error @below {{on device 0 runs execution 1, whose backward never runs}}
    %3 = tv.call @forward(%1) instance 1 mirror 11 : (tensor<4xf32>) -> tensor<4xf32>
    %4 = tv.call @backward() instance 10 mirror 0 : () -> tensor<4xf32>
    tv.call @weights() instance 20 mirror 0 : () -> ()
    %6 = tv.read @g : tensor<4xf32>
    %7 = tv.communicate all_reduce %6 group [0] replicas : (tensor<4xf32>) -> tensor<4xf32>
    tv.write %7, @g : tensor<4xf32>
  }
}

// -----

// A stage is executed twice under one number.

tv.plan @plan <dp = 2, device = 1, mb = 2> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.segment @forward on 0 cell 2 {
  ^bb0(%x: tensor<4xf32>):
    %w = tv.read @w : tensor<4xf32>
    %0 = tv.multiply %x, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    tv.save 7 from %x, %w to %0 : tensor<4xf32>, tensor<4xf32> to tensor<4xf32>
    tv.return %0 : tensor<4xf32>
  }
  tv.segment @backward on 0 cell 3 backward {
    %0 = tv.seed : tensor<4xf32>
    %1 = tv.backward %0 of 7 {outputs = array<i64: 0>, wrt = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
    tv.return %1 : tensor<4xf32>
  }
  tv.segment @weights on 0 cell 4 backward {
    %0 = tv.seed : tensor<4xf32>
    %1 = tv.backward %0 of 7 {outputs = array<i64: 0>, wrt = array<i64: 1>} : (tensor<4xf32>) -> tensor<4xf32>
    tv.add_to %1, @g : tensor<4xf32>
  }
  tv.program 0 {
    %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    %1 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    // expected-note @below {{the first time is here}}
    %2 = tv.call @forward(%0) instance 0 mirror 10 : (tensor<4xf32>) -> tensor<4xf32>
    // expected-error @below {{on device 0 runs execution 0 a second time}}
    %3 = tv.call @forward(%1) instance 0 mirror 10 : (tensor<4xf32>) -> tensor<4xf32>
    %4 = tv.call @backward() instance 10 mirror 0 : () -> tensor<4xf32>
    %5 = tv.call @backward() instance 11 mirror 1 : () -> tensor<4xf32>
    tv.call @weights() instance 21 mirror 1 : () -> ()
    tv.call @weights() instance 20 mirror 0 : () -> ()
    %6 = tv.read @g : tensor<4xf32>
    %7 = tv.communicate all_reduce %6 group [0] replicas : (tensor<4xf32>) -> tensor<4xf32>
    tv.write %7, @g : tensor<4xf32>
  }
}

// -----

// The last micro-batch is added after the reduction.

tv.plan @plan <dp = 2, device = 1, mb = 2> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.segment @forward on 0 cell 2 {
  ^bb0(%x: tensor<4xf32>):
    %w = tv.read @w : tensor<4xf32>
    %0 = tv.multiply %x, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    tv.save 7 from %x, %w to %0 : tensor<4xf32>, tensor<4xf32> to tensor<4xf32>
    tv.return %0 : tensor<4xf32>
  }
  tv.segment @backward on 0 cell 3 backward {
    %0 = tv.seed : tensor<4xf32>
    %1 = tv.backward %0 of 7 {outputs = array<i64: 0>, wrt = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
    tv.return %1 : tensor<4xf32>
  }
  tv.segment @weights on 0 cell 4 backward {
    %0 = tv.seed : tensor<4xf32>
    %1 = tv.backward %0 of 7 {outputs = array<i64: 0>, wrt = array<i64: 1>} : (tensor<4xf32>) -> tensor<4xf32>
    // expected-note @below {{this is added to it later}}
    tv.add_to %1, @g : tensor<4xf32>
  }
  tv.program 0 {
    %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    %1 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    %2 = tv.call @forward(%0) instance 0 mirror 10 : (tensor<4xf32>) -> tensor<4xf32>
    %3 = tv.call @forward(%1) instance 1 mirror 11 : (tensor<4xf32>) -> tensor<4xf32>
    %4 = tv.call @backward() instance 10 mirror 0 : () -> tensor<4xf32>
    %5 = tv.call @backward() instance 11 mirror 1 : () -> tensor<4xf32>
    tv.call @weights() instance 21 mirror 1 : () -> ()
    // expected-error @below {{on device 0 reads gradient 'w' for its reducer before it is complete}}
    %6 = tv.read @g : tensor<4xf32>
    %7 = tv.communicate all_reduce %6 group [0] replicas : (tensor<4xf32>) -> tensor<4xf32>
    tv.write %7, @g : tensor<4xf32>
    // expected-note @below {{by execution 20}}
    tv.call @weights() instance 20 mirror 0 : () -> ()
  }
}

// -----

// Between the read and the reduction.

tv.plan @plan <dp = 2, device = 1, mb = 2> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.segment @forward on 0 cell 2 {
  ^bb0(%x: tensor<4xf32>):
    %w = tv.read @w : tensor<4xf32>
    %0 = tv.multiply %x, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    tv.save 7 from %x, %w to %0 : tensor<4xf32>, tensor<4xf32> to tensor<4xf32>
    tv.return %0 : tensor<4xf32>
  }
  tv.segment @backward on 0 cell 3 backward {
    %0 = tv.seed : tensor<4xf32>
    %1 = tv.backward %0 of 7 {outputs = array<i64: 0>, wrt = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
    tv.return %1 : tensor<4xf32>
  }
  tv.segment @weights on 0 cell 4 backward {
    %0 = tv.seed : tensor<4xf32>
    %1 = tv.backward %0 of 7 {outputs = array<i64: 0>, wrt = array<i64: 1>} : (tensor<4xf32>) -> tensor<4xf32>
    // expected-note @below {{this is added to it later}}
    tv.add_to %1, @g : tensor<4xf32>
  }
  tv.program 0 {
    %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    %1 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    %2 = tv.call @forward(%0) instance 0 mirror 10 : (tensor<4xf32>) -> tensor<4xf32>
    %3 = tv.call @forward(%1) instance 1 mirror 11 : (tensor<4xf32>) -> tensor<4xf32>
    %4 = tv.call @backward() instance 10 mirror 0 : () -> tensor<4xf32>
    %5 = tv.call @backward() instance 11 mirror 1 : () -> tensor<4xf32>
    tv.call @weights() instance 21 mirror 1 : () -> ()
    // expected-error @below {{on device 0 reads gradient 'w' for its reducer before it is complete}}
    %6 = tv.read @g : tensor<4xf32>
    // expected-note @below {{by execution 20}}
    tv.call @weights() instance 20 mirror 0 : () -> ()
    %7 = tv.communicate all_reduce %6 group [0] replicas : (tensor<4xf32>) -> tensor<4xf32>
    tv.write %7, @g : tensor<4xf32>
  }
}

// -----

// Reduced, reset, and accumulated again; and a reducer of one device: nothing is lost.

tv.plan @plan <dp = 2, device = 1, mb = 2> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.segment @forward on 0 cell 2 {
  ^bb0(%x: tensor<4xf32>):
    %w = tv.read @w : tensor<4xf32>
    %0 = tv.multiply %x, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    tv.save 7 from %x, %w to %0 : tensor<4xf32>, tensor<4xf32> to tensor<4xf32>
    tv.return %0 : tensor<4xf32>
  }
  tv.segment @backward on 0 cell 3 backward {
    %0 = tv.seed : tensor<4xf32>
    %1 = tv.backward %0 of 7 {outputs = array<i64: 0>, wrt = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
    tv.return %1 : tensor<4xf32>
  }
  tv.segment @weights on 0 cell 4 backward {
    %0 = tv.seed : tensor<4xf32>
    %1 = tv.backward %0 of 7 {outputs = array<i64: 0>, wrt = array<i64: 1>} : (tensor<4xf32>) -> tensor<4xf32>
    tv.add_to %1, @g : tensor<4xf32>
  }
  tv.program 0 {
    %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    %1 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    %2 = tv.call @forward(%0) instance 0 mirror 10 : (tensor<4xf32>) -> tensor<4xf32>
    %3 = tv.call @forward(%1) instance 1 mirror 11 : (tensor<4xf32>) -> tensor<4xf32>
    %4 = tv.call @backward() instance 10 mirror 0 : () -> tensor<4xf32>
    %5 = tv.call @backward() instance 11 mirror 1 : () -> tensor<4xf32>
    tv.call @weights() instance 21 mirror 1 : () -> ()
    %6 = tv.read @g : tensor<4xf32>
    %7 = tv.communicate all_reduce %6 group [0] replicas : (tensor<4xf32>) -> tensor<4xf32>
    tv.write %7, @g : tensor<4xf32>
    tv.write %2, @g : tensor<4xf32>
    tv.call @weights() instance 20 mirror 0 : () -> ()
  }
}

// -----

// A reducer that nobody else takes part in reads nothing that could be incomplete elsewhere.

tv.plan @plan <dp = 1, device = 1, mb = 2> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.segment @forward on 0 cell 2 {
  ^bb0(%x: tensor<4xf32>):
    %w = tv.read @w : tensor<4xf32>
    %0 = tv.multiply %x, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    tv.save 7 from %x, %w to %0 : tensor<4xf32>, tensor<4xf32> to tensor<4xf32>
    tv.return %0 : tensor<4xf32>
  }
  tv.segment @backward on 0 cell 3 backward {
    %0 = tv.seed : tensor<4xf32>
    %1 = tv.backward %0 of 7 {outputs = array<i64: 0>, wrt = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
    tv.return %1 : tensor<4xf32>
  }
  tv.segment @weights on 0 cell 4 backward {
    %0 = tv.seed : tensor<4xf32>
    %1 = tv.backward %0 of 7 {outputs = array<i64: 0>, wrt = array<i64: 1>} : (tensor<4xf32>) -> tensor<4xf32>
    tv.add_to %1, @g : tensor<4xf32>
  }
  tv.program 0 {
    %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    %1 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    %2 = tv.call @forward(%0) instance 0 mirror 10 : (tensor<4xf32>) -> tensor<4xf32>
    %3 = tv.call @forward(%1) instance 1 mirror 11 : (tensor<4xf32>) -> tensor<4xf32>
    %4 = tv.call @backward() instance 10 mirror 0 : () -> tensor<4xf32>
    %5 = tv.call @backward() instance 11 mirror 1 : () -> tensor<4xf32>
    tv.call @weights() instance 21 mirror 1 : () -> ()
    %6 = tv.read @g : tensor<4xf32>
    %7 = tv.communicate all_reduce %6 group [0] replicas : (tensor<4xf32>) -> tensor<4xf32>
    tv.write %7, @g : tensor<4xf32>
    tv.call @weights() instance 20 mirror 0 : () -> ()
  }
}

// -----

// The tensors of one micro-batch twice, and those of the other never.

tv.plan @plan <dp = 2, device = 1, mb = 2> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.segment @forward on 0 cell 2 {
  ^bb0(%x: tensor<4xf32>):
    %w = tv.read @w : tensor<4xf32>
    %0 = tv.multiply %x, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    tv.save 7 from %x, %w to %0 : tensor<4xf32>, tensor<4xf32> to tensor<4xf32>
    tv.return %0 : tensor<4xf32>
  }
  tv.segment @backward on 0 cell 3 backward {
    %0 = tv.seed : tensor<4xf32>
    %1 = tv.backward %0 of 7 {outputs = array<i64: 0>, wrt = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
    tv.return %1 : tensor<4xf32>
  }
  tv.segment @weights on 0 cell 4 backward {
    %0 = tv.seed : tensor<4xf32>
    %1 = tv.backward %0 of 7 {outputs = array<i64: 0>, wrt = array<i64: 1>} : (tensor<4xf32>) -> tensor<4xf32>
    tv.add_to %1, @g : tensor<4xf32>
  }
  tv.program 0 {
    %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    %1 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    // expected-note @below {{execution 0 is here}}
    %2 = tv.call @forward(%0) instance 0 mirror 10 : (tensor<4xf32>) -> tensor<4xf32>
    // expected-error @below {{on device 0 runs execution 1 on the tensors of execution 0}}
    %3 = tv.call @forward(%0) instance 1 mirror 11 : (tensor<4xf32>) -> tensor<4xf32>
    %4 = tv.call @backward() instance 10 mirror 0 : () -> tensor<4xf32>
    %5 = tv.call @backward() instance 11 mirror 1 : () -> tensor<4xf32>
    tv.call @weights() instance 21 mirror 1 : () -> ()
    tv.call @weights() instance 20 mirror 0 : () -> ()
    %6 = tv.read @g : tensor<4xf32>
    %7 = tv.communicate all_reduce %6 group [0] replicas : (tensor<4xf32>) -> tensor<4xf32>
    tv.write %7, @g : tensor<4xf32>
  }
}
