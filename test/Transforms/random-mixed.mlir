// RUN: grep -v '// wrong$' %s | verify-opt --tv-interpret=seed=1 --tv-interpret=seed=3 --tv-verify-equiv > %t.mlir
// RUN: FileCheck %s --check-prefix=RIGHT --input-file=%t.mlir
// RUN: grep -v '// right$' %s | not verify-opt --tv-interpret=seed=1 --tv-interpret=seed=3 --tv-verify-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// The result of a collective that different micro-batches enter is of the first one's, on all devices: what is
// drawn like it is, too. The verdict and execution mean the same.

// RIGHT-COUNT-2: output 'loss' {{.*}} equal
// RIGHT: tv.answer = "proved"
// WRONG-DAG: output 'loss' {{.*}} differs on 1: device 1
// WRONG-DAG: error: output 'loss' differs from the reference on device 1

tv.plan @reference <dp = 1, device = 1, mb = 1> {
  tv.segment @f on 0 cell 0 {
  ^bb0(%x: tensor<2xf32>, %c: tensor<2xf32>):
    %r = tv.random "dropout" <14, [0:2 of 2]> like %x : tensor<2xf32> -> tensor<2xf32>
    %t = tv.reduce sum %x {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32>
    %b = tv.multiply %c, %r : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %e = tv.multiply %b, %t : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
    %l = tv.reduce sum %e {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32>
    tv.return %l : tensor<f32>
  }
  tv.program 0 {
    %x, %c = tv.load_data cell 1 ["x", "c"] holds [#tv.piece<1, [0:2 of 2]>, #tv.piece<2, [0:2 of 2]>] : tensor<2xf32>, tensor<2xf32>
    %y = tv.call @f(%x, %c) instance 0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<f32>
    tv.output %y "loss" <2, []> : tensor<f32>
  }
}
tv.plan @plan <dp = 1, device = 2, mb = 2> {
  tv.segment @f0 on 0 cell 0 {
  ^bb0(%x: tensor<1xf32>, %c: tensor<1xf32>):
    %t = tv.communicate all_reduce %x group [0, 1] : (tensor<1xf32>) -> tensor<1xf32>
    %r = tv.random "dropout" <14, [0:1 of 1]> like %t : tensor<1xf32> -> tensor<1xf32>
    %b = tv.multiply %c, %r : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
    %e = tv.multiply %b, %t : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
    %l = tv.reduce sum %e {dimensions = array<i64: 0>} : (tensor<1xf32>) -> tensor<f32>
    tv.return %l : tensor<f32>
  }
  tv.program 0 {
    %x0, %c0 = tv.load_data cell 1 ["x", "c"] holds [#tv.piece<1, [0:1 of 1]>, #tv.piece<2, [0:1 of 1]>] : tensor<1xf32>, tensor<1xf32>
    %x1, %c1 = tv.load_data cell 1 ["x", "c"] holds [#tv.piece<1, [0:1 of 1]>, #tv.piece<2, [0:1 of 1]>] : tensor<1xf32>, tensor<1xf32>
    %y0 = tv.call @f0(%x0, %c0) instance 0 : (tensor<1xf32>, tensor<1xf32>) -> tensor<f32>
    tv.output %y0 "loss" <2, []> : tensor<f32>
    %y1 = tv.call @f0(%x1, %c1) instance 2 : (tensor<1xf32>, tensor<1xf32>) -> tensor<f32>
    tv.output %y1 "loss" <2, []> : tensor<f32>
  }
  tv.segment @f1 on 1 cell 0 {
  ^bb0(%x: tensor<1xf32>, %c: tensor<1xf32>):
    %t = tv.communicate all_reduce %x group [0, 1] : (tensor<1xf32>) -> tensor<1xf32>
    %r = tv.random "dropout" <14, [0:1 of 1]> like %t : tensor<1xf32> -> tensor<1xf32>
    %b = tv.multiply %c, %r : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
    %e = tv.multiply %b, %t : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
    %l = tv.reduce sum %e {dimensions = array<i64: 0>} : (tensor<1xf32>) -> tensor<f32>
    tv.return %l : tensor<f32>
  }
  tv.program 1 {
    %x0, %c0 = tv.load_data cell 1 ["x", "c"] holds [#tv.piece<1, [0:1 of 1]>, #tv.piece<2, [0:1 of 1]>] : tensor<1xf32>, tensor<1xf32>
    %x1, %c1 = tv.load_data cell 1 ["x", "c"] holds [#tv.piece<1, [0:1 of 1]>, #tv.piece<2, [0:1 of 1]>] : tensor<1xf32>, tensor<1xf32>
    %y0 = tv.call @f1(%x1, %c0) instance 0 : (tensor<1xf32>, tensor<1xf32>) -> tensor<f32> // right
    %y0 = tv.call @f1(%x1, %c1) instance 0 : (tensor<1xf32>, tensor<1xf32>) -> tensor<f32> // wrong
    tv.output %y0 "loss" <2, []> : tensor<f32>
    %y1 = tv.call @f1(%x0, %c1) instance 2 : (tensor<1xf32>, tensor<1xf32>) -> tensor<f32> // right
    %y1 = tv.call @f1(%x0, %c0) instance 2 : (tensor<1xf32>, tensor<1xf32>) -> tensor<f32> // wrong
    tv.output %y1 "loss" <2, []> : tensor<f32>
  }
}
