"""Codes in the text of a task, such as `JFK` and `N14228`, that a program should use."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from atc.pipeline.check.argument_values import find_mismatch
from protocols.schema import iter_parts, types
from protocols.toolbox import Tool, Toolbox

_BRACKETS = re.compile(r"\(((?:[A-Z0-9]{2,6})(?:(?:, | and | or )[A-Z0-9]{2,6})*)\)")
_NUMBERED = re.compile(r"(?<![\w-])(?=[A-Z]*\d)(?=\d*[A-Z])[A-Z0-9]{4,}(?![\w-])")
_SMALL_WORDS = frozenset({"a", "an", "and", "for", "in", "of", "on", "the", "to"})
"""Words that an abbreviation may leave out."""


def find_unused_codes(task: str, used: str, tools: Toolbox) -> list[str]:
    """Return the codes of the task that a program does not use, although a tool could take them.

    `used` is the text of the program and of its calls. A tool could take a code if the code is a
    valid value in its arguments. A code in brackets that abbreviates the words before it, as in
    "universal trade currency (UTC)", is left out: it is only another name of them.
    """
    named = dict.fromkeys([*_find_codes_in_brackets(task), *_NUMBERED.findall(task)])
    unused = [code for code in named if not re.search(rf"(?<!\w){code}(?!\w)", used)]
    return [code for code in unused if any(_accepts(tool, code) for tool in tools.values())]


def _find_codes_in_brackets(task: str) -> Iterator[str]:
    """Yield the codes in brackets in a task, except abbreviations of the words before them."""
    for found in _BRACKETS.finditer(task):
        codes = re.findall(r"[A-Z0-9]+", found[1])
        if len(codes) > 1 or not _abbreviates(codes[0], task[: found.start()]):
            yield from codes


def _abbreviates(code: str, before: str) -> bool:
    """Return True if a code consists of the initials of the last words of a text."""
    words = re.findall(r"[^\W\d_]+", before)[-2 * len(code) :]
    initials = "".join(word[0] for word in words).upper()
    without_small = "".join(word[0] for word in words if word.lower() not in _SMALL_WORDS).upper()
    return initials.endswith(code) or without_small.endswith(code)


def _accepts(tool: Tool, code: str) -> bool:
    """Return True if the arguments of a tool accept this code as a string, at any depth."""
    root = tool.protocol.input_schema
    return any(
        _is_text_schema(part) and find_mismatch(code, part, root) is None
        for part in iter_parts(root)
    )


def _is_text_schema(part: Any) -> bool:
    """Return True if a JSON Schema says that a value is a string."""
    return isinstance(part, Mapping) and "string" in types(part)
