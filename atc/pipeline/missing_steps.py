"""Steps that the words of a task ask for, and that nothing in a program takes.

A task that asks for an average needs a division, one that asks for different planes must count none
twice, one that asks for the most of something must compare, and one that asks for each airport must
go through several. A step may also be taken by a tool: its name, its document or a field of its
response then has the word.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from atc.core.answers import parse_answer
from atc.core.json_paths import walk_responses
from atc.core.program import Program
from atc.pipeline.attribute.dataflow import simple_name
from atc.pipeline.ignored_conditions import describe_in_words
from protocols.naming import singular, snake
from protocols.toolbox import Toolbox
from sandbox.trace import ToolCall

_DISTINCT = re.compile(
    r"\b(?:how many|number of|count|list|name|all|the|which|what|these|those)\s+(?:of\s+)?"
    r"(?:all\s+)?(?:the\s+)?(?P<word>different|distinct|unique)\s+(?!from\b|than\b|to\b)(?:[\w-]+\s+){0,1}?"
    r"(?P<noun>[a-z]{3,}s)\b",
    re.IGNORECASE,
)
_AVERAGE = re.compile(r"\b(?P<word>on average|average|averaged|mean)\b", re.IGNORECASE)
_VERB_MEAN = re.compile(
    r"\b(?:i|we|you|they|does|do|did|to|not|that|would|it|by \w+)\s+$", re.IGNORECASE
)
_BEFORE = 30
"""Number of characters before the word "mean" that show if it is a verb."""
_MOST = re.compile(
    r"(?<!at )(?<!at the )\b(?P<word>"
    r"(?<=the )most(?! \w+(?:ern|ed|ing|ly|al|ive|ous|ble)\b)"
    r"|fewest|busiest|highest|lowest|largest|smallest|biggest|longest|shortest|oldest|youngest"
    r"|hottest|coldest|warmest|wettest|heaviest|farthest|furthest|cheapest|greatest|fastest"
    r"|slowest)\b(?! of\b| recent| likely| commonly)"
)
"""Words that ask for an extreme. Those with a capital may belong to a name."""
_COUNTED = frozenset({"most", "fewest", "busiest"})
"""Words that ask for an extreme count, which the order of a list does not show."""
_EACH = re.compile(
    r"\b(?P<word>(?:for|of|by|from|in|at|did|does|do|has|have|had) (?:each|every))\b"
    r"(?! other| of (?:its|his|her|their)\b)",
    re.IGNORECASE,
)
_SETS = frozenset({"set", "frozenset", "dict", "Counter", "defaultdict", "OrderedDict", "groupby"})
_ONCE = frozenset({"add", "setdefault", "fromkeys", "unique", "nunique", "drop_duplicates"})
_AVERAGES = re.compile(r"mean|average|avg|median|per_|_per|ratio|rate", re.IGNORECASE)
_ORDERS = frozenset(
    {"max", "min", "sorted", "sort", "most_common", "nlargest", "nsmallest", "heappop", "argmax"}
)
_ORDER_WORDS = re.compile(
    r"sort|order|rank|top|first|nearest|most|highest|largest|longest|latest|oldest|earliest"
    r"|shortest|lowest|smallest|best|leader|record|popular|max|min"
    r"|\bby\b(?! (?:name|title|code|id|number|[A-Z]+ code|tail number)s?\b)",
    re.IGNORECASE,
)


class MissingStep(NamedTuple):
    """A word of the task, and what a program would do that follows it."""

    word: str
    step: str


class _Case(NamedTuple):
    """All that the rules of this module look at."""

    task: str
    answer: str
    nodes: Sequence[ast.AST]
    called: frozenset[str]
    """Names of the functions and methods that the program calls."""
    words: frozenset[str]
    """Names and texts in the program."""
    calls: Sequence[ToolCall]
    documents: str
    """The names and descriptions of the called tools."""

    def has(self, *kinds: type[ast.AST]) -> bool:
        """Return True if the program has a syntax node of one of these kinds."""
        return any(isinstance(node, kinds) for node in self.nodes)


def find_missing_steps(
    task: str, program: Program, calls: Sequence[ToolCall], answer: str, tools: Toolbox
) -> list[MissingStep]:
    """Return the steps that the task asks for in words and that the program does not take."""
    nodes = list(ast.walk(program.tree))
    called = frozenset(simple_name(node) for node in nodes if isinstance(node, ast.Call))
    used = dict.fromkeys(call.tool for call in calls if call.tool in tools)
    documents = " ".join(f"{alias} {describe_in_words(tools[alias])}" for alias in used)
    words = frozenset(_words(nodes))
    case = _Case(task, answer, nodes, called, words, calls, documents)
    found = (_find_distinct(case), _find_average(case), _find_extreme(case), _find_each(case))
    return [step for step in found if step is not None]


def _words(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Yield the names, keys and texts of a program."""
    for node in nodes:
        match node:
            case ast.Name(id=word) | ast.Attribute(attr=word) | ast.keyword(arg=str(word)):
                yield word
            case ast.Constant(value=str(word)):
                yield word


