"""What a search sees of a tool."""

import json
from dataclasses import replace

from atc.pipeline.retrieve.document import (
    ToolDocument,
    documents,
    dump_document,
    json_text,
    read_document,
    words_text,
)
from protocols.protocol import ToolProtocol
from protocols.tool import Tool
from protocols.toolbox import Toolbox

TOOL = Tool(
    protocol=ToolProtocol(
        name="list-departures",
        description="Departures of a day",
        category="Travel",
        input_schema={
            "type": "object",
            "properties": {
                "origin": {"type": "string", "description": "Airport code"},
                "day": {"type": "string"},
            },
            "required": ["origin"],
        },
        output_schema={
            "type": "object",
            "properties": {
                "flights": {
                    "type": "array",
                    "items": {
                        "allOf": [
                            {"properties": {"flight_id": {"type": "integer"}}},
                            {"properties": {"gate.no": {}}},
                        ]
                    },
                }
            },
        },
    ),
    call=lambda arguments: None,
)


def test_a_document_holds_all_sections_under_its_alias():
    [document] = documents(Toolbox([TOOL]).values())
    assert document == ToolDocument(
        name="list_departures",
        description="Departures of a day",
        category="Travel",
        parameters={"origin": "Airport code", "day": ""},
        required=("origin",),
        returns=("flights", "flight_id", "gate.no"),
    )


def test_texts_say_what_the_tool_takes_and_gives():
    [document] = documents([TOOL])
    assert all(
        word in words_text(document).split()
        for word in ("Travel", "list_departures", "origin", "flight_id")
    )
    assert words_text(document).count("Departures of a day") == 2
    assert json.loads(json_text(document)) == {
        "category": "Travel",
        "name": "list_departures",
        "description": "Departures of a day",
        "parameters": ["origin", "day"],
        "returns": ["flights", "flight_id", "gate.no"],
    }


def test_a_digest_changes_with_anything_that_is_said():
    [document] = documents([TOOL])
    changed = [
        replace(document, name="other"),
        replace(document, description="Departures"),
        replace(document, parameters={"origin": "Airport code", "day": "Which"}),
        replace(document, required=()),
        replace(document, returns=("flights",)),
    ]
    assert len({document.digest, *(other.digest for other in changed)}) == 6
    assert read_document(dump_document(document)).digest == document.digest
