# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The commands a person types; what they do stands in CMake and in scripts/.
#
#   make demo     prove a correct plan, refute a broken one
#   make check    run every test
#   make check-torch   compare every op and derivative with PyTorch
#   make build    build the tools
#   make optimized   build them for speed, from a profile of verifications: takes twice as long
#   make docs     regenerate docs/generated
#   make format   format the C++ sources
#   make tidy     run clang-tidy over the C++ sources
#   make bench    measure how verifications grow, and compare with unpickling; SVG and JSON
#   make opinions give all obligations to another solver, with real plans
#   make hunt     look for wrong verdicts on random programs and plans, for some hours
#   make fuzz     give the readers random input, for half an hour
#
# PRESET=dev or PRESET=asan chooses another build than the release build.

PRESET ?= release
BUILD := build/$(PRESET)

.PHONY: demo check check-torch build optimized setup docs format tidy bench opinions hunt fuzz clean

demo: build
	scripts/demo.sh $(BUILD)/bin

check: setup $(BUILD)/build.ninja
	scripts/check.py $(BUILD)

check-torch: setup $(BUILD)/build.ninja
	cmake --build $(BUILD) --target verify-opt verify-plan
	scripts/check-torch.py $(BUILD)

build: setup $(BUILD)/build.ninja
	cmake --build $(BUILD)

optimized: setup build/optimized/build.ninja
	cmake --build --preset optimized

# Trained once; remove build/instrumented to have it trained again. What was built from
# another profile does not know that it is old.
PROFILE := build/instrumented/verify.profdata
$(PROFILE): | setup
	scripts/train-profile.sh
	$(RM) -r build/optimized

build/optimized/build.ninja: $(PROFILE)

docs: setup $(BUILD)/build.ninja
	cmake --build $(BUILD) --target verify-docs

tidy: build
	scripts/run-clang-tidy.sh $(BUILD)

# BENCH="--ladder dp --model llama-3-70b --pair SINGLE PLAN" chooses what is measured.
BENCH ?= --ladder all --model all
bench: optimized
	PATH="$(CURDIR)/build/optimized/bin:$$PATH" scripts/bench.sh build/bench $(BENCH)

# HUNT="--count 100000 --time 600" chooses how much of each; findings stay in build/hunt.
# HUNTS chooses which. Writes the rates into docs/Trust.md.
HUNT ?= --count 100000 --time 3600
HUNTS ?= reduction escapes rewrites imports ranks calls pickles files costs
hunt: build
	PATH="$(CURDIR)/$(BUILD)/bin:$$PATH" scripts/hunt.sh build/hunt "$(HUNTS)" $(HUNT)

# Goes on where it ended; findings stay in build/fuzz/run/findings.
FUZZ_SECONDS ?= 600
fuzz: setup
	cmake --preset fuzz
	cmake --build --preset fuzz
	python3 test/Fuzz/run_fuzzers.py --seconds $(FUZZ_SECONDS) build/fuzz/test/Fuzz build/fuzz/run

opinions: build
	VERIFY_THOROUGH=1 LIT_OPTS="-av --filter second-opinion" \
	  cmake --build $(BUILD) --target check-verify

format: setup
	git ls-files '*.cpp' '*.h' | xargs clang-format-22 -i

setup:
	@scripts/install-dependencies.sh

build/%/build.ninja: CMakePresets.json | setup
	cmake --preset $* $(if $(CI),-DVERIFY_WERROR=ON)

clean:
	$(RM) -r build
