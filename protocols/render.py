"""Renders tools as text: Python stubs for prompts and `.pyi` files, and one-line signatures."""

from __future__ import annotations

import json
import keyword
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import chain, count, islice, takewhile
from typing import Any, Literal

from protocols.links import means_another
from protocols.naming import singular
from protocols.schema import (
    GUESSED_TYPE,
    Json,
    JsonObject,
    as_mapping,
    is_file,
    resolve,
    scalar_schema,
    types,
    unwrap_schema,
)
from protocols.schema_intersection import intersect_schemas
from protocols.toolbox import Producer, Tool, Toolbox
from protocols.truncate import first_sentences

_MOST_SCHEMAS = 10_000  # in one set of stubs; further ones become `Any`
_MOST_LAYERS = 100  # schemas merged from `allOf`
_DEEPEST = 40  # levels of nested schemas
_SCALARS = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
_FORMATS = {
    "date": "YYYY-MM-DD",
    "date-time": "ISO 8601 date and time",
    "time": "HH:MM:SS",
    "uri": "URL",
    "email": "e-mail",
    "duration": "ISO 8601 duration",
    "byte": "base64",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Detail:
    """Level of detail of a tool's stub, that is, of its Python signature with a docstring.

    Objects that are nested deeper than `depth` levels are shown as `dict`, without their fields.
    """

    depth: int = 3
    comments: bool = True
    """True if arguments and response fields have comments with their descriptions."""
    comment_characters: int = 90
    most_values: int = 12
    """A longer enumeration is not listed."""
    through_lists: bool = False
    """True if an object that only wraps a list of records does not count as a level.

    The records are then shown with their fields.
    """


_WHOLE = 20_000
"""A description of at most this many characters is shown whole if the prompt has room for it."""
_ALL_VALUES = 100
FULL = Detail(depth=8, comment_characters=_WHOLE, most_values=_ALL_VALUES)
DETAILS = (
    Detail(comment_characters=_WHOLE, most_values=_ALL_VALUES),
    Detail(comment_characters=300),
    Detail(),
    Detail(depth=2, comment_characters=50),
    Detail(depth=2, comments=False),
    Detail(depth=1, comments=False, through_lists=True),
    Detail(depth=1, comments=False),
)
"""Levels of detail, from long to short. A prompt uses the first one with which its stubs fit."""
_LINE = Detail(depth=0, comments=False, comment_characters=30)
_LINE_SUMMARY = 100  # characters
_IN_ONE_LINE = "# More functions, in one line each:"

Docs = Literal["full", "requests", "names"]
"""How a prompt describes tools.

*full*: a stub for each. *requests*: stubs without responses. *names*: only names, because a
constrained decoder enforces the rest.
"""


def stubs(tools: Toolbox, *, detail: Detail = DETAILS[0], among: Toolbox | None = None) -> str:
    """Return Python code that describes tools: TypedDicts for responses, and one function each.

    Return types describe what programs get, that is, responses without a wrapper key. If the
    response of another tool in `among` (default: `tools`) has values for an argument, the comment
    on the argument says how to get such a value.
    """
    shapes = _Shapes(detail)
    functions = [_function(tool, shapes, among or tools) for tool in tools.values()]
    return "\n\n".join([*shapes.declarations, *functions])


def describe_within_budget(
    tools: Toolbox, *, budget: int, docs: Docs = "full"
) -> tuple[str, Toolbox]:
    """Return a text that describes tools in at most `budget` tokens, and the described tools.

    `docs` selects the kind of description. Details are dropped before tools. If the shortest stubs
    of all tools do not fit, each tool gets one line, and the first tools get stubs as far as there
    is room. Tools that still do not fit are left out from the end, but at least one tool is
    described. A single tool always has its stub.
    """
    if docs == "names":
        names = _lines_within_budget(tools, budget)
        return "\n".join(names), tools.only(names)
    shown = tools
    if docs == "requests":
        shown = tools.map(
            lambda tool: replace(tool, protocol=replace(tool.protocol, output_schema=None))
        )
    if text := _stubs_within_budget(shown, budget):
        return text, tools
    text, names = _lines_and_stubs_within_budget(shown, budget)
    return text, tools.only(names)


def _stubs_within_budget(tools: Toolbox, budget: int) -> str:
    """Return the stubs of all tools with as much detail as fits into `budget` tokens, or "".

    A stub is a Python signature with a docstring. A single tool always has a stub, even if it does
    not fit.
    """
    text = ""
    for detail in reversed(DETAILS) if len(tools) <= budget else ():
        more = stubs(tools, detail=detail)
        if token_estimate(more) > budget and (text or len(tools) > 1):
            break
        text = more
    return text


def _lines_and_stubs_within_budget(tools: Toolbox, budget: int) -> tuple[str, list[str]]:
    """Return a text that has stubs of the first tools and one line for each further tool.

    A stub is a Python signature with a docstring. The text fits into `budget` tokens, so the last
    tools may be left out. The second result has the names of all tools in the text.
    """
    lines = _lines_within_budget(map(signature_line, tools.values()), budget)
    names = list(tools)[: len(lines)]
    tools = tools.only(names)
    text = "\n".join(lines)
    beginnings = (stubs(tools.only(names[:1]), detail=one, among=tools) for one in DETAILS)
    fits = (token_estimate("\n".join([one, *lines[1:]])) <= budget for one in beginnings)
    detail = next((one for one, fit in zip(DETAILS, fits, strict=True) if fit), DETAILS[-1])
    for whole in range(1, len(lines)):
        first = stubs(tools.only(names[:whole]), detail=detail, among=tools)
        more = "\n".join([first, "", _IN_ONE_LINE, *lines[whole:]])
        if token_estimate(more) > budget:
            break
        text = more
    return text, names


def _lines_within_budget(lines: Iterable[str], budget: int) -> list[str]:
    """Return as many of the first lines as fit into `budget` tokens, but at least one."""
    fitting: list[str] = []
    for line in lines:
        if fitting and token_estimate("\n".join([*fitting, line])) > budget:
            break
        fitting.append(line)
    return fitting


def signature_line(tool: Tool) -> str:
    """Return a line with a tool's signature and the first sentence of its description.

    Nested objects are shown as `dict`.
    """
    signature, summary = _function(tool, _Shapes(_LINE), Toolbox()).split("\n", 1)
    sentence = summary.strip()[3:-3].strip().removesuffix(" …")
    if len(sentence) > _LINE_SUMMARY:
        sentence = f"{sentence[: _LINE_SUMMARY - 1].rstrip()}…"
    return f"{signature} ...  # {sentence}"


def token_estimate(text: str) -> int:
    """Return the approximate number of tokens of `text`.

    Code has about 3.6 characters per token.
    """
    return int(len(text) / 3.6) + 1


def _function(tool: Tool, shapes: _Shapes, among: Toolbox) -> str:
    """Return the stub of a tool: a Python function without a body, with a docstring.

    The TypedDicts that it needs are added to `shapes`. `among` are the tools that its comments may
    name as sources of argument values.
    """
    protocol = tool.protocol
    detail = shapes.detail
    arguments, notes = _parameters(tool, shapes, among)
    returns = "Any"
    if (root := protocol.output_schema) is not None:
        hint = tool.wrapper or re.sub("^(get_)?(list_)?(search_)?", "", tool.alias)
        returns = shapes.annotation(unwrap_schema(root), root, hint=hint)
    signature = (
        f"def {tool.alias}({'*, ' if arguments else ''}{', '.join(arguments)}) -> {returns}:"
    )
    summary = first_sentences(
        protocol.description or protocol.title or protocol.name, 3 * detail.comment_characters
    )
    if not notes:
        end = ' """' if summary.endswith('"') else '"""'
        return f'{signature}\n    """{summary}{end}'
    return "\n".join([signature, f'    """{summary}', "", *notes, '    """'])


def _parameters(tool: Tool, shapes: _Shapes, among: Toolbox) -> tuple[list[str], list[str]]:
    """Return the parameters of a tool's stub, required ones first, and the comments on them."""
    protocol = tool.protocol
    parameters = []
    comments = []
    ordered = sorted(tool.arguments.items(), key=lambda item: item[0] not in tool.required)
    for alias, name in ordered:
        schema = resolve(protocol.parameters[name], protocol.input_schema)
        annotation = shapes.annotation(schema, protocol.input_schema, hint=f"{tool.alias}_{alias}")
        if alias not in tool.required:
            annotation += f" = {schema.get('default')!r}" if "default" in schema else " = ..."
        parameters.append(f"{alias}: {annotation}")
        is_choice = "enum" in schema or "Literal" in annotation
        producers = [] if is_choice else among.producers(tool, name)
        origin = describe_origin(name, producers) if shapes.detail.comments else ""
        if comment := shapes.note(alias, schema, protocol.input_schema, origin):
            comments.append(f"    {alias}: {comment}")
    return parameters, comments


def describe_origin(argument: str, producers: Sequence[Producer]) -> str:
    """Return a text that says which code gets a value for an argument, or "" without producers.

    The best producer is named. For an argument such as `new_owner_id`, which takes another value
    than the one that is at hand, all are named.
    """
    if not producers:
        return ""
    named = producers if means_another(argument) else producers[:1]
    ways = " or ".join(producer.expression() for producer in named)
    return f"{producers[0].perhaps}from {ways}"


_Fields = dict[str, tuple[str, str]]
"""The fields of a TypedDict, keyed by name: Python type, and "may be absent" or ""."""


@dataclass
class _Shapes:
    """The TypedDicts that describe the responses and arguments of several tools in a prompt.

    Equal types share one name.
    """

    detail: Detail
    _fields: dict[str, _Fields] = field(default_factory=dict)
    declarations: list[str] = field(default_factory=list)
    """Source code of the TypedDicts, in the order of first use, inner types first."""
    _open: dict[int, str] = field(default_factory=dict)
    """Names of the types that are being rendered, keyed by the `id()` of their properties."""
    _said: set[tuple[str, str]] = field(default_factory=set)
    _left: int = _MOST_SCHEMAS
    _depth: int = 0

    def note(self, name: str, schema: JsonObject, root: JsonObject, origin: str = "") -> str:
        """Return the comment for an argument or a field, or "" if there is nothing to say.

        `origin` names the call that gives a value for an argument, or is "". A comment that was
        returned for the same name before is not repeated.
        """
        if not self.detail.comments:
            return ""
        text = first_sentences(str(schema.get("description", "")), self.detail.comment_characters)
        described = scalar_schema(schema, root)
        wanted = (
            "content of a file"
            if is_file(schema, root)
            else _FORMATS.get(str(described.get("format")), "")
        )
        note = f"{text} ({wanted})" if text and wanted and wanted not in text else text or wanted
        if (
            origin
            and origin.split("(")[0].removeprefix("perhaps ").removeprefix("from ") not in note
        ):
            note = "; ".join(filter(None, (note.rstrip("."), origin)))
        if (name, note) in self._said:
            return ""
        self._said.add((name, note))
        return note

    def annotation(self, schema: Json, root: JsonObject, *, hint: str, level: int = 0) -> str:
        """Return the Python type of the values that a schema allows.

        Objects with known keys become TypedDicts named after `hint`. References are resolved in
        `root`. `level` is the number of objects around this one.
        """
        self._left -= 1
        if self._left < 0 or self._depth >= _DEEPEST:
            return "Any"
        self._depth += 1
        top = resolve(schema, root)
        top = as_mapping(top.get(GUESSED_TYPE)) or top
        alternatives = next((top[key] for key in ("anyOf", "oneOf") if key in top), None)
        if alternatives is None:
            top = reduce(intersect_schemas, islice(_layers(top, root), _MOST_LAYERS))
        values = top.get("enum", [top["const"]] if "const" in top else [])
        if alternatives is not None:
            kinds = [self.annotation(one, root, hint=hint, level=level) for one in alternatives]
        elif 0 < len(values) <= self.detail.most_values:
            kinds = [f"Literal[{', '.join(map(repr, values))}]"]
        else:
            kinds = [
                self._annotation_of_type(name, top, root, hint=hint, level=level)
                for name in types(top)
            ]
        self._depth -= 1
        return " | ".join(sorted(dict.fromkeys(kinds), key=lambda kind: kind == "None")) or "Any"

    def _annotation_of_type(
        self, type_name: str, schema: JsonObject, root: JsonObject, *, hint: str, level: int
    ) -> str:
        """Return the Python type for the values of one JSON type that a schema allows."""
        if type_name == "array":
            return self._annotation_of_array(schema, root, hint=hint, level=level)
        if type_name != "object":
            return _SCALARS.get(type_name, "Any")
        properties: Mapping[str, Any] = schema.get("properties", {})
        if not properties:
            values = schema.get("additionalProperties")
            if not isinstance(values, Mapping) or not values:
                return "dict"
            return f"dict[str, {self.annotation(values, root, hint=singular(hint), level=level)}]"
        name = _class_name(str(schema.get("title") or hint))
        if id(properties) in self._open:  # a recursive type refers to itself by name
            return self._open[id(properties)]
        if level >= self.detail.depth:
            return "dict"
        self._open[id(properties)] = name
        required = schema.get("required", ())
        below = (
            level if self.detail.through_lists and _wraps_a_list(properties, root) else level + 1
        )
        fields = {
            key: (
                self.annotation(child, root, hint=key, level=below),
                "" if key in required else "may be absent",
            )
            for key, child in properties.items()
        }
        del self._open[id(properties)]
        return self._declare(name, fields, schema, root)

    def _annotation_of_array(
        self, schema: JsonObject, root: JsonObject, *, hint: str, level: int
    ) -> str:
        """Return the Python type of an array schema."""
        if first := schema.get("prefixItems"):
            items = (self.annotation(part, root, hint=hint, level=level) for part in first)
            return f"list[{', '.join(items)}]"
        if "items" not in schema:
            return "list"
        return f"list[{self.annotation(schema['items'], root, hint=singular(hint), level=level)}]"

    def _declare(self, name: str, fields: _Fields, schema: JsonObject, root: JsonObject) -> str:
        """Return the name of the TypedDict with these fields.

        It is declared first if there is no equal one.
        """
        names = chain([name], (f"{name}{number}" for number in count(2)))
        own = list(takewhile(self._fields.__contains__, names))
        # Equal shapes of two components keep both their names.
        for one in own if "title" in schema else self._fields:
            if self._fields[one] == fields:
                return one
        chosen = f"{name}{len(own) + 1}" if own else name
        self._fields[chosen] = fields
        # A class body cannot have keys that are not identifiers; then TypedDict is called.
        plain = all(key.isidentifier() and not keyword.iskeyword(key) for key in fields)
        lines = []
        for key, (kind, absent) in fields.items():
            kind = re.sub(rf"(?<![^\[ ]){name}(?![^\] ])", chosen, kind)
            line = f"    {key}: {kind}" if plain else f"    {json.dumps(key)}: {kind},"
            notes = filter(
                None, (self.note(key, resolve(schema["properties"][key], root), root), absent)
            )
            lines.append("  # ".join(filter(None, (line, "; ".join(notes)))))
        body = "\n".join(lines)
        call = f'{chosen} = TypedDict("{chosen}", {{\n{body}\n}})'
        self.declarations.append(f"class {chosen}(TypedDict):\n{body}" if plain else call)
        return chosen


def _layers(schema: Json, root: JsonObject, depth: int = 0) -> Iterator[JsonObject]:
    """Yield all schemas that a value must satisfy because of `allOf`.

    They are the schemas in `allOf`, at any depth, and then `schema` without its `allOf`.
    """
    top = resolve(schema, root)
    for part in top.get("allOf", ()) if depth < _DEEPEST else ():
        yield from _layers(part, root, depth + 1)
    yield {key: part for key, part in top.items() if key != "allOf"}


def _wraps_a_list(properties: Mapping[str, Any], root: JsonObject) -> bool:
    """Return True if an object has one field with a list of records and no other records."""
    inner = [resolve(part, root) for part in properties.values()]
    lists = [
        part
        for part in inner
        if "array" in types(part) and "object" in types(resolve(part.get("items"), root))
    ]
    return len(lists) == 1 and not any(
        "object" in types(part) or len(part.get("anyOf", ())) > 2 for part in inner
    )


def _class_name(text: str) -> str:
    """Return a class name made of the words of a text."""
    words = re.findall(r"[A-Za-z0-9]+", text)
    name = "".join(word[:1].upper() + word[1:] for word in words) or "Shape"
    return name if name.isidentifier() and not keyword.iskeyword(name) else f"Shape{name}"
