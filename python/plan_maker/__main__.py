# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`python3 -m plan_maker`."""

import sys

from plan_maker.command_line import main

sys.exit(main())
