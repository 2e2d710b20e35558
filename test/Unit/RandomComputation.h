//===- RandomComputation.h - the same in any algebra ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What tests compute in several algebras, to compare what they give.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_TEST_UNIT_RANDOMCOMPUTATION_H
#define VERIFY_TEST_UNIT_RANDOMCOMPUTATION_H

#include "Verify/Scalar/NumericAlgebras.h"

#include <random>
#include <vector>

namespace verify {

/// A computation with every rational operation and a choice, that starts with
/// `values`.
inline Scalar compute(ScalarAlgebra &algebra, std::mt19937 random,
                      std::vector<Scalar> values) {
  auto pick = [&] { return values[random() % values.size()]; };
  for (int step = 0; step < 12; ++step) {
    Scalar a = pick(), b = pick(), c = pick();
    switch (random() % 8) {
    case 0:
      values.push_back(algebra.add(a, b));
      break;
    case 1:
      values.push_back(algebra.subtract(a, b));
      break;
    case 2:
      values.push_back(algebra.multiply(a, b));
      break;
    case 3: {
      Scalar square = algebra.multiply(b, b);
      values.push_back(
          algebra.divide(a, algebra.add(square, algebra.rational(1))));
      break;
    }
    case 4:
      values.push_back(algebra.maximum({a, b, c}));
      break;
    case 5:
      values.push_back(algebra.select(
          algebra.compare(Comparison(random() % 4), a, b), b, c));
      break;
    case 6:
      values.push_back(algebra.sum({{a, 3}, {b, -2}, {c, 0}}));
      break;
    default:
      values.push_back(
          algebra.apply(random() % 2 ? Function::Abs : Function::Sign, a));
      break;
    }
  }
  return values.back();
}

inline Scalar draw(ScalarAlgebra &algebra, std::mt19937 &random) {
  return algebra.rational(int64_t(random() % 41) - 20, random() % 7 + 1);
}

inline Scalar compute(ScalarAlgebra &algebra, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<Scalar> values(4);
  for (Scalar &value : values)
    value = draw(algebra, random);
  return compute(algebra, random, values);
}

} // namespace verify

#endif // VERIFY_TEST_UNIT_RANDOMCOMPUTATION_H
