"""Questions to a person before a call is sent, a command is started or a sign-in, as the texts that they read.

Our words stand in paragraphs of their own, with nothing foreign in them. Foreign names and values are quoted, each on
one line, in blocks that are indented by four blanks: a client that renders Markdown shows such a block as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from urllib.parse import urlsplit

from atc.core.json_paths import JsonPath, format_json_path, walk
from atc.core.quoting import escape_hidden, quoted, shell_word
from atc.safety.redaction import Redactor
from atc.safety.taint import TaintedValue
from atc.safety.taint.leaves import Leaf
from atc.safety.taint.sensitive import sensitive_leaves
from atc.safety.taint.values import equality_key, parse_url_host
from protocols.protocol import HttpBinding, format_binding
from protocols.schema import Json, JsonObject
from protocols.settings import McpServer
from protocols.toolbox import Tool

MOST_DECIDING = 100
"""Values that one call of a question may have, those that decide and the others; nobody reads more."""
_MOST_LINES = 300
"""Values of all the calls of a question."""
_MOST_WORDS = 40
"""Words of a command that are shown."""
_FEWEST_ALIKE = 3
"""Items of a list that are equal, one after another, from which they are shown as one."""
_MOST_GUESSED = 3
"""Values that are taken to decide where nothing marks any."""
_LONGEST_NAME = 80
_LONGEST_PLACE = 160
_LONGEST_COMMAND = 320
"""Columns of a command that is shown on one line."""
_INDENT = "    "


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question to a person before a call is sent: the tool, its arguments by original name, and what is not clean.

    `tainted` is empty if the call merely writes. `others` are further calls of the tool that are listed with this one.
    A yes lets each listed call through, once. `declined` is True if a person has said no to this call before. `id`
    tells the question from every other, also from one that looks the same; it is empty if nobody can answer later.
    """

    tool: Tool
    arguments: JsonObject
    tainted: tuple[TaintedValue, ...] = ()
    others: tuple[Question, ...] = ()
    declined: bool = False
    id: str = ""


AskPerson = Callable[[Question], bool | None]
"""Shows a call to a person and returns their decision, or None if nobody has decided."""


@dataclass(frozen=True, slots=True)
class _Value:
    """One value of a call, as a line. `note` says where a tainted value leads to and where it came from."""

    place: str
    shown: str
    note: str = ""

    @property
    def line(self) -> str:
        return f"argument {quoted(self.place, most=_LONGEST_NAME)} = {self.shown}"


@dataclass(frozen=True, slots=True)
class _Call:
    """One call of a question, with its values: those that decide, and the others."""

    question: Question
    deciding: Sequence[_Value]
    others: Sequence[_Value]

    @property
    def ends_with_deciding_value(self) -> bool:
        return not self.others and not any(value.note for value in self.deciding)

    def lines(self, number: str) -> list[str]:
        """Return the tool and the values of the call, those that decide first."""
        tool = self.question.tool
        source = f" of {quoted(tool.source, most=_LONGEST_NAME)}" if tool.source else ""
        called = (
            f", in programs {quoted(tool.alias, most=_LONGEST_NAME)}"
            if tool.alias != tool.protocol.name
            else ""
        )
        lines = [f"{number}tool {quoted(tool.protocol.name, most=_LONGEST_NAME)}{source}{called}"]
        if how := format_binding(tool.protocol.binding):
            lines.append(f"which is {quoted(how, most=_LONGEST_PLACE)}")
        for value in self.deciding:
            lines += [value.line, *([f"    {value.note}"] if value.note else [])]
        lines += [value.line for value in self.others]
        if not (self.deciding or self.others):
            lines.append("without arguments")
        return lines


def question_text(question: Question) -> str:
    """Return what a person reads before they decide about a call and those that are listed with it.

    One answer sends all of them or none. The values that decide stand before the others, and once more at the end.
    What decides is shown as it is. Other secrets are covered, those by their name or their form; what a document calls
    a secret is not, or it could hide what the answer is about.
    """
    questions = (question, *question.others)
    calls = [_split_values(question) for question in questions]
    numbers = [""] if len(calls) == 1 else [f"{number}: " for number in range(1, len(calls) + 1)]
    blocks = [_block(call.lines(number)) for call, number in zip(calls, numbers, strict=True)]
    told = "\n\n".join([_head(questions), *blocks])
    again = [
        number + value.line
        for call, number in zip(calls, numbers, strict=True)
        for value in call.deciding
    ]
    if not again or (len(calls) == 1 and calls[0].ends_with_deciding_value):
        return told
    return f"{told}\n\nIt is decided by:\n\n{_block(again)}"


def is_readable(question: Question) -> bool:
    """Return True if each value of a call can be shown to a person. Nobody is asked about another."""
    return _count_values(question) <= MOST_DECIDING


def most_beside(question: Question) -> int:
    """Return how many further calls like this one a person reads at once."""
    return _MOST_LINES // max(_count_values(question), 1) - 1


