// RUN: verify-opt %s --split-input-file --verify-diagnostics

// Outputs are summed over what lies along an axis that means nothing.

// expected-error @below {{cannot have an axis "foo"}}
tv.plan @unknown_axis <dp = 1, device = 1, mb = 1, foo = 2> {
}

// -----

// Ranks are an axis of a graph.

// expected-error @below {{cannot have an axis "rank"}}
tv.plan @ranks <dp = 1, rank = 2, device = 1, mb = 1> {
}
