// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// Attention with an output gate. Two key-value heads on four ranks: queries and gates
// are gathered for a head and each rank takes its part. The wrong plan cuts the
// queries but takes the first part of the gates on every rank.

// FIXED: tv.answer = "proved"
// WRONG: error: output 'y' differs from the reference on device 3
// WRONG: model.py:2:0: note: wrong slice: on device 3 the operands of 'gated' do not belong together: they are part [:, 6:8] and part [:, 4:6] of the reference tensors

tv.graph @B075 <device = 4> {
  %o = tv.input <input "o"> : tensor<3x8xf32>
  %gate = tv.input <input "gate"> : tensor<3x8xf32>
  %u0 = tv.sigmoid %gate : (tensor<3x8xf32>) -> tensor<3x8xf32> loc("sigmoid"("model.py":1:0))
  %y = tv.multiply %o, %u0 : (tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<3x8xf32> loc("gated"("model.py":2:0))
  %u1 = tv.distribute %o <[0:3 of 3], [0:4 of 8]> on <device = 0> : (tensor<3x8xf32>) -> tensor<3x4xf32>
  %o_0 = tv.slice %u1 on <device = 0> {dimension = 1 : i64, start = 0 : i64, end = 2 : i64} : (tensor<3x4xf32>) -> tensor<3x2xf32> loc("o"("model.py":3:0))
  %group_0 = tv.distribute %gate <[0:3 of 3], [0:4 of 8]> on <device = 0> : (tensor<3x8xf32>) -> tensor<3x4xf32>
  %gate_0 = tv.slice %group_0 on <device = 0> {dimension = 1 : i64, start = 0 : i64, end = 2 : i64} : (tensor<3x4xf32>) -> tensor<3x2xf32> loc("gate"("model.py":4:0)) // wrong
  %gate_0 = tv.slice %group_0 on <device = 0> {dimension = 1 : i64, start = 0 : i64, end = 2 : i64} : (tensor<3x4xf32>) -> tensor<3x2xf32> loc("gate"("model.py":4:0)) // fixed
  %u2 = tv.sigmoid %gate_0 on <device = 0> : (tensor<3x2xf32>) -> tensor<3x2xf32> loc("sigmoid"("model.py":5:0))
  %y_0 = tv.multiply %o_0, %u2 on <device = 0> : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32> loc("gated"("model.py":2:0))
  tv.expect %y_0 is %y <[0:3 of 3], [0:2 of 8]> on <device = 0> contract <output "y"> : tensor<3x2xf32> is tensor<3x8xf32>
  %u3 = tv.distribute %o <[0:3 of 3], [0:4 of 8]> on <device = 1> : (tensor<3x8xf32>) -> tensor<3x4xf32>
  %o_1 = tv.slice %u3 on <device = 1> {dimension = 1 : i64, start = 2 : i64, end = 4 : i64} : (tensor<3x4xf32>) -> tensor<3x2xf32> loc("o"("model.py":3:0))
  %group_1 = tv.distribute %gate <[0:3 of 3], [0:4 of 8]> on <device = 1> : (tensor<3x8xf32>) -> tensor<3x4xf32>
  %gate_1 = tv.slice %group_1 on <device = 1> {dimension = 1 : i64, start = 0 : i64, end = 2 : i64} : (tensor<3x4xf32>) -> tensor<3x2xf32> loc("gate"("model.py":4:0)) // wrong
  %gate_1 = tv.slice %group_1 on <device = 1> {dimension = 1 : i64, start = 2 : i64, end = 4 : i64} : (tensor<3x4xf32>) -> tensor<3x2xf32> loc("gate"("model.py":4:0)) // fixed
  %u4 = tv.sigmoid %gate_1 on <device = 1> : (tensor<3x2xf32>) -> tensor<3x2xf32> loc("sigmoid"("model.py":5:0))
  %y_1 = tv.multiply %o_1, %u4 on <device = 1> : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32> loc("gated"("model.py":2:0))
  tv.expect %y_1 is %y <[0:3 of 3], [2:4 of 8]> on <device = 1> contract <output "y"> : tensor<3x2xf32> is tensor<3x8xf32>
  %u5 = tv.distribute %o <[0:3 of 3], [4:8 of 8]> on <device = 2> : (tensor<3x8xf32>) -> tensor<3x4xf32>
  %o_2 = tv.slice %u5 on <device = 2> {dimension = 1 : i64, start = 0 : i64, end = 2 : i64} : (tensor<3x4xf32>) -> tensor<3x2xf32> loc("o"("model.py":3:0))
  %group_2 = tv.distribute %gate <[0:3 of 3], [4:8 of 8]> on <device = 2> : (tensor<3x8xf32>) -> tensor<3x4xf32>
  %gate_2 = tv.slice %group_2 on <device = 2> {dimension = 1 : i64, start = 0 : i64, end = 2 : i64} : (tensor<3x4xf32>) -> tensor<3x2xf32> loc("gate"("model.py":4:0)) // wrong
  %gate_2 = tv.slice %group_2 on <device = 2> {dimension = 1 : i64, start = 0 : i64, end = 2 : i64} : (tensor<3x4xf32>) -> tensor<3x2xf32> loc("gate"("model.py":4:0)) // fixed
  %u6 = tv.sigmoid %gate_2 on <device = 2> : (tensor<3x2xf32>) -> tensor<3x2xf32> loc("sigmoid"("model.py":5:0))
  %y_2 = tv.multiply %o_2, %u6 on <device = 2> : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32> loc("gated"("model.py":2:0))
  tv.expect %y_2 is %y <[0:3 of 3], [4:6 of 8]> on <device = 2> contract <output "y"> : tensor<3x2xf32> is tensor<3x8xf32>
  %u7 = tv.distribute %o <[0:3 of 3], [4:8 of 8]> on <device = 3> : (tensor<3x8xf32>) -> tensor<3x4xf32>
  %o_3 = tv.slice %u7 on <device = 3> {dimension = 1 : i64, start = 2 : i64, end = 4 : i64} : (tensor<3x4xf32>) -> tensor<3x2xf32> loc("o"("model.py":3:0))
  %group_3 = tv.distribute %gate <[0:3 of 3], [4:8 of 8]> on <device = 3> : (tensor<3x8xf32>) -> tensor<3x4xf32>
  %gate_3 = tv.slice %group_3 on <device = 3> {dimension = 1 : i64, start = 0 : i64, end = 2 : i64} : (tensor<3x4xf32>) -> tensor<3x2xf32> loc("gate"("model.py":4:0)) // wrong
  %gate_3 = tv.slice %group_3 on <device = 3> {dimension = 1 : i64, start = 2 : i64, end = 4 : i64} : (tensor<3x4xf32>) -> tensor<3x2xf32> loc("gate"("model.py":4:0)) // fixed
  %u8 = tv.sigmoid %gate_3 on <device = 3> : (tensor<3x2xf32>) -> tensor<3x2xf32> loc("sigmoid"("model.py":5:0))
  %y_3 = tv.multiply %o_3, %u8 on <device = 3> : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32> loc("gated"("model.py":2:0))
  tv.expect %y_3 is %y <[0:3 of 3], [6:8 of 8]> on <device = 3> contract <output "y"> : tensor<3x2xf32> is tensor<3x8xf32>
}
