"""Values that a schema lists, and what stands between values, as parts of a grammar."""

from __future__ import annotations

from collections.abc import Mapping

from atc.decode.arguments.literals import Style, spelled
from atc.decode.grammar import Choice, Node, Pattern, Sequence, Text
from protocols.jsontypes import Json

SEPARATOR = Pattern(", ?")
COLON = Pattern(": ?")
EQUALS = Pattern(" ?= ?")


def written(value: Json, style: Style) -> Node:
    """Exactly `value`. Its brackets and separators are parts of their own, as in any array and object.

    A lexer would else take the bracket of `[1, 3]` for the beginning of a listed `[1, 2]`.
    """
    if isinstance(value, Mapping):
        pairs: list[Node] = []
        for key, item in value.items():
            pairs += [*([SEPARATOR] if pairs else []), key_text(key, style), COLON, written(item, style)]
        return Sequence((Text("{"), *pairs, Text("}")))
    if isinstance(value, list | tuple):
        items: list[Node] = []
        for item in value:
            items += [*([SEPARATOR] if items else []), written(item, style)]
        return Sequence((Text("["), *items, Text("]")))
    return one_of(spelled(value, style))


def key_text(name: str, style: Style) -> Node:
    """The key of this name, in quotation marks."""
    return one_of(spelled(name, style))


def pair_of(key: Node, value: Node) -> Node:
    """A key and its value."""
    return Sequence((key, COLON, value))


def one_of(texts: tuple[str, ...]) -> Node:
    """One of these texts."""
    return Text(texts[0]) if len(texts) == 1 else Choice(tuple(map(Text, texts)))
