// RUN: grep -v '// undefined$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=PROVED
// RUN: grep -v '// input$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s

// What a plan is given is part of the contract; an undefined value cannot be.

// PROVED: tv.answer = "proved"
// CHECK: error: {{.*}}ledger: is given an undefined value of the reference

tv.graph @graph <dp = 2> {
  %x = tv.input <input "x"> : tensor<8xf32> // input
  %x = tv.undefined "x" : tensor<8xf32> // undefined
  %r = tv.reshape %x : (tensor<8xf32>) -> tensor<4x2xf32>
  %y = tv.exp %r : (tensor<4x2xf32>) -> tensor<4x2xf32>
  %p = tv.distribute %r <[dp, 0:2 of 2], [0:2 of 2]> on <> : (tensor<4x2xf32>) -> tensor<2x2xf32>
  %q = tv.exp %p on <> : (tensor<2x2xf32>) -> tensor<2x2xf32>
  tv.expect %q is %y <[dp, 0:2 of 2], [0:2 of 2]> on <> number 0 contract <output "y"> : tensor<2x2xf32> is tensor<4x2xf32>
}
