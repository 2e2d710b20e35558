//===- DenseEvaluatorTest.cpp - whole values against single elements ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Both evaluators run on the same input; every element has to agree.
//
//===----------------------------------------------------------------------===//

#include "DenseExecution.h"
#include "mlir/AsmParser/AsmParser.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace verify;

TEST_F(DenseEvaluatorTest, EveryOpOfTheTextTests) {
  std::set<StringRef> evaluated;
  for (const char *family :
       {"collective", "contraction", "elementwise", "indexing", "movement",
        "piecewise", "reduction"}) {
    std::string file =
        std::string(VERIFY_TEST_DIRECTORY "/IR/") + family + ".mlir";
    module = parseSourceFile<ModuleOp>(file, &context);
    ASSERT_TRUE(module) << file;
    for (auto graph : module->getOps<tv::GraphOp>()) {
      for (Operation &op :
           llvm::make_early_inc_range(graph.getBody().front())) {
        evaluated.insert(op.getName().getStringRef());
        auto composition = dyn_cast<tv::CompositionOpInterface>(op);
        if (!composition)
          continue;
        OpBuilder builder(&op);
        op.replaceAllUsesWith(*composition.decompose(builder));
        op.erase();
      }
      checkGraph(graph);
    }
  }
  for (RegisteredOperationName name :
       context.getRegisteredOperationsByDialect("tv"))
    if (name.hasInterface<tv::SemanticsOpInterface>() ||
        name.hasInterface<tv::CompositionOpInterface>())
      EXPECT_TRUE(evaluated.count(name.getStringRef()))
          << name.getStringRef().str() << " stands in no text test";
}

TEST_F(DenseEvaluatorTest, Elementwise) {
  checkAll(R"(tv.graph @graph <dp = 2> {
    %x = tv.input <input "x"> : tensor<5x9xf32>
    %row = tv.input <parameter "row"> : tensor<9xf32>
    %one = tv.input <parameter "one"> : tensor<5x1xf32>
    %mask = tv.input <input "mask"> : tensor<5x9x!tv.extended<f32>>
    %add = tv.add %x, %row : (tensor<5x9xf32>, tensor<9xf32>) -> tensor<5x9xf32>
    %masked = tv.add %x, %mask : (tensor<5x9xf32>, tensor<5x9x!tv.extended<f32>>) -> tensor<5x9x!tv.extended<f32>>
    %subtract = tv.subtract %add, %one : (tensor<5x9xf32>, tensor<5x1xf32>) -> tensor<5x9xf32>
    %multiply = tv.multiply %row, %x : (tensor<9xf32>, tensor<5x9xf32>) -> tensor<5x9xf32>
    %square = tv.multiply %x, %x : (tensor<5x9xf32>, tensor<5x9xf32>) -> tensor<5x9xf32>
    %divide = tv.divide %subtract, %x : (tensor<5x9xf32>, tensor<5x9xf32>) -> tensor<5x9xf32>
    %negate = tv.negate %divide : (tensor<5x9xf32>) -> tensor<5x9xf32>
    %exp = tv.exp %masked : (tensor<5x9x!tv.extended<f32>>) -> tensor<5x9xf32>
    %rsqrt = tv.rsqrt %multiply : (tensor<5x9xf32>) -> tensor<5x9xf32>
    %silu = tv.silu %negate : (tensor<5x9xf32>) -> tensor<5x9xf32>
    %copy = tv.copy %x : (tensor<5x9xf32>) -> tensor<5x9xbf16>
    %root = tv.power %x {denominator = 2 : i64, numerator = 3 : i64} : (tensor<5x9xf32>) -> tensor<5x9xf32>
    %splat = tv.constant dense<2.5> : tensor<f64> : () -> tensor<4x7xf64>
    %table = tv.constant dense<[1.0, 2.0, 0.3]> : tensor<3xf64> : () -> tensor<3xf64>
  })");
}

