# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes what an editor sends to a language server about a file that it opens.

usage: editor_messages.py FILE

The messages are separated as --lit-test of MLIR's language servers expects.
"""

import json
import sys
from pathlib import Path


def main() -> int:
    document = {
        "uri": f"test:///{Path(sys.argv[1]).name}",
        "languageId": "mlir",
        "version": 1,
        "text": Path(sys.argv[1]).read_text(),
    }
    messages: list[dict[str, object]] = [
        {"id": 0, "method": "initialize", "params": {"capabilities": {}}},
        {"method": "textDocument/didOpen", "params": {"textDocument": document}},
        {"id": 1, "method": "shutdown"},
        {"method": "exit"},
    ]
    print("\n// -----\n".join(json.dumps({"jsonrpc": "2.0", **each}) for each in messages))
    return 0


if __name__ == "__main__":
    sys.exit(main())
