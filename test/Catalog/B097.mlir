// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// The next token of each token, around the end. Every rank has half of the sequence;
// the wrong plan turns its own half and never sees the first token of the other.

// FIXED: tv.answer = "proved"
// WRONG: error: output 'y' differs from the reference on devices 0-1
// WRONG: model.py:6:0: note: other value: the operands of 'roll' are values of the reference, its result is no part, sum or multiple of a value there

tv.graph @B097 <device = 2> {
  %x = tv.input <input "x"> : tensor<6x2xf32>
  %u0 = tv.slice %x {dimension = 0 : i64, start = 1 : i64, end = 6 : i64} : (tensor<6x2xf32>) -> tensor<5x2xf32> loc("slice"("model.py":1:0))
  %u1 = tv.slice %x {dimension = 0 : i64, start = 0 : i64, end = 1 : i64} : (tensor<6x2xf32>) -> tensor<1x2xf32> loc("slice"("model.py":1:0))
  %y = tv.concat %u0, %u1 {dimension = 0 : i64} : (tensor<5x2xf32>, tensor<1x2xf32>) -> tensor<6x2xf32> loc("y"("model.py":2:0))
  %x_0 = tv.distribute %x <[0:3 of 6], [0:2 of 2]> on <device = 0> : (tensor<6x2xf32>) -> tensor<3x2xf32>
  %head_0 = tv.slice %x_0 on <device = 0> {dimension = 0 : i64, start = 0 : i64, end = 1 : i64} : (tensor<3x2xf32>) -> tensor<1x2xf32> loc("head"("model.py":3:0))
  %tail_0 = tv.slice %x_0 on <device = 0> {dimension = 0 : i64, start = 1 : i64, end = 3 : i64} : (tensor<3x2xf32>) -> tensor<2x2xf32> loc("tail"("model.py":4:0))
  %x_1 = tv.distribute %x <[3:6 of 6], [0:2 of 2]> on <device = 1> : (tensor<6x2xf32>) -> tensor<3x2xf32>
  %head_1 = tv.slice %x_1 on <device = 1> {dimension = 0 : i64, start = 0 : i64, end = 1 : i64} : (tensor<3x2xf32>) -> tensor<1x2xf32> loc("head"("model.py":3:0))
  %tail_1 = tv.slice %x_1 on <device = 1> {dimension = 0 : i64, start = 1 : i64, end = 3 : i64} : (tensor<3x2xf32>) -> tensor<2x2xf32> loc("tail"("model.py":4:0))
  %halo_0 = tv.move %head_1 from <device = 1> on <device = 0> : (tensor<1x2xf32>) -> tensor<1x2xf32> loc("halo"("model.py":5:0)) // fixed
  %y_0 = tv.concat %tail_0, %head_0 on <device = 0> {dimension = 0 : i64} : (tensor<2x2xf32>, tensor<1x2xf32>) -> tensor<3x2xf32> loc("roll"("model.py":6:0)) // wrong
  %y_0 = tv.concat %tail_0, %halo_0 on <device = 0> {dimension = 0 : i64} : (tensor<2x2xf32>, tensor<1x2xf32>) -> tensor<3x2xf32> loc("roll"("model.py":6:0)) // fixed
  tv.expect %y_0 is %y <[0:3 of 6], [0:2 of 2]> on <device = 0> contract <output "y"> : tensor<3x2xf32> is tensor<6x2xf32>
  %halo_1 = tv.move %head_0 from <device = 0> on <device = 1> : (tensor<1x2xf32>) -> tensor<1x2xf32> loc("halo"("model.py":5:0)) // fixed
  %y_1 = tv.concat %tail_1, %head_1 on <device = 1> {dimension = 0 : i64} : (tensor<2x2xf32>, tensor<1x2xf32>) -> tensor<3x2xf32> loc("roll"("model.py":6:0)) // wrong
  %y_1 = tv.concat %tail_1, %halo_1 on <device = 1> {dimension = 0 : i64} : (tensor<2x2xf32>, tensor<1x2xf32>) -> tensor<3x2xf32> loc("roll"("model.py":6:0)) // fixed
  tv.expect %y_1 is %y <[3:6 of 6], [0:2 of 2]> on <device = 1> contract <output "y"> : tensor<3x2xf32> is tensor<6x2xf32>
}