TEST_F(DenseEvaluatorTest, Movement) {
  checkAll(R"(tv.graph @graph <dp = 2> {
    %x = tv.input <input "x"> : tensor<12x10xf32>
    %split = tv.reshape %x : (tensor<12x10xf32>) -> tensor<12x2x5xf32>
    %merged = tv.reshape %x : (tensor<12x10xf32>) -> tensor<1x120x1xf32>
    %transpose = tv.transpose %split {permutation = array<i64: 2, 0, 1>} : (tensor<12x2x5xf32>) -> tensor<5x12x2xf32>
    %slice = tv.slice %x {dimension = 0 : i64, start = 4 : i64, end = 11 : i64} : (tensor<12x10xf32>) -> tensor<7x10xf32>
    %single = tv.slice %slice {dimension = 0 : i64, start = 3 : i64, end = 4 : i64} : (tensor<7x10xf32>) -> tensor<1x10xf32>
    %pad = tv.pad %slice {dimension = 0 : i64, low = 1 : i64, high = 6 : i64} : (tensor<7x10xf32>) -> tensor<14x10xf32>
    %concat = tv.concat %x, %pad, %single {dimension = 0 : i64} : (tensor<12x10xf32>, tensor<14x10xf32>, tensor<1x10xf32>) -> tensor<27x10xf32>
    %repeat = tv.broadcast %slice {dimensions = array<i64: 0, 2>} : (tensor<7x10xf32>) -> tensor<7x6x10xf32>
    %scalar = tv.input <input "scalar"> : tensor<f32>
    %all = tv.broadcast %scalar {dimensions = array<i64>} : (tensor<f32>) -> tensor<8xf32>
  })");
}

TEST_F(DenseEvaluatorTest, UnrelatedReshapes) {
  // Factors that have no common refinement are looked at in full.
  checkAll(R"(tv.graph @graph <dp = 2> {
    %x = tv.input <input "x"> : tensor<12xf32>
    %first = tv.reshape %x : (tensor<12xf32>) -> tensor<4x3xf32>
    %second = tv.reshape %x : (tensor<12xf32>) -> tensor<3x4xf32>
    %third = tv.slice %x {dimension = 0 : i64, start = 5 : i64, end = 11 : i64} : (tensor<12xf32>) -> tensor<6xf32>
    %fourth = tv.reshape %third : (tensor<6xf32>) -> tensor<2x3xf32>
  })");
}

namespace {
/// What it takes to execute a graph and keep all its values.
struct ExecutedGraph {
  explicit ExecutedGraph(tv::GraphOp graph)
      : factors(graph.getBody().front(), graph.getMesh(),
                {FactorAnalysis::Positions::Exact, 64, 8192}),
        values(listResults(graph.getBody().front())) {}

  FactorAnalysis factors;
  SmallVector<Value> values;
  DoubleAlgebra algebra;
  PlaceSource source{algebra};
  DenseEvaluator dense{factors, algebra, source};
};
} // namespace

// A claim that goes beyond the reference is compared where that has elements.
TEST_F(DenseEvaluatorTest, ElementsThatAreNotThereAreLeftOut) {
  tv::GraphOp graph = parse(R"(tv.graph @graph <device = 1> {
    %x = tv.input <input "x"> : tensor<7x5x6xf32>
    %y = tv.input <input "y"> : tensor<4x3x5xf32>
  })");
  ASSERT_TRUE(graph);
  ExecutedGraph executed(graph);
  auto &[factors, values, algebra, source, dense] = executed;
  ASSERT_TRUE(succeeded(dense.run({}, values))) << dense.getFailure();
  for (int64_t first : {0, 5, 7})
    for (int64_t second : {0, 3, 4, 9})
      for (int64_t third : {1, 4, 6}) {
        std::string text = llvm::formatv(
            "#tv.lineage<[{0}:{1} of 20], [{2}:{3} of 20], "
            "[{4}:{5} of 20]>",
            first, first + 4, second, second + 3, third, third + 5);
        auto lineage = cast<tv::LineageAttr>(parseAttribute(text, &context));
        std::vector<std::vector<int64_t>> wanted, found;
        for (int64_t i = 0; i < 4 && first + i < 7; ++i)
          for (int64_t j = 0; j < 3 && second + j < 5; ++j)
            for (int64_t k = 0; k < 5 && third + k < 6; ++k)
              wanted.push_back({i, j, k});
        auto visitor = [&](const Coordinates &coordinates,
                           ArrayRef<int64_t> index, Scalar reference, Scalar,
                           int64_t pairs) {
          EXPECT_EQ(pairs, 1);
          found.push_back(index.vec());
          SmallVector<int64_t> there{index[0] + first, index[1] + second,
                                     index[2] + third};
          EXPECT_EQ(algebra.toDouble(reference),
                    algebra.toDouble(
                        *dense.getElement(values[0], coordinates, there)));
          return DenseEvaluator::Visit::Continue;
        };
        ASSERT_TRUE(succeeded(dense.visit({values[1], values[0], lineage, {}},
                                          /*skipsUnknown=*/true, visitor)))
            << dense.getFailure();
        llvm::sort(found);
        EXPECT_EQ(found, wanted) << text;
        EXPECT_EQ(dense.countKnown({values[1], values[0], lineage, {}}),
                  static_cast<int64_t>(wanted.size()));
        // The last one alone, if the reference has it.
        llvm::erase_if(wanted, [](const std::vector<int64_t> &index) {
          return index != std::vector<int64_t>{3, 2, 4};
        });
        found.clear();
        ASSERT_TRUE(succeeded(dense.visit({values[1], values[0], lineage, {}},
                                          /*skipsUnknown=*/true, visitor,
                                          /*isLastOnly=*/true)))
            << dense.getFailure();
        EXPECT_EQ(found, wanted) << text;
      }
}

