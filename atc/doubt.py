"""What speaks against an answer that no fault stopped: facts from the trace, pure and without a model.

A doubtful answer is not a failure. It loses to an answer without doubts, the model is told of the doubt once, and the
answer stands where nothing better comes of that.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from itertools import islice

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
    said, found = answer.strip(), list[str]()
    nodes, given = list(ast.walk(parse(program.source))), [dict(call.arguments) for call in trace.calls]
    if says_nothing(said) and not _ALLOWED.search(task):
        found.append(f"It printed {said!r}: look at what the functions returned and find out why there was nothing.")
    if trace.calls and (_ZERO.match(said) or (says_nothing(said) and not _ALLOWED.search(task))):
        found += islice(_nowhere(program, nodes, trace, said), 1)
    # A sentence of the program itself ("No plane found"): nothing that a call returned is in it.
    texts = {node.value.strip() for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    if " " in said and said not in task and said in texts:
        found.append(
            f"It printed {said!r}, a text of its own: find out why there was nothing that the functions returned."
        )
    if said.startswith(("{", "[{")) and ":" in said and "json" not in task.casefold():
        found.append("It printed a whole record: print only the value that the task asks for.")
    for unread in unread_pages(program, trace, tools)[:1]:
        found.append(
            f"{unread.tool} has more results than the program read ({unread.evidence}): unless the first ones are"
            f" enough for the task, call it in a loop with {unread.argument} until the last page."
        )
    failed = [call for call in trace.calls if call.error is not None]
    if failed and len(failed) == len(trace.calls):
        found.append(f"Every call failed and the program went on: {failed[-1].tool} said {failed[-1].error!r}.")
    # Codes that the task gives, as in "Kennedy (JFK)" and "N14228", and that neither program nor calls hold.
    codes = [code for group in _BRACKETS.findall(task) for code in re.findall(r"[A-Z0-9]+", group)]
    used = program.source + json.dumps(given, default=repr)
    named = dict.fromkeys([*codes, *_NUMBERED.findall(task)])
    if unused := [code for code in named if not re.search(rf"(?<!\w){code}(?!\w)", used)]:
        found.append(
            f"The task speaks of {', '.join(unused)}, which the program does not use: it may leave out a condition."
        )
    return tuple(found)


def says_nothing(answer: str) -> bool:
    """Whether an answer is that there is none: `None`, `[]`, `nan`."""
    return _NOTHING.match(answer) is not None


def _nowhere(program: Program, nodes: list[ast.AST], trace: Trace, said: str) -> Iterator[str]:
    """Texts that a program which came to nothing compares with, and that no result holds."""
    held = json.dumps([call.result for call in trace.calls], ensure_ascii=False, default=repr)
    folds = any(f".{name}(" in program.source for name in ("lower", "casefold", "upper", "title"))
    for side in (side for node in nodes if isinstance(node, ast.Compare) for side in (node.left, *node.comparators)):
        if isinstance(side, ast.Constant) and isinstance(side.value, str) and side.value:
            written = json.dumps(side.value, ensure_ascii=False)[1:-1]
            found = re.search(re.escape(written), held, re.IGNORECASE)
            if found is None or (not folds and written not in held):
                near = f", but one holds {found[0]!r}" if found else ""
                where = f"line {side.lineno} compares with {side.value!r}"
                yield f"It printed {said!r}: {where}, which no result holds{near}."
