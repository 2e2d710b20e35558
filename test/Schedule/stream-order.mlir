// RUN: verify-opt %s --tv-check-schedule -verify-diagnostics -split-input-file -o /dev/null
// RUN: sed 's/ stream "[a-z]*"//; s/ after %[a-z]*//; /expected-/d' %s \
// RUN:   | verify-opt --tv-check-schedule -split-input-file -o /dev/null

// What hangs because streams keep an order, which none of these does where each start is
// alone: the second run. First one that does not: a stream may wait while the program goes on.

tv.plan @plan <dp = 1, device = 2, mb = 1> {
  tv.program 0 {
    %s = tv.seed : tensor<4xf32>
    %a = tv.start stream "s" { %1 = tv.receive from 1 : tensor<4xf32> }
    %b = tv.start stream "s" { tv.send %s to 1 : tensor<4xf32> }
    %2 = tv.wait %a : tensor<4xf32>
    tv.wait %b
  }
  tv.program 1 {
    %s = tv.seed : tensor<4xf32>
    tv.send %s to 0 : tensor<4xf32>
    %2 = tv.receive from 0 : tensor<4xf32>
  }
}

// -----

// Both streams receive first.

tv.plan @plan <dp = 1, device = 2, mb = 1> {
  tv.program 0 {
    %s = tv.seed : tensor<4xf32>
    // expected-note @below {{what it waits for starts here}}
    %a = tv.start stream "s" { %1 = tv.receive from 1 : tensor<4xf32> }
    // expected-note @below {{device 0 comes to this only after what it waits for}}
    %b = tv.start stream "s" { tv.send %s to 1 : tensor<4xf32> }
    // expected-error @below {{on device 0 waits for device 1 to send: 2 devices wait for each other}}
    %2 = tv.wait %a : tensor<4xf32>
    tv.wait %b
  }
  tv.program 1 {
    %s = tv.seed : tensor<4xf32>
    // expected-note @below {{this comes before it on device 1}}
    %a = tv.start stream "s" { %1 = tv.receive from 0 : tensor<4xf32> }
    // expected-note @+2 {{what it waits for starts here}}
    // expected-note @below {{device 1 comes to this only after what it waits for}}
    %b = tv.start stream "s" { tv.send %s to 0 : tensor<4xf32> }
    // expected-note @below {{device 1 is here and waits for its turn, behind what waits for device 0 to send}}
    tv.wait %b
    %2 = tv.wait %a : tensor<4xf32>
  }
}

// -----

// Both wait for events of what they receive.

tv.plan @plan <dp = 1, device = 2, mb = 1> {
  tv.program 0 {
    %s = tv.seed : tensor<4xf32>
    // expected-note @below {{what it waits for starts here}}
    %a = tv.start { %1 = tv.receive from 1 : tensor<4xf32> }
    // expected-note @below {{device 0 comes to this only after what it waits for}}
    %b = tv.start after %a { tv.send %s to 1 : tensor<4xf32> }
    // expected-error @below {{on device 0 waits for device 1 to send: 2 devices wait for each other}}
    %2 = tv.wait %a : tensor<4xf32>
    tv.wait %b
  }
  tv.program 1 {
    %s = tv.seed : tensor<4xf32>
    // expected-note @below {{this comes before it on device 1}}
    %a = tv.start { %1 = tv.receive from 0 : tensor<4xf32> }
    // expected-note @+2 {{what it waits for starts here}}
    // expected-note @below {{device 1 comes to this only after what it waits for}}
    %b = tv.start after %a { tv.send %s to 0 : tensor<4xf32> }
    // expected-note @below {{device 1 is here and waits for its turn, behind what waits for device 0 to send}}
    tv.wait %b
    %2 = tv.wait %a : tensor<4xf32>
  }
}

// -----

// A computation between them.

tv.plan @plan <dp = 1, device = 2, mb = 1> {
  tv.program 0 {
    %s = tv.seed : tensor<4xf32>
    // expected-note @below {{what it waits for starts here}}
    %a = tv.start { %1 = tv.receive from 1 : tensor<4xf32> }
    %x = tv.start stream "compute" after %a { %1 = tv.exp %s : (tensor<4xf32>) -> tensor<4xf32> }
    // expected-note @below {{device 0 comes to this only after what it waits for}}
    %b = tv.start after %x { tv.send %s to 1 : tensor<4xf32> }
    // expected-error @below {{on device 0 waits for device 1 to send: 2 devices wait for each other}}
    %2 = tv.wait %a : tensor<4xf32>
    %3 = tv.wait %x : tensor<4xf32>
    tv.wait %b
  }
  tv.program 1 {
    %s = tv.seed : tensor<4xf32>
    // expected-note @below {{device 1 is here and waits for device 0 to send}}
    %2 = tv.receive from 0 : tensor<4xf32>
    tv.send %s to 0 : tensor<4xf32>
  }
}

