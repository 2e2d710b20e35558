//===- Importer.h - state shared by the parts of the importer ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_NNSCALER_IMPORTER_H
#define VERIFY_LIB_NNSCALER_IMPORTER_H

#include "Verify/IR/TVOps.h"
#include "Verify/NnScaler/Import.h"
#include "Verify/NnScaler/PlanFile.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

#include <atomic>

namespace verify::nnscaler {

/// Names of what segments share with the rest of a plan, built once for a plan.
class PlanContext {
public:
  PlanContext(const PlanFile &plan, llvm::StringRef fileName,
              const ImportOptions &options, mlir::MLIRContext *context);

  const PlanFile &plan;
  const ImportOptions &options;
  mlir::MLIRContext *context;
  /// In what way what was met last cannot be executed; null if it can, or if
  /// that is not known. Programs are imported side by side.
  mutable std::atomic<const char *> malformation = nullptr;

  /// The source line of a node, and its name and number; of the op that
  /// computes its first tensor if it has none of its own.
  mlir::Location getLocation(const Node &node) const;
  /// The source line of the op that computes a tensor, or of the first one that
  /// reads it.
  mlir::Location getLocation(const SubTensor &tensor) const;
  /// The type of a sub-tensor; null after an error if its dtype is unknown.
  /// Complex tensors get a last dimension of real and imaginary part.
  mlir::RankedTensorType getType(const SubTensor &tensor,
                                 mlir::Location location) const;
  /// What the plan states about a sub-tensor.
  tv::PieceAttr getPiece(const SubTensor &tensor) const;
  bool isComplex(const SubTensor &tensor) const;
  const SubTensor &get(const Argument &argument) const {
    return plan.subTensors[argument.tensor];
  }
  /// Whether the tensor, or the one whose gradient it is, is a copy made for
  /// one consumer. Plans number and group copies differently, so what they
  /// state about one says nothing about the reference.
  bool isConsumerCopy(const SubTensor &tensor) const;
  /// Whether the tensor is a gradient to which several ops contribute.
  bool isPartialGradient(const SubTensor &tensor) const;
  bool isLossGradient(const SubTensor &tensor) const;
  /// Name of the buffer that holds parameter `tensor` on `device`.
  std::string getBufferName(const SubTensor &tensor, int64_t device) const;
  std::string getGradientName(const SubTensor &tensor, int64_t device) const;
  /// A primitive of the adapter with this id, or its transpose.
  struct PrimitivePlace {
    int64_t adapter;
    unsigned number;
    bool isTransposed;
  };
  /// Declared start of the tensor that `device` passes to a primitive, or is
  /// given by it, along `dimension`.
  std::optional<int64_t> getDeclaredStart(const PrimitivePlace &place,
                                          int64_t device, bool isGiven,
                                          int64_t dimension) const;

private:
  /// What the plan says about a full tensor.
  struct Full {
    Index forward = none; ///< the full tensor that it is the gradient of
    /// The forward node that makes it, or what it is a copy of.
    Index producer = none;
    Index reader = none;   ///< the first one that takes it
    Index consumer = none; ///< the first one of those that have a backward
    bool isLossGradient = false;
    bool isConsumerCopy = false;
    /// Ops of several kinds read it, or several ops of one device: each gives a
    /// term of its gradient.
    bool hasSeveralConsumers = false;
    bool isExtended = false; ///< it may be minus infinity
  };
  void notePlaces();
  void noteForward(Index index, Index segment);
  void propagateExtended();
  mlir::Location getPlace(llvm::StringRef file, uint32_t line) const;

