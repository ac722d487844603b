"""Tools without response schemas: what goes, what stays, and that the same services answer."""

from contextlib import contextmanager

from protocols.protocol import Evidence, Example, Link, ToolProtocol, Verify
from protocols.toolbox import Tool, Toolbox
from toolflow_bench.bare import bare, without_responses

PROTOCOL = ToolProtocol(
    name="get-note",
    description="Reads a note.",
    input_schema={"type": "object", "properties": {"from": {"type": "string"}}, "required": ["from"]},
    output_schema={"type": "object", "properties": {"note": {"type": "string"}}, "required": ["note"]},
    links=(Link(argument="from", tool="list_notes", path="notes[].id"),),
    examples=(Example(question="Which?", program="print(1)", arguments={"from": "a"}, result={"note": "hi"}),),
    evidence=Evidence(level="observed", observations=3, fields={"note": 3}),
    verified_by=Verify(tool="list_notes", support="guessed"),
)


def test_nothing_tells_of_responses_and_calls_stay():
    toolbox = Toolbox([Tool(protocol=PROTOCOL, call=lambda arguments: {"note": arguments["from"]}, source="notes")])
    tool = without_responses(toolbox)["get_note"]
    assert tool.protocol.output_schema is None
    assert "note" not in repr((tool.protocol.links, tool.protocol.examples, tool.protocol.evidence))
    assert tool.protocol.verified_by is None
    assert (tool.protocol.input_schema, tool.protocol.description) == (PROTOCOL.input_schema, PROTOCOL.description)
    assert (tool.alias, tool.source, tool.protocol.evidence.observations) == ("get_note", "notes", 3)
    assert tool.unwrap(tool.call({"from": "b"})) == {"note": "b"}
    assert toolbox["get_note"].unwrap({"note": "b"}) == "b"


def test_a_declared_verifying_read_stays():
    declared = Verify(tool="list_notes", support="declared")
    protocol = ToolProtocol(name="add_note", verified_by=declared)
    assert (
        without_responses(Toolbox([Tool(protocol=protocol, call=print)]))["add_note"].protocol.verified_by == declared
    )


def test_a_bare_world_is_the_same_world():
    class World:
        toolbox = Toolbox([Tool(protocol=PROTOCOL, call=print)])
        written = "something"

        def reset(self):
            self.written = ""

        def snapshot(self):
            return {"notes": {"written": [{"text": self.written}]}}

    world, closed = World(), []

    @contextmanager
    def opened():
        yield world
        closed.append(True)

    with bare(opened)() as found:
        assert found.toolbox["get_note"].protocol.output_schema is None
        assert found.snapshot() == world.snapshot()
        found.reset()
    assert (world.written, closed) == ("", [True])
