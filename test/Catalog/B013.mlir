// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// The log-probability of a target whose vocabulary is divided over ranks. Its value is
// right; the sum over ranks of exponentials has no derivative in the wrong plan, so a
// rank that does not hold the target gives no gradient.

// FIXED: tv.answer = "proved"
// WRONG: error: gradient of 'head' differs from the reference on device 1
// WRONG: model.py:19:0: note: other value: the operands of 'm' are values of the reference, its result is no part, sum or multiple of a value there

tv.graph @B013 <device = 2> {
  %head = tv.input <parameter "head"> : tensor<4x3xf32>
  %h = tv.input <input "h"> : tensor<2x3xf32>
  %target = tv.input <input "target"> : tensor<2xi64>
  %z = tv.linear %h, %head : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf32> loc("z"("model.py":1:0))
  %t = tv.one_hot %target {start = 0 : i64} : (tensor<2xi64>) -> tensor<2x4xf32> loc("t"("model.py":2:0))
  %e = tv.exp %z : (tensor<2x4xf32>) -> tensor<2x4xf32> loc("e"("model.py":3:0))
  %s = tv.reduce sum %e keep {dimensions = array<i64: 1>} : (tensor<2x4xf32>) -> tensor<2x1xf32> loc("s"("model.py":4:0))
  %u0 = tv.multiply %t, %z : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32> loc("multiply"("model.py":5:0))
  %u1 = tv.reduce sum %u0 keep {dimensions = array<i64: 1>} : (tensor<2x4xf32>) -> tensor<2x1xf32> loc("reduce"("model.py":6:0))
  %u2 = tv.log %s : (tensor<2x1xf32>) -> tensor<2x1xf32> loc("log"("model.py":7:0))
  %logp = tv.subtract %u1, %u2 : (tensor<2x1xf32>, tensor<2x1xf32>) -> tensor<2x1xf32> loc("logp"("model.py":8:0))
  %u3 = tv.divide %e, %s : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32> loc("divide"("model.py":9:0))
  %dz = tv.subtract %t, %u3 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32> loc("dz"("model.py":10:0))
  %dw = tv.einsum %dz, %h {equation = "tv,tk->vk"} : (tensor<2x4xf32>, tensor<2x3xf32>) -> tensor<4x3xf32> loc("dw"("model.py":11:0))
  %h0 = tv.distribute %h <[0:2 of 2], [0:3 of 3]> on <device = 0> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %head0 = tv.distribute %head <[0:2 of 4], [0:3 of 3]> on <device = 0> : (tensor<4x3xf32>) -> tensor<2x3xf32>
  %target0 = tv.distribute %target <[0:2 of 2]> on <device = 0> : (tensor<2xi64>) -> tensor<2xi64>
  %z0 = tv.linear %h0, %head0 on <device = 0> : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x2xf32> loc("z"("model.py":1:0))
  %t0 = tv.one_hot %target0 on <device = 0> {start = 0 : i64} : (tensor<2xi64>) -> tensor<2x2xf32> loc("t"("model.py":2:0))
  %e0 = tv.exp %z0 on <device = 0> : (tensor<2x2xf32>) -> tensor<2x2xf32> loc("e"("model.py":3:0))
  %s0 = tv.reduce sum %e0 keep on <device = 0> {dimensions = array<i64: 1>} : (tensor<2x2xf32>) -> tensor<2x1xf32> loc("s"("model.py":4:0))
  %u4 = tv.multiply %t0, %z0 on <device = 0> : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> loc("multiply"("model.py":12:0))
  %l0 = tv.reduce sum %u4 keep on <device = 0> {dimensions = array<i64: 1>} : (tensor<2x2xf32>) -> tensor<2x1xf32> loc("l"("model.py":13:0))
  %h1 = tv.distribute %h <[0:2 of 2], [0:3 of 3]> on <device = 1> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %head1 = tv.distribute %head <[2:4 of 4], [0:3 of 3]> on <device = 1> : (tensor<4x3xf32>) -> tensor<2x3xf32>
  %target1 = tv.distribute %target <[0:2 of 2]> on <device = 1> : (tensor<2xi64>) -> tensor<2xi64>
  %z1 = tv.linear %h1, %head1 on <device = 1> : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x2xf32> loc("z"("model.py":1:0))
  %t1 = tv.one_hot %target1 on <device = 1> {start = 2 : i64} : (tensor<2xi64>) -> tensor<2x2xf32> loc("t"("model.py":2:0))
  %e1 = tv.exp %z1 on <device = 1> : (tensor<2x2xf32>) -> tensor<2x2xf32> loc("e"("model.py":3:0))
  %s1 = tv.reduce sum %e1 keep on <device = 1> {dimensions = array<i64: 1>} : (tensor<2x2xf32>) -> tensor<2x1xf32> loc("s"("model.py":4:0))
  %u5 = tv.multiply %t1, %z1 on <device = 1> : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> loc("multiply"("model.py":12:0))
  %l1 = tv.reduce sum %u5 keep on <device = 1> {dimensions = array<i64: 1>} : (tensor<2x2xf32>) -> tensor<2x1xf32> loc("l"("model.py":13:0))
  %ss = tv.all_reduce %s0, %s1 over [] on <device = 0:2> : (tensor<2x1xf32>, tensor<2x1xf32>) -> tensor<2x1xf32> loc("ss"("model.py":14:0))
  %ls = tv.all_reduce %l0, %l1 over [] on <device = 0:2> : (tensor<2x1xf32>, tensor<2x1xf32>) -> tensor<2x1xf32> loc("ls"("model.py":15:0))
  %u6 = tv.log %ss on <device = 0> : (tensor<2x1xf32>) -> tensor<2x1xf32> loc("log"("model.py":16:0))
  %logp0 = tv.subtract %ls, %u6 on <device = 0> : (tensor<2x1xf32>, tensor<2x1xf32>) -> tensor<2x1xf32> loc("logp"("model.py":8:0))
  tv.expect %logp0 is %logp <[0:2 of 2], [0:1 of 1]> on <device = 0> contract <output "log_probability"> : tensor<2x1xf32> is tensor<2x1xf32>
  %q0 = tv.divide %e0, %ss on <device = 0> : (tensor<2x2xf32>, tensor<2x1xf32>) -> tensor<2x2xf32> loc("q"("model.py":17:0))
  %own0 = tv.reduce sum %t0 keep on <device = 0> {dimensions = array<i64: 1>} : (tensor<2x2xf32>) -> tensor<2x1xf32> loc("own"("model.py":18:0)) // wrong
  %m0 = tv.multiply %own0, %q0 on <device = 0> : (tensor<2x1xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> loc("m"("model.py":19:0)) // wrong
  %dz0 = tv.subtract %t0, %m0 on <device = 0> : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> loc("dz"("model.py":10:0)) // wrong
  %dz0 = tv.subtract %t0, %q0 on <device = 0> : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> loc("dz"("model.py":10:0)) // fixed
  %dw0 = tv.einsum %dz0, %h0 on <device = 0> {equation = "tv,tk->vk"} : (tensor<2x2xf32>, tensor<2x3xf32>) -> tensor<2x3xf32> loc("dw"("model.py":11:0))
  tv.expect %dw0 is %dw <[0:2 of 4], [0:3 of 3]> on <device = 0> contract <gradient "head"> : tensor<2x3xf32> is tensor<4x3xf32>
  %u7 = tv.log %ss on <device = 1> : (tensor<2x1xf32>) -> tensor<2x1xf32> loc("log"("model.py":16:0))
  %logp1 = tv.subtract %ls, %u7 on <device = 1> : (tensor<2x1xf32>, tensor<2x1xf32>) -> tensor<2x1xf32> loc("logp"("model.py":8:0))
  tv.expect %logp1 is %logp <[0:2 of 2], [0:1 of 1]> on <device = 1> contract <output "log_probability"> : tensor<2x1xf32> is tensor<2x1xf32>
  %q1 = tv.divide %e1, %ss on <device = 1> : (tensor<2x2xf32>, tensor<2x1xf32>) -> tensor<2x2xf32> loc("q"("model.py":17:0))
  %own1 = tv.reduce sum %t1 keep on <device = 1> {dimensions = array<i64: 1>} : (tensor<2x2xf32>) -> tensor<2x1xf32> loc("own"("model.py":18:0)) // wrong
  %m1 = tv.multiply %own1, %q1 on <device = 1> : (tensor<2x1xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> loc("m"("model.py":19:0)) // wrong
  %dz1 = tv.subtract %t1, %m1 on <device = 1> : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> loc("dz"("model.py":10:0)) // wrong
  %dz1 = tv.subtract %t1, %q1 on <device = 1> : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> loc("dz"("model.py":10:0)) // fixed
  %dw1 = tv.einsum %dz1, %h1 on <device = 1> {equation = "tv,tk->vk"} : (tensor<2x2xf32>, tensor<2x3xf32>) -> tensor<2x3xf32> loc("dw"("model.py":11:0))
  tv.expect %dw1 is %dw <[2:4 of 4], [0:3 of 3]> on <device = 1> contract <gradient "head"> : tensor<2x3xf32> is tensor<4x3xf32>
}
