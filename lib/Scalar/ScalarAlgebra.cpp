//===- ScalarAlgebra.cpp - what scalar bodies are written against ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The anchor of the interface's virtual table, and names for diagnostics.
//
//===----------------------------------------------------------------------===//

#include "Verify/Scalar/ScalarAlgebra.h"

#include "llvm/Support/ErrorHandling.h"

using namespace verify;

ScalarAlgebra::~ScalarAlgebra() = default;

llvm::StringRef verify::getName(ScalarSort sort) {
  switch (sort) {
  case ScalarSort::Real:
    return "real";
  case ScalarSort::Integer:
    return "integer";
  case ScalarSort::Extended:
    return "extended (minus infinity)";
  case ScalarSort::Boolean:
    return "boolean";
  }
  llvm_unreachable("a scalar sort without a name");
}

llvm::StringRef verify::getName(Function function) {
  switch (function) {
  case Function::Exp:
    return "exp";
  case Function::Log:
    return "log";
  case Function::Sqrt:
    return "sqrt";
  case Function::Rsqrt:
    return "rsqrt";
  case Function::Sin:
    return "sin";
  case Function::Cos:
    return "cos";
  case Function::Tanh:
    return "tanh";
  case Function::Erf:
    return "erf";
  case Function::ErfDerivative:
    return "erf_derivative";
  case Function::Abs:
    return "abs";
  case Function::Sign:
    return "sign";
  }
  llvm_unreachable("a function without a name");
}

llvm::StringRef verify::getName(Comparison comparison) {
  switch (comparison) {
  case Comparison::Equal:
    return "=";
  case Comparison::NotEqual:
    return "!=";
  case Comparison::Less:
    return "<";
  case Comparison::LessEqual:
    return "<=";
  }
  llvm_unreachable("a comparison without a name");
}
