# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`python3 -m step_maker`."""

import sys

from step_maker.command_line import main

if __name__ == "__main__":
    sys.exit(main())
