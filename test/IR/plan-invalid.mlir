// RUN: verify-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{'tv.buffer' op expects parent op 'tv.plan'}}
tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>

// -----

// expected-error @below {{'tv.segment' op expects parent op 'tv.plan'}}
tv.segment @s on 0 cell 1 {
}

// -----

// expected-error @below {{'tv.program' op expects parent op 'tv.plan'}}
tv.program 0 {
}

// -----

tv.plan @return_outside_a_segment <device = 1> {
  tv.program 0 {
    // expected-error @below {{'tv.return' op expects parent op 'tv.segment'}}
    tv.return
  }
}

// -----

tv.plan @name_used_twice <device = 1> {
  // expected-note @below {{see existing symbol definition here}}
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  // expected-error @below {{redefinition of symbol named 'w'}}
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
}
