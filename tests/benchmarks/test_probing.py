"""The bench of probing: what counts as right."""

import pytest

from benchmarks.probing.score import score_tool, strip
from protocols.protocol import HttpBinding, ToolProtocol

RECORD = {
    "type": "object",
    "properties": {
        "id": {"type": "integer"},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
}


def protocol(output=None, required=(), links=(), **arguments):
    return ToolProtocol(
        name="find",
        input_schema={"type": "object", "properties": arguments, "required": list(required)},
        output_schema=output,
        links=tuple(links),
        binding=HttpBinding(method="GET", url="http://127.0.0.1/find"),
    )


@pytest.mark.parametrize(
    ("said", "counts"),
    [
        (RECORD, (3, 3, 3)),
        (
            {"type": "object", "properties": {"id": {"type": "number"}, "tags": {"type": "array"}}},
            (1, 2, 3),
        ),
        ({"type": "object", "properties": {"id": {"type": ["integer", "null"]}}}, (1, 1, 3)),
        ({"type": "object", "properties": {"id": {}}}, (0, 1, 3)),  # an open type is wrong
        (None, (0, 0, 3)),
    ],
)
def test_fields_are_pairs_of_path_and_type(said, counts):
    found = score_tool(protocol(said), protocol(RECORD))["fields"]
    assert (found["right"], found["said"], found["wanted"]) == counts
    assert (
        score_tool(protocol(said), protocol(None))["fields"]["said"] == 0
    )  # the document is silent


def test_what_only_documentation_knows_is_taken_away():
    whole = protocol(RECORD, ["q"], q={"type": "string", "enum": ["a"]})
    (names,) = strip([whole])
    assert (names.output_schema, names.required, names.parameters["q"]) == (None, frozenset(), {})
    assert names.annotations.read_only
