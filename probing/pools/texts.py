"""What stands in a text that people are to read, line by line: `Commit: 1f3c…`, `modified: notes.txt`, paths of files.

No program can follow it, but each is a value that a tool may take.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from protocols.jsontypes import Json
from protocols.words import singular, snake

_LONGEST, _MOST, _DEEPEST, _ITEMS = 20_000, 400, 4, 20
_LABEL = re.compile(r"^[ \t*#>-]*([A-Za-z][\w-]*(?: [A-Za-z][\w-]*){0,2}): {1,20}(\S[^\n]{0,119})$", re.MULTILINE)
_HEX = re.compile(r"(?<![\w/.-])(?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}(?![\w-])")
_PATH = re.compile(r"(?<![\w:/.<])(?:/[\w.@+-]+){2,20}(?![\w/])")
_FILE = re.compile(
    r"(?<![\w@:/.<-])(?:\.{1,2}/)?(?:[\w@+-][\w.@+-]*/){0,10}[\w@+-][\w@+.-]*\.[A-Za-z][A-Za-z0-9]{0,4}(?![\w/@.-])"
)
_LONGEST_NAME = 200
OF_FILES = ("file", "path")
_OF_HEX = ("commit_sha", "revision", "ref")


def texts_in(response: Json) -> Iterator[tuple[str, str]]:
    """The texts of several lines in a response, with their paths; the whole response, if it is a text."""
    yield from _texts(response, "", _DEEPEST)


def said_in(text: str) -> Iterator[tuple[str, str]]:
    """Names and values that a text holds: what stands behind a label, commits, files and paths."""
    text = text[:_LONGEST]
    for number, match in enumerate(_LABEL.finditer(text)):
        if number >= _MOST:
            break
        yield singular(snake(match[1])), match[2].strip()
    for kinds, form in ((_OF_HEX, _HEX), (("path",), _PATH), (OF_FILES, _FILE)):
        for number, match in enumerate(form.finditer(text)):
            if number >= _MOST:
                break
            yield from ((kind, match[0]) for kind in kinds)


def is_file(text: str) -> bool:
    """Whether a text is the name of a file, or a path, by its look."""
    return len(text) < _LONGEST_NAME and (_FILE.fullmatch(text) or _PATH.fullmatch(text)) is not None


def _texts(node: Json, path: str, depth: int) -> Iterator[tuple[str, str]]:
    if isinstance(node, str):
        if "\n" in node or not path:
            yield path, node
    elif depth and isinstance(node, Mapping):
        for key, part in list(node.items())[:_ITEMS]:
            yield from _texts(part, f"{path}.{key}".lstrip("."), depth - 1)
    elif depth and isinstance(node, list):
        for part in node[:_ITEMS]:
            yield from _texts(part, f"{path}[]", depth - 1)
