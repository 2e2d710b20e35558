// RUN: grep -v '// wrong$' %s | verify-opt --tv-verify-equiv | FileCheck %s --check-prefix=PROVED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-verify-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// Starts and waits in segments that run for several micro-batches; one stage starts the
// receives of both before it computes.

// PROVED: tv.answer = "proved"
// PROVED-SAME: messages = 4 : i64
// WRONG: error: output {{.*}} differs from the reference

tv.plan @reference <dp = 1, device = 1, mb = 1> {
  tv.segment @forward on 0 cell 2 {
  ^bb0(%x: tensor<2x4xf32>):
    %0 = tv.exp %x : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %1 = tv.reduce sum %0 {dimensions = array<i64: 0, 1>} : (tensor<2x4xf32>) -> tensor<f32>
    tv.return %1 : tensor<f32>
  }
  tv.program 0 {
    %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:2 of 2, 0:4 of 4]>] : tensor<2x4xf32>
    %1 = tv.call @forward(%0) instance 2 : (tensor<2x4xf32>) -> tensor<f32>
    tv.output %1 "y" <8, []> : tensor<f32>
  }
}
tv.plan @plan <dp = 1, device = 2, mb = 2> {
  tv.segment @out on 0 cell 2 {
  ^bb0(%x: tensor<1x4xf32>):
    %h = tv.start { tv.send %x to 1 : tensor<1x4xf32> }
    %s = tv.start { %0 = tv.receive from 1 : tensor<1x4xf32> }
    %y = tv.wait %s : tensor<1x4xf32>
    tv.wait %h
    %1 = tv.exp %y : (tensor<1x4xf32>) -> tensor<1x4xf32> // fixed
    %1 = tv.negate %y : (tensor<1x4xf32>) -> tensor<1x4xf32> // wrong
    %2 = tv.reduce sum %1 {dimensions = array<i64: 0, 1>} : (tensor<1x4xf32>) -> tensor<f32>
    tv.return %2 : tensor<f32>
  }
  tv.segment @back on 1 cell 2 {
  ^bb0(%x: tensor<1x4xf32>):
    %h = tv.start { tv.send %x to 0 : tensor<1x4xf32> }
    tv.wait %h
  }
  tv.program 0 {
    %x0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:1 of 1, 0:4 of 4]>] : tensor<1x4xf32>
    %y0 = tv.call @out(%x0) instance 2 : (tensor<1x4xf32>) -> tensor<f32>
    %x1 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:1 of 1, 0:4 of 4]>] : tensor<1x4xf32>
    %y1 = tv.call @out(%x1) instance 3 : (tensor<1x4xf32>) -> tensor<f32>
    tv.output %y0 "y" <8, []> : tensor<f32>
    tv.output %y1 "y" <8, []> : tensor<f32>
  }
  tv.program 1 {
    %h0 = tv.start { %0 = tv.receive from 0 : tensor<1x4xf32> }
    %h1 = tv.start { %0 = tv.receive from 0 : tensor<1x4xf32> }
    %x0 = tv.wait %h0 : tensor<1x4xf32>
    tv.call @back(%x0) instance 2 : (tensor<1x4xf32>) -> ()
    %x1 = tv.wait %h1 : tensor<1x4xf32>
    tv.call @back(%x1) instance 3 : (tensor<1x4xf32>) -> ()
  }
}
