# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The commands a person types; what they do stands in CMake and in scripts/.
#
#   make demo     prove a correct plan, refute a broken one
#   make check    run every test
#   make build    build the tools
#   make docs     regenerate docs/generated
#   make format   format the C++ sources
#   make tidy     run clang-tidy over the C++ sources
#   make opinions give all obligations to another solver, with real plans
#
# PRESET=dev or PRESET=asan chooses another build than the release build.

PRESET ?= release
BUILD := build/$(PRESET)

.PHONY: demo check build setup docs format tidy opinions clean

demo: build
	scripts/demo.sh $(BUILD)/bin

check: setup $(BUILD)/build.ninja
	scripts/check.py $(BUILD)

build: setup $(BUILD)/build.ninja
	cmake --build $(BUILD)

docs: setup $(BUILD)/build.ninja
	cmake --build $(BUILD) --target verify-docs

tidy: build
	scripts/run-clang-tidy.sh $(BUILD)

opinions: build
	VERIFY_THOROUGH=1 LIT_OPTS="-av --filter second-opinion" \
	  cmake --build $(BUILD) --target check-verify

format: setup
	git ls-files '*.cpp' '*.h' | xargs clang-format-22 -i

setup:
	@scripts/install-dependencies.sh

$(BUILD)/build.ninja: CMakePresets.json | setup
	cmake --preset $(PRESET) $(if $(CI),-DVERIFY_WERROR=ON)

clean:
	$(RM) -r build
