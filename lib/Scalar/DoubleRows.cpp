//===- DoubleRows.cpp - rows of doubles -----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is called once for each element of a long tensor costs more than the
// arithmetic; here it is called once for each row.
//
//===----------------------------------------------------------------------===//

#include "Verify/Scalar/NumericAlgebras.h"

#include "llvm/ADT/SmallVector.h"

#include <deque>

using namespace verify;
using llvm::ArrayRef;

namespace {
class DoubleRows final : public RowAlgebra {
public:
  explicit DoubleRows(DoubleAlgebra &elements) : elements(elements) {}

  void reset(size_t newSize) override {
    size = newSize;
    used = 0;
    rows.clear();
  }
  Scalar makeRow(const Scalar *first, int64_t stride) override {
    rows.push_back({first, stride});
    return {rows.size() - 1};
  }
  Scalar get(Scalar row, size_t index) const override {
    return rows[row.bits][index];
  }

  Scalar rational(int64_t numerator, int64_t denominator) override {
    return repeat(elements.rational(numerator, denominator));
  }
  Scalar literal(double value, FloatFormat format) override {
    return repeat(elements.literal(value, format));
  }
  Scalar integer(int64_t value) override {
    return repeat(elements.integer(value));
  }
  Scalar boolean(bool value) override {
    return repeat(elements.boolean(value));
  }
  Scalar minusInfinity() override { return repeat(elements.minusInfinity()); }

  Scalar add(Scalar left, Scalar right) override {
    return combine(left, right,
                   [](double first, double second) { return first + second; });
  }
  Scalar subtract(Scalar left, Scalar right) override {
    return combine(left, right,
                   [](double first, double second) { return first - second; });
  }
  Scalar multiply(Scalar left, Scalar right) override {
    return combine(left, right,
                   [](double first, double second) { return first * second; });
  }
  Scalar divide(Scalar left, Scalar right) override {
    return make({left, right}, [&](ArrayRef<Row> from, size_t i) {
      return elements.divide(from[0][i], from[1][i]);
    });
  }
  Scalar negate(Scalar value) override {
    return make(value, [&](ArrayRef<Row> from, size_t i) {
      return elements.negate(from[0][i]);
    });
  }
  Scalar sum(ArrayRef<WeightedScalar> terms) override {
    llvm::SmallVector<Scalar> values;
    llvm::SmallVector<WeightedScalar> list(terms);
    for (const WeightedScalar &term : terms)
      values.push_back(term.value);
    return make(values, [&](ArrayRef<Row> from, size_t i) {
      for (size_t term = 0; term < from.size(); ++term)
        list[term].value = from[term][i];
      return elements.sum(list);
    });
  }
  Scalar power(Scalar base, int64_t numerator, int64_t denominator) override {
    return make(base, [&](ArrayRef<Row> from, size_t i) {
      return elements.power(from[0][i], numerator, denominator);
    });
  }
  Scalar apply(Function function, Scalar argument) override {
    return make(argument, [&](ArrayRef<Row> from, size_t i) {
      return elements.apply(function, from[0][i]);
    });
  }
  Scalar maximum(ArrayRef<Scalar> values) override {
    llvm::SmallVector<Scalar> list(values.size());
    return make(values, [&](ArrayRef<Row> from, size_t i) {
      for (size_t value = 0; value < from.size(); ++value)
        list[value] = from[value][i];
      return elements.maximum(list);
    });
  }
  Scalar compare(Comparison comparison, Scalar left, Scalar right) override {
    return make({left, right}, [&](ArrayRef<Row> from, size_t i) {
      return elements.compare(comparison, from[0][i], from[1][i]);
    });
  }
  Scalar select(Scalar condition, Scalar ifTrue, Scalar ifFalse) override {
    return make({condition, ifTrue, ifFalse},
                [&](ArrayRef<Row> from, size_t i) {
                  return elements.select(from[0][i], from[1][i], from[2][i]);
                });
  }
  Scalar uninterpreted(llvm::StringRef name, ArrayRef<Scalar> arguments,
                       ScalarSort sort) override {
    llvm::SmallVector<Scalar> list(arguments.size());
    return make(arguments, [&](ArrayRef<Row> from, size_t i) {
      for (size_t argument = 0; argument < from.size(); ++argument)
        list[argument] = from[argument][i];
      return elements.uninterpreted(name, list, sort);
    });
  }
  Scalar toReal(Scalar value) override { return value; }

private:
  struct Row {
    const Scalar *first;
    int64_t stride;
    Scalar operator[](size_t index) const {
      return first[static_cast<int64_t>(index) * stride];
    }
  };

  /// Room for a row, and `count` elements of it to fill.
  Scalar *allocate(size_t count) {
    if (used == buffers.size())
      buffers.emplace_back();
    std::vector<Scalar> &buffer = buffers[used++];
    if (buffer.size() < count)
      buffer.resize(count);
    return buffer.data();
  }
  Scalar repeat(Scalar value) {
    Scalar *first = allocate(1);
    *first = value;
    return makeRow(first, 0);
  }
  /// The row of `compute(operands, i)`; of one element if all operands are the
  /// same all along.
  template <typename Compute>
  Scalar make(ArrayRef<Scalar> operands, Compute compute) {
    llvm::SmallVector<Row, 4> from;
    bool isSame = true;
    for (Scalar operand : operands) {
      from.push_back(rows[operand.bits]);
      isSame &= from.back().stride == 0;
    }
    size_t count = isSame ? 1 : size;
    Scalar *result = allocate(count);
    for (size_t i = 0; i < count; ++i)
      result[i] = compute(ArrayRef<Row>(from), i);
    return makeRow(result, isSame ? 0 : 1);
  }
  template <typename Compute>
  Scalar combine(Scalar left, Scalar right, Compute compute) {
    return make({left, right}, [&](ArrayRef<Row> from, size_t i) {
      return DoubleAlgebra::fromDouble(
          compute(DoubleAlgebra::getDouble(from[0][i]),
                  DoubleAlgebra::getDouble(from[1][i])));
    });
  }

  DoubleAlgebra &elements;
  size_t size = 0;
  std::vector<Row> rows;
  std::deque<std::vector<Scalar>> buffers;
  size_t used = 0; ///< of the buffers
};
} // namespace

std::unique_ptr<RowAlgebra> DoubleAlgebra::makeRows() {
  return std::make_unique<DoubleRows>(*this);
}
