"""Names of tools as one terminal: thousands of alternatives side by side are more than a parser's row may hold."""

from __future__ import annotations

import re
from collections.abc import Iterable

from atc.decode.errors import Undecodable
from atc.decode.grammar import Pattern

_SPECIAL = re.compile(r"[\\.+*?()|\[\]{}^$/&~#-]")


def names_pattern(names: Iterable[str]) -> Pattern:
    """One of `names`. What several begin with is written once, which compiles three times as fast as a flat list.

    Raises:
        Undecodable: there is none, or one is empty.
    """
    listed = sorted(set(names))
    if not listed or not listed[0]:
        raise Undecodable("a name is empty." if listed else "there is no name to choose.")
    return Pattern(_shared(listed, 0))


def _shared(names: list[str], depth: int) -> str:
    """What follows the first `depth` characters, which the sorted `names` have in common, as a regular expression."""
    ends = len(names[0]) == depth
    branches, place = [], int(ends)
    while place < len(names):
        first, end = names[place], place + 1
        while end < len(names) and names[end][depth] == first[depth]:
            end += 1
        group = names[place:end]
        common = _common(first, group[-1], depth + 1)  # of sorted names, the outer two share the least
        branches.append(_escaped(first[depth:common]) + _shared(group, common))
        place = end
    if not branches:
        return ""
    body = "|".join(branches)
    return f"(?:{body})" + "?" * ends if ends or len(branches) > 1 else body


def _common(one: str, other: str, depth: int) -> int:
    """With how many characters both names begin; `depth` at least."""
    most = min(len(one), len(other))
    while depth < most and one[depth] == other[depth]:
        depth += 1
    return depth


def _escaped(text: str) -> str:
    """`text` for Rust's regular expressions: `re.escape` also escapes what those refuse to see escaped."""
    return _SPECIAL.sub(lambda found: "\\" + found[0], text).replace("\n", "\\n")
