"""What speaks against an answer that no fault stopped: facts from the trace, pure and without a model.

A doubtful answer is not a failure. It loses to an answer without doubts, the model is told of the doubt once, and the
answer stands where nothing better comes of that.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator

from atc.mend.paging import unread_pages
from atc.types import Program
from protocols.parsing import parse
from protocols.toolbox import Toolbox
from sandbox.trace import Trace

_BRACKETS = re.compile(r"\(((?:[A-Z0-9]{2,6})(?:(?:, | and | or )[A-Z0-9]{2,6})*)\)")
_NUMBERED = re.compile(r"(?<![\w-])(?=[A-Z]*\d)(?=\d*[A-Z])[A-Z0-9]{4,}(?![\w-])")
_NOTHING = re.compile(r"^\W*(none|nan|inf|-inf|null|\[\s*\]|\{\s*\}|\(\s*\))\W*$", re.IGNORECASE)
_ZERO = re.compile(r"^\W*0+(?:\.0+)?\W*$")
_ALLOWED = re.compile(
    r"\bnone\b(?! of\b)|\bnothing\b|\bnull\b|\bn/a\b|\bnobody\b|\bno one\b|\bempty (?:list|text|string)\b"
    r"|\bif any\b|\bif there(?: is|'s| are| was| were|n't)",
    re.IGNORECASE,
)
"""How a task allows for there being none: "or none", "if there is none, say so", "the second one, if any"."""


def doubts(task: str, program: Program, trace: Trace, answer: str, tools: Toolbox) -> tuple[str, ...]:
    """Sentences on what makes `answer` doubtful, for the model to read; empty when nothing does."""
    nothing_is_right = says_nothing(answer) and _ALLOWED.search(task)
    empty = () if nothing_is_right else (*_empty_answer(answer), *_nowhere(program, trace, answer))
    return (
        *empty,
        *_own_words(task, program, answer),
        *_raw_record(task, answer),
        *_pages(program, trace, tools),
        *_swallowed(trace),
        *_left_out(task, program, trace),
    )


def _pages(program: Program, trace: Trace, tools: Toolbox) -> Iterator[str]:
    for unread in unread_pages(program, trace, tools)[:1]:
        yield (
            f"{unread.tool} has more results than the program read ({unread.evidence}): unless the first ones are"
            f" enough for the task, call it in a loop with {unread.argument} until the last page."
        )


def says_nothing(answer: str) -> bool:
    """Whether an answer is that there is none: `None`, `[]`, `nan`."""
    return _NOTHING.match(answer) is not None


def _empty_answer(answer: str) -> Iterator[str]:
    if says_nothing(answer):
        yield f"It printed {answer.strip()!r}: look at what the functions returned and find out why there was nothing."


def _own_words(task: str, program: Program, answer: str) -> Iterator[str]:
    """A sentence of the program itself ("No plane found"): nothing that a call returned is in it."""
    said = answer.strip()
    texts = (node.value for node in ast.walk(parse(program.source)) if isinstance(node, ast.Constant))
    if " " in said and said not in task and any(isinstance(t, str) and t.strip() == said for t in texts):
        yield f"It printed {said!r}, a text of its own: find out why there was nothing that the functions returned."


def _nowhere(program: Program, trace: Trace, answer: str) -> Iterator[str]:
    """Texts that a program which came to nothing compares with, and that no result holds."""
    if not (_ZERO.match(answer) or says_nothing(answer)) or not trace.calls:
        return
    held = json.dumps([call.result for call in trace.calls], ensure_ascii=False, default=repr)
    folds = any(f".{name}(" in program.source for name in ("lower", "casefold", "upper", "title"))
    for line, text in _compared(program):
        written = json.dumps(text, ensure_ascii=False)[1:-1]
        found = re.search(re.escape(written), held, re.IGNORECASE)
        if found is None or (not folds and written not in held):
            near = f", but one holds {found[0]!r}" if found else ""
            yield f"It printed {answer.strip()!r}: line {line} compares with {text!r}, which no result holds{near}."
            return


def _compared(program: Program) -> Iterator[tuple[int, str]]:
    """The texts in a program's comparisons, with their lines."""
    for node in ast.walk(parse(program.source)):
        if isinstance(node, ast.Compare):
            for side in (node.left, *node.comparators):
                if isinstance(side, ast.Constant) and isinstance(side.value, str) and side.value:
                    yield side.lineno, side.value


def _raw_record(task: str, answer: str) -> Iterator[str]:
    text = answer.strip()
    if text.startswith(("{", "[{")) and ":" in text and "json" not in task.casefold():
        yield "It printed a whole record: print only the value that the task asks for."


def _left_out(task: str, program: Program, trace: Trace) -> Iterator[str]:
    """Codes that the task gives, as in "Kennedy (JFK)" and "N14228", and that neither program nor calls hold."""
    given = [code for group in _BRACKETS.findall(task) for code in re.findall(r"[A-Z0-9]+", group)]
    given += _NUMBERED.findall(task)
    used = program.source + json.dumps([dict(call.arguments) for call in trace.calls], default=repr)
    unused = [code for code in dict.fromkeys(given) if not re.search(rf"(?<!\w){code}(?!\w)", used)]
    if unused:
        yield f"The task speaks of {', '.join(unused)}, which the program does not use: it may leave out a condition."


def _swallowed(trace: Trace) -> Iterator[str]:
    failed = [call for call in trace.calls if call.error is not None]
    if failed and len(failed) == len(trace.calls):
        yield f"Every call failed and the program went on: {failed[-1].tool} said {failed[-1].error!r}."
