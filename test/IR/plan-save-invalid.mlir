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

// -----

tv.plan @number_of_save <device = 1> {
  tv.segment @segment on 0 cell 0 {
  ^bb0(%x: tensor<4xf32>):
    %y = tv.negate %x : (tensor<4xf32>) -> tensor<4xf32>
    // expected-error @below {{names number 9223372036854775807, of over 62 bits}}
    tv.save 9223372036854775807 from %x to %y : tensor<4xf32> to tensor<4xf32>
  }
}

// -----

tv.plan @number_of_backward <device = 1> {
  tv.segment @segment on 0 cell 0 backward {
  ^bb0(%x: tensor<4xf32>):
    // expected-error @below {{names number 9223372036854775807, of over 62 bits}}
    %y = tv.backward %x of 9223372036854775807 {outputs = array<i64: 0>, wrt = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
  }
}

// -----

tv.plan @saved_copy_of_itself <device = 1> {
  tv.segment @segment on 0 cell 0 {
  ^bb0(%x: tensor<4xf32>):
    %y = tv.copy %y : (tensor<4xf32>) -> tensor<4xf32>
    // expected-error @below {{saves a copy of itself}}
    tv.save 1 from %y to %x : tensor<4xf32> to tensor<4xf32>
  }
}

// -----

tv.plan @slice_over_an_axis <device = 1, mb = 2> {
  tv.segment @segment on 0 cell 0 {
  ^bb0(%x: tensor<4xf32>):
    // expected-error @below {{does not belong into a segment or program}}
    %y = tv.all_slice %x over "mb" {dimension = 0 : i64} : (tensor<4xf32>) -> tensor<2xf32>
  }
}