// The elements that a claim is about are counted at each place of the mesh.
TEST_F(DenseEvaluatorTest, KnownElementsOfAllReplicas) {
  tv::GraphOp graph = parse(R"(tv.graph @graph <dp = 3, device = 1> {
    %x = tv.input <input "x"> : tensor<6x5xf32>
    %y = tv.distribute %x <[dp, 0:2 of 2], [0:5 of 5]> on <device = 0> : (tensor<6x5xf32>) -> tensor<2x5xf32>
  })");
  ASSERT_TRUE(graph);
  ExecutedGraph executed(graph);
  auto &[factors, values, algebra, source, dense] = executed;
  ASSERT_TRUE(succeeded(dense.run({}, values))) << dense.getFailure();
  auto count = [&](StringRef text) {
    auto lineage = cast<tv::LineageAttr>(parseAttribute(text, &context));
    return dense.countKnown({values[1], values[0], lineage, {}});
  };
  EXPECT_EQ(count("#tv.lineage<[dp, 0:2 of 2], [0:5 of 5]>"), 30);
  EXPECT_EQ(count("#tv.lineage<[2:4 of 6], [0:5 of 5]>"), 30);
  // A sum of all is one value.
  EXPECT_EQ(count("#tv.lineage<[2:4 of 6], [0:5 of 5] sum dp>"), 10);
  EXPECT_EQ(count("#tv.lineage<[4:6 of 9], [3:8 of 9] sum dp>"), 4);
  EXPECT_EQ(count("#tv.lineage<[2:4 of 6], [0:5 of 5] sum other>"), 0);
}

TEST_F(DenseEvaluatorTest, Contraction) {
  checkAll(R"(tv.graph @graph <dp = 2> {
    %x = tv.input <input "x"> : tensor<3x6x8xf32>
    %w = tv.input <parameter "w"> : tensor<7x8xf32>
    %y = tv.input <input "y"> : tensor<3x8x5xf32>
    %linear = tv.linear %x, %w : (tensor<3x6x8xf32>, tensor<7x8xf32>) -> tensor<3x6x7xf32>
    %matmul = tv.matmul %x, %y : (tensor<3x6x8xf32>, tensor<3x8x5xf32>) -> tensor<3x6x5xf32>
    %einsum = tv.einsum %x, %y {equation = "bnk,bkm->mn"} : (tensor<3x6x8xf32>, tensor<3x8x5xf32>) -> tensor<5x6xf32>
    %three = tv.einsum %x, %y, %w {equation = "bnk,bkm,ck->bcm"} : (tensor<3x6x8xf32>, tensor<3x8x5xf32>, tensor<7x8xf32>) -> tensor<3x7x5xf32>
    %sum = tv.einsum %x {equation = "bnk->"} : (tensor<3x6x8xf32>) -> tensor<f32>
    %square = tv.input <input "square"> : tensor<6x6xf32>
    %diagonal = tv.einsum %square {equation = "ii->i"} : (tensor<6x6xf32>) -> tensor<6xf32>
    %trace = tv.einsum %square {equation = "ii->"} : (tensor<6x6xf32>) -> tensor<f32>
    %long = tv.input <input "long"> : tensor<400x3xf32>
    %total = tv.einsum %long {equation = "ab->b"} : (tensor<400x3xf32>) -> tensor<3xf32>
    %mask = tv.causal_mask : () -> tensor<40x40x!tv.extended<f32>>
    %exp = tv.exp %mask : (tensor<40x40x!tv.extended<f32>>) -> tensor<40x40xf32>
    %batch = tv.input <input "batch"> : tensor<40x40x5xf32>
    %prefix = tv.einsum %exp, %batch {equation = "ab,bac->c"} : (tensor<40x40xf32>, tensor<40x40x5xf32>) -> tensor<5xf32>
  })");
}

