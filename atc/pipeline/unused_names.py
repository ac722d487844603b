"""Names of a task, such as airlines and places, that a program does not use.

A program may use a name in another form: the code `JFK` stands for Kennedy, and an id for whatever
it belongs to. So each code or id that the task does not contain accounts for one name, at best the
one whose letters it has.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from atc.core.json_paths import walk_responses
from atc.core.program import Program
from atc.pipeline.ignored_conditions import describe_in_words
from protocols.schema import resolve, types
from protocols.tool import Tool
from protocols.toolbox import Toolbox
from sandbox.trace import ToolCall

_NAME = re.compile(
    r"(?<![\w./'’-])[A-Z][\w’-]*(?:/[A-Z]\w+)+"  # a time zone or path: America/Chicago
    r"|(?<![\w./'’-])(?:[A-Z][a-z]+)+(?: (?:[A-Z][a-z]+)+)*(?!\w)"
)
_SENTENCE = re.compile(r"(?:^|[.?!:;…]['\")\]]*|[\n“\"(])\s*$")
"""The end of a text after which a word is capitalised because a sentence begins."""
_CODE_AFTER = re.compile(r"[^.?!:;(]{0,40}\([A-Z0-9]{2,6}\)")
"""A code in brackets, soon after a name."""
_DATE = re.compile(r"^\d{4}-\d\d")
_LONGEST_NAME = 40
_LEAST_ID = 100
"""Smaller numbers are counts, pages and days, and stand for no name."""
_MOST_NAMES = 12
"""Maximum number of names that are looked for."""
_NO_NAMES = frozenset(
    """
    january february march april may june july august september october november december monday
    tuesday wednesday thursday friday saturday sunday christmas halloween easter thanksgiving
    independence valentine day eve fahrenheit celsius kelvin english true false none null new san
    los the intl international airport airports airlines airline airways lines city county state
    country united north south east west northern southern eastern western central atlantic pacific
    american
    """.split()  # noqa: SIM905
)
"""Words with a capital that select nothing by themselves, or that have many forms."""


class UnusedNames(NamedTuple):
    """Names of a task that a program does not use, and the arguments that could take them.

    `tool` is "" for names that need no tool to be told from other words.
    """

    names: tuple[str, ...]
    tool: str = ""
    arguments: tuple[str, ...] = ()


def find_unused_names(
    task: str, program: Program, calls: Sequence[ToolCall], tools: Toolbox
) -> UnusedNames | None:
    """Return the names of a task that the program, its calls and their responses do not contain.

    The result is None if codes of the program may stand for the names. It is also None if no called
    tool has an argument that could take one and that the program does not pass: such a name may be
    a remark. A path such as `America/Chicago` is no remark. What the documents of the tools name
    is explained by them.
    """
    documents = " ".join(map(describe_in_words, tools.values()))
    names = _find_missing(task, program, calls, documents)
    if paths := [name for name in names if "/" in name]:
        return UnusedNames(tuple(paths))
    free = next(_find_free_arguments(calls, tools), None) if names else None
    return UnusedNames(tuple(names), *free) if free is not None else None


def _find_free_arguments(
    calls: Sequence[ToolCall], tools: Toolbox
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the called tools with the optional texts that no call of the program passes.

    At least one of these arguments takes a code of another tool.
    """
    for alias in dict.fromkeys(call.tool for call in calls if call.tool in tools):
        tool = tools[alias]
        passed = {name for call in calls if call.tool == alias for name in call.arguments}
        free = [
            argument
            for argument, name in tool.arguments.items()
            if argument not in tool.required and argument not in passed and _is_text(tool, name)
        ]
        is_linked = any(tools.producers(tool, tool.arguments[argument]) for argument in free)
        if is_linked and not tool.protocol.writes:
            yield alias, tuple(free)


def _is_text(tool: Tool, name: str) -> bool:
    """Return True if an argument takes any text, and so perhaps a code or a name."""
    schema = resolve(tool.protocol.parameters[name], tool.protocol.input_schema)
    return types(schema) == ("string",) and not {"enum", "format"} & schema.keys()


