// RUN: verify-opt %s --verify-roundtrip | FileCheck %s
// RUN: verify-opt %s --emit-bytecode | verify-opt | FileCheck %s
// RUN: verify-opt %s | FileCheck %s --check-prefix=SPACES --strict-whitespace

// What follows another word on a line follows one space.
// SPACES-NOT: {{[^ ]  }}

// CHECK-LABEL: tv.plan @plan <dp = 2, device = 2, mb = 4> {
tv.plan @plan <dp = 2, device = 2, mb = 4> {
  // CHECK: tv.buffer @w on 0 "layers.0.weight" holds <3, [0:4 of 8]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @w on 0 "layers.0.weight" holds <3, [0:4 of 8]> : !tv.buffer<tensor<4xf32>>
  // CHECK: tv.buffer @dw on 0 "layers.0.weight" holds <3 gradient, [0:4 of 8]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.buffer @dw on 0 "layers.0.weight" holds <3 gradient, [0:4 of 8]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  // CHECK: tv.scratch @slot on 0 "activation" : !tv.buffer<tensor<4xf32>>
  tv.scratch @slot on 0 "activation" : !tv.buffer<tensor<4xf32>>

  // CHECK: tv.segment @forward on 0 cell 2 {
  tv.segment @forward on 0 cell 2 {
  // CHECK: ^bb0(%[[X:.*]]: tensor<4xf32>):
  ^bb0(%x: tensor<4xf32>):
    // CHECK: %[[W:.*]] = tv.read @w : tensor<4xf32>
    %w = tv.read @w : tensor<4xf32>
    // CHECK: tv.multiply %[[X]], %[[W]]
    %y = tv.multiply %x, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    // CHECK: tv.communicate all_reduce %{{.*}} group [0, 1] : (tensor<4xf32>) -> tensor<4xf32>
    %sum = tv.communicate all_reduce %y group [0, 1] : (tensor<4xf32>) -> tensor<4xf32>
    // CHECK: tv.communicate all_gather %{{.*}} group [0, 1] replicas {dimension = 0 : i64} : (tensor<4xf32>) -> tensor<16xf32>
    %all = tv.communicate all_gather %sum group [0, 1] replicas {dimension = 0 : i64} : (tensor<4xf32>) -> tensor<16xf32>
    // CHECK: tv.communicate reduce_scatter %{{.*}} group [0, 1] {dimension = 0 : i64} : (tensor<16xf32>) -> tensor<8xf32>
    %half = tv.communicate reduce_scatter %all group [0, 1] {dimension = 0 : i64} : (tensor<16xf32>) -> tensor<8xf32>
    // CHECK: tv.communicate all_to_all %{{.*}} group [0, 1] {dimension = 0 : i64, split_dimension = 0 : i64} : (tensor<8xf32>) -> tensor<8xf32>
    %turned = tv.communicate all_to_all %half group [0, 1] {dimension = 0 : i64, split_dimension = 0 : i64} : (tensor<8xf32>) -> tensor<8xf32>
    // CHECK: tv.communicate broadcast %{{.*}} group [0, 1] {root = 1 : i64} : (tensor<8xf32>) -> tensor<8xf32>
    %same = tv.communicate broadcast %turned group [0, 1] {root = 1 : i64} : (tensor<8xf32>) -> tensor<8xf32>
    // CHECK: tv.return %{{.*}}, %{{.*}} : tensor<4xf32>, tensor<8xf32>
    tv.return %sum, %same : tensor<4xf32>, tensor<8xf32>
  }

  // CHECK: tv.segment @backward on 0 cell 3 backward {
  tv.segment @backward on 0 cell 3 backward {
  ^bb0(%g: tensor<4xf32>):
    // CHECK: %{{.*}}:2 = tv.backward %{{.*}} of 17 {outputs = array<i64: 0>, wrt = array<i64: 0, 1>} : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    %dx, %dw = tv.backward %g of 17 {outputs = array<i64: 0>, wrt = array<i64: 0, 1>} : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    // CHECK: tv.add_to %{{.*}}, @dw : tensor<4xf32>
    tv.add_to %dw, @dw : tensor<4xf32>
    // A segment that returns nothing prints no terminator.
    // CHECK-NEXT: }
    tv.return
  }

  // CHECK: tv.program 0 {
  tv.program 0 {
    // CHECK: %[[BATCH:.*]] = tv.load_data cell 1 ["tokens"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    %x = tv.load_data cell 1 ["tokens"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    // CHECK: %[[Y:.*]]:2 = tv.call @forward(%[[BATCH]]) instance 0 mirror 1 : (tensor<4xf32>) -> (tensor<4xf32>, tensor<8xf32>)
    %y:2 = tv.call @forward(%x) instance 0 mirror 1 : (tensor<4xf32>) -> (tensor<4xf32>, tensor<8xf32>)
    // CHECK: tv.seed : tensor<4xf32>
    %seed = tv.seed : tensor<4xf32>
    // CHECK: tv.call @backward(%{{.*}}) instance 1 mirror 0 : (tensor<4xf32>) -> ()
    tv.call @backward(%seed) instance 1 mirror 0 : (tensor<4xf32>) -> ()
    // CHECK: tv.send %[[Y]]#0 to 1 : tensor<4xf32>
    tv.send %y#0 to 1 : tensor<4xf32>
    // CHECK: %[[BACK:.*]] = tv.receive from 1 : tensor<4xf32>
    %back = tv.receive from 1 : tensor<4xf32>
    // CHECK: tv.write %[[BACK]], @dw : tensor<4xf32>
    tv.write %back, @dw : tensor<4xf32>
    // CHECK: tv.write %[[BACK]], @slot : tensor<4xf32>
    tv.write %back, @slot : tensor<4xf32>
    // CHECK: tv.free @slot
    tv.free @slot
    // CHECK: %[[SENDING:.*]] = tv.start {
    // CHECK-NEXT: tv.send %[[BACK]] to 1 : tensor<4xf32>
    // CHECK-NEXT: }
    %sending = tv.start { tv.send %back to 1 : tensor<4xf32> }
    // CHECK: %[[RECEIVING:.*]] = tv.start into @dw {
    // CHECK-NEXT: tv.receive from 1 : tensor<4xf32>
    // CHECK-NEXT: }
    %receiving = tv.start into @dw {
      %0 = tv.receive from 1 : tensor<4xf32>
    }
    // CHECK: %[[REDUCING:.*]] = tv.start {
    // CHECK-NEXT: tv.communicate all_reduce %[[BACK]] group [0, 1]
    %reducing = tv.start {
      %0 = tv.communicate all_reduce %back group [0, 1] : (tensor<4xf32>) -> tensor<4xf32>
    }
    // CHECK: %[[COPYING:.*]] = tv.start stream "copies" after %[[RECEIVING]], %[[SENDING]] into @dw {
    // CHECK-NEXT: %[[READ:.*]] = tv.read @dw
    // CHECK-NEXT: tv.copy %[[READ]]
    // CHECK-NEXT: }
    %copying = tv.start stream "copies" after %receiving, %sending into @dw {
      %0 = tv.read @dw : tensor<4xf32>
      %1 = tv.copy %0 : (tensor<4xf32>) -> tensor<4xf32>
    }
    // CHECK: tv.wait %[[COPYING]]{{$}}
    tv.wait %copying
    // CHECK: tv.wait %[[SENDING]]{{$}}
    tv.wait %sending
    // CHECK: tv.wait %[[RECEIVING]]{{$}}
    tv.wait %receiving
    // CHECK: tv.wait %[[REDUCING]] : tensor<4xf32>
    %reduced = tv.wait %reducing : tensor<4xf32>
    // CHECK: tv.output %[[BACK]] "loss" <9, [0:4 of 4]> : tensor<4xf32>
    tv.output %back "loss" <9, [0:4 of 4]> : tensor<4xf32>
  }

  // CHECK: tv.program 1 {
  // CHECK-NEXT: }
  tv.program 1 {
  }
}