// -----

// What is sent later to the same device does not overtake.

tv.plan @plan <dp = 1, device = 2, mb = 1> {
  tv.program 0 {
    %s = tv.seed : tensor<4xf32>
    // expected-note @below {{what it waits for starts here}}
    %a = tv.start { %1 = tv.receive from 1 : tensor<4xf32> }
    // expected-note @below {{device 0 comes to this only after what it waits for}}
    %b = tv.start after %a { tv.send %s to 1 : tensor<4xf32> }
    %c = tv.start { tv.send %s to 1 : tensor<4xf32> }
    // expected-error @below {{on device 0 waits for device 1 to send: 2 devices wait for each other}}
    %2 = tv.wait %a : tensor<4xf32>
    tv.wait %b
    tv.wait %c
  }
  tv.program 1 {
    %s = tv.seed : tensor<4xf32>
    // expected-note @below {{device 1 is here and waits for device 0 to send}}
    %2 = tv.receive from 0 : tensor<4xf32>
    tv.send %s to 0 : tensor<4xf32>
    %3 = tv.receive from 0 : tensor<4xf32>
  }
}

// -----

// Where the program is, it waits for something else than what holds up the other device.

tv.plan @plan <dp = 1, device = 3, mb = 1> {
  tv.program 0 {
    %s = tv.seed : tensor<4xf32>
    %early = tv.start { %1 = tv.receive from 2 : tensor<4xf32> }
    // expected-note @below {{this comes before it on device 0}}
    %a = tv.start { %1 = tv.receive from 1 : tensor<4xf32> }
    // expected-error @+2 {{on device 0 waits for its turn, behind what waits for device 1 to send: 2 devices wait for each other}}
    // expected-note @below {{device 0 comes to this only after what it waits for}}
    %b = tv.start after %a { tv.send %s to 1 : tensor<4xf32> }
    %2 = tv.wait %early : tensor<4xf32>
    %3 = tv.wait %a : tensor<4xf32>
    tv.wait %b
  }
  tv.program 1 {
    %s = tv.seed : tensor<4xf32>
    // expected-note @below {{device 1 is here and waits for device 0 to send}}
    %2 = tv.receive from 0 : tensor<4xf32>
    tv.send %s to 0 : tensor<4xf32>
    tv.send %s to 2 : tensor<4xf32>
  }
  tv.program 2 {
    %2 = tv.receive from 1 : tensor<4xf32>
    tv.send %2 to 0 : tensor<4xf32>
  }
}

// -----

// Groups that share members, each on a stream, and the streams wait for each other in two orders.

tv.plan @plan <dp = 1, device = 2, mb = 1> {
  tv.program 0 {
    %s = tv.seed : tensor<4xf32>
    // expected-note @+2 {{what it waits for starts here}}
    // expected-note @below {{of group [0, 1] device 1 is missing}}
    %a = tv.start stream "a" { %1 = tv.communicate all_reduce %s group [0, 1] : (tensor<4xf32>) -> tensor<4xf32> }
    // expected-note @below {{device 0 comes to this only after what it waits for}}
    %b = tv.start stream "b" after %a { %1 = tv.communicate all_reduce %s group [0, 1] replicas : (tensor<4xf32>) -> tensor<4xf32> }
    // expected-error @below {{on device 0 waits for members of its group: 2 devices wait for each other}}
    %2 = tv.wait %a : tensor<4xf32>
    %3 = tv.wait %b : tensor<4xf32>
  }
  tv.program 1 {
    %s = tv.seed : tensor<4xf32>
    // expected-note @+2 {{this comes before it on device 1}}
    // expected-note @below {{of group [0, 1] device 0 is missing}}
    %b = tv.start stream "b" { %1 = tv.communicate all_reduce %s group [0, 1] replicas : (tensor<4xf32>) -> tensor<4xf32> }
    // expected-note @+2 {{what it waits for starts here}}
    // expected-note @below {{device 1 comes to this only after what it waits for}}
    %a = tv.start stream "a" after %b { %1 = tv.communicate all_reduce %s group [0, 1] : (tensor<4xf32>) -> tensor<4xf32> }
    // expected-note @below {{device 1 is here and waits for its turn, behind what waits for members of its group}}
    %2 = tv.wait %a : tensor<4xf32>
    %3 = tv.wait %b : tensor<4xf32>
  }
}