def _find_missing(
    task: str, program: Program, calls: Sequence[ToolCall], documents: str
) -> list[str]:
    """Return the names of a task that the program does not use in any form."""
    known = _Words(program.source, documents)
    for call in calls:
        known.add(*map(str, call.arguments.values()))
    keys = set[str]()
    for _, path, value in walk_responses(calls):
        keys.update(part for part in path[-1:] if isinstance(part, str))
        if isinstance(value, str):
            known.add(value)
    known.add(*keys)
    missing = [name for name in _find_names(task) if not known.has(name)]
    if not missing:
        return []
    codes = {code for code in _codes(program, keys, task) if not known.explains(code)}
    for name in sorted(missing, key=len, reverse=True):
        fitting = [code for code in codes if _abbreviates(code, name)]
        if fitting:
            missing.remove(name)
            codes.remove(min(fitting, key=len))
    return missing if len(missing) > len(codes) else []


class _Words:
    """The words of programs, arguments and responses, in small letters."""

    def __init__(self, source: str, documents: str) -> None:
        self._documents = documents
        text = f"{source}\n{documents}".casefold()
        self._words = set(re.findall(r"\w+", text.replace("_", " ")))

    def explains(self, code: str) -> bool:
        """Return True if the documents contain a code, and so say what it stands for."""
        return re.search(rf"(?<!\w){re.escape(code)}(?!\w)", self._documents) is not None

    def add(self, *texts: str) -> None:
        """Add the words of texts."""
        for text in texts:
            self._words.update(re.findall(r"\w+", text.replace("_", " ").casefold()))

    def has(self, name: str) -> bool:
        """Return True if a word of a name occurs, in the singular or plural, or as a beginning."""
        words = re.findall(r"\w+", name.casefold())
        return any(self._has_word(word) for word in words if word not in _NO_NAMES)

    def _has_word(self, word: str) -> bool:
        stem = word.removesuffix("s")
        if {word, stem, f"{word}s"} & self._words:
            return True
        beginning = word[: max(4, len(word) - 3)]
        return any(other.startswith(beginning) for other in self._words)


def _find_names(task: str) -> list[str]:
    """Return the capitalised words of a task that are names, without the first of a sentence."""
    found: dict[str, None] = {}
    for match in _NAME.finditer(task):
        name = match[0]
        words = re.findall(r"\w+", name)
        if _SENTENCE.search(task[max(0, match.start() - _LONGEST_NAME) : match.start()]):
            words = words if "/" in name else words[1:]
        is_date = bool(words) and words[-1] in ("Day", "Eve")
        if _CODE_AFTER.match(task, match.end()):
            continue  # the code in brackets is what a program uses
        if any(word.casefold() not in _NO_NAMES for word in words) and not is_date:
            found[name if "/" in name else " ".join(words)] = None
    return list(found)[:_MOST_NAMES]


def _codes(program: Program, keys: set[str], task: str) -> Iterator[str]:
    """Yield the constants of a program that may stand for a name: codes, ids and numbers.

    `keys` are those of the responses. They select nothing.
    """
    given = set(re.findall(r"\w+", task.casefold()))
    for node in ast.walk(program.tree):
        value = node.value if isinstance(node, ast.Constant) else None
        if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
            continue
        text = str(value)
        is_small = isinstance(value, int) and abs(value) < _LEAST_ID
        is_name = len(text) <= _LONGEST_NAME and not is_small and not _DATE.search(text)
        is_given = given.issuperset(re.findall(r"\w+", text.casefold()))
        if is_name and not is_given and text not in keys:
            yield text


def _abbreviates(code: str, name: str) -> bool:
    """Return True if a code has letters of a name in their order, from the first one."""
    letters = re.sub(r"[\W\d_]", "", code.casefold())
    rest = name.casefold()
    if not letters or letters[0] != rest[0]:
        return False
    place = -1
    for letter in letters:
        place = rest.find(letter, place + 1)
        if place < 0:
            return False
    return True
