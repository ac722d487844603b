"""Benchmark of lists in pages: are they read whole, or is the answer marked?

Eight services list 130 records, each in another way of paging (`services.WAYS`). Two questions,
"how many" and "the oldest", are each answered by two prepared programs: one with a plain call, one
with `pages(…)`. A scripted model gives the programs, so that the whole path of `atc run` is taken.
An answer is right, or else it must be marked: the run is then not `solved`, or a doubt says that
pages are unread. The same services with 37 records show that a complete list gets no mark and that
the model is asked once. The exit status is 1 if an answer is wrong and not marked, if a program
with `pages(…)` is wrong, or if a complete list is marked.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing
from typing import Any, NamedTuple

from atc.agent import Agent
from atc.core.config import Config
from atc.core.text import count
from atc.core.types import Solution
from atc.models.scripted import ScriptedModel
from benchmarks.paging.services import WAYS, Way, make_records, serve
from benchmarks.runner import suite
from protocols.sources import load_tools
from sandbox.base import Sandbox
from sandbox.choose import open_sandbox

PAGED = 130
COMPLETE = 37
QUESTIONS = {
    "How many items are there?": "print(len(rows))",
    "What is the name of the oldest item?": "print(min(rows, key=lambda r: r['created'])['name'])",
}


class Case(NamedTuple):
    """A program for a question about a service."""

    way: Way
    total: int
    question: str
    by_pages: bool

    @property
    def program(self) -> str:
        """The source of the program."""
        place = "".join(f"[{key!r}]" for key in self.way.path)
        if self.by_pages:
            asks = f", {self.way.asks}" if self.way.asks else ""
            read = f"rows = [r for page in pages(list_items{asks}) for r in page{place}]"
        else:
            read = f"rows = list_items({self.way.asks}){place}"
        return f"{read}\n{QUESTIONS[self.question]}"

    @property
    def truth(self) -> str:
        """The right answer."""
        return str(self.total) if "many" in self.question else make_records(self.total)[-1]["name"]


class Verdict(NamedTuple):
    """How a case ended."""

    case: Case
    right: bool
    marked: bool
    asked: int
    requests: int


@suite
def main() -> dict[str, Any]:
    with closing(open_sandbox("zygote")) as sandbox:
        paged = [judge(case, sandbox) for case in cases(PAGED, by_pages=(False, True))]
        complete = [judge(case, sandbox) for case in cases(COMPLETE, by_pages=(False,))]
    print(table(paged, complete))
    by_pages = [one for one in paged if one.case.by_pages]
    whole = [one for one in complete if one.right and not one.marked and one.asked == 1]
    figures = {
        "right or marked": sum(one.right or one.marked for one in paged),
        "of": len(paged),
        "right by pages": sum(one.right for one in by_pages),
        "of pages": len(by_pages),
        "complete lists without a mark": len(whole),
        "of complete": len(complete),
    }
    counts = list(figures.values())
    if counts[::2] != counts[1::2]:
        sys.exit(1)
    return figures


def cases(total: int, *, by_pages: tuple[bool, ...]) -> Iterator[Case]:
    """Yield the cases of lists of `total` records."""
    for way in WAYS:
        for question in QUESTIONS:
            for mode in by_pages:
                yield Case(way, total, question, mode)


def judge(case: Case, sandbox: Sandbox) -> Verdict:
    """Run a case by the whole path of `atc run`."""
    reply = f"```python\n{case.program}\n```"
    model = ScriptedModel(reply, "SAME", reply)
    with serve(case.way, case.total) as service:
        tools = load_tools(f"{service.address}/openapi.json")
        with Agent(tools, model=model, sandbox=sandbox, config=Config(strategy="chain")) as agent:
            solution = agent.run(case.question)
        return Verdict(
            case,
            solution.answer == case.truth,
            is_marked(solution),
            len(model.prompts),
            len(service.seen),
        )


def is_marked(solution: Solution) -> bool:
    """Return True if a run says that its answer is of a part of the list."""
    doubts = [doubt for attempt in solution.attempts for doubt in attempt.doubts]
    return solution.status != "solved" or bool(doubts or solution.notes)


def table(paged: list[Verdict], complete: list[Verdict]) -> str:
    """Return the results as a Markdown table, with a line for each way of paging."""
    columns = (f"plain call, {PAGED}", f"`pages`, {PAGED}", f"plain call, {COMPLETE}")
    lines = [f"| way of paging | {' | '.join(columns)} |", "|---|---|---|---|"]
    for way in WAYS:
        plain = [one for one in paged if one.case.way is way and not one.case.by_pages]
        pages = [one for one in paged if one.case.way is way and one.case.by_pages]
        whole = [one for one in complete if one.case.way is way]
        cells = [way.name, *(", ".join(map(describe, group)) for group in (plain, pages, whole))]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def describe(verdict: Verdict) -> str:
    """Return a verdict in a few words, such as `right (3 requests)`."""
    words = "right" if verdict.right else "wrong"
    words += " and marked" if verdict.marked else ""
    return f"{words} ({count(verdict.requests, 'request')})"


if __name__ == "__main__":
    main()
