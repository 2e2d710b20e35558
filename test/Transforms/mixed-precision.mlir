// RUN: verify-opt --tv-verify-equiv %s | FileCheck %s --check-prefix=PROVED
// RUN: sed 's,bf16\(.*// got\)$,f16\1,' %s \
// RUN:   | not verify-opt --tv-verify-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: sed 's|tv.communicate all_reduce \(.part\) group .0, 1.|tv.copy \1|' %s \
// RUN:   | not verify-opt --tv-verify-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=TERM
// RUN: sed 's|tv.copy \(.narrow\)|tv.add \1, \1|; s|: (\(.*\)) -> \(.*\) // gradient|: (\1, \1) -> \2|' %s \
// RUN:   | not verify-opt --tv-verify-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=TWICE

// Values are converted to 16 bits for the way and back, right before a collective and a message and right after;
// so are their gradients. Both sides of a message have to say the same type.

// PROVED: tv.answer = "proved"
// OTHER: error: 'tv.receive' op expects 'tensor<4xf16>', device 0 sends 'tensor<4xbf16>'
// TERM: error: {{.*}} differs from the reference
// TERM: note: wrong scale factor: the value is 1/2 times
// TWICE: error: gradient of 'w' differs from the reference on device 0

tv.plan @reference <dp = 1, device = 1, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @gw on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.segment @forward on 0 cell 0 {
  ^bb0(%x: tensor<4xf32>):
    %w = tv.read @w : tensor<4xf32>
    %h = tv.multiply %x, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %y = tv.reduce sum %h {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
    tv.save 0 from %w to %y : tensor<4xf32> to tensor<f32>
    tv.return %y : tensor<f32>
  }
  tv.segment @backward on 0 cell 1 backward {
    %d = tv.seed : tensor<f32>
    %dw = tv.backward %d of 0 {outputs = array<i64: 0>, wrt = array<i64: 0>} : (tensor<f32>) -> tensor<4xf32>
    tv.add_to %dw, @gw : tensor<4xf32>
    tv.return
  }
  tv.program 0 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<1, [0:4 of 4]>] : tensor<4xf32>
    %y = tv.call @forward(%x) instance 0 mirror 1 : (tensor<4xf32>) -> tensor<f32>
    tv.output %y "loss" <2, []> : tensor<f32>
    tv.call @backward() instance 1 mirror 0 : () -> ()
  }
}

// Half of the product is computed on each device; device 1 goes on with the sum that device 0 sends.
tv.plan @plan <dp = 1, device = 2, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @gw on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.buffer @w1 on 1 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @gw1 on 1 "w" holds <3, [0:4 of 4]> gradient_of @w1 : !tv.buffer<tensor<4xf32>>
  tv.segment @forward0 on 0 cell 10 {
  ^bb0(%x: tensor<4xf32>):
    %w = tv.read @w : tensor<4xf32>
    %h = tv.multiply %x, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    tv.save 0 from %w to %h : tensor<4xf32> to tensor<4xf32>
    %c = tv.constant dense<0.5> : tensor<f64> : () -> tensor<4xf32>
    %half = tv.multiply %h, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %part = tv.copy %half : (tensor<4xf32>) -> tensor<4xbf16>
    %total = tv.communicate all_reduce %part group [0, 1] : (tensor<4xbf16>) -> tensor<4xbf16>
    tv.send %total to 1 : tensor<4xbf16>
    tv.return
  }
  tv.segment @backward0 on 0 cell 11 backward {
    %narrow = tv.receive from 1 : tensor<4xbf16>
    %dh = tv.copy %narrow : (tensor<4xbf16>) -> tensor<4xf32> // gradient
    %dw = tv.backward %dh of 0 {outputs = array<i64: 0>, wrt = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
    tv.add_to %dw, @gw : tensor<4xf32>
    tv.return
  }
  tv.segment @forward1 on 1 cell 20 {
  ^bb0(%x: tensor<4xf32>):
    %w = tv.read @w1 : tensor<4xf32>
    %h = tv.multiply %x, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    tv.save 1 from %w to %h : tensor<4xf32> to tensor<4xf32>
    %c = tv.constant dense<0.5> : tensor<f64> : () -> tensor<4xf32>
    %half = tv.multiply %h, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %part = tv.copy %half : (tensor<4xf32>) -> tensor<4xbf16>
    %total = tv.communicate all_reduce %part group [0, 1] : (tensor<4xbf16>) -> tensor<4xbf16>
    %got = tv.receive from 0 : tensor<4xbf16> // got
    %wide = tv.copy %got : (tensor<4xbf16>) -> tensor<4xf32> // got
    tv.save 3 from %got to %wide : tensor<4xbf16> to tensor<4xf32> // got
    %y = tv.reduce sum %wide {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
    tv.save 2 from %wide to %y : tensor<4xf32> to tensor<f32>
    tv.return %y : tensor<f32>
  }
  tv.segment @backward1 on 1 cell 21 backward {
    %d = tv.seed : tensor<f32>
    %dwide = tv.backward %d of 2 {outputs = array<i64: 0>, wrt = array<i64: 0>} : (tensor<f32>) -> tensor<4xf32>
    %dgot = tv.backward %dwide of 3 {outputs = array<i64: 0>, wrt = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xbf16>
    tv.send %dgot to 0 : tensor<4xbf16>
    %dh = tv.copy %dgot : (tensor<4xbf16>) -> tensor<4xf32>
    %dw = tv.backward %dh of 1 {outputs = array<i64: 0>, wrt = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
    tv.add_to %dw, @gw1 : tensor<4xf32>
    tv.return
  }
  tv.program 0 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<1, [0:4 of 4]>] : tensor<4xf32>
    tv.call @forward0(%x) instance 10 mirror 11 : (tensor<4xf32>) -> ()
    tv.call @backward0() instance 11 mirror 10 : () -> ()
  }
  tv.program 1 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<1, [0:4 of 4]>] : tensor<4xf32>
    %y = tv.call @forward1(%x) instance 20 mirror 21 : (tensor<4xf32>) -> tensor<f32>
    tv.output %y "loss" <2, []> : tensor<f32>
    tv.call @backward1() instance 21 mirror 20 : () -> ()
  }
}
