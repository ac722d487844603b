"""Findings of the static check in programs by models, and false alarms in correct programs.

`real`: 116 programs of the embedded model. The check of commit 4d710f8 found 234 faults in them
(counted once for each kind of finding and line), with which the present findings are compared.
`strong`: 72 programs of a strong model, which were all accepted at their first run. `gold`: the
gold programs of ToolFlow's tasks. `correct`: hand-written correct programs. `batches`: 125 faulty
programs; a program counts as found if every fault is found at its line. `speed`: milliseconds to
check 50 lines that use 20 tools. `missed` lists missed faults and false alarms. Programs in
`../shared` are skipped if that folder is missing.
"""

from __future__ import annotations

import statistics
import time
from collections import Counter
from typing import Any

from atc.core.program import Program
from atc.core.types import Finding
from atc.pipeline.check import check
from benchmarks.runner import suite
from tests.labs.check_corpus import Case, cases, present, services, toolbox
from toolflow_bench.task import load_tasks

ROUNDS = 60


def findings(case: Case) -> tuple[Finding, ...]:
    return check(Program(case.source), toolbox(case.tools))


def recheck_real_programs(missed: list[str]) -> dict[str, int]:
    figures = Counter[str]()
    for case in present("real"):
        got = {(finding.code, finding.line) for finding in findings(case)}
        figures.update(known=len(case.expect), found=len(got & set(case.expect)))
        figures.update(flagged=bool(case.expect), still_flagged=bool(case.expect and got))
        missed += [
            f"real {case.name}: {code} line {line}"
            for code, line in case.expect
            if (code, line) not in got
        ]
    return dict(figures)


def count_needless_findings(name: str, programs: list[Case], missed: list[str]) -> dict[str, int]:
    figures = Counter[str]()
    for case in programs:
        found = findings(case)
        certain = [finding for finding in found if finding.certain]
        figures.update(programs=1, with_findings=bool(found), with_certain=bool(certain))
        missed += [f"{name} {case.name}: line {one.line}: {one.message}" for one in certain]
    return dict(figures)


def batches(missed: list[str]) -> dict[str, int]:
    figures = Counter[str]()
    for case in present("batches"):
        got = {(finding.code, finding.line) for finding in findings(case)}
        figures.update(programs=1, found=set(case.expect) <= got, flagged=bool(got))
        if not set(case.expect) <= got:
            missed.append(f"batches {case.name}: {case.expect}, got {sorted(got)}")
    return dict(figures)


def speed() -> dict[str, float]:
    case = next(case for case in cases("correct") if case.name == "shop_fifty_lines")
    program = Program(case.source)
    tools = toolbox(case.tools)
    for _ in range(5):
        check(program, tools)
    spent = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        check(program, tools)
        spent.append(1000 * (time.perf_counter() - started))
    return {
        "p50_ms": round(statistics.median(spent), 2),
        "p95_ms": round(statistics.quantiles(spent, n=20)[-1], 2),
    }


@suite
def main() -> dict[str, Any]:
    services("flights")  # the services are read once, before anything is timed
    missed: list[str] = []
    needless = {
        "strong": count_needless_findings("strong", present("strong"), missed),
        "gold": count_needless_findings(
            "gold",
            [Case(one.id, " ".join(one.services), one.program) for one in load_tasks()],
            missed,
        ),
        "correct": count_needless_findings("correct", present("correct"), missed),
    }
    figures = {
        "real": recheck_real_programs(missed),
        "right programs": needless,
        "batches": batches(missed),
        "speed": speed(),
    }
    return {"suite": "check_floors", **figures, "missed": missed}


if __name__ == "__main__":
    main()
