"""What a probing would call, before it calls anything."""

from probing.gate import plan, reads, why_not
from probing.samples import ProbeSettings
from protocols.protocol import Annotations, McpBinding, PythonBinding, ToolProtocol
from protocols.toolbox import Tool, Toolbox
from tests.probing_lab import tool

URL = "https://api.example.org"


def nothing(_):
    raise AssertionError("a plan calls nothing")


def toolbox(*protocols):
    return Toolbox(Tool(protocol=protocol, call=nothing) for protocol in protocols)


SHOP = toolbox(
    tool(URL, "list_books"),
    tool("http://127.0.0.1:8080", "find"),
    tool(URL, "add_book", method="POST"),
    ToolProtocol(name="total", binding=PythonBinding(module="shop", function="total")),
    ToolProtocol(name="log", binding=McpBinding(server="git", tool="log"), annotations=Annotations(read_only=True)),
    ToolProtocol(name="idea"),
)


def test_a_plan_of_reads():
    planned = plan(SHOP, ProbeSettings(per_tool=5))
    assert [(t.name, t.reads, t.at_most) for t in planned.tools] == [
        ("list_books", True, 5),
        ("find", True, 5),
        ("add_book", False, 0),
        ("total", False, 0),
        ("log", True, 5),
        ("idea", False, 0),
    ]
    assert planned.hosts == {"api.example.org": 5, "127.0.0.1:8080": 5, "MCP git": 5}
    assert (planned.total, planned.rate, planned.writes) == (15, 10.0, ())
    reasons = {t.name: t.why_not for t in planned.tools if t.why_not}
    assert reasons.keys() == {"add_book", "total", "idea"}
    assert all("--allow-writes" in reasons[name] for name in ("add_book", "total"))
    assert "no binding" in reasons["idea"]
    assert planned.tools[0].how == f"GET {URL}/list_books"


def test_a_plan_with_writes_and_a_budget():
    planned = plan(SHOP, ProbeSettings(per_tool=5, budget=12, allow_writes=True))
    assert [t.name for t in planned.writes] == ["add_book", "total"]
    assert planned.total == 12
    assert planned.hosts["api.example.org"] == 10
    assert plan(SHOP, ProbeSettings(budget=2)).hosts == {"api.example.org": 2, "127.0.0.1:8080": 2, "MCP git": 2}


def test_an_mcp_server_cannot_pass_off_a_removal_as_a_read():
    binding = McpBinding(server="s", tool="t")
    hinted = {"binding": binding, "annotations": Annotations(read_only=True)}
    assert reads(ToolProtocol(name="list_notes", **hinted))
    assert not reads(ToolProtocol(name="delete_everything", **hinted))
    assert "its name says 'delete'" in why_not(ToolProtocol(name="delete_everything", **hinted), ProbeSettings())
    assert not reads(ToolProtocol(name="list_notes", binding=binding))
