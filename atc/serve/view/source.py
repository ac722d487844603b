"""A program as a page shows it: coloured, numbered, with what was said of a line right below it, and as a change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher

from pygments.lexers.python import PythonLexer
from pygments.token import Comment, Keyword, Name, Number, Operator, String, _TokenType

from atc.pages.markup import Html, join, tag, text

_COLOURS: tuple[tuple[_TokenType, str], ...] = (
    (Comment, "c"),
    (String, "s"),
    (Number, "n"),
    (Keyword, "k"),
    (Operator.Word, "k"),
    (Name.Builtin, "b"),
    (Name.Exception, "b"),
)
_AROUND = 3
"""Lines that a change is shown with."""


def coloured(source: str) -> list[Html]:
    """The lines of a program as markup."""
    lines: list[list[Html]] = [[]]
    for kind, value in PythonLexer(stripnl=False, ensurenl=False).get_tokens(source):
        colour = next((name for of, name in _COLOURS if kind in of), None)
        for number, part in enumerate(value.split("\n")):
            if number:
                lines.append([])
            if part:
                lines[-1].append(text(part) if colour is None else tag("span", part, class_=colour))
    return [join(line) for line in lines[: len(_lines(source))]]


def _lines(source: str) -> list[str]:
    """The lines as pygments counts them."""
    return source.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n").split("\n")


def program(
    source: str,
    *,
    label: str,
    prefix: str,
    beside: Mapping[int, Html],
    below: Mapping[int, Sequence[Html]],
    bad: Mapping[int, str],
) -> Html:
    """Numbered lines, by 1-based number: what stands `beside` a line, and `below` it; `bad` lines are marked, and why.

    `prefix` begins the ids of the lines.
    """
    parts = []
    for number, line in enumerate(coloured(source), start=1):
        code = tag("code", line, class_="code")
        note = beside.get(number, Html())
        why = bad.get(number)
        spoken = tag("span", f"{why}: ", class_="sr") if why else Html()
        classes = f"row {why}" if why else "row"
        parts.append(
            tag("div", tag("span", str(number), class_="no", aria_hidden="true"), spoken, code, note, class_=classes,
                id=f"{prefix}{number}")
        )  # fmt: skip
        parts += below.get(number, ())
    return tag("div", *parts, class_="source", tabindex=0, role="region", aria_label=label)


def change(before: str, after: str, *, label: str) -> tuple[Html, int, int]:
    """What became of a program's lines, and how many were added and removed."""
    old, new = _lines(before), _lines(after)
    old_shown, new_shown = coloured(before), coloured(after)
    rows: list[Html] = []
    added = removed = 0
    for group in SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(_AROUND):
        if rows or group[0][1]:
            rows.append(tag("div", "⋯", class_="row gap", aria_hidden="true"))
        for kind, a, b, c, d in group:
            if kind == "equal":
                rows += [_changed(" ", number + 1, new_shown[number]) for number in range(c, d)]
                continue
            removed, added = removed + b - a, added + d - c
            rows += [_changed("−", number + 1, old_shown[number]) for number in range(a, b)]
            rows += [_changed("+", number + 1, new_shown[number]) for number in range(c, d)]
    shown = tag("div", *rows, class_="source change", tabindex=0, role="region", aria_label=label)
    return shown, added, removed


def _changed(sign: str, number: int, line: Html) -> Html:
    spoken = {"+": "added: ", "−": "removed: "}.get(sign)
    kind = {"+": "row added", "−": "row removed"}.get(sign, "row")
    return tag(
        "div",
        tag("span", f"{number} {sign}", class_="no", aria_hidden="true"),
        tag("span", spoken, class_="sr") if spoken else Html(),
        tag("code", line, class_="code"),
        class_=kind,
    )
