// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// Tokens are multiplied by the score of the router before they enter an expert whose
// inner dimension is divided over ranks. The gradient of the score is then a term of a
// sum, and so is that of the gate.

// FIXED: tv.answer = "proved"
// WRONG: error: gradient of 'gate' differs from the reference on devices 0-1
// WRONG: note: missing sum: the value is one term of a sum over devices 0-1, and no weight reducer adds the terms up: one is missing; their sum is the value of the reference

tv.graph @B008 <device = 2> {
  %gate = tv.input <parameter "gate"> : tensor<1x4xf32>
  %w1 = tv.input <parameter "w1"> : tensor<6x4xf32>
  %x = tv.input <input "x"> : tensor<5x4xf32>
  %dh = tv.input <input "dh"> : tensor<5x6xf32>
  %dxs = tv.einsum %dh, %w1 {equation = "tn,nk->tk"} : (tensor<5x6xf32>, tensor<6x4xf32>) -> tensor<5x4xf32> loc("dxs"("model.py":1:0))
  %dscore = tv.einsum %dxs, %x {equation = "tk,tk->t"} : (tensor<5x4xf32>, tensor<5x4xf32>) -> tensor<5xf32> loc("dscore"("model.py":2:0))
  %u0 = tv.linear %x, %gate : (tensor<5x4xf32>, tensor<1x4xf32>) -> tensor<5x1xf32> loc("linear"("model.py":3:0))
  %score = tv.sigmoid %u0 : (tensor<5x1xf32>) -> tensor<5x1xf32> loc("score"("model.py":4:0))
  %one = tv.constant dense<1.0> : tensor<f64> : () -> tensor<f32> loc("one"("model.py":5:0))
  %u1 = tv.subtract %one, %score : (tensor<f32>, tensor<5x1xf32>) -> tensor<5x1xf32> loc("subtract"("model.py":6:0))
  %slope = tv.multiply %score, %u1 : (tensor<5x1xf32>, tensor<5x1xf32>) -> tensor<5x1xf32> loc("slope"("model.py":7:0))
  %dgate = tv.einsum %dscore, %slope, %x {equation = "t,tg,tk->gk"} : (tensor<5xf32>, tensor<5x1xf32>, tensor<5x4xf32>) -> tensor<1x4xf32> loc("dgate"("model.py":8:0))
  %x0 = tv.distribute %x <[0:5 of 5], [0:4 of 4]> on <device = 0> : (tensor<5x4xf32>) -> tensor<5x4xf32>
  %g0 = tv.distribute %gate <[0:1 of 1], [0:4 of 4]> on <device = 0> : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %w1_0 = tv.distribute %w1 <[0:3 of 6], [0:4 of 4]> on <device = 0> : (tensor<6x4xf32>) -> tensor<3x4xf32>
  %dh0 = tv.distribute %dh <[0:5 of 5], [0:3 of 6]> on <device = 0> : (tensor<5x6xf32>) -> tensor<5x3xf32>
  %dxs0 = tv.einsum %dh0, %w1_0 on <device = 0> {equation = "tn,nk->tk"} : (tensor<5x3xf32>, tensor<3x4xf32>) -> tensor<5x4xf32> loc("dxs"("model.py":1:0))
  %x1 = tv.distribute %x <[0:5 of 5], [0:4 of 4]> on <device = 1> : (tensor<5x4xf32>) -> tensor<5x4xf32>
  %g1 = tv.distribute %gate <[0:1 of 1], [0:4 of 4]> on <device = 1> : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %w1_1 = tv.distribute %w1 <[3:6 of 6], [0:4 of 4]> on <device = 1> : (tensor<6x4xf32>) -> tensor<3x4xf32>
  %dh1 = tv.distribute %dh <[0:5 of 5], [3:6 of 6]> on <device = 1> : (tensor<5x6xf32>) -> tensor<5x3xf32>
  %dxs1 = tv.einsum %dh1, %w1_1 on <device = 1> {equation = "tn,nk->tk"} : (tensor<5x3xf32>, tensor<3x4xf32>) -> tensor<5x4xf32> loc("dxs"("model.py":1:0))
  %sum = tv.all_reduce %dxs0, %dxs1 over [] on <device = 0:2> : (tensor<5x4xf32>, tensor<5x4xf32>) -> tensor<5x4xf32> loc("sum"("model.py":9:0)) // fixed
  %ds0 = tv.einsum %dxs0, %x0 on <device = 0> {equation = "tk,tk->t"} : (tensor<5x4xf32>, tensor<5x4xf32>) -> tensor<5xf32> loc("ds"("model.py":10:0)) // wrong
  %ds0 = tv.einsum %sum, %x0 on <device = 0> {equation = "tk,tk->t"} : (tensor<5x4xf32>, tensor<5x4xf32>) -> tensor<5xf32> loc("ds"("model.py":10:0)) // fixed
  %u2 = tv.linear %x0, %g0 on <device = 0> : (tensor<5x4xf32>, tensor<1x4xf32>) -> tensor<5x1xf32> loc("linear"("model.py":11:0))
  %score0 = tv.sigmoid %u2 on <device = 0> : (tensor<5x1xf32>) -> tensor<5x1xf32> loc("score"("model.py":4:0))
  %u3 = tv.constant dense<1.0> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":12:0))
  %u4 = tv.subtract %u3, %score0 on <device = 0> : (tensor<f32>, tensor<5x1xf32>) -> tensor<5x1xf32> loc("subtract"("model.py":13:0))
  %slope0 = tv.multiply %score0, %u4 on <device = 0> : (tensor<5x1xf32>, tensor<5x1xf32>) -> tensor<5x1xf32> loc("slope"("model.py":7:0))
  %dg0 = tv.einsum %ds0, %slope0, %x0 on <device = 0> {equation = "t,tg,tk->gk"} : (tensor<5xf32>, tensor<5x1xf32>, tensor<5x4xf32>) -> tensor<1x4xf32> loc("dg"("model.py":14:0))
  tv.expect %dg0 is %dgate <[0:1 of 1], [0:4 of 4]> on <device = 0> contract <gradient "gate"> : tensor<1x4xf32> is tensor<1x4xf32>
  %ds1 = tv.einsum %dxs1, %x1 on <device = 1> {equation = "tk,tk->t"} : (tensor<5x4xf32>, tensor<5x4xf32>) -> tensor<5xf32> loc("ds"("model.py":10:0)) // wrong
  %ds1 = tv.einsum %sum, %x1 on <device = 1> {equation = "tk,tk->t"} : (tensor<5x4xf32>, tensor<5x4xf32>) -> tensor<5xf32> loc("ds"("model.py":10:0)) // fixed
  %u5 = tv.linear %x1, %g1 on <device = 1> : (tensor<5x4xf32>, tensor<1x4xf32>) -> tensor<5x1xf32> loc("linear"("model.py":11:0))
  %score1 = tv.sigmoid %u5 on <device = 1> : (tensor<5x1xf32>) -> tensor<5x1xf32> loc("score"("model.py":4:0))
  %u6 = tv.constant dense<1.0> : tensor<f64> on <device = 1> : () -> tensor<f32> loc("constant"("model.py":12:0))
  %u7 = tv.subtract %u6, %score1 on <device = 1> : (tensor<f32>, tensor<5x1xf32>) -> tensor<5x1xf32> loc("subtract"("model.py":13:0))
  %slope1 = tv.multiply %score1, %u7 on <device = 1> : (tensor<5x1xf32>, tensor<5x1xf32>) -> tensor<5x1xf32> loc("slope"("model.py":7:0))
  %dg1 = tv.einsum %ds1, %slope1, %x1 on <device = 1> {equation = "t,tg,tk->gk"} : (tensor<5xf32>, tensor<5x1xf32>, tensor<5x4xf32>) -> tensor<1x4xf32> loc("dg"("model.py":14:0))
  tv.expect %dg1 is %dgate <[0:1 of 1], [0:4 of 4]> on <device = 1> contract <gradient "gate"> : tensor<1x4xf32> is tensor<1x4xf32>
}
