"""Writes a regular expression in Rust's syntax (for llguidance) and in that of llama.cpp's GBNF."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from atc.regex.tree import ANY, LAST, Alternatives, Anchor, Chars, Range, Repeated, Row, Tree, others


def as_rust(tree: Tree) -> str:
    """Rust's syntax, for the whole of a string: anchors must be gone (`anchors.searched`)."""
    match tree:
        case Chars(((low, high),)) if low == high:
            return _rust_char(low)
        case Chars():
            return _class(tree, _rust_char, any_char="(?s:.)")
        case Row(parts):
            return "".join(f"({as_rust(p)})" if isinstance(p, Alternatives) else as_rust(p) for p in parts)
        case Alternatives(parts):
            return "|".join(map(as_rust, parts)) if parts else "[^\\x{0}-\\x{10FFFF}]"
        case Repeated(part, least, most):
            inner = as_rust(part)
            return (inner if isinstance(part, Chars) else f"({inner})") + _counts(least, most)
        case Anchor():
            raise ValueError("an anchor is left")


def as_gbnf(tree: Tree) -> str:
    """What may stand in a rule of GBNF, in parentheses where it is a choice."""
    match tree:
        case Chars():
            return _class(tree, _gbnf_char, any_char="[^\\x00]")
        case Row(parts):
            return " ".join(_gbnf_parts(parts)) or '""'
        case Alternatives(parts):
            return "(" + " | ".join(map(as_gbnf, parts)) + ")"
        case Repeated(part, least, most):
            inner = as_gbnf(part)
            return (f"({inner})" if isinstance(part, Row) else inner) + _counts(least, most)
        case Anchor():
            raise ValueError("an anchor is left")


def _gbnf_parts(parts: tuple[Tree, ...]) -> Iterator[str]:
    """The parts, characters that follow one another as one literal."""
    text = ""
    for part in parts:
        match part:
            case Chars(((low, high),)) if low == high:
                text += _gbnf_literal(low)
                continue
        if text:
            yield f'"{text}"'
        text = ""
        yield as_gbnf(part)
    if text:
        yield f'"{text}"'


def _gbnf_literal(code: int) -> str:
    return chr(code) if 32 <= code < 127 and chr(code) not in '"\\' else _gbnf_char(code)


def _counts(least: int, most: int | None) -> str:
    match least, most:
        case 0, None:
            return "*"
        case 1, None:
            return "+"
        case 0, 1:
            return "?"
        case _, None:
            return f"{{{least},}}"
        case _:
            return f"{{{least}}}" if least == most else f"{{{least},{most}}}"


def _class(these: Chars, char: Callable[[int], str], *, any_char: str) -> str:
    if these == ANY:
        return any_char
    rest = others(these)
    negated = bool(these.ranges) and these.ranges[-1][1] == LAST
    ranges = rest.ranges if negated else _without_surrogates(these.ranges)
    body = "".join(char(low) if low == high else f"{char(low)}-{char(high)}" for low, high in ranges)
    return f"[{'^' if negated else ''}{body}]"


def _without_surrogates(ranges: tuple[Range, ...]) -> list[Range]:
    found = []
    for low, high in ranges:
        found += [(low, min(high, 0xD7FF)), (max(low, 0xE000), high)]
    return [(low, high) for low, high in found if low <= high]


def _rust_char(code: int) -> str:
    char = chr(code)
    if char.isascii() and (char.isalnum() or char in ' "_,:;=@!'):
        return char
    return f"\\x{code:02x}" if code < 0x80 else f"\\x{{{code:x}}}"


def _gbnf_char(code: int) -> str:
    char = chr(code)
    if char.isascii() and (char.isalnum() or char in " _,:;=@!"):
        return char
    return f"\\x{code:02X}" if code < 0x100 else f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"