def _find_distinct(case: _Case) -> MissingStep | None:
    """Return the step of leaving out what occurs twice, if the task asks for it.

    It is needed only where the same may occur twice: no tool lists what the task asks for.
    """
    found = _DISTINCT.search(case.task)
    if found is None or case.called & (_SETS | _ONCE):
        return None
    if case.has(ast.Set, ast.SetComp, ast.Dict, ast.DictComp, ast.In, ast.NotIn):
        return None
    noun = singular(found["noun"].lower())
    listed = {part for name in _listed(case.calls) for part in (name, singular(name))}
    if any(noun in (word, singular(word)) for word in listed) or not _has_records(case.calls):
        return None
    return MissingStep(f"{found['word']} {found['noun']}", "counts or prints each of them once")


def _listed(calls: Sequence[ToolCall]) -> Iterator[str]:
    """Yield the words in the names of the called tools and of the lists in their responses."""
    for name in dict.fromkeys(call.tool for call in calls):
        yield from snake(name).split("_")
    for _, path, value in walk_responses(calls):
        if isinstance(value, list) and path and isinstance(path[-1], str):
            yield from snake(path[-1]).split("_")


def _has_records(calls: Sequence[ToolCall]) -> bool:
    """Return True if a response has a list of several objects."""
    return any(
        isinstance(value, list) and len(value) > 1 and isinstance(value[0], dict)
        for _, _, value in walk_responses(calls)
    )


def _find_average(case: _Case) -> MissingStep | None:
    """Return the step of computing a mean, if the task asks for it and no tool does it."""
    found = next(
        (
            match
            for match in _AVERAGE.finditer(case.task)
            if match[0].lower() != "mean"
            or not _VERB_MEAN.search(case.task[max(0, match.start() - _BEFORE) : match.start()])
        ),
        None,
    )
    if found is None or case.has(ast.Div, ast.FloorDiv):
        return None
    if any(_AVERAGES.search(word) for word in case.words):
        return None
    return MissingStep(found["word"], "divides a sum by a number")


def _find_extreme(case: _Case) -> MissingStep | None:
    """Return the step of comparing, if the task asks for an extreme and no order shows it."""
    found = _MOST.search(case.task)
    if found is None or case.called & _ORDERS or case.has(ast.Lt, ast.LtE, ast.Gt, ast.GtE):
        return None
    word = found["word"]
    texts = [*case.words, *(() if word in _COUNTED else (case.documents,))]
    if any(_ORDER_WORDS.search(text) for text in texts):
        return None
    return MissingStep(word, "compares values or sorts them")


def _find_each(case: _Case) -> MissingStep | None:
    """Return the step of going through several things, if the program makes only one call."""
    found = _EACH.search(case.task)
    loops = (ast.For, ast.While, ast.comprehension, ast.AsyncFor)
    if found is None or len(case.calls) > 1 or case.has(*loops) or "map" in case.called:
        return None
    if isinstance(parse_answer(case.answer), list | dict) or "\n" in case.answer:
        return None
    return MissingStep(found["word"], "goes through them in a loop")
