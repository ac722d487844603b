"""The static check over modules that others wrote: the standard library, and the packages that are installed.

    python benchmarks/check_strangers.py [SECONDS] [--json]

They work, and call no tool, so what is certain of them is wrong of the check, but for names that a module gets from
outside (`globals().update`) or has under an older Python only. Files of more than 60,000 characters, tests, and what
time (600 seconds, if none is given) leaves over are left out; modules that print nothing are not asked for an answer.
"""

from __future__ import annotations

import json
import sys
import sysconfig
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from atc.check import check  # noqa: E402
from atc.types import Program  # noqa: E402
from protocols.toolbox import Toolbox  # noqa: E402

LONGEST = 60_000
OF_PROGRAMS = {"no-output", "positional-argument"}
"""What is wrong of a program over tools alone."""


def modules() -> Iterator[tuple[str, str]]:
    """Name and source of each."""
    for kind in ("stdlib", "purelib"):
        folder = Path(sysconfig.get_paths()[kind])
        for path in sorted([*folder.glob("*.py"), *folder.glob("*/*.py")]):
            parts = path.relative_to(folder).parts
            if parts[0] in ("site-packages", "test", "tests", "atc"):
                continue
            source = path.read_text("utf-8", errors="replace")
            if len(source) <= LONGEST:
                yield f"{kind}/{'/'.join(parts)}", source


def main() -> None:
    """Check them, and print what is found."""
    seconds = float(next((word for word in sys.argv[1:] if word.isdigit()), "600"))
    end, count = time.monotonic() + seconds, 0
    certain: list[dict[str, object]] = []
    notes: Counter[str] = Counter()
    for name, source in modules():
        if time.monotonic() > end:
            print(f"stopped after {seconds:.0f} s", file=sys.stderr)
            break
        count += 1
        for finding in check(Program(source), Toolbox([])):
            if finding.code in OF_PROGRAMS:
                continue
            if finding.certain:
                certain.append({"module": name, "line": finding.line, "code": finding.code, "says": finding.message})
            else:
                notes[finding.code] += 1
    if "--json" in sys.argv:
        print(json.dumps({"modules": count, "certain": certain, "notes": notes}, indent=2))
        return
    for found in certain:
        print(f"{found['module']}:{found['line']}  {found['code']}  {found['says']}")
    files = len({found["module"] for found in certain})
    print(f"{count:,} modules, {len(certain)} certain findings in {files} of them, {notes.total()} notes")


if __name__ == "__main__":
    main()
