"""Compact descriptions of tools, one line for each, for models that read slowly.

A line such as

    list_books(*, author_id, year: int=..., page: int=1) -> {books: list[{title, length?: int}]}

takes half the tokens of a stub with a docstring. A field or argument without a type is a string, or
has the type that the same name has further up. A field with `?` may be None or absent.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from protocols.file_schemas import is_file_response, takes_file
from protocols.naming import singular, snake
from protocols.response_headers import named_headers
from protocols.schema import resolve, unwrap_schema
from protocols.shapes import Detail, Shapes, with_file
from protocols.tool import Tool
from protocols.toolbox import Toolbox
from protocols.truncate import first_sentences

NOTATION = '# {a, b?: int} is a dict with the keys "a" and "b"; b is an int, or None or absent.'
_PLAIN = Detail(comments=False, most_values=6)
_LONGEST_DESCRIPTION = 220  # characters
_NEW_WORDS = 3
_LONGEST_REPEATED = 30
"""A longer type is written each time, since the model may not find it further up."""
_SHORTEST_DECLARED = 30
"""A type whose field names have more characters is declared if it occurs twice."""
_NAME_OR_TEXT = re.compile(r"'[^']*'|\b[A-Za-z_]\w*\b")
_CHOICES = re.compile(r"Literal\[('[\w .-]*'(?:, '[\w .-]*')*)\]")
_WRITTEN_FORM = re.compile(r"\b(?:YYYY-MM-DD|YYYY-MM|HH:MM(?::SS)?)\b")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_FACT = re.compile(r"\d|\b[A-Z]{2,}\b")
_WORD = re.compile(r"[a-z0-9]+")
_EMPTY_WORDS = frozenset(
    """
    a all an and are as at be by each every for from give given gives have has how in into is it its
    many may of on one only or that the their these this to was were what which who with without
    """.split()  # noqa: SIM905 - a list of words reads better so
)


def compact_lines(tools: Toolbox, *, described: bool = True) -> list[str]:
    """Return the lines that describe tools: shared types, functions, and notes on arguments.

    If `described` is False, there are only types and functions, without descriptions in words.
    """
    shapes = Shapes(_PLAIN)
    signatures = {alias: _read_signature(tool, shapes) for alias, tool in tools.items()}
    notation = _Notation(shapes, _shared_types(shapes, signatures.values()))
    lines = notation.declarations()
    for alias, signature in signatures.items():
        line = notation.function(alias, signature)
        text = _new_sentences(tools[alias], line) if described else ""
        if described and (headers := named_headers(tools[alias].protocol)):
            text = f"{text} Headers: {', '.join(headers)}".strip()
        lines.append(f"{line}  # {text}" if text else line)
    if described:
        lines += _argument_notes(tools)
    return [NOTATION, *lines]


class _Argument(NamedTuple):
    """An argument of a tool: its alias, its Python type and `=default`, or "" if it is required."""

    alias: str
    kind: str
    default: str


class _Signature(NamedTuple):
    """The arguments of a tool, required ones first, and the Python type of its response, or ""."""

    arguments: tuple[_Argument, ...]
    returns: str


def _read_signature(tool: Tool, shapes: Shapes) -> _Signature:
    """Return a tool's signature. The types that it needs are added to `shapes`.

    Of a tool that is described briefly, only the required arguments are read.
    """
    protocol = tool.protocol
    required = []
    optional = []
    for alias, name in tool.arguments.items():
        schema = resolve(protocol.parameters[name], protocol.input_schema)
        kind = shapes.annotation(schema, protocol.input_schema, hint=f"{tool.alias}_{alias}")
        if takes_file(schema, protocol.input_schema):
            kind = with_file(kind)
        shapes.descriptions.setdefault(alias, str(schema.get("description", "")))
        if alias in tool.required:
            required.append(_Argument(alias, kind, ""))
        else:
            default = repr(schema["default"]) if "default" in schema else "..."
            optional.append(_Argument(alias, kind, f"={default}"))
    if tool.brief:
        return _Signature(tuple(required), "")
    root = protocol.output_schema
    hint = tool.wrapper or re.sub("^(get_)?(list_)?(search_)?", "", tool.alias)
    returns = "" if root is None else shapes.annotation(unwrap_schema(root), root, hint=hint)
    returns = "File" if is_file_response(root) else returns
    return _Signature((*required, *optional), returns)


def _shared_types(shapes: Shapes, signatures: Iterable[_Signature]) -> list[str]:
    """Return the names of the types to declare, inner types first.

    They occur at least twice, and writing them out each time would be longer; or they contain
    themselves.
    """
    kinds = [one.returns for one in signatures]
    kinds += [argument.kind for one in signatures for argument in one.arguments]
    kinds += [kind for fields in shapes.typed_dicts.values() for kind, _ in fields.values()]
    uses = Counter(word for kind in kinds for word in _NAME_OR_TEXT.findall(kind))
    long = {
        name
        for name, fields in shapes.typed_dicts.items()
        if len(", ".join(fields)) > _SHORTEST_DECLARED
    }
    return [
        name
        for name in shapes.typed_dicts
        if (uses[name] > 1 and name in long) or name in _contained_types(name, shapes)
    ]


def _contained_types(name: str, shapes: Shapes) -> set[str]:
    """Return the names of the types that an object type contains, directly or not."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        for kind, _ in shapes.typed_dicts[waiting.pop()].values():
            new = (set(_NAME_OR_TEXT.findall(kind)) & shapes.typed_dicts.keys()) - found
            found |= new
            waiting += new
    return found


