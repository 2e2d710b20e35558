//===- SharedRowsTest.cpp - rows with weights in common -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LongExecution.h"

using namespace mlir;
using namespace verify;

namespace {
class SharedRowsTest : public DenseRunsTest {};
} // namespace

TEST_F(SharedRowsTest, WeightsInCommon) {
  // Rows of a causal average for all of `b` and `d`; `ends` has runs that end
  // elsewhere in each row, `many` has too many, and devices have other ones.
  checkRuns(R"(tv.graph @graph <device = 1, rank = 2> {
    %v = tv.input <input "v"> : tensor<2x40x3xf64>
    %triangle = tv.lower_triangle : () -> tensor<40x40xf64>
    %count = tv.reduce sum %triangle keep {dimensions = array<i64: 1>} : (tensor<40x40xf64>) -> tensor<40x1xf64>
    %weights = tv.divide %triangle, %count : (tensor<40x40xf64>, tensor<40x1xf64>) -> tensor<40x40xf64>
    %output = tv.einsum %weights, %v {equation = "ij,bjd->bid"} : (tensor<40x40xf64>, tensor<2x40x3xf64>) -> tensor<2x40x3xf64>
    %turned = tv.einsum %v, %weights {equation = "bid,ij->bdj"} : (tensor<2x40x3xf64>, tensor<40x40xf64>) -> tensor<2x3x40xf64>
    %lowest = tv.reduce minimum %weights {dimensions = array<i64: 0>} : (tensor<40x40xf64>) -> tensor<40xf64>
    %few = tv.slice %triangle {dimension = 0 : i64, start = 3 : i64, end = 7 : i64} : (tensor<40x40xf64>) -> tensor<4x40xf64>
    %table = tv.constant dense<[1.0, 2.0, 4.0, 8.0]> : tensor<4xf64> : () -> tensor<4xf64>
    %wide = tv.einsum %table, %few {equation = "b,dj->bdj"} : (tensor<4xf64>, tensor<4x40xf64>) -> tensor<4x4x40xf64>
    %ends = tv.einsum %weights, %wide {equation = "ij,bdj->bdi"} : (tensor<40x40xf64>, tensor<4x4x40xf64>) -> tensor<4x4x40xf64>
    %back = tv.einsum %weights, %wide {equation = "ij,bdi->bdj"} : (tensor<40x40xf64>, tensor<4x4x40xf64>) -> tensor<4x4x40xf64>
    %many = tv.einsum %weights, %triangle {equation = "ij,dj->di"} : (tensor<40x40xf64>, tensor<40x40xf64>) -> tensor<40x40xf64>
    %each = tv.einsum %few, %weights {equation = "ai,ij->aij"} : (tensor<4x40xf64>, tensor<40x40xf64>) -> tensor<4x40x40xf64>
    %ofEach = tv.einsum %each, %wide {equation = "aij,bdj->abdi"} : (tensor<4x40x40xf64>, tensor<4x4x40xf64>) -> tensor<4x4x4x40xf64>
    %all = tv.distribute %weights <[0:40 of 40], [0:40 of 40]> on <device = 0> : (tensor<40x40xf64>) -> tensor<40x40xf64>
    %own = tv.distribute %wide <[0:4 of 4], [rank, 0:2 of 2], [0:40 of 40]> on <device = 0> : (tensor<4x4x40xf64>) -> tensor<4x2x40xf64>
    %ofRank = tv.einsum %all, %own on <device = 0> {equation = "ij,bdj->bdi"} : (tensor<40x40xf64>, tensor<4x2x40xf64>) -> tensor<4x2x40xf64>
    %backOfRank = tv.einsum %all, %own on <device = 0> {equation = "ij,bdi->bdj"} : (tensor<40x40xf64>, tensor<4x2x40xf64>) -> tensor<4x2x40xf64>
  })");
}

TEST_F(SharedRowsTest, WeightsOfBothSignsAreNotAddedUp) {
  // The first elements of `close` are one run, but not equal: where weights
  // cancel, their products do not.
  checkRuns(R"(tv.graph @graph <dp = 2> {
    %triangle = tv.lower_triangle : () -> tensor<40x40xf64>
    %few = tv.slice %triangle {dimension = 0 : i64, start = 4 : i64, end = 6 : i64} : (tensor<40x40xf64>) -> tensor<2x40xf64>
    %more = tv.slice %triangle {dimension = 0 : i64, start = 23 : i64, end = 25 : i64} : (tensor<40x40xf64>) -> tensor<2x40xf64>
    %tiny = tv.constant dense<5.0e-14> : tensor<f64> : () -> tensor<2x40xf64>
    %one = tv.constant dense<1.0> : tensor<f64> : () -> tensor<2x40xf64>
    %steps = tv.add %one, %more : (tensor<2x40xf64>, tensor<2x40xf64>) -> tensor<2x40xf64>
    %small = tv.multiply %few, %tiny : (tensor<2x40xf64>, tensor<2x40xf64>) -> tensor<2x40xf64>
    %close = tv.add %steps, %small : (tensor<2x40xf64>, tensor<2x40xf64>) -> tensor<2x40xf64>
    %half = tv.constant dense<0.5> : tensor<f64> : () -> tensor<40x40xf64>
    %weights = tv.subtract %triangle, %half : (tensor<40x40xf64>, tensor<40x40xf64>) -> tensor<40x40xf64>
    %table = tv.constant dense<[1.0, 2.0, 4.0]> : tensor<3xf64> : () -> tensor<3xf64>
    %wide = tv.einsum %table, %close {equation = "b,dj->bdj"} : (tensor<3xf64>, tensor<2x40xf64>) -> tensor<3x2x40xf64>
    %rows = tv.einsum %weights, %wide {equation = "ij,bdj->bdi"} : (tensor<40x40xf64>, tensor<3x2x40xf64>) -> tensor<3x2x40xf64>
    %columns = tv.einsum %weights, %wide {equation = "ij,bdi->bdj"} : (tensor<40x40xf64>, tensor<3x2x40xf64>) -> tensor<3x2x40xf64>
  })");
}

