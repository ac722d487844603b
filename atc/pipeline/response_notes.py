"""Notes about what responses hold beyond what a program read: further pages, and headers."""

from __future__ import annotations

from collections.abc import Iterator

from atc.core.messages import describe_result_headers
from atc.core.tool_calls import WITH_HEADERS
from atc.core.types import Attempt
from atc.pipeline.autofix.paging import page_notes
from protocols.next_page import NextPage, Page, UnreadablePage, next_page
from protocols.tool import Tool
from protocols.toolbox import Toolbox
from sandbox.trace import ToolCall


def response_notes(attempt: Attempt, tools: Toolbox, *, task: str = "") -> tuple[str, ...]:
    """Return sentences about pages that were left unread, and about a header with the result.

    What makes the answer doubtful is a doubt and no note.
    """
    if attempt.trace is None:
        return ()
    known = tools.only(dict.fromkeys(c.tool for c in attempt.calls if c.tool in tools))
    pages = page_notes(attempt.program, attempt.trace, known, task=task)
    return tuple(dict.fromkeys((*pages, *_header_notes(attempt))))


def _header_notes(attempt: Attempt) -> Iterator[str]:
    """Yield a note for each call whose headers have its result, or say where it is."""
    if WITH_HEADERS in attempt.program.names:
        return
    for call in attempt.calls:
        if sentence := describe_result_headers(call):
            yield sentence


def describe_unread(tool: Tool, call: ToolCall) -> str:
    """Return a sentence on the page after a successful call, and how one call asks for it, or "".

    Only what a response announces counts.
    """
    following = next_page(tool, Page(call.arguments, call.query, call.result, call.headers))
    if isinstance(following, UnreadablePage):
        return f"More rows are there ({following.evidence}), but {following.why}."
    if not isinstance(following, NextPage) or not following.announced:
        return ""
    before = f"More rows are there ({following.evidence})"
    changed = {
        name: value
        for name, value in following.arguments.items()
        if call.arguments.get(name) != value
    }
    if following.query or not changed:
        return f"{before}: a program reads them with pages({tool.alias}, …)."
    given = ", ".join(f"{name}={value!r}" for name, value in changed.items())
    return f"{before}: call it again with {given}."
