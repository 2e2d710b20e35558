//===- SanitizerOptions.cpp - what AddressSanitizer may look at -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of every executable of a sanitized build. LLVM's allocators poison what
// they have not handed out; the packaged libraries are built without that and
// would write to memory that our code, built with it, has poisoned.
//
//===----------------------------------------------------------------------===//

extern "C" const char *__asan_default_options();

const char *__asan_default_options() { return "allow_user_poisoning=0"; }
