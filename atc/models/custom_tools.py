"""A Lark grammar as the one custom tool that a model of OpenAI has to call, in the Lark that OpenAI takes.

That Lark is less than llguidance's: no directives but `%import common`, no look-around, lazy repeat or terminal
priorities, by OpenAI's guide. What else is llguidance's alone is not sent either: rules with parameters, the logic of
terminals (`&`, `~`), attributes, embedded JSON Schemas and special tokens. Repeats are written as in Lark.
"""

from __future__ import annotations

import re

from protocols.jsontypes import Json

_NAME = "reply"
_PURPOSE = "Takes the whole answer, which is nothing but its input."
_PARTS = re.compile(
    r"""(?P<comment>//[^\n]*|\#[^\n]*)|(?P<text>"(?:\\.|[^"\\\n])*"i?)|(?P<regex>/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n\[])+/[imslux]*)"""
    r"""|(?P<repeat>\{[^{}\n]*\})|(?P<other>[^"/\{\#]+|.)""",
    re.DOTALL,
)
_COUNTS = re.compile(r"\{\s*(\d+)\s*(?:(,)\s*(\d*)\s*)?\}")
_ONLY_LLGUIDANCE = re.compile(r"%(?!import\s+common\b)|::|[&~<\[\]]|^\s*[A-Z_]+\.\d", re.MULTILINE)
_NO_REGEX = re.compile(r"\(\?(?:[=!]|<[=!])|(?<!\\)[*+?}]\?")


def custom_tool(grammar: str) -> dict[str, Json] | None:
    """The fields of a chat completion that hold its reply to a grammar in Lark; None where OpenAI's cannot say it."""
    definition = openai_lark(grammar)
    if definition is None:
        return None
    form = {"type": "grammar", "grammar": {"syntax": "lark", "definition": definition}}
    tool = {"type": "custom", "custom": {"name": _NAME, "description": _PURPOSE, "format": form}}
    return {"tools": [tool], "tool_choice": {"type": "custom", "custom": {"name": _NAME}}}


def openai_lark(grammar: str) -> str | None:
    """The grammar without llguidance's first line, repeats as `~1..3`; None where it has what only llguidance knows."""
    body = re.sub(r"\A%llguidance[^\n]*\n", "", grammar)
    written = []
    for part in _PARTS.finditer(body):
        kind, text = str(part.lastgroup), part[0]
        if kind == "repeat":
            counts = _COUNTS.fullmatch(text)
            if counts is None or (counts[2] and not counts[3]):
                return None  # without an upper bound, or a JSON object
            text = f"~{counts[1]}..{counts[3]}" if counts[3] else f"~{counts[1]}"
        elif (kind == "regex" and _NO_REGEX.search(text)) or (kind == "other" and _ONLY_LLGUIDANCE.search(text)):
            return None
        written.append("" if kind == "comment" else text)
    return "".join(written)
