"""An independent check of calls that a model wrote with constrained decoding.

It does not use the grammars that constrain the calls, because it judges their results.
"""

from __future__ import annotations

import ast
import json

from atc.models.decode.formats import CallFormat
from atc.models.decode.parse import read_call
from protocols.tool import Tool
from protocols.toolbox import Toolbox


def call_problem(text: str, tool: Tool, form: CallFormat) -> str:
    """Return what is wrong with a text that should be exactly one call, or "" if nothing is wrong.

    The modules `json` or `ast` must be able to parse the arguments, and the host must accept the
    call.
    """
    start = form.before + tool.alias + form.between
    end = len(text) - len(form.after)
    if not text.startswith(start) or not text.endswith(form.after):
        return f"it is not {start}…{form.after}"
    inside = text[len(start) : end]
    try:
        if form.arguments == "json":
            json.loads(inside)
        else:
            ast.parse(f"f({inside})", mode="eval", feature_version=(3, 11))
    except (ValueError, SyntaxError, RecursionError) as error:
        return f"{error}: {inside[:100]}"
    call = read_call(text, Toolbox([tool]), form)
    return call.error.message if call.error else ""