@dataclass
class _Notation:
    """Writes Python types in the compact notation.

    `shapes` has the fields of the object types. Those in `shared` are declared on separate
    lines; the others are written at the place where they are used.
    """

    shapes: Shapes
    shared: list[str]
    _written: dict[str, str] = field(default_factory=dict)
    """The type that was written for a field or argument of this name."""

    def declarations(self) -> list[str]:
        """Return a line for each shared type, such as `Watch = {watch_id, note}`."""
        return [f"{name} = {self._object(name)}" for name in self.shared]

    def function(self, alias: str, signature: _Signature) -> str:
        """Return the line of a tool, without its description."""
        arguments = [
            self._field(one.alias, one.alias, one.kind) + one.default for one in signature.arguments
        ]
        returns = f" -> {self._type(signature.returns)}" if signature.returns else ""
        return f"{alias}({', '.join(['*', *arguments] if arguments else [])}){returns}"

    def _object(self, name: str) -> str:
        """Return an object type as `{title, length?: int}`."""
        fields = [
            self._field(key, key if key.isidentifier() else repr(key), kind, absent=bool(absent))
            for key, (kind, absent) in self.shapes.typed_dicts[name].items()
        ]
        return "{" + ", ".join(fields) + "}"

    def _field(self, key: str, name: str, kind: str, *, absent: bool = False) -> str:
        """Return a field or an argument with its type, for instance `length?: int`."""
        bare = kind.removesuffix(" | None")
        if bare == "str":
            form = _WRITTEN_FORM.search(self.shapes.descriptions.get(key, ""))
            bare = form.group() if form else ""
        mark = "?" if absent or kind.endswith(" | None") else ""
        is_known = len(bare) <= _LONGEST_REPEATED and self._written.get(key) == bare
        self._written.setdefault(key, bare)
        return f"{name}{mark}" if is_known or not bare else f"{name}{mark}: {self._type(bare)}"

    def _type(self, kind: str) -> str:
        """Return a Python type with `'a'|'b'` for choices and its own object types written out."""
        plain = _CHOICES.sub(lambda found: found[1].replace(", ", "|"), kind)
        return _NAME_OR_TEXT.sub(self._replace_name, plain)

    def _replace_name(self, found: re.Match[str]) -> str:
        """Return the object type with this name, if it is declared nowhere, else the name."""
        name = found[0]
        is_own = name in self.shapes.typed_dicts and name not in self.shared
        return self._object(name) if is_own else name


def _new_sentences(tool: Tool, line: str) -> str:
    """Return the sentences of a tool's description that say more than its line.

    They have at least `_NEW_WORDS` words that its name, arguments and response do not have.
    """
    known = _words(f"{snake(tool.alias)} {line}".replace("_", " "))
    text = tool.protocol.description or tool.protocol.title
    new = [one for one in _SENTENCE_END.split(text) if len(_words(one) - known) >= _NEW_WORDS]
    return first_sentences(" ".join(new), _LONGEST_DESCRIPTION).removesuffix(" …")


def _words(text: str) -> set[str]:
    return {singular(word) for word in _WORD.findall(text.lower())} - _EMPTY_WORDS


def _argument_notes(tools: Toolbox) -> Iterator[str]:
    """Yield a comment for each argument whose values the model cannot tell from its name.

    It is the sentence of the description that names another tool, a number or an abbreviation.
    Without such a sentence, it is the tool whose response has values for the argument.
    """
    notes = _original_names(tools)
    for tool in tools.values():
        for alias, name in tool.arguments.items():
            schema = resolve(tool.protocol.parameters[name], tool.protocol.input_schema)
            if alias not in notes and (note := _telling_sentence(schema, tools)):
                notes[alias] = note
    for tool in tools.values():
        for alias, name in tool.arguments.items():
            producers = tools.producers(tool, name)
            if producers and alias not in notes:
                notes[alias] = f"{producers[0].perhaps}from {producers[0].expression()}"
    yield from (f"# {alias}: {note}" for alias, note in notes.items())


def _original_names(tools: Toolbox) -> dict[str, str]:
    """Return comments on tools and arguments whose alias does not show their original name."""
    notes: dict[str, str] = {}
    for tool in tools.values():
        if name := tool.unclear_own_name:
            notes[tool.alias] = f"its name is {json.dumps(name)}"
        for alias in tool.arguments:
            if name := tool.unclear_name(alias):
                notes[alias] = f"sent as {json.dumps(name)}"
    return notes


def _telling_sentence(schema: Mapping[str, object], tools: Toolbox) -> str:
    """Return the first sentence of a description that names a tool, a number or an abbreviation."""
    for sentence in _SENTENCE_END.split(str(schema.get("description", ""))):
        rest = _WRITTEN_FORM.sub("", sentence)
        if _FACT.search(rest) or any(word in tools for word in re.findall(r"\w+", sentence)):
            return sentence
    return ""
