//===- GradientsTest.cpp - derivatives against differences ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The derivative of every op that has one, with respect to every real input,
// against central differences of the forward op. Both are executed with doubles
// on seeded random inputs. Every op that stands in one of the text tests of the
// dialect is differentiated as it stands there, and every op has to; besides,
// the list in GradientCases.h is for operands in special relations.
//
//===----------------------------------------------------------------------===//

#include "Verify/IR/Gradients.h"

#include "GradientCases.h"
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
using Index = SmallVector<int64_t>;

/// Numbers for the elements of inputs, one of which may be moved by a step.
class RandomSource : public ElementSource {
public:
  RandomSource(uint64_t seed, bool allPositive)
      : generator(seed), allPositive(allPositive) {}

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
        allPositive ||
        input.getContract().getName().getValue().starts_with("positive");
    double number = std::uniform_real_distribution<double>(0.5, 1.5)(generator);
    bool isNegative =
        !isPositive && std::uniform_int_distribution<int>(0, 1)(generator);
    return isNegative ? -number : number;
  }

  std::mt19937_64 generator;
  bool allPositive;
  std::map<std::pair<const void *, Index>, double> numbers;
};

/// A case with its derivative.
struct Derivative {
  OwningOpRef<ModuleOp> module;
  tv::GraphOp graph;
  SmallVector<Value> inputs; ///< real ones
  Value output, outputGradient;
  SmallVector<Value> gradients; ///< of the inputs; null where there is none
  /// Whether an op was executed outside its domain; then all inputs are drawn
  /// positive.
  bool isUndefined = false;
};

class GradientsTest : public ::testing::TestWithParam<GradientCase> {
protected:
  GradientsTest() { context.loadDialect<tv::TVDialect>(); }

  /// Parses a case and builds its derivative; null after an error.
  std::unique_ptr<Derivative> build(const GradientCase &gradientCase) {
    std::string text = "tv.graph @graph <> {" + std::string(gradientCase.body);
    return differentiate(parseSourceString<ModuleOp>(text + "\n}", &context));
  }

  /// A graph with nothing but a copy of `op`, and one input for each operand.
  OwningOpRef<ModuleOp> isolate(Operation &op) {
    OwningOpRef<ModuleOp> module = ModuleOp::create(op.getLoc());
    OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
    auto graph = tv::GraphOp::create(builder, op.getLoc(), "graph",
                                     tv::MeshAttr::get(&context, {}));
    builder.setInsertionPointToStart(&graph.getBody().emplaceBlock());
    SmallVector<Value> inputs;
    for (Type type : op.getOperandTypes())
      inputs.push_back(tv::InputOp::create(
          builder, op.getLoc(), type,
          tv::ContractAttr::get(&context, tv::ContractRole::Input,
                                builder.getStringAttr("x"))));
    Operation *copy = builder.clone(op);
    copy->setOperands(inputs);
    copy->removeAttr("domain");
    return module;
  }

