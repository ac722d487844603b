"""How values and characters are written: in JSON, and as Python's literals."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal

from atc.regex.tree import (
    ANY,
    LAST,
    Alternatives,
    Chars,
    Repeated,
    Row,
    Tree,
    alternatives,
    chars,
    common,
    literal,
    others,
    row,
    single,
)
from protocols.jsontypes import Json

Style = Literal["json", "python"]

_HEX = chars([(48, 57), (65, 70), (97, 102)])
# Four hexadecimal digits that are no half of a surrogate pair, which JSON allows and few readers survive.
_CODE = alternatives(
    [
        row([chars([(48, 57), (65, 67), (69, 70), (97, 99), (101, 102)]), Repeated(_HEX, 3, 3)]),
        row([chars([(68, 68), (100, 100)]), chars([(48, 55)]), Repeated(_HEX, 2, 2)]),
    ]
)
_HIGH = row(
    [literal("\\u"), chars([(68, 68), (100, 100)]), chars([(56, 57), (65, 66), (97, 98)]), Repeated(_HEX, 2, 2)]
)
_LOW = row([literal("\\u"), chars([(68, 68), (100, 100)]), chars([(67, 70), (99, 102)]), Repeated(_HEX, 2, 2)])
_NAMED = {"\n": "n", "\r": "r", "\t": "t", "\b": "b", "\f": "f"}
_CONTROL = chars([(0, 31)])
_EVERY_ESCAPE: dict[Style, Tree] = {
    # JSON's pair of escapes is one character; Python reads it as two halves.
    "json": alternatives(
        [
            row([single("\\"), chars([(ord(c), ord(c)) for c in '"\\/bfnrt'])]),
            row([literal("\\u"), _CODE]),
            row([_HIGH, _LOW]),
        ]
    ),
    "python": alternatives(
        [
            row([single("\\"), chars([(ord(c), ord(c)) for c in "\"'\\bfnrt"])]),
            row([literal("\\u"), _CODE]),
            row([literal("\\x"), Repeated(_HEX, 2, 2)]),
        ]
    ),
}
CONSTANTS: dict[Style, dict[Json, str]] = {
    "json": {None: "null", True: "true", False: "false"},
    "python": {None: "None", True: "True", False: "False"},
}


def quotes(style: Style) -> str:
    """The quotation marks in which a string may stand."""
    return '"' if style == "json" else "\"'"


@lru_cache(maxsize=4096)
def _encoded(these: Chars, style: Style, quote: str, *, plain: bool) -> Tree:
    """One character of a string as it is written between `quote`s."""
    special = chars([*_CONTROL.ranges, *single(quote).ranges, *single("\\").ranges])
    bare = common(these, others(special))
    if these == ANY and not plain:
        return alternatives([bare, _EVERY_ESCAPE[style]])
    escaped: list[Tree] = []
    for low, high in common(these, special).ranges:
        for char in map(chr, range(low, high + 1)):
            letter = _NAMED.get(char, char if char >= " " else None)
            if letter is not None:
                escaped.append(literal(f"\\{letter}"))
            elif low == high or plain:  # a class that happens to hold them all is not meant to
                escaped.append(literal(f"\\u{ord(char):04x}"))
    if style == "json" and not plain:
        escaped += _escaped_codes(these)
    return alternatives([bare, *escaped])


_FEW = 3


def _escaped_codes(these: Chars) -> Iterator[Tree]:
    """JSON's escapes of characters beyond ASCII, which many writers use for all of them.

    Of a class with many gaps only whole blocks of 256 characters, so that expressions stay small.
    """
    beyond = [(max(low, 0x80), high) for low, high in these.ranges if high >= 0x80]
    for low, high in beyond:
        for first, last in (
            (low, min(high, 0xFF)),
            (max(low, 0x100), min(high, 0xD7FF)),
            (max(low, 0xE000), min(high, LAST)),
        ):
            end = min(last, 0xFFFF)
            if len(beyond) > _FEW and first > 0xFF:
                first, end = -(-first // 256) * 256, (end + 1) // 256 * 256 - 1
            if first <= end:
                yield row([literal("\\u"), _hex_between(f"{first:04x}", f"{end:04x}")])
        if low <= 0x10000 and high == LAST:
            yield row([_HIGH, _LOW])


def _hex_between(low: str, high: str) -> Tree:
    """Hexadecimal digits from `low` to `high`, both of one width."""
    if not low:
        return row(())
    rest = len(low) - 1
    if low[1:] == "0" * rest and high[1:] == "f" * rest:
        return row([_hex_digits(low[0], high[0]), *([Repeated(_HEX, rest, rest)] if rest else [])])
    if low[0] == high[0]:
        return row([_hex_digits(low[0], low[0]), _hex_between(low[1:], high[1:])])
    first, last = int(low[0], 16) + 1, int(high[0], 16) - 1
    amid = [row([_hex_digits(f"{first:x}", f"{last:x}"), Repeated(_HEX, rest, rest)])] if first <= last else []
    return alternatives(
        [
            row([_hex_digits(low[0], low[0]), _hex_between(low[1:], "f" * rest)]),
            *amid,
            row([_hex_digits(high[0], high[0]), _hex_between("0" * rest, high[1:])]),
        ]
    )


def _hex_digits(low: str, high: str) -> Chars:
    digits = [f"{n:x}" for n in range(int(low, 16), int(high, 16) + 1)]
    return chars([(ord(char), ord(char)) for digit in digits for char in (digit, digit.upper())])


def encoded(tree: Tree, style: Style, quote: str, *, plain: bool = False) -> Tree:
    """What matches the strings of `tree` as they are written between `quote`s, without these.

    `plain`: each string in one way only, so that another expression can tell it from others.
    """
    match tree:
        case Chars():
            return _encoded(tree, style, quote, plain=plain)
        case Row(parts):
            return row(encoded(part, style, quote, plain=plain) for part in parts)
        case Alternatives(parts):
            return alternatives(encoded(part, style, quote, plain=plain) for part in parts)
        case Repeated(part, least, most):
            return Repeated(encoded(part, style, quote, plain=plain), least, most)
    return tree


def string_literal(tree: Tree, style: Style, *, plain: bool = False) -> Tree:
    """What matches the strings of `tree` as literals, in any quotation marks that `style` has."""
    return alternatives(
        row([single(quote), encoded(tree, style, quote, plain=plain), single(quote)]) for quote in quotes(style)
    )


def spelled(value: Json, style: Style) -> tuple[str, ...]:
    """The ways in which a scalar is written, the usual one first; each is distinct."""
    if isinstance(value, str):
        return tuple(dict.fromkeys(_strings(value, style)))
    if value is None or isinstance(value, bool):
        return (CONSTANTS[style][value],)
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return (repr(value), str(int(value)))
    return (repr(value),)


def _strings(value: str, style: Style) -> list[str]:
    if _PLAIN_TEXT.fullmatch(value):
        return [quote + value + quote for quote in quotes(style)]
    if style == "json":
        # A half of a surrogate pair cannot be sent to anyone but as an escape.
        raw = _SURROGATE.sub(lambda half: f"\\u{ord(half[0]):04x}", json.dumps(value, ensure_ascii=False))
        return [raw, json.dumps(value)]
    plain = [quote + "".join(_python_char(char, quote) for char in value) + quote for quote in "\"'"]
    return [*plain, repr(value), ascii(value)]


_PLAIN_TEXT = re.compile(r"[ !#-&(-\[\]-~]*")
"""Characters that every style writes in one way only, whatever the quotes."""
_SURROGATE = re.compile("[\ud800-\udfff]")


def _python_char(char: str, quote: str) -> str:
    if char in (quote, "\\"):
        return "\\" + char
    if char in _NAMED:
        return "\\" + _NAMED[char]
    return f"\\u{ord(char):04x}" if char < " " or "\ud800" <= char <= "\udfff" else char
