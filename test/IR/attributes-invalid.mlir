// RUN: verify-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics

// expected-error @below {{axis 'dp' has size 0}}
"axis_size"() {value = #tv.axis<"dp", 0>} : () -> ()

// -----

// expected-error @below {{axis 'dp' has size -1}}
"mesh_axis_size"() {value = #tv.mesh<dp = -1>} : () -> ()

// -----

// expected-error @below {{axis 'dp' occurs twice}}
"mesh_names"() {value = #tv.mesh<dp = 2, dp = 2>} : () -> ()

// -----

// expected-error @below {{mesh has more than 2^63 points}}
"mesh_size"() {value = #tv.mesh<a = 4294967296, b = 4294967296>} : () -> ()

// -----

// expected-error @below {{mesh has more than 64 axes}}
"mesh_axes"() {value = #tv.mesh<a0 = 1, a1 = 1, a2 = 1, a3 = 1, a4 = 1, a5 = 1, a6 = 1, a7 = 1, a8 = 1, a9 = 1, a10 = 1, a11 = 1, a12 = 1, a13 = 1, a14 = 1, a15 = 1, a16 = 1, a17 = 1, a18 = 1, a19 = 1, a20 = 1, a21 = 1, a22 = 1, a23 = 1, a24 = 1, a25 = 1, a26 = 1, a27 = 1, a28 = 1, a29 = 1, a30 = 1, a31 = 1, a32 = 1, a33 = 1, a34 = 1, a35 = 1, a36 = 1, a37 = 1, a38 = 1, a39 = 1, a40 = 1, a41 = 1, a42 = 1, a43 = 1, a44 = 1, a45 = 1, a46 = 1, a47 = 1, a48 = 1, a49 = 1, a50 = 1, a51 = 1, a52 = 1, a53 = 1, a54 = 1, a55 = 1, a56 = 1, a57 = 1, a58 = 1, a59 = 1, a60 = 1, a61 = 1, a62 = 1, a63 = 1, a64 = 1>} : () -> ()

// -----

// expected-error @below {{no coordinate comes after 9223372036854775807}}
"last_coordinate"() {value = #tv.axis_set<mb = 9223372036854775807>} : () -> ()

// -----

// expected-error @below {{expected a coordinate or 'start:end'}}
"empty_set"() {value = #tv.axis_set<mb = >} : () -> ()

// -----

// expected-error @below {{intervals of axis 'mb' are not sorted, nonempty and disjoint}}
"empty_interval"() {value = #tv.axis_set<mb = 3:3>} : () -> ()

// -----

// expected-error @below {{intervals of axis 'mb' are not sorted, nonempty and disjoint}}
"unsorted_intervals"() {value = #tv.axis_set<mb = 3:4 | 0:2>} : () -> ()

// -----

// Adjacent intervals are one interval, so that equal sets have equal text.
// expected-error @below {{intervals of axis 'mb' are not sorted, nonempty and disjoint}}
"adjacent_intervals"() {value = #tv.axis_set<mb = 0:2 | 2:4>} : () -> ()

// -----

// expected-error @below {{intervals of axis 'mb' are not sorted, nonempty and disjoint}}
"negative_coordinate"() {value = #tv.axis_set<mb = -1:4>} : () -> ()

// -----

// expected-error @below {{axes of a domain are not sorted: 'device'}}
"unsorted_axes"() {value = #tv.domain<mb = 0, device = 1>} : () -> ()

// -----

// expected-error @below {{axes of a domain are not sorted: 'mb'}}
"repeated_axis"() {value = #tv.domain<mb = 0, mb = 1>} : () -> ()

// -----

// expected-error @below {{range 4:4 is empty or not inside 8}}
"empty_range"() {value = #tv.factor<4:4 of 8>} : () -> ()

// -----

// expected-error @below {{range 4:9 is empty or not inside 8}}
"range_outside"() {value = #tv.lineage<[4:9 of 8]>} : () -> ()

// -----

// expected-error @below {{range -1:4 is empty or not inside 8}}
"negative_range"() {value = #tv.piece<1, [-1:4 of 8]>} : () -> ()

// -----

// expected-error @below {{expected 'of'}}
"range_without_extent"() {value = #tv.piece<1, [0:4]>} : () -> ()

// -----

// expected-error @below {{there is no term 2 of 2}}
"term_outside"() {value = #tv.piece<1, [0:4 of 4], 2 of 2>} : () -> ()

// -----

// expected-error @below {{tensor 9223372036854775807 has a number of over 62 bits}}
"number_of_tensor"() {value = #tv.piece<9223372036854775807, [0:4 of 4]>} : () -> ()
