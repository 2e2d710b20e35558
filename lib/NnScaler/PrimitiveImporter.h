//===- PrimitiveImporter.h - one communication primitive --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_NNSCALER_PRIMITIVEIMPORTER_H
#define VERIFY_LIB_NNSCALER_PRIMITIVEIMPORTER_H

#include "Importer.h"

namespace verify::nnscaler {

/// What a primitive does, forward or transposed.
enum class Action {
  Move,
  Broadcast,
  Reduce,
  Scatter,
  Gather,
  Select,
  MergeDimension,
  Sum,
  Chunk,
  AllGather,
  AllReduce,
  Identity,
  AllToAll,
  ReduceScatter
};

/// Imports one primitive on one device.
class PrimitiveImporter {
public:
  PrimitiveImporter(PrimitiveContext &context, const Primitive &primitive,
                    llvm::ArrayRef<mlir::Value> inputs, const SubTensor *result,
                    bool transposed)
      : context(context), primitive(primitive), inputs(inputs),
        input(inputs.empty() ? mlir::Value() : inputs[0]), result(result),
        transposed(transposed) {}

  llvm::FailureOr<mlir::Value> import();

private:
  mlir::InFlightDiagnostic error() {
    return mlir::emitError(context.location) << "'" << primitive.name << "': ";
  }
  /// The same where no runtime can execute what is there.
  mlir::InFlightDiagnostic error(llvm::StringLiteral malformation) {
    context.plan.malformation = malformation.data();
    return error();
  }
  static constexpr llvm::StringLiteral
      isOutside = "a device is outside the group of its collective",
      hasNoChunk = "a device keeps a part that there is not",
      hasNoPart = "a device has no part in a transfer that it executes",
      toItself = "a device sends to itself",
      namesNobody = "a device is named that the plan does not have";
  const Argument *find(llvm::StringRef name) {
    for (const KeywordArgument &keyword : primitive.keywords)
      if (keyword.name == name)
        return &keyword.value;
    return nullptr;
  }
  llvm::FailureOr<int64_t> integer(llvm::StringRef name);
  /// A dimension of the tensors that are given; a negative number counts from
  /// the last one.
  llvm::FailureOr<int64_t> findDimension(llvm::StringRef name);
  /// A device of the plan.
  llvm::FailureOr<int64_t> rank(llvm::StringRef name);
  llvm::LogicalResult checkDevice(int64_t device);
  /// Devices of the plan, in the order in which they are named.
  llvm::FailureOr<llvm::SmallVector<int64_t>> list(llvm::StringRef name);
  /// The devices named by `ranks`, sorted.
  llvm::FailureOr<llvm::SmallVector<int64_t>> group();
  llvm::FailureOr<mlir::RankedTensorType> resultType();
  /// The members in the order of the parts that they declare to give, or to
  /// keep; none where one declares none.
  std::optional<llvm::SmallVector<int64_t>>
  getDeclaredOrder(llvm::ArrayRef<int64_t> members, bool isGiven,
                   int64_t dimension) const;
  /// The order of the parts that the members of a collective declare.
  std::optional<llvm::SmallVector<int64_t>>
  getDeclaredOrder(llvm::ArrayRef<int64_t> members, tv::CollectiveKind kind,
                   int64_t dimension, std::optional<int64_t> split) const;
  llvm::FailureOr<mlir::Value>
  communicate(tv::CollectiveKind kind, std::optional<int64_t> dimension,
              std::optional<int64_t> split = std::nullopt);
  /// This device's part in a broadcast or a sum of which `root`, one of the
  /// group, is the source or the target.
  llvm::FailureOr<mlir::Value>
  communicateWith(int64_t root, tv::CollectiveKind kind, mlir::Value value);
  llvm::FailureOr<mlir::Value> move();
  llvm::FailureOr<mlir::Value> broadcast();
  llvm::FailureOr<mlir::Value> reduce();
  llvm::FailureOr<mlir::Value> scatter();
  llvm::FailureOr<mlir::Value> gather();
  llvm::FailureOr<mlir::Value> select();
  llvm::FailureOr<mlir::Value> mergeDimension();
  llvm::FailureOr<mlir::Value> sum();
  llvm::FailureOr<mlir::Value> chunk();
  llvm::FailureOr<mlir::Value> allGather();
  llvm::FailureOr<mlir::Value> allToAll();
  /// Whether the primitive calls the function of its class, with keywords and
  /// tensors that this takes.
  llvm::LogicalResult checkCall(llvm::StringRef function,
                                llvm::StringRef keywords);
  llvm::LogicalResult checkTransfer(const SubTensor &tensor, bool given);
  /// Fails if the device has no input to send, or names a result of sending.
  llvm::LogicalResult checkSender();
  llvm::FailureOr<mlir::Value> addUp(llvm::ArrayRef<mlir::Value> terms,
                                     mlir::RankedTensorType type);
  llvm::FailureOr<mlir::Value> cut(mlir::Value whole, int64_t dimension,
                                   int64_t start, int64_t end);

  PrimitiveContext &context;
  const Primitive &primitive;
  llvm::ArrayRef<mlir::Value> inputs;
  mlir::Value input; ///< the first, or null
  const SubTensor *result;
  bool transposed;
  Action action = Action::Identity;
};

} // namespace verify::nnscaler

#endif // VERIFY_LIB_NNSCALER_PRIMITIVEIMPORTER_H
