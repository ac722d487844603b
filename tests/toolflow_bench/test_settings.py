"""The hard settings: tools without response schemas, distractors, faults and renamed fields."""

import json
from collections import Counter
from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from protocols.errors import SourceUnavailable, ToolError
from protocols.protocol import Evidence, Example, Link, ToolProtocol, Verify
from protocols.tool import Tool
from protocols.toolbox import Toolbox
from toolflow_bench.services.faults import Faults
from toolflow_bench.settings import (
    DRIFTING_SHARE,
    draw_distractors,
    harden_worlds,
    without_responses,
)
from toolflow_bench.world import World

PROTOCOL = ToolProtocol(
    name="get-note",
    description="Reads a note.",
    input_schema={
        "type": "object",
        "properties": {"from": {"type": "string"}},
        "required": ["from"],
    },
    output_schema={
        "type": "object",
        "properties": {"note": {"type": "string"}},
        "required": ["note"],
    },
    links=(Link(argument="from", tool="list_notes", path="notes[].id"),),
    examples=(
        Example(
            question="Which?", program="print(1)", arguments={"from": "a"}, result={"note": "hi"}
        ),
    ),
    evidence=Evidence(level="observed", observations=3, fields={"note": 3}),
    verified_by=Verify(tool="list_notes", support="guessed"),
)


def test_nothing_tells_of_responses_and_calls_stay():
    toolbox = Toolbox(
        [
            Tool(
                protocol=PROTOCOL,
                call=lambda arguments: {"note": arguments["from"]},
                source="notes",
            )
        ]
    )
    tool = without_responses(toolbox)["get_note"]
    assert tool.protocol.output_schema is None
    assert "note" not in repr((tool.protocol.links, tool.protocol.examples, tool.protocol.evidence))
    assert tool.protocol.verified_by is None
    assert (tool.protocol.input_schema, tool.protocol.description) == (
        PROTOCOL.input_schema,
        PROTOCOL.description,
    )
    assert (tool.alias, tool.source, tool.protocol.evidence.observations) == (
        "get_note",
        "notes",
        3,
    )
    assert tool.unwrap(tool.call({"from": "b"})) == {"note": "b"}
    assert toolbox["get_note"].unwrap({"note": "b"}) == "b"


def api(name: str) -> dict[str, object]:
    return {
        "category_name": "Food",
        "tool_name": "Some Kitchen",
        "api_name": name,
        "api_description": f"Gives {name}.",
        "required_parameters": [{"name": "q", "type": "NUMBER", "description": "What."}],
        "optional_parameters": [],
        "method": "GET",
    }


def test_distractors_are_drawn_by_seed_and_refuse_calls(tmp_path):
    path = tmp_path / "apis.json"
    path.write_text(json.dumps([api(f"dish {number}") for number in range(30)]))
    drawn = draw_distractors(path, seed=1, count=5)
    assert (
        drawn == draw_distractors(path, seed=1, count=5) != draw_distractors(path, seed=2, count=5)
    )
    with harden_worlds(lambda: nullcontext(Fixed()), ["open"], distractors=drawn)() as world:
        assert len(world.toolbox) == 6
        tool = world.toolbox[drawn[0].name]
        assert (tool.protocol.writes, tool.protocol.required) == (False, {"q"})
        with pytest.raises(ToolError, match="not subscribed"):
            tool.call({"q": 1})
    with pytest.raises(
        SourceUnavailable, match=r"has 30 tools, 31 are wanted; give --distractors FILE"
    ):
        draw_distractors(path, seed=1, count=31)
    with pytest.raises(SourceUnavailable, match="no catalogue of distractors at"):
        draw_distractors(tmp_path / "none.json", seed=1)


class Fixed:
    toolbox = Toolbox([Tool(protocol=PROTOCOL, call=print)])

    def reset(self, _draw=""):
        pass

    def snapshot(self):
        return {}


def test_one_call_in_twenty_goes_wrong():
    seen = []

    class Recording(World):
        def __init__(self):
            control = SimpleNamespace(reset=lambda: None, set_faults=seen.append)
            served = SimpleNamespace(app=SimpleNamespace(state=SimpleNamespace(control=control)))
            self.toolbox, self.services = Toolbox(), {"notes": served}

    with harden_worlds(lambda: nullcontext(Recording()), ["faulty", "open", "blind"])() as world:
        for draw in ("0 0 a", "0 0 b", "0 0 a"):
            world.reset(draw)
    first, second, third = seen
    assert first == third != second
    kinds = Counter(
        fault.kind for faults in seen[:2] for n in range(2000) if (fault := faults.draw(n)).kind
    )
    assert kinds.keys() == {"429", "500", "drop", "drop_after", "slow"}
    assert abs(kinds["drop"] - kinds["drop_after"]) < kinds["slow"]
    assert 150 < kinds.total() < 250


def test_a_quarter_of_operations_drifts_alike():
    faults = Faults(renamed_share=DRIFTING_SHARE)
    names = [f"operation_{number}" for number in range(400)]
    renamed = {name for name in names if faults.renames(name)}
    assert 70 < len(renamed) < 130
    assert renamed == {
        name for name in names if Faults(renamed_share=DRIFTING_SHARE, seed=5).renames(name)
    }
