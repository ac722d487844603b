"""A solution as one block of HTML, which a notebook shows below a cell.

The block has no script and loads nothing. All text in it may come from tools and models, so it is
escaped. Styles are inline, because notebooks remove style sheets from outputs that they do not
trust. The colours are those of the notebook, else ones that are readable on light and on dark.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from atc.core.python_tokens import read_tokens
from atc.core.quoting import escape_hidden
from atc.core.text import count

_COLORS = {
    "": "inherit",
    "comment": "var(--jp-mirror-editor-comment-color, #808080)",
    "keyword": "var(--jp-mirror-editor-keyword-color, #a35bd6)",
    "number": "var(--jp-mirror-editor-number-color, #2f8a8a)",
    "string": "var(--jp-mirror-editor-string-color, #3f8f3f)",
}
"""The colour of each kind of part of a program."""
_STATUS_COLORS = {"solved": "#3f8f3f", "unsure": "#b07d00"}
_FAILED = "#d0473d"
_MOST_CALLS = 50
"""Maximum number of calls that the block lists; the others are counted."""
_MONO = (
    "margin:.4em 0;padding:0;background:transparent;color:inherit;white-space:pre-wrap;"
    "overflow-wrap:anywhere;line-height:1.45;font-family:ui-monospace,Menlo,Consolas,monospace;"
    "unicode-bidi:isolate"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownRun:
    """The parts of a run that a block shows beside its answer, with placeholders for secrets."""

    facts: str = ""
    """Duration, calls, repairs, tokens and the id of the run, as a text."""
    program: str = ""
    """Source of the last program."""
    calls: Sequence[str] = ()
    """The calls of the last program, a text each."""
    remarks: Sequence[tuple[str, str]] = ()
    """What speaks against the answer, or why there is none: a label and a text each."""


def solution_block(status: str, answer: str | None, run: ShownRun) -> str:
    """Return the HTML of a solution with this status and answer."""
    color = _STATUS_COLORS.get(status, _FAILED)
    ended = f'<b style="color:{color}">{_escape(status)}</b>'
    facts = f'<span style="opacity:.75">{_escape(run.facts)}</span>'
    parts = [f'<div style="margin:.2em 0">{ended} {facts}</div>', *_remarks(run.remarks)]
    if answer is not None:
        parts.append(f'<pre style="{_MONO};font-size:1.1em">{_escape(answer)}</pre>')
    if run.program.strip():
        lines = count(len(run.program.strip().splitlines()), "line")
        parts.append(_folded(f"program, {lines}", _program(run.program.strip("\n")), is_open=True))
    if run.calls:
        shown = [*run.calls[:_MOST_CALLS]]
        if more := len(run.calls) - len(shown):
            shown.append(f"… {count(more, 'more call')}")
        parts.append(_folded(count(len(run.calls), "call"), _escape("\n".join(shown))))
    border = f"border-left:3px solid {color};padding:.1em .8em;margin:.3em 0"
    return f'<div style="{border}">{"".join(parts)}</div>'


def lines_block(lines: Sequence[str], *, is_open: bool, title: str) -> str:
    """Return the HTML of lines that can be folded away."""
    return _folded(title, _escape("\n".join(lines)), is_open=is_open)


def _folded(title: str, inner: str, *, is_open: bool = False) -> str:
    """Return an element that a person can open and close. `inner` is HTML."""
    summary = f'<summary style="cursor:pointer;opacity:.75">{_escape(title)}</summary>'
    opened = " open" if is_open else ""
    return f'<details{opened}>{summary}<pre style="{_MONO}">{inner}</pre></details>'


def _remarks(remarks: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Yield the HTML of each remark."""
    for label, text in remarks:
        shown = f'<b style="color:{_STATUS_COLORS["unsure"]}">{_escape(label)}</b> {_escape(text)}'
        yield f'<div style="margin:.2em 0;overflow-wrap:anywhere">{shown}</div>'


def _program(source: str) -> str:
    """Return the HTML of a program with coloured syntax."""
    shown = []
    for kind, text in read_tokens(escape_hidden(source, keep_newlines=True)):
        escaped = html.escape(text)
        shown.append(f'<span style="color:{_COLORS[kind]}">{escaped}</span>' if kind else escaped)
    return "".join(shown)


def _escape(text: str) -> str:
    """Return a text escaped for HTML. Characters that cannot be seen are shown as escapes."""
    return html.escape(escape_hidden(text, keep_newlines=True))
