//===- StageBuilder.cpp - cuts a graph into units of proof ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify/Analysis/StageBuilder.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace verify;

StageBuilder::StageBuilder(tv::GraphOp graph) : graph(graph) {
  llvm::append_range(expects, graph.getBody().getOps<tv::ExpectOp>());
  lemmas.reserve(expects.size());
  for (tv::ExpectOp expect : expects) {
    // A sum says nothing about one of its terms.
    if (expect.getValues().size() == 1 &&
        expect.getLineage().getSumAxes().empty())
      lemmas[expect.getValues().front()].push_back(expect);
  }
}

tv::ExpectOp StageBuilder::findLemma(Value value,
                                     const Expects &excluded) const {
  auto found = lemmas.find(value);
  if (found == lemmas.end())
    return {};
  auto produced =
      value.getDefiningOp()->getAttrOfType<tv::DomainAttr>("domain");
  if (!produced)
    return {};
  for (tv::ExpectOp expect : found->second)
    if (!broken.contains(expect) && !excluded.contains(expect) &&
        produced.isSubsetOf(expect.getDomain(), tv::GraphOp(graph).getMesh()))
      return expect;
  return {};
}

namespace {
/// The ops and boundary of one side of a stage.
struct Cone {
  /// Each after what it takes. The order is that of operands, from the roots,
  /// and not that of the graph: there the ops of devices, layers and stages of
  /// a pipeline are mixed in many ways.
  SmallVector<Operation *> ops;
  /// Values at which the cone ends.
  llvm::SmallSetVector<Value, 8> ends;
  bool isTooLarge = false;
};
} // namespace

/// Collects what `roots` depend on, up to values at which `isEnd` holds.
static Cone getCone(ValueRange roots, llvm::function_ref<bool(Value)> isEnd,
                    size_t limit) {
  Cone cone;
  llvm::SmallDenseSet<Operation *, 16> entered;
  // Ops whose operands are being visited, and how many of them were.
  SmallVector<std::pair<Operation *, unsigned>> open;
  auto enter = [&](Value value) {
    if (cone.ends.contains(value))
      return;
    Operation *op = value.getDefiningOp();
    if (isEnd(value))
      cone.ends.insert(value);
    else if (entered.insert(op).second)
      open.push_back({op, 0});
  };
  for (Value root : roots) {
    enter(root);
    while (!open.empty() && entered.size() <= limit) {
      auto &[op, visited] = open.back();
      if (visited < op->getNumOperands()) {
        enter(op->getOperand(visited++));
        continue;
      }
      cone.ops.push_back(op);
      open.pop_back();
    }
    cone.isTooLarge |= entered.size() > limit;
    if (cone.isTooLarge)
      return cone;
  }
  return cone;
}

bool StageOutline::hasUndefined() const {
  auto isUndefined = [](Operation *op) { return isa<tv::UndefinedOp>(op); };
  return llvm::any_of(reference, isUndefined) ||
         llvm::any_of(plan, isUndefined);
}

std::optional<StageOutline>
StageBuilder::outline(tv::ExpectOp expect, size_t limit,
                      const Expects &excluded) const {
  llvm::SmallDenseSet<Value, 4> roots(expect.getValues().begin(),
                                      expect.getValues().end());
  StageOutline outline;
  outline.expect = expect;
  llvm::SmallDenseMap<Value, tv::ExpectOp, 8> used;
  Cone plan = getCone(
      expect.getValues(),
      [&](Value value) {
        if (isa<tv::DistributeOp>(value.getDefiningOp()))
          return true;
        tv::ExpectOp lemma =
            roots.contains(value) ? tv::ExpectOp() : findLemma(value, excluded);
        if (lemma)
          used[value] = lemma;
        return static_cast<bool>(lemma);
      },
      limit);
  for (Value begin : plan.ends) {
    tv::ExpectOp lemma = used.lookup(begin);
    outline.begins.push_back({begin, lemma});
    outline.tensors.insert(
        lemma ? lemma.getReference()
              : begin.getDefiningOp<tv::DistributeOp>().getReference());
  }
  Cone reference = getCone(
      expect.getReference(),
      [&](Value value) {
        return outline.tensors.contains(value) ||
               isa<tv::InputOp>(value.getDefiningOp());
      },
      limit);
  if (plan.isTooLarge || reference.isTooLarge)
    return std::nullopt;
  outline.tensors.insert(reference.ends.begin(), reference.ends.end());
  outline.reference = std::move(reference.ops);
  outline.plan = std::move(plan.ops);
  return outline;
}

