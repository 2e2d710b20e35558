#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Installs what building and testing needs, from Debian's own archive (12 or
# later). Does nothing, in a few milliseconds, where everything is there.
# The one place that lists packages; .devcontainer runs this script, too.
set -euo pipefail

packages=(
  # The compiler, the linker and what they build with.
  clang-22 lld-22 libclang-rt-22-dev cmake ninja-build ccache
  # MLIR, and the libraries its CMake package asks for.
  libmlir-22-dev mlir-22-tools llvm-22-dev llvm-22-tools
  libzstd-dev zlib1g-dev libxml2-dev
  # Z3, exact and interval arithmetic, an allocator.
  libz3-dev libmpfi-dev libmimalloc-dev
  # Tests, formatting, the plan maker.
  libgtest-dev libgmock-dev clang-format-22 clang-tidy-22 python3
  python3-numpy python3-venv
  # Second opinions on what Z3 said, in tests only.
  cvc5 z3
)

missing=()
for package in "${packages[@]}"; do
  state=$(dpkg-query --show --showformat='${db:Status-Status}' "$package" \
    2>/dev/null || true)
  [[ $state == installed ]] || missing+=("$package")
done
if ((${#missing[@]} == 0)); then
  exit 0
fi
echo "installing ${#missing[@]} packages: ${missing[*]}"

as_root=()
if ((EUID != 0)); then
  if ! command -v sudo >/dev/null; then
    echo "error: installing packages needs root or sudo" >&2
    exit 1
  fi
  as_root=(sudo)
fi

apt_get() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get --quiet=2 -o Dpkg::Use-Pty=0 "$@" </dev/null
}

# Whether apt knows a version of `libmlir-22-dev` to install.
has_mlir() {
  [[ $(apt-cache policy libmlir-22-dev) == *'Candidate: '*22.* ]]
}

apt_get update
if ! has_mlir; then
  # Debian 12 carries LLVM 22 in its security archive, which every installer
  # configures but a bare debootstrap does not.
  codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
  mirror=$(apt-get indextargets --format '$(REPO_URI)' \
    'Created-By: Packages' "Codename: $codename" | head -n 1)
  if [[ -z $codename || -z $mirror ]]; then
    echo "error: no apt source has libmlir-22-dev; Debian 12 or later does" >&2
    exit 1
  fi
  echo "adding ${mirror%/}-security $codename-security to apt's sources"
  echo "deb ${mirror%/}-security $codename-security main" |
    "${as_root[@]}" tee /etc/apt/sources.list.d/debian-security.list >/dev/null
  apt_get update
  if ! has_mlir; then
    echo "error: $codename-security has no libmlir-22-dev" >&2
    exit 1
  fi
fi
apt_get install --yes --no-install-recommends "${missing[@]}"
