"""Pages: which argument says how long one is, and how long one is where nobody says."""

from __future__ import annotations

import re
from collections.abc import Mapping

from probing.facts import ToolFacts
from protocols.jsontypes import Json
from protocols.words import snake

_SIZES = re.compile(r"(^|_)(limit|size|per_?page|count|rows|take|top|(max|num)_?(results|items|records))$")
_TOTALS = frozenset({"total", "count", "total_count", "total_results", "total_items", "total_records", "hits"})
_PAGES = frozenset({"pages", "total_pages", "page_count", "num_pages", "last_page"})
_MORE = frozenset({"has_more", "has_next", "next", "next_page", "next_page_token", "next_cursor", "next_token"})


def sizes_pages(argument: str) -> bool:
    """Whether an argument's name says that it is how many records a page may have."""
    return _SIZES.search(snake(argument)) is not None


def usual_length(facts: ToolFacts, argument: str) -> int | None:
    """How many records a page has where `argument` is left out; None where that was not seen.

    Told by responses that say that there is more: all of their lists are equally long, and a page of another size was
    given where it was asked for.
    """
    full = {
        length
        for sample in facts.done
        if argument not in sample.arguments and (length := _length(sample.response)) and _has_more(sample.response)
    }
    obeyed = [
        _length(sample.response) <= given.value
        for sample in facts.done
        if (given := sample.arguments.get(argument)) is not None and isinstance(given.value, int)
    ]
    return full.pop() if len(full) == 1 and obeyed and all(obeyed) else None


def _length(response: Json) -> int:
    """Of the longest list that stands at the top of a response."""
    parts = response.values() if isinstance(response, Mapping) else [response]
    return max((len(part) for part in parts if isinstance(part, list)), default=0)


def _has_more(response: Json) -> bool:
    if not isinstance(response, Mapping):
        return False
    said = {snake(str(key)): value for key, value in response.items()}
    return (
        any(_above(said.get(name), _length(response)) for name in _TOTALS)
        or any(_above(said.get(name), 1) for name in _PAGES)
        or any(said.get(name) not in (None, False, "") for name in _MORE)
    )


def _above(value: Json, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > least
