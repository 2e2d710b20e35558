// RUN: verify-opt %s --tv-check-schedule=checks=progress -verify-diagnostics -split-input-file -o /dev/null

// What communication under way reads and writes, and what else the device does to the
// same memory meanwhile. Each right form is followed by what makes it wrong.

// In place: nothing touches the gradient until the wait.

tv.plan @plan <dp = 2, device = 1, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    %s = tv.seed : tensor<4xf32>
    %0 = tv.read @g : tensor<4xf32>
    %h = tv.start into @g { %1 = tv.communicate all_reduce %0 group [0] replicas : (tensor<4xf32>) -> tensor<4xf32> }
    tv.wait %h
    tv.add_to %s, @g : tensor<4xf32>
    %2 = tv.read @g : tensor<4xf32>
  }
}

// -----

// A later micro-batch accumulates into it.

tv.plan @plan <dp = 2, device = 1, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    %s = tv.seed : tensor<4xf32>
    %0 = tv.read @g : tensor<4xf32>
    // expected-note @below {{it was started here}}
    %h = tv.start into @g { %1 = tv.communicate all_reduce %0 group [0] replicas : (tensor<4xf32>) -> tensor<4xf32> }
    // expected-error @below {{on device 0 writes to 'w' while communication writes to it}}
    tv.add_to %s, @g : tensor<4xf32>
    // expected-note @below {{and is waited for here, which has to come before}}
    tv.wait %h
  }
}

// -----

// It is read before it is complete.

tv.plan @plan <dp = 2, device = 1, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    %0 = tv.read @g : tensor<4xf32>
    // expected-note @below {{it was started here}}
    %h = tv.start into @g { %1 = tv.communicate all_reduce %0 group [0] replicas : (tensor<4xf32>) -> tensor<4xf32> }
    // expected-error @below {{on device 0 reads 'w' while communication writes to it}}
    %2 = tv.read @g : tensor<4xf32>
    // expected-note @below {{and is waited for here, which has to come before}}
    tv.wait %h
  }
}

// -----

// What was read before is a view of it, and so is a slice of that.

tv.plan @plan <dp = 2, device = 1, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    %0 = tv.read @g : tensor<4xf32>
    %3 = tv.slice %0 {dimension = 0 : i64, start = 0 : i64, end = 2 : i64} : (tensor<4xf32>) -> tensor<2xf32>
    // expected-note @below {{it was started here}}
    %h = tv.start into @g { %1 = tv.communicate all_reduce %0 group [0] replicas : (tensor<4xf32>) -> tensor<4xf32> }
    // expected-error @below {{on device 0 reads 'w' while communication writes to it}}
    %4 = tv.exp %3 : (tensor<2xf32>) -> tensor<2xf32>
    // expected-note @below {{and is waited for here, which has to come before}}
    tv.wait %h
  }
}

// -----

// What is computed from it has memory of its own.

tv.plan @plan <dp = 2, device = 1, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    %0 = tv.read @g : tensor<4xf32>
    %3 = tv.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
    %h = tv.start into @g { %1 = tv.communicate all_reduce %0 group [0] replicas : (tensor<4xf32>) -> tensor<4xf32> }
    %4 = tv.exp %3 : (tensor<4xf32>) -> tensor<4xf32>
    tv.wait %h
  }
}

// -----

// Out of place: reading meanwhile is fine.

tv.plan @plan <dp = 2, device = 1, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    %0 = tv.read @g : tensor<4xf32>
    %h = tv.start { %1 = tv.communicate all_reduce %0 group [0] replicas : (tensor<4xf32>) -> tensor<4xf32> }
    %3 = tv.read @g : tensor<4xf32>
    %4 = tv.exp %3 : (tensor<4xf32>) -> tensor<4xf32>
    %2 = tv.wait %h : tensor<4xf32>
    tv.write %2, @g : tensor<4xf32>
  }
}

// -----

// Writing is not.

