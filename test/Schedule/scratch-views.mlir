// RUN: verify-opt %s --tv-check-schedule=checks=progress -verify-diagnostics -split-input-file -o /dev/null

// Views of scratch memory that are used later than where they stand.

// A backward uses what is given to the ops that it differentiates, whether the
// forward names it or not.

tv.plan @plan <dp = 1, device = 1, mb = 1> {
  tv.scratch @slot on 0 "slot" : !tv.buffer<tensor<4xf32>>
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.segment @forward on 0 cell 5 {
    %w = tv.read @w : tensor<4xf32>
    // expected-note @below {{it was read here}}
    %v = tv.read @slot : tensor<4xf32>
    %0 = tv.multiply %w, %v : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    tv.save 7 from %w to %0 : tensor<4xf32> to tensor<4xf32>
    tv.return %0 : tensor<4xf32>
  }
  tv.segment @backward on 0 cell 6 backward {
    %d = tv.seed : tensor<4xf32>
    // expected-error @below {{on device 0 reads 'slot' through a tensor that was read before it was overwritten}}
    %dw = tv.backward %d of 7 {outputs = array<i64: 0>, wrt = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
    tv.add_to %dw, @g : tensor<4xf32>
    tv.return
  }
  tv.program 0 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<1, [0:4 of 4]>] : tensor<4xf32>
    %s = tv.seed : tensor<4xf32>
    tv.write %x, @slot : tensor<4xf32>
    %y = tv.call @forward() instance 1 mirror 2 : () -> tensor<4xf32>
    // expected-note @below {{and overwritten here}}
    tv.write %s, @slot : tensor<4xf32>
    // expected-note @below {{in execution 2}}
    tv.call @backward() instance 2 mirror 1 : () -> ()
    tv.output %y "y" <2, [0:4 of 4]> : tensor<4xf32>
  }
}

// -----

// Also where what comes of it is only communicated.

tv.plan @plan <dp = 1, device = 2, mb = 1> {
  tv.scratch @slot on 0 "slot" : !tv.buffer<tensor<4xf32>>
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.segment @forward on 0 cell 5 {
    %w = tv.read @w : tensor<4xf32>
    // expected-note @below {{it was read here}}
    %v = tv.read @slot : tensor<4xf32>
    %0 = tv.multiply %w, %v : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %h = tv.start {
      %1 = tv.communicate all_reduce %0 group [0, 1] : (tensor<4xf32>) -> tensor<4xf32>
    }
    %2 = tv.wait %h : tensor<4xf32>
    tv.save 7 from %w to %2 : tensor<4xf32> to tensor<4xf32>
    tv.return %2 : tensor<4xf32>
  }
  tv.segment @backward on 0 cell 6 backward {
    %d = tv.seed : tensor<4xf32>
    // expected-error @below {{on device 0 reads 'slot' through a tensor that was read before it was overwritten}}
    %dw = tv.backward %d of 7 {outputs = array<i64: 0>, wrt = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
    tv.add_to %dw, @g : tensor<4xf32>
    tv.return
  }
  tv.program 0 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<1, [0:4 of 4]>] : tensor<4xf32>
    %s = tv.seed : tensor<4xf32>
    tv.write %x, @slot : tensor<4xf32>
    %y = tv.call @forward() instance 1 mirror 2 : () -> tensor<4xf32>
    // expected-note @below {{and overwritten here}}
    tv.write %s, @slot : tensor<4xf32>
    // expected-note @below {{in execution 2}}
    tv.call @backward() instance 2 mirror 1 : () -> ()
    tv.output %y "y" <2, [0:4 of 4]> : tensor<4xf32>
  }
  tv.program 1 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<1, [0:4 of 4]>] : tensor<4xf32>
    %y = tv.communicate all_reduce %x group [0, 1] : (tensor<4xf32>) -> tensor<4xf32>
  }
}

// -----

// It is overwritten when the backward is over.

tv.plan @plan <dp = 1, device = 1, mb = 1> {
  tv.scratch @slot on 0 "slot" : !tv.buffer<tensor<4xf32>>
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.segment @forward on 0 cell 5 {
    %w = tv.read @w : tensor<4xf32>
    %v = tv.read @slot : tensor<4xf32>
    %0 = tv.multiply %w, %v : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    tv.save 7 from %w to %0 : tensor<4xf32> to tensor<4xf32>
    tv.return %0 : tensor<4xf32>
  }
  tv.segment @backward on 0 cell 6 backward {
    %d = tv.seed : tensor<4xf32>
    %dw = tv.backward %d of 7 {outputs = array<i64: 0>, wrt = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
    tv.add_to %dw, @g : tensor<4xf32>
    tv.return
  }
  tv.program 0 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<1, [0:4 of 4]>] : tensor<4xf32>
    %s = tv.seed : tensor<4xf32>
    tv.write %x, @slot : tensor<4xf32>
    %y = tv.call @forward() instance 1 mirror 2 : () -> tensor<4xf32>
    tv.call @backward() instance 2 mirror 1 : () -> ()
    tv.write %s, @slot : tensor<4xf32>
    tv.output %y "y" <2, [0:4 of 4]> : tensor<4xf32>
  }
}

// -----

// A product writes where it still reads.

tv.plan @plan <dp = 1, device = 1, mb = 1> {
  tv.scratch @slot on 0 "slot" : !tv.buffer<tensor<4x4xf32>>
  tv.program 0 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<1, [0:4 of 4, 0:4 of 4]>] : tensor<4x4xf32>
    tv.write %x, @slot : tensor<4x4xf32>
    // expected-error @below {{on device 0 writes its result to 'slot' while it still reads from there}}
    %h = tv.start into @slot {
      %0 = tv.read @slot : tensor<4x4xf32>
      %1 = tv.matmul %0, %0 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    }
    tv.wait %h
  }
}