  llvm::StringRef fileName;
  std::vector<Full> fulls;
  /// By address of the name of the file, and line: one of a few.
  llvm::DenseMap<std::pair<const char *, uint32_t>, mlir::Location> places;
  /// The name of nodes and that of their backward ops, by place of the former.
  using TextKey = std::pair<const char *, size_t>;
  static TextKey getKey(llvm::StringRef text) {
    return {text.data(), text.size()};
  }
  llvm::DenseMap<TextKey, std::pair<mlir::StringAttr, mlir::StringAttr>>
      namesOf;
  /// What is read by a device, in a segment: full tensors.
  llvm::DenseSet<std::tuple<Index, int64_t, Index>> reads;
  /// From what a node takes to what it makes, where that is minus infinity if
  /// the former is.
  std::vector<std::pair<Index, Index>> keptInfinities;
  llvm::DenseMap<std::pair<int64_t, int64_t>, Index> adapterOnDevice;
};

/// Calls the tensors of a plan by the numbers that the reference has for them,
/// if the plans were made of two traces of the model.
void alignTensors(tv::PlanOp reference, tv::PlanOp plan);

/// Imports the nodes of one cell on one device.
class SegmentImporter {
public:
  SegmentImporter(const PlanContext &plan, int64_t device,
                  mlir::OpBuilder &builder)
      : plan(plan), device(device), builder(builder) {}

  /// Builds a `tv.segment` named `symbol` for `node`.
  llvm::LogicalResult importCell(const Node &node, llvm::StringRef symbol);

private:
  friend class ForwardImporter;
  friend class CommunicationImporter;

  llvm::LogicalResult importNode(const Node &node);
  llvm::LogicalResult importForward(const Node &node);
  llvm::LogicalResult importBackward(const Node &node);
  /// States what the gradients of a backward op are of, and adds them up.
  void keepGradients(const Node &node, const Node &forward,
                     tv::BackwardOp backward);
  /// What the primitives of an adapter give.
  struct AdapterResults {
    /// Whether each runs on the adapter's own tensors.
    bool isTransposed = false;
    llvm::SmallDenseSet<int64_t> given; ///< results of the adapter, by number
    /// Gradients between two primitives are the adapter's own, whatever else in
    /// the segment has their number: what that is.
    llvm::MapVector<int64_t, mlir::Value> hidden;
    llvm::SmallDenseSet<int64_t> added; ///< gradients, by number
  };
  llvm::LogicalResult importAdapter(const Node &node);
  llvm::LogicalResult importAdapterPrimitive(const Node &node, unsigned number,
                                             AdapterResults &results);
  /// The value of a tensor here: computed before, an argument, a parameter, or
  /// `tv.undefined`. `isGiven`: what is at the location has to give it. Null
  /// after an error.
  mlir::Value read(const Argument &argument, mlir::Location location,
                   bool isGiven = false);
  /// What an adapter names as its output and no primitive gives is undefined,
  /// at the adapter.
  llvm::LogicalResult defineMissing(const Node &adapter,
                                    mlir::Location location);
  /// A gradient that is legally absent is zero.
  mlir::Value readGradient(const Argument &argument, const Node &forward,
                           unsigned output, mlir::Location location);
  bool isLegallyAbsent(const Node &forward, unsigned output) const;
  /// Records what `tensor` holds from now on.
  void define(const SubTensor &tensor, mlir::Value value);
  /// Records a gradient: one that is there already is added to.
  void accumulate(const SubTensor &tensor, mlir::Value value,
                  mlir::Location location);
  /// States of `value`, if an op gives it, which part it is of what.
  void state(mlir::Value value, const SubTensor &tensor);
  /// Writes what is stated in the end on the ops.
  void writeStatements();

  const PlanContext &plan;
  int64_t device;
  mlir::OpBuilder &builder;
  const Node *cell = nullptr;
  llvm::DenseMap<int64_t, mlir::Value> values; ///< by sub-tensor id
  llvm::MapVector<mlir::Value, const SubTensor *> statements;
  llvm::SmallVector<tv::BackwardOp> backwards;
};

/// Imports what one device executes.
class ProgramImporter {
public:
  /// Builds at `builder`. What has no place of its own is at `fileLocation`.
  ProgramImporter(const PlanContext &plan, const DeviceProgram &program,
                  mlir::Location fileLocation, mlir::OpBuilder &builder)
      : plan(plan), file(plan.plan), program(program),
        fileLocation(fileLocation), builder(builder) {}

