// DEFINE: %{others} =
// DEFINE: %{plan} = grep -v '// \(%{others}\)$' %s
// REDEFINE: %{others} = wrong
// RUN: %{plan} | verify-opt --tv-verify-equiv | FileCheck %s
// REDEFINE: %{others} = right
// RUN: %{plan} | not verify-opt --tv-verify-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// Ranks that load different parts of the data are folded. That both load the part of the first one is
// no such thing, whatever is stated of it.

// CHECK: tv.answer = "proved"
// CHECK: tv.graph @graph <dp = 1, rank = 2, device = 2, mb = 2> attributes {tv.folded = [array<i64: 0, 1>]}
// CHECK: tv.distribute %{{.*}} <[mb, rank, 0:2 of 2]>
// WRONG: error: output 'sum' differs from the reference on devices 0-1

tv.plan @reference <dp = 1, device = 1, mb = 1> {
  tv.segment @forward on 0 cell 2 {
  ^bb0(%x: tensor<8xf32>):
    %e = tv.exp %x : (tensor<8xf32>) -> tensor<8xf32>
    %s = tv.reduce sum %e {dimensions = array<i64: 0>} : (tensor<8xf32>) -> tensor<f32>
    tv.return %s : tensor<f32>
  }
  tv.program 0 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:8 of 8]>] : tensor<8xf32>
    %s = tv.call @forward(%x) instance 2 : (tensor<8xf32>) -> tensor<f32>
    tv.output %s "sum" <9, []> : tensor<f32>
  }
}
tv.plan @plan <dp = 1, device = 2, mb = 2> {
  tv.segment @forward0 on 0 cell 2 {
  ^bb0(%x: tensor<2xf32>):
    %e = tv.exp %x : (tensor<2xf32>) -> tensor<2xf32>
    %p = tv.reduce sum %e {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32>
    %s = tv.communicate all_reduce %p group [0, 1] : (tensor<f32>) -> tensor<f32>
    tv.return %s : tensor<f32>
  }
  tv.segment @forward1 on 1 cell 2 {
  ^bb0(%x: tensor<2xf32>):
    %e = tv.exp %x : (tensor<2xf32>) -> tensor<2xf32>
    %p = tv.reduce sum %e {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32>
    %s = tv.communicate all_reduce %p group [0, 1] : (tensor<f32>) -> tensor<f32>
    tv.return %s : tensor<f32>
  }
  tv.program 0 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:2 of 4]>] {tv.piece = #tv.piece<2, [0:2 of 4]>} : tensor<2xf32>
    %s = tv.call @forward0(%x) instance 2 : (tensor<2xf32>) -> tensor<f32>
    tv.output %s "sum" <9, []> : tensor<f32>
    %y = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:2 of 4]>] {tv.piece = #tv.piece<2, [0:2 of 4]>} : tensor<2xf32>
    %t = tv.call @forward0(%y) instance 3 : (tensor<2xf32>) -> tensor<f32>
    tv.output %t "sum" <9, []> : tensor<f32>
  }
  tv.program 1 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [2:4 of 4]>] {tv.piece = #tv.piece<2, [2:4 of 4]>} : tensor<2xf32> // right
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:2 of 4]>] {tv.piece = #tv.piece<2, [2:4 of 4]>} : tensor<2xf32> // wrong
    %s = tv.call @forward1(%x) instance 2 : (tensor<2xf32>) -> tensor<f32>
    tv.output %s "sum" <9, []> : tensor<f32>
    %y = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [2:4 of 4]>] {tv.piece = #tv.piece<2, [2:4 of 4]>} : tensor<2xf32> // right
    %y = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:2 of 4]>] {tv.piece = #tv.piece<2, [2:4 of 4]>} : tensor<2xf32> // wrong
    %t = tv.call @forward1(%y) instance 3 : (tensor<2xf32>) -> tensor<f32>
    tv.output %t "sum" <9, []> : tensor<f32>
  }
}
