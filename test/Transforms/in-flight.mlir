// RUN: grep -v '// wrong$' %s | verify-opt --tv-canonicalize-ssa --tv-check-equiv | FileCheck %s --check-prefix=VALUES
// RUN: grep -v '// wrong$' %s | verify-opt --tv-verify-equiv | FileCheck %s --check-prefix=PROVED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-canonicalize-ssa --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=RACE
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-verify-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=RACE
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-canonicalize-ssa --mlir-print-ir-after-failure 2>&1 | FileCheck %s --check-prefix=MALFORMED

// A gradient is reduced in place. What is read meanwhile goes nowhere, so that every value
// is right; but a race has no values, whether or not the schedule was checked before.

// VALUES: tv.answer = "proved"
// PROVED: tv.answer = "proved", tv.assumptions = ["communication that was started goes on without being waited for, also while what was started before waits"]
// RACE: error: 'tv.read' op on device 0 reads 'w0' while communication writes to it
// RACE: note: it was started here
// RACE: note: and is waited for here, which has to come before
// RACE-NOT: error
// MALFORMED: tv.malformed = "memory is used while communication uses it"

tv.plan @reference <dp = 1, device = 1, mb = 1> {
  tv.buffer @w0_0 on 0 "w0" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g0_0 on 0 "w0" holds <3, [0:4 of 4]> gradient_of @w0_0 : !tv.buffer<tensor<4xf32>>
  tv.segment @forward0_0 on 0 cell 0 {
  ^bb0(%x: tensor<4x4xf32>):
    %w = tv.read @w0_0 : tensor<4xf32>
    %s = tv.multiply %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %0 = tv.multiply %s, %w : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
    %1 = tv.reduce sum %0 {dimensions = array<i64: 0, 1>} : (tensor<4x4xf32>) -> tensor<f32>
    tv.save 0 from %x, %w to %1 : tensor<4x4xf32>, tensor<4xf32> to tensor<f32>
    tv.return %1 : tensor<f32>
  }
  tv.segment @backward0_0 on 0 cell 1 backward {
    %d = tv.seed : tensor<f32>
    %dx, %dw = tv.backward %d of 0 {outputs = array<i64: 0>, wrt = array<i64: 0, 1>} : (tensor<f32>) -> (tensor<4x4xf32>, tensor<4xf32>)
    tv.add_to %dw, @g0_0 : tensor<4xf32>
    tv.return %dx : tensor<4x4xf32>
  }
  tv.program 0 {
    %y = tv.load_data cell 1 ["x"] holds [#tv.piece<1, [0:4 of 4, 0:4 of 4]>] : tensor<4x4xf32>
    %y0 = tv.call @forward0_0(%y) instance 0 mirror 1 : (tensor<4x4xf32>) -> tensor<f32>
    tv.output %y0 "loss" <2, []> : tensor<f32>
    %d0 = tv.call @backward0_0() instance 1 mirror 0 : () -> tensor<4x4xf32>
  }
}
tv.plan @plan <dp = 2, device = 1, mb = 2> {
  tv.buffer @w0_0 on 0 "w0" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g0_0 on 0 "w0" holds <3, [0:4 of 4]> gradient_of @w0_0 : !tv.buffer<tensor<4xf32>>
  tv.segment @forward0_0 on 0 cell 0 {
  ^bb0(%x: tensor<1x4xf32>):
    %w = tv.read @w0_0 : tensor<4xf32>
    %s = tv.multiply %x, %x : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
    %0 = tv.multiply %s, %w : (tensor<1x4xf32>, tensor<4xf32>) -> tensor<1x4xf32>
    %1 = tv.reduce sum %0 {dimensions = array<i64: 0, 1>} : (tensor<1x4xf32>) -> tensor<f32>
    tv.save 0 from %x, %w to %1 : tensor<1x4xf32>, tensor<4xf32> to tensor<f32>
    tv.return %1 : tensor<f32>
  }
  tv.segment @backward0_0 on 0 cell 1 backward {
    %d = tv.seed : tensor<f32>
    %dx, %dw = tv.backward %d of 0 {outputs = array<i64: 0>, wrt = array<i64: 0, 1>} : (tensor<f32>) -> (tensor<1x4xf32>, tensor<4xf32>)
    tv.add_to %dw, @g0_0 : tensor<4xf32>
    tv.return %dx : tensor<1x4xf32>
  }
  tv.program 0 {
    %x0 = tv.load_data cell 1 ["x"] holds [#tv.piece<1, [0:1 of 1, 0:4 of 4]>] : tensor<1x4xf32>
    %y0_0 = tv.call @forward0_0(%x0) instance 0 mirror 1 : (tensor<1x4xf32>) -> tensor<f32>
    %x1 = tv.load_data cell 1 ["x"] holds [#tv.piece<1, [0:1 of 1, 0:4 of 4]>] : tensor<1x4xf32>
    %y0_1 = tv.call @forward0_0(%x1) instance 3 mirror 4 : (tensor<1x4xf32>) -> tensor<f32>
    %d0_1 = tv.call @backward0_0() instance 4 mirror 3 : () -> tensor<1x4xf32>
    %d0_0 = tv.call @backward0_0() instance 1 mirror 0 : () -> tensor<1x4xf32>
    %g0 = tv.read @g0_0 : tensor<4xf32>
    %reducing_0 = tv.start into @g0_0 { %reducing_0_value = tv.communicate all_reduce %g0 group [0] replicas : (tensor<4xf32>) -> tensor<4xf32> }
    %n0 = tv.read @g0_0 : tensor<4xf32> // wrong
    tv.wait %reducing_0
    %n0 = tv.read @g0_0 : tensor<4xf32> // fixed
    tv.output %y0_0 "loss" <2, []> : tensor<f32>
    tv.output %y0_1 "loss" <2, []> : tensor<f32>
  }
}
