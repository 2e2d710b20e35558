// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// The bias of a router follows how many tokens each expert gets. Tokens are divided
// over replicas and ranks; the wrong plan counts over replicas only.

// FIXED: tv.answer = "proved"
// WRONG: error: output 'bias.next' differs from the reference on devices 0-1 of each of 2 replicas
// WRONG: model.py:5:0: note: missing sum: an operand of 'next' is one term of a sum over devices 0-1, and nothing adds the terms up; their sum is the value of the reference

tv.graph @B022 <dp = 2, device = 2> {
  %bias = tv.input <input "bias"> : tensor<4xf32>
  %expert = tv.input <input "expert"> : tensor<8xi64>
  %u0 = tv.one_hot %expert {start = 0 : i64} : (tensor<8xi64>) -> tensor<8x4xf32> loc("one_hot"("model.py":1:0))
  %count = tv.reduce sum %u0 {dimensions = array<i64: 0>} : (tensor<8x4xf32>) -> tensor<4xf32> loc("count"("model.py":2:0))
  %u1 = tv.constant dense<0.125> : tensor<f64> : () -> tensor<f32> loc("constant"("model.py":3:0))
  %u2 = tv.multiply %count, %u1 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32> loc("multiply"("model.py":4:0))
  %next = tv.subtract %bias, %u2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("next"("model.py":5:0))
  %bias0 = tv.distribute %bias <[0:4 of 4]> on <device = 0> : (tensor<4xf32>) -> tensor<4xf32>
  %expert0 = tv.distribute %expert <[dp, 0:2 of 4]> on <device = 0> : (tensor<8xi64>) -> tensor<2xi64>
  %u3 = tv.one_hot %expert0 on <device = 0> {start = 0 : i64} : (tensor<2xi64>) -> tensor<2x4xf32> loc("one_hot"("model.py":6:0))
  %count0 = tv.reduce sum %u3 on <device = 0> {dimensions = array<i64: 0>} : (tensor<2x4xf32>) -> tensor<4xf32> loc("count"("model.py":2:0))
  %bias1 = tv.distribute %bias <[0:4 of 4]> on <device = 1> : (tensor<4xf32>) -> tensor<4xf32>
  %expert1 = tv.distribute %expert <[dp, 2:4 of 4]> on <device = 1> : (tensor<8xi64>) -> tensor<2xi64>
  %u4 = tv.one_hot %expert1 on <device = 1> {start = 0 : i64} : (tensor<2xi64>) -> tensor<2x4xf32> loc("one_hot"("model.py":6:0))
  %count1 = tv.reduce sum %u4 on <device = 1> {dimensions = array<i64: 0>} : (tensor<2x4xf32>) -> tensor<4xf32> loc("count"("model.py":2:0))
  %total = tv.all_reduce %count0, %count1 over ["dp"] on <device = 0:2> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("count"("model.py":2:0)) // fixed
  %total0 = tv.all_reduce %count0 over ["dp"] on <device = 0> : (tensor<4xf32>) -> tensor<4xf32> loc("count"("model.py":2:0)) // wrong
  %u5 = tv.constant dense<0.125> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":7:0)) // wrong
  %u6 = tv.multiply %total0, %u5 on <device = 0> : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32> loc("multiply"("model.py":8:0)) // wrong
  %next0 = tv.subtract %bias0, %u6 on <device = 0> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("next"("model.py":5:0)) // wrong
  %u7 = tv.constant dense<0.125> : tensor<f64> on <device = 0> : () -> tensor<f32> loc("constant"("model.py":7:0)) // fixed
  %u8 = tv.multiply %total, %u7 on <device = 0> : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32> loc("multiply"("model.py":8:0)) // fixed
  %next0 = tv.subtract %bias0, %u8 on <device = 0> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("next"("model.py":5:0)) // fixed
  tv.expect %next0 is %next <[0:4 of 4]> on <device = 0> contract <output "bias.next"> : tensor<4xf32> is tensor<4xf32>
  %total1 = tv.all_reduce %count1 over ["dp"] on <device = 1> : (tensor<4xf32>) -> tensor<4xf32> loc("count"("model.py":2:0)) // wrong
  %u9 = tv.constant dense<0.125> : tensor<f64> on <device = 1> : () -> tensor<f32> loc("constant"("model.py":7:0)) // wrong
  %u10 = tv.multiply %total1, %u9 on <device = 1> : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32> loc("multiply"("model.py":8:0)) // wrong
  %next1 = tv.subtract %bias1, %u10 on <device = 1> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("next"("model.py":5:0)) // wrong
  %u11 = tv.constant dense<0.125> : tensor<f64> on <device = 1> : () -> tensor<f32> loc("constant"("model.py":7:0)) // fixed
  %u12 = tv.multiply %total, %u11 on <device = 1> : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32> loc("multiply"("model.py":8:0)) // fixed
  %next1 = tv.subtract %bias1, %u12 on <device = 1> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("next"("model.py":5:0)) // fixed
  tv.expect %next1 is %next <[0:4 of 4]> on <device = 1> contract <output "bias.next"> : tensor<4xf32> is tensor<4xf32>
}
