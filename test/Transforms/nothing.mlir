// RUN: not verify-opt %s --tv-verify-equiv 2>&1 | FileCheck %s

// What checks nothing proves nothing.

// CHECK: error: has nothing to check: no tv.graph or tv.stage
module {}
