"""The pages of a list that a program reads with `pages(…)`, as the host follows them.

A program asks for "the page after call 3" and can name no address. The host derives the request
from the recorded response of that call.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import NamedTuple

from protocols.next_page import NextPage, Page, UnreadablePage, next_page
from protocols.pagination import Rows, find_rows, read_signs
from protocols.schema import JsonObject
from protocols.tool import Tool
from sandbox.trace import ToolCall
from sandbox.wire import CallRequest, protocol_violation
from sandbox.write_verification import sorted_json

MOST_EMPTY_PAGES = 20
"""Number of empty pages after which a series ends, although the service announces more."""


ONLY_READS = "pages() only reads, and this tool may change data: call it directly"


REPEATS = "the page that follows is one that was read"


class PageStep(NamedTuple):
    """The reply to the program after a page: if more pages follow, and if this one is skipped."""

    more: bool
    skip: bool


@dataclass(slots=True)
class PageSeries:
    """The pages that one `pages(…)` of a program has read so far."""

    tool: Tool
    following: NextPage | None = None
    """The request of the next page; None if there is none."""
    problem: str = ""
    """A clause that says why a further page is not read although there may be one, or ""."""
    _requests: set[str] = field(default_factory=set)
    _digests: set[bytes] = field(default_factory=set)
    _rows: int = 0
    _empty: int = 0
    _from_zero: bool = False
    """True if the first page has the number 0."""

    def take(self, call: ToolCall) -> PageStep:
        """Add a successful call that returned the next page. Return if further pages follow."""
        asked = self.following
        found = find_rows(self.tool.unwrap(call.result))
        is_empty = found is not None and not found.rows and bool(self._digests)
        is_repeated = not is_empty and self._is_repeated(call, found, asked)
        self._requests.add(_identify(call.arguments, call.query))
        if is_empty:
            self._empty += 1
        elif not is_repeated:
            self._rows += 0 if found is None else len(found.rows)
        following = next_page(
            self.tool, Page(call.arguments, call.query, call.result, call.headers)
        )
        self.following = following if isinstance(following, NextPage) else None
        if isinstance(following, UnreadablePage):
            self.problem = following.why
        ends = is_repeated and not (asked is not None and asked.may_repeat)
        if self.following is not None and self._has_all(call):
            self.following = None
        if self.following is not None and (ends or self._leads_nowhere(self.following)):
            self.following = None
            self.problem = "" if is_empty else REPEATS
        return PageStep(self.following is not None, is_empty or is_repeated)

    def _is_repeated(self, call: ToolCall, found: Rows | None, asked: NextPage | None) -> bool:
        """Return True if a page has the rows of an earlier one, and note its rows.

        Pages of plain values, such as numbers, may be equal by chance if each was announced.
        """
        value = call.result if found is None else found.rows
        digest = hashlib.sha256(sorted_json(value).encode()).digest()
        is_known = digest in self._digests
        self._digests.add(digest)
        may_be_equal = (
            asked is not None
            and asked.announced
            and found is not None
            and not any(isinstance(row, dict) for row in found.rows)
        )
        return is_known and not may_be_equal

    def _leads_nowhere(self, following: NextPage) -> bool:
        """Return True if the next request was made before, or too many pages were empty."""
        is_known = _identify(following.arguments, following.query) in self._requests
        return is_known or self._empty > MOST_EMPTY_PAGES

    def _has_all(self, call: ToolCall) -> bool:
        """Return True if all rows of the list are read, `call` being the latest page."""
        signs = read_signs(call.result, call.headers)
        self._from_zero = self._from_zero or signs.page == 0
        return signs.ends(self._rows, from_zero=self._from_zero)


def _identify(arguments: JsonObject, query: JsonObject) -> str:
    return sorted_json([arguments, query])


class SeriesOfRun:
    """All series of pages that the program of a run reads."""

    def __init__(self) -> None:
        self._by_call: dict[int, PageSeries] = {}  # by the number of its latest call

    def find(self, call: CallRequest, tool: Tool) -> tuple[PageSeries, JsonObject, JsonObject]:
        """Return the series to which a call belongs, and the arguments and query of the call.

        Those of a next page come from the host, whatever the program sends.

        Raises:
            RunEnded: the program asks for a page after a call that announced none.
        """
        if call.after is None:
            return PageSeries(tool), call.arguments, {}
        series = self._by_call.pop(call.after, None)
        if series is None or series.tool is not tool or series.following is None:
            raise protocol_violation("asked for a page after a call that announced none")
        return series, series.following.arguments, series.following.query

    def take(self, series: PageSeries, call: ToolCall) -> PageStep:
        """Add a successful call to its series, and say how the series goes on."""
        step = series.take(call)
        self._by_call[call.index] = series
        return step
