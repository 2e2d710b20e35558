// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=FIXED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// Parameters of two layers live in one flat buffer that is filled anew when devices
// wake up. The wrong plan hands each layer the place of the other.

// FIXED: tv.answer = "proved"
// WRONG: error: output 'a' differs from the reference on device 0
// WRONG: model.py:2:0: note: wrong slice: on device 0 the value is part [6:12] of the reference tensor, part [0:6] is expected

tv.graph @B088 <device = 1> {
  %a = tv.input <parameter "a"> : tensor<6xf32>
  %b = tv.input <parameter "b"> : tensor<6xf32>
  %bucket = tv.concat %a, %b {dimension = 0 : i64} : (tensor<6xf32>, tensor<6xf32>) -> tensor<12xf32> loc("bucket"("model.py":1:0))
  %pa = tv.distribute %a <[0:6 of 6]> on <device = 0> : (tensor<6xf32>) -> tensor<6xf32>
  %pb = tv.distribute %b <[0:6 of 6]> on <device = 0> : (tensor<6xf32>) -> tensor<6xf32>
  %flat = tv.concat %pa, %pb on <device = 0> {dimension = 0 : i64} : (tensor<6xf32>, tensor<6xf32>) -> tensor<12xf32> loc("bucket"("model.py":1:0))
  %new_a = tv.slice %flat on <device = 0> {dimension = 0 : i64, start = 6 : i64, end = 12 : i64} : (tensor<12xf32>) -> tensor<6xf32> loc("rebind"("model.py":2:0)) // wrong
  %new_a = tv.slice %flat on <device = 0> {dimension = 0 : i64, start = 0 : i64, end = 6 : i64} : (tensor<12xf32>) -> tensor<6xf32> loc("rebind"("model.py":2:0)) // fixed
  tv.expect %new_a is %bucket <[0:6 of 12]> on <device = 0> contract <output "a"> : tensor<6xf32> is tensor<12xf32>
  %new_b = tv.slice %flat on <device = 0> {dimension = 0 : i64, start = 0 : i64, end = 6 : i64} : (tensor<12xf32>) -> tensor<6xf32> loc("rebind"("model.py":2:0)) // wrong
  %new_b = tv.slice %flat on <device = 0> {dimension = 0 : i64, start = 6 : i64, end = 12 : i64} : (tensor<12xf32>) -> tensor<6xf32> loc("rebind"("model.py":2:0)) // fixed
  tv.expect %new_b is %bucket <[6:12 of 12]> on <device = 0> contract <output "b"> : tensor<6xf32> is tensor<12xf32>
}
