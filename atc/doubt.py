"""What speaks against an answer that no fault stopped: facts from the trace, pure and without a model.

A doubtful answer is not a failure. It loses to an answer without doubts, the model is told of the doubt once, and the
answer stands where nothing better comes of that.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice
from typing import Any

from atc.types import Program
from protocols.jsontypes import Json
from protocols.parsing import parse
from protocols.toolbox import Toolbox
from sandbox.trace import ToolCall, Trace

_PAGE_ARGUMENTS = frozenset({"page", "page_number", "offset", "skip", "start", "cursor", "page_token", "after"})
SIZE_ARGUMENTS = ("page_size", "per_page", "limit", "size")
"""Names of arguments that say how many items a page has."""
_PAGE_COUNTS = ("pages", "total_pages", "page_count")
_TOTALS = ("total", "total_count", "total_results")
_NEXT = ("next", "next_page", "next_cursor", "next_page_token")
_MORE = ("has_more", "has_next", "more")
_BRACKETS = re.compile(r"\(((?:[A-Z0-9]{2,6})(?:(?:, | and | or )[A-Z0-9]{2,6})*)\)")
_NOTHING = re.compile(r"^\W*(none|nan|inf|-inf|null|\[\s*\]|\{\s*\}|\(\s*\))\W*$", re.IGNORECASE)
_ZERO = re.compile(r"^\W*0+(?:\.0+)?\W*$")
_SAID_NOTHING = re.compile(
    r"\bno\b[\w\s'-]{0,60}\b(?:found|available|match(?:es|ed|ing)?|exists?)\b"
    r"|(?:\b(?:not|never)|n't) (?:be |been )?(?:found|available|exist)"
    r"|^\W*(?:nothing|unknown|not found|n/a)\W*$",
    re.IGNORECASE,
)
"""Sentences in which a program gives up: "No plane found", "The film does not exist"."""
_MOST_VALUES = 100_000
"""Of all results; where there are more, nobody says what none of them holds."""
_MOST_QUOTED, _MOST_NEAR = 60, 1_000
"""Characters of a text out of a result that may be quoted, and texts that a near one is looked for among."""
_SENTENCE = 150
"""Characters of an answer that says nothing else, at most."""


@dataclass(frozen=True, slots=True)
class Unread:
    """A tool whose results go on beyond what a program read.

    `argument` asks for a page, `count` is the key that holds the number of pages (None where a cursor or a total says
    that there is more), `evidence` quotes what says so.
    """

    tool: str
    argument: str
    count: str | None
    evidence: str


def doubts(task: str, program: Program, trace: Trace, answer: str, tools: Toolbox) -> tuple[str, ...]:
    """Sentences on what makes `answer` doubtful, for the model to read; empty when nothing does."""
    return (
        *_empty_answer(answer),
        *_nowhere(program, trace, answer),
        *_raw_record(answer),
        *_pages(program, trace, tools),
        *_swallowed(trace),
        *_left_out(task, program, trace),
    )


def unread_pages(program: Program, trace: Trace, tools: Toolbox) -> tuple[Unread, ...]:
    """The tools whose results say that they go on, of which the program asked no further page and read no total."""
    found: dict[str, Unread] = {}
    for (tool, _), calls in _series(trace, tools).items():
        last = calls[-1]
        argument = next((a for a in tools[tool].arguments if a in _PAGE_ARGUMENTS), None)
        if argument is None or not isinstance(last.result, Mapping) or tool in found:
            continue
        read_total = any(re.search(rf"""["']{key}["']""", program.source) for key in _TOTALS if key in last.result)
        evidence = _goes_on(last.result, calls)
        if evidence and not read_total:
            count = next((key for key in _PAGE_COUNTS if _number(last.result.get(key))), None)
            found[tool] = Unread(tool, argument, count if argument in ("page", "page_number") else None, evidence)
    return tuple(found.values())


def _pages(program: Program, trace: Trace, tools: Toolbox) -> Iterator[str]:
    for unread in unread_pages(program, trace, tools)[:1]:
        yield (
            f"{unread.tool} has more results than the program read ({unread.evidence}): unless the first ones are"
            f" enough for the task, call it in a loop with {unread.argument} until the last page."
        )


def _empty_answer(answer: str) -> Iterator[str]:
    if _NOTHING.match(answer) or (len(answer) <= _SENTENCE and _SAID_NOTHING.search(answer)):
        yield f"It printed {answer.strip()!r}: look at what the functions returned and find out why there was nothing."


def _nowhere(program: Program, trace: Trace, answer: str) -> Iterator[str]:
    """Texts that a program which came to nothing compares with, and that no result holds."""
    if not (_ZERO.match(answer) or _NOTHING.match(answer)) or not trace.calls:
        return
    texts = _texts([call.result for call in trace.calls])
    if texts is None:
        return
    folds = any(f".{name}(" in program.source for name in ("lower", "casefold", "upper", "title"))
    held = {text.casefold() for text in texts} if folds else texts
    for line, text in _compared(program):
        if not any((text.casefold() if folds else text) in one for one in held):
            short = {one.casefold(): one for one in texts if len(one) <= _MOST_QUOTED}
            like = get_close_matches(text.casefold(), islice(short, _MOST_NEAR), n=1)
            near = f", but one holds {short[like[0]]!r}" if like else ""
            yield f"It printed {answer.strip()!r}: line {line} compares with {text!r}, which no result holds{near}."
            return


def _compared(program: Program) -> Iterator[tuple[int, str]]:
    """The texts in a program's comparisons, with their lines."""
    for node in ast.walk(parse(program.source)):
        if isinstance(node, ast.Compare):
            for side in (node.left, *node.comparators):
                if isinstance(side, ast.Constant) and isinstance(side.value, str) and side.value:
                    yield side.lineno, side.value


def _texts(results: list[Json]) -> dict[str, None] | None:
    """The texts in results, and their keys, each once; None where there are too many to look at."""
    found: dict[str, None] = {}
    for _ in range(_MOST_VALUES):
        if not results:
            return found
        match results.pop():
            case Mapping() as record:
                results += [*record, *record.values()]
            case list() | tuple() as items:
                results += items
            case str() as text:
                found[text] = None
    return None


def _raw_record(answer: str) -> Iterator[str]:
    text = answer.strip()
    if text.startswith(("{", "[{")) and ":" in text:
        yield "It printed a whole record: print only the value that the task asks for."


def _left_out(task: str, program: Program, trace: Trace) -> Iterator[str]:
    """Codes that the task gives in brackets, as in "Kennedy (JFK)", and that neither program nor calls hold."""
    given = [code for group in _BRACKETS.findall(task) for code in re.findall(r"[A-Z0-9]+", group)]
    used = program.source + json.dumps([dict(call.arguments) for call in trace.calls], default=repr)
    unused = [code for code in dict.fromkeys(given) if not re.search(rf"(?<!\w){code}(?!\w)", used)]
    if unused:
        yield f"The task speaks of {', '.join(unused)}, which the program does not use: it may leave out a condition."


def _swallowed(trace: Trace) -> Iterator[str]:
    failed = [call for call in trace.calls if call.error is not None]
    if failed and len(failed) == len(trace.calls):
        yield f"Every call failed and the program went on: {failed[-1].tool} said {failed[-1].error!r}."


def _series(trace: Trace, tools: Toolbox) -> dict[tuple[str, str], list[ToolCall]]:
    """Calls that differ only in the page they ask for, or in its size, together."""
    series: dict[tuple[str, str], list[ToolCall]] = {}
    for call in trace.calls:
        if call.error is None and call.tool in tools:
            rest = {k: v for k, v in call.arguments.items() if k not in _PAGE_ARGUMENTS and k not in SIZE_ARGUMENTS}
            series.setdefault((call.tool, json.dumps(rest, sort_keys=True, default=repr)), []).append(call)
    return series


def _goes_on(result: Mapping[str, Any], calls: list[ToolCall]) -> str:
    """What in the last result of a series says that more would follow; empty when nothing does."""
    for key in _PAGE_COUNTS:
        if _number(result.get(key)) and _number(result.get("page")) and result["page"] < result[key]:
            return f"page {result['page']} of {result[key]}"
    for key in _TOTALS:
        read = sum(_length(call.result) for call in calls)
        if _number(result.get(key)) and 0 < read < result[key]:
            return f"{read} of {result[key]}"
    for key in (*_NEXT, *_MORE):
        if result.get(key):
            return f"{key} = {result[key]!r}"
    return ""


def _number(value: Json) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _length(result: Json) -> int:
    lists = [value for value in result.values() if isinstance(value, list)] if isinstance(result, Mapping) else []
    return max(map(len, lists), default=0)
