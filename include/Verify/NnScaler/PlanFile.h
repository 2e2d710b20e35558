//===- PlanFile.h - nnScaler execution plan as plain data -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The part of an nnScaler execution plan that decides what the plan computes,
// as plain structs with 32-bit references between them. It is the boundary
// between the decoder, which knows nnScaler's Python classes, and the importer,
// which knows the `tv` dialect. Nothing here depends on MLIR's IR.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_NNSCALER_PLANFILE_H
#define VERIFY_NNSCALER_PLANFILE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/StringSaver.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace verify::nnscaler {

/// Index into one of the tables of PlanFile; `none` where there is no object.
using Index = uint32_t;
constexpr Index none = ~0u;

/// A half-open range [start, end) of one dimension of a full tensor.
struct Range {
  int64_t start = 0;
  int64_t end = 0;

  /// Of a range that was not checked it may be any number.
  int64_t getSize() const {
    return static_cast<int64_t>(static_cast<uint64_t>(end) -
                                static_cast<uint64_t>(start));
  }
};

/// `IRFullTensor`.
struct FullTensor {
  int64_t id = 0;
  llvm::StringRef name;
  llvm::ArrayRef<int64_t> shape;
  bool isParameter = false; ///< `_is_attr`
  bool isGradient = false;  ///< `_is_grad`
  bool isLoss = false;      ///< `_is_loss`
  bool requiresGradient = false;
  Index gradient = none;       ///< full tensor of `_grad`
  llvm::StringRef elementType; ///< "float32", "int64", ... ("" if none)
};

/// `IRSubTensor`: a slice of a full tensor, or one term of a sum that gives it.
struct SubTensor {
  int64_t id = 0;
  llvm::StringRef name;
  Index full = none;            ///< into PlanFile::fullTensors
  Index gradient = none;        ///< sub-tensor of `_grad`
  llvm::ArrayRef<Range> slice;  ///< `_indmap`, one range per dimension
  uint32_t part = 0, parts = 1; ///< `_valmap`: term `part` of `parts`
  llvm::StringRef elementType;  ///< "float32", "int64", ... ("" if none)
  bool isParameter = false;
  bool isGradient = false;
  bool requiresGradient = false;
  bool fitsShape = true; ///< whether `slice` has the size that `_shape` says

  llvm::SmallVector<int64_t> getShape() const {
    llvm::SmallVector<int64_t> shape;
    for (Range range : slice)
      shape.push_back(range.getSize());
    return shape;
  }
};

/// What an argument that is not a tensor can be.
enum class ConstantKind : uint8_t {
  None,
  Boolean,
  Integer,
  Float,
  // These have parts.
  String,
  Tuple,
  List,
  Dictionary,
  ElementType, ///< `torch.float32`: its name in `text`
  Object,      ///< `IRObject` without a tensor: its name in `text`, value in
               ///< `elements[0]` if any
  Opaque       ///< anything else: the class or function name in `text`
};

struct Argument;

/// What a constant that is no number is made of.
struct ConstantParts {
  llvm::StringRef text;
  /// Of a Tuple or List; of a Dictionary key, value, key, value, ...
  llvm::ArrayRef<Argument> elements;
};

/// A Python constant, or a reference to a sub-tensor. Plans have these by the
/// hundred thousand, so they are small.
struct Argument {
  bool isTensor = false;
  ConstantKind kind = ConstantKind::None;
  Index tensor = none; ///< into PlanFile::subTensors

  /// Of an Integer or a Boolean; 0 of anything else.
  int64_t getInteger() const {
    return kind == ConstantKind::Integer || kind == ConstantKind::Boolean
               ? integer
               : 0;
  }
  /// Of a Float; 0 of anything else.
  double getReal() const { return kind == ConstantKind::Float ? real : 0; }
  /// Empty if there is none.
  llvm::StringRef getText() const {
    return hasParts() ? parts->text : llvm::StringRef();
  }
  llvm::ArrayRef<Argument> getElements() const {
    return hasParts() ? parts->elements : llvm::ArrayRef<Argument>();
  }

  /// Whether it is a list or a tuple of constants.
  bool isSequence() const {
    return !isTensor &&
           (kind == ConstantKind::List || kind == ConstantKind::Tuple);
  }

