"""One odd entry in a server's list takes nothing away from the others, and is named."""

import pytest

pytest.importorskip("mcp", reason="the MCP SDK (extra 'mcp') is not installed")

from protocols.client import Invoker
from protocols.errors import SourceUnavailable
from protocols.sources import load_tools
from tests.labs.loopback import serving
from tests.labs.mcp_http import McpAnswers, tool

TASK = "as a task of MCP, which atc does not start"
ODD = [
    5,
    {"inputSchema": {"type": "object"}},
    {"name": " "},
    tool("total"),
    tool("total", description="another"),
    tool("research", execution={"taskSupport": "required"}),
    tool("find file", None, None, title=7, description=["x"]),
    tool(
        "broken",
        {"properties": {"a": {"$ref": "#/definitions/gone"}}},
        outputSchema={"type": "array"},
    ),
]


def test_odd_entries_are_left_out_by_name():
    answers = McpAnswers({"tools/list": {"tools": ODD}, "tools/call": {"content": []}})
    with serving(answers) as server, Invoker() as invoker:
        box = load_tools(f"mcp:{server.url}", invoker=invoker)
        assert list(box) == ["total", "find_file", "broken"]
        assert box["find_file"].call({"a": 1}) is None
        assert box["broken"].protocol.output_schema == {"type": "array"}
    assert box.notes == (
        "the MCP server 'stub': entry 1 of its list of tools is left out, because it is no tool.",
        "the MCP server 'stub': entry 2 of its list of tools is left out, because it has no usable name.",
        "the MCP server 'stub': entry 3 of its list of tools is left out, because it has no usable name.",
        "the MCP server 'stub': a second tool with the name 'total' is left out.",
        f"the MCP server 'stub': the tool 'research' is left out, because it runs only {TASK}.",
    )
    [repair] = box.repairs
    assert repair.startswith(
        "the MCP server 'stub': the input schema of 'broken' has mistakes, which"
    )
    assert repair.endswith("not checked: the reference '#/definitions/gone' leads nowhere.")
    assert box.only(["total"]).notes == box.notes


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ({"tools": 5}, "its list of tools is int, not a list"),
        ({"other": []}, "its answer has no 'tools'"),
        ({"tools": [5]}, "has no tools. the MCP server 'stub': entry 1"),
    ],
)
def test_nonsense_is_no_list_of_tools(answer, problem):
    with (
        serving(McpAnswers({"tools/list": answer})) as server,
        Invoker() as invoker,
        pytest.raises(SourceUnavailable) as caught,
    ):
        load_tools(f"mcp:{server.url}", invoker=invoker)
    assert problem in str(caught.value)