TEST_F(DenseEvaluatorTest, Reductions) {
  checkAll(R"(tv.graph @graph <dp = 2> {
    %x = tv.input <input "x"> : tensor<6x20x20xf32>
    %sum = tv.reduce sum %x {dimensions = array<i64: 1>} : (tensor<6x20x20xf32>) -> tensor<6x20xf32>
    %average = tv.reduce average %x keep {dimensions = array<i64: 0, 2>} : (tensor<6x20x20xf32>) -> tensor<1x20x1xf32>
    %maximum = tv.reduce maximum %x {dimensions = array<i64: 0, 1>} : (tensor<6x20x20xf32>) -> tensor<20xf32>
    %all = tv.reduce average %x {dimensions = array<i64: 0, 1, 2>} : (tensor<6x20x20xf32>) -> tensor<f32>
  })");
}

TEST_F(DenseEvaluatorTest, Indexing) {
  checkAll(R"(tv.graph @graph <dp = 2> {
    %tokens = tv.input <input "tokens"> : tensor<6xi64>
    %table = tv.input <parameter "table"> : tensor<9x3xf32>
    %one_hot = tv.one_hot %tokens {start = 0 : i64} : (tensor<6xi64>) -> tensor<6x9xf32>
    %shifted = tv.one_hot %tokens {start = 2 : i64} : (tensor<6xi64>) -> tensor<6x4xf32>
    %rows = tv.einsum %one_hot, %table {equation = "av,vh->ah"} : (tensor<6x9xf32>, tensor<9x3xf32>) -> tensor<6x3xf32>
    %mask = tv.causal_mask : () -> tensor<1x2x9x9x!tv.extended<f32>>
    %exp = tv.exp %mask : (tensor<1x2x9x9x!tv.extended<f32>>) -> tensor<1x2x9x9xf32>
    %triangle = tv.lower_triangle : () -> tensor<300x300xf32>
    %indices = tv.one_hot_index %triangle : (tensor<300x300xf32>) -> tensor<300xi64>
    %eligible = tv.slice %triangle {dimension = 1 : i64, start = 40 : i64, end = 49 : i64} : (tensor<300x300xf32>) -> tensor<300x9xf32>
    %few = tv.slice %eligible {dimension = 0 : i64, start = 42 : i64, end = 48 : i64} : (tensor<300x9xf32>) -> tensor<6x9xf32>
    %ranks = tv.descending_rank %one_hot, %few : (tensor<6x9xf32>, tensor<6x9xf32>) -> tensor<6x9xi64>
  })");
}

