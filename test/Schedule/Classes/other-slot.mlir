// RUN: grep -v "// wrong$" %s | verify-opt --tv-check-schedule -o /dev/null
// RUN: grep -v "// fixed$" %s | not verify-opt --tv-check-schedule -o /dev/null 2>&1 | FileCheck %s

// Each micro-batch is in memory of its own, and the second forward reads that of the first one.

// CHECK: error: 'tv.call' op on device 0 takes a tensor of micro-batch 1, execution 3 that it mirrors is of micro-batch 0
// CHECK: note: execution 3 is here

tv.plan @plan <dp = 1, device = 2, mb = 2> {
  tv.scratch @first on 0 "activation" : !tv.buffer<tensor<4xf32>>
  tv.scratch @second on 0 "activation" : !tv.buffer<tensor<4xf32>>
  tv.segment @forward on 0 cell 1 {
  ^bb0(%x: tensor<4xf32>):
    %0 = tv.multiply %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    tv.save 7 from %x to %0 : tensor<4xf32> to tensor<4xf32>
    tv.return %0 : tensor<4xf32>
  }
  tv.segment @backward on 0 cell 2 backward {
  ^bb0(%d: tensor<4xf32>):
    %dx = tv.backward %d of 7 {outputs = array<i64: 0>, wrt = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
  }
  tv.program 0 {
    %receiving0 = tv.start into @first { %0 = tv.receive from 1 : tensor<4xf32> }
    %receiving1 = tv.start into @second { %0 = tv.receive from 1 : tensor<4xf32> }
    tv.wait %receiving0
    tv.wait %receiving1
    %x0 = tv.read @first : tensor<4xf32>
    %y0 = tv.call @forward(%x0) instance 1 mirror 2 : (tensor<4xf32>) -> tensor<4xf32>
    %x1 = tv.read @second : tensor<4xf32> // fixed
    %x1 = tv.read @first : tensor<4xf32> // wrong
    %y1 = tv.call @forward(%x1) instance 3 mirror 4 : (tensor<4xf32>) -> tensor<4xf32>
    %d1 = tv.read @second : tensor<4xf32>
    tv.call @backward(%d1) instance 4 mirror 3 : (tensor<4xf32>) -> ()
    tv.call @backward(%y0) instance 2 mirror 1 : (tensor<4xf32>) -> ()
  }
  tv.program 1 {
    %x0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    tv.send %x0 to 0 : tensor<4xf32>
    %x1 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    tv.send %x1 to 0 : tensor<4xf32>
  }
}
