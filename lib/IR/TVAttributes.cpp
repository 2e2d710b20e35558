//===- TVAttributes.cpp - text form and checks of the attributes ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Parsing, printing and verification of mesh, domain, lineage and piece. A
// malformed attribute cannot be built, so passes need not check again.
//
//===----------------------------------------------------------------------===//

#include "Verify/IR/TVDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace verify::tv;

#define GET_ATTRDEF_CLASSES
#include "Verify/IR/TVAttributes.cpp.inc"

void TVDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "Verify/IR/TVAttributes.cpp.inc"
      >();
}

using EmitError = llvm::function_ref<InFlightDiagnostic()>;

//===----------------------------------------------------------------------===//
// AxisAttr, MeshAttr
//===----------------------------------------------------------------------===//

LogicalResult AxisAttr::verify(EmitError emitError, StringAttr name,
                               int64_t size) {
  if (size < 1)
    return emitError() << "axis '" << name.getValue() << "' has size " << size;
  return success();
}

LogicalResult MeshAttr::verify(EmitError emitError, ArrayRef<AxisAttr> axes) {
  // Sets of axes are the bits of a number.
  constexpr size_t maxAxes = 64;
  if (axes.size() > maxAxes)
    return emitError() << "mesh has more than " << maxAxes << " axes";
  llvm::SmallSet<StringRef, 4> names;
  int64_t points = 1;
  for (AxisAttr axis : axes) {
    if (!names.insert(axis.getName().getValue()).second)
      return emitError() << "axis '" << axis.getName().getValue()
                         << "' occurs twice";
    if (llvm::MulOverflow(points, axis.getSize(), points))
      return emitError() << "mesh has more than 2^63 points";
  }
  return success();
}

std::optional<int64_t> MeshAttr::getAxisSize(StringRef name) const {
  for (AxisAttr axis : getAxes())
    if (axis.getName().getValue() == name)
      return axis.getSize();
  return std::nullopt;
}

Attribute MeshAttr::parse(AsmParser &parser, Type) {
  SmallVector<AxisAttr> axes;
  auto parseAxis = [&]() -> ParseResult {
    std::string name;
    int64_t size;
    SMLoc location = parser.getCurrentLocation();
    if (parser.parseKeywordOrString(&name) || parser.parseEqual() ||
        parser.parseInteger(size))
      return failure();
    AxisAttr axis = AxisAttr::getChecked(
        [&] { return parser.emitError(location); }, parser.getContext(),
        StringAttr::get(parser.getContext(), name), size);
    if (!axis)
      return failure();
    axes.push_back(axis);
    return success();
  };
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater,
                                     parseAxis))
    return {};
  return MeshAttr::getChecked([&] { return parser.emitError(location); },
                              parser.getContext(), axes);
}

void MeshAttr::print(AsmPrinter &printer) const {
  printer << '<';
  llvm::interleaveComma(getAxes(), printer, [&](AxisAttr axis) {
    printer.printKeywordOrString(axis.getName().getValue());
    printer << " = " << axis.getSize();
  });
  printer << '>';
}

//===----------------------------------------------------------------------===//
// AxisSetAttr, DomainAttr
//===----------------------------------------------------------------------===//

LogicalResult AxisSetAttr::verify(EmitError emitError, StringAttr axis,
                                  ArrayRef<int64_t> bounds) {
  if (bounds.empty() || bounds.size() % 2)
    return emitError() << "set of axis '" << axis.getValue()
                       << "' is not a nonempty list of intervals";
  int64_t last = -1;
  for (int64_t bound : bounds) {
    if (bound <= last)
      return emitError() << "intervals of axis '" << axis.getValue()
                         << "' are not sorted, nonempty and disjoint";
    last = bound;
  }
  return success();
}

int64_t AxisSetAttr::size() const {
  int64_t count = 0;
  for (size_t i = 0; i < getBounds().size(); i += 2)
    count += getBounds()[i + 1] - getBounds()[i];
  return count;
}

bool AxisSetAttr::contains(int64_t coordinate) const {
  for (size_t i = 0; i < getBounds().size(); i += 2)
    if (coordinate >= getBounds()[i] && coordinate < getBounds()[i + 1])
      return true;
  return false;
}

