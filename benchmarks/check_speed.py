"""How long one static check takes: 50 lines over 20 tools, and every program of the corpus.

    python benchmarks/check_speed.py [ROUNDS] [--json]

Cold: the first check of a process that has just imported the check, its caches empty, over a new toolbox. Warm: later
checks of the same toolbox. Milliseconds of wall time; CPU time of the process beside it, which a busy machine does not
stretch.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from check_corpus import FOLDER, checked_programs, read_program  # noqa: E402
from check_lab import SHARED, needs_shared, toolbox  # noqa: E402

from atc.check import check  # noqa: E402
from atc.types import Program  # noqa: E402

FIFTY = read_program(FOLDER / "correct" / "shop_fifty_lines.py")


def timed(source: str, tools: str) -> tuple[float, float]:
    """Milliseconds of wall and CPU time."""
    program, box = Program(source), toolbox(tools)
    wall, cpu = time.perf_counter(), time.process_time()
    check(program, box)
    return 1000 * (time.perf_counter() - wall), 1000 * (time.process_time() - cpu)


def spread(pairs: list[tuple[float, float]]) -> dict[str, float]:
    wall, cpu = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    return {
        "p50_ms": round(statistics.median(wall), 2),
        "p95_ms": round(statistics.quantiles(wall, n=20)[-1], 2),
        "cpu_p50_ms": round(statistics.median(cpu), 2),
        "cpu_p95_ms": round(statistics.quantiles(cpu, n=20)[-1], 2),
    }


def cold() -> tuple[float, float]:
    """The first check of a new process."""
    ran = subprocess.run([sys.executable, __file__, "--once"], capture_output=True, text=True, check=True, timeout=60)
    wall, cpu = json.loads(ran.stdout)
    return wall, cpu


def main() -> None:
    if "--once" in sys.argv:
        print(json.dumps(timed(FIFTY.source, FIFTY.tools)))
        return
    rounds = int(next((word for word in sys.argv[1:] if word.isdigit()), "100"))
    lines = sum(1 for line in FIFTY.source.splitlines() if line.strip() and not line.startswith("#"))
    for _ in range(5):
        timed(FIFTY.source, FIFTY.tools)
    fifty = spread([timed(FIFTY.source, FIFTY.tools) for _ in range(rounds)])
    # The corpus comes last: its toolboxes stay in memory.
    programs = [p for p in checked_programs(".") if SHARED.is_dir() or not needs_shared(p.tools)]
    for tools in {p.tools for p in programs}:
        check(Program("print(1)"), toolbox(tools))
    results = {
        f"50 lines ({lines} of code), {len(toolbox(FIFTY.tools))} tools": fifty,
        "the same, first in its process": spread([cold() for _ in range(max(5, rounds // 10))]),
        f"the {len(programs)} programs of the corpus": spread([timed(p.source, p.tools) for p in programs]),
    }
    if "--json" in sys.argv:
        print(json.dumps(results, indent=2))
        return
    print("| what | p50 ms | p95 ms | CPU p50 ms | CPU p95 ms |\n| --- | ---: | ---: | ---: | ---: |")
    for name, figures in results.items():
        print(f"| {name} | {' | '.join(str(value) for value in figures.values())} |")


if __name__ == "__main__":
    main()
