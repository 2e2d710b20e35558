// RUN: verify-opt %s --split-input-file --verify-diagnostics

tv.plan @sends_to_nobody <device = 2> {
  tv.program 0 {
    %x = tv.undefined "x" : tensor<4xf32>
    // expected-error @below {{names device 2, the mesh has 2}}
    tv.send %x to 2 : tensor<4xf32>
  }
}

// -----

tv.plan @sends_to_itself <device = 2> {
  tv.program 0 {
    %x = tv.undefined "x" : tensor<4xf32>
    // expected-error @below {{is a transfer of device 0 to itself}}
    tv.send %x to 0 : tensor<4xf32>
  }
}

// -----

tv.plan @receives_from_nobody <device = 2> {
  tv.program 0 {
    // expected-error @below {{names device -1, the mesh has 2}}
    %x = tv.receive from -1 : tensor<4xf32>
  }
}

// -----

tv.plan @receives_from_itself <device = 2> {
  tv.program 1 {
    // expected-error @below {{is a transfer of device 1 to itself}}
    %x = tv.receive from 1 : tensor<4xf32>
  }
}

// -----

tv.plan @group_with_nobody <dp = 2, device = 2> {
  tv.program 0 {
    %x = tv.undefined "x" : tensor<4xf32>
    // expected-error @below {{names device 2, the mesh has 2}}
    %y = tv.communicate all_reduce %x group [0, 2] : (tensor<4xf32>) -> tensor<4xf32>
  }
}

// -----

tv.plan @group_with_one_member_twice <dp = 2, device = 2> {
  tv.program 0 {
    %x = tv.undefined "x" : tensor<4xf32>
    // expected-error @below {{names device 0 twice}}
    %y = tv.communicate all_reduce %x group [0, 1, 0] : (tensor<4xf32>) -> tensor<4xf32>
  }
}

// -----

tv.plan @group_of_others <dp = 2, device = 2> {
  tv.program 0 {
    %x = tv.undefined "x" : tensor<4xf32>
    // expected-error @below {{runs on device 0, which is not in its group}}
    %y = tv.communicate all_reduce %x group [1] : (tensor<4xf32>) -> tensor<4xf32>
  }
}

// -----

tv.plan @empty_group <dp = 2, device = 2> {
  tv.program 0 {
    %x = tv.undefined "x" : tensor<4xf32>
    // expected-error @below {{runs on device 0, which is not in its group}}
    %y = tv.communicate all_reduce %x group [] : (tensor<4xf32>) -> tensor<4xf32>
  }
}

// -----

tv.plan @broadcast_without_root <dp = 2, device = 2> {
  tv.program 0 {
    %x = tv.undefined "x" : tensor<4xf32>
    // expected-error @below {{needs a root in its group}}
    %y = tv.communicate broadcast %x group [0, 1] : (tensor<4xf32>) -> tensor<4xf32>
  }
}

// -----

