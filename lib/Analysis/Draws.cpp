//===- Draws.cpp - points at which a reference may be defined -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Draws.h"

using namespace mlir;
using namespace verify;

/// Draws of a concrete point at which the reference is defined.
static constexpr unsigned drawLimit = 24;
static constexpr unsigned drawsOfOneSize = 6;

SmallVector<unsigned> verify::getDraws() {
  SmallVector<unsigned> draws;
  for (unsigned i = 0; i < drawsOfOneSize; ++i)
    for (unsigned draw = i; draw < drawLimit; draw += drawsOfOneSize)
      draws.push_back(draw);
  return draws;
}

RandomDraws::RandomDraws(NumericAlgebra &algebra, unsigned seed)
    : algebra(algebra), engine(seed), positive(seed % 2),
      level(seed / drawsOfOneSize) {}

Scalar RandomDraws::draw(ScalarSort sort) {
  int64_t number = 1 + static_cast<int64_t>(engine() % (level == 0 ? 7 : 1021));
  if (!positive && engine() % 2)
    number = -number;
  if (sort == ScalarSort::Integer)
    return algebra.integer(engine() % 2);
  if (sort == ScalarSort::Boolean)
    return algebra.boolean(engine() % 2);
  return algebra.rational(number, level == 0 ? 4 : int64_t(16) << 6 * level);
}

Scalar DrawnSource::input(Value value, ArrayRef<int64_t>) {
  return draws.draw(getSort(value.getType()));
}

Scalar DrawnSource::opaque(unsigned, Type, ArrayRef<int64_t>) {
  return refuse();
}

Scalar DrawnSource::undefined(Operation *, ArrayRef<int64_t>) {
  return refuse();
}

Scalar DrawnSource::refuse() {
  wasRefused = true;
  return algebra.rational(0);
}
