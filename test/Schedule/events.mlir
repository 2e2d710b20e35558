// RUN: verify-opt %s --tv-check-schedule=checks=progress -verify-diagnostics -split-input-file -o /dev/null
// RUN: sed '/^.. -----$/,$d' %s | verify-opt --tv-check-schedule | FileCheck %s
// CHECK: tv.assumptions = ["computations that were started run on streams of their own or those that they name, whatever else the device does", "what is started on a stream, or after a handle, begins when that before it is over"

// What is started on a stream comes after what was started there before, and after its
// handles. The program waits for the last one, and for the others when it likes.

tv.plan @plan <dp = 2, device = 1, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    %s = tv.seed : tensor<4xf32>
    %a = tv.start stream "compute" into @g { %1 = tv.exp %s : (tensor<4xf32>) -> tensor<4xf32> }
    %b = tv.start stream "reduce" after %a into @g {
      %0 = tv.read @g : tensor<4xf32>
      %1 = tv.communicate all_reduce %0 group [0] replicas : (tensor<4xf32>) -> tensor<4xf32>
    }
    %c = tv.start stream "reduce" into @g {
      %0 = tv.read @g : tensor<4xf32>
      %1 = tv.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
    }
    tv.wait %c
    %2 = tv.read @g : tensor<4xf32>
    %3 = tv.exp %2 : (tensor<4xf32>) -> tensor<4xf32>
    tv.wait %a
    tv.wait %b
  }
}

// -----

// The stream does not wait for the event.

tv.plan @plan <dp = 2, device = 1, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    %s = tv.seed : tensor<4xf32>
    // expected-note @below {{it was started here}}
    %a = tv.start stream "compute" into @g { %1 = tv.exp %s : (tensor<4xf32>) -> tensor<4xf32> }
    // expected-note @+2 {{or this has to come after it, by its handle or on its stream}}
    // expected-error @below {{on device 0 reads 'w' while another stream writes to it}}
    %b = tv.start stream "reduce" into @g {
      %0 = tv.read @g : tensor<4xf32>
      %1 = tv.communicate all_reduce %0 group [0] replicas : (tensor<4xf32>) -> tensor<4xf32>
    }
    tv.wait %b
    // expected-note @below {{and is waited for here, which has to come before}}
    tv.wait %a
  }
}

// -----

// It waits for another one.

tv.plan @plan <dp = 2, device = 1, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    %s = tv.seed : tensor<4xf32>
    // expected-note @below {{it was started here}}
    %a = tv.start stream "compute" into @g { %1 = tv.exp %s : (tensor<4xf32>) -> tensor<4xf32> }
    %o = tv.start stream "other" { %1 = tv.exp %s : (tensor<4xf32>) -> tensor<4xf32> }
    // expected-note @+2 {{or this has to come after it, by its handle or on its stream}}
    // expected-error @below {{on device 0 reads 'w' while another stream writes to it}}
    %b = tv.start stream "reduce" after %o into @g {
      %0 = tv.read @g : tensor<4xf32>
      %1 = tv.communicate all_reduce %0 group [0] replicas : (tensor<4xf32>) -> tensor<4xf32>
    }
    tv.wait %b
    %2 = tv.wait %o : tensor<4xf32>
    // expected-note @below {{and is waited for here, which has to come before}}
    tv.wait %a
  }
}

// -----

// The event is of what was started before, not of the last one on its stream.

tv.plan @plan <dp = 2, device = 1, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    %s = tv.seed : tensor<4xf32>
    %a = tv.start stream "compute" into @g { %1 = tv.exp %s : (tensor<4xf32>) -> tensor<4xf32> }
    // expected-note @below {{it was started here}}
    %b = tv.start stream "compute" into @g {
      %0 = tv.read @g : tensor<4xf32>
      %1 = tv.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
    }
    // expected-note @+2 {{or this has to come after it, by its handle or on its stream}}
    // expected-error @below {{on device 0 reads 'w' while another stream writes to it}}
    %c = tv.start stream "reduce" after %a into @g {
      %0 = tv.read @g : tensor<4xf32>
      %1 = tv.communicate all_reduce %0 group [0] replicas : (tensor<4xf32>) -> tensor<4xf32>
    }
    tv.wait %a
    // expected-note @below {{and is waited for here, which has to come before}}
    tv.wait %b
    tv.wait %c
  }
}

