//===- AttributesTest.cpp - attributes as C++ sees them -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Set algebra of coordinates, shapes of lineages, and malformed attributes that
// have no text and so no lit test.
//
//===----------------------------------------------------------------------===//

#include "Verify/IR/TVDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace verify::tv;

namespace {
class AttributesTest : public testing::Test {
protected:
  AttributesTest() { context.loadDialect<TVDialect>(); }

  StringAttr name(StringRef text) { return StringAttr::get(&context, text); }
  AxisSetAttr set(StringRef axis, ArrayRef<int64_t> bounds) {
    return AxisSetAttr::get(&context, name(axis), bounds);
  }
  DomainAttr domain(ArrayRef<AxisSetAttr> sets) {
    return DomainAttr::get(&context, sets);
  }
  MeshAttr mesh() {
    return MeshAttr::get(&context, {AxisAttr::get(&context, name("dp"), 2),
                                    AxisAttr::get(&context, name("mb"), 4)});
  }
  /// A factor that keeps `size` elements, or the one that an axis indexes.
  DimensionFactorAttr keep(int64_t size) {
    return DimensionFactorAttr::get(&context, StringAttr(), 0, size, size);
  }
  DimensionFactorAttr indexed(StringRef axis) {
    return DimensionFactorAttr::get(&context, name(axis), 0, 0, 0);
  }
  ArrayAttr dimension(ArrayRef<Attribute> factors) {
    return ArrayAttr::get(&context, factors);
  }

  /// What building an attribute says; nothing if it succeeds.
  template <typename Attr, typename... Arguments>
  std::string errorOf(Arguments... arguments) {
    std::string message;
    ScopedDiagnosticHandler handler(
        &context, [&](Diagnostic &error) { message = error.str(); });
    Location location = UnknownLoc::get(&context);
    Attr::getChecked([&] { return emitError(location); }, &context,
                     arguments...);
    return message;
  }

  MLIRContext context;
};
} // namespace

TEST_F(AttributesTest, SetsOfCoordinates) {
  AxisSetAttr most = set("mb", {0, 2, 3, 4});
  EXPECT_EQ(most.size(), 3);
  EXPECT_TRUE(most.contains(1));
  EXPECT_FALSE(most.contains(2));
  EXPECT_FALSE(most.contains(4));
  EXPECT_TRUE(set("mb", {3, 4}).isSubsetOf(most));
  EXPECT_TRUE(most.isSubsetOf(most));
  EXPECT_FALSE(set("mb", {1, 4}).isSubsetOf(most));
  EXPECT_FALSE(most.isSubsetOf(set("mb", {0, 2})));
}

TEST_F(AttributesTest, FreeAxesOfDomains) {
  DomainAttr everywhere = domain({});
  DomainAttr firstReplica = domain({set("dp", {0, 1})});
  DomainAttr allReplicas = domain({set("dp", {0, 2})});
  EXPECT_FALSE(everywhere.getSet("dp"));
  EXPECT_EQ(firstReplica.getSet("dp"), set("dp", {0, 1}));
  EXPECT_TRUE(firstReplica.isSubsetOf(everywhere, mesh()));
  EXPECT_FALSE(everywhere.isSubsetOf(firstReplica, mesh()));
  EXPECT_TRUE(everywhere.isSubsetOf(allReplicas, mesh()));
  // An axis that the mesh lacks is not free: there is nothing to run over.
  EXPECT_FALSE(everywhere.isSubsetOf(domain({set("tp", {0, 1})}), mesh()));
}

TEST_F(AttributesTest, ShapesOfLineages) {
  auto lineage =
      LineageAttr::get(&context,
                       {dimension({indexed("dp"), indexed("mb"), keep(8)}),
                        dimension({keep(3)}), dimension({})},
                       {});
  EXPECT_EQ(lineage.getReferenceShape(mesh()),
            (SmallVector<int64_t>{64, 3, 1}));
  EXPECT_EQ(lineage.getLocalShape(), (SmallVector<int64_t>{8, 3, 1}));
}

TEST_F(AttributesTest, ShapesThatOverflowAreEmpty) {
  DimensionFactorAttr half = keep(int64_t(1) << 32);
  auto lineage = LineageAttr::get(&context, {dimension({half, half})}, {});
  EXPECT_EQ(lineage.getReferenceShape(mesh()), (SmallVector<int64_t>{0}));
  EXPECT_EQ(lineage.getLocalShape(), (SmallVector<int64_t>{0}));
}

TEST_F(AttributesTest, MalformedAttributes) {
  EXPECT_EQ(errorOf<AxisSetAttr>(name("mb"), ArrayRef<int64_t>()),
            "set of axis 'mb' is not a nonempty list of intervals");
  EXPECT_EQ(errorOf<AxisSetAttr>(name("mb"), ArrayRef<int64_t>{0, 1, 2}),
            "set of axis 'mb' is not a nonempty list of intervals");
  ArrayAttr wrong = dimension({name("dp")});
  EXPECT_EQ(
      errorOf<LineageAttr>(ArrayRef<ArrayAttr>(wrong), ArrayRef<StringAttr>()),
      "a dimension of a lineage holds a non-factor");
  EXPECT_EQ(errorOf<PieceAttr>(int64_t(1), false, ArrayRef<int64_t>{0, 1},
                               int64_t(0), int64_t(1)),
            "bounds of a piece are not a list of ranges");
}