/// Compares what is kept of fewer positions with single elements.
class SharedRowsOfFewTest : public SharedRowsTest {
protected:
  void checkIntervals(StringRef text) {
    tv::GraphOp graph = parse(text);
    ASSERT_TRUE(graph);
    FactorAnalysis factors(graph.getBody().front(), graph.getMesh(),
                           {FactorAnalysis::Positions::Exact, 36, 8192});
    ASSERT_FALSE(factors.getFailure()) << *factors.getFailure();
    DoubleIntervalAlgebra intervals(FunctionSource::Rounded);
    checkAgainstElements(graph, factors, LongPositions::Blocks, intervals,
                         [&](Scalar value) {
                           return std::pair(intervals.getLower(value),
                                            intervals.getUpper(value));
                         });
  }
};

TEST_F(SharedRowsOfFewTest, PositionsThatStandForMany) {
  // 37 of 100 positions are kept, some of which stand for others; few elements
  // of `near` are not 1.
  checkIntervals(R"(tv.graph @graph <dp = 2> {
    %x = tv.input <input "x"> : tensor<100x100xf64>
    %y = tv.input <input "y"> : tensor<100x2xf64>
    %least = tv.constant dense<-1.5> : tensor<f64> : () -> tensor<100x2xf64>
    %lower = tv.add %y, %least : (tensor<100x2xf64>, tensor<100x2xf64>) -> tensor<100x2xf64>
    %few = tv.relu %lower : (tensor<100x2xf64>) -> tensor<100x2xf64>
    %one = tv.constant dense<1.0> : tensor<f64> : () -> tensor<100x2xf64>
    %near = tv.add %few, %one : (tensor<100x2xf64>, tensor<100x2xf64>) -> tensor<100x2xf64>
    %table = tv.constant dense<[1.0, 2.0, 4.0, 8.0]> : tensor<4xf64> : () -> tensor<4xf64>
    %v = tv.einsum %table, %near {equation = "b,jd->bjd"} : (tensor<4xf64>, tensor<100x2xf64>) -> tensor<4x100x2xf64>
    %weights = tv.multiply %x, %x : (tensor<100x100xf64>, tensor<100x100xf64>) -> tensor<100x100xf64>
    %rows = tv.einsum %weights, %v {equation = "ij,bjd->bdi"} : (tensor<100x100xf64>, tensor<4x100x2xf64>) -> tensor<4x2x100xf64>
    %columns = tv.einsum %weights, %v {equation = "ij,bid->bdj"} : (tensor<100x100xf64>, tensor<4x100x2xf64>) -> tensor<4x2x100xf64>
  })");
}

TEST_F(SharedRowsOfFewTest, RepeatedRowsAreComputedAsSuch) {
  // `values` are the same for all `e`, and so are rows of the result, which is
  // kept element by element as something selects among `e` and `m`.
  checkIntervals(R"(tv.graph @graph <device = 1> {
    %s = tv.input <input "s"> : tensor<40x36xf64>
    %r = tv.input <input "r"> : tensor<40x36xf64>
    %ranks = tv.descending_rank %s : (tensor<40x36xf64>) -> tensor<40x36xi64>
    %others = tv.descending_rank %r : (tensor<40x36xf64>) -> tensor<40x36xi64>
    %weights = tv.multiply %s, %s : (tensor<40x36xf64>, tensor<40x36xf64>) -> tensor<40x36xf64>
    %ones = tv.constant dense<1.0> : tensor<f64> : () -> tensor<40x36xf64>
    %both = tv.add %ones, %r : (tensor<40x36xf64>, tensor<40x36xf64>) -> tensor<40x36xf64>
    %triangle = tv.lower_triangle : () -> tensor<40x40xf64>
    %first = tv.slice %triangle {dimension = 0 : i64, start = 6 : i64, end = 7 : i64} : (tensor<40x40xf64>) -> tensor<1x40xf64>
    %table = tv.constant dense<[1.0, 2.0, 4.0, 8.0, 9.0]> : tensor<5xf64> : () -> tensor<5xf64>
    %v = tv.einsum %first, %table {equation = "ak,b->kb"} : (tensor<1x40xf64>, tensor<5xf64>) -> tensor<40x5xf64>
    %values = tv.einsum %ones, %v {equation = "ke,kb->bek"} : (tensor<40x36xf64>, tensor<40x5xf64>) -> tensor<5x36x40xf64>
    %all = tv.einsum %weights, %values {equation = "km,bek->bem"} : (tensor<40x36xf64>, tensor<5x36x40xf64>) -> tensor<5x36x36xf64>
    %a = tv.distribute %weights <[0:40 of 40], [0:36 of 36]> on <device = 0> : (tensor<40x36xf64>) -> tensor<40x36xf64>
    %b = tv.distribute %values <[0:5 of 5], [0:36 of 36], [0:40 of 40]> on <device = 0> : (tensor<5x36x40xf64>) -> tensor<5x36x40xf64>
    %own = tv.einsum %a, %b on <device = 0> {equation = "km,bek->bem"} : (tensor<40x36xf64>, tensor<5x36x40xf64>) -> tensor<5x36x36xf64>
  })");
}
