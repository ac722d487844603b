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

    An empty `trigger` means that a reply is one call and nothing else; else text stands around calls, and a call begins
    wherever the trigger is written.
    """

    name: str
    before: str = ""
    between: str
    after: str
    arguments: ArgumentForm
    trigger: str = ""


JSON_CALL = CallFormat(name="json", before='{"name": "', between='", "arguments": ', after="}", arguments="json")
FUNCTION = CallFormat(name="function", between="(", after=")", arguments="positional")
"""`power(0.89, 8)`: FuncQA's way."""
TOOLDEC = CallFormat(name="tooldec", between="(", after=")", arguments="positional", trigger="<T>")
"""The same amid text, as in ToolDec's figure 2."""
PYTHON_CALL = CallFormat(name="python", between="(", after=")", arguments="keywords")
REACT = CallFormat(name="react", before="Action: ", between="\nAction Input: ", after="\n", arguments="json")
"""The second and third line of a turn of ReAct; `react.py` holds the first, the thought."""

FORMATS = {form.name: form for form in (JSON_CALL, FUNCTION, TOOLDEC, PYTHON_CALL, REACT)}
