"""Putting grammars together: a part that derives nothing is None, and takes what needs it along."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache

from atc.decode.grammar import EMPTY, Choice, Node, Pattern, Ref, Repeat, Sequence, Text

Part = Node | None


@lru_cache(maxsize=2048)
def _text(text: str) -> Text:
    return Text(text)  # most stand in every statement's grammar


def row(*parts: Part | str) -> Part:
    """One part after another; nothing where one of them derives nothing."""
    kept: list[Node] = []
    for part in parts:
        if part is None:
            return None
        kept.append(_text(part) if isinstance(part, str) else part)
    return kept[0] if len(kept) == 1 else Sequence(tuple(kept))


def either(*parts: Part | str) -> Part:
    """One of the parts that derive something."""
    kept = [_text(part) if isinstance(part, str) else part for part in parts if part is not None]
    if not kept:
        return None
    return kept[0] if len(kept) == 1 else Choice(tuple(kept))


def maybe(part: Part | str) -> Node:
    """The part or nothing."""
    if part is None:
        return EMPTY
    return Repeat(_text(part) if isinstance(part, str) else part, 0, 1)


def times(part: Part, least: int, most: int) -> Part:
    """The part `least` to `most` times."""
    if part is None:
        return EMPTY if least == 0 else None
    return Repeat(part, least, most)


def pattern(regex: str | None) -> Part:
    """A terminal, or nothing for None; the empty part for an expression that only matches no characters."""
    if regex is None:
        return None
    return Pattern(regex) if regex else EMPTY


def any_of(regexes: Iterable[str]) -> str | None:
    """A regular expression for any of these, None for none."""
    kept = list(dict.fromkeys(regexes))
    if not kept:
        return None
    return kept[0] if len(kept) == 1 else f"(?:{'|'.join(kept)})"


_SPECIAL = re.compile(r"[\\.+*?()|\[\]{}^$/]")


def literally(text: str) -> str:
    """A regular expression for these very characters, which are printable."""
    return _SPECIAL.sub(lambda found: f"\\{found[0]}", text)


class Rules:
    """The rules of one grammar as they are made, each once."""

    def __init__(self) -> None:
        self.made: dict[str, Node] = {}
        self._known: dict[str, Part] = {}

    def rule(self, name: str, make: Callable[[], Part]) -> Part:
        """A reference to the rule of this name, made where it is new; nothing where it derives nothing."""
        if name not in self._known:
            part = make()
            if part is not None and not isinstance(part, (Text, Pattern, Ref)):
                self.made[name] = part
                part = Ref(name)
            self._known[name] = part
        return self._known[name]