TEST_F(DenseEvaluatorTest, PlanOps) {
  checkAll(R"(tv.graph @graph <dp = 4, device = 2, mb = 6> {
    %w = tv.input <parameter "w"> : tensor<8x10xf32>
    %x = tv.input <input "x"> : tensor<48x12x10xf32>
    %y = tv.linear %x, %w : (tensor<48x12x10xf32>, tensor<8x10xf32>) -> tensor<48x12x8xf32>
    %dw = tv.einsum %x, %y {equation = "abk,abn->nk"} : (tensor<48x12x10xf32>, tensor<48x12x8xf32>) -> tensor<8x10xf32>
    %local = tv.distribute %x <[dp, mb, 0:2 of 2], [0:12 of 12], [0:10 of 10]> on <> : (tensor<48x12x10xf32>) -> tensor<2x12x10xf32>
    %low = tv.distribute %w <[0:3 of 8], [0:10 of 10]> on <device = 0> : (tensor<8x10xf32>) -> tensor<3x10xf32>
    %high = tv.distribute %w <[3:8 of 8], [0:10 of 10]> on <device = 1> : (tensor<8x10xf32>) -> tensor<5x10xf32>
    %first = tv.linear %local, %low on <device = 0> : (tensor<2x12x10xf32>, tensor<3x10xf32>) -> tensor<2x12x3xf32>
    %second = tv.linear %local, %high on <device = 1> : (tensor<2x12x10xf32>, tensor<5x10xf32>) -> tensor<2x12x5xf32>
    tv.expect %first is %y <[dp, mb, 0:2 of 2], [0:12 of 12], [0:3 of 8]> on <device = 0> : tensor<2x12x3xf32> is tensor<48x12x8xf32>
    %gather = tv.all_gather %first, %second on <device = 0:2> {dimension = 2 : i64} : (tensor<2x12x3xf32>, tensor<2x12x5xf32>) -> tensor<2x12x8xf32>
    tv.expect %gather is %y <[dp, mb, 0:2 of 2], [0:12 of 12], [0:8 of 8]> on <device = 0:2> : tensor<2x12x8xf32> is tensor<48x12x8xf32>
    %term = tv.einsum %local, %gather on <device = 0> {equation = "abk,abn->nk"} : (tensor<2x12x10xf32>, tensor<2x12x8xf32>) -> tensor<8x10xf32>
    tv.expect %term is %dw <[0:8 of 8], [0:10 of 10] sum dp, mb> on <device = 0> : tensor<8x10xf32> is tensor<8x10xf32>
    %some = tv.accumulate %term over <mb = 0:5> on <device = 0> : (tensor<8x10xf32>) -> tensor<8x10xf32>
    %gaps = tv.accumulate %term over <mb = 1:2 | 3:6> on <device = 0, dp = 1:4> : (tensor<8x10xf32>) -> tensor<8x10xf32>
    %last = tv.copy %term on <device = 0, mb = 5> : (tensor<8x10xf32>) -> tensor<8x10xf32>
    tv.expect %some, %last is %dw <[0:8 of 8], [0:10 of 10] sum dp, mb> on <device = 0, mb = 5> : tensor<8x10xf32>, tensor<8x10xf32> is tensor<8x10xf32>
    %reduced = tv.all_reduce %some over ["dp"] on <device = 0> : (tensor<8x10xf32>) -> tensor<8x10xf32>
    %both = tv.all_reduce %some, %some over ["dp"] on <device = 0> : (tensor<8x10xf32>, tensor<8x10xf32>) -> tensor<8x10xf32>
    tv.expect %reduced is %dw <[0:8 of 8], [0:10 of 10]> on <device = 0> : tensor<8x10xf32> is tensor<8x10xf32>
    %move = tv.move %term from <device = 0, dp = 2> on <device = 1> : (tensor<8x10xf32>) -> tensor<8x10xf32>
    %nobody = tv.undefined "nobody" on <device = 0> : tensor<8x10xf32>
    %sum = tv.add %gaps, %nobody on <device = 0, dp = 1:4> : (tensor<8x10xf32>, tensor<8x10xf32>) -> tensor<8x10xf32>
  })");
}

TEST_F(DenseEvaluatorTest, Lineages) {
  checkAll(R"(tv.graph @graph <dp = 6, tp = 3> {
    %x = tv.input <input "x"> : tensor<3x12x30xf32>
    %y = tv.negate %x : (tensor<3x12x30xf32>) -> tensor<3x12x30xf32>
    %a = tv.distribute %y <[tp], [dp, 0:2 of 2], [2:10 of 30]> on <> : (tensor<3x12x30xf32>) -> tensor<1x2x8xf32>
    %b = tv.distribute %y <[0:3 of 3], [0:2 of 2, dp], [tp, 5:9 of 10]> on <dp = 1:6> : (tensor<3x12x30xf32>) -> tensor<3x2x4xf32>
    %c = tv.negate %b on <dp = 1:6> : (tensor<3x2x4xf32>) -> tensor<3x2x4xf32>
    tv.expect %c is %x <[0:3 of 3], [0:2 of 2, dp], [tp, 5:9 of 10]> on <dp = 1:6> : tensor<3x2x4xf32> is tensor<3x12x30xf32>
    tv.expect %a is %x <[tp], [dp, 0:2 of 2], [2:10 of 30]> on <> : tensor<1x2x8xf32> is tensor<3x12x30xf32>
  })");
}

