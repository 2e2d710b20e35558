// DEFINE: %{edit} = p
// DEFINE: %{options} =
// DEFINE: %{open} = rm -rf %t && mkdir %t && sed '%{edit}' %s > %t/plan.mlir && \
// DEFINE:   %python %S/editor_messages.py %t/plan.mlir | verify-lsp-server --lit-test %{options}

// A text editor shows what tv-verify-equiv says about a file with a plan and its
// reference, beside what MLIR says about any file.

// RUN: verify-lsp-server --help | FileCheck %s --check-prefix=HELP
// HELP: --tv-verify-equiv - Verify a plan against its reference

// A remark says that a plan is proved; silence does not.
// REDEFINE: %{edit} = s/^/&/
// RUN: %{open} | FileCheck %s --check-prefix=PROVED

// REDEFINE: %{options} = --tv-verify-equiv=false
// RUN: %{open} | FileCheck %s --check-prefix=SILENT
// SILENT: "diagnostics": []

// A plan alone, and a reference alone.
// REDEFINE: %{options} =
// REDEFINE: %{edit} = s/@reference/@other/
// RUN: %{open} | FileCheck %s --check-prefix=SILENT
// REDEFINE: %{edit} = s/@plan/@other/
// RUN: %{open} | FileCheck %s --check-prefix=SILENT

// REDEFINE: %{edit} = s/exp %x : (tensor<2/negate %x : (tensor<2/
// RUN: %{open} | FileCheck %s --check-prefixes=HERE,WRONG
// REDEFINE: %{options} = --tv-verify-equiv=false
// RUN: %{open} | FileCheck %s --check-prefix=SILENT
// REDEFINE: %{options} =

// A place in another file is part of the text, as only one file is open.
// REDEFINE: %{edit} = s/exp %x : (tensor<2/negate %x : (tensor<2/; s/<8, .*/& loc("output"("model.py":3:0))/
// RUN: %{open} | FileCheck %s --check-prefixes=THERE,WRONG

// A plan that cannot be executed; a module that is not valid; text that is none.
// REDEFINE: %{edit} = /^    tv.segment @forward1/,$ s/tv.communicate all_reduce .*->/tv.receive from 0 :/
// RUN: %{open} | FileCheck %s --check-prefix=BLOCKED
// BLOCKED: "message": "'tv.communicate' op on device 0 waits for members of its group
// BLOCKED: "severity": 1,
// REDEFINE: %{edit} = s/group .0, 1./group [1, 1]/
// RUN: %{open} | FileCheck %s --check-prefix=INVALID
// INVALID: "message": "'tv.communicate' op
// REDEFINE: %{edit} = s/tv\.exp/tv.nothing/
// RUN: %{open} | FileCheck %s --check-prefix=TEXT
// TEXT: "message": "custom op 'tv.nothing' is unknown",

module {
  tv.plan @reference <dp = 1, device = 1, mb = 1> {
    tv.segment @forward on 0 cell 2 {
    ^bb0(%x: tensor<4xf32>):
      %0 = tv.exp %x : (tensor<4xf32>) -> tensor<4xf32>
      %1 = tv.reduce sum %0 {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
      tv.return %1 : tensor<f32>
    }
    tv.program 0 {
      %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
      %1 = tv.call @forward(%0) instance 2 : (tensor<4xf32>) -> tensor<f32>
      tv.output %1 "loss" <8, []> : tensor<f32>
    }
  }
  // PROVED: "message": "proved: the plan computes what the reference computes",
  // PROVED: "start": {
  // PROVED-NEXT: "character": 2,
  // PROVED-NEXT: "line": [[#@LINE]]
  tv.plan @plan <dp = 1, device = 2, mb = 1> {
  // PROVED: "severity": 3,
  // PROVED-NOT: "message"
  // PROVED: "uri": "test:///plan.mlir"
    tv.segment @forward0 on 0 cell 2 {
    ^bb0(%x: tensor<2xf32>):
      %0 = tv.exp %x : (tensor<2xf32>) -> tensor<2xf32>
      %1 = tv.reduce sum %0 {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32>
      %2 = tv.communicate all_reduce %1 group [0, 1] : (tensor<f32>) -> tensor<f32>
      tv.return %2 : tensor<f32>
    }
    tv.program 0 {
      %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:2 of 4]>] : tensor<2xf32>
      %1 = tv.call @forward0(%0) instance 2 : (tensor<2xf32>) -> tensor<f32>
      tv.output %1 "loss" <8, []> : tensor<f32>
      // HERE: "message": "output 'loss' differs from the reference on devices 0-1",
      // THERE: "message": "output 'loss' differs from the reference on devices 0-1 (model.py:3)",
      // WRONG: "start": {
      // HERE-NEXT: "character": 6,
      // HERE-NEXT: "line": [[#@LINE-6]]
      // WRONG: "relatedInformation": [
      // WRONG: "message": "single-device model: the reference value is computed here
      // WRONG: "message": "counterexample: with the inputs of seed 0, element [] of output 'loss' is
      // WRONG: "severity": 1,
      // WRONG-NOT: "severity"
    }
    tv.segment @forward1 on 1 cell 2 {
    ^bb0(%x: tensor<2xf32>):
      %0 = tv.exp %x : (tensor<2xf32>) -> tensor<2xf32>
      %1 = tv.reduce sum %0 {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32>
      %2 = tv.communicate all_reduce %1 group [0, 1] : (tensor<f32>) -> tensor<f32>
      tv.return %2 : tensor<f32>
    }
    tv.program 1 {
      %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [2:4 of 4]>] : tensor<2xf32>
      %1 = tv.call @forward1(%0) instance 2 : (tensor<2xf32>) -> tensor<f32>
      tv.output %1 "loss" <8, []> : tensor<f32>
    }
  }
}
