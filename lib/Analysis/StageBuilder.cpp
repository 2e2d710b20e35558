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
  for (auto expect : graph.getBody().getOps<tv::ExpectOp>()) {
    expects.push_back(expect);
    // A sum says nothing about one of its terms.
    if (expect.getValues().size() == 1 &&
        expect.getLineage().getSumAxes().empty())
      lemmas[expect.getValues().front()].push_back(expect);
  }
}

tv::ExpectOp StageBuilder::findLemma(Value value) const {
  Operation *producer = value.getDefiningOp();
  auto produced = producer->getAttrOfType<tv::DomainAttr>("domain");
  auto found = lemmas.find(value);
  if (found == lemmas.end() || !produced)
    return {};
  for (tv::ExpectOp expect : found->second)
    if (!broken.contains(expect) &&
        produced.isSubsetOf(expect.getDomain(), tv::GraphOp(graph).getMesh()))
      return expect;
  return {};
}

namespace {
/// The ops and boundary of one side of a stage.
struct Cone {
  llvm::SetVector<Operation *> ops;
  /// Values at which the cone ends.
  llvm::SetVector<Value> ends;
};
} // namespace

/// Collects what `roots` depend on, up to values at which `isEnd` holds.
static Cone getCone(ValueRange roots, llvm::function_ref<bool(Value)> isEnd,
                    size_t limit) {
  Cone cone;
  SmallVector<Value> worklist(roots);
  while (!worklist.empty() && cone.ops.size() <= limit) {
    Value value = worklist.pop_back_val();
    if (isEnd(value)) {
      cone.ends.insert(value);
      continue;
    }
    Operation *op = value.getDefiningOp();
    if (cone.ops.insert(op))
      llvm::append_range(worklist, llvm::reverse(op->getOperands()));
  }
  return cone;
}

static SmallVector<Operation *>
inOrder(const llvm::SetVector<Operation *> &ops) {
  SmallVector<Operation *> sorted(ops.begin(), ops.end());
  llvm::sort(sorted, [](Operation *left, Operation *right) {
    return left->isBeforeInBlock(right);
  });
  return sorted;
}

tv::StageOp StageBuilder::build(tv::ExpectOp expect, OpBuilder &builder,
                                SmallVectorImpl<tv::ExpectOp> &assumed,
                                size_t limit) {
  llvm::DenseSet<Value> roots(expect.getValues().begin(),
                              expect.getValues().end());
  llvm::MapVector<Value, tv::ExpectOp> used;
  Cone plan = getCone(
      expect.getValues(),
      [&](Value value) {
        if (isa<tv::DistributeOp>(value.getDefiningOp()))
          return true;
        tv::ExpectOp lemma =
            roots.contains(value) ? tv::ExpectOp() : findLemma(value);
        if (lemma)
          used[value] = lemma;
        return static_cast<bool>(lemma);
      },
      limit);
  llvm::SetVector<Value> tensors;
  for (Value end : plan.ends) {
    auto lemma = used.find(end);
    tensors.insert(lemma != used.end()
                       ? lemma->second.getReference()
                       : end.getDefiningOp<tv::DistributeOp>().getReference());
  }
  Cone reference = getCone(
      expect.getReference(),
      [&](Value value) {
        return tensors.contains(value) ||
               isa<tv::InputOp>(value.getDefiningOp());
      },
      limit);
  if (plan.ops.size() > limit || reference.ops.size() > limit)
    return {};
  tensors.insert(reference.ends.begin(), reference.ends.end());

  int64_t number = expect.getNumber().value_or(0);
  auto stage = tv::StageOp::create(
      builder, expect.getLoc(), ("stage" + Twine(number)).str(),
      graph.getMesh(), ArrayRef<int64_t>(number), ArrayAttr());
  Block &body = stage.getBody().emplaceBlock();
  OpBuilder inner = OpBuilder::atBlockEnd(&body);
  IRMapping mapping;
  for (Value tensor : tensors)
    mapping.map(tensor, body.addArgument(tensor.getType(), tensor.getLoc()));
  for (Operation *op : inOrder(reference.ops))
    inner.clone(*op, mapping);
  SmallVector<Value> ends(plan.ends.begin(), plan.ends.end());
  for (Value end : ends) {
    auto lemma = used.find(end);
    if (lemma == used.end()) {
      inner.clone(*end.getDefiningOp(), mapping);
      continue;
    }
    tv::ExpectOp given = lemma->second;
    mapping.map(end,
                tv::DistributeOp::create(inner, end.getLoc(), end.getType(),
                                         mapping.lookup(given.getReference()),
                                         given.getLineage(), given.getDomain(),
                                         given.getNumberAttr()));
    assumed.push_back(given);
  }
  for (Operation *op : inOrder(plan.ops))
    inner.clone(*op, mapping);
  inner.clone(*expect, mapping);
  return stage;
}

namespace {
/// Writes the content of a stage with numbers for names.
class KeyWriter {
public:
  virtual ~KeyWriter() = default;

  std::string write(tv::StageOp stage) {
    add(stage.getMesh());
    for (BlockArgument argument : stage.getBody().getArguments()) {
      values[argument] = values.size();
      add(argument.getType());
    }
    for (Operation &op : stage.getBody().front())
      write(op);
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

  void write(Operation &op) {
    add(op.getName());
    for (Value operand : op.getOperands())
      add(values.lookup(operand));
    for (NamedAttribute attribute : op.getAttrs()) {
      StringRef name = attribute.getName();
      if (name == "assumes" || name == "number" || name == "contract")
        continue;
      add(attribute.getName());
      if (auto domain = dyn_cast<tv::DomainAttr>(attribute.getValue()))
        addDomain(domain);
      else
        add(attribute.getValue());
    }
    for (Value result : op.getResults()) {
      values[result] = values.size();
      add(result.getType());
    }
    add(~uint64_t(0));
  }

  llvm::DenseMap<Value, uint64_t> values;
};

/// Writes text, with its length before it.
class TextWriter : public KeyWriter {
public:
  bool hasFailed() const { return isWithoutText; }

private:
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

std::string StageBuilder::getKey(tv::StageOp stage) {
  return KeyWriter().write(stage);
}

std::optional<std::string> StageBuilder::getText(tv::StageOp stage) {
  TextWriter writer;
  std::string text = writer.write(stage);
  if (writer.hasFailed())
    return std::nullopt;
  return text;
}
