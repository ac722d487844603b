"""Changing single values in the text of a TOML file, whose comments and order are kept.

The text is taken apart into statements: headers such as `[mcp.files]`, and entries such as
`max_calls = 50`. A changed text is returned only if it means exactly what was asked for; TOML can
be written in ways that this module does not change.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

KeyPath = tuple[str, ...]
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


class CannotEdit(Exception):
    """The text has the value in a form that this module cannot change."""


@dataclass(frozen=True, slots=True)
class _Statement:
    """A header or an entry of a TOML text."""

    start: int
    """Index of its first line."""
    end: int
    """Index of the line after its last one."""
    path: KeyPath
    """The whole path of the header or entry, such as `("mcp", "files", "url")`."""
    section: KeyPath
    """The path of the header above an entry; that of a header is its own."""
    is_header: bool


def set_value(text: str, path: KeyPath, value: Any) -> str:
    """Return the TOML text with `value` at `path`. The last of several headers gets a new entry.

    Raises:
        CannotEdit: The text has the value in a form that cannot be changed.
    """
    wanted = deepcopy(tomllib.loads(text))
    _set_in_document(wanted, path, value)
    lines = _split_lines(text)
    statements = _parse(lines)
    owner = next((one for one in statements if _owns(one, path)), None)
    if owner is None:
        at, new = _place_new(lines, statements, path, value)
        lines[at:at] = new
    else:
        entry = "".join(lines[owner.start : owner.end])
        held = _get(tomllib.loads(entry), owner.path[len(owner.section) :])
        within = path[len(owner.path) :]
        if within:
            _set_in_document(held, within, value)
        lines[owner.start : owner.end] = [_with_value(entry, held if within else value)]
    return _checked("".join(lines), wanted)


def remove_value(text: str, path: KeyPath) -> str:
    """Return the TOML text without the value or table at `path`.

    Raises:
        KeyError: There is nothing at `path`.
        CannotEdit: The text has the value in a form that cannot be changed.
    """
    wanted = deepcopy(tomllib.loads(text))
    inner = _get(wanted, path[:-1])
    if not isinstance(inner, dict):
        raise KeyError(path)
    del inner[path[-1]]
    lines = _split_lines(text)
    for one in reversed(_parse(lines)):
        if one.path[: len(path)] == path:
            del lines[one.start : one.end]
        elif _owns(one, path):
            entry = "".join(lines[one.start : one.end])
            held = _get(tomllib.loads(entry), one.path[len(one.section) :])
            within = path[len(one.path) :]
            _get(held, within[:-1]).pop(within[-1])
            lines[one.start : one.end] = [_with_value(entry, held)]
    return _checked("".join(lines).rstrip("\n") + "\n", wanted)


def to_toml(value: Any) -> str:
    """Return a value as TOML: a text, number, bool, list, or a mapping as an inline table."""
    match value:
        case bool() | int() | float():
            return repr(value).lower()
        case str():
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        case Mapping():
            if not value:
                return "{}"
            pairs = (f"{_format_key([key])} = {to_toml(held)}" for key, held in value.items())
            return f"{{ {', '.join(pairs)} }}"
        case Sequence():
            return f"[{', '.join(map(to_toml, value))}]"
    raise CannotEdit


def _split_lines(text: str) -> list[str]:
    """Return the lines with their line feeds; the last one gets one if it has none."""
    lines = text.split("\n")
    return [f"{line}\n" for line in lines[:-1]] + ([f"{lines[-1]}\n"] if lines[-1] else [])


def _parse(lines: Sequence[str]) -> list[_Statement]:
    """Return the headers and entries of a TOML text, which must be valid."""
    found: list[_Statement] = []
    section: KeyPath = ()
    at = 0
    while at < len(lines):
        start = at
        at = _end_of_statement(lines, start)
        document = tomllib.loads("".join(lines[start:at]))
        if not document:  # a comment or an empty line
            continue
        is_header = lines[start].lstrip().startswith("[")
        if is_header:
            section = _only_path(document)
            path = section
        else:
            path = section + _split_entry("".join(lines[start:at]))[0]
        found.append(_Statement(start, at, path, section, is_header))
    return found


def _end_of_statement(lines: Sequence[str], start: int) -> int:
    """Return the index of the line after the statement that begins at `start`.

    A statement has as many lines as it needs to be TOML by itself.
    """
    for end in range(start + 1, len(lines) + 1):
        try:
            tomllib.loads("".join(lines[start:end]))
        except tomllib.TOMLDecodeError:
            continue
        return end
    raise CannotEdit


def _only_path(document: Mapping[str, Any]) -> KeyPath:
    """Return the path of the innermost table of a document that consists of one header."""
    path: list[str] = []
    held: Any = document
    while isinstance(held, Mapping) and held:
        path.extend(held)
        held = next(iter(held.values()))
    return tuple(path)


def _split_entry(entry: str) -> tuple[KeyPath, int]:
    """Return the path of an entry, and the index of the `=` before its value."""
    for at in (match.start() for match in re.finditer("=", entry)):
        try:
            return _only_path(tomllib.loads(f"{entry[:at]}= 0")), at
        except tomllib.TOMLDecodeError:  # the sign is within a quoted key
            continue
    raise CannotEdit


def _owns(statement: _Statement, path: KeyPath) -> bool:
    """Return True if a statement is the entry at `path`, or an inline table around it."""
    return not statement.is_header and path[: len(statement.path)] == statement.path


def _place_new(
    lines: Sequence[str], statements: Sequence[_Statement], path: KeyPath, value: Any
) -> tuple[int, list[str]]:
    """Return the index of the line where a new entry belongs, and its lines."""
    above = path[:-1]
    same = [one for one in statements if one.section == above]
    if not same:  # next to an entry of the same table with a dotted key
        same = [one for one in statements if not one.is_header and one.path[:-1] == above]
    if same:
        return same[-1].end, [_entry(path[len(same[-1].section) :], value)]
    if above:
        gap = ["\n"] if lines and lines[-1].strip() else []
        return len(lines), [*gap, f"[{_format_key(above)}]\n", _entry(path[-1:], value)]
    at = next((one.start for one in statements), len(lines))
    while 0 < at < len(lines) and lines[at - 1].lstrip().startswith("#"):
        at -= 1  # the comment above a header stays there
    return at, [_entry(path, value), *(["\n"] if at < len(lines) else [])]


def _entry(keys: KeyPath, value: Any) -> str:
    """Return a new entry as a line."""
    return f"{_format_key(keys)} = {to_toml(value)}\n"


def _format_key(keys: Sequence[str]) -> str:
    """Return a dotted key as TOML. Parts with other characters than letters are quoted."""
    return ".".join(key if _BARE_KEY.fullmatch(key) else to_toml(key) for key in keys)


def _with_value(entry: str, value: Any) -> str:
    """Return an entry with another value. A comment behind the old value is kept."""
    at = _split_entry(entry)[1]
    comment = ""
    for match in re.finditer(r"[ \t]*#", entry[at:]):
        try:
            tomllib.loads(entry[: at + match.start()])
        except tomllib.TOMLDecodeError:  # the sign is within the value
            continue
        comment = entry[at + match.start() :].rstrip("\r\n")
        break
    return f"{entry[:at].rstrip()} = {to_toml(value)}{comment}\n"


def _get(document: Any, path: KeyPath) -> Any:
    """Return the value at a path. Raise KeyError if there is none."""
    for key in path:
        if not isinstance(document, Mapping):
            raise KeyError(key)
        document = document[key]
    return document


def _set_in_document(document: dict[str, Any], path: KeyPath, value: Any) -> None:
    """Set the value at a path. Missing tables above it are created.

    Raises:
        CannotEdit: Something above is no table.
    """
    for key in path[:-1]:
        document = document.setdefault(key, {})
        if not isinstance(document, dict):
            raise CannotEdit
    document[path[-1]] = value


def _without_empty(value: Any) -> Any:
    """Return a value without the empty tables in it, which headers may leave or not."""
    if not isinstance(value, Mapping):
        return value
    inner = {key: _without_empty(held) for key, held in value.items()}
    return {key: held for key, held in inner.items() if held != {}}


def _checked(text: str, wanted: Mapping[str, Any]) -> str:
    """Return the text if it means what is wanted.

    Raises:
        CannotEdit: It means something else, or is not TOML.
    """
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise CannotEdit from None
    if _without_empty(found) != _without_empty(wanted):
        raise CannotEdit
    return text
