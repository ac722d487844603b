"""Runs the `sh` blocks of the README as they stand: `examples` (all but the tests) or `tests` (the block with pytest).

Blocks marked otherwise (`console`, `text`) are for readers: they show output or need something that CI lacks.
"""

import re
import subprocess
import sys
from pathlib import Path

which = sys.argv[1]
text = Path("README.md").read_text(encoding="utf-8")
blocks = re.findall(r"^```sh\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
chosen = [block for block in blocks if ("pytest" in block) == (which == "tests")]
if not chosen:
    sys.exit(f"README.md has no sh block for {which!r}")
for block in chosen:
    print(f"--- README ({which})\n{block}", flush=True)
    subprocess.run(["bash", "-eu", "-c", block], check=True)  # noqa: S603, S607
