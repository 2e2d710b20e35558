// RUN: grep -v "// wrong$" %s | verify-opt --tv-check-schedule -o /dev/null
// RUN: grep -v "// fixed$" %s | not verify-opt --tv-check-schedule -o /dev/null 2>&1 | FileCheck %s

// A stage has two forwards under way and memory for one activation: the second micro-batch
// arrives where the backward of the first one still reads.

// CHECK: error: 'tv.backward' op on device 0 reads 'activation' through a tensor that was read before it was overwritten
// CHECK: note: in execution 2
// CHECK: note: it was read here
// CHECK: note: and overwritten here

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
    %d = tv.seed : tensor<4xf32>
    %dx = tv.backward %d of 7 {outputs = array<i64: 0>, wrt = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
  }
  tv.program 0 {
    %receiving0 = tv.start into @first { %0 = tv.receive from 1 : tensor<4xf32> }
    tv.wait %receiving0
    %x0 = tv.read @first : tensor<4xf32>
    %y0 = tv.call @forward(%x0) instance 1 mirror 2 : (tensor<4xf32>) -> tensor<4xf32>
    %receiving1 = tv.start into @second { %0 = tv.receive from 1 : tensor<4xf32> } // fixed
    %receiving1 = tv.start into @first { %0 = tv.receive from 1 : tensor<4xf32> } // wrong
    tv.wait %receiving1
    %x1 = tv.read @second : tensor<4xf32> // fixed
    %x1 = tv.read @first : tensor<4xf32> // wrong
    %y1 = tv.call @forward(%x1) instance 3 mirror 4 : (tensor<4xf32>) -> tensor<4xf32>
    tv.call @backward() instance 2 mirror 1 : () -> ()
    tv.call @backward() instance 4 mirror 3 : () -> ()
  }
  tv.program 1 {
    %0 = tv.seed : tensor<4xf32>
    tv.send %0 to 0 : tensor<4xf32>
    tv.send %0 to 0 : tensor<4xf32>
  }
}