tv::StageOp StageBuilder::build(const StageOutline &outline,
                                OpBuilder &builder) {
  tv::ExpectOp expect = outline.expect;
  int64_t number = expect.getNumber().value_or(0);
  auto stage = tv::StageOp::create(
      builder, expect.getLoc(), ("stage" + Twine(number)).str(),
      graph.getMesh(), ArrayRef<int64_t>(number), ArrayAttr());
  Block &body = stage.getBody().emplaceBlock();
  OpBuilder inner = OpBuilder::atBlockEnd(&body);
  IRMapping mapping;
  for (Value tensor : outline.tensors)
    mapping.map(tensor, body.addArgument(tensor.getType(), tensor.getLoc()));
  for (Operation *op : outline.reference)
    inner.clone(*op, mapping);
  for (auto [begin, lemma] : outline.begins) {
    if (!lemma) {
      inner.clone(*begin.getDefiningOp(), mapping);
      continue;
    }
    tv::ExpectOp given = lemma;
    mapping.map(begin,
                tv::DistributeOp::create(inner, begin.getLoc(), begin.getType(),
                                         mapping.lookup(given.getReference()),
                                         given.getLineage(), given.getDomain(),
                                         given.getNumber()));
  }
  for (Operation *op : outline.plan)
    inner.clone(*op, mapping);
  inner.clone(*expect, mapping);
  return stage;
}

/// Names all of a tensor.
static tv::LineageAttr getWhole(RankedTensorType type) {
  MLIRContext *context = type.getContext();
  SmallVector<ArrayAttr> dimensions;
  for (int64_t size : type.getShape())
    dimensions.push_back(ArrayAttr::get(
        context,
        tv::DimensionFactorAttr::get(context, StringAttr(), 0, size, size)));
  return tv::LineageAttr::get(context, dimensions, {});
}

tv::StageOp StageBuilder::buildDefinition(Value tensor,
                                          llvm::function_ref<bool(Value)> isEnd,
                                          size_t limit, OpBuilder &builder) {
  Cone cone = getCone(
      tensor,
      [&](Value value) {
        return value != tensor &&
               (isa<tv::InputOp>(value.getDefiningOp()) || isEnd(value));
      },
      limit);
  if (cone.isTooLarge)
    return {};
  Location location = tensor.getLoc();
  auto stage =
      tv::StageOp::create(builder, location, "definition", graph.getMesh(),
                          ArrayRef<int64_t>(0), ArrayAttr());
  OpBuilder inner = OpBuilder::atBlockEnd(&stage.getBody().emplaceBlock());
  IRMapping mapping;
  for (Value end : cone.ends)
    mapping.map(end, inner.getBlock()->addArgument(end.getType(), location));
  for (Operation *op : cone.ops)
    inner.clone(*op, mapping);
  auto type = cast<RankedTensorType>(tensor.getType());
  Value itself = mapping.lookup(tensor);
  auto domain = tv::DomainAttr::get(builder.getContext(), {});
  Value given = tv::DistributeOp::create(inner, location, type, itself,
                                         getWhole(type), domain, std::nullopt);
  tv::ExpectOp::create(inner, location, given, itself, getWhole(type), domain,
                       /*number=*/0, tv::ContractAttr());
  return stage;
}

namespace {
/// Writes the content of a stage with numbers for names.
class KeyWriter {
public:
  virtual ~KeyWriter() = default;

  std::string write(tv::StageOp stage) {
    add(stage.getMesh());
    for (BlockArgument argument : stage.getBody().getArguments())
      addTensor(argument);
    for (Operation &op : stage.getBody().front())
      write(op);
    return std::move(key);
  }

