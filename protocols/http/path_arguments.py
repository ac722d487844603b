"""Checks that an argument in the path of a URL cannot turn a call into one of another operation.

Servers decode `%2F`, `%2E` and `%5C` before or after routing, and each server does it differently.
So no encoding makes a dot segment or a backslash safe, and a slash is safe only if the service
expects a path.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from urllib.parse import unquote

from protocols.naming import snake
from protocols.schema import JsonObject, expand_combinations

PATH_MARK = "x-atc-path"
"""Key in an argument's schema; true if the value is a path whose slashes are sent unencoded."""

_GREEDY = re.compile(
    r"\{(?:\+([^{}/]+)|\*([^{}/]+)|([^{}/]+)[+*]|([^{}/:]+):path|path:([^{}/:]+))\}"
)
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_UNICODE_ESCAPE = re.compile(r"%u([0-9a-fA-F]{4})")
_QUOTED_PATH = re.compile(r"""[`'"]([^`'"\s/]+(?:/[^`'"\s/]+)+)[`'"]""")
_SAYS_PATH = re.compile(
    r"\b(?:url-?encoded|file|full|relative|absolute|folder|directory) path\b"
    r"|\bpath (?:of|to) (?:an?|the)\b|\bslash",
    re.IGNORECASE,
)
_NO_PATH = re.compile(
    r"n/a|and/or|(?:application|audio|font|image|text|video|multipart)/.*", re.IGNORECASE
)
"""Matches texts with a slash that are no path: abbreviations and media types."""
_URL_FORMATS = ("uri", "uri-reference", "iri", "iri-reference")
_MOST_ENCODINGS = 8
_MOST_SCHEMAS = 50


def without_path_marks(url: str) -> tuple[str, frozenset[str]]:
    """Return a URL template without marks, and the names of the variables marked as paths.

    A mark says that the value of a variable is a path: `{+name}` in RFC 6570, and `{name+}`,
    `{name*}`, `{*name}`, `{name:path}` and `{path:name}` in web frameworks.
    """
    names: set[str] = set()

    def plain(match: re.Match[str]) -> str:
        name = next(group for group in match.groups() if group)
        names.add(name)
        return f"{{{name}}}"

    return _GREEDY.sub(plain, url), frozenset(names)


class PathRule:
    """Decides which values an argument in the path of a URL may have, based on its schema.

    Any value may contain slashes if the argument is a path according to its name (`file_path`),
    pattern, format (`uri`) or description ("the URL-encoded path of the project"). Otherwise a
    value may contain slashes only if it looks like a known value: an example, an enum value, or a
    quoted sample in the description (`heads/main`). It must have as many segments, and begin with a
    digit in the same ones.
    """

    def __init__(self, name: str, schema: JsonObject, root: JsonObject) -> None:
        parts = expand_combinations([schema], root, most=_MOST_SCHEMAS)
        self.raw = schema.get(PATH_MARK) is True
        """True if slashes are sent as they are, and not as `%2F`."""
        self._any = self.raw or snake(name).split("_")[-1] in ("path", "filepath")
        self._any = self._any or any(_shows_path(part) for part in parts)
        samples = {sample for part in parts for sample in _samples(part) if "/" in sample}
        self._shapes = {_shape(sample) for sample in samples if not _NO_PATH.fullmatch(sample)}

    def problem(self, text: str) -> str | None:
        """Return why a value cannot be put into the path, or None if it can.

        The result continues a sentence that begins with "argument X".
        """
        plain = _decoded(text)
        if plain is None:
            return "has a '%' that servers decode differently; write the characters themselves"
        if "\\" in plain:
            return "holds a backslash, which many servers read as a slash; leave it out"
        if has_dot_segment(plain):
            return "holds a dot segment ('.' or '..'), which leads to another path; leave it out"
        if found := _CONTROL.search(plain):
            return f"holds the control character {found[0]!r}, which is not sent"
        if "/" in plain and not self._any and _shape(plain) not in self._shapes:
            return (
                "holds a slash, which many servers read as the beginning of another path; if the"
                f' argument is a path, put "{PATH_MARK}": true into its schema'
                " ('atc tools import' writes files that you can edit)"
            )
        return None


