// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// Four devices: a product whose contracted dimension is divided over one axis is
// resharded to be divided over rows and replicated over the other axis. The wrong plan
// cuts the rows without adding the terms.

// FIXED: tv.answer = "proved"
// WRONG: error: output 'y' differs from the reference on devices 0-3
// WRONG: note: missing sum: the value is one term of a sum over devices 0-1, and nothing adds the terms up; their sum is the value of the reference

tv.graph @B023 <device = 4> {
  %x = tv.input <input "x"> : tensor<4x6xf32>
  %w = tv.input <input "w"> : tensor<6x3xf32>
  %y = tv.einsum %x, %w {equation = "tk,kn->tn"} : (tensor<4x6xf32>, tensor<6x3xf32>) -> tensor<4x3xf32> loc("y"("model.py":1:0))
  %x0 = tv.distribute %x <[0:4 of 4], [0:3 of 6]> on <device = 0> : (tensor<4x6xf32>) -> tensor<4x3xf32>
  %w0 = tv.distribute %w <[0:3 of 6], [0:3 of 3]> on <device = 0> : (tensor<6x3xf32>) -> tensor<3x3xf32>
  %y0 = tv.einsum %x0, %w0 on <device = 0> {equation = "tk,kn->tn"} : (tensor<4x3xf32>, tensor<3x3xf32>) -> tensor<4x3xf32> loc("y"("model.py":1:0))
  %x1 = tv.distribute %x <[0:4 of 4], [3:6 of 6]> on <device = 1> : (tensor<4x6xf32>) -> tensor<4x3xf32>
  %w1 = tv.distribute %w <[3:6 of 6], [0:3 of 3]> on <device = 1> : (tensor<6x3xf32>) -> tensor<3x3xf32>
  %y1 = tv.einsum %x1, %w1 on <device = 1> {equation = "tk,kn->tn"} : (tensor<4x3xf32>, tensor<3x3xf32>) -> tensor<4x3xf32> loc("y"("model.py":1:0))
  %x2 = tv.distribute %x <[0:4 of 4], [0:3 of 6]> on <device = 2> : (tensor<4x6xf32>) -> tensor<4x3xf32>
  %w2 = tv.distribute %w <[0:3 of 6], [0:3 of 3]> on <device = 2> : (tensor<6x3xf32>) -> tensor<3x3xf32>
  %y2 = tv.einsum %x2, %w2 on <device = 2> {equation = "tk,kn->tn"} : (tensor<4x3xf32>, tensor<3x3xf32>) -> tensor<4x3xf32> loc("y"("model.py":1:0))
  %x3 = tv.distribute %x <[0:4 of 4], [3:6 of 6]> on <device = 3> : (tensor<4x6xf32>) -> tensor<4x3xf32>
  %w3 = tv.distribute %w <[3:6 of 6], [0:3 of 3]> on <device = 3> : (tensor<6x3xf32>) -> tensor<3x3xf32>
  %y3 = tv.einsum %x3, %w3 on <device = 3> {equation = "tk,kn->tn"} : (tensor<4x3xf32>, tensor<3x3xf32>) -> tensor<4x3xf32> loc("y"("model.py":1:0))
  %s0 = tv.all_reduce %y0, %y1 over [] on <device = 0:2> : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32> loc("s"("model.py":2:0)) // fixed
  %part0 = tv.slice %y0 on <device = 0> {dimension = 0 : i64, start = 0 : i64, end = 2 : i64} : (tensor<4x3xf32>) -> tensor<2x3xf32> loc("part"("model.py":3:0)) // wrong
  %part0 = tv.slice %s0 on <device = 0> {dimension = 0 : i64, start = 0 : i64, end = 2 : i64} : (tensor<4x3xf32>) -> tensor<2x3xf32> loc("part"("model.py":3:0)) // fixed
  tv.expect %part0 is %y <[0:2 of 4], [0:3 of 3]> on <device = 0> contract <output "y"> : tensor<2x3xf32> is tensor<4x3xf32>
  %part1 = tv.slice %y1 on <device = 1> {dimension = 0 : i64, start = 0 : i64, end = 2 : i64} : (tensor<4x3xf32>) -> tensor<2x3xf32> loc("part"("model.py":3:0)) // wrong
  %part1 = tv.slice %s0 on <device = 1> {dimension = 0 : i64, start = 0 : i64, end = 2 : i64} : (tensor<4x3xf32>) -> tensor<2x3xf32> loc("part"("model.py":3:0)) // fixed
  tv.expect %part1 is %y <[0:2 of 4], [0:3 of 3]> on <device = 1> contract <output "y"> : tensor<2x3xf32> is tensor<4x3xf32>
  %s2 = tv.all_reduce %y2, %y3 over [] on <device = 2:4> : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32> loc("s"("model.py":2:0)) // fixed
  %part2 = tv.slice %y2 on <device = 2> {dimension = 0 : i64, start = 2 : i64, end = 4 : i64} : (tensor<4x3xf32>) -> tensor<2x3xf32> loc("part"("model.py":3:0)) // wrong
  %part2 = tv.slice %s2 on <device = 2> {dimension = 0 : i64, start = 2 : i64, end = 4 : i64} : (tensor<4x3xf32>) -> tensor<2x3xf32> loc("part"("model.py":3:0)) // fixed
  tv.expect %part2 is %y <[2:4 of 4], [0:3 of 3]> on <device = 2> contract <output "y"> : tensor<2x3xf32> is tensor<4x3xf32>
  %part3 = tv.slice %y3 on <device = 3> {dimension = 0 : i64, start = 2 : i64, end = 4 : i64} : (tensor<4x3xf32>) -> tensor<2x3xf32> loc("part"("model.py":3:0)) // wrong
  %part3 = tv.slice %s2 on <device = 3> {dimension = 0 : i64, start = 2 : i64, end = 4 : i64} : (tensor<4x3xf32>) -> tensor<2x3xf32> loc("part"("model.py":3:0)) // fixed
  tv.expect %part3 is %y <[2:4 of 4], [0:3 of 3]> on <device = 3> contract <output "y"> : tensor<2x3xf32> is tensor<4x3xf32>
}