def _count_values(question: Question) -> int:
    call = _split_values(question)
    return len(call.deciding) + len(call.others)


def start_text(server: McpServer) -> str:
    """Return what a person reads before a command that a source names is started."""
    told = "May this command be started? It is an MCP server that a source names, and it runs here with your rights."
    words = [shell_word(word) for word in server.command]
    if len(whole := " ".join(words)) <= _LONGEST_COMMAND:
        return f"{told}\n\n{_block([whole])}"
    lines = [f"command {words[0]}", *(f"word {word}" for word in words[1:_MOST_WORDS])]
    if (more := len(words) - _MOST_WORDS) > 0:
        lines.append(f"and {more:,} more words, which are not shown")
    again = " ".join(["command", *words[:_MOST_GUESSED]])
    return f"{told}\n\n{_block(lines)}\n\nIt is decided by:\n\n{_block([again])}"


def sign_in_text(address: str) -> str:
    """Return what a person reads before they sign in on a page, whose address a document may have named."""
    host = urlsplit(address).hostname or ""
    return f"Sign in at {quoted(host, most=_LONGEST_PLACE)} on this page: {escape_hidden(address)}"


def _head(questions: Sequence[Question]) -> str:
    """Return the question in our own words."""
    told = _head_without_past(questions)
    return f"{told} A person has declined this call before." if questions[0].declined else told


def _head_without_past(questions: Sequence[Question]) -> str:
    tainted = sum(len(question.tainted) for question in questions)
    if len(questions) > 1:
        covers = f"May these {len(questions)} calls be sent? One answer covers exactly these."
        return f"{covers} {_explain_why(tainted)} Nothing was sent so far."
    return f"May this call be sent? {_explain_why(tainted)} Nothing was sent so far."


def _explain_why(tainted: int) -> str:
    if not tainted:
        return "It may change something."
    subject = "One value comes" if tainted == 1 else f"{tainted} values come"
    return f"{subject} neither from you nor from your settings."


def _block(lines: Iterable[str]) -> str:
    return "\n".join(f"{_INDENT}{line}" for line in lines)


def _split_values(question: Question) -> _Call:
    """Return the call with the values that decide, and the others.

    Those that are not clean decide; else the sensitive ones; else what the call is about, as far as one can tell.
    """
    covered = Redactor().value(dict(question.arguments))
    leaves = {
        path: value
        for path, value in walk(covered)
        if path and not (isinstance(value, list | dict) and value)
    }
    found: Sequence[Leaf] = question.tainted or list(
        sensitive_leaves(question.tool.protocol, question.arguments)
    )
    deciding = [_Value(leaf.place, quoted(leaf.value), _note(leaf)) for leaf in found]
    paths = [(leaf.argument, *leaf.path) for leaf in found]
    if not found:
        paths = _key_places(question, leaves)
        deciding = [_Value(format_json_path(path), quoted(leaves[path])) for path in paths]
    others = {path: value for path, value in leaves.items() if path not in paths}
    return _Call(question, deciding, list(_group_values(others)))


def _group_values(leaves: Mapping[JsonPath, Json]) -> Iterator[_Value]:
    """Yield a value for each leaf, and one for equal items of one list that stand one after another."""
    for _, run in groupby(
        leaves.items(), key=lambda leaf: (_without_index(leaf[0]), equality_key(leaf[1]))
    ):
        (first, value), *more = run
        if len(more) + 1 < _FEWEST_ALIKE:
            yield from (
                _Value(format_json_path(path), quoted(item))
                for path, item in ((first, value), *more)
            )
        else:
            yield _Value(
                format_json_path(first),
                f"{quoted(value)}, and so are the {len(more):,} items after it",
            )


def _without_index(path: JsonPath) -> JsonPath:
    """Return the list that a path is an item of, else the path."""
    return (*path[:-1], "") if isinstance(path[-1], int) else path


def _key_places(question: Question, leaves: Iterable[JsonPath]) -> list[JsonPath]:
    """Return the places that say what a call is about: in the path of its address, else required, else the first."""
    protocol = question.tool.protocol
    binding = protocol.binding
    places = binding.locations if isinstance(binding, HttpBinding) else {}
    in_path = [name for name, where in places.items() if where == "path"]
    paths = list(leaves)
    for names in (in_path, protocol.required):
        if chosen := [path for path in paths if path[0] in names]:
            return chosen[:_MOST_GUESSED]
    return paths[:1]


def _note(leaf: Leaf) -> str:
    """Return where a value leads to, and where one that is not clean came from."""
    host = (
        parse_url_host(leaf.value) if leaf.kind == "url" and isinstance(leaf.value, str) else None
    )
    leads = [f"it leads to {quoted(host)}"] if host else []
    return "; ".join(leads + ([leaf.origin] if isinstance(leaf, TaintedValue) else []))
