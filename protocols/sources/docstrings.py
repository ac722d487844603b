"""Reads docstrings of Python functions in the styles of Google, NumPy, Sphinx and Epydoc.

No part of a docstring is dropped. The text about an argument becomes the argument's description.
All other text (results, errors, notes, examples) becomes part of the function's description. A type
in a docstring counts as a guess.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import docstring_parser
from docstring_parser.common import DocstringParam, DocstringStyle

from protocols.schema import JsonObject

_MARK = re.compile(r"^\s*(read_only|pure|session)\s*=\s*True\s*$\n?", re.MULTILINE)
"""A line of a docstring that says what a call does: nothing but read (`read_only`), not even depend
on anything else (`pure`), or move a session (`session`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionText:
    """The contents of a docstring. Each text is on one line.

    `types` are the types of arguments and `returns` is that of the result, as the docstring writes
    them (see `documented_type`). `marks` are those of `read_only`, `pure` and `session` that a line
    such as `read_only = True` sets.
    """

    description: str = ""
    arguments: Mapping[str, str] = field(default_factory=dict)
    types: Mapping[str, str] = field(default_factory=dict)
    returns: str = ""
    marks: frozenset[str] = frozenset()


def read_docstring(text: str | None) -> FunctionText:
    """Return the texts of a docstring about a function, its arguments and its result."""
    whole = inspect.cleandoc(text or "")
    kept = _MARK.sub("", whole)
    marks = frozenset(_MARK.findall(whole))
    try:
        read = docstring_parser.parse(kept)
    except docstring_parser.ParseError:
        return FunctionText(description=_on_one_line(kept), marks=marks)
    styled = _STYLES.get(read.style) if read.style is not None and read.meta else None
    description = _on_one_line(styled(kept) if styled is not None else kept)
    arguments = dict[str, str]()
    types = dict[str, str]()
    for param in read.params:
        for name in param.arg_name.replace("*", "").split(","):
            arguments[name.strip()] = _argument_text(param, description)
            if param.type_name:
                types[name.strip()] = _type_text(param.type_name)
    results = read.many_returns
    return FunctionText(
        description=description,
        arguments=arguments,
        types=types,
        returns=_result_type(results[0]) if len(results) == 1 else "",
        marks=marks,
    )


def _argument_text(param: DocstringParam, description: str) -> str:
    """Return the text about an argument.

    Paragraphs that follow the last argument are part of the function's `description`.
    """
    paragraphs = (" ".join(part.split()) for part in _PARAGRAPH.split(param.description or ""))
    text = " ".join(part for part in paragraphs if part not in description)
    is_told = param.default is None or param.default in text
    return text if is_told else f"{text} (default: {param.default})".strip()


def _result_type(result: docstring_parser.DocstringReturns) -> str:
    """Return the type of a documented result as it is written, or "" for a stream of results.

    A section may consist of a type alone, such as `List[str]`.
    """
    return "" if result.is_generator else _type_text(result.type_name or result.description or "")


def _type_text(text: str) -> str:
    """Return a type on one line, without the paragraphs and directives that follow its field."""
    return " ".join(_AFTER_FIELD.split(text.strip())[0].split())


# --- types

_NAMED_TYPES: dict[str, JsonObject] = {
    "str": {"type": "string"},
    "string": {"type": "string"},
    "int": {"type": "integer"},
    "integer": {"type": "integer"},
    "float": {"type": "number"},
    "number": {"type": "number"},
    "bool": {"type": "boolean"},
    "boolean": {"type": "boolean"},
    "dict": {"type": "object"},
    "mapping": {"type": "object"},
    "list": {"type": "array"},
    "sequence": {"type": "array"},
    "iterable": {"type": "array"},
    "tuple": {"type": "array"},
    "set": {"type": "array"},
    "none": {"type": "null"},
    "datetime": {"type": "string", "format": "date-time"},
    "date": {"type": "string", "format": "date"},
}
_ASIDE = re.compile(r",\s*(optional|required|default\b.*|keyword-only)\s*$", re.IGNORECASE)
_OF = re.compile(r"\b(list|sequence|iterable|tuple|set)s? of (\w+?)s?\b", re.IGNORECASE)
_PARAGRAPH = re.compile(r"\n[ \t]*\n")
_AFTER_FIELD = re.compile(r"\n(?=[ \t]*\n|\.\.)")
_LONGEST_TYPE = 200


def documented_type(text: str) -> JsonObject | None:
    """Return the JSON Schema for a type as a docstring writes it, or None if it is not understood.

    Examples are `str, optional`, `list of int`, `Optional[str]`, `int or None` and `{'a', 'b'}`.
    """
    wanted = text.strip("`").removesuffix(".")
    while (shorter := _ASIDE.sub("", wanted)) != wanted:
        wanted = shorter
    wanted = re.sub(r"\s+or\s+", " | ", _OF.sub(r"\1[\2]", wanted))
    if not wanted or len(wanted) > _LONGEST_TYPE:
        return None
    try:
        return _schema_of(ast.parse(wanted, mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _schema_of(node: ast.expr) -> JsonObject | None:
    """Return the JSON Schema for a type expression, or None if a part of it is not understood."""
    match node:
        case ast.Constant(value=None):
            return _NAMED_TYPES["none"]
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return _NAMED_TYPES.get(name.lower())
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return _union([left, right])
        case ast.Set(elts=values):
            return _choice(values)
        case ast.Subscript(value=ast.Name(id=name) | ast.Attribute(attr=name), slice=inner):
            return _generic_schema(name.lower(), _parts(inner))
    return None


def _parts(inner: ast.expr) -> list[ast.expr]:
    return inner.elts if isinstance(inner, ast.Tuple) else [inner]


def _generic_schema(name: str, parts: list[ast.expr]) -> JsonObject | None:
    """Return the JSON Schema for a type with parameters, such as `list[str]`."""
    if name == "literal":
        return _choice(parts)
    if name in ("optional", "union"):
        none = [ast.Constant(value=None)] if name == "optional" else []
        return _union([*parts, *none])
    base = _NAMED_TYPES.get(name)
    inner = _schema_of(parts[-1])
    if base is None or inner is None:
        return base
    if base["type"] == "object":
        return {**base, "additionalProperties": inner}
    return {**base, "items": inner} if len(parts) == 1 and base["type"] == "array" else base


def _choice(values: list[ast.expr]) -> JsonObject:
    return {"enum": [ast.literal_eval(value) for value in values]}


def _union(parts: list[ast.expr]) -> JsonObject | None:
    members = [_schema_of(part) for part in parts]
    return None if None in members else {"anyOf": members}


# --- the text without its arguments

_GOOGLE_ARGUMENTS = re.compile(
    r"^(?:Args|Arguments|Parameters|Params):[ \t]*\n(?:[ \t]+.*(?:\n|\Z)|[ \t]*\n)*", re.MULTILINE
)
_NUMPY_ARGUMENTS = re.compile(
    r"^(?:Other )?(?:Parameters|Params|Arguments|Args)\n-{3,}[ \t]*\n"
    r"(?:(?!.+\n-{3,}[ \t]*$).*(?:\n|\Z))*?(?=.+\n-{3,}[ \t]*$|\Z)",
    re.MULTILINE,
)
_NUMPY_TITLE = re.compile(r"^(\w[\w ]*)\n-{3,}[ \t]*$", re.MULTILINE)
_FIELD = r"^[ \t]*{mark}(?:{names})\b[^:\n]*:.*(?:\n(?:[ \t]+\S.*|[ \t]*(?=\n[ \t]+\S)))*\n?"
_ARGUMENT_NAMES = "param|parameter|arg|argument|key|keyword|type|rtype"


def _field_pattern(mark: str) -> re.Pattern[str]:
    return re.compile(_FIELD.format(mark=mark, names=_ARGUMENT_NAMES), re.MULTILINE)


_SPHINX_ARGUMENTS = _field_pattern(":")
_EPYDOC_ARGUMENTS = _field_pattern("@")
_FIELD_TITLE = re.compile(r"^[ \t]*[:@](\w+)([^:\n]*):[ \t]*", re.MULTILINE)


def _without_fields(text: str, arguments: re.Pattern[str]) -> str:
    """Return a docstring without its fields about arguments, such as `:param name: …`.

    `arguments` is the pattern of these fields. The marks of other fields are replaced by words:
    `:raises KeyError: …` becomes `Raises KeyError: …`.
    """
    rest = arguments.sub("", text)
    return _FIELD_TITLE.sub(lambda mark: f"\n{mark[1].capitalize()}{mark[2]}: ", rest)


_STYLES: Mapping[DocstringStyle, Callable[[str], str]] = {
    DocstringStyle.GOOGLE: lambda text: _GOOGLE_ARGUMENTS.sub("", text),
    DocstringStyle.NUMPYDOC: lambda text: _NUMPY_TITLE.sub(r"\1:", _NUMPY_ARGUMENTS.sub("", text)),
    DocstringStyle.REST: lambda text: _without_fields(text, _SPHINX_ARGUMENTS),
    DocstringStyle.EPYDOC: lambda text: _without_fields(text, _EPYDOC_ARGUMENTS),
}
"""Functions that remove what is said of arguments from a docstring, keyed by its style."""

_CODE_BLOCK = re.compile(r"^[ \t]*\.\. code(?:-block)?::.*$", re.MULTILINE)
_DIRECTIVE = re.compile(r"^[ \t]*\.\. (\w+)::", re.MULTILINE)
_TITLE = re.compile(r"^[A-Z][\w ]{1,30}:(?=\s|$)")


def _on_one_line(text: str) -> str:
    """Return a text on one line, in which a sentence ends before each title such as `Returns:`."""
    text = _DIRECTIVE.sub(lambda mark: f"{mark[1].capitalize()}:", _CODE_BLOCK.sub("", text))
    whole = ""
    for line in (" ".join(line.split()) for line in text.splitlines()):
        if line and whole:
            is_open = whole[-1].isalnum() or whole[-1] in ")\"'`]}"
            whole += ". " if is_open and _TITLE.match(line) else " "
        whole += line
    return whole
