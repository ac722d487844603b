"""The gate of probing: nothing twice, nothing beyond the budget, and as slowly as the host wants."""

from dataclasses import replace

import pytest

from probing.call_plan import plan_probing, why_not
from probing.caller import NotCalled, is_known_read
from probing.samples import ProbeSettings
from protocols.protocol import Annotations, McpBinding, PythonBinding, ToolProtocol
from protocols.tool import Tool
from protocols.toolbox import Toolbox
from tests.labs.loopback import Reply, serving
from tests.labs.probing_tools import Lab, lab, tool


def test_a_call_is_made_only_once(tmp_path):
    with lab(tmp_path, lambda _: Reply(body={"n": 1}), "find") as probing:
        first = probing.call("find", q="a")
        assert (first.done, first.response, first.number) == (True, {"n": 1}, 1)
        assert probing.call("find", q="a") is first
        probing.again()
        assert probing.call("find", q="a") == first
        assert probing.call("find", q="b").number == 2
        assert probing.asked == ["/find?q=a", "/find?q=b"]
        assert [event.number for event in probing.events] == [1, 2]


def test_budgets_hold_over_resumes(tmp_path):
    with lab(tmp_path, lambda _: Reply(body=1), "find", "list", per_tool=3, budget=4) as probing:
        for value in "ab":
            probing.call("find", q=value)
        probing.again()
        assert (probing.caller.remaining_calls("find"), probing.caller.remaining_calls("list")) == (
            1,
            2,
        )
        probing.call("find", q="c")
        with pytest.raises(NotCalled, match="its 3 calls are spent") as refusal:
            probing.call("find", q="d")
        assert refusal.value.scope == "tool"
        probing.call("list")
        with pytest.raises(NotCalled, match="the budget of 4 calls is spent") as refusal:
            probing.call("list", q="x")
        assert refusal.value.scope == "all"
        assert len(probing.asked) == 4


def test_what_is_not_implemented_is_not_called_on(tmp_path):
    with lab(tmp_path, lambda _: Reply(501), "find") as probing:
        probing.call("find", q="a")
        with pytest.raises(NotCalled, match="not implemented"):
            probing.call("find", q="b")


def test_a_postponed_write_is_not_sent_again(tmp_path):
    with serving(lambda _: Reply(429, {"error": "no"})) as server:
        write = tool(server.url, "add", method="POST")
        with Lab(server, tmp_path, [write], allow_writes=True) as probing:
            mark = probing.caller.created.mark.text
            assert probing.call("add", q=mark).status == 429
            assert probing.call("add", q=mark).status == 429
    assert len(server.seen) == 1


def test_missing_credentials_postpone_calls(tmp_path):
    with serving() as server:
        bare = tool(server.url, "find")
        closed = replace(bare, binding=replace(bare.binding, credentials=("key",)))
        with Lab(server, tmp_path, [closed]) as probing:
            with pytest.raises(NotCalled, match="needs the credential 'key'"):
                probing.call("find", q="a")
            assert "find" in probing.caller.stopped
            assert probing.log.sent_count == 0
        with Lab(server, tmp_path, [bare]) as probing:
            assert probing.call("find", q="a").done


# What a probing would call, before it calls anything.

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
    ToolProtocol(
        name="log",
        binding=McpBinding(server="git", tool="log"),
        annotations=Annotations(read_only=True),
    ),
    ToolProtocol(name="idea"),
)


def test_a_plan_of_reads():
    planned = plan_probing(SHOP, ProbeSettings(per_tool=5))
    assert [(t.name, t.reads, t.at_most) for t in planned.tools] == [
        ("list_books", True, 5),
        ("find", True, 5),
        ("add_book", False, 0),
        ("total", False, 0),
        ("log", True, 5),
        ("idea", False, 0),
    ]
    assert planned.hosts == {"api.example.org": 5, "127.0.0.1:8080": 5, "MCP git": 5}
    assert (planned.total, planned.writes) == (15, ())
    reasons = {t.name: t.why_not for t in planned.tools if t.why_not}
    assert reasons.keys() == {"add_book", "total", "idea"}
    assert all("--allow-writes" in reasons[name] for name in ("add_book", "total"))
    assert "no binding" in reasons["idea"]
    assert planned.tools[0].how == f"GET {URL}/list_books"


def test_mcp_removals_cannot_pass_as_reads():
    binding = McpBinding(server="s", tool="t")
    hinted = {"binding": binding, "annotations": Annotations(read_only=True)}
    assert is_known_read(ToolProtocol(name="list_notes", **hinted))
    assert not is_known_read(ToolProtocol(name="delete_everything", **hinted))
    assert "its name says 'delete'" in why_not(
        ToolProtocol(name="delete_everything", **hinted), ProbeSettings()
    )
    assert not is_known_read(ToolProtocol(name="list_notes", binding=binding))
