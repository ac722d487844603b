"""Which tool an expression of a program calls."""

from __future__ import annotations

import ast

import pytest

from atc.core.tool_calls import called_tool


@pytest.mark.parametrize(
    ("source", "tool"),
    [
        ("find(q=1)", "find"),
        ("pages(find, q=1)", "find"),
        ("with_headers(find)", "find"),
        ("pages(find(q=1))", "pages"),
        ("service.find()", None),
        ("find", None),
    ],
)
def test_builtins_call_their_first_argument(source, tool):
    assert called_tool(ast.parse(source, mode="eval").body) == tool
