// RUN: verify-opt %s --tv-check-schedule -verify-diagnostics -split-input-file -o /dev/null

// Each transfer belongs to an execution, and an execution to the micro-batch of its
// tensors and of what it mirrors. Loaders give micro-batches in order.

tv.plan @plan <dp = 1, device = 2, mb = 2> {
  tv.segment @out on 0 cell 2 {
  ^bb0(%x: tensor<4xf32>):
    tv.send %x to 1 : tensor<4xf32>
  }
  tv.segment @in on 1 cell 2 {
    %0 = tv.receive from 0 : tensor<4xf32>
    tv.return %0 : tensor<4xf32>
  }
  tv.segment @back on 1 cell 3 backward {
  ^bb0(%x: tensor<4xf32>):
    tv.send %x to 0 : tensor<4xf32>
  }
  tv.segment @home on 0 cell 3 backward {
    %0 = tv.receive from 1 : tensor<4xf32>
    tv.return %0 : tensor<4xf32>
  }
  tv.program 0 {
    %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    %1 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    tv.call @out(%0) instance 0 mirror 10 : (tensor<4xf32>) -> ()
    tv.call @out(%1) instance 1 mirror 11 : (tensor<4xf32>) -> ()
    %2 = tv.call @home() instance 10 mirror 0 : () -> tensor<4xf32>
    %3 = tv.call @home() instance 11 mirror 1 : () -> tensor<4xf32>
  }
  tv.program 1 {
    %0 = tv.call @in() instance 0 mirror 10 : () -> tensor<4xf32>
    %1 = tv.call @in() instance 1 mirror 11 : () -> tensor<4xf32>
    tv.call @back(%0) instance 10 mirror 0 : (tensor<4xf32>) -> ()
    tv.call @back(%1) instance 11 mirror 1 : (tensor<4xf32>) -> ()
  }
}

// -----

// The gradients come back in the other order, and nothing else tells: all shapes are equal.

tv.plan @plan <dp = 1, device = 2, mb = 2> {
  tv.segment @out on 0 cell 2 {
  ^bb0(%x: tensor<4xf32>):
    tv.send %x to 1 : tensor<4xf32>
  }
  tv.segment @in on 1 cell 2 {
    %0 = tv.receive from 0 : tensor<4xf32>
    tv.return %0 : tensor<4xf32>
  }
  tv.segment @back on 1 cell 3 backward {
  ^bb0(%x: tensor<4xf32>):
    // expected-note @below {{the tensor of micro-batch 1 comes from here}}
    tv.send %x to 0 : tensor<4xf32>
  }
  tv.segment @home on 0 cell 3 backward {
    // expected-error @below {{on device 0 takes a tensor of micro-batch 1, execution 10 that it belongs to is of micro-batch 0}}
    %0 = tv.receive from 1 : tensor<4xf32>
    tv.return %0 : tensor<4xf32>
  }
  tv.program 0 {
    %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    %1 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    tv.call @out(%0) instance 0 mirror 10 : (tensor<4xf32>) -> ()
    tv.call @out(%1) instance 1 mirror 11 : (tensor<4xf32>) -> ()
    %2 = tv.call @home() instance 10 mirror 0 : () -> tensor<4xf32>
    %3 = tv.call @home() instance 11 mirror 1 : () -> tensor<4xf32>
  }
  tv.program 1 {
    %0 = tv.call @in() instance 0 mirror 10 : () -> tensor<4xf32>
    %1 = tv.call @in() instance 1 mirror 11 : () -> tensor<4xf32>
    tv.call @back(%1) instance 11 mirror 1 : (tensor<4xf32>) -> ()
    tv.call @back(%0) instance 10 mirror 0 : (tensor<4xf32>) -> ()
  }
}

// -----

// Members of a group meet in different micro-batches.

tv.plan @plan <dp = 1, device = 2, mb = 2> {
  tv.segment @forward0 on 0 cell 2 {
  ^bb0(%x: tensor<4xf32>):
    // expected-note @below {{the tensor of micro-batch 0 comes from here}}
    %0 = tv.communicate all_reduce %x group [0, 1] : (tensor<4xf32>) -> tensor<4xf32>
  }
  tv.segment @forward1 on 1 cell 2 {
  ^bb0(%x: tensor<4xf32>):
    // expected-error @below {{on device 1 takes a tensor of micro-batch 0, execution 1 that it belongs to is of micro-batch 1}}
    %0 = tv.communicate all_reduce %x group [0, 1] : (tensor<4xf32>) -> tensor<4xf32>
  }
  tv.program 0 {
    %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    tv.call @forward0(%0) instance 0 mirror 10 : (tensor<4xf32>) -> ()
    %1 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    tv.call @forward0(%1) instance 1 mirror 11 : (tensor<4xf32>) -> ()
  }
  tv.program 1 {
    %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    %1 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    tv.call @forward1(%1) instance 1 mirror 11 : (tensor<4xf32>) -> ()
    tv.call @forward1(%0) instance 0 mirror 10 : (tensor<4xf32>) -> ()
  }
}

// -----

// Without a mirror an execution may take what it likes: a sum over micro-batches.

