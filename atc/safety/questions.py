"""The texts of questions to a person.

A person is asked before a call is sent, before a command is started, and for a sign-in. A paragraph
contains only words of atc itself. Names and values from elsewhere are quoted, one per line, in
blocks that are indented by four spaces. A client that renders Markdown displays such a block
unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from urllib.parse import urlsplit

from atc.core.json_paths import JsonPath, format_json_path, walk
from atc.core.quoting import escape_hidden, quoted, shell_word
from atc.safety.redaction import Redactor
from atc.safety.taint import TaintedValue, find_sensitive
from atc.safety.taint.leaves import Leaf
from atc.safety.taint.values import equality_key, parse_url_host
from protocols.protocol import HttpBinding, format_binding
from protocols.schema import Json, JsonObject
from protocols.settings import DeviceSignIn, McpServer
from protocols.tool import Tool

MOST_DECIDING = 100
"""Maximum number of values in a call that a person is asked about. Nobody would read more."""
_MOST_LINES = 300
"""Maximum number of values in all calls of one question together."""
_MOST_WORDS = 40
"""Maximum number of words of a command that are displayed."""
_FEWEST_ALIKE = 3
"""From this number on, equal consecutive items of a list are displayed in one line."""
_MOST_GUESSED = 3
"""Maximum number of values that are displayed first if no value is sensitive.

They are those on which the decision probably depends.
"""
_LONGEST_NAME = 80
_LONGEST_PLACE = 160
_LONGEST_COMMAND = 320
"""A longer command is displayed with one word per line."""
_INDENT = "    "


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question to a person before a call is sent.

    `arguments` are keyed by their original names. `tainted` are the values that may come from
    another source than the user. It is empty if a person is asked only because the call writes.
    `others` are further calls of the tool that the same question lists. A yes allows each listed
    call once. `declined` is True if a person declined this call earlier. `id` identifies the
    question. It is empty if the question can be answered only now.
    """

    tool: Tool
    arguments: JsonObject
    tainted: tuple[TaintedValue, ...] = ()
    others: tuple[Question, ...] = ()
    declined: bool = False
    id: str = ""


AskPerson = Callable[[Question], bool | None]
"""Function that shows a question to a person. It returns their decision, or None without one."""


@dataclass(frozen=True, slots=True)
class _Value:
    """One value of a call, shown on one line of a question to a person.

    `place` is its position in the arguments, `shown` the quoted value. `note` says to which host
    the value leads and where it came from; empty if that is unknown.
    """

    place: str
    shown: str
    note: str = ""

    @property
    def line(self) -> str:
        """The line of the question that displays the value."""
        return f"argument {quoted(self.place, most=_LONGEST_NAME)} = {self.shown}"


@dataclass(frozen=True, slots=True)
class _Call:
    """One call in a question to a person.

    Its values are divided into those on which the decision depends (`deciding`) and the others.
    """

    question: Question
    deciding: Sequence[_Value]
    others: Sequence[_Value]

    @property
    def ends_with_deciding_value(self) -> bool:
        """True if the last line of the call shows a value on which the decision depends.

        The question then need not repeat these values at its end.
        """
        return not self.others and not any(value.note for value in self.deciding)

    def lines(self, number: str) -> list[str]:
        """Return the lines that display the call: its tool, then its values.

        The values on which the decision depends come first. The first line begins with `number`,
        the number of the call in the question.
        """
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
    """Return the text of a question about one or more calls, for the person who decides.

    One answer applies to all listed calls. The values on which the decision depends come before the
    others, and once more at the end. They are displayed unchanged. Other secrets are redacted if
    their name or format shows that they are secrets. Secrets that only a document declares are
    displayed, since a document could otherwise hide what the answer is about.
    """
    questions = (question, *question.others)
    calls = [_split_values(question) for question in questions]
    numbers = [""] if len(calls) == 1 else [f"{number}: " for number in range(1, len(calls) + 1)]
    blocks = [_block(call.lines(number)) for call, number in zip(calls, numbers, strict=True)]
    text = "\n\n".join([_head(questions), *blocks])
    deciding = [
        number + value.line
        for call, number in zip(calls, numbers, strict=True)
        for value in call.deciding
    ]
    if not deciding or (len(calls) == 1 and calls[0].ends_with_deciding_value):
        return text
    return f"{text}\n\nIt is decided by:\n\n{_block(deciding)}"


def is_readable(question: Question) -> bool:
    """Return True if a call has so few values that a person can read them all.

    A person is never asked about a call with more values.
    """
    return _count_values(question) <= MOST_DECIDING


def most_beside(question: Question) -> int:
    """Return how many further calls like the one in a question fit into the same question."""
    return _MOST_LINES // max(_count_values(question), 1) - 1


def _count_values(question: Question) -> int:
    call = _split_values(question)
    return len(call.deciding) + len(call.others)


