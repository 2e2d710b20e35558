// RUN: not verify-opt %s --tv-check-equiv -split-input-file -o /dev/null 2>&1 | FileCheck %s

// A step is its own square, which a proof from few positions does not see. An execution
// does not deny it: data are never positions that stand for others, wherever these are.

// Word 100 is looked at in rows of 100, and in one row of 10000 stands for others.
// CHECK-NOT: differs from the reference
// CHECK: error: unknown whether the value of 'known' is that of the reference
// CHECK-NOT: differs from the reference
tv.graph @rows <device = 1> {
  %word = tv.input <input "word"> : tensor<i64>
  %h = tv.one_hot %word {start = 0 : i64} : (tensor<i64>) -> tensor<10000xf32>
  %m = tv.reshape %h : (tensor<10000xf32>) -> tensor<100x100xf32>
  %s = tv.reduce sum %m {dimensions = array<i64: 0, 1>} : (tensor<100x100xf32>) -> tensor<f32>
  %w = tv.distribute %word <> on <> : (tensor<i64>) -> tensor<i64>
  %h2 = tv.one_hot %w on <> {start = 0 : i64} : (tensor<i64>) -> tensor<10000xf32>
  %s2 = tv.reduce sum %h2 on <> {dimensions = array<i64: 0>} : (tensor<10000xf32>) -> tensor<f32>
  %r = tv.multiply %s2, %s2 on <> : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("known"("model.py":1:0))
  tv.expect %r is %s <> on <> contract <output "known"> : tensor<f32> is tensor<f32>
}

// -----

// Only the plan asks for positions.
// CHECK: error: unknown whether the value of 'one' is that of the reference
// CHECK-NOT: differs from the reference
tv.graph @plan_only <device = 1> {
  %word = tv.input <input "word"> : tensor<i64>
  %x = tv.input <input "x"> : tensor<f32>
  %w = tv.distribute %word <> on <> : (tensor<i64>) -> tensor<i64>
  %y = tv.distribute %x <> on <> : (tensor<f32>) -> tensor<f32>
  %h = tv.one_hot %w on <> {start = 0 : i64} : (tensor<i64>) -> tensor<8000xf32>
  %m = tv.reshape %h on <> : (tensor<8000xf32>) -> tensor<16x500xf32>
  %s = tv.reduce sum %m on <> {dimensions = array<i64: 0, 1>} : (tensor<16x500xf32>) -> tensor<f32>
  %g = tv.one_hot %w on <> {start = 0 : i64} : (tensor<i64>) -> tensor<8000xf32>
  %t = tv.reduce sum %g on <> {dimensions = array<i64: 0>} : (tensor<8000xf32>) -> tensor<f32>
  %q = tv.multiply %t, %t on <> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %d = tv.subtract %s, %q on <> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %r = tv.add %y, %d on <> : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("one"("model.py":1:0))
  tv.expect %r is %x <> on <> contract <output "one"> : tensor<f32> is tensor<f32>
}

// -----

// CHECK: error: output 'wrong' differs from the reference
tv.graph @wrong_start <device = 1> {
  %word = tv.input <input "word"> : tensor<i64>
  %x = tv.input <parameter "x"> : tensor<1000003xf32>
  %h = tv.one_hot %word {start = 0 : i64} : (tensor<i64>) -> tensor<1000003xf32>
  %s = tv.einsum %h, %x {equation = "v,v->"} : (tensor<1000003xf32>, tensor<1000003xf32>) -> tensor<f32>
  %w = tv.distribute %word <> on <> : (tensor<i64>) -> tensor<i64>
  %x0 = tv.distribute %x <[0:500002 of 1000003]> on <> : (tensor<1000003xf32>) -> tensor<500002xf32>
  %x1 = tv.distribute %x <[500002:1000003 of 1000003]> on <> : (tensor<1000003xf32>) -> tensor<500001xf32>
  %h0 = tv.one_hot %w on <> {start = 0 : i64} : (tensor<i64>) -> tensor<500002xf32>
  %h1 = tv.one_hot %w on <> {start = 500001 : i64} : (tensor<i64>) -> tensor<500001xf32>
  %s0 = tv.einsum %h0, %x0 on <> {equation = "v,v->"} : (tensor<500002xf32>, tensor<500002xf32>) -> tensor<f32>
  %s1 = tv.einsum %h1, %x1 on <> {equation = "v,v->"} : (tensor<500001xf32>, tensor<500001xf32>) -> tensor<f32>
  %r = tv.add %s0, %s1 on <> : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("wrong"("model.py":1:0))
  tv.expect %r is %s <> on <> contract <output "wrong"> : tensor<f32> is tensor<f32>
}

