"""What reaches the terminal: results on stdout, talk on stderr, and foreign text that cannot act on either."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import click

from protocols.jsontypes import Json, dumps

if TYPE_CHECKING:
    from rich.console import Console

# Controls (C0, DEL, C1), marks that turn the direction of writing, line ends that only some programs know, lone
# surrogates, and tag characters, which no one sees.
_UNSAFE = [
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


def _visible(code: int) -> str:
    short = {0x09: "\\t", 0x0A: "\\n", 0x0D: "\\r", 0x1B: "\\x1b"}
    return short.get(code) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")


_ONE_LINE = {code: _visible(code) for code in _UNSAFE}
_LINES = {code: text for code, text in _ONE_LINE.items() if code not in (0x09, 0x0A)}
# JSON has escaped what is below 0x20 already; these escapes keep it valid JSON.
_IN_JSON = {
    code: f"\\u{code:04x}" if code < 0x10000 else json.dumps(chr(code))[1:-1] for code in _UNSAFE if code >= 0x20
}


def escape_controls(text: str, *, keep_newlines: bool = False) -> str:
    """`text` with every character that could act on a terminal made visible; line ends too unless they are kept."""
    return text.translate(_LINES if keep_newlines else _ONE_LINE)


def stderr_console() -> Console:
    """For talk and progress. Plain where stderr is no terminal; heeds NO_COLOR."""
    from rich.console import Console

    return Console(stderr=True, highlight=False, markup=False, emoji=False)


def say(sentence: str) -> None:
    """One line for the person, on stderr."""
    click.echo(escape_controls(sentence), err=True)


def print_text(text: str) -> None:
    """A result of one or more lines, on stdout."""
    click.echo(escape_controls(text, keep_newlines=True))


def print_json(value: Json) -> None:
    """A result for machines, on stdout: indented on a terminal, else on one line."""
    indent = 2 if sys.stdout is not None and sys.stdout.isatty() else None
    click.echo(json_text(value, indent=indent))


def json_text(value: Json, *, indent: int | None = None) -> str:
    """`value` as JSON that can be shown: readable letters as they are, everything else escaped."""
    return dumps(value, indent=indent).translate(_IN_JSON)


def error_document(sentence: str, code: int) -> dict[str, str]:
    """What `--json` says of an error, alone or beside a result: the sentence, and what kind it is by the exit code."""
    kinds = {1: "failed", 2: "usage", 3: "environment", 130: "interrupted"}
    return {"error": " ".join(sentence.split()), "kind": kinds[code]}


def print_columns(rows: Iterable[Sequence[str]]) -> None:
    """Rows as aligned columns, two spaces apart; on a terminal the last column is cut at the terminal's width."""
    shown = [[escape_controls(cell) for cell in row] for row in rows]
    if not shown:
        return
    widths = [max(len(row[column]) for row in shown) for column in range(len(shown[0]) - 1)]
    room = terminal_width() - sum(widths) - 2 * len(widths) if sys.stdout is not None and sys.stdout.isatty() else None
    for row in shown:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        click.echo("  ".join([*cells, clipped(row[-1], room)]).rstrip())


def clipped(text: str, width: int | None) -> str:
    """`text` cut to `width` characters, with an ellipsis where something is missing."""
    return text if width is None or len(text) <= max(width, 10) else text[: max(width, 10) - 1] + "…"


def terminal_width() -> int:
    """Columns of the terminal, 80 where there is none."""
    import shutil

    return shutil.get_terminal_size().columns


def count(number: int, noun: str) -> str:
    """`1 call`, `2 calls`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
