"""Formats in which a model writes tool calls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

ArgumentForm = Literal["json", "positional", "keywords"]
"""How arguments are written: as one JSON object, as literals in the order of the tool's parameters
(`12, 30`), or as Python keyword arguments (`id="7", limit=3`).
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallFormat:
    """A format of tool calls.

    A call is written as `trigger` `before` NAME `between` ARGUMENTS `after`, where NAME is a tool's
    alias. If `trigger` is empty, a reply consists of one call. Otherwise a reply is text that may
    contain calls, each of which begins with the trigger.
    """

    name: str
    before: str = ""
    between: str
    after: str
    arguments: ArgumentForm
    trigger: str = ""


JSON_CALL = CallFormat(
    name="json", before='{"name": "', between='", "arguments": ', after="}", arguments="json"
)
FUNCTION = CallFormat(name="function", between="(", after=")", arguments="positional")
"""For example `power(0.89, 8)`, as in the data set FuncQA."""
TOOLDEC = CallFormat(name="tooldec", between="(", after=")", arguments="positional", trigger="<T>")
"""Like `FUNCTION`, but embedded in text, as in ToolDec's figure 2."""
PYTHON_CALL = CallFormat(name="python", between="(", after=")", arguments="keywords")
REACT = CallFormat(
    name="react", before="Action: ", between="\nAction Input: ", after="\n", arguments="json"
)
"""The second and third line of a turn in ReAct. The first line is the model's thought."""

FORMATS = {form.name: form for form in (JSON_CALL, FUNCTION, TOOLDEC, PYTHON_CALL, REACT)}