// -----

// Where a wrong one-hot begins and ends tells most.
// CHECK: error: output 'far' differs from the reference
tv.graph @far_start <device = 1> {
  %word = tv.input <input "word"> : tensor<i64>
  %x = tv.input <parameter "x"> : tensor<1000003xf32>
  %h = tv.one_hot %word {start = 0 : i64} : (tensor<i64>) -> tensor<1000003xf32>
  %s = tv.einsum %h, %x {equation = "v,v->"} : (tensor<1000003xf32>, tensor<1000003xf32>) -> tensor<f32>
  %w = tv.distribute %word <> on <> : (tensor<i64>) -> tensor<i64>
  %x0 = tv.distribute %x <[0:500002 of 1000003]> on <> : (tensor<1000003xf32>) -> tensor<500002xf32>
  %x1 = tv.distribute %x <[500002:1000003 of 1000003]> on <> : (tensor<1000003xf32>) -> tensor<500001xf32>
  %h0 = tv.one_hot %w on <> {start = 0 : i64} : (tensor<i64>) -> tensor<500002xf32>
  %h1 = tv.one_hot %w on <> {start = 700 : i64} : (tensor<i64>) -> tensor<500001xf32>
  %s0 = tv.einsum %h0, %x0 on <> {equation = "v,v->"} : (tensor<500002xf32>, tensor<500002xf32>) -> tensor<f32>
  %s1 = tv.einsum %h1, %x1 on <> {equation = "v,v->"} : (tensor<500001xf32>, tensor<500001xf32>) -> tensor<f32>
  %r = tv.add %s0, %s1 on <> : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("far"("model.py":1:0))
  tv.expect %r is %s <> on <> contract <output "far"> : tensor<f32> is tensor<f32>
}

// -----

// What is compared with 100 is looked at for itself, so that 99 stands for those before it, at number -100.
// CHECK: error: unknown whether the value of 'ignored' is that of the reference
// CHECK-NOT: differs from the reference
tv.graph @ignored <device = 1> {
  %label = tv.input <input "label"> : tensor<i64>
  %first = tv.constant dense<100> : tensor<i64> : () -> tensor<i64>
  %none = tv.constant dense<-100> : tensor<i64> : () -> tensor<i64>
  %k = tv.compare not_equal %label, %first : (tensor<i64>, tensor<i64>) -> tensor<f32>
  %c = tv.compare not_equal %label, %none : (tensor<i64>, tensor<i64>) -> tensor<f32>
  %h = tv.one_hot %label {start = 0 : i64} : (tensor<i64>) -> tensor<30000xf32>
  %s = tv.reduce sum %h {dimensions = array<i64: 0>} : (tensor<30000xf32>) -> tensor<f32>
  %t = tv.add %s, %k : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %u = tv.add %t, %c : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %l = tv.distribute %label <> on <> : (tensor<i64>) -> tensor<i64>
  %first2 = tv.constant dense<100> : tensor<i64> on <> : () -> tensor<i64>
  %none2 = tv.constant dense<-100> : tensor<i64> on <> : () -> tensor<i64>
  %k2 = tv.compare not_equal %l, %first2 on <> : (tensor<i64>, tensor<i64>) -> tensor<f32>
  %c2 = tv.compare not_equal %l, %none2 on <> : (tensor<i64>, tensor<i64>) -> tensor<f32>
  %h2 = tv.one_hot %l on <> {start = 0 : i64} : (tensor<i64>) -> tensor<30000xf32>
  %s2 = tv.reduce sum %h2 on <> {dimensions = array<i64: 0>} : (tensor<30000xf32>) -> tensor<f32>
  %q = tv.multiply %s2, %s2 on <> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %t2 = tv.add %q, %k2 on <> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %r = tv.add %t2, %c2 on <> : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("ignored"("model.py":1:0))
  tv.expect %r is %u <> on <> contract <output "ignored"> : tensor<f32> is tensor<f32>
}

