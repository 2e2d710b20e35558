// RUN: sed 's/concat %a, %b/concat %b, %a/' %s > %t.mlir
// RUN: verify-opt %s --tv-verify-equiv | FileCheck %s --check-prefix=RIGHT
// RUN: not verify-opt %t.mlir --tv-verify-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// Blocks of a long sequence change places: that shows on inputs where the first position
// of each differs from the others. On those where only the last position of all differs
// both blocks are equal.

// RIGHT: tv.answer = "proved"
// WRONG: error: output 'y' differs from the reference on device 0
// WRONG: plan.py:1:0: note: other value: the operands of 'joined' are values of the reference
// WRONG: counterexample: with the inputs of seed 0, few of them different along long dimensions, element

tv.graph @blocks <device = 1> {
  %x = tv.input <input "x"> : tensor<8192x2xf32>
  %mask = tv.lower_triangle : () -> tensor<8192x8192xf32> loc("mask"("model.py":1:0))
  %y = tv.einsum %mask, %x {equation = "mn,nk->mk"} : (tensor<8192x8192xf32>, tensor<8192x2xf32>) -> tensor<8192x2xf32> loc("y"("model.py":3:0))
  %x_0 = tv.distribute %x <[0:8192 of 8192], [0:2 of 2]> on <device = 0> : (tensor<8192x2xf32>) -> tensor<8192x2xf32>
  %a = tv.slice %x_0 on <device = 0> {dimension = 0 : i64, start = 0 : i64, end = 2048 : i64} : (tensor<8192x2xf32>) -> tensor<2048x2xf32>
  %b = tv.slice %x_0 on <device = 0> {dimension = 0 : i64, start = 2048 : i64, end = 4096 : i64} : (tensor<8192x2xf32>) -> tensor<2048x2xf32>
  %c = tv.slice %x_0 on <device = 0> {dimension = 0 : i64, start = 4096 : i64, end = 8192 : i64} : (tensor<8192x2xf32>) -> tensor<4096x2xf32>
  %joined = tv.concat %a, %b, %c on <device = 0> {dimension = 0 : i64} : (tensor<2048x2xf32>, tensor<2048x2xf32>, tensor<4096x2xf32>) -> tensor<8192x2xf32> loc("joined"("plan.py":1:0))
  %mask_0 = tv.lower_triangle on <device = 0> : () -> tensor<8192x8192xf32> loc("mask"("model.py":1:0))
  %y_0 = tv.einsum %mask_0, %joined on <device = 0> {equation = "mn,nk->mk"} : (tensor<8192x8192xf32>, tensor<8192x2xf32>) -> tensor<8192x2xf32> loc("y"("model.py":3:0))
  tv.expect %y_0 is %y <[0:8192 of 8192], [0:2 of 2]> on <device = 0> contract <output "y"> : tensor<8192x2xf32> is tensor<8192x2xf32>
}
