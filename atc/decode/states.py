"""The states of ToolDec's machine, and where a token leads."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from atc.decode.call_matcher import CallMatcher
from atc.decode.trie import Place


class InText(NamedTuple):
    """Text mode. `progress` bytes of the trigger stand at its end; a call must begin after `left` more tokens."""

    progress: int = 0
    left: int | None = None


class InOpening(NamedTuple):
    """`rest` must be written before text may be."""

    rest: bytes
    left: int | None


class InName(NamedTuple):
    """Tool mode, up to the tool's name: `lead` must come first."""

    lead: bytes
    place: Place


class InArguments(NamedTuple):
    """A tool is chosen: that of the trie's `keys[key]`.

    `start` is the place in the text where its arguments begin, `fed` what the call's matcher was fed when it was
    chosen, at step `since`; each token after it was one step more.
    """

    key: int
    start: int
    fed: bytes
    since: int


class InEnd(NamedTuple):
    """The text was ended."""


Where: TypeAlias = InText | InOpening | InName | InArguments | InEnd


class Span(NamedTuple):
    """Where a finished call's arguments stand in the text."""

    key: int
    start: int
    end: int


class Move(NamedTuple):
    """Where a token leads: a state, its matcher where that is about arguments, and the calls that it finished."""

    where: Where
    matcher: CallMatcher | None
    finished: tuple[Span, ...]