// -----

// The number of a position that stands for others would be one that this one-hot has.
// CHECK: error: unknown whether the value of 'below' is that of the reference
// CHECK-NOT: differs from the reference
tv.graph @below <device = 1> {
  %label = tv.input <input "label"> : tensor<i64>
  %h = tv.one_hot %label {start = -15000 : i64} : (tensor<i64>) -> tensor<30000xf32>
  %s = tv.reduce sum %h {dimensions = array<i64: 0>} : (tensor<30000xf32>) -> tensor<f32>
  %l = tv.distribute %label <> on <> : (tensor<i64>) -> tensor<i64>
  %h2 = tv.one_hot %l on <> {start = -15000 : i64} : (tensor<i64>) -> tensor<30000xf32>
  %s2 = tv.reduce sum %h2 on <> {dimensions = array<i64: 0>} : (tensor<30000xf32>) -> tensor<f32>
  %q = tv.multiply %s2, %s2 on <> : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("below"("model.py":1:0))
  tv.expect %q is %s <> on <> contract <output "below"> : tensor<f32> is tensor<f32>
}

// -----

// Inputs that have one name have numbers that stand for no others where either selects.
// CHECK: error: unknown whether the value of 'named' is that of the reference
// CHECK-NOT: differs from the reference
tv.graph @named <device = 1> {
  %a = tv.input <input "w"> : tensor<i64>
  %b = tv.input <input "w"> : tensor<i64>
  %h = tv.one_hot %a {start = 0 : i64} : (tensor<i64>) -> tensor<9xf32>
  %k = tv.one_hot %b {start = 4 : i64} : (tensor<i64>) -> tensor<1xf32>
  %s = tv.reduce sum %h {dimensions = array<i64: 0>} : (tensor<9xf32>) -> tensor<f32>
  %t = tv.reduce sum %k {dimensions = array<i64: 0>} : (tensor<1xf32>) -> tensor<f32>
  %u = tv.add %s, %t : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %pa = tv.distribute %a <> on <> : (tensor<i64>) -> tensor<i64>
  %pb = tv.distribute %b <> on <> : (tensor<i64>) -> tensor<i64>
  %lo = tv.constant dense<0> : tensor<i64> on <> : () -> tensor<i64>
  %hi = tv.constant dense<8> : tensor<i64> on <> : () -> tensor<i64>
  %c = tv.compare less_equal %lo, %pa on <> : (tensor<i64>, tensor<i64>) -> tensor<f32>
  %d = tv.compare less_equal %pa, %hi on <> : (tensor<i64>, tensor<i64>) -> tensor<f32>
  %q = tv.multiply %c, %d on <> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %k2 = tv.one_hot %pb on <> {start = 4 : i64} : (tensor<i64>) -> tensor<1xf32>
  %t2 = tv.reduce sum %k2 on <> {dimensions = array<i64: 0>} : (tensor<1xf32>) -> tensor<f32>
  %r = tv.add %q, %t2 on <> : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("named"("model.py":1:0))
  tv.expect %r is %u <> on <> contract <output "named"> : tensor<f32> is tensor<f32>
}
