"""How a call of a tool is written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

ArgumentForm = Literal["json", "positional", "keywords"]
"""Arguments as one JSON object, as literals in the order of the tool's parameters (`12, 30`), or as in Python
(`id="7", limit=3`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallFormat:
    """`trigger` `before` NAME `between` ARGUMENTS `after`, where NAME is a tool's alias.

    With an empty `trigger` a reply is one call and nothing else. With one, text stands around calls, and each trigger
    in it begins a call.
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
"""`power(0.89, 8)`, as FuncQA writes calls."""
TOOLDEC = CallFormat(name="tooldec", between="(", after=")", arguments="positional", trigger="<T>")
"""The same within text, as in ToolDec's figure 2."""
PYTHON_CALL = CallFormat(name="python", between="(", after=")", arguments="keywords")
REACT = CallFormat(
    name="react", before="Action: ", between="\nAction Input: ", after="\n", arguments="json"
)
"""The second and third line of a turn of ReAct; the first is the thought."""

FORMATS = {form.name: form for form in (JSON_CALL, FUNCTION, TOOLDEC, PYTHON_CALL, REACT)}
