// Ops of a frontend's plan have a location of their own, in text and bytecode.
// RUN: verify-opt --mlir-print-debuginfo %s | FileCheck %s
// RUN: verify-opt --emit-bytecode %s | verify-opt --mlir-print-debuginfo | FileCheck %s
// RUN: not verify-opt --tv-check-equiv %s 2>&1 | FileCheck %s --check-prefix=PLACE

// PLACE: model.py:8:0: error: {{.*}}has no result to prove

// CHECK: } loc(#[[NODE:loc[0-9]+]])
// CHECK: #[[MODEL:loc[0-9]+]] = loc("model.py":8:0)
// CHECK: #[[NODE]] = #tv.node<"linear backward" cell 412 at #[[MODEL]]>
tv.graph @graph <dp = 1> {
} loc(#tv.node<"linear backward" cell 412 at loc("model.py":8:0)>)