tv.plan @plan <dp = 1, device = 2, mb = 2> {
  tv.segment @sum on 1 cell 3 {
  ^bb0(%x: tensor<4xf32>):
    %0 = tv.receive from 0 : tensor<4xf32>
    %1 = tv.add %x, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    tv.return %1 : tensor<4xf32>
  }
  tv.program 0 {
    %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    %1 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    tv.send %1 to 1 : tensor<4xf32>
  }
  tv.program 1 {
    %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    %1 = tv.call @sum(%0) instance 0 : (tensor<4xf32>) -> tensor<4xf32>
  }
}

// -----

// A gradient of one micro-batch for the values that were saved in another.

tv.plan @plan <dp = 1, device = 1, mb = 2> {
  tv.segment @forward on 0 cell 2 {
  ^bb0(%x: tensor<4xf32>):
    %0 = tv.exp %x : (tensor<4xf32>) -> tensor<4xf32>
    tv.save 7 from %x to %0 : tensor<4xf32> to tensor<4xf32>
    tv.return %0 : tensor<4xf32>
  }
  tv.segment @backward on 0 cell 3 backward {
  ^bb0(%d: tensor<4xf32>):
    %0 = tv.backward %d of 7 {outputs = array<i64: 0>, wrt = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
    tv.return %0 : tensor<4xf32>
  }
  tv.program 0 {
    %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    %1 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    %2 = tv.call @forward(%0) instance 0 mirror 10 : (tensor<4xf32>) -> tensor<4xf32>
    // expected-note @below {{execution 1 is here}}
    %3 = tv.call @forward(%1) instance 1 mirror 11 : (tensor<4xf32>) -> tensor<4xf32>
    // expected-error @below {{on device 0 takes a tensor of micro-batch 0, execution 1 that it mirrors is of micro-batch 1}}
    %4 = tv.call @backward(%2) instance 11 mirror 1 : (tensor<4xf32>) -> tensor<4xf32>
    %5 = tv.call @backward(%3) instance 10 mirror 0 : (tensor<4xf32>) -> tensor<4xf32>
  }
}

// -----

// Two micro-batches in one execution that has a mirror.

tv.plan @plan <dp = 1, device = 1, mb = 2> {
  tv.segment @forward on 0 cell 2 {
  ^bb0(%x: tensor<4xf32>, %y: tensor<4xf32>):
    %0 = tv.add %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  }
  tv.program 0 {
    %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    %1 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    // expected-error @below {{on device 0 takes tensors of micro-batches 0 and 1 in execution 0}}
    tv.call @forward(%0, %1) instance 0 mirror 10 : (tensor<4xf32>, tensor<4xf32>) -> ()
  }
}

// -----

// Two of one collective, of which one execution has a mirror: whoever comes
// first.

tv.plan @plan <dp = 1, device = 2, mb = 2> {
  tv.segment @forward on 0 cell 2 {
  ^bb0(%x: tensor<4xf32>):
    // expected-error @below {{on device 0 takes a tensor of micro-batch 0, execution 0 that it belongs to is of micro-batch 1}}
    %0 = tv.communicate all_reduce %x group [0, 1] : (tensor<4xf32>) -> tensor<4xf32>
    tv.return
  }
  tv.segment @other on 1 cell 3 {
  ^bb0(%x: tensor<4xf32>):
    // expected-note @below {{the tensor of micro-batch 0 comes from here}}
    %0 = tv.communicate all_reduce %x group [0, 1] : (tensor<4xf32>) -> tensor<4xf32>
    tv.return
  }
  tv.program 0 {
    %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    %1 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    tv.call @forward(%1) instance 0 mirror 10 : (tensor<4xf32>) -> ()
  }
  tv.program 1 {
    %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    tv.call @other(%0) instance 0 : (tensor<4xf32>) -> ()
  }
}

// -----

tv.plan @plan <dp = 1, device = 2, mb = 2> {
  tv.segment @forward on 0 cell 2 {
  ^bb0(%x: tensor<4xf32>):
    // expected-error @below {{on device 0 takes a tensor of micro-batch 0, execution 0 that it belongs to is of micro-batch 1}}
    %0 = tv.communicate all_reduce %x group [0, 1] : (tensor<4xf32>) -> tensor<4xf32>
    tv.return
  }
  tv.segment @other on 1 cell 3 {
  ^bb0(%x: tensor<4xf32>):
    // expected-note @below {{the tensor of micro-batch 0 comes from here}}
    %0 = tv.communicate all_reduce %x group [0, 1] : (tensor<4xf32>) -> tensor<4xf32>
    tv.send %0 to 0 : tensor<4xf32>
    tv.return
  }
  tv.program 0 {
    %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    %1 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    %2 = tv.receive from 1 : tensor<4xf32>
    tv.call @forward(%1) instance 0 mirror 10 : (tensor<4xf32>) -> ()
    %3 = tv.receive from 1 : tensor<4xf32>
  }
  tv.program 1 {
    %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    tv.send %0 to 0 : tensor<4xf32>
    tv.call @other(%0) instance 0 : (tensor<4xf32>) -> ()
  }
}
