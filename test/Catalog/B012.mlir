// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// Four experts on two ranks, one product for all experts of a rank. The loss is right;
// the gradient of the router has only the rows of the experts of the rank.

// FIXED: tv.answer = "proved"
// WRONG: error: gradient of 'router' differs from the reference on devices 0-1
// WRONG: note: missing sum: the value is one term of a sum over devices 0-1, and no weight reducer adds the terms up: one is missing; their sum is the value of the reference

tv.graph @B012 <device = 2> {
  %router = tv.input <parameter "router"> : tensor<4x5xf32>
  %experts = tv.input <parameter "experts"> : tensor<4x3x5xf32>
  %x = tv.input <input "x"> : tensor<6x5xf32>
  %dy = tv.input <input "dy"> : tensor<6x3xf32>
  %p = tv.linear %x, %router : (tensor<6x5xf32>, tensor<4x5xf32>) -> tensor<6x4xf32> loc("p"("model.py":1:0))
  %f = tv.einsum %x, %experts {equation = "tk,enk->etn"} : (tensor<6x5xf32>, tensor<4x3x5xf32>) -> tensor<4x6x3xf32> loc("f"("model.py":2:0))
  %y = tv.einsum %p, %f {equation = "te,etn->tn"} : (tensor<6x4xf32>, tensor<4x6x3xf32>) -> tensor<6x3xf32> loc("y"("model.py":3:0))
  %dp = tv.einsum %dy, %f {equation = "tn,etn->te"} : (tensor<6x3xf32>, tensor<4x6x3xf32>) -> tensor<6x4xf32> loc("dp"("model.py":4:0))
  %dr = tv.einsum %dp, %x {equation = "te,tk->ek"} : (tensor<6x4xf32>, tensor<6x5xf32>) -> tensor<4x5xf32> loc("dr"("model.py":5:0))
  %x0 = tv.distribute %x <[0:6 of 6], [0:5 of 5]> on <device = 0> : (tensor<6x5xf32>) -> tensor<6x5xf32>
  %dy0 = tv.distribute %dy <[0:6 of 6], [0:3 of 3]> on <device = 0> : (tensor<6x3xf32>) -> tensor<6x3xf32>
  %r0 = tv.distribute %router <[0:4 of 4], [0:5 of 5]> on <device = 0> : (tensor<4x5xf32>) -> tensor<4x5xf32>
  %e0 = tv.distribute %experts <[0:2 of 4], [0:3 of 3], [0:5 of 5]> on <device = 0> : (tensor<4x3x5xf32>) -> tensor<2x3x5xf32>
  %u0 = tv.linear %x0, %r0 on <device = 0> : (tensor<6x5xf32>, tensor<4x5xf32>) -> tensor<6x4xf32> loc("linear"("model.py":6:0))
  %p0 = tv.slice %u0 on <device = 0> {dimension = 1 : i64, start = 0 : i64, end = 2 : i64} : (tensor<6x4xf32>) -> tensor<6x2xf32> loc("p"("model.py":1:0))
  %f0 = tv.einsum %x0, %e0 on <device = 0> {equation = "tk,enk->etn"} : (tensor<6x5xf32>, tensor<2x3x5xf32>) -> tensor<2x6x3xf32> loc("f"("model.py":2:0))
  %y0 = tv.einsum %p0, %f0 on <device = 0> {equation = "te,etn->tn"} : (tensor<6x2xf32>, tensor<2x6x3xf32>) -> tensor<6x3xf32> loc("y"("model.py":3:0))
  %u1 = tv.einsum %dy0, %f0 on <device = 0> {equation = "tn,etn->te"} : (tensor<6x3xf32>, tensor<2x6x3xf32>) -> tensor<6x2xf32> loc("einsum"("model.py":7:0))
  %dp0 = tv.pad %u1 on <device = 0> {dimension = 1 : i64, low = 0 : i64, high = 2 : i64} : (tensor<6x2xf32>) -> tensor<6x4xf32> loc("dp"("model.py":4:0))
  %dr0 = tv.einsum %dp0, %x0 on <device = 0> {equation = "te,tk->ek"} : (tensor<6x4xf32>, tensor<6x5xf32>) -> tensor<4x5xf32> loc("dr"("model.py":5:0))
  %x1 = tv.distribute %x <[0:6 of 6], [0:5 of 5]> on <device = 1> : (tensor<6x5xf32>) -> tensor<6x5xf32>
  %dy1 = tv.distribute %dy <[0:6 of 6], [0:3 of 3]> on <device = 1> : (tensor<6x3xf32>) -> tensor<6x3xf32>
  %r1 = tv.distribute %router <[0:4 of 4], [0:5 of 5]> on <device = 1> : (tensor<4x5xf32>) -> tensor<4x5xf32>
  %e1 = tv.distribute %experts <[2:4 of 4], [0:3 of 3], [0:5 of 5]> on <device = 1> : (tensor<4x3x5xf32>) -> tensor<2x3x5xf32>
  %u2 = tv.linear %x1, %r1 on <device = 1> : (tensor<6x5xf32>, tensor<4x5xf32>) -> tensor<6x4xf32> loc("linear"("model.py":6:0))
  %p1 = tv.slice %u2 on <device = 1> {dimension = 1 : i64, start = 2 : i64, end = 4 : i64} : (tensor<6x4xf32>) -> tensor<6x2xf32> loc("p"("model.py":1:0))
  %f1 = tv.einsum %x1, %e1 on <device = 1> {equation = "tk,enk->etn"} : (tensor<6x5xf32>, tensor<2x3x5xf32>) -> tensor<2x6x3xf32> loc("f"("model.py":2:0))
  %y1 = tv.einsum %p1, %f1 on <device = 1> {equation = "te,etn->tn"} : (tensor<6x2xf32>, tensor<2x6x3xf32>) -> tensor<6x3xf32> loc("y"("model.py":3:0))
  %u3 = tv.einsum %dy1, %f1 on <device = 1> {equation = "tn,etn->te"} : (tensor<6x3xf32>, tensor<2x6x3xf32>) -> tensor<6x2xf32> loc("einsum"("model.py":7:0))
  %dp1 = tv.pad %u3 on <device = 1> {dimension = 1 : i64, low = 2 : i64, high = 0 : i64} : (tensor<6x2xf32>) -> tensor<6x4xf32> loc("dp"("model.py":4:0))
  %dr1 = tv.einsum %dp1, %x1 on <device = 1> {equation = "te,tk->ek"} : (tensor<6x4xf32>, tensor<6x5xf32>) -> tensor<4x5xf32> loc("dr"("model.py":5:0))
  %ys = tv.all_reduce %y0, %y1 over [] on <device = 0:2> : (tensor<6x3xf32>, tensor<6x3xf32>) -> tensor<6x3xf32> loc("ys"("model.py":8:0))
  tv.expect %ys is %y <[0:6 of 6], [0:3 of 3]> on <device = 0:2> contract <output "y"> : tensor<6x3xf32> is tensor<6x3xf32>
  %drs = tv.all_reduce %dr0, %dr1 over [] on <device = 0:2> : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32> loc("drs"("model.py":9:0)) // fixed
  tv.expect %drs is %dr <[0:4 of 4], [0:5 of 5]> on <device = 0:2> contract <gradient "router"> : tensor<4x5xf32> is tensor<4x5xf32> // fixed
  tv.expect %dr0 is %dr <[0:4 of 4], [0:5 of 5]> on <device = 0> contract <gradient "router"> : tensor<4x5xf32> is tensor<4x5xf32> // wrong
  tv.expect %dr1 is %dr <[0:4 of 4], [0:5 of 5]> on <device = 1> contract <gradient "router"> : tensor<4x5xf32> is tensor<4x5xf32> // wrong
}