tv.plan @plan <dp = 2, device = 1, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    %s = tv.seed : tensor<4xf32>
    %0 = tv.read @g : tensor<4xf32>
    // expected-note @below {{it was started here}}
    %h = tv.start { %1 = tv.communicate all_reduce %0 group [0] replicas : (tensor<4xf32>) -> tensor<4xf32> }
    // expected-error @below {{on device 0 writes to 'w' while communication reads it}}
    tv.write %s, @g : tensor<4xf32>
    // expected-note @below {{and is waited for here, which has to come before}}
    %2 = tv.wait %h : tensor<4xf32>
  }
}

// -----

// Two at a time that write to one buffer.

tv.plan @plan <dp = 2, device = 1, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    %0 = tv.seed : tensor<4xf32>
    // expected-note @below {{it was started here}}
    %h = tv.start into @g { %1 = tv.communicate all_reduce %0 group [0] replicas : (tensor<4xf32>) -> tensor<4xf32> }
    // expected-note @+2 {{or this has to come after it, by its handle or on its stream}}
    // expected-error @below {{on device 0 writes to 'w' while communication writes to it}}
    %i = tv.start into @g { %1 = tv.communicate all_reduce %0 group [0] replicas : (tensor<4xf32>) -> tensor<4xf32> }
    tv.wait %i
    // expected-note @below {{and is waited for here, which has to come before}}
    tv.wait %h
  }
}

// -----

// Two that read it.

tv.plan @plan <dp = 2, device = 1, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    %0 = tv.read @g : tensor<4xf32>
    %h = tv.start { %1 = tv.communicate all_reduce %0 group [0] replicas : (tensor<4xf32>) -> tensor<4xf32> }
    %i = tv.start { %1 = tv.communicate all_reduce %0 group [0] replicas : (tensor<4xf32>) -> tensor<4xf32> }
    %2 = tv.wait %h : tensor<4xf32>
    %3 = tv.wait %i : tensor<4xf32>
    tv.write %3, @g : tensor<4xf32>
  }
}

// -----

// The second of two waits is that which counts.

tv.plan @plan <dp = 2, device = 1, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    %0 = tv.read @g : tensor<4xf32>
    %h = tv.start { %1 = tv.communicate all_reduce %0 group [0] replicas : (tensor<4xf32>) -> tensor<4xf32> }
    // expected-note @below {{it was started here}}
    %i = tv.start { %1 = tv.communicate all_reduce %0 group [0] replicas : (tensor<4xf32>) -> tensor<4xf32> }
    %2 = tv.wait %h : tensor<4xf32>
    // expected-error @below {{on device 0 writes to 'w' while communication reads it}}
    tv.write %2, @g : tensor<4xf32>
    // expected-note @below {{and is waited for here, which has to come before}}
    %3 = tv.wait %i : tensor<4xf32>
  }
}

// -----

// In a segment that runs meanwhile.

tv.plan @plan <dp = 2, device = 1, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.segment @backward on 0 cell 2 backward {
    %0 = tv.seed : tensor<4xf32>
    // expected-error @below {{on device 0 writes to 'w' while communication reads it}}
    tv.add_to %0, @g : tensor<4xf32>
  }
  tv.program 0 {
    %0 = tv.read @g : tensor<4xf32>
    // expected-note @below {{it was started here}}
    %h = tv.start { %1 = tv.communicate all_reduce %0 group [0] replicas : (tensor<4xf32>) -> tensor<4xf32> }
    // expected-note @below {{in execution 2}}
    tv.call @backward() instance 2 : () -> ()
    // expected-note @below {{and is waited for here, which has to come before}}
    %2 = tv.wait %h : tensor<4xf32>
  }
}

// -----

// A view that goes through segments.

