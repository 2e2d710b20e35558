//===- ElementPairsTest.cpp - pairs one by one and in rows ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ElementPairs.h"

#include "gtest/gtest.h"

#include <random>

using namespace verify;

namespace {
struct Pair {
  llvm::SmallVector<int64_t> index;
  uint64_t reference, plan;
  bool operator==(const Pair &other) const {
    return index == other.index && reference == other.reference &&
           plan == other.plan;
  }
};

/// Two tensors, and where positions of one are in the other.
class RandomPairs {
public:
  explicit RandomPairs(unsigned seed) : random(seed) {
    isInRuns = draw(2);
    auto count = static_cast<unsigned>(1 + draw(3));
    for (unsigned i = 0; i < count; ++i) {
      // Some have more than one row may have.
      bool isLong = seed % 64 == 1 && i + 1 == count;
      int64_t size = 1 + draw(seed % 16 == 0 ? 14 : isLong ? 1400 : 4);
      std::vector<Representative> &list = positions.emplace_back();
      for (int64_t place = 0; place < size; ++place)
        list.push_back({10 * place + i, 1});
      int64_t referenceSize = size + (draw(2) ? draw(3) : 0);
      referenceSizes.push_back(referenceSize);
      mapped.push_back(makeMap(size, referenceSize));
    }
    tensor = makeTensor(count, [&](unsigned i) { return positions[i].size(); });
    reference =
        makeTensor(count, [&](unsigned i) { return referenceSizes[i]; });
    summands.push_back({&tensor, {{0, 1}}});
    for (const auto &list : positions)
      kept.emplace_back(list);
  }

  /// Elements in the order of the tensor, each looked up by itself.
  std::vector<Pair> listAll() {
    std::vector<Pair> pairs;
    auto layout = getLayout(tensor);
    for (int64_t at = 0; at < tensor.size; ++at) {
      Pair pair;
      for (const auto &list : positions)
        pair.index.push_back(list.front().position);
      int64_t rest = at, offset = 0;
      bool isKnown = true;
      for (unsigned i : llvm::reverse(layout)) {
        auto size = static_cast<int64_t>(positions[i].size());
        int64_t ordinal = mapped[i]->ordinals[rest % size];
        isKnown &= ordinal >= 0;
        offset += ordinal * reference.dimensionStrides[i];
        pair.index[i] = positions[i][rest % size].position;
        rest /= size;
      }
      if (!isKnown)
        continue;
      pair.reference = reference.get(offset).bits;
      pair.plan = tensor.get(at).bits;
      pairs.push_back(pair);
    }
    return pairs;
  }
  std::vector<Pair> listOneByOne() {
    std::vector<Pair> found;
    ElementPairs pairs = make();
    while (pairs.find()) {
      int64_t equal = pairs.countEqual();
      EXPECT_GT(equal, 0);
      for (int64_t i = 0; i < equal; ++i) {
        found.push_back({llvm::SmallVector<int64_t>(pairs.getIndex()),
                         pairs.getReference().bits, pairs.getFirst().bits});
        if (i + 1 < equal)
          pairs.skip(1);
      }
      pairs.skip(1);
    }
    return found;
  }
  std::vector<Pair> listRows() {
    std::vector<Pair> found;
    ElementPairs pairs = make();
    while (pairs.find()) {
      if (ElementPairs::Row row = pairs.getRow(); row.count > 0) {
        for (size_t i = 0; i < row.firsts.size(); ++i) {
          bool isLast = i + 1 == row.firsts.size();
          int64_t end = isLast ? row.count : row.getPair(i + 1);
          for (int64_t number = row.getPair(i); number < end; ++number)
            found.push_back({pairs.getIndex(number), row.references[i].bits,
                             row.firsts[i].bits});
        }
        pairs.skipRow(row.count);
        ++rowCount;
        continue;
      }
      std::vector<Scalar> references, firsts;
      std::vector<int64_t> numbers;
      int64_t count = pairs.readRow(references, firsts, numbers);
      EXPECT_GT(count, 0);
      numbers.push_back(count);
      for (size_t i = 0; i < firsts.size(); ++i)
        for (int64_t number = numbers[i]; number < numbers[i + 1]; ++number)
          found.push_back(
              {pairs.getIndex(number), references[i].bits, firsts[i].bits});
      pairs.skipRow(count);
    }
    return found;
  }

  /// How many rows were not copied.
  size_t rowCount = 0;

private:
  int64_t draw(int64_t end) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(end));
  }
  ElementPairs make() {
    return ElementPairs(summands, reference, kept, {}, mapped, isInRuns);
  }
  /// Mostly neighbours, else in any order, of which some are not there.
  std::shared_ptr<const DimensionMap> makeMap(int64_t size, int64_t other) {
    auto map = std::make_shared<DimensionMap>();
    int64_t kind = draw(4), start = draw(other - size + 1);
    for (int64_t place = 0; place < size; ++place)
      map->ordinals.push_back(kind < 2    ? start + place
                              : kind == 2 ? draw(other)
                                          : draw(other + 1) - 1);
    map->unknown.resize(size);
    map->neighbours.assign(size, 1);
    for (int64_t i = size; i-- > 0;) {
      bool hasNext = i + 1 < size;
      if (map->ordinals[i] < 0)
        map->unknown[i] = 1 + (hasNext ? map->unknown[i + 1] : 0);
      else if (hasNext && map->ordinals[i + 1] == map->ordinals[i] + 1)
        map->neighbours[i] = map->neighbours[i + 1] + 1;
    }
    return map;
  }
  DenseTensor makeTensor(unsigned count,
                         llvm::function_ref<size_t(unsigned)> getSize) {
    DenseTensor made;
    made.dimensionStrides.assign(count, 0);
    for (unsigned i = count; i-- > 0;) {
      made.dimensionStrides[i] = made.size;
      made.size *= static_cast<int64_t>(getSize(i));
    }
    for (int64_t at = 0; at < made.size; ++at)
      if (!isInRuns || at == 0 || draw(3) == 0) {
        made.starts.push_back(at);
        made.elements.push_back({random() % 1000});
      }
    if (static_cast<int64_t>(made.elements.size()) == made.size)
      made.starts.clear();
    return made;
  }

  std::mt19937 random;
  bool isInRuns;
  std::vector<std::vector<Representative>> positions;
  std::vector<int64_t> referenceSizes;
  DenseTensor tensor, reference;
  std::vector<Summand> summands;
  std::vector<llvm::ArrayRef<Representative>> kept;
  std::vector<std::shared_ptr<const DimensionMap>> mapped;
};
} // namespace

TEST(ElementPairsTest, AllThatAreKnownAreFoundInOrder) {
  size_t count = 0, rows = 0;
  for (unsigned seed = 0; seed < 4000; ++seed) {
    RandomPairs pairs(seed);
    std::vector<Pair> all = pairs.listAll();
    count += all.size();
    ASSERT_TRUE(all == pairs.listOneByOne()) << "seed " << seed;
    ASSERT_TRUE(all == pairs.listRows()) << "seed " << seed;
    rows += pairs.rowCount;
  }
  EXPECT_GT(rows, 100U);
  EXPECT_GT(count, 10000U);
}
