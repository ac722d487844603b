"""The host believes a hint about a value only if its own record shows the value."""

from __future__ import annotations

import pytest

from protocols.toolbox import Toolbox
from sandbox.frames import fingerprint
from sandbox.trace import ToolCall, ValueHint
from sandbox.value_hints import confirm_hint
from tests.labs.tools import record, tool

TOOLS = Toolbox([tool("rows", output=record(items={"type": "array", "items": {}}))])
CALLS = [ToolCall(index=0, tool="rows", arguments={}, line=1, result={"items": [{"id": 7}]})]


@pytest.mark.parametrize(
    ("call", "path", "value", "full"),
    [
        (0, (0, "id"), 7, ("items", 0, "id")),
        (0, (0, "id"), 8, None),
        (0, (1, "id"), 7, None),
        (1, (0, "id"), 7, None),
    ],
)
def test_only_a_true_hint_is_confirmed(call, path, value, full):
    hint = ValueHint(
        frame=0, line=1, column=0, end_line=1, end_column=1, call=call, path=path, mark=fingerprint(value)
    )  # fmt: skip
    found = confirm_hint(hint, CALLS, TOOLS)
    assert (None if found is None else found.path) == full