  /// What the same gives for the stage that is built of an outline.
  std::string write(const StageOutline &outline, tv::MeshAttr mesh) {
    add(mesh);
    for (Value tensor : outline.tensors)
      addTensor(tensor);
    for (Operation *op : outline.reference)
      write(*op);
    for (auto [begin, lemma] : outline.begins) {
      if (lemma)
        write(begin, lemma);
      else
        write(*begin.getDefiningOp());
    }
    for (Operation *op : outline.plan)
      write(*op);
    write(*outline.expect);
    return std::move(key);
  }

protected:
  void add(uint64_t number) {
    key.append(reinterpret_cast<const char *>(&number), sizeof(number));
  }
  /// Attributes, types and names are unique within a context.
  virtual void add(Attribute attribute) {
    add(reinterpret_cast<uint64_t>(attribute.getAsOpaquePointer()));
  }
  virtual void add(Type type) {
    add(reinterpret_cast<uint64_t>(type.getAsOpaquePointer()));
  }
  virtual void add(OperationName name) {
    add(reinterpret_cast<uint64_t>(name.getAsOpaquePointer()));
  }

  std::string key;

private:
  /// On which devices an op runs decides nothing: each value has an op of its
  /// own, and what is read of another device is an operand.
  void addDomain(tv::DomainAttr domain) {
    for (tv::AxisSetAttr set : domain.getSets())
      if (set.getAxis().getValue() != "device")
        add(set);
  }

  void addOperand(Value operand) {
    auto found = values.find(operand);
    // Ops stand after what they take; what is not there is like nothing else.
    add(found != values.end()
            ? found->second
            : reinterpret_cast<uint64_t>(operand.getAsOpaquePointer()));
  }

  void addTensor(Value tensor) {
    values[tensor] = values.size();
    add(tensor.getType());
  }

  void addNamed(StringAttr name, Attribute attribute) {
    if (!attribute || name == "assumes" || name == "number" ||
        name == "contract")
      return;
    add(name);
    if (auto domain = dyn_cast<tv::DomainAttr>(attribute))
      addDomain(domain);
    else
      add(attribute);
  }

  void addResults(ValueRange results) {
    for (Value result : results)
      addTensor(result);
    add(~uint64_t(0));
  }

  void write(Operation &op) {
    add(op.getName());
    for (Value operand : op.getOperands())
      addOperand(operand);
    for (StringAttr name : op.getName().getAttributeNames())
      addNamed(name, op.getInherentAttr(name).value_or(Attribute()));
    for (NamedAttribute attribute : op.getDiscardableAttrs())
      addNamed(attribute.getName(), attribute.getValue());
    addResults(op.getResults());
  }

  /// The value of a lemma, as `StageBuilder::build` distributes it.
  void write(Value begin, tv::ExpectOp lemma) {
    OperationName name(tv::DistributeOp::getOperationName(),
                       lemma->getContext());
    add(name);
    addOperand(lemma.getReference());
    for (StringAttr attribute : name.getAttributeNames())
      addNamed(attribute,
               lemma->getInherentAttr(attribute).value_or(Attribute()));
    addResults(begin);
  }

  llvm::SmallDenseMap<Value, uint64_t, 16> values;
};

/// Writes text, with its length before it.
class TextWriter : public KeyWriter {
public:
  bool hasFailed() const { return isWithoutText; }

protected:
  using KeyWriter::add;
  void addText(StringRef text) {
    add(text.size());
    key += text;
  }
  void add(Type type) override {
    std::string text;
    llvm::raw_string_ostream(text) << type;
    addText(text);
  }
  void add(OperationName name) override { addText(name.getStringRef()); }
  void add(Attribute attribute) override {
    // Flags may shorten how elements are printed.
    if (auto elements = dyn_cast<DenseIntOrFPElementsAttr>(attribute)) {
      add(elements.getType());
      ArrayRef<char> data = elements.getRawData();
      return addText(StringRef(data.data(), data.size()));
    }
    attribute.walk([&](Attribute part) {
      isWithoutText |= isa<ElementsAttr>(part) && !isa<DenseArrayAttr>(part);
    });
    std::string text;
    llvm::raw_string_ostream(text) << attribute;
    addText(text);
  }

  bool isWithoutText = false;
};
} // namespace

std::string StageBuilder::getKey(const StageOutline &outline) {
  return KeyWriter().write(outline, graph.getMesh());
}

std::optional<std::string> StageBuilder::getText(tv::StageOp stage) {
  TextWriter writer;
  std::string text = writer.write(stage);
  if (writer.hasFailed())
    return std::nullopt;
  return text;
}
