// RUN: not verify-opt %s --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s
// RUN: grep -v '// nested$' %s | verify-opt --tv-check-equiv | FileCheck %s --check-prefix=PROVED

// A graph in a module of its own would be passed over.

// CHECK: error: is in a module that is checked, and would not be
// PROVED: tv.answer = "proved"

module { // nested
  tv.graph @nested <dp = 1> { // nested
    %x = tv.input <input "x"> : tensor<8xf32> // nested
    %y = tv.negate %x : (tensor<8xf32>) -> tensor<8xf32> // nested
    %p = tv.distribute %x <[0:8 of 8]> on <> : (tensor<8xf32>) -> tensor<8xf32> // nested
    %q = tv.copy %p on <> : (tensor<8xf32>) -> tensor<8xf32> // nested
    tv.expect %q is %y <[0:8 of 8]> on <> number 0 contract <output "y"> : tensor<8xf32> is tensor<8xf32> // nested
  } // nested
} // nested
tv.graph @graph <dp = 1> {
  %x = tv.input <input "x"> : tensor<8xf32>
  %y = tv.negate %x : (tensor<8xf32>) -> tensor<8xf32>
  %p = tv.distribute %x <[0:8 of 8]> on <> : (tensor<8xf32>) -> tensor<8xf32>
  %q = tv.negate %p on <> : (tensor<8xf32>) -> tensor<8xf32>
  tv.expect %q is %y <[0:8 of 8]> on <> number 0 contract <output "y"> : tensor<8xf32> is tensor<8xf32>
}
