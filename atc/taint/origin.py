"""Where a value that may not pass came from, as a person is told, and the rules that would let it pass."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from atc.attribute.paths import MAX_NODES, Path, general, text, walk
from atc.taint.literals import Same, same
from atc.taint.shown import plain, shown, typed
from protocols.jsontypes import Json
from protocols.toolbox import Toolbox
from sandbox.trace import ToolCall

_SHORTEST_PART = 4
"""Characters from which a text that stands within another one says something."""

_MOST_SEARCHED = 20
"""Values for which texts are searched; of a call with more, nobody reads all the reasons."""


class Origin(NamedTuple):
    """A sentence about where a value came from, and the rules that `--trust` takes for it, the narrowest first."""

    sentence: str
    rules: tuple[str, ...]


class Origins:
    """The responses of `calls`, asked where values came from. `later`: literals of programs that are not blind.

    `tools` say by which name a rule means the tool of a call and no other.
    """

    def __init__(self, calls: Sequence[ToolCall], later: frozenset[Same], tools: Toolbox) -> None:
        self._calls, self._later, self._tools = calls, later, tools
        self._searched = 0

    def of(self, value: Json, document: str | None) -> Origin:
        """Where `value` came from, by equality and then by containment, the latest response first.

        `document` names the tool whose document it stands in, where it is a literal out of one.
        """
        narrow = typed(f"value={value if isinstance(value, str) else plain(value)}")
        rules = (narrow,) if narrow is not None else ()
        if document is not None:
            return Origin(f"it stands in the document of the tool {document}", rules)
        if (place := self._places.get(same(value))) is not None:
            call, path = place
            where = text(general(path))
            named = self._tools.spelling(tool) if (tool := self._tools.get(call.tool)) is not None else call.tool
            rule = typed(f"{named}:{where}" if where else named)
            return Origin(f"it equals {_field(path, call)}", (*rules, *([rule] if rule is not None else [])))
        for call, path, part in self._overlaps(value):
            whole = f"its part {shown(part)} is" if len(part) < len(str(value)) else "it is a part of"
            return Origin(f"{whole} {_field(path, call)}", rules)
        if same(value) in self._later:
            return Origin("the model wrote it after it had seen tool output", rules)
        return Origin("the program computed it" + (" after it had seen tool output" if self._calls else ""), rules)

    @cached_property
    def _leaves(self) -> Sequence[tuple[ToolCall, Path, Json]]:
        """The latest response first, at most `MAX_NODES` of them."""
        found: list[tuple[ToolCall, Path, Json]] = []
        for call in reversed(self._calls):
            found += ((call, path, inner) for path, inner in walk(call.result) if not isinstance(inner, list | dict))
            if len(found) >= MAX_NODES:
                break
        return found

    @cached_property
    def _places(self) -> dict[Same, tuple[ToolCall, Path]]:
        return {same(inner): (call, path) for call, path, inner in reversed(self._leaves)}

    def _overlaps(self, value: Json) -> Iterator[tuple[ToolCall, Path, str]]:
        """Texts that hold the value, or that it holds; what they share comes with them."""
        wanted = value if isinstance(value, str) else plain(value)
        self._searched += 1
        if isinstance(value, bool) or len(wanted) < _SHORTEST_PART or self._searched > _MOST_SEARCHED:
            return
        for call, path, inner in self._leaves:
            held = inner if isinstance(inner, str) else ""
            if wanted.casefold() in held.casefold():
                yield call, path, wanted
            elif len(held) >= _SHORTEST_PART and held.casefold() in wanted.casefold():
                yield call, path, held


def _field(path: Path, call: ToolCall) -> str:
    return f"{text(path) or 'the whole'} in the response of {call.tool}"
