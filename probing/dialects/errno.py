"""What an operating system says of a path: `EISDIR: illegal operation on a directory, read`, `[Errno 2] No such …`."""

from __future__ import annotations

import re

from probing.dialects.clauses import blamed
from probing.dialects.enums import folder_wanted
from probing.dialects.naming import Names, words
from probing.hint import Hint

_ERROR = re.compile(
    r"(?:^|[\s:('\"])(?:(?P<name>EACCES|EEXIST|EISDIR|ELOOP|ENAMETOOLONG|ENOENT|ENOTDIR|ENOTEMPTY|EPERM|EROFS)\b"
    r"|\[Errno (?P<number>\d{1,3})\])|\b(?i:access denied|permission denied)\b"
)
_PATHS = frozenset({"dir", "directory", "file", "filename", "filepath", "folder", "path", "paths"})


def read_errno(clause: str, names: Names) -> list[Hint]:
    """What it says of the argument that is quoted, else of the only one that is called a path."""
    match = _ERROR.search(clause)
    if match is None:
        return []
    given = [name for name, value in names.sent.items() if isinstance(value, str) and _PATHS & {*words(name)}]
    argument = blamed(clause, names) or (given[0] if len(given) == 1 else None)
    if argument is None:
        return []
    nowhere = match["name"] == "ENOENT" or match["number"] == "2"
    found = [Hint(kind="not_found" if nowhere else "refused", argument=argument)]
    folder = folder_wanted(clause)
    return [Hint(kind="example", argument=argument, values=(folder,)), *found] if folder else found
