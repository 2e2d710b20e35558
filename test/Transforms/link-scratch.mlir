// RUN: not verify-opt %s --tv-canonicalize-ssa --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=LATE
// RUN: sed 's/@reference/@other/; s/@plan/@reference/; s/@other/@plan/' %s | not verify-opt --tv-canonicalize-ssa --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=LATE
// RUN: sed '/late/d' %s | verify-opt --tv-canonicalize-ssa --tv-check-equiv | FileCheck %s
// RUN: sed '/late/d; s/@reference/@other/; s/@plan/@reference/; s/@other/@plan/' %s | verify-opt --tv-canonicalize-ssa --tv-check-equiv | FileCheck %s

// A backward that uses what scratch memory held before it was overwritten: which
// of two values that is no linking can tell, so no plan that does it is linked,
// although its schedule was not checked before, and no reference.

// LATE: error: {{.*}}reads 'slot' through a tensor that was read before it was overwritten
// CHECK: tv.answer = "proved"

tv.plan @reference <dp = 1, device = 1, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.segment @forward on 0 cell 5 {
  ^bb0(%x: tensor<4xf32>):
    %w = tv.read @w : tensor<4xf32>
    %0 = tv.multiply %w, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    tv.save 7 from %w, %x to %0 : tensor<4xf32>, tensor<4xf32> to tensor<4xf32>
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
    %y = tv.call @forward(%x) instance 1 mirror 2 : (tensor<4xf32>) -> tensor<4xf32>
    tv.call @backward() instance 2 mirror 1 : () -> ()
    tv.output %y "y" <2, [0:4 of 4]> : tensor<4xf32>
  }
}
tv.plan @plan <dp = 1, device = 1, mb = 1> {
  tv.scratch @slot on 0 "slot" : !tv.buffer<tensor<4xf32>>
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.segment @forward on 0 cell 5 {
    %w = tv.read @w : tensor<4xf32>
    %v = tv.read @slot : tensor<4xf32>
    %0 = tv.multiply %w, %v : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    tv.save 7 from %w, %v to %0 : tensor<4xf32>, tensor<4xf32> to tensor<4xf32>
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
    tv.write %x, @slot : tensor<4xf32>
    %y = tv.call @forward() instance 1 mirror 2 : () -> tensor<4xf32>
    %s = tv.seed : tensor<4xf32>
    tv.write %s, @slot : tensor<4xf32> // late
    tv.call @backward() instance 2 mirror 1 : () -> ()
    tv.output %y "y" <2, [0:4 of 4]> : tensor<4xf32>
  }
}