tv.plan @broadcast_from_outside <dp = 2, device = 2> {
  tv.program 0 {
    %x = tv.undefined "x" : tensor<4xf32>
    // expected-error @below {{needs a root in its group}}
    %y = tv.communicate broadcast %x group [0] {root = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  }
}

// -----

tv.plan @sum_with_a_root <dp = 2, device = 2> {
  tv.program 0 {
    %x = tv.undefined "x" : tensor<4xf32>
    // expected-error @below {{has a result on device 0 that is used, and gives it to device 1 alone}}
    %y = tv.communicate all_reduce %x group [0, 1] {root = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
    %z = tv.negate %y : (tensor<4xf32>) -> tensor<4xf32>
  }
}

// -----

tv.plan @sum_with_a_root_outside <dp = 2, device = 2> {
  tv.program 0 {
    %x = tv.undefined "x" : tensor<4xf32>
    // expected-error @below {{needs a root in its group if it broadcasts; else only an all-reduce of one replica may have one}}
    %y = tv.communicate all_reduce %x group [0] {root = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  }
}

// -----

tv.plan @sum_of_replicas_with_a_root <dp = 2, device = 2> {
  tv.program 0 {
    %x = tv.undefined "x" : tensor<4xf32>
    // expected-error @below {{needs a root in its group if it broadcasts}}
    %y = tv.communicate all_reduce %x group [0] replicas {root = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  }
}

// -----

tv.plan @gather_with_a_root <dp = 2, device = 2> {
  tv.program 0 {
    %x = tv.undefined "x" : tensor<4xf32>
    // expected-error @below {{needs a root in its group if it broadcasts}}
    %y = tv.communicate all_gather %x group [0, 1] {dimension = 0 : i64, root = 0 : i64} : (tensor<4xf32>) -> tensor<8xf32>
  }
}

// -----

tv.plan @gather_without_dimension <dp = 2, device = 2> {
  tv.program 0 {
    %x = tv.undefined "x" : tensor<4xf32>
    // expected-error @below {{needs 'dimension'}}
    %y = tv.communicate all_gather %x group [0, 1] : (tensor<4xf32>) -> tensor<8xf32>
  }
}

// -----

tv.plan @sum_with_dimension <dp = 2, device = 2> {
  tv.program 0 {
    %x = tv.undefined "x" : tensor<4xf32>
    // expected-error @below {{has no use for 'dimension'}}
    %y = tv.communicate all_reduce %x group [0, 1] {dimension = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  }
}

// -----

tv.plan @gather_along_no_dimension <dp = 2, device = 2> {
  tv.program 0 {
    %x = tv.undefined "x" : tensor<4xf32>
    // expected-error @below {{has no dimension 1}}
    %y = tv.communicate all_gather %x group [0, 1] {dimension = 1 : i64} : (tensor<4xf32>) -> tensor<8xf32>
  }
}

// -----

tv.plan @all_to_all_without_split <dp = 2, device = 2> {
  tv.program 0 {
    %x = tv.undefined "x" : tensor<4xf32>
    // expected-error @below {{needs 'split_dimension'}}
    %y = tv.communicate all_to_all %x group [0, 1] {dimension = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  }
}

// -----

tv.plan @gather_with_split <dp = 2, device = 2> {
  tv.program 0 {
    %x = tv.undefined "x" : tensor<4xf32>
    // expected-error @below {{has no use for 'split_dimension'}}
    %y = tv.communicate all_gather %x group [0, 1] {dimension = 0 : i64, split_dimension = 0 : i64} : (tensor<4xf32>) -> tensor<8xf32>
  }
}

// -----

tv.plan @sum_changes_shape <dp = 2, device = 2> {
  tv.program 0 {
    %x = tv.undefined "x" : tensor<4xf32>
    // expected-error @below {{gives 'tensor<4xf32>', not 'tensor<8xf32>'}}
    %y = tv.communicate all_reduce %x group [0, 1] : (tensor<4xf32>) -> tensor<8xf32>
  }
}

// -----

tv.plan @sum_changes_element_type <dp = 2, device = 2> {
  tv.program 0 {
    %x = tv.undefined "x" : tensor<4xf32>
    // expected-error @below {{gives 'tensor<4xf32>', not 'tensor<4xf64>'}}
    %y = tv.communicate all_reduce %x group [0, 1] : (tensor<4xf32>) -> tensor<4xf64>
  }
}

// -----

tv.plan @gather_of_another_size <dp = 2, device = 2> {
  tv.program 0 {
    %x = tv.undefined "x" : tensor<4xf32>
    // expected-error @below {{gives 'tensor<8xf32>', not 'tensor<12xf32>'}}
    %y = tv.communicate all_gather %x group [0, 1] {dimension = 0 : i64} : (tensor<4xf32>) -> tensor<12xf32>
  }
}

// -----

tv.plan @gather_of_one_replica <dp = 2, device = 2> {
  tv.program 0 {
    %x = tv.undefined "x" : tensor<4xf32>
    // expected-error @below {{gives 'tensor<16xf32>', not 'tensor<8xf32>'}}
    %y = tv.communicate all_gather %x group [0, 1] replicas {dimension = 0 : i64} : (tensor<4xf32>) -> tensor<8xf32>
  }
}

// -----

tv.plan @uneven_parts <dp = 2, device = 2> {
  tv.program 0 {
    %x = tv.undefined "x" : tensor<5xf32>
    // expected-error @below {{cannot cut a dimension of size 5 into 2 parts}}
    %y = tv.communicate reduce_scatter %x group [0, 1] {dimension = 0 : i64} : (tensor<5xf32>) -> tensor<2xf32>
  }
}

// -----

tv.plan @part_of_another_size <dp = 2, device = 2> {
  tv.program 0 {
    %x = tv.undefined "x" : tensor<4xf32>
    // expected-error @below {{gives 'tensor<2xf32>', not 'tensor<1xf32>'}}
    %y = tv.communicate reduce_scatter %x group [0, 1] {dimension = 0 : i64} : (tensor<4xf32>) -> tensor<1xf32>
  }
}

// -----

tv.plan @all_to_all_of_another_shape <dp = 2, device = 2> {
  tv.program 0 {
    %x = tv.undefined "x" : tensor<4x2xf32>
    // expected-error @below {{gives 'tensor<2x4xf32>', not 'tensor<4x2xf32>'}}
    %y = tv.communicate all_to_all %x group [0, 1] {dimension = 1 : i64, split_dimension = 0 : i64} : (tensor<4x2xf32>) -> tensor<4x2xf32>
  }
}

// -----

tv.plan @gather_by_maximum <dp = 2, device = 2> {
  tv.program 0 {
    %x = tv.undefined "x" : tensor<4xf32>
    // expected-error @below {{has nothing to combine by maximum}}
    %y = tv.communicate all_gather %x group [0, 1] by maximum {dimension = 0 : i64} : (tensor<4xf32>) -> tensor<8xf32>
  }
}

// -----

tv.plan @maximum_over_replicas <dp = 2, device = 2> {
  tv.program 0 {
    %x = tv.undefined "x" : tensor<4xf32>
    // expected-error @below {{combines replicas by maximum, which is not supported}}
    %y = tv.communicate all_reduce %x group [0, 1] replicas by maximum : (tensor<4xf32>) -> tensor<4xf32>
  }
}
