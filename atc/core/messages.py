"""Creation of findings about programs, and formatting of values, calls and names in messages."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from urllib.parse import urlencode

from atc.core.program import Program
from atc.core.tool_calls import WITH_HEADERS
from atc.core.types import Finding
from protocols.naming import LONGEST_COMPARED, closest_meanings
from protocols.response_headers import places, results_without_body
from protocols.schema import Json, type_name
from sandbox.arguments import shorten
from sandbox.trace import ToolCall

_MOST_COMPARED = 100_000
_COST_OF_GUESS = 30
"""Fixed cost of a guess, expressed as a number of compared names."""
MOST_KEYS = 20
"""Maximum number of keys of an object that a message lists."""
_LONGEST_HEADER = 200  # characters
_ARTICLE = {"object": "an object", "integer": "an integer", "null": "None"}
_compared: ContextVar[list[int] | None] = ContextVar("compared", default=None)


def make_finding(
    code: str,
    node: ast.AST,
    message: str,
    *,
    tool: str | None = None,
    argument: str | None = None,
    better: str | None = None,
    keys: Iterable[str] = (),
    certain: bool = True,
) -> Finding:
    """Return a finding (an error of the static check) at the position of the syntax node `node`.

    If the node spans several lines, the finding is at its first line. `better` is the suggested
    correction, and `keys` are the keys that exist.
    """
    line = getattr(node, "lineno", 1)
    column = getattr(node, "col_offset", 0)
    ends_here = getattr(node, "end_lineno", line) == line
    end = getattr(node, "end_col_offset", None) if ends_here else None
    return Finding(
        code=code,
        message=message,
        line=line,
        column=column,
        end_column=end if end is not None else column + 1,
        tool=tool,
        argument=argument,
        suggestion=better,
        keys=tuple(keys),
        certain=certain,
    )


@contextmanager
def limit_guesses() -> Iterator[None]:
    """Limit how many names are compared, in the `with` block, to guess what misspelled names mean.

    A program may have so many errors that guessing takes too long. `may_guess` returns False after
    `_MOST_COMPARED` comparisons.
    """
    token = _compared.set([0])
    try:
        yield
    finally:
        _compared.reset(token)


def may_guess(names: int) -> bool:
    """Return True if there is time to compare an unknown name with `names` known names.

    The comparisons are counted, and limited, only within a block of `limit_guesses`.
    """
    so_far = _compared.get()
    if so_far is None:
        return True
    so_far[0] += _COST_OF_GUESS + names
    return so_far[0] <= _MOST_COMPARED


def find_nearest(
    name: str, names: Iterable[str], *, cutoff: float = 0.6, loose: bool = True
) -> str | None:
    """Return the name in `names` that `name` most likely means; None if none is similar.

    If `loose` is True, a name that contains the other is similar, too. `cutoff` is the least
    similarity, from 0 to 1.
    """
    if len(name) > LONGEST_COMPARED:
        return None
    whole = names if isinstance(names, Collection) else list(names)
    if not may_guess(len(whole)):
        return None
    folded = {_fold(one): one for one in whole if len(one) <= LONGEST_COMPARED}
    wanted = _fold(name)
    if wanted in folded:
        return folded[wanted]
    if close := closest_meanings(wanted, folded, cutoff=cutoff):
        return folded[close[0]]
    return _find_containing(wanted, folded) if loose else None


def _find_containing(wanted: str, folded: Mapping[str, str]) -> str | None:
    """Return the known name that contains `wanted` or is contained in it; None without any.

    Of several such names, the nearest in length is returned. `folded` maps each name in snake case
    to the name itself. Underscores are ignored.
    """
    wanted = wanted.replace("_", "")
    squashed = {key.replace("_", ""): name for key, name in folded.items()}
    related = [
        key
        for key in squashed
        if min(len(key), len(wanted)) > 3 and (key in wanted or wanted in key)
    ]
    if not related:
        return None
    return squashed[min(related, key=lambda key: abs(len(key) - len(wanted)))]


@lru_cache(maxsize=16_384)
def _fold(name: str) -> str:
    """Return a name in snake case: `dep_delay` for `depDelay`, `dep-delay` and `Dep_Delay`."""
    spaced = re.sub(r"(?<=[a-zß-öø-ÿ])(?=[A-ZÀ-ÖØ-Þ])", "_", name)
    return spaced.lower().replace("-", "_").replace(" ", "_").strip("_")


def format_list(names: Iterable[str], *, most: int = 24) -> str:
    """Return the names as one text: `a, b, c`.

    If there are more than `most` names, return the first ones and the number of others, as in
    `a, b and 7 more`.
    """
    known = list(names)
    return ", ".join(known[:most]) + (f" and {len(known) - most} more" if len(known) > most else "")


def snippet(value: Json, *, most: int = 160) -> str:
    """Return a value as JSON on one line of at most `most` characters."""
    return shorten(json.dumps(value, ensure_ascii=False, default=str), most)


def describe_type(value: Json) -> str:
    """Return the type of a JSON value in words: `a list of 3`, `None`, `a string`."""
    kind = type_name(value)
    if kind == "array":
        return f"a list of {len(value)}" if value else "an empty list"
    return _ARTICLE.get(kind, f"a {kind}")


def format_tool_call(call: ToolCall, *, most: int = 60) -> str:
    """Return a tool call as text: `get_flights(origin="JFK", page=1)`.

    Each value is cut to `most` characters. What the call took from the address of a next page
    follows: `list_repos() at ?cursor=c100`.
    """
    arguments = (f"{name}={snippet(value, most=most)}" for name, value in call.arguments.items())
    text = f"{call.tool}({', '.join(arguments)})"
    if not call.query:
        return text
    return f"{text} at ?{shorten(urlencode(call.query, doseq=True), most)}"


def describe_keys(value: Json) -> str:
    """Return what keys a JSON value has, in words: `its keys are a, b, c`.

    For a value that is no object, return what it is: `it is a string`.
    """
    if isinstance(value, Mapping):
        return (
            f"its keys are {format_list(map(str, value), most=MOST_KEYS)}"
            if value
            else "it is an empty object"
        )
    return f"it is {describe_type(value)}"


def format_expression(node: ast.AST, *, most: int = 60) -> str:
    """Return the source of an expression on one line, cut to at most `most` characters.

    A cut text ends with an ellipsis.
    """
    try:
        return shorten(" ".join(ast.unparse(node).split()), most)
    except (RecursionError, ValueError):
        return "this"


def render_finding(finding: Finding, program: Program) -> str:
    """Return a finding as text for a terminal or a prompt.

    The text is the message, then the line of the program with carets below the error.
    """
    return f"line {finding.line}: {finding.message}{render_place(finding, program)}"


def render_place(finding: Finding, program: Program) -> str:
    """Return the line of a program that a finding is about, with carets below the error.

    Return "" if the program does not have this line.
    """
    text = program.raw_line(finding.line)
    if text is None:
        return ""
    start, end = character_span(finding, program)
    indent = len(text) - len(text.lstrip())
    shown = text.expandtabs(1)[indent:]
    gutter = f"{finding.line:>4} | "
    carets = " " * (len(gutter) + max(0, start - indent)) + "^" * max(1, end - start)
    return f"\n{gutter}{shown}\n{carets}"


def character_span(finding: Finding, program: Program) -> tuple[int, int]:
    """Return where in its line a finding begins and ends, counted in characters from 0.

    The attributes `column` and `end_column` of the finding count bytes instead.
    """
    text = program.raw_line(finding.line)
    if text is None:
        return finding.column, finding.end_column
    raw = text.encode()
    start = len(raw[: finding.column].decode(errors="ignore"))
    return start, len(raw[: max(finding.end_column, finding.column + 1)].decode(errors="ignore"))


def describe_result_headers(call: ToolCall) -> str:
    """Return a sentence about headers of a call that have its result, or "".

    If the call gave no body, these are addresses, ids and counts. If it gave one, it is the address
    of what was made, unless the body contains it.
    """
    if call.error is not None:
        return ""
    if call.result is None:
        found, begin = results_without_body(call.headers), "answered without a body."
    else:
        body = json.dumps(call.result, default=str)
        found = {n: v for n, v in places(call.headers).items() if not _is_known(v, body)}
        begin = "says where more is."
    if not found:
        return ""
    cut = {
        n: v if len(v) <= _LONGEST_HEADER else f"{v[:_LONGEST_HEADER]}…" for n, v in found.items()
    }
    shown = format_list([f"{name!r} is {value!r}" for name, value in cut.items()])
    return (
        f"{call.tool} {begin} Its header {shown};"
        f" `value, headers = {WITH_HEADERS}({call.tool}, …)` gives the headers."
    )


def _is_known(address: str, body: str) -> bool:
    """Return True if a body contains the last part of an address, usually an id."""
    last = address.partition("?")[0].rstrip("/").rpartition("/")[2]
    return not last or last in body
