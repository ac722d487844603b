"""What an argument in the path of a URL may hold, so that it never leads to another operation.

Servers decode `%2F`, `%2E` and `%5C` before or after they choose the operation, each in its own way.
So no encoding makes a dot segment or a backslash safe, and a slash is safe only where the service
expects a path.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from protocols.schema import JsonObject, combined
from protocols.words import snake

PATH_MARK = "x-atc-path"
"""True in an argument's schema: its value is a path, whose slashes are sent as they are."""

_GREEDY = re.compile(r"\{(?:\+([^{}/]+)|\*([^{}/]+)|([^{}/]+)[+*]|([^{}/:]+):path|path:([^{}/:]+))\}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_UNICODE_ESCAPE = re.compile(r"%u([0-9a-fA-F]{4})")
_QUOTED_PATH = re.compile(r"""[`'"][^`'"\s/]+/[^`'"\s]*[`'"]""")
_EXCLUDED = re.compile(r"\[\^(?:\\.|[^\]\\])*\]|\(\?<?![^()]*\)")
"""Negated classes and negative look-arounds of a regular expression: `[^/]`, `(?!/)`."""
_MOST_ENCODINGS = 8
_MOST_SCHEMAS = 50


def without_path_marks(url: str) -> tuple[str, frozenset[str]]:
    """Return a URL template with plain variables, and the variables that were marked as paths.

    `{+name}` of RFC 6570 is a mark, and so are the ways in which frameworks write it: `{name+}`,
    `{name*}`, `{*name}`, `{name:path}` and `{path:name}`.
    """
    names: set[str] = set()

    def plain(match: re.Match[str]) -> str:
        name = next(group for group in match.groups() if group)
        names.add(name)
        return f"{{{name}}}"

    return _GREEDY.sub(plain, url), frozenset(names)


def shows_slash(name: str, schema: JsonObject, root: JsonObject) -> bool:
    """Return True if the document shows that values of a path argument hold slashes.

    It shows one in the argument's name (`file_path`), in an example, a default or an enum, in a
    pattern, or in a quoted sample in the description (`heads/main`).
    """
    if snake(name).split("_")[-1].endswith("path"):
        return True
    for part in combined([schema], root, most=_MOST_SCHEMAS):
        if part.get(PATH_MARK) is True or any("/" in sample for sample in _samples(part)):
            return True
        if isinstance(pattern := part.get("pattern"), str) and _pattern_has_slash(pattern):
            return True
        if _QUOTED_PATH.search(str(part.get("description", ""))):
            return True
    return False


def path_problem(text: str, *, slash: bool) -> str | None:
    """Return why a value cannot stand in a path, as the end of a sentence, or None if it can.

    `slash` is True if the value may hold slashes.
    """
    plain = _decoded(text)
    if plain is None:
        return "is encoded in a way that servers read differently"
    if "\\" in plain:
        return "holds a backslash, which many servers read as a slash"
    if has_dot_segment(plain):
        return "holds a dot segment ('.' or '..'), which leads to another path"
    if found := _CONTROL.search(plain):
        return f"holds the control character {found[0]!r}, which is not sent"
    if "/" in plain and not slash:
        return (
            "holds a slash, which many servers read as the beginning of another path; if the"
            f' argument is a path, put "{PATH_MARK}": true into its schema'
        )
    return None


def has_dot_segment(path: str) -> bool:
    """Return True if a step of a decoded path is `.` or `..`, also before parameters (`..;x`)."""
    steps = re.split(r"[/\\]", path)
    return any(step.partition(";")[0].strip() in (".", "..") for step in steps)


def _decoded(text: str) -> str | None:
    """Return a text with every percent-encoding undone, or None if it has too many or unclear ones."""
    for _ in range(_MOST_ENCODINGS):
        try:
            plain = unquote(text, errors="strict")
        except UnicodeDecodeError:
            return None
        plain = _UNICODE_ESCAPE.sub(lambda match: chr(int(match[1], 16)), plain)
        plain = unicodedata.normalize("NFKC", plain)
        if plain == text:
            return plain
        text = plain
    return None


def _samples(schema: JsonObject) -> Iterator[str]:
    """Yield the texts that a schema gives as values."""
    for key in ("example", "default", "const"):
        if isinstance(value := schema.get(key), str):
            yield value
    for key in ("examples", "enum"):
        values: Any = schema.get(key)
        if isinstance(values, Mapping):
            values = [*values.values()]
        for value in values if isinstance(values, list | tuple) else ():
            yield value if isinstance(value, str) else json.dumps(value)


def _pattern_has_slash(pattern: str) -> bool:
    """Return True if a regular expression names a slash as something that a value holds."""
    return "/" in _EXCLUDED.sub("", pattern)
