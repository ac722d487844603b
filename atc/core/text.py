"""Functions for texts that people read: escaping of control characters, shortening, counting."""

from __future__ import annotations

# Controls (C0, DEL, C1), marks that turn the direction of writing, line ends that only some
# programs know, lone surrogates, and tag characters, which are invisible.
UNSAFE = [
    *range(0x20),
    *range(0x7F, 0xA0),
    0x061C,
    *range(0x200E, 0x2010),
    *range(0x2028, 0x202F),
    *range(0x2066, 0x206A),
    *range(0xD800, 0xE000),
    0xFEFF,
    *range(0xE0000, 0xE0080),
]


def escape_visibly(code: int) -> str:
    """Return the character with this code point as a visible escape, as in a Python string."""
    short = {0x09: "\\t", 0x0A: "\\n", 0x0D: "\\r", 0x1B: "\\x1b"}
    return short.get(code) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")


_ONE_LINE = {code: escape_visibly(code) for code in UNSAFE}
_LINES = {code: text for code, text in _ONE_LINE.items() if code not in (0x09, 0x0A)}


def escape_controls(text: str, *, keep_newlines: bool = False) -> str:
    """Return `text` with each character escaped that could control a terminal.

    Line ends are escaped too, unless `keep_newlines` is True.
    """
    return text.translate(_LINES if keep_newlines else _ONE_LINE)


def clipped(text: str, width: int | None) -> str:
    """Return `text` on one line. If it is longer than `width`, it is cut and ends in an ellipsis.

    If `width` is None, the text is not cut.
    """
    line = " ".join(text.split())
    most = max(width or 0, 10)
    return line if width is None or len(line) <= most else line[: most - 1] + "…"


def count(number: int, noun: str) -> str:
    """Return a number with its noun in the right form: `1 call`, `2 calls`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