bool AxisSetAttr::isSubsetOf(AxisSetAttr other) const {
  for (size_t i = 0; i < getBounds().size(); i += 2) {
    bool covered = false;
    for (size_t j = 0; j < other.getBounds().size(); j += 2)
      covered |= getBounds()[i] >= other.getBounds()[j] &&
                 getBounds()[i + 1] <= other.getBounds()[j + 1];
    if (!covered)
      return false;
  }
  return true;
}

static ParseResult parseIntervals(AsmParser &parser,
                                  SmallVectorImpl<int64_t> &bounds) {
  do {
    int64_t start, end;
    OptionalParseResult isInteger = parser.parseOptionalInteger(start);
    if (!isInteger.has_value())
      return parser.emitError(parser.getCurrentLocation(),
                              "expected a coordinate or 'start:end'");
    if (failed(*isInteger))
      return failure();
    bool isLast = llvm::AddOverflow(start, int64_t(1), end);
    if (succeeded(parser.parseOptionalColon())) {
      if (parser.parseInteger(end))
        return failure();
    } else if (isLast) {
      return parser.emitError(parser.getCurrentLocation(),
                              "no coordinate comes after ")
             << start;
    }
    bounds.append({start, end});
  } while (succeeded(parser.parseOptionalVerticalBar()));
  return success();
}

static AxisSetAttr parseAxisSet(AsmParser &parser) {
  std::string name;
  SmallVector<int64_t> bounds;
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseKeywordOrString(&name) || parser.parseEqual() ||
      parseIntervals(parser, bounds))
    return {};
  return AxisSetAttr::getChecked(
      [&] { return parser.emitError(location); }, parser.getContext(),
      StringAttr::get(parser.getContext(), name), bounds);
}

static void printAxisSet(AsmPrinter &printer, AxisSetAttr set) {
  printer.printKeywordOrString(set.getAxis().getValue());
  printer << " = ";
  for (size_t i = 0; i < set.getBounds().size(); i += 2) {
    if (i)
      printer << " | ";
    printer << set.getBounds()[i];
    if (set.getBounds()[i + 1] != set.getBounds()[i] + 1)
      printer << ':' << set.getBounds()[i + 1];
  }
}

Attribute AxisSetAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  AxisSetAttr set = parseAxisSet(parser);
  if (!set || parser.parseGreater())
    return {};
  return set;
}

void AxisSetAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printAxisSet(printer, *this);
  printer << '>';
}

LogicalResult DomainAttr::verify(EmitError emitError,
                                 ArrayRef<AxisSetAttr> sets) {
  for (size_t i = 1; i < sets.size(); ++i)
    if (sets[i - 1].getAxis().getValue() >= sets[i].getAxis().getValue())
      return emitError() << "axes of a domain are not sorted: '"
                         << sets[i].getAxis().getValue() << "'";
  return success();
}

AxisSetAttr DomainAttr::getSet(StringRef axis) const {
  for (AxisSetAttr set : getSets())
    if (set.getAxis().getValue() == axis)
      return set;
  return {};
}

bool DomainAttr::isSubsetOf(DomainAttr other, MeshAttr mesh) const {
  for (AxisSetAttr set : other.getSets()) {
    StringAttr axis = set.getAxis();
    AxisSetAttr own = getSet(axis.getValue());
    if (!own) {
      std::optional<int64_t> size = mesh.getAxisSize(axis.getValue());
      if (!size)
        return false;
      own = AxisSetAttr::get(getContext(), axis, {0, *size});
    }
    if (!own.isSubsetOf(set))
      return false;
  }
  return true;
}

Attribute DomainAttr::parse(AsmParser &parser, Type) {
  SmallVector<AxisSetAttr> sets;
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseCommaSeparatedList(
          AsmParser::Delimiter::LessGreater, [&]() -> ParseResult {
            sets.push_back(parseAxisSet(parser));
            return success(static_cast<bool>(sets.back()));
          }))
    return {};
  return DomainAttr::getChecked([&] { return parser.emitError(location); },
                                parser.getContext(), sets);
}

void DomainAttr::print(AsmPrinter &printer) const {
  printer << '<';
  llvm::interleaveComma(getSets(), printer,
                        [&](AxisSetAttr set) { printAxisSet(printer, set); });
  printer << '>';
}