  void setBoolean(bool value) {
    kind = ConstantKind::Boolean;
    integer = value;
  }
  void setInteger(int64_t value) {
    kind = ConstantKind::Integer;
    integer = value;
  }
  void setReal(double value) {
    kind = ConstantKind::Float;
    real = value;
  }
  /// Makes it a constant of a kind that has parts; they belong to the plan.
  void setParts(ConstantKind newKind, const ConstantParts *newParts) {
    kind = newKind;
    parts = newParts;
  }

private:
  bool hasParts() const { return kind > ConstantKind::Float; }

  union {
    int64_t integer = 0;
    double real;
    const ConstantParts *parts;
  };
};

struct KeywordArgument {
  llvm::StringRef name;
  Argument value;
};

/// One communication primitive of an `IRAdapter`.
struct Primitive {
  llvm::StringRef name;      ///< "AllReducePrim"
  llvm::StringRef signature; ///< the runtime's function that is called
  llvm::ArrayRef<Argument> inputs;
  llvm::ArrayRef<Argument> outputs;
  llvm::ArrayRef<KeywordArgument> keywords;
};

enum class NodeKind : uint8_t {
  Segment,
  Forward /* IRDimops, IRFwOperation, IRPyFunc */,
  Backward /* IRBpOperation */,
  Adapter,
  WeightReducer,
  DataOperation
};

/// A cell or an op inside a segment.
struct Node {
  NodeKind kind = NodeKind::Forward;
  llvm::StringRef className;
  int64_t id = 0;
  llvm::StringRef name;
  llvm::StringRef signature;
  llvm::ArrayRef<Argument> inputs;
  llvm::ArrayRef<Argument> outputs;
  llvm::ArrayRef<KeywordArgument> keywords;
  llvm::ArrayRef<int64_t> devices;
  Index mirror = none; ///< into PlanFile::nodes
  // Segment only.
  llvm::ArrayRef<Index> nodes;
  // Adapter only.
  llvm::ArrayRef<Primitive> primitives;
  bool isForward = true;         ///< `_forward`
  bool isDifferentiable = false; ///< `_differentiable`
  bool isCustom = false;         ///< `_custom`
  // Forward ops and adapters.
  int64_t recompute = -1; ///< group whose forward runs again; -1 if none does
  // From `_comment`, 'File "x.py", line 12' and more; empty and 0 if absent.
  llvm::StringRef file;
  uint32_t line = 0;
};

/// One entry of a device's sequence. A cell that is executed again
/// (`ExeReuseCell`) has its own id and its own tensors, position by position.
struct Cell {
  Index node = none; ///< the cell executed
  bool isReuse = false;
  int64_t id = 0;      ///< id of the reuse cell, or of the node
  int64_t mirror = -1; ///< id of the (reuse) cell `_mirror` names, or -1
  /// What tells objects apart, whatever ids they have; `none` of a mirror that
  /// no device executes.
  Index number = none, mirrorNumber = none;
  llvm::ArrayRef<Argument> inputs;
  llvm::ArrayRef<Argument> outputs;
};

struct DeviceProgram {
  int64_t device = 0;
  llvm::ArrayRef<Cell> cells;
};

/// A decoded plan. Owns everything the ArrayRefs and StringRefs above point to.
struct PlanFile {
  std::vector<FullTensor> fullTensors;
  std::vector<SubTensor> subTensors;
  std::vector<Node> nodes;
  std::vector<DeviceProgram> programs; ///< in the file's order of devices
  llvm::ArrayRef<int64_t> devices;     ///< one data-parallel replica
  int64_t runtimeDevices = 1;          ///< all devices
  bool enableDataParallel = false;
  llvm::ArrayRef<Argument> outputs; ///< `ExecutionPlan._outputs`
  /// What the arrays and texts above lie in, one of each thread that decoded.
  std::vector<std::unique_ptr<llvm::BumpPtrAllocator>> arenas;

  PlanFile() = default;
  PlanFile(const PlanFile &) = delete;
  PlanFile &operator=(const PlanFile &) = delete;
  PlanFile(PlanFile &&) = default;
  PlanFile &operator=(PlanFile &&) = default;
};

/// Reads the plan at `path`. The error names the file, and the byte offset and
/// pickle opcode, or the class, object id and field, at which reading stopped.
/// Decodes on as many threads as said, with the same result.
llvm::Expected<PlanFile> readPlanFile(llvm::StringRef path,
                                      unsigned threads = 1);

/// The same for a plan in memory; the buffer's identifier is the file's name.
llvm::Expected<PlanFile> readPlan(std::unique_ptr<llvm::MemoryBuffer> buffer,
                                  unsigned threads = 1);

} // namespace verify::nnscaler

#endif // VERIFY_NNSCALER_PLANFILE_H