tv.plan @plan <dp = 2, device = 1, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.segment @view on 0 cell 2 {
  ^bb0(%a: tensor<4xf32>):
    %r = tv.reshape %a : (tensor<4xf32>) -> tensor<2x2xf32>
    tv.return %r : tensor<2x2xf32>
  }
  tv.segment @use on 0 cell 3 {
  ^bb0(%a: tensor<2x2xf32>):
    // expected-error @below {{on device 0 reads 'w' while communication writes to it}}
    %b = tv.exp %a : (tensor<2x2xf32>) -> tensor<2x2xf32>
  }
  tv.program 0 {
    %0 = tv.read @g : tensor<4xf32>
    %3 = tv.call @view(%0) instance 2 : (tensor<4xf32>) -> tensor<2x2xf32>
    // expected-note @below {{it was started here}}
    %h = tv.start into @g { %1 = tv.communicate all_reduce %0 group [0] replicas : (tensor<4xf32>) -> tensor<4xf32> }
    // expected-note @below {{in execution 3}}
    tv.call @use(%3) instance 3 : (tensor<2x2xf32>) -> ()
    // expected-note @below {{and is waited for here, which has to come before}}
    tv.wait %h
  }
}

// -----

// Of something else.

tv.plan @plan <dp = 2, device = 1, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.segment @view on 0 cell 2 {
  ^bb0(%a: tensor<4xf32>):
    %r = tv.reshape %a : (tensor<4xf32>) -> tensor<2x2xf32>
    tv.return %r : tensor<2x2xf32>
  }
  tv.segment @use on 0 cell 3 {
  ^bb0(%a: tensor<2x2xf32>):
    %b = tv.exp %a : (tensor<2x2xf32>) -> tensor<2x2xf32>
  }
  tv.program 0 {
    %0 = tv.seed : tensor<4xf32>
    %3 = tv.call @view(%0) instance 2 : (tensor<4xf32>) -> tensor<2x2xf32>
    %h = tv.start into @g { %1 = tv.communicate all_reduce %0 group [0] replicas : (tensor<4xf32>) -> tensor<4xf32> }
    tv.call @use(%3) instance 3 : (tensor<2x2xf32>) -> ()
    tv.wait %h
  }
}

// -----

// All in a segment, that gets a view.

tv.plan @plan <dp = 2, device = 1, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.segment @reduce on 0 cell 2 {
  ^bb0(%0: tensor<4xf32>):
    %1 = tv.seed : tensor<4xf32>
    // expected-note @below {{it was started here}}
    %h = tv.start { %2 = tv.communicate all_reduce %0 group [0] replicas : (tensor<4xf32>) -> tensor<4xf32> }
    // expected-error @below {{on device 0 writes to 'w' while communication reads it}}
    tv.add_to %1, @g : tensor<4xf32>
    // expected-note @below {{and is waited for here, which has to come before}}
    %3 = tv.wait %h : tensor<4xf32>
  }
  tv.program 0 {
    %0 = tv.read @g : tensor<4xf32>
    // expected-note @below {{in execution 2}}
    tv.call @reduce(%0) instance 2 : (tensor<4xf32>) -> ()
  }
}

// -----

// A group of one hands on what it gets.

tv.plan @plan <dp = 2, device = 1, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    %s = tv.seed : tensor<4xf32>
    %a = tv.read @g : tensor<4xf32>
    %0 = tv.communicate all_reduce %a group [0] : (tensor<4xf32>) -> tensor<4xf32>
    // expected-note @below {{it was started here}}
    %h = tv.start { %1 = tv.communicate all_reduce %0 group [0] replicas : (tensor<4xf32>) -> tensor<4xf32> }
    // expected-error @below {{on device 0 writes to 'w' while communication reads it}}
    tv.write %s, @g : tensor<4xf32>
    // expected-note @below {{and is waited for here, which has to come before}}
    %2 = tv.wait %h : tensor<4xf32>
  }
}

// -----

// What is kept for a backward is not followed.

