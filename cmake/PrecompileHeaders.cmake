# One set of precompiled headers for everything that is written against MLIR:
# parsing those headers is most of what compiling such a file costs.
#
# Off in the dev and asan presets, where ccache does better, and which so check
# that each file includes what it uses.
option(VERIFY_PRECOMPILE_HEADERS "Precompile MLIR's and the dialect's headers"
       OFF)

# precompile_mlir_headers(<targets>...): for targets with the same flags.
function(precompile_mlir_headers)
  if(NOT VERIFY_PRECOMPILE_HEADERS)
    return()
  endif()
  set(_source "${CMAKE_BINARY_DIR}/VerifyPrecompiledHeaders.cpp")
  file(GENERATE OUTPUT "${_source}" CONTENT "")
  add_library(VerifyPrecompiledHeaders OBJECT "${_source}")
  llvm_update_compile_flags(VerifyPrecompiledHeaders)
  add_dependencies(VerifyPrecompiledHeaders VerifyIRIncGen)
  target_precompile_headers(VerifyPrecompiledHeaders PRIVATE
    <Verify/IR/TVOps.h>
    <mlir/IR/Builders.h>
    <mlir/IR/BuiltinOps.h>
    <mlir/IR/DialectImplementation.h>
    <mlir/IR/IRMapping.h>
    <mlir/IR/OpImplementation.h>
    <mlir/Pass/Pass.h>
    <llvm/ADT/MapVector.h>
    <llvm/ADT/StringExtras.h>
    <llvm/ADT/TypeSwitch.h>)
  foreach(target IN LISTS ARGN)
    target_precompile_headers(${target} REUSE_FROM VerifyPrecompiledHeaders)
  endforeach()
endfunction()