  /// Builds the derivative of the only graph of a module; null after an error.
  std::unique_ptr<Derivative> differentiate(OwningOpRef<ModuleOp> module) {
    auto made = std::make_unique<Derivative>();
    made->module = std::move(module);
    if (!made->module)
      return nullptr;
    made->graph = *made->module->getOps<tv::GraphOp>().begin();
    Block &body = made->graph.getBody().front();
    for (Operation &op : llvm::make_early_inc_range(body)) {
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
        builder, location, getRealType(made->output.getType()),
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
    DenseEvaluator dense(factors, algebra, source);
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
    made.isUndefined |= algebra.status().isUndefined;
    return elements;
  }

  /// The largest difference between a derivative, changed by `change`, and the
  /// central difference, relative to their size.
  static double findError(Derivative &made, uint64_t seed,
                          llvm::function_ref<double(double)> change) {
    constexpr double step = 1e-4;
    RandomSource source(seed, made.isUndefined);
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
      std::vector<Index> indices = indicesOf(input);
      // All elements of a small tensor, some of a large one.
      size_t stride = 1 + indices.size() / 64;
      for (size_t number = 0; number < indices.size(); number += stride) {
        const Index &index = indices[number];
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
  EXPECT_FALSE(made->isUndefined);
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
    Ops, GradientsTest, ::testing::ValuesIn(gradientCases),
    [](const ::testing::TestParamInfo<GradientCase> &info) {
      return std::string(info.param.name);
    });

TEST_F(GradientsTest, EveryOpOfTheTextTests) {
  std::set<std::string> tested;
  std::string said;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    said += diagnostic.str();
    return success();
  });
  for (const char *family : {"contraction", "elementwise", "indexing",
                             "movement", "piecewise", "reduction"}) {
    std::string file =
        std::string(VERIFY_TEST_DIRECTORY "/IR/") + family + ".mlir";
    auto module = parseSourceFile<ModuleOp>(file, &context);
    ASSERT_TRUE(module) << file;
    module->walk([&](Operation *op) {
      if (!isa<tv::DifferentiableOpInterface, tv::CompositionOpInterface>(op))
        return;
      // Its derivative is not the limit of differences.
      if (isa<tv::DetachOp>(op)) {
        EXPECT_FALSE(differentiate(isolate(*op))->gradients[0]);
        tested.insert(op->getName().getStringRef().str());
        return;
      }
      said.clear();
      std::unique_ptr<Derivative> made = differentiate(isolate(*op));
      if (!made) {
        EXPECT_THAT(said, ::testing::HasSubstr("has no derivative"));
        return;
      }
      auto unchanged = [](double value) { return value; };
      double error = findError(*made, 1, unchanged);
      if (made->isUndefined)
        error = findError(*made, 1, unchanged);
      EXPECT_LT(error, tolerance) << op->getName().getStringRef().str();
      // What takes no real numbers has nothing to be compared.
      if (!made->inputs.empty() || isa<tv::OneHotOp>(op))
        tested.insert(op->getName().getStringRef().str());
    });
  }
  EXPECT_THAT(findMissing(tested), ::testing::IsEmpty())
      << "have a derivative and stand in no text test";
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

TEST_F(GradientsTest, KinksHaveTheDerivativeThatTheOpsState) {
  // Differences tell nothing at 0, where PyTorch gives 0.
  for (const char *op : {"relu", "abs", "sign"}) {
    std::string body = "%a = tv.input <input \"a\"> : tensor<3xf32>\n%y = tv." +
                       std::string(op) +
                       " %a : (tensor<3xf32>) -> tensor<3xf32>";
    std::unique_ptr<Derivative> made = build({op, body.c_str()});
    ASSERT_TRUE(made);
    if (!made->gradients[0])
      continue;
    RandomSource source(1, /*allPositive=*/false);
    source.get(made->inputs[0], {0}) = 0;
    source.get(made->inputs[0], {1}) = 1e-9;
    source.get(made->outputGradient, {1}) = 3;
    std::vector<double> gradient =
        evaluate(*made, source, made->gradients[0])[0];
    EXPECT_EQ(gradient[0], 0) << op;
    EXPECT_EQ(gradient[1], 3) << op;
  }
}

TEST_F(GradientsTest, TiesShareTheDerivative) {
  for (const char *op : {"maximum", "minimum"}) {
    std::string body = "%a = tv.input <input \"a\"> : tensor<3xf32>\n"
                       "%b = tv.input <input \"b\"> : tensor<f32>\n%y = tv." +
                       std::string(op) +
                       " %a, %b : (tensor<3xf32>, tensor<f32>) -> "
                       "tensor<3xf32>";
    std::unique_ptr<Derivative> made = build({op, body.c_str()});
    ASSERT_TRUE(made);
    RandomSource source(1, /*allPositive=*/false);
    source.get(made->inputs[1], {}) = 0.5;
    for (int64_t i : {0, 1, 2}) {
      source.get(made->inputs[0], {i}) = 0.5 * static_cast<double>(i);
      source.get(made->outputGradient, {i}) = 4;
    }
    EXPECT_THAT(evaluate(*made, source, made->gradients[0])[0],
                op[1] == 'a' ? ::testing::ElementsAre(0, 2, 4)
                             : ::testing::ElementsAre(4, 2, 0));
    EXPECT_THAT(evaluate(*made, source, made->gradients[1])[0],
                ::testing::ElementsAre(6));
  }
  for (const char *op : {"maximum", "minimum"}) {
    std::string body = "%a = tv.input <input \"a\"> : tensor<2x3xf32>\n"
                       "%y = tv.reduce " +
                       std::string(op) +
                       " %a {dimensions = array<i64: 1>} : (tensor<2x3xf32>) "
                       "-> tensor<2xf32>";
    std::unique_ptr<Derivative> made = build({op, body.c_str()});
    ASSERT_TRUE(made);
    RandomSource source(1, /*allPositive=*/false);
    double sign = op[1] == 'a' ? 1 : -1;
    for (int64_t i : {0, 1, 2}) {
      source.get(made->inputs[0], {0, i}) = i == 1 ? 0 : sign;
      source.get(made->inputs[0], {1, i}) = i == 1 ? sign : 0;
    }
    source.get(made->outputGradient, {0}) = 6;
    source.get(made->outputGradient, {1}) = 5;
    EXPECT_THAT(evaluate(*made, source, made->gradients[0])[0],
                ::testing::ElementsAre(3, 0, 3, 0, 5, 0));
  }
}

TEST_F(GradientsTest, WhatHasNoDerivativeSaysSo) {
  std::string said;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    said += diagnostic.str() + "\n";
    return success();
  });
  EXPECT_FALSE(build({"", R"(
      %a = tv.input <input "a"> : tensor<3xf32>
      %b = tv.input <input "b"> : tensor<f32>
      %y = tv.compare less %a, %b : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>)"}));
  EXPECT_THAT(said, ::testing::HasSubstr("'tv.compare' has no derivative"));
  said.clear();
  EXPECT_FALSE(build({"", R"(
      %a = tv.input <input "a"> : tensor<3x3xf32>
      %y = tv.einsum %a {equation = "ii->i"} : (tensor<3x3xf32>) -> tensor<3xf32>)"}));
  EXPECT_THAT(said, ::testing::HasSubstr("operand #0 repeats label 'i'"));
}
