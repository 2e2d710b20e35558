// RUN: verify-opt %s --tv-interpret -split-input-file -verify-diagnostics -o /dev/null
// RUN: not verify-opt %s --tv-interpret=symbol=nowhere -split-input-file -o /dev/null 2>&1 | FileCheck %s --check-prefix=SYMBOL
// RUN: not verify-opt %s --tv-interpret="symbol=root arithmetic=exact" -split-input-file -o /dev/null 2>&1 | FileCheck %s --check-prefix=EXACT
// SYMBOL: error: has no program to run of name 'nowhere'
// EXACT: error: 'tv.rsqrt' op has a value that is not rational

// What cannot be run says why, at the op.

// Nothing is missing but a number: not an error without arithmetic=exact.
tv.graph @root <> {
  %two = tv.constant dense<2.0> : tensor<f64> : () -> tensor<f64>
  %y = tv.rsqrt %two : (tensor<f64>) -> tensor<f64>
}

// -----

tv.graph @undefined <> {
  %two = tv.constant dense<-2.0> : tensor<f64> : () -> tensor<f64>
  // expected-error @below {{is evaluated outside of its domain; try another seed or other inputs}}
  %y = tv.rsqrt %two : (tensor<f64>) -> tensor<f64>
}

// -----

tv.graph @large <> {
  // expected-error @below {{the run needs more than 134217728 tensor elements at a time; run a plan of the same shape with smaller sizes, or raise the limit}}
  %x = tv.input <input "x"> : tensor<65536x65536xf32>
  %y = tv.negate %x : (tensor<65536x65536xf32>) -> tensor<65536x65536xf32>
}

// -----

tv.graph @long <> {
  %x = tv.input <input "x"> : tensor<4096x16xf32>
  // expected-error @below {{the run takes more than 17179869184 scalar operations}}
  %y = tv.einsum %x, %x, %x {equation = "ax,bx,cx->x"} : (tensor<4096x16xf32>, tensor<4096x16xf32>, tensor<4096x16xf32>) -> tensor<16xf32>
}

// -----

// expected-error @below {{the reference is a plan for #tv.mesh<dp = 1, device = 2, mb = 1>, and not for one device and one micro-batch}}
tv.plan @alone <dp = 1, device = 2, mb = 1> {
}

// -----

tv.plan @waits <device = 1> {
  tv.segment @segment on 0 cell 1 {
  ^bb0(%x: tensor<2xf32>):
    // expected-error @below {{runs before its forward op (cell 7) in the execution that it mirrors}}
    %0 = tv.backward %x of 7 {outputs = array<i64: 0>, wrt = array<i64: 0>} : (tensor<2xf32>) -> tensor<2xf32>
  }
  tv.program 0 {
    %seed = tv.seed : tensor<2xf32>
    tv.call @segment(%seed) instance 1 mirror 0 : (tensor<2xf32>) -> ()
  }
}

// -----

tv.plan @reference <device = 1> {
  tv.program 0 {
    %seed = tv.seed : tensor<2xf32>
    tv.output %seed "one" <1, [0:2 of 2]> : tensor<2xf32>
  }
}

tv.plan @plan <dp = 1, device = 2, mb = 1> {
  tv.program 0 {
    // expected-error @below {{on device 0 of replica 0 waits without end}}
    %0 = tv.receive from 1 : tensor<2xf32>
    tv.send %0 to 1 : tensor<2xf32>
  }
  tv.program 1 {
    // expected-note @below {{device 1 waits here}}
    %0 = tv.receive from 0 : tensor<2xf32>
    tv.send %0 to 0 : tensor<2xf32>
  }
}

// -----

tv.plan @reference <device = 1> {
  tv.program 0 {
    %seed = tv.seed : tensor<2xf32>
    tv.output %seed "one" <1, [0:2 of 2]> : tensor<2xf32>
  }
}

tv.plan @plan <dp = 1, device = 2, mb = 1> {
  tv.program 0 {
    %seed = tv.seed : tensor<2xf32>
    // expected-note @below {{the other member's collective}}
    %0 = tv.communicate all_reduce %seed group [0, 1] : (tensor<2xf32>) -> tensor<2xf32>
  }
  tv.program 1 {
    %seed = tv.seed : tensor<2xf32>
    // expected-error @below {{is not what another member of its group enters at this point}}
    %0 = tv.communicate broadcast %seed group [0, 1] {root = 0 : i64} : (tensor<2xf32>) -> tensor<2xf32>
  }
}

// -----

tv.plan @reference <device = 1> {
  tv.program 0 {
    %seed = tv.seed : tensor<2xf32>
    tv.output %seed "one" <1, [0:2 of 2]> : tensor<2xf32>
  }
}

tv.plan @plan <dp = 1, device = 2, mb = 1> {
  tv.program 0 {
    %seed = tv.seed : tensor<2xf32>
    // expected-error @below {{to device 1 is never received}}
    tv.send %seed to 1 : tensor<2xf32>
  }
  tv.program 1 {
  }
}

// -----

tv.plan @reference <device = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    %w = tv.read @w : tensor<4xf32>
    tv.output %w "w" <3, [0:4 of 4]> : tensor<4xf32>
  }
}

tv.plan @plan <dp = 2, device = 1, mb = 1> {
  // expected-error @below {{the reference program does not belong to this plan: parameter 'w' has shape [4] there, the plan holds #tv.piece<3, [0:1 of 2]>}}
  tv.buffer @w on 0 "w" holds <3, [0:1 of 2]> : !tv.buffer<tensor<1xf32>>
  tv.program 0 {
    %w = tv.read @w : tensor<1xf32>
    tv.output %w "w" <3, [0:1 of 2]> : tensor<1xf32>
  }
}
