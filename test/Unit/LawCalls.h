//===- LawCalls.h - instances of every law ----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_TEST_UNIT_LAWCALLS_H
#define VERIFY_TEST_UNIT_LAWCALLS_H

#include "RandomTerms.h"

namespace verify {

/// Calls every law with arguments drawn from a small set of values, among which
/// there are sums, products, inverses and roots of each other.
class LawCalls {
public:
  LawCalls(TermAlgebra &terms, unsigned seed)
      : terms(terms), book(terms), random(seed) {
    for (int64_t value : {-2, -1, 0, 1, 2, 3, 4, 6, 8})
      values.push_back(terms.rational(value, 1));
    for (int64_t value : {-1, 1, 4})
      values.push_back(terms.rational(value, 2));
    values.push_back(terms.atom(0, {0}, ScalarSort::Real));
    values.push_back(terms.atom(0, {1}, ScalarSort::Real));
    Scalar x = pick(), y = pick();
    values.push_back(terms.add(x, y));
    values.push_back(terms.multiply(x, y));
    values.push_back(terms.divide(x, y));
    values.push_back(terms.multiply(x, x));
    values.push_back(terms.apply(Function::Exp, x));
    values.push_back(terms.apply(Function::Log, x));
    values.push_back(terms.apply(Function::Sqrt, x));
    values.push_back(terms.maximum({x, y}));
  }

  void callAll() {
    Scalar p = pick(), q = pick(), r = pick();
    llvm::SmallVector<Scalar> rest;
    if (random() % 2)
      rest.push_back(pick());
    ClaimKind kind = ClaimKind(1 + random() % 3);
    auto degree = int64_t(2 + random() % 3);
    book.expOfSum(p, q, r, rest);
    book.expOfSum(p, q, terms.add(p, q), rest);
    book.expOfZero(p);
    book.expPositive(p);
    book.expOfLogs(r, {{p, int64_t(random() % 5) - 2}, {q, 1}}, pick());
    book.expOfLogs(terms.apply(Function::Log, p), {{p, 1}},
                   terms.rational(0, 1));
    book.logOfExp(p);
    book.logOfProduct(r, {p, q});
    book.logOfProduct(terms.multiply(p, q), {p, q});
    book.logOfInverse(p);
    book.maximumOfExp({p, q, r});
    book.cancellation(p, 1 + random() % 2, rest);
    book.uniqueInverse(p, q);
    book.uniqueInverse(p, terms.divide(terms.rational(1, 1), p));
    book.inverseSign(p, kind);
    book.zeroProduct(p, q);
    book.factorNonZero({p, q}, random() % 2);
    book.factorPositive(p, q, kind);
    book.productSign({p, q}, kind);
    book.square(p);
    book.powerOfRoot(p, degree, rest);
    book.rootSign(p, degree, kind);
    book.uniqueRoot(p, degree, q);
    book.uniqueRoot(terms.power(p, degree, 1), degree, p);
    book.inverseRoot(p);
    book.negativePower(p, 1 + random() % 3);
    book.brokenPower(p, int64_t(random() % 4) * 2 - 3, 2);
    book.brokenPower(p, random() % 2 ? 2 : -2, 3);
    book.absoluteSquare(p, rest);
    book.absoluteSign(p, rest);
    callMaxima(p, q, r);
    callIndicators(p, q, rest);
  }

  TermAlgebra &terms;
  LawBook book;

private:
  void callMaxima(Scalar p, Scalar q, Scalar r) {
    Scalar greatest = terms.maximum({p, q, r});
    book.maximumBound(greatest, random() % 3);
    book.maximumAttained(greatest);
    book.maximumScale(p, {q, r}, {r, q});
    book.maximumScale(p, {terms.multiply(p, q), terms.multiply(p, r)}, {q, r});
  }
  void callIndicators(Scalar p, Scalar q, llvm::ArrayRef<Scalar> rest) {
    auto draw = [&] {
      return terms.toReal(
          terms.compare(Comparison(random() % 4), pick(), pick()));
    };
    Scalar first = draw(), second = draw();
    book.indicatorImplies(first, second, rest);
    book.indicatorExcludes(first, second, rest);
    book.indicatorCase(first, random() % 2, rest);
    book.indicatorCase(p, random() % 2, rest);
  }
  Scalar pick() { return values[random() % values.size()]; }

  std::mt19937 random;
  std::vector<Scalar> values;
};

} // namespace verify

#endif // VERIFY_TEST_UNIT_LAWCALLS_H