tv.plan @plan <dp = 2, device = 1, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.segment @keep on 0 cell 2 {
  ^bb0(%a: tensor<4xf32>):
    %b = tv.exp %a : (tensor<4xf32>) -> tensor<4xf32>
    // expected-error @below {{saves a view of a gradient buffer, which is not understood by the schedule check}}
    tv.save 7 from %a to %b : tensor<4xf32> to tensor<4xf32>
  }
  tv.program 0 {
    %0 = tv.read @g : tensor<4xf32>
    tv.call @keep(%0) instance 2 : (tensor<4xf32>) -> ()
    %h = tv.start into @g { %1 = tv.communicate all_reduce %0 group [0] replicas : (tensor<4xf32>) -> tensor<4xf32> }
    tv.wait %h
  }
}

// -----

// A permutation by an einsum, and what the root of a broadcast gives, too.

tv.plan @plan <dp = 2, device = 1, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    %0 = tv.read @g : tensor<4xf32>
    %1 = tv.einsum %0 {equation = "a->a"} : (tensor<4xf32>) -> tensor<4xf32>
    // expected-note @below {{it was started here}}
    %h = tv.start into @g { %2 = tv.communicate all_reduce %0 group [0] replicas : (tensor<4xf32>) -> tensor<4xf32> }
    // expected-error @below {{on device 0 reads 'w' while communication writes to it}}
    %3 = tv.exp %1 : (tensor<4xf32>) -> tensor<4xf32>
    // expected-note @below {{and is waited for here, which has to come before}}
    tv.wait %h
  }
}

// -----

tv.plan @plan <dp = 2, device = 1, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    %0 = tv.read @g : tensor<4xf32>
    %1 = tv.communicate broadcast %0 group [0] replicas {root = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
    // expected-note @below {{it was started here}}
    %h = tv.start into @g { %2 = tv.communicate all_reduce %0 group [0] replicas : (tensor<4xf32>) -> tensor<4xf32> }
    // expected-error @below {{on device 0 reads 'w' while communication writes to it}}
    %3 = tv.exp %1 : (tensor<4xf32>) -> tensor<4xf32>
    // expected-note @below {{and is waited for here, which has to come before}}
    tv.wait %h
  }
}

// -----

tv.plan @plan <dp = 2, device = 1, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    %0 = tv.read @g : tensor<4xf32>
    %r = tv.start { %2 = tv.communicate broadcast %0 group [0] replicas {root = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32> }
    %1 = tv.wait %r : tensor<4xf32>
    // expected-note @below {{it was started here}}
    %h = tv.start into @g { %2 = tv.communicate all_reduce %0 group [0] replicas : (tensor<4xf32>) -> tensor<4xf32> }
    // expected-error @below {{on device 0 reads 'w' while communication writes to it}}
    %3 = tv.exp %1 : (tensor<4xf32>) -> tensor<4xf32>
    // expected-note @below {{and is waited for here, which has to come before}}
    tv.wait %h
  }
}

// -----

tv.plan @plan <dp = 2, device = 1, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    %0 = tv.read @g : tensor<4xf32>
    %1 = tv.copy %0 : (tensor<4xf32>) -> tensor<4xf32>
    // expected-note @below {{it was started here}}
    %h = tv.start into @g { %2 = tv.communicate all_reduce %0 group [0] replicas : (tensor<4xf32>) -> tensor<4xf32> }
    // expected-error @below {{on device 0 reads 'w' while communication writes to it}}
    %3 = tv.exp %1 : (tensor<4xf32>) -> tensor<4xf32>
    // expected-note @below {{and is waited for here, which has to come before}}
    tv.wait %h
  }
}

// -----

// A conversion has memory of its own.

tv.plan @plan <dp = 2, device = 1, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    %0 = tv.read @g : tensor<4xf32>
    %1 = tv.copy %0 : (tensor<4xf32>) -> tensor<4xbf16>
    %h = tv.start into @g { %2 = tv.communicate all_reduce %0 group [0] replicas : (tensor<4xf32>) -> tensor<4xf32> }
    %3 = tv.exp %1 : (tensor<4xbf16>) -> tensor<4xbf16>
    tv.wait %h
  }
}
