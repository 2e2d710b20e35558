# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints the determinant of power sums, disguised: `disguised.py KIND SIZE`."""

import sys
from random import Random

from hunt.identities import disguised
from hunt.programs import print_stage

print(print_stage(disguised(Random(1), int(sys.argv[2]), sys.argv[1]), "disguised"))