def has_dot_segment(path: str) -> bool:
    """Return True if a segment of a decoded path is `.` or `..`, even with parameters (`..;x`)."""
    steps = re.split(r"[/\\]", path)
    return any(step.partition(";")[0].strip() in (".", "..") for step in steps)


def _decoded(text: str) -> str | None:
    """Return `text` with all layers of percent-encoding undone.

    Unicode characters that look like a slash, a backslash or a dot become the ASCII character.
    Return None if there are too many layers, or if the decoded bytes are not valid UTF-8.
    """
    for _ in range(_MOST_ENCODINGS):
        try:
            plain = unquote(text, errors="strict")
        except UnicodeDecodeError:
            return None
        plain = _UNICODE_ESCAPE.sub(lambda match: chr(int(match[1], 16)), plain)
        plain = "".join(map(_path_characters, plain))
        if plain == text:
            return plain
        text = plain
    return None


def _path_characters(character: str) -> str:
    """Return the slash, backslash or dots that a Unicode character stands for, else the character.

    For example, a full-width dot becomes `.`.
    """
    if character.isascii():
        return character
    alike = unicodedata.normalize("NFKC", character)
    return alike if not alike.strip("./\\") else character


def _shows_path(schema: JsonObject) -> bool:
    """Return True if the schema of an argument shows that its value may be any path."""
    pattern = schema.get("pattern")
    if isinstance(pattern, str) and _pattern_has_slash(pattern):
        return True
    described = _SAYS_PATH.search(str(schema.get("description", ""))) is not None
    return schema.get("format") in _URL_FORMATS or described


def _samples(schema: JsonObject) -> Iterator[str]:
    """Yield the strings that a schema shows as possible values, such as examples or an enum."""
    single = [schema.get("example"), schema.get("const")]
    several = [
        value for key in ("examples", "enum") if isinstance(value := schema.get(key), list | tuple)
    ]
    for value in (*single, *(value for values in several for value in values)):
        if isinstance(value, str):
            yield value
    yield from _QUOTED_PATH.findall(str(schema.get("description", "")))


def _shape(text: str) -> tuple[bool, ...]:
    """Return for each segment of a path if it begins with a digit.

    Two paths with the same result have the same form. Examples: (True, True) for `2024/7`, (False,
    False) for `heads/main`.
    """
    return tuple(step[:1].isdigit() for step in text.split("/"))


def _pattern_has_slash(pattern: str) -> bool:
    """Return True if a value that matches a regular expression may contain a slash.

    Slashes in negated classes (`[^/]`) and in negative look-arounds (`(?!…)`) do not count.
    """
    groups: list[bool] = []  # for each open group: True if in a negative look-around
    place = 0
    while place < len(pattern):
        character = pattern[place]
        if character == "\\" and pattern[place + 1 : place + 2] != "/":
            place += 1
        elif character == "[":
            end = _end_of_class(pattern, place)
            inside = pattern[place + 1 : end]
            if "/" in inside and not inside.startswith("^") and not any(groups):
                return True
            place = end
        elif character == "(":
            negative = pattern.startswith(("(?!", "(?<!"), place)
            groups.append(negative or any(groups))
        elif character == ")" and groups:
            groups.pop()
        elif character == "/" and not any(groups):
            return True
        place += 1
    return False


def _end_of_class(pattern: str, start: int) -> int:
    """Return the index of the `]` that closes the character class beginning at `start`."""
    place = start + 1
    if pattern[place : place + 1] == "^":
        place += 1
    if pattern[place : place + 1] == "]":
        place += 1
    while place < len(pattern) and pattern[place] != "]":
        place += 2 if pattern[place] == "\\" else 1
    return place
