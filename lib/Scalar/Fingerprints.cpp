//===- Fingerprints.cpp - values of polynomials modulo a prime ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every generator gets a fixed residue, the inverse of a sum the inverse of its
// residue, exponentials residues that multiply as they do. Equal rational
// functions have equal fingerprints. The converse is only likely, so equal
// fingerprints are where equality is looked for, never why it is believed.
//
//===----------------------------------------------------------------------===//

#include "NormalizerState.h"

using namespace verify;

/// A safe prime, and the prime order of its group of squares.
static constexpr uint64_t prime = 4611686018427377339ULL;
static constexpr uint64_t order = (prime - 1) / 2;

static uint64_t multiplyResidues(uint64_t left, uint64_t right) {
  return static_cast<uint64_t>(static_cast<unsigned __int128>(left) * right %
                               prime);
}

static uint64_t raiseResidue(uint64_t base, uint64_t exponent) {
  uint64_t result = 1;
  for (; exponent != 0; exponent >>= 1) {
    if (exponent & 1)
      result = multiplyResidues(result, base);
    base = multiplyResidues(base, base);
  }
  return result;
}

/// A fixed number that looks random.
static uint64_t scramble(uint64_t value) {
  value += 0x9e3779b97f4a7c15ULL;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
  return (value ^ (value >> 31)) % (prime - 2) + 2;
}

uint64_t NormalizerState::fingerprintOfGenerator(GeneratorId generator) {
  if (generator >= generatorFingerprints.size())
    generatorFingerprints.resize(generators.size());
  uint64_t &known = generatorFingerprints[generator];
  if (known != 0)
    return known;
  const Generator &data = generators[generator];
  uint64_t result = scramble(generator);
  if (data.kind == GeneratorKind::Factor)
    result = fingerprint(data.argument);
  generatorFingerprints[generator] = result;
  return result;
}

uint64_t NormalizerState::fingerprintOfExp(PolynomialId exponent) {
  auto place = expFingerprints.find(exponent);
  if (place != expFingerprints.end())
    return place->second;
  uint64_t result = 1;
  for (const WeightedMonomial &term : polynomials.get(exponent)) {
    uint64_t base = scramble(term.monomial * 2654435761ULL + 7);
    uint64_t power = term.coefficient.residue(order).value_or(1);
    result = multiplyResidues(
        result, raiseResidue(multiplyResidues(base, base), power));
  }
  expFingerprints[exponent] = result;
  return result;
}

uint64_t NormalizerState::fingerprintOfMonomial(MonomialId monomial) {
  const Monomial &factorsOfMonomial = polynomials.getMonomial(monomial);
  uint64_t result = 1;
  for (const GeneratorPower &power : factorsOfMonomial.powers) {
    uint64_t base = fingerprintOfGenerator(power.generator);
    if (power.exponent < 0)
      base = raiseResidue(base, prime - 2);
    result = multiplyResidues(
        result,
        raiseResidue(base, static_cast<uint64_t>(std::abs(power.exponent))));
  }
  if (factorsOfMonomial.exponent != PolynomialStore::zero)
    result =
        multiplyResidues(result, fingerprintOfExp(factorsOfMonomial.exponent));
  return result;
}

uint64_t NormalizerState::fingerprint(PolynomialId polynomial) {
  uint64_t result = 0;
  for (const WeightedMonomial &term : polynomials.get(polynomial)) {
    uint64_t coefficient = term.coefficient.residue(prime).value_or(1);
    result = (result + multiplyResidues(coefficient,
                                        fingerprintOfMonomial(term.monomial))) %
             prime;
  }
  return result;
}

PolynomialId NormalizerState::representative(PolynomialId polynomial) {
  // Without inverted sums, normal forms are as unique as they get.
  unregistered.push_back(polynomial);
  if (factors.empty())
    return polynomial;
  auto known = representatives.find(polynomial);
  if (known != representatives.end()) {
    unregistered.pop_back();
    if (known->second.result != polynomial)
      need(known->second.record);
    return known->second.result;
  }
  llvm::SmallVector<PolynomialId> pending(unregistered.begin(),
                                          unregistered.end());
  unregistered.clear();
  for (PolynomialId next : pending) {
    if (representatives.contains(next))
      continue;
    Recorded found{next, 0};
    uint64_t residue = fingerprint(next);
    // A copy, because proofs may register further polynomials.
    llvm::SmallVector<PolynomialId, 1> candidates = registered[residue];
    for (PolynomialId candidate : candidates)
      if (std::optional<RecordId> record =
              proveEqualByClearing(next, candidate)) {
        found = {candidate, *record};
        break;
      }
    representatives[next] = found;
    if (found.result == next)
      registered[residue].push_back(next);
  }
  Recorded result = representatives[polynomial];
  if (result.result != polynomial)
    need(result.record);
  return result.result;
}