// -----

// That of the last one is for all before it.

tv.plan @plan <dp = 2, device = 1, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    %s = tv.seed : tensor<4xf32>
    %a = tv.start stream "compute" into @g { %1 = tv.exp %s : (tensor<4xf32>) -> tensor<4xf32> }
    %b = tv.start stream "compute" into @g {
      %0 = tv.read @g : tensor<4xf32>
      %1 = tv.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
    }
    %c = tv.start stream "reduce" after %b into @g {
      %0 = tv.read @g : tensor<4xf32>
      %1 = tv.communicate all_reduce %0 group [0] replicas : (tensor<4xf32>) -> tensor<4xf32>
    }
    tv.wait %a
    tv.wait %b
    tv.wait %c
  }
}

// -----

// A stream waits for communication, and another one for it.

tv.plan @plan <dp = 2, device = 1, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    %s = tv.seed : tensor<4xf32>
    %a = tv.start into @g { %1 = tv.communicate all_reduce %s group [0] replicas : (tensor<4xf32>) -> tensor<4xf32> }
    %b = tv.start stream "middle" after %a { %1 = tv.exp %s : (tensor<4xf32>) -> tensor<4xf32> }
    %c = tv.start stream "last" after %b into @g {
      %0 = tv.read @g : tensor<4xf32>
      %1 = tv.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
    }
    tv.wait %c
    %2 = tv.wait %b : tensor<4xf32>
    tv.wait %a
  }
}

// -----

// What one name would order, two do not.

tv.plan @plan <dp = 2, device = 1, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    %s = tv.seed : tensor<4xf32>
    // expected-note @below {{it was started here}}
    %a = tv.start stream "compute" into @g { %1 = tv.exp %s : (tensor<4xf32>) -> tensor<4xf32> }
    // expected-note @+2 {{or this has to come after it, by its handle or on its stream}}
    // expected-error @below {{on device 0 writes to 'w' while another stream writes to it}}
    %b = tv.start stream "compute2" into @g { %1 = tv.exp %s : (tensor<4xf32>) -> tensor<4xf32> }
    tv.wait %b
    // expected-note @below {{and is waited for here, which has to come before}}
    tv.wait %a
  }
}

// -----

// The program does not wait: only a stream does.

tv.plan @plan <dp = 2, device = 1, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    %s = tv.seed : tensor<4xf32>
    // expected-note @below {{it was started here}}
    %a = tv.start stream "compute" into @g { %1 = tv.exp %s : (tensor<4xf32>) -> tensor<4xf32> }
    %b = tv.start after %a { %1 = tv.exp %s : (tensor<4xf32>) -> tensor<4xf32> }
    // expected-error @below {{on device 0 reads 'w' while another stream writes to it}}
    %2 = tv.read @g : tensor<4xf32>
    // expected-note @below {{and is waited for here, which has to come before}}
    tv.wait %a
    %3 = tv.wait %b : tensor<4xf32>
  }
}

// -----

// Once it waits for the stream, it may.

tv.plan @plan <dp = 2, device = 1, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    %s = tv.seed : tensor<4xf32>
    %a = tv.start stream "compute" into @g { %1 = tv.exp %s : (tensor<4xf32>) -> tensor<4xf32> }
    %b = tv.start after %a { %1 = tv.exp %s : (tensor<4xf32>) -> tensor<4xf32> }
    %3 = tv.wait %b : tensor<4xf32>
    %2 = tv.read @g : tensor<4xf32>
    tv.wait %a
  }
}

// -----

// What comes after what the program waited for comes after all before that.

