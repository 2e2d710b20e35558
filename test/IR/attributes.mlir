// RUN: verify-opt %s --allow-unregistered-dialect --verify-roundtrip | FileCheck %s
// RUN: verify-opt %s --allow-unregistered-dialect --emit-bytecode \
// RUN:   | verify-opt --allow-unregistered-dialect | FileCheck %s

// CHECK: "axis"() {value = #tv.axis<"dp", 2>}
"axis"() {value = #tv.axis<"dp", 2>} : () -> ()

// CHECK: "mesh"() {value = #tv.mesh<dp = 2, device = 4, "odd name" = 1>}
"mesh"() {value = #tv.mesh<dp = 2, device = 4, "odd name" = 1>} : () -> ()
// CHECK: "mesh_without_axes"() {value = #tv.mesh<>}
"mesh_without_axes"() {value = #tv.mesh<>} : () -> ()

// CHECK: "axis_set"() {value = #tv.axis_set<device = 0:2 | 5>}
"axis_set"() {value = #tv.axis_set<device = 0:2 | 5>} : () -> ()
// A single coordinate prints without its end.
// CHECK: "one_coordinate"() {value = #tv.axis_set<mb = 5>}
"one_coordinate"() {value = #tv.axis_set<mb = 5:6>} : () -> ()

// CHECK: "domain"() {value = #tv.domain<device = 1, mb = 0:15>}
"domain"() {value = #tv.domain<device = 1, mb = 0:15>} : () -> ()
// CHECK: "everywhere"() {value = #tv.domain<>}
"everywhere"() {value = #tv.domain<>} : () -> ()

// CHECK: "factors"() {axis = #tv.factor<dp>, range = #tv.factor<0:4 of 8>}
"factors"() {axis = #tv.factor<dp>, range = #tv.factor<0:4 of 8>} : () -> ()

// CHECK: "lineage"() {value = #tv.lineage<[dp, mb, 8:16 of 16], [0:1024 of 1024]>}
"lineage"() {value = #tv.lineage<[dp, mb, 8:16 of 16], [0:1024 of 1024]>} : () -> ()
// CHECK: "term_of_a_sum"() {value = #tv.lineage<[0:1 of 1] sum dp, mb>}
"term_of_a_sum"() {value = #tv.lineage<[0:1 of 1] sum dp, mb>} : () -> ()
// CHECK: "scalar"() {value = #tv.lineage<>}
"scalar"() {value = #tv.lineage<>} : () -> ()
// CHECK: "scalar_term"() {value = #tv.lineage<sum dp>}
"scalar_term"() {value = #tv.lineage<sum dp>} : () -> ()
// CHECK: "dimension_without_factors"() {value = #tv.lineage<[]>}
"dimension_without_factors"() {value = #tv.lineage<[]>} : () -> ()

// CHECK: "piece"() {value = #tv.piece<349, [8:16 of 16, 0:128 of 128]>}
"piece"() {value = #tv.piece<349, [8:16 of 16, 0:128 of 128]>} : () -> ()
// CHECK: "piece_of_a_gradient"() {value = #tv.piece<8 gradient, [0:4 of 4], 1 of 2>}
"piece_of_a_gradient"() {value = #tv.piece<8 gradient, [0:4 of 4], 1 of 2>} : () -> ()
// CHECK: "piece_of_a_scalar"() {value = #tv.piece<8, []>}
"piece_of_a_scalar"() {value = #tv.piece<8, []>} : () -> ()

// CHECK: "contract"() {value = #tv.contract<parameter "layers.0.weight">}
"contract"() {value = #tv.contract<parameter "layers.0.weight">} : () -> ()

// CHECK: "enums"() {collective = #tv<collective all_gather>, reduction = #tv<reduction sum>}
"enums"() {collective = #tv<collective all_gather>, reduction = #tv<reduction sum>} : () -> ()

// CHECK: "types"() {buffer = !tv.buffer<tensor<4xf32>>, extended = tensor<4x!tv.extended<f32>>}
"types"() {buffer = !tv.buffer<tensor<4xf32>>, extended = tensor<4x!tv.extended<f32>>} : () -> ()
