//===- PlanBytes.h - writes plans for tests ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes small execution plans in the form in which nnScaler pickles them. A
// test takes the sample plan, changes the field it is about, and reads it.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_TEST_UNIT_PLANBYTES_H
#define VERIFY_TEST_UNIT_PLANBYTES_H

#include "PickleBytes.h"

#include "Verify/NnScaler/PlanFile.h"

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace verify::nnscaler {

/// Writes named objects; each is written where it is first mentioned.
class PlanWriter {
public:
  /// Writes one value.
  using Expression = std::function<std::string(PlanWriter &)>;
  using Fields = std::vector<std::pair<std::string, Expression>>;

  /// Adds an object of a class such as "nnscaler.ir.tensor.IRSubTensor".
  void define(llvm::StringRef object, llvm::StringRef qualifiedClass,
              Fields fields);
  void setClass(llvm::StringRef object, llvm::StringRef qualifiedClass);
  /// Sets a field, or adds it.
  void set(llvm::StringRef object, llvm::StringRef field, Expression value);
  void remove(llvm::StringRef object, llvm::StringRef field);
  /// Writes all fields as the second part of a pair: __slots__.
  void useSlots(llvm::StringRef object);

  /// The file whose root is `object`.
  std::string write(llvm::StringRef object);
  /// A mention of an object.
  std::string mention(const std::string &object);

private:
  struct Object {
    std::string qualifiedClass;
    Fields fields;
    bool hasSlots = false;
  };
  std::map<std::string, Object> objects;
  std::map<std::string, uint32_t> slots;
};

/// Python values.
PlanWriter::Expression null();
PlanWriter::Expression boolean(bool value);
PlanWriter::Expression integer(int64_t value);
PlanWriter::Expression real(double value);
PlanWriter::Expression string(llvm::StringRef characters);
PlanWriter::Expression list(std::vector<PlanWriter::Expression> elements);
PlanWriter::Expression tuple(std::vector<PlanWriter::Expression> elements);
PlanWriter::Expression integers(std::vector<int64_t> elements);
PlanWriter::Expression dictionary(
    std::vector<std::pair<PlanWriter::Expression, PlanWriter::Expression>>
        entries);
PlanWriter::Expression global(llvm::StringRef module, llvm::StringRef name);
PlanWriter::Expression call(llvm::StringRef module, llvm::StringRef name,
                            std::vector<PlanWriter::Expression> arguments);
/// A numpy scalar of a type such as "i8" with its bytes.
PlanWriter::Expression scalar(llvm::StringRef type, llvm::StringRef order,
                              std::string data);
PlanWriter::Expression object(llvm::StringRef name);
/// Opcodes as they are.
PlanWriter::Expression raw(std::string opcodes);

/// A plan for device 0 of two replicas: a data loader, a segment with a linear
/// op and an all-reduce, its backward segment, and a weight reducer. Objects:
/// root, plan, data, forward, backward, reuse_forward, reuse_backward, linear,
/// linear_backward, adapter, adapter_backward, prim, reducer; tensors x, w, y
/// and their gradients gx, gw, gy, each with a full tensor full_x and so on and
/// maps x_indices and x_value.
PlanWriter getSamplePlan();

/// Adds backward ops "op0", "op1" and so on to the backward segment, each with
/// a tensor "t0" and so on of its own, which has a gradient.
void addOps(PlanWriter &writer, unsigned count);

/// Reads the plan that `writer` writes, as test.pkl.
llvm::Expected<PlanFile> readPlan(PlanWriter &writer, unsigned threads = 1);
/// The error that reading gives, or "" if it gives none.
std::string readPlanError(PlanWriter &writer, unsigned threads = 1);

} // namespace verify::nnscaler

#endif // VERIFY_TEST_UNIT_PLANBYTES_H
