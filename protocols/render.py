"""Renders tools as text: Python stubs for prompts and `.pyi` files, and one-line signatures."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from protocols.compact import compact_lines
from protocols.file_schemas import MAY_BE_FILE, is_file_response, takes_file
from protocols.links import means_another
from protocols.response_headers import named_headers
from protocols.schema import resolve, unwrap_schema
from protocols.shapes import Detail, Shapes, with_file
from protocols.tool import Tool
from protocols.toolbox import Producer, Toolbox
from protocols.truncate import first_sentences

_FILE_LINE = (
    "# A File has name, media_type and size; read_text(), lines(), rows() of CSV, json() or"
    " read_bytes() read it; print(file) hands it to the user."
)
_NAMES_FILE = re.compile(r"(-> |: |\[|\| |^)File(?= \||\]|:|,|\)| *$)", re.MULTILINE)
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

Docs = Literal["full", "compact", "requests", "names"]
"""How a prompt describes tools.

*full*: a stub for each. *compact*: a line for each, see `protocols.compact`. *requests*: stubs
without responses. *names*: only names, because a constrained decoder enforces the rest.
"""
WITH_RESPONSES: frozenset[Docs] = frozenset({"full", "compact"})
"""Kinds of descriptions that say what a response is."""


def stubs(
    tools: Toolbox,
    *,
    detail: Detail = DETAILS[0],
    among: Toolbox | None = None,
    nearest: int | None = None,
) -> str:
    """Return the tools as Python: each response type as a TypedDict, and a function for each tool.

    Return types describe what programs get, that is, responses without a wrapper key. If the
    response of another tool in `among` (default: `tools`) has values for an argument, the comment
    on the argument says how to get such a value. The stubs after the first `nearest` ones have only
    required arguments, and name the others.
    """
    shapes = Shapes(detail)
    functions = [
        signature_line(tool)
        if tool.brief
        else _function(tool, shapes, among or tools, whole=nearest is None or number < nearest)
        for number, tool in enumerate(tools.values())
    ]
    return "\n\n".join([*shapes.declarations, *functions])


def describe_within_budget(
    tools: Toolbox, *, budget: int, docs: Docs = "full", nearest: int | None = None
) -> tuple[str, Toolbox]:
    """Return a text that describes tools in at most `budget` tokens, and the described tools.

    `docs` selects the kind of description. Details are dropped before tools. If the shortest stubs
    of all tools do not fit, each tool gets one line, and the first ones get stubs as far as there
    is room. There is always at least one tool, and a single tool always has its stub. Of the tools
    after the first `nearest` ones, only the required arguments are described. If a tool takes or
    returns a file, the first line says what programs do with one.
    """
    text, described = _describe(tools, budget, docs, nearest)
    return f"{_FILE_LINE}\n\n{text}" if _NAMES_FILE.search(text) else text, described


def _describe(tools: Toolbox, budget: int, docs: Docs, nearest: int | None) -> tuple[str, Toolbox]:
    """Return the text and the tools of `describe_within_budget`, without a line about files."""
    if docs == "names":
        names = _lines_within_budget(tools, budget)
        return "\n".join(names), tools.only(names)
    if docs == "compact":
        return _compact_within_budget(tools, budget)
    shown = tools
    if docs == "requests":
        shown = tools.map(
            lambda tool: replace(tool, protocol=replace(tool.protocol, output_schema=None))
        )
    if text := _stubs_within_budget(shown, budget, nearest):
        return text, tools
    text, names = _lines_and_stubs_within_budget(shown, budget, nearest)
    return text, tools.only(names)


def is_fitting(tools: Toolbox, budget: int, docs: Docs) -> bool:
    """Return True if all tools, described as briefly as possible, fit the budget (in tokens)."""
    if len(tools) > budget:
        return False
    if docs == "names":
        least = "\n".join(tools)
    elif docs == "compact":
        least = "\n".join(compact_lines(tools, described=False))
    else:
        least = stubs(tools, detail=DETAILS[-1])
    return token_estimate(least) <= budget


def _compact_within_budget(tools: Toolbox, budget: int) -> tuple[str, Toolbox]:
    """Describe the first tools that fit into `budget` tokens compactly; return the text and them.

    Descriptions in words are left out before tools. There is always at least one tool.
    """
    for described in (True, False):
        text = "\n".join(compact_lines(tools, described=described))
        if token_estimate(text) <= budget:
            return text, tools
    names = list(tools)
    fewest = 1
    most = len(names)
    while fewest < most:
        middle = (fewest + most + 1) // 2
        text = "\n".join(compact_lines(tools.only(names[:middle])))
        if token_estimate(text) <= budget:
            fewest = middle
        else:
            most = middle - 1
    kept = tools.only(names[:fewest])
    return "\n".join(compact_lines(kept)), kept


def _stubs_within_budget(tools: Toolbox, budget: int, nearest: int | None) -> str:
    """Return the most detailed stubs of all tools that fit into `budget` tokens, or "".

    A stub is a Python signature with a docstring. A single tool always has a stub, even if it does
    not fit.
    """
    text = ""
    for detail in reversed(DETAILS) if len(tools) <= budget else ():
        more = stubs(tools, detail=detail, nearest=nearest)
        if token_estimate(more) > budget and (text or len(tools) > 1):
            break
        text = more
    return text


def _lines_and_stubs_within_budget(
    tools: Toolbox, budget: int, nearest: int | None
) -> tuple[str, list[str]]:
    """Return a text with stubs of the first tools and a line for each further one.

    A stub is a Python signature with a docstring. The text fits into `budget` tokens, so the last
    tools may be left out. The second result has the names of all tools in the text.
    """
    lines = _lines_within_budget(
        (
            signature_line(tool, whole=nearest is None or number < nearest)
            for number, tool in enumerate(tools.values())
        ),
        budget,
    )
    names = list(tools)[: len(lines)]
    tools = tools.only(names)
    text = "\n".join(lines)
    beginnings = (stubs(tools.only(names[:1]), detail=one, among=tools) for one in DETAILS)
    fits = (token_estimate("\n".join([one, *lines[1:]])) <= budget for one in beginnings)
    detail = next((one for one, fit in zip(DETAILS, fits, strict=True) if fit), DETAILS[-1])
    for whole in range(1, len(lines)):
        first = stubs(tools.only(names[:whole]), detail=detail, among=tools, nearest=nearest)
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


def signature_line(tool: Tool, *, whole: bool = True) -> str:
    """Return a line with a tool's signature and the first sentence of its description.

    Nested objects are shown as `dict`. If `whole` is False, optional arguments are left out.
    """
    signature, summary, *_ = _function(tool, Shapes(_LINE), Toolbox(), whole=whole).split("\n")
    sentence = summary.strip().removeprefix('"""').removesuffix('"""').strip().removesuffix(" …")
    if len(sentence) > _LINE_SUMMARY:
        sentence = f"{sentence[: _LINE_SUMMARY - 1].rstrip()}…"
    return f"{signature} ...  # {sentence}"


def call_form(tool: Tool) -> str:
    """Return how a tool is called, as `get_city(city_id: str)`. Optional arguments are left out."""
    stub = _function(tool, Shapes(_LINE), Toolbox(), whole=False)
    signature = stub.partition("\n")[0].removeprefix("def ").rpartition(" -> ")[0]
    return signature.replace("(*, ", "(", 1)


def token_estimate(text: str) -> int:
    """Return the approximate number of tokens of `text`.

    Code has about 3.6 characters per token.
    """
    return int(len(text) / 3.6) + 1


def _function(tool: Tool, shapes: Shapes, among: Toolbox, *, whole: bool = True) -> str:
    """Return the stub of a tool. The types that it needs are added to `shapes`.

    `among` are the tools that its comments may name as sources of argument values. If `whole` is
    False, optional arguments are only named.
    """
    protocol = tool.protocol
    detail = shapes.detail
    required = {a: name for a, name in tool.arguments.items() if a in tool.required}
    arguments, notes = _parameters(tool, tool.arguments if whole else required, shapes, among)
    if not whole and len(required) < len(tool.arguments):
        notes.append(f"    optional: {_name_few([a for a in tool.arguments if a not in required])}")
    if detail.comments and (headers := named_headers(protocol)):
        notes.append(f"    response headers, by with_headers(): {', '.join(headers)}")
    if name := tool.unclear_own_name:
        notes.insert(0, f"    its name at {tool.source or 'its source'}: {json.dumps(name)}")
    returns = _return_annotation(tool, shapes)
    signature = (
        f"def {tool.alias}({'*, ' if arguments else ''}{', '.join(arguments)}) -> {returns}:"
    )
    summary = first_sentences(
        protocol.description or protocol.title or protocol.name, 3 * detail.comment_characters
    )
    return f"{signature}\n{_docstring(summary, notes)}"


def _docstring(summary: str, notes: Sequence[str]) -> str:
    """Return the docstring of a stub with its quotes. The notes follow after a blank line."""
    if notes:
        return "\n".join([f'    """{summary}', "", *notes, '    """'])
    end = ' """' if summary.endswith('"') else '"""'
    return f'    """{summary}{end}'