def start_text(server: McpServer) -> str:
    """Return the text that asks a person whether the command of an MCP server may be started."""
    question = (
        "May this command be started? It is an MCP server that a source names, and it runs here"
        " with your rights."
    )
    words = [shell_word(word) for word in server.command]
    if len(whole := " ".join(words)) <= _LONGEST_COMMAND:
        return f"{question}\n\n{_block([whole])}"
    lines = [f"command {words[0]}", *(f"word {word}" for word in words[1:_MOST_WORDS])]
    if (more := len(words) - _MOST_WORDS) > 0:
        lines.append(f"and {more:,} more words, which are not shown")
    beginning = " ".join(["command", *words[:_MOST_GUESSED]])
    return f"{question}\n\n{_block(lines)}\n\nIt is decided by:\n\n{_block([beginning])}"


def sign_in_text(address: str) -> str:
    """Return the text that asks a person to sign in on a web page, with its host and address.

    The address may come from a document, so the host is displayed separately.
    """
    host = urlsplit(address).hostname or ""
    return f"Sign in at {quoted(host, most=_LONGEST_PLACE)} on this page: {escape_hidden(address)}"


def device_text(sign_in: DeviceSignIn) -> str:
    """Return the text that asks a person to sign in on any device, with the code to type there."""
    code = quoted(sign_in.code, most=_LONGEST_PLACE)
    return f"{sign_in_text(sign_in.page)}\nAny device will do. Type this code there: {code}"


def _head(questions: Sequence[Question]) -> str:
    """Return the first paragraph of a question, which says what is asked and why."""
    head = _head_without_past(questions)
    return f"{head} A person has declined this call before." if questions[0].declined else head


def _head_without_past(questions: Sequence[Question]) -> str:
    tainted = sum(len(question.tainted) for question in questions)
    if len(questions) > 1:
        covers = f"May these {len(questions)} calls be sent? One answer covers exactly these."
        return f"{covers} {_explain_why(tainted)} None of them was sent yet."
    return f"May this call be sent? {_explain_why(tainted)} It was not sent yet."


def _explain_why(tainted: int) -> str:
    if not tainted:
        return "It may change something."
    subject = "One value comes" if tainted == 1 else f"{tainted} values come"
    return f"{subject} neither from you nor from your settings."


def _block(lines: Iterable[str]) -> str:
    return "\n".join(f"{_INDENT}{line}" for line in lines)


def _split_values(question: Question) -> _Call:
    """Divide the values of a call into those on which the decision depends, and the others.

    The decision depends on the tainted values. If there are no such values, it depends on the
    sensitive ones, or else on those that probably say what the call is about.
    """
    covered = Redactor().value(dict(question.arguments))
    leaves = {
        path: value
        for path, value in walk(covered)
        if path and not (isinstance(value, list | dict) and value)
    }
    found: Sequence[Leaf] = question.tainted or list(
        find_sensitive(question.tool, question.arguments)
    )
    deciding = [_Value(leaf.place, quoted(leaf.value), _note(leaf)) for leaf in found]
    paths = [(leaf.argument, *leaf.path) for leaf in found]
    if not found:
        paths = _key_places(question, leaves)
        deciding = [_Value(format_json_path(path), quoted(leaves[path])) for path in paths]
    others = {path: value for path, value in leaves.items() if path not in paths}
    return _Call(question, deciding, list(_group_values(others)))


def _group_values(leaves: Mapping[JsonPath, Json]) -> Iterator[_Value]:
    """Yield one line of a question for each value of a call.

    Equal consecutive items of a list share a line.
    """
    groups = groupby(
        leaves.items(), key=lambda leaf: (_without_index(leaf[0]), equality_key(leaf[1]))
    )
    for _, group in groups:
        items = list(group)
        if len(items) < _FEWEST_ALIKE:
            yield from (_Value(format_json_path(path), quoted(item)) for path, item in items)
        else:
            path, value = items[0]
            line = f"{quoted(value)}, and so are the {len(items) - 1:,} items after it"
            yield _Value(format_json_path(path), line)


def _without_index(path: JsonPath) -> JsonPath:
    """Return a path without its last index, so that all items of a list have the same one."""
    return (*path[:-1], "") if isinstance(path[-1], int) else path


def _key_places(question: Question, leaves: Iterable[JsonPath]) -> list[JsonPath]:
    """Return the paths of those values of a call that probably say what the call is about.

    These are the values of arguments in the URL's path. If the URL's path has none, these are the
    required arguments, or else the first argument.
    """
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
    """Return a note about a sensitive value: to which host it leads, and where it came from.

    The host is given for a URL, the origin for a tainted value.
    """
    host = (
        parse_url_host(leaf.value) if leaf.kind == "url" and isinstance(leaf.value, str) else None
    )
    notes = [f"it leads to {quoted(host)}"] if host else []
    if isinstance(leaf, TaintedValue):
        notes.append(leaf.origin)
    return "; ".join(notes)
