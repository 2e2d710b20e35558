//===- DenseClassesTest.cpp - coordinates with the same elements ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LongExecution.h"

using namespace mlir;
using namespace verify;

namespace {
class DenseClassesTest : public DenseRunsTest {};
} // namespace

TEST_F(DenseClassesTest, CoordinatesWithTheSameElements) {
  checkRuns(R"(tv.graph @graph <dp = 2, rank = 3, device = 1> {
    %x = tv.input <input "x"> : tensor<4x108x3xf64>
    %mask = tv.causal_mask : () -> tensor<108x108x!tv.extended<f64>>
    %exp = tv.exp %mask : (tensor<108x108x!tv.extended<f64>>) -> tensor<108x108xf64>
    %prefix = tv.einsum %exp, %x {equation = "ij,bjd->bid"} : (tensor<108x108xf64>, tensor<4x108x3xf64>) -> tensor<4x108x3xf64>
    %part = tv.distribute %x <[dp, 0:2 of 2], [rank, 0:36 of 36], [0:3 of 3]> on <device = 0> : (tensor<4x108x3xf64>) -> tensor<2x36x3xf64>
    %sums = tv.distribute %prefix <[dp, 0:2 of 2], [rank, 0:36 of 36], [0:3 of 3]> on <device = 0> : (tensor<4x108x3xf64>) -> tensor<2x36x3xf64>
    %square = tv.multiply %part, %part on <device = 0> : (tensor<2x36x3xf64>, tensor<2x36x3xf64>) -> tensor<2x36x3xf64>
    %product = tv.multiply %part, %sums on <device = 0> : (tensor<2x36x3xf64>, tensor<2x36x3xf64>) -> tensor<2x36x3xf64>
    %rows = tv.einsum %square, %part on <device = 0> {equation = "bid,bjd->bij"} : (tensor<2x36x3xf64>, tensor<2x36x3xf64>) -> tensor<2x36x36xf64>
    %short = tv.reduce sum %square on <device = 0> {dimensions = array<i64: 1>} : (tensor<2x36x3xf64>) -> tensor<2x3xf64>
    %step = tv.constant dense<[0.0, 0.0, 1.0, 1.0]> : tensor<4xf64> : () -> tensor<4xf64>
    %later = tv.einsum %x, %step {equation = "bid,b->bid"} : (tensor<4x108x3xf64>, tensor<4xf64>) -> tensor<4x108x3xf64>
    %late = tv.distribute %later <[dp, 0:2 of 2], [rank, 0:36 of 36], [0:3 of 3]> on <device = 0> : (tensor<4x108x3xf64>) -> tensor<2x36x3xf64>
    %nothing = tv.input <input "zero"> : tensor<3xf64>
    %one = tv.distribute %nothing <[rank, 0:1 of 1]> on <device = 0> : (tensor<3xf64>) -> tensor<1xf64>
    %three = tv.all_gather %one over "rank" on <device = 0> {dimension = 0 : i64} : (tensor<1xf64>) -> tensor<3xf64>
    %scaled = tv.einsum %square, %three on <device = 0> {equation = "bid,d->bid"} : (tensor<2x36x3xf64>, tensor<3xf64>) -> tensor<2x36x3xf64>
    %last = tv.move %square from <rank = 2> on <device = 0> : (tensor<2x36x3xf64>) -> tensor<2x36x3xf64>
    %opposite = tv.negate %last on <device = 0> : (tensor<2x36x3xf64>) -> tensor<2x36x3xf64>
    %difference = tv.add %square, %opposite on <device = 0> : (tensor<2x36x3xf64>, tensor<2x36x3xf64>) -> tensor<2x36x3xf64>
    %some = tv.negate %square on <device = 0, rank = 1:3> : (tensor<2x36x3xf64>) -> tensor<2x36x3xf64>
    %more = tv.exp %some on <device = 0, rank = 2> : (tensor<2x36x3xf64>) -> tensor<2x36x3xf64>
    %total = tv.all_reduce %square over ["rank"] on <device = 0> : (tensor<2x36x3xf64>) -> tensor<2x36x3xf64>
    %all_total = tv.all_reduce %square, %product over ["dp", "rank"] on <device = 0> : (tensor<2x36x3xf64>, tensor<2x36x3xf64>) -> tensor<2x36x3xf64>
    %gathered = tv.all_gather %square over "rank" on <device = 0> {dimension = 1 : i64} : (tensor<2x36x3xf64>) -> tensor<2x108x3xf64>
    %squares = tv.multiply %x, %x : (tensor<4x108x3xf64>, tensor<4x108x3xf64>) -> tensor<4x108x3xf64>
    tv.expect %gathered is %squares <[dp, 0:2 of 2], [0:108 of 108], [0:3 of 3]> on <device = 0> : tensor<2x108x3xf64> is tensor<4x108x3xf64>
    %sliced = tv.all_slice %gathered over "rank" on <device = 0> {dimension = 1 : i64} : (tensor<2x108x3xf64>) -> tensor<2x36x3xf64>
    tv.expect %sliced is %squares <[dp, 0:2 of 2], [rank, 0:36 of 36], [0:3 of 3]> on <device = 0> : tensor<2x36x3xf64> is tensor<4x108x3xf64>
    tv.expect %product is %squares <[dp, 0:2 of 2], [rank, 0:36 of 36], [0:3 of 3]> on <device = 0> : tensor<2x36x3xf64> is tensor<4x108x3xf64>
    %whole = tv.distribute %exp <[0:108 of 108], [0:108 of 108]> on <device = 0> : (tensor<108x108xf64>) -> tensor<108x108xf64>
    %columns = tv.all_slice %whole over "rank" on <device = 0> {dimension = 1 : i64} : (tensor<108x108xf64>) -> tensor<108x36xf64>
    %again = tv.all_gather %columns over "rank" on <device = 0> {dimension = 1 : i64} : (tensor<108x36xf64>) -> tensor<108x108xf64>
    tv.expect %again is %exp <[0:108 of 108], [0:108 of 108]> on <device = 0> : tensor<108x108xf64> is tensor<108x108xf64>
    %below = tv.all_gather %columns over "rank" on <device = 0> {dimension = 0 : i64} : (tensor<108x36xf64>) -> tensor<324x36xf64>
    %own = tv.all_slice %square over "rank" on <device = 0> {dimension = 1 : i64} : (tensor<2x36x3xf64>) -> tensor<2x12x3xf64>
    %mixed = tv.all_gather %own over "rank" on <device = 0> {dimension = 1 : i64} : (tensor<2x12x3xf64>) -> tensor<2x36x3xf64>
    tv.expect %mixed is %squares <[dp, 0:2 of 2], [rank, 0:36 of 36], [0:3 of 3]> on <device = 0> : tensor<2x36x3xf64> is tensor<4x108x3xf64>
  })");
}