  /// The runtime knows cells and tensors by name and number. What is imported
  /// by number alone has to be the same thing wherever the number occurs.
  llvm::LogicalResult check();
  /// Builds a `tv.segment` for each cell that is executed.
  llvm::LogicalResult importSegments();
  /// Builds the `tv.program`.
  llvm::LogicalResult import();
  /// The outputs of the plan that the program gives, by number.
  llvm::ArrayRef<size_t> getOutputs() const { return outputs; }

private:
  llvm::LogicalResult importExecution(const Cell &cell);
  /// ` for execution 2 of 4` of what a cell executes; nothing if there is one.
  std::string describeExecution(const Cell &cell);
  llvm::LogicalResult importLoad(const Cell &cell, const Node &node);
  llvm::LogicalResult importReducer(const Node &node);
  /// The backward of a loss starts from one, whatever else the plan has: makes
  /// that the value of the tensor `executed`, if this is where it starts.
  llvm::LogicalResult startFromLoss(const Node &node, const SubTensor &own,
                                    const SubTensor &executed,
                                    mlir::RankedTensorType type,
                                    mlir::Value &value);
  llvm::LogicalResult importOutputs();
  /// The name of the segment of a cell.
  std::string getSymbol(const Node &node) const;
  /// Where the node is that a cell executes, which other cells do as well.
  mlir::Location getLocation(const Cell &cell);

  const PlanContext &plan;
  const PlanFile &file;
  const DeviceProgram &program;
  mlir::Location fileLocation;
  mlir::OpBuilder &builder;
  llvm::DenseMap<int64_t, mlir::Value> values;     ///< by tensor id
  llvm::DenseMap<Index, mlir::Location> locations; ///< by node
  llvm::SmallVector<size_t, 1> outputs;
  llvm::DenseMap<const Cell *, unsigned> placeOfExecution; ///< if asked for
  llvm::DenseMap<Index, unsigned> executionCount;          ///< by node
};

/// Imports one forward op: appends one value for each output to `results`.
/// Fails, after an error at `location`, at an op or keyword it does not know.
llvm::LogicalResult
importForwardOp(const PlanContext &plan, const Node &node,
                llvm::ArrayRef<mlir::Value> operands, mlir::OpBuilder &builder,
                mlir::Location location,
                llvm::SmallVectorImpl<mlir::Value> &results);

/// Whether the forward op's results may hold minus infinity by themselves, and
/// whether they may if an operand does.
bool makesMinusInfinity(const Node &node);
bool keepsMinusInfinity(const Node &node);

/// Whether no gradient passes through a forward op: its results do not depend
/// on the values it takes, or it detaches them, whatever its backward is.
bool stopsGradients(const Node &node);
bool detachesResults(const Node &node);
/// Whether a gradient passes to the first operand of a forward op alone.
bool ignoresOthers(const Node &node);

/// Whether two primitives have the same backward, whatever tensors they take.
bool haveEqualTransposes(const Primitive &left, const Primitive &right);
/// Whether the backward of a primitive is an identity.
bool isIdentityTransposed(const Primitive &primitive);
/// Whether the primitive is one, in both directions.
bool isIdentity(const Primitive &primitive);
/// Whether autograd does not pass the primitive, which has no backward.
bool detaches(const Primitive &primitive);
/// Whether what the primitive gives is the very tensor that it is given, under
/// whatever name.
bool passesOperand(const Primitive &primitive);
/// Whether the primitive returns the very tensor that it is given, in place.
bool returnsOperand(const Primitive &primitive);

/// What one device does in a primitive.
struct PrimitiveContext {
  const PlanContext &plan;
  const Node &adapter;
  unsigned number;
  int64_t device;
  mlir::OpBuilder &builder;
  mlir::Location location;
};

/// Imports one primitive: `inputs` is empty where the device only receives, the
/// result is null where it only sends. With `transposed`, the primitive stands
/// for its backward. `result` is the tensor it gives, if any.
llvm::FailureOr<mlir::Value> importPrimitive(PrimitiveContext &context,
                                             const Primitive &primitive,
                                             llvm::ArrayRef<mlir::Value> inputs,
                                             const SubTensor *result,
                                             bool transposed);

/// Whether the primitive overwrites the tensor it is given.
bool isInPlace(const Primitive &primitive);

} // namespace verify::nnscaler

#endif // VERIFY_LIB_NNSCALER_IMPORTER_H
