// RUN: verify-opt %s -verify-diagnostics -split-input-file

// The derivative would be that of the square, where the copy has none.
tv.plan @saves_past_a_copy <device = 2> {
  tv.segment @t on 0 cell 2 {
  ^bb0(%a: tensor<4xf32>):
    %copy = tv.copy %a : (tensor<4xf32>) -> tensor<4xf32>
    %square = tv.multiply %a, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    // expected-error @below {{saves a result that reads what an input is a copy of}}
    tv.save 1 from %copy to %square : tensor<4xf32> to tensor<4xf32>
    tv.return
  }
}
