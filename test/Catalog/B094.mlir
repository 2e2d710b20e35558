// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// Rows are added to a table at given places. The table is divided over two devices; in
// the wrong plan each device takes the places for its own, whatever part it holds.

// FIXED: tv.answer = "proved"
// WRONG: error: output 'table' differs from the reference on device 1
// WRONG: model.py:3:0: note: wrong slice: on device 1 the operands of 'y' do not belong together: they are part [2:4, :] and part [0:2, :] of the reference tensors

tv.graph @B094 <device = 2> {
  %table = tv.input <input "table"> : tensor<4x2xf32>
  %rows = tv.input <input "rows"> : tensor<3x2xf32>
  %place = tv.input <input "place"> : tensor<3xi64>
  %u0 = tv.one_hot %place {start = 0 : i64} : (tensor<3xi64>) -> tensor<3x4xf32> loc("one_hot"("model.py":1:0))
  %u1 = tv.einsum %u0, %rows {equation = "tv,tk->vk"} : (tensor<3x4xf32>, tensor<3x2xf32>) -> tensor<4x2xf32> loc("einsum"("model.py":2:0))
  %y = tv.add %table, %u1 : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32> loc("y"("model.py":3:0))
  %t_0 = tv.distribute %table <[0:2 of 4], [0:2 of 2]> on <device = 0> : (tensor<4x2xf32>) -> tensor<2x2xf32>
  %rows_0 = tv.distribute %rows <[0:3 of 3], [0:2 of 2]> on <device = 0> : (tensor<3x2xf32>) -> tensor<3x2xf32>
  %place_0 = tv.distribute %place <[0:3 of 3]> on <device = 0> : (tensor<3xi64>) -> tensor<3xi64>
  %hot_0 = tv.one_hot %place_0 on <device = 0> {start = 0 : i64} : (tensor<3xi64>) -> tensor<3x2xf32> loc("hot"("model.py":4:0)) // wrong
  %hot_0 = tv.one_hot %place_0 on <device = 0> {start = 0 : i64} : (tensor<3xi64>) -> tensor<3x2xf32> loc("hot"("model.py":4:0)) // fixed
  %u2 = tv.einsum %hot_0, %rows_0 on <device = 0> {equation = "tv,tk->vk"} : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<2x2xf32> loc("einsum"("model.py":5:0))
  %y_0 = tv.add %t_0, %u2 on <device = 0> : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> loc("y"("model.py":3:0))
  tv.expect %y_0 is %y <[0:2 of 4], [0:2 of 2]> on <device = 0> contract <output "table"> : tensor<2x2xf32> is tensor<4x2xf32>
  %t_1 = tv.distribute %table <[2:4 of 4], [0:2 of 2]> on <device = 1> : (tensor<4x2xf32>) -> tensor<2x2xf32>
  %rows_1 = tv.distribute %rows <[0:3 of 3], [0:2 of 2]> on <device = 1> : (tensor<3x2xf32>) -> tensor<3x2xf32>
  %place_1 = tv.distribute %place <[0:3 of 3]> on <device = 1> : (tensor<3xi64>) -> tensor<3xi64>
  %hot_1 = tv.one_hot %place_1 on <device = 1> {start = 0 : i64} : (tensor<3xi64>) -> tensor<3x2xf32> loc("hot"("model.py":4:0)) // wrong
  %hot_1 = tv.one_hot %place_1 on <device = 1> {start = 2 : i64} : (tensor<3xi64>) -> tensor<3x2xf32> loc("hot"("model.py":4:0)) // fixed
  %u3 = tv.einsum %hot_1, %rows_1 on <device = 1> {equation = "tv,tk->vk"} : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<2x2xf32> loc("einsum"("model.py":5:0))
  %y_1 = tv.add %t_1, %u3 on <device = 1> : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> loc("y"("model.py":3:0))
  tv.expect %y_1 is %y <[2:4 of 4], [0:2 of 2]> on <device = 1> contract <output "table"> : tensor<2x2xf32> is tensor<4x2xf32>
}