//===----------------------------------------------------------------------===//
// DimensionFactorAttr, LineageAttr
//===----------------------------------------------------------------------===//

/// Checks that a range of an extent is inside it and not empty.
static LogicalResult verifyRange(EmitError emitError, int64_t start,
                                 int64_t end, int64_t extent) {
  if (start < 0 || end <= start || end > extent)
    return emitError() << "range " << start << ':' << end
                       << " is empty or not inside " << extent;
  return success();
}

LogicalResult DimensionFactorAttr::verify(EmitError emitError, StringAttr axis,
                                          int64_t start, int64_t end,
                                          int64_t extent) {
  return axis ? success() : verifyRange(emitError, start, end, extent);
}

/// Parses `start:end of extent`.
static ParseResult parseRange(AsmParser &parser, int64_t &start, int64_t &end,
                              int64_t &extent) {
  return failure(parser.parseInteger(start) || parser.parseColon() ||
                 parser.parseInteger(end) || parser.parseKeyword("of") ||
                 parser.parseInteger(extent));
}

static DimensionFactorAttr parseFactor(AsmParser &parser) {
  std::string name;
  StringAttr axis;
  int64_t start = 0, end = 0, extent = 0;
  SMLoc location = parser.getCurrentLocation();
  if (succeeded(parser.parseOptionalKeywordOrString(&name)))
    axis = StringAttr::get(parser.getContext(), name);
  else if (parseRange(parser, start, end, extent))
    return {};
  return DimensionFactorAttr::getChecked(
      [&] { return parser.emitError(location); }, parser.getContext(), axis,
      start, end, extent);
}

static void printFactor(AsmPrinter &printer, DimensionFactorAttr factor) {
  if (factor.getAxis())
    printer.printKeywordOrString(factor.getAxis().getValue());
  else
    printer << factor.getStart() << ':' << factor.getEnd() << " of "
            << factor.getExtent();
}

Attribute DimensionFactorAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  DimensionFactorAttr factor = parseFactor(parser);
  if (!factor || parser.parseGreater())
    return {};
  return factor;
}

void DimensionFactorAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printFactor(printer, *this);
  printer << '>';
}

LogicalResult LineageAttr::verify(EmitError emitError,
                                  ArrayRef<ArrayAttr> dimensions,
                                  ArrayRef<StringAttr> sumAxes) {
  for (ArrayAttr dimension : dimensions)
    for (Attribute factor : dimension)
      if (!isa<DimensionFactorAttr>(factor))
        return emitError() << "a dimension of a lineage holds a non-factor";
  return success();
}

SmallVector<int64_t> LineageAttr::getReferenceShape(MeshAttr mesh) const {
  SmallVector<int64_t> shape;
  for (ArrayAttr dimension : getDimensions()) {
    int64_t size = 1;
    for (auto factor : dimension.getAsRange<DimensionFactorAttr>()) {
      int64_t extent =
          factor.getAxis()
              ? mesh.getAxisSize(factor.getAxis().getValue()).value_or(0)
              : factor.getExtent();
      if (llvm::MulOverflow(size, extent, size))
        size = 0;
    }
    shape.push_back(size);
  }
  return shape;
}

SmallVector<int64_t> LineageAttr::getLocalShape() const {
  SmallVector<int64_t> shape;
  for (ArrayAttr dimension : getDimensions()) {
    int64_t size = 1;
    for (auto factor : dimension.getAsRange<DimensionFactorAttr>())
      if (!factor.getAxis() &&
          llvm::MulOverflow(size, factor.getEnd() - factor.getStart(), size))
        size = 0;
    shape.push_back(size);
  }
  return shape;
}

