"""The form of a text as a pattern: of what a program puts together, of dates written out, of what `strptime` reads."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from atc.check.known.kinds import Atom, Type
from atc.check.known.lattice import members
from atc.check.known.objects import Made
from atc.regex import PatternError, disjoint, sought, widths

MOST_CHARACTERS = 300
ANYTHING = r"[\s\S]*"
DATE = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
_CLOCK = r"[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{6})?([+-][0-9:.]{5,15})?"
_SPECIAL = set("\\.^$*+?{}[]()|/")
_FORMATS = {"date": f"^({DATE})?$", "date-time": rf"^({DATE}[Tt ][0-9]{{2}}:[0-9]{{2}}{ANYTHING})?$"}
_WRITTEN = {
    **dict.fromkeys("mdHIMSy", "[0-9]{2}"), "Y": "[0-9]{1,4}", "j": "[0-9]{3}", "f": "[0-9]{6}", "u": "[1-7]",
    "w": "[0-6]", "F": "[0-9]{1,4}-[0-9]{2}-[0-9]{2}", "T": "[0-9]{2}:[0-9]{2}:[0-9]{2}", "R": "[0-9]{2}:[0-9]{2}",
    "%": "%",
}  # fmt: skip
_READ = {
    **dict.fromkeys("mdHIMSU", "[0-9]{1,2}"), "y": "[0-9]{2}", "Y": "[0-9]{4}", "j": "[0-9]{1,3}", "f": "[0-9]{1,6}",
    "u": "[1-7]", "w": "[0-6]", **dict.fromkeys("aAbBp", r"[^0-9]+"), "z": r"[\s\S]+", "%": "%",
}  # fmt: skip


def of_format(name: object) -> str | None:
    """The pattern of a text of a JSON Schema format; many services write "" for a date that they do not know."""
    return _FORMATS.get(name) if isinstance(name, str) else None


def escaped(text: str) -> str:
    """A pattern for this text alone."""
    return "".join("\\" + char if char in _SPECIAL else char for char in text)


def _inside(pattern: str) -> str | None:
    """The body of a pattern for the whole text, to be put into another one."""
    if not (pattern.startswith("^") and pattern.endswith("$")) or pattern.endswith("\\$"):
        return None
    body = pattern[1:-1]
    plain = re.sub(r"\\.|\[(?:\\.|[^\]\\])*+\]?", "", body)
    if "^" in plain or "$" in plain:
        return None
    if "|" not in plain:
        return body
    depth = 0
    for char in plain:
        depth += (char == "(") - (char == ")")
        if char == "|" and depth == 0:
            return None
    return body


def piece(value: Type, spec: str = "") -> str:
    """The pattern of what `f"{value:spec}"` writes, to be put into another one."""
    bodies = {_piece(member, spec) for member in members(value)}
    return bodies.pop() if len(bodies) == 1 else ANYTHING


def _piece(member: Type, spec: str) -> str:
    match member:
        case Atom("str", values=None, pattern=str(pattern)) if not spec:
            return _inside(pattern) or ANYTHING
        case Atom("str" | "int" | "bool", values=tuple(values)) if not spec and len(values) <= 12:
            body = "|".join(escaped(str(value)) for value in values)
            return body if len(values) == 1 else f"({body})"
        case Atom("int") if spec in ("", "d"):
            return "-?[0-9]+" if spec else r"-?[0-9]+(\.0)?"  # to JSON Schema 3.0 is an integer too
        case Atom("int") if found := re.fullmatch(r"0([1-9])d?", spec):
            return f"(-[0-9]+|[0-9]{{{found[1]},}})"
        case Made("date") if not spec:
            return DATE
        case Made("datetime") if not spec:
            return f"{DATE} {_CLOCK}"
        case Made("date" | "datetime"):
            return written(spec) or ANYTHING
        case _:
            return ANYTHING


def whole(bodies: Iterable[str]) -> str | None:
    """The pattern of a text of these pieces; None where it says nothing."""
    pattern = f"^{''.join(bodies)}$"
    return None if len(pattern) > MOST_CHARACTERS or pattern.strip("^$") in ("", ANYTHING) else pattern


def isoformat(name: str) -> str | None:
    """What `isoformat()` of a moment gives."""
    return {"date": f"^{DATE}$", "datetime": f"^{DATE}T{_CLOCK}$"}.get(name)


def written(form: str) -> str | None:
    """The body of a pattern for what `strftime(form)` gives, whatever the date."""
    return _translated(form, _WRITTEN, lambda char: escaped(char), ANYTHING)


def read(form: str) -> str | None:
    """The pattern of every text that `strptime(text, form)` can read; None where we cannot tell."""
    body = _translated(form, _READ, _letter, None)
    return None if body is None else f"^{body}$"


def _letter(char: str) -> str:
    """What `strptime` takes for a character of its form: either case, and white space of any length."""
    if char.isspace():
        return r"\s*"
    return f"[{char.lower()}{char.upper()}]" if char.isascii() and char.isalpha() else escaped(char)


def _translated(form: str, table: dict[str, str], letter: object, other: str | None) -> str | None:
    body: list[str] = []
    waiting = iter(form)
    for char in waiting:
        if char != "%":
            body.append(letter(char) if callable(letter) else char)
            continue
        part = table.get(next(waiting, ""), other)
        if part is None:
            return None
        body.append(part)
        if part is ANYTHING:
            # What a directive takes that we do not know is not certain either.
            return None
    return "".join(body) if len(body) <= 60 else None


@lru_cache(maxsize=4096)
def text_lengths(pattern: str) -> tuple[int, int | None]:
    """The least and the greatest length, None for no bound, of texts in which JSON Schema finds the pattern."""
    try:
        return widths(sought(pattern))
    except (PatternError, RecursionError):
        return 0, None


def apart(one: str, other: str) -> bool:
    """Whether no text at all matches both patterns, each searched for as JSON Schema does."""
    return one != other and _apart(*sorted((one, other)))


@lru_cache(maxsize=4096)
def _apart(one: str, other: str) -> bool:
    if len(one) > MOST_CHARACTERS or len(other) > MOST_CHARACTERS:
        return False
    try:
        return disjoint(sought(one), sought(other))
    except (PatternError, RecursionError):
        return False


def apart_all(pattern: str, patterns: Sequence[str]) -> bool:
    """Whether the pattern shares no text with any of these."""
    return bool(patterns) and all(apart(pattern, other) for other in patterns)