def _return_annotation(tool: Tool, shapes: Shapes) -> str:
    """Return the type of a tool's result. The types that it needs are added to `shapes`."""
    root = tool.protocol.output_schema
    if root is None:
        return "Any"
    hint = tool.wrapper or re.sub("^(get_)?(list_)?(search_)?", "", tool.alias)
    returns = shapes.annotation(unwrap_schema(root), root, hint=hint)
    if is_file_response(root):
        returns = "File"
    return f"File | {returns}" if root.get(MAY_BE_FILE) else returns


_MOST_NAMED = 8
"""Maximum number of optional arguments that are named without their types."""


def _name_few(names: Sequence[str]) -> str:
    """Return a text with the first names, and the number of the others: `a, b and 3 more`."""
    left = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {left} more" if left > 0 else "")


def _parameters(
    tool: Tool, arguments: Mapping[str, str], shapes: Shapes, among: Toolbox
) -> tuple[list[str], list[str]]:
    """Return the parameters of a tool's stub, required ones first, and the comments on them.

    `arguments` are the original names of those that are described, keyed by alias.
    """
    protocol = tool.protocol
    parameters = []
    comments = []
    ordered = sorted(arguments.items(), key=lambda item: item[0] not in tool.required)
    for alias, name in ordered:
        schema = resolve(protocol.parameters[name], protocol.input_schema)
        annotation = shapes.annotation(schema, protocol.input_schema, hint=f"{tool.alias}_{alias}")
        if takes_file(schema, protocol.input_schema):
            annotation = with_file(annotation)
        if alias not in tool.required:
            annotation += f" = {schema.get('default')!r}" if "default" in schema else " = ..."
        parameters.append(f"{alias}: {annotation}")
        is_choice = "enum" in schema or "Literal" in annotation
        producers = [] if is_choice else among.producers(tool, name)
        origin = describe_origin(name, producers) if shapes.detail.comments else ""
        comment = shapes.note(alias, schema, protocol.input_schema, origin)
        if name := tool.unclear_name(alias):
            comment = "; ".join(filter(None, (f"sent as {json.dumps(name)}", comment)))
        if comment:
            comments.append(f"    {alias}: {comment}")
    return parameters, comments


def describe_origin(argument: str, producers: Sequence[Producer]) -> str:
    """Return a text with the code that gets a value for an argument, or "" without producers.

    A producer is a tool whose responses contain such values. Only the first, the best one, is named
    in the text. For an argument such as `new_owner_id` (see `means_another`), all are named,
    because the best one may return the present owner.
    """
    if not producers:
        return ""
    named = producers if means_another(argument) else producers[:1]
    ways = " or ".join(producer.expression() for producer in named)
    return f"{producers[0].perhaps}from {ways}"
