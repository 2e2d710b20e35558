// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// After an all-to-all a rank has chunks of tokens by source and local expert, and
// sorts them by expert. The wrong plan sorts by counts of another shape, as if chunks
// came by expert and source.

// FIXED: tv.answer = "proved"
// WRONG: error: output 'y' differs from the reference on devices 0-1
// WRONG: model.py:1:0: note: wrong constant: 'equation' of 'y' is "estk,enk->estn", in the reference "setk,enk->estn"

tv.graph @B096 <device = 2> {
  %experts = tv.input <parameter "experts"> : tensor<4x3x2xf32>
  %x = tv.input <input "x"> : tensor<2x4x2x2xf32>
  // Tokens by source, expert and slot.
  %y = tv.einsum %x, %experts {equation = "setk,enk->estn"} : (tensor<2x4x2x2xf32>, tensor<4x3x2xf32>) -> tensor<4x2x2x3xf32> loc("y"("model.py":1:0))
  %part_00 = tv.distribute %x <[0:1 of 2], [0:2 of 4], [0:2 of 2], [0:2 of 2]> on <device = 0> : (tensor<2x4x2x2xf32>) -> tensor<1x2x2x2xf32>
  %part_10 = tv.distribute %x <[1:2 of 2], [0:2 of 4], [0:2 of 2], [0:2 of 2]> on <device = 1> : (tensor<2x4x2x2xf32>) -> tensor<1x2x2x2xf32>
  %part_01 = tv.distribute %x <[0:1 of 2], [2:4 of 4], [0:2 of 2], [0:2 of 2]> on <device = 0> : (tensor<2x4x2x2xf32>) -> tensor<1x2x2x2xf32>
  %part_11 = tv.distribute %x <[1:2 of 2], [2:4 of 4], [0:2 of 2], [0:2 of 2]> on <device = 1> : (tensor<2x4x2x2xf32>) -> tensor<1x2x2x2xf32>
  %got_0 = tv.all_gather %part_00, %part_10 on <device = 0> {dimension = 0 : i64} : (tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32>) -> tensor<2x2x2x2xf32> loc("all_to_all"("model.py":2:0))
  %w_0 = tv.distribute %experts <[0:2 of 4], [0:3 of 3], [0:2 of 2]> on <device = 0> : (tensor<4x3x2xf32>) -> tensor<2x3x2xf32>
  %sorted_0 = tv.copy %got_0 on <device = 0> : (tensor<2x2x2x2xf32>) -> tensor<2x2x2x2xf32> loc("sort"("model.py":3:0)) // wrong
  %sorted_0 = tv.transpose %got_0 on <device = 0> {permutation = array<i64: 1, 0, 2, 3>} : (tensor<2x2x2x2xf32>) -> tensor<2x2x2x2xf32> loc("sorted"("model.py":4:0)) // fixed
  %y_0 = tv.einsum %sorted_0, %w_0 on <device = 0> {equation = "estk,enk->estn"} : (tensor<2x2x2x2xf32>, tensor<2x3x2xf32>) -> tensor<2x2x2x3xf32> loc("y"("model.py":1:0))
  tv.expect %y_0 is %y <[0:2 of 4], [0:2 of 2], [0:2 of 2], [0:3 of 3]> on <device = 0> contract <output "y"> : tensor<2x2x2x3xf32> is tensor<4x2x2x3xf32>
  %got_1 = tv.all_gather %part_01, %part_11 on <device = 1> {dimension = 0 : i64} : (tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32>) -> tensor<2x2x2x2xf32> loc("all_to_all"("model.py":2:0))
  %w_1 = tv.distribute %experts <[2:4 of 4], [0:3 of 3], [0:2 of 2]> on <device = 1> : (tensor<4x3x2xf32>) -> tensor<2x3x2xf32>
  %sorted_1 = tv.copy %got_1 on <device = 1> : (tensor<2x2x2x2xf32>) -> tensor<2x2x2x2xf32> loc("sort"("model.py":3:0)) // wrong
  %sorted_1 = tv.transpose %got_1 on <device = 1> {permutation = array<i64: 1, 0, 2, 3>} : (tensor<2x2x2x2xf32>) -> tensor<2x2x2x2xf32> loc("sorted"("model.py":4:0)) // fixed
  %y_1 = tv.einsum %sorted_1, %w_1 on <device = 1> {equation = "estk,enk->estn"} : (tensor<2x2x2x2xf32>, tensor<2x3x2xf32>) -> tensor<2x2x2x3xf32> loc("y"("model.py":1:0))
  tv.expect %y_1 is %y <[2:4 of 4], [0:2 of 2], [0:2 of 2], [0:3 of 3]> on <device = 1> contract <output "y"> : tensor<2x2x2x3xf32> is tensor<4x2x2x3xf32>
}
