"""Writes Lark and regular expressions: literals, escapes, and a pattern for tool names."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from atc.models.decode.errors import Undecodable

_SPECIAL = re.compile(r"[\\.+*?()|\[\]{}^$/&~#-]")


def names_pattern(names: Iterable[str]) -> str:
    """Return a regular expression that matches each of `names`.

    Common prefixes are factored out, so that a pattern of thousands of names compiles in 0.3 s.

    Raises:
        Undecodable: there are no names, or one is empty.
    """
    listed = sorted(set(names))
    if not listed or not listed[0]:
        raise Undecodable("a name is empty." if listed else "there is no tool to call.")
    return _tail_pattern(listed, 0)


def _tail_pattern(names: list[str], depth: int) -> str:
    """Return a pattern for the rest of `names` after their first `depth` characters.

    The names are sorted, and these characters are the same in all of them.
    """
    ends = len(names[0]) == depth
    branches = []
    place = int(ends)
    while place < len(names):
        first = names[place]
        end = place + 1
        while end < len(names) and names[end][depth] == first[depth]:
            end += 1
        group = names[place:end]
        common = depth + 1
        # Of sorted names, the first and the last have the shortest common prefix.
        shortest = min(len(first), len(group[-1]))
        while common < shortest and first[common] == group[-1][common]:
            common += 1
        branches.append(escape_regex(first[depth:common]) + _tail_pattern(group, common))
        place = end
    body = "|".join(branches)
    return f"({body})" + "?" * ends if body and (ends or len(branches) > 1) else body


def escape_regex(text: str) -> str:
    """Escape `text` for a Rust regular expression between slashes."""
    return _SPECIAL.sub(lambda found: "\\" + found[0], text).replace("\n", "\\n")


def quote(text: str) -> str:
    """Return `text` as a Lark string literal on one line.

    It has the escapes of JSON, and escapes for unprintable characters.
    """
    written = json.dumps(text, ensure_ascii=False)
    return "".join(c if c.isprintable() or ord(c) > 0xFFFF else f"\\u{ord(c):04x}" for c in written)
