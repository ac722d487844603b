"""The static check and the type checker `ty`, side by side over the corpus and ToolFlow's gold programs.

    python benchmarks/check_ty.py [--json] [--kinds] [--rules]

`ty` is the one that monty carries (`pip install 'atc[monty]'`); it reads the stubs that `protocols.render` writes, at
full depth. Found: a faulty program with a finding at a line where one is expected. Flagged: one anywhere. Needless: a
correct program with a finding. Milliseconds are wall time of one check in a warm process; monty's include the way to
its worker and back. "ty, calm rules" is ty with only those of its rules that are never needless here: what it could
find at best without a false word on these programs.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

import pydantic_monty  # noqa: E402
from check_corpus import CheckedProgram, checked_programs  # noqa: E402
from check_lab import SHARED, needs_shared, toolbox  # noqa: E402

from atc.check import check  # noqa: E402
from atc.types import Program  # noqa: E402
from protocols.render import Detail, stubs  # noqa: E402

Checker = Callable[[CheckedProgram], set[tuple[int, str]]]
"""Lines at which a checker finds something, each with the rule that it goes by."""
HEAD = """from typing import Any, Literal, TypedDict


class ToolError(Exception):
    status: int | None
    body: str
"""


def own(program: CheckedProgram) -> set[tuple[int, str]]:
    return {
        (finding.line, "certain" if finding.certain else "note")
        for finding in check(Program(program.source), toolbox(program.tools))
    }


@contextmanager
def ty() -> Iterator[Checker]:
    """A program that passes starts to run, and stops at its first call."""
    texts: dict[str, str] = {}
    with pydantic_monty.Monty(max_processes=1) as pool:

        def found(program: CheckedProgram) -> set[tuple[int, str]]:
            if program.tools not in texts:
                texts[program.tools] = (
                    f"{HEAD}\n\n{stubs(toolbox(program.tools), detail=Detail(depth=8, comments=False))}"
                )
            session = pool.checkout(
                type_check=True,
                type_check_stubs=texts[program.tools],
                type_check_format="json",
                limits={"max_feed_duration_secs": 0.2},
            )
            with session as open_session:
                try:
                    open_session.feed_start(program.source, print_callback=pydantic_monty.CollectString())
                except pydantic_monty.MontyTypingError as error:
                    return {(one["location"]["row"], one["code"]) for one in json.loads(error.display())}
                except pydantic_monty.MontySyntaxError:
                    return {(0, "cannot be read")}
                except pydantic_monty.MontyError:
                    return set()
            return set()

        yield found


def gold() -> list[CheckedProgram]:
    tasks = [
        json.loads(line)
        for path in sorted((ROOT / "toolflow_bench" / "tasks").glob("*.jsonl"))
        for line in path.read_text("utf-8").splitlines()
    ]
    return [CheckedProgram(t["id"], " ".join(t["services"]), "gold", (), (), t["program"]) for t in tasks]


class Said(NamedTuple):
    """What a checker said of one program, and in how many seconds."""

    program: CheckedProgram
    lines: set[tuple[int, str]]
    seconds: float


def ask(found: Checker, programs: list[CheckedProgram]) -> list[Said]:
    """Every toolbox is made and seen once before time is taken."""
    for tools in {program.tools for program in programs}:
        found(CheckedProgram("warm", tools, "", (), (), "print(1)\n"))
    said = []
    for program in programs:
        started = time.perf_counter()
        lines = found(program)
        said.append(Said(program, lines, time.perf_counter() - started))
    return said


def summary(said: list[Said], keep: Callable[[str], bool]) -> dict[str, Any]:
    """The figures, of findings by the rules that `keep` allows."""
    kinds: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    flagged, needless = 0, Counter({"correct": 0, "gold": 0})
    for program, found, _ in said:
        lines = {line for line, rule in found if keep(rule)}
        if not program.expected:
            needless[program.kind] += bool(lines)
            continue
        kinds[program.kind][0] += 1
        kinds[program.kind][1] += bool(lines & {line for _, line in program.expected})
        flagged += bool(lines)
    seconds = [one.seconds for one in said]
    return {
        "faulty": sum(count for count, _ in kinds.values()),
        "found": sum(hit for _, hit in kinds.values()),
        "flagged": flagged,
        "needless": dict(needless),
        "p50_ms": round(1000 * statistics.median(seconds), 1),
        "p95_ms": round(1000 * statistics.quantiles(seconds, n=20)[-1], 1),
        "kinds": {kind: kinds[kind] for kind in sorted(kinds)},
    }


def rules(said: list[Said]) -> dict[str, tuple[int, int]]:
    """For each rule: faulty programs in which it points at the fault, and correct ones in which it says something."""
    hits, needless = Counter[str](), Counter[str]()
    for program, found, _ in said:
        wanted = {line for _, line in program.expected}
        if program.expected:
            hits.update({rule for line, rule in found if line in wanted})
        else:
            needless.update({rule for _, rule in found})
    return {rule: (hits[rule], needless[rule]) for rule in sorted(hits.keys() | needless.keys())}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--kinds", action="store_true", help="what each finds of each kind of fault")
    parser.add_argument("--rules", action="store_true", help="what each rule of ty finds, and how often it is needless")
    options = parser.parse_args()
    programs = [*checked_programs("faulty"), *checked_programs("correct"), *gold()]
    if not SHARED.is_dir():
        programs = [program for program in programs if not needs_shared(program.tools)]
    with ty() as type_checker:
        by_ty, by_us = ask(type_checker, programs), ask(own, programs)
    by_rule = rules(by_ty)
    calm = {rule for rule, (_, needless) in by_rule.items() if not needless}
    results = {
        "own": summary(by_us, lambda _: True),
        "own, certain": summary(by_us, lambda rule: rule == "certain"),
        "ty": summary(by_ty, lambda _: True),
        "ty, calm rules": summary(by_ty, calm.__contains__),
    }
    if options.json:
        print(json.dumps({"checkers": results, "rules": by_rule}, indent=2))
        return
    kinds = Counter("faulty" if program.expected else program.kind for program in programs)
    print(f"{kinds['faulty']} faulty, {kinds['correct']} correct, {kinds['gold']} gold programs\n")
    print("| checker | found | flagged | needless: correct | needless: gold | p50 ms | p95 ms |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name, r in results.items():
        found = f"{r['found']} ({100 * r['found'] / r['faulty']:.1f}%)"
        row = (found, r["flagged"], r["needless"]["correct"], r["needless"]["gold"], r["p50_ms"], r["p95_ms"])
        print(f"| {name} | {' | '.join(map(str, row))} |")
    if options.kinds:
        print("\n| kind | programs | " + " | ".join(results) + " |\n| --- | ---: |" + " ---: |" * len(results))
        for kind, (count, _) in results["own"]["kinds"].items():
            print(f"| {kind} | {count} | " + " | ".join(str(r["kinds"][kind][1]) for r in results.values()) + " |")
    if options.rules:
        print("\n| rule of ty | points at a fault | needless |\n| --- | ---: | ---: |")
        for rule, (hits, needless) in by_rule.items():
            print(f"| {rule} | {hits} | {needless} |")


if __name__ == "__main__":
    main()