// -----

// What is computed element by element may.

tv.plan @plan <dp = 1, device = 1, mb = 1> {
  tv.scratch @slot on 0 "slot" : !tv.buffer<tensor<4x4xf32>>
  tv.program 0 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<1, [0:4 of 4, 0:4 of 4]>] : tensor<4x4xf32>
    tv.write %x, @slot : tensor<4x4xf32>
    %h = tv.start into @slot {
      %0 = tv.read @slot : tensor<4x4xf32>
      %1 = tv.multiply %0, %0 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    }
    tv.wait %h
  }
}

// -----

// A transposition is not.

tv.plan @plan <dp = 1, device = 1, mb = 1> {
  tv.scratch @slot on 0 "slot" : !tv.buffer<tensor<4x4xf32>>
  tv.program 0 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<1, [0:4 of 4, 0:4 of 4]>] : tensor<4x4xf32>
    tv.write %x, @slot : tensor<4x4xf32>
    // expected-error @below {{writes its result to 'slot' while it still reads from there}}
    %h = tv.start into @slot {
      %0 = tv.read @slot : tensor<4x4xf32>
      %1 = tv.transpose %0 {permutation = array<i64: 1, 0>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
    }
    tv.wait %h
  }
}

// -----

// Nor is a transposition that was made before: the product is computed element
// by element, and each is needed at another place.

tv.plan @plan <dp = 1, device = 1, mb = 1> {
  tv.scratch @slot on 0 "slot" : !tv.buffer<tensor<4x4xf32>>
  tv.program 0 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<1, [0:4 of 4, 0:4 of 4]>] : tensor<4x4xf32>
    tv.write %x, @slot : tensor<4x4xf32>
    %0 = tv.read @slot : tensor<4x4xf32>
    %1 = tv.transpose %0 {permutation = array<i64: 1, 0>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
    // expected-error @below {{on device 0 writes its result to 'slot' while it still reads from there}}
    %h = tv.start into @slot {
      %2 = tv.multiply %1, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    }
    tv.wait %h
  }
}

// -----

// The same in a segment.

tv.plan @plan <dp = 1, device = 1, mb = 1> {
  tv.scratch @slot on 0 "slot" : !tv.buffer<tensor<4x4xf32>>
  tv.segment @swap on 0 cell 5 {
  ^bb0(%0: tensor<4x4xf32>):
    %1 = tv.transpose %0 {permutation = array<i64: 1, 0>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
    tv.return %1 : tensor<4x4xf32>
  }
  tv.program 0 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<1, [0:4 of 4, 0:4 of 4]>] : tensor<4x4xf32>
    tv.write %x, @slot : tensor<4x4xf32>
    %0 = tv.read @slot : tensor<4x4xf32>
    %1 = tv.call @swap(%0) instance 1 : (tensor<4x4xf32>) -> tensor<4x4xf32>
    // expected-error @below {{on device 0 writes its result to 'slot' while it still reads from there}}
    tv.write %1, @slot : tensor<4x4xf32>
  }
}

// -----

// Elements that stay where they are may be written there, and others anywhere
// else.

tv.plan @plan <dp = 1, device = 1, mb = 1> {
  tv.scratch @slot on 0 "slot" : !tv.buffer<tensor<4x4xf32>>
  tv.scratch @other on 0 "other" : !tv.buffer<tensor<4x4xf32>>
  tv.program 0 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<1, [0:4 of 4, 0:4 of 4]>] : tensor<4x4xf32>
    tv.write %x, @slot : tensor<4x4xf32>
    %0 = tv.read @slot : tensor<4x4xf32>
    %1 = tv.transpose %0 {permutation = array<i64: 1, 0>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %h = tv.start into @other {
      %2 = tv.multiply %1, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    }
    tv.wait %h
    %3 = tv.reshape %0 : (tensor<4x4xf32>) -> tensor<16xf32>
    %4 = tv.reshape %3 : (tensor<16xf32>) -> tensor<4x4xf32>
    %g = tv.start into @slot {
      %5 = tv.multiply %4, %4 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    }
    tv.wait %g
  }
}

// -----

// An output is looked at when the program is over.

tv.plan @plan <dp = 1, device = 1, mb = 1> {
  tv.scratch @slot on 0 "slot" : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<1, [0:4 of 4]>] : tensor<4xf32>
    %s = tv.seed : tensor<4xf32>
    tv.write %x, @slot : tensor<4xf32>
    // expected-note @below {{it was read here}}
    %y = tv.read @slot : tensor<4xf32>
    // expected-error @below {{on device 0 reads 'slot' through a tensor that was read before it was overwritten}}
    tv.output %y "y" <2, [0:4 of 4]> : tensor<4xf32>
    // expected-note @below {{and overwritten here}}
    tv.write %s, @slot : tensor<4xf32>
  }
}

// -----

// Nothing uses the memory after it.

tv.plan @plan <dp = 1, device = 1, mb = 1> {
  tv.scratch @slot on 0 "slot" : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<1, [0:4 of 4]>] : tensor<4xf32>
    tv.write %x, @slot : tensor<4xf32>
    %y = tv.read @slot : tensor<4xf32>
    tv.output %y "y" <2, [0:4 of 4]> : tensor<4xf32>
  }
}
