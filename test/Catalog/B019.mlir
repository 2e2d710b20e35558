// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// Routed experts and a shared one, both divided over ranks. The output of the shared
// expert is summed over the ranks by its own last layer, and again with that of the
// routed ones.

// FIXED: tv.answer = "proved"
// WRONG: error: output 'y' differs from the reference on devices 0-1
// WRONG: model.py:5:0: note: missing sum: an operand of 'both' is one term of a sum over devices 0-1, and nothing adds the terms up; their sum is the value of the reference

tv.graph @B019 <device = 2> {
  %routed = tv.input <parameter "routed"> : tensor<4x6xf32>
  %shared = tv.input <parameter "shared"> : tensor<4x6xf32>
  %a = tv.input <input "a"> : tensor<3x6xf32>
  %b = tv.input <input "b"> : tensor<3x6xf32>
  %yr = tv.linear %a, %routed : (tensor<3x6xf32>, tensor<4x6xf32>) -> tensor<3x4xf32> loc("yr"("model.py":1:0))
  %ys = tv.linear %b, %shared : (tensor<3x6xf32>, tensor<4x6xf32>) -> tensor<3x4xf32> loc("ys"("model.py":2:0))
  %y = tv.add %yr, %ys : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32> loc("y"("model.py":3:0))
  %a0 = tv.distribute %a <[0:3 of 3], [0:3 of 6]> on <device = 0> : (tensor<3x6xf32>) -> tensor<3x3xf32>
  %b0 = tv.distribute %b <[0:3 of 3], [0:3 of 6]> on <device = 0> : (tensor<3x6xf32>) -> tensor<3x3xf32>
  %routed0 = tv.distribute %routed <[0:4 of 4], [0:3 of 6]> on <device = 0> : (tensor<4x6xf32>) -> tensor<4x3xf32>
  %shared0 = tv.distribute %shared <[0:4 of 4], [0:3 of 6]> on <device = 0> : (tensor<4x6xf32>) -> tensor<4x3xf32>
  %yr0 = tv.linear %a0, %routed0 on <device = 0> : (tensor<3x3xf32>, tensor<4x3xf32>) -> tensor<3x4xf32> loc("yr"("model.py":1:0))
  %ys0 = tv.linear %b0, %shared0 on <device = 0> : (tensor<3x3xf32>, tensor<4x3xf32>) -> tensor<3x4xf32> loc("ys"("model.py":2:0))
  %a1 = tv.distribute %a <[0:3 of 3], [3:6 of 6]> on <device = 1> : (tensor<3x6xf32>) -> tensor<3x3xf32>
  %b1 = tv.distribute %b <[0:3 of 3], [3:6 of 6]> on <device = 1> : (tensor<3x6xf32>) -> tensor<3x3xf32>
  %routed1 = tv.distribute %routed <[0:4 of 4], [3:6 of 6]> on <device = 1> : (tensor<4x6xf32>) -> tensor<4x3xf32>
  %shared1 = tv.distribute %shared <[0:4 of 4], [3:6 of 6]> on <device = 1> : (tensor<4x6xf32>) -> tensor<4x3xf32>
  %yr1 = tv.linear %a1, %routed1 on <device = 1> : (tensor<3x3xf32>, tensor<4x3xf32>) -> tensor<3x4xf32> loc("yr"("model.py":1:0))
  %ys1 = tv.linear %b1, %shared1 on <device = 1> : (tensor<3x3xf32>, tensor<4x3xf32>) -> tensor<3x4xf32> loc("ys"("model.py":2:0))
  %shared_sum = tv.all_reduce %ys0, %ys1 over [] on <device = 0:2> : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32> loc("shared_sum"("model.py":4:0))
  %both0 = tv.add %yr0, %shared_sum on <device = 0> : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32> loc("both"("model.py":5:0)) // wrong
  %both1 = tv.add %yr1, %shared_sum on <device = 1> : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32> loc("both"("model.py":5:0)) // wrong
  %routed_sum = tv.all_reduce %yr0, %yr1 over [] on <device = 0:2> : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32> loc("routed_sum"("model.py":6:0)) // fixed
  %all = tv.all_reduce %both0, %both1 over [] on <device = 0:2> : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32> loc("runner"("model.py":7:0)) // wrong
  %all = tv.add %routed_sum, %shared_sum on <device = 0:2> : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32> loc("all"("model.py":8:0)) // fixed
  tv.expect %all is %y <[0:3 of 3], [0:4 of 4]> on <device = 0:2> contract <output "y"> : tensor<3x4xf32> is tensor<3x4xf32>
}