TEST_F(DenseEvaluatorTest, FindsTheWrongExpect) {
  tv::GraphOp graph = parse(R"(tv.graph @graph <dp = 8> {
    %x = tv.input <input "x"> : tensor<64xf32>
    %sum = tv.reduce sum %x {dimensions = array<i64: 0>} : (tensor<64xf32>) -> tensor<f32>
    %unused = tv.exp %x : (tensor<64xf32>) -> tensor<64xf32>
    %part = tv.distribute %x <[dp, 0:8 of 8]> on <> : (tensor<64xf32>) -> tensor<8xf32>
    %term = tv.reduce sum %part on <> {dimensions = array<i64: 0>} : (tensor<8xf32>) -> tensor<f32>
    tv.expect %term is %sum <sum dp> on <> : tensor<f32> is tensor<f32>
    %right = tv.all_reduce %term over ["dp"] on <> : (tensor<f32>) -> tensor<f32>
    tv.expect %right is %sum <> on <> : tensor<f32> is tensor<f32>
    tv.expect %term is %sum <> on <> : tensor<f32> is tensor<f32>
  })");
  ASSERT_TRUE(graph);
  Block &body = graph.getBody().front();
  FactorAnalysis factors(body, graph.getMesh(),
                         {FactorAnalysis::Positions::Exact, 1, 8192});
  SmallVector<tv::ExpectOp> expects(body.getOps<tv::ExpectOp>());
  IntervalAlgebra algebra(64);
  PlaceSource source(algebra);
  DenseEvaluator dense(factors, algebra, source);
  auto differs = [&](Scalar reference, Scalar plan) {
    return algebra.areDisjoint(reference, plan);
  };
  EXPECT_FALSE(dense.compare(expects[0], differs));
  EXPECT_EQ(dense.getFailure(), "the expect is not among the targets");
  ASSERT_TRUE(succeeded(dense.run(expects)));
  EXPECT_FALSE(dense.compare(expects[0], differs));
  EXPECT_FALSE(dense.compare(expects[1], differs));
  EXPECT_EQ(dense.getFailure(), "");
  std::optional<DenseEvaluator::Difference> difference =
      dense.compare(expects[2], differs);
  ASSERT_TRUE(difference.has_value());
  EXPECT_TRUE(algebra.areDisjoint(difference->reference, difference->plan));
  EXPECT_EQ(difference->coordinates.size(), 1u);
  EXPECT_TRUE(difference->index.empty());
  // What no target needs is not there.
  auto unused = *body.getOps<tv::ExpOp>().begin();
  EXPECT_FALSE(dense.getElement(unused.getResult(), {-1}, {0}));
}

TEST_F(DenseEvaluatorTest, RefusesWhatIsTooLarge) {
  tv::GraphOp graph = parse(R"(tv.graph @graph <dp = 2> {
    %mask = tv.causal_mask : () -> tensor<300x300x!tv.extended<f32>>
    %x = tv.exp %mask : (tensor<300x300x!tv.extended<f32>>) -> tensor<300x300xf32>
    %cube = tv.einsum %x, %x, %x {equation = "ab,bc,cd->abcd"} : (tensor<300x300xf32>, tensor<300x300xf32>, tensor<300x300xf32>) -> tensor<300x300x300x300xf32>
  })");
  ASSERT_TRUE(graph);
  Block &body = graph.getBody().front();
  FactorAnalysis factors(body, graph.getMesh(),
                         {FactorAnalysis::Positions::Exact, 1, 8192});
  DoubleAlgebra algebra;
  PlaceSource source(algebra);
  DenseEvaluator dense(factors, algebra, source);
  auto cube = *body.getOps<tv::EinsumOp>().begin();
  EXPECT_TRUE(failed(dense.run({}, {cube.getResult()})));
  EXPECT_NE(dense.getFailure().find("elements"), std::string::npos);
}
