//===- Rows.cpp - rows of scalars -----------------------------------------===//
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
#include "llvm/Support/ErrorHandling.h"

#include <deque>
#include <type_traits>

using namespace verify;
using llvm::ArrayRef;

namespace {
/// Rows of scalars of one algebra.
template <typename Algebra> class Rows final : public RowAlgebra {
public:
  explicit Rows(Algebra &elements) : elements(elements) {}

  void reset(size_t newSize) override {
    size = newSize;
    used = 0;
    rows.clear();
  }
  Scalar makeRow(const Scalar *first, int64_t stride) override {
    rows.push_back({first, stride});
    return {rows.size() - 1};
  }
  Elements get(Scalar row) const override { return rows[row.bits]; }

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

  void addTo(llvm::MutableArrayRef<Scalar> sums, Scalar row,
             int64_t weight) override {
    Elements from = rows[row.bits];
    if constexpr (areDoubles) {
      auto factor = static_cast<double>(weight);
      forEachElement(from, sums.size(), [&](size_t i, Scalar element) {
        sums[i] = DoubleAlgebra::fromDouble(
            DoubleAlgebra::getDouble(sums[i]) +
            factor * DoubleAlgebra::getDouble(element));
      });
    } else {
      for (size_t i = 0; i < sums.size(); ++i)
        sums[i] = elements.sum({{sums[i], 1}, {from[i], weight}});
    }
  }
  void sumParts(Scalar row, ArrayRef<int64_t> weights, ArrayRef<size_t> lasts,
                llvm::MutableArrayRef<Scalar> sums) override {
    Elements from = rows[row.bits];
    size_t next = 0;
    llvm::SmallVector<WeightedScalar> terms;
    for (auto [last, sum] : llvm::zip_equal(lasts, sums)) {
      if constexpr (areDoubles) {
        double total = 0;
        for (; next < last; ++next)
          total += static_cast<double>(weights[next]) *
                   DoubleAlgebra::getDouble(from[next]);
        sum = DoubleAlgebra::fromDouble(total);
      } else {
        terms.clear();
        for (; next < last; ++next)
          terms.push_back({from[next], weights[next]});
        sum = elements.sum(terms);
      }
    }
  }
  bool mayKeepElements() const override { return areDoubles; }
  void keepAll(llvm::MutableArrayRef<Scalar> values, size_t mark) override {
    if constexpr (!areDoubles)
      elements.keepAll(values, mark);
  }

  Scalar add(Scalar left, Scalar right) override {
    return combine(left, right, [&](auto first, auto second) {
      if constexpr (areDoubles)
        return elements.sumUp(first, second);
      else
        return elements.add(first, second);
    });
  }
  Scalar subtract(Scalar left, Scalar right) override {
    return combine(left, right, [&](auto first, auto second) {
      if constexpr (areDoubles)
        return elements.sumUp(first, -second);
      else
        return elements.subtract(first, second);
    });
  }
  Scalar multiply(Scalar left, Scalar right) override {
    return combine(left, right, [&](auto first, auto second) {
      if constexpr (areDoubles)
        return first * second;
      else
        return elements.multiply(first, second);
    });
  }
  Scalar divide(Scalar left, Scalar right) override {
    return make({left, right}, [&](ArrayRef<Elements> from, size_t i) {
      return elements.divide(from[0][i], from[1][i]);
    });
  }
  Scalar negate(Scalar value) override {
    return make(value, [&](ArrayRef<Elements> from, size_t i) {
      return elements.negate(from[0][i]);
    });
  }
  Scalar sum(ArrayRef<WeightedScalar> terms) override {
    llvm::SmallVector<Scalar> values;
    llvm::SmallVector<WeightedScalar> list(terms);
    for (const WeightedScalar &term : terms)
      values.push_back(term.value);
    return make(values, [&](ArrayRef<Elements> from, size_t i) {
      for (size_t term = 0; term < from.size(); ++term)
        list[term].value = from[term][i];
      return elements.sum(list);
    });
  }
  Scalar power(Scalar base, int64_t numerator, int64_t denominator) override {
    return make(base, [&](ArrayRef<Elements> from, size_t i) {
      return elements.power(from[0][i], numerator, denominator);
    });
  }
  Scalar apply(Function function, Scalar argument) override {
    return make(argument, [&](ArrayRef<Elements> from, size_t i) {
      return elements.apply(function, from[0][i]);
    });
  }
  Scalar maximum(ArrayRef<Scalar> values) override {
    llvm::SmallVector<Scalar> list(values.size());
    return make(values, [&](ArrayRef<Elements> from, size_t i) {
      for (size_t value = 0; value < from.size(); ++value)
        list[value] = from[value][i];
      return elements.maximum(list);
    });
  }
  Scalar compare(Comparison comparison, Scalar left, Scalar right) override {
    if constexpr (areDoubles)
      return compareDoubles(comparison, left, right);
    return make({left, right}, [&](ArrayRef<Elements> from, size_t i) {
      return elements.compare(comparison, from[0][i], from[1][i]);
    });
  }
  Scalar select(Scalar condition, Scalar ifTrue, Scalar ifFalse) override {
    return make(
        {condition, ifTrue, ifFalse}, [&](ArrayRef<Elements> from, size_t i) {
          if constexpr (areDoubles)
            return DoubleAlgebra::getDouble(from[0][i]) != 0 ? from[1][i]
                                                             : from[2][i];
          else
            return elements.select(from[0][i], from[1][i], from[2][i]);
        });
  }
  Scalar uninterpreted(llvm::StringRef name, ArrayRef<Scalar> arguments,
                       ScalarSort sort) override {
    llvm::SmallVector<Scalar> list(arguments.size());
    return make(arguments, [&](ArrayRef<Elements> from, size_t i) {
      for (size_t argument = 0; argument < from.size(); ++argument)
        list[argument] = from[argument][i];
      return elements.uninterpreted(name, list, sort);
    });
  }
  Scalar toReal(Scalar value) override { return value; }

private:
  /// Then the scalars are the numbers.
  static constexpr bool areDoubles = std::is_same_v<Algebra, DoubleAlgebra>;

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
    llvm::SmallVector<Elements, 4> from;
    bool isSame = true;
    for (Scalar operand : operands) {
      from.push_back(rows[operand.bits]);
      isSame &= from.back().stride == 0;
    }
    size_t count = isSame ? 1 : size;
    Scalar *result = allocate(count);
    for (size_t i = 0; i < count; ++i)
      result[i] = compute(ArrayRef<Elements>(from), i);
    return makeRow(result, isSame ? 0 : 1);
  }
  /// Calls `visit` with each element of a row; with a loop of its own for each
  /// stride, so that several are computed at once.
  template <typename Visit>
  static void forEachElement(Elements row, size_t count, Visit visit) {
    if (row.stride == 1)
      for (size_t i = 0; i < count; ++i)
        visit(i, row.first[i]);
    else if (row.stride == 0)
      for (size_t i = 0; i < count; ++i)
        visit(i, *row.first);
    else
      for (size_t i = 0; i < count; ++i)
        visit(i, row[i]);
  }
  template <typename Compute>
  Scalar combine(Scalar left, Scalar right, Compute compute) {
    if constexpr (areDoubles)
      return combineDoubles(rows[left.bits], rows[right.bits], compute);
    else
      return make({left, right}, [&](ArrayRef<Elements> from, size_t i) {
        return compute(from[0][i], from[1][i]);
      });
  }
  template <typename Compute>
  Scalar combineDoubles(Elements left, Elements right, Compute compute) {
    bool isSame = left.stride == 0 && right.stride == 0;
    size_t count = isSame ? 1 : size;
    Scalar *result = allocate(count);
    auto fill = [&](auto getLeft) {
      forEachElement(right, count, [&](size_t i, Scalar other) {
        result[i] = DoubleAlgebra::fromDouble(
            compute(DoubleAlgebra::getDouble(getLeft(i)),
                    DoubleAlgebra::getDouble(other)));
      });
    };
    if (left.stride == 1)
      fill([&](size_t i) { return left.first[i]; });
    else
      fill([&](size_t i) { return left[i]; });
    return makeRow(result, isSame ? 0 : 1);
  }

  Scalar compareDoubles(Comparison comparison, Scalar left, Scalar right) {
    switch (comparison) {
    case Comparison::Equal:
      return combine(left, right, [](double first, double second) {
        return static_cast<double>(first == second);
      });
    case Comparison::NotEqual:
      return combine(left, right, [](double first, double second) {
        return static_cast<double>(first != second);
      });
    case Comparison::Less:
      return combine(left, right, [](double first, double second) {
        return static_cast<double>(first < second);
      });
    case Comparison::LessEqual:
      return combine(left, right, [](double first, double second) {
        return static_cast<double>(first <= second);
      });
    }
    llvm_unreachable("a comparison without a value");
  }

  Algebra &elements;
  size_t size = 0;
  std::vector<Elements> rows;
  std::deque<std::vector<Scalar>> buffers;
  size_t used = 0; ///< of the buffers
};
} // namespace

std::unique_ptr<RowAlgebra> DoubleAlgebra::makeRows() {
  return std::make_unique<Rows<DoubleAlgebra>>(*this);
}

std::unique_ptr<RowAlgebra> DoubleIntervalAlgebra::makeRows() {
  return std::make_unique<Rows<DoubleIntervalAlgebra>>(*this);
}
