// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// Two micro-batches whose identity counts: each has a result of its own. The loaders
// of one stage run in reverse, so targets belong to the other micro-batch.

// FIXED: tv.answer = "proved"
// WRONG: error: output 'loss' differs from the reference on device 1
// WRONG: model.py:1:0: note: other value: the operands of 'loss' are values of the reference, its result is no part, sum or multiple of a value there

tv.graph @B138 <device = 2, mb = 2> {
  %x = tv.input <input "x"> : tensor<4x2xf32>
  %target = tv.input <input "target"> : tensor<4x2xf32>
  %loss = tv.einsum %x, %target {equation = "tk,tk->t"} : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4xf32> loc("loss"("model.py":1:0))
  %x_0 = tv.distribute %x <[mb, 0:2 of 2], [0:2 of 2]> on <device = 0> : (tensor<4x2xf32>) -> tensor<2x2xf32>
  %h = tv.move %x_0 from <device = 0> on <device = 1> : (tensor<2x2xf32>) -> tensor<2x2xf32> loc("h"("model.py":2:0))
  %t_1 = tv.distribute %target <[mb, 0:2 of 2], [0:2 of 2]> on <device = 1> : (tensor<4x2xf32>) -> tensor<2x2xf32> // fixed
  %late = tv.distribute %target <[2:4 of 4], [0:2 of 2]> on <device = 1, mb = 0> : (tensor<4x2xf32>) -> tensor<2x2xf32> // wrong
  %early = tv.distribute %target <[0:2 of 4], [0:2 of 2]> on <device = 1, mb = 1> : (tensor<4x2xf32>) -> tensor<2x2xf32> // wrong
  %l0 = tv.einsum %h, %late on <device = 1, mb = 0> {equation = "tk,tk->t"} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2xf32> loc("loss"("model.py":1:0)) // wrong
  tv.expect %l0 is %loss <[0:2 of 4]> on <device = 1, mb = 0> contract <output "loss"> : tensor<2xf32> is tensor<4xf32> // wrong
  %l1 = tv.einsum %h, %early on <device = 1, mb = 1> {equation = "tk,tk->t"} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2xf32> loc("loss"("model.py":1:0)) // wrong
  tv.expect %l1 is %loss <[2:4 of 4]> on <device = 1, mb = 1> contract <output "loss"> : tensor<2xf32> is tensor<4xf32> // wrong
  %l = tv.einsum %h, %t_1 on <device = 1> {equation = "tk,tk->t"} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2xf32> loc("loss"("model.py":1:0)) // fixed
  tv.expect %l is %loss <[mb, 0:2 of 2]> on <device = 1> contract <output "loss"> : tensor<2xf32> is tensor<4xf32> // fixed
}
