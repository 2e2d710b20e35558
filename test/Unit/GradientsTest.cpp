//===- GradientsTest.cpp - derivatives against differences ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The derivative of every op that has one, with respect to every element of
// every real input, against central differences of the forward op. Both are
// executed with doubles on seeded random inputs.
//
//===----------------------------------------------------------------------===//

#include "Verify/IR/Gradients.h"

#include "Verify/Analysis/DenseEvaluator.h"
#include "Verify/IR/TVDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cmath>
#include <map>
#include <random>
#include <set>

using namespace mlir;
using namespace verify;

namespace {
/// The body of a graph: inputs, then forward ops, the last of which gives the
/// output. Inputs whose name starts with "positive" are; integers are 0 to 4.
struct GradientCase {
  const char *name;
  const char *body;
};
} // namespace

static const GradientCase cases[] = {
    {"Add", R"(
      %a = tv.input <input "a"> : tensor<2x3xf32>
      %row = tv.input <input "row"> : tensor<3xf32>
      %y = tv.add %a, %row : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>)"},
    {"AddToMinusInfinity", R"(
      %a = tv.input <input "a"> : tensor<3x3xf32>
      %mask = tv.causal_mask : () -> tensor<3x3x!tv.extended<f32>>
      %masked = tv.add %a, %mask : (tensor<3x3xf32>, tensor<3x3x!tv.extended<f32>>) -> tensor<3x3x!tv.extended<f32>>
      %turned = tv.transpose %masked {permutation = array<i64: 1, 0>} : (tensor<3x3x!tv.extended<f32>>) -> tensor<3x3x!tv.extended<f32>>
      %y = tv.exp %turned : (tensor<3x3x!tv.extended<f32>>) -> tensor<3x3xf32>)"},
    {"OneValueTwice", R"(
      %a = tv.input <input "a"> : tensor<2x3xf32>
      %square = tv.multiply %a, %a : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
      %y = tv.add %square, %a : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>)"},
    {"Subtract", R"(
      %a = tv.input <input "a"> : tensor<2x3xf32>
      %column = tv.input <input "column"> : tensor<2x1xf32>
      %y = tv.subtract %column, %a : (tensor<2x1xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>)"},
    {"Multiply", R"(
      %a = tv.input <input "a"> : tensor<3xf32>
      %b = tv.input <input "b"> : tensor<2x1x3xf32>
      %y = tv.multiply %a, %b : (tensor<3xf32>, tensor<2x1x3xf32>) -> tensor<2x1x3xf32>)"},
    {"Divide", R"(
      %a = tv.input <input "a"> : tensor<2x3xf32>
      %b = tv.input <input "positive"> : tensor<2x1xf32>
      %y = tv.divide %a, %b : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>)"},
    {"DivideByScalar", R"(
      %a = tv.input <input "a"> : tensor<2x3xf32>
      %b = tv.input <input "positive"> : tensor<f32>
      %y = tv.divide %a, %b : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>)"},
    {"Negate", R"(
      %a = tv.input <input "a"> : tensor<3xf32>
      %y = tv.negate %a : (tensor<3xf32>) -> tensor<3xf32>)"},
    {"Exp", R"(
      %a = tv.input <input "a"> : tensor<2x3xf32>
      %y = tv.exp %a : (tensor<2x3xf32>) -> tensor<2x3xf32>)"},
    {"Rsqrt", R"(
      %a = tv.input <input "positive"> : tensor<2x3xf32>
      %y = tv.rsqrt %a : (tensor<2x3xf32>) -> tensor<2x3xf32>)"},
    {"Silu", R"(
      %a = tv.input <input "a"> : tensor<2x3xf32>
      %y = tv.silu %a : (tensor<2x3xf32>) -> tensor<2x3xf32>)"},
    {"Copy", R"(
      %a = tv.input <input "a"> : tensor<2x3xf32>
      %b = tv.copy %a : (tensor<2x3xf32>) -> tensor<2x3xbf16>
      %y = tv.exp %b : (tensor<2x3xbf16>) -> tensor<2x3xbf16>)"},
    {"Square", R"(
      %a = tv.input <input "a"> : tensor<2x3xf32>
      %y = tv.power %a {numerator = 2 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>)"},
    {"PowerZero", R"(
      %a = tv.input <input "a"> : tensor<3xf32>
      %y = tv.power %a {numerator = 0 : i64} : (tensor<3xf32>) -> tensor<3xf32>)"},
    {"PowerOne", R"(
      %a = tv.input <input "a"> : tensor<3xf32>
      %y = tv.power %a {numerator = 1 : i64} : (tensor<3xf32>) -> tensor<3xf32>)"},
    {"NegativePower", R"(
      %a = tv.input <input "positive"> : tensor<3xf32>
      %y = tv.power %a {numerator = -3 : i64} : (tensor<3xf32>) -> tensor<3xf32>)"},
    {"BrokenPower", R"(
      %a = tv.input <input "positive"> : tensor<3xf32>
      %y = tv.power %a {numerator = 5 : i64, denominator = 2 : i64} : (tensor<3xf32>) -> tensor<3xf32>)"},
    {"Linear", R"(
      %x = tv.input <input "x"> : tensor<2x2x3xf32>
      %w = tv.input <parameter "w"> : tensor<4x3xf32>
      %y = tv.linear %x, %w : (tensor<2x2x3xf32>, tensor<4x3xf32>) -> tensor<2x2x4xf32>)"},
    {"Matmul", R"(
      %x = tv.input <input "x"> : tensor<2x2x3xf32>
      %w = tv.input <input "w"> : tensor<2x3x4xf32>
      %y = tv.matmul %x, %w : (tensor<2x2x3xf32>, tensor<2x3x4xf32>) -> tensor<2x2x4xf32>)"},
    {"Einsum", R"(
      %x = tv.input <input "x"> : tensor<2x3x2xf32>
      %w = tv.input <input "w"> : tensor<4x3xf32>
      %v = tv.input <input "v"> : tensor<2x4xf32>
      %y = tv.einsum %x, %w, %v {equation = "akc,nk,an->ca"} : (tensor<2x3x2xf32>, tensor<4x3xf32>, tensor<2x4xf32>) -> tensor<2x2xf32>)"},
    {"EinsumSumsOneOperand", R"(
      %x = tv.input <input "x"> : tensor<2x3x2xf32>
      %w = tv.input <input "w"> : tensor<3xf32>
      %y = tv.einsum %x, %w {equation = "akc,k->a"} : (tensor<2x3x2xf32>, tensor<3xf32>) -> tensor<2xf32>)"},
    {"Sum", R"(
      %x = tv.input <input "x"> : tensor<2x3x4xf32>
      %y = tv.reduce sum %x {dimensions = array<i64: 0, 2>} : (tensor<2x3x4xf32>) -> tensor<3xf32>)"},
    {"SumOfAll", R"(
      %x = tv.input <input "x"> : tensor<2x3xf32>
      %y = tv.reduce sum %x {dimensions = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<f32>)"},
    {"Average", R"(
      %x = tv.input <input "x"> : tensor<2x3x4xf32>
      %y = tv.reduce average %x keep {dimensions = array<i64: 1>} : (tensor<2x3x4xf32>) -> tensor<2x1x4xf32>)"},
    {"Reshape", R"(
      %x = tv.input <input "x"> : tensor<4x3xf32>
      %y = tv.reshape %x : (tensor<4x3xf32>) -> tensor<2x2x3xf32>)"},
    {"Transpose", R"(
      %x = tv.input <input "x"> : tensor<2x3x4xf32>
      %y = tv.transpose %x {permutation = array<i64: 2, 0, 1>} : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>)"},
    {"Slice", R"(
      %x = tv.input <input "x"> : tensor<2x5xf32>
      %y = tv.slice %x {dimension = 1 : i64, start = 1 : i64, end = 4 : i64} : (tensor<2x5xf32>) -> tensor<2x3xf32>)"},
    {"Pad", R"(
      %x = tv.input <input "x"> : tensor<2x3xf32>
      %y = tv.pad %x {dimension = 1 : i64, low = 2 : i64, high = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x6xf32>)"},
    {"Concat", R"(
      %x = tv.input <input "x"> : tensor<2x3xf32>
      %z = tv.input <input "z"> : tensor<2x1xf32>
      %y = tv.concat %x, %z, %x {dimension = 1 : i64} : (tensor<2x3xf32>, tensor<2x1xf32>, tensor<2x3xf32>) -> tensor<2x7xf32>)"},
    {"Broadcast", R"(
      %x = tv.input <input "x"> : tensor<1x3xf32>
      %y = tv.broadcast %x {dimensions = array<i64: 0, 2>} : (tensor<1x3xf32>) -> tensor<2x4x3xf32>)"},
    {"Softmax", R"(
      %x = tv.input <input "x"> : tensor<2x3xf32>
      %y = tv.softmax %x {dimension = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>)"},
    {"MaskedSoftmax", R"(
      %x = tv.input <input "x"> : tensor<2x3x3xf32>
      %mask = tv.causal_mask : () -> tensor<3x3x!tv.extended<f32>>
      %masked = tv.add %x, %mask : (tensor<2x3x3xf32>, tensor<3x3x!tv.extended<f32>>) -> tensor<2x3x3x!tv.extended<f32>>
      %y = tv.softmax %masked {dimension = 2 : i64} : (tensor<2x3x3x!tv.extended<f32>>) -> tensor<2x3x3xf32>)"},
    {"Embedding", R"(
      %tokens = tv.input <input "tokens"> : tensor<2x3xi64>
      %table = tv.input <parameter "table"> : tensor<4x2xf32>
      %y = tv.embedding %tokens, %table {start = 1 : i64} : (tensor<2x3xi64>, tensor<4x2xf32>) -> tensor<2x3x2xf32>)"},
    {"ComplexProduct", R"(
      %x = tv.input <input "x"> : tensor<2x3x2x4xf32>
      %factors = tv.input <input "factors"> : tensor<3x2x2xf32>
      %y = tv.complex_product %x, %factors {position_dimension = 1 : i64} : (tensor<2x3x2x4xf32>, tensor<3x2x2xf32>) -> tensor<2x3x2x4xf32>)"},
};

namespace {
using Index = SmallVector<int64_t>;

/// Numbers for the elements of inputs, one of which may be moved by a step.
class RandomSource : public ElementSource {
public:
  explicit RandomSource(uint64_t seed) : generator(seed) {}

  Scalar input(Value value, ArrayRef<int64_t> index) override {
    return DoubleAlgebra::fromDouble(get(value, Index(index)));
  }
  Scalar opaque(unsigned, Type, ArrayRef<int64_t>) override {
    ADD_FAILURE() << "nothing is opaque";
    return {};
  }
  Scalar undefined(Operation *, ArrayRef<int64_t>) override {
    ADD_FAILURE() << "nothing is undefined";
    return {};
  }

  double &get(Value value, const Index &index) {
    auto [found, isNew] =
        numbers.try_emplace({value.getAsOpaquePointer(), index}, 0);
    if (isNew)
      found->second = draw(value);
    return found->second;
  }

private:
  double draw(Value value) {
    auto input = value.getDefiningOp<tv::InputOp>();
    if (getSort(value.getType()) == ScalarSort::Integer)
      return std::uniform_int_distribution<int>(0, 4)(generator);
    bool isPositive =
        input.getContract().getName().getValue().starts_with("positive");
    double number = std::uniform_real_distribution<double>(0.5, 1.5)(generator);
    bool isNegative =
        !isPositive && std::uniform_int_distribution<int>(0, 1)(generator);
    return isNegative ? -number : number;
  }

  std::mt19937_64 generator;
  std::map<std::pair<const void *, Index>, double> numbers;
};

/// A case with its derivative.
struct Derivative {
  OwningOpRef<ModuleOp> module;
  tv::GraphOp graph;
  std::set<std::string> ops; ///< the forward ops, compositions included
  SmallVector<Value> inputs; ///< real ones
  Value output, outputGradient;
  SmallVector<Value> gradients; ///< of the inputs; null where there is none
};

class GradientsTest : public ::testing::TestWithParam<GradientCase> {
protected:
  GradientsTest() { context.loadDialect<tv::TVDialect>(); }

  /// Parses a case and builds its derivative; null after an error.
  std::unique_ptr<Derivative> build(const GradientCase &gradientCase) {
    auto made = std::make_unique<Derivative>();
    std::string text = "tv.graph @graph <> {" + std::string(gradientCase.body);
    made->module = parseSourceString<ModuleOp>(text + "\n}", &context);
    if (!made->module)
      return nullptr;
    made->graph = *made->module->getOps<tv::GraphOp>().begin();
    Block &body = made->graph.getBody().front();
    for (Operation &op : llvm::make_early_inc_range(body)) {
      made->ops.insert(op.getName().getStringRef().str());
      auto composition = dyn_cast<tv::CompositionOpInterface>(op);
      if (!composition)
        continue;
      OpBuilder builder(&op);
      FailureOr<SmallVector<Value>> parts = composition.decompose(builder);
      if (failed(parts))
        return nullptr;
      op.replaceAllUsesWith(*parts);
      op.erase();
    }
    SmallVector<Operation *> forward;
    for (Operation &op : body) {
      if (!isa<tv::InputOp>(op))
        forward.push_back(&op);
      else if (getElementKind(op.getResult(0).getType()) == ElementKind::Real)
        made->inputs.push_back(op.getResult(0));
    }
    made->output = body.back().getResult(0);
    OpBuilder builder = OpBuilder::atBlockEnd(&body);
    Location location = made->graph.getLoc();
    made->outputGradient = tv::InputOp::create(
        builder, location, getGradientType(made->output.getType()),
        tv::ContractAttr::get(&context, tv::ContractRole::Input,
                              builder.getStringAttr("gradient")));
    FailureOr<SmallVector<Value>> gradients =
        buildReverse(builder, location, forward, made->inputs, made->output,
                     made->outputGradient);
    if (failed(gradients) || failed(mlir::verify(*made->module)))
      return nullptr;
    made->gradients = *gradients;
    return made;
  }

  /// All indices of a tensor.
  static std::vector<Index> indicesOf(Value value) {
    std::vector<Index> indices = {{}};
    for (int64_t size : cast<RankedTensorType>(value.getType()).getShape()) {
      std::vector<Index> longer;
      for (const Index &index : indices)
        for (int64_t i = 0; i < size; ++i) {
          longer.push_back(index);
          longer.back().push_back(i);
        }
      indices = std::move(longer);
    }
    return indices;
  }

  /// The elements of `values` on the inputs of `source`.
  static std::vector<std::vector<double>>
  evaluate(Derivative &made, RandomSource &source, ArrayRef<Value> values) {
    Block &body = made.graph.getBody().front();
    // Every position is kept.
    FactorAnalysis factors(body, made.graph.getMesh(),
                           {FactorAnalysis::Positions::Exact, 64, 8192});
    DoubleAlgebra algebra;
    DenseEvaluator dense(body, factors, algebra, source);
    EXPECT_TRUE(succeeded(dense.run({}, values))) << dense.getFailure();
    std::vector<std::vector<double>> elements;
    for (Value value : values) {
      std::vector<double> &list = elements.emplace_back();
      for (const Index &index : indicesOf(value)) {
        std::optional<Scalar> element = dense.getElement(value, {}, index);
        EXPECT_TRUE(element.has_value());
        if (element)
          list.push_back(DoubleAlgebra::getDouble(*element));
      }
    }
    EXPECT_FALSE(algebra.status().isUndefined);
    return elements;
  }

  /// The largest difference between a derivative, changed by `change`, and the
  /// central difference, relative to their size.
  static double findError(Derivative &made, uint64_t seed,
                          llvm::function_ref<double(double)> change) {
    constexpr double step = 1e-4;
    RandomSource source(seed);
    // The function is the sum of the output's elements, each times its
    // gradient.
    auto function = [&] {
      auto elements =
          evaluate(made, source, {made.output, made.outputGradient});
      double sum = 0;
      for (auto [value, weight] : llvm::zip_equal(elements[0], elements[1]))
        sum += weight == 0 ? 0 : value * weight;
      return sum;
    };
    double largest = 0;
    for (auto [input, gradient] :
         llvm::zip_equal(made.inputs, made.gradients)) {
      std::vector<double> derivative;
      if (gradient)
        derivative = evaluate(made, source, gradient)[0];
      for (auto [number, index] : llvm::enumerate(indicesOf(input))) {
        double &place = source.get(input, index);
        double before = place;
        place = before + step;
        double above = function();
        place = before - step;
        double below = function();
        place = before;
        double expected = (above - below) / (2 * step);
        double actual = gradient ? change(derivative[number]) : 0;
        double size = 1 + std::fabs(expected) + std::fabs(actual);
        largest = std::max(largest, std::fabs(expected - actual) / size);
      }
    }
    return largest;
  }

  /// The ops of the dialect that have a derivative and are not in `tested`.
  std::vector<std::string> findMissing(const std::set<std::string> &tested) {
    std::vector<std::string> missing;
    for (RegisteredOperationName name :
         context.getRegisteredOperationsByDialect("tv")) {
      bool hasDerivative = name.hasInterface<tv::DifferentiableOpInterface>() ||
                           name.hasInterface<tv::CompositionOpInterface>();
      if (hasDerivative && !tested.count(name.getStringRef().str()))
        missing.push_back(name.getStringRef().str());
    }
    return missing;
  }

  static constexpr double tolerance = 1e-6;
  MLIRContext context;
};
} // namespace

TEST_P(GradientsTest, IsTheLimitOfDifferences) {
  std::unique_ptr<Derivative> made = build(GetParam());
  ASSERT_TRUE(made);
  for (uint64_t seed : {1, 2, 3})
    EXPECT_LT(findError(*made, seed, [](double value) { return value; }),
              tolerance);
}

TEST_P(GradientsTest, WrongDerivativesAreCaught) {
  std::unique_ptr<Derivative> made = build(GetParam());
  ASSERT_TRUE(made);
  EXPECT_GT(findError(*made, 1, [](double value) { return value + 1e-3; }),
            tolerance);
  // The derivative of a constant is 0, whatever it is scaled by.
  if (StringRef(GetParam().name) == "PowerZero")
    return;
  EXPECT_GT(findError(*made, 1, [](double value) { return value * 1.001; }),
            tolerance);
  EXPECT_GT(findError(*made, 1, [](double value) { return -value; }),
            tolerance);
}

INSTANTIATE_TEST_SUITE_P(
    Ops, GradientsTest, ::testing::ValuesIn(cases),
    [](const ::testing::TestParamInfo<GradientCase> &info) {
      return std::string(info.param.name);
    });

TEST_F(GradientsTest, EveryOpWithADerivativeIsTested) {
  std::set<std::string> tested;
  for (const GradientCase &gradientCase : cases) {
    std::unique_ptr<Derivative> made = build(gradientCase);
    ASSERT_TRUE(made) << gradientCase.name;
    tested.insert(made->ops.begin(), made->ops.end());
  }
  EXPECT_THAT(findMissing(tested), ::testing::IsEmpty());
  tested.erase("tv.silu");
  tested.erase("tv.softmax");
  EXPECT_THAT(findMissing(tested),
              ::testing::UnorderedElementsAre("tv.silu", "tv.softmax"));
}

TEST_F(GradientsTest, AnotherOpsDerivativeIsCaught) {
  // The derivative of the sum stands where that of the product belongs.
  GradientCase product = {"", R"(
      %a = tv.input <input "a"> : tensor<3xf32>
      %b = tv.input <input "b"> : tensor<3xf32>
      %y = tv.multiply %a, %b : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>)"};
  std::unique_ptr<Derivative> made = build(product);
  ASSERT_TRUE(made);
  auto unchanged = [](double value) { return value; };
  EXPECT_LT(findError(*made, 1, unchanged), tolerance);
  made->gradients = {made->outputGradient, made->outputGradient};
  EXPECT_GT(findError(*made, 1, unchanged), 0.01);
  // A forgotten gradient counts as zero.
  made->gradients = {Value(), Value()};
  EXPECT_GT(findError(*made, 1, unchanged), 0.01);
}

TEST_F(GradientsTest, WhatHasNoDerivativeSaysSo) {
  std::string said;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    said += diagnostic.str() + "\n";
    return success();
  });
  EXPECT_FALSE(build({"", R"(
      %a = tv.input <input "a"> : tensor<3xf32>
      %y = tv.reduce maximum %a {dimensions = array<i64: 0>} : (tensor<3xf32>) -> tensor<f32>)"}));
  EXPECT_THAT(said, ::testing::HasSubstr("a maximum has one only off ties"));
  said.clear();
  EXPECT_FALSE(build({"", R"(
      %a = tv.input <input "a"> : tensor<3x3xf32>
      %y = tv.einsum %a {equation = "ii->i"} : (tensor<3x3xf32>) -> tensor<3xf32>)"}));
  EXPECT_THAT(said, ::testing::HasSubstr("operand #0 repeats label 'i'"));
}