Attribute LineageAttr::parse(AsmParser &parser, Type) {
  SmallVector<ArrayAttr> dimensions;
  SmallVector<StringAttr> sumAxes;
  auto parseDimension = [&]() -> ParseResult {
    SmallVector<Attribute> factors;
    if (parser.parseCommaSeparatedList(
            AsmParser::Delimiter::Square, [&]() -> ParseResult {
              factors.push_back(parseFactor(parser));
              return success(static_cast<bool>(factors.back()));
            }))
      return failure();
    dimensions.push_back(ArrayAttr::get(parser.getContext(), factors));
    return success();
  };
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseLess())
    return {};
  if (succeeded(parser.parseOptionalGreater()))
    return LineageAttr::get(parser.getContext(), {}, {});
  if (failed(parser.parseOptionalKeyword("sum"))) {
    if (parser.parseCommaSeparatedList(parseDimension))
      return {};
    if (failed(parser.parseOptionalKeyword("sum"))) {
      if (parser.parseGreater())
        return {};
      return LineageAttr::getChecked([&] { return parser.emitError(location); },
                                     parser.getContext(), dimensions, sumAxes);
    }
  }
  if (parser.parseCommaSeparatedList([&]() -> ParseResult {
        std::string name;
        if (parser.parseKeywordOrString(&name))
          return failure();
        sumAxes.push_back(StringAttr::get(parser.getContext(), name));
        return success();
      }) ||
      parser.parseGreater())
    return {};
  return LineageAttr::getChecked([&] { return parser.emitError(location); },
                                 parser.getContext(), dimensions, sumAxes);
}

void LineageAttr::print(AsmPrinter &printer) const {
  printer << '<';
  llvm::interleaveComma(getDimensions(), printer, [&](ArrayAttr dimension) {
    printer << '[';
    llvm::interleaveComma(
        dimension.getAsRange<DimensionFactorAttr>(), printer,
        [&](DimensionFactorAttr factor) { printFactor(printer, factor); });
    printer << ']';
  });
  if (!getSumAxes().empty()) {
    printer << (getDimensions().empty() ? "sum " : " sum ");
    llvm::interleaveComma(getSumAxes(), printer, [&](StringAttr axis) {
      printer.printKeywordOrString(axis.getValue());
    });
  }
  printer << '>';
}

//===----------------------------------------------------------------------===//
// PieceAttr
//===----------------------------------------------------------------------===//

LogicalResult PieceAttr::verify(EmitError emitError, int64_t full,
                                bool gradient, ArrayRef<int64_t> bounds,
                                int64_t part, int64_t parts) {
  constexpr int64_t most = int64_t(1) << 62;
  if (full < -most || full > most)
    return emitError() << "tensor " << full << " has a number of over 62 bits";
  if (bounds.size() % 3)
    return emitError() << "bounds of a piece are not a list of ranges";
  for (size_t i = 0; i < bounds.size(); i += 3)
    if (failed(verifyRange(emitError, bounds[i], bounds[i + 1], bounds[i + 2])))
      return failure();
  if (part < 0 || part >= parts)
    return emitError() << "there is no term " << part << " of " << parts;
  return success();
}

Attribute PieceAttr::parse(AsmParser &parser, Type) {
  int64_t full, part = 0, parts = 1;
  SMLoc location = parser.getCurrentLocation();
  SmallVector<int64_t> bounds;
  if (parser.parseLess() || parser.parseInteger(full))
    return {};
  bool gradient = succeeded(parser.parseOptionalKeyword("gradient"));
  if (parser.parseComma() ||
      parser.parseCommaSeparatedList(
          AsmParser::Delimiter::Square, [&]() -> ParseResult {
            int64_t start, end, extent;
            if (parseRange(parser, start, end, extent))
              return failure();
            bounds.append({start, end, extent});
            return success();
          }))
    return {};
  if (succeeded(parser.parseOptionalComma()) &&
      (parser.parseInteger(part) || parser.parseKeyword("of") ||
       parser.parseInteger(parts)))
    return {};
  if (parser.parseGreater())
    return {};
  return PieceAttr::getChecked([&] { return parser.emitError(location); },
                               parser.getContext(), full, gradient, bounds,
                               part, parts);
}

void PieceAttr::print(AsmPrinter &printer) const {
  printer << '<' << getFull() << (getGradient() ? " gradient, [" : ", [");
  for (size_t i = 0; i + 2 < getBounds().size(); i += 3)
    printer << (i ? ", " : "") << getBounds()[i] << ':' << getBounds()[i + 1]
            << " of " << getBounds()[i + 2];
  printer << ']';
  if (getParts() != 1)
    printer << ", " << getPart() << " of " << getParts();
  printer << '>';
}