tv.plan @plan <dp = 2, device = 1, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    %s = tv.seed : tensor<4xf32>
    %a = tv.start stream "compute" into @g { %1 = tv.exp %s : (tensor<4xf32>) -> tensor<4xf32> }
    %b = tv.start after %a { %1 = tv.exp %s : (tensor<4xf32>) -> tensor<4xf32> }
    %3 = tv.wait %b : tensor<4xf32>
    %c = tv.start stream "reduce" into @g {
      %0 = tv.read @g : tensor<4xf32>
      %1 = tv.communicate all_reduce %0 group [0] replicas : (tensor<4xf32>) -> tensor<4xf32>
    }
    tv.wait %a
    tv.wait %c
  }
}

// -----

// Two may read side by side, and what writes has to come after both.

tv.plan @plan <dp = 2, device = 1, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    %s = tv.seed : tensor<4xf32>
    // expected-note @below {{it was started here}}
    %a = tv.start stream "left" {
      %0 = tv.read @g : tensor<4xf32>
      %1 = tv.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
    }
    %b = tv.start stream "right" {
      %0 = tv.read @g : tensor<4xf32>
      %1 = tv.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
    }
    // expected-note @+2 {{or this has to come after it, by its handle or on its stream}}
    // expected-error @below {{on device 0 writes to 'w' while another stream reads it}}
    %c = tv.start after %b into @g { %1 = tv.exp %s : (tensor<4xf32>) -> tensor<4xf32> }
    %2 = tv.wait %b : tensor<4xf32>
    // expected-note @below {{and is waited for here, which has to come before}}
    %3 = tv.wait %a : tensor<4xf32>
    tv.wait %c
  }
}

// -----

// It does.

tv.plan @plan <dp = 2, device = 1, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    %s = tv.seed : tensor<4xf32>
    %a = tv.start stream "left" {
      %0 = tv.read @g : tensor<4xf32>
      %1 = tv.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
    }
    %b = tv.start stream "right" {
      %0 = tv.read @g : tensor<4xf32>
      %1 = tv.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
    }
    %c = tv.start after %a, %b into @g { %1 = tv.exp %s : (tensor<4xf32>) -> tensor<4xf32> }
    %2 = tv.wait %b : tensor<4xf32>
    %3 = tv.wait %a : tensor<4xf32>
    tv.wait %c
  }
}

// -----

// The program writes to what a stream reads when it begins.

tv.plan @plan <dp = 2, device = 1, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    %s = tv.seed : tensor<4xf32>
    // expected-note @below {{it was started here}}
    %a = tv.start stream "left" {
      %0 = tv.read @g : tensor<4xf32>
      %1 = tv.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
    }
    // expected-error @below {{on device 0 writes to 'w' while another stream reads it}}
    tv.add_to %s, @g : tensor<4xf32>
    // expected-note @below {{and is waited for here, which has to come before}}
    %3 = tv.wait %a : tensor<4xf32>
  }
}

// -----

// What was read by the program is a view: a stream has written to it since.

tv.plan @plan <dp = 2, device = 1, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    %s = tv.seed : tensor<4xf32>
    // expected-note @below {{it was read here}}
    %0 = tv.read @g : tensor<4xf32>
    // expected-note @below {{and overwritten here}}
    %a = tv.start stream "compute" into @g { %1 = tv.exp %s : (tensor<4xf32>) -> tensor<4xf32> }
    // expected-error @below {{on device 0 reads 'w' through a tensor that was read before it was overwritten}}
    %b = tv.start stream "compute" { %1 = tv.exp %0 : (tensor<4xf32>) -> tensor<4xf32> }
    tv.wait %a
    %3 = tv.wait %b : tensor<4xf32>
  }
}

// -----

// And so has the program.

tv.plan @plan <dp = 2, device = 1, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    %s = tv.seed : tensor<4xf32>
    %h = tv.start { %1 = tv.exp %s : (tensor<4xf32>) -> tensor<4xf32> }
    %1 = tv.wait %h : tensor<4xf32>
    // expected-note @below {{it was read here}}
    %0 = tv.read @g : tensor<4xf32>
    // expected-note @below {{and overwritten here}}
    tv.write %1, @g : tensor<4xf32>
    // expected-error @below {{on device 0 reads 'w' through a tensor that was read before it was overwritten}}
    %2 = tv.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
  }
}
