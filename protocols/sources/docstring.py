"""What a docstring says of a function: its first paragraph and its arguments (Google, NumPy or Sphinx style)."""

from __future__ import annotations

import inspect
import re
from typing import NamedTuple

_SECTION = re.compile(
    r"(Args|Arguments|Parameters|Params|Keyword Args|Other Parameters|Returns?|Yields?|Raises|Examples?|Notes?"
    r"|Attributes|See Also|Warnings?|Warns|References|Todo):?\s*$",
    re.IGNORECASE,
)
_ARGUMENTS = ("args", "arguments", "parameters", "params", "keyword args", "other parameters")
_SPHINX = re.compile(r"^:(?:param|parameter|arg|argument)(?:\s+[^:\s][^:]{0,100}?)?\s+\*{0,2}(\w+)\s*:\s*(.*)$")
_GOOGLE = re.compile(r"^\*{0,2}(\w+)\s*+(?:\([^)]*\)\s*+)?:\s+(.*)$|^\*{0,2}(\w+)\s*+(?:\([^)]*\)\s*+)?:$")
_NUMPY = re.compile(r"^\*{0,2}(\w+(?:\s*,\s*\*{0,2}\w+)*)\s*(?::.*)?$")
_READ_ONLY = re.compile(r"^read[-_ ]only(?:\s*[:=]\s*(?:true|yes))?\.?$", re.IGNORECASE)


class Documented(NamedTuple):
    """The description (first paragraph, on one line), each argument's text, and whether it says `read_only = True`."""

    description: str
    arguments: dict[str, str]
    read_only: bool


def read_docstring(text: str | None) -> Documented:
    """What a docstring says; empty where there is none."""
    lines = inspect.cleandoc(text or "").splitlines()
    read_only = any(_READ_ONLY.match(line.strip()) for line in lines)
    lines = [line for line in lines if not _READ_ONLY.match(line.strip())]
    first: list[str] = []
    for line in lines:
        if (not line.strip() and first) or _SECTION.match(line) or line.startswith(":"):
            break
        first.append(line.strip())
    return Documented(" ".join(filter(None, first)), _sphinx(lines) | _sections(lines), read_only)


def _sphinx(lines: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    current = ""
    for line in lines:
        if match := _SPHINX.match(line.strip()):
            current = match[1]
            found[current] = match[2].strip()
        elif current and line.startswith((" ", "\t")):
            found[current] = f"{found[current]} {line.strip()}".strip()
        else:
            current = ""
    return found


def _sections(lines: list[str]) -> dict[str, str]:
    """Google's `name (type): text`, indented under `Args:`, and NumPy's `name : type` over indented text."""
    found: dict[str, str] = {}
    names: list[str] = []
    inside, underlined, depth = False, False, None
    for number, line in enumerate(lines):
        text, indent = line.strip(), len(line) - len(line.lstrip())
        if indent == 0 and _SECTION.match(line):
            inside = text.rstrip(": ").lower() in _ARGUMENTS
            underlined = number + 1 < len(lines) and lines[number + 1].strip().startswith("---")
            names, depth = [], None
        elif not inside or not text or text.startswith("---"):
            continue
        elif indent == 0 and not underlined:
            inside = False
        else:
            depth = indent if depth is None else depth
            entry = (_NUMPY if underlined else _GOOGLE).match(text) if indent == depth else None
            if entry:
                names = [n.strip(" *") for n in (entry[1] or entry[3 if not underlined else 1]).split(",")]
                found |= dict.fromkeys(names, "" if underlined else entry[2] or "")
            else:
                found |= {name: f"{found[name]} {text}".strip() for name in names}
    return found
